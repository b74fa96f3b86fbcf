"""Who solves the rows over the velocities of trees: motors and loops exactly, all else by sweeps; or a solver of the
laboratory.
"""

from libc.stdint cimport int32_t
from libc.string cimport memset

from mcsim.core._noted cimport NOTE_PIVOTS
from mcsim.core._types cimport OK, Twist
from mcsim.stabilize._stabilize cimport leave_open
from mcsim.state._row cimport Row
from mcsim.state._settings cimport STABILIZE_SOFT
from mcsim.step._constraint_set cimport StepContext
from mcsim.step._sweeps cimport SWEEPS_A_LOOK


cdef class TreeSweeps(Sweeps):
    """kicks: what forces have given trees, which is aimed anew between sweeps."""

    def __init__(self, StepContext context, sets, plain, further, drives, calls, TreeSpace space not None,
                 TreeConstraints rows not None, TreeKicks kicks not None):
        Sweeps.__init__(self, context, sets, plain, further, drives, calls)
        self.space, self.rows, self.kicks = space, rows, kicks
        self.rubs = context.settings.stabilization != STABILIZE_SOFT or not context.settings.friction_central

    def by_laboratory(self, problem):
        return TreeLaboratory(self, problem)

    cdef void begin_step(self) noexcept nogil:
        """What drives contradict is not looked for."""

    cdef void refresh(self) noexcept nogil:
        """What is open in the end closes by the next substep's rows, not in the relax pass."""
        Sweeps.refresh(self)
        leave_open(self.plain.rows, self.plain.joint_end, self.plain.row_count)

    cdef void solve(self, Twist* twist, int relaxed, int iterations) noexcept nogil:
        """All rows, on qd."""
        cdef Row* rows = self.plain.rows
        cdef double* qd = self.space.motion.qd
        cdef bint rub = relaxed or self.rubs
        cdef Py_ssize_t given_up
        cdef int k
        if self.rows.contacts.laden_count > 0:
            self.rows.contacts.laden_rows.begin(rows, self.plain.row_count, self.rows.contacts.laden_blocks,
                                                self.rows.contacts.laden_count, self.rows.contacts.efforts,
                                                self.rows.contacts.undone, NULL if relaxed else self.kicks.at_most, rub,
                                                iterations)
        for k in range(iterations):
            self.made += 1
            memset(self.rows.generalized.stirred, 0, self.space.motion.tree.nv * sizeof(int32_t))
            given_up = self.rows.held_trees.hold(rows, qd, relaxed, k == 0)
            if given_up >= 0:
                self.note_given_up(given_up)
            self.correction = max(self.rows.held_trees.largest, self.rows.loop_rows.solve(rows, qd, relaxed))
            self.correction = max(self.correction, self.rows.row_sweeps.sweep(
                rows, self.plain.joint_end, self.plain.row_count, qd, relaxed, rub, iterations - 1 - k))
            if self.rows.contacts.laden_count > 0:
                self.correction = max(self.correction, self.rows.contacts.laden_rows.sweep(rows, qd, relaxed))
            if self.correction == 0.0:
                break
            if not relaxed and k + 1 < iterations and self.context.contact_rows > 0:
                self.kicks.again(0.5 * self.context.settings.h)
            if self.tolerance >= 0.0:
                self.space.body_sync.show_twists()
                if self.solved(self.context.bodies.twist, relaxed):
                    break
            if k % SWEEPS_A_LOOK == SWEEPS_A_LOOK - 1 and self.calls.is_interrupted():
                break
        if relaxed:
            self.made += self.further.settle_trees(self.rows.row_sweeps, rows, self.plain.joint_end,
                                                   self.plain.row_count, self.rows.held_trees.group, qd)

    cdef void note_given_up(self, Py_ssize_t span) noexcept nogil:
        """Bounded rows that were not solved exactly."""
        cdef const Row* row = &self.plain.rows[self.rows.held_trees.row[self.rows.held_trees.begin[span]]]
        self.context.noted.most(NOTE_PIVOTS, row.body_b if self.rows.held_trees.group[row.body_b] >= 0 else row.body_a,
                                self.rows.held_trees.count[span])


cdef class TreeLaboratory(TreeSweeps):
    """problem(rows, qd, relaxed, J, H^-1 J'): solves all rows."""

    def __init__(self, TreeSweeps before not None, problem):
        TreeSweeps.__init__(self, before.context, before.sets, before.plain, before.further, before.drives, before.calls,
                            before.space, before.rows, before.kicks)
        self.problem = problem

    cdef void solve(self, Twist* twist, int relaxed, int iterations) noexcept nogil:
        self.solve_problem(relaxed)

    cdef void solve_problem(self, int relaxed) noexcept with gil:
        if self.calls.status != OK:
            return
        try:
            self.correction = self.problem(self.plain.now(), self.space.qd, relaxed, *self.space.row_matrices())
        except BaseException as error:
            self.calls.fail(error)

    cdef void notes(self) noexcept nogil:
        """What it has not done, a solver says itself."""
