"""The overlap of two supporting features (faces, discs, rulings), seen along the contact normal.

Both features are projected along the normal n and intersected in that plane. A corner (x, y) of the overlap has heights
z_a, z_b on the two surfaces and so separation z_b - z_a. Neither shape is the reference one, so a point's feature does
not change when the best axis changes from a's face to b's. Sutherland and Hodgman, "Reentrant Polygon Clipping" (1974).
"""

from libc.math cimport sqrt, fabs
from mcsim.core._types cimport Vec3
from mcsim.core._math cimport add, sub, scale, add_scaled, dot, cross, perpendicular, mat_t_vec, mat_column
from mcsim.collide._solid cimport Solid
from mcsim.collide.shapes._parts cimport HALF_STEP_COS, HALF_STEP_SIN, MAX_CORNERS, Polygon, disc_polygon
from mcsim.collide._contact cimport MAX_CONTACTS, Contact, vertex_feature, edge_feature

cdef inline void stagger_discs(const Solid* a, const Solid* b, Vec3 origin, Polygon* face_b) noexcept nogil:
    """Of two discs that face each other b's polygon has its corners half-way between those of a's. So their edges cross at
    angles that the least motion does not change, also where one disc lies on one of the same radius; and as the two
    turn against each other about their axis the corners stay where they are on a."""
    cdef Vec3 x = mat_t_vec(b.axes, mat_column(a.axes, 0))
    cdef double side = 1.0 if dot(face_b.normal, mat_column(b.axes, 2)) > 0.0 else -1.0
    cdef double length = sqrt(x.x * x.x + x.y * x.y)
    cdef double c, q
    if length > 0.0:
        c = x.x / length
        q = x.y / length
        disc_polygon(b, face_b.disc, face_b.height, side, c * HALF_STEP_COS - q * HALF_STEP_SIN,
                     q * HALF_STEP_COS + c * HALF_STEP_SIN, origin, face_b)

# ---- overlap along the normal ----------------------------------------------------------------------------------------

# The plane of a face as a height over the projection plane: z = constant - x slope_x - y slope_y.
ctypedef struct Height:
    double constant
    double slope_x
    double slope_y


cdef inline Height face_height(const Polygon* p, Vec3 n, Vec3 e1, Vec3 e2) noexcept nogil:
    cdef Height h
    cdef double inverse = 1.0 / dot(p.normal, n)
    h.constant = inverse * dot(p.normal, p.points[0])
    h.slope_x = inverse * dot(p.normal, e1)
    h.slope_y = inverse * dot(p.normal, e2)
    return h


cdef inline double height_at(Height h, double x, double y) noexcept nogil:
    return h.constant - x * h.slope_x - y * h.slope_y


