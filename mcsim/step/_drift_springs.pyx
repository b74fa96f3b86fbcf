"""Springs that act on trees which loops tie, in drifts from momentum to momentum (_closed_flight.pyx): as the potential

    h k e^2 / 2,    e = (e0 + e1) / 2

of a discrete Lagrangian, e0 and e1 position - rest at the drift's two ends. Its derivatives are the impulses
-h/2 (k e + c (e1 - e0) / h) before the drift and after it, along the axes of either end, with a damper's part. Their rows
have, before a drift is known, e0 + h u / 2 in place of e (docs/theory/spring.md): the same but for the curve of the way, by
which energy drifts. It is stable for any k, as the rows are.

Where three coordinates are a rotation vector, of ball and free joints, e is one, which changes by T w as the joint turns at
w (core/_rotation_vectors.pxd): then the impulses are -h/2 (T' k e + c w), T' of e0 before the drift and of e1 after it, and
w = T^-1 (e1 - e0) / h, T of e. One that comes through half a turn in a drift has the impulses of its rows.
"""

from libc.math cimport isinf

import numpy as np

from mcsim.constraints._joints cimport is_shared
from mcsim.constraints._spring_law cimport SpringLaw, spring_law
from mcsim.core._arrays cimport doubles, integers
from mcsim.core._math cimport add, norm, scale, sub, vec3
from mcsim.core._rotation_vectors cimport torque_of, turning_of
from mcsim.core._types cimport Vec3
from mcsim.state._joint cimport AXIS_ROWS
from mcsim.state._joint_types cimport ROTATION
from mcsim.state._row cimport ROW_SPRING

# Half a turn [rad].
cdef double HALF_TURN = 3.141592653589793


