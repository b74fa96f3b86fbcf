"""What Dynamics says beside the equations of motion: hybrid dynamics, accelerations, points, sums over the bodies, the
factor of H; against the twin, finite differences and World."""

import numpy as np
import pytest

import mcsim as mc
from dynamics_checks import BALLS, FIRST, chain_of, state_of
from mcsim.core.errors import SceneError
from mcsim.core.rotation import matrix
from mcsim.reduced import Dynamics, System
from random_trees import random_scene
from twin import KINDS, Twin

AGREE = 1e-10


def case(seed, count=None):
    """-> Dynamics, Twin, {"q", "qd", "x", "forces" by body}"""
    rng = np.random.default_rng(FIRST + seed)
    system = System(random_scene(rng, 1 + seed % 12 if count is None else count), ball=BALLS[seed % 2])
    state = state_of(rng, system)
    by_body = np.zeros((len(system.scene.bodies), 6))
    by_body[[link.body_number for link in system.links]] = state["forces"]
    return Dynamics(system), Twin(system), state | {"by_body": by_body}


def batch_of(dynamics, count=5):
    rng = np.random.default_rng(2)
    states = [state_of(rng, dynamics.system) for _ in range(count)]
    return [np.array([state[name] for state in states]) for name in ("q", "qd", "x")]


def near(found, expected, tolerance=AGREE):
    found, expected = np.asarray(found), np.asarray(expected)
    assert found.shape == expected.shape
    return np.allclose(found, expected, rtol=0, atol=tolerance * (1 + np.abs(expected).max(initial=0)))


# ---- hybrid dynamics -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize("seed", range(20))
def test_hybrid_dynamics_is_the_twins(seed, whole):
    """Joints given as a whole go through the articulated bodies, others through the mass matrix."""
    dynamics, twin, state = case(seed)
    rng = np.random.default_rng(seed)
    given = rng.random(dynamics.nv) < 0.5
    if whole:
        for link in dynamics.system.links:
            given[link.v] = rng.random() < 0.5
    tau, qdd = rng.normal(size=(2, dynamics.nv))
    unknown = np.where(given, np.nan, tau), np.where(given, qdd, np.nan)
    found = dynamics.hybrid_dynamics(state["q"], state["qd"], *unknown, given, state["by_body"])
    expected = twin.hybrid_dynamics(state["q"], state["qd"], tau, qdd, given, state["forces"])
    assert near(found[0], expected[0], 1e-9) and near(found[1], expected[1], 1e-9)
    assert np.array_equal(found[0][given], qdd[given]) and np.array_equal(found[1][~given], tau[~given])


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "fixed"])
def test_hybrid_dynamics_of_every_kind(kind):
    system, state = chain_of(kind)
    given = np.zeros(system.nv, bool)
    given[system.links[1].v] = True
    found = Dynamics(system).hybrid_dynamics(state["q"], state["qd"], state["x"], 2 * state["x"], given)
    expected = Twin(system).hybrid_dynamics(state["q"], state["qd"], state["x"], 2 * state["x"], given)
    assert near(found[0], expected[0]) and near(found[1], expected[1])


@pytest.mark.parametrize("whole", [True, False])
def test_hybrid_dynamics_in_batches(whole):
    dynamics, _, _ = case(7, 9)
    q, qd, x = batch_of(dynamics)
    given = np.arange(dynamics.nv) % 2 == 0
    if whole:
        for link in dynamics.system.links:
            given[link.v] = link.number % 2
    many = dynamics.hybrid_dynamics(q, qd, x, x[0], given)
    for i in range(len(q)):
        one = dynamics.hybrid_dynamics(q[i], qd[i], x[i], x[0], given)
        assert near(many[0][i], one[0], 1e-13) and near(many[1][i], one[1], 1e-13)


