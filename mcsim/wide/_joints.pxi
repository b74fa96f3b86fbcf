# The wide kernels of the joints' own rows. Included once for every CPU level, after _contacts.pxi; what they read and
# write is told in _joint_blocks.pxd, biases and effective diagonals in stabilize/_stabilize.pyx, the factors and the
# solution of a block in solve/_blocks.pxd. Ball joints have kernels of their own, _ball_joint_rows.pxi.

from mcsim.state._joint cimport Joint
from mcsim.state._row cimport JointRow, JointRows
from mcsim.wide._halves cimport doubled, w_second_half
from mcsim.wide._joint_blocks cimport JointBlock, JointKernels, JointRule, SourceRows, WideRow

cdef enum:
    MOST_JOINT_ROWS = 6

# ---- joints to lanes and back ------------------------------------------------------------------------------------------

cdef void fill_joints(JointBlock* blocks, WideRow* rows, Py_ssize_t k, Py_ssize_t row, const Joint* joints,
                      const int32_t* chosen, int count, const int32_t* begin, int size) noexcept nogil:
    cdef JointBlock* block = &blocks[k]
    cdef const Joint* joint
    cdef int lane
    memset(block, 0, sizeof(JointBlock))
    memset(&rows[row], 0, size * sizeof(WideRow))
    block.row = <int32_t>row
    block.size = size
    for lane in range(8):
        block.joint[lane] = -1
        block.begin[lane] = -MOST_JOINT_ROWS
    clear_ends(&block.ends)
    for lane in range(count):
        joint = &joints[chosen[lane]]
        block.joint[lane] = chosen[lane]
        block.ends.body_a[lane] = joint.body_a
        block.ends.body_b[lane] = joint.body_b
        block.begin[lane] = begin[chosen[lane]]


cdef void load_joints(JointBlock* blocks, WideRow* rows, Py_ssize_t count, const Joint* joints,
                      const Bodies* bodies) noexcept nogil:
    cdef JointBlock* block
    cdef Py_ssize_t k
    cdef int lane, i
    for k in range(count):
        block = &blocks[k]
        load_masses(&block.ends, bodies)
        for lane in range(WIDTH):
            if block.joint[lane] < 0:
                break
            for i in range(block.size):
                put(&rows[block.row + i].impulse, lane, joints[block.joint[lane]].impulse[i])


cdef void store_joint_rows(const JointBlock* blocks, const WideRow* rows, Py_ssize_t count, double doubling,
                           JointRows* out) noexcept nogil:
    cdef const JointBlock* block
    cdef const WideRow* row
    cdef Py_ssize_t k, to
    cdef int lane, i
    for k in range(count):
        block = &blocks[k]
        for lane in range(WIDTH):
            if block.joint[lane] < 0:
                break
            for i in range(block.size):
                row = &rows[block.row + i]
                to = block.begin[lane] + i
                out.row[to].linear = lane3(&row.linear, lane)
                out.row[to].angular_a = lane3(&row.angular_a, lane)
                out.row[to].angular_b = lane3(&row.angular_b, lane)
                out.impulse[to] = lane_of(&row.impulse, lane)
                out.second[to] = doubling * (out.impulse[to] - lane_of(&row.carry, lane))

# ---- once a substep --------------------------------------------------------------------------------------------------

cdef inline void push_rows(WidePair* p, const JointBlock* block, const WideRow* row, int n, const Wide* impulse,
                           Twist* twist) noexcept nogil:
    """v += M^-1 J' impulse, and back into the bodies."""
    cdef Wide3 force = w_scale(impulse[0], row[0].linear)
    cdef Wide3 torque_a = w_scale(impulse[0], row[0].angular_a)
    cdef Wide3 torque_b = w_scale(impulse[0], row[0].angular_b)
    cdef int i
    for i in range(1, n):
        force = w_add_scaled(force, impulse[i], row[i].linear)
        torque_a = w_add_scaled(torque_a, impulse[i], row[i].angular_a)
        torque_b = w_add_scaled(torque_b, impulse[i], row[i].angular_b)
    push(p, &block.ends, force, torque_a, torque_b)
    store_pair(p, &block.ends, twist)


cdef inline void read_rows(JointBlock* block, WideRow* row, const SourceRows* source,
                           const JointRule* rule) noexcept nogil:
    cdef const int32_t* at = block.begin
    cdef const double* base
    cdef Wide error, held, rate, moved, bent
    cdef int i
    for i in range(block.size):
        base = <const double*>(source.rows.row + i)
        row[i].linear = gather3(base, at, JOINT_ROW)
        row[i].angular_a = gather3(base + 3, at, JOINT_ROW)
        row[i].angular_b = gather3(base + 6, at, JOINT_ROW)
        error = gather(source.rows.error + i, at, 1)
        held = gather(source.held + i, at, 1)
        rate = gather(source.rows.rate + i, at, 1)
        moved = splat(rule.error_rate) * error + splat(rule.curvature_rate) * gather(source.curvature + i, at, 1)
        bent = splat(rule.free_rate) * error
        row[i].bias[0] = choose(above(held, splat(0.0)), moved, bent) + rate
        row[i].bias[1] = rate
        row[i].compliance = held * splat(rule.softness)


