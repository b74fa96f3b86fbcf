# What the normals of lanes go with (state/_contact_reference.pxd), and rims of cylinders among them
# (collide/_carrying.pxd): what constraints/_contacts.pyx does for one. Included by _contacts.pxi, before what fills
# blocks.

cdef inline void put_turning(ContactBlock* block, ContactStart* start, int lane, const Manifold* m,
                             const Bodies* bodies) noexcept nogil:
    """What its normal goes with, world axes until set_anchors."""
    cdef Vec3 of_a, of_b
    if m.turns == 0 or not normal_goes_with(m, bodies, &of_a, &of_b):
        return
    if not block.turns:
        memset(&start.turning, 0, sizeof(start.turning))
    block.turns |= 1
    put3(&start.turning.of_a, lane, of_a)
    put3(&start.turning.of_b, lane, of_b)
    if m.turns == BETWEEN_A or m.turns == BETWEEN_B:
        block.turns |= 2
        put(&start.turning.between, lane, 1.0)
    elif m.turns == EDGES:
        block.turns |= 4
        put(&start.turning.edges, lane, 1.0)
    elif m.turns == RING_A or m.turns == RING_B:
        block.turns |= 8
        put(&start.turning.ring, lane, 1.0 if m.turns == RING_A else -1.0)


cdef void turn_normal(ContactBlock* block, const ContactStart* start, const Wide3* apart, Wide3 of_a,
                      Wide3 of_b) noexcept nogil:
    """Of the lanes whose normal turns: constraints/_contacts.pyx, turn_normal."""
    cdef const WideTurning* turning = &start.turning
    cdef Wide3 line = w_add(of_a, of_b)
    cdef Wide3 d = line
    cdef Wide3 mean = wide3(splat(0.0), splat(0.0), splat(0.0))
    cdef Wide3 t
    cdef Wide length
    cdef Mask turned
    cdef int i
    if block.turns & 2:
        for i in range(block.point_count):
            mean = w_add_scaled(mean, start.points[i].weight, apart[i])
        d = w_choose(above(turning.between, splat(0.0)), w_add_scaled(mean, -w_dot(line, mean), line), d)
    if block.turns & 4:
        d = w_choose(above(turning.edges, splat(0.0)), w_cross(of_a, of_b), d)
    if block.turns & 8:
        d = w_choose(above(turning.ring, splat(0.0)), of_b, w_choose(above(splat(0.0), turning.ring), of_a, d))
    length = root(w_dot(d, d))
    turned = above(splat(2.0) * w_dot(block.normal, d), length)
    d = w_scale(inverse(length), d)
    t = w_add_scaled(block.tangent, -w_dot(d, block.tangent) * inverse(splat(1.0) + w_dot(block.normal, d)),
                     w_add(block.normal, d))
    block.normal = w_choose(turned, d, block.normal)
    block.tangent = w_choose(turned, t, block.tangent)


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
