"""Sequential impulses against a dense NumPy twin, dense factorizations and what a solution must satisfy."""

import numpy as np
import pytest

from mcsim.solve import SOLVER_DESCRIPTIONS, SOLVERS
from mcsim.solve._si import py_factor_blocks, py_residual, py_sweep_si, py_warm_start
from solve_problems import BILATERAL, BOUNDED, CONE, FRICTION, KIND, Problem, pyramid, random_inertia, random_problem
from solve_twin import bound_of, gauss_seidel, residuals


def solved(problem, relaxed=0, sweeps=1):
    rows, factors = problem.finish()
    py_factor_blocks(rows, factors)
    largest = py_sweep_si(rows, factors, problem.twist, relaxed, sweeps)
    return rows, largest


def test_registry_has_a_line_for_each_solver():
    """Names and codes of the solvers are listed once, each with its description."""
    assert SOLVERS == {"si": 0, "pgs": 1}
    assert SOLVER_DESCRIPTIONS.keys() == SOLVERS.keys()


@pytest.mark.parametrize("relaxed", [0, 1])
@pytest.mark.parametrize("seed", range(12))
def test_sweeps_equal_the_dense_twin(seed, relaxed):
    """After one and after seven sweeps velocities and impulses are those of the NumPy twin to 1e-12."""
    for sweeps in (1, 7):
        problem = random_problem(seed)
        expected_velocity, expected_impulse = gauss_seidel(problem, problem.finish()[0], relaxed, sweeps)
        rows, _ = solved(problem, relaxed, sweeps)
        np.testing.assert_allclose(problem.velocity, expected_velocity, rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(rows["impulse"], expected_impulse, rtol=1e-12, atol=1e-12)


def test_the_world_and_static_bodies_do_not_move():
    """Rows on the world and on a static body leave their twists at exactly zero."""
    problem = random_problem(3, bodies=6, statics=2)
    solved(problem, sweeps=5)
    assert not problem.twist[:3].any()


def test_warm_start_applies_all_impulses():
    """v += M^-1 J' impulse, formed densely."""
    problem = random_problem(5)
    rows, _ = problem.finish()
    rows["impulse"] = np.random.default_rng(0).normal(size=len(rows))
    expected = problem.velocity.ravel() + problem.inv_mass_matrix() @ problem.jacobian(rows).T @ rows["impulse"]
    py_warm_start(rows, problem.twist)
    np.testing.assert_allclose(problem.velocity.ravel(), expected, rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("relaxed", [0, 1])
@pytest.mark.parametrize("seed", range(8))
def test_converged_solution_satisfies_its_conditions(seed, relaxed):
    """Complementarity of every bound, cones kept, friction against the slip, all from the definitions."""
    problem = random_problem(seed)
    rows, largest = solved(problem, relaxed, 4000)
    assert largest < 1e-11
    assert py_residual(rows, problem.twist, relaxed) < 1e-11
    w = residuals(problem, rows, relaxed)
    x = rows["impulse"]
    i = 0
    while i < len(rows):
        kind, block = rows["block_kind"][i], slice(i, i + rows["block"][i])
        if (rows["diagonal"][block] + rows["compliance"][block, relaxed]).max() == 0:
            pass
        elif kind == BILATERAL:
            assert np.abs(w[block]).max() < 1e-10
        elif kind == CONE:
            check_cone(x[block], w[block], bound_of(rows, i, x))
        else:
            bound = bound_of(rows, i, x)
            lower, upper = (rows["lower"][i], rows["upper"][i]) if kind == BOUNDED else (-bound, bound)
            rounding = 1e-14 * (1.0 + bound)  # of the bound's sum
            assert lower - rounding <= x[i] <= upper + rounding
            assert w[i] > -1e-10 or x[i] >= upper - rounding
            assert w[i] < 1e-10 or x[i] <= lower + rounding
        i = block.stop


def check_cone(x, w, radius):
    """Inside: no slip. On the circle: the slip is against the impulse (maximum dissipation)."""
    length = np.linalg.norm(x)
    assert length <= radius * (1 + 1e-13)
    if length < radius * (1 - 1e-9):
        assert np.abs(w).max() < 1e-10
    elif radius > 0:
        assert abs(x[0] * w[1] - x[1] * w[0]) < 1e-10 * radius
        assert x @ w <= 1e-12


def test_natural_map_is_what_its_definition_says():
    """max |x - P(x - mass w)| computed row by row in NumPy, away from the solution; nothing is changed."""
    problem = random_problem(11)
    rows, _ = solved(problem, 0, 1)
    before = rows.copy()
    w, x, largest, i = residuals(problem, rows, 0), rows["impulse"], 0.0, 0
    while i < len(rows):
        block = slice(i, i + rows["block"][i])
        kind = rows["block_kind"][i]
        mass = rows["mass"][block, 0] if kind != CONE else rows["mass"][block, 0].min()
        y = x[block] - mass * w[block]
        if kind == CONE:
            y *= min(1.0, bound_of(rows, i, x) / np.linalg.norm(y))
        elif kind == BOUNDED:
            y = np.clip(y, rows["lower"][i], rows["upper"][i])
        elif kind == FRICTION:
            y = np.clip(y, -bound_of(rows, i, x), bound_of(rows, i, x))
        largest = max(largest, np.abs(np.where(rows["mass"][block, 0] > 0, y - x[block], 0.0)).max())
        i = block.stop
    assert largest > 1e-3
    assert py_residual(rows, problem.twist, 0) == pytest.approx(largest, rel=1e-12)
    assert rows.tobytes() == before.tobytes()


@pytest.mark.parametrize("relaxed", [0, 1])
def test_bilateral_rows_equal_the_dense_kkt_solution(relaxed):
    """A chain of welds and balls to convergence is the solution of [M -J'; J C] by LU."""
    rng = np.random.default_rng(1)
    n = 5
    masses = rng.uniform(1, 3, n)
    problem = Problem(masses, np.cumsum(rng.normal(size=(n, 3)), axis=0), [random_inertia(rng, m) for m in masses])
    problem.velocity[:] = rng.normal(size=(n, 6))
    for k in range(n):
        put = problem.weld if k % 2 else problem.ball
        m = 6 if k % 2 else 3
        put(
            k - 1,
            k,
            problem.positions[k] + rng.normal(0, 0.3, 3),
            bias=rng.normal(size=(m, 2)),
            compliance=rng.uniform(0.0, 0.2, (m, 2)),
        )
    rows = problem.finish()[0]
    j, m = problem.jacobian(rows), problem.mass_matrix()
    kkt = np.block([[m, -j.T], [j, np.diag(rows["compliance"][:, relaxed])]])
    right = np.concatenate([m @ problem.velocity.ravel(), -rows["bias"][:, relaxed]])
    expected = np.linalg.solve(kkt, right)
    rows, _ = solved(problem, relaxed, 3000)
    np.testing.assert_allclose(problem.velocity.ravel(), expected[: 6 * n], atol=1e-11)
    np.testing.assert_allclose(rows["impulse"], expected[6 * n :], atol=1e-10)


def test_a_block_is_exact_in_one_sweep_at_any_mass_ratio():
    """A weld between 1 g and 1 t leaves no relative velocity behind after one local solve."""
    rng = np.random.default_rng(2)
    problem = Problem([1e-3, 1e3], rng.normal(size=(2, 3)), [random_inertia(rng, 1e-3), random_inertia(rng, 1e3)])
    problem.velocity[:] = rng.normal(size=(2, 6))
    problem.weld(0, 1, np.array([0.3, 0.2, 0.1]))
    rows, _ = solved(problem)
    assert np.abs(residuals(problem, rows, 0)).max() < 1e-12


def test_redundant_rows_in_a_block_are_harmless():
    """A repeated row and a row that two others imply change nothing: the same velocities, finite impulses."""
    velocities = []
    for redundant in (False, True):
        problem = random_problem(0, bodies=2, statics=0, blocks=0)
        point = np.array([0.1, 0.4, -0.2])
        x, y, z = (problem.point(0, 1, point, axis) for axis in np.eye(3))
        problem.block(0, 1, BILATERAL, [x, y, x, 0.6 * x + 0.8 * y, z] if redundant else [x, y, z])
        rows, _ = solved(problem, sweeps=3)
        assert np.isfinite(rows["impulse"]).all() and np.abs(rows["impulse"]).max() < 100
        assert np.abs(residuals(problem, rows, 0)).max() < 1e-12
        velocities.append(problem.velocity.copy())
    np.testing.assert_allclose(*velocities, atol=1e-12)


def test_redundant_blocks_converge():
    """Two equal welds between two bodies share the load without growing."""
    problem = random_problem(0, bodies=2, statics=0, blocks=0)
    for _ in range(2):
        problem.weld(0, 1, np.array([0.1, 0.4, -0.2]))
    rows, largest = solved(problem, sweeps=20)
    assert largest < 1e-12
    assert np.abs(residuals(problem, rows, 0)).max() < 1e-12


@pytest.mark.parametrize("kind", ["weld", "cone", "bounded"])
def test_rows_between_infinite_masses_are_skipped(kind):
    """No mass on either side: impulses stay, nothing becomes NaN or infinite, even with mass stored as infinity."""
    problem = Problem([np.inf, np.inf])
    if kind == "weld":
        problem.weld(0, 1, np.ones(3), bias=np.ones((6, 2)))
    elif kind == "cone":
        problem.contact(0, 1, np.eye(3), (0, 0, 1), bias=-1.0)
    else:
        problem.block(-1, 1, BOUNDED, [problem.spin(np.eye(3)[0])], bias=1.0)
    rows, factors = problem.finish()
    rows["mass"] = np.inf
    py_factor_blocks(rows, factors)
    assert py_sweep_si(rows, factors, problem.twist, 0, 3) == 0
    assert py_residual(rows, problem.twist, 0) == 0 or kind == "weld"
    assert not rows["impulse"].any() and not problem.twist.any()


def test_momentum_is_kept():
    """Equal and opposite impulses at one point: linear and angular momentum stay to 1e-13 of their parts."""
    problem = random_problem(21, bodies=10, statics=0, blocks=20, world=False)
    before = problem.momentum()
    scale = np.abs(problem.masses[:, None] * problem.velocity[:, :3]).sum() * 3
    solved(problem, sweeps=25)
    for old, new in zip(before, problem.momentum()):
        assert np.abs(new - old).max() < 1e-13 * scale


def test_pyramid_of_boxes_is_held_up():
    """Run long, every box of a pyramid rests, and the ground's impulses sum to the weight of a substep."""
    problem = pyramid(6)
    weight_step = problem.masses.sum() * 9.81 / 240
    rows, largest = solved(problem, sweeps=4000)
    assert largest < 1e-10
    assert np.abs(problem.velocity).max() < 1e-9
    ground = rows[(rows["body_a"] == -1) & (rows["kind"] == KIND["normal"])]
    assert ground["impulse"].sum() == pytest.approx(weight_step, rel=1e-9)


def test_no_rows():
    """An empty array is a valid problem."""
    rows, factors = Problem([1.0]).finish()
    twist = np.zeros((2, 6))
    py_factor_blocks(rows, factors)
    py_warm_start(rows, twist)
    assert py_sweep_si(rows, factors, twist, 0) == 0 and py_residual(rows, twist, 0) == 0
