# The wide kernels of plain ball joints, the commonest. Included once for every CPU level, after _joints.pxi.
#
# The three rows of a ball joint span the space, so they are solved in world axes: J v is the velocity u of the joint
# point on b less that on a, the block is K = (1/m_a + 1/m_b) 1 - [r_a] I_a^-1 [r_a] - [r_b] I_b^-1 [r_b], and half of
# what rows would need is read in a sweep. Compliances belong to the joint axes d_i on a, C = sum c_i d_i d_i', and so do
# the impulses from pose to pose: they turn with a.

from mcsim.core._math cimport mat_column, quat_matrix
from mcsim.wide._joint_blocks cimport BallJointRows, BallRowKernels

cdef void fill_balls(BallJointRows* blocks, Py_ssize_t k, const Joint* joints, const int32_t* chosen, int count,
                     const int32_t* begin) noexcept nogil:
    cdef BallJointRows* block = &blocks[k]
    cdef const Joint* joint
    cdef int lane, i
    memset(block, 0, sizeof(BallJointRows))
    for lane in range(8):
        block.joint[lane] = -1
    clear_ends(&block.ends)
    for lane in range(count):
        joint = &joints[chosen[lane]]
        block.joint[lane] = chosen[lane]
        block.ends.body_a[lane] = joint.body_a
        block.ends.body_b[lane] = joint.body_b
        block.begin[lane] = begin[chosen[lane]]
        put3(&block.anchor_a, lane, joint.anchor_a)
        put3(&block.anchor_b, lane, joint.anchor_b)
        for i in range(3):
            put3(&block.basis_a[i], lane, mat_column(quat_matrix(joint.basis_a), i))


cdef void load_balls(BallJointRows* blocks, Py_ssize_t count, const Joint* joints, const Bodies* bodies) noexcept nogil:
    """The impulses are still in joint axes: these become what the first refresh finds."""
    cdef Wide zero = splat(0.0)
    cdef Wide one = splat(1.0)
    cdef const double* impulse
    cdef BallJointRows* block
    cdef Py_ssize_t k
    cdef int lane
    for k in range(count):
        block = &blocks[k]
        load_masses(&block.ends, bodies)
        block.axes[0] = wide3(one, zero, zero)
        block.axes[1] = wide3(zero, one, zero)
        block.axes[2] = wide3(zero, zero, one)
        for lane in range(WIDTH):
            if block.joint[lane] < 0:
                break
            impulse = &joints[block.joint[lane]].impulse[0]
            put3(&block.impulse, lane, vec3(impulse[0], impulse[1], impulse[2]))


cdef void store_balls(const BallJointRows* blocks, Py_ssize_t count, double doubling, JointRows* out) noexcept nogil:
    cdef const BallJointRows* block
    cdef Vec3 impulse, first, arm, d
    cdef Py_ssize_t k, to
    cdef int lane, i
    for k in range(count):
        block = &blocks[k]
        for lane in range(WIDTH):
            if block.joint[lane] < 0:
                break
            impulse = lane3(&block.impulse, lane)
            first = lane3(&block.carry, lane)
            arm = lane3(&block.arm_b, lane)
            for i in range(3):
                to = block.begin[lane] + i
                d = lane3(&block.axes[i], lane)
                out.row[to].linear = d
                out.row[to].angular_b = cross(arm, d)
                out.impulse[to] = dot(d, impulse)
                out.second[to] = doubling * (out.impulse[to] - (first.x if i == 0 else first.y if i == 1 else first.z))

# ---- once a substep --------------------------------------------------------------------------------------------------

cdef inline void push_ball(WidePair* p, const BallJointRows* block, Wide3 impulse, Twist* twist) noexcept nogil:
    """v += M^-1 J' impulse, and back into the bodies."""
    push(p, &block.ends, impulse, w_cross(block.arm_a, impulse), w_cross(block.arm_b, impulse))
    store_pair(p, &block.ends, twist)


