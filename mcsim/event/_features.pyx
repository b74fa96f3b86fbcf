"""Pairs of features, compiled: gaps, pieces, frames and rows. features.py says what they are.

A class a kind of pair; each has, for its pair k at a piece, a gap, how far the point is beyond the piece, and the frame
of the contact. Arrays of many pairs are loops over these.
"""

from libc.math cimport INFINITY, fabs, fmax, fmin, sqrt

import numpy as np

from mcsim.core._math cimport (add, add_scaled, cross, dot, mat_mul, mat_t_vec, mat_vec, neg, norm, quat, quat_matrix,
                               scale, sub, vec3)
from mcsim.core._numbers cimport HUGE as FAR
from mcsim.core._types cimport Mat3, Quat, Vec3

TOUCHING = 1e-9              # [m] closer than this, features touch
cdef double INSIDE = 1e-9     # part of an edge at its ends that is its corners'
cdef double PARALLEL = 1e-6   # sine of the angle within which edges are parallel, and do not cross


cdef class Poses:
    """Of all bodies: x (n, 3), unit quaternions q (n, 4), v (n, 3), w (n, 3); R (n, 3, 3) of the quaternions. Body n is the
    world, at rest at its origin."""

    def __init__(self, x, q, v, w):
        cdef double[:, ::1] quaternions = np.ascontiguousarray(q)
        cdef double[:, :, ::1] turned
        cdef Py_ssize_t i, n = quaternions.shape[0]
        rows = np.zeros((3, n + 1, 3))
        rows[0, :n], rows[1, :n], rows[2, :n] = x, v, w
        axes = np.empty((n + 1, 3, 3))
        turned = axes
        for i in range(n):
            (<Mat3*> &turned[i, 0, 0])[0] = quat_matrix((<Quat*> &quaternions[i, 0])[0])
        (<Mat3*> &turned[n, 0, 0])[0] = quat_matrix(quat(1.0, 0.0, 0.0, 0.0))
        self.x, self.v, self.w = rows[0, :n], rows[1, :n], rows[2, :n]
        self.q, self.R, self.count = np.asarray(quaternions), axes[:n], n
        self._all = rows, axes
        self.s.x, self.s.v, self.s.w = vectors(rows[0]), vectors(rows[1]), vectors(rows[2])
        self.s.R = <Mat3*> &turned[0, 0, 0]


cdef const Vec3* vectors(object array) except? NULL:
    """Rows of an (..., 3) array of contiguous doubles, kept alive by the caller."""
    cdef double[::1] flat = array.reshape(-1)
    return <const Vec3*> &flat[0] if flat.shape[0] else NULL


cdef const double* numbers(object array) except? NULL:
    cdef double[::1] flat = array.reshape(-1)
    return &flat[0] if flat.shape[0] else NULL


cdef const Py_ssize_t* whole(object array) except? NULL:
    cdef Py_ssize_t[::1] flat = array.reshape(-1)
    return &flat[0] if flat.shape[0] else NULL


# ---- two lines -------------------------------------------------------------------------------------------------------

cdef Crossing crossing(Moving pa, Moving ua, Moving pb, Moving ub, Vec3 outward) noexcept nogil:
    """Of the lines pa + s ua and pb + s ub; n is on the side of `outward`. (pb + s_b ub - pa - s_a ua) is along n: its
    products with the normals of either line in the plane of both vanish."""
    cdef Crossing r
    cdef Moving c = crossed(ua, ub)
    cdef Moving across
    cdef Moving p = between(pa, pb)
    cdef double top, bottom, sign
    cdef int k
    r.parallel = norm(c.at) < PARALLEL * sqrt(dot(ua.at, ua.at) * dot(ub.at, ub.at))
    if r.parallel:
        c.at, c.rate = vec3(1.0, 0.0, 0.0), vec3(0.0, 0.0, 0.0)
        r.n = c
        r.foot[0] = r.foot[1] = -1.0
        r.rate[0] = r.rate[1] = 0.0
        return r
    if dot(c.at, outward) < 0.0:
        c.at, c.rate = neg(c.at), neg(c.rate)
    r.n = unit(c)
    for k in range(2):
        across = crossed(r.n, ub if k == 0 else ua)
        sign = 1.0 if k == 0 else -1.0
        top = dot(p.at, across.at)
        bottom = dot(ua.at, across.at) if k == 0 else dot(ub.at, across.at)
        r.foot[k] = sign * top / bottom
        r.rate[k] = (sign * product_rate(p, across)
                     - r.foot[k] * product_rate(ua if k == 0 else ub, across)) / bottom
    return r


