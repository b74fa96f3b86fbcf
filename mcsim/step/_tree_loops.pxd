"""Loops of a world in generalized coordinates."""

from libc.stdint cimport int32_t
from mcsim.reduced._motion cimport TreeMotion
from mcsim.reduced._tree_poses cimport TreePoses
from mcsim.solve._loop_rows cimport LoopRows
from mcsim.state._row cimport Row
from mcsim.step._constraint_set cimport StepContext
from mcsim.step._plain_rows cimport PlainRows
from mcsim.step._sweeps cimport Sweeps
from mcsim.step._tree_joints cimport TreeJoints
from mcsim.step._tree_rows cimport TreeRows
from mcsim.step._tree_sync cimport TreeSync

cdef enum:
    CLOSINGS = 4                         # trials of a drift with loops, and rounds of project() where it is to end

cdef class TreeLoops:
    cdef StepContext context
    cdef PlainRows plain
    cdef TreeMotion motion
    cdef TreePoses poses
    cdef TreeSync body_sync
    cdef TreeJoints joints
    cdef TreeRows tree_rows
    cdef LoopRows rows
    cdef const int32_t* bond             # (trees,)
    cdef const int32_t* bonds            # (bodies,)
    cdef bint some                       # whether any joint has rows of its own
    cdef bint closing                    # at every drift's end: "soft"
    cdef bint projecting                 # after every drift: "projection"
    cdef bint smooth                     # by accelerations, at every stage of a smooth motion
    cdef object kept, kept_numbers
    cdef double* levels                  # (nq + nv,) each: worked in where loops are closed
    cdef double* closest                 # q and qd of the best trial so far
    cdef double* places
    cdef double* last_errors             # (trees,) by a bond's first, of its last trial [s]
    cdef double* errors_now
    cdef int32_t* trying                 # (trees,) likewise: whether it is to be closed further
    cdef double* impulses                # (rows,) of the joints' rows, kept by project()
    cdef double* opened                  # (rows,) errors with which a drift is to end [m, rad]

    cdef bint is_tied(self, const Row* row) noexcept nogil
    cdef double closing_rate(self) noexcept nogil
    cdef void aim(self) noexcept nogil
    cdef void begin_trials(self) noexcept nogil
    cdef void copy(self, Py_ssize_t bond, double* kept, double* q, double* qd, bint keeping) noexcept nogil
    cdef void keep_level(self) noexcept nogil
    cdef void look_ahead(self, double h) noexcept nogil
    cdef void close(self, double h, const int32_t* done) noexcept nogil
    cdef void find_way(self, double h) noexcept nogil
    cdef void project(self, Sweeps sweeping, double h, int rounds) noexcept nogil
    cdef void write(self) noexcept nogil
    cdef double most_open(self, double* widest) noexcept nogil
    cdef bint note_strain(self) noexcept nogil
    cdef void note_open(self) noexcept nogil
