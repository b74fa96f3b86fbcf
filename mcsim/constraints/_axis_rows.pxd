"""Rows of a joint's free coordinates: rotors, friction, springs, motors and limits."""

from mcsim.constraints._ball cimport ball_swing
from mcsim.constraints._fast_springs cimport FAST_SPRING
from mcsim.constraints._motion cimport axis_curvature
from mcsim.constraints._parts cimport *
from mcsim.constraints._spring_law cimport SpringLaw, spring_law, strained_part
from mcsim.state._joint cimport (AXIS_ARMATURE, AXIS_FRICTION, AXIS_LOWER, AXIS_MOTOR, AXIS_ROWS, AXIS_SPRING, AXIS_UPPER,
                                 JOINT_AXES, JointAxis, MOTOR_NONE, MOTOR_PD, MOTOR_VELOCITY, SPRING_BOTH, has_rotor)
from mcsim.state._joint_types cimport ROTATION
from mcsim.state._limit_margin cimport LIMIT_MARGIN_ANGLE, LOWER_BIT, SWING_BIT, UPPER_BIT
from mcsim.state._row cimport (BIASED, RELAXED, ROW_ARMATURE, ROW_JOINT_FRICTION, ROW_LIMIT, ROW_MOTOR, ROW_SPRING)
from mcsim.state._rows cimport rate
from mcsim.state._settings cimport INTEGRATE_REDUCED, INTEGRATE_SEMI_IMPLICIT, STABILIZE_SOFT, Settings

cdef enum:
    SWING_INDEX = JOINT_AXES * AXIS_ROWS       # row index of the swing limit, after those of the axes; the first of several


cdef inline void set_soft(Row* row, double bias, double compliance, double part) noexcept nogil:
    """A physical spring: J v + bias + compliance * impulse = 0 over a substep, of which the first pass does `part`.
    Where that is all, the relax pass keeps the bias of the pose that the impulse belongs to. Where it is half, the
    relax pass does the other half, implicitly too, at the pose that the bias belongs to."""
    compliance /= part
    row.bias[RELAXED] = row.bias[BIASED] if part == 1.0 else bias - compliance * row.impulse
    row.bias[BIASED] = bias
    row.compliance[BIASED] = compliance
    row.compliance[RELAXED] = compliance


cdef inline bint knows_moved(const Settings* settings) noexcept nogil:
    """Whether each step finds JointAxis.moved anew: trees, and joints that close at a drift's end. What others leave there
    is old."""
    return settings.integrator == INTEGRATE_REDUCED or (
        settings.joint_tree != 0 and settings.integrator == INTEGRATE_SEMI_IMPLICIT
        and settings.stabilization == STABILIZE_SOFT)


cdef inline double spring_point(const SpringLaw* law, const JointAxis* axis, double diagonal,
                                const Settings* settings) noexcept nogil:
    """s: the part of a substep of two halves after which a spring's force is taken, at u the rate of the drift:

        impulse = -h (k (e + s h u) + c (u - w)),     w the velocity that it keeps to, 0 of a spring

    half of it before the drift and half after it, so that what rests stays at rest. s = 1/2 is the implicit midpoint
    rule, of second order: there e + s h u has s h times row.rate too, by which e changes beside u, and u what it is to
    change by until then. z = h (c + h k) J P J' tells how fast the spring is for the substep, P how the bodies answer
    with what joints make go along with them: `axis.moved` has J P J' where that is known, `diagonal` J M^-1 J', which is no
    less. From z = FAST_SPRING on s = 1, implicit Euler in each half, which damps it.
    """
    cdef double z
    if not settings.first_kick < 1.0:
        return 1.0
    z = settings.h * (law.damping + settings.h * law.stiffness)
    z *= axis.moved if axis.moved > 0.0 and knows_moved(settings) else diagonal
    return 0.5 if z < FAST_SPRING else 1.0


cdef inline double turned_rate(const Row* row, const Twist* twist, double h) noexcept nogil:
    """By how much J v is to differ in the middle of a drift of h from what it is before: h/2 times the row's curvature, to
    second order. Of bodies that turn by an angle t in the drift it is to fall as 1 / t where that is far, as the mean of
    what goes round does, (1 - cos t) / t = t/2 for small ones: a damper that went by more would drive, not brake. By
    1 / (1 + t^2) it falls as that."""
    cdef const Twist* a = &twist[row.body_a]
    cdef const Twist* b = &twist[row.body_b]
    if row.curvature == 0.0:
        return 0.0
    return 0.5 * h * row.curvature / (1.0 + h * h * (dot(a.w, a.w) + dot(b.w, b.w)))


cdef inline bint bends_springs(const Joint* joint, const Settings* settings) noexcept nogil:
    """Whether there are dampers for which `turned_rate` counts."""
    cdef int i
    if not settings.first_kick < 1.0:
        return False
    for i in range(joint.axis_count):
        if (joint.axes[i].has_spring and joint.axes[i].damping > 0.0) or (
                joint.axes[i].motor_mode == MOTOR_PD and joint.axes[i].motor_kd > 0.0):
            return True
    return False


