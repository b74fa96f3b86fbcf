"""What an impact does to the contacts that close at once: the laws of Newton, Poisson and Stronge. See `_laws.pyx`."""

cdef enum Law:
    LAW_NEWTON = 0
    LAW_POISSON = 1
    LAW_STRONGE = 2

# Impulses p (3 count,), in threes [n, t, t], of contacts that are struck together: rates after are u + A p. a:
# (3 count, 3 count) J H^-1 J', joints held; u (3 count,) before; restitution, friction (count,); work: (12 count,) scratch.
cdef void strike_together(int law, int count, const double* a, const double* u, const double* restitution,
                          const double* friction, double* p, double* work) noexcept nogil
