"""Checks of what a problem is made of, and of the arrays that the pivoting solvers are given. Errors name the thing and
the cure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from mcsim.core.errors import SceneError

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from mcsim.solve.problems.protocols import AProblem

ASYMMETRY = 1e-9  # largest |A - A'| against the largest |A|
MOST_ROWS = 3000  # of dense methods
MOST_COLUMNS = 2**31 - 1  # kernels count them with 32 bits
QUIET = 1e-12  # of pivots: speeds below that are rounding, whatever the others are
LARGEST, SMALLEST = 1e100, 1e-100  # likewise: beyond, products leave the range of doubles; what is smaller counts as zero
FINITE = "all must be finite: look where it comes from"


class OutOfRange(SceneError):
    """Numbers of which a direct method would lose all digits."""


def vector(name: str, values: ArrayLike, count: int, of: str = "the matrix", *, least: float = -np.inf) -> np.ndarray:
    """(count,) doubles, a copy, finite; of: what asks for so many."""
    values = _line(name, values, count, of)
    _refuse(name, ~np.isfinite(values), values, FINITE)
    _refuse(name, values < least, values, f"it must be at least {least:g}")
    return values


def frictions(values: ArrayLike, row_count: int) -> np.ndarray:
    """(contacts,) coefficients, 0 to inf, of the first rows in threes."""
    values = _numbers("friction", values)
    if values.ndim != 1:
        raise SceneError(f"friction has the shape {values.shape}; pass one number a contact")
    _refuse("friction", ~(values >= 0.0), values, "a coefficient is 0, positive, or infinite")
    if 3 * len(values) > row_count:
        raise SceneError(
            f"friction has {len(values)} coefficients, which ask for {3 * len(values)} rows, [n, t1, t2] "
            f"each; there are {row_count}"
        )
    return values


def bounds(
    lower: ArrayLike | None, upper: ArrayLike | None, count: int, of: str = "the matrix", *, largest: float = np.inf
) -> tuple[np.ndarray, np.ndarray]:
    """(lower, upper), both (count,), copies; None: no bound. largest: what a bound may be without being infinite."""
    lower = np.full(count, -np.inf) if lower is None else _line("lower", lower, count, of)
    upper = np.full(count, np.inf) if upper is None else _line("upper", upper, count, of)
    for name, values, never in (("lower", lower, np.inf), ("upper", upper, -np.inf)):
        _refuse(name, np.isnan(values) | (values == never), values, f"give a number, or {-never} for no bound")
        _refuse(name, np.isfinite(values) & (np.abs(values) > largest), values, f"give {-never} for no bound")
    wrong = np.flatnonzero(lower > upper)
    if len(wrong):
        k = wrong[0]
        raise SceneError(f"bounds: lower[{k}] = {lower[k]:g} is above upper[{k}] = {upper[k]:g}; exchange them")
    return lower, upper


def bound_pairs(pairs: ArrayLike | None, row_count: int, contact_rows: int) -> np.ndarray:
    """(row_count - contact_rows, 2) lower and upper, a copy; None: no bounds. Those of the contacts' rows are left out."""
    count = row_count - contact_rows
    if pairs is None:
        return np.tile([-np.inf, np.inf], (count, 1))
    pairs = _numbers("bounds", pairs)
    if pairs.shape == (row_count, 2):
        pairs = pairs[contact_rows:].copy()
    if count == 0 and pairs.size == 0:
        pairs = pairs.reshape(0, 2)
    if pairs.shape != (count, 2):
        raise SceneError(
            f"bounds has the shape {pairs.shape}; pass ({count}, 2), a pair (lower, upper) for each row after the contacts'"
        )
    lower, upper = pairs.T
    bounds(lower, upper, count)
    return pairs


# ---- matrices --------------------------------------------------------------------------------------------------------