cdef inline void set_spring(Row* row, const JointAxis* axis, SpringLaw* law, double diagonal, const Twist* twist,
                            const Settings* settings) noexcept nogil:
    """Bias and compliance of a spring's row by its error. diagonal: J M^-1 J'."""
    cdef double h = settings.h
    cdef double part = spring_point(law, axis, diagonal, settings)
    cdef double d, bias
    if axis.spring_acts != SPRING_BOTH:
        law.damping *= strained_part(axis, row.index, row.error, rate(row, twist), h)
    d = law.damping + part * h * law.stiffness
    if not d > 0.0:
        return                                       # its bounds are 0
    if part < 1.0:
        bias = (law.stiffness * (row.error + part * h * row.rate)
                + law.damping * (turned_rate(row, twist, h) - law.velocity)) / d
        set_soft(row, bias, 1.0 / (settings.first_kick * h * d), 1.0)
    else:
        bias = (law.stiffness * row.error - law.damping * law.velocity) / d
        set_soft(row, bias, 1.0 / (h * d), settings.first_kick)


cdef inline int write_spring(Row* row, const Joint* joint, int source, int number, int kept, double error,
                             double beside, const AxisGeometry* geometry, const JointFrames* f, const Bodies* bodies,
                             const Settings* settings, bint first, bint bends) noexcept nogil:
    """The row of a spring or PD motor, whose impulse is `kept` in one of AXIS_...; error: position - rest; beside: its rate
    less J v; bends: J v may change in a drift by itself, as of a coordinate that is a tree's own it does not. -> how many.

    By implicit Euler lambda = -h (k (e + h u) + c (u - w)), u = J v, hence
    u + (k e - c w) / (c + h k) + lambda / (h (c + h k)) = 0, within h times the law's bounds; in a substep of two halves
    with s h for h, see spring_point, and where s = 1 a half in each pass. The damper of a rope that comes taut within the
    substep is there for the part in which it is, so c times that part stands for c.
    """
    cdef const JointAxis* axis = &joint.axes[number]
    cdef SpringLaw law = spring_law(axis, kept, error)
    cdef double h = settings.h
    if not (law.damping > 0.0 or law.stiffness > 0.0):
        return 0
    begin_joint_row(row, joint, source, ROW_SPRING, number * AXIS_ROWS + kept, axis.impulse[kept], first)
    axis_row(row, geometry, geometry.axis, f)
    apply_inverse_mass(row, bodies)
    row.error = error
    row.rate = beside
    if bends and law.damping > 0.0 and bends_springs(joint, settings):
        row.curvature = axis_curvature(joint, number, geometry - number, f) + gyroscopic_curvature(row, f)
    row.upper = h * law.most
    row.lower = h * law.least
    set_spring(row, axis, &law, row.diagonal, bodies.twist, settings)
    return 1


cdef inline int write_axis(Row* rows, const Joint* joint, int source, int number, const AxisGeometry* geometry,
                           const JointFrames* f, const Bodies* bodies, const Settings* settings, bint first,
                           bint rotors) noexcept nogil:
    """Rotor, friction, spring and motor rows of one axis. -> how many.

    Friction |lambda| <= h F. A motor is u = target, |lambda| <= h F; a position motor's target is found where a substep
    begins (_motors.pyx); a PD motor is a spring (write_spring). A rotor of inertia a goes with the coordinate:
    lambda = -a (u - what u was), which is found there too. rotors: whether they have rows, as of coordinates that are not
    a tree's own.
    """
    cdef const JointAxis* axis = &joint.axes[number]
    cdef double h = settings.h
    cdef Row* row
    cdef int n = 0
    if rotors and has_rotor(axis):
        row = begin_joint_row(&rows[n], joint, source, ROW_ARMATURE, number * AXIS_ROWS + AXIS_ARMATURE,
                        axis.impulse[AXIS_ARMATURE], first)
        axis_row(row, geometry, geometry.axis, f)
        apply_inverse_mass(row, bodies)
        row.compliance[BIASED] = row.compliance[RELAXED] = 1.0 / axis.armature
        n += 1
    if axis.friction > 0.0:
        row = begin_joint_row(&rows[n], joint, source, ROW_JOINT_FRICTION, number * AXIS_ROWS + AXIS_FRICTION,
                        axis.impulse[AXIS_FRICTION], first)
        axis_row(row, geometry, geometry.axis, f)
        apply_inverse_mass(row, bodies)
        row.upper = h * axis.friction
        row.lower = -row.upper
        n += 1
    if axis.has_spring:
        n += write_spring(&rows[n], joint, source, number, AXIS_SPRING, geometry.spring_error, geometry.spring_rate,
                          geometry, f, bodies, settings, first, rotors)
    if axis.motor_mode == MOTOR_PD:
        n += write_spring(&rows[n], joint, source, number, AXIS_MOTOR, geometry.motor_error, geometry.motor_rate,
                          geometry, f, bodies, settings, first, rotors)
    elif axis.motor_mode != MOTOR_NONE:
        row = begin_joint_row(&rows[n], joint, source, ROW_MOTOR, number * AXIS_ROWS + AXIS_MOTOR,
                        axis.impulse[AXIS_MOTOR], first)
        axis_row(row, geometry, geometry.axis, f)
        apply_inverse_mass(row, bodies)
        row.upper = h * axis.motor_max_force
        row.lower = -row.upper
        if axis.motor_mode == MOTOR_VELOCITY:
            row.bias[BIASED] = -axis.motor_velocity
            row.bias[RELAXED] = -axis.motor_velocity
        else:
            row.error = geometry.motor_error
        n += 1
    return n


