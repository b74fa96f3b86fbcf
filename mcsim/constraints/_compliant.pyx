"""Compliant contact: at every point a spring and a damper with a massless surface between them and the other body (R.
Featherstone, "Rigid Body Dynamics Algorithms", 2008, section 11.8). docs/theory/compliant.md derives what stands here.

    normal      f = k y + d y'  >= 0,     y how far the surface is pressed in;  y >= z, the bodies' overlap
                                          f > 0: y = z (it bears);  f = 0: it comes back by itself, k y + d y' = 0
    tangential  f = -(k_t s + d_t s'),    |f| <= mu f_n,   s how far the surface is dragged along
                                          inside the cone s' = u (it sticks); on it it slides after, against f
    hunt_crossley                         d = chi k y, d_t = chi_t k_t y:  f = k y (1 + chi y')  (K. Hunt and F. Crossley,
                                          "Coefficient of restitution interpreted as damping in vibroimpact", 1975)

As rows of a substep h whose forces act in two halves, with p = h/2 and e = d + q h k:

    lambda = p (k y + e y')   and   y' = z' - g / h,  g = y - z   <=>   J v + lambda / (p e) + g / h - k y / e = 0
    lambda = -p (k_t s + e s') and  s' = u                        <=>   J v + lambda / (p e) + k_t s / e = 0

under the rigid rows' bounds. q = 1/2 is the implicit midpoint rule, of second order: the second half is as large as the
first. Where h (d + h k) J M^-1 J' > 1 the point is faster than the substep: then q = 1, each half solved by itself, which
damps it. A point's state is kept in its record: normal_impulse is -y while it bears, else y; friction_impulse is s.

A drift along straight velocities, or a point that changes its place on the bodies, may press a surface deeper in than
what worked on it has paid for. So a pair of shapes keeps account of E, what its surfaces were given and have not given
back:

    dE = h f y'                     over a substep, of which sum of k y^2 / 2 is stored, the rest heat

Where z asks for more than E, y lags behind (`settle`): y < z, and so on until heat pays for it. The account is one,
however many manifolds the pair's points are dealt out to.
"""

from libc.math cimport INFINITY, fabs, sqrt

from mcsim.core._math cimport add, add_scaled, cross, dot, norm, rotate, scale, sub, vec3
from mcsim.core._types cimport Quat, Twist, Vec3
from mcsim.constraints._contacts cimport ContactRows, contact_rows, pair_impulse, resistance_of
from mcsim.constraints._fast_springs cimport FAST_SPRING
from mcsim.state._manifold cimport ManifoldPoint
from mcsim.state._row cimport BIASED, RELAXED
from mcsim.state._rows cimport pair_rate
from mcsim.wide._lanes cimport lane3

# Both surfaces together. damping: [N s/m] or, under Hunt and Crossley's law, chi [s/m].
ctypedef struct Surface:
    double stiffness
    double damping
    double tangential_stiffness
    double tangential_damping

# Where the rows of a manifold's points begin. pairs: -1, they do not rub.
ctypedef struct PointRows:
    Py_ssize_t normals
    Py_ssize_t pairs

# How far one point's surface is pressed in, y [m].
ctypedef struct Pressed:
    double before                # so far
    double paid                  # by what has worked on it
    double asked                 # by the overlap where it bears, else what is left of it
    bint bears

# Of a pair of shapes [J].
ctypedef struct Account:
    double held                  # by what its points keep
    double wanted                # for what they ask beyond what they have paid
    double part                  # of that, what heat pays for
    double heat                  # what is left

# A tangential impulse that is this part of its bound slides.
cdef double BOUND = 1.0 - 1e-9


cdef inline double in_series(double a, double b) noexcept nogil:
    return a * b / (a + b) if a + b > 0.0 else 0.0


cdef inline Surface surface_of(const Manifold* m, const Shape* shapes) noexcept nogil:
    """Two surfaces in series; a rigid one leaves the other's."""
    cdef const Shape* a = &shapes[m.shape_a]
    cdef const Shape* b = &shapes[m.shape_b]
    cdef Surface s
    if a.stiffness == 0.0:
        a = b
    if b.stiffness == 0.0:
        b = a
    s.stiffness = a.stiffness
    s.damping = a.damping
    s.tangential_stiffness = a.tangential_stiffness
    s.tangential_damping = a.tangential_damping
    if a != b:
        s.stiffness = in_series(a.stiffness, b.stiffness)
        s.damping = in_series(a.damping, b.damping)
        s.tangential_stiffness = in_series(a.tangential_stiffness, b.tangential_stiffness)
        s.tangential_damping = in_series(a.tangential_damping, b.tangential_damping)
    return s


