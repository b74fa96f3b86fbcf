"""Springs, motors, joint friction and limits against closed forms, on every stabilization and solver."""

import numpy as np
import pytest
from scipy.linalg import expm

import mcsim as mc

H = 1 / 240
SOLVERS = (("si", "tree"), ("si", "rows"), ("pgs", "rows"))
WORLDS = [dict(stabilization=s, solver=v, joint_solver=j) for s in ("none", "baumgarte", "soft") for v, j in SOLVERS]
every_world = pytest.mark.parametrize("keywords", WORLDS, ids=lambda k: "-".join(k.values()))


def slider(gravity=(0, 0, 0), velocity=0.0, mass=2.0, dt=H, world=None, **joint):
    """A body on a slider along z from the world. -> world, joint, body handles"""
    scene = mc.Scene(gravity=gravity)
    scene.add_body("m", mass=mass, inertia=(0.1, 0.2, 0.25), velocity=(0, 0, velocity))
    scene.add_joint(mc.SliderJoint(None, "m", axis=(0, 0, 1), name="s", **joint))
    world = mc.World(scene, dt=dt, **{"substeps": 1, **(world or {})})
    return world, world.joint("s"), world.body("m")


def hinge(arm=0.0, inertia=0.3, mass=2.0, rate=0.0, gravity=(0, 0, 0), dt=H, world=None, **joint):
    """A body on a hinge about y at the origin, its centre `arm` along x; positive angles take it down."""
    scene = mc.Scene(gravity=gravity)
    scene.add_body(
        "m",
        mass=mass,
        inertia=(0.2, inertia, 0.25),
        position=(arm, 0, 0),
        angular_velocity=(0, rate, 0),
        velocity=(0, 0, -rate * arm),
    )
    scene.add_joint(mc.HingeJoint(None, "m", anchor=(0, 0, 0), axis=(0, 1, 0), name="h", **joint))
    world = mc.World(scene, dt=dt, **{"substeps": 1, **(world or {})})
    return world, world.joint("h"), world.body("m")


def record(world, joint, steps):
    """The joint's position and velocity after each step. -> (steps,), (steps,)"""
    out = []
    for _ in range(steps):
        world.step()
        out.append((joint.position, joint.velocity))
    return np.array(out).T


def implicit_euler(x, u, stiffness, damping, mass, force, h, steps):
    """m u' = force - k x - c u, x' = u by implicit Euler: what a spring row says that it is."""
    out = []
    for _ in range(steps):
        u = (u + h * (force - stiffness * x) / mass) / (1 + h * damping / mass + h * h * stiffness / mass)
        x = x + h * u
        out.append((x, u))
    return np.array(out).T


def midpoint(x, u, stiffness, damping, mass, force, h, steps):
    """A spring where forces act in two halves: the implicit midpoint rule, see
    spring_point."""
    out, part = [], 0.5 * h / mass
    for _ in range(steps):
        middle = (u + part * (force - stiffness * x)) / (1 + part * (damping + 0.5 * h * stiffness))
        x, u = x + h * middle, 2 * middle - u
        out.append((x, u))
    return np.array(out).T


def two_halves(x, u, stiffness, damping, mass, force, h, steps):
    """One too fast for shares: in two halves, implicit in each."""
    out = []
    part = 0.5 * h / mass
    for _ in range(steps):
        u = (u + part * (force - stiffness * x)) / (1 + part * (damping + h * stiffness))
        x = x + h * u
        u = (u + part * (force - stiffness * x)) / (1 + part * (damping + h * stiffness))
        out.append((x, u))
    return np.array(out).T


def recursion(keywords, in_halves):
    """What a spring follows on a slider; `in_halves` where forces act in two halves."""
    return in_halves if keywords["stabilization"] == "soft" else implicit_euler


# ---- springs ---------------------------------------------------------------------------------------------------------


@every_world
def test_spring_row_is_implicit_euler(keywords):
    """Spring, damper and gravity on a slider: step by step the recursion of implicit Euler, to rounding; under "soft" that
    of their two halves."""
    world, joint, _ = slider((0, 0, -9.81), 0.7, world=keywords, spring=mc.Spring(150.0, 3.0, rest=-0.2))
    x, u = record(world, joint, 300)
    expected = recursion(keywords, midpoint)(0.2, 0.7, 150.0, 3.0, 2.0, -2.0 * 9.81, H, 300)
    np.testing.assert_allclose(x, expected[0] - 0.2, atol=1e-12)
    np.testing.assert_allclose(u, expected[1], atol=1e-12)


