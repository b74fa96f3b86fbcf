"""One contact with Coulomb's friction that is struck (_laws.pyx): whether it opens, sticks or slides, and the impulses."""

from libc.math cimport fabs, sqrt
from mcsim.solve._blocks cimport cone_step
from mcsim.solve._bracket cimport HALVINGS

cdef enum:
    DIRECTIONS = 32          # of slip, from which roots are looked for

cdef extern from *:
    """
    /* Of a circle's DIRECTIONS-th part. */
    #define MC_COS 0.98078528040323044913
    #define MC_SIN 0.19509032201612826785
    /* Part of A's diagonal below which the rate of what sticks is rounding. */
    #define MC_SINGULAR 1e-11
    """
    const double COS "MC_COS"
    const double SIN "MC_SIN"
    const double SINGULAR "MC_SINGULAR"

# A contact's own block of A: [n, t] of its rows and columns, and its friction.
ctypedef struct Point:
    double nn
    double nt[2]
    double t00
    double t01
    double t11
    double friction


cdef inline Point point_of(const double* a, Py_ssize_t stride, double friction) noexcept nogil:
    cdef Point c
    c.nn = a[0]
    c.nt[0] = a[1]
    c.nt[1] = a[2]
    c.t00 = a[stride + 1]
    c.t01 = a[stride + 2]
    c.t11 = a[2 * stride + 2]
    c.friction = friction
    return c


cdef inline void held_tangents(const Point* c, double x, double y, double* f) noexcept nogil:
    """f = A_tt^-1 (x, y), the least where A_tt is singular: what can move in a plane alone has no slip across it."""
    cdef double det = c.t00 * c.t11 - c.t01 * c.t01
    cdef double trace = c.t00 + c.t11
    cdef double v, w, s
    if det > 1e-14 * trace * trace:
        f[0] = (c.t11 * x - c.t01 * y) / det
        f[1] = (c.t00 * y - c.t01 * x) / det
        return
    f[0] = f[1] = 0.0
    if trace > 0.0:
        v = c.t00 if c.t00 > c.t11 else c.t01
        w = c.t01 if c.t00 > c.t11 else c.t11
        s = (v * x + w * y) / ((v * v + w * w) * trace)
        f[0] = s * v
        f[1] = s * w


# Directions d (unit) at which v(d) = x + C d is along d: `fixed` + `turning` d, both of tangents.
ctypedef struct Field:
    double fixed[2]
    double turning[4]


cdef inline void field_at(const Field* f, const double* d, double* along, double* across) noexcept nogil:
    cdef double x = f.fixed[0] + f.turning[0] * d[0] + f.turning[1] * d[1]
    cdef double y = f.fixed[1] + f.turning[2] * d[0] + f.turning[3] * d[1]
    along[0] = x * d[0] + y * d[1]
    across[0] = d[0] * y - d[1] * x


cdef inline void unit_towards(const double* d, const double* e, double* out) noexcept nogil:
    cdef double x = d[0] + e[0]
    cdef double y = d[1] + e[1]
    cdef double length = sqrt(x * x + y * y)
    out[0] = x / length
    out[1] = y / length


cdef inline double field_size(const Field* f) noexcept nogil:
    cdef double size = fabs(f.fixed[0]) + fabs(f.fixed[1])
    cdef int i
    for i in range(4):
        size += fabs(f.turning[i])
    return size


