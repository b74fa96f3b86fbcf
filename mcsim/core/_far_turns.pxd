"""Turns that are counted from farther away than the series of _math.pxd reach."""

from libc.math cimport sqrt

from mcsim.core._math cimport add_scaled, cross, dot, turn_rate
from mcsim.core._trig cimport sine_cosine
from mcsim.core._types cimport Vec3


cdef inline Vec3 turn_rate_from(Vec3 u, Vec3 w, bint far) noexcept nogil:
    """u' as of turn_rate; far: for any |u| below a whole turn, (a/2) cot (a/2) by its own functions."""
    cdef double square = dot(u, u)
    cdef double half, s, c
    cdef Vec3 across
    if not far or square < 0.01:         # where the series of turn_rate has all digits: its remainder is 5e-10 |u|^10
        return turn_rate(u, w)
    half, across = 0.5 * sqrt(square), cross(u, w)
    sine_cosine(half, &s, &c)
    return add_scaled(add_scaled(w, -0.5, across), (1.0 - half * c / s) / square, cross(u, across))
