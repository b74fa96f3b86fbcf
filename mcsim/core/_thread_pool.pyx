"""Loops that are shared out among threads, by OpenMP.

Turns of such a loop must not depend on each other; then results do not depend on how many threads there are, nor on
which does what. Each thread takes one stretch of the loop, all stretches are equally long. Where the compiler has no
OpenMP one thread does all stretches. No other module has loops of OpenMP.

The sanitizer of threads does not see how OpenMP's library makes its threads wait for each other, so here it is told: what
was written before the loop is there for every thread, and what they wrote for whoever goes on after it. Of this module
itself it watches nothing (setup.py), for what the compiler hands to the threads is handed over by that library.
"""

from cython.parallel cimport prange

cdef extern from *:
    """
    #ifdef _OPENMP
    #define MC_THREADED 1
    #else
    #define MC_THREADED 0
    #endif
    #ifdef MCSIM_WATCH_THREADS
    #include <sanitizer/tsan_interface.h>
    #define MC_LEAVE_TO(others) __tsan_release(others)
    #define MC_TAKE_FROM(others) __tsan_acquire(others)
    #else
    #define MC_LEAVE_TO(others) ((void)(others))
    #define MC_TAKE_FROM(others) ((void)(others))
    #endif
    """
    int MC_THREADED
    void MC_LEAVE_TO(void* others) noexcept nogil
    void MC_TAKE_FROM(void* others) noexcept nogil


def threaded():
    """Whether this build can use several threads."""
    return bool(MC_THREADED)


cdef void share_out(Work work, void* what, Py_ssize_t count, Py_ssize_t least, int threads) noexcept nogil:
    """Do work(what, begin, end, worker) for stretches that together are [0, count). Fewer turns than `least` a thread
    are not worth waking one. threads: at most MOST_WORKERS."""
    cdef int t
    cdef char begun, ended               # only where they are: what the sanitizer knows the two moments by
    if threads > 1 and least * threads > count:
        threads = <int>(count // least)
    if threads <= 1:
        work(what, 0, count, 0)
        return
    MC_LEAVE_TO(&begun)
    for t in prange(threads, num_threads=threads, schedule="static", chunksize=1):
        MC_TAKE_FROM(&begun)
        work(what, count * t // threads, count * (t + 1) // threads, t)
        MC_LEAVE_TO(&ended)
    MC_TAKE_FROM(&ended)
