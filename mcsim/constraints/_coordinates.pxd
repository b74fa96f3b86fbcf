"""The free coordinates of joints: measured at the present poses, their turns counted, and foreseen."""

from mcsim.constraints._joint_frames cimport AxisGeometry, JointFrames
from mcsim.constraints._joint_lists cimport JointLists
from mcsim.state._bodies cimport Bodies
from mcsim.state._joint cimport Joint
from mcsim.state._row cimport Row
from mcsim.state._settings cimport Settings

cdef void measure_axes(Joint* joint, const JointFrames* f, AxisGeometry* axes) noexcept nogil
cdef int list_axes(Joint* joint, const Bodies* bodies, Row* rows) noexcept nogil
cdef void measure_joints(Joint* joints, Py_ssize_t count, const Bodies* bodies) noexcept nogil
cdef bint turns_fast(const Joint* joint, const Bodies* bodies, const Settings* settings) noexcept nogil
cdef void count_turns(Joint* joint, const Bodies* bodies) noexcept nogil
cdef void foresee_turns(Joint* joints, const JointLists* lists, const Bodies* bodies, double ahead) noexcept nogil
cdef double spring_energy(Joint* joints, Py_ssize_t count, const Bodies* bodies) noexcept nogil
