"""The rows as sparse matrices: the constraint Jacobian J and the Delassus matrix A = J M^-1 J', for looking at.

Solvers do not use these copies; `_si` needs no matrix and `_pgs` keeps its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mcsim.core.linear import sparse_product
from mcsim.solve._assemble import delassus_arrays, jacobian_arrays
from mcsim.state.fields import ROW_DTYPE

if TYPE_CHECKING:
    from scipy.sparse import csr_array

BLOCK_WIDE = 5  # state/_row.pxd: from here on, two rows that are one


def second_rows(rows: np.ndarray) -> np.ndarray:
    """(m,) bool: which records are the second of a wide row, and no row of their own."""
    return (rows["block_kind"] >= BLOCK_WIDE) & (rows["block"] == 0)


def jacobian_csr(rows: np.ndarray, body_count: int) -> csr_array:
    """J as a scipy.sparse.csr_array of shape (rows, 6 * body_count), in SI units.

    Columns are the twists [v; w] of the bodies in world axes; static bodies' columns stand, the world has none.
    rows: (m,) array of ROW_DTYPE; the two records of a wide row make one row of J.
    """
    _check(rows, body_count)
    jacobian = _csr(jacobian_arrays(rows), (len(rows), 6 * body_count))
    return _canonical(sparse_product(_joined(rows), jacobian)) if np.any(second_rows(rows)) else jacobian


def delassus_csr(rows: np.ndarray) -> csr_array:
    """A = J M^-1 J' without compliance as a scipy.sparse.csr_array of shape (rows, rows), symmetric to the bit.

    Rows between bodies of infinite mass have no entries. rows: (m,) array of ROW_DTYPE.
    """
    _check(rows, None)
    bodies = 0 if len(rows) == 0 else 1 + max(int(rows["body_a"].max()), int(rows["body_b"].max()))
    delassus = _csr(delassus_arrays(rows, bodies), (len(rows), len(rows)))
    if not np.any(second_rows(rows)):
        return delassus
    joined = _joined(rows)
    sums = sparse_product(sparse_product(joined, delassus), joined.T)
    return _canonical(0.5 * (sums + sums.T))


def _joined(rows: np.ndarray) -> csr_array:
    """(rows that are one, records) sparse matrix of ones that adds the two records of each wide row."""
    from scipy.sparse import csr_array

    whole = np.cumsum(~second_rows(rows)) - 1
    return csr_array((np.ones(len(rows)), (whole, np.arange(len(rows)))))


def _canonical(matrix: Any) -> csr_array:
    matrix = matrix.tocsr()
    matrix.sum_duplicates()
    matrix.sort_indices()
    return matrix


def _check(rows: np.ndarray, body_count: int | None) -> None:
    """The kernels follow the body numbers without looking: refuse what they could not."""
    if not isinstance(rows, np.ndarray) or rows.dtype != ROW_DTYPE:
        raise TypeError(f"rows must be an array of mcsim's ROW_DTYPE, not {getattr(rows, 'dtype', type(rows))}")
    if rows.ndim != 1 or not rows.flags.c_contiguous:
        raise ValueError(
            f"rows must be one contiguous line of records, not of shape {rows.shape} and strides "
            f"{rows.strides}; pass np.ascontiguousarray(rows)"
        )
    if body_count is not None and (body_count != int(body_count) or body_count < 0):
        raise ValueError(f"body_count must be a whole number of bodies, not {body_count!r}")
    for name in ("body_a", "body_b"):
        body = rows[name]
        upper = np.inf if body_count is None else body_count
        wrong = np.flatnonzero((body < -1) | (body >= upper))
        if len(wrong):
            raise ValueError(
                f"row {wrong[0]} has {name} {body[wrong[0]]}; body numbers go from -1 (the world) to "
                f"{'the last body' if body_count is None else body_count - 1}"
            )
    same = np.flatnonzero(rows["body_a"] == rows["body_b"])
    if len(same):
        raise ValueError(f"row {same[0]} has the body {rows['body_a'][same[0]]} on both sides")


def _csr(arrays: tuple[np.ndarray, np.ndarray, np.ndarray], shape: tuple[int, int]) -> csr_array:
    from scipy.sparse import csr_array  # here, since importing mcsim should stay light

    indptr, indices, data = arrays
    if indptr[-1] <= np.iinfo(np.int32).max:
        indptr = indptr.astype(np.int32)
    matrix = csr_array((data, indices, indptr), shape=shape)
    matrix.has_sorted_indices = True
    matrix.has_canonical_format = True
    return matrix
