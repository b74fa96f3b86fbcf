"""Motors and rotors that ask for accelerations, or jump to a velocity, as rows of their own beside the joints' solver:

    w = J x + bias + compliance force,     w = 0 where |force| < max_force,     else force = -+max_force and w of its sign

x the accelerations (or velocities) that meet all joints, which answer every force. All of a world are one boxed linear
complementarity problem (_held.pyx): a motor carries what others do.

Per pose:   prepare(rows, count), the joints' solver being of that pose;   per state:   find(rows, x)
"""

from libc.math cimport fabs
from libc.stdint cimport int32_t
from libc.string cimport memcpy, memset

import numpy as np

from mcsim.core._arrays cimport doubles
from mcsim.core._noted cimport NOTE_MOTORS, Noted
from mcsim.solve._smooth cimport Articulation
from mcsim.state._row cimport BIASED, BLOCK_BOUNDED, BLOCK_HELD, ROW_ARMATURE

# What a motor asks for is met where no more than this part of what all of them do there is left.
cdef double MISSED = 1e-6

cdef enum:
    ROUNDS = 2                           # the second one takes the rounding errors of the first one's factor


cdef class HeldMotors(HeldRows):
    """numbers: how many velocities there are; noted: where it stands which motors are not met; driving: whether motors are
    among them, or rotors alone."""

    def __init__(self, Py_ssize_t numbers, Noted noted not None, bint driving):
        HeldRows.__init__(self, 1, noted)
        begun = np.zeros(numbers + 7)                  # the world's before those of bodies
        self.kept_motors = begun
        self.begun, self.size = <Twist*>doubles(begun) + 1, numbers * sizeof(double)
        self.most_held, self.driving = 1 << 30, driving

    cdef Py_ssize_t owner(self, const Row* row, const int32_t* group) noexcept nogil:
        """Of those that may act at all."""
        return 0 if row.kind == ROW_ARMATURE or (self.driving and row.lower < row.upper) else -1

    cdef bint prepare(self, Row* rows, Py_ssize_t count) noexcept nogil:
        """The matrix of those of rows[:count] that may act. -> whether there are any; `unsolved`: there is no memory for
        them."""
        cdef Py_ssize_t k, wanted = 0
        self.driven[0] = 1
        for k in range(count):
            if rows[k].block_kind == BLOCK_HELD:
                rows[k].block_kind = BLOCK_BOUNDED
            wanted += rows[k].block_kind == BLOCK_BOUNDED and self.owner(&rows[k], NULL) == 0
        self.list(NULL, self.driven, NULL, rows, count)
        self.unsolved = self.count[0] < wanted
        for k in range(self.count[0]):
            self.end_column(0, k, rows, self.probe(rows, k))
        return wanted > 0

    cdef bint find(self, Row* rows, Twist* x) noexcept nogil:
        """x: without the motors and what joints answer; with what motors do on return, whose forces are the rows' impulses.
        The joints are to answer, to the same targets. -> whether they could be found"""
        cdef Py_ssize_t i
        cdef int _
        if self.unsolved:
            return False
        memcpy(self.begun, x, self.size)
        self.hold_joints(rows, x)
        for _ in range(ROUNDS):
            if self.solve(0, rows, x, BIASED):
                self.hold_joints(rows, x)
        self.note_missed(rows, x)
        memcpy(x, self.begun, self.size)
        for i in range(self.count[0]):
            self.act(rows, self.row[i], rows[self.row[i]].impulse, x)
        return not self.unsolved

    cdef void note_missed(self, const Row* rows, const Twist* x) noexcept nogil:
        """Those that are not met though their forces could do more: others, or joints, forbid it."""
        cdef const Row* row
        cdef double off, size
        cdef Py_ssize_t i, k, n = self.count[0]
        for i in range(n):
            row = &rows[self.row[i]]
            off = fabs(self.rate(rows, self.row[i], x) + row.bias[BIASED] + row.compliance[BIASED] * row.impulse)
            size = fabs(row.bias[BIASED]) + fabs(self.rate(rows, self.row[i], self.begun)) + fabs(
                row.compliance[BIASED] * row.impulse)
            for k in range(n):
                size += fabs(self.values[i * n + k] * rows[self.row[k]].impulse)
            if off > MISSED * size and row.lower < row.impulse < row.upper:
                self.noted.most(NOTE_MOTORS, row.source, off)

    cdef void keep(self, Row* rows, double h) noexcept nogil:
        """What they do in the time h is their rows' impulses."""
        cdef Py_ssize_t i
        for i in range(self.count[0]):
            rows[self.row[i]].impulse *= h

    cdef Twist* probe(self, Row* rows, Py_ssize_t k) noexcept nogil:
        """-> what a unit force of the k-th of them does, with all joints holding"""
        return NULL

    cdef void hold_joints(self, Row* rows, Twist* x) noexcept nogil:
        """The joints' answer, to their targets."""


cdef class MotorsOfBodies(HeldMotors):
    """Of bodies' accelerations, or velocities, which a SmoothSolver answers."""

    def __init__(self, SmoothSolver smooth not None, Noted noted, bint driving):
        HeldMotors.__init__(self, 6 * smooth.body_count, noted, driving)
        self.smooth = smooth

    cdef Twist* probe(self, Row* rows, Py_ssize_t k) noexcept nogil:
        cdef const Articulation* spans[2]
        cdef Twist* moved = self.smooth.response
        cdef int i
        memset(moved, 0, self.size)
        self.begin_column(0, k, rows, moved)
        for i in range(self.smooth.find_spans(&rows[self.row[k]], spans)):
            self.smooth.solve_span(spans[i], rows, moved, self.smooth.nothing)
        return moved

    cdef void hold_joints(self, Row* rows, Twist* x) noexcept nogil:
        self.smooth.solve(rows, x)


cdef class MotorsOfTrees(HeldMotors):
    """Of generalized accelerations or velocities, `numbers` of them, of which loop_rows, once found, close the loops."""

    def __init__(self, GeneralizedRows generalized not None, LoopRows loop_rows not None, Py_ssize_t numbers, Noted noted,
                 bint driving):
        HeldMotors.__init__(self, numbers, noted, driving)
        moved = np.zeros(numbers + 1)
        self.kept_motors = self.kept_motors, moved
        self.generalized, self.loop_rows, self.moved = generalized, loop_rows, doubles(moved)

    cdef double rate(self, const Row* rows, Py_ssize_t i, const Twist* velocity) noexcept nogil:
        return self.generalized.rate(i, <const double*>velocity)

    cdef void act(self, const Row* rows, Py_ssize_t i, double impulse, Twist* velocity) noexcept nogil:
        self.generalized.apply(i, impulse, <double*>velocity)

    cdef Twist* probe(self, Row* rows, Py_ssize_t k) noexcept nogil:
        memset(self.moved, 0, self.size)
        self.begin_column(0, k, rows, <Twist*>self.moved)
        self.loop_rows.aim_nothing()
        self.loop_rows.meet(rows, self.moved)
        return <Twist*>self.moved

    cdef void hold_joints(self, Row* rows, Twist* x) noexcept nogil:
        self.loop_rows.meet(rows, <double*>x)
