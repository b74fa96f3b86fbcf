"""The stages of a step in their order. No mathematics here: each stage is one call into a lower floor.

    collide      shapes and poses -> manifolds; the last step's impulses carried over by feature id
    prepare      joints and manifolds -> rows: Jacobians, errors, bounds, warm impulses; biases; block factors
    impact       restitution: impacts of what touches within the next substep, what closes together at once
    per substep h = dt / n: one substep of the integrator (_integrator.pyx)
    store        is the state finite? Then impulses go back into the joints; those that carried too much break
    finish       contacts and sensors look; who falls asleep

What rows act on are the velocities of bodies (_velocity_space.pyx) or of trees (_tree_space.pyx); the stages do not know.
"""

from libc.stdint cimport int8_t, int32_t
from libc.string cimport memcpy, memset

import numpy as np

from mcsim.constraints._compliant cimport surface_energy
from mcsim.constraints._joints cimport break_joints, store_joints
from mcsim.core._thread_pool cimport MOST_WORKERS
from mcsim.core._types cimport CALL_FAILED, GROW, NOT_FINITE, OK
from mcsim.integrate._euler cimport update_inertia
from mcsim.solve._pgs cimport Delassus
from mcsim.solve._warm_starts cimport WarmStarts
from mcsim.stabilize._displace cimport Displacement
from mcsim.state._bodies cimport DYNAMIC
from mcsim.state._joint cimport Joint
from mcsim.state._settings cimport (INTEGRATE_RATTLE, INTEGRATE_RK4, INTEGRATE_SEMI_IMPLICIT, INTEGRATE_VARIATIONAL)
from mcsim.step._compliant_surfaces cimport CompliantSurfaces
from mcsim.step._drives cimport Drives
from mcsim.step._stage_times cimport STAGE_COLLIDE, STAGE_FINISH, STAGE_PREPARE, STAGE_STORE
from mcsim.step._sweeps cimport MatrixSweeps
from mcsim.step._tree_constraints cimport TreeConstraints
from mcsim.step._tree_kicks cimport TreeKicks
from mcsim.step._tree_space cimport TreeSpace
from mcsim.step._tree_sweeps cimport TreeSweeps
from mcsim.wide._contacts cimport WideContacts

from mcsim.core.notes import new_noted
from mcsim.solve import SOLVERS
from mcsim.solve.components import connected
from mcsim.state.arrays import measure_joints
from mcsim.step._position_integrator import PositionIntegrator
from mcsim.step._semi_implicit import SemiImplicit
from mcsim.step._smooth_integrator import SmoothIntegrator
from mcsim.step._tree_integrator import TreeIntegrator
from mcsim.step._tree_restitution import TreeRestitution

cdef int PGS = SOLVERS["pgs"]

# Of bodies, by the settings' number.
INTEGRATORS = {INTEGRATE_SEMI_IMPLICIT: SemiImplicit, INTEGRATE_RK4: SmoothIntegrator,
               INTEGRATE_RATTLE: PositionIntegrator, INTEGRATE_VARIATIONAL: PositionIntegrator}


def _tied(joints, moves):
    """`connected`, of bodies that joints hold together."""
    if len(joints) == 0:
        return np.full(len(moves) + 1, -1, np.int32)
    return connected(np.stack([joints["body_a"], joints["body_b"]], axis=1), moves)