@every_world
def test_a_spring_too_fast_for_the_substep_sags_by_its_weight(keywords):
    """A damper that takes all speed in a substep: to the recursion, and at rest m g / k to rounding."""
    world, joint, _ = slider((0, 0, -9.81), 0.7, world=keywords, spring=mc.Spring(5e4, 2e3, rest=-0.2))
    x, u = record(world, joint, 300)
    expected = recursion(keywords, two_halves)(0.2, 0.7, 5e4, 2e3, 2.0, -2.0 * 9.81, H, 300)
    np.testing.assert_allclose(x, expected[0] - 0.2, atol=1e-12)
    np.testing.assert_allclose(u, expected[1], atol=1e-12)
    world.step(600)
    assert joint.position == pytest.approx(-0.2 - 2.0 * 9.81 / 5e4, abs=1e-12) and abs(joint.velocity) < 1e-12


@pytest.mark.parametrize(
    "joint_solver, stabilization, order", [("rows", "baumgarte", 1), ("rows", "soft", 2), ("tree", "soft", 2)]
)
def test_order_of_a_spring_and_mass(joint_solver, stabilization, order):
    """Position at 1 s against the cosine: implicit Euler in whole kicks, the midpoint rule in two halves."""
    k, m = 80.0, 2.0
    errors = []
    for substeps in (4, 8, 16, 32):
        world, joint, _ = slider(
            world={"substeps": substeps, "joint_solver": joint_solver, "stabilization": stabilization},
            dt=0.01,
            spring=mc.Spring(k, 0.0, rest=-0.3),
        )
        world.step(100)
        errors.append(abs(joint.position + 0.3 - 0.3 * np.cos(np.sqrt(k / m) * 1.0)))
    orders = np.diff(-np.log2(errors))
    assert errors[-1] < 0.002 and np.all((orders > order - 0.1) & (orders < order + 0.15)), orders


@pytest.mark.parametrize("arm", [0.0, 0.8])
def test_torsion_spring_frequency(arm):
    """A hinge spring swings at sqrt(k / (I + m arm^2)), to the step's second order."""
    k, inertia, mass = 20.0, 0.3, 2.0
    world, joint, _ = hinge(arm, inertia, mass, world={"substeps": 8}, dt=1 / 480, spring=mc.Spring(k, rest=0.2))
    x = record(world, joint, 2400)[0] - 0.2
    crossings = np.nonzero(np.diff(np.sign(x)))[0]
    exact = crossings + x[crossings] / (x[crossings] - x[crossings + 1])
    frequency = 0.5 / (np.diff(exact).mean() / 480)
    assert frequency == pytest.approx(np.sqrt(k / (inertia + mass * arm**2)) / (2 * np.pi), rel=2e-4)


def test_ball_spring_keeps_energy_in_the_limit():
    """A ball's torsion spring at large angles is its energy's gradient: what is lost goes to zero with the step."""
    lost = []
    for substeps in (10, 20, 40):
        scene = mc.Scene(gravity=(0, 0, 0))
        scene.add_body("m", mass=1, inertia=(0.2, 0.3, 0.4), angular_velocity=(1.0, -2.0, 1.5))
        scene.add_joint(mc.BallJoint(None, "m", (0, 0, 0), spring=mc.Spring(4.0, rest=(0.4, 1.2, -0.3))))
        world = mc.World(scene, dt=0.01, substeps=substeps)
        before = world.energy().total
        world.step(100)
        lost.append(abs(world.energy().total / before - 1))
    assert lost[-1] < 4e-3 and np.all(np.diff(-np.log2(lost)) > 0.9), lost


def test_universal_springs_act_on_their_own_axis():
    """Small swings about each axis of a universal joint have their own frequency."""
    for axis, (k, inertia) in enumerate([(5.0, 0.5), (8.0, 0.3)]):
        scene = mc.Scene(gravity=(0, 0, 0))
        spin = np.eye(3)[[2, 0][axis]] * 1e-3
        scene.add_body("m", mass=1, inertia=(0.3, 0.4, 0.5), angular_velocity=spin)
        scene.add_joint(
            mc.UniversalJoint(None, "m", (0, 0, 0), (0, 0, 1), (1, 0, 0), name="u", spring=(mc.Spring(5.0), mc.Spring(8.0)))
        )
        world = mc.World(scene, dt=1e-3, substeps=4)
        world.step(round(1000 * 2 * np.pi / np.sqrt(k / inertia) / 4))
        amplitude = 1e-3 / np.sqrt(k / inertia)
        assert world.joint("u").position[axis] == pytest.approx(amplitude, rel=5e-3)
        assert abs(world.joint("u").position[1 - axis]) < 1e-6


