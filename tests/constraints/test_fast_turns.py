"""Angles that turn more than half around in a substep count their turns all the same: screws, gears and racks stay
closed, and positions are right."""

import numpy as np
import pytest

import mcsim as mc


def nut(rate, pitch=1e-3):
    """A nut on a screw, in flight; way a radian `pitch`."""
    scene = mc.Scene(gravity=(0, 0, 0))
    scene.add_body(
        "nut", shape=mc.Cylinder(0.05, 0.05), mass=1.0, velocity=(0, 0, rate * pitch), angular_velocity=(0, 0, rate)
    )
    scene.add_joint(mc.ScrewJoint(None, "nut", anchor=(0, 0, 0), axis=(0, 0, 1), pitch=pitch, name="screw"))
    return scene


def gears(rate, ratio=10.0, count=1, friction=0.0):
    scene = mc.Scene(gravity=(0, 0, 0))
    for k in range(count):
        for name, way, turn in (("small", 0.0, rate), ("large", 0.5, -rate / ratio)):
            at = (5.0 * k + way, 0, 0)
            scene.add_body(
                f"{name}{k}",
                shape=mc.Cylinder(0.02 if name == "small" else 0.2, 0.02),
                position=at,
                mass=0.1,
                angular_velocity=(0, 0, turn),
            )
            scene.add_joint(
                mc.HingeJoint(None, f"{name}{k}", anchor=at, axis=(0, 0, 1), friction=friction, name=f"{name} hinge{k}")
            )
        scene.add_joint(mc.GearJoint(f"small hinge{k}", f"large hinge{k}", ratio=ratio))
    return scene


RATES = [500.0, 1000.0, 3000.0, 20000.0]


@pytest.mark.parametrize(
    "keywords", [{}, {"joint_solver": "rows"}, {"stabilization": "projection"}, {"solver": "pgs"}, {"substeps": 1}]
)
@pytest.mark.parametrize("rate", RATES)
@pytest.mark.sampled(2)
def test_a_nut_goes_as_far_as_it_turns(rate, keywords):
    """From 754 rad/s on it went elsewhere, without a note: the half turn of a substep."""
    world = mc.World(nut(rate), **keywords)
    world.step(120)
    assert world.joint("screw").position == pytest.approx(2.0 * rate, rel=1e-9)
    assert world.positions[0, 2] == pytest.approx(2.0 * rate * 1e-3, rel=1e-9)
    assert world.joint_errors().max() < 1e-9
    assert world.stats.notes == []


@pytest.mark.parametrize("keywords, count, friction", [({}, 1, 0.0), ({}, 4, 1e-9), ({"joint_solver": "rows"}, 1, 0.0)])
@pytest.mark.parametrize("rate", RATES)
@pytest.mark.sampled(2)
def test_gears_mesh_at_any_rate(rate, keywords, count, friction):
    """At 1000 rad/s they were 2 to 55 rad out of mesh."""
    world = mc.World(gears(rate, count=count, friction=friction), **keywords)
    world.step(60)
    assert world.joint("small hinge0").position == pytest.approx(rate, rel=1e-6)
    assert world.joint("large hinge0").position == pytest.approx(-rate / 10, rel=1e-6)
    assert world.joint_errors().max() < 1e-8


def test_gears_are_run_up_from_rest():
    world = mc.World(gears(0.0))
    inertia = world.body("small0").inertia[2, 2] + world.body("large0").inertia[2, 2] / 100.0
    for _ in range(30):
        world.apply_torque("small0", (0, 0, 4e4 * inertia))
        world.step()
    np.testing.assert_allclose(world.angular_velocities[:, 2], (2e4, -2e3), rtol=1e-9)
    assert world.joint("small hinge0").position == pytest.approx(0.5 * 4e4 * 0.25, rel=1e-9)
    assert world.joint_errors().max() < 1e-8


@pytest.mark.parametrize("rate", [2.4, 5.0, 7.0])
def test_racks_that_fly(rate):
    """The weight is light for its levers, so the loop flies, in pieces; rate: at the end [rad a substep]."""
    radius = 9.81 / 2 / 240 * 2.0 / (3.0 * rate) / 16
    scene = mc.Scene()
    scene.add_body("weight", mass=1.0, inertia=(radius**2,) * 3)
    scene.add_joint(mc.SliderJoint(None, "weight", (0, 0, 1)))
    scene.add_body("wheel", mass=1.0, inertia=(radius**2,) * 3, position=(radius, 0, 0))
    scene.add_joint(mc.HingeJoint(None, "wheel", (radius, 0, 0), (0, 1, 0)))
    scene.add_joint(mc.RackPinionJoint("weight", "wheel", (radius, 0, 0), (0, 0, 1), (0, 1, 0), radius=radius))
    world = mc.World(scene)
    while abs(world.angular_velocities[1, 1]) < rate * 240:
        world.step()
        assert world.velocities[0, 2] == pytest.approx(-9.81 / 2 * world.time, rel=1e-3)
    assert world.joint_errors().max() < 1e-9


def test_turns_of_both_worlds_agree():
    first, second = (make(nut(3000.0), dt=1 / 60) for make in (mc.World, mc.ReducedWorld))
    for world in (first, second):
        world.step(60)
    assert first.joint("screw").position == pytest.approx(second.joint("screw").position, rel=1e-9)
