"""The joints' own rows for the direct solver, and how far a drift leaves them open."""

from libc.stdint cimport int32_t
from mcsim.constraints._joint_frames cimport JointFrames
from mcsim.state._bodies cimport Bodies
from mcsim.state._joint cimport Joint
from mcsim.state._row cimport JointRows, Row
from mcsim.state._settings cimport Settings

cdef void point_along_world(Row* block, const Joint* joint, const JointFrames* f, int n) noexcept nogil
cdef double write_joint_rows(const Joint* joints, const int32_t* chosen, Py_ssize_t count, const Bodies* bodies,
                             const Settings* settings, JointRows* rows) noexcept nogil
cdef double miss_joints(const Joint* joints, const int32_t* chosen, Py_ssize_t count, const Bodies* bodies,
                        const Settings* settings, JointRows* rows) noexcept nogil
cdef void read_joint_rows(const Joint* joints, const Row* source, JointRows* rows) noexcept nogil
cdef void write_bent_rows(const Joint* joints, const Bodies* bodies, const Settings* settings, JointRows* rows,
                          double* curvature, double* held) noexcept nogil
