"""Gauss-Seidel over the blocks of a problem: each block solved alone while the others stand still.

    ncp           the normal by its own row; then the tangents by the principle of maximum dissipation under mu n
                  (_blocks.pxd, cone_step): its fixed points are those of Signorini and Coulomb
    pyramid       the three rows one after the other, each clamped
    ccp           projected steps lambda - u / trace(A_ii + R_ii) onto the cone, LOCAL_STEPS of them or as many as are
                  asked for; the pyramid's convex problem (`convex.py`) likewise
    single rows   clamped

Source: M. Jourdan, P. Alart and M. Jean, "A Gauss-Seidel like algorithm to solve frictional contact problems", 1998.
"""

from libc.math cimport INFINITY, sqrt
from libc.stdint cimport int64_t

import numpy as np

from mcsim.solve._blocks cimport clamp, cone_step, onto_circle
from mcsim.solve.problems._recorder cimport Recorder
from mcsim.solve.problems._system cimport CCP, NCP, PYRAMID, PYRAMID_CONE, System, project_contact

cdef enum:
    LOCAL_STEPS = 5                 # projected steps of a block of a cone in a sweep


cdef inline double relaxed_row(double old, double u, double d, double lower, double upper, double omega) noexcept nogil:
    """The impulse that a row takes: omega of the way to where its velocity is 0, within its bounds."""
    return clamp(old - omega * u / d, lower, upper) if d > 0.0 else old


cdef void contact_flat(const double* k, double mu, bint rubs, double omega, double* u, double* x) noexcept nogil:
    """One row after the other. k: (3, 3); u: the block's velocities, kept up to date; x: its impulses."""
    cdef double bound, delta
    cdef int r, s
    for r in range(3 if rubs else 1):
        bound = INFINITY if r == 0 or mu == INFINITY else mu * x[0]
        delta = relaxed_row(x[r], u[r], k[4 * r], 0.0 if r == 0 else -bound, bound, omega) - x[r]
        x[r] += delta
        for s in range(3):
            u[s] += k[3 * s + r] * delta


cdef void contact_exact(const double* k, double mu, double omega, double* u, double* x) noexcept nogil:
    cdef double old = x[0]
    cdef double radius, length
    cdef double t[2]
    x[0] = relaxed_row(old, u[0], k[0], 0.0, INFINITY, omega)
    u[1] += k[3] * (x[0] - old)
    u[2] += k[6] * (x[0] - old)
    radius = INFINITY if mu == INFINITY else mu * x[0]
    t[0] = x[1]
    t[1] = x[2]
    cone_step(k[4], k[8], k[5], radius, u[1], u[2], t)
    x[1] += omega * (t[0] - x[1])
    x[2] += omega * (t[1] - x[2])
    length = sqrt(x[1] * x[1] + x[2] * x[2])
    if length > radius:
        if radius > 0.0:
            onto_circle(radius, x + 1)
        else:
            x[1] = 0.0
            x[2] = 0.0


cdef void contact_convex(int model, const double* k, double mu, int steps, double omega, double* u,
                         double* x) noexcept nogil:
    cdef double trace = k[0] + k[4] + k[8]
    cdef double y[3]
    cdef double w[3]
    cdef int _, r, s
    if not trace > 0.0:
        return
    for r in range(3):
        w[r] = u[r]
    for _ in range(steps):
        for r in range(3):
            y[r] = x[r] - omega * w[r] / trace
        project_contact(model, mu, y)
        for s in range(3):
            for r in range(3):
                w[r] += k[3 * r + s] * (y[s] - x[s])
        for r in range(3):
            x[r] = y[r]


cdef inline void local_solve(System s, int model, Py_ssize_t block, const double* k, int steps, double omega, double* u,
                             double* x) noexcept nogil:
    """One block's impulses x, from its velocities u at them, which are used up; k (3, 3): what it moves itself by."""
    if block >= s.contact_count:
        x[0] = relaxed_row(x[0], u[0], k[0], s.lower[block - s.contact_count], s.upper[block - s.contact_count], omega)
    elif model == NCP:
        contact_exact(k, s.friction[block], omega, u, x)
    elif model == CCP or model == PYRAMID_CONE:
        contact_convex(model, k, s.friction[block], steps, omega, u, x)
    else:
        contact_flat(k, s.friction[block], model == PYRAMID, omega, u, x)


cdef void block_solve(System s, int model, Py_ssize_t block, int steps, double omega, double* impulse,
                      double* state) noexcept nogil:
    cdef double u[3]
    cdef double delta[3]
    cdef Py_ssize_t first = s.first(block)
    cdef double* x = impulse + first
    cdef int r, size = s.size(block)
    cdef bint moved = False
    s.block_velocity(block, impulse, state, u)
    for r in range(size):
        delta[r] = x[r]
    local_solve(s, model, block, s.local + 9 * block, steps, omega, u, x)
    for r in range(size):
        delta[r] = x[r] - delta[r]
        moved = moved or delta[r] != 0.0
    if moved:
        s.block_apply(block, delta, state)


