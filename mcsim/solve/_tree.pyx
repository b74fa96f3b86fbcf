"""The joints of all articulations solved directly: a sparse block LDL' of

    S = [ J M^-1 J'   J_h ]     joints: rows of all joints, over the bodies with few joints, which are eliminated beforehand
        [ J_h'       -M_h ]     hubs: bodies with many joints stay, so that a star does not become dense

S is symmetric quasi-definite: every order of elimination has a factor (R. Vanderbei, "Symmetric quasidefinite matrices",
1995). With the order of `ordering.py` a tree has no fill, so time and memory are linear in the number of joints
(D. Baraff, "Linear-time dynamics using Lagrange multipliers", 1996). By block columns, left-looking:

    S_ij <- S_ij - sum_k S_ik D_k^-1 S_jk'     over the columns k < j with both blocks;     D_j = S_jj

A loop may make rows redundant. There D_j is shifted by a small part of its diagonal, which makes each solve one proximal step;
repeated against the true residual J v + bias it converges to a solution of the constraints, not of softened ones.
A pivot below 1e-12 of its diagonal is skipped: such a row moves nothing that the rows before it have not settled.
"""

from libc.math cimport fabs

import numpy as np

from mcsim.core._math cimport quat_matrix, rotate_symmetric
from mcsim.core._types cimport Mat3
from mcsim.solve._blocks cimport larger, row_apply, row_residual, row_velocity
from mcsim.solve.ordering import plan

cdef enum:
    SIDE_A = 1
    SIDE_B = 2
    SHARE_AA = 1             # entry codes of two joints: side of the row's node, side of the column's node
    SHARE_AB = 2
    SHARE_BA = 4
    SHARE_BB = 8
    HUB_AT_A = 16            # entry codes of a joint and a hub: which side of the joint the hub is
    HUB_AT_B = 32

cdef double SMALLEST_PIVOT = 1e-12


cdef inline const Row* own_rows(const Row* rows, const Joint* joint) noexcept nogil:
    """The first of the joint's bilateral rows, which are its last ones."""
    return rows + joint.row_begin + joint.row_count - joint.constraint_count


cdef inline double half_dot(const double* x, const double* y) noexcept nogil:
    return ((x[0] * y[0] + x[1] * y[1]) + (x[2] * y[2] + x[3] * y[3])) + (x[4] * y[4] + x[5] * y[5])


cdef inline double shared(const Row* x, const Row* y, int code) noexcept nogil:
    """J_x M^-1 J_y' over the bodies that `code` names."""
    cdef double s = 0.0
    if code & SHARE_AA:
        s += half_dot(&x.jacobian[0], &y.inv_mass_jacobian[0])
    if code & SHARE_AB:
        s += half_dot(&x.jacobian[0], &y.inv_mass_jacobian[6])
    if code & SHARE_BA:
        s += half_dot(&x.jacobian[6], &y.inv_mass_jacobian[0])
    if code & SHARE_BB:
        s += half_dot(&x.jacobian[6], &y.inv_mass_jacobian[6])
    return s


cdef inline void invert_block(double* d, int m, const double* scale) noexcept nogil:
    """d <- d^-1 (m, m) by sweeps (J. Goodnight, 1979), of either sign; a pivot below SMALLEST_PIVOT of its scale is set to 0
    with its row and column."""
    cdef double pivot, f
    cdef int i, j, p
    for p in range(m):
        pivot = d[p * m + p]
        if not fabs(pivot) > SMALLEST_PIVOT * scale[p]:
            for i in range(m):
                d[p * m + i] = 0.0
                d[i * m + p] = 0.0
            continue
        pivot = 1.0 / pivot
        d[p * m + p] = 1.0
        for j in range(m):
            d[p * m + j] *= pivot
        for i in range(m):
            if i != p:
                f = d[i * m + p]
                d[i * m + p] = 0.0
                for j in range(m):
                    d[i * m + j] -= f * d[p * m + j]


cdef void hub_block(const Bodies* bodies, int i, double* d) noexcept nogil:
    """-M of a body, (6, 6)."""
    cdef Mat3 inertia = rotate_symmetric(quat_matrix(bodies.orientation[i]), bodies.inertia[i])
    cdef int p, q
    for p in range(36):
        d[p] = 0.0
    for p in range(3):
        d[7 * p] = -1.0 / bodies.inv_mass[i]
        for q in range(3):
            d[6 * (3 + p) + 3 + q] = -(&inertia.xx)[3 * p + q]


