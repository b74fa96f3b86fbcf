"""Pairs of features, compiled: gaps, pieces, frames and rows. features.py says what they are.

A class a kind of pair; each has, for its pair k at a piece, a gap, how far the point is beyond the piece, and the frame
of the contact. Arrays of many pairs are loops over these.
"""

from libc.math cimport INFINITY, fabs, floor, fmax, fmin, sqrt

import numpy as np

from mcsim.core._math cimport (add, add_scaled, cross, dot, mat_column, mat_mul, mat_t_vec, mat_vec, neg, norm,
                               quat, quat_matrix, scale, sub, vec3)
from mcsim.core._trig cimport arctan2
from mcsim.core._types cimport Mat3, Quat, Vec3

cdef double FAR = 1e300
cdef double TOUCHING = 1e-9
cdef double INSIDE = 1e-9
cdef double PARALLEL = 1e-6
cdef double TURNED = 6.283185307179586

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


cdef class Poses:
    """Of all bodies: x (n, 3), unit quaternions q (n, 4), v (n, 3), w (n, 3); R (n, 3, 3) of the quaternions. Body n is the
    world, at rest at its origin."""

    cdef readonly object x, q, v, w, R
    cdef readonly Py_ssize_t count
    cdef object _all
    cdef Bodies s

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


ctypedef struct Crossing:
    Moving n                 # unit, across both lines
    double[2] foot           # where the nearest points are, in parts of the lines from their starts
    double[2] rate
    bint parallel


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


cdef inline bint meet(const Crossing* c) noexcept nogil:
    """Whether the nearest points are within both lines; their ends are other features."""
    return (not c.parallel and INSIDE < c.foot[0] < 1.0 - INSIDE and INSIDE < c.foot[1] < 1.0 - INSIDE)


# ---- pairs -----------------------------------------------------------------------------------------------------------

cdef class Pairs:
    """Pairs of one kind. bodies (k, 2), shapes (k, 2): numbers of a and b; friction, restitution, load (k,). A pair may
    touch in several ways: `piece` says by which (the face of a polyhedron)."""

    cdef readonly object bodies, shapes, friction, restitution, load
    cdef readonly Py_ssize_t count
    cdef public double horizon                   # [s] that the next step may take; what cannot meet in it may be left out
    cdef const Py_ssize_t* body
    cdef list _kept

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


