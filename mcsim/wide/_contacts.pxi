# The wide kernels of contacts. Included once for every CPU level; what they read and write is told in _blocks.pxd, the
# equations of the rows in constraints/_contacts.pyx, of their biases in stabilize/_stabilize.pyx.
#
# A manifold is solved as a whole: its points at once where all push, else one after the other (_faces.pxi), then friction
# under the loads that they end with (_friction.pxi), so that it never leaves its bound. The normal rows of a manifold
# span at most three: the normal at its centre and the tilts about the two tangents. With y the velocities along these
# three, K their J M^-1 J' and p = (1, turn) of a point, its row's J v is p . y, and what its impulse does to
# another's p_i' K p_j
# (`coupling`): so the bodies' velocities are touched once a manifold.

from libc.stdint cimport int32_t
from libc.math cimport ceil, sqrt
from libc.string cimport memset

from mcsim.core._math cimport add_scaled, cross, dot, perpendicular, scale, vec3
from mcsim.core._types cimport Twist, Vec3
from mcsim.state._contact_reference cimport BETWEEN_A, BETWEEN_B, EDGES, RING_A, RING_B, crosses, normal_goes_with
from mcsim.state._bodies cimport Bodies
from mcsim.state._manifold cimport MANIFOLD_POINTS, Manifold, ManifoldPoint, Resistance
from mcsim.state._rows cimport RAISED, TAMED
from mcsim.wide._blocks cimport (ALIKE, HALF_SLOPS, SLIGHT, ContactBlock, ContactRule, ContactStart, Effort,
                                 ResistanceBlock, StartPoint, WideCone, WideKernels, WidePoint, WideRub, WideSpin,
                                 WideTurning)
from mcsim.wide._efforts cimport is_outweighed, lasting_load, may_steady
from mcsim.wide._ends cimport *
from mcsim.wide._lane_types cimport *
from mcsim.wide._groups cimport group_of
from mcsim.wide._halves cimport doubled, w_second_half
from mcsim.wide._lanes cimport *
from mcsim.wide._pairs cimport *

cdef enum:
    ROUNDS = 2               # over the points of a manifold, a sweep

include "_turning.pxi"

# ---- manifolds to lanes and back ---------------------------------------------------------------------------------------

cdef inline void put_crossing(ContactBlock* block, ContactStart* start, int i, int lane,
                              const ManifoldPoint* p) noexcept nogil:
    """What beside its share moves a point where edges cross."""
    cdef int j, k
    if not crosses(p):
        return
    if not block.crosses:
        memset(&start.cross[0][0], 0, sizeof(start.cross))
    block.crosses = 1
    for k in range(3):
        put(&start.cross[i][k], lane, p.cross[k])


cdef inline void fill_lane(ContactBlock* block, ContactStart* start, int lane, const Manifold* m, int32_t number,
                           const Bodies* bodies, const double* neighbours, Effort effort) noexcept nogil:
    """What holds for the whole step, and the warm impulses. Positions and separations of the points
    stand where set_anchors looks for them."""
    cdef double mass_a = bodies.inv_mass[m.body_a]
    cdef double mass_b = bodies.inv_mass[m.body_b]
    cdef Vec3 t = perpendicular(m.normal)
    cdef Vec3 second = cross(m.normal, t)
    cdef StartPoint* point
    cdef int i
    block.manifold[lane] = number
    block.ends.body_a[lane] = m.body_a
    block.ends.body_b[lane] = m.body_b
    put3(&block.normal, lane, m.normal)
    put3(&block.tangent, lane, t)
    put_turning(block, start, lane, m, bodies)
    put(&start.ground, lane, 1.0 if mass_a == 0.0 or mass_b == 0.0 else 0.0)
    put(&start.steadies, lane, 1.0 if may_steady(bodies, m.body_a, m.body_b, neighbours) else 0.0)
    put(&start.outweighed, lane, 1.0 if is_outweighed(m.body_a, m.body_b, neighbours) else 0.0)
    block.rounds = max(block.rounds, <int>ceil(effort.rounds))
    put(&block.effort, lane, effort.rounds)
    put(&start.stiffer, lane, sqrt(effort.stiffness))
    put(&start.firmer, lane, effort.firmness)
    if effort.firmness > 1.0 and m.point_count == 4:
        block.firm = 1
    put(&start.size, lane, m.size)
    put(&start.faded, lane, 0.999 / m.near if m.near > 0.0 else 0.0)
    put(&start.rounding_a, lane, m.rounding_a)
    put(&start.rounding_b, lane, m.rounding_b)
    if m.friction > 0.0:
        block.rubs = 1
        put(&block.friction, lane, m.friction)
        put(&block.slide.impulse[0], lane, dot(m.friction_impulse, t))
        put(&block.slide.impulse[1], lane, dot(m.friction_impulse, second))
        if m.point_count > 1:
            block.twists = 1
            put(&start.twists, lane, 1.0)
            put(&block.twist, lane, m.twist_impulse)
    put(&start.points_there, lane, m.point_count)
    if m.thinning < 1.0:
        if not block.thins:
            start.thinning = splat(1.0)
        block.thins = 1
        put(&start.thinning, lane, m.thinning)
    for i in range(m.point_count):
        point = &start.points[i]
        put(&point.share, lane, m.points[i].share)
        put_crossing(block, start, i, lane, &m.points[i])
        put3(&point.local_a, lane, m.points[i].position)
        put(&point.error, lane, m.points[i].separation)
        put(&block.points[i].impulse, lane, m.points[i].normal_impulse)
        if m.friction > 0.0:
            put(&block.rub[i].impulse[0], lane, dot(m.points[i].friction_impulse, t))
            put(&block.rub[i].impulse[1], lane, dot(m.points[i].friction_impulse, second))


