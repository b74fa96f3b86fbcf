"""Contact manifolds to rows: one normal row a point, and friction (ContactRows).

    normal     C = n . (p_b - p_a) >= 0                                    impulse >= 0
    friction   t_i . (relative velocity at the point) = 0, i = 1, 2        |impulse| <= mu sum(normal impulses)
    twist      (n - lean) . (w_b - w_a) = 0                                |impulse| <= mu sum(lever_i normal impulse_i)
    rolling    t_i . (w_b - w_a) = 0, i = 1, 2                             |impulse| <= rolling sum(normal impulses)

Where surfaces move over their bodies, the relative velocity is that of the surfaces: t_i . s is added to it. Torsional
friction makes the twist's bound sum((mu lever_i + torsional) normal impulse_i), also for a single point. (Resistance)

friction_points = "central": one pair and a twist row a manifold at the weighted centre; "point": a pair at every point.
Under a cone the central three of several points are one block, held by the limit surface that the points' own cones make
(solve/_limit_surface.pxd); the bound of the twist alone, above, holds besides a pyramid.
Both impulses of a row act at one point, so angular momentum is kept to rounding: the point goes with the features that
make it, a vertex over a face with the vertex (collide/_carrying.pxd), so that J v is the rate of C.
Source: E. Catto, "Solver2D", 2024, for central friction.
"""

from libc.math cimport INFINITY
from mcsim.core._math cimport carry_along, neg, normalized, perpendicular, rotate_back
from mcsim.core._types cimport Twist
from mcsim.state._contact_reference cimport BETWEEN_A, BETWEEN_B, EDGES, FACE_A, RING_A, RING_B, carried, normal_goes_with
from mcsim.state._manifold cimport ManifoldPoint, MANIFOLD_ANCHORS
from mcsim.state._row cimport (BIASED, ROW_NORMAL, ROW_FRICTION, ROW_TWIST, ROW_ROLLING, BLOCK_BOUNDED, BLOCK_CONE,
                               BLOCK_FRICTION)
from mcsim.state._pull cimport external_acceleration
from mcsim.state._rows cimport response_along
from mcsim.wide._blocks cimport HALF_SLOPS
from mcsim.wide._efforts cimport next_part
from mcsim.wide._halves cimport lasting

from mcsim.constraints._parts cimport *

cdef enum:
    MOST_ROWS = 15             # of one manifold: 4 normals, 8 frictions, a twist, 2 against rolling


# The largest part of its path by which a turning arm's end leaves its tangent: (1 - cos x) / x.
cdef double MOST_BENT = 0.7246

# Where a manifold's rows act at the present poses. Arms from a's centre of mass, world axes [m].
ctypedef struct ContactFrame:
    Vec3 normal
    Vec3 tangent
    Vec3 spin_axis                   # of friction about the normal (docs/theory/twist.md)
    Vec3 second
    Vec3 between                 # from b's centre of mass to a's
    Vec3 arm[4]
    Vec3 centre
    double error[4]              # C [m]


cdef void set_anchors(Manifold* m, const Bodies* bodies, const Settings* settings, Anchor* anchors) noexcept nogil:
    """Anchors of a fresh manifold's points: weight 1 in touch, falling to 0 at the speculative edge, 1 in all; in
    flight, from the point that comes first. Compliant surfaces are both pressed in, and meet in the middle."""
    cdef Vec3 xa = bodies.position[m.body_a]
    cdef Vec3 xb = bodies.position[m.body_b]
    cdef Vec3 p
    cdef double total = 0.0
    cdef double first = m.points[0].separation
    cdef int i
    for i in range(1, m.point_count):
        first = min(first, m.points[i].separation)
    first = max(first, 0.0)
    for i in range(m.point_count):
        p = m.points[i].position
        anchors[i].local_a = rotate_back(bodies.orientation[m.body_a], sub(add_scaled(
            p, -0.5 * m.points[i].separation - m.rounding_a, m.normal), xa))
        anchors[i].local_b = rotate_back(bodies.orientation[m.body_b], sub(add_scaled(
            p, 0.5 * m.points[i].separation + m.rounding_b, m.normal), xb))
        anchors[i].lift = (0.5 - m.points[i].share) * m.points[i].separation if settings.compliant else 0.0
        anchors[i].weight = 1.0
        if m.points[i].separation > first and m.near > 0.0:
            anchors[i].weight = 1.0 - 0.999 * (m.points[i].separation - first) / m.near
        if anchors[i].weight < 0.001:
            anchors[i].weight = 0.001
        total += anchors[i].weight
    for i in range(m.point_count):
        anchors[i].weight /= total
    if m.turns:
        normal_goes_with(m, bodies, &anchors[4].local_a, &anchors[4].local_b)
        anchors[4].local_a = rotate_back(bodies.orientation[m.body_a], anchors[4].local_a)
        anchors[4].local_b = rotate_back(bodies.orientation[m.body_b], anchors[4].local_b)
    if m.turns == RING_A or m.turns == RING_B:
        set_ring_anchors(m, bodies, anchors)


