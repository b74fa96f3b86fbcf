# What many rows are over a tree, a row a lane, by the factor that one lane found: J and H^-1 J' by one pass in and one out.
# Included by _kernels.pxi.

cdef enum:
    ABREAST = 2                  # registers of rows, whose sums need not wait for each other's
    BEARS = 1                    # a force is to be found there, and passed on
    PUSHED = 2                   # and what rows push with is passed on too: above where the two bodies of one meet that is 0


cdef inline Force pull_of(const AxisFactor* axis) noexcept nogil:
    cdef Force r
    r.n, r.f = splat3(axis.pull), splat3(axis.pull + 3)
    return r


cdef inline Motion motion_of(const AxisFactor* axis) noexcept nogil:
    cdef Motion r
    r.w, r.v = splat3(axis.axis), splat3(axis.axis + 3)
    return r


cdef inline bint passes_through(const AxisFactor* axis) noexcept nogil:
    """Whether the axis goes through the link's origin, as that of a hinge: the origin does not move along it."""
    return axis.axis[3] == 0.0 and axis.axis[4] == 0.0 and axis.axis[5] == 0.0


cdef inline void add_to_lane(Wide3* a, int lane, double x, double y, double z) noexcept nogil:
    put(&a.x, lane, lane_of(&a.x, lane) + x)
    put(&a.y, lane, lane_of(&a.y, lane) + y)
    put(&a.z, lane, lane_of(&a.z, lane) + z)


cdef inline void clear_lane(Force* f, int lane) noexcept nogil:
    put(&f.n.x, lane, 0.0)
    put(&f.n.y, lane, 0.0)
    put(&f.n.z, lane, 0.0)
    put(&f.f.x, lane, 0.0)
    put(&f.f.y, lane, 0.0)
    put(&f.f.z, lane, 0.0)


cdef inline void mark(const Factored* tree, int32_t* marks, Py_ssize_t i, Py_ssize_t end, int32_t with_what) noexcept nogil:
    """From link i towards the base, up to `end`."""
    while i >= 0 and i != end:
        marks[i - tree.first] = with_what
        i = tree.links[i].parent


cdef inline void write_forces(const Factored* tree, const int32_t* marks, const Response* asked, int count,
                              const Wide* pushes) noexcept nogil:
    """J of each row as far as it is not 0."""
    cdef Py_ssize_t i, v
    cdef const Link* link
    cdef double* force
    cdef int32_t low = -1, high = 0, begin, end, first = tree.links[tree.first].v
    cdef int lane, k
    for i in range(tree.first, tree.end):
        if marks[i - tree.first] == PUSHED:
            low = low if low >= 0 else tree.links[i].v
            high = tree.links[i].v + tree.links[i].freedoms
    for i in range(tree.first, tree.end):
        link = &tree.links[i]
        for v in range(link.v, link.v + link.freedoms if link.v >= low and link.v < high else link.v):
            for lane in range(count):
                asked[lane].force[v] = (<const double*>&pushes[ABREAST * v])[lane] if marks[i - tree.first] == PUSHED else 0.0
    for lane in range(count):
        force = asked[lane].force
        begin, end = max(low, first), max(high, first)
        while begin < end and force[begin] == 0.0:
            begin += 1
        while end > begin and force[end - 1] == 0.0:
            end -= 1
        asked[lane].span[0], asked[lane].span[1] = begin - first, end - first


cdef inline void write_rates(const Factored* tree, const Response* asked, int count, const Wide* rates) noexcept nogil:
    """H^-1 J' of each row; of full registers four numbers of every row at a time."""
    cdef Py_ssize_t k, first = tree.links[tree.first].v
    cdef const double* lane_rates
    cdef double* out
    cdef int32_t place[WIDTH]
    cdef Wide four[4]
    cdef int lane, g, i
    for g in range(ABREAST):
        k = 0
        if count >= (g + 1) * WIDTH:
            out = asked[g * WIDTH].out + first
            for lane in range(WIDTH):
                place[lane] = <int32_t>(asked[g * WIDTH + lane].out + first - out)
            while k + 4 <= tree.size:
                for i in range(4):
                    four[i] = rates[ABREAST * (first + k + i) + g]
                scatter_four(four, out + k, place, 1)
                k += 4
        for lane in range(g * WIDTH, min(count, (g + 1) * WIDTH)):
            lane_rates = <const double*>(rates + ABREAST * first) + lane
            for i in range(<int>k, <int>tree.size):
                asked[lane].out[first + i] = lane_rates[ABREAST * WIDTH * i]


