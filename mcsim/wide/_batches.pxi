# The wide kernels of articulations that stand side by side. Included once for every CPU level, after
# _direct_balls.pxi; what they read and write is told in _batches.pxd, the equations in constraints/_direct.pyx and
# solve/_tree.pyx.
#
# The rows of a joint: its point, along the axes of the world, as of a ball joint; and of a hinge that z_b is parallel
# to z_a (constraints/_parts.pxd, constrain_parallel).

from mcsim.state._joint cimport LEAN
from mcsim.wide._batches cimport (BATCH_FREE, BATCH_LOOSE, Batch, BatchEntry, BatchKernels, BatchNode, BatchShape,
                                BatchUpdate)

cdef enum:
    FIXED_NUMBERS = 18
    LENGTH = 15                  # where the joint's length stands among them, and its push
    PUSH = 16
    ARM_NUMBERS = 12
    SPIN_NUMBERS = 15            # of a side
    MASS_NUMBERS = 7
    MOTION_NUMBERS = 12

# ---- poses -----------------------------------------------------------------------------------------------------------

cdef inline void load_poses(const Batch* batch, const Bodies* bodies) noexcept nogil:
    """Positions and orientations into `motions`."""
    cdef Wide* out = <Wide*>batch.motions
    cdef int k
    for k in range(batch.shape.body_count):
        gather_three(<const double*>bodies.position, batch.body + 8 * k, 3, out)
        gather_four(<const double*>bodies.orientation, batch.body + 8 * k, 4, out + 3)
        out += MOTION_NUMBERS


cdef inline WideQuat quat_of(const Wide* pose) noexcept nogil:
    cdef WideQuat q
    q.w = pose[3]
    q.x = pose[4]
    q.y = pose[5]
    q.z = pose[6]
    return q


cdef inline Wide3 three(const Wide* x) noexcept nogil:
    return wide3(x[0], x[1], x[2])


cdef inline void put_three(Wide3 a, Wide* x) noexcept nogil:
    x[0] = a.x
    x[1] = a.y
    x[2] = a.z


cdef inline void batch_errors(const BatchNode* node, const Wide* fixed, const Wide* a, const Wide* b, Wide* error,
                             Wide* arms) noexcept nogil:
    """error (size,) of a joint between the poses a and b; arms: its arms and directions, or NULL."""
    cdef WideQuat qa = quat_of(a)
    cdef WideQuat qb = quat_of(b)
    cdef Wide3 arm = w_rotate(qb, three(fixed + 3))
    cdef Wide3 point = w_add(three(b), arm)
    cdef Wide3 x, y, z, up
    cdef Wide upright, rise, first, second
    cdef Mask over
    put_three(w_sub(point, w_add(three(a), w_rotate(qa, three(fixed)))), error)
    if arms != NULL:
        put_three(w_sub(point, three(a)), arms)
        put_three(arm, arms + 3)
    if node.size == 5:
        x = w_rotate(qa, three(fixed + 6))
        y = w_rotate(qa, three(fixed + 9))
        z = w_rotate(qb, three(fixed + 12))
        up = w_cross(x, y)
        upright = splat(1.0) + w_dot(up, z)
        over = above(splat(0.5 / LEAN / LEAN), upright)
        if any_lane(over):
            z = w_add_scaled(z, choose(over, splat(1.0 / LEAN), splat(0.0)), x)
            upright = choose(over, splat(0.5 / LEAN / LEAN), upright)
        rise = splat(2.0) / upright
        first = w_dot(x, z)
        second = w_dot(y, z)
        error[3] = rise * first
        error[4] = rise * second
        if arms != NULL:
            up = w_cross(z, w_scale(splat(0.5) * rise * rise, up))
            put_three(w_sub(w_scale(rise, w_cross(z, x)), w_scale(first, up)), arms + 6)
            put_three(w_sub(w_scale(rise, w_cross(z, y)), w_scale(second, up)), arms + 9)


cdef inline Wide widest_way(const Wide* error) noexcept nogil:
    """How far its points are apart."""
    return length_of(three(error))