def test_hybrid_dynamics_at_its_ends():
    """Nothing given: forward dynamics; all given: inverse dynamics. Another mask in between leaves no trace."""
    dynamics, _, state = case(5, 8)
    q, qd, x = state["q"], state["qd"], state["x"]
    nothing, all_ = np.zeros(dynamics.nv, bool), np.ones(dynamics.nv, bool)
    for _ in range(2):
        assert np.array_equal(dynamics.hybrid_dynamics(q, qd, x, x, nothing)[0], dynamics.forward_dynamics(q, qd, x))
        assert np.array_equal(dynamics.hybrid_dynamics(q, qd, x, x, all_)[1], dynamics.inverse_dynamics(q, qd, x))


def test_hybrid_dynamics_of_kinematic_bodies():
    scene = mc.Scene()
    scene.add_body("carriage", kind="kinematic", shape=mc.Box((0.1, 0.1, 0.1)))
    scene.add_body("bob", shape=mc.Sphere(0.2), position=(0.5, 0, -0.7))
    scene.add_joint(mc.BallJoint("carriage", "bob", (0, 0, 0)))
    dynamics, rng = Dynamics(System(scene)), np.random.default_rng(3)
    state = state_of(rng, dynamics.system)
    qdd, tau = dynamics.hybrid_dynamics(state["q"], state["qd"], np.zeros(9), state["x"], np.zeros(9, bool))
    moved = dynamics.system.links[0].v
    assert np.array_equal(qdd[moved], state["x"][moved])
    assert near(qdd, dynamics.forward_dynamics(state["q"], state["qd"], np.where(qdd == state["x"], qdd, 0.0)))
    assert near(tau, np.where(qdd == state["x"], dynamics.inverse_dynamics(state["q"], state["qd"], qdd), 0.0))


# ---- accelerations and points ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(20))
def test_accelerations_are_the_twins(seed):
    dynamics, twin, state = case(seed)
    bodies = [link.body_number for link in dynamics.system.links]
    given = state["q"], state["qd"], state["x"]
    linear, angular = dynamics.accelerations(*given)
    assert near(np.hstack([linear, angular])[bodies], twin.body_accelerations(*given))
    assert not np.delete(linear, bodies, axis=0).any() and not np.delete(angular, bodies, axis=0).any()


@pytest.mark.parametrize("seed", range(12))
def test_points_move_as_their_jacobians_say(seed):
    """Velocity and acceleration of a point fixed on a body, by differences along a motion."""
    dynamics, twin, state = case(seed)
    q, qd, qdd, h = state["q"], state["qd"], state["x"], 1e-4
    rng = np.random.default_rng(seed)
    for link in dynamics.system.links[::3]:
        point, body = rng.normal(size=3), dynamics.system.scene.bodies[link.body_number]

        def place(t):
            positions, orientations = dynamics.poses(twin.integrate(q, qd + t / 2 * qdd, t))
            turn = matrix(orientations[link.body_number])
            return positions[link.body_number] + turn @ (point - body.center_of_mass)

        jacobian = dynamics.point_jacobian(body, point, q)
        drift = dynamics.point_drift(body.name, point, q, qd)
        scale = 1 + np.abs(drift).max()
        assert np.allclose((place(h) - place(-h)) / (2 * h), jacobian @ qd, rtol=0, atol=1e-5 * scale)
        assert np.allclose(
            (place(h) - 2 * place(0) + place(-h)) / h**2,
            jacobian @ qdd + drift,
            rtol=0,
            atol=1e-4 * (scale + np.abs(jacobian @ qdd).max()),
        )
        linear, angular = dynamics.accelerations(q, qd, qdd)
        assert near(
            dynamics.body_jacobian(body, q) @ qdd + dynamics.body_drift(body, q, qd),
            np.concatenate([linear[link.body_number], angular[link.body_number]]),
        )
        center = dynamics.point_jacobian(body, body.center_of_mass, q)
        assert near(center, dynamics.body_jacobian(body, q)[:3])


