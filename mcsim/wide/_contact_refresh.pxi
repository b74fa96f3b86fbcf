# Biases, masses and couplings of a block at the present poses, and what its impulses do to velocities.
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


include "_springs.pxi"
include "_faces.pxi"


cdef inline void refresh_block(ContactBlock* block, ContactStart* start, const Bodies* bodies, const ContactRule* rule,
                               bint ended) noexcept nogil:
    """ended: as of springs_of."""
    cdef ContactAnchors* anchors = &start.anchors
    cdef Wide rate = splat(rule.rate)
    cdef Wide slop = splat(rule.slop) + splat(rule.slop_part) * anchors.size
    cdef Wide fastest = splat(rule.push_speed) + splat(rule.push_rate) * anchors.size
    cdef bint sprung = rule.omega[0] > 0.0
    cdef ContactFrame f
    cdef Springs springs
    cdef WidePoint* point
    cdef Products k
    cdef int i
    f.normal, f.tangent = block.normal, block.tangent
    find_frame(&f, anchors, block.point_count, block.ends.body_a, block.ends.body_b, bodies)
    block.normal, block.tangent = f.normal, f.tangent
    block.arm_a = f.centre
    block.arm_b = w_add(f.centre, f.between)
    load_inertia(&block.ends, bodies)
    for i in range(block.point_count):
        block.points[i].turn[0] = w_dot(f.second, f.offset[i])
        block.points[i].turn[1] = -w_dot(f.tangent, f.offset[i])
    block.spin.axis = spin_axis(&f, anchors, block.point_count) if block.twists else f.normal
    k = multiply(block, f.second)
    for i in range(block.point_count):
        set_couplings(block, i, &k)
        block.points[i].mass = there(anchors, i) * inverse(block.points[i].diagonal)
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
            press(point, &springs, anchors.points[i].error, splat(rule.h), &rate)
        point.bias = bias_of(anchors.points[i].error, rate, slop, fastest, rule)
    if block.point_count > 1:
        set_inverse(block, sprung)
    block.undone = inverse(splat(rule.settle_speed) + splat(rule.settle_rate) * anchors.size)
    block.settled = start.outweighed * block.undone
    block.undone = splat(SLIGHT) * block.undone
    if block.rubs:
        set_rub(block, start, &k)
