"""How the points of a contact, and its normal, move as its two bodies move past each other within a step.

A contact's point is where two features meet, and it goes with them: a vertex over a face goes with the vertex, the end of
a capsule over a face with the capsule, the crossing of two edges with both. With d_a, d_b the ways of the two bodies'
matter at the point, its own way along the tangents is

    d = d_a + Q (d_b - d_a),    Q = 1 (b carries it), 0 (a does), r_a / (r_a + r_b) between two balls,
                                Q = u m' where a's edge along u crosses b's along w:  m . u = 1,  m . w = 0

the last since the crossing stays on both lines: d - d_a along u, d - d_b along w. All are cases of Q = R_a (R_a + R_b)^-1
with R the radii of curvature: of a face infinite, of a vertex 0, of an edge 0 across it and infinite along it. (D. Montana,
"The kinematics of contact and grasp", 1988, section 4.) Whether a body is heavy, or moves at all, has no part in it.

The normal goes with the features too, and turns with their bodies (`turns`, `line`, `line_b`):

    n = a face's, whose body turns it;    n ~ u x w where edges cross;    n ~ c - (c . u) u between roundings

with c from the centre of a's rounding to that of b's and u the edge, or the axis of a capsule, that one of the two touches
with: 0 between two balls. J is then the rate of C, and no work is done by a normal that lags behind its body: a box that
rocks on a ball gains exp(2 pi^2 h / T) of its energy in a swing of the period T if n stays in the world for a step h.

The rim of a disc touches a face where it is lowest, whichever way the disc turns: with u its axis, O the middle of its
flat side and R its radius,

    p = O + R e,    e = d - (d . u) u made a unit vector, d towards the face

so the point depends on the axis alone, and that much of the disc is round (`RING_A`, `RING_B`; `line` is the axis). Of a
rim that is rounded O + R e is the middle of the ball that touches, and R and the ball's radius are round (`line_b`).
"""

from libc.math cimport fabs, sqrt
from libc.stdint cimport uint64_t
from mcsim.core._types cimport Vec3
from mcsim.core._math cimport (vec3, add_scaled, cross, dot, mat_column, neg, norm,
                               perpendicular, scale, sub)
from mcsim.state._contact_reference cimport BETWEEN_A, BETWEEN_B, EDGES, FACE_A, FACE_B, RING_A, RING_B
from mcsim.state._bodies cimport Bodies
from mcsim.state._manifold cimport Manifold, ManifoldPoint
from mcsim.state._shape_types cimport PLANE
from mcsim.collide._contact cimport MISS
from mcsim.collide._shape_table cimport edge_between, facing, rim_radius, rounding
from mcsim.collide._solid cimport Solid, is_surface
from mcsim.collide.shapes._parts cimport FACING_FACE, FACING_LINE, FACING_OTHER, FACING_POINT

cdef extern from *:
    """
    /* Sine of the angle within which a point of a rim is its lowest, as a search finds it. */
    #define MC_LOWEST 1e-3
    /* The same over a surface, of which triangles turned by twice the angle of a part (_parts.pxd) may share a normal. */
    #define MC_LOWEST_OF_PART 0.064
    /* Edges that cross at a smaller sine have a crossing that runs along them: it goes half-way. */
    #define MC_LEAST_CROSSING 0.1
    /* Triangles and tiles are in one plane whose normals and, as parts of the solid's size, levels differ by no more. */
    #define MC_IN_PLANE 1e-5
    """
    const double LOWEST "MC_LOWEST"
    const double LOWEST_OF_PART "MC_LOWEST_OF_PART"
    const double LEAST_CROSSING "MC_LEAST_CROSSING"
    const double IN_PLANE "MC_IN_PLANE"

