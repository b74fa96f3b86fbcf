"""Memory for large arrays of records: it begins on a cache line, and lies in huge pages where the system has them."""

cdef extern from *:
    """
    #include <stdlib.h>
    #include <string.h>
    #if defined(__linux__)
    #include <sys/mman.h>
    #endif
    #define MC_LINE 64
    #define MC_HUGE_PAGE ((size_t)2 << 20)

    /* As realloc() of `old` bytes; the block begins on a cache line, where the system can. NULL: there is none, and the
       old block stays. To be freed with free(). */
    static void* mc_lines(void* block, size_t old, size_t size) {
    #if defined(__unix__) || defined(__APPLE__)
        void* larger = NULL;
        size_t line = size >= MC_HUGE_PAGE ? MC_HUGE_PAGE : MC_LINE;
        if (posix_memalign(&larger, line, size > 0 ? size : 1) != 0)
            return NULL;
    #if defined(MADV_HUGEPAGE)
        if (line == MC_HUGE_PAGE)
            madvise(larger, size, MADV_HUGEPAGE);
    #endif
        if (block != NULL)
            memcpy(larger, block, old < size ? old : size);
        free(block);
        return larger;
    #else
        (void)old;
        return realloc(block, size > 0 ? size : 1);
    #endif
    }
    """
    void* lines "mc_lines"(void* block, size_t old, size_t size) noexcept nogil
