"""Colours of constraints: those of one colour share no moving body. A body keeps the colours it has as the bits of a
number."""

from libc.stdint cimport uint64_t

cdef extern from *:
    """
    #include <stdint.h>
    /* The number of the first bit that is 0; 63 if there is none before. */
    static int mc_first_free(uint64_t taken)
    {
        int bit = 0;
        while (bit < 63 && (taken >> bit & 1)) bit++;
        return bit;
    }
    """
    int first_free "mc_first_free"(uint64_t taken) noexcept nogil

cdef enum:
    COLORS = 64                  # the last is for what finds no other, and must stand alone
