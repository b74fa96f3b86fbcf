"""Where the rows of contacts act: a manifold's anchors in its two bodies, of a step, and its frame at the present poses.

    C_i        = n . (c_b - c_a) - (r_a + r_b)                       c_a, c_b: the centres of the roundings behind point i
    arm_i      = c_a + r_a n + Q (c_b - c_a along the tangents) + share_i C_i n,     Q: collide/_carrying.pxd
    centre     = sum weight_i arm_i                                  of the manifold, where its friction acts
    spin axis  = n - lean                                            of friction about the normal (docs/theory/twist.md)

Of as many manifolds as the module has lanes: constraints/_contacts.pyx, whose rows are of one manifold, has one lane.
Normals turn with what they belong to (state/_contact_reference.pxd), and their tangents with them.
"""

from libc.stdint cimport int32_t
from libc.string cimport memset
from mcsim.core._types cimport Vec3
from mcsim.state._bodies cimport Bodies
from mcsim.state._contact_reference cimport BETWEEN_A, BETWEEN_B, EDGES, RING_A, RING_B, crosses, normal_goes_with
from mcsim.state._manifold cimport Manifold
from mcsim.wide._lane_types cimport Wide, Wide3, WideMatrix
from mcsim.wide._lanes cimport *

cdef enum:
    HALF_SLOPS = 4000            # of a pair's size: what is left of an overlap is two of them (docs/theory/twist.md)

# What the normals of a block's lanes go with, and the sums of it: ContactAnchors.turns.
cdef enum TurningLanes:
    TURNS = 1                    # some lane's normal goes with something
    TURNS_BETWEEN = 2            # some is between roundings
    TURNS_EDGES = 4              # at right angles to two edges
    TURNS_RING = 8               # some touches by a rim

ctypedef struct AnchorPoint:
    Wide3 local_a                # the rounding's centre behind the point on a's surface, from a's centre, a's axes [m]
    Wide3 local_b
    Wide weight                  # of the point in the manifold's centre
    Wide share                   # of b's motion in its own (collide/_carrying.pxd)
    Wide along                   # of its arm, along the normal, beside share (c_b - c_a) [m]
    Wide error                   # C [m]

# What the normals go with: state/_contact_reference.pxd, normal_goes_with.
ctypedef struct TurningNormal:
    Wide between                 # 1: it is between roundings
    Wide edges                   # 1: at right angles to two edges
    Wide ring                    # radius of a rim that touches [m], negative: of b, not of a
    Wide3 of_a                   # directions on the two, in their axes
    Wide3 of_b

ctypedef struct ContactAnchors:
    int32_t turns                # a sum of TurningLanes
    int32_t crosses              # 1: some lane has a point where edges cross
    Wide points_there            # how many points the lane has
    Wide size                    # Manifold.size [m]
    Wide faded                   # how fast a point's weight in the centre falls with its separation [1/m]
    Wide rounding_a              # of the two surfaces [m]
    Wide rounding_b
    AnchorPoint points[4]
    Wide cross[4][3]             # of the points (ManifoldPoint.cross); only where some lane's edges cross
    TurningNormal turning        # only where some lane's normal turns

# At the present poses, world axes. Arms from a's centre of mass [m].
ctypedef struct ContactFrame:
    Wide3 normal                 # from a to b
    Wide3 tangent                # the second one is normal x tangent
    Wide3 second
    Wide3 between                # from b's centre of mass to a's
    Wide3 arm[4]                 # to where the points' impulses act, on both bodies
    Wide3 offset[4]              # of the arms from the centre; 0 of a single point, which is the centre
    Wide3 centre


# ---- once a step -----------------------------------------------------------------------------------------------------

cdef inline void put_cross(ContactAnchors* at, int lane, const Manifold* m, int i) noexcept nogil:
    """What beside its share moves a point where edges cross."""
    cdef int k
    if not crosses(&m.points[i]):
        return
    if not at.crosses:
        memset(&at.cross[0][0], 0, sizeof(at.cross))
    at.crosses = 1
    for k in range(3):
        put(&at.cross[i][k], lane, m.points[i].cross[k])


