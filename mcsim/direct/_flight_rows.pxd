"""Rows of joints that fly."""

from mcsim.constraints._joint_frames cimport JointFrames
from mcsim.solve._tree cimport Articulation, JointTree
from mcsim.state._bodies cimport Bodies
from mcsim.state._joint cimport Joint
from mcsim.state._joint_types cimport BALL
from mcsim.state._row cimport Row
from mcsim.state._settings cimport Settings


cdef inline bint is_point(const Joint* joint, int n) noexcept nogil:
    """A plain ball joint, the commonest: its frames are its points."""
    return joint.type == BALL and n == 3


cdef void constrain_flight(Row* block, const Joint* joint, const JointFrames* f, int n, double time, double ahead,
                           double* rates) noexcept nogil


cdef class FlightRows:
    cdef JointTree tree
    cdef const Bodies* bodies
    cdef const Joint* joints
    cdef const Settings* settings

    cdef void attach(self, const Bodies* bodies, const Joint* joints, const Settings* settings) noexcept
    cdef int measure(self, int j, double ahead, JointFrames* f, Row* block, double* rates) noexcept nogil
    cdef double write_rows(self, const Articulation* a, double ahead) noexcept nogil
    cdef void hold(self, const Articulation* a, double* held) noexcept nogil
