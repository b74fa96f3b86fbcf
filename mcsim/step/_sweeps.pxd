"""Who solves the rows of all constraint sets."""

from mcsim.core._types cimport Twist
from mcsim.solve._pgs cimport Delassus
from mcsim.step._calls cimport Calls
from mcsim.step._constraint_set cimport ConstraintSets, StepContext, SweepPass
from mcsim.step._drives cimport Drives
from mcsim.step._further_sweeps cimport FurtherSweeps
from mcsim.step._plain_rows cimport PlainRows

cdef enum:
    SWEEPS_A_LOOK = 16                  # from one look at the clock to the next

cdef class Sweeps:
    cdef StepContext context
    cdef ConstraintSets sets
    cdef PlainRows plain
    cdef FurtherSweeps further
    cdef Drives drives
    cdef Calls calls
    cdef public double tolerance        # sweeps end at this residual; negative: they are counted
    cdef readonly double residual       # natural map after the last pass [N s, N m s]
    cdef readonly double correction     # what the last sweep took out [m/s, rad/s]
    cdef int asked                      # of each pass of this step
    cdef readonly long long made        # sweeps of the last step, over all rows
    cdef bint rubs                      # contacts have friction in the biased pass
    cdef bint relaxes                   # a relax pass follows the biased one
    cdef bint judges_biased             # the residual of a step has that of its biased pass
    cdef double first_residual          # which is this
    cdef bint in_halves                 # forces act in two halves
    cdef bint yields                    # rows that hold are soft in the biased pass
    cdef int last_pass                  # over velocities, in a substep

    cdef void begin_step(self) noexcept nogil
    cdef int prepare(self) noexcept nogil
    cdef void refresh(self) noexcept nogil
    cdef void finish(self, double part) noexcept nogil
    cdef void assemble(self) noexcept nogil
    cdef void solve(self, Twist* twist, int relaxed, int iterations) noexcept nogil
    cdef void end_biased(self, bint last) noexcept nogil
    cdef void relax(self, bint last) noexcept nogil
    cdef SweepPass new_pass(self, Twist* twist, int relaxed, int iterations) noexcept nogil
    cdef void settle(self, const SweepPass* p) noexcept nogil
    cdef bint solved(self, const Twist* twist, int relaxed) noexcept nogil
    cdef void measure(self, int relaxed) noexcept nogil
    cdef bint watches(self, const SweepPass* p) noexcept nogil
    cdef void note_impulses(self) noexcept nogil
    cdef void find_vain(self) noexcept nogil
    cdef void notes(self) noexcept nogil

cdef class MatrixSweeps(Sweeps):
    cdef Delassus matrix

cdef class Laboratory(Sweeps):
    cdef object problem

    cdef void solve_problem(self, Twist* twist, int relaxed) noexcept with gil
