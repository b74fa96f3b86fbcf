"""Joints whose bodies sleep are let be, the others go on as if they were alone."""

import numpy as np
import pytest

import mcsim as mc
from mcsim.scenes.ragdoll import add_doll, simple_doll

FROZEN_ABOVE = 50.0  # a mechanism that is to sleep hangs this high: nothing touches it


def doll(scene, name, at):
    add_doll(
        scene,
        name,
        simple_doll(),
        np.asarray(at),
        (0.8, 0.36, 0.48, 0.0),
        lambda kind: {"density": 1000.0},
        joint_friction=2.0,
    )


def hung_chain(scene, name, at):
    """Ball joints alone: the solver's own kernels for those."""
    for i in range(7):
        scene.add_body(f"{name}{i}", mass=1.0 + 0.2 * i, inertia=(0.09, 0.08, 0.02), position=np.add(at, (i + 0.5, 0, 0)))
        scene.add_joint(mc.BallJoint(f"{name}{i - 1}" if i else None, f"{name}{i}", anchor=np.add(at, (i, 0, 0))))


def ring(scene, name, at):
    """A free loop of hinges and ball joints: taken in fronts."""
    for i in range(6):
        turn = np.pi * i / 3
        scene.add_body(
            f"{name}{i}", mass=1.0, inertia=(0.1, 0.12, 0.15), position=np.add(at, (np.cos(turn), np.sin(turn), 0))
        )
    for i in range(6):
        middle = np.add(at, (np.cos(np.pi * (i + 0.5) / 3), np.sin(np.pi * (i + 0.5) / 3), 0))
        ends = f"{name}{i}", f"{name}{(i + 1) % 6}"
        scene.add_joint(
            mc.HingeJoint(*ends, anchor=middle, axis=(0, 0.6, 0.8), limits=(-0.3, 0.5))
            if i % 2
            else mc.BallJoint(*ends, anchor=middle)
        )


def geared(scene, name, at):
    """Two wheels on a free beam, tied by a gear: the border."""
    scene.add_body(f"{name}beam", mass=3.0, inertia=(0.5, 0.4, 0.3), position=at)
    for i, x in enumerate((-0.5, 0.5)):
        scene.add_body(f"{name}wheel{i}", mass=1.0, inertia=(0.1, 0.1, 0.2), position=np.add(at, (x, 0, 0.1)))
        scene.add_joint(
            mc.HingeJoint(
                f"{name}beam", f"{name}wheel{i}", anchor=np.add(at, (x, 0, 0)), axis=(0, 0, 1), name=f"{name}pin{i}"
            )
        )
    scene.add_joint(mc.GearJoint(f"{name}pin0", f"{name}pin1", ratio=-2.0))


MECHANISMS = {"doll": doll, "chain": hung_chain, "ring": ring, "gear": geared}


def start(names, kind, settings, gravity=0.0):
    """A world with the mechanisms of these names, in motion; and the numbers of each one's bodies. Joints are what this
    is about: no body is without one, and where there is no gravity nothing else moves those that sleep."""
    scene = mc.Scene(gravity=(0, 0, -gravity))
    bodies = {}
    for name in names:
        first = len(scene.bodies)
        MECHANISMS[kind](scene, name, (0.0, 0.0, FROZEN_ABOVE * "abc".index(name)))
        bodies[name] = np.arange(first, len(scene.bodies))
    world = mc.World(scene, **settings)
    for name in names:
        pushes = np.random.default_rng("abc".index(name)).normal(size=(len(bodies[name]), 2, 3))
        world.velocities[bodies[name]] = 0.5 * pushes[:, 0]
        world.angular_velocities[bodies[name]] = pushes[:, 1]
    return world, bodies


def state(world, chosen):
    return np.hstack(
        [world.positions[chosen], world.orientations[chosen], world.velocities[chosen], world.angular_velocities[chosen]]
    )


def lay_asleep(world, bodies):
    asleep = np.zeros(len(world.positions), np.int8)
    asleep[bodies] = 1
    world._pipeline.choose(asleep)


@pytest.mark.parametrize("kind", MECHANISMS)
def test_what_sleeps_keeps_its_bits_and_the_others_go_on_as_if_alone(kind):
    """By turns each of two sleeps while the other moves: both move as they would beside one that never wakes. A world's
    first step, which takes more sweeps, is another for those that begin later."""
    settings = {"first_iterations": 4}
    both, bodies = start("ab", kind, settings)
    alone = {name: start(name + "c", kind, settings)[0] for name in "ab"}
    for name in "ab":
        lay_asleep(alone[name], np.arange(len(bodies[name]), 2 * len(bodies[name])))
    for name, other in ("ab", "ba", "ab"):
        kept = state(both, bodies[other])
        lay_asleep(both, bodies[other])
        both.step(40)
        alone[name].step(40)
        assert np.array_equal(state(both, bodies[other]), kept)
        assert np.array_equal(state(both, bodies[name]), state(alone[name], slice(len(bodies[name]))))


@pytest.mark.parametrize(
    "settings",
    [{"joint_solver": "rows"}, {"solver": "pgs"}, {"stabilization": "projection"}],
    ids=lambda settings: "-".join(settings.values()),
)
@pytest.mark.parametrize("kind", MECHANISMS)
def test_row_by_row_what_sleeps_at_rest_has_no_part_either(kind, settings):
    both, bodies = start("ab", kind, settings)
    alone, _ = start("a", kind, settings)
    both.velocities[bodies["b"]] = both.angular_velocities[bodies["b"]] = 0.0
    kept = state(both, bodies["b"])
    lay_asleep(both, bodies["b"])
    both.step(40)
    alone.step(40)
    assert both.stats.rows == alone.stats.rows
    assert np.array_equal(state(both, bodies["b"]), kept)
    assert np.array_equal(state(both, bodies["a"]), state(alone, slice(None)))


@pytest.mark.parametrize("kind", MECHANISMS)
def test_nobody_asleep_is_as_before(kind):
    """To the bit."""
    chosen, _ = start("abc", kind, {})
    plain, _ = start("abc", kind, {})
    lay_asleep(chosen, [])
    chosen.step(60)
    plain.step(60)
    assert np.array_equal(state(chosen, slice(None)), state(plain, slice(None)))


def test_what_wakes_begins_with_its_impulses():
    """A chain hung at rest: the force in its joints is there again at once."""
    world, bodies = start("ab", "chain", {}, gravity=9.81)
    world.velocities[:] = world.angular_velocities[:] = 0.0
    world.step(3)
    held = world._pipeline.space.measured()["impulse"].copy()
    lay_asleep(world, bodies["a"])
    world.step(20)
    after = world._pipeline.space.measured()["impulse"]
    assert np.array_equal(after[:7], held[:7]) and not np.array_equal(after[7:], held[7:])
