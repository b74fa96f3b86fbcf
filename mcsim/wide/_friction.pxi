# Friction of contacts, several manifolds at a time: docs/theory/friction.md. Included by _contacts.pxi.
#
# A manifold slides along its two tangents and spins about its normal. Each of its points rubs on its own under its own
# load, |f_i| <= c_i = mu N_i, against its own slip u_i = v + w n x r_i; what they do together, (sum f_i, sum r_i x
# f_i), fills the manifold's limit surface (S. Goyal, A. Ruina and J. Papadopoulos, "Planar sliding with dry
# friction", 1991). So a manifold's three rows are solved together, K their J M^-1 J':
#
#     sticks    x = K^-1 b, all three at once. It does if x can be shared out: f_i = c_i (z - z_w n x r_i), which is
#               the only share of this form, with all |f_i| <= c_i. Loads that are all at one place r have no moment
#               about it: x is the minimum over what one point there can do, (f, r x f)
#     slides    point after point f_i <- P(f_i - u_i / e_i), P the nearest point of the circle, e_i the larger eigenvalue
#               of the point's own J M^-1 J'; the slips of the others follow by K
#
# Offsets are kept as turn = r x n (WidePoint): u_i = (v_0 - w turn_0, v_1 - w turn_1).

cdef inline void set_cone(WideCone* cone, Wide d0, Wide d1, Wide c) noexcept nogil:
    """A singular matrix, of a direction without mass, is replaced by its trace, a bound on its eigenvalues: such a step is
    safe and has the same fixed point."""
    cdef Wide trace = d0 + d1
    cdef Wide det = d0 * d1 - c * c
    cdef Mask regular = above(det, splat(1e-14) * trace * trace)
    cone.d0 = choose(regular, d0, trace)
    cone.d1 = choose(regular, d1, trace)
    cone.c = choose(regular, c, splat(0.0))
    cone.inv_det = inverse(cone.d0 * cone.d1 - cone.c * cone.c)
    det = splat(0.5) * (cone.d0 - cone.d1)
    cone.step = inverse(splat(0.5) * (cone.d0 + cone.d1) + root(det * det + cone.c * cone.c))


cdef inline void set_rub(ContactBlock* block, const ContactStart* start, const Products* k) noexcept nogil:
    """Once a substep."""
    cdef WideCone* slide = &block.slide
    cdef WideSpin* spin = &block.spin
    cdef Wide m
    set_cone(slide, k.d0, k.d1, k.c)
    if block.twists:
        spin.d = start.twists * k.twist
        spin.c[0] = start.twists * k.t0
        spin.c[1] = start.twists * k.t1
        spin.lag[0] = (slide.d1 * spin.c[0] - slide.c * spin.c[1]) * slide.inv_det
        spin.lag[1] = (slide.d0 * spin.c[1] - slide.c * spin.c[0]) * slide.inv_det
        m = spin.d - (spin.c[0] * spin.lag[0] + spin.c[1] * spin.lag[1])
        spin.mass = choose(above(m, splat(1e-12) * spin.d), inverse(m), splat(0.0))


# J M^-1 J' of a point, [[d0, c], [c, d1]].
ctypedef struct PointProducts:
    Wide d0
    Wide d1
    Wide c


cdef inline PointProducts point_products(const ContactBlock* block, Wide t0, Wide t1) noexcept nogil:
    """Of a point there. Here and not once a substep: in a heap most manifolds stick."""
    cdef const WideCone* slide = &block.slide
    cdef const WideSpin* spin = &block.spin
    cdef Wide lag = spin.c[0] - spin.d * t0
    cdef PointProducts p
    p.d0 = slide.d0 - t0 * (spin.c[0] + lag)
    p.d1 = slide.d1 - t1 * (spin.c[1] + spin.c[1] - spin.d * t1)
    p.c = slide.c - t0 * spin.c[1] - t1 * lag
    return p


