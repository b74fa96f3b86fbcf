# The wide kernels of ball joints. Included once for every CPU level; what they read and write is told
# in _direct_balls.pxd, the equations in constraints/_direct.pyx and solve/_tree.pyx.
#
# The three rows of a plain ball joint are along the axes of the world, so that J = [-1, [arm_a], 1, -[arm_b]].

from mcsim.state._row cimport JointRow, JointRows
from mcsim.wide._direct_balls cimport BallBlock, BallKernels, CoupleBlock, PushBlock, PushSlot

cdef enum:
    ANGULAR_A = 3                # where the numbers of a JointRow begin
    ANGULAR_B = 6
    SPIN_A = 9
    SPIN_B = 12
    ARM_B = 3                    # the second arm behind the first


cdef inline void angular_rows(Wide3 arm, Wide3* out) noexcept nogil:
    """arm x e of the three axes e."""
    cdef Wide zero = splat(0.0)
    out[0] = wide3(zero, arm.z, -arm.y)
    out[1] = wide3(-arm.z, zero, arm.x)
    out[2] = wide3(arm.y, -arm.x, zero)


cdef inline Wide3 carried(const Wide3* anchor, const Bodies* bodies, const int32_t* body) noexcept nogil:
    return w_rotate(gather_quat(<const double*>bodies.orientation, body), anchor[0])


cdef inline Wide length_of(Wide3 a) noexcept nogil:
    return root(w_dot(a, a))


cdef double write_balls(BallBlock* blocks, Py_ssize_t count, const Bodies* bodies, JointRows* rows,
                        double* arms) noexcept nogil:
    cdef const double* position = <const double*>bodies.position
    cdef double* out = <double*>rows.row
    cdef Wide zero = splat(0.0)
    cdef Wide one = splat(1.0)
    cdef Wide largest = zero
    cdef Wide3 axis[3]
    cdef Wide3 a[3]
    cdef Wide3 b[3]
    cdef Wide3 xa, xb, point
    cdef BallBlock* block
    cdef Py_ssize_t k
    cdef int i
    axis[0] = wide3(one, zero, zero)
    axis[1] = wide3(zero, one, zero)
    axis[2] = wide3(zero, zero, one)
    for k in range(count):
        block = &blocks[k]
        xa = gather3(position, block.body_a, 3)
        xb = gather3(position, block.body_b, 3)
        block.arm_b = carried(&block.anchor_b, bodies, block.body_b)
        point = w_add(xb, block.arm_b)
        block.arm_a = w_sub(point, xa)
        block.error = w_sub(point, w_add(xa, carried(&block.anchor_a, bodies, block.body_a)))
        largest = most(largest, length_of(block.error))
        scatter3(block.arm_a, arms, block.arm, 1)
        scatter3(block.arm_b, arms + ARM_B, block.arm, 1)
        scatter3(block.error, rows.error, block.row, 1)
        scatter3(wide3(zero, zero, zero), rows.rate, block.row, 1)
        angular_rows(block.arm_a, a)
        angular_rows(block.arm_b, b)
        for i in range(3):
            scatter3(axis[i], out + JOINT_ROW * i, block.record, 1)
            scatter3(a[i], out + JOINT_ROW * i + ANGULAR_A, block.record, 1)
            scatter3(b[i], out + JOINT_ROW * i + ANGULAR_B, block.record, 1)
    return largest_lane(&largest)


cdef double miss_balls(const BallBlock* blocks, Py_ssize_t count, const Bodies* bodies, JointRows* rows,
                       double h) noexcept nogil:
    cdef const double* position = <const double*>bodies.position
    cdef Wide rate = splat(1.0 / h)
    cdef Wide largest = splat(0.0)
    cdef Wide widest, closed
    cdef Mask wide
    cdef Wide3 off
    cdef const BallBlock* block
    cdef Py_ssize_t k
    for k in range(count):
        block = &blocks[k]
        off = w_sub(w_add(gather3(position, block.body_b, 3), carried(&block.anchor_b, bodies, block.body_b)),
                    w_add(gather3(position, block.body_a, 3), carried(&block.anchor_a, bodies, block.body_a)))
        widest = length_of(block.error)
        closed = splat(h) * block.push
        wide = above(widest, closed)
        if any_lane(wide):
            widest = choose(wide, closed / widest - splat(1.0), splat(0.0))       # minus the part that stays
            off = w_add_scaled(off, widest, block.error)
        scatter3(w_scale(rate, off), rows.bias, block.row, 1)
        largest = most(largest, length_of(off))
    return largest_lane(&largest)


