"""Restitution: closed forms of one blow, Newton's cradle, and energy that never grows."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from mcsim.solve._impact import py_resolve_impacts

from amounts import amount
from solve_problems import KIND, Problem, random_inertia, unit

H = 1 / 240
THRESHOLD = 0.5


def resolve(problem, threshold=THRESHOLD, h=H):
    rows, _ = problem.finish()
    impulse = np.zeros(len(rows))
    before = rows.copy()
    count = py_resolve_impacts(rows, problem.twist, threshold, h, impulse)
    assert rows.tobytes() == before.tobytes()
    return count, impulse, rows


def box(size=(1.0, 1.0, 1.0), mass=2.0, e=0.5, friction=0.0, model="cone", separation=0.0):
    """A box on the ground with its four corners as contacts."""
    x, y, z = np.array(size) ** 2
    problem = Problem([mass], [(0, 0, size[2] / 2)], np.diag([y + z, x + z, x + y]) * mass / 12)
    corners = [(u * size[0] / 2, v * size[1] / 2, 0.0) for u in (-1, 1) for v in (-1, 1)]
    problem.contact(-1, 0, corners, (0, 0, 1), friction=friction, model=model, restitution=e, separation=separation)
    return problem


@pytest.mark.parametrize("e", [0.2, 0.7, 1.0])
@pytest.mark.parametrize("size", [(1, 1, 1), (0.2, 0.3, 4.0), (5.0, 1.0, 0.1)])
def test_a_flat_box_bounces_flat(size, e):
    """v+ = -e v without spin, by four equal impulses, for squat and for slender boxes."""
    problem = box(size, e=e, friction=0.3)
    problem.velocity[0, 2] = -3.0
    count, impulse, _ = resolve(problem)
    assert count == 1
    np.testing.assert_allclose(problem.velocity[0], [0, 0, 3.0 * e, 0, 0, 0], atol=1e-13)
    np.testing.assert_allclose(impulse[:4], 2.0 * 3.0 * (1 + e) / 4, rtol=1e-8)
    assert np.abs(impulse[4:]).max() < 1e-13


@pytest.mark.parametrize("balls, moving", [(5, 1), (5, 2), (5, 3), (2, 1), (9, 4)])
@pytest.mark.parametrize("order", ["along", "against", "mixed"])
def test_newtons_cradle(balls, moving, order):
    """As many balls leave as came, with their speed, in whatever order the contacts stand; energy to 1e-12."""
    problem = Problem(np.full(balls, 0.7), [(0.1 * k, 0, 0) for k in range(balls)])
    pairs = list(range(balls - 1))
    pairs = {"along": pairs, "against": pairs[::-1], "mixed": pairs[::2] + pairs[1::2]}[order]
    for k in pairs:
        problem.contact(k, k + 1, (0.1 * k + 0.05, 0, 0), (1, 0, 0), restitution=1.0, friction=0.2, source=k)
    problem.velocity[:moving, 0] = 1.0
    energy = problem.kinetic_energy()
    resolve(problem)
    expected = np.zeros(balls)
    expected[balls - moving :] = 1.0
    np.testing.assert_allclose(problem.velocity[:, 0], expected, atol=1e-12)
    assert problem.kinetic_energy() == pytest.approx(energy, rel=1e-12)


@pytest.mark.parametrize("model", ["cone", "pyramid", "point"])
@pytest.mark.parametrize("friction", [0.05, 0.2, 0.5, 2.0])
def test_oblique_sphere(friction, model):
    """Normal: v+ = -e v. Tangent: slides under mu p, or leaves rolling where 2/7 m v_t is less than that."""
    mass, radius, e, vn, vt = 3.0, 0.4, 0.8, 2.0, np.array([1.5, 2.0])
    problem = Problem([mass], [(0, 0, radius)], np.eye(3) * 0.4 * mass * radius**2)
    problem.contact(-1, 0, (0, 0, 0), (0, 0, 1), friction=friction, model=model, restitution=e)
    problem.velocity[0] = [*vt, -vn, 0, 0, 0]
    resolve(problem)
    p = (1 + e) * mass * vn
    speed, needed = np.linalg.norm(vt), 2 / 7 * mass * np.linalg.norm(vt)
    tangent = vt / speed * min(needed, friction * p)  # under a cone, whatever sweeps take friction for
    expected_spin = np.cross([0, 0, -radius], [*-tangent, 0]) / (0.4 * mass * radius**2)
    np.testing.assert_allclose(problem.velocity[0, :3], [*(vt - tangent / mass), e * vn], atol=1e-12)
    np.testing.assert_allclose(problem.velocity[0, 3:], expected_spin, atol=1e-11)


def test_only_what_touches_fast_enough_bounces():
    """Slow closing, a gap that outlasts the substep, a parting pair and e = 0 are left to the solver."""
    for velocity, e, separation, expected in [
        (-0.4, 0.5, 0.0, 0),
        (-3.0, 0.5, 3.1 * H, 0),
        (2.0, 0.5, -0.01, 0),
        (-3.0, 0.0, 0.0, 0),
        (-3.0, 0.5, 2.9 * H, 1),
        (-3.0, 0.5, -0.01, 1),
    ]:
        problem = box(e=e, separation=separation)
        problem.velocity[0, 2] = velocity
        count, impulse, _ = resolve(problem)
        assert count == expected, (velocity, e, separation)
        assert bool(impulse.any()) == bool(expected)
        assert problem.velocity[0, 2] == pytest.approx(-e * velocity if expected else velocity, abs=1e-13)


def test_impulses_are_added_up():
    """The array collects: velocities change by M^-1 J' of exactly what was added to it."""
    problem = box(e=0.6, friction=0.4, model="point")
    problem.velocity[0] = [1.0, -0.5, -3.0, 0.2, 0.3, 0.4]
    start = problem.velocity.copy()
    rows, _ = problem.finish()
    impulse = np.full(len(rows), 10.0)
    assert py_resolve_impacts(rows, problem.twist, THRESHOLD, H, impulse) >= 1
    change = problem.inv_mass_matrix() @ problem.jacobian(rows).T @ (impulse - 10.0)
    np.testing.assert_allclose(problem.velocity.ravel(), start.ravel() + change, atol=1e-13)
    normals = rows["kind"] == KIND["normal"]
    assert (impulse[normals] >= 10.0).all()


