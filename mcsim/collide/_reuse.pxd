"""The points of two boxes serve again while the boxes hardly move against each other.

A manifold keeps what it was made from: b's pose in a's axes, its points there, and the axis of its normal. While b has
moved by less than a small length since then (`allowance`), the axis and the points are taken to be the same, and only
carried along: with d the motion of b's matter at a point, in a's axes, and n the normal at the present poses,

    separation = separation then + n . d.

For a corner over a face that is exact. Where an edge crosses the border of a face it leaves out the motion times the
slope of one face against the other, and the point itself lies off by a part of the motion. Nothing adds up: points are
carried from where they were made, not from the last step, and past the allowance they are made anew.
"""

from mcsim.core._types cimport Mat3, Quat, Twist, Vec3
from mcsim.core._math cimport (vec3, add, sub, scale, dot, cross, normalized, mat_column, mat_t_vec, mat_vec,
                               quat_conj, quat_matrix, quat_mul)
from mcsim.state._manifold cimport Manifold, ManifoldOrigin
from mcsim.state._contact_reference cimport EDGES, of_vertex
from mcsim.collide._carrying cimport cross_edges
from mcsim.collide._solid cimport Solid

cdef extern from *:
    """
    /* The most that b may have moved: parts of the distance from which on the pair has contacts and of the smallest half
       extent. */
    #define MC_PART_OF_DISTANCE 0.05
    #define MC_PART_OF_SIZE 2e-3
    /* The square of the part of that by which a point may have slid along the surfaces. */
    #define MC_PART_SLIDING2 0.0625
    /* Edges closer to parallel than 30 degrees have a normal that turns faster than they do. */
    #define MC_LEAST_SINE2 0.25
    /* How far a point follows b along the surfaces, by the kind of its feature (see _contact.pxd). */
    static const double mc_share_of_b[4] = {0.5, 0.0, 1.0, 0.5};
    """
    const double PART_OF_DISTANCE "MC_PART_OF_DISTANCE"
    const double PART_OF_SIZE "MC_PART_OF_SIZE"
    const double PART_SLIDING2 "MC_PART_SLIDING2"
    const double LEAST_SINE2 "MC_LEAST_SINE2"
    const double[4] mc_share_of_b


