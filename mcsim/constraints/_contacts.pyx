"""Contact manifolds to rows: one normal row a point, and friction (ContactRows).

    normal     C = n . (p_b - p_a) >= 0                                    impulse >= 0
    friction   t_i . (relative velocity at the point) = 0, i = 1, 2        |impulse| <= mu sum(normal impulses)
    twist      (n - lean) . (w_b - w_a) = 0                                |impulse| <= mu sum(lever_i normal impulse_i)
    rolling    t_i . (w_b - w_a) = 0, i = 1, 2                             |impulse| <= rolling sum(normal impulses)

Where surfaces move over their bodies, the relative velocity is that of the surfaces: t_i . s is added to it. Torsional
friction makes the twist's bound sum((mu lever_i + torsional) normal impulse_i), also for a single point. (Resistance)

friction_points = "central": one pair and a twist row a manifold at the weighted centre; "point": a pair at every point.
Under a cone the central three of several points are one block, held by the limit surface that the points' own cones make
(wide/_limit_surface.pxd); the bound of the twist alone, above, holds besides a pyramid.
Both impulses of a row act at one point, so angular momentum is kept to rounding: the point goes with the features that
make it, a vertex over a face with the vertex (wide/_contact_frame.pxd), so that J v is the rate of C.
Source: E. Catto, "Solver2D", 2024, for central friction.
"""

from libc.string cimport memset
from mcsim.core._math cimport perpendicular
from mcsim.core._types cimport Twist
from mcsim.state._contact_reference cimport BETWEEN_A, BETWEEN_B, EDGES, FACE_A, RING_B
from mcsim.state._manifold cimport ManifoldPoint
from mcsim.state._row cimport (BIASED, ROW_NORMAL, ROW_FRICTION, ROW_TWIST, ROW_ROLLING, BLOCK_CONE,
                               BLOCK_FRICTION)
from mcsim.state._pull cimport external_acceleration
from mcsim.state._rows cimport response_along
from mcsim.wide._contact_frame cimport AnchorPoint, ContactFrame, find_frame, put_anchors, set_anchors, spin_axis
from mcsim.wide._efforts cimport next_part
from mcsim.wide._halves cimport lasting
from mcsim.wide._lane_types cimport Wide3
from mcsim.wide._lanes cimport lane3, put3

from mcsim.constraints._parts cimport *

# The largest part of its path by which a turning arm's end leaves its tangent: (1 - cos x) / x.
cdef double MOST_BENT = 0.7246

cdef inline void anchor_manifold(ContactAnchors* at, const Manifold* m, const Bodies* bodies,
                                 const Settings* settings) noexcept nogil:
    """Anchors of a fresh manifold, in one lane. Compliant surfaces are both pressed in, and meet in the middle."""
    cdef Wide3 normal
    cdef int i
    put3(&normal, 0, m.normal)
    memset(at, 0, sizeof(ContactAnchors))
    put_anchors(at, 0, m, bodies)
    set_anchors(at, m.point_count, normal, &m.body_a, &m.body_b, bodies)
    for i in range(m.point_count if settings.compliant else 0):
        at.points[i].along += (0.5 - m.points[i].share) * m.points[i].separation


cdef inline void begin_contact_row(Row* row, const Manifold* m, int source, int kind, int index,
                                   double impulse) noexcept nogil:
    begin_row(row, m.body_a, m.body_b, source, kind, index)
    clear_row(row, impulse)
    row.size = m.size
    row.friction = m.friction
    row.restitution = m.restitution


cdef int layout_pair(Row* rows, const Manifold* m, int source, int kind, int index, int normal_begin, int normal_count,
                     Vec3 impulse, const Settings* settings) noexcept nogil:
    """Headers of one tangential pair; the stored impulse is a world vector, so new tangents do not turn it."""
    cdef Vec3 t = perpendicular(m.normal)
    cdef int i
    for i in range(2):
        begin_contact_row(&rows[i], m, source, kind, index, dot(impulse, t))
        rows[i].normal_begin = normal_begin
        rows[i].normal_count = normal_count
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
        begin_contact_row(normal, m, source, ROW_NORMAL, i, m.points[i].normal_impulse)
        normal.lower = 0.0
        normal.stabilized = 1
        normal.push = settings.push_speed + settings.push_rate * m.size
        normal.coupling = m.thinning
    if parts.friction and settings.friction_central:
        n += layout_pair(&rows[n], m, source, ROW_FRICTION, -1, normals, m.point_count, m.friction_impulse, settings)
    elif parts.friction:
        for i in range(m.point_count):
            n += layout_pair(&rows[n], m, source, ROW_FRICTION, i, normals + i, 1, m.points[i].friction_impulse, settings)
    if parts.twist:
        begin_contact_row(&rows[n], m, source, ROW_TWIST, -1, m.twist_impulse)
        rows[n].block_kind = BLOCK_FRICTION
        rows[n].normal_begin = normals
        rows[n].normal_count = m.point_count
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


