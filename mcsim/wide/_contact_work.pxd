"""What contacts give bodies when they push them out of each other, and how much of that may stay: no work in sum."""

from libc.stdint cimport int32_t
from libc.math cimport sqrt
from mcsim.core._types cimport Twist
from mcsim.state._bodies cimport Bodies
from mcsim.state._manifold cimport Manifold

# Sums over a group's points, of normal impulses; d: what the biased pass has changed one by, u: J v, where `k` is before
# the warm start, `w` after it and `b` after the biased pass.
ctypedef struct WorkSums:
    double along                 # d u_w
    double bend                  # d (u_b - u_w)
    double given                 # lambda_w (u_k + u_w), twice what the warm start has given [J]


cdef inline double part_without_work(const WorkSums* s) noexcept nogil:
    """The largest s in [0, 1] for which the work lambda_w (u_k + u_w) / 2 + s d (2 u_w + s (u_b - u_w)) / 2 is not above 0,
    or else the s for which it is least."""
    cdef double root, part
    if not s.bend > 0.0:
        return 1.0
    root = s.along * s.along - s.bend * s.given
    root = sqrt(root) if root > 0.0 else 0.0
    part = -s.given / (s.along + root) if s.along > 0.0 else (root - s.along) / s.bend
    return min(max(part, 0.0), 1.0)


cdef class ContactWork:
    cdef object kept             # the arrays behind the pointers
    cdef Twist* kicked           # of bodies (-1: the world), before the warm start
    cdef Twist* started          # and after it
    cdef WorkSums* sums          # of groups, by their first bodies
    cdef int32_t* pushing        # likewise: the last substep in which something is pushed apart
    cdef int32_t number          # of the substep, from 1 on
    cdef int32_t last            # the last one in which anything is

    cdef void begin_step(self, const Manifold* manifolds, Py_ssize_t count, const Bodies* bodies) noexcept nogil
    cdef void begin(self, const Bodies* bodies) noexcept nogil
    cdef void start(self, const Bodies* bodies) noexcept nogil
    cdef bint pushes(self) noexcept nogil
