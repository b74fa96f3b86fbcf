"""The tree of a world in generalized coordinates."""

from libc.stdint cimport int32_t
from mcsim.step._compliant_surfaces cimport CompliantSurfaces
from mcsim.step._pipeline cimport Pipeline
from mcsim.step._tree_warm_starts cimport TreeWarmStarts
from mcsim.core._types cimport Quat, Twist
from mcsim.reduced._links cimport Link
from mcsim.reduced._motion cimport TreeMotion
from mcsim.reduced._responses cimport TreeResponses
from mcsim.reduced._tree_energy cimport TreeEnergy
from mcsim.reduced._tree_forces cimport TreeForces
from mcsim.reduced._tree_poses cimport TreePoses
from mcsim.solve._generalized cimport GeneralizedRows
from mcsim.state._row cimport Row

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
    cdef TreeResponses responses         # H^-1 J' of them
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
    cdef double* shown                   # q and qd that the bodies stand for
    # (bodies, 6) and those that they were given then: what differs was written by the user
    cdef readonly object shown_twists
    cdef Twist* shown_twist
    cdef list pitched                    # (name, place in q, place in qd) of joints by yaw, pitch and roll
    cdef object moved                    # (bodies,) bool: whether the tree gives them theirs
    cdef double* backup                  # q and qd before the step
    cdef object kept_faces
    cdef Quat* faces                     # (bodies,) to whose side their quaternions keep, whatever is written into q: those
    cdef long long faces_step            # that they had after so many steps; other than made now: those that they have
    cdef bint leading                    # whether there are kinematic bodies, whose arrays the tree follows
    cdef bint pushed                     # whether any body has a force or damping
    cdef int32_t* busy                   # (trees,): 1 where rows act on them, 3 where those of contacts do
    cdef int32_t* tied                   # (trees,): whether rows that close loops do
    cdef object kept_of_tree, kept_of_trees, kept_bonds, coordinates
    cdef int32_t* bond                   # (trees,) of those that loops tie the first that each is tied to, else -1
    cdef int32_t* bonds                  # (bodies,) the same of their trees; the world's before the first

    cdef void rest_trees(self) noexcept nogil
    cdef void carry_trees(self, double h) noexcept nogil
    cdef void carry_root(self, const Link* root, double* x, double h, bint speed) noexcept nogil
    cdef void give_wrenches(self, int32_t resting) noexcept nogil
    cdef bint is_driven(self, Py_ssize_t k) noexcept nogil
    cdef void keep_carried(self) noexcept nogil
    cdef void sum_carried(self) noexcept nogil
    cdef void show(self, bint moved) noexcept nogil
    cdef void face(self) noexcept nogil
    cdef bint is_stale(self) noexcept nogil
    cdef bint is_at(self, const double* state) noexcept nogil
    cdef void show_twists(self) noexcept nogil
    cdef void keep_twists(self) noexcept nogil
    cdef void give_twists(self) noexcept nogil
    cdef void sum_forces(self) noexcept nogil
    cdef void pass_failure(self) noexcept with gil
    cdef void refuse_pitch(self) noexcept with gil
    cdef double energy_of(self, const Row* row) noexcept nogil
    cdef int project(self) noexcept nogil
    cdef int project_row(self, Py_ssize_t i, int side, int32_t body_a, int32_t body_b) noexcept nogil
    cdef void find_busy(self) noexcept nogil
    cdef int32_t engage(self, int32_t body, bint ties, int32_t rows, int32_t first) noexcept nogil
    cdef int32_t first_of(self, int32_t tree) noexcept nogil
    cdef bint is_stirred(self, int32_t body) noexcept nogil
    cdef void write_joints(self) noexcept nogil
    cdef void refresh(self) noexcept nogil
