"""Laws of impact, over the contacts that are struck together (docs/theory/impacts.md).

u are the rates of separation and slip before, [n, t, t] of each contact, u+ = u + A p those after, A = J H^-1 J' with
joints held. Of each contact e is the restitution, mu the friction, n and t its normal and tangential parts:

    newton     p_n >= 0,   u+_n + e u_n >= 0,   p_n (u+_n + e u_n) = 0
    poisson    compression p_n >= 0,  u_n >= 0,  p_n u_n = 0;  then at least e p_n more, p+_n >= (1 + e) p_n, likewise
    stronge    the work of the normal impulses that comes back is e^2 times that which compression took

all with |p_t| <= mu p_n. The first two are problems of complementarity, with friction against the slip at the end (C.
Glocker, F. Pfeiffer, "Multiple impacts with friction in rigid multibody systems", 1995). The third follows the impact
as its normal impulse P grows (E. Routh, "Dynamics of a System of Rigid Bodies", 1860; W. Stronge, "Rigid body collisions
with friction", 1990), friction against the slip of the moment:

    du/dP = A (1, f),    f = -mu s / |s|  where the contact slips by s,    else  f = -A_tt^-1 A_tn  if |f| <= mu
    W = integral of u_n dP,    W is least where compression ends,    the impact ends at W = (1 - e^2) min W

Normal impulses lose (1 - e^2) |min W| and friction never does positive work, so no impact gains energy. Where slip
keeps its direction u and W are polynomials of P; else it is integrated by Dormand and Prince's method over the time tau
with dP = |s| dtau, in which the direction turns smoothly to the end of the slip.

Of contacts that are struck together the compression is Poisson's, with friction against the slip at its end, the work
of each contact that of its mean rate, and restitution follows the process above along the normal impulses e p_n, in parts.
Both may give back what a slip that reverses within them had lost; so it is over, too, where it has given as much energy
as e^2 allows of what compression took.
"""

from libc.math cimport INFINITY, fabs, sqrt

import numpy as np

from mcsim.core._arrays cimport doubles
from mcsim.solve._blocks cimport cone_step

# The stages of a pair of fifth and fourth order, and what the two differ by.
TABLE = ((), (1.0 / 5,), (3.0 / 40, 9.0 / 40), (44.0 / 45, -56.0 / 15, 32.0 / 9),
         (19372.0 / 6561, -25360.0 / 2187, 64448.0 / 6561, -212.0 / 729),
         (9017.0 / 3168, -355.0 / 33, 46732.0 / 5247, 49.0 / 176, -5103.0 / 18656),
         (35.0 / 384, 0.0, 500.0 / 1113, 125.0 / 192, -2187.0 / 6784, 11.0 / 84))
DIFFERENCE = (71.0 / 57600, 0.0, -71.0 / 16695, 71.0 / 1920, -17253.0 / 339200, 22.0 / 525, -1.0 / 40)

cdef enum:
    PIVOTS = 64              # of the local complementarity problem; 16 sets of 4 points exist
    REFINEMENTS = 20         # proximal steps of the same; 2 or 3 do unless two points nearly coincide
    DIRECTIONS = 32          # of slip, from which roots are looked for
    HALVINGS = 60
    LEGS = 8                 # of one contact: slip, stick, slip again; a few more for rounding
    TURNS = 2000             # steps of a slip that turns, and trials of such
    SWEEPS = 400             # over the contacts of one problem
    PARTS = 8                # of a restitution of several contacts, if it is Poisson's

cdef double ACCURATE = 1e-10                 # part of the rates by which a step of a turning slip may be wrong
cdef double TURNED = 1e-10                   # part of them that is left to turn where a slip goes on straight
cdef double SETTLED = 1e-14                  # part of the size that is rounding
cdef double SWEPT = 1e-12                    # the same of sweeps' last changes
cdef double SINGULAR = 1e-11                 # part of A's diagonal below which the rate of what sticks is rounding
cdef double STEADY = 1e-13                   # part of a slip's rate: its direction stays
cdef double COS = 0.98078528040323044913     # of a circle's DIRECTIONS-th part
cdef double SIN = 0.19509032201612826785

