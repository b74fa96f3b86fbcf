"""Friction and limits of joints that are solved directly, several at a time (wide/_angles.pyx), as a constraint set."""

from mcsim.core._types cimport OK, Twist
from mcsim.step._constraint_set cimport ConstraintSet, FurtherPass, StepContext, SweepPass
from mcsim.wide._angles cimport WideAngles


cdef class JointBounds(ConstraintSet):
    cdef StepContext context
    cdef WideAngles angles

    def __init__(self, StepContext context not None, WideAngles angles not None):
        self.context, self.angles = context, angles

    cdef void claim(self) noexcept nogil:
        self.angles.load(self.context.joints, self.context.bodies, self.context.settings, self.context.struck)
        self.context.taken = self.angles.taken

    cdef int prepare(self) noexcept nogil:
        self.context.joint_rows += self.angles.row_count
        return OK

    cdef void warm_start_joints(self) noexcept nogil:
        self.angles.warm_start(self.context.bodies.twist, self.context.settings.first_kick)

    cdef double sweep(self, const SweepPass* p) noexcept nogil:
        return self.angles.sweep(p.twist, p.relaxed)

    cdef void refresh(self) noexcept nogil:
        self.angles.refresh(self.context.bodies)

    cdef void return_carried(self) noexcept nogil:
        self.angles.return_carried(self.context.bodies.twist)

    cdef double residual(self, Twist* twist, int relaxed) noexcept nogil:
        return self.angles.residual(twist, relaxed)

    cdef bint sweep_changing(self, const FurtherPass* p) noexcept nogil:
        return self.angles.sweep_changing(p.twist, p.k, p.sizes, p.speed, p.rate, p.changed)

    cdef void store(self) noexcept nogil:
        self.angles.store(self.context.joints)
