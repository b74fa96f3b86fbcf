# The algorithms over a tree, one state a lane: kinematics, recursive Newton-Euler, composite rigid bodies, articulated
# bodies. After R. Featherstone, Rigid Body Dynamics Algorithms, 2008, tables 5.1, 6.2, 7.1; in world axes, so that to
# come from a link to its parent only the point is moved that vectors are about: with r from the parent's origin,
#     [w; v] -> [w; v + w x r],    [n; f] -> [n + r x f; f].
# A rotor that goes with a velocity of a joint adds its armature to the diagonal of H.

# ---- spatial arithmetic ----------------------------------------------------------------------------------------------

cdef inline Motion moved_out(Motion m, Wide3 arm) noexcept nogil:
    """A parent's motion, about the link's origin."""
    m.v = w_add(m.v, w_cross(m.w, arm))
    return m


cdef inline void add_moved_in(Force* parent, const Force* f, Wide3 arm) noexcept nogil:
    """parent += f, about the parent's origin."""
    parent.n = w_add(parent.n, w_add(f.n, w_cross(arm, f.f)))
    parent.f = w_add(parent.f, f.f)


cdef inline Wide pairing(const Motion* m, const Force* f) noexcept nogil:
    """m . f, a power."""
    return w_dot(m.w, f.n) + w_dot(m.v, f.f)


cdef inline Motion crossed(const Motion* a, const Motion* b) noexcept nogil:
    """a x b of motions."""
    cdef Motion r
    r.w = w_cross(a.w, b.w)
    r.v = w_add(w_cross(a.w, b.v), w_cross(a.v, b.w))
    return r


cdef inline Motion scaled_axes(const AxisState* axes, int count, const Wide* rates) noexcept nogil:
    """S times rates."""
    cdef Motion r
    cdef int k
    r.w = w_scale(rates[0], axes[0].axis.w)
    r.v = w_scale(rates[0], axes[0].axis.v)
    for k in range(1, count):
        r.w = w_add_scaled(r.w, rates[k], axes[k].axis.w)
        r.v = w_add_scaled(r.v, rates[k], axes[k].axis.v)
    return r


cdef inline Wide6 plus_arm(const Wide6* about_com, Wide mass, Wide3 c) noexcept nogil:
    """Inertia about a point from which the centre of mass is at c: I - m [c]x [c]x."""
    cdef Wide6 r
    cdef Wide3 mc = w_scale(mass, c)
    r.xx = about_com.xx + (mc.y * c.y + mc.z * c.z)
    r.xy = about_com.xy - mc.x * c.y
    r.xz = about_com.xz - mc.x * c.z
    r.yy = about_com.yy + (mc.x * c.x + mc.z * c.z)
    r.yz = about_com.yz - mc.y * c.z
    r.zz = about_com.zz + (mc.x * c.x + mc.y * c.y)
    return r


# ---- poses and velocities --------------------------------------------------------------------------------------------

cdef inline Wide6 turned_inertia(const LinkState* s, const double* i) noexcept nogil:
    """R I R' for the constant I = xx xy xz yy yz zz in link axes."""
    cdef Wide3 a = w_add_scaled(w_add_scaled(w_scale(splat(i[0]), s.x), splat(i[1]), s.y), splat(i[2]), s.z)
    cdef Wide3 b = w_add_scaled(w_add_scaled(w_scale(splat(i[1]), s.x), splat(i[3]), s.y), splat(i[4]), s.z)
    cdef Wide3 c = w_add_scaled(w_add_scaled(w_scale(splat(i[2]), s.x), splat(i[4]), s.y), splat(i[5]), s.z)
    cdef Wide6 r
    r.xx = a.x * s.x.x + b.x * s.y.x + c.x * s.z.x
    r.xy = a.x * s.x.y + b.x * s.y.y + c.x * s.z.y
    r.xz = a.x * s.x.z + b.x * s.y.z + c.x * s.z.z
    r.yy = a.y * s.x.y + b.y * s.y.y + c.y * s.z.y
    r.yz = a.y * s.x.z + b.y * s.y.z + c.y * s.z.z
    r.zz = a.z * s.x.z + b.z * s.y.z + c.z * s.z.z
    return r


