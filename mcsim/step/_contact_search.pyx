"""The contacts of a step: found for what is awake and for what that touches, and carried on with what bodies rest on."""

from libc.stdint cimport int32_t

from mcsim.collide._resting cimport carry_points
from mcsim.core._types cimport OK


cdef class ContactSearch:
    """bounces: whether anything does."""

    def __init__(self, StepContext context not None, StateArrays arrays not None, PlainRows plain not None,
                 Sleepers sleepers not None, Collider collider not None, bint bounces):
        self.context, self.arrays, self.plain = context, arrays, plain
        self.sleepers, self.collider, self.store = sleepers, collider, context.store
        self.foresight = Foresight(collider, arrays.room) if bounces else None

    cdef int find(self) noexcept nogil:
        """Those of the step to come. -> status"""
        cdef int status = self.look()
        while status == OK and self.sleepers.wake_touched():
            status = self.look()
        self.sleepers.drop_contacts()
        if status == OK:
            self.collider.find_resistances()
        return status

    cdef int look(self) noexcept nogil:
        """Those of what is awake now. -> status"""
        cdef int status = self.collide()
        while status == OK and self.filter is not None and not self.filter.is_known():
            status = self.filter.ask()
            if status == OK:
                status = self.collide()
        if status == OK and self.foresight is not None:
            status = self.foresight.look(&self.arrays.bodies, self.context.settings.h,
                                         self.context.settings.substeps, self.context.settings.restitution_threshold)
        return status

    cdef int collide(self) noexcept nogil:
        return self.collider.collide(&self.arrays.bodies, &self.context.settings.speculative, self.context.settings.dt)

    cdef void carry(self) noexcept nogil:
        """After a step. Its contacts are those with which it began, and the next one finds them again by their
        places: those go with what carries the bodies."""
        if self.sleepers.islands.carriers.find_carriers(
                self.context.bodies, self.context.joints, self.context.joint_count, self.store.manifolds,
                self.store.manifold_count, <int32_t*>self.plain.anchors):               # whose step is over
            carry_points(self.store.manifolds, self.store.manifold_count, self.context.bodies,
                         self.context.settings.dt)
            carry_points(self.store.sleeping, self.store.sleeping_count, self.context.bodies,
                         self.context.settings.dt)
