"""integrator="rk4": order of convergence against references that know nothing of it, and what surrounds it."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import mcsim as mc
from mcsim.world.capabilities import STABILIZATIONS
from mechanism_scenes import (
    FOUR_BAR,
    G,
    bar,
    double_pendulum,
    double_pendulum_rates,
    down,
    four_bar,
    four_bar_at,
    pendulum,
    plane_turn,
    turned,
)

NAMES = [
    "none",
    "baumgarte",
    "soft",
    pytest.param("projection", marks=pytest.mark.skipif("projection" not in STABILIZATIONS, reason="not yet")),
]


def reference(rates, start, seconds):
    """The state after `seconds` to some 1e-12."""
    return solve_ivp(rates, (0.0, seconds), start, method="DOP853", rtol=1e-13, atol=1e-13).y[:, -1]


def errors(scene, seconds, steps, measure, **keywords):
    """measure(world) at the end for each number of steps; joints stay to the order as well."""
    found = []
    for n in steps:
        world = mc.World(scene, dt=seconds / n, substeps=1, integrator="rk4", **keywords)
        world.step(n)
        found.append(measure(world))
    return np.array(found)


def orders(found):
    """log2 of the ratios of errors at halved steps."""
    return np.log2(found[:-1] / found[1:])


@pytest.mark.parametrize("stabilization", NAMES)
def test_pendulum_is_of_fourth_order(stabilization):
    """A hinge pendulum from the horizontal, against theta'' = -m g l sin(theta) / (I + m l^2)."""
    rates = lambda _, y: [y[1], -G * np.sin(y[0]) / 1.01]
    angle = reference(rates, (np.pi / 2, 0), 1.5)[0]
    found = errors(
        pendulum(),
        1.5,
        (60, 120, 240, 480),
        stabilization=stabilization,
        measure=lambda world: np.linalg.norm(world.positions[0] - down(angle)),
    )
    assert found[-1] < 1e-7 and np.all(orders(found)[1:] > 3.7), found


@pytest.mark.parametrize("stabilization", NAMES)
def test_double_pendulum_is_of_fourth_order(stabilization):
    """Against Lagrange's equations by SciPy; joint errors fall as fast."""
    a, b = reference(double_pendulum_rates, (2.0, 1.0, 0, 0), 1.0)[:2]
    end = np.array([down(a) / 2, down(a) + down(b) / 2])
    found = errors(
        double_pendulum(),
        1.0,
        (100, 200, 400, 800),
        stabilization=stabilization,
        measure=lambda world: np.linalg.norm(world.positions - end),
    )
    assert found[-1] < 1e-7 and orders(found)[-1] > 3.7, found
    drift = errors(
        double_pendulum(), 1.0, (200, 400), stabilization=stabilization, measure=lambda world: world.joint_errors().max()
    )
    assert drift[1] < 1e-14 if stabilization == "projection" else orders(drift)[0] > 3.7


def test_heavy_top_is_of_fourth_order():
    """A nutating heavy symmetric top against its reduced equation (H. Goldstein, "Classical Mechanics", section
    5.7)."""
    mass, height, across, along, tilt, spin = 0.5, 0.1, 0.002, 0.0012, 0.6, 150.0
    a = across + mass * height**2  # about the tip
    p_psi, p_phi = along * spin, along * spin * np.cos(tilt)

    def rates(_, y):
        theta, theta_rate, _phi, _psi = y
        phi_rate = (p_phi - p_psi * np.cos(theta)) / (a * np.sin(theta) ** 2)
        bend = phi_rate * np.sin(theta) * (a * phi_rate * np.cos(theta) - p_psi) + mass * G * height * np.sin(theta)
        return [theta_rate, bend / a, phi_rate, p_psi / along - phi_rate * np.cos(theta)]

    axis = np.array([np.sin(tilt), 0, np.cos(tilt)])
    scene = mc.Scene()
    scene.add_body(
        "top",
        mass=mass,
        inertia=(across, across, along),
        position=height * axis,
        angular_velocity=spin * axis,
        orientation=turned((0, 1, 0), tilt),
    )
    scene.add_joint(mc.BallJoint(None, "top", (0, 0, 0)))
    theta, _, phi, psi = reference(rates, (tilt, 0, 0, 0), 0.25)
    at = height * np.array([np.sin(theta) * np.cos(phi), np.sin(theta) * np.sin(phi), np.cos(theta)])
    q = multiply(multiply(about(2, phi), about(1, theta)), about(2, psi))

    def error(world):
        turned_by = min(np.linalg.norm(world.orientations[0] - q), np.linalg.norm(world.orientations[0] + q))
        return np.linalg.norm(world.positions[0] - at) + turned_by

    found = errors(scene, 0.25, (400, 800, 1600), error, stabilization="none")
    assert found[-1] < 1e-6 and np.all(orders(found) > 3.8), found


