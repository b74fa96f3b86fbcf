"""What will be read soon, brought into the cache ahead. Changes no result; does nothing where the compiler has no word for it."""

cdef extern from *:
    """
    #ifndef MC_FETCH_LINE
    #if defined(__GNUC__)
    #define MC_FETCH_LINE(p) __builtin_prefetch((const void*)(p))
    #else
    #define MC_FETCH_LINE(p) ((void)(p))
    #endif
    #endif
    """
    void fetch_line "MC_FETCH_LINE"(const void* address) noexcept nogil


cdef inline void fetch(const void* begin, Py_ssize_t size) noexcept nogil:
    """The lines, of 64 bytes, that lie at `begin`."""
    cdef Py_ssize_t at
    for at in range(0, size, 64):
        fetch_line(<const char*>begin + at)
