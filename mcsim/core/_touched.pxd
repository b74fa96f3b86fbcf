"""Numbers of rows that are no longer as somebody saw them, each once; or all of them."""

from libc.stdint cimport int8_t, int32_t

ctypedef struct Touched:
    bint all                     # whatever is listed
    int32_t* rows                # in the order in which they came
    Py_ssize_t count
    int8_t* marks                # of each row whether it is listed


cdef inline void touch(Touched* t, int32_t row) noexcept nogil:
    if t.all or t.marks[row]:
        return
    t.marks[row] = 1
    t.rows[t.count] = row
    t.count += 1


cdef inline void touch_some(Touched* t, const int32_t* rows, Py_ssize_t count) noexcept nogil:
    cdef Py_ssize_t k
    for k in range(0 if t.all else count):
        touch(t, rows[k])


cdef inline void untouch(Touched* t) noexcept nogil:
    """Everything was seen."""
    cdef Py_ssize_t k
    for k in range(t.count):
        t.marks[t.rows[k]] = 0
    t.count = 0
    t.all = False


cdef inline void retouch(Touched* t, bint everything, Py_ssize_t count) noexcept nogil:
    """After `untouch`, and before anything else: what was seen is to be seen again. everything, count: `all` and `count` as
    they were."""
    cdef Py_ssize_t k
    t.all = everything
    for k in range(0 if everything else count):
        touch(t, t.rows[k])


cdef inline void drop_beyond(Touched* t, int32_t end) noexcept nogil:
    """Rows from `end` on are no longer there."""
    cdef Py_ssize_t k
    cdef Py_ssize_t kept = 0
    for k in range(t.count):
        if t.rows[k] < end:
            t.rows[kept] = t.rows[k]
            kept += 1
        else:
            t.marks[t.rows[k]] = 0
    t.count = kept


cdef inline void sort_touched(Touched* t) noexcept nogil:
    """Rising, by Shell's sort: there are few, or it is `all`."""
    cdef Py_ssize_t gap = t.count // 2
    cdef Py_ssize_t i, k
    cdef int32_t row
    while gap > 0:
        for i in range(gap, t.count):
            row = t.rows[i]
            k = i
            while k >= gap and t.rows[k - gap] > row:
                t.rows[k] = t.rows[k - gap]
                k -= gap
            t.rows[k] = row
        gap //= 2
