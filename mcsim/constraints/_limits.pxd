"""Friction and limits of angles at new poses, without the long records of their joints."""

from libc.stdint cimport int8_t, int32_t
from mcsim.core._types cimport Quat
from mcsim.state._bodies cimport Bodies
from mcsim.state._joint cimport Joint, JOINT_AXES
from mcsim.state._joint_types cimport BALL, ROTATION
from mcsim.state._manifold cimport Manifold
from mcsim.state._row cimport Row

cdef enum:
    SWING_BIT = 1 << 2 * JOINT_AXES      # of active_limits

# A joint whose rows of this step, but for its own, are friction and limits of angles: what a refresh needs of it.
# Records of joints are long, and a world's do not fit into a cache.
ctypedef struct LimitedJoint:
    int32_t joint
    int32_t body_a
    int32_t body_b
    int32_t row                  # its first
    int32_t active               # active_limits
    int32_t axis                 # the coordinate that is the twist
    int32_t counts               # 1: it counts its turns
    int32_t rubbing              # bit i: axis i has friction
    Quat basis_a
    Quat basis_b
    double lower
    double upper
    double swing
    double position              # of the twist, with its turns [rad]
    double friction[3]           # [N m]

# A joint without bounded rows in this step whose angle counts its turns.
ctypedef struct TurningJoint:
    int32_t joint
    int32_t body_a
    int32_t body_b
    int32_t reserved

# The joints of a step by what refreshing them takes: room for as many of each as there are joints.
ctypedef struct JointLists:
    LimitedJoint* limited
    Py_ssize_t limited_count
    TurningJoint* turning
    Py_ssize_t turning_count
    int32_t* whole               # those that are written as a whole, ascending
    Py_ssize_t whole_count


# Which joints a blow may reach within a step: those of what hangs together with something that a contact touches. It
# may give their coordinates any rate, so all of their limits have rows then.
cdef class Struck:
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


cdef void list_joint(JointLists* lists, const Joint* joints, Py_ssize_t j, const Row* rows, bint own) noexcept nogil
cdef void refresh_limits(LimitedJoint* limited, Joint* joint, const Bodies* bodies, double h, Row* row) noexcept nogil