def test_static_bodies_do_not_move():
    scene = mc.load("four_bar")
    scene.add_body("bed", kind="static", shape=mc.Box((1, 1, 1)), position=(0, 0, -5))
    dynamics = Dynamics(System(scene))
    q, qd = dynamics.system.initial()
    assert not dynamics.point_jacobian("bed", (1, 2, 3), q).any() and not dynamics.body_drift("bed", q, qd).any()
    for call in (lambda: dynamics.point_jacobian("bad", (0, 0, 0), q), lambda: dynamics.body_drift("bad", q, qd)):
        with pytest.raises(SceneError, match="'bad'.*bed"):
            call()
    with pytest.raises(SceneError, match="point"):
        dynamics.point_jacobian("bed", (1, 2), q)


# ---- sums over the bodies --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(20))
def test_sums_are_the_twins(seed):
    dynamics, twin, state = case(seed)
    q, qd, links = state["q"], state["qd"], dynamics.system.links
    masses = np.array([link.mass for link in links])
    assert np.isclose(dynamics.mass, masses.sum())
    assert near(dynamics.center_of_mass(q), masses @ twin.poses(q)[0] / masses.sum())
    assert near(dynamics.center_of_mass_velocity(q, qd), masses @ twin.velocities(q, qd)[0] / masses.sum())
    energy, expected = dynamics.energy(q, qd), twin.energy(q, qd)
    assert near(energy[0], expected.kinetic) and near(energy[1], expected.potential)
    assert near(energy[0], qd @ dynamics.mass_matrix(q) @ qd / 2)
    momentum, expected = dynamics.momentum(q, qd), twin.momentum(q, qd)
    assert near(momentum[0], expected[0]) and near(momentum[1], expected[1])
    about_center = dynamics.centroidal_momentum(q, qd)
    assert near(about_center[:3], momentum[0])
    assert near(about_center[3:] + np.cross(dynamics.center_of_mass(q), momentum[0]), momentum[1])
    assert near(dynamics.centroidal_momentum_matrix(q) @ qd, about_center)


def test_sums_in_batches():
    dynamics, _, _ = case(3, 6)
    q, qd, x = batch_of(dynamics)
    body = dynamics.system.links[4].body
    calls = {
        "center_of_mass": (q,),
        "center_of_mass_velocity": (q, qd),
        "energy": (q, qd),
        "momentum": (q, qd),
        "centroidal_momentum": (q, qd),
        "centroidal_momentum_matrix": (q,),
        "accelerations": (q, qd, x),
        "ltl": (q,),
    }
    for name, many in calls.items():
        found = getattr(dynamics, name)(*many)
        for i in range(len(q)):
            one = getattr(dynamics, name)(*(part[i] for part in many))
            for a, b in zip(found if isinstance(found, tuple) else (found,), one if isinstance(one, tuple) else (one,)):
                assert near(a[i], b, 1e-14), name
    jacobians, drifts = dynamics.point_jacobian(body, (1, 2, 3), q), dynamics.point_drift(body, (1, 2, 3), q, qd)
    for i in range(len(q)):
        assert near(jacobians[i], dynamics.point_jacobian(body, (1, 2, 3), q[i]), 1e-14)
        assert near(drifts[i], dynamics.point_drift(body, (1, 2, 3), q[i], qd[i]), 1e-13)
    assert near(dynamics.accelerations(q, qd[0], x[0])[0][2], dynamics.accelerations(q[2], qd[0], x[0])[0], 1e-14)


@pytest.mark.parametrize("name", ["ragdolls", "chain"])
def test_energy_and_momentum_are_the_worlds(name):
    world = mc.ReducedWorld(mc.load(name))
    world.qd[:] = np.random.default_rng(1).normal(size=len(world.qd))
    kinetic, potential = world.dynamics.energy(world.q, world.qd)
    expected = world.energy()
    assert np.isclose(kinetic, expected.kinetic, rtol=1e-11) and np.isclose(potential, expected.potential, rtol=1e-11)
    for found, other in zip(world.dynamics.momentum(world.q, world.qd), world.momentum()):
        assert near(found, other)


