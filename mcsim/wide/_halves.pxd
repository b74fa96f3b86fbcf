"""The halves of an impulse, where a substep's forces act in two: before its drift and after it.

A force that lasts is as large at the end of a substep as at the beginning of the next one. So the first half of a substep
is guessed to be the second half that the last one ended with, and its second half is as large as the first one comes out:
the scheme of a leapfrog. Half of all that the last substep gave would answer half of each change a substep later, and
feed the slow sways of tall stacks (docs/theory/stabilization.md). What stops an impact is an impulse once: a second half
is no larger than twice what was guessed. Friction answers velocities, not places, and limits of joints are struck rather
than pressed: their warm start is half of what they gave in all.
"""

from mcsim.state._row cimport BLOCK_BORDER, BLOCK_TREE, ROW_JOINT, ROW_NORMAL, Row
from mcsim.state._settings cimport STABILIZE_SOFT, Settings
from mcsim.wide._lane_types cimport Wide
from mcsim.wide._lanes cimport least, most, splat


cdef inline double second_half(double first, double warm) noexcept nogil:
    """first: the first half as it came out; warm: what it began with."""
    return min(max(first, min(2.0 * warm, 0.0)), max(2.0 * warm, 0.0))


cdef inline double gain(const Row* row) noexcept nogil:
    """What a first half that came out has beyond twice its warm start, in `carry`."""
    return max(row.impulse - 2.0 * row.carry, 0.0)


cdef inline double loss(const Row* row) noexcept nogil:
    """By how much it is less than its warm start."""
    return max(row.carry - row.impulse, 0.0)


cdef inline double first_part(int kind, const Settings* settings) noexcept nogil:
    """The part of a row's impulse in its first half: of a joint all where no relax pass follows."""
    return 1.0 if kind == ROW_JOINT and not settings.relaxes else settings.first_kick


cdef inline bint closes_itself(const Row* row, const Settings* settings) noexcept nogil:
    """Whether it is solved with joints that close at the end of a drift, and keep their impulses' halves themselves."""
    return (row.block_kind == BLOCK_TREE or row.block_kind == BLOCK_BORDER) and settings.stabilization == STABILIZE_SOFT


cdef inline double lasting(const Row* row, const Settings* settings) noexcept nogil:
    """What of a row's impulse lasts, as that of a whole substep: its warm start in the next one. Where no spring follows
    what is pressed in, `carry` is what sweeps gave in vain (step/_sweeps.pyx), and all else lasts."""
    cdef double part = first_part(row.kind, settings)
    if lasts_whole(settings):
        return min(max(row.impulse - row.carry, row.lower), row.upper)
    if part == 1.0 or row.kind != ROW_NORMAL and row.kind != ROW_JOINT or closes_itself(row, settings):
        return row.impulse
    return min(max(doubled(part) * (row.impulse - row.carry), row.lower), row.upper)


cdef inline bint lasts_whole(const Settings* settings) noexcept nogil:
    """Whether all of an impulse lasts, not twice its second half: of whole kicks, and where displacements mend errors."""
    return not settings.first_kick < 1.0 or settings.displaces


cdef inline Wide w_second_half(Wide first, Wide warm) noexcept nogil:
    cdef Wide zero = splat(0.0)
    cdef Wide widest = warm + warm
    return least(most(first, least(widest, zero)), most(widest, zero))


cdef inline double doubled(double part) noexcept nogil:
    """What a second half is multiplied by, to be that of a whole substep. part: that of the first half; 1 where there are
    no halves, and the first one counts as 0."""
    return 1.0 / (1.0 - part) if part < 1.0 else 1.0