cdef void fill_resistance(ContactBlock* block, ContactStart* start, ResistanceBlock* resisting, int lane,
                          const Manifold* m, const Resistance* r) noexcept nogil:
    """What fill_lane is for a manifold with a resistance."""
    cdef Vec3 t = lane3(&block.tangent, lane)
    cdef Vec3 second = cross(m.normal, t)
    if r.rolling == 0.0 and r.torsional == 0.0 and dot(r.surface_velocity, r.surface_velocity) == 0.0:
        return
    block.resists = 1
    put(&resisting.surface[0], lane, dot(r.surface_velocity, t))
    put(&resisting.surface[1], lane, dot(r.surface_velocity, second))
    if r.rolling > 0.0:
        put(&resisting.rolling, lane, r.rolling)
        put(&resisting.roll.impulse[0], lane, dot(m.rolling_impulse, t))
        put(&resisting.roll.impulse[1], lane, dot(m.rolling_impulse, second))
    if r.torsional > 0.0:
        block.rubs = 1
        block.twists = 1
        put(&start.twists, lane, 1.0)
        put(&resisting.torsional, lane, r.torsional)
        put(&block.twist, lane, m.twist_impulse)


cdef inline Wide there(const ContactStart* start, int i) noexcept nogil:
    """1: the lane has point i."""
    return choose(above(start.points_there, splat(i)), splat(1.0), splat(0.0))


cdef inline void set_anchors(ContactBlock* block, ContactStart* start, const Bodies* bodies) noexcept nogil:
    """Where the points are on both bodies, and their weights in the centre: constraints/_contacts.pyx, set_anchors."""
    cdef Wide3 xa = gather3(<const double*>bodies.position, block.ends.body_a, 3)
    cdef Wide3 xb = gather3(<const double*>bodies.position, block.ends.body_b, 3)
    cdef WideMatrix ra = rotation(<const double*>bodies.orientation, block.ends.body_a)
    cdef WideMatrix rb = rotation(<const double*>bodies.orientation, block.ends.body_b)
    cdef Wide total = splat(0.0)
    cdef Wide half = splat(0.5)
    cdef Wide first = start.points[0].error
    cdef StartPoint* point
    cdef Wide3 at
    cdef int i
    for i in range(1, block.point_count):
        first = choose(above(start.points_there, splat(i)), least(first, start.points[i].error), first)
    first = most(first, splat(0.0))
    for i in range(block.point_count):
        point = &start.points[i]
        point.weight = splat(1.0) - start.faded * most(point.error - first, splat(0.0))
        point.weight = there(start, i) * most(point.weight, splat(0.001))
        total = total + point.weight
    total = inverse(total)
    for i in range(block.point_count):
        point = &start.points[i]
        at = point.local_a
        point.weight = point.weight * total
        point.local_a = turn_back(&ra, w_add_scaled(w_sub(at, xa), -(half * point.error + start.rounding_a),
                                                    block.normal))
        point.local_b = turn_back(&rb, w_add_scaled(w_sub(at, xb), half * point.error + start.rounding_b,
                                                    block.normal))
    if block.turns & 8:
        set_ring_anchors(block, start, &ra, &rb)
    if block.turns:
        start.turning.of_a = turn_back(&ra, start.turning.of_a)
        start.turning.of_b = turn_back(&rb, start.turning.of_b)


