"""The algorithms over a tree from Python: what those that build on them need of it."""

from libc.stdint cimport int32_t
from mcsim.core._thread_pool cimport MOST_WORKERS
from mcsim.core._turn cimport Turn
from mcsim.reduced._links cimport Tree, TreeKernels
from mcsim.wide._lane_types cimport Wide

cdef enum:
    LEAST_GROUPS = 8             # of states, a thread: fewer are not worth waking one

# What is given of many states: rows `stride` apart, 0: the same one for all. NULL: none.
ctypedef struct Given:
    const double* rows
    Py_ssize_t size
    Py_ssize_t stride

ctypedef struct Batch:
    const TreeKernels* kernels
    Tree trees[MOST_WORKERS]
    Wide* buffers[MOST_WORKERS]          # of the numbers given and found, by worker
    int task
    Py_ssize_t count
    Given given[4]                       # q, qd, tau or qdd, forces
    double* found
    Py_ssize_t found_size


cdef class Dynamics:
    cdef readonly Py_ssize_t nq, nv
    cdef readonly int threads
    cdef readonly object expanded_parent     # (nv,) of each velocity the one before it towards the base, -1: none
    cdef Py_ssize_t body_count
    cdef object links, user_numbers, turns, link_of
    cdef tuple rest
    cdef tuple user, shape, square, names
    cdef int32_t* delicate               # links some of whose q are no good
    cdef Py_ssize_t delicate_count
    cdef list kept
    cdef Tree tree                       # of one lane
    cdef const TreeKernels* wide         # of many; NULL before they are asked for
    cdef Batch batch
    cdef Turn turn                       # all of it works in one room

    cdef _fit(self, const TreeKernels* kernels, Tree* tree)
    cdef int _widen(self) except -1
    cdef _take(self, object array, str name, Py_ssize_t size, Given* given, Py_ssize_t* count)
    cdef int _check_coordinates(self, const Given* q, Py_ssize_t count, bint solving) except -1
    cdef _take_forces(self, object forces, Given* given, Py_ssize_t* count)
    cdef _run(self, int task, object q, object qd, object x, object forces)
    cdef int _begin(self, doing) except -1
    cdef int _one_state(self, int task, const Given* given, double* found) except -1
    cdef int _states(self, int task, const Given* given, Py_ssize_t count, double* found, Py_ssize_t size) except -1
    cdef int _ask_users(self, const double* q, const double* qd) except -1
    cdef _of_bodies(self, object q, object qd)


cdef inline Wide* beyond(const TreeKernels* kernels, Wide* first, Py_ssize_t count) noexcept nogil:
    return <Wide*>(<char*>first + count * kernels.wide_size)


cdef int find_any(object array, double** numbers) except -1
