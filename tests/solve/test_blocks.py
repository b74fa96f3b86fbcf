"""The local solves by themselves: the cone against an eigenvector solution, pivots of bilateral blocks."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from mcsim.solve._limit_surface import py_limit_surface_step

from amounts import amount
from mcsim.solve._si import py_cone_step, py_factor_blocks, py_sweep_si
from solve_problems import BILATERAL, Problem
from solve_twin import cone_solution

number = st.floats(-1e3, 1e3, allow_nan=False).map(lambda x: x if abs(x) > 1e-6 else 0.0)


def cone(k, radius, w, impulse):
    x = np.array(impulse, float)
    py_cone_step(k[0, 0], k[1, 1], k[0, 1], radius, np.array(w, float), x)
    return x


@settings(deadline=None, derandomize=True, max_examples=amount(166, 500))
@given(
    stretch=st.floats(0, 8),
    size=st.floats(-6, 6),
    angle=st.floats(0, np.pi),
    radius=st.floats(1e-3, 1e3),
    w=st.tuples(number, number),
    impulse=st.tuples(number, number),
)
def test_cone_is_the_minimum_on_the_disc(stretch, size, angle, radius, w, impulse):
    """The exact solve equals eigenvectors and bisection, for any mass and condition up to 1e8, inside the circle."""
    q = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    k = q @ np.diag([10.0**size, 10.0 ** (size + stretch)]) @ q.T
    k = 0.5 * (k + k.T)
    b = k @ np.array(impulse) - np.array(w)
    x = cone(k, radius, w, impulse)
    expected = cone_solution(k, b, radius)

    def energy(y):
        return 0.5 * y @ k @ y - b @ y

    scale = abs(energy(expected)) + np.abs(k).max() * radius * (radius + np.linalg.norm(impulse))
    assert np.linalg.norm(x) <= radius * (1 + 1e-15)
    assert energy(x) <= energy(expected) + 1e-12 * scale
    if stretch < 2:
        np.testing.assert_allclose(x, expected, atol=1e-11 * (radius + np.linalg.norm(impulse) * 0.1))


@pytest.mark.parametrize("seed", range(amount(20, 200)))
@pytest.mark.parametrize("loaded", [1, 2])
def test_loads_at_one_place_rub_as_one_point(seed, loaded):
    """A manifold of which one point bears something, or two at one place, whatever its others had: no moment about
    that place, and the energy that the cone there has. From any impulses, also such as the points could not have
    together."""
    rng = np.random.default_rng(seed)
    j = rng.normal(size=(3, 6)) * [[1], [1], [10.0 ** rng.uniform(-2, 2)]]
    k = j @ j.T
    turns = rng.normal(size=(4, 2))
    place = rng.integers(4)
    limits = np.zeros(4)
    limits[place] = rng.uniform(0.1, 3)
    if loaded == 2:
        turns[place - 1], limits[place - 1] = turns[place], rng.uniform(0.1, 3)
    lever = np.array([[1, 0], [0, 1], -turns[place]])
    b = rng.normal(size=3)
    x, share = rng.normal(size=3), rng.normal(size=8)
    expected = cone_solution(lever.T @ k @ lever, lever.T @ b, limits.sum())

    def energy(y):
        return 0.5 * y @ k @ y - b @ y

    energies = []
    for _ in range(300):
        py_limit_surface_step(turns, limits, k, k @ x - b, share, x)
        assert np.hypot(x[0], x[1]) <= limits.sum() * (1 + 1e-12)
        assert x[2] == pytest.approx(-turns[place] @ x[:2], abs=1e-11)
        energies.append(energy(x))
    assert np.max(np.diff(energies)) <= 1e-12 * np.abs(energies).max()
    condition = np.linalg.cond(lever.T @ k @ lever)
    if np.linalg.norm(expected) < 0.999 * limits.sum():
        np.testing.assert_allclose(x, lever @ expected, atol=1e-9 * condition)
    elif condition < 100:  # on the circle a step goes down a gradient
        np.testing.assert_allclose(x, lever @ expected, atol=1e-2 * limits.sum())


def test_an_even_cone_slides_against_the_slip():
    """K = d 1 from zero: the impulse is -radius w / |w|, in one solve."""
    np.testing.assert_allclose(cone(2.0 * np.eye(2), 0.5, (3.0, 4.0), (0.0, 0.0)), [-0.3, -0.4], rtol=1e-15)


def test_a_cone_without_load_or_mass():
    """No load: no friction. No mass: nothing happens. One direction without mass: it stays inside and settles."""
    assert cone(np.eye(2), 0.0, (1.0, 2.0), (0.5, 0.5)).tolist() == [0, 0]
    assert cone(np.zeros((2, 2)), 1.0, (1.0, 2.0), (0.5, 0.5)).tolist() == [0.5, 0.5]
    k = np.array([[1.0, 1.0], [1.0, 1.0]])
    x, drive = np.zeros(2), np.array([1.0, 1.0])
    for _ in range(200):
        x = cone(k, 0.4, k @ x + drive, x)
        assert np.linalg.norm(x) <= 0.4 * (1 + 1e-15)
    np.testing.assert_allclose(x, -0.4 * drive / np.sqrt(2), atol=1e-12)


@pytest.mark.parametrize("thickness", [1e-2, 1e-4, 1e-7])
def test_thin_bodies_keep_all_rows(thickness):
    """Metres and radians differ by 1e14 in a weld of a hair's size: its linear rows are not taken for redundant."""
    problem = Problem([1e-3], [(0, 0, 0)], np.diag([1e-3, 1e-3, 1e-3]) * thickness**2)
    problem.velocity[0] = [1, 2, 3, 4, 5, 6]
    problem.weld(-1, 0, np.zeros(3))
    rows, factors = problem.finish()
    py_factor_blocks(rows, factors)
    assert (np.diagonal(factors[:, 0]) > 0).all()
    py_sweep_si(rows, factors, problem.twist, 0)
    assert np.abs(problem.velocity).max() < 1e-12