def sparse(name: str, matrix: Any) -> csr_array:
    """scipy.sparse CSR, a copy, canonical, finite; of a dense or sparse matrix."""
    from scipy.sparse import csr_array, issparse  # here, since importing mcsim should stay light

    if not issparse(matrix):
        matrix = _numbers(name, matrix)
        if matrix.ndim != 2:
            raise SceneError(f"{name} has the shape {matrix.shape}; pass a matrix")
    else:
        if len(matrix.shape) != 2 or matrix.dtype.kind not in "fiub":
            raise SceneError(f"{name} must be a matrix of real numbers, got {matrix.dtype} of the shape {matrix.shape}")
        _check_format(name, matrix)
    try:
        found = csr_array(matrix, dtype=float, copy=True)
    except (OverflowError, TypeError, ValueError):
        raise SceneError(f"{name} must be a matrix of numbers, dense or scipy.sparse") from None
    found.sum_duplicates()
    entries = found.tocoo()
    _refuse(name, ~np.isfinite(entries.data), entries.data, FINITE, np.column_stack([entries.row, entries.col]))
    return found


def csr_of(name: str, data: np.ndarray, indices: np.ndarray, indptr: np.ndarray, shape: np.ndarray) -> csr_array:
    """scipy.sparse CSR of its parts, which are arrays of any sort."""
    from scipy.sparse import csr_array

    for part, array, kinds in (
        ("data", data, "fiu"),
        ("indices", indices, "iu"),
        ("indptr", indptr, "iu"),
        ("shape", shape, "iu"),
    ):
        if array.ndim != 1 or array.dtype.kind not in kinds:
            raise SceneError(
                f"{name}_{part} must be a line of {'whole ' * (kinds == 'iu')}numbers, got {array.dtype} "
                f"of the shape {array.shape}"
            )
    if len(shape) != 2 or not all(0 <= n <= MOST_COLUMNS for n in shape.tolist()):
        raise SceneError(f"{name}_shape must be two numbers from 0 to {MOST_COLUMNS}, got {shape.tolist()!r:.60}")
    rows, columns = shape.tolist()
    _check_compressed(name, rows, columns, indptr, indices, len(data))
    return csr_array((data, indices.astype(np.int64), indptr.astype(np.int64)), shape=(rows, columns))


