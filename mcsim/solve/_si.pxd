"""Sequential impulses, matrix-free, and what every solver needs beside its sweep.

Body -1 is the world: twist[-1] must be a row of zeros, and the rows' inverse-mass Jacobian is 0 there.
"""

from libc.stdint cimport int32_t
from mcsim.core._types cimport Twist
from mcsim.state._row cimport Row

# v += M^-1 J' impulse for all rows.
cdef void warm_start(const Row* rows, Py_ssize_t count, Twist* twist) noexcept nogil

# One Gauss-Seidel sweep over all blocks in their order, contacts' friction only if `rub`; changes impulses and
# twists. Answers the largest residual that a row's impulse took out, |delta| (diagonal + compliance) [m/s or rad/s]:
# 0 at the solution.
cdef double sweep_si(Row* rows, Py_ssize_t count, const double* factors, Twist* twist, int relaxed,
                     bint rub) noexcept nogil

# A further sweep of the relax pass over rows of bodies whose velocities the one before has changed, or by now this
# one, by more than speed + rate times the size of the smaller one of a row's two: changed[body] is the last that did.
# Of contacts those that is_outweighed() names. Answers whether there were any.
cdef bint sweep_changed(Row* rows, Py_ssize_t count, const double* factors, Twist* twist, int sweep, int32_t* changed,
                        const double* neighbours, const double* sizes, double speed, double rate) noexcept nogil

# The natural map max |impulse - P(impulse - mass w)| over the rows [N s or N m s]: 0 at the solution, changes nothing.
cdef double residual(const Row* rows, Py_ssize_t count, const Twist* twist, int relaxed) noexcept nogil