cdef double STAGES[7][6]
cdef double ERROR[7]
for _stage, _line in enumerate(TABLE):
    for _part, _number in enumerate(_line):
        STAGES[<int>_stage][<int>_part] = _number
for _part, _number in enumerate(DIFFERENCE):
    ERROR[<int>_part] = _number

# ---- a small complementarity problem ---------------------------------------------------------------------------------

cdef void solve_active(const double* a, const double* rhs, int n, int active, double* p) noexcept nogil:
    """p = -(a_SS)^-1 rhs_S on the active set S (bits), 0 elsewhere; a (4, 4) positive definite. Cholesky as L D L'."""
    cdef double l[4][4]
    cdef double s
    cdef int i, j, k
    for i in range(n):
        p[i] = 0.0
        if not active >> i & 1:
            continue
        p[i] = -rhs[i]
        for j in range(i + 1):
            if not active >> j & 1:
                continue
            s = a[4 * i + j]
            for k in range(j):
                if active >> k & 1:
                    s -= l[i][k] * l[k][k] * l[j][k]
            if i == j:
                l[i][i] = s
            else:
                l[i][j] = s / l[j][j]
                p[i] -= l[i][j] * p[j]
    for i in range(n - 1, -1, -1):
        if not active >> i & 1:
            continue
        p[i] /= l[i][i]
        for k in range(i + 1, n):
            if active >> k & 1:
                p[i] -= l[k][i] * p[k]


cdef void solve_lcp(const double* a, const double* q, int n, double* p) noexcept nogil:
    """p >= 0,  a p + q >= 0,  p . (a p + q) = 0  for a positive definite (4, 4) matrix of n rows.

    Murty's principal pivoting with the least index ("Note on a Bard-type scheme for solving the complementarity
    problem", 1974): flip the first row that breaks its sign. It ends for every P-matrix, whatever the start.
    """
    cdef int active = (1 << n) - 1
    cdef int i, j, _, wrong
    cdef double w, tolerance = 0.0
    for i in range(n):
        if fabs(q[i]) > tolerance:
            tolerance = fabs(q[i])
    tolerance *= 1e-15
    for _ in range(PIVOTS):
        solve_active(a, q, n, active, p)
        wrong = -1
        for i in range(n):
            if active >> i & 1:
                if p[i] < 0.0:
                    wrong = i
                    break
            else:
                w = q[i]
                for j in range(n):
                    w += a[4 * i + j] * p[j]
                if w < -tolerance:
                    wrong = i
                    break
        if wrong < 0:
            return
        active ^= 1 << wrong
    for i in range(n):
        p[i] = p[i] if p[i] > 0.0 else 0.0


cdef void compress(const double* a, const double* q, int n, double* p) noexcept nogil:
    """The same for a semidefinite a: four points under a flat box have rank 3.

    Proximal point iteration (Rockafellar, "Monotone operators and the proximal point algorithm", 1976): solve with
    a + eps 1 around the last p. From p = 0 the first step is nearly the solution of smallest norm, so equal points get
    equal impulses; the next ones take what eps left out of the velocities.
    """
    cdef double shifted[16]
    cdef double right[4]
    cdef double last[4]
    cdef double eps = 0.0
    cdef double size = 0.0
    cdef double off
    cdef int i, j, _
    if n == 1:
        p[0] = -q[0] / a[0] if q[0] < 0.0 else 0.0
        return
    for i in range(n):
        eps += 1e-7 * a[5 * i] / n
        size = fabs(q[i]) if fabs(q[i]) > size else size
        p[i] = 0.0
    for i in range(n):
        for j in range(n):
            shifted[4 * i + j] = a[4 * i + j]
        shifted[5 * i] += eps
    for _ in range(REFINEMENTS):
        for i in range(n):
            last[i] = p[i]
            right[i] = q[i] - eps * p[i]
        solve_lcp(shifted, right, n, p)
        off = 0.0
        for i in range(n):
            off = fabs(p[i] - last[i]) if fabs(p[i] - last[i]) > off else off
        if eps * off <= 1e-15 * size:
            return