cdef void respond(const Factored* tree, const Response* asked, int count, int32_t* marks, Wide* room) noexcept nogil:
    """J and H^-1 J' of `count` rows, at most ABREAST times as many as there are lanes. marks: (links,) of the tree, 0 before
    and after; room: ABREAST times 18 a link and 2 a velocity."""
    cdef Py_ssize_t first = tree.first, links = tree.end - tree.first, i, v, at, up
    cdef Force* push = <Force*>room                      # what the rows' wrenches have come to, about each link's origin
    cdef Force* force = push + ABREAST * links           # p
    cdef Motion* moved = <Motion*>(force + ABREAST * links)
    cdef Wide* rates = <Wide*>(moved + ABREAST * links) - ABREAST * tree.links[first].v
    cdef Wide* pushes = rates + ABREAST * tree.size
    cdef Wide zero = splat(0.0)
    cdef Wide given[ABREAST]
    cdef Motion a[ABREAST]
    cdef const AxisFactor* axis
    cdef const double* com
    cdef const double* wrench
    cdef const Link* link
    cdef Force pull
    cdef Motion own
    cdef Wide3 arm
    cdef Wide step
    cdef int lane, k, g
    for g in range(ABREAST):
        given[g] = zero
    for lane in range(count):
        for k in range(2):
            if asked[lane].link[k] >= 0 and not marks[asked[lane].link[k] - first]:
                mark(tree, marks, asked[lane].link[k], -1, BEARS)
    for lane in range(count):
        for k in range(2):
            mark(tree, marks, asked[lane].link[k], asked[lane].common, PUSHED)
    for i in range(links):
        for g in range(ABREAST if marks[i] else 0):
            at = ABREAST * i + g
            push[at].n = push[at].f = force[at].n = force[at].f = wide3(zero, zero, zero)
    for lane in range(count):
        for k in range(2):
            i = asked[lane].link[k]
            if i >= 0:
                com, wrench = &tree.coms[i * tree.stride], asked[lane].wrench[k]
                at = ABREAST * (i - first) + lane // WIDTH
                add_to_lane(&push[at].f, lane % WIDTH, wrench[0], wrench[1], wrench[2])
                add_to_lane(&push[at].n, lane % WIDTH, wrench[3] + (com[1] * wrench[2] - com[2] * wrench[1]),
                            wrench[4] + (com[2] * wrench[0] - com[0] * wrench[2]),
                            wrench[5] + (com[0] * wrench[1] - com[1] * wrench[0]))
    for i in range(tree.end - 1, first - 1, -1):
        link = &tree.links[i]
        if not marks[i - first]:
            continue
        at = ABREAST * (i - first)
        for lane in range(count if marks[i - first] == PUSHED else 0):
            if asked[lane].common == i:
                clear_lane(&push[at + lane // WIDTH], lane % WIDTH)
        for k in range(link.freedoms):
            v = ABREAST * (link.v + k)
            axis = &tree.axes[link.v + k]
            own, pull = motion_of(axis), pull_of(axis)
            for g in range(ABREAST):
                if marks[i - first] == PUSHED:
                    pushes[v + g] = w_dot(own.w, push[at + g].n)
                    if not passes_through(axis):
                        pushes[v + g] = pushes[v + g] + w_dot(own.v, push[at + g].f)
                else:
                    pushes[v + g] = zero
            for g in range(0 if link.given else ABREAST):
                rates[v + g] = pushes[v + g] - w_dot(own.w, force[at + g].n)
                if not passes_through(axis):
                    rates[v + g] = rates[v + g] - w_dot(own.v, force[at + g].f)
                step = rates[v + g] * splat(axis.inverse)
                given[g] = given[g] + rates[v + g] * step
                force[at + g].n = w_add_scaled(force[at + g].n, step, pull.n)
                force[at + g].f = w_add_scaled(force[at + g].f, step, pull.f)
        if link.parent >= 0:
            up = ABREAST * (link.parent - first)
            arm = splat3(&tree.arms[i * tree.stride])
            for g in range(ABREAST):
                add_moved_in(&force[up + g], &force[at + g], arm)
                if marks[i - first] == PUSHED and marks[link.parent - first] == PUSHED:
                    add_moved_in(&push[up + g], &push[at + g], arm)
    write_forces(tree, marks, asked, count, pushes)
    for lane in range(count):
        asked[lane].diagonal[0] += lane_of(&given[lane // WIDTH], lane % WIDTH)
    for i in range(first, tree.end):
        link = &tree.links[i]
        at = ABREAST * (i - first)
        if link.parent >= 0:
            arm = splat3(&tree.arms[i * tree.stride])
            for g in range(ABREAST):
                a[g] = moved_out(moved[ABREAST * (link.parent - first) + g], arm)
        else:
            for g in range(ABREAST):
                a[g].w = a[g].v = wide3(zero, zero, zero)
        for k in range(link.freedoms - 1, -1, -1):
            v = ABREAST * (link.v + k)
            axis = &tree.axes[link.v + k]
            if link.given:
                for g in range(ABREAST):
                    rates[v + g] = zero
            else:
                own, pull = motion_of(axis), pull_of(axis)
                for g in range(ABREAST):
                    rates[v + g] = ((rates[v + g] if marks[i - first] else zero) - pairing(&a[g], &pull)) * splat(axis.inverse)
                    a[g].w = w_add_scaled(a[g].w, rates[v + g], own.w)
                    if not passes_through(axis):
                        a[g].v = w_add_scaled(a[g].v, rates[v + g], own.v)
        for g in range(ABREAST):
            moved[at + g] = a[g]
        marks[i - first] = 0
    write_rates(tree, asked, count, rates)
