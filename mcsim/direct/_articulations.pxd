"""The jointed bodies of a world and their joints, solved directly."""

from mcsim.direct._accounts cimport Accounted
from mcsim.core._types cimport Twist
from mcsim.state._manifold cimport Manifold
from mcsim.state._row cimport Row

cdef class Articulations(Accounted):
    cdef bint some_swept

    # The stages of a step.
    cdef void begin_step(self) noexcept nogil
    cdef void choose_flights(self, double h) noexcept nogil
    cdef void find_swept(self, Row* rows, Py_ssize_t count, const Manifold* manifolds,
                         Py_ssize_t manifold_count) noexcept nogil
    cdef bint is_held(self, Py_ssize_t g) noexcept nogil
    cdef void hold_bounded(self, Twist* twist, bint relaxed, bint solved) noexcept nogil
    cdef void prepare(self) noexcept nogil
    cdef void begin(self) noexcept nogil
    cdef void aim(self) noexcept nogil
    cdef void solve(self, Twist* twist, bint relaxed) noexcept nogil
    cdef void close(self) noexcept nogil
    cdef void refresh(self) noexcept nogil
    cdef void note_open(self) noexcept nogil
    cdef void note_open_batches(self) noexcept nogil
    cdef void begin_relax(self) noexcept nogil
    cdef void end_relax(self) noexcept nogil
    cdef void give_batches(self) noexcept nogil
    cdef double residual(self) noexcept nogil
    cdef void begin_warm_start(self) noexcept nogil
    cdef void finish_warm_start(self, bint second) noexcept nogil
    cdef void keep_part(self, Py_ssize_t g, double part) noexcept nogil
    cdef void give(self, int a, int b, double slope, double bend) noexcept nogil
    cdef bint weigh(self) noexcept nogil
    cdef void hold_doubtful(self) noexcept nogil
    cdef void keep_parts(self) noexcept nogil
    cdef void forget_parts(self) noexcept nogil

    # What those do with one articulation.
    cdef void close_batches(self) noexcept nogil
    cdef void drift_batches(self, bint again, bint store) noexcept nogil
    cdef void leave_batches(self) noexcept nogil
    cdef void clear_batches(self, double* x) noexcept nogil
    cdef void sweep(self, int body) noexcept nogil
    cdef void solve_swept(self, Py_ssize_t g, Twist* twist, bint relaxed) noexcept nogil
    cdef void tie(self, const Row* rows, Py_ssize_t count, const Manifold* manifolds,
                  Py_ssize_t manifold_count) noexcept nogil
    cdef Twist seen(self, int i) noexcept nogil
    cdef void give_rates(self, Py_ssize_t g) noexcept nogil

    # The rows of the sweeps, under another stabilization than "soft".
    cdef void read(self, const Row* rows) noexcept nogil
    cdef void solve_rows(self, Row* rows, Twist* twist, int relaxed) noexcept nogil
