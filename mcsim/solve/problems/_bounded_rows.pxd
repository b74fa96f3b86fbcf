"""Bounded rows of the interior point (_ipm.pyx): their distances from the bounds and multipliers, and how these go along a
direction."""

from libc.math cimport INFINITY, fabs

ctypedef struct Direction:
    double* x                       # (rows,)
    double* v
    double* a
    double* b
    double* nodes                   # (numbers of the nodes,)

# Of each row; of those without bounds not in use.
ctypedef struct Bounds:
    double* rub                     # mu of the pyramid's tangents, whose bounds follow their normal; else 0
    double* low                     # x - lower; INFINITY: no bound
    double* high                    # upper - x
    double* push_low                # their multipliers
    double* push_high


cdef inline double part(double x, double way, double length) noexcept nogil:
    """The least of `length` and what x can be moved along `way` until it is 0."""
    return min(length, -x / way) if way < 0.0 else length


cdef inline bint finite(const Direction* to, Py_ssize_t count) noexcept nogil:
    cdef Py_ssize_t i
    cdef double sum = 0.0
    for i in range(count):
        sum += fabs(to.x[i]) + fabs(to.v[i])
    return sum < INFINITY


cdef inline double lower_way(const Bounds* bounds, Py_ssize_t i, const Direction* to) noexcept nogil:
    """How `low` changes."""
    return to.x[i] + (bounds.rub[i] * to.x[i - i % 3] if bounds.rub[i] > 0.0 else 0.0)


cdef inline double upper_way(const Bounds* bounds, Py_ssize_t i, const Direction* to) noexcept nogil:
    return (bounds.rub[i] * to.x[i - i % 3] if bounds.rub[i] > 0.0 else 0.0) - to.x[i]


cdef inline double low_defect(const Bounds* bounds, Py_ssize_t i, double target, const Direction* before) noexcept nogil:
    """What the product of x - lower and its multiplier lacks."""
    if bounds.low[i] == INFINITY:
        return 0.0
    return target - bounds.low[i] * bounds.push_low[i] - (lower_way(bounds, i, before) * before.a[i] if before != NULL
                                                      else 0.0)


cdef inline double high_defect(const Bounds* bounds, Py_ssize_t i, double target, const Direction* before) noexcept nogil:
    if bounds.high[i] == INFINITY:
        return 0.0
    return target - bounds.high[i] * bounds.push_high[i] - (upper_way(bounds, i, before) * before.b[i] if before != NULL
                                                        else 0.0)


cdef inline double aim_within(const Bounds* bounds, Py_ssize_t i, double target, const Direction* before) noexcept nogil:
    """What both bounds ask of the row's velocity."""
    return (low_defect(bounds, i, target, before) / bounds.low[i]
            - high_defect(bounds, i, target, before) / bounds.high[i])


cdef inline void multipliers(const Bounds* bounds, Py_ssize_t i, double target, const Direction* before,
                             Direction* to) noexcept nogil:
    """Of a bounded row: that of the farther bound by its product, the other by v = a - b."""
    if bounds.low[i] <= bounds.high[i]:
        to.b[i] = (high_defect(bounds, i, target, before) - bounds.push_high[i] * upper_way(bounds, i, to)) / bounds.high[i]
        to.a[i] = to.v[i] + to.b[i]
    else:
        to.a[i] = (low_defect(bounds, i, target, before) - bounds.push_low[i] * lower_way(bounds, i, to)) / bounds.low[i]
        to.b[i] = to.a[i] - to.v[i]


cdef inline double way_within(const Bounds* bounds, Py_ssize_t i, const Direction* to, double length) noexcept nogil:
    """The least of `length` and that at which the first of the row's bounds or multipliers is 0."""
    length = part(bounds.low[i], lower_way(bounds, i, to), part(bounds.high[i], upper_way(bounds, i, to), length))
    if bounds.low[i] < INFINITY:
        length = part(bounds.push_low[i], to.a[i], length)
    if bounds.high[i] < INFINITY:
        length = part(bounds.push_high[i], to.b[i], length)
    return length


cdef inline bint stays_within(const Bounds* bounds, Py_ssize_t i, const Direction* to, double length) noexcept nogil:
    return (bounds.low[i] + length * lower_way(bounds, i, to) > 0.0
            and bounds.high[i] + length * upper_way(bounds, i, to) > 0.0
            and (bounds.low[i] == INFINITY or bounds.push_low[i] + length * to.a[i] > 0.0)
            and (bounds.high[i] == INFINITY or bounds.push_high[i] + length * to.b[i] > 0.0))


cdef inline void go_within(Bounds* bounds, Py_ssize_t i, const Direction* to, double length) noexcept nogil:
    bounds.low[i] += length * lower_way(bounds, i, to)
    bounds.high[i] += length * upper_way(bounds, i, to)
    bounds.push_low[i] += length * to.a[i] if bounds.low[i] < INFINITY else 0.0
    bounds.push_high[i] += length * to.b[i] if bounds.high[i] < INFINITY else 0.0
