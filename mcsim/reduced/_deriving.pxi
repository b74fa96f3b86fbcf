# Derivatives of inverse and forward dynamics, one state a lane. Included after _kernels.pxi.
#
# A motion by one coordinate q_j turns and moves all that its axis S_j bears, as a rigid whole: a spatial vector x of it
# changes by S_j x x (forces: S_j x* x) and by D_j x, what is seen from there. With the velocity U and acceleration A of
# what stands before the axis,
#
#     D_j v = U x S_j =: first_j,    D_j a = A x S_j + U x first_j - v x first_j =: second_j - v x first_j,
#
# the same first_j and second_j for every link that j bears; and by the velocity variable v changes by S_j, a by
# both_j - v x S_j, where both_j = first_j + dS_j/dt. So the force I a + v x* I v on a link changes by
#
#     D_j f = I second_j + 2B first_j,        df/dqd_j = I both_j + 2B S_j,     2B x = v x* I x - I (v x x) + x x* (I v),
#
# and I, 2B and f of all links that something bears add up. For i at or above the lower one of i and j,
#
#     dtau_i/dq_j = S_i . D_j F_j                        j above i, with I and 2B of what i bears,
#     dtau_i/dq_j = S_i . (D_j F_j + S_j x* F_j)         i above j.
#
# J. Carpentier, N. Mansard, "Analytical derivatives of rigid body dynamics algorithms", RSS 2018; S. Singh, R. Russell,
# P. Wensing, "Efficient analytical derivatives of rigid-body dynamics using spatial vector algebra", RA-L 2022, the
# equations of which these are but for: axes of one joint that do not all turn with it (marches_before), forces that keep
# their direction in the world while the bodies turn, and 2B, of which only 12 numbers are not 0, for it acts on angular
# rates alone: 2B [a; .] = [T a; a x p], p = 2 m u, T = -2 w x (tr(I_c)/2 - I_c) about the centre of mass.

from mcsim.reduced._derivative_records cimport AxisRates, DerivativeKernels, Deriving, LinkTurning, TurningForce
from mcsim.wide._lanes cimport root


# ---- forces by turning -----------------------------------------------------------------------------------------------

cdef inline Force turned_force(const TurningForce* t, Wide3 a) noexcept nogil:
    """[T a; a x p]"""
    cdef Force r
    r.n = wide3(w_dot(t.x, a), w_dot(t.y, a), w_dot(t.z, a))
    r.f = w_cross(a, t.p)
    return r


cdef inline Wide3 turning_power(const TurningForce* t, const Motion* m) noexcept nogil:
    """g with m . [T a; a x p] = a . g for every a."""
    return w_add(w_add_scaled(w_add_scaled(w_scale(m.w.x, t.x), m.w.y, t.y), m.w.z, t.z), w_cross(t.p, m.v))


cdef inline void add_turning(TurningForce* sum, const TurningForce* own, Wide3 arm) noexcept nogil:
    """sum += own about a point from which its own is at `arm`: T + (r . p) 1 - p r'."""
    cdef Wide d = w_dot(arm, own.p)
    sum.p = w_add(sum.p, own.p)
    sum.x = w_add(sum.x, w_sub(own.x, w_scale(own.p.x, arm)))
    sum.y = w_add(sum.y, w_sub(own.y, w_scale(own.p.y, arm)))
    sum.z = w_add(sum.z, w_sub(own.z, w_scale(own.p.z, arm)))
    sum.x.x = sum.x.x + d
    sum.y.y = sum.y.y + d
    sum.z.z = sum.z.z + d


cdef inline void clear_turning(TurningForce* t) noexcept nogil:
    cdef Wide zero = splat(0.0)
    t.p = wide3(zero, zero, zero)
    t.x = t.y = t.z = t.p


cdef inline TurningForce coriolis_turning(const LinkState* s, Wide mass, Wide3 u) noexcept nogil:
    """2B about the centre of mass, whose velocity is u."""
    cdef const Wide6* i = &s.about_com
    cdef Wide3 w = w_scale(splat(2.0), s.velocity.w)
    cdef Wide half = splat(0.5) * (i.xx + i.yy + i.zz)
    cdef Wide3 x = wide3(half - i.xx, -i.xy, -i.xz)
    cdef Wide3 y = wide3(-i.xy, half - i.yy, -i.yz)
    cdef Wide3 z = wide3(-i.xz, -i.yz, half - i.zz)
    cdef TurningForce t
    t.p = w_scale(splat(2.0) * mass, u)
    t.x = w_sub(w_scale(w.z, y), w_scale(w.y, z))
    t.y = w_sub(w_scale(w.x, z), w_scale(w.z, x))
    t.z = w_sub(w_scale(w.y, x), w_scale(w.x, y))
    return t


