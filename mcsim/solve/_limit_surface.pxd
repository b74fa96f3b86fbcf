"""Friction of a manifold as a whole: along the tangents and about the normal on one limit surface.

Each point i rubs with f_i, |f_i| <= c_i = mu N_i, and where a surface resists turning, the manifold besides with a moment
of at most `bore`. The manifold's rows know the sum alone,

    x = (sum f_i, sum n . (r_i x f_i) + moment),

whose bounds, the limit surface, are no box: who slides and spins is held less against either. With K = J M^-1 J' of its
three rows and u the slip at the present x, the maximum dissipation principle says

    minimize  1/2 y' K y - b' y,   b = K x - u,   over all y on or within the limit surface.

    sticks    y = K^-1 b if it can be shared out: f_i = c_i (z - z_w n x r_i) is the only share of this form. Loads
              that are all at one place r have no moment about it: y is the minimum over what one point there can
              do, (f, n . (r x f))
    slides    point after point f_i <- P(f_i - u_i / e_i), P the nearest point of its circle, e_i the larger eigenvalue
              of the point's own J M^-1 J'; the slips of the others follow by K

Joints may leave a body no turning about the normal, or nothing but that: a direction without mass says nothing of what
acts along it. Where nothing turns, x_2 is what the points' equal shares have for a moment, so all of them hold against
sliding; where nothing slides, x_0 and x_1 are what the shares of a turn about the middle add up to.

The second needs no iteration of its own within a sweep: where the slip has the direction of f_i, or outweighs it, a point
is there at once. Offsets are kept as turn = r x n, so that u_i = (v_0 - w turn_0, v_1 - w turn_1). The wide kernels have
the same, several manifolds at a time: wide/_friction.pxi.

Source: S. Goyal, A. Ruina and J. Papadopoulos, "Planar sliding with dry friction", 1991.
"""

from libc.math cimport sqrt

ctypedef struct LimitSurface:
    int count                    # points
    double limit[4]              # c_i [N s]
    double turn[4][2]            # r x n along the two tangents [m]
    double bore                  # [N m s]
    double reach                 # of the bore, as if it were points at this distance [m]
    double total                 # of the limits, and their moments
    double first[2]
    double second                # of the points, and the bore
    double spread                # the second moment about the loads' middle; 0: no lever

# K = [[d0, c01, c02], [c01, d1, c12], [c02, c12, d2]]: two tangents, then the normal.
ctypedef struct SlipProducts:
    double d0
    double d1
    double d2
    double c01
    double c02
    double c12


cdef inline void find_moments(LimitSurface* s) noexcept nogil:
    """From count, limit, turn and bore."""
    cdef double c
    cdef int i
    s.total = s.first[0] = s.first[1] = s.second = 0.0
    for i in range(s.count):
        c = s.limit[i]
        s.total += c
        s.first[0] += c * s.turn[i][0]
        s.first[1] += c * s.turn[i][1]
        s.second += c * (s.turn[i][0] * s.turn[i][0] + s.turn[i][1] * s.turn[i][1])
    s.reach = sqrt(s.second / s.total) if s.total > 0.0 and s.second > 0.0 else 1.0       # alone any does
    s.second += s.bore * s.reach
    c = s.second - (s.first[0] * s.first[0] + s.first[1] * s.first[1]) / s.total if s.total > 0.0 else 0.0
    s.spread = c if c > 1e-12 * s.second else 0.0


cdef inline void point_products(const SlipProducts* k, double t0, double t1, double* e) noexcept nogil:
    """(3,) of a point there: its J M^-1 J' = [[e0, e2], [e2, e1]]."""
    e[0] = k.d0 - t0 * (2.0 * k.c02 - k.d2 * t0)
    e[1] = k.d1 - t1 * (2.0 * k.c12 - k.d2 * t1)
    e[2] = k.c01 - t0 * k.c12 - t1 * (k.c02 - k.d2 * t0)


