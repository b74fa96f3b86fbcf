"""``_trig.pxd`` for Python, of numbers and of arrays; ``trig.py`` has the names that others use."""

import numpy as np

from mcsim.core._trig cimport arctan2, fifth_root, sine_cosine


def sine_cosine_of(double x):
    """-> sin x, cos x"""
    cdef double s, c
    sine_cosine(x, &s, &c)
    return s, c


def sines_cosines(const double[::1] x):
    """-> sin x, cos x, each (n,)"""
    s, c = np.empty(x.shape[0]), np.empty(x.shape[0])
    cdef double[::1] sine = s
    cdef double[::1] cosine = c
    cdef Py_ssize_t i
    for i in range(x.shape[0]):
        sine_cosine(x[i], &sine[i], &cosine[i])
    return s, c


def arctan2_of(double y, double x):
    """-> atan2(y, x)"""
    return arctan2(y, x)


def arctans2(const double[::1] y, const double[::1] x):
    """-> atan2(y, x), (n,)"""
    result = np.empty(x.shape[0])
    cdef double[::1] angle = result
    cdef Py_ssize_t i
    for i in range(x.shape[0]):
        angle[i] = arctan2(y[i], x[i])
    return result


def fifth_root_of(double x):
    """-> x^(1/5)"""
    return fifth_root(x)