cdef void begin(Tree* tree) noexcept nogil:
    """The base, which stands still at the world's origin. All memory is 0 before."""
    cdef LinkState* base = &tree.states[0]
    base.x.x = splat(1.0)
    base.y.y = splat(1.0)
    base.z.z = splat(1.0)


cdef inline Axes joint_axes(const Link* link, const Axes* parent) noexcept nogil:
    """Of the joint's frame on the parent."""
    cdef Axes base
    base.x = along(parent, splat3(&link.turn[0]))
    base.y = along(parent, splat3(&link.turn[3]))
    base.z = along(parent, splat3(&link.turn[6]))
    return base


cdef void place(Tree* tree, const Wide* q) noexcept nogil:
    cdef const Link* link
    cdef LinkState* s
    cdef const LinkState* parent
    cdef const double* user = NULL
    cdef Axes base, own
    cdef Joined at
    cdef Py_ssize_t i
    turn_ahead(tree, q)
    for i in range(tree.first, tree.end):
        link = &tree.links[i]
        s = &tree.states[i + 1]
        parent = &tree.states[link.parent + 1]
        own.x, own.y, own.z = parent.x, parent.y, parent.z
        if link.user >= 0:
            user = &tree.user[link.user]
        base = joint_axes(link, &own)
        join(link, &base, &q[link.q], user, &tree.axes[link.v], &at)
        s.x, s.y, s.z = at.link.x, at.link.y, at.link.z
        s.arm = along(&own, splat3(&link.place.x))
        if link.kind != REVOLUTE:
            s.arm = w_sub(s.arm, at.way) if link.reversed else w_add(s.arm, at.way)
        s.position = w_add(parent.position, s.arm)
        s.com = along(&at.link, splat3(&link.com.x))
        s.about_com = turned_inertia(s, link.inertia)
        set_subspace(link, &at, &q[link.q], user, &tree.axes[link.v])


cdef inline void shift(Tree* tree, Py_ssize_t root, Py_ssize_t end, const Wide* q) noexcept nogil:
    """After place, of a loose tree [root, end): its root is somewhere else since, and nothing has turned."""
    cdef const Link* link = &tree.links[root]
    cdef LinkState* s = &tree.states[root + 1]
    cdef const LinkState* parent = &tree.states[link.parent + 1]
    cdef Axes base, own
    cdef Py_ssize_t i
    own.x, own.y, own.z = parent.x, parent.y, parent.z
    base = joint_axes(link, &own)
    s.arm = w_add(along(&own, splat3(&link.place.x)), along(&base, along_ways(link, &q[link.q])))
    for i in range(root, end):
        s = &tree.states[i + 1]
        s.position = w_add(tree.states[tree.links[i].parent + 1].position, s.arm)


cdef Motion bent(const Tree* tree, const Link* link, const LinkState* s, const Wide* q, const Wide* qd) noexcept nogil:
    """What a joint adds to c because S, seen from F_s, changes; about the link's origin."""
    cdef const LinkState* parent = &tree.states[link.parent + 1]
    cdef const double* user = NULL
    cdef Wide minus = splat(-1.0)
    cdef Axes own, f
    cdef Wide3 way
    cdef Motion r
    if link.user >= 0:
        user = &tree.user[link.user]
    f.x, f.y, f.z = s.x, s.y, s.z
    if not link.reversed:
        return bending(link, &f, &q[link.q], &qd[link.v], user)
    own.x, own.y, own.z = parent.x, parent.y, parent.z
    f = joint_axes(link, &own)
    way = w_sub(along(&own, splat3(&link.place.x)), s.arm)
    r = bending(link, &f, &q[link.q], &qd[link.v], user)
    r.v = w_sub(w_cross(r.w, way), r.v)
    r.w = w_scale(minus, r.w)
    return r


