"""Who solves the rows of all constraint sets: sweeps over them, over their matrix, or a solver of the laboratory."""

import numpy as np

from mcsim.core._noted cimport NOBODY, NOTE_CHANGING, NOTE_SWEEPS
from mcsim.core._types cimport OK
from mcsim.state._row cimport BIASED, RELAXED
from mcsim.state._settings cimport STABILIZE_SOFT

cdef enum:
    MOST_SWEEPS = 1000           # likewise, of the assembled matrix


cdef class Sweeps:
    """Sweeps of Gauss-Seidel over the sets in their order, each with what answers it."""

    def __init__(self, StepContext context not None, ConstraintSets sets not None, PlainRows plain not None,
                 FurtherSweeps further not None, Drives drives not None, Calls calls not None):
        self.context, self.sets, self.plain, self.further, self.drives, self.calls = (
            context, sets, plain, further, drives, calls)
        self.tolerance = -1.0
        self.rubs = context.settings.stabilization != STABILIZE_SOFT or context.settings.compliant
        self.relaxes = context.settings.relaxes
        self.judges_biased = not self.relaxes or context.settings.compliant
        self.in_halves = context.settings.first_kick < 1.0
        self.yields = self.in_halves and context.settings.stabilization == STABILIZE_SOFT
        self.last_pass = RELAXED if self.relaxes else BIASED

    def by_laboratory(self, problem):
        """What takes the place of these sweeps where a solver of the laboratory solves the rows."""
        return Laboratory(self.context, self.sets, self.plain, self.further, self.drives, self.calls, problem)

    cdef void begin_step(self) noexcept nogil:
        """Where rows may contradict each other, and no compliance bounds what sweeps give then."""
        self.drives.any = not self.yields and self.drives.find(
            self.context.bodies, self.context.store.manifolds, self.context.store.manifold_count, self.context.joints,
            self.context.awake_joints, self.context.awake_joint_count)

    cdef int prepare(self) noexcept nogil:
        """Once the rows are laid out. -> status"""
        return OK

    cdef void refresh(self) noexcept nogil:
        """The rows at the present poses."""
        self.sets.refresh()
        self.finish(1.0)

    cdef void finish(self, double part) noexcept nogil:
        """Rows that are written, part as of the sets' verb."""
        self.sets.finish(part)
        self.assemble()

    cdef void assemble(self) noexcept nogil:
        """What is made of all of them."""

    cdef SweepPass new_pass(self, Twist* twist, int relaxed, int iterations) noexcept nogil:
        """Soft contacts rub in the relax pass alone."""
        cdef SweepPass p
        p.twist, p.relaxed, p.iterations, p.k, p.noting = twist, relaxed, iterations, 0, NULL
        p.rub = relaxed or self.rubs
        return p

    cdef void solve(self, Twist* twist, int relaxed, int iterations) noexcept nogil:
        """All rows, on the bodies' velocities or on a displacement."""
        cdef SweepPass p = self.new_pass(twist, relaxed, iterations)
        cdef int watched = iterations - 1 if self.watches(&p) else -1
        cdef bint answered
        cdef int k
        self.sets.begin_pass(&p)
        for k in range(min(iterations, self.context.most_sweeps)):
            p.k = k
            if k == watched:
                self.note_impulses()
            if relaxed and k == iterations - 1:
                p.noting = self.further.begin()
            self.sets.begin_sweep(&p)
            self.correction = self.sets.sweep(&p)
            self.made += 1
            answered = self.sets.end_sweep(&p)
            if k == watched:
                self.find_vain()
            if self.correction == 0.0 and not answered:  # more would change no bit, whatever there is
                return
            if self.solved(twist, relaxed) or (k % SWEEPS_A_LOOK == SWEEPS_A_LOOK - 1 and self.calls.is_interrupted()):
                return
        self.settle(&p)

    cdef void settle(self, const SweepPass* p) noexcept nogil:
        """Further sweeps after a relax pass."""
        if p.relaxed and self.context.swept and p.twist == self.context.bodies.twist:
            self.made += self.further.settle(self.sets, p.twist)

    cdef void end_biased(self, bint last) noexcept nogil:
        """last: of the step's substeps."""
        if last and self.judges_biased:
            self.measure(BIASED)
            self.first_residual = self.residual

    cdef void relax(self, bint last) noexcept nogil:
        """The relax pass. What the biased one left of compliant contacts counts: their second halves go by the first."""
        if not self.relaxes:
            return
        self.solve(self.context.bodies.twist, RELAXED, self.asked)
        self.sets.end_relax()
        if last:
            self.measure(RELAXED)
            self.residual = max(self.residual, self.first_residual)

    cdef bint solved(self, const Twist* twist, int relaxed) noexcept nogil:
        """Whether the sweeps may end, where a residual ends them."""
        if self.tolerance < 0.0 or twist != self.context.bodies.twist:
            return False
        self.measure(relaxed)
        return self.residual <= self.tolerance

    cdef void measure(self, int relaxed) noexcept nogil:
        """How far the rows are from solved."""
        self.residual = self.sets.residual(self.context.bodies.twist, relaxed)

    # ---- what drives ask for in vain -----------------------------------------------------------------------------------

    cdef bint watches(self, const SweepPass* p) noexcept nogil:
        """Whether the last sweep of a pass is to tell what drives ask for in vain: no other one over velocities follows in
        the substep."""
        return self.drives.any and p.twist == self.context.bodies.twist and (p.relaxed != 0) == (self.last_pass == RELAXED)

    cdef void note_impulses(self) noexcept nogil:
        """Before the last sweep of a substep, where drives may contradict each other."""
        self.sets.note_impulses()
        self.drives.begin(self.context.bodies)

    cdef void find_vain(self) noexcept nogil:
        """After it: what does not last of the impulses, into `carry` (step/_drives.pyx)."""
        self.sets.weigh_changes(self.drives.groups.slope, self.drives.groups.bend)
        self.drives.judge(self.context.bodies)
        self.sets.leave_changes(self.drives.times)

    cdef void notes(self) noexcept nogil:
        """What a step's sweeps have not done."""
        if 0.0 <= self.tolerance < self.residual:
            self.context.noted.most(NOTE_SWEEPS, NOBODY, self.residual)
        if self.further.unsettled:
            self.context.noted.most(NOTE_CHANGING, NOBODY, self.residual)