cdef inline Wide point_bound(const ContactBlock* block, int i) noexcept nogil:
    """e of point i, its larger eigenvalue: whatever the tangents."""
    cdef PointProducts p = point_products(block, block.points[i].turn[0], block.points[i].turn[1])
    cdef Wide half = splat(0.5) * (p.d0 - p.d1)
    return splat(0.5) * (p.d0 + p.d1) + root(half * half + p.c * p.c)


# Slip, or impulse, of a manifold: along the tangents and about the normal.
ctypedef struct Planar:
    Wide x
    Wide y
    Wide w

# The limits of a manifold's points, and their moments. bore: that of friction about the normal alone (torsional).
ctypedef struct Limits:
    Wide point[4]
    Wide bore
    Wide reach                   # of the bore, as if it were points at this distance [m]
    Wide sum
    Wide first[2]
    Wide second                  # of the points, and the bore
    Wide inv_sum
    Wide inv_spread              # of the second moment about the loads' middle; 0: no lever


cdef inline void find_limits(const ContactBlock* block, const ResistanceBlock* resisting, int count,
                             Limits* limits) noexcept nogil:
    cdef const Wide* t
    cdef Wide c, spread
    cdef int i
    limits.sum = limits.first[0] = limits.first[1] = limits.second = splat(0.0)
    for i in range(count):
        c = block.friction * block.points[i].impulse
        t = block.points[i].turn
        limits.point[i] = c
        limits.sum = limits.sum + c
        limits.first[0] = limits.first[0] + c * t[0]
        limits.first[1] = limits.first[1] + c * t[1]
        limits.second = limits.second + c * (t[0] * t[0] + t[1] * t[1])
    limits.inv_sum = inverse(limits.sum)
    if resisting != NULL:
        c = splat(0.0)
        for i in range(count):
            c = c + block.points[i].impulse
        limits.bore = resisting.torsional * c
        c = root(limits.second * limits.inv_sum)
        limits.reach = choose(above(c, splat(0.0)), c, splat(1.0))       # alone any does
        limits.second = limits.second + limits.bore * limits.reach
    spread = limits.second - (limits.first[0] * limits.first[0] + limits.first[1] * limits.first[1]) * limits.inv_sum
    limits.inv_spread = choose(above(spread, splat(1e-12) * limits.second), splat(1.0) / spread, splat(0.0))


cdef inline Planar share_out(const Limits* limits, Planar x) noexcept nogil:
    """z with x = sum of c_i (z - z_w n x r_i), and of their moments. Without a load, or a lever, it has no part of x."""
    cdef Planar z
    z.w = (x.w + (limits.first[0] * x.x + limits.first[1] * x.y) * limits.inv_sum) * limits.inv_spread
    z.x = (x.x + limits.first[0] * z.w) * limits.inv_sum
    z.y = (x.y + limits.first[1] * z.w) * limits.inv_sum
    return z


cdef inline Wide complete_rub(const ContactBlock* block, const ResistanceBlock* resisting, const Limits* limits, int count,
                              Wide* f0, Wide* f1, Wide* bore) noexcept nogil:
    """The points' impulses: those last written, and what they lack of the manifold's in proportion to the limits. While a
    manifold sticks they are not written; points come and go, but what the manifold had stays, but for a moment that
    loads at one place cannot have. -> what they have more about the normal than the manifold had"""
    cdef const WideRub* rub
    cdef Planar x
    cdef Wide lack
    cdef int i
    x.x = block.slide.impulse[0]
    x.y = block.slide.impulse[1]
    x.w = block.twist
    for i in range(count):
        rub = &block.rub[i]
        x.x = x.x - rub.impulse[0]
        x.y = x.y - rub.impulse[1]
        x.w = x.w + block.points[i].turn[0] * rub.impulse[0] + block.points[i].turn[1] * rub.impulse[1]
    if resisting != NULL:
        x.w = x.w - resisting.bore
    lack = x.w
    x = share_out(limits, x)
    for i in range(count):
        rub = &block.rub[i]
        f0[i] = rub.impulse[0] + limits.point[i] * (x.x - x.w * block.points[i].turn[0])
        f1[i] = rub.impulse[1] + limits.point[i] * (x.y - x.w * block.points[i].turn[1])
    if resisting != NULL:
        bore[0] = resisting.bore + limits.bore * limits.reach * x.w
    return limits.second * x.w - limits.first[0] * x.x - limits.first[1] * x.y - lack


