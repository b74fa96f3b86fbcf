"""integrator="rattle" and "variational"."""

from mcsim.step._smooth_integrator cimport SmoothIntegrator
from mcsim.core._types cimport Twist
from mcsim.integrate._variational cimport FreeFlight
from mcsim.state._row cimport Row

cdef class PositionIntegrator(SmoothIntegrator):
    cdef object names                    # (of the bodies, of the joints), for messages
    cdef readonly long long flights      # tried since the beginning, one and a few a substep
    cdef FreeFlight flight
    cdef object buffers
    cdef Row* trial                      # the joints' rows at the end of a flight
    cdef double* gap                     # (joint rows,) their errors there, less what may stay; 0 without a position
                                         # [m, rad]
    cdef Twist* rounds                   # (HISTORY, bodies + 1) what rounds of Newton's method added to the velocities
    cdef Twist* best                     # (bodies,) velocities of the flight that ended with the smallest errors
    cdef double keep                     # part of the errors at the start that may stay: 0, but for widely open joints
    cdef Py_ssize_t fast_body            # that turned too fast in the last flight, or -1
    cdef bint factored                   # the solver's factor is that of the present poses
    cdef bint damped                     # some force depends on velocities

    cdef void find_damping(self) noexcept nogil
    cdef void forces(self) noexcept nogil
    cdef void solve_joints(self, Twist* x, int half) noexcept nogil
    cdef double rotor_bias(self, const Row* row) noexcept nogil
    cdef void keep_rotors(self) noexcept nogil
    cdef void first_half(self) noexcept nogil
    cdef double try_flight(self) noexcept nogil
    cdef void correct(self, int round) noexcept nogil
    cdef double product(self, const Twist* x, const Twist* y) noexcept nogil
    cdef bint close(self) noexcept nogil
    cdef void fail_open(self) noexcept nogil
    cdef void note_open(self) noexcept nogil
    cdef Py_ssize_t worst_row(self) noexcept nogil
    cdef bint second_half(self) noexcept nogil
    cdef double nothing(self) noexcept nogil
    cdef void fail(self, int why, Py_ssize_t which, double amount) noexcept nogil