cdef bint meet(const Crossing* c) noexcept nogil:
    """Whether the nearest points are within both lines; their ends are other features."""
    return (not c.parallel and INSIDE < c.foot[0] < 1.0 - INSIDE and INSIDE < c.foot[1] < 1.0 - INSIDE)


# ---- pairs -----------------------------------------------------------------------------------------------------------

cdef class Pairs:
    """Pairs of one kind. bodies (k, 2), shapes (k, 2): numbers of a and b; friction, restitution, load (k,). A pair may
    touch in several ways: `piece` says by which (the face of a polyhedron)."""

    def __init__(self, bodies, shapes, friction, restitution):
        self.bodies = np.array(bodies, np.intp).reshape(-1, 2)
        self.shapes = np.array(shapes, np.intp).reshape(-1, 2)
        self.friction, self.restitution = np.array(friction, float), np.array(restitution, float)
        self.count = len(self.bodies)
        self.load = np.zeros(self.count)
        self.body = whole(self.bodies)
        self.horizon = INFINITY
        self._kept = []

    cdef const double* keep(self, values, int width) except? NULL:
        """(count, width) doubles of the pairs."""
        array = np.array(values, dtype=np.float64, order="C").reshape(self.count, width)
        self._kept.append(array)
        return numbers(array)

    cdef double gap(self, Py_ssize_t k, Py_ssize_t piece, const Bodies* s) noexcept nogil:
        """phi [m]"""
        return FAR

    cdef double over(self, Py_ssize_t k, Py_ssize_t piece, const Bodies* s) noexcept nogil:
        """[m] how far beyond the piece the point is; negative: over it."""
        return -FAR

    cdef Py_ssize_t nearest(self, Py_ssize_t k, const Bodies* s) noexcept nogil:
        """The piece by which it would touch now."""
        return 0

    cdef Frame frame(self, Py_ssize_t k, Py_ssize_t piece, const Bodies* s) noexcept nogil:
        cdef Frame f
        f.n.at = f.n.rate = f.p.at = f.p.rate = vec3(0.0, 0.0, 0.0)
        f.form, f.speed = POINT, 0.0
        return f

    def pieces(self, Poses poses):
        """(k,) by which each would touch now."""
        cdef Py_ssize_t[::1] out = np.empty(self.count, np.intp)
        cdef Py_ssize_t k
        for k in range(self.count):
            out[k] = self.nearest(k, &poses.s)
        return np.asarray(out)

    def gaps(self, Poses poses, const Py_ssize_t[::1] piece):
        """(k,) phi [m]"""
        cdef double[::1] out = np.empty(self.count)
        cdef Py_ssize_t k
        for k in range(self.count):
            out[k] = self.gap(k, piece[k], &poses.s)
        return np.asarray(out)

    def leaving(self, Poses poses, const Py_ssize_t[::1] piece):
        """(k,) [m] how far beyond the piece the point is; negative: over it. Contacts end when this is positive."""
        cdef double[::1] out = np.empty(self.count)
        cdef Py_ssize_t k
        for k in range(self.count):
            out[k] = self.over(k, piece[k], &poses.s)
        return np.asarray(out)

    def gap_of(self, Py_ssize_t k, Py_ssize_t piece, Poses poses):
        """Of one pair, at most 1e3 [m]."""
        return fmin(self.gap(k, piece, &poses.s), 1e3)

    def leaving_of(self, Py_ssize_t k, Py_ssize_t piece, Poses poses):
        """Of one pair."""
        return self.over(k, piece, &poses.s)


