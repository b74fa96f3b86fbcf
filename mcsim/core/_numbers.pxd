"""Numbers that several rooms take: mathematics, and what stands for endless where infinity would give NaN."""

cdef extern from *:
    """
    #define MC_TWO_PI 6.283185307179586
    /* Larger than any coordinate, gap or bound that occurs, while twice as much is a number still. */
    #define MC_HUGE 1e300
    """
    const double TWO_PI "MC_TWO_PI"
    const double HUGE "MC_HUGE"
