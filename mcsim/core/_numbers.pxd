"""Numbers that several rooms take: mathematics, and what stands for endless where infinity would give NaN."""

cdef extern from *:
    """
    #define MC_TWO_PI 6.283185307179586
    /* Larger than any coordinate, gap or bound that occurs, while twice as much is a number still. */
    #define MC_HUGE 1e300
    """
    const double TWO_PI "MC_TWO_PI"
    const double HUGE "MC_HUGE"


cdef inline double greater(double a, double b) noexcept nogil:
    """The greater one; where either is no number, that."""
    return a if a >= b or a != a else b
