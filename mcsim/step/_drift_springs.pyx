"""Springs that act on trees which loops tie, in drifts from momentum to momentum (_closed_flight.pyx): as the potential

    h k e^2 / 2,    e = (e0 + e1) / 2

of a discrete Lagrangian, e0 and e1 position - rest at the drift's two ends. Its derivatives are the impulses
-h/2 (k e + c (e1 - e0) / h) before the drift and after it, along the axes of either end, with a damper's part. Their rows
have, before a drift is known, e0 + h u / 2 in place of e (docs/theory/spring.md): the same but for the curve of the way, by
which energy drifts. It is stable for any k, as the rows are.
"""

from libc.math cimport isinf

import numpy as np

from mcsim.constraints._joints cimport is_shared
from mcsim.constraints._spring_law cimport SpringLaw, spring_law
from mcsim.core._arrays cimport doubles, integers
from mcsim.state._joint cimport AXIS_ROWS, JointAxis
from mcsim.state._joint_types cimport BALL
from mcsim.state._row cimport ROW_SPRING


cdef class DriftSprings:
    """Of the plain rows of one world."""

    def __init__(self, StepContext context not None, PlainRows plain not None, GeneralizedRows generalized not None):
        self.context, self.plain, self.generalized = context, plain, generalized
        self.reserve(0)

    def reserve(self, rows):
        """Room for as many rows."""
        places, numbers = np.zeros((2, rows + 1), np.int32), np.zeros((3, rows + 1))
        self.kept, self.count = (places, numbers), 0
        self.row, self.bond = integers(places[0]), integers(places[1])
        self.start, self.impulse, self.change = doubles(numbers[0]), doubles(numbers[1]), doubles(numbers[2])

    cdef bint knows(self, const Row* row) noexcept nogil:
        """Whether a row is a spring's without bounds that the midpoint of a substep tells. Not of a ball joint, whose
        coordinates are no sums of what its axes turn."""
        cdef SpringLaw law
        if row.kind != ROW_SPRING or self.context.joints[row.source].type == BALL:
            return False
        law = spring_law(&self.context.joints[row.source].axes[row.index // AXIS_ROWS], row.index, row.error)
        return isinf(law.least) and isinf(law.most) and is_shared(row, self.context.joints, self.context.settings)

    cdef void find(self, const int32_t* bonds, const int32_t* free) noexcept nogil:
        """As the rows are laid out where a drift begins. bonds: (bodies,); free: (trees,) by a bond, not -1 of one that
        nothing holds, on which springs act from within alone, for its momentum is told already."""
        cdef const Row* row
        cdef Py_ssize_t i
        cdef int32_t a, b
        self.count = 0
        for i in range(self.plain.joint_end):
            row = &self.plain.rows[i]
            a, b = bonds[row.body_a], bonds[row.body_b]
            if max(a, b) < 0 or not self.knows(row) or (a != b and (free[max(a, b)] >= 0 or min(a, b) >= 0)):
                continue
            self.row[self.count], self.bond[self.count] = <int32_t>i, max(a, b)
            self.start[self.count], self.impulse[self.count] = row.error, row.impulse
            self.count += 1

    cdef double weigh(self, Py_ssize_t bond) noexcept nogil:
        """After the rows are written for a drift's end: `change` of a bond's. -> the energy of what they change [J]"""
        cdef const Row* row
        cdef const JointAxis* axis
        cdef double h = self.context.settings.h
        cdef double asked, moved, found = 0.0
        cdef Py_ssize_t i
        for i in range(self.count):
            if self.bond[i] != bond:
                continue
            row = &self.plain.rows[self.row[i]]
            axis = &self.context.joints[row.source].axes[row.index // AXIS_ROWS]
            asked = -0.5 * h * (0.5 * axis.stiffness * (self.start[i] + row.error)
                                + axis.damping * (row.error - self.start[i]) / h)
            moved = self.generalized.coupling(self.row[i], self.row[i])
            self.change[i] = (asked - row.impulse) / (1.0 + 0.5 * h * moved * (0.5 * h * axis.stiffness + axis.damping))
            found += 0.5 * moved * self.change[i] * self.change[i]
        return found

    cdef void act(self, Py_ssize_t bond, double* first, double* second) noexcept nogil:
        """What they change acts on both of these velocities."""
        cdef Row* row
        cdef Py_ssize_t i
        for i in range(self.count):
            if self.bond[i] == bond:
                row = &self.plain.rows[self.row[i]]
                row.impulse = row.impulse + self.change[i]
                self.generalized.apply(self.row[i], self.change[i], first)
                self.generalized.apply(self.row[i], self.change[i], second)

    cdef void put_back(self, Py_ssize_t bond) noexcept nogil:
        """A bond's have the impulses with which the drift began."""
        cdef Py_ssize_t i
        for i in range(self.count):
            if self.bond[i] == bond:
                self.plain.rows[self.row[i]].impulse = self.impulse[i]
