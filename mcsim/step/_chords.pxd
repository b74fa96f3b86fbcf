"""Velocities with which joints are as open at the end of a drift as at its start. See `_chords.pyx`."""

from mcsim.core._types cimport Quat, Vec3
from mcsim.state._bodies cimport Bodies
from mcsim.state._row cimport Row

cdef class Chords:
    cdef Vec3* position                  # of the moving bodies in their order, where the drift starts
    cdef Quat* orientation
    cdef object kept

    # The drift starts at the present poses.
    cdef void begin(self, const Bodies* bodies) noexcept nogil

    # The poses at its end by the present velocities, which stay.
    cdef void try_drift(self, Bodies* bodies, double h) noexcept nogil

    # Back to the poses at its start.
    cdef void go_back(self, Bodies* bodies) noexcept nogil

    # Biases of the joints' rows, by the errors of the same rows at the drift's end.
    cdef void aim(self, Row* rows, const Row* ended, Py_ssize_t count, const Bodies* bodies, double h) noexcept nogil