def test_friction_rows_before_the_normals_count_too():
    """The same blow with the manifold's friction in front gives the same velocities."""
    results = []
    for front in (False, True):
        problem = box(e=0.5, friction=0.4)
        if front:
            problem.rows = problem.rows[4:] + problem.rows[:4]
            for row in problem.rows[:3]:
                row["normal_begin"] = 3
        problem.velocity[0] = [2.0, 1.0, -3.0, 0.0, 0.0, 0.0]
        resolve(problem)
        results.append(problem.velocity.copy())
    np.testing.assert_allclose(*results, atol=1e-14)


def pile(seed, e, model, friction, static):
    """A few bodies with random manifolds between them, flying at each other."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 6))
    masses = 10.0 ** rng.uniform(-1, 2, n)
    if static:
        masses[0] = np.inf
    inertias = [random_inertia(rng, m) if np.isfinite(m) else np.eye(3) for m in masses]
    problem = Problem(masses, rng.uniform(-1, 1, (n, 3)), inertias)
    for source in range(int(rng.integers(1, 7))):
        a, b = (int(k) for k in rng.choice(n, 2, replace=False))
        centre = 0.5 * (problem.positions[a] + problem.positions[b])
        normal = problem.positions[b] - problem.positions[a]
        normal = normal / np.linalg.norm(normal) + 0.3 * unit(rng)
        normal /= np.linalg.norm(normal)
        points = centre + rng.uniform(-0.5, 0.5, (int(rng.integers(1, 5)), 3))
        problem.contact(
            a,
            b,
            points,
            normal,
            friction=friction,
            model=model,
            restitution=e,
            source=source,
            separation=rng.uniform(-0.01, 0.01),
        )
    problem.velocity[int(static) :] = rng.normal(0, 3, (n - int(static), 6))
    return problem


@settings(deadline=None, derandomize=True, max_examples=amount(40, 300))
@given(
    seed=st.integers(0, 2**32),
    e=st.sampled_from([0.1, 0.5, 0.9, 1.0]),
    friction=st.sampled_from([0.0, 0.3, 1.5]),
    model=st.sampled_from(["cone", "pyramid", "point"]),
    static=st.booleans(),
)
def test_energy_never_grows(seed, e, friction, model, static):
    """For e up to 1 and any friction; frictionless with e = 1 it is kept; momentum is kept always."""
    problem = pile(seed, e, model, friction, static)
    energy = problem.kinetic_energy()
    momentum = None if static else problem.momentum()
    count, impulse, rows = resolve(problem, h=0.05)
    assert problem.kinetic_energy() <= energy * (1 + 1e-12)
    assert (impulse[rows["kind"] == KIND["normal"]] >= 0).all()
    if friction == 0 and e == 1:
        assert problem.kinetic_energy() == pytest.approx(energy, rel=1e-11)
    if not static:
        scale = sum(np.abs(part).max() for part in momentum) + np.sqrt(energy * problem.masses.max())
        for old, new in zip(momentum, problem.momentum()):
            assert np.abs(new - old).max() < 1e-12 * scale * (1 + count)


@settings(deadline=None, derandomize=True, max_examples=amount(50, 150))
@given(seed=st.integers(0, 2**32), e=st.sampled_from([0.3, 1.0]))
def test_one_frictionless_blow_keeps_newtons_law(seed, e):
    """Every touching point leaves with at least -e u; those that were pushed with exactly that."""
    problem = pile(seed, e, "none", 0.0, False)
    first = [row for row in problem.rows if row["source"] == 0]
    problem.rows = first
    rows, _ = problem.finish()
    before = problem.jacobian(rows) @ problem.velocity.ravel()
    count, impulse, rows = resolve(problem, threshold=0.0, h=0.05)
    if count != 1:
        return
    after = problem.jacobian(rows) @ problem.velocity.ravel()
    touching = (rows["error"] <= 0) | (rows["error"] + 0.05 * before < 0)
    law = (after + e * before)[touching]
    scale = np.abs(before).max()
    assert law.min() > -1e-9 * scale
    assert np.abs(law * (impulse[touching] > 0)).max() < 1e-9 * scale
