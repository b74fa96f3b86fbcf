# What many rows do to a tree, a row a lane, by the factor that one lane found: H^-1 J' by one pass in and one out.
# Included by _kernels.pxi.

cdef inline Wide across(const double* const* rows, Py_ssize_t k) noexcept nogil:
    """Number k of each row."""
    cdef Wide r
    cdef int lane
    for lane in range(WIDTH):
        put(&r, lane, rows[lane][k])
    return r


cdef inline Force pull_of(const AxisFactor* axis) noexcept nogil:
    cdef Force r
    r.n, r.f = splat3(axis.pull), splat3(axis.pull + 3)
    return r


cdef inline Motion motion_of(const AxisFactor* axis) noexcept nogil:
    cdef Motion r
    r.w, r.v = splat3(axis.axis), splat3(axis.axis + 3)
    return r


cdef void respond(const Factored* tree, const Response* asked, int count, int32_t* bearing, Wide* room) noexcept nogil:
    """H^-1 of `count` generalized forces, at most as many as there are lanes. bearing: (links,) of the tree, 0 before and
    after: which links some of the forces' bodies are on or beyond, for what is elsewhere bears nothing. room: 12 a link and 1 a
    velocity."""
    cdef Py_ssize_t first = tree.first, links = tree.end - tree.first, i, v
    cdef Force* force = <Force*>room
    cdef Motion* moved = <Motion*>(room + 6 * links)
    cdef Wide* rates = room + 12 * links - tree.links[first].v
    cdef Wide zero = splat(0.0)
    cdef const double* given[WIDTH]
    cdef const AxisFactor* axis
    cdef const Link* link
    cdef Wide3 arm
    cdef Force pull
    cdef Motion a, own
    cdef Wide step
    cdef int lane, k, last = 0
    for lane in range(WIDTH):
        last = lane if lane < count else last
        given[lane] = asked[last].force
    for lane in range(count):
        for k in range(2):
            i = asked[lane].link[k]
            while i >= 0 and not bearing[i - first]:
                bearing[i - first] = 1
                force[i - first].n = wide3(zero, zero, zero)
                force[i - first].f = force[i - first].n
                i = tree.links[i].parent
    for i in range(tree.end - 1, first - 1, -1):
        link = &tree.links[i]
        if not bearing[i - first]:
            continue
        for k in range(0 if link.given else link.freedoms):
            axis = &tree.axes[link.v + k]
            own, pull = motion_of(axis), pull_of(axis)
            rates[link.v + k] = across(given, link.v + k) - pairing(&own, &force[i - first])
            step = rates[link.v + k] * splat(axis.inverse)
            force[i - first].n = w_add_scaled(force[i - first].n, step, pull.n)
            force[i - first].f = w_add_scaled(force[i - first].f, step, pull.f)
        if link.parent >= 0:
            add_moved_in(&force[link.parent - first], &force[i - first], splat3(&tree.arms[i * tree.stride]))
    for i in range(first, tree.end):
        link = &tree.links[i]
        a.w = a.v = wide3(zero, zero, zero)
        if link.parent >= 0:
            a = moved_out(moved[link.parent - first], splat3(&tree.arms[i * tree.stride]))
        for k in range(link.freedoms - 1, -1, -1):
            v = link.v + k
            axis = &tree.axes[v]
            if link.given:
                rates[v] = zero
            else:
                own, pull = motion_of(axis), pull_of(axis)
                rates[v] = ((rates[v] if bearing[i - first] else zero) - pairing(&a, &pull)) * splat(axis.inverse)
                a.w = w_add_scaled(a.w, rates[v], own.w)
                a.v = w_add_scaled(a.v, rates[v], own.v)
            for lane in range(count):
                asked[lane].out[v] = lane_of(&rates[v], lane)
        moved[i - first] = a
        bearing[i - first] = 0
