"""The little arithmetic of lanes (_lane_types.pxd) that C does not write as operators: made of registers' own instructions
at each level.
"""

from libc.stdint cimport int32_t
from mcsim.core._math cimport vec3
from mcsim.core._types cimport Vec3
from mcsim.wide._lane_types cimport WIDTH, Wide, Wide3, Wide6, WideMatrix, WideQuat

cdef extern from *:
    """
    #ifndef MC_LANES
    #define MC_LANES
    #include <math.h>
    #include <stddef.h>
    #include <stdint.h>
    #if defined(__GNUC__)
    #define MC_INLINE static inline __attribute__((always_inline))
    #else
    #define MC_INLINE static inline
    #endif
    #define MC_AT(k) base[(ptrdiff_t)index[k] * stride]
    #if MC_WIDTH == 1
    typedef int mc_mask;
    MC_INLINE mc_wide mc_splat(double x) { return x; }
    MC_INLINE mc_wide mc_gather(const double* base, const int32_t* index, int stride) { return MC_AT(0); }
    MC_INLINE void mc_scatter(mc_wide x, double* base, const int32_t* index, int stride) { MC_AT(0) = x; }
    MC_INLINE mc_mask mc_above(mc_wide x, mc_wide y) { return x > y; }
    MC_INLINE mc_mask mc_both(mc_mask p, mc_mask q) { return p && q; }
    MC_INLINE int mc_any(mc_mask p) { return p; }
    MC_INLINE int mc_bits(mc_mask p) { return p; }
    MC_INLINE mc_wide mc_choose(mc_mask p, mc_wide x, mc_wide y) { return p ? x : y; }
    MC_INLINE mc_wide mc_root(mc_wide x) { return sqrt(x); }
    MC_INLINE mc_wide mc_most(mc_wide x, mc_wide y) { return x > y ? x : y; }
    MC_INLINE mc_wide mc_least(mc_wide x, mc_wide y) { return x < y ? x : y; }
    #elif MC_WIDTH == 8
    #include <immintrin.h>
    typedef __mmask8 mc_mask;
    MC_INLINE mc_wide mc_splat(double x) { return (mc_wide)_mm512_set1_pd(x); }
    MC_INLINE mc_wide mc_gather(const double* base, const int32_t* index, int stride)
    {
        mc_wide r = {MC_AT(0), MC_AT(1), MC_AT(2), MC_AT(3), MC_AT(4), MC_AT(5), MC_AT(6), MC_AT(7)};
        return r;
    }
    MC_INLINE mc_mask mc_above(mc_wide x, mc_wide y)
    { return _mm512_cmp_pd_mask((__m512d)x, (__m512d)y, _CMP_GT_OQ); }
    MC_INLINE mc_mask mc_both(mc_mask p, mc_mask q) { return p & q; }
    MC_INLINE int mc_any(mc_mask p) { return p != 0; }
    MC_INLINE int mc_bits(mc_mask p) { return p; }
    MC_INLINE mc_wide mc_choose(mc_mask p, mc_wide x, mc_wide y)
    { return (mc_wide)_mm512_mask_blend_pd(p, (__m512d)y, (__m512d)x); }
    MC_INLINE mc_wide mc_root(mc_wide x) { return (mc_wide)_mm512_sqrt_pd((__m512d)x); }
    MC_INLINE mc_wide mc_most(mc_wide x, mc_wide y) { return (mc_wide)_mm512_max_pd((__m512d)x, (__m512d)y); }
    MC_INLINE mc_wide mc_least(mc_wide x, mc_wide y) { return (mc_wide)_mm512_min_pd((__m512d)x, (__m512d)y); }
    /* Four numbers a body, one after the other, as rows of two 4 x 4 squares side by side; and back. */
    MC_INLINE void mc_transpose(__m512d r[4])
    {
        const __m512i even = _mm512_setr_epi64(0, 1, 8, 9, 4, 5, 12, 13);
        const __m512i odd = _mm512_setr_epi64(2, 3, 10, 11, 6, 7, 14, 15);
        __m512d a = _mm512_unpacklo_pd(r[0], r[1]), b = _mm512_unpackhi_pd(r[0], r[1]);
        __m512d c = _mm512_unpacklo_pd(r[2], r[3]), d = _mm512_unpackhi_pd(r[2], r[3]);
        r[0] = _mm512_permutex2var_pd(a, even, c);
        r[1] = _mm512_permutex2var_pd(b, even, d);
        r[2] = _mm512_permutex2var_pd(a, odd, c);
        r[3] = _mm512_permutex2var_pd(b, odd, d);
    }
    #define MC_ROW(k, mask) _mm512_insertf64x4(_mm512_castpd256_pd512(_mm256_maskz_loadu_pd(mask, &MC_AT(k))), \
                                               _mm256_maskz_loadu_pd(mask, &MC_AT(k + 4)), 1)
    MC_INLINE void mc_gather4(const double* base, const int32_t* index, int stride, mc_wide* out)
    {
        __m512d r[4] = {MC_ROW(0, 15), MC_ROW(1, 15), MC_ROW(2, 15), MC_ROW(3, 15)};
        mc_transpose(r);
        out[0] = (mc_wide)r[0]; out[1] = (mc_wide)r[1]; out[2] = (mc_wide)r[2]; out[3] = (mc_wide)r[3];
    }
    MC_INLINE void mc_gather3(const double* base, const int32_t* index, int stride, mc_wide* out)
    {
        __m512d r[4] = {MC_ROW(0, 7), MC_ROW(1, 7), MC_ROW(2, 7), MC_ROW(3, 7)};
        mc_transpose(r);
        out[0] = (mc_wide)r[0]; out[1] = (mc_wide)r[1]; out[2] = (mc_wide)r[2];
    }
    MC_INLINE void mc_scatter4(const mc_wide* in, double* base, const int32_t* index, int stride)
    {
        __m512d r[4] = {(__m512d)in[0], (__m512d)in[1], (__m512d)in[2], (__m512d)in[3]};
        int k;
        mc_transpose(r);
        for (k = 0; k < 4; k++) {
            _mm256_storeu_pd(&MC_AT(k), _mm512_castpd512_pd256(r[k]));
            _mm256_storeu_pd(&MC_AT(k + 4), _mm512_extractf64x4_pd(r[k], 1));
        }
    }
    /* Rows of six: the first four, and the last two. No access wider than a row: one that overlaps a row just stored would
       have to wait for it. */
    #define MC_PAIR(r, k, part) _mm512_insertf64x2(r, _mm_loadu_pd(base + 6 * (ptrdiff_t)index[k] + 4), part)
    MC_INLINE void mc_gather6(const double* base, const int32_t* index, mc_wide* out)
    {
        __m512d even = _mm512_castpd128_pd512(_mm_loadu_pd(base + 6 * (ptrdiff_t)index[0] + 4));
        __m512d odd = _mm512_castpd128_pd512(_mm_loadu_pd(base + 6 * (ptrdiff_t)index[1] + 4));
        mc_gather4(base, index, 6, out);
        even = MC_PAIR(even, 2, 1);
        odd = MC_PAIR(odd, 3, 1);
        even = MC_PAIR(even, 4, 2);
        odd = MC_PAIR(odd, 5, 2);
        even = MC_PAIR(even, 6, 3);
        odd = MC_PAIR(odd, 7, 3);
        out[4] = (mc_wide)_mm512_unpacklo_pd(even, odd);
        out[5] = (mc_wide)_mm512_unpackhi_pd(even, odd);
    }
    #define MC_STORE(r, k, part) _mm_storeu_pd(base + 6 * (ptrdiff_t)index[k] + 4, _mm512_extractf64x2_pd(r, part))
    MC_INLINE void mc_scatter6(const mc_wide* x, double* base, const int32_t* index)
    {
        __m512d even = _mm512_unpacklo_pd((__m512d)x[4], (__m512d)x[5]);
        __m512d odd = _mm512_unpackhi_pd((__m512d)x[4], (__m512d)x[5]);
        mc_scatter4(x, base, index, 6);
        MC_STORE(even, 0, 0);
        MC_STORE(odd, 1, 0);
        MC_STORE(even, 2, 1);
        MC_STORE(odd, 3, 1);
        MC_STORE(even, 4, 2);
        MC_STORE(odd, 5, 2);
        MC_STORE(even, 6, 3);
        MC_STORE(odd, 7, 3);
    }
    #elif MC_WIDTH == 4
    #include <immintrin.h>
    typedef mc_wide mc_mask;
    MC_INLINE mc_wide mc_splat(double x) { return (mc_wide)_mm256_set1_pd(x); }
    MC_INLINE mc_wide mc_gather(const double* base, const int32_t* index, int stride)
    {
        mc_wide r = {MC_AT(0), MC_AT(1), MC_AT(2), MC_AT(3)};
        return r;
    }
    /* Rows of six: loaded whole and transposed. */
    MC_INLINE void mc_gather6(const double* base, const int32_t* index, mc_wide* out)
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
    MC_INLINE void mc_scatter6(const mc_wide* x, double* base, const int32_t* index)
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
    MC_INLINE mc_mask mc_above(mc_wide x, mc_wide y)
    { return (mc_mask)_mm256_cmp_pd((__m256d)x, (__m256d)y, _CMP_GT_OQ); }
    MC_INLINE mc_mask mc_both(mc_mask p, mc_mask q) { return (mc_mask)_mm256_and_pd((__m256d)p, (__m256d)q); }
    MC_INLINE int mc_any(mc_mask p) { return _mm256_movemask_pd((__m256d)p) != 0; }
    MC_INLINE int mc_bits(mc_mask p) { return _mm256_movemask_pd((__m256d)p); }
    MC_INLINE mc_wide mc_choose(mc_mask p, mc_wide x, mc_wide y)
    { return (mc_wide)_mm256_blendv_pd((__m256d)y, (__m256d)x, (__m256d)p); }
    MC_INLINE mc_wide mc_root(mc_wide x) { return (mc_wide)_mm256_sqrt_pd((__m256d)x); }
    MC_INLINE mc_wide mc_most(mc_wide x, mc_wide y) { return (mc_wide)_mm256_max_pd((__m256d)x, (__m256d)y); }
    MC_INLINE mc_wide mc_least(mc_wide x, mc_wide y) { return (mc_wide)_mm256_min_pd((__m256d)x, (__m256d)y); }
    MC_INLINE void mc_transpose(__m256d r[4])
    {
        __m256d a = _mm256_unpacklo_pd(r[0], r[1]), b = _mm256_unpackhi_pd(r[0], r[1]);
        __m256d c = _mm256_unpacklo_pd(r[2], r[3]), d = _mm256_unpackhi_pd(r[2], r[3]);
        r[0] = _mm256_permute2f128_pd(a, c, 32);
        r[1] = _mm256_permute2f128_pd(b, d, 32);
        r[2] = _mm256_permute2f128_pd(a, c, 49);
        r[3] = _mm256_permute2f128_pd(b, d, 49);
    }
    MC_INLINE void mc_gather4(const double* base, const int32_t* index, int stride, mc_wide* out)
    {
        __m256d r[4] = {_mm256_loadu_pd(&MC_AT(0)), _mm256_loadu_pd(&MC_AT(1)), _mm256_loadu_pd(&MC_AT(2)),
                        _mm256_loadu_pd(&MC_AT(3))};
        mc_transpose(r);
        out[0] = (mc_wide)r[0]; out[1] = (mc_wide)r[1]; out[2] = (mc_wide)r[2]; out[3] = (mc_wide)r[3];
    }
    MC_INLINE void mc_gather3(const double* base, const int32_t* index, int stride, mc_wide* out)
    {
        const __m256i mask = _mm256_setr_epi64x(-1, -1, -1, 0);
        __m256d r[4] = {_mm256_maskload_pd(&MC_AT(0), mask), _mm256_maskload_pd(&MC_AT(1), mask),
                        _mm256_maskload_pd(&MC_AT(2), mask), _mm256_maskload_pd(&MC_AT(3), mask)};
        mc_transpose(r);
        out[0] = (mc_wide)r[0]; out[1] = (mc_wide)r[1]; out[2] = (mc_wide)r[2];
    }
    MC_INLINE void mc_scatter4(const mc_wide* in, double* base, const int32_t* index, int stride)
    {
        __m256d r[4] = {(__m256d)in[0], (__m256d)in[1], (__m256d)in[2], (__m256d)in[3]};
        int k;
        mc_transpose(r);
        for (k = 0; k < 4; k++) _mm256_storeu_pd(&MC_AT(k), r[k]);
    }
    #else
    typedef int64_t mc_mask __attribute__((vector_size(16)));
    MC_INLINE mc_wide mc_splat(double x) { mc_wide r = {x, x}; return r; }
    MC_INLINE mc_wide mc_gather(const double* base, const int32_t* index, int stride)
    {
        mc_wide r = {MC_AT(0), MC_AT(1)};
        return r;
    }
    MC_INLINE mc_mask mc_above(mc_wide x, mc_wide y) { return (mc_mask)(x > y); }
    MC_INLINE mc_mask mc_both(mc_mask p, mc_mask q) { return p & q; }
    MC_INLINE int mc_any(mc_mask p) { return (p[0] | p[1]) != 0; }
    MC_INLINE int mc_bits(mc_mask p) { return (p[0] != 0) | (p[1] != 0) << 1; }
    #if defined(__SSE2__)
    #include <emmintrin.h>
    /* By name: gcc 12 breaks off where it finds some of these choices out by itself. */
    MC_INLINE mc_wide mc_choose(mc_mask p, mc_wide x, mc_wide y)
    { return (mc_wide)_mm_or_pd(_mm_and_pd((__m128d)p, (__m128d)x), _mm_andnot_pd((__m128d)p, (__m128d)y)); }
    #else
    MC_INLINE mc_wide mc_choose(mc_mask p, mc_wide x, mc_wide y)
    { return (mc_wide)((p & (mc_mask)x) | (~p & (mc_mask)y)); }
    #endif
    MC_INLINE mc_wide mc_root(mc_wide x) { mc_wide r = {sqrt(x[0]), sqrt(x[1])}; return r; }
    MC_INLINE mc_wide mc_most(mc_wide x, mc_wide y) { return mc_choose(mc_above(x, y), x, y); }
    MC_INLINE mc_wide mc_least(mc_wide x, mc_wide y) { return mc_choose(mc_above(y, x), x, y); }
    #endif
    #if MC_WIDTH > 1
    MC_INLINE void mc_scatter(mc_wide x, double* base, const int32_t* index, int stride)
    {
        int k;
        for (k = 0; k < MC_WIDTH; k++) MC_AT(k) = x[k];
    }
    #endif
    #if MC_WIDTH > 2
    MC_INLINE void mc_scatter3(const mc_wide* in, double* base, const int32_t* index, int stride)
    {
        mc_wide all[4] = {in[0], in[1], in[2], in[2]};
        double rows[4 * MC_WIDTH];
        static const int32_t order[8] = {0, 1, 2, 3, 4, 5, 6, 7};
        int k;
        mc_scatter4(all, rows, order, 4);
        for (k = 0; k < MC_WIDTH; k++) {
            _mm_storeu_pd(&MC_AT(k), _mm_loadu_pd(rows + 4 * k));
            (&MC_AT(k))[2] = rows[4 * k + 2];
        }
    }
    #else
    MC_INLINE void mc_gather3(const double* base, const int32_t* index, int stride, mc_wide* out)
    { int k; for (k = 0; k < 3; k++) out[k] = mc_gather(base + k, index, stride); }
    MC_INLINE void mc_gather4(const double* base, const int32_t* index, int stride, mc_wide* out)
    { int k; for (k = 0; k < 4; k++) out[k] = mc_gather(base + k, index, stride); }
    MC_INLINE void mc_scatter3(const mc_wide* in, double* base, const int32_t* index, int stride)
    { int k; for (k = 0; k < 3; k++) mc_scatter(in[k], base + k, index, stride); }
    MC_INLINE void mc_scatter4(const mc_wide* in, double* base, const int32_t* index, int stride)
    { int k; for (k = 0; k < 4; k++) mc_scatter(in[k], base + k, index, stride); }
    #endif
    #if MC_WIDTH <= 2
    MC_INLINE void mc_gather6(const double* base, const int32_t* index, mc_wide* out)
    {
        int k;
        for (k = 0; k < 6; k++) out[k] = mc_gather(base + k, index, 6);
    }
    MC_INLINE void mc_scatter6(const mc_wide* x, double* base, const int32_t* index)
    {
        int k;
        for (k = 0; k < 6; k++) mc_scatter(x[k], base + k, index, 6);
    }
    #endif

    /* Four numbers of one thing, whatever the level. */
    #if MC_WIDTH == 1
    typedef struct { double at[4]; } mc_four;
    #define MC_EACH(x) mc_four r; int k; for (k = 0; k < 4; k++) r.at[k] = (x); return r;
    MC_INLINE mc_four mc_four_load(const double* p) { MC_EACH(p[k]) }
    MC_INLINE void mc_four_store(mc_four a, double* p) { int k; for (k = 0; k < 4; k++) p[k] = a.at[k]; }
    MC_INLINE mc_four mc_four_add(mc_four a, mc_four b) { MC_EACH(a.at[k] + b.at[k]) }
    MC_INLINE mc_four mc_four_sub(mc_four a, mc_four b) { MC_EACH(a.at[k] - b.at[k]) }
    MC_INLINE mc_four mc_four_scale(double s, mc_four a) { MC_EACH(s * a.at[k]) }
    #else
    typedef double mc_four __attribute__((vector_size(32)));
    typedef double mc_four_anywhere __attribute__((vector_size(32), aligned(8), may_alias));
    MC_INLINE mc_four mc_four_load(const double* p) { return *(const mc_four_anywhere*)p; }
    MC_INLINE void mc_four_store(mc_four a, double* p) { *(mc_four_anywhere*)p = a; }
    MC_INLINE mc_four mc_four_add(mc_four a, mc_four b) { return a + b; }
    MC_INLINE mc_four mc_four_sub(mc_four a, mc_four b) { return a - b; }
    MC_INLINE mc_four mc_four_scale(double s, mc_four a) { return s * a; }
    #endif
    #endif
    """
    ctypedef struct Four "mc_four":
        pass
    Four four "mc_four_load"(const double* p) noexcept nogil
    void put_four "mc_four_store"(Four a, double* p) noexcept nogil
    Four add_four "mc_four_add"(Four a, Four b) noexcept nogil
    Four sub_four "mc_four_sub"(Four a, Four b) noexcept nogil
    Four scale_four "mc_four_scale"(double s, Four a) noexcept nogil
    ctypedef long Mask "mc_mask"
    Wide splat "mc_splat"(double x) noexcept nogil
    # base[stride * index[k]] in lane k, and the way back
    Wide gather "mc_gather"(const double* base, const int32_t* index, int stride) noexcept nogil
    void scatter "mc_scatter"(Wide x, double* base, const int32_t* index, int stride) noexcept nogil
    # The same of three or four numbers one after the other.
    void gather_three "mc_gather3"(const double* base, const int32_t* index, int stride, Wide* out) noexcept nogil
    void gather_four "mc_gather4"(const double* base, const int32_t* index, int stride, Wide* out) noexcept nogil
    void scatter_three "mc_scatter3"(const Wide* x, double* base, const int32_t* index, int stride) noexcept nogil
    void scatter_four "mc_scatter4"(const Wide* x, double* base, const int32_t* index, int stride) noexcept nogil
    # The same of whole rows of six doubles: out (6,), x (6,)
    void gather6 "mc_gather6"(const double* base, const int32_t* index, Wide* out) noexcept nogil
    void scatter6 "mc_scatter6"(const Wide* x, double* base, const int32_t* index) noexcept nogil
    Mask above "mc_above"(Wide x, Wide y) noexcept nogil              # x > y
    Mask both "mc_both"(Mask p, Mask q) noexcept nogil
    bint any_lane "mc_any"(Mask p) noexcept nogil
    int lane_bits "mc_bits"(Mask p) noexcept nogil                    # bit k: lane k
    Wide choose "mc_choose"(Mask p, Wide x, Wide y) noexcept nogil    # p ? x : y
    Wide root "mc_root"(Wide x) noexcept nogil
    Wide most "mc_most"(Wide x, Wide y) noexcept nogil                # x > y ? x : y
    Wide least "mc_least"(Wide x, Wide y) noexcept nogil


