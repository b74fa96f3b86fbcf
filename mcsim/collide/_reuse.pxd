"""The points of two solids serve again while the two hardly move against each other.

A manifold keeps what it was made from: b's pose in a's axes, its points there, and what has its normal, a face of one or
an edge of each. While neither has moved against the other by more than a small length since then (`allowance`), the
features that touch are taken to be the same, and only carried along. A surface that is round where it touches goes with
the centre of its rounding, r n from the point, and not with its matter, which rolls by: with d the motion of the centre on
b, in a's axes, n and n' the normals then and now,

    separation = separation then + n' . d + (r_a + r_b) (n . n' - 1)
    along the surfaces, b's way against a's:  t = d - (n' . d) n' + (r_a + r_b) (n - (n . n') n')
    point = point then + r_a (n' - n) + Q t, midway between the surfaces, Q as in _carrying.pxd.

Where edges of two faces on each other cross, Q is a half: nearly parallel ones would send the crossing far along both.

For a corner over a face, and a ball or a cylinder's side, that is exact. Where an edge crosses the border of a face it
leaves out the motion times the slope of one face against the other.
Nothing adds up: points are carried from where they were made, not from the last step, and past the allowance they are made
anew.

A normal that goes with neither a face nor two edges (between roundings, or where a rim meets a rim) turns with the slide
and not with the bodies: there the common tangent plane stands for both surfaces, and turns half-way with each of the two.
That leaves out the slide by the least radius.
"""

from mcsim.core._types cimport Mat3, Quat, Twist, Vec3
from mcsim.core._math cimport (vec3, add, add_scaled, sub, scale, dot, cross, norm, normalized, mat_t_vec, mat_vec,
                               perpendicular, quat_conj, quat_matrix, quat_mul)
from mcsim.state._manifold cimport Manifold, ManifoldOrigin
from mcsim.state._contact_reference cimport (BETWEEN_A, BETWEEN_B, EDGES, FACE_A, FACE_B, RING_A, RING_B,
                                              carried, of_vertex)
from mcsim.state._shape_types cimport BOX, CAPSULE, PLANE, SPHERE
from mcsim.collide._carrying cimport cross_edges, cross_lines
from mcsim.collide._shape_table cimport is_curved
from mcsim.collide._solid cimport Solid

cdef extern from *:
    """
    /* The most that one may have moved against the other: parts of the distance from which on the pair has contacts and of
       the thickness of the thinner one. */
    #define MC_PART_OF_DISTANCE 0.05
    #define MC_PART_OF_SIZE 1e-3
    /* The square of the part of that by which a point may have slid along the surfaces. */
    #define MC_PART_SLIDING2 0.0625
    /* Where no face has the normal the part of that: there the normal is off by the slide for the least radius. */
    #define MC_PART_OF_NO_FACE 0.1
    /* The normal of two edges turns by up to 1 / sine times what they turn: below 30 degrees less is allowed. */
    #define MC_PER_SINE 2.0
    """
    const double PART_OF_DISTANCE "MC_PART_OF_DISTANCE"
    const double PART_OF_SIZE "MC_PART_OF_SIZE"
    const double PART_SLIDING2 "MC_PART_SLIDING2"
    const double PART_OF_NO_FACE "MC_PART_OF_NO_FACE"
    const double PER_SINE "MC_PER_SINE"

cdef enum Owner:                 # ManifoldOrigin.owner
    FACE_OF_A = 0
    FACE_OF_B = 1
    BOTH_EDGES = 2
    TANGENT_PLANE = 3


cdef inline bint worth_keeping(const Manifold* m, const Solid* a, const Solid* b) noexcept nogil:
    """Whether points cost more to find than to carry: not where there is a closed form, of a ball, over a plane, of two
    capsules, or a box and a capsule. Nor where no face has the normal and neither core is curved, so that edges, lines or
    corners meet: there one rocks or rolls over the other, and soon other features touch."""
    cdef bint round = a.type == CAPSULE or b.type == CAPSULE
    if a.type == PLANE or b.type == PLANE or a.type == SPHERE or b.type == SPHERE:
        return False
    if m.origin.owner == TANGENT_PLANE and not is_curved(a) and not is_curved(b):
        return False
    return not (round and (a.type == CAPSULE or a.type == BOX) and (b.type == CAPSULE or b.type == BOX))