cdef inline PointRows point_rows(const Manifold* m, const Resistance* resistance,
                                 const Settings* settings) noexcept nogil:
    cdef ContactRows parts = contact_rows(m, resistance, settings)
    cdef PointRows rows
    rows.pairs = m.row_begin + parts.pairs if parts.friction > 0 else -1
    rows.normals = m.row_begin + parts.normals
    return rows


cdef inline Vec3 along(const Row* row) noexcept nogil:
    """The direction of a contact's row, on b."""
    return vec3(row.jacobian[6], row.jacobian[7], row.jacobian[8])


# ---- how far surfaces are pressed in ---------------------------------------------------------------------------------

cdef inline double signature(const Manifold* m, const Bodies* bodies) noexcept nogil:
    """A number that two poses of the bodies hardly share, and that is not 0."""
    cdef Vec3 a = bodies.position[m.body_a]
    cdef Vec3 b = bodies.position[m.body_b]
    cdef Quat q = bodies.orientation[m.body_a]
    cdef Quat r = bodies.orientation[m.body_b]
    return 8.0 + (0.31 * a.x + 0.37 * a.y + 0.41 * a.z - 0.43 * b.x - 0.47 * b.y - 0.53 * b.z
                  + 0.59 * q.w + 0.61 * q.x + 0.67 * q.y + 0.71 * q.z + 0.73 * r.w + 0.79 * r.x + 0.83 * r.y + 0.89 * r.z)


cdef inline void bear(Pressed* p, bint bore, double overlap) noexcept nogil:
    """Where it bore, or the bodies have come deeper than y, y is to be the overlap."""
    p.bears = bore or overlap > p.paid
    p.asked = max(overlap, 0.0) if p.bears else p.paid


cdef inline Pressed pressed_now(const ManifoldPoint* point, const Row* row) noexcept nogil:
    """At the start of a step: y is what it was, and where it bore, the overlap now."""
    cdef Pressed p
    p.before = p.paid = fabs(point.normal_impulse)
    bear(&p, point.normal_impulse < 0.0, -row.error)
    return p


cdef inline Pressed pressed_then(const ManifoldPoint* point, const Row* row, const Surface* surface,
                                 const Settings* settings) noexcept nogil:
    """After a drift with the row's impulse."""
    cdef Pressed p
    p.before = fabs(point.normal_impulse)
    if row.impulse > 0.0:
        p.paid = max(p.before + settings.h * pressing(p.before, row, surface.stiffness, settings), 0.0)
    else:
        p.paid = recovered(p.before, surface, settings)
    bear(&p, row.impulse > 0.0, -row.error)
    return p


cdef inline void ask(Account* account, const Pressed* p, double stiffness) noexcept nogil:
    account.held += 0.5 * stiffness * min(p.paid, p.asked) * min(p.paid, p.asked)
    account.wanted += 0.5 * stiffness * max(p.asked * p.asked - p.paid * p.paid, 0.0)


cdef inline void settle(ManifoldPoint* point, const Pressed* p, const Account* account) noexcept nogil:
    """y as it is paid for: of what is lacking, all points of the account get the same part."""
    cdef double y = p.asked
    if account.part < 1.0 and p.asked > p.paid:
        y = sqrt(p.paid * p.paid + account.part * (p.asked * p.asked - p.paid * p.paid))
    point.normal_impulse = -y if p.bears else y


cdef inline void close_account(Account* account, double energy) noexcept nogil:
    """After all have asked: what of it the heat pays for."""
    cdef double heat = max(energy - account.held, 0.0)
    account.part = heat / account.wanted if heat < account.wanted else 1.0
    account.heat = heat - account.part * account.wanted if heat < INFINITY else 0.0


cdef inline Py_ssize_t pair_end(const Manifold* manifolds, Py_ssize_t begin, Py_ssize_t count) noexcept nogil:
    """Where the manifolds of the pair that begins there end."""
    cdef Py_ssize_t end = begin + 1
    while end < count and manifolds[end].key == manifolds[begin].key:
        end += 1
    return end


