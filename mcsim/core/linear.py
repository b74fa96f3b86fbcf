"""Linear algebra whose last bits are the same on every processor.

NumPy hands products, solves and eigenvalues to a BLAS that has kernels for each family of processors, which sum in
orders of their own; what a world's state is made from would then depend on where it runs. Here every sum has one order,
from the first term to the last, no product is fused with an addition, and nothing is found out about the processor.

It is meant for what makes a state: the matrices of bodies and joints, and of contacts by the tens. Where numbers are only
shown, NumPy's own functions are as good, and faster for large matrices.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from mcsim.core import _linear


class Singular(ArithmeticError):
    """A matrix that has no inverse, or that is not positive definite where it must be."""


def product(first: Any, *others: Any) -> np.ndarray:
    """The product of vectors and matrices from left to right, as the operator @ takes them: vectors (n,), matrices (m, n),
    or stacks (..., m, n) of matrices, whose leading axes are the same, or are missing in one."""
    result = np.asarray(first, float)
    for other in others:
        other = np.asarray(other, float)
        result = _of_two(result, other) if result.ndim <= 2 and other.ndim <= 2 else _of_stacks(result, other)
    return result


def _of_two(a: Any, b: Any) -> Any:
    """Of vectors and matrices."""
    if a.ndim == 1 and b.ndim == 1:
        return dot(a, b)
    left, right = a[None] if a.ndim == 1 else a, b[:, None] if b.ndim == 1 else b
    if left.shape[1] != right.shape[0]:
        raise ValueError(f"product: {a.shape} and {b.shape} do not fit: {left.shape[1]} columns, {right.shape[0]} rows")
    out = np.empty((left.shape[0], right.shape[1]))
    _linear.multiply_two(np.ascontiguousarray(left), np.ascontiguousarray(right), out)
    return out[0] if a.ndim == 1 else out[:, 0] if b.ndim == 1 else out


def _of_stacks(a: Any, b: Any) -> Any:
    """Of stacks of matrices, or of one and a vector or matrix."""
    left, right = a[None] if a.ndim == 1 else a, b[:, None] if b.ndim == 1 else b
    heads = left.shape[:-2], right.shape[:-2]
    if left.shape[-1] != right.shape[-2] or (heads[0] and heads[1] and heads[0] != heads[1]):
        raise ValueError(f"product: {a.shape} and {b.shape} do not fit")
    out = np.empty((*(heads[0] or heads[1]), left.shape[-2], right.shape[-1]))
    _linear.multiply(_stack(left), _stack(right), _stack(out))
    return out[..., 0, :] if a.ndim == 1 else out[..., 0] if b.ndim == 1 else out


def _stack(a: Any) -> Any:
    """(s, m, n) the same numbers, in one piece of memory."""
    return np.ascontiguousarray(a).reshape(prod(a.shape[:-2]), *a.shape[-2:])


def turned(matrices: Any, vectors: Any) -> np.ndarray:
    """(..., m): each matrix (..., m, n) times its own vector (..., n)."""
    return product(matrices, np.asarray(vectors, float)[..., None])[..., 0]


def sparse_product(a: Any, b: Any) -> Any:
    """a @ b: a of scipy.sparse, b too, or a vector or matrix. SciPy finds where entries are, not what they are: its sums
    are fused with their products on processors of which every one can do that, as those of aarch64."""
    rows = a.tocsr()
    parts = _by_rows(rows)
    if not hasattr(b, "tocsr"):
        right = np.asarray(b, float)
        columns = np.ascontiguousarray(right[:, None] if right.ndim == 1 else right)
        if columns.ndim != 2 or len(columns) != a.shape[1]:
            raise ValueError(f"sparse_product: {a.shape} and {right.shape} do not fit")
        out = np.empty((a.shape[0], columns.shape[1]))
        _linear.sparse_times_columns(*parts, columns, out)
        return out[:, 0] if right.ndim == 1 else out
    others = b.tocsr()
    result = (rows @ others).tocsr()
    begin, column, _ = _by_rows(result)
    _linear.sparse_times_sparse(*parts, *_by_rows(others), begin, column, result.data, np.zeros(b.shape[1]))
    return result


def _by_rows(matrix: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Where the rows of a CSR matrix begin, their columns, their entries."""
    return matrix.indptr.astype(np.int64), matrix.indices.astype(np.int64), np.ascontiguousarray(matrix.data, float)


def dot(a: Any, b: Any) -> float:
    """The inner product of two vectors (n,)."""
    a, b = np.ascontiguousarray(a, float), np.ascontiguousarray(b, float)
    if a.shape != b.shape:
        raise ValueError(f"dot: vectors of {len(a)} and {len(b)} numbers do not fit")
    return _linear.sum_products(a, b)


def length(a: Any) -> float:
    """The Euclidean norm of a vector (n,)."""
    return _linear.length_of(np.ascontiguousarray(a, float))


