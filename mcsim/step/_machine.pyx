"""What works in a step, over the arrays of one world: who does which joints and contacts, and the room for their rows.

Made once for the bodies and joints that there are, followed up when joints break and when bodies fall asleep or wake.
"""

from libc.math cimport fabs
from libc.stdint cimport int8_t, int32_t

from types import SimpleNamespace

import numpy as np

from mcsim.direct._articulations cimport Articulations
from mcsim.step._impacts cimport ArticulationImpacts, RowImpacts
from mcsim.state._pose_callbacks cimport PoseCallbacks
from mcsim.step._state_arrays cimport StateArrays
from mcsim.step._calls cimport Calls
from mcsim.step._compliant_surfaces cimport CompliantSurfaces
from mcsim.step._constraint_set cimport ConstraintSet, ConstraintSets, StepContext
from mcsim.step._drives cimport Drives
from mcsim.step._joint_warm_starts cimport WholeWarmStarts, JointWarmStarts
from mcsim.step._plain_rows cimport PlainRows
from mcsim.step._restitution cimport Restitution
from mcsim.step._stage_times cimport StageTimes
from mcsim.step._sweeps cimport Laboratory, MatrixSweeps, Sweeps
from mcsim.step._further_sweeps cimport FurtherSweeps
from mcsim.collide._tunnelling_guard cimport TunnellingGuard
from mcsim.collide._foresight cimport Foresight
from mcsim.collide._collider cimport Collider
from mcsim.collide._resting cimport carry_points
from mcsim.constraints._compliant cimport surface_energy
from mcsim.constraints._islands cimport Islands
from mcsim.constraints._joints cimport choose_joints, layout_joints
from mcsim.constraints._limits cimport Struck
from mcsim.core._arrays cimport doubles
from mcsim.core._thread_pool cimport MOST_WORKERS
from mcsim.core._noted cimport NOTE_COARSE
from mcsim.core._types cimport NOT_FINITE, OK, Twist, Vec3
from mcsim.integrate._euler cimport integrate_velocities
from mcsim.integrate._euler cimport update_inertia
from mcsim.solve._warm_starts cimport WarmStarts
from mcsim.solve._impact cimport BodyImpacts
from mcsim.solve._pgs cimport Delassus
from mcsim.stabilize._displace cimport Displacement
from mcsim.state._bodies cimport DYNAMIC, STATIC
from mcsim.state._settings cimport (INTEGRATE_RATTLE, INTEGRATE_RK4, INTEGRATE_SEMI_IMPLICIT, INTEGRATE_VARIATIONAL,
                                    STABILIZE_SOFT, STABILIZE_SPLIT_IMPULSE)
from mcsim.wide._contacts cimport WideContacts
from mcsim.wide._joints cimport WideJoints

from mcsim.step._direct_joints import DirectJoints, JointsInTurn
from mcsim.step._drifts import new_drift
from mcsim.step._joint_bounds import JointBounds
from mcsim.step._lane_contacts import LaneContacts
from mcsim.step._position_integrator import PositionIntegrator
from mcsim.step._semi_implicit import SemiImplicit
from mcsim.step._smooth_integrator import SmoothIntegrator
from mcsim.step._swept_joints import SweptJoints
from mcsim.core.notes import new_noted
from mcsim.solve import SOLVERS
from mcsim.solve.border import border_rows
from mcsim.solve.components import connected
from mcsim.state.arrays import measure_joints
from mcsim.state.fields import JOINT_DTYPE

cdef int SI = SOLVERS["si"]
cdef int PGS = SOLVERS["pgs"]

# By the settings' number. A pipeline that moves its bodies itself has the first one, for the time and the end of a substep.
INTEGRATORS = {INTEGRATE_SEMI_IMPLICIT: SemiImplicit, INTEGRATE_RK4: SmoothIntegrator,
               INTEGRATE_RATTLE: PositionIntegrator, INTEGRATE_VARIATIONAL: PositionIntegrator}