cdef inline Wide widest_angle(const Wide* error) noexcept nogil:
    """And the error of a hinge's axes."""
    return root(error[3] * error[3] + error[4] * error[4])


cdef inline Wide widest_of(const BatchNode* node, const Wide* fixed, const Wide* error) noexcept nogil:
    """The largest of all, an angle as a way."""
    cdef Wide widest = widest_way(error)
    return most(widest, fixed[LENGTH] * widest_angle(error)) if node.size == 5 else widest


cdef double write_batches(const Batch* batches, Py_ssize_t count, const Bodies* bodies, JointRows* rows) noexcept nogil:
    cdef Wide largest = splat(0.0)
    cdef const Batch* batch
    cdef const BatchNode* node
    cdef const Wide* poses
    cdef const Wide* fixed
    cdef Wide* error
    cdef Py_ssize_t n
    cdef int k
    for n in range(count):
        batch = &batches[n]
        load_poses(batch, bodies)
        poses = <const Wide*>batch.motions
        for k in range(batch.shape.node_count):
            node = &batch.shape.nodes[k]
            fixed = <const Wide*>batch.fixed + FIXED_NUMBERS * k
            error = <Wide*>(rows.error + batch.first) + node.row
            batch_errors(node, fixed, poses + MOTION_NUMBERS * node.a, poses + MOTION_NUMBERS * node.b, error,
                        <Wide*>batch.arms + ARM_NUMBERS * k)
            largest = most(largest, widest_of(node, fixed, error))
    return largest_lane(&largest)


cdef inline Wide miss_batch(const Batch* batch, JointRows* rows, double h) noexcept nogil:
    """With the poses in `motions`. -> the largest of each lane"""
    cdef Wide rate = splat(1.0 / h)
    cdef Wide largest = splat(0.0)
    cdef Wide needed
    cdef Wide off[5]
    cdef Mask wide
    cdef const BatchNode* node
    cdef const Wide* poses = <const Wide*>batch.motions
    cdef const Wide* fixed
    cdef const Wide* error
    cdef Wide* bias
    cdef int k, i
    for k in range(batch.shape.node_count):
        node = &batch.shape.nodes[k]
        fixed = <const Wide*>batch.fixed + FIXED_NUMBERS * k
        error = <const Wide*>(rows.error + batch.first) + node.row
        bias = <Wide*>(rows.bias + batch.first) + node.row
        batch_errors(node, fixed, poses + MOTION_NUMBERS * node.a, poses + MOTION_NUMBERS * node.b, off, NULL)
        needed = widest_way(error) / fixed[PUSH]
        if node.size == 5:
            needed = most(needed, widest_angle(error) / fixed[PUSH + 1])
        wide = above(needed, splat(h))
        if any_lane(wide):
            needed = choose(wide, splat(h) / needed - splat(1.0), splat(0.0))       # minus the part that stays
            for i in range(node.size):
                off[i] = off[i] + needed * error[i]
        for i in range(node.size):
            bias[i] = rate * off[i]
        largest = most(largest, widest_of(node, fixed, off))
    (<Wide*>batch.off)[0] = largest
    wide = above(largest, (<const Wide*>batch.near)[0])
    (<Wide*>batch.loose)[0] = choose(wide, splat(1.0), splat(0.0))
    batch.loose[WIDTH] = any_lane(wide)
    return largest


cdef void miss_batches(const Batch* batches, Py_ssize_t count, const Bodies* bodies, JointRows* rows, double h,
                     bint again) noexcept nogil:
    cdef Py_ssize_t n
    for n in range(count):
        if not again or batches[n].loose[WIDTH] > 0.0:
            load_poses(&batches[n], bodies)
            miss_batch(&batches[n], rows, h)


cdef void load_batches(const Batch* batches, Py_ssize_t count, const Bodies* bodies) noexcept nogil:
    cdef Wide6* out
    cdef Py_ssize_t n
    cdef int k
    for n in range(count):
        out = <Wide6*>batches[n].inertia
        for k in range(batches[n].shape.moving_count):
            out[2 * k] = gather_inertia(<const double*>bodies.inertia, batches[n].body + 8 * k)
            out[2 * k + 1] = gather_inertia(<const double*>bodies.inv_inertia, batches[n].body + 8 * k)


