"""Geometric stiffness of joints: what their forces add to the inertia of the bodies that they hold."""

from libc.stdint cimport int32_t
from mcsim.core._types cimport Mat3, Vec3
from mcsim.state._layout cimport Bodies, Joint, JointRows

# Of the bodies that joints hold.
ctypedef struct Loads:
    Py_ssize_t count
    int32_t* chosen
    double* load                 # trace(I^-1 K+) [1/s^2]
    double* part                 # of h^2 K+ that adds to the inertia
    Mat3* stiffness              # K+ by body, the world's before the first [N m/rad]

cdef void load_joints(const Joint* joints, const JointRows* rows, const Bodies* bodies, Loads* loads,
                      double h) noexcept nogil
cdef void add_forces(const Joint* joints, const JointRows* rows, const Bodies* bodies, Loads* loads,
                     double h) noexcept nogil
cdef void stiffen_bodies(Bodies* bodies, Loads* loads, double h, bint damp) noexcept nogil
cdef void count_excess(const Bodies* bodies, const Loads* loads, const int32_t* group, double sign,
                       Vec3* excess) noexcept nogil
cdef void return_excess(const Bodies* bodies, const int32_t* chosen, const int32_t* group, Py_ssize_t count,
                        Py_ssize_t groups, Vec3* excess, Vec3* center, Mat3* inertia) noexcept nogil