cdef inline void keep_account(Manifold* m, double stiffness, double heat) noexcept nogil:
    """The manifold's part of the pair's: what its own points hold, and an equal part of the heat."""
    cdef int k
    m.friction_impulse.x = heat
    for k in range(m.point_count):
        m.friction_impulse.x += 0.5 * stiffness * m.points[k].normal_impulse * m.points[k].normal_impulse


# ---- at the start of a step ------------------------------------------------------------------------------------------

cdef inline void press_in(Manifold* manifolds, const Resistance* resistances, const Shape* shapes, Py_ssize_t count,
                          const Bodies* bodies, const Settings* settings, const Row* rows) noexcept nogil:
    """y at the present geometry."""
    cdef Manifold* m
    cdef Account account
    cdef Surface surface
    cdef Pressed p
    cdef const Row* normals
    cdef Py_ssize_t i, end
    cdef Py_ssize_t begin = 0
    cdef double energy
    cdef bint known
    cdef int k
    while begin < count:
        end = pair_end(manifolds, begin, count)
        surface = surface_of(&manifolds[begin], shapes)
        account.held = account.wanted = energy = 0.0
        known = False
        for i in range(begin, end):
            m = &manifolds[i]
            if m.friction_impulse.y == signature(m, bodies):
                known, energy = True, energy + m.friction_impulse.x
            normals = &rows[point_rows(m, resistance_of(resistances, i), settings).normals]
            for k in range(m.point_count):
                p = pressed_now(&m.points[k], &normals[k])
                ask(&account, &p, surface.stiffness)
        close_account(&account, energy if known else INFINITY)
        for i in range(begin, end):
            m = &manifolds[i]
            normals = &rows[point_rows(m, resistance_of(resistances, i), settings).normals]
            for k in range(m.point_count):
                p = pressed_now(&m.points[k], &normals[k])
                settle(&m.points[k], &p, &account)
            keep_account(m, surface.stiffness, account.heat / (end - begin))
        begin = end


cdef void load_surfaces(Manifold* manifolds, const Resistance* resistances, const Shape* shapes, Py_ssize_t count,
                        const Bodies* bodies, const Settings* settings, Row* rows) noexcept nogil:
    """Surfaces kept from the last step at the present geometry: what bore does where the bodies are now; s turns with the
    normal. Springs as they stand are what the rows' impulses are guessed by. A pair that is new, or of bodies that were
    moved since the last step, begins with its springs pressed in as they may be."""
    cdef Manifold* m
    cdef ManifoldPoint* point
    cdef PointRows at
    cdef Surface surface
    cdef Py_ssize_t i, n
    cdef double length, load
    cdef int k
    press_in(manifolds, resistances, shapes, count, bodies, settings, rows)
    for i in range(count):
        m = &manifolds[i]
        surface = surface_of(m, shapes)
        at = point_rows(m, resistance_of(resistances, i), settings)
        for k in range(m.point_count):
            point = &m.points[k]
            load = settings.h * surface.stiffness * max(-point.normal_impulse, 0.0)
            rows[at.normals + k].impulse = load
            length = norm(point.friction_impulse)
            point.friction_impulse = add_scaled(point.friction_impulse, -dot(point.friction_impulse, m.normal),
                                                m.normal)
            if length > 0.0 and norm(point.friction_impulse) > 0.0:
                point.friction_impulse = scale(length / norm(point.friction_impulse), point.friction_impulse)
            if at.pairs < 0:
                continue
            n = at.pairs + 2 * k
            length *= settings.h * surface.tangential_stiffness
            load = m.friction * load / length if length > m.friction * load else 1.0
            load *= -settings.h * surface.tangential_stiffness
            rows[n].impulse = load * dot(point.friction_impulse, along(&rows[n]))
            rows[n + 1].impulse = load * dot(point.friction_impulse, along(&rows[n + 1]))

# ---- numbers of rows -------------------------------------------------------------------------------------------------

