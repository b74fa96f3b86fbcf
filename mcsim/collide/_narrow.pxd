"""Which routine serves which pair of shapes."""

from mcsim.core._math cimport neg
from mcsim.state._manifold cimport Manifold
from mcsim.state._shape_types cimport SPHERE, BOX, CAPSULE, PLANE
from mcsim.collide._solid cimport Solid
from mcsim.collide._patch cimport Patch
from mcsim.collide._convex cimport convex_convex
from mcsim.collide._round cimport sphere_solid, capsule_capsule
from mcsim.collide._plane cimport plane_solid
from mcsim.collide._box_box cimport box_box
from mcsim.collide._box_capsule cimport box_capsule


cdef inline bint both_sharp_boxes(const Solid* a, const Solid* b) noexcept nogil:
    return a.type == BOX and b.type == BOX and a.rounding + b.rounding == 0.0


cdef inline int narrow(const Solid* a, const Solid* b, double limit, Manifold* m, Patch* patch) noexcept nogil:
    """Fill in normal and points of the pair, no farther apart than `limit`. -> point count. patch: its points where four do
    not span the contact, or NULL: four do."""
    cdef int count
    if patch != NULL:
        patch.count = 0
    if both_sharp_boxes(a, b):
        return box_box(a, b, limit, m, patch)
    if a.type == PLANE:
        return plane_solid(a, b, limit, m, patch)
    if a.type == SPHERE:
        if b.type != PLANE:
            return sphere_solid(a, b, limit, m)
    elif b.type != SPHERE and b.type != PLANE:
        if a.type == CAPSULE and b.type == CAPSULE:
            return capsule_capsule(a, b, limit, m)
        if (a.type == BOX and b.type == CAPSULE or a.type == CAPSULE and b.type == BOX) and a.rounding + b.rounding == 0.0:
            return box_capsule(a, b, limit, m)
        return convex_convex(a, b, limit, m, patch)
    # The routine wants the pair the other way round.
    if b.type == PLANE:
        count = plane_solid(b, a, limit, m, patch)
    else:
        count = sphere_solid(b, a, limit, m)
    m.normal = neg(m.normal)
    return count
