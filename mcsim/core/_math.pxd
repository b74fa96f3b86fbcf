"""Inline arithmetic of 3-vectors, unit quaternions (w, x, y, z) and 3x3 matrices; by value, without the GIL.

Sums are written left to right and never reordered (no fast-math), so results are the same bits everywhere.
"""

from libc.math cimport sqrt, fabs
from mcsim.core._trig cimport arctan2, sine_cosine
from mcsim.core._types cimport Vec3, Quat, Mat3

# ---- 3-vectors -------------------------------------------------------------------------------------------------------

cdef inline Vec3 vec3(double x, double y, double z) noexcept nogil:
    cdef Vec3 r
    r.x = x
    r.y = y
    r.z = z
    return r

cdef inline Vec3 add(Vec3 a, Vec3 b) noexcept nogil:
    return vec3(a.x + b.x, a.y + b.y, a.z + b.z)

cdef inline Vec3 sub(Vec3 a, Vec3 b) noexcept nogil:
    return vec3(a.x - b.x, a.y - b.y, a.z - b.z)

cdef inline Vec3 neg(Vec3 a) noexcept nogil:
    return vec3(-a.x, -a.y, -a.z)

cdef inline Vec3 scale(double s, Vec3 a) noexcept nogil:
    return vec3(s * a.x, s * a.y, s * a.z)

cdef inline Vec3 add_scaled(Vec3 a, double s, Vec3 b) noexcept nogil:
    """a + s b"""
    return vec3(a.x + s * b.x, a.y + s * b.y, a.z + s * b.z)

cdef inline double dot(Vec3 a, Vec3 b) noexcept nogil:
    return a.x * b.x + a.y * b.y + a.z * b.z

cdef inline Vec3 cross(Vec3 a, Vec3 b) noexcept nogil:
    return vec3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x)

cdef inline double norm(Vec3 a) noexcept nogil:
    return sqrt(dot(a, a))

cdef inline bint is_zero(Vec3 a) noexcept nogil:
    return a.x == 0.0 and a.y == 0.0 and a.z == 0.0

cdef inline Vec3 normalized(Vec3 a) noexcept nogil:
    """a / |a|; the zero vector stays zero."""
    cdef double length = norm(a)
    if length > 0.0:
        return scale(1.0 / length, a)
    return a

cdef inline Vec3 perpendicular(Vec3 n) noexcept nogil:
    """A unit vector at right angles to the unit vector n; a smooth choice but for a jump where |n.x| = 0.57735."""
    if fabs(n.x) >= 0.57735:
        return normalized(vec3(n.y, -n.x, 0.0))
    return normalized(vec3(0.0, n.z, -n.y))


cdef inline Vec3 carry_along(Vec3 t, Vec3 n, Vec3 to) noexcept nogil:
    """t, at right angles to the unit vector n, turned as n is by the shortest turn to the unit vector `to`, not
    opposite: in every frame the same, as the part of t that is at right angles to `to` is not."""
    return add_scaled(t, -dot(to, t) / (1.0 + dot(n, to)), add(n, to))

# ---- 3x3 matrices ----------------------------------------------------------------------------------------------------

cdef inline Vec3 mat_vec(Mat3 m, Vec3 a) noexcept nogil:
    return vec3(m.xx * a.x + m.xy * a.y + m.xz * a.z,
                m.yx * a.x + m.yy * a.y + m.yz * a.z,
                m.zx * a.x + m.zy * a.y + m.zz * a.z)

cdef inline Vec3 mat_t_vec(Mat3 m, Vec3 a) noexcept nogil:
    """Transposed m times a."""
    return vec3(m.xx * a.x + m.yx * a.y + m.zx * a.z,
                m.xy * a.x + m.yy * a.y + m.zy * a.z,
                m.xz * a.x + m.yz * a.y + m.zz * a.z)

cdef inline Mat3 mat_mul(Mat3 a, Mat3 b) noexcept nogil:
    cdef Mat3 r
    r.xx = a.xx * b.xx + a.xy * b.yx + a.xz * b.zx
    r.xy = a.xx * b.xy + a.xy * b.yy + a.xz * b.zy
    r.xz = a.xx * b.xz + a.xy * b.yz + a.xz * b.zz
    r.yx = a.yx * b.xx + a.yy * b.yx + a.yz * b.zx
    r.yy = a.yx * b.xy + a.yy * b.yy + a.yz * b.zy
    r.yz = a.yx * b.xz + a.yy * b.yz + a.yz * b.zz
    r.zx = a.zx * b.xx + a.zy * b.yx + a.zz * b.zx
    r.zy = a.zx * b.xy + a.zy * b.yy + a.zz * b.zy
    r.zz = a.zx * b.xz + a.zy * b.yz + a.zz * b.zz
    return r

