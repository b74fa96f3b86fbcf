"""Motor, Spring, Motion and AxisSpec: what drives and bounds the free coordinates of a joint."""

from __future__ import annotations  # signatures read as they are written here

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from math import inf, pi
from typing import Any

from mcsim.core.trig import cos, sin
from mcsim.scene.checks import FieldError, Vector, choose, not_negative, number, positive, show, vector
from mcsim.scene.described import Value

Coordinate = float | tuple[float, ...]
Function = Callable[[float], float]

HERTZ, DAMPING_RATIO = 5.0, 1.0  # of a motor for a position
# In which of the two ways along its coordinate a spring may act, in the order of state/_joint.pxd.
ACTS = ("both", "pull", "push")
DIFFERENCE = 1e-4  # step of the differences that stand for derivatives which are not given [s]


def _coordinate(value: float | Vector, field: str) -> Coordinate:
    """A number, or the 3 numbers of a ball joint."""
    return vector(value, field) if hasattr(value, "__len__") and not isinstance(value, str) else number(value, field)


class Motor(Value):
    """Drives a joint to a speed or to a position, by one of three laws:

    velocity alone: keeps to that speed, with whatever force this takes.
    position alone: the coordinate moves to it as an oscillator of `hertz` and `damping_ratio` does, whatever it carries; so
        a load makes no error. Of no other law are these two, nor is
    max_velocity [rad/s] or [m/s]: the largest speed that it asks for on its way; None or infinite: none. Far from its
        target the coordinate goes at that speed, and near by as the oscillator does that begins there with it.
    kp, kd, or one of them: a PD controller, force = kp (position - coordinate) + kd (velocity - its rate), with 0 for what
        is not given of position and velocity. As a spring does, it yields to a load by that over kp. It is solved with the
        joints and stays stable however large kp and kd are, and however long a step is.

    velocity: [rad/s] or [m/s]; for a ball joint 3 numbers, along the joint's x, y, z.
    position: [rad] or [m]; for a ball joint 3 numbers, a rotation vector.
    max_force: the bound of its force [N] or torque [N m], within which each law holds; for a ball joint along each axis.
        None or infinite: none; a motor of the first two laws then yields to limits alone, and presses into what it touches.
    kp [N m/rad] or [N/m], kd [N m s/rad] or [N s/m]: at least 0. is_pd: whether one of them is given.

    FieldError (a ValueError) where neither a target nor a law is given, or two that exclude each other.

        mc.HingeJoint("thigh", "shank", anchor, axis, motor=mc.Motor(position=-1.4, kp=300.0, kd=8.0, max_force=40.0))
    """

    velocity: Coordinate | None
    position: Coordinate | None
    max_force: float
    hertz: float
    damping_ratio: float
    kp: float | None
    kd: float | None
    max_velocity: float

    def __init__(
        self,
        velocity: float | Vector | None = None,
        position: float | Vector | None = None,
        max_force: float | None = inf,
        hertz: float = HERTZ,
        damping_ratio: float = DAMPING_RATIO,
        kp: float | None = None,
        kd: float | None = None,
        max_velocity: float | None = inf,
    ):
        law = kp is not None or kd is not None
        if not law and (velocity is None) == (position is None):
            raise FieldError(
                "",
                "takes exactly one of velocity and position, or kp and kd with them, got "
                + ("neither" if velocity is None else "both"),
                "Motor",
            )
        arguments = {
            "velocity": None if velocity is None else _coordinate(velocity, "velocity"),
            "position": None if position is None else _coordinate(position, "position"),
            "max_force": inf if max_force is None else not_negative(max_force, "max_force", infinite=True),
            "hertz": positive(hertz, "hertz"),
            "damping_ratio": not_negative(damping_ratio, "damping_ratio"),
            "kp": None if kp is None else not_negative(kp, "kp"),
            "kd": None if kd is None else not_negative(kd, "kd"),
            "max_velocity": inf if max_velocity is None else not_negative(max_velocity, "max_velocity", infinite=True),
        }
        if law and (arguments["hertz"], arguments["damping_ratio"]) != (HERTZ, DAMPING_RATIO):
            raise FieldError(
                "hertz", "and damping_ratio are of a motor for a position alone; leave them out beside kp and kd"
            )
        if (law or position is None) and arguments["max_velocity"] != inf:
            raise FieldError("max_velocity", "is of a motor for a position alone; leave it out")
        self._set(_arguments=arguments, **arguments)

    @property
    def is_pd(self) -> bool:
        """Whether it is a PD controller."""
        return self.kp is not None or self.kd is not None


class Spring(Value):
    """Pulls a joint to its `rest` position: force = -stiffness (position - rest) - damping velocity.

    stiffness: [N/m] or [N m/rad]; damping: [N s/m] or [N m s/rad]; both at least 0.
    rest: [m] or [rad]; for a ball joint 3 numbers, a rotation vector, or 0.
    acts: "both" ways; "pull": only back from beyond its rest, as a rope that stretches does; "push": only out from below
        it, as a bumper does. On the other side it is slack, its damper too; and the two together never push where they are
        to pull. Not of what turns freely, as a ball joint does.

        mc.DistanceJoint("bridge", "jumper", ..., spring=mc.Spring(80.0, damping=10.0, rest=25.0, acts="pull"))
    """

    stiffness: float
    damping: float
    rest: Coordinate
    acts: str

    def __init__(self, stiffness: float, damping: float = 0.0, rest: float | Vector = 0.0, acts: str = "both"):
        arguments = {
            "stiffness": not_negative(stiffness, "stiffness"),
            "damping": not_negative(damping, "damping"),
            "rest": _coordinate(rest, "rest"),
            "acts": choose(acts, ACTS, "acts"),
        }
        self._set(_arguments=arguments, **arguments)


