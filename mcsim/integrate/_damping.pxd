"""Damping of bodies: what their velocities lose."""


cdef inline double damped_part(double y) noexcept nogil:
    """The part of its velocity that a body which is damped at the rate c loses in the time h, y = h c.

    The force -m c v of the velocity v at the begin takes y of it. So what joints and contacts bear of a body that is drawn
    or hangs is exact, and so is the speed at which it falls in the end. From y = 1/2 on it is 1 - 1 / (4 y), with the same
    value and slope there: less than all, for damping turns no velocity round. mcsim/derive/substep.py has it too.
    """
    return y if y <= 0.5 else 1.0 - 0.25 / y


cdef inline double driven_part(double y) noexcept nogil:
    """The part of what other forces give in that time which is left: damping is to balance them at v = a / c."""
    return 1.0 if y <= 0.5 else damped_part(y) / y
