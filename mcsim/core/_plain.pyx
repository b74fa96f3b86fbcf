"""Vectors as most callers give them, tuples, lists and arrays of finite floats and small integers, read at once.

Whatever else a caller gives is for scene/checks.py, which knows all that a number may be and says what is wrong.
"""

from cpython.buffer cimport PyBUF_FORMAT, PyBUF_STRIDES, PyBuffer_Release, PyObject_GetBuffer
from libc.math cimport isfinite

import numpy as np

FLOAT64, ARRAY, DOUBLE = np.float64, np.ndarray, np.dtype(float)

# Integers up to here are whole numbers of a double's.
cdef long long WHOLE = 1 << 53


cdef bint read_number(value, double* out) except -1:
    """-> whether it is a finite number of the common types"""
    kind = type(value)
    if kind is float or kind is FLOAT64:
        out[0] = value
    elif kind is int and -WHOLE <= value <= WHOLE:
        out[0] = value
    else:
        return False
    return isfinite(out[0])


cdef bint read_array(value, int count, double* out) except -1:
    cdef Py_buffer view
    cdef int i
    if value.dtype is not DOUBLE or value.ndim != 1 or len(value) != count:
        return False
    PyObject_GetBuffer(value, &view, PyBUF_FORMAT | PyBUF_STRIDES)
    for i in range(count):
        out[i] = (<double*>(<char*>view.buf + i * view.strides[0]))[0]
    PyBuffer_Release(&view)
    for i in range(count):
        if not isfinite(out[i]):
            return False
    return True


cdef bint read_numbers(value, int count, double* out) except -1:
    """-> whether they are so many finite numbers, and nothing else"""
    cdef int i
    kind = type(value)
    if kind is tuple:
        if len(<tuple>value) != count:
            return False
        for i in range(count):
            if not read_number((<tuple>value)[i], &out[i]):
                return False
        return True
    if kind is list:
        if len(<list>value) != count:
            return False
        for i in range(count):
            if not read_number((<list>value)[i], &out[i]):
                return False
        return True
    return kind is ARRAY and read_array(value, count, out)


cdef bint read_vector(value, Vec3* out) except -1:
    return read_numbers(value, 3, &out.x)


def plain_vectors(values):
    """The same of a list of vectors: a tuple of tuples, or None"""
    cdef list out = []
    cdef Vec3 v
    for value in values:
        if not read_vector(value, &v):
            return None
        out.append((v.x, v.y, v.z))
    return tuple(out)


def plain_vector(value):
    """-> the three finite numbers of a vector as a tuple of floats; None where it is not as most are"""
    cdef Vec3 v
    return (v.x, v.y, v.z) if read_vector(value, &v) else None


def plain_quaternion(value):
    """The same of four numbers."""
    cdef Quat q
    return (q.w, q.x, q.y, q.z) if read_numbers(value, 4, &q.w) else None
