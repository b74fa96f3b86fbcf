"""A sparse symmetric system in dense fronts."""

from libc.stdint cimport int32_t, int64_t

cdef class Fronts:
    cdef object kept
    cdef readonly Py_ssize_t count
    cdef readonly Py_ssize_t panel_count   # numbers of the factor
    cdef int64_t* begin                    # of a front: its first number
    cdef int32_t* width                    # own numbers
    cdef int32_t* height                   # all numbers
    cdef int64_t* panel_begin              # its columns of L, each `height` long, in `panel`
    cdef int64_t* row_begin                # its other rows: which numbers they are, and their places in the parent's
                                           # front
    cdef int64_t* row
    cdef int32_t* parent_row
    cdef int64_t* update_begin             # what waits for the parent, in `update`
    cdef int64_t* child_begin
    cdef int32_t* child
    cdef int32_t* entry_row
    cdef int32_t* node_front
    cdef int32_t* node_column
    cdef Py_ssize_t node_count
    cdef int64_t* diagonal                 # the given blocks, as in the plan
    cdef int32_t* size
    cdef int64_t* entry_begin
    cdef int32_t* entry_node
    cdef int64_t* entry_value
    cdef double* panel
    cdef double* inverse                   # of D
    cdef double* scale                     # of a number: the diagonal that its pivot is measured by
    cdef double* update
    cdef double* front                     # (largest, largest), the lower triangle
    cdef double* upper                     # (BLOCK, largest), columns before they are divided by their pivots
    cdef double* gathered

    cdef void factor(self, const double* values, Py_ssize_t begin, Py_ssize_t end) noexcept nogil
    cdef void solve(self, double* x, Py_ssize_t begin, Py_ssize_t end) noexcept nogil
    cdef void assemble(self, Py_ssize_t s, Py_ssize_t first, Py_ssize_t last, const double* values) noexcept nogil
    cdef void add_children(self, Py_ssize_t s) noexcept nogil
    cdef void eliminate(self, Py_ssize_t s) noexcept nogil
