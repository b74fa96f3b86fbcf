"""Contacts that bear as if they were rigid: what bears a body alone is not pressed in by what goes over it.

A spring of compliance c (core/_softness.pxd) under an impulse lambda is pressed in by lambda c / bias_rate. Where a load
lies beside a body's middle its sides are pressed in by unequal ways: it leans, and what rolls on it goes downhill. Springs
yield for two reasons. Sweeps hardly touch the slow sways of what is high, and of a body that lies on several others only
springs decide how these share it. Neither holds of a body that lies on one other alone and is no high stack's foot. So of
the contact that bears it alone c becomes, the bias rate being what it was,

    c max(1 - (5 / 2n)^2, 1 / FIRMEST),        n = u / (h (|n . a_a| + |n . a_b|))

with u the load as the change of velocity that it gives the two in a substep (Manifold.load), the normal in |n . a|, and
a_a, a_b the accelerations by outer forces: of equal bodies in a column the n-th contact from above has n. The smallest
eigenvalue of J M^-1 J' of such a column is about a = 1.5 / n^4, and a sway without compliance dies out where
a N^2 > 2 n_b beta (Routh's criterion, with the letters of docs/theory/stabilization.md), so where n < 4.3 at the beta of
what rests and 3.2 at that of what does not. Of what is slender a is less, (2 b^2 / h^2) / n^4 or so: feet whose points are
all but alike (_faces.pxi) yield as they did.
"""

from libc.math cimport fabs
from libc.stdint cimport int8_t, int32_t
from mcsim.core._math cimport dot
from mcsim.core._types cimport Vec3
from mcsim.state._bodies cimport Bodies
from mcsim.state._manifold cimport Manifold
from mcsim.state._pull cimport acceleration_awake
from mcsim.wide._blocks cimport OUTWEIGHED, Effort
from mcsim.wide._efforts cimport has_joints

cdef enum:
    TWICE_FEW = 5                # twice the n up to which nothing yields
    FIRMEST = 1048576            # times as firm as it is, at most: 2^20
    NONE = -1                    # of bearers
    SEVERAL = -2
    LEANS = 100                  # what pushes a body along a part of 1 / LEANS of its outer acceleration lies on it


cdef inline double along(const Bodies* bodies, int i, Vec3 n, Vec3 gravity, bint* borne) noexcept nogil:
    """|n . a| [m/s2]. borne: whether what pushes the body along n bears it, rather than lies on it."""
    cdef Vec3 a
    cdef double part
    borne[0] = bodies.awake_inv_mass[i] > 0.0
    if not borne[0]:
        return 0.0
    a = acceleration_awake(bodies, i, gravity)
    part = dot(n, a)
    borne[0] = not (part > 0.0 and LEANS * LEANS * part * part > dot(a, a))
    return fabs(part)


cdef inline double firmness_of(double load, double own) noexcept nogil:
    """load: u; own: what it is n times of; both [m/s]"""
    cdef double part = 0.5 * TWICE_FEW * own
    if own == 0.0:
        return 1.0
    if load <= part:
        return FIRMEST
    part = part / load
    return min(1.0 / (1.0 - part * part), FIRMEST)


cdef inline void take_as_bearer(int32_t* bearers, int body, int32_t i) noexcept nogil:
    bearers[body] = i if bearers[body] == NONE else SEVERAL


cdef inline bint find_firmness(Effort* efforts, int32_t* bearers, const Manifold* manifolds, Py_ssize_t count,
                               const Bodies* bodies, const double* neighbours, const int8_t* joined, Vec3 gravity,
                               double h) noexcept nogil:
    """efforts: of each manifold, after follow_pulls; bearers: of bodies, is overwritten: the manifold that bears each;
    neighbours: of FurtherSweeps; joined: as of has_joints. It is for contacts that bear one of the two alone and no
    more than ten times outweighed, while no other lies on several. A patch's parts keep their springs, which alone decide
    what each of them bears. -> whether the springs of some are not the usual ones"""
    cdef const Manifold* m
    cdef Vec3 back
    cdef int32_t i
    cdef bint a, b
    cdef bint some = False
    cdef double own
    for i in range(<int32_t>count):
        bearers[manifolds[i].body_a] = bearers[manifolds[i].body_b] = NONE
    for i in range(<int32_t>count):
        m = &manifolds[i]
        if m.point_count == 0:
            continue
        back.x, back.y, back.z = -m.normal.x, -m.normal.y, -m.normal.z
        efforts[i].firmness = along(bodies, m.body_a, back, gravity, &a)       # what it is found by, until the next loop
        efforts[i].firmness += along(bodies, m.body_b, m.normal, gravity, &b)
        if a:
            take_as_bearer(bearers, m.body_a, i)
        if b:
            take_as_bearer(bearers, m.body_b, i)
    for i in range(<int32_t>count):
        m = &manifolds[i]
        own = efforts[i].firmness
        efforts[i].firmness = 1.0
        some = some or efforts[i].stiffness > 1.0
        a, b = bearers[m.body_a] == i, bearers[m.body_b] == i
        if m.point_count == 0 or not (a or b) or m.thinning < 1.0:
            continue
        if bearers[m.body_a] == SEVERAL or bearers[m.body_b] == SEVERAL:
            continue
        if a and neighbours[m.body_b] > OUTWEIGHED or b and neighbours[m.body_a] > OUTWEIGHED:
            continue
        if not has_joints(joined, m):
            efforts[i].firmness = firmness_of(m.load, own * h)
            some = some or efforts[i].firmness > 1.0
    return some