cdef inline void add_arm(Wide6* k, Wide3 r, const Wide6* m) noexcept nogil:
    """k += [r]' m [r]"""
    cdef Wide3 t = wide3(m.xy * r.z - m.xz * r.y, m.yy * r.z - m.yz * r.y, m.yz * r.z - m.zz * r.y)
    k.xx = k.xx + (r.z * t.y - r.y * t.z)
    k.xy = k.xy + (r.x * t.z - r.z * t.x)
    k.xz = k.xz + (r.y * t.x - r.x * t.y)
    t = wide3(m.xz * r.x - m.xx * r.z, m.yz * r.x - m.xy * r.z, m.zz * r.x - m.xz * r.z)
    k.yy = k.yy + (r.x * t.z - r.z * t.x)
    k.yz = k.yz + (r.y * t.x - r.x * t.y)
    k.zz = k.zz + (r.y * (m.xx * r.y - m.xy * r.x) - r.x * (m.xy * r.y - m.yy * r.x))


cdef inline Wide6 ball_matrix(const BallJointRows* block) noexcept nogil:
    """K"""
    cdef Wide zero = splat(0.0)
    cdef Wide6 k
    k.xx = block.ends.inv_mass_a + block.ends.inv_mass_b
    k.yy = k.xx
    k.zz = k.xx
    k.xy = zero
    k.xz = zero
    k.yz = zero
    add_arm(&k, block.arm_a, &block.ends.inv_inertia_a)
    add_arm(&k, block.arm_b, &block.ends.inv_inertia_b)
    return k


cdef inline Wide sure_pivot(Wide s, Wide diagonal) noexcept nogil:
    """0 below 1e-12 of the diagonal entry."""
    return choose(above(s, splat(1e-12) * diagonal), s, splat(0.0))


cdef inline Wide6 invert(const Wide6* k, Wide* least_pivot) noexcept nogil:
    """By L D L'. A row without a pivot stays out."""
    cdef Wide d = sure_pivot(k.xx, k.xx)
    cdef Wide i0 = inverse(d)
    cdef Wide l10 = k.xy * i0
    cdef Wide l20 = k.xz * i0
    cdef Wide i1, i2, l21, back
    cdef Wide6 r
    least_pivot[0] = d
    d = sure_pivot(k.yy - k.xy * l10, k.yy)
    least_pivot[0] = least(least_pivot[0], d)
    i1 = inverse(d)
    l21 = (k.yz - k.xz * l10) * i1
    d = sure_pivot(k.zz - k.xz * l20 - (k.yz - k.xz * l10) * l21, k.zz)
    least_pivot[0] = least(least_pivot[0], d)
    i2 = inverse(d)
    back = l10 * l21 - l20
    r.zz = i2
    r.yz = -l21 * i2
    r.xz = back * i2
    r.yy = i1 - l21 * r.yz
    r.xy = -l10 * i1 - l21 * r.xz
    r.xx = i0 + l10 * l10 * i1 + back * r.xz
    return r


cdef inline Wide along(const Wide6* m, Wide3 d) noexcept nogil:
    """d' m d"""
    return w_dot(d, w_times(m, d))


cdef inline void add_square(Wide6* m, Wide s, Wide3 d) noexcept nogil:
    """m += s d d'"""
    cdef Wide3 e = w_scale(s, d)
    m.xx = m.xx + e.x * d.x
    m.xy = m.xy + e.x * d.y
    m.xz = m.xz + e.x * d.z
    m.yy = m.yy + e.y * d.y
    m.yz = m.yz + e.y * d.z
    m.zz = m.zz + e.z * d.z


cdef inline void soften_ball(BallJointRows* block, const Wide6* k, Wide least_pivot, Wide softness) noexcept nogil:
    """C of the biased pass, c_i = softness / (d_i' K^-1 d_i), and the inverse of K + C."""
    cdef Wide zero = splat(0.0)
    cdef Mask regular = above(splat(3.0) * least_pivot, splat(1e-12) * (k.xx + k.yy + k.zz))
    cdef Wide6* c = &block.compliance
    cdef Wide6 sum
    cdef int i
    c.xx = zero
    c.xy = zero
    c.xz = zero
    c.yy = zero
    c.yz = zero
    c.zz = zero
    for i in range(3):
        add_square(c, softness * choose(regular, splat(1.0) / along(&block.inverse[1], block.axes[i]),
                                        along(k, block.axes[i])), block.axes[i])
    sum.xx = k.xx + c.xx
    sum.xy = k.xy + c.xy
    sum.xz = k.xz + c.xz
    sum.yy = k.yy + c.yy
    sum.yz = k.yz + c.yz
    sum.zz = k.zz + c.zz
    block.inverse[0] = invert(&sum, &least_pivot)


