"""Actuators, sensors, sites and keyframes of a MuJoCo model, as records beside its scene."""

from __future__ import annotations  # signatures read as they are written here

from math import inf
from typing import Any

import numpy as np

from mcsim.core.rotation import IDENTITY, compose
from mcsim.io.frames import BodyFrame
from mcsim.io.mjcf_bodies import Maker
from mcsim.io.mjcf_model import WORLD, Model, unused
from mcsim.io.mjcf_tendons import wraps
from mcsim.io.robot import Actuator, Key
from mcsim.io.sensors import KINDS, Sensor

HELD = ("force", "torque")  # sensors of what a body's parent puts on it
Range = tuple[float, float]


def bodies_with_force_sensors(model: Model) -> set[int]:
    """Bodies that must stay bodies of their own, so that the world tells what holds them."""
    sites = model.mj.site_bodyid
    return {
        int(sites[int(model.mj.sensor_objid[i])])
        for i in range(model.mj.nsensor)
        if _kind_of_sensor(model, i) in HELD and sites[int(model.mj.sensor_objid[i])] != WORLD
    }


def frames(maker: Maker) -> dict[str, BodyFrame]:
    """Every site, and every body that is one with another, under its name; a site whose name a body has gets a bar."""
    model, taken = maker.model, set(maker.model.bodies)
    found = {
        model.bodies[body]: _on(maker, model.bodies[body], body, IDENTITY)
        for body in range(1, model.mj.nbody)
        if maker.welds.leader[body] != body
    }
    for site, name in enumerate(model.sites):
        name = unused(name, taken)
        found[name] = _on(maker, name, int(model.mj.site_bodyid[site]), model.frame_of("site", site))
    return found


def _on(maker: Maker, name: str, body: int, own: Any) -> BodyFrame:
    leader = maker.welds.leader[body]
    place, turn = compose(maker.welds.frame[body], own)
    return BodyFrame(name, None if leader == WORLD else maker.names[leader], place, turn)


# ---- actuators -------------------------------------------------------------------------------------------------------


def actuators(model: Model) -> dict[str, Actuator]:
    """All actuators; those whose way to act is not known drive no joint."""
    return {name: _actuator(model, i, name) for i, name in enumerate(model.actuators)}


def _actuator(model: Model, i: int, name: str) -> Actuator:
    mj, enums = model.mj, model.mujoco
    gain, bias = np.zeros(3), np.zeros(3)
    kinds = {
        what: getattr(enums, f"mjt{what}")(int(getattr(mj, f"actuator_{what.lower()}type")[i])).name.split("_")[1].lower()
        for what in ("Gain", "Bias", "Dyn")
    }
    known = kinds["Gain"] in ("fixed", "affine") and kinds["Bias"] in ("none", "affine") and kinds["Dyn"] == "none"
    gain[: 3 if kinds["Gain"] == "affine" else 1] = mj.actuator_gainprm[i][: 3 if kinds["Gain"] == "affine" else 1]
    if kinds["Bias"] == "affine":
        bias[:] = mj.actuator_biasprm[i][:3]
    joints = _joints_of(model, i, name) if known and not model.disabled("ACTUATION") else {}
    if not known:
        model.leave_out("actuators with a law or state of their own (muscles, filters, …)", name)
    elif model.disabled("ACTUATION"):
        model.leave_out("actuators, which the file switches off", name)
    for field in ("armature", "damping", "dampingpoly", "delay"):
        if model.says(f"actuator_{field}", i):
            model.leave_out(f"{field} of actuators", name)
    kind, kp, kv = _law(gain, bias)
    return Actuator(
        name,
        kind if known else kinds["Dyn"] if kinds["Dyn"] != "none" else kinds["Gain"],
        joints,
        gain,
        bias,
        kp,
        kv,
        _range(mj.actuator_ctrlrange[i], mj.actuator_ctrllimited[i] and not model.disabled("CLAMPCTRL")),
        _range(mj.actuator_forcerange[i], mj.actuator_forcelimited[i]),
        int(mj.actuator_ctrladr[i]) if hasattr(mj, "actuator_ctrladr") else i,
    )


def _range(pair: Any, limited: Any) -> Range:
    return (float(pair[0]), float(pair[1])) if limited else (-inf, inf)


def _law(gain: np.ndarray, bias: np.ndarray) -> tuple[str, float, float]:
    """-> kind, kp, kv, by the numbers that MuJoCo's shortcuts write."""
    g = float(gain[0])
    if not gain[1:].any() and not bias.any():
        return "motor", 0.0, 0.0
    if not gain[1:].any() and bias[0] == 0.0 and bias[1] == -g:
        return "position", g, -float(bias[2])
    if not gain[1:].any() and bias[0] == bias[1] == 0.0 and bias[2] == -g:
        return "velocity", 0.0, g
    return "general", 0.0, 0.0


