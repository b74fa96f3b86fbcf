"""Restitution: the impacts of what touches and closes fast, round after round."""

from libc.stdint cimport int8_t, int32_t
from mcsim.core._types cimport Twist
from mcsim.solve._struck cimport Struck
from mcsim.state._row cimport Row

cdef enum:
    MOST_TOGETHER = 24       # manifolds that are struck at once

cdef class Impacts:
    cdef readonly int law        # of solve/_laws.pxd
    cdef readonly Py_ssize_t nodes_there
    cdef object kept
    cdef bint moves_rotors       # rotors answer, and are to be charged for it
    cdef const Row* rows
    cdef Py_ssize_t count
    cdef double threshold        # slower contacts do not bounce [m/s]
    cdef double h                # a substep [s]
    cdef double first            # part of its forces that acts before the drift
    cdef bint unanswered         # contacts at rest do not hold yet what acts after it
    cdef double* impulse         # (count,) of the impacts, which are added [N s, N m s]
    cdef double* left            # (count,) what they close by that is no impact [m/s]
    cdef double* support         # (count,) what holds their bodies adds to their kicks [m/s] (_supports.pyx)
    cdef int8_t* hit             # (count,) of a manifold's first row: it has been struck at this moment
    cdef Struck* struck
    cdef int32_t* group_of       # of each, the first manifold that is struck with it
    cdef Py_ssize_t struck_count
    cdef int struck_total        # so far, counting repeats
    cdef Py_ssize_t capacity
    cdef Struck* together[24]
    cdef int32_t* owner          # (nodes,) a manifold that closes there, -1: none
    cdef int32_t nodes[48]       # of the group that is struck
    cdef int node_count
    cdef double* matrix
    cdef double* spans                  # scratch: the range of the matrix
    cdef double* numbers
    cdef Py_ssize_t* touching           # the rows of the points that touch, of all that are struck together
    cdef double* parts                  # scratch: what these share
    cdef int32_t* pivots

    cdef void see_joints(self, const Row* rows, Py_ssize_t count) noexcept nogil
    cdef void hold(self, const Row* rows, Py_ssize_t count) noexcept nogil
    cdef bint is_held(self, int32_t body) noexcept nogil
    cdef void begin(self, const Row* rows, Py_ssize_t count, double threshold, double h, double first,
                    double* impulse) noexcept nogil
    cdef bint nears_any(self) noexcept nogil
    cdef void extend(self, Py_ssize_t count) noexcept nogil
    cdef int resolve(self) noexcept nogil

    # What velocities there are. A response is a change of them, collected in the group's nodes.
    cdef void prepare(self) noexcept nogil                           # before the first strike
    cdef void finish(self) noexcept nogil                            # after the last one, or none
    cdef int32_t node_of(self, Py_ssize_t row, int side) noexcept nogil
    cdef double rate(self, Py_ssize_t row) noexcept nogil            # J v
    cdef double kick(self, Py_ssize_t row) noexcept nogil            # J a h / 2, of forces and joints
    cdef double rate_held(self, Py_ssize_t row) noexcept nogil
    cdef double kicked(self, Py_ssize_t row) noexcept nogil          # with what holds the bodies
    cdef double answered(self, Py_ssize_t row) noexcept nogil        # J of the response
    cdef void push(self, Py_ssize_t row, double impulse) noexcept nogil
    cdef void clear(self, int32_t node) noexcept nogil
    cdef void answer(self, int32_t node) noexcept nogil              # the joints hold
    cdef void take(self, int32_t node) noexcept nogil                # the response into the velocities

    cdef void find_left(self, Py_ssize_t begin) noexcept nogil
    cdef Py_ssize_t find(self) noexcept nogil
    cdef int points_from(self, Py_ssize_t i) noexcept nogil
    cdef bint closes(self, Py_ssize_t begin, int points, bint soon) noexcept nogil
    cdef void list_manifold(self, Py_ssize_t begin, int points, bint closes) noexcept nogil
    cdef void begin_response(self) noexcept nogil
    cdef void end_response(self) noexcept nogil
    cdef int list_points(self, Struck* c, int begin, double* q) noexcept nogil
    cdef void fill_responses(self, int n, double* a) noexcept nogil
    cdef void weigh(self, int count) noexcept nogil
    cdef void take_parts(self, Struck* c, int n, const double* a, const double* q, double* p, bint shared) noexcept nogil
    cdef double contact_rate(self, const Struck* c, int axis, bint answered) noexcept nogil
    cdef void contact_push(self, const Struck* c, int axis, double p, bint counted) noexcept nogil
    cdef void strike(self, int count) noexcept nogil
    cdef void bore(self, const Struck* c, double p) noexcept nogil

cdef class BodyImpacts(Impacts):
    cdef Twist* twist
    cdef Twist* response
    cdef Py_ssize_t body_count
