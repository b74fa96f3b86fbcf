"""A root between two places, found by the rule of false position with the Illinois modification."""

cdef enum:
    HALVINGS = 60                # trials that narrow a bracket to rounding: more than its 53 bits

cdef extern from *:
    """
    /* Part of the value that was to be met: less is rounding, some fifty units in the last place. */
    #define MC_SETTLED 1e-14
    """
    const double SETTLED "MC_SETTLED"


# A root between `low`, where a function is `below` 0, and `high`, where it is `above`.
ctypedef struct Bracket:
    double low
    double high
    double below
    double above
    int side                     # which end the last trial replaced


cdef inline double next_trial(const Bracket* b, double least) noexcept nogil:
    """By the rule of false position, no nearer to an end than that part of the bracket."""
    return b.low + (b.high - b.low) * max(least, min(1.0 - least, b.below / (b.below - b.above)))


cdef inline void narrow(Bracket* b, double at, double value) noexcept nogil:
    """By the function's value there. The Illinois modification: halve the value at an end that stays twice."""
    if value > 0.0:
        b.high, b.above = at, value
        b.below *= 0.5 if b.side > 0 else 1.0
        b.side = 1
    else:
        b.low, b.below = at, value
        b.above *= 0.5 if b.side < 0 else 1.0
        b.side = -1
