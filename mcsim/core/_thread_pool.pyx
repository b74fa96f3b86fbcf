"""Loops that are shared out among threads, by OpenMP.

Turns of such a loop must not depend on each other; then results do not depend on how many threads there are, nor on
which does what. Each thread takes one stretch of the loop, all stretches are equally long. Where the compiler has no
OpenMP the loop runs on one thread.
"""

from cython.parallel cimport prange

cdef extern from *:
    """
    #ifdef _OPENMP
    #define MC_THREADED 1
    #else
    #define MC_THREADED 0
    #endif
    """
    int MC_THREADED


def threaded():
    """Whether this build can use several threads."""
    return bool(MC_THREADED)


cdef void share_out(Work work, void* what, Py_ssize_t count, Py_ssize_t least, int threads) noexcept nogil:
    """Do work(what, begin, end, worker) for stretches that together are [0, count). Fewer turns than `least` a thread
    are not worth waking one. threads: at most MOST_WORKERS."""
    cdef int t
    if threads > 1 and least * threads > count:
        threads = <int>(count // least)
    if threads <= 1 or not MC_THREADED:
        work(what, 0, count, 0)
        return
    for t in prange(threads, num_threads=threads, schedule="static", chunksize=1):
        work(what, count * t // threads, count * (t + 1) // threads, t)
