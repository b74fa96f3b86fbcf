"""A contact problem in blocks: u = A lambda + R lambda + b, of rows that come as

    contacts      three rows each, [n, t1, t2]: a block
    single rows   lower <= lambda <= upper, a block each

A is given whole, or as J M^-1 J'. A block's rows share their columns; a block's velocities are then products with the
state: v = M^-1 J' lambda of the factored form, which changes of a block are added to, or the impulses themselves.

The cones: K = {|t| <= mu n} of a contact, K* = {mu |u_t| <= u_n} its dual. Models (V. Acary and F. Cadoux, "Applications
of an existence result for the Coulomb friction problem", 2013, for the exact one; M. Anitescu and A. Tasora, "An iterative
approach for cone complementarity problems", 2010, for the convex one):

    ncp           lambda in K,  u + mu |u_t| n in K*,  orthogonal (Signorini and Coulomb; the shift is De Saxce's)
    ccp           lambda in K,  u in K*,  orthogonal: the minimum of 1/2 lambda' A lambda + b' lambda over K
    pyramid       n and u_n as above; each tangent for itself |t_i| <= mu n, against its own velocity
    frictionless  n and u_n as above, t = 0

Infinite friction makes K a half space: the tangential rows of such a contact are bilateral.

The pyramid is a cone as well, K = {|t_i| <= mu n} with K* = {mu (|u_1| + |u_2|) <= u_n}. With the shift mu (|u_1| + |u_2|)
its model is to the convex problem over that K what ncp is to ccp.
"""

from libc.math cimport INFINITY, fabs, sqrt
from libc.stdint cimport int32_t, int64_t
from libc.string cimport memset

import numpy as np

from mcsim.solve._blocks cimport clamp

MODELS = ("frictionless", "pyramid", "ccp", "ncp")      # in the order of enum Model
CONVEX = {"frictionless": FRICTIONLESS, "pyramid": PYRAMID_CONE, "ccp": CCP, "ncp": CCP}    # those of `convex.py`

# ---- cones -----------------------------------------------------------------------------------------------------------

cdef void project_contact(int model, double mu, double* x) noexcept nogil:
    """The nearest impulse of K, of one contact. pyramid: the tangents under the normal that there is."""
    cdef double n = x[0]
    cdef double t, square, bound, scale
    if model == FRICTIONLESS:
        x[0] = n if n > 0.0 else 0.0
        x[1] = 0.0
        x[2] = 0.0
        return
    if mu == INFINITY:
        x[0] = n if n > 0.0 else 0.0
        return
    if model == PYRAMID:
        x[0] = n if n > 0.0 else 0.0
        bound = mu * x[0]
        x[1] = clamp(x[1], -bound, bound)
        x[2] = clamp(x[2], -bound, bound)
        return
    if model == PYRAMID_CONE:
        onto_pyramid(mu, x)
        return
    square = x[1] * x[1] + x[2] * x[2]
    if n >= 0.0 and square <= mu * mu * n * n:          # without a root where none is needed
        return
    if n <= 0.0 and mu * mu * square <= n * n:
        x[0] = 0.0
        x[1] = 0.0
        x[2] = 0.0
        return
    t = sqrt(square)
    x[0] = (n + mu * t) / (1.0 + mu * mu)
    scale = mu * x[0] / t
    x[1] *= scale
    x[2] *= scale


cdef void onto_pyramid(double mu, double* x) noexcept nogil:
    """The nearest point of |t_i| <= mu n: n - x_n = mu sum_i (|t_i| - mu n), over the tangents that are cut."""
    cdef double larger = max(fabs(x[1]), fabs(x[2]))
    cdef double smaller = min(fabs(x[1]), fabs(x[2]))
    cdef double n = x[0]
    if larger > mu * n:
        n = (x[0] + mu * larger) / (1.0 + mu * mu)
        if smaller > mu * n:
            n = (x[0] + mu * (larger + smaller)) / (1.0 + 2.0 * mu * mu)
    x[0] = n if n > 0.0 else 0.0
    x[1] = clamp(x[1], -mu * x[0], mu * x[0])
    x[2] = clamp(x[2], -mu * x[0], mu * x[0])


cdef void project_dual(int model, double mu, double* u) noexcept nogil:
    """The nearest velocity of K* of one contact, by Moreau: u = P_K*(u) - P_K(-u). Cones alone."""
    cdef double x[3]
    x[0] = -u[0]
    x[1] = -u[1]
    x[2] = -u[2]
    project_contact(model, mu, x)
    u[0] += x[0]
    u[1] += x[1]
    u[2] += x[2]


cdef inline double distance(const double* x, const double* y) noexcept nogil:
    return sqrt((x[0] - y[0]) * (x[0] - y[0]) + (x[1] - y[1]) * (x[1] - y[1]) + (x[2] - y[2]) * (x[2] - y[2]))