def lengths(a: Any) -> np.ndarray:
    """(...,) the Euclidean norms of vectors (..., n)."""
    return np.sqrt(dots(a, a))


def dots(a: Any, b: Any) -> np.ndarray:
    """(...,) the inner products of vectors (..., n) side by side."""
    a, b = np.ascontiguousarray(a, float), np.ascontiguousarray(b, float)
    if a.shape != b.shape:
        raise ValueError(f"dots: vectors of the shapes {a.shape} and {b.shape} do not fit")
    out = np.empty(a.shape[:-1])
    _linear.row_products(a.reshape(-1, a.shape[-1]), b.reshape(-1, a.shape[-1]), out.reshape(-1))
    return out


def crosses(a: Any, b: Any) -> np.ndarray:
    """(n, 3) the cross products of vectors (n, 3) side by side: those of np.cross, in a third of the time."""
    out = np.empty(a.shape)
    for i, j, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        out[:, i] = a[:, j] * b[:, k] - a[:, k] * b[:, j]
    return out


def solve(matrix: Any, right: Any) -> np.ndarray:
    """x of matrix x = right, (n, n) and (n,) or (n, m), or stacks of (n, n) and (n, m); Gauss with row exchanges. Singular
    where a column has no pivot left."""
    matrix, right = np.array(matrix, float), np.asarray(right, float)
    columns = right[:, None] if right.ndim == 1 else right
    out = np.empty(columns.shape)
    if not _linear.solve_lu(_stack(matrix), _stack(columns), _stack(out)):
        raise Singular("a singular matrix has no inverse")
    return out[:, 0] if right.ndim == 1 else out


def inverse(matrix: Any) -> np.ndarray:
    """Of (..., n, n)."""
    matrix = np.asarray(matrix, float)
    return solve(matrix, np.broadcast_to(np.eye(matrix.shape[-1]), matrix.shape))


def determinant(matrix: Any) -> np.ndarray:
    """(...,) of (..., n, n)."""
    stack = _stack(np.array(matrix, float))
    out = np.empty(len(stack))
    _linear.determinants(stack, out)
    return out.reshape(np.shape(matrix)[:-2])[()]


class Cholesky:
    """The factor L of a symmetric positive definite matrix (n, n) = L L'; Singular if it is not one."""

    upper: np.ndarray

    def __init__(self, matrix: Any) -> None:
        self.upper = np.array(matrix, float, order="C")
        if not _linear.factor_cholesky(self.upper):
            raise Singular("a matrix that is to be positive definite is not")

    def solve(self, right: Any) -> np.ndarray:
        """matrix^-1 right, (n,) or (n, m)."""
        right = np.asarray(right, float)
        x = np.array(right[:, None] if right.ndim == 1 else right, order="C")
        _linear.solve_cholesky(self.upper, x)
        return x[:, 0] if right.ndim == 1 else x


def least(matrix: Any, right: Any, rank: float = 1e-11) -> tuple[np.ndarray, np.ndarray]:
    """The least of the solutions that come nearest to matrix x = right, (m, n) and (m,) or (m, columns), and the
    numbers of as many columns of the matrix as are independent, ascending: by a complete orthogonal factorization
    (G. Golub, C. Van Loan, "Matrix Computations", section 5.5), which ends where what is left of a column is less
    than `rank` of the longest one."""
    matrix = np.array(matrix, float, order="C")
    right = np.array(right, float, order="C")
    solution, order = np.zeros((matrix.shape[1], *right.shape[1:])), np.zeros(matrix.shape[1], np.int64)
    if not matrix.size:
        return solution, order[:0]
    found = _linear.least_solution(matrix, right.reshape(len(right), -1), rank, solution.reshape(len(solution), -1), order)
    return solution, np.sort(order[:found])


def eigen(matrix: Any) -> tuple[np.ndarray, np.ndarray]:
    """Eigenvalues (n,) of a symmetric matrix (n, n), ascending, and their vectors (n, n), a column each; of the matrix its
    lower triangle is read."""
    vectors, values = np.array(matrix, float, order="C"), np.zeros(len(matrix))
    size = np.max(np.abs(vectors), initial=0.0)
    if not np.isfinite(size):
        raise Singular("a matrix with values that are not finite has no eigenvalues")
    vectors /= size or 1.0
    if not _linear.eigen(vectors, values):
        raise Singular("eigenvalues were not found")
    order = np.argsort(values, kind="stable")
    return size * values[order], vectors[order].T


def eigenvalues(matrix: Any) -> np.ndarray:
    """(..., n) of symmetric matrices (..., n, n), ascending."""
    matrix = np.asarray(matrix, float)
    if matrix.ndim == 2:
        return eigen(matrix)[0]
    return np.array([eigenvalues(part) for part in matrix]).reshape(matrix.shape[:-1])
