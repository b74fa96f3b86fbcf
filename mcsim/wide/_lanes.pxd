"""Several doubles at a time: the type of the wide kernels, and the little arithmetic that C does not write as operators.

`Wide` is one register of the level that a module is compiled for: eight lanes at x86-64-v4, four at v3, two at the
baseline and on other processors, one where the compiler knows no vectors. To Cython it is a double, so + - * / and unary
minus are written as always; do not mix it with plain numbers, and begin with splat(). Every lane is computed as a double
of its own would be, in the order written: so all levels give the same bits.
"""

from libc.stdint cimport int32_t

cdef extern from *:
    """
    #ifndef MC_WIDE
    #define MC_WIDE
    #include <math.h>
    #include <stddef.h>
    #include <stdint.h>
    #define MC_AT(k) base[(ptrdiff_t)index[k] * stride]
    #if defined(MCSIM_NO_LANES) || !defined(__GNUC__)
    #define MC_WIDTH 1
    typedef double mc_wide;
    typedef int mc_mask;
    static inline mc_wide mc_splat(double x) { return x; }
    static inline mc_wide mc_gather(const double* base, const int32_t* index, int stride) { return MC_AT(0); }
    static inline void mc_scatter(mc_wide x, double* base, const int32_t* index, int stride) { MC_AT(0) = x; }
    static inline mc_mask mc_above(mc_wide x, mc_wide y) { return x > y; }
    static inline mc_mask mc_both(mc_mask p, mc_mask q) { return p && q; }
    static inline int mc_any(mc_mask p) { return p; }
    static inline mc_wide mc_choose(mc_mask p, mc_wide x, mc_wide y) { return p ? x : y; }
    static inline mc_wide mc_root(mc_wide x) { return sqrt(x); }
    static inline mc_wide mc_most(mc_wide x, mc_wide y) { return x > y ? x : y; }
    static inline mc_wide mc_least(mc_wide x, mc_wide y) { return x < y ? x : y; }
    #elif defined(__AVX512F__) && defined(__AVX512DQ__)
    #include <immintrin.h>
    #define MC_WIDTH 8
    typedef double mc_wide __attribute__((vector_size(64)));
    typedef __mmask8 mc_mask;
    static inline mc_wide mc_splat(double x) { return (mc_wide)_mm512_set1_pd(x); }
    static inline mc_wide mc_gather(const double* base, const int32_t* index, int stride)
    {
        mc_wide r = {MC_AT(0), MC_AT(1), MC_AT(2), MC_AT(3), MC_AT(4), MC_AT(5), MC_AT(6), MC_AT(7)};
        return r;
    }
    /* Rows of six: loaded whole and transposed. */
    static inline void mc_gather6(const double* base, const int32_t* index, mc_wide* out)
    {
        __m512d r[8], even[4], odd[4], low, high;
        int k;
        for (k = 0; k < 8; k++) r[k] = _mm512_maskz_loadu_pd(63, base + 6 * (ptrdiff_t)index[k]);
        for (k = 0; k < 4; k++) {
            even[k] = _mm512_unpacklo_pd(r[2 * k], r[2 * k + 1]);
            odd[k] = _mm512_unpackhi_pd(r[2 * k], r[2 * k + 1]);
        }
        low = _mm512_shuffle_f64x2(even[0], even[1], 0x44);
        high = _mm512_shuffle_f64x2(even[2], even[3], 0x44);
        out[0] = (mc_wide)_mm512_shuffle_f64x2(low, high, 0x88);
        out[2] = (mc_wide)_mm512_shuffle_f64x2(low, high, 0xdd);
        low = _mm512_shuffle_f64x2(odd[0], odd[1], 0x44);
        high = _mm512_shuffle_f64x2(odd[2], odd[3], 0x44);
        out[1] = (mc_wide)_mm512_shuffle_f64x2(low, high, 0x88);
        out[3] = (mc_wide)_mm512_shuffle_f64x2(low, high, 0xdd);
        out[4] = (mc_wide)_mm512_shuffle_f64x2(_mm512_shuffle_f64x2(even[0], even[1], 0xee),
                                               _mm512_shuffle_f64x2(even[2], even[3], 0xee), 0x88);
        out[5] = (mc_wide)_mm512_shuffle_f64x2(_mm512_shuffle_f64x2(odd[0], odd[1], 0xee),
                                               _mm512_shuffle_f64x2(odd[2], odd[3], 0xee), 0x88);
    }
    static inline void mc_scatter6(const mc_wide* x, double* base, const int32_t* index)
    {
        __m512d a, b, c, low, high;
        int k;
        for (k = 0; k < 2; k++) {
            a = k ? _mm512_unpackhi_pd((__m512d)x[0], (__m512d)x[1]) : _mm512_unpacklo_pd((__m512d)x[0], (__m512d)x[1]);
            b = k ? _mm512_unpackhi_pd((__m512d)x[2], (__m512d)x[3]) : _mm512_unpacklo_pd((__m512d)x[2], (__m512d)x[3]);
            c = k ? _mm512_unpackhi_pd((__m512d)x[4], (__m512d)x[5]) : _mm512_unpacklo_pd((__m512d)x[4], (__m512d)x[5]);
            low = _mm512_shuffle_f64x2(a, b, 0x44);
            high = _mm512_shuffle_f64x2(a, b, 0xee);
            _mm512_mask_storeu_pd(base + 6 * (ptrdiff_t)index[k], 63, _mm512_shuffle_f64x2(low, c, 0x08));
            _mm512_mask_storeu_pd(base + 6 * (ptrdiff_t)index[2 + k], 63, _mm512_shuffle_f64x2(low, c, 0x1d));
            _mm512_mask_storeu_pd(base + 6 * (ptrdiff_t)index[4 + k], 63, _mm512_shuffle_f64x2(high, c, 0x28));
            _mm512_mask_storeu_pd(base + 6 * (ptrdiff_t)index[6 + k], 63, _mm512_shuffle_f64x2(high, c, 0x3d));
        }
    }
    static inline mc_mask mc_above(mc_wide x, mc_wide y)
    { return _mm512_cmp_pd_mask((__m512d)x, (__m512d)y, _CMP_GT_OQ); }
    static inline mc_mask mc_both(mc_mask p, mc_mask q) { return p & q; }
    static inline int mc_any(mc_mask p) { return p != 0; }
    static inline mc_wide mc_choose(mc_mask p, mc_wide x, mc_wide y)
    { return (mc_wide)_mm512_mask_blend_pd(p, (__m512d)y, (__m512d)x); }
    static inline mc_wide mc_root(mc_wide x) { return (mc_wide)_mm512_sqrt_pd((__m512d)x); }
    static inline mc_wide mc_most(mc_wide x, mc_wide y) { return (mc_wide)_mm512_max_pd((__m512d)x, (__m512d)y); }
    static inline mc_wide mc_least(mc_wide x, mc_wide y) { return (mc_wide)_mm512_min_pd((__m512d)x, (__m512d)y); }
    #elif defined(__AVX__)
    #include <immintrin.h>
    #define MC_WIDTH 4
    typedef double mc_wide __attribute__((vector_size(32)));
    typedef mc_wide mc_mask;
    static inline mc_wide mc_splat(double x) { return (mc_wide)_mm256_set1_pd(x); }
    static inline mc_wide mc_gather(const double* base, const int32_t* index, int stride)
    {
        mc_wide r = {MC_AT(0), MC_AT(1), MC_AT(2), MC_AT(3)};
        return r;
    }
    /* Rows of six: loaded whole and transposed. */
    static inline void mc_gather6(const double* base, const int32_t* index, mc_wide* out)
    {
        const double* r[4];
        __m256d a, b, c, d;
        int k;
        for (k = 0; k < 4; k++) r[k] = base + 6 * (ptrdiff_t)index[k];
        a = _mm256_unpacklo_pd(_mm256_loadu_pd(r[0]), _mm256_loadu_pd(r[1]));
        b = _mm256_unpackhi_pd(_mm256_loadu_pd(r[0]), _mm256_loadu_pd(r[1]));
        c = _mm256_unpacklo_pd(_mm256_loadu_pd(r[2]), _mm256_loadu_pd(r[3]));
        d = _mm256_unpackhi_pd(_mm256_loadu_pd(r[2]), _mm256_loadu_pd(r[3]));
        out[0] = (mc_wide)_mm256_permute2f128_pd(a, c, 0x20);
        out[1] = (mc_wide)_mm256_permute2f128_pd(b, d, 0x20);
        out[2] = (mc_wide)_mm256_permute2f128_pd(a, c, 0x31);
        out[3] = (mc_wide)_mm256_permute2f128_pd(b, d, 0x31);
        a = _mm256_insertf128_pd(_mm256_castpd128_pd256(_mm_loadu_pd(r[0] + 4)), _mm_loadu_pd(r[2] + 4), 1);
        b = _mm256_insertf128_pd(_mm256_castpd128_pd256(_mm_loadu_pd(r[1] + 4)), _mm_loadu_pd(r[3] + 4), 1);
        out[4] = (mc_wide)_mm256_unpacklo_pd(a, b);
        out[5] = (mc_wide)_mm256_unpackhi_pd(a, b);
    }
    static inline void mc_scatter6(const mc_wide* x, double* base, const int32_t* index)
    {
        double* r[4];
        __m256d a, b, c;
        int k;
        for (k = 0; k < 4; k++) r[k] = base + 6 * (ptrdiff_t)index[k];
        for (k = 0; k < 2; k++) {
            a = k ? _mm256_unpackhi_pd((__m256d)x[0], (__m256d)x[1]) : _mm256_unpacklo_pd((__m256d)x[0], (__m256d)x[1]);
            b = k ? _mm256_unpackhi_pd((__m256d)x[2], (__m256d)x[3]) : _mm256_unpacklo_pd((__m256d)x[2], (__m256d)x[3]);
            c = k ? _mm256_unpackhi_pd((__m256d)x[4], (__m256d)x[5]) : _mm256_unpacklo_pd((__m256d)x[4], (__m256d)x[5]);
            _mm256_storeu_pd(r[k], _mm256_permute2f128_pd(a, b, 0x20));
            _mm_storeu_pd(r[k] + 4, _mm256_castpd256_pd128(c));
            _mm256_storeu_pd(r[2 + k], _mm256_permute2f128_pd(a, b, 0x31));
            _mm_storeu_pd(r[2 + k] + 4, _mm256_extractf128_pd(c, 1));
        }
    }
    static inline mc_mask mc_above(mc_wide x, mc_wide y)
    { return (mc_mask)_mm256_cmp_pd((__m256d)x, (__m256d)y, _CMP_GT_OQ); }
    static inline mc_mask mc_both(mc_mask p, mc_mask q) { return (mc_mask)_mm256_and_pd((__m256d)p, (__m256d)q); }
    static inline int mc_any(mc_mask p) { return _mm256_movemask_pd((__m256d)p) != 0; }
    static inline mc_wide mc_choose(mc_mask p, mc_wide x, mc_wide y)
    { return (mc_wide)_mm256_blendv_pd((__m256d)y, (__m256d)x, (__m256d)p); }
    static inline mc_wide mc_root(mc_wide x) { return (mc_wide)_mm256_sqrt_pd((__m256d)x); }
    static inline mc_wide mc_most(mc_wide x, mc_wide y) { return (mc_wide)_mm256_max_pd((__m256d)x, (__m256d)y); }
    static inline mc_wide mc_least(mc_wide x, mc_wide y) { return (mc_wide)_mm256_min_pd((__m256d)x, (__m256d)y); }
    #else
    #define MC_WIDTH 2
    typedef double mc_wide __attribute__((vector_size(16)));
    typedef int64_t mc_mask __attribute__((vector_size(16)));
    static inline mc_wide mc_splat(double x) { mc_wide r = {x, x}; return r; }
    static inline mc_wide mc_gather(const double* base, const int32_t* index, int stride)
    {
        mc_wide r = {MC_AT(0), MC_AT(1)};
        return r;
    }
    static inline mc_mask mc_above(mc_wide x, mc_wide y) { return (mc_mask)(x > y); }
    static inline mc_mask mc_both(mc_mask p, mc_mask q) { return p & q; }
    static inline int mc_any(mc_mask p) { return (p[0] | p[1]) != 0; }
    #if defined(__SSE2__)
    #include <emmintrin.h>
    /* By name: gcc 12 breaks off where it finds some of these choices out by itself. */
    static inline mc_wide mc_choose(mc_mask p, mc_wide x, mc_wide y)
    { return (mc_wide)_mm_or_pd(_mm_and_pd((__m128d)p, (__m128d)x), _mm_andnot_pd((__m128d)p, (__m128d)y)); }
    #else
    static inline mc_wide mc_choose(mc_mask p, mc_wide x, mc_wide y)
    { return (mc_wide)((p & (mc_mask)x) | (~p & (mc_mask)y)); }
    #endif
    static inline mc_wide mc_root(mc_wide x) { mc_wide r = {sqrt(x[0]), sqrt(x[1])}; return r; }
    static inline mc_wide mc_most(mc_wide x, mc_wide y) { return mc_choose(mc_above(x, y), x, y); }
    static inline mc_wide mc_least(mc_wide x, mc_wide y) { return mc_choose(mc_above(y, x), x, y); }
    #endif
    #if MC_WIDTH > 1
    static inline void mc_scatter(mc_wide x, double* base, const int32_t* index, int stride)
    {
        int k;
        for (k = 0; k < MC_WIDTH; k++) MC_AT(k) = x[k];
    }
    #endif
    #if MC_WIDTH <= 2
    static inline void mc_gather6(const double* base, const int32_t* index, mc_wide* out)
    {
        int k;
        for (k = 0; k < 6; k++) out[k] = mc_gather(base + k, index, 6);
    }
    static inline void mc_scatter6(const mc_wide* x, double* base, const int32_t* index)
    {
        int k;
        for (k = 0; k < 6; k++) mc_scatter(x[k], base + k, index, 6);
    }
    #endif
    #endif
    """
    ctypedef double Wide "mc_wide"
    ctypedef long Mask "mc_mask"
    enum:
        WIDTH "MC_WIDTH"
    Wide splat "mc_splat"(double x) noexcept nogil
    # base[stride * index[k]] in lane k, and the way back
    Wide gather "mc_gather"(const double* base, const int32_t* index, int stride) noexcept nogil
    void scatter "mc_scatter"(Wide x, double* base, const int32_t* index, int stride) noexcept nogil
    # The same of whole rows of six doubles: out (6,), x (6,)
    void gather6 "mc_gather6"(const double* base, const int32_t* index, Wide* out) noexcept nogil
    void scatter6 "mc_scatter6"(const Wide* x, double* base, const int32_t* index) noexcept nogil
    Mask above "mc_above"(Wide x, Wide y) noexcept nogil              # x > y
    Mask both "mc_both"(Mask p, Mask q) noexcept nogil
    bint any_lane "mc_any"(Mask p) noexcept nogil
    Wide choose "mc_choose"(Mask p, Wide x, Wide y) noexcept nogil    # p ? x : y
    Wide root "mc_root"(Wide x) noexcept nogil
    Wide most "mc_most"(Wide x, Wide y) noexcept nogil                # x > y ? x : y
    Wide least "mc_least"(Wide x, Wide y) noexcept nogil


