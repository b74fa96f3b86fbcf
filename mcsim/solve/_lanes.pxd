"""The velocities of a row's two bodies in six registers of two doubles, and the two products that a sweep is made of.

The compiler does not find this shape by itself: with it a row costs 10 ns instead of 16. The plain version below it,
for other compilers than gcc and clang, adds in the same order and gives the same bits.
"""

from mcsim.core._types cimport Twist

cdef extern from *:
    """
    #if defined(__GNUC__) && !defined(MCSIM_NO_LANES)
    typedef double mc_lanes __attribute__((vector_size(16), aligned(8), may_alias));
    typedef struct { mc_lanes a0, a1, a2, b0, b1, b2; } mc_pair;

    static inline mc_pair mc_pair_load(const void* twist_a, const void* twist_b)
    {
        const mc_lanes* a = (const mc_lanes*) twist_a;
        const mc_lanes* b = (const mc_lanes*) twist_b;
        mc_pair v = {a[0], a[1], a[2], b[0], b[1], b[2]};
        return v;
    }
    static inline void mc_pair_store(mc_pair v, void* twist_a, void* twist_b)
    {
        mc_lanes* a = (mc_lanes*) twist_a;
        mc_lanes* b = (mc_lanes*) twist_b;
        a[0] = v.a0; a[1] = v.a1; a[2] = v.a2;
        b[0] = v.b0; b[1] = v.b1; b[2] = v.b2;
    }
    static inline double mc_pair_dot(const double* jacobian, mc_pair v)
    {
        const mc_lanes* j = (const mc_lanes*) jacobian;
        mc_lanes s = ((j[0] * v.a0 + j[1] * v.a1) + (j[2] * v.a2 + j[3] * v.b0)) + (j[4] * v.b1 + j[5] * v.b2);
        return s[0] + s[1];
    }
    static inline mc_pair mc_pair_add(mc_pair v, const double* response, double impulse)
    {
        const mc_lanes* m = (const mc_lanes*) response;
        mc_lanes x = {impulse, impulse};
        v.a0 += m[0] * x; v.a1 += m[1] * x; v.a2 += m[2] * x;
        v.b0 += m[3] * x; v.b1 += m[4] * x; v.b2 += m[5] * x;
        return v;
    }
    #else
    typedef struct { double d[12]; } mc_pair;

    static inline mc_pair mc_pair_load(const void* twist_a, const void* twist_b)
    {
        mc_pair v;
        int k;
        for (k = 0; k < 6; k++) { v.d[k] = ((const double*) twist_a)[k]; v.d[6 + k] = ((const double*) twist_b)[k]; }
        return v;
    }
    static inline void mc_pair_store(mc_pair v, void* twist_a, void* twist_b)
    {
        int k;
        for (k = 0; k < 6; k++) { ((double*) twist_a)[k] = v.d[k]; ((double*) twist_b)[k] = v.d[6 + k]; }
    }
    static inline double mc_pair_dot(const double* j, mc_pair v)
    {
        double s[2];
        int k;
        for (k = 0; k < 2; k++)
            s[k] = ((j[k] * v.d[k] + j[k + 2] * v.d[k + 2]) + (j[k + 4] * v.d[k + 4] + j[k + 6] * v.d[k + 6]))
                 + (j[k + 8] * v.d[k + 8] + j[k + 10] * v.d[k + 10]);
        return s[0] + s[1];
    }
    static inline mc_pair mc_pair_add(mc_pair v, const double* response, double impulse)
    {
        int k;
        for (k = 0; k < 12; k++) v.d[k] += response[k] * impulse;
        return v;
    }
    #endif
    """
    ctypedef struct Pair "mc_pair":
        pass
    # The twists of two bodies; written back together (the world's row may be loaded and stored: it stays zero).
    Pair pair_load "mc_pair_load"(const Twist* a, const Twist* b) noexcept nogil
    void pair_store "mc_pair_store"(Pair v, Twist* a, Twist* b) noexcept nogil
    # J v of a row: jacobian (12,).
    double pair_dot "mc_pair_dot"(const double* jacobian, Pair v) noexcept nogil
    # v + M^-1 J' impulse: response (12,) = M^-1 J'.
    Pair pair_add "mc_pair_add"(Pair v, const double* response, double impulse) noexcept nogil
