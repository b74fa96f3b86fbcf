"""Restitution as a sequence of impacts, at the start of a substep."""

from mcsim.core._types cimport Twist
from mcsim.state._layout cimport Row

# Let every manifold bounce that closes faster than `threshold` [m/s] and touches within `h` [s]. Changes the twists and
# adds the impacts' impulses to impact_impulse (count,) [N s, N m s]; the rows' own impulses (the warm start) stay as
# they are. Answers how many manifolds were struck, counting repeats; 0 where no row has a restitution.
cdef int resolve_impacts(const Row* rows, Py_ssize_t count, Twist* twist, double threshold, double h, double first,
                         double* impact_impulse) noexcept nogil
