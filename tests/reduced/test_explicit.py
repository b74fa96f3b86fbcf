"""Coordinates as a function of fewer, given by the user: velocities, accelerations, and the motion that they leave."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import mcsim as mc
from mcsim.core.errors import SceneError
from mcsim.reduced import Dynamics, Explicit, Formulation, System
from mcsim.reduced.kinds import QUATERNIONS
from random_trees import joint_coordinates, random_q, random_scene
from twin import Twin

BARS = {"ground": 1.1, "crank": 0.4, "coupler": 1.2, "rocker": 0.9}
START = 1.0  # where the scene four_bar has its crank


def four_bar_angles(crank, real):
    """Lean of the coupler, swing of the rocker: law of cosines at the crank's pin."""
    x, z = BARS["ground"] - BARS["crank"] * np.cos(crank), -BARS["crank"] * np.sin(crank)
    distance = np.sqrt(x * x + z * z)
    opening = np.arccos((BARS["coupler"] ** 2 + distance**2 - BARS["rocker"] ** 2) / (2 * BARS["coupler"] * distance))
    lean = (np.arctan2(z, x) if real else np.arctan(z / x)) + opening  # x is always positive here
    joint_x = BARS["crank"] * np.cos(crank) + BARS["coupler"] * np.cos(lean) - BARS["ground"]
    joint_z = BARS["crank"] * np.sin(crank) + BARS["coupler"] * np.sin(lean)
    return lean, np.arctan2(joint_z, joint_x) if real else 2 * np.arctan(
        (np.sqrt(joint_x**2 + joint_z**2) - joint_x) / joint_z
    )


def four_bar_gamma(real):
    """The crank's angle from its start -> q of the hinges drive, pin, elbow."""
    at_start = four_bar_angles(START, True)

    def gamma(y):
        lean, swing = (now - before for now, before in zip(four_bar_angles(START + y[0], real), at_start))
        return np.array([y[0], lean - y[0], swing - lean])

    return gamma


@pytest.fixture(scope="module")
def four_bar():
    return Dynamics(System(mc.load("four_bar", driven=False)))


def derivatives(gamma):
    """dgamma/dy, and its rate along yd, by other means than Explicit's: a high order through one ring of points."""
    turns = np.exp(2j * np.pi * np.arange(32) / 32)

    def derivative(y):
        return np.mean([gamma(y + 0.1 * t) / (0.1 * t) for t in turns], axis=0).real[:, None]

    def second(y, yd):
        return 2 * np.mean([gamma(y + 0.1 * t) / (0.1 * t) ** 2 for t in turns], axis=0).real * yd[0] ** 2

    return derivative, second


# ---- a four-bar by its crank -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("how", ["real", "complex", "derivative", "both"])
@pytest.mark.parametrize("y", [0.0, 1.3, -2.0])
def test_four_bar_by_its_crank_is_that_of_its_loop(four_bar, how, y):
    gamma = four_bar_gamma(how == "real")
    given = derivatives(four_bar_gamma(False))[: {"derivative": 1, "both": 2}.get(how, 0)]
    explicit = Explicit(four_bar, gamma, *given)
    y, yd, tau = np.array([y]), np.array([3.0]), np.array([0.7, -0.4, 0.2])
    forces = np.random.default_rng(0).normal(size=(3, 6))
    ydd = explicit.forward_dynamics(y, yd, tau, forces)
    q, qd, qdd = explicit.lift(y, yd, ydd)
    made = Formulation(four_bar, q, qd, tau, forces)
    tolerance = 1e-9 if how == "real" else 1e-11
    assert np.allclose(qdd, made.joint_accelerations("kkt"), rtol=0, atol=tolerance * np.abs(qdd).max())
    assert np.isclose(explicit.mass_matrix(y)[0, 0], qd @ four_bar.mass_matrix(q) @ qd / 9)
    # What holds it: no work, and the loop's force.
    left = explicit.constraint_force(y, yd, tau, forces)
    assert np.allclose(explicit.G(y).T @ left, 0, atol=1e-8)
    multipliers = explicit.loop_forces(y, yd, tau, forces)["pivot"]
    assert np.allclose(made.loop_K.T @ multipliers, left, rtol=0, atol=1e-8 * np.abs(left).max())
    # In the plane it is unique: the forces along x and y of the hinge.
    rows = [i for i, (name, row) in enumerate(made.rows[made.loop_rows]) if row in ("force along x", "force along y")]
    assert np.allclose(multipliers[rows], made.constraint_forces()["pivot"].constraint[rows], rtol=1e-6)


def test_energy_of_a_swinging_four_bar_is_kept(four_bar):
    explicit = Explicit(four_bar, four_bar_gamma(False), step=5e-3)
    found = solve_ivp(
        lambda _, x: [x[1], *explicit.forward_dynamics(x[:1], x[1:], np.zeros(3))],
        (0, 0.3),
        [0.0, 4.0],
        method="DOP853",
        rtol=1e-9,
        atol=1e-9,
    ).y[:, -1]

    def energy(y, yd):
        q, qd, _ = explicit.lift([y], [yd], [0.0])
        return sum(four_bar.energy(q, qd))

    assert abs(found[0]) > 0.5
    assert np.isclose(energy(*found), energy(0.0, 4.0), rtol=1e-8)


# ---- all kinds of joints ---------------------------------------------------------------------------------------------


def wavy(rng, system, size):
    """A smooth gamma of all coordinates; quaternions come out of any length."""
    base, amplitude = random_q(rng, system), 0.3 * rng.normal(size=(system.nq, size))
    return lambda y: base + np.sin(amplitude @ y)


