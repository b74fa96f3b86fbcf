"""One step of an explicit method, and its polynomial: the solution anywhere within the step.

    name     order   polynomial
    euler    1       straight line
    heun     2       the quadratic through y0 and y1 with the slopes k1 at 0 and k2 at 1
    dopri    5       of fourth order, from the same seven stages

Each gives the Track, the state at the end and an estimate of its error, the largest of any number of the state relative
to 1 + its size: that of dopri is what its embedded method of fourth order differs by; the others have none (0).

With t = (time - start) / h in [0, 1]. Sources: J. Dormand, P. Prince, "A family of embedded Runge-Kutta formulae",
1980; its polynomial: E. Hairer, S. Norsett, G. Wanner, "Solving Ordinary Differential Equations I", 1993, section II.6.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from mcsim.core.linear import product

Rates = Callable[[float, np.ndarray], np.ndarray]  # of a time and a state

METHODS = ("dopri", "euler", "heun")

_NODES = (0.0, 1 / 5, 3 / 10, 4 / 5, 8 / 9, 1.0, 1.0)
_STAGES = (
    (),
    (1 / 5,),
    (3 / 40, 9 / 40),
    (44 / 45, -56 / 15, 32 / 9),
    (19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729),
    (9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656),
    (35 / 384, 0.0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84),
)
_BEND = np.array(
    [
        -12715105075 / 11282082432,
        0.0,
        87487479700 / 32700410799,
        -10690763975 / 1880347072,
        701980252875 / 199316789632,
        -1453857185 / 822651844,
        69997945 / 29380423,
    ]
)
_ERROR = np.array([71 / 57600, 0.0, -71 / 16695, 71 / 1920, -17253 / 339200, 22 / 525, -1 / 40])


class Track:
    """The solution over one step as a polynomial: y(t) = sum of t^i c_i, its coefficients (degree + 1, n)."""

    def __init__(self, coefficients: Sequence[np.ndarray]) -> None:
        self.coefficients = coefficients

    def __call__(self, t: float) -> np.ndarray:
        out = self.coefficients[-1]
        for part in self.coefficients[-2::-1]:
            out = part + t * out
        return out


Step = tuple[Track, np.ndarray, float]


def euler(rates: Rates, time: float, y: np.ndarray, h: float, first: np.ndarray) -> Step:
    """-> Track, y1, error"""
    y1 = y + h * first
    return Track([y, h * first]), y1, 0.0


def heun(rates: Rates, time: float, y: np.ndarray, h: float, first: np.ndarray) -> Step:
    """-> Track, y1, error"""
    second = rates(time + h, y + h * first)
    return Track([y, h * first, 0.5 * h * (second - first)]), y + 0.5 * h * (first + second), 0.0


def dopri(rates: Rates, time: float, y: np.ndarray, h: float, first: np.ndarray) -> Step:
    """-> Track, y1, error"""
    k = np.empty((7, len(y)))
    k[0] = first
    for stage in range(1, 7):
        end = y + h * product(_STAGES[stage], k[:stage])
        k[stage] = rates(time + _NODES[stage] * h, end)
    # Hairer, Norsett, Wanner: y0 + t (d + (1 - t) (b + t (c + (1 - t) e)))
    d = end - y
    b = h * k[0] - d
    c = d - h * k[6] - b
    e = h * product(_BEND, k)
    error = float(np.max(np.abs(h * product(_ERROR, k)) / (1.0 + np.abs(y)), initial=0.0))
    return Track([y, d + b, c + e - b, -c - 2.0 * e, e]), end, error


STEPS = {"euler": euler, "heun": heun, "dopri": dopri}
