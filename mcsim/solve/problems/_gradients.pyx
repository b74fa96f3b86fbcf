"""What the methods of gradients ask of a problem's rows: steps onto the cones, products of vectors.

Steps are measured by a scale s_i, one number a block of rows, so that a cone stays a cone in the scaled variables
lambda / sqrt(s): the nearest point of K in the metric |x|^2 = sum x_i^2 / s_i is block by block the ordinary one.
"""

from libc.math cimport INFINITY, fabs, sqrt

import numpy as np

from mcsim.solve._blocks cimport clamp
from mcsim.solve.problems._system cimport PYRAMID_CONE, System, project_contact


def scales(System s, bint scaled):
    """(rows,) s: 1 / the largest diagonal entry of a row's block; 0 of a block that nothing moves. Not scaled: 1 / the
    largest of all."""
    found = np.zeros(s.row_count)
    cdef double[::1] out = found
    cdef Py_ssize_t block, first
    cdef int r
    cdef double d, most = 0.0
    for block in range(s.block_count):
        first = s.first(block)
        d = s.local[9 * block]
        if s.size(block) == 3:
            d = max(d, s.local[9 * block + 4], s.local[9 * block + 8])
        most = max(most, d)
        for r in range(s.size(block)):
            out[first + r] = 1.0 / d if d > 0.0 else 0.0
    if not scaled and most > 0.0:
        found[found > 0.0] = 1.0 / most
    return found


def descend(System s, int model, const double[::1] y, const double[::1] w, const double[::1] scale, double step,
            double[::1] out):
    """out = P_K(y - step s w)"""
    cdef Py_ssize_t block, i
    cdef int r
    with nogil:
        for block in range(s.contact_count):
            i = 3 * block
            for r in range(3):
                out[i + r] = y[i + r] - step * scale[i + r] * w[i + r]
            project_contact(model, s.friction[block], &out[i])
        for block in range(s.contact_count, s.block_count):
            i = s.first(block)
            out[i] = clamp(y[i] - step * scale[i] * w[i], s.lower[block - s.contact_count],
                           s.upper[block - s.contact_count])


def along(const double[::1] x, const double[::1] y, const double[::1] wx, const double[::1] wy,
          const double[::1] scale):
    """Of d = x - y, which changes the velocities by A d = wx - wy: (d' A d, d' S^-1 d, A d' S A d)."""
    cdef double curvature = 0.0, length = 0.0, change = 0.0
    cdef double d, w
    cdef Py_ssize_t i
    with nogil:
        for i in range(x.shape[0]):
            d = x[i] - y[i]
            w = wx[i] - wy[i]
            curvature += d * w
            if scale[i] > 0.0:
                length += d * d / scale[i]
                change += w * w * scale[i]
    return curvature, length, change


def slope(const double[::1] w, const double[::1] x, const double[::1] y):
    """w' (x - y)"""
    cdef double s = 0.0
    cdef Py_ssize_t i
    with nogil:
        for i in range(x.shape[0]):
            s += w[i] * (x[i] - y[i])
    return s


def beyond(const double[::1] x, const double[::1] y, double more, double[::1] out):
    """out = x + more (x - y)"""
    cdef Py_ssize_t i
    with nogil:
        for i in range(x.shape[0]):
            out[i] = x[i] + more * (x[i] - y[i])


def dot(const double[::1] x, const double[::1] y):
    """x' y, added up in order: the same bits whatever library stands behind NumPy, and no threads."""
    cdef double s = 0.0
    cdef Py_ssize_t i
    with nogil:
        for i in range(x.shape[0]):
            s += x[i] * y[i]
    return s


def shifts(System s, int model, const double[::1] u, double[::1] out):
    """De Saxce's shift of the normal rows, out_n = mu |u_t|, over the pyramid's cone mu (|u_1| + |u_2|); 0 of the others,
    and where friction holds whatever comes."""
    cdef Py_ssize_t block, i
    cdef double mu, speed
    for block in range(s.contact_count):
        i = 3 * block
        mu = s.friction[block]
        if model == PYRAMID_CONE:
            speed = fabs(u[i + 1]) + fabs(u[i + 2])
        else:
            speed = sqrt(u[i + 1] * u[i + 1] + u[i + 2] * u[i + 2])
        out[i] = mu * speed if mu < INFINITY else 0.0