cdef inline TurningForce pushed_turning(const Force* e) noexcept nogil:
    """Of a force [n; f] that keeps its direction: seen from what turns by a it changes by -a x n, -a x f, and a force that
    is applied counts against those that the joints give."""
    cdef Wide zero = splat(0.0)
    cdef TurningForce t
    t.p = e.f
    t.x = wide3(zero, e.n.z, -e.n.y)
    t.y = wide3(-e.n.z, zero, e.n.x)
    t.z = wide3(e.n.y, -e.n.x, zero)
    return t


# ---- axes of a joint -------------------------------------------------------------------------------------------------

cdef inline void add_motion(Motion* m, Wide s, const Motion* a) noexcept nogil:
    """m += s a"""
    m.w = w_add_scaled(m.w, s, a.w)
    m.v = w_add_scaled(m.v, s, a.v)


cdef inline void set_rates(AxisRates* r, const Motion* axis, const Motion* v, const Motion* a) noexcept nogil:
    """v, a: of what stands before the axis."""
    cdef Motion more
    r.first = crossed(v, axis)
    r.second = crossed(a, axis)
    more = crossed(v, &r.first)
    r.second.w = w_add(r.second.w, more.w)
    r.second.v = w_add(r.second.v, more.v)


cdef inline void pass_axis(const Motion* axis, Wide rate, Wide growth, Motion* v, Motion* a, AxisRates* r) noexcept nogil:
    """Over one axis, whose rate in time is v x S: v and a before it become those behind it."""
    set_rates(r, axis, v, a)
    r.both.w = w_add(r.first.w, r.first.w)
    r.both.v = w_add(r.first.v, r.first.v)
    add_motion(a, growth, axis)
    add_motion(a, rate, &r.first)
    add_motion(v, rate, axis)


cdef inline void pass_three(const AxisState* axes, const Wide* qd, const Wide* qdd, bint backwards, Motion* v, Motion* a,
                            AxisRates* r) noexcept nogil:
    """Over three axes that stand in what is behind them and turn with it; backwards: in what is before them."""
    cdef Motion before_v = v[0]
    cdef Motion before_a = a[0]
    cdef Motion carrier
    cdef int k
    for k in range(3):
        add_motion(v, qd[k], &axes[k].axis)
    carrier = before_v if backwards else v[0]
    for k in range(3):
        r[k].both = crossed(&carrier, &axes[k].axis)
        add_motion(a, qdd[k], &axes[k].axis)
        add_motion(a, qd[k], &r[k].both)
    for k in range(3):
        if backwards:
            set_rates(&r[k], &axes[k].axis, v, a)
        else:
            set_rates(&r[k], &axes[k].axis, &before_v, &before_a)
        r[k].both.w = w_add(r[k].both.w, r[k].first.w)
        r[k].both.v = w_add(r[k].both.v, r[k].first.v)


cdef inline Motion rack_slide(const Link* link, const LinkState* s, const Motion* axis) noexcept nogil:
    """The sliding along x of F_p that a pinion's S is made of, beside a turning about z."""
    cdef Motion r
    r.w = w_scale(splat(0.0), axis.w)
    r.v = w_scale(splat(-link.constant), s.x) if link.reversed else axis.v
    return r


cdef inline void pass_rack(const Motion* slide, const Motion* axis, bint backwards, Wide rate, Wide growth, Motion* v,
                           Motion* a, AxisRates* r) noexcept nogil:
    """Over a sliding and then a turning with one coordinate."""
    cdef Motion turn
    cdef AxisRates more
    turn.w = w_sub(axis.w, slide.w)
    turn.v = w_sub(axis.v, slide.v)
    if backwards:
        pass_axis(&turn, rate, growth, v, a, r)
        pass_axis(slide, rate, growth, v, a, &more)
    else:
        pass_axis(slide, rate, growth, v, a, r)
        pass_axis(&turn, rate, growth, v, a, &more)
    add_motion(&r.first, splat(1.0), &more.first)
    add_motion(&r.second, splat(1.0), &more.second)
    add_motion(&r.both, splat(1.0), &more.both)