cdef class Pipeline:
    """One world's step, made for the bodies and joints that there are, and followed up when joints break and when bodies
    fall asleep or wake.

    bodies: state.arrays.BodyArrays; joints: (j,) JOINT_DTYPE; settings: dict with the fields of the Settings record.
    bounces: whether any shape has a restitution. sleep: (speeds, time, distances) of constraints/_islands.pyx. trees: the
    plan of _tree_constraints.pyx where the world is one of trees. planned: the plan of the joints is another world's,
    which plan.take() is to be told. The arrays are kept alive and written in place.
    """

    def __init__(self, bodies, joints, Collider collider not None, settings, bint bounces, sleep=(0.0, 0.0, 0.0),
                 trees=None, bint planned=False):
        measure_joints(bodies, joints, *settings["joint_push"])
        self.noted = new_noted(bodies.count, len(joints))
        self.arrays = StateArrays(bodies, joints, settings, self.noted)
        bounces = bounces and not self.arrays.settings.compliant
        self.collider, self.revision_seen = collider, -1
        collider.threads = min(settings["threads"], MOST_WORKERS)
        collider.compliant = self.arrays.settings.compliant
        self.islands = Islands(bodies, *sleep)
        self.islands.stand_in(&self.arrays.bodies)
        self.islands.list_moving(&self.arrays.bodies)
        self.islands.look(&self.arrays.bodies)
        self.struck = Struck(joints, _tied(joints, bodies.kind == DYNAMIC))
        self.tunnelling_guard = TunnellingGuard(collider, self.noted, bodies.count)
        self.pose_callbacks, self.calls, self.stage_times = PoseCallbacks(), Calls(), StageTimes()
        self.further = FurtherSweeps(self.arrays.kept_sizes, settings.get("more_iterations", 0),
                                     settings.get("settle_speed", 0.0), settings.get("settle_rate", 0.0),
                                     self.arrays.settings.compliant)
        self._make_context()
        self.plain = PlainRows(self.context, bounces, self.context.settings.compliant)
        self.plain.reserve(64, 16)
        self.sets = ConstraintSets([])
        wide = self._make_lanes(settings)
        matrix = Delassus() if self.context.settings.solver == PGS else None
        base = (self._make_of_bodies if trees is None else self._make_of_trees)(bodies, matrix, wide, trees)
        self.as_rows = ConstraintSets(base)
        self._plan(base, wide, matrix, settings.get("least_iterations", 1), bounces, planned)

    def _make_context(self):
        """What all parts share."""
        cdef StateArrays arrays = self.arrays
        cdef StepContext context = StepContext()
        self.context, context.arrays = context, arrays
        context.bodies, context.settings, context.joints = &arrays.bodies, &arrays.settings, arrays.joints
        context.joint_count, context.joint_lists = arrays.joint_count, &arrays.joint_lists
        context.store, context.noted, context.pose_callbacks = self.collider.store, self.noted, self.pose_callbacks
        context.neighbours = self.further.neighbours

    def _make_lanes(self, settings):
        """Contacts several at a time."""
        cdef WideContacts wide = WideContacts(self.context.bodies.count, self.context.settings.threads)
        wide.scale, wide.small = settings.get("load_scale", 0.0), settings.get("load_small", 0.0)
        wide.press, wide.substep = settings.get("load_press", 0.0), self.context.settings.h
        wide.settle_speed, wide.settle_rate = settings.get("settle_speed", 0.0), settings.get("settle_rate", 0.0)
        return wide

    def _make_of_bodies(self, bodies, matrix, wide, trees):
        """What solves and moves velocities of bodies. -> the sets that there are in any case"""
        parts = self.context, self.sets, self.plain, self.further, Drives(bodies.count), self.calls
        self.space = VelocitySpace(self.context, self.arrays, self.plain)
        self.sweeping = Sweeps(*parts) if matrix is None else MatrixSweeps(*parts, matrix)
        self.restitution = Restitution(self.context, self.plain, self.stage_times)
        self.integrator = INTEGRATORS[self.context.settings.integrator](
            self.context, self.plain, self.sets, self.sweeping, self.restitution, self.stage_times, self.calls)
        surfaces = None if not self.context.settings.compliant else CompliantSurfaces(
            self.context, self.plain, self.collider, WarmStarts(bodies.count), np.repeat(np.arange(bodies.count), 6))
        return [self.plain, surfaces]

    def _make_of_trees(self, bodies, matrix, wide, trees):
        """The same, over the coordinates of trees."""
        parts = self.context, self.sets, self.plain, self.further, Drives(bodies.count), self.calls
        space = TreeSpace(self.context, self.arrays, self.plain, self.islands, self.calls, bodies, trees)
        rows = TreeConstraints(self.context, self.plain, self.collider, space, wide, trees)
        kicks = TreeKicks(self.context, self.plain, space, rows, trees.runge)
        self.space, self.sweeping = space, TreeSweeps(*parts, space, rows, kicks)
        self.restitution = TreeRestitution(self.context, self.plain, self.stage_times, space)
        self.integrator = TreeIntegrator(self.context, self.plain, self.sets, self.sweeping, self.restitution,
                                         self.stage_times, self.calls, space, rows, kicks)
        return [rows]

    def _plan(self, base, wide, matrix, int least, bint bounces, bint planned):
        """Who solves what, with room for it."""
        displacement = Displacement(self.context.bodies.count)
        self.room = Room(self.context, self.collider, self.plain, self.sets, wide, displacement, matrix, self.restitution,
                         self.integrator)
        self.sleepers = Sleepers(self.context, self.arrays, self.collider, self.islands, self.sets, self.space)
        self.search = ContactSearch(self.context, self.arrays, self.plain, self.sleepers, self.collider, bounces)
        self.plan = JointPlan(self.context, self.arrays, self.plain, base, self.sets, self.integrator, self.restitution,
                              self.islands, displacement, self.room, wide, least, bounces)
        self.sets.take(base)
        self.room.follow()
        if not planned:
            self.replan()
        self.sets.make_room()
        self.space.rest()

    def replan(self):
        """Follow joints that broke, or are whole again."""
        self.replanning = False
        self.plan.make()
        self.sleepers.choose(self.islands.asleep)

    # ---- a step ------------------------------------------------------------------------------------------------------

    cdef int step_once(self) noexcept nogil:
        """One step. GROW: nothing happened; NOT_FINITE, NOT_DONE: the state before the step is back."""
        cdef int status = self.begin_step()
        if status == OK:
            status = self.make_substeps()
        if status == OK:
            status = self.judge_step()
        if status == OK:
            self.end_step()
        else:
            self.undo()
        return status

    cdef int begin_step(self) noexcept nogil:
        """Contacts are found, and rows laid out. -> status"""
        cdef int status
        self.context.step = self.context.steps + 1
        self.context.step_end = self.context.start + self.context.step * self.context.settings.dt
        self.arrays.save_backup()
        status = self.collide()
        if status != OK:
            return status
        self.sets.begin_step()
        self.sweeping.begin_step()
        status = self.layout(self.sets)
        while status == GROW and self.room.grow_in_step():  # contacts that come all at once are not looked for again
            status = self.layout(self.sets)
        self.stage_times.lap(STAGE_PREPARE)
        return status

    cdef int collide(self) noexcept nogil:
        cdef int status
        self.space.begin_step()
        status = self.integrator.set_time(self.context.start + self.context.steps * self.context.settings.dt)
        if status == OK:
            status = self.search.find()
        self.stage_times.lap(STAGE_COLLIDE)
        return status

    cdef int layout(self, ConstraintSets sets) noexcept nogil:
        """All rows at the present poses, by these sets. -> status"""
        cdef int status
        if self.context.store.manifold_count > self.plain.anchor_capacity:
            return GROW
        self.pose_callbacks.call(False)
        if self.pose_callbacks.status != OK:
            return CALL_FAILED
        self.context.begin_layout(self.struck.find(self.context.store.manifolds, self.context.store.manifold_count))
        sets.claim()
        self.plan.wide.count = 0                     # contacts that are rows have no blocks to refresh
        self.further.weigh(self.context.store.manifolds, self.context.store.manifold_count, self.context.bodies,
                           self.context.joints, self.context.joint_count, self.plan.closed)
        status = sets.prepare()
        if status == OK:
            status = self.sweeping.prepare()
        if status == OK:
            sets.finish(self.context.settings.first_kick)
            self.sweeping.assemble()
            self.integrator.begin_step()
        return status

    cdef int make_substeps(self) noexcept nogil:
        """Impacts, then the substeps. -> status"""
        cdef Py_ssize_t i
        self.restitution.count = self.sweeping.made = 0
        self.further.unsettled = False
        self.sweeping.asked = max(self.context.settings.iterations,
                                  self.context.settings.first_iterations >> min(self.context.steps, 30))
        if not self.context.settings.compliant:              # where overlaps are what bears
            self.tunnelling_guard.watch(self.context.bodies, self.context.settings.dt)
        memset(self.plain.impacts, 0, self.plain.impact_rows * sizeof(double))
        self.restitution.bounce(True)
        for i in range(self.context.settings.substeps):
            self.tunnelling_guard.begin(self.context.bodies)
            self.context.ended = i > 0
            self.integrator.substep(i == self.context.settings.substeps - 1)
            self.hold_back()
            if self.calls.is_interrupted() or self.pose_callbacks.status != OK:
                return CALL_FAILED
        return OK

    cdef void hold_back(self) noexcept nogil:
        """What passed through something in the substep."""
        self.tunnelling_guard.end(self.context.bodies, self.space.jointed())
        if self.tunnelling_guard.watching:
            self.space.take_poses(self.tunnelling_guard.set_back)

    cdef int judge_step(self) noexcept nogil:
        """Whether its state is sound, and what it could not do (mcsim/core/notes.py). -> status"""
        if self.arrays.check_moving() != OK:
            return NOT_FINITE
        self.plan.notes()
        self.sets.notes()
        self.sweeping.notes()
        self.space.end_step()
        return NOT_DONE if self.noted.finish_step() and self.strict else OK

    cdef void end_step(self) noexcept nogil:
        """Impulses go back into joints and manifolds, contacts and sensors look, and bodies fall asleep."""
        self.context.own_rows = NULL
        self.sets.give()
        store_joints(self.context.joints, self.context.awake_joints, self.context.awake_joint_count, self.context.bodies,
                     self.context.settings, self.plain.rows, self.context.own_rows)
        self.sets.store()
        if break_joints(self.context.joints, self.context.awake_joints, self.context.awake_joint_count,
                        self.context.settings.h) > 0:
            self.replanning = True
        self.stage_times.lap(STAGE_STORE)
        self.search.carry()
        self.collider.accept()
        if self.sensors is not None:
            self.sensors.sense(self.context.bodies)
        self.sleepers.settle()
        self.stage_times.lap(STAGE_FINISH)

    cdef void undo(self) noexcept nogil:
        """The state before the step is back."""
        self.noted.finish_step()
        self.arrays.restore_backup()
        self.space.undo()
        self.sleepers.follow()

    # ---- called from World -------------------------------------------------------------------------------------------

    def step(self, long long n):
        """One call of World.step: n steps, counted in `steps`, or fewer; times and events are the call's own, forces act
        through it. -> status. NOT_FINITE: arrays.failed_body says where, the state is that before the step. NOT_DONE:
        `noted` says what, the state likewise. UNSEEN: nothing happened, there are shapes that see_shapes() has not been
        called for."""
        if self.shapes_changed:
            return UNSEEN
        self.begin_call()
        try:
            return self.go_on(n)
        finally:
            self.end_call()

    def begin_call(self):
        """A call of World.step begins: times, events and notes are its own."""
        self.call_began = self.context.steps
        self.stage_times.clear()
        self.noted.begin_call()
        if self.laboratory is not None:
            self.laboratory.begin()
        self.collider.clear_events()
        if self.sensors is not None:
            self.sensors.clear_events()

    def go_on(self, long long n):
        """n steps of the call, or fewer. -> status, as of step()"""
        cdef long long end = self.context.steps + n
        cdef int status = OK
        if self.space.wake_driven():
            self.sleepers.follow()
        while self.context.steps < end and status != NOT_FINITE and status != NOT_DONE:
            status = self.advance(end - self.context.steps)
            if status == GROW:
                self.room.grow()
        return status

    def end_call(self):
        """It has ended: forces acted through it."""
        self.arrays.clear_forces()
        self.steps_made = self.context.steps - self.call_began

    cdef int advance(self, long long n) except -1:
        """Up to n steps without the GIL. -> status. GROW: grow the room and go on. What a signal's handler raises comes
        out whole, the step that it interrupts undone."""
        cdef long long done = 0
        cdef int status
        with nogil:
            self.stage_times.start()
            self.calls.begin(self.stage_times.clock)
            status = self.arrays.check_state()
            if status == OK:
                self.sleepers.notice()
            update_inertia(self.context.bodies)
            while status == OK and done < n:
                status = self.step_once()
                if status == OK:
                    done += 1
                    self.context.steps += 1
                if self.replanning:
                    with gil:
                        self.replan()
                if status == OK and self.calls.is_interrupted():
                    status = CALL_FAILED
            self.islands.look_at_moving(self.context.bodies)
        if status == CALL_FAILED:
            self.raise_failure()
        return status

    def raise_failure(self):
        """Pass on what a user's function raised."""
        error = self.calls.take_failure()
        posed = self.pose_callbacks.take_failure()
        raise error if posed is None else posed

    def prepare(self, bint points=False):
        """Rows of the present state, as the next step would begin with them; the joints' records and the times of
        the last step call stay. points: with friction at every point, under a cone. -> status"""
        cdef int status
        cdef int32_t central = self.context.settings.friction_central
        cdef int32_t cone = self.context.settings.friction_cone
        self.space.recover()                                 # while the last substep's rows are there
        with nogil:
            self.stage_times.paused = True
            status = self.arrays.check_state()
            if status == OK:
                update_inertia(self.context.bodies)
                self.arrays.joints_copied()
                status = self.collide()
            if status == OK:
                if points:
                    self.context.settings.friction_central, self.context.settings.friction_cone = 0, 1
                status = self.layout(self.as_rows)
                self.context.settings.friction_central, self.context.settings.friction_cone = central, cone
                memcpy(self.context.joints, self.arrays.backup_pointers[3], self.context.joint_count * sizeof(Joint))
            self.stage_times.paused = False
        if status == CALL_FAILED:
            self.raise_failure()
        return status

    def spring_energy(self):
        """[J] of joints' springs and, as the last step left them, of compliant contacts."""
        cdef double energy = self.arrays.spring_energy()
        if self.context.settings.compliant:
            energy += surface_energy(self.context.store.previous, self.collider.shapes, self.context.store.previous_count)
        return energy

    def times(self):
        """(stages,) [s] spent in the last call of step."""
        return self.stage_times.seconds()

    # ---- what a world changes ----------------------------------------------------------------------------------------

    def take_time(self, Pipeline other not None):
        """Time and steps of the pipeline whose place this one takes."""
        self.context.start, self.context.steps, self.steps_made = (
            other.context.start, other.context.steps, other.steps_made)
        self.space.trust_records()

    def take_call(self, Pipeline other not None):
        """Go on with its call."""
        self.call_began = other.call_began
        self.stage_times.take(other.stage_times)

    def take_room(self, Pipeline other not None):
        """Its buffers, so that they need not grow anew."""
        if (self.context.settings.integrator != INTEGRATE_SEMI_IMPLICIT
                or other.plain.row_capacity < self.plain.row_capacity):
            return
        self.room.take_rows(other.plain)
        self.room.wide = other.plan.wide
        self.plan.take_wide(other.plan.wide)

    def set_calls(self, calls):
        """calls(time): writes what the user's functions give into the joints' records, before rows are made of them."""
        self.calls.of_time = calls

    def set_user_joints(self, user):
        """user: state.user_joints.UserJoints whose rows the settings point at, or None."""
        if user is not None:
            self.pose_callbacks.__init__(user.call)          # and so keeps its rows alive

    def set_laboratory(self, laboratory):
        """laboratory(rows, twists, relaxed): solves the rows in place of the sweeps; or None."""
        self.laboratory = laboratory
        if laboratory is not None:
            self.sweeping = self.sweeping.by_laboratory(laboratory)
            self.integrator.take_solver(self.sweeping)

    def notice(self):
        """What the user has written since the last step wakes whom it concerns."""
        self.sleepers.notice()

    def follow(self):
        """Follow islands that were written from outside."""
        self.sleepers.follow()

    def restored(self):
        """Follow poses, islands and manifolds that were written from outside."""
        self.islands.look(self.context.bodies)
        self.sleepers.follow()

    def choose(self, const int8_t[::1] asleep):
        """For tests: from now on only joints whose bodies do not sleep. asleep (bodies,) int8."""
        self.sleepers.choose(&asleep[0])

    @property
    def steps(self):
        """Made since the beginning."""
        return self.context.steps

    @steps.setter
    def steps(self, long long steps):
        self.context.steps = steps

    @property
    def start(self):
        """Time before the first step [s]."""
        return self.context.start

    @start.setter
    def start(self, double time):
        self.context.start = time

    @property
    def borne(self):
        """The part of a substep's load that rows bear in the biased pass."""
        return self.context.settings.first_kick

    @property
    def shapes_changed(self):
        """Whether the collider has other shapes than when see_shapes() was called, or it never was."""
        return self.revision_seen != self.collider.revision

    def see_shapes(self):
        self.revision_seen = self.collider.revision
