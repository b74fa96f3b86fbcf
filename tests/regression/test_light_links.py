"""Links far lighter than what they join, as robot files have them between two axes of one joint: a torque on one, with
dampers and a limit in the same articulation, moves all as in generalized coordinates.

Half of a torque of 20 N m makes 0.1 g with a few square millimetres of inertia turn at 10^4 rad/s until the joints hold it.
Joints were aimed to close by a drift at such velocities, and flights took that half out again after dampers had been solved
against it: a figure at rest came to 10^4 J in one step.
"""

import numpy as np
import pytest

import mcsim as mc

LIGHT = (2e-1, 2e-3, 2e-4, 1e-4, 3e-5, 1e-5, 1e-6)
TORQUES = (0.0, 5.0, 20.0, 80.0)


def figure(light, damping=5.0, limit=(-2.0, -0.035)):
    """A trunk of four, a light link between two of its axes, with one leg; the knee stands 2 degrees beyond its limit."""
    scene = mc.Scene(gravity=(0, 0, 0))
    for name, mass, z, radii in (
        ("torso", 9.0, 0.3, (0.03, 0.02, 0.025)),
        ("between", light, 0.0, (0.004, 0.003, 0.0035)),
        ("waist", 2.3, -0.1, (0.006, 0.005, 0.004)),
        ("pelvis", 6.6, -0.25, (0.01, 0.008, 0.009)),
        ("thigh", 4.7, -0.5, (0.02, 0.02, 0.004)),
        ("shin", 4.5, -0.9, (0.02, 0.02, 0.004)),
    ):
        scene.add_body(name, mass=mass, inertia=mass * np.array(radii), position=(0, 0, z))
    stiff, knee = mc.Spring(10.0, damping), mc.Spring(1.0, 0.2 * damping)
    for name, a, b, z, axis in (
        ("z", "torso", "between", 0.0, (0, 0, 1)),
        ("y", "between", "waist", 0.0, (0, 1, 0)),
        ("x", "waist", "pelvis", -0.15, (1, 0, 0)),
        ("hip", "pelvis", "thigh", -0.3, (0, 1, 0)),
    ):
        scene.add_joint(mc.HingeJoint(a, b, (0, 0, z), axis, name=name, spring=stiff))
    scene.add_joint(mc.HingeJoint("thigh", "shin", (0, 0, -0.7), (0, 1, 0), name="knee", limits=limit, spring=knee))
    return scene


def kicked(make, scene, torque, steps=1, prefix="", **keywords):
    world = make(scene, dt=0.003, **keywords)
    world.joint(f"{prefix}y").tau = torque
    world.step(steps)
    return world


@pytest.mark.parametrize("damping", [0.0, 0.5, 5.0])
@pytest.mark.parametrize("torque", TORQUES)
@pytest.mark.parametrize("light", LIGHT)
def test_a_torque_on_a_light_link(light, torque, damping):
    """Without the limit: the energies of both worlds agree after one step and after ten, and the joints stay closed."""
    for steps in (1, 10):
        world = kicked(mc.World, figure(light, damping, None), torque, steps)
        reduced = kicked(mc.ReducedWorld, figure(light, damping, None), torque, steps, substeps=16)
        expected = reduced.energy().kinetic
        assert world.energy().kinetic == pytest.approx(expected, rel=0.08, abs=1e-9)
        assert world.joint_errors().max() < 1e-6


@pytest.mark.parametrize("light", LIGHT)
def test_beside_a_limit_that_pushes(light):
    """The limit pushes its knee back; what it gives is of the order of a millijoule, whatever the link weighs."""
    world = kicked(mc.World, figure(light), 20.0)
    fine = kicked(mc.World, figure(light), 20.0, substeps=64)
    assert world.energy().kinetic == pytest.approx(fine.energy().kinetic, rel=0.15)
    world.step(30)
    assert world.energy().kinetic < 60.0 and world.joint_errors().max() < 1e-6


