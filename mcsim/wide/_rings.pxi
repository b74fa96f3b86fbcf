# Lanes that touch by the rims of a cylinder (collide/_carrying.pxd): what constraints/_contacts.pyx does for one.
# Included by _contacts.pxi, after there() and before what fills blocks.

cdef Wide3 behind_ring(const ContactBlock* block, const ContactStart* start, Wide3 axis) noexcept nogil:
    """constraints/_contacts.pyx, behind_ring."""
    cdef Wide3 d = w_scale(start.turning.ring, block.normal)
    cdef Wide3 e = w_add_scaled(d, -w_dot(d, axis), axis)
    cdef Wide length = root(w_dot(e, e))
    cdef Wide radius = choose(above(start.turning.ring, splat(0.0)), start.rounding_a, start.rounding_b)
    e = w_scale(choose(above(length, splat(0.0)), inverse(length), splat(0.0)), e)
    return w_scale(radius, w_sub(e, d))


cdef void set_ring_anchors(ContactBlock* block, ContactStart* start, const WideMatrix* ra,
                           const WideMatrix* rb) noexcept nogil:
    """Of lanes that touch by rims: constraints/_contacts.pyx, set_ring_anchors."""
    cdef Mask on_a = above(start.turning.ring, splat(0.0))
    cdef Mask on_b = above(splat(0.0), start.turning.ring)
    cdef Wide3 behind = behind_ring(block, start, w_choose(on_a, start.turning.of_a, start.turning.of_b))
    cdef Wide3* local
    cdef int i
    for i in range(min(block.point_count, 2)):
        local = &start.points[i].local_a
        local[0] = w_choose(on_a, w_sub(local[0], turn_back(ra, behind)), local[0])
        local = &start.points[i].local_b
        local[0] = w_choose(on_b, w_sub(local[0], turn_back(rb, behind)), local[0])


cdef void place_rings(const ContactBlock* block, const ContactStart* start, Wide3 of_a, Wide3 of_b, Wide3* from_a,
                      Wide3* apart) noexcept nogil:
    """The lowest points of rims at the present poses. of_a, of_b: what the normals go with, now."""
    cdef Mask on_a = above(start.turning.ring, splat(0.0))
    cdef Mask on_b = above(splat(0.0), start.turning.ring)
    cdef Wide3 behind = behind_ring(block, start, w_choose(on_a, of_a, of_b))
    cdef int i
    for i in range(min(block.point_count, 2)):
        from_a[i] = w_choose(on_a, w_add(from_a[i], behind), from_a[i])
        apart[i] = w_choose(on_a, w_sub(apart[i], behind), w_choose(on_b, w_add(apart[i], behind), apart[i]))
