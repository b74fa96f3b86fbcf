"""The first number of a NumPy array as a C pointer, whatever the array's shape; NULL of an empty one.

The array must be contiguous and of the type asked for, and whoever takes a pointer keeps the array alive.
"""

from libc.stdint cimport int32_t, int64_t


cdef inline object flat(array):
    """(n,) the same memory."""
    if not array.flags.c_contiguous:
        raise ValueError(f"an array of shape {array.shape} that a kernel works in is not contiguous")
    return array.reshape(-1)


cdef inline double* doubles(array) except? NULL:
    cdef double[::1] view = flat(array)
    return &view[0] if view.shape[0] else NULL


cdef inline int32_t* integers(array) except? NULL:
    cdef int32_t[::1] view = flat(array)
    return &view[0] if view.shape[0] else NULL


cdef inline int64_t* long_integers(array) except? NULL:
    cdef int64_t[::1] view = flat(array)
    return &view[0] if view.shape[0] else NULL


cdef inline void* records(array) except? NULL:
    """Of any type; the caller says which."""
    cdef char[::1] view = flat(array).view("i1")
    return &view[0] if view.shape[0] else NULL
