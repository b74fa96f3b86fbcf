"""Memory of the collision stage: arrays of records that grow."""

from libc.stdlib cimport calloc, realloc


cdef inline void* zeroed(Py_ssize_t count, size_t size) except NULL:
    """Memory for `count` records, at least one."""
    cdef inline void* block = calloc(count if count > 0 else 1, size)
    if block == NULL:
        raise MemoryError(f"the collision stage needs {count * size} bytes")
    return block


cdef inline void* resized(void* block, Py_ssize_t count, size_t size) except NULL:
    cdef inline void* larger = realloc(block, count * size)
    if larger == NULL:
        raise MemoryError(f"the collision stage needs {count * size} bytes for {count} pairs of shapes")
    return larger


cdef inline void* address(array) except? NULL:
    return <void*><size_t>array.ctypes.data
