"""What a page may ask of a session: names and plain values, each checked before anything is touched.

Whatever is sent, from a page or by a program in a page's place, is refused with a sentence or is one of these commands
with values in their bounds, which keep any of them from hanging a step.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from mcsim.core.errors import SceneError
from mcsim.live.clock import FASTEST, SLOWEST
from mcsim.scene.checks import FieldError, choose, count, show, suggestion, text, vector, within
from mcsim.world.capabilities import CHECKS

FARTHEST = 1e6  # [m] coordinates of a point
FASTEST_THROW = 100.0  # [m/s]
STRONGEST_GRAVITY = 1000.0  # [m/s²]
LONGEST_NAME = 1000
MOST_WORLDS = 4
THROWN = ("box", "ball", "ragdoll")

# Keywords of worlds that may be changed, and what bounds them more than a World does: a step must end soon.
_AT_MOST = {
    "substeps": 64,
    "iterations": 1000,
    "first_iterations": 1000,
    "least_iterations": 1000,
    "more_iterations": 250,
    "position_rounds": 50,
    "threads": 16,
}
_BETWEEN = {"dt": (1e-5, 0.1), "tolerance": (1e-12, 1.0)}
SETTINGS = tuple(name for name in CHECKS if name != "geometric_stiffness")

Check = Callable[[Any, str], Any]


@dataclass(frozen=True)
class Parameter:
    """One value of a command: its check, and what is meant where it is left out; `...`: it may not be."""

    check: Check
    default: Any = ...


@dataclass(frozen=True)
class Command:
    """A command that was checked."""

    name: str
    values: dict[str, Any]


def _bounded(value: Any, field: str, most: float) -> np.ndarray:
    found = np.array(vector(value, field))
    with np.errstate(over="ignore"):
        short = bool(np.linalg.norm(found) <= most)
    if not short:
        raise FieldError(field, f"must be no longer than {most:g}, got {show(value)}")
    return found


def _name(value: Any, field: str) -> str:
    found = text(value, field)
    if len(found) > LONGEST_NAME:
        raise FieldError(field, f"must have no more than {LONGEST_NAME} letters, got {len(found)}")
    return found


def _between(lowest: float, highest: float) -> Check:
    return lambda value, field: within(value, lowest, highest, field)


def _whole(lowest: int, highest: int) -> Check:
    return partial(count, lowest=lowest, highest=highest)


def _setting(value: Any, field: str) -> str:
    return choose(value, SETTINGS, field)


def _plain(value: Any, field: str) -> Any:
    """A value of a setting, whose own check follows."""
    if value is not None and not isinstance(value, (bool, int, float)):
        return _name(value, field)
    return value


def _or_none(check: Check) -> Check:
    return lambda value, field: None if value is None else check(value, field)


_POINT = Parameter(partial(_bounded, most=FARTHEST))
_BODY = Parameter(_name)
_COUNT = Parameter(_whole(1, 1000), 1)
COMMANDS: dict[str, dict[str, Parameter]] = {
    "play": {},
    "pause": {},
    "step": {"count": _COUNT},
    "reset": {},
    "speed": {"factor": Parameter(_between(SLOWEST, FASTEST))},
    "back": {"count": _COUNT},
    "forth": {"count": _COUNT},
    "go_to": {"place": Parameter(_whole(0, 10**6))},
    "grab": {"body": _BODY, "point": _POINT, "target": _POINT, "world": Parameter(_whole(0, MOST_WORLDS - 1), 0)},
    "drag": {"target": _POINT},
    "release": {},
    "kick": {
        "body": _BODY,
        "velocity": Parameter(partial(_bounded, most=FASTEST_THROW)),
        "point": Parameter(_or_none(_POINT.check), None),
    },
    "throw": {
        "what": Parameter(lambda value, field: choose(value, THROWN, field)),
        "position": _POINT,
        "velocity": Parameter(partial(_bounded, most=FASTEST_THROW)),
        "size": Parameter(_between(1e-3, 10.0), 0.3),
    },
    "delete": {"body": _BODY},
    "freeze": {"body": _BODY},
    "gravity": {"value": Parameter(partial(_bounded, most=STRONGEST_GRAVITY))},
    "friction": {"value": Parameter(_between(0.0, 10.0))},
    "setting": {
        "name": Parameter(_setting),
        "value": Parameter(_plain),
        "world": Parameter(_or_none(_whole(0, MOST_WORLDS - 1)), None),
    },
}


def checked(name: Any, values: Mapping[str, Any]) -> Command:
    """The command of this name, its values checked and its defaults filled in; SceneError if it is none."""
    if not isinstance(name, str) or name not in COMMANDS:
        raise SceneError(f"there is no command {show(name)}{suggestion(name, COMMANDS)}; commands: {', '.join(COMMANDS)}")
    parameters = COMMANDS[name]
    try:
        for other in values:
            if other not in parameters:
                raise FieldError("", f"takes no {show(other)}; it takes: {', '.join(parameters) or 'nothing'}")
        found = {}
        for key, parameter in parameters.items():
            if key in values:
                found[key] = parameter.check(values[key], key)
            elif parameter.default is ...:
                raise FieldError(key, "is missing")
            else:
                found[key] = parameter.default
        if name == "setting":
            found["value"] = _setting_value(found["name"], found["value"])
    except FieldError as error:
        raise SceneError(f"{name}: {error}") from None
    return Command(name, found)


def _setting_value(name: str, value: Any) -> Any:
    if value is None:
        return None
    value = CHECKS[name](value, name)
    if name in _BETWEEN:
        within(value, *_BETWEEN[name], name)
    if name in _AT_MOST and value > _AT_MOST[name]:
        raise FieldError(name, f"must be at most {_AT_MOST[name]} here, got {show(value)}")
    return value
