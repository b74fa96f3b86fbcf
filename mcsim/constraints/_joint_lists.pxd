"""The joints of a step by what refreshing them takes, and which of them a blow may reach."""

from libc.stdint cimport int8_t, int32_t
from mcsim.state._joint cimport Joint, JOINT_AXES
from mcsim.state._joint_types cimport ROTATION
from mcsim.state._manifold cimport Manifold

# A joint without bounded rows in this step whose angle counts its turns.
ctypedef struct TurningJoint:
    int32_t joint
    int32_t body_a
    int32_t body_b
    int32_t reserved

# The joints of a step by what refreshing them takes: room for as many of each as there are joints.
ctypedef struct JointLists:
    TurningJoint* turning
    Py_ssize_t turning_count
    int32_t* whole               # all others, ascending
    Py_ssize_t whole_count


# Which joints a blow may reach within a step: those of what hangs together with something that a contact touches. It
# may give their coordinates any rate, so all of their limits have rows then.
cdef class StruckJoints:
    cdef object kept
    cdef int32_t* group          # of bodies: with which others joints tie it together; -1: it is not moved
    cdef int32_t* group_of       # of joints
    cdef int8_t* touched         # of groups
    cdef int8_t* struck          # of joints
    cdef Py_ssize_t group_count
    cdef Py_ssize_t joint_count

    cdef const int8_t* find(self, const Manifold* manifolds, Py_ssize_t count) noexcept nogil
    cdef void touch(self, int32_t group) noexcept nogil


cdef inline bint counts_turns(const Joint* joint) noexcept nogil:
    return joint.axis_count > 0 and ROTATION[joint.type] == JOINT_AXES


cdef void list_joint(JointLists* lists, const Joint* joints, Py_ssize_t j, bint own) noexcept nogil
