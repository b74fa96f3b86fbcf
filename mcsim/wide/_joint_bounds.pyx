"""Friction and limits of angles several at a time: which joints stand side by side.

Colours as of _joints.pyx, chosen once. Ball joints and hinges stand apart. Of which there are fewer than FEW to a
colour stay rows among rows, whose way is shorter where most lanes would be empty.
"""

from libc.stdint cimport int8_t
from cpython.pycapsule cimport PyCapsule_GetPointer

import numpy as np

from mcsim.core._arrays cimport doubles, integers, records
from mcsim.core._softness cimport Softness, rigid_rate, soften
from mcsim.state._joint_types cimport BALL, GEAR, HINGE
from mcsim.state._limit_margin cimport LIMIT_MARGIN_ANGLE
from mcsim.wide._colors cimport COLORS

from mcsim.core.arrays import aligned
from mcsim.wide import levels
from mcsim.wide._joints import colored

cdef enum:
    MOST_LANES = 8
    FEW = 3                      # blocks of a colour


def with_joint_bounds(joints, sizes):
    """Numbers of the ball joints and hinges that have friction or limits, and no gear; but for narrow cones, which have
    more rows than a lane (constraints/_axis_rows.pxd)."""
    axes = joints["axes"]
    some = np.any((axes["friction"] > 0.0) | np.isfinite(axes["lower"]) | np.isfinite(axes["upper"]), axis=1)
    some |= np.isfinite(joints["swing_limit"])
    some &= ((joints["type"] == BALL) | (joints["type"] == HINGE)) & (sizes > 0)
    some &= ~(joints["swing_limit"] < LIMIT_MARGIN_ANGLE)
    some[joints["geared"][joints["type"] == GEAR].ravel()] = False
    return np.flatnonzero(some)


def ordered(joints, numbers, inv_mass):
    """The chosen joints by colour and type, and a number for both of each; one more at the end of each."""
    kind = 2 * colored(joints, numbers, inv_mass) + (joints["type"][numbers] == HINGE)
    _, of, count = np.unique(kind, return_inverse=True, return_counts=True)
    enough = (count[of] >= FEW) & (kind < 2 * (COLORS - 1))
    kind, numbers = kind[enough], numbers[enough]
    order = np.lexsort((numbers, kind))
    return np.append(numbers[order], 0).astype(np.int32), np.append(kind[order], -1).astype(np.int32)


cdef class WideJointBounds:
    """joints: (j,) JOINT_DTYPE; sizes: (j,) rows of each joint's own; inv_mass: of the bodies from the world on. Kernels
    of the level that levels.chosen() names."""

    def __init__(self, joints, sizes, inv_mass):
        self.kernels = <const JointBoundKernels*>PyCapsule_GetPointer(levels.table("joint_bound_kernels"),
                                                                      "mcsim.wide.joint_bounds")
        order, kind = ordered(joints, with_joint_bounds(joints, sizes), inv_mass)
        count = np.unique(kind[kind >= 0], return_counts=True)[1]
        blocks = aligned(max(int(np.sum(-(-count // self.kernels.width))), 1) * self.kernels.block_size)
        taken, idle = np.zeros((2, len(joints) + 1), np.int8)
        joints = np.ascontiguousarray(joints)
        self.kept = order, kind, blocks, taken
        self.order, self.kind, self.total = integers(order), integers(kind), len(order) - 1
        self.blocks, self.taken = <BoundBlock*>doubles(blocks), <int8_t*>records(taken)
        if self.total:
            self.choose(<const Joint*>records(joints), <const int8_t*>records(idle))

    cdef void choose(self, const Joint* joints, const int8_t* idle) noexcept nogil:
        """From now on only joints that are not idle. idle: of each joint. Between two steps."""
        cdef int32_t group[MOST_LANES]
        cdef Py_ssize_t k = 0
        cdef int32_t kind
        cdef int lanes
        self.count = self.row_count = 0
        while k < self.total:
            kind = self.kind[k]
            lanes = 0
            while self.kind[k] == kind and lanes < self.kernels.width:
                self.taken[self.order[k]] = 0
                if not idle[self.order[k]]:
                    group[lanes] = self.order[k]
                    lanes += 1
                k += 1
            if lanes > 0:
                self.kernels.fill(self.blocks, self.count, joints, group, lanes, kind & 1)
                self.count += 1

    def lanes(self):
        """List, block by block, of the joints that stand side by side."""
        cdef Py_ssize_t k
        cdef int lane
        cdef const int32_t* block
        found = []
        for k in range(self.count):
            block = <const int32_t*>(<const char*>self.blocks + k * self.kernels.block_size)      # its first field
            found.append([block[lane] for lane in range(self.kernels.width) if block[lane] >= 0])
        return found

    cdef void load(self, const Joint* joints, const Bodies* bodies, const Settings* settings,
                   const int8_t* struck) noexcept nogil:
        """What a step begins with, and its rows at the present poses. struck: of constraints/_joint_lists.pyx."""
        cdef Softness soft = soften(settings.joint_hertz, settings.joint_damping_ratio, settings.h)
        self.rule.h = settings.h
        self.rule.dt = settings.dt
        self.rule.struck = struck
        self.rule.error_rate = rigid_rate(soft.bias_rate, settings.h) if soft.stiffness > 0.0 else 0.0
        self.row_count = self.kernels.load(self.blocks, self.count, joints, bodies, &self.rule, self.taken)

    cdef void refresh(self, const Bodies* bodies) noexcept nogil:
        self.kernels.refresh(self.blocks, self.count, bodies, &self.rule)

    cdef void warm_start(self, Twist* twist, double part) noexcept nogil:
        self.kernels.warm_start(self.blocks, self.count, twist, part)

    cdef void return_carried(self, Twist* twist) noexcept nogil:
        self.kernels.return_carried(self.blocks, self.count, twist)

    cdef void give_biases(self, const Bodies* bodies, double* slope, bint second) noexcept nogil:
        """What warm starts that have acted add to w'g by the rows' biases (solve/_warm_starts.pyx)."""
        self.kernels.give_biases(self.blocks, self.count, bodies, slope, second)

    cdef void keep_parts(self, const double* part, bint second) noexcept nogil:
        self.kernels.keep_parts(self.blocks, self.count, part, second)

    cdef double sweep(self, Twist* twist, int relaxed) noexcept nogil:
        return self.kernels.sweep(self.blocks, self.count, twist, relaxed)

    cdef bint sweep_changing(self, Twist* twist, int k, const double* sizes, double speed, double rate,
                             int32_t* changed) noexcept nogil:
        """A further sweep of the relax pass (_further_sweeps.pyx). -> whether there was anything"""
        return self.kernels.sweep_changing(self.blocks, self.count, twist, k, sizes, speed, rate, changed)

    cdef double residual(self, const Twist* twist, int relaxed) noexcept nogil:
        return self.kernels.residual(self.blocks, self.count, twist, relaxed)

    cdef void store(self, Joint* joints) noexcept nogil:
        self.kernels.store(self.blocks, self.count, joints)
