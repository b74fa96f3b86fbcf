"""The joints of all articulations solved directly: a sparse block LDL' of

    S = [ J M^-1 J'   J_h ]     joints: rows of all joints, over the bodies with few joints, eliminated beforehand
        [ J_h'       -M_h ]     hubs: bodies with many joints stay, so that a star does not become dense

S is symmetric quasi-definite: every order of elimination has a factor (R. Vanderbei, "Symmetric quasidefinite
matrices", 1995). With the order of `ordering.py` a tree has no fill, so time and memory are linear in the number of
joints (D. Baraff, "Linear-time dynamics using Lagrange multipliers", 1996). By block columns, left-looking:

    S_ij <- S_ij - sum_k S_ik L_jk'     over the columns k < j with both blocks;     D_j = S_jj,   L_ij = S_ij D_j^-1

With loops there is fill: those are factored by dense fronts (`_fronts.pyx`). A loop may make rows redundant: there the
diagonal is shifted by a small part of itself, which makes each solve one proximal step; repeated against the true
residual J v + bias it converges to a solution of the constraints, not of softened ones.
Articulations stand one after the other in every array, and each is taken by itself: no number of one depends on another.
A pivot below 1e-12 of its diagonal is skipped: such a row moves nothing that the rows before it have not settled.
Where little of a diagonal is left, since bodies carry what is far heavier, the same system is eliminated body by body
(`_articulated_bodies.pyx`).

Blocks are small; those of 3 x 3 and 5 x 5 (ball, hinge) are unrolled by the compiler, which sees their size as a
constant.
"""

from libc.math cimport fabs
from libc.string cimport memcpy
import numpy as np

from mcsim.core._arrays cimport doubles, integers, long_integers, records
from mcsim.core._math cimport mat_vec
from mcsim.core._types cimport Mat3
from mcsim.state._rows cimport row_diagonal, row_rate, rows_way

from mcsim.solve._articulated_bodies cimport ArticulatedBodies
from mcsim.solve._fronts cimport Fronts
from mcsim.solve._tree_blocks cimport (DOUBTFUL, backward_node, couple, diagonal_block, forward_node, hub_block,
                                       hub_jacobian, invert_block, push_joint, SIDE_A, SIDE_B, subtract_product,
                                       times_symmetric, times_triple)
from mcsim.wide._direct_balls cimport BallKernels, DirectBalls
from mcsim.wide._batches cimport Batches

from mcsim.core.arrays import aligned
from mcsim.wide._direct_balls import coupled
from mcsim.solve.components import branches, connected, count_loops
from mcsim.solve.ordering import node_records, plan

# Where of a diagonal less than this is left, too little of its sixteen digits may be.
LEAST_PART = DOUBTFUL

# ---- the system ------------------------------------------------------------------------------------------------------

