"""How contacts share impulses that the impulses alone do not determine."""

from libc.stdint cimport int32_t
from mcsim.solve.problems._dantzig cimport ROW_DOUBLES, ROW_INTEGERS

# Room that share() needs: numbers beside n^2 of them, and integers, a row.
cdef enum:
    SHARE_DOUBLES = ROW_DOUBLES + 3
    SHARE_INTEGERS = ROW_INTEGERS + 1

cdef void share(int n, double* a, const double* q, double* p, double* numbers, int32_t* whole) noexcept nogil
