"""Which bodies and joints the direct joint solver has to do with."""

from libc.stdint cimport int32_t, int8_t

from mcsim.constraints._carried cimport Carried
from mcsim.constraints._stiffness cimport Loads
from mcsim.core._noted cimport Noted
from mcsim.core._types cimport Quat, Twist, Vec3
from mcsim.direct._flights cimport Flights
from mcsim.solve._border cimport Border
from mcsim.solve._held cimport HeldRows
from mcsim.solve._held_links cimport HeldLinks
from mcsim.solve._tree cimport Articulation, JointTree
from mcsim.solve._warm_starts cimport WarmStarts
from mcsim.stabilize._displace cimport Displacement
from mcsim.state._bodies cimport Bodies
from mcsim.state._joint cimport Joint
from mcsim.state._manifold cimport Manifold
from mcsim.state._pose_callbacks cimport PoseCallbacks
from mcsim.state._row cimport Row
from mcsim.state._settings cimport Settings
from mcsim.wide._batches cimport Batch, Batches
from mcsim.wide._joint_bounds cimport WideJointBounds


cdef double LOOP_GAP, MOST_PROXIMAL, SOLVED, STRAIN, WIDEST_GAP

cdef enum:
    MOST_CORRECTIONS = 24    # of a drift: what those do not close flies


cdef inline bint may_be_redundant(const Articulation* a) noexcept nogil:
    return a.loops > 0 or a.border < a.border_end

