"""The arithmetic that all solvers share: a row against velocities, and the exact local solve of each kind of block.

A local solve takes the residuals of its block's rows,

    w_i = J_i v + bias_i + compliance_i * impulse_i,

finds the impulses that solve the block alone while everything else stands still, stores them in the rows and hands back
their changes. Every solver that repeats these over all blocks therefore has the same fixed points.
"""

from libc.math cimport INFINITY, fabs, sqrt

from mcsim.core._types cimport MC_ASSERT, Twist
from mcsim.solve._limit_surface cimport surface_step
from mcsim.solve._lanes cimport pair_add, pair_dot, pair_load, pair_store
from mcsim.state._row cimport BLOCK_BILATERAL, BLOCK_BOUNDED, BLOCK_CONE, BLOCK_FRICTION, BLOCK_WIDE, ROW_TWIST, Row
from mcsim.state._rows cimport is_linear, row_coupling

cdef enum Solver:
    SOLVER_SI = 0
    SOLVER_PGS = 1

cdef enum:
    MAX_BLOCK = 6            # rows of the largest block
    FACTOR_STRIDE = 12       # numbers of `factors` a row: (2 passes, 6)
    CONE_STEPS = 20          # Newton steps on the cone's secular equation; it needs 1 to 6

# ---- rows and velocities ---------------------------------------------------------------------------------------------

cdef inline double row_velocity(const Row* row, const Twist* twist) noexcept nogil:
    """J v [m/s or rad/s]"""
    return pair_dot(&row.jacobian[0], pair_load(twist + row.body_a, twist + row.body_b))


cdef inline void row_apply(const Row* row, double impulse, Twist* twist) noexcept nogil:
    """v += M^-1 J' impulse"""
    cdef Twist* a = twist + row.body_a
    cdef Twist* b = twist + row.body_b
    pair_store(pair_add(pair_load(a, b), &row.inv_mass_jacobian[0], impulse), a, b)


cdef inline double row_residual(const Row* row, double velocity, int relaxed) noexcept nogil:
    return velocity + row.bias[relaxed] + row.compliance[relaxed] * row.impulse


cdef inline double larger(double x, double y) noexcept nogil:
    return y if y > x else x


cdef inline double clamp(double x, double lower, double upper) noexcept nogil:
    x = x if x > lower else lower
    return x if x < upper else upper

# ---- bounds of friction ----------------------------------------------------------------------------------------------

cdef inline double friction_bound(const Row* rows, const Row* row) noexcept nogil:
    """friction * sum of the normal impulses [N s]; the twist row weighs each by its lever [N m s]."""
    cdef const Row* normal = rows + row.normal_begin
    cdef double load = 0.0
    cdef int k
    if row.kind == ROW_TWIST:
        for k in range(row.normal_count):
            load += normal[k].lever * normal[k].impulse
    else:
        for k in range(row.normal_count):
            load += normal[k].impulse
    load *= row.friction
    return load if load > 0.0 else 0.0

# ---- a cone: two rows under |impulse| <= radius ----------------------------------------------------------------------

cdef inline void cone_step(double d0, double d1, double c, double radius, double w0, double w1,
                           double* impulse) noexcept nogil:
    """Exact Coulomb friction of one contact under a given load: the maximum dissipation principle.

    With K = [[d0, c], [c, d1]] and residual w at the present impulse, minimize over |x| <= radius

        1/2 x' K x - b' x,      b = K impulse - w.

    Within the circle x = K^-1 b; beyond it cone_slide. A K that is singular (a direction without mass) takes a
    projected step with trace(K), a bound on its eigenvalues, for K: safe, and with the same fixed point.
    """
    cdef double trace = d0 + d1
    cdef double det = d0 * d1 - c * c
    cdef bint regular = det > 1e-14 * trace * trace
    cdef double x0 = impulse[0]
    cdef double x1 = impulse[1]
    cdef double inverse
    if not trace > 0.0:
        return
    if not radius > 0.0:
        impulse[0] = 0.0
        impulse[1] = 0.0
        return
    if regular:
        inverse = 1.0 / det
        impulse[0] = x0 - (d1 * w0 - c * w1) * inverse
        impulse[1] = x1 - (d0 * w1 - c * w0) * inverse
    else:
        impulse[0] = x0 - w0 / trace
        impulse[1] = x1 - w1 / trace
    if impulse[0] * impulse[0] + impulse[1] * impulse[1] > radius * radius:
        if regular:
            cone_slide(d0, d1, c, d0 * x0 + c * x1 - w0, c * x0 + d1 * x1 - w1, radius, impulse)
        onto_circle(radius, impulse)


