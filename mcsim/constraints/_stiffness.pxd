"""Geometric stiffness of joints: what their forces add to the inertia of the bodies that they hold."""

from libc.stdint cimport int32_t
from mcsim.core._types cimport Mat3
from mcsim.state._layout cimport Bodies, Joint, JointRows, Settings

cdef void stiffen_joints(const Joint* joints, Py_ssize_t joint_count, const JointRows* rows, Bodies* bodies,
                         const int32_t* chosen, Py_ssize_t count, Mat3* stiffness, const Settings* settings) noexcept nogil
cdef double joint_strain(const Joint* joints, Py_ssize_t joint_count, const Bodies* bodies, const int32_t* chosen,
                         Py_ssize_t count, Mat3* stiffness, double h) noexcept nogil