cdef inline double motion2(Vec3 shift, double turn2, double reach) noexcept nogil:
    """At least the square of how far a point of a solid has moved: |shift| + angle times its reach."""
    return 2.0 * (dot(shift, shift) + turn2 * reach * reach)


cdef inline double coming_motion2(const Solid* a, Twist twist_a, Vec3 centre_a, const Solid* b, Twist twist_b,
                                  Vec3 centre_b, double ahead) noexcept nogil:
    """The motion of the two against each other, where the smaller one is, in the time ahead, at the present velocities."""
    cdef Vec3 at = b.position if b.reach <= a.reach else a.position
    cdef Vec3 v = sub(add(twist_b.v, cross(twist_b.w, sub(at, centre_b))),
                      add(twist_a.v, cross(twist_a.w, sub(at, centre_a))))
    cdef Vec3 w = sub(twist_b.w, twist_a.w)
    return ahead * ahead * motion2(v, dot(w, w), min(a.reach, b.reach))


cdef inline int owner_of(const Manifold* m) noexcept nogil:
    """What has the normal, as who made the manifold noted or as it turns."""
    if m.turns == EDGES:                         # also of two faces of which edges face each other
        return BOTH_EDGES
    if m.origin.owner != TANGENT_PLANE:
        return m.origin.owner
    if m.turns == FACE_A or m.turns == RING_B:
        return FACE_OF_A
    if m.turns == FACE_B or m.turns == RING_A:
        return FACE_OF_B
    return TANGENT_PLANE


cdef inline void remember(Manifold* m, const Solid* a, Quat turn_a, const Solid* b, Quat turn_b, double limit,
                          double coming2) noexcept nogil:
    """Note what the manifold was made from, if it may serve again. coming2: motion that is expected by the next call."""
    cdef ManifoldOrigin* o = &m.origin
    cdef double length = min(PART_OF_DISTANCE * m.near, PART_OF_SIZE * m.size)
    cdef int owner = owner_of(m)
    cdef Vec3 p
    cdef int k
    m.allowance = 0.0
    if owner == BOTH_EDGES or owner == TANGENT_PLANE:
        length *= PART_OF_NO_FACE
    if owner == BOTH_EDGES:
        length *= min(1.0, PER_SINE * norm(cross(m.line, m.line_b)))
    if coming2 > length * length:
        return
    m.allowance = length * length
    o.owner = owner
    o.reserved = 0
    o.limit = limit + 0.1 * m.near
    o.turn = quat_mul(quat_conj(turn_a), turn_b)
    o.offset = mat_t_vec(a.axes, sub(b.position, a.position))
    o.line_a = mat_t_vec(a.axes, m.line if owner == BOTH_EDGES else m.normal)
    o.line_b = mat_t_vec(b.axes, m.line_b if owner == BOTH_EDGES else m.normal)
    o.line = mat_t_vec(b.axes, m.line) if m.turns == BETWEEN_A or m.turns == BETWEEN_B else vec3(0.0, 0.0, 0.0)
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


cdef inline void carry_normal(Manifold* m, const ManifoldOrigin* o, const Solid* a, const Solid* b) noexcept nogil:
    """The normal at the present poses."""
    cdef Vec3 u, w
    if o.owner == FACE_OF_A:
        m.normal = mat_vec(a.axes, o.line_a)
    elif o.owner == FACE_OF_B:
        m.normal = mat_vec(b.axes, o.line_b)
    else:
        u = mat_vec(a.axes, o.line_a)
        w = mat_vec(b.axes, o.line_b)
        if o.owner == BOTH_EDGES:
            m.normal = normalized(cross(u, w))   # line_b has the sense that makes it so
            cross_edges(m, u, w)
        else:
            m.normal = normalized(add(u, w))


cdef inline Vec3 normal_then(const ManifoldOrigin* o, Vec3 n, const Mat3* r) noexcept nogil:
    """The normal at the poses from which it was made, in a's axes. n: now, r: what b has turned since, likewise."""
    if o.owner == FACE_OF_B:
        return mat_t_vec(r[0], n)
    if o.owner == BOTH_EDGES:
        return normalized(cross(o.line_a, mat_vec(quat_matrix(o.turn), o.line_b)))
    return o.line_a