cdef void refresh_manifold(const Manifold* m, const Resistance* resistance, const Bodies* bodies, const Settings* settings,
                           ContactAnchors* anchors, Row* rows) noexcept nogil:
    """Jacobians and errors of one manifold's rows at the present poses."""
    cdef ContactRows parts = contact_rows(m, resistance, settings)
    cdef ContactFrame f
    cdef Vec3 normal, tangent, second, between, arm
    cdef int i, k
    cdef int n = parts.pairs
    cdef Row* row
    cdef double kick
    put3(&f.normal, 0, m.normal)
    put3(&f.tangent, 0, perpendicular(m.normal))
    find_frame(&f, anchors, m.point_count, &m.body_a, &m.body_b, bodies)
    normal, tangent, second = lane3(&f.normal, 0), lane3(&f.tangent, 0), lane3(&f.second, 0)
    between = lane3(&f.between, 0)
    kick = 0.5 * settings.h * dot(normal, sub(external_acceleration(bodies, m.body_b, settings.gravity),
                                              external_acceleration(bodies, m.body_a, settings.gravity)))
    for i in range(m.point_count):
        row = &rows[parts.normals + i]
        arm = lane3(&f.arm[i], 0)
        linear_row(row, normal, arm, add(arm, between))
        apply_inverse_mass(row, bodies)
        row.error = anchors.points[i].error
        row.curvature = 0.0
        row.kick = kick
        arm = lane3(&f.offset[i], 0)
        row.offset[0] = dot(tangent, arm)
        row.offset[1] = dot(second, arm)
        row.lever = sqrt(row.offset[0] * row.offset[0] + row.offset[1] * row.offset[1])
        if resistance != NULL and resistance.torsional > 0.0:
            row.lever = (m.friction * row.lever if settings.friction_central else 0.0) + resistance.torsional
    for i in range(parts.friction // 2):
        arm = lane3(&f.centre if settings.friction_central else &f.arm[i], 0)
        linear_row(&rows[n], tangent, arm, add(arm, between))
        linear_row(&rows[n + 1], second, arm, add(arm, between))
        couple_pair(&rows[n], bodies)
        if resistance != NULL:
            for k in range(2):
                rows[n].bias[k] = dot(tangent, resistance.surface_velocity)
                rows[n + 1].bias[k] = dot(second, resistance.surface_velocity)
        n += 2
    if parts.twist:
        f.normal = spin_axis(&f, anchors, m.point_count)
        angular_row(&rows[n], lane3(&f.normal, 0))
        apply_inverse_mass(&rows[n], bodies)
        if on_limit_surface(m, parts, settings):
            rows[n].coupling = response_along(&rows[n - 2], &rows[n])
            rows[n - 1].coupling = response_along(&rows[n - 1], &rows[n])
        n += 1
    if parts.rolling:
        angular_row(&rows[n], tangent)
        angular_row(&rows[n + 1], second)
        couple_pair(&rows[n], bodies)


cdef Py_ssize_t layout_contacts(Manifold* manifolds, const Resistance* resistances, Py_ssize_t count, const int32_t* order,
                                const Bodies* bodies, const Settings* settings, ContactAnchors* anchors, Row* rows,
                                Py_ssize_t begin, Py_ssize_t capacity, const Bodies* found, int which) noexcept nogil:
    """Rows of these manifolds from `begin` on: those between two dynamic bodies first, those
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
                if not has_rows(m, which):
                    continue
                if n + MOST_ROWS > capacity:
                    return -1
                anchor_manifold(&anchors[i], m, found, settings)
                r = resistance_of(resistances, i)
                n += layout_manifold(m, r, <int>i, settings, &rows[n], <int>n)
                refresh_manifold(m, r, bodies, settings, &anchors[i], &rows[m.row_begin])
            turn += 1
    return n


cdef void refresh_contacts(Manifold* manifolds, const Resistance* resistances, Py_ssize_t count, const Bodies* bodies,
                           const Settings* settings, ContactAnchors* anchors, Row* rows, int which) noexcept nogil:
    """The same rows at the present poses; impulses stay."""
    cdef Py_ssize_t i
    for i in range(count):
        if not has_rows(&manifolds[i], which):
            continue
        refresh_manifold(&manifolds[i], resistance_of(resistances, i), bodies, settings, &anchors[i],
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
                        const Twist* acceleration, const Vec3* shared, double h, const ContactAnchors* anchors,
                        Row* rows) noexcept nogil:
    """Of the chosen manifolds: d2C/dt2 of the normals' rows at the present poses and twists and these accelerations
    [v; w] of the bodies, into their `curvature` and half a substep of it into their biases: n . (what the roundings'
    centres accelerate apart). In h it bends no path by more than MOST_BENT of it, the path beyond the velocity
    `shared` by all that a body hangs together with, which bends nothing. A normal that turns adds 2 dn/dt . (their
    velocity) + d2n/dt2 . (their distance, R n), with n . d2n/dt2 = -|dn/dt|^2; bounded likewise."""
    cdef const Manifold* m
    cdef const AnchorPoint* anchor
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
            anchor = &anchors[i].points[k]
            arm_a = rotate(bodies.orientation[m.body_a], lane3(&anchor.local_a, 0))
            arm_b = rotate(bodies.orientation[m.body_b], lane3(&anchor.local_b, 0))
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
                              int which) noexcept nogil:
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
        if not has_rows(m, which):
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
            if which == ALL_CONTACTS:
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
