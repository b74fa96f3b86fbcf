# Where joints put their links: poses and motion subspaces, one state a lane.
#
# A joint says where its successor's frame F_s is in its predecessor's F_p, by its coordinates q, and how it moves there
# by its velocities: v_J = S qd (R. Featherstone, Rigid Body Dynamics Algorithms, 2008, table 4.1). What stands on the
# parent is F_p, or of a reversed joint F_s. The motion of F_p seen from F_s is -S qd, as a spatial vector the same one:
# so a reversed joint's S is negated, and taken about the link's origin, which then is that of F_p.

# ---- arithmetic ------------------------------------------------------------------------------------------------------

# Added and taken away again, it leaves a double of less than 2^51 rounded to a whole number.
cdef double ROUNDING = 6755399441055744.0          # 1.5 * 2^52


cdef inline Wide rounded(Wide x) noexcept nogil:
    return (x + splat(ROUNDING)) - splat(ROUNDING)


cdef inline void w_sine_cosine(Wide x, Wide* sine, Wide* cosine) noexcept nogil:
    """As core/_trig.pxd has it, without branches: x = r + k pi/2, and the quadrant k modulo 4 from k alone."""
    cdef Wide one = splat(1.0)
    cdef Wide k = rounded(x * splat(0.6366197723675814))
    cdef Wide r = ((x - k * splat(1.5707963267341256)) - k * splat(6.077100506303966e-11)) - k * splat(
        2.0222662487111665e-21)
    cdef Wide z = r * r
    cdef Wide s = r + r * z * (splat(-1.0 / 6.0) + z * (splat(1.0 / 120.0) + z * (splat(-1.0 / 5040.0) + z * (
        splat(1.0 / 362880.0) + z * (splat(-1.0 / 39916800.0) + z * (splat(1.0 / 6227020800.0) + z * splat(
            -1.0 / 1307674368000.0)))))))
    cdef Wide c = one - z * (splat(0.5) - z * (splat(1.0 / 24.0) - z * (splat(1.0 / 720.0) - z * (splat(1.0 / 40320.0)
        - z * (splat(1.0 / 3628800.0) - z * (splat(1.0 / 479001600.0) - z * (splat(1.0 / 87178291200.0) - z * splat(
            1.0 / 20922789888000.0))))))))
    cdef Wide half = rounded(k * splat(0.5) - splat(0.25))              # floor(k / 2)
    cdef Wide odd = k - half - half
    cdef Wide sign = one - splat(2.0) * (half - splat(2.0) * rounded(half * splat(0.5) - splat(0.25)))
    cdef Mask turned = above(odd, splat(0.5))
    sine[0] = sign * choose(turned, c, s)
    cosine[0] = sign * choose(turned, -s, c)
    if any_lane(above(size_of(x), splat(FAR))):
        far_sine_cosine(x, sine, cosine)


cdef void far_sine_cosine(Wide x, Wide* sine, Wide* cosine) noexcept nogil:
    cdef double s, c
    cdef int lane
    for lane in range(WIDTH):
        if fabs(lane_of(&x, lane)) > FAR:
            sine_cosine(lane_of(&x, lane), &s, &c)
            put(sine, lane, s)
            put(cosine, lane, c)


ctypedef struct Axes:
    # Three unit vectors, in the axes of something else.
    Wide3 x
    Wide3 y
    Wide3 z


cdef inline Wide3 along(const Axes* axes, Wide3 a) noexcept nogil:
    """A vector given in these axes."""
    return wide3(axes.x.x * a.x + axes.y.x * a.y + axes.z.x * a.z,
                 axes.x.y * a.x + axes.y.y * a.y + axes.z.y * a.z,
                 axes.x.z * a.x + axes.y.z * a.y + axes.z.z * a.z)


cdef inline Wide3 splat3(const double* a) noexcept nogil:
    return wide3(splat(a[0]), splat(a[1]), splat(a[2]))


cdef inline Axes turned_about_z(const Axes* axes, Wide sine, Wide cosine) noexcept nogil:
    cdef Axes turned
    turned.x = w_add_scaled(w_scale(cosine, axes.x), sine, axes.y)
    turned.y = w_sub(w_scale(cosine, axes.y), w_scale(sine, axes.x))
    turned.z = axes.z
    return turned