cdef void measure_row(double impulse, double u, double lower, double upper, double d, double* out) noexcept nogil:
    """The first four of System.measure, of a row with bounds of its own. A velocity that an infinite bound forbids is a
    primal residual; one that a finite bound allows must find the impulse there."""
    if (u > 0.0 and lower == -INFINITY) or (u < 0.0 and upper == INFINITY):
        out[0] = max(out[0], fabs(u))
    # The bound that u pushes to, or, where there is none on that side, the other one: the vertex of the row's cone.
    cdef double there = lower if u > 0.0 else upper
    if fabs(there) == INFINITY:
        there = upper if u > 0.0 else lower
    if fabs(there) < INFINITY:
        out[2] = max(out[2], fabs((impulse - there) * u))
    measure_impulse(impulse, u, lower, upper, d, out)


cdef void measure_impulse(double impulse, double u, double lower, double upper, double d, double* out) noexcept nogil:
    """The dual residual and the natural map of such a row."""
    out[1] = max(out[1], lower - impulse, impulse - upper)
    if d > 0.0:
        out[3] = max(out[3], fabs(clamp(impulse - u / d, lower, upper) - impulse))

# ---- the system ------------------------------------------------------------------------------------------------------

cdef const double* doubles(object array) except? NULL:
    cdef const double[::1] view = array
    return &view[0] if view.shape[0] else NULL