cdef void fill(ContactBlock* blocks, ContactStart* starts, ResistanceBlock* resisting, Py_ssize_t block,
               const Manifold* manifolds, const Resistance* resistances, const int32_t* chosen, int count,
               const Bodies* bodies, const double* neighbours, const Effort* efforts,
               const int32_t* groups, const int32_t* going) noexcept nogil:
    cdef int points = manifolds[chosen[0]].point_count
    cdef int unused = 0 if points > 2 else MANIFOLD_POINTS - points      # three are swept as four
    cdef int lane
    memset(&blocks[block], 0, sizeof(ContactBlock) - sizeof(blocks[block].rub) - unused * sizeof(WidePoint))
    memset(blocks[block].rub, 0, sizeof(blocks[block].rub) - unused * sizeof(WideRub))
    memset(&starts[block], 0, sizeof(ContactStart) - sizeof(starts[block].cross) - sizeof(starts[block].thinning)
           - sizeof(starts[block].turning) - unused * sizeof(StartPoint))
    blocks[block].point_count = points
    blocks[block].solves_faces = -1
    for lane in range(WIDTH):
        blocks[block].manifold[lane] = -1
    clear_ends(&blocks[block].ends)
    for lane in range(count):
        fill_lane(&blocks[block], &starts[block], lane, &manifolds[chosen[lane]], chosen[lane], bodies,
                  neighbours, efforts[chosen[lane]])
        blocks[block].group[lane] = group_of(&manifolds[chosen[lane]], groups, going, bodies)
        blocks[block].mixed |= blocks[block].group[lane] != blocks[block].group[0]
    if resistances != NULL:
        memset(&resisting[block], 0, sizeof(ResistanceBlock))
        for lane in range(count):
            fill_resistance(&blocks[block], &starts[block], &resisting[block], lane, &manifolds[chosen[lane]],
                            &resistances[chosen[lane]])
    find_standing(&blocks[block].ends, bodies)
    load_masses(&blocks[block].ends, bodies)
    set_anchors(&blocks[block], &starts[block], bodies)


cdef inline void keep_rubs(ContactBlock* block, ResistanceBlock* resisting, Wide kept) noexcept nogil:
    cdef int i, k
    if not block.rubs:
        return
    for i in range(block.point_count):
        for k in range(2):
            block.rub[i].impulse[k] = kept * block.rub[i].impulse[k]
    if block.resists:
        resisting.bore = kept * resisting.bore


cdef inline void end_substep(ContactBlock* block, ContactStart* start, ResistanceBlock* resisting,
                             Wide doubling) noexcept nogil:
    """The impulses into the step's totals; what stays of them is the warm start for the next substep: of what bears,
    what lasts (wide/_halves.pxd), and friction in the same proportion. A patch's points share a load in so many ways
    that the last substep's halves do not tell what lasts of each: all that they gave is their warm start. What bore
    nothing leaves nothing."""
    cdef Wide zero = splat(0.0)
    cdef Mask patched = above(doubling - splat(1.0), start.thinning if block.thins else splat(1.0))
    cdef Wide load = zero
    cdef Wide lasting = zero
    cdef Wide kept
    cdef int i
    for i in range(block.point_count):
        load = load + block.points[i].impulse
        start.points[i].total = start.points[i].total + block.points[i].impulse
        block.points[i].impulse = choose(patched, block.points[i].impulse,
                                         most(doubling * (block.points[i].impulse - start.points[i].carry), zero))
        lasting = lasting + block.points[i].impulse
    kept = choose(above(load, zero), least(lasting / load, splat(1.0)), zero)
    keep_rubs(block, resisting, kept)
    for i in range(2):
        start.slide_total[i] = start.slide_total[i] + block.slide.impulse[i]
        block.slide.impulse[i] = kept * block.slide.impulse[i]
        if block.resists:
            resisting.roll.impulse[i] = kept * resisting.roll.impulse[i]
    block.twist = kept * block.twist


cdef inline double mean_load(double last, const ContactBlock* block, int lane) noexcept nogil:
    cdef double impulse = 0.0
    cdef int i
    for i in range(block.point_count):
        impulse += lane_of(&block.points[i].impulse, lane)
    return lasting_load(last, impulse * (lane_of(&block.ends.inv_mass_a, lane) + lane_of(&block.ends.inv_mass_b, lane)))


cdef inline Vec3 in_plane(const Wide* impulse, int lane, Vec3 t, Vec3 second) noexcept nogil:
    """A lane's impulse about or along the two tangents; impulse: (2,)"""
    return add_scaled(scale(lane_of(&impulse[0], lane), t), lane_of(&impulse[1], lane), second)


