"""When a pivot of a factor of the joints' system is rounding: in blocks (_tree_blocks.pxd), fronts (_fronts.pyx) and links
(_articulated_bodies.pyx)."""

cdef extern from *:
    """
    /* Part of the diagonal that stood there: a pivot below says that the row repeats others, and it is skipped. Some
       thousand times the rounding of a diagonal of sixteen digits. */
    #define MC_SMALLEST_PIVOT 1e-12
    /* Bounded rows of one joint that enclose less than this angle are taken for one (_held_links.pyx): its square is what
       is left of the pivot. */
    #define MC_SMALLEST_ANGLE 1e-6
    """
    const double SMALLEST_PIVOT "MC_SMALLEST_PIVOT"
    const double SMALLEST_ANGLE "MC_SMALLEST_ANGLE"