cdef inline Wide3 turning_of(const Bodies* bodies, const int32_t* body, const WideMatrix* r, const Wide6* inv_inertia,
                             Wide3 spin) noexcept nogil:
    """-I^-1 (w x I w): the angular acceleration of the free bodies."""
    cdef Wide6 inertia = gather_inertia(<const double*>bodies.inertia, body)
    return w_times(inv_inertia, w_cross(turn(r, w_times(&inertia, turn_back(r, spin))), spin))


cdef inline Wide3 bend_of(const BallJointRows* block, const Bodies* bodies, const WideMatrix* ra,
                          const WideMatrix* rb) noexcept nogil:
    """The acceleration of p_b on b less that on a, of the free bodies and seen from a: w_b x (w_b x r_b) - w_a x (w_a x
    r_a) - 2 w_a x u + g_b x r_b - g_a x r_a, g the angular accelerations."""
    cdef WidePair p = load_pair(&block.ends, bodies.twist)
    cdef Wide3 along_a = w_cross(p.wa, block.arm_a)
    cdef Wide3 along_b = w_cross(p.wb, block.arm_b)
    cdef Wide3 u = w_sub(w_add(p.vb, along_b), w_add(p.va, along_a))
    cdef Wide3 bend = w_sub(w_cross(p.wb, along_b), w_cross(p.wa, along_a))
    bend = w_add_scaled(bend, splat(-2.0), w_cross(p.wa, u))
    bend = w_add(bend, w_cross(turning_of(bodies, block.ends.body_b, rb, &block.ends.inv_inertia_b, p.wb), block.arm_b))
    return w_sub(bend, w_cross(turning_of(bodies, block.ends.body_a, ra, &block.ends.inv_inertia_a, p.wa), block.arm_a))


cdef inline Wide3 along_axes(const BallJointRows* block, Wide3 a) noexcept nogil:
    return wide3(w_dot(block.axes[0], a), w_dot(block.axes[1], a), w_dot(block.axes[2], a))


cdef inline Wide3 from_axes(const BallJointRows* block, Wide3 a) noexcept nogil:
    return w_add_scaled(w_add_scaled(w_scale(a.x, block.axes[0]), a.y, block.axes[1]), a.z, block.axes[2])


cdef inline void refresh_ball(BallJointRows* block, const Bodies* bodies, const JointRule* rule) noexcept nogil:
    cdef const int32_t* a = block.ends.body_a
    cdef const int32_t* b = block.ends.body_b
    cdef Wide3 xa = gather3(<const double*>bodies.position, a, 3)
    cdef Wide3 xb = gather3(<const double*>bodies.position, b, 3)
    cdef WideMatrix ra = rotation(<const double*>bodies.orientation, a)
    cdef WideMatrix rb = rotation(<const double*>bodies.orientation, b)
    cdef Wide3 kept = along_axes(block, block.impulse)
    cdef Wide least_pivot
    cdef Wide6 k
    cdef int i
    load_inertia(&block.ends, bodies)
    block.arm_b = turn(&rb, block.anchor_b)
    block.arm_a = w_sub(w_add(xb, block.arm_b), xa)
    block.bias = w_scale(splat(rule.error_rate), w_sub(block.arm_a, turn(&ra, block.anchor_a)))
    if rule.curvature_rate > 0.0:
        block.bias = w_add_scaled(block.bias, splat(rule.curvature_rate), bend_of(block, bodies, &ra, &rb))
    for i in range(3):
        block.axes[i] = turn(&ra, block.basis_a[i])
    block.impulse = from_axes(block, kept)
    k = ball_matrix(block)
    block.inverse[1] = invert(&k, &least_pivot)
    if rule.softness > 0.0:
        soften_ball(block, &k, least_pivot, splat(rule.softness))
    else:
        block.inverse[0] = block.inverse[1]


cdef void refresh_balls(BallJointRows* blocks, Py_ssize_t count, const Bodies* bodies,
                        const JointRule* rule) noexcept nogil:
    cdef Py_ssize_t k
    for k in range(count):
        refresh_ball(&blocks[k], bodies, rule)


cdef void warm_balls(BallJointRows* blocks, Py_ssize_t count, Twist* twist, double kept, double part,
                     bint ended) noexcept nogil:
    cdef Wide doubling = splat(doubled(part))
    cdef WidePair p
    cdef Py_ssize_t k
    for k in range(count):
        if ended:
            blocks[k].impulse = w_scale(doubling, w_sub(blocks[k].impulse, from_axes(&blocks[k], blocks[k].carry)))
        blocks[k].carry = along_axes(&blocks[k], w_scale(splat((1.0 - part) * kept), blocks[k].impulse))
        blocks[k].impulse = w_scale(splat(part * kept), blocks[k].impulse)
        p = load_pair(&blocks[k].ends, twist)
        push_ball(&p, &blocks[k], blocks[k].impulse, twist)


