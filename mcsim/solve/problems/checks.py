"""Checks of what a problem is made of."""

import numpy as np

from mcsim.core.errors import SceneError

ASYMMETRY = 1e-9            # largest |A - A'| against the largest |A|


def vector(values, size, name, *, least=None, infinite=False):
    """(size,) float64, read only."""
    try:
        array = np.array(values, dtype=float)
    except (TypeError, ValueError):
        raise SceneError(f"Problem: {name} must be an array of numbers") from None
    if array.shape != (size,):
        raise SceneError(f"Problem: {name} must have the shape ({size},), not {array.shape}")
    wrong = np.isnan(array) if infinite else ~np.isfinite(array)
    if least is not None:
        wrong |= array < least
    if wrong.any():
        at = int(np.argmax(wrong))
        wanted = "a number" if infinite else "finite"
        wanted += "" if least is None else f" and at least {least:g}"
        raise SceneError(f"Problem: {name}[{at}] is {array[at]:g}; it must be {wanted}")
    array.flags.writeable = False
    return array


def frictions(friction, n):
    """(contacts,) coefficients, 0 to inf."""
    count = np.size(friction)
    friction = vector(np.reshape(friction, -1) if count else np.zeros(0), count, "friction", least=0.0, infinite=True)
    if 3 * count > n:
        raise SceneError(f"Problem: friction names {count} contacts, which have {3 * count} rows, but there are {n}")
    return friction


def bounds_of(bounds, n, contact_rows):
    """(n - contact_rows, 2) lower and upper."""
    count = n - contact_rows
    if bounds is None:
        bounds = np.tile([-np.inf, np.inf], (count, 1))
    try:
        bounds = np.array(bounds, dtype=float)
    except (TypeError, ValueError):
        raise SceneError("Problem: bounds must be pairs (lower, upper) of numbers") from None
    if bounds.shape == (n, 2):
        bounds = bounds[contact_rows:].copy()
    if count == 0 and bounds.size == 0:
        bounds = bounds.reshape(0, 2)
    if bounds.shape != (count, 2):
        raise SceneError(f"Problem: bounds must have the shape ({count}, 2), a pair for each row after the contacts', "
                         f"not {bounds.shape}")
    wrong = np.isnan(bounds).any(1) | (bounds[:, 0] > bounds[:, 1]) | (bounds[:, 0] == np.inf) | (bounds[:, 1] == -np.inf)
    if wrong.any():
        at = int(np.argmax(wrong))
        raise SceneError(f"Problem: bounds[{at}] = ({bounds[at, 0]:g}, {bounds[at, 1]:g}); lower must not be above upper")
    bounds.flags.writeable = False
    return bounds


def sparse(matrix, name):
    """scipy.sparse CSR, canonical, finite."""
    from scipy.sparse import csr_array, issparse  # here, since importing mcsim should stay light

    try:
        if not issparse(matrix):
            matrix = np.asarray(matrix, dtype=float)
            if matrix.ndim != 2:
                raise SceneError(f"Problem: {name} must be a matrix, not an array of shape {matrix.shape}")
        found = csr_array(matrix, dtype=float, copy=True)
    except (TypeError, ValueError) as error:
        if isinstance(error, SceneError):
            raise
        raise SceneError(f"Problem: {name} must be a matrix of numbers, dense or scipy.sparse") from None
    found.sum_duplicates()
    if not np.isfinite(found.data).all():
        raise SceneError(f"Problem: {name} has entries that are not finite")
    return found


def symmetric(matrix, name):
    """Likewise, square and symmetric, no negative diagonal."""
    found = sparse(matrix, name)
    if found.shape[0] != found.shape[1]:
        raise SceneError(f"Problem: {name} must be square, not {found.shape}")
    if found.nnz:
        difference = abs(found - found.T)
        worst = float(difference.max()) if difference.nnz else 0.0
        if worst > ASYMMETRY * float(abs(found.data).max()):
            raise SceneError(f"Problem: {name} must be symmetric; it differs from its transpose by {worst:.3g}: for a matrix "
                             "that is so but for rounding pass (A + A.T) / 2")
        diagonal = found.diagonal()
        if (diagonal < 0.0).any():
            at = int(np.argmin(diagonal))
            raise SceneError(f"Problem: {name}[{at}, {at}] is {diagonal[at]:g}; a diagonal entry must not be negative")
    return found
