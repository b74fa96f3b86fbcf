"""One step of an implicit Runge-Kutta method: Newton's method on the rates of all stages."""

from libc.stdint cimport int32_t

from mcsim.core._newton cimport NewtonMethod

cdef class ImplicitStages(NewtonMethod):
    cdef int stages
    cdef int modes                       # of a: in each the equations of a stage stand by themselves (stage_modes.py)
    cdef const double* values            # (modes, 2)
    cdef const double* into              # (modes, stages, 2) from what stages have to what modes have
    cdef const double* back              # (modes, stages, 2) and its real part back
    cdef const double* begin_weights     # (stages,)
    cdef double* matrices                # (modes, 2, size, size) 1 - h value J, factored
    cdef double* filter                  # (size, size) 1 - h FILTER J, factored
    cdef int32_t* orders                 # (modes, size) pivots of those
    cdef double* mode                    # (2, size) of one of them
    cdef double* changes                 # (stages, size) of the rates
    cdef int32_t* filter_order
    cdef double h                        # of the factors; 0: none
    cdef double past                     # how long the step was whose rates the stages have; 0: they have none
    cdef const double* nodes             # (stages,)
    cdef double* weights                 # (stages, stages)

    cdef int of_stage(self, int k) noexcept nogil
    cdef int beginning(self) noexcept nogil
    cdef void forget(self) noexcept nogil
    cdef void begin(self, double h) noexcept nogil
    cdef void go_on(self) noexcept nogil
    cdef void weigh_past(self, double ratio) noexcept nogil
    cdef void keep(self, double h) noexcept nogil
    cdef void start_jacobian(self) noexcept nogil
    cdef bint start(self, double h) noexcept nogil
    cdef bint fill_and_factor(self, double h) noexcept nogil
    cdef bint factor_mode(self, int p, double h) noexcept nogil
    cdef void solve_mode(self, int p) noexcept nogil
    cdef int improve(self, double h) noexcept nogil
    cdef void estimate(self) noexcept nogil
