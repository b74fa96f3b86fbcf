"""What the integrators share that follow smooth motions by Runge-Kutta."""

from mcsim.step._runge_kutta_steps cimport RungeKuttaSteps
from mcsim.step._smooth_motion cimport SmoothMotion

# How often stages are projected in steps of a given length. They are open by some h^2: one round leaves some h^4, and what
# loops do does not depend on what else is in the world.
cdef enum:
    STAGE_ROUNDS = 1

cdef class RungeKuttaIntegrator(SmoothMotion):
    cdef RungeKuttaSteps steps