cdef void set_ring_anchors(const Manifold* m, const Bodies* bodies, Anchor* anchors) noexcept nogil:
    """Of rims the middles of their sides instead."""
    cdef Quat q = bodies.orientation[m.body_a if m.turns == RING_A else m.body_b]
    cdef Vec3 behind = rotate_back(q, behind_ring(m, m.normal, m.line))
    cdef int i
    for i in range(m.point_count):
        if m.turns == RING_A:
            anchors[i].local_a = sub(anchors[i].local_a, behind)
        else:
            anchors[i].local_b = sub(anchors[i].local_b, behind)


cdef Vec3 behind_ring(const Manifold* m, Vec3 normal, Vec3 axis) noexcept nogil:
    """From the middle of a rim's side to R behind its lowest point, along the normal: R (e - d) with e of
    collide/_carrying.pxd and d = n for a's, -n for b's."""
    cdef Vec3 d = normal if m.turns == RING_A else neg(normal)
    cdef Vec3 e = normalized(add_scaled(d, -dot(d, axis), axis))
    return scale(m.rounding_a if m.turns == RING_A else m.rounding_b, sub(e, d))


cdef inline void turn_normal(const Manifold* m, Vec3 of_a, Vec3 of_b, Vec3 apart, ContactFrame* f) noexcept nogil:
    """A normal that turns (collide/_carrying.pxd); its tangents go with it. of_a, of_b: normal_goes_with, now. apart: from
    the centre of a's rounding to that of b's."""
    cdef Vec3 d
    cdef double length
    if m.turns == BETWEEN_A or m.turns == BETWEEN_B:
        d = add(of_a, of_b)
        d = add_scaled(apart, -dot(d, apart), d)
    elif m.turns == EDGES:
        d = cross(of_a, of_b)
    else:
        d = of_b if m.turns == RING_A else (of_a if m.turns == RING_B else add(of_a, of_b))
    length = norm(d)
    if 2.0 * dot(m.normal, d) > length:
        f.normal = scale(1.0 / length, d)
        f.tangent = carry_along(f.tangent, m.normal, f.normal)


