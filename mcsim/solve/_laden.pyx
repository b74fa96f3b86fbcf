"""Contacts that bear much for their size (wide/_blocks.pxd, effort_of) are solved again in each sweep, up to 128
times. What is solved so often is few rows, which are solved by what they do to each other: with u = J qd of all of
them, an impulse x of row i changes

    u += A x e_i,    A = J H^-1 J',

and qd once, in the end (R. Featherstone, Rigid Body Dynamics Algorithms, 2008, section 8.5). Order and local solves are
those of the sweeps over qd, so the impulses are the same but for rounding. A is made of the rows of one tree, where that
takes fewer products than to go over its velocities; a row on two trees is in both of their matrices. A block is passed by
if it has changed velocities by less than may be left undone and nothing has changed more of its trees since. Friction has
its bound from impulses, not from velocities: it is solved after its normals whenever one of them has changed. Trees that
blocks tie to each other are a group, of which the others know nothing; a sweep over one ends with a round that changes no
more. What may be left undone is what World's further sweeps may leave (settle_speed of
wide/_blocks.pxd), by all of a block's rounds together. Rows that contradict each other are not driven on and on: once they
have given a tree the kinetic energy that it may get in the pass, an impulse x of a normal's row x (u_i + x A_ii / 2), its
blocks are solved no more.

Per pose:    fit(...)    -> GROW where there is no room
Per pass:    begin(...)
Per sweep:   sweep(...), after the one over all rows
"""

from libc.math cimport INFINITY, ceil, fabs

import numpy as np

from mcsim.core._arrays cimport doubles, integers
from mcsim.core._dense cimport dot_many
from mcsim.core._types cimport GROW, OK
from mcsim.solve._blocks cimport MAX_BLOCK, block_step, contact_change, row_residual
from mcsim.solve._generalized cimport Reach, reach_act, reach_rate
from mcsim.solve._generalized_sweeps cimport rubs
from mcsim.solve._points cimport KEPT, block_size, points_step
from mcsim.state._manifold cimport MANIFOLD_POINTS
from mcsim.state._row cimport ROW_NORMAL


cdef inline int64_t stamp(const LadenTree* trees, const int32_t* tree) noexcept nogil:
    """Of the two trees that a block reaches, -1: none."""
    cdef int64_t found = trees[tree[0]].stamp if tree[0] >= 0 else 0
    return found + trees[tree[1]].stamp if tree[1] >= 0 else found


cdef inline bint is_stirred(const LadenTree* trees, const int32_t* stirred, const int32_t* tree) noexcept nogil:
    return (tree[0] >= 0 and stirred[trees[tree[0]].first]) or (tree[1] >= 0 and stirred[trees[tree[1]].first])


cdef inline bint is_spent(const LadenTree* trees, const LadenBlock* block) noexcept nogil:
    """Whether one of its trees has got what it may."""
    return (block.tree[0] >= 0 and trees[block.tree[0]].left < 0.0) or (
        block.tree[1] >= 0 and trees[block.tree[1]].left < 0.0)


cdef inline double side_rate(const LadenTree* trees, const LadenRow* laden, int side, const double* rates,
                             const Reach* reaches, const double* jacobian, const double* velocity) noexcept nogil:
    """J qd of a side that moves something."""
    cdef const LadenTree* tree = &trees[laden.tree[side]]
    if tree.square:
        return rates[tree.begin + laden.place[side]]
    return reach_rate(&reaches[2 * laden.row + side], jacobian, velocity)


