"""Friction of a manifold as a whole, along the tangents and about the normal, on one limit surface
(docs/theory/friction.md).

Each of its points rubs on its own under its own load, |f_i| <= c_i = mu N_i, against its own slip u_i = v + w n x r_i, and
where a surface resists turning, the manifold besides with a moment of at most `bore`. What they do together,

    x = (sum f_i, sum n . (r_i x f_i) + moment),

fills the limit surface (S. Goyal, A. Ruina and J. Papadopoulos, "Planar sliding with dry friction", 1991), which is no box:
who slides and spins is held less against either. With K = J M^-1 J' of the manifold's three rows and u the slip at the
present x, the maximum dissipation principle says

    minimize  1/2 y' K y - b' y,   b = K x - u,   over all y on or within the limit surface.

    sticks    y = K^-1 b, all three at once, if it can be shared out: f_i = c_i (z - z_w n x r_i), which is the only share
              of this form, with all |f_i| <= c_i. Loads that are all at one place r have no moment about it: y is the
              minimum over what one point there can do, (f, n . (r x f))
    slides    point after point f_i <- P(f_i - u_i / e_i), P the nearest point of its circle, e_i the larger eigenvalue
              of the point's own J M^-1 J'; the slips of the others follow by K

Joints may leave a body no turning about the normal, or nothing but that: a direction without mass says nothing of what
acts along it. Where nothing turns, x_w is what the points' equal shares have for a moment, so all of them hold against
sliding; where nothing slides, x_x and x_y are what the shares of a turn about the middle add up to.

Offsets are kept as turn = r x n (WidePoint): u_i = (v_x - w turn_0, v_y - w turn_1). Of as many manifolds as the module has
lanes: solve/_limit_surface.pyx, for a block of three rows, has one.
"""

from mcsim.wide._blocks cimport ContactBlock, ResistanceBlock, WideCone, WideRub, WideSpin
from mcsim.wide._lane_types cimport Wide
from mcsim.wide._lanes cimport *

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


cdef inline void set_spin(WideSpin* spin, const WideCone* slide) noexcept nogil:
    """What follows from its products and those along the tangents."""
    cdef Wide m
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
    limits.inv_spread = choose(above(spread, splat(1e-12) * limits.second), inverse(spread), splat(0.0))


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
    cdef Wide zero = splat(0.0)
    cdef Wide bore = zero
    cdef Mask moves
    cdef Planar x
    cdef int i
    turn = complete_rub(block, resisting, limits, count, f0, f1, &bore)
    w.x = w.x + spin.c[0] * turn
    w.y = w.y + spin.c[1] * turn
    w.w = w.w + spin.d * turn
    x.x = x.y = x.w = zero
    for i in range(count):
        rub = &block.rub[i]
        t0 = block.points[i].turn[0]
        t1 = block.points[i].turn[1]
        e = point_bound(block, i)
        y0 = w.x - w.w * t0
        y1 = w.y - w.w * t1
        if block.lacks_mass:
            moves = above(e, zero)           # a point that nothing moves keeps its share
            e = choose(moves, e, splat(1.0))
            y0 = choose(moves, y0, zero)
            y1 = choose(moves, y1, zero)
        y0 = e * f0[i] - y0
        y1 = e * f1[i] - y1
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


cdef inline Planar stick(const ContactBlock* block, const Limits* limits, Planar w) noexcept nogil:
    """The impulses that stop the slip w, whether or not they can be shared out."""
    cdef const WideCone* slide = &block.slide
    cdef const WideSpin* spin = &block.spin
    cdef Wide zero = splat(0.0)
    cdef Wide turn
    cdef Planar x, z
    cdef Mask alone
    x.x = slide.impulse[0] - (slide.d1 * w.x - slide.c * w.y) * slide.inv_det
    x.y = slide.impulse[1] - (slide.d0 * w.y - slide.c * w.x) * slide.inv_det
    x.w = zero
    if not block.twists:
        return x
    turn = (w.w - spin.lag[0] * w.x - spin.lag[1] * w.y) * spin.mass
    x.x = x.x + spin.lag[0] * turn
    x.y = x.y + spin.lag[1] * turn
    x.w = block.twist - turn
    if block.lacks_mass:
        x.w = choose(above(spin.d, zero), x.w, -(limits.first[0] * x.x + limits.first[1] * x.y) * limits.inv_sum)
        alone = above(choose(above(slide.d0, zero), zero, spin.d), zero)          # nothing slides
        turn = x.w * inverse(limits.second)
        x.x = choose(alone, -limits.first[0] * turn, x.x)
        x.y = choose(alone, -limits.first[1] * turn, x.y)
        x.w = choose(alone, limits.second * turn, x.w)
    # Of lanes with a load but no lever; lone points have no spin at all.
    alone = above(choose(above(limits.inv_spread, zero), zero, choose(above(limits.sum, zero), spin.d, zero)), zero)
    if any_lane(alone):
        z = stick_at_a_place(block, limits, w)
        x.x = choose(alone, z.x, x.x)
        x.y = choose(alone, z.y, x.y)
        x.w = choose(alone, z.w, x.w)
    return x


cdef inline Planar limit_surface_step(ContactBlock* block, ResistanceBlock* resisting, int count, Planar w,
                                      bint keep) noexcept nogil:
    """The manifold's impulses, which were right at other slips and loads, at the slip w and the present loads of its first
    `count` points. resisting: the block's own, or NULL. keep: what the points have of them is written where it slides."""
    cdef Wide far = splat(0.0)
    cdef Wide y0, y1
    cdef Planar x, z
    cdef Limits limits
    cdef Mask slides
    cdef int i
    find_limits(block, resisting, count, &limits)
    x = stick(block, &limits, w)
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
    return x
