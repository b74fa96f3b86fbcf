"""How far joints may drift open where nothing is to close them."""

cdef extern from *:
    """
    /* Of a joint's size, or radians. The error of a method stays far below that over many turns; what has passed a singular
       pose, or goes in steps that do not follow the motion, comes to it within seconds. */
    #define MC_DRIFTED 1e-3
    """
    const double DRIFTED "MC_DRIFTED"
