"""Joints to rows: layout once a step, refresh at every new pose, store the impulses.

A joint's rows stand in the order armature, friction, spring, motor, limits, then the joint itself as one block: what is
solved last in a sweep is met exactly. All rows of a joint share its two bodies.
"""

from libc.math cimport fabs, isinf
from libc.stdint cimport int8_t, int32_t
from mcsim.core._dense cimport invert_symmetric
from mcsim.core._numbers cimport HUGE
from mcsim.state._joint cimport (AXIS_ROWS, JOINT_AXES, JointAxis, MOTOR_NONE, MOTOR_PD, MOTOR_POSITION, has_rotor,
                                 has_rotors)
from mcsim.state._joint_types cimport GEAR, ROTATION, USER
from mcsim.state._limit_margin cimport LIMIT_MARGIN_ANGLE, LOWER_BIT, SWING_BIT, UPPER_BIT
from mcsim.state._settings cimport INTEGRATE_REDUCED
from mcsim.state._row cimport (ROW_JOINT, ROW_SPRING, BLOCK_BILATERAL, BLOCK_TREE, BLOCK_WIDE, BLOCK_BORDER, RELAXED,
                               JointRow)
from mcsim.wide._halves cimport lasting

from mcsim.constraints._parts cimport *
from mcsim.constraints._axis_rows cimport (SWING_INDEX, bend_motors, bends_springs, set_spring, spring_point, write_axis,
                                           write_limits)
from mcsim.constraints._ball cimport ball_swing, rate_drives
from mcsim.constraints._coordinates cimport count_turns, measure_axes, turns_fast
from mcsim.constraints._joint_table cimport constrain, holds_position, measure_error
from mcsim.constraints._joint_lists cimport TurningJoint, list_joint
from mcsim.constraints._motion cimport constrain_motions, store_motions
from mcsim.constraints._gear cimport GearSide, couple_joints, gear_error
from mcsim.constraints._spring_law cimport SpringLaw, spring_law
from mcsim.constraints._user cimport take_rows, user_row
from mcsim.state._rows cimport is_linear, is_of_motor, joint_sleeps, own_rows, pair_coupling, response_along


# Of a length the margin is LIMIT_MARGIN_ANGLE at the farther anchor, and so many g dt^2: half of one is what falls within
# a step from rest.
cdef double LIMIT_FALLS = 18.0

cdef enum:
    MOST_ROWS = 40            # of one joint: of six coordinates 6 each, or as its own 1 each; 4 of a swing's limit


