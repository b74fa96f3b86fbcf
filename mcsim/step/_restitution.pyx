"""The impacts of a step: of what would touch within the next substep, before anything stops what should bounce."""

from mcsim.step._stage_times cimport STAGE_IMPACT


cdef class Restitution:
    """plain: the rows that impacts act on."""

    def __init__(self, StepContext context not None, PlainRows plain not None, StageTimes times not None):
        self.context, self.plain, self.times = context, plain, times
        self.first = 1.0

    def take(self, Impacts impacts, double first):
        """Who makes what bounces from now on, or None; first: part of a substep's forces that acts before the drift."""
        self.impacts, self.first = impacts, first
        self.reserve()

    def reserve(self):
        """Room for the plain rows."""
        if self.impacts is not None:
            self.impacts.reserve(self.plain.row_capacity)

    cdef void bounce(self, bint held) noexcept nogil:
        """held: joints hold the velocities as they are; else they have to, first."""
        if self.impacts is None:
            return
        self.impacts.see_joints(self.plain.rows, self.plain.joint_end)
        if not held:
            self.impacts.hold(self.plain.rows, self.plain.impact_rows)
        self.count += self.impacts.resolve(self.plain.rows, self.plain.impact_rows,
                                           self.context.settings.restitution_threshold, self.context.settings.h,
                                           self.first, self.plain.impacts)
        self.times.lap(STAGE_IMPACT)
