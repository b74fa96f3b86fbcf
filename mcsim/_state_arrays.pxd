"""The arrays of one world's bodies and joints as C pointers."""

from libc.stdint cimport int32_t, int64_t
from mcsim.constraints._limits cimport JointLists
from mcsim.state._layout cimport Bodies, Joint

cdef class StateArrays:
    cdef Bodies bodies
    cdef Joint* joints
    cdef Py_ssize_t joint_count
    cdef int32_t* awake_joints          # those that do not sleep, ascending
    cdef Py_ssize_t awake_joint_count
    cdef object kept_awake
    cdef JointLists joint_lists         # of this step
    cdef object kept_lists
    cdef object kept                    # the arrays that the pointers are into
    cdef readonly Py_ssize_t failed_body
    cdef object backup
    cdef double* backup_pointers[6]
    cdef int64_t* backup_island

    cdef int check_state(self) noexcept nogil
    cdef int check_moving(self) noexcept nogil
    cdef bint sound(self, Py_ssize_t i) noexcept nogil
    cdef void save_backup(self) noexcept nogil
    cdef Joint* joints_copied(self) noexcept nogil
    cdef void restore_backup(self) noexcept nogil
    cdef void clear_forces(self) noexcept nogil
