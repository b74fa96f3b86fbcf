"""A MuJoCo model, compiled by MuJoCo itself: its names, its frames, and the list of what is left out of it."""

from __future__ import annotations  # signatures read as they are written here

from collections.abc import Callable, Mapping
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from mcsim.core.errors import SceneError
from mcsim.core.extras import require_mujoco
from mcsim.core.files import path_name
from mcsim.core.rotation import IDENTITY, Frame, compose, from_axes, normalized
from mcsim.io.mjcf_text import WHAT, check_model, check_text

WORLD = 0  # number of the body that is the world


def compiled(
    mujoco: Any, source: Any, warned: Callable[[str], Any], packages: Mapping[str, Path] | None = None
) -> tuple[Any, str]:
    """-> MuJoCo's MjModel of a file, a text that begins with "<", or a model as it is; and what to call it in messages.
    warned: is called with what the compiler warns of. packages: name -> folder, of what a file may read besides what
    lies below its own folder."""
    if isinstance(source, mujoco.MjModel):
        return source, "the model"
    if isinstance(source, str) and source.lstrip().startswith("<"):
        check_text(source, "the text", packages or {})
        return _compile(mujoco, mujoco.MjModel.from_xml_string, source, "the text", warned), "the text"
    if not isinstance(source, str | PathLike):
        raise SceneError(f"an MJCF model is a file's path, a text or a mujoco.MjModel, not {type(source).__name__}")
    path = path_name(source, WHAT)
    check_model(path, packages or {})
    return _compile(mujoco, mujoco.MjModel.from_xml_path, path, path, warned), path


def _compile(mujoco: Any, read: Any, source: str, name: str, warned: Callable[[str], Any]) -> Any:
    before = mujoco.get_mju_user_warning()
    mujoco.set_mju_user_warning(warned)  # without one it writes a file of warnings into the present folder
    try:
        return read(source)
    except Exception as error:  # whatever its parser, its compiler and its plugins raise
        reason = " ".join(str(error).split()) or type(error).__name__
        raise SceneError(f"{name}: MuJoCo does not compile it: {reason:.600}") from None
    finally:
        mujoco.set_mju_user_warning(before)


