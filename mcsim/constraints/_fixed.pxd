"""Fixed joint (weld): no relative motion.

    C = (E_a' (p_b - p_a),  2 vec(q))
"""

from mcsim.core._math cimport quat_log
from mcsim.constraints._parts cimport *


cdef inline int constrain_fixed(Row* rows, const JointFrames* f, const Joint* joint) noexcept nogil:
    constrain_point(rows, f)
    constrain_rotation(&rows[3], f)
    return 6


cdef inline void error_fixed(const JointFrames* f, const Joint* joint, double* position, double* angle) noexcept nogil:
    position[0] = norm(f.offset)
    angle[0] = norm(quat_log(f.relative))
