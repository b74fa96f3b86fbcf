"""Linear and angular momentum in free flight: joints, limits, springs, motors and collisions between bodies only."""

import itertools

import numpy as np
import pytest

import mcsim as mc
from amounts import amount
from mcsim.world.capabilities import STABILIZATIONS

SOLVERS = (("si", "tree"), ("si", "rows"), ("pgs", "rows"))
WORLDS = [dict(stabilization=s, solver=v, joint_solver=j) for s in STABILIZATIONS for v, j in SOLVERS]
every_world = pytest.mark.parametrize("keywords", WORLDS, ids=lambda k: "-".join(k.values()))


def sizes(world):
    """Sums of the lengths of all bodies' momenta, by which the drift is measured: linear, angular."""
    p = world.masses[:, None] * world.velocities
    orbit = np.linalg.norm(world.positions, axis=1) * np.linalg.norm(p, axis=1)
    spins = [np.linalg.norm(world.body(i).inertia) * np.linalg.norm(w) for i, w in enumerate(world.angular_velocities)]
    return np.linalg.norm(p, axis=1).sum(), orbit.sum() + np.sum(spins)


def check_momentum(world, steps, pieces=10, tolerance=1e-12):
    """Both momenta stay to 1e-12 of the largest sum of the bodies' own."""
    start, scale = world.momentum(), np.array(sizes(world))
    for _ in range(pieces):
        world.step(steps // pieces)
        scale = np.maximum(scale, sizes(world))
        for now, before, size in zip(world.momentum(), start, scale):
            assert np.abs(now - before).max() < tolerance * size


def body(scene, rng, name, position, ratio=1.0):
    scene.add_body(
        name,
        mass=ratio * rng.uniform(0.5, 2),
        inertia=ratio * rng.uniform(0.9, 1.2, 3) * 0.1,
        position=position,
        orientation=(q := rng.normal(size=4)) / np.linalg.norm(q),
        velocity=rng.normal(size=3),
        angular_velocity=2 * rng.normal(size=3),
    )


def jointed(seed, driven=True, ratio=1.0):
    """A chain of all joints and a loop, with limits, motors, springs and friction on all of them."""
    rng = np.random.default_rng(seed)
    scene = mc.Scene(gravity=(0, 0, 0))
    for i in range(7):
        body(scene, rng, f"b{i}", (i, 0.2 * rng.normal(), 0.2 * rng.normal()), ratio ** (i % 2))
    spring, motor = mc.Spring(20.0, 0.3, 0.2), mc.Motor(velocity=3.0, max_force=2.0)
    one = dict(limits=(-0.3, 0.4), spring=spring, motor=motor, friction=0.1) if driven else {}
    two = dict(limits=((-0.3, 0.4), None), spring=(None, spring), motor=(motor, mc.Motor(position=0.5)), friction=0.1)
    three = dict(
        swing_limit=0.3,
        twist_limits=(-0.2, 0.1),
        spring=mc.Spring(5.0, 0.1),
        friction=0.05,
        motor=mc.Motor(velocity=(1.0, 0, 2.0), max_force=0.5),
    )
    joints = [
        mc.BallJoint("b0", "b1", (0.5, 0, 0), **(three if driven else {})),
        mc.UniversalJoint("b1", "b2", (1.5, 0, 0), (0, 0, 1), (0, 1, 0), **(two if driven else {})),
        mc.HingeJoint("b2", "b3", (2.5, 0, 0), (0, 1, 1), **one),
        mc.SliderJoint("b3", "b4", (1, 0, 1), **one),
        mc.FixedJoint("b4", "b5"),
        mc.HingeJoint("b5", "b6", (5.5, 0, 0), (0, 1, 0), **one),
        mc.BallJoint("b6", "b0", (3.0, 1, 0)),
        mc.HingeJoint("b5", "b6", (5.5, 0, 0.5), (0, 1, 0)),  # a second one between the same bodies
    ]
    for joint in joints:
        scene.add_joint(joint)
    return scene


@every_world
@pytest.mark.parametrize("driven", [False, True], ids=["free", "driven"])
def test_jointed_bodies_keep_their_momentum(keywords, driven):
    """All joint types in a loop, flying free for 2 s."""
    for seed in range(amount(1, 3)):
        check_momentum(mc.World(jointed(seed, driven), **keywords), 120)


@every_world
def test_open_joints_keep_the_momentum_too(keywords):
    """Joints pulled open by hand close again without a push from nowhere: both impulses act at one point."""
    world = mc.World(jointed(1), **keywords)
    rng = np.random.default_rng(5)
    world.positions[...] += 0.3 * rng.normal(size=world.positions.shape)
    check_momentum(world, 60)


@pytest.mark.parametrize("stabilization", ["projection", "ggl"])
@pytest.mark.parametrize("copies", [2, 3])
def test_hinges_that_contradict_each_other_keep_the_momentum(stabilization, copies):
    """Several hinges about one line hold two bodies whose first velocities none of them allows, so their curvatures
    contradict each other; a motor beside them keeps the sweeps going. Impulses that grew in each sweep by what no velocity
    can meet once took 5e-10 of the angular momentum by rounding."""
    rng = np.random.default_rng(copies)
    scene = mc.Scene(gravity=(0, 0, 0))
    for i in range(3):
        body(scene, rng, f"b{i}", (i, 0.2 * rng.normal(), 0.2 * rng.normal()))
    for k in range(copies):
        scene.add_joint(mc.HingeJoint("b0", "b1", (0.5, 0, 0.3 * k), (0, 0, 1)))
    scene.add_joint(mc.HingeJoint("b1", "b2", (1.5, 0, 0), (0, 1, 0), motor=mc.Motor(velocity=3.0, max_force=2.0)))
    check_momentum(mc.World(scene, stabilization=stabilization, first_iterations=3000), 20)


@every_world
def test_large_mass_ratios_keep_the_momentum(keywords):
    """Every second body is a thousand times heavier."""
    check_momentum(mc.World(jointed(2, driven=False, ratio=1000.0), **keywords), 60)


@pytest.mark.parametrize("friction", ["cone", "pyramid"])
@pytest.mark.parametrize("points", ["central", "point"])
@every_world
@pytest.mark.sampled(11)
def test_collisions_keep_the_momentum(keywords, points, friction):
    """A cloud of bodies of all shapes flies together, collides, rubs and bounces."""
    rng = np.random.default_rng(7)
    shapes = [
        mc.Box((0.2, 0.15, 0.1)),
        mc.Sphere(0.2),
        mc.Capsule(0.1, 0.15),
        mc.Cylinder(0.15, 0.1),
        mc.ConvexHull(rng.normal(size=(12, 3)) * 0.12),
    ]
    scene = mc.Scene(gravity=(0, 0, 0))
    for i, place in enumerate(itertools.product((-0.6, 0, 0.6), repeat=3)):
        q = rng.normal(size=4)
        scene.add_body(
            shape=shapes[i % 5],
            position=place,
            orientation=q / np.linalg.norm(q),
            velocity=-1.5 * np.array(place) + 0.3 * rng.normal(size=3),
            angular_velocity=2 * rng.normal(size=3),
            density=10.0 ** rng.uniform(2, 4),
            material=mc.Material(friction=0.7, restitution=0.4 * (i % 2)),
        )
    world = mc.World(scene, friction=friction, friction_points=points, **keywords)
    touched = 0
    start, scale = world.momentum(), np.array(sizes(world))
    for _ in range(60):
        world.step()
        touched += len(world.contacts)
        for now, before, size in zip(world.momentum(), start, scale):
            assert np.abs(now - before).max() < 1e-12 * size
    assert touched > 100


def test_linear_momentum_grows_by_gravity_alone():
    """Under gravity a jointed system's momentum is M g t, and its centre falls as a point does."""
    scene = jointed(3)
    scene.gravity = (1.0, 2.0, -9.81)
    world = mc.World(scene)
    start, mass = world.momentum()[0], world.masses.sum()
    world.step(60)
    assert world.momentum()[0] == pytest.approx(start + mass * np.array((1.0, 2.0, -9.81)), rel=1e-11)


def test_joints_closed_by_moving_bodies_keep_the_momentum():
    """Whips: a loop of light and heavy bodies that turn by 0.3 rad a substep, thrown open by 5 cm. Velocities cannot
    close it, so the bodies are moved; that once took a thousandth of the angular momentum."""
    for seed in (0, 2, 4):
        world = mc.World(jointed(seed, driven=False, ratio=1000.0), substeps=1)
        world.positions[...] += 0.05 * np.random.default_rng(5).normal(size=world.positions.shape)
        world.velocities[...] *= 10
        world.angular_velocities[...] *= 10
        check_momentum(world, 60)
