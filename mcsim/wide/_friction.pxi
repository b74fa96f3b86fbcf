# Friction of contacts, several manifolds at a time: docs/theory/friction.md. Included by _contacts.pxi. The three rows of a
# manifold, two along its tangents and one about its normal, are solved together (_limit_surface.pxd).

cdef inline void set_rub(ContactBlock* block, const ContactStart* start, const Products* k) noexcept nogil:
    """Once a substep."""
    cdef WideSpin* spin = &block.spin
    set_cone(&block.slide, k.d0, k.d1, k.c)
    if block.twists:
        spin.d = start.twists * k.twist
        spin.c[0] = start.twists * k.t0
        spin.c[1] = start.twists * k.t1
        set_spin(spin, &block.slide)


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


cdef inline void rub_block(ContactBlock* block, ResistanceBlock* resisting, WidePair* p, int count, bint keep,
                           Wide* largest) noexcept nogil:
    """Friction of the first `count` points under the present loads. resisting: the block's own, or NULL. largest: the
    largest change so far, of a velocity [m/s]; without `keep`, which leaves everything as it is, of an impulse."""
    cdef Wide3 second = w_cross(block.normal, block.tangent)
    cdef Wide3 across = w_sub(w_add(p.vb, w_cross(p.wb, block.arm_b)), w_add(p.va, w_cross(p.wa, block.arm_a)))
    cdef Wide3 force, torque
    cdef Planar w, x
    w.x = w_dot(block.tangent, across)
    w.y = w_dot(second, across)
    w.w = splat(0.0)
    if block.twists:
        w.w = choose(above(block.spin.d, w.w), w_dot(block.spin.axis, w_sub(p.wb, p.wa)), w.w)
    if resisting != NULL:
        w.x = w.x + resisting.surface[0]
        w.y = w.y + resisting.surface[1]
    x = limit_surface_step(block, resisting, count, w, keep)
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