def about(axis, angle):
    return np.array([np.cos(angle / 2), *(np.sin(angle / 2) * np.eye(3)[axis])])


def multiply(p, q):
    return np.array([p[0] * q[0] - p[1:] @ q[1:], *(p[0] * q[1:] + q[0] * p[1:] + np.cross(p[1:], q[1:]))])


def test_free_turn_is_of_fourth_order():
    """An asymmetric free body, tumbling: against Euler's equations; energy and momentum to the order."""
    scene = mc.Scene(gravity=(0, 0, 0))
    inertia, w = np.array([1.0, 2.0, 2.5]), np.array([0.3, 4.0, 0.2])
    scene.add_body("brick", mass=1, inertia=inertia, angular_velocity=w)
    end = reference(lambda _, y: -np.cross(y, inertia * y) / inertia, w, 3.0)

    def error(world):
        q = world.orientations[0]
        u, body = -q[1:], world.angular_velocities[0]
        t = 2 * np.cross(u, body)
        return np.linalg.norm(body + q[0] * t + np.cross(u, t) - end)

    found = errors(scene, 3.0, (150, 300, 600), error)
    assert np.all(orders(found) > 3.8) and found[-1] < 1e-6, found


def swinging_four_bar(crank_angle=0.6, rate=4.0):
    """A four-bar with a dynamic crank, at rates that fit to rounding."""
    ground, pivot = np.zeros(3), np.array([FOUR_BAR["ground"], 0, 0])
    rocker_angle = four_bar_at(crank_angle)
    unit = lambda angle: np.array([np.cos(angle), 0, np.sin(angle)])
    side = lambda angle: np.array([-np.sin(angle), 0, np.cos(angle)])
    pin, elbow = FOUR_BAR["crank"] * unit(crank_angle), pivot + FOUR_BAR["rocker"] * unit(rocker_angle)
    arm = elbow - pin
    across = np.array([-arm[2], 0, arm[0]])
    rocker_side, v_pin = FOUR_BAR["rocker"] * side(rocker_angle), rate * FOUR_BAR["crank"] * side(crank_angle)
    # v_pin + coupler_rate * across = rocker_rate * rocker_side
    rocker_rate, coupler_rate = np.linalg.solve(np.array([rocker_side, -across]).T[[0, 2]], v_pin[[0, 2]])
    scene = mc.Scene()
    bar(scene, "crank", ground, pin, plane_turn(rate, pin) / 2, rate)
    bar(scene, "coupler", pin, elbow, v_pin + plane_turn(coupler_rate, arm) / 2, coupler_rate)
    bar(scene, "rocker", pivot, elbow, plane_turn(rocker_rate, elbow - pivot) / 2, rocker_rate)
    for a, b, anchor in (
        (None, "crank", ground),
        ("crank", "coupler", pin),
        ("coupler", "rocker", elbow),
        (None, "rocker", pivot),
    ):
        scene.add_joint(mc.HingeJoint(a, b, anchor, (0, -1, 0)))
    return scene


def four_bar_rates(_, y):
    """The same reduced to the crank's angle: d/dt (m(q) q'^2 / 2 + V) = 0, derivatives by differences of the closed
    form."""
    q, rate = y

    def parts(angle):
        """Positions of the three centres and the three angles."""
        rocker = four_bar_at(angle)
        unit = lambda x: np.array([np.cos(x), np.sin(x)])
        pin = FOUR_BAR["crank"] * unit(angle)
        elbow = np.array([FOUR_BAR["ground"], 0]) + FOUR_BAR["rocker"] * unit(rocker)
        arm = elbow - pin
        return np.array(
            [
                *pin / 2,
                *(pin + elbow) / 2,
                *(elbow + (FOUR_BAR["ground"], 0)) / 2,
                angle,
                np.arctan2(arm[1], arm[0]),
                rocker,
            ]
        )

    e = 2e-3  # sixth-order differences: to some 1e-14 / e
    steps = np.array([parts(q + k * e) for k in range(-3, 4)])
    steps[:, 6:] = np.unwrap(steps[:, 6:], axis=0)
    first = np.array([-1, 9, -45, 0, 45, -9, 1]) / 60 @ steps / e
    second = np.array([2, -27, 270, -490, 270, -27, 2]) / 180 @ steps / e**2
    weights = np.array([1.0] * 6 + [FOUR_BAR[name] ** 2 / 12 for name in ("crank", "coupler", "rocker")])
    heights = first[[1, 3, 5]].sum()
    return [rate, -(first @ (weights * second) * rate**2 + G * heights) / (first @ (weights * first))]


