# Blocks whose lanes share one body (_shared.pxd): all of them read the velocity that it had before the first block of
# those that are solved as one. Included by _contacts.pxi. Apart from the loops over other blocks, which are most.

cdef void freeze_body(WideEnds* ends, const WideEnds* before, const Twist* twist, const int32_t* marks) noexcept nogil:
    cdef int32_t body
    if ends.follows:
        ends.frozen, ends.mark = before.frozen, before.mark
        return
    body = ends.body_a[0] if ends.shares == SHARES_A else ends.body_b[0]
    ends.frozen = twist[body]
    ends.mark = marks[body] if marks != NULL else 0


cdef inline void freeze(ContactBlock* block, const Twist* twist, const int32_t* marks) noexcept nogil:
    """Before a block is looked at, whether it is solved or not: the velocity of the body that its lanes share, and what is
    marked of it; marks: of bodies, or NULL."""
    if block.ends.shares:
        freeze_body(&block.ends, &(block - 1).ends, twist, marks)


cdef inline void splat_twist(const Twist* twist, Wide3* v, Wide3* w) noexcept nogil:
    v[0] = wide3(splat(twist.v.x), splat(twist.v.y), splat(twist.v.z))
    w[0] = wide3(splat(twist.w.x), splat(twist.w.y), splat(twist.w.z))


cdef WidePair load_shared(const WideEnds* ends, const Twist* twist) noexcept nogil:
    cdef WidePair p = load_pair(ends, twist)
    if ends.shares == SHARES_A:
        splat_twist(&ends.frozen, &p.va, &p.wa)
    else:
        splat_twist(&ends.frozen, &p.vb, &p.wb)
    return p


cdef void add_changes(const Wide3* v, const Wide3* w, const WideEnds* ends, const int32_t* body,
                      Twist* twist) noexcept nogil:
    """What the lanes have changed the velocity of the body by that they share."""
    cdef Twist* t = &twist[body[0]]
    cdef int lane
    for lane in range(WIDTH):
        if body[lane] < 0:
            break
        t.v.x += lane_of(&v.x, lane) - ends.frozen.v.x
        t.v.y += lane_of(&v.y, lane) - ends.frozen.v.y
        t.v.z += lane_of(&v.z, lane) - ends.frozen.v.z
        t.w.x += lane_of(&w.x, lane) - ends.frozen.w.x
        t.w.y += lane_of(&w.y, lane) - ends.frozen.w.y
        t.w.z += lane_of(&w.z, lane) - ends.frozen.w.z


cdef void store_shared(WidePair p, const WideEnds* ends, Twist* twist) noexcept nogil:
    if ends.shares == SHARES_A:
        add_changes(&p.va, &p.wa, ends, ends.body_a, twist)
        scatter_twist(p.vb, p.wb, <double*>twist, ends.body_b)
    else:
        add_changes(&p.vb, &p.wb, ends, ends.body_b, twist)
        scatter_twist(p.va, p.wa, <double*>twist, ends.body_a)


cdef inline WidePair load_lanes(const WideEnds* ends, const Twist* twist) noexcept nogil:
    return load_shared(ends, twist) if ends.shares else load_pair(ends, twist)


cdef inline void store_lanes(const WidePair* p, const WideEnds* ends, Twist* twist) noexcept nogil:
    if ends.shares:
        store_shared(p[0], ends, twist)
    else:
        store_pair(p, ends, twist)