# Friction is shared out to a manifold's points in proportion to their normal impulses. What a manifold has no friction or
# resistance for is zero, not the zero of either sign that its lane was swept to: that depends on which manifolds share the
# block, and so on the level.
cdef void store(ContactBlock* blocks, ContactStart* starts, ResistanceBlock* resisting, Py_ssize_t count,
                double doubling, Manifold* manifolds) noexcept nogil:
    cdef ContactBlock* block
    cdef ContactStart* start
    cdef ManifoldPoint* point
    cdef Manifold* m
    cdef Vec3 nothing = vec3(0.0, 0.0, 0.0)
    cdef Vec3 t, second, rubbed
    cdef double load, own
    cdef Py_ssize_t k
    cdef int i, lane
    for k in range(count):
        block = &blocks[k]
        start = &starts[k]
        end_substep(block, start, &resisting[k], splat(doubling))
        for lane in range(WIDTH):
            if block.manifold[lane] < 0:
                break
            m = &manifolds[block.manifold[lane]]
            t = lane3(&block.tangent, lane)
            second = cross(lane3(&block.normal, lane), t)
            m.friction_impulse = in_plane(block.slide.impulse, lane, t, second) if m.friction > 0.0 else nothing
            m.twist_impulse = lane_of(&block.twist, lane) if lane_of(&start.twists, lane) > 0.0 else 0.0
            m.load = mean_load(m.load, block, lane)
            if block.resists:
                m.rolling_impulse = nothing
                if lane_of(&resisting[k].rolling, lane) > 0.0:
                    m.rolling_impulse = in_plane(resisting[k].roll.impulse, lane, t, second)
            load = 0.0
            for i in range(m.point_count):
                load += lane_of(&start.points[i].total, lane)
            rubbed = in_plane(start.slide_total, lane, t, second)
            for i in range(m.point_count):
                point = &m.points[i]
                point.normal_impulse = lane_of(&block.points[i].impulse, lane)
                point.friction_impulse = in_plane(block.rub[i].impulse, lane, t, second) if m.friction > 0.0 else nothing
                own = lane_of(&start.points[i].total, lane)
                point.total_normal_impulse += own
                if load > 0.0:
                    point.total_friction_impulse = add_scaled(point.total_friction_impulse, own / load, rubbed)
                point.separation = lane_of(&start.points[i].error, lane)

# ---- once a substep --------------------------------------------------------------------------------------------------

cdef inline void push_all(WidePair* p, const ContactBlock* block, const Wide* normal, Wide slide_0, Wide slide_1,
                          Wide twist) noexcept nogil:
    """v += M^-1 J' of impulses of every row. normal: (4,)"""
    cdef Wide3 second = w_cross(block.normal, block.tangent)
    cdef Wide3 force = w_add_scaled(w_scale(slide_0, block.tangent), slide_1, second)
    cdef Wide3 torque = w_scale(twist, block.spin.axis)
    cdef Wide load = splat(0.0)
    cdef Wide tilt_0 = load
    cdef Wide tilt_1 = load
    cdef int i
    for i in range(block.point_count):
        load = load + normal[i]
        tilt_0 = tilt_0 + block.points[i].turn[0] * normal[i]
        tilt_1 = tilt_1 + block.points[i].turn[1] * normal[i]
    force = w_add_scaled(force, load, block.normal)
    torque = w_add_scaled(w_add_scaled(torque, tilt_0, block.tangent), tilt_1, second)
    push(p, &block.ends, force, w_add(w_cross(block.arm_a, force), torque), w_add(w_cross(block.arm_b, force), torque))


cdef inline void push_roll(WidePair* p, const ContactBlock* block, Wide roll_0, Wide roll_1) noexcept nogil:
    """v += M^-1 J' of angular impulses about the tangents."""
    cdef Wide3 torque = w_add_scaled(w_scale(roll_0, block.tangent), roll_1, w_cross(block.normal, block.tangent))
    p.wa = w_sub(p.wa, w_times(&block.ends.inv_inertia_a, torque))
    p.wb = w_add(p.wb, w_times(&block.ends.inv_inertia_b, torque))


# J M^-1 J' of a manifold's rows at its centre: of friction, [[d0, c, t0], [c, d1, t1], [t0, t1, twist]], and K, symmetric,
# of the normal and of turning about the two tangents.
ctypedef struct Products:
    Wide d0
    Wide d1
    Wide c
    Wide twist
    Wide t0
    Wide t1
    Wide k00
    Wide k01
    Wide k02
    Wide k11
    Wide k12
    Wide k22


cdef inline void add_side(Products* k, const ContactBlock* block, const Wide6* inv_inertia, Wide3 arm,
                          Wide3 second) noexcept nogil:
    """What one of the two bodies' turning adds."""
    cdef Wide3 row, spin
    if block.rubs:
        row = w_cross(arm, block.tangent)
        spin = w_times(inv_inertia, row)
        k.d0 = k.d0 + w_dot(row, spin)
        row = w_cross(arm, second)
        k.c = k.c + w_dot(row, spin)
        k.d1 = k.d1 + w_dot(row, w_times(inv_inertia, row))
    if block.twists:
        spin = w_times(inv_inertia, block.spin.axis)
        k.twist = k.twist + w_dot(block.spin.axis, spin)
        k.t0 = k.t0 + w_dot(w_cross(arm, block.tangent), spin)
        k.t1 = k.t1 + w_dot(w_cross(arm, second), spin)
    row = w_cross(arm, block.normal)
    spin = w_times(inv_inertia, row)
    k.k00 = k.k00 + w_dot(row, spin)
    k.k01 = k.k01 + w_dot(block.tangent, spin)
    k.k02 = k.k02 + w_dot(second, spin)
    spin = w_times(inv_inertia, block.tangent)
    k.k11 = k.k11 + w_dot(block.tangent, spin)
    k.k12 = k.k12 + w_dot(second, spin)
    k.k22 = k.k22 + w_dot(second, w_times(inv_inertia, second))


