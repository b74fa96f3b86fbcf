"""The points of one contact at once (solve/_points.pxd): what is returned solves the complementarity problem that is
stated there."""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import mcsim

ROOT = Path(mcsim.__file__).parent.parent
SOURCE = """
import numpy as np
from mcsim.solve._points cimport KEPT, points_step
from mcsim.state._manifold cimport MANIFOLD_POINTS

def step(double[:, ::1] A, kept_numbers, u_given, x_given):
    cdef double a[MANIFOLD_POINTS][MANIFOLD_POINTS]
    cdef double[::1] kept = np.zeros(KEPT * MANIFOLD_POINTS)
    cdef double[::1] u = np.zeros(MANIFOLD_POINTS)
    cdef double[::1] x = np.zeros(MANIFOLD_POINTS)
    cdef double[::1] change = np.zeros(MANIFOLD_POINTS)
    cdef int n = A.shape[0]
    for i in range(n):
        u[i], x[i] = u_given[i], x_given[i]
        for j in range(n):
            a[i][j] = A[i, j]
    for i, number in enumerate(kept_numbers):
        kept[i] = number
    points_step(n, <const double (*)[MANIFOLD_POINTS]>a, &kept[0], &u[0], &x[0], &change[0])
    return np.asarray(u)[:n].copy(), np.asarray(change)[:n].copy()
"""
BUILD = """
from Cython.Build import cythonize
from setuptools import Extension, setup
setup(ext_modules=cythonize([Extension("points_of_contacts", ["points_of_contacts.pyx"],
                                       extra_compile_args=["-ffp-contract=off"])]))
"""


@pytest.fixture(scope="module")
def step(tmp_path_factory):
    """points_step, for NumPy."""
    at = tmp_path_factory.mktemp("points")
    (at / "points_of_contacts.pyx").write_text(SOURCE)
    (at / "setup.py").write_text(BUILD)
    done = subprocess.run(
        [sys.executable, "setup.py", "build_ext", "--inplace"],
        cwd=at,
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    )
    assert done.returncode == 0, done.stderr[-2000:]
    spec = importlib.util.spec_from_file_location("points_of_contacts", next(at.glob("points_of_contacts*.so")))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.step


def rows_of(seed, solid=False):
    """J M⁻¹ Jᵀ (n, n) of a box's corners on a plane, the numbers kept of four, u and x: of any sizes, masses and
    signs. solid:
    with moments of inertia that solids of that size have."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 5))
    corners = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]])[:n] * rng.uniform(0.05, 2.0, 2)
    corners = corners + (rng.uniform(-0.3, 0.3, (n, 2)) if rng.random() < 0.5 else 0.0)
    J = np.column_stack([np.ones(n), corners[:, 1], -corners[:, 0]])
    M = np.diag(10.0 ** rng.uniform(-2, 2, 3))
    if solid:
        M[1, 1], M[2, 2] = M[0, 0] * rng.uniform(0.1, 1.0, 2) * (corners**2).max(axis=0)[::-1]
    A = J @ np.linalg.inv(M) @ J.T
    kept = np.zeros((4, 4))
    if n == 4:
        e = np.linalg.svd(J.T)[2][3]  # impulses that no body feels
        kept[:, 3] = e
        kept[3, 0] = np.trace(A) / (4.0 * 64.0 * (e @ e))
    scale = np.diag(A).max()
    u = rng.normal(size=n) * scale
    x = np.where(rng.random(n) < 0.5, rng.uniform(0.0, 2.0, n), 0.0)
    return A, kept, u, x


def raised(A, kept):
    """What is solved in one step."""
    P = np.diag(np.diag(A)) / 2.0**20 if len(A) > 1 else np.zeros_like(A)
    return A + P + (kept[3, 0] * np.outer(kept[:, 3], kept[:, 3]) if len(A) == 4 else 0.0)


@pytest.mark.slow
@settings(max_examples=2000, deadline=None)
@given(st.integers(0, 2**32))
def test_a_step_solves_its_complementarity_problem(step, seed):
    A, kept, u, x = rows_of(seed)
    after, change = step(np.ascontiguousarray(A), kept.ravel(), u, x)
    w, size = u + raised(A, kept) @ change, np.abs(u).max() + np.abs(A).max() * np.abs(x).max()
    assert np.all(x + change >= 0.0)
    assert np.all(w >= -1e-8 * size)
    assert np.abs((x + change) * w).max() <= 1e-7 * size * max(1.0, np.abs(x + change).max())
    assert np.allclose(after, u + A @ change, atol=1e-12 * size)


@pytest.mark.slow
@settings(max_examples=300, deadline=None)
@given(st.integers(0, 2**32))
def test_steps_end_where_the_problem_of_the_rows_is_solved(step, seed):
    """Whatever A is raised by: u >= 0, x >= 0, and one of the two is 0. Each step lowers 1/2 x'Ax + w'x."""
    A, kept, u, x = rows_of(seed, solid=True)
    size = np.abs(u).max() + np.abs(A).max() * np.abs(x).max()
    for _ in range(400):
        before, start = x, u
        u, change = step(np.ascontiguousarray(A), kept.ravel(), u, x)
        x = x + change
        assert start @ change + 0.5 * change @ A @ change <= 1e-13 * size * max(1.0, np.abs(before).max())
    assert np.all(u >= -1e-6 * size)
    assert np.abs(x * u).max() <= 1e-6 * size * max(1.0, np.abs(x).max())


@pytest.mark.slow
def test_points_that_stand_alike_push_alike(step):
    """The corners of a square under a load without a lever, in any order: the same to the last bit."""
    corners = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]])
    J = np.column_stack([np.ones(4), corners[:, 1], -corners[:, 0]])
    A = J @ np.diag([0.1, 0.6, 0.6]) @ J.T
    kept = np.zeros((4, 4))
    kept[:, 3] = 1.0, -1.0, 1.0, -1.0
    kept[3, 0] = np.trace(A) / (4.0 * 64.0 * 4.0)
    _, change = step(np.ascontiguousarray(A), kept.ravel(), np.full(4, -1.0), np.zeros(4))
    assert np.ptp(change) <= 1e-14 * change[0]
