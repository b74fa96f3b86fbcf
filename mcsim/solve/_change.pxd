"""Which bodies a further sweep changes."""

from libc.stdint cimport int32_t
from mcsim.core._math cimport norm, sub
from mcsim.core._types cimport Twist


cdef inline void note_change(const Twist* twist, const Twist* before, int body, const double* sizes, double least,
                             int sweep, int32_t* changed) noexcept nogil:
    """Of a further sweep: whether a body's velocity has changed by more than `least` [m/s], where it reaches."""
    if body >= 0 and norm(sub(twist[body].v, before.v)) + sizes[body] * norm(sub(twist[body].w, before.w)) > least:
        changed[body] = sweep
