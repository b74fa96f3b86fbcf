"""A contact problem's rows in blocks, and what every solver asks of them."""

cimport cython
from libc.stdint cimport int32_t, int64_t

cdef enum Model:
    FRICTIONLESS = 0
    PYRAMID = 1
    CCP = 2
    NCP = 3
    PYRAMID_CONE = 4       # the convex problem of the pyramid; the methods of gradients know it


@cython.final
cdef class System:
    cdef object kept                    # the arrays behind the pointers
    cdef object local_array
    cdef readonly Py_ssize_t row_count
    cdef readonly Py_ssize_t contact_count
    cdef readonly Py_ssize_t block_count    # contacts, then single rows
    cdef readonly Py_ssize_t width      # numbers of the state that rows are read from: v (factored), or the impulses
    cdef readonly bint factored
    cdef const int64_t* begin           # (blocks + 1,) of a block's columns
    cdef const int32_t* column
    cdef const double* value            # of J, or of A where it is given whole: column by column, the block's rows
    cdef const double* response         # of (M^-1 J')', likewise; read where `factored`
    cdef const double* local            # (blocks, 9): the block's own part of A + R
    cdef const double* b                # (rows,)
    cdef const double* compliance
    cdef const double* friction         # (contacts,)
    cdef const double* lower            # (rows - 3 contacts,) of the single rows
    cdef const double* upper

    cdef find_local(self, double* local)
    cdef int size(self, Py_ssize_t block) noexcept nogil
    cdef Py_ssize_t first(self, Py_ssize_t block) noexcept nogil
    cdef Py_ssize_t place(self, Py_ssize_t block) noexcept nogil
    cdef void velocities(self, const double* impulse, double* state, double* u) noexcept nogil
    cdef void load(self, const double* impulse, double* state) noexcept nogil
    cdef void block_velocity(self, Py_ssize_t block, const double* impulse, const double* state,
                             double* u) noexcept nogil
    cdef void block_apply(self, Py_ssize_t block, const double* delta, double* state) noexcept nogil
    cdef void measure(self, int model, const double* impulse, const double* u, double* out) noexcept nogil


cdef void project_contact(int model, double mu, double* x) noexcept nogil
cdef void project_dual(int model, double mu, double* u) noexcept nogil
