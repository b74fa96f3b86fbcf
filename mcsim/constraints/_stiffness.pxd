"""Geometric stiffness of joints: what their forces add to the inertia of the bodies that they hold."""

from libc.stdint cimport int32_t
from mcsim.core._types cimport Mat3, Vec3
from mcsim.state._layout cimport Bodies, Joint, Row

cdef void stiffen_joints(const Joint* joints, Py_ssize_t joint_count, const Row* rows, const Bodies* bodies,
                         const int32_t* chosen, Py_ssize_t count, Mat3* stiffness, double h) noexcept nogil
cdef void stiffen_bodies(Bodies* bodies, const int32_t* chosen, const int32_t* swings, Py_ssize_t count, Mat3* stiffness,
                         double part, double spared, bint damp) noexcept nogil
cdef void strain_joints(const Joint* joints, Py_ssize_t joint_count, const Bodies* bodies, const int32_t* chosen,
                        Py_ssize_t count, Mat3* stiffness, double h) noexcept nogil
cdef double largest_strain(const Bodies* bodies, const int32_t* chosen, const int32_t* swings, Py_ssize_t count,
                           const Mat3* stiffness) noexcept nogil
cdef void count_excess(const Bodies* bodies, const int32_t* chosen, const int32_t* group, Py_ssize_t count,
                       const Mat3* stiffness, double sign, Vec3* excess) noexcept nogil
cdef void count_momentum(const Bodies* bodies, const int32_t* chosen, const int32_t* group, Py_ssize_t count, double sign,
                         Vec3* excess) noexcept nogil
cdef void return_excess(const Bodies* bodies, const int32_t* chosen, const int32_t* group, Py_ssize_t count,
                        Py_ssize_t groups, Vec3* excess, Vec3* center, Mat3* inertia) noexcept nogil
