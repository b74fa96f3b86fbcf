"""What compliant contacts (constraints/_compliant.pyx) do in a step, beside being plain rows:

    prepare      surfaces as the last step left them; numbers of their rows
    warm start   their impulses, as far as they help
    refresh      surfaces to where the drift leaves them; numbers of their rows, for what is left of this substep and
                 for the next one
    carried      the second halves: of slow points as large as the first ones, of fast ones warm-started by them
    store        the poses that they know
"""

from libc.string cimport memcpy

import numpy as np

from mcsim.constraints._compliant cimport comply, load_surfaces, move_surfaces, sign_surfaces
from mcsim.core._arrays cimport doubles, integers
from mcsim.core._noted cimport NOBODY, NOTE_STIFF
from mcsim.core._types cimport OK, Twist
from mcsim.solve._blocks cimport row_apply, row_residual, row_velocity
from mcsim.state._row cimport BIASED, RELAXED, ROW_FRICTION, ROW_NORMAL


cdef class CompliantSurfaces(ConstraintSet):
    """plain: where their rows are. shapes: of the world. numbers: (velocities,) int32, which node each is of."""

    def __init__(self, StepContext context not None, PlainRows plain not None, PlacedShapes shapes not None,
                 WarmStarts warm_starts not None, numbers):
        self.context, self.plain, self.shapes, self.warm_starts = context, plain, shapes, warm_starts
        self.node_numbers, self.node_count = np.append(numbers, 0).astype(np.int32), len(numbers)
        self.kept_before = np.zeros(self.node_count + 1)
        self.nodes, self.before = integers(self.node_numbers), doubles(self.kept_before)
        self.velocity = <double*>context.bodies.twist

    cdef bint complies(self, const Row* row) noexcept nogil:
        """Whether it is of the spring and damper of a contact point."""
        return row.kind == ROW_NORMAL or row.kind == ROW_FRICTION

    cdef int prepare(self) noexcept nogil:
        load_surfaces(self.context.store.manifolds, self.context.store.resisted(), self.shapes.shapes,
                      self.context.store.manifold_count, self.context.bodies, self.context.settings, self.plain.rows)
        return OK

    cdef void refresh(self) noexcept nogil:
        move_surfaces(self.context.store.manifolds, self.context.store.resisted(), self.shapes.shapes,
                      self.context.store.manifold_count, self.context.bodies, self.context.settings, self.plain.rows)

    cdef void finish(self, double part) noexcept nogil:
        comply(self.context.store.manifolds, self.context.store.resisted(), self.shapes.shapes,
               self.context.store.manifold_count, self.context.bodies, self.context.settings, self.plain.anchors,
               self.plain.rows)

    cdef void store(self) noexcept nogil:
        sign_surfaces(self.context.store.manifolds, self.context.store.manifold_count, self.context.bodies)

    # ---- warm starts -------------------------------------------------------------------------------------------------

    cdef void warm_start(self) noexcept nogil:
        self.set_start_impulses()
        self.begin_warm_start(BIASED)

    cdef void return_carried(self) noexcept nogil:
        self.begin_warm_start(RELAXED)

    cdef void set_start_impulses(self) noexcept nogil:
        """As of plain rows."""
        cdef Row* row
        cdef Py_ssize_t i
        for i in range(self.plain.joint_end, self.plain.row_count):
            row = &self.plain.rows[i]
            if self.complies(row):
                row.carry = 0.0
                row.impulse = self.context.settings.first_kick * row.impulse
                if row.kind == ROW_NORMAL:
                    row.lower = 0.0
            else:
                self.plain.start_row(i)

    cdef int32_t node(self, int32_t body) noexcept nogil:
        """What a body moves with among the nodes of the warm starts, -1: it stands."""
        return body if self.context.bodies.inv_mass[body] > 0.0 else -1

    cdef double row_rate(self, Py_ssize_t i, const double* velocity) noexcept nogil:
        """J v of row i"""
        return row_velocity(&self.plain.rows[i], <const Twist*>velocity)

    cdef void row_act(self, Py_ssize_t i, double impulse, double* velocity) noexcept nogil:
        """Its impulse on the velocities."""
        row_apply(&self.plain.rows[i], impulse, <Twist*>velocity)

    cdef void begin_warm_start(self, int relaxed) noexcept nogil:
        """The warm start of all contacts' rows on the velocities, as far as they help (solve/_warm_starts.pyx)."""
        cdef Row* rows = self.plain.rows
        cdef Py_ssize_t begin = self.plain.joint_end, end = self.plain.row_count
        cdef double* velocity = self.velocity
        cdef Row* row
        cdef Py_ssize_t i
        cdef double rate, part
        for i in range(begin, end):
            rows[i].carry = self.take_second(i) if relaxed else rows[i].impulse
        memcpy(self.before, velocity, self.node_count * sizeof(double))
        for i in range(begin, end):
            self.row_act(i, rows[i].carry, velocity)
        self.warm_starts.begin()
        for i in range(begin, end):
            row = &rows[i]
            rate = self.row_rate(i, self.before)
            self.warm_starts.add(self.node(row.body_a), self.node(row.body_b), row.carry,
                             row_residual(row, rate, relaxed) - row.compliance[relaxed] * row.carry,
                             row_residual(row, self.row_rate(i, velocity), relaxed))
        self.warm_starts.weigh()
        for i in range(begin, end):
            row = &rows[i]
            part = self.warm_starts.part(max(self.node(row.body_a), self.node(row.body_b)))
            row.impulse -= (1.0 - part) * row.carry
            if not relaxed:
                row.carry = self.second_part(row)
        for i in range(self.node_count):
            part = self.warm_starts.part(self.nodes[i])
            if part < 1.0:
                velocity[i] = self.before[i] + part * (velocity[i] - self.before[i])

    cdef double second_part(self, const Row* row) noexcept nogil:
        """`carry`: the ratio of a row's halves, or of what is as rigid rows are, its second half."""
        cdef double first = self.context.settings.first_kick
        return (1.0 - first) / first * (1.0 if self.complies(row) else row.impulse)

    cdef double take_second(self, Py_ssize_t i) noexcept nogil:
        """Add a row's second half to its impulse. -> what of it is a warm start; where it is as large as the first in
        any case, it acts at once."""
        cdef Row* row = &self.plain.rows[i]
        cdef double impulse = row.carry
        if self.complies(row):
            impulse *= row.impulse
            if row.kind == ROW_NORMAL:
                row.lower = row.impulse                  # the first half stands, the second presses too
        row.impulse += impulse
        if not self.complies(row) or row.compliance[RELAXED] > 0.0:
            return impulse
        self.row_act(i, impulse, self.velocity)
        return 0.0

    cdef void notes(self) noexcept nogil:
        """Points that bear and are faster than the substep."""
        cdef const Row* row
        cdef Py_ssize_t i, found = 0
        for i in range(self.plain.joint_end, self.plain.row_count):
            row = &self.plain.rows[i]
            if row.kind == ROW_NORMAL and row.compliance[RELAXED] > 0.0 and row.impulse > 0.0:
                found += 1
                if self.context.bodies.inv_mass[row.body_a] > 0.0:
                    self.context.noted.most(NOTE_STIFF, row.body_a, 1.0)
                if self.context.bodies.inv_mass[row.body_b] > 0.0:
                    self.context.noted.most(NOTE_STIFF, row.body_b, 1.0)
        if found > 0:
            self.context.noted.most(NOTE_STIFF, NOBODY, found)
