"""Sequential impulses (Catto, "Iterative Dynamics with Temporal Coherence", 2005): projected Gauss-Seidel, matrix-free.

For each block, with the velocities as they are now:  w = J v + bias + compliance * impulse;  solve the block exactly;
v += M^-1 J' delta.  The velocity carries all that the blocks know of each other, so A = J M^-1 J' is never formed.
"""

from libc.math cimport INFINITY, fabs, sqrt

from mcsim.core._types cimport MC_ASSERT, Twist
from mcsim.solve._blocks cimport (
    FACTOR_STRIDE, MAX_BLOCK, bilateral_step, clamp, cone_block_step, cone_step, factor_blocks, friction_bound, larger,
    pair_change, row_apply, row_residual, row_velocity, scalar_step, surface_block_step, wide_step,
)
from mcsim.solve._change cimport note_change
from mcsim.solve._limit_surface cimport surface_step
from mcsim.solve._lanes cimport Pair, pair_add, pair_dot, pair_load, pair_store
from mcsim.state._row cimport (BLOCK_BILATERAL, BLOCK_BORDER, BLOCK_BOUNDED, BLOCK_CONE, BLOCK_FRICTION, BLOCK_HELD,
                               BLOCK_TREE, BLOCK_WIDE, ROW_NORMAL, ROW_ROLLING, ROW_TWIST, Row, is_wide)
from mcsim.wide._efforts cimport is_outweighed


cdef void warm_start(const Row* rows, Py_ssize_t count, Twist* twist) noexcept nogil:
    cdef const Row* row = rows
    cdef const Row* end = rows + count
    cdef int a, b
    cdef Pair v
    while row < end:
        a = row.body_a
        b = row.body_b
        v = pair_load(twist + a, twist + b)
        while row < end and row.body_a == a and row.body_b == b:
            v = pair_add(v, &row.inv_mass_jacobian[0], row.impulse)
            row += 1
        pair_store(v, twist + a, twist + b)


# One function a kind of block: it solves the block at `row`, and what it likes of those behind it, and answers where it
# stopped. They are called through a table, since inlined into one they run short of registers (a seventh slower).
ctypedef Row* (*BlockSweep)(const Row* rows, Row* row, Row* end, const double* factors, Twist* twist, int relaxed,
                            double* largest) noexcept nogil

cdef BlockSweep BLOCK_SWEEPS[8]
BLOCK_SWEEPS[<int> BLOCK_BOUNDED] = sweep_bounded
BLOCK_SWEEPS[<int> BLOCK_BILATERAL] = sweep_bilateral
BLOCK_SWEEPS[<int> BLOCK_CONE] = sweep_friction
BLOCK_SWEEPS[<int> BLOCK_FRICTION] = sweep_friction
BLOCK_SWEEPS[<int> BLOCK_TREE] = pass_by
BLOCK_SWEEPS[<int> BLOCK_WIDE] = sweep_wide
BLOCK_SWEEPS[<int> BLOCK_BORDER] = pass_by
BLOCK_SWEEPS[<int> BLOCK_HELD] = pass_by


cdef double sweep_si(Row* rows, Py_ssize_t count, const double* factors, Twist* twist, int relaxed,
                     bint rub) noexcept nogil:
    """rub: the friction of contacts too. -> the largest change of a velocity"""
    cdef Row* row = rows
    cdef Row* end = rows + count
    cdef double largest = 0.0
    while row < end:
        MC_ASSERT(row.block > 0 and row.block <= MAX_BLOCK and row.block_kind >= 0 and row.block_kind < 8)
        if not rub and (row.block_kind == BLOCK_CONE or row.block_kind == BLOCK_FRICTION):
            row += row.block
            continue
        row = BLOCK_SWEEPS[row.block_kind](rows, row, end, factors, twist, relaxed, &largest)
    return largest


cdef inline bint is_due(const Row* row, int sweep, const int32_t* changed, const double* neighbours) noexcept nogil:
    """Whether a further sweep takes part in it."""
    return ((changed[row.body_a] >= sweep - 1 or changed[row.body_b] >= sweep - 1) and not is_wide(row)
            and (row.kind < ROW_NORMAL or is_outweighed(row.body_a, row.body_b, neighbours)))


