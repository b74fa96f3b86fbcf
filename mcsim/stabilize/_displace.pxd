"""Position solves: rows that move poses and not velocities, and their buffers. See `_displace.pyx`."""

from libc.stdint cimport int32_t
from mcsim.core._types cimport Quat, Twist, Vec3
from mcsim.state._layout cimport Bodies, Row, Settings

# What a position solve borrows of a row.
ctypedef struct RowLoan:
    double impulse
    double bias
    double mass
    double friction

cdef class Displacement:
    cdef Twist* twist                    # displacement of each body in one solve [m, rad]; row -1, the world, stays
                                         # zero
    cdef Twist* carried                  # scratch of carry_momentum [m/s, rad/s]
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

    # End: the velocities to the moved poses, then the rows' own impulses back.
    cdef void finish(self, Row* rows, Py_ssize_t count, Bodies* bodies) noexcept nogil
    cdef void carry_spins(self, Bodies* bodies) noexcept nogil
    cdef void carry_orbits(self, const Row* rows, Py_ssize_t count, const Bodies* bodies) noexcept nogil
    cdef void carry_orbit(self, const Bodies* bodies, int a, int b, Vec3 f) noexcept nogil
    cdef void turn_pair(self, const Bodies* bodies, int a, int b, Vec3 momentum) noexcept nogil
