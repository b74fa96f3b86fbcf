"""A substep in generalized coordinates: trees move by q and qd, and the bodies follow. Joints of the trees hold by
themselves; what bounds or drives them, the joints that close loops, and contacts are the same rows as in maximal
coordinates, over the trees' velocities.

    per substep h = dt / n
      kick       qd += h/2 qdd(q, qd), for the rows to see
      warm start impulses of the last substep; of loops half of them, for their other half acts after the drift
      rows       J, H^-1 J' by the articulated inertias, sweeps with bias
      drift      from qd as it was and what the rows have changed of it, with all forces: reduced/_flight.pyx
      refresh    the trees and the rows at the new pose
      relax      sweeps without bias; restitution

Trees that loops tie drift by the velocities that close them:

      kick       at the velocities that come out: two rounds
      close      qd such that loops are closed after the drift, and that the momenta before it are right: _closed_flight.pyx
      drift      q by qd
      land       qd by the momenta after it, and what forces do
      mend       under "projection", q is projected onto what loops allow
      relax      loops that are open give back what they drove

or as leapfrog does, which kicks by h/2 qdd(q, qd) once more in place of landing, with the velocity's part of the force
implicit before the drift and explicit after it (E. Hairer, C. Lubich, G. Wanner, Geometric Numerical Integration, 2006,
section VI.1).
"""

import numpy as np

from libc.stdint cimport int32_t

from mcsim.core._arrays cimport integers
from mcsim.reduced._motion cimport Block
from mcsim.reduced._tree_momentum cimport TreeMomentum
from mcsim.solve._generalized cimport closes
from mcsim.solve._si cimport residual
from mcsim.state._row cimport BIASED, RELAXED, Row
from mcsim.step._bounded_energy cimport BoundedEnergy
from mcsim.step._closed_flight cimport ClosedFlight
from mcsim.step._integrator cimport Integrator
from mcsim.step._loop_account cimport LoopAccount
from mcsim.step._stage_times cimport STAGE_INTEGRATE, STAGE_REFRESH, STAGE_RELAX, STAGE_SOLVE, STAGE_WARM_START
from mcsim.step._tree_constraints cimport TreeConstraints
from mcsim.step._tree_kicks cimport TreeKicks
from mcsim.step._tree_loops cimport CLOSINGS
from mcsim.step._tree_parts cimport TreeParts
from mcsim.step._tree_space cimport TreeSpace


