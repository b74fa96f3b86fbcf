"""Sine, cosine and arc tangent against the C library's, which are right to the last place or so."""

from decimal import Decimal

import numpy as np
import pytest

from mcsim.core import trig
from mcsim.core._trig import arctans2, sines_cosines

EPS = np.finfo(float).eps


@pytest.mark.parametrize("reach", [1e-8, 0.1, 0.7853981633974483, 10.0, 1e4, 1e6])
def test_sine_and_cosine(reach):
    x = np.random.default_rng(1).uniform(-reach, reach, 20000)
    s, c = sines_cosines(x)
    np.testing.assert_allclose(s, np.sin(x), rtol=0, atol=EPS)
    np.testing.assert_allclose(c, np.cos(x), rtol=0, atol=EPS)
    small = np.abs(x) < 0.7
    np.testing.assert_allclose(s[small], np.sin(x[small]), rtol=2 * EPS, atol=0)


def test_sine_and_cosine_of_odd_numbers():
    s, c = sines_cosines(np.array([0.0, np.pi / 2, np.pi, -np.pi / 2, 1e15, 1e300, np.inf, np.nan]))
    np.testing.assert_allclose(s[:4], [0, 1, 0, -1], atol=EPS)
    np.testing.assert_allclose(c[:4], [1, 0, -1, 0], atol=EPS)
    np.testing.assert_allclose(s[4:6] ** 2 + c[4:6] ** 2, 1, atol=4 * EPS)
    assert np.isnan(s[6:]).all() and np.isnan(c[6:]).all()


def test_arctan2():
    generator = np.random.default_rng(2)
    angle = generator.uniform(-np.pi, np.pi, 50000)
    radius = 10.0 ** generator.uniform(-150, 150, 50000)
    y, x = radius * np.sin(angle), radius * np.cos(angle)
    np.testing.assert_allclose(arctans2(y, x), np.arctan2(y, x), rtol=8 * EPS, atol=0)


def test_arctan2_on_the_axes():
    y, x = np.array([0.0, 0.0, 1.0, -1.0, 0.0, 1e-300]), np.array([0.0, 1.0, 0.0, 0.0, -1.0, 1.0])
    np.testing.assert_allclose(arctans2(y, x), [0, 0, np.pi / 2, -np.pi / 2, np.pi, 1e-300], rtol=EPS)
    assert np.isnan(arctans2(np.array([np.nan]), np.array([1.0])))[0]


# ---- by name ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "reach"), [("sin", 10.0), ("cos", 10.0), ("tan", 1.5), ("arcsin", 1.0), ("arccos", 1.0)])
def test_numbers_and_arrays(name, reach):
    x = np.random.default_rng(3).uniform(-reach, reach, (50, 4))
    ours, numpy = getattr(trig, name), getattr(np, name)
    np.testing.assert_allclose(ours(x), numpy(x), rtol=8 * EPS, atol=2 * EPS)
    assert all(ours(float(value)) == found for value, found in zip(x.ravel(), ours(x).ravel()))
    assert isinstance(ours(0.5), float) and ours(x[:, ::2]).shape == (50, 2) and ours(np.array(0.5)) == ours(0.5)
    assert ours(1) == ours(1.0)


def test_inverses_at_their_ends_and_beyond():
    assert trig.arcsin(1.0) == np.pi / 2 and trig.arccos(1.0) == 0.0 and trig.arccos(-1.0) == np.pi
    assert np.isnan(trig.arcsin(1.0000001)) and np.isnan(trig.arccos(np.array([-2.0]))).all()


def test_angles_of_points():
    y, x = np.random.default_rng(4).normal(size=(2, 30))
    np.testing.assert_allclose(trig.arctan2(y, x), np.arctan2(y, x), rtol=8 * EPS)
    assert trig.arctan2(y, 1.0).shape == (30,) and trig.arctan2(1.0, -1.0) == pytest.approx(0.75 * np.pi, rel=EPS)
    assert trig.arctan2(float(y[0]), float(x[0])) == trig.arctan2(y, x)[0]


def test_fifth_roots():
    """Within 4 EPS, which the fifth power has five times."""
    for x in 10.0 ** np.random.default_rng(5).uniform(-300, 299, 2000):
        assert abs(Decimal(trig.fifth_root(float(x))) ** 5 / Decimal(float(x)) - 1) < 20 * EPS
    assert trig.fifth_root(32.0) == 2.0 and trig.fifth_root(1.0) == 1.0 and trig.fifth_root(2.0**-50) == 2.0**-10
    assert np.isnan(trig.fifth_root(np.nan)) and trig.fifth_root(np.inf) == np.inf and trig.fifth_root(0.0) == 0.0