cdef void move(Tree* tree, const Wide* q, const Wide* qd) noexcept nogil:
    """v = X v_parent + v_J; c = v x v_J + what S itself changes."""
    cdef Wide zero = splat(0.0)
    cdef const Link* link
    cdef LinkState* s
    cdef Motion joint, more
    cdef Py_ssize_t i
    for i in range(tree.first, tree.end):
        link = &tree.links[i]
        s = &tree.states[i + 1]
        s.velocity = moved_out(tree.states[link.parent + 1].velocity, s.arm)
        if link.freedoms == 0:
            s.bias.w = wide3(zero, zero, zero)
            s.bias.v = s.bias.w
            continue
        joint = scaled_axes(&tree.axes[link.v], link.freedoms, &qd[link.v])
        s.velocity.w = w_add(s.velocity.w, joint.w)
        s.velocity.v = w_add(s.velocity.v, joint.v)
        s.bias = crossed(&s.velocity, &joint)
        if bends(link):
            more = bent(tree, link, s, q, qd)
            s.bias.w = w_add(s.bias.w, more.w)
            s.bias.v = w_add(s.bias.v, more.v)


cdef inline Force bias_force(const Link* link, const LinkState* s, const Wide* forces) noexcept nogil:
    """p = v x* I v less gravity and what is applied at the centre of mass (NULL: nothing). With u = v + w x c the
    velocity of the centre of mass and L = I_c w: I v = [L + c x m u; m u], and p = [w x L + c x (w x m u); w x m u]
    but for v x m u, which the two parts of it have with opposite signs and which is taken together here."""
    cdef Force p
    cdef const Wide* applied
    cdef Wide mass = splat(link.mass)
    cdef Wide3 arm = w_cross(s.velocity.w, s.com)
    cdef Wide3 spin = w_times(&s.about_com, s.velocity.w)
    cdef Wide3 pull = w_cross(s.velocity.w, w_add(s.velocity.v, arm))
    p.f = w_scale(mass, w_sub(pull, splat3(&link.weight.x)))
    p.n = w_cross(s.velocity.w, spin)
    if forces != NULL:
        applied = &forces[6 * link.body]
        p.f = w_sub(p.f, wide3(applied[0], applied[1], applied[2]))
        p.n = w_sub(p.n, wide3(applied[3], applied[4], applied[5]))
    p.n = w_add(p.n, w_cross(s.com, p.f))
    return p


# ---- recursive Newton-Euler ------------------------------------------------------------------------------------------

cdef inline Force inertial_force(const Link* link, const LinkState* s, const Motion* a) noexcept nogil:
    """I a"""
    cdef Force r
    r.f = w_scale(splat(link.mass), w_add(a.v, w_cross(a.w, s.com)))
    r.n = w_add(w_times(&s.about_com, a.w), w_cross(s.com, r.f))
    return r