cdef void keep_batches(const Batch* batches, Py_ssize_t count, const Bodies* bodies) noexcept nogil:
    cdef Wide* out
    cdef Py_ssize_t n
    cdef int k
    for n in range(count):
        out = <Wide*>batches[n].start
        for k in range(batches[n].shape.moving_count):
            gather_three(<const double*>bodies.position, batches[n].body + 8 * k, 3, out)
            gather_four(<const double*>bodies.orientation, batches[n].body + 8 * k, 4, out + 3)
            out += 7


cdef inline bint drift_batch(const Batch* batch, Bodies* bodies, double h, bint store) noexcept nogil:
    """Poses at the drift's end into `motions`, as turn_bodies (_bodies.pxi) has them. -> whether one piece suffices"""
    cdef Wide* out = <Wide*>batch.motions
    cdef const Wide* start = <const Wide*>batch.start
    cdef const Wide6* inertia = <const Wide6*>batch.inertia
    cdef const int32_t* body = batch.body
    cdef WideQuat q
    cdef Wide3 v, w, momentum
    cdef Wide w2
    cdef int k
    for k in range(batch.shape.moving_count):
        gather_twist(<const double*>bodies.twist, body, &v, &w)
        q = quat_of(start)
        w = w_rotate_back(q, w)
        momentum = w_times(inertia, w)
        w2 = w_dot(w, w)
        if any_lane(turns_far(w2, h)):
            return False
        put_three(w_add_scaled(three(start), splat(h), v), out)
        (<WideQuat*>(out + 3))[0] = turned_once(q, inertia, inertia + 1, w, momentum, w2, splat(h))
        if store:
            scatter3(three(out), <double*>bodies.position, body, 3)
            scatter_quat((<WideQuat*>(out + 3))[0], <double*>bodies.orientation, body)
        out += MOTION_NUMBERS
        start += 7
        inertia += 2
        body += 8
    for k in range(batch.shape.moving_count, batch.shape.body_count):
        gather_three(<const double*>bodies.position, body, 3, out)
        gather_four(<const double*>bodies.orientation, body, 4, out + 3)
        out += MOTION_NUMBERS
        body += 8
    return True


cdef int drift_batches(const Batch* batches, Py_ssize_t count, Bodies* bodies, JointRows* rows, double h,
                     bint again, bint store) noexcept nogil:
    cdef Py_ssize_t n
    for n in range(count):
        if not again or batches[n].loose[WIDTH] > 0.0:
            if not drift_batch(&batches[n], bodies, h, store):
                return 0
            miss_batch(&batches[n], rows, h)
    return 1

# ---- the factor ------------------------------------------------------------------------------------------------------

cdef inline Wide6 inertia_of(const Wide* mass) noexcept nogil:
    cdef Wide6 m
    m.xx = mass[1]
    m.xy = mass[2]
    m.xz = mass[3]
    m.yy = mass[4]
    m.yz = mass[5]
    m.zz = mass[6]
    return m


cdef inline void load_batch_masses(const Batch* batch, const Bodies* bodies) noexcept nogil:
    cdef Wide* out = <Wide*>batch.masses
    cdef Wide6 m
    cdef int k
    for k in range(batch.shape.body_count):
        out[0] = gather(bodies.inv_mass, batch.body + 8 * k, 1)
        m = gather_inertia(<const double*>bodies.inv_inertia_world, batch.body + 8 * k)
        out[1] = m.xx
        out[2] = m.xy
        out[3] = m.xz
        out[4] = m.yy
        out[5] = m.yz
        out[6] = m.zz
        out += MASS_NUMBERS


cdef inline void side_rows(const Wide* arms, int side, int size, Wide3* out) noexcept nogil:
    """The angular Jacobians of a joint's rows on one side."""
    angular_rows(three(arms + 3 * side), out)
    if size == 5:
        out[3] = three(arms + 6)
        out[4] = three(arms + 9)


