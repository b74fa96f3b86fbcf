"""The types of the wide kernels: several doubles at a time, and the small records that are made of them.

`Wide` is one register of the level that a module is compiled for: eight lanes at x86-64-v4, four at v3, two at the
baseline and on other processors, one where the compiler knows no vectors. To Cython it is a double, so + - * / and unary
minus are written as always; do not mix it with plain numbers, and begin with splat() of _lanes.pxd. Every lane is computed
as a double of its own would be, in the order written: so all levels give the same bits.
"""

cdef extern from *:
    """
    #ifndef MC_WIDTH
    #if defined(MCSIM_NO_LANES) || !defined(__GNUC__)
    #define MC_WIDTH 1
    typedef double mc_wide;
    #elif defined(__AVX512F__) && defined(__AVX512DQ__)
    #define MC_WIDTH 8
    typedef double mc_wide __attribute__((vector_size(64)));
    #elif defined(__AVX__)
    #define MC_WIDTH 4
    typedef double mc_wide __attribute__((vector_size(32)));
    #else
    #define MC_WIDTH 2
    typedef double mc_wide __attribute__((vector_size(16)));
    #endif
    #endif
    """
    ctypedef double Wide "mc_wide"
    enum:
        WIDTH "MC_WIDTH"

ctypedef struct Wide3:
    Wide x
    Wide y
    Wide z

ctypedef struct WideQuat:
    Wide w
    Wide x
    Wide y
    Wide z

ctypedef struct WideMatrix:
    Wide3 x                      # rows
    Wide3 y
    Wide3 z

# A symmetric matrix.
ctypedef struct Wide6:
    Wide xx
    Wide xy
    Wide xz
    Wide yy
    Wide yz
    Wide zz
