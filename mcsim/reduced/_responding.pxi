# What many rows are over a tree, by the factor that one lane found. A row a lane, J and H^-1 J' take one pass in and
# one out (respond). Where a tree has as many rows as velocities, H^-1 is found so, a velocity a lane (invert), and
# serves all rows: J of one is not 0 on the paths to its bodies alone, so H^-1 J' is the sum of few rows of H^-1
# (respond_by). Rows on the same two bodies follow each other, and share the way along those paths and what is read of
# H^-1. Included by _kernels.pxi.

cdef enum:
    ABREAST = 2                  # registers of rows, whose sums need not wait for each other's
    TOGETHER = 8                 # rows that respond_by is given at most: eight lanes, in as many registers as those are
    IN_STEP = 4                  # of them that pass over H^-1 side by side
    BEARS = 1                    # a force is to be found there, and passed on
    # and what rows push with is passed on too: above where the two bodies of one meet that is 0
    PUSHED = 2


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


cdef inline bint mark_rows(const Factored* tree, const Response* asked, int count, int32_t* marks) noexcept nogil:
    """Which links bear, and which are pushed. -> whether some rows' two wrenches cancel where their links meet"""
    cdef int lane, k
    cdef bint alike = True                               # all rows push up to the same link
    cdef bint meeting = False
    for lane in range(count):
        for k in range(2):
            if asked[lane].link[k] >= 0 and not marks[asked[lane].link[k] - tree.first]:
                mark(tree, marks, asked[lane].link[k], -1, BEARS, True)
    for lane in range(count):
        alike = alike and asked[lane].common == asked[0].common
        meeting = meeting or asked[lane].common >= 0
    for lane in range(count):
        for k in range(2):
            mark(tree, marks, asked[lane].link[k], asked[lane].common, PUSHED, alike)
    return meeting


cdef inline void put_wrenches(const Factored* tree, const Response* asked, int count, const int32_t* marks, Force* push,
                              Force* force) noexcept nogil:
    """The rows' wrenches about the origins of their links; no other forces yet."""
    cdef Py_ssize_t i, at
    cdef const double* com
    cdef const double* wrench
    cdef Wide zero = splat(0.0)
    cdef int lane, k, g
    for i in range(tree.end - tree.first):
        for g in range(ABREAST if marks[i] else 0):
            at = ABREAST * i + g
            push[at].n = push[at].f = force[at].n = force[at].f = wide3(zero, zero, zero)
    for lane in range(count):
        for k in range(2):
            i = asked[lane].link[k]
            if i >= 0:
                com, wrench = &tree.coms[i * tree.stride], asked[lane].wrench[k]
                at = ABREAST * (i - tree.first) + lane // WIDTH
                add_to_lane(&push[at].f, lane % WIDTH, wrench[0], wrench[1], wrench[2])
                add_to_lane(&push[at].n, lane % WIDTH, wrench[3] + (com[1] * wrench[2] - com[2] * wrench[1]),
                            wrench[4] + (com[2] * wrench[0] - com[0] * wrench[2]),
                            wrench[5] + (com[0] * wrench[1] - com[1] * wrench[0]))


cdef inline void rates_out(const Factored* tree, int32_t* marks, Motion* moved, Wide* rates) noexcept nogil:
    """H^-1 of what the forces left of each velocity's push in `rates`, of the model's velocities; marks are 0 then."""
    cdef Py_ssize_t first = tree.first, i, v, at
    cdef Wide zero = splat(0.0)
    cdef Motion a[ABREAST]
    cdef const AxisFactor* axis
    cdef const Link* link
    cdef Force pull
    cdef Motion own
    cdef Wide3 arm
    cdef int k, g
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
                    rates[v + g] = ((rates[v + g] if marks[i - first] else zero)
                                    - pairing(&a[g], &pull)) * splat(axis.inverse)
                    a[g].w = w_add_scaled(a[g].w, rates[v + g], own.w)
                    if not passes_through(axis):
                        a[g].v = w_add_scaled(a[g].v, rates[v + g], own.v)
        for g in range(ABREAST):
            moved[at + g] = a[g]
        marks[i - first] = 0


