# The wide kernels of friction and limits of angles. Included once for every CPU level, after _joints.pxi; what they read
# and write is told in _joint_bounds.pxd, the equations in constraints/_ball.pxd, _hinge.pxd and _joints.pyx, biases in
# stabilize/_stabilize.pyx.

from libc.math cimport INFINITY, floor, isinf
from libc.stdint cimport int8_t

from mcsim.core._numbers cimport HUGE
from mcsim.core._types cimport Quat
from mcsim.state._joint cimport AXIS_FRICTION, AXIS_LOWER, AXIS_UPPER, MOTION_NONE, MOTOR_NONE, JointAxis, has_rotor
from mcsim.state._joint_types cimport HINGE
from mcsim.state._limit_margin cimport LIMIT_MARGIN_ANGLE, LOWER_BIT, SWING_BIT, UPPER_BIT
from mcsim.wide._joint_bounds cimport (BOUND_LOWER, BOUND_SLOTS, BOUND_SWING, BOUND_UPPER, BoundBlock, JointBoundKernels,
                                       BoundRule,
                                 BoundSlot)

# ---- arithmetic ------------------------------------------------------------------------------------------------------

cdef inline Wide w_arctan2(Wide y, Wide x) noexcept nogil:
    """As core/_trig.pxd has it."""
    cdef Wide one = splat(1.0)
    cdef Wide zero = splat(0.0)
    cdef Wide ax = size_of(x)
    cdef Wide ay = size_of(y)
    cdef Mask steep = above(ay, ax)
    cdef Wide long = choose(steep, ay, ax)
    cdef Wide t = choose(above(long, zero), choose(steep, ax, ay) / long, zero)
    cdef Wide z, angle
    cdef int k
    for k in range(3):
        t = t / (one + root(one + t * t))
    z = t * t
    angle = splat(8.0) * (t - t * z * (splat(1.0 / 3.0) - z * (splat(1.0 / 5.0) - z * (splat(1.0 / 7.0) - z * (
        splat(1.0 / 9.0) - z * (splat(1.0 / 11.0) - z * (splat(1.0 / 13.0) - z * splat(1.0 / 15.0))))))))
    angle = choose(steep, splat(1.5707963267948966) - angle, angle)
    angle = choose(above(zero, x), splat(3.141592653589793) - angle, angle)
    return choose(above(zero, y), -angle, angle)


cdef inline WideQuat w_quat_times(WideQuat a, WideQuat b) noexcept nogil:
    cdef WideQuat r
    r.w = a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z
    r.x = a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y
    r.y = a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x
    r.z = a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w
    return r


cdef inline WideMatrix columns_of(WideQuat q) noexcept nogil:
    """The columns of its rotation matrix: the rows of that of its conjugate."""
    q.x = -q.x
    q.y = -q.y
    q.z = -q.z
    return rotation_of(q)


cdef inline Wide3 spins_of(const Twist* twist, const int32_t* body) noexcept nogil:
    return gather3(<const double*>twist + 3, body, TWIST)


cdef inline void put_spins(Wide3 w, Twist* twist, const int32_t* body) noexcept nogil:
    scatter3(w, <double*>twist + 3, body, TWIST)

# ---- joints to lanes and back ----------------------------------------------------------------------------------------

cdef inline void put_quat(WideQuat* q, int lane, Quat value) noexcept nogil:
    put(&q.w, lane, value.w)
    put(&q.x, lane, value.x)
    put(&q.y, lane, value.y)
    put(&q.z, lane, value.z)


cdef void fill_joint_bounds(BoundBlock* blocks, Py_ssize_t k, const Joint* joints, const int32_t* chosen, int count,
                      bint hinge) noexcept nogil:
    cdef BoundBlock* block = &blocks[k]
    cdef const Joint* joint
    cdef int lane
    memset(block, 0, sizeof(BoundBlock))
    block.hinge = hinge
    for lane in range(8):
        block.joint[lane] = block.body_a[lane] = block.body_b[lane] = -1
    for lane in range(count):
        joint = &joints[chosen[lane]]
        block.joint[lane] = chosen[lane]
        block.body_a[lane] = joint.body_a
        block.body_b[lane] = joint.body_b
        put_quat(&block.basis_a, lane, joint.basis_a)
        put_quat(&block.basis_b, lane, joint.basis_b)
        put(&block.push, lane, joint.push[1])