cdef inline Products multiply(const ContactBlock* block, Wide3 second) noexcept nogil:
    cdef Products k
    k.d0 = block.ends.inv_mass_a + block.ends.inv_mass_b
    k.d1 = k.d0
    k.k00 = k.d0
    k.c = splat(0.0)
    k.twist = k.c
    k.t0 = k.c
    k.t1 = k.c
    k.k01 = k.c
    k.k02 = k.c
    k.k11 = k.c
    k.k12 = k.c
    k.k22 = k.c
    if not block.ends.stands_a:
        add_side(&k, block, &block.ends.inv_inertia_a, block.arm_a, second)
    if not block.ends.stands_b:
        add_side(&k, block, &block.ends.inv_inertia_b, block.arm_b, second)
    return k


cdef inline void set_couplings(ContactBlock* block, int i, const Products* k) noexcept nogil:
    """J M^-1 J' of point i with itself and those before it."""
    cdef WidePoint* point = &block.points[i]
    cdef WidePoint* other
    cdef Wide normal = k.k00 + k.k01 * point.turn[0] + k.k02 * point.turn[1]             # K p
    cdef Wide tilt_0 = k.k01 + k.k11 * point.turn[0] + k.k12 * point.turn[1]
    cdef Wide tilt_1 = k.k02 + k.k12 * point.turn[0] + k.k22 * point.turn[1]
    cdef int j
    for j in range(i):
        other = &block.points[j]
        other.coupling[i - j - 1] = normal + other.turn[0] * tilt_0 + other.turn[1] * tilt_1
    point.diagonal = normal + point.turn[0] * tilt_0 + point.turn[1] * tilt_1


cdef inline Wide bias_of(Wide error, Wide rate, Wide slop, Wide fastest, const ContactRule* rule) noexcept nogil:
    """A gap: close it and no more, in both passes. An overlap: the rule's."""
    cdef Wide pushed = most(rate * least(error + slop, splat(0.0)), -fastest)
    return choose(above(error, splat(0.0)), error * splat(rule.inv_h), pushed)


cdef inline void find_points(ContactBlock* block, ContactStart* start, Wide3 second, const Wide3* apart,
                             Wide3* arm) noexcept nogil:
    """Gaps, the centre, and where the points' impulses act: constraints/_contacts.pyx, contact_frame. arm: from a's centre
    of mass to the centre of its rounding, and then to the point."""
    cdef Wide rounding = start.rounding_a + start.rounding_b
    cdef StartPoint* at
    cdef Wide x, y
    cdef int i
    block.arm_a = wide3(splat(0.0), splat(0.0), splat(0.0))
    for i in range(block.point_count):
        at = &start.points[i]
        at.error = w_dot(block.normal, apart[i]) - rounding
        arm[i] = w_add_scaled(arm[i], start.rounding_a - at.share * rounding, block.normal)
        arm[i] = w_add_scaled(arm[i], at.share, apart[i])
        if block.crosses:
            x = w_dot(block.tangent, apart[i])
            y = w_dot(second, apart[i])
            arm[i] = w_add_scaled(arm[i], start.cross[i][0] * x + start.cross[i][1] * y, block.tangent)
            arm[i] = w_add_scaled(arm[i], start.cross[i][2] * x - start.cross[i][0] * y, second)
        block.arm_a = w_add_scaled(block.arm_a, at.weight, arm[i])


include "_springs.pxi"
include "_faces.pxi"


