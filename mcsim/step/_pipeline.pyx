"""The stages of a step in their order. No mathematics here: each stage is one call into a lower floor.

    collide      shapes and poses -> manifolds; the last step's impulses carried over by feature id
    prepare      joints and manifolds -> rows: Jacobians, errors, bounds, warm impulses; biases; block factors
    impact       restitution: impacts of what touches within the next substep, what closes together at once
    per substep h = dt / n
      integrate    v += h M^-1 f
      warm start   v += M^-1 J' lambda
      solve        sweeps with bias
      integrate    x, q by v, w; "split_impulse" and "ggl": also by a displacement that the rows are solved on
      refresh      the same rows at the new poses
      project      "projection": the rows solved on a displacement, poses moved by it, rows refreshed; some rounds
      impact       as above, before anything stops what should bounce
      relax        sweeps without bias ("soft", "projection", "ggl")
      store        impulses back into the manifolds, totals
    store        is the state finite? Then impulses go back into the joints; those that carried too much break
    finish       contacts and sensors look; who falls asleep

Joints that are solved directly (docs/theory/tree.md) have no rows here: _articulations.pyx keeps them. Under "soft" forces
and impulses act in two halves: before the drift, and after the rows are refreshed (wide/_halves.pxd). Other integrators
have a substep of their own (_smooth_pipeline.pyx, _position_pipeline.pyx).
"""

from libc.stdint cimport int8_t, int32_t, int64_t
from libc.string cimport memcpy, memset
from cpython.exc cimport PyErr_CheckSignals

import numpy as np

from mcsim.step._impacts cimport ArticulationImpacts, RowImpacts
from mcsim.step._warm_starts cimport WarmStarts
from mcsim.constraints._contacts cimport accumulate_contacts, layout_contacts, refresh_contacts
from mcsim.constraints._direct cimport write_bent_rows
from mcsim.constraints._joints cimport break_joints, foresee_turns, is_shared, layout_joints, refresh_listed, store_joints
from mcsim.constraints._forces cimport add_joint_forces
from mcsim.constraints._motors cimport aim_motors
from mcsim.core._clock cimport start_clock, tick, ticks
from mcsim.core._noted cimport NOBODY, NOTE_CHANGING, NOTE_ROWS, NOTE_SWEEPS
from mcsim.core._types cimport CALL_FAILED, GROW, NOT_FINITE, OK, Quat, Twist, Vec3
from mcsim.integrate._euler cimport integrate_poses, integrate_velocities, update_inertia
from mcsim.integrate._rk4 cimport smooth_forces
from mcsim.solve._blocks cimport factor_blocks, row_apply
from mcsim.solve._si cimport residual, sweep_si
from mcsim.stabilize._displace cimport MOST_SHORTER
from mcsim.stabilize._stabilize cimport stabilize_rows
from mcsim.state._layout cimport (BIASED, BLOCK_BORDER, BLOCK_TREE, INTEGRATE_SEMI_IMPLICIT, Joint, JointRows, RELAXED,
                                  STABILIZE_GGL, STABILIZE_PROJECTION, STABILIZE_SOFT, STABILIZE_SPLIT_IMPULSE)

from mcsim.solve import SOLVERS
from mcsim.solve.problems.from_rows import matrices

cdef int PGS = SOLVERS["pgs"]

start_clock()

# How often a long run, or a long step, looks for Ctrl-C [s].
cdef double SIGNAL_INTERVAL = 0.05

cdef enum:
    MOST_SWEEPS = 1000           # of the assembled matrix, from one look at the clock to the next