cdef inline void share_out(const LimitSurface* s, const double* x, double* z) noexcept nogil:
    """(3,) z with x = sum of c_i (z - z_w n x r_i), and of their moments. Without a load, or a lever, it has no part
    of x."""
    cdef double inverse = 1.0 / s.total if s.total > 0.0 else 0.0
    z[2] = 0.0
    if s.spread > 0.0:
        z[2] = (x[2] + (s.first[0] * x[0] + s.first[1] * x[1]) * inverse) / s.spread
    z[0] = (x[0] + s.first[0] * z[2]) * inverse
    z[1] = (x[1] + s.first[1] * z[2]) * inverse


cdef inline bint stick(const LimitSurface* s, double* x) noexcept nogil:
    """Whether x can be shared out; x: what of it could be."""
    cdef double z[3]
    cdef double y0, y1
    cdef bint within = True
    cdef int i
    share_out(s, x, z)
    for i in range(s.count):
        y0 = z[0] - z[2] * s.turn[i][0]
        y1 = z[1] - z[2] * s.turn[i][1]
        if s.limit[i] > 0.0 and y0 * y0 + y1 * y1 > 1.0:
            within = False
    if s.bore > 0.0 and s.reach * s.reach * z[2] * z[2] > 1.0:
        within = False
    x[0] = s.total * z[0] - s.first[0] * z[2]
    x[1] = s.total * z[1] - s.first[1] * z[2]
    x[2] = s.second * z[2] - s.first[0] * z[0] - s.first[1] * z[1]
    return within


cdef inline void complete_shares(const LimitSurface* s, const double* x, double* share, double* bore) noexcept nogil:
    """Points that stuck, came or went: what the shares lack of x, in proportion to the limits."""
    cdef double lack[3]
    cdef double z[3]
    cdef int i
    lack[0] = x[0]
    lack[1] = x[1]
    lack[2] = x[2] - bore[0]
    for i in range(s.count):
        lack[0] -= share[2 * i]
        lack[1] -= share[2 * i + 1]
        lack[2] += s.turn[i][0] * share[2 * i] + s.turn[i][1] * share[2 * i + 1]
    share_out(s, lack, z)
    for i in range(s.count):
        share[2 * i] += s.limit[i] * (z[0] - z[2] * s.turn[i][0])
        share[2 * i + 1] += s.limit[i] * (z[1] - z[2] * s.turn[i][1])
    bore[0] += s.bore * s.reach * z[2]


cdef inline void slide_points(const LimitSurface* s, const SlipProducts* k, const double* w, double* share, double* bore,
                              double* x) noexcept nogil:
    """One point after the other, from shares of x at the slip w. They make up x, but for a moment that loads at one place
    cannot have: that goes."""
    cdef double p[3]
    cdef double u0, u1, u2, t0, t1, e0, e1, e, y0, y1, length
    cdef double turning = bore[0] - x[2]
    cdef int i
    for i in range(s.count):
        turning -= s.turn[i][0] * share[2 * i] + s.turn[i][1] * share[2 * i + 1]
    u0 = w[0] + k.c02 * turning
    u1 = w[1] + k.c12 * turning
    u2 = w[2] + k.d2 * turning
    x[0] = x[1] = x[2] = 0.0
    for i in range(s.count):
        t0 = s.turn[i][0]
        t1 = s.turn[i][1]
        point_products(k, t0, t1, p)
        e = 0.5 * (p[0] + p[1]) + sqrt(0.25 * (p[0] - p[1]) * (p[0] - p[1]) + p[2] * p[2])
        y0 = share[2 * i] - ((u0 - u2 * t0) / e if e > 0.0 else 0.0)
        y1 = share[2 * i + 1] - ((u1 - u2 * t1) / e if e > 0.0 else 0.0)
        length = sqrt(y0 * y0 + y1 * y1)
        if length > s.limit[i]:
            y0 *= s.limit[i] / length
            y1 *= s.limit[i] / length
        e0 = y0 - share[2 * i]
        e1 = y1 - share[2 * i + 1]
        share[2 * i] = y0
        share[2 * i + 1] = y1
        turning = -(t0 * e0 + t1 * e1)
        u0 += k.d0 * e0 + k.c01 * e1 + k.c02 * turning
        u1 += k.c01 * e0 + k.d1 * e1 + k.c12 * turning
        u2 += k.c02 * e0 + k.c12 * e1 + k.d2 * turning
        x[0] += y0
        x[1] += y1
        x[2] -= t0 * y0 + t1 * y1
    if s.bore > 0.0:
        e = bore[0] - (u2 / k.d2 if k.d2 > 0.0 else 0.0)
        bore[0] = s.bore if e > s.bore else (-s.bore if e < -s.bore else e)
        x[2] += bore[0]


