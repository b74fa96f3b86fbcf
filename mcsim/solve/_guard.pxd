"""What the joints' impulses do to the energy of each articulation."""

from libc.stdint cimport int8_t, int32_t
from mcsim.core._types cimport Twist, Vec3
from mcsim.solve._border cimport Border
from mcsim.state._layout cimport Bodies, Joint, JointRows, Row

cdef class EnergyGuard:
    cdef Py_ssize_t count               # articulations that are watched
    cdef object kept
    cdef int32_t* awake                 # those that do not sleep
    cdef Py_ssize_t awake_count
    cdef int32_t* joint_begin           # their joints: joints[joint_begin[k] : joint_begin[k + 1]]
    cdef int32_t* joints
    cdef int32_t* body_begin            # their dynamic bodies
    cdef int32_t* bodies
    cdef int32_t* held                  # a joint to a body that does not move
    cdef double* rate                   # J v of the joints' own rows before the second pass [m/s, rad/s]
    cdef Border border
    cdef double* border_rate            # J v of its rows before the second pass
    cdef double* border_impulse         # and their impulses
    cdef double* bounded_rate           # of their bounded rows before a pass
    cdef double* bounded_impulse        # and their impulses
    cdef Py_ssize_t row_capacity

    cdef int reserve(self, Py_ssize_t rows) except -1
    cdef void choose(self, const int8_t* asleep) noexcept nogil
    cdef void begin(self, const Row* rows, Py_ssize_t count, const Twist* twist, bint fresh) noexcept nogil
    cdef void end(self, const Row* rows, Joint* joints, Py_ssize_t count, const Twist* twist) noexcept nogil
    cdef void closed(self, const JointRows* rows, Joint* joints, const Twist* twist) noexcept nogil
    cdef void begin_relax(self, const JointRows* rows, const Joint* joints, const Twist* twist) noexcept nogil
    cdef void relaxed(self, const JointRows* rows, Joint* joints) noexcept nogil
    cdef Py_ssize_t border_joint(self, const Joint* joints, Py_ssize_t k) noexcept nogil
    cdef void settle(self, Joint* joints, Bodies* bodies, double h, long long step) noexcept nogil
    cdef void weigh(self, Joint* joints, const Bodies* bodies, double sign) noexcept nogil
    cdef double spare_energy(self, Py_ssize_t k, const Bodies* bodies, Twist* whole, Vec3* center) noexcept nogil
    cdef void slow(self, Py_ssize_t k, Bodies* bodies, const Twist* whole, Vec3 center, double factor) noexcept nogil
