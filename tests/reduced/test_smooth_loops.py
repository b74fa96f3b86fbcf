"""integrator="rk4" in generalized coordinates: loops, gears and springs are part of the accelerations, so the method keeps
its order, and World comes to the same limit.
"""

import itertools

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import mcsim as mc
from mcsim.reduced import Formulation


def parallelogram(angle=0.0, speed=0.0, limits=None, **bar):
    """Two cranks of 1 m and a bar of 1 m, 1 kg each, turned by an angle from upright: singular where all lie in one line.
    limits: of the left crank; bar: keywords of the bar."""
    scene = mc.Scene(name="parallelogram")
    along = np.array((np.sin(angle), 0.0, np.cos(angle)))
    across = speed * np.array((np.cos(angle), 0.0, -np.sin(angle)))
    turned = (np.cos(angle / 2), 0.0, np.sin(angle / 2), 0.0)
    for name, x in (("left", 0.0), ("right", 1.0)):
        scene.add_body(
            name,
            mass=1.0,
            inertia=(1 / 12, 1 / 12, 1e-3),
            position=0.5 * along + (x, 0, 0),
            orientation=turned,
            velocity=0.5 * across,
            angular_velocity=(0, speed, 0),
        )
        scene.add_joint(mc.HingeJoint(None, name, (x, 0, 0), (0, 1, 0), limits=limits if name == "left" else None))
    inertia = (1e-3, 1 / 12, 1 / 12)
    scene.add_body("bar", mass=1.0, inertia=inertia, position=along + (0.5, 0, 0), velocity=across, **bar)
    scene.add_joint(mc.HingeJoint("left", "bar", anchor=along, axis=(0, 1, 0)))
    scene.add_joint(mc.HingeJoint("right", "bar", anchor=along + (1, 0, 0), axis=(0, 1, 0)))
    return scene


def crank_angles(times, speed):
    """Of the parallelogram, whose bar does not turn: (2/3 + 1) angle'' = 2 g sin(angle)."""
    found = solve_ivp(
        lambda _, y: (y[1], 2.0 * 9.81 * np.sin(y[0]) / (5.0 / 3.0)),
        (0.0, times[-1]),
        (0.0, speed),
        "DOP853",
        times,
        rtol=1e-13,
        atol=1e-13,
    )
    return found.y[0]


@pytest.mark.parametrize("dt, closeness", [(5e-3, 1e-6), (2e-3, 2e-8)])
def test_a_parallelogram_passes_its_singular_poses(dt, closeness):
    """Twenty seconds, through 22 poses at which the bars lie in one line and another branch begins: it keeps to its own."""
    world = mc.ReducedWorld(parallelogram(speed=1.0), dt=dt, integrator="rk4")
    energy = world.energy().total
    times = np.linspace(0.0, 20.0, 101)
    for angle in crank_angles(times, 1.0)[1:]:
        world.step(round(0.2 / dt))
        assert np.allclose(world.positions[2], (0.5 + np.sin(angle), 0.0, np.cos(angle)), rtol=0.0, atol=closeness), (
            world.time
        )
    assert world.energy().total == pytest.approx(energy, abs=closeness)
    assert world.loop_errors().max() < 1e-13 and not world.stats.notes


@pytest.mark.parametrize("off", [0.3, 1e-2, 1e-3])
def test_accelerations_are_those_of_the_whole_system_near_a_singular_pose(off):
    """Against the dense equations of chapter 3, three of whose rows say nothing new."""
    world = mc.ReducedWorld(parallelogram(np.pi / 2 - off, speed=2.0), dt=1e-9, integrator="rk4")
    world.step()
    dense = Formulation(world.system, world.q, world.qd)
    assert dense.redundant_rows == 3
    expected = dense.joint_accelerations()
    assert np.allclose(world._space.qdd, expected, rtol=0.0, atol=1e-10 * np.abs(expected).max())


def test_loop_forces_are_those_of_the_whole_system():
    """In its plane, which is all that the rows of a planar loop decide alone."""
    world = mc.ReducedWorld(mc.load("four_bar", driven=False), dt=1e-3, integrator="rk4")
    world.step(200)
    loop = world.system.loops[0].joint.name
    dense = Formulation(world.system, world.q, world.qd)
    found = world.joint(loop)
    expected = dense.constraint_forces()[loop]
    assert np.allclose(found.force[[0, 2]], expected.world[[3, 5]], rtol=1e-9, atol=1e-9), found.force


# ---- order -----------------------------------------------------------------------------------------------------------


def arm(**elbow):
    scene = mc.Scene(name="arm")
    scene.add_body("upper", mass=1.0, inertia=(0.02, 0.03, 0.01), position=(0.25, 0, 0))
    scene.add_body("lower", mass=0.7, inertia=(0.01, 0.02, 0.03), position=(0.8, 0, 0))
    scene.add_joint(mc.HingeJoint(None, "upper", anchor=(0, 0, 0), axis=(0, 1, 0), name="shoulder"))
    scene.add_joint(mc.HingeJoint("upper", "lower", anchor=(0.5, 0, 0), axis=(0.1, 1, 0), name="elbow", **elbow))
    return scene


def with_a_spring_of_a_hinge():
    return arm(spring=mc.Spring(30, 0.3, 0.2))


def with_a_spring_between_points():
    scene = arm()
    scene.add_joint(mc.DistanceJoint(None, "lower", (0.3, 0.2, 0.8), (0.9, 0, 0), spring=mc.Spring(60, 0.5, 0.5)))
    return scene