# ---- one contact: Coulomb's cone -------------------------------------------------------------------------------------

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


cdef bint next_direction(const Field* f, double* d, double* left, double* root) noexcept nogil:
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


cdef bint cone_point(const Point* c, const double* b, double load, double* p) noexcept nogil:
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

# ---- one contact: Stronge's law --------------------------------------------------------------------------------------

# Where an impact is: rates, impulses, the work of the normal one and the least that it was.
ctypedef struct Course:
    double z                     # rate of separation
    double s[2]                  # slip
    double p[3]
    double work
    double deepest


cdef inline bint leg(Course* x, double k, double most, double back, double* dp) noexcept nogil:
    """On, where dz/dP = k stays, at most by dP = `most`. -> whether the impact ends, as work = (1 - back) deepest. dp:
    by how much"""
    cdef double to_come, part, root
    dp[0] = 0.0
    if not (k > 0.0 or most < INFINITY):             # a singular A alone lets a contact close for good
        return True
    if x.z < 0.0:
        part = -x.z / k if k > 0.0 else INFINITY
        if not part < most:
            dp[0] = most
            x.work += (x.z + 0.5 * k * most) * most
            x.z += k * most
            x.deepest = min(x.deepest, x.work)
            return False
        x.work += 0.5 * x.z * part
        x.z = 0.0
        x.deepest = min(x.deepest, x.work)
        dp[0] = part
    to_come = max((1.0 - back) * x.deepest - x.work, 0.0)
    root = x.z * x.z + 2.0 * k * to_come
    part = INFINITY
    if to_come == 0.0:
        part = 0.0
    elif root >= 0.0 and x.z + sqrt(root) > 0.0:
        part = 2.0 * to_come / (x.z + sqrt(root))
    if dp[0] + part <= most:
        x.work += to_come
        x.z += k * part
        dp[0] += part
        return True
    part = most - dp[0]
    x.work += (x.z + 0.5 * k * part) * part
    x.z += k * part
    dp[0] = most
    return False


cdef inline void slip_rates(const Point* c, const double* d, double* normal, double* s) noexcept nogil:
    """d z / dP and d s / dP where the contact slips along d."""
    normal[0] = c.nn - c.friction * (c.nt[0] * d[0] + c.nt[1] * d[1])
    s[0] = c.nt[0] - c.friction * (c.t00 * d[0] + c.t01 * d[1])
    s[1] = c.nt[1] - c.friction * (c.t01 * d[0] + c.t11 * d[1])


cdef inline void course_rates(const Point* c, const double* y, double* out) noexcept nogil:
    """d/dtau of y = [s, s, z, work, P, p_t, p_t]."""
    cdef double r = sqrt(y[0] * y[0] + y[1] * y[1])
    cdef double d[2]
    d[0] = y[0] / r if r > 0.0 else 0.0
    d[1] = y[1] / r if r > 0.0 else 0.0
    slip_rates(c, d, &out[2], out)
    out[0] *= r
    out[1] *= r
    out[2] *= r
    out[3] = y[2] * r
    out[4] = r
    out[5] = -c.friction * y[0]
    out[6] = -c.friction * y[1]