cdef class LadenRows:
    """sweeps: over all rows, of as many velocities. Only reserve() allocates."""

    def __init__(self, GeneralizedSweeps sweeps not None, Py_ssize_t velocities):
        self.generalized, self.sweeps = sweeps.generalized, sweeps
        at = np.full(velocities + 1, -1, np.int32)
        trees = np.zeros((velocities + 1) * sizeof(LadenTree) // 8)
        self.kept_trees = at, trees
        self.tree_at, self.trees = integers(at), <LadenTree*>doubles(trees)
        self.reserve(0)

    def reserve(self, Py_ssize_t rows):
        """Room for so many rows, and for the matrices that the last ones asked for."""
        if self.matrix == NULL or self.wanted_room > self.room:
            self.kept_room = np.zeros(self.wanted_room + self.wanted_room // 2 + 64)
            self.matrix, self.room = doubles(self.kept_room), len(self.kept_room)
        if self.laden == NULL or rows > self.capacity:
            blocks, laden = np.zeros((rows + 1) * sizeof(LadenBlock) // 8), np.zeros((rows + 1) * sizeof(LadenRow) // 8)
            runs = np.zeros((rows + 1) * sizeof(LadenRun) // 8)
            numbers, rates = np.zeros(3 * rows + 1, np.int32), np.zeros(2 * rows + 1)
            self.kept = blocks, laden, runs, numbers, rates
            self.runs = <LadenRun*>doubles(runs)
            self.blocks, self.laden = <LadenBlock*>doubles(blocks), <LadenRow*>doubles(laden)
            self.member, self.order, self.rate = integers(numbers), integers(numbers[2 * rows:]), doubles(rates)
            self.capacity = rows

    cdef int fit(self, const Row* rows, Py_ssize_t end, const int32_t* blocks, Py_ssize_t count) noexcept nogil:
        """Once the rows' reaches are there. -> OK or GROW"""
        cdef Py_ssize_t i, k, n
        self.row_count = self.tree_count = 0
        self.wanted_room = 0
        for i in range(count):
            self.list_rows(rows, blocks[i], block_size(rows, blocks[i], end), 0.0)
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

    cdef void begin(self, const Row* rows, Py_ssize_t end, const int32_t* blocks, Py_ssize_t count, const Effort* efforts,
                    const double* undone, const double* at_most, bint rub, int sweeps) noexcept nogil:
        """A pass of so many sweeps over these blocks of rows [0, end), over contacts' friction only if `rub`; efforts
        by the rows' sources. at_most: (velocities,) by a tree's first, the kinetic energy that rows may give it,
        NULL: any."""
        cdef LadenBlock* block
        cdef LadenTree* tree
        cdef LadenRow* laden
        cdef const Row* row
        cdef Py_ssize_t i, k, used = 0
        cdef int side
        cdef int32_t begin = 0
        self.block_count = self.row_count = self.tree_count = 0
        for i in range(count):
            row = &rows[blocks[i]]
            if rubs(row) and not rub:
                continue
            block = &self.blocks[self.block_count]
            self.block_count += 1
            block.row, block.begin = blocks[i], <int32_t>self.row_count
            block.count = block_size(rows, blocks[i], end)
            block.effort = efforts[row.source].rounds
            block.undone = undone[row.source] / block.effort
            self.list_rows(rows, blocks[i], block.count, ceil(block.effort) - 1.0)
            block.tree[0] = block.tree[1] = -1
            for k in range(block.begin, self.row_count):
                for side in range(2):
                    block.tree[side] = max(block.tree[side], self.laden[k].tree[side])
        k = self.block_count
        for i in range(self.block_count - 1, -1, -1):
            block = &self.blocks[i]
            if i + 1 < self.block_count and rows[self.blocks[i + 1].row].source != rows[block.row].source:
                k = i + 1
            if rubs(&rows[block.row]):
                k = i
            block.rubbing = <int32_t>k
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
                    if rows[laden.row].kind == ROW_NORMAL:
                        laden.diagonal[side] = self.generalized.side_diagonal(laden.row, side)
        self.find_groups()
        for k in range(self.tree_count):
            self.trees[k].left = at_most[self.trees[k].first] if at_most != NULL else INFINITY
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

    cdef int32_t root(self, int32_t tree) noexcept nogil:
        while self.trees[tree].group != tree:
            tree = self.trees[tree].group
        return tree

    cdef void find_groups(self) noexcept nogil:
        """`order` and the runs in it. Blocks that move nothing are left out."""
        cdef LadenBlock* block
        cdef LadenTree* group
        cdef LadenRun* run = NULL
        cdef int32_t a, b
        cdef Py_ssize_t i, k, n = 0
        for k in range(self.tree_count):
            self.trees[k].group = <int32_t>k
            self.trees[k].end = 0
        for i in range(self.block_count):
            block = &self.blocks[i]
            if block.tree[0] >= 0 and block.tree[1] >= 0:
                a, b = self.root(block.tree[0]), self.root(block.tree[1])
                self.trees[max(a, b)].group = min(a, b)
        for k in range(self.tree_count):
            self.trees[k].group = self.root(<int32_t>k)
        for i in range(self.block_count):
            a = max(self.blocks[i].tree[0], self.blocks[i].tree[1])
            if a >= 0:
                self.trees[self.trees[a].group].end += 1
        for k in range(self.tree_count):
            i = self.trees[k].end
            self.trees[k].end = <int32_t>n               # grows as its blocks are listed
            n += i
        for i in range(self.block_count):
            a = max(self.blocks[i].tree[0], self.blocks[i].tree[1])
            if a >= 0:
                group = &self.trees[self.trees[a].group]
                self.order[group.end] = <int32_t>i
                group.end += 1
        self.run_count = 0
        for i in range(n):
            block = &self.blocks[self.order[i]]
            if run == NULL or block.tree[0] != run.tree[0] or block.tree[1] != run.tree[1]:
                run = &self.runs[self.run_count]
                self.run_count += 1
                run.tree[0], run.tree[1] = block.tree[0], block.tree[1]
                run.begin, run.effort = <int32_t>i, 0.0
            run.end, run.effort = <int32_t>(i + 1), max(run.effort, block.effort)

    cdef double sweep(self, Row* rows, double* velocity, int relaxed) noexcept nogil:
        """Each block as many times more as its effort asks for, of groups that the sweep has stirred. -> the largest
        correction [m/s, rad/s]"""
        cdef const LadenTree* tree
        cdef const LadenTree* group
        cdef LadenRow* laden
        cdef double largest = 0.0
        cdef Py_ssize_t i, k
        cdef int side
        for k in range(self.tree_count):
            self.trees[k].stirred = 0
        for k in range(self.tree_count):
            if self.generalized.stirred[self.trees[k].first]:
                self.trees[self.trees[k].group].stirred = 1
        for k in range(self.tree_count):
            tree = &self.trees[k]
            for i in range(tree.begin, tree.begin + tree.count if tree.square and self.trees[tree.group].stirred else 0):
                self.rate[i] = self.generalized.side_rate(self.laden[self.member[i] >> 1].row, self.member[i] & 1, velocity)
        for i in range(self.row_count):
            self.laden[i].total = 0.0
        i = 0
        while i < self.run_count:
            group = &self.trees[self.trees[max(self.runs[i].tree[0], self.runs[i].tree[1])].group]
            k = i
            while k < self.run_count and self.runs[k].begin < group.end:
                k += 1
            if group.stirred:
                largest = max(largest, self.sweep_group(rows, i, k, velocity, relaxed))
            i = k
        for i in range(self.row_count):
            laden = &self.laden[i]
            for side in range(2 if laden.total != 0.0 else 0):
                if laden.tree[side] >= 0 and self.trees[laden.tree[side]].square:
                    self.generalized.apply_side(laden.row, side, laden.total, velocity)
        return largest

    cdef double sweep_group(self, Row* rows, Py_ssize_t first, Py_ssize_t end, double* velocity,
                            int relaxed) noexcept nogil:
        """These runs. -> the largest correction"""
        cdef LadenBlock* block
        cdef LadenRun* run
        cdef double largest = 0.0
        cdef int64_t before = -1
        cdef int64_t seen
        cdef Py_ssize_t i, k
        cdef int again = 0
        cdef bint more = True
        for i in range(first, end):
            run = &self.runs[i]
            run.seen = stamp(self.trees, &run.tree[0])
            if is_stirred(self.trees, self.generalized.stirred, &run.tree[0]):
                run.seen = -1
            for k in range(run.begin, run.end):
                self.blocks[self.order[k]].seen = run.seen
        while more and self.changes != before:
            before = self.changes
            again += 1
            more = False
            for i in range(first, end):
                run = &self.runs[i]
                if not run.effort > again:
                    continue
                more = True
                if run.seen == stamp(self.trees, &run.tree[0]):
                    continue
                for k in range(run.begin, run.end):
                    block = &self.blocks[self.order[k]]
                    if block.effort > again and block.seen != stamp(self.trees, &run.tree[0]):
                        largest = max(largest, self.solve_normals(rows, block, velocity, relaxed) if (
                            rows[block.row].kind == ROW_NORMAL) else self.solve(rows, block, velocity, relaxed))
                seen = stamp(self.trees, &run.tree[0])
                run.seen = seen
                for k in range(run.begin, run.end):
                    block = &self.blocks[self.order[k]]
                    if block.effort > again and block.seen != seen:
                        run.seen = -1
                        break
        return largest

    cdef void note(self, LadenBlock* block, double change, int64_t seen) noexcept nogil:
        """By how much it has changed a velocity; seen: the stamps of its trees before."""
        cdef int side
        if not change > block.undone:
            block.seen = seen
            return
        block.seen = -1
        self.changes += 1
        for side in range(2):
            if block.tree[side] >= 0:
                self.trees[block.tree[side]].stamp += 1
                self.generalized.stirred[self.trees[block.tree[side]].first] = 1

    cdef double solve_normals(self, Row* rows, LadenBlock* block, double* velocity, int relaxed) noexcept nogil:
        """solve() of a contact's points, as most blocks are. -> the largest correction"""
        cdef double a[MANIFOLD_POINTS][MANIFOLD_POINTS]
        cdef double u[MANIFOLD_POINTS]
        cdef double before[MANIFOLD_POINTS]
        cdef double x[MANIFOLD_POINTS]
        cdef double change[MANIFOLD_POINTS]
        cdef LadenRow* laden = &self.laden[block.begin]
        cdef Row* row = &rows[block.row]
        cdef int64_t seen = stamp(self.trees, &block.tree[0])
        cdef double largest = 0.0
        cdef double own
        cdef bint changed = False
        cdef int r, side
        if is_spent(self.trees, block):
            block.seen = seen
            return 0.0
        for r in range(block.count):
            own = 0.0
            for side in range(2):
                if laden[r].tree[side] >= 0:
                    own += side_rate(self.trees, &laden[r], side, self.rate, self.generalized.reaches,
                                     self.generalized.jacobian, velocity)
            x[r], u[r] = row[r].impulse, row_residual(&row[r], own, relaxed)
            before[r] = u[r]
        self.sweeps.point_products(rows, block.row, block.count, relaxed, a)
        points_step(block.count, a, self.sweeps.couplings + KEPT * block.row, u, x, change)
        for r in range(block.count):
            if change[r] == 0.0:
                continue
            changed = True
            row[r].impulse = x[r] + change[r]
            for side in range(2):
                if laden[r].tree[side] >= 0:
                    own = side_rate(self.trees, &laden[r], side, self.rate, self.generalized.reaches,
                                    self.generalized.jacobian, velocity)
                    self.trees[laden[r].tree[side]].left -= change[r] * (own + 0.5 * change[r] * laden[r].diagonal[side])
            self.act(&laden[r], change[r], velocity)
            largest = max(largest, fabs(u[r] - before[r]))
        if changed:
            self.free_friction(rows, block)
        self.note(block, largest, seen)
        return largest

    cdef double solve(self, Row* rows, LadenBlock* block, double* velocity, int relaxed) noexcept nogil:
        """-> the largest correction"""
        cdef double w[MAX_BLOCK]
        cdef double delta[MAX_BLOCK]
        cdef Row* row = &rows[block.row]
        cdef LadenRow* laden = &self.laden[block.begin]
        cdef int64_t seen = stamp(self.trees, &block.tree[0])
        cdef double largest = 0.0
        cdef double rate
        cdef int r, side
        if is_spent(self.trees, block):
            block.seen = seen
            return 0.0
        for r in range(row.block):
            rate = 0.0
            for side in range(2):
                if laden[r].tree[side] >= 0:
                    rate += side_rate(self.trees, &laden[r], side, self.rate, self.generalized.reaches,
                                      self.generalized.jacobian, velocity)
            w[r] = row_residual(&row[r], rate, relaxed)
        block_step(rows, row, NULL, relaxed, w, delta)
        for r in range(row.block):
            if delta[r] != 0.0:
                self.act(&laden[r], delta[r], velocity)
                largest = max(largest, fabs(delta[r]) * (row[r].diagonal + row[r].compliance[relaxed]))
        self.note(block, contact_change(row, delta, relaxed), seen)
        return largest

    cdef void free_friction(self, const Row* rows, LadenBlock* normal) noexcept nogil:
        """The load of a manifold has changed: its friction, whose blocks come after its normals', is not passed by."""
        cdef LadenBlock* block = self.blocks + normal.rubbing
        cdef LadenBlock* end = self.blocks + self.block_count
        while block < end and rows[block.row].source == rows[normal.row].source:
            if rubs(&rows[block.row]):
                block.seen = -1
            block += 1

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
                reach_act(&self.generalized.reaches[2 * laden.row + side], self.generalized.response, impulse, velocity)
