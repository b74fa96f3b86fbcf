"""Integrators that follow smooth motions by Runge-Kutta: a motion (_smooth_motion.pyx) and its steps
(_runge_kutta_steps.pyx)."""


cdef class RungeKuttaIntegrator(SmoothMotion):
    """Arguments as of Integrator."""

    def __init__(self, *arguments):
        SmoothMotion.__init__(self, *arguments)
        self.steps = RungeKuttaSteps(self)