cdef void respond(const Factored* tree, const Response* asked, int count, int32_t* marks, Wide* room) noexcept nogil:
    """J and H^-1 J' of `count` rows, at most ABREAST times as many as there are lanes. marks: (links,) of the tree, 0
    before and after; room: ABREAST times 18 a link and 2 a velocity."""
    cdef Py_ssize_t first = tree.first, links = tree.end - tree.first, i, v, at, up
    cdef Force* push = <Force*>room                      # what the rows' wrenches have come to, about each link's origin
    cdef Force* force = push + ABREAST * links           # p
    cdef Motion* moved = <Motion*>(force + ABREAST * links)
    cdef Wide* rates = <Wide*>(moved + ABREAST * links) - ABREAST * tree.links[first].v
    cdef Wide* pushes = rates + ABREAST * tree.size
    cdef Wide zero = splat(0.0)
    cdef Wide given[ABREAST]
    cdef const AxisFactor* axis
    cdef const Link* link
    cdef Force pull
    cdef Motion own
    cdef Wide3 arm
    cdef Wide step
    cdef int lane, k, g
    cdef bint meeting = mark_rows(tree, asked, count, marks)
    for g in range(ABREAST):
        given[g] = zero
    put_wrenches(tree, asked, count, marks, push, force)
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
    rates_out(tree, marks, moved, rates)
    write_rates(tree, asked, count, rates)


cdef inline void invert_some(const Factored* tree, Py_ssize_t begin, int count, double* inverse, int32_t* marks,
                             Wide* room) noexcept nogil:
    """`count` rows of H^-1 from `begin` on."""
    cdef Py_ssize_t first = tree.first, links = tree.end - tree.first, base = tree.links[first].v, i, v, at
    cdef Force* force = <Force*>room
    cdef Motion* moved = <Motion*>(force + ABREAST * links)
    cdef Wide* rates = <Wide*>(moved + ABREAST * links)
    cdef Wide zero = splat(0.0)
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
    rates_out(tree, marks, moved, rates - ABREAST * base)
    for lane in range(count):
        lane_rates = <const double*>rates + lane
        for v in range(tree.size):
            inverse[(begin + lane) * in_eights(tree.size) + v] = lane_rates[ABREAST * WIDTH * v]


cdef void invert(const Factored* tree, double* inverse, int32_t* marks, Wide* room) noexcept nogil:
    """H^-1, rows of size, in_eights(size) apart: what unit impulses along the velocities do. marks, room: as of respond."""
    cdef Py_ssize_t begin = 0
    while begin < tree.size:
        invert_some(tree, begin, <int>min(tree.size - begin, <Py_ssize_t>(ABREAST * WIDTH)), inverse, marks, room)
        begin += ABREAST * WIDTH


