"""Motor, Spring and AxisSpec: what drives and bounds the free coordinates of a joint."""

from __future__ import annotations      # signatures read as they are written here

from dataclasses import dataclass
from math import inf

from mcsim.scene.checks import FieldError, Vector, not_negative, number, positive, vector
from mcsim.scene.described import Value

Coordinate = float | tuple[float, ...]


def _coordinate(value: float | Vector, field: str) -> Coordinate:
    """A number, or the 3 numbers of a ball joint."""
    return vector(value, field) if hasattr(value, "__len__") and not isinstance(value, str) else number(value, field)


class Motor(Value):
    """Drives a joint to a speed or to a position; give exactly one of them.

    velocity: [rad/s] or [m/s]; for a ball joint 3 numbers, along the joint's x, y, z.
    position: [rad] or [m]; for a ball joint 3 numbers, a rotation vector. The motor then is a damped spring of `hertz`
        and `damping_ratio` for the mass that it has to move; a velocity motor does not use these two.
    max_force: the bound of its force [N] or torque [N m]; for a ball joint along each axis. None or infinite: none.
    """

    velocity: Coordinate | None
    position: Coordinate | None
    max_force: float
    hertz: float
    damping_ratio: float

    def __init__(self, velocity: float | Vector | None = None, position: float | Vector | None = None,
                 max_force: float | None = inf, hertz: float = 5.0, damping_ratio: float = 1.0):
        if (velocity is None) == (position is None):
            raise FieldError("", "takes exactly one of velocity and position, got "
                             + ("neither" if velocity is None else "both"), "Motor")
        arguments = {
            "velocity": None if velocity is None else _coordinate(velocity, "velocity"),
            "position": None if position is None else _coordinate(position, "position"),
            "max_force": inf if max_force is None else not_negative(max_force, "max_force", infinite=True),
            "hertz": positive(hertz, "hertz"),
            "damping_ratio": not_negative(damping_ratio, "damping_ratio"),
        }
        self._set(_arguments=arguments, **arguments)


class Spring(Value):
    """Pulls a joint to its `rest` position: force = -stiffness (position - rest) - damping velocity.

    stiffness: [N/m] or [N m/rad]; damping: [N s/m] or [N m s/rad]; both at least 0.
    rest: [m] or [rad]; for a ball joint 3 numbers, a rotation vector, or 0.
    """

    stiffness: float
    damping: float
    rest: Coordinate

    def __init__(self, stiffness: float, damping: float = 0.0, rest: float | Vector = 0.0):
        arguments = {
            "stiffness": not_negative(stiffness, "stiffness"),
            "damping": not_negative(damping, "damping"),
            "rest": _coordinate(rest, "rest"),
        }
        self._set(_arguments=arguments, **arguments)


@dataclass(frozen=True)
class AxisSpec:
    """One free coordinate of a joint [rad or m]: what bounds and drives it. Numbers only, also in motor and spring.

    lower, upper: -inf, inf if there is no limit; friction [N m or N].
    """

    lower: float = -inf
    upper: float = inf
    motor: Motor | None = None
    spring: Spring | None = None
    friction: float = 0.0
