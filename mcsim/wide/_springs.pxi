# The springs of a block's lanes: core/_softness.pxd. `thins` of them, k of a patch.
ctypedef struct Springs:
    Wide omega
    Wide damping                 # 2 z
    Wide added                   # what steadiness adds to it at most
    Wide part                    # of a spring's impulse that the biased pass bears
    Wide firmer                  # ContactStart.firmer, and as_awake
    Wide load                    # what an impulse is multiplied by, to be of that part


cdef inline Springs springs_of(const ContactBlock* block, const ContactStart* start, const ContactRule* rule,
                               bint ended) noexcept nogil:
    """ended: the impulses are those of the biased pass, else those of a whole substep."""
    cdef Springs s
    s.omega = start.stiffer * (splat(rule.omega[0]) + start.ground * splat(rule.omega[1] - rule.omega[0]))
    s.damping = splat(rule.damping[0]) + start.ground * splat(rule.damping[1] - rule.damping[0])
    s.added = splat(rule.steadying)
    s.part = splat(rule.first)
    s.firmer = start.firmer * start.as_awake
    if block.thins:
        s.part = s.part * start.thinning
        s.added = choose(above(splat(1.0), start.thinning), s.added + s.added, s.added)
    s.added = start.steadies * s.damping * (s.added - splat(1.0))
    s.load = splat(1.0 if ended else rule.first)
    return s


cdef inline void press(WidePoint* point, const Springs* s, Wide error, Wide h, Wide* rate) noexcept nogil:
    """The bias rate of a point with a spring, and its mass."""
    cdef Wide zero = splat(0.0)
    cdef Wide one = splat(1.0)
    cdef Wide turned = h * s.omega
    cdef Wide at_rest = s.firmer * s.part * turned * s.omega * point.mass * most(-error, zero)
    cdef Wide load = s.load * point.impulse
    cdef Wide steady = choose(above(load, zero), splat(2.0) - splat(2.0) * size_of(at_rest / load - one), zero)
    cdef Wide a1 = s.damping + least(most(steady, zero), one) * s.added + turned
    cdef Wide stiffness = s.part * turned * a1 * s.firmer
    rate[0] = s.omega * inverse(a1)
    point.soft_mass = point.mass * (stiffness / (one + stiffness))
    point.compliance = choose(above(stiffness, zero), point.diagonal / choose(above(stiffness, zero), stiffness, one), zero)


cdef inline Wide area(const WidePoint* a, const WidePoint* b, const WidePoint* c) noexcept nogil:
    """Twice that of a triangle of points, by their offsets along the tangents [m2]"""
    return (b.turn[0] - a.turn[0]) * (c.turn[1] - a.turn[1]) - (b.turn[1] - a.turn[1]) * (c.turn[0] - a.turn[0])


# Four points bear a load in many ways: impulses e with sum e = 0 and sum e offset = 0 add no force and no torque, and
# change no velocity. There is one such e: of each point the area of the triangle of the three others, with signs in turn.
cdef inline void find_unfelt(const WidePoint* p, Wide* e) noexcept nogil:
    """e: (4,)"""
    e[0] = area(&p[1], &p[2], &p[3])
    e[1] = splat(0.0) - area(&p[0], &p[2], &p[3])
    e[2] = area(&p[0], &p[1], &p[3])
    e[3] = splat(0.0) - area(&p[0], &p[1], &p[2])


# Springs take it away, for depths like it are no displacement of a rigid body; where they hardly yield that takes for ever,
# and friction would act about a centre that is nobody's. So the warm start begins without it, as far as no point
# comes to pull.
cdef inline void share_load(ContactBlock* block, const ContactStart* start) noexcept nogil:
    cdef const WidePoint* p = block.points
    cdef Wide zero = splat(0.0)
    cdef Wide part = choose(above(start.anchors.points_there, splat(3.0)), splat(1.0) - inverse(start.firmer), zero)
    cdef Wide e[4]
    cdef Wide along, taken
    cdef int i
    find_unfelt(p, e)
    along = e[0] * p[0].impulse + e[1] * p[1].impulse + e[2] * p[2].impulse + e[3] * p[3].impulse
    along = along * inverse(e[0] * e[0] + e[1] * e[1] + e[2] * e[2] + e[3] * e[3])
    for i in range(4):
        taken = along * e[i]
        part = choose(above(taken, p[i].impulse), least(part, p[i].impulse * inverse(taken)), part)
    for i in range(4):
        block.points[i].impulse = most(p[i].impulse - part * along * e[i], zero)