cdef inline int write_limit(Row* row, const Joint* joint, int source, int index, double impulse, double error,
                            Vec3 direction, const AxisGeometry* geometry, const JointFrames* f, const Bodies* bodies,
                            bint first) noexcept nogil:
    """One-sided: error >= 0, its rate J v along `direction`, impulse >= 0. The stabilization sets the bias."""
    begin_joint_row(row, joint, source, ROW_LIMIT, index, impulse, first)
    axis_row(row, geometry, direction, f)
    apply_inverse_mass(row, bodies)
    row.lower = 0.0
    row.stabilized = 1
    row.error = error
    row.push = joint.push[0 if geometry.linear else 1]
    return 1


cdef inline int write_limits(Row* rows, const Joint* joint, int source, const AxisGeometry* axes, const JointFrames* f,
                             const Bodies* bodies, bint first) noexcept nogil:
    """The limits that are active in this step. -> how many."""
    cdef const JointAxis* axis
    cdef int i, n = 0
    for i in range(joint.axis_count):
        axis = &joint.axes[i]
        if joint.active_limits & (LOWER_BIT << (2 * i)):
            n += write_limit(&rows[n], joint, source, i * AXIS_ROWS + AXIS_LOWER, axis.impulse[AXIS_LOWER],
                             axes[i].limit_position - axis.lower, axes[i].limit_axis, &axes[i], f, bodies, first)
        if joint.active_limits & (UPPER_BIT << (2 * i)):
            n += write_limit(&rows[n], joint, source, i * AXIS_ROWS + AXIS_UPPER, axis.impulse[AXIS_UPPER],
                             axis.upper - axes[i].limit_position, neg(axes[i].limit_axis), &axes[i], f, bodies, first)
    if joint.active_limits & SWING_BIT:
        n += write_swing(&rows[n], joint, source, &axes[ROTATION[joint.type]], f, bodies, first)
    return n


cdef inline int write_swing(Row* rows, const Joint* joint, int source, const AxisGeometry* geometry, const JointFrames* f,
                            const Bodies* bodies, bint first) noexcept nogil:
    """The cone of the swing: the half-space in the direction u of the swing as it is. That bounds no other direction,
    while u itself turns about the cone's axis as fast as the swing is small. So a narrow cone is also bounded on its
    other side and across, where nothing inside is farther away than the limit: about axes in the plane of a's x and y,
    about which motors turn, so that what contradicts these rows does so outright. -> how many"""
    cdef Vec3 u, across
    cdef double swing = ball_swing(f, &u)
    cdef int n = write_limit(rows, joint, source, SWING_INDEX, joint.swing_impulse, joint.swing_limit - swing, neg(u),
                             geometry, f, bodies, first)
    if joint.swing_limit < LIMIT_MARGIN_ANGLE:
        across = cross(f.axis_a[2], u)
        n += write_limit(&rows[n], joint, source, SWING_INDEX + 1, 0.0, joint.swing_limit + swing, u, geometry, f, bodies,
                         first)
        n += write_limit(&rows[n], joint, source, SWING_INDEX + 2, 0.0, joint.swing_limit, across, geometry, f, bodies,
                         first)
        n += write_limit(&rows[n], joint, source, SWING_INDEX + 3, 0.0, joint.swing_limit, neg(across), geometry, f,
                         bodies, first)
    return n


cdef inline void bend_motors(const Joint* joint, Row* rows, int count, const AxisGeometry* axes,
                             const JointFrames* f) noexcept nogil:
    """The curvature of the rows of motors and rotors, for those who ask for accelerations."""
    cdef int i
    for i in range(count):
        if rows[i].kind == ROW_MOTOR or rows[i].kind == ROW_ARMATURE:
            rows[i].curvature = (axis_curvature(joint, rows[i].index // AXIS_ROWS, axes, f)
                                 + gyroscopic_curvature(&rows[i], f))
