"""The impacts of a step."""

from mcsim.solve._impact cimport Impacts
from mcsim.solve._supports cimport Supports
from mcsim.step._constraint_set cimport StepContext
from mcsim.step._plain_rows cimport PlainRows
from mcsim.step._stage_times cimport StageTimes

cdef class Restitution:
    cdef StepContext context
    cdef PlainRows plain
    cdef StageTimes times
    cdef Impacts impacts                # or None: nothing bounces
    cdef Supports supports
    cdef double first                   # part of a substep's forces that acts before the drift
    cdef readonly long long count       # manifolds that were struck in the last step, counting repeats

    cdef void bounce(self, bint held) noexcept nogil
    cdef void bounce_early(self) noexcept nogil
    cdef void bounce_unanswered(self) noexcept nogil
    cdef void note_rotors(self) noexcept nogil
    cdef void charge_rotors(self) noexcept nogil