cdef inline void batch_diagonal(const Batch* batch, const BatchNode* node, int k, int m) noexcept nogil:
    """I^-1 J' and the diagonal block of a node."""
    cdef Wide* d = <Wide*>batch.values + node.diagonal
    cdef Wide* spins
    cdef const Wide* mass
    cdef Wide3 angular[5]
    cdef Wide3 spin
    cdef Wide6 inertia
    cdef int side, p, q
    for p in range(m * m):
        d[p] = splat(0.0)
    for side in range(2):
        if not node.sides >> side & 1:
            continue
        mass = <const Wide*>batch.masses + MASS_NUMBERS * (node.b if side else node.a)
        inertia = inertia_of(mass)
        spins = <Wide*>batch.spins + SPIN_NUMBERS * (2 * k + side)
        side_rows(<const Wide*>batch.arms + ARM_NUMBERS * k, side, m, angular)
        for q in range(m):
            spin = w_times(&inertia, angular[q])
            put_three(spin, spins + 3 * q)
            for p in range(q, m):
                d[m * p + q] = d[m * p + q] + w_dot(angular[p], spin)
        for p in range(3):
            d[(m + 1) * p] = d[(m + 1) * p] + mass[0]
    for p in range(m):
        (<Wide*>batch.scale)[node.row + p] = d[(m + 1) * p]
        for q in range(p):
            d[m * q + p] = d[m * p + q]


cdef inline void batch_coupling(const Batch* batch, const BatchEntry* entry, int column, int n, int m) noexcept nogil:
    """The block of a node's column in the row of another joint at one of its bodies."""
    cdef Wide* block = <Wide*>batch.values + entry.value
    cdef const Wide* spins = <const Wide*>batch.spins + SPIN_NUMBERS * (2 * column + entry.column_side)
    cdef Wide mass = (<const Wide*>batch.masses)[MASS_NUMBERS * entry.body]
    cdef Wide sign = splat(1.0 if entry.row_side == entry.column_side else -1.0)
    cdef Wide3 angular[5]
    cdef Wide x
    cdef int p, q
    side_rows(<const Wide*>batch.arms + ARM_NUMBERS * entry.node, entry.row_side, n, angular)
    for p in range(n):
        for q in range(m):
            x = w_dot(angular[p], three(spins + 3 * q))
            if p == q and p < 3:
                x = mass + x
            block[m * p + q] = sign * x


cdef inline void batch_invert(Wide* d, const Wide* scale, int m) noexcept nogil:
    """d <- d^-1 by sweeps (solve/_tree.pyx, invert_block)."""
    cdef Wide pivot, f
    cdef int i, j, p
    for p in range(m):
        pivot = d[(m + 1) * p]
        pivot = choose(above(pivot, splat(1e-12) * scale[p]), splat(1.0) / pivot, splat(0.0))
        d[(m + 1) * p] = splat(1.0)
        for j in range(m):
            d[m * p + j] = d[m * p + j] * pivot
        for i in range(m):
            if i != p:
                f = d[m * i + p]
                d[m * i + p] = splat(0.0)
                for j in range(m):
                    d[m * i + j] = d[m * i + j] - f * d[m * p + j]


cdef inline void batch_scale(Wide* out, const Wide* x, const Wide* d, int n, int m) noexcept nogil:
    """out = x d, d symmetric (m, m)"""
    cdef Wide s
    cdef int p, q, k
    for p in range(n):
        for q in range(m):
            s = x[m * p] * d[m * q]
            for k in range(1, m):
                s = s + x[m * p + k] * d[m * q + k]
            out[m * p + q] = s


cdef inline void batch_subtract(Wide* out, const Wide* x, const Wide* y, int n, int c, int m) noexcept nogil:
    """out -= x y', out (n, c), x (n, m), y (c, m)"""
    cdef Wide s
    cdef int p, q, k
    for p in range(n):
        for q in range(c):
            s = out[c * p + q]
            for k in range(m):
                s = s - x[m * p + k] * y[m * q + k]
            out[c * p + q] = s