cdef inline int faces_overlap(const Polygon* a, const Polygon* b, Vec3 n, double limit, Contact* out) noexcept nogil:
    """Corners of the overlap of two faces, seen along n (a to b), no farther apart than `limit`. -> count.

    Every edge of the clipped polygon carries a label, i for a's edge i and MAX_CORNERS + j for b's edge j; the labels
    of the edges before and after a corner say what made it.
    """
    cdef Vec3 e1 = perpendicular(n)
    cdef Vec3 e2 = cross(n, e1)
    cdef double x[2][MAX_CONTACTS]
    cdef double y[2][MAX_CONTACTS]
    cdef int label[2][MAX_CONTACTS]
    cdef double bx[MAX_CORNERS]
    cdef double by[MAX_CORNERS]
    cdef Height height_a, height_b
    cdef int i, j, k, source, target, count, total, before, after
    cdef double ex, ey, d0, d1, first, t, z_a, z_b, tolerance
    if fabs(dot(a.normal, n)) < 1e-3 or fabs(dot(b.normal, n)) < 1e-3:
        return 0
    height_a = face_height(a, n, e1, e2)
    height_b = face_height(b, n, e1, e2)
    for i in range(a.count):
        x[0][i] = dot(a.points[i], e1)
        y[0][i] = dot(a.points[i], e2)
        label[0][i] = i
    for j in range(b.count):                     # b faces against n: its order is reversed to be counter-clockwise too
        k = b.count - 1 - j
        bx[j] = dot(b.points[k], e1)
        by[j] = dot(b.points[k], e2)
    count = a.count
    source = 0
    for j in range(b.count):
        k = j + 1 if j + 1 < b.count else 0
        ex = bx[k] - bx[j]
        ey = by[k] - by[j]
        tolerance = -1e-9 * (ex * ex + ey * ey)
        target = 1 - source
        total = 0
        first = ex * (y[source][0] - by[j]) - ey * (x[source][0] - bx[j])
        d0 = first
        for i in range(count):
            if total > MAX_CONTACTS - 2:         # only where rounding bends a sliver of a polygon
                break
            k = i + 1 if i + 1 < count else 0
            d1 = ex * (y[source][k] - by[j]) - ey * (x[source][k] - bx[j]) if k > 0 else first
            if d0 >= tolerance:
                x[target][total] = x[source][i]
                y[target][total] = y[source][i]
                label[target][total] = label[source][i]
                total += 1
            if (d0 >= tolerance) != (d1 >= tolerance):
                t = d0 / (d0 - d1)
                t = 0.0 if t < 0.0 else (1.0 if t > 1.0 else t)
                x[target][total] = x[source][i] + t * (x[source][k] - x[source][i])
                y[target][total] = y[source][i] + t * (y[source][k] - y[source][i])
                label[target][total] = MAX_CORNERS + j if d0 >= tolerance else label[source][i]
                total += 1
            d0 = d1
        source = target
        count = total
        if count == 0:
            return 0
    total = 0
    for i in range(count):
        z_a = height_at(height_a, x[source][i], y[source][i])
        z_b = height_at(height_b, x[source][i], y[source][i])
        if z_b - z_a > limit:
            continue
        before = label[source][i - 1 if i > 0 else count - 1]
        after = label[source][i]
        out[total].separation = z_b - z_a
        out[total].position = add(add_scaled(scale(x[source][i], e1), y[source][i], e2), scale(0.5 * (z_a + z_b), n))
        if before < MAX_CORNERS and after < MAX_CORNERS:
            out[total].feature = vertex_feature(0, a.id[after])
        elif before >= MAX_CORNERS and after >= MAX_CORNERS:
            out[total].feature = vertex_feature(1, b.id[b.count - 1 - (after - MAX_CORNERS)])
        else:
            j = (before if before >= MAX_CORNERS else after) - MAX_CORNERS
            k = before if before < MAX_CORNERS else after
            out[total].feature = edge_feature(a.id[k], a.id[(k + 1) % a.count], b.id[b.count - 1 - j],
                                              b.id[(2 * b.count - 2 - j) % b.count])
        total += 1
    return total


cdef inline int ruling_on_face(const Polygon* line, const Polygon* face, Vec3 n, int line_is_b, double limit,
                               Contact* out) noexcept nogil:
    """The part of a ruling over a face, seen along n (a to b): its two ends. -> count."""
    cdef Vec3 e1 = perpendicular(n)
    cdef Vec3 e2 = cross(n, e1)
    cdef Vec3 d = sub(line.points[1], line.points[0])
    cdef Vec3 edge, from_corner, p
    cdef Height height
    cdef double t[2]
    cdef int cut[2]
    cdef int j, k, next_corner, total
    cdef double inside, rate, sign, z_line, z_face, separation
    if fabs(dot(face.normal, n)) < 1e-3:
        return 0
    height = face_height(face, n, e1, e2)
    sign = 1.0 if dot(face.normal, n) > 0.0 else -1.0
    t[0] = 0.0
    t[1] = 1.0
    cut[0] = -1
    cut[1] = -1
    for j in range(face.count):
        next_corner = j + 1 if j + 1 < face.count else 0
        edge = cross(n, sub(face.points[next_corner], face.points[j]))      # points inward for a face along n
        from_corner = sub(line.points[0], face.points[j])
        inside = sign * dot(edge, from_corner)
        rate = sign * dot(edge, d)
        if fabs(rate) <= 1e-12 * sqrt(dot(edge, edge) * dot(d, d)):
            if inside < -1e-9 * dot(edge, edge):
                return 0
        elif rate > 0.0 and -inside / rate > t[0]:
            t[0] = -inside / rate
            cut[0] = j
        elif rate < 0.0 and -inside / rate < t[1]:
            t[1] = -inside / rate
            cut[1] = j
    if t[1] < t[0]:
        return 0
    total = 0
    for k in range(2):
        if k == 1 and t[1] - t[0] < 1e-6:
            break
        p = add_scaled(line.points[0], t[k], d)
        z_line = dot(p, n)
        z_face = height_at(height, dot(p, e1), dot(p, e2))
        separation = z_line - z_face if line_is_b else z_face - z_line
        if separation > limit:
            continue
        out[total].separation = separation
        out[total].position = add_scaled(p, 0.5 * (z_face - z_line), n)
        if cut[k] < 0:
            out[total].feature = vertex_feature(line_is_b, line.id[k])
        else:
            j = cut[k]
            next_corner = j + 1 if j + 1 < face.count else 0
            if line_is_b:
                out[total].feature = edge_feature(face.id[j], face.id[next_corner], line.id[0], line.id[1])
            else:
                out[total].feature = edge_feature(line.id[0], line.id[1], face.id[j], face.id[next_corner])
        total += 1
    return total