cdef inline void refresh_block(ContactBlock* block, ContactStart* start, const Bodies* bodies, const ContactRule* rule,
                               bint ended) noexcept nogil:
    """ended: as of springs_of."""
    cdef const int32_t* a = block.ends.body_a
    cdef const int32_t* b = block.ends.body_b
    cdef Wide3 between = w_sub(gather3(<const double*>bodies.position, a, 3),
                               gather3(<const double*>bodies.position, b, 3))
    cdef WideMatrix ra = rotation(<const double*>bodies.orientation, a)
    cdef WideMatrix rb = rotation(<const double*>bodies.orientation, b)
    cdef Wide rate = splat(rule.rate)
    cdef Wide slop = splat(rule.slop) + splat(rule.slop_part) * start.size
    cdef Wide fastest = splat(rule.push_speed) + splat(rule.push_rate) * start.size
    cdef Wide3 arm[4]            # from a's centre of mass to where the points' impulses act
    cdef Wide3 apart[4]
    cdef Wide3 of_a, of_b, second, offset, lean
    cdef Wide spread, level, height, heights
    cdef Wide several = there(start, 1)        # one point is the centre, which rounding would set beside it
    cdef bint sprung = rule.omega[0] > 0.0
    cdef Springs springs
    cdef WidePoint* point
    cdef Products k
    cdef int i
    for i in range(block.point_count):
        arm[i] = turn(&ra, start.points[i].local_a)
        apart[i] = w_sub(w_sub(turn(&rb, start.points[i].local_b), arm[i]), between)
    if block.turns:
        of_a = turn(&ra, start.turning.of_a)
        of_b = turn(&rb, start.turning.of_b)
        turn_normal(block, start, apart, of_a, of_b)
        if block.turns & 8:
            place_rings(block, start, of_a, of_b, arm, apart)
    second = w_cross(block.normal, block.tangent)
    find_points(block, start, second, apart, arm)
    block.arm_b = w_add(block.arm_a, between)
    load_inertia(&block.ends, bodies)
    lean = wide3(splat(0.0), splat(0.0), splat(0.0))
    level = (start.size / splat(HALF_SLOPS)) * (start.size / splat(HALF_SLOPS))
    spread = heights = level
    for i in range(block.point_count):
        point = &block.points[i]
        offset = w_sub(arm[i], block.arm_a)
        point.turn[0] = w_dot(second, offset) * several
        point.turn[1] = -w_dot(block.tangent, offset) * several
        if block.twists:
            spread = spread + start.points[i].weight * w_dot(offset, offset)
            height = w_dot(block.normal, offset)
            heights = heights + start.points[i].weight * (height * height)
            lean = w_add_scaled(lean, start.points[i].weight * height * several, offset)
    block.spin.axis = w_sub(block.normal, w_scale(level * inverse(spread * heights), lean))
    k = multiply(block, second)
    for i in range(block.point_count):
        set_couplings(block, i, &k)
        block.points[i].mass = there(start, i) * inverse(block.points[i].diagonal)
    if block.solves_faces < 0:
        find_alike(block)
        start.firmer = choose(above(block.alike, splat(0.0)), splat(1.0), start.firmer)
    if sprung:
        springs = springs_of(block, start, rule, ended)
    for i in range(block.point_count):
        point = &block.points[i]
        point.soft_mass = point.mass
        point.compliance = splat(0.0)
        if sprung:
            press(point, &springs, start.points[i].error, splat(rule.h), &rate)
        point.bias = bias_of(start.points[i].error, rate, slop, fastest, rule)
    if block.point_count > 1:
        set_inverse(block, sprung)
    block.undone = inverse(splat(rule.settle_speed) + splat(rule.settle_rate) * start.size)
    block.settled = start.outweighed * block.undone
    block.undone = splat(SLIGHT) * block.undone
    if block.rubs:
        set_rub(block, start, &k)


cdef inline void return_block(ContactBlock* block, ContactStart* start, ResistanceBlock* resisting,
                              Twist* twist) noexcept nogil:
    """The second halves of the impulses act. `carry` holds first halves from now on, which are friction's warm starts."""
    cdef WidePair p = load_pair(&block.ends, twist)
    cdef Wide normal[4]
    cdef int i
    for i in range(block.point_count):
        normal[i] = w_second_half(block.points[i].impulse, start.points[i].carry)
        start.points[i].carry = block.points[i].impulse
        block.points[i].impulse = block.points[i].impulse + normal[i]
    push_all(&p, block, normal, start.slide_carry[0], start.slide_carry[1], start.twist_carry)
    if block.resists:
        push_roll(&p, block, resisting.roll_carry[0], resisting.roll_carry[1])
        for i in range(2):
            resisting.roll.impulse[i] = resisting.roll.impulse[i] + resisting.roll_carry[i]
    store_pair(&p, &block.ends, twist)
    for i in range(2):
        block.slide.impulse[i] = block.slide.impulse[i] + start.slide_carry[i]
    block.twist = block.twist + start.twist_carry


cdef void refresh(ContactBlock* blocks, ContactStart* starts, ResistanceBlock* resisting, Py_ssize_t count,
                  const Bodies* bodies, const ContactRule* rule, Twist* twist) noexcept nogil:
    cdef Py_ssize_t k
    for k in range(count):
        refresh_block(&blocks[k], &starts[k], bodies, rule, twist != NULL)
        if blocks[k].resists:
            refresh_roll(&blocks[k], &resisting[k])
        if twist != NULL:
            return_block(&blocks[k], &starts[k], &resisting[k], twist)


