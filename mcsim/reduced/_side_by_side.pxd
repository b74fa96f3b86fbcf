"""The trees of several worlds side by side."""

from cython cimport final
from libc.stdint cimport int8_t
from mcsim.core._types cimport Quat, Twist, Vec3
from mcsim.reduced._flight cimport Travel, TreeFlight
from mcsim.reduced._links cimport LinkState, Tree
from mcsim.reduced._motion cimport TreeMotion
from mcsim.reduced._piece cimport Account, Flight, FlightKernels

cdef enum:
    MOST_LANES = 8               # of any level

# One of the worlds, in a lane.
ctypedef struct Lane:
    Py_ssize_t world             # its number, -1: none
    long long step               # that is on its way
    int substep
    Travel way
    bint more                    # it asks for another round
    bint back                    # its piece was not good
    bint there                   # it has come to a substep's end
    bint over                    # it is done with its world
    bint fresh                   # it has begun one, and has not been looked at

# What is given of many worlds: at [i * world + k * step + j * number], and by strides of 0 the same for all.
ctypedef struct Given:
    const double* at
    Py_ssize_t world
    Py_ssize_t step
    Py_ssize_t number


@final
cdef class SideBySide:
    cdef TreeMotion motion
    cdef TreeFlight judge                # says what becomes of a piece
    cdef const FlightKernels* kernels
    cdef Flight flight                   # a world a lane
    cdef Tree tree                       # of one lane, to be read
    cdef LinkState* states
    cdef const double* parts
    cdef object kept, kept_faces, rows
    cdef double h
    cdef int width, substeps
    cdef Lane lanes[MOST_LANES]
    cdef double* step_sizes              # (width,) of the pieces
    cdef double* gains                   # (width,) what the velocities at their ends are multiplied by
    cdef double* reached
    cdef double* guess                   # (nv, width) the mean velocities that a round began with
    # Of a call.
    cdef Given q, qd, tau
    cdef long long steps, every, row_count
    cdef Py_ssize_t next_world, end_world, running
    cdef double* out_q
    cdef double* out_qd
    cdef double* out_position
    cdef double* out_orientation
    cdef double* out_twist
    cdef int8_t* lost                    # (worlds,)
    cdef const int8_t* stopped           # (1,)
    cdef const Quat* faces_at_start      # (bodies,)
    cdef Quat* faces                     # (width, bodies) to whose side quaternions keep
    cdef Vec3* positions                 # (bodies,) of one lane
    cdef Twist* twists
    cdef Py_ssize_t body_count

    cdef int fly_tree(self, Py_ssize_t k) except -1 nogil
    cdef void begin_world(self, Py_ssize_t k, int lane) noexcept nogil
    cdef void look_at_worlds(self, Py_ssize_t k) noexcept nogil
    cdef void begin_step(self, Py_ssize_t k, int lane) noexcept nogil
    cdef void make_rounds(self, Py_ssize_t k) noexcept nogil
    cdef bint some_miss(self, Py_ssize_t k) noexcept nogil
    cdef void give_more_rounds(self, Py_ssize_t k) noexcept nogil
    cdef bint asks_for_more(self, Py_ssize_t k, int lane, int made) noexcept nogil
    cdef Account account(self, Py_ssize_t k, int lane) noexcept nogil
    cdef void end_pieces(self, Py_ssize_t k) noexcept nogil
    cdef void go_back(self, Py_ssize_t k, int lane) noexcept nogil
    cdef void end_substeps(self, Py_ssize_t k) noexcept nogil
    cdef void end_substep(self, Py_ssize_t k, int lane) noexcept nogil
    cdef void lose(self, int lane) noexcept nogil
    cdef const double* state(self, Py_ssize_t i) noexcept nogil
    cdef void read(self, Py_ssize_t k, int lane) noexcept nogil
    cdef void face(self, Py_ssize_t k, int lane) noexcept nogil
    cdef void record(self, Py_ssize_t k, int lane) noexcept nogil
    cdef void record_position(self, Py_ssize_t i, int lane, double* out) noexcept nogil
