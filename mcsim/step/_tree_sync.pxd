"""Bodies and the coordinates of trees, kept in agreement."""

from mcsim.core._types cimport Quat, Twist
from mcsim.reduced._motion cimport TreeMotion
from mcsim.reduced._tree_poses cimport TreePoses
from mcsim.step._constraint_set cimport StepContext

cdef class TreeSync:
    cdef StepContext context
    cdef TreeMotion motion
    cdef TreePoses poses
    cdef object bodies, coordinates, kept_faces
    cdef object moved                    # (bodies,) bool: whether the tree gives them theirs
    cdef double* shown                   # q and qd that the bodies stand for
    cdef double* begun                   # q and qd before the step
    # (bodies, 6) and those that they were given then: what differs was written by the user
    cdef readonly object shown_twists
    cdef Twist* shown_twist
    cdef Quat* faces                     # (bodies,) to whose side their quaternions keep, whatever is written into q: those
    cdef long long faces_step            # that they had after so many steps; other than made now: those that they have

    cdef void keep(self) noexcept nogil
    cdef void undo(self) noexcept nogil
    cdef void show(self, bint moved, long long steps) noexcept nogil
    cdef void face(self, long long steps) noexcept nogil
    cdef void show_twists(self) noexcept nogil
    cdef void give_twists(self) noexcept nogil
    cdef void keep_twists(self) noexcept nogil
    cdef bint is_stale(self) noexcept nogil
    cdef bint is_at(self, const double* state) noexcept nogil