@pytest.mark.parametrize("arm", [0.0, 0.5])
def test_springs_and_motors_balance_weight_and_torque(arm):
    """At rest a position motor is where it is to be, carries what weight, spring and torque leave, and says so."""
    world, joint, _ = hinge(
        arm,
        gravity=(0, 0, -9.81),
        dt=1 / 60,
        spring=mc.Spring(40.0, 8.0),
        motor=mc.Motor(position=-0.1, hertz=2.0, damping_ratio=1.0, max_force=500.0),
        world={"substeps": 4},
    )
    world.apply_torque("m", (0, 1.2, 0))
    world.step(1800)
    world.apply_torque("m", (0, 1.2, 0))
    world.step(1)
    assert joint.angle == pytest.approx(-0.1, abs=1e-9)
    load = 1.2 + 2.0 * 9.81 * arm * np.cos(0.1) - 40.0 * -0.1
    assert joint.motor_force == pytest.approx(-load, rel=1e-8)
    assert abs(joint.velocity) < 1e-8


# ---- motors ----------------------------------------------------------------------------------------------------------


@every_world
@pytest.mark.parametrize("target", [1.5, -2.0])
def test_velocity_motor_takes_mass_times_speed_over_force(keywords, target):
    """A bounded motor speeds a mass up at F / m until the target, holds it there, and says which force it gives."""
    world, joint, _ = slider(world=keywords, motor=mc.Motor(velocity=target, max_force=12.0))
    u = record(world, joint, 240)[1]
    ramp = np.minimum(12.0 / 2.0 * H * np.arange(1, 241), abs(target)) * np.sign(target)
    np.testing.assert_allclose(u, ramp, atol=1e-12)
    assert joint.motor_force == pytest.approx(0.0, abs=1e-9)
    world.apply_force("m", (0, 0, 5.0))
    world.step(1)
    assert joint.motor_force == pytest.approx(-5.0, rel=1e-9)
    assert joint.velocity == pytest.approx(target, rel=1e-12)


@every_world
def test_motor_torque_is_bounded(keywords):
    """A hinge motor at its bound gives that torque; an arm too heavy falls. With sweeps enough to converge: motor
    and joint pull on each other, and Baumgarte's joints start each substep a tenth short."""
    keywords = {**keywords, "iterations": 60}
    arm = dict(arm=0.5, inertia=0.3, mass=2.0, gravity=(0, 0, -9.81), world=keywords)
    world, joint, _ = hinge(**arm, motor=mc.Motor(velocity=0, max_force=9.0))
    world.step(1)
    assert joint.motor_force == pytest.approx(-9.0, rel=1e-12)
    assert joint.velocity == pytest.approx(H * (2 * 9.81 * 0.5 - 9.0) / (0.3 + 2 * 0.25), rel=1e-3)
    held, joint, _ = hinge(**arm, motor=mc.Motor(velocity=0, max_force=11.0))
    held.step(240)
    assert abs(joint.velocity) < 1e-6 and abs(joint.position) < 1e-4
    assert joint.motor_force == pytest.approx(-2 * 9.81 * 0.5, rel=1e-3)


def oscillator(hertz, ratio, h):
    """(2, 2) (e, e') after h from (e, e')."""
    w = 2 * np.pi * hertz
    return expm(h * np.array([[0.0, 1.0], [-w * w, -2 * ratio * w]]))