def test_factors_multiply_back():
    """L D L' is J M^-1 J' + compliance of the pass; a redundant row has pivot and column 0."""
    rng = np.random.default_rng(0)
    problem = Problem([2.0, 3.0], rng.normal(size=(2, 3)))
    x, y, z = (problem.point(0, 1, np.ones(3), axis) for axis in np.eye(3))
    problem.block(0, 1, BILATERAL, [x, y, z], compliance=rng.uniform(0.1, 1, (3, 2)))
    problem.block(0, 1, BILATERAL, [x, x, y])
    rows, factors = problem.finish()
    py_factor_blocks(rows, factors)
    for p in (0, 1):
        f = factors[:3, p, :3]
        lower = np.tril(f, -1) + np.eye(3)
        k = rows["jacobian"][:3] @ rows["inv_mass_jacobian"][:3].T + np.diag(rows["compliance"][:3, p])
        np.testing.assert_allclose(lower @ np.diag(np.diagonal(f)) @ lower.T, k, rtol=1e-14, atol=1e-14)
        assert factors[4, p, 1] == 0 and factors[5, p, 1] == 0 and factors[5, p, 2] > 0


@pytest.mark.parametrize("radius", [1e-12, 1e-30, 1e-300])
def test_cone_without_a_pull_under_a_load_of_rounding(radius):
    """K x = w but for rounding, radius smaller than that rounding: once, a division of 0 by 0."""
    rng = np.random.default_rng(1)
    for _ in range(300):
        k = np.diag(10.0 ** rng.uniform(-6, 2, 2))
        x = rng.normal(size=2) * 1e6
        found = cone(k, radius, [k[0, 0] * x[0], k[1, 1] * x[1]], x)
        assert np.isfinite(found).all()
        assert np.linalg.norm(found) <= radius * (1 + 1e-15)
