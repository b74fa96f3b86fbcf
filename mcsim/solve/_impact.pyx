"""Impacts with restitution, one manifold after the other until none is left.

A manifold is struck when one of its points touches within the next substep (s + h v_n < 0, kick included) and closes
faster than the threshold. All its touching points then act at once under Newton's law in the form of Moreau
("Unilateral contact and dry friction in finite freedom dynamics", 1988, section 8), with u = J v of the normals before
and u+ after:

    p >= 0,   u+ + e u >= 0,   p . (u+ + e u) = 0,   u+ = u + A p.

So p'u = -p'A p / (1 + e) and the kinetic energy changes by (1 - e)/2 p'u <= 0: for e <= 1 a strike never adds energy.
u is the velocity at the time of the pose. Where a substep's forces act as one kick before the drift, that is half the
next kick later: it is added. Where they act in halves (`first`, their part before the drift, is 1/2) u is there
already, and half a kick comes before the next drift. Without this a ball lost or won g h / v of its speed at each
bounce, and e = 1 did not come back to its height. A strike comes up to h v before the touch; its e is that which, from
there, amounts to e at the surface.

Coulomb friction under the load p follows, solved as maximum dissipation from zero, which does not add any either.

Sequential, not simultaneous, impacts are what sends the last ball of a Newton's cradle off alone: the sweeps alternate
in direction, so a blow runs down a row of bodies in one sweep whichever way the manifolds are numbered.
"""

from libc.math cimport fabs, sqrt

from mcsim.core._types cimport MC_ASSERT, Twist
from mcsim.solve._blocks cimport clamp, cone_step, row_apply, row_coupling, row_velocity, slip_products
from mcsim.solve._limit_surface cimport LimitSurface, find_moments, limit_surface_step
from mcsim.state._layout cimport MANIFOLD_POINTS, RELAXED, ROW_FRICTION, ROW_NORMAL, ROW_TWIST, Row

cdef enum:
    SWEEPS = 64              # over all manifolds
    PIVOTS = 64              # of the local complementarity problem; 16 sets of 4 points exist
    REFINEMENTS = 20         # proximal steps of the same; 2 or 3 do unless two points nearly coincide
    FRICTION_ROWS = 16       # of one manifold
    FRICTION_SWEEPS = 8

# ---- a small complementarity problem ---------------------------------------------------------------------------------

cdef void solve_active(const double* a, const double* rhs, int n, int active, double* p) noexcept nogil:
    """p = -(a_SS)^-1 rhs_S on the active set S (bits), 0 elsewhere; a (4, 4) positive definite. Cholesky as L D L'."""
    cdef double l[4][4]
    cdef double s
    cdef int i, j, k
    for i in range(n):
        p[i] = 0.0
        if not active >> i & 1:
            continue
        p[i] = -rhs[i]
        for j in range(i + 1):
            if not active >> j & 1:
                continue
            s = a[4 * i + j]
            for k in range(j):
                if active >> k & 1:
                    s -= l[i][k] * l[k][k] * l[j][k]
            if i == j:
                l[i][i] = s
            else:
                l[i][j] = s / l[j][j]
                p[i] -= l[i][j] * p[j]
    for i in range(n - 1, -1, -1):
        if not active >> i & 1:
            continue
        p[i] /= l[i][i]
        for k in range(i + 1, n):
            if active >> k & 1:
                p[i] -= l[k][i] * p[k]


cdef void solve_lcp(const double* a, const double* q, int n, double* p) noexcept nogil:
    """p >= 0,  a p + q >= 0,  p . (a p + q) = 0  for a positive definite (4, 4) matrix of n rows.

    Murty's principal pivoting with the least index ("Note on a Bard-type scheme for solving the complementarity
    problem", 1974): flip the first row that breaks its sign. It ends for every P-matrix, whatever the start.
    """
    cdef int active = (1 << n) - 1
    cdef int i, j, k, wrong
    cdef double w, tolerance = 0.0
    for i in range(n):
        if fabs(q[i]) > tolerance:
            tolerance = fabs(q[i])
    tolerance *= 1e-15
    for k in range(PIVOTS):
        solve_active(a, q, n, active, p)
        wrong = -1
        for i in range(n):
            if active >> i & 1:
                if p[i] < 0.0:
                    wrong = i
                    break
            else:
                w = q[i]
                for j in range(n):
                    w += a[4 * i + j] * p[j]
                if w < -tolerance:
                    wrong = i
                    break
        if wrong < 0:
            return
        active ^= 1 << wrong
    for i in range(n):
        p[i] = p[i] if p[i] > 0.0 else 0.0


