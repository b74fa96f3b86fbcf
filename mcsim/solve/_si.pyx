"""Sequential impulses (Catto, "Iterative Dynamics with Temporal Coherence", 2005): projected Gauss-Seidel, matrix-free.

For each block, with the velocities as they are now:  w = J v + bias + compliance * impulse;  solve the block exactly;
v += M^-1 J' delta.  The velocity carries all that the blocks know of each other, so A = J M^-1 J' is never formed.
"""

from libc.math cimport fabs, sqrt

from mcsim.core._types cimport MC_ASSERT, Twist
from mcsim.solve._blocks cimport (
    FACTOR_STRIDE, MAX_BLOCK, block_step, clamp, factor_blocks, friction_bound, row_apply, row_residual, row_velocity,
    scalar_step,
)
from mcsim.state._layout cimport BLOCK_BOUNDED, BLOCK_CONE, BLOCK_FRICTION, Row


cdef void warm_start(const Row* rows, Py_ssize_t count, Twist* twist) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(count):
        if rows[i].impulse != 0.0:
            row_apply(rows + i, rows[i].impulse, twist)


cdef double sweep_si(Row* rows, Py_ssize_t count, const double* factors, Twist* twist, int relaxed) noexcept nogil:
    cdef Row* row = rows
    cdef Row* end = rows + count
    cdef double w[MAX_BLOCK]
    cdef double delta[MAX_BLOCK]
    cdef double correction
    cdef double largest = 0.0
    cdef int m, k
    while row < end:
        m = row.block
        MC_ASSERT(m > 0 and m <= MAX_BLOCK)
        for k in range(m):
            w[k] = row_residual(row + k, row_velocity(row + k, twist), relaxed)
        block_step(rows, row, factors + (row - rows) * FACTOR_STRIDE, relaxed, w, delta)
        for k in range(m):
            if delta[k] != 0.0:
                row_apply(row + k, delta[k], twist)
                correction = fabs(delta[k]) * (row[k].diagonal + row[k].compliance[relaxed])
                if correction > largest:
                    largest = correction
        row += m
    return largest


cdef double residual(const Row* rows, Py_ssize_t count, const Twist* twist, int relaxed) noexcept nogil:
    """P projects on the bounds of a row or on a cone's circle; a cone's two rows share the smaller mass."""
    cdef const Row* row = rows
    cdef const Row* end = rows + count
    cdef double largest = 0.0
    cdef double bound, error
    cdef int k
    while row < end:
        if row.block_kind == BLOCK_CONE:
            error = cone_error(rows, row, twist, relaxed)
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
    if kind == BLOCK_BOUNDED:
        x = clamp(x, row.lower, row.upper)
    elif kind == BLOCK_FRICTION:
        bound = friction_bound(rows, row)
        x = clamp(x, -bound, bound)
    return fabs(x - row.impulse)


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
    return e0 if e0 > e1 else e1

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
    cdef int k
    if rows.shape[0]:
        with nogil:
            for k in range(sweeps):
                largest = sweep_si(&rows[0], rows.shape[0], &factors[0, 0, 0], <Twist*> &twist[0, 0] + 1, relaxed)
    return largest


def py_residual(const Row[::1] rows, const double[:, ::1] twist, int relaxed):
    if not rows.shape[0]:
        return 0.0
    return residual(&rows[0], rows.shape[0], <const Twist*> &twist[0, 0] + 1, relaxed)
