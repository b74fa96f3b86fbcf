"""Integrators: the order of the step, and that of its polynomial anywhere within it."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from mcsim.event.methods import METHODS, STEPS

ORDERS = {"euler": (1, 1), "heun": (2, 2), "dopri": (5, 4)}


def rates(t, y):
    return np.array([y[1], -y[0] * (1.0 + 0.3 * t)])


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("part", [1.0, 0.31, 0.72])
def test_orders(name, part):
    """The error of one step of length h falls as h^(order + 1): that of the step at its end, of the polynomial
    within."""
    order = ORDERS[name][0 if part == 1.0 else 1]
    y0, errors = np.array([1.0, 0.2]), []
    for h in (0.2, 0.1):
        track, end, _ = STEPS[name](rates, 0.3, y0, h, rates(0.3, y0))
        exact = solve_ivp(rates, (0.3, 0.3 + part * h), y0, method="DOP853", rtol=1e-13, atol=1e-15).y[:, -1]
        errors.append(np.max(np.abs(track(part) - exact)))
        assert track(0.0) == pytest.approx(y0, abs=1e-15)
        assert track(1.0) == pytest.approx(end, abs=1e-14)
    assert np.log2(errors[0] / errors[1]) == pytest.approx(order + 1, abs=0.25)
