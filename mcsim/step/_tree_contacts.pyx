"""Contacts over the velocities of trees: how much each bears for its size, and how it is aimed along the bent paths of
links.
"""

from libc.math cimport copysign, sqrt
from libc.stdint cimport int8_t, int32_t
from libc.string cimport memset

import numpy as np

from mcsim.constraints._contact_order cimport ContactOrder
from mcsim.constraints._contacts cimport bend_contacts
from mcsim.constraints._forces cimport is_aimed
from mcsim.constraints._joints cimport aim_springs
from mcsim.constraints._parts cimport gyroscopic_acceleration
from mcsim.core._arrays cimport doubles, integers, records
from mcsim.core._math cimport sub
from mcsim.core._types cimport Twist, Vec3
from mcsim.reduced._motion cimport TreeMotion
from mcsim.reduced._tree_energy cimport TreeEnergy
from mcsim.reduced._tree_poses cimport TreePoses
from mcsim.solve._generalized_sweeps cimport GeneralizedSweeps
from mcsim.solve._laden cimport LadenRows
from mcsim.solve._points cimport block_size
from mcsim.state._bodies cimport Bodies
from mcsim.state._manifold cimport Manifold
from mcsim.state._row cimport BIASED, ROW_JOINT, ROW_SPRING, Row
from mcsim.step._constraint_set cimport StepContext
from mcsim.step._plain_rows cimport PlainRows
from mcsim.step._tree_rows cimport TreeRows
from mcsim.step._tree_warm_starts cimport node_of
from mcsim.wide._blocks cimport MOST_STIFFNESS, MOST_TREE_EFFORT, Effort
from mcsim.wide._contacts cimport WideContacts
from mcsim.wide._efforts cimport find_efforts, follow_pulls, lasting_load
from mcsim.wide._firm cimport find_firmness