cdef inline void cone_slide(double d0, double d1, double c, double b0, double b1, double radius,
                            double* impulse) noexcept nogil:
    """From x = K^-1 b outside the circle to the minimum on it: x(k) = (K + k 1)^-1 b with the k > 0 at |x(k)| = radius.

    The trust region problem (More and Sorensen, "Computing a trust region step", 1983, sections 2 and 3). Newton on
    1/radius - 1/|x(k)|, which is convex and nearly straight in k, climbs to the root from k = 0 without overshoot (but
    for rounding, which the next step takes back); for d0 = d1, c = 0 it is straight and one step does.
    """
    cdef double x0 = impulse[0]
    cdef double x1 = impulse[1]
    cdef double shift = 0.0
    cdef double e0 = d0
    cdef double e1 = d1
    cdef double det = d0 * d1 - c * c
    cdef double length, slope
    cdef int _
    for _ in range(CONE_STEPS):
        length = sqrt(x0 * x0 + x1 * x1)
        if not fabs(length - radius) > 1e-14 * radius or not length > 0.0:     # 0: b is, and x was its rounding
            break
        # x' (K + k 1)^-1 x, which is -|x| d|x|/dk
        slope = (e1 * x0 * x0 - 2.0 * c * x0 * x1 + e0 * x1 * x1) / det
        shift += (length - radius) * length * length / (radius * slope)
        e0 = d0 + shift
        e1 = d1 + shift
        det = e0 * e1 - c * c
        if not det < INFINITY:
            break
        x0 = (e1 * b0 - c * b1) / det
        x1 = (e0 * b1 - c * b0) / det
    impulse[0] = x0
    impulse[1] = x1


cdef inline void onto_circle(double radius, double* x) noexcept nogil:
    """Scale x to |x| = radius: takes out what rounding left. 0 stays."""
    cdef double length = sqrt(x[0] * x[0] + x[1] * x[1])
    cdef double stretch = radius / length if length > 0.0 else 0.0
    x[0] *= stretch
    x[1] *= stretch

# ---- a limit surface: two rows along the tangents and one about the normal -----------------------------------------

cdef inline double surface_block_step(const Row* rows, Row* row, int relaxed, const double* w,
                                      double* delta) noexcept nogil:
    """surface_step on the three rows at `row`; the points' shares are kept by their normal rows. -> the largest change of
    a share"""
    cdef Row* normal = row + (row.normal_begin - (row - rows))
    cdef double share[9]
    cdef double x[3]
    cdef double largest
    cdef int i
    surface_step(rows, row, relaxed, w, x, share)
    largest = fabs(share[8] - row[2].share[0])
    for i in range(row.normal_count):
        largest = larger(largest, larger(fabs(share[2 * i] - normal[i].share[0]),
                                         fabs(share[2 * i + 1] - normal[i].share[1])))
        normal[i].share[0] = share[2 * i]
        normal[i].share[1] = share[2 * i + 1]
    row[2].share[0] = share[8]
    for i in range(3):
        delta[i] = x[i] - row[i].impulse
        row[i].impulse = x[i]
    return largest

# ---- bilateral blocks ------------------------------------------------------------------------------------------------

cdef inline void factor_block(const Row* row, double* factors, int relaxed) noexcept nogil:
    """K = J M^-1 J' + diag(compliance) = L D L' of one bilateral block; row i of L with D_i on its diagonal.

    A pivot below 1e-12 of its own diagonal entry marks a row that the rows before it already imply, or a direction
    without mass. Its pivot and its column of L are set to 0: its impulse does not change, the others solve exactly.
    The row's own entry is the measure, since one block holds rows in metres and in radians.
    """
    cdef double* f = factors + 6 * relaxed
    cdef int m = row.block
    cdef int i, j, k
    cdef double diagonal, s, d
    for i in range(m):
        for j in range(i + 1):
            s = row_coupling(row + i, row + j)
            if i == j:
                s += row[i].compliance[relaxed]
            diagonal = s
            for k in range(j):
                s -= f[i * FACTOR_STRIDE + k] * f[k * FACTOR_STRIDE + k] * f[j * FACTOR_STRIDE + k]
            if i == j:
                f[i * FACTOR_STRIDE + i] = s if s > 1e-12 * diagonal else 0.0
            else:
                d = f[j * FACTOR_STRIDE + j]
                f[i * FACTOR_STRIDE + j] = s / d if d > 0.0 else 0.0


cdef inline void factor_blocks(const Row* rows, Py_ssize_t count, double* factors) noexcept nogil:
    """Factor every bilateral block for both passes; call it whenever the rows have been refreshed.

    factors: (count, 2 passes, 6). Other blocks' rows are left as they are.
    """
    cdef Py_ssize_t i = 0
    while i < count:
        MC_ASSERT(rows[i].block > 0 and rows[i].block <= MAX_BLOCK)
        if rows[i].block_kind == BLOCK_BILATERAL:
            factor_block(rows + i, factors + i * FACTOR_STRIDE, 0)
            factor_block(rows + i, factors + i * FACTOR_STRIDE, 1)
        i += rows[i].block


