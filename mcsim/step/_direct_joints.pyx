"""Joints that are solved directly (direct/_articulations.pyx) as constraint sets."""

from libc.stdint cimport int8_t

from mcsim.core._types cimport OK, Twist
from mcsim.direct._articulations cimport Articulations
from mcsim.direct._moved_by_springs cimport MovedBySprings
from mcsim.step._constraint_set cimport ConstraintSet, FurtherPass, StepContext, SweepPass
from mcsim.step._plain_rows cimport PlainRows


cdef class DirectJoints(ConstraintSet):
    """Joints that close at the end of every drift, under "soft": they have no plain rows. plain: what bounds them, and rows
    of gears and of the user's joints."""

    cdef StepContext context
    cdef PlainRows plain
    cdef Articulations articulations
    cdef MovedBySprings moved

    def __init__(self, StepContext context not None, PlainRows plain not None, Articulations articulations not None):
        self.context, self.plain, self.articulations = context, plain, articulations
        self.moved = MovedBySprings(articulations.state, articulations.solves)
        context.joined = articulations.state.joined

    cdef void choose(self, const int8_t* asleep) noexcept nogil:
        self.articulations.state.choose(asleep)

    cdef void begin_step(self) noexcept nogil:
        self.articulations.begin_step()
        if self.articulations.drifts.choice.choose(self.articulations.bounds, self.context.settings.h):
            self.articulations.begin_step()
        self.moved.find()

    cdef void claim(self) noexcept nogil:
        self.context.own = False

    cdef int prepare(self) noexcept nogil:
        self.context.swept = self.context.joint_rows + self.context.contact_rows > self.articulations.state.awake_beside
        if not self.context.swept:
            self.context.most_sweeps = 0
        self.articulations.find_swept(self.plain.rows, self.plain.joint_end, self.context.store.manifolds,
                                      self.context.store.manifold_count)
        return OK

    cdef void finish(self, double part) noexcept nogil:
        self.articulations.prepare()

    cdef void warm_start_joints(self) noexcept nogil:
        self.articulations.begin()
        self.articulations.start_parts.finish_warm_start(False)

    cdef void begin_pass(self, const SweepPass* p) noexcept nogil:
        if not p.relaxed and self.context.swept:
            self.articulations.aim()

    cdef void begin_sweep(self, const SweepPass* p) noexcept nogil:
        self.articulations.bounds.hold_bounded(p.twist, p.relaxed, p.k != 0 and p.k != p.iterations // 2)

    cdef bint end_sweep(self, const SweepPass* p) noexcept nogil:
        self.articulations.solve(p.twist, p.relaxed)
        # Anew half-way, so that motors, limits and contacts meet the velocities that really close the joints.
        if not p.relaxed and p.k == p.iterations // 2 - 1:
            self.articulations.aim()
        return True

    cdef void close(self) noexcept nogil:
        self.articulations.close()

    cdef void refresh(self) noexcept nogil:
        self.articulations.refresh()

    cdef void begin_relax(self) noexcept nogil:
        self.articulations.begin_relax()
        self.articulations.start_parts.finish_warm_start(True)

    cdef void end_relax(self) noexcept nogil:
        self.articulations.end_relax()

    cdef double residual(self, Twist* twist, int relaxed) noexcept nogil:
        return self.articulations.residual()

    cdef void mark_changes(self, const FurtherPass* p) noexcept nogil:
        self.articulations.further.spread_changes(1, p.changed)

    cdef void answer_changes(self, const FurtherPass* p) noexcept nogil:
        self.articulations.further.solve_changed(p.twist, p.sizes, p.speed, p.rate, p.k, p.changed)

    cdef void give(self) noexcept nogil:
        self.articulations.give_batches()
        self.context.own_rows = &self.articulations.state.tree.rows

    cdef void notes(self) noexcept nogil:
        self.articulations.account.settle_energy()


cdef class JointsInTurn(ConstraintSet):
    """Joints that have plain rows, which are solved all at once after every sweep: under other stabilizations than
    "soft"."""

    cdef StepContext context
    cdef PlainRows plain
    cdef Articulations articulations
    cdef bint holds                      # whether there are bounded rows that are solved with them before every sweep

    def __init__(self, StepContext context not None, PlainRows plain not None, Articulations articulations not None):
        self.context, self.plain, self.articulations = context, plain, articulations

    cdef void choose(self, const int8_t* asleep) noexcept nogil:
        self.articulations.state.choose(asleep)

    cdef int prepare(self) noexcept nogil:
        self.context.swept = self.context.joint_rows + self.context.contact_rows > (
            self.articulations.state.awake_rows + self.articulations.state.awake_beside)
        if not self.context.swept:
            self.context.most_sweeps = 1
        self.articulations.bounds.choose(self.plain.rows, self.plain.joint_end)
        self.holds = self.articulations.bounds.hold_any()
        self.articulations.state.find_touched(self.context.store.manifolds, self.context.store.manifold_count)
        return OK

    cdef void finish(self, double part) noexcept nogil:
        self.articulations.read(self.plain.rows)

    cdef void begin_pass(self, const SweepPass* p) noexcept nogil:
        self.articulations.begin_pass()
        if self.context.swept and self.articulations.state.tree.loops:
            self.solve(p, False, False, False)           # whose impulses start from 0: the sweeps are not to see that

    cdef void begin_sweep(self, const SweepPass* p) noexcept nogil:
        if self.holds:
            self.solve(p, True, p.k > 0, False)

    cdef bint end_sweep(self, const SweepPass* p) noexcept nogil:
        self.solve(p, False, False, False)
        if self.holds and p.k == p.iterations - 1 and p.twist == self.context.bodies.twist:
            self.solve(p, True, True, True)
        return True

    cdef void solve(self, const SweepPass* p, bint hold, bint solved, bint rotors) noexcept nogil:
        self.articulations.solve_rows(self.plain.rows, p.twist, p.relaxed, hold, solved, rotors)