cdef class System:
    """Arguments, all contiguous: begin, column, value, response (or None), b, compliance, friction, lower, upper; width.
    `problem.py` makes and checks them."""

    def __init__(self, begin, column, value, response, b, compliance, friction, lower, upper, Py_ssize_t width):
        cdef const int64_t[::1] begins = begin
        cdef const int32_t[::1] columns = column
        local = np.zeros(9 * (len(begin) - 1))
        self.kept = (begin, column, value, response, b, compliance, friction, lower, upper)
        self.local_array = local
        cdef double[::1] parts = local
        self.row_count = len(b)
        self.contact_count = len(friction)
        self.block_count = len(begin) - 1
        self.width = width
        self.factored = response is not None
        self.begin = &begins[0]
        self.column = &columns[0] if columns.shape[0] else NULL
        self.value = doubles(value)
        self.response = NULL
        if response is not None:
            self.response = doubles(response)
        self.b = doubles(b)
        self.compliance = doubles(compliance)
        self.friction = doubles(friction)
        self.lower = doubles(lower)
        self.upper = doubles(upper)
        self.local = &parts[0] if parts.shape[0] else NULL
        self.find_local(&parts[0] if parts.shape[0] else NULL)

    def __reduce__(self):
        return System, (*self.kept, self.width)

    def with_b(self, b):
        """The same rows with another b (rows,), which may change."""
        begin, column, value, response, _, *others = self.kept
        return System(begin, column, value, response, b, *others, self.width)

    @property
    def local_blocks(self):
        """(blocks, 3, 3): the blocks' own parts of A + R; of a single row the first entry alone."""
        return self.local_array.reshape(-1, 3, 3)

    cdef find_local(self, double* local):
        """Each block's own part of A + R: J M^-1 J' of its rows, or what stands in its columns."""
        cdef Py_ssize_t block, k, first
        cdef int size, i, j
        cdef const double* value
        cdef const double* response
        for block in range(self.block_count):
            size = self.size(block)
            first = self.first(block)
            value = self.value + self.place(block)
            if self.factored:
                response = self.response + self.place(block)
                for k in range(self.begin[block + 1] - self.begin[block]):
                    for i in range(size):
                        for j in range(size):
                            local[9 * block + 3 * i + j] += value[size * k + i] * response[size * k + j]
            else:
                for k in range(self.begin[block + 1] - self.begin[block]):
                    j = self.column[self.begin[block] + k] - first
                    if 0 <= j < size:
                        for i in range(size):
                            local[9 * block + 3 * i + j] = value[size * k + i]
            for i in range(size):
                local[9 * block + 4 * i] += self.compliance[first + i]

    cdef int size(self, Py_ssize_t block) noexcept nogil:
        return 3 if block < self.contact_count else 1

    cdef Py_ssize_t first(self, Py_ssize_t block) noexcept nogil:
        """A block's first row."""
        return 3 * block if block < self.contact_count else block + 2 * self.contact_count

    cdef Py_ssize_t place(self, Py_ssize_t block) noexcept nogil:
        """Where a block's values begin."""
        if block < self.contact_count:
            return 3 * self.begin[block]
        return 2 * self.begin[self.contact_count] + self.begin[block]

    cdef void block_velocity(self, Py_ssize_t block, const double* impulse, const double* state,
                             double* u) noexcept nogil:
        """u = A lambda + R lambda + b of one block's rows."""
        cdef const double* value = self.value + self.place(block)
        cdef const int32_t* column = self.column
        cdef Py_ssize_t first = self.first(block)
        cdef Py_ssize_t k
        cdef double x, u0, u1, u2
        u0 = self.b[first] + self.compliance[first] * impulse[first]
        if block < self.contact_count:
            u1 = self.b[first + 1] + self.compliance[first + 1] * impulse[first + 1]
            u2 = self.b[first + 2] + self.compliance[first + 2] * impulse[first + 2]
            for k in range(self.begin[block], self.begin[block + 1]):
                x = state[column[k]]
                u0 += value[0] * x
                u1 += value[1] * x
                u2 += value[2] * x
                value += 3
            u[1] = u1
            u[2] = u2
        else:
            for k in range(self.begin[block], self.begin[block + 1]):
                u0 += value[0] * state[column[k]]
                value += 1
        u[0] = u0

    cdef void block_apply(self, Py_ssize_t block, const double* delta, double* state) noexcept nogil:
        """v += M^-1 J' delta of one block's rows. Of an A given whole the state is the impulses: delta is added to its
        own places."""
        cdef const double* response
        cdef const int32_t* column = self.column
        cdef Py_ssize_t first, k
        if not self.factored:
            first = self.first(block)
            for k in range(self.size(block)):
                state[first + k] += delta[k]
            return
        response = self.response + self.place(block)
        if block < self.contact_count:
            for k in range(self.begin[block], self.begin[block + 1]):
                state[column[k]] += response[0] * delta[0] + response[1] * delta[1] + response[2] * delta[2]
                response += 3
        else:
            for k in range(self.begin[block], self.begin[block + 1]):
                state[column[k]] += response[0] * delta[0]
                response += 1

    cdef void load(self, const double* impulse, double* state) noexcept nogil:
        """The state of these impulses."""
        cdef Py_ssize_t block
        if self.width > 0:
            memset(state, 0, self.width * sizeof(double))
        for block in range(self.block_count):
            self.block_apply(block, impulse + self.first(block), state)

    cdef void velocities(self, const double* impulse, double* state, double* u) noexcept nogil:
        """u = A lambda + R lambda + b; state (width,) is overwritten with that of the impulses."""
        cdef Py_ssize_t block
        self.load(impulse, state)
        for block in range(self.block_count):
            self.block_velocity(block, impulse, state, u + self.first(block))

    cdef void measure(self, int model, const double* impulse, const double* u, double* out) noexcept nogil:
        """out (6,): primal, dual, complementarity, natural_map, objective, gap. residuals.py says what they are. NaN of
        what is not finite."""
        cdef Py_ssize_t block, i, r
        cdef double w[3]
        cdef double x[3]
        cdef double mu, d, slack
        cdef double lost = 0.0
        memset(out, 0, 6 * sizeof(double))
        for i in range(self.row_count):
            # u + b = A lambda + R lambda + 2 b
            out[4] += 0.5 * impulse[i] * (u[i] + self.b[i])
            out[5] += impulse[i] * u[i]
            lost += 0.0 * impulse[i] + 0.0 * u[i]
        for block in range(self.contact_count):
            i = 3 * block
            mu = self.friction[block]
            d = max(self.local[9 * block], self.local[9 * block + 4], self.local[9 * block + 8])
            if model == FRICTIONLESS or (model == PYRAMID and mu < INFINITY):
                slack = mu * impulse[i] if model == PYRAMID and impulse[i] > 0.0 else 0.0
                out[0] = max(out[0], -u[i])
                measure_impulse(impulse[i], u[i], 0.0, INFINITY, d, out)
                measure_impulse(impulse[i + 1], u[i + 1], -slack, slack, d, out)
                measure_impulse(impulse[i + 2], u[i + 2], -slack, slack, d, out)
                w[0] = u[i]
                if model == PYRAMID:
                    w[0] += mu * (fabs(u[i + 1]) + fabs(u[i + 2]))
                out[2] = max(out[2], fabs(impulse[i] * w[0] + impulse[i + 1] * u[i + 1] + impulse[i + 2] * u[i + 2]))
                continue
            w[0] = u[i]
            w[1] = u[i + 1]
            w[2] = u[i + 2]
            if model == NCP and mu < INFINITY:
                w[0] += mu * sqrt(w[1] * w[1] + w[2] * w[2])
            for r in range(3):
                x[r] = w[r]
            project_dual(model, mu, x)
            out[0] = max(out[0], distance(x, w))
            for r in range(3):
                x[r] = impulse[i + r]
            project_contact(model, mu, x)
            out[1] = max(out[1], distance(x, impulse + i))
            out[2] = max(out[2], fabs(impulse[i] * w[0] + impulse[i + 1] * w[1] + impulse[i + 2] * w[2]))
            if d > 0.0:
                for r in range(3):
                    x[r] = impulse[i + r] - w[r] / d
                project_contact(model, mu, x)
                out[3] = max(out[3], fabs(x[0] - impulse[i]), fabs(x[1] - impulse[i + 1]),
                             fabs(x[2] - impulse[i + 2]))
        for block in range(self.contact_count, self.block_count):
            i = self.first(block)
            measure_row(impulse[i], u[i], self.lower[block - self.contact_count],
                        self.upper[block - self.contact_count], self.local[9 * block], out)
        for r in range(4):
            out[r] += lost

    # ---- for Python --------------------------------------------------------------------------------------------------

    def rates(self, const double[::1] impulse):
        """-> (u (rows,), state (width,)) of these impulses."""
        u, state = np.empty(self.row_count), np.empty(self.width)
        cdef double[::1] to_u = u, to_state = state
        with nogil:
            self.velocities(&impulse[0] if self.row_count else NULL, &to_state[0] if self.width else NULL,
                            &to_u[0] if self.row_count else NULL)
        return u, state

    def residuals(self, int model, const double[::1] impulse, const double[::1] u):
        """-> (6,) of `measure`."""
        out = np.zeros(6)
        cdef double[::1] view = out
        if self.row_count:
            self.measure(model, &impulse[0], &u[0], &view[0])
        return out

    def project(self, int model, double[::1] impulse):
        """Impulses onto their cones and bounds, in place."""
        cdef Py_ssize_t block, i
        for block in range(self.block_count):
            i = self.first(block)
            if block < self.contact_count:
                project_contact(model, self.friction[block], &impulse[i])
            else:
                impulse[i] = clamp(impulse[i], self.lower[block - self.contact_count],
                                   self.upper[block - self.contact_count])


