# What sweeps give in vain where drives contradict each other (docs/theory/si.md). Sums are taken a lane at a time: they are
# the same whatever the width is. Included by _contacts.pxi.

cdef void note_impulses(ContactBlock* blocks, ContactStart* starts, Py_ssize_t count) noexcept nogil:
    cdef Py_ssize_t k
    cdef int i
    for k in range(count):
        for i in range(blocks[k].point_count):
            starts[k].points[i].carry = blocks[k].points[i].impulse


cdef void weigh_changes(const ContactBlock* blocks, const ContactStart* starts, Py_ssize_t count, double* along,
                        double* alone) noexcept nogil:
    cdef const ContactBlock* block
    cdef double impulse, change, d
    cdef Py_ssize_t k
    cdef int i, lane, body
    for k in range(count):
        block = &blocks[k]
        for lane in range(WIDTH):
            if block.manifold[lane] < 0:
                break
            body = block.ends.body_a[lane] if lane_of(&block.ends.inv_mass_a, lane) > 0.0 else block.ends.body_b[lane]
            for i in range(block.point_count):
                impulse, d = lane_of(&block.points[i].impulse, lane), lane_of(&block.points[i].diagonal, lane)
                change = impulse - lane_of(&starts[k].points[i].carry, lane)
                along[body] += d * impulse * change
                alone[body] += d * change * change


cdef void leave_changes(ContactBlock* blocks, ContactStart* starts, Py_ssize_t count, const double* times) noexcept nogil:
    cdef ContactBlock* block
    cdef Wide part
    cdef Py_ssize_t k
    cdef int i
    for k in range(count):
        block = &blocks[k]
        part = most(gather(times, block.ends.body_a, 1), gather(times, block.ends.body_b, 1))
        for i in range(block.point_count):
            starts[k].points[i].carry = choose(above(part, splat(0.0)), part * (
                block.points[i].impulse - starts[k].points[i].carry), splat(0.0))
