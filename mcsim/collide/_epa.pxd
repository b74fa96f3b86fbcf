"""Penetration of two convex cores that overlap: the expanding polytope algorithm (van den Bergen 2001).

Grows a polytope inside K = B - A by support points along its face nearest to the origin. Every face normal n met on the
way gives an upper bound h_K(n) of the depth, the nearest face a lower one; they close on the least translation that
parts A and B. Face distances are signed, so the start polytope need not hold the origin. K has volume, since at least
one of the two cores has.
"""

from libc.math cimport sqrt, INFINITY
from libc.stdint cimport int32_t
from mcsim.core._types cimport Vec3
from mcsim.core._math cimport vec3, add, sub, neg, scale, dot, cross, perpendicular, normalized
from mcsim.collide._shape_table cimport support
from mcsim.collide._solid cimport Solid
from mcsim.collide._gjk cimport nearest_on_triangle

cdef extern from *:
    """
    /* Parts of the size to which the depth is found: where the normal is made exact afterwards, and else. */
    #define MC_ROUGH 1e-4
    #define MC_FINE 1e-10
    /* The cosine of the angle within which there is one normal of least depth. */
    #define MC_COS_BESIDE 0.98
    """
    const double ROUGH "MC_ROUGH"
    const double FINE "MC_FINE"
    const double COS_BESIDE "MC_COS_BESIDE"

cdef enum:
    EPA_POINTS = 160             # of the polytope, at most
    EPA_FACES = 2 * EPA_POINTS    # a triangulated sphere of n points has 2 n - 4 faces
    EPA_EDGES = EPA_FACES        # of the hole that a new point tears, at most: no more than faces

ctypedef struct EpaFace:
    Vec3 normal              # outward, unit
    double distance          # of its plane from the origin
    int32_t p
    int32_t q
    int32_t r

ctypedef struct Polytope:
    int point_count
    int face_count
    Vec3 w[EPA_POINTS]              # points of K
    Vec3 a[EPA_POINTS]              # their points on A, from A's position
    EpaFace faces[EPA_FACES]


cdef inline void epa_support(const Solid* a, const Solid* b, Vec3 offset, Vec3 d, Polytope* x) noexcept nogil:
    """Put the point of K farthest along d behind the last point, without counting it."""
    x.a[x.point_count] = support(a, neg(d))
    x.w[x.point_count] = sub(add(offset, support(b, d)), x.a[x.point_count])


cdef inline void epa_face(Polytope* x, int p, int q, int r) noexcept nogil:
    """Append the face p q r, counter-clockwise seen from outside."""
    cdef EpaFace* face = &x.faces[x.face_count]
    cdef Vec3 n = cross(sub(x.w[q], x.w[p]), sub(x.w[r], x.w[p]))
    cdef double length = sqrt(dot(n, n))
    face.p = p
    face.q = q
    face.r = r
    face.distance = INFINITY                     # a sliver without a normal is never the nearest
    face.normal = vec3(0.0, 0.0, 0.0)
    if length > 0.0:
        face.normal = scale(1.0 / length, n)
        face.distance = dot(face.normal, x.w[p])
    x.face_count += 1


cdef inline void epa_farther(const Solid* a, const Solid* b, Vec3 offset, Vec3 d, Polytope* x) noexcept nogil:
    """Append the point of K that lies farthest from the last ones along d or -d."""
    cdef double reference = dot(d, x.w[0])
    cdef double reached
    cdef Vec3 w, pa
    epa_support(a, b, offset, d, x)
    w = x.w[x.point_count]
    pa = x.a[x.point_count]
    reached = dot(d, w) - reference
    epa_support(a, b, offset, neg(d), x)
    if reached >= reference - dot(d, x.w[x.point_count]):
        x.w[x.point_count] = w
        x.a[x.point_count] = pa
    x.point_count += 1


cdef inline void epa_start(const Solid* a, const Solid* b, Vec3 offset, Vec3 guess, Polytope* x) noexcept nogil:
    """A tetrahedron in K: a support point along the guess, then the farthest from the point, line and plane so far."""
    cdef Vec3 d, e
    x.point_count = 0
    x.face_count = 0
    epa_support(a, b, offset, guess, x)
    x.point_count = 1
    epa_farther(a, b, offset, perpendicular(guess), x)
    d = normalized(sub(x.w[1], x.w[0]))
    e = cross(d, guess)                          # the guess is not along d, which leans to its perpendicular
    if dot(e, e) < 1e-4:
        e = perpendicular(d)
    epa_farther(a, b, offset, normalized(e), x)
    d = normalized(cross(sub(x.w[1], x.w[0]), sub(x.w[2], x.w[0])))
    if dot(d, d) == 0.0:
        d = guess
    epa_farther(a, b, offset, d, x)
    if dot(cross(sub(x.w[1], x.w[0]), sub(x.w[2], x.w[0])), sub(x.w[3], x.w[0])) > 0.0:
        epa_face(x, 0, 2, 1)
        epa_face(x, 0, 1, 3)
        epa_face(x, 1, 2, 3)
        epa_face(x, 2, 0, 3)
    else:
        epa_face(x, 0, 1, 2)
        epa_face(x, 0, 3, 1)
        epa_face(x, 1, 3, 2)
        epa_face(x, 2, 3, 0)