cdef inline void factor_rows(WideRow* row, const Wide* k, int n, int relaxed, Wide* d) noexcept nogil:
    """L D L' of k (6, 6), its compliances on top in the biased pass; d: (n,) the pivots. One below 1e-12 of its own
    diagonal entry counts as 0: its row's impulse does not change."""
    cdef Wide s, diagonal
    cdef int i, j, q
    for i in range(n):
        for j in range(i + 1):
            s = k[6 * i + j]
            if i == j and not relaxed:
                s = s + row[i].compliance
            diagonal = s
            for q in range(j):
                s = s - row[i].factor[relaxed][q] * d[q] * row[j].factor[relaxed][q]
            if i == j:
                d[i] = choose(above(s, splat(1e-12) * diagonal), s, splat(0.0))
                row[i].factor[relaxed][i] = inverse(d[i])
            else:
                row[i].factor[relaxed][j] = s * row[j].factor[relaxed][j]


cdef inline void soften_rows(WideRow* row, const Wide* d, int n) noexcept nogil:
    """Compliances times 1 / (K^-1)_ii; of a singular K times its diagonal. d: (n,) the pivots of K."""
    cdef Wide back[36]           # L^-1
    cdef Wide trace = splat(0.0)
    cdef Wide least_pivot = d[0]
    cdef Wide s
    cdef int i, j, q
    for i in range(n):
        trace = trace + row[i].diagonal
        least_pivot = least(least_pivot, d[i])
        for j in range(i):
            s = -row[i].factor[1][j]
            for q in range(j + 1, i):
                s = s - row[i].factor[1][q] * back[6 * q + j]
            back[6 * i + j] = s
    for i in range(n):
        s = row[i].factor[1][i]
        for q in range(i + 1, n):
            s = s + back[6 * q + i] * back[6 * q + i] * row[q].factor[1][q]
        s = choose(above(least_pivot * splat(<double>n), splat(1e-12) * trace), splat(1.0) / s, row[i].diagonal)
        row[i].compliance = row[i].compliance * s


cdef inline void weigh_rows(const JointBlock* block, WideRow* row, int n, bint soft) noexcept nogil:
    """Products, compliances, factors."""
    cdef Wide k[36]
    cdef Wide d[6]
    cdef Wide mass = block.ends.inv_mass_a + block.ends.inv_mass_b
    cdef Wide3 spin_a, spin_b
    cdef int i, j
    for j in range(n):
        spin_a = w_times(&block.ends.inv_inertia_a, row[j].angular_a)
        spin_b = w_times(&block.ends.inv_inertia_b, row[j].angular_b)
        for i in range(j, n):
            k[6 * i + j] = (mass * w_dot(row[i].linear, row[j].linear)
                            + w_dot(row[i].angular_a, spin_a) + w_dot(row[i].angular_b, spin_b))
        row[j].diagonal = k[7 * j]
    factor_rows(row, k, n, 1, d)
    if soft:
        soften_rows(row, d, n)
        factor_rows(row, k, n, 0, d)
    else:
        for i in range(n):
            for j in range(i + 1):
                row[i].factor[0][j] = row[i].factor[1][j]


cdef void refresh_joint_blocks(JointBlock* blocks, WideRow* rows, Py_ssize_t count, const Bodies* bodies,
                               const SourceRows* source, const JointRule* rule) noexcept nogil:
    cdef JointBlock* block
    cdef WideRow* row
    cdef bint soft = rule.softness > 0.0
    cdef Py_ssize_t k
    for k in range(count):
        block = &blocks[k]
        row = &rows[block.row]
        load_inertia(&block.ends, bodies)
        read_rows(block, row, source, rule)
        if block.size == 3:
            weigh_rows(block, row, 3, soft)
        else:
            weigh_rows(block, row, block.size, soft)


cdef void warm_joints(JointBlock* blocks, WideRow* rows, Py_ssize_t count, Twist* twist, double kept,
                      double part, bint ended) noexcept nogil:
    cdef Wide doubling = splat(doubled(part))
    cdef WideRow* row
    cdef WidePair p
    cdef Wide impulse[6]
    cdef Py_ssize_t k
    cdef int i
    for k in range(count):
        row = &rows[blocks[k].row]
        for i in range(blocks[k].size):
            if ended:
                row[i].impulse = doubling * (row[i].impulse - row[i].carry)
            row[i].carry = splat((1.0 - part) * kept) * row[i].impulse
            row[i].impulse = splat(part * kept) * row[i].impulse
            impulse[i] = row[i].impulse
        p = load_pair(&blocks[k].ends, twist)
        push_rows(&p, &blocks[k], row, blocks[k].size, impulse, twist)


