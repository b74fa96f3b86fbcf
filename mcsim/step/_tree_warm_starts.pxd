"""How far warm starts of limits and contacts act on trees."""

from libc.stdint cimport int32_t
from mcsim.reduced._motion cimport Block, TreeMotion
from mcsim.solve._generalized cimport GeneralizedRows
from mcsim.solve._warm_starts cimport WarmStarts
from mcsim.state._row cimport Row
from mcsim.step._plain_rows cimport PlainRows


cdef inline int32_t node_of(const Block* blocks, int32_t body) noexcept nogil:
    """The first velocity of a body's tree, which stands for all of them; -1: nothing moves it."""
    return blocks[body].first if body >= 0 and blocks[body].count > 0 else -1


cdef class TreeWarmStarts:
    cdef PlainRows plain
    cdef TreeMotion motion
    cdef GeneralizedRows generalized
    cdef WarmStarts groups               # over the trees' velocities
    cdef readonly object numbers         # (nv,) which node every velocity is of
    cdef int32_t* nodes
    cdef Py_ssize_t count                # of velocities
    cdef object kept, kept_rates
    cdef const int32_t* hung             # (hung_count,) the nodes of trees with joints
    cdef Py_ssize_t hung_count
    cdef int32_t* watched                # (nv,) by a group's root: whether it has one of them
    cdef double* before                  # (nv,) the velocities before warm starts act
    cdef double* rates                   # (rows,) and J qd [m/s, rad/s]
    cdef Py_ssize_t body_count
    cdef double* gains                   # of bodies, see pass_on [N s]
    cdef double* losses

    cdef void start(self, bint second) noexcept nogil
    cdef void weigh(self, bint second) noexcept nogil
    cdef double warm_impulse(self, const Row* row, bint second) noexcept nogil
    cdef double part_of(self, int32_t node) noexcept nogil
    cdef void pass_on(self) noexcept nogil
    cdef double passed(self, int32_t body) noexcept nogil