def _joints_of(model: Model, i: int, name: str) -> dict[str, float]:
    """joint -> gear, of an actuator that acts on hinges and slides, or on them by a fixed tendon."""
    mj, way = model.mj, model.mujoco.mjtTrn(int(model.mj.actuator_trntype[i])).name.removeprefix("mjTRN_").lower()
    target, gear = int(mj.actuator_trnid[i][0]), float(mj.actuator_gear[i][0])
    if way in ("joint", "jointinparent") and model.kind_of_joint(target) in ("hinge", "slide"):
        return {model.joints[target]: gear}
    if way == "tendon":
        over = wraps(model, target)
        if all(kind == "joint" for kind, _, _ in over):
            return {model.joints[joint]: gear * c for _, joint, c in over}
        way = "spatial tendon"
    elif way in ("joint", "jointinparent"):
        way = f"{model.kind_of_joint(target)} joint"
    model.leave_out(f"what actuators do on a {way}", name)
    return {}


def joint_forces(model: Model) -> dict[str, Range]:
    """joint -> the range of the sum of actuators' forces, of those that have one."""
    return {
        name: (float(model.mj.jnt_actfrcrange[i][0]), float(model.mj.jnt_actfrcrange[i][1]))
        for i, name in enumerate(model.joints)
        if model.mj.jnt_actfrclimited[i]
    }


def keys(model: Model) -> dict[str, Key]:
    """Keyframes, as positions of hinges and slides."""
    plain = [i for i in range(model.mj.njnt) if model.kind_of_joint(i) in ("hinge", "slide")]
    return {
        name: Key(
            name,
            {model.joints[i]: float(model.mj.key_qpos[k][int(model.mj.jnt_qposadr[i])]) for i in plain},
            np.array(model.mj.key_ctrl[k]),
        )
        for k, name in enumerate(model.keys)
    }


# ---- sensors ---------------------------------------------------------------------------------------------------------


def sensors(maker: Maker) -> dict[str, Sensor]:
    """The sensors whose kind is known; the others are left out by name."""
    found = {}
    for i, name in enumerate(maker.model.sensors):
        sensor = _sensor(maker, i, name)
        if sensor is not None:
            found[name] = sensor
            if maker.model.says("sensor_noise", i):
                maker.model.leave_out("noise of sensors", name)
    return found


def _kind_of_sensor(model: Model, i: int) -> str:
    return model.mujoco.mjtSensor(int(model.mj.sensor_type[i])).name.removeprefix("mjSENS_").lower()


def _sensor(maker: Maker, i: int, name: str) -> Sensor | None:
    model, mj, kind = maker.model, maker.model.mj, _kind_of_sensor(maker.model, i)
    target, cutoff = int(mj.sensor_objid[i]), float(mj.sensor_cutoff[i]) or inf
    if kind not in KINDS:
        model.leave_out(f"sensors of kind {kind}", name)
        return None
    if kind in ("jointpos", "jointvel"):
        return Sensor(name, kind, joint=model.joints[target], cutoff=cutoff)
    frame = _object(maker, int(mj.sensor_objtype[i]), target)
    reference = _object(maker, int(mj.sensor_reftype[i]), int(mj.sensor_refid[i])) if mj.sensor_refid[i] >= 0 else None
    if frame is None or (reference is None and mj.sensor_refid[i] >= 0):
        model.leave_out("sensors of cameras and the like", name)
        return None
    if kind in HELD:
        joint = maker.holding.get(int(mj.site_bodyid[target]))
        if joint is None:
            model.leave_out("force and torque sensors on what stands still", name)
            return None
        return Sensor(name, kind, joint=joint, frame=frame, cutoff=cutoff)
    zone = None
    if kind == "touch":
        solid = model.mujoco.mjtGeom(int(mj.site_type[target])).name.removeprefix("mjGEOM_").lower()
        zone = solid, np.array(mj.site_size[target])
    return Sensor(name, kind, frame=frame, reference=reference, zone=zone, cutoff=cutoff)


def _object(maker: Maker, kind: int, i: int) -> BodyFrame | None:
    """The frame of a site, geom, body (its centre of mass and principal axes) or "xbody" (its own frame)."""
    model, kinds = maker.model, maker.model.mujoco.mjtObj
    if kind == int(kinds.mjOBJ_SITE):
        return _on(maker, model.sites[i], int(model.mj.site_bodyid[i]), model.frame_of("site", i))
    if kind == int(kinds.mjOBJ_GEOM):
        return _on(maker, model.geoms[i], int(model.mj.geom_bodyid[i]), model.frame_of("geom", i))
    if kind == int(kinds.mjOBJ_XBODY):
        return _on(maker, model.bodies[i], i, IDENTITY)
    if kind == int(kinds.mjOBJ_BODY):
        return _on(maker, model.bodies[i], i, model.inertial_frame(i))
    return None