cdef inline int side_height(const Polygon* side, Vec3 p, Vec3 n, double up, double* height) noexcept nogil:
    """Height along n of a round side over the point p. -> 0 where p is not over it.

    At a lateral distance w from its ruling a side of radius r, which grows along the ruling by T, lies lower along n by s:
    with the ruling's tilt b, the side's own axes (along the ruling, lateral, normal) and the cone that they are on,

        s^2 cos^2 b k - 2 r s cos b + w^2 = 0,    k = 1 - T^2 + 2 T tan b

    up: 1 if the side faces n, -1 if it faces against it.
    """
    cdef Vec3 f = sub(side.points[1], side.points[0])
    cdef double slope = dot(f, n)
    cdef Vec3 flat = add_scaled(f, -slope, n)
    cdef double flat2 = dot(flat, flat)
    cdef double t = dot(sub(p, side.points[0]), flat) / flat2
    cdef Vec3 foot = add_scaled(side.points[0], t, f)
    cdef Vec3 lateral = sub(p, foot)
    cdef double growth = (side.radius[1] - side.radius[0]) / sqrt(flat2 + slope * slope)
    cdef double radius = max(side.radius[0] + t * (side.radius[1] - side.radius[0]), 0.0)    # at an apex rounding tells
    cdef double w2, bent, root
    lateral = add_scaled(lateral, -dot(lateral, n), n)
    w2 = dot(lateral, lateral)
    bent = w2 * (1.0 - growth * growth + 2.0 * growth * up * slope / sqrt(flat2))
    if t < -1e-9 or t > 1.0 + 1e-9 or bent >= radius * radius:
        return 0
    root = sqrt(radius * radius - bent)
    height[0] = dot(foot, n) - up * w2 / (radius + root) * sqrt((flat2 + slope * slope) / flat2)
    return 1


cdef inline int rulings_overlap(const Polygon* a, const Polygon* b, Vec3 n, double limit, Contact* out) noexcept nogil:
    """Two nearly parallel round sides: the ends of their common length. -> count, 0 when they cross at an angle.

    A point lies over an end of one ruling; the other side's height there follows from its roundness.
    """
    cdef Vec3 d = sub(a.points[1], a.points[0])
    cdef Vec3 f = sub(b.points[1], b.points[0])
    cdef Vec3 p
    cdef const Polygon* owner
    cdef double length, along, s0, s1, z_a, z_b
    cdef int k, lower, corner, total, over_other
    d = add_scaled(d, -dot(d, n), n)
    f = add_scaled(f, -dot(f, n), n)
    length = dot(d, d)
    along = dot(f, d)
    p = cross(d, f)
    if dot(p, p) > 0.01 * length * dot(f, f) or along == 0.0:
        return 0
    s0 = dot(sub(b.points[0], a.points[0]), d) / length          # b's ends along a's ruling, in lengths of it
    s1 = s0 + along / length
    lower = 0 if s0 <= s1 else 1
    if (s1 if lower == 0 else s0) < 1e-3 or (s0 if lower == 0 else s1) > 1.0 - 1e-3:
        return 0
    total = 0
    for k in range(2):
        owner = a
        corner = k
        if k == 0 and (s0 if lower == 0 else s1) > 0.0:
            owner = b
            corner = lower
        elif k == 1 and (s1 if lower == 0 else s0) < 1.0:
            owner = b
            corner = 1 - lower
        p = owner.points[corner]
        z_a = dot(p, n)
        z_b = z_a
        if owner == a:
            over_other = side_height(b, p, n, -1.0, &z_b)
        else:
            over_other = side_height(a, p, n, 1.0, &z_a)
        if not over_other or z_b - z_a > limit:
            continue
        out[total].separation = z_b - z_a
        out[total].position = add_scaled(p, 0.5 * (z_a + z_b) - dot(p, n), n)
        out[total].feature = vertex_feature(owner == b, owner.id[corner])
        total += 1
    return total


cdef inline int features_overlap(const Polygon* a, const Polygon* b, Vec3 n, double limit, Contact* out) noexcept nogil:
    """Candidates between two supporting features. -> count, 0 when one of them is a lone point."""
    if a.count >= 3 and b.count >= 3:
        return faces_overlap(a, b, n, limit, out)
    if a.count == 2 and b.count >= 3:
        return ruling_on_face(a, b, n, 0, limit, out)
    if a.count >= 3 and b.count == 2:
        return ruling_on_face(b, a, n, 1, limit, out)
    if a.count == 2 and b.count == 2:
        return rulings_overlap(a, b, n, limit, out)
    return 0
