"""What joins the joints that are solved directly to what is swept beside them: how far warm starts of impulses act.

Impulses start from those before, which after an impact, or where joints hold what contacts push apart, may be far from
what they should be. Sweeps only lower what a wrong warm start adds, and so slowly as they converge: where warm starts
are worse than none, also with the joints' answer to them, they act as far as they help (solve/_warm_starts.pyx).
"""

from mcsim.constraints._joints cimport is_shared
from mcsim.state._row cimport BLOCK_BORDER, BLOCK_TREE


cdef class WholeWarmStarts:
    """All of them act."""

    cdef void start(self) noexcept nogil:
        """Before they act."""

    cdef void weigh(self, bint second) noexcept nogil:
        """Once they do. second: those of the second halves."""


cdef class JointWarmStarts(WholeWarmStarts):
    """plain, wide: the rows and contacts beside the articulations."""

    def __init__(self, StepContext context not None, PlainRows plain not None, WideContacts wide not None,
                 Articulations articulations not None):
        self.context, self.plain, self.wide, self.articulations = context, plain, wide, articulations

    cdef void start(self) noexcept nogil:
        if self.articulations.some_swept:
            self.articulations.start_parts.begin_warm_start()

    cdef void weigh(self, bint second) noexcept nogil:
        cdef Row* row
        cdef Py_ssize_t i
        cdef const double* part = self.articulations.state.kept_part
        if not self.articulations.some_swept or not self.weigh_once(second):
            return
        self.articulations.start_parts.hold_doubtful()
        if self.weigh_once(second):
            for i in range(self.plain.row_count):
                row = &self.plain.rows[i]
                row.impulse -= (1.0 - min(part[row.body_a], part[row.body_b])) * self.warm_impulse(row, second)
            self.articulations.state.joint_bounds.keep_parts(part, second)
            self.wide.keep_parts(part, second)
            self.articulations.start_parts.keep_parts()
        self.articulations.start_parts.forget_parts()

    cdef bint weigh_once(self, bint second) noexcept nogil:
        """-> whether warm starts are worse than none anywhere. Of biases the work that they ask for counts, as a
        motor's; where one has a limit wait at a distance, sweeps find that in a round, and need the others' warm
        starts."""
        cdef Row* row
        cdef Py_ssize_t i
        cdef double warm
        for i in range(self.plain.row_count):
            row = &self.plain.rows[i]
            warm = self.warm_impulse(row, second)
            if warm != 0.0:
                self.articulations.start_parts.give(row.body_a, row.body_b, min(warm * row.bias[second], 0.0),
                                                    warm * warm * row.compliance[second])
        self.articulations.state.joint_bounds.give_biases(self.context.bodies,
                                                          self.articulations.state.warm_starts.slope, second)
        return self.articulations.start_parts.weigh()

    cdef double warm_impulse(self, const Row* row, bint second) noexcept nogil:
        """What of its impulse is a warm start that has acted just now."""
        if row.block_kind == BLOCK_TREE or row.block_kind == BLOCK_BORDER:
            return 0.0                                   # the articulations' own
        if not second:
            return row.impulse
        return 0.0 if is_shared(row, self.context.joints, self.context.settings) else row.impulse - row.carry
