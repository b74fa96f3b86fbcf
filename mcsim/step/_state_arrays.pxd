"""The arrays of one world's bodies and joints as C pointers."""

from libc.stdint cimport int32_t, int64_t
from mcsim.constraints._joint_lists cimport JointLists
from mcsim.core._noted cimport Noted
from mcsim.state._bodies cimport Bodies
from mcsim.state._body_watch cimport BodyWatch
from mcsim.state._closing_up cimport Rows
from mcsim.state._joint cimport JOINT_AXES, Joint
from mcsim.state._settings cimport Settings

# What a step may change of a joint before it is known to be sound; impulses are stored later (_step.pyx). Joints are
# long, and little of them is read here.
ctypedef struct JointKept:
    int32_t row_begin
    int32_t row_count
    int32_t constraint_count
    int32_t active_limits
    int32_t held
    double position[JOINT_AXES]
    double moved[JOINT_AXES]
    double motion[JOINT_AXES][6]     # of axes that have one


cdef class StateArrays:
    cdef Bodies bodies
    cdef Joint* joints
    cdef Py_ssize_t joint_count
    cdef readonly Py_ssize_t room       # for how many bodies there is memory
    cdef Settings settings
    cdef Noted noted
    cdef readonly BodyWatch watch       # who else may have written into the bodies
    cdef readonly object kept_sizes
    cdef double* sizes                  # of bodies: how far they reach from their centres, or their radius of gyration [m]
    cdef JointLists joint_lists         # of this step
    cdef object kept_lists
    cdef object kept                    # the arrays that the pointers are into
    cdef readonly Py_ssize_t failed_body
    cdef readonly bint failed_far       # it is not that its state is not finite: numbers do not tell its points apart
    cdef object backup
    cdef double* backup_pointers[6]
    cdef int64_t* backup_island
    cdef object kept_joints
    cdef JointKept* joints_kept

    cdef bint edit(self, bodies, Rows rows, fresh, sizes, woken) except -1
    cdef int check_state(self) noexcept nogil
    cdef void sift(self) noexcept nogil
    cdef bint differs(self, Py_ssize_t i, Py_ssize_t count) noexcept nogil
    cdef int check_written(self) noexcept nogil
    cdef bint admit(self, Py_ssize_t i) noexcept nogil
    cdef int check_moving(self) noexcept nogil
    cdef bint sound(self, Py_ssize_t i) noexcept nogil
    cdef void save_poses(self) noexcept nogil
    cdef Bodies bodies_before(self) noexcept nogil
    cdef void save_body(self, Py_ssize_t i) noexcept nogil
    cdef void save_backup(self) noexcept nogil
    cdef Joint* joints_copied(self) noexcept nogil
    cdef void restore_backup(self) noexcept nogil
    cdef void clear_forces(self) noexcept nogil