cdef inline Planar slide_points(ContactBlock* block, ResistanceBlock* resisting, const Limits* limits, int count, Planar w,
                                Mask slides, bint keep) noexcept nogil:
    """Of a manifold that slides: one point after the other. w: the slip. -> the manifold's impulses"""
    cdef const WideCone* slide = &block.slide
    cdef const WideSpin* spin = &block.spin
    cdef WideRub* rub
    cdef Wide f0[4]
    cdef Wide f1[4]
    cdef Wide y0, y1, t0, t1, kept, turn, e
    cdef Wide bore = splat(0.0)
    cdef Planar x
    cdef int i
    turn = complete_rub(block, resisting, limits, count, f0, f1, &bore)
    w.x = w.x + spin.c[0] * turn
    w.y = w.y + spin.c[1] * turn
    w.w = w.w + spin.d * turn
    x.x = x.y = x.w = splat(0.0)
    for i in range(count):
        rub = &block.rub[i]
        t0 = block.points[i].turn[0]
        t1 = block.points[i].turn[1]
        e = point_bound(block, i)
        y0 = e * f0[i] - (w.x - w.w * t0)
        y1 = e * f1[i] - (w.y - w.w * t1)
        kept = limits.point[i] * inverse(most(root(y0 * y0 + y1 * y1), e * limits.point[i]))
        y0 = kept * y0
        y1 = kept * y1
        x.x = x.x + y0
        x.y = x.y + y1
        x.w = x.w - (t0 * y0 + t1 * y1)
        if keep:
            rub.impulse[0] = choose(slides, y0, rub.impulse[0])
            rub.impulse[1] = choose(slides, y1, rub.impulse[1])
        if count > 1 or resisting != NULL:
            y0 = y0 - f0[i]
            y1 = y1 - f1[i]
            turn = -(t0 * y0 + t1 * y1)
            w.x = w.x + slide.d0 * y0 + slide.c * y1 + spin.c[0] * turn
            w.y = w.y + slide.c * y0 + slide.d1 * y1 + spin.c[1] * turn
            w.w = w.w + spin.c[0] * y0 + spin.c[1] * y1 + spin.d * turn
    if resisting != NULL:
        bore = least(most(bore - w.w * inverse(spin.d), -limits.bore), limits.bore)
        x.w = x.w + bore
        if keep:
            resisting.bore = choose(slides, bore, resisting.bore)
    return x


cdef inline Wide lever_of(const WidePoint* point) noexcept nogil:
    return root(point.turn[0] * point.turn[0] + point.turn[1] * point.turn[1])


cdef inline Wide slip_change(const WideCone* slide, Wide x, Wide y) noexcept nogil:
    """|K x| of impulses along the tangents: what decides looks at no component, for tangents may point anywhere."""
    cdef Wide u = slide.d0 * x + slide.c * y
    cdef Wide v = slide.c * x + slide.d1 * y
    return root(u * u + v * v)


cdef inline Wide spin_reach(const ContactBlock* block, int count) noexcept nogil:
    """What turns a change of the spin into one of a speed: how far a point is from the centre, or, of a lone point,
    which is there, the radius of gyration about the normal [m]. Each lane by its own points, whatever the others have."""
    cdef Wide reach = lever_of(&block.points[0])
    if count > 1:
        reach = most(reach, lever_of(&block.points[1]))
    return choose(above(reach, splat(0.0)), reach, root(block.slide.d0 * inverse(block.spin.d)))


