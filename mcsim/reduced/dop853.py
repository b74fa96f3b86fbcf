"""One ordinary differential equation to a tolerance: the method of order 8 of Dormand and Prince.

    k_i = f(t + c_i h, y + h sum_j a_ij k_j),  i = 1 ... 12,     y(t + h) = y + h sum_i b_i k_i

with the error estimated by two embedded formulae, of orders 5 and 3, as |h| e5^2 / sqrt(e5^2 + e3^2 / 100); h follows its
eighth root. SciPy's solver does the same by a BLAS, whose last bits depend on the processor; its coefficients are taken.

Source: E. Hairer, S. Norsett, G. Wanner, "Solving Ordinary Differential Equations I", 1993, sections II.4, II.5, II.10.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from mcsim.core.errors import SimulationError
from mcsim.core.linear import length, product

SAFETY, LEAST, MOST = 0.9, 0.2, 10.0  # of the factor by which a step follows another


Rates = Callable[[float, np.ndarray], np.ndarray]


def advanced(rates: Rates, time: float, y: np.ndarray, end: float, tolerance: float) -> np.ndarray:
    """y at the end, a time that is later; errors of a step below tolerance (1 + |y|). Raises SimulationError where steps
    become too short to be added to the time."""
    A, B, C, E5, E3 = _coefficients()
    first = rates(time, y)
    h = min(_first_step(rates, time, y, first, tolerance), end - time)
    rejected = False
    while time < end:
        h = min(h, end - time)
        if not time + h > time:
            raise SimulationError(
                f"the reference integrator stopped at t = {time:.6g} s: the motion asks for steps of {h:.3g} s"
            )
        k = np.empty((len(B) + 1, len(y)))
        k[0] = first
        for i in range(1, len(B)):
            k[i] = rates(time + C[i] * h, y + h * product(A[i, :i], k[:i]))
        after = y + h * product(B, k[:-1])
        k[-1] = rates(time + h, after)
        error = _error(h, k, E5, E3, tolerance * (1.0 + np.maximum(np.abs(y), np.abs(after))))
        factor = MOST if error == 0.0 else min(max(SAFETY / _eighth_root(error), LEAST), MOST)
        if error < 1.0:
            time, y, first = (end if h == end - time else time + h), after, k[-1]
            h *= min(factor, 1.0) if rejected else factor
        elif not np.isfinite(after).all():
            factor = LEAST
        rejected = not error < 1.0
        if rejected:
            h *= min(factor, 1.0)
    return y


def _coefficients() -> tuple[np.ndarray, ...]:
    """a, b, c and those of the two estimates."""
    from scipy.integrate import DOP853  # here, because it takes long to import

    return tuple(np.array(part) for part in (DOP853.A, DOP853.B, DOP853.C, DOP853.E5, DOP853.E3))


def _error(h: float, k: np.ndarray, E5: np.ndarray, E3: np.ndarray, scale: np.ndarray) -> float:
    """Relative to what is allowed."""
    fifth, third = length(product(E5, k) / scale), length(product(E3, k) / scale)
    if fifth == 0.0 and third == 0.0:
        return 0.0
    return abs(h) * fifth * fifth / np.sqrt((fifth * fifth + 0.01 * third * third) * len(scale))


def _first_step(rates: Rates, time: float, y: np.ndarray, first: np.ndarray, tolerance: float) -> float:
    """A step whose error is about 1 % of what is allowed, by an Euler step."""
    scale = tolerance * (1.0 + np.abs(y))
    size, speed = _mean(y / scale), _mean(first / scale)
    h = 1e-6 if size < 1e-5 or speed < 1e-5 else 0.01 * size / speed
    bend = _mean((rates(time + h, y + h * first) - first) / scale) / h
    most = max(speed, bend)
    return min(100.0 * h, max(1e-6, 1e-3 * h) if most <= 1e-15 else _eighth_root(0.01 / most))


def _mean(a: np.ndarray) -> float:
    """The root of the mean square."""
    return length(a) / np.sqrt(len(a))


def _eighth_root(x: float) -> float:
    return float(np.sqrt(np.sqrt(np.sqrt(x))))
