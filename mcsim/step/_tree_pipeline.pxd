"""The tree of a world in generalized coordinates."""

from libc.stdint cimport int32_t
from mcsim.step._compliant_surfaces cimport CompliantSurfaces
from mcsim.step._pipeline cimport Pipeline
from mcsim.step._tree_rows cimport TreeRows
from mcsim.step._tree_sync cimport TreeSync
from mcsim.step._tree_warm_starts cimport TreeWarmStarts
from mcsim.core._types cimport Quat, Twist
from mcsim.reduced._links cimport Link
from mcsim.reduced._motion cimport TreeMotion
from mcsim.reduced._tree_energy cimport TreeEnergy
from mcsim.reduced._tree_forces cimport TreeForces
from mcsim.reduced._tree_poses cimport TreePoses
from mcsim.solve._generalized cimport GeneralizedRows

cdef class TreeSurfaces(CompliantSurfaces):
    cdef TreeMotion motion
    cdef GeneralizedRows generalized

cdef class TreePipeline(Pipeline):
    cdef TreeWarmStarts warm_starts
    cdef readonly TreeMotion motion
    cdef TreeEnergy energies
    cdef TreePoses poses
    cdef TreeForces joint_forces
    cdef GeneralizedRows generalized     # all rows over its velocities
    cdef TreeRows tree_rows
    cdef readonly TreeSync body_sync
    cdef readonly object q, qd, tau, qdd  # (nq,), (nv,) each
    cdef public object system, dynamics  # what the tree is of, and its algorithms
    cdef int32_t* held                   # is_kept of constraints/_joints.pyx: the tree's joints have no rows of their own
    cdef tuple angles
    cdef int32_t* carriers               # link and joint, of the tree's joints that are the scene's
    cdef Py_ssize_t carrier_count
    cdef long long recovered             # step whose joint forces are in the records
    cdef long long carried_step          # after which these were kept
    cdef long long rows_step             # at whose end the rows stood that are there
    cdef Twist* carried_forces           # on bodies, see sum_carried; (nv,) of joints
    cdef double* carried
    cdef list pitched                    # (name, place in q, place in qd) of joints by yaw, pitch and roll
    cdef bint leading                    # whether there are kinematic bodies, whose arrays the tree follows
    cdef bint pushed                     # whether any body has a force or damping
    cdef object kept_of_tree

    cdef void rest_trees(self) noexcept nogil
    cdef void carry_trees(self, double h) noexcept nogil
    cdef void carry_root(self, const Link* root, double* x, double h, bint speed) noexcept nogil
    cdef void give_wrenches(self, int32_t resting) noexcept nogil
    cdef bint is_driven(self, Py_ssize_t k) noexcept nogil
    cdef void keep_carried(self) noexcept nogil
    cdef void sum_carried(self) noexcept nogil
    cdef void sum_forces(self) noexcept nogil
    cdef void pass_failure(self) noexcept with gil
    cdef void refuse_pitch(self) noexcept with gil
    cdef void write_joints(self) noexcept nogil
    cdef void refresh(self) noexcept nogil
