"""Position solves: rows that move poses and not velocities, and their buffers. See `_displace.pyx`."""

from libc.stdint cimport int32_t
from mcsim.core._types cimport Mat3, Quat, Twist, Vec3
from mcsim.state._bodies cimport Bodies
from mcsim.state._row cimport Row
from mcsim.state._settings cimport Settings

# How often a displacement is made shorter.
cdef enum:
    MOST_SHORTER = 8

# What a position solve borrows of a row.
ctypedef struct RowLoan:
    double impulse
    double bias
    double mass
    double lower
    double upper
    double friction
    double error                 # of the row before the displacement [m, rad]
    double asked                 # the error that it goes by
    double aimed                 # what the displacement is to change it by: J d

# Bodies that rows tie together, at their root.
ctypedef struct Together:
    int32_t held                 # 1: something that does not move by itself holds them
    int32_t whole                # 1: what they get back of momentum is theirs as a whole
    int32_t left                 # 1: the displacement did less than half of what it was to
    double moved                 # sum of m |d|
    double mass
    Vec3 center                  # of mass; first the sum of m x
    Vec3 lost                    # angular momentum that their displacement takes
    Mat3 inertia                 # about the centre
    # sums of (J d)^2 / (J M^-1 J'), of the same of what came beside J d, and of what is rounding
    double aimed
    double bent
    double rounding
    double part                  # by which the displacement is made shorter

cdef class Displacement:
    cdef Twist* twist                    # displacement of each body in one solve [m, rad]; row -1, the world, stays
                                         # zero
    cdef Twist* carried                  # scratch of carry_momentum [m/s, rad/s]
    cdef int32_t* parent                 # of bodies that rows tie together
    cdef Together* together
    cdef Vec3* start_position            # the poses that the displacement starts from
    cdef Quat* start_orientation
    cdef RowLoan* loans
    cdef Row* trial                      # the rows at a trial pose, beside those that the solve goes by
    cdef Py_ssize_t body_count
    cdef const int32_t* chosen           # the bodies that it may move; NULL: all
    cdef Py_ssize_t count
    cdef Py_ssize_t row_capacity
    cdef object kept

    # Room for `rows` rows; the only one that allocates.
    cdef int reserve(self, Py_ssize_t rows) except -1

    # Begin: borrow the rows' impulses (0 from here), still those that have no position error, start from the present
    # poses.
    cdef void begin(self, Row* rows, Py_ssize_t count, const Bodies* bodies) noexcept nogil
    cdef void start_here(self, const Bodies* bodies) noexcept nogil
    cdef void clear(self, const Bodies* bodies) noexcept nogil

    # The rows' biases [m, rad] by the stabilization's name.
    cdef void aim_split(self, Row* rows, Py_ssize_t count, const Bodies* bodies,
                        const Settings* settings) noexcept nogil
    cdef void aim_projection(self, Row* rows, Py_ssize_t count, const Settings* settings) noexcept nogil
    cdef void aim_ggl(self, Row* rows, Py_ssize_t count, const Settings* settings) noexcept nogil

    # Poses = start, moved by the displacement.
    cdef void move(self, Bodies* bodies) noexcept nogil

    # Before the move: the rows' errors at the poses that it starts from, where these are not those of `begin`, and what
    # the displacement is to change them by.
    cdef void keep_errors(self, const Row* rows, Py_ssize_t count) noexcept nogil
    cdef void expect(self, Row* rows, Py_ssize_t count, const Bodies* bodies) noexcept nogil
    # After it, with rows at the moved poses: shorter, where it went too far for its straight lines. -> whether any is
    cdef bint shorten(self, Row* rows, const Row* moved, Py_ssize_t count, const Bodies* bodies, bint last) noexcept nogil
    cdef void find_left(self, const Row* moved, Py_ssize_t count, const Bodies* bodies, double part) noexcept nogil

    # End: the velocities to the moved poses, then the rows' own impulses back.
    cdef void finish(self, Row* rows, Py_ssize_t count, Bodies* bodies) noexcept nogil
    cdef void carry_spins(self, Bodies* bodies) noexcept nogil
    cdef void carry_orbits(self, const Row* rows, Py_ssize_t count, const Bodies* bodies) noexcept nogil
    cdef void turn_groups(self, const Bodies* bodies) noexcept nogil
    cdef void begin_groups(self) noexcept nogil
    cdef void tie(self, const Bodies* bodies, int a, int b) noexcept nogil
    cdef void tie_rows(self, const Row* rows, Py_ssize_t count, const Bodies* bodies) noexcept nogil
    cdef void tie_row(self, const Row* row, const Bodies* bodies) noexcept nogil
    cdef int32_t root(self, int32_t i) noexcept nogil
    cdef int32_t group(self, const Row* row, const Bodies* bodies) noexcept nogil
    cdef void scale_groups(self, Row* rows, Py_ssize_t count, const Bodies* bodies) noexcept nogil
