"""Sweeps over rows of generalized velocities."""

from libc.stdint cimport int32_t
from mcsim.solve._generalized cimport GeneralizedRows
from mcsim.state._manifold cimport MANIFOLD_POINTS
from mcsim.state._row cimport BLOCK_CONE, BLOCK_FRICTION, Row


cdef inline bint rubs(const Row* row) noexcept nogil:
    """Whether it is friction of contacts."""
    return row.block_kind == BLOCK_CONE or row.block_kind == BLOCK_FRICTION


cdef class GeneralizedSweeps:
    cdef GeneralizedRows generalized
    cdef object kept
    cdef Py_ssize_t capacity             # rows
    cdef double* couplings               # (rows, KEPT) J H^-1 J' of a contact's normal with those of its manifold after it
    cdef const int32_t* level            # (manifolds,) of contacts (constraints/_contact_order.pyx)

    cdef void couple(self, const Row* rows, Py_ssize_t begin, Py_ssize_t end) noexcept nogil
    cdef double sweep(self, Row* rows, Py_ssize_t contacts, Py_ssize_t count, double* velocity, int relaxed, bint rub,
                      int left) noexcept nogil
    cdef Py_ssize_t manifold_of(self, const Row* rows, Py_ssize_t begin, Py_ssize_t end) noexcept nogil
    cdef double sweep_level(self, Row* rows, Py_ssize_t begin, Py_ssize_t end, double* velocity, int relaxed, bint rub,
                            bint back) noexcept nogil
    cdef double sweep_rows(self, Row* rows, Py_ssize_t begin, Py_ssize_t end, double* velocity, int relaxed,
                           bint rub) noexcept nogil
    cdef double solve_row(self, Row* rows, Py_ssize_t i, double* velocity, int relaxed) noexcept nogil
    cdef void point_products(self, const Row* rows, Py_ssize_t first, int count, int relaxed,
                             double (*a)[MANIFOLD_POINTS]) noexcept nogil
    cdef double solve_points(self, Row* rows, Py_ssize_t first, int count, double* velocity, int relaxed) noexcept nogil
    cdef double solve_block(self, Row* rows, Py_ssize_t i, double* velocity, int relaxed) noexcept nogil