cdef ContactFrame contact_frame(const Manifold* m, const Bodies* bodies, const Anchor* anchors) noexcept nogil:
    """Both impulses of point i act at c_a + r_a n + Q (what c_b - c_a is along the tangents) + share C n, with c_a, c_b
    the roundings' centres, Q as collide/_carrying.pxd has it; those of the centre at the points' weighted mean."""
    cdef ContactFrame f
    cdef Vec3 from_a[4]
    cdef Vec3 apart[4]
    cdef Vec3 mean = vec3(0.0, 0.0, 0.0)
    cdef Vec3 of_a, of_b, d
    cdef double share
    cdef int i
    f.normal = m.normal
    f.tangent = perpendicular(m.normal)
    f.between = sub(bodies.position[m.body_a], bodies.position[m.body_b])
    f.centre = vec3(0.0, 0.0, 0.0)
    for i in range(m.point_count):
        from_a[i] = rotate(bodies.orientation[m.body_a], anchors[i].local_a)
        apart[i] = sub(sub(rotate(bodies.orientation[m.body_b], anchors[i].local_b), from_a[i]), f.between)
        mean = add_scaled(mean, anchors[i].weight, apart[i])
    if m.turns:
        of_a = rotate(bodies.orientation[m.body_a], anchors[4].local_a)
        of_b = rotate(bodies.orientation[m.body_b], anchors[4].local_b)
        turn_normal(m, of_a, of_b, mean, &f)
    if m.turns == RING_A or m.turns == RING_B:
        d = behind_ring(m, f.normal, of_a if m.turns == RING_A else of_b)
        for i in range(m.point_count):
            if m.turns == RING_A:
                from_a[i] = add(from_a[i], d)
                apart[i] = sub(apart[i], d)
            else:
                apart[i] = add(apart[i], d)
    f.second = cross(f.normal, f.tangent)
    for i in range(m.point_count):
        share = m.points[i].share
        f.error[i] = dot(f.normal, apart[i]) - (m.rounding_a + m.rounding_b)
        f.arm[i] = add(add_scaled(from_a[i], m.rounding_a + share * f.error[i] + anchors[i].lift, f.normal),
                       carried(&m.points[i], f.normal, apart[i]))
        f.centre = add_scaled(f.centre, anchors[i].weight, f.arm[i])
    f.spin_axis = sub(f.normal, lean_of(m, anchors, &f))
    return f


cdef inline Vec3 lean_of(const Manifold* m, const Anchor* anchors, const ContactFrame* f) noexcept nogil:
    """How the points lean against the tangents, with r_i their offsets from the centre, z_i those along the normal,
    c_i their weights there and s = size / HALF_SLOPS (docs/theory/twist.md):

        sum c_i z_i r_i / (sum c_i r_i^2 + s^2) . s^2 / (sum c_i z_i^2 + s^2)"""
    cdef Vec3 lean = vec3(0.0, 0.0, 0.0)
    cdef Vec3 r
    cdef double z
    cdef double level = (m.size / HALF_SLOPS) * (m.size / HALF_SLOPS)
    cdef double spread = level
    cdef double heights = level
    cdef int i
    if m.point_count < 2:
        return lean
    for i in range(m.point_count):
        r = sub(f.arm[i], f.centre)
        z = dot(f.normal, r)
        spread += anchors[i].weight * dot(r, r)
        heights += anchors[i].weight * (z * z)
        lean = add_scaled(lean, anchors[i].weight * z, r)
    return scale(level * (1.0 / (spread * heights)), lean)          # as lanes have it


cdef inline void begin_contact_row(Row* row, const Manifold* m, int source, int kind, int index) noexcept nogil:
    row.body_a = m.body_a
    row.body_b = m.body_b
    row.block = 1
    row.block_kind = BLOCK_BOUNDED
    row.kind = kind
    row.source = source
    row.index = index
    row.stabilized = 0
    row.size = m.size
    row.push = 0.0
    row.error = 0.0
    row.lower = -INFINITY
    row.upper = INFINITY
    row.bias[0] = 0.0
    row.bias[1] = 0.0
    row.compliance[0] = 0.0
    row.compliance[1] = 0.0
    row.coupling = 0.0
    row.friction = m.friction
    row.lever = 0.0
    row.offset[0] = 0.0
    row.offset[1] = 0.0
    row.share[0] = 0.0
    row.share[1] = 0.0
    row.normal_begin = 0
    row.normal_count = 0
    row.restitution = m.restitution
    row.kick = 0.0
    row.curvature = 0.0


cdef int layout_pair(Row* rows, const Manifold* m, int source, int kind, int index, int normal_begin, int normal_count,
                     Vec3 impulse, const Settings* settings) noexcept nogil:
    """Headers of one tangential pair; the stored impulse is a world vector, so new tangents do not turn it."""
    cdef Vec3 t = perpendicular(m.normal)
    cdef int i
    for i in range(2):
        begin_contact_row(&rows[i], m, source, kind, index)
        rows[i].normal_begin = normal_begin
        rows[i].normal_count = normal_count
        rows[i].impulse = dot(impulse, t)
        rows[i].block_kind = BLOCK_CONE if settings.friction_cone else BLOCK_FRICTION
        if settings.friction_cone:
            rows[i].block = 2 if i == 0 else 0
        t = cross(m.normal, t)
    return 2


