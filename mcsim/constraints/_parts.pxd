"""What joints are composed of: the two joint frames in the world, point and rotation constraints, and row writing.

Both impulses of a joint act at one point, b's joint point p_b: the arms are p_b - x_a and p_b - x_b. So linear and angular
momentum are kept to rounding even while the joint is open, and each row is the exact derivative of the error seen from
a's frame: with d fixed in a,   d/dt [d . (p_b - p_a)] = d . (v_b + w_b x (p_b - x_b) - v_a - w_a x (p_b - x_a)).
"""

from libc.math cimport INFINITY, sqrt, fabs, floor
from libc.stdint cimport int32_t
from mcsim.constraints._joint_frames cimport AxisGeometry, JointFrames
from mcsim.core._trig cimport arctan2
from mcsim.core._types cimport Vec3, Quat, Mat3, Twist
from mcsim.core._math cimport (vec3, add, sub, neg, scale, add_scaled, dot, cross, norm, mat_vec, rotate, rotate_back,
                               quat_log, quat_mul, quat_conj, quat_matrix, mat_column)
from mcsim.state._inertia cimport LOCKED_WAYS, gyroscopic_acceleration
from mcsim.state._bodies cimport Bodies
from mcsim.state._joint cimport LEAN, Joint, JointAxis
from mcsim.state._row cimport BIASED, BLOCK_BOUNDED, RELAXED, Row


cdef inline void point_frames(JointFrames* f, const Joint* joint, const Bodies* bodies) noexcept nogil:
    """The joint point and the joint axes on a at the present poses."""
    cdef Quat qa = bodies.orientation[joint.body_a]
    cdef Mat3 ra = quat_matrix(quat_mul(qa, joint.basis_a))
    cdef int i
    f.point_a = add(bodies.position[joint.body_a], rotate(qa, joint.anchor_a))
    f.arm_b = rotate(bodies.orientation[joint.body_b], joint.anchor_b)
    f.point_b = add(bodies.position[joint.body_b], f.arm_b)
    f.arm_a = sub(f.point_b, bodies.position[joint.body_a])
    f.offset = sub(f.point_b, f.point_a)
    for i in range(3):
        f.axis_a[i] = mat_column(ra, i)


cdef inline void tilt_frames(JointFrames* f) noexcept nogil:
    """How z_b leans against z_a; turned over, where no way back is shorter than another, along x_a."""
    cdef double upright = 1.0 + dot(f.axis_a[2], f.axis_b[2])
    if upright < 0.5 / LEAN / LEAN:
        f.axis_b[2] = add_scaled(f.axis_b[2], 1.0 / LEAN, f.axis_a[0])
        upright = 0.5 / LEAN / LEAN
    f.tilt[0] = dot(f.axis_b[2], f.axis_a[0])
    f.tilt[1] = dot(f.axis_b[2], f.axis_a[1])
    f.rise = 2.0 / upright
    f.bend = 0.5 * f.rise * f.rise


cdef inline void turn_frames(JointFrames* f, const Joint* joint, const Bodies* bodies) noexcept nogil:
    """The joint axes on b, also as seen from a."""
    cdef Quat ja = quat_mul(bodies.orientation[joint.body_a], joint.basis_a)
    cdef Quat jb = quat_mul(bodies.orientation[joint.body_b], joint.basis_b)
    cdef Mat3 rb = quat_matrix(jb)
    cdef int i
    for i in range(3):
        f.axis_b[i] = mat_column(rb, i)
    tilt_frames(f)
    f.way = vec3(0.0, 0.0, 0.0)
    f.relative = quat_mul(quat_conj(ja), jb)
    if f.relative.w < 0.0:
        f.relative.w = -f.relative.w
        f.relative.x = -f.relative.x
        f.relative.y = -f.relative.y
        f.relative.z = -f.relative.z


cdef inline void still_frames(JointFrames* f) noexcept nogil:
    """No velocities: for errors and Jacobians alone."""
    f.spin_a = f.spin_b = f.slip = f.gyro_a = f.gyro_b = vec3(0.0, 0.0, 0.0)