cdef inline void batch_eliminate(const Batch* batch, const BatchNode* node, int m) noexcept nogil:
    """A column of L, and what it leaves in the columns behind it."""
    cdef const BatchShape* shape = batch.shape
    cdef Wide* values = <Wide*>batch.values
    cdef Wide* scaled = <Wide*>batch.scaled
    cdef const BatchEntry* entry
    cdef const BatchUpdate* update
    cdef Wide* out
    cdef const Wide* left
    cdef int e, u
    batch_invert(values + node.diagonal, <const Wide*>batch.scale + node.row, m)
    for e in range(node.entry, node.entry_end):
        entry = &shape.entries[e]
        if shape.nodes[entry.node].size == 3:
            batch_scale(scaled + entry.value, values + entry.value, values + node.diagonal, 3, m)
        else:
            batch_scale(scaled + entry.value, values + entry.value, values + node.diagonal, 5, m)
    for e in range(node.entry, node.entry_end):
        entry = &shape.entries[e]
        for u in range(entry.update, entry.update_end):
            update = &shape.updates[u]
            out = values + update.target
            left = values + shape.entries[update.left].value
            if update.rows == 3 and update.columns == 3:
                batch_subtract(out, left, scaled + entry.value, 3, 3, m)
            elif update.rows == 5 and update.columns == 5:
                batch_subtract(out, left, scaled + entry.value, 5, 5, m)
            else:
                batch_subtract(out, left, scaled + entry.value, update.rows, update.columns, m)


cdef void factor_batches(const Batch* batches, Py_ssize_t count, const Bodies* bodies) noexcept nogil:
    cdef const Batch* batch
    cdef const BatchNode* node
    cdef Py_ssize_t n
    cdef int k, e
    for n in range(count):
        batch = &batches[n]
        load_batch_masses(batch, bodies)
        for k in range(batch.shape.node_count):
            node = &batch.shape.nodes[k]
            if node.size == 3:
                batch_diagonal(batch, node, k, 3)
            else:
                batch_diagonal(batch, node, k, 5)
            for e in range(node.entry, node.entry_end):
                batch_coupling(batch, &batch.shape.entries[e], k, batch.shape.nodes[batch.shape.entries[e].node].size,
                              node.size)
        for k in range(batch.shape.node_count):
            node = &batch.shape.nodes[k]
            if node.size == 3:
                batch_eliminate(batch, node, 3)
            else:
                batch_eliminate(batch, node, 5)

# ---- a solve ---------------------------------------------------------------------------------------------------------
# `motions` of a body: its twist, then the impulse on it and its moment.

cdef inline void load_twists(const Batch* batch, const Twist* twist) noexcept nogil:
    cdef Wide* out = <Wide*>batch.motions
    cdef int k, i
    for k in range(batch.shape.body_count):
        gather6(<const double*>twist, batch.body + 8 * k, out)
        for i in range(6, 12):
            out[i] = splat(0.0)
        out += MOTION_NUMBERS


cdef inline void find_rates(const Batch* batch, const BatchNode* node, int k, int m, Wide* rate) noexcept nogil:
    """J v of a joint."""
    cdef const Wide* arms = <const Wide*>batch.arms + ARM_NUMBERS * k
    cdef const Wide* a = <const Wide*>batch.motions + MOTION_NUMBERS * node.a
    cdef const Wide* b = <const Wide*>batch.motions + MOTION_NUMBERS * node.b
    cdef Wide3 turning
    put_three(w_sub(w_sub(three(b), w_cross(three(arms + 3), three(b + 3))),
                    w_sub(three(a), w_cross(three(arms), three(a + 3)))), rate)
    if m == 5:
        turning = w_sub(three(b + 3), three(a + 3))
        rate[3] = w_dot(three(arms + 6), turning)
        rate[4] = w_dot(three(arms + 9), turning)


cdef inline void push_joint(const Batch* batch, const BatchNode* node, int k, int m, const Wide* x) noexcept nogil:
    """J' x onto the impulses of its two bodies."""
    cdef const Wide* arms = <const Wide*>batch.arms + ARM_NUMBERS * k
    cdef Wide* a = <Wide*>batch.motions + MOTION_NUMBERS * node.a + 6
    cdef Wide* b = <Wide*>batch.motions + MOTION_NUMBERS * node.b + 6
    cdef Wide3 force = three(x)
    cdef Wide3 moment
    put_three(w_sub(three(a), force), a)
    put_three(w_add(three(b), force), b)
    if m == 5:
        moment = w_add_scaled(w_scale(x[3], three(arms + 6)), x[4], three(arms + 9))
        put_three(w_sub(three(a + 3), w_add(w_cross(three(arms), force), moment)), a + 3)
        put_three(w_add(three(b + 3), w_add(w_cross(three(arms + 3), force), moment)), b + 3)
    else:
        put_three(w_sub(three(a + 3), w_cross(three(arms), force)), a + 3)
        put_three(w_add(three(b + 3), w_cross(three(arms + 3), force)), b + 3)


