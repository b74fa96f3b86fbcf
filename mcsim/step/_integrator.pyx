"""How a substep moves velocities and poses, over the constraint sets of a world: what all integrators share.

    _semi_implicit.pyx        velocities first, then poses by them
    _smooth_integrator.pyx    Runge-Kutta on accelerations that meet all joints at once
    _position_integrator.pyx  flights that end with closed joints

They know no more of a world than its sets, what solves them, and what is struck.
"""

from mcsim.step._stage_times cimport STAGE_STORE


cdef class Integrator:
    """One that moves nothing."""

    def __init__(self, StepContext context not None, PlainRows plain not None, ConstraintSets sets not None,
                 Sweeps sweeping not None, Restitution restitution not None, StageTimes times not None,
                 Calls calls not None):
        self.context, self.plain, self.sets, self.sweeping = context, plain, sets, sweeping
        self.restitution, self.times, self.calls = restitution, times, calls

    def take_solver(self, Sweeps sweeping not None):
        """Who solves the rows from now on."""
        self.sweeping = sweeping

    def take_drift(self, Drift drift not None, WholeWarmStarts joint_warm_starts not None):
        """How poses follow velocities, and how far warm starts act beside joints that are solved directly."""
        self.drift, self.joint_warm_starts = drift, joint_warm_starts

    def plan(self, bodies, joints, sizes):
        """Follow joints that broke, or are whole again. sizes(): (joints,) rows that are each joint itself."""

    def reserve(self):
        """Room for the plain rows."""

    def impacts(self, int law):
        """Who makes what bounces, and which part of a substep's forces acts before the drift; None: as the joints are
        solved. law: of solve/_laws.pxd."""
        return None

    def name(self, bodies, joints):
        """Their names, for messages."""

    cdef int set_time(self, double time) noexcept nogil:
        """The time of the present poses, and what functions of the user's say for it. -> status"""
        self.context.settings.time = time
        return self.calls.tell(time)

    cdef void begin_step(self) noexcept nogil:
        """The rows are laid out."""

    cdef void substep(self, bint last) noexcept nogil:
        """last: of the step's substeps."""

    cdef void end_substep(self) noexcept nogil:
        """Impulses of a substep into the manifolds."""
        self.sets.end_substep()
        self.times.lap(STAGE_STORE)
