"""Which body carries the points of a contact: where the one point is at which both impulses of a row act; and how fast a
point opens.

Between two moving bodies it is the middle of where each has it, otherwise where the moving one has it. Two that meet only
later in the step are different: each slides along under the other meanwhile, and the middle lies beside both. There the
lighter one carries it, and the arms end at each one's own surface, not half-way across the gap.
"""

from mcsim.core._math cimport add, cross, dot, sub
from mcsim.core._types cimport Twist, Vec3
from mcsim.state._layout cimport Bodies, Manifold


cdef inline bint lighter(const Bodies* bodies, int a, int b) noexcept nogil:
    """Whether a is lighter than b; bodies that never move are the heaviest."""
    return bodies.inv_mass[a] > bodies.inv_mass[b]


cdef inline bint meets_later(const Manifold* m, double reach) noexcept nogil:
    """Whether all points are farther apart than `reach`, the speculative distance [m]."""
    cdef int i
    for i in range(m.point_count):
        if m.points[i].separation <= reach:
            return False
    return True


cdef inline double share_of_a(const Manifold* m, const Bodies* bodies, double reach) noexcept nogil:
    """Of where a has the point in where it is: 1, 1/2 or 0."""
    if bodies.inv_mass[m.body_b] == 0.0:
        return 1.0
    if bodies.inv_mass[m.body_a] == 0.0:
        return 0.0
    if meets_later(m, reach):
        return 1.0 if lighter(bodies, m.body_a, m.body_b) else 0.0
    return 0.5


cdef inline double opening_speed(const Manifold* m, int i, const Bodies* bodies) noexcept nogil:
    """n . (v_b - v_a) at point i [m/s]: below 0 it closes."""
    cdef const Twist* a = &bodies.twist[m.body_a]
    cdef const Twist* b = &bodies.twist[m.body_b]
    cdef Vec3 p = m.points[i].position
    return dot(m.normal, sub(add(b.v, cross(b.w, sub(p, bodies.position[m.body_b]))),
                             add(a.v, cross(a.w, sub(p, bodies.position[m.body_a])))))