class Model:
    """MuJoCo's MjModel with what its readers here share.

    mj: the MjModel. source: what to call it in messages. name: the model's. left_out: what -> names of what is not taken.
    bodies, joints, geoms, sites, actuators, sensors, equalities, tendons: names by their numbers; what has none in the
        file is called by its kind and number.
    """

    def __init__(self, source: Any, packages: Mapping[str, Path] | None = None):
        self.mujoco: Any = require_mujoco()
        self.left_out: dict[str, list[str]] = {}
        self.mj, self.source = compiled(self.mujoco, source, lambda text: self.leave_out(f"MuJoCo warns: {text}"), packages)
        self.name = bytes(self.mj.names).split(b"\0", 1)[0].decode("utf-8", "replace") or "mujoco"
        kinds = self.mujoco.mjtObj
        self.bodies = self._names(kinds.mjOBJ_BODY, self.mj.nbody, "body")
        self.joints = self._names(kinds.mjOBJ_JOINT, self.mj.njnt, "joint")
        self.geoms = self._names(kinds.mjOBJ_GEOM, self.mj.ngeom, "geom")
        self.sites = self._names(kinds.mjOBJ_SITE, self.mj.nsite, "site")
        self.sensors = self._names(kinds.mjOBJ_SENSOR, self.mj.nsensor, "sensor")
        self.equalities = self._names(kinds.mjOBJ_EQUALITY, self.mj.neq, "equality")
        self.tendons = self._names(kinds.mjOBJ_TENDON, self.mj.ntendon, "tendon")
        self.keys = self._names(kinds.mjOBJ_KEY, self.mj.nkey, "key")
        count = getattr(self.mj, "nactuator", self.mj.nu)  # of MuJoCo 3 each has one control
        self.actuators = self._names(kinds.mjOBJ_ACTUATOR, count, "actuator")

    def _names(self, kind: Any, count: int, noun: str) -> list[str]:
        given = [self.mujoco.mj_id2name(self.mj, int(kind), i) for i in range(count)]
        taken = {name for name in given if name}
        return [name or unused(f"{noun}{i}", taken) for i, name in enumerate(given)]

    def leave_out(self, what: str, name: str | None = None) -> None:
        """Put something on the list of what is not taken."""
        names = self.left_out.setdefault(what, [])
        if name is not None and name not in names:
            names.append(name)

    def disabled(self, *what: str) -> bool:
        """Whether the file switches one of these off: "GRAVITY", "CONTACT", "LIMIT", …"""
        flags = int(self.mj.opt.disableflags)
        return any(flags & int(getattr(self.mujoco.mjtDisableBit, f"mjDSBL_{flag}")) for flag in what)

    def says(self, field: str, i: int | None = None) -> bool:
        """Whether a field of the model, which an older MuJoCo may not have, is not zero (of its i-th part)."""
        values = getattr(self.mj, field, None)
        return values is not None and bool(np.any(np.asarray(values if i is None else values[i])))

    # ---- bodies ------------------------------------------------------------------------------------------------------

    def joints_of(self, body: int) -> range:
        """The numbers of a body's joints, in the order in which they move it."""
        first = int(self.mj.body_jntadr[body])
        return range(first, first + int(self.mj.body_jntnum[body])) if first >= 0 else range(0)

    def kind_of_joint(self, joint: int) -> str:
        """ "free", "ball", "slide" or "hinge"."""
        return self.mujoco.mjtJoint(int(self.mj.jnt_type[joint])).name.removeprefix("mjJNT_").lower()

    def joint_frame(self, joint: int) -> Frame:
        """A joint's frame in its body's: z along its axis; the body's axes of a ball, the body's frame of a free joint."""
        kind = self.kind_of_joint(joint)
        if kind == "free":
            return IDENTITY
        turn = IDENTITY[1] if kind == "ball" else from_axes(self.mj.jnt_axis[joint])
        return np.array(self.mj.jnt_pos[joint]), turn

    def frame_of(self, kind: str, i: int) -> Frame:
        """The frame of a "body" in its parent's, of a "geom" or "site" in its body's."""
        place, turn = getattr(self.mj, f"{kind}_pos")[i], getattr(self.mj, f"{kind}_quat")[i]
        return np.array(place), normalized(turn)

    def inertial_frame(self, body: int) -> Frame:
        """Centre of mass and principal axes in the body's frame."""
        return np.array(self.mj.body_ipos[body]), normalized(self.mj.body_iquat[body])


class Welds:
    """Which bodies of the file make one body of the scene: one without joints goes with its parent.

    leader: body -> the body that it is part of, the world's number for what stands still. frame: of each body in its
    leader's. leaders: those that become bodies, without the world. parent: leader -> the leader that it moves against;
    of: leader -> the bodies that it is made of.
    apart: bodies that are leaders though no joint moves them, as a sensor asks what holds them.
    """

    def __init__(self, model: Model, apart: set[int]):
        mj = model.mj
        self.leader, self.frame = [WORLD], [IDENTITY]
        self.of: dict[int, list[int]] = {WORLD: [WORLD]}
        self.parent: dict[int, int] = {}
        self.place: dict[int, Frame] = {}  # of a leader's frame in its parent's, with its joints at their zero
        for body in range(1, mj.nbody):
            above = int(mj.body_parentid[body])
            place = compose(self.frame[above], model.frame_of("body", body))
            if mj.body_jntnum[body] or mj.body_mocapid[body] >= 0 or body in apart:
                self.parent[body], self.place[body] = self.leader[above], place
                self.leader.append(body)
                self.frame.append(IDENTITY)
                self.of[body] = [body]
            else:
                self.leader.append(self.leader[above])
                self.frame.append(place)
                self.of[self.leader[above]].append(body)
        self.leaders = list(self.parent)


def unused(name: str, taken: set[str]) -> str:
    """A name that is not taken, and is from now on."""
    while name in taken:
        name += "_"
    taken.add(name)
    return name
