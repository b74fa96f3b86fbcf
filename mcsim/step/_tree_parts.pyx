"""What an integrator of trees moves: their coordinates, the rows over these, and the kicks of a substep."""

from mcsim.step._impacts cimport TreeImpacts


cdef class TreeParts:
    """Of one world."""

    def __init__(self, StepContext context not None, TreeSpace space not None, TreeConstraints rows not None,
                 TreeKicks kicks not None):
        self.context, self.space, self.rows, self.kicks = context, space, rows, kicks

    def impacts(self, int law):
        """Integrator.impacts"""
        blows = TreeImpacts(law, self.space.generalized, self.rows.loop_rows, self.space.motion, self.rows.held_trees,
                            self.rows.tree_rows.of_trees[2] if self.rows.loops.some else None)
        return blows, self.context.settings.first_kick

    cdef bint refuses_pitch(self) noexcept nogil:
        """Whether a joint stands where its angles do not describe its motion, which ends the step."""
        return self.space.turns_by_angles and self.space.refuses_pitch()

    cdef void end_substep(self, double h, bint last) noexcept nogil:
        """Once the rows' impulses are stored."""
        if last and self.rows.contacts.laden:
            self.rows.contacts.keep_loads()
        if self.space.motion.failed:
            self.space.pass_failure()