# Doubles of a record whose fields are gathered.
cdef enum:
    TWIST = 6
    MATRIX = 9
    JOINT_ROW = 15


cdef inline void put(Wide* x, int lane, double value) noexcept nogil:
    (<double*>x)[lane] = value


cdef inline double lane_of(const Wide* x, int lane) noexcept nogil:
    return (<const double*>x)[lane]


cdef inline double largest_lane(const Wide* x) noexcept nogil:
    cdef double found = 0.0
    cdef int i
    for i in range(WIDTH):
        found = max(found, lane_of(x, i))
    return found


cdef inline Wide size_of(Wide x) noexcept nogil:
    """|x|"""
    return most(x, -x)


cdef inline Wide inverse(Wide x) noexcept nogil:
    """1 / x where x > 0, else 0. What is hardly more than 0 counts as that: its inverse, or the products that are made with
    it, would be no numbers."""
    return choose(above(x, splat(1e-290)), splat(1.0) / x, splat(0.0))


cdef inline Wide3 wide3(Wide x, Wide y, Wide z) noexcept nogil:
    cdef Wide3 r
    r.x = x
    r.y = y
    r.z = z
    return r


cdef inline void put3(Wide3* x, int lane, Vec3 value) noexcept nogil:
    put(&x.x, lane, value.x)
    put(&x.y, lane, value.y)
    put(&x.z, lane, value.z)