cdef inline bint on_limit_surface(const Manifold* m, ContactRows parts, const Settings* settings) noexcept nogil:
    """Whether the central friction of several points is a block of three rows."""
    return settings.friction_cone and settings.friction_central and parts.friction and m.point_count > 1


cdef int layout_manifold(Manifold* m, const Resistance* resistance, int source, const Settings* settings,
                         Row* rows, int begin) noexcept nogil:
    """Headers and warm impulses of one manifold's rows. -> how many."""
    cdef ContactRows parts = contact_rows(m, resistance, settings)
    cdef bint torsional = resistance != NULL and resistance.torsional > 0.0
    cdef int normals = begin + parts.normals
    cdef int n = parts.pairs
    cdef Row* normal
    cdef int i
    for i in range(m.point_count):
        normal = &rows[parts.normals + i]
        begin_contact_row(normal, m, source, ROW_NORMAL, i)
        normal.lower = 0.0
        normal.stabilized = 1
        normal.push = settings.push_speed + settings.push_rate * m.size
        normal.coupling = m.thinning
        normal.impulse = m.points[i].normal_impulse
    if parts.friction and settings.friction_central:
        n += layout_pair(&rows[n], m, source, ROW_FRICTION, -1, normals, m.point_count, m.friction_impulse, settings)
    elif parts.friction:
        for i in range(m.point_count):
            n += layout_pair(&rows[n], m, source, ROW_FRICTION, i, normals + i, 1, m.points[i].friction_impulse, settings)
    if parts.twist:
        begin_contact_row(&rows[n], m, source, ROW_TWIST, -1)
        rows[n].block_kind = BLOCK_FRICTION
        rows[n].normal_begin = normals
        rows[n].normal_count = m.point_count
        rows[n].impulse = m.twist_impulse
        if torsional:
            rows[n].friction = 1.0                       # the levers hold the coefficients
        if on_limit_surface(m, parts, settings):
            rows[n].block_kind = BLOCK_CONE
            rows[n].block = 0
            rows[n].lever = resistance.torsional if torsional else 0.0
            rows[n - 2].block = 3
        n += 1
    if parts.rolling:
        n += layout_pair(&rows[n], m, source, ROW_ROLLING, -1, normals, m.point_count, m.rolling_impulse, settings)
        rows[n - 2].friction = resistance.rolling
        rows[n - 1].friction = resistance.rolling
    m.row_begin = begin
    return parts.friction + parts.twist + parts.rolling + m.point_count


cdef inline void couple_pair(Row* rows, const Bodies* bodies) noexcept nogil:
    """Of two rows whose Jacobians are written: M^-1 J', and what they do to each other."""
    apply_inverse_mass(&rows[0], bodies)
    apply_inverse_mass(&rows[1], bodies)
    rows[0].coupling = response_along(&rows[0], &rows[1])