cdef inline Planar stick_at_a_place(const ContactBlock* block, const Limits* limits, Planar w) noexcept nogil:
    """The minimum over what one point at the loads' place can do."""
    cdef const WideSpin* spin = &block.spin
    cdef Wide t0 = limits.first[0] * limits.inv_sum
    cdef Wide t1 = limits.first[1] * limits.inv_sum
    cdef PointProducts p = point_products(block, t0, t1)
    cdef WideCone cone
    cdef Planar x
    cdef Wide goes
    x.x = block.slide.impulse[0]
    x.y = block.slide.impulse[1]
    goes = -(t0 * x.x + t1 * x.y) - block.twist          # what the manifold has about that place
    w.w = w.w + spin.d * goes
    w.x = w.x + spin.c[0] * goes - t0 * w.w
    w.y = w.y + spin.c[1] * goes - t1 * w.w
    set_cone(&cone, p.d0, p.d1, p.c)
    x.x = x.x - (cone.d1 * w.x - cone.c * w.y) * cone.inv_det
    x.y = x.y - (cone.d0 * w.y - cone.c * w.x) * cone.inv_det
    x.w = -(t0 * x.x + t1 * x.y)
    return x


cdef inline void rub_block(ContactBlock* block, ResistanceBlock* resisting, WidePair* p, int count, bint keep,
                           Wide* largest) noexcept nogil:
    """Friction of the first `count` points under the present loads. resisting: the block's own, or NULL. largest: the
    largest change so far, of a velocity [m/s]; without `keep`, which leaves everything as it is, of an impulse."""
    cdef Wide3 second = w_cross(block.normal, block.tangent)
    cdef Wide3 across = w_sub(w_add(p.vb, w_cross(p.wb, block.arm_b)), w_add(p.va, w_cross(p.wa, block.arm_a)))
    cdef Wide3 force, torque
    cdef Wide far = splat(0.0)
    cdef Wide y0, y1
    cdef Planar w, x, z
    cdef Limits limits
    cdef Mask slides, placed
    cdef int i
    find_limits(block, resisting, count, &limits)
    w.x = w_dot(block.tangent, across)
    w.y = w_dot(second, across)
    w.w = far
    if block.twists:
        w.w = choose(above(block.spin.d, far), w_dot(block.spin.axis, w_sub(p.wb, p.wa)), far)
    if resisting != NULL:
        w.x = w.x + resisting.surface[0]
        w.y = w.y + resisting.surface[1]
    x.x = block.slide.impulse[0] - (block.slide.d1 * w.x - block.slide.c * w.y) * block.slide.inv_det
    x.y = block.slide.impulse[1] - (block.slide.d0 * w.y - block.slide.c * w.x) * block.slide.inv_det
    x.w = far
    if block.twists:
        z.w = (w.w - block.spin.lag[0] * w.x - block.spin.lag[1] * w.y) * block.spin.mass
        x.x = x.x + block.spin.lag[0] * z.w
        x.y = x.y + block.spin.lag[1] * z.w
        x.w = block.twist - z.w
        # Of lanes with a load but no lever; lone points have no spin at all.
        placed = above(choose(above(limits.inv_spread, far), far, choose(above(limits.sum, far), block.spin.d, far)), far)
        if any_lane(placed):
            z = stick_at_a_place(block, &limits, w)
            x.x = choose(placed, z.x, x.x)
            x.y = choose(placed, z.y, x.y)
            x.w = choose(placed, z.w, x.w)
    z = share_out(&limits, x)
    for i in range(count):
        y0 = z.x - z.w * block.points[i].turn[0]
        y1 = z.y - z.w * block.points[i].turn[1]
        far = most(far, choose(above(limits.point[i], splat(0.0)), y0 * y0 + y1 * y1, splat(0.0)))
    if resisting != NULL:
        y0 = limits.reach * z.w
        far = most(far, choose(above(limits.bore, splat(0.0)), y0 * y0, splat(0.0)))
    # What could be shared out: nothing without a load, no moment without a lever.
    x.x = limits.sum * z.x - limits.first[0] * z.w
    x.y = limits.sum * z.y - limits.first[1] * z.w
    x.w = limits.second * z.w - limits.first[0] * z.x - limits.first[1] * z.y
    slides = above(far, splat(1.0))
    if any_lane(slides):
        z = slide_points(block, resisting, &limits, count, w, slides, keep)
        x.x = choose(slides, z.x, x.x)
        x.y = choose(slides, z.y, x.y)
        x.w = choose(slides, z.w, x.w)
    x.x = x.x - block.slide.impulse[0]
    x.y = x.y - block.slide.impulse[1]
    x.w = x.w - block.twist
    if not keep:
        largest[0] = most(largest[0], most(root(x.x * x.x + x.y * x.y), size_of(x.w)))
        return
    block.slide.impulse[0] = block.slide.impulse[0] + x.x
    block.slide.impulse[1] = block.slide.impulse[1] + x.y
    largest[0] = most(largest[0], slip_change(&block.slide, x.x, x.y))
    force = w_add_scaled(w_scale(x.x, block.tangent), x.y, second)
    if block.twists:
        block.twist = block.twist + x.w
        largest[0] = most(largest[0], size_of(x.w) * block.spin.d * spin_reach(block, count))
        torque = w_scale(x.w, block.spin.axis)
        push(p, &block.ends, force, w_add(w_cross(block.arm_a, force), torque),
             w_add(w_cross(block.arm_b, force), torque))
    else:
        push(p, &block.ends, force, w_cross(block.arm_a, force), w_cross(block.arm_b, force))


