"""The energy of the articulations on which nothing but gravity and the user's forces does work."""

from mcsim.direct._state cimport ArticulationPart


cdef class EnergyAccount(ArticulationPart):

    cdef void begin_account(self) noexcept nogil
    cdef bint may_account(self, Py_ssize_t g) noexcept nogil
    cdef bint is_joined(self, Py_ssize_t g) noexcept nogil
    cdef void leave_out_open_batches(self) noexcept nogil
    cdef void sum_energy(self, Py_ssize_t g, double* kinetic, double* energy) noexcept nogil
    cdef void settle_falling(self) noexcept nogil
    cdef void settle_energy(self) noexcept nogil
    cdef void settle_one(self, Py_ssize_t g) noexcept nogil
