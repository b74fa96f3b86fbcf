"""The wide kernels at the compiler's own level, and what this processor has beyond it."""

include "_kernels.pxi"

cdef extern from *:
    """
    #if defined(__GNUC__) && defined(__x86_64__)
    /* By features: compilers before gcc 12 do not know the levels' names. */
    static int mc_supports_v3(void)
    {
        __builtin_cpu_init();
        return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi")
            && __builtin_cpu_supports("bmi2");
    }
    static int mc_supports_v4(void)
    {
        return mc_supports_v3() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw")
            && __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq")
            && __builtin_cpu_supports("avx512vl");
    }
    #else
    static int mc_supports_v3(void) { return 0; }
    static int mc_supports_v4(void) { return 0; }
    #endif
    """
    bint supports_v3 "mc_supports_v3"()
    bint supports_v4 "mc_supports_v4"()


def supports(level):
    """Whether this processor has the level "v3" or "v4"."""
    return supports_v3() if level == "v3" else supports_v4()