cdef inline void put_turning(ContactAnchors* at, int lane, const Manifold* m, const Bodies* bodies) noexcept nogil:
    """What its normal goes with, world axes until set_anchors."""
    cdef Vec3 of_a, of_b
    if m.turns == 0 or not normal_goes_with(m, bodies, &of_a, &of_b):
        return
    if not at.turns:
        memset(&at.turning, 0, sizeof(at.turning))
    at.turns |= TURNS
    put3(&at.turning.of_a, lane, of_a)
    put3(&at.turning.of_b, lane, of_b)
    if m.turns == BETWEEN_A or m.turns == BETWEEN_B:
        at.turns |= TURNS_BETWEEN
        put(&at.turning.between, lane, 1.0)
    elif m.turns == EDGES:
        at.turns |= TURNS_EDGES
        put(&at.turning.edges, lane, 1.0)
    elif m.turns == RING_A or m.turns == RING_B:
        at.turns |= TURNS_RING
        put(&at.turning.ring, lane, m.rounding_a - m.line_b.x if m.turns == RING_A else m.line_b.x - m.rounding_b)


cdef inline void put_anchors(ContactAnchors* at, int lane, const Manifold* m, const Bodies* bodies) noexcept nogil:
    """A fresh manifold into a lane of cleared anchors, for set_anchors."""
    cdef AnchorPoint* point
    cdef int i
    put_turning(at, lane, m, bodies)
    put(&at.points_there, lane, m.point_count)
    put(&at.size, lane, m.size)
    put(&at.faded, lane, 0.999 / m.near if m.near > 0.0 else 0.0)
    put(&at.rounding_a, lane, m.rounding_a)
    put(&at.rounding_b, lane, m.rounding_b)
    for i in range(m.point_count):
        point = &at.points[i]
        put_cross(at, lane, m, i)
        put(&point.share, lane, m.points[i].share)
        put3(&point.local_a, lane, m.points[i].position)
        put(&point.error, lane, m.points[i].separation)


cdef inline Wide there(const ContactAnchors* at, int i) noexcept nogil:
    """1: the lane has point i."""
    return choose(above(at.points_there, splat(i)), splat(1.0), splat(0.0))


cdef inline void weigh_points(ContactAnchors* at, int count) noexcept nogil:
    """Weights of the points in the centre: 1 in touch, falling to 0 at the speculative edge, 1 in all; in flight, from the
    point that comes first."""
    cdef Wide total = splat(0.0)
    cdef Wide first = at.points[0].error
    cdef AnchorPoint* point
    cdef int i
    for i in range(1, count):
        first = choose(above(at.points_there, splat(i)), least(first, at.points[i].error), first)
    first = most(first, splat(0.0))
    for i in range(count):
        point = &at.points[i]
        point.weight = splat(1.0) - at.faded * most(point.error - first, splat(0.0))
        point.weight = there(at, i) * most(point.weight, splat(0.001))
        total = total + point.weight
    total = inverse(total)
    for i in range(count):
        at.points[i].weight = at.points[i].weight * total


cdef inline Wide3 behind_ring(const ContactAnchors* at, Wide3 normal, Wide3 axis) noexcept nogil:
    """From the middle of a rim's side to R behind its lowest point, along the normal: R (e - d) with e of
    collide/_carrying.pxd and d = n for a's, -n for b's."""
    cdef Mask on_a = above(at.turning.ring, splat(0.0))
    cdef Wide3 d = w_scale(choose(on_a, splat(1.0), splat(-1.0)), normal)
    cdef Wide3 e = w_add_scaled(d, -w_dot(d, axis), axis)
    cdef Wide length = root(w_dot(e, e))
    cdef Wide radius = choose(on_a, at.turning.ring, -at.turning.ring)
    e = w_scale(choose(above(length, splat(0.0)), inverse(length), splat(0.0)), e)
    return w_scale(radius, w_sub(e, d))


