"""Blows on what a drive presses against something: where nothing can give, nobody is thrown (docs/theory/impacts.md)."""

import numpy as np
import pytest
from amounts import amount

import mcsim as mc
from test_twins import FASTEST, WORLDS, calm, done, drawn, start


def pressed(seed, stabilization):
    """A crank that turns as it must presses a bouncing body, which hangs on it by its centre, against the floor: a ball, a box
    or a capsule, on a hinge or a ball joint."""
    rng = np.random.default_rng(seed)
    scene, bouncing = mc.Scene(), mc.Material(restitution=0.6, friction=0.5)
    scene.add_body("floor", shape=mc.Plane((0, 0, 1)), kind="static", material=bouncing)
    scene.add_body("crank", mass=5, inertia=(0.1, 0.2, 0.3), position=(0, 0, 0.7))
    scene.add_body("wheel", shape=[mc.Box((0.3, 0.3, 0.3)), mc.Sphere(0.3), mc.Capsule(0.2, 0.2)][seed % 3], material=bouncing,
                   position=(0.5, 0, 0.7), angular_velocity=(0, 5 * rng.normal(), 0))
    scene.add_joint(mc.HingeJoint(None, "crank", (-0.5, 0, 0.7), (0, 1, 0), motion=mc.Motion(velocity=rng.uniform(0.8, 2))))
    scene.add_joint(mc.HingeJoint("crank", "wheel", (0.5, 0, 0.7), (0, 1, 0)) if seed % 2
                    else mc.BallJoint("crank", "wheel", (0.5, 0, 0.7)))
    return mc.World(scene, dt=1 / 120, stabilization=stabilization)


@pytest.mark.parametrize("stabilization", ["soft", "baumgarte", "split_impulse", "ggl", "projection"])
def test_nobody_is_thrown_by_a_drive_that_presses(stabilization):
    """Blows that were to throw back what only the drive moves were the inverse of rounding, 10^16 N s: 5e9 m/s by
    "split_impulse", 3e6 by "projection", and errors by "baumgarte"."""
    for seed in range(amount(6, 60)):
        world = pressed(seed, stabilization)
        for _ in range(100):
            world.step()
            assert np.abs(world.velocities).max() < 30.0, seed
            assert np.abs(world.angular_velocities).max() < 400.0, seed


@pytest.mark.parametrize("stabilization", ["soft", "baumgarte", "split_impulse", "ggl", "projection"])
def test_what_is_pressed_is_not_struck_again(stabilization):
    """What a drive has pressed deeper than a substep's way lands no more: each substep made 64 rounds of blows at it, 17,000
    and more here."""
    for seed in range(amount(6, 30)):
        world, blows = pressed(seed, stabilization), 0
        for _ in range(100):
            world.step()
            blows += world.stats.impacts
        assert 0 < blows < 5000, seed


def test_what_a_drive_throws_freely_still_bounces():
    """A kinematic bat at 2 m/s and a ball at rest, e = 0.6: 3.2 m/s; and a ball on a long arm that gives."""
    scene, bouncing = mc.Scene(gravity=(0, 0, 0)), mc.Material(restitution=0.6, friction=0.0)
    scene.add_body("bat", kind="kinematic", shape=mc.Box((0.1, 1, 1)), position=(-0.4, 0, 0), velocity=(2, 0, 0), material=bouncing)
    scene.add_body("ball", shape=mc.Sphere(0.1), position=(0, 0, 0), material=bouncing)
    world = mc.World(scene)
    world.step(30)
    assert world.velocities[1, 0] == pytest.approx(3.2, rel=1e-6)
    scene.add_joint(mc.HingeJoint(None, "ball", (0, 0, 1), (0, 1, 0)))
    world = mc.World(scene)
    world.step(12)
    assert np.abs(world.angular_velocities[1]).max() == pytest.approx(3.2, rel=0.02)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("seed", [509, 9000209])
def test_contradicting_joints_throw_nobody_away(seed):
    """Of the random twins: blows as above, and displacements; poses went to 1e5 and 7e23 m."""
    kind, keywords = WORLDS["split"]
    rng, world, kept = np.random.default_rng(seed), kind(start(seed), dt=1 / 120, **keywords), {}
    for count in range(80):
        done(drawn(rng, world, count)[1], world, kept)
        if not all(np.abs(part).max(initial=0.0) < FASTEST for part in (world.velocities, world.angular_velocities)):
            calm(world, kept)
        assert np.abs(world.positions).max() < 30.0, count
