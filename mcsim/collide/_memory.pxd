"""Memory of the collision stage: columns of records that grow and close up together."""

from cpython.buffer cimport PyBUF_ND, PyBuffer_Release, PyObject_GetBuffer
from libc.stdint cimport int8_t
from libc.stdlib cimport realloc
from libc.string cimport memchr, memmove, memset
from mcsim.core._lines cimport lines

# One array with a record for each shape.
ctypedef struct Column:
    void** block                 # where its owner keeps it
    size_t size                  # of a record
    bint listed                  # it is a list of shapes, which its owner keeps itself


cdef inline void* resized(void* block, Py_ssize_t count, size_t size) except NULL:
    """Room for `count` records, at least one; the old ones stay. If there is none the old block stays, too."""
    cdef void* larger = realloc(block, (count if count > 0 else 1) * size)
    if larger == NULL:
        raise MemoryError(f"the collision stage needs {count * size} bytes for {count} records")
    return larger


cdef inline void* resized_lines(void* block, Py_ssize_t old, Py_ssize_t count, size_t size) except NULL:
    """As resized() of `old` records; the first one begins on a cache line."""
    cdef void* larger = lines(block, old * size, count * size)
    if larger == NULL:
        raise MemoryError(f"the collision stage needs {count * size} bytes for {count} records")
    return larger


cdef inline Py_ssize_t next_of(const int8_t* flags, int8_t value, Py_ssize_t i, Py_ssize_t count) noexcept nogil:
    """The first place from i on where this value stands, or `count`."""
    cdef const int8_t* found = <const int8_t*>memchr(&flags[i], value, count - i) if i < count else NULL
    return count if found == NULL else found - flags


cdef inline void close_up(char* block, size_t size, const int8_t* gone, Py_ssize_t count) noexcept nogil:
    """Move the records that stay to the front, in order; the rest is zero."""
    cdef Py_ssize_t i = 0
    cdef Py_ssize_t kept = 0
    cdef Py_ssize_t begin
    while i < count:
        begin = next_of(gone, 0, i, count)
        i = next_of(gone, 1, begin, count)
        if kept < begin:
            memmove(block + kept * size, block + begin * size, (i - begin) * size)
        kept += i - begin
    memset(block + kept * size, 0, (count - kept) * size)


cdef inline void* address(array) except? NULL:
    """Where the numbers of an array begin; whoever writes there owns it."""
    cdef Py_buffer view
    PyObject_GetBuffer(array, &view, PyBUF_ND)           # as `array.ctypes.data`, which takes longer than most that use it
    PyBuffer_Release(&view)
    return view.buf
