"""The modes of Radau's coefficients, by what they are for."""

import numpy as np
import pytest

from mcsim.core.radau import radau
from mcsim.core.stage_modes import stage_modes


def complex_of(pairs):
    return pairs[..., 0] + 1j * pairs[..., 1]


@pytest.mark.parametrize("stages", [1, 2, 3, 5, 7])
def test_they_are_those_of_the_coefficients(stages):
    """One value for each conjugate pair; their sum is the matrix, and that of what belongs to 1 the unit matrix."""
    a, *_ = radau(stages)
    values, into, back = stage_modes(a)
    assert len(values) == (stages + 1) // 2 and (values[:, 1] >= 0).all()
    values, into, back = complex_of(values), complex_of(into), complex_of(back)
    outer = back[:, :, None] * into[:, None, :]
    scale = np.abs(outer).max()
    assert np.abs(outer.sum(axis=0).real - np.eye(stages)).max() < 1e-15 * scale
    assert np.abs((values[:, None, None] * outer).sum(axis=0).real - a).max() < 1e-15 * scale


def test_equations_of_stages_are_apart_in_them():
    """(1 - h a x J)^-1 of five stages over three numbers."""
    a, *_ = radau(5)
    values, into, back = map(complex_of, stage_modes(a))
    rng = np.random.default_rng(0)
    jacobian, right = rng.normal(size=(3, 3)), rng.normal(size=(5, 3))
    found = np.zeros((5, 3))
    for value, u, v in zip(values, into, back):
        found += (v[:, None] * np.linalg.solve(np.eye(3) - value * jacobian, u @ right)).real
    expected = np.linalg.solve(np.eye(15) - np.kron(a, jacobian), right.ravel()).reshape(5, 3)
    assert np.abs(found - expected).max() < 1e-13
