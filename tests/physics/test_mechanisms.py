"""Mechanisms against closed forms and SciPy; where the error has an order in the step, the order is asserted."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.special import ellipk

import mcsim as mc
from mechanism_scenes import (
    G,
    cardan,
    double_pendulum,
    double_pendulum_rates,
    down,
    four_bar,
    four_bar_at,
    pendulum,
    rotation,
    slider_crank,
    slider_crank_at,
    steady_top,
)

# What the real-time stabilizations reach at a substep, and the projection-free one for comparison.
HELD = ("baumgarte", "soft")


def orders(errors):
    """Of successive errors at half the step each: log2 of their ratios."""
    return -np.diff(np.log2(np.abs(errors)))


# ---- pendulums -------------------------------------------------------------------------------------------------------


def period(world, steps):
    """From the zero crossings of the bob's x, interpolated."""
    x = []
    for _ in range(steps):
        world.step()
        x.append(world.positions[0, 0])
    x = np.array(x)
    at = np.nonzero(np.diff(np.sign(x)))[0]
    return 2 * np.diff(at + x[at] / (x[at] - x[at + 1])).mean() * world.dt


@pytest.mark.parametrize("joint", ["hinge", "ball"])
@pytest.mark.parametrize("stabilization", HELD)
def test_pendulum_period_at_90_degrees(stabilization, joint):
    """4 sqrt(l / g) K(sin^2 45°) with l = (I + m l^2) / (m l), to 1e-4 at four substeps and 1e-5 at 32."""
    length = 1.01
    exact = 4 * np.sqrt(length / G) * ellipk(0.5)
    for substeps, tolerance in ((4, 1e-4), (32, 1e-5)):
        world = mc.World(pendulum(joint=joint), substeps=substeps, stabilization=stabilization)
        assert period(world, 600) == pytest.approx(exact, rel=tolerance)


def test_an_unstabilized_pendulum_is_of_first_order():
    """Without stabilization the period's error and the joint's drift both halve with the step."""
    exact = 4 * np.sqrt(1.01 / G) * ellipk(0.5)
    errors, drifts = [], []
    for substeps in (16, 32, 64):
        world = mc.World(pendulum(), substeps=substeps, stabilization="none")
        errors.append(period(world, 480) / exact - 1)
        drifts.append(world.joint_errors()[0, 0])
    assert np.all(np.abs(orders(errors) - 1) < 0.15) and np.all(np.abs(orders(drifts) - 1) < 0.1), (errors, drifts)


@pytest.mark.parametrize("stabilization", HELD)
def test_joint_error_falls_with_the_square_of_the_step(stabilization):
    """The largest gap of a swinging pendulum's joint: order 2 in the substep. As rows: direct joints leave no gap."""
    gaps = []
    for substeps in (4, 8, 16, 32):
        world = mc.World(pendulum(), substeps=substeps, stabilization=stabilization, joint_solver="rows")
        gap = 0.0
        for _ in range(150):
            world.step()
            gap = max(gap, world.joint_errors()[0, 0])
        gaps.append(gap)
    assert np.all(np.abs(orders(gaps) - 2) < 0.2) and gaps[0] < 2e-3, gaps


@pytest.mark.parametrize("substeps", [1, 4, 16])
def test_direct_joints_leave_no_gap(substeps):
    """The default: a swinging pendulum's joint is closed to 5e-9 m after every step, at any substep."""
    world = mc.World(pendulum(), substeps=substeps)
    for _ in range(150):
        world.step()
        assert world.joint_errors().max() < 6e-9


@pytest.mark.parametrize("solver", ["si", "pgs"])
@pytest.mark.parametrize("stabilization", HELD)
def test_double_pendulum_against_scipy(stabilization, solver):
    """Both centres after 1.5 s against Lagrange's equations; the error falls with the step, at least with order 1."""
    start = [2.0, 1.0, 0, 0]
    a, b = solve_ivp(double_pendulum_rates, (0, 1.5), start, rtol=1e-12, atol=1e-12, method="DOP853").y[:2, -1]
    exact = np.array([down(a) / 2, down(a) + down(b) / 2])
    errors = []
    for substeps in (4, 8, 16, 32, 64):
        world = mc.World(
            double_pendulum(), dt=0.01, substeps=substeps, stabilization=stabilization, solver=solver, iterations=60
        )
        world.step(150)
        errors.append(np.abs(world.positions - exact).max())
    assert errors[0] < 0.02 and errors[-1] < 5e-4 and np.all(orders(errors) > 0.85), errors


# ---- driven mechanisms -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("stabilization", HELD)
def test_cardan_shaft_speed_ratio_over_a_turn(stabilization):
    """w_out / w_in = cos b / (1 - sin^2 b sin^2 theta) over a turn, theta from the fork at right angles."""
    bend, speed = 0.6, 6.0
    for substeps, tolerance in ((4, 2e-3), (16, 5e-4)):
        world = mc.World(cardan(bend, speed), dt=1 / 240, substeps=substeps, stabilization=stabilization, iterations=20)
        ratios = []
        for _ in range(round(2 * np.pi / speed * 240)):
            world.step()
            theta = speed * world.time
            turn = rotation(world.orientations[1]) @ rotation(world.scene.bodies[1].orientation).T
            axis = turn @ [np.cos(bend), 0, np.sin(bend)]
            ratio = world.angular_velocities[1] @ axis / speed
            expected = np.cos(bend) / (1 - np.sin(bend) ** 2 * np.sin(theta) ** 2)
            assert ratio == pytest.approx(expected, rel=tolerance)
            ratios.append(ratio)
        assert max(ratios) == pytest.approx(1 / np.cos(bend), rel=5e-3)
        assert min(ratios) == pytest.approx(np.cos(bend), rel=5e-3)
        turned = world.joint("bearing").angle
        assert turned == pytest.approx(np.arctan2(np.cos(bend) * np.sin(theta), np.cos(theta)) + 2 * np.pi, abs=3e-3)