cdef inline void store_twists(const Batch* batch, Twist* twist, Mask wanted) noexcept nogil:
    """Twists by the impulses on the bodies, and back into their records; in the lanes that are `wanted`."""
    cdef Wide* body = <Wide*>batch.motions
    cdef const Wide* mass = <const Wide*>batch.masses
    cdef Wide6 inertia
    cdef int k
    for k in range(batch.shape.moving_count):
        inertia = inertia_of(mass)
        put_three(w_choose(wanted, w_add_scaled(three(body), mass[0], three(body + 6)), three(body)), body)
        put_three(w_choose(wanted, w_add(three(body + 3), w_times(&inertia, three(body + 9))), three(body + 3)), body + 3)
        scatter6(body, <double*>twist, batch.body + 8 * k)
        body += MOTION_NUMBERS
        mass += MASS_NUMBERS


cdef inline void batch_forward(const Wide* l, const Wide* a, Wide* b, int n, int m) noexcept nogil:
    """b -= L a"""
    cdef Wide s
    cdef int p, q
    for p in range(n):
        s = b[p]
        for q in range(m):
            s = s - l[m * p + q] * a[q]
        b[p] = s


cdef inline void batch_backward(const Wide* l, Wide* a, const Wide* b, int n, int m) noexcept nogil:
    """a -= L' b"""
    cdef Wide s
    cdef int p, q
    for q in range(m):
        s = a[q]
        for p in range(n):
            s = s - l[m * p + q] * b[p]
        a[q] = s


cdef inline void forward_batch(const Batch* batch, const BatchNode* node, int m) noexcept nogil:
    cdef const BatchShape* shape = batch.shape
    cdef const BatchNode* other
    cdef const Wide* scaled = <const Wide*>batch.scaled
    cdef Wide* x = <Wide*>batch.x
    cdef int e
    for e in range(node.entry, node.entry_end):
        other = &shape.nodes[shape.entries[e].node]
        if other.size == 3:
            batch_forward(scaled + shape.entries[e].value, x + node.row, x + other.row, 3, m)
        else:
            batch_forward(scaled + shape.entries[e].value, x + node.row, x + other.row, 5, m)


cdef inline void backward_batch(const Batch* batch, const BatchNode* node, int m) noexcept nogil:
    cdef const BatchShape* shape = batch.shape
    cdef const BatchNode* other
    cdef const Wide* scaled = <const Wide*>batch.scaled
    cdef const Wide* inverse = <const Wide*>batch.values + node.diagonal
    cdef Wide* x = <Wide*>batch.x
    cdef Wide a[5]
    cdef Wide s
    cdef int e, p, q
    for p in range(m):
        s = inverse[m * p] * x[node.row]
        for q in range(1, m):
            s = s + inverse[m * p + q] * x[node.row + q]
        a[p] = s
    for e in range(node.entry, node.entry_end):
        other = &shape.nodes[shape.entries[e].node]
        if other.size == 3:
            batch_backward(scaled + shape.entries[e].value, a, x + other.row, 3, m)
        else:
            batch_backward(scaled + shape.entries[e].value, a, x + other.row, 5, m)
    for p in range(m):
        x[node.row + p] = a[p]