cdef inline void rate_frames(JointFrames* f, const Joint* joint, const Bodies* bodies) noexcept nogil:
    f.spin_a = bodies.twist[joint.body_a].w
    f.spin_b = bodies.twist[joint.body_b].w
    f.slip = sub(add(bodies.twist[joint.body_b].v, cross(f.spin_b, f.arm_b)),
                 add(bodies.twist[joint.body_a].v, cross(f.spin_a, f.arm_a)))
    f.gyro_a = gyroscopic_acceleration(bodies, joint.body_a)
    f.gyro_b = gyroscopic_acceleration(bodies, joint.body_b)


cdef inline JointFrames joint_frames(const Joint* joint, const Bodies* bodies) noexcept nogil:
    """The joint's frames at the present poses and velocities."""
    cdef JointFrames f
    point_frames(&f, joint, bodies)
    turn_frames(&f, joint, bodies)
    rate_frames(&f, joint, bodies)
    return f


cdef inline void set_jacobian(Row* row, Vec3 linear, Vec3 angular_a, Vec3 angular_b) noexcept nogil:
    """J = [-linear, -angular_a, linear, angular_b]."""
    row.jacobian[0] = -linear.x
    row.jacobian[1] = -linear.y
    row.jacobian[2] = -linear.z
    row.jacobian[3] = -angular_a.x
    row.jacobian[4] = -angular_a.y
    row.jacobian[5] = -angular_a.z
    row.jacobian[6] = linear.x
    row.jacobian[7] = linear.y
    row.jacobian[8] = linear.z
    row.jacobian[9] = angular_b.x
    row.jacobian[10] = angular_b.y
    row.jacobian[11] = angular_b.z


cdef inline void begin_row(Row* row, int32_t body_a, int32_t body_b, int source, int kind, int index) noexcept nogil:
    """Header of a bounded row, as often as it is written."""
    row.body_a = body_a
    row.body_b = body_b
    row.block = 1
    row.block_kind = BLOCK_BOUNDED
    row.kind = kind
    row.source = source
    row.index = index
    row.stabilized = 0
    row.size = 0.0
    row.push = 0.0
    row.error = 0.0
    row.curvature = 0.0
    row.rate = 0.0
    row.lower = -INFINITY
    row.upper = INFINITY
    row.compliance[BIASED] = 0.0
    row.compliance[RELAXED] = 0.0


cdef inline void clear_row(Row* row, double impulse) noexcept nogil:
    """What stays of a row from one writing in a step to the next, as the step begins. impulse: the last step's."""
    row.impulse = impulse
    row.bias[BIASED] = 0.0
    row.bias[RELAXED] = 0.0
    row.coupling = 0.0
    row.friction = 0.0
    row.lever = 0.0
    row.offset[0] = 0.0
    row.offset[1] = 0.0
    row.share[0] = 0.0
    row.share[1] = 0.0
    row.normal_begin = 0
    row.normal_count = 0
    row.restitution = 0.0
    row.kick = 0.0


cdef inline Row* begin_joint_row(Row* row, const Joint* joint, int source, int kind, int index, double impulse,
                                 bint first) noexcept nogil:
    """first: in this step."""
    begin_row(row, joint.body_a, joint.body_b, source, kind, index)
    if first:
        clear_row(row, impulse)
    return row


cdef inline void linear_row(Row* row, Vec3 axis, Vec3 arm_a, Vec3 arm_b) noexcept nogil:
    """The relative velocity along `axis` of the two bodies at one point, `arm_a` and `arm_b` from their centres."""
    set_jacobian(row, axis, cross(arm_a, axis), cross(arm_b, axis))


cdef inline void angular_row(Row* row, Vec3 axis) noexcept nogil:
    """The relative angular velocity along `axis`."""
    set_jacobian(row, vec3(0.0, 0.0, 0.0), axis, axis)


cdef inline void axis_row(Row* row, const AxisGeometry* axis, Vec3 direction, const JointFrames* f) noexcept nogil:
    if axis.linear:
        linear_row(row, direction, f.arm_a, f.arm_b)
    else:
        angular_row(row, direction)


