"""How hard joints make it to move a coordinate of theirs."""

from libc.stdint cimport int8_t, int32_t
from mcsim.core._types cimport Mat3
from mcsim.state._bodies cimport Bodies
from mcsim.state._joint cimport Joint
from mcsim.state._row cimport JointRow, JointRows

# A joint of an articulation's spanning tree, or a pin: one more that holds a body to what does not move.
ctypedef struct Branch:
    int32_t joint
    int32_t parent               # its place in the articulation, -1: what does not move
    int32_t child
    int32_t child_is_b           # of the joint

# x F x', F (6, 6).
cdef double along(const double* x, const double* f) noexcept nogil

cdef class Carried:
    cdef object kept
    cdef int32_t* begin                  # of each articulation: its first branch, from what does not move outwards;
    cdef int32_t* pins                   # its first pin;
    cdef int32_t* end                    # behind its last one
    cdef Branch* branch
    cdef int32_t* body                   # (branches,) of each branch: the child
    cdef double* response                # (places, 36) F, then P
    cdef double* gain                    # (places, 36) K: r columns, one a row of the joint
    cdef double* slack                   # (places, 36) C
    cdef double* free_gain               # the same without what holds coordinates, and rotors
    cdef double* free_slack
    cdef JointRow* row                   # (branches, 6) of each joint, what holds its coordinates, and rotors
    cdef double* yields                  # (branches, 6) compliance of each: of rotors 1 / armature
    cdef int32_t* numbers                # (branches,) how many

    cdef double least_part(self, Py_ssize_t g, Joint* joints, const JointRows* rows,
                           const Bodies* bodies, double h) noexcept nogil
    cdef void answers(self, Py_ssize_t g, Joint* joints, const JointRows* rows, const Bodies* bodies,
                      double* out) noexcept nogil
    cdef void find_moved(self, Py_ssize_t g, Joint* joints, const JointRows* rows, const Bodies* bodies,
                         const int8_t* asked, double* out) noexcept nogil
    cdef double load(self, Py_ssize_t g, Joint* joints, const JointRows* rows, const Bodies* bodies,
                     const Mat3* stiffness) noexcept nogil
    cdef void gather(self, Py_ssize_t g, Joint* joints, const JointRows* rows, const Bodies* bodies,
                     double h) noexcept nogil
    cdef void hand_out(self, Py_ssize_t k, const Branch* at) noexcept nogil
    cdef double response_along(self, Py_ssize_t k, const Branch* at, int n, const double* jacobian) noexcept nogil