cdef class PointPlane(Pairs):
    """A point with a radius on b, a plane on a: n . x = offset in a's axes from its centre of mass."""

    cdef const Vec3* normal
    cdef const Vec3* point
    cdef const double* offset
    cdef const double* radius

    def __init__(self, common, normal, offset, point, radius):
        super().__init__(*common)
        self.normal, self.point = <const Vec3*> self.keep(normal, 3), <const Vec3*> self.keep(point, 3)
        self.offset, self.radius = self.keep(offset, 1), self.keep(radius, 1)

    cdef double gap(self, Py_ssize_t k, Py_ssize_t piece, const Bodies* s) noexcept nogil:
        cdef Py_ssize_t a = self.body[2 * k]
        cdef Vec3 arm = sub(placed(s, self.body[2 * k + 1], self.point[k]), s.x[a])
        return dot(mat_vec(s.R[a], self.normal[k]), arm) - self.offset[k] - self.radius[k]

    cdef Frame frame(self, Py_ssize_t k, Py_ssize_t piece, const Bodies* s) noexcept nogil:
        cdef Frame f
        f.n = turned(s, self.body[2 * k], self.normal[k])
        f.p = beyond(carried(s, self.body[2 * k + 1], self.point[k]), -self.radius[k], f.n)
        f.form, f.speed = POINT, 0.0
        return f


cdef class PointPoint(Pairs):
    """Two points with radii; `sign` -1: they may not be further apart than the sum of the radii."""

    cdef const Vec3* points
    cdef const double* radii
    cdef const double* sign

    def __init__(self, common, points, radii, sign=None):
        super().__init__(*common)
        self.points, self.radii = <const Vec3*> self.keep(points, 6), self.keep(radii, 2)
        self.sign = self.keep(np.ones(self.count) if sign is None else sign, 1)

    cdef double gap(self, Py_ssize_t k, Py_ssize_t piece, const Bodies* s) noexcept nogil:
        cdef Vec3 d = sub(placed(s, self.body[2 * k + 1], self.points[2 * k + 1]),
                          placed(s, self.body[2 * k], self.points[2 * k]))
        return self.sign[k] * (norm(d) - (self.radii[2 * k] + self.radii[2 * k + 1]))

    cdef Frame frame(self, Py_ssize_t k, Py_ssize_t piece, const Bodies* s) noexcept nogil:
        cdef Moving a = carried(s, self.body[2 * k], self.points[2 * k])
        cdef Moving b = carried(s, self.body[2 * k + 1], self.points[2 * k + 1])
        cdef Frame f = round_contact(between(a, b), b, self.radii[2 * k + 1])
        f.n.at, f.n.rate = scale(self.sign[k], f.n.at), scale(self.sign[k], f.n.rate)
        return f