cdef inline void apply_inverse_mass(Row* row, const Bodies* bodies) noexcept nogil:
    """M^-1 J' and the diagonal J M^-1 J' of a row whose Jacobian is written."""
    cdef const double* j = row.jacobian
    cdef double* mj = row.inv_mass_jacobian
    cdef double ma = bodies.inv_mass[row.body_a]
    cdef double mb = bodies.inv_mass[row.body_b]
    cdef Vec3 wa = mat_vec(bodies.inv_inertia_world[row.body_a], vec3(j[3], j[4], j[5]))
    cdef Vec3 wb = mat_vec(bodies.inv_inertia_world[row.body_b], vec3(j[9], j[10], j[11]))
    mj[0] = ma * j[0]
    mj[1] = ma * j[1]
    mj[2] = ma * j[2]
    mj[3] = wa.x
    mj[4] = wa.y
    mj[5] = wa.z
    mj[6] = mb * j[6]
    mj[7] = mb * j[7]
    mj[8] = mb * j[8]
    mj[9] = wb.x
    mj[10] = wb.y
    mj[11] = wb.z
    row.diagonal = ((ma * (j[0] * j[0] + j[1] * j[1] + j[2] * j[2]) + (wa.x * j[3] + wa.y * j[4] + wa.z * j[5]))
                    + (mb * (j[6] * j[6] + j[7] * j[7] + j[8] * j[8]) + (wb.x * j[9] + wb.y * j[10] + wb.z * j[11])))
    if (bodies.locks[row.body_a] | bodies.locks[row.body_b]) & LOCKED_WAYS:
        leave_locked_ways(row, bodies)


cdef inline void leave_locked_ways(Row* row, const Bodies* bodies) noexcept nogil:
    """Nothing gives a body a velocity along an axis that a lock has taken out of its inverse mass."""
    cdef int i
    for i in range(3):
        if bodies.locks[row.body_a] >> i & 1:
            row.diagonal -= row.inv_mass_jacobian[i] * row.jacobian[i]
            row.inv_mass_jacobian[i] = 0.0
        if bodies.locks[row.body_b] >> i & 1:
            row.diagonal -= row.inv_mass_jacobian[6 + i] * row.jacobian[6 + i]
            row.inv_mass_jacobian[6 + i] = 0.0


cdef inline double gyroscopic_curvature(const Row* row, const JointFrames* f) noexcept nogil:
    """J a, a the free bodies' angular accelerations."""
    return (row.jacobian[3] * f.gyro_a.x + row.jacobian[4] * f.gyro_a.y + row.jacobian[5] * f.gyro_a.z
            + row.jacobian[9] * f.gyro_b.x + row.jacobian[10] * f.gyro_b.y + row.jacobian[11] * f.gyro_b.z)


cdef inline double offset_curvature(const JointFrames* f, Vec3 d) noexcept nogil:
    """J' v of C = d . (p_b - p_a), d fixed on a."""
    cdef Vec3 a = sub(cross(f.spin_b, cross(f.spin_b, f.arm_b)), cross(f.spin_a, cross(f.spin_a, f.arm_a)))
    return dot(d, add_scaled(a, -2.0, cross(f.spin_a, f.slip)))


cdef inline void constrain_offset(Row* row, const JointFrames* f, int i) noexcept nogil:
    """One row: C = d . (p_b - p_a), d = joint axis i on a.

    With u the slip: J' v = d . (w_b x (w_b x r_b) - w_a x (w_a x r_a)) - 2 d . (w_a x u), for d' = w_a x d, r_a' = u
    + w_a x r_a.
    """
    cdef Vec3 d = f.axis_a[i]
    linear_row(row, d, f.arm_a, f.arm_b)
    row.error = dot(d, f.offset)
    row.curvature = offset_curvature(f, d)


cdef inline void constrain_point(Row* rows, const JointFrames* f) noexcept nogil:
    """Three rows: C_i = e_i . (p_b - p_a), e_i the joint axes on a.  Ball, universal, hinge, fixed."""
    cdef int i
    for i in range(3):
        constrain_offset(&rows[i], f, i)


