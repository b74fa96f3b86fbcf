"""Contacts that bear much for their size (wide/_blocks.pxd, effort_of) are solved again in each sweep, up to 128 times. What
is solved so often is few rows, which are solved by what they do to each other: with u = J qd of all of them, an impulse x of
row i changes

    u += A x e_i,    A = J H^-1 J',

and qd once, in the end (R. Featherstone, Rigid Body Dynamics Algorithms, 2008, section 8.5). Order and local solves are
those of the sweeps over qd, so the impulses are the same but for rounding. A is made of the rows of one tree, where that
takes fewer products than to go over its velocities; a row on two trees is in both of their matrices. A block is passed by
if it has changed velocities by less than may be left undone and nothing has changed more of its trees since, and a sweep ends
with a round that changes no more. What may be left undone is what World's further sweeps may leave (settle_speed of
wide/_blocks.pxd), by all of a block's rounds together.

Per pose:    fit(...)    -> GROW where there is no room
Per pass:    begin(...)
Per sweep:   sweep(...), after the one over all rows
"""

from libc.math cimport ceil, fabs

import numpy as np

from mcsim.core._arrays cimport doubles, integers
from mcsim.core._dense cimport dot_many
from mcsim.core._types cimport GROW, OK
from mcsim.solve._blocks cimport MAX_BLOCK, block_step, row_residual
from mcsim.solve._generalized cimport Reach, rubs


