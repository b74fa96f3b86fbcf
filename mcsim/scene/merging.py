"""What a scene's parts become in another scene: parts of their own, at another place, with other names."""

from __future__ import annotations  # signatures read as they are written here

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from mcsim.core.linear import lengths
from mcsim.core.rotation import IDENTITY, Frame, compose, conjugate, matrix, multiply, normalized, rotate, rotated
from mcsim.scene.bodies import Body
from mcsim.scene.checks import FieldError, show
from mcsim.scene.joints import GearJoint, Joint, Pose, UserJoint
from mcsim.scene.joints._joint import PLACEMENT

MOTION = ("position", "velocity", "angular_velocity")


class Added(NamedTuple):
    """What Scene.add gave: the new parts, by the names that they have in the other scene, in its order.

    bodies: name -> Body. joints: name -> Joint. They are two, so that `bodies, joints = scene.add(...)` serves too.
    """

    bodies: dict[str, Body]
    joints: dict[str, Joint]


def added(
    parts: tuple[Sequence[Body], Sequence[Joint]], place: Frame, prefix: str, first: tuple[int, int], moved: bool
) -> Added:
    """The parts of a scene as another one has them. place: the frame of the old scene in the new one; first: the numbers
    of the first body and joint; moved: whether the place is another one."""
    bodies, joints = parts
    new_joints = [_joint(joint, place, prefix, first[1] + i, moved) for i, joint in enumerate(joints)]
    return Added(
        {body.name: new for body, new in zip(bodies, _bodies(bodies, place, prefix, first[0], moved))},
        {joint.name: new for joint, new in zip(joints, new_joints)},
    )


def refuse_clashes(noun: str, names: Iterable[str], taken: Mapping[str, Any], prefix: str) -> None:
    """Names that both scenes have."""
    twice = [prefix + name for name in names if prefix + name in taken]
    if twice:
        others = f", and {len(twice) - 1} more of the other one's names" if len(twice) > 1 else ""
        cure = f"prefix={'b_' if prefix != 'b_' else 'c_'!r}"
        raise FieldError(
            "",
            f"there is a {noun} {twice[0]!r} in this scene already{others}; give what is added other names by {cure} or "
            "the like",
            "Scene.add:",
        )


def _locked(array: np.ndarray) -> np.ndarray:
    array.flags.writeable = False
    return array


# ---- bodies ----------------------------------------------------------------------------------------------------------


def _bodies(bodies: Sequence[Body], place: Frame, prefix: str, first: int, moved: bool) -> list[Body]:
    """Bodies anew, at another place and velocities turned with it."""
    if not moved or not bodies:
        return [
            body.renewed(
                index=first + i, name=prefix + body.name, _arguments=body._arguments | {"name": prefix + body.name}
            )
            for i, body in enumerate(bodies)
        ]
    vectors = np.array([(body.position, body.velocity, body.angular_velocity) for body in bodies])
    turn = matrix(place[1])
    with np.errstate(over="ignore", invalid="ignore"):
        vectors = vectors[..., :1] * turn[:, 0] + vectors[..., 1:2] * turn[:, 1] + vectors[..., 2:] * turn[:, 2]
        vectors[:, 0] += place[0]
    _locked(vectors)
    turned = _unit(multiply(place[1], np.array([body.orientation for body in bodies]).T).T)
    # As a file that tells of them has it: what is normalized is normalized again when it is read.
    normal = _locked(_unit(turned))
    if not np.isfinite(vectors).all():
        raise FieldError("position", "is so far away that positions leave the range of numbers", "Scene.add")
    new = []
    for i, (body, vector, q) in enumerate(zip(bodies, vectors.tolist(), turned.tolist())):
        name, motion = prefix + body.name, dict(zip(MOTION, map(tuple, vector)))
        arguments = body._arguments | motion | {"name": name, "orientation": tuple(q)}
        state = dict(zip(MOTION, vectors[i]), orientation=normal[i])
        new.append(body.renewed(index=first + i, name=name, **state, _arguments=arguments))
    return new


def _unit(q: np.ndarray) -> np.ndarray:
    """As `normalized`, of quaternions (n, 4) side by side, to the bit."""
    return q / lengths(q)[:, None]