cdef void give_back_balls(BallJointRows* blocks, Py_ssize_t count, Twist* twist) noexcept nogil:
    cdef BallJointRows* block
    cdef WidePair p
    cdef Wide3 first, impulse
    cdef Py_ssize_t k
    for k in range(count):
        block = &blocks[k]
        first = along_axes(block, block.impulse)
        impulse = from_axes(block, wide3(w_second_half(first.x, block.carry.x), w_second_half(first.y, block.carry.y),
                                         w_second_half(first.z, block.carry.z)))
        block.carry = first
        block.impulse = w_add(block.impulse, impulse)
        p = load_pair(&block.ends, twist)
        push_ball(&p, block, impulse, twist)

# ---- a sweep ---------------------------------------------------------------------------------------------------------

cdef inline Wide3 ball_residual(const BallJointRows* block, const WidePair* p, int relaxed) noexcept nogil:
    """u + bias + C impulse; in the relax pass u."""
    cdef Wide3 w = w_add(w_sub(p.vb, p.va), w_sub(w_cross(p.wb, block.arm_b), w_cross(p.wa, block.arm_a)))
    if relaxed:
        return w
    return w_add(w, w_add(block.bias, w_times(&block.compliance, block.impulse)))


cdef inline void solve_ball(BallJointRows* block, Twist* twist, int relaxed, Wide* rate) noexcept nogil:
    """rate: the largest change of a velocity so far."""
    cdef WidePair p = load_pair(&block.ends, twist)
    cdef Wide3 w = ball_residual(block, &p, relaxed)
    cdef Wide3 change = w_times(&block.inverse[relaxed], w)
    rate[0] = most(most(rate[0], size_of(w.x)), most(size_of(w.y), size_of(w.z)))
    change = wide3(-change.x, -change.y, -change.z)
    block.impulse = w_add(block.impulse, change)
    push_ball(&p, block, change, twist)


cdef double sweep_balls(BallJointRows* blocks, Py_ssize_t count, Twist* twist, int relaxed) noexcept nogil:
    cdef Wide rate = splat(0.0)
    cdef Py_ssize_t k
    if relaxed:
        for k in range(count):
            solve_ball(&blocks[k], twist, 1, &rate)
    else:
        for k in range(count):
            solve_ball(&blocks[k], twist, 0, &rate)
    return largest_lane(&rate)


cdef double residual_ball_rows(const BallJointRows* blocks, Py_ssize_t count, const Twist* twist,
                                 int relaxed) noexcept nogil:
    cdef const BallJointRows* block
    cdef WidePair p
    cdef Wide3 w
    cdef Wide largest = splat(0.0)
    cdef Wide d
    cdef Wide6 matrix
    cdef Py_ssize_t k
    cdef int i
    for k in range(count):
        block = &blocks[k]
        p = load_pair(&block.ends, twist)
        w = ball_residual(block, &p, relaxed)
        matrix = ball_matrix(block)
        for i in range(3):
            d = along(&matrix, block.axes[i])
            if not relaxed:
                d = d + along(&block.compliance, block.axes[i])
            largest = most(largest, size_of(w_dot(w, block.axes[i]) * inverse(d)))
    return largest_lane(&largest)


cdef BallRowKernels BALL_ROW_KERNELS
BALL_ROW_KERNELS.width = WIDTH
BALL_ROW_KERNELS.block_size = sizeof(BallJointRows)
BALL_ROW_KERNELS.fill = fill_balls
BALL_ROW_KERNELS.load = load_balls
BALL_ROW_KERNELS.refresh = refresh_balls
BALL_ROW_KERNELS.warm_start = warm_balls
BALL_ROW_KERNELS.give_back = give_back_balls
BALL_ROW_KERNELS.sweep = sweep_balls
BALL_ROW_KERNELS.residual = residual_ball_rows
BALL_ROW_KERNELS.store = store_balls


def ball_row_kernels():
    """The table of this level's kernels of ball joints, for _joints.pyx."""
    return PyCapsule_New(&BALL_ROW_KERNELS, "mcsim.wide.ball_joint_rows", NULL)
