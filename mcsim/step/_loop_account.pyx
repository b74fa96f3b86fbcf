"""Loops that yield, as those that contradict each other do, or are open are to move bodies, not to drive them: what
their trees gain in a substep beyond what forces and other rows do, their velocities lose.

    begin_half, end_half     around the rows' impulses before the drift, and around those after it
    calm                     at the end of the substep

The energy of a tree, kinetic and of gravity, is exact; the work of forces is that at the mean of the velocities before
and after, that of a row its impulse times the mean of its rates. Limits and contacts only take energy: what they give
in a substep, because they contradict the loops or each other, counts as the loops' own.
"""

from libc.math cimport INFINITY, sqrt
from libc.string cimport memset

import numpy as np

from mcsim.core._arrays cimport doubles, integers
from mcsim.reduced._motion cimport Block
from mcsim.solve._generalized cimport Reach, closes
from mcsim.state._row cimport ROW_LIMIT, ROW_NORMAL, is_wide
from mcsim.state._rows cimport pair_coupling
from mcsim.step._bounded_energy cimport BLUR


cdef class LoopAccount:
    """energies: whose `total` and `kinetic` are worked in; generalized: all rows; loops: those that close them."""

    def __init__(self, TreeEnergy energies not None, GeneralizedRows generalized not None, LoopRows loops not None):
        self.motion, self.energies, self.generalized, self.loops = energies.motion, energies, generalized, loops
        hanging, work = np.zeros(self.motion.tree_count + 1, np.int32), np.zeros(self.motion.tree.nv + 1)
        self.kept = hanging, work
        self.hanging, self.work = integers(hanging), doubles(work)

    def reserve(self, rows):
        """Room for as many rows."""
        numbers = np.zeros((5, rows))
        self.kept_rows = numbers
        self.given, self.speeds, self.done = doubles(numbers[0]), doubles(numbers[1:3]), doubles(numbers[3:])

    cdef void begin_half(self, const Row* rows, Py_ssize_t count, double h, const double* forces,
                         bint second) noexcept nogil:
        """Half a substep begins, the first or the second: forces act for h in it. In the first half all of an impulse is
        new."""
        cdef const double* velocity = self.motion.qd
        cdef Py_ssize_t i
        self.motion.look()
        if not second:
            self.energies.sum_total(-1.0)
            memset(self.done, 0, 2 * count * sizeof(double))
        self.energies.spend(0.5 * h, forces)
        for i in range(count):
            self.speeds[2 * i] = self.generalized.side_rate(i, 0, velocity)
            self.speeds[2 * i + 1] = self.generalized.side_rate(i, 1, velocity)
            self.given[i] = rows[i].impulse if second else 0.0

    cdef void end_half(self, const Row* rows, Py_ssize_t count, double h, const double* forces) noexcept nogil:
        cdef const double* velocity = self.motion.qd
        cdef Py_ssize_t i = 0
        cdef double impulse
        cdef int side, r, m
        self.motion.look()
        self.energies.spend(0.5 * h, forces)
        while i < count:
            m = rows[i].block
            for r in range(0 if closes(&rows[i]) else m):
                impulse = rows[i + r].impulse - self.given[i + r]
                for side in range(2):
                    self.done[2 * (i + r) + side] += 0.5 * impulse * (
                        self.speeds[2 * (i + r) + side] + self.generalized.side_rate(i + r, side, velocity))
            i += m

    cdef void calm(self, const Row* rows, Py_ssize_t count, bint elastic) noexcept nogil:
        """The substep ends. Not where given velocities have a part, which do work. elastic: whether contacts give back what
        they took."""
        cdef const Row* row
        cdef double gained, kinetic, kept, taken, rest
        cdef Py_ssize_t begin = 0, end, k
        self.energies.sum_total(1.0)
        self.sum_work(rows, count, elastic)
        while begin < self.loops.count:
            if self.loops.strained(begin, &end):
                gained = kinetic = 0.0
                rest = INFINITY
                memset(self.hanging, 0, self.motion.tree_count * sizeof(int32_t))
                for k in range(begin, end):
                    row = &rows[self.loops.row[k]]
                    rest = min(rest, BLUR * row.push * row.push / pair_coupling(row, row))
                    gained += self.strain(row.body_a, &kinetic) + self.strain(row.body_b, &kinetic)
                    if is_wide(row):
                        gained += self.strain(row[1].body_a, &kinetic) + self.strain(row[1].body_b, &kinetic)
                if gained > rest and kinetic > 0.0:
                    kept = max(1.0 - gained / kinetic, 0.0)
                    for k in range(self.motion.tree_count):
                        if self.hanging[k]:
                            self.energies.total[k] = 0.0
                            taken = (1.0 - kept) * self.energies.kinetic[k]
                            self.energies.kinetic[k] = kept * self.energies.kinetic[k]
                            self.energies.slow_tree(k, sqrt(kept), taken, self.energies.shared)
            begin = end

    cdef void sum_work(self, const Row* rows, Py_ssize_t count, bint elastic) noexcept nogil:
        """`work` of what the sides have done. What both sides of a limit or a contact gave together is not work that it
        could do: the side that gained more is without it."""
        cdef const Reach* reach
        cdef const double* done
        cdef Py_ssize_t i
        cdef double excess
        cdef int side, winner
        memset(self.work, 0, self.motion.tree.nv * sizeof(double))
        for i in range(count):
            done = &self.done[2 * i]
            winner = done[1] > done[0]
            excess = 0.0
            if rows[i].kind == ROW_LIMIT or (rows[i].kind == ROW_NORMAL and not elastic):
                excess = max(done[0] + done[1], 0.0)
            for side in range(2):
                reach = &self.generalized.reaches[2 * i + side]
                if reach.count > 0:
                    self.work[reach.first] += done[side] - (excess if side == winner else 0.0)

    cdef double strain(self, int32_t body, double* kinetic) noexcept nogil:
        """A body's tree hangs on the present part of the loops. -> what it gained that nothing gave, and its kinetic
        energy, once"""
        cdef const Block* block
        if body < 0 or self.motion.blocks[body].count == 0:
            return 0.0
        block = &self.motion.blocks[body]
        if self.hanging[block.tree]:
            return 0.0
        self.hanging[block.tree] = 1
        kinetic[0] += self.energies.kinetic[block.tree]
        return self.energies.total[block.tree] - self.work[block.first]
