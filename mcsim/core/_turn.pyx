"""The one turn that a world has: whoever steps it, changes it or looks into it has it alone meanwhile.

It is a lock that nobody waits for: who finds it taken is told so. It is taken and given back by `with` and in compiled
code, so that neither Ctrl-C nor another thread comes between the taking and the block that gives it back.
"""

from cpython.pythread cimport (NOWAIT_LOCK, PyThread_acquire_lock, PyThread_allocate_lock, PyThread_free_lock,
                               PyThread_get_thread_ident, PyThread_release_lock, PyThread_type_lock)

from cython cimport final, freelist

from mcsim.core.errors import SimulationError

# What a part of the code wants of the turn.
cdef enum Want:
    ALONE                        # nobody else, not even a function of the user's that the world is calling
    STEP                         # the same, and the arrays are a step's until its end
    LOOK                         # nobody else, but for functions of the user's that the world itself is calling
    GLANCE                       # the same, and where it cannot be had the block does without


@final
cdef class Turn:
    """One world's."""

    cdef PyThread_type_lock lock
    cdef unsigned long owner                 # the thread that has it; 0: none
    cdef readonly bint stepping              # whether a step has it

    def __cinit__(self):
        self.lock = PyThread_allocate_lock()
        if self.lock == NULL:
            raise MemoryError

    def __dealloc__(self):
        if self.lock != NULL:
            PyThread_free_lock(self.lock)

    def alone(self, doing):
        """A block that changes the world, or runs kernels that write. doing: what of World it is, for the message."""
        return _hold(self, doing, ALONE)

    def step(self, doing):
        """A block that steps the world."""
        return _hold(self, doing, STEP)

    def look(self, doing):
        """A block that reads the world's arrays and writes none of them. Functions of the user's that are called in
        the middle of a step may do that, too."""
        return _hold(self, doing, LOOK)

    def glance(self):
        """The same for a block that can do without: `with turn.glance() as had` tells whether the turn was free."""
        return _hold(self, None, GLANCE)


@final
@freelist(8)
cdef class Hold:
    """The turn for the length of a block."""

    cdef Turn turn
    cdef object doing
    cdef Want want
    cdef bint has

    def __enter__(self):
        cdef Turn turn = self.turn
        cdef unsigned long me = PyThread_get_thread_ident()
        if PyThread_acquire_lock(turn.lock, NOWAIT_LOCK):
            turn.owner = me
            turn.stepping = self.want == STEP
            self.has = True
        elif self.want != GLANCE and not (self.want == LOOK and turn.owner == me):
            raise SimulationError(f"World.{self.doing}: the world is in the middle of a step, or of being changed or looked "
                                  "at; a function that it calls (a residual, a motion) and other threads may only read its "
                                  "arrays: do it after the step")
        return self.has

    def __exit__(self, *_):
        cdef Turn turn = self.turn
        if self.has:
            self.has = False
            turn.stepping = False
            turn.owner = 0
            PyThread_release_lock(turn.lock)


cdef _hold(Turn turn, object doing, Want want):
    cdef Hold hold = Hold.__new__(Hold)
    hold.turn = turn
    hold.doing = doing
    hold.want = want
    return hold
