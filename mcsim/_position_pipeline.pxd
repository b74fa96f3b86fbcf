"""The pipeline of integrator="rattle" and "variational"."""

from mcsim._pipeline cimport Pipeline
from mcsim.integrate._variational cimport FreeFlight
from mcsim.state._layout cimport Row

cdef class PositionPipeline(Pipeline):
    cdef public object names             # (of the bodies, of the joints), for messages
    cdef FreeFlight flight
    cdef object buffers
    cdef Row* trial                      # the joints' rows at the end of a flight
    cdef double* gap                     # (joint rows,) their errors there [m, rad]; 0 of those without a position
    cdef double* rounds                  # (MOST_ROUNDS, joint rows) what each round of Newton's method added to the impulses
    cdef bint factored                   # the solver's factor is that of the present poses
    cdef bint damped                     # some force depends on velocities

    cdef void find_damping(self) noexcept nogil
    cdef void forces(self) noexcept nogil
    cdef void first_half(self) noexcept nogil
    cdef double try_flight(self) noexcept nogil
    cdef void correct(self, int round) noexcept nogil
    cdef bint close(self) noexcept nogil
    cdef bint second_half(self) noexcept nogil
    cdef void fail(self, int why, Py_ssize_t which, double amount) noexcept nogil
