"""Trees that sleep, and what carries them."""

from libc.stdint cimport int32_t
from mcsim.constraints._islands cimport Islands
from mcsim.reduced._links cimport Link
from mcsim.reduced._motion cimport TreeMotion
from mcsim.reduced._tree_poses cimport TreePoses
from mcsim.step._constraint_set cimport StepContext
from mcsim.step._tree_loads cimport TreeLoads
from mcsim.step._tree_sync cimport TreeSync

cdef class TreeRest:
    cdef StepContext context
    cdef TreeMotion motion
    cdef TreePoses poses
    cdef TreeSync body_sync
    cdef TreeLoads loads
    cdef Islands islands

    cdef void follow(self) noexcept nogil
    cdef void stop(self) noexcept nogil
    cdef bint wake_driven(self) noexcept nogil
    cdef void keep_driven_awake(self) noexcept nogil
    cdef bint is_driven(self, Py_ssize_t k) noexcept nogil
    cdef void carry(self, double h) noexcept nogil
    cdef void carry_root(self, const Link* root, double* x, double h, bint speed) noexcept nogil