cdef inline bint has_joint_bounds_alone(const Joint* joint) noexcept nogil:
    """No springs, motors, rotors, prescribed motions; no limits on a ball joint's first two coordinates."""
    cdef const JointAxis* axis
    cdef int i
    if joint.broken:
        return False
    for i in range(joint.axis_count):
        axis = &joint.axes[i]
        if axis.has_spring or axis.motor_mode != MOTOR_NONE or axis.motion_mode != MOTION_NONE or has_rotor(axis):
            return False
        if joint.type != HINGE and i < 2 and not (isinf(axis.lower) and isinf(axis.upper)):
            return False
    return True


cdef inline void load_joint_bound(BoundBlock* block, int lane, const Joint* joint, bint alone) noexcept nogil:
    """Friction, limits and impulses of a joint; none of them unless it is `alone` here."""
    cdef const JointAxis* twist = &joint.axes[0 if block.hinge else 2]
    cdef int i
    for i in range(1 if block.hinge else 3):
        put(&block.friction[i], lane, joint.axes[i].friction if alone else 0.0)
        put(&block.slots[i].impulse, lane, joint.axes[i].impulse[AXIS_FRICTION])
    put(&block.low, lane, twist.lower if alone else -INFINITY)
    put(&block.high, lane, twist.upper if alone else INFINITY)
    put(&block.swing, lane, joint.swing_limit if alone and not block.hinge else INFINITY)
    put(&block.position, lane, twist.position)
    put(&block.slots[BOUND_LOWER].impulse, lane, twist.impulse[AXIS_LOWER])
    put(&block.slots[BOUND_UPPER].impulse, lane, twist.impulse[AXIS_UPPER])
    put(&block.slots[BOUND_SWING].impulse, lane, joint.swing_impulse)


cdef Py_ssize_t load_joint_bounds(BoundBlock* blocks, Py_ssize_t count, const Joint* joints, const Bodies* bodies,
                            const BoundRule* rule, int8_t* taken) noexcept nogil:
    cdef BoundBlock* block
    cdef Py_ssize_t k, rows = 0
    cdef int lane, i, there
    for k in range(count):
        block = &blocks[k]
        block.struck = splat(0.0)
        for lane in range(WIDTH):
            if block.joint[lane] < 0:
                put(&block.low, lane, -INFINITY)
                put(&block.high, lane, INFINITY)
                put(&block.swing, lane, INFINITY)
                continue
            taken[block.joint[lane]] = has_joint_bounds_alone(&joints[block.joint[lane]])
            load_joint_bound(block, lane, &joints[block.joint[lane]], taken[block.joint[lane]])
            if rule.struck[block.joint[lane]]:
                put(&block.struck, lane, 1.0)
        write_joint_bounds(block, bodies, rule, True)
        for i in range(BOUND_SLOTS):
            there = lane_bits(above(block.slots[i].there, splat(0.0)))
            for lane in range(WIDTH):
                if there >> lane & 1:
                    taken[block.joint[lane]] = 2
                    rows += 1
    return rows


cdef void store_joint_bounds(const BoundBlock* blocks, Py_ssize_t count, Joint* joints) noexcept nogil:
    cdef const BoundBlock* block
    cdef Joint* joint
    cdef JointAxis* twist
    cdef Py_ssize_t k
    cdef int lane, i
    cdef double impulse
    for k in range(count):
        block = &blocks[k]
        for lane in range(WIDTH):
            if block.joint[lane] < 0:
                break
            joint = &joints[block.joint[lane]]
            twist = &joint.axes[0 if block.hinge else 2]
            if block.hinge:
                twist.position = lane_of(&block.position, lane)
            joint.active_limits = 0
            for i in range(BOUND_SLOTS):
                if not block.used >> i & 1 or lane_of(&block.slots[i].there, lane) == 0.0:
                    continue
                impulse = lane_of(&block.slots[i].impulse, lane)
                joint.wrench_impulse.w = add_scaled(joint.wrench_impulse.w, impulse,
                                                    lane3(&block.slots[i].direction, lane))
                if i < BOUND_LOWER:
                    joint.axes[i].impulse[AXIS_FRICTION] = impulse
                elif i == BOUND_LOWER:
                    twist.impulse[AXIS_LOWER] = impulse
                    joint.active_limits |= LOWER_BIT << (0 if block.hinge else 4)
                elif i == BOUND_UPPER:
                    twist.impulse[AXIS_UPPER] = impulse
                    joint.active_limits |= UPPER_BIT << (0 if block.hinge else 4)
                else:
                    joint.swing_impulse = impulse
                    joint.active_limits |= SWING_BIT

