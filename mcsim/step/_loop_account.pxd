"""The account of the energy of trees on which strained loops hang."""

from libc.stdint cimport int32_t
from mcsim.reduced._motion cimport TreeMotion
from mcsim.reduced._tree_energy cimport TreeEnergy
from mcsim.solve._generalized cimport GeneralizedRows
from mcsim.solve._loop_rows cimport LoopRows
from mcsim.state._row cimport Row

cdef class LoopAccount:
    cdef TreeMotion motion
    cdef TreeEnergy energies
    cdef GeneralizedRows generalized
    cdef LoopRows loops
    cdef object kept, kept_rows
    cdef double* given                   # (rows,) impulses before half a substep
    cdef double* speeds                  # (rows, 2) and J qd of their sides
    cdef double* done                    # (rows, 2) what their sides have done in the substep [J]
    cdef double* work                    # (nv,) the same of each tree, at its first velocity
    cdef int32_t* hanging                # (trees,) whether it hangs on a part of the loops

    cdef void begin_half(self, const Row* rows, Py_ssize_t count, double h, const double* forces,
                         bint second) noexcept nogil
    cdef void end_half(self, const Row* rows, Py_ssize_t count, double h, const double* forces) noexcept nogil
    cdef void calm(self, const Row* rows, Py_ssize_t count, bint elastic) noexcept nogil
    cdef void sum_work(self, const Row* rows, Py_ssize_t count, bint elastic) noexcept nogil
    cdef double strain(self, int32_t body, double* kinetic) noexcept nogil