cdef bint sweep_changed(Row* rows, Py_ssize_t count, const double* factors, Twist* twist, int sweep, int32_t* changed,
                        const double* neighbours, const double* sizes, double speed, double rate) noexcept nogil:
    cdef Row* row = rows
    cdef Row* end = rows + count
    cdef Row* next
    cdef Twist a, b
    cdef bint found = False
    cdef double least, largest = 0.0
    cdef int i, j
    while row < end:
        next = row + row.block
        if not is_due(row, sweep, changed, neighbours):
            row = next
            continue
        while next < end and next.body_a == row.body_a and next.body_b == row.body_b and not is_wide(next):
            next += next.block
        found = True
        i, j = row.body_a, row.body_b
        a, b = twist[i], twist[j]
        while row < next:
            row = BLOCK_SWEEPS[row.block_kind](rows, row, next, factors, twist, True, &largest)
        least = speed + rate * min(sizes[i] if i >= 0 else INFINITY, sizes[j] if j >= 0 else INFINITY)
        note_change(twist, &a, i, sizes, least, sweep, changed)
        note_change(twist, &b, j, sizes, least, sweep, changed)
    return found


cdef Row* sweep_bounded(const Row* rows, Row* row, Row* end, const double* factors, Twist* twist, int relaxed,
                        double* largest) noexcept nogil:
    """The hot loop: bounded rows between the same two bodies, whose velocities stay in registers meanwhile.

    A row takes as long as the chain  v -> J v -> change -> v  of which each link waits for the last. What does not wait
    for v is computed beside it; so the bounds are taken on the change, and again on the sum, which rounding may put
    past them.
    """
    cdef int a = row.body_a
    cdef int b = row.body_b
    cdef double old, mass, change, total
    cdef Pair v = pair_load(twist + a, twist + b)
    while True:
        total = row.diagonal + row.compliance[relaxed]
        if total > 0.0:
            old = row.impulse
            mass = row.mass[relaxed]
            change = -mass * (row.bias[relaxed] + row.compliance[relaxed] * old)
            change = clamp(change - mass * pair_dot(&row.jacobian[0], v), row.lower - old, row.upper - old)
            row.impulse = clamp(old + change, row.lower, row.upper)
            largest[0] = larger(largest[0], fabs(change) * total)
            v = pair_add(v, &row.inv_mass_jacobian[0], change)
        row += 1
        if row == end or row.block_kind != BLOCK_BOUNDED or row.body_a != a or row.body_b != b:
            break
    pair_store(v, twist + a, twist + b)
    return row


cdef inline double speed_change(const Row* rows, const Row* row, double impulse, int relaxed) noexcept nogil:
    """By how much an impulse of friction changes a velocity [m/s]; one about an axis, by how much at the radius of gyration
    that J M^-1 J' about the axis and along the contact's normal make."""
    cdef double d = row.diagonal + row.compliance[relaxed]
    if (row.kind == ROW_TWIST or row.kind == ROW_ROLLING) and d > 0.0:
        return fabs(impulse) * sqrt(d * rows[row.normal_begin].diagonal)
    return fabs(impulse) * d


cdef inline double cone_change(const Row* rows, const Row* row, const double* delta, int relaxed) noexcept nogil:
    """The same of a cone, or a limit surface; against rolling sqrt(delta' K delta . 1 / m)."""
    cdef double change = pair_change(row, delta, relaxed)
    cdef double u
    if row.kind == ROW_ROLLING:
        u = (row[0].diagonal + row[0].compliance[relaxed]) * delta[0] * delta[0]
        u += ((row[1].diagonal + row[1].compliance[relaxed]) * delta[1] * delta[1]
              + 2.0 * row[0].coupling * delta[0] * delta[1])
        return sqrt(larger(u, 0.0) * rows[row.normal_begin].diagonal)
    return larger(change, speed_change(rows, row + 2, delta[2], relaxed)) if row.block == 3 else change