# ---- the rows at a pose ----------------------------------------------------------------------------------------------

cdef inline void write_slot(BoundBlock* block, int i, Wide3 direction, const Wide6* inertia_a,
                            const Wide6* inertia_b) noexcept nogil:
    cdef BoundSlot* slot = &block.slots[i]
    slot.direction = direction
    slot.spin_a = w_times(inertia_a, direction)
    slot.spin_b = w_times(inertia_b, direction)
    slot.diagonal = w_dot(direction, slot.spin_a) + w_dot(direction, slot.spin_b)
    slot.mass = slot.there * inverse(slot.diagonal)


cdef inline void rub_slot(BoundSlot* slot, Wide bound) noexcept nogil:
    slot.bias[0] = slot.bias[1] = splat(0.0)
    slot.upper = slot.there * bound
    slot.lower = -slot.upper


cdef inline void limit_slot(BoundSlot* slot, Wide error, Wide push, const BoundRule* rule) noexcept nogil:
    """Before the limit the angle may come up to it; beyond it is pushed back, and in the relax pass stays."""
    cdef Wide zero = splat(0.0)
    cdef Mask free = above(error, zero)
    cdef Wide rate = error / splat(rule.h)
    slot.bias[0] = choose(free, rate, most(splat(rule.error_rate) * error, -push))
    slot.bias[1] = choose(free, rate, zero)
    slot.lower = zero
    slot.upper = splat(INFINITY)


cdef inline void decide(BoundBlock* block, int i, Mask there) noexcept nogil:
    """Which lanes have slot i in this step."""
    cdef BoundSlot* slot = &block.slots[i]
    slot.there = choose(there, splat(1.0), splat(0.0))
    slot.impulse = choose(there, slot.impulse, splat(0.0))
    if any_lane(there):
        block.used |= 1 << i


cdef inline void count_turns_of(BoundBlock* block, Wide angle, Wide way) noexcept nogil:
    """Of angle + 2 pi k the one nearest to the last position and the way since."""
    cdef double turn = 6.283185307179586
    cdef double last, now
    cdef Wide expected = block.position + way
    cdef int lane
    for lane in range(WIDTH):
        now = lane_of(&angle, lane)
        last = lane_of(&expected, lane)
        put(&block.position, lane, now + turn * floor((last - now) / turn + 0.5))


cdef inline void decide_slots(BoundBlock* block, const Bodies* bodies, const BoundRule* rule, Wide3 direction,
                              Wide tilt) noexcept nogil:
    """Friction where there is any, limits that the angles may come to at twice their present rate; all where a blow
    may change that."""
    cdef Wide3 spin = w_sub(spins_of(bodies.twist, block.body_b), spins_of(bodies.twist, block.body_a))
    cdef Wide least = choose(above(block.struck, splat(0.0)), splat(HUGE), splat(LIMIT_MARGIN_ANGLE))
    cdef Wide margin = least + splat(2.0 * rule.dt) * size_of(w_dot(direction, spin))
    cdef int i
    block.used = 0
    for i in range(3):
        decide(block, i, above(block.friction[i], splat(0.0)))
    decide(block, BOUND_LOWER, above(margin, block.position - block.low))
    decide(block, BOUND_UPPER, above(margin, block.high - block.position))
    margin = least + splat(2.0 * rule.dt) * root(w_dot(spin, spin))
    decide(block, BOUND_SWING, above(margin, block.swing - tilt))