cdef inline void cross_lines(ManifoldPoint* p, Vec3 t, Vec3 second, Vec3 u, Vec3 w) noexcept nogil:
    """The point goes with the crossing of a line along u on a and one along w on b. t, second: the tangents."""
    cdef double u0 = dot(t, u)
    cdef double u1 = dot(second, u)
    cdef double w0 = dot(t, w)
    cdef double w1 = dot(second, w)
    cdef double sine = u1 * w0 - u0 * w1
    if sine * sine <= LEAST_CROSSING * LEAST_CROSSING * (u0 * u0 + u1 * u1) * (w0 * w0 + w1 * w1):
        return
    # Q = u m' with m = (-w1, w0) / sine
    sine = 1.0 / sine
    p.cross[0] = -0.5 * (u0 * w1 + u1 * w0) * sine
    p.cross[1] = u0 * w0 * sine
    p.cross[2] = -u1 * w1 * sine


# What of the two solids faces the other.
ctypedef struct Pairing:
    int a
    int b
    Vec3 line_a
    Vec3 line_b


cdef inline void carry_witness(ManifoldPoint* p, const Manifold* m, const Pairing* x) noexcept nogil:
    """The one pair of closest points. A ball on an edge is the ball's: along the edge it is, and across it the normal
    turns."""
    cdef Vec3 t
    if x.a == FACING_FACE and x.b != FACING_FACE or x.a == FACING_LINE and x.b == FACING_POINT:
        p.share = 1.0
    elif x.b == FACING_FACE and x.a != FACING_FACE or x.b == FACING_LINE and x.a == FACING_POINT:
        p.share = 0.0
    elif x.a == FACING_POINT and x.b == FACING_POINT and m.rounding_a + m.rounding_b > 0.0:
        p.share = m.rounding_a / (m.rounding_a + m.rounding_b)
    elif x.a == FACING_LINE and x.b == FACING_LINE:
        t = perpendicular(m.normal)
        cross_lines(p, t, cross(m.normal, t), x.line_a, x.line_b)


cdef inline void cross_edges(Manifold* m, Vec3 u, Vec3 w) noexcept nogil:
    """The normal is at right angles to unit vectors u on a and w on b."""
    m.turns = EDGES
    m.line = u
    m.line_b = w if dot(cross(u, w), m.normal) > 0.0 else neg(w)


cdef inline void set_turning(Manifold* m, const Pairing* x) noexcept nogil:
    """What the normal goes with. Of two faces on each other it is that of the one which the points lie on."""
    cdef Vec3 along
    cdef double on_a = 0.0
    cdef int k
    if x.a == FACING_FACE or x.b == FACING_FACE:
        if x.a == x.b:
            for k in range(m.point_count):
                on_a += m.points[k].share
            if on_a == m.point_count:
                m.turns = FACE_A
            elif on_a == 0.0:
                m.turns = FACE_B
        else:
            m.turns = FACE_A if x.a == FACING_FACE else FACE_B
        return
    if x.a == FACING_OTHER or x.b == FACING_OTHER:
        return
    if x.a == FACING_LINE and x.b == FACING_LINE:
        along = cross(x.line_a, x.line_b)
        if dot(along, along) > LEAST_CROSSING * LEAST_CROSSING:
            cross_edges(m, x.line_a, x.line_b)
            return
    if m.rounding_a + m.rounding_b > 0.0:
        m.turns = BETWEEN_A if x.a == FACING_LINE else BETWEEN_B
        m.line = x.line_a if x.a == FACING_LINE else (x.line_b if x.b == FACING_LINE else vec3(0.0, 0.0, 0.0))


cdef inline void set_roundings(Manifold* m, const Solid* a, const Solid* b, Vec3 turn) noexcept nogil:
    """Of what the contact points go round with. turn: of b against a in the time ahead [rad]."""
    m.rounding_a = rounding(a, m.normal, neg(turn))
    m.rounding_b = rounding(b, neg(m.normal), turn)


