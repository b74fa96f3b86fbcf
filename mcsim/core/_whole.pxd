"""Numbers that one thread writes and others read at any time, each of them whole. They are in no order with anything else:
what is to be seen together with others is for who has a turn (core/_turn.pyx)."""

from libc.stdint cimport int32_t

cdef extern from *:
    """
    #include <stdint.h>
    #if defined(__GNUC__)
    #define MC_READ(at, x) __atomic_load(at, x, __ATOMIC_RELAXED)
    #define MC_WRITE(at, x) __atomic_store(at, x, __ATOMIC_RELAXED)
    #else                                        /* one load and one store, which all processors make whole */
    #define MC_READ(at, x) (*(x) = *(at))
    #define MC_WRITE(at, x) (*(at) = *(x))
    #endif
    static inline double mc_whole(volatile double* at) { double x; MC_READ(at, &x); return x; }
    static inline void mc_set_whole(volatile double* at, double x) { MC_WRITE(at, &x); }
    static inline unsigned long mc_whole_id(volatile unsigned long* at) { unsigned long x; MC_READ(at, &x); return x; }
    static inline void mc_set_whole_id(volatile unsigned long* at, unsigned long x) { MC_WRITE(at, &x); }
    static inline int32_t mc_whole_int(const int32_t* at) { int32_t x; MC_READ((volatile int32_t*)at, &x); return x; }
    static inline void mc_set_whole_int(int32_t* at, int32_t x) { MC_WRITE((volatile int32_t*)at, &x); }
    """
    double whole "mc_whole"(double* at) noexcept nogil
    void set_whole "mc_set_whole"(double* at, double x) noexcept nogil
    unsigned long whole_id "mc_whole_id"(unsigned long* at) noexcept nogil
    void set_whole_id "mc_set_whole_id"(unsigned long* at, unsigned long x) noexcept nogil
    int32_t whole_int "mc_whole_int"(const int32_t* at) noexcept nogil
    void set_whole_int "mc_set_whole_int"(int32_t* at, int32_t x) noexcept nogil
