"""Groups of what hangs together, numbered."""

from libc.stdint cimport int32_t, int64_t

import numpy as np

from mcsim.core._arrays cimport integers


def group_numbers(pairs, Py_ssize_t count):
    """(count,) int32, the number of each member's group, ascending by their lowest members. pairs (k, 2): members that hang
    together."""
    parents, numbers = np.arange(count + 1, dtype=np.int32), np.zeros(count + 1, np.int32)
    cdef const int64_t[:, ::1] links = np.ascontiguousarray(pairs, np.int64).reshape(-1, 2)
    cdef int32_t* parent = integers(parents)
    cdef int32_t* number = integers(numbers)
    cdef Py_ssize_t i
    cdef int32_t groups = 0
    for i in range(links.shape[0]):
        if not (0 <= links[i, 0] < count and 0 <= links[i, 1] < count):
            raise IndexError(f"pair {i} is not of the {count} members")
        unite_groups(parent, <int32_t>links[i, 0], <int32_t>links[i, 1])
    for i in range(count):
        if root_of(parent, <int32_t>i) == i:
            number[i] = groups
            groups += 1
        else:
            number[i] = number[root_of(parent, <int32_t>i)]
    return numbers[:count]