cdef inline Vec3 lane3(const Wide3* x, int lane) noexcept nogil:
    return vec3(lane_of(&x.x, lane), lane_of(&x.y, lane), lane_of(&x.z, lane))


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
    cdef Wide3 a
    gather_three(base, index, stride, &a.x)
    return a


cdef inline void scatter3(Wide3 a, double* base, const int32_t* index, int stride) noexcept nogil:
    scatter_three(&a.x, base, index, stride)


cdef inline Wide3 w_choose(Mask p, Wide3 a, Wide3 b) noexcept nogil:
    """p ? a : b"""
    return wide3(choose(p, a.x, b.x), choose(p, a.y, b.y), choose(p, a.z, b.z))


cdef inline void gather_twist(const double* base, const int32_t* index, Wide3* v, Wide3* w) noexcept nogil:
    """[v; w] of each body."""
    cdef Wide six[6]
    gather6(base, index, six)
    v[0] = wide3(six[0], six[1], six[2])
    w[0] = wide3(six[3], six[4], six[5])


cdef inline void scatter_twist(Wide3 v, Wide3 w, double* base, const int32_t* index) noexcept nogil:
    cdef Wide six[6]
    six[:] = [v.x, v.y, v.z, w.x, w.y, w.z]
    scatter6(six, base, index)