cdef class PointSegment(Pairs):
    """A point with a radius on b, a segment with a radius on a: from -half to half along a unit axis about its centre.
    Without `ends` it counts only over the segment."""

    cdef const Vec3* center
    cdef const Vec3* axis
    cdef const Vec3* point
    cdef const double* half
    cdef const double* radii
    cdef const double* ends

    def __init__(self, common, center, axis, half, point, radii, ends):
        super().__init__(*common)
        self.center, self.axis = <const Vec3*> self.keep(center, 3), <const Vec3*> self.keep(axis, 3)
        self.point = <const Vec3*> self.keep(point, 3)
        self.half, self.radii, self.ends = self.keep(half, 1), self.keep(radii, 2), self.keep(ends, 1)

    cdef double along(self, Py_ssize_t k, const Bodies* s) noexcept nogil:
        cdef Py_ssize_t a = self.body[2 * k]
        return dot(sub(placed(s, self.body[2 * k + 1], self.point[k]), placed(s, a, self.center[k])),
                   mat_vec(s.R[a], self.axis[k]))

    cdef double gap(self, Py_ssize_t k, Py_ssize_t piece, const Bodies* s) noexcept nogil:
        cdef double at = self.along(k, s)
        cdef Py_ssize_t a = self.body[2 * k]
        cdef Vec3 foot
        if self.ends[k] == 0.0 and fabs(at) >= self.half[k] * (1.0 - INSIDE):
            return FAR
        foot = placed(s, a, add_scaled(self.center[k], fmax(-self.half[k], fmin(at, self.half[k])), self.axis[k]))
        return norm(sub(placed(s, self.body[2 * k + 1], self.point[k]), foot)) - (self.radii[2 * k]
                                                                                  + self.radii[2 * k + 1])

    cdef double over(self, Py_ssize_t k, Py_ssize_t piece, const Bodies* s) noexcept nogil:
        return -FAR if self.ends[k] != 0.0 else fabs(self.along(k, s)) - self.half[k] * (1.0 - INSIDE)

    cdef Frame frame(self, Py_ssize_t k, Py_ssize_t piece, const Bodies* s) noexcept nogil:
        cdef Moving b = carried(s, self.body[2 * k + 1], self.point[k])
        cdef Moving foot = carried(s, self.body[2 * k], self.center[k])
        cdef Moving axis = turned(s, self.body[2 * k], self.axis[k])
        cdef Moving d = between(foot, b)
        cdef double at = dot(d.at, axis.at)
        cdef double rate = product_rate(d, axis)
        if not fabs(at) < self.half[k]:
            at, rate = self.half[k] if at > 0.0 else -self.half[k], 0.0
        foot = beyond(foot, at, axis)
        foot.rate = add_scaled(foot.rate, rate, axis.at)
        return round_contact(between(foot, b), b, self.radii[2 * k + 1])


cdef class SegmentSegment(Pairs):
    """Two segments with radii, by their insides: ends (a's two, b's two). They count where the nearest points of their
    lines are within both; ends are other features."""

    cdef const Vec3* ends
    cdef const double* radii

    def __init__(self, common, ends, radii):
        super().__init__(*common)
        self.ends, self.radii = <const Vec3*> self.keep(ends, 12), self.keep(radii, 2)

    cdef Crossing lines(self, Py_ssize_t k, const Bodies* s, Moving* pb, Moving* ub) noexcept nogil:
        cdef const Vec3* own = self.ends + 4 * k
        cdef Py_ssize_t a = self.body[2 * k]
        cdef Py_ssize_t b = self.body[2 * k + 1]
        cdef Moving pa = carried(s, a, own[0])
        cdef Moving ua = turned(s, a, sub(own[1], own[0]))
        pb[0], ub[0] = carried(s, b, own[2]), turned(s, b, sub(own[3], own[2]))
        return crossing(pa, ua, pb[0], ub[0], sub(pb.at, pa.at))

    cdef double gap(self, Py_ssize_t k, Py_ssize_t piece, const Bodies* s) noexcept nogil:
        cdef Moving pb, ub
        cdef Crossing c = self.lines(k, s, &pb, &ub)
        if not meet(&c):
            return FAR
        return (dot(c.n.at, sub(pb.at, placed(s, self.body[2 * k], self.ends[4 * k])))
                - (self.radii[2 * k] + self.radii[2 * k + 1]))

    cdef double over(self, Py_ssize_t k, Py_ssize_t piece, const Bodies* s) noexcept nogil:
        return 1.0 if self.gap(k, piece, s) == FAR else -FAR

    cdef Frame frame(self, Py_ssize_t k, Py_ssize_t piece, const Bodies* s) noexcept nogil:
        cdef Moving pb, ub
        cdef Crossing c = self.lines(k, s, &pb, &ub)
        return edge_frame(&c, pb, ub, self.radii[2 * k + 1])


