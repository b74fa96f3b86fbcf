"""What the joints of trees carry."""

from libc.stdint cimport int32_t
from mcsim.core._types cimport Twist
from mcsim.reduced._motion cimport TreeMotion
from mcsim.reduced._tree_forces cimport TreeForces
from mcsim.solve._generalized cimport GeneralizedRows
from mcsim.step._constraint_set cimport StepContext
from mcsim.step._plain_rows cimport PlainRows
from mcsim.step._tree_sync cimport TreeSync

cdef class TreeLoads:
    cdef StepContext context
    cdef PlainRows plain
    cdef GeneralizedRows generalized
    cdef TreeMotion motion
    cdef TreeSync body_sync
    cdef TreeForces forces
    cdef object kept
    cdef const Twist* wrench             # forces on the bodies [N, N m]
    cdef const int32_t* held             # as of TreeSpace
    cdef int32_t* carriers               # link and joint, of the trees' joints that are the scene's
    cdef Py_ssize_t carrier_count
    cdef Twist* on_bodies                # see sum
    cdef double* carried                 # (nv,) of joints
    cdef long long recovered             # step whose loads are in the records
    cdef long long carried_step          # after which `carried` was kept
    cdef long long rows_step             # at whose end the rows stood that are there

    cdef void keep(self) noexcept nogil
    cdef void sum(self) noexcept nogil
    cdef void give(self, int32_t resting) noexcept nogil
    cdef void give_last(self) noexcept nogil
