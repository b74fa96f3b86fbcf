"""Rows of contacts that bear much for their size, which a sweep solves many times."""

from libc.stdint cimport int32_t, int64_t
from mcsim.solve._generalized cimport GeneralizedRows
from mcsim.solve._generalized_sweeps cimport GeneralizedSweeps
from mcsim.state._row cimport Row
from mcsim.wide._blocks cimport Effort

# One of the blocks of velocities that such rows reach, a tree's.
ctypedef struct LadenTree:
    int64_t matrix               # where J H^-1 J' of its rows begins
    int64_t stamp                # how many changes there have been of more than what may be left undone
    double length                # numbers of J of all its rows, and those times how often they are solved again
    double work
    double solves
    double left                  # how much kinetic energy these rows may still give it in the pass [J]
    int32_t first                # of its velocities
    int32_t size                 # how many of them
    int32_t begin                # of its rows in `member` and `rate`
    int32_t count                # how many rows
    int32_t square               # 1: they are solved by what they do to each other
    int32_t group                # the first of those that it hangs together with by blocks on two of them
    int32_t end                  # by a group's first: where its blocks end in `order`
    int32_t stirred              # by a group's first: 1: the sweep has stirred one of them

ctypedef struct LadenRow:
    double total                 # impulse since the sweep's first round [N s]
    double diagonal[2]           # J H^-1 J' of its sides, of a normal's row
    int32_t row
    int32_t tree[2]              # of its sides, -1: moves nothing
    int32_t place[2]             # among the tree's rows

ctypedef struct LadenBlock:
    double effort
    double undone                # a change of a velocity that may be left as it is [m/s]
    int64_t seen                 # stamps of its trees when it was solved and changed no more than that; -1: never
    int32_t row
    int32_t begin                # among the laden rows
    int32_t rubbing              # from which block on its manifold's friction is, or what comes after the manifold
    int32_t count                # rows
    int32_t tree[2]              # of its two bodies, -1: moves nothing

# Blocks of a group on the same two trees, one after the other.
ctypedef struct LadenRun:
    double effort                # the largest of them
    int64_t seen                 # stamps of the trees when none of them changed more than may be left undone; -1: some did
    int32_t begin                # in `order`
    int32_t end
    int32_t tree[2]

cdef class LadenRows:
    cdef GeneralizedRows generalized
    cdef GeneralizedSweeps sweeps
    cdef object kept, kept_trees, kept_room
    cdef Py_ssize_t capacity             # rows
    cdef Py_ssize_t room, wanted_room    # numbers of all matrices
    cdef LadenBlock* blocks
    cdef int32_t* order                  # the blocks, group by group
    cdef LadenRun* runs
    cdef Py_ssize_t run_count
    cdef Py_ssize_t block_count
    cdef LadenRow* laden
    cdef Py_ssize_t row_count
    cdef int32_t* member                 # (2 rows,) by tree: 2 * laden row + side
    cdef double* rate                    # (2 rows,) likewise: J qd of the tree's part, where it is square
    cdef LadenTree* trees
    cdef int32_t* tree_at                # (velocities,) of the tree that begins there, -1: none yet
    cdef Py_ssize_t tree_count
    cdef double* matrix
    cdef int64_t changes                 # how many more than what may be left undone

    cdef int fit(self, const Row* rows, Py_ssize_t end, const int32_t* blocks, Py_ssize_t count) noexcept nogil
    cdef void begin(self, const Row* rows, Py_ssize_t end, const int32_t* blocks, Py_ssize_t count, const Effort* efforts,
                    const double* undone, const double* at_most, bint rub, int sweeps) noexcept nogil
    cdef double sweep(self, Row* rows, double* velocity, int relaxed) noexcept nogil
    cdef void list_rows(self, const Row* rows, Py_ssize_t first, int count, double again) noexcept nogil
    cdef void forget_trees(self) noexcept nogil
    cdef void fill(self, const LadenTree* tree) noexcept nogil
    cdef int32_t root(self, int32_t tree) noexcept nogil
    cdef void find_groups(self) noexcept nogil
    cdef double sweep_group(self, Row* rows, Py_ssize_t first, Py_ssize_t end, double* velocity, int relaxed) noexcept nogil
    cdef void note(self, LadenBlock* block, double change, int64_t seen) noexcept nogil
    cdef double solve_normals(self, Row* rows, LadenBlock* block, double* velocity, int relaxed) noexcept nogil
    cdef double solve(self, Row* rows, LadenBlock* block, double* velocity, int relaxed) noexcept nogil
    cdef void free_friction(self, const Row* rows, LadenBlock* normal) noexcept nogil
    cdef void act(self, const LadenRow* laden, double impulse, double* velocity) noexcept nogil
