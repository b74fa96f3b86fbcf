"""How often what a factor gives is mended by the residual it leaves, and when that no longer helps."""

cdef enum:
    MOST_REPEATS = 6             # proximal steps at most: at PROXIMAL_PROGRESS they leave a millionth

cdef extern from *:
    """
    /* Part of the residual: proximal steps go on while each leaves less than this. */
    #define MC_PROXIMAL_PROGRESS 0.1
    /* What a proximal step leaves more than this part of is no velocity's to mend: rows that repeat each other contradict
       each other by it, and to go on would add to their impulses without end. */
    #define MC_CONTRARY 0.99
    """
    const double PROXIMAL_PROGRESS "MC_PROXIMAL_PROGRESS"
    const double CONTRARY "MC_CONTRARY"
