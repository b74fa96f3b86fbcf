"""What in a step is called of Python: functions of time of the user's, and the handlers of signals."""

from cpython.exc cimport PyErr_CheckSignals

from mcsim.core._clock cimport start_clock, tick, ticks
from mcsim.core._types cimport CALL_FAILED, OK

start_clock()

# How often a long run, or a long step, looks for Ctrl-C [s].
cdef double SIGNAL_INTERVAL = 0.05


cdef class Calls:
    """What they raise ends the step, and is passed on after it."""

    cdef void begin(self, int64_t now) noexcept nogil:
        """A call of World.step begins."""
        self.interval = <int64_t>(SIGNAL_INTERVAL / tick())
        self.looked = now

    cdef int tell(self, double time) noexcept nogil:
        """The functions of time, what they say for this one. -> status"""
        if self.of_time is not None:
            self.ask(time)
        return self.status

    # Apart: what has a part with the GIL in it takes the GIL on its way out, whether it was there or not.
    cdef void ask(self, double time) noexcept with gil:
        try:
            self.of_time(time)
        except BaseException as error:
            self.fail(error)

    cdef bint is_interrupted(self) noexcept nogil:
        """Whether the step is to end: a function of the user's has failed, or the handler of a signal."""
        cdef int64_t now = ticks()
        if self.status == OK and now - self.looked > self.interval:
            self.looked = now
            self.look_for_signals()
        return self.status != OK

    cdef void look_for_signals(self) noexcept with gil:
        try:
            PyErr_CheckSignals()
        except BaseException as error:
            self.fail(error)

    cdef void fail(self, object error) except *:
        self.failure, self.status = error, CALL_FAILED

    def take_failure(self):
        """What was raised, or None; it is done with."""
        error, self.failure, self.status = self.failure, None, OK
        return error