cdef inline void set_ring_anchors(ContactAnchors* at, int count, Wide3 normal, const WideMatrix* ra,
                                  const WideMatrix* rb) noexcept nogil:
    """Of lanes that touch by rims the middles of their sides instead."""
    cdef Mask on_a = above(at.turning.ring, splat(0.0))
    cdef Mask on_b = above(splat(0.0), at.turning.ring)
    cdef Wide3 behind = behind_ring(at, normal, w_choose(on_a, at.turning.of_a, at.turning.of_b))
    cdef Wide3* local
    cdef int i
    for i in range(min(count, 2)):
        local = &at.points[i].local_a
        local[0] = w_choose(on_a, w_sub(local[0], turn_back(ra, behind)), local[0])
        local = &at.points[i].local_b
        local[0] = w_choose(on_b, w_sub(local[0], turn_back(rb, behind)), local[0])


cdef inline void set_anchors(ContactAnchors* at, int count, Wide3 normal, const int32_t* a, const int32_t* b,
                             const Bodies* bodies) noexcept nogil:
    """Where the points are on both bodies, and their weights, from what put_anchors has written. count: the most points of
    a lane; a, b: the lanes' bodies."""
    cdef Wide3 xa = gather3(<const double*>bodies.position, a, 3)
    cdef Wide3 xb = gather3(<const double*>bodies.position, b, 3)
    cdef WideMatrix ra = rotation(<const double*>bodies.orientation, a)
    cdef WideMatrix rb = rotation(<const double*>bodies.orientation, b)
    cdef Wide half = splat(0.5)
    cdef AnchorPoint* point
    cdef Wide3 p
    cdef int i
    weigh_points(at, count)
    for i in range(count):
        point = &at.points[i]
        p = point.local_a
        point.local_a = turn_back(&ra, w_add_scaled(w_sub(p, xa), -(half * point.error + at.rounding_a), normal))
        point.local_b = turn_back(&rb, w_add_scaled(w_sub(p, xb), half * point.error + at.rounding_b, normal))
        point.along = at.rounding_a - point.share * (at.rounding_a + at.rounding_b)
    if at.turns & TURNS_RING:
        set_ring_anchors(at, count, normal, &ra, &rb)
    if at.turns:
        at.turning.of_a = turn_back(&ra, at.turning.of_a)
        at.turning.of_b = turn_back(&rb, at.turning.of_b)


# ---- at the present poses --------------------------------------------------------------------------------------------

cdef inline void turn_normal(ContactFrame* f, const ContactAnchors* at, int count, const Wide3* apart, Wide3 of_a,
                             Wide3 of_b) noexcept nogil:
    """Of the lanes whose normal turns (collide/_carrying.pxd): it, and the tangent by the shortest turn. of_a, of_b: what
    it goes with, now; apart: c_b - c_a."""
    cdef const TurningNormal* turning = &at.turning
    cdef Wide3 line = w_add(of_a, of_b)
    cdef Wide3 d = line
    cdef Wide3 mean = wide3(splat(0.0), splat(0.0), splat(0.0))
    cdef Wide3 t
    cdef Wide length
    cdef Mask turned
    cdef int i
    if at.turns & TURNS_BETWEEN:
        for i in range(count):
            mean = w_add_scaled(mean, at.points[i].weight, apart[i])
        d = w_choose(above(turning.between, splat(0.0)), w_add_scaled(mean, -w_dot(line, mean), line), d)
    if at.turns & TURNS_EDGES:
        d = w_choose(above(turning.edges, splat(0.0)), w_cross(of_a, of_b), d)
    if at.turns & TURNS_RING:
        d = w_choose(above(turning.ring, splat(0.0)), of_b, w_choose(above(splat(0.0), turning.ring), of_a, d))
    length = root(w_dot(d, d))
    turned = above(splat(2.0) * w_dot(f.normal, d), length)
    d = w_scale(inverse(length), d)
    t = w_add_scaled(f.tangent, -w_dot(d, f.tangent) * inverse(splat(1.0) + w_dot(f.normal, d)), w_add(f.normal, d))
    f.normal = w_choose(turned, d, f.normal)
    f.tangent = w_choose(turned, t, f.tangent)


cdef inline void place_rings(ContactFrame* f, const ContactAnchors* at, int count, Wide3 of_a, Wide3 of_b,
                             Wide3* apart) noexcept nogil:
    """The lowest points of rims. of_a, of_b: what the normals go with, now."""
    cdef Mask on_a = above(at.turning.ring, splat(0.0))
    cdef Mask on_b = above(splat(0.0), at.turning.ring)
    cdef Wide3 behind = behind_ring(at, f.normal, w_choose(on_a, of_a, of_b))
    cdef int i
    for i in range(min(count, 2)):
        f.arm[i] = w_choose(on_a, w_add(f.arm[i], behind), f.arm[i])
        apart[i] = w_choose(on_a, w_sub(apart[i], behind), w_choose(on_b, w_add(apart[i], behind), apart[i]))


