"""Steps of a smooth motion by Runge-Kutta, and by backward differences."""

from libc.stdint cimport uint64_t

from mcsim.core._backward cimport BackwardDifferences
from mcsim.core._implicit cimport ImplicitStages
from mcsim.core._newton cimport NewtonMethod
from mcsim.core._tableau cimport StepSize, Tableau
from mcsim.step._smooth_motion cimport TOO_SHORT, SmoothMotion

cdef class RungeKuttaSteps:
    cdef SmoothMotion motion
    cdef Tableau tableau, first          # of the present steps, and of those with which a substep begins
    cdef dict made                       # what steps by a method need, by its tableau
    cdef StepSize sizes                  # of steps as long as a tolerance allows; None: "rk4"
    cdef NewtonMethod newton             # of the present steps, if they are implicit: one of the next two
    cdef ImplicitStages implicit
    cdef BackwardDifferences backward
    cdef Py_ssize_t moving               # how many numbers do
    cdef bint stiff                      # the present steps are of another method than the first
    cdef double strayed                  # how far projecting moved an implicit step's end, in parts of the tolerance
    cdef int refused                     # steps of an implicit method in a row that were no good
    cdef int tries                       # of such steps since, as far as they are counted
    cdef double explicit_h               # how long steps were before that [s]
    cdef uint64_t branch                 # of the forces at the beginning of the present step
    cdef bint across                     # it has changed in the present step
    cdef double corner                   # the time until which at the latest it changes, if that is known; 0: it is not
    cdef double missed                   # by which a step across it is too long, in parts of the tolerance and its length
    cdef double uncut                    # how long steps were before that was found [s]
    cdef double taken                    # the length of the present step of backward differences [s]

    cdef void go_over(self, bint stiff) noexcept nogil
    cdef void advance(self, double h) noexcept nogil
    cdef void begin_parts(self, double h) noexcept nogil
    cdef void make_stages(self, double h) noexcept nogil
    cdef bint make_good_stages(self, double h) noexcept nogil
    cdef void watch(self, int k) noexcept nogil
    cdef bint is_good(self, double h) noexcept nogil
    cdef void judge(self, double h, bint across, double* errors) noexcept nogil
    cdef bint make_implicit_stages(self, double h) noexcept nogil
    cdef void accelerate_stage(self, double h) noexcept nogil
    cdef bint settle_implicit(self, double h, int before, int after) noexcept nogil
    cdef bint is_near_singular(self, double part, double least) noexcept nogil
    cdef void count_refused(self, double left) noexcept nogil
    cdef void find_jacobian(self, double begin, double t) noexcept nogil
    cdef void find_differences(self, double begin, double t) noexcept nogil
    cdef int probe_row(self) noexcept nogil
    cdef double advance_backward(self, double h) noexcept nogil
    cdef void start_backward(self, double most) noexcept nogil
    cdef bint make_backward_step(self) noexcept nogil
    cdef double backward_error(self) noexcept nogil
    cdef bint find_backward_place(self, double begin) noexcept nogil
    cdef void go_to(self, int k, double h, double begin, double t) noexcept nogil
