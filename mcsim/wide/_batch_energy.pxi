# The energy of articulations that stand side by side. Included once for every CPU level, after _batches.pxi; what it is for
# is told in _accounts.pyx.

from libc.stdint cimport int8_t

cdef void energy_of_batches(const Batch* batches, Py_ssize_t count, const Bodies* bodies, Vec3 gravity, double* kinetic,
                          double* energy) noexcept nogil:
    cdef const Wide6* inertia
    cdef const int32_t* body
    cdef Wide moving, falling, lightness, weight
    cdef Wide x[3]
    cdef Wide f[6]
    cdef Wide q[4]
    cdef Wide3 v, w
    cdef Py_ssize_t n
    cdef int k, lane
    for n in range(count):
        inertia = <const Wide6*>batches[n].inertia
        body = batches[n].body
        moving = falling = splat(0.0)
        for k in range(batches[n].shape.moving_count):
            gather_twist(<const double*>bodies.twist, body, &v, &w)
            gather_three(<const double*>bodies.position, body, 3, x)
            gather_four(<const double*>bodies.orientation, body, 4, q)
            gather6(<const double*>bodies.force, body, f)
            lightness = gather(bodies.inv_mass, body, 1)
            weight = gather(bodies.gravity_scale, body, 1) / lightness
            w = w_rotate_back((<const WideQuat*>q)[0], w)
            moving = moving + splat(0.5) * (w_dot(v, v) / lightness + w_dot(w, w_times(inertia, w)))
            falling = falling + (x[0] * (f[0] + weight * splat(gravity.x)) + x[1] * (f[1] + weight * splat(gravity.y))
                                 + x[2] * (f[2] + weight * splat(gravity.z)))
            inertia += 2
            body += 8
        falling = moving - falling
        for lane in range(batches[n].lanes):
            kinetic[batches[n].articulation[lane]] = lane_of(&moving, lane)
            energy[batches[n].articulation[lane]] = lane_of(&falling, lane)


cdef inline Wide3 batch_velocity(const Batch* batch, const Bodies* bodies) noexcept nogil:
    """Of the centre of mass of what hangs on nothing; 0 of others. Twists are loaded."""
    cdef const Wide* twist = <const Wide*>batch.motions
    cdef Wide zero = splat(0.0)
    cdef Wide3 momentum = wide3(zero, zero, zero)
    cdef Wide mass = zero
    cdef Wide m
    cdef int k
    if batch.shape.moving_count < batch.shape.body_count:
        return momentum
    for k in range(batch.shape.moving_count):
        m = splat(1.0) / gather(bodies.inv_mass, batch.body + 8 * k, 1)
        momentum = w_add_scaled(momentum, m, three(twist + MOTION_NUMBERS * k))
        mass = mass + m
    return w_scale(splat(1.0) / mass, momentum)


cdef void find_joined_batches(const Batch* batches, Py_ssize_t count, const Bodies* bodies, const double* size, double part,
                            int8_t* joined) noexcept nogil:
    cdef const Batch* batch
    cdef const BatchNode* node
    cdef const Wide* twist
    cdef Wide rate[5]
    cdef Wide opening, fastest, length
    cdef Wide3 v, along, w
    cdef Mask torn
    cdef Py_ssize_t n
    cdef int k, lane, open
    for n in range(count):
        batch = &batches[n]
        load_twists(batch, bodies.twist)
        v = batch_velocity(batch, bodies)
        opening = fastest = splat(0.0)
        length = gather(size, batch.articulation, 1)
        twist = <const Wide*>batch.motions
        for k in range(batch.shape.moving_count):
            along, w = w_sub(three(twist), v), three(twist + 3)
            fastest = most(fastest, root(w_dot(along, along)) + length * root(w_dot(w, w)))
            twist += MOTION_NUMBERS
        for k in range(batch.shape.node_count):
            node = &batch.shape.nodes[k]
            find_rates(batch, node, k, node.size, rate)
            opening = most(opening, widest_of(node, <const Wide*>batch.fixed + FIXED_NUMBERS * k, rate))
        torn = above(opening, splat(part) * fastest)
        open = lane_bits(torn)
        for lane in range(batch.lanes):
            joined[batch.articulation[lane]] = not open >> lane & 1


BATCH_KERNELS.energy = energy_of_batches
BATCH_KERNELS.find_joined = find_joined_batches
