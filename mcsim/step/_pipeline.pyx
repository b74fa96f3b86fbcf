"""The stages of a step in their order. No mathematics here: each stage is one call into a lower floor.

    collide      shapes and poses -> manifolds; the last step's impulses carried over by feature id
    prepare      joints and manifolds -> rows: Jacobians, errors, bounds, warm impulses; biases; block factors
    impact       restitution: impacts of what touches within the next substep, what closes together at once
    per substep h = dt / n: one substep of the integrator (_integrator.pyx)
    store        is the state finite? Then impulses go back into the joints; those that carried too much break
    finish       contacts and sensors look; who falls asleep

Joints that are solved directly (docs/theory/tree.md) have no rows here: _articulations.pyx keeps them.
"""

from libc.stdint cimport int32_t
from libc.string cimport memcpy, memset

from mcsim.step._constraint_set cimport ConstraintSets
from mcsim.step._machine cimport Machine
from mcsim.step._stage_times cimport STAGE_COLLIDE, STAGE_FINISH, STAGE_PREPARE, STAGE_STORE
from mcsim.constraints._forces cimport add_joint_forces
from mcsim.constraints._joints cimport break_joints, layout_joints, store_joints
from mcsim.core._noted cimport NOTE_ROWS
from mcsim.core._types cimport CALL_FAILED, GROW, NOT_FINITE, OK, Quat, Vec3
from mcsim.integrate._euler cimport update_inertia
from mcsim.integrate._rk4 cimport smooth_forces
from mcsim.state._joint cimport Joint

from mcsim.solve.problems.from_rows import matrices


