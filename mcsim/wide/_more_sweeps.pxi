# Contacts that are swept more often than the others: what bears much for its size, and what its neighbours far outweigh
# (docs/theory/si.md). Included by _contacts.pxi.

cdef inline void note_change(const ContactBlock* block, Wide part, int sweep, int32_t* changed) noexcept nogil:
    """Both bodies of a lane, as far as they move, have changed where that is more than may be left undone: above 1."""
    cdef int lane
    if not any_lane(above(part, splat(1.0))):
        return
    for lane in range(WIDTH):
        if lane_of(&part, lane) > 1.0:
            if lane_of(&block.ends.inv_mass_a, lane) > 0.0:
                changed[block.ends.body_a[lane]] = sweep
            if lane_of(&block.ends.inv_mass_b, lane) > 0.0:
                changed[block.ends.body_b[lane]] = sweep


cdef void solve_again(ContactBlock* block, ResistanceBlock* resisting, Twist* twist, int relaxed, bint rub, Mask on,
                      Wide* rate) noexcept nogil:
    """Once more, of the lanes that are `on`: the others are put back."""
    cdef WidePair before = load_lanes(&block.ends, twist)
    cdef WidePair after = before
    cdef WidePoint points[4]
    cdef WideRub rubs[4]
    cdef Wide slide[2]
    cdef Wide roll[2]
    cdef Wide twisting = block.twist
    cdef Wide bore, largest
    cdef int i, k
    for i in range(block.point_count):
        points[i].impulse = block.points[i].impulse
        if block.rubs:
            rubs[i] = block.rub[i]
    for k in range(2):
        slide[k] = block.slide.impulse[k]
    if block.resists:
        bore = resisting.bore
        for k in range(2):
            roll[k] = resisting.roll.impulse[k]
    largest = splat(0.0)
    solve_pair(block, resisting if block.resists and rub else NULL, &after, relaxed, rub, &largest)
    rate[0] = most(rate[0], choose(on, largest, splat(0.0)))
    for i in range(block.point_count):
        block.points[i].impulse = choose(on, block.points[i].impulse, points[i].impulse)
        if block.rubs:
            for k in range(2):
                block.rub[i].impulse[k] = choose(on, block.rub[i].impulse[k], rubs[i].impulse[k])
    for k in range(2):
        block.slide.impulse[k] = choose(on, block.slide.impulse[k], slide[k])
    block.twist = choose(on, block.twist, twisting)
    if block.resists:
        resisting.bore = choose(on, resisting.bore, bore)
        for k in range(2):
            resisting.roll.impulse[k] = choose(on, resisting.roll.impulse[k], roll[k])
    after.va = w_choose(on, after.va, before.va)
    after.wa = w_choose(on, after.wa, before.wa)
    after.vb = w_choose(on, after.vb, before.vb)
    after.wb = w_choose(on, after.wb, before.wb)
    store_lanes(&after, &block.ends, twist)


cdef inline int32_t mark_of(const WideEnds* ends, const int32_t* body, int side, int lane,
                            const int32_t* changed) noexcept nogil:
    return ends.mark if ends.shares == side else changed[body[lane]]


cdef inline Mask has_changed(const ContactBlock* block, int sweep, const int32_t* changed) noexcept nogil:
    """Lanes one of whose bodies has, in that sweep or since."""
    cdef Wide found = splat(0.0)
    cdef int lane
    for lane in range(WIDTH):
        if (mark_of(&block.ends, block.ends.body_a, SHARES_A, lane, changed) >= sweep
                or mark_of(&block.ends, block.ends.body_b, SHARES_B, lane, changed) >= sweep):
            put(&found, lane, 1.0)
    return above(found, splat(0.0))


cdef double sweep_changing(ContactBlock* blocks, ResistanceBlock* resisting, Py_ssize_t count, Twist* twist, int sweep,
                           int32_t* changed) noexcept nogil:
    cdef ContactBlock* block
    cdef Wide largest
    cdef Mask on
    cdef Py_ssize_t k
    cdef double found = 0.0
    for k in range(count):
        block = &blocks[k]
        freeze(block, twist, changed)
        on = above(choose(has_changed(block, sweep - 1, changed), block.settled, splat(0.0)), splat(0.0))
        if any_lane(on):
            largest = splat(0.0)
            solve_again(block, &resisting[k], twist, 1, True, on, &largest)
            note_change(block, largest * block.settled, sweep, changed)
            found = 1.0
    return found
