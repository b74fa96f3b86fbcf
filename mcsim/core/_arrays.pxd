"""The first number of a NumPy array as a C pointer, whatever the array's shape; NULL of an empty one.

The array must be contiguous and of the type asked for, and whoever takes a pointer keeps the array alive.
"""

from libc.stdint cimport int32_t, int64_t

cdef double* doubles(array) except? NULL
cdef int32_t* integers(array) except? NULL
cdef int64_t* long_integers(array) except? NULL
cdef void* records(array) except? NULL              # of any type; the caller says which
