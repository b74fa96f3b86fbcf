"""The stabilizations side by side: drift, energy while errors are mended, rest, limits, motors, both solvers."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import mcsim as mc
from mcsim.world.capabilities import STABILIZATIONS
from mechanism_scenes import G, double_pendulum, four_bar, four_bar_at, pendulum

# Those that solve for positions; the pendulum's hinge in 5 s of swinging: the largest gap that they leave [m].
POSITION = {"split_impulse": 2e-3, "projection": 1e-10, "ggl": 1e-7}
by_position = pytest.mark.parametrize("stabilization", POSITION)
by_every_name = pytest.mark.parametrize("stabilization", STABILIZATIONS)
solvers = pytest.mark.parametrize("solver", ["si", "pgs"])


def largest_gap(world, steps):
    """-> the largest position error of any joint at the end of any step [m]"""
    gap = 0.0
    for _ in range(steps):
        world.step()
        gap = max(gap, world.joint_errors()[:, 0].max())
    return gap


# ---- drift -----------------------------------------------------------------------------------------------------------


@solvers
@by_position
def test_a_pendulum_stays_on_its_hinge(stabilization, solver):
    gap = largest_gap(mc.World(pendulum(), stabilization=stabilization, solver=solver), 300)
    assert gap < POSITION[stabilization]
    assert largest_gap(mc.World(pendulum(), stabilization="none"), 300) > 20 * gap


@by_position
def test_a_double_pendulum_stays_together(stabilization):
    tolerance = {"split_impulse": 0.01, "projection": 1e-8, "ggl": 1e-5}[stabilization]
    assert largest_gap(mc.World(double_pendulum(), stabilization=stabilization, iterations=30), 300) < tolerance


@solvers
@by_position
def test_a_driven_four_bar_follows_its_closed_form(stabilization, solver):
    """The loop's rocker angle by the intersection of circles, and its hinges, over a turn of the crank."""
    tolerance = {"split_impulse": 1e-3, "projection": 1e-6, "ggl": 1e-5}[stabilization]
    world = mc.World(four_bar(0.6, 4.0), dt=1 / 120, iterations=50, stabilization=stabilization, solver=solver)
    for _ in range(190):
        world.step()
        expected = four_bar_at(0.6 + 4.0 * world.time) - four_bar_at(0.6)
        assert abs(np.angle(np.exp(1j * (world.joint("pivot").angle - expected)))) < tolerance + 1e-9
        assert world.joint_errors()[:, 0].max() < tolerance


def test_more_rounds_leave_less():
    """Newton's method: with solves that converge, each round of ggl and of projection takes most of what is left."""
    for stabilization in ("projection", "ggl"):
        gaps = [
            largest_gap(
                mc.World(double_pendulum(), stabilization=stabilization, iterations=100, position_rounds=rounds), 60
            )
            for rounds in (1, 2, 3)
        ]
        assert gaps[1] < gaps[0] / 20 and gaps[2] < max(gaps[1] / 5, 1e-12), gaps


@by_position
def test_velocities_fit_the_joints(stabilization):
    """After a substep of projection and ggl J v = 0 at the new pose; split_impulse leaves a velocity of order h."""
    world = mc.World(double_pendulum(), stabilization=stabilization, iterations=60)
    world.step(100)
    off = np.abs(world.jacobian() @ np.concatenate([world.velocities, world.angular_velocities], axis=1).ravel()).max()
    assert off < 1e-8 if stabilization != "split_impulse" else off > 1e-3


# ---- energy ----------------------------------------------------------------------------------------------------------


def torn(seed):
    """Four bodies at rest without gravity on joints of all kinds, pulled apart by centimetres and some degrees."""
    rng = np.random.default_rng(seed)
    scene = mc.Scene(gravity=(0, 0, 0))
    for i in range(4):
        scene.add_body(f"b{i}", mass=rng.uniform(0.5, 2), inertia=rng.uniform(0.9, 1.2, 3) * 0.1, position=(i, 0, 0))
    scene.add_joint(mc.BallJoint("b0", "b1", (0.5, 0, 0)))
    scene.add_joint(mc.HingeJoint("b1", "b2", (1.5, 0, 0), (0, 1, 0), limits=(-0.1, 0.1)))
    scene.add_joint(mc.FixedJoint("b2", "b3"))
    if seed % 2:
        scene.add_joint(mc.SliderJoint(None, "b0", (1, 0, 0)))
    world_of = lambda **keywords: mc.World(scene, **keywords)
    return world_of, 0.05 * rng.normal(size=(4, 3)), 0.05 * rng.normal(size=(4, 4))