cdef inline void write_joint_bounds(BoundBlock* block, const Bodies* bodies, const BoundRule* rule,
                                    bint first) noexcept nogil:
    """first: for a new step, of which it is decided here which rows it has."""
    cdef WideQuat ja = w_quat_times(gather_quat(<const double*>bodies.orientation, block.body_a), block.basis_a)
    cdef WideQuat jb = w_quat_times(gather_quat(<const double*>bodies.orientation, block.body_b), block.basis_b)
    cdef WideMatrix a = columns_of(ja)
    cdef Wide3 zb = columns_of(jb).z
    cdef Wide6 inertia_a = gather_inertia(<const double*>bodies.inv_inertia_world, block.body_a)
    cdef Wide6 inertia_b = gather_inertia(<const double*>bodies.inv_inertia_world, block.body_b)
    cdef Wide cosine = w_dot(a.z, zb)
    cdef Wide one = splat(1.0)
    cdef Wide3 direction = w_scale(one / most(one + cosine, splat(0.02)), w_add(a.z, zb))
    cdef Wide3 across = w_cross(a.z, zb)
    cdef Wide sine = root(w_dot(across, across))
    cdef Wide tilt = splat(0.0)
    cdef Wide w, z, way
    if first or block.hinge or block.used >> BOUND_LOWER & 3:
        w = ja.w * jb.w + ja.x * jb.x + ja.y * jb.y + ja.z * jb.z      # of the relative orientation, made positive
        z = ja.w * jb.z - ja.x * jb.y + ja.y * jb.x - ja.z * jb.w
        z = splat(2.0) * w_arctan2(choose(above(splat(0.0), w), -z, z), size_of(w))
        if block.hinge:
            way = splat(0.0 if first else rule.h) * w_dot(direction, w_sub(spins_of(bodies.twist, block.body_b),
                                                                           spins_of(bodies.twist, block.body_a)))
            count_turns_of(block, z, way)
        else:
            block.position = z
    if (first and not block.hinge) or block.used >> BOUND_SWING & 1:
        tilt = w_arctan2(sine, cosine)
    if first:
        decide_slots(block, bodies, rule, direction, tilt)
    if block.used & 1:
        write_slot(block, 0, direction if block.hinge else a.x, &inertia_a, &inertia_b)
        rub_slot(&block.slots[0], splat(rule.h) * block.friction[0])
    if block.used & 2:
        write_slot(block, 1, a.y, &inertia_a, &inertia_b)
        rub_slot(&block.slots[1], splat(rule.h) * block.friction[1])
    if block.used & 4:
        write_slot(block, 2, a.z, &inertia_a, &inertia_b)
        rub_slot(&block.slots[2], splat(rule.h) * block.friction[2])
    if block.used >> BOUND_LOWER & 1:
        write_slot(block, BOUND_LOWER, direction, &inertia_a, &inertia_b)
        limit_slot(&block.slots[BOUND_LOWER], block.position - block.low, block.push, rule)
    if block.used >> BOUND_UPPER & 1:
        write_slot(block, BOUND_UPPER, wide3(-direction.x, -direction.y, -direction.z), &inertia_a, &inertia_b)
        limit_slot(&block.slots[BOUND_UPPER], block.high - block.position, block.push, rule)
    if block.used >> BOUND_SWING & 1:
        across = w_choose(above(sine, splat(1e-9)), w_scale(splat(-1.0) / sine, across),
                          wide3(-a.x.x, -a.x.y, -a.x.z))
        write_slot(block, BOUND_SWING, across, &inertia_a, &inertia_b)
        limit_slot(&block.slots[BOUND_SWING], block.swing - tilt, block.push, rule)


cdef void refresh_joint_bounds(BoundBlock* blocks, Py_ssize_t count, const Bodies* bodies,
                         const BoundRule* rule) noexcept nogil:
    cdef Py_ssize_t k
    for k in range(count):
        if blocks[k].used or blocks[k].hinge:
            write_joint_bounds(&blocks[k], bodies, rule, False)

# ---- impulses --------------------------------------------------------------------------------------------------------

cdef inline void push_slot(const BoundSlot* slot, Wide impulse, Wide3* wa, Wide3* wb) noexcept nogil:
    wa[0] = w_add_scaled(wa[0], -impulse, slot.spin_a)
    wb[0] = w_add_scaled(wb[0], impulse, slot.spin_b)


cdef void warm_joint_bounds(BoundBlock* blocks, Py_ssize_t count, Twist* twist, double part) noexcept nogil:
    cdef BoundBlock* block
    cdef BoundSlot* slot
    cdef Wide3 wa, wb
    cdef Py_ssize_t k
    cdef int i
    for k in range(count):
        block = &blocks[k]
        if not block.used:
            continue
        wa = spins_of(twist, block.body_a)
        wb = spins_of(twist, block.body_b)
        for i in range(BOUND_SLOTS):
            if not block.used >> i & 1:
                continue
            slot = &block.slots[i]
            slot.carry = splat(1.0 - part) * slot.impulse
            slot.impulse = splat(part) * slot.impulse
            if i < BOUND_LOWER:
                slot.lower = splat(part) * slot.lower
                slot.upper = splat(part) * slot.upper
            push_slot(slot, slot.impulse, &wa, &wb)
        put_spins(wa, twist, block.body_a)
        put_spins(wb, twist, block.body_b)