cdef class MatrixSweeps(Sweeps):
    """solver="pgs": sweeps over the assembled J M^-1 J' of the plain rows, which are all."""

    def __init__(self, StepContext context, ConstraintSets sets, PlainRows plain, FurtherSweeps further, Drives drives,
                 Calls calls, Delassus matrix not None):
        Sweeps.__init__(self, context, sets, plain, further, drives, calls)
        self.matrix = matrix

    cdef int prepare(self) noexcept nogil:
        return self.matrix.build(self.plain.rows, self.plain.row_count, self.context.bodies.count,
                                 self.context.bodies.inv_mass)

    cdef void assemble(self) noexcept nogil:
        self.matrix.assemble(self.plain.rows)

    cdef void solve(self, Twist* twist, int relaxed, int iterations) noexcept nogil:
        cdef SweepPass p = self.new_pass(twist, relaxed, iterations)
        cdef bint watched = self.watches(&p)
        cdef int batch = min(iterations, MOST_SWEEPS) if self.tolerance < 0.0 else 1
        cdef int left = iterations                       # batch: sweeps from one look at the residual to the next
        self.sets.begin_pass(&p)
        while left > 0:
            batch = min(batch, left - 1 if watched and left > 1 else left)
            left -= batch
            if watched and left == 0:
                self.note_impulses()
            self.correction = self.matrix.solve(self.plain.rows, self.plain.factors, twist, relaxed, p.rub, batch)
            self.made += batch
            if watched and left == 0:
                self.find_vain()
            if self.solved(twist, relaxed) or self.calls.is_interrupted():
                return
        self.further.begin()
        self.settle(&p)


cdef class Laboratory(Sweeps):
    """problem(rows, twists, relaxed): solves the plain rows, which are all."""

    def __init__(self, StepContext context, ConstraintSets sets, PlainRows plain, FurtherSweeps further, Drives drives,
                 Calls calls, problem):
        Sweeps.__init__(self, context, sets, plain, further, drives, calls)
        self.problem = problem

    cdef void solve(self, Twist* twist, int relaxed, int iterations) noexcept nogil:
        cdef SweepPass p = self.new_pass(twist, relaxed, iterations)
        self.sets.begin_pass(&p)
        self.solve_problem(twist, relaxed)

    cdef void solve_problem(self, Twist* twist, int relaxed) noexcept with gil:
        cdef double[::1] twists
        if self.calls.status != OK or self.context.bodies.count == 0:
            return
        try:
            twists = <double[:6 * self.context.bodies.count]> <double*>twist
            self.correction = self.problem(self.plain.now(), np.asarray(twists), relaxed)
        except BaseException as error:
            self.calls.fail(error)

    cdef void notes(self) noexcept nogil:
        """What it has not done, a solver says itself."""
