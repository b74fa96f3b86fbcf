"""Loops of trees solved in time that grows with the joints, not with the square of the loops.

The rows that close loops have K = J H^-1 J' over the trees' coordinates, which is dense: in a tree everything is coupled
with everything. K is the Schur complement of a sparse matrix. With J_t what the tree's joints do not let happen, J_l the
loops' rows, all over the bodies,

    S = [ J_t M^-1 J_t'  J_t M^-1 J_l'     ]        (K + E)^-1 r  is the lower part of  S^-1 [ 0 ]
        [ J_l M^-1 J_t'  J_l M^-1 J_l' + E ]                                                 [ r ]

for bodies whose joints hold move by M^-1 (J_t' mu + J_l' x), and J_t times that is 0: they move by A H^-1 A' J_l' x, A
the Jacobian of the tree (R. Featherstone, Rigid Body Dynamics Algorithms, 2008, section 8.5; E. Haug, Computer Aided
Kinematics and Dynamics of Mechanical Systems, 1989, for both forms). Rows are coupled where they share a body, as the
joints of bodies without trees are: `ordering.py` finds the order of elimination, and `_fronts.pyx` eliminates. The rotor
of a tree's joint is one more row, along its axis, with the compliance 1 / armature; of a given motion all six are rows.

E is the part by which `_loop_rows.pyx` raises the diagonal, with compliances of rows that yield, of either pass: its factor
is made when a solve first asks for it.

What rows see of velocities, and what all of them do to those, is one pass over the trees each, out and in.

Per pose:   begin_pose();  take_row(...) for each loop's row;  assemble();  soften(...)
Per solve:  look(piece, x);  rate(...);  begin_solve(piece), solve(piece, ...);  push(...), pass_on(piece, x)
"""

from libc.string cimport memcpy, memset

import numpy as np

from mcsim.core._arrays cimport doubles, integers, long_integers
from mcsim.solve._tree_blocks cimport SHARE_AA, SHARE_AB, SHARE_BA, SHARE_BB, HUB_AT_A, SIDE_A, SIDE_B, hub_block

from mcsim.solve.ordering import plan as find_order


cdef inline void add_products(double* block, const double* other, int n, const double* own, int m, int other_side,
                              int own_side) noexcept nogil:
    """block (n, m) += J_other M^-1 J_own' over one body, which is on these sides of the two joints."""
    cdef int p, q
    for p in range(n):
        for q in range(m):
            block[p * m + q] += dot6(other + 12 * p + 6 * other_side, own + 12 * q + 6 * own_side)