cdef inline int first_of_three(const Link* link) noexcept nogil:
    """Where in a joint's velocities three begin that stand in F_s together; as many as there are: they are one by one."""
    return 0 if link.kind == PLANAR else link.quaternion if link.kind == TURNING else link.freedoms


cdef inline bint moves(const Link* link, int three, int k, int i) noexcept nogil:
    """Whether velocity k of a joint moves the axis of velocity i != k: it does where the axis stands behind it, or with it
    in what it moves."""
    if link.reversed:
        return k > i and not (k >= three and i >= three)
    return k < i or (k >= three and i >= three)


cdef inline void pass_joint(const Link* link, const LinkState* s, const AxisState* axes, const Wide* qd, const Wide* qdd,
                            Motion* v, Motion* a, AxisRates* r) noexcept nogil:
    """v and a of the parent, about the link's origin, become the link's. Axes from the parent on."""
    cdef int three = first_of_three(link)
    cdef int k
    cdef Motion slide
    if link.kind == RACK_PINION:
        slide = rack_slide(link, s, &axes.axis)
        pass_rack(&slide, &axes.axis, link.reversed, qd[0], qdd[0], v, a, r)
    elif link.reversed:
        if three < link.freedoms:
            pass_three(&axes[three], &qd[three], &qdd[three], True, v, a, &r[three])
        for k in range(three - 1, -1, -1):
            pass_axis(&axes[k].axis, qd[k], qdd[k], v, a, &r[k])
    else:
        for k in range(three):
            pass_axis(&axes[k].axis, qd[k], qdd[k], v, a, &r[k])
        if three < link.freedoms:
            pass_three(&axes[three], &qd[three], &qdd[three], False, v, a, &r[three])


# ---- inverse dynamics ------------------------------------------------------------------------------------------------

cdef inline void set_own(const Link* link, LinkState* s, const Deriving* room, LinkTurning* turning, const Wide* forces,
                         bint pushed) noexcept nogil:
    """A link's own inertia, force and what they do by turning. Gravity is an acceleration of the base, but for what is
    uneven."""
    cdef Wide mass = splat(link.mass)
    cdef Wide3 u = w_add(s.velocity.v, w_cross(s.velocity.w, s.com))
    cdef Wide3 h = w_scale(mass, s.com)
    cdef TurningForce t
    cdef Force push
    cdef const Wide* applied
    s.inertia.moving.xx = mass
    s.inertia.mixed_x = h
    s.inertia.turning = plus_arm(&s.about_com, mass, s.com)
    s.force.f = w_scale(mass, w_add(w_add(s.acceleration.v, w_cross(s.acceleration.w, s.com)), w_cross(s.velocity.w, u)))
    s.force.n = w_add(w_times(&s.about_com, s.acceleration.w), w_cross(s.velocity.w, w_times(&s.about_com, s.velocity.w)))
    clear_turning(&turning.coriolis)
    t = coriolis_turning(s, mass, u)
    add_turning(&turning.coriolis, &t, s.com)
    if pushed:
        push.f = w_scale(mass, w_sub(splat3(&link.weight.x), splat3(&room.gravity.x)))
        push.n = w_scale(splat(0.0), push.f)
        if forces != NULL:
            applied = &forces[6 * link.body]
            push.f = w_add(push.f, wide3(applied[0], applied[1], applied[2]))
            push.n = wide3(applied[3], applied[4], applied[5])
        s.force.f = w_sub(s.force.f, push.f)
        s.force.n = w_sub(s.force.n, push.n)
        clear_turning(&turning.pushed)
        t = pushed_turning(&push)
        add_turning(&turning.pushed, &t, s.com)
    s.force.n = w_add(s.force.n, w_cross(s.com, s.force.f))


cdef void ride(Tree* tree, const Deriving* room, const Wide* qd, const Wide* qdd) noexcept nogil:
    """After place: velocities, accelerations less gravity, and the rates of all axes."""
    cdef const Link* link
    cdef LinkState* s
    cdef Motion v, a
    cdef Py_ssize_t i
    for i in range(tree.first, tree.end):
        link = &tree.links[i]
        s = &tree.states[i + 1]
        v = moved_out(tree.states[link.parent + 1].velocity, s.arm)
        a = moved_out(tree.states[link.parent + 1].acceleration, s.arm)
        if link.parent < 0:
            a.v = w_sub(a.v, splat3(&room.gravity.x))
        pass_joint(link, s, &tree.axes[link.v], &qd[link.v], &qdd[link.v], &v, &a, &room.axes[link.v])
        s.velocity = v
        s.acceleration = a


