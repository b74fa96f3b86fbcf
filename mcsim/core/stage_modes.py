"""The modes of a matrix of Runge-Kutta coefficients, in which the equations of the stages of an implicit step are apart:

    a = sum of  v_p values_p u_p',    u_p' v_q = 1 where p = q, else 0
    (1 - h a x J)^-1 = sum of  v_p u_p' x (1 - h values_p J)^-1

so that one system of s n equations becomes s of n, of which those of two conjugate values are solved as one.

Found in decimal arithmetic, so that all machines have the same bits: the characteristic polynomial by Faddeev's and
Leverrier's recursion, its roots by Weierstrass' iteration.

Source: E. Hairer, G. Wanner, "Solving Ordinary Differential Equations II", 1996, section IV.8.
"""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal, localcontext
from functools import cache
from typing import NamedTuple

import numpy as np

DIGITS = 60
MOST_ROUNDS = 500
MET = Decimal("1e-45")  # the change of a root that ends the iteration; less of an imaginary part is none


class Number(NamedTuple):
    """A complex one."""

    re: Decimal
    im: Decimal

    def plus(self, other: Number) -> Number:
        return Number(self.re + other.re, self.im + other.im)

    def minus(self, other: Number) -> Number:
        return Number(self.re - other.re, self.im - other.im)

    def times(self, other: Number) -> Number:
        return Number(self.re * other.re - self.im * other.im, self.re * other.im + self.im * other.re)

    def over(self, other: Number) -> Number:
        size = other.re * other.re + other.im * other.im
        upper = self.times(Number(other.re, -other.im))
        return Number(upper.re / size, upper.im / size)

    def size(self) -> Decimal:
        return abs(self.re) + abs(self.im)


ZERO, ONE = Number(Decimal(0), Decimal(0)), Number(Decimal(1), Decimal(0))


def stage_modes(a: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """a (s, s), all of whose values are different. -> values (modes, 2), u (modes, s, 2), v (modes, s, 2): real and
    imaginary parts, of two conjugate modes the one above the real axis, real ones with imaginary parts of 0; v of
    conjugate ones twice, so that the real part of what is summed is all."""
    return _stage_modes(tuple(map(tuple, np.asarray(a, float).tolist())))


@cache
def _stage_modes(rows: tuple[tuple[float, ...], ...]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    with localcontext() as context:
        context.prec = DIGITS
        a = [[Number(Decimal(x), Decimal(0)) for x in row] for row in rows]
        turned = [list(row) for row in zip(*a)]
        values, left, right = [], [], []
        for value in sorted(_roots(_characteristic(a)), key=lambda root: (root.re, root.im)):
            if abs(value.im) < MET:
                value = Number(value.re, Decimal(0))
            elif value.im < 0:
                continue
            u, v = _vector(turned, value), _vector(a, value)
            share = Number(Decimal(2 if value.im else 1), Decimal(0)).over(_sum(x.times(y) for x, y in zip(u, v)))
            values.append(_pair(value))
            left.append([_pair(x) for x in u])
            right.append([_pair(share.times(x)) for x in v])
        return np.array(values), np.array(left), np.array(right)


def _pair(number: Number) -> tuple[float, float]:
    return float(number.re), float(number.im)


def _sum(numbers: Iterable[Number]) -> Number:
    total = ZERO
    for number in numbers:
        total = total.plus(number)
    return total


def _characteristic(a: list[list[Number]]) -> list[Number]:
    """Coefficients, the constant first, of det(x - a)."""
    n = len(a)
    coefficients = [ZERO] * n + [ONE]
    m = [[ZERO] * n for _ in range(n)]
    for k in range(1, n + 1):
        for i in range(n):
            m[i][i] = m[i][i].plus(coefficients[n - k + 1])
        m = [[_sum(a[i][p].times(m[p][j]) for p in range(n)) for j in range(n)] for i in range(n)]
        trace = _sum(m[i][i] for i in range(n))
        coefficients[n - k] = Number(-trace.re / k, -trace.im / k)
    return coefficients


def _roots(coefficients: list[Number]) -> list[Number]:
    """Of a polynomial whose highest coefficient is 1."""
    n = len(coefficients) - 1
    roots, power = [], ONE
    for _ in range(n):
        power = power.times(Number(Decimal("0.4"), Decimal("0.9")))
        roots.append(power)
    for _ in range(MOST_ROUNDS):
        worst = Decimal(0)
        for i in range(n):
            value, others = ZERO, ONE
            for coefficient in reversed(coefficients):
                value = value.times(roots[i]).plus(coefficient)
            for j in range(n):
                if j != i:
                    others = others.times(roots[i].minus(roots[j]))
            change = value.over(others)
            roots[i] = roots[i].minus(change)
            worst = max(worst, change.size())
        if worst < MET:
            break
    return roots


def _vector(a: list[list[Number]], value: Number) -> list[Number]:
    """x with a x = value x, its last number 1: the first rows of a - value, solved for the others."""
    n = len(a) - 1
    rows = [[a[i][j].minus(value) if i == j else a[i][j] for j in range(n)] + [ZERO.minus(a[i][n])] for i in range(n)]
    for k in range(n):
        best = max(range(k, n), key=lambda i: rows[i][k].size())
        rows[k], rows[best] = rows[best], rows[k]
        for i in range(n):
            if i != k:
                factor = rows[i][k].over(rows[k][k])
                rows[i] = [x.minus(factor.times(y)) for x, y in zip(rows[i], rows[k])]
    return [rows[i][n].over(rows[i][i]) for i in range(n)] + [ONE]
