"""Which bodies and joints the direct joint solver has to do with, and the room for its work: one record for each
articulation, which says where all that is its own stands.

Made once for the joints there are; `choose` follows which bodies sleep.
"""

from libc.math cimport fabs
from libc.stdint cimport int32_t, int8_t
from libc.string cimport memset

import numpy as np

from mcsim.constraints._carried cimport Carried
from mcsim.core._arrays cimport doubles, integers, records
from mcsim.core._noted cimport NOTE_OPEN, Noted
from mcsim.core._types cimport Mat3, Quat, Twist, Vec3
from mcsim.direct._flights cimport Flights
from mcsim.solve._border cimport Border
from mcsim.solve._held cimport HeldRows
from mcsim.solve._held_links cimport HeldLinks
from mcsim.solve._tree cimport Articulation, JointTree, Node
from mcsim.solve._warm_starts cimport WarmStarts
from mcsim.stabilize._displace cimport Displacement
from mcsim.state._bodies cimport DYNAMIC, KINEMATIC, Bodies
from mcsim.state._inertia cimport refresh_inertia
from mcsim.state._joint cimport Joint
from mcsim.state._joint_types cimport GEAR
from mcsim.state._manifold cimport Manifold
from mcsim.state._pose_callbacks cimport PoseCallbacks
from mcsim.state._row cimport ROW_JOINT, JointRows, Row
from mcsim.state._rows cimport Off, add_error, add_run, joint_sleeps, joint_way, no_error
from mcsim.state._settings cimport Settings
from mcsim.wide._batches cimport Batch, BatchNode, Batches
from mcsim.wide._joint_bounds cimport WideJointBounds

from mcsim.core.arrays import aligned
from mcsim.solve._tree import LEAST_PART
from mcsim.solve.border import border_rows, ties
from mcsim.solve.components import find_articulations
from mcsim.state.arrays import joint_levers
from mcsim.state.fields import JOINT_TYPES

# A direct solve of joints with loops is repeated until what it finds is below this times its size in a substep.
cdef double SOLVED = 1e-16

# Part of the articulation's size: with loops, beside sweeps, what a drift would open wider is held in its velocities
# instead.
cdef double LOOP_GAP = 2e-3

# The same without loops.
cdef double WIDEST_GAP = 0.4

# Articulations fly where h^2 trace(I^-1 K+) of a body is above this, the limit of stability of a drift under the joints'
# forces at its start for one direction: of symplectic Euler h w = 2.
cdef double STRAIN = 4.0

# The largest proximal part of the diagonal (_solves.pyx).
cdef double MOST_PROXIMAL = 1e-2

BALL, USER = JOINT_TYPES.index("ball"), JOINT_TYPES.index("user")

# Joints that a drift leaves open by more than this part of their articulation's size are closed by moving bodies.
ENOUGH = 2e-7


cdef inline int8_t* flag_row(flags, int k) except? NULL:
    return <int8_t*>records(flags[k])