cdef bint is_shared(const Row* row, const Joint* joints, const Settings* settings) noexcept nogil:
    """Whether the force of a spring is shared out to both halves of a substep, not solved in each."""
    cdef SpringLaw law
    cdef const JointAxis* axis
    if row.kind != ROW_SPRING:
        return False
    axis = &joints[row.source].axes[row.index // AXIS_ROWS]
    law = spring_law(axis, row.index, row.error)
    return spring_point(&law, axis, row.diagonal, settings) < 1.0


cdef void take_moved(Joint* joints, Row* rows, Py_ssize_t count, const Twist* twist,
                     const Settings* settings) noexcept nogil:
    """What springs move where rows, as they are laid out, have got J H^-1 J' of trees for their diagonals."""
    cdef Py_ssize_t i
    for i in range(count):
        if rows[i].kind == ROW_SPRING:
            joints[rows[i].source].axes[rows[i].index // AXIS_ROWS].moved = rows[i].diagonal
            aim_spring(&rows[i], joints, twist, settings)


cdef void aim_springs(Joint* joints, Row* rows, Py_ssize_t count, const Twist* twist,
                      const Settings* settings) noexcept nogil:
    """Biases of dampers whose rows' curvature is another one than they were written with."""
    cdef Py_ssize_t i
    for i in range(count):
        if rows[i].kind == ROW_SPRING and rows[i].curvature != 0.0:
            aim_spring(&rows[i], joints, twist, settings)


cdef void aim_spring(Row* row, const Joint* joints, const Twist* twist, const Settings* settings) noexcept nogil:
    cdef const JointAxis* axis = &joints[row.source].axes[row.index // AXIS_ROWS]
    cdef SpringLaw law = spring_law(axis, row.index, row.error)
    cdef double relaxed = row.bias[RELAXED]              # that of the pose before
    set_spring(row, axis, &law, row.diagonal, twist, settings)
    row.bias[RELAXED] = relaxed


cdef void bound_spring(Row* row, const Joint* joints, const Settings* settings, double part) noexcept nogil:
    """The bounds of its impulse over that part of a substep."""
    cdef SpringLaw law = spring_law(&joints[row.source].axes[row.index // AXIS_ROWS], row.index, row.error)
    row.upper = part * (settings.h * law.most)
    row.lower = part * (settings.h * law.least)


cdef int write_constraint(Row* rows, const Joint* joint, int source, const AxisGeometry* axes, const JointFrames* f,
                          const Bodies* bodies, const Settings* settings, bint first) noexcept nogil:
    """The joint's own bilateral rows and those of prescribed motions, one block. -> how many."""
    cdef int n = take_rows(rows, joint, settings) if joint.type == USER else constrain(rows, joint, f)
    cdef double rates[6]
    cdef int i
    cdef double error, curvature
    for i in range(n):
        rates[i] = 0.0
    n += constrain_motions(&rows[n], &rates[n], joint, axes, f, settings.time, 0.0)
    for i in range(n):
        error = rows[i].error
        curvature = rows[i].curvature + gyroscopic_curvature(&rows[i], f)
        begin_joint_row(&rows[i], joint, source, ROW_JOINT, i, joint.impulse[i], first)
        rows[i].error = error
        rows[i].curvature = curvature
        rows[i].rate = rates[i]
        rows[i].block = n if i == 0 else 0
        rows[i].block_kind = BLOCK_TREE if settings.joint_tree else BLOCK_BILATERAL
        rows[i].stabilized = holds_position(joint, i)
        rows[i].push = joint.push[0 if is_linear(&rows[i]) else 1]
        apply_inverse_mass(&rows[i], bodies)
    return n


cdef double held_response(const Row* row, const Row* own, int n) noexcept nogil:
    """J M^-1 J' - c' K^-1 c, K the block of the joint's own n rows, c = J_K M^-1 J': what the joint lets the row
    move."""
    cdef double k[36]
    cdef double c[6]
    cdef double whole = response_along(row, row)
    cdef double moved = whole
    cdef int i, j
    for i in range(n):
        c[i] = response_along(&own[i], row)
        for j in range(n):
            k[6 * i + j] = response_along(&own[i], &own[j])
    if not invert_symmetric(k, n):
        return whole
    for i in range(n):
        for j in range(n):
            moved -= c[i] * k[6 * i + j] * c[j]
    return moved if moved > 1e-12 * whole else whole


cdef bint has_bounded_rows(const Joint* joint) noexcept nogil:
    """Whether there may be any rows beside the joint's own. One that holds nothing has none, and may be in no group."""
    cdef int i
    if joint.broken:
        return False
    for i in range(joint.axis_count):
        if has_rotor(&joint.axes[i]):
            return True
    return may_have_rows(joint)


cdef bint may_have_rows(const Joint* joint) noexcept nogil:
    """The same, but for those of rotors."""
    cdef const JointAxis* axis
    cdef int i
    for i in range(joint.axis_count):
        axis = &joint.axes[i]
        if (axis.lower > -HUGE or axis.upper < HUGE or axis.friction > 0.0 or axis.has_spring
                or axis.motor_mode != MOTOR_NONE):
            return True
    return not isinf(joint.swing_limit)


cdef void find_bounded(const Joint* joints, Py_ssize_t count, const int32_t* group, int32_t* first,
                       Py_ssize_t groups) noexcept nogil:
    """first: of each group of bodies the first joint that may have bounded rows, -1: none. group: of each body, -1: it is
    in none."""
    cdef Py_ssize_t g, j
    for g in range(groups):
        first[g] = -1
    for j in range(count - 1, -1, -1):
        g = max(group[joints[j].body_a], group[joints[j].body_b])
        if g >= 0 and has_bounded_rows(&joints[j]):
            first[g] = <int32_t>j


cdef bint is_bounded_now(const Joint* joint) noexcept nogil:
    """Whether any of them are there, as those of limits that were out of reach in the last step are not."""
    cdef const JointAxis* axis
    cdef int i
    for i in range(joint.axis_count):
        axis = &joint.axes[i]
        if axis.friction > 0.0 or axis.has_spring or axis.motor_mode != MOTOR_NONE or has_rotor(axis):
            return True
    return joint.active_limits != 0


cdef bint has_position_motor(const Joint* joint) noexcept nogil:
    """Whether a motor holds one of its coordinates, for a position or as a spring, or a rotor goes with one."""
    cdef int i
    for i in range(joint.axis_count):
        if (joint.axes[i].motor_mode == MOTOR_POSITION or joint.axes[i].motor_mode == MOTOR_PD
                or has_rotor(&joint.axes[i])):
            return True
    return False


cdef void write_joint(Joint* joint, int source, const Bodies* bodies, const Settings* settings, Row* rows, bint own,
                      bint first, bint struck) noexcept nogil:
    """All rows of a joint into rows[0 ...]; the joint's own only if `own`, else the direct solver keeps them
    elsewhere. struck: of _joint_lists.pyx, where a step begins (`first`)."""
    cdef JointFrames f
    cdef AxisGeometry axes[JOINT_AXES]
    cdef bint rotors = own or settings.integrator != INTEGRATE_REDUCED          # a tree's are in its inertia
    cdef bint bends = own or settings.reference_creep > 0.0 or (rotors and (
        has_rotors(joint) or bends_springs(joint, settings)))                   # asks for curvatures
    cdef int i, n = 0
    if joint.broken or joint.folded:
        joint.row_count = 0
        joint.constraint_count = 0
        return
    if joint.type == USER:
        write_user(joint, source, bodies, settings, rows, first)
        return
    if not own and ((joint.row_count == 0 and not first) or not has_bounded_rows(joint)):
        # All limits are out of reach for this step, or nothing is bounded.
        if first:
            joint.row_count = 0
        if first or turns_fast(joint, bodies, settings):
            count_turns(joint, bodies)
        return
    point_frames(&f, joint, bodies)
    turn_frames(&f, joint, bodies)
    if bends:
        rate_frames(&f, joint, bodies)
    measure_axes(joint, &f, axes)
    if ROTATION[joint.type] < joint.axis_count:
        rate_drives(&axes[ROTATION[joint.type]], &f, spin_between(bodies, joint.body_a, joint.body_b))
    if first:
        activate_limits(joint, &f, axes, bodies, settings, struck)
    for i in range(joint.axis_count):
        n += write_axis(&rows[n], joint, source, i, &axes[i], &f, bodies, settings, first, rotors)
    n += write_limits(&rows[n], joint, source, axes, &f, bodies, first)
    joint.row_count = n
    if bends:
        bend_motors(joint, rows, n, axes, &f)
    if own:
        joint.constraint_count = write_constraint(&rows[n], joint, source, axes, &f, bodies, settings, first)
        joint.row_count += joint.constraint_count


cdef void write_user(Joint* joint, int source, const Bodies* bodies, const Settings* settings, Row* rows,
                     bint first) noexcept nogil:
    """The rows of a user's joint. The direct solver takes them one by one beside its tree, whose joints' forces are the
    same at one point of both bodies, as a user's need not be: then they are no rows of its own, constraint_count =
    0."""
    cdef JointFrames f = joint_frames(joint, bodies)
    cdef int i
    joint.row_count = write_constraint(rows, joint, source, NULL, &f, bodies, settings, first)
    joint.constraint_count = joint.row_count
    if settings.joint_tree:
        joint.constraint_count = 0
        for i in range(joint.row_count):
            rows[i].block = 1
            rows[i].block_kind = BLOCK_BORDER


cdef inline void gear_side(GearSide* side, Joint* joint, int axis, const Bodies* bodies, double ahead) noexcept nogil:
    """ahead: how long ago its angles were known."""
    side.joint = joint
    side.axis = axis
    side.frames = joint_frames(joint, bodies)
    foresee_way(&side.frames, joint, bodies, ahead)
    measure_axes(joint, &side.frames, side.axes)


cdef void write_gear(Joint* gear, int source, Joint* joints, const Bodies* bodies, const Settings* settings, Row* rows,
                     bint first) noexcept nogil:
    """The wide row of a gear into rows[gear.row_begin ...]; none if it or one of its joints is broken. Those are
    written before it. To what handles joints one by one it has no bilateral rows of its own: constraint_count = 0."""
    cdef GearSide a, b
    cdef Joint* joint_a = &joints[gear.geared[0]]
    cdef Joint* joint_b = &joints[gear.geared[1]]
    cdef Row* own = rows + gear.row_begin
    cdef int i
    gear.constraint_count = 0
    gear.row_count = 0
    if gear.broken or joint_a.broken or joint_b.broken:
        return
    gear.row_count = 2
    gear_side(&a, joint_a, gear.geared_axis[0], bodies, 0.0)
    gear_side(&b, joint_b, gear.geared_axis[1], bodies, 0.0)
    for i in range(2):
        begin_joint_row(&own[i], joint_a if i == 0 else joint_b, source, ROW_JOINT, 0, gear.impulse[0], first)
        own[i].block = 2 if i == 0 else 0
        own[i].block_kind = BLOCK_BORDER if settings.joint_tree else BLOCK_WIDE
        own[i].stabilized = i == 0
    couple_joints(own, gear, &a, &b, bodies)
    own.push = gear.push[0 if is_linear(own) else 1]
    if not settings.joint_tree:
        own.coupling = (held_response(&own[0], own_rows(rows, joint_a), joint_a.constraint_count)
                        + held_response(&own[1], own_rows(rows, joint_b), joint_b.constraint_count)
                        + 2.0 * pair_coupling(&own[0], &own[1]))
        if not own.coupling > 1e-12 * own.diagonal:
            own.coupling = own.diagonal


cdef bint gear_is_linear(const Joint* joints, Py_ssize_t j, const Bodies* bodies) noexcept nogil:
    """Whether the gear's first coordinate is a way, and its error in metres."""
    cdef Joint copy = joints[joints[j].geared[0]]
    cdef GearSide a
    gear_side(&a, &copy, joints[j].geared_axis[0], bodies, 0.0)
    return a.axes[a.axis].linear


cdef double border_error(const Joint* joints, Py_ssize_t j, int i, const Bodies* bodies, const Settings* settings,
                         double ahead) noexcept nogil:
    """The error of row i of a gear or a user's joint at the present poses, which may be trial ones of a drift that
    takes the time `ahead`."""
    cdef Joint copy_a, copy_b
    cdef GearSide a, b
    if joints[j].type == USER:
        return user_row(&joints[j], settings)[i].error
    copy_a = joints[joints[j].geared[0]]
    copy_b = joints[joints[j].geared[1]]
    gear_side(&a, &copy_a, joints[j].geared_axis[0], bodies, ahead)
    gear_side(&b, &copy_b, joints[j].geared_axis[1], bodies, ahead)
    return gear_error(&joints[j], &a, &b)


cdef void activate_limits(Joint* joint, const JointFrames* f, const AxisGeometry* axes, const Bodies* bodies,
                          const Settings* settings, bint struck) noexcept nogil:
    """Which limits get a row for this step: those that the coordinate may come to at twice its present rate, and all
    where it may reach any speed within the step: of an axis with a motor, and of a joint that a blow may reach."""
    cdef Twist a = bodies.twist[joint.body_a]
    cdef Twist b = bodies.twist[joint.body_b]
    cdef Vec3 spin = spin_between(bodies, joint.body_a, joint.body_b)
    cdef Vec3 slide = sub(add(b.v, cross(b.w, f.arm_b)), add(a.v, cross(a.w, f.arm_a)))
    cdef double dt = settings.dt
    cdef double length = (LIMIT_FALLS * dt * dt * norm(settings.gravity)
                          + LIMIT_MARGIN_ANGLE * max(norm(joint.anchor_a), norm(joint.anchor_b)))
    cdef double margin
    cdef int i
    joint.active_limits = 0
    for i in range(joint.axis_count):
        if axes[i].linear:
            margin = length + 2.0 * dt * fabs(dot(axes[i].limit_axis, slide))
        else:
            margin = LIMIT_MARGIN_ANGLE + 2.0 * dt * fabs(dot(axes[i].limit_axis, spin))
        if struck or joint.axes[i].motor_mode != MOTOR_NONE:
            margin = HUGE
        if axes[i].limit_position - joint.axes[i].lower < margin:
            joint.active_limits |= LOWER_BIT << (2 * i)
        if joint.axes[i].upper - axes[i].limit_position < margin:
            joint.active_limits |= UPPER_BIT << (2 * i)
    cdef Vec3 unused
    if not isinf(joint.swing_limit):
        margin = HUGE if struck else LIMIT_MARGIN_ANGLE + 2.0 * dt * norm(spin)
        if joint.swing_limit - ball_swing(f, &unused) < margin:
            joint.active_limits |= SWING_BIT


cdef inline bint is_kept(const int32_t* kept, Py_ssize_t j) noexcept nogil:
    """Whether others keep the joint's own rows."""
    return kept != NULL and kept[j + 1] > kept[j]


cdef Py_ssize_t choose_joints(Joint* joints, Py_ssize_t count, const Bodies* bodies, const int8_t* asleep,
                              int32_t* awake) noexcept nogil:
    """The joints that do not sleep, ascending, for the verbs below; the others have no rows. asleep: of each body.
    -> how many"""
    cdef Py_ssize_t j, n = 0
    for j in range(count):
        if joint_sleeps(&joints[j], bodies, asleep):
            joints[j].row_count = 0
        else:
            awake[n] = <int32_t>j
            n += 1
    return n


cdef Py_ssize_t layout_joints(Joint* joints, const int32_t* awake, Py_ssize_t count, const Bodies* bodies,
                              const Settings* settings, Row* rows, Py_ssize_t capacity, bint own,
                              const int32_t* kept, const int8_t* taken, const int8_t* struck,
                              JointLists* lists) noexcept nogil:
    """Lay out the rows of the `count` joints `awake` (NULL: of the first `count`) for one step, warm impulses in place;
    the joints' own only if `own`, and not of joints j with kept[j + 1] > kept[j], which others keep (NULL: none).
    taken: of each joint, whether it has no rows here at all (NULL: none is). struck: of _joint_lists.pyx (NULL: none is).
    lists: filled, for refresh_listed; NULL: none. -> row count, or -1: capacity too small."""
    cdef Py_ssize_t c, j, n = 0
    if lists != NULL:
        lists.turning_count = lists.whole_count = 0
    for c in range(count):
        j = c if awake == NULL else awake[c]
        if n + MOST_ROWS > capacity:
            return -1
        joints[j].row_begin = <int>n
        if taken != NULL and taken[j]:
            joints[j].row_count = 0
            continue
        if joints[j].type == GEAR:
            write_gear(&joints[j], <int>j, joints, bodies, settings, rows, True)
        else:
            write_joint(&joints[j], <int>j, bodies, settings, &rows[n], own and not is_kept(kept, j), True,
                        struck != NULL and struck[j])
        if lists != NULL:
            list_joint(lists, joints, j, own and not is_kept(kept, j))
        n += joints[j].row_count
    return n


cdef Py_ssize_t own_sizes(const Joint* joints, Py_ssize_t count, const Bodies* bodies, const Settings* settings,
                          int32_t* sizes) noexcept nogil:
    """sizes: how many rows are each joint itself; nothing else is written. -> for how many rows layout_joints() must be
    given room, whoever is awake"""
    cdef Row rows[MOST_ROWS]
    cdef Joint copy
    cdef Py_ssize_t j
    cdef Py_ssize_t n = MOST_ROWS
    for j in range(count):
        sizes[j] = 0
        if joints[j].type == GEAR:
            n += 2
            continue
        copy = joints[j]
        write_joint(&copy, <int>j, bodies, settings, rows, True, True, False)
        sizes[j] = copy.constraint_count
        n += copy.row_count
    return n


cdef void refresh_joints(Joint* joints, const int32_t* awake, Py_ssize_t count, const Bodies* bodies,
                         const Settings* settings, Row* rows, bint own, const int32_t* kept) noexcept nogil:
    """The same rows at the present poses; impulses stay."""
    cdef Py_ssize_t c, j
    for c in range(count):
        j = c if awake == NULL else awake[c]
        if joints[j].type == GEAR:
            write_gear(&joints[j], <int>j, joints, bodies, settings, rows, False)
        else:
            write_joint(&joints[j], <int>j, bodies, settings, &rows[joints[j].row_begin],
                        own and not is_kept(kept, j), False, False)


cdef void refresh_listed(Joint* joints, JointLists* lists, const Bodies* bodies, const Settings* settings, Row* rows,
                         bint own, const int32_t* kept) noexcept nogil:
    """The same by the lists that layout_joints has filled."""
    cdef Py_ssize_t i
    cdef const TurningJoint* turning
    refresh_joints(joints, lists.whole, lists.whole_count, bodies, settings, rows, own, kept)
    for i in range(lists.turning_count):
        turning = &lists.turning[i]
        if turns_far(bodies, turning.body_a, turning.body_b, settings.dt):
            count_turns(&joints[turning.joint], bodies)


cdef void refresh_border(Joint* joints, const int32_t* awake, Py_ssize_t count, const Bodies* bodies,
                         const Settings* settings, Row* rows) noexcept nogil:
    """The rows of gears and of joints of the user's own at the present poses."""
    cdef Py_ssize_t c, j
    for c in range(count):
        j = awake[c]
        if joints[j].type == GEAR:
            write_gear(&joints[j], <int>j, joints, bodies, settings, rows, False)
        elif joints[j].type == USER:
            write_joint(&joints[j], <int>j, bodies, settings, &rows[joints[j].row_begin], False, False, False)


cdef inline bint is_law(const Row* row, const Settings* settings) noexcept nogil:
    """Whether it is a PD motor under "reference", whose row has lost the bounds of an impulse to those who ask for
    accelerations (_forces.pyx)."""
    return settings.reference_creep > 0.0 and row.kind == ROW_SPRING and is_of_motor(row)


cdef void store_joints(Joint* joints, const int32_t* awake, Py_ssize_t count, const Bodies* bodies,
                       const Settings* settings, const Row* rows, const JointRows* own) noexcept nogil:
    """The wrench of the last substep's impulses on b about the joint point, and what of them lasts, with which the next
    substep begins, back into the joints. own: the direct solver's rows, or NULL."""
    cdef Py_ssize_t c, j
    cdef const Row* row
    cdef const JointRow* r
    cdef const double* jacobian
    cdef JointAxis* axis
    cdef Vec3 linear, angular, arm
    cdef int i, k
    for c in range(count):
        j = c if awake == NULL else awake[c]
        joints[j].swing_impulse = 0.0
        for i in range(joints[j].axis_count):
            for k in range(AXIS_ROWS):
                if joints[j].axes[i].impulse[k] != 0.0:              # or memory would be written for nothing
                    joints[j].axes[i].impulse[k] = 0.0
        linear = vec3(0.0, 0.0, 0.0)
        angular = vec3(0.0, 0.0, 0.0)
        for k in range(joints[j].row_count):
            row = &rows[joints[j].row_begin + k]
            if row.kind == ROW_JOINT:
                joints[j].impulse[row.index] = row.impulse
            elif row.index >= SWING_INDEX:
                if row.index == SWING_INDEX:
                    joints[j].swing_impulse = row.impulse
            else:
                axis = &joints[j].axes[row.index // AXIS_ROWS]
                axis.impulse[row.index % AXIS_ROWS] = row.impulse if is_law(row, settings) else lasting(row, settings)
            jacobian = &row.jacobian[0]
            linear = add_scaled(linear, row.impulse, vec3(jacobian[6], jacobian[7], jacobian[8]))
            angular = add_scaled(angular, row.impulse, vec3(jacobian[9], jacobian[10], jacobian[11]))
        if joints[j].type == GEAR and joints[j].row_count > 0:
            joints[j].wrench_impulse = gear_wrench(&joints[j], &rows[joints[j].row_begin + 1], bodies)
            continue
        if own != NULL:
            for i in range(own.begin[j + 1] - own.begin[j]):
                r = &own.row[own.begin[j] + i]
                linear = add_scaled(linear, own.impulse[own.begin[j] + i], r.linear)
                angular = add_scaled(angular, own.impulse[own.begin[j] + i], r.angular_b)
                joints[j].impulse[i] = own.impulse[own.begin[j] + i]
        for i in range(joints[j].user_size if joints[j].type == USER else joints[j].constraint_count, 6):
            joints[j].impulse[i] = 0.0
        store_motions(&joints[j])
        for k in range(joints[j].row_count):
            row = &rows[joints[j].row_begin + k]
            if row.kind == ROW_JOINT:
                joints[j].impulse[row.index] = lasting(row, settings)
        if own != NULL:
            for i in range(own.begin[j + 1] - own.begin[j]):
                joints[j].impulse[i] = own.second[own.begin[j] + i]
        arm = rotate(bodies.orientation[joints[j].body_b], joints[j].anchor_b)
        joints[j].wrench_impulse.v = linear
        joints[j].wrench_impulse.w = sub(angular, cross(arm, linear))


cdef Twist gear_wrench(const Joint* gear, const Row* second, const Bodies* bodies) noexcept nogil:
    """What a gear's second half puts on the body that the gear counts as its b, about the joint point there."""
    cdef const double* half = &second.jacobian[6 if second.body_b == gear.body_b else 0]
    cdef Twist wrench
    wrench.v = scale(second.impulse, vec3(half[0], half[1], half[2]))
    wrench.w = sub(scale(second.impulse, vec3(half[3], half[4], half[5])),
                   cross(rotate(bodies.orientation[gear.body_b], gear.anchor_b), wrench.v))
    return wrench


cdef int break_joints(Joint* joints, const int32_t* awake, Py_ssize_t count, double h) noexcept nogil:
    """Breaks what carried more in the last substep than it bears: |wrench impulse| / h above a bound. -> how many."""
    cdef int broken = 0
    cdef Joint* joint
    cdef Py_ssize_t j
    for j in range(count):
        joint = &joints[j if awake == NULL else awake[j]]
        if joint.breakable and not joint.broken and (norm(joint.wrench_impulse.v) > h * joint.break_force
                                                     or norm(joint.wrench_impulse.w) > h * joint.break_torque):
            joint.broken = 1
            broken += 1
    return broken


# ---- for observers ---------------------------------------------------------------------------------------------------

cdef void joint_errors(const Joint* joints, Py_ssize_t count, const Bodies* bodies, double* out) noexcept nogil:
    """out[2 j], out[2 j + 1]: metres and radians by which joint j's constrained directions are off."""
    cdef JointFrames f
    cdef Py_ssize_t j
    cdef int column
    for j in range(count):
        if joints[j].broken:
            continue
        if joints[j].type == GEAR:
            if not (joints[joints[j].geared[0]].broken or joints[joints[j].geared[1]].broken):
                column = 0 if gear_is_linear(joints, j, bodies) else 1
                out[2 * j + column] = fabs(border_error(joints, j, 0, bodies, NULL, 0.0))
            continue
        f = joint_frames(&joints[j], bodies)
        measure_error(&joints[j], &f, &out[2 * j], &out[2 * j + 1])