cdef void inverse_dynamics(Tree* tree, const Wide* qdd, const Wide* forces, Wide* tau) noexcept nogil:
    cdef const Link* link
    cdef LinkState* s
    cdef LinkState* parent
    cdef Motion a, joint
    cdef Force inertial
    cdef Py_ssize_t i
    cdef int k
    for i in range(tree.first, tree.end):
        link = &tree.links[i]
        s = &tree.states[i + 1]
        a = moved_out(tree.states[link.parent + 1].acceleration, s.arm)
        a.w = w_add(a.w, s.bias.w)
        a.v = w_add(a.v, s.bias.v)
        if qdd != NULL and link.freedoms > 0:
            joint = scaled_axes(&tree.axes[link.v], link.freedoms, &qdd[link.v])
            a.w = w_add(a.w, joint.w)
            a.v = w_add(a.v, joint.v)
        s.acceleration = a
        inertial = inertial_force(link, s, &a)
        s.force = bias_force(link, s, forces)
        s.force.n = w_add(s.force.n, inertial.n)
        s.force.f = w_add(s.force.f, inertial.f)
    for i in range(tree.end - 1, tree.first - 1, -1):
        link = &tree.links[i]
        s = &tree.states[i + 1]
        for k in range(link.freedoms):
            tau[link.v + k] = pairing(&tree.axes[link.v + k].axis, &s.force)
            if qdd != NULL and link.armature[k] != 0.0:
                tau[link.v + k] = tau[link.v + k] + splat(link.armature[k]) * qdd[link.v + k]
        if link.parent >= 0:
            add_moved_in(&tree.states[link.parent + 1].force, &s.force, s.arm)


# ---- composite rigid bodies ------------------------------------------------------------------------------------------

# A composite body is its mass, first moment and inertia about the link's origin: these add up. In `inertia`: the mass is
# moving.xx, the first moment mixed_x, the inertia turning.

cdef inline void add_composite(Inertia* parent, const Inertia* own, Wide3 arm) noexcept nogil:
    """About the parent's origin: with r the arm and h the first moment, I - [r]x [h]x - [h]x [r]x - m [r]x [r]x."""
    cdef Wide mass = own.moving.xx
    cdef Wide3 h = own.mixed_x
    cdef Wide3 g = w_add_scaled(w_scale(splat(2.0), h), mass, arm)      # r g' has the sum of the three, symmetrized
    cdef Wide half = splat(0.5)
    cdef Wide xx = arm.x * g.x
    cdef Wide yy = arm.y * g.y
    cdef Wide zz = arm.z * g.z
    parent.turning.xx = parent.turning.xx + (own.turning.xx + (yy + zz))
    parent.turning.yy = parent.turning.yy + (own.turning.yy + (xx + zz))
    parent.turning.zz = parent.turning.zz + (own.turning.zz + (xx + yy))
    parent.turning.xy = parent.turning.xy + (own.turning.xy - half * (arm.x * g.y + arm.y * g.x))
    parent.turning.xz = parent.turning.xz + (own.turning.xz - half * (arm.x * g.z + arm.z * g.x))
    parent.turning.yz = parent.turning.yz + (own.turning.yz - half * (arm.y * g.z + arm.z * g.y))
    parent.mixed_x = w_add(parent.mixed_x, w_add_scaled(h, mass, arm))
    parent.moving.xx = parent.moving.xx + mass


cdef inline Force composite_force(const Inertia* c, const Motion* a) noexcept nogil:
    """I a: n = I w + h x v, f = m v + w x h"""
    cdef Force r
    r.n = w_add(w_times(&c.turning, a.w), w_cross(c.mixed_x, a.v))
    r.f = w_add(w_scale(c.moving.xx, a.v), w_cross(a.w, c.mixed_x))
    return r


cdef void mass_matrix(Tree* tree, Wide* h) noexcept nogil:
    cdef Wide mass
    cdef const Link* link
    cdef const Link* up
    cdef LinkState* s
    cdef const LinkState* at
    cdef Force f
    cdef Py_ssize_t i, row, column, nv = tree.nv
    cdef int k, j
    memset(h, 0, nv * nv * sizeof(Wide))
    for i in range(tree.first, tree.end):
        link = &tree.links[i]
        s = &tree.states[i + 1]
        mass = splat(link.mass)
        s.inertia.moving.xx = mass
        s.inertia.mixed_x = w_scale(mass, s.com)
        s.inertia.turning = plus_arm(&s.about_com, mass, s.com)
    for i in range(tree.end - 1, tree.first - 1, -1):
        link = &tree.links[i]
        s = &tree.states[i + 1]
        if link.parent >= 0:
            add_composite(&tree.states[link.parent + 1].inertia, &s.inertia, s.arm)
        for k in range(link.freedoms):
            column = link.v + k
            f = composite_force(&s.inertia, &tree.axes[column].axis)
            for j in range(k + 1):
                row = link.v + j
                h[row * nv + column] = pairing(&tree.axes[row].axis, &f)
                h[column * nv + row] = h[row * nv + column]
            h[column * nv + column] = h[column * nv + column] + splat(link.armature[k])
            up = link
            at = s
            while up.parent >= 0:
                f.n = w_add(f.n, w_cross(at.arm, f.f))
                at = &tree.states[up.parent + 1]
                up = &tree.links[up.parent]
                for j in range(up.freedoms):
                    row = up.v + j
                    h[row * nv + column] = pairing(&tree.axes[row].axis, &f)
                    h[column * nv + row] = h[row * nv + column]


