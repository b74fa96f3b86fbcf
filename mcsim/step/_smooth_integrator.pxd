"""integrator="rk4", and what "rattle" and "variational" share with it."""

from mcsim.core._types cimport Twist
from mcsim.integrate._rk4 cimport RungeKutta
from mcsim.solve._held_spans cimport HeldSpans
from mcsim.solve._smooth cimport SmoothSolver
from mcsim.step._integrator cimport Integrator

cdef double CLOSED, CLOSE_ENOUGH

cdef class SmoothIntegrator(Integrator):
    cdef readonly SmoothSolver smooth
    cdef HeldSpans held_spans            # bounded rows of articulations with motors
    cdef RungeKutta runge_kutta
    cdef object arrays
    cdef Twist* acceleration             # (bodies,), the world's before the first
    cdef Twist* wrench                   # forces on the bodies, likewise [N, N m]

    cdef void accelerate(self, bint keep) noexcept nogil
    cdef void solve_bounded(self, int relaxed) noexcept nogil
    cdef void project(self) noexcept nogil
    cdef void hold_still(self) noexcept nogil
    cdef bint begin_substep(self) noexcept nogil