ctypedef struct Wide3:
    Wide x
    Wide y
    Wide z

# A symmetric matrix.
ctypedef struct Wide6:
    Wide xx
    Wide xy
    Wide xz
    Wide yy
    Wide yz
    Wide zz


cdef inline void put(Wide* x, int lane, double value) noexcept nogil:
    (<double*>x)[lane] = value


cdef inline double lane_of(const Wide* x, int lane) noexcept nogil:
    return (<const double*>x)[lane]


cdef inline Wide size_of(Wide x) noexcept nogil:
    """|x|"""
    return most(x, -x)


cdef inline Wide3 wide3(Wide x, Wide y, Wide z) noexcept nogil:
    cdef Wide3 r
    r.x = x
    r.y = y
    r.z = z
    return r


cdef inline Wide3 w_add(Wide3 a, Wide3 b) noexcept nogil:
    return wide3(a.x + b.x, a.y + b.y, a.z + b.z)


cdef inline Wide3 w_sub(Wide3 a, Wide3 b) noexcept nogil:
    return wide3(a.x - b.x, a.y - b.y, a.z - b.z)


cdef inline Wide3 w_scale(Wide s, Wide3 a) noexcept nogil:
    return wide3(s * a.x, s * a.y, s * a.z)


cdef inline Wide3 w_add_scaled(Wide3 a, Wide s, Wide3 b) noexcept nogil:
    """a + s b"""
    return wide3(a.x + s * b.x, a.y + s * b.y, a.z + s * b.z)


cdef inline Wide w_dot(Wide3 a, Wide3 b) noexcept nogil:
    return a.x * b.x + a.y * b.y + a.z * b.z


cdef inline Wide3 w_cross(Wide3 a, Wide3 b) noexcept nogil:
    return wide3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x)


cdef inline Wide3 w_times(const Wide6* m, Wide3 a) noexcept nogil:
    """m a"""
    return wide3(m.xx * a.x + m.xy * a.y + m.xz * a.z,
                 m.xy * a.x + m.yy * a.y + m.yz * a.z,
                 m.xz * a.x + m.yz * a.y + m.zz * a.z)


cdef inline Wide3 gather3(const double* base, const int32_t* index, int stride) noexcept nogil:
    return wide3(gather(base, index, stride), gather(base + 1, index, stride), gather(base + 2, index, stride))


cdef inline void scatter3(Wide3 a, double* base, const int32_t* index, int stride) noexcept nogil:
    scatter(a.x, base, index, stride)
    scatter(a.y, base + 1, index, stride)
    scatter(a.z, base + 2, index, stride)
