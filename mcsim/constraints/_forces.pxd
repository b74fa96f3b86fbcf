"""Springs of joints as forces in continuous time, for the smooth integrators."""

from mcsim.core._types cimport Twist
from mcsim.state._bodies cimport Bodies
from mcsim.state._joint cimport Joint
from mcsim.state._row cimport Row
from mcsim.state._settings cimport Settings

# Add them to force [N, N m] about the centres of mass; rows are those of the present state. keep: row.impulse = h
# force.
cdef void add_joint_forces(const Joint* joints, Py_ssize_t count, const Bodies* bodies, const Settings* settings,
                           Row* rows, Twist* force, bint keep) noexcept nogil

# Bounds of those rows to 0, so that sweeps leave them out: they act as forces already. -> how many rows
cdef Py_ssize_t mute_joint_forces(const Joint* joints, Py_ssize_t count, Row* rows) noexcept nogil
