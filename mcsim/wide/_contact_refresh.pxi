# Arms, errors, biases, masses and couplings of a block at the present poses, and what its impulses do to velocities.
# Included by _contacts.pxi.

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