cdef class VertexPolyhedron(Pairs):
    """A vertex on b, a convex polyhedron on a: its faces n . x = offset, (k, faces, 3) and (k, faces), padded by faces
    far away. The piece is the face that the vertex is outermost of; where several are as far within TOUCHING (over an
    edge) the one that faces b's shape, whose middle is `toward` (k, 3)."""

    cdef readonly object normals, offsets
    cdef int most
    cdef const Vec3* normal
    cdef const double* offset
    cdef const Vec3* vertex
    cdef const Vec3* toward

    def __init__(self, common, normals, offsets, vertex, toward):
        super().__init__(*common)
        self.most = max((len(part) for part in offsets), default=1)
        self.normals, self.offsets = np.zeros((self.count, self.most, 3)), np.full((self.count, self.most), FAR)
        for k in range(self.count):
            self.normals[k, :len(offsets[k])], self.offsets[k, :len(offsets[k])] = normals[k], offsets[k]
        self.normal, self.offset = vectors(self.normals), numbers(self.offsets)
        self.vertex, self.toward = <const Vec3*> self.keep(vertex, 3), <const Vec3*> self.keep(toward, 3)

    cdef Vec3 own(self, Py_ssize_t k, const Bodies* s, Vec3 local) noexcept nogil:
        """A point of b in a's axes."""
        cdef Py_ssize_t a = self.body[2 * k]
        return mat_t_vec(s.R[a], sub(placed(s, self.body[2 * k + 1], local), s.x[a]))

    cdef double separation(self, Py_ssize_t k, Py_ssize_t face, Vec3 own) noexcept nogil:
        return dot(self.normal[k * self.most + face], own) - self.offset[k * self.most + face]

    cdef Py_ssize_t nearest(self, Py_ssize_t k, const Bodies* s) noexcept nogil:
        cdef Vec3 own = self.own(k, s, self.vertex[k])
        cdef Vec3 way = sub(self.own(k, s, self.toward[k]), own)
        cdef double most = -FAR
        cdef double best = -FAR
        cdef double facing
        cdef Py_ssize_t face, found = 0
        for face in range(self.most):
            most = fmax(most, self.separation(k, face, own))
        for face in range(self.most):
            facing = dot(self.normal[k * self.most + face], way)
            if self.separation(k, face, own) >= most - TOUCHING and facing > best:
                best, found = facing, face
        return found

    cdef double others(self, Py_ssize_t k, Py_ssize_t piece, Vec3 own) noexcept nogil:
        """How far beyond any other face the vertex is, less TOUCHING."""
        cdef double most = -FAR
        cdef Py_ssize_t face
        for face in range(self.most):
            if face != piece:
                most = fmax(most, self.separation(k, face, own))
        return most - TOUCHING

    cdef double gap(self, Py_ssize_t k, Py_ssize_t piece, const Bodies* s) noexcept nogil:
        cdef Vec3 own = self.own(k, s, self.vertex[k])
        return fmax(self.separation(k, piece, own), self.others(k, piece, own))

    cdef double over(self, Py_ssize_t k, Py_ssize_t piece, const Bodies* s) noexcept nogil:
        return self.others(k, piece, self.own(k, s, self.vertex[k]))

    cdef Frame frame(self, Py_ssize_t k, Py_ssize_t piece, const Bodies* s) noexcept nogil:
        cdef Frame f
        f.n = turned(s, self.body[2 * k], self.normal[k * self.most + piece])
        f.p = carried(s, self.body[2 * k + 1], self.vertex[k])
        f.form, f.speed = POINT, 0.0
        return f