cdef inline void soften_row(Row* row, double stiffness, double damping, double stretch, double gap, double fastest,
                            const Settings* settings) noexcept nogil:
    """Bias, compliance and mass of one row of a spring with the stretch k would act by, for both passes. fastest: the
    largest J M^-1 J' of the rows that are solved with it. One that is faster than the substep has a compliance above 0
    in the relax pass."""
    cdef double h = settings.h
    cdef double first = settings.first_kick
    cdef bint fast = h * (damping + h * stiffness) * fastest >= FAST_SPRING
    cdef double e = damping + (h * stiffness if fast else 0.5 * h * stiffness)
    row.bias[BIASED] += gap / h + stiffness * stretch / e
    row.compliance[BIASED] = 1.0 / (first * h * e)
    row.mass[BIASED] = 1.0 / (row.diagonal + row.compliance[BIASED])
    if fast:
        row.compliance[RELAXED] = 1.0 / ((1.0 - first) * h * e)
        row.bias[RELAXED] = row.bias[BIASED] - row.compliance[RELAXED] * row.impulse
        row.mass[RELAXED] = 1.0 / (row.diagonal + row.compliance[RELAXED])
    else:
        # The second half is as large as the first: without mass, the relax pass leaves the row alone.
        row.compliance[RELAXED] = -row.diagonal
        row.bias[RELAXED] = 0.0
        row.mass[RELAXED] = 0.0


cdef inline Vec3 centripetal(Vec3 spin, Vec3 arm) noexcept nogil:
    return cross(spin, cross(spin, arm))


cdef inline Vec3 bend(const Manifold* m, const Bodies* bodies, Vec3 arm_a, Vec3 arm_b) noexcept nogil:
    """How fast the slip of two surfaces at their contact changes by the bodies' motion at constant velocities [m/s2]:
    w_b x (p' - v_b) - w_a x (p' - v_a), p' the velocity of the contact itself. It goes with the centre of what is round,
    between two by their radii, else with both bodies. arms: from the bodies' centres to the roundings', or to the contact.
    """
    cdef const Twist* a = &bodies.twist[m.body_a]
    cdef const Twist* b = &bodies.twist[m.body_b]
    cdef double part = 0.5
    cdef Vec3 p
    if m.rounding_a + m.rounding_b > 0.0:
        part = m.rounding_a / (m.rounding_a + m.rounding_b)
        if m.rounding_a == 0.0 or m.rounding_b == 0.0:
            part = 1.0 - part
    p = add(scale(1.0 - part, add(a.v, cross(a.w, arm_a))), scale(part, add(b.v, cross(b.w, arm_b))))
    return sub(cross(b.w, sub(p, b.v)), cross(a.w, sub(p, a.v)))


cdef inline double indentation(double pressed, double speed, double gap, const Settings* settings) noexcept nogil:
    """Of the surface in the middle of the substep, at the present speed of approach [m]."""
    return max(pressed + 0.5 * (settings.h * speed - gap), 0.0)


cdef void comply(const Manifold* manifolds, const Resistance* resistances, const Shape* shapes, Py_ssize_t count,
                 const Bodies* bodies, const Settings* settings, const ContactAnchors* anchors, Row* rows) noexcept nogil:
    """Biases, compliances and masses of the points' rows, whose Jacobians, errors and impulses are written. The relax
    pass finds the second half of the present impulses, the biased one the first half of the next."""
    cdef const Manifold* m
    cdef const ManifoldPoint* point
    cdef PointRows at
    cdef Surface surface
    cdef Vec3 belt, arm_a, arm_b, bent
    cdef Row* row
    cdef Py_ssize_t i
    cdef double pressed, gap, factor, fastest
    cdef int k, c
    for i in range(count):
        m = &manifolds[i]
        surface = surface_of(m, shapes)
        at = point_rows(m, resistance_of(resistances, i), settings)
        belt = vec3(0.0, 0.0, 0.0)
        if resistances != NULL:
            belt = resistances[i].surface_velocity
        for k in range(m.point_count):
            point = &m.points[k]
            row = &rows[at.normals + k]
            pressed = fabs(point.normal_impulse)
            gap = max(pressed + row.error, 0.0)
            factor = 1.0
            if settings.hunt_crossley:
                factor = indentation(pressed, -pair_rate(row, bodies.twist), gap, settings)
            row.bias[BIASED] = 0.0
            soften_row(row, surface.stiffness, surface.damping * (surface.stiffness * factor if
                       settings.hunt_crossley else 1.0), -pressed, gap, row.diagonal, settings)
            # The mean rate over the drift, on the way that it really goes: J v at its start, and half of what that bends.
            arm_a = rotate(bodies.orientation[m.body_a], lane3(&anchors[i].points[k].local_a, 0))
            arm_b = rotate(bodies.orientation[m.body_b], lane3(&anchors[i].points[k].local_b, 0))
            row.bias[BIASED] += 0.5 * settings.h * dot(m.normal, sub(centripetal(bodies.twist[m.body_b].w, arm_b),
                                                                     centripetal(bodies.twist[m.body_a].w, arm_a)))
            if at.pairs < 0:
                continue
            bent = bend(m, bodies, arm_a, arm_b)
            row = &rows[at.pairs + 2 * k]
            fastest = max(row[0].diagonal, row[1].diagonal)
            for c in range(2):
                row[c].bias[BIASED] = dot(along(&row[c]), belt)
                soften_row(&row[c], surface.tangential_stiffness, surface.tangential_damping * (
                           surface.tangential_stiffness * factor if settings.hunt_crossley else 1.0),
                           dot(point.friction_impulse, along(&row[c])), 0.0, fastest, settings)
                row[c].bias[BIASED] += 0.5 * settings.h * dot(along(&row[c]), bent)


