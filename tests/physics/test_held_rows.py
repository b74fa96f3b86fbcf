"""Limits, motors and friction of joints that carry far more than their two bodies: solved with the joints in them
(solve/_held.pyx)."""

import math

import numpy as np
import pytest

import mcsim as mc


def arm_on_limits(ratio, reach, compact, **shoulder):
    """A light arm with a limit carries a weight on a hinge with a limit; level at the start."""
    scene = mc.Scene()
    scene.add_body("arm", mass=1.0, inertia=(0.1 * compact,) * 3, position=(0.5, 0, 0))
    scene.add_body("weight", mass=ratio, inertia=(0.01 * ratio * compact,) * 3, position=(1.0 + reach, 0, 0))
    scene.add_joint(mc.HingeJoint(None, "arm", (0, 0, 0), (0, 1, 0), limits=(-0.5, 0.5), name="shoulder", **shoulder))
    scene.add_joint(mc.HingeJoint("arm", "weight", (1, 0, 0), (0, 1, 0), limits=(-0.1, 0.1), name="wrist"))
    return scene


@pytest.mark.parametrize("ratio, reach, compact", [(0.1, 1.4, 0.36), (9, 1.07, 0.04), (120, 0.15, 0.09), (2000, 0.6, 1.0)])
def test_a_heavy_weight_comes_to_rest_on_limits(ratio, reach, compact):
    world = mc.World(arm_on_limits(ratio, reach, compact), sleep=False)
    world.step(240)
    assert world.joint("shoulder").position == pytest.approx(0.5, abs=1e-6)
    assert world.joint("wrist").position == pytest.approx(0.1, abs=1e-6)
    assert np.abs(world.velocities).max() < 1e-4
    torque = 9.81 * (math.cos(0.5) * (0.5 + ratio) + ratio * reach * math.cos(0.6))
    wrench = -world.joint("shoulder").torque[1]
    assert abs(wrench) == pytest.approx(torque, rel=1e-4)


@pytest.mark.parametrize("mass", [1, 50, 1000])
@pytest.mark.parametrize("speed", [0.1, -0.1])
def test_a_light_cylinder_lifts_a_heavy_arm_at_its_speed(mass, speed):
    """A loop: the arm on a hinge, the cylinder between it and the ground."""
    scene = mc.Scene()
    foot, head = np.array([0, 0, -1.0]), np.array([1.0, 0, 0])
    scene.add_body("arm", mass=mass, inertia=(mass / 3,) * 3, position=(1, 0, 0))
    scene.add_body("barrel", mass=1.0, inertia=(0.02,) * 3, position=foot + 0.3 * (head - foot))
    scene.add_body("rod", mass=1.0, inertia=(0.02,) * 3, position=foot + 0.7 * (head - foot))
    scene.add_joint(mc.HingeJoint(None, "arm", (0, 0, 0), (0, 1, 0)))
    scene.add_joint(mc.HingeJoint(None, "barrel", foot, (0, 1, 0)))
    scene.add_joint(mc.HingeJoint("rod", "arm", head, (0, 1, 0)))
    scene.add_joint(mc.SliderJoint("barrel", "rod", foot, head - foot, motor=mc.Motor(velocity=speed), name="cylinder"))
    world = mc.World(scene)
    for k in range(1, 4):
        world.step(60)
        assert world.joint("cylinder").position == pytest.approx(k * speed, abs=2e-4)


@pytest.mark.parametrize("factor", [1.02, 0.98])
def test_friction_of_a_loaded_hinge_slips_at_its_bound_and_sticks_below(factor):
    """The torque at the shoulder is far beyond what its light arm sees of it."""
    scene = mc.Scene()
    torque = 9.81 * (0.5 * 0.01 + 1.0 * 10)
    scene.add_body("arm", mass=0.01, inertia=(1e-4,) * 3, position=(0.5, 0, 0))
    scene.add_body("weight", mass=10.0, inertia=(0.1,) * 3, position=(1, 0, 0))
    scene.add_joint(mc.HingeJoint(None, "arm", (0, 0, 0), (0, 1, 0), friction=factor * torque, name="shoulder"))
    scene.add_joint(mc.HingeJoint("arm", "weight", (1, 0, 0), (0, 1, 0)))
    world = mc.World(scene, sleep=False)
    world.step(120)
    if factor > 1.0:
        assert abs(world.joint("shoulder").position) < 1e-6
    else:
        assert world.joint("shoulder").position > 0.05


def test_a_limit_yields_to_no_motor():
    """Neither has a bound: the limit is met, and the arm is held."""
    world = mc.World(arm_on_limits(100, 0.5, 0.1, motor=mc.Motor(velocity=1.0)), sleep=False)
    world.step(240)
    assert world.joint("shoulder").position == pytest.approx(0.5, abs=1e-3)
    assert np.abs(world.velocities).max() < 1e-3


def test_copies_and_snapshots_go_on_alike():
    """What was found out in the last eighth step is part of the state."""
    world = mc.World(arm_on_limits(120, 0.15, 0.09), sleep=False)
    world.step(3)
    snapshot = world.snapshot()
    for _ in range(8):
        twin = mc.World(arm_on_limits(120, 0.15, 0.09), sleep=False)
        twin.restore(snapshot)
        world.step(5)
        twin.step(5)
        assert world.state_hash() == twin.state_hash()
        snapshot = world.snapshot()


def test_many_rows_of_one_articulation_are_left_to_the_sweeps():
    """More than there is room for in one matrix: the step still ends, with closed joints."""
    scene = mc.Scene()
    previous = None
    for i in range(80):
        scene.add_body(f"link{i}", mass=1.0, inertia=(1e-6,) * 3, position=(0.1 * i + 0.05, 0, 0))
        scene.add_joint(mc.BallJoint(previous, f"link{i}", (0.1 * i, 0, 0), friction=0.01))
        previous = f"link{i}"
    world = mc.World(scene, sleep=False)
    world.step(20)
    assert np.isfinite(world.positions).all()
    assert world.joint_errors().max() < 1e-5
