"""Forces along the free coordinates of joints, as wrenches: opposite ones on both bodies, at one point.

They belong to the velocities qd that a tree has of the joint (reduced/kinds.py), so that their power is effort . qd:

    a way             a force along it; of a planar joint along x and y of b's joint axes, else of a's
    an angle          a torque about it
    what turns freely a torque along x, y, z of b's joint axes
    a length          a force along the rod
"""

from mcsim.constraints._joint_table cimport list_coordinates
from mcsim.constraints._parts cimport *
from mcsim.state._bodies cimport DYNAMIC
from mcsim.state._joint cimport JOINT_AXES
from mcsim.state._joint_types cimport PLANAR, ROTATION


cdef inline Vec3 effort_axis(const Joint* joint, int i, const AxisGeometry* axes, const Mat3* own) noexcept nogil:
    """Along what the force of a coordinate acts, world. own: the joint axes on b."""
    cdef int rotation = ROTATION[joint.type]
    if rotation <= i < rotation + 3:
        return mat_column(own[0], i - rotation)
    if joint.type == PLANAR and axes[i].linear:
        return mat_column(own[0], i)
    return axes[i].axis


cdef Twist effort_of(const Joint* joint, const Bodies* bodies, const double* effort, JointFrames* f) noexcept nogil:
    cdef AxisGeometry axes[JOINT_AXES]
    cdef Mat3 own = quat_matrix(quat_mul(bodies.orientation[joint.body_b], joint.basis_b))
    cdef Twist wrench
    cdef Vec3 axis
    cdef int i
    point_frames(f, joint, bodies)
    turn_frames(f, joint, bodies)
    for i in range(joint.axis_count):
        axes[i].linear = 0
    list_coordinates(axes, f, joint)
    wrench.v = wrench.w = vec3(0.0, 0.0, 0.0)
    for i in range(joint.axis_count):
        axis = effort_axis(joint, i, axes, &own)
        if axes[i].linear:
            wrench.v = add_scaled(wrench.v, effort[i], axis)
        else:
            wrench.w = add_scaled(wrench.w, effort[i], axis)
    return wrench


cdef Twist effort_on_b(const Joint* joint, const Bodies* bodies, const double* effort) noexcept nogil:
    cdef JointFrames f
    return effort_of(joint, bodies, effort, &f)


cdef inline void push(Twist* force, double sign, const Twist* wrench, Vec3 arm) noexcept nogil:
    """arm: from the centre of mass to where it acts."""
    force.v = add_scaled(force.v, sign, wrench.v)
    force.w = add_scaled(force.w, sign, add(wrench.w, cross(arm, wrench.v)))


cdef void add_effort(const Joint* joint, const Bodies* bodies, const double* effort, Twist* force) noexcept nogil:
    cdef JointFrames f
    cdef Twist wrench = effort_of(joint, bodies, effort, &f)
    if bodies.kind[joint.body_a] == DYNAMIC:
        push(&force[joint.body_a], -1.0, &wrench, f.arm_a)
    if bodies.kind[joint.body_b] == DYNAMIC:
        push(&force[joint.body_b], 1.0, &wrench, f.arm_b)