cdef Row* sweep_friction(const Row* rows, Row* row, Row* end, const double* factors, Twist* twist, int relaxed,
                         double* largest) noexcept nogil:
    """Cones, limit surfaces and single friction rows between the same two bodies."""
    cdef int a = row.body_a
    cdef int b = row.body_b
    cdef double w[3]
    cdef double delta[3]
    cdef int k
    cdef double bound
    cdef Pair v = pair_load(twist + a, twist + b)
    while True:
        w[0] = row_residual(row, pair_dot(&row.jacobian[0], v), relaxed)
        if row.block_kind == BLOCK_CONE:
            for k in range(1, row.block):
                w[k] = row_residual(row + k, pair_dot(&row[k].jacobian[0], v), relaxed)
            if row.block == 3:
                surface_block_step(rows, row, relaxed, w, delta)
            else:
                cone_block_step(rows, row, relaxed, w, delta)
            largest[0] = larger(largest[0], cone_change(rows, row, delta, relaxed))
            for k in range(1, row.block):
                v = pair_add(v, &row[k].inv_mass_jacobian[0], delta[k])
        else:
            bound = friction_bound(rows, row)
            delta[0] = scalar_step(row, -bound, bound, w[0], relaxed)
            largest[0] = larger(largest[0], speed_change(rows, row, delta[0], relaxed))
        v = pair_add(v, &row.inv_mass_jacobian[0], delta[0])
        row += row.block
        if (row == end or row.block_kind == BLOCK_BOUNDED or row.block_kind == BLOCK_BILATERAL
                or row.block_kind >= BLOCK_TREE or row.body_a != a or row.body_b != b):
            break
    pair_store(v, twist + a, twist + b)
    return row


cdef Row* pass_by(const Row* rows, Row* row, Row* end, const double* factors, Twist* twist, int relaxed,
                  double* largest) noexcept nogil:
    """Rows of the direct joint solver."""
    return row + row.block


cdef Row* sweep_wide(const Row* rows, Row* row, Row* end, const double* factors, Twist* twist, int relaxed,
                     double* largest) noexcept nogil:
    """One constraint over two pairs of bodies."""
    cdef double delta[2]
    wide_step(row, relaxed, row_residual(row, row_velocity(row, twist) + row_velocity(row + 1, twist), relaxed), delta)
    row_apply(row, delta[0], twist)
    row_apply(row + 1, delta[0], twist)
    largest[0] = larger(largest[0], fabs(delta[0]) * (row.diagonal + row.compliance[relaxed]))
    return row + 2


cdef Row* sweep_bilateral(const Row* rows, Row* row, Row* end, const double* factors, Twist* twist, int relaxed,
                          double* largest) noexcept nogil:
    """One block of bilateral rows."""
    cdef double w[MAX_BLOCK]
    cdef double delta[MAX_BLOCK]
    cdef int m = row.block
    cdef int k
    cdef Pair v = pair_load(twist + row.body_a, twist + row.body_b)
    for k in range(m):
        w[k] = row_residual(row + k, pair_dot(&row[k].jacobian[0], v), relaxed)
    bilateral_step(row, factors + (row - rows) * FACTOR_STRIDE, relaxed, w, delta)
    for k in range(m):
        v = pair_add(v, &row[k].inv_mass_jacobian[0], delta[k])
        largest[0] = larger(largest[0], fabs(delta[k]) * (row[k].diagonal + row[k].compliance[relaxed]))
    pair_store(v, twist + row.body_a, twist + row.body_b)
    return row + m


cdef double residual(const Row* rows, Py_ssize_t count, const Twist* twist, int relaxed) noexcept nogil:
    """P projects on the bounds of a row or on a cone's circle; a cone's two rows share the smaller mass."""
    cdef const Row* row = rows
    cdef const Row* end = rows + count
    cdef double largest = 0.0
    cdef double error
    cdef int k
    while row < end:
        if row.block_kind == BLOCK_CONE:
            error = (surface_error(rows, row, twist, relaxed) if row.block == 3
                     else cone_error(rows, row, twist, relaxed))
            if error > largest:
                largest = error
        elif is_wide(row):
            error = wide_error(row, twist, relaxed)
            if error > largest:
                largest = error
        else:
            for k in range(row.block):
                error = scalar_error(rows, row + k, row.block_kind, twist, relaxed)
                if error > largest:
                    largest = error
        row += row.block
    return largest