cdef inline int epa_expand(Polytope* x, double tolerance) noexcept nogil:
    """Join the point behind the last one to the polytope: cut the faces that see it, close the hole. -> 0 if it cannot.
    """
    cdef int32_t edge_from[EPA_EDGES]
    cdef int32_t edge_to[EPA_EDGES]
    cdef int32_t corner[4]
    cdef int edges = 0
    cdef int face = 0
    cdef int i, k, found
    cdef Vec3 w = x.w[x.point_count]
    while face < x.face_count:
        if x.faces[face].distance < INFINITY and dot(x.faces[face].normal, w) - x.faces[face].distance <= tolerance:
            face += 1
            continue
        corner[0] = x.faces[face].p
        corner[1] = x.faces[face].q
        corner[2] = x.faces[face].r
        corner[3] = corner[0]
        for k in range(3):                       # an edge between two cut faces goes, the others are the rim
            found = -1
            for i in range(edges):
                if edge_from[i] == corner[k + 1] and edge_to[i] == corner[k]:
                    found = i
                    break
            if found >= 0:
                edges -= 1
                edge_from[found] = edge_from[edges]
                edge_to[found] = edge_to[edges]
            elif edges < EPA_EDGES:
                edge_from[edges] = corner[k]
                edge_to[edges] = corner[k + 1]
                edges += 1
            else:
                return 0
        x.face_count -= 1
        x.faces[face] = x.faces[x.face_count]
    if edges < 3 or x.face_count + edges > EPA_FACES:
        return 0
    for i in range(edges):
        epa_face(x, edge_from[i], edge_to[i], x.point_count)
    x.point_count += 1
    return 1


cdef inline Vec3 epa_witness(const Polytope* x, Vec3 n, double distance) noexcept nogil:
    """A's point with the weights of the foot, the point of K nearest to the origin, in the face that holds it.

    n: outward from K. Many faces can be equally near (in one plane, or around an axis), so all that look along n are
    asked which is closest to the foot.
    """
    cdef Vec3 foot = scale(distance, n)
    cdef double weight[3]
    cdef double d2
    cdef double best = INFINITY
    cdef const EpaFace* face
    cdef Vec3 near
    cdef Vec3 on_a = x.a[0]
    cdef int i
    for i in range(x.face_count):
        face = &x.faces[i]
        if face.distance == INFINITY or dot(face.normal, n) < 0.9:
            continue
        near = nearest_on_triangle(sub(x.w[face.p], foot), sub(x.w[face.q], foot), sub(x.w[face.r], foot), weight)
        d2 = dot(near, near)
        if d2 < best:
            best = d2
            on_a = add(add(scale(weight[0], x.a[face.p]), scale(weight[1], x.a[face.q])), scale(weight[2], x.a[face.r]))
    return on_a


cdef inline double epa_search(Polytope* x, const Solid* a, const Solid* b, Vec3 offset, double size, double tolerance,
                              const Vec3* known, double depth, Vec3* normal) noexcept nogil:
    """Grow the polytope until the least depth is known to `tolerance`, a part of size. -> the depth, with its normal from a
    to b. known: a normal of that `depth`, beside which none is looked for; it ends as soon as another one is better. Or
    NULL: all are."""
    cdef double best = depth
    cdef double h, least
    cdef int i, nearest
    cdef Vec3 n
    while x.point_count < EPA_POINTS:
        nearest = 0
        least = INFINITY
        for i in range(x.face_count):
            if x.faces[i].distance < least and (known == NULL or -dot(x.faces[i].normal, known[0]) < COS_BESIDE):
                least = x.faces[i].distance
                nearest = i
        if least >= best - tolerance * size or least == INFINITY:
            break
        n = x.faces[nearest].normal
        epa_support(a, b, offset, n, x)
        h = dot(n, x.w[x.point_count])
        if h < best:
            best = h
            normal[0] = neg(n)
        if h - least <= tolerance * size or not epa_expand(x, 1e-13 * size):
            break
        if known != NULL and best < depth:
            break
    return best
