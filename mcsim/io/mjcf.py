"""Robots and scenes from MJCF files, by MuJoCo's own compiler. See docs/mjcf.md for what of a file counts."""

from __future__ import annotations  # signatures read as they are written here

from collections.abc import Mapping
from os import PathLike, fspath
from pathlib import Path
from typing import Any

import numpy as np

from mcsim.core.errors import SceneError
from mcsim.core.files import path_name
from mcsim.core.rotation import Frame, normalized
from mcsim.io import mjcf_drives as drives
from mcsim.io.arguments import in_file, mapping, named_folders, vertices, warn
from mcsim.io.mjcf_bodies import Maker
from mcsim.io.mjcf_couplings import add_couplings
from mcsim.io.mjcf_geoms import Geoms
from mcsim.io.mjcf_model import Model, Welds
from mcsim.io.robot import Robot, told
from mcsim.io.starts import told_outside
from mcsim.scene import Scene
from mcsim.scene.checks import FieldError, listing, number, show, suggestion, within

BETWEEN = 1e-4  # mass of a body between two joints, of the one that they move


class MjcfWarning(UserWarning):
    """What of an MJCF file has no counterpart here and was left out, or looks wrong."""


def load_mjcf(
    source: str | PathLike[str],
    *,
    keyframe: str | int | None = None,
    joint_positions: Mapping[str, float] | None = None,
    between: float = BETWEEN,
    hull_vertices: int = 64,
    packages: Mapping[str, str | PathLike[str]] | None = None,
) -> Scene:
    """The scene of an MJCF file; one MjcfWarning lists what of the file was left out, by name.

    source: the file's path, a text that begins with "<", or a `mujoco.MjModel`.
    keyframe: name or number of the keyframe to start from; None: from the model's own pose, at rest.
    joint_positions: joint -> start position [rad or m] of a hinge or slide, in place of the keyframe's.
    between: mass and inertia of the bodies between several joints of one body, of those of that body.
    hull_vertices: the most that the convex hull of a mesh may have.
    packages: name -> folder, of what the file may read besides what lies below its own folder and in its own package.

    ImportError if MuJoCo is missing, SceneError for what it does not compile, FileNotFoundError. `read_mjcf` gives
    actuators, sensors, sites and keyframes beside the scene.
    """
    robot = read_mjcf(
        source,
        keyframe=keyframe,
        joint_positions=joint_positions,
        between=between,
        hull_vertices=hull_vertices,
        packages=packages,
    )
    text = isinstance(source, str) and source.lstrip().startswith("<")
    name = fspath(source) if isinstance(source, str | PathLike) and not text else robot.scene.name
    for problem in (told_outside(robot.scene), f"left out: {told(robot.left_out)}" if robot.left_out else None):
        if problem:
            warn(f"{name}: {problem}", MjcfWarning)
    return robot.scene


def read_mjcf(
    source: str | PathLike[str],
    *,
    keyframe: str | int | None = None,
    joint_positions: Mapping[str, float] | None = None,
    between: float = BETWEEN,
    hull_vertices: int = 64,
    packages: Mapping[str, str | PathLike[str]] | None = None,
) -> Robot:
    """A Robot: the scene of an MJCF file as `load_mjcf` makes it, with frames, actuators, sensors, keyframes, and the
    list of what was left out. The arguments are those of `load_mjcf`; no warning is given.

        robot = mcsim.io.read_mjcf("arm.xml")
        world = mc.World(robot.scene)
        robot.drive(world, [0.5, -0.2])         # one number for each control, before each step
        world.step()
        robot.readings(world)["elbow_angle"], robot.frame("hand").pose(world), robot.left_out
    """
    with in_file(_called(source)):
        return _read(source, keyframe, joint_positions, between, hull_vertices, named_folders(packages))


def _called(source: Any) -> str:
    """A source in front of messages, as Model calls it."""
    if isinstance(source, str) and source.lstrip().startswith("<"):
        return "the text"
    return path_name(source, "MJCF model") if isinstance(source, str | PathLike) else "the model"