# ---- articulated bodies ----------------------------------------------------------------------------------------------

cdef inline Force articulated_force(const Inertia* i, const Motion* a) noexcept nogil:
    """I a"""
    cdef Force r
    r.n = w_add(w_times(&i.turning, a.w),
                wide3(w_dot(i.mixed_x, a.v), w_dot(i.mixed_y, a.v), w_dot(i.mixed_z, a.v)))
    r.f = w_add(w_times(&i.moving, a.v),
                w_add_scaled(w_add_scaled(w_scale(a.w.x, i.mixed_x), a.w.y, i.mixed_y), a.w.z, i.mixed_z))
    return r


cdef inline void take_symmetric(Wide6* m, Wide3 a, Wide3 b) noexcept nogil:
    """m -= a b', where that is symmetric"""
    m.xx = m.xx - a.x * b.x
    m.xy = m.xy - a.x * b.y
    m.xz = m.xz - a.x * b.z
    m.yy = m.yy - a.y * b.y
    m.yz = m.yz - a.y * b.z
    m.zz = m.zz - a.z * b.z


cdef inline void give_way(Inertia* i, const Force* pull, Wide inverse) noexcept nogil:
    """I -= U U' / D: what is left of an inertia where it gives way along an axis."""
    cdef Wide3 n = w_scale(inverse, pull.n)
    cdef Wide3 f = w_scale(inverse, pull.f)
    take_symmetric(&i.turning, n, pull.n)
    take_symmetric(&i.moving, f, pull.f)
    i.mixed_x = w_sub(i.mixed_x, w_scale(n.x, pull.f))
    i.mixed_y = w_sub(i.mixed_y, w_scale(n.y, pull.f))
    i.mixed_z = w_sub(i.mixed_z, w_scale(n.z, pull.f))


