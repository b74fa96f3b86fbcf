"""Sine, cosine, arc tangent, fifth root and exponential from additions, multiplications, divisions and square roots alone.

Those are rounded the same by every processor; the C library's functions are not: it picks variants by CPU and changes
them from version to version, and a run must give the same bits everywhere. Errors are a few units in the last place
(tested).
"""

from libc.math cimport fabs, floor, fmod, frexp, ldexp, sqrt

cdef enum:
    FAR = 1048576                  # multiples of pi/2 up to which the reduction below is exact

# pi/2 in three parts, the first two with trailing zeros, so that k * part is exact for |k| < FAR (Cody and Waite 1980).
cdef inline double reduced(double x, int* quadrant) noexcept nogil:
    """x minus the nearest multiple of pi/2, which is `quadrant` modulo 4; beyond FAR quarter turns x loses digits
    anyway."""
    cdef double k
    if fabs(x) > FAR:
        x = fmod(x, 6.283185307179586)
    k = floor(x * 0.6366197723675814 + 0.5)
    quadrant[0] = (<int> k) & 3
    return ((x - k * 1.5707963267341256) - k * 6.077100506303966e-11) - k * 2.0222662487111665e-21


cdef inline void sine_cosine(double x, double* sine, double* cosine) noexcept nogil:
    """sin x and cos x by their Taylor series on |r| <= pi/4: the first term left out is below 1e-17."""
    cdef int quadrant = 0
    cdef double r, z, s, c
    if not fabs(x) <= 1e300:
        sine[0] = x - x             # NaN for NaN and infinities, as the C library has it
        cosine[0] = x - x
        return
    r = reduced(x, &quadrant)
    z = r * r
    s = r + r * z * (-1.0 / 6.0 + z * (1.0 / 120.0 + z * (-1.0 / 5040.0 + z * (1.0 / 362880.0 + z * (-1.0 / 39916800.0
        + z * (1.0 / 6227020800.0 + z * (-1.0 / 1307674368000.0)))))))
    c = 1.0 - z * (0.5 - z * (1.0 / 24.0 - z * (1.0 / 720.0 - z * (1.0 / 40320.0 - z * (1.0 / 3628800.0
        - z * (1.0 / 479001600.0 - z * (1.0 / 87178291200.0 - z * (1.0 / 20922789888000.0))))))))
    if quadrant == 0:
        sine[0] = s
        cosine[0] = c
    elif quadrant == 1:
        sine[0] = c
        cosine[0] = -s
    elif quadrant == 2:
        sine[0] = -s
        cosine[0] = -c
    else:
        sine[0] = -c
        cosine[0] = s


cdef inline double arctan(double t) noexcept nogil:
    """atan t for 0 <= t <= 1: the angle is halved three times, atan t = 2 atan(t / (1 + sqrt(1 + t^2))), then
    Taylor."""
    cdef double z
    cdef int _
    for _ in range(3):
        t = t / (1.0 + sqrt(1.0 + t * t))
    z = t * t
    return 8.0 * (t - t * z * (1.0 / 3.0 - z * (1.0 / 5.0 - z * (1.0 / 7.0 - z * (1.0 / 9.0 - z * (1.0 / 11.0
                  - z * (1.0 / 13.0 - z * (1.0 / 15.0))))))))


cdef inline double arctan2(double y, double x) noexcept nogil:
    """The angle of the point (x, y) in [-pi, pi]; 0 for the origin."""
    cdef double ax = fabs(x)
    cdef double ay = fabs(y)
    cdef double angle
    if ax == 0.0 and ay == 0.0:
        return 0.0
    if ay > ax:
        angle = 1.5707963267948966 - arctan(ax / ay)
    else:
        angle = arctan(ay / ax)
    if x < 0.0:
        angle = 3.141592653589793 - angle
    return angle if y >= 0.0 else -angle


cdef inline double fifth_root(double x) noexcept nogil:
    """x^(1/5) for x > 0, by Newton's method from a power of two that is not below it."""
    cdef double y
    cdef int exponent, _
    if not 0.0 < x <= 1e300:
        return x
    frexp(x, &exponent)
    y = ldexp(1.0, (exponent + 10000 + 4) // 5 - 2000)
    for _ in range(12):
        y = y - (y - x / (y * y * y * y)) / 5.0
    return y


cdef inline double decay(double x) noexcept nogil:
    """exp(-x) for x >= 0: x = k ln 2 + r, |r| <= ln 2 / 2, and Taylor's series of exp(-r), whose first term left out is
    below 1e-17."""
    cdef double k, r
    if not x <= 700.0:
        return x - x if x != x else 0.0
    k = floor(x * 1.4426950408889634 + 0.5)
    r = -((x - k * 0.6931471803691238) - k * 1.9082149292705877e-10)           # ln 2 in two parts, the first exact times k
    r = 1.0 + r * (1.0 + r / 2.0 * (1.0 + r / 3.0 * (1.0 + r / 4.0 * (1.0 + r / 5.0 * (1.0 + r / 6.0 * (
        1.0 + r / 7.0 * (1.0 + r / 8.0 * (1.0 + r / 9.0 * (1.0 + r / 10.0 * (1.0 + r / 11.0 * (1.0 + r / 12.0 * (
            1.0 + r / 13.0 * (1.0 + r / 14.0)))))))))))))
    return ldexp(r, -<int> k)
