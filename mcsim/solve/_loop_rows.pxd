"""The rows that close loops and gears, all solved at once."""

from libc.stdint cimport int32_t
from mcsim.solve._loop_matrix cimport LoopMatrix
from mcsim.state._joint cimport Joint
from mcsim.state._row cimport Row
from mcsim.state._settings cimport Settings

cdef class LoopRows(LoopMatrix):
    cdef object kept
    cdef double proximal                 # of `meet`, as of SmoothSolver
    cdef int32_t* part                   # the first of those that each hangs together with
    cdef int32_t* yields                 # bits 1 and 2: it yields in the biased, the relax pass
    cdef int32_t* led                    # whether given velocities have a part in it
    cdef int32_t* was_strained           # whether it was as the substep began
    cdef int32_t* contrary               # since forget_contrary(): whether what begins with it had to yield
    cdef double* asked                   # residuals
    cdef double* target                  # J x that `meet` is to reach
    cdef double* given                   # by what impulses, or forces, it did
    cdef double* most[2]                 # the largest since the last pose, of the part that begins there

    cdef void factor(self, Row* rows, Py_ssize_t count, double rate) noexcept nogil
    cdef Py_ssize_t end_of_part(self, Py_ssize_t begin) noexcept nogil
    cdef void find_parts(self, Row* rows, double rate) noexcept nogil
    cdef void open_part(self, Row* rows, int relaxed, Py_ssize_t begin, Py_ssize_t end) noexcept nogil
    cdef void solve_part(self, Row* rows, int relaxed, Py_ssize_t first, Py_ssize_t end) noexcept nogil
    cdef double solve_some(self, Row* rows, double* velocity, int relaxed, Py_ssize_t begin,
                           Py_ssize_t end) noexcept nogil
    cdef double solve(self, Row* rows, double* velocity, int relaxed) noexcept nogil
    cdef double worst(self, const Row* rows, Py_ssize_t bond) noexcept nogil
    cdef bint is_plain(self, Py_ssize_t bond) noexcept nogil
    cdef void close(self, Row* rows, double* velocity, double h, Py_ssize_t bond, const double* moved) noexcept nogil
    cdef void put_back(self, Row* rows, const double* impulses, Py_ssize_t bond) noexcept nogil
    cdef void hold(self, const Row* rows, double* velocity, Py_ssize_t bond) noexcept nogil
    cdef void find_rigid(self, Row* rows, Py_ssize_t count, double rate) noexcept nogil
    cdef void find_again(self, Row* rows) noexcept nogil
    cdef void aim_accelerations(self, Row* rows, Py_ssize_t count, const double* velocity,
                                const Settings* settings) noexcept nogil
    cdef void aim_found_accelerations(self, const Row* rows, const double* velocity,
                                      const Settings* settings) noexcept nogil
    cdef void aim_errors(self, const int32_t* chosen, const double* times, double h, const Row* rows) noexcept nogil
    cdef void aim_still(self, Row* rows, Py_ssize_t count) noexcept nogil
    cdef void aim_nothing(self) noexcept nogil
    cdef void aim_rates(self, Row* rows, const double* velocity) noexcept nogil
    cdef void meet(self, const Row* rows, double* x) noexcept nogil
    cdef void factor_exactly(self, const Row* rows) noexcept nogil
    cdef void approach(self, const Row* rows, double* x) noexcept nogil
    cdef double miss(self, const Row* rows, const double* x, Py_ssize_t first, Py_ssize_t end) noexcept nogil
    cdef void give(self, const Row* rows, double* x, Py_ssize_t first, Py_ssize_t end) noexcept nogil
    cdef void keep(self, Row* rows, double h) noexcept nogil
    cdef bint note_strain(self, const Row* rows, double most, double widest) noexcept nogil
    cdef void forget_contrary(self) noexcept nogil
    cdef bint any_contrary(self) noexcept nogil
    cdef bint is_open(self, const Row* rows, int32_t source, const Joint* joints, double part,
                      double* largest) noexcept nogil
    cdef bint strained(self, Py_ssize_t begin, Py_ssize_t* end) noexcept nogil
