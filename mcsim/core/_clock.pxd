"""Time for stage timers, without Python: a counter that is read in few nanoseconds, and what one of its ticks is."""

from libc.stdint cimport int64_t
from mcsim.core._whole cimport whole

cdef extern from *:
    """
    #include <stdint.h>
    #include <time.h>
    #if defined(__GNUC__) && defined(__x86_64__)
    #include <cpuid.h>
    #include <x86intrin.h>
    #define MC_COUNTER() ((int64_t)__rdtsc())
    /* Whether the processor's counter goes at one rate, whatever the processor's own clock and power state are. */
    static int mc_counts_steadily(void) {
        unsigned a, b, c, d = 0;
        return __get_cpuid(0x80000007, &a, &b, &c, &d) && (d >> 8 & 1);
    }
    #else
    #define MC_COUNTER() ((int64_t)0)
    static int mc_counts_steadily(void) { return 0; }
    #endif
    /* Nanoseconds that never run backwards, where the system has such a clock: 25 ns a look. */
    static int64_t mc_nanoseconds(void) {
        struct timespec t;
    #ifdef CLOCK_MONOTONIC
        clock_gettime(CLOCK_MONOTONIC, &t);
    #else
        timespec_get(&t, TIME_UTC);
    #endif
        return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
    }
    static int mc_steady;                        /* ticks are the processor's; else nanoseconds */
    static double mc_tick_length = 1e-9;
    static int64_t mc_first_tick, mc_first_nanosecond;
    static int64_t mc_ticks(void) {
        return mc_steady ? MC_COUNTER() : mc_nanoseconds();
    }
    /* Both at one moment: of some tries the one during which least time passed, for the system may let others run
       between the two looks. */
    static void mc_look_at_both(int64_t* tick, int64_t* nanosecond) {
        int64_t before, at, after, least = INT64_MAX;
        int k;
        for (k = 0; k < 8; k++) {
            before = mc_nanoseconds();
            at = mc_ticks();
            after = mc_nanoseconds();
            if (after - before < least) {
                least = after - before;
                *tick = at;
                *nanosecond = before + least / 2;
            }
        }
    }
    /* The counter's rate is taken against the clock from the module's import until a tick's length is first asked for,
       at least 10 ms. */
    static void mc_start_clock(void) {
        mc_steady = mc_counts_steadily();
        mc_tick_length = mc_steady ? 0.0 : 1e-9;
        mc_look_at_both(&mc_first_tick, &mc_first_nanosecond);
    }
    static double mc_tick(void) {
        int64_t tick, nanosecond;
        double length = mc_whole(&mc_tick_length);      /* several threads may ask for it first, and each take it */
        if (length == 0.0) {
            do mc_look_at_both(&tick, &nanosecond); while (nanosecond - mc_first_nanosecond < 10000000);
            length = 1e-9 * (double)(nanosecond - mc_first_nanosecond) / (double)(tick - mc_first_tick);
            mc_set_whole(&mc_tick_length, length);
        }
        return length;
    }
    """
    # Once, when a module that keeps time is imported.
    void start_clock "mc_start_clock"() noexcept nogil
    int64_t ticks "mc_ticks"() noexcept nogil
    # [s] of one tick
    double tick "mc_tick"() noexcept nogil
