"""All rows of a world of trees, over the velocities of their coordinates, as a constraint set: joints that close loops,
what bounds or drives joints, and contacts.
"""

from libc.stdint cimport int32_t

from mcsim.collide._shapes cimport PlacedShapes
from mcsim.constraints._contacts cimport ALL_CONTACTS, layout_contacts, refresh_contacts
from mcsim.constraints._joints cimport find_bounded, take_moved
from mcsim.constraints._motors cimport aim_motors
from mcsim.core._types cimport GROW, OK, Twist
from mcsim.integrate._euler cimport update_inertia
from mcsim.solve._held cimport PASSES_TOGETHER
from mcsim.stabilize._stabilize cimport stabilize_rows, stiffen_contacts
from mcsim.state._row cimport Row
from mcsim.step._tree_loop_fronts cimport TreeLoopFronts
from mcsim.step._tree_warm_starts cimport node_of
from mcsim.wide._contacts cimport WideContacts

from mcsim.solve import SOLVERS

cdef int SI = SOLVERS["si"]


cdef class TreeSurfaces(CompliantSurfaces):
    """Compliant surfaces whose rows act on the velocities of trees."""

    def __init__(self, StepContext context, PlainRows plain, PlacedShapes shapes, TreeSpace space not None,
                 TreeWarmStarts warm_starts not None):
        CompliantSurfaces.__init__(self, context, plain, shapes, warm_starts.groups,
                                   warm_starts.numbers[:space.motion.tree.nv])
        self.motion, self.generalized, self.velocity = space.motion, space.generalized, space.motion.qd

    cdef int32_t node(self, int32_t body) noexcept nogil:
        return node_of(self.motion.blocks, body)

    cdef double row_rate(self, Py_ssize_t i, const double* velocity) noexcept nogil:
        return self.generalized.rate(i, velocity)

    cdef void row_act(self, Py_ssize_t i, double impulse, double* velocity) noexcept nogil:
        self.generalized.apply(i, impulse, velocity)


