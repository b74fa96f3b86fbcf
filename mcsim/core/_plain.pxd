"""Numbers as most callers give them, read at once."""

from mcsim.core._types cimport Quat, Vec3

cdef bint read_vector(value, Vec3* out) except -1
cdef bint read_numbers(value, int count, double* out) except -1