cdef inline Vec3 axis_of(const Solid* a, const Solid* b, int axis) noexcept nogil:
    """The direction of a manifold's axis now, world; of two edges not yet a unit vector."""
    if axis < 3:
        return mat_column(a.axes, axis)
    if axis < 6:
        return mat_column(b.axes, axis - 3)
    return cross(mat_column(a.axes, (axis - 6) // 3), mat_column(b.axes, (axis - 6) % 3))


cdef inline double least(Vec3 u) noexcept nogil:
    cdef double s = u.x if u.x < u.y else u.y
    return s if s < u.z else u.z


cdef inline double motion2(Vec3 shift, double turn2, Vec3 size) noexcept nogil:
    """At least the square of how far a point of a box has moved: |shift| + angle times the box's radius."""
    return 2.0 * (dot(shift, shift) + turn2 * dot(size, size))


cdef inline double coming_motion2(const Solid* a, Twist twist_a, Vec3 centre_a, const Solid* b, Twist twist_b,
                                  Vec3 centre_b, double ahead) noexcept nogil:
    """The motion of b seen from a in the time ahead, at the present velocities."""
    cdef Vec3 v = sub(add(twist_b.v, cross(twist_b.w, sub(b.position, centre_b))),
                      add(twist_a.v, cross(twist_a.w, sub(b.position, centre_a))))
    cdef Vec3 w = sub(twist_b.w, twist_a.w)
    return ahead * ahead * motion2(v, dot(w, w), b.size)


cdef inline void remember(Manifold* m, const Solid* a, Quat turn_a, const Solid* b, Quat turn_b, double limit,
                          double speculative_distance, double coming2) noexcept nogil:
    """Note what the manifold was made from, if it may serve again. coming2: motion that is expected by the next call."""
    cdef ManifoldOrigin* o = &m.origin
    cdef double length = PART_OF_DISTANCE * speculative_distance
    cdef Vec3 u = axis_of(a, b, o.axis)
    cdef Vec3 p
    cdef int k
    length = min(length, PART_OF_SIZE * min(least(a.size), least(b.size)))
    m.allowance = length * length
    if coming2 > m.allowance or o.axis >= 6 and dot(u, u) < LEAST_SINE2:
        m.allowance = 0.0
        return
    o.reserved = 0
    o.limit = limit + 0.1 * speculative_distance
    o.turn = quat_mul(quat_conj(turn_a), turn_b)
    o.offset = mat_t_vec(a.axes, sub(b.position, a.position))
    o.sign = 1.0 if dot(u, m.normal) >= 0.0 else -1.0
    for k in range(4):
        o.spots[0][k] = 0.0
        o.spots[1][k] = 0.0
        o.spots[2][k] = 0.0
        o.gaps[k] = 0.0
    for k in range(m.point_count):
        p = mat_t_vec(a.axes, sub(m.points[k].position, a.position))
        o.spots[0][k] = p.x
        o.spots[1][k] = p.y
        o.spots[2][k] = p.z
        o.gaps[k] = m.points[k].separation


cdef inline int reuse(Manifold* m, const Manifold* old, const Solid* a, Quat turn_a, const Solid* b, Quat turn_b,
                      double limit) noexcept nogil:
    """Carry the points of the last manifold to the present poses. -> point count, 0: they do not serve."""
    cdef const ManifoldOrigin* o = &old.origin
    cdef Vec3 offset = mat_t_vec(a.axes, sub(b.position, a.position))
    cdef Quat turn = quat_mul(quat_conj(turn_a), turn_b)
    cdef Quat q = quat_mul(turn, quat_conj(o.turn))
    cdef Mat3 r
    cdef Vec3 n, shift, p
    cdef double x, y, z, along, share, slid
    cdef double dx[4]
    cdef double dy[4]
    cdef double dz[4]
    cdef double moved[4]
    cdef double slides[4]
    cdef int k
    # |vector part| is the sine of half the angle; a turn near 180 degrees has none near 0.
    if limit > o.limit or not motion2(sub(offset, o.offset), 5.0 * (q.x * q.x + q.y * q.y + q.z * q.z),
                                      b.size) <= old.allowance:
        return 0
    m.normal = scale(o.sign, axis_of(a, b, o.axis))
    if o.axis >= 6:
        m.normal = normalized(m.normal)
    n = mat_t_vec(a.axes, m.normal)
    r = quat_matrix(q)
    shift = sub(offset, mat_vec(r, o.offset))
    slid = 0.0
    for k in range(4):
        x = o.spots[0][k]
        y = o.spots[1][k]
        z = o.spots[2][k]
        dx[k] = r.xx * x + r.xy * y + r.xz * z + shift.x - x
        dy[k] = r.yx * x + r.yy * y + r.yz * z + shift.y - y
        dz[k] = r.zx * x + r.zy * y + r.zz * z + shift.z - z
        moved[k] = n.x * dx[k] + n.y * dy[k] + n.z * dz[k]
        slides[k] = dx[k] * dx[k] + dy[k] * dy[k] + dz[k] * dz[k] - moved[k] * moved[k]
    for k in range(old.point_count):
        slid = slides[k] if slides[k] > slid else slid
    if slid > PART_SLIDING2 * old.allowance:
        return 0
    m.point_count = old.point_count
    m.turns = old.turns
    if m.turns == EDGES:
        cross_edges(m, mat_column(a.axes, (o.axis - 6) // 3), mat_column(b.axes, (o.axis - 6) % 3))
    m.rounding_a = 0.0
    m.rounding_b = 0.0
    for k in range(old.point_count):
        share = mc_share_of_b[(old.points[k].feature >> 56) & 3]
        along = (0.5 - share) * moved[k]
        p = vec3(o.spots[0][k] + share * dx[k] + along * n.x, o.spots[1][k] + share * dy[k] + along * n.y,
                 o.spots[2][k] + share * dz[k] + along * n.z)
        m.points[k].position = add(a.position, mat_vec(a.axes, p))
        m.points[k].separation = o.gaps[k] + moved[k]
        m.points[k].feature = old.points[k].feature
        m.points[k].share = old.points[k].share
        if not of_vertex(&old.points[k]):
            m.points[k].cross = old.points[k].cross
    m.allowance = old.allowance
    m.origin = o[0]
    return m.point_count