cdef class LadenRows:
    """generalized: the rows, over as many velocities. Only reserve() allocates."""

    def __init__(self, GeneralizedRows generalized not None, Py_ssize_t velocities):
        self.generalized = generalized
        at = np.full(velocities + 1, -1, np.int32)
        trees = np.zeros((velocities + 1) * sizeof(LadenTree) // 8)
        self.kept_trees = at, trees
        self.tree_at, self.trees = integers(at), <LadenTree*>doubles(trees)
        self.reserve(0)

    def reserve(self, Py_ssize_t rows):
        """Room for so many rows, and for the matrices that the last ones asked for."""
        if self.matrix == NULL or self.wanted_room > self.room:
            self.room = self.wanted_room + self.wanted_room // 2 + 64
            self.kept_room = np.zeros(self.room)
            self.matrix = doubles(self.kept_room)
        if self.laden == NULL or rows > self.capacity:
            self.capacity = rows
            blocks, laden = np.zeros((rows + 1) * sizeof(LadenBlock) // 8), np.zeros((rows + 1) * sizeof(LadenRow) // 8)
            numbers, rates = np.zeros(3 * rows + 1, np.int32), np.zeros(2 * rows + 1)
            self.kept = blocks, laden, numbers, rates
            self.blocks, self.laden = <LadenBlock*>doubles(blocks), <LadenRow*>doubles(laden)
            self.member, self.active, self.rate = integers(numbers), integers(numbers[2 * rows:]), doubles(rates)

    cdef int fit(self, const Row* rows, const int32_t* blocks, Py_ssize_t count) noexcept nogil:
        """Once the rows' reaches are there. -> OK or GROW"""
        cdef Py_ssize_t i, k, n
        self.row_count = self.tree_count = 0
        self.wanted_room = 0
        for i in range(count):
            self.list_rows(rows, blocks[i], rows[blocks[i]].block, 0.0)
        for k in range(self.tree_count):
            n = min(self.trees[k].count, 2 * self.trees[k].size)     # a pass may have fewer of its rows than there are
            self.wanted_room += n * n
        self.forget_trees()
        return OK if self.wanted_room <= self.room else GROW

    cdef void list_rows(self, const Row* rows, Py_ssize_t first, int count, double again) noexcept nogil:
        """Rows of a block that is solved so many times more."""
        cdef const Reach* reach
        cdef LadenRow* laden
        cdef LadenTree* tree
        cdef int r, side
        for r in range(count):
            laden = &self.laden[self.row_count]
            self.row_count += 1
            laden.row = <int32_t>(first + r)
            for side in range(2):
                reach = &self.generalized.reaches[2 * (first + r) + side]
                laden.tree[side] = -1
                if reach.count == 0:
                    continue
                if self.tree_at[reach.first] < 0:
                    self.tree_at[reach.first] = <int32_t>self.tree_count
                    tree = &self.trees[self.tree_count]
                    self.tree_count += 1
                    tree.first, tree.size, tree.count, tree.stamp = reach.first, reach.count, 0, 0
                    tree.length = tree.work = tree.solves = 0.0
                laden.tree[side] = self.tree_at[reach.first]
                tree = &self.trees[laden.tree[side]]
                laden.place[side] = tree.count
                tree.count += 1
                tree.length += reach.span[1] - reach.span[0]
                tree.work += again * (reach.span[1] - reach.span[0] + reach.count)
                tree.solves += again

    cdef void forget_trees(self) noexcept nogil:
        cdef Py_ssize_t k
        for k in range(self.tree_count):
            self.tree_at[self.trees[k].first] = -1

    cdef void begin(self, const Row* rows, const int32_t* blocks, Py_ssize_t count, const double* efforts,
                    const double* undone, bint rub, int sweeps) noexcept nogil:
        """A pass of so many sweeps over these blocks of rows, over contacts' friction only if `rub`; efforts by the rows'
        sources."""
        cdef LadenBlock* block
        cdef LadenTree* tree
        cdef LadenRow* laden
        cdef const Row* row
        cdef Py_ssize_t i, k, used = 0
        cdef int side
        cdef int32_t begin = 0
        self.block_count = self.row_count = self.tree_count = 0
        self.rounds = 1
        for i in range(count):
            row = &rows[blocks[i]]
            if rubs(row) and not rub:
                continue
            block = &self.blocks[self.block_count]
            self.block_count += 1
            block.row, block.begin = blocks[i], <int32_t>self.row_count
            block.effort = efforts[row.source]
            block.undone = undone[row.source] / block.effort
            self.rounds = max(self.rounds, <int>ceil(block.effort))
            self.list_rows(rows, blocks[i], row.block, ceil(block.effort) - 1.0)
            block.tree[0] = block.tree[1] = -1
            for k in range(block.begin, self.row_count):
                for side in range(2):
                    block.tree[side] = max(block.tree[side], self.laden[k].tree[side])
        for k in range(self.tree_count):
            tree = &self.trees[k]
            tree.begin = begin
            begin += tree.count
            tree.matrix = used
            tree.square = tree.count < 2 * tree.size and (
                sweeps * (tree.work - tree.solves * tree.count) > 0.5 * tree.length * tree.count)
            if tree.square:
                used += tree.count * tree.count
        self.forget_trees()
        for i in range(self.row_count):
            laden = &self.laden[i]
            for side in range(2):
                if laden.tree[side] >= 0:
                    self.member[self.trees[laden.tree[side]].begin + laden.place[side]] = <int32_t>(2 * i + side)
        for k in range(self.tree_count):
            if self.trees[k].square:
                self.fill(&self.trees[k])

    cdef void fill(self, const LadenTree* tree) noexcept nogil:
        """J H^-1 J' of a tree's rows."""
        cdef const Reach* reaches = self.generalized.reaches
        cdef double* a = self.matrix + tree.matrix
        cdef const int32_t* member = self.member + tree.begin
        cdef const Reach* x
        cdef const Reach* y
        cdef Py_ssize_t i, k, n = tree.count
        for i in range(n):
            x = &reaches[2 * self.laden[member[i] >> 1].row + (member[i] & 1)]
            for k in range(i + 1):
                y = &reaches[2 * self.laden[member[k] >> 1].row + (member[k] & 1)]
                a[i * n + k] = a[k * n + i] = dot_many(
                    self.generalized.jacobian + x.begin + x.span[0], self.generalized.response + y.begin + x.span[0],
                    x.span[1] - x.span[0])

    cdef double sweep(self, Row* rows, double* velocity, int relaxed) noexcept nogil:
        """Each block as many times more as its effort asks for, of trees that the sweep has stirred. -> the largest correction
        [m/s, rad/s]"""
        cdef const LadenTree* tree
        cdef LadenRow* laden
        cdef LadenBlock* block
        cdef double largest = 0.0
        cdef int64_t before
        cdef Py_ssize_t i, k, n = 0, left = 0
        cdef int side, again
        for k in range(self.tree_count):
            left += self.generalized.stirred[self.trees[k].first]
        if left == 0:
            return 0.0
        for k in range(self.tree_count):
            tree = &self.trees[k]
            for i in range(tree.begin, tree.begin + tree.count if tree.square else 0):
                self.rate[i] = self.generalized.side_rate(self.laden[self.member[i] >> 1].row, self.member[i] & 1, velocity)
        for i in range(self.row_count):
            self.laden[i].total = 0.0
        for i in range(self.block_count):
            block = &self.blocks[i]
            block.seen = -1 if self.is_stirred(block) else self.stamp(block)
            self.active[i] = <int32_t>i
        left = self.block_count
        for again in range(1, self.rounds):
            n = 0
            before = self.changes
            for i in range(left):
                block = &self.blocks[self.active[i]]
                if block.effort > again:
                    self.active[n] = self.active[i]
                    n += 1
                    largest = max(largest, self.solve(rows, block, velocity, relaxed))
            left = n
            if self.changes == before:
                break
        for i in range(self.row_count):
            laden = &self.laden[i]
            for side in range(2 if laden.total != 0.0 else 0):
                if laden.tree[side] >= 0 and self.trees[laden.tree[side]].square:
                    self.generalized.apply_side(laden.row, side, laden.total, velocity)
        return largest

    cdef bint is_stirred(self, const LadenBlock* block) noexcept nogil:
        cdef int side
        for side in range(2):
            if block.tree[side] >= 0 and self.generalized.stirred[self.trees[block.tree[side]].first]:
                return True
        return False

    cdef int64_t stamp(self, const LadenBlock* block) noexcept nogil:
        """Of the trees that a block reaches."""
        cdef int64_t found = self.trees[block.tree[0]].stamp if block.tree[0] >= 0 else 0
        return found + self.trees[block.tree[1]].stamp if block.tree[1] >= 0 else found

    cdef double solve(self, Row* rows, LadenBlock* block, double* velocity, int relaxed) noexcept nogil:
        """-> the largest correction"""
        cdef double w[MAX_BLOCK]
        cdef double delta[MAX_BLOCK]
        cdef Row* row = &rows[block.row]
        cdef LadenRow* laden = &self.laden[block.begin]
        cdef const LadenTree* tree
        cdef int64_t stamp = self.stamp(block)
        cdef double largest = 0.0
        cdef double rate
        cdef int r, side, m = row.block
        if stamp == block.seen:
            return 0.0
        for r in range(m):
            rate = 0.0
            for side in range(2):
                if laden[r].tree[side] >= 0:
                    tree = &self.trees[laden[r].tree[side]]
                    rate += (self.rate[tree.begin + laden[r].place[side]] if tree.square
                             else self.generalized.side_rate(block.row + r, side, velocity))
            w[r] = row_residual(&row[r], rate, relaxed)
        block_step(rows, row, NULL, relaxed, w, delta)
        for r in range(m):
            if delta[r] != 0.0:
                self.act(&laden[r], delta[r], velocity)
                largest = max(largest, fabs(delta[r]) * (row[r].diagonal + row[r].compliance[relaxed]))
        if largest > block.undone:
            block.seen = -1
            self.changes += 1
            for side in range(2):
                if block.tree[side] >= 0:
                    self.trees[block.tree[side]].stamp += 1
                    self.generalized.stirred[self.trees[block.tree[side]].first] = 1
        else:
            block.seen = stamp
        return largest

    cdef void act(self, LadenRow* laden, double impulse, double* velocity) noexcept nogil:
        cdef LadenTree* tree
        cdef const double* a
        cdef double* rate
        cdef Py_ssize_t k
        cdef int side
        laden.total += impulse
        for side in range(2):
            if laden.tree[side] < 0:
                continue
            tree = &self.trees[laden.tree[side]]
            if tree.square:
                a = self.matrix + tree.matrix + laden.place[side] * tree.count
                rate = self.rate + tree.begin
                for k in range(tree.count):
                    rate[k] += a[k] * impulse
            else:
                self.generalized.apply_side(laden.row, side, impulse, velocity)
