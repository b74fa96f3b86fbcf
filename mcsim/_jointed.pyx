"""Which bodies and joints the direct joint solver has to do with, and the room for its work.

Made once for the joints there are; `choose` follows who sleeps.
"""

from itertools import combinations

from libc.stdint cimport int8_t
from libc.string cimport memcpy, memset

import numpy as np

from mcsim._jointed cimport close_enough
from mcsim.core._arrays cimport doubles, integers, records
from mcsim.core._types cimport Mat3
from mcsim.integrate._euler cimport update_inertia
from mcsim.state._layout cimport DYNAMIC, GEAR, KINEMATIC, USER, JointRows
from mcsim.state._rows cimport add_run, joint_sleeps
from mcsim.wide._angles cimport WideAngles
from mcsim.wide._herds cimport Herds

from mcsim.solve.border import WORLD, border_rows, holds_direction
from mcsim.solve.components import connected, free_articulations
from mcsim.state.fields import JOINT_TYPES

BALL = JOINT_TYPES.index("ball")

# Joints with loops that are closer than LOOP_CLOSE [m, rad], in nets whose factorization takes more than NET_WORK
# products a joint NET_CLOSE, are not closed by moving bodies.
cdef double LOOP_CLOSE = 1e-6
cdef double NET_CLOSE = 1e-5
cdef double NET_WORK = 1000.0


