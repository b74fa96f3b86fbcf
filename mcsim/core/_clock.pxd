"""The time of day for stage timers, without Python."""

cdef extern from *:
    """
    #include <time.h>
    /* Seconds that never run backwards, where the system has such a clock. */
    static double mc_now(void) {
        struct timespec t;
    #ifdef CLOCK_MONOTONIC
        clock_gettime(CLOCK_MONOTONIC, &t);
    #else
        timespec_get(&t, TIME_UTC);
    #endif
        return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
    }
    """
    double now "mc_now"() noexcept nogil
