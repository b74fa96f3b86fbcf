"""Sine, cosine and arc tangent against the C library's, which are right to the last place or so."""

import numpy as np
import pytest

from mcsim.core._trig import py_arctan2, py_sine_cosine

EPS = np.finfo(float).eps


@pytest.mark.parametrize("reach", [1e-8, 0.1, 0.7853981633974483, 10.0, 1e4, 1e6])
def test_sine_and_cosine(reach):
    x = np.random.default_rng(1).uniform(-reach, reach, 20000)
    s, c = py_sine_cosine(x)
    np.testing.assert_allclose(s, np.sin(x), rtol=0, atol=EPS)
    np.testing.assert_allclose(c, np.cos(x), rtol=0, atol=EPS)
    small = np.abs(x) < 0.7
    np.testing.assert_allclose(s[small], np.sin(x[small]), rtol=2 * EPS, atol=0)


def test_sine_and_cosine_of_odd_numbers():
    s, c = py_sine_cosine(np.array([0.0, np.pi / 2, np.pi, -np.pi / 2, 1e15, 1e300, np.inf, np.nan]))
    np.testing.assert_allclose(s[:4], [0, 1, 0, -1], atol=EPS)
    np.testing.assert_allclose(c[:4], [1, 0, -1, 0], atol=EPS)
    np.testing.assert_allclose(s[4:6] ** 2 + c[4:6] ** 2, 1, atol=4 * EPS)
    assert np.isnan(s[6:]).all() and np.isnan(c[6:]).all()


def test_arctan2():
    generator = np.random.default_rng(2)
    angle = generator.uniform(-np.pi, np.pi, 50000)
    radius = 10.0 ** generator.uniform(-150, 150, 50000)
    y, x = radius * np.sin(angle), radius * np.cos(angle)
    np.testing.assert_allclose(py_arctan2(y, x), np.arctan2(y, x), rtol=8 * EPS, atol=0)


def test_arctan2_on_the_axes():
    y, x = np.array([0.0, 0.0, 1.0, -1.0, 0.0, 1e-300]), np.array([0.0, 1.0, 0.0, 0.0, -1.0, 1.0])
    np.testing.assert_allclose(py_arctan2(y, x), [0, 0, np.pi / 2, -np.pi / 2, np.pi, 1e-300], rtol=EPS)
    assert np.isnan(py_arctan2(np.array([np.nan]), np.array([1.0])))[0]
