"""The own rows of joints several at a time: which joints stand side by side, and the way of their impulses there and back.

Colours as in _contacts.pyx, but chosen once: joints do not change but for those that break. Within a colour joints with
equally many rows stand together. Plain ball joints stand in blocks of their own, which are swept first: ragdolls at rest
tremble half as much as the other way round.
"""

from libc.stdint cimport int64_t, uint64_t
from libc.string cimport memset
from cpython.pycapsule cimport PyCapsule_GetPointer

import numpy as np

from mcsim.core._arrays cimport doubles, integers, long_integers, records
from mcsim.core._softness cimport Softness, soften
from mcsim.state._layout cimport BALL, GEAR, STABILIZE_BAUMGARTE, STABILIZE_SOFT, USER, JointRow
from mcsim.wide._colors cimport COLORS, first_free

from mcsim.wide import levels
from mcsim.wide._contacts import aligned

cdef enum:
    PADDING = 6                  # rows of zeros, for lanes that are not used


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
        self.kernels = <const JointKernels*>PyCapsule_GetPointer(levels.joint_kernels(), "mcsim.wide.joints")
        self.ball_kernels = <const SweptBallKernels*>PyCapsule_GetPointer(levels.swept_ball_kernels(),
                                                                          "mcsim.wide.swept_balls")
        sizes = kept_sizes(joints, sizes)
        balls = (joints["type"] == BALL) & np.all(joints["axes"]["motion_mode"] == 0, axis=1)
        self._reserve(sizes)
        joints = np.ascontiguousarray(joints)
        self._fill_balls(joints, self._grouped(joints, np.flatnonzero((sizes > 0) & balls), sizes, inv_mass))
        self._fill(joints, self._grouped(joints, np.flatnonzero((sizes > 0) & ~balls), sizes, inv_mass), sizes)

    def _reserve(self, sizes):
        count = len(sizes)
        begin = np.zeros(count + 1, np.int32)
        np.cumsum(sizes, out=begin[1:])
        self.row_count = int(begin[count])
        rows = np.zeros((PADDING + self.row_count, sizeof(JointRow) // 8))
        numbers = np.zeros((6, PADDING + self.row_count))
        self.kept = begin, rows, numbers
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

    def _grouped(self, joints, numbers, sizes, inv_mass):
        """Lists of the joints that stand side by side."""
        colors = colored(joints, numbers, inv_mass)
        order = np.lexsort((numbers, -sizes[numbers], colors))
        groups, group, last = [], [], None
        for number, color in zip(numbers[order].tolist(), colors[order].tolist()):
            kind = color, sizes[number]
            if last != kind or len(group) == (1 if color == COLORS - 1 else self.kernels.width):
                group, last = [], kind
                groups.append(group)
            group.append(number)
        return groups

    def _fill(self, joints, groups, sizes):
        heads = [group[0] for group in groups]
        blocks = aligned(len(groups) * self.kernels.block_size)
        rows = aligned(int(sizes[heads].sum()) * self.kernels.row_size)
        cdef int32_t[::1] chosen
        cdef Py_ssize_t k, row = 0
        self.kept += blocks, rows
        self.blocks, self.rows = <JointBlock*>doubles(blocks), <WideRow*>doubles(rows)
        self.count = len(groups)
        for k, group in enumerate(groups):
            chosen = np.array(group, np.int32)
            self.kernels.fill(self.blocks, self.rows, k, row, <const Joint*>records(joints), &chosen[0], len(group),
                              self.source.rows.begin, sizes[group[0]])
            row += sizes[group[0]]

    def _fill_balls(self, joints, groups):
        blocks = aligned(len(groups) * self.ball_kernels.block_size)
        cdef int32_t[::1] chosen
        cdef Py_ssize_t k
        self.kept += (blocks,)
        self.balls = <SweptBalls*>doubles(blocks)
        self.ball_count = len(groups)
        for k, group in enumerate(groups):
            chosen = np.array(group, np.int32)
            self.ball_kernels.fill(self.balls, k, <const Joint*>records(joints), &chosen[0], len(group),
                                   self.source.rows.begin)

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
        cdef const int32_t* begin = self.source.rows.begin
        cdef Py_ssize_t j
        for j in range(self.source.rows.joint_count):
            if begin[j + 1] > begin[j]:
                joints[j].constraint_count = begin[j + 1] - begin[j]
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
                self.rule.softness = 1.0 / soft.stiffness
        self.kernels.refresh(self.blocks, self.rows, self.count, bodies, &self.source, &self.rule)
        self.ball_kernels.refresh(self.balls, self.ball_count, bodies, &self.rule)

    cdef void warm_start(self, Twist* twist, double part) noexcept nogil:
        self.kernels.warm_start(self.blocks, self.rows, self.count, twist, part)
        self.ball_kernels.warm_start(self.balls, self.ball_count, twist, part)

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
        self.kernels.store(self.blocks, self.rows, self.count, &self.source.rows)
        self.ball_kernels.store(self.balls, self.ball_count, &self.source.rows)
