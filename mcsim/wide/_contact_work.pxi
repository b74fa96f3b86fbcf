# The work of contacts (_contact_work.pyx). Sums are taken a lane at a time: they are the same whatever the width is.
# Included by _contacts.pxi.

# A manifold's velocities that its points' J v are made of: of its normal, and of turning about the two tangents.
ctypedef struct Rates:
    Wide centre
    Wide tilt_0
    Wide tilt_1


cdef inline Rates rates_of(const ContactBlock* block, const WidePair* p) noexcept nogil:
    cdef Wide3 turning = w_sub(p.wb, p.wa)
    cdef Rates y
    y.centre = w_dot(block.normal, w_sub(p.vb, p.va)) + w_dot(w_cross(block.arm_b, block.normal), p.wb) - (
        w_dot(w_cross(block.arm_a, block.normal), p.wa))
    y.tilt_0 = w_dot(block.tangent, turning)
    y.tilt_1 = w_dot(w_cross(block.normal, block.tangent), turning)
    return y


cdef inline void note_pushes(const ContactBlock* block, const ContactStart* start, int32_t* pushing, int32_t number,
                             int32_t* last) noexcept nogil:
    """The groups of lanes that springs push apart by more than may be left undone."""
    cdef Wide zero = splat(0.0)
    cdef Wide fastest = zero
    cdef const WidePoint* point
    cdef int i, lane
    for i in range(block.point_count):
        point = &block.points[i]
        fastest = most(fastest, choose(above(point.mass, zero), -point.bias - point.compliance * point.impulse, zero))
    fastest = fastest * block.undone
    if not any_lane(above(fastest, splat(SLIGHT))):
        return
    for lane in range(WIDTH):
        if lane_of(&fastest, lane) > SLIGHT and start.group[lane] >= 0:
            set_whole_int(&pushing[start.group[lane]], number)
            set_whole_int(last, number)


cdef inline bint is_pushed(const ContactBlock* block, const ContactStart* start, const int32_t* pushing,
                           int32_t number) noexcept nogil:
    cdef int lane
    for lane in range(WIDTH):
        if block.manifold[lane] >= 0 and pushing[start.group[lane]] == number:
            return True
    return False


cdef void weigh_pushes(ContactBlock* blocks, ContactStart* starts, Py_ssize_t count, const Twist* twist,
                       const Twist* started, const Twist* kicked, WorkSums* sums, const int32_t* pushing,
                       int32_t number) noexcept nogil:
    cdef ContactBlock* block
    cdef WorkSums* s
    cdef WidePair p
    cdef Rates before, begun, after
    cdef Wide d[3]
    cdef Wide e[3]
    cdef Wide change, along, bend, given
    cdef Py_ssize_t k
    cdef int i, lane
    for k in range(count):
        for lane in range(WIDTH):
            if blocks[k].manifold[lane] >= 0:
                s = &sums[starts[k].group[lane]]
                s.along = s.bend = s.given = 0.0
    for k in range(count):
        block = &blocks[k]
        if not is_pushed(block, &starts[k], pushing, number):
            continue
        p = load_pair(&block.ends, kicked)
        before = rates_of(block, &p)
        p = load_pair(&block.ends, started)
        begun = rates_of(block, &p)
        p = load_pair(&block.ends, twist)
        after = rates_of(block, &p)
        d[0] = d[1] = d[2] = e[0] = e[1] = e[2] = splat(0.0)
        for i in range(block.point_count):
            change = block.points[i].impulse - starts[k].points[i].carry
            d[0] = d[0] + change
            d[1] = d[1] + change * block.points[i].turn[0]
            d[2] = d[2] + change * block.points[i].turn[1]
            e[0] = e[0] + starts[k].points[i].carry
            e[1] = e[1] + starts[k].points[i].carry * block.points[i].turn[0]
            e[2] = e[2] + starts[k].points[i].carry * block.points[i].turn[1]
        along = d[0] * begun.centre + d[1] * begun.tilt_0 + d[2] * begun.tilt_1
        bend = (d[0] * (after.centre - begun.centre) + d[1] * (after.tilt_0 - begun.tilt_0)
                + d[2] * (after.tilt_1 - begun.tilt_1))
        given = (e[0] * (before.centre + begun.centre) + e[1] * (before.tilt_0 + begun.tilt_0)
                 + e[2] * (before.tilt_1 + begun.tilt_1))
        for lane in range(WIDTH):
            if block.manifold[lane] >= 0:
                s = &sums[starts[k].group[lane]]
                s.along += lane_of(&along, lane)
                s.bend += lane_of(&bend, lane)
                s.given += lane_of(&given, lane)
    for k in range(count):
        starts[k].goes_on = splat(1.0)
        for lane in range(WIDTH):
            if blocks[k].manifold[lane] >= 0 and pushing[starts[k].group[lane]] == number:
                put(&starts[k].goes_on, lane, part_without_work(&sums[starts[k].group[lane]]))


cdef inline void take_back_pushes(ContactBlock* block, ContactStart* start, Wide* normal) noexcept nogil:
    """What acts of the normal impulses at the new poses, (4,): second halves, less what may not go on of the first."""
    cdef Mask less = above(splat(1.0), start.goes_on)
    cdef Wide first, second
    cdef int i
    for i in range(block.point_count):
        first = choose(less, start.points[i].carry + start.goes_on * (block.points[i].impulse - start.points[i].carry),
                       block.points[i].impulse)
        second = w_second_half(first, start.points[i].carry)
        start.points[i].carry = first
        normal[i] = choose(less, first + second - block.points[i].impulse, second)
        block.points[i].impulse = first + second