@every_world
@pytest.mark.parametrize("hertz", [0.01, 3.0, 150.0, 1000.0])
@pytest.mark.parametrize("ratio", [0.0, 0.3, 1.0, 5.0])
@pytest.mark.sampled(7)
def test_a_position_motor_is_the_oscillator_itself(keywords, hertz, ratio):
    """Alone its coordinate passes through the damped oscillator's positions, and a load changes nothing; where a
    substep has one velocity, that before the first counts as the first drift's."""
    world, joint, _ = slider((0, 0, -9.81), world=keywords, motor=mc.Motor(position=0.4, hertz=hertz, damping_ratio=ratio))
    x, u = record(world, joint, 200)
    step, expected, state = oscillator(hertz, ratio, H), [], np.array([-0.4, 0.0])
    in_halves = keywords["stabilization"] == "soft"
    before = -0.4
    for _ in range(200):
        if in_halves:
            state = step @ state
        else:
            here = np.trace(step) * state[0] - np.linalg.det(step) * before
            before, state = state[0], np.array([here, (here - state[0]) / H])
        expected.append(state)
    np.testing.assert_allclose(x, np.array(expected)[:, 0] + 0.4, atol=1e-10)
    np.testing.assert_allclose(u, np.array(expected)[:, 1], atol=1e-8 * max(1.0, hertz))


@pytest.mark.parametrize("kind", ["hinge", "universal", "ball"])
@pytest.mark.parametrize("arm", [0.0, 0.3, 2.0])
@pytest.mark.sampled(4)
def test_position_motor_moves_the_mass_that_it_has_to(arm, kind):
    """Undamped, a position motor swings at its hertz whatever the lever: the mass it moves is I + m arm^2."""
    place = {
        "hinge": (mc.HingeJoint, dict(axis=(0, 1, 0), motor=mc.Motor(position=1e-3, hertz=2.0, damping_ratio=0))),
        "universal": (
            mc.UniversalJoint,
            dict(axis_a=(0, 1, 0), axis_b=(0, 0, 1), motor=(mc.Motor(position=1e-3, hertz=2.0, damping_ratio=0), None)),
        ),
        "ball": (mc.BallJoint, dict(motor=mc.Motor(position=(0, 1e-3, 0), hertz=2.0, damping_ratio=0))),
    }[kind]
    scene = mc.Scene(gravity=(0, 0, 0))
    scene.add_body("m", mass=2, inertia=(0.02, 0.03, 0.04), position=(arm, 0, 0))
    scene.add_joint(place[0](None, "m", anchor=(0, 0, 0), name="j", **place[1]))
    world = mc.World(scene, dt=1e-3, substeps=8, iterations=300, stabilization="baumgarte")
    joint = world.joint("j")
    axis = {"hinge": 0, "universal": 0, "ball": 1}[kind]
    world.step(125)  # a quarter period
    assert np.atleast_1d(joint.position)[axis] == pytest.approx(1e-3, abs=2e-5)
    world.step(125)
    assert np.atleast_1d(joint.position)[axis] == pytest.approx(2e-3, rel=2e-2)


def test_a_motor_can_be_given_another_target():
    """set_motor changes speed, position, mode and bound from the next step on."""
    world, joint, _ = slider(motor=mc.Motor(velocity=1.0, max_force=1e3))
    world.step(60)
    joint.set_motor(velocity=-0.5)
    world.step(60)
    assert joint.velocity == pytest.approx(-0.5)
    joint.set_motor(position=0.3)
    world.step(480)
    assert joint.position == pytest.approx(0.3, abs=1e-4)
    joint.set_motor(max_force=0.0)
    world.apply_impulse("m", (0, 0, 2.0))
    world.step(10)
    assert joint.velocity == pytest.approx(1.0, abs=1e-3)


def test_ball_motor_turns_about_the_joint_axes():
    """A ball motor's velocity is along the axes of the joint frame on a."""
    scene = mc.Scene(gravity=(0, 0, 0))
    scene.add_body("m", mass=1, inertia=(0.1, 0.1, 0.1))
    scene.add_joint(mc.BallJoint(None, "m", (0, 0, 0), axis=(1, 0, 0), motor=mc.Motor(velocity=(0, 0, 2.0)), name="b"))
    world = mc.World(scene)
    world.step(30)
    np.testing.assert_allclose(world.body("m").angular_velocity, (2.0, 0, 0), atol=1e-12)
    np.testing.assert_allclose(world.joint("b").position, (0, 0, 1.0), atol=1e-9)


# ---- friction --------------------------------------------------------------------------------------------------------


@every_world
def test_joint_friction_sticks_below_its_bound(keywords):
    """Just below the bound nothing moves; just above, the rest accelerates the mass."""
    for push, moves in ((4.99, False), (5.01, True), (-4.99, False), (-7.0, True)):
        world, joint, _ = slider(world=keywords, friction=5.0)
        world.apply_force("m", (0, 0, push))
        world.step(240)
        expected = np.sign(push) * (abs(push) - 5.0) / 2.0 * 1.0 if moves else 0.0
        assert joint.velocity == pytest.approx(expected, abs=1e-12)
        if not moves:
            assert abs(joint.position) < 1e-13