# What a column, of the velocity k, brings to the links above it.
ctypedef struct Column:
    Force by_q
    Force by_qd
    Force h
    Wide3 power                  # turning_power of the velocities', and the forces' turning
    Wide3 pushed_power


cdef inline Wide along_axis(const Link* link, const Motion* axis, const Force* f) noexcept nogil:
    """S . f; the axis of a hinge goes through the origin."""
    return w_dot(axis.w, f.n) if link.kind == REVOLUTE else pairing(axis, f)


cdef inline void set_column(const LinkState* s, const LinkTurning* turning, const Motion* axis, const AxisRates* r,
                            bint pushed, Column* c) noexcept nogil:
    cdef Wide zero = splat(0.0)
    cdef Force more
    c.pushed_power = wide3(zero, zero, zero)
    c.h = composite_force(&s.inertia, axis)
    c.by_q = composite_force(&s.inertia, &r.second)
    more = turned_force(&turning.coriolis, r.first.w)
    c.by_q.n = w_add(c.by_q.n, more.n)
    c.by_q.f = w_add(c.by_q.f, more.f)
    c.by_qd = composite_force(&s.inertia, &r.both)
    more = turned_force(&turning.coriolis, axis.w)
    c.by_qd.n = w_add(c.by_qd.n, more.n)
    c.by_qd.f = w_add(c.by_qd.f, more.f)
    c.power = turning_power(&turning.coriolis, axis)
    if pushed:
        more = turned_force(&turning.pushed, axis.w)
        c.by_q.n = w_add(c.by_q.n, more.n)
        c.by_q.f = w_add(c.by_q.f, more.f)
        c.pushed_power = turning_power(&turning.pushed, axis)


cdef inline Wide turned_about(const Motion* a, const Motion* b, const Force* f) noexcept nogil:
    """(a x b) . f"""
    cdef Motion m = crossed(a, b)
    return pairing(&m, f)


cdef inline void move_column(Column* c, Wide3 arm) noexcept nogil:
    c.by_q.n = w_add(c.by_q.n, w_cross(arm, c.by_q.f))
    c.by_qd.n = w_add(c.by_qd.n, w_cross(arm, c.by_qd.f))
    c.h.n = w_add(c.h.n, w_cross(arm, c.h.f))


cdef inline void write_pair(const Link* up, const Motion* axis, const AxisRates* r, const Column* c, bint pushed,
                            Wide* by_q, Wide* by_qd, Wide* h, Py_ssize_t low, Py_ssize_t high) noexcept nogil:
    """Of the axis of a link above a column's. low, high: where column and row of the axis, row and column of the other
    stand."""
    cdef Wide inertial = along_axis(up, axis, &c.h)
    by_q[high] = along_axis(up, axis, &c.by_q)
    by_qd[high] = along_axis(up, axis, &c.by_qd)
    h[high] = inertial
    h[low] = inertial
    by_q[low] = pairing(&r.second, &c.h) + w_dot(r.first.w, c.power)
    if pushed:
        by_q[low] = by_q[low] + w_dot(axis.w, c.pushed_power)
    by_qd[low] = pairing(&r.both, &c.h) + w_dot(axis.w, c.power)