cdef class EdgeEdge(Pairs):
    """An edge of a polyhedron on a, one on b. They count while the plane across both, n along their cross product,
    keeps the two polyhedra apart (all their vertices on its two sides) better than any face and any other such plane
    does, and the edges meet within their lengths; otherwise faces and vertices do the touching.

    solids: of each pair of polyhedra (body a, body b, faces of a, of b, corners of a, of b), faces as (normals,
    offsets); whose (k,): the pair that the edges belong to, those of one pair one after the other."""

    cdef Py_ssize_t solid_count
    cdef object _solid_bodies, _face_start, _corner_start, _whose, _first, _scratch, _reach
    cdef const Vec3* ends
    cdef const Vec3* middles
    cdef const Vec3* normal
    cdef const double* offset
    cdef const Vec3* corner
    cdef const Py_ssize_t* solid_body       # (solids, 2)
    cdef const Py_ssize_t* face_start       # (2 solids + 1,)
    cdef const Py_ssize_t* corner_start     # (2 solids + 1,)
    cdef const Py_ssize_t* whose            # (k,)
    cdef const Py_ssize_t* first            # (solids + 1,) first edge pair of each pair of solids
    cdef const double* reach                # (solids, 2) of the corners from the centres of mass
    cdef Vec3* scratch

    def __init__(self, common, ends, middles, solids, whose):
        super().__init__(*common)
        self.solid_count = len(solids)
        self.ends, self.middles = <const Vec3*> self.keep(ends, 12), <const Vec3*> self.keep(middles, 6)
        faces = [part for solid in solids for part in solid[2:4]]
        corners = [part for solid in solids for part in solid[4:6]]
        self._solid_bodies = np.array([solid[:2] for solid in solids], np.intp)
        self._face_start = np.cumsum([0] + [len(part[1]) for part in faces]).astype(np.intp)
        self._corner_start = np.cumsum([0] + [len(part) for part in corners]).astype(np.intp)
        self._whose = np.array(whose, np.intp)
        self._first = np.searchsorted(self._whose, np.arange(len(solids) + 1)).astype(np.intp)
        self._reach = np.array([np.max(np.linalg.norm(part, axis=1)) for part in corners])
        normals, offsets = (np.concatenate([part[i] for part in faces]) for i in (0, 1))
        points = np.concatenate(corners)
        self._scratch = np.empty((2 * max(len(part) for part in corners), 3))
        arrays = [np.ascontiguousarray(part) for part in (normals, offsets, points)]
        self._kept += arrays
        self.normal, self.offset, self.corner = vectors(arrays[0]), numbers(arrays[1]), vectors(arrays[2])
        self.solid_body, self.whose, self.first = whole(self._solid_bodies), whole(self._whose), whole(self._first)
        self.face_start, self.corner_start = whole(self._face_start), whole(self._corner_start)
        self.reach, self.scratch = numbers(self._reach), <Vec3*> vectors(self._scratch)

    cdef bint apart(self, Py_ssize_t g, const Bodies* s) noexcept nogil:
        """Whether the two cannot come near within the horizon."""
        cdef Py_ssize_t a = self.solid_body[2 * g]
        cdef Py_ssize_t b = self.solid_body[2 * g + 1]
        cdef double both = self.reach[2 * g] + self.reach[2 * g + 1]
        return (norm(sub(s.x[b], s.x[a])) > 1.5 * both
                + (2.0 * self.horizon) * (norm(s.v[a]) + norm(s.v[b])) if self.horizon < INFINITY else False)

    cdef void stand(self, Py_ssize_t g, const Bodies* s) noexcept nogil:
        """The corners of both in the world, a's first."""
        cdef Vec3* out = self.scratch
        cdef Py_ssize_t i, side
        for side in range(2):
            for i in range(self.corner_start[2 * g + side], self.corner_start[2 * g + side + 1]):
                out[0] = placed(s, self.solid_body[2 * g + side], self.corner[i])
                out += 1

    cdef double by_faces(self, Py_ssize_t g, const Bodies* s) noexcept nogil:
        """How far the faces keep the two apart, the corners standing."""
        cdef double best = -FAR
        cdef double low, level
        cdef Py_ssize_t side, face, i, body
        cdef Py_ssize_t na = self.corner_start[2 * g + 1] - self.corner_start[2 * g]
        cdef Py_ssize_t nb = self.corner_start[2 * g + 2] - self.corner_start[2 * g + 1]
        cdef Vec3 n
        cdef const Vec3* other
        for side in range(2):
            body = self.solid_body[2 * g + side]
            other = self.scratch + na if side == 0 else self.scratch
            for face in range(self.face_start[2 * g + side], self.face_start[2 * g + side + 1]):
                n = mat_vec(s.R[body], self.normal[face])
                level = dot(n, s.x[body]) + self.offset[face]
                low = FAR
                for i in range(nb if side == 0 else na):
                    low = fmin(low, dot(n, other[i]) - level)
                best = fmax(best, low)
        return best

    cdef Crossing lines(self, Py_ssize_t k, const Bodies* s, Moving* pa, Moving* pb, Moving* ub) noexcept nogil:
        cdef const Vec3* own = self.ends + 4 * k
        cdef Py_ssize_t a = self.body[2 * k]
        cdef Py_ssize_t b = self.body[2 * k + 1]
        cdef Moving ua = turned(s, a, sub(own[1], own[0]))
        pa[0], pb[0], ub[0] = carried(s, a, own[0]), carried(s, b, own[2]), turned(s, b, sub(own[3], own[2]))
        return crossing(pa[0], ua, pb[0], ub[0], sub(pa.at, placed(s, a, self.middles[2 * k])))

    cdef double across(self, Py_ssize_t k, const Bodies* s) noexcept nogil:
        """The gap between the edges of k where their plane keeps the two apart, the corners standing; else FAR."""
        cdef Moving pa, pb, ub
        cdef Crossing c = self.lines(k, s, &pa, &pb, &ub)
        cdef Py_ssize_t g = self.whose[k]
        cdef Py_ssize_t na = self.corner_start[2 * g + 1] - self.corner_start[2 * g]
        cdef Py_ssize_t nb = self.corner_start[2 * g + 2] - self.corner_start[2 * g + 1]
        cdef double gap = dot(c.n.at, sub(pb.at, pa.at))
        cdef double level, high, low, depth = 0.0
        cdef Py_ssize_t i
        if not meet(&c):
            return FAR
        level, high, low = dot(c.n.at, pa.at), -FAR, FAR
        for i in range(na):
            high, low = fmax(high, dot(c.n.at, self.scratch[i]) - level), fmin(low, dot(c.n.at, self.scratch[i]) - level)
        if not high < TOUCHING:
            return FAR
        depth -= low
        level, high, low = dot(c.n.at, pb.at), -FAR, FAR
        for i in range(na, na + nb):
            high, low = fmax(high, level - dot(c.n.at, self.scratch[i])), fmin(low, level - dot(c.n.at, self.scratch[i]))
        if not high < TOUCHING:
            return FAR
        depth -= low
        return gap if gap > -0.5 * depth else FAR                     # else they are the far sides of both

    cdef double gap(self, Py_ssize_t k, Py_ssize_t piece, const Bodies* s) noexcept nogil:
        cdef Py_ssize_t g = self.whose[k]
        cdef double found
        self.stand(g, s)
        found = self.across(k, s)
        return found if found == FAR or found >= self.by_faces(g, s) - TOUCHING else FAR

    cdef double over(self, Py_ssize_t k, Py_ssize_t piece, const Bodies* s) noexcept nogil:
        return 1.0 if self.gap(k, piece, s) == FAR else -FAR

    def gaps(self, Poses poses, const Py_ssize_t[::1] piece):
        cdef double[::1] out = np.full(self.count, FAR)
        cdef const Bodies* s = &poses.s
        cdef Py_ssize_t g, k
        cdef double best
        for g in range(self.solid_count):
            if self.apart(g, s):
                continue
            self.stand(g, s)
            best = self.by_faces(g, s)
            for k in range(self.first[g], self.first[g + 1]):
                out[k] = self.across(k, s)
                if out[k] != FAR:
                    best = fmax(best, out[k])
            for k in range(self.first[g], self.first[g + 1]):
                if out[k] < best - TOUCHING:
                    out[k] = FAR
        return np.asarray(out)

    def leaving(self, Poses poses, const Py_ssize_t[::1] piece):
        return np.where(self.gaps(poses, piece) == FAR, 1.0, -FAR)

    def separations(self, Poses poses):
        """(solids,) how far the best of all planes keeps each two polyhedra apart; negative: they overlap (S.
        Gottschalk, M. Lin, D. Manocha, "OBBTree", 1996: faces and pairs of edges are all the planes there are to
        try). Where one is found that keeps them apart the others are not tried."""
        cdef double[::1] out = np.full(self.solid_count, FAR)
        cdef const Bodies* s = &poses.s
        cdef Py_ssize_t g, k
        for g in range(self.solid_count):
            if self.apart(g, s):
                continue
            self.stand(g, s)
            out[g] = self.by_faces(g, s)
            for k in range(self.first[g], self.first[g + 1]):
                if out[g] > 0.0:
                    break
                out[g] = fmax(out[g], self.between_edges(k, s))
        return np.asarray(out)

    cdef double between_edges(self, Py_ssize_t k, const Bodies* s) noexcept nogil:
        """How far the plane across both edges keeps the two apart, on whichever side."""
        cdef Moving pa, pb, ub
        cdef Crossing c = self.lines(k, s, &pa, &pb, &ub)
        cdef Py_ssize_t g = self.whose[k]
        cdef Py_ssize_t na = self.corner_start[2 * g + 1] - self.corner_start[2 * g]
        cdef Py_ssize_t nb = self.corner_start[2 * g + 2] - self.corner_start[2 * g + 1]
        cdef double[2] low
        cdef double[2] high
        cdef Py_ssize_t i
        cdef int side
        if c.parallel:
            return -FAR
        low[0] = low[1] = FAR
        high[0] = high[1] = -FAR
        for i in range(na + nb):
            side = i >= na
            low[side] = fmin(low[side], dot(c.n.at, self.scratch[i]))
            high[side] = fmax(high[side], dot(c.n.at, self.scratch[i]))
        return fmax(low[1] - high[0], low[0] - high[1])

    cdef Frame frame(self, Py_ssize_t k, Py_ssize_t piece, const Bodies* s) noexcept nogil:
        cdef Moving pa, pb, ub
        cdef Crossing c = self.lines(k, s, &pa, &pb, &ub)
        return edge_frame(&c, pb, ub, 0.0)