cdef double fly(const Point* c, const Course* x, double h, Course* out) noexcept nogil:
    """One step of h by the pair of fifth and fourth order of J. Dormand and P. Prince ("A family of embedded
    Runge-Kutta formulae", 1980). -> the estimated error of the rates"""
    cdef double y[7]
    cdef double at[7]
    cdef double k[7][7]
    cdef double off
    cdef double largest = 0.0
    cdef int i, j, stage
    y[0], y[1], y[2], y[3] = x.s[0], x.s[1], x.z, x.work
    y[4], y[5], y[6] = x.p[0], x.p[1], x.p[2]
    for stage in range(7):
        for i in range(7):
            off = 0.0
            for j in range(stage):
                off += STAGES[stage][j] * k[j][i]
            at[i] = y[i] + h * off
        course_rates(c, at, k[stage])
    for i in range(3):
        off = 0.0
        for j in range(7):
            off += ERROR[j] * k[j][i]
        if not fabs(h * off) <= largest:                 # not a number either
            largest = fabs(h * off)
    out.s[0], out.s[1], out.z, out.work = at[0], at[1], at[2], at[3]
    out.p[0], out.p[1], out.p[2] = at[4], at[5], at[6]
    out.deepest = x.deepest
    return largest


cdef inline double beyond_end(const Course* x, double back, bint compressing) noexcept nogil:
    """Negative before the end of compression, or of restitution."""
    return x.z if compressing else x.work - (1.0 - back) * x.deepest


cdef void fly_to_end(const Point* c, const Course* x, double h, double back, bint compressing,
                     Course* out) noexcept nogil:
    """The step of at most h that ends there: the rule of false position, with the Illinois modification."""
    cdef double low = 0.0
    cdef double high = h
    cdef double below = beyond_end(x, back, compressing)
    cdef double above = beyond_end(out, back, compressing)
    cdef double first = fabs(below)
    cdef double middle, value
    cdef int side = 0
    cdef int _
    for _ in range(HALVINGS):
        middle = low + (high - low) * max(0.001, min(0.999, below / (below - above)))
        fly(c, x, middle, out)
        value = beyond_end(out, back, compressing)
        if fabs(value) <= SETTLED * first:
            return
        if value > 0.0:
            high, above = middle, value
            below *= 0.5 if side > 0 else 1.0
            side = 1
        else:
            low, below = middle, value
            above *= 0.5 if side < 0 else 1.0
            side = -1


cdef bint turn_slip(const Point* c, double back, Course* x) noexcept nogil:
    """Slip until its direction has nothing left to turn, or the impact ends. -> whether the impact has ended"""
    cdef Course next
    cdef double d[2]
    cdef double s[2]
    cdef double r, normal, across, error
    cdef double first = sqrt(x.s[0] * x.s[0] + x.s[1] * x.s[1]) + fabs(x.z)
    cdef double size = fabs(c.nt[0]) + fabs(c.nt[1]) + c.friction * (c.t00 + c.t11)
    cdef double h = 1.0 / size
    cdef bint compressing
    cdef int _
    for _ in range(TURNS):
        r = sqrt(x.s[0] * x.s[0] + x.s[1] * x.s[1])
        if not r > SETTLED * first:
            x.s[0] = x.s[1] = 0.0
            return False
        d[0] = x.s[0] / r
        d[1] = x.s[1] / r
        slip_rates(c, d, &normal, s)
        across = fabs(d[0] * s[1] - d[1] * s[0])
        if across <= STEADY * size or (d[0] * s[0] + d[1] * s[1] < 0.0 and r * across <= TURNED * size * first):
            return False
        compressing = x.z < 0.0
        error = fly(c, x, h, &next)
        if not error <= ACCURATE * first:
            h *= 0.5
            continue
        if beyond_end(&next, back, compressing) >= 0.0:
            fly_to_end(c, x, h, back, compressing, &next)
            x[0] = next
            x.deepest = min(x.deepest, x.work)
            if not compressing or back == 0.0:
                return True
            x.z = max(x.z, 0.0)
            continue
        x[0] = next
        x.deepest = min(x.deepest, x.work)
        if error < 0.01 * ACCURATE * first:
            h *= 2.0
    return False