cdef void refresh_manifold(Manifold* m, const Resistance* resistance, const Bodies* bodies, const Settings* settings,
                           const Anchor* anchors, Row* rows) noexcept nogil:
    """Jacobians and errors of one manifold's rows at the present poses."""
    cdef ContactFrame f = contact_frame(m, bodies, anchors)
    cdef ContactRows parts = contact_rows(m, resistance, settings)
    cdef Vec3 arm
    cdef int i, k
    cdef int n = parts.pairs
    cdef Row* normal
    cdef double kick = 0.0
    if m.restitution > 0.0:
        kick = 0.5 * settings.h * dot(f.normal, sub(external_acceleration(bodies, m.body_b, settings.gravity),
                                                    external_acceleration(bodies, m.body_a, settings.gravity)))
    for i in range(m.point_count):
        normal = &rows[parts.normals + i]
        linear_row(normal, f.normal, f.arm[i], add(f.arm[i], f.between))
        apply_inverse_mass(normal, bodies)
        normal.error = f.error[i]
        normal.curvature = 0.0
        normal.kick = kick
        arm = sub(f.arm[i], f.centre)
        normal.offset[0] = dot(f.tangent, arm)
        normal.offset[1] = dot(f.second, arm)
        normal.lever = sqrt(normal.offset[0] * normal.offset[0] + normal.offset[1] * normal.offset[1])
        if resistance != NULL and resistance.torsional > 0.0:
            normal.lever = (m.friction * normal.lever if settings.friction_central else 0.0) + resistance.torsional
    for i in range(parts.friction // 2):
        arm = f.centre if settings.friction_central else f.arm[i]
        linear_row(&rows[n], f.tangent, arm, add(arm, f.between))
        linear_row(&rows[n + 1], f.second, arm, add(arm, f.between))
        couple_pair(&rows[n], bodies)
        if resistance != NULL:
            for k in range(2):
                rows[n].bias[k] = dot(f.tangent, resistance.surface_velocity)
                rows[n + 1].bias[k] = dot(f.second, resistance.surface_velocity)
        n += 2
    if parts.twist:
        angular_row(&rows[n], f.spin_axis)
        apply_inverse_mass(&rows[n], bodies)
        if on_limit_surface(m, parts, settings):
            rows[n].coupling = response_along(&rows[n - 2], &rows[n])
            rows[n - 1].coupling = response_along(&rows[n - 1], &rows[n])
        n += 1
    if parts.rolling:
        angular_row(&rows[n], f.tangent)
        angular_row(&rows[n + 1], f.second)
        couple_pair(&rows[n], bodies)


cdef Py_ssize_t layout_contacts(Manifold* manifolds, const Resistance* resistances, Py_ssize_t count, const int32_t* order,
                                const Bodies* bodies, const Settings* settings, Anchor* anchors, Row* rows,
                                Py_ssize_t begin, Py_ssize_t capacity, bint bouncing) noexcept nogil:
    """Rows of all manifolds from `begin` on, or of those that bounce: those between two dynamic bodies first, those
    against the unmoved last, which so have the last word in a sweep; the parts of patches in turn
    (wide/_blocks.pxd, next_part), unless an order is given. -> row count, or -1: capacity too small."""
    cdef const Resistance* r
    cdef Py_ssize_t i, k, n = begin
    cdef int against_fixed, turn, parts
    cdef int part = 0
    cdef Manifold* m
    for against_fixed in range(2):
        turn = 0
        parts = 1
        while turn < parts:
            for k in range(count):
                i = k if order == NULL else order[k]
                m = &manifolds[i]
                part = next_part(manifolds, i, part) if order == NULL else 0
                parts = max(parts, part + 1)
                if part != turn or (bodies.inv_mass[m.body_a] == 0.0 or bodies.inv_mass[m.body_b] == 0.0) != against_fixed:
                    continue
                if bouncing and m.restitution <= 0.0:
                    continue
                if n + MOST_ROWS > capacity:
                    return -1
                set_anchors(m, bodies, settings, &anchors[MANIFOLD_ANCHORS * i])
                r = resistance_of(resistances, i)
                n += layout_manifold(m, r, <int>i, settings, &rows[n], <int>n)
                refresh_manifold(m, r, bodies, settings, &anchors[MANIFOLD_ANCHORS * i], &rows[m.row_begin])
            turn += 1
    return n


cdef void refresh_contacts(Manifold* manifolds, const Resistance* resistances, Py_ssize_t count, const Bodies* bodies,
                           const Settings* settings, const Anchor* anchors, Row* rows, bint bouncing) noexcept nogil:
    """The same rows at the present poses; impulses stay."""
    cdef Py_ssize_t i
    for i in range(count):
        if bouncing and manifolds[i].restitution <= 0.0:
            continue
        refresh_manifold(&manifolds[i], resistance_of(resistances, i), bodies, settings, &anchors[MANIFOLD_ANCHORS * i],
                         &rows[manifolds[i].row_begin])


cdef inline Vec3 point_acceleration(const Twist* a, Vec3 w, Vec3 arm) noexcept nogil:
    """Of a body's point, from the acceleration of its centre of mass: a + dw/dt x r + w x (w x r)"""
    return add(a.v, add(cross(a.w, arm), cross(w, cross(w, arm))))


cdef Vec3 normal_rate(const Manifold* m, Vec3 w_a, Vec3 w_b, Vec3 past) noexcept nogil:
    """dn/dt of a normal that turns, where it was found. past: b's velocity against a at the roundings' centres."""
    cdef Vec3 d, w
    if m.turns == BETWEEN_A or m.turns == BETWEEN_B:
        w = w_a if m.turns == BETWEEN_A else w_b
        d = scale(1.0 / (m.rounding_a + m.rounding_b), add_scaled(past, -dot(m.line, past), m.line))
        d = add_scaled(d, dot(m.line, cross(w, m.normal)), m.line)
    elif m.turns == EDGES:
        d = add(cross(cross(w_a, m.line), m.line_b), cross(m.line, cross(w_b, m.line_b)))
        d = scale(1.0 / norm(cross(m.line, m.line_b)), d)
    else:
        d = cross(w_a if m.turns == FACE_A or m.turns == RING_B else w_b, m.normal)
    return add_scaled(d, -dot(m.normal, d), m.normal)


cdef void bend_contacts(const Manifold* manifolds, Py_ssize_t count, const int32_t* chosen, const Bodies* bodies,
                        const Twist* acceleration, const Vec3* shared, double h, const Anchor* anchors,
                        Row* rows) noexcept nogil:
    """Of the chosen manifolds: d2C/dt2 of the normals' rows at the present poses and twists and these accelerations
    [v; w] of the bodies, into their `curvature` and half a substep of it into their biases: n . (what the roundings'
    centres accelerate apart). In h it bends no path by more than MOST_BENT of it, the path beyond the velocity
    `shared` by all that a body hangs together with, which bends nothing. A normal that turns adds 2 dn/dt . (their
    velocity) + d2n/dt2 . (their distance, R n), with n . d2n/dt2 = -|dn/dt|^2; bounded likewise."""
    cdef const Manifold* m
    cdef const Anchor* anchor
    cdef const Twist* a
    cdef const Twist* b
    cdef Row* row
    cdef Vec3 arm_a, arm_b, apart, past, turn, v_a, v_b
    cdef double bent, most
    cdef Py_ssize_t i
    cdef int k
    for i in range(count):
        m = &manifolds[i]
        a, b = &bodies.twist[m.body_a], &bodies.twist[m.body_b]
        for k in range(m.point_count if chosen[i] else 0):
            row = &rows[m.row_begin + k]
            anchor = &anchors[MANIFOLD_ANCHORS * i + k]
            arm_a = rotate(bodies.orientation[m.body_a], anchor.local_a)
            arm_b = rotate(bodies.orientation[m.body_b], anchor.local_b)
            v_a, v_b = add(a.v, cross(a.w, arm_a)), add(b.v, cross(b.w, arm_b))
            apart = sub(point_acceleration(&acceleration[m.body_b], b.w, arm_b),
                        point_acceleration(&acceleration[m.body_a], a.w, arm_a))
            most = 2.0 * MOST_BENT * (norm(sub(v_a, shared[m.body_a])) + norm(sub(v_b, shared[m.body_b]))) / h
            bent = max(-most, min(dot(m.normal, apart), most))
            if m.turns:
                past = sub(v_b, v_a)
                most = 2.0 * MOST_BENT * norm(past) / h
                turn = normal_rate(m, a.w, b.w, past)
                bent += max(-most, min(2.0 * dot(turn, past) - (m.rounding_a + m.rounding_b) * dot(turn, turn), most))
            row.bias[BIASED] -= 0.5 * h * row.curvature
            row.curvature = bent
            row.bias[BIASED] += 0.5 * h * row.curvature


cdef inline Vec3 rolling_impulse(const Row* rows) noexcept nogil:
    """The angular impulse on b of two rolling rows, world axes."""
    return add(scale(rows[0].impulse, vec3(rows[0].jacobian[9], rows[0].jacobian[10], rows[0].jacobian[11])),
               scale(rows[1].impulse, vec3(rows[1].jacobian[9], rows[1].jacobian[10], rows[1].jacobian[11])))


cdef void accumulate_contacts(Manifold* manifolds, const Resistance* resistances, Py_ssize_t count,
                              const Settings* settings, Row* rows, const double* impact_impulse,
                              bint bouncing) noexcept nogil:
    """After a substep: the impulses into the step's totals; what stays of them is the warm start for the next
    substep, in the rows and in the manifolds: of what bears, what lasts (wide/_halves.pxd), and friction in the same
    proportion.

    A central friction impulse is shared among the points in proportion to their normal impulses."""
    cdef Py_ssize_t i
    cdef Manifold* m
    cdef ManifoldPoint* point
    cdef Row* r
    cdef const double* impact
    cdef ContactRows parts
    cdef Vec3 friction
    cdef double normal, total
    cdef int k, n
    for i in range(count):
        m = &manifolds[i]
        if bouncing and m.restitution <= 0.0:
            continue
        r = &rows[m.row_begin]
        impact = &impact_impulse[m.row_begin]
        parts = contact_rows(m, resistance_of(resistances, i), settings)
        n = parts.pairs
        friction = vec3(0.0, 0.0, 0.0)
        if parts.friction and settings.friction_central:
            friction = add(pair_impulse(&r[n]), impact_pair(&r[n], &impact[n]))
        elif parts.friction:
            for k in range(m.point_count):
                friction = add(pair_impulse(&r[n + 2 * k]), impact_pair(&r[n + 2 * k], &impact[n + 2 * k]))
                m.points[k].total_friction_impulse = add(m.points[k].total_friction_impulse, friction)
        total = 0.0
        for k in range(m.point_count):
            total += r[parts.normals + k].impulse + impact[parts.normals + k]
        for k in range(m.point_count):
            point = &m.points[k]
            normal = r[parts.normals + k].impulse + impact[parts.normals + k]
            point.total_normal_impulse += normal
            point.separation = r[parts.normals + k].error
            if settings.friction_central and total > 0.0:
                point.total_friction_impulse = add_scaled(point.total_friction_impulse, normal / total, friction)
        if not settings.compliant:
            if not bouncing:
                keep_lasting(r, &parts, m.point_count, settings)
            for k in range(m.point_count):
                m.points[k].normal_impulse = r[parts.normals + k].impulse
                if parts.friction and not settings.friction_central:
                    m.points[k].friction_impulse = pair_impulse(&r[n + 2 * k])
        if parts.friction and settings.friction_central:
            m.friction_impulse = pair_impulse(&r[n])
        n += parts.friction
        if parts.twist:
            m.twist_impulse = r[n].impulse
        if parts.rolling:
            m.rolling_impulse = rolling_impulse(&r[n + parts.twist])


cdef inline void keep_lasting(Row* rows, const ContactRows* parts, int points, const Settings* settings) noexcept nogil:
    """Of a manifold's impulses what is the warm start for the next substep."""
    cdef double load = 0.0
    cdef double lasts = 0.0
    cdef int k
    for k in range(parts.normals, parts.normals + points):
        load += rows[k].impulse
        if rows[k].coupling == 1.0:                      # else of a patch, whose points' mean is their warm start
            rows[k].impulse = lasting(&rows[k], settings)
        lasts += rows[k].impulse
    if lasts < load:
        for k in range(parts.pairs, parts.pairs + parts.friction + parts.twist + parts.rolling):
            rows[k].impulse *= lasts / load


cdef inline Vec3 impact_pair(const Row* rows, const double* impact) noexcept nogil:
    """The same for the impulses of the substep's impacts."""
    return add(scale(impact[0], vec3(rows[0].jacobian[6], rows[0].jacobian[7], rows[0].jacobian[8])),
               scale(impact[1], vec3(rows[1].jacobian[6], rows[1].jacobian[7], rows[1].jacobian[8])))