def test_momentum_of_a_floating_tree_changes_by_gravity_alone():
    """Whatever the joints' forces. Gravity is not the same for all bodies, so that it has a moment about the centre."""
    rng = np.random.default_rng(4)
    system = None
    while system is None or [link.joint is None for link in system.links] != [True] + [False] * 5:
        system = System(random_scene(rng, 6, gravity=(1.0, -2.0, -9.0)))
    dynamics, twin, h = Dynamics(system), Twin(system), 1e-5
    state = state_of(rng, system)
    q, qd, tau = state["q"], state["qd"], state["x"].copy()
    tau[system.links[0].v] = 0.0
    qdd = dynamics.forward_dynamics(q, qd, tau)
    after, before = (dynamics.centroidal_momentum(twin.integrate(q, qd + t / 2 * qdd, t), qd + t * qdd) for t in (h, -h))
    pulls = np.array([link.mass for link in system.links])[:, None] * dynamics.weights
    arms = dynamics.poses(q)[0][[link.body_number for link in system.links]] - dynamics.center_of_mass(q)
    expected = [*pulls.sum(axis=0), *np.cross(arms, pulls).sum(axis=0)]
    assert np.allclose((after - before) / (2 * h), expected, rtol=0, atol=1e-6 * (1 + np.abs(qdd).max()))


def test_nothing_with_mass_has_no_centre():
    scene = mc.Scene()
    scene.add_body("carriage", kind="kinematic", shape=mc.Sphere(0.1))
    dynamics = Dynamics(System(scene))
    with pytest.raises(SceneError, match="no centre of mass"):
        dynamics.center_of_mass(dynamics.system.neutral())
    assert dynamics.energy(dynamics.system.neutral(), np.ones(6)) == (0.0, 0.0)


# ---- the factor of H -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(20))
def test_ltl_factors_h_without_fill_in(seed):
    dynamics, _, state = case(seed)
    h, factor = dynamics.mass_matrix(state["q"]), dynamics.ltl(state["q"])
    assert near(factor.T @ factor, h, 1e-12)
    assert np.array_equal(factor, np.tril(factor))
    # Where the tree has no path between two velocities, there is nothing.
    allowed = np.zeros_like(h, dtype=bool)
    for k in range(dynamics.nv):
        i = k
        while i >= 0:
            allowed[k, i], i = True, dynamics.expanded_parent[i]
    assert not factor[~allowed].any() and not np.tril(h)[~allowed].any()
    assert near(dynamics.ltl_solve(factor, state["x"]), np.linalg.solve(h, state["x"]) if dynamics.nv else state["x"])
    many = np.random.default_rng(seed).normal(size=(dynamics.nv, 3))
    found = dynamics.ltl_solve(factor, many)
    assert near(h @ found, many, 1e-9)


def test_ltl_says_what_it_cannot_factor():
    scene = mc.Scene()
    scene.add_body("bob", shape=mc.Sphere(0.1))
    scene.add_body("carriage", kind="kinematic", shape=mc.Sphere(0.1))
    dynamics = Dynamics(System(scene))
    with pytest.raises(SceneError, match="not positive definite.*'carriage'"):
        dynamics.ltl(dynamics.system.neutral())
    system = System(mc.load("four_bar"))
    dynamics = Dynamics(system)
    factor = dynamics.ltl(system.neutral())
    for arguments, what in (
        ((factor[:2], np.zeros(3)), r"factor must be \(3, 3\)"),
        ((factor, np.zeros(2)), r"b must be \(3,\)"),
        ((factor, "x"), "b must be real numbers"),
    ):
        with pytest.raises(SceneError, match=what):
            dynamics.ltl_solve(*arguments)
    empty = Dynamics(System(mc.Scene()))
    assert empty.ltl([]).shape == (0, 0) and empty.ltl_solve(np.zeros((0, 0)), []).shape == (0,)
