# Sweeps over the contacts of a colour, and when they have done enough for a group of bodies (docs/theory/si.md). Included
# by _contacts.pxi.

cdef enum:
    NOT_DUE = 0
    PARTLY_DUE = 1
    ALL_DUE = 2


cdef inline int find_due(const ContactBlock* block, int sweep, const int32_t* going, Mask* on) noexcept nogil:
    """How many of the lanes are of groups in which the sweep before this one has changed something by
    more than may be left. on: which, where it is a part of them. Another thread may write `going` of a group meanwhile, but
    only of one that is due, and only so that it stays due."""
    cdef Wide found
    cdef int due = 0
    cdef int lane = 0
    if not block.mixed:
        return ALL_DUE if whole_int(&going[block.group[0]]) >= sweep - 1 else NOT_DUE
    found = splat(0.0)
    while lane < WIDTH and block.manifold[lane] >= 0:
        if whole_int(&going[block.group[lane]]) >= sweep - 1:
            put(&found, lane, 1.0)
            due += 1
        lane += 1
    on[0] = above(found, splat(0.0))
    return NOT_DUE if due == 0 else ALL_DUE if due == lane else PARTLY_DUE


cdef inline void keep_going(const ContactBlock* block, Wide part, int sweep, int32_t* going) noexcept nogil:
    """The groups of lanes that this sweep has changed by more than may be left: above 1."""
    cdef int lane
    if not block.mixed and whole_int(&going[block.group[0]]) >= sweep or not any_lane(above(part, splat(1.0))):
        return
    for lane in range(WIDTH):
        if lane_of(&part, lane) > 1.0 and whole_int(&going[block.group[lane]]) < sweep:
            set_whole_int(&going[block.group[lane]], sweep)


cdef double sweep(ContactBlock* blocks, ResistanceBlock* resisting, Py_ssize_t count, Twist* twist, int relaxed,
                  bint rub, int again, int32_t* changed, int32_t* stirred, int number, int32_t* going,
                  bint fewer) noexcept nogil:
    cdef Wide rate = splat(0.0)
    cdef Wide one
    cdef Mask on
    cdef Py_ssize_t k
    cdef int due
    if again:
        for k in range(count):
            freeze(&blocks[k], twist, stirred)
            if not blocks[k].rounds > again:
                continue
            on = above(choose(has_changed(&blocks[k], again, stirred), blocks[k].effort, splat(0.0)), splat(again))
            if any_lane(on):
                one = splat(0.0)
                solve_again(&blocks[k], &resisting[k], twist, relaxed, relaxed or rub, on, &one)
                note_change(&blocks[k], one * blocks[k].undone, again + 1, stirred)
                rate = most(rate, one)
    else:
        for k in range(count):
            freeze(&blocks[k], twist, NULL)
            due = find_due(&blocks[k], number, going, &on) if fewer else ALL_DUE
            if due == NOT_DUE:
                continue
            one = splat(0.0)
            if due == PARTLY_DUE:
                solve_again(&blocks[k], &resisting[k], twist, relaxed, relaxed or rub, on, &one)
            elif blocks[k].resists and (relaxed or rub):
                solve_resisting(&blocks[k], &resisting[k], twist, relaxed, True, &one)
            elif relaxed:
                solve_block(&blocks[k], NULL, twist, 1, True, &one)
            elif rub:
                solve_block(&blocks[k], NULL, twist, 0, True, &one)
            else:
                solve_block(&blocks[k], NULL, twist, 0, False, &one)
            if changed != NULL:
                note_change(&blocks[k], one * blocks[k].settled, 1, changed)
            if stirred != NULL:
                note_change(&blocks[k], one * blocks[k].undone, 1, stirred)
            if going != NULL:
                keep_going(&blocks[k], one * blocks[k].undone, number, going)
            rate = most(rate, one)
    return largest_lane(&rate)
