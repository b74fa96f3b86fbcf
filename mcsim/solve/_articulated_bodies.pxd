"""A factor of the joints' system body by body, for articulations without loops (see the .pyx)."""

from libc.stdint cimport int32_t, int64_t
from mcsim.core._types cimport Mat3, Twist
from mcsim.state._bodies cimport Bodies
from mcsim.state._row cimport JointRow

# A body and the joint by which it hangs on another, or on what does not move.
ctypedef struct Link:
    int32_t body
    int32_t parent               # a link before this one; -1: it hangs on nothing that moves
    int32_t child_is_b           # of the joint
    int32_t size                 # rows of the joint; 0: there is none
    int32_t row                  # the first of them
    int32_t node                 # the joint's, in the order of elimination

ctypedef struct LinkFactor:
    double inertia[36]           # of the body with all that hangs on it: L, and 1/D on the diagonal
    double rows[36]              # L^-1 J' of the joint's rows, six numbers each
    double joint[36]             # of J (that inertia)^-1 J', L and 1/D likewise
    double velocity[6]           # of a solve: L^-1 of what links further out ask of the body, then its velocity
    double rate[6]               # what is left for the joint to do

cdef class ArticulatedBodies:
    cdef object kept
    cdef Py_ssize_t link_count
    cdef int32_t* of_joint       # (joints,) the link that a joint is; -1: it has no rows, or is the one that closes a loop
    cdef int32_t* begin          # of each articulation: its first link,
    cdef int32_t* end            # and behind its last one
    cdef const Link* links       # outwards: each behind the one on which it hangs
    cdef LinkFactor* factors

    cdef void factor(self, Py_ssize_t g, const JointRow* rows, const Bodies* bodies, const Mat3* inertia) noexcept nogil
    cdef void solve(self, Py_ssize_t g, const JointRow* rows, const int64_t* offset, const double* vector, Twist* twist,
                    double* impulse) noexcept nogil
