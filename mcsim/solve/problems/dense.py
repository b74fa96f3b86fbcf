"""What the direct solvers ask of dense arrays: shapes, finite numbers, bounds in order. Errors say what to change."""

import numpy as np

from mcsim.core.errors import SceneError

MOST_ROWS = 3000

SYMMETRIC = 1e-9               # of the largest entry: what A and A' may differ by
QUIET = 1e-12                  # speeds below that are rounding, whatever the others are
LARGEST, SMALLEST = 1e100, 1e-100  # beyond, products leave the range of doubles; what is smaller is taken as zero


def square(name, values):
    """(n, n) contiguous doubles."""
    values = _numbers(name, values)
    if values.ndim != 2 or values.shape[0] != values.shape[1]:
        raise SceneError(f"{name} has the shape {values.shape}; pass a square matrix")
    return _finite(name, values)


def semidefinite(name, values):
    """(n, n) symmetric to the bit, no negative diagonal; the rest of it shows in solving."""
    values = square(name, values)
    if values.size == 0:
        return values
    gap = np.abs(values - values.T)
    row, column = np.unravel_index(np.argmax(gap), gap.shape)
    if gap[row, column] > SYMMETRIC * np.abs(values).max():
        raise SceneError(f"{name} is not symmetric: [{row}, {column}] is {values[row, column]:g}, [{column}, {row}] is "
                         f"{values[column, row]:g}; pass J M^-1 J', or (A + A') / 2 if they differ by rounding")
    least = int(np.argmin(np.diagonal(values)))
    if values[least, least] < 0.0:
        raise SceneError(f"{name}[{least}, {least}] is {values[least, least]:g}; a matrix J M^-1 J' has no negative "
                         f"diagonal: look for a negative mass or a sign")
    return 0.5 * (values + values.T)


def vector(name, values, count, of="the matrix"):
    """(count,) contiguous doubles, finite."""
    return _finite(name, _line(name, values, count, of))


def bounds(lower, upper, count, of="the matrix"):
    """(lower, upper), both (count,); None: no bound."""
    lower = np.full(count, -np.inf) if lower is None else _line("lower", lower, count, of)
    upper = np.full(count, np.inf) if upper is None else _line("upper", upper, count, of)
    for name, values, never in (("lower", lower, np.inf), ("upper", upper, -np.inf)):
        wrong = np.flatnonzero(np.isnan(values) | (values == never))
        if len(wrong):
            raise SceneError(f"{name}[{wrong[0]}] is {values[wrong[0]]}; give a number, or {-never} for no bound")
        wrong = np.flatnonzero(np.isfinite(values) & (np.abs(values) > LARGEST))
        if len(wrong):
            raise SceneError(f"{name}[{wrong[0]}] is {values[wrong[0]]:g}; give {-never} for no bound")
    wrong = np.flatnonzero(lower > upper)
    if len(wrong):
        k = wrong[0]
        raise SceneError(f"lower[{k}] = {lower[k]:g} is above upper[{k}] = {upper[k]:g}; exchange them")
    return lower, upper


def coefficients(values):
    """(nc,) friction coefficients, 0 and infinity among them."""
    values = _numbers("friction", values)
    if values.ndim != 1:
        raise SceneError(f"friction has the shape {values.shape}; pass one number a contact")
    wrong = np.flatnonzero(~(values >= 0.0))
    if len(wrong):
        raise SceneError(f"friction[{wrong[0]}] is {values[wrong[0]]}; a coefficient is 0, positive, or infinite")
    return values


def limit(max_pivots, default):
    """The number of pivots allowed."""
    if max_pivots is None:
        return default
    if isinstance(max_pivots, bool) or not isinstance(max_pivots, (int, np.integer)) or max_pivots < 0:
        raise SceneError(f"max_pivots is {max_pivots!r}; give a whole number from 0, or None for {default}")
    return int(max_pivots)


def _numbers(name, values):
    try:
        return np.asarray(values, dtype=np.float64, order="C")
    except (TypeError, ValueError):
        raise SceneError(f"{name} is no array of numbers; pass a dense array (sparse ones: .toarray())") from None


def _line(name, values, count, of):
    values = _numbers(name, values)
    if values.shape != (count,):
        raise SceneError(f"{name} has the shape {values.shape}; {of} asks for ({count},)")
    return values


def _finite(name, values):
    wrong = np.argwhere(~np.isfinite(values))
    if len(wrong):
        where = ", ".join(str(k) for k in wrong[0])
        raise SceneError(f"{name}[{where}] is {values[tuple(wrong[0])]}; all must be finite: look where it comes from")
    if np.abs(values).max(initial=0.0) > LARGEST:
        raise SceneError(f"{name} has numbers up to {np.abs(values).max():g}; choose units in which they stay below "
                         f"{LARGEST:g}")
    return np.where(np.abs(values) < SMALLEST, 0.0, values)


def refuse_large(problem, solver):
    """A dense method must not swallow the memory."""
    if problem.row_count > MOST_ROWS:
        raise SceneError(f"solve: {solver} works on dense matrices, of at most {MOST_ROWS} rows; this problem has "
                         f"{problem.row_count}: take another solver, or bilateral='direct' where most of them are joints'")


def whole(problem):
    """-> A + compliance, dense, and b."""
    return problem.A.toarray() + np.diag(problem.compliance), problem.b
