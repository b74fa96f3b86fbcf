"""One state, one story: what ReducedWorld hands over to maximal coordinates is the state that it has."""

import numpy as np
import pytest

import mcsim as mc
from mcsim.reduced import JointModel

ABOUT = {"hinge": mc.HingeJoint, "screw": lambda *a, **k: mc.ScrewJoint(*a, pitch=0.6, **k)}


def turning(kind, **keywords):
    scene = mc.Scene(gravity=(0, 0, 0))
    scene.add_body("wheel", mass=2.0, inertia=(0.3, 0.3, 0.3))
    scene.add_joint(ABOUT[kind](None, "wheel", (0, 0, 0), (0, 0, 1), name="axle", **keywords))
    return mc.ReducedWorld(scene)


def accelerations(world):
    return world.kkt().solve()[0]


@pytest.mark.parametrize("kind", ABOUT)
@pytest.mark.parametrize("turns", [-3.0, 0.3, 0.7, 2.0, 5.25])
def test_turns_are_handed_over(kind, turns):
    """A screw turned by more than half a turn was open by its pitch, and a spring pulled by whole turns less."""
    world = turning(kind, spring=mc.Spring(5.0, 0.0))
    world.q[:] = 2 * np.pi * turns
    world.step()
    assert world.joint_errors().max() < 1e-9
    other = world.maximal()
    assert other.time == world.time
    assert other.joint("axle").position == pytest.approx(world.q[0], abs=1e-9)
    assert other.joint_errors().max() < 1e-9
    assert other.energy().total == pytest.approx(world.energy().total, rel=1e-9)
    before = world.state_hash()
    world.joint_errors(), world.maximal()
    assert world.state_hash() == before


@pytest.mark.parametrize("scene", ["double_pendulum", "spinning_top", "free_ragdoll"])
def test_kkt_has_the_forces_of_the_coordinates(scene):
    """H qdd + C = tau in both coordinates. tau was left out."""
    world = mc.ReducedWorld(mc.load(scene))
    world.step(20)
    world.tau[:] = np.random.default_rng(1).normal(size=len(world.tau))
    velocity, spin = world.dynamics.accelerations(world.q, world.qd, world.forward_dynamics(world.q, world.qd, world.tau))
    found = accelerations(world)
    assert found == pytest.approx(np.hstack([velocity, spin]), rel=1e-6, abs=1e-6)


def test_one_hinge_with_a_moment():
    world = turning("hinge")
    world.tau[:] = 3.0
    assert np.abs(accelerations(world)).max() == pytest.approx(10.0)


def test_motions_go_on_at_the_present_time():
    """They were at t = 0."""
    scene = mc.Scene()
    scene.add_body("arm", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(0.5, 0, 0))
    scene.add_joint(
        mc.HingeJoint(None, "arm", (0, 0, 0), (0, 1, 0), name="h", motion=mc.Motion(amplitude=0.3, frequency=1.0))
    )
    world = mc.ReducedWorld(scene, dt=1e-3)
    world.step(250)  # a quarter of a period
    expected = -0.3 * (2 * np.pi) ** 2
    assert accelerations(world)[0, 4] == pytest.approx(expected, rel=1e-3)


def test_models_of_the_users_own_are_refused():
    """A free fall was answered where the model holds."""

    def placement(q):
        return np.array([[np.cos(q[0]), -np.sin(q[0]), 0], [np.sin(q[0]), np.cos(q[0]), 0], [0, 0, 1]]), np.zeros(3)

    scene = mc.Scene()
    scene.add_body("b", mass=1.0, inertia=(1, 1, 1))
    scene.add_joint(mc.HingeJoint(None, "b", (0, 0, 0), (0, 0, 1), name="own"))
    world = mc.ReducedWorld(scene, models={"own": JointModel(1, placement)})
    for ask in (world.maximal, world.kkt, world.redundancy):
        with pytest.raises(mc.SceneError, match="'own' has a model of your own"):
            ask()


def test_a_rack_and_pinion_of_the_tree_counts_its_turns():
    """q = 10 was read as -2.57, and the rack as open by two turns of the wheel."""
    scene = mc.Scene(gravity=(0, 0, 0))
    scene.add_body("wheel", mass=2.0, inertia=(0.3, 0.3, 0.3))
    scene.add_joint(mc.RackPinionJoint(None, "wheel", (0, 0, 0), (1, 0, 0), (0, 0, 1), 0.2, name="rack"))
    world = mc.ReducedWorld(scene, models={"rack": "rack_pinion"})
    world.qd[:] = 10.0
    world.step(1000)
    assert world.joint("rack").position == pytest.approx(world.q[0]) == pytest.approx(10.0, rel=1e-5)
    assert world.joint_errors().max() < 1e-9 and world.maximal().joint_errors().max() < 1e-9
