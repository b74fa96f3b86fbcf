"""Contacts several at a time (wide/_contacts.pyx) as a constraint set."""

from mcsim.core._types cimport OK, Twist
from mcsim.step._constraint_set cimport ConstraintSet, StepContext, SweepPass, FurtherPass
from mcsim.wide._contacts cimport WideContacts


cdef class LaneContacts(ConstraintSet):
    """least: sweeps of a pass that all contacts take part in."""

    cdef StepContext context
    cdef WideContacts wide
    cdef int least

    def __init__(self, StepContext context not None, WideContacts wide not None, int least):
        self.context, self.wide, self.least = context, wide, least

    cdef void claim(self) noexcept nogil:
        self.context.contacts = False

    cdef int prepare(self) noexcept nogil:
        cdef int status = self.wide.layout(
            self.context.store.manifolds, self.context.store.resisted(), self.context.store.manifold_count,
            self.context.bodies, self.context.neighbours, self.context.joined, self.context.settings.gravity,
            self.context.joints, self.context.awake_joints, self.context.awake_joint_count)
        if status == OK:
            self.context.contact_rows += self.wide.row_count
            self.wide.refresh(self.context.bodies, self.context.settings, NULL)
        return status

    cdef void warm_start(self) noexcept nogil:
        self.wide.warm_start(self.context.bodies.twist, self.context.settings.first_kick, self.context.ended)

    cdef double sweep(self, const SweepPass* p) noexcept nogil:
        return self.wide.sweep(p.twist, p.relaxed, p.rub, p.noting, p.k + 2 - self.least)

    cdef void refresh(self) noexcept nogil:
        if self.context.settings.first_kick == 1.0:      # else with the second halves
            self.wide.refresh(self.context.bodies, self.context.settings, NULL)

    cdef void return_carried(self) noexcept nogil:
        self.wide.refresh(self.context.bodies, self.context.settings, self.context.bodies.twist)

    cdef double residual(self, Twist* twist, int relaxed) noexcept nogil:
        return self.wide.residual(twist, relaxed)

    cdef void note_impulses(self) noexcept nogil:
        self.wide.note_impulses()

    cdef void weigh_changes(self, double* along, double* alone) noexcept nogil:
        self.wide.weigh_changes(along, alone)

    cdef void leave_changes(self, const double* times) noexcept nogil:
        self.wide.leave_changes(times)

    cdef bint sweep_changing(self, const FurtherPass* p) noexcept nogil:
        return self.wide.sweep_changing(p.twist, p.k, p.changed)

    cdef void store(self) noexcept nogil:
        self.wide.store(self.context.store.manifolds)
