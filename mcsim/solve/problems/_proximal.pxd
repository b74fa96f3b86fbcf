"""Solves with A + R + D, D a diagonal of the caller's, in scaled rows."""

cimport cython
from libc.stdint cimport int32_t, int64_t

from mcsim.solve.problems._cholesky cimport Cholesky
from mcsim.solve.problems._system cimport System


@cython.final
cdef class Proximal:
    cdef object kept                    # the arrays behind the pointers
    cdef readonly System system
    cdef readonly Cholesky cholesky
    cdef readonly object sizes          # (nodes,) int32
    cdef readonly Py_ssize_t length     # numbers of the state: those of the nodes
    cdef readonly Py_ssize_t places     # numbers of the values
    cdef const double* scale            # (blocks,) e: impulse = e x, velocity = u / e
    cdef const double* compliance       # (rows,) scaled
    cdef const int64_t* begin           # (blocks + 1,) of a block's pieces
    cdef const int32_t* node            # of a piece
    cdef const int64_t* at              # (pieces,) where its values begin, row by row
    cdef const double* value
    cdef const int64_t* node_begin      # (nodes + 1,) in the state
    cdef const int64_t* pair_begin      # (blocks + 1,)
    cdef const int32_t* pair            # (pairs, 2): pieces, the first with the rows of its block in the factors
    cdef const int64_t* target          # (pairs,) that block's place
    cdef double* inverse                # (rows,) of D + R; 0 of a row that is held
    cdef double* state                  # (length,) work
    cdef double* work                   # (rows,) work

    cdef find_pieces(self, column_node, column_local, begin_of_nodes)
    cdef find_pairs(self)
    cdef int node_size(self, Py_ssize_t piece) noexcept nogil
    cdef void read_state(self, const double* state, double* u) noexcept nogil
    cdef void write_state(self, const double* x, double* state) noexcept nogil
    cdef void fill_whole(self, const double* d) noexcept nogil
    cdef void prepare(self, const double* d) noexcept nogil
    cdef void solve(self, const double* right, double* x) noexcept nogil