cdef Frame edge_frame(const Crossing* c, Moving pb, Moving ub, double radius) noexcept nogil:
    cdef Frame f
    f.n = c.n
    f.p = beyond(pb, c.foot[1], ub)
    f.p.rate = add_scaled(f.p.rate, c.rate[1], ub.at)
    f.p = beyond(f.p, -radius, f.n)
    f.form, f.speed = POINT, 0.0
    return f


cdef class BallBox(Pairs):
    """A ball on b, a box on a: faces, edges and corners as one smooth function of the ball's centre outside the box. A
    centre inside it is overlap by more than the radius, which no event leaves behind."""

    cdef const Vec3* center
    cdef const Mat3* turn
    cdef const Vec3* half
    cdef const Vec3* point
    cdef const double* radius

    def __init__(self, common, center, turn, half, point, radius):
        super().__init__(*common)
        self.center, self.half = <const Vec3*> self.keep(center, 3), <const Vec3*> self.keep(half, 3)
        self.turn, self.point = <const Mat3*> self.keep(turn, 9), <const Vec3*> self.keep(point, 3)
        self.radius = self.keep(radius, 1)

    cdef double gap(self, Py_ssize_t k, Py_ssize_t piece, const Bodies* s) noexcept nogil:
        cdef Py_ssize_t a = self.body[2 * k]
        cdef Mat3 axes = mat_mul(s.R[a], self.turn[k])
        cdef Vec3 own = mat_t_vec(axes, sub(placed(s, self.body[2 * k + 1], self.point[k]), placed(s, a, self.center[k])))
        return norm(vec3(outside(own.x, self.half[k].x), outside(own.y, self.half[k].y),
                         outside(own.z, self.half[k].z))) - self.radius[k]

    cdef Frame frame(self, Py_ssize_t k, Py_ssize_t piece, const Bodies* s) noexcept nogil:
        cdef Py_ssize_t a = self.body[2 * k]
        cdef Moving b = carried(s, self.body[2 * k + 1], self.point[k])
        cdef Moving d = between(carried(s, a, self.center[k]), b)
        cdef Mat3 axes = mat_mul(s.R[a], self.turn[k])
        cdef Vec3 h = self.half[k]
        cdef Vec3 own = mat_t_vec(axes, d.at)
        cdef Vec3 rate = mat_t_vec(axes, sub(d.rate, cross(s.w[a], d.at)))
        cdef Moving arm
        arm.at = mat_vec(axes, vec3(outside(own.x, h.x), outside(own.y, h.y), outside(own.z, h.z)))
        arm.rate = add(mat_vec(axes, vec3(rate.x if fabs(own.x) > h.x else 0.0, rate.y if fabs(own.y) > h.y else 0.0,
                                          rate.z if fabs(own.z) > h.z else 0.0)), cross(s.w[a], arm.at))
        return round_contact(arm, b, self.radius[k])


cdef inline double outside(double x, double half) noexcept nogil:
    return x - fmax(-half, fmin(x, half))


# ---- rows ------------------------------------------------------------------------------------------------------------