@solvers
@by_position
@settings(max_examples=8)
@given(seed=st.integers(0, 1000))
def test_torn_joints_close_without_a_speed(stabilization, solver, seed):
    """Joints that are open, with all at rest, close; no body ever has a velocity, to the bit."""
    world_of, shift, turn = torn(seed)
    world = world_of(stabilization=stabilization, solver=solver, iterations=20)
    world.positions[...] += shift
    world.orientations[...] += turn
    world.step(1)
    for _ in range(20):
        world.step(3)
        assert not np.any(world.velocities) and not np.any(world.angular_velocities)
    assert world.joint_errors().max() < 1e-3


@by_position
@settings(max_examples=8)
@given(depth=st.floats(0.002, 0.2), tilt=st.floats(-0.3, 0.3))
def test_overlaps_part_without_a_speed(stabilization, depth, tilt):
    """Two boxes inside each other, at rest: they part, down to the slop, and stay at rest."""
    scene = mc.Scene(gravity=(0, 0, 0))
    box = mc.Box((0.5, 0.5, 0.5))
    scene.add_body("a", shape=box)
    scene.add_body("b", shape=box, position=(0, 0, 1 - depth), orientation=(np.cos(tilt), 0, np.sin(tilt), 0))
    world = mc.World(scene, stabilization=stabilization)
    world.step(60)
    assert not np.any(world.velocities) and not np.any(world.angular_velocities)
    assert not len(world.contacts) or world.contacts["separation"].min() > -0.001
    assert np.linalg.norm(world.positions[1] - world.positions[0]) >= 1 - depth


def test_baumgarte_gives_them_a_speed():
    """The same overlap under baumgarte, so that the test above could fail."""
    scene = mc.Scene(gravity=(0, 0, 0))
    scene.add_body("a", shape=mc.Box((0.5, 0.5, 0.5)))
    scene.add_body("b", shape=mc.Box((0.5, 0.5, 0.5)), position=(0, 0, 0.9))
    world = mc.World(scene, stabilization="baumgarte")
    world.step(10)
    assert world.energy().kinetic > 1.0


@by_position
def test_an_open_pendulum_gains_no_kinetic_energy_in_motion(stabilization):
    """A bob that turns about a pivot 10 cm too far away comes in without speeding up: |v| never grows, without
    gravity."""
    scene = pendulum()
    scene.gravity = (0, 0, 0)
    world = mc.World(scene, stabilization=stabilization)
    world.positions[0, 0] += 0.1
    world.velocities[0] = (0, 0, -3.0)
    world.angular_velocities[0] = (0, 3.0, 0)
    last = world.energy().kinetic
    for _ in range(60):
        world.step()
        now = world.energy().kinetic
        assert now <= last * (1 + 1e-13)
        last = now
    assert world.joint_errors()[0, 0] < POSITION[stabilization] and last > 1.0


@by_position
def test_a_swinging_pendulum_gains_nothing(stabilization):
    """Swings of ten seconds: it never comes higher than it began (the tangent drift only takes)."""
    world = mc.World(pendulum(), stabilization=stabilization)
    start = world.energy().total
    for _ in range(600):
        world.step()
        assert world.energy().total < start
    assert world.energy().total > start - 0.3 * G


# ---- rest, limits, motors --------------------------------------------------------------------------------------------


@solvers
@by_every_name
def test_a_stack_rests(stabilization, solver):
    world = mc.World(mc.scenes.build("stack", count=5), stabilization=stabilization, solver=solver)
    start = world.positions.copy()
    world.step(600)
    assert np.abs(world.velocities).max() < 1e-8
    assert np.abs(world.positions - start).max() < 0.005
    assert world.contacts["separation"].min() > -0.0015


