"""Coefficients of the Radau IIA methods, by any number of stages: collocation at the roots of

    d^(s-1)/dx^(s-1) (x^(s-1) (x - 1)^s),        a_ij = integral of l_j from 0 to c_i,    b = a_s

l_j the polynomial that is 1 at c_j and 0 at the other nodes. Order 2 s - 1; what is stiff dies out within a step.

Found in decimal arithmetic, so that all machines have the same bits.

Source: E. Hairer, G. Wanner, "Solving Ordinary Differential Equations II", 1996, section IV.5.
"""

from __future__ import annotations

from decimal import Decimal, localcontext
from math import comb, perm

import numpy as np

DIGITS = 60
GRID = 400  # places between which the roots, which lie closer to each other near 1, are looked for
HALVINGS = 190

Polynomial = list[Decimal]  # the constant first


def radau(stages: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """-> a (s, s), c (s,), and l_j(0) (s,): the value at the beginning of what goes through the rates at the nodes."""
    with localcontext() as context:
        context.prec = DIGITS
        nodes = _nodes(stages)
        basis = [_lagrange(nodes, j) for j in range(stages)]
        a = [[_integral(part, c) for part in basis] for c in nodes]
        begin = [part[0] for part in basis]
    return np.array(a, float), np.array(nodes, float), np.array(begin, float)


def _nodes(stages: int) -> list[Decimal]:
    polynomial = [Decimal(0)] * (stages + 1)
    for k in range(stages + 1):  # (x - 1)^s x^(s-1), of which the derivative
        power = k + stages - 1
        polynomial[power - stages + 1] += perm(power, stages - 1) * comb(stages, k) * (-1 if (stages - k) % 2 else 1)
    places = [Decimal(k) / GRID for k in range(GRID)]
    found = []
    for low, high in zip(places, [*places[1:], (places[-1] + 1) / 2]):
        begin = _value(polynomial, low)
        if begin * _value(polynomial, high) > 0:
            continue
        for _ in range(HALVINGS):
            middle = (low + high) / 2
            low, high = (middle, high) if begin * _value(polynomial, middle) > 0 else (low, middle)
        found.append(low)
    return [*found, Decimal(1)]


def _value(polynomial: Polynomial, x: Decimal) -> Decimal:
    value = Decimal(0)
    for coefficient in reversed(polynomial):
        value = value * x + coefficient
    return value


def _integral(polynomial: Polynomial, end: Decimal) -> Decimal:
    return _value([Decimal(0), *(p / (k + 1) for k, p in enumerate(polynomial))], end)


def _lagrange(nodes: list[Decimal], j: int) -> Polynomial:
    product = [Decimal(1)]
    for k, node in enumerate(nodes):
        if k != j:
            scale = nodes[j] - node
            lower = [*(-node * p for p in product), Decimal(0)]
            product = [(a + b) / scale for a, b in zip(lower, [Decimal(0), *product])]
    return product
