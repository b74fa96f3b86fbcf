"""The tree of a world in generalized coordinates, and the bodies that follow it: what a step of it is made over."""

from libc.math cimport NAN, fabs, sqrt
from libc.stdint cimport int32_t
from libc.string cimport memcmp, memcpy, memset

import numpy as np

from mcsim.step._compliant_surfaces cimport CompliantSurfaces
from mcsim.step._constraint_set cimport ConstraintSet
from mcsim.step._pipeline cimport Pipeline
from mcsim.step._state_arrays cimport StateArrays
from mcsim.step._tree_warm_starts cimport TreeWarmStarts, node_of
from mcsim.core._arrays cimport doubles, integers
from mcsim.core._math cimport add_scaled, is_zero, mat_t_vec, mat_vec, quat_matrix
from mcsim.core._trig cimport sine_cosine
from mcsim.core._types cimport Mat3, Twist, Vec3
from mcsim.core.errors import SimulationError
from mcsim.reduced._links cimport Link
from mcsim.reduced._motion cimport Block, TreeMotion
from mcsim.solve._generalized cimport GeneralizedRows
from mcsim.state._bodies cimport DYNAMIC, KINEMATIC
from mcsim.state._row cimport ROW_NORMAL, Row

# Cosine of a pitch at which yaw and roll are one, and below which a motion may pass that within a substep.
cdef double SINGULAR = 1e-8
cdef double STEEP = 0.1


cdef inline bint is_free(const Link* root) noexcept nogil:
    """Whether the first link of a tree has its place in the world for coordinates."""
    return root.parent < 0 and root.ways == 7 and not root.reversed


cdef class TreeSurfaces(CompliantSurfaces):
    """Compliant surfaces whose rows act on the velocities of trees."""

    cdef int32_t node(self, int32_t body) noexcept nogil:
        return node_of(self.motion.blocks, body)

    cdef double row_rate(self, Py_ssize_t i, const double* velocity) noexcept nogil:
        return self.generalized.rate(i, velocity)

    cdef void row_act(self, Py_ssize_t i, double impulse, double* velocity) noexcept nogil:
        self.generalized.apply(i, impulse, velocity)