cdef void strike(const double* a, const double* q, int n, double* p) noexcept nogil:
    """The same for a semidefinite a: four points under a flat box have rank 3.

    Proximal point iteration (Rockafellar, "Monotone operators and the proximal point algorithm", 1976): solve with
    a + eps 1 around the last p. From p = 0 the first step is nearly the solution of smallest norm, so equal points get
    equal impulses; the next ones take what eps left out of the velocities.
    """
    cdef double shifted[16]
    cdef double right[4]
    cdef double last[4]
    cdef double eps = 0.0
    cdef double size = 0.0
    cdef double off
    cdef int i, j, k
    if n == 1:
        p[0] = -q[0] / a[0] if q[0] < 0.0 else 0.0
        return
    for i in range(n):
        eps += 1e-7 * a[5 * i] / n
        size = fabs(q[i]) if fabs(q[i]) > size else size
        p[i] = 0.0
    for i in range(n):
        for j in range(n):
            shifted[4 * i + j] = a[4 * i + j]
        shifted[5 * i] += eps
    for k in range(REFINEMENTS):
        for i in range(n):
            last[i] = p[i]
            right[i] = q[i] - eps * p[i]
        solve_lcp(shifted, right, n, p)
        off = 0.0
        for i in range(n):
            off = fabs(p[i] - last[i]) if fabs(p[i] - last[i]) > off else off
        if eps * off <= 1e-15 * size:
            return

# ---- one manifold ----------------------------------------------------------------------------------------------------

cdef inline bint same_manifold(const Row* x, const Row* y) noexcept nogil:
    return x.kind == ROW_NORMAL and y.kind == ROW_NORMAL and x.source == y.source


cdef inline bint rubs(const Row* row, int source) noexcept nogil:
    return (row.kind == ROW_FRICTION or row.kind == ROW_TWIST) and row.source == source


cdef inline double rebound(const Row* row, double u, double h) noexcept nogil:
    """The ratio of speeds at the gap s > 0 that restitution e at the surface makes, with the acceleration a = 2 kick /
    h: on the way through the gap and back, u_s^2 = u^2 - 2 a s."""
    cdef double gained
    if row.error <= 0.0 or row.kick == 0.0 or u == 0.0:
        return row.restitution
    gained = -4.0 * row.kick * row.error / (h * u * u)
    gained = row.restitution * row.restitution * (1.0 + gained) - gained
    return sqrt(gained) if gained > 0.0 else 0.0


cdef int resolve_manifold(const Row* rows, Py_ssize_t count, Py_ssize_t begin, int points, Twist* twist,
                          double threshold, double h, double first, double* impact_impulse) noexcept nogil:
    """Strike the manifold whose normals are rows[begin : begin + points] if it asks for it; 1 if so, else 0."""
    cdef const Row* normal[MANIFOLD_POINTS]
    cdef double a[16]
    cdef double q[4]
    cdef double p[4]
    cdef double load[MANIFOLD_POINTS]
    cdef double u, v
    cdef bint touches
    cdef bint struck = False
    cdef int n = 0
    cdef int i, j
    cdef const Row* row
    for i in range(points):
        row = rows + begin + i
        if not row.diagonal > 0.0:
            continue
        u = row_velocity(row, twist)
        touches = row.error + h * (u + first * 2.0 * row.kick) < 0.0
        if touches or row.error <= 0.0:
            normal[n] = row
            v = u + (2.0 * first - 1.0) * row.kick
            q[n] = (1.0 + rebound(row, v, h)) * v
            n += 1
            struck = struck or (u < -threshold and touches)
    if not struck:
        return 0
    for i in range(n):
        for j in range(n):
            a[4 * i + j] = row_coupling(normal[i], normal[j])
    strike(a, q, n, p)
    for i in range(points):
        load[i] = 0.0
    for i in range(n):
        load[normal[i] - rows - begin] = p[i]
        impact_impulse[normal[i] - rows] += p[i]
        row_apply(normal[i], p[i], twist)
    rub(rows, count, begin, points, load, twist, impact_impulse)
    return 1


cdef void rub(const Row* rows, Py_ssize_t count, Py_ssize_t begin, int points, const double* load, Twist* twist,
              double* impact_impulse) noexcept nogil:
    """Friction of the struck manifold: its friction rows lie right before or right behind the normals."""
    cdef Py_ssize_t first = begin
    cdef Py_ssize_t last = begin + points
    cdef int source = rows[begin].source
    while first > 0 and rubs(rows + first - 1, source):
        first -= 1
    rub_rows(rows, first, begin, begin, points, load, twist, impact_impulse)
    first = last
    while last < count and rubs(rows + last, source):
        last += 1
    rub_rows(rows, first, last, begin, points, load, twist, impact_impulse)


cdef inline double slip(const Row* row, const Twist* twist) noexcept nogil:
    """Of the surfaces, which may move over their bodies: that is a friction row's bias."""
    return row_velocity(row, twist) + row.bias[RELAXED]


