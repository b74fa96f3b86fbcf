"""The one place where hertz and damping ratio become numbers of a row.

A soft constraint is the implicit Euler step of a spring k = m w^2 and a damper c = 2 z m w (w = 2 pi hertz, z the damping
ratio, m = 1 / (J M^-1 J') the row's effective mass) over the substep h. With a1 = 2 z + h w and a2 = h w a1:

    J v + bias_rate C + compliance lambda = 0,     bias_rate = w / a1,     compliance = 1 / (m a2)

The mass scale and impulse scale of the game engines' form are a2 / (1 + a2) and 1 / (1 + a2); in ODE's words
ERP = h bias_rate and CFM = h compliance. Source: E. Catto, "Soft Constraints", GDC 2011; "Solver2D", 2024.

At rest, J v = 0, it gives lambda = -bias_rate C / compliance = -m h w^2 C, whatever z is. A contact that gives about as
much as its spring would at rest is steady: its z is several times as large (docs/theory/stabilization.md, what rests)
between bodies that move and follow the sweeps (wide/_blocks.pxd, may_steady).
With r = m h w^2 max(-C, 0) / lambda, of a contact with lambda > 0,

    z (1 + s (k - 1)),     s = min(max(2 - 2 |r - 1|, 0), 1),     k = steadying(z), and twice that for the points of a patch
"""

from libc.math cimport fabs

ctypedef struct Softness:
    double bias_rate       # [1/s]
    double stiffness       # a2: compliance = diagonal / a2 [-]

cdef inline Softness soften(double hertz, double damping_ratio, double h) noexcept nogil:
    cdef Softness s
    cdef double omega = 6.283185307179586 * hertz
    cdef double a1 = 2.0 * damping_ratio + h * omega
    s.bias_rate = omega / a1 if a1 > 0.0 else 0.0
    s.stiffness = h * omega * a1
    return s


cdef inline double steadying(double damping_ratio) noexcept nogil:
    """k: what makes of a ratio of 2 one of 12, for slow sways; a larger one that is given stays."""
    return max(min(6.0, 12.0 / damping_ratio), 1.0) if damping_ratio > 0.0 else 1.0


cdef inline double steadiness(double at_rest, double load) noexcept nogil:
    """s; at_rest: m h w^2 max(-C, 0) of the spring's impulse, load: the impulse that it gave."""
    return min(max(2.0 - 2.0 * fabs(at_rest / load - 1.0), 0.0), 1.0) if load > 0.0 else 0.0


cdef inline double rigid_rate(double bias_rate, double h) noexcept nogil:
    """The bias rate of a row without compliance [1/s]: as of a soft one, but no faster than sweeps in turn with
    joints follow, a tenth of the error in a substep (docs/theory/stabilization.md, limits)."""
    return min(bias_rate, 0.1 / h)
