"""Which bodies and joints the direct joint solver has to do with."""

from libc.stdint cimport int8_t, int32_t
from mcsim._pose_calls cimport PoseCalls
from mcsim.constraints._stiffness cimport Loads
from mcsim.core._types cimport Mat3, Quat, Twist, Vec3
from mcsim.solve._border cimport Border
from mcsim.solve._guard cimport EnergyGuard
from mcsim.solve._tree cimport JointTree
from mcsim.stabilize._displace cimport Displacement
from mcsim.state._layout cimport Bodies, Joint, Settings
from mcsim.wide._angles cimport WideAngles
from mcsim.wide._herds cimport Herds

# Joints that the drift leaves wider open than this [m, rad] are closed by moving bodies.
cdef inline double close_enough() noexcept nogil:
    return 1e-7


cdef class Jointed:
    cdef readonly JointTree tree
    cdef readonly Border border         # gears and joints of the user's own
    cdef readonly Herds herds           # articulations that stand side by side, or None
    cdef readonly WideAngles angles     # friction and limits, those that are no rows
    cdef int8_t* asleep                 # of each body
    cdef int8_t* idle                   # of each joint
    cdef bint redundant                 # rows may depend on each other: there are loops, or a border
    cdef bint cold                      # and so may have impulses that do nothing: they start from 0
    cdef PoseCalls calls                # what their errors need of the user
    cdef Bodies* bodies
    cdef Joint* joints
    cdef const Settings* settings
    cdef object kept
    cdef int32_t* linked                # joints that are not taken several at a time (Balls)
    cdef Py_ssize_t linked_count
    cdef Py_ssize_t awake_rows          # rows of the tree that do not sleep
    cdef Py_ssize_t awake_beside        # records of the border's
    cdef int32_t* all_linked
    cdef Py_ssize_t all_linked_count
    cdef int32_t* chosen                # the bodies that joints move, and the others, of those that do not sleep
    cdef Py_ssize_t count
    cdef int32_t* others
    cdef Py_ssize_t other_count
    cdef int32_t* all_chosen            # the same, and `free`, of all bodies
    cdef Py_ssize_t all_count
    cdef int32_t* all_others
    cdef Py_ssize_t all_other_count
    cdef int32_t* all_free
    cdef Py_ssize_t all_free_count
    cdef int32_t* free_number           # of each of them: which it is of those awake
    cdef int8_t* herded                 # of a body: whether it moves in a herd
    cdef int32_t* outside               # which of the chosen bodies do not
    cdef Py_ssize_t outside_count
    cdef Vec3* position                 # of the chosen bodies before the drift
    cdef Quat* orientation
    cdef Twist* twist                   # of the chosen bodies, and impulses, before a solve that may be undone
    cdef double* impulse
    cdef double* bias                   # put aside while the border is probed
    cdef Loads loads
    cdef int32_t* group                 # of a body: its articulation, -1 of one that is not dynamic
    cdef int32_t* touched               # of an articulation: whether it touches anything
    cdef Py_ssize_t group_count
    cdef bint stiffening                # some body is stiffened
    cdef EnergyGuard guard
    cdef Displacement displacement      # of projections
    cdef object kept_free
    cdef int32_t* free                  # of each chosen body: its free articulation, -1 if it hangs on what is not
                                        # dynamic
    cdef Py_ssize_t free_count
    cdef object kept_swings
    cdef int32_t* swings                # of a body: whether its load turns it: where no joint holds its direction, and
                                        # where there are no loops
    cdef int32_t* strained              # of an articulation: whether it is strained beyond division
    cdef Vec3* excess                   # spin to be given back, by free articulations [N m s]
    cdef Vec3* center
    cdef Mat3* inertia
    cdef object kept_starts
    cdef Twist* started                 # of all bodies, before impulses that are guessed act
    cdef Twist* guessed                 # and with them
    cdef double* before                 # kinetic energy of each articulation then [J]
    cdef double* after
    cdef int8_t* asked                  # of each body: is it in one whose energy the guess raises? [-1]: the world
    cdef int8_t* joined                 # of each body: is it one that joints move?
    cdef double enough                  # joints closer than this count as closed [m, rad]

    cdef void attach(self, Bodies* bodies, Joint* joints, const Settings* settings, PoseCalls calls) noexcept
    cdef void choose(self, const int8_t* asleep) noexcept nogil
    cdef void arrange(self, bint herding) noexcept nogil
    cdef void _choose_bodies(self, const int8_t* asleep) noexcept nogil