KINEMATIC_WORLDS = [dict(stabilization=s, joint_solver=j) for s, j in (*((s, "rows") for s in HELD), ("soft", "tree"))]
every_kinematic_world = pytest.mark.parametrize("keywords", KINEMATIC_WORLDS, ids=lambda k: "-".join(k.values()))


def check_kinematics(keywords, errors, finest):
    """As rows the error falls with the step. Direct joints meet kinematics to their own tolerance at any step."""
    if keywords["joint_solver"] == "tree":
        assert max(errors) < 1e-8, errors
    else:
        assert errors[-1] < finest and np.all(orders(errors) > 0.9), errors


@every_kinematic_world
def test_slider_crank_kinematics(keywords):
    """The piston of a crank at constant speed: position and velocity by the closed form over two turns."""
    speed, angle = 5.0, 0.4
    worst = []
    for substeps in (2, 4, 8):
        world = mc.World(slider_crank(angle=angle, speed=speed), dt=1 / 120, substeps=substeps, iterations=50, **keywords)
        off = np.zeros(2)
        for _ in range(300):
            world.step()
            x, rate, _, _ = slider_crank_at(0.3, 0.9, angle + speed * world.time, speed)
            off = np.maximum(off, np.abs([world.positions[2, 0] - x, world.velocities[2, 0] - rate]))
        worst.append(off)
        assert np.abs(world.positions[2, 1:]).max() < 1e-3
    assert worst[-1][1] < 2e-2, worst
    check_kinematics(keywords, [w[0] for w in worst], 1e-4)


@every_kinematic_world
def test_four_bar_kinematics(keywords):
    """The rocker's angle by the intersection of circles over two turns of the crank: a loop of four hinges in space."""
    speed, angle = 4.0, 0.6
    worst = []
    for substeps in (2, 4, 8):
        world = mc.World(four_bar(angle, speed), dt=1 / 120, substeps=substeps, iterations=50, **keywords)
        off = 0.0
        for _ in range(380):
            world.step()
            expected = four_bar_at(angle + speed * world.time) - four_bar_at(angle)
            off = max(off, abs(np.angle(np.exp(1j * (world.joint("pivot").angle - expected)))))
        worst.append(off)
    check_kinematics(keywords, worst, 3e-4)


# ---- tops ------------------------------------------------------------------------------------------------------------


def test_a_heavy_top_precesses_at_the_steady_rate():
    """Steady precession: the tilt stays, the azimuth goes round at the root of A W^2 cos t - C n W + m g l = 0."""
    scene, rate = steady_top()
    errors = []
    for substeps in (4, 8, 16, 32):
        world = mc.World(scene, dt=1 / 240, substeps=substeps)
        azimuth, tilts = [], []
        for _ in range(240):
            world.step()
            x, y, z = world.positions[0]
            azimuth.append(np.arctan2(y, x))
            tilts.append(np.arctan2(np.hypot(x, y), z))
        errors.append(abs(np.unwrap(azimuth)[-1] - rate) / rate)
        assert np.abs(np.array(tilts) - 0.5).max() < 0.01
    assert errors[0] < 2e-3 and errors[-1] < 5e-4 and np.all(orders(errors) > 0.8), errors


@pytest.mark.parametrize("stabilization", HELD)
@pytest.mark.parametrize("spin", [130.0, 400.0])
def test_a_fast_top_does_not_fall(spin, stabilization):
    """For 4 s the top stays up and its energy does not grow by more than a percent of its fall."""
    scene, _rate = steady_top(spin)
    world = mc.World(scene, dt=1 / 240, stabilization=stabilization)
    before = world.energy().total
    world.step(960)
    assert world.positions[0, 2] == pytest.approx(0.1 * np.cos(0.5), abs=1e-3)
    assert world.energy().total < before + 0.01 * 0.5 * G * 0.1


# ---- odd worlds ------------------------------------------------------------------------------------------------------


def test_a_kinematic_body_drags_what_is_welded_to_it():
    """A weld to a turning kinematic body: the part goes round with it."""
    scene = mc.Scene()
    scene.add_body("table", kind="kinematic", angular_velocity=(0, 0, 2.0))
    scene.add_body(
        "part", mass=1, inertia=(0.1, 0.1, 0.1), position=(0.5, 0, 0), velocity=(0, 1.0, 0), angular_velocity=(0, 0, 2.0)
    )
    scene.add_joint(mc.FixedJoint("table", "part", (0.25, 0, 0)))
    world = mc.World(scene)
    world.step(157)
    t = 2.0 * world.time
    assert world.positions[1] == pytest.approx((0.5 * np.cos(t), 0.5 * np.sin(t), 0), abs=2e-3)
    assert world.velocities[1] == pytest.approx((-np.sin(t), np.cos(t), 0), abs=5e-3)


@pytest.mark.parametrize("stabilization", ("none", *HELD))
def test_gravity_may_point_anywhere(stabilization):
    """A pendulum under gravity along x swings as one under gravity along -z does."""
    scene = mc.Scene(gravity=(G, 0, 0))
    scene.add_body("bob", mass=1, inertia=(0.01,) * 3, position=(0, 0, 1))
    scene.add_joint(mc.HingeJoint(None, "bob", (0, 0, 0), (0, 1, 0)))
    sideways = mc.World(scene, stabilization=stabilization)
    upright = mc.World(pendulum(), stabilization=stabilization)
    for world in (sideways, upright):
        world.step(120)
    assert sideways.positions[0, 0] == pytest.approx(-upright.positions[0, 2], abs=1e-9)