cdef class JointTree:
    """bodies: (joints, 2) int, -1 the world; sizes: (joints,) bilateral rows of each, 0 to 6; moves: (bodies,) bool,
    which are dynamic; group: (bodies + 1,) the articulation of each body, as of `connected`, that of others and, last,
    the world -1; tied: (joints,) bool, which are in the tree, if others than those with rows: what ties bodies by bounded
    rows alone is a node of no size. The symbolic part is made here, once; factor and solve follow the rows."""

    def __init__(self, bodies, sizes, moves, group, tied=None):
        bodies, sizes = np.asarray(bodies, np.int64).reshape(-1, 2), np.asarray(sizes, np.int64)
        own = np.flatnonzero(sizes > 0 if tied is None else tied)
        found = plan(bodies, sizes, np.asarray(moves, bool), group, tied)
        self.node_count = len(found.joint)
        self.joint = found.joint
        self.group = found.group
        loops = np.zeros(len(sizes) + 1, np.int32)                     # the last is of hubs
        loops[own] = count_loops(bodies[own], np.asarray(moves, bool))
        self.node_loops = loops[np.maximum(found.joint, -1)]
        self.loops = found.fronts is not None
        self.fronts = Fronts(found) if self.loops else None
        self.work = found.work
        self.row_count = int(np.sum(sizes))
        begin = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32)
        nodes, entries, reached = node_records(found, bodies, begin)
        rows = np.zeros((self.row_count, sizeof(JointRow) // 8))
        numbers = np.zeros((5, self.row_count))
        values, scaled = np.zeros((2, found.value_count + 1))          # a line is read with the number behind it
        vector, slot = aligned(8 * (found.length + 4)), np.zeros(self.node_count, np.int64)
        awake, run = np.arange(len(sizes) + 1, dtype=np.int32), np.zeros(2 * len(sizes) + 4, np.int32)
        order, alone = np.arange(self.node_count + 1, dtype=np.int32), awake.copy()
        run[1] = self.row_count
        self.kept = (begin, nodes, entries, reached, rows, numbers, values, scaled, vector, slot, awake, run, alone, order)
        if group is None:
            group = connected(bodies[own], np.asarray(moves, bool))
        jointed = np.where(np.isin(np.arange(len(group)), bodies[own]), group, -1)
        self.branches, trees = branches(bodies[own], jointed, int(np.max(group, initial=-1)) + 1)
        node_of = np.full(len(sizes), -1)
        node_of[found.joint[found.joint >= 0]] = np.flatnonzero(found.joint >= 0)
        self.articulated = ArticulatedBodies(self.branches, own, sizes, begin[:-1], node_of)
        number, doubtful = np.append(found.group, 0).astype(np.int32), np.zeros(self.node_count + 1, np.int8)
        offset = np.append(nodes["offset"], 0)
        self.kept += (number, doubtful, offset, found.pieces, trees)
        self.number, self.by_bodies, self.offset = integers(number), <int8_t*>records(doubtful), long_integers(offset)
        self.rows.awake, self.rows.awake_count = integers(awake), len(sizes)
        self.rows.alone, self.rows.alone_count = integers(alone), len(sizes)
        self.rows.run, self.rows.run_count = integers(run), 1
        self.rows.joint_count = len(sizes)
        self.rows.count = self.row_count
        self.rows.begin = integers(begin)
        self.rows.row = <JointRow*>doubles(rows)
        self.rows.error, self.rows.rate = doubles(numbers[0]), doubles(numbers[1])
        self.rows.bias, self.rows.impulse = doubles(numbers[2]), doubles(numbers[3])
        self.rows.second = doubles(numbers[4])
        self.nodes = <Node*>records(nodes)
        self.entries = <Entry*>records(entries)
        self.reached = <Reached*>records(reached)
        self.values, self.scaled = doubles(values), doubles(scaled)
        self.vector, self.order = doubles(vector), integers(order)
        self.slot = long_integers(slot)

    def take_balls(self, articulations, plain, moves, anchors, push):
        """Plain ball joints are to be taken several at a time. articulations: ARTICULATION_DTYPE; plain: (joints,)
        bool; moves: (bodies,) bool, which are dynamic; anchors: (joints, 2, 3) joint points on a and b, in their own
        axes; push: (joints,) how fast they are closed at most [m/s]."""
        nodes, entries = self.kept[1], self.kept[2]
        count = len(articulations)
        plain = plain[np.maximum(nodes["joint"], 0)] & (nodes["joint"] >= 0) & (nodes["size"] == 3)
        if not plain.any():
            return
        mixed = np.unique(self.group[~plain])
        triples = np.setdiff1d(np.unique(self.group), np.union1d(mixed, np.flatnonzero(articulations["loops"])))
        articulations["triples"][triples] = 1
        self._take_triples(nodes, entries, np.isin(self.group, triples))
        of = np.maximum(nodes["joint"], 0)
        self.balls = DirectBalls(nodes, entries, plain, moves, anchors[of], push[of], self.group)
        column = np.repeat(np.arange(len(nodes)), nodes["entry_end"] - nodes["entry_begin"])
        whole = plain.copy()
        whole[np.delete(column, coupled(nodes, entries, plain)[0])] = False
        lists = [np.append(np.flatnonzero(~of), 0).astype(np.int32) for of in (plain, whole)]
        self.kept += tuple(lists)
        self.others, self.columns = integers(lists[0]), integers(lists[1])
        numbers = np.arange(count)
        for name, chosen in (("other", ~plain), ("column", ~whole)):
            for field, side in ((name, "left"), (name + "_end", "right")):
                articulations[field] = np.searchsorted(self.group[chosen], numbers, side)
        for name, begin in self.balls.begin.items():
            ends = np.append(begin, np.full(count + 1, begin[-1]))
            articulations[name], articulations[name + "_end"] = ends[:count], ends[1:count + 1]

    def take_batches(self, Batches batches not None):
        """Room for their numbers behind the others."""
        self.batches = batches
        self.own_numbers = (self.row_count + 7) // 8 * 8
        numbers = [aligned(8 * (self.own_numbers + batches.number_count)) for _ in range(5)]
        self.kept += (numbers,)
        self.rows.error, self.rows.rate = doubles(numbers[0]), doubles(numbers[1])
        self.rows.bias, self.rows.impulse = doubles(numbers[2]), doubles(numbers[3])
        self.rows.second = doubles(numbers[4])

    def _take_triples(self, nodes, entries, chosen):
        """Where every node of an articulation has three rows, four numbers a node, behind those of the others."""
        cdef Py_ssize_t first = (self.kept[8].shape[0] + 3) // 4 * 4
        nodes["offset"] = np.where(chosen, first + 4 * np.arange(len(nodes)), nodes["offset"])
        begin = np.append(nodes["entry_begin"], len(entries)).astype(np.int32)
        target = np.append(entries["node"], 0).astype(np.int32)
        vector, turned = aligned(8 * (first + 4 * len(nodes))), aligned(96 * (len(entries) + 1))
        offset = np.append(nodes["offset"], 0)
        self.kept += (begin, target, vector, turned, offset)
        self.offset = long_integers(offset)
        self.begin_target, self.target = integers(begin), integers(target)
        self.vector, self.turned = doubles(vector), doubles(turned)
        self.triple_vector = self.vector + first

    # ---- the factor ------------------------------------------------------------------------------------------------------

    cdef void assemble(self, const Articulation* a, const Bodies* bodies) noexcept nogil:
        """S, and I^-1 J' of the rows."""
        cdef const BallKernels* kernels
        cdef Py_ssize_t k
        if self.lanes:
            kernels = self.balls.kernels
            kernels.assemble(self.balls.block(a.ball), a.ball_end - a.ball, bodies, &self.rows, self.values)
            kernels.couple(self.balls.couple(a.couple), a.couple_end - a.couple, bodies, &self.rows, self.values)
        self.weigh_rows(a, bodies)
        for k in range(a.column if self.lanes else a.node, a.column_end if self.lanes else a.node_end):
            self.assemble_column(&self.nodes[self.columns[k] if self.lanes else k], bodies)

    cdef void weigh_rows(self, const Articulation* a, const Bodies* bodies) noexcept nogil:
        """I^-1 J' of the rows."""
        cdef const Node* node
        cdef JointRow* row
        cdef Py_ssize_t k
        cdef int p
        for k in range(a.other if self.lanes else a.node, a.other_end if self.lanes else a.node_end):
            node = &self.nodes[self.others[k] if self.lanes else k]
            for p in range(row_count_of(node)):
                row = self.rows.row + node.row + p
                row.spin_a = mat_vec(bodies.inv_inertia_world[node.body_a], row.angular_a)
                row.spin_b = mat_vec(bodies.inv_inertia_world[node.body_b], row.angular_b)

    cdef void assemble_column(self, const Node* node, const Bodies* bodies) noexcept nogil:
        """Diagonal block and entries of a column of S."""
        cdef int64_t e
        cdef double* d = self.values + node.diagonal
        cdef const JointRow* own = self.rows.row + node.row
        cdef double mass_a, mass_b
        if node.joint < 0:
            hub_block(bodies, -1 - node.joint, d)
        else:
            mass_a = bodies.inv_mass[node.body_a] if node.sides & SIDE_A else 0.0
            mass_b = bodies.inv_mass[node.body_b] if node.sides & SIDE_B else 0.0
            if node.size == 3:
                diagonal_block(d, own, 3, mass_a, mass_b, node.sides)
            elif node.size == 5:
                diagonal_block(d, own, 5, mass_a, mass_b, node.sides)
            else:
                diagonal_block(d, own, node.size, mass_a, mass_b, node.sides)
        for e in range(node.entry_begin, node.entry_end):
            self.assemble_entry(node, &self.entries[e], bodies)

    cdef void assemble_entry(self, const Node* column, const Entry* entry, const Bodies* bodies) noexcept nogil:
        """A block below the diagonal."""
        cdef const Node* node = &self.nodes[entry.node]
        cdef int n = node.size
        cdef int m = column.size
        cdef int p, q
        cdef double* block = self.values + entry.value
        cdef const JointRow* own = self.rows.row + column.row
        cdef const JointRow* other = self.rows.row + node.row
        if node.joint >= 0 and column.joint >= 0:
            for p in range(n * m):
                block[p] = 0.0
            if n == 3 and m == 3:
                couple(block, other, 3, own, 3, column, entry.code, bodies)
            elif n == 5 and m == 5:
                couple(block, other, 5, own, 5, column, entry.code, bodies)
            else:
                couple(block, other, n, own, m, column, entry.code, bodies)
            return
        for p in range(n):
            for q in range(m):
                if entry.code == 0:
                    block[p * m + q] = 0.0
                elif node.joint < 0:
                    block[p * m + q] = hub_jacobian(own + q, entry.code, p)
                else:
                    block[p * m + q] = hub_jacobian(other + p, entry.code, q)

    cdef void eliminate_into(self, Py_ssize_t j) noexcept nogil:
        """Subtract from column j what the columns before it that reach its row leave there."""
        cdef const Node* node = &self.nodes[j]
        cdef int m = node.size
        cdef int n, w
        cdef int64_t r, e, entry
        cdef const Node* k
        cdef const double* l
        cdef const double* x
        cdef double* out
        if node.row_begin == node.row_end:
            return
        for e in range(node.entry_begin, node.entry_end):
            self.slot[self.entries[e].node] = self.entries[e].value
        self.slot[j] = node.diagonal
        for r in range(node.row_begin, node.row_end):
            k = &self.nodes[self.reached[r].node]
            entry = self.reached[r].entry
            w = k.size
            l = self.scaled + self.entries[entry].value
            for e in range(entry, k.entry_end):
                n = self.nodes[self.entries[e].node].size
                x = self.values + self.entries[e].value
                out = self.values + self.slot[self.entries[e].node]
                if n == 3 and m == 3 and w == 3:
                    subtract_product(out, x, l, 3, 3, 3)
                elif n == 5 and m == 5 and w == 5:
                    subtract_product(out, x, l, 5, 5, 5)
                else:
                    subtract_product(out, x, l, n, m, w)

    cdef void factor(self, const Articulation* a, const Bodies* bodies, double proximal,
                     const Mat3* inertia) noexcept nogil:
        """S of an articulation at the rows' present Jacobians and the bodies' present `inv_inertia_world`, block by block;
        diagonal blocks are kept inverted. proximal: the part of its diagonal that is added to it where there are loops;
        inertia: of each body, of which that is the inverse; NULL: its own.
        """
        cdef Py_ssize_t k
        cdef bint doubtful = False
        self.factors += 1
        self.assemble(a, bodies)
        if a.loops:
            for k in range(a.node, a.node_end):
                self.shift(&self.nodes[k], bodies, proximal)
            self.fronts.factor(self.values, a.node, a.node_end)
            return
        for k in range(a.node, a.node_end):
            doubtful = self.eliminate(k, bodies, a.triples) or doubtful
        if a.node < a.node_end:
            self.by_bodies[a.node] = doubtful
        if doubtful:
            self.articulated.factor(self.number[a.node], self.rows.row, bodies, inertia)

    cdef bint is_doubtful(self, const Articulation* a) noexcept nogil:
        """Whether solves are to be repeated against the true residual."""
        return a.loops > 0 or (a.node < a.node_end and self.by_bodies[a.node])

    cdef void find_scale(self, const Node* node, const Bodies* bodies, double* scale) noexcept nogil:
        """(size,) the diagonal of a node's block; that of a joint lacks the hubs until they are added here."""
        cdef const double* d = self.values + node.diagonal
        cdef int p
        for p in range(node.size):
            scale[p] = fabs(d[p * node.size + p]) if node.joint < 0 or node.sides == SIDE_A + SIDE_B else row_diagonal(
                &self.rows.row[node.row + p], bodies.inv_mass[node.body_a], bodies.inv_mass[node.body_b])

    cdef void shift(self, const Node* node, const Bodies* bodies, double proximal) noexcept nogil:
        cdef double* d = self.values + node.diagonal
        cdef double* scale = self.fronts.scale + node.offset
        cdef int p
        self.find_scale(node, bodies, scale)
        for p in range(node.size):
            d[p * node.size + p] += proximal * node.shift * scale[p]

    cdef bint eliminate(self, Py_ssize_t j, const Bodies* bodies, bint triples) noexcept nogil:
        """An assembled column. -> whether little is left of its diagonal"""
        cdef const Node* node = &self.nodes[j]
        cdef int m = node.size
        cdef double* d = self.values + node.diagonal
        cdef double scale[6]
        cdef const Entry* entry
        cdef int64_t e
        cdef int n
        cdef bint doubtful
        self.find_scale(node, bodies, scale)
        self.eliminate_into(j)
        if m == 3:
            doubtful = invert_block(d, 3, scale)
        elif m == 5:
            doubtful = invert_block(d, 5, scale)
        else:
            doubtful = invert_block(d, m, scale)
        for e in range(node.entry_begin, node.entry_end):
            entry = &self.entries[e]
            n = self.nodes[entry.node].size
            if triples:
                times_triple(self.scaled + entry.value, self.turned + 12 * e, self.values + entry.value, d)
            elif n == 3 and m == 3:
                times_symmetric(self.scaled + entry.value, self.values + entry.value, d, 3, 3)
            elif n == 5 and m == 5:
                times_symmetric(self.scaled + entry.value, self.values + entry.value, d, 5, 5)
            else:
                times_symmetric(self.scaled + entry.value, self.values + entry.value, d, n, m)
        return doubtful

    # ---- solves ----------------------------------------------------------------------------------------------------------

    cdef void substitute(self, const Articulation* a) noexcept nogil:
        """vector <- S^-1 vector"""
        cdef double* x = self.vector
        cdef const Node* nodes = self.nodes
        cdef const Entry* entries = self.entries
        cdef const double* scaled = self.scaled
        cdef const double* inverse
        cdef int64_t first
        cdef Py_ssize_t k
        if a.loops:
            self.fronts.solve(x, a.node, a.node_end)
            return
        if a.triples:                                    # whose blocks of nine numbers stand one behind the other
            first = nodes[a.node].entry_begin
            if first < nodes[a.node_end - 1].entry_end:
                scaled += entries[first].value - 9 * first
            self.balls.kernels.substitute(self.order + a.node, self.begin_target, self.target, a.node_end - a.node,
                                          self.turned, scaled, self.values + nodes[a.node].diagonal - 9 * a.node,
                                          self.triple_vector)
            return
        for k in range(a.node, a.node_end):
            if nodes[k].size == 3:
                forward_node(x, &nodes[k], 3, nodes, entries, scaled)
            elif nodes[k].size == 5:
                forward_node(x, &nodes[k], 5, nodes, entries, scaled)
            else:
                forward_node(x, &nodes[k], nodes[k].size, nodes, entries, scaled)
        for k in range(a.node_end - 1, a.node - 1, -1):
            inverse = self.values + nodes[k].diagonal
            if nodes[k].size == 3:
                backward_node(x, &nodes[k], 3, nodes, entries, scaled, inverse)
            elif nodes[k].size == 5:
                backward_node(x, &nodes[k], 5, nodes, entries, scaled, inverse)
            else:
                backward_node(x, &nodes[k], nodes[k].size, nodes, entries, scaled, inverse)

    cdef void add_solution(self, const Articulation* a, const Bodies* bodies, Twist* twist,
                           double* impulse) noexcept nogil:
        """impulse += vector, twist += M^-1 J' vector"""
        cdef const BallKernels* kernels
        cdef const Node* node
        cdef const double* x
        cdef Py_ssize_t k
        cdef int p
        for k in range(a.other if self.lanes else a.node, a.other_end if self.lanes else a.node_end):
            node = &self.nodes[self.others[k] if self.lanes else k]
            if node.joint < 0:
                continue
            x = self.vector + node.offset
            for p in range(node.size):
                impulse[node.row + p] += x[p]
            push_joint(self.rows.row + node.row, x, node.size, bodies.inv_mass[node.body_a],
                       bodies.inv_mass[node.body_b], twist + node.body_a, twist + node.body_b)
        if self.lanes:
            kernels = self.balls.kernels
            kernels.collect(self.balls.block(a.ball), a.ball_end - a.ball, self.vector, impulse)
            kernels.push(self.balls.pushes + a.push, a.push_end - a.push, self.balls.slots, bodies, twist, self.vector,
                         False, self.balls.arms)

    cdef void push(self, const Articulation* a, const Bodies* bodies, Twist* twist, const double* impulse) noexcept nogil:
        """twist += M^-1 J' impulse"""
        cdef const BallKernels* kernels
        cdef const Node* node
        cdef Py_ssize_t k
        for k in range(a.other if self.lanes else a.node, a.other_end if self.lanes else a.node_end):
            node = &self.nodes[self.others[k] if self.lanes else k]
            if node.joint >= 0:
                push_joint(self.rows.row + node.row, impulse + node.row, node.size,
                           bodies.inv_mass[node.body_a], bodies.inv_mass[node.body_b], twist + node.body_a,
                           twist + node.body_b)
        if self.lanes:
            kernels = self.balls.kernels
            kernels.push(self.balls.pushes + a.push, a.push_end - a.push, self.balls.slots, bodies, twist, impulse, True,
                         self.balls.arms)

    cdef double find_rates(self, const Articulation* a, const Twist* twist, const double* bias,
                           const Joint* joints) noexcept nogil:
        """vector <- -(J v + bias), the right side of a solve. bias: (row_count,). -> the largest, of an angle as a way
        [m/s]"""
        cdef const BallKernels* kernels
        cdef const Node* node
        cdef double* x
        cdef double largest = 0.0
        cdef double s
        cdef Py_ssize_t k
        cdef int p
        if self.lanes:
            kernels = self.balls.kernels
            largest = kernels.residual(self.balls.block(a.ball), a.ball_end - a.ball, twist, bias, self.vector)
        for k in range(a.other if self.lanes else a.node, a.other_end if self.lanes else a.node_end):
            node = &self.nodes[self.others[k] if self.lanes else k]
            x = self.vector + node.offset
            for p in range(node.size):
                x[p] = 0.0
                if node.joint >= 0:
                    s = row_rate(self.rows.row + node.row + p, twist + node.body_a, twist + node.body_b)
                    s += bias[node.row + p]
                    x[p] = -s
            if node.joint >= 0:
                largest = max(largest, rows_way(&joints[node.joint], self.rows.row + node.row, x, node.size))
        return largest

    cdef void take_rates(self, const Articulation* a, const double* residual) noexcept nogil:
        """The same where J v + bias is known: residual (row_count,)."""
        cdef const Node* node
        cdef Py_ssize_t k
        cdef int p
        if self.lanes:
            self.balls.kernels.aim(self.balls.block(a.ball), a.ball_end - a.ball, residual, self.vector)
        for k in range(a.other if self.lanes else a.node, a.other_end if self.lanes else a.node_end):
            node = &self.nodes[self.others[k] if self.lanes else k]
            for p in range(node.size):
                self.vector[node.offset + p] = -residual[node.row + p] if node.joint >= 0 else 0.0

    cdef void finish(self, const Articulation* a, const Bodies* bodies, Twist* twist, double* impulse) noexcept nogil:
        """One solve, for the right side that is in `vector`."""
        if not a.loops and self.is_doubtful(a):
            self.articulated.solve(self.number[a.node], self.rows.row, self.offset, self.vector, twist, impulse)
            return
        self.substitute(a)
        self.add_solution(a, bodies, twist, impulse)

    # ---- numbers of an articulation's rows -------------------------------------------------------------------------------

    cdef void scale_rows(self, const Articulation* a, double factor, double* x) noexcept nogil:
        """x *= factor; by 0 whatever it was."""
        cdef const Node* node
        cdef Py_ssize_t k
        cdef int i
        for k in range(a.node, a.node_end):
            node = &self.nodes[k]
            for i in range(node.row, node.row + row_count_of(node)):
                x[i] = factor * x[i] if factor != 0.0 else 0.0

    cdef void add_rows(self, const Articulation* a, const double* x, double* to) noexcept nogil:
        cdef const Node* node
        cdef Py_ssize_t k
        cdef int i
        for k in range(a.node, a.node_end):
            node = &self.nodes[k]
            for i in range(node.row, node.row + row_count_of(node)):
                to[i] += x[i]

    cdef void copy_rows(self, const Articulation* a, const double* x, double* to) noexcept nogil:
        cdef const Node* node
        cdef Py_ssize_t k
        for k in range(a.node, a.node_end):
            node = &self.nodes[k]
            if node.joint >= 0:
                memcpy(to + node.row, x + node.row, node.size * sizeof(double))
