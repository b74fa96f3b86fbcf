"""The jointed bodies of a world and their joints, solved directly."""

from mcsim._jointed cimport Jointed
from mcsim.core._types cimport Twist
from mcsim.state._layout cimport Manifold, Row

cdef class Articulations(Jointed):
    cdef double open                    # how far the joints are open at the present poses [m, rad]
    cdef double near                    # closer than this at trial poses, articulations are left alone [m, rad]
    cdef bint loose                     # those that are in no herd were farther off
    cdef bint hard                      # the last drift was hard to close
    cdef double solved                  # residual that ends proximal steps [m/s, rad/s]
    cdef bint closed                    # the last drift ended with closed joints
    cdef readonly long long corrections # solves on trial poses since the beginning

    cdef void give(self) noexcept nogil
    cdef void begin_watch(self) noexcept nogil
    cdef void end_watch(self) noexcept nogil
    cdef void begin_step(self) noexcept nogil
    cdef void write_rows(self) noexcept nogil
    cdef void refresh(self) noexcept nogil
    cdef void prepare(self) noexcept nogil
    cdef void begin(self) noexcept nogil
    cdef void factor(self) noexcept nogil
    cdef void solve(self, Twist* twist) noexcept nogil
    cdef void solve_tree(self, Twist* twist) noexcept nogil
    cdef double drift(self, bint again, bint store) noexcept nogil
    cdef double miss_alone(self) noexcept nogil
    cdef void subtract_rates(self) noexcept nogil
    cdef void aim(self) noexcept nogil
    cdef void close(self, const Row* rows, Py_ssize_t count, bint watched) noexcept nogil
    cdef void correct(self) noexcept nogil
    cdef void hold(self) noexcept nogil
    cdef void weigh(self, double* energy) noexcept nogil
    cdef void start(self) noexcept nogil
    cdef bint gives(self) noexcept nogil
    cdef void begin_relax(self, bint swept) noexcept nogil
    cdef void end_relax(self) noexcept nogil
    cdef void keep(self) noexcept nogil
    cdef void undo(self) noexcept nogil
    cdef void choose_proximal(self) noexcept nogil
    cdef void aim_still(self) noexcept nogil
    cdef double shorten(self, double off, double before) noexcept nogil
    cdef void project(self) noexcept nogil
    cdef void project_once(self, double part) noexcept nogil
    cdef void carry_gears(self) noexcept nogil
    cdef void keep_poses(self) noexcept nogil
    cdef void undo_poses(self) noexcept nogil
    cdef void refresh_all(self) noexcept nogil
    cdef void count_spin(self, double sign) noexcept nogil
    cdef void settle_spin(self) noexcept nogil
    cdef void stiffen_start(self) noexcept nogil
    cdef double residual(self) noexcept nogil
    cdef void touch(self, const Manifold* manifolds, Py_ssize_t count) noexcept nogil
    cdef double strain(self, double h, double most) noexcept nogil
    cdef void stiffen(self) noexcept nogil
    cdef void scale_impulses(self, double factor) noexcept nogil
    cdef void read(self, const Row* rows) noexcept nogil
    cdef void solve_rows(self, Row* rows, Twist* twist, int relaxed) noexcept nogil
