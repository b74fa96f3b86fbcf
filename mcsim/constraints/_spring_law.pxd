"""What a spring of a coordinate does, or its motor that is a proportional and derivative (PD) controller: one law for both.

    force = -k (position - rest) - c (rate - velocity),     least <= force <= most

A spring has no velocity that it keeps to. One that acts both ways has no bounds. The force of one that pulls alone is at
most 0, of one that pushes alone at least 0, which holds for the sum of spring and damper: a rope does not push however fast
it shortens. Where it is slack, on the other side of its rest, its damper is not there either. A motor has its target for
`rest`, kp for k, kd for c, and -least = most. Their rows are of one kind, ROW_SPRING, and told apart by where their impulse
is kept, AXIS_SPRING or AXIS_MOTOR.
"""

from libc.math cimport INFINITY

from mcsim.state._joint cimport AXIS_MOTOR, AXIS_ROWS, SPRING_PULL, SPRING_PUSH, JointAxis

ctypedef struct SpringLaw:
    double stiffness             # k [N/m or N m/rad]
    double damping               # c [N s/m or N m s/rad]
    double velocity              # [m/s or rad/s]
    double least                 # [N or N m]
    double most


cdef inline bint is_slack(const JointAxis* axis, int index, double error) noexcept nogil:
    """Whether a spring that acts one way is on the side where it does not. index: of the row; error: position - rest."""
    if index % AXIS_ROWS == AXIS_MOTOR:
        return False
    return (axis.spring_acts == SPRING_PULL and error <= 0.0) or (axis.spring_acts == SPRING_PUSH and error >= 0.0)


cdef inline double strained_part(const JointAxis* axis, int index, double error, double rate, double h) noexcept nogil:
    """The part of the time h ahead, at this rate of its coordinate, for which a spring's damper is there: all of it, but of
    one that acts one way and is slack what is left once it is strained."""
    cdef double ahead = error + h * rate
    if not is_slack(axis, index, error):
        return 1.0
    if (axis.spring_acts == SPRING_PULL and ahead > 0.0) or (axis.spring_acts == SPRING_PUSH and ahead < 0.0):
        return ahead / (h * rate)
    return 0.0


cdef inline SpringLaw spring_law(const JointAxis* axis, int index, double error) noexcept nogil:
    """index: of the row, by AXIS_ROWS; error: position - rest, by which a damper without a spring is there or not."""
    cdef SpringLaw law
    if index % AXIS_ROWS == AXIS_MOTOR:
        law.stiffness = axis.motor_kp
        law.damping = axis.motor_kd
        law.velocity = axis.motor_velocity
        law.most = axis.motor_max_force
        law.least = -law.most
    else:
        law.stiffness = axis.stiffness
        law.damping = axis.damping
        law.velocity = 0.0
        law.least = 0.0 if axis.spring_acts == SPRING_PUSH else -INFINITY
        law.most = 0.0 if axis.spring_acts == SPRING_PULL else INFINITY
        if not law.stiffness > 0.0 and is_slack(axis, index, error):
            law.least = law.most = 0.0
    return law


cdef inline double acting_error(const JointAxis* axis, double error) noexcept nogil:
    """position - rest of a spring as far as it is strained: 0 on the side where it does not act."""
    if axis.spring_acts == SPRING_PULL:
        return max(error, 0.0)
    if axis.spring_acts == SPRING_PUSH:
        return min(error, 0.0)
    return error