cdef class DriftSprings:
    """Of the plain rows of one world."""

    def __init__(self, StepContext context not None, PlainRows plain not None, GeneralizedRows generalized not None):
        self.context, self.plain, self.generalized = context, plain, generalized
        self.reserve(0)

    def reserve(self, rows):
        """Room for as many rows."""
        places, numbers = np.zeros((3, rows + 3), np.int32), np.zeros((5, rows + 3))
        self.kept, self.count = (places, numbers), 0
        self.row, self.bond, self.turning = integers(places[0]), integers(places[1]), integers(places[2])
        self.start, self.impulse, self.change = doubles(numbers[0]), doubles(numbers[1]), doubles(numbers[2])
        self.before, self.after = doubles(numbers[3]), doubles(numbers[4])

    cdef SpringLaw law(self, const Row* row) noexcept nogil:
        return spring_law(&self.context.joints[row.source].axes[row.index // AXIS_ROWS], row.index, row.error)

    cdef bint knows(self, const Row* row) noexcept nogil:
        """Whether a row is a spring's without bounds that the midpoint of a substep tells."""
        cdef SpringLaw law
        if row.kind != ROW_SPRING:
            return False
        law = self.law(row)
        return isinf(law.least) and isinf(law.most) and is_shared(row, self.context.joints, self.context.settings)

    cdef void find(self, const int32_t* bonds, const int32_t* free) noexcept nogil:
        """As the rows are laid out where a drift begins. bonds: (bodies,); free: (trees,) by a bond, not -1 of one that
        nothing holds, on which springs act from within alone, for its momentum is told already."""
        cdef const Row* row
        cdef Py_ssize_t i
        cdef int32_t a, b
        cdef int first, axis
        self.count = 0
        for i in range(self.plain.joint_end):
            row = &self.plain.rows[i]
            a, b = bonds[row.body_a], bonds[row.body_b]
            if max(a, b) < 0 or not self.knows(row) or (a != b and (free[max(a, b)] >= 0 or min(a, b) >= 0)):
                continue
            first, axis = ROTATION[self.context.joints[row.source].type], row.index // AXIS_ROWS
            if axis < first:
                self.note(i, max(a, b), 0)
            elif axis == first:
                self.note_turning(i, max(a, b))

    cdef void note(self, Py_ssize_t i, int32_t bond, int turning) noexcept nogil:
        cdef const Row* row = &self.plain.rows[i]
        self.row[self.count], self.bond[self.count], self.turning[self.count] = <int32_t>i, bond, turning
        self.start[self.count], self.impulse[self.count] = row.error, row.impulse
        self.count += 1

    cdef void note_turning(self, Py_ssize_t i, int32_t bond) noexcept nogil:
        """The row of the first of three coordinates, with those of the other two, if all are of one kind."""
        cdef const Row* first = &self.plain.rows[i]
        cdef const Row* row
        cdef Py_ssize_t begun = self.count
        cdef int turning = 1
        self.note(i, bond, turning)
        for i in range(i + 1, self.plain.joint_end):
            row = &self.plain.rows[i]
            if row.source != first.source or turning == 3:
                break
            if row.index == first.index + turning * AXIS_ROWS and self.knows(row):
                turning += 1
                self.note(i, bond, turning)
        if turning < 3:
            self.count = begun

    cdef double weigh(self, Py_ssize_t bond) noexcept nogil:
        """After the rows are written for a drift's end: `change` of a bond's. -> the energy of what they change [J]"""
        cdef const Row* row
        cdef SpringLaw law
        cdef double h = self.context.settings.h
        cdef double moved, found = 0.0
        cdef Py_ssize_t i
        for i in range(self.count):
            if self.bond[i] != bond:
                continue
            if self.turning[i] == 0:
                self.ask(i)
            elif self.turning[i] == 1:
                self.ask_turning(i)
            row = &self.plain.rows[self.row[i]]
            law = self.law(row)
            moved = self.generalized.coupling(self.row[i], self.row[i])
            self.change[i] = (self.before[i] - row.impulse) / (
                1.0 + 0.5 * h * moved * (0.5 * h * law.stiffness + law.damping))
            found += 0.5 * moved * self.change[i] * self.change[i]
        return found

    cdef void ask(self, Py_ssize_t i) noexcept nogil:
        """The impulses of one coordinate."""
        cdef const Row* row = &self.plain.rows[self.row[i]]
        cdef SpringLaw law = self.law(row)
        cdef double h = self.context.settings.h
        self.before[i] = self.after[i] = -0.5 * h * (0.5 * law.stiffness * (self.start[i] + row.error)
                                                     + law.damping * ((row.error - self.start[i]) / h - law.velocity))

    cdef void ask_turning(self, Py_ssize_t i) noexcept nogil:
        """Those of three that are a rotation vector, from the i-th on."""
        cdef Row* rows = self.plain.rows
        cdef const int32_t* at = self.row + i
        cdef double h = self.context.settings.h
        cdef Vec3 begin = vec3(self.start[i], self.start[i + 1], self.start[i + 2])
        cdef Vec3 end = vec3(rows[at[0]].error, rows[at[1]].error, rows[at[2]].error)
        cdef Vec3 middle = scale(0.5, add(begin, end))
        cdef Vec3 turned = turning_of(middle, scale(1.0 / h, sub(end, begin)))
        cdef Vec3 pull, brake
        cdef SpringLaw law
        cdef int k
        if norm(sub(end, begin)) > HALF_TURN:
            for k in range(3):
                self.before[i + k] = self.after[i + k] = rows[at[k]].impulse
            return
        for k in range(3):
            law = self.law(&rows[at[k]])
            (&pull.x)[k] = law.stiffness * (&middle.x)[k]
            (&brake.x)[k] = law.damping * ((&turned.x)[k] - law.velocity)
        begin, end = add(torque_of(begin, pull), brake), add(torque_of(end, pull), brake)
        for k in range(3):
            self.before[i + k], self.after[i + k] = -0.5 * h * (&begin.x)[k], -0.5 * h * (&end.x)[k]

    cdef void land(self, const int32_t* able) noexcept nogil:
        """At a drift's end: rows have the impulses that act there, of the bonds that went by them."""
        cdef Py_ssize_t i
        for i in range(self.count):
            if self.turning[i] > 0 and able[self.bond[i]]:
                self.plain.rows[self.row[i]].impulse = self.after[i]

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
