"""How rows that close loops change with the state."""

from libc.stdint cimport int32_t
from mcsim.core._types cimport Twist, Vec3
from mcsim.solve._loop_rows cimport LoopRows
from mcsim.constraints._joint_frames cimport JointFrames
from mcsim.state._joint cimport Joint
from mcsim.state._row cimport Row
from mcsim.step._constraint_set cimport StepContext
from mcsim.step._plain_rows cimport PlainRows
from mcsim.step._row_changes cimport Seen

# Of one end of a joint: which link of the trees its body is, -1: it stands; its velocity and acceleration, less gravity's,
# at p_b, and its centre of mass from there.
ctypedef struct End:
    int32_t link
    Twist velocity
    Twist acceleration
    Vec3 center

cdef class LoopJacobian:
    cdef StepContext context
    cdef PlainRows plain
    cdef LoopRows rows
    cdef object dynamics, kept
    cdef Py_ssize_t nv, link_count
    cdef const int32_t* law              # (joints, 6) of each of a joint's own rows, a RowLaw
    cdef const int32_t* parent           # (links,) as of Link
    cdef const int32_t* first            # where its velocities begin, and where they end
    cdef const int32_t* end
    cdef const int32_t* free             # 1: forces move it
    cdef const int32_t* link_of          # (bodies,) -1: none
    cdef const int32_t* link_at          # (nv,) of each velocity its link
    cdef double* axes                    # (nv, 24) S, and first, second and both of AxisRates, about the link's origin,
                                         # [w; v]
    cdef double* links                   # (links + 1, 15) origin, velocity, acceleration less gravity, [w; v]; the base's
                                         # before the others
    cdef double* by_q                    # (nv, nv) of each column the accelerations' change; so the next
    cdef double* by_qd
    cdef double* push                    # (nv, nv) of each column the change of what loops and springs between points do,
                                         # as forces along coordinates, by q
    cdef double* push_qd                 # and by qd
    cdef double* aim_q                   # (nv, rows) of each column that of J qdd + J' qd at the same qdd
    cdef double* aim_qd
    cdef double* aim_rate                # that of J qd, by q
    cdef int32_t* borne                  # (nv,) bit 1: the velocity moves a, bit 2: b
    cdef object kept_aims

    cdef bint knows(self) noexcept nogil
    cdef int own_row(self, const Row* row) noexcept nogil
    cdef int law_of(self, Py_ssize_t i) noexcept nogil
    cdef Twist axis_at(self, Py_ssize_t j, int which, Vec3 point) noexcept nogil
    cdef void add_forces(self, double* forces) noexcept nogil
    cdef void find(self) noexcept nogil
    cdef void find_joint(self, const Joint* joint, Py_ssize_t begin, Py_ssize_t end) noexcept nogil
    cdef void find_force(self, const JointFrames* f, const End* ends, const int* laws, const double* given,
                         int count) noexcept nogil
    cdef void add_push(self, double* push, const End* end, Vec3 point, Twist force, double part) noexcept nogil
    cdef bint knows_spring(self, const Row* row) noexcept nogil
    cdef double spring_force(self, const Row* row, double* by_length, double* by_rate) noexcept nogil
    cdef void find_springs(self) noexcept nogil
    cdef void find_spring(self, const Row* row, const Joint* joint) noexcept nogil
    cdef void add_force(self, const Row* row, double given, double* forces) noexcept nogil
    cdef void find_ends(self, const Joint* joint, const JointFrames* f, End* ends) noexcept nogil
    cdef void find_end(self, int32_t body, Vec3 point, End* end) noexcept nogil
    cdef void mark(self, int32_t link, int32_t bit) noexcept nogil
    cdef void move(self, Py_ssize_t j, const End* ends, Vec3 point, bint by_q, Seen* seen) noexcept nogil
    cdef void close(self, const double* inverse) noexcept nogil
    cdef void project(self) noexcept nogil
    cdef void close_column(self, const double* inverse, const double* push, const double* aim, double* x) noexcept nogil
