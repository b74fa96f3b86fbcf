"""One step of an explicit method, and its polynomial: the solution anywhere within the step.

    name     order   polynomial
    euler    1       straight line
    heun     2       the quadratic through y0 and y1 with the slopes k1 at 0 and k2 at 1
    dopri    5       of fourth order, from the same seven stages

With t = (time - start) / h in [0, 1]. Sources: J. Dormand, P. Prince, "A family of embedded Runge-Kutta formulae", 1980;
its polynomial: E. Hairer, S. Norsett, G. Wanner, "Solving Ordinary Differential Equations I", 1993, section II.6.
"""

from __future__ import annotations

import numpy as np

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
_BEND = np.array([-12715105075 / 11282082432, 0.0, 87487479700 / 32700410799, -10690763975 / 1880347072,
                  701980252875 / 199316789632, -1453857185 / 822651844, 69997945 / 29380423])


class Track:
    """The solution over one step as a polynomial: y(t) = sum of t^i c_i, its coefficients (degree + 1, n)."""

    def __init__(self, coefficients):
        self.coefficients = coefficients

    def __call__(self, t: float) -> np.ndarray:
        out = self.coefficients[-1]
        for part in self.coefficients[-2::-1]:
            out = part + t * out
        return out


def euler(rates, time, y, h, first):
    """-> Track, y1"""
    y1 = y + h * first
    return Track([y, h * first]), y1


def heun(rates, time, y, h, first):
    """-> Track, y1"""
    second = rates(time + h, y + h * first)
    return Track([y, h * first, 0.5 * h * (second - first)]), y + 0.5 * h * (first + second)


def dopri(rates, time, y, h, first):
    """-> Track, y1"""
    k = np.empty((7, len(y)))
    k[0] = first
    for stage in range(1, 7):
        end = y + h * (np.array(_STAGES[stage]) @ k[:stage])
        k[stage] = rates(time + _NODES[stage] * h, end)
    # Hairer, Norsett, Wanner: y0 + t (d + (1 - t) (b + t (c + (1 - t) e)))
    d = end - y
    b = h * k[0] - d
    c = d - h * k[6] - b
    e = h * (_BEND @ k)
    return Track([y, d + b, c + e - b, -c - 2.0 * e, e]), end


STEPS = {"euler": euler, "heun": heun, "dopri": dopri}
