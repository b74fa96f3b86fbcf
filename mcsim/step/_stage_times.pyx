"""How long each stage of a step takes: whoever ends a stage charges it with the time since the last one ended."""

from libc.string cimport memcpy, memset

from mcsim.core._clock cimport start_clock, tick, ticks

start_clock()


cdef class StageTimes:
    """Of one call of World.step."""

    cdef void start(self) noexcept nogil:
        """The first stage begins."""
        self.clock = ticks()

    cdef void lap(self, int stage) noexcept nogil:
        cdef int64_t now = ticks()
        if not self.paused:
            self.spent[stage] += now - self.clock
        self.clock = now

    cdef void clear(self) noexcept nogil:
        memset(self.spent, 0, sizeof(self.spent))

    def take(self, StageTimes other):
        """Go on where another ended."""
        memcpy(self.spent, other.spent, sizeof(self.spent))

    def seconds(self):
        """(stages,) [s]"""
        cdef double length = tick()
        return [length * self.spent[i] for i in range(STAGES)]
