"""The first number of a NumPy array as a C pointer.

Compiled once, and not in each module that asks: what Cython makes of a memoryview costs more than all else of a small one.
"""

from cpython.buffer cimport (PyBUF_FORMAT, PyBUF_ND, PyBUF_WRITABLE, PyBuffer_Release, PyObject_CheckBuffer,
                             PyObject_GetBuffer)


cdef void* first_of(array, const char* letters, Py_ssize_t size) except? NULL:
    """letters: one of which names the type of its numbers (NULL: they may be anything), size: of one [bytes]."""
    cdef Py_buffer view
    cdef Py_ssize_t k = 0
    cdef int flags = PyBUF_ND | PyBUF_WRITABLE
    cdef bint fits = letters == NULL
    if not PyObject_CheckBuffer(array):
        raise TypeError(f"a kernel works in arrays, got {type(array).__name__}")
    if not array.flags.c_contiguous:
        raise ValueError(f"an array of shape {array.shape} that a kernel works in is not contiguous")
    PyObject_GetBuffer(array, &view, flags if fits else flags | PyBUF_FORMAT)
    while not fits and letters[k] != 0:
        fits = view.format != NULL and view.format[0] == letters[k] and view.format[1] == 0 and view.itemsize == size
        k += 1
    cdef void* first = view.buf if view.len > 0 else NULL
    PyBuffer_Release(&view)
    if not fits:
        raise ValueError(f"an array that a kernel works in has numbers of type {array.dtype}")
    return first


cdef double* doubles(array) except? NULL:
    return <double*>first_of(array, b"d", sizeof(double))


cdef int32_t* integers(array) except? NULL:
    return <int32_t*>first_of(array, b"il", sizeof(int32_t))


cdef int64_t* long_integers(array) except? NULL:
    return <int64_t*>first_of(array, b"lq", sizeof(int64_t))


cdef void* records(array) except? NULL:
    return first_of(array, NULL, 0)