cdef void stronge_point(const Point* c, const double* u, double e, double* p) noexcept nogil:
    cdef Course x
    cdef Field f
    cdef double d[2]
    cdef double s[2]
    cdef double held[2]
    cdef double root[2]
    cdef double back = e * e
    cdef double left, r, dp, normal, along
    cdef double mu = c.friction
    cdef bint ended = False
    cdef int i, _
    p[0] = p[1] = p[2] = 0.0
    if not u[0] < 0.0:
        return
    x.z, x.s[0], x.s[1] = u[0], u[1], u[2]
    x.p[0] = x.p[1] = x.p[2] = x.work = x.deepest = 0.0
    for _ in range(LEGS):
        if x.s[0] != 0.0 or x.s[1] != 0.0:
            ended = mu > 0.0 and turn_slip(c, back, &x)
        if ended:
            break
        r = sqrt(x.s[0] * x.s[0] + x.s[1] * x.s[1])
        if not mu > 0.0:
            leg(&x, c.nn, INFINITY, back, &dp)
            x.p[0] += dp
            break
        if r > 0.0:
            d[0] = x.s[0] / r
            d[1] = x.s[1] / r
            slip_rates(c, d, &normal, s)
            along = d[0] * s[0] + d[1] * s[1]
            ended = leg(&x, normal, r / -along if along < 0.0 else INFINITY, back, &dp)
            x.s[0] = x.s[1] = 0.0
        else:
            held_tangents(c, -c.nt[0], -c.nt[1], held)
            if held[0] * held[0] + held[1] * held[1] <= mu * mu:
                d[0] = -held[0] / mu
                d[1] = -held[1] / mu
            else:
                f.fixed[0] = c.nt[0]
                f.fixed[1] = c.nt[1]
                f.turning[0], f.turning[1], f.turning[2], f.turning[3] = (
                    -mu * c.t00, -mu * c.t01, -mu * c.t01, -mu * c.t11)
                left = DIRECTIONS
                normal = sqrt(c.nt[0] * c.nt[0] + c.nt[1] * c.nt[1])
                root[0] = c.nt[0] / normal
                root[1] = c.nt[1] / normal
                d[0], d[1] = root[0], root[1]
                if next_direction(&f, d, &left, root):
                    d[0], d[1] = root[0], root[1]
            slip_rates(c, d, &normal, s)
            if not normal > SINGULAR * (c.nn + c.t00 + c.t11):       # what sticks so moves nothing, whatever presses it
                break
            ended = leg(&x, normal, INFINITY, back, &dp)
        x.p[0] += dp
        x.p[1] -= mu * dp * d[0]
        x.p[2] -= mu * dp * d[1]
        if ended:
            break
    for i in range(3):
        p[i] = x.p[i]

# ---- several contacts ------------------------------------------------------------------------------------------------

