"""Constraints as rows over the bodies' velocities: of joints, and of what couples joints and bodies, rods and gears.

v_i = [w; v] of link i at its centre of mass, in world axes; a row says J v = rate asked, J a = k.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mcsim.core.errors import SceneError
from mcsim.reduced.dynamics import Dynamics
from mcsim.reduced.spaces import TURNS, Frames, JointSpaces, spaces_at
from mcsim.reduced.system import System
from mcsim.scene import GearJoint, Joint

SHORTEST = 1e-9  # [m]; a rod that is shorter has no direction


class Rows(NamedTuple):
    """The rows of one joint: J a = k.

    joint: its name; names: of its m rows. shares: (link, J (m, 6)) of each of its links. k (m,).
    rate, error (m,): by how much velocities and poses break them. rate, J v less what it is to be, is the derivative of
        error where that is 0.
    origin (3,), axes (3, 3): of F_s, or of the frame on b, in the world. wrench (6, m): [n; f] about it, world axes, of
    each row's unit force on the successor.
    """

    joint: str
    names: tuple[str, ...]
    shares: list[tuple[int, np.ndarray]]
    k: np.ndarray
    rate: np.ndarray
    error: np.ndarray
    origin: np.ndarray
    axes: np.ndarray
    wrench: np.ndarray


def joint_rows(joint: JointSpaces, frames: Frames) -> Rows:
    """T' (a_s - a_p) = T' (c_J + v_s × v_J), of spaces in world axes."""
    t = joint.T.T
    return Rows(
        joint.name,
        joint.rows,
        [(link, t @ x) for link, x in frames.ends(joint)],
        t @ frames.relative_bias(joint),
        t @ (joint.velocity - joint.sigma),
        joint.error,
        joint.origin,
        joint.axes,
        joint.T,
    )


def coupling_rows(dynamics: Dynamics, frames: Frames, q: np.ndarray, qd: np.ndarray) -> list[Rows]:
    """Of the scene's rods and gears. Ropes and springs between points are forces, and have none."""
    system, rows = dynamics.system, []
    refuse_couplings(system)
    bare = None
    for coupling in system.couplings:
        if isinstance(coupling, GearJoint):
            bare = _bare(frames, q, qd) if bare is None else bare
            rows.append(_gear(coupling, dynamics, frames, bare))
        elif np.isfinite(coupling.constant):
            rows.append(_rod(coupling, frames))
    return rows


def refuse_couplings(system: System) -> None:
    """A SceneError where a scene has constraints that are not known here."""
    unknown = [joint for joint in system.couplings if joint.type not in ("distance", "gear")]
    if unknown:
        raise SceneError(
            "this takes joints that a tree can be made of, rods and gears; the scene has "
            + ", ".join(f"{joint.name!r} ({joint.type})" for joint in unknown)
        )


def refuse_rotors(system: System, who: str, of_loops: bool = False) -> None:
    """A SceneError where a joint has an armature, which is not counted here; of_loops: only of what closes loops."""
    for joint in [loop.joint for loop in system.loops] if of_loops else system.scene.joints:
        if any(axis.armature for axis in joint.axes):
            raise SceneError(
                f"joint {joint.name!r} has an armature, which {who} does not count"
                + (" of joints that close loops: put it into the tree" if of_loops else ": Dynamics does")
                + ", or leave the armature out"
            )


def _rod(joint: Joint, frames: Frames) -> Rows:
    """n . (v_b - v_a) = 0 of the two points, n along the rod. n' . (v_b - v_a) is the square of the velocity across the
    rod, over its length."""
    a, p_a, _ = frames.on_body(joint.a, joint.frame_a)
    b, p_b, axes = frames.on_body(joint.b, joint.frame_b)
    length = float(np.linalg.norm(p_b - p_a))
    if length < SHORTEST:
        raise SceneError(f"joint {joint.name!r}: the two points of the rod coincide, so that it has no direction")
    n = (p_b - p_a) / length
    slip, bend, shares = np.zeros(3), np.zeros(3), []
    for link, point, sign in ((b, p_b, 1.0), (a, p_a, -1.0)):
        arm, w = point - frames.center[link], frames.w[link]
        slip += sign * (frames.v[link] + np.cross(w, arm))
        bend += sign * np.cross(w, np.cross(w, arm))
        if link >= 0:
            shares.append((link, sign * np.concatenate([np.cross(arm, n), n])[None]))
    along = n @ slip
    return Rows(
        joint.name,
        ("force along the rod",),
        shares,
        -np.array([n @ bend + (slip @ slip - along**2) / length]),
        np.array([along]),
        np.array([length - joint.constant]),
        p_b,
        axes,
        np.array([[0, 0, 0, *n]]).T,
    )


def _gear(joint: GearJoint, dynamics: Dynamics, frames: Frames, bare: dict[str, JointSpaces]) -> Rows:
    """q_a + ratio q_b stays; each q' is T_a' v_J of its joint. Its force is that on the successor of joint_b."""
    shares, sums = [], np.zeros(3)
    kept = joint.constant
    if np.isnan(kept):
        q, qd = dynamics.system.initial()
        start = _bare(Frames(dynamics, q, np.zeros_like(qd)), q, np.zeros_like(qd))
        kept = sum(weight * _coordinate(joint, start, name, axis).q[axis] for name, axis, weight in _geared(joint))
    for name, axis, weight in _geared(joint):
        last = _coordinate(joint, bare, name, axis)
        drive = weight * last.T_a[:, axis]
        shares += [(link, (drive @ x)[None]) for link, x in frames.ends(last)]
        sums += drive @ frames.relative_bias(last), drive @ last.velocity, weight * last.q[axis]
    return Rows(
        joint.name,
        ("force of the gear",),
        shares,
        sums[:1],
        sums[1:2],
        sums[2:] - kept,
        last.origin,
        last.axes,
        joint.ratio * last.T_a[:, [joint.axis_b]],
    )


def _geared(joint: GearJoint) -> tuple[tuple[str, int, float], ...]:
    return (joint.joint_a, joint.axis_a, 1.0), (joint.joint_b, joint.axis_b, joint.ratio)


def _coordinate(joint: Joint, bare: dict[str, JointSpaces], name: str, axis: int) -> JointSpaces:
    found = bare.get(name)
    if found is None or found.kind not in TURNS or (found.kind == "planar" and axis < 2):
        raise SceneError(
            f"joint {joint.name!r} gears coordinate {axis} of joint {name!r}, which is not known here: "
            "take an angle, or the way of a slider or a cylindrical joint"
        )
    return found


def _bare(frames: Frames, q: np.ndarray, qd: np.ndarray) -> dict[str, JointSpaces]:
    """Spaces of all joints by name, in world axes, with nothing prescribed."""
    nothing = np.zeros(len(qd), bool)
    return {joint.name: joint.in_world() for joint in spaces_at(frames, q, qd, nothing, np.zeros(len(qd)), None, None)}
