"""The coefficients of the Radau IIA methods, by what defines them."""

import numpy as np
import pytest

from mcsim.core.radau import radau

ROOT = np.sqrt(6.0)


def test_of_three_stages_as_published():
    """E. Hairer, G. Wanner, Solving Ordinary Differential Equations II, table IV.5.6."""
    a, c, _ = radau(3)
    assert c == pytest.approx([(4 - ROOT) / 10, (4 + ROOT) / 10, 1], abs=1e-16)
    assert a == pytest.approx(
        np.array(
            [
                [(88 - 7 * ROOT) / 360, (296 - 169 * ROOT) / 1800, (-2 + 3 * ROOT) / 225],
                [(296 + 169 * ROOT) / 1800, (88 + 7 * ROOT) / 360, (-2 - 3 * ROOT) / 225],
                [(16 - ROOT) / 36, (16 + ROOT) / 36, 1 / 9],
            ]
        ),
        abs=1e-16,
    )


@pytest.mark.parametrize("stages", [1, 2, 3, 5, 7])
def test_conditions_of_order(stages):
    """Collocation: sum a_ij c_j^(k-1) = c_i^k / k up to k = s;
    the weights b, the last row, integrate up to 2 s - 1 exactly;
    what goes through the rates has the value at the beginning. What is infinitely stiff dies: R(-1e12) is nothing."""
    a, c, begin = radau(stages)
    for k in range(1, stages + 1):
        assert a @ c ** (k - 1) == pytest.approx(c**k / k, abs=1e-15)
        assert begin @ c ** (k - 1) == pytest.approx(float(k == 1), abs=1e-13)
    for k in range(1, 2 * stages):
        assert a[-1] @ c ** (k - 1) == pytest.approx(1 / k, abs=1e-15)
    if stages > 1:
        assert abs(a[-1] @ c ** (2 * stages - 1) - 1 / (2 * stages)) > 1e-9  # 2.4e-8 of 7 stages
    z = -1e12
    end = 1 + z * a[-1] @ np.linalg.solve(np.eye(stages) - z * a, np.ones(stages))
    assert abs(end) < 1e-3
    for z in (-0.3, 0.2j, -1.0 + 0.5j):
        end = 1 + z * a[-1] @ np.linalg.solve(np.eye(stages) - z * a, np.ones(stages))
        assert abs(end - np.exp(z)) < 2 * abs(z) ** (2 * stages) / (stages + 1.0)
