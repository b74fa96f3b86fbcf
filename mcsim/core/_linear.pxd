"""What kernels take of the dense matrices of ``linear.py``."""

from mcsim.core._types cimport Mat3

cdef void product3(const Mat3* a, const Mat3* b, Mat3* out) noexcept nogil
cdef bint inverse3(const Mat3* a, Mat3* out) noexcept nogil