cdef inline void constrain_right_angle(Row* row, const JointFrames* f, Vec3 a, Vec3 b) noexcept nogil:
    """One row: C = a . b, a fixed in body a and b in body b.  Universal.

    C' = (b x a) . w with w = w_b - w_a, and J' v = ((w_b x b) x a + b x (w_a x a)) . w.
    """
    angular_row(row, cross(b, a))
    row.error = dot(a, b)
    row.curvature = dot(add(cross(cross(f.spin_b, b), a), cross(b, cross(f.spin_a, a))), sub(f.spin_b, f.spin_a))


cdef inline void constrain_parallel(Row* rows, const JointFrames* f) noexcept nogil:
    """Two rows: z_b parallel to z_a.  Hinge, cylindrical, planar, screw.

    C = s (z_b . x_a, z_b . y_a) with s = 2 / (1 + z_a . z_b): z_b seen on a plane from the point opposite to z_a
    (stereographic projection), 2 tan(t / 2) along where it leans by the angle t. Without s there would be a second zero at
    t = pi, which everything beyond pi / 2 would close to.

    s' = -b (z_b x z_a) . w with b = s^2 / 2, so C_i' = (z_b x p_i) . w with p_i = s x_i - b (z_b . x_i) z_a, and
    J' v = (z_b' x p_i + z_b x p_i') . w.
    """
    cdef Vec3 z = f.axis_b[2]
    cdef Vec3 w = sub(f.spin_b, f.spin_a)
    cdef double growth = -f.bend * dot(cross(z, f.axis_a[2]), w)
    cdef double rate
    cdef Vec3 p, change
    cdef int i
    for i in range(2):
        p = add_scaled(scale(f.rise, f.axis_a[i]), -f.bend * f.tilt[i], f.axis_a[2])
        angular_row(&rows[i], cross(z, p))
        rows[i].error = f.rise * f.tilt[i]
        rate = dot(cross(z, f.axis_a[i]), w)
        change = cross(f.spin_a, p)
        change = add_scaled(change, growth, f.axis_a[i])
        change = add_scaled(change, -(f.rise * growth * f.tilt[i] + f.bend * rate), f.axis_a[2])
        rows[i].curvature = dot(add(cross(cross(f.spin_b, z), p), cross(z, change)), w)


cdef inline void constrain_rotation(Row* rows, const JointFrames* f) noexcept nogil:
    """Three rows: C = 2 vec(q), q = (w, u) the joint axes on b seen from those on a.  Slider, fixed.

    q' = 1/2 (0, omega) q with omega = w_b - w_a in a's joint axes, so C' = w omega + omega x u, that is
    C'_i = (w e_i + u x e_i) . omega. Of w' omega + omega x u' is left -1/2 omega^2 u; with the turning of a's axes
    J' v = -1/2 omega^2 u_i - (w e_i + u x e_i) . (w_a x omega).
    """
    cdef Quat q = f.relative
    cdef Vec3 u = add(add(scale(q.x, f.axis_a[0]), scale(q.y, f.axis_a[1])), scale(q.z, f.axis_a[2]))
    cdef Vec3 w = sub(f.spin_b, f.spin_a)
    cdef Vec3 carried = cross(f.spin_a, w)
    cdef Vec3 d
    cdef int i
    for i in range(3):
        d = add(scale(q.w, f.axis_a[i]), cross(u, f.axis_a[i]))
        angular_row(&rows[i], d)
        rows[i].error = 2.0 * (&q.x)[i]
        rows[i].curvature = -0.5 * dot(w, w) * (&q.x)[i] - dot(d, carried)


cdef inline Vec3 twist_axis(const JointFrames* f) noexcept nogil:
    """The gradient of the twist angle 2 atan2(q_z, q_w): (z_a + z_b) / (1 + z_a . z_b); bounded near a swing of pi."""
    cdef double d = 1.0 + dot(f.axis_a[2], f.axis_b[2])
    return scale(1.0 / (d if d > 0.02 else 0.02), add(f.axis_a[2], f.axis_b[2]))


cdef inline double counted_turns(double angle, double last) noexcept nogil:
    """Of angle + 2 pi k the one nearest to `last`."""
    cdef double turn = 6.283185307179586
    return angle + turn * floor((last - angle) / turn + 0.5)


