"""A user's own joint: a residual C(poses) of m rows, with J = dC/d(twists), both from Python (state/user_joints.py).

    C' = J v,     C'' = J' v + J a,     J' v along the present twists
"""

from mcsim.constraints._parts cimport *
from mcsim.state._joint cimport UserRow
from mcsim.state._settings cimport Settings


cdef inline const UserRow* user_row(const Joint* joint, const Settings* settings) noexcept nogil:
    """The first of what Python has written for the joint."""
    return <const UserRow*><void*>settings.user_rows + 6 * joint.user


cdef inline int take_rows(Row* rows, const Joint* joint, const Settings* settings) noexcept nogil:
    cdef const UserRow* given = user_row(joint, settings)
    cdef int i, k
    for i in range(joint.user_size):
        for k in range(12):
            rows[i].jacobian[k] = given[i].jacobian[k]
        rows[i].error = given[i].error
        rows[i].curvature = given[i].curvature
    return joint.user_size