cdef inline int reuse(Manifold* m, const Manifold* old, const Solid* a, Quat turn_a, const Solid* b, Quat turn_b,
                      double limit) noexcept nogil:
    """Carry the points of the last manifold to the present poses. -> point count, 0: they do not serve."""
    cdef const ManifoldOrigin* o = &old.origin
    cdef Vec3 offset = mat_t_vec(a.axes, sub(b.position, a.position))
    cdef Quat turn = quat_mul(quat_conj(turn_a), turn_b)
    cdef Quat q = quat_mul(turn, quat_conj(o.turn))
    cdef Mat3 r = quat_matrix(q)
    cdef Vec3 shift = sub(offset, mat_vec(r, o.offset))
    cdef bint a_is_smaller = a.reach < b.reach
    cdef double radius = old.rounding_a + old.rounding_b
    cdef Vec3 n, n0, lean, middle, p
    cdef double x, y, z, along, slid, fallen
    cdef double dx[4]
    cdef double dy[4]
    cdef double dz[4]
    cdef double moved[4]
    cdef double slides[4]
    cdef int k
    # |vector part| is the sine of half the angle; a turn near 180 degrees has none near 0.
    if limit > o.limit or not motion2(shift if a_is_smaller else sub(offset, o.offset),
                                      5.0 * (q.x * q.x + q.y * q.y + q.z * q.z),
                                      a.reach if a_is_smaller else b.reach) <= old.allowance:
        return 0
    m.turns = old.turns
    if m.turns == RING_A or m.turns == RING_B:   # whether a rim is still over the face is asked anew
        m.turns = FACE_B if m.turns == RING_A else FACE_A
    elif m.turns == BETWEEN_A or m.turns == BETWEEN_B:
        m.line = mat_vec(b.axes, o.line)
    carry_normal(m, o, a, b)
    n = mat_t_vec(a.axes, m.normal)
    n0 = normal_then(o, n, &r)
    lean = sub(n, n0)
    fallen = -0.5 * dot(lean, lean)              # n . n0 - 1
    middle = add_scaled(shift, old.rounding_b, sub(mat_vec(r, n0), n0))
    lean = add_scaled(lean, fallen, n)           # what n leans by, along the surfaces
    slid = 0.0
    for k in range(4):
        x = o.spots[0][k]
        y = o.spots[1][k]
        z = o.spots[2][k]
        dx[k] = r.xx * x + r.xy * y + r.xz * z + middle.x - x
        dy[k] = r.yx * x + r.yy * y + r.yz * z + middle.y - y
        dz[k] = r.zx * x + r.zy * y + r.zz * z + middle.z - z
        moved[k] = n.x * dx[k] + n.y * dy[k] + n.z * dz[k]
        dx[k] -= moved[k] * n.x + radius * lean.x
        dy[k] -= moved[k] * n.y + radius * lean.y
        dz[k] -= moved[k] * n.z + radius * lean.z
        slides[k] = dx[k] * dx[k] + dy[k] * dy[k] + dz[k] * dz[k]
        moved[k] += radius * fallen
    for k in range(old.point_count):
        slid = slides[k] if slides[k] > slid else slid
    if slid > PART_SLIDING2 * old.allowance:
        return 0
    m.point_count = old.point_count
    m.rounding_a = old.rounding_a
    m.rounding_b = old.rounding_b
    lean = scale(old.rounding_a, sub(n, n0))
    for k in range(old.point_count):
        m.points[k].share = old.points[k].share
        m.points[k].feature = old.points[k].feature
        if not of_vertex(&old.points[k]):
            m.points[k].cross = old.points[k].cross
            if o.owner == BOTH_EDGES and old.points[k].feature == 0:
                p = perpendicular(m.normal)
                cross_lines(&m.points[k], p, cross(m.normal, p), m.line, m.line_b)
        if o.owner == BOTH_EDGES and old.points[k].feature == 0:
            p = mat_t_vec(a.axes, carried(&m.points[k], m.normal, mat_vec(a.axes, vec3(dx[k], dy[k], dz[k]))))
        else:
            p = scale(m.points[k].share, vec3(dx[k], dy[k], dz[k]))
        along = 0.5 * moved[k]
        p = vec3(o.spots[0][k] + lean.x + p.x + along * n.x, o.spots[1][k] + lean.y + p.y + along * n.y,
                 o.spots[2][k] + lean.z + p.z + along * n.z)
        m.points[k].position = add(a.position, mat_vec(a.axes, p))
        m.points[k].separation = o.gaps[k] + moved[k]
    m.allowance = old.allowance
    m.origin = o[0]
    return m.point_count
