"""How a rotation vector changes as what it turns goes on turning.

With r = log(q), and q turning at w in the axes that r is given in, dr/dt = T w and w = T^-1 dr/dt,

    T    x = x - 1/2 r x x + c r x (r x x),              c = (1 - |r|/2 cot(|r|/2)) / |r|^2
    T'   x = the same of -r
    T^-1 x = x + a r x x + b r x (r x x),                a = (1 - cos |r|) / |r|^2,   b = (|r| - sin |r|) / |r|^3

Source: J. Bortz, "A new mathematical formulation for strapdown inertial navigation", 1971.
"""

from libc.math cimport sqrt

from mcsim.core._math cimport add, add_scaled, cross, dot, scale
from mcsim.core._trig cimport sine_cosine
from mcsim.core._types cimport Vec3

cdef extern from *:
    """
    /* |r|^2 below which two terms of the series are exact to rounding. */
    #define MC_SHORT_TURN 1e-4
    """
    const double SHORT_TURN "MC_SHORT_TURN"


cdef inline Vec3 rate_beside(Vec3 r, Vec3 w) noexcept nogil:
    """T w - w"""
    cdef double square = dot(r, r)
    cdef double half = 0.5 * sqrt(square)
    cdef double c = 1.0 / 12.0 + square / 720.0
    cdef double s, k
    cdef Vec3 across = cross(r, w)
    if square > SHORT_TURN:
        sine_cosine(half, &s, &k)
        c = (1.0 - half * k / s) / square
    return add_scaled(scale(-0.5, across), c, cross(r, across))


cdef inline Vec3 torque_of(Vec3 r, Vec3 gradient) noexcept nogil:
    """T' times the gradient by r of an energy: minus the torque that it gives."""
    return add(gradient, rate_beside(scale(-1.0, r), gradient))


cdef inline Vec3 turning_of(Vec3 r, Vec3 rate) noexcept nogil:
    """T^-1 rate"""
    cdef double square = dot(r, r)
    cdef double size = sqrt(square)
    cdef double a = 0.5 - square / 24.0
    cdef double b = 1.0 / 6.0 - square / 120.0
    cdef double s, k
    cdef Vec3 across = cross(r, rate)
    if square > SHORT_TURN:
        sine_cosine(size, &s, &k)
        a = (1.0 - k) / square
        b = (size - s) / (square * size)
    return add_scaled(add_scaled(rate, a, across), b, cross(r, across))