def rows_of(list kinds, const Py_ssize_t[::1] kind, const Py_ssize_t[::1] number, const Py_ssize_t[::1] piece,
            Poses poses):
    """R (k, 3, n, 6), curvature (k, 3), rates (k, 3), axes (k, 3, 3), point (k, 3) of contacts; active.py has what they
    are. features.py has the equations."""
    cdef Py_ssize_t count = kind.shape[0]
    cdef Py_ssize_t i, n = poses.count
    R, curvature, rates = np.zeros((count, 3, n, 6)), np.zeros((count, 3)), np.zeros((count, 3))
    axes, point = np.empty((count, 3, 3)), np.empty((count, 3))
    cdef double[:, :, :, ::1] out = R
    cdef double[:, ::1] c = curvature
    cdef double[:, ::1] r = rates
    cdef double[:, :, ::1] e = axes
    cdef double[:, ::1] p = point
    cdef Pairs pairs
    cdef Frame f
    for i in range(count):
        pairs = kinds[kind[i]]
        f = pairs.frame(number[i], piece[i], &poses.s)
        (<Vec3*> &p[i, 0])[0] = f.p.at
        contact_rows(&f, pairs.body[2 * number[i]], pairs.body[2 * number[i] + 1], &poses.s, n, <Vec3*> &e[i, 0, 0],
                     <Vec3*> &out[i, 0, 0, 0], &c[i, 0], &r[i, 0])
    return R, curvature, rates, axes, point


cdef void contact_rows(const Frame* f, Py_ssize_t a, Py_ssize_t b, const Bodies* s, Py_ssize_t n, Vec3* axes, Vec3* R,
                       double* curvature, double* rates) noexcept nogil:
    """axes: n and two tangents, or for a drive two others and n between them; the rows that it has along or about them."""
    cdef Vec3 beside = vec3(1.0, 0.0, 0.0) if fabs(f.n.at.x) < 0.9 else vec3(0.0, 1.0, 0.0)
    cdef bint drives = f.form == DRIVE_ALONG or f.form == DRIVE_ABOUT
    cdef int first = 1 if drives else 0
    cdef int end = 3 if f.form == POINT else first + 1
    cdef int other = 0 if drives else 1
    axes[first] = f.n.at
    axes[other] = add_scaled(beside, -dot(beside, f.n.at), f.n.at)
    axes[other] = scale(1.0 / norm(axes[other]), axes[other])
    axes[2] = cross(axes[0], axes[1])
    if f.form == TURN or f.form == DRIVE_ABOUT:
        turning_row(f, a, b, s, n, first, R, curvature, rates)
    else:
        point_rows(f, a, b, s, n, first, end, axes, R, curvature, rates)
    rates[first] -= f.speed


cdef void turning_row(const Frame* f, Py_ssize_t a, Py_ssize_t b, const Bodies* s, Py_ssize_t n, int k, Vec3* R,
                      double* curvature, double* rates) noexcept nogil:
    cdef Vec3 spin = sub(s.w[b], s.w[a])
    if a < n:
        R[2 * (n * k + a) + 1] = neg(f.n.at)
    if b < n:
        R[2 * (n * k + b) + 1] = f.n.at
    rates[k], curvature[k] = dot(f.n.at, spin), dot(f.n.rate, spin)


cdef void point_rows(const Frame* f, Py_ssize_t a, Py_ssize_t b, const Bodies* s, Py_ssize_t n, int first, int end,
                     const Vec3* axes, Vec3* R, double* curvature, double* rates) noexcept nogil:
    cdef Vec3 slip = vec3(0.0, 0.0, 0.0)
    cdef Vec3 turning = vec3(0.0, 0.0, 0.0)
    cdef Vec3 arm
    cdef Py_ssize_t body
    cdef int side, k
    cdef double sign
    for side in range(2):
        body, sign = b if side else a, 1.0 if side else -1.0
        arm = sub(f.p.at, s.x[body])
        if body < n:
            for k in range(first, end):
                R[2 * (n * k + body)] = scale(sign, axes[k])
                R[2 * (n * k + body) + 1] = scale(sign, cross(arm, axes[k]))
        slip = add_scaled(slip, sign, add(s.v[body], cross(s.w[body], arm)))
        turning = add_scaled(turning, sign, cross(s.w[body], sub(f.p.rate, s.v[body])))
    for k in range(first, end):
        curvature[k] = dot(axes[k], turning)
        rates[k] = dot(axes[k], slip)
    curvature[first] += dot(f.n.rate, slip)
