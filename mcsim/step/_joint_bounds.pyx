"""Friction and limits of joints that are solved directly, several at a time (wide/_joint_bounds.pyx), as a constraint
set."""

from mcsim.core._types cimport OK, Twist
from mcsim.step._constraint_set cimport ConstraintSet, FurtherPass, StepContext, SweepPass
from mcsim.wide._joint_bounds cimport WideJointBounds


cdef class JointBounds(ConstraintSet):
    cdef StepContext context
    cdef WideJointBounds joint_bounds

    def __init__(self, StepContext context not None, WideJointBounds joint_bounds not None):
        self.context, self.joint_bounds = context, joint_bounds

    cdef void claim(self) noexcept nogil:
        self.joint_bounds.load(self.context.joints, self.context.bodies, self.context.settings, self.context.struck)
        self.context.taken = self.joint_bounds.taken

    cdef int prepare(self) noexcept nogil:
        self.context.joint_rows += self.joint_bounds.row_count
        return OK

    cdef void warm_start_joints(self) noexcept nogil:
        self.joint_bounds.warm_start(self.context.bodies.twist, self.context.settings.first_kick)

    cdef double sweep(self, const SweepPass* p) noexcept nogil:
        return self.joint_bounds.sweep(p.twist, p.relaxed)

    cdef void refresh(self) noexcept nogil:
        self.joint_bounds.refresh(self.context.bodies)

    cdef void return_carried(self) noexcept nogil:
        self.joint_bounds.return_carried(self.context.bodies.twist)

    cdef double residual(self, Twist* twist, int relaxed) noexcept nogil:
        return self.joint_bounds.residual(twist, relaxed)

    cdef bint sweep_changing(self, const FurtherPass* p) noexcept nogil:
        return self.joint_bounds.sweep_changing(p.twist, p.k, p.sizes, p.speed, p.rate, p.changed)

    cdef void store(self) noexcept nogil:
        self.joint_bounds.store(self.context.joints)