cdef void warm_start(ContactBlock* blocks, ContactStart* starts, ResistanceBlock* resisting, Py_ssize_t count,
                     Twist* twist, double part, bint ended) noexcept nogil:
    cdef ContactBlock* block
    cdef ContactStart* start
    cdef WidePair p
    cdef Wide first = splat(part)
    cdef Wide rest = splat(1.0 - part)
    cdef Wide doubling = splat(doubled(part))
    cdef Wide normal[4]
    cdef Py_ssize_t k
    cdef int i
    for k in range(count):
        block = &blocks[k]
        start = &starts[k]
        p = load_pair(&block.ends, twist)
        if ended:
            end_substep(block, start, &resisting[k], doubling)
        if block.firm:
            share_load(block, start)
        for i in range(block.point_count):
            start.points[i].carry = rest * block.points[i].impulse
            block.points[i].impulse = first * block.points[i].impulse
            normal[i] = block.points[i].impulse
        for i in range(2):
            start.slide_carry[i] = rest * block.slide.impulse[i]
            block.slide.impulse[i] = first * block.slide.impulse[i]
        start.twist_carry = rest * block.twist
        block.twist = first * block.twist
        push_all(&p, block, normal, block.slide.impulse[0], block.slide.impulse[1], block.twist)
        if block.resists:
            for i in range(2):
                resisting[k].roll_carry[i] = rest * resisting[k].roll.impulse[i]
                resisting[k].roll.impulse[i] = first * resisting[k].roll.impulse[i]
            push_roll(&p, block, resisting[k].roll.impulse[0], resisting[k].roll.impulse[1])
        store_pair(&p, &block.ends, twist)


cdef inline void keep_of(Wide* impulse, Wide* carry, Wide kept, bint second) noexcept nogil:
    if second:
        impulse[0] = carry[0] + kept * (impulse[0] - carry[0])
    else:
        impulse[0] = kept * impulse[0]
        carry[0] = kept * carry[0]


cdef void keep_parts(ContactBlock* blocks, ContactStart* starts, ResistanceBlock* resisting, Py_ssize_t count,
                     const double* part, bint second) noexcept nogil:
    cdef ContactBlock* block
    cdef ContactStart* start
    cdef Wide kept
    cdef Py_ssize_t k
    cdef int i
    for k in range(count):
        block = &blocks[k]
        start = &starts[k]
        kept = least(gather(part, block.ends.body_a, 1), gather(part, block.ends.body_b, 1))
        if not any_lane(above(splat(1.0), kept)):
            continue
        for i in range(block.point_count):
            keep_of(&block.points[i].impulse, &start.points[i].carry, kept, second)
        for i in range(2):
            keep_of(&block.slide.impulse[i], &start.slide_carry[i], kept, second)
            if block.resists:
                keep_of(&resisting[k].roll.impulse[i], &resisting[k].roll_carry[i], kept, second)
        keep_of(&block.twist, &start.twist_carry, kept, second)
        keep_rubs(block, &resisting[k], splat(0.5) * (splat(1.0) + kept) if second else kept)

# ---- a sweep ---------------------------------------------------------------------------------------------------------

include "_friction.pxi"


cdef inline void solve_points(ContactBlock* block, WidePair* p, int count, int relaxed, Wide* rate) noexcept nogil:
    """The first `count` points: at once where all go on pushing, else ROUNDS times one after the other, for a tilt is
    what a single round hardly resolves (_faces.pxi)."""
    cdef WidePoint* point = block.points
    cdef Wide zero = splat(0.0)
    cdef Wide3 second = w_cross(block.normal, block.tangent)
    cdef Wide3 angular_a = w_cross(block.arm_a, block.normal)
    cdef Wide3 angular_b = w_cross(block.arm_b, block.normal)
    cdef Wide3 turning = w_sub(p.wb, p.wa)
    cdef Wide at_centre = w_dot(block.normal, w_sub(p.vb, p.va)) + w_dot(angular_b, p.wb) - w_dot(angular_a, p.wa)
    cdef Wide tilting_0 = w_dot(block.tangent, turning)
    cdef Wide tilting_1 = w_dot(second, turning)
    cdef Wide force = zero
    cdef Wide tilt_0 = zero
    cdef Wide tilt_1 = zero
    cdef Wide impulse, change
    cdef Wide u[4]               # J v + bias without what the point's own impulse adds
    cdef Wide x[4]
    cdef Wide pushed[4]          # where all of them push
    cdef Wide mass[4]            # that of the pass
    cdef Mask open               # the lanes where some would pull
    cdef int i, j, k
    for i in range(count):
        x[i] = point[i].impulse
        u[i] = (most(point[i].bias, zero) if relaxed else point[i].bias) + at_centre
        u[i] = u[i] + point[i].turn[0] * tilting_0 + point[i].turn[1] * tilting_1 - point[i].diagonal * x[i]
        mass[i] = point[i].mass if relaxed else point[i].soft_mass
    if count == 1:
        x[0] = most(-mass[0] * u[0], zero)
    else:
        open = above(zero, push_at_once(block, count, relaxed, mass, u, x, pushed))
        for k in range(ROUNDS if any_lane(open) else 0):
            for i in range(count):
                impulse = most(-mass[i] * u[i], zero)
                change = impulse - x[i]
                x[i] = impulse
                for j in range(count):
                    if j < i:
                        u[j] = u[j] + point[j].coupling[i - j - 1] * change
                    elif j > i:
                        u[j] = u[j] + point[i].coupling[j - i - 1] * change
        if block.solves_faces > 0 and any_lane(open):
            solve_face(block, count, mass, u, x)
        for i in range(count):
            x[i] = choose(open, x[i], pushed[i])
    for i in range(count):
        change = x[i] - point[i].impulse
        point[i].impulse = x[i]
        rate[0] = most(rate[0], size_of(change) * point[i].diagonal)
        force = force + change
        tilt_0 = tilt_0 + point[i].turn[0] * change
        tilt_1 = tilt_1 + point[i].turn[1] * change
    turning = w_add_scaled(w_scale(tilt_0, block.tangent), tilt_1, second)
    push(p, &block.ends, w_scale(force, block.normal), w_add_scaled(turning, force, angular_a),
         w_add_scaled(turning, force, angular_b))


