"""The own rows of joints several at a time: which joints stand side by side, and the way of their impulses there and back.

Colours as in _contacts.pyx, but chosen once: joints do not change but for those that break. Within a colour joints with
equally many rows stand together. Plain ball joints stand in blocks of their own, which are swept first: ragdolls at rest
tremble half as much as the other way round.
"""

from libc.stdint cimport int8_t, int64_t, uint64_t
from libc.string cimport memset
from cpython.pycapsule cimport PyCapsule_GetPointer

import numpy as np

from mcsim.core._arrays cimport doubles, integers, long_integers, records
from mcsim.core._softness cimport Softness, soften
from mcsim.state._joint_types cimport BALL, GEAR, USER
from mcsim.state._row cimport ROW_JOINT, JointRow, JointRows
from mcsim.state._settings cimport STABILIZE_BAUMGARTE, STABILIZE_SOFT
from mcsim.state._rows cimport joint_sleeps
from mcsim.wide._colors cimport COLORS, first_free
from mcsim.wide._halves cimport doubled, first_part

from mcsim.core.arrays import aligned
from mcsim.wide import levels

cdef enum:
    PADDING = 6                  # rows of zeros, for lanes that are not used
    MOST_LANES = 8


def kept_sizes(joints, sizes):
    """(joints,) how many rows of each joint stand here. Gears, the joints that they bind and joints of the user's own
    stay rows among rows."""
    found = np.array(sizes, np.int32)
    geared = joints["type"] == GEAR
    found[geared | (joints["type"] == USER)] = 0
    found[joints["geared"][geared].ravel()] = 0
    return found


def colored(joints, numbers, inv_mass):
    """(numbers,) colours: joints of one colour share no moving body; COLORS - 1: one that must stand alone.
    inv_mass: of the bodies from the world on."""
    taken_array = np.zeros(len(inv_mass), np.int64)
    found_array = np.zeros(len(numbers), np.int32)
    cdef int64_t* taken = long_integers(taken_array)
    cdef int32_t* found = integers(found_array)
    cdef const int32_t[::1] bodies_a = np.ascontiguousarray(joints["body_a"][numbers] + 1)
    cdef const int32_t[::1] bodies_b = np.ascontiguousarray(joints["body_b"][numbers] + 1)
    cdef const double[::1] masses = inv_mass
    cdef Py_ssize_t i
    cdef uint64_t a, b
    cdef int color
    for i in range(bodies_a.shape[0]):
        a = <uint64_t>taken[bodies_a[i]] if masses[bodies_a[i]] > 0.0 else 0
        b = <uint64_t>taken[bodies_b[i]] if masses[bodies_b[i]] > 0.0 else 0
        color = first_free(a | b)
        if color < COLORS - 1:
            taken[bodies_a[i]] |= <int64_t>1 << color
            taken[bodies_b[i]] |= <int64_t>1 << color
        found[i] = color
    return found_array