cdef inline Wide6 gather_inertia(const double* base, const int32_t* index) noexcept nogil:
    """Symmetric matrices of nine numbers."""
    cdef Wide3 upper = gather3(base, index, MATRIX)
    cdef Wide3 lower = gather3(base + 4, index, MATRIX)
    cdef Wide6 m
    m.xx = upper.x
    m.xy = upper.y
    m.xz = upper.z
    m.yy = lower.x
    m.yz = lower.y
    m.zz = gather(base + 8, index, MATRIX)
    return m

# ---- unit quaternions, (w, x, y, z) in memory ------------------------------------------------------------------------

cdef inline WideQuat gather_quat(const double* base, const int32_t* index) noexcept nogil:
    cdef WideQuat q
    gather_four(base, index, 4, &q.w)
    return q


cdef inline void scatter_quat(WideQuat q, double* base, const int32_t* index) noexcept nogil:
    scatter_four(&q.w, base, index, 4)


cdef inline WideQuat choose_quat(Mask p, WideQuat a, WideQuat b) noexcept nogil:
    """p ? a : b"""
    cdef WideQuat q
    q.w = choose(p, a.w, b.w)
    q.x = choose(p, a.x, b.x)
    q.y = choose(p, a.y, b.y)
    q.z = choose(p, a.z, b.z)
    return q