cdef class ArticulationState:
    """bodies: state.arrays.BodyArrays; joints: (j,) JOINT_DTYPE; sizes: (j,) rows of each joint's own in the tree;
    direct: the joints are solved here, not by rows of the sweeps; bounds_in_lanes: and what bounds them several at a
    time."""

    def __init__(self, bodies, joints, sizes, bint direct, bint bounds_in_lanes):
        pairs = np.stack([joints["body_a"], joints["body_b"]], axis=1)
        moves = bodies.kind == DYNAMIC
        beside = border_rows(joints)
        tied = ties(joints, sizes, moves)
        self.border = Border(beside, pairs[tied], moves)
        group = self.border.articulation
        self.tree = JointTree(pairs, sizes, moves, group, tied)
        found, members = find_articulations(group, self.tree.joint, self.tree.node_loops, pairs, self.border.groups)
        plain = (joints["type"] == BALL) & (sizes == 3)
        self.tree.take_balls(found, plain, moves, np.stack([joints["anchor_a"], joints["anchor_b"]], axis=1),
                             joints["push"][:, 0])
        self.kept = []
        self._keep_joints(found, plain)
        driven = self._find_driven(found, pairs, bodies.kind == KINEMATIC)
        self._measure(found, bodies, joints, pairs, group)
        barred = np.flatnonzero(found["border"] < found["border_end"])
        if direct:
            soft = np.flatnonzero(~self._find_firm(found, bodies, group[:-1]))
            self._find_batches(joints, sizes, moves, np.union1d(barred, soft))
        self.flights = Flights(self.tree, members, driven, bodies.count)
        worked = (joints["type"] == USER) | np.any(joints["axes"]["motion_mode"] != 0, axis=1)
        given = np.append(group, -1)[pairs[worked]].max(axis=1, initial=-1)
        self._keep_articulations(found, group, barred, given[given >= 0])
        self._keep_bodies(members, driven, bodies, pairs[tied], beside)
        self.carried = Carried(self.tree.branches, np.flatnonzero(tied))
        self.kept_answers = np.zeros((bodies.count + 1, 36))
        self.answers = doubles(self.kept_answers)
        self.joint_bounds = WideJointBounds(joints, sizes if direct and bounds_in_lanes else 0 * sizes,
                                            bodies.padded["inv_mass"])

    def _keep_joints(self, found, plain):
        """Articulation by articulation, as `found` then says."""
        nodes = self.tree.joint
        linked = nodes >= 0
        linked[linked] = ~plain[nodes[linked]]
        numbers = np.arange(len(found))
        for name, side in (("linked", "left"), ("linked_end", "right")):
            found[name] = np.searchsorted(self.tree.group[linked], numbers, side)
        chosen = np.append(nodes[linked], 0).astype(np.int32)
        idle = np.zeros((2, len(plain) + 1), np.int8)
        first = np.zeros(len(found) + 1, np.int32)
        self.kept += chosen, idle, first
        self.asked, self.held_rows = integers(first), HeldRows(len(found), None)
        self.held_links = HeldLinks(self.tree.articulated, len(found))
        self.linked, self.idle, self.bounds_alone = integers(chosen), flag_row(idle, 0), flag_row(idle, 1)
        self.awake_rows, self.awake_beside = self.tree.row_count, self.border.records

    def _find_driven(self, found, pairs, kinematic):
        """(n,) the kinematic bodies at the joints of each articulation."""
        own = np.flatnonzero(self.tree.joint >= 0)
        ends = pairs[self.tree.joint[own]]
        at, side = np.nonzero(np.append(kinematic, False)[ends])
        group, body = np.unique(np.stack([self.tree.group[own[at]], ends[at, side]]), axis=1)
        for name, side in (("driven", "left"), ("driven_end", "right")):
            found[name] = np.searchsorted(group, np.arange(len(found)), side)
        return body.astype(np.int32)

    def _measure(self, found, bodies, joints, pairs, group):
        """The size of each articulation: its longest lever, or the largest radius of gyration of its bodies."""
        largest = np.zeros(len(found) + 1)                       # the last is of joints that move nothing
        np.maximum.at(largest, np.append(group, -1)[pairs].max(axis=1, initial=-1), joint_levers(bodies, joints))
        found["size"] = largest[:-1]
        found["enough"] = ENOUGH * found["size"]
        self.least_enough = np.min(found["enough"], initial=np.inf)

    def _find_firm(self, found, bodies, group):
        """(articulations,) bool: whether a factor with the bodies eliminated first keeps its digits at any pose, as
        batches need it: whether what all weigh together is not too much for the lightest, as a lever of the
        articulation's size moves it."""
        inside = np.flatnonzero(group >= 0)
        of, padded = group[inside], bodies.padded
        inverse = padded["inv_mass"][1:][inside]
        turning = padded["inv_inertia"][1:][inside].reshape(-1, 9)[:, (0, 4, 8)].sum(axis=1)
        light = np.zeros(len(found))
        np.maximum.at(light, of, inverse + found["size"][of] * found["size"][of] * turning)
        return light * np.bincount(of, 1 / inverse, len(found)) < 1 / LEAST_PART

    def _find_batches(self, joints, sizes, moves, barred):
        batches = Batches(self.tree.kept[1], self.tree.kept[2], joints, sizes, moves, self.tree.group, barred)
        if batches.number_count > 0:
            self.batches = batches
            self.tree.take_batches(batches)

    def _keep_articulations(self, found, group, barred, given):
        count = len(found)
        found, group = np.append(found, np.zeros(1, found.dtype)), np.roll(group, 1).astype(np.int32)     # the world first
        flags, lists = np.zeros((19, count + 2), np.int8), np.zeros((2, count + 1), np.int32)
        numbers = np.zeros((13, count + 1))
        flags[1, :count] = found["node"][:count] < found["node_end"][:count]
        flags[1, barred] = 0
        flags[10, given] = 1
        if self.batches is not None:
            flags[2, self.batches.articulations] = 1
        beside = 0 if self.batches is None else self.batches.number_count
        rows = [aligned(8 * (max(self.tree.row_count, self.tree.own_numbers) + 1 + beside)) for _ in range(6)]
        self.kept += found, group, flags, lists, numbers, rows
        self.articulation, self.articulation_count = <Articulation*>records(found), count
        self.group = integers(group) + 1
        self.sleeps, self.may_fly, self.may_batch = flag_row(flags, 0), flag_row(flags, 1), flag_row(flags, 2)
        self.here, self.swept, self.cold = flag_row(flags, 3), flag_row(flags, 4), flag_row(flags, 5)
        self.closed, self.left, self.flew = flag_row(flags, 6), flag_row(flags, 7), flag_row(flags, 8)
        self.doubtful, self.given, self.accounted = flag_row(flags, 9), flag_row(flags, 10), flag_row(flags, 11)
        self.flies, self.bounded, self.holds = flag_row(flags, 12), flag_row(flags, 13), flag_row(flags, 14)
        self.again, self.falls, self.by_links = flag_row(flags, 15), flag_row(flags, 16), flag_row(flags, 17)
        self.touched = flag_row(flags, 18)
        self.alone, self.awake = integers(lists[0]), integers(lists[1])
        self.strain, self.near, self.open = doubles(numbers[0]), doubles(numbers[1]), doubles(numbers[2])
        self.proximal, self.solved = doubles(numbers[3]), doubles(numbers[4])
        self.kinetic, self.energy = doubles(numbers[5]), doubles(numbers[6])
        self.last_kinetic, self.last_energy = doubles(numbers[8]), doubles(numbers[9])
        numbers[10] = found["size"]
        self.sizes, self.highest = doubles(numbers[10]), doubles(numbers[11])
        numbers[7] = numbers[12] = np.inf                # of what has no joints
        self.heaviest, self.lightest = doubles(numbers[7]), doubles(numbers[12])
        self.impulse, self.flown = doubles(rows[0]), doubles(rows[1])
        self.kept_impulse, self.nothing, self.base = doubles(rows[2]), doubles(rows[3]), doubles(rows[4])
        self.contrary = doubles(rows[5])

    def _keep_bodies(self, members, driven, bodies, pairs, beside):
        count = bodies.count
        held = np.zeros(count + 1, bool)                     # the last is the world
        held[pairs] = held[[body for row in beside for body in row[3]]] = True
        held = held[:count]
        members, driven = (np.append(of, 0).astype(np.int32) for of in (members, driven))
        others = np.append(np.flatnonzero(~held), 0).astype(np.int32)
        all_others, others = others, np.append(others, driven)
        carried = held & (bodies.kind == DYNAMIC)
        joined, watched = carried.astype(np.int8), np.zeros(count + 1, np.int8)
        weighed, driver, parts = np.zeros(count + 1, np.int32), np.zeros(count + 1, np.int32), np.ones(count + 1)
        poses = [np.zeros((len(of), n)) for of in (members, driven) for n in (3, 4)]
        twists, every = np.zeros((2, len(members), 6)), np.zeros((2, count + 1, 6))
        stiffness, loads = np.zeros((count + 1, 9)), np.zeros(len(members) + 1)
        chosen = np.append(np.flatnonzero(carried), 0).astype(np.int32)
        self.kept += (members, driven, others, all_others, joined, watched, weighed, driver, parts, poses, twists, every,
                      stiffness, loads, chosen)
        self.member, self.driven = integers(members), integers(driven)
        self.position, self.orientation = <Vec3*>doubles(poses[0]), <Quat*>doubles(poses[1])
        self.driven_position, self.driven_orientation = <Vec3*>doubles(poses[2]), <Quat*>doubles(poses[3])
        self.twist, self.start = <Twist*>doubles(twists[0]), <Twist*>doubles(twists[1])
        self.started, self.probed = <Twist*>doubles(every[0]) + 1, <Twist*>doubles(every[1]) + 1
        self.warm_starts = WarmStarts(count)
        self.driver = integers(driver)
        self.weighed, self.watched, self.kept_part = integers(weighed), <int8_t*>records(watched), doubles(parts) + 1
        self.others, self.all_others = integers(others), integers(all_others)
        self.other_count = self.all_other_count = len(all_others) - 1
        self.joined = <int8_t*>records(joined)
        self.loads.chosen, self.loads.count = integers(chosen), len(chosen) - 1
        self.loads.load = doubles(loads)
        self.loads.stiffness = <Mat3*>doubles(stiffness)
        self.displacement = Displacement(count)

    cdef void attach(self, Bodies* bodies, Joint* joints, const Settings* settings, PoseCallbacks calls,
                     Noted noted) noexcept:
        """The records of the pipeline, which outlives this."""
        self.calls, self.noted = calls, noted
        self.held_rows.noted = self.held_links.noted = noted
        self.border.joints = joints
        self.bodies = bodies
        self.joints = joints
        self.settings = settings
        self.flights.attach(bodies, joints, settings, self.driven_position, self.driven_orientation)
        self.arrange()
        self.choose_lanes()

    cdef void note_left(self, Displacement displacement, const Row* rows, Py_ssize_t count, double part) noexcept nogil:
        """Joints that are open where a displacement has mended less than half of what it was to, which is `part` of
        the errors.
        rows: at the moved poses."""
        cdef Py_ssize_t i
        cdef int32_t g
        displacement.find_left(rows, count, self.bodies, part)
        for i in range(count):
            if rows[i].kind == ROW_JOINT and rows[i].stabilized:
                g = displacement.group(&rows[i], self.bodies)
                if g < 0 or not displacement.together[g].left:
                    continue
                g = max(self.group[rows[i].body_a], self.group[rows[i].body_b])
                if g >= 0 and fabs(rows[i].error) > self.articulation[g].enough:
                    self.noted.most(NOTE_OPEN, rows[i].source, fabs(rows[i].error))

    cdef void choose(self, const int8_t* asleep) noexcept nogil:
        """From now on only articulations that do not sleep; bodies, joints and impulses of the others stay as they are.
        asleep: of each body; those that joints and gears tie together sleep together. Between two steps, after
        choose_joints (constraints/_joints.pyx)."""
        cdef const Articulation* a
        cdef Py_ssize_t g, j, k
        cdef int32_t i
        for g in range(self.articulation_count):
            a = &self.articulation[g]
            self.sleeps[g] = a.member < a.member_end and asleep[self.member[a.member]]
        for j in range(self.tree.rows.joint_count):
            self.idle[j] = joint_sleeps(&self.joints[j], self.bodies, asleep)
        self.awake_beside = 0
        for j in range(self.border.count):
            if not joint_sleeps(&self.joints[self.border.joint[j]], self.bodies, asleep):
                self.awake_beside += 2 if self.joints[self.border.joint[j]].type == GEAR else 1
        self.other_count = 0
        for k in range(self.all_other_count):
            i = self.all_others[k]
            if i < self.bodies.count and not (self.bodies.kind[i] == DYNAMIC and asleep[i]):    # else: room for more
                self.others[self.other_count] = i
                self.other_count += 1
        self.release_driven()
        self.arrange()
        self.choose_lanes()

    cdef void find_touched(self, const Manifold* manifolds, Py_ssize_t count) noexcept nogil:
        """Which articulations have contacts in this step."""
        cdef Py_ssize_t i
        cdef int32_t a, b
        memset(self.touched, 0, self.articulation_count + 1)                 # the last: of what is in none
        for i in range(count):
            a, b = self.group[manifolds[i].body_a], self.group[manifolds[i].body_b]
            if manifolds[i].point_count > 0:
                self.touched[a if a >= 0 else self.articulation_count] = 1
                self.touched[b if b >= 0 else self.articulation_count] = 1

    cdef void release_driven(self) noexcept nogil:
        """Kinematic bodies to which only what sleeps is joined go by themselves meanwhile, as the others do."""
        cdef const Articulation* a
        cdef Py_ssize_t g, k
        cdef int sleeping
        memset(self.watched, 0, self.bodies.count)           # whom nobody reads between two steps
        for sleeping in range(2):
            for g in range(self.articulation_count):
                a = &self.articulation[g]
                for k in range(a.driven, a.driven_end if self.sleeps[g] == sleeping else a.driven):
                    if sleeping and not self.watched[self.driven[k]]:
                        self.others[self.other_count] = self.driven[k]
                        self.other_count += 1
                    self.watched[self.driven[k]] = 1

    cdef void choose_lanes(self) noexcept nogil:
        """Friction and limits several at a time, of joints that neither sleep, nor fly, nor hold theirs. Between two
        steps."""
        cdef const Node* node
        cdef Py_ssize_t g, k
        for k in range(self.tree.rows.joint_count):
            self.bounds_alone[k] = self.idle[k]
        for g in range(self.articulation_count):
            self.flew[g] = self.flies[g]
            for k in range(self.articulation[g].node,
                           self.articulation[g].node_end if self.flew[g] or self.holds[g] else 0):
                node = &self.tree.nodes[k]
                if node.joint >= 0:
                    self.bounds_alone[node.joint] = 1
        self.joint_bounds.choose(self.joints, self.bounds_alone)

    cdef void arrange(self) noexcept nogil:
        """The articulations that do not sleep: in batches what may be there, does not fly and holds no rows, the others
        alone."""
        cdef JointRows* rows = &self.tree.rows
        cdef Py_ssize_t g, j
        self.alone_count = self.awake_count = 0
        for g in range(self.articulation_count):
            self.here[g] = 0
            if self.sleeps[g] or (self.articulation[g].node == self.articulation[g].node_end
                                  and self.articulation[g].border == self.articulation[g].border_end):
                continue
            self.awake[self.awake_count] = <int32_t>g
            self.awake_count += 1
            if self.may_batch[g] and not self.flies[g] and not self.holds[g]:
                self.here[g] = 1
            else:
                self.alone[self.alone_count] = <int32_t>g
                self.alone_count += 1
        rows.awake_count = rows.run_count = 0
        self.awake_rows = 0
        for j in range(rows.joint_count):
            if self.idle[j]:
                continue
            self.awake_rows += rows.begin[j + 1] - rows.begin[j]
            rows.awake[rows.awake_count] = <int32_t>j
            rows.awake_count += 1
            add_run(rows, rows.begin[j], rows.begin[j + 1])
        if self.batches is not None:
            self.batches.choose(self.here, self.tree.own_numbers)
            self.batches.give_jacobians(rows)                # of which the linear parts, which loads need, stay
            add_run(rows, <int32_t>self.tree.own_numbers, <int32_t>(self.tree.own_numbers + self.batches.used))

    cdef bint is_cold(self, int32_t a, int32_t b) noexcept nogil:
        """Whether impulses of joints between two bodies start from 0."""
        return self.cold[max(self.group[a], self.group[b])]

    cdef double most_open(self, Py_ssize_t g) noexcept nogil:
        """How far the joints may be open at the end of a substep, by either of what a drift is content with [m]."""
        return max(self.articulation[g].enough, self.near[g])

    cdef double batch_way(self, const Batch* batch, int k, int lane) noexcept nogil:
        """How far a joint of what stands side by side is open, as rows are written [m]."""
        cdef const BatchNode* node = &batch.shape.nodes[k]
        cdef Off off = no_error()
        cdef int i
        for i in range(node.size):
            add_error(&off, i < 3, self.tree.rows.error[batch.first + (node.row + i) * batch.width + lane])
        return joint_way(&self.joints[batch.source[8 * k + lane]], &off)

    cdef void clear_batches(self, double* x) noexcept nogil:
        memset(x + self.tree.own_numbers, 0, self.batches.used * sizeof(double))

    cdef void keep_start(self, Py_ssize_t g) noexcept nogil:
        """Velocities before the joints' impulses."""
        cdef Py_ssize_t k
        for k in range(self.articulation[g].member, self.articulation[g].member_end):
            self.start[k] = self.bodies.twist[self.member[k]]

    cdef void keep_twists(self, Py_ssize_t g) noexcept nogil:
        cdef Py_ssize_t k
        for k in range(self.articulation[g].member, self.articulation[g].member_end):
            self.twist[k] = self.bodies.twist[self.member[k]]

    cdef void keep_poses(self, Py_ssize_t g) noexcept nogil:
        cdef const Articulation* a = &self.articulation[g]
        cdef Py_ssize_t k
        for k in range(a.member, a.member_end):
            self.position[k] = self.bodies.position[self.member[k]]
            self.orientation[k] = self.bodies.orientation[self.member[k]]
        for k in range(a.driven, a.driven_end):
            self.driven_position[k] = self.bodies.position[self.driven[k]]
            self.driven_orientation[k] = self.bodies.orientation[self.driven[k]]

    cdef void undo_poses(self, Py_ssize_t g) noexcept nogil:
        cdef const Articulation* a = &self.articulation[g]
        cdef Py_ssize_t k
        for k in range(a.member, a.member_end):
            self.bodies.position[self.member[k]] = self.position[k]
            self.bodies.orientation[self.member[k]] = self.orientation[k]
            refresh_inertia(self.bodies, self.member[k])
        for k in range(a.driven, a.driven_end):
            self.bodies.position[self.driven[k]] = self.driven_position[k]
            self.bodies.orientation[self.driven[k]] = self.driven_orientation[k]


cdef class ArticulationPart:
    """What works on the articulations of a world, with what all such parts read."""

    cdef void take_state(self) noexcept:
        """The records that the state has, once it is attached."""
        self.tree, self.border, self.batches = self.state.tree, self.state.border, self.state.batches
        self.noted = self.state.noted
        self.articulation, self.member = self.state.articulation, self.state.member
        self.bodies, self.joints, self.settings = self.state.bodies, self.state.joints, self.state.settings