cdef void solve_batches(const Batch* batches, Py_ssize_t count, Twist* twist, JointRows* rows, int which) noexcept nogil:
    cdef const Batch* batch
    cdef const BatchNode* node
    cdef const Wide* bias
    cdef Wide* impulse
    cdef Wide* x
    cdef Mask wanted
    cdef Py_ssize_t n
    cdef int k, i
    for n in range(count):
        batch = &batches[n]
        wanted = above((<const Wide*>(batch.loose if which == BATCH_LOOSE else batch.swept))[0], splat(0.5))
        if which == BATCH_FREE:
            wanted = above(splat(0.5), (<const Wide*>batch.swept)[0])
        if not any_lane(wanted):
            continue
        x = <Wide*>batch.x
        bias = <const Wide*>(rows.bias + batch.first)
        impulse = <Wide*>(rows.impulse + batch.first)
        load_twists(batch, twist)
        for k in range(batch.shape.node_count if which != BATCH_LOOSE else 0):
            node = &batch.shape.nodes[k]
            if node.size == 3:
                find_rates(batch, node, k, 3, x + node.row)
            else:
                find_rates(batch, node, k, 5, x + node.row)
        for i in range(batch.shape.row_count):
            x[i] = -bias[i] if which == BATCH_LOOSE else -(x[i] + bias[i])
        for k in range(batch.shape.node_count):
            node = &batch.shape.nodes[k]
            if node.size == 3:
                forward_batch(batch, node, 3)
            else:
                forward_batch(batch, node, 5)
        for k in range(batch.shape.node_count - 1, -1, -1):
            node = &batch.shape.nodes[k]
            if node.size == 3:
                backward_batch(batch, node, 3)
                push_joint(batch, node, k, 3, x + node.row)
            else:
                backward_batch(batch, node, 5)
                push_joint(batch, node, k, 5, x + node.row)
        for i in range(batch.shape.row_count):
            impulse[i] = choose(wanted, impulse[i] + x[i], impulse[i])
        store_twists(batch, twist, wanted)


cdef void push_batches(const Batch* batches, Py_ssize_t count, Twist* twist, JointRows* rows, bint twice) noexcept nogil:
    cdef const Batch* batch
    cdef const BatchNode* node
    cdef Wide* impulse
    cdef Mask wanted
    cdef Py_ssize_t n
    cdef int k, i
    for n in range(count):
        batch = &batches[n]
        impulse = <Wide*>(rows.impulse + batch.first)
        wanted = above((<const Wide*>batch.swept)[0], splat(0.5 if twice else -1.0))
        if not any_lane(wanted):
            continue
        load_twists(batch, twist)
        for k in range(batch.shape.node_count):
            node = &batch.shape.nodes[k]
            push_joint(batch, node, k, node.size, impulse + node.row)
        store_twists(batch, twist, wanted)
        if twice:
            for i in range(batch.shape.row_count):
                impulse[i] = choose(wanted, impulse[i] + impulse[i], impulse[i])


cdef void aim_batches(const Batch* batches, Py_ssize_t count, const Twist* twist, JointRows* rows,
                      double far) noexcept nogil:
    cdef const Batch* batch
    cdef const BatchNode* node
    cdef Wide rate[5]
    cdef Wide* bias
    cdef Mask near
    cdef Py_ssize_t n
    cdef int k, i
    for n in range(count):
        batch = &batches[n]
        near = above(splat(far) * (<const Wide*>batch.near)[0], (<const Wide*>batch.off)[0])
        load_twists(batch, twist)
        for k in range(batch.shape.node_count):
            node = &batch.shape.nodes[k]
            find_rates(batch, node, k, node.size, rate)
            bias = <Wide*>(rows.bias + batch.first) + node.row
            for i in range(node.size):
                bias[i] = choose(near, bias[i] - rate[i], splat(0.0))


cdef double residual_batches(const Batch* batches, Py_ssize_t count, const Twist* twist,
                           const JointRows* rows) noexcept nogil:
    cdef const Batch* batch
    cdef const BatchNode* node
    cdef Wide rate[5]
    cdef Wide largest = splat(0.0)
    cdef Py_ssize_t n
    cdef int k, i
    for n in range(count):
        batch = &batches[n]
        load_twists(batch, twist)
        for k in range(batch.shape.node_count):
            node = &batch.shape.nodes[k]
            find_rates(batch, node, k, node.size, rate)
            for i in range(node.size):
                rate[i] = rate[i] + (<const Wide*>(rows.bias + batch.first))[node.row + i]
                largest = most(largest, size_of(rate[i]) * inverse((<const Wide*>batch.scale)[node.row + i]))
    return largest_lane(&largest)