# ---- after the drift -------------------------------------------------------------------------------------------------

cdef inline double kept_part(double stiffness, double damping, double h) noexcept nogil:
    """exp(-h k / d), what a surface that is let go keeps of its stretch, by a rational function of second order that falls
    to 0 as it does; without damping it is back at once."""
    cdef double x
    if damping <= 0.0:
        return 0.0
    x = h * stiffness / damping
    return 1.0 / (1.0 + x + 0.5 * x * x)


cdef inline double recovered(double pressed, const Surface* surface, const Settings* settings) noexcept nogil:
    """How far a surface that bears nothing is pressed in a substep later: y' = -k y / d, or y' = -1 / chi."""
    if not settings.hunt_crossley:
        return pressed * kept_part(surface.stiffness, surface.damping, settings.h)
    if surface.damping <= 0.0:
        return 0.0
    return max(pressed - settings.h / surface.damping, 0.0)


cdef inline double dragged(double s, double impulse, double slides, const Row* row, double stiffness, double damping,
                           const Settings* settings) noexcept nogil:
    """One component of s after a substep whose first half had the impulse. Sticking: s' = -(f + k s) / e, which is the
    velocity of the bodies; sliding: as f = -(k s + d s') lets it."""
    cdef double first = settings.first_kick * settings.h
    cdef double rest
    if slides:
        rest = -impulse / (first * stiffness)
        return rest + (s - rest) * kept_part(stiffness, damping, settings.h)
    return s - settings.h * row.compliance[BIASED] * (impulse + first * stiffness * s)


cdef inline double pressing(double pressed, const Row* row, double stiffness, const Settings* settings) noexcept nogil:
    """y' over a substep whose first half had the row's impulse."""
    return row.compliance[BIASED] * (row.impulse - settings.first_kick * settings.h * stiffness * pressed)


cdef inline Vec3 not_outrun(Vec3 s, Vec3 before, Vec3 way, Vec3 impulse) noexcept nogil:
    """s of a surface that slid: friction only brakes. Where the bodies went back (`way`) by more than it did, it went with
    them, at most until it is undone: else friction, which a spring that comes back gives, would push beyond what it has."""
    cdef double length = norm(impulse)
    cdef double ahead
    if length == 0.0:
        return s
    impulse = scale(1.0 / length, impulse)
    ahead = min(dot(impulse, sub(way, sub(s, before))), -dot(impulse, s))
    return add_scaled(s, ahead, impulse) if ahead > 0.0 else s


