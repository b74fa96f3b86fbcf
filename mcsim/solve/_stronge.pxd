"""Stronge's law of impact for one contact: see `_laws.pyx`."""

from mcsim.solve._cone_point cimport Point

# The impulses p [n, t, t] of the contact, whose rates are u before and whose restitution is e.
cdef void stronge_point(const Point* c, const double* u, double e, double* p) noexcept nogil