cdef void give_batches(const Batch* batches, Py_ssize_t count, JointRows* rows) noexcept nogil:
    cdef double* out = <double*>rows.row
    cdef Wide zero = splat(0.0)
    cdef Wide one = splat(1.0)
    cdef Wide3 linear[5]
    cdef Wide3 a[5]
    cdef Wide3 b[5]
    cdef const Batch* batch
    cdef const BatchNode* node
    cdef const int32_t* at
    cdef Py_ssize_t n
    cdef int k, i
    linear[0] = wide3(one, zero, zero)
    linear[1] = wide3(zero, one, zero)
    linear[2] = wide3(zero, zero, one)
    linear[3] = linear[4] = wide3(zero, zero, zero)
    for n in range(count):
        batch = &batches[n]
        for k in range(batch.shape.node_count):
            node = &batch.shape.nodes[k]
            at = batch.record + 8 * k
            side_rows(<const Wide*>batch.arms + ARM_NUMBERS * k, 0, node.size, a)
            side_rows(<const Wide*>batch.arms + ARM_NUMBERS * k, 1, node.size, b)
            for i in range(node.size):
                scatter3(linear[i], out + JOINT_ROW * i, at, 1)
                scatter3(a[i], out + JOINT_ROW * i + ANGULAR_A, at, 1)
                scatter3(b[i], out + JOINT_ROW * i + ANGULAR_B, at, 1)


cdef void give_impulses_of_batches(const Batch* batches, Py_ssize_t count, JointRows* rows) noexcept nogil:
    cdef const Batch* batch
    cdef const BatchNode* node
    cdef Py_ssize_t n, from_row
    cdef int k, i
    for n in range(count):
        batch = &batches[n]
        for k in range(batch.shape.node_count):
            node = &batch.shape.nodes[k]
            for i in range(node.size):
                from_row = batch.first + WIDTH * (node.row + i)
                scatter((<const Wide*>(rows.impulse + from_row))[0], rows.impulse + i, batch.number + 8 * k, 1)
                scatter((<const Wide*>(rows.second + from_row))[0], rows.second + i, batch.number + 8 * k, 1)


cdef void keep_parts_of_batches(const Batch* batches, Py_ssize_t count, JointRows* rows, const double* base,
                              const double* part) noexcept nogil:
    cdef const Batch* batch
    cdef const Wide* start
    cdef Wide* impulse
    cdef Wide kept
    cdef Mask doubtful
    cdef Py_ssize_t n
    cdef int k
    for n in range(count):
        batch = &batches[n]
        kept = splat(1.0)
        for k in range(batch.shape.body_count):
            kept = least(kept, gather(part, batch.body + 8 * k, 1))
        doubtful = above(splat(1.0), kept)
        if not any_lane(doubtful):
            continue
        impulse = <Wide*>(rows.impulse + batch.first)
        start = <const Wide*>(base + batch.first)
        for k in range(batch.shape.row_count):
            impulse[k] = choose(doubtful, start[k] + kept * (impulse[k] - start[k]), impulse[k])


cdef BatchKernels BATCH_KERNELS
BATCH_KERNELS.width = WIDTH
BATCH_KERNELS.keep_parts = keep_parts_of_batches
BATCH_KERNELS.write = write_batches
BATCH_KERNELS.miss = miss_batches
BATCH_KERNELS.drift = drift_batches
BATCH_KERNELS.load = load_batches
BATCH_KERNELS.keep = keep_batches
BATCH_KERNELS.factor = factor_batches
BATCH_KERNELS.solve = solve_batches
BATCH_KERNELS.push = push_batches
BATCH_KERNELS.aim = aim_batches
BATCH_KERNELS.residual = residual_batches
BATCH_KERNELS.give = give_batches
BATCH_KERNELS.give_impulses = give_impulses_of_batches


def batch_kernels():
    """The table of this level's kernels of articulations side by side, for _batches.pyx."""
    return PyCapsule_New(&BATCH_KERNELS, "mcsim.wide.batches", NULL)
