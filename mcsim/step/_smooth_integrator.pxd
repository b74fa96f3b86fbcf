"""integrator="rk4" and "reference", and what "rattle" and "variational" share with them."""

from mcsim.core._types cimport Twist
from mcsim.integrate._rk4 cimport RungeKutta
from mcsim.solve._held_spans cimport HeldSpans
from mcsim.solve._smooth cimport SmoothSolver
from mcsim.step._runge_kutta_integrator cimport RungeKuttaIntegrator

cdef double CLOSED, CLOSE_ENOUGH

cdef class SmoothIntegrator(RungeKuttaIntegrator):
    cdef readonly SmoothSolver smooth
    cdef HeldSpans held_spans            # bounded rows of articulations with motors
    cdef RungeKutta runge_kutta
    cdef object dynamic                  # (bodies,) bool
    cdef bint factored                   # the solver's factor is of the rows at the present poses
    cdef bint near                       # it is, but for what differences step by
    cdef public bint alone               # differences are taken without it, whatever is known
    cdef object arrays
    cdef Twist* acceleration             # (bodies,), the world's before the first
    cdef Twist* wrench                   # forces on the bodies, likewise [N, N m]

    cdef void solve_bounded(self, int relaxed) noexcept nogil
    cdef void project(self) noexcept nogil
    cdef void displace_once(self) noexcept nogil
    cdef void note_wide(self, double enough) noexcept nogil
    cdef void hold_still(self) noexcept nogil
    cdef bint begin_substep(self) noexcept nogil
