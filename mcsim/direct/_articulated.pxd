"""One articulation at a time: what its joints' solver does."""

from libc.stdint cimport int32_t
from mcsim.direct._jointed cimport Jointed
from mcsim.core._types cimport Twist
from mcsim.state._manifold cimport Manifold
from mcsim.state._row cimport Row

cdef double LOOP_GAP, MOST_PROXIMAL, SOLVED, STRAIN, WIDEST_GAP

cdef enum:
    MOST_CORRECTIONS = 24    # of a drift: what those do not close flies

cdef class Articulated(Jointed):
    cdef readonly long long corrections  # solves on trial poses since the beginning
    cdef readonly long long moved       # drifts after which joints were closed by moving bodies

    cdef void probe(self, Py_ssize_t g) noexcept nogil
    cdef void hold_rows(self, Py_ssize_t g, Twist* twist, bint relaxed, bint solved) noexcept nogil
    cdef void write_rows(self, Py_ssize_t g) noexcept nogil
    cdef void factor(self, Py_ssize_t g) noexcept nogil
    cdef void factor_border(self, Py_ssize_t g) noexcept nogil
    cdef void solve_one(self, Py_ssize_t g, Twist* twist) noexcept nogil
    cdef void solve_tree(self, Py_ssize_t g, Twist* twist, const double* bias) noexcept nogil
    cdef void solve_all(self, Py_ssize_t g, Twist* twist, const double* bias, double enough, int most) noexcept nogil
    cdef void hold(self, Py_ssize_t g, Twist* twist) noexcept nogil
    cdef void begin_blows(self, Py_ssize_t g) noexcept nogil
    cdef void end_blows(self, Py_ssize_t g) noexcept nogil
    cdef void answer(self, Py_ssize_t g, Twist* x) noexcept nogil
    cdef void aim_still(self, Py_ssize_t g) noexcept nogil
    cdef void aim_border_still(self, Py_ssize_t g) noexcept nogil
    cdef void subtract_rates(self, Py_ssize_t g) noexcept nogil
    cdef double drift(self, Py_ssize_t g) noexcept nogil
    cdef void drift_driven(self, Py_ssize_t g) noexcept nogil
    cdef void accept(self, Py_ssize_t g) noexcept nogil
    cdef void close_one(self, Py_ssize_t g) noexcept nogil
    cdef void call_functions(self, Py_ssize_t g, bint errors_only) noexcept nogil
    cdef void keep_twists(self, Py_ssize_t g) noexcept nogil
    cdef bint is_strained(self, Py_ssize_t g) noexcept nogil
    cdef bint leaps(self, Py_ssize_t g) noexcept nogil
    cdef void fly(self, Py_ssize_t g) noexcept nogil
    cdef void correct(self, Py_ssize_t g) noexcept nogil
    cdef double shorten(self, Py_ssize_t g, double off, double before) noexcept nogil
    cdef void keep_start(self, Py_ssize_t g) noexcept nogil
    cdef void keep(self, Py_ssize_t g) noexcept nogil
    cdef void keep_impulses(self, Py_ssize_t g) noexcept nogil
    cdef void undo_impulses(self, Py_ssize_t g) noexcept nogil
    cdef void undo(self, Py_ssize_t g) noexcept nogil
    cdef void keep_poses(self, Py_ssize_t g) noexcept nogil
    cdef void undo_poses(self, Py_ssize_t g) noexcept nogil
    cdef void project(self, Py_ssize_t g) noexcept nogil
    cdef void project_once(self, Py_ssize_t g, double part) noexcept nogil
    cdef void carry_gears(self, Py_ssize_t g) noexcept nogil
    cdef void refresh_one(self, Py_ssize_t g) noexcept nogil
    cdef double most_open(self, Py_ssize_t g) noexcept nogil
    cdef double border_way(self, Py_ssize_t k, double error) noexcept nogil
    cdef void note_joints(self, int kind, Py_ssize_t g) noexcept nogil

    cdef void share_masses(self, double* inv_mass) noexcept nogil
    cdef bint find_answers(self, const Manifold* manifolds, Py_ssize_t count, const double* share) noexcept nogil
    cdef double burdened(self, const Manifold* m) noexcept nogil
    cdef bint find_changed(self, int sweep, const int32_t* changed) noexcept nogil
    cdef void spread_changes(self, int sweep, int32_t* changed) noexcept nogil
    cdef void solve_changed(self, Twist* twist, const double* sizes, double speed, double rate, int sweep,
                            int32_t* changed) noexcept nogil
