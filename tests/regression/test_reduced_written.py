"""Velocities that users write into the arrays of a ReducedWorld: taken over as by set_velocity, of all bodies at
once, by the next step; until then looking changes nothing, and copies carry them on."""

import copy
import pickle

import numpy as np
import pytest

import mcsim as mc

SCENES = {
    "ragdoll": lambda: mc.load("ragdolls", count=1),
    "loop": lambda: mc.load("four_bar"),
    "free": lambda: mc.load("stack", count=3),
    "bridge": lambda: mc.load("bridge"),
    "led": lambda: led(),
}


def led():
    """A chain on a turning kinematic body, and one body by itself."""
    scene = mc.Scene()
    scene.add_body("drum", shape=mc.Sphere(0.1), kind="kinematic", position=(0, 0, 2), angular_velocity=(0, 0, 1))
    for i in range(3):
        scene.add_body(f"l{i}", shape=mc.Capsule(0.03, 0.1), position=(0.3 * (i + 1), 0, 2), density=1000)
        scene.add_joint(mc.BallJoint("drum" if i == 0 else f"l{i - 1}", f"l{i}", (0.3 * i + 0.15, 0, 2)))
    scene.add_body("alone", shape=mc.Box((0.1, 0.2, 0.1)), position=(0, 3, 2))
    return scene


@pytest.fixture(params=list(SCENES))
def world(request):
    world = mc.ReducedWorld(SCENES[request.param](), dt=1 / 120)
    world.step(7)
    return world


def moving(world):
    return [i for i, body in enumerate(world.scene.bodies) if body.kind == "dynamic"]


def write(world, seed=0):
    rng = np.random.default_rng(seed)
    for i in rng.permutation(moving(world))[:3]:
        world.velocities[i] += 0.3 * rng.normal(size=3)
    for i in rng.permutation(moving(world))[:2]:
        world.angular_velocities[i] *= 0.7


def look(world):
    world.rows, world.energy(), world.momentum(), world.contacts, world.joint_errors(), repr(world)
    world.state_hash(), world.to_maximal(), dict(world.stats.residuals), world.snapshot(), world.maximal()
    return [world.joint(name).force for name in world.joint_names]


def test_one_body_is_as_by_set_velocity(world):
    other = copy.deepcopy(world)
    i = moving(world)[-1]
    velocity, spin = world.velocities[i] + (0.3, -0.2, 0.1), 0.5 * world.angular_velocities[i]
    world.velocities[i], world.angular_velocities[i] = velocity, spin
    other.set_velocity(other.body_names[i], velocity, spin)
    world.step()
    other.step()
    assert world.state_hash() == other.state_hash()


def test_order_does_not_matter(world):
    """Bodies that are written in turn, and the other way round, and with looks between."""
    others = [copy.deepcopy(world) for _ in range(2)]
    new = {i: world.velocities[i] + np.random.default_rng(i).normal(size=3) for i in moving(world)[:4]}
    for i, velocity in new.items():
        world.velocities[i] = velocity
    for i, velocity in reversed(new.items()):
        others[0].velocities[i] = velocity
    for i, velocity in new.items():
        others[1].velocities[i] = velocity
        look(others[1])
        np.testing.assert_array_equal(others[1].velocities[i], velocity)
    for other in (world, *others):
        other.step(3)
    assert len({other.state_hash() for other in (world, *others)}) == 1


def test_looking_changes_nothing(world):
    other = copy.deepcopy(world)
    for k in range(3):
        write(world, k)
        write(other, k)
        before = other.state_hash(), other.qd.copy()
        look(other)
        assert other.state_hash() == before[0] and np.array_equal(other.qd, before[1])
        if k > 0:
            world.step(2)
            other.step(2)
        assert world.state_hash() == other.state_hash()