cdef Vec3 drag(Vec3 s, const Manifold* m, double pressed, double load, Vec3 belt, const Surface* surface,
               const Bodies* bodies, const Settings* settings, const Row* rows) noexcept nogil:
    """s of one point after a substep. load: the normal impulse. It turns with the mean spin of both bodies about the
    normal."""
    cdef double bound = BOUND * m.friction * load
    cdef double damping = surface.tangential_damping
    cdef double turn = 0.5 * settings.h * dot(m.normal, add(bodies.twist[m.body_a].w, bodies.twist[m.body_b].w))
    cdef bint slides = norm(pair_impulse(rows)) >= bound
    cdef bint slid = False
    cdef Vec3 out = vec3(0.0, 0.0, 0.0)
    cdef Vec3 way = vec3(0.0, 0.0, 0.0)
    cdef int c
    if settings.hunt_crossley:
        damping *= surface.tangential_stiffness * pressed
    for c in range(2):
        if not settings.friction_cone:
            slides = fabs(rows[c].impulse) >= bound
        out = add_scaled(out, dragged(dot(s, along(&rows[c])), rows[c].impulse, slides, &rows[c],
                                      surface.tangential_stiffness, damping, settings), along(&rows[c]))
        way = add_scaled(way, settings.h * (pair_rate(&rows[c], bodies.twist) + dot(along(&rows[c]), belt)),
                         along(&rows[c]))
        slid = slid or slides
    if slid and load > 0.0:
        out = not_outrun(out, s, way, pair_impulse(rows))
    if turn != 0.0:
        out = scale(1.0 / sqrt(1.0 + turn * turn), add_scaled(out, turn, cross(m.normal, out)))
    return out


cdef void move_surfaces(Manifold* manifolds, const Resistance* resistances, const Shape* shapes, Py_ssize_t count,
                        const Bodies* bodies, const Settings* settings, const Row* rows) noexcept nogil:
    """The surfaces at the end of a drift. rows: their errors are those of now, their impulses and compliances those with
    which the drift began."""
    cdef Manifold* m
    cdef ManifoldPoint* point
    cdef PointRows at
    cdef Surface surface
    cdef Account account
    cdef Pressed p
    cdef Py_ssize_t i, end
    cdef Py_ssize_t begin = 0
    cdef double energy
    cdef const Row* row
    cdef Vec3 belt
    cdef int k
    while begin < count:
        end = pair_end(manifolds, begin, count)
        surface = surface_of(&manifolds[begin], shapes)
        account.held = account.wanted = energy = 0.0
        for i in range(begin, end):
            m = &manifolds[i]
            energy += m.friction_impulse.x
            row = &rows[point_rows(m, resistance_of(resistances, i), settings).normals]
            for k in range(m.point_count):
                p = pressed_then(&m.points[k], &row[k], &surface, settings)
                if row[k].impulse > 0.0:
                    energy += (pressing(p.before, &row[k], surface.stiffness, settings)
                               * row[k].impulse / settings.first_kick)
                ask(&account, &p, surface.stiffness)
        close_account(&account, energy)
        for i in range(begin, end):
            m = &manifolds[i]
            at = point_rows(m, resistance_of(resistances, i), settings)
            belt = resistances[i].surface_velocity if resistances != NULL else vec3(0.0, 0.0, 0.0)
            for k in range(m.point_count):
                point, row = &m.points[k], &rows[at.normals + k]
                p = pressed_then(point, row, &surface, settings)
                settle(point, &p, &account)
                if at.pairs >= 0:
                    point.friction_impulse = drag(point.friction_impulse, m, 0.5 * (p.before + fabs(point.normal_impulse)),
                                                  row.impulse, belt, &surface, bodies, settings, &rows[at.pairs + 2 * k])
            keep_account(m, surface.stiffness, account.heat / (end - begin))
        begin = end


cdef void sign_surfaces(Manifold* manifolds, Py_ssize_t count, const Bodies* bodies) noexcept nogil:
    """At the end of a step: these are the poses that the surfaces know."""
    cdef Py_ssize_t i
    for i in range(count):
        manifolds[i].friction_impulse.y = signature(&manifolds[i], bodies)

# ---- energy ----------------------------------------------------------------------------------------------------------

cdef double surface_energy(const Manifold* manifolds, const Shape* shapes, Py_ssize_t count) noexcept nogil:
    """sum of k y^2 / 2 + k_t s^2 / 2 [J]"""
    cdef const Manifold* m
    cdef const ManifoldPoint* point
    cdef Surface surface
    cdef double energy = 0.0
    cdef Py_ssize_t i
    cdef int k
    for i in range(count):
        m = &manifolds[i]
        surface = surface_of(m, shapes)
        for k in range(m.point_count):
            point = &m.points[k]
            energy += 0.5 * surface.stiffness * point.normal_impulse * point.normal_impulse
            energy += 0.5 * surface.tangential_stiffness * dot(point.friction_impulse, point.friction_impulse)
    return energy