@pytest.mark.parametrize("stabilization", NAMES)
def test_four_bar_is_of_fourth_order(stabilization):
    """A loop in a plane: three rows of fifteen are redundant."""
    scene = swinging_four_bar()
    assert mc.World(scene).redundancy().redundant == 3
    angle = solve_ivp(four_bar_rates, (0, 0.8), (0.6, 4.0), method="DOP853", rtol=1e-11, atol=1e-11).y[0, -1]
    at = FOUR_BAR["crank"] / 2 * np.array([np.cos(angle), 0, np.sin(angle)])
    found = errors(
        scene, 0.8, (50, 100, 200), lambda world: np.linalg.norm(world.positions[0] - at), stabilization=stabilization
    )
    assert found[-1] < 1e-6 and orders(found)[-1] > 3.6, found


def test_driven_four_bar_follows_its_closed_form():
    """A kinematic crank."""
    world = mc.World(four_bar(), dt=1 / 400, substeps=1, integrator="rk4", stabilization="baumgarte")
    world.step(400)
    rocker = four_bar_at(0.6 + 4.0)
    end = np.array([FOUR_BAR["ground"], 0, 0]) + FOUR_BAR["rocker"] / 2 * np.array([np.cos(rocker), 0, np.sin(rocker)])
    assert np.allclose(world.positions[2], end, atol=1e-7)


def test_spring_is_of_fourth_order():
    """A damped spring on a slider against its closed form."""
    k, c, m = 80.0, 1.5, 2.0
    decay = c / (2 * m)
    w = np.sqrt(k / m - decay**2)
    scene = mc.Scene(gravity=(0, 0, 0))
    scene.add_body("car", mass=m, inertia=(1, 1, 1), position=(0.3, 0, 0))
    scene.add_joint(mc.SliderJoint(None, "car", (1, 0, 0), spring=mc.Spring(stiffness=k, damping=c)))
    found = []
    for n in (60, 120, 240):
        world = mc.World(scene, dt=1 / n, substeps=1, integrator="rk4")
        world.set_pose("car", (0.5, 0, 0))
        world.step(n)
        found.append(abs(world.positions[0, 0] - 0.3 - 0.2 * np.exp(-decay) * (np.cos(w) + decay / w * np.sin(w))))
    assert found[-1] < 1e-8 and np.all(orders(np.array(found)) > 3.6), found


def test_energy_of_a_long_chain():
    """Ten links that swing for two seconds: energy to 1e-7, joints to a micrometre."""
    world = mc.World(mc.load("chain", n=10), dt=1 / 1000, substeps=1, integrator="rk4", stabilization="baumgarte")
    start = world.energy().total
    world.step(2000)
    assert abs(world.energy().total - start) < 1e-6 * world.energy().kinetic + 1e-6
    assert world.joint_errors().max() < 1e-6


def test_joint_force_is_that_of_the_end_state():
    """`joint().force` against kkt() at the same state, and against the closed form of a pendulum."""
    world = mc.World(pendulum(), dt=1 / 500, integrator="rk4", stabilization="none")
    world.step(317)
    x, v = world.positions[0], world.velocities[0]
    _, forces = world.kkt().solve()
    assert np.allclose(world.joint(0).force, world.jacobian().toarray().T[:3] @ forces, rtol=1e-9)
    along = world.joint(0).force @ x / np.linalg.norm(x)
    assert np.isclose(along, -(v @ v + G * -x[2]) / np.linalg.norm(x), rtol=1e-7)