# Products a joint up to which a factorization pays; beyond it joints are solved row by row unless the user says "tree".
cdef double MOST_WORK = 15_000.0


# Of a number, and how much of a body's size may be lost in it before it is noted: as much as a contact's `slop` is.
cdef double ROUNDING = 2.220446049250313e-16
cdef double COARSE = 1.0 / 1024.0


def tied(joints, moves):
    """`connected`, of bodies that joints hold together."""
    if len(joints) == 0:
        return np.full(len(moves) + 1, -1, np.int32)
    return connected(np.stack([joints["body_a"], joints["body_b"]], axis=1), moves)


cdef class Machine(StateArrays):
    """What one world's pipeline works with.

    bodies: state.arrays.BodyArrays; joints: (j,) JOINT_DTYPE; settings: dict with the fields of the Settings record.
    bounces: whether any shape has a restitution. sleep: (speeds, time, distances) of constraints/_islands.pyx. planned:
    the plan of the joints is another machine's, which take_plan() is to be told. The arrays are kept alive and written
    in place.
    """

    def __init__(self, bodies, joints, Collider collider not None, settings, bint bounces, sleep=(0.0, 0.0, 0.0),
                 bint planned=False):
        measure_joints(bodies, joints, *settings["joint_push"])
        self.hold(bodies, joints)
        self.noted = new_noted(bodies.count, len(joints))
        sizes = bodies.sizes()
        self.kept_sizes = np.append(np.where(sizes > 0.0, sizes, np.inf), 1.0)
        self.sizes = doubles(self.kept_sizes)
        self.collider = collider
        collider.threads = min(settings["threads"], MOST_WORKERS)
        self.islands = Islands(bodies, *sleep)
        self.islands.stand_in(&self.bodies)
        self.islands.list_moving(&self.bodies)
        self.islands.look(&self.bodies)
        self.revision_seen = -1
        self.struck = Struck(joints, tied(joints, bodies.kind == DYNAMIC))
        self.tunnelling_guard = TunnellingGuard(collider, self.noted, bodies.count)
        self.foresight = Foresight(collider, bodies.count)
        self.displacement = Displacement(bodies.count)
        self.settings = settings
        self.bounces = bounces and not self.settings.compliant
        collider.compliant = self.settings.compliant
        self.contacts_in_lanes = (not self.settings.compliant and self.settings.solver == SI
                         and self.settings.stabilization <= STABILIZE_SOFT
                         and self.settings.integrator == INTEGRATE_SEMI_IMPLICIT and self.settings.friction_cone
                         and self.settings.friction_central)
        self.wide = WideContacts(bodies.count, self.settings.threads)
        self.wide.scale, self.wide.small = settings.get("load_scale", 0.0), settings.get("load_small", 0.0)
        self.wide.press, self.wide.substep = settings.get("load_press", 0.0), self.settings.h
        self.wide.settle_speed, self.wide.settle_rate = settings.get("settle_speed", 0.0), settings.get("settle_rate", 0.0)
        self.pose_callbacks, self.calls, self.stage_times = PoseCallbacks(), Calls(), StageTimes()
        self.wanted = self.settings.joint_tree
        self.wrenches = np.zeros((bodies.count + 1, 6))
        self.wrench = <Twist*>doubles(self.wrenches) + 1
        self.least = settings.get("least_iterations", 1)
        self.further = FurtherSweeps(self.kept_sizes, settings.get("more_iterations", 0), settings.get("settle_speed", 0.0),
                                     settings.get("settle_rate", 0.0), self.settings.compliant)
        self._make_context()
        self.plain = PlainRows(self.context, self.bounces, self.settings.compliant)
        self.restitution = Restitution(self.context, self.plain, self.stage_times)
        self._grow_rows(64, 16)
        self.sets, self.as_rows = ConstraintSets([]), ConstraintSets([])
        parts = self.context, self.sets, self.plain, self.further, Drives(bodies.count), self.calls
        self.matrix = Delassus() if self.settings.solver == PGS else None
        self.sweeping = Sweeps(*parts) if self.matrix is None else MatrixSweeps(*parts, self.matrix)
        self.integrator = INTEGRATORS.get(self.settings.integrator, SemiImplicit)(
            self.context, self.plain, self.sets, self.sweeping, self.restitution, self.stage_times, self.calls)
        self.surfaces = self._surfaces()
        if not planned:
            self._plan()

    def _make_context(self):
        """What all sets share."""
        cdef StepContext context = StepContext()
        self.context = context
        context.bodies, context.settings, context.joints = &self.bodies, &self.settings, self.joints
        context.joint_count, context.joint_lists = self.joint_count, &self.joint_lists
        context.awake_joints, context.awake_joint_count = self.awake_joints, self.awake_joint_count
        context.store, context.noted, context.pose_callbacks = self.collider.store, self.noted, self.pose_callbacks
        context.neighbours = self.further.neighbours

    def _surfaces(self):
        """Those of compliant contacts."""
        return ConstraintSet() if not self.settings.compliant else CompliantSurfaces(
            self.context, self.plain, self.collider, WarmStarts(self.bodies.count),
            np.repeat(np.arange(self.bodies.count), 6))

    def _list_sets(self):
        """What brings rows, in the order of a sweep; and all that does where everything is a plain row."""
        cdef Articulations direct = self.articulations if self.closes() else None
        cdef Articulations in_turn = None if self.closes() else self.articulations
        self.context.joined, self.closed = NULL, direct
        self.plain.articulations = self.articulations
        self.plain.block_start = self.settings.joint_warm_start if direct is None else self.settings.first_kick
        self.joint_warm_starts = WholeWarmStarts()
        if direct is not None and not self.settings.compliant:
            self.joint_warm_starts = JointWarmStarts(self.context, self.plain, self.wide, direct)
        self.as_rows.take([self.plain, self.surfaces])
        self.sets.take([
            self.plain, self.surfaces,
            None if self.wide_joints is None else SweptJoints(self.context, self.wide_joints),
            None if direct is None else JointBounds(self.context, direct.state.joint_bounds),
            LaneContacts(self.context, self.wide, self.least) if self.contacts_in_lanes else None,
            None if direct is None else DirectJoints(self.context, self.plain, direct),
            None if in_turn is None else JointsInTurn(self.context, self.plain, in_turn, self.held_motors, self.probing)])
        self.drift = new_drift(self.context, self.islands, self.plain, self.displacement, direct, in_turn)
        self.integrator.take_drift(self.drift, self.joint_warm_starts)

    cdef bint closes(self) except -1:
        """Whether articulations close their joints by themselves."""
        return self.articulations is not None and self.settings.stabilization == STABILIZE_SOFT

    def replan(self):
        """Follow joints that broke, or are whole again."""
        self.replanning = False
        self._plan()

    def _plan(self):
        """Who does which joints and contacts."""
        self._plan_tree(*self.kept)
        self._plan_wide(*self.kept)
        self.integrator.plan(*self.kept, self._joint_sizes)
        self._plan_impacts()
        self._list_sets()
        self.choose_joints(self.islands.asleep)

    def _joint_sizes(self):
        """(joints,) rows that are each joint itself."""
        while layout_joints(self.joints_copied(), NULL, self.joint_count, &self.bodies, &self.settings,
                            self.plain.rows, self.plain.row_capacity, True, NULL, NULL, NULL, NULL) < 0:
            self.grow()
        return self.backup[3].view(JOINT_DTYPE)["constraint_count"][:self.joint_count]

    def _plan_tree(self, bodies, joints):
        """The direct joint solver, if it is asked for and there is anything for it to do."""
        bodies = _with_room(bodies)
        self.body_room = bodies.count
        self.articulations = None
        self.too_dear = 0.0
        self.settings.joint_tree = self.wanted
        if self.settings.joint_tree and self.joint_count:
            found = Articulations(bodies, joints, self._joint_sizes(), self.settings.stabilization == STABILIZE_SOFT,
                                  self.contacts_in_lanes)
            if found.state.tree.row_count + found.state.border.count > 0:
                self.articulations = found
                found.attach(&self.bodies, self.joints, &self.settings, self.pose_callbacks, self.noted)
        if (self.articulations is not None and self.settings.joint_tree == 2
                and self.articulations.state.tree.work > MOST_WORK * self.joint_count):
            self.too_dear = self.articulations.state.tree.work / self.joint_count
        if self.articulations is None or self.too_dear > 0.0:
            self.articulations = None
            self.settings.joint_tree = 0
        self._plan_motors(bodies, joints)

    def _plan_motors(self, bodies, joints):
        """Who probes for motors where the direct solver takes the joints' rows in turn with sweeps."""
        self.probing, self.held_motors = None, None
        if self.articulations is None or self.closes() or not np.any(joints["axes"]["motor_mode"]):
            return
        beside = border_rows(joints)
        sizes = self._joint_sizes().copy()
        sizes[[row[0] for row in beside]] = 0
        self.probing = SmoothSolver(np.stack([joints["body_a"], joints["body_b"]], axis=1), sizes, beside,
                                    bodies.kind == DYNAMIC)
        self.held_motors = HeldSpans(self.probing)

    def plan_serves(self, Py_ssize_t bodies):
        """Whether take_plan() may be told this machine by one that has the same joints between the same bodies, and in
        all so many bodies."""
        return self.articulations is not None and bodies <= self.body_room

    def take_plan(self, Machine other):
        """The plan of a machine whose place this one takes."""
        self.articulations, self.body_room = other.articulations, other.body_room
        self.articulations.attach(&self.bodies, self.joints, &self.settings, self.pose_callbacks, self.noted)
        self.probing, self.held_motors = other.probing, other.held_motors
        self._plan_impacts()
        self._list_sets()

    def _plan_impacts(self):
        """Who makes what bounces."""
        own = self.integrator.impacts(self.settings.restitution_law)
        impacts, first = (self._impacts(), self.settings.first_kick) if own is None else own
        self.restitution.take(impacts if self.bounces else None, first)

    def _impacts(self):
        """Those of what the joints' solver holds."""
        cdef BodyImpacts blows
        bodies, joints = self.kept
        if self.articulations is not None:
            return ArticulationImpacts(self.settings.restitution_law, self.articulations, self.bodies.count, self.closes())
        if self.joint_count:
            pairs = np.stack([joints["body_a"], joints["body_b"]], axis=1)
            blows = RowImpacts(self.settings.restitution_law, pairs, bodies.kind == DYNAMIC)
        else:
            blows = BodyImpacts(self.settings.restitution_law, self.bodies.count)
        blows.twist = self.bodies.twist
        return blows

    def _plan_wide(self, bodies, joints):
        """Joints several at a time, where they are solved row by row; not where impacts ask for those rows."""
        self.wide_joints = None
        if (self.settings.solver == SI and self.settings.stabilization <= STABILIZE_SOFT
                and self.settings.integrator == INTEGRATE_SEMI_IMPLICIT and not self.settings.joint_tree
                and self.joint_count > 0 and not self.bounces):
            self.wide_joints = WideJoints(joints, self._joint_sizes(), bodies.padded["inv_mass"])

    @property
    def shapes_changed(self):
        """Whether the collider has other shapes than when see_shapes() was called, or it never was."""
        return self.revision_seen != self.collider.revision

    @property
    def borne(self):
        """The part of a substep's load that rows bear in the biased pass."""
        return self.settings.first_kick

    def see_shapes(self):
        self.revision_seen = self.collider.revision

    @property
    def held_back(self):
        """How often in the last step a body was set back from what it would have passed through, once a substep at most."""
        return self.tunnelling_guard.held

    @property
    def tree(self):
        """The direct joint solver, or None."""
        return None if self.articulations is None else self.articulations.state.tree

    def _grow_rows(self, rows, manifolds):
        """Row buffers for at least `rows` rows and `manifolds` manifolds."""
        grown = rows > self.plain.row_capacity
        self.plain.reserve(rows, manifolds)
        if grown:
            self._follow_capacity()

    def _follow_capacity(self):
        """Room for the rows in what keeps something about each."""
        if self.settings.stabilization >= STABILIZE_SPLIT_IMPULSE:
            self.displacement.reserve(self.plain.row_capacity)
        self.restitution.reserve()
        if self.integrator is not None:
            self.integrator.reserve()

    def take_room(self, Machine other):
        """The buffers of the pipeline whose place this one takes, so that they need not grow anew."""
        if self.settings.integrator != INTEGRATE_SEMI_IMPLICIT or other.plain.row_capacity < self.plain.row_capacity:
            return
        self.plain.take_room(other.plain)
        self._follow_capacity()
        self.wide = other.wide
        self.wide.resize(self.bodies.count)
        self._list_sets()

    def grow(self):
        """Room for what the last collide and layout asked for."""
        self.collider.grow()
        manifolds = self.collider.store.manifold_count
        rows = 24 * self.joint_count + 15 * manifolds + 64
        self._grow_rows(max(rows, self.plain.row_capacity) if rows <= self.plain.row_capacity else rows + rows // 2,
                        max(manifolds + manifolds // 2, self.plain.anchor_capacity))
        if self.matrix is not None:
            self.matrix.grow()
        self.wide.grow(manifolds)

    def spring_energy(self):
        """[J] of joints' springs and, as the last step left them, of compliant contacts."""
        cdef double energy = StateArrays.spring_energy(self)
        if self.settings.compliant:
            energy += surface_energy(self.collider.store.previous, self.collider.shapes, self.collider.store.previous_count)
        return energy

    cdef int find_contacts(self) noexcept nogil:
        """Those of the step to come. -> status"""
        cdef int status = self.collider.collide(&self.bodies, &self.settings.speculative, self.settings.dt)
        if status == OK and self.bounces:
            status = self.foresight.look(&self.bodies, self.settings.dt, self.settings.restitution_threshold)
        return status

    cdef bint grow_here(self) noexcept with gil:
        """In the middle of a step. -> whether there is room now"""
        try:
            self.grow()
        except MemoryError:
            return False
        return True

    cdef bint make_room(self) noexcept nogil:
        """For manifolds to fall asleep: whether they may is not to depend on how much room there happens to be."""
        return self.collider.store.has_room() or self.grow_collider()

    cdef bint grow_collider(self) noexcept with gil:
        try:
            self.collider.grow()
        except MemoryError:
            return False
        return True

    # ---- what numbers can carry --------------------------------------------------------------------------------------

    cdef int check_moving(self) noexcept nogil:
        """Refuse what a step has made of the state where it is not finite, or no longer tells a body's points apart; note
        where it hardly does. A number x is known to x ROUNDING, so the points of a body of size r at x are, in parts
        of r, to
        |x| ROUNDING / r, and the angle that it turns by in a step to |w| h ROUNDING: at 1 the body is nowhere."""
        cdef Py_ssize_t k
        cdef int32_t i
        cdef Vec3 x, w
        cdef double far
        cdef int status = StateArrays.check_moving(self)
        if status != OK:
            return status
        for k in range(self.bodies.moving_count):
            i = self.bodies.moving[k]
            x, w = self.bodies.position[i], self.bodies.twist[i].w
            far = ROUNDING * max(max(max(fabs(x.x), fabs(x.y)), fabs(x.z)) / self.sizes[i],
                                 max(max(fabs(w.x), fabs(w.y)), fabs(w.z)) * self.settings.dt)
            if far > 1.0:
                self.failed_body, self.failed_far = i, True
                return NOT_FINITE
            if far > COARSE:
                self.noted.most(NOTE_COARSE, i, far)
        return OK

    # ---- what is carried -------------------------------------------------------------------------------------------------

    cdef void carry_contacts(self) noexcept nogil:
        """After a step. Its contacts are those with which it began, and the next one finds them again by their
        places: those go with what carries the bodies."""
        if self.islands.carriers.find_carriers(
                &self.bodies, self.joints, self.joint_count, self.collider.store.manifolds,
                self.collider.store.manifold_count, <int32_t*>self.plain.anchors):               # whose step is over
            carry_points(self.collider.store.manifolds, self.collider.store.manifold_count, &self.bodies, self.settings.dt)
            carry_points(self.collider.store.sleeping, self.collider.store.sleeping_count, &self.bodies, self.settings.dt)

    # ---- who sleeps ------------------------------------------------------------------------------------------------------

    cdef void follow_islands(self) noexcept nogil:
        """Some bodies woke or fell asleep."""
        self.islands.list_moving(&self.bodies)
        update_inertia(&self.bodies)                # of those that woke
        self.collider.part(&self.bodies)
        self.choose_joints(self.islands.asleep)

    cdef void undo(self) noexcept nogil:
        """The state before the step is back."""
        self.noted.finish_step()
        self.restore_backup()
        self.follow_islands()

    def follow(self):
        """Follow islands that were written from outside."""
        self.follow_islands()

    def velocities(self):
        """(6 n,) the bodies' twists."""
        return self.kept[0].twist.reshape(-1).copy()

    def kicked(self):
        """(6 n,) the twists after the forces of a substep (compliant: of its half), and no impulses, at the state of
        the last prepare()."""
        cdef double part = self.settings.first_kick if self.settings.compliant else 1.0
        twist = self.kept[0].twist
        before = twist.copy()
        with nogil:
            integrate_velocities(&self.bodies, &self.settings, part)
        after = twist.reshape(-1).copy()
        twist[...] = before
        return after

    def set_calls(self, calls):
        """calls(time): writes what the user's functions give into the joints' records, before rows are made of them."""
        self.calls.of_time = calls

    def set_laboratory(self, laboratory):
        """laboratory(rows, twists, relaxed): solves the rows in place of the sweeps; or None."""
        cdef Sweeps before = self.sweeping
        self.laboratory = laboratory
        if laboratory is not None:
            self.sweeping = Laboratory(before.context, before.sets, before.plain, before.further, before.drives,
                                       before.calls, laboratory)
            self.integrator.take_solver(self.sweeping)

    def set_user_joints(self, user):
        """user: state.user_joints.UserJoints whose rows the settings point at, or None."""
        if user is not None:
            self.pose_callbacks.__init__(user.call)          # and so keeps its rows alive

    def notice(self):
        """What the user has written since the last step wakes whom it concerns."""
        if self.islands.notice(&self.bodies, self.joints, self.joint_count):
            self.follow_islands()

    def restored(self):
        """Follow poses, islands and manifolds that were written from outside."""
        self.islands.look(&self.bodies)
        self.follow_islands()

    cdef void choose_joints(self, const int8_t* asleep) noexcept nogil:      # no-cython-lint: a method hides no function
        """From now on only joints whose bodies do not sleep. asleep: of each body; those that joints and gears tie
        together sleep together. Between two steps; anew after a replan."""
        self.islands.forest.list_tied(&self.bodies, self.joints, self.joint_count)
        self.awake_joint_count = choose_joints(self.joints, self.joint_count, &self.bodies, asleep, self.awake_joints)
        self.context.awake_joint_count = self.awake_joint_count
        self.sets.choose(asleep)

    def choose(self, const int8_t[::1] asleep):
        """The same for tests: asleep (bodies,) int8."""
        self.choose_joints(&asleep[0])


def _with_room(bodies):
    """What a plan of the joints reads of the bodies, with room for more that have no joints; `padded`, which is read of
    jointed ones alone, has none."""
    spare = bodies.count // 4 + 64
    return SimpleNamespace(count=bodies.count + spare, kind=np.append(bodies.kind, np.full(spare, STATIC, np.int32)),
                           padded=bodies.padded)
