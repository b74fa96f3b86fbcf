"""What joints do as forces in continuous time, for the smooth integrators."""

from libc.math cimport isinf

from mcsim.core._types cimport Twist
from mcsim.state._bodies cimport Bodies
from mcsim.state._joint cimport AXIS_ROWS, MOTOR_POSITION, Joint
from mcsim.state._row cimport ROW_JOINT_FRICTION, ROW_MOTOR, ROW_SPRING, Row
from mcsim.state._settings cimport Settings

# Add them to force [N, N m] about the centres of mass; rows are those of the present state. keep: row.impulse = h
# force.
cdef void add_joint_forces(const Joint* joints, Py_ssize_t count, const Bodies* bodies, const Settings* settings,
                           Row* rows, Twist* force, bint keep) noexcept nogil

# Bounds of those rows to 0, so that sweeps leave them out: they act as forces already. -> how many rows
cdef Py_ssize_t mute_joint_forces(const Joint* joints, Py_ssize_t count, const Settings* settings,
                                  Row* rows) noexcept nogil


cdef inline bint is_force(const Row* row, const Settings* settings) noexcept nogil:
    """Whether a joint's row acts so."""
    return row.kind == ROW_SPRING or (
        settings.reference_creep > 0.0 and (row.kind == ROW_MOTOR or row.kind == ROW_JOINT_FRICTION))


cdef inline bint is_aimed(const Row* row, const Joint* joints, const Settings* settings) noexcept nogil:
    """Whether, under "reference", it asks for an acceleration, with whatever force that takes up to its bound."""
    if row.kind != ROW_MOTOR or settings.reference_creep == 0.0:
        return False
    axis = &joints[row.source].axes[row.index // AXIS_ROWS]
    return axis.motor_mode == MOTOR_POSITION or isinf(axis.motor_max_force)


# Motors that ask for accelerations, J x + bias = 0 within the bounds of their forces; all others of the joints' rows may do
# nothing. The rows' curvature is there. -> how many
cdef Py_ssize_t aim_accelerations(const Joint* joints, Row* rows, Py_ssize_t count, const Twist* twist,
                                  const Settings* settings) noexcept nogil

# The same of those that ask for a velocity, as velocities.
cdef Py_ssize_t aim_speeds(const Joint* joints, Row* rows, Py_ssize_t count, const Settings* settings) noexcept nogil
