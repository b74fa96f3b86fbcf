"""What kinds of pairs of features share: bodies, points and directions that move, frames of contacts."""

from libc.math cimport sqrt

from mcsim.core._math cimport add, add_scaled, cross, dot, mat_vec, norm, scale, sub
from mcsim.core._types cimport Mat3, Vec3

cdef double TOUCHING

cdef enum Form:
    POINT = 0                # a point of contact: rows along its normal and two tangents
    TURN = 1                 # an angle: one row, about n
    DRIVE_ALONG = 2          # a drive: no normal; the first tangent is along n
    DRIVE_ABOUT = 3          # ... or about n

ctypedef struct Bodies:
    const Vec3* x
    const Mat3* R
    const Vec3* v
    const Vec3* w

ctypedef struct Moving:
    Vec3 at                  # a point or a direction
    Vec3 rate

ctypedef struct Frame:
    Moving n                 # unit normal from a to b
    Moving p                 # the point of contact, as it goes along the surfaces
    int form
    double speed             # that a drive is to reach

ctypedef struct Crossing:
    Moving n                 # unit, across both lines
    double[2] foot           # where the nearest points are, in parts of the lines from their starts
    double[2] rate
    bint parallel


cdef class Poses:
    cdef readonly object x, q, v, w, R
    cdef readonly Py_ssize_t count
    cdef object _all
    cdef Bodies s


cdef class Pairs:
    cdef readonly object bodies, shapes, friction, restitution, load
    cdef readonly Py_ssize_t count
    cdef public double horizon                   # [s] that the next step may take; what cannot meet in it may be left out
    cdef const Py_ssize_t* body
    cdef list _kept
    cdef const double* keep(self, values, int width) except? NULL
    cdef double gap(self, Py_ssize_t k, Py_ssize_t piece, const Bodies* s) noexcept nogil
    cdef double over(self, Py_ssize_t k, Py_ssize_t piece, const Bodies* s) noexcept nogil
    cdef Py_ssize_t nearest(self, Py_ssize_t k, const Bodies* s) noexcept nogil
    cdef Frame frame(self, Py_ssize_t k, Py_ssize_t piece, const Bodies* s) noexcept nogil


# Where arrays of doubles and of whole numbers begin.
cdef const Vec3* vectors(object array) except? NULL
cdef const double* numbers(object array) except? NULL
cdef const Py_ssize_t* whole(object array) except? NULL

cdef Crossing crossing(Moving pa, Moving ua, Moving pb, Moving ub, Vec3 outward) noexcept nogil
cdef bint meet(const Crossing* c) noexcept nogil
cdef Frame edge_frame(const Crossing* c, Moving pb, Moving ub, double radius) noexcept nogil


# ---- what bodies carry -----------------------------------------------------------------------------------------------

cdef inline Vec3 placed(const Bodies* s, Py_ssize_t body, Vec3 local) noexcept nogil:
    return add(s.x[body], mat_vec(s.R[body], local))


cdef inline Moving carried(const Bodies* s, Py_ssize_t body, Vec3 local) noexcept nogil:
    """A point fixed in a body, given from its centre of mass in its axes."""
    cdef Moving r
    cdef Vec3 arm = mat_vec(s.R[body], local)
    r.at = add(s.x[body], arm)
    r.rate = add(s.v[body], cross(s.w[body], arm))
    return r


cdef inline Moving turned(const Bodies* s, Py_ssize_t body, Vec3 local) noexcept nogil:
    """The same of a direction."""
    cdef Moving r
    r.at = mat_vec(s.R[body], local)
    r.rate = cross(s.w[body], r.at)
    return r


cdef inline Moving between(Moving a, Moving b) noexcept nogil:
    """b - a"""
    cdef Moving r
    r.at, r.rate = sub(b.at, a.at), sub(b.rate, a.rate)
    return r


cdef inline Moving beyond(Moving p, double s, Moving u) noexcept nogil:
    """p + s u"""
    cdef Moving r
    r.at, r.rate = add_scaled(p.at, s, u.at), add_scaled(p.rate, s, u.rate)
    return r


cdef inline Moving crossed(Moving a, Moving b) noexcept nogil:
    cdef Moving r
    r.at, r.rate = cross(a.at, b.at), add(cross(a.rate, b.at), cross(a.at, b.rate))
    return r


cdef inline Moving unit(Moving d) noexcept nogil:
    cdef Moving r
    cdef double length = norm(d.at)
    cdef double part = 1.0 / length if length > 0.0 else 0.0
    r.at = scale(part, d.at)
    r.rate = scale(part, add_scaled(d.rate, -dot(r.at, d.rate), r.at))
    return r


cdef inline double product_rate(Moving a, Moving b) noexcept nogil:
    """d/dt (a . b)"""
    return dot(a.rate, b.at) + dot(a.at, b.rate)


cdef inline Frame round_contact(Moving arm, Moving center, double radius) noexcept nogil:
    """Of a ball of b, `arm` from a's nearest point to its centre."""
    cdef Frame f
    f.n = unit(arm)
    f.p = beyond(center, -radius, f.n)
    f.form, f.speed = POINT, 0.0
    return f