cdef void differentiate(Tree* tree, const Deriving* room, const Wide* qd, const Wide* qdd, const Wide* forces, Wide* by_q,
                        Wide* by_qd, Wide* h, Py_ssize_t stride) noexcept nogil:
    """Rows of the three are `stride` apart."""
    cdef const Link* link
    cdef const Link* up
    cdef LinkState* s
    cdef const LinkState* at
    cdef const AxisState* axes
    cdef Column c
    cdef Motion slide
    cdef Py_ssize_t i, row, column
    cdef int k, j, three
    cdef bint pushed = forces != NULL or room.uneven
    ride(tree, room, qd, qdd)
    for i in range(tree.first, tree.end):
        set_own(&tree.links[i], &tree.states[i + 1], room, &room.links[i], forces, pushed)
    for i in range(tree.end - 1, tree.first - 1, -1):
        link = &tree.links[i]
        s = &tree.states[i + 1]
        axes = &tree.axes[link.v]
        three = first_of_three(link)
        for k in range(link.freedoms):
            column = link.v + k
            set_column(s, &room.links[i], &axes[k].axis, &room.axes[column], pushed, &c)
            for j in range(link.freedoms):
                row = (link.v + j) * stride + column
                by_q[row] = along_axis(link, &axes[j].axis, &c.by_q)
                if j != k and not moves(link, three, k, j):
                    by_q[row] = by_q[row] - turned_about(&axes[k].axis, &axes[j].axis, &s.force)
                by_qd[row] = along_axis(link, &axes[j].axis, &c.by_qd)
                if j <= k:
                    h[row] = along_axis(link, &axes[j].axis, &c.h)
                    h[column * stride + link.v + j] = h[row]
            row = column * stride + column
            h[row] = h[row] + splat(link.armature[k])
            if link.kind == RACK_PINION:                     # its turning does not move its sliding; backwards it does
                slide = rack_slide(link, s, &axes[k].axis)
                row = column * stride + column
                if link.reversed:
                    by_q[row] = by_q[row] + turned_about(&axes[k].axis, &slide, &s.force)
                else:
                    by_q[row] = by_q[row] + turned_about(&slide, &axes[k].axis, &s.force)
            c.by_q.n = w_add(c.by_q.n, w_add(w_cross(axes[k].axis.w, s.force.n), w_cross(axes[k].axis.v, s.force.f)))
            c.by_q.f = w_add(c.by_q.f, w_cross(axes[k].axis.w, s.force.f))
            up = link
            at = s
            while up.parent >= 0:
                move_column(&c, at.arm)
                at = &tree.states[up.parent + 1]
                up = &tree.links[up.parent]
                for row in range(up.v, up.v + up.freedoms):
                    write_pair(up, &tree.axes[row].axis, &room.axes[row], &c, pushed, by_q, by_qd, h,
                               column * stride + row, row * stride + column)
        if link.parent >= 0:
            add_composite(&tree.states[link.parent + 1].inertia, &s.inertia, s.arm)
            add_turning(&room.links[link.parent].coriolis, &room.links[i].coriolis, s.arm)
            if pushed:
                add_turning(&room.links[link.parent].pushed, &room.links[i].pushed, s.arm)
            add_moved_in(&tree.states[link.parent + 1].force, &s.force, s.arm)


# ---- forward dynamics ------------------------------------------------------------------------------------------------

cdef inline void take_row(const Deriving* room, Py_ssize_t k, Wide factor, const Wide* row, Wide* out) noexcept nogil:
    """out -= factor times row, at k and what is above it."""
    cdef Py_ssize_t j, low
    while k >= 0:
        low = room.run[k]
        for j in range(low, k + 1):
            out[j] = out[j] - factor * row[j]
        k = room.above[low]


cdef void invert_factor(const Tree* tree, const Deriving* room, Wide* h, Wide* inverse) noexcept nogil:
    """W = L^-1 of L' L = H along the tree (_ltl.pxd), of free accelerations; of given ones the unit matrix."""
    cdef const Link* link
    cdef Py_ssize_t i, j, k, nv = tree.nv
    cdef Wide pivot
    cdef Wide* row
    cdef Wide* own
    for i in range(tree.first, tree.end):
        link = &tree.links[i]
        for k in range(link.v, link.v + link.freedoms if link.given else link.v):
            for j in range(link.v, link.v + link.freedoms):
                h[k * nv + j] = splat(1.0 if j == k else 0.0)
                inverse[k * nv + j] = splat(0.0)
    for k in range(nv - 1, -1, -1):
        row = h + k * nv
        pivot = splat(1.0) / root(row[k])
        row[k] = pivot
        i = room.above[k]
        while i >= 0:
            row[i] = row[i] * pivot
            i = room.above[i]
        i = room.above[k]
        while i >= 0:
            take_row(room, i, row[i], row, h + i * nv)
            i = room.above[i]
    for k in range(nv):
        row = h + k * nv
        own = inverse + k * nv
        own[k] = row[k]
        i = room.above[k]
        while i >= 0:
            own[i] = splat(0.0)
            i = room.above[i]
        i = room.above[k]
        while i >= 0:
            take_row(room, i, row[i] * row[k], inverse + i * nv, own)
            i = room.above[i]


cdef enum:
    MANY = 8                     # registers of columns at a time
    FEW = 4                      # where fewer than those are left


cdef inline void borne_columns(const int count, const double* factor, Py_ssize_t begin, Py_ssize_t end,
                               const double* columns, Py_ssize_t stride, double* out) noexcept nogil:
    """out = sum over rows [begin, end) of the factor's number times columns."""
    cdef Wide sums[MANY]
    cdef const Wide* row
    cdef Wide f
    cdef Py_ssize_t k
    cdef int g
    for g in range(count):
        sums[g] = splat(0.0)
    for k in range(begin, end):
        f = splat(factor[k])
        row = <const Wide*>(columns + k * stride)
        for g in range(count):
            sums[g] = sums[g] + f * row[g]
    for g in range(count):
        (<Wide*>out)[g] = sums[g]