cdef class TreeContacts:
    """jointed: (bodies + 1,) int8, which of them joints move, the world first; ranks: arguments of ContactOrder; laden:
    whether contacts may bear much for their size. wide: how that is measured."""

    def __init__(self, StepContext context, PlainRows plain, TreeMotion motion, TreePoses poses, TreeEnergy energies,
                 GeneralizedSweeps row_sweeps, TreeRows tree_rows, WideContacts wide, jointed, ranks, bint laden):
        self.context, self.plain, self.wide = context, plain, wide
        self.motion, self.poses, self.energies = motion, poses, energies
        self.row_sweeps, self.generalized, self.tree_rows = row_sweeps, row_sweeps.generalized, tree_rows
        self.order = ContactOrder(*ranks)
        self.laden = laden
        self.laden_rows = LadenRows(row_sweeps, motion.tree.nv)
        swings = np.zeros((3, context.bodies.count + 1, 3))
        self.swings, self.shared = <Twist*>doubles(swings) + 1, <Vec3*>doubles(swings[2]) + 1
        self.jointed = <const int8_t*>records(jointed) + 1
        self.kept = jointed, swings

    def reserve(self):
        """Room for the plain rows and their manifolds."""
        self.laden_rows.reserve(self.plain.row_capacity)
        self.order.reserve(self.plain.anchor_capacity)
        self.row_sweeps.level = self.order.level
        most = max(1, self.plain.anchor_capacity, self.plain.row_capacity)
        efforts, others, numbers = self.kept_efforts = np.ones((most, 3)), np.ones(most), np.zeros((2, most), np.int32)
        self.efforts, self.undone = <Effort*>doubles(efforts), doubles(others)
        self.chosen, self.laden_blocks = integers(numbers[0]), integers(numbers[1])

    cdef void find_efforts(self) noexcept nogil:      # no-cython-lint: a method hides no function
        """Which contacts bear much for their size, and their blocks of rows."""
        cdef Py_ssize_t i
        cdef const Manifold* manifolds = self.context.store.manifolds
        cdef Py_ssize_t count = self.context.store.manifold_count
        cdef const Bodies* bodies = self.context.bodies
        cdef Vec3 gravity = self.context.settings.gravity
        cdef double h = self.context.settings.h
        cdef bint some = False
        self.motion.find_least(self.wide.settle_speed / MOST_TREE_EFFORT, self.generalized.least)
        self.laden_count, self.stiffer = 0, False
        if self.laden:
            some = follow_pulls(self.efforts, manifolds, count, bodies, self.jointed, gravity, self.wide.press, h,
                                MOST_TREE_EFFORT, MOST_STIFFNESS) > 1.0
            some = find_efforts(self.efforts, self.wide.passing, manifolds, count, bodies, self.wide.scale,
                                self.wide.small, MOST_TREE_EFFORT, False) > 1.0 or some
            self.stiffer = find_firmness(self.efforts, self.wide.bearers, manifolds, count, bodies,
                                         self.context.neighbours, self.jointed, gravity, h)
        for i in range(count if some else 0):
            self.undone[i] = self.wide.settle_speed + self.wide.settle_rate * manifolds[i].size
        i = self.plain.joint_end
        while some and i < self.plain.row_count:
            if self.efforts[self.plain.rows[i].source].rounds > 1.0:
                self.laden_blocks[self.laden_count] = <int32_t>i
                self.laden_count += 1
            i += block_size(self.plain.rows, i, self.plain.row_count)

    cdef void bend_joints(self) noexcept nogil:
        """The curvature of joints' rows along a drift of the tree, where a free body's would turn by its gyroscopic torque
        alone: J times what the accelerations at qdd = 0 are more than those."""
        cdef Py_ssize_t i
        cdef Row* row
        cdef const double* a
        cdef const double* b
        cdef int k
        self.motion.look()
        self.poses.give_swings(self.swings)
        for i in range(self.context.bodies.count):
            self.swings[i].w = sub(self.swings[i].w, gyroscopic_acceleration(self.context.bodies, <int32_t>i))
        for i in range(self.plain.joint_end):
            row = &self.plain.rows[i]
            if row.kind == ROW_JOINT or (row.kind == ROW_SPRING and row.curvature != 0.0) or is_aimed(
                    row, self.context.joints, self.context.settings):
                a = <const double*>&self.swings[row.body_a]
                b = <const double*>&self.swings[row.body_b]
                for k in range(6):
                    row.curvature += row.jacobian[k] * a[k] + row.jacobian[6 + k] * b[k]
        aim_springs(self.context.joints, self.plain.rows, self.plain.joint_end, self.context.bodies.twist,
                    self.context.settings)

    cdef bint is_damped(self) noexcept nogil:
        """Whether any spring's row has a curvature."""
        cdef Py_ssize_t i
        for i in range(self.plain.joint_end):
            if self.plain.rows[i].kind == ROW_SPRING and self.plain.rows[i].curvature != 0.0:
                return True
        return False

    cdef void begin(self) noexcept nogil:
        """After look: contacts are aimed by the paths of their bodies as the substep begins, along which trees keep the
        spins that they have."""
        self.poses.give_swings(self.swings)
        self.poses.give_spins(self.context.bodies, self.tree_rows.tied, self.swings)
        self.poses.give_shared(0, self.motion.tree_count, self.shared)
        self.energies.account(0.0, True)
        self.aim(True)

    cdef void aim(self, bint every) noexcept nogil:
        """The biased pass is to see the mean rate of C in the drift, to second order: J (qd + h/2 qdd) + h/2 d2C/dt2 at
        qdd = 0. Neither term alone is independent of the coordinates: a free link flies straight, whatever its joint's
        qdd. No path is bent by more than its trees' kinetic energy T could give its row, for |J qd|^2 <= 2 T J H^-1 J'
        (Cauchy, Schwarz). After look, the bodies' twists, swings and shared velocities as there; anew, of trees that
        rows have stirred."""
        cdef const Manifold* m
        cdef Row* row
        cdef double most, bent
        cdef Py_ssize_t i
        cdef int k
        cdef double h = self.context.settings.h
        if self.context.settings.compliant:
            return
        for i in range(self.context.store.manifold_count):
            m = &self.context.store.manifolds[i]
            self.chosen[i] = every or self.tree_rows.is_stirred(m.body_a) or self.tree_rows.is_stirred(m.body_b)
        bend_contacts(self.context.store.manifolds, self.context.store.manifold_count, self.chosen,
                      self.context.bodies, self.swings, self.shared, h, self.plain.anchors, self.plain.rows)
        for i in range(self.context.store.manifold_count):
            m = &self.context.store.manifolds[i]
            for k in range(m.point_count if self.chosen[i] else 0):
                row = &self.plain.rows[m.row_begin + k]
                bent = 0.5 * h * row.curvature
                most = 2.0 * row.diagonal * self.energy_of(row)
                if bent * bent > most:
                    row.bias[BIASED] -= bent
                    bent = copysign(sqrt(most), bent)
                    row.bias[BIASED] += bent
                    row.curvature = 2.0 * bent / h

    cdef double energy_of(self, const Row* row) noexcept nogil:
        """Kinetic, of the trees that a row is between, as last accounted [J]."""
        cdef double found = 0.0
        cdef int32_t a = node_of(self.motion.blocks, row.body_a), b = node_of(self.motion.blocks, row.body_b)
        if a >= 0:
            found += self.energies.kinetic[self.motion.blocks[row.body_a].tree]
        if b >= 0 and b != a:
            found += self.energies.kinetic[self.motion.blocks[row.body_b].tree]
        return found

    cdef void keep_loads(self) noexcept nogil:
        """What contacts bear at a step's end."""
        cdef Manifold* m
        cdef Py_ssize_t i
        memset(self.undone, 0, self.context.store.manifold_count * sizeof(double))
        self.generalized.find_loads(self.plain.rows, self.plain.joint_end, self.plain.row_count, self.undone)
        for i in range(self.context.store.manifold_count):
            m = &self.context.store.manifolds[i]
            m.load = lasting_load(m.load, self.undone[i])