def test_hanging_weight():
    world = mc.World(pendulum(angle=0.0, mass=3.0), integrator="rk4")
    world.step(100)
    assert np.allclose(world.joint(0).force, (0, 0, 3 * G), atol=1e-10)


def test_bits_repeat_and_restore():
    scene = mc.load("ragdolls", count=1)
    one, two = (mc.World(scene, integrator="rk4") for _ in range(2))
    one.step(20)
    kept = one.snapshot()
    one.step(20)
    two.restore(kept)
    two.step(20)
    assert one.state_hash() == two.state_hash()


def test_settings_are_checked():
    scene = pendulum()
    with pytest.raises(mc.SceneError, match="joint_hertz.*too fast"):
        mc.World(scene, integrator="rk4", stabilization="soft", joint_hertz=60.0)
    for name in set(STABILIZATIONS) - {"none", "baumgarte", "soft", "projection"}:
        with pytest.raises(mc.SceneError, match="does not go with"):
            mc.World(scene, integrator="rk4", stabilization=name)
    with pytest.raises(mc.SceneError, match="integrator must be one of"):
        mc.World(scene, integrator="rk5")


@pytest.mark.parametrize("name", ["linear_damping", "angular_damping"])
def test_damping_too_fast_for_the_step_is_refused(name):
    """800 / s at substeps of 1/240 s: a velocity of 1 m/s was 1e13 m/s after ten steps, without a word."""

    def world(rate, **keywords):
        scene = mc.Scene(gravity=(0, 0, 0))
        scene.add_body("still", mass=1, inertia=(1, 1, 1))
        scene.add_body("damped", mass=1, inertia=(1, 1, 1), velocity=(1, 0, 0), angular_velocity=(0, 0, 1), **{name: rate})
        return mc.World(scene, integrator="rk4", **keywords)

    with pytest.raises(mc.SceneError, match=r"'damped' is damped at 800 .* at most 600"):
        world(800.0)
    for rate, substeps in ((590.0, 4), (800.0, 8)):
        kept = world(rate, substeps=substeps)
        kept.step(10)
        assert kept.energy().kinetic < 1.0
    before = kept.state_hash()
    kept.set_body("damped", **{name: 1300.0})
    with pytest.raises(mc.SceneError, match="'damped' is damped at 1300"):
        kept.step()
    kept.set_body("damped", **{name: 800.0})
    assert kept.state_hash() == before
    kept.step()


@pytest.mark.parametrize("turn", [0.5, 2.0, 3.5, 10.0])
@pytest.mark.parametrize("joint", [None, mc.HingeJoint, mc.BallJoint])
@pytest.mark.parametrize("kind", [mc.World, mc.ReducedWorld])
def test_a_steady_spin_is_followed_at_any_rate(kind, joint, turn):
    """`turn` radians a substep, about a principal axis. As four numbers quaternions lagged by 0.2 rad in 7 substeps
    of 3."""
    scene = mc.Scene(gravity=(0, 0, 0))
    scene.add_body("wheel", shape=mc.Box((0.5, 0.3, 0.1)), angular_velocity=(0, 0, 60 * turn))
    if joint is not None:
        scene.add_joint(joint(None, "wheel", anchor=(0, 0, 0), **({"axis": (0, 0, 1)} if joint is mc.HingeJoint else {})))
    world = kind(scene, dt=1 / 60, substeps=1, integrator="rk4")
    world.step(7)
    angle = 2 * np.arctan2(world.orientations[0, 3], world.orientations[0, 0]) - 7 * turn
    assert np.sin(0.5 * angle) == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize("kind", [mc.World, mc.ReducedWorld])
def test_a_tumbling_body_at_fourth_order(kind):
    """Torque-free, about no principal axis: the error of its orientation falls by 16 as the step is halved."""
    scene = mc.Scene(gravity=(0, 0, 0))
    scene.add_body("box", shape=mc.Box((0.5, 0.3, 0.1)), angular_velocity=(2, -3, 1))

    def after(steps):
        world = kind(scene, dt=1 / steps, substeps=1, integrator="rk4")
        world.step(steps)
        return world.orientations[0]

    exact = after(1600)
    errors = [np.linalg.norm(after(steps) * np.sign(after(steps) @ exact) - exact) for steps in (25, 50, 100)]
    assert errors[0] / errors[1] == pytest.approx(16, rel=0.2) and errors[1] / errors[2] == pytest.approx(16, rel=0.2)
