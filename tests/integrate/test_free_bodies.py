"""Bodies without joints: free fall, damping, spinning tops in space."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import mcsim as mc

G = 9.81
INERTIA = np.array([[0.31, 0.02, -0.01], [0.02, 0.22, 0.03], [-0.01, 0.03, 0.14]])


def spinning(inertia=INERTIA, spin=(1.0, 5.0, -2.0), orientation=(1, 0, 0, 0), **keywords):
    scene = mc.Scene(gravity=(0, 0, 0))
    scene.add_body(
        "top",
        mass=2.0,
        inertia=inertia,
        angular_velocity=spin,
        orientation=orientation,
        velocity=(0.3, 0, -0.1),
        position=(1, 2, 3),
    )
    return mc.World(scene, **keywords)


def rotation(q):
    w, x, y, z = q
    cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + 2 * w * cross + 2 * cross @ cross


def spin_momentum(world):
    r = rotation(world.orientations[0])
    return r @ INERTIA @ r.T @ world.angular_velocities[0]


def reference(inertia, spin, time):
    """Euler's equations and the quaternion's by SciPy: -> orientation, angular velocity in the world."""

    def rates(_, y):
        q, w = y[:4], y[4:]  # w in body axes
        dq = 0.5 * np.array([-q[1:] @ w, *(q[0] * w + np.cross(q[1:], w))])
        return np.concatenate([dq, np.linalg.solve(inertia, np.cross(inertia @ w, w))])

    y = solve_ivp(rates, (0, time), [1, 0, 0, 0, *spin], rtol=1e-12, atol=1e-13, method="DOP853").y[:, -1]
    return y[:4], rotation(y[:4] / np.linalg.norm(y[:4])) @ y[4:]


# ---- translation -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("stabilization", ["soft", "baumgarte"])
def test_free_fall(stabilization):
    """v = g t to rounding, and the fall is g t^2 / 2; with forces in whole kicks before the drift g t h / 2 more, the
    semi-implicit step's first order."""
    for substeps in (1, 4, 16):
        scene = mc.Scene()
        scene.add_body("m", mass=3.0, inertia=(1, 1, 1), position=(0, 0, 100), velocity=(2, 0, 5))
        scene.add_body("light", mass=1.0, inertia=(1, 1, 1), gravity_scale=0.25)
        world = mc.World(scene, substeps=substeps, stabilization=stabilization)
        world.step(120)
        h = 1 / 60 / substeps if stabilization == "baumgarte" else 0.0
        assert world.velocities[0] == pytest.approx((2, 0, 5 - 2 * G), rel=1e-12)
        assert world.positions[0] == pytest.approx((4, 0, 110 - G * 2 * 2 / 2 - G * 2 * h / 2), rel=1e-12)
        assert world.velocities[1] == pytest.approx((0, 0, -0.5 * G), rel=1e-12)


def test_forces_accelerate_masses_and_torques_inertias():
    """F / m and I^-1 tau over one step call, from rest."""
    world = spinning(spin=(0, 0, 0), orientation=(0.6, 0, 0.8, 0), substeps=1, dt=0.01)
    world.apply_force("top", (1, 2, 3))
    world.apply_torque("top", (0.1, -0.2, 0.3))
    world.step()
    r = rotation((0.6, 0, 0.8, 0))
    assert world.velocities[0] == pytest.approx(np.array((0.3, 0, -0.1)) + 0.01 * np.array((1, 2, 3)) / 2)
    assert world.angular_velocities[0] == pytest.approx(
        0.01 * r @ np.linalg.solve(INERTIA, r.T @ (0.1, -0.2, 0.3)), rel=1e-3
    )


def test_damping_decays_at_its_rate():
    """Velocities fall by the part h c / 2 in each half of a substep, which tends to exp(-c t)."""
    for substeps in (1, 8):
        scene = mc.Scene(gravity=(0, 0, 0))
        scene.add_body(
            "m",
            mass=1,
            inertia=(1, 1, 1),
            velocity=(3, 0, 0),
            angular_velocity=(0, 2, 0),
            linear_damping=0.7,
            angular_damping=1.9,
        )
        world = mc.World(scene, substeps=substeps)
        world.step(60)
        h = 1 / 60 / substeps
        assert world.velocities[0, 0] == pytest.approx(3 * (1 - 0.35 * h) ** (120 * substeps), rel=1e-12)
        assert world.angular_velocities[0, 1] == pytest.approx(2 * (1 - 0.95 * h) ** (120 * substeps), rel=1e-12)
        assert world.velocities[0, 0] == pytest.approx(3 * np.exp(-0.7), rel=0.01 / substeps)


def test_kinematic_bodies_keep_their_velocity():
    """A kinematic body moves by its own velocity, exactly, unmoved by gravity; a static one never."""
    scene = mc.Scene()
    scene.add_body("k", kind="kinematic", velocity=(1, 2, 3), angular_velocity=(0, 0, np.pi))
    scene.add_body("s", kind="static", position=(1, 1, 1))
    world = mc.World(scene)
    world.step(30)
    assert world.positions[0] == pytest.approx((0.5, 1.0, 1.5), rel=1e-12)
    assert np.abs(world.orientations[0]) == pytest.approx((np.sqrt(0.5), 0, 0, np.sqrt(0.5)), abs=1e-12)
    assert np.array_equal(world.positions[1], (1, 1, 1))


