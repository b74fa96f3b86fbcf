"""Bounded rows of articulations without loops, solved with the joints in them body by body (see the .pyx)."""

from libc.stdint cimport int8_t, int32_t, int64_t
from mcsim.core._noted cimport Noted
from mcsim.core._types cimport Mat3, Twist
from mcsim.solve._articulated_bodies cimport ArticulatedBodies, Link
from mcsim.state._bodies cimport Bodies
from mcsim.state._row cimport JointRow, Row

# Which rows at a bound become free that w would take from there.
cdef enum Release:
    ALL = 0
    ONE = 1
    NONE = 2

# A link with the bounded rows of its joint.
ctypedef struct HeldLink:
    int32_t begin                # its bounded rows: [begin, end) of what each has below
    int32_t end
    int32_t size                 # rows in the factor: the joint's own, then those of its bounded ones that are free
    int32_t stride               # how many there may be
    int64_t numbers              # where its numbers begin in `numbers`
    Mat3 turning                 # inertia of the body alone at the poses of the rows, world axes
    double inertia[36]           # of the body with all that hangs on it, as in _articulated_bodies.pxd
    double velocity[6]           # of a solve: L^-1 of what links further out ask of the body, then its velocity

cdef class HeldLinks:
    cdef Noted noted             # of the world
    cdef object kept
    cdef ArticulatedBodies bodies
    cdef HeldLink* links         # as of ArticulatedBodies
    cdef int32_t* begin          # (articulations,) bounded rows of each,
    cdef int32_t* end
    cdef int8_t* fresh           # and whether its factor is of the present poses,
    cdef int8_t* pass_of         # of which pass the compliances in it are,
    cdef Py_ssize_t articulations
    cdef Py_ssize_t capacity     # room for bounded rows
    cdef Py_ssize_t number_capacity
    cdef Py_ssize_t released     # the ONE that a cautious step let go; -1: none
    # of each bounded row:
    cdef int32_t* row            # its number
    cdef int32_t* link
    cdef int8_t* free            # whether w is to be 0,
    cdef int8_t* factored        # and was in the factor
    cdef int8_t* numb            # whether its own step denies that w asks for it
    cdef double* x               # Newton's step
    cdef double* residual        # w before it
    cdef double* least           # what is rounding of it
    cdef double* size            # and what it is the sum of
    cdef double* numbers

    cdef bint takes(self, Py_ssize_t g, const Row* row) noexcept nogil
    cdef bint list(self, const int8_t* holds, Row* rows, const int32_t* begin, const int32_t* count,
                   const int32_t* number) noexcept nogil
    cdef bint has_room(self, Py_ssize_t rows, Py_ssize_t numbers) noexcept with gil
    cdef void forget(self, Py_ssize_t g, Row* rows, const Bodies* bodies) noexcept nogil
    cdef void begin_cautious(self, Py_ssize_t g) noexcept nogil
    cdef bint begin_solve(self, Py_ssize_t g, const Row* rows, const Twist* twist, bint relaxed, double speed, double rate,
                          int release) noexcept nogil
    cdef bint aim(self, Py_ssize_t g, const JointRow* joints, const Row* rows, const Bodies* bodies, const int64_t* offset,
                  const double* vector, bint bold, bint relaxed) noexcept nogil
    cdef bint falls(self, Py_ssize_t g, const Row* rows, bint relaxed) noexcept nogil
    cdef double part_inside(self, Py_ssize_t g, Row* rows) noexcept nogil
    cdef void take(self, Py_ssize_t g, double part, Row* rows, Twist* twist, double* impulse) noexcept nogil
    cdef bint respond(self, Py_ssize_t g, const JointRow* joints, const Row* rows, const Bodies* bodies,
                      const int64_t* offset, const double* vector, Twist* x) noexcept nogil

    cdef double* near(self, const HeldLink* own) noexcept nogil
    cdef double* far(self, const HeldLink* own) noexcept nogil
    cdef double* block(self, const HeldLink* own) noexcept nogil
    cdef double* rate(self, const HeldLink* own) noexcept nogil
    cdef double* impulses(self, const HeldLink* own) noexcept nogil
    cdef void factor(self, Py_ssize_t g, const JointRow* joints, const Row* rows, const Bodies* bodies,
                     bint relaxed) noexcept nogil
    cdef void gather(self, Py_ssize_t k, const JointRow* joints, const Row* rows, bint relaxed) noexcept nogil
    cdef bint is_factored(self, Py_ssize_t g, bint relaxed) noexcept nogil
    cdef void push_bounded(self, const Link* link, HeldLink* own, const Row* row, double x) noexcept nogil
    cdef void substitute(self, Py_ssize_t g, const Row* rows, const int64_t* offset, const double* vector) noexcept nogil
    cdef bint fix(self, Py_ssize_t g, const Row* rows, bint bold) noexcept nogil
    cdef bint fix_row(self, Py_ssize_t i, const Row* rows) noexcept nogil
    cdef bint send(self, Py_ssize_t i, const Row* row, double way) noexcept nogil
    cdef bint send_twin(self, Py_ssize_t i, const Row* rows, double way) noexcept nogil
    cdef double change(self, const Row* row, Py_ssize_t k, double* size) noexcept nogil
