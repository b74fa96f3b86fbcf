"""Stronge's law of impact for one contact (_laws.pyx), followed as its normal impulse grows, from slip to stick and on."""

from libc.math cimport INFINITY, fabs, sqrt

from mcsim.solve._bracket cimport HALVINGS, SETTLED, Bracket, narrow, next_trial
from mcsim.solve._cone_point cimport DIRECTIONS, SINGULAR, Field, Point, held_tangents, next_direction

# The stages of a pair of fifth and fourth order, and what the two differ by.
TABLE = ((), (1.0 / 5,), (3.0 / 40, 9.0 / 40), (44.0 / 45, -56.0 / 15, 32.0 / 9),
         (19372.0 / 6561, -25360.0 / 2187, 64448.0 / 6561, -212.0 / 729),
         (9017.0 / 3168, -355.0 / 33, 46732.0 / 5247, 49.0 / 176, -5103.0 / 18656),
         (35.0 / 384, 0.0, 500.0 / 1113, 125.0 / 192, -2187.0 / 6784, 11.0 / 84))
DIFFERENCE = (71.0 / 57600, 0.0, -71.0 / 16695, 71.0 / 1920, -17253.0 / 339200, 22.0 / 525, -1.0 / 40)

cdef enum:
    LEGS = 8                 # slip, stick, slip again; a few more for rounding
    TURNS = 2000             # steps of a slip that turns, and trials of such

cdef double ACCURATE = 1e-10                 # part of the rates by which a step of a turning slip may be wrong
cdef double TURNED = 1e-10                   # part of them that is left to turn where a slip goes on straight
cdef double STEADY = 1e-13                   # part of a slip's rate: its direction stays

cdef double STAGES[7][6]
cdef double ERROR[7]
for _stage, _line in enumerate(TABLE):
    for _part, _number in enumerate(_line):
        STAGES[<int>_stage][<int>_part] = _number
for _part, _number in enumerate(DIFFERENCE):
    ERROR[<int>_part] = _number

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
    """The step of at most h that ends there; out: the one of h."""
    cdef Bracket b
    cdef double first, middle, value
    cdef int _
    b.low, b.high, b.side = 0.0, h, 0
    b.below = beyond_end(x, back, compressing)
    b.above = beyond_end(out, back, compressing)
    first = fabs(b.below)
    for _ in range(HALVINGS):
        middle = next_trial(&b, 0.001)
        fly(c, x, middle, out)
        value = beyond_end(out, back, compressing)
        if fabs(value) <= SETTLED * first:
            return
        narrow(&b, middle, value)


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