cdef class WideJoints:
    """joints: (j,) JOINT_DTYPE; sizes: (j,) how many rows each is itself; inv_mass: of the bodies from the world on.
    Kernels of the level that levels.chosen() names."""

    def __init__(self, joints, sizes, inv_mass):
        self.kernels = <const JointKernels*>PyCapsule_GetPointer(levels.table("joint_kernels"), "mcsim.wide.joints")
        self.ball_kernels = <const BallRowKernels*>PyCapsule_GetPointer(levels.table("ball_row_kernels"),
                                                                          "mcsim.wide.ball_joint_rows")
        sizes = kept_sizes(joints, sizes)
        balls = (joints["type"] == BALL) & np.all(joints["axes"]["motion_mode"] == 0, axis=1)
        self._reserve(sizes)
        joints = np.ascontiguousarray(joints)
        order, kind = self._ordered(joints, np.flatnonzero((sizes > 0) & balls), sizes, inv_mass)
        rest, kind_rest = self._ordered(joints, np.flatnonzero((sizes > 0) & ~balls), sizes, inv_mass)
        self.ball_order, self.ball_kind, self.all_balls = integers(order), integers(kind), len(order) - 1
        self.order, self.kind, self.all_joints = integers(rest), integers(kind_rest), len(rest) - 1
        # Room for as many blocks as there are joints of a kind, divided by the lanes.
        groups, ball_groups = self._group_count(kind_rest), self._group_count(kind)
        blocks, rows, swept = (aligned(max(n, 1) * size) for n, size in (
            (groups, self.kernels.block_size), (6 * groups, self.kernels.row_size),
            (ball_groups, self.ball_kernels.block_size)))
        self.kept += order, kind, rest, kind_rest, blocks, rows, swept
        self.blocks, self.rows = <JointBlock*>doubles(blocks), <WideRow*>doubles(rows)
        self.balls = <BallJointRows*>doubles(swept)
        self.pack(<const Joint*>records(joints), NULL, NULL)

    def _reserve(self, sizes):
        count = len(sizes)
        begin = np.zeros(count + 1, np.int32)
        np.cumsum(sizes, out=begin[1:])
        self.row_count = int(begin[count])
        rows = np.zeros((PADDING + self.row_count, sizeof(JointRow) // 8))
        numbers = np.zeros((6, PADDING + self.row_count))
        awake = np.zeros(count + 1, np.int32)
        self.kept = begin, rows, numbers, awake
        self.source.rows.awake = integers(awake)
        self.source.rows.joint_count = count
        self.source.rows.count = self.row_count
        self.source.rows.begin = integers(begin)
        self.source.rows.row = <JointRow*>doubles(rows) + PADDING
        self.source.rows.error = doubles(numbers[0]) + PADDING
        self.source.rows.rate = doubles(numbers[1]) + PADDING
        self.source.rows.impulse = doubles(numbers[2]) + PADDING
        self.source.rows.second = doubles(numbers[3]) + PADDING
        self.source.rows.bias = NULL
        self.source.curvature = doubles(numbers[4]) + PADDING
        self.source.held = doubles(numbers[5]) + PADDING

    def _ordered(self, joints, numbers, sizes, inv_mass):
        """Joints by colour and size, and a number for each that says both; one more at the end of each."""
        colors = colored(joints, numbers, inv_mass)
        order = np.lexsort((numbers, -sizes[numbers], colors))
        kinds = 8 * colors[order] + sizes[numbers][order]
        return np.append(numbers[order], 0).astype(np.int32), np.append(kinds, -1).astype(np.int32)

    def _group_count(self, kinds):
        found, count = np.unique(kinds[kinds >= 0], return_counts=True)
        return int(np.sum(-(-count // np.where(found >= 8 * (COLORS - 1), 1, self.kernels.width))))

    cdef void choose(self, const Joint* joints, const Bodies* bodies, const int8_t* asleep) noexcept nogil:
        """From now on only joints that do not sleep. asleep: of each body; those that joints tie together sleep
        together. Between two steps."""
        self.pack(joints, bodies, asleep)

    cdef void pack(self, const Joint* joints, const Bodies* bodies, const int8_t* asleep) noexcept nogil:
        """Joints that stand side by side into blocks; asleep: NULL: all."""
        cdef JointRows* rows = &self.source.rows
        cdef int32_t group[MOST_LANES]
        cdef Py_ssize_t first, end, row = 0
        cdef int count, size
        rows.awake_count = self.awake_row_count = 0
        for first in range(rows.joint_count):
            if rows.begin[first + 1] > rows.begin[first] and (
                    asleep == NULL or not joint_sleeps(&joints[first], bodies, asleep)):
                rows.awake[rows.awake_count] = <int32_t>first
                rows.awake_count += 1
                self.awake_row_count += rows.begin[first + 1] - rows.begin[first]
        self.count = self.ball_count = 0
        first = 0
        while first < self.all_joints:
            end = self.take(joints, bodies, asleep, self.order, self.kind, self.all_joints, first, group, &count)
            if count > 0:
                size = self.kind[first] % 8
                self.kernels.fill(self.blocks, self.rows, self.count, row, joints, group, count, rows.begin, size)
                self.count += 1
                row += size
            first = end
        first = 0
        while first < self.all_balls:
            end = self.take(joints, bodies, asleep, self.ball_order, self.ball_kind, self.all_balls, first, group,
                            &count)
            if count > 0:
                self.ball_kernels.fill(self.balls, self.ball_count, joints, group, count, rows.begin)
                self.ball_count += 1
            first = end

    cdef Py_ssize_t take(self, const Joint* joints, const Bodies* bodies, const int8_t* asleep, const int32_t* order,
                         const int32_t* kind, Py_ssize_t total, Py_ssize_t first, int32_t* group,
                         int* count) noexcept nogil:
        """A block's joints from order[first] on: of one kind, as many as there are lanes. -> where the next begins"""
        cdef int most = 1 if kind[first] >= 8 * (COLORS - 1) else self.kernels.width
        cdef Py_ssize_t k = first
        count[0] = 0
        while k < total and kind[k] == kind[first] and count[0] < most:
            if asleep == NULL or not joint_sleeps(&joints[order[k]], bodies, asleep):
                group[count[0]] = order[k]
                count[0] += 1
            k += 1
        return k

    def lanes(self):
        """(blocks, width) numbers of the joints that stand side by side; -1: the lane is not used. Ball joints last."""
        return np.concatenate([self._lanes(<const char*>self.blocks, self.count, self.kernels.block_size),
                               self._lanes(<const char*>self.balls, self.ball_count, self.ball_kernels.block_size)])

    cdef _lanes(self, const char* block, Py_ssize_t count, Py_ssize_t size):
        cdef Py_ssize_t k
        cdef int lane
        cdef int32_t[:, ::1] found = np.empty((count, self.kernels.width), np.int32)
        for k in range(count):
            for lane in range(self.kernels.width):
                found[k, lane] = (<const int32_t*>(block + k * size))[lane]          # its first field
        return np.asarray(found)

    cdef void load(self, Joint* joints, const Bodies* bodies) noexcept nogil:
        """What a step begins with."""
        cdef const JointRows* rows = &self.source.rows
        cdef Py_ssize_t k, j
        for k in range(rows.awake_count):
            j = rows.awake[k]
            joints[j].constraint_count = rows.begin[j + 1] - rows.begin[j]
        self.kernels.load(self.blocks, self.rows, self.count, joints, bodies)
        self.ball_kernels.load(self.balls, self.ball_count, joints, bodies)

    cdef void refresh(self, const Bodies* bodies, const Settings* settings) noexcept nogil:
        """At the present poses, of which `source` has the rows of all but ball joints."""
        cdef Softness soft = soften(settings.joint_hertz, settings.joint_damping_ratio, settings.h)
        memset(&self.rule, 0, sizeof(JointRule))
        if settings.stabilization == STABILIZE_BAUMGARTE:
            self.rule.error_rate = settings.baumgarte / settings.h
        elif settings.stabilization == STABILIZE_SOFT:
            self.rule.free_rate = settings.h
            if soft.stiffness > 0.0:
                self.rule.error_rate = soft.bias_rate
                self.rule.curvature_rate = 0.5 * settings.h
                self.rule.softness = 1.0 / (settings.first_kick * soft.stiffness)
        self.kernels.refresh(self.blocks, self.rows, self.count, bodies, &self.source, &self.rule)
        self.ball_kernels.refresh(self.balls, self.ball_count, bodies, &self.rule)

    cdef void warm_start(self, Twist* twist, const Settings* settings, bint ended) noexcept nogil:
        """The first halves of the impulses act. ended: whether a substep of this step has."""
        cdef double kept = settings.joint_warm_start
        cdef double part = first_part(ROW_JOINT, settings)
        self.kernels.warm_start(self.blocks, self.rows, self.count, twist, kept, part, ended)
        self.ball_kernels.warm_start(self.balls, self.ball_count, twist, kept, part, ended)
        self.part = part

    cdef void give_back(self, Twist* twist) noexcept nogil:
        """The second halves of the impulses act."""
        if self.part < 1.0:
            self.kernels.give_back(self.blocks, self.rows, self.count, twist)
            self.ball_kernels.give_back(self.balls, self.ball_count, twist)

    cdef double sweep(self, Twist* twist, int relaxed) noexcept nogil:
        """-> the largest change of a velocity [m/s, rad/s]"""
        cdef double rate = self.ball_kernels.sweep(self.balls, self.ball_count, twist, relaxed)
        return max(rate, self.kernels.sweep(self.blocks, self.rows, self.count, twist, relaxed))

    cdef double residual(self, const Twist* twist, int relaxed) noexcept nogil:
        """The largest change that a row alone would make of its impulse [N s, N m s]."""
        cdef double largest = self.ball_kernels.residual(self.balls, self.ball_count, twist, relaxed)
        return max(largest, self.kernels.residual(self.blocks, self.rows, self.count, twist, relaxed))

    cdef void store(self) noexcept nogil:
        """Jacobians and impulses into `source`."""
        self.kernels.store(self.blocks, self.rows, self.count, doubled(self.part), &self.source.rows)
        self.ball_kernels.store(self.balls, self.ball_count, doubled(self.part), &self.source.rows)