cdef inline Vec3 spin_between(const Bodies* bodies, int a, int b) noexcept nogil:
    """The angular velocity of body b against a, or the world."""
    return sub(bodies.twist[b].w, bodies.twist[a].w)


cdef inline bint turns_far(const Bodies* bodies, int a, int b, double ahead) noexcept nogil:
    """Whether the two may pass half a turn against each other in that time, or come near."""
    cdef Vec3 spin = spin_between(bodies, a, b)
    return dot(spin, spin) * ahead * ahead > 1.0


cdef inline void foresee_way(JointFrames* f, const Joint* joint, const Bodies* bodies, double ahead) noexcept nogil:
    """How far the bodies have turned against each other, at their present rates, in the time since angles were known."""
    if turns_far(bodies, joint.body_a, joint.body_b, ahead):
        f.way = scale(ahead, spin_between(bodies, joint.body_a, joint.body_b))


cdef inline double counted_twist(const JointFrames* f, const JointAxis* axis) noexcept nogil:
    """The twist angle, counted on from the last one measured [rad]."""
    return counted_turns(2.0 * arctan2(f.relative.z, f.relative.w), axis.position + dot(f.way, twist_axis(f)))


cdef inline double axis_tilt(const JointFrames* f) noexcept nogil:
    """The angle between z_a and z_b [rad]."""
    return arctan2(norm(cross(f.axis_a[2], f.axis_b[2])), dot(f.axis_a[2], f.axis_b[2]))


cdef inline void slide_axis(AxisGeometry* axis, const JointFrames* f, int i) noexcept nogil:
    """Free coordinate: the way of p_b along joint axis i on a.  Slider, cylindrical, planar, free."""
    axis.axis = f.axis_a[i]
    axis.position = dot(f.axis_a[i], f.offset)
    axis.linear = 1


cdef inline void turn_axis(AxisGeometry* axis, const JointFrames* f) noexcept nogil:
    """Free coordinate: the twist angle.  Hinge, cylindrical, planar, screw, rack and pinion."""
    axis.axis = twist_axis(f)
    axis.position = 2.0 * arctan2(f.relative.z, f.relative.w)


cdef inline void turning_axes(AxisGeometry* axes, const JointFrames* f) noexcept nogil:
    """Three free coordinates: the rotation vector log(q) in a's joint axes.  Ball, free, and what lets a ball slide."""
    cdef Vec3 turn = quat_log(f.relative)
    cdef int i
    for i in range(3):
        axes[i].axis = axes[i].limit_axis = f.axis_a[i]
        axes[i].position = axes[i].limit_position = (&turn.x)[i]
        axes[i].spring_error = axes[i].motor_error = (&turn.x)[i]


cdef inline double twist_curvature(const JointFrames* f) noexcept nogil:
    """t' . w, t = (z_a + z_b) / (1 + z_a . z_b) the twist axis, w = w_b - w_a: of the twist angle's rate t . w."""
    cdef Vec3 da = cross(f.spin_a, f.axis_a[2])
    cdef Vec3 db = cross(f.spin_b, f.axis_b[2])
    cdef Vec3 w = sub(f.spin_b, f.spin_a)
    cdef double d = 1.0 + dot(f.axis_a[2], f.axis_b[2])
    cdef double growth = dot(da, f.axis_b[2]) + dot(f.axis_a[2], db)
    if d < 0.02:
        return dot(add(da, db), w) / 0.02
    return (dot(add(da, db), w) - growth * dot(twist_axis(f), w)) / d


cdef inline void constrain_geared(Row* row, const JointFrames* f, int i, double ratio, double angle) noexcept nogil:
    """One row: C = d . (p_b - p_a) - ratio psi, d = joint axis i on a, psi = `angle`, the twist.  Screw, rack."""
    cdef Vec3 turn = scale(ratio, twist_axis(f))
    constrain_offset(row, f, i)
    set_jacobian(row, f.axis_a[i], sub(cross(f.arm_a, f.axis_a[i]), turn), sub(cross(f.arm_b, f.axis_a[i]), turn))
    row.error -= ratio * angle
    row.curvature -= ratio * twist_curvature(f)