cdef inline void place_points(ContactFrame* f, ContactAnchors* at, int count, const Wide3* apart) noexcept nogil:
    """Errors, the centre, and where the points' impulses act. f.arm: to the centres of a's roundings, and then to the
    points."""
    cdef Wide rounding = at.rounding_a + at.rounding_b
    cdef Wide several = there(at, 1)
    cdef AnchorPoint* point
    cdef Wide x, y
    cdef int i
    f.centre = wide3(splat(0.0), splat(0.0), splat(0.0))
    for i in range(count):
        point = &at.points[i]
        point.error = w_dot(f.normal, apart[i]) - rounding
        f.arm[i] = w_add_scaled(f.arm[i], point.along, f.normal)
        f.arm[i] = w_add_scaled(f.arm[i], point.share, apart[i])
        if at.crosses:
            x = w_dot(f.tangent, apart[i])
            y = w_dot(f.second, apart[i])
            f.arm[i] = w_add_scaled(f.arm[i], at.cross[i][0] * x + at.cross[i][1] * y, f.tangent)
            f.arm[i] = w_add_scaled(f.arm[i], at.cross[i][2] * x - at.cross[i][0] * y, f.second)
        f.centre = w_add_scaled(f.centre, point.weight, f.arm[i])
    for i in range(count):
        f.offset[i] = w_scale(several, w_sub(f.arm[i], f.centre))


cdef inline void find_frame(ContactFrame* f, ContactAnchors* at, int count, const int32_t* a, const int32_t* b,
                            const Bodies* bodies) noexcept nogil:
    """f.normal, f.tangent: those of the manifold, or of an earlier substep. The errors come into the anchors."""
    cdef WideMatrix ra = rotation(<const double*>bodies.orientation, a)
    cdef WideMatrix rb = rotation(<const double*>bodies.orientation, b)
    cdef Wide3 apart[4]          # c_b - c_a
    cdef Wide3 of_a, of_b
    cdef int i
    f.between = w_sub(gather3(<const double*>bodies.position, a, 3), gather3(<const double*>bodies.position, b, 3))
    for i in range(count):
        f.arm[i] = turn(&ra, at.points[i].local_a)
        apart[i] = w_sub(w_sub(turn(&rb, at.points[i].local_b), f.arm[i]), f.between)
    if at.turns:
        of_a = turn(&ra, at.turning.of_a)
        of_b = turn(&rb, at.turning.of_b)
        turn_normal(f, at, count, apart, of_a, of_b)
        if at.turns & TURNS_RING:
            place_rings(f, at, count, of_a, of_b, apart)
    f.second = w_cross(f.normal, f.tangent)
    place_points(f, at, count, apart)


cdef inline Wide3 spin_axis(const ContactFrame* f, const ContactAnchors* at, int count) noexcept nogil:
    """n - lean: how the points lean against the tangents, with r_i their offsets from the centre, z_i those along the
    normal, c_i their weights there and s = size / HALF_SLOPS (docs/theory/twist.md):

        lean = sum c_i z_i r_i / (sum c_i r_i^2 + s^2) . s^2 / (sum c_i z_i^2 + s^2),  0 of a single point"""
    cdef Wide level = (at.size / splat(HALF_SLOPS)) * (at.size / splat(HALF_SLOPS))
    cdef Wide spread = level
    cdef Wide heights = level
    cdef Wide3 lean = wide3(splat(0.0), splat(0.0), splat(0.0))
    cdef Wide height
    cdef int i
    for i in range(count):
        spread = spread + at.points[i].weight * w_dot(f.offset[i], f.offset[i])
        height = w_dot(f.normal, f.offset[i])
        heights = heights + at.points[i].weight * (height * height)
        lean = w_add_scaled(lean, at.points[i].weight * height, f.offset[i])
    return w_sub(f.normal, w_scale(level * inverse(spread * heights), lean))