cdef void give_back_joints(JointBlock* blocks, WideRow* rows, Py_ssize_t count, Twist* twist) noexcept nogil:
    cdef WideRow* row
    cdef WidePair p
    cdef Wide impulse[6]
    cdef Py_ssize_t k
    cdef int i
    for k in range(count):
        row = &rows[blocks[k].row]
        for i in range(blocks[k].size):
            impulse[i] = w_second_half(row[i].impulse, row[i].carry)
            row[i].carry = row[i].impulse
            row[i].impulse = row[i].impulse + impulse[i]
        p = load_pair(&blocks[k].ends, twist)
        push_rows(&p, &blocks[k], row, blocks[k].size, impulse, twist)

# ---- a sweep ---------------------------------------------------------------------------------------------------------

cdef inline void find_residuals(const WideRow* row, const WidePair* p, int n, int relaxed, Wide* w) noexcept nogil:
    """w = J v + bias + compliance * impulse"""
    cdef Wide3 velocity = w_sub(p.vb, p.va)
    cdef Wide s
    cdef int i
    for i in range(n):
        s = (w_dot(row[i].linear, velocity) + row[i].bias[relaxed]
             + (w_dot(row[i].angular_b, p.wb) - w_dot(row[i].angular_a, p.wa)))
        if not relaxed:
            s = s + row[i].compliance * row[i].impulse
        w[i] = s


cdef inline void find_changes(const WideRow* row, int n, int relaxed, const Wide* w, Wide* change) noexcept nogil:
    """-K^-1 w"""
    cdef Wide s
    cdef int i, q
    for i in range(n):
        s = -w[i]
        for q in range(i):
            s = s - row[i].factor[relaxed][q] * change[q]
        change[i] = s
    for i in range(n - 1, -1, -1):
        s = change[i] * row[i].factor[relaxed][i]
        for q in range(i + 1, n):
            s = s - row[q].factor[relaxed][i] * change[q]
        change[i] = s


cdef inline void solve_joints(const JointBlock* block, WideRow* row, int n, Twist* twist, int relaxed,
                              Wide* rate) noexcept nogil:
    """rate: the largest change of a velocity so far. A row's is its residual, but for those that stay out."""
    cdef WidePair p = load_pair(&block.ends, twist)
    cdef Wide w[6]
    cdef Wide change[6]
    cdef int i
    find_residuals(row, &p, n, relaxed, w)
    find_changes(row, n, relaxed, w, change)
    for i in range(n):
        rate[0] = choose(above(row[i].factor[relaxed][i], splat(0.0)), most(rate[0], size_of(w[i])), rate[0])
        row[i].impulse = row[i].impulse + change[i]
    push_rows(&p, block, row, n, change, twist)


cdef double sweep_joints(JointBlock* blocks, WideRow* rows, Py_ssize_t count, Twist* twist,
                         int relaxed) noexcept nogil:
    cdef Wide rate = splat(0.0)
    cdef JointBlock* block
    cdef Py_ssize_t k
    for k in range(count):
        block = &blocks[k]
        if block.size == 3 and relaxed:
            solve_joints(block, &rows[block.row], 3, twist, 1, &rate)
        elif block.size == 3:
            solve_joints(block, &rows[block.row], 3, twist, 0, &rate)
        else:
            solve_joints(block, &rows[block.row], block.size, twist, relaxed, &rate)
    return largest_lane(&rate)


cdef double residual_joints(const JointBlock* blocks, const WideRow* rows, Py_ssize_t count, const Twist* twist,
                            int relaxed) noexcept nogil:
    cdef const WideRow* row
    cdef WidePair p
    cdef Wide w[6]
    cdef Wide largest = splat(0.0)
    cdef Wide d
    cdef Py_ssize_t k
    cdef int i
    for k in range(count):
        row = &rows[blocks[k].row]
        p = load_pair(&blocks[k].ends, twist)
        find_residuals(row, &p, blocks[k].size, relaxed, w)
        for i in range(blocks[k].size):
            d = row[i].diagonal if relaxed else row[i].diagonal + row[i].compliance
            largest = most(largest, size_of(w[i] * inverse(d)))
    return largest_lane(&largest)


cdef JointKernels JOINT_KERNELS
JOINT_KERNELS.width = WIDTH
JOINT_KERNELS.block_size = sizeof(JointBlock)
JOINT_KERNELS.row_size = sizeof(WideRow)
JOINT_KERNELS.fill = fill_joints
JOINT_KERNELS.load = load_joints
JOINT_KERNELS.refresh = refresh_joint_blocks
JOINT_KERNELS.warm_start = warm_joints
JOINT_KERNELS.give_back = give_back_joints
JOINT_KERNELS.sweep = sweep_joints
JOINT_KERNELS.residual = residual_joints
JOINT_KERNELS.store = store_joint_rows


def joint_kernels():
    """The table of this level's kernels of joints, for _joints.pyx."""
    return PyCapsule_New(&JOINT_KERNELS, "mcsim.wide.joints", NULL)