@pytest.mark.parametrize("seed", range(16))
def test_velocities_and_accelerations_of_the_bodies(seed):
    """Along y(t) the bodies' poses change as qd = G yd says, and their velocities as qdd = G ydd + g says."""
    rng = np.random.default_rng(seed)
    system = System(random_scene(rng, 2 + seed % 4), ball=("quaternion", "ypr")[seed % 2])
    dynamics, gamma = Dynamics(system), wavy(rng, system, 2)
    explicit = Explicit(dynamics, gamma)
    y, yd, ydd, h = rng.normal(size=2), rng.normal(size=2), rng.normal(size=2), 1e-4
    bodies = [link.body_number for link in system.links]

    def at(t):
        state = explicit.lift(y + t * yd + t * t / 2 * ydd, yd + t * ydd, ydd)
        return [part[bodies] for part in dynamics.state(state.q, state.qd)]

    after, before, now = at(h), at(-h), at(0.0)
    state = explicit.lift(y, yd, ydd)
    linear, angular = (part[bodies] for part in dynamics.accelerations(state.q, state.qd, state.qdd))
    scale = 1 + np.abs(linear).max()
    assert np.allclose((after[0] - before[0]) / (2 * h), now[2], rtol=0, atol=1e-6 * scale)
    assert np.allclose((after[2] - before[2]) / (2 * h), linear, rtol=0, atol=1e-6 * scale)
    assert np.allclose((after[3] - before[3]) / (2 * h), angular, rtol=0, atol=1e-6 * scale)
    turned = 2 * np.array(
        [np.cross(q[1:], dq[1:]) + q[0] * dq[1:] - dq[0] * q[1:] for q, dq in zip(now[1], (after[1] - before[1]) / (2 * h))]
    )
    assert np.allclose(turned, now[3], rtol=0, atol=1e-6 * scale)


@pytest.mark.parametrize("kind", ["planar", "universal", "spherical_ypr", *QUATERNIONS])
def test_rates_are_undone_by_the_twins(kind):
    """dq/dt of G yd is gamma's, of coordinates of unit length."""
    rng = np.random.default_rng(4)
    scene_kind = "spherical" if kind == "spherical_ypr" else kind
    system = System(random_scene(rng, 1, kinds=(scene_kind,)), ball="ypr" if kind == "spherical_ypr" else "quaternion")
    assert system.links[0].kind == kind
    start, way = joint_coordinates(rng, kind), rng.normal(size=system.nq)
    explicit = Explicit(system, lambda y: start + way * y[0])
    rate = Twin(system).coordinate_rates(explicit.q(0.0), explicit.G(0.0)[:, 0])
    length = np.linalg.norm(start[-4:]) if kind in QUATERNIONS else 1.0
    expected = way.copy()
    if kind in QUATERNIONS:
        unit = start[-4:] / length
        expected[-4:] = (way[-4:] - unit * (unit @ way[-4:])) / length
    assert np.allclose(rate, expected, atol=1e-11)


def test_a_bead_on_a_wire():
    """A ball of mass m that slides along a helix: radius² + pitch² times its acceleration is pitch times gravity."""
    scene = mc.Scene(gravity=(0, 0, -9.81))
    scene.add_body("bead", mass=0.3, inertia=(1, 1, 1))
    radius, pitch = 0.5, 0.2
    explicit = Explicit(
        System(scene),
        lambda y: np.array([radius * np.cos(y[0]), radius * np.sin(y[0]), pitch * y[0], 2.0, 0 * y[0], 0 * y[0], 0 * y[0]]),
    )
    ydd = explicit.forward_dynamics([0.4], [2.0], np.zeros(6))
    assert np.allclose(ydd, -9.81 * pitch / (radius**2 + pitch**2), rtol=1e-12)
    held = explicit.constraint_force([0.4], [2.0], np.zeros(6))[:3]
    inwards = -np.array([np.cos(0.4), np.sin(0.4), 0])
    assert np.isclose(held @ inwards, 0.3 * radius * 4.0)


# ---- what is refused -------------------------------------------------------------------------------------------------


def test_wrong_gammas_are_refused(four_bar):
    good = four_bar_gamma(False)
    derivative, second = derivatives(good)
    cases = [
        (lambda y: good(y)[:2], (), r"gamma\(y\) must be \(3,\)"),
        (lambda y: good(y) + 1e-3, (), "does not close the loop of joint 'pivot'"),
        (lambda y: good(y) + np.array([0, 0, 1e-3 * np.sin(y[0])]), (), "gamma breaks joint 'pivot'"),
        (good, (lambda y: derivative(y) * 1.01,), r"derivative\(y\) is not that of gamma: dq\[\d\]/dy\[0\]"),
        (good, (lambda y: derivative(y)[:, 0],), r"derivative\(y\) must be \(3, 1\)"),
    ]
    for gamma, given, what in cases:
        with pytest.raises(SceneError, match=what):
            Explicit(four_bar, gamma, *given).G(np.zeros(1))
    with pytest.raises(SceneError, match=r"second\(y, yd\) is not that of gamma"):
        Explicit(four_bar, good, derivative, lambda y, yd: 1.01 * second(y, yd)).g([0.3], [2.0])
    with pytest.raises(SceneError, match="yd must be 1 finite"):
        Explicit(four_bar, good).g([0.3], [2.0, 1.0])
    with pytest.raises(SceneError, match="y must be finite"):
        Explicit(four_bar, good).q([np.nan])
    with pytest.raises(SceneError, match="step"):
        Explicit(four_bar, good, step=0.0)


def test_a_quaternion_of_no_length_is_refused():
    scene = mc.Scene()
    scene.add_body("top", mass=1.0, inertia=(1, 1, 1))
    with pytest.raises(SceneError, match="length zero at link 'top'"):
        Explicit(System(scene), lambda y: np.zeros(7) * y[0]).q(0.0)