# ---- rotation --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("keywords", [{}, {"substeps": 1}, {"dt": 1e-3}, {"dt": 0.1, "substeps": 1}, {"dt": 1.0}])
def test_a_free_spin_keeps_momentum_and_energy(keywords):
    """|L| and L to 2e-13 relative over 2000 steps at any step size, the energy to 1e-12."""
    world = spinning(**keywords)
    momentum, energy = spin_momentum(world), world.energy().kinetic
    for _ in range(20):
        world.step(100)
        now = spin_momentum(world)
        assert np.linalg.norm(now) == pytest.approx(np.linalg.norm(momentum), rel=2e-13)
        assert now == pytest.approx(momentum, abs=2e-13 * np.linalg.norm(momentum))
        assert world.energy().kinetic == pytest.approx(energy, rel=1e-12)
        assert np.linalg.norm(world.orientations[0]) == pytest.approx(1, abs=1e-14)


@pytest.mark.parametrize("speed", [1e-6, 1.0, 1e3, 1e6])
def test_any_spin_stays_finite(speed):
    """Very slow and absurdly fast spins: momentum is kept, energy stays within what the momentum allows."""
    world = spinning(spin=speed * np.array([1.0, 5.0, -2.0]))
    momentum, energy = spin_momentum(world), world.energy().kinetic
    world.step(600)
    assert spin_momentum(world) == pytest.approx(momentum, abs=1e-11 * np.linalg.norm(momentum))
    if speed <= 1e3:
        assert world.energy().kinetic == pytest.approx(energy, rel=1e-9)


def test_asymmetric_top_converges_to_scipy_at_second_order():
    """Orientation and angular velocity after 2 s against Euler's equations; the error falls with the step squared."""
    q, w = reference(INERTIA, (1.0, 5.0, -2.0), 2.0)
    errors = []
    for substeps in (1, 2, 4, 8, 16):
        world = spinning(dt=0.02, substeps=substeps)
        world.step(100)
        mine = world.orientations[0] * np.sign(world.orientations[0] @ q)
        errors.append([np.abs(mine - q).max(), np.abs(world.angular_velocities[0] - w).max()])
    orders = np.diff(-np.log2(errors), axis=0)
    assert np.all((orders[1:] > 1.9) & (orders[1:] < 2.1)), orders
    assert errors[-1][0] < 1e-4


def test_a_principal_spin_is_exact():
    """A spin about a principal axis turns by w t to rounding."""
    world = spinning(np.diag([0.3, 0.2, 0.1]), (0, 0, 7.0))
    world.step(60)
    assert world.angular_velocities[0] == pytest.approx((0, 0, 7.0), abs=1e-13)
    q = world.orientations[0] * np.sign(world.orientations[0, 0] * np.cos(3.5))
    assert q == pytest.approx((np.cos(3.5), 0, 0, np.sin(3.5)), abs=1e-12)


def test_dzhanibekov_flips_with_its_period():
    """A spin about the middle axis flips over and back; the period is that of the elliptic integral."""
    from scipy.special import ellipk

    inertia = np.array([0.3, 0.2, 0.1])
    spin = np.array([0.01, 6.0, 0.01])
    world = spinning(np.diag(inertia), spin, dt=1e-3)
    along = []
    for _ in range(28000):
        world.step()
        along.append(rotation(world.orientations[0])[:, 1] @ world.angular_velocities[0])
    assert min(along) < -5.9 and max(along) > 5.9
    crossings = np.nonzero(np.diff(np.sign(along)))[0]
    assert len(crossings) >= 6
    # Landau and Lifshitz, Mechanics, section 37, moments ordered I1 < I2 < I3 and L^2 > 2 T I2.
    i3, i2, i1 = inertia
    twice_energy, square = np.sum(inertia * spin**2), np.sum((inertia * spin) ** 2)
    if square < twice_energy * i2:
        i1, i3 = i3, i1
    k2 = (i2 - i1) * (twice_energy * i3 - square) / ((i3 - i2) * (square - twice_energy * i1))
    period = 4 * ellipk(k2) * np.sqrt(i1 * i2 * i3 / ((i3 - i2) * (square - twice_energy * i1)))
    assert 2 * np.diff(crossings).mean() * 1e-3 == pytest.approx(period, rel=1e-3)


def test_a_sphere_turns_at_a_constant_rate_whatever_the_axis():
    """Equal moments: the angular velocity does not change in a bit's worth over a thousand steps."""
    world = spinning(np.eye(3) * 0.2, (1.0, 2.0, 3.0))
    world.step(1000)
    assert world.angular_velocities[0] == pytest.approx((1, 2, 3), rel=1e-12)


def test_thin_and_flat_bodies():
    """Moments over six orders of magnitude, as of a needle and a disc: momentum stays, energy does not grow."""
    for inertia in ((1.0, 1.0, 1e-6), (1e-6, 1.0, 1.0), (0.5, 0.5, 1.0), (1e-8, 1e-8, 1e-8)):
        world = spinning(np.diag(inertia), (3.0, 2.0, 4.0))
        energy, (_, momentum) = world.energy().kinetic, world.momentum()
        world.step(600)
        assert world.energy().kinetic <= energy * (1 + 1e-9)
        assert world.momentum()[1] == pytest.approx(momentum, abs=1e-11 * np.linalg.norm(momentum))