cdef inline Mat3 mat_add(Mat3 a, Mat3 b) noexcept nogil:
    cdef Mat3 r
    r.xx = a.xx + b.xx
    r.xy = a.xy + b.xy
    r.xz = a.xz + b.xz
    r.yx = a.yx + b.yx
    r.yy = a.yy + b.yy
    r.yz = a.yz + b.yz
    r.zx = a.zx + b.zx
    r.zy = a.zy + b.zy
    r.zz = a.zz + b.zz
    return r

cdef inline Mat3 transpose(Mat3 m) noexcept nogil:
    cdef Mat3 r
    r.xx = m.xx
    r.xy = m.yx
    r.xz = m.zx
    r.yx = m.xy
    r.yy = m.yy
    r.yz = m.zy
    r.zx = m.xz
    r.zy = m.yz
    r.zz = m.zz
    return r

cdef inline Vec3 mat_column(Mat3 m, int column) noexcept nogil:
    if column == 0:
        return vec3(m.xx, m.yx, m.zx)
    if column == 1:
        return vec3(m.xy, m.yy, m.zy)
    return vec3(m.xz, m.yz, m.zz)

cdef inline Mat3 rotate_symmetric(Mat3 r, Mat3 s) noexcept nogil:
    """R S R' for a symmetric S; the result is symmetric to the bit."""
    cdef Mat3 t = mat_mul(r, s)
    cdef Mat3 q
    q.xx = t.xx * r.xx + t.xy * r.xy + t.xz * r.xz
    q.xy = t.xx * r.yx + t.xy * r.yy + t.xz * r.yz
    q.xz = t.xx * r.zx + t.xy * r.zy + t.xz * r.zz
    q.yy = t.yx * r.yx + t.yy * r.yy + t.yz * r.yz
    q.yz = t.yx * r.zx + t.yy * r.zy + t.yz * r.zz
    q.zz = t.zx * r.zx + t.zy * r.zy + t.zz * r.zz
    q.yx = q.xy
    q.zx = q.xz
    q.zy = q.yz
    return q

cdef inline Mat3 inverse_symmetric(Mat3 m) noexcept nogil:
    """The inverse of a symmetric matrix, symmetric to the bit."""
    cdef double a = m.yy * m.zz - m.yz * m.yz
    cdef double b = m.xz * m.yz - m.xy * m.zz
    cdef double c = m.xy * m.yz - m.xz * m.yy
    cdef double d = 1.0 / (m.xx * a + m.xy * b + m.xz * c)
    cdef Mat3 out
    out.xx = a * d
    out.xy = b * d
    out.xz = c * d
    out.yx = out.xy
    out.yy = (m.xx * m.zz - m.xz * m.xz) * d
    out.yz = (m.xy * m.xz - m.xx * m.yz) * d
    out.zx = out.xz
    out.zy = out.yz
    out.zz = (m.xx * m.yy - m.xy * m.xy) * d
    return out


cdef inline Vec3 solve3(Mat3 m, Vec3 b) noexcept nogil:
    """m^-1 b by Cramer's rule; the caller knows that m is regular."""
    cdef Vec3 c0 = mat_column(m, 0)
    cdef Vec3 c1 = mat_column(m, 1)
    cdef Vec3 c2 = mat_column(m, 2)
    cdef Vec3 c12 = cross(c1, c2)
    cdef double inv_det = 1.0 / dot(c0, c12)
    return vec3(inv_det * dot(b, c12), inv_det * dot(c0, cross(b, c2)), inv_det * dot(c0, cross(c1, b)))

# ---- unit quaternions ------------------------------------------------------------------------------------------------

cdef inline Quat quat(double w, double x, double y, double z) noexcept nogil:
    cdef Quat q
    q.w = w
    q.x = x
    q.y = y
    q.z = z
    return q

cdef inline Quat quat_mul(Quat a, Quat b) noexcept nogil:
    """Hamilton product a b: rotate by b, then by a."""
    return quat(a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z,
                a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,
                a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x,
                a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w)

cdef inline Quat quat_conj(Quat q) noexcept nogil:
    return quat(q.w, -q.x, -q.y, -q.z)

cdef inline Quat quat_normalized(Quat q) noexcept nogil:
    cdef double s = 1.0 / sqrt(q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z)
    return quat(s * q.w, s * q.x, s * q.y, s * q.z)

cdef inline Vec3 rotate(Quat q, Vec3 a) noexcept nogil:
    """q a q*: body vector into the world."""
    cdef Vec3 u = vec3(q.x, q.y, q.z)
    cdef Vec3 t = scale(2.0, cross(u, a))
    return add(add_scaled(a, q.w, t), cross(u, t))

cdef inline Vec3 rotate_back(Quat q, Vec3 a) noexcept nogil:
    """q* a q: world vector into the body."""
    return rotate(quat_conj(q), a)

