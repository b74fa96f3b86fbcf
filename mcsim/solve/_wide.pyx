"""Wide rows (gears: up to four bodies) solved exactly beside the joints' tree.

With S the joints' solve, which gives twists that keep J v + b = 0, a unit impulse on wide row i changes the twists by
R_i = S M^-1 J_i' (b = 0), and

    G mu = -(J_w v + b_w),     G_ij = J_i R_j

is what the wide rows see of each other through the joints (the Schur complement; the auxiliary constraints of D. Baraff,
"Linear-time dynamics using Lagrange multipliers", 1996). G is found by probing: one joints' solve a column, and since gears
of different articulations do not meet, one column of every articulation at a time. G is factored as L D L'; a pivot below
1e-9 of J_i M^-1 J_i' marks a gear that the joints and the gears before it have settled: it gets no impulse.
"""

from libc.math cimport fabs

import numpy as np

from mcsim.state._layout cimport BIASED, RELAXED
from mcsim.state._rows cimport push, rate

cdef double SMALLEST_PIVOT = 1e-9


cdef inline Row* wide_row(const Row* rows, const Joint* joints, int32_t joint) noexcept nogil:
    return <Row*>rows + joints[joint].row_begin


cdef inline bint absent(const Joint* joints, int32_t joint) noexcept nogil:
    return joints[joint].row_count == 0


cdef inline Row* own_rows(const Row* rows, const Joint* joint) noexcept nogil:
    return <Row*>rows + joint.row_begin + joint.row_count - joint.constraint_count


def articulations(pairs, linked, moves):
    """(bodies,) number of the articulation of each dynamic body, -1 of others.

    pairs: (k, 2) bodies that a joint holds together; linked: lists of bodies that a gear couples; moves: (bodies,) bool.
    """
    parent = np.arange(len(moves))

    def find(x):
        while parent[x] != x:
            parent[x] = parent[parent[x]]
            x = parent[x]
        return x

    for together in [*pairs, *linked]:
        dynamic = [int(b) for b in together if b >= 0 and moves[b]]
        for other in dynamic[1:]:
            parent[find(other)] = find(dynamic[0])
    return np.array([find(b) if moves[b] else -1 for b in range(len(moves))], np.int64)


