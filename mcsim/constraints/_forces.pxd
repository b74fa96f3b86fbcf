"""What joints do as forces in continuous time, for the smooth integrators: all that follows by itself from a state, rotors
with the accelerations that all ask for."""

from libc.math cimport INFINITY, isinf

from mcsim.core._types cimport Twist
from mcsim.state._bodies cimport Bodies
from mcsim.state._joint cimport AXIS_ROWS, MOTOR_POSITION, Joint, JointAxis
from mcsim.state._row cimport BLOCK_BOUNDED, ROW_ARMATURE, ROW_JOINT_FRICTION, ROW_MOTOR, ROW_SPRING, Row
from mcsim.state._settings cimport Settings

# Add them to force [N, N m] about the centres of mass; rows are those of the present state. keep: row.impulse = h
# force.
cdef void add_joint_forces(const Joint* joints, Py_ssize_t count, const Bodies* bodies, const Settings* settings,
                           Row* rows, Twist* force, bint keep) noexcept nogil

# That of one row along a coordinate at the rate u, what it changes by with the coordinate and with u added to by_position
# and by_rate.
cdef double force_along(const Row* row, const JointAxis* axis, double u, const Settings* settings, double* by_position,
                        double* by_rate) noexcept nogil

# Bounds of those rows to 0, so that sweeps leave them out: they act as forces already. -> how many rows
cdef Py_ssize_t mute_joint_forces(const Joint* joints, Py_ssize_t count, const Settings* settings,
                                  Row* rows) noexcept nogil


cdef inline bint is_force(const Row* row, const Settings* settings) noexcept nogil:
    """Whether a joint's row acts so."""
    return row.kind == ROW_SPRING or row.kind == ROW_ARMATURE or (
        settings.reference_creep > 0.0 and (row.kind == ROW_MOTOR or row.kind == ROW_JOINT_FRICTION))


cdef inline bint is_aimed(const Row* row, const Joint* joints, const Settings* settings) noexcept nogil:
    """Whether it asks for an acceleration, with whatever force that takes up to its bound: a rotor, for a force that goes
    with the acceleration, and under "reference" a motor."""
    if row.kind == ROW_ARMATURE:
        return True
    if row.kind != ROW_MOTOR or settings.reference_creep == 0.0:
        return False
    axis = &joints[row.source].axes[row.index // AXIS_ROWS]
    return axis.motor_mode == MOTOR_POSITION or isinf(axis.motor_max_force)


# Motors that ask for accelerations, J x + bias = 0 within the bounds of their forces, and rotors, J x + bias + force / a =
# 0; all others of the joints' rows may do nothing under "reference". The rows' curvature is there. -> how many
cdef Py_ssize_t aim_accelerations(const Joint* joints, Row* rows, Py_ssize_t count, const Twist* twist,
                                  const Settings* settings) noexcept nogil

# The same of those that ask for a velocity, as velocities, with rotors that keep to what `twist` has. -> how many motors
cdef Py_ssize_t aim_speeds(const Joint* joints, Row* rows, Py_ssize_t count, const Twist* twist,
                           const Settings* settings) noexcept nogil


cdef inline void free_rotor(Row* row, double rate, int relaxed) noexcept nogil:
    """What a rotor's row asks of impulses at this rate of its coordinate: J v + impulse / a = rate, without bounds."""
    row.lower, row.upper = -INFINITY, INFINITY
    row.block_kind = BLOCK_BOUNDED
    row.impulse = row.carry = 0.0
    row.bias[relaxed] = -rate
