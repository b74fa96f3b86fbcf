"""UserJoint: a joint given in Python as a residual of the two bodies' poses."""

from __future__ import annotations  # signatures read as they are written here

from collections.abc import Callable, Sequence
from functools import cached_property
from math import hypot, isfinite
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np

from mcsim.core.linear import product
from mcsim.core.rotation import IDENTITY, Frame, matrix, multiply, normalized, rotate
from mcsim.core.trig import cos, sin
from mcsim.scene import checks
from mcsim.scene.bodies import Body
from mcsim.scene.checks import FieldError, Vector, show
from mcsim.scene.joints._arguments import anchor_of
from mcsim.scene.joints._joint import BodyName, Joint

MOST_ROWS = 6
STEP = 1e-5  # of the differences that stand for a Jacobian [m, rad]
LONG_STEP = 3e-4  # of second differences
SHORTEST_STEP = 1e-100  # whose square is not zero [s]
NEARBY = 1e-2  # how far from the initial pose a given Jacobian is checked once more [m, rad]
TOLERANCE = 1e-6  # of a given Jacobian, relative to its largest number, at least 1
UNITS = np.eye(6)
COLUMNS = [f"{quantity}_{body}.{axis}" for body in "ab" for quantity in "vw" for axis in "xyz"]


class _Pose(NamedTuple):
    position: np.ndarray
    orientation: np.ndarray


class Pose(_Pose):
    """A body's centre of mass (3,) [m] and unit quaternion (4,) (w, x, y, z), world; (0, identity) for the world.

    Read-only: several calls of a residual get the same arrays.
    """

    def __new__(cls, position: np.ndarray, orientation: np.ndarray) -> Pose:
        position.setflags(write=False)
        orientation.setflags(write=False)
        return super().__new__(cls, position, orientation)

    @cached_property
    def rotation(self) -> np.ndarray:
        """(3, 3) takes body vectors into the world."""
        return matrix(self.orientation.tolist())

    def moved(self, twist: np.ndarray, size: float) -> Pose:
        """The pose after moving along [v; w] (world axes) for `size` seconds."""
        x, y, z = (0.5 * size * float(w) for w in twist[3:])
        half = hypot(x, y, z)
        position = self.position + size * twist[:3]
        if half > 0.0:
            s = sin(half) / half
            return Pose(position, normalized(multiply((cos(half), s * x, s * y, s * z), self.orientation.tolist())))
        pose = Pose(position, self.orientation)
        if "rotation" in self.__dict__:
            pose.__dict__["rotation"] = self.rotation
        return pose


Residual = Callable[[Pose, Pose], Sequence[float]]
Jacobian = Callable[[Pose, Pose], Sequence[Sequence[float]]]


