"""integrator="semi_implicit": velocities first, then poses by them.

    integrate    v += h M^-1 f
    warm start   v += M^-1 J' lambda
    solve        sweeps with bias
    integrate    x, q by v, w; "projection" and "ggl": by v solved anew until joints are as open as before; "split_impulse":
                 also by a displacement that the rows are solved on
    refresh      the same rows at the new poses
    impact       before anything stops what should bounce
    relax        sweeps without bias ("soft", "projection", "ggl")
    mend         "projection" and "ggl": the rows solved on a displacement, poses moved by it, rows refreshed; some rounds
    store        impulses back into the manifolds, totals

Where a relax pass follows, forces and impulses act in two halves: before the drift, and after the rows are refreshed
(wide/_halves.pxd).
"""

from mcsim.integrate._euler cimport integrate_velocities
from mcsim.state._row cimport BIASED
from mcsim.step._integrator cimport Integrator
from mcsim.step._stage_times cimport STAGE_INTEGRATE, STAGE_REFRESH, STAGE_RELAX, STAGE_SOLVE, STAGE_WARM_START


cdef class SemiImplicit(Integrator):
    """Arguments as of Integrator."""

    cdef void substep(self, bint last) noexcept nogil:
        self.plain.aim_motors()
        self.context.efforts.follow()
        integrate_velocities(self.context.bodies, self.context.settings, self.context.settings.first_kick)
        self.times.lap(STAGE_INTEGRATE)
        self.joint_warm_starts.start()
        self.sets.warm_start()
        self.sets.warm_start_joints()
        self.joint_warm_starts.weigh(False)
        self.times.lap(STAGE_WARM_START)
        self.sweeping.solve(self.context.bodies.twist, BIASED, self.sweeping.asked)
        self.sets.close()
        self.sweeping.end_biased(last)
        self.times.lap(STAGE_SOLVE)
        self.set_time(self.context.settings.time + self.context.settings.h)
        self.drift.move(self.sweeping)
        self.times.lap(STAGE_INTEGRATE)
        self.sweeping.refresh()
        self.times.lap(STAGE_REFRESH)
        if not self.sweeping.yields:
            self.restitution.bounce_early()
        self.return_halves()
        self.times.lap(STAGE_REFRESH)
        self.sets.begin_relax()
        self.joint_warm_starts.weigh(True)
        if self.sweeping.yields:
            self.restitution.bounce(False)
        self.sweeping.relax(last)
        self.times.lap(STAGE_RELAX)
        self.drift.mend(self.sweeping)
        self.times.lap(STAGE_SOLVE)
        self.end_substep()

    cdef void return_halves(self) noexcept nogil:
        """Forces and impulses of the second half, at the new poses."""
        if self.sweeping.in_halves:
            self.context.efforts.follow()
            integrate_velocities(self.context.bodies, self.context.settings, 1.0 - self.context.settings.first_kick)
            self.sets.return_shared()
            self.joint_warm_starts.start()
            self.sets.return_carried()
