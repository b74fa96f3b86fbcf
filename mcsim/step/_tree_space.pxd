"""The velocities of the coordinates of trees."""

from libc.stdint cimport int8_t, int32_t
from mcsim.reduced._motion cimport TreeMotion
from mcsim.reduced._tree_energy cimport TreeEnergy
from mcsim.reduced._tree_poses cimport TreePoses
from mcsim.solve._generalized cimport GeneralizedRows
from mcsim.step._calls cimport Calls
from mcsim.step._tree_loads cimport TreeLoads
from mcsim.step._tree_rest cimport TreeRest
from mcsim.step._tree_sync cimport TreeSync
from mcsim.step._velocity_space cimport VelocitySpace

cdef enum:
    KICK_ROUNDS = 2              # of a kick at the velocities that come out

cdef class TreeSpace(VelocitySpace):
    cdef Calls calls
    cdef TreeMotion motion
    cdef TreeEnergy energies
    cdef TreePoses poses
    cdef GeneralizedRows generalized     # all rows over its velocities
    cdef TreeLoads loads
    cdef TreeRest resting
    cdef readonly TreeSync body_sync
    cdef readonly object q, qd, tau, qdd  # (nq,), (nv,) each
    cdef public object system, dynamics  # what the trees are of, and their algorithms
    cdef int32_t* held                   # is_kept of constraints/_joints.pyx: the trees' joints have no rows of their own
    cdef const int8_t* hung              # of bodies: whether joints move them
    cdef tuple angles
    cdef dict angles_of                  # joint -> [(axis, place in q)] of those
    cdef list pitched                    # (name, place in q, place in qd) of joints by yaw, pitch and roll
    cdef bint turns_by_angles            # there are such
    cdef bint leading                    # whether there are kinematic bodies, whose arrays the trees follow
    cdef const double* forces            # after sum_forces: the wrenches, NULL where there are none
    cdef bint damped                     # after sum_forces: whether any body is damped
    cdef double ahead                    # sum_forces has the users' forces along joints' coordinates so much later [s]
    cdef object kept

    cdef void sum_forces(self, double h) noexcept nogil
    cdef void pass_failure(self) noexcept with gil
    cdef bint refuses_pitch(self) noexcept with gil
