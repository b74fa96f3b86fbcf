"""Readout: the coordinates and velocities of the tree's joints, read from the state of the bodies.

Of each joint the frame F_s is seen from F_p: position r and quaternion, and F_s's velocity relative to F_p, in its own
axes at its own origin. Joints of one kind are read together. Angles about z are those of the quaternion's twist,
2 atan2(z, w): of all turns about z the nearest one, where the joint is bent.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from mcsim.core.errors import SceneError
from mcsim.core.linear import dot, least, length, lengths, product
from mcsim.core.rotation import (
    conjugates,
    from_matrix,
    matrices,
    matrix,
    products,
    rotated,
    rotated_back,
    rotation_vector,
)
from mcsim.core.trig import arctan2, cos, sin
from mcsim.reduced.kinds import KINDS, Kind
from mcsim.reduced.links import Link
from mcsim.reduced.user_joint import JointModel

UNIT = 1e-6  # how far from 1 the length of an orientation may be
ROUNDING = 1e-15  # how far it is by rounding alone
SINGULAR = 1e-8  # cosine of a pitch, or part of an S, that is taken for zero
MOST_STEPS = 200  # to the coordinates of a joint model of the user's
DIFFERENCE = 1e-6  # of such coordinates


class Motion(NamedTuple):
    """F_s seen from F_p, of several joints; v, w: its velocity in its own axes. constant: of each joint."""

    r: np.ndarray  # (…, k, 3)
    quaternion: np.ndarray  # (…, k, 4)
    v: np.ndarray  # (…, k, 3)
    w: np.ndarray  # (…, k, 3)
    constant: np.ndarray  # (k,)


class Reading(NamedTuple):
    """q (…, k, nq) and qd (…, k, nv) of k joints, and what is off: lists of the parts [m], [rad], [m/s], [rad/s]."""

    q: np.ndarray
    qd: np.ndarray
    off: tuple[list[Any], list[Any], list[Any], list[Any]]


class Group(NamedTuple):
    """The joints of one kind: numbers of their links (k,), and where their coordinates stand."""

    kind: str
    links: np.ndarray  # (k,)
    q: np.ndarray  # (k, nq)
    v: np.ndarray  # (k, nv)
    constant: np.ndarray  # (k,)


class Readout:
    """Reads the state of the bodies as coordinates of the tree. bodies: names of the scene's bodies."""

    def __init__(self, bodies: Sequence[str], links: Sequence[Link]):
        self._bodies = list(bodies)
        self._links = list(links)
        self._moving = np.array([link.body_number for link in links], dtype=np.intp)
        self._parent = np.array([link.parent for link in links], dtype=np.intp)
        self._reversed = np.array([link.reversed for link in links], dtype=bool)
        self._com = np.array([link.com for link in links]).reshape(-1, 3)
        self._place = np.array([link.place for link in links]).reshape(-1, 3)
        self._turn = np.array([from_matrix(link.turn) for link in links]).reshape(-1, 4)
        self._axes = np.array([from_matrix(link.frame[1].T) for link in links]).reshape(-1, 4)
        self._nq, self._nv = (max((getattr(link, part).stop for link in links), default=0) for part in ("q", "v"))
        by_kind = {kind: [link for link in links if link.kind == kind] for kind in KINDS}
        users = by_kind.pop("user")  # each is of its own kind
        self._groups = [self._group(*part) for part in by_kind.items() if part[1]]
        self._groups += [self._group("user", [link]) for link in users]

    @staticmethod
    def _group(kind: str, links: Sequence[Link]) -> Group:
        q, v = (
            np.array([range(getattr(link, part).start, getattr(link, part).stop) for link in links], dtype=np.intp).reshape(
                len(links), -1
            )
            for part in ("q", "v")
        )
        return Group(kind, np.array([link.number for link in links]), q, v, np.array([link.constant for link in links]))

    def coordinates(self, *state: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """q (…, nq), qd (…, nv); see System.coordinates."""
        motion = self._motion(*state)
        shape = motion.r.shape[:-2]
        q, qd = np.empty((*shape, self._nq)), np.empty((*shape, self._nv))
        for group, reading in self._readings(motion):
            q[..., group.q], qd[..., group.v] = reading.q, reading.qd
            if group.kind == "spherical_ypr":
                self._refuse_singular(group.links, reading)
        return q, qd

    def errors(self, *state: np.ndarray) -> np.ndarray:
        """(…, links, 4); see System.tree_errors."""
        motion = self._motion(*state)
        out = np.empty((*motion.r.shape[:-1], 4))
        for group, reading in self._readings(motion):
            for i, parts in enumerate(reading.off):
                out[..., group.links, i] = _length(parts) if parts else 0.0
        return out

    def _readings(self, motion: Motion) -> Iterator[tuple[Group, Reading]]:
        """Each group of joints of one kind, and what is read of it."""
        for group in self._groups:
            r, turn, v, w = (values[..., group.links, :] for values in motion[:4])
            read = partial(_user, self._links[group.links[0]].model) if group.kind == "user" else READ[group.kind]
            yield group, read(Motion(r, turn, v, w, group.constant))

    def _refuse_singular(self, links: np.ndarray, reading: Reading) -> None:
        bad = ~np.isfinite(reading.qd).all(axis=-1)
        if bad.any():
            joint = self._links[links[np.nonzero(bad)[-1][0]]].joint
            raise SceneError(
                f"joint {joint.name!r} is at a pitch of ±π/2, where yaw and roll turn about one axis and "
                "their rates are not determined; describe it by a quaternion (ball='quaternion')"
            )

    def _motion(
        self, positions: np.ndarray, orientations: np.ndarray, velocities: np.ndarray, angular_velocities: np.ndarray
    ) -> Motion:
        """How each joint's F_s stands to its F_p, and moves."""
        x, v, w = (
            self._checked(name, value, 3)
            for name, value in (
                ("positions", positions),
                ("velocities", velocities),
                ("angular_velocities", angular_velocities),
            )
        )
        orientation = self._units(self._checked("orientations", orientations, 4))
        # Every link's frame, its origin's velocity, and its angular velocity; the base's are appended as the last.
        axes = products(orientation, self._axes)
        arm = rotated(axes, -self._com)
        origin, slip = _with_base(x + arm), _with_base(v + np.cross(w, arm))
        axes, spin = _with_base(axes, (1.0, 0.0, 0.0, 0.0)), _with_base(w)
        # The frame of each joint on the parent, and on the link.
        parent, link = self._parent, slice(0, -1)
        arm = rotated(axes[..., parent, :], self._place)
        outer = (
            origin[..., parent, :] + arm,
            products(axes[..., parent, :], self._turn),
            slip[..., parent, :] + np.cross(spin[..., parent, :], arm),
            spin[..., parent, :],
        )
        inner = (origin[..., link, :], axes[..., link, :], slip[..., link, :], spin[..., link, :])
        backward = self._reversed[:, None]
        point_p, axes_p, v_p, w_p = (np.where(backward, i, o) for i, o in zip(inner, outer))
        point_s, axes_s, v_s, w_s = (np.where(backward, o, i) for i, o in zip(inner, outer))
        offset = point_s - point_p
        return Motion(
            rotated_back(axes_p, offset),
            products(conjugates(axes_p), axes_s),
            rotated_back(axes_s, v_s - v_p - np.cross(w_p, offset)),
            rotated_back(axes_s, w_s - w_p),
            np.zeros(0),
        )

    def _checked(self, name: str, value: np.ndarray, size: int) -> np.ndarray:
        """The rows (…, links, size) of the links' bodies."""
        value = np.asarray(value, float)
        if value.ndim < 2 or value.shape[-2:] != (len(self._bodies), size):
            raise SceneError(
                f"{name} must be (…, {len(self._bodies)}, {size}), {size} numbers for each body of the "
                f"scene, got {value.shape}"
            )
        value = value[..., self._moving, :]
        bad = ~np.isfinite(value).all(axis=-1)
        if bad.any():
            raise SceneError(f"body {self._body_at(bad)!r}: {name} must be finite")
        return value

    def _units(self, orientation: np.ndarray) -> np.ndarray:
        """The quaternions as they are, or of length 1 where they are a little off; refused where they are more."""
        size = lengths(orientation)[..., None]
        off = np.abs(size - 1.0)
        bad = off[..., 0] > UNIT
        if bad.any():
            raise SceneError(
                f"body {self._body_at(bad)!r}: orientations must be unit quaternions (w, x, y, z); divide "
                "them by their length"
            )
        return np.where(off > ROUNDING, orientation / size, orientation)

    def _body_at(self, bad: np.ndarray) -> str:
        return self._bodies[self._moving[np.nonzero(bad)[-1][0]]]


# ---- one function a kind ---------------------------------------------------------------------------------------------


def _fixed(m: Motion) -> Reading:
    none = m.r[..., :0]
    return Reading(none, none, ([*_xyz(m.r)], [_angle(m.quaternion)], [*_xyz(m.v)], [*_xyz(m.w)]))


def _revolute(m: Motion) -> Reading:
    wx, wy, wz = _xyz(m.w)
    return Reading(_stack(_twist(m.quaternion)), _stack(wz), ([*_xyz(m.r)], [_swing(m.quaternion)], [*_xyz(m.v)], [wx, wy]))


def _prismatic(m: Motion) -> Reading:
    x, y, z = _xyz(m.r)
    vx, vy, vz = _xyz(m.v)
    return Reading(_stack(z), _stack(vz), ([x, y], [_angle(m.quaternion)], [vx, vy], [*_xyz(m.w)]))


def _helical(m: Motion) -> Reading:
    """The way tells how many whole turns the angle has made."""
    x, y, z = _xyz(m.r)
    vx, vy, vz = _xyz(m.v)
    wx, wy, wz = _xyz(m.w)
    angle = _unwound(_twist(m.quaternion), z, m.constant)
    return Reading(
        _stack(angle),
        _stack(wz),
        ([x, y, z - m.constant * angle], [_swing(m.quaternion)], [vx, vy, vz - m.constant * wz], [wx, wy]),
    )


def _cylindrical(m: Motion) -> Reading:
    x, y, z = _xyz(m.r)
    vx, vy, vz = _xyz(m.v)
    wx, wy, wz = _xyz(m.w)
    return Reading(_stack(z, _twist(m.quaternion)), _stack(vz, wz), ([x, y], [_swing(m.quaternion)], [vx, vy], [wx, wy]))


def _planar(m: Motion) -> Reading:
    x, y, z = _xyz(m.r)
    vx, vy, vz = _xyz(m.v)
    wx, wy, wz = _xyz(m.w)
    return Reading(_stack(x, y, _twist(m.quaternion)), _stack(vx, vy, wz), ([z], [_swing(m.quaternion)], [vz], [wx, wy]))


def _turning(kind: Kind, m: Motion) -> Reading:
    """A quaternion comes with w >= 0, but for one of what nothing holds, which has the sign of the bodies'."""
    if len(kind.ways) == 3:
        return Reading(
            np.concatenate([m.r, m.quaternion], axis=-1),
            np.concatenate([rotated(m.quaternion, m.v), m.w], axis=-1),
            ([], [], [], []),
        )
    q = np.where(m.quaternion[..., :1] < 0.0, -m.quaternion, m.quaternion)
    if not kind.ways:
        return Reading(q, m.w, ([*_xyz(m.r)], [], [*_xyz(m.v)], []))
    ways = ["xyz".index(way) for way in kind.ways]
    held = [i for i in range(3) if i not in ways]
    v = rotated(m.quaternion, m.v)
    return Reading(
        np.concatenate([m.r[..., ways], q], axis=-1),
        np.concatenate([v[..., ways], m.w], axis=-1),
        ([m.r[..., i] for i in held], [], [v[..., i] for i in held], []),
    )


def _angles_zyx(m: Motion) -> Reading:
    """w = roll' x + pitch' Rx(-roll) y + yaw' Rx(-roll) Ry(-pitch) z.

    Where cos(pitch) = 0, roll is set to zero, and if w has a part across x and y, no rates can give it: they are nan.
    """
    rotation = matrices(m.quaternion)
    cosine = _length([rotation[..., 0, 0], rotation[..., 1, 0]])
    pitch = arctan2(-rotation[..., 2, 0], cosine)
    singular = cosine < SINGULAR
    yaw = np.where(
        singular, arctan2(-rotation[..., 0, 1], rotation[..., 1, 1]), arctan2(rotation[..., 1, 0], rotation[..., 0, 0])
    )
    roll = np.where(singular, 0.0, arctan2(rotation[..., 2, 1], rotation[..., 2, 2]))
    wx, wy, wz = _xyz(m.w)
    s, c = sin(roll), cos(roll)
    across = s * wy + c * wz
    with np.errstate(divide="ignore", invalid="ignore"):
        yaw_rate = np.where(singular, np.where(across == 0.0, 0.0, np.nan), across / cosine)
    return Reading(
        _stack(yaw, pitch, roll),
        _stack(yaw_rate, c * wy - s * wz, wx + sin(pitch) * yaw_rate),
        ([*_xyz(m.r)], [], [*_xyz(m.v)], []),
    )


def _angles_zx(m: Motion) -> Reading:
    """R = Rz(q1) Rx(q2); w = q1' Rx(-q2) z + q2' x."""
    rotation = matrices(m.quaternion)
    first = arctan2(rotation[..., 1, 0], rotation[..., 0, 0])
    second = arctan2(rotation[..., 2, 1], rotation[..., 2, 2])
    lean = arctan2(rotation[..., 2, 0], _length([rotation[..., 0, 0], rotation[..., 1, 0]]))
    wx, wy, wz = _xyz(m.w)
    s, c = sin(second), cos(second)
    return Reading(
        _stack(first, second), _stack(s * wy + c * wz, wx), ([*_xyz(m.r)], [lean], [*_xyz(m.v)], [c * wy - s * wz])
    )


def _rack_pinion(m: Motion) -> Reading:
    """F_s rolls along x of F_p, by the constant a radian; the way tells the turns."""
    x, y, z = _xyz(m.r)
    vx, vy, vz = _xyz(m.v)
    wx, wy, wz = _xyz(m.w)
    angle = _unwound(_twist(m.quaternion), x, m.constant)
    s, c = sin(angle), cos(angle)
    return Reading(
        _stack(angle),
        _stack(wz),
        (
            [x - m.constant * angle, y, z],
            [_swing(m.quaternion)],
            [vx - m.constant * c * wz, vy + m.constant * s * wz, vz],
            [wx, wy],
        ),
    )


def _user(model: JointModel, m: Motion) -> Reading:
    """The coordinates whose placement is nearest, from 0; metres and radians count alike."""
    shape = m.r.shape[:-1]
    q, qd, off = np.empty((*shape, model.size)), np.empty((*shape, model.size)), np.empty((*shape, 4))
    for i in np.ndindex(shape):
        turn = matrix(m.quaternion[i])

        def apart(at: np.ndarray) -> np.ndarray:
            own, place = model.placement(at)
            return np.concatenate([product(own.T, m.r[i] - place), rotation_vector(from_matrix(product(own.T, turn)))])

        q[i], left = _nearest(apart, np.zeros(model.size))
        subspace = model.subspace(q[i])
        motion = np.concatenate([m.w[i], m.v[i]])
        qd[i] = least(subspace, motion)[0]
        rest = motion - product(subspace, qd[i])
        off[i] = [length(part) for part in (left[:3], left[3:], rest[3:], rest[:3])]
    turned, moved, turning, moving = ([off[..., k]] for k in range(4))
    return Reading(q, qd, (turned, moved, turning, moving))


def _nearest(apart: Callable[[np.ndarray], np.ndarray], at: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Where apart (6,) is least, from `at` on, and what it is there: Levenberg and Marquardt's method (J. More, "The
    Levenberg-Marquardt algorithm", 1978) with differences for derivatives."""
    found, damping = apart(at), 1e-3
    for _ in range(MOST_STEPS):
        slope = np.array(
            [(apart(at + step) - apart(at - step)) / (2.0 * DIFFERENCE) for step in DIFFERENCE * np.eye(len(at))]
        ).T
        size = dot(found, found)
        while damping < 1e12:
            held = np.sqrt(damping) * np.maximum(lengths(slope.T), 1e-12)
            step = least(np.vstack([slope, np.diag(held)]), np.concatenate([-found, np.zeros(len(at))]))[0]
            new = apart(at + step)
            damping *= 4.0
            if dot(new, new) < size:
                break
        else:
            break
        at, found, damping = at + step, new, max(damping / 64.0, 1e-16)
        if not length(step) > 1e-15 * (1.0 + length(at)):
            break
    return at, found


_PATTERNS: tuple[Callable[..., Reading], ...] = (
    _fixed,
    _revolute,
    _prismatic,
    _helical,
    _cylindrical,
    _planar,
    _turning,
    _angles_zyx,
    _angles_zx,
    _rack_pinion,
)
READ: dict[str, Callable[[Motion], Reading]] = {
    name: partial(_turning, kind) if kind.turn == "q" else _PATTERNS[kind.pattern]
    for name, kind in KINDS.items()
    if kind.turn != "user"
}


# ---- many vectors at once --------------------------------------------------------------------------------------------


def _xyz(a: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return a[..., 0], a[..., 1], a[..., 2]


def _stack(*parts: np.ndarray) -> np.ndarray:
    return np.stack(parts, axis=-1)


def _length(parts: list[Any]) -> np.ndarray:
    return np.sqrt(sum(part * part for part in parts))


def _twist(q: np.ndarray) -> np.ndarray:
    """The angle about z, in (-π, π]."""
    sign = np.where(q[..., 0] < 0.0, -1.0, 1.0)
    angle = 2.0 * arctan2(sign * q[..., 3], sign * q[..., 0])
    return np.where(angle <= -np.pi, np.pi, angle)


def _swing(q: np.ndarray) -> np.ndarray:
    """The angle between the two z axes."""
    return 2.0 * arctan2(_length([q[..., 1], q[..., 2]]), _length([q[..., 0], q[..., 3]]))


def _angle(q: np.ndarray) -> np.ndarray:
    """The angle of the rotation, 0 to π."""
    return 2.0 * arctan2(lengths(q[..., 1:]), np.abs(q[..., 0]))


def _unwound(angle: np.ndarray, way: np.ndarray, rate: np.ndarray) -> np.ndarray:
    """Of angle + 2π k the one whose way, `rate` a radian, is nearest to `way`; the angle itself if rate is 0."""
    turns = np.divide(way, rate, out=np.array(angle), where=rate != 0.0)
    return angle + 2.0 * np.pi * np.round((turns - angle) / (2.0 * np.pi))


def _with_base(a: np.ndarray, base: Sequence[float] = (0.0, 0.0, 0.0)) -> np.ndarray:
    """(…, n + 1, k): with the base's row as the last one."""
    return np.concatenate([a, np.broadcast_to(base, (*a.shape[:-2], 1, a.shape[-1]))], axis=-2)
