"""Loops that are shared out among threads."""

# Some of the turns of a loop: [begin, end). worker: which of the threads does them.
ctypedef void (*Work)(void* what, Py_ssize_t begin, Py_ssize_t end, int worker) noexcept nogil

cdef enum:
    MOST_WORKERS = 64            # threads of a world: what each finds is kept in an array of as many

cdef void share_out(Work work, void* what, Py_ssize_t count, Py_ssize_t least, int threads) noexcept nogil