cdef class Pipeline(WarmStarts):
    """One world's step. Arguments as of Machine."""

    # ---- stages ------------------------------------------------------------------------------------------------------

    cdef void lap(self, int stage) noexcept nogil:
        """Charge the time since the last lap to a stage."""
        cdef int64_t t = ticks()
        self.stage_ticks[stage] += t - self.clock
        self.clock = t

    cdef bint is_interrupted(self) noexcept nogil:
        """Whether the step is to end: a function of the user's has failed, or the handler of a signal."""
        cdef int64_t now = ticks()
        if self.call_status == OK and now - self.looked > self.look_interval:
            self.looked = now
            self.look_for_signals()
        return self.call_status != OK

    cdef void look_for_signals(self) noexcept with gil:
        try:
            PyErr_CheckSignals()
        except BaseException as error:
            self.failure = error
            self.call_status = CALL_FAILED

    cdef int set_time(self, double time) noexcept nogil:
        """The time of the present poses, and what functions of the user's say for it. -> status"""
        self.settings.time = time
        if self.calling:
            self.call_user(time)
        return self.call_status

    cdef void call_user(self, double time) noexcept with gil:
        try:
            self.calls(time)
        except BaseException as error:
            self.failure = error
            self.call_status = CALL_FAILED

    cdef int collide(self) noexcept nogil:
        cdef int status = self.set_time(self.start + self.steps * self.settings.dt)
        if status == OK:
            status = self.find_contacts()
        while status == OK and self.islands.sleepers > 0 and self.islands.wake_touched(
                &self.bodies, self.collider.manifolds, self.collider.manifold_count, self.settings.dt):
            self.follow_islands()
            status = self.find_contacts()
        if self.islands.sleepers > 0:
            self.collider.manifold_count = self.islands.drop_sleeping(
                &self.bodies, self.collider.manifolds, self.collider.manifold_count, self.settings.dt)
        if status == OK:
            self.collider.find_resistances()
        self.lap(STAGE_COLLIDE)
        return status

    cdef int layout(self, bint own, bint wide) noexcept nogil:
        """All rows at the present poses; the joints' own only if `own`. wide: several at a time instead what can be."""
        cdef Py_ssize_t n, joints
        cdef bint apart = wide and self.widening_joints
        cdef const int8_t* taken = NULL
        cdef const int8_t* struck
        cdef int status
        if self.collider.manifold_count > self.anchor_capacity:
            return GROW
        self.pose_calls.call(False)
        if self.pose_calls.status != OK:
            return CALL_FAILED
        wide = wide and self.widening
        self.apart = self.wide_joints.source.rows.begin if apart else NULL
        struck = self.struck.find(self.collider.manifolds, self.collider.manifold_count)
        if wide and self.closing:
            self.articulations.angles.load(self.joints, &self.bodies, &self.settings, struck)
            taken = self.articulations.angles.taken
        joints = layout_joints(self.joints, self.awake_joints, self.awake_joint_count, &self.bodies, &self.settings,
                               self.rows, self.row_capacity, own, self.apart, taken, struck, &self.joint_lists)
        if joints < 0:
            return GROW
        n = joints
        if not wide or self.bounces:
            n = layout_contacts(self.collider.manifolds, self.collider.resisted(), self.collider.manifold_count, NULL,
                                &self.bodies, &self.settings, self.anchors, self.rows, joints, self.row_capacity, wide)
            if n < 0:
                return GROW
        if self.settings.compliant:
            self.load_surfaces()
        self.impact_rows = n
        self.wide.count = 0                          # contacts that are rows have no blocks to refresh
        self.further.weigh(self.collider.manifolds, self.collider.manifold_count, &self.bodies, self.joints, self.joint_count,
                           self.articulations, self.closing)
        if wide:
            status = self.layout_wide(joints, n)
            if status != OK:
                return status
            n = joints
        if apart:
            self.wide_joints.load(self.joints, &self.bodies)
        self.joint_end = joints
        self.joint_row_count = joints + (self.wide_joints.awake_row_count if apart else 0)
        if taken != NULL:
            self.joint_row_count += self.articulations.angles.row_count
        self.row_count = n
        self.contact_row_count = self.wide.row_count if wide else n - joints
        self.swept = not self.settings.joint_tree or self.joint_row_count + self.contact_row_count > (
            (self.articulations.awake_rows if own else 0) + self.articulations.awake_beside)
        if self.settings.joint_tree:
            self.articulations.border.begin_step(self.rows)
        if self.settings.solver == PGS:
            status = self.matrix.build(self.rows, n, self.bodies.count, self.bodies.inv_mass)
            if status != OK:
                return status
        self.find_drives()
        self.motors = aim_motors(self.joints, self.rows, self.joint_end, self.bodies.twist, &self.settings)
        self.finish_rows(self.settings.first_kick)
        self.wide.refresh(&self.bodies, &self.settings, NULL)
        return OK

    cdef int layout_wide(self, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
        """Contacts several at a time. Those that bounce have rows beside, rows[begin:end], on which impacts act."""
        cdef Py_ssize_t i
        for i in range(begin, end):
            self.rows[i].impulse = 0.0
        return self.wide.layout(self.collider.manifolds, self.collider.resisted(), self.collider.manifold_count,
                                &self.bodies, self.further.neighbours, self.articulations.joined if self.closing else NULL,
                                self.settings.gravity, self.joints, self.awake_joints, self.awake_joint_count)

    cdef void write_joints(self, Row* rows) noexcept nogil:
        self.pose_calls.call(False)
        if self.apart and self.joint_end == 0 and self.wide_joints.count == 0:
            return                                       # plain ball joints alone
        refresh_listed(self.joints, &self.joint_lists, &self.bodies, &self.settings, rows, not self.closing, self.apart)

    cdef void write_rows(self, Row* rows) noexcept nogil:
        """The same rows at the present poses."""
        self.write_joints(rows)
        if self.bounces or not self.widening:
            refresh_contacts(self.collider.manifolds, self.collider.resisted(), self.collider.manifold_count,
                             &self.bodies, &self.settings, self.anchors, rows, self.widening)

    cdef void finish_rows(self, double part) noexcept nogil:
        """Biases, masses and factors of rows whose Jacobians and errors are written; part: of stabilize_rows."""
        if self.row_count > 0:
            stabilize_rows(self.rows, self.row_count, &self.bodies, self.further.neighbours, part, &self.settings)
        if self.settings.compliant:
            self.comply()
        if self.settings.joint_tree and not self.closing:
            self.articulations.read(self.rows)
        factor_blocks(self.rows, self.joint_end, self.factors)
        if self.settings.solver == PGS:
            self.matrix.assemble(self.rows)
        if self.apart:
            if self.wide_joints.count > 0:
                write_bent_rows(self.joints, &self.bodies, &self.settings, &self.wide_joints.source.rows,
                                self.wide_joints.source.curvature, self.wide_joints.source.held)
            self.wide_joints.refresh(&self.bodies, &self.settings)

    cdef void refresh(self) noexcept nogil:
        """The rows at the present poses; not yet the contacts that are taken several at a time."""
        self.write_rows(self.rows)
        if self.settings.compliant:
            self.move_surfaces()
        self.finish_rows(1.0)
        if self.closing:
            self.articulations.angles.refresh(&self.bodies)
            self.articulations.refresh()

    cdef void solve(self, Twist* twist, int relaxed, int iterations) noexcept nogil:
        """All rows, on the bodies' velocities or on a displacement. Soft contacts rub in the relax pass alone."""
        cdef bint probed, rub = relaxed or self.settings.stabilization != STABILIZE_SOFT or self.settings.compliant
        cdef int batch = min(iterations, MOST_SWEEPS) if self.tolerance < 0.0 else 1
        cdef int32_t* noting
        cdef int k, left = iterations                # batch: sweeps from one look at the residual to the next
        cdef int watched = iterations - 1 if self.watches(twist, relaxed) else -1
        if self.laboratory is not None:
            self.solve_problem(twist, relaxed)
            return
        if self.settings.solver == PGS:
            while left > 0:
                batch = min(batch, left - 1 if watched > 0 and left > 1 else left)
                left -= batch
                if watched >= 0 and left == 0:
                    self.note_impulses()
                self.correction = self.matrix.solve(self.rows, self.factors, twist, relaxed, rub, batch)
                self.sweeps += batch
                if watched >= 0 and left == 0:
                    self.find_vain()
                if self.solved(twist, relaxed) or self.is_interrupted():
                    return
            self.settle(twist, relaxed)
            return
        if not self.closing and self.swept and self.settings.joint_tree and self.articulations.tree.loops:
            self.solve_tree(twist, relaxed)              # whose impulses start from 0: the sweeps are not to see that
        probed = twist == self.bodies.twist and self.probe_motors(self.joint_end)
        for k in range(iterations if self.swept else 0 if self.closing else 1):
            if k == watched:
                self.note_impulses()
            if self.closing:
                self.articulations.hold_bounded(twist, relaxed, k != 0 and k != iterations // 2)
            elif probed:
                self.solve_tree(twist, relaxed)
                self.held_motors.hold_alone(self.rows, twist, relaxed)
            self.correction = sweep_si(self.rows, self.row_count, self.factors, twist, relaxed, rub)
            if self.apart:
                self.correction = max(self.correction, self.wide_joints.sweep(twist, relaxed))
            if self.closing:
                self.correction = max(self.correction, self.articulations.angles.sweep(twist, relaxed))
            if self.widening:
                noting = self.further.begin() if relaxed and k == iterations - 1 else NULL
                self.correction = max(self.correction, self.wide.sweep(twist, relaxed, rub, noting, k + 2 - self.least))
            self.sweeps += 1
            if self.settings.joint_tree:
                self.solve_tree(twist, relaxed)
                # Anew half-way, so that motors, limits and contacts meet the velocities that really close the joints.
                if self.closing and not relaxed and k == iterations // 2 - 1:
                    self.articulations.aim()
            if k == watched:
                self.find_vain()
            if self.correction == 0.0 and not self.settings.joint_tree:      # more would change no bit, whatever there is
                break
            if self.solved(twist, relaxed) or (k % SWEEPS_A_LOOK == SWEEPS_A_LOOK - 1 and self.is_interrupted()):
                break
        else:
            self.settle(twist, relaxed)

    cdef void settle(self, Twist* twist, int relaxed) noexcept nogil:
        """Further sweeps after a relax pass."""
        if relaxed and self.swept and twist == self.bodies.twist and not self.settings.compliant:
            self.sweeps += self.further.settle(self.wide, self.widening, self.articulations, self.closing, self.rows,
                                               self.row_count, self.factors, self.sizes, twist)

    cdef bint solved(self, const Twist* twist, int relaxed) noexcept nogil:
        """Whether the sweeps may end, where a residual ends them."""
        if self.tolerance < 0.0 or twist != self.bodies.twist:
            return False
        self.measure(relaxed)
        return self.residual <= self.tolerance

    cdef void solve_problem(self, Twist* twist, int relaxed) noexcept with gil:
        """All rows by a solver of the laboratory."""
        if self.call_status != OK or self.bodies.count == 0:
            return
        try:
            self.correction = self.laboratory(
                self.rows_now(), np.asarray(<double[:6 * self.bodies.count]> <double*>twist), relaxed)
        except BaseException as error:
            self.failure = error
            self.call_status = CALL_FAILED

    cdef void solve_tree(self, Twist* twist, int relaxed) noexcept nogil:
        """All joints at once."""
        if self.closing:
            self.articulations.solve(twist, relaxed)
        else:
            self.articulations.solve_rows(self.rows, twist, relaxed)

    cdef void weigh_guesses(self, bint second) noexcept nogil:
        """Impulses are guessed from those before, which after an impact, or where joints hold what contacts push
        apart, may be far from what they should be. Sweeps only lower what a wrong guess adds, and so slowly as they
        converge: where guesses are worse than none, also with the joints' answer to them, they act as far as they help
        (solve/_guesses.pyx)."""
        cdef Row* row
        cdef Py_ssize_t i
        cdef const double* part = self.articulations.kept_part
        if not self.weigh_once(second):
            return
        self.articulations.hold_doubtful()
        if self.weigh_once(second):
            for i in range(self.row_count):
                row = &self.rows[i]
                row.impulse -= (1.0 - min(part[row.body_a], part[row.body_b])) * self.guess_of(row, second)
            self.articulations.angles.keep_parts(part, second)
            if self.widening:
                self.wide.keep_parts(part, second)
            self.articulations.keep_parts()
        self.articulations.forget_parts()

    cdef bint weigh_once(self, bint second) noexcept nogil:
        """-> whether guesses are worse than none anywhere. Of biases the work that they ask for counts, as a motor's; where
        one has a limit wait at a distance, sweeps find that in a round, and need the others' guesses."""
        cdef Row* row
        cdef Py_ssize_t i
        cdef double guess
        for i in range(self.row_count):
            row = &self.rows[i]
            guess = self.guess_of(row, second)
            if guess != 0.0:
                self.articulations.give(row.body_a, row.body_b, min(guess * row.bias[second], 0.0),
                                        guess * guess * row.compliance[second])
        self.articulations.angles.give_biases(&self.bodies, self.articulations.guesses.slope, second)
        return self.articulations.weigh()

    cdef double guess_of(self, const Row* row, bint second) noexcept nogil:
        """What of its impulse is a guess that has acted just now."""
        if row.block_kind == BLOCK_TREE or row.block_kind == BLOCK_BORDER:
            return 0.0                                   # the articulations' own
        if not second:
            return row.impulse
        return 0.0 if is_shared(row, self.joints, &self.settings) else row.impulse - row.carry

    cdef void return_carried(self, bint shared) noexcept nogil:
        """The second halves of impulses: `shared`, which the relax pass leaves alone, or those that are guesses."""
        cdef Py_ssize_t i
        cdef double impulse
        for i in range(self.joint_end if self.settings.compliant else self.row_count):
            if is_shared(&self.rows[i], self.joints, &self.settings) != shared:
                continue
            impulse = self.take_carried(&self.rows[i])
            if impulse != 0.0:
                row_apply(&self.rows[i], impulse, self.bodies.twist)
        if shared:
            return
        if self.settings.compliant:
            self.guess_contacts(<double*>self.bodies.twist, <double*>self.wrench, RELAXED)
        if self.apart:
            self.wide_joints.give_back(self.bodies.twist)
        if self.closing:
            self.articulations.angles.return_carried(self.bodies.twist)

    cdef void bounce(self, bint held) noexcept nogil:
        """Impacts of what would touch within the next substep. held: joints hold it; else they have to, first. Smooth
        integrators have velocities at the time of the pose, as forces in two halves leave them."""
        cdef double first = self.settings.first_kick if self.settings.integrator == INTEGRATE_SEMI_IMPLICIT else 0.5
        if self.blows is None:
            return
        if not held and self.closing and (<ArticulationImpacts>self.blows).holds_any(self.rows, self.impact_rows):
            self.articulations.solve(self.bodies.twist, True)
        self.show_joint_rows()
        self.impact_count += self.blows.resolve(self.rows, self.impact_rows, self.settings.restitution_threshold,
                                                self.settings.h, first, self.impacts)
        self.lap(STAGE_IMPACT)

    cdef void show_joint_rows(self) noexcept nogil:
        """To impacts that ask for them."""
        if self.joint_count > 0 and self.articulations is None:
            (<RowImpacts>self.blows).joint_rows = self.rows
            (<RowImpacts>self.blows).joint_row_count = self.joint_end

    # ---- positions ---------------------------------------------------------------------------------------------------

    cdef void solve_positions(self) noexcept nogil:
        """The rows, as the displacement has borrowed and aimed them, on the displacement."""
        cdef double correction = self.correction
        self.solve(self.displacement.twist, BIASED, self.asked)
        self.correction = correction

    cdef void drift(self) noexcept nogil:
        if self.settings.stabilization == STABILIZE_SPLIT_IMPULSE:
            self.drift_on_split_impulses()
        elif self.settings.stabilization == STABILIZE_GGL:
            self.drift_by_ggl()
        else:
            if self.closing:
                self.move_on(self.articulations.others, self.articulations.other_count)
            else:
                self.move_on(self.bodies.moving, self.bodies.moving_count)

    cdef void move_on(self, const int32_t* chosen, Py_ssize_t count) noexcept nogil:
        """The end of a drift: the chosen bodies by their velocities, and what sleeps with what carries it."""
        integrate_poses(&self.bodies, chosen, count, self.settings.h, self.settings.threads)
        foresee_turns(self.joints, &self.joint_lists, &self.bodies, self.settings.h)
        self.islands.carry(&self.bodies, self.settings.h)

    cdef void drift_on_split_impulses(self) noexcept nogil:
        """Drift by the velocities and, beside them, by what mends a part of the errors at the start."""
        self.displacement.begin(self.rows, self.row_count, &self.bodies)
        self.displacement.aim_split(self.rows, self.row_count, &self.bodies, &self.settings)
        self.solve_positions()
        self.move_on(self.bodies.moving, self.bodies.moving_count)
        self.displacement.start_here(&self.bodies)
        if self.joint_end > 0:
            self.try_rows(False)
        self.displace(self.settings.baumgarte)
        self.displacement.finish(self.rows, self.row_count, &self.bodies)

    cdef void try_rows(self, bint asked) noexcept nogil:
        """The rows' errors at the end of a drift, from which a displacement goes on (asked: and that it goes by)."""
        memcpy(self.displacement.trial, self.rows, self.row_count * sizeof(Row))
        self.write_rows(self.displacement.trial)
        self.displacement.keep_errors(self.displacement.trial, self.row_count, asked)

    cdef void displace(self, double part) noexcept nogil:
        """By the displacement, or where that goes too far for joints by less of it; what is left, of the `part` of errors that it
        is to mend, is noted."""
        cdef Row* moved = self.displacement.trial
        cdef int k
        if self.joint_end > 0:
            self.displacement.expect(self.rows, self.row_count, &self.bodies)
            memcpy(moved, self.rows, self.row_count * sizeof(Row))
        self.displacement.move(&self.bodies)
        for k in range(MOST_SHORTER + 1 if self.joint_end > 0 else 0):
            self.write_rows(moved)
            if not self.displacement.shorten(self.rows, moved, self.row_count, &self.bodies, k == MOST_SHORTER):
                break
            self.displacement.move(&self.bodies)
        if self.articulations is not None and self.joint_end > 0:
            self.articulations.note_left(self.displacement, moved, self.joint_end, part)

    cdef void drift_by_ggl(self) noexcept nogil:
        """Drift by v + M^-1 J' mu, J at the start, with mu such that the errors at the end are 0."""
        cdef int k
        self.move_on(self.bodies.moving, self.bodies.moving_count)
        self.displacement.begin(self.rows, self.row_count, &self.bodies)
        self.try_rows(True)
        for k in range(self.settings.position_rounds):
            self.displacement.aim_ggl(self.rows, self.row_count, &self.settings)
            self.solve_positions()
            self.displace(1.0)
            if self.joint_end == 0:
                self.write_rows(self.displacement.trial)
            if self.is_interrupted():
                break
        self.displacement.finish(self.rows, self.row_count, &self.bodies)

    cdef void project_positions(self) noexcept nogil:
        """Move the bodies until the errors are 0, by Newton's method: rows at the present poses in every round."""
        cdef int k
        for k in range(self.settings.position_rounds):
            self.displacement.begin(self.rows, self.row_count, &self.bodies)
            self.displacement.aim_projection(self.rows, self.row_count, &self.settings)
            self.solve_positions()
            self.displace(1.0)
            self.displacement.finish(self.rows, self.row_count, &self.bodies)
            self.refresh()
            if self.is_interrupted():
                break

    # ---- a step ------------------------------------------------------------------------------------------------------

    cdef void substep(self, bint last) noexcept nogil:
        cdef int stabilization = self.settings.stabilization
        cdef bint relax = stabilization in (STABILIZE_SOFT, STABILIZE_PROJECTION, STABILIZE_GGL)
        cdef bint watched = self.closing and self.articulations.some_swept and not self.settings.compliant
        cdef double first = self.settings.first_kick
        self.aim_motors(self.joint_end)
        integrate_velocities(&self.bodies, &self.settings, first)
        self.lap(STAGE_INTEGRATE)
        if watched:
            self.articulations.start_guess()
        self.begin_rows()
        if self.closing:
            self.articulations.finish_guess(False)
        if watched:
            self.weigh_guesses(False)
        self.lap(STAGE_WARM_START)
        if not self.closing:
            self.solve(self.bodies.twist, BIASED, self.asked)
        else:
            if self.swept:
                self.articulations.aim()
                self.solve(self.bodies.twist, BIASED, self.asked)
            self.articulations.close()
        if last and (not relax or self.settings.compliant):
            self.measure(BIASED)
            self.first_residual = self.residual
        self.lap(STAGE_SOLVE)
        self.set_time(self.settings.time + self.settings.h)
        self.drift()
        self.lap(STAGE_INTEGRATE)
        self.refresh()
        self.lap(STAGE_REFRESH)
        if stabilization == STABILIZE_PROJECTION:
            self.project_positions()
            self.lap(STAGE_SOLVE)
        if first < 1.0:
            integrate_velocities(&self.bodies, &self.settings, 1.0 - first)
            self.return_carried(True)
        if watched:
            self.articulations.start_guess()
        if first < 1.0:
            self.return_carried(False)
        self.wide.refresh(&self.bodies, &self.settings, self.bodies.twist if first < 1.0 else NULL)
        self.lap(STAGE_REFRESH)
        if self.closing:
            self.articulations.begin_relax()
            self.articulations.finish_guess(True)
        if watched:
            self.weigh_guesses(True)
        self.bounce(False)
        if relax:
            self.solve(self.bodies.twist, RELAXED, self.asked)
            if self.closing:
                self.articulations.end_relax()
            if last:
                self.measure(RELAXED)
                if self.settings.compliant:                  # whose second halves may be given by the first
                    self.residual = max(self.residual, self.first_residual)
            self.lap(STAGE_RELAX)
        self.store_contacts()

    cdef void measure(self, int relaxed) noexcept nogil:
        """How far the rows are from solved."""
        self.residual = residual(self.rows, self.row_count, self.bodies.twist, relaxed)
        if self.apart:
            self.residual = max(self.residual, self.wide_joints.residual(self.bodies.twist, relaxed))
        if self.widening:
            self.residual = max(self.residual, self.wide.residual(self.bodies.twist, relaxed))
        if self.closing:
            self.residual = max(self.residual, self.articulations.residual())
            self.residual = max(self.residual, self.articulations.angles.residual(self.bodies.twist, relaxed))

    cdef void store_contacts(self) noexcept nogil:
        """Impulses of a substep into the manifolds."""
        if self.bounces or not self.widening:
            accumulate_contacts(self.collider.manifolds, self.collider.resisted(), self.collider.manifold_count,
                                &self.settings, self.rows, self.impacts, self.widening)
            memset(self.impacts, 0, self.impact_rows * sizeof(double))
        self.lap(STAGE_STORE)

    cdef int step_once(self) noexcept nogil:
        """One step. GROW: nothing happened; NOT_FINITE, NOT_DONE: the state before the step is back."""
        cdef const JointRows* own = NULL
        cdef Py_ssize_t i
        cdef int status
        self.save_backup()
        status = self.collide()
        if status == OK:
            if self.closing:
                self.articulations.begin_step()
                self.articulations.choose_flights(self.settings.h)
            status = self.layout(not self.closing, True)
            while status == GROW and self.grow_here():      # contacts that come all at once are not looked for again
                status = self.layout(not self.closing, True)
        if status != OK:
            self.undo()
            return status
        if self.closing:
            self.articulations.find_swept(self.rows, self.joint_end, self.collider.manifolds,
                                          self.collider.manifold_count)
            self.articulations.prepare()
        self.lap(STAGE_PREPARE)
        self.impact_count = self.sweeps = 0
        self.further.unsettled = False
        self.asked = max(self.settings.iterations, self.settings.first_iterations >> min(self.steps, 30))
        if not self.settings.compliant:                      # where overlaps are what bears
            self.backstop.watch(&self.bodies, self.settings.dt)
        memset(self.impacts, 0, self.impact_rows * sizeof(double))
        self.bounce(True)
        for i in range(self.settings.substeps):
            self.backstop.begin(&self.bodies)
            self.ended = i > 0
            self.substep(i == self.settings.substeps - 1)
            self.hold_back()
            if self.is_interrupted() or self.pose_calls.status != OK:
                self.undo()
                return CALL_FAILED
        status = self.check_moving()
        if status == OK:
            self.note_step()
            if self.noted.finish_step() and self.strict:
                status = NOT_DONE
        if status != OK:
            self.undo()
            return status
        if self.closing:
            self.articulations.give_herds()
            own = &self.articulations.tree.rows
        if self.apart:
            self.wide_joints.store()
            own = &self.wide_joints.source.rows
        if self.widening:
            self.wide.store(self.collider.manifolds)
        store_joints(self.joints, self.awake_joints, self.awake_joint_count, &self.bodies, &self.settings, self.rows, own)
        if self.closing:
            self.articulations.angles.store(self.joints)
        if break_joints(self.joints, self.awake_joints, self.awake_joint_count, self.settings.h) > 0:
            self.replanning = True
        self.lap(STAGE_STORE)
        if self.settings.compliant:
            self.sign_surfaces()
        self.carry_contacts()
        self.collider.accept()
        if self.sensors is not None:
            self.sensors.sense(&self.bodies)
        if self.islands.watching and self.make_room() and self.islands.settle(
                &self.bodies, self.joints, self.joint_count, self.collider.previous, self.collider.resisted(),
                self.collider.previous_count, <const Vec3*>self.backup_pointers[0], <const Quat*>self.backup_pointers[1],
                &self.settings, self.collider.sleeping, self.collider.sleeping_count):
            self.follow_islands()
        self.lap(STAGE_FINISH)
        return OK

    cdef void note_step(self) noexcept nogil:
        """What a step could not do as a whole (mcsim/core/notes.py); the rest is noted where it happens."""
        cdef Py_ssize_t k
        if self.too_dear > 0.0:
            for k in range(self.awake_joint_count):
                self.noted.most(NOTE_ROWS, self.awake_joints[k], self.too_dear)
        if self.closing:
            self.articulations.settle_energy()
        if self.settings.compliant:
            self.note_stiff()
        if 0.0 <= self.tolerance < self.residual and self.laboratory is None:
            self.noted.most(NOTE_SWEEPS, NOBODY, self.residual)
        if self.further.unsettled:
            self.noted.most(NOTE_CHANGING, NOBODY, self.residual)

    cdef void hold_back(self) noexcept nogil:
        """What passed through something in the substep."""
        self.backstop.end(&self.bodies, self.articulations.joined if self.closing else NULL)

    def raise_failure(self):
        """Pass on what a user's function raised."""
        error, self.failure, self.call_status = self.failure, None, OK
        posed = self.pose_calls.take_failure()
        raise error if posed is None else posed

    # ---- called from World -------------------------------------------------------------------------------------------

    def step(self, long long n):
        """One call of World.step: n steps, counted in `steps`, or fewer; times and events are the call's own, forces act
        through it. -> status. NOT_FINITE: `failed_body` says where, the state is that before the step. NOT_DONE: `noted`
        says what, the state likewise. UNSEEN: nothing happened, there are shapes that see_shapes() has not been called
        for."""
        if self.revision_seen != self.collider.revision:
            return UNSEEN
        self.begin_call()
        try:
            return self.go_on(n)
        finally:
            self.end_call()

    def begin_call(self):
        """A call of World.step begins: times, events and notes are its own."""
        self.call_began = self.steps
        memset(self.stage_ticks, 0, sizeof(self.stage_ticks))
        self.noted.begin_call()
        if self.laboratory is not None:
            self.laboratory.begin()
        self.collider.clear_events()
        if self.sensors is not None:
            self.sensors.clear_events()

    def go_on(self, long long n):
        """n steps of the call, or fewer. -> status, as of step()"""
        cdef long long end = self.steps + n
        cdef int status = OK
        while self.steps < end and status != NOT_FINITE and status != NOT_DONE:
            status = self.advance(end - self.steps)
            if status == GROW:
                self.grow()
        return status

    def end_call(self):
        """It has ended: forces acted through it."""
        self.clear_forces()
        self.steps_made = self.steps - self.call_began

    def take_call(self, Pipeline other):
        """Go on with the call of the pipeline whose place this one takes."""
        self.call_began = other.call_began
        memcpy(self.stage_ticks, other.stage_ticks, sizeof(self.stage_ticks))

    cdef int advance(self, long long n) except -1:
        """Up to n steps without the GIL. -> status. GROW: call grow() and go on. What a signal's handler raises comes out
        whole, the step that it interrupts undone."""
        cdef long long done = 0
        cdef int status
        self.look_interval = <int64_t>(SIGNAL_INTERVAL / tick())
        with nogil:
            self.clock = self.looked = ticks()
            status = self.check_state()
            if status == OK and self.islands.notice(&self.bodies, self.joints, self.joint_count):
                self.follow_islands()
            update_inertia(&self.bodies)
            while status == OK and done < n:
                status = self.step_once()
                if status == OK:
                    done += 1
                    self.steps += 1
                if self.replanning:
                    with gil:
                        self.replan()
                if status == OK and self.is_interrupted():
                    status = CALL_FAILED
            self.islands.look_at_moving(&self.bodies)
        if status == CALL_FAILED:
            self.raise_failure()
        return status

    def take_time(self, Pipeline other):
        """Time and steps of the pipeline whose place this one takes."""
        self.start, self.steps, self.steps_made = other.start, other.steps, other.steps_made

    def prepare(self, bint points=False):
        """Rows of the present state, as the next step would begin with them; the joints' records and the times of
        the last step call stay. points: with friction at every point, under a cone. -> status"""
        cdef int status
        cdef int32_t central = self.settings.friction_central
        cdef int32_t cone = self.settings.friction_cone
        cdef int64_t times[STAGES]
        with nogil:
            memcpy(times, self.stage_ticks, sizeof(times))
            self.clock = ticks()
            status = self.check_state()
            if status == OK:
                update_inertia(&self.bodies)
                self.joints_copied()
                status = self.collide()
            if status == OK:
                if points:
                    self.settings.friction_central, self.settings.friction_cone = 0, 1
                status = self.layout(True, False)
                self.settings.friction_central, self.settings.friction_cone = central, cone
                memcpy(self.joints, self.backup_pointers[3], self.joint_count * sizeof(Joint))
            memcpy(self.stage_ticks, times, sizeof(times))
        if status == CALL_FAILED:
            self.raise_failure()
        return status

    def row_matrices(self):
        """J and J M^-1 (rows, m) of the rows over the velocities, scipy.sparse."""
        return matrices(self.rows_now(), 6 * self.bodies.count)

    def smooth_forces(self):
        """(n, 6) [N, N m] gravity, the user's forces, damping and springs about the centres of mass, world axes, at the
        state of the last prepare(). Without the gyroscopic torque."""
        cdef Joint* joints = self.joints_copied()
        layout_joints(joints, NULL, self.joint_count, &self.bodies, &self.settings, self.rows, self.row_capacity, True,
                      NULL, NULL, NULL, NULL)
        smooth_forces(&self.bodies, &self.settings, self.wrench)
        add_joint_forces(joints, self.joint_count, &self.bodies, &self.settings, self.rows, self.wrench, False)
        return self.wrenches[1:].copy()

    def rows_now(self):
        """(row_count,) ROW_DTYPE, a view of the row buffer."""
        return self.row_array[0][:self.row_count]

    def times(self):
        """(stages,) [s] spent in the last call of step."""
        cdef double length = tick()
        return [length * self.stage_ticks[i] for i in range(STAGES)]