cdef inline void set_carrying(Manifold* m, const Solid* a, const Solid* b, Vec3 turn) noexcept nogil:
    """How the points of a manifold whose normal, points and features are set, and its normal, go on. Of a surface and
    a solid a is the surface. turn: of b against a in the time ahead [rad]."""
    cdef bint flat = a.type == PLANE or b.type == PLANE
    cdef bint surface = is_surface(a.type)
    cdef bint alone = False
    cdef bint framed = False
    cdef ManifoldPoint* p
    cdef Pairing x
    cdef Vec3 t, second
    cdef uint64_t f
    cdef int k, made
    m.turns = 0
    set_roundings(m, a, b, turn)
    for k in range(m.point_count):
        p = &m.points[k]
        f = p.feature
        made = (f >> 56) & 3
        p.share = 0.5
        if made == 0 or made == 3:
            p.cross[0] = p.cross[1] = p.cross[2] = 0.0
        if flat:                                 # numbered as if the plane came first
            p.share = 1.0 if a.type == PLANE else 0.0
        elif made == 1:
            p.share = 0.0
        elif made == 2 or surface:               # the edges of its triangles are as a rule no edges of the surface
            p.share = 1.0
        elif made == 0:
            alone = True
        else:
            if not framed:
                framed = True
                t = perpendicular(m.normal)
                second = cross(m.normal, t)
            cross_lines(p, t, second, edge_between(a, (f >> 42) & 0x3fff, (f >> 28) & 0x3fff, p.position),
                        edge_between(b, (f >> 14) & 0x3fff, f & 0x3fff, p.position))
    if flat or surface:
        m.turns = FACE_A if a.type == PLANE or surface else FACE_B
        return
    x.a = facing(a, m.normal, &x.line_a)
    x.b = facing(b, neg(m.normal), &x.line_b)
    if alone:
        for k in range(m.point_count):
            if m.points[k].feature == 0:
                carry_witness(&m.points[k], m, &x)
    set_turning(m, &x)


cdef inline int other_side(int turns) noexcept nogil:
    """The Turns of a manifold whose bodies change places."""
    if turns == BETWEEN_A or turns == FACE_A or turns == RING_A:
        return turns + 1
    return turns - 1


cdef inline void turn_over(Manifold* m) noexcept nogil:
    """The same manifold with the two bodies in the other order."""
    cdef int k
    m.normal = neg(m.normal)
    if m.turns == EDGES:                         # n = u x w either way
        m.line, m.line_b = m.line_b, m.line
    elif m.turns:
        m.turns = other_side(m.turns)
    m.rounding_a, m.rounding_b = m.rounding_b, m.rounding_a
    for k in range(m.point_count):               # 1 - Q, and the first tangent is the other way round
        m.points[k].share = 1.0 - m.points[k].share
        m.points[k].cross[0] = -m.points[k].cross[0]


cdef inline bint lies_over(const Solid* s, Vec3 d) noexcept nogil:
    """Whether a face of it is turned towards the unit vector d; of a surface, the triangle that touches."""
    cdef Vec3 line
    return is_surface(s.type) or facing(s, d, &line) == FACING_FACE


cdef inline bint rolls_on(Vec3 along, double sine, double radius, Vec3 spin, double near, double ahead) noexcept nogil:
    """Whether what comes down of a rim of that radius is the rim that rolls on: unless the disc lies flat, its middle no
    higher than `near`, or comes flat within the time ahead. along: the rim's tangent where it is lowest; sine: of what its
    axis leans by; spin: of the solid against the other body."""
    return radius * sine > near and 2.0 * ahead * fabs(dot(along, spin)) < sine