cdef inline void solve_pair(ContactBlock* block, ResistanceBlock* resisting, WidePair* p, int relaxed, bint rub,
                            Wide* rate) noexcept nogil:
    """rub: friction too. resisting: the block's own, or NULL. rate: the largest change of a velocity so far."""
    cdef bint rolls = rub and resisting != NULL
    rub = rub and block.rubs != 0
    if block.point_count == 1:
        solve_points(block, p, 1, relaxed, rate)
        if rub and resisting == NULL:
            rub_point(block, p, rate)
        elif rub:
            rub_block(block, resisting, p, 1, True, rate)
    elif block.point_count == 2:
        solve_points(block, p, 2, relaxed, rate)
        if rub:
            rub_block(block, resisting, p, 2, True, rate)
    else:
        solve_points(block, p, 4, relaxed, rate)
        if rub:
            rub_block(block, resisting, p, 4, True, rate)
    if rolls:
        resist_rolling(block, resisting, p, True, rate)


cdef inline void solve_block(ContactBlock* block, ResistanceBlock* resisting, Twist* twist, int relaxed, bint rub,
                             Wide* rate) noexcept nogil:
    cdef WidePair p = load_pair(&block.ends, twist)
    solve_pair(block, resisting, &p, relaxed, rub, rate)
    store_pair(&p, &block.ends, twist)


cdef void solve_resisting(ContactBlock* block, ResistanceBlock* resisting, Twist* twist, int relaxed, bint rub,
                          Wide* rate) noexcept nogil:
    """The same, apart from the loop of the blocks that do not resist."""
    solve_block(block, resisting, twist, relaxed, rub, rate)


include "_more_sweeps.pxi"


cdef inline void measure_block(ContactBlock* block, ResistanceBlock* resisting, const Twist* twist, int relaxed,
                               Wide* largest) noexcept nogil:
    """By how much the rows would change their impulses, each with the others as they are."""
    cdef WidePair p = load_pair(&block.ends, twist)
    cdef const WidePoint* point
    cdef Wide3 arm_speed = w_sub(w_add(p.vb, w_cross(p.wb, block.arm_b)), w_add(p.va, w_cross(p.wa, block.arm_a)))
    cdef Wide3 turning = w_sub(p.wb, p.wa)
    cdef Wide3 second = w_cross(block.normal, block.tangent)
    cdef Wide zero = splat(0.0)
    cdef Wide u, found
    cdef int i
    if resisting != NULL:
        resist_rolling(block, resisting, &p, False, largest)
    if block.rubs:
        rub_block(block, resisting, &p, block.point_count, False, largest)
    for i in range(block.point_count):
        point = &block.points[i]
        u = w_dot(block.normal, arm_speed) + (most(point.bias, zero) if relaxed else point.bias)
        u = u + point.turn[0] * w_dot(block.tangent, turning) + point.turn[1] * w_dot(second, turning)
        found = (point.mass if relaxed else point.soft_mass) * (point.diagonal * point.impulse - u)
        largest[0] = most(largest[0], size_of(most(found, zero) - point.impulse))


include "_contact_sweeps.pxi"
include "_vain.pxi"


cdef double residual(ContactBlock* blocks, ResistanceBlock* resisting, Py_ssize_t count, Twist* twist,
                     int relaxed) noexcept nogil:
    cdef Wide largest = splat(0.0)
    cdef Py_ssize_t k
    for k in range(count):
        measure_block(&blocks[k], &resisting[k] if blocks[k].resists else NULL, twist, relaxed, &largest)
    return largest_lane(&largest)


cdef WideKernels KERNELS
KERNELS.width = WIDTH
KERNELS.block_size = sizeof(ContactBlock)
KERNELS.start_size = sizeof(ContactStart)
KERNELS.resistance_size = sizeof(ResistanceBlock)
KERNELS.fill = fill
KERNELS.store = store
KERNELS.refresh = refresh
KERNELS.warm_start = warm_start
KERNELS.keep_parts = keep_parts
KERNELS.note_impulses = note_impulses
KERNELS.weigh_changes = weigh_changes
KERNELS.leave_changes = leave_changes
KERNELS.sweep = sweep
KERNELS.sweep_changing = sweep_changing
KERNELS.residual = residual


def kernels():
    """The table of this level's kernels, for _contacts.pyx."""
    return PyCapsule_New(&KERNELS, "mcsim.wide", NULL)
