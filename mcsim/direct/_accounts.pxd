"""The energy of the articulations on which nothing but gravity and the user's forces does work."""

from mcsim.direct._articulated cimport Articulated
from mcsim.wide._batches cimport Batch

cdef class Accounted(Articulated):
    cdef void begin_account(self) noexcept nogil
    cdef bint may_account(self, Py_ssize_t g) noexcept nogil
    cdef bint is_joined(self, Py_ssize_t g) noexcept nogil
    cdef void leave_out_open_batches(self) noexcept nogil
    cdef double batch_way(self, const Batch* batch, int k, int lane) noexcept nogil
    cdef void sum_energy(self, Py_ssize_t g, double* kinetic, double* energy) noexcept nogil
    cdef void settle_falling(self) noexcept nogil
    cdef void settle_energy(self) noexcept nogil
    cdef void settle_one(self, Py_ssize_t g) noexcept nogil