cdef inline void add_articulated(Inertia* parent, const Inertia* own, Wide3 arm) noexcept nogil:
    """About the parent's origin: mixed' = mixed + [r]x moving, turning' = turning + [r]x mixed'' + ([r]x mixed_own')'."""
    cdef const Wide6* m = &own.moving
    cdef Wide3 x = own.mixed_x
    cdef Wide3 y = own.mixed_y
    cdef Wide3 z = own.mixed_z
    # Rows of [r]x moving.
    cdef Wide3 p = wide3(arm.y * m.xz - arm.z * m.xy, arm.y * m.yz - arm.z * m.yy, arm.y * m.zz - arm.z * m.yz)
    cdef Wide3 q = wide3(arm.z * m.xx - arm.x * m.xz, arm.z * m.xy - arm.x * m.yz, arm.z * m.xz - arm.x * m.zz)
    cdef Wide3 s = wide3(arm.x * m.xy - arm.y * m.xx, arm.x * m.yy - arm.y * m.xy, arm.x * m.yz - arm.y * m.xz)
    cdef Wide3 a = w_add(x, p)                     # rows of mixed'
    cdef Wide3 b = w_add(y, q)
    cdef Wide3 c = w_add(z, s)
    cdef Wide6* t = &parent.turning
    cdef const Wide6* o = &own.turning
    # Column j of [r]x M' is r x (row j of M).
    t.xx = t.xx + (o.xx + ((arm.y * a.z - arm.z * a.y) + (arm.y * x.z - arm.z * x.y)))
    t.xy = t.xy + (o.xy + ((arm.y * b.z - arm.z * b.y) + (arm.z * x.x - arm.x * x.z)))
    t.xz = t.xz + (o.xz + ((arm.y * c.z - arm.z * c.y) + (arm.x * x.y - arm.y * x.x)))
    t.yy = t.yy + (o.yy + ((arm.z * b.x - arm.x * b.z) + (arm.z * y.x - arm.x * y.z)))
    t.yz = t.yz + (o.yz + ((arm.z * c.x - arm.x * c.z) + (arm.x * y.y - arm.y * y.x)))
    t.zz = t.zz + (o.zz + ((arm.x * c.y - arm.y * c.x) + (arm.x * z.y - arm.y * z.x)))
    parent.mixed_x = w_add(parent.mixed_x, a)
    parent.mixed_y = w_add(parent.mixed_y, b)
    parent.mixed_z = w_add(parent.mixed_z, c)
    parent.moving.xx = parent.moving.xx + m.xx
    parent.moving.xy = parent.moving.xy + m.xy
    parent.moving.xz = parent.moving.xz + m.xz
    parent.moving.yy = parent.moving.yy + m.yy
    parent.moving.yz = parent.moving.yz + m.yz
    parent.moving.zz = parent.moving.zz + m.zz


cdef inline void set_articulated(const Link* link, LinkState* s) noexcept nogil:
    """The link's own inertia."""
    cdef Wide zero = splat(0.0)
    cdef Wide mass = splat(link.mass)
    cdef Wide3 h = w_scale(mass, s.com)
    s.inertia.turning = plus_arm(&s.about_com, mass, s.com)
    s.inertia.mixed_x = wide3(zero, -h.z, h.y)
    s.inertia.mixed_y = wide3(h.z, zero, -h.x)
    s.inertia.mixed_z = wide3(-h.y, h.x, zero)
    s.inertia.moving.xx = mass
    s.inertia.moving.yy = mass
    s.inertia.moving.zz = mass
    s.inertia.moving.xy = zero
    s.inertia.moving.xz = zero
    s.inertia.moving.yz = zero


cdef inline void eliminate(LinkState* s, AxisState* axis, double armature, bint turns) noexcept nogil:
    """U = I S, D = S' U + armature, then I -= U U' / D. The axes of a joint one after the other: a factorization of its
    block. turns: the axis goes through the origin."""
    if turns:
        axis.pull.n = w_times(&s.inertia.turning, axis.axis.w)
        axis.pull.f = w_add_scaled(w_add_scaled(w_scale(axis.axis.w.x, s.inertia.mixed_x), axis.axis.w.y,
                                                s.inertia.mixed_y), axis.axis.w.z, s.inertia.mixed_z)
        axis.inverse = splat(1.0) / (w_dot(axis.axis.w, axis.pull.n) + splat(armature))
    else:
        axis.pull = articulated_force(&s.inertia, &axis.axis)
        axis.inverse = splat(1.0) / (pairing(&axis.axis, &axis.pull) + splat(armature))
    give_way(&s.inertia, &axis.pull, axis.inverse)


cdef void factor(Tree* tree) noexcept nogil:
    """After place: articulated inertias, from the tips to the base. They factor H."""
    cdef const Link* link
    cdef LinkState* s
    cdef Py_ssize_t i
    cdef int k
    for i in range(tree.first, tree.end):
        set_articulated(&tree.links[i], &tree.states[i + 1])
    for i in range(tree.end - 1, tree.first - 1, -1):
        link = &tree.links[i]
        s = &tree.states[i + 1]
        if link.given:
            pass
        elif link.kind == REVOLUTE:
            eliminate(s, &tree.axes[link.v], link.armature[0], True)
        else:
            for k in range(link.freedoms):
                eliminate(s, &tree.axes[link.v + k], link.armature[k], False)
        if link.parent >= 0:
            add_articulated(&tree.states[link.parent + 1].inertia, &s.inertia, s.arm)