def with_a_gear():
    scene = arm()
    scene.add_joint(mc.GearJoint("shoulder", "elbow", -2.0))
    return scene


def with_a_loop_in_space():
    scene = arm()
    scene.add_body("rod", mass=0.5, inertia=(0.01, 0.02, 0.03), position=(1.3, 0, 0.3))
    scene.add_joint(mc.BallJoint("lower", "rod", anchor=(1.1, 0, 0)))
    scene.add_joint(mc.UniversalJoint(None, "rod", anchor=(1.5, 0, 0.6), axis_a=(0, 1, 0), axis_b=(0.6, 0, -0.8)))
    return scene


def with_damping():
    scene = mc.Scene(name="damped")
    scene.add_body(
        "rod", mass=1.0, inertia=(0.02, 0.03, 0.01), position=(0.25, 0, 0), linear_damping=0.7, angular_damping=1.1
    )
    scene.add_joint(mc.HingeJoint(None, "rod", anchor=(0, 0, 0), axis=(0, 1, 0)))
    return scene


SMOOTH = [with_a_spring_of_a_hinge, with_a_spring_between_points, with_a_gear, with_a_loop_in_space, with_damping]


@pytest.mark.parametrize("kind", [mc.ReducedWorld, mc.World])
@pytest.mark.parametrize("make", SMOOTH)
def test_smooth_scenes_have_fourth_order(make, kind):
    """Differences of a second's motion at steps of 5, 2.5 and 1.25 ms."""
    ends = []
    for n in (200, 400, 800):
        world = kind(make(), dt=1.0 / n, substeps=1, integrator="rk4")
        world.step(n)
        ends.append(world.positions.copy())
    coarse, fine = (np.abs(a - b).max() for a, b in itertools.pairwise(ends))
    assert 3.5 < np.log2(coarse / fine) < 4.5, (coarse, fine)
    assert fine < 1e-7 and not world.stats.notes


@pytest.mark.parametrize("make", SMOOTH)
def test_both_coordinates_come_to_one_limit(make):
    ends = []
    for kind in (mc.ReducedWorld, mc.World):
        world = kind(make(), dt=5e-4, substeps=1, integrator="rk4")
        world.step(2000)
        ends.append(world.positions.copy())
    assert np.allclose(*ends, rtol=0.0, atol=2e-9), np.abs(ends[0] - ends[1]).max()


# ---- what has bounds beside it ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("struck", ["limit", "floor"])
def test_loops_stay_closed_where_a_limit_or_a_floor_stops_them(struck):
    """A parallelogram that falls over comes to rest, and is closed all the time. Sweeps take limits and loops in turn: how
    well both hold is a matter of their number."""
    on_floor = struck == "floor"
    scene = parallelogram(0.3, **({"shape": mc.Box((0.5, 0.05, 0.05))} if on_floor else {"limits": (-2.0, 0.8)}))
    if on_floor:
        scene.add_body("floor", kind="static", shape=mc.Plane((0, 0, 1), -0.5))
    world = mc.ReducedWorld(scene, dt=2e-3, integrator="rk4", iterations=32)
    for _ in range(100):
        world.step(20)
        assert world.loop_errors().max() < 1e-12
        assert np.ptp(world.angular_velocities[:2, 1]) < 1e-10 and np.abs(world.angular_velocities[2]).max() < 1e-10
    assert np.abs(world.qd).max() < 1e-6
    if on_floor:
        assert world.positions[2, 2] == pytest.approx(-0.45, abs=2e-3)
    else:
        assert world.joint(0).angle == pytest.approx(0.8, abs=1e-3)


# ---- motors ----------------------------------------------------------------------------------------------------------


def driven_four_bar(torque):
    """Three bars that hang together, without gravity; a motor at its bound turns the first."""
    scene = mc.Scene(gravity=(0, 0, 0))
    points = np.array(((0, 0, 0), (0, 0, 0.3), (1, 0, 0.8), (1, 0, 0)), float)
    for name, start, end in zip(("crank", "coupler", "rocker"), points[:-1], points[1:]):
        way = end - start
        length = np.linalg.norm(way)
        half = 0.5 * np.arctan2(-way[2], way[0])
        inertia = (1e-3, length**3 / 12, length**3 / 12)
        turned = (np.cos(half), 0, np.sin(half), 0)
        scene.add_body(name, mass=length, inertia=inertia, position=(start + end) / 2, orientation=turned)
    motor = mc.Motor(velocity=1e6, max_force=torque)
    scene.add_joint(mc.HingeJoint(None, "crank", points[0], (0, 1, 0), motor=motor))
    for a, b, point in (("crank", "coupler", points[1]), ("coupler", "rocker", points[2]), ("rocker", None, points[3])):
        scene.add_joint(mc.HingeJoint(a, b, point, (0, 1, 0)))
    return scene


@pytest.mark.parametrize("stabilization", ["projection", "soft", "none"])
def test_a_motor_at_its_bound_does_all_of_its_work_on_a_mechanism(stabilization):
    """Half of it was lost from the second step on: what rows start with did not act on trees that loops tie."""
    off = []
    for dt in (2e-3, 1e-3):
        world = mc.ReducedWorld(driven_four_bar(5.0), dt=dt, integrator="rk4", stabilization=stabilization)
        world.step(round(0.5 / dt))
        off.append(abs(world.energy().total - 5.0 * world.joint(0).position))
    assert off[0] < 1e-2 * world.energy().total and off[1] < 0.6 * off[0], off
