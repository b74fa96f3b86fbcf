"""Drifts of articulations whose joints' forces turn bodies faster than a substep resolves, energy and momenta kept."""

from libc.stdint cimport int32_t
from mcsim.constraints._joint_frames cimport JointFrames
from mcsim.core._types cimport Mat3, Quat, Twist, Vec3
from mcsim.direct._flight_rows cimport FlightRows
from mcsim.direct._whole_motion cimport WholeMotion
from mcsim.solve._tree cimport Articulation, JointTree
from mcsim.state._bodies cimport Bodies
from mcsim.state._joint cimport Joint
from mcsim.state._settings cimport Settings

# A body on its way through a piece of a drift.
ctypedef struct Flier:
    Vec3 position                        # at the piece's start
    Quat orientation
    Vec3 velocity
    Vec3 spin
    Twist start                          # with half of the piece's forces in it
    Vec3 turning                         # its angular velocity in body axes
    Vec3 momentum                        # I w, world axes [N m s]
    Twist sum                            # of the joints' impulses: linear, and about the centre of mass
    Twist step                           # what Newton's step adds to the mean velocity by the momentum alone
    Mat3 stiffness                       # of the joints' forces, times the piece's length [N m s/rad]

cdef class Flights:
    cdef JointTree tree
    cdef FlightRows flight_rows
    cdef WholeMotion motion
    cdef Bodies* bodies
    cdef const Joint* joints
    cdef const Settings* settings
    cdef object kept
    cdef int32_t* member
    cdef int32_t* driven
    cdef Flier* fliers                   # by body, the world's before the first
    cdef Twist* twists                   # likewise, put aside
    cdef Mat3* inertia                   # by body, with its stiffness, as Newton's method last had it [kg m2]
    cdef const Vec3* driven_position     # by place in `driven`, at the drift's start
    cdef const Quat* driven_orientation
    cdef JointFrames* frames             # of each joint at the piece's start
    cdef double* opening                 # (rows,) errors at a piece's end that it aims at [m, rad]
    cdef double* residual
    cdef double* warm                    # half of the impulses that a piece begins with
    cdef bint forced                     # whether gravity and forces act within the drift
    cdef double* sum                     # half of the joints' impulses over the drift
    cdef double* held                    # those that held velocities at its start and between its pieces
    cdef readonly long long pieces       # since the beginning
    cdef readonly long long corrections
    cdef readonly long long given_up

    cdef void attach(self, Bodies* bodies, const Joint* joints, const Settings* settings, const Vec3* driven_position,
                     const Quat* driven_orientation) noexcept
    cdef double fly(self, const Articulation* a, double h, int coarsest, bint swept) noexcept nogil
    cdef void begin_drift(self, const Articulation* a, double h, bint swept) noexcept nogil
    cdef double end_piece(self, const Articulation* a, double h, double ahead) noexcept nogil
    cdef void begin_piece(self, const Articulation* a, double h, double ahead, double end) noexcept nogil
    cdef void restart(self, const Articulation* a, double ahead) noexcept nogil
    cdef double try_piece(self, const Articulation* a, double h, double ahead) noexcept nogil
    cdef void limit(self, const Articulation* a, double energy, double h) noexcept nogil
    cdef double drift_held(self, const Articulation* a, double h, double ahead, double end) noexcept nogil
    cdef void move(self, const Articulation* a, double h, double ahead) noexcept nogil
    cdef double write_mean_rows(self, const Articulation* a, double h, double ahead) noexcept nogil
    cdef double weigh(self, const Articulation* a, double h, bint renew) noexcept nogil
    cdef void correct(self, const Articulation* a, double h, bint renew) noexcept nogil
    cdef void add_impulse(self, int i, Vec3 force, Vec3 moment, Vec3 arm) noexcept nogil
    cdef void accept(self, const Articulation* a, Vec3 velocity, Vec3 turning) noexcept nogil
    cdef void kick(self, const Articulation* a, double h) noexcept nogil
    cdef void place_driven(self, const Articulation* a, double ahead) noexcept nogil