cdef inline void spin_rows(const Bodies* bodies, const int32_t* body, const Wide3* angular, Wide3* spin, double* out,
                           const int32_t* record) noexcept nogil:
    """I^-1 of the three rows, also into the records."""
    cdef Wide6 inertia = gather_inertia(<const double*>bodies.inv_inertia_world, body)
    cdef int i
    for i in range(3):
        spin[i] = w_times(&inertia, angular[i])
        scatter3(spin[i], out + JOINT_ROW * i, record, 1)


cdef void assemble_balls(const BallBlock* blocks, Py_ssize_t count, const Bodies* bodies, JointRows* rows,
                         double* values) noexcept nogil:
    cdef double* out = <double*>rows.row
    cdef Wide3 a[3]
    cdef Wide3 b[3]
    cdef Wide3 spin_a[3]
    cdef Wide3 spin_b[3]
    cdef Wide d[9]
    cdef Wide mass
    cdef const BallBlock* block
    cdef Py_ssize_t k
    cdef int p, q
    for k in range(count):
        block = &blocks[k]
        angular_rows(block.arm_a, a)
        angular_rows(block.arm_b, b)
        spin_rows(bodies, block.body_a, a, spin_a, out + SPIN_A, block.record)
        spin_rows(bodies, block.body_b, b, spin_b, out + SPIN_B, block.record)
        mass = block.side_a * gather(bodies.inv_mass, block.body_a, 1) \
            + block.side_b * gather(bodies.inv_mass, block.body_b, 1)
        for p in range(3):
            for q in range(p + 1):
                d[3 * p + q] = block.side_a * w_dot(a[p], spin_a[q]) + block.side_b * w_dot(b[p], spin_b[q])
                if p == q:
                    d[3 * p + q] = mass + d[3 * p + q]
                d[3 * q + p] = d[3 * p + q]
        for p in range(3):
            scatter_three(&d[3 * p], values + 3 * p, block.diagonal, 1)


cdef void couple_balls(const CoupleBlock* blocks, Py_ssize_t count, const Bodies* bodies, const JointRows* rows,
                       double* values) noexcept nogil:
    cdef const double* base = <const double*>rows.row
    cdef Wide3 spin[3]
    cdef Wide3 angular
    cdef Wide line[3]
    cdef Wide mass
    cdef const CoupleBlock* block
    cdef Py_ssize_t k
    cdef int p, q
    for k in range(count):
        block = &blocks[k]
        mass = gather(bodies.inv_mass, block.body, 1)
        for q in range(3):
            spin[q] = gather3(base + JOINT_ROW * q, block.spin, 1)
        for p in range(3):
            angular = gather3(base + JOINT_ROW * p, block.angular, 1)
            for q in range(3):
                line[q] = w_dot(angular, spin[q])
                if p == q:
                    line[q] = mass + line[q]
                line[q] = block.sign * line[q]
            scatter_three(line, values + 3 * p, block.value, 1)


cdef double residual_balls(const BallBlock* blocks, Py_ssize_t count, const Twist* twist, const double* bias,
                           double* vector) noexcept nogil:
    cdef const double* base = <const double*>twist
    cdef Wide largest = splat(0.0)
    cdef Wide3 a, b, v, w
    cdef const BallBlock* block
    cdef Py_ssize_t k
    for k in range(count):
        block = &blocks[k]
        gather_twist(base, block.body_a, &v, &w)
        a = w_sub(v, w_cross(block.arm_a, w))
        gather_twist(base, block.body_b, &v, &w)
        b = w_sub(v, w_cross(block.arm_b, w))
        a = w_sub(w_sub(a, b), gather3(bias, block.row, 1))
        scatter3(a, vector, block.vector, 1)
        largest = most(largest, length_of(a))
    return largest_lane(&largest)


cdef void aim_balls(const BallBlock* blocks, Py_ssize_t count, const double* residual, double* vector) noexcept nogil:
    cdef Wide3 a
    cdef Py_ssize_t k
    for k in range(count):
        a = gather3(residual, blocks[k].row, 1)
        scatter3(wide3(-a.x, -a.y, -a.z), vector, blocks[k].vector, 1)


