"""J and A = J M^-1 J' as the arrays of sparse matrices, for `assemble.py`, which checks what comes in."""

from libc.stdint cimport int32_t, int64_t
from libc.string cimport memcpy

import numpy as np

from mcsim.core._types cimport GROW
from mcsim.solve._pgs cimport Delassus
from mcsim.state._row cimport Row


def jacobian_arrays(const Row[::1] rows):
    """-> (indptr, indices, data) of J: six entries for each body of a row but the world, columns ascending."""
    cdef Py_ssize_t count = rows.shape[0]
    cdef Py_ssize_t i
    indptr = np.zeros(count + 1, dtype=np.int64)
    cdef int64_t[::1] begin = indptr
    for i in range(count):
        begin[i + 1] = begin[i] + 6 * (rows[i].body_a >= 0) + 6 * (rows[i].body_b >= 0)
    indices = np.empty(begin[count], dtype=np.int32)
    data = np.empty(begin[count])
    cdef int32_t[::1] column = indices
    cdef double[::1] value = data
    cdef int64_t entry
    with nogil:
        for i in range(count):
            entry = begin[i]
            if rows[i].body_a < rows[i].body_b:
                entry = put_half(&rows[i].jacobian[0], rows[i].body_a, column, value, entry)
                put_half(&rows[i].jacobian[6], rows[i].body_b, column, value, entry)
            else:
                entry = put_half(&rows[i].jacobian[6], rows[i].body_b, column, value, entry)
                put_half(&rows[i].jacobian[0], rows[i].body_a, column, value, entry)
    return indptr, indices, data


cdef int64_t put_half(const double* half, int32_t body, int32_t[::1] column, double[::1] value,
                      int64_t entry) noexcept nogil:
    cdef int k
    if body < 0:
        return entry
    for k in range(6):
        column[entry + k] = 6 * body + k
        value[entry + k] = half[k]
    return entry + 6


def delassus_arrays(const Row[::1] rows, Py_ssize_t body_count):
    """-> (indptr, indices, data) of A. A body couples rows if any of them has an inverse-mass Jacobian on it."""
    cdef Py_ssize_t count = rows.shape[0]
    cdef Py_ssize_t i
    cdef int k
    cdef Delassus delassus = Delassus()
    cdef double[::1] moves = np.zeros(body_count + 1)
    if count == 0:
        return np.zeros(1, dtype=np.int64), np.empty(0, dtype=np.int32), np.empty(0)
    for i in range(count):
        for k in range(6):
            if rows[i].body_a >= 0 and rows[i].inv_mass_jacobian[k] != 0.0:
                moves[rows[i].body_a] = 1.0
            if rows[i].body_b >= 0 and rows[i].inv_mass_jacobian[6 + k] != 0.0:
                moves[rows[i].body_b] = 1.0
    while delassus.build(&rows[0], count, body_count, &moves[0]) == GROW:
        delassus.grow()
    delassus.assemble(&rows[0])
    indptr = np.empty(count + 1, dtype=np.int64)
    indices = np.empty(delassus.entry_count, dtype=np.int32)
    data = np.empty(delassus.entry_count)
    cdef int64_t[::1] begin = indptr
    cdef int32_t[::1] column = indices
    cdef double[::1] value = data
    memcpy(&begin[0], delassus.row_begin, (count + 1) * sizeof(int64_t))
    if delassus.entry_count:
        memcpy(&column[0], delassus.column, delassus.entry_count * sizeof(int32_t))
        memcpy(&value[0], delassus.value, delassus.entry_count * sizeof(double))
    return indptr, indices, data
