"""Loops of a world in generalized coordinates."""

from libc.stdint cimport int32_t
from mcsim.step._tree_pipeline cimport TreePipeline
from mcsim.state._layout cimport Row

cdef class LoopPipeline(TreePipeline):
    cdef bint closing_loops              # at every drift's end: "soft"
    cdef bint projecting                 # loops after every drift: "projection"
    cdef bint runge                      # Runge-Kutta in place of leaps
    cdef bint looping                    # whether any joint has rows of its own
    cdef object levels_kept, kept_of_loops
    cdef double* levels                  # (nq + nv,) each: worked in where loops are closed and warm starts weighed
    cdef double* closest                 # q and qd of the best trial so far
    cdef double* places
    cdef double* last_errors             # (trees,) by a bond's first, of its last trial [s]
    cdef double* errors_now
    cdef int32_t* trying                 # (trees,) likewise: whether it is to be closed further
    cdef double* impulses                # (rows,) of the joints' rows, kept by project_loops
    cdef object kept_hung
    cdef const int32_t* hung             # (hung_count,) the first velocities of trees with joints
    cdef Py_ssize_t hung_count
    cdef int32_t* watched                # (nv,) by a group's root: whether it has one of them
    cdef double* rates                   # (rows,) J qd before warm starts act [m/s, rad/s]

    cdef void write_joints(self) noexcept nogil
    cdef void refresh(self) noexcept nogil
    cdef bint is_tied(self, const Row* row) noexcept nogil
    cdef double closing_rate(self) noexcept nogil
    cdef void aim_loops(self) noexcept nogil
    cdef void begin_trials(self) noexcept nogil
    cdef void copy(self, Py_ssize_t bond, double* kept, double* q, double* qd, bint keeping) noexcept nogil
    cdef void close_loops(self, double h) noexcept nogil
    cdef void project_loops(self, double h) noexcept nogil
    cdef double part_of(self, int32_t node) noexcept nogil
    cdef double warm_impulse(self, const Row* row, bint second) noexcept nogil
    cdef void weigh_warm_starts(self, bint second) noexcept nogil
    cdef void begin_warm_starts(self, bint second) noexcept nogil
    cdef double most_open(self, double* widest) noexcept nogil
    cdef bint note_strain(self) noexcept nogil
    cdef void note_loops(self) noexcept nogil