cdef class TreeConstraints(ConstraintSet):
    """shapes: of the world; wide: how much contacts bear for their size. plan: as of TreeSpace, and .ranks: arguments of
    ContactOrder; .smooth, .projection: whether accelerations hold loops closed, and TreeLoops.project does."""

    def __init__(self, StepContext context not None, PlainRows plain not None, PlacedShapes shapes not None,
                 TreeSpace space not None, WideContacts wide not None, plan):
        cdef Py_ssize_t i, k
        cdef bint laden = wide.press > 0.0 and context.settings.solver == SI and not context.settings.compliant
        self.context, self.plain, self.space, self.generalized = context, plain, space, space.generalized
        self.tree_rows = TreeRows(context, plain, space.motion, self.generalized)
        self.joints = TreeJoints(context, plain, space.kept[0], space.q, space.angles)
        self.warm_starts = TreeWarmStarts(plain, space.motion, self.generalized, plan.jointed[1:])
        self.row_sweeps = GeneralizedSweeps(self.generalized)
        self.loop_rows = LoopRows(self.generalized, self.tree_rows.of_bodies,
                                  None if plan.fronts is None else TreeLoopFronts(context, space.motion, plan.fronts))
        self.loops = TreeLoops(context, plain, space.poses, space.body_sync, self.joints, self.tree_rows, self.loop_rows,
                               plan)
        self.contacts = TreeContacts(context, plain, space.motion, space.poses, space.energies, self.row_sweeps,
                                     self.tree_rows, wide, plan.jointed, plan.ranks, laden)
        self.held_trees = HeldTrees(self.generalized, [-1] + [
            space.motion.blocks[i].tree if space.motion.blocks[i].count > 0 else -1
            for i in range(context.bodies.count)], [
            (space.motion.trees[k].first, space.motion.trees[k].count) for k in range(space.motion.tree_count)],
            space.motion.tree.nv, context.noted)
        if context.settings.compliant:
            self.surfaces = TreeSurfaces(context, plain, shapes, space, self.warm_starts)

    def make_room(self):
        self.generalized.reserve()
        self.loops.reserve()
        self.warm_starts.reserve()
        self.loop_rows.reserve()
        self.row_sweeps.reserve(self.plain.row_capacity)
        self.contacts.reserve()

    cdef void begin_step(self) noexcept nogil:
        self.loop_rows.forget_contrary()                 # of an observer's rows
        find_bounded(self.context.joints, self.context.joint_count, self.held_trees.group, self.held_trees.first,
                     self.held_trees.articulations)
        self.held_trees.ask(self.context.joints)

    cdef int prepare(self) noexcept nogil:
        cdef Py_ssize_t n = self.joints.layout()
        cdef int status
        if n < 0:
            return GROW
        n = layout_contacts(self.context.store.manifolds, self.context.store.resisted(),
                            self.context.store.manifold_count,
                            self.contacts.order.find(self.context.store.manifolds,
                                                     self.context.store.manifold_count, self.context.bodies),
                            self.context.bodies, self.context.settings, self.plain.anchors, self.plain.rows, n,
                            self.plain.row_capacity, self.context.bodies, ALL_CONTACTS)
        if n < 0:
            return GROW
        if self.surfaces is not None:
            self.surfaces.prepare()
        self.plain.impact_rows = self.plain.resting_rows = self.plain.row_count = n
        self.context.contact_rows = n - self.plain.joint_end
        self.plain.started_end = self.plain.joint_end if self.context.settings.compliant else n
        self.contacts.find_efforts()
        self.joints.let_trees_hold()
        self.tree_rows.find_busy()
        self.plain.motors = aim_motors(self.context.joints, self.plain.rows, self.plain.joint_end,
                                       self.context.bodies.twist, self.context.settings)
        status = self.loop_rows.fit(self.plain.rows, self.plain.joint_end) or self.tree_rows.project()
        if status == OK:
            take_moved(self.context.joints, self.plain.rows, self.plain.joint_end, self.context.bodies.twist,
                       self.context.settings)
        if status == OK and self.contacts.laden_count > 0:
            status = self.contacts.laden_rows.fit(self.plain.rows, self.plain.row_count, self.contacts.laden_blocks,
                                                  self.contacts.laden_count)
        return status

    cdef void finish(self, double part) noexcept nogil:
        cdef Row* rows = self.plain.rows
        if self.loops.some or self.contacts.is_damped():
            self.contacts.bend_joints()
        self.generalized.finish(rows, self.plain.row_count)
        self.row_sweeps.couple(rows, self.plain.joint_end, self.plain.row_count)
        stabilize_rows(rows, self.plain.row_count, self.context.bodies, self.context.neighbours, part,
                       self.context.settings)
        if self.contacts.stiffer:
            stiffen_contacts(rows, self.plain.joint_end, self.plain.row_count, self.contacts.efforts,
                             self.context.bodies, self.context.neighbours, part, self.context.settings)
        self.generalized.ease(rows, self.plain.row_count)
        if self.surfaces is not None:
            self.surfaces.finish(part)
        if self.loops.closing or self.loops.projecting or self.loops.smooth:
            self.loops.aim()
        self.loop_rows.factor(rows, self.plain.joint_end, self.loops.closing_rate())
        self.held_trees.prepare(rows, self.plain.joint_end, self.tree_rows.tied,
                                self.context.settings.iterations * PASSES_TOGETHER)

    cdef void refresh(self) noexcept nogil:
        update_inertia(self.context.bodies)
        self.joints.write()
        refresh_contacts(self.context.store.manifolds, self.context.store.resisted(),
                         self.context.store.manifold_count, self.context.bodies, self.context.settings,
                         self.plain.anchors, self.plain.rows, ALL_CONTACTS)
        if self.surfaces is not None:
            self.surfaces.refresh()
        self.tree_rows.project()                         # as many numbers as before: there is room

    cdef void return_carried(self) noexcept nogil:
        """The second half of what is carried, at the new pose."""
        cdef Py_ssize_t i
        cdef double impulse
        if self.surfaces is None:
            self.warm_starts.pass_on()
        self.warm_starts.start(True)
        for i in range(self.plain.started_end):
            impulse = self.plain.take_carried(&self.plain.rows[i])
            if impulse != 0.0:
                self.generalized.apply(i, impulse, self.space.motion.qd)
        if self.surfaces is not None:
            self.surfaces.return_carried()

    cdef void end_substep(self) noexcept nogil:
        self.plain.end_substep()

    cdef double residual(self, Twist* twist, int relaxed) noexcept nogil:
        return self.plain.residual(twist, relaxed)

    cdef void store(self) noexcept nogil:
        if self.surfaces is not None:
            self.surfaces.store()

    cdef void notes(self) noexcept nogil:
        if self.surfaces is not None:
            self.surfaces.notes()