# ---- joints ----------------------------------------------------------------------------------------------------------


def _joint(joint: Joint, place: Frame, prefix: str, index: int, moved: bool) -> Joint:
    """A joint anew. Its frames are the bodies' own, but for one on the world, which goes with the place."""
    a, b = (None if end is None else prefix + end for end in (joint.a, joint.b))
    attributes: dict[str, Any] = {"index": index, "name": prefix + joint.name, "a": a, "b": b, "_ends": (a, b)}
    names: dict[str, Any] = {"name": attributes["name"]}
    if isinstance(joint, GearJoint):
        geared = {side: prefix + getattr(joint, side) for side in ("joint_a", "joint_b")}
        return joint.renewed(**attributes, **geared, _arguments=joint._arguments | names | geared)
    names |= {"a": a, "b": b}
    if not moved:
        return joint.renewed(**attributes, _arguments=joint._arguments | names)
    if isinstance(joint, UserJoint):
        return _moved_user_joint(joint, place, attributes, names)
    told = _told.get(joint)
    if told is None:
        told = _told[joint] = joint._told_by_frames()
    for side in "ab":
        if getattr(joint, side) is None:
            frame = f"frame_{side}"
            attributes[frame] = _told_frame(compose(place, getattr(joint, frame)))
            names[frame] = tuple(tuple(part.tolist()) for part in attributes[frame])
    return joint.renewed(**attributes, _arguments=told | names, _written=joint._written.difference(PLACEMENT))


# What places a joint by its frames, which are fixed with it: of a scene that is added many times.
_told: WeakKeyDictionary[Joint, dict[str, Any]] = WeakKeyDictionary()


def _told_frame(frame: Frame) -> Frame:
    """As a file that tells of it has it."""
    return _locked(frame[0]), _locked(normalized(frame[1].tolist()))


def _moved_user_joint(joint: UserJoint, place: Frame, attributes: dict[str, Any], names: dict[str, Any]) -> UserJoint:
    """One whose functions get the poses as they were at the place that they were written for."""
    names["residual"] = attributes["residual"] = partial(_moved_residual, joint.residual, joint.a, joint.b, place)
    if joint.jacobian is not None:
        names["jacobian"] = attributes["jacobian"] = partial(_moved_jacobian, joint.jacobian, joint.a, joint.b, place)
    if joint._arguments["anchor"] is not None:
        names["anchor"] = tuple((place[0] + rotate(place[1], np.array(joint._arguments["anchor"]))).tolist())
    for side in "ab":
        if getattr(joint, side) is None:
            attributes[f"frame_{side}"] = _told_frame(compose(place, getattr(joint, f"frame_{side}")))
    return joint.renewed(**attributes, _arguments=joint._arguments | names)


def _back(pose: Pose, end: str | None, place: Frame) -> Pose:
    """A pose seen from a place; of the world, which that place stood for, its own."""
    if end is None:
        return pose
    back = conjugate(place[1])
    return Pose(rotate(back, pose.position - place[0]), normalized(multiply(back, pose.orientation.tolist())))


def _moved_residual(residual: Any, a: str | None, b: str | None, place: Frame, pose_a: Pose, pose_b: Pose) -> Any:
    return residual(_back(pose_a, a, place), _back(pose_b, b, place))


def _moved_jacobian(jacobian: Any, a: str | None, b: str | None, place: Frame, pose_a: Pose, pose_b: Pose) -> Any:
    """By twists in the world's axes: those in the place's are turned back first."""
    found = np.asarray(jacobian(_back(pose_a, a, place), _back(pose_b, b, place)), float)
    return rotated(place[1], found.reshape(len(found), 4, 3)).reshape(len(found), 12)


def is_place(place: Frame) -> bool:
    """Whether a frame is another one than the world's."""
    return bool(np.any(place[0])) or not np.array_equal(place[1], IDENTITY[1])


def told_prefix(prefix: Any) -> str:
    """What names are to begin with, checked."""
    if not isinstance(prefix, str) or any("\ud800" <= character <= "\udfff" for character in prefix):
        raise FieldError("prefix", f"must be a string, got {show(prefix)}", "Scene.add")
    return prefix
