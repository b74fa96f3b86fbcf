"""The stages of a step in their order, over the arrays of one world."""

from mcsim.step._constraint_set cimport ConstraintSets
from mcsim.step._machine cimport Machine

# What Pipeline.step answers beside core/_types.pxd, Status.
cdef enum:
    UNSEEN = 4           # there are other shapes than see_shapes() was called for
    NOT_DONE = 5         # `strict`: a step could not do something, and is undone

cdef class Pipeline(Machine):
    cdef public long long steps         # done since the beginning
    cdef readonly long long steps_made  # in the last call of step
    cdef long long call_began           # after how many steps
    cdef public bint strict             # a step that could not do something is undone
    cdef public double start            # time before the first step [s]

    cdef int advance(self, long long n) except -1
    cdef int collide(self) noexcept nogil
    cdef int layout(self, ConstraintSets sets) noexcept nogil
    cdef void weigh_burdens(self) noexcept nogil
    cdef void bounce(self, bint held) noexcept nogil
    cdef void substep(self, bint last) noexcept nogil
    cdef void hold_back(self) noexcept nogil
    cdef void note_step(self) noexcept nogil
    cdef int step_once(self) noexcept nogil
