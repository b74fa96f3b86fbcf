"""Runge-Kutta methods by their coefficients, and steps as long as a tolerance allows."""

from libc.math cimport fabs

cdef class Tableau:
    cdef object kept                     # the arrays that the pointers are into
    cdef readonly object implicit        # a and what tells the rates at the beginning (ImplicitStages); None: explicit
    cdef readonly bint multistep         # the state is a displacement from a base that many steps have (core/_backward.pyx)
    cdef int stages
    cdef int slots                       # that rates stand in: first those of the stages
    cdef const double* weights           # (stages + 1, slots) of the rates at each stage, and at the step's end; of an
                                         # implicit method one row more, to probe with
    cdef const double* times             # (stages + 1,) of them, in parts of the step
    cdef const double* fifth             # (slots,) of two estimates of the error; NULL: the method has none
    cdef const double* third
    cdef const double* change            # (slots,) of the rates' change over a step; NULL likewise

cdef class StepSize:
    cdef double tolerance                # of a step's error: this times 1 + |y|
    cdef double h                        # of the step to be tried [s]
    cdef bint rejected                   # the last one was
    cdef double taken                    # the last one that was not [s]; 0: none since `begin`
    cdef int tried                       # of those rejected since, how many were made shorter by ASIDE alone

    cdef void begin(self, double h) noexcept nogil
    cdef double error(self, const double* errors, double h) noexcept nogil
    cdef bint accepts(self, const double* errors, double h) noexcept nogil
    cdef void fail(self, double h) noexcept nogil


# errors[0, 1]: the largest of each estimate so far, in parts of 1 + |y|.
cdef void add_error(double* errors, double fifth, double third, double before, double after) noexcept nogil


cdef bint implicit_pays(double evaluations, Py_ssize_t size) noexcept nogil


# An estimate of the error (n,) of a step of h, of which constraints leave `allowed`, which it is written into: the rest is
# projected away, on a way that bends by its square.
cdef inline void count_squares(double h, const double* error, Py_ssize_t n, double* allowed) noexcept nogil:
    cdef double forbidden
    cdef Py_ssize_t i
    for i in range(n):
        forbidden = error[i] - allowed[i]
        allowed[i] = allowed[i] + fabs(h * forbidden) * forbidden
