"""The impacts of a step in a world of trees."""

from mcsim.step._constraint_set cimport StepContext
from mcsim.step._plain_rows cimport PlainRows
from mcsim.step._restitution cimport Restitution
from mcsim.step._stage_times cimport StageTimes
from mcsim.step._tree_space cimport TreeSpace


cdef class TreeRestitution(Restitution):
    """Arguments as of Restitution."""

    cdef TreeSpace space

    def __init__(self, StepContext context, PlainRows plain, StageTimes times, TreeSpace space not None):
        Restitution.__init__(self, context, plain, times)
        self.space = space

    cdef void bounce(self, bint held) noexcept nogil:
        cdef long long before = self.count
        if held and self.impacts is not None:                # as a step begins: the last kick was another step's
            self.space.sum_forces(self.context.settings.h)
            self.space.motion.kick(0.0, self.space.forces, 1, False)
        Restitution.bounce(self, held)
        if self.count != before:
            self.space.body_sync.show_twists()
