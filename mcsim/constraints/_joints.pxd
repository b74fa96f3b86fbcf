"""Joints to rows: the verbs that the pipeline calls. The mathematics of each joint stands in its own file."""

from libc.stdint cimport int8_t, int32_t
from mcsim.constraints._parts cimport AxisGeometry, JointFrames
from mcsim.core._types cimport Quat
from mcsim.state._layout cimport Bodies, Joint, JointAxis, JointRows, Row, Settings

# A joint whose rows of this step, but for its own, are limits of angles: what a refresh needs of it. Records of joints
# are long, and a world's do not fit into a cache.
ctypedef struct LimitedJoint:
    int32_t joint
    int32_t body_a
    int32_t body_b
    int32_t row                  # its first
    int32_t active               # active_limits
    int32_t axis                 # the coordinate that is the twist
    int32_t counts               # 1: it counts its turns
    int32_t reserved
    Quat basis_a
    Quat basis_b
    double lower
    double upper
    double swing
    double position              # of the twist, with its turns [rad]

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

cdef void measure_axes(Joint* joint, const JointFrames* f, AxisGeometry* axes) noexcept nogil
cdef void measure_joints(Joint* joints, Py_ssize_t count, const Bodies* bodies) noexcept nogil
cdef Py_ssize_t choose_joints(Joint* joints, Py_ssize_t count, const Bodies* bodies, const int8_t* asleep,
                              int32_t* awake) noexcept nogil
cdef Py_ssize_t layout_joints(Joint* joints, const int32_t* awake, Py_ssize_t count, const Bodies* bodies,
                              const Settings* settings, Row* rows, Py_ssize_t capacity, bint own,
                              const int32_t* kept, JointLists* lists) noexcept nogil
cdef void refresh_joints(Joint* joints, const int32_t* awake, Py_ssize_t count, const Bodies* bodies,
                         const Settings* settings, Row* rows, bint own, const int32_t* kept) noexcept nogil
cdef void refresh_listed(Joint* joints, JointLists* lists, const Bodies* bodies, const Settings* settings, Row* rows,
                         bint own, const int32_t* kept) noexcept nogil
cdef double spring_point(const JointAxis* axis, double diagonal, const Settings* settings) noexcept nogil
cdef double motor_point(const JointAxis* axis, const Settings* settings) noexcept nogil
cdef double motor_stiffness(const JointAxis* axis, double point, const Settings* settings) noexcept nogil
cdef void refresh_border(Joint* joints, const int32_t* awake, Py_ssize_t count, const Bodies* bodies,
                         const Settings* settings, Row* rows) noexcept nogil
cdef double border_error(const Joint* joints, Py_ssize_t j, int i, const Bodies* bodies,
                         const Settings* settings) noexcept nogil
cdef void store_joints(Joint* joints, const int32_t* awake, Py_ssize_t count, const Bodies* bodies, const Row* rows,
                       const JointRows* own) noexcept nogil
cdef int break_joints(Joint* joints, const int32_t* awake, Py_ssize_t count, double h) noexcept nogil
cdef void joint_errors(const Joint* joints, Py_ssize_t count, const Bodies* bodies, double* out) noexcept nogil
cdef double spring_energy(Joint* joints, Py_ssize_t count, const Bodies* bodies) noexcept nogil
