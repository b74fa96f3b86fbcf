"""What steps could not do: noted where it happens, read when somebody asks."""

from libc.stdint cimport int8_t

# What kernels note: the first of notes.KINDS, in its order. What they give is in the figure's unit there.
cdef enum:
    NOTE_OPEN = 0                # of a joint
    NOTE_MOVED = 1
    NOTE_FLIGHTS = 2
    NOTE_LOOPS = 3
    NOTE_ROWS = 4
    NOTE_ENERGY = 5              # of a body
    NOTE_HELD = 6
    NOTE_STIFF = 7
    NOTE_SWEEPS = 8
    NOTE_PIVOTS = 9
    NOTE_CHANGING = 10
    NOTE_COARSE = 11
    NOTE_MOTORS = 12             # of a joint

# Of a note that names nobody.
cdef enum:
    NOBODY = -1

cdef class Noted:
    cdef object whole                    # (2, kinds, room + 1), of the last call of step, and since the world was made;
    cdef readonly object steps           # (2, kinds): in how many steps; [..., 0] of the amounts: nobody's
    cdef readonly object said            # two dicts, kind -> what was said first
    cdef object kept
    cdef Py_ssize_t kinds, room
    cdef readonly Py_ssize_t count       # of bodies or joints; behind theirs all amounts are 0
    cdef double* call
    cdef double* ever
    cdef long long* counts
    cdef int8_t* marked                  # kinds that were noted in this step
    cdef int8_t* fails                   # kinds that are failures
    cdef bint without_memory             # there was none for what a step needs: it cannot be made

    cdef void most(self, int kind, Py_ssize_t who, double amount) noexcept nogil
    cdef void add(self, int kind, Py_ssize_t who, double amount) noexcept nogil
    cdef bint finish_step(self) noexcept nogil
