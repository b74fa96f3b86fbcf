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

include "_batch_poses.pxi"
include "_batch_factor.pxi"

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
