"""The second half of an impulse, where a substep's forces act in two halves: before its drift and after it.

A force that lasts is as large in both, so the second half is as large as the first one came out, and not as the last
substep's impulse says: that would answer half of each change a substep later, and feed the slow sways of tall stacks
(docs/theory/stabilization.md). What stops an impact is an impulse once: beyond twice what was guessed nothing comes again.
"""

from mcsim.wide._lanes cimport Wide, least, most, splat


cdef inline double second_half(double first, double guess) noexcept nogil:
    """first: the first half as it came out; guess: what it began with."""
    return min(max(first, min(2.0 * guess, 0.0)), max(2.0 * guess, 0.0))


cdef inline Wide w_second_half(Wide first, Wide guess) noexcept nogil:
    cdef Wide zero = splat(0.0)
    cdef Wide widest = guess + guess
    return least(most(first, least(widest, zero)), most(widest, zero))
