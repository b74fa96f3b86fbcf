"""The impacts of a step: of what would touch within the next substep, before anything stops what should bounce."""

from mcsim.state._row cimport RELAXED, ROW_ARMATURE, Row
from mcsim.state._rows cimport rate
from mcsim.step._stage_times cimport STAGE_IMPACT


cdef class Restitution:
    """plain: the rows that impacts act on."""

    def __init__(self, StepContext context not None, PlainRows plain not None, StageTimes times not None):
        self.context, self.plain, self.times = context, plain, times
        self.first = 1.0

    def take(self, Impacts impacts, double first):
        """Who makes what bounces from now on, or None; first: part of a substep's forces that acts before the drift."""
        self.impacts, self.first = impacts, first
        self.supports = None if impacts is None else Supports(impacts, impacts.nodes_there)
        self.reserve()

    def reserve(self):
        """Room for the plain rows."""
        if self.impacts is not None:
            self.impacts.reserve(self.plain.row_capacity)
            self.supports.reserve(self.plain.row_capacity)

    cdef void bounce(self, bint held) noexcept nogil:
        """held: joints hold the velocities as they are; else they have to, first."""
        if self.impacts is None:
            return
        if not self.context.contacts:
            if self.plain.waits(self.impacts):
                self.times.lap(STAGE_IMPACT)
                return
            self.plain.add_bouncing()
        self.impacts.see_joints(self.plain.rows, self.plain.joint_end)
        if not held:
            self.impacts.hold(self.plain.rows, self.plain.impact_rows)
        self.impacts.begin(self.plain.rows, self.plain.impact_rows, self.context.settings.restitution_threshold,
                           self.context.settings.h, self.first, self.plain.impacts)
        if self.impacts.nears_any():
            if not self.context.contacts:
                self.plain.add_resting()
                self.impacts.extend(self.plain.resting_rows)
            self.impacts.prepare()
            self.supports.find()
            if self.impacts.moves_rotors:
                self.note_rotors()
            self.count += self.impacts.resolve()
            if self.impacts.moves_rotors:
                self.charge_rotors()
        self.impacts.finish()
        self.times.lap(STAGE_IMPACT)

    cdef void bounce_early(self) noexcept nogil:
        """Before the forces of a substep's second half act: half of a kick is still to come to the velocity at this pose,
        as where a substep's forces act as one kick before its drift."""
        cdef double first = self.first
        self.first = 1.0
        self.bounce(False)
        self.first = first

    cdef void bounce_unanswered(self) noexcept nogil:
        """Where contacts do not hold yet what the forces of a substep's second half do."""
        if self.impacts is not None:
            self.impacts.unanswered = True
            self.bounce(True)
            self.impacts.unanswered = False

    cdef void note_rotors(self) noexcept nogil:
        """The rates of their coordinates before the blows, in `kick`."""
        cdef Row* row
        cdef Py_ssize_t i
        for i in range(self.plain.joint_end):
            row = &self.plain.rows[i]
            if row.kind == ROW_ARMATURE:
                row.kick = rate(row, self.context.bodies.twist)

    cdef void charge_rotors(self) noexcept nogil:
        """What a blow changes of a rotor's rate it has done by that much of its row's impulse."""
        cdef Row* row
        cdef Py_ssize_t i
        for i in range(self.plain.joint_end):
            row = &self.plain.rows[i]
            if row.kind == ROW_ARMATURE:
                row.impulse -= (rate(row, self.context.bodies.twist) - row.kick) / row.compliance[RELAXED]
                row.kick = 0.0