# ---- joints ----------------------------------------------------------------------------------------------------------

cdef class TurnLimit(Pairs):
    """The angle of b's joint frame about the z axis of a's, against a bound: sign (angle - bound). frames (k, 2, 3, 3): the
    axes x, y, z of both in their bodies. Of angles that differ by turns the one nearest to `near` is meant."""

    cdef const Vec3* frames
    cdef const double* sign
    cdef const double* bound
    cdef readonly object near
    cdef double* last

    def __init__(self, common, frames, sign, bound):
        super().__init__(*common)
        self.frames, self.sign, self.bound = <const Vec3*> self.keep(frames, 18), self.keep(sign, 1), self.keep(bound, 1)
        self.near = np.zeros(self.count)
        self.last = <double*> numbers(self.near)

    cdef double angle(self, Py_ssize_t k, const Bodies* s) noexcept nogil:
        cdef const Vec3* own = self.frames + 6 * k
        cdef Vec3 x = mat_t_vec(s.R[self.body[2 * k]], mat_vec(s.R[self.body[2 * k + 1]], own[3]))
        cdef double found = arctan2(dot(x, own[1]), dot(x, own[0]))
        return found + TURNED * floor((self.last[k] - found) / TURNED + 0.5)

    cdef double gap(self, Py_ssize_t k, Py_ssize_t piece, const Bodies* s) noexcept nogil:
        return self.sign[k] * (self.angle(k, s) - self.bound[k])

    cdef Frame frame(self, Py_ssize_t k, Py_ssize_t piece, const Bodies* s) noexcept nogil:
        cdef Frame f
        f.n = turned(s, self.body[2 * k], scale(self.sign[k], self.frames[6 * k + 2]))
        f.p = carried(s, self.body[2 * k + 1], vec3(0.0, 0.0, 0.0))
        f.form, f.speed = TURN, 0.0
        return f

    def follow(self, Poses poses):
        """Count turns from here on."""
        cdef Py_ssize_t k
        for k in range(self.count):
            self.last[k] = self.angle(k, &poses.s)


