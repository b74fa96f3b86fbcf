from libc.stdint cimport int32_t
from mcsim.core._types cimport Twist, Vec3
from mcsim.state._joint cimport Joint
from mcsim.state._manifold cimport Manifold
from mcsim.step._constraint_set cimport ConstraintSet, StepContext

cdef class LockedBodies(ConstraintSet):
    cdef StepContext context
    cdef object kept                    # the arrays behind the pointers
    cdef const int32_t* number          # of each lock among the joints
    cdef const int32_t* place           # of each body among the locks, or -1
    cdef Py_ssize_t count
    cdef Twist* start                   # velocity and spin momentum of the locks' bodies as the step began
    cdef Twist* load                    # what all but the lock gave them since
    cdef Vec3* place_before             # where they were
    cdef bint folded                    # whether the locks are in the inverse masses now

    cdef bint awake(self, const Joint* joint) noexcept nogil
    cdef void unfold(self) noexcept nogil
    cdef Twist unlocked_load(self, const Joint* joint) noexcept nogil
    cdef void bear(self, const Manifold* m, int32_t i) noexcept nogil
    cdef void write_wrench(self, Joint* joint, Py_ssize_t k) noexcept nogil
