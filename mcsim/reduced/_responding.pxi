# What many rows are over a tree, by the factor that one lane found. A row a lane, J and H^-1 J' take one pass in and one out
# (respond). Where a tree has as many rows as velocities, H^-1 is found so, a velocity a lane (invert), and serves all rows:
# J of one is not 0 on the paths to its bodies alone, so H^-1 J' is the sum of few rows of H^-1 (respond_by).
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


cdef inline void mark(const Factored* tree, int32_t* marks, Py_ssize_t i, Py_ssize_t end, int32_t with_what,
                      bint known) noexcept nogil:
    """From link i towards the base, up to `end`. known: what is marked so is so up to there."""
    while i >= 0 and i != end and not (known and marks[i - tree.first] == with_what):
        marks[i - tree.first] = with_what
        i = tree.links[i].parent


cdef inline void write_lanes(double** row, int count, const Wide* values, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
    """Numbers [begin, end) of each row from its lane; of full registers four numbers of every row at a time."""
    cdef Py_ssize_t k
    cdef const double* lane_values
    cdef int32_t place[WIDTH]
    cdef Wide four[4]
    cdef int lane, g, i
    for g in range(ABREAST):
        k = begin
        if count >= (g + 1) * WIDTH:
            for lane in range(WIDTH):
                place[lane] = <int32_t>(row[g * WIDTH + lane] - row[g * WIDTH])
            while k + 4 <= end:
                for i in range(4):
                    four[i] = values[ABREAST * (k + i) + g]
                scatter_four(four, row[g * WIDTH] + k, place, 1)
                k += 4
        for lane in range(g * WIDTH, min(count, (g + 1) * WIDTH)):
            lane_values = <const double*>values + lane
            for i in range(<int>k, <int>end):
                row[lane][i] = lane_values[ABREAST * WIDTH * i]


cdef inline void write_forces(const Factored* tree, const int32_t* marks, const Response* asked, int count,
                              Wide* pushes) noexcept nogil:
    """J of each row as far as it is not 0."""
    cdef Py_ssize_t i, v
    cdef const Link* link
    cdef double* row[ABREAST * WIDTH]
    cdef double* force
    cdef int32_t low = -1, high = 0, begin, end, first = tree.links[tree.first].v
    cdef int lane
    for i in range(tree.first, tree.end):
        if marks[i - tree.first] == PUSHED:
            low = low if low >= 0 else tree.links[i].v
            high = tree.links[i].v + tree.links[i].freedoms
    low = max(low, first)
    high = max(high, low)
    for i in range(tree.first, tree.end):
        link = &tree.links[i]
        if marks[i - tree.first] != PUSHED and link.v >= low and link.v < high:
            for v in range(ABREAST * link.v, ABREAST * (link.v + link.freedoms)):
                pushes[v] = splat(0.0)
    for lane in range(count):
        row[lane] = asked[lane].force
    write_lanes(row, count, pushes, low, high)
    for lane in range(count):
        force = asked[lane].force
        begin, end = low, high
        while begin < end and force[begin] == 0.0:
            begin += 1
        while end > begin and force[end - 1] == 0.0:
            end -= 1
        asked[lane].span[0], asked[lane].span[1] = begin - first, end - first


cdef inline void write_rates(const Factored* tree, const Response* asked, int count, const Wide* rates) noexcept nogil:
    """H^-1 J' of each row."""
    cdef double* row[ABREAST * WIDTH]
    cdef Py_ssize_t first = tree.links[tree.first].v
    cdef int lane
    for lane in range(count):
        row[lane] = asked[lane].out
    write_lanes(row, count, rates, first, first + tree.size)


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
    cdef bint alike = True                               # all rows push up to the same link
    cdef bint meeting = False                            # some cancel
    for g in range(ABREAST):
        given[g] = zero
    for lane in range(count):
        for k in range(2):
            if asked[lane].link[k] >= 0 and not marks[asked[lane].link[k] - first]:
                mark(tree, marks, asked[lane].link[k], -1, BEARS, True)
    for lane in range(count):
        alike = alike and asked[lane].common == asked[0].common
        meeting = meeting or asked[lane].common >= 0
    for lane in range(count):
        for k in range(2):
            mark(tree, marks, asked[lane].link[k], asked[lane].common, PUSHED, alike)
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
        for lane in range(count if meeting and marks[i - first] == PUSHED else 0):
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


cdef inline void invert_some(const Factored* tree, Py_ssize_t begin, int count, double* inverse, int32_t* marks,
                             Wide* room) noexcept nogil:
    """`count` rows of H^-1 from `begin` on."""
    cdef Py_ssize_t first = tree.first, links = tree.end - tree.first, base = tree.links[first].v, i, v, at
    cdef Force* force = <Force*>room
    cdef Motion* moved = <Motion*>(force + ABREAST * links)
    cdef Wide* rates = <Wide*>(moved + ABREAST * links)
    cdef Wide zero = splat(0.0)
    cdef Motion a[ABREAST]
    cdef const AxisFactor* axis
    cdef const double* lane_rates
    cdef const Link* link
    cdef Force pull
    cdef Motion own
    cdef Wide3 arm
    cdef Wide step
    cdef int lane, k, g
    for i in range(first, tree.end):
        link = &tree.links[i]
        if link.v - base < begin + count and link.v - base + link.freedoms > begin:
            mark(tree, marks, i, -1, BEARS, True)
    for i in range(ABREAST * links):
        force[i].n = force[i].f = wide3(zero, zero, zero)
    for i in range(tree.end - 1, first - 1, -1):
        link = &tree.links[i]
        at = ABREAST * (i - first)
        if not marks[i - first]:
            continue
        for k in range(link.freedoms if not link.given else 0):
            v = link.v - base + k
            axis = &tree.axes[link.v + k]
            own, pull = motion_of(axis), pull_of(axis)
            for g in range(ABREAST):
                rates[ABREAST * v + g] = zero - pairing(&own, &force[at + g])
            lane = <int>(v - begin)
            if lane >= 0 and lane < count:
                put(&rates[ABREAST * v + lane // WIDTH], lane % WIDTH,
                    lane_of(&rates[ABREAST * v + lane // WIDTH], lane % WIDTH) + 1.0)
            for g in range(ABREAST):
                step = rates[ABREAST * v + g] * splat(axis.inverse)
                force[at + g].n = w_add_scaled(force[at + g].n, step, pull.n)
                force[at + g].f = w_add_scaled(force[at + g].f, step, pull.f)
        if link.parent >= 0:
            arm = splat3(&tree.arms[i * tree.stride])
            for g in range(ABREAST):
                add_moved_in(&force[ABREAST * (link.parent - first) + g], &force[at + g], arm)
    for i in range(first, tree.end):
        link = &tree.links[i]
        at = ABREAST * (i - first)
        for g in range(ABREAST):
            a[g].w = a[g].v = wide3(zero, zero, zero)
        if link.parent >= 0:
            arm = splat3(&tree.arms[i * tree.stride])
            for g in range(ABREAST):
                a[g] = moved_out(moved[ABREAST * (link.parent - first) + g], arm)
        for k in range(link.freedoms - 1, -1, -1):
            v = ABREAST * (link.v - base + k)
            axis = &tree.axes[link.v + k]
            own, pull = motion_of(axis), pull_of(axis)
            for g in range(ABREAST):
                rates[v + g] = zero if link.given else (
                    (rates[v + g] if marks[i - first] else zero) - pairing(&a[g], &pull)) * splat(axis.inverse)
                a[g].w = w_add_scaled(a[g].w, rates[v + g], own.w)
                a[g].v = w_add_scaled(a[g].v, rates[v + g], own.v)
        for g in range(ABREAST):
            moved[at + g] = a[g]
        marks[i - first] = 0
    for lane in range(count):
        lane_rates = <const double*>rates + lane
        for v in range(tree.size):
            inverse[(begin + lane) * tree.size + v] = lane_rates[ABREAST * WIDTH * v]


cdef void invert(const Factored* tree, double* inverse, int32_t* marks, Wide* room) noexcept nogil:
    """H^-1 (size, size): what unit impulses along the velocities do. marks, room: as of respond."""
    cdef Py_ssize_t begin = 0
    while begin < tree.size:
        invert_some(tree, begin, <int>min(tree.size - begin, <Py_ssize_t>(ABREAST * WIDTH)), inverse, marks, room)
        begin += ABREAST * WIDTH


cdef inline void add_path(const Factored* tree, const Response* r, int side, int32_t* span) noexcept nogil:
    """J += what a row's wrench on one of its links is along the axes up to where its two meet, or to the base. span grows by
    where that is, and what it comes to hold begins with 0; by the world's velocities."""
    cdef const double* com
    cdef const double* wrench = r.wrench[side]
    cdef const double* arm
    cdef const double* axis
    cdef const Link* link
    cdef Py_ssize_t i = r.link[side], at
    cdef double n[3]
    cdef double f[3]
    cdef int k
    if i < 0 or i == r.common:
        return
    com = &tree.coms[i * tree.stride]
    f[0], f[1], f[2] = wrench[0], wrench[1], wrench[2]
    n[0] = wrench[3] + (com[1] * f[2] - com[2] * f[1])
    n[1] = wrench[4] + (com[2] * f[0] - com[0] * f[2])
    n[2] = wrench[5] + (com[0] * f[1] - com[1] * f[0])
    while i >= 0 and i != r.common:
        link = &tree.links[i]
        if span[1] == 0:
            span[0] = span[1] = link.v + link.freedoms
        for at in range(span[1], link.v + link.freedoms):
            r.force[at] = 0.0
        for at in range(link.v, span[0]):
            r.force[at] = 0.0
        span[0], span[1] = min(span[0], link.v), max(span[1], link.v + link.freedoms)
        for k in range(link.freedoms):
            axis = &tree.axes[link.v + k].axis[0]
            r.force[link.v + k] += ((axis[0] * n[0] + axis[1] * n[1] + axis[2] * n[2])
                                    + (axis[3] * f[0] + axis[4] * f[1] + axis[5] * f[2]))
        arm = &tree.arms[i * tree.stride]
        n[0] += arm[1] * f[2] - arm[2] * f[1]
        n[1] += arm[2] * f[0] - arm[0] * f[2]
        n[2] += arm[0] * f[1] - arm[1] * f[0]
        i = link.parent


cdef void respond_by(const Factored* tree, const double* inverse, const Response* r) noexcept nogil:
    """J and H^-1 J' of a row by H^-1."""
    cdef int32_t span[2]
    cdef int32_t base = tree.links[tree.first].v
    cdef double* out = r.out + base
    cdef const double* x
    cdef const double* y
    cdef double one, two
    cdef Py_ssize_t k, v = 0, next, size = tree.size
    span[0] = span[1] = 0
    add_path(tree, r, 0, span)
    add_path(tree, r, 1, span)
    while span[0] < span[1] and r.force[span[0]] == 0.0:
        span[0] += 1
    while span[1] > span[0] and r.force[span[1] - 1] == 0.0:
        span[1] -= 1
    r.span[0], r.span[1] = max(span[0] - base, 0), max(span[1] - base, 0)
    for k in range(size):
        out[k] = 0.0
    k = span[0]
    while k < span[1]:                                   # two rows of H^-1 at a time
        one, x = r.force[k], inverse + (k - base) * size
        next = k + 1
        while next < span[1] and r.force[next] == 0.0:
            next += 1
        two, y = 0.0, x
        if next < span[1]:
            two, y = r.force[next], inverse + (next - base) * size
            next += 1
            while next < span[1] and r.force[next] == 0.0:
                next += 1
        for v in range(size):
            out[v] += one * x[v] + two * y[v]
        k = next
    one = 0.0
    for k in range(span[0], span[1]):
        one += r.force[k] * out[k - base]
    r.diagonal[0] += one