cdef inline void bearing_columns(const int count, const double* factor, const int32_t* above, Py_ssize_t k,
                                 const double* columns, Py_ssize_t stride, double* out) noexcept nogil:
    """out = - the sum over k and what is above it of the factor's number times columns."""
    cdef Wide sums[MANY]
    cdef const Wide* row
    cdef Wide f
    cdef Py_ssize_t m = k
    cdef int g
    for g in range(count):
        sums[g] = splat(0.0)
    while m >= 0:
        f = splat(factor[m])
        row = <const Wide*>(columns + m * stride)
        for g in range(count):
            sums[g] = sums[g] - f * row[g]
        m = above[m]
    for g in range(count):
        (<Wide*>out)[g] = sums[g]


cdef inline Py_ssize_t columns_at_once(Py_ssize_t left) noexcept nogil:
    """How many registers of columns go next where so many numbers of a row are left."""
    return MANY if left >= MANY * WIDTH else FEW if left >= FEW * WIDTH else 1


cdef void solve(const Tree* tree, const Deriving* room, const double* inverse, const double* transposed, double* columns,
                double* work) noexcept nogil:
    """-W W' of the columns, as many of them at a time as there are lanes, and W W'. So few columns at a time that their
    rows stay at hand."""
    cdef const Link* link
    cdef Py_ssize_t nv = tree.nv
    cdef Py_ssize_t stride = in_eights(3 * nv)
    cdef Py_ssize_t k, m, count, c = 0
    while c < 2 * nv:
        count = columns_at_once(2 * nv - c + WIDTH - 1)
        for m in range(nv):
            if count == MANY:
                borne_columns(MANY, transposed + m * nv, m, room.end[m], columns + c, stride, work + m * stride + c)
            elif count == FEW:
                borne_columns(FEW, transposed + m * nv, m, room.end[m], columns + c, stride, work + m * stride + c)
            else:
                borne_columns(1, transposed + m * nv, m, room.end[m], columns + c, stride, work + m * stride + c)
        c += count * WIDTH
    for m in range(nv):
        memset(work + m * stride + 2 * nv, 0, (stride - 2 * nv) * sizeof(double))
        for k in range(m, room.end[m]):
            work[m * stride + 2 * nv + k] = -transposed[m * nv + k]
    for m in range(tree.first, tree.end):                # by given accelerations: -H^-1 of their columns of H
        link = &tree.links[m]
        for c in range(link.v, link.v + link.freedoms if link.given else link.v):
            give_column(room, nv, transposed, columns + 2 * nv + c, stride, work + 2 * nv + c, c)
    c = 0
    while c < stride:
        count = columns_at_once(stride - c)
        for k in range(nv):
            if count == MANY:
                bearing_columns(MANY, inverse + k * nv, room.above, k, work + c, stride, columns + k * stride + c)
            elif count == FEW:
                bearing_columns(FEW, inverse + k * nv, room.above, k, work + c, stride, columns + k * stride + c)
            else:
                bearing_columns(1, inverse + k * nv, room.above, k, work + c, stride, columns + k * stride + c)
        c += count * WIDTH


cdef void give_column(const Deriving* room, Py_ssize_t nv, const double* transposed, const double* columns,
                      Py_ssize_t stride, double* out, Py_ssize_t given) noexcept nogil:
    """W' of one column, in place of what the factor has there, but for the given velocity's own."""
    cdef Py_ssize_t m, k
    cdef double sum
    for m in range(nv):
        sum = 0.0
        for k in range(m, room.end[m]):
            sum += transposed[m * nv + k] * columns[k * stride]
        out[m * stride] = sum
    out[given * stride] = -1.0


cdef DerivativeKernels DERIVATIVES
DERIVATIVES.link_size = sizeof(LinkTurning)
DERIVATIVES.axis_size = sizeof(AxisRates)
DERIVATIVES.differentiate = differentiate
DERIVATIVES.invert_factor = invert_factor
DERIVATIVES.solve = solve


def derivatives():
    """The table of kernels of derivatives of this level."""
    return PyCapsule_New(&DERIVATIVES, "mcsim.reduced", NULL)
