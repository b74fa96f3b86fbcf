"""How long each stage of a step takes."""

from libc.stdint cimport int64_t

# One timer a stage, in the order of stages.STAGES.
cdef enum:
    STAGE_COLLIDE = 0
    STAGE_PREPARE = 1
    STAGE_INTEGRATE = 2
    STAGE_WARM_START = 3
    STAGE_IMPACT = 4
    STAGE_SOLVE = 5
    STAGE_REFRESH = 6
    STAGE_RELAX = 7
    STAGE_STORE = 8
    STAGE_FINISH = 9
    STAGES = 10

cdef class StageTimes:
    cdef int64_t spent[10]              # of core/_clock.pxd
    cdef int64_t clock                  # at the last lap
    cdef bint paused                    # laps count for no stage: somebody looks, no step is made

    cdef void start(self) noexcept nogil
    cdef void lap(self, int stage) noexcept nogil
    cdef void clear(self) noexcept nogil
