"""The own rows of a world's joints, eight joints at a time."""

from libc.stdint cimport int32_t
from mcsim.core._types cimport Twist
from mcsim.state._layout cimport Bodies, Joint, Settings
from mcsim.wide._joint_blocks cimport (SweptBalls, SweptBallKernels, JointBlock, JointKernels, JointRule, SourceRows,
                                        WideRow)

cdef class WideJoints:
    cdef const JointKernels* kernels
    cdef const SweptBallKernels* ball_kernels
    cdef object kept                    # the arrays behind the pointers
    cdef JointBlock* blocks
    cdef WideRow* rows
    cdef SourceRows source              # as others read and write them
    cdef SweptBalls* balls
    cdef readonly Py_ssize_t count      # blocks of joints
    cdef readonly Py_ssize_t ball_count # and of plain ball joints, which have no rows
    cdef readonly Py_ssize_t row_count  # of all joints here
    cdef JointRule rule

    cdef _lanes(self, const char* block, Py_ssize_t count, Py_ssize_t size)
    cdef void load(self, Joint* joints, const Bodies* bodies) noexcept nogil
    cdef void refresh(self, const Bodies* bodies, const Settings* settings) noexcept nogil
    cdef void warm_start(self, Twist* twist, double part) noexcept nogil
    cdef double sweep(self, Twist* twist, int relaxed) noexcept nogil
    cdef double residual(self, const Twist* twist, int relaxed) noexcept nogil
    cdef void store(self) noexcept nogil