cdef inline void bilateral_step(Row* row, const double* factors, int relaxed, const double* w,
                                double* delta) noexcept nogil:
    """delta = -K^-1 w by the factors of the block."""
    cdef const double* f = factors + 6 * relaxed
    cdef int m = row.block
    cdef int i, k
    cdef double s, d
    for i in range(m):
        s = -w[i]
        for k in range(i):
            s -= f[i * FACTOR_STRIDE + k] * delta[k]
        delta[i] = s
    for i in range(m - 1, -1, -1):
        d = f[i * FACTOR_STRIDE + i]
        s = delta[i] / d if d > 0.0 else 0.0
        for k in range(i + 1, m):
            s -= f[k * FACTOR_STRIDE + i] * delta[k]
        delta[i] = s if d > 0.0 else 0.0
    for i in range(m):
        row[i].impulse += delta[i]

# ---- any block -------------------------------------------------------------------------------------------------------

cdef inline double scalar_step(Row* row, double lower, double upper, double w, int relaxed) noexcept nogil:
    """Clamp impulse - mass w into its bounds; returns the change. A row that moves nothing stays as it is."""
    cdef double old = row.impulse
    if not row.diagonal + row.compliance[relaxed] > 0.0:
        return 0.0
    row.impulse = clamp(old - row.mass[relaxed] * w, lower, upper)
    return row.impulse - old


cdef inline double pair_change(const Row* row, const double* delta, int relaxed) noexcept nogil:
    """|K delta| of the two rows of a cone: what decides looks at no row alone, for tangents may point anywhere."""
    cdef double u = (row[0].diagonal + row[0].compliance[relaxed]) * delta[0] + row[0].coupling * delta[1]
    cdef double v = row[0].coupling * delta[0] + (row[1].diagonal + row[1].compliance[relaxed]) * delta[1]
    return sqrt(u * u + v * v)


cdef inline double contact_change(const Row* row, const double* delta, int relaxed) noexcept nogil:
    """By how much impulses of the contact's block at `row` change a velocity [m/s]: turning moves points by no more
    than the size."""
    cdef bint pair = row.block_kind == BLOCK_CONE
    cdef double fastest = pair_change(row, delta, relaxed) if pair else 0.0
    cdef double rate
    cdef int r
    if pair and not is_linear(row):
        fastest *= row.size
    for r in range(2 if pair else 0, row.block):
        rate = fabs(delta[r]) * (row[r].diagonal + row[r].compliance[relaxed])
        fastest = larger(fastest, rate if is_linear(&row[r]) else row[r].size * rate)
    return fastest


cdef inline void cone_block_step(const Row* rows, Row* row, int relaxed, const double* w, double* delta) noexcept nogil:
    """cone_step on the two rows of a cone."""
    cdef double impulse[2]
    impulse[0] = row[0].impulse
    impulse[1] = row[1].impulse
    cone_step(row[0].diagonal + row[0].compliance[relaxed], row[1].diagonal + row[1].compliance[relaxed],
              row[0].coupling, friction_bound(rows, row), w[0], w[1], impulse)
    delta[0] = impulse[0] - row[0].impulse
    delta[1] = impulse[1] - row[1].impulse
    row[0].impulse = impulse[0]
    row[1].impulse = impulse[1]


cdef inline void wide_step(Row* row, int relaxed, double w, double* delta) noexcept nogil:
    """A wide row's one impulse, kept by both its rows. w: the residual of the whole."""
    delta[0] = scalar_step(row, row.lower, row.upper, w, relaxed)
    delta[1] = delta[0]
    row[1].impulse = row.impulse


cdef inline double block_step(Row* rows, Row* row, const double* factors, int relaxed, const double* w,
                              double* delta) noexcept nogil:
    """Solve the block that begins at `row` against its residuals w: new impulses into the rows, changes into delta. -> by
    how much what the block keeps beside them has changed, which the next solve begins with [N s]

    rows: the first of all rows (friction refers to its normals by number). factors: the block's own.
    """
    cdef double bound
    if row.block_kind == BLOCK_BOUNDED:
        delta[0] = scalar_step(row, row.lower, row.upper, w[0], relaxed)
    elif row.block_kind == BLOCK_BILATERAL:
        bilateral_step(row, factors, relaxed, w, delta)
    elif row.block_kind == BLOCK_FRICTION:
        bound = friction_bound(rows, row)
        delta[0] = scalar_step(row, -bound, bound, w[0], relaxed)
    elif row.block_kind == BLOCK_WIDE:
        wide_step(row, relaxed, w[0] + w[1], delta)
    elif row.block == 3:
        return surface_block_step(rows, row, relaxed, w, delta)
    else:
        cone_block_step(rows, row, relaxed, w, delta)
    return 0.0
