"""What a call with wrong arguments is answered: which names are wrong, and the nearest right ones.

A call that is right is passed on, and nothing is looked at: only where Python itself has refused the arguments is it told
anew what they should be, by the same kind of error, a TypeError.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import wraps
from sys import modules
from types import FunctionType
from typing import Any, TypeVar, cast

from mcsim.scene.checks import show, suggestion

F = TypeVar("F", bound=Callable[..., Any])
C = TypeVar("C", bound=type)

# Methods that are called many times a step, of which each nanosecond counts, and whose few arguments nobody names.
BARE = frozenset({"step", "body", "joint"})
NAMED = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


def explained(function: F, owner: str = "") -> F:
    """The function, whose errors about the names and number of its arguments say what they should be. owner: the class
    that it is a method of, or whose constructor it is; a method of a class that is made of it names that one."""
    name = function.__name__
    is_method, maker = bool(owner), name == "__init__"

    @wraps(function)
    def called(*given: Any, **named: Any) -> Any:
        try:
            return function(*given, **named)
        except TypeError as error:
            told = problem_of(error, function, given, named, is_method)
            if told is None:
                raise
        who = f"{type(given[0]).__name__ if given else owner}" + ("" if maker else f".{name}") if is_method else name
        raise TypeError(f"{who}: {told}")

    vars(called)["_explained"] = True
    return cast(F, called)


def problem_of(
    error: TypeError, function: Callable[..., Any], given: tuple[Any, ...], named: Mapping[str, Any], is_method: bool
) -> str | None:
    """What is wrong with the arguments that Python has refused; None where the error came out of the function."""
    trace = error.__traceback__
    if trace is None or trace.tb_next is not None:
        return None
    parameters = list(inspect.signature(function).parameters.values())[int(is_method) :]
    names = [p.name for p in parameters if p.kind in NAMED]
    there = f"the arguments are: {', '.join(names)}" if names else "it takes none"
    open_end = any(p.kind is p.VAR_KEYWORD for p in parameters)
    wrong = [] if open_end else [name for name in named if name not in names]
    if wrong:
        return f"there is no argument {show(wrong[0])}{suggestion(wrong[0], names)}; {there}"
    by_place = [p.name for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD]
    count = len(given) - int(is_method)
    if count > len(by_place):
        return f"takes {len(by_place) or 'nothing'} by place, got {count}; give the others by name; {there}"
    twice = [name for name in by_place[:count] if name in named]
    if twice:
        return f"the argument {twice[0]!r} is given twice, by its place and by its name"
    missing = [p.name for p in parameters if p.kind in NAMED and p.default is p.empty and p.name not in named]
    missing = [name for name in missing if name not in by_place[:count]]
    if missing:
        return f"{' and '.join(map(repr, missing))} {'is' if len(missing) == 1 else 'are'} missing; {there}"
    return None


def explain_methods(kind: C) -> C:
    """The class, with its own public methods, those that take arguments, explained; its constructor too."""
    for name, value in list(vars(kind).items()):
        method = _is_bare(value) and (name == "__init__" or not name.startswith("_") and name not in BARE)
        if method and len(inspect.signature(value).parameters) > 1:
            type.__setattr__(kind, name, explained(value, kind.__name__))
    return kind


def explain_functions(names: dict[str, Any], public: list[str]) -> None:
    """The functions and classes among a module's public names. names: its globals."""
    for name in public:
        found = names[name]
        if _is_bare(found):
            names[name] = explained(found)
            home = vars(modules[found.__module__])
            if home.get(name) is found:  # where pickles look for it
                home[name] = names[name]
        elif isinstance(found, type) and found.__module__.startswith("mcsim"):
            explain_methods(found)


def _is_bare(value: Any) -> bool:
    return isinstance(value, FunctionType) and "_explained" not in vars(value)
