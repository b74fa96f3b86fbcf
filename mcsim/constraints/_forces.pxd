"""What joints do as forces in continuous time, for the smooth integrators."""

from mcsim.core._types cimport Twist
from mcsim.state._bodies cimport Bodies
from mcsim.state._joint cimport Joint
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