cdef void collect_balls(const BallBlock* blocks, Py_ssize_t count, const double* vector, double* impulse) noexcept nogil:
    cdef Py_ssize_t k
    for k in range(count):
        scatter3(w_add(gather3(impulse, blocks[k].row, 1), gather3(vector, blocks[k].vector, 1)), impulse,
                 blocks[k].row, 1)


cdef void push_balls(const PushBlock* blocks, Py_ssize_t count, const PushSlot* slots, const Bodies* bodies,
                     Twist* twist, const double* x, bint by_rows, const double* arms) noexcept nogil:
    cdef double* base = <double*>twist
    cdef Wide zero = splat(0.0)
    cdef Wide6 inertia
    cdef Wide3 force, torque, impulse, v, w
    cdef const int32_t* at
    cdef const PushBlock* block
    cdef const PushSlot* slot
    cdef Py_ssize_t k, i
    for k in range(count):
        block = &blocks[k]
        force = torque = wide3(zero, zero, zero)
        for i in range(block.slot, block.slot_end):
            slot = &slots[i]
            at = <const int32_t*>slot.row if by_rows else <const int32_t*>slot.vector
            impulse = w_scale(slot.sign, gather3(x, at, 1))
            force = w_add(force, impulse)
            torque = w_add(torque, w_cross(gather3(arms, slot.arm, 1), impulse))
        inertia = gather_inertia(<const double*>bodies.inv_inertia_world, block.body)
        gather_twist(base, block.body, &v, &w)
        scatter_twist(w_add_scaled(v, gather(bodies.inv_mass, block.body, 1), force),
                      w_add(w, w_times(&inertia, torque)), base, block.body)


# ---- substitution where all blocks are 3 x 3 -------------------------------------------------------------------------

cdef inline Four combined(const double* lines, int stride, const double* a) noexcept nogil:
    """The second and third line, by a."""
    return add_four(scale_four(a[1], four(lines + stride)), scale_four(a[2], four(lines + 2 * stride)))


cdef void substitute_triples(const int32_t* order, const int32_t* begin, const int32_t* target, Py_ssize_t count,
                             const double* columns, const double* rows, const double* inverses,
                             double* x) noexcept nogil:
    cdef double* a
    cdef double* b
    cdef Four sum
    cdef Py_ssize_t i, k
    cdef int e
    for i in range(count):
        k = order[i]
        a = x + 4 * k
        for e in range(begin[k], begin[k + 1]):
            b = x + 4 * target[e]
            sum = sub_four(four(b), scale_four(a[0], four(columns + 12 * e)))
            put_four(sub_four(sum, combined(columns + 12 * e, 4, a)), b)
    for i in range(count - 1, -1, -1):
        k = order[i]
        a = x + 4 * k
        sum = add_four(scale_four(a[0], four(inverses + 9 * k)), scale_four(a[1], four(inverses + 9 * k + 3)))
        sum = add_four(sum, scale_four(a[2], four(inverses + 9 * k + 6)))
        for e in range(begin[k], begin[k + 1]):
            b = x + 4 * target[e]
            sum = sub_four(sum, scale_four(b[0], four(rows + 9 * e)))
            sum = sub_four(sum, combined(rows + 9 * e, 3, b))
        put_four(sum, a)


cdef BallKernels BALL_KERNELS
BALL_KERNELS.width = WIDTH
BALL_KERNELS.sizes = [sizeof(BallBlock), sizeof(CoupleBlock), sizeof(PushBlock), sizeof(PushSlot)]
BALL_KERNELS.write = write_balls
BALL_KERNELS.miss = miss_balls
BALL_KERNELS.assemble = assemble_balls
BALL_KERNELS.couple = couple_balls
BALL_KERNELS.residual = residual_balls
BALL_KERNELS.aim = aim_balls
BALL_KERNELS.collect = collect_balls
BALL_KERNELS.push = push_balls
BALL_KERNELS.substitute = substitute_triples


def ball_kernels():
    """The table of this level's kernels of ball joints, for _direct_balls.pyx."""
    return PyCapsule_New(&BALL_KERNELS, "mcsim.wide.direct_balls", NULL)