cdef bint cones(int count, const double* a, const double* b, const double* friction, const double* load,
                double* p) noexcept nogil:
    """cone_point of all together, by sweeps from p = 0. load: one in three. -> whether that converged"""
    cdef Py_ssize_t n = 3 * count
    cdef Py_ssize_t i, j, k
    cdef double own[3]
    cdef double rest[3]
    cdef double change, size
    cdef Point c
    cdef bint solved = True
    cdef int _
    for i in range(n):
        p[i] = 0.0
    for _ in range(SWEEPS):
        change = size = 0.0
        solved = True
        for k in range(0, n, 3):
            for i in range(3):
                rest[i] = b[k + i]
                for j in range(n):
                    if j < k or j > k + 2:
                        rest[i] += a[(k + i) * n + j] * p[j]
            c = point_of(a + k * n + k, n, friction[k // 3])
            solved = cone_point(&c, rest, load[k], own) and solved
            for i in range(3):
                change = max(change, fabs(own[i] - p[k + i]))
                size = max(size, fabs(own[i]))
                p[k + i] = own[i]
        if count == 1 or change <= SWEPT * size:
            return solved
    return False


cdef void poisson(int count, const double* a, const double* u, const double* restitution, const double* friction,
                  double* p, double* work) noexcept nogil:
    cdef Py_ssize_t n = 3 * count
    cdef Py_ssize_t i, j
    cdef double* load = work
    cdef double* more = work + n
    cdef double* rates = work + 2 * n
    for i in range(n):
        load[i] = 0.0
    cones(count, a, u, friction, load, p)
    for i in range(0, n, 3):
        load[i] = restitution[i // 3] * p[i]
    for i in range(n):
        rates[i] = u[i]
        for j in range(n):
            rates[i] += a[i * n + j] * (p[j] + load[j])
    cones(count, a, rates, friction, load, more)
    for i in range(n):
        p[i] += load[i] + more[i]


cdef inline double total_rate(int count, const double* weight, const double* rates) noexcept nogil:
    cdef double sum = 0.0
    cdef int i
    for i in range(count):
        sum += weight[i] * rates[3 * i]
    return sum


cdef void rub_together(int count, const double* a, const double* friction, const double* weight, double part,
                       double* rates, double* step) noexcept nogil:
    """Friction of all under normal impulses part weight, from that in step, against the slip it ends with; rates
    follow."""
    cdef Py_ssize_t n = 3 * count
    cdef Py_ssize_t i, k
    cdef double x[2]
    cdef double change, size
    cdef int _
    for _ in range(SWEEPS):
        change = size = 0.0
        for k in range(0, n, 3):
            x[0] = step[k + 1]
            x[1] = step[k + 2]
            cone_step(a[(k + 1) * n + k + 1], a[(k + 2) * n + k + 2], a[(k + 1) * n + k + 2],
                      friction[k // 3] * weight[k // 3] * part, rates[k + 1], rates[k + 2], x)
            for i in range(n):
                rates[i] += a[i * n + k + 1] * (x[0] - step[k + 1]) + a[i * n + k + 2] * (x[1] - step[k + 2])
            change = max(change, max(fabs(x[0] - step[k + 1]), fabs(x[1] - step[k + 2])))
            size = max(size, max(fabs(x[0]), fabs(x[1])))
            step[k + 1] = x[0]
            step[k + 2] = x[1]
        if change <= SWEPT * size:
            return


cdef double try_part(int count, const double* a, const double* friction, const double* weight, double part,
                     const double* from_rates, double* rates, double* step) noexcept nogil:
    """Normal impulses part weight and their friction, into step, which has a guess at the latter; rates after it. ->
    what energy has changed by"""
    cdef Py_ssize_t n = 3 * count
    cdef Py_ssize_t i, k
    cdef double gained = 0.0
    for i in range(n):
        step[i] = part * weight[i // 3] if i % 3 == 0 else step[i]
        rates[i] = from_rates[i]
        for k in range(n):
            rates[i] += a[i * n + k] * (part * weight[k // 3] if k % 3 == 0 else step[k])
    rub_together(count, a, friction, weight, part, rates, step)
    for i in range(n):
        gained += 0.5 * step[i] * (from_rates[i] + rates[i])
    return gained


cdef void stronge_together(int count, const double* a, const double* u, const double* restitution,
                           const double* friction, double* p, double* work) noexcept nogil:
    """Compression is Poisson's; restitution by parts of e times its normal impulses, the last of which ends where the
    law, or the energy that compression took, says so."""
    cdef Py_ssize_t n = 3 * count
    cdef Py_ssize_t i, j, _
    cdef double* weight = work
    cdef double* rates = work + count
    cdef double* after = rates + n
    cdef double* step = after + n
    cdef double part, gained, low, high, middle, own, value, below, beyond
    cdef double energy = 0.0
    cdef double taken = 0.0
    cdef double back = 0.0
    cdef double returned = 0.0
    cdef double largest = 0.0
    cdef bint ended
    cdef int side = 0
    for i in range(n):
        step[i] = 0.0
    cones(count, a, u, friction, step, p)
    for i in range(n):
        rates[i] = u[i]
        for j in range(n):
            rates[i] += a[i * n + j] * p[j]
        taken -= 0.5 * p[i] * (u[i] + rates[i])
    for i in range(count):
        weight[i] = restitution[i] * p[3 * i]
        own = restitution[i] * restitution[i]
        back -= 0.5 * own * p[3 * i] * (u[3 * i] + rates[3 * i])
        largest = max(largest, own)
    back = min(back, largest * taken)
    if not back > 0.0:
        return
    for i in range(n):
        step[i] = 0.0
    for _ in range(16 * PARTS):
        part = 1.0 / PARTS
        gained = try_part(count, a, friction, weight, part, rates, after, step)
        beyond = over(count, weight, rates, after, part, returned, energy + gained, back)
        ended = beyond >= 0.0
        if ended:
            low, high = 0.0, part
            below = max(returned, energy) - back
            for _ in range(HALVINGS):
                if not -below > SETTLED * back:
                    break
                middle = low + (high - low) * max(0.01, min(0.99, below / (below - beyond)))
                gained = try_part(count, a, friction, weight, middle, rates, after, step)
                value = over(count, weight, rates, after, middle, returned, energy + gained, back)
                if value > 0.0:
                    high, beyond = middle, value
                    below *= 0.5 if side > 0 else 1.0
                    side = 1
                else:
                    low, below = middle, value
                    beyond *= 0.5 if side < 0 else 1.0
                    side = -1
            part = low
            gained = try_part(count, a, friction, weight, part, rates, after, step)
        energy += gained
        returned += 0.5 * part * (total_rate(count, weight, rates) + total_rate(count, weight, after))
        for i in range(n):
            p[i] += step[i]
            rates[i] = after[i]
        if ended:
            return


cdef inline double over(int count, const double* weight, const double* rates, const double* after, double part,
                        double returned, double energy, double back) noexcept nogil:
    """By how much more than it may a restitution has given back after a part. energy: what it has given in all."""
    returned += 0.5 * part * (total_rate(count, weight, rates) + total_rate(count, weight, after))
    return max(returned, energy) - back


cdef void strike_together(int law, int count, const double* a, const double* u, const double* restitution,
                          const double* friction, double* p, double* work) noexcept nogil:
    """Newton's problem may have no solution with e > 0 and friction: then Poisson's takes its place."""
    cdef Py_ssize_t n = 3 * count
    cdef Py_ssize_t i
    cdef Point c
    if law == LAW_STRONGE:
        if count == 1:
            c = point_of(a, 3, friction[0])
            stronge_point(&c, u, restitution[0], p)
        else:
            stronge_together(count, a, u, restitution, friction, p, work)
        return
    if law == LAW_NEWTON:
        for i in range(n):
            work[i] = u[i] * (1.0 + restitution[i // 3]) if i % 3 == 0 else u[i]
            work[n + i] = 0.0
        if cones(count, a, work, friction, work + n, p):
            return
    poisson(count, a, u, restitution, friction, p, work)

# ---- from Python -----------------------------------------------------------------------------------------------------


def strike(A, rates, restitution, friction, int law):
    """Impulses (3k,) of k contacts struck together. A (3k, 3k), rates (3k,), restitution and friction (k,)."""
    cdef int count = len(friction)
    a, u = np.ascontiguousarray(A, float), np.ascontiguousarray(rates, float)
    e, mu = np.ascontiguousarray(restitution, float), np.ascontiguousarray(friction, float)
    p, work = np.zeros(max(3 * count, 1)), np.zeros(max(12 * count, 1))
    if count:
        strike_together(law, count, doubles(a), doubles(u), doubles(e), doubles(mu), doubles(p), doubles(work))
    return p[:3 * count]