def blocks(Py_ssize_t contacts, Py_ssize_t width, const int64_t[::1] begin, const int32_t[::1] column,
           const double[::1] value, response=None):
    """A CSR matrix, and a second one of the same shape or None, in blocks -> (begin, column, value, response).

    A block's columns are those of its rows in both matrices, by first appearance."""
    cdef Py_ssize_t rows = begin.shape[0] - 1
    cdef Py_ssize_t count = rows - 2 * contacts
    cdef const int64_t[::1] begin2
    cdef const int32_t[::1] column2
    cdef const double[::1] value2
    cdef bint second = response is not None
    if second:
        begin2, column2, value2 = response
    cdef Py_ssize_t most = value.shape[0] + (value2.shape[0] if second else 0)
    found_begin = np.zeros(count + 1, dtype=np.int64)
    found_column = np.empty(most, dtype=np.int32)
    cdef int64_t[::1] to_begin = found_begin
    cdef int32_t[::1] to_column = found_column
    cdef int32_t[::1] at = np.full(width, -1, dtype=np.int32)
    cdef Py_ssize_t block, row, k, size, first, used = 0
    for block in range(count):
        size = 3 if block < contacts else 1
        first = 3 * block if block < contacts else block + 2 * contacts
        for row in range(first, first + size):
            for k in range(begin[row], begin[row + 1]):
                if at[column[k]] < to_begin[block]:
                    at[column[k]] = used
                    to_column[used] = column[k]
                    used += 1
            if second:
                for k in range(begin2[row], begin2[row + 1]):
                    if at[column2[k]] < to_begin[block]:
                        at[column2[k]] = used
                        to_column[used] = column2[k]
                        used += 1
        to_begin[block + 1] = used
    total = 3 * to_begin[contacts] + used - to_begin[contacts]
    values = np.zeros(total)
    responses = np.zeros(total) if second else None
    spread(contacts, begin, column, value, to_begin, to_column, at, values)
    if second:
        spread(contacts, begin2, column2, value2, to_begin, to_column, at, responses)
    return found_begin, found_column[:used].copy(), values, responses


cdef void spread(Py_ssize_t contacts, const int64_t[::1] begin, const int32_t[::1] column, const double[::1] value,
                 const int64_t[::1] to_begin, const int32_t[::1] to_column, int32_t[::1] at,
                 double[::1] out) noexcept:
    """The values of a CSR matrix at their places in the blocks."""
    cdef Py_ssize_t block, row, k, size, first, place
    for block in range(to_begin.shape[0] - 1):
        size = 3 if block < contacts else 1
        first = 3 * block if block < contacts else block + 2 * contacts
        place = 3 * to_begin[block] if block < contacts else 2 * to_begin[contacts] + to_begin[block]
        for k in range(to_begin[block], to_begin[block + 1]):
            at[to_column[k]] = <int32_t>(k - to_begin[block])
        for row in range(first, first + size):
            for k in range(begin[row], begin[row + 1]):
                out[place + size * at[column[k]] + row - first] += value[k]