@every_world
def test_joint_friction_stops_a_turning_body(keywords):
    """Deceleration friction / I, then rest; the angle turned is w^2 I / (2 friction), to the step's first order."""
    world, joint, _ = hinge(rate=3.0, inertia=0.3, friction=0.5, world=keywords)
    x, u = record(world, joint, 600)
    np.testing.assert_allclose(u, np.maximum(3.0 - 0.5 / 0.3 * H * np.arange(1, 601), 0), atol=1e-11)
    assert x[-1] == pytest.approx(9 * 0.3 / (2 * 0.5), abs=3.0 * H)
    assert x[-1] == x[-100]


# ---- limits ----------------------------------------------------------------------------------------------------------


@every_world
def test_slider_limit_carries_the_weight(keywords):
    """A mass falls onto a limit without passing it by more than its softness, and rests, its weight in the joint."""
    world, joint, _ = slider((0, 0, -9.81), world=keywords, limits=(-0.3, 0.5))
    x = record(world, joint, 480)[0]
    assert x.min() > -0.3 - 1e-3 and abs(joint.velocity) < 1e-9
    assert joint.position == pytest.approx(-0.3, abs=1e-3)
    assert joint.force == pytest.approx((0, 0, 2 * 9.81), rel=1e-6, abs=1e-9)


@every_world
@pytest.mark.parametrize("limits", [(-0.4, 0.2), (0.2, 0.2), (-1.0, -1.0)])
def test_hinge_limits_hold_an_arm(keywords, limits):
    """An arm falls onto its upper limit (positive angles are down) and stays; equal limits hold at one angle."""
    keywords = keywords | {"iterations": 30}
    world, joint, _ = hinge(0.5, gravity=(0, 0, -9.81), world=keywords, limits=limits)
    x = record(world, joint, 720)[0]
    if keywords["stabilization"] != "none" or limits[1] > 0:
        assert x[-1] == pytest.approx(limits[1], abs=3e-3) and abs(joint.velocity) < 1e-3
    assert x.max() < max(limits[1], 0) + 3e-3


@every_world
@pytest.mark.parametrize("speed", [1.0, 40.0, -300.0])
def test_a_limit_stops_a_motor_without_bound(keywords, speed):
    """A motor that has no bound drives the joint up to its limit, not through it; it may speed up within one step."""
    keywords = keywords | {"iterations": 50}
    world, joint, _ = hinge(0.5, world=keywords, dt=1 / 60, limits=(-0.5, 0.8), motor=mc.Motor(velocity=speed))
    x = record(world, joint, 120)[0]
    limit = 0.8 if speed > 0 else -0.5
    assert np.abs(x - np.clip(x, -0.5, 0.8)).max() < 0.02
    assert x[-1] == pytest.approx(limit, abs=5e-3)


@every_world
@pytest.mark.parametrize("dt", [1 / 60, 1e-4])
def test_a_broken_limit_is_restored_no_faster_than_push_speed(keywords, dt):
    """A hinge set a radian beyond its limit comes back at push_speed at most, whatever the step."""
    world, joint, _ = hinge(dt=dt, world=keywords, limits=(1.0, 2.0))
    u = record(world, joint, 30)[1]
    assert u.max() <= 3.0 + 1e-9
    assert keywords["stabilization"] == "none" or joint.position > 0


@every_world
@pytest.mark.parametrize("rate", [5.0, 60.0, -60.0])
def test_fast_bodies_do_not_pass_a_limit(keywords, rate):
    """A body that turns by more than the way to the limit in one step is stopped there."""
    world, joint, _ = hinge(0.2, rate=rate, dt=1 / 60, world=keywords, limits=(-1.0, 1.0))
    x = record(world, joint, 60)[0]
    assert np.abs(x).max() < 1.0 + 1e-2


