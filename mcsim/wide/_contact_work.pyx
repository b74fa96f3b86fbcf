"""The work of contacts (docs/theory/stabilization.md): springs push apart what overlaps, in the biased pass, and the relax
pass takes from the velocities what they gave. Where bodies overlap in rows and stacks neither pass comes to its end, and
what is left would throw them apart. But contacts between bodies give no energy: over a substep the work of a group's normal
impulses is not above 0. So of what the biased pass has changed of them no more goes on into the relax pass than that
leaves.

    begin    before the warm start acts
    start    once it has; contacts have told by then which groups are pushed apart by more than may be left undone
"""

from libc.string cimport memcpy

import numpy as np

from mcsim.core._arrays cimport doubles, integers


cdef class ContactWork:
    """bodies: how many there may be."""

    def __init__(self, Py_ssize_t bodies):
        twists, sums = np.zeros((2, 6 * bodies + 6)), np.zeros((bodies + 1, 3))
        pushing = np.zeros(bodies + 1, np.int32)
        self.kept = twists, sums, pushing
        self.kicked, self.started = <Twist*>doubles(twists[0]) + 1, <Twist*>doubles(twists[1]) + 1
        self.sums, self.pushing = <WorkSums*>doubles(sums) + 1, integers(pushing) + 1

    cdef void begin_step(self, const Manifold* manifolds, Py_ssize_t count, const Bodies* bodies) noexcept nogil:
        """What does not move, or sleeps on what carries it, keeps its velocity for the step."""
        cdef int32_t body
        cdef Py_ssize_t i
        cdef int side
        for i in range(count):
            for side in range(2):
                body = manifolds[i].body_b if side else manifolds[i].body_a
                self.kicked[body] = self.started[body] = bodies.twist[body]
                self.pushing[body] = 0
        self.number = self.last = 0

    cdef void begin(self, const Bodies* bodies) noexcept nogil:
        copy_twists(self.kicked, bodies)
        self.number += 1

    cdef void start(self, const Bodies* bodies) noexcept nogil:
        if self.pushes():
            copy_twists(self.started, bodies)

    cdef bint pushes(self) noexcept nogil:
        """Whether anything is pushed apart in this substep."""
        return self.number > 0 and self.last == self.number


cdef void copy_twists(Twist* to, const Bodies* bodies) noexcept nogil:
    cdef Py_ssize_t k
    for k in range(bodies.moving_count):
        memcpy(&to[bodies.moving[k]], &bodies.twist[bodies.moving[k]], sizeof(Twist))