cdef class LoopFronts:
    """plan: .pairs (j, 2) bodies of the joints, -1 the world; .sizes (j,) rows; .links (j,) links that tree joints hold, -1
    of what closes a loop; .joints (j,) the scene's numbers of the latter, else -1; .moves (bodies,) bool; .pieces
    (bodies + 1,) what hangs together, the last the world's, -1; .count joints of the scene."""

    def __init__(self, plan):
        cdef Py_ssize_t k
        cdef int p
        found = find_order(plan.pairs, plan.sizes, plan.moves, plan.pieces, by_fronts=True)
        self.biased, self.relaxed = Fronts(found), Fronts(found)
        self.joint_count, self.scene_count, self.node_count = len(plan.sizes), plan.count, len(found.joint)
        self.piece_count = int(np.max(plan.pieces, initial=-1)) + 1
        begin = np.concatenate([[0], np.cumsum(plan.sizes)]).astype(np.int32)
        self.row_count = int(np.sum(plan.sizes))
        joint_of = np.full(plan.count + 1, -1, np.int32)
        closing = np.flatnonzero(plan.joints >= 0)
        joint_of[plan.joints[closing]] = closing
        pieces = np.repeat(plan.pieces[plan.pairs].max(axis=1), plan.sizes)
        piece_begin = np.searchsorted(found.group, np.arange(self.piece_count + 1)).astype(np.int32)
        offset = np.append(found.offset, found.length).astype(np.int64)
        number, at = np.zeros((2, self.row_count + 1), np.int64)
        for k in range(self.node_count):
            joint, size = int(found.joint[k]), int(found.size[k])
            for p in range(size if joint >= 0 else 0):
                number[begin[joint] + p] = found.offset[k] + p
                at[begin[joint] + p] = found.diagonal[k] + p * (size + 1)
        self.kept = (begin, np.append(plan.links, -1).astype(np.int32), joint_of,
                     np.append(plan.pairs, [[-1, -1]], axis=0).astype(np.int32),
                     np.append(pieces, 0).astype(np.int32), piece_begin,
                     np.ones(2 * self.piece_count + 1, np.int32), np.append(found.joint, 0).astype(np.int32),
                     np.append(found.sides, 0).astype(np.int32), np.append(found.entry_code, 0).astype(np.int32), offset,
                     number, at, np.zeros((2, self.row_count + 1, 12)), np.zeros((3, self.row_count + 1)),
                     np.zeros(found.value_count + 1), np.zeros(found.length + 1),
                     np.repeat(np.arange(self.joint_count + 1), np.append(plan.sizes, 1)).astype(np.int32),
                     np.roll(plan.pieces, 1).astype(np.int32))
        self.body_piece = integers(self.kept[18]) + 1
        self.begin, self.link, self.joint_of = integers(begin), integers(self.kept[1]), integers(joint_of)
        self.ends, self.piece = integers(self.kept[3]), integers(self.kept[4])
        self.piece_begin, self.stale = integers(piece_begin), integers(self.kept[6])
        self.node_joint, self.sides = integers(self.kept[7]), integers(self.kept[8])
        self.entry_code, self.offset = integers(self.kept[9]), long_integers(offset)
        self.number, self.at = long_integers(number), long_integers(at)
        self.jacobian, self.response = doubles(self.kept[13][0]), doubles(self.kept[13][1])
        self.alone, self.shifts = doubles(self.kept[14][0]), doubles(self.kept[14][1:])
        self.values, self.x, self.joint_at = doubles(self.kept[15]), doubles(self.kept[16]), integers(self.kept[17])

    cdef Py_ssize_t own_row(self, const Row* rows, Py_ssize_t i) noexcept nogil:
        """Which of its own rows a loop's row i is; -1: it is of none of the joints here, or one more than was planned."""
        cdef int32_t source = rows[i].source
        cdef int32_t joint = self.joint_of[source] if source < self.scene_count else -1
        cdef Py_ssize_t k = 0
        if joint < 0:
            return -1
        while i - k > 0 and rows[i - k - 1].source == source and rows[i - k - 1].block_kind == rows[i].block_kind:
            k += 1
        return self.begin[joint] + k if k < self.begin[joint + 1] - self.begin[joint] else -1

    cdef bint touches(self, const Row* row) noexcept nogil:
        """Whether it acts on a body that is here."""
        return self.body_piece[row.body_a] >= 0 or self.body_piece[row.body_b] >= 0

    # ---- once per pose -----------------------------------------------------------------------------------------------

    cdef void begin_pose(self) noexcept nogil:
        """Rows of the trees' joints; of loops none."""
        cdef Py_ssize_t i
        memset(self.jacobian, 0, 12 * self.row_count * sizeof(double))
        memset(self.response, 0, 12 * self.row_count * sizeof(double))
        memset(self.shifts, 0, 2 * (self.row_count + 1) * sizeof(double))
        self.write_joints()
        for i in range(2 * self.piece_count):
            self.stale[i] = 1

    cdef void write_joints(self) noexcept nogil:
        """J, M^-1 J' and compliances of what the trees' joints do not let happen."""

    cdef void take_row(self, Py_ssize_t own, const Row* row) noexcept nogil:
        """A loop's row; what moves nothing is left out."""
        if row.diagonal > 0.0:
            memcpy(self.jacobian + 12 * own, row.jacobian, 12 * sizeof(double))
            memcpy(self.response + 12 * own, row.inv_mass_jacobian, 12 * sizeof(double))

    cdef void assemble(self) noexcept nogil:
        """S without what is added to its diagonal."""
        cdef Py_ssize_t k
        for k in range(self.node_count):
            self.assemble_node(k)
        for k in range(self.row_count):
            self.alone[k] = self.values[self.at[k]]

    cdef void assemble_node(self, Py_ssize_t k) noexcept nogil:
        """Its column."""
        cdef int32_t joint = self.node_joint[k], other, code
        cdef int m = <int>(self.offset[k + 1] - self.offset[k])
        cdef int n, p, q
        cdef const double* own
        cdef const double* j
        cdef double* block = self.values + self.biased.diagonal[k]
        cdef int64_t e
        cdef bint b
        if joint < 0:
            hub_block(self.bodies, -1 - joint, block)
        else:
            own, j = self.response + 12 * self.begin[joint], self.jacobian + 12 * self.begin[joint]
            memset(block, 0, m * m * sizeof(double))
            if self.sides[k] & SIDE_A:
                add_products(block, j, m, own, m, 0, 0)
            if self.sides[k] & SIDE_B:
                add_products(block, j, m, own, m, 1, 1)
        for e in range(self.biased.entry_begin[k], self.biased.entry_begin[k + 1]):
            other, code = self.node_joint[self.biased.entry_node[e]], self.entry_code[e]
            n = self.biased.size[self.biased.entry_node[e]]
            block = self.values + self.biased.entry_value[e]
            if joint < 0 or other < 0:
                b = code != HUB_AT_A
                j = self.jacobian + 12 * self.begin[max(joint, other)] + 6 * b
                for p in range(n):
                    for q in range(m):
                        block[p * m + q] = j[12 * p + q] if joint < 0 else j[12 * q + p]
                continue
            own, j = self.response + 12 * self.begin[joint], self.jacobian + 12 * self.begin[other]
            memset(block, 0, n * m * sizeof(double))
            if code & SHARE_AA:
                add_products(block, j, n, own, m, 0, 0)
            if code & SHARE_AB:
                add_products(block, j, n, own, m, 0, 1)
            if code & SHARE_BA:
                add_products(block, j, n, own, m, 1, 0)
            if code & SHARE_BB:
                add_products(block, j, n, own, m, 1, 1)

    cdef void soften(self, Py_ssize_t own, int relaxed, double compliance) noexcept nogil:
        """E of a row in a pass."""
        self.shifts[relaxed * self.row_count + own] = compliance
        self.stale[relaxed * self.piece_count + self.piece[own]] = 1

    # ---- solves ------------------------------------------------------------------------------------------------------

    cdef void factor(self, Py_ssize_t piece, int relaxed) noexcept nogil:
        """S + E of a pass."""
        cdef Py_ssize_t k, i, p
        cdef const double* shifts = self.shifts + relaxed * self.row_count
        cdef double* scale = self.relaxed.scale if relaxed else self.biased.scale
        cdef int32_t joint
        for k in range(self.piece_begin[piece], self.piece_begin[piece + 1]):
            joint = self.node_joint[k]
            for p in range(self.offset[k + 1] - self.offset[k] if joint < 0 else 0):
                scale[self.offset[k] + p] = -self.values[self.biased.diagonal[k] + 7 * p]
            for i in range(self.begin[joint] if joint >= 0 else 0, self.begin[joint + 1] if joint >= 0 else 0):
                self.values[self.at[i]] = self.alone[i] + shifts[i]
                # What a loop's row has beside E may be all but nothing, where others imply it.
                scale[self.number[i]] = self.alone[i] if self.link[joint] >= 0 else shifts[i]
        if relaxed:
            self.relaxed.factor(self.values, self.piece_begin[piece], self.piece_begin[piece + 1])
        else:
            self.biased.factor(self.values, self.piece_begin[piece], self.piece_begin[piece + 1])
        self.stale[relaxed * self.piece_count + piece] = 0

    cdef void begin_solve(self, Py_ssize_t piece) noexcept nogil:
        """x is 0 but for what is written into it then."""
        cdef Py_ssize_t first = self.offset[self.piece_begin[piece]], end = self.offset[self.piece_begin[piece + 1]]
        memset(self.x + first, 0, (end - first) * sizeof(double))

    cdef void solve(self, Py_ssize_t piece, int relaxed) noexcept nogil:
        """x <- (S + E)^-1 x"""
        if self.stale[relaxed * self.piece_count + piece]:
            self.factor(piece, relaxed)
        if relaxed:
            self.relaxed.solve(self.x, self.piece_begin[piece], self.piece_begin[piece + 1])
        else:
            self.biased.solve(self.x, self.piece_begin[piece], self.piece_begin[piece + 1])

    # ---- the trees, which others know --------------------------------------------------------------------------------

    cdef void look(self, Py_ssize_t piece, const double* x) noexcept nogil:
        """The bodies of a piece move as velocities x of the trees say: `rate` tells of that."""

    cdef double rate(self, Py_ssize_t own) noexcept nogil:
        """After look: J x of a loop's row."""
        return 0.0

    cdef void push(self, Py_ssize_t own, double impulse) noexcept nogil:
        """An impulse of a loop's row, for the next `pass_on`."""

    cdef void pass_on(self, Py_ssize_t piece, double* x) noexcept nogil:
        """x += H^-1 J' impulse, of all that have been pushed with."""
