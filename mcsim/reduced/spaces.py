"""The spaces of joints: which motions a joint allows, which forces it bears, which force drives it.

R. Featherstone, Rigid Body Dynamics Algorithms, 2008, sections 3.5 (Joint Constraints) and 4.4. Motions are
[w; v], forces [n; f]. A joint leads from its predecessor p to its successor s, and of the successor's velocity relative
to the predecessor says

    v_J = v_s - v_p = S qd + sigma              S: motion subspace, sigma: bias velocity, prescribed in time
    a_s - a_p = S qdd + c_J + v_s × v_J         c_J: what S and sigma change as seen from F_s
    f_J = T_a tau + T lambda                    the force that it passes on to s (and takes from p)
    T' S = 0,  T_a' S = 1                       T: constraint subspace, T_a: active-force subspace

so that T' v_J = T' sigma is the joint as an implicit constraint, and a force of T does no work on what is free.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from mcsim.core.errors import SceneError
from mcsim.core.rotation import Frame, cross_matrices, from_matrix, matrix, normalized, rotation_vector
from mcsim.reduced.dynamics import Dynamics, as_state, given_velocities
from mcsim.reduced.kinds import KIND_OF, KINDS, QUATERNIONS, Kind
from mcsim.reduced.links import Loop
from mcsim.reduced.readout import READ, SINGULAR, Motion
from mcsim.reduced.system import System
from mcsim.reduced.user_joint import JointModel
from mcsim.scene.checks import FieldError, Vector, listing, show, suggestion, vector
from mcsim.spatial import complement, motion_cross

NONE, X, Y, Z = np.vstack([np.zeros(3), np.eye(3)])
UNIT = 1e-9  # by how much T_a' S of a user's T_a may differ from 1
# Kinds whose coordinates a Motion may move, and which of them turn all the way round.
TURNS = {
    name: () if KINDS[name].geared else tuple(range(len(KINDS[name].ways), KINDS[name].nq))
    for name in KIND_OF.values()
    if KINDS[name].plain and KINDS[name].nq > 0
}

FORCE_X, FORCE_Y, FORCE_Z = (((NONE, axis), f"force along {name}") for axis, name in ((X, "x"), (Y, "y"), (Z, "z")))
TORQUE_X, TORQUE_Y, TORQUE_Z = (((axis, NONE), f"torque about {name}") for axis, name in ((X, "x"), (Y, "y"), (Z, "z")))

Pair = tuple[np.ndarray, np.ndarray]  # an angular vector, then a linear one


class Jcalc(NamedTuple):
    """A kind of joint at its coordinates, in the axes of F_s about its origin.

    place (3,), turn (3, 3): F_s seen from F_p. S, T_a (6, n), T (6, 6 - n). c (6,): the apparent derivative of S times
    qd. rows: a name for each column of T.
    """

    place: np.ndarray
    turn: np.ndarray
    S: np.ndarray
    T: np.ndarray
    T_a: np.ndarray
    c: np.ndarray
    rows: tuple[str, ...]


# What the constant of a kind is.
CONSTANTS = {"helical": "pitch [m/rad]", "rack_pinion": "radius [m]"}


def jcalc(kind: str, q: Vector, qd: Vector | None = None, constant: float | None = None) -> Jcalc:
    """The model of a joint of one of the KINDS at q, qd (0 if None). constant: pitch or radius, where it has one.

    T_a is what drives each velocity alone: a torque about an axis where that turns (also of a helical joint and of a
    rack and pinion), a force where it slides; of two or three angles one after the other S (S'S)^-1.
    """
    if not isinstance(kind, str) or kind not in _KINDS:
        near = suggestion(kind, _KINDS) if isinstance(kind, str) else ""
        raise SceneError(f"there is no model of joints of kind {show(kind)}{near}; there are: {listing(list(_KINDS))}")
    q = _coordinates(q, KINDS[kind].nq, f"q of a {kind} joint")
    qd = np.zeros(KINDS[kind].nv) if qd is None else _coordinates(qd, KINDS[kind].nv, f"qd of a {kind} joint")
    if kind in QUATERNIONS:
        at = slice(QUATERNIONS[kind], QUATERNIONS[kind] + 4)
        if not np.any(q[at]):
            raise SceneError(f"q of a {kind} joint: its quaternion must not be zero")
    if kind in CONSTANTS and constant is None:
        raise SceneError(f"a {kind} joint has a {CONSTANTS[kind]}: pass it as constant")
    constant = 0.0 if constant is None else float(_coordinates([constant], 1, "constant")[0])
    return _KINDS[kind](q, qd, constant)


def _coordinates(value: Vector, size: int, what: str) -> np.ndarray:
    try:
        return np.array(vector(value, what, size))
    except FieldError as error:
        raise SceneError(str(error)) from None


@dataclass(frozen=True, eq=False)
class JointSpaces:
    """A joint of a system at a state; see the head of the module.

    name: of the joint; of a free joint that the model added, of its body. kind: a key of KINDS.
    link: number of the link whose tree joint it is, None of a loop joint. predecessor, successor: links, -1 the base.
    q: its coordinates; of a loop joint as they are read from its two links.
    columns (n,): which of the system's velocities S belongs to; empty of a loop joint, which has none of its own.
    S, T_a (6, n), T (6, 6 - n), sigma, c, velocity (v_J) (6,): in the axes of F_s about its origin, or in world axes
        about the same point if `world`.
    error (6 - n,): by how much the joint is off along T [rad, m]: 0 of tree joints. Where the joint is closed its rate is
        T' (v_J - sigma); where it is off by e that lacks terms of the size of e times the joint's rates, for T turns.
    rows: a name for each column of T. origin (3,), axes (3, 3): F_s in the world, the axes its columns.
    """

    name: str
    kind: str
    link: int | None
    predecessor: int
    successor: int
    q: np.ndarray
    columns: np.ndarray
    S: np.ndarray
    T: np.ndarray
    T_a: np.ndarray
    sigma: np.ndarray
    c: np.ndarray
    velocity: np.ndarray
    error: np.ndarray
    rows: tuple[str, ...]
    origin: np.ndarray
    axes: np.ndarray
    world: bool = False

    def in_world(self) -> JointSpaces:
        """The same in world axes, still about the origin of F_s."""
        if self.world:
            return self
        turn = np.kron(np.eye(2), self.axes)
        return replace(
            self,
            world=True,
            **{field: turn @ getattr(self, field) for field in ("S", "T", "T_a", "sigma", "c", "velocity")},
        )

    def transmitted(self, tau: ArrayLike, constraint: ArrayLike) -> np.ndarray:
        """f_J (6,) = T_a tau + T lambda, for tau (n,) and lambda (6 - n,): what acts on the successor."""
        return self.T_a @ np.asarray(tau, float) + self.T @ np.asarray(constraint, float)

    def __repr__(self) -> str:
        return (
            f"<{self.kind} joint {self.name!r}: {self.S.shape[1]} free, {self.T.shape[1]} constrained, in "
            f"{'world axes' if self.world else 'F_s axes'}>"
        )


def joint_spaces(
    system: System | Dynamics,
    q: ArrayLike,
    qd: ArrayLike | None = None,
    *,
    given: ArrayLike | None = None,
    qdd: ArrayLike | None = None,
    active: Mapping[str, np.ndarray] | None = None,
    time: float = 0.0,
) -> list[JointSpaces]:
    """The spaces of all joints at q (nq,), qd (nv,) (0 if None), in F_s axes: the links' joints in the order of links,
    then those that close loops.

    given (nv,) bool: velocities that are prescribed in time; those of kinematic bodies always are. They leave S and go
    into sigma = S_given qd_given, their accelerations qdd (nv,) into c, and T grows by their columns of T_a: so the
    force that keeps them to it is a constraint force.
    active: T_a (6, n) of some tree joints by name, in F_s axes, in place of the usual ones. Another T_a changes the
    constraint forces and not the motion.
    time [s]: at which the scene's Motions are asked. Joints that have one are not in the tree, and hold it likewise: by
    sigma, c, more columns of T, and the error.
    """
    dynamics = system if isinstance(system, Dynamics) else Dynamics(system)
    system = dynamics.system
    q = as_state(q, "q", system.nq)
    qd = np.zeros(system.nv) if qd is None else as_state(qd, "qd", system.nv)
    qdd = np.zeros(system.nv) if qdd is None else as_state(qdd, "qdd", system.nv)
    return spaces_at(Frames(dynamics, q, qd), q, qd, given_velocities(system, given), qdd, active, time)


def spaces_at(
    frames: Frames,
    q: np.ndarray,
    qd: np.ndarray,
    given: np.ndarray,
    qdd: np.ndarray,
    active: Mapping[str, np.ndarray] | None,
    time: float | None,
) -> list[JointSpaces]:
    """joint_spaces of a state that was checked. time None: as if there were no Motions."""
    system, active, spaces = frames.system, dict(active or {}), []
    for link in system.links:
        base, own = (link.parent, (link.place, link.turn)), (link.number, (NONE, np.eye(3)))
        p, s = (own, base) if link.reversed else (base, own)
        name = link.body if link.joint is None else link.joint.name
        if link.model is None:
            model = jcalc(link.kind, q[link.q], qd[link.v], link.constant)
        else:
            model = _user(name, link.model, q[link.q], qd[link.v])
        chosen = None if link.joint is None else active.pop(name, None)
        if chosen is not None:
            model = model._replace(T_a=_active(name, chosen, model.S))
        numbers = np.arange(link.v.start, link.v.stop)
        known = given[numbers]
        fields = _with_given(
            model,
            known,
            qd[numbers[known]],
            qdd[numbers[known]],
            tuple(f"velocity {k} of the joint, which is given" for k in np.flatnonzero(known)),
        )
        origin, axes = frames.place(*s)
        spaces.append(
            JointSpaces(
                name=name,
                kind=link.kind,
                link=link.number,
                predecessor=p[0],
                successor=s[0],
                q=q[link.q],
                columns=numbers[~known],
                velocity=model.S @ qd[numbers],
                error=np.zeros(fields["T"].shape[1]),
                origin=origin,
                axes=axes,
                **fields,
            )
        )
    if active:
        raise SceneError(f"active has {listing(list(active))}, which is no tree joint")
    return spaces + loop_spaces(frames, time)


def loop_spaces(frames: Frames, time: float | None) -> list[JointSpaces]:
    """Of the joints that close loops, alone."""
    return [_loop_joint(loop, frames, time) for loop in frames.system.loops]


def _loop_joint(loop: Loop, frames: Frames, time: float | None) -> JointSpaces:
    """Of a loop joint the coordinates are read from its two links, which may be a little off."""
    origin_p, axes_p = frames.place(loop.predecessor, loop.predecessor_frame)
    origin, axes = frames.place(loop.successor, loop.successor_frame)
    turn, way = axes_p.T @ axes, axes_p.T @ (origin - origin_p)
    moved = frames.velocity(loop.successor, origin) - frames.velocity(loop.predecessor, origin)
    velocity = np.concatenate([axes.T @ moved[:3], axes.T @ moved[3:]])
    read = READ[loop.kind](
        Motion(way[None], from_matrix(turn)[None], velocity[None, 3:], velocity[None, :3], np.array([loop.constant]))
    )
    q, qd = read.q[0], read.qd[0]
    model = jcalc(loop.kind, q, qd, loop.constant)
    # From where the coordinates put F_s to where it is.
    off = np.concatenate([rotation_vector(from_matrix(model.turn.T @ turn)), turn.T @ (way - model.place)])
    given, asked = _asked(loop, q, time)
    if given.any():
        model = _of_rates(loop.kind, model, q, qd)
    fields = _with_given(
        model,
        given,
        asked[1][given],
        asked[2][given],
        tuple(f"coordinate {k} of the joint, which is moved" for k in np.flatnonzero(given)),
    )
    error = np.concatenate([model.T.T @ off, asked[0][given]])
    return JointSpaces(
        name=loop.joint.name,
        kind=loop.kind,
        link=None,
        predecessor=loop.predecessor,
        successor=loop.successor,
        q=q,
        columns=np.zeros(0, int),
        velocity=velocity,
        error=error,
        origin=origin,
        axes=axes,
        **fields,
    )


def _asked(loop: Loop, q: np.ndarray, time: float | None) -> tuple[np.ndarray, np.ndarray]:
    """(nv,) bool: which coordinates a Motion moves; (3, nv): how far they are off, rates and accelerations asked."""
    motions = [axis.motion for axis in loop.joint.axes]
    size = KINDS[loop.kind].nv
    asked = np.zeros((3, size))
    if time is None or all(motion is None for motion in motions):
        return np.zeros(size, bool), asked
    if loop.kind not in TURNS:
        raise SceneError(
            f"joint {loop.joint.name!r}: motions of a {loop.joint.type} joint are not known here; this "
            f"takes those of joints of the kinds {listing(list(TURNS))}"
        )
    for k, motion in enumerate(motions):
        if motion is not None:
            position, asked[1, k], asked[2, k] = motion.at(time)
            gap = q[k] - position
            asked[0, k] = gap - 2.0 * np.pi * np.round(gap / (2.0 * np.pi)) if k in TURNS[loop.kind] else gap
    return np.array([motion is not None for motion in motions]), asked


def _of_rates(kind: str, model: Jcalc, q: np.ndarray, qd: np.ndarray) -> Jcalc:
    """With the rates of q for velocities: another basis of S. Only of a planar joint they differ: (x', y') are along
    F_p, which turns as seen from F_s."""
    if kind != "planar":
        return model
    back = turn_z(-q[2])
    change = model.S @ (qd[2] * np.array([qd[1], -qd[0], 0.0]))
    return model._replace(S=model.S @ back, T_a=model.T_a @ back, c=model.c + change)


def _with_given(
    model: Jcalc, given: np.ndarray, rates: np.ndarray, accelerations: np.ndarray, rows: tuple[str, ...]
) -> dict[str, Any]:
    """Prescribed columns of S become sigma, and part of c; those of T_a become constraints."""
    return {
        "S": model.S[:, ~given],
        "T": np.hstack([model.T, model.T_a[:, given]]),
        "T_a": model.T_a[:, ~given],
        "sigma": model.S[:, given] @ rates,
        "c": model.c + model.S[:, given] @ accelerations,
        "rows": model.rows + rows,
    }


def _active(name: str, value: ArrayLike, subspace: np.ndarray) -> np.ndarray:
    """A user's T_a (6, n), checked."""
    try:
        value = np.array(value, float)
    except (OverflowError, TypeError, ValueError):
        raise SceneError(f"joint {name!r}: active must be numbers, got {show(value)}") from None
    if value.shape != subspace.shape:
        raise SceneError(f"joint {name!r}: active must be {subspace.shape}, a column for each velocity, got {value.shape}")
    off = np.abs(value.T @ subspace - np.eye(subspace.shape[1])).max(initial=0.0)
    if not off <= UNIT:
        raise SceneError(
            f"joint {name!r}: active must satisfy T_a' S = 1, it is off by {off:.3g}; the usual T_a plus "
            "T times any numbers does"
        )
    return value


class Frames:
    """Where the links are and how they move at q (nq,), qd (nv,): world axes, the base the last (so that -1 is its
    number). origin (n, 3), turn (n, 3, 3): of the links' frames. center, v, w (n, 3): of the centres of mass."""

    system: System
    turn: np.ndarray
    origin: np.ndarray
    center: np.ndarray
    v: np.ndarray
    w: np.ndarray

    def __init__(self, dynamics: Dynamics, q: np.ndarray, qd: np.ndarray):
        self.system = dynamics.system
        links = dynamics.system.links
        bodies = [link.body_number for link in links]
        center, orientation, v, w = (part[bodies] for part in dynamics.state(q, qd))
        turn = [matrix(o) @ link.frame[1].T for o, link in zip(orientation, links)]
        self.turn = np.array([*turn, np.eye(3)])
        self.origin = np.array([*(x - r @ link.com for x, r, link in zip(center, turn, links)), NONE])
        self.center, self.v, self.w = (np.vstack([part.reshape(-1, 3), NONE]) for part in (center, v, w))

    def place(self, link: int, frame: tuple[np.ndarray, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
        """Origin (3,) and axes (3, 3) in the world of a frame that is given in a link's."""
        return self.origin[link] + self.turn[link] @ frame[0], self.turn[link] @ frame[1]

    def on_body(self, name: str | None, frame: Frame) -> tuple[int, np.ndarray, np.ndarray]:
        """Link, origin (3,) and axes (3, 3) in the world of a frame (position, quaternion) in a body's own frame."""
        place, turn = np.asarray(frame[0]), matrix(np.asarray(frame[1]))
        if name is None:
            return -1, place, turn
        body, number = self.system.scene.body(name), self.system.link_of[name]
        if number < 0:
            axes = matrix(body.orientation)
            return -1, body.position + axes @ place, axes @ turn
        axes = self.turn[number] @ self.system.links[number].frame[1]
        return number, self.center[number] + axes @ (place - body.center_of_mass), axes @ turn

    def velocity(self, link: int, point: np.ndarray) -> np.ndarray:
        """[w; v] of a link, about a point of the world."""
        return np.concatenate([self.w[link], self.v[link] + np.cross(self.w[link], point - self.center[link])])

    def ends(self, joint: JointSpaces) -> list[tuple[int, np.ndarray]]:
        """Of a joint's two links that are not the base: number, and (6, 6) what takes its velocity, [w; v] of the
        centre of mass, to its share of v_J about the origin of F_s."""
        shares = []
        for link, sign in ((joint.successor, 1.0), (joint.predecessor, -1.0)):
            if link >= 0:
                x = np.eye(6)
                x[3:, :3] = -cross_matrices(joint.origin - self.center[link])
                shares.append((link, sign * x))
        return shares

    def relative_bias(self, joint: JointSpaces) -> np.ndarray:
        """(6,): what the shares in [w'; v'] of a joint's links add up to where its free accelerations are zero; world
        axes. That is c_J + v_s × v_J, and w × v of both, which spatial accelerations lack."""
        bias = joint.c + motion_cross(self.velocity(joint.successor, joint.origin)) @ joint.velocity
        for link, x in self.ends(joint):
            bias = bias + x @ np.concatenate([NONE, np.cross(self.w[link], self.v[link])])
        return bias


# ---- one function a kind ---------------------------------------------------------------------------------------------


def _columns(vectors: Iterable[Pair]) -> np.ndarray:
    """(6, n) of pairs (w, v) or (n, f)."""
    return np.array([np.concatenate(pair) for pair in vectors]).reshape(-1, 6).T


def _model(
    place: np.ndarray,
    turn: np.ndarray,
    free: Sequence[Pair],
    rows: Sequence[tuple[Pair, str]],
    active: Sequence[Pair] | None = None,
    c: np.ndarray | None = None,
) -> Jcalc:
    """free: pairs (w, v), the columns of S; rows: of T, (pair, name); active: of T_a, that of S if None."""
    return Jcalc(
        place,
        turn,
        _columns(free),
        _columns([pair for pair, _ in rows]),
        _columns(free if active is None else active),
        np.zeros(6) if c is None else c,
        tuple(name for _, name in rows),
    )


def turn_x(angle: float) -> np.ndarray:
    """(3, 3) rotation about x."""
    s, c = np.sin(angle), np.cos(angle)
    return np.array([[1.0, 0.0, 0.0], [0.0, c, -s], [0.0, s, c]])


def turn_y(angle: float) -> np.ndarray:
    """(3, 3) rotation about y."""
    s, c = np.sin(angle), np.cos(angle)
    return np.array([[c, 0.0, s], [0.0, 1.0, 0.0], [-s, 0.0, c]])


def turn_z(angle: float) -> np.ndarray:
    """(3, 3) rotation about z."""
    s, c = np.sin(angle), np.cos(angle)
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])


def _fixed(q: np.ndarray, qd: np.ndarray, constant: float) -> Jcalc:
    return _model(NONE, np.eye(3), [], [TORQUE_X, TORQUE_Y, TORQUE_Z, FORCE_X, FORCE_Y, FORCE_Z])


def _revolute(q: np.ndarray, qd: np.ndarray, constant: float) -> Jcalc:
    return _model(NONE, turn_z(q[0]), [(Z, NONE)], [TORQUE_X, TORQUE_Y, FORCE_X, FORCE_Y, FORCE_Z])


def _prismatic(q: np.ndarray, qd: np.ndarray, constant: float) -> Jcalc:
    return _model(q[0] * Z, np.eye(3), [(NONE, Z)], [TORQUE_X, TORQUE_Y, TORQUE_Z, FORCE_X, FORCE_Y])


def _helical(q: np.ndarray, qd: np.ndarray, pitch: float) -> Jcalc:
    """A force along the axis is borne together with the torque that it turns into."""
    thread = (-pitch * Z, Z), "force along z with the thread's torque"
    return _model(
        pitch * q[0] * Z, turn_z(q[0]), [(Z, pitch * Z)], [TORQUE_X, TORQUE_Y, FORCE_X, FORCE_Y, thread], [(Z, NONE)]
    )


def _cylindrical(q: np.ndarray, qd: np.ndarray, constant: float) -> Jcalc:
    return _model(q[0] * Z, turn_z(q[1]), [(NONE, Z), (Z, NONE)], [TORQUE_X, TORQUE_Y, FORCE_X, FORCE_Y])


def _planar(q: np.ndarray, qd: np.ndarray, constant: float) -> Jcalc:
    return _model(
        np.array([q[0], q[1], 0.0]), turn_z(q[2]), [(NONE, X), (NONE, Y), (Z, NONE)], [TORQUE_X, TORQUE_Y, FORCE_Z]
    )


def _angles_zyx(q: np.ndarray, qd: np.ndarray, constant: float) -> Jcalc:
    """w = yaw' Rx(-roll) Ry(-pitch) z + pitch' Rx(-roll) y + roll' x; c is the rate of these axes seen from F_s."""
    yaw, pitch, roll = q
    if abs(np.cos(pitch)) < SINGULAR:
        raise SceneError(
            "yaw, pitch and roll are singular at a pitch of ±π/2: no T_a has T_a' S = 1; describe the "
            "ball joint by a quaternion (ball='quaternion')"
        )
    to_roll, to_pitch = turn_x(-roll), turn_y(-pitch)
    first, second = to_roll @ to_pitch @ Z, to_roll @ Y
    axes = np.column_stack([first, second, X])
    change = qd[0] * (qd[1] * to_roll @ np.cross(to_pitch @ Z, Y) + qd[2] * np.cross(first, X)) + qd[1] * qd[2] * np.cross(
        second, X
    )
    return _model(
        NONE,
        turn_z(yaw) @ turn_y(pitch) @ turn_x(roll),
        [(axis, NONE) for axis in axes.T],
        [FORCE_X, FORCE_Y, FORCE_Z],
        [(axis, NONE) for axis in np.linalg.inv(axes)],
        np.concatenate([change, NONE]),
    )


def _angles_zx(q: np.ndarray, qd: np.ndarray, constant: float) -> Jcalc:
    to_b = turn_x(-q[1])
    first = to_b @ Z
    across = (to_b @ Y, NONE), "torque about axis_b × axis_a"
    return _model(
        NONE,
        turn_z(q[0]) @ to_b.T,
        [(first, NONE), (X, NONE)],
        [across, FORCE_X, FORCE_Y, FORCE_Z],
        c=np.concatenate([qd[0] * qd[1] * np.cross(first, X), NONE]),
    )


def _turning(kind: Kind, q: np.ndarray, qd: np.ndarray, constant: float) -> Jcalc:
    """Its linear velocities are along axes of F_p, which turn as seen from F_s."""
    n, ways = len(kind.ways), ["xyz".index(way) for way in kind.ways]
    turn = matrix(normalized(q[n:]))
    place, slip = np.zeros(3), np.zeros(3)
    place[ways], slip[ways] = q[:n], qd[:n]
    held = [((NONE, turn[i]), f"force along {name} of F_p") for i, name in enumerate("xyz") if i not in ways]
    return _model(
        place,
        turn,
        [*((NONE, turn[i]) for i in ways), (X, NONE), (Y, NONE), (Z, NONE)],
        held if ways else [FORCE_X, FORCE_Y, FORCE_Z],
        c=np.concatenate([NONE, np.cross(turn.T @ slip, qd[n:])]),
    )


def _rack_pinion(q: np.ndarray, qd: np.ndarray, radius: float) -> Jcalc:
    """The way along x of F_p, which is `along` in F_s."""
    along, across = turn_z(-q[0]) @ X, turn_z(-q[0]) @ Y
    teeth = (-radius * Z, along), "force along the rack with the pinion's torque"
    return _model(
        radius * q[0] * X,
        turn_z(q[0]),
        [(Z, radius * along)],
        [TORQUE_X, TORQUE_Y, FORCE_Z, ((NONE, across), "force across the rack"), teeth],
        [(Z, NONE)],
        np.concatenate([NONE, -radius * qd[0] ** 2 * across]),
    )


def _user(name: str, own: JointModel, q: np.ndarray, qd: np.ndarray) -> Jcalc:
    """A model of the user's own: T an orthonormal basis, T_a = S (S'S)^-1, metres and radians alike."""
    turn, place = own.placement(q)
    subspace = own.subspace(q)
    try:
        constrained = complement(subspace)
    except SceneError:
        raise SceneError(f"joint {name!r}: the S of its JointModel is singular at q = {q}: no T_a has T_a' S = 1") from None
    return Jcalc(
        place,
        turn,
        subspace,
        constrained,
        np.linalg.pinv(subspace).T,
        own.bias(q, qd),
        tuple(f"force {k} across the model's motions" for k in range(6 - own.size)),
    )


_PATTERNS = (
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
_KINDS: dict[str, Callable[..., Jcalc]] = {
    name: partial(_turning, kind) if kind.turn == "q" else _PATTERNS[kind.pattern]
    for name, kind in KINDS.items()
    if kind.turn != "user"
}