cdef void rub_rows(const Row* rows, Py_ssize_t first, Py_ssize_t last, Py_ssize_t begin, int points,
                   const double* load, Twist* twist, double* impact_impulse) noexcept nogil:
    """Gauss-Seidel on the friction blocks in rows[first:last], from zero; no step of it adds kinetic energy."""
    cdef double impulse[FRICTION_ROWS]
    cdef double old[3]
    cdef double share[8]
    cdef double bore = 0.0
    cdef double bound
    cdef const Row* row
    cdef Py_ssize_t i
    cdef double* x
    cdef int k, j
    MC_ASSERT(last - first <= FRICTION_ROWS)
    if last - first > FRICTION_ROWS:
        last = first + FRICTION_ROWS
    for i in range(last - first):
        impulse[i] = 0.0
    for j in range(8):
        share[j] = 0.0
    for k in range(FRICTION_SWEEPS):
        i = first
        while i < last and i + rows[i].block <= last:
            row = rows + i
            x = impulse + (i - first)
            for j in range(row.block):
                old[j] = x[j]
            bound = impact_bound(row, begin, points, rows, load)
            if row.block == 3:
                strike_surface(rows, row, begin, load, twist, share, &bore, x)
                row_apply(row + 1, x[1] - old[1], twist)
                row_apply(row + 2, x[2] - old[2], twist)
            elif row.block == 2:
                cone_step(row[0].diagonal, row[1].diagonal, row.coupling, bound, slip(row, twist), slip(row + 1, twist),
                          x)
                row_apply(row + 1, x[1] - old[1], twist)
            elif row.diagonal > 0.0:
                x[0] = clamp(x[0] - slip(row, twist) / row.diagonal, -bound, bound)
            row_apply(row, x[0] - old[0], twist)
            i += row.block
    for i in range(first, last):
        impact_impulse[i] += impulse[i - first]


cdef void strike_surface(const Row* rows, const Row* row, Py_ssize_t begin, const double* load, const Twist* twist,
                         double* share, double* bore, double* x) noexcept nogil:
    """(3,) x of the block of three at `row` under the strike's loads of the normals from rows[begin] on."""
    cdef LimitSurface s
    cdef double w[3]
    cdef double sum = 0.0
    cdef int i
    s.count = row.normal_count
    for i in range(s.count):
        s.limit[i] = row.friction * load[i]
        s.turn[i][0] = rows[begin + i].offset[1]
        s.turn[i][1] = -rows[begin + i].offset[0]
        sum += load[i]
    s.bore = row[2].lever * sum
    find_moments(&s)
    for i in range(3):
        w[i] = slip(row + i, twist)
    limit_surface_step(&s, slip_products(row, RELAXED), w, share, bore, x)


cdef double impact_bound(const Row* row, Py_ssize_t begin, int points, const Row* rows,
                         const double* load) noexcept nogil:
    """friction_bound under the impulses `load` of the strike on rows[begin : begin + points]."""
    cdef double bound = 0.0
    cdef Py_ssize_t i
    cdef int k
    for k in range(row.normal_count):
        i = row.normal_begin + k - begin
        if i >= 0 and i < points:
            bound += rows[begin + i].lever * load[i] if row.kind == ROW_TWIST else load[i]
    bound *= row.friction
    return bound if bound > 0.0 else 0.0

# ---- all of them -----------------------------------------------------------------------------------------------------

cdef int resolve_impacts(const Row* rows, Py_ssize_t count, Twist* twist, double threshold, double h, double first,
                         double* impact_impulse) noexcept nogil:
    cdef int total = 0
    cdef int sweep, struck
    for sweep in range(SWEEPS):
        if sweep % 2 == 0:
            struck = sweep_forward(rows, count, twist, threshold, h, first, impact_impulse)
        else:
            struck = sweep_backward(rows, count, twist, threshold, h, first, impact_impulse)
        total += struck
        if struck == 0:
            break
    return total


cdef int sweep_forward(const Row* rows, Py_ssize_t count, Twist* twist, double threshold, double h, double first,
                       double* impact_impulse) noexcept nogil:
    cdef int struck = 0
    cdef Py_ssize_t i = 0
    cdef int points
    while i < count:
        points = 1
        if rows[i].kind == ROW_NORMAL and rows[i].restitution > 0.0:
            while points < MANIFOLD_POINTS and i + points < count and same_manifold(rows + i, rows + i + points):
                points += 1
            struck += resolve_manifold(rows, count, i, points, twist, threshold, h, first, impact_impulse)
        i += points
    return struck


cdef int sweep_backward(const Row* rows, Py_ssize_t count, Twist* twist, double threshold, double h, double first,
                        double* impact_impulse) noexcept nogil:
    cdef int struck = 0
    cdef Py_ssize_t i = count
    cdef int points
    while i > 0:
        points = 1
        if rows[i - 1].kind == ROW_NORMAL and rows[i - 1].restitution > 0.0:
            while points < MANIFOLD_POINTS and i - points > 0 and same_manifold(rows + i - 1, rows + i - 1 - points):
                points += 1
            struck += resolve_manifold(rows, count, i - points, points, twist, threshold, h, first, impact_impulse)
        i -= points
    return struck

# ---- for the tests ---------------------------------------------------------------------------------------------------

def py_resolve_impacts(const Row[::1] rows, double[:, ::1] twist, double threshold, double h,
                       double[::1] impact_impulse):
    """twist is (bodies + 1, 6) and its first row is the world's."""
    if not rows.shape[0]:
        return 0
    return resolve_impacts(&rows[0], rows.shape[0], <Twist*> &twist[0, 0] + 1, threshold, h, 1.0, &impact_impulse[0])
