"""What a spring of a coordinate does, or its motor that is a proportional and derivative (PD) controller: one law for both.

    force = -k (position - rest) - c (rate - velocity),     |force| <= most

A spring has no velocity that it keeps to, and no bound. A motor has its target for `rest`, kp for k, kd for c. Their rows
are of one kind, ROW_SPRING, and told apart by where their impulse is kept, AXIS_SPRING or AXIS_MOTOR.
"""

from libc.math cimport INFINITY

from mcsim.state._joint cimport AXIS_MOTOR, AXIS_ROWS, JointAxis

ctypedef struct SpringLaw:
    double stiffness             # k [N/m or N m/rad]
    double damping               # c [N s/m or N m s/rad]
    double velocity              # [m/s or rad/s]
    double most                  # [N or N m]


cdef inline SpringLaw spring_law(const JointAxis* axis, int index) noexcept nogil:
    """index: of the row, by AXIS_ROWS."""
    cdef SpringLaw law
    if index % AXIS_ROWS == AXIS_MOTOR:
        law.stiffness = axis.motor_kp
        law.damping = axis.motor_kd
        law.velocity = axis.motor_velocity
        law.most = axis.motor_max_force
    else:
        law.stiffness = axis.stiffness
        law.damping = axis.damping
        law.velocity = 0.0
        law.most = INFINITY
    return law
