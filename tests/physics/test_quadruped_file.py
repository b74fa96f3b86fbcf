"""A quadruped out of a robot file, held by PD motors, stands for a minute: the floor bears its weight, and it stays."""

import numpy as np
import pytest

import mcsim as mc
from amounts import amount
from urdf_robots import collision, joint, link, robot

THIGH, SHANK, FOOT = 0.25, 0.2, 0.025
STAND = {"roll": 0.0, "swing": 0.7, "knee": -1.4}


def quadruped():
    """The file: a trunk with four legs of a hip, a thigh and a shank, straight down at zero."""
    parts = [link("trunk", collision('<box size="0.5 0.24 0.12"/>'), mass=12.0, i=(0.2, 0, 0, 0.3, 0, 0.4))]
    for leg, x, y in (("FL", 0.2, 0.12), ("FR", 0.2, -0.12), ("RL", -0.2, 0.12), ("RR", -0.2, -0.12)):
        foot = collision(f'<sphere radius="{FOOT}"/>', xyz=f"0 0 {-SHANK}")
        parts += [
            link(f"{leg}_hip", mass=0.6, i=(1e-3, 0, 0, 1e-3, 0, 1e-3)),
            link(f"{leg}_thigh", mass=1.0, com=f"0 0 {-THIGH / 2}", i=(6e-3, 0, 0, 6e-3, 0, 6e-4)),
            link(f"{leg}_shank", foot, mass=0.3, com=f"0 0 {-SHANK / 2}", i=(1e-3, 0, 0, 1e-3, 0, 1e-4)),
        ]
        for name, parent, child, xyz, axis in (
            ("roll", "trunk", "hip", f"{x} {y} 0", "1 0 0"),
            ("swing", f"{leg}_hip", "thigh", f"0 {0.5 * y} 0", "0 1 0"),
            ("knee", f"{leg}_thigh", "shank", f"0 0 {-THIGH}", "0 1 0"),
        ):
            limit = 'lower="-2.6" upper="2.6" effort="40" velocity="20"'
            parts.append(joint(f"{leg}_{name}", "revolute", parent, f"{leg}_{child}", xyz, axis=axis, limit=limit))
    return robot(*parts, name="quadruped")


def standing(make, path, **keywords):
    """Upright above the floor, a millimetre too high, with a motor on each hinge."""
    names = [f"{leg}_{name}" for leg in ("FL", "FR", "RL", "RR") for name in STAND]
    pose = {name: STAND[name[3:]] for name in names}
    scene = mc.Scene()
    scene.add_body("floor", kind="static", shape=mc.Plane((0, 0, 1)), material=mc.Material(friction=0.8))
    height = THIGH * np.cos(0.7) + SHANK * np.cos(0.7) + FOOT + 1e-3
    scene.add(mc.load(path, base="floating", joint_positions=pose), position=(0, 0, height))
    world = make(scene, sleep=False, **keywords)
    for name in names:
        world.joint(name).set_motor(mc.Motor(position=pose[name], kp=150.0, kd=5.0, max_force=40.0))
    return world


@pytest.mark.parametrize(
    "make, keywords",
    [(mc.World, {"dt": 1 / 60}), (mc.ReducedWorld, {"dt": 1 / 240})],
    ids=["World", "ReducedWorld"],
)
def test_a_quadruped_from_a_file_stands(make, keywords, tmp_path):
    path = tmp_path / "quadruped.urdf"
    path.write_text(quadruped(), encoding="utf-8")
    world = standing(make, path, **keywords)
    trunk, weight, second = world.body("trunk"), 9.81 * world.masses.sum(), round(1 / world.dt)
    world.step(4 * second)
    start, off, drift = trunk.position.copy(), 0.0, 0.0
    for _ in range(amount(2, 56)):
        world.step(second)
        contacts = world.contacts
        force = contacts["normal_impulse"][:, None] * contacts["normal"] + contacts["tangent_impulse"]
        bears = np.where(contacts["body_a"] == 0, 1, -1) * ((contacts["body_a"] == 0) | (contacts["body_b"] == 0))
        off = max(off, abs((bears @ force[:, 2]) / world.dt / weight - 1.0))
        drift = max(drift, np.abs(trunk.position - start).max())
    assert len(np.unique(world.contacts["body_b"])) == 4, "on four feet"
    assert off < 5e-3 and drift < 1e-3
    knee = world.joint("FL_knee")
    assert 2.0 < abs(knee.motor_force) < 40.0
    assert knee.motor_force == pytest.approx(150.0 * (STAND["knee"] - knee.angle), rel=1e-3)
