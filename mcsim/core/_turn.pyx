"""The one turn that a thing has which is for one caller at a time: whoever has it is alone with the thing.

It is a lock that nobody waits for: who finds it taken is told so. It is taken and given back in compiled code, by `with`
in Python, so that neither Ctrl-C nor another thread comes between the taking and the block that gives it back.
"""

from cpython.pythread cimport (NOWAIT_LOCK, PyThread_acquire_lock, PyThread_allocate_lock, PyThread_free_lock,
                               PyThread_get_thread_ident, PyThread_release_lock)

from cython cimport final, freelist

from mcsim.core._whole cimport set_whole_id, whole_id
from mcsim.core.errors import SimulationError

# What a block wants of the turn.
cdef enum Want:
    ALONE                        # nobody else, not even a function of the user's that the thing itself is calling
    TELLING                      # the same, and what it writes of the thing's state it tells those who follow that
    STEP                         # the same, and the arrays are a step's until its end
    LOOK                         # nobody else, but for functions of the user's that the thing itself is calling
    GLANCE                       # the same, and where it cannot be had the block does without


@final
cdef class Turn:
    """message: what the error says, with {doing} where the name of what was asked for stands."""

    def __cinit__(self, str message):
        self.message = message
        self.lock = PyThread_allocate_lock()
        if self.lock == NULL:
            raise MemoryError

    def __dealloc__(self):
        if self.lock != NULL:
            PyThread_free_lock(self.lock)

    def alone(self, doing):
        """A block that changes the thing, or runs kernels that write. doing: its name in the message."""
        return _hold(self, doing, ALONE)

    def telling(self, doing):
        """The same of a block that writes nothing of the thing's state without telling who follows it
        (state/_body_watch.pyx): `changes` counts all others."""
        return _hold(self, doing, TELLING)

    def step(self, doing):
        """A block that steps a world."""
        return _hold(self, doing, STEP)

    def look(self, doing):
        """A block that reads a world's arrays and writes none of them. Functions of the user's that are called in the
        middle of a step may do that, too."""
        return _hold(self, doing, LOOK)

    def glance(self):
        """The same for a block that can do without: `with turn.glance() as had` tells whether the turn was free."""
        return _hold(self, None, GLANCE)

    @property
    def taken(self):
        """Whether somebody has it."""
        return whole_id(&self.owner) != 0

    cdef bint take(self) noexcept:
        """-> whether the turn was free. Whoever has it gives it back."""
        if not PyThread_acquire_lock(self.lock, NOWAIT_LOCK):
            return False
        set_whole_id(&self.owner, PyThread_get_thread_ident())
        return True

    cdef void give(self) noexcept:
        self.stepping = False
        set_whole_id(&self.owner, 0)
        PyThread_release_lock(self.lock)

    cdef bint mine(self) noexcept:
        """Whether this thread has it. Where it is another's, whose it is may change meanwhile, but not to this one."""
        return whole_id(&self.owner) == PyThread_get_thread_ident()

    cdef int refuse(self, doing) except -1:
        raise SimulationError(self.message.format(doing=doing))


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
        if turn.take():
            turn.stepping = self.want == STEP
            turn.changes += self.want == ALONE
            self.has = True
        elif self.want != GLANCE and not (self.want == LOOK and turn.mine()):
            turn.refuse(self.doing)
        return self.has

    def __exit__(self, *_):
        if self.has:
            self.has = False
            self.turn.changes += self.want == ALONE      # again: in the block somebody may have looked
            last, self.turn.last = self.turn.last, None
            try:
                if last is not None:
                    last()
            finally:
                self.turn.give()


cdef _hold(Turn turn, object doing, Want want):
    cdef Hold hold = Hold.__new__(Hold)
    hold.turn = turn
    hold.doing = doing
    hold.want = want
    return hold
