"""Which springs are too fast for the implicit midpoint rule."""

cdef extern from *:
    """
    /* h (d + h k) J M^-1 J' from which on springs and dampers are solved by implicit Euler. */
    #define MC_FAST_SPRING 1.0
    """
    const double FAST_SPRING "MC_FAST_SPRING"
