"""A position motor makes the error e = x - target of its coordinate move as a damped oscillator, whatever it carries:

    e'' + 2 z w e' + w^2 e = 0,     w = 2 pi hertz,  z the damping ratio

Its row asks for the velocity that this motion has, without compliance, within the bound of its force. So a load makes no
error, and what holds at the target asks for no velocity. The motion over a substep is the exact one, from the error e and
the velocity v that the substep begins with; so no step is too long for any hertz.

A substep of two halves drifts with the mean velocity of the motion and ends with its last one:

    J v = (e(h) - e) / h  before the drift,     J v = v(h)  after it

Elsewhere a substep has one velocity, and v is that of the drift before. Then e(t + h) = (a + d) e(t) - decay e(t - h) is
the motion's recurrence, so

    J v = decay v - (1 + decay - a - d) e / h

A motor with a largest velocity asks for no more than that of either: far away its coordinate goes at that speed, and near
by as the oscillator does that begins there with it.

A rotor of inertia a goes with a coordinate at the rate u. Over a substep its impulse on the joint is lambda =
-a (u' - u). In a substep of two halves the drift changes u by h J' v, without an impulse; the first half takes half of
that beforehand, and the second half the rest, so that both are the same seen from either end (docs/theory/armature.md):

    J v + h/2 J' v + lambda_1 / a = u  before the drift,     J v + (lambda_1 + lambda_2) / a = u  after it

Elsewhere the drift comes last: J v + h J' v + lambda / a = u.
"""

from libc.math cimport fabs, isinf, sqrt

from mcsim.core._numbers cimport TWO_PI
from mcsim.core._trig cimport decay, sine_cosine
from mcsim.state._joint cimport AXIS_ROWS, MOTOR_POSITION, JointAxis
from mcsim.state._row cimport BIASED, RELAXED, ROW_ARMATURE, ROW_MOTOR, ROW_SPRING
from mcsim.state._settings cimport INTEGRATE_SEMI_IMPLICIT
from mcsim.state._rows cimport is_of_motor, rate

cdef double FASTEST = 1e100              # x beyond which it stays as it is
cdef double NEARLY_CRITICAL = 1e-4       # of |x^2 - (z x)^2|: below it, series


cdef Oscillation oscillate(double x, double damping_ratio) noexcept nogil:
    """With y = z x and s^2 = x^2 - y^2: a, d = exp(-y) (cos s +- y sin s / s), b = exp(-y) sin s / s, c = -x^2 b; where s
    is imaginary, cosh and sinh of it, whose growth the decay bounds."""
    cdef Oscillation o
    cdef double y, q, s, even, odd, slow, fast
    x = min(x, FASTEST)
    y = min(damping_ratio * x, FASTEST)
    q = x * x - y * y
    s = sqrt(fabs(q))
    if fabs(q) < NEARLY_CRITICAL:
        even = decay(y) * (1.0 - q / 2.0 * (1.0 - q / 12.0 * (1.0 - q / 30.0)))
        odd = decay(y) * (1.0 - q / 6.0 * (1.0 - q / 20.0 * (1.0 - q / 42.0)))
    elif q > 0.0:
        sine_cosine(s, &odd, &even)
        even *= decay(y)
        odd *= decay(y) / s
    else:
        slow, fast = decay(x * x / (y + s)), decay(y + s)
        even = 0.5 * (slow + fast)
        odd = 0.5 * (slow - fast) / s
    o.a = even + y * odd
    o.b = odd
    o.c = -x * x * odd
    o.d = even - y * odd
    o.decay = decay(2.0 * y)
    return o


cdef inline void aim_rotor(Row* row, const Twist* twist, const Settings* settings) noexcept nogil:
    """Its biases, and its curvature is that of where it was written."""
    cdef double part = settings.first_kick if settings.integrator == INTEGRATE_SEMI_IMPLICIT else 0.5
    row.bias[RELAXED] = -rate(row, twist)
    row.bias[BIASED] = part * settings.h * row.curvature + row.bias[RELAXED]


cdef Py_ssize_t aim_motors(const Joint* joints, Row* rows, Py_ssize_t count, const Twist* twist,
                           const Settings* settings) noexcept nogil:
    cdef const JointAxis* axis
    cdef Oscillation o
    cdef double h = settings.h
    cdef double velocity
    cdef Py_ssize_t i, found = 0
    cdef int p
    for i in range(count):
        if rows[i].kind == ROW_SPRING and is_of_motor(&rows[i]):
            found += 1                               # its row asks for nothing that depends on the substep
        if rows[i].kind == ROW_ARMATURE:
            found += 1
            aim_rotor(&rows[i], twist, settings)
        if rows[i].kind != ROW_MOTOR:
            continue
        axis = &joints[rows[i].source].axes[rows[i].index // AXIS_ROWS]
        if axis.motor_mode != MOTOR_POSITION:
            continue
        found += 1
        o = oscillate(TWO_PI * axis.motor_hertz * h, axis.motor_damping_ratio)
        velocity = rate(&rows[i], twist)
        if settings.first_kick < 1.0 or settings.integrator != INTEGRATE_SEMI_IMPLICIT:
            rows[i].bias[BIASED] = -((o.a - 1.0) * rows[i].error / h + o.b * velocity)
            rows[i].bias[RELAXED] = -(o.c * rows[i].error / h + o.d * velocity)
        else:
            rows[i].bias[BIASED] = (1.0 + o.decay - o.a - o.d) * rows[i].error / h - o.decay * velocity
            rows[i].bias[RELAXED] = rows[i].bias[BIASED]
        if not isinf(axis.motor_max_velocity):
            for p in range(2):
                rows[i].bias[p] = min(max(rows[i].bias[p], -axis.motor_max_velocity), axis.motor_max_velocity)
    return found
