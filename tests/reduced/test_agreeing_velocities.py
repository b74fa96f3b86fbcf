"""Velocities that joints do not allow: impulses at the joints make them agree, in both worlds, in any order of bodies."""

import numpy as np
import pytest

import mcsim as mc

JOINTS = {
    "ball": lambda a, b, x: mc.BallJoint(a, b, anchor=x),
    "hinge": lambda a, b, x: mc.HingeJoint(a, b, anchor=x, axis=(0.2, 0.5, 1)),
    "slider": lambda a, b, x: mc.SliderJoint(a, b, axis=(1, -0.4, 0.3)),
    "universal": lambda a, b, x: mc.UniversalJoint(a, b, anchor=x, axis_a=(0, 0, 1), axis_b=(1, 0, 0)),
    "fixed": lambda a, b, x: mc.FixedJoint(a, b),
    "cylindrical": lambda a, b, x: mc.CylindricalJoint(a, b, anchor=x, axis=(0, 1, 0)),
}


def tangle(seed, order=None, ground=False, loop=False):
    """Six bodies that move at random, on joints of one kind or another."""
    rng = np.random.default_rng(seed)
    scene = mc.Scene(gravity=(0, 0, 0))
    bodies = []
    for i in range(6):
        turn = rng.normal(size=4)
        bodies.append(
            {
                "name": f"b{i}",
                "mass": rng.uniform(0.5, 3.0),
                "inertia": rng.uniform(0.2, 0.3, 3),
                "position": rng.normal(size=3),
                "orientation": turn / np.linalg.norm(turn),
                "velocity": rng.normal(size=3),
                "angular_velocity": rng.normal(size=3),
            }
        )
    for k in order if order is not None else range(6):
        scene.add_body(**bodies[k])
    kinds = rng.permutation(list(JOINTS))
    for i in range(5):
        scene.add_joint(JOINTS[kinds[i]](f"b{rng.integers(i + 1)}", f"b{i + 1}", rng.normal(size=3)))
    if ground:
        scene.add_joint(mc.BallJoint(None, "b0", anchor=rng.normal(size=3)))
    if loop:
        scene.add_joint(mc.DistanceJoint("b0", "b5", bodies[0]["position"], bodies[5]["position"]))
    return scene