@by_position
def test_a_deep_body_comes_out_no_faster_than_push_speed_and_stays(stabilization):
    scene = mc.Scene()
    scene.add_body("floor", kind="static", shape=mc.Plane((0, 0, 1)))
    scene.add_body("deep", shape=mc.Box((0.5, 0.5, 0.5)), position=(0, 0, -1))
    world = mc.World(scene, stabilization=stabilization, push_speed=2.0)
    height = world.positions[1, 2]
    for _ in range(180):
        world.step()
        rise = world.positions[1, 2] - height
        assert rise < 2.0 * world.dt * (2 if stabilization != "split_impulse" else 1) + 1e-7  # two rounds a substep
        assert np.abs(world.velocities).max() < 1e-7  # friction has the last word in a sweep
        height += rise
    assert height == pytest.approx(0.5, abs=0.001)


@solvers
@by_position
def test_a_limit_holds(stabilization, solver):
    """A pendulum falls onto its limit and hangs there, at the closed form's reaction."""
    scene = mc.Scene()
    scene.add_body("bob", mass=2.0, inertia=(0.02,) * 3, position=(1, 0, 0))
    scene.add_joint(mc.HingeJoint(None, "bob", (0, 0, 0), (0, -1, 0), name="pivot", limits=(-0.5, 0.5)))
    world = mc.World(scene, stabilization=stabilization, solver=solver)
    world.step(480)
    assert world.joint("pivot").angle == pytest.approx(-0.5, abs=1e-6)
    assert np.abs(world.velocities).max() < 1e-9
    assert world.joint("pivot").force == pytest.approx((0, 0, 2.0 * G), rel=1e-9, abs=1e-9)


@by_position
def test_springs_and_motors_keep_their_balance(stabilization):
    """A position motor carries an arm where its torque equals the weight's, the same under every name: the position
    solves leave springs and motors alone."""
    angles = []
    for name in ("soft", stabilization):
        scene = mc.Scene()
        scene.add_body("arm", mass=1.0, inertia=(0.1,) * 3, position=(0.5, 0, 0))
        scene.add_joint(
            mc.HingeJoint(
                None,
                "arm",
                (0, 0, 0),
                (0, -1, 0),
                name="pivot",
                spring=mc.Spring(40.0, 4.0),
                motor=mc.Motor(position=0.1, hertz=2.0, damping_ratio=1.0, max_force=50.0),
            )
        )
        world = mc.World(scene, stabilization=name)
        world.step(600)
        assert np.abs(world.velocities).max() < 1e-5
        angles.append(world.joint("pivot").angle)
    assert angles[1] == pytest.approx(angles[0], abs=1e-6)


@by_position
def test_a_spinning_pair_keeps_its_momentum_while_it_is_mended(stabilization):
    """Two bodies fly apart by a joint that is open: it closes, and neither momentum changes by more than rounding."""
    scene = mc.Scene(gravity=(0, 0, 0))
    for name, x in (("a", -0.5), ("b", 0.5)):
        scene.add_body(
            name,
            mass=1.0 if x < 0 else 3.0,
            inertia=(0.02, 0.05, 0.06),
            position=(x, 0, 0),
            velocity=(0, 4 * x, 1),
            angular_velocity=(0, 1, 4),
        )
    scene.add_joint(mc.BallJoint("a", "b", (0, 0, 0)))
    world = mc.World(scene, stabilization=stabilization)
    world.positions[1, 0] += 0.2
    linear, angular = world.momentum()
    world.step(120)
    assert world.joint_errors()[0, 0] < 0.02
    assert world.momentum()[0] == pytest.approx(linear, abs=1e-12)
    assert world.momentum()[1] == pytest.approx(angular, abs=1e-12)


@pytest.mark.parametrize("name, gap", [("projection", 1e-12), ("ggl", 1e-7), ("split_impulse", 1e-2)])
def test_direct_joints_are_mended_too(name, gap):
    """joint_solver="tree": a falling chain, its position errors solved by the factorization."""
    scene = mc.Scene()
    for i in range(4):
        scene.add_body(f"b{i}", mass=1.0, inertia=(0.1, 0.12, 0.05), position=(i + 0.5, 0, 0))
        scene.add_joint(mc.BallJoint(f"b{i - 1}" if i else None, f"b{i}", anchor=(i, 0, 0)))
    world = mc.World(scene, stabilization=name, joint_solver="tree")
    world.step(240)
    assert np.abs(world.joint_errors()).max() < gap
    assert world.energy().kinetic > 1.0
