"""Joints to rows: the verbs that the pipeline calls. The mathematics of each joint stands in its own file."""

from libc.stdint cimport int8_t, int32_t
from mcsim.constraints._joint_lists cimport JointLists
from mcsim.core._types cimport Twist
from mcsim.state._bodies cimport Bodies
from mcsim.state._joint cimport Joint
from mcsim.state._row cimport JointRows, Row
from mcsim.state._settings cimport Settings

cdef bint has_bounded_rows(const Joint* joint) noexcept nogil
cdef bint may_have_rows(const Joint* joint) noexcept nogil
cdef void find_bounded(const Joint* joints, Py_ssize_t count, const int32_t* group, int32_t* first,
                       Py_ssize_t groups) noexcept nogil
cdef bint is_bounded_now(const Joint* joint) noexcept nogil
cdef bint has_position_motor(const Joint* joint) noexcept nogil
cdef Py_ssize_t choose_joints(Joint* joints, Py_ssize_t count, const Bodies* bodies, const int8_t* asleep,
                              int32_t* awake) noexcept nogil
cdef Py_ssize_t layout_joints(Joint* joints, const int32_t* awake, Py_ssize_t count, const Bodies* bodies,
                              const Settings* settings, Row* rows, Py_ssize_t capacity, bint own,
                              const int32_t* kept, const int8_t* taken, const int8_t* struck,
                              JointLists* lists) noexcept nogil
cdef Py_ssize_t own_sizes(const Joint* joints, Py_ssize_t count, const Bodies* bodies, const Settings* settings,
                          int32_t* sizes) noexcept nogil
cdef void refresh_joints(Joint* joints, const int32_t* awake, Py_ssize_t count, const Bodies* bodies,
                         const Settings* settings, Row* rows, bint own, const int32_t* kept) noexcept nogil
cdef void refresh_listed(Joint* joints, JointLists* lists, const Bodies* bodies, const Settings* settings, Row* rows,
                         bint own, const int32_t* kept) noexcept nogil
cdef void aim_springs(Joint* joints, Row* rows, Py_ssize_t count, const Twist* twist,
                      const Settings* settings) noexcept nogil
cdef void take_moved(Joint* joints, Row* rows, Py_ssize_t count, const Twist* twist,
                     const Settings* settings) noexcept nogil
cdef bint is_shared(const Row* row, const Joint* joints, const Settings* settings) noexcept nogil
cdef void bound_spring(Row* row, const Joint* joints, const Settings* settings, double part) noexcept nogil
cdef void refresh_border(Joint* joints, const int32_t* awake, Py_ssize_t count, const Bodies* bodies,
                         const Settings* settings, Row* rows) noexcept nogil
cdef double border_error(const Joint* joints, Py_ssize_t j, int i, const Bodies* bodies, const Settings* settings,
                         double ahead) noexcept nogil
cdef void store_joints(Joint* joints, const int32_t* awake, Py_ssize_t count, const Bodies* bodies,
                       const Settings* settings,
                       const Row* rows, const JointRows* own) noexcept nogil
cdef int break_joints(Joint* joints, const int32_t* awake, Py_ssize_t count, double h) noexcept nogil
cdef void joint_errors(const Joint* joints, Py_ssize_t count, const Bodies* bodies, double* out) noexcept nogil
