"""Roots of functions of a step's time, which runs from 0 to 1."""

from __future__ import annotations

from collections.abc import Callable, Iterator

ROOT = 1e-16  # part of a step to which events are located


def root(function: Callable[[float], float], low: float, high: float) -> float:
    """Where it goes from positive to negative, to ROOT or as near as doubles come: by the inverse quadratic through
    three points where that is safe, else by halving (T. Chandrupatla, "A new hybrid quadratic/bisection algorithm for
    finding the zero of a nonlinear function without using derivatives", 1997)."""
    at, value = high, function(high)
    if value >= 0.0:
        return high
    other, opposite = low, function(low)
    if opposite <= 0.0:
        return low
    third, beyond, part = other, opposite, 0.5
    for _ in range(300):
        x = at + part * (other - at)
        found = function(x)
        if (found > 0.0) == (value > 0.0):
            third, beyond = at, value
        else:
            third, beyond, other, opposite = other, opposite, at, value
        at, value = x, found
        best = at if abs(value) < abs(opposite) else other
        span = abs(other - at)
        if value == 0.0 or span <= ROOT + 1e-15 * abs(best):
            return best
        along, up = (at - other) / (third - other), (value - opposite) / (beyond - opposite)
        part = 0.5
        if up * up < along and (1.0 - up) * (1.0 - up) < 1.0 - along:
            part = value / (opposite - value) * beyond / (opposite - beyond) + (third - at) / (other - at) * value / (
                beyond - value
            ) * opposite / (beyond - opposite)
        least_part = 0.5 * (ROOT + 1e-15 * abs(best)) / span
        part = min(max(part, least_part), 1.0 - least_part)
    return best


def later(t: float) -> Iterator[float]:
    """Parts of a step from one on, ever longer ones, to its end."""
    while t < 1.0:
        yield t
        t *= 1.4142135623730951
    yield 1.0