class UserJoint(Joint):
    """A joint of your own: residual(a, b) = 0, of the poses of the two bodies. No free coordinate is measured.

    residual: function of two Pose, each (position (3,) of the centre of mass [m], orientation (4,)) with `.rotation`
        (3, 3), world axes; gives 1 to 6 numbers, smooth in the poses, in metres or radians. It is called many times a
        step.
    jacobian: function of the same, gives (size, 12): the residual's rate by the twists [v_a, w_a, v_b, w_b] of the
        centres of mass, world axes. It is checked against differences when the joint is added. None: formed by central
        differences, 24 calls of `residual` each time.
    size: how many numbers; counted if None. angles: which of them are angles, and count as radians in joint_errors().
    anchor: the point that the joint's torque is about [m], b's position if not given (a's if b is the world).

    Rows that depend on each other are allowed. Only a residual that does not change when both bodies move as one
    exchanges equal and opposite forces and keeps momentum. The functions may read the world's arrays, but not step or
    change it. What they raise stops the step, with the last good state in place. A joint with functions cannot be saved
    to a file.
    """

    type = "user"
    in_files = False
    size: int
    residual: Residual
    jacobian: Jacobian | None
    angles: tuple[int, ...]

    def __init__(
        self,
        a: BodyName,
        b: BodyName,
        residual: Residual,
        jacobian: Jacobian | None = None,
        size: int | None = None,
        *,
        angles: Sequence[int] = (),
        anchor: Vector | None = None,
        name: str | None = None,
        break_force: float | None = None,
        break_torque: float | None = None,
        collide: bool = False,
    ) -> None:
        if not callable(residual):
            raise FieldError("residual", f"must be a function of two poses, got {show(residual)}")
        if jacobian is not None and not callable(jacobian):
            raise FieldError("jacobian", f"must be a function of two poses or None, got {show(jacobian)}")
        if size is not None and (isinstance(size, bool) or not isinstance(size, Integral) or not 1 <= size <= MOST_ROWS):
            raise FieldError("size", f"must be from 1 to {MOST_ROWS}, got {show(size)}")
        size = None if size is None else int(size)
        angles = tuple(checks.items(angles, "numbers of rows", "angles"))
        self._describe(
            a,
            b,
            name,
            None,
            None,
            collide,
            break_force,
            break_torque,
            [],
            residual=residual,
            jacobian=jacobian,
            size=size,
            angles=angles,
            anchor=anchor_of(anchor, required=False),
        )
        self._set(residual=residual, jacobian=jacobian, size=size or 0, angles=angles)

    def _world_frame(self, body_a: Frame, body_b: Frame) -> Frame:
        return self._point(body_a, body_b), IDENTITY[1]

    def _place(self, index: int, name: str, bodies: tuple[Body | None, Body | None]) -> None:
        poses = [_pose(body) for body in bodies]
        try:
            value = np.asarray(self.residual(*poses), float)
        except Exception as error:
            raise FieldError("residual", f"failed at the initial pose: {error!r}") from error
        if value.ndim != 1 or not 1 <= len(value) <= MOST_ROWS or not np.all(np.isfinite(value)):
            raise FieldError(
                "residual",
                f"must give 1 to {MOST_ROWS} finite numbers, at the initial pose it gives {show(value.tolist())}",
            )
        if self.size not in (0, len(value)):
            raise FieldError("size", f"is {self.size}, but the residual gives {len(value)} numbers")
        self._set(size=len(value))
        for i in self.angles:
            if isinstance(i, bool) or not isinstance(i, Integral) or not 0 <= i < self.size:
                raise FieldError("angles", f"must be row numbers from 0 to {self.size - 1}, got {show(i)}")
        if self.jacobian is not None:
            self._check_jacobian(self.jacobian, poses, "the initial pose")
            turns = np.array([[1, -2, 3, -3, 1, 2], [-2, 3, 1, 2, -3, 1]]) / 3.0
            self._check_jacobian(
                self.jacobian,
                [pose if body is None else pose.moved(turn, NEARBY) for body, pose, turn in zip(bodies, poses, turns)],
                "a pose nearby",
            )
        else:
            self._check_differences(poses)
        super()._place(index, name, bodies)

    def _check_differences(self, poses: list[Pose]) -> None:
        """Refuse a residual whose derivative cannot be formed."""
        try:
            self.differences(*poses)
        except Exception as error:
            told = str(error) if isinstance(error, ValueError) else repr(error)
            raise FieldError("residual", f"has no derivative at the initial pose: close to it {told}") from error

    def _check_jacobian(self, jacobian: Jacobian, poses: list[Pose], where: str) -> None:
        """Refuse a Jacobian that is not the residual's derivative."""
        try:
            given = np.asarray(jacobian(*poses), float)
        except Exception as error:
            raise FieldError("jacobian", f"failed at {where}: {error!r}") from error
        if given.shape != (self.size, 12):
            raise FieldError(
                "jacobian",
                f"must be of shape ({self.size}, 12), got {given.shape}; columns are the twists v_a, w_a, v_b, w_b",
            )
        formed = self.differences(*poses)
        for body, columns in ((self.a, slice(0, 6)), (self.b, slice(6, 12))):
            if body is None:
                given[:, columns] = 0.0
        off = np.abs(given - formed)
        if not np.max(off) <= TOLERANCE * max(1.0, np.max(np.abs(formed))):
            row, column = np.unravel_index(np.argmax(np.nan_to_num(off, nan=np.inf)), off.shape)
            raise FieldError(
                "jacobian",
                f"is not the residual's derivative: at {where} the largest deviation from "
                f"central differences is {off[row, column]:.3g}, in row {row} by {COLUMNS[column]}: given "
                f"{given[row, column]:.6g}, differences {formed[row, column]:.6g}",
            )

    def error_at(self, a: Frame, b: Frame) -> np.ndarray:
        """(size,) the residual at two poses, each (position, orientation)."""
        value = np.asarray(self.residual(_as_pose(a), _as_pose(b)), float)
        if value.shape != (self.size,) or not all(map(isfinite, value.tolist())):
            raise ValueError(f"the residual must give {self.size} finite numbers, it gives {show(value.tolist())}")
        return value

    def differences(self, a: Pose, b: Pose) -> np.ndarray:
        """(size, 12) central differences of the residual; 0 by the world's columns."""
        out = np.zeros((self.size, 12))
        for column in range(12):
            if (self.a if column < 6 else self.b) is None:
                continue
            unit = UNITS[column % 6]
            plus, minus = ((a.moved(unit, s), b) if column < 6 else (a, b.moved(unit, s)) for s in (STEP, -STEP))
            out[:, column] = (self.error_at(*plus) - self.error_at(*minus)) / (2.0 * STEP)
        return out

    def jacobian_at(self, a: Frame, b: Frame) -> np.ndarray:
        """(size, 12) the given Jacobian, or differences."""
        a, b = _as_pose(a), _as_pose(b)
        if self.jacobian is None:
            return self.differences(a, b)
        value = np.asarray(self.jacobian(a, b), float)
        if value.shape != (self.size, 12) or not all(map(isfinite, value.ravel().tolist())):
            raise ValueError(f"the Jacobian must be ({self.size}, 12) finite numbers, it is {show(value.tolist())}")
        return value

    def evaluate(
        self, a: Frame, b: Frame, twist_a: np.ndarray, twist_b: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The residual, its Jacobian, and the Jacobian's rate times the present twists."""
        a, b = _as_pose(a), _as_pose(b)
        error = self.error_at(a, b)
        return error, self.jacobian_at(a, b), self._curvature(a, b, twist_a, twist_b, error)

    def _curvature(self, a: Pose, b: Pose, twist_a: np.ndarray, twist_b: np.ndarray, error: np.ndarray) -> np.ndarray:
        """(size,) dJ/dt v along the present twists."""
        speed = max(map(abs, twist_a.tolist() + twist_b.tolist()))
        if speed < SHORTEST_STEP:  # whose square is zero
            return np.zeros(self.size)

        def along(size: float) -> Any:
            return a.moved(twist_a, size), b.moved(twist_b, size)

        if self.jacobian is not None:
            twist, size = np.concatenate([twist_a, twist_b]), STEP / speed
            return product(self.jacobian_at(*along(size)) - self.jacobian_at(*along(-size)), twist) / (2.0 * size)
        size = LONG_STEP / speed
        if not size > SHORTEST_STEP:
            return np.full(self.size, np.nan)  # so fast that the step fails, which then names the body
        return (self.error_at(*along(size)) - 2.0 * error + self.error_at(*along(-size))) / (size * size)

    def _told_by_frames(self) -> dict[str, Any]:
        return self._arguments

    def to_dict(self) -> dict[str, Any]:
        raise FieldError(
            "residual",
            "is a Python function, which a file cannot hold; add the joint after loading",
            f"joint {self.name!r}",
        )


def _as_pose(frame: Frame) -> Pose:
    return frame if isinstance(frame, Pose) else Pose(*frame)


def _pose(body: Body | None) -> Pose:
    if body is None:
        return Pose(np.zeros(3), np.array([1.0, 0.0, 0.0, 0.0]))
    return Pose(body.position + rotate(body.orientation, body.center_of_mass), np.array(body.orientation))