cdef inline Axes turned_about_x(const Axes* axes, Wide sine, Wide cosine) noexcept nogil:
    cdef Axes turned
    turned.x = axes.x
    turned.y = w_add_scaled(w_scale(cosine, axes.y), sine, axes.z)
    turned.z = w_sub(w_scale(cosine, axes.z), w_scale(sine, axes.y))
    return turned


cdef inline Axes turned_about_y(const Axes* axes, Wide sine, Wide cosine) noexcept nogil:
    cdef Axes turned
    turned.x = w_sub(w_scale(cosine, axes.x), w_scale(sine, axes.z))
    turned.y = axes.y
    turned.z = w_add_scaled(w_scale(cosine, axes.z), sine, axes.x)
    return turned


cdef inline Axes axes_of(const Wide* q) noexcept nogil:
    """Of a quaternion (w, x, y, z), which need not be of unit length: columns of its rotation matrix."""
    cdef Axes turned
    cdef Wide one = splat(1.0)
    cdef Wide s = splat(2.0) / (q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3])
    cdef Wide w = s * q[0]
    cdef Wide x = s * q[1]
    cdef Wide y = s * q[2]
    cdef Wide z = s * q[3]
    turned.x = wide3(one - (y * q[2] + z * q[3]), x * q[2] + w * q[3], x * q[3] - w * q[2])
    turned.y = wide3(x * q[2] - w * q[3], one - (x * q[1] + z * q[3]), y * q[3] + w * q[1])
    turned.z = wide3(x * q[3] + w * q[2], y * q[3] - w * q[1], one - (x * q[1] + y * q[2]))
    return turned


cdef inline Axes transposed(const Axes* a) noexcept nogil:
    cdef Axes r
    r.x = wide3(a.x.x, a.y.x, a.z.x)
    r.y = wide3(a.x.y, a.y.y, a.z.y)
    r.z = wide3(a.x.z, a.y.z, a.z.z)
    return r


cdef inline Axes product(const Axes* a, const Axes* b) noexcept nogil:
    """b, given in the axes a."""
    cdef Axes r
    r.x = along(a, b.x)
    r.y = along(a, b.y)
    r.z = along(a, b.z)
    return r


# ---- joints ----------------------------------------------------------------------------------------------------------

# A joint at its coordinates: the link's axes, the way from F_p to F_s and the axes of both, in world axes.
ctypedef struct Joined:
    Axes link
    Wide3 way
    Axes successor
    Axes predecessor


cdef inline void turn_ahead(const Tree* tree, const Wide* q) noexcept nogil:
    """Sine and cosine of hinges, before all that waits for a parent: processors go on with the next one while one is on its
    way. They stand in the joint's axis until it is set."""
    cdef const Link* link
    cdef Wide3* room
    cdef Py_ssize_t i
    for i in range(tree.first, tree.end):
        link = &tree.links[i]
        if link.kind == REVOLUTE:
            room = &tree.axes[link.v].axis.w
            w_sine_cosine(q[link.q], &room.x, &room.y)


cdef inline Wide3 along_ways(const Link* link, const Wide* q) noexcept nogil:
    """The first numbers of q or qd as a vector in F_p: each along the next of the link's ways."""
    cdef Wide zero = splat(0.0)
    cdef Wide3 way = wide3(zero, zero, zero)
    cdef int k = 0
    if link.ways & 1:
        way.x = q[k]
        k += 1
    if link.ways & 2:
        way.y = q[k]
        k += 1
    if link.ways & 4:
        way.z = q[k]
    return way