cdef inline Py_ssize_t push_path(const Factored* tree, const Response* asked, int count, int side, int32_t* marks,
                                 Wide* pushes, int32_t* places, Py_ssize_t n) noexcept nogil:
    """What the rows' wrenches on their links of one side are along the axes up to where the two sides meet, or to the base:
    rows in lanes, added to `pushes`. places: the velocities (from the tree's first) that are there, n of them. -> how many
    there are then. marks: where those of a link begin, plus 1."""
    cdef Wide zero = splat(0.0)
    cdef Wide3 turn[TOGETHER]
    cdef Wide3 force[TOGETHER]
    cdef const double* com
    cdef const double* wrench
    cdef const Link* link
    cdef Motion own
    cdef Wide push
    cdef Py_ssize_t i = asked[0].link[side], begin
    cdef int32_t base = tree.links[tree.first].v
    cdef int r, k, g
    cdef bint met
    if i < 0 or i == asked[0].common:
        return n
    com = &tree.coms[i * tree.stride]
    for g in range(TOGETHER // WIDTH):
        turn[g] = force[g] = wide3(zero, zero, zero)
    for r in range(count):
        wrench = asked[r].wrench[side]
        add_to_lane(&force[r // WIDTH], r % WIDTH, wrench[0], wrench[1], wrench[2])
        add_to_lane(&turn[r // WIDTH], r % WIDTH, wrench[3], wrench[4], wrench[5])
    for g in range(TOGETHER // WIDTH):
        turn[g] = w_add(turn[g], w_cross(splat3(com), force[g]))
    while i >= 0 and i != asked[0].common:
        link = &tree.links[i]
        met = marks[i - tree.first] > 0
        begin = marks[i - tree.first] - 1 if met else n
        for k in range(link.freedoms):
            own = motion_of(&tree.axes[link.v + k])
            for g in range(TOGETHER // WIDTH):
                push = w_dot(own.w, turn[g]) + w_dot(own.v, force[g])
                pushes[(begin + k) * (TOGETHER // WIDTH) + g] = (
                    pushes[(begin + k) * (TOGETHER // WIDTH) + g] + push if met else push)
            places[begin + k] = link.v + k - base
        if not met:
            marks[i - tree.first] = <int32_t>(n + 1)
            n += link.freedoms
        for g in range(TOGETHER // WIDTH):
            turn[g] = w_add(turn[g], w_cross(splat3(&tree.arms[i * tree.stride]), force[g]))
        i = link.parent
    return n


cdef inline void write_sums(const double* inverse, Py_ssize_t stride, const double* j, const int32_t* places, Py_ssize_t n,
                            double** out, int count) noexcept nogil:
    """out = J H^-1 of IN_STEP rows, of which `count` are written, two registers at a time. j: TOGETHER apart."""
    cdef Wide a[IN_STEP]
    cdef Wide b[IN_STEP]
    cdef Wide x, y, one
    cdef const double* row
    cdef Py_ssize_t c = 0, t
    cdef int r
    while c + 2 * WIDTH <= stride:
        for r in range(IN_STEP):
            a[r] = b[r] = splat(0.0)
        for t in range(n):
            row = inverse + places[t] * stride + c
            x, y = (<const Wide*>row)[0], (<const Wide*>(row + WIDTH))[0]
            for r in range(IN_STEP):
                one = splat(j[TOGETHER * t + r])
                a[r] = a[r] + one * x
                b[r] = b[r] + one * y
        for r in range(count):
            (<Wide*>(out[r] + c))[0], (<Wide*>(out[r] + c + WIDTH))[0] = a[r], b[r]
        c += 2 * WIDTH
    if c < stride:
        for r in range(IN_STEP):
            a[r] = splat(0.0)
        for t in range(n):
            x = (<const Wide*>(inverse + places[t] * stride + c))[0]
            for r in range(IN_STEP):
                a[r] = a[r] + splat(j[TOGETHER * t + r]) * x
        for r in range(count):
            (<Wide*>(out[r] + c))[0] = a[r]


cdef void respond_by(const Factored* tree, const double* inverse, const Response* asked, int count, int32_t* marks,
                     Wide* room) noexcept nogil:
    """J and H^-1 J' of rows on the same links by H^-1, all of whose rows begin at multiples of 64 bytes. marks: as of
    respond; room: TOGETHER numbers a velocity."""
    cdef int32_t places[MOST]
    cdef double* out[IN_STEP]
    cdef double given[IN_STEP]
    cdef double* force
    cdef const double* j = <const double*>room
    cdef Py_ssize_t base = tree.links[tree.first].v, n, t, i
    cdef int32_t low = MOST, high = 0
    cdef int r, k, begun
    n = push_path(tree, asked, count, 0, marks, room, places, 0)
    n = push_path(tree, asked, count, 1, marks, room, places, n)
    for k in range(2):
        i = asked[0].link[k]
        while i >= 0 and marks[i - tree.first]:
            marks[i - tree.first] = 0
            i = tree.links[i].parent
    for t in range(n):
        low, high = min(low, places[t]), max(high, places[t] + 1)
    for r in range(count):
        force = asked[r].force + base
        for t in range(low, high):
            force[t] = 0.0
        for t in range(n):
            force[places[t]] = j[TOGETHER * t + r]
        asked[r].span[0], asked[r].span[1] = 0, 0
        if n > 0:
            asked[r].span[0], asked[r].span[1] = low, high
            while asked[r].span[0] < asked[r].span[1] and force[asked[r].span[0]] == 0.0:
                asked[r].span[0] += 1
            while asked[r].span[1] > asked[r].span[0] and force[asked[r].span[1] - 1] == 0.0:
                asked[r].span[1] -= 1
    begun = 0
    while begun < count:
        for r in range(IN_STEP):
            out[r] = asked[min(begun + r, count - 1)].out + base
            given[r] = 0.0
        write_sums(inverse, in_eights(tree.size), j + begun, places, n, out, min(count - begun, IN_STEP))
        for t in range(n):
            for r in range(IN_STEP):
                given[r] += j[TOGETHER * t + begun + r] * out[r][places[t]]
        for r in range(min(count - begun, IN_STEP)):
            asked[begun + r].diagonal[0] += given[r]
        begun += IN_STEP