cdef inline bint keep_lowest(Manifold* m, const Solid* s, const Solid* other, double radius, Vec3 spin, double near,
                             double ahead) noexcept nogil:
    """Whether a solid touches the other where its rims, of that radius, are lowest, there alone. Corners beside one of them
    that are near or come down, and roll on, go. Arguments as of rolls_on."""
    cdef Vec3 along = cross(m.normal, mat_column(s.axes, 2))
    cdef double sine = norm(along)
    cdef double lowest = radius * (LOWEST_OF_PART if is_surface(other.type) else LOWEST)
    # A corner that counts as the lowest point (take_lowest) is no more than MISS of the size above it.
    cdef double missed = sqrt(4.0 * MISS * s.reach * radius / sine)
    cdef double beside
    cdef int found = 0
    cdef int kept = 0
    cdef int k
    along = scale(1.0 / sine, along)
    lowest = max(lowest, missed)
    for k in range(m.point_count):
        found += fabs(dot(along, sub(m.points[k].position, s.position))) <= lowest
    if found == 0 or found > 2 or (found < m.point_count and not rolls_on(along, sine, radius, spin, near, ahead)):
        return False
    for k in range(m.point_count):
        beside = dot(along, sub(m.points[k].position, s.position))
        if fabs(beside) <= lowest:
            m.points[kept] = m.points[k]
            m.points[kept].position = add_scaled(m.points[k].position, -beside, along)
            kept += 1
    m.point_count = kept
    return True


cdef inline Vec3 spin_of(const Bodies* bodies, const Manifold* m, double ahead) noexcept nogil:
    """The angular velocity of b against a, where a time ahead is looked at."""
    return sub(bodies.twist[m.body_b].w, bodies.twist[m.body_a].w) if ahead > 0.0 else vec3(0.0, 0.0, 0.0)


cdef inline int rim_over(Manifold* m, const Solid* a, const Solid* b, Vec3 spin, double near, double ahead) noexcept nogil:
    """Whether rims are over a face, RING_A or RING_B, with their lowest points alone left; else 0. spin: of b against
    a; near, ahead: as of keep_lowest."""
    cdef double radius = rim_radius(a, m.normal)
    if radius > 0.0 and lies_over(b, neg(m.normal)) and keep_lowest(m, a, b, radius, spin, near, ahead):
        return RING_A
    radius = rim_radius(b, neg(m.normal))
    if radius > 0.0 and lies_over(a, m.normal) and keep_lowest(m, b, a, radius, spin, near, ahead):
        return RING_B
    return 0


cdef inline void set_ring(Manifold* m, const Solid* a, const Solid* b, Vec3 spin, double near, double ahead) noexcept nogil:
    """Of a manifold with all else set: rims over a face."""
    cdef int ring = rim_over(m, a, b, spin, near, ahead)
    if ring == RING_A:
        m.turns = RING_A
        m.line = mat_column(a.axes, 2)
        m.line_b = vec3(a.rounding, 0.0, 0.0)
        m.rounding_a = rim_radius(a, m.normal) + a.rounding
    elif ring == RING_B:
        m.turns = RING_B
        m.line = mat_column(b.axes, 2)
        m.line_b = vec3(b.rounding, 0.0, 0.0)
        m.rounding_b = rim_radius(b, neg(m.normal)) + b.rounding


cdef inline bint is_ring(const Manifold* m) noexcept nogil:
    """Whether it is of rims over a face."""
    return m.turns == RING_A or m.turns == RING_B


cdef inline bint is_beside_rim(const Manifold* m, Vec3 n, const Manifold* rim, Vec3 n_rim, const Solid* s, Vec3 spin,
                               double ahead) noexcept nogil:
    """Whether a manifold of a solid is of its rim that rolls on, beside where another one, `rim`, has its lowest point:
    over what lies in one plane, other triangles or tiles. n, n_rim: their normals towards the solid; the others as of
    rolls_on."""
    cdef double radius = rim_radius(s, neg(n))
    cdef Vec3 along = cross(n, mat_column(s.axes, 2))
    cdef Vec3 apart = sub(n, n_rim)
    cdef double sine = norm(along)
    cdef double level = dot(n_rim, rim.points[0].position) - 0.5 * rim.points[0].separation
    cdef int k
    if not radius > 0.0 or not dot(apart, apart) <= IN_PLANE * IN_PLANE or not rolls_on(
            scale(1.0 / sine, along), sine, radius, spin, m.near, ahead):
        return False
    for k in range(m.point_count):
        if fabs(dot(n_rim, m.points[k].position) - 0.5 * m.points[k].separation - level) > IN_PLANE * s.reach:
            return False
    return True