cdef class ArticulationState:
    cdef readonly JointTree tree
    cdef readonly Border border         # gears and joints of the user's own
    cdef readonly Batches batches       # articulations that stand side by side, or None
    cdef readonly Flights flights
    cdef Carried carried                # how hard its joints make it to move a coordinate
    cdef readonly WideJointBounds joint_bounds  # friction and limits, those that are no rows
    cdef Displacement displacement      # of projections
    cdef PoseCallbacks calls            # what errors of the border need of the user
    cdef Noted noted                    # of the world
    cdef Bodies* bodies
    cdef Joint* joints
    cdef const Settings* settings
    cdef object kept

    # Articulations, and what is known of each.
    cdef Articulation* articulation
    cdef Py_ssize_t articulation_count
    cdef int32_t* group                 # of a body: its articulation, -1 of one that is not dynamic, or the world
    cdef int8_t* sleeps
    cdef int8_t* may_fly
    cdef int8_t* may_batch
    cdef int8_t* here                   # it stands in a batch now
    cdef int8_t* swept                  # it has rows in the sweeps
    cdef int8_t* touched                # a contact is among them
    cdef double* heaviest               # [1/kg] the inverse of the heaviest mass in it
    cdef double* lightest               # [1/kg] of what contacts push is asked how it answers where it is lighter than this
    cdef object kept_answers
    cdef double* answers                # (bodies, 36) how each answers to forces with all joints holding: find_answers()
    cdef int8_t* again                  # a further sweep has changed a body of it; before them: its `answers` are found
    cdef int8_t* cold                   # impulses that do nothing are possible: they start from 0
    cdef int8_t* closed                 # the last drift ended with closed joints
    cdef int8_t* flew                   # when lanes were last chosen: it flew
    cdef int8_t* left                   # of those in batches: it is not closed and flies
    cdef int8_t* bounded                # 1: its joints may have bounded rows; 2: some have; 3: a position motor
    cdef int8_t* holds                  # these are solved with the joints in them
    cdef int8_t* doubtful               # the warm start of its impulses is kept in part
    cdef int8_t* flies                  # its drifts keep energy (_flights.pyx)
    cdef int8_t* given                  # time, or a function of the user's, moves one of its joints
    cdef int8_t* falls                  # that of its last drift is much less
    cdef int8_t* accounted              # gravity and the user's forces alone do work on it in this step
    cdef double* strain                 # the largest load of one of its bodies [1/s^2]
    cdef double* near                   # how far its joints may be open at the end of a drift [m, rad]
    cdef double* open                   # and are at the present poses
    cdef double* proximal               # part of the diagonal of rows that may be redundant
    cdef double* kinetic                # and energy less the forces' work from the origin, as the step begins [J]
    cdef double* energy
    cdef double* last_kinetic           # the same at its end
    cdef double* last_energy
    cdef double* highest                # its drifts' largest kinetic energy in this step, where they were not flown [J]
    cdef double* sizes                  # of the articulations [m]
    cdef double* solved                 # residual that ends proximal steps [m/s, rad/s]
    cdef int32_t* alone                 # those awake that are in no batch
    cdef Py_ssize_t alone_count
    cdef int32_t* awake                 # all that are awake
    cdef Py_ssize_t awake_count
    cdef double least_enough            # how far the joints of any may be open [m, rad]

    # Joints, articulation by articulation as these name them.
    cdef int32_t* linked                # those that are not taken several at a time (DirectBalls)
    cdef int8_t* idle                   # of each joint: whether it sleeps
    cdef int8_t* bounds_alone           # or has its bounded rows apart from others'
    cdef int32_t* asked                 # of each articulation: its first joint that may have bounded rows (Joint.held)
    cdef HeldRows held_rows             # of articulations that hold them
    cdef HeldLinks held_links           # and of those whose bounded rows are all at links of trees
    cdef int8_t* by_links               # which these are
    cdef Py_ssize_t awake_rows          # rows of the tree that do not sleep
    cdef Py_ssize_t awake_beside        # records of the border's
    cdef double* impulse                # (rows,) put aside; before a solve that may be undone; zeros
    cdef double* kept_impulse
    cdef double* nothing
    cdef double* contrary               # of the rows' biases: by which they contradict each other, in a pass of the sweeps
    cdef double* base                   # what of the impulses is no warm start
    cdef double* flown                  # half of the joints' impulses in the last flight

    # Bodies, likewise, and by the places that they have there what is kept of them.
    cdef int32_t* member
    cdef int32_t* driven
    cdef Vec3* position                 # before the drift
    cdef Quat* orientation
    cdef Vec3* driven_position
    cdef Quat* driven_orientation
    cdef Twist* twist                   # before a solve that may be undone
    cdef Twist* start                   # before the joints' impulses of a drift
    cdef int32_t* others                # bodies awake that no joint moves
    cdef Py_ssize_t other_count
    cdef int32_t* all_others
    cdef Py_ssize_t all_other_count
    cdef int8_t* joined                 # of each body: is it one that joints move?
    cdef WarmStarts warm_starts         # of what rows, contacts and joints tie to articulations with rows in the sweeps
    cdef int32_t* weighed               # the bodies of that
    cdef Py_ssize_t weighed_count
    cdef int8_t* watched                # of a body that stands for its group (WarmStarts): is an articulation in it swept?
    cdef int32_t* driver                # of such a body: what its group is driven by
    cdef double* kept_part              # of each body's warm start; [-1]: of the world's, 1
    cdef Twist* probed                  # of all bodies, what an impulse moves
    cdef Twist* started                 # of all bodies, before warm starts act
    cdef Loads loads

    cdef void attach(self, Bodies* bodies, Joint* joints, const Settings* settings, PoseCallbacks calls,
                     Noted noted) noexcept
    cdef void note_left(self, Displacement displacement, const Row* rows, Py_ssize_t count, double part) noexcept nogil
    cdef void choose(self, const int8_t* asleep) noexcept nogil
    cdef void find_touched(self, const Manifold* manifolds, Py_ssize_t count) noexcept nogil
    cdef void release_driven(self) noexcept nogil
    cdef void choose_lanes(self) noexcept nogil
    cdef void arrange(self) noexcept nogil
    cdef bint is_cold(self, int32_t a, int32_t b) noexcept nogil
    cdef double most_open(self, Py_ssize_t g) noexcept nogil
    cdef double batch_way(self, const Batch* batch, int k, int lane) noexcept nogil
    cdef void clear_batches(self, double* x) noexcept nogil
    cdef void keep_start(self, Py_ssize_t g) noexcept nogil
    cdef void keep_twists(self, Py_ssize_t g) noexcept nogil
    cdef void keep_poses(self, Py_ssize_t g) noexcept nogil
    cdef void undo_poses(self, Py_ssize_t g) noexcept nogil


cdef class ArticulationPart:
    cdef readonly ArticulationState state
    cdef JointTree tree
    cdef Border border
    cdef Batches batches
    cdef Noted noted
    cdef Articulation* articulation
    cdef int32_t* member
    cdef Bodies* bodies
    cdef Joint* joints
    cdef const Settings* settings

    cdef void take_state(self) noexcept
