"""Where the yaw and the roll of a turn by angles are one."""

cdef extern from *:
    """
    #define MC_SINGULAR_PITCH 1e-8    /* cosine of a pitch below which yaw and roll are one */
    """
    const double SINGULAR_PITCH "MC_SINGULAR_PITCH"
