"""The joints of all articulations as one sparse block system, factored directly."""

from libc.stdint cimport int32_t, int64_t
from mcsim.core._types cimport Twist
from mcsim.solve._fronts cimport Fronts
from mcsim.state._layout cimport Bodies, Joint, Row

cdef class JointTree:
    cdef readonly Py_ssize_t node_count
    cdef readonly Py_ssize_t entry_count
    cdef readonly Py_ssize_t row_count     # bilateral rows of all joints
    cdef readonly double work              # products of one factorization, about
    cdef readonly bint loops               # some articulation has a loop: solves must be repeated
    cdef object kept
    cdef Fronts fronts                     # where there are loops: the factor; None elsewhere
    cdef int32_t* joint                    # of a node, or -1 - body for a hub
    cdef int32_t* size
    cdef int32_t* sides                    # which sides of the joint's diagonal block count: bit 0 a, bit 1 b
    cdef public double proximal            # proximal part of the diagonal of joints in loops, relative
    cdef double* shift                     # 1 for a joint of an articulation with a loop, else 0
    cdef int64_t* offset                   # of the node's numbers in a vector
    cdef int64_t* diagonal                 # of its diagonal block in `values`
    cdef int64_t* entry_begin              # its column: entries [begin[k], begin[k + 1]), ascending nodes
    cdef int32_t* entry_node
    cdef int64_t* entry_value
    cdef int32_t* entry_code               # what the two nodes share
    cdef int64_t* row_begin                # the same entries by row
    cdef int32_t* row_node
    cdef int64_t* row_entry
    cdef double* values
    cdef double* vector
    cdef int64_t* slot
    cdef Py_ssize_t value_count

    cdef void factor(self, const Row* rows, const Joint* joints, const Bodies* bodies) noexcept nogil
    cdef double solve(self, Row* rows, const Joint* joints, Twist* twist, int relaxed) noexcept nogil
    cdef void assemble_column(self, Py_ssize_t j, const Row* rows, const Joint* joints,
                              const Bodies* bodies) noexcept nogil
    cdef void assemble_entry(self, int64_t e, const Row* own, int m, const Row* rows, const Joint* joints) noexcept nogil
    cdef void eliminate_into(self, Py_ssize_t j) noexcept nogil
    cdef double residual(self, const Row* rows, const Joint* joints, const Twist* twist, int relaxed) noexcept nogil
    cdef void correct(self, Row* rows, const Joint* joints, Twist* twist) noexcept nogil
    cdef void substitute(self) noexcept nogil