cdef class JointTree:
    """bodies: (joints, 2) int, -1 the world; sizes: (joints,) bilateral rows of each, 0 to 6; moves: (bodies,) bool, which
    are dynamic. The symbolic part is made here, once; factor and solve follow the rows."""

    def __init__(self, bodies, sizes, moves):
        found = plan(np.asarray(bodies, np.int64).reshape(-1, 2), np.asarray(sizes, np.int64), np.asarray(moves, bool))
        self.node_count = len(found.joint)
        self.entry_count = len(found.entry_node)
        self.loops = found.loops
        self.work = found.work
        self.row_count = int(np.sum(sizes))
        self.value_count = found.value_count
        values = np.zeros(max(found.value_count, 1))
        vector = np.zeros(max(found.length, 1))
        slot = np.zeros(max(self.node_count, 1), np.int64)
        self.kept = (found, values, vector, slot)
        self.fronts = None if found.fronts is None else Fronts(found.fronts)
        cdef int32_t[::1] i
        cdef int64_t[::1] l
        cdef double[::1] d
        if self.node_count == 0:
            return
        i = found.joint
        self.joint = &i[0]
        i = found.size
        self.size = &i[0]
        i = found.sides
        self.sides = &i[0]
        d = found.shift
        self.shift = &d[0]
        l = found.offset
        self.offset = &l[0]
        l = found.diagonal
        self.diagonal = &l[0]
        l = found.entry_begin
        self.entry_begin = &l[0]
        l = found.row_begin
        self.row_begin = &l[0]
        d = values
        self.values = &d[0]
        d = vector
        self.vector = &d[0]
        l = slot
        self.slot = &l[0]
        if self.entry_count:
            i = found.entry_node
            self.entry_node = &i[0]
            l = found.entry_value
            self.entry_value = &l[0]
            i = found.entry_code
            self.entry_code = &i[0]
            i = found.row_node
            self.row_node = &i[0]
            l = found.row_entry
            self.row_entry = &l[0]

    cdef void assemble_column(self, Py_ssize_t j, const Row* rows, const Joint* joints,
                              const Bodies* bodies) noexcept nogil:
        """Diagonal block and entries of column j of S."""
        cdef int m = self.size[j]
        cdef int code, p, q
        cdef int64_t e
        cdef double* d = self.values + self.diagonal[j]
        cdef const Row* own
        if self.joint[j] < 0:
            hub_block(bodies, -1 - self.joint[j], d)
            for e in range(self.entry_begin[j], self.entry_begin[j + 1]):
                self.assemble_entry(e, NULL, 6, rows, joints)
            return
        own = own_rows(rows, &joints[self.joint[j]])
        code = (SHARE_AA if self.sides[j] & SIDE_A else 0) | (SHARE_BB if self.sides[j] & SIDE_B else 0)
        for p in range(m):
            for q in range(p + 1):
                d[p * m + q] = shared(own + p, own + q, code)
                d[q * m + p] = d[p * m + q]
        for e in range(self.entry_begin[j], self.entry_begin[j + 1]):
            self.assemble_entry(e, own, m, rows, joints)

    cdef void assemble_entry(self, int64_t e, const Row* own, int m, const Row* rows, const Joint* joints) noexcept nogil:
        """Block e below the diagonal; `own`: the column's rows, NULL for a hub's column."""
        cdef int32_t i = self.entry_node[e]
        cdef int n = self.size[i]
        cdef int code = self.entry_code[e]
        cdef int half = 6 if code & HUB_AT_B else 0
        cdef int p, q
        cdef double* block = self.values + self.entry_value[e]
        cdef const Row* other
        if code == 0:
            for p in range(n * m):
                block[p] = 0.0
            return
        if self.joint[i] < 0:
            for p in range(6):
                for q in range(m):
                    block[p * m + q] = own[q].jacobian[half + p]
            return
        other = own_rows(rows, &joints[self.joint[i]])
        for p in range(n):
            for q in range(m):
                block[p * m + q] = other[p].jacobian[half + q] if own == NULL else shared(other + p, own + q, code)

    cdef void eliminate_into(self, Py_ssize_t j) noexcept nogil:
        """Subtract from column j what the columns before it that reach its row leave there."""
        cdef int m = self.size[j]
        cdef int n, w, p, q, s
        cdef int64_t r, e, entry
        cdef int32_t k
        cdef double t[36]
        cdef double x
        cdef double* d = self.values + self.diagonal[j]
        cdef const double* inverse
        cdef const double* b
        cdef double* block
        for e in range(self.entry_begin[j], self.entry_begin[j + 1]):
            self.slot[self.entry_node[e]] = self.entry_value[e]
        self.slot[j] = self.diagonal[j]
        for r in range(self.row_begin[j], self.row_begin[j + 1]):
            k = self.row_node[r]
            entry = self.row_entry[r]
            w = self.size[k]
            inverse = self.values + self.diagonal[k]
            b = self.values + self.entry_value[entry]
            for p in range(w):
                for q in range(m):
                    x = 0.0
                    for s in range(w):
                        x += inverse[p * w + s] * b[q * w + s]
                    t[p * m + q] = x
            for e in range(entry, self.entry_begin[k + 1]):
                n = self.size[self.entry_node[e]]
                b = self.values + self.entry_value[e]
                block = self.values + self.slot[self.entry_node[e]]
                for p in range(n):
                    for q in range(m):
                        x = 0.0
                        for s in range(w):
                            x += b[p * w + s] * t[s * m + q]
                        block[p * m + q] -= x

    cdef void factor(self, const Row* rows, const Joint* joints, const Bodies* bodies) noexcept nogil:
        """S at the rows' present Jacobians, block by block; diagonal blocks are kept inverted."""
        cdef Py_ssize_t j
        cdef double scale[6]
        cdef double* d
        cdef int m, p
        for j in range(self.node_count):
            self.assemble_column(j, rows, joints, bodies)
            m = self.size[j]
            d = self.values + self.diagonal[j]
            for p in range(m):
                scale[p] = fabs(d[p * m + p])
            if self.loops:
                for p in range(m):
                    self.fronts.scale[self.offset[j] + p] = scale[p]
                    d[p * m + p] += self.proximal * self.shift[j] * scale[p]
                continue
            self.eliminate_into(j)
            invert_block(d, m, scale)
        if self.loops:
            self.fronts.factor(self.values, self.diagonal, self.size, self.entry_begin, self.entry_node, self.entry_value)

    cdef double solve(self, Row* rows, const Joint* joints, Twist* twist, int relaxed) noexcept nogil:
        """One solve of J v + bias = 0: impulses and twists change. -> the largest |J v + bias| before [m/s, rad/s]"""
        cdef double largest = self.residual(rows, joints, twist, relaxed)
        self.correct(rows, joints, twist)
        return largest

    cdef double residual(self, const Row* rows, const Joint* joints, const Twist* twist, int relaxed) noexcept nogil:
        """The right side for `correct`. -> the largest |J v + bias| [m/s, rad/s]"""
        cdef double* x = self.vector
        cdef double largest = 0.0
        cdef double s
        cdef const Row* own
        cdef Py_ssize_t k
        cdef int p
        for k in range(self.node_count):
            if self.joint[k] < 0:
                for p in range(6):
                    x[self.offset[k] + p] = 0.0
                continue
            own = own_rows(rows, &joints[self.joint[k]])
            for p in range(self.size[k]):
                s = row_velocity(own + p, twist) + own[p].bias[relaxed]
                x[self.offset[k] + p] = -s
                largest = larger(largest, fabs(s))
        return largest

    cdef void correct(self, Row* rows, const Joint* joints, Twist* twist) noexcept nogil:
        """Impulses and twists by the solution for the right side that `residual` wrote."""
        cdef double* a
        cdef Row* own
        cdef Py_ssize_t k
        cdef int p
        if self.loops:
            self.fronts.solve(self.vector)
        else:
            self.substitute()
        for k in range(self.node_count):
            if self.joint[k] < 0:
                continue
            own = <Row*> own_rows(rows, &joints[self.joint[k]])
            a = self.vector + self.offset[k]
            for p in range(self.size[k]):
                own[p].impulse += a[p]
                row_apply(own + p, a[p], twist)

    cdef void substitute(self) noexcept nogil:
        """`vector` <- the solution for the right side that it holds."""
        cdef double* x = self.vector
        cdef double* a
        cdef double* b
        cdef const double* block
        cdef double y[6]
        cdef Py_ssize_t k
        cdef int64_t e
        cdef int m, n, p, q
        for k in range(self.node_count):
            m = self.size[k]
            a = x + self.offset[k]
            block = self.values + self.diagonal[k]
            for p in range(m):
                y[p] = 0.0
                for q in range(m):
                    y[p] += block[p * m + q] * a[q]
            for p in range(m):
                a[p] = y[p]
            for e in range(self.entry_begin[k], self.entry_begin[k + 1]):
                n = self.size[self.entry_node[e]]
                b = x + self.offset[self.entry_node[e]]
                block = self.values + self.entry_value[e]
                for p in range(n):
                    for q in range(m):
                        b[p] -= block[p * m + q] * y[q]
        for k in range(self.node_count - 1, -1, -1):
            m = self.size[k]
            a = x + self.offset[k]
            if self.entry_begin[k] < self.entry_begin[k + 1]:
                for q in range(m):
                    y[q] = 0.0
                for e in range(self.entry_begin[k], self.entry_begin[k + 1]):
                    n = self.size[self.entry_node[e]]
                    b = x + self.offset[self.entry_node[e]]
                    block = self.values + self.entry_value[e]
                    for p in range(n):
                        for q in range(m):
                            y[q] += block[p * m + q] * b[p]
                block = self.values + self.diagonal[k]
                for p in range(m):
                    for q in range(m):
                        a[p] -= block[p * m + q] * y[q]
