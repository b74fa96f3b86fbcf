"""Gauss-Seidel on the assembled matrix: its structure, its agreement with sequential impulses, its buffers."""

import copy
import pickle

import numpy as np
import pytest
from mcsim.solve._pgs import Delassus, py_build, py_solve_pgs

from mcsim.solve._si import py_factor_blocks, py_residual, py_sweep_si
from solve_problems import Problem, pyramid, random_problem
from solve_twin import gauss_seidel


def run_pgs(problem, relaxed, sweeps, delassus=None):
    rows, factors = problem.finish()
    py_factor_blocks(rows, factors)
    delassus = delassus or Delassus()
    py_build(delassus, rows, problem.inv_masses)
    largest = py_solve_pgs(delassus, rows, factors, problem.twist, relaxed, sweeps)
    return rows, largest


def run_si(problem, relaxed, sweeps):
    rows, factors = problem.finish()
    py_factor_blocks(rows, factors)
    return rows, py_sweep_si(rows, factors, problem.twist, relaxed, sweeps)


@pytest.mark.parametrize("relaxed", [0, 1])
@pytest.mark.parametrize("seed", range(8))
def test_sweeps_equal_the_dense_twin(seed, relaxed):
    """After seven sweeps velocities and impulses are those of the NumPy twin to 1e-12."""
    problem = random_problem(seed)
    expected_velocity, expected_impulse = gauss_seidel(problem, problem.finish()[0], relaxed, 7)
    rows, _ = run_pgs(problem, relaxed, 7)
    np.testing.assert_allclose(problem.velocity, expected_velocity, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(rows["impulse"], expected_impulse, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("relaxed", [0, 1])
@pytest.mark.parametrize("seed", range(100, 108))
def test_agrees_with_sequential_impulses(seed, relaxed):
    """Run to convergence both solvers end at the same velocities and impulses to 1e-9 and say so."""
    one, other = random_problem(seed), random_problem(seed)
    rows_si, largest_si = run_si(one, relaxed, 20000)
    rows_pgs, largest_pgs = run_pgs(other, relaxed, 20000)
    assert largest_si < 1e-10 and largest_pgs < 1e-10
    np.testing.assert_allclose(other.velocity, one.velocity, atol=1e-9)
    np.testing.assert_allclose(rows_pgs["impulse"], rows_si["impulse"], atol=1e-9)
    assert py_residual(rows_pgs, other.twist, relaxed) < 1e-10


@pytest.mark.parametrize("model", ["cone", "pyramid", "point"])
def test_agrees_on_a_pyramid_of_boxes(model):
    """Rigid contacts share impulses in many ways; the velocities are unique and equal to 1e-9."""
    one, other = pyramid(4, model=model), pyramid(4, model=model)
    for problem in (one, other):
        problem.velocity[:, 0] += 0.3
    run_si(one, 0, 6000)
    run_pgs(other, 0, 6000)
    np.testing.assert_allclose(other.velocity, one.velocity, atol=1e-9)


@pytest.mark.parametrize("sweeps", [1, 40])
def test_mass_ratio_of_a_million(sweeps):
    """A box of 1e6 kg on one of 1 kg on the ground, and a jointed weight: sweep by sweep as sequential impulses."""
    results = []
    for run in (run_si, run_pgs):
        problem = Problem([1.0, 1e6, 1e3], [(0, 0, 0.5), (0, 0, 1.5), (2, 0, 1)])
        problem.velocity[:, 2] = -0.04
        corners = np.array([(x, y, 0.0) for x in (-0.5, 0.5) for y in (-0.5, 0.5)])
        problem.contact(-1, 0, corners, (0, 0, 1))
        problem.contact(0, 1, corners + (0, 0, 1), (0, 0, 1), source=1)
        problem.ball(0, 2, np.array([1.0, 0.0, 0.7]))
        rows, _ = run(problem, 0, sweeps)
        assert np.isfinite(problem.velocity).all() and np.isfinite(rows["impulse"]).all()
        results.append((problem.velocity.copy(), rows["impulse"]))
    scale = np.abs(results[0][1]).max()
    np.testing.assert_allclose(results[1][0], results[0][0], atol=1e-9)
    np.testing.assert_allclose(results[1][1], results[0][1], rtol=1e-9, atol=1e-12 * scale)


def test_structure_holds_the_pairs_that_share_a_moving_body():
    """The number of entries is that of the boolean product; static bodies and the world couple nothing."""
    problem = random_problem(7, bodies=9, statics=3, blocks=25)
    rows, _ = problem.finish()
    delassus = Delassus()
    py_build(delassus, rows, problem.inv_masses)
    on = np.zeros((len(rows), problem.body_count), bool)
    for name in ("body_a", "body_b"):
        body = rows[name]
        moving = (body >= 0) & (problem.inv_masses[body] > 0)
        on[np.flatnonzero(moving), body[moving]] = True
    assert delassus.row_count == len(rows)
    assert delassus.entry_count == (on.astype(int) @ on.T.astype(int) > 0).sum()


def test_buffers_grow_once():
    """The same problem, or a smaller one, is built again without asking for memory."""
    delassus = Delassus()
    assert py_build(delassus, pyramid(6).finish()[0], pyramid(6).inv_masses) == 2
    for base in (6, 3, 1, 6):
        problem = pyramid(base)
        assert py_build(delassus, problem.finish()[0], problem.inv_masses) == 0
    big = pyramid(12)
    assert py_build(delassus, big.finish()[0], big.inv_masses) > 0
    run_pgs(pyramid(2), 0, 3, delassus)


def test_reuse_gives_the_same_bits():
    """A matrix that held another problem before leaves no trace."""
    used = Delassus()
    run_pgs(random_problem(1, bodies=20, blocks=60), 0, 3, used)
    fresh, again = random_problem(2), random_problem(2)
    rows_fresh, _ = run_pgs(fresh, 0, 9)
    rows_again, _ = run_pgs(again, 0, 9, used)
    assert rows_fresh.tobytes() == rows_again.tobytes() and fresh.twist.tobytes() == again.twist.tobytes()


def test_copies_start_empty():
    """It is scratch memory: copying or pickling a world must not share or dump it."""
    delassus = Delassus()
    run_pgs(random_problem(1), 0, 1, delassus)
    for twin in (copy.deepcopy(delassus), pickle.loads(pickle.dumps(delassus))):
        assert twin.row_count == 0
        run_pgs(random_problem(1), 0, 1, twin)


def test_no_rows():
    """An empty array is a valid problem, with and without bodies."""
    for masses in ([], [1.0]):
        problem = Problem(masses)
        _, largest = run_pgs(problem, 0, 3)
        assert largest == 0
