"""The own rows of a world's joints, eight joints at a time."""

from libc.stdint cimport int8_t, int32_t
from mcsim.core._types cimport Twist
from mcsim.state._bodies cimport Bodies
from mcsim.state._joint cimport Joint
from mcsim.state._settings cimport Settings
from mcsim.wide._joint_blocks cimport (BallJointRows, BallRowKernels, JointBlock, JointKernels, JointRule, SourceRows,
                                        WideRow)

cdef class WideJoints:
    cdef const JointKernels* kernels
    cdef const BallRowKernels* ball_kernels
    cdef object kept                    # the arrays behind the pointers
    cdef JointBlock* blocks
    cdef WideRow* rows
    cdef SourceRows source              # as others read and write them
    cdef BallJointRows* balls
    cdef readonly Py_ssize_t count      # blocks of joints
    cdef readonly Py_ssize_t ball_count  # and of plain ball joints, which have no rows
    cdef readonly Py_ssize_t row_count  # of all joints here
    cdef readonly Py_ssize_t awake_row_count    # of those that do not sleep
    cdef JointRule rule
    cdef double part                    # of an impulse, in its first half
    cdef int32_t* order                 # all joints by colour and size, and a number for both of each; those that are
    cdef int32_t* kind                  # no plain ball joints
    cdef Py_ssize_t all_joints
    cdef int32_t* ball_order
    cdef int32_t* ball_kind
    cdef Py_ssize_t all_balls

    cdef void choose(self, const Joint* joints, const Bodies* bodies, const int8_t* asleep) noexcept nogil
    cdef void pack(self, const Joint* joints, const Bodies* bodies, const int8_t* asleep) noexcept nogil
    cdef Py_ssize_t take(self, const Joint* joints, const Bodies* bodies, const int8_t* asleep, const int32_t* order,
                         const int32_t* kind, Py_ssize_t total, Py_ssize_t first, int32_t* group,
                         int* count) noexcept nogil
    cdef _lanes(self, const char* block, Py_ssize_t count, Py_ssize_t size)
    cdef void load(self, Joint* joints, const Bodies* bodies) noexcept nogil
    cdef void refresh(self, const Bodies* bodies, const Settings* settings) noexcept nogil
    cdef void warm_start(self, Twist* twist, const Settings* settings, bint ended) noexcept nogil
    cdef void give_back(self, Twist* twist) noexcept nogil
    cdef double sweep(self, Twist* twist, int relaxed) noexcept nogil
    cdef double residual(self, const Twist* twist, int relaxed) noexcept nogil
    cdef void store(self) noexcept nogil
