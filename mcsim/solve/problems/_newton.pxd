"""Semismooth Newton steps on a contact problem."""

cimport cython

from mcsim.solve.problems._lu cimport Lu
from mcsim.solve.problems._proximal cimport Proximal
from mcsim.solve.problems._recorder cimport Recorder
from mcsim.solve.problems._system cimport System


@cython.final
cdef class Newton:
    cdef Proximal proximal
    cdef System system
    cdef Lu lu
    cdef Recorder recorder
    cdef object kept
    cdef int model
    cdef readonly double shift          # delta: the proximal term, of the scaled rows
    cdef double first_shift
    cdef double* x                      # (rows,) scaled impulses
    cdef double* u                      # their velocities
    cdef double* f                      # F(x, u)
    cdef double* d                      # the step
    cdef double* trial                  # x after it, and its velocities
    cdef double* trial_u
    cdef double* slope                  # (blocks, 18): G = dF/dx and H = dF/du
    cdef double* soft                   # (blocks, 9): C = T^-1 H
    cdef double* impulse                # (rows,) in the problem's units
    cdef double* velocity
    cdef double* state
    cdef double* nodes                  # (numbers of the nodes,)
    cdef double* panel                  # the rows of one block
    cdef double* center                 # (rows,) of the proximal term
    cdef int inner                      # steps since it moved

    cdef void start(self, const double* impulse, const double* velocity) noexcept nogil
    cdef double function(self, const double* x, const double* u, double shift, bint slopes) noexcept nogil
    cdef void block_function(self, Py_ssize_t block, const double* x, const double* u, double* f, double* g,
                             double* h) noexcept nogil
    cdef void fill(self) noexcept nogil
    cdef void fill_nodes(self) noexcept nogil
    cdef void fill_whole(self) noexcept nogil
    cdef bint direction(self) noexcept nogil
    cdef void add_pair(self, double* to, const double* c, Py_ssize_t a, Py_ssize_t b, int size,
                       bint turned) noexcept nogil
    cdef void move(self, double length) noexcept nogil
    cdef bint step(self) noexcept nogil
    cdef bint soften(self) noexcept nogil
