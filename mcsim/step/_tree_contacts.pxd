"""Contacts over the velocities of trees."""

from libc.stdint cimport int8_t, int32_t
from mcsim.constraints._contact_order cimport ContactOrder
from mcsim.core._types cimport Twist, Vec3
from mcsim.reduced._motion cimport TreeMotion
from mcsim.reduced._tree_energy cimport TreeEnergy
from mcsim.reduced._tree_poses cimport TreePoses
from mcsim.solve._generalized cimport GeneralizedRows
from mcsim.solve._generalized_sweeps cimport GeneralizedSweeps
from mcsim.solve._laden cimport LadenRows
from mcsim.state._row cimport Row
from mcsim.step._constraint_set cimport StepContext
from mcsim.step._plain_rows cimport PlainRows
from mcsim.step._tree_rows cimport TreeRows
from mcsim.wide._blocks cimport Effort
from mcsim.wide._contacts cimport WideContacts

cdef class TreeContacts:
    cdef StepContext context
    cdef PlainRows plain
    cdef TreeMotion motion
    cdef TreePoses poses
    cdef TreeEnergy energies
    cdef GeneralizedRows generalized
    cdef GeneralizedSweeps row_sweeps
    cdef TreeRows tree_rows
    cdef WideContacts wide
    cdef ContactOrder order
    cdef const int8_t* jointed           # of bodies: whether joints move them
    cdef bint laden                      # whether contacts may bear much for their size
    cdef Effort* efforts                 # (manifolds,) how often a sweep solves each, how stiff it is (wide/_blocks.pxd)
    cdef bint stiffer                    # some are stiffer than others
    cdef double* undone                  # (manifolds,) changes of a velocity that a sweep may leave undone [m/s]
    cdef int32_t* chosen                 # (manifolds,): those that aim() is about
    cdef int32_t* laden_blocks           # where blocks of rows of contacts begin that are solved more than once
    cdef Py_ssize_t laden_count
    cdef LadenRows laden_rows            # and these
    cdef Twist* swings                   # of bodies, see bend_joints
    cdef Vec3* shared                    # of bodies, see aim [m/s]
    cdef object kept, kept_efforts

    cdef void find_efforts(self) noexcept nogil
    cdef void bend_joints(self) noexcept nogil
    cdef bint is_damped(self) noexcept nogil
    cdef void begin(self) noexcept nogil
    cdef void aim(self, bint every) noexcept nogil
    cdef double energy_of(self, const Row* row) noexcept nogil
    cdef void keep_loads(self) noexcept nogil