cdef class TreeIntegrator(Integrator):
    """Arguments as of Integrator, and the parts that it moves."""

    cdef TreeParts parts
    cdef TreeSpace space                 # of the parts, as rows and kicks are
    cdef TreeConstraints rows
    cdef TreeKicks kicks
    cdef LoopAccount account             # of loops that yield
    cdef ClosedFlight closed             # of trees that loops tie
    cdef BoundedEnergy energy
    cdef bint watched                    # loops are strained in this substep
    cdef bint bounded                    # the energy of some trees is bounded in it
    cdef bint looked                     # at the velocities that it begins with
    cdef TreeMomentum momentum           # of trees that loops tie and nothing holds
    cdef bint free                       # there are some in it
    cdef object kept_numbers
    cdef int32_t* held                   # (trees,) whether a loop holds it to what does not move

    def __init__(self, context, plain, sets, sweeping, restitution, times, calls, TreeParts parts not None):
        Integrator.__init__(self, context, plain, sets, sweeping, restitution, times, calls)
        self.parts, self.space, self.rows, self.kicks = parts, parts.space, parts.rows, parts.kicks
        self.account = LoopAccount(self.space.energies, self.space.generalized, self.rows.loop_rows)
        self.energy = BoundedEnergy(context, plain, self.space.energies)
        self.momentum = TreeMomentum(self.space.motion)
        self.closed = ClosedFlight(self.space, self.rows.loops, self.kicks, self.momentum)
        self.kept_numbers = np.zeros(self.space.motion.tree_count + 1, np.int32)
        self.held = integers(self.kept_numbers)

    def reserve(self):
        self.account.reserve(self.plain.row_capacity)
        self.closed.reserve(self.plain.row_capacity)

    def impacts(self, int law):
        return self.parts.impacts(law)

    cdef void substep(self, bint last) noexcept nogil:
        cdef double h = self.context.settings.h
        if self.parts.refuses_pitch():
            return
        self.space.ahead = 0.0 if self.is_tied() else 0.5 * h
        self.space.sum_forces(h)
        self.space.ahead = 0.0
        if self.plain.row_count == 0:
            self.free_substep(h)
        else:
            self.begin_substep(h)
            self.solve_biased(h, last)
            self.drift_trees(h)
            self.finish_drift(h)
            self.solve_relaxed(h, last)
        self.space.resting.carry(h)
        self.end_substep()
        self.parts.end_substep(h, last)

    cdef bint is_tied(self) noexcept nogil:
        """Whether loops tie any tree: it takes forces at both ends of a substep, others once, as they are in the middle."""
        cdef Py_ssize_t k
        for k in range(self.space.motion.tree_count if self.rows.loops.some else 0):
            if self.rows.tree_rows.tied[k]:
                return True
        return False

    cdef bint is_free(self) noexcept nogil:
        """Whether loops tie trees that nothing holds."""
        cdef const Row* row
        cdef Py_ssize_t i, k
        for k in range(self.space.motion.tree_count):
            self.held[k] = False
        for i in range(self.plain.joint_end):
            row = &self.plain.rows[i]
            if closes(row):
                self.hold(row.body_a, row.body_b)
                self.hold(row.body_b, row.body_a)
        return self.momentum.find(self.rows.loops.bond, self.rows.tree_rows.tied, self.held)

    cdef void hold(self, int32_t body, int32_t other) noexcept nogil:
        """A loop ties a body to another one."""
        cdef const Block* blocks = self.space.motion.blocks
        if body >= 0 and blocks[body].count > 0 and (other < 0 or blocks[other].count == 0):
            self.held[blocks[body].tree] = True

    cdef void free_substep(self, double h) noexcept nogil:
        """Without rows."""
        self.sweeping.residual = 0.0
        self.kicks.flight.fly(NULL, h, self.space.forces)
        self.set_time(self.context.settings.time + h)
        self.space.poses.give_poses(True, self.context.bodies.position, self.context.bodies.orientation)
        self.space.body_sync.give_twists()
        self.times.lap(STAGE_INTEGRATE)

    # ---- with rows ---------------------------------------------------------------------------------------------------

    cdef void begin_substep(self, double h) noexcept nogil:
        """What rows start with, and what is kept of the substep's begin."""
        self.free = self.rows.loops.some and self.is_free()
        if self.free:
            self.space.motion.look()
            self.momentum.keep()
            self.momentum.press(0.5 * h, self.space.forces)
        self.watched = self.rows.loops.some and self.rows.loops.note_strain()
        if self.watched:
            self.account.begin_half(self.plain.rows, self.plain.row_count, 0.5 * h, self.space.forces, False)
        self.bounded = self.energy.find(self.space.forces, self.rows.tree_rows.tied)
        self.plain.aim_motors()
        self.plain.set_start_impulses()
        if self.rows.surfaces is not None:
            self.rows.surfaces.set_start_impulses()
        self.kicks.begin()
        self.looked = self.bounded or self.context.contact_rows > 0
        if self.looked:
            self.space.motion.look()
        if self.bounded:
            self.energy.keep()
        if self.context.contact_rows > 0:
            self.rows.contacts.begin()
        self.times.lap(STAGE_WARM_START)

    cdef void solve_biased(self, double h, bint last) noexcept nogil:
        self.kicks.first(0.5 * h, self.looked)
        self.times.lap(STAGE_INTEGRATE)
        self.sweeping.solve(self.context.bodies.twist, BIASED, self.sweeping.asked)
        if self.free:
            self.momentum.strike(self.kicks.kicked_to)
        self.sweeping.first_residual = 0.0
        if last and self.context.settings.compliant:
            self.space.body_sync.show_twists()
            self.sweeping.first_residual = residual(self.plain.rows, self.plain.row_count, self.context.bodies.twist,
                                                    BIASED)
        self.times.lap(STAGE_SOLVE)

    cdef void drift_trees(self, double h) noexcept nogil:
        """From the substep's first poses to its last."""
        self.set_time(self.context.settings.time + h)
        if self.closed.flies():
            self.closed.close(h)
            self.space.motion.place()
        if self.watched:
            self.account.end_half(self.plain.rows, self.plain.row_count, 0.5 * h, self.space.forces)
        self.kicks.fly(h)
        if self.rows.loops.some:
            self.space.energies.account(-1.0, True)
            self.space.motion.drift(h)
            self.kicks.flight.bring_back(self.rows.tree_rows.tied)
        if self.free:
            self.space.motion.place()
            self.momentum.move(h)

    cdef void finish_drift(self, double h) noexcept nogil:
        """Bodies and rows at the new poses; of trees that loops tie the second kick."""
        if self.rows.loops.some:
            self.space.body_sync.show(True, self.context.steps)
        else:
            self.space.poses.give_poses(True, self.context.bodies.position, self.context.bodies.orientation)
            self.space.body_sync.give_twists()
        self.times.lap(STAGE_INTEGRATE)
        self.sweeping.refresh()
        self.times.lap(STAGE_REFRESH)
        if self.rows.loops.some:
            self.space.sum_forces(self.context.settings.h)
        if self.watched:
            self.account.begin_half(self.plain.rows, self.plain.row_count, 0.5 * h, self.space.forces, True)
        if self.rows.loops.some:
            self.closed.land(h)
        if self.free:
            self.space.motion.look()
            self.momentum.measure()
            self.momentum.press(0.5 * h, self.space.forces)
            self.momentum.settle()
        self.times.lap(STAGE_INTEGRATE)
        if self.rows.loops.projecting:
            self.rows.loops.project(self.sweeping, h, CLOSINGS)
        self.times.lap(STAGE_REFRESH)

    cdef void solve_relaxed(self, double h, bint last) noexcept nogil:
        self.sets.return_carried()
        self.rows.warm_starts.weigh(True)
        self.restitution.bounce(False)
        self.sweeping.solve(self.context.bodies.twist, RELAXED, self.sweeping.asked)
        if self.free:
            self.space.motion.look()
            self.momentum.keep()
        if self.watched:
            self.account.end_half(self.plain.rows, self.plain.row_count, 0.5 * h, self.space.forces)
            self.account.calm(self.plain.rows, self.plain.row_count, self.context.settings.compliant)
        self.space.motion.look()
        if self.bounded and self.energy.settle():
            self.space.motion.look()
        if self.free and (self.watched or self.bounded):     # which may have taken of them
            self.momentum.measure()
            self.momentum.settle()
            self.space.motion.look()
        self.space.body_sync.give_twists()
        if last:
            self.sweeping.residual = max(self.sweeping.first_residual, residual(
                self.plain.rows, self.plain.row_count, self.context.bodies.twist, RELAXED))
        if self.rows.loops.some:
            self.rows.loops.note_open()
        self.times.lap(STAGE_RELAX)