cdef inline bint next_direction(const Field* f, double* d, double* left, double* root) noexcept nogil:
    """The next direction around the circle from d on, `left` parts of it, along which the field points outwards. ->
    whether there is one; d and left go on behind it."""
    cdef double low[2]
    cdef double high[2]
    cdef double middle[2]
    cdef double along, across, other
    cdef double rounding = 4e-16 * field_size(f)
    cdef int _
    while left[0] > 0.0:
        left[0] -= 1.0
        low[0] = d[0]
        low[1] = d[1]
        d[0] = COS * low[0] - SIN * low[1]
        d[1] = SIN * low[0] + COS * low[1]
        high[0] = d[0]
        high[1] = d[1]
        field_at(f, low, &along, &across)
        if fabs(across) <= rounding:
            if along > 0.0:
                root[0] = low[0]
                root[1] = low[1]
                return True
            continue
        field_at(f, high, &along, &other)
        if fabs(other) <= rounding or (across > 0.0) == (other > 0.0):
            continue
        for _ in range(HALVINGS):
            unit_towards(low, high, middle)
            field_at(f, middle, &along, &other)
            if (other > 0.0) == (across > 0.0):
                low[0] = middle[0]
                low[1] = middle[1]
            else:
                high[0] = middle[0]
                high[1] = middle[1]
        if along > 0.0:
            root[0] = middle[0]
            root[1] = middle[1]
            return True
    return False


cdef inline bint cone_point(const Point* c, const double* b, double load, double* p) noexcept nogil:
    """One contact: p_n >= 0, v_n = b_n + (A p)_n >= 0, p_n v_n = 0; friction under p_n + load against v_t. -> whether
    it is solved. It opens, or sticks, or slides: with d the direction of v_t and D = A_nn - mu A_nt . d

        p_n + load = (A_nn load - b_n) / D,     D v_t = D b_t + (D p_n) A_tn - mu (A_nn load - b_n) A_tt d,

    a direction along which a linear field points outwards."""
    cdef Field f
    cdef double d[2]
    cdef double root[2]
    cdef double left = DIRECTIONS
    cdef double pressed = c.nn * load - b[0]
    cdef double mu = c.friction
    cdef double length, normal, slope
    cdef double s[2]
    cdef int i, j
    p[0] = p[1] = p[2] = 0.0
    if mu * load > 0.0:
        cone_step(c.t00, c.t11, c.t01, mu * load, b[1], b[2], p + 1)
    if b[0] + c.nt[0] * p[1] + c.nt[1] * p[2] >= 0.0:
        return True
    p[1] = p[2] = 0.0
    if not mu > 0.0:
        p[0] = -b[0] / c.nn
        return True
    held_tangents(c, c.nt[0], c.nt[1], s)
    slope = c.nn - (c.nt[0] * s[0] + c.nt[1] * s[1])
    if slope > SINGULAR * (c.nn + c.t00 + c.t11):
        held_tangents(c, b[1], b[2], root)
        normal = -(b[0] - (c.nt[0] * root[0] + c.nt[1] * root[1])) / slope
        p[1] = -root[0] - s[0] * normal
        p[2] = -root[1] - s[1] * normal
        if normal >= 0.0 and sqrt(p[1] * p[1] + p[2] * p[2]) <= mu * (normal + load):
            p[0] = normal
            return True
    f.fixed[0] = b[1] * c.nn + c.nt[0] * (pressed - load * c.nn)
    f.fixed[1] = b[2] * c.nn + c.nt[1] * (pressed - load * c.nn)
    for i in range(2):
        for j in range(2):
            f.turning[2 * i + j] = mu * c.nt[j] * (load * c.nt[i] - b[1 + i])
    f.turning[0] -= mu * pressed * c.t00
    f.turning[1] -= mu * pressed * c.t01
    f.turning[2] -= mu * pressed * c.t01
    f.turning[3] -= mu * pressed * c.t11
    length = sqrt(b[1] * b[1] + b[2] * b[2])
    d[0] = b[1] / length if length > 0.0 else 1.0
    d[1] = b[2] / length if length > 0.0 else 0.0
    while next_direction(&f, d, &left, root):
        slope = c.nn - mu * (c.nt[0] * root[0] + c.nt[1] * root[1])
        if slope > 0.0 and pressed / slope >= load:
            p[0] = pressed / slope - load
            p[1] = -mu * (p[0] + load) * root[0]
            p[2] = -mu * (p[0] + load) * root[1]
            return True
    p[0] = max(-b[0] / c.nn, 0.0)
    p[1] = p[2] = 0.0
    return False