def test_copies_carry_it_on(world):
    write(world)
    kept = world.snapshot()
    others = [copy.deepcopy(world), pickle.loads(pickle.dumps(world)), copy.deepcopy(world)]
    others[2].step(3)
    others[2].restore(pickle.loads(pickle.dumps(kept)))
    for other in (world, *others):
        write(other, 1)  # more, before any step
        other.step(3)
    assert len({other.state_hash() for other in (world, *others)}) == 1


def test_zeros_survive_a_restore_into_a_world_at_rest():
    """What was written is told by where the bodies of the snapshot were, not those of the world that takes it."""
    scene = mc.load("chain", n=4)
    world, other = mc.ReducedWorld(scene), mc.ReducedWorld(scene)
    world.step(100)
    world.velocities[2] = 0.0
    other.restore(world.snapshot())
    for one in (world, other):
        one.step(5)
    assert world.state_hash() == other.state_hash()


def test_observers_see_what_it_will_be():
    """Energy and momentum are those of velocities that joints allow."""
    world = mc.ReducedWorld(mc.load("chain", n=5))
    world.step(50)
    other = copy.deepcopy(world)
    world.velocities[3] = (1.0, 2.0, 0.5)
    other.set_velocity(other.body_names[3], (1.0, 2.0, 0.5))
    assert world.energy().total == other.energy().total and not np.array_equal(world.qd, other.qd)
    np.testing.assert_array_equal(world.velocities[3], (1.0, 2.0, 0.5))
    world.step()
    other.step()
    np.testing.assert_array_equal(world.qd, other.qd)


@pytest.mark.parametrize(
    "integrator, stabilization", [("rk4", "soft"), ("semi_implicit", "projection"), ("semi_implicit", "baumgarte")]
)
@pytest.mark.parametrize("scene", ["ragdoll", "bridge", "led"])
def test_changes_keep_it(scene, integrator, stabilization):
    """What changes anything else before the step goes with it, in whatever order."""
    worlds = [
        mc.ReducedWorld(SCENES[scene](), dt=1 / 240, integrator=integrator, stabilization=stabilization) for _ in range(2)
    ]
    for k, world in enumerate(worlds):
        world.step(5)
        name = world.body_names[-1]
        write(world)
        if k:
            look(world)
        world.apply_force(name, (1.0, 0.0, 2.0))
        world.set_body(name, gravity_scale=0.5)
        write(world, 2)
        if k:
            look(world)
        world.apply_impulse(name, (0.1, 0.0, 0.0))
        world.set_velocity(name, (0.1, 0.2, 0.3))
        write(world, 3)
        world.step(3)
    assert worlds[0].state_hash() == worlds[1].state_hash()


def test_kinematic_bodies_take_it_as_it_is():
    world = mc.ReducedWorld(led())
    world.angular_velocities[0] = (0.0, 0.0, 3.0)
    world.step(10)
    np.testing.assert_allclose(world.angular_velocities[0], (0.0, 0.0, 3.0), rtol=1e-14)


def test_what_is_not_finite_is_refused_and_changes_nothing():
    world = mc.ReducedWorld(mc.load("chain", n=3))
    world.step(3)
    qd, name = world.qd.copy(), world.body_names[2]
    world.velocities[2, 0] = np.nan
    with pytest.raises(mc.SimulationError, match=name):
        world.step()
    np.testing.assert_array_equal(world.qd, qd)
    world.set_velocity(name, (0.0, 0.0, 0.0))
    world.step()


def test_handles_write_as_views_do():
    worlds = [mc.ReducedWorld(mc.load("chain", n=3)) for _ in range(2)]
    name = worlds[0].body_names[2]
    worlds[0].body(name).velocity[:] = (1.0, 0.5, 0.0)
    worlds[1].velocities[2] = (1.0, 0.5, 0.0)
    for world in worlds:
        world.step()
    assert worlds[0].state_hash() == worlds[1].state_hash()


def test_poses_are_still_not_written():
    world = mc.ReducedWorld(mc.load("chain", n=3))
    for view in (world.positions, world.orientations):
        with pytest.raises(ValueError, match="read-only"):
            view[1, 0] = 1.0
