"""A step in generalized coordinates: the tree moves by q and qd, and the bodies follow. Joints of the tree hold by
themselves; what bounds or drives them, the joints that close loops, and contacts are the same rows as in maximal
coordinates, over the tree's velocities.

    per substep h = dt / n
      kick       qd += h/2 qdd(q, qd), for the rows to see
      warm start impulses of the last substep; of loops half of them, for their other half acts after the drift
      rows       J, H^-1 J' by the articulated inertias, sweeps with bias
      drift      from qd as it was and what the rows have changed of it, with all forces: reduced/_flight.pyx
      refresh    the tree and the rows at the new pose
      relax      sweeps without bias; restitution

Trees that loops tie drift by the velocities that close them, as leapfrog does:

      kick       at the velocities that come out: two rounds
      close      qd such that loops are closed after the drift
      drift      q by qd
      refresh    under "projection", q is projected onto what loops allow
      kick       qd += h/2 qdd(q, qd)
      relax      loops that are open give back what they drove

with the velocity's part of the force implicit before the drift and explicit after it: its own adjoint, so of second order
(E. Hairer, C. Lubich, G. Wanner, Geometric Numerical Integration, 2006, section VI.1).
"""

from libc.math cimport fabs
from libc.stdint cimport int8_t, int32_t
from libc.string cimport memcpy, memset

import numpy as np

from mcsim.step._bounded_energy cimport BoundedEnergy
from mcsim.step._compliant_surfaces cimport CompliantSurfaces
from mcsim.step._constraint_set cimport ConstraintSets
from mcsim.step._impacts cimport TreeImpacts
from mcsim.step._loop_account cimport LoopAccount
from mcsim.step._machine cimport Machine
from mcsim.step._pipeline cimport Pipeline
from mcsim.step._stage_times cimport STAGE_INTEGRATE, STAGE_REFRESH, STAGE_RELAX, STAGE_SOLVE, STAGE_WARM_START
from mcsim.step._sweeps cimport SWEEPS_A_LOOK
from mcsim.step._tree_contacts cimport TreeContacts
from mcsim.step._tree_loops cimport TreeLoops
from mcsim.step._tree_warm_starts cimport node_of
from mcsim.constraints._contacts cimport layout_contacts, refresh_contacts
from mcsim.constraints._joints cimport has_bounded_rows, layout_joints, refresh_joints
from mcsim.constraints._motors cimport aim_motors
from mcsim.core._arrays cimport doubles, records
from mcsim.core._noted cimport NOTE_PIVOTS
from mcsim.core._types cimport CALL_FAILED, GROW, OK, Twist
from mcsim.integrate._euler cimport update_inertia
from mcsim.reduced._flight cimport TreeFlight
from mcsim.reduced._motion cimport Block
from mcsim.reduced._tree_runge_kutta cimport TreeRungeKutta
from mcsim.solve._generalized_sweeps cimport GeneralizedSweeps
from mcsim.solve._held_trees cimport HeldTrees
from mcsim.solve._loop_rows cimport LoopRows
from mcsim.solve._si cimport residual
from mcsim.stabilize._stabilize cimport leave_open, stabilize_rows, stiffen_contacts
from mcsim.state._row cimport BIASED, RELAXED, ROW_LIMIT, ROW_NORMAL, Row
from mcsim.state._settings cimport STABILIZE_SOFT
from mcsim.solve import SOLVERS

cdef int SI = SOLVERS["si"]

cdef enum:
    ROUNDS = 2                   # of the first kick

# The part of its kinetic energy that a tree with loops may gain in a substep: what contradicts itself drives trees at any
# speed that it finds.
cdef double MOST_GAIN = 0.01