def _check_format(name: str, matrix: Any) -> None:
    """Refuses a scipy.sparse matrix whose indices lead out of it: scipy's own kernels follow them wherever they point."""
    if matrix.format in ("csr", "csc", "bsr"):
        lines, width = matrix.shape if matrix.format != "csc" else matrix.shape[::-1]
        if matrix.format == "bsr":
            lines, width = (n // k for n, k in zip(matrix.shape, matrix.blocksize))
        _check_compressed(name, lines, width, matrix.indptr, matrix.indices, len(matrix.data))
    elif matrix.format == "coo":
        for indices, length in zip(matrix.coords, matrix.shape):
            if len(indices) != len(matrix.data) or np.any((indices < 0) | (indices >= length)):
                raise SceneError(f"{name}, a coo matrix, has indices that are outside of its shape {matrix.shape}")


def _check_compressed(name: str, lines: int, width: int, indptr: np.ndarray, indices: np.ndarray, count: int) -> None:
    """The same of the parts of a CSR or CSC: `lines` rows, or columns, of `width` places."""
    if len(indptr) != lines + 1 or indptr[0] != 0 or np.any(indptr[1:] < indptr[:-1]):
        raise SceneError(f"{name}: indptr must ascend from 0, {lines + 1} numbers, got {indptr.tolist()!r:.60}")
    if not indptr[-1] == len(indices) == count:
        raise SceneError(
            f"{name}: indptr ends at {indptr[-1]}, so that there must be as many indices and numbers; "
            f"there are {len(indices)} and {count}"
        )
    if np.any((indices < 0) | (indices >= width)):
        raise SceneError(f"{name}: indices must be from 0 to {width - 1}, got {indices.min()} to {indices.max()}")


def sources(values: ArrayLike | None, count: int) -> np.ndarray | None:
    """What tells of every row where it comes from: a structured array (count,), a copy, or None."""
    if values is None:
        return None
    if not isinstance(values, np.ndarray) or values.shape != (count,) or not values.dtype.names or values.dtype.hasobject:
        raise SceneError(
            f"source must be a structured array of {count} records, one a row, or None, got "
            f"{getattr(values, 'dtype', type(values).__name__)!s:.60} {getattr(values, 'shape', '')}"
        )
    return values.copy()


def square(name: str, values: ArrayLike) -> np.ndarray:
    """(n, n) dense doubles, finite, in the range of pivots."""
    values = _numbers(name, values)
    if values.ndim != 2 or values.shape[0] != values.shape[1]:
        raise SceneError(f"{name} has the shape {values.shape}; pass a square matrix")
    _refuse(name, ~np.isfinite(values), values, FINITE)
    return moderate(name, values)


def semidefinite(name: str, values: ArrayLike) -> np.ndarray:
    """Likewise, symmetric to the bit, without a negative diagonal; the rest of it shows in solving."""
    values = square(name, values)
    symmetric(name, values)
    return 0.5 * (values + values.T)


def symmetric(name: str, matrix: Any) -> None:
    """Refuses a matrix, dense or scipy.sparse, that is not square and symmetric, or has a negative diagonal."""
    if matrix.shape[0] != matrix.shape[1]:
        raise SceneError(f"{name} has the shape {matrix.shape}; pass a square matrix")
    if matrix.shape[0] == 0:
        return
    gap = abs(matrix - matrix.T)
    if gap.max() > ASYMMETRY * abs(matrix).max():
        row, column = np.unravel_index(gap.argmax(), gap.shape)
        raise SceneError(
            f"{name} is not symmetric: [{row}, {column}] is {matrix[row, column]:g}, [{column}, {row}] is "
            f"{matrix[column, row]:g}; pass J M^-1 J', or (A + A') / 2 if they differ by rounding"
        )
    diagonal = matrix.diagonal()
    least = int(np.argmin(diagonal))
    if diagonal[least] < 0.0:
        raise SceneError(
            f"{name}[{least}, {least}] is {diagonal[least]:g}; neither M^-1 nor J M^-1 J' has a negative "
            "diagonal: look for a negative mass or a sign"
        )


# ---- pivots ----------------------------------------------------------------------------------------------------------


def moderate(name: str, values: np.ndarray) -> np.ndarray:
    """The same finite array without what is too small; too large numbers are refused."""
    most = np.abs(values).max(initial=0.0)
    if most > LARGEST:
        raise OutOfRange(f"{name} has numbers up to {most:g}; choose units in which they stay below {LARGEST:g}")
    return np.where(np.abs(values) < SMALLEST, 0.0, values)


def pivot_limit(max_pivots: int | None, default: int) -> int:
    """The number of pivots allowed."""
    if max_pivots is None:
        return default
    if isinstance(max_pivots, bool) or not isinstance(max_pivots, (int, np.integer)) or max_pivots < 0:
        raise SceneError(f"max_pivots is {max_pivots!r}; give a whole number from 0, or None for {default}")
    return int(max_pivots)


def refuse_large(problem: AProblem, solver: str) -> None:
    """A dense method must not swallow the memory."""
    if problem.row_count > MOST_ROWS:
        raise SceneError(
            f"solve: {solver} works on dense matrices, of at most {MOST_ROWS} rows; this problem has "
            f"{problem.row_count}: take another solver, or bilateral='direct' where most of them are joints'"
        )


# ---- what they share -------------------------------------------------------------------------------------------------


def _numbers(name: str, values: ArrayLike) -> np.ndarray:
    """A contiguous array of doubles, a copy."""
    try:
        return np.array(values, dtype=np.float64, order="C")
    except (OverflowError, TypeError, ValueError):
        raise SceneError(f"{name} is no array of numbers; pass a dense array (sparse ones: .toarray())") from None


def _line(name: str, values: ArrayLike, count: int, of: str) -> np.ndarray:
    values = _numbers(name, values)
    if values.shape != (count,):
        raise SceneError(f"{name} has the shape {values.shape}; {of} asks for ({count},)")
    return values


def _refuse(name: str, wrong: np.ndarray, values: np.ndarray, cure: str, places: np.ndarray | None = None) -> None:
    """An error for the first of the values that is wrong. places: (values, axes) of them, where it is not the index."""
    found = np.argwhere(wrong)
    if len(found):
        first = tuple(found[0])
        place = first if places is None else places[first[0]]
        raise SceneError(f"{name}[{', '.join(str(k) for k in place)}] is {values[first]:g}; {cure}")
