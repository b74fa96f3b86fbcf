"""The wide kernels at the compiler's own level, and what this processor has beyond it."""

from cpython.pycapsule cimport PyCapsule_New

include "_contacts.pxi"
include "_bodies.pxi"
include "_balls.pxi"

cdef extern from *:
    """
    #if defined(__GNUC__) && defined(__x86_64__)
    static int mc_supports_v3(void) { __builtin_cpu_init(); return __builtin_cpu_supports("x86-64-v3") != 0; }
    static int mc_supports_v4(void) { __builtin_cpu_init(); return __builtin_cpu_supports("x86-64-v4") != 0; }
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