cdef inline void rub_point(ContactBlock* block, WidePair* p, Wide* largest) noexcept nogil:
    """rub_block with `keep`, of a block whose lanes have one point each and no resistance: the limit surface is a plain
    circle. Beside lanes with more points rub_block does the same, to the bit: there a lone point's turn, and its products
    about the normal, are 0."""
    cdef const WideCone* slide = &block.slide
    cdef WideRub* rub = block.rub
    cdef Wide3 second = w_cross(block.normal, block.tangent)
    cdef Wide3 across = w_sub(w_add(p.vb, w_cross(p.wb, block.arm_b)), w_add(p.va, w_cross(p.wa, block.arm_a)))
    cdef Wide3 force
    cdef Wide limit = block.friction * block.points[0].impulse
    cdef Wide inv_limit = inverse(limit)
    cdef Wide w0 = w_dot(block.tangent, across)
    cdef Wide w1 = w_dot(second, across)
    cdef Wide z0 = (slide.impulse[0] - (slide.d1 * w0 - slide.c * w1) * slide.inv_det) * inv_limit
    cdef Wide z1 = (slide.impulse[1] - (slide.d0 * w1 - slide.c * w0) * slide.inv_det) * inv_limit
    cdef Wide x0 = limit * z0
    cdef Wide x1 = limit * z1
    cdef Mask slides = above(z0 * z0 + z1 * z1, splat(1.0))
    cdef Wide half = splat(0.5) * (slide.d0 - slide.d1)
    cdef Wide e, y0, y1, kept
    if any_lane(slides):
        e = splat(0.5) * (slide.d0 + slide.d1) + root(half * half + slide.c * slide.c)
        y0 = e * (rub.impulse[0] + limit * ((slide.impulse[0] - rub.impulse[0]) * inv_limit)) - w0
        y1 = e * (rub.impulse[1] + limit * ((slide.impulse[1] - rub.impulse[1]) * inv_limit)) - w1
        kept = limit * inverse(most(root(y0 * y0 + y1 * y1), e * limit))
        x0 = choose(slides, kept * y0, x0)
        x1 = choose(slides, kept * y1, x1)
        rub.impulse[0] = choose(slides, x0, rub.impulse[0])
        rub.impulse[1] = choose(slides, x1, rub.impulse[1])
    x0 = x0 - slide.impulse[0]
    x1 = x1 - slide.impulse[1]
    block.slide.impulse[0] = slide.impulse[0] + x0
    block.slide.impulse[1] = slide.impulse[1] + x1
    largest[0] = most(largest[0], slip_change(slide, x0, x1))
    force = w_add_scaled(w_scale(x0, block.tangent), x1, second)
    push(p, &block.ends, force, w_cross(block.arm_a, force), w_cross(block.arm_b, force))