def sweep(System s, int model, double[::1] impulse, double[::1] state, double omega, bint backward,
          int steps=LOCAL_STEPS):
    """All blocks once, in their order or against it. impulse (rows,), state (width,) of them: both follow."""
    cdef Py_ssize_t i
    if s.block_count == 0:
        return
    with nogil:
        for i in range(s.block_count):
            block_solve(s, model, s.block_count - 1 - i if backward else i, steps, omega, &impulse[0], &state[0])


def sweep_on(System s, progress, Recorder recorder, Py_ssize_t most, double[::1] impulse, double[::1] state,
             double omega, str order):
    """Up to `most` sweeps, each measured and kept by the recorder. order: as of pgs.ORDERS."""
    cdef double[::1] u = np.empty(s.row_count + 1), other = np.empty(s.width + 1)
    cdef int model = progress.model_number
    cdef bint backward = order == "backward"
    cdef bint symmetric = order == "symmetric"
    cdef Py_ssize_t begun = progress.iterations
    cdef Py_ssize_t i, k
    recorder.begin(progress, most)
    if s.block_count > 0:
        with nogil:
            for k in range(recorder.count):
                if symmetric:
                    backward = (begun + k) % 2 == 1
                for i in range(s.block_count):
                    block_solve(s, model, s.block_count - 1 - i if backward else i, LOCAL_STEPS, omega, &impulse[0],
                                &state[0])
                s.velocities(&impulse[0], &other[0], &u[0])
                if recorder.keep(&impulse[0], &u[0]):
                    break
    recorder.end(progress, np.asarray(impulse))


cdef void solve_apart(System s, int model, double* impulse, const double* u, const double* local,
                      double omega) noexcept nogil:
    """All blocks at once, each from the velocities u (rows,) of before. local (9 blocks,): what each is taken to move
    itself by."""
    cdef Py_ssize_t block, first
    cdef double w[3]
    cdef int r
    for block in range(s.block_count):
        first = s.first(block)
        for r in range(s.size(block)):
            w[r] = u[first + r]
        local_solve(s, model, block, local + 9 * block, LOCAL_STEPS, omega, w, impulse + first)


def sweep_apart(System s, progress, Recorder recorder, Py_ssize_t most, double[::1] impulse, double[::1] u, double omega,
                const double[::1] local):
    """Up to `most` rounds of all blocks at once, each measured and kept by the recorder. u (rows,): their velocities."""
    cdef double[::1] state = np.empty(s.width + 1)
    cdef int model = progress.model_number
    cdef Py_ssize_t _
    recorder.begin(progress, most)
    if s.block_count > 0:
        with nogil:
            for _ in range(recorder.count):
                solve_apart(s, model, &impulse[0], &u[0], &local[0], omega)
                s.velocities(&impulse[0], &state[0], &u[0])
                if recorder.keep(&impulse[0], &u[0]):
                    break
    recorder.end(progress, np.asarray(impulse))


def shared_local(System s):
    """(9 blocks,) of each block its own part of A + R, with the mass of what it acts on shared out evenly among all
    blocks that act on it: sum over its columns k of count_k J_k (M^-1 J')_k, made symmetric. Of an A given whole:
    times the number of blocks that it is coupled with, itself among them."""
    cdef Py_ssize_t block, k, at
    cdef int size, i, j
    cdef double own
    out = np.zeros(9 * s.block_count)
    cdef double[::1] local = out
    cdef int64_t[::1] acting = np.zeros(s.width, dtype=np.int64)
    cdef int64_t[::1] seen = np.full(s.block_count, -1, dtype=np.int64)
    cdef const double* value
    cdef const double* response
    for k in range(s.begin[s.block_count]):
        acting[s.column[k]] += 1
    for block in range(s.block_count):
        size = s.size(block)
        at = 9 * block
        if s.factored:
            value = s.value + s.place(block)
            response = s.response + s.place(block)
            for k in range(s.begin[block], s.begin[block + 1]):
                for i in range(size):
                    for j in range(size):
                        own = 0.5 * (value[i] * response[j] + value[j] * response[i])
                        local[at + 3 * i + j] += acting[s.column[k]] * own
                value += size
                response += size
        else:
            k = coupled(s, block, &seen[0])
            for i in range(size):
                for j in range(size):
                    own = s.local[at + 3 * i + j] - (s.compliance[s.first(block) + i] if i == j else 0.0)
                    local[at + 3 * i + j] = k * own
        for i in range(size):
            local[at + 4 * i] += s.compliance[s.first(block) + i]
    return out


cdef Py_ssize_t coupled(System s, Py_ssize_t block, int64_t* seen) noexcept nogil:
    """How many blocks one block of an A given whole is coupled with. seen (blocks,): the last one that asked."""
    cdef Py_ssize_t k, row, other, found = 0
    for k in range(s.begin[block], s.begin[block + 1]):
        row = s.column[k]
        other = row // 3 if row < 3 * s.contact_count else row - 2 * s.contact_count
        if seen[other] != block:
            seen[other] = block
            found += 1
    return found
