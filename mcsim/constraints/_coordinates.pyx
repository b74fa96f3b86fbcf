"""The free coordinates of joints: measured at the present poses, their turns counted, and foreseen."""

from mcsim.constraints._joint_table cimport list_coordinates
from mcsim.constraints._joint_lists cimport TurningJoint, counts_turns
from mcsim.constraints._parts cimport *
from mcsim.constraints._spring_law cimport acting_error
from mcsim.state._joint cimport JOINT_AXES, JointAxis
from mcsim.state._joint_types cimport ROTATION


cdef void measure_axes(Joint* joint, const JointFrames* f, AxisGeometry* axes) noexcept nogil:
    """The free coordinates at the present poses; an angle goes on counting its turns from the last one measured."""
    cdef JointAxis* axis
    cdef int rotation = ROTATION[joint.type]
    cdef int i
    for i in range(joint.axis_count):
        axes[i].linear = 0
        axes[i].motor_rate = axes[i].spring_rate = 0.0
    list_coordinates(axes, f, joint)
    for i in range(joint.axis_count):
        axis = &joint.axes[i]
        if i < rotation:                     # a rotation vector has no turns to count
            if not axes[i].linear:
                axes[i].position = counted_turns(axes[i].position, axis.position + dot(f.way, axes[i].axis))
            axes[i].limit_axis = axes[i].axis
            axes[i].limit_position = axes[i].position
            axes[i].motor_error = axes[i].position - axis.motor_position
            axes[i].spring_error = axes[i].position - axis.rest
        axis.position = axes[i].position


cdef int list_axes(Joint* joint, const Bodies* bodies, Row* rows) noexcept nogil:
    """J and J M^-1 J' of the free coordinates. -> how many."""
    cdef JointFrames f
    cdef AxisGeometry axes[JOINT_AXES]
    cdef int i
    point_frames(&f, joint, bodies)
    turn_frames(&f, joint, bodies)
    measure_axes(joint, &f, axes)
    for i in range(joint.axis_count):
        rows[i].body_a = joint.body_a
        rows[i].body_b = joint.body_b
        axis_row(&rows[i], &axes[i], axes[i].axis, &f)
        apply_inverse_mass(&rows[i], bodies)
    return joint.axis_count


cdef void measure_joints(Joint* joints, Py_ssize_t count, const Bodies* bodies) noexcept nogil:
    """Positions and velocities of all free coordinates at the present state."""
    cdef JointFrames f
    cdef AxisGeometry axes[JOINT_AXES]
    cdef Twist a, b
    cdef Vec3 relative
    cdef Py_ssize_t j
    cdef int i
    for j in range(count):
        f = joint_frames(&joints[j], bodies)
        measure_axes(&joints[j], &f, axes)
        a = bodies.twist[joints[j].body_a]
        b = bodies.twist[joints[j].body_b]
        for i in range(joints[j].axis_count):
            if axes[i].linear:
                relative = sub(add(b.v, cross(b.w, f.arm_b)), add(a.v, cross(a.w, f.arm_a)))
            else:
                relative = sub(b.w, a.w)
            joints[j].axes[i].velocity = dot(axes[i].axis, relative)


cdef bint turns_fast(const Joint* joint, const Bodies* bodies, const Settings* settings) noexcept nogil:
    """Whether an angle might pass half a turn within a step."""
    if not counts_turns(joint):
        return False
    return turns_far(bodies, joint.body_a, joint.body_b, settings.dt)


cdef void count_turns(Joint* joint, const Bodies* bodies) noexcept nogil:
    """Measure angles that count their turns."""
    cdef AxisGeometry axes[JOINT_AXES]
    cdef JointFrames f
    if counts_turns(joint):
        point_frames(&f, joint, bodies)
        turn_frames(&f, joint, bodies)
        measure_axes(joint, &f, axes)


cdef void foresee_joint(Joint* joint, const Bodies* bodies, double ahead) noexcept nogil:
    cdef AxisGeometry axes[JOINT_AXES]
    cdef JointFrames f
    cdef Joint measured = joint[0]
    cdef Vec3 spin = spin_between(bodies, joint.body_a, joint.body_b)
    cdef int i
    if not counts_turns(joint):
        return
    point_frames(&f, joint, bodies)
    turn_frames(&f, joint, bodies)
    measure_axes(&measured, &f, axes)
    for i in range(joint.axis_count):
        if not axes[i].linear:
            joint.axes[i].position += ahead * dot(axes[i].axis, spin)


cdef void foresee_turns(Joint* joints, const JointLists* lists, const Bodies* bodies, double ahead) noexcept nogil:
    """After a drift that took the time `ahead`: angles that have turned far are set to where their rates took them,
    and what is measured there counts turns from that. So they may turn more than half around in a substep."""
    cdef const TurningJoint* turning
    cdef Joint* joint
    cdef Py_ssize_t i
    for i in range(lists.whole_count):
        joint = &joints[lists.whole[i]]
        if turns_far(bodies, joint.body_a, joint.body_b, ahead):
            foresee_joint(joint, bodies, ahead)
    for i in range(lists.turning_count):
        turning = &lists.turning[i]
        if turns_far(bodies, turning.body_a, turning.body_b, ahead):
            foresee_joint(&joints[turning.joint], bodies, ahead)


cdef double spring_energy(Joint* joints, Py_ssize_t count, const Bodies* bodies) noexcept nogil:
    """Sum of k/2 e^2 over all springs that are strained [J]."""
    cdef JointFrames f
    cdef AxisGeometry axes[JOINT_AXES]
    cdef double strain, energy = 0.0
    cdef Py_ssize_t j
    cdef bint sprung
    cdef int i
    for j in range(count):
        if joints[j].broken:
            continue
        sprung = False
        for i in range(joints[j].axis_count):
            sprung = sprung or joints[j].axes[i].has_spring
        if not sprung:
            continue
        f = joint_frames(&joints[j], bodies)
        measure_axes(&joints[j], &f, axes)
        for i in range(joints[j].axis_count):
            if joints[j].axes[i].has_spring:
                strain = acting_error(&joints[j].axes[i], axes[i].spring_error)
                energy += 0.5 * joints[j].axes[i].stiffness * strain * strain
    return energy
