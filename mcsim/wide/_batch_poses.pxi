# Poses of articulations that stand side by side, and the errors of their joints there. Included by _batches.pxi.

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
