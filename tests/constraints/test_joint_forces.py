"""Joint forces and torques against statics."""

import numpy as np
import pytest

import mcsim as mc

G = 9.81
SOLVERS = (("si", "tree"), ("si", "rows"), ("pgs", "rows"))
WORLDS = [dict(stabilization=s, solver=v, joint_solver=j) for s in ("none", "baumgarte", "soft") for v, j in SOLVERS]
every_world = pytest.mark.parametrize("keywords", WORLDS, ids=lambda k: "-".join(k.values()))


def settled(scene, keywords, steps=240):
    world = mc.World(scene, **{"iterations": 50} | keywords)
    world.step(steps)
    return world


@every_world
def test_a_hanging_chain_carries_what_is_below(keywords):
    """Each ball joint of a hanging chain carries the weight below it, upward on b."""
    scene = mc.Scene()
    masses = [3.0, 1.0, 0.5, 2.0]
    above = None
    for i, mass in enumerate(masses):
        scene.add_body(f"m{i}", mass=mass, inertia=(0.1, 0.1, 0.1), position=(0, 0, -0.5 - i))
        scene.add_joint(mc.BallJoint(above, f"m{i}", (0, 0, -float(i)), name=f"j{i}"))
        above = f"m{i}"
    world = settled(scene, keywords)
    for i in range(4):
        assert world.joint(f"j{i}").force == pytest.approx((0, 0, G * sum(masses[i:])), rel=1e-6, abs=1e-6)
        assert world.joint(f"j{i}").torque == pytest.approx((0, 0, 0), abs=1e-6)


@pytest.mark.parametrize("side", ["world is a", "world is b"])
@every_world
def test_a_cantilever_carries_weight_and_moment(keywords, side):
    """A weld holds a beam by a force m g and a torque m g l about the joint's point; the sign follows the side."""
    scene = mc.Scene()
    scene.add_body("beam", mass=2.0, inertia=(0.05, 0.3, 0.3), position=(0.7, 0.2, 0))
    ends = (None, "beam") if side == "world is a" else ("beam", None)
    scene.add_joint(mc.FixedJoint(*ends, anchor=(0, 0, 0), name="weld"))
    world = settled(scene, keywords)
    weld, sign = world.joint("weld"), 1 if side == "world is a" else -1
    arm = world.body("beam").position
    assert weld.force == pytest.approx((0, 0, sign * 2 * G), rel=1e-6, abs=1e-6)
    assert weld.torque == pytest.approx(-sign * np.cross(arm, (0, 0, -2 * G)), rel=1e-3, abs=1e-3)
    assert np.abs(world.joint_errors()).max() < 2e-3


@every_world
def test_two_welds_between_the_same_bodies_share_the_load(keywords):
    """Redundant joints stay finite and carry the weight together."""
    scene = mc.Scene()
    scene.add_body("beam", mass=2.0, inertia=(0.05, 0.3, 0.3), position=(0.7, 0, 0))
    for x in (0.2, 0.7, 1.2):
        scene.add_joint(mc.FixedJoint(None, "beam", anchor=(x, 0, 0), name=f"weld{x}"))
    world = settled(scene, keywords)
    total = sum(world.joint(name).force for name in world.joint_names)
    assert total == pytest.approx((0, 0, 2 * G), rel=1e-6, abs=1e-6)
    moment = sum(
        np.cross((x, 0, 0), world.joint(f"weld{x}").force) + world.joint(f"weld{x}").torque for x in (0.2, 0.7, 1.2)
    )
    assert moment == pytest.approx(np.cross((0.7, 0, 0), (0, 0, 2 * G)), rel=1e-3, abs=1e-3)


@every_world
def test_a_hinge_bears_moments_across_its_axis_only(keywords):
    """A door on a vertical hinge: the weight and its moment are in the joint, nothing about the axis."""
    scene = mc.Scene()
    scene.add_body("door", mass=20.0, inertia=(3.0, 4.0, 1.5), position=(0.45, 0, 1.0))
    scene.add_joint(mc.HingeJoint(None, "door", (0, 0, 1.0), (0, 0, 1), name="hinge"))
    world = settled(scene, keywords)
    assert world.joint("hinge").force == pytest.approx((0, 0, 20 * G), rel=1e-6, abs=1e-4)
    assert world.joint("hinge").torque == pytest.approx((0, -20 * G * 0.45, 0), rel=2e-3, abs=1e-4)


@every_world
def test_a_slider_bears_what_is_across_it(keywords):
    """A carriage on a rail along x: gravity and a push across go into the rail, a push along it accelerates."""
    scene = mc.Scene()
    scene.add_body("carriage", mass=2.0, inertia=(0.1, 0.1, 0.1))
    scene.add_joint(mc.SliderJoint(None, "carriage", axis=(1, 0, 0), name="rail"))
    world = mc.World(scene, **{"iterations": 50} | keywords)
    world.apply_force("carriage", (3.0, 4.0, 0.0), point=(0, 0, 0.5))
    world.step(60)
    rail = world.joint("rail")
    assert rail.velocity == pytest.approx(1.5, rel=1e-9)
    assert rail.force == pytest.approx((0, -4.0, 2 * G), rel=1e-6, abs=1e-6)
    arm = np.array([0, 0, 0.5])  # of the force, about the joint's point, the body's centre
    assert rail.torque == pytest.approx(-np.cross(arm, (3.0, 4.0, 0.0)), rel=1e-3, abs=1e-3)


def test_a_circling_mass_pulls_with_its_centripetal_force():
    """A mass on a hinge in free space: the joint force is m w^2 r towards the centre."""
    scene = mc.Scene(gravity=(0, 0, 0))
    scene.add_body(
        "m", mass=1.5, inertia=(0.1, 0.1, 0.1), position=(0.8, 0, 0), velocity=(0, 2.4, 0), angular_velocity=(0, 0, 3.0)
    )
    scene.add_joint(mc.HingeJoint(None, "m", (0, 0, 0), (0, 0, 1), name="h"))
    world = mc.World(scene, dt=1e-3, iterations=20)
    world.step(500)
    force, position = world.joint("h").force, world.body("m").position
    assert force == pytest.approx(-1.5 * 9 * position, rel=1e-2, abs=1e-2)


def test_the_force_of_a_spring_is_in_the_joint():
    """A ball joint with a torsion spring: the torque about the joint's point is the spring's."""
    scene = mc.Scene(gravity=(0, 0, 0))
    scene.add_body("m", mass=1.0, inertia=(0.1, 0.1, 0.1))
    scene.add_joint(mc.HingeJoint(None, "m", (0, 0, 0), (0, 0, 1), name="h", spring=mc.Spring(6.0, 2.0, rest=0.5)))
    world = mc.World(scene)
    world.apply_torque("m", (0, 0, -1.2))
    world.step(900)
    assert world.joint("h").angle == pytest.approx(0.5 - 1.2 / 6.0, abs=1e-6)
    assert world.joint("h").torque == pytest.approx((0, 0, 1.2), abs=1e-6)