cdef inline Wide3 w_rotate_by(Wide w, Wide3 u, Wide3 a) noexcept nogil:
    """q a q* of q = (w, u)"""
    cdef Wide3 t = w_scale(splat(2.0), w_cross(u, a))
    return w_add(w_add_scaled(a, w, t), w_cross(u, t))


cdef inline Wide3 w_rotate(WideQuat q, Wide3 a) noexcept nogil:
    """q a q*: body vector into the world."""
    return w_rotate_by(q.w, wide3(q.x, q.y, q.z), a)


cdef inline Wide3 w_rotate_back(WideQuat q, Wide3 a) noexcept nogil:
    """q* a q: world vector into the body."""
    return w_rotate_by(q.w, wide3(-q.x, -q.y, -q.z), a)


cdef inline WideQuat w_turned(WideQuat q, Wide3 u) noexcept nogil:
    """q (1, u) / |q (1, u)|"""
    cdef WideQuat r
    cdef Wide s
    r.w = q.w - q.x * u.x - q.y * u.y - q.z * u.z
    r.x = q.w * u.x + q.x + q.y * u.z - q.z * u.y
    r.y = q.w * u.y - q.x * u.z + q.y + q.z * u.x
    r.z = q.w * u.z + q.x * u.y - q.y * u.x + q.z
    s = splat(1.0) / root(r.w * r.w + r.x * r.x + r.y * r.y + r.z * r.z)
    r.w = s * r.w
    r.x = s * r.x
    r.y = s * r.y
    r.z = s * r.z
    return r

