"""The forces along joints' coordinates that a world's user has given."""

from libc.stdint cimport int32_t
from mcsim.core._types cimport Quat, Twist, Vec3
from mcsim.state._bodies cimport Bodies
from mcsim.state._joint cimport Joint
from mcsim.step._state_arrays cimport StateArrays

# One joint's place among them.
ctypedef struct EffortPlace:
    int32_t joint                # its number; from `free` on, less the number of joints: one that stands for a free body
    int32_t begin                # where its forces stand

cdef class JointEfforts:
    cdef StateArrays arrays
    cdef object kept
    cdef readonly object values         # (m,) [N or N m], the state itself; None: nobody has asked for them yet
    cdef public object plan             # what they are of (world/joint_forces.py)
    cdef public object make             # (self) -> None, which calls take(); it has no self of its own: no circle
    cdef double* value
    cdef Py_ssize_t size
    cdef const EffortPlace* places
    cdef Py_ssize_t count
    cdef const int32_t* place_of        # of each joint, its number among `places`; -1: it has none
    cdef Joint* free                    # joints that hold free bodies to the world
    cdef Twist* given                   # the user's forces on the bodies, while these act with them
    cdef bint acting
    cdef Vec3* position                 # of bodies, foreseen
    cdef Quat* orientation

    cdef const Joint* joint_of(self, const EffortPlace* place) noexcept nogil
    cdef bint acts(self, const EffortPlace* place) noexcept nogil
    cdef bint begin(self) noexcept nogil
    cdef void follow(self) noexcept nogil
    cdef void foresee(self, double ahead) noexcept nogil
    cdef void add(self, const Bodies* poses) noexcept nogil
    cdef void end(self, bint begun) noexcept nogil
    cdef void carry(self, const int32_t* joints, Py_ssize_t count, double h) noexcept nogil
