"""Array versions of ``_trig.pxd``, for its test."""

import numpy as np

from mcsim.core._trig cimport arctan2, sine_cosine


def py_sine_cosine(const double[::1] x):
    """-> sin x, cos x, each (n,)"""
    s, c = np.empty(x.shape[0]), np.empty(x.shape[0])
    cdef double[::1] sine = s
    cdef double[::1] cosine = c
    cdef Py_ssize_t i
    for i in range(x.shape[0]):
        sine_cosine(x[i], &sine[i], &cosine[i])
    return s, c


def py_arctan2(const double[::1] y, const double[::1] x):
    """-> atan2(y, x), (n,)"""
    if x.shape[0] != y.shape[0]:
        raise ValueError("y and x must be equally long")
    result = np.empty(x.shape[0])
    cdef double[::1] angle = result
    cdef Py_ssize_t i
    for i in range(x.shape[0]):
        angle[i] = arctan2(y[i], x[i])
    return result
