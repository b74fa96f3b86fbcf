"""Distance of two convex cores that are apart: Gilbert, Johnson and Keerthi (1988), with closest points.

The algorithm walks in K = B - A, whose point v nearest to the origin gives distance |v| and normal v / |v|. The nearest
point of a simplex is found by signed areas (compare Montanari, Petrinic, Barbieri, "Improving the GJK algorithm" 2017);
where those are not safe all edges or faces are compared, so that flat simplices do no harm.
"""

from libc.math cimport sqrt, fabs, INFINITY
from mcsim.core._types cimport Vec3
from mcsim.core._math cimport vec3, add, sub, neg, scale, add_scaled, dot, cross
from mcsim.collide._shape_table cimport support
from mcsim.collide._solid cimport Solid

cdef enum GjkResult:
    GJK_APART = 0            # the axis and the closest points are found
    GJK_FAR = 1              # farther apart than asked
    GJK_OVERLAP = 2          # the cores touch or overlap

cdef enum:
    GJK_STEPS = 96               # iterations, at most

ctypedef struct Simplex:
    int count
    Vec3 w[4]                # points of K
    Vec3 a[4]                # their points on A, from A's position
    double weight[4]         # of the nearest point; they sum to 1


cdef inline Vec3 nearest_on_segment(Vec3 p, Vec3 q, double* weight) noexcept nogil:
    """Point of pq nearest to the origin; weights of p and q."""
    cdef Vec3 d = sub(q, p)
    cdef double length2 = dot(d, d)
    cdef double t = -dot(p, d)
    if t <= 0.0 or length2 == 0.0:
        weight[0] = 1.0
        weight[1] = 0.0
        return p
    if t >= length2:
        weight[0] = 0.0
        weight[1] = 1.0
        return q
    t /= length2
    weight[0] = 1.0 - t
    weight[1] = t
    return add_scaled(p, t, d)


cdef inline Vec3 nearest_on_triangle(Vec3 p, Vec3 q, Vec3 r, double* weight) noexcept nogil:
    """Point of the triangle nearest to the origin; weights of p, q and r."""
    cdef Vec3 e = sub(q, p)
    cdef Vec3 f = sub(r, p)
    cdef Vec3 n = cross(e, f)
    cdef double area2 = dot(n, n)
    cdef double u, v, w, d2, best
    cdef double pair[2]
    cdef Vec3 near, point
    if area2 > 1e-26 * dot(e, e) * dot(f, f):
        u = dot(n, cross(q, r))
        v = dot(n, cross(r, p))
        w = dot(n, cross(p, q))
        if u > 0.0 and v > 0.0 and w > 0.0:
            best = 1.0 / (u + v + w)
            weight[0] = best * u
            weight[1] = best * v
            weight[2] = best * w
            return scale(dot(n, p) / area2, n)
    near = nearest_on_segment(p, q, pair)
    best = dot(near, near)
    weight[0] = pair[0]
    weight[1] = pair[1]
    weight[2] = 0.0
    point = nearest_on_segment(q, r, pair)
    d2 = dot(point, point)
    if d2 < best:
        best = d2
        near = point
        weight[0] = 0.0
        weight[1] = pair[0]
        weight[2] = pair[1]
    point = nearest_on_segment(r, p, pair)
    d2 = dot(point, point)
    if d2 < best:
        near = point
        weight[2] = pair[0]
        weight[0] = pair[1]
        weight[1] = 0.0
    return near


cdef inline int nearest_on_tetrahedron(Simplex* x, double size, Vec3* near) noexcept nogil:
    """-> 1 if the origin is inside; else 0, with the nearest point in `near` and its weights."""
    cdef double weight[3]
    cdef double best = INFINITY
    cdef double origin_side, opposite_side, d2
    cdef int face, i, j, k
    cdef int outside = 0
    cdef Vec3 n, point
    for face in range(4):
        i = (face + 1) & 3
        j = (face + 2) & 3
        k = (face + 3) & 3
        n = cross(sub(x.w[j], x.w[i]), sub(x.w[k], x.w[i]))
        origin_side = -dot(n, x.w[i])
        opposite_side = dot(n, sub(x.w[face], x.w[i]))
        if origin_side * opposite_side > 0.0 and fabs(opposite_side) > 1e-13 * size * sqrt(dot(n, n)):
            continue
        outside = 1
        point = nearest_on_triangle(x.w[i], x.w[j], x.w[k], weight)
        d2 = dot(point, point)
        if d2 < best:
            best = d2
            near[0] = point
            x.weight[face] = 0.0
            x.weight[i] = weight[0]
            x.weight[j] = weight[1]
            x.weight[k] = weight[2]
    return 0 if outside else 1


cdef inline int nearest_on_simplex(Simplex* x, double size, Vec3* near) noexcept nogil:
    """Nearest point to the origin; drops the points that do not carry it. -> 1 if the origin is inside."""
    cdef int i, kept
    if x.count == 1:
        x.weight[0] = 1.0
        near[0] = x.w[0]
    elif x.count == 2:
        near[0] = nearest_on_segment(x.w[0], x.w[1], x.weight)
    elif x.count == 3:
        near[0] = nearest_on_triangle(x.w[0], x.w[1], x.w[2], x.weight)
    elif nearest_on_tetrahedron(x, size, near):
        return 1
    kept = 0
    for i in range(x.count):
        if x.weight[i] > 0.0:
            x.w[kept] = x.w[i]
            x.a[kept] = x.a[i]
            x.weight[kept] = x.weight[i]
            kept += 1
    x.count = kept
    return 0


cdef inline int gjk(const Solid* a, const Solid* b, Vec3 offset, double size, double limit, Vec3* v,
                    Vec3* on_a) noexcept nogil:
    """-> GjkResult. offset = position of b - position of a, size = a length of the pair [m].

    Apart: v is the vector from A's nearest point to B's, on_a A's nearest point, from A's position.
    """
    cdef Simplex x, last
    cdef Vec3 near, pa, w
    cdef Vec3 direction = offset
    cdef double vv, vw, length
    cdef double before = INFINITY
    cdef int i, step
    cdef int repeated
    if dot(direction, direction) == 0.0:
        direction = vec3(1.0, 0.0, 0.0)
    x.count = 0
    for step in range(GJK_STEPS):
        pa = support(a, direction)
        w = sub(add(offset, support(b, neg(direction))), pa)
        vv = dot(direction, direction)
        vw = dot(direction, w)
        length = sqrt(vv)
        if vw > limit * length:
            return GJK_FAR
        if step > 0:
            if vv - vw <= 1e-14 * vv + 1e-15 * size * length:
                break
            repeated = 0
            for i in range(x.count):
                if x.w[i].x == w.x and x.w[i].y == w.y and x.w[i].z == w.z:
                    repeated = 1
            if repeated:
                break
        last = x
        x.w[x.count] = w
        x.a[x.count] = pa
        x.count += 1
        if nearest_on_simplex(&x, size, &near):
            return GJK_OVERLAP
        vv = dot(near, near)
        if vv <= 1e-16 * size * size:            # closer than that a direction from v would be rounding noise
            return GJK_OVERLAP
        if vv >= before:                         # no progress: rounding; the last simplex was the best
            x = last
            break
        before = vv
        direction = near
    v[0] = direction
    on_a[0] = vec3(0.0, 0.0, 0.0)
    for i in range(x.count):
        on_a[0] = add_scaled(on_a[0], x.weight[i], x.a[i])
    return GJK_APART
