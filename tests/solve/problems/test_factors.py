"""The factorizations under admm, newton and staggered against NumPy's dense ones."""

import numpy as np
import pytest

import mcsim as mc
from mcsim.solve.problems._lu import solve_blocks
from mcsim.solve.problems._proximal import solve_shifted
from mcsim.solve.problems.problem import csr_parts

SIZES = {"one": [1], "threes": [3] * 7, "bodies": [6] * 9, "mixed": [3, 1, 6, 2, 5] * 4, "none": []}


def pattern(rng, size, density):
    """A symmetric pattern of blocks, (numbers, numbers) of 0 and 1."""
    blocks = rng.random((len(size),) * 2) < density
    blocks |= blocks.T | np.eye(len(size), dtype=bool)
    return np.repeat(np.repeat(blocks, size, 0), size, 1)


@pytest.mark.parametrize("name", SIZES)
@pytest.mark.parametrize("density", [0.0, 0.2, 1.0])
def test_cholesky_solves(name, density):
    rng, size = np.random.default_rng(3), SIZES[name]
    n = sum(size)
    half = rng.normal(size=(n, n))
    S = (half @ half.T) * pattern(rng, size, density) + 3.0 * n * np.eye(n)
    right = rng.normal(size=n)
    found = solve_blocks(size, S, right, True)
    np.testing.assert_allclose(found, np.linalg.solve(S, right), rtol=1e-11, atol=1e-13)


def test_cholesky_of_many_nodes_needs_more_than_one_word_of_bits():
    size = [2] * 150
    S = 4.0 * np.eye(300) + np.diag(np.ones(298), 2) + np.diag(np.ones(298), -2)
    S[0, -1] = S[-1, 0] = 0.5
    right = np.arange(300.0)
    np.testing.assert_allclose(S @ solve_blocks(size, S, right, True), right, atol=1e-10)


@pytest.mark.parametrize("name", SIZES)
@pytest.mark.parametrize("density", [0.0, 0.2, 1.0])
def test_lu_solves_what_is_not_symmetric(name, density):
    rng, size = np.random.default_rng(4), SIZES[name]
    n = sum(size)
    S = rng.normal(size=(n, n)) * pattern(rng, size, density) + 3.0 * np.sqrt(n) * np.eye(n)
    right = rng.normal(size=n)
    np.testing.assert_allclose(solve_blocks(size, S, right, False), np.linalg.solve(S, right), rtol=1e-10, atol=1e-12)


def test_lu_exchanges_rows_within_a_block():
    S = np.array([[0.0, 2.0], [1.0, 0.0]])
    np.testing.assert_allclose(solve_blocks([2], S, np.array([4.0, 3.0]), False), [3.0, 2.0])


def random_rows(rng, bodies, contacts, singles, masses):
    """J with zeros among its numbers, block-diagonal M^-1 of free bodies."""
    n, m = 3 * contacts + singles, 6 * bodies
    jacobian = rng.normal(size=(n, m)) * (rng.random((n, m)) < 0.6)
    inverse_mass = np.zeros((m, m))
    for k in range(bodies):
        half = rng.normal(size=(3, 3))
        inverse_mass[6 * k : 6 * k + 3, 6 * k : 6 * k + 3] = np.eye(3) / masses[k]
        inverse_mass[6 * k + 3 : 6 * k + 6, 6 * k + 3 : 6 * k + 6] = half @ half.T / masses[k]
    return jacobian, inverse_mass


@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize("bodies", [1, 4])
def test_shifted_solves(whole, bodies):
    """(A + R + D)^-1 r, D of the scaled rows, by the bodies' numbers and by A itself."""
    rng = np.random.default_rng(bodies)
    jacobian, inverse_mass = random_rows(rng, bodies, 4, 3, [1.0, 10.0, 0.1, 3.0])
    compliance, d, right = 0.1 * rng.random(15), rng.random(15), rng.normal(size=15)
    problem = mc.Problem.factored(jacobian, inverse_mass, right, [0.5] * 4, compliance=compliance)
    A = problem.A.toarray()
    if whole:
        problem = mc.Problem(A, right, [0.5] * 4, compliance=compliance)
    largest = [block.diagonal().max() for block in problem.system.local_blocks]
    scale = np.repeat(largest, [3] * 4 + [1] * 3)
    x = solve_shifted(problem.system, None if whole else csr_parts(problem.inverse_mass), d, right)
    np.testing.assert_allclose(x, np.linalg.solve(A + np.diag(compliance + d * scale), right), rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("whole", [False, True])
def test_a_row_that_is_held_takes_no_part(whole):
    rng = np.random.default_rng(8)
    jacobian, inverse_mass = random_rows(rng, 2, 1, 2, [1.0, 2.0])
    problem = mc.Problem.factored(jacobian, inverse_mass, np.zeros(5), [0.5])
    A = problem.A.toarray()
    if whole:
        problem = mc.Problem(A, np.zeros(5), [0.5])
    d, right = np.full(5, 0.3), rng.normal(size=5)
    d[1] = np.inf
    x = solve_shifted(problem.system, None if whole else csr_parts(problem.inverse_mass), d, right)
    largest = np.repeat([block.diagonal().max() for block in problem.system.local_blocks], [3, 1, 1])
    rest = [0, 2, 3, 4]
    assert x[1] == 0.0
    np.testing.assert_allclose(
        x[rest], np.linalg.solve((A + np.diag(0.3 * largest))[np.ix_(rest, rest)], right[rest]), rtol=1e-9
    )


def test_numbers_without_mass_take_no_part():
    """Columns of what cannot move, and an M^-1 of less than full rank."""
    rng = np.random.default_rng(9)
    jacobian, inverse_mass = random_rows(rng, 3, 2, 0, [1.0, 1.0, 1.0])
    inverse_mass[6:12] = inverse_mass[:, 6:12] = 0.0
    axis = rng.normal(size=3)
    inverse_mass[3:6, 3:6] = np.outer(axis, axis)
    right = rng.normal(size=6)
    problem = mc.Problem.factored(jacobian, inverse_mass, right, [0.5] * 2)
    scale = np.repeat([block.diagonal().max() for block in problem.system.local_blocks], 3)
    x = solve_shifted(problem.system, csr_parts(problem.inverse_mass), np.full(6, 0.2), right)
    np.testing.assert_allclose(x, np.linalg.solve(problem.A.toarray() + np.diag(0.2 * scale), right), rtol=1e-9)
