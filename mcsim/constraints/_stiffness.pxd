"""Geometric stiffness of joints: how their forces turn back the bodies that they hold."""

from libc.stdint cimport int32_t
from mcsim.core._types cimport Mat3, Vec3
from mcsim.state._bodies cimport Bodies
from mcsim.state._joint cimport Joint
from mcsim.state._row cimport JointRows

# Of the bodies that joints hold.
ctypedef struct Loads:
    Py_ssize_t count
    int32_t* chosen
    double* load                 # trace(I^-1 K+) [1/s^2]
    Mat3* stiffness              # K+ by body, the world's before the first [N m/rad]

cdef void add_stiffness(Mat3* k, Vec3 f, Vec3 r) noexcept nogil
cdef void add_joint_stiffness(const Joint* joint, Vec3 f, const Bodies* bodies, Mat3* stiffness) noexcept nogil
cdef double load(const Mat3* inv_inertia, const Mat3* k) noexcept nogil
cdef void load_joints(const Joint* joints, const JointRows* rows, const Bodies* bodies, Loads* loads,
                      double h) noexcept nogil
