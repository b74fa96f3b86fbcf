"""Joints that are swept several at a time (wide/_joints.pyx) as a constraint set."""

from libc.stdint cimport int8_t

from mcsim.constraints._direct cimport write_bent_rows
from mcsim.core._types cimport OK, Twist
from mcsim.step._constraint_set cimport ConstraintSet, StepContext, SweepPass
from mcsim.wide._joints cimport WideJoints


cdef class SweptJoints(ConstraintSet):
    """Their own rows; what bounds and drives them stays plain rows."""

    cdef StepContext context
    cdef WideJoints wide

    def __init__(self, StepContext context not None, WideJoints wide not None):
        self.context, self.wide = context, wide

    cdef void choose(self, const int8_t* asleep) noexcept nogil:
        self.wide.choose(self.context.joints, self.context.bodies, asleep)

    cdef void claim(self) noexcept nogil:
        self.context.in_lanes = self.wide.source.rows.begin
        self.context.balls_alone = self.wide.count == 0

    cdef int prepare(self) noexcept nogil:
        self.wide.load(self.context.joints, self.context.bodies)
        self.context.joint_rows += self.wide.awake_row_count
        return OK

    cdef void finish(self, double part) noexcept nogil:
        if self.wide.count > 0:
            write_bent_rows(self.context.joints, self.context.bodies, self.context.settings, &self.wide.source.rows,
                            self.wide.source.curvature, self.wide.source.held)
        self.wide.refresh(self.context.bodies, self.context.settings)

    cdef void warm_start(self) noexcept nogil:
        self.wide.warm_start(self.context.bodies.twist, self.context.settings, self.context.ended)

    cdef double sweep(self, const SweepPass* p) noexcept nogil:
        return self.wide.sweep(p.twist, p.relaxed)

    cdef void return_carried(self) noexcept nogil:
        self.wide.give_back(self.context.bodies.twist)

    cdef double residual(self, Twist* twist, int relaxed) noexcept nogil:
        return self.wide.residual(twist, relaxed)

    cdef void give(self) noexcept nogil:
        self.wide.store()
        self.context.own_rows = &self.wide.source.rows
