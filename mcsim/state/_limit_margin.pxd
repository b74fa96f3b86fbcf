"""When a limit of an angle has a row: joints are looked at one by one (constraints/_joints.pyx) and several at a time
(wide/_joint_bounds.pxi)."""

cdef extern from *:
    """
    /* [rad] What an angle may be farther from its limit than it turns within the step and still have a row. The row is
       speculative, so a margin that is too wide costs time but never a force. */
    #define MC_LIMIT_MARGIN_ANGLE 0.2
    """
    const double LIMIT_MARGIN_ANGLE "MC_LIMIT_MARGIN_ANGLE"

# Bits of Joint.active_limits: those of axis i are shifted by 2 i.
cdef enum:
    LOWER_BIT = 1
    UPPER_BIT = 2
    SWING_BIT = 1 << 12          # behind those of JOINT_AXES axes