cdef class WideRows:
    """gears: (k,) joint numbers; bodies: (k, 4) those of their two joints, -1 the world; pairs: (j, 2) bodies of the joints
    that hold; moves: (bodies,) bool, which are dynamic; row_count: bilateral rows of all joints."""

    def __init__(self, gears, bodies, pairs, moves, Py_ssize_t row_count):
        of_body = np.append(articulations(pairs, bodies, moves), -1)
        group = of_body[bodies].max(axis=1)
        order = np.argsort(group, kind="stable")
        begin = np.searchsorted(group[order], group[order], "left").astype(np.int32)
        size = (np.searchsorted(group[order], group[order], "right") - begin).astype(np.int32)
        first = np.unique(begin)
        lengths = size[first].astype(np.int64) ** 2
        block = (np.cumsum(lengths) - lengths)[np.searchsorted(first, begin)]
        joint = np.asarray(gears, np.int32)[order]
        values, vector, impulse = np.zeros(int(lengths.sum())), np.zeros(len(order)), np.zeros(len(order))
        loan = np.zeros((max(row_count, 1), 2))
        self.kept = joint, begin, size, block, values, vector, impulse, loan
        self.count = len(order)
        self.rounds = int(size.max())
        cdef int32_t[::1] i = joint
        cdef int64_t[::1] l = block
        cdef double[::1] d = values
        cdef double[:, ::1] pair = loan
        self.joint = &i[0]
        i = begin
        self.group_begin = &i[0]
        i = size
        self.group_size = &i[0]
        self.block = &l[0]
        self.values = &d[0]
        d = vector
        self.vector = &d[0]
        d = impulse
        self.impulse = &d[0]
        self.loan = &pair[0, 0]

    cdef void begin(self, Row* rows, const Joint* joints, Py_ssize_t joint_count) noexcept nogil:
        """The joints' rows without biases, so that their solve is linear."""
        cdef Py_ssize_t j, n = 0
        cdef int i
        cdef Row* own
        for j in range(joint_count):
            own = own_rows(rows, &joints[j])
            for i in range(joints[j].constraint_count):
                self.loan[2 * n] = own[i].impulse
                self.loan[2 * n + 1] = own[i].bias[RELAXED]
                own[i].bias[RELAXED] = 0.0
                n += 1

    cdef void push_round(self, const Row* rows, const Joint* joints, Py_ssize_t round, Twist* scratch) noexcept nogil:
        """A unit impulse on gear number `round` of every articulation."""
        cdef Py_ssize_t k
        for k in range(self.count):
            if k - self.group_begin[k] == round and not absent(joints, self.joint[k]):
                push(wide_row(rows, joints, self.joint[k]), 1.0, scratch)

    cdef void read_round(self, const Row* rows, const Joint* joints, Py_ssize_t round,
                         const Twist* scratch) noexcept nogil:
        cdef Py_ssize_t k, i
        for k in range(self.count):
            if round < self.group_size[k]:
                i = k - self.group_begin[k]
                self.values[self.block[k] + i * self.group_size[k] + round] = \
                    0.0 if absent(joints, self.joint[k]) else rate(wide_row(rows, joints, self.joint[k]), scratch)

    cdef void end(self, Row* rows, const Joint* joints, Py_ssize_t joint_count) noexcept nogil:
        """Impulses and biases back; G factored: 1 / d on the diagonal, 0 where a gear is settled."""
        cdef Py_ssize_t j, k, n = 0
        cdef int p
        cdef Row* own
        for j in range(joint_count):
            own = own_rows(rows, &joints[j])
            for p in range(joints[j].constraint_count):
                own[p].impulse = self.loan[2 * n]
                own[p].bias[RELAXED] = self.loan[2 * n + 1]
                n += 1
        for k in range(self.count):
            self.factor_line(k, 0.0 if absent(joints, self.joint[k])
                             else SMALLEST_PIVOT * wide_row(rows, joints, self.joint[k]).diagonal)

    cdef void factor_line(self, Py_ssize_t k, double smallest) noexcept nogil:
        cdef Py_ssize_t i = k - self.group_begin[k]
        cdef Py_ssize_t m = self.group_size[k]
        cdef double* g = self.values + self.block[k]
        cdef double* line = g + i * m
        cdef double s
        cdef double d = line[i]
        cdef Py_ssize_t j, n
        for j in range(i):
            s = 0.5 * (line[j] + g[j * m + i])
            for n in range(j):
                s -= line[n] * g[j * m + n]
            line[j] = s                                        # d_j L_ij until the line is done
        for j in range(i):
            s = line[j] * g[j * m + j]
            d -= s * line[j]
            line[j] = s
        line[i] = 1.0 / d if d > smallest else 0.0

    cdef void backsolve(self) noexcept nogil:
        """vector <- (L D L')^-1 vector"""
        cdef double* x = self.vector
        cdef Py_ssize_t k, first, m, i, n
        cdef const double* g
        for k in range(self.count):
            first = self.group_begin[k]
            i = k - first
            g = self.values + self.block[k] + i * self.group_size[k]
            for n in range(i):
                x[k] -= g[n] * x[first + n]
        for k in range(self.count - 1, -1, -1):
            first = self.group_begin[k]
            m = self.group_size[k]
            i = k - first
            g = self.values + self.block[k]
            x[k] *= g[i * m + i]
            for n in range(i + 1, m):
                x[k] -= g[n * m + i] * x[first + n]

    cdef double correct(self, Row* rows, const Joint* joints, Twist* twist, int relaxed, double tolerance) noexcept nogil:
        cdef double largest = 0.0
        cdef Py_ssize_t k
        cdef Row* row
        for k in range(self.count):
            self.vector[k] = 0.0
            if not absent(joints, self.joint[k]):
                row = wide_row(rows, joints, self.joint[k])
                self.vector[k] = -(rate(row, twist) + row.bias[relaxed])
                largest = max(largest, fabs(self.vector[k]))
        if largest <= tolerance:
            return largest
        self.backsolve()
        for k in range(self.count):
            if self.vector[k] != 0.0:
                row = wide_row(rows, joints, self.joint[k])
                row.impulse += self.vector[k]
                row[1].impulse = row.impulse
                push(row, self.vector[k], twist)
        return largest

    cdef double aim_errors(self, Row* rows, const Joint* joints) noexcept nogil:
        cdef double largest = 0.0
        cdef Py_ssize_t k
        cdef Row* row
        for k in range(self.count):
            if not absent(joints, self.joint[k]):
                row = wide_row(rows, joints, self.joint[k])
                row.bias[BIASED] = row.error
                largest = max(largest, fabs(row.error))
        return largest

    cdef void aim_still(self, Row* rows, const Joint* joints) noexcept nogil:
        cdef Py_ssize_t k
        for k in range(self.count):
            if not absent(joints, self.joint[k]):
                wide_row(rows, joints, self.joint[k]).bias[BIASED] = 0.0

    cdef void keep(self, const Row* rows, const Joint* joints) noexcept nogil:
        cdef Py_ssize_t k
        for k in range(self.count):
            if not absent(joints, self.joint[k]):
                self.impulse[k] = wide_row(rows, joints, self.joint[k]).impulse

    cdef void bring_back(self, Row* rows, const Joint* joints) noexcept nogil:
        cdef Py_ssize_t k
        cdef Row* row
        for k in range(self.count):
            if not absent(joints, self.joint[k]):
                row = wide_row(rows, joints, self.joint[k])
                row.impulse = self.impulse[k]
                row[1].impulse = row.impulse