cdef class TreePipeline(Pipeline):
    """Arguments as of ReducedPipeline."""

    def __init__(self, bodies, joints, collider, settings, bounces, sleep, plan):
        cdef Py_ssize_t nv = len(plan.qd)
        Pipeline.__init__(self, bodies, joints, collider, settings, bounces, sleep)
        self.q, self.qd, self.tau, self.qdd = plan.q, plan.qd, plan.tau, np.zeros(nv)
        self.motion = TreeMotion(plan.links, self.q, self.qd, self.tau, self.qdd, plan.turns, bodies.count,
                                 plan.users, self.noted)
        self.energies, self.poses = TreeEnergy(self.motion), TreePoses(self.motion)
        self.joint_forces = TreeForces(self.motion)
        self.generalized = GeneralizedRows()
        self.warm_starts = TreeWarmStarts(self.plain, self.motion, self.generalized, plan.jointed[1:])
        self.tree_rows = TreeRows(self.context, self.plain, self.motion, self.generalized)
        self.body_sync = TreeSync(self.context, self.poses, bodies, plan.links)
        held = np.concatenate([[0], np.cumsum(plan.held)]).astype(np.int32)
        carrying = np.zeros((bodies.count + 1, 6)), np.zeros(nv + 1)
        carriers = np.append(np.array(plan.carriers, np.int32).reshape(-1), np.int32(0))
        self.carriers = integers(carriers)
        self.kept_of_tree = held, carrying, carriers
        self.held = integers(held)
        self.angles, self.pitched = plan.angles, plan.pitched
        self.leading = bool(np.any(bodies.kind == KINEMATIC))
        self.carrier_count = len(plan.carriers)
        self.carried_forces, self.carried = <Twist*>doubles(carrying[0]) + 1, doubles(carrying[1])
        self.recovered = self.carried_step = self.rows_step = -1

    def records_copied(self):
        """As of StateArrays; angles of the tree count the turns that q has made."""
        return self.count_turns(StateArrays.records_copied(self))

    def measured(self):
        """Likewise."""
        return self.count_turns(StateArrays.measured(self))

    def errors(self):
        """Likewise."""
        return self.errors_by(self.records_copied())

    def count_turns(self, records):
        joints, axes, places = self.angles
        records["axes"]["position"][joints, axes] = self.q[places]
        return records

    cdef void pass_failure(self) noexcept with gil:
        """What a joint model of the user's raised."""
        self.calls.fail(self.motion.failure)
        self.motion.failure, self.motion.failed = None, False

    cdef void refuse_pitch(self) noexcept with gil:
        """Where yaw and roll turn about one axis, no rates of theirs give every motion; nor do they follow one that
        comes as near within a substep."""
        cdef double s, c, yaw, pitch, nearest
        for name, q, v in self.pitched:
            sine_cosine(self.motion.q[<Py_ssize_t>q + 1], &s, &c)
            yaw, pitch = self.motion.qd[<Py_ssize_t>v], self.motion.qd[<Py_ssize_t>v + 1]
            nearest = self.settings.h * sqrt(pitch * pitch + c * c * yaw * yaw)
            if fabs(c) < SINGULAR or (fabs(c) < STEEP and fabs(c) < nearest):
                self.calls.fail(SimulationError(
                    f"joint {name!r} has come to a pitch of ±π/2 (off by {fabs(c):.2g} rad), where yaw and roll turn "
                    "about one axis and no rates of theirs follow the motion: describe it by a quaternion "
                    "(ball='quaternion'); the last good state is kept"))

    # ---- forces of the tree's joints ---------------------------------------------------------------------------------

    def prepare(self, bint points=False):
        self.recover()                                   # while the last substep's rows are there
        return Pipeline.prepare(self, points)

    def recover(self):
        """What the tree's joints carry at the end of the last substep, into their records; once a step, if q and qd
        are those it ended with: the forces across the joints at the accelerations there, under what its rows did."""
        if self.recovered == self.steps:
            return
        if self.carried_step == self.steps and self.body_sync.is_at(self.body_sync.begun) and self.body_sync.is_stale():
            self.body_sync.show(False, self.steps)                                 # a step has begun since, and was undone
            if self.motion.failed:                           # by a model of the user's that raises here, too
                self.motion.failure, self.motion.failed = None, False
                self.body_sync.shown[0] = NAN                          # nothing is shown
        if self.body_sync.is_stale():
            return
        if self.carried_step == self.steps:
            memcpy(self.motion.trial, self.carried, self.motion.tree.nv * sizeof(double))
        elif self.rows_step == self.steps:
            self.sum_carried()
        else:
            return
        self.recovered = self.steps
        self.give_wrenches(0)

    cdef void give_wrenches(self, int32_t resting) noexcept nogil:
        """After sum_carried: into the records of the trees' joints that are so marked."""
        cdef Py_ssize_t i
        cdef int32_t link
        self.joint_forces.carry(<const double*>self.carried_forces)
        for i in range(self.carrier_count):
            link = self.carriers[2 * i]
            if self.motion.resting[self.motion.blocks[self.motion.tree.links[link].body].tree] == resting:
                self.joint_forces.give_wrench(link, self.settings.h, &self.bodies, &self.joints[self.carriers[2 * i + 1]])

    cdef void keep_carried(self) noexcept nogil:
        """Before a step lays out rows anew: what recover() asks of those of the last one, should this one be undone."""
        if self.rows_step == self.steps and self.recovered != self.steps and not self.body_sync.is_stale():
            self.sum_carried()
            memcpy(self.carried, self.motion.trial, self.motion.tree.nv * sizeof(double))
            self.carried_step = self.steps
        self.rows_step = self.steps + 1

    cdef void sum_carried(self) noexcept nogil:
        """What acts on the bodies, and on the joints themselves, at the end of the last substep."""
        cdef double h = self.settings.h
        cdef const Row* row
        cdef Py_ssize_t i
        cdef int k
        memcpy(self.carried_forces, self.wrench, self.bodies.count * sizeof(Twist))
        self.joint_forces.begin_carry()
        for i in range(self.plain.row_count):
            row = &self.plain.rows[i]
            if row.kind < ROW_NORMAL and self.held[row.source + 1] > self.held[row.source]:
                self.generalized.add_force(i, row.impulse / h, self.motion.trial)
                continue                                 # between a link and its parent: part of what the joint carries
            for k in range(6):
                if row.body_a >= 0:
                    (<double*>&self.carried_forces[row.body_a])[k] += row.jacobian[k] * row.impulse / h
                if row.body_b >= 0:
                    (<double*>&self.carried_forces[row.body_b])[k] += row.jacobian[6 + k] * row.impulse / h

    def trust_records(self):
        """They have what the joints carry now."""
        self.recovered, self.carried_step = self.steps, -1

    def take_time(self, Pipeline other):
        Pipeline.take_time(self, other)
        self.trust_records()

    def grow(self):
        Pipeline.grow(self)
        self.generalized.reserve()

    # ---- rows --------------------------------------------------------------------------------------------------------

    def row_matrices(self):
        """J and H^-1 J' of the rows over qd."""
        return self.tree_rows.matrices()

    def velocities(self):
        """(nv,) qd."""
        return self.qd.copy()

    def _surfaces(self):
        cdef TreeSurfaces surfaces
        if self.motion is None or not self.settings.compliant:
            return ConstraintSet()                       # not yet, or none
        surfaces = TreeSurfaces(self.context, self.plain, self.collider, self.warm_starts.groups,
                                self.warm_starts.numbers[:self.motion.tree.nv])
        surfaces.motion, surfaces.generalized, surfaces.velocity = self.motion, self.generalized, self.motion.qd
        return surfaces

    cdef void write_joints(self) noexcept nogil:
        """The joints' rows at the present poses."""
        self.plain.write_joints(self.plain.rows)

    cdef void refresh(self) noexcept nogil:
        """All rows at the present poses."""
        self.sweeping.refresh()

    # ---- who sleeps ------------------------------------------------------------------------------------------------------

    cdef void follow_islands(self) noexcept nogil:
        Pipeline.follow_islands(self)
        self.rest_trees()

    cdef void rest_trees(self) noexcept nogil:
        """Trees of which all that may move sleeps rest: they stand where they are, nothing is found of them, and rows do
        not move them. As they fall asleep, their joints keep what they carried in the step that ends."""
        cdef const Block* block
        cdef int32_t* resting = self.motion.resting
        cdef bint fresh = False
        cdef int32_t body
        cdef Py_ssize_t i, k
        cdef int now
        for k in range(self.motion.tree_count):
            block = &self.motion.trees[k]
            now = -1                                     # no body yet that may move
            for i in range(block.first_link, block.end_link):
                body = self.motion.tree.links[i].body
                if self.bodies.kind[body] == DYNAMIC:
                    now = now != 0 and self.islands.asleep[body]
            if now > 0 and not resting[k]:
                resting[k] = 2
                fresh = True
            elif now <= 0:
                resting[k] = 0
            for i in range(block.first_link, block.end_link):
                self.motion.blocks[self.motion.tree.links[i].body].count = 0 if resting[k] else block.count
        if fresh:
            if self.rows_step == self.steps + 1:         # a step ends
                self.sum_carried()
                self.give_wrenches(2)
            for k in range(self.motion.tree_count):
                block = &self.motion.trees[k]
                if resting[k] == 2:
                    memset(self.motion.qd + block.first, 0, block.count * sizeof(double))
                    memset(self.motion.qdd + block.first, 0, block.count * sizeof(double))
                    self.carry_root(&self.motion.tree.links[block.first_link], self.motion.qd, 1.0, True)
                    resting[k] = 1
            self.motion.look()
            self.poses.give_twists(self.bodies.twist)
            self.body_sync.keep_twists()
            memcpy(self.body_sync.shown + self.motion.tree.nq, self.motion.qd, self.motion.tree.nv * sizeof(double))
        self.motion.list_runs(False)

    cdef void carry_trees(self, double h) noexcept nogil:
        """What rests on something that moves goes with it, and so do the coordinates."""
        cdef const Link* root
        cdef Py_ssize_t k
        if self.islands.carriers.carried_count == 0:
            return
        self.islands.carriers.carry(&self.bodies, h)
        for k in range(self.motion.tree_count):
            if self.motion.resting[k]:
                root = &self.motion.tree.links[self.motion.trees[k].first_link]
                self.carry_root(root, self.motion.q, h, False)
                self.carry_root(root, self.body_sync.shown, h, False)

    cdef void carry_root(self, const Link* root, double* x, double h, bint speed) noexcept nogil:
        """x += h u of the position of a free root, or its velocity, u that of its carrier."""
        cdef Vec3 u = self.bodies.carrier[root.body]
        cdef double* to = x + (root.v if speed else root.q)
        cdef int i
        for i in range(3 if is_free(root) else 0):
            to[i] += h * ((root.turn[3 * i] * u.x + root.turn[3 * i + 1] * u.y) + root.turn[3 * i + 2] * u.z)

    cdef bint is_driven(self, Py_ssize_t k) noexcept nogil:
        """Whether anything moves a tree by itself: forces of its joints, given motions, a joint of the user's own; or
        it does not stand on what carries it alone."""
        cdef const Block* block = &self.motion.trees[k]
        cdef const Link* link
        cdef Py_ssize_t i
        for i in range(block.first, block.first + block.count):
            if self.motion.tau[i] != 0.0:
                return True
        for i in range(block.first_link, block.end_link):
            link = &self.motion.tree.links[i]
            if link.given or link.prescribed or link.user >= 0:
                return True
        link = &self.motion.tree.links[block.first_link]
        return not is_free(link) and not is_zero(self.bodies.carrier[link.body])

    cdef void note_step(self) noexcept nogil:
        """Also that what is driven does not rest."""
        cdef const Block* block
        cdef Py_ssize_t i, k
        Pipeline.note_step(self)
        for k in range(self.motion.tree_count if self.islands.stillness.watching else 0):
            if not self.motion.resting[k] and self.is_driven(k):
                block = &self.motion.trees[k]
                for i in range(block.first_link, block.end_link):
                    self.bodies.still_time[self.motion.tree.links[i].body] = 0.0

    def go_on(self, long long n):
        """What has been given forces of joints wakes."""
        cdef bint woken = False
        cdef Py_ssize_t k
        for k in range(self.motion.tree_count):
            if self.motion.resting[k] and self.is_driven(k):
                woken |= self.islands.wake(&self.bodies, self.bodies.island[
                    self.motion.tree.links[self.motion.trees[k].first_link].body])
        if woken:
            self.follow_islands()
        return Pipeline.go_on(self, n)

    # ---- bodies and the tree -----------------------------------------------------------------------------------------

    def end_steps(self):
        """Steps that others have made, or a change: quaternions keep to the side that they are on at its end."""
        self.sync()
        self.body_sync.faces_step = -1

    def lead(self):
        """q and qd of kinematic bodies as those are now."""
        if self.leading:
            self.recover()                                   # while they are those that the step ended with
            self.poses.follow(self.bodies.position, self.bodies.orientation, self.bodies.twist)

    def sync(self):
        """The bodies as q and qd have them now."""
        self.lead()
        if self.body_sync.is_stale():
            if self.carried_step != self.steps or not self.body_sync.is_at(self.body_sync.begun):
                self.recovered = self.steps                  # what the joints carried belongs to another place
            written = self.body_sync.written()
            halves = self.kept[0].twist.reshape(-1, 2, 3)
            kept = None if written is None else halves[written]
            self.motion.list_runs(True)                      # what sleeps may have been written: notice() wakes it then
            self.body_sync.show(False, self.steps)
            self.motion.list_runs(False)
            if written is not None:
                halves[written] = kept
        if self.motion.failed:
            self.pass_failure()
            self.raise_failure()

    cdef void sum_forces(self) noexcept nogil:
        """The user's forces and damping on the bodies: a body that is damped by c loses c / (1 + h c) of its velocity a
        second, as it would implicitly."""
        cdef Py_ssize_t i
        cdef Twist* w
        cdef Mat3 r
        cdef double h = self.settings.h
        cdef double c
        self.pushed = False
        for i in range(self.bodies.count):
            w = &self.wrench[i]
            w[0] = self.bodies.force[i]
            if self.bodies.inv_mass[i] > 0.0:
                c = self.bodies.linear_damping[i]
                if c > 0.0:
                    w.v = add_scaled(w.v, -c / ((1.0 + h * c) * self.bodies.inv_mass[i]), self.bodies.twist[i].v)
                c = self.bodies.angular_damping[i]
                if c > 0.0:
                    r = quat_matrix(self.bodies.orientation[i])
                    w.w = add_scaled(w.w, -c / (1.0 + h * c), mat_vec(r, mat_vec(
                        self.bodies.inertia[i], mat_t_vec(r, self.bodies.twist[i].w))))
            if memcmp(w, self.wrench - 1, sizeof(Twist)):
                self.pushed = True

    cdef int collide(self) noexcept nogil:
        self.keep_carried()
        self.body_sync.keep()
        if self.leading:
            self.poses.follow(self.bodies.position, self.bodies.orientation, self.bodies.twist)
        if self.leading or self.body_sync.is_stale():
            self.body_sync.show(False, self.steps)
            self.save_poses()                            # from where bodies' ways are measured
        return Pipeline.collide(self)

    cdef void undo(self) noexcept nogil:
        self.rows_step = -1                              # they are the undone step's
        self.body_sync.undo()
        Pipeline.undo(self)
        self.body_sync.keep_twists()
