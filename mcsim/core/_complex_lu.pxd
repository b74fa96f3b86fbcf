"""Linear equations of complex numbers, real and imaginary parts in arrays of their own."""

from libc.stdint cimport int32_t

# L U of the rows in another order, in place. -> whether it is regular
cdef bint factor_complex(double* re, double* im, Py_ssize_t n, int32_t* order) noexcept nogil
cdef void solve_complex(const double* re, const double* im, Py_ssize_t n, const int32_t* order, double* x,
                        double* y) noexcept nogil