cdef class ReducedPipeline(TreePipeline):
    """One world's step in generalized coordinates.

    Arguments as of Pipeline, and plan: .links LINK_DTYPE, .turns (links, 3, 3) body axes in the link's, .held (joints,)
    bool: those of the tree, .q (nq,), .qd (nv,), .tau (nv,): the arrays of the state, which are worked in; .runge,
    .projection: whether by Runge-Kutta, and loops by TreeLoops.project.
    """

    def __init__(self, bodies, joints, collider, settings, bounces, sleep, plan):
        cdef Py_ssize_t nv = len(plan.qd)
        TreePipeline.__init__(self, bodies, joints, collider, settings, bounces, sleep, plan)
        self.row_sweeps = GeneralizedSweeps(self.generalized)
        self.loop_rows = LoopRows(self.generalized, self.tree_rows.of_bodies)
        self.loops = TreeLoops(self.context, self.plain, self.poses, self.loop_rows, self.tree_rows.of_trees[2],
                               self.tree_rows.of_bodies, plan)
        self.runge = plan.runge
        self.settings.first_kick = 0.5
        self.sweeping.in_halves = True
        self.kept_here = plan.jointed
        self.jointed = <const int8_t*>records(plan.jointed) + 1
        self.generalized.leading = self.leading
        self.generalized.watch(nv)
        self.settings.joint_warm_start = 0.0             # they are solved at once
        self.account = LoopAccount(self.energies, self.generalized, self.loop_rows)
        self.contacts = TreeContacts(self.context, self.plain, self.motion, self.poses, self.energies, self.row_sweeps,
                                     self.tree_rows, self.wide, plan.jointed, plan.ranks,
                                     self.wide.press > 0.0 and self.settings.solver == SI and not self.settings.compliant)
        self.held_trees = HeldTrees(self.generalized, [-1] + [
            self.motion.blocks[<Py_ssize_t>i].tree if self.motion.blocks[<Py_ssize_t>i].count > 0 else -1
            for i in range(bodies.count)], [
            (self.motion.trees[<Py_ssize_t>k].first, self.motion.trees[<Py_ssize_t>k].count)
            for k in range(self.motion.tree_count)], nv)
        self.flight = TreeFlight(self.motion)
        self.runge_kutta = TreeRungeKutta(self.motion)
        states = self.kept_of_drift = np.zeros((5, nv + 1))
        self.begun, self.started, self.kicked_to = doubles(states[0]), doubles(states[1]), doubles(states[2])
        self.at_most, self.change = doubles(states[3]), doubles(states[4])
        self.energy = BoundedEnergy(self.context, self.plain, self.energies)
        self.surfaces = self._surfaces()
        self._list_sets()
        self._follow_rows()
        self._plan_impacts()
        self.choose_joints(self.islands.asleep)
        self.rest_trees()

    def _grow_rows(self, rows, manifolds):
        Pipeline._grow_rows(self, rows, manifolds)
        if self.account is not None:
            self._follow_rows()

    def take_room(self, Machine other):
        Pipeline.take_room(self, other)
        self._follow_rows()

    def _follow_rows(self):
        self.loops.reserve()
        self.warm_starts.reserve()
        self.account.reserve(self.plain.row_capacity)
        self.loop_rows.reserve()
        self.row_sweeps.reserve(self.plain.row_capacity)
        self.contacts.reserve()

    def _impacts(self):
        if self.account is None:
            return None                                  # not yet
        return TreeImpacts(self.settings.restitution_law, self.generalized, self.loop_rows, self.motion,
                           self.tree_rows.of_trees[2] if self.loops.some else None)

    cdef void bounce(self, bint held) noexcept nogil:
        cdef long long before = self.restitution.count
        if held and self.restitution.impacts is not None:    # as a step begins: the last kick was another step's
            self.sum_forces()
            self.motion.kick(0.0, <const double*>self.wrench if self.pushed else NULL, 1)
        self.restitution.bounce(held)
        if self.restitution.count != before:
            self.body_sync.show_twists()

    cdef void choose_joints(self, const int8_t* asleep) noexcept nogil:
        """Those that may have rows."""
        cdef Py_ssize_t c, j, n = 0
        Pipeline.choose_joints(self, asleep)
        if self.held == NULL:
            return
        for c in range(self.awake_joint_count):
            j = self.awake_joints[c]
            if self.held[j + 1] == self.held[j] or has_bounded_rows(&self.joints[j]):
                self.awake_joints[n] = <int32_t>j
                n += 1
        self.awake_joint_count = n

    def replan(self):
        """No joint of the tree breaks; what else broke has no rows any more."""
        self.replanning = False

    def go_on(self, long long n):
        self.loop_rows.contrary = -1                     # of an observer's rows
        return TreePipeline.go_on(self, n)

    def kicked(self):
        """(nv,) qd after the forces of a substep (compliant: of its half), and no impulses, at the state of the last
        prepare()."""
        cdef double h = self.settings.h * (self.settings.first_kick if self.settings.compliant else 1.0)
        before = self.qd.copy()
        with nogil:
            self.sum_forces()
            self.motion.kick(h, <const double*>self.wrench if self.pushed else NULL, ROUNDS)
        after = self.qd.copy()
        self.qd[:] = before
        self.motion.look()                               # a step begins with the links' velocities as they are
        return after

    cdef void solve_problem(self, Twist* twist, int relaxed) noexcept with gil:
        """All rows by a solver of the laboratory, over qd."""
        if self.calls.status != OK:
            return
        try:
            self.sweeping.correction = self.laboratory(self.rows_now(), self.qd, relaxed, *self.row_matrices())
        except BaseException as error:
            self.calls.fail(error)

    cdef void hold_back(self) noexcept nogil:
        """Only bodies on their own, whose coordinates follow: to set a link back alone would tear its joints open."""
        if self.tunnelling_guard.watching:
            self.tunnelling_guard.end(&self.bodies, self.jointed)
            self.poses.take_poses(self.bodies.position, self.bodies.orientation, self.tunnelling_guard.set_back)
            if self.body_sync.is_stale():
                self.body_sync.show(True, self.steps)

    # ---- rows --------------------------------------------------------------------------------------------------------

    cdef int layout(self, ConstraintSets sets) noexcept nogil:
        """All rows at the present poses."""
        cdef Py_ssize_t n
        cdef int status
        if self.collider.store.manifold_count > self.plain.anchor_capacity:
            return GROW
        self.pose_callbacks.call(False)
        if self.pose_callbacks.status != OK:
            return CALL_FAILED
        update_inertia(&self.bodies)
        self.context.begin_layout(self.struck.find(self.collider.store.manifolds, self.collider.store.manifold_count))
        n = layout_joints(self.joints, self.awake_joints, self.awake_joint_count, &self.bodies, &self.settings,
                          self.plain.rows, self.plain.row_capacity, True, self.held, NULL, self.context.struck, NULL)
        if n < 0:
            return GROW
        self.plain.joint_end = self.context.joint_rows = n
        n = layout_contacts(self.collider.store.manifolds, self.collider.store.resisted(),
                            self.collider.store.manifold_count,
                            self.contacts.order.find(self.collider.store.manifolds, self.collider.store.manifold_count,
                                                     &self.bodies),
                            &self.bodies, &self.settings, self.plain.anchors, self.plain.rows, n,
                            self.plain.row_capacity, False)
        if n < 0:
            return GROW
        self.surfaces.prepare()
        self.plain.impact_rows = self.plain.row_count = n
        self.context.contact_rows = n - self.plain.joint_end
        self.plain.started_end = self.plain.joint_end if self.settings.compliant else n
        self.plain.with_contacts = True
        self.weigh_burdens()
        self.contacts.find_efforts()
        self.let_tree_hold()
        self.tree_rows.find_busy()
        self.plain.motors = aim_motors(self.joints, self.plain.rows, self.plain.joint_end, self.bodies.twist,
                                       &self.settings)
        status = self.loop_rows.fit(self.plain.rows, self.plain.joint_end) or self.tree_rows.project()
        if status == OK and self.contacts.laden_count > 0:
            status = self.contacts.laden_rows.fit(self.plain.rows, self.plain.row_count, self.contacts.laden_blocks,
                                                  self.contacts.laden_count)
        if status == OK:
            self.finish_rows(self.settings.first_kick)
        return status

    cdef void let_tree_hold(self) noexcept nogil:
        """What is said of a joint's own rows, where it has none."""
        cdef Py_ssize_t j
        for j in range(self.joint_count):
            if self.held[j + 1] > self.held[j]:
                self.joints[j].constraint_count = 0

    cdef void write_joints(self) noexcept nogil:
        self.pose_callbacks.call(False)
        refresh_joints(self.joints, self.awake_joints, self.awake_joint_count, &self.bodies, &self.settings,
                       self.plain.rows, True, self.held)
        self.let_tree_hold()

    cdef void finish_rows(self, double part) noexcept nogil:
        if self.loops.some:
            self.contacts.bend_joints()
        self.generalized.finish(self.plain.rows, self.plain.row_count)
        self.row_sweeps.couple(self.plain.rows, self.plain.joint_end, self.plain.row_count)
        stabilize_rows(self.plain.rows, self.plain.row_count, &self.bodies, self.further.neighbours, part, &self.settings)
        if self.contacts.stiffer:
            stiffen_contacts(self.plain.rows, self.plain.joint_end, self.plain.row_count, self.contacts.efforts,
                             &self.bodies, self.further.neighbours, part, &self.settings)
        self.generalized.ease(self.plain.rows, self.plain.row_count)
        self.surfaces.finish(part)
        if self.loops.closing or self.loops.projecting:
            self.loops.aim()
        self.loop_rows.factor(self.plain.rows, self.plain.joint_end, self.loops.closing_rate())
        self.held_trees.prepare(self.plain.rows, self.plain.joint_end, self.tree_rows.tied)

    cdef void refresh(self) noexcept nogil:
        update_inertia(&self.bodies)
        self.write_joints()
        refresh_contacts(self.collider.store.manifolds, self.collider.store.resisted(),
                         self.collider.store.manifold_count, &self.bodies, &self.settings, self.plain.anchors,
                         self.plain.rows, False)
        self.surfaces.refresh()
        self.tree_rows.project()                                   # as many numbers as before: there is room
        self.finish_rows(1.0)
        leave_open(self.plain.rows, self.plain.joint_end, self.plain.row_count)

    cdef void solve_rows(self, int relaxed, int iterations) noexcept nogil:
        cdef bint rub = relaxed or self.settings.stabilization != STABILIZE_SOFT or not self.settings.friction_central
        cdef Py_ssize_t given_up
        cdef const Row* row
        cdef int k
        if self.laboratory is not None:
            self.solve_problem(NULL, relaxed)
            return
        if self.contacts.laden_count > 0:
            self.contacts.laden_rows.begin(self.plain.rows, self.plain.row_count, self.contacts.laden_blocks,
                                           self.contacts.laden_count, self.contacts.efforts, self.contacts.undone,
                                           NULL if relaxed else self.at_most, rub, iterations)
        for k in range(iterations):
            self.sweeping.made += 1
            memset(self.generalized.stirred, 0, self.motion.tree.nv * sizeof(int32_t))
            given_up = self.held_trees.hold(self.plain.rows, self.motion.qd, relaxed, k == 0)
            if given_up >= 0:
                row = &self.plain.rows[self.held_trees.row[self.held_trees.begin[given_up]]]
                self.noted.most(NOTE_PIVOTS, row.body_b if self.held_trees.group[row.body_b] >= 0 else row.body_a,
                                self.held_trees.count[given_up])
            self.sweeping.correction = max(self.held_trees.largest, self.loop_rows.solve(
                self.plain.rows, self.motion.qd, relaxed))
            self.sweeping.correction = max(self.sweeping.correction, self.row_sweeps.sweep(
                self.plain.rows, self.plain.joint_end, self.plain.row_count, self.motion.qd, relaxed, rub,
                iterations - 1 - k))
            if self.contacts.laden_count > 0:
                self.sweeping.correction = max(self.sweeping.correction, self.contacts.laden_rows.sweep(self.plain.rows,
                                               self.motion.qd, relaxed))
            if self.sweeping.correction == 0.0:
                break
            if not relaxed and k + 1 < iterations and self.context.contact_rows > 0:
                self.kick_again(0.5 * self.settings.h, <const double*>self.wrench if self.pushed else NULL)
            if self.sweeping.tolerance >= 0.0:
                self.body_sync.show_twists()
                if self.sweeping.solved(self.bodies.twist, relaxed):
                    break
            if k % SWEEPS_A_LOOK == SWEEPS_A_LOOK - 1 and self.calls.is_interrupted():
                break
        if relaxed:
            self.sweeping.made += self.further.settle_trees(self.row_sweeps, self.plain.rows, self.plain.joint_end,
                                                            self.plain.row_count, self.held_trees.group, self.motion.qd)

    cdef void return_half(self) noexcept nogil:
        """The second half of what is carried, at the new pose."""
        cdef Py_ssize_t i
        cdef double impulse
        if not self.settings.compliant:
            self.warm_starts.pass_on()
        self.warm_starts.start(True)
        for i in range(self.plain.started_end):
            impulse = self.plain.take_carried(&self.plain.rows[i])
            if impulse != 0.0:
                self.generalized.apply(i, impulse, self.motion.qd)
        self.surfaces.return_carried()

    # ---- a step ------------------------------------------------------------------------------------------------------

    cdef void fly(self, double h, const double* forces) noexcept nogil:
        """The drift of all trees that no loop ties: as without rows, from the velocities that they began with and what rows
        have changed of them."""
        cdef const Block* block
        cdef double* qd = self.motion.qd
        cdef Py_ssize_t i, k
        for k in range(self.motion.tree_count):
            block = &self.motion.trees[k]
            for i in range(block.first, block.first + block.count):
                if not self.tree_rows.busy[k]:
                    qd[i] = self.begun[i]
                elif not self.tree_rows.tied[k]:
                    qd[i] = self.started[i] + (qd[i] - self.kicked_to[i])
        self.motion.look()
        if self.loops.some:
            self.flight.fly_apart(self.tree_rows.tied, h, forces)
        else:
            self.flight.fly(NULL, h, forces)

    cdef void take_back(self, double h) noexcept nogil:
        """The last kick of h; what no row acts on is as it began, to the bit."""
        cdef const Block* block
        cdef Py_ssize_t i, k
        self.motion.take_back(h)
        for k in range(self.motion.tree_count):
            block = &self.motion.trees[k]
            for i in range(block.first, block.first + block.count if not self.tree_rows.busy[k] else 0):
                self.motion.qd[i] = self.begun[i]

    cdef void substep(self, bint last) noexcept nogil:
        cdef double h = self.settings.h
        cdef const double* forces
        if self.pitched:
            self.refuse_pitch()
            if self.calls.status != OK:
                return
        self.sum_forces()
        forces = <const double*>self.wrench if self.pushed else NULL
        if self.plain.row_count == 0:
            self.sweeping.residual = 0.0
            if self.runge:
                self.runge_kutta.advance(h, forces)
                self.motion.place()
                self.motion.factor()
            else:
                self.flight.fly(NULL, h, forces)
            self.integrator.set_time(self.settings.time + h)
            if self.runge:
                self.motion.look()
            self.poses.give_poses(True, self.bodies.position, self.bodies.orientation)
            self.body_sync.give_twists()
            self.stage_times.lap(STAGE_INTEGRATE)
        else:
            self.bounded_substep(h, forces, last)
        self.carry_trees(h)
        self.integrator.end_substep()
        if last and self.contacts.laden:
            self.contacts.keep_loads()
        if self.motion.failed:
            self.pass_failure()

    cdef void first_kick(self, double h, const double* forces) noexcept nogil:
        """The forces that rows are to bear, and what velocity products make of velocities half-way: not where a tree is too
        fast for h, and rows would answer what is not there. With loops at the velocities that come out, loops closed.
        Their impulses are not guessed from those before: what rows that contradict each other have piled up would
        strike as soon as poses change. What limits and contacts are guessed to do comes after it: until it is balanced
        it may be far faster than anything moves, and velocity products of it are nothing that the drift has."""
        cdef Py_ssize_t nv = self.motion.tree.nv
        memcpy(self.started, self.motion.qd, nv * sizeof(double))
        self.motion.kick(h, forces, 1)
        if not self.runge:
            self.poses.leave_spins(h, &self.bodies, self.tree_rows.tied, 0, self.motion.tree_count)
        if self.loops.some:
            self.start_rows(False, True)
            if not self.runge:
                for _ in range(ROUNDS):
                    self.loop_rows.solve(self.plain.rows, self.motion.qd, BIASED)
                self.motion.kick_some(h, forces, self.tree_rows.tied, True)
                memcpy(self.started, self.motion.trial, nv * sizeof(double))
        if not self.runge:
            self.energies.begin_account(h, forces, self.tree_rows.tied if self.loops.some else NULL)
        memcpy(self.kicked_to, self.motion.qd, nv * sizeof(double))
        self.start_rows(False, False)
        self.warm_starts.start(False)
        if self.context.contact_rows > 0:
            self.find_work()
        self.start_rows(True, False)
        self.start_rows(True, True)
        self.warm_starts.weigh(False)

    cdef void find_work(self) noexcept nogil:
        """Before the sweeps, of each tree: the kinetic energy that it has, and what its rows would have to do for what
        they ask, each by itself: w^2 / (2 J H^-1 J'), w = J qd + bias."""
        cdef const Row* row
        cdef Py_ssize_t i, k
        cdef int32_t a, b
        cdef double rate, work
        cdef bint known
        for k in range(self.motion.tree_count):
            if self.motion.trees[k].count > 0:
                self.at_most[self.motion.trees[k].first] = self.energies.kinetic[k]
        for i in range(self.plain.row_count):
            row = &self.plain.rows[i]
            if row.kind > ROW_NORMAL or row.diagonal <= 0.0:
                continue
            known = row.carry != 0.0 and (row.kind == ROW_NORMAL or row.kind == ROW_LIMIT)
            rate = row.bias[BIASED] + (self.warm_starts.rates[i] if known else self.generalized.rate(i, self.motion.qd))
            if (row.kind == ROW_LIMIT or row.kind == ROW_NORMAL) and rate > 0.0:
                continue
            work = 0.5 * rate * rate / row.diagonal
            a, b = node_of(self.motion.blocks, row.body_a), node_of(self.motion.blocks, row.body_b)
            if a >= 0:
                self.at_most[a] += work
            if b >= 0 and b != a:
                self.at_most[b] += work

    cdef void kick_again(self, double h, const double* forces) noexcept nogil:
        """The first kick of h at the velocities that rows have made of it by now, and contacts aimed with it: an impact
        takes from a link what its path bent by. Of trees with contacts that the last sweep has stirred, and that are no
        faster than what they had and what rows asked for can make them: sweeps on their way may be, and what is aimed
        by such velocities makes them faster still. Not beside loops, whose account the first kick has begun."""
        cdef const Block* block
        cdef Py_ssize_t i, k
        cdef double* qd = self.motion.qd
        cdef double* change = self.change
        cdef int32_t* stirred = self.generalized.stirred
        cdef double before
        cdef bint some = False
        for k in range(self.motion.tree_count):
            block = &self.motion.trees[k]
            if block.count == 0:
                continue
            if self.tree_rows.busy[k] <= 1 or self.tree_rows.tied[k]:
                stirred[block.first] = 0
            if not stirred[block.first]:
                continue
            self.motion.narrow(k, k + 1)
            self.motion.look()
            self.energies.account_trees(k, k + 1, 0.0, True)
            if self.energies.kinetic[k] > self.at_most[block.first]:
                stirred[block.first] = 0
                continue
            before = self.energies.kinetic[k]
            self.poses.give_twists(self.bodies.twist)
            self.motion.find_accelerations(forces)
            for i in range(block.first, block.first + block.count):
                change[i] = qd[i] - self.kicked_to[i]
                qd[i] = self.started[i] + change[i] + h * self.motion.qdd[i]
            self.poses.leave_spins(h, &self.bodies, self.tree_rows.tied, k, k + 1)
            self.motion.look()
            self.energies.account_trees(k, k + 1, 0.0, True)
            if fabs(self.energies.kinetic[k] - before) <= 0.5 * before:
                some = True
                for i in range(block.first, block.first + block.count):
                    self.kicked_to[i] = qd[i] - change[i]
                self.poses.give_twists(self.bodies.twist)
                self.poses.give_swings(self.contacts.swings)
                self.poses.give_shared(k, k + 1, self.contacts.shared)
            else:
                stirred[block.first] = 0
                for i in range(block.first, block.first + block.count):
                    qd[i] = self.kicked_to[i] + change[i]
        if some:
            self.poses.give_spins(&self.bodies, self.tree_rows.tied, self.contacts.swings)
            self.contacts.aim(False)
        self.motion.narrow(0, self.motion.tree_count)

    cdef void start_rows(self, bint bounded, bint tied) noexcept nogil:
        """The impulses that limits' and contacts' rows start with act, or those of all others, of trees that loops tie or
        of the rest; compliant contacts', in the end, as far as they help."""
        cdef const Row* row
        cdef Py_ssize_t i
        for i in range(self.plain.started_end):
            row = &self.plain.rows[i]
            if row.impulse != 0.0 and (row.kind == ROW_LIMIT or row.kind >= ROW_NORMAL) == bounded and (
                    self.loops.is_tied(row) == tied):
                self.generalized.apply(i, row.impulse, self.motion.qd)
        if self.settings.compliant and bounded and tied:
            (<CompliantSurfaces>self.surfaces).begin_warm_start(BIASED)

    cdef void second_kick(self, double h, const double* forces) noexcept nogil:
        """Of trees that loops tie. What both kicks and the drift have given one beyond the work of forces is taken out of
        its velocities."""
        self.motion.kick_some(h, forces, self.tree_rows.tied, False)
        self.energies.see_leads()
        self.energies.credit(0.5 * h, forces)
        self.motion.look()
        self.energies.account(1.0, True)
        self.energies.credit(0.5 * h, forces)
        self.energies.tame(MOST_GAIN, self.tree_rows.tied, False)
        self.flight.bring_back_velocities(self.tree_rows.tied)

    cdef void bounded_substep(self, double h, const double* forces, bint last) noexcept nogil:
        """With rows. Under Runge-Kutta they act before it on the mean velocity to come, and after it."""
        cdef bint watched = self.loops.some and self.loops.note_strain()
        cdef double acting = 0.0 if self.runge else 0.5 * h      # of forces, while the rows act
        if watched:
            self.account.begin_half(self.plain.rows, self.plain.row_count, acting, forces, False)
        cdef bint bounded = not self.runge and self.energy.find(forces, self.tree_rows.tied)
        self.plain.aim_motors()
        self.plain.set_start_impulses()
        if self.settings.compliant:
            (<CompliantSurfaces>self.surfaces).set_start_impulses()
        memcpy(self.begun, self.motion.qd, self.motion.tree.nv * sizeof(double))
        if bounded or self.context.contact_rows > 0:
            self.motion.look()
        if bounded:
            self.energy.keep()
        if self.context.contact_rows > 0:
            self.contacts.begin(not self.runge)
        self.stage_times.lap(STAGE_WARM_START)
        self.first_kick(0.5 * h, forces)
        self.stage_times.lap(STAGE_INTEGRATE)
        self.solve_rows(BIASED, self.sweeping.asked)
        self.sweeping.first_residual = 0.0
        if last and self.settings.compliant:
            self.body_sync.show_twists()
            self.sweeping.first_residual = residual(self.plain.rows, self.plain.row_count, self.bodies.twist, BIASED)
        self.stage_times.lap(STAGE_SOLVE)
        self.integrator.set_time(self.settings.time + h)
        if self.runge:
            self.take_back(0.5 * h)
            if watched:
                self.account.end_half(self.plain.rows, self.plain.row_count, 0.0, forces)
                self.energies.spend(0.5 * h, forces)
            self.runge_kutta.advance(h, forces)
        else:
            if self.loops.closing:
                self.loops.close(self, h)
                self.motion.place()
            if watched:
                self.account.end_half(self.plain.rows, self.plain.row_count, acting, forces)
            self.fly(h, forces)
            if self.loops.some:
                self.energies.account(-1.0, True)
                self.motion.drift(h)
                self.flight.bring_back(self.tree_rows.tied)
        if self.loops.some or self.runge:
            self.body_sync.show(True, self.steps)
        else:
            self.poses.give_poses(True, self.bodies.position, self.bodies.orientation)
            self.body_sync.give_twists()
        if watched and self.runge:
            self.energies.spend(0.5 * h, forces)
        self.stage_times.lap(STAGE_INTEGRATE)
        self.refresh()
        if self.loops.projecting:
            self.loops.project(self, h)
        self.stage_times.lap(STAGE_REFRESH)
        if self.loops.some and not self.runge:
            self.sum_forces()
        if watched:
            self.account.begin_half(self.plain.rows, self.plain.row_count, acting, forces, True)
        if self.loops.some and not self.runge:
            self.second_kick(0.5 * h, forces)
        self.stage_times.lap(STAGE_INTEGRATE)
        self.return_half()
        self.warm_starts.weigh(True)
        self.bounce(False)
        self.solve_rows(RELAXED, self.sweeping.asked)
        if watched:
            self.account.end_half(self.plain.rows, self.plain.row_count, acting, forces)
            self.account.calm(self.plain.rows, self.plain.row_count, self.settings.compliant)
        self.motion.look()
        if bounded and self.energy.settle():
            self.motion.look()
        self.body_sync.give_twists()
        if last:
            self.sweeping.residual = max(self.sweeping.first_residual,
                                residual(self.plain.rows, self.plain.row_count, self.bodies.twist, RELAXED))
        if self.loops.some:
            self.loops.note_open()
        self.stage_times.lap(STAGE_RELAX)
