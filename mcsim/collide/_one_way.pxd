"""Surfaces that bear from one side alone, as a ledge that one jumps up through.

A shape whose material has a side u holds what stands on that side: a contact of the normal n, outward from the shape,
bears if

    n . u >= 1/2,  and  separation >= -size / 4  or it bore in the last step

size: of the thinner of the two. What comes from below or from the side has other normals; what is on its way through is
deep inside; and what has landed stays, however hard it is pressed.
"""

from mcsim.core._math cimport dot, is_zero, mat_vec
from mcsim.core._types cimport Vec3
from mcsim.state._manifold cimport Manifold
from mcsim.state._shape cimport Shape
from mcsim.collide._solid cimport Solid
from mcsim.collide._sweep cimport least_separation

cdef extern from *:
    """
    /* Cosine of the angle from the side that bears up to which a normal counts as its. */
    #define MC_FACING 0.5
    /* Part of the thinner shape's size: what is deeper inside, and did not touch in the last step, comes through. */
    #define MC_COMES_THROUGH 0.25
    """
    const double FACING "MC_FACING"
    const double COMES_THROUGH "MC_COMES_THROUGH"


cdef inline bint faces_side(const Shape* shape, const Solid* solid, Vec3 outward) noexcept nogil:
    """Whether the shape bears where its outward normal, in the world, is this."""
    return is_zero(shape.one_way) or dot(mat_vec(solid.axes, shape.one_way), outward) >= FACING


cdef inline bint bears_here(const Shape* shapes, const Solid* solids, const Manifold* m, bint bore) noexcept nogil:
    cdef const Shape* a = &shapes[m.shape_a]
    cdef const Shape* b = &shapes[m.shape_b]
    cdef Vec3 back
    if is_zero(a.one_way) and is_zero(b.one_way):
        return True
    if not bore and least_separation(m) < -COMES_THROUGH * m.size:
        return False
    back.x, back.y, back.z = -m.normal.x, -m.normal.y, -m.normal.z
    return faces_side(a, &solids[m.shape_a], m.normal) and faces_side(b, &solids[m.shape_b], back)


cdef inline int keep_bearing(const Shape* shapes, const Solid* solids, Manifold* m, int count, bint bore) noexcept nogil:
    """Of a pair's manifolds, those that bear. bore: whether the pair had any in the last step. -> how many"""
    cdef int i
    cdef int kept = 0
    for i in range(count):
        if bears_here(shapes, solids, &m[i], bore):
            if kept < i:
                m[kept] = m[i]
            m[kept].part = kept
            kept += 1
    return kept
