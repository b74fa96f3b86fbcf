"""What works in the step of one world: made for the bodies and joints that there are, and followed up when joints break.

What rows act on are the velocities of bodies (_velocity_space.pyx) or of trees (_tree_space.pyx); with trees come a
constraint set, sweeps and an integrator of their own. Nothing else here, nor in the stages of a step, tells them apart.
"""

import numpy as np

from mcsim.constraints._compliant cimport surface_energy
from mcsim.core._thread_pool cimport MOST_WORKERS
from mcsim.solve._pgs cimport Delassus
from mcsim.solve._warm_starts cimport WarmStarts
from mcsim.stabilize._displace cimport Displacement
from mcsim.state._bodies cimport DYNAMIC
from mcsim.state._inertia cimport refresh_inertia
from mcsim.state._settings cimport (INTEGRATE_RATTLE, INTEGRATE_RK4, INTEGRATE_SEMI_IMPLICIT, INTEGRATE_VARIATIONAL)
from mcsim.step._compliant_surfaces cimport CompliantSurfaces
from mcsim.step._contact_filter cimport ContactFilter
from mcsim.step._drives cimport Drives
from mcsim.step._sweeps cimport MatrixSweeps
from mcsim.step._tree_constraints cimport TreeConstraints
from mcsim.step._tree_kicks cimport TreeKicks
from mcsim.step._tree_parts cimport TreeParts
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
from mcsim.step._tree_smooth_integrator import TreeSmoothIntegrator
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