# ---- against rolling -------------------------------------------------------------------------------------------------

cdef inline void onto_cone(const WideCone* cone, Wide w0, Wide w1, Wide radius, Wide* found) noexcept nogil:
    """Friction of a pair under a given load; found: (2,) impulses. Within the circle x = D^-1 b, as solve/_blocks.pxd,
    cone_step, has it. Beyond it a projected step x = P(x - w / e), e the larger eigenvalue of D: it has the minimum on the
    circle, w against x, for its fixed point, is there at once where w has x's direction or outweighs it, and needs no
    iteration in a sweep."""
    cdef Wide x0 = cone.impulse[0] - (cone.d1 * w0 - cone.c * w1) * cone.inv_det
    cdef Wide x1 = cone.impulse[1] - (cone.d0 * w1 - cone.c * w0) * cone.inv_det
    cdef Mask outside = above(x0 * x0 + x1 * x1, radius * radius)
    cdef Wide y0, y1, kept
    if any_lane(outside):
        y0 = cone.impulse[0] - cone.step * w0
        y1 = cone.impulse[1] - cone.step * w1
        kept = least(radius * inverse(root(y0 * y0 + y1 * y1)), splat(1.0))
        x0 = choose(outside, kept * y0, x0)
        x1 = choose(outside, kept * y1, x1)
    found[0] = x0
    found[1] = x1


cdef void refresh_roll(const ContactBlock* block, ResistanceBlock* resisting) noexcept nogil:
    """The 2 x 2 products of turning about the tangents."""
    cdef Wide3 t = block.tangent
    cdef Wide3 s = w_cross(block.normal, t)
    cdef Wide3 ja = w_times(&block.ends.inv_inertia_a, t)
    cdef Wide3 jb = w_times(&block.ends.inv_inertia_b, t)
    set_cone(&resisting.roll, w_dot(t, ja) + w_dot(t, jb),
             w_dot(s, w_times(&block.ends.inv_inertia_a, s)) + w_dot(s, w_times(&block.ends.inv_inertia_b, s)),
             w_dot(s, ja) + w_dot(s, jb))


cdef inline void resist_rolling(ContactBlock* block, ResistanceBlock* resisting, WidePair* p, bint keep,
                                Wide* largest) noexcept nogil:
    """As rub_block, of turning about the tangents."""
    cdef Wide3 turning = w_sub(p.wb, p.wa)
    cdef Wide load = splat(0.0)
    cdef Wide lightness
    cdef Wide found[2]
    cdef Wide change[2]
    cdef int i
    for i in range(block.point_count):
        load = load + block.points[i].impulse
    onto_cone(&resisting.roll, w_dot(block.tangent, turning), w_dot(w_cross(block.normal, block.tangent), turning),
              resisting.rolling * load, found)
    for i in range(2):
        change[i] = found[i] - resisting.roll.impulse[i]
    if not keep:
        largest[0] = most(largest[0], root(change[0] * change[0] + change[1] * change[1]))
        return
    for i in range(2):
        resisting.roll.impulse[i] = found[i]
    push_roll(p, block, change[0], change[1])
    # By the radii of gyration about the tangents.
    lightness = block.ends.inv_mass_a + block.ends.inv_mass_b
    largest[0] = most(largest[0], root(lightness * (
        change[0] * (resisting.roll.d0 * change[0] + resisting.roll.c * change[1])
        + change[1] * (resisting.roll.c * change[0] + resisting.roll.d1 * change[1]))))