cdef inline void join(const Link* link, const Axes* base, const Wide* q, const double* user, const AxisState* axes,
                      Joined* r) noexcept nogil:
    """After turn_ahead. base: axes of the joint's frame on the parent."""
    cdef Wide zero = splat(0.0)
    cdef Wide3 way = wide3(zero, zero, zero)             # in F_p
    cdef Axes turn, half
    cdef Wide s, c
    cdef int kind = link.kind
    if kind == FIXED or kind == PRISMATIC:
        r.link = base[0]
        if kind == PRISMATIC:
            way.z = q[0]
    elif kind == TURNING or kind == USER or kind == ANGLES_ZYX:
        if kind == TURNING:
            turn = axes_of(&q[link.quaternion])
            way = along_ways(link, q)
        elif kind == USER:
            turn.x = splat3(&user[USER_TURN])
            turn.y = splat3(&user[USER_TURN + 3])
            turn.z = splat3(&user[USER_TURN + 6])
            way = splat3(&user[USER_PLACE])
        else:
            turn = turn_of_angles(q)
        if link.reversed:
            turn = transposed(&turn)
        r.link = product(base, &turn)
    elif kind == ANGLES_ZX:
        if link.reversed:
            w_sine_cosine(q[1], &s, &c)
            half = turned_about_x(base, -s, c)
            w_sine_cosine(q[0], &s, &c)
            r.link = turned_about_z(&half, -s, c)
        else:
            w_sine_cosine(q[0], &s, &c)
            half = turned_about_z(base, s, c)
            w_sine_cosine(q[1], &s, &c)
            r.link = turned_about_x(&half, s, c)
    elif kind == REVOLUTE:
        r.link = turned_about_z(base, -axes.axis.w.x if link.reversed else axes.axis.w.x, axes.axis.w.y)
    else:
        w_sine_cosine(q[1] if kind == CYLINDRICAL else q[2] if kind == PLANAR else q[0], &s, &c)
        r.link = turned_about_z(base, -s if link.reversed else s, c)
        if kind == HELICAL:
            way.z = splat(link.constant) * q[0]
        elif kind == CYLINDRICAL:
            way.z = q[0]
        elif kind == PLANAR:
            way.x = q[0]
            way.y = q[1]
        elif kind == RACK_PINION:
            way.x = splat(link.constant) * q[0]
    if link.reversed:
        r.successor = base[0]
        r.predecessor = r.link
        r.way = along(&r.link, way)
    else:
        r.successor = r.link
        r.predecessor = base[0]
        r.way = along(base, way)


cdef inline Axes turn_of_angles(const Wide* q) noexcept nogil:
    """Rz(yaw) Ry(pitch) Rx(roll)"""
    cdef Wide zero = splat(0.0)
    cdef Wide one = splat(1.0)
    cdef Axes turn
    cdef Wide s, c
    turn.x = wide3(one, zero, zero)
    turn.y = wide3(zero, one, zero)
    turn.z = wide3(zero, zero, one)
    w_sine_cosine(q[0], &s, &c)
    turn = turned_about_z(&turn, s, c)
    w_sine_cosine(q[1], &s, &c)
    turn = turned_about_y(&turn, s, c)
    w_sine_cosine(q[2], &s, &c)
    return turned_about_x(&turn, s, c)


cdef inline void set_axis(AxisState* axis, Wide3 w, Wide3 v) noexcept nogil:
    axis.axis.w = w
    axis.axis.v = v


cdef inline void set_subspace(const Link* link, const Joined* at, const Wide* q, const double* user,
                              AxisState* axes) noexcept nogil:
    """S about the link's origin."""
    cdef Wide zero = splat(0.0)
    cdef Wide3 none = wide3(zero, zero, zero)
    cdef const Axes* f = &at.successor
    cdef Wide s, c
    cdef int kind = link.kind
    cdef int k
    if kind == REVOLUTE:                                 # its axis goes through both origins
        set_axis(axes, w_scale(splat(-1.0), f.z) if link.reversed else f.z, none)
        return
    if kind == PRISMATIC:
        set_axis(axes, none, f.z)
    elif kind == HELICAL:
        set_axis(axes, f.z, w_scale(splat(link.constant), f.z))
    elif kind == CYLINDRICAL:
        set_axis(&axes[0], none, f.z)
        set_axis(&axes[1], f.z, none)
    elif kind == PLANAR:
        set_axis(&axes[0], none, f.x)
        set_axis(&axes[1], none, f.y)
        set_axis(&axes[2], f.z, none)
    elif kind == TURNING:
        k = 0
        if link.ways & 1:
            set_axis(&axes[k], none, at.predecessor.x)
            k += 1
        if link.ways & 2:
            set_axis(&axes[k], none, at.predecessor.y)
            k += 1
        if link.ways & 4:
            set_axis(&axes[k], none, at.predecessor.z)
            k += 1
        set_axis(&axes[k], f.x, none)
        set_axis(&axes[k + 1], f.y, none)
        set_axis(&axes[k + 2], f.z, none)
    elif kind == ANGLES_ZYX:
        set_angle_axes(f, q, axes)
    elif kind == ANGLES_ZX:
        w_sine_cosine(q[1], &s, &c)
        set_axis(&axes[0], w_add_scaled(w_scale(c, f.z), s, f.y), none)
        set_axis(&axes[1], f.x, none)
    elif kind == RACK_PINION:
        w_sine_cosine(q[0], &s, &c)
        set_axis(axes, f.z, w_scale(splat(link.constant), w_sub(w_scale(c, f.x), w_scale(s, f.y))))
    elif kind == USER:
        for k in range(link.freedoms):
            set_axis(&axes[k], along(f, splat3(&user[USER_SUBSPACE + 6 * k])),
                     along(f, splat3(&user[USER_SUBSPACE + 6 * k + 3])))
    if link.reversed:
        for k in range(link.freedoms):
            axes[k].axis.v = w_sub(w_cross(axes[k].axis.w, at.way), axes[k].axis.v)
            axes[k].axis.w = w_scale(splat(-1.0), axes[k].axis.w)