cdef class StepParts:
    """Of one world.

    bodies: state.arrays.BodyArrays; joints: (j,) JOINT_DTYPE; settings: dict with the fields of the Settings record.
    bounces: whether any shape has a restitution. sleep: (speeds, time, distances) of constraints/_islands.pyx. trees: the
    plan of _tree_constraints.pyx where the world is one of trees. planned: the plan of the joints is another world's,
    which plan.take() is to be told. The arrays are kept alive and written in place.
    """

    def __init__(self, bodies, joints, Collider collider not None, settings, bint bounces, sleep=(0.0, 0.0, 0.0),
                 trees=None, bint planned=False):
        if len(joints):
            measure_joints(bodies, joints, *settings["joint_push"])
        self.noted = new_noted(bodies.count, len(joints), bodies.room)
        self.arrays = StateArrays(bodies, joints, settings, self.noted)
        self.efforts = JointEfforts(self.arrays)
        self.bounces = bounces
        bounces = bounces and not self.arrays.settings.compliant
        self.collider = collider
        collider.threads = min(settings["threads"], MOST_WORKERS)
        collider.compliant = self.arrays.settings.compliant
        self.islands = Islands(bodies, *sleep)
        self.islands.stand_in(&self.arrays.bodies)
        self.islands.list_moving(&self.arrays.bodies)
        self.islands.look(&self.arrays.bodies)
        self.struck = StruckJoints(joints, _tied(joints, bodies.kind == DYNAMIC), bodies.room)
        self.tunnelling_guard = TunnellingGuard(collider, self.noted, bodies.room)
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
        solving = self.context, self.sets, self.plain, self.further, Drives(bodies.room), self.calls
        base = (self._make_of_bodies(solving, bodies.count, matrix) if trees is None
                else self._make_of_trees(solving, bodies, wide, trees))
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
        context.efforts = self.efforts

    def _make_lanes(self, settings):
        """Contacts several at a time."""
        cdef WideContacts wide = WideContacts(self.context.bodies.count, self.context.settings.threads, self.arrays.room)
        wide.scale, wide.small = settings.get("load_scale", 0.0), settings.get("load_small", 0.0)
        wide.press, wide.substep = settings.get("load_press", 0.0), self.context.settings.h
        wide.settle_speed, wide.settle_rate = settings.get("settle_speed", 0.0), settings.get("settle_rate", 0.0)
        return wide

    def _make_of_bodies(self, solving, count, matrix):
        """What solves and moves velocities of bodies. solving: arguments of Sweeps; matrix: as of Room. -> the sets that
        there are in any case"""
        self.space = VelocitySpace(self.context, self.arrays, self.plain)
        self.sweeping = Sweeps(*solving) if matrix is None else MatrixSweeps(*solving, matrix)
        self.restitution = Restitution(self.context, self.plain, self.stage_times)
        self.integrator = INTEGRATORS[self.context.settings.integrator](
            self.context, self.plain, self.sets, self.sweeping, self.restitution, self.stage_times, self.calls)
        surfaces = None if not self.context.settings.compliant else CompliantSurfaces(
            self.context, self.plain, self.collider, WarmStarts(count), np.repeat(np.arange(count), 6))
        return [self.plain, surfaces]

    def _make_of_trees(self, solving, bodies, wide, trees):
        """The same, over the coordinates of trees."""
        space = TreeSpace(self.context, self.arrays, self.plain, self.islands, self.calls, bodies, trees)
        rows = TreeConstraints(self.context, self.plain, self.collider, space, wide, trees)
        kicks = TreeKicks(self.context, self.plain, space, rows)
        self.space, self.sweeping = space, TreeSweeps(*solving, space, rows, kicks)
        self.restitution = TreeRestitution(self.context, self.plain, self.stage_times, space)
        self.integrator = (TreeSmoothIntegrator if trees.smooth else TreeIntegrator)(
            self.context, self.plain, self.sets, self.sweeping, self.restitution, self.stage_times, self.calls,
            TreeParts(self.context, space, rows, kicks))
        return [rows]

    def _plan(self, base, wide, matrix, int least, bint bounces, bint planned):
        """Who solves what, with room for it."""
        displacement = Displacement(self.arrays.room)
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

    # ---- what a world asks and changes -----------------------------------------------------------------------------------

    def spring_energy(self):
        """[J] of joints' springs and, as the last step left them, of compliant contacts."""
        cdef double energy = self.space.spring_energy()
        if self.context.settings.compliant:
            energy += surface_energy(self.context.store.previous, self.collider.shapes, self.context.store.previous_count)
        return energy

    def may_edit(self, Py_ssize_t bodies, bint bounces):
        """Whether edit() may be told that there are so many bodies, between which joints stay; bounces: as of this."""
        return (bodies <= self.arrays.room and bounces == self.bounces and type(self.space) is VelocitySpace
                and type(self.integrator) is SemiImplicit and not self.context.settings.compliant
                and self.efforts.values is None
                and (self.context.joint_count == 0 or self.plan.serves(bodies)))

    cdef edit(self, bodies, Rows rows, fresh, sizes, sleep, woken):
        """Follow bodies that went and came. bodies: BodyArrays of all, fresh: of those that came; sleep: as of this, None
        where none came; all else as of StateArrays.edit."""
        cdef bint slept = self.islands.sleepers > 0
        cdef Py_ssize_t i
        cdef bint moved = self.arrays.edit(bodies, rows, fresh, sizes, woken)
        speeds, _, nearest = (sizes, None, sizes) if sleep is None else sleep
        self.islands.edit(bodies, rows, fresh, speeds, nearest)
        self.islands.stand_in(&self.arrays.bodies)
        self.plan.follow_edit(moved)
        for i in rows.fresh:
            refresh_inertia(&self.arrays.bodies, i)
        self.sleepers.follow_edit(slept)

    def take_room(self, StepParts other not None):
        """Its buffers, so that they need not grow anew."""
        if (self.context.settings.integrator != INTEGRATE_SEMI_IMPLICIT
                or other.plain.row_capacity < self.plain.row_capacity):
            return
        self.room.take_rows(other.plain)
        self.room.wide = other.plan.wide
        self.plan.take_wide(other.plan.wide)

    def set_user_joints(self, user):
        """user: state.user_joints.UserJoints whose rows the settings point at, or None."""
        if user is not None:
            self.pose_callbacks.__init__(user.call)          # and so keeps its rows alive

    def set_contact_filter(self, function):
        """function(number of a body, of another): whether they meet; or None."""
        self.search.filter = None if function is None else ContactFilter(self.collider, self.calls, function)

    def set_laboratory(self, laboratory):
        """laboratory(rows, twists, relaxed): solves the rows in place of the sweeps; or None."""
        self.laboratory = laboratory
        if laboratory is not None:
            self.sweeping = self.sweeping.by_laboratory(laboratory)
            self.integrator.take_solver(self.sweeping)

    @property
    def borne(self):
        """The part of a substep's load that rows bear in the biased pass."""
        return self.context.settings.first_kick
