"""The drifts of articulations side by side."""

from mcsim.direct._drifts cimport Drifts
from mcsim.direct._state cimport ArticulationPart


cdef class BatchDrifts(ArticulationPart):
    cdef Drifts drifts

    cdef void drift_batches(self, bint again, bint store) noexcept nogil
    cdef void close_batches(self) noexcept nogil
    cdef void leave_batches(self) noexcept nogil
    cdef void note_open_batches(self) noexcept nogil
