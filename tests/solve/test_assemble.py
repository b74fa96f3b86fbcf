"""The sparse matrices for observers against dense ones formed in NumPy, and the checks at their door."""

import numpy as np
import pytest
import scipy.sparse

from mcsim.solve.assemble import delassus_csr, jacobian_csr
from mcsim.state.fields import ROW_DTYPE
from solve_problems import BOUNDED, Problem, pyramid, random_problem


@pytest.mark.parametrize("seed", range(6))
def test_matrices_equal_the_dense_ones(seed):
    """J and A = J M^-1 J' to rounding; A symmetric to the bit and positive semidefinite."""
    problem = random_problem(seed, bodies=10, statics=2, blocks=20)
    rows, _ = problem.finish()
    dense = problem.jacobian(rows)
    j = jacobian_csr(rows, problem.body_count)
    assert scipy.sparse.issparse(j) and j.format == "csr" and j.shape == (len(rows), 60)
    assert (j.toarray() == dense).all()
    a = delassus_csr(rows)
    expected = dense @ problem.inv_mass_matrix() @ dense.T
    np.testing.assert_allclose(a.toarray(), expected, atol=1e-13 * np.abs(expected).max())
    assert (a.toarray() == a.toarray().T).all()
    assert np.linalg.eigvalsh(a.toarray()).min() > -1e-13 * np.abs(expected).max()
    for matrix in (a, j):
        again = matrix.copy()
        again.has_sorted_indices = again.has_canonical_format = False
        again.sum_duplicates()
        assert (again.indices == matrix.indices).all() and (again.indptr == matrix.indptr).all()


def test_pyramid_is_sparse():
    """Entries grow with the boxes, not with their square."""
    per_row = [delassus_csr(pyramid(base).finish()[0]).nnz / len(pyramid(base).finish()[0]) for base in (8, 16)]
    assert per_row[1] < 1.2 * per_row[0]


def test_static_bodies():
    """Their columns of J stand; rows that move nothing have no entries in A; the world has no column."""
    problem = Problem([np.inf, 2.0])
    spin = problem.spin(np.eye(3)[1])
    problem.block(-1, 0, BOUNDED, [spin])
    problem.block(0, 1, BOUNDED, [spin])
    rows, _ = problem.finish()
    j, a = jacobian_csr(rows, 2), delassus_csr(rows)
    assert j.toarray()[0].tolist() == [0, 0, 0, 0, 1, 0] + [0] * 6
    assert j.toarray()[1].tolist() == [0, 0, 0, 0, -1, 0, 0, 0, 0, 0, 1, 0]
    assert a.toarray().tolist() == [[0, 0], [0, 1 / 0.8]] and a.nnz == 1


def test_empty():
    """No rows and no bodies give empty matrices of the right shape."""
    rows = np.zeros(0, ROW_DTYPE)
    assert jacobian_csr(rows, 3).shape == (0, 18) and delassus_csr(rows).shape == (0, 0)
    assert jacobian_csr(rows, 0).shape == (0, 0)


def test_read_only_rows_are_welcome():
    """Observers only look."""
    rows, _ = random_problem(0).finish()
    rows.flags.writeable = False
    assert jacobian_csr(rows, 8).shape[0] == delassus_csr(rows).shape[0] == len(rows)


def with_body(name, body):
    rows, _ = random_problem(0).finish()
    rows[name][2] = body
    return rows


@pytest.mark.parametrize(
    "rows, bodies, error, words",
    [
        (np.zeros((3, 12)), 4, TypeError, "ROW_DTYPE"),
        ([1, 2], 4, TypeError, "ROW_DTYPE"),
        (np.zeros(4, ROW_DTYPE)[::2], 4, ValueError, "contiguous"),
        (np.zeros((2, 2), ROW_DTYPE), 4, ValueError, "one contiguous line"),
        (with_body("body_a", 8), 8, ValueError, "row 2 has body_a 8"),
        (with_body("body_b", -2), 8, ValueError, "row 2 has body_b -2"),
        (np.zeros(1, ROW_DTYPE), 1, ValueError, "on both sides"),
        (np.zeros(0, ROW_DTYPE), -1, ValueError, "body_count"),
        (np.zeros(0, ROW_DTYPE), 1.5, ValueError, "body_count"),
    ],
)
def test_wrong_calls(rows, bodies, error, words):
    """What the kernels could not survive is refused with a message."""
    with pytest.raises(error, match=words):
        jacobian_csr(rows, bodies)
    if words != "body_count" and "body_a 8" not in words:
        with pytest.raises(error, match=words):
            delassus_csr(rows)