cdef class Pipeline(Machine):
    """One world's step. Arguments as of Machine."""

    # ---- stages ------------------------------------------------------------------------------------------------------

    cdef int collide(self) noexcept nogil:
        cdef int status = self.integrator.set_time(self.start + self.steps * self.settings.dt)
        if status == OK:
            status = self.find_contacts()
        while status == OK and self.islands.sleepers > 0 and self.islands.wake_touched(
                &self.bodies, self.collider.store.manifolds, self.collider.store.manifold_count, self.settings.dt):
            self.follow_islands()
            status = self.find_contacts()
        if self.islands.sleepers > 0:
            self.collider.store.manifold_count = self.islands.drop_sleeping(
                &self.bodies, self.collider.store.manifolds, self.collider.store.manifold_count, self.settings.dt)
        if status == OK:
            self.collider.find_resistances()
        self.stage_times.lap(STAGE_COLLIDE)
        return status

    cdef int layout(self, ConstraintSets sets) noexcept nogil:
        """All rows at the present poses, by these sets. -> status"""
        cdef int status
        if self.collider.store.manifold_count > self.plain.anchor_capacity:
            return GROW
        self.pose_callbacks.call(False)
        if self.pose_callbacks.status != OK:
            return CALL_FAILED
        self.context.begin_layout(self.struck.find(self.collider.store.manifolds, self.collider.store.manifold_count))
        sets.claim()
        self.wide.count = 0                          # contacts that are rows have no blocks to refresh
        self.weigh_burdens()
        status = sets.prepare()
        if status == OK:
            status = self.sweeping.prepare()
        if status == OK:
            sets.finish(self.settings.first_kick)
            self.sweeping.assemble()
            self.integrator.begin_step()
        return status

    cdef void weigh_burdens(self) noexcept nogil:
        """What bodies bear of what they touch."""
        self.further.weigh(self.collider.store.manifolds, self.collider.store.manifold_count, &self.bodies, self.joints,
                           self.joint_count,
                           self.closed)

    cdef void bounce(self, bint held) noexcept nogil:
        self.restitution.bounce(held)

    # ---- a step ------------------------------------------------------------------------------------------------------

    cdef void substep(self, bint last) noexcept nogil:
        self.integrator.substep(last)

    cdef int step_once(self) noexcept nogil:
        """One step. GROW: nothing happened; NOT_FINITE, NOT_DONE: the state before the step is back."""
        cdef Py_ssize_t i
        cdef int status
        self.context.step = self.steps + 1
        self.context.step_end = self.start + (self.steps + 1) * self.settings.dt
        self.save_backup()
        status = self.collide()
        if status == OK:
            self.sets.begin_step()
            self.sweeping.begin_step()
            status = self.layout(self.sets)
            while status == GROW and self.grow_here():      # contacts that come all at once are not looked for again
                status = self.layout(self.sets)
        if status != OK:
            self.undo()
            return status
        self.stage_times.lap(STAGE_PREPARE)
        self.restitution.count = self.sweeping.made = 0
        self.further.unsettled = False
        self.sweeping.asked = max(self.settings.iterations, self.settings.first_iterations >> min(self.steps, 30))
        if not self.settings.compliant:                      # where overlaps are what bears
            self.tunnelling_guard.watch(&self.bodies, self.settings.dt)
        memset(self.plain.impacts, 0, self.plain.impact_rows * sizeof(double))
        self.bounce(True)
        for i in range(self.settings.substeps):
            self.tunnelling_guard.begin(&self.bodies)
            self.context.ended = i > 0
            self.substep(i == self.settings.substeps - 1)
            self.hold_back()
            if self.calls.is_interrupted() or self.pose_callbacks.status != OK:
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
        self.context.own_rows = NULL
        self.sets.give()
        store_joints(self.joints, self.awake_joints, self.awake_joint_count, &self.bodies, &self.settings, self.plain.rows,
                     self.context.own_rows)
        self.sets.store()
        if break_joints(self.joints, self.awake_joints, self.awake_joint_count, self.settings.h) > 0:
            self.replanning = True
        self.stage_times.lap(STAGE_STORE)
        self.carry_contacts()
        self.collider.accept()
        if self.sensors is not None:
            self.sensors.sense(&self.bodies)
        if self.islands.stillness.watching and self.make_room() and self.islands.settle(
                &self.bodies, self.joints, self.joint_count, self.collider.store.previous,
                self.collider.store.resisted(), self.collider.store.previous_count,
                <const Vec3*>self.backup_pointers[0], <const Quat*>self.backup_pointers[1],
                &self.settings, self.collider.store.sleeping, self.collider.store.sleeping_count):
            self.follow_islands()
        self.stage_times.lap(STAGE_FINISH)
        return OK

    cdef void note_step(self) noexcept nogil:
        """What a step could not do as a whole (mcsim/core/notes.py); the rest is noted where it happens."""
        cdef Py_ssize_t k
        if self.too_dear > 0.0:
            for k in range(self.awake_joint_count):
                self.noted.most(NOTE_ROWS, self.awake_joints[k], self.too_dear)
        self.sets.notes()
        self.sweeping.notes()

    cdef void hold_back(self) noexcept nogil:
        """What passed through something in the substep."""
        self.tunnelling_guard.end(&self.bodies, self.context.joined)

    def raise_failure(self):
        """Pass on what a user's function raised."""
        error = self.calls.take_failure()
        posed = self.pose_callbacks.take_failure()
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
        self.stage_times.clear()
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
        self.stage_times.take(other.stage_times)

    cdef int advance(self, long long n) except -1:
        """Up to n steps without the GIL. -> status. GROW: call grow() and go on. What a signal's handler raises comes out
        whole, the step that it interrupts undone."""
        cdef long long done = 0
        cdef int status
        with nogil:
            self.stage_times.start()
            self.calls.begin(self.stage_times.clock)
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
                if status == OK and self.calls.is_interrupted():
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
        with nogil:
            self.stage_times.paused = True
            status = self.check_state()
            if status == OK:
                update_inertia(&self.bodies)
                self.joints_copied()
                status = self.collide()
            if status == OK:
                if points:
                    self.settings.friction_central, self.settings.friction_cone = 0, 1
                status = self.layout(self.as_rows)
                self.settings.friction_central, self.settings.friction_cone = central, cone
                memcpy(self.joints, self.backup_pointers[3], self.joint_count * sizeof(Joint))
            self.stage_times.paused = False
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
        layout_joints(joints, NULL, self.joint_count, &self.bodies, &self.settings, self.plain.rows,
                      self.plain.row_capacity, True,
                      NULL, NULL, NULL, NULL)
        smooth_forces(&self.bodies, &self.settings, self.wrench)
        add_joint_forces(joints, self.joint_count, &self.bodies, &self.settings, self.plain.rows, self.wrench, False)
        return self.wrenches[1:].copy()

    def rows_now(self):
        """(row_count,) ROW_DTYPE, a view of the row buffer."""
        return self.plain.now()

    @property
    def row_count(self):
        """Plain rows of the last layout."""
        return self.plain.row_count

    @property
    def joint_row_count(self):
        """Rows of all joints, also where their own stand apart."""
        return self.context.joint_rows

    @property
    def contact_row_count(self):
        return self.context.contact_rows

    @property
    def sweeps(self):
        """Of the last step, over all rows."""
        return self.sweeping.made

    @property
    def residual(self):
        """Natural map after the last pass [N s, N m s]."""
        return self.sweeping.residual

    @property
    def correction(self):
        """What the last sweep took out [m/s, rad/s]."""
        return self.sweeping.correction

    @property
    def tolerance(self):
        """Sweeps end at this residual; negative: they are counted."""
        return self.sweeping.tolerance

    @tolerance.setter
    def tolerance(self, double residual):
        self.sweeping.tolerance = residual

    @property
    def impact_count(self):
        """Manifolds that were struck in the last step, counting repeats."""
        return self.restitution.count

    def times(self):
        """(stages,) [s] spent in the last call of step."""
        return self.stage_times.seconds()
