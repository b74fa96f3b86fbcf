"""The table of ready scenes: name -> function, with checked parameters.

A scene function takes keyword parameters with defaults and returns a Scene. The first line of its docstring describes
it. A parameter's annotation is Annotated[type, check], of the check that its value passes, `check(value, field) ->
value`; numbers and flags may come as text, as the command line has them.
"""

import functools
import inspect
from collections.abc import Callable
from typing import Annotated, Any, ParamSpec, cast

from mcsim.core.errors import SceneError
from mcsim.scene import Scene, checks
from mcsim.scene.calls import explained
from mcsim.scene.checks import FieldError, show

Given = ParamSpec("Given")

SCENES: dict[str, Callable[..., Scene]] = {}

# A parameter's former name -> the names that took its place: "how many" is `count` in every scene, and `side` in a net.
FORMER = {"n": ("count", "side")}

FLAGS = {"true": True, "yes": True, "on": True, "1": True, "false": False, "no": False, "off": False, "0": False}


# ---- checks of parameters --------------------------------------------------------------------------------------------


def as_number(value: Any, field: str) -> Any:
    """Text as the number that it says; everything else as it is."""
    if not isinstance(value, str):
        return value
    try:
        return float(value)
    except ValueError:
        raise FieldError(field, f"must be a number, got {show(value)}") from None


def _number(value: Any, field: str) -> float:
    """Any finite number."""
    return checks.number(as_number(value, field), field)


def _positive(value: Any, field: str) -> float:
    """A number above 0."""
    return checks.positive(as_number(value, field), field)


def _not_negative(value: Any, field: str) -> float:
    """A number of at least 0."""
    return checks.not_negative(as_number(value, field), field)


def _flag(value: Any, field: str) -> bool:
    """True or false."""
    if isinstance(value, str):
        value = FLAGS.get(value.lower(), value)
    return checks.flag(value, field)


def Between(lower: float, upper: float) -> Callable[[Any, str], float]:
    """The check of a number strictly between two others."""

    def check(value: Any, field: str) -> float:
        result = _number(value, field)
        if not lower < result < upper:
            raise FieldError(field, f"must be between {lower:g} and {upper:g}, got {show(value)}")
        return result

    return check


def Whole(maximum: int, minimum: int = 1) -> Callable[[Any, str], int]:
    """The check of a whole number from `minimum` to `maximum`."""

    def check(value: Any, field: str) -> int:
        result = _number(value, field)
        if result != int(result):
            raise FieldError(field, f"must be a whole number, got {show(value)}")
        return int(checks.within(result, minimum, maximum, field))

    return check


Number = Annotated[float, _number]
Positive = Annotated[float, _positive]
NonNegative = Annotated[float, _not_negative]
Flag = Annotated[bool, _flag]


# ---- the table -------------------------------------------------------------------------------------------------------


def listed_scene(function: Callable[Given, Scene]) -> Callable[Given, Scene]:
    """Puts a scene function into SCENES and checks its parameters at every call."""
    name = function.__name__
    signature, made = inspect.signature(function), cast(Callable[..., Scene], function)

    @functools.wraps(function)
    def checked(**given: Any) -> Scene:
        try:
            given = renamed(given, signature)
            check_names(given, signature)
            for key, value in given.items():
                given[key] = signature.parameters[key].annotation.__metadata__[0](value, key)
            return made(**given)
        except FieldError as error:
            if error.subject:
                raise
            raise (error.within(f"scene {name}") if error.field else SceneError(f"scene {name}: {error}")) from None

    # For help(): what a caller may pass, instead of our checks.
    shown = [p.replace(annotation=type(p.default)) for p in signature.parameters.values()]
    vars(checked)["__signature__"] = signature.replace(parameters=shown, return_annotation=Scene)
    checked.__annotations__ = {p.name: p.annotation for p in shown} | {"return": Scene}
    SCENES[name] = explained(checked)
    return cast(Callable[Given, Scene], SCENES[name])


def renamed(given: dict[str, Any], signature: inspect.Signature) -> dict[str, Any]:
    """Keyword arguments by the names that they have now: a former name stands for the one that took its place."""
    found = {}
    for key, value in given.items():
        taken = next((new for new in FORMER.get(key, ()) if new in signature.parameters), key)
        name = key if key in signature.parameters else taken
        if name != key and name in given:
            raise FieldError(name, f"is given twice, the other time by its former name {key}")
        found[name] = value
    return found


def check_names(given: dict[str, Any], signature: inspect.Signature) -> None:
    """Refuse keyword arguments that a function with this signature does not take."""
    keywords = {p.name: p.default for p in signature.parameters.values() if p.kind is p.KEYWORD_ONLY}
    for key in given:
        if key not in keywords:
            there = (
                f"the parameters are: {', '.join(f'{name}={default}' for name, default in keywords.items())}"
                if keywords
                else "it takes none"
            )
            raise FieldError("", f"there is no parameter {show(key)}{checks.suggestion(key, keywords)}; {there}")


def existing(name: Any) -> Callable[..., Scene]:
    """The function of the built-in scene `name`."""
    if not isinstance(name, str) or name not in SCENES:
        raise SceneError(
            f"there is no scene {show(name)}{checks.suggestion(name, SCENES)}; the scenes are: {', '.join(SCENES)}"
        )
    return SCENES[name]


def build(name: str, **parameters: Any) -> Scene:
    """The built-in scene `name` with the given parameters."""
    return existing(name)(**parameters)


def description(name: str) -> str:
    """One line that says what the scene shows."""
    return (inspect.getdoc(SCENES[name]) or "").splitlines()[0]


def parameters(name: str) -> dict[str, Any]:
    """Parameter name -> default value."""
    return {key: p.default for key, p in inspect.signature(SCENES[name]).parameters.items()}