cdef void return_carried_joint_bounds(BoundBlock* blocks, Py_ssize_t count, Twist* twist) noexcept nogil:
    cdef BoundBlock* block
    cdef BoundSlot* slot
    cdef Wide3 wa, wb
    cdef Py_ssize_t k
    cdef int i
    for k in range(count):
        block = &blocks[k]
        if not block.used:
            continue
        wa = spins_of(twist, block.body_a)
        wb = spins_of(twist, block.body_b)
        for i in range(BOUND_SLOTS):
            if block.used >> i & 1:
                slot = &block.slots[i]
                slot.carry = w_second_half(slot.impulse, slot.carry)
                slot.impulse = slot.impulse + slot.carry
                push_slot(slot, slot.carry, &wa, &wb)
        put_spins(wa, twist, block.body_a)
        put_spins(wb, twist, block.body_b)


cdef void give_biases_of_joint_bounds(const BoundBlock* blocks, Py_ssize_t count, const Bodies* bodies, double* slope,
                                bint second) noexcept nogil:
    cdef const BoundSlot* slot
    cdef Wide sum
    cdef Py_ssize_t k
    cdef int i, lane, body
    for k in range(count):
        if not blocks[k].used:
            continue
        sum = splat(0.0)
        for i in range(BOUND_SLOTS):
            if blocks[k].used >> i & 1:
                slot = &blocks[k].slots[i]
                sum = sum + choose(above(slot.mass, splat(0.0)),
                                   least((slot.carry if second else slot.impulse) * slot.bias[second], splat(0.0)),
                                   splat(0.0))
        for lane in range(WIDTH):
            if blocks[k].joint[lane] < 0:
                break
            body = blocks[k].body_a[lane]
            if bodies.inv_mass[body] == 0.0:
                body = blocks[k].body_b[lane]
            if bodies.inv_mass[body] > 0.0:
                slope[body] += lane_of(&sum, lane)


cdef void keep_parts_of_joint_bounds(BoundBlock* blocks, Py_ssize_t count, const double* part, bint second) noexcept nogil:
    cdef BoundSlot* slot
    cdef Wide kept
    cdef Py_ssize_t k
    cdef int i
    for k in range(count):
        kept = least(gather(part, blocks[k].body_a, 1), gather(part, blocks[k].body_b, 1))
        for i in range(BOUND_SLOTS if any_lane(above(splat(1.0), kept)) else 0):
            slot = &blocks[k].slots[i]
            if second:
                slot.impulse = slot.impulse - (splat(1.0) - kept) * slot.carry
            else:
                slot.impulse = kept * slot.impulse


cdef inline Wide bounded(const BoundSlot* slot, Wide x) noexcept nogil:
    return least(most(x, slot.lower), slot.upper)


cdef inline void solve_slot(BoundSlot* slot, int relaxed, Wide3* wa, Wide3* wb, Wide* rate) noexcept nogil:
    """rate: the largest change of a velocity so far."""
    cdef Wide off = w_dot(slot.direction, w_sub(wb[0], wa[0])) + slot.bias[relaxed]
    cdef Wide old = slot.impulse
    slot.impulse = bounded(slot, old - slot.mass * off)
    off = slot.impulse - old
    rate[0] = most(rate[0], size_of(off) * slot.diagonal)
    push_slot(slot, off, wa, wb)


cdef double sweep_joint_bounds(BoundBlock* blocks, Py_ssize_t count, Twist* twist, int relaxed) noexcept nogil:
    cdef BoundBlock* block
    cdef Wide rate = splat(0.0)
    cdef Wide3 wa, wb
    cdef Py_ssize_t k
    cdef int i, used
    for k in range(count):
        block = &blocks[k]
        used = block.used
        if not used:
            continue
        wa = spins_of(twist, block.body_a)
        wb = spins_of(twist, block.body_b)
        for i in range(BOUND_SLOTS):
            if used >> i & 1:
                solve_slot(&block.slots[i], relaxed, &wa, &wb, &rate)
        put_spins(wa, twist, block.body_a)
        put_spins(wb, twist, block.body_b)
    return largest_lane(&rate)


cdef inline Wide gather_sizes(const double* sizes, const int32_t* body) noexcept nogil:
    """Of the world, which has none, that is infinite."""
    cdef Wide found = splat(INFINITY)
    cdef int lane
    for lane in range(WIDTH):
        if body[lane] >= 0:
            put(&found, lane, sizes[body[lane]])
    return found


