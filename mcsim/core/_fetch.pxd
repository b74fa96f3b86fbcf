"""Cache lines asked for before they are read, while other work is done. It changes no result."""

cdef extern from *:
    """
    #include <stddef.h>
    /* Where the compiler can say so. */
    #if defined(__GNUC__)
    #define MC_FETCH(p) __builtin_prefetch((const void*)(p))
    #else
    #define MC_FETCH(p) ((void)(p))
    #endif
    static inline void mc_fetch(const void* from, size_t size) {
        size_t at;
        for (at = 0; at < size; at += 64)
            MC_FETCH((const char*)from + at);
    }
    """
    # `size` bytes; the address need not be one that may be read.
    void fetch "mc_fetch"(const void* address, size_t size) noexcept nogil