@every_world
def test_universal_limits_hold_both_angles(keywords):
    """Torques about both axes of a universal joint bring it into the corner of its limits."""
    scene = mc.Scene(gravity=(0, 0, 0))
    scene.add_body("m", mass=1, inertia=(0.1, 0.12, 0.15))
    scene.add_joint(
        mc.UniversalJoint(
            None,
            "m",
            (0, 0, 0),
            (0, 0, 1),
            (1, 0, 0),
            name="u",
            limits=((-2, 0.7), (-0.4, 2)),
            spring=(mc.Spring(0, 0.5), mc.Spring(0, 0.5)),
        )
    )
    world = mc.World(scene, **keywords)
    for _ in range(180):
        axis_b = np.array([np.cos(world.joint("u").position[0]), np.sin(world.joint("u").position[0]), 0])
        world.apply_torque("m", np.array([0, 0, 1.0]) - 0.8 * axis_b)
        world.step()
    np.testing.assert_allclose(world.joint("u").position, (0.7, -0.4), atol=4e-3)
    assert np.abs(world.joint("u").velocity).max() < 1e-3


@every_world
def test_swing_limit_is_a_cone(keywords):
    """A rod hung from a ball joint leans no farther than the swing limit, whichever way it is pushed."""
    for angle in np.linspace(0, 2 * np.pi, 7):
        scene = mc.Scene(gravity=(9.81 * np.cos(angle), 9.81 * np.sin(angle), 0))
        scene.add_body("rod", mass=1, inertia=(0.1, 0.1, 0.02), position=(0, 0, -0.5))
        scene.add_joint(mc.BallJoint(None, "rod", (0, 0, 0), swing_limit=0.6, name="b"))
        world = mc.World(scene, **keywords | {"iterations": 16})
        world.step(240)
        lean = world.body("rod").position / 0.5
        assert np.arccos(-lean[2]) == pytest.approx(0.6, abs=8e-3)
        np.testing.assert_allclose(lean[:2], np.sin(0.6) * np.array([np.cos(angle), np.sin(angle)]), atol=0.01)


@every_world
@pytest.mark.parametrize("torque", [0.3, -0.3])
def test_twist_limits_hold_about_the_axis(keywords, torque):
    """A torque about the twist axis ends at the limit, also while the joint leans."""
    scene = mc.Scene(gravity=(0, 0, 0))
    scene.add_body("m", mass=1, inertia=(0.1, 0.1, 0.02))
    scene.add_joint(mc.BallJoint(None, "m", (0, 0, 0), twist_limits=(-0.7, 0.4), name="b"))
    world = mc.World(scene, **keywords)
    world.set_pose("m", orientation=(np.cos(0.25), np.sin(0.25), 0, 0))
    for _ in range(120):
        q = world.body("m").orientation
        axis = np.array([2 * (q[1] * q[3] + q[0] * q[2]), 2 * (q[2] * q[3] - q[0] * q[1]), 1 - 2 * (q[1] ** 2 + q[2] ** 2)])
        world.apply_torque("m", torque * axis)
        world.step()
    q = world.body("m").orientation
    assert 2 * np.arctan2(q[3], q[0]) == pytest.approx(0.4 if torque > 0 else -0.7, abs=5e-3)


# ---- coordinates -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("speed", [9.0, -23.0, 150.0])
def test_angles_count_their_turns(speed):
    """A hinge and a universal joint driven for many turns: the angle goes on past pi, forward and backward."""
    world, joint, _ = hinge(0.3, dt=1 / 60, world={"substeps": 4, "iterations": 20}, motor=mc.Motor(velocity=speed))
    world.step(180)
    assert joint.angle == pytest.approx(3 * speed, rel=1e-3)
    joint.set_motor(velocity=-speed)
    world.step(360)
    assert joint.angle == pytest.approx(-3 * speed, rel=2e-2)
    scene = mc.Scene(gravity=(0, 0, 0))
    scene.add_body("m", mass=1, inertia=(0.1, 0.1, 0.1))
    scene.add_joint(
        mc.UniversalJoint(
            None, "m", (0, 0, 0), (0, 0, 1), (1, 0, 0), name="u", motor=(mc.Motor(velocity=speed), mc.Motor(velocity=0))
        )
    )
    world = mc.World(scene)
    world.step(120)
    np.testing.assert_allclose(world.joint("u").angle, (2 * speed, 0), rtol=1e-3, atol=1e-6)


def test_limits_beyond_one_turn():
    """A hinge limited to three and a half turns stops there, not at the first passage."""
    world, joint, _ = hinge(
        dt=1 / 60, world={"substeps": 4}, limits=(-1.0, 7 * np.pi), motor=mc.Motor(velocity=8.0, max_force=10.0)
    )
    world.step(400)
    assert joint.angle == pytest.approx(7 * np.pi, abs=5e-3)
