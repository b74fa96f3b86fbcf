"""The scene of what a running world has become: its bodies where they are, its joints as they are set."""

from __future__ import annotations  # signatures read as they are written here

from dataclasses import replace
from typing import Any

import numpy as np

from mcsim.core.errors import SceneError
from mcsim.core.rotation import normalized, rotate
from mcsim.scene import Body, GearJoint, Joint, Scene
from mcsim.scene.bodies import Kept
from mcsim.scene.described import lock
from mcsim.scene.drives import ACTS, AxisSpec, Motor, Spring
from mcsim.scene.joints._joint import PLACEMENT
from mcsim.state.arrays import BodyArrays
from mcsim.world.driven_joint import MOTOR_NONE, MOTOR_PD, MOTOR_POSITION, MOTOR_VELOCITY
from mcsim.world.handles import TURN
from mcsim.world.protocols import AWorld

# What tells a motor, by its mode.
OF_MOTORS = {
    MOTOR_VELOCITY: ("velocity", "max_force", "hertz", "damping_ratio"),
    MOTOR_POSITION: ("position", "max_force", "hertz", "damping_ratio", "max_velocity"),
    MOTOR_PD: ("velocity", "position", "max_force", "kp", "kd"),
}


def present_scene(world: AWorld, user_data: dict[str, Any]) -> Scene:
    """The scene of a world's present state. For whoever has the world's turn. user_data: of bodies by name, set there."""
    scene, records, time = world._scene, world._joints, world.time
    measured = world._pipeline.space.measured()["axes"]["position"]
    numbers = scene.numbers()[1]
    bodies = [_body(body, i, world._bodies) for i, body in enumerate(scene.bodies)]
    whole = {joint.name for joint, record in zip(scene.joints, records) if record["broken"] != 1}
    joints: list[Joint] = []
    pairs = list(scene.ignored_pairs)
    for i, joint in enumerate(scene.joints):
        if joint.name not in whole:
            if joint.a is not None and joint.b is not None and not joint.collide:
                pairs.append((joint.a, joint.b))  # which go on to pass through each other
        elif not isinstance(joint, GearJoint):
            axes = _axes(joint, records[i]["axes"], TURN * _turns(joint, measured[i]), time)
            joints.append(_renewed(joint, axes, len(joints)))
        elif {joint.joint_a, joint.joint_b} <= whole:
            joints.append(_gear(joint, records[i], scene, measured, numbers, len(joints)))
    for body in bodies:
        if body.name in user_data:
            body.__dict__["_own"] = Kept(user_data[body.name])
    return scene.of_parts(bodies, joints, list(dict.fromkeys(pairs)))


def _renewed(joint: Joint, axes: list[AxisSpec], index: int) -> Joint:
    """The joint with these axes, told by its frames, since its bodies are elsewhere."""
    told = joint._told_by_frames()
    if axes != joint.axes:
        told = told | joint._told_axes(axes)
    return joint.renewed(index=index, axes=axes, _arguments=told, _written=joint._written.difference(PLACEMENT))


# ---- bodies ----------------------------------------------------------------------------------------------------------


def _body(body: Body, i: int, now: BodyArrays) -> Body:
    """A body that begins as the world's body of this number is."""
    q, center, twist = now.orientation[i], now.position[i], now.twist[i]
    if not (np.isfinite(q).all() and np.isfinite(center).all() and np.isfinite(twist).all() and q.any()):
        raise SceneError(
            f"World.to_scene: the state of body {body.name!r} is not finite; set its pose and velocities first"
        )
    q = normalized(q)
    told: dict[str, Any] = {
        "position": tuple((center - rotate(q, body.center_of_mass)).tolist()),
        "orientation": tuple(q.tolist()),
        "velocity": (0.0, 0.0, 0.0) if body.kind == "static" else tuple(twist[:3].tolist()),
        "angular_velocity": (0.0, 0.0, 0.0) if body.kind == "static" else tuple(twist[3:].tolist()),
        "gravity_scale": float(now.gravity_scale[i]),
        "linear_damping": float(now.linear_damping[i]),
        "angular_damping": float(now.angular_damping[i]),
        "bullet": bool(now.bullet[i]),
    }
    attributes = {name: lock(np.array(value)) if isinstance(value, tuple) else value for name, value in told.items()}
    attributes["orientation"] = lock(normalized(told["orientation"]))  # as a file that tells of it has it
    return body.renewed(index=i, **attributes, _arguments=body._arguments | told)


# ---- joints ----------------------------------------------------------------------------------------------------------


def _turns(joint: Joint, position: np.ndarray) -> np.ndarray:
    """(6,) whole turns that the coordinates have made, of which a new world, which begins within half a turn, knows
    nothing. What goes along a thread tells its turns by its way."""
    angles = np.array([kind == "angle" for kind in joint.coordinates] + [False] * (6 - len(joint.coordinates)))
    return np.where(angles, np.round(position / TURN), 0.0)


def _axes(joint: Joint, slots: np.ndarray, less: np.ndarray, time: float) -> list[AxisSpec]:
    """The coordinates as these records have them set, which count `less` (6,) less, and follow their prescribed motions
    from this time on."""
    return [_axis(axis, slots[k], float(less[k]), time) for k, axis in enumerate(joint.axes)]


def _axis(axis: AxisSpec, slot: np.void, less: float, time: float) -> AxisSpec:
    motor = spring = None
    if slot["motor_mode"] != MOTOR_NONE:
        motor = Motor(
            **{
                name: float(slot[f"motor_{name}"]) - (less if name == "position" else 0.0)
                for name in OF_MOTORS[slot["motor_mode"]]
            }
        )
    if slot["has_spring"]:
        spring = Spring(
            float(slot["stiffness"]), float(slot["damping"]), float(slot["rest"]) - less, ACTS[slot["spring_acts"]]
        )
    lower, upper = float(slot["lower"]) - less, float(slot["upper"]) - less
    motion = None if axis.motion is None else axis.motion.later(time, less)
    return replace(axis, lower=lower, upper=upper, motor=motor, spring=spring, motion=motion)


def _gear(
    gear: GearJoint, record: np.void, scene: Scene, measured: np.ndarray, numbers: dict[str, int], index: int
) -> Joint:
    """A gear that keeps what it keeps, by coordinates that count their turns anew."""
    constant = float(record["constant"])
    for name, axis, ratio in ((gear.joint_a, gear.axis_a, 1.0), (gear.joint_b, gear.axis_b, gear.ratio)):
        constant -= ratio * TURN * float(_turns(scene.joint(name), measured[numbers[name]])[axis])
    return gear.renewed(index=index, constant=constant, _arguments=gear._arguments | {"constant": constant})