cdef inline void set_angle_axes(const Axes* f, const Wide* q, AxisState* axes) noexcept nogil:
    """Of yaw, pitch and roll: w = yaw' z + pitch' Rz y + roll' Rz Ry x, seen from F_s."""
    cdef Wide zero = splat(0.0)
    cdef Wide3 none = wide3(zero, zero, zero)
    cdef Wide sp, cp, sr, cr
    w_sine_cosine(q[1], &sp, &cp)
    w_sine_cosine(q[2], &sr, &cr)
    set_axis(&axes[0], along(f, wide3(-sp, cp * sr, cp * cr)), none)
    set_axis(&axes[1], along(f, wide3(zero, cr, -sr)), none)
    set_axis(&axes[2], f.x, none)


cdef inline bint bends(const Link* link) noexcept nogil:
    """Whether S, seen from F_s, changes with q."""
    return (link.kind == ANGLES_ZX or link.kind == ANGLES_ZYX or link.ways or link.kind == RACK_PINION
            or link.kind == USER)


cdef inline Motion bending(const Link* link, const Axes* f, const Wide* q, const Wide* qd,
                           const double* user) noexcept nogil:
    """The apparent derivative of S in F_s, times qd, about the origin of F_s."""
    cdef Wide zero = splat(0.0)
    cdef const Wide* qd_turn
    cdef Motion r
    cdef Axes turn
    cdef Wide s, c, sp, cp
    r.w = wide3(zero, zero, zero)
    r.v = r.w
    if link.kind == ANGLES_ZX:
        w_sine_cosine(q[1], &s, &c)
        r.w = w_scale(qd[0] * qd[1], w_sub(w_scale(c, f.y), w_scale(s, f.z)))
    elif link.kind == ANGLES_ZYX:
        w_sine_cosine(q[1], &sp, &cp)
        w_sine_cosine(q[2], &s, &c)
        r.w = along(f, wide3(-cp * qd[1] * qd[0],
                             (cp * c * qd[2] - sp * s * qd[1]) * qd[0] - s * qd[2] * qd[1],
                             (-cp * s * qd[2] - sp * c * qd[1]) * qd[0] - c * qd[2] * qd[1]))
    elif link.kind == TURNING:                           # its first columns stand still in F_p
        turn = axes_of(&q[link.quaternion])
        turn = transposed(&turn)
        qd_turn = &qd[link.quaternion]
        r.v = along(f, w_cross(along(&turn, along_ways(link, qd)), wide3(qd_turn[0], qd_turn[1], qd_turn[2])))
    elif link.kind == RACK_PINION:
        w_sine_cosine(q[0], &s, &c)
        r.v = w_scale(splat(-link.constant) * qd[0] * qd[0], w_add_scaled(w_scale(s, f.x), c, f.y))
    else:
        r.w = along(f, splat3(&user[USER_BIAS]))
        r.v = along(f, splat3(&user[USER_BIAS + 3]))
    return r