cdef inline void stick_at_a_place(const LimitSurface* s, const SlipProducts* k, const double* w, const double* x,
                                  double* y) noexcept nogil:
    """y: the minimum over what one point at the loads' place can do."""
    cdef double t0 = s.first[0] / s.total
    cdef double t1 = s.first[1] / s.total
    cdef double turning = -(t0 * x[0] + t1 * x[1]) - x[2]        # what x has about that place goes
    cdef double u2 = w[2] + k.d2 * turning
    cdef double u0 = w[0] + k.c02 * turning - t0 * u2
    cdef double u1 = w[1] + k.c12 * turning - t1 * u2
    cdef double p[3]
    cdef double det, trace
    point_products(k, t0, t1, p)
    trace = p[0] + p[1]
    det = p[0] * p[1] - p[2] * p[2]
    if not trace > 0.0:
        y[0], y[1], y[2] = x[0], x[1], -(t0 * x[0] + t1 * x[1])
        return
    if not det > 1e-14 * trace * trace:
        p[0] = p[1] = trace
        p[2] = 0.0
        det = trace * trace
    y[0] = x[0] - (p[1] * u0 - p[2] * u1) / det
    y[1] = x[1] - (p[0] * u1 - p[2] * u0) / det
    y[2] = -(t0 * y[0] + t1 * y[1])


cdef inline void limit_surface_step(const LimitSurface* s, SlipProducts k, const double* w, double* share, double* bore,
                                    double* x) noexcept nogil:
    """(3,) x, the impulses at the slip w, to those under the present loads. share: (2 count,) the points' own of the last
    call, bore that about the normal alone; they are written where the manifold slides."""
    cdef double trace = k.d0 + k.d1
    cdef double det = k.d0 * k.d1 - k.c01 * k.c01
    cdef double y[3]
    cdef double lag0, lag1, mass, turn
    if not trace > 0.0 and not k.d2 > 0.0:
        return
    if not det > 1e-14 * trace * trace:          # a direction without mass: as cone_step
        k.d0 = trace
        k.d1 = trace
        k.c01 = 0.0
        det = trace * trace
    if s.total > 0.0 and not s.spread > 0.0:
        stick_at_a_place(s, &k, w, x, y)
    elif not trace > 0.0:
        turn = (x[2] - w[2] / k.d2) / s.second if s.second > 0.0 else 0.0
        y[0], y[1], y[2] = -s.first[0] * turn, -s.first[1] * turn, s.second * turn
    else:
        lag0 = (k.d1 * k.c02 - k.c01 * k.c12) / det
        lag1 = (k.d0 * k.c12 - k.c01 * k.c02) / det
        mass = k.d2 - (k.c02 * lag0 + k.c12 * lag1)
        y[2] = (w[2] - lag0 * w[0] - lag1 * w[1]) / mass if mass > 1e-12 * k.d2 else 0.0
        y[0] = x[0] - (k.d1 * w[0] - k.c01 * w[1]) / det + lag0 * y[2]
        y[1] = x[1] - (k.d0 * w[1] - k.c01 * w[0]) / det + lag1 * y[2]
        y[2] = x[2] - y[2]
        if not k.d2 > 0.0:
            y[2] = -(s.first[0] * y[0] + s.first[1] * y[1]) / s.total if s.total > 0.0 else 0.0
    if stick(s, y):
        x[0], x[1], x[2] = y[0], y[1], y[2]
    else:
        complete_shares(s, x, share, bore)
        slide_points(s, &k, w, share, bore, x)
