"""What moves by itself and holds or drives others, by groups of what moves freely and hangs together (WarmStarts)."""

from libc.stdint cimport int32_t
from mcsim.core._math cimport is_zero
from mcsim.core._types cimport Twist
from mcsim.solve._warm_starts cimport WarmStarts
from mcsim.state._inertia cimport goes_along
from mcsim.state._bodies cimport Bodies

cdef enum:
    UNDRIVEN = -2                # by groups; else the body, -1 for all that stands
    MANY_DRIVERS = -3


cdef inline void tie_moving(WarmStarts groups, const Bodies* bodies, int a, int b) noexcept nogil:
    if bodies.inv_mass[a] > 0.0 and bodies.inv_mass[b] > 0.0:
        groups.tie(a, b)


cdef inline void meet_driver(int32_t* driver, WarmStarts groups, const Bodies* bodies, int a, int b) noexcept nogil:
    """A pair of which one body may not be dynamic: that drives the other's group, or holds it. driver: of groups, at their
    roots."""
    cdef int held = a if bodies.inv_mass[a] > 0.0 else b
    cdef int holder = b if held == a else a
    cdef const Twist* t = &bodies.twist[holder]
    cdef int32_t r
    if not bodies.inv_mass[held] > 0.0 or bodies.inv_mass[holder] > 0.0:
        return
    r = groups.root(held)
    if holder >= 0 and is_zero(t.v) and is_zero(t.w):
        holder = -1
    if driver[r] == UNDRIVEN:
        driver[r] = holder
    elif driver[r] != holder and not (driver[r] >= 0 and holder >= 0 and goes_along(t, &bodies.twist[driver[r]])):
        driver[r] = MANY_DRIVERS