def _read(
    source: Any, keyframe: Any, joint_positions: Any, between: Any, hull_vertices: Any, folders: dict[str, Path]
) -> Robot:
    model = Model(source, folders)
    between = within(_number(between), 1e-15, 1.0, "between")
    qpos, qvel, guided = _start(model, keyframe)
    _place(model, qpos, mapping(joint_positions, "joint -> position", "joint_positions"))
    count = vertices(hull_vertices)
    welds = Welds(model, drives.bodies_with_force_sensors(model))
    scene = Scene(gravity=np.zeros(3) if model.disabled("GRAVITY") else np.array(model.mj.opt.gravity), name=model.name)
    maker = Maker(model, welds, Geoms(model, welds, count), between, qpos, qvel, guided)
    maker.add_all(scene)
    add_couplings(maker, scene)
    _leave_out_of_the_world(model)
    return Robot(
        scene,
        [str(joint.name) for joint in maker.joints],
        drives.frames(maker),
        drives.actuators(model),
        drives.sensors(maker),
        drives.keys(model),
        drives.joint_forces(model),
        model.left_out,
    )


def _number(value: Any) -> Any:
    """A number as the command line has it."""
    try:
        return float(value) if isinstance(value, str) else value
    except ValueError:
        return value


def _start(model: Model, keyframe: Any) -> tuple[np.ndarray, np.ndarray, dict[int, Frame]]:
    """-> qpos, qvel of the keyframe, or of the model's own pose; number of a mocap body -> its frame, where it has one."""
    mj = model.mj
    if keyframe is None:
        return np.array(mj.qpos0), np.zeros(mj.nv), {}
    if isinstance(keyframe, str) and keyframe not in model.keys and keyframe.isdecimal():
        keyframe = int(keyframe)
    if isinstance(keyframe, str) and keyframe in model.keys:
        keyframe = model.keys.index(keyframe)
    if isinstance(keyframe, bool) or not isinstance(keyframe, int) or not 0 <= keyframe < len(model.keys):
        raise FieldError(
            "keyframe",
            f"must be one of: {listing(model.keys) or 'none, the file has no keyframes'}; got {show(keyframe)}"
            f"{suggestion(keyframe, model.keys)}",
        )
    places, turns = mj.key_mpos[keyframe].reshape(mj.nmocap, 3), mj.key_mquat[keyframe].reshape(mj.nmocap, 4)
    guided = {k: (np.array(places[k]), normalized(turns[k])) for k in range(mj.nmocap)}
    return np.array(mj.key_qpos[keyframe]), np.array(mj.key_qvel[keyframe]), guided


def _place(model: Model, qpos: np.ndarray, given: Mapping[str, Any]) -> None:
    """Put joints where they are to start."""
    plain = {name: i for i, name in enumerate(model.joints) if model.kind_of_joint(i) in ("hinge", "slide")}
    for name, value in given.items():
        if name not in plain:
            raise FieldError(
                "joint_positions",
                f"cannot place {show(name)}{suggestion(str(name), plain)}; the hinges and slides are: "
                f"{listing(plain) or 'none'}",
            )
        qpos[int(model.mj.jnt_qposadr[plain[name]])] = number(value, f"joint_positions[{name!r}]")


def _leave_out_of_the_world(model: Model) -> None:
    """What is said of the whole model and has no counterpart."""
    mj = model.mj
    fluid = (mj.opt.density, mj.opt.viscosity, *mj.opt.wind)
    if any(fluid):
        model.leave_out("forces of a fluid (density, viscosity, wind)")
    for field, what in (("nflex", "flexible bodies"), ("nskin", "skins"), ("nplugin", "plugins")):
        if getattr(mj, field, 0):
            model.leave_out(f"{what} ({getattr(mj, field)})")
    if mj.nbody < 2 and not mj.ngeom:
        raise SceneError(f"{model.source}: has no body and no geom")
