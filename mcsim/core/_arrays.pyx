"""The first number of a NumPy array as a C pointer.

Compiled once, and not in each module that asks: what Cython makes of a memoryview costs more than all else of a small one.
"""


cdef flat(array):
    """(n,) the same memory."""
    if not array.flags.c_contiguous:
        raise ValueError(f"an array of shape {array.shape} that a kernel works in is not contiguous")
    return array.reshape(-1)


cdef double* doubles(array) except? NULL:
    cdef double[::1] view = flat(array)
    return &view[0] if view.shape[0] else NULL


cdef int32_t* integers(array) except? NULL:
    cdef int32_t[::1] view = flat(array)
    return &view[0] if view.shape[0] else NULL


cdef int64_t* long_integers(array) except? NULL:
    cdef int64_t[::1] view = flat(array)
    return &view[0] if view.shape[0] else NULL


cdef void* records(array) except? NULL:
    cdef char[::1] view = flat(array).view("i1")
    return &view[0] if view.shape[0] else NULL