cdef class Jointed:
    """bodies: state.arrays.BodyArrays; joints: (j,) JOINT_DTYPE; sizes: (j,) rows of each joint's own in the tree;
    closing: the joints are closed here, not by rows of the sweeps; widening: and what bounds them several at a time."""

    def __init__(self, bodies, joints, sizes, bint closing, bint widening):
        pairs = np.stack([joints["body_a"], joints["body_b"]], axis=1)
        beside = border_rows(joints)
        self.tree = JointTree(pairs, sizes, bodies.kind == DYNAMIC)
        plain = (joints["type"] == BALL) & (sizes == 3)
        self.tree.take_balls(plain, bodies.kind == DYNAMIC, np.stack([joints["anchor_a"], joints["anchor_b"]], axis=1))
        linked = np.append(np.flatnonzero((sizes > 0) & ~plain), 0).astype(np.int32)
        self.linked_count = self.all_linked_count = len(linked) - 1
        self.border = Border(beside, pairs[sizes > 0], bodies.kind == DYNAMIC)
        self.awake_rows, self.awake_beside = self.tree.row_count, self.border.records
        self.redundant = self.tree.loops or self.border.count > 0
        self.enough = close_enough()
        if self.redundant:
            self.enough = NET_CLOSE if self.tree.work > NET_WORK * len(joints) else LOOP_CLOSE
        held = np.zeros(bodies.count, bool)
        ends = [*pairs[sizes > 0].ravel(), *(body for row in beside for body in row[3])]
        held[np.setdiff1d(ends, [WORLD]).astype(int)] = True
        arrays = np.flatnonzero(held).astype(np.int32), np.flatnonzero(~held).astype(np.int32)
        self.count, self.other_count = len(arrays[0]), len(arrays[1])
        chosen, others = (np.append(array, np.int32(0)) for array in arrays)
        position, orientation, twist = (np.zeros((self.count + 1, n)) for n in (3, 4, 6))
        stiffness, loads = np.zeros((bodies.count + 1, 9)), np.zeros((2, self.count + 1))
        impulse, bias = np.zeros((2, self.tree.row_count + 1))
        group, touched = connected(pairs[sizes > 0], bodies.kind == DYNAMIC), np.zeros(bodies.count + 1, np.int32)
        copies = chosen.copy(), others.copy(), linked.copy()
        self.kept = (chosen, others, position, orientation, twist, stiffness, loads, impulse, bias, group, touched,
                     linked, copies)
        self.all_chosen, self.all_others, self.all_linked = integers(chosen), integers(others), integers(linked)
        self.all_count, self.all_other_count = self.count, self.other_count
        # A gear is a tie between its bodies, which keeps momentum and does no work. A user's joint need not.
        ties = [pair for row in beside if joints["type"][row[0]] == GEAR for pair in combinations(row[3], 2)]
        users = [body for row in beside if joints["type"][row[0]] == USER for body in row[3] if body != WORLD]
        coupled = np.concatenate([pairs[sizes > 0], np.array(ties, int).reshape(-1, 2)])
        driven = bodies.kind == KINEMATIC
        driven[users] = True
        if closing and not self.redundant:
            self._find_herds(joints, sizes, bodies.kind == DYNAMIC, group)
        asleep, idle = np.zeros(bodies.count + 1, np.int8), np.zeros(len(joints) + 1, np.int8)
        outside, herded = np.zeros(bodies.count + 1, np.int32), np.zeros(bodies.count + 1, np.int8)
        if self.herds is not None:
            herded[pairs[self.herds.joints[:len(joints)]]] = 1
            herded[:bodies.count][bodies.kind != DYNAMIC] = 0
        self.kept += asleep, idle, outside, herded
        self.asleep, self.idle, self.herded = <int8_t*>records(asleep), <int8_t*>records(idle), <int8_t*>records(herded)
        self.outside = integers(outside)
        twists, energies = np.zeros((2, bodies.count + 1, 6)), np.zeros((2, bodies.count + 1))
        asked, joined = np.zeros(bodies.count + 1, np.int8), held.astype(np.int8)
        self.kept_starts = twists, energies, asked, joined
        self.started, self.guessed = <Twist*>doubles(twists[0]) + 1, <Twist*>doubles(twists[1]) + 1
        self.before, self.after = doubles(energies[0]), doubles(energies[1])
        self.asked, self.joined = <int8_t*>records(asked) + 1, <int8_t*>records(joined)
        self.guard = EnergyGuard(pairs, sizes, connected(coupled, bodies.kind == DYNAMIC), driven,
                                 np.any(joints["axes"]["motion_mode"] != 0, axis=1), self.border)
        self.angles = WideAngles(joints, sizes if closing and widening else 0 * sizes, bodies.padded["inv_mass"])
        self.displacement = Displacement(bodies.count)
        self.group, self.touched = integers(group), integers(touched)
        self.group_count = len(touched)
        self.chosen, self.others, self.linked = integers(copies[0]), integers(copies[1]), integers(copies[2])
        self.displacement.chosen, self.displacement.count = self.chosen, self.count
        self.position, self.orientation = <Vec3*>doubles(position), <Quat*>doubles(orientation)
        self.twist = <Twist*>doubles(twist)
        if self.herds is None:
            self.impulse, self.bias = doubles(impulse), doubles(bias)
        self.loads.count, self.loads.chosen = self.count, self.chosen
        self.loads.load, self.loads.part = doubles(loads[0]), doubles(loads[1])
        self.loads.stiffness = <Mat3*>doubles(stiffness)
        held_by_users = np.array([(body, WORLD) for body in users], int).reshape(-1, 2)
        self._find_free(np.concatenate([coupled, held_by_users]), bodies.kind == DYNAMIC, arrays[0])
        swings = np.ones(bodies.count + 1, np.int32)
        if self.tree.loops:
            swings[pairs[holds_direction(joints, sizes)]] = 0
        self.swings, self.kept_swings = integers(swings), swings

    def _find_herds(self, joints, sizes, moves, group):
        nodes, entries = self.tree.kept[1], self.tree.kept[2]
        found = Herds(nodes, entries, joints, sizes, moves, group)
        if found.number_count > 0:
            self.herds = found
            self.tree.take_herds(found)
            scratch = np.zeros((2, self.tree.own_numbers + found.number_count))
            self.kept += (scratch,)
            self.impulse, self.bias = doubles(scratch[0]), doubles(scratch[1])

    def _find_free(self, pairs, moves, jointed):
        """Which free articulation each jointed body belongs to, with room for its sums."""
        of = free_articulations(pairs, moves)
        self.free_count = int(of.max(initial=-1)) + 1
        excess, center = np.zeros((2, self.free_count + 1, 3))
        inertia = np.zeros((self.free_count + 1, 9))
        free, strained = np.append(of[jointed], -1).astype(np.int32), np.zeros(len(moves) + 1, np.int32)
        copy, number = free.copy(), np.zeros(self.free_count + 1, np.int32)
        self.kept_free = free, strained, excess, center, inertia, copy, number
        self.all_free, self.free, self.strained = integers(free), integers(copy), integers(strained)
        self.free_number, self.all_free_count = integers(number), self.free_count
        self.excess, self.center, self.inertia = <Vec3*>doubles(excess), <Vec3*>doubles(center), <Mat3*>doubles(inertia)

    cdef void attach(self, Bodies* bodies, Joint* joints, const Settings* settings, PoseCalls calls) noexcept:
        """The records of the pipeline, which outlives this."""
        self.calls = calls
        self.border.joints = joints
        self.bodies = bodies
        self.joints = joints
        self.settings = settings
        self.arrange(self.herds is not None)

    cdef void choose(self, const int8_t* asleep) noexcept nogil:
        """From now on only articulations that do not sleep; bodies, joints and impulses of the others stay as they are.
        asleep: of each body; those that joints and gears tie together sleep together. Between two steps, after
        choose_joints (constraints/_joints.pyx)."""
        cdef Py_ssize_t j
        if self.stiffening:
            update_inertia(self.bodies)
        memcpy(self.asleep, asleep, self.bodies.count * sizeof(int8_t))
        self.guard.choose(asleep)
        self.awake_beside = 0
        for j in range(self.border.count):
            if not joint_sleeps(&self.joints[self.border.joint[j]], self.bodies, asleep):
                self.awake_beside += 2 if self.joints[self.border.joint[j]].type == GEAR else 1
        self._choose_bodies(asleep)
        self.arrange(self.herds is not None)

    cdef void arrange(self, bint herding) noexcept nogil:
        """The joints that do not sleep, in herds where there are any, or one by one."""
        cdef JointRows* rows = &self.tree.rows
        cdef const int8_t* taken = self.herds.taken if herding else NULL
        cdef Py_ssize_t j, k
        self.tree.herding = herding
        self.tree.choose(self.bodies, self.asleep, taken)
        rows.awake_count = rows.alone_count = rows.run_count = 0
        self.linked_count = self.awake_rows = 0
        for j in range(rows.joint_count):
            self.idle[j] = joint_sleeps(&self.joints[j], self.bodies, self.asleep)
            if self.idle[j]:
                continue
            self.awake_rows += rows.begin[j + 1] - rows.begin[j]
            rows.awake[rows.awake_count] = <int32_t>j
            rows.awake_count += 1
            if taken == NULL or not taken[j]:
                rows.alone[rows.alone_count] = <int32_t>j
                rows.alone_count += 1
                add_run(rows, rows.begin[j], rows.begin[j + 1])
        for k in range(self.all_linked_count):
            j = self.all_linked[k]
            if not self.idle[j] and (taken == NULL or not taken[j]):
                self.linked[self.linked_count] = <int32_t>j
                self.linked_count += 1
        self.angles.choose(self.joints, self.idle)
        self.outside_count = 0
        for k in range(self.count):
            if not herding or not self.herded[self.chosen[k]]:
                self.outside[self.outside_count] = <int32_t>k
                self.outside_count += 1
        if herding:
            self.herds.choose(self.idle, self.tree.own_numbers)
            self.herds.kernels.give(self.herds.herds, self.herds.count, rows)    # linear parts, which stay, for loads
            add_run(rows, <int32_t>self.tree.own_numbers, <int32_t>(self.tree.own_numbers + self.herds.used))

    cdef void _choose_bodies(self, const int8_t* asleep) noexcept nogil:
        """Of the jointed bodies those awake, with their free articulations numbered anew, and the others awake."""
        cdef Py_ssize_t k
        cdef int32_t i, last = -1
        self.count = self.other_count = self.free_count = 0
        memset(self.free_number, 0xff, self.all_free_count * sizeof(int32_t))
        for k in range(self.all_count):
            i = self.all_chosen[k]
            if self.bodies.kind[i] == DYNAMIC and asleep[i]:
                continue
            self.chosen[self.count] = i
            last = self.all_free[k]
            if last >= 0 and self.free_number[last] < 0:
                self.free_number[last] = <int32_t>self.free_count
                self.free_count += 1
            self.free[self.count] = self.free_number[last] if last >= 0 else -1
            self.count += 1
        for k in range(self.all_other_count):
            i = self.all_others[k]
            if i < self.bodies.count and not (self.bodies.kind[i] == DYNAMIC and asleep[i]):    # else: room for more
                self.others[self.other_count] = i
                self.other_count += 1
        self.loads.count = self.displacement.count = self.count