cdef inline void go_in(const Link* link, LinkState* s, AxisState* axes, const Wide* tau) noexcept nogil:
    """u = tau - S' p, p += U u / D, axis by axis. Where accelerations are given, they join c."""
    cdef AxisState* axis
    cdef Motion more
    cdef Wide step
    cdef int k
    if link.given:
        if link.freedoms > 0:
            more = scaled_axes(axes, link.freedoms, tau)
            s.bias.w = w_add(s.bias.w, more.w)
            s.bias.v = w_add(s.bias.v, more.v)
        return
    for k in range(link.freedoms):
        axis = &axes[k]
        axis.rest = tau[k] - pairing(&axis.axis, &s.force)
        step = axis.rest * axis.inverse
        s.force.n = w_add_scaled(s.force.n, step, axis.pull.n)
        s.force.f = w_add_scaled(s.force.f, step, axis.pull.f)


cdef inline Motion go_out(const Link* link, const AxisState* axes, Motion a, Wide* rates) noexcept nogil:
    """Rates (u - U' a) / D of a joint whose base moves by a, and the link's own motion then."""
    cdef const AxisState* axis
    cdef int k
    for k in range(link.freedoms - 1, -1, -1):
        axis = &axes[k]
        rates[k] = (axis.rest - pairing(&a, &axis.pull)) * axis.inverse
        a.w = w_add_scaled(a.w, rates[k], axis.axis.w)
        a.v = w_add_scaled(a.v, rates[k], axis.axis.v)
    return a


cdef void accelerate(Tree* tree, const Wide* tau, const Wide* forces, Wide* qdd) noexcept nogil:
    """After factor and move."""
    cdef Py_ssize_t i
    for i in range(tree.first, tree.end):
        tree.states[i + 1].force = bias_force(&tree.links[i], &tree.states[i + 1], forces)
    respond_to_all(tree, tau, qdd)


cdef void respond_to_all(Tree* tree, const Wide* tau, Wide* qdd) noexcept nogil:
    """After factor: accelerations of what the links' `bias` and `force` and the joints' tau say, or velocities where these
    are impulses."""
    cdef const Link* link
    cdef LinkState* s
    cdef Motion a
    cdef Force pushed
    cdef Py_ssize_t i
    cdef int k
    for i in range(tree.end - 1, tree.first - 1, -1):
        link = &tree.links[i]
        s = &tree.states[i + 1]
        go_in(link, s, &tree.axes[link.v], &tau[link.v])
        if link.parent >= 0:
            pushed = articulated_force(&s.inertia, &s.bias)
            pushed.n = w_add(pushed.n, s.force.n)
            pushed.f = w_add(pushed.f, s.force.f)
            add_moved_in(&tree.states[link.parent + 1].force, &pushed, s.arm)
    for i in range(tree.first, tree.end):
        link = &tree.links[i]
        s = &tree.states[i + 1]
        a = moved_out(tree.states[link.parent + 1].acceleration, s.arm)
        a.w = w_add(a.w, s.bias.w)
        a.v = w_add(a.v, s.bias.v)
        if link.given:
            for k in range(link.freedoms):
                qdd[link.v + k] = tau[link.v + k]
            s.acceleration = a
        else:
            s.acceleration = go_out(link, &tree.axes[link.v], a, &qdd[link.v])


cdef void forward_dynamics(Tree* tree, const Wide* tau, const Wide* forces, Wide* qdd) noexcept nogil:
    factor(tree)
    accelerate(tree, tau, forces, qdd)