class Motion(Value):
    """Prescribes a coordinate q [rad or m] as a function of time t [s], with whatever force that takes.

    By numbers: q = position + velocity t + acceleration t^2 / 2 + amplitude sin(2 pi frequency t + phase), with
    frequency in Hz and phase in rad. Or by a Python function: `position` t -> q, with `velocity` and `acceleration` the
    functions of its derivatives; those left out are formed by differences. Functions are called at every substep, for t
    >= 0 only, and cannot be saved to a file.
    """

    position: Any  # float, or where is_function a Function
    velocity: Any  # likewise, or None
    acceleration: Any
    amplitude: float
    frequency: float
    phase: float
    is_function: bool

    def __init__(
        self,
        position: float | Function = 0.0,
        velocity: float | Function | None = None,
        acceleration: float | Function | None = None,
        amplitude: float = 0.0,
        frequency: float = 0.0,
        phase: float = 0.0,
    ):
        arguments = {"position": position, "velocity": velocity, "acceleration": acceleration}
        waves = {
            "amplitude": number(amplitude, "amplitude"),
            "frequency": not_negative(frequency, "frequency"),
            "phase": number(phase, "phase"),
        }
        for field, value in arguments.items():
            if value is None and field == "position":
                raise FieldError(field, "must be a number or a function of time, got None")
            if callable(value) != callable(position) and value is not None:
                raise FieldError(
                    field, f"must be a {'function' if callable(position) else 'number'} as position is, got {show(value)}"
                )
            if not callable(value) and value is not None:
                arguments[field] = number(value, field)
        if callable(position):
            for field, value in waves.items():
                if value != 0.0:
                    raise FieldError(field, "is given together with a function; put the wave into the function")
        self._set(_arguments=arguments | waves, is_function=callable(position), **arguments, **waves)

    @property
    def coefficients(self) -> tuple[float, ...]:
        """(6,) position, velocity, acceleration, amplitude, frequency, phase of a motion by numbers."""
        return (self.position, self.velocity or 0.0, self.acceleration or 0.0, self.amplitude, self.frequency, self.phase)

    def at(self, time: float) -> tuple[float, float, float]:
        """-> q, dq/dt, d2q/dt2 at a time [s]."""
        if self.is_function:
            return self._differences(time)
        q, u, a, amplitude, frequency, phase = self.coefficients
        rate = 2.0 * pi * frequency
        s, c = amplitude * sin(rate * time + phase), amplitude * cos(rate * time + phase)
        return q + u * time + 0.5 * a * time * time + s, u + a * time + rate * c, a - rate * rate * s

    def _differences(self, time: float) -> tuple[float, float, float]:
        """The function and its derivatives; those that are not given from the parabola through three points nearby."""
        middle = max(time, DIFFERENCE)
        q, u, a = self.position(time), self.velocity, self.acceleration
        if u is None:
            before, here, after = (self.position(middle + k * DIFFERENCE) for k in (-1, 0, 1))
            bend = (after - 2.0 * here + before) / (DIFFERENCE * DIFFERENCE)
            slope = (after - before) / (2.0 * DIFFERENCE) + (time - middle) * bend
        else:
            slope = u(time)
            bend = 0.0 if a is not None else (u(middle + DIFFERENCE) - u(middle - DIFFERENCE)) / (2.0 * DIFFERENCE)
        return q, slope, bend if a is None else a(time)

    def later(self, start: float, less: float = 0.0) -> Motion:
        """The same motion by a clock that begins `start` [s] later, of a coordinate that counts `less` [rad or m] less."""
        if start == less == 0.0:
            return self
        if self.is_function:
            velocity, acceleration = (
                None if rate is None else partial(_shifted, rate, start, 0.0) for rate in (self.velocity, self.acceleration)
            )
            return Motion(partial(_shifted, self.position, start, less), velocity, acceleration)
        q, u, a, amplitude, frequency, phase = self.coefficients
        return Motion(
            q - less + u * start + 0.5 * a * start * start,
            u + a * start,
            a,
            amplitude,
            frequency,
            phase + 2.0 * pi * (frequency * start % 1.0),
        )

    def to_dict(self) -> dict[str, Any]:
        """The arguments as JSON data; a function has none."""
        if self.is_function:
            raise FieldError(
                "motion",
                "is a Python function, which a file cannot hold; describe it by numbers, or "
                "give it to the joint after loading",
            )
        return super().to_dict()


def _shifted(function: Function, start: float, less: float, time: float) -> float:
    return function(start + time) - less


@dataclass(frozen=True)
class AxisSpec:
    """One free coordinate of a joint [rad or m]: what bounds and drives it. Numbers only, also in motor and spring.

    lower, upper: -inf, inf if there is no limit; friction [N m or N]. armature: inertia of a rotor that goes with the
    coordinate [kg m² or kg].
    """

    lower: float = -inf
    upper: float = inf
    motor: Motor | None = None
    spring: Spring | None = None
    friction: float = 0.0
    motion: Motion | None = None
    armature: float = 0.0