# ---- rotation matrices ------------------------------------------------------------------------------------------------

cdef inline WideMatrix rotation_of(WideQuat q) noexcept nogil:
    cdef Wide w = q.w
    cdef Wide x = q.x
    cdef Wide y = q.y
    cdef Wide z = q.z
    cdef Wide one = splat(1.0)
    cdef Wide two = splat(2.0)
    cdef WideMatrix r
    r.x = wide3(one - two * (y * y + z * z), two * (x * y - w * z), two * (x * z + w * y))
    r.y = wide3(two * (x * y + w * z), one - two * (x * x + z * z), two * (y * z - w * x))
    r.z = wide3(two * (x * z - w * y), two * (y * z + w * x), one - two * (x * x + y * y))
    return r


cdef inline WideMatrix rotation(const double* orientation, const int32_t* body) noexcept nogil:
    """Of unit quaternions (w, x, y, z)."""
    return rotation_of(gather_quat(orientation, body))


cdef inline Wide3 turn(const WideMatrix* r, Wide3 a) noexcept nogil:
    return wide3(w_dot(r.x, a), w_dot(r.y, a), w_dot(r.z, a))


cdef inline Wide3 turn_back(const WideMatrix* r, Wide3 a) noexcept nogil:
    return w_add_scaled(w_add_scaled(w_scale(a.x, r.x), a.y, r.y), a.z, r.z)
