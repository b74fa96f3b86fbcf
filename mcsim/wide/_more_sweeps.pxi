# Contacts that are swept more often than the others: what bears much for its size, and what sweeps still change
# (docs/theory/si.md). Included by _contacts.pxi.

cdef enum:
    DAMPED = 16              # further sweeps: number k beyond it makes the part DAMPED / k of each change, for what swings to and fro


cdef inline void note_change(const ContactBlock* block, Wide rate, int sweep, uint8_t* changed) noexcept nogil:
    """Both bodies of a lane, as far as they move, have changed where that is more than may be left undone."""
    cdef Wide part = rate * block.settled
    cdef int lane
    if not any_lane(above(part, splat(1.0))):
        return
    for lane in range(WIDTH):
        if lane_of(&part, lane) > 1.0:
            if lane_of(&block.ends.inv_mass_a, lane) > 0.0:
                changed[block.ends.body_a[lane]] = <uint8_t>sweep
            if lane_of(&block.ends.inv_mass_b, lane) > 0.0:
                changed[block.ends.body_b[lane]] = <uint8_t>sweep


cdef inline Wide between(Wide old, Wide new, Wide part) noexcept nogil:
    return choose(above(part, splat(0.0)), old + part * (new - old), old)


cdef inline Wide3 w_between(Wide3 old, Wide3 new, Wide part) noexcept nogil:
    return w_choose(above(part, splat(0.0)), w_add_scaled(old, part, w_sub(new, old)), old)


cdef void solve_again(ContactBlock* block, ResistanceBlock* resisting, Twist* twist, int relaxed, bint rub, Wide part,
                      Wide* rate) noexcept nogil:
    """Once more, and this part of the change is made: 0 of lanes that have no part in it, at most 1."""
    cdef WidePair before = load_pair(&block.ends, twist)
    cdef WidePair after
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
    solve_block(block, resisting if block.resists and rub else NULL, twist, relaxed, rub, &largest)
    rate[0] = most(rate[0], choose(above(part, splat(0.0)), largest, splat(0.0)))
    for i in range(block.point_count):
        block.points[i].impulse = between(points[i].impulse, block.points[i].impulse, part)
        if block.rubs:
            for k in range(2):
                block.rub[i].impulse[k] = between(rubs[i].impulse[k], block.rub[i].impulse[k], part)
    for k in range(2):
        block.slide.impulse[k] = between(slide[k], block.slide.impulse[k], part)
    block.twist = between(twisting, block.twist, part)
    if block.resists:
        resisting.bore = between(bore, resisting.bore, part)
        for k in range(2):
            resisting.roll.impulse[k] = between(roll[k], resisting.roll.impulse[k], part)
    after = load_pair(&block.ends, twist)
    after.va = w_between(before.va, after.va, part)
    after.wa = w_between(before.wa, after.wa, part)
    after.vb = w_between(before.vb, after.vb, part)
    after.wb = w_between(before.wb, after.wb, part)
    store_pair(&after, &block.ends, twist)


cdef double sweep_changing(ContactBlock* blocks, ResistanceBlock* resisting, Py_ssize_t count, Twist* twist, int sweep,
                           uint8_t* changed) noexcept nogil:
    cdef ContactBlock* block
    cdef Wide moved, largest
    cdef Py_ssize_t k
    cdef double found = 0.0
    cdef double part = min(1.0, <double>DAMPED / sweep)
    cdef int lane
    cdef bint some
    for k in range(count):
        block = &blocks[k]
        some = False
        for lane in range(WIDTH):
            some = some or changed[block.ends.body_a[lane]] >= sweep - 1 or changed[block.ends.body_b[lane]] >= sweep - 1
        if not some:
            continue
        moved = splat(0.0)
        for lane in range(WIDTH):
            if changed[block.ends.body_a[lane]] >= sweep - 1 or changed[block.ends.body_b[lane]] >= sweep - 1:
                put(&moved, lane, part)
        moved = choose(above(block.settled, splat(0.0)), moved, splat(0.0))
        if any_lane(above(moved, splat(0.0))):
            largest = splat(0.0)
            solve_again(block, &resisting[k], twist, 1, True, moved, &largest)
            note_change(block, largest, sweep, changed)
            found = 1.0
    return found
