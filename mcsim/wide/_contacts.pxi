# The wide kernels of contacts. Included once for every CPU level; what they read and write is told in _blocks.pxd, the
# equations of the rows in constraints/_contacts.pyx and _contact_frame.pxd, of their biases in stabilize/_stabilize.pyx.
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

from mcsim.core._math cimport add_scaled, cross, dot, perpendicular, scale, sub, vec3
from mcsim.core._types cimport Twist, Vec3
from mcsim.core._whole cimport set_whole_int, whole_int
from mcsim.state._bodies cimport Bodies
from mcsim.state._inertia cimport answer_awake, never_moves
from mcsim.state._manifold cimport MANIFOLD_POINTS, Manifold, ManifoldPoint, Resistance
from mcsim.state._rows cimport RAISED, TAMED
from mcsim.wide._blocks cimport (ALIKE, SLIGHT, ContactBlock, ContactRule, ContactStart, Effort, ResistanceBlock, WideCone,
                                 WideKernels, WidePoint, WideRub, WideSpin)
from mcsim.wide._contact_frame cimport (AnchorPoint, ContactAnchors, ContactFrame, find_frame, put_anchors, set_anchors,
                                        spin_axis, there)
from mcsim.wide._contact_work cimport WorkSums, part_without_work
from mcsim.wide._limit_surface cimport Planar, limit_surface_step, set_cone, set_spin
from mcsim.wide._efforts cimport is_outweighed, lasting_load, may_steady
from mcsim.wide._ends cimport *
from mcsim.wide._lane_types cimport *
from mcsim.wide._groups cimport free_group, group_of
from mcsim.wide._halves cimport doubled, w_second_half
from mcsim.wide._lanes cimport *
from mcsim.wide._pairs cimport *

cdef enum:
    ROUNDS = 2               # over the points of a manifold, a sweep

include "_shared_lanes.pxi"
include "_contact_lanes.pxi"
include "_contact_refresh.pxi"
include "_contact_work.pxi"

# ---- once a substep --------------------------------------------------------------------------------------------------

cdef inline void return_block(ContactBlock* block, ContactStart* start, ResistanceBlock* resisting, bint pushed,
                              Twist* twist) noexcept nogil:
    """The second halves of the impulses act. `carry` holds first halves from now on, which are friction's warm starts."""
    cdef WidePair p = load_lanes(&block.ends, twist)
    cdef Wide normal[4]
    cdef int i
    if pushed:
        take_back_pushes(block, start, normal)
    for i in range(0 if pushed else block.point_count):
        normal[i] = w_second_half(block.points[i].impulse, start.points[i].carry)
        start.points[i].carry = block.points[i].impulse
        block.points[i].impulse = block.points[i].impulse + normal[i]
    push_all(&p, block, normal, start.slide_carry[0], start.slide_carry[1], start.twist_carry)
    if block.resists:
        push_roll(&p, block, resisting.roll_carry[0], resisting.roll_carry[1])
        for i in range(2):
            resisting.roll.impulse[i] = resisting.roll.impulse[i] + resisting.roll_carry[i]
    store_lanes(&p, &block.ends, twist)
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
            freeze(&blocks[k], twist, NULL)
            return_block(&blocks[k], &starts[k], &resisting[k], rule.pushed, twist)


cdef void warm_start(ContactBlock* blocks, ContactStart* starts, ResistanceBlock* resisting, Py_ssize_t count,
                     Twist* twist, double part, bint ended, int32_t* pushing, int32_t number,
                     int32_t* last) noexcept nogil:
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
        freeze(block, twist, NULL)
        p = load_lanes(&block.ends, twist)
        if ended:
            end_substep(block, start, &resisting[k], doubling)
        if block.firm:
            share_load(block, start)
        for i in range(block.point_count):
            start.points[i].carry = rest * block.points[i].impulse
            block.points[i].impulse = first * block.points[i].impulse
            normal[i] = block.points[i].impulse
        if number > 0:
            note_pushes(block, start, pushing, number, last)
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
        store_lanes(&p, &block.ends, twist)


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
    cdef WidePair p = load_lanes(&block.ends, twist)
    solve_pair(block, resisting, &p, relaxed, rub, rate)
    store_lanes(&p, &block.ends, twist)


cdef void solve_resisting(ContactBlock* block, ResistanceBlock* resisting, Twist* twist, int relaxed, bint rub,
                          Wide* rate) noexcept nogil:
    """The same, apart from the loop of the blocks that do not resist."""
    solve_block(block, resisting, twist, relaxed, rub, rate)


include "_more_sweeps.pxi"


cdef inline void measure_block(ContactBlock* block, ResistanceBlock* resisting, const Twist* twist, int relaxed,
                               Wide* largest) noexcept nogil:
    """By how much the rows would change their impulses, each with the others as they are."""
    cdef WidePair p = load_lanes(&block.ends, twist)
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
        freeze(&blocks[k], twist, NULL)
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
KERNELS.weigh_pushes = weigh_pushes
KERNELS.leave_changes = leave_changes
KERNELS.sweep = sweep
KERNELS.sweep_changing = sweep_changing
KERNELS.residual = residual


def kernels():
    """The table of this level's kernels, for _contacts.pyx."""
    return PyCapsule_New(&KERNELS, "mcsim.wide", NULL)