cdef class Drive(Pairs):
    """A force along, or a torque about, an axis of a, between a and a point of b, that wants a speed [m/s or rad/s] and
    gives at most `most` [N or N m] for it: a velocity motor, or a joint's friction, which wants none. It is Coulomb's
    friction under a load, without a normal."""

    cdef const Vec3* axis
    cdef const Vec3* point
    cdef const double* speed
    cdef const double* about

    def __init__(self, common, axis, point, speed, most, about):
        super().__init__(*common)
        self.axis, self.point = <const Vec3*> self.keep(axis, 3), <const Vec3*> self.keep(point, 3)
        self.speed, self.about = self.keep(speed, 1), self.keep(about, 1)
        self.load[:] = most

    cdef double gap(self, Py_ssize_t k, Py_ssize_t piece, const Bodies* s) noexcept nogil:
        return 0.0

    cdef Frame frame(self, Py_ssize_t k, Py_ssize_t piece, const Bodies* s) noexcept nogil:
        cdef Frame f
        f.n = turned(s, self.body[2 * k], self.axis[k])
        f.p = carried(s, self.body[2 * k + 1], self.point[k])
        f.form, f.speed = DRIVE_ABOUT if self.about[k] != 0.0 else DRIVE_ALONG, self.speed[k]
        return f


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