cdef inline Mat3 quat_matrix(Quat q) noexcept nogil:
    """The rotation matrix R(q) whose columns are the body's axes in the world."""
    cdef double xx = q.x * q.x
    cdef double yy = q.y * q.y
    cdef double zz = q.z * q.z
    cdef double xy = q.x * q.y
    cdef double xz = q.x * q.z
    cdef double yz = q.y * q.z
    cdef double wx = q.w * q.x
    cdef double wy = q.w * q.y
    cdef double wz = q.w * q.z
    cdef Mat3 m
    m.xx = 1.0 - 2.0 * (yy + zz)
    m.xy = 2.0 * (xy - wz)
    m.xz = 2.0 * (xz + wy)
    m.yx = 2.0 * (xy + wz)
    m.yy = 1.0 - 2.0 * (xx + zz)
    m.yz = 2.0 * (yz - wx)
    m.zx = 2.0 * (xz - wy)
    m.zy = 2.0 * (yz + wx)
    m.zz = 1.0 - 2.0 * (xx + yy)
    return m

cdef inline Quat quat_exp(Vec3 a) noexcept nogil:
    """The unit quaternion of the rotation vector a [rad]: (cos |a|/2, sin(|a|/2) a/|a|)."""
    cdef double angle2 = dot(a, a)
    cdef double angle, s, c
    if angle2 < 1e-8:
        # Series of sin(x/2)/x and cos(x/2): the next terms are below 1e-19.
        s = 0.5 - angle2 / 48.0 + angle2 * angle2 / 3840.0
        return quat_normalized(quat(1.0 - angle2 / 8.0 + angle2 * angle2 / 384.0, s * a.x, s * a.y, s * a.z))
    angle = sqrt(angle2)
    sine_cosine(0.5 * angle, &s, &c)
    s = s / angle
    return quat(c, s * a.x, s * a.y, s * a.z)

cdef inline double turn_square(Vec3 u) noexcept nogil:
    """|u|^2, of more than half a turn that of half a turn: where series in it end."""
    return min(dot(u, u), 9.869604401089358)                # pi^2

cdef inline Vec3 turn_rate(Vec3 u, Vec3 w) noexcept nogil:
    """u' where exp(u) q turns at w: w - 1/2 u x w + c u x (u x w), c = (1 - (a/2) cot (a/2)) / a^2, a = |u|; that of
    q exp(u) is turn_rate(-u, w), w in the turned axes. c is the series to a^8, whose remainder turn_remainder tells; of
    more than half a turn it is that of half a turn, so that rounding errors of a steady spin about one axis stay small.
    (H. Munthe-Kaas, "Runge-Kutta methods on Lie groups", 1998.)"""
    cdef Vec3 across = cross(u, w)
    cdef double t = turn_square(u)
    cdef double c = 1.0 / 12.0 + t * (1.0 / 720.0 + t * (1.0 / 30240.0 + t * (1.0 / 1209600.0 + t / 47900160.0)))
    return add_scaled(add_scaled(w, -0.5, across), c, cross(u, across))

cdef inline double turn_remainder(Vec3 u, Vec3 w) noexcept nogil:
    """By how much u' of turn_rate is off, up to a turn: the first term that its series leaves out."""
    cdef double t = dot(u, u)
    return 691.0 / 1307674368000.0 * t * t * t * t * t * norm(cross(u, cross(u, w)))

cdef inline Vec3 turn_spin(Vec3 u, Vec3 rate) noexcept nogil:
    """w at which exp(u) q turns where u' = rate, up to a turn; the inverse of turn_rate: u' + (1 - cos a) / a^2 u x u' +
    (a - sin a) / a^3 u x (u x u'), as series to a^6."""
    cdef Vec3 across = cross(u, rate)
    cdef double t = turn_square(u)
    cdef double b = 0.5 - t * (1.0 / 24.0 - t * (1.0 / 720.0 - t / 40320.0))
    cdef double c = 1.0 / 6.0 - t * (1.0 / 120.0 - t * (1.0 / 5040.0 - t / 362880.0))
    return add_scaled(add_scaled(rate, b, across), c, cross(u, across))

cdef inline Vec3 quat_log(Quat q) noexcept nogil:
    """The rotation vector [rad] of a unit quaternion, of length at most pi; the inverse of quat_exp."""
    cdef double sign = 1.0 if q.w >= 0.0 else -1.0
    cdef double s = sqrt(q.x * q.x + q.y * q.y + q.z * q.z)
    cdef double factor
    if s < 1e-7:
        factor = 2.0 * sign
    else:
        factor = 2.0 * sign * arctan2(s, sign * q.w) / s
    return vec3(factor * q.x, factor * q.y, factor * q.z)