cdef inline void note_spins(const int32_t* body, Wide part, int sweep, int32_t* changed) noexcept nogil:
    cdef int lane
    for lane in range(WIDTH):
        if body[lane] >= 0 and lane_of(&part, lane) > 1.0:
            changed[body[lane]] = sweep


cdef bint sweep_changing_joint_bounds(BoundBlock* blocks, Py_ssize_t count, Twist* twist, int sweep, const double* sizes,
                                double speed, double rate, int32_t* changed) noexcept nogil:
    cdef BoundBlock* block
    cdef BoundSlot* slot
    cdef Wide largest = splat(0.0)
    cdef Wide moved, size_a, size_b, enough, old
    cdef Wide3 wa, wb, before_a, before_b
    cdef Mask on
    cdef Py_ssize_t k
    cdef int i, lane
    cdef bint found = False
    for k in range(count):
        block = &blocks[k]
        moved = splat(0.0)
        for lane in range(WIDTH if block.used else 0):
            if changed[block.body_a[lane]] >= sweep - 1 or changed[block.body_b[lane]] >= sweep - 1:
                put(&moved, lane, 1.0)
        on = above(moved, splat(0.0))
        if not any_lane(on):
            continue
        found = True
        before_a = wa = spins_of(twist, block.body_a)
        before_b = wb = spins_of(twist, block.body_b)
        for i in range(BOUND_SLOTS):
            if block.used >> i & 1:
                slot = &block.slots[i]
                old = slot.impulse
                solve_slot(slot, 1, &wa, &wb, &largest)
                slot.impulse = choose(on, slot.impulse, old)
        wa = w_choose(on, wa, before_a)
        wb = w_choose(on, wb, before_b)
        put_spins(wa, twist, block.body_a)
        put_spins(wb, twist, block.body_b)
        size_a = gather_sizes(sizes, block.body_a)
        size_b = gather_sizes(sizes, block.body_b)
        enough = splat(1.0) / (splat(speed) + splat(rate) * least(size_a, size_b))
        before_a = w_sub(wa, before_a)
        before_b = w_sub(wb, before_b)
        note_spins(block.body_a, root(w_dot(before_a, before_a)) * size_a * enough, sweep, changed)
        note_spins(block.body_b, root(w_dot(before_b, before_b)) * size_b * enough, sweep, changed)
    return found


cdef double residual_joint_bounds(const BoundBlock* blocks, Py_ssize_t count, const Twist* twist,
                            int relaxed) noexcept nogil:
    cdef const BoundSlot* slot
    cdef Wide largest = splat(0.0)
    cdef Wide3 spin
    cdef Wide x
    cdef Py_ssize_t k
    cdef int i
    for k in range(count):
        spin = w_sub(spins_of(twist, blocks[k].body_b), spins_of(twist, blocks[k].body_a))
        for i in range(BOUND_SLOTS):
            if blocks[k].used >> i & 1:
                slot = &blocks[k].slots[i]
                x = slot.impulse - slot.mass * (w_dot(slot.direction, spin) + slot.bias[relaxed])
                largest = most(largest, size_of(bounded(slot, x) - slot.impulse))
    return largest_lane(&largest)


cdef JointBoundKernels JOINT_BOUND_KERNELS
JOINT_BOUND_KERNELS.width = WIDTH
JOINT_BOUND_KERNELS.block_size = sizeof(BoundBlock)
JOINT_BOUND_KERNELS.fill = fill_joint_bounds
JOINT_BOUND_KERNELS.load = load_joint_bounds
JOINT_BOUND_KERNELS.refresh = refresh_joint_bounds
JOINT_BOUND_KERNELS.warm_start = warm_joint_bounds
JOINT_BOUND_KERNELS.return_carried = return_carried_joint_bounds
JOINT_BOUND_KERNELS.give_biases = give_biases_of_joint_bounds
JOINT_BOUND_KERNELS.keep_parts = keep_parts_of_joint_bounds
JOINT_BOUND_KERNELS.sweep = sweep_joint_bounds
JOINT_BOUND_KERNELS.sweep_changing = sweep_changing_joint_bounds
JOINT_BOUND_KERNELS.residual = residual_joint_bounds
JOINT_BOUND_KERNELS.store = store_joint_bounds


def joint_bound_kernels():
    """The table of this level's kernels of friction and limits of angles, for _joint_bounds.pyx."""
    return PyCapsule_New(&JOINT_BOUND_KERNELS, "mcsim.wide.joint_bounds", NULL)