@pytest.mark.parametrize("copies", [4, 12])
def test_several_at_once(copies):
    """As equal articulations are taken together."""
    one, scene = figure(1e-4), mc.Scene(gravity=(0, 0, 0))
    for i in range(copies):
        scene.add(one, position=(3.0 * i, 0, 0), prefix=f"f{i}_")
    world = mc.World(scene, dt=0.003)
    for i in range(copies):
        world.joint(f"f{i}_y").tau = 20.0
    world.step(1)
    alone = kicked(mc.World, figure(1e-4), 20.0)
    assert world.energy().kinetic == pytest.approx(copies * alone.energy().kinetic, rel=1e-6)


def test_torques_that_change_with_every_step():
    """Of all of its joints, at random: as in generalized coordinates."""
    rng = np.random.default_rng(0)
    worlds = [mc.World(figure(1e-4, limit=None), dt=0.003), mc.ReducedWorld(figure(1e-4, limit=None), dt=0.003, substeps=8)]
    most = [0.0, 0.0]
    for _ in range(200):
        torque = rng.uniform(-30, 30, 5)
        for k, world in enumerate(worlds):
            for joint, value in zip(world.joints, torque):
                joint.tau = value
            world.step(1)
            most[k] = max(most[k], np.abs(world.velocities).max())
    assert most[0] == pytest.approx(most[1], rel=0.05)
    assert worlds[0].energy().kinetic == pytest.approx(worlds[1].energy().kinetic, rel=0.2)


def in_units(light, length, time, mass, place=(0.0, 0.0, 0.0), velocity=(0.0, 0.0, 0.0), turn=(1.0, 0.0, 0.0, 0.0)):
    """The figure in units that are so many times as small, elsewhere, on its way, turned. -> energy after 10 steps, in the
    units of the other one, as it is seen from its centre of mass"""
    plain = figure(light)
    scene = mc.Scene(gravity=(0, 0, 0))
    moved = mc.Scene(gravity=(0, 0, 0))
    moved.add(plain, place, turn)
    torque = mass * length**2 / time**2
    for body in moved.bodies:
        scene.add_body(
            body.name,
            mass=mass * body.mass,
            inertia=mass * length**2 * np.array(body.inertia),
            position=length * np.array(body.position),
            orientation=body.orientation,
            velocity=length / time * np.array(velocity),
        )
    stiff, knee = (mc.Spring(k * torque, d * torque * time) for k, d in ((10.0, 5.0), (1.0, 1.0)))
    for joint in moved.joints:
        drives = {"limits": (-2.0, -0.035), "spring": knee} if joint.name == "knee" else {"spring": stiff}
        body = next(body for body in scene.bodies if body.name == joint.b)
        rotation = mc.rotation.matrix(body.orientation)
        anchor = rotation @ (length * joint.frame_b[0]) + body.position
        axis = rotation @ mc.rotation.matrix(joint.frame_b[1])[:, 2]
        scene.add_joint(mc.HingeJoint(joint.a, joint.b, anchor, axis, name=joint.name, **drives))
    world = mc.World(scene, dt=0.003 * time, push_speed=1e6 * length / time)  # the default is so much in a second
    world.joint("y").tau = 20.0 * torque
    world.step(10)
    masses = world.masses[:, None]
    shared = (masses * world.velocities).sum(axis=0) / masses.sum()
    return (world.energy().kinetic - 0.5 * masses.sum() * (shared @ shared)) / torque


@pytest.mark.parametrize("light", LIGHT[1::2])
@pytest.mark.parametrize(
    "way, to",
    [
        (dict(length=1000.0, time=1.0, mass=1.0), 1e-9),
        (dict(length=1.0, time=1000.0, mass=1e-3), 1e-9),
        (dict(length=0.01, time=0.1, mass=1e4), 1e-9),
        (dict(length=1.0, time=1.0, mass=1.0, turn=(0.6, 0.0, 0.8, 0.0)), 1e-9),
        (dict(length=1.0, time=1.0, mass=1.0, velocity=(3.0, -8.0, 2.0)), 1e-9),
        (dict(length=1.0, time=1.0, mass=1.0, place=(3e3, -1e4, 2e3)), 1e-6),
    ],
)
def test_it_is_the_same_in_other_units_and_frames(light, way, to):
    plain = in_units(light, 1.0, 1.0, 1.0)
    assert in_units(light, **way) == pytest.approx(plain, rel=to)