def twists(world):
    at = [world.body_names.index(f"b{i}") for i in range(6)]
    return np.hstack([world.velocities[at], world.angular_velocities[at]])


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("ground, loop", [(False, False), (True, False), (False, True)])
def test_both_worlds_begin_alike_in_any_order(seed, ground, loop):
    """The order of the bodies decided which of them moved."""
    worlds = [
        mc.ReducedWorld(tangle(seed, order, ground, loop), dt=1e-6)
        for order in (None, np.random.default_rng(seed).permutation(6))
    ]
    if not loop:
        assert twists(worlds[0]) == pytest.approx(twists(worlds[1]), abs=1e-12)
    maximal = mc.World(tangle(seed, None, ground, loop), dt=1e-6)
    for world in (*worlds, maximal):
        world.step(2)
    for world in worlds:
        assert twists(world) == pytest.approx(twists(maximal), abs=3e-4)
    if not ground:
        asked = sum(body.mass * np.array(body.velocity) for body in tangle(seed).bodies)
        assert worlds[0].momentum()[0] == pytest.approx(asked, abs=1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_allowed_velocities_are_kept_to_the_bit(seed):
    world = mc.ReducedWorld(tangle(seed))
    world.qd = np.random.default_rng(seed).normal(size=len(world.qd))
    state, read = world.to_maximal(), world.system.coordinates(*world.to_maximal())[1]
    world.from_maximal(*state)
    assert np.array_equal(world.qd, read)


@pytest.mark.parametrize("seed", range(4))
def test_what_is_taken_over_and_what_is_set(seed):
    """from_maximal(project=True), set_velocity of a root with bodies on it, a joint that comes later."""
    rng = np.random.default_rng(seed)
    world = mc.ReducedWorld(tangle(seed), dt=1e-6)
    x, o, v, w = world.to_maximal()
    v, w = rng.normal(size=v.shape), rng.normal(size=w.shape)
    masses = np.array([body.mass for body in world.scene.bodies])
    world.from_maximal(x, o, v, w, project=True)
    assert world.momentum()[0] == pytest.approx((masses[:, None] * v).sum(axis=0), abs=1e-12)

    root = next(link for link in world.system.links if link.parent < 0)
    v, w = world.velocities.copy(), world.angular_velocities.copy()
    v[root.body_number] += (1.0, 2.0, 3.0)
    world.set_velocity(root.body, velocity=v[root.body_number])
    moved = world.qd.copy()
    world.from_maximal(x, o, v, w, project=True)
    assert moved == pytest.approx(world.qd, abs=1e-12)

    momentum = world.momentum()
    world.add_body("late", mass=2.0, inertia=(0.3, 0.3, 0.3), position=(3, 0, 0), velocity=(1, 0, 0))
    world.add_joint(mc.BallJoint("b0", "late", anchor=(2, 0, 0)))
    assert world.momentum()[0] == pytest.approx(momentum[0] + (2, 0, 0), abs=1e-12)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("ground, loop", [(False, False), (True, False), (False, True)])
@pytest.mark.sampled(5)
def test_the_velocity_of_any_body_is_set(seed, ground, loop):
    """A body on a joint was refused. It gets what it has in a World after a step, and what from_maximal projects."""
    rng = np.random.default_rng(seed)
    for name in (f"b{i}" for i in range(6)):
        world = mc.ReducedWorld(tangle(seed, None, ground, loop), dt=1e-6)
        world.step(2)
        maximal = mc.World(tangle(seed, None, ground, loop), dt=1e-6)
        maximal.step(2)
        x, o, v, w = world.to_maximal()
        i = world.body_names.index(name)
        asked, spin = rng.normal(size=3), rng.normal(size=3) if rng.random() < 0.7 else None
        momentum = world.momentum()[0] + world.scene.bodies[i].mass * (asked - v[i])
        v[i], w[i] = asked, w[i] if spin is None else spin
        for each in (world, maximal):
            each.set_velocity(name, asked, spin)
        if not ground:
            assert world.momentum()[0] == pytest.approx(momentum, abs=1e-9)
        moved = world.qd.copy()
        world.from_maximal(x, o, v, w, project=True)
        assert moved == pytest.approx(world.qd, abs=1e-9)
        world.qd = moved
        for each in (world, maximal):
            each.step(2)
        assert twists(world) == pytest.approx(twists(maximal), abs=2e-3)


def test_a_refused_velocity_changes_nothing():
    world = mc.ReducedWorld(tangle(0, ground=True))
    before = world.state_hash()
    for call in (
        lambda: world.set_velocity("b3", (0, 0, np.nan)),
        lambda: world.set_velocity("b3", (1, 0, 0), (0, np.inf, 0)),
        lambda: world.set_pose("b3", (0, 0, 1)),
    ):
        with pytest.raises(mc.SceneError, match="set_velocity|b3.*hangs on joint"):
            call()
        assert world.state_hash() == before


def test_a_kinematic_body_gives_its_velocity():
    scene = mc.Scene(gravity=(0, 0, 0))
    scene.add_body("cart", kind="kinematic", shape=mc.Box((0.1, 0.1, 0.1)), velocity=(1, 0, 0))
    scene.add_body("bob", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(0, 0, -1), velocity=(0, 1, 0))
    scene.add_joint(mc.BallJoint("cart", "bob", anchor=(0, 0, 0)))
    reduced, maximal = mc.ReducedWorld(scene, dt=1e-6), mc.World(scene, dt=1e-6)
    maximal.step()
    assert np.array_equal(reduced.velocities[0], (1, 0, 0))
    assert reduced.velocities[1] == pytest.approx(maximal.velocities[1], abs=1e-5)
    assert reduced.angular_velocities[1] == pytest.approx(maximal.angular_velocities[1], abs=1e-5)