cdef double scalar_error(const Row* rows, const Row* row, int kind, const Twist* twist, int relaxed) noexcept nogil:
    cdef double x, bound
    if not row.diagonal + row.compliance[relaxed] > 0.0:
        return 0.0
    x = row.impulse - row.mass[relaxed] * row_residual(row, row_velocity(row, twist), relaxed)
    if kind == BLOCK_BOUNDED or kind == BLOCK_HELD:
        x = clamp(x, row.lower, row.upper)
    elif kind == BLOCK_FRICTION:
        bound = friction_bound(rows, row)
        x = clamp(x, -bound, bound)
    return fabs(x - row.impulse)


cdef double wide_error(const Row* row, const Twist* twist, int relaxed) noexcept nogil:
    return fabs(row.mass[relaxed] * row_residual(row, row_velocity(row, twist) + row_velocity(row + 1, twist), relaxed))


cdef double surface_error(const Row* rows, const Row* row, const Twist* twist, int relaxed) noexcept nogil:
    """What one more local solve would change."""
    cdef double share[9]
    cdef double w[3]
    cdef double x[3]
    cdef double error = 0.0
    cdef int i
    for i in range(3):
        w[i] = row_residual(row + i, row_velocity(row + i, twist), relaxed)
    surface_step(rows, row, relaxed, w, x, share)
    for i in range(3):
        error = larger(error, fabs(x[i] - row[i].impulse))
    return error


cdef double cone_error(const Row* rows, const Row* row, const Twist* twist, int relaxed) noexcept nogil:
    cdef double radius = friction_bound(rows, row)
    cdef double d0 = row[0].diagonal + row[0].compliance[relaxed]
    cdef double d1 = row[1].diagonal + row[1].compliance[relaxed]
    cdef double d = d0 if d0 > d1 else d1
    cdef double x0, x1, length, e0, e1
    if not d > 0.0:
        return 0.0
    x0 = row[0].impulse - row_residual(row, row_velocity(row, twist), relaxed) / d
    x1 = row[1].impulse - row_residual(row + 1, row_velocity(row + 1, twist), relaxed) / d
    length = sqrt(x0 * x0 + x1 * x1)
    if length > radius:
        x0 *= radius / length
        x1 *= radius / length
    e0 = fabs(x0 - row[0].impulse)
    e1 = fabs(x1 - row[1].impulse)
    return sqrt(e0 * e0 + e1 * e1)

# ---- for the tests ---------------------------------------------------------------------------------------------------
# Arrays as the kernels see them: twist is (bodies + 1, 6) and its first row is the world's.


def py_factor_blocks(Row[::1] rows, double[:, :, ::1] factors):
    if rows.shape[0]:
        factor_blocks(&rows[0], rows.shape[0], &factors[0, 0, 0])


def py_warm_start(Row[::1] rows, double[:, ::1] twist):
    if rows.shape[0]:
        warm_start(&rows[0], rows.shape[0], <Twist*> &twist[0, 0] + 1)


def py_sweep_si(Row[::1] rows, const double[:, :, ::1] factors, double[:, ::1] twist, int relaxed, int sweeps=1):
    cdef double largest = 0.0
    cdef int _
    if rows.shape[0]:
        with nogil:
            for _ in range(sweeps):
                largest = sweep_si(&rows[0], rows.shape[0], &factors[0, 0, 0], <Twist*> &twist[0, 0] + 1, relaxed,
                                   True)
    return largest


def py_residual(const Row[::1] rows, const double[:, ::1] twist, int relaxed):
    if not rows.shape[0]:
        return 0.0
    return residual(&rows[0], rows.shape[0], <const Twist*> &twist[0, 0] + 1, relaxed)


def py_cone_step(double d0, double d1, double c, double radius, const double[::1] w, double[::1] impulse):
    cone_step(d0, d1, c, radius, w[0], w[1], &impulse[0])
