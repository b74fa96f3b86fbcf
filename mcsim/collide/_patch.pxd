"""Contact patches with more than four corners: which corners bear, and how they go into several manifolds of one pair.

A body stands as long as the centre of pressure lies inside the polygon of its contact points. Four points span a box's
face; of a disc, or of a face with more corners, they leave out up to a third of the way to the rim. So of a patch with
more corners those are kept without which it would be smaller, and the pair has several manifolds, its parts, with one
normal and up to four points each.

A corner p between its neighbours u and w reaches beyond the chord uw, as a part of its own way from the patch's centre c
to the parallel of the chord through p, by

    area(u, p, w) / (area(u, p, w) + area(c, u, w))

which no stretching of the patch changes. The corner with the least such part goes, until all have more than LEAST_PART
(M. Visvalingam and J. Whyatt, "Line generalisation by repeated elimination of points", 1993, with that measure). A corner
that was kept in the last step counts for more, so that a patch at rest keeps its corners.

Parts take the corners in turn, as cards are dealt. Each spans the whole patch, so that one alone nearly bears the load.
"""

from libc.math cimport INFINITY
from libc.stdint cimport uint64_t
from mcsim.core._types cimport Vec3
from mcsim.core._math cimport vec3, sub, add, add_scaled, scale, dot, cross, perpendicular
from mcsim.state._manifold cimport Manifold, ManifoldPoint
from mcsim.collide._contact cimport MAX_CONTACTS, Axis, Contact, deepest_of
from mcsim.collide._records cimport PATCH_CORNERS, PATCH_PARTS, PATCH_POINTS, Patch

cdef extern from *:
    """
    /* The part (above) of a corner that is kept.
       Of regular polygons those with up to 23 corners keep them all; of more every other one, at 0.965 of the rim. */
    #define MC_LEAST_PART 0.035
    /* How much more a corner counts that was there in the last step. */
    #define MC_KEPT_PART 1.5
    /* A corner whose gap grows by a larger slope, from the deepest point on, is none of the patch. */
    #define MC_PATCH_SLOPE 0.1
    /* Of the pair's size: how much deeper than all corners a point must be to be one more of a new patch. */
    #define MC_NEW_MISS 1e-7
    /* The same of a patch that was there in the last step:
       at rest a point that comes and goes would shake what stands on it. */
    #define MC_PATCH_MISS 1e-4
    /* Of the pair's size: how near corners of two steps are the same one. */
    #define MC_SAME_PLACE 1e-3
    """
    const double LEAST_PART "MC_LEAST_PART"
    const double KEPT_PART "MC_KEPT_PART"
    const double PATCH_SLOPE "MC_PATCH_SLOPE"
    const double NEW_MISS "MC_NEW_MISS"
    const double PATCH_MISS "MC_PATCH_MISS"
    const double SAME_PLACE "MC_SAME_PLACE"

ctypedef struct Corner:
    double x
    double y
    int number                   # of its contact
    int kept                     # was it there in the last step?


cdef inline int was_there(const Patch* patch, const Contact* c, double near) noexcept nogil:
    """Was the corner, or one within the distance `near` of its place, kept in the last step? Where faces lie flush on each
    other it has another feature at the least motion."""
    cdef Vec3 p = add(patch.origin, c.position)
    cdef Vec3 d
    cdef Py_ssize_t i
    cdef int k
    for i in range(patch.old_count):
        for k in range(patch.old[i].point_count):
            d = sub(patch.old[i].points[k].position, p)
            if patch.old[i].points[k].feature == c.feature or dot(d, d) <= near * near:
                return 1
    return 0


cdef inline int first_corner(const Patch* patch, const Contact* contacts, const Corner* outline, int count) noexcept nogil:
    """Where dealing begins: at the corner with which it began in the last step, or the one nearest to its place."""
    cdef const ManifoldPoint* old
    cdef Vec3 d
    cdef double d2
    cdef double least = INFINITY
    cdef int i
    cdef int best = 0
    if patch.old_count == 0 or patch.old[0].point_count == 0:
        for i in range(1, count):
            if contacts[outline[i].number].feature < contacts[outline[best].number].feature:
                best = i
        return best
    old = &patch.old[0].points[0]
    for i in range(count):
        if contacts[outline[i].number].feature == old.feature:
            return i
        d = sub(add(patch.origin, contacts[outline[i].number].position), old.position)
        d2 = dot(d, d)
        if d2 < least:
            least = d2
            best = i
    return best


cdef inline int is_beside(const Contact* c, const Contact* deepest, Vec3 normal) noexcept nogil:
    """Does the corner belong to the face on which the deepest point is?"""
    cdef Vec3 d = sub(c.position, deepest.position)
    cdef double height = c.separation - deepest.separation
    d = add_scaled(d, -dot(d, normal), normal)
    return height * height <= PATCH_SLOPE * PATCH_SLOPE * dot(d, d)


cdef inline double area2(const Corner* p, const Corner* q, const Corner* r) noexcept nogil:
    """Twice the area of a triangle, positive if it is counter-clockwise."""
    return (q.x - p.x) * (r.y - p.y) - (q.y - p.y) * (r.x - p.x)


cdef inline int convex_outline(Corner* corners, int count, Corner* outline) noexcept nogil:
    """The convex hull, counter-clockwise (A. Andrew, "Another efficient algorithm for convex hulls in two dimensions",
    1979). corners are sorted. outline: room for count + 1. -> count"""
    cdef Corner c
    cdef int i, k, low
    cdef int total = 0
    for i in range(1, count):
        c = corners[i]
        k = i
        while k > 0 and (corners[k - 1].x > c.x or corners[k - 1].x == c.x and corners[k - 1].y > c.y):
            corners[k] = corners[k - 1]
            k -= 1
        corners[k] = c
    for i in range(count):
        while total > 1 and area2(&outline[total - 2], &outline[total - 1], &corners[i]) <= 0.0:
            total -= 1
        outline[total] = corners[i]
        total += 1
    low = total
    for i in range(count - 2, -1, -1):
        while total > low and area2(&outline[total - 2], &outline[total - 1], &corners[i]) <= 0.0:
            total -= 1
        outline[total] = corners[i]
        total += 1
    return total - 1


cdef inline Corner middle_of_outline(const Corner* outline, int count) noexcept nogil:
    """Its centre of area. number: 0 where it has none."""
    cdef Corner c
    cdef double a, x, y, extent
    cdef double area = 0.0
    cdef int i
    c.x = c.y = extent = 0.0
    c.kept = 0
    for i in range(1, count - 1):
        a = area2(&outline[0], &outline[i], &outline[i + 1])
        area += a
        c.x += a * (outline[i].x + outline[i + 1].x - 2.0 * outline[0].x)
        c.y += a * (outline[i].y + outline[i + 1].y - 2.0 * outline[0].y)
    for i in range(1, count):
        x = outline[i].x - outline[0].x
        y = outline[i].y - outline[0].y
        extent = max(extent, x * x + y * y)
    c.number = area > 1e-9 * extent
    if c.number:
        c.x = outline[0].x + c.x / (3.0 * area)
        c.y = outline[0].y + c.y / (3.0 * area)
    return c


cdef inline int keep_corners(Corner* outline, int count) noexcept nogil:
    """Drop the corners that reach least beyond their neighbours. -> count, 0 for a line"""
    cdef Corner middle = middle_of_outline(outline, count)
    cdef const Corner* u
    cdef const Corner* w
    cdef double part, rest, least
    cdef int i, worst
    if not middle.number:
        return 0
    while count > 3:
        least = INFINITY
        worst = 0
        for i in range(count):
            u = &outline[i - 1 if i > 0 else count - 1]
            w = &outline[i + 1 if i + 1 < count else 0]
            part = area2(u, &outline[i], w)
            rest = area2(&middle, u, w)
            part = part / (part + rest) if rest > 0.0 else 1.0
            if outline[i].kept:
                part *= KEPT_PART
            if part < 0.999999 * least:
                least = part
                worst = i
        if least > LEAST_PART and count <= PATCH_CORNERS:
            break
        count -= 1
        for i in range(worst, count):
            outline[i] = outline[i + 1]
    return count


cdef inline void choose_patch(const Contact* contacts, int count, Vec3 normal, double size, const Axis* axis,
                              Vec3 origin, Patch* patch) noexcept nogil:
    """The points of the patch that the candidates span, if four do not span it; all are placed from `origin`. axis: whose
    witness is the deepest point, or NULL: it is among the candidates. patch may be NULL."""
    cdef Corner corners[MAX_CONTACTS + 1]
    cdef Corner outline[MAX_CONTACTS + 2]
    cdef Contact deepest
    cdef Vec3 e1, e2
    cdef int i, first
    cdef int total = 0
    cdef double miss
    if patch == NULL:
        return
    miss = size * (PATCH_MISS if patch.old_count > 0 else NEW_MISS)
    patch.count = 0
    patch.origin = origin
    if count <= 4:
        return
    deepest = contacts[deepest_of(contacts, count)]
    if axis != NULL and axis.separation < deepest.separation - miss:
        deepest.position = axis.witness
        deepest.separation = axis.separation
        deepest.feature = 0
    e1 = perpendicular(normal)
    e2 = cross(normal, e1)
    for i in range(count):
        if contacts[i].feature != 0 and is_beside(&contacts[i], &deepest, normal):
            corners[total].x = dot(contacts[i].position, e1)
            corners[total].y = dot(contacts[i].position, e2)
            corners[total].number = i
            total += 1
    if total <= 4:
        return
    total = convex_outline(corners, total, outline)
    if total <= 4:
        return
    for i in range(total):
        outline[i].kept = was_there(patch, &contacts[outline[i].number], SAME_PLACE * size)
    total = keep_corners(outline, total)
    if total <= 4:
        return
    first = first_corner(patch, contacts, outline, total)
    for i in range(total):
        patch.points[i] = contacts[outline[(first + i) % total].number]
    patch.count = total
    if deepest.separation < patch.points[deepest_of(patch.points, total)].separation - miss:
        patch.points[total] = deepest
        patch.count += 1


cdef inline int has_feature(const Patch* patch, uint64_t feature) noexcept nogil:
    cdef int i
    for i in range(patch.count):
        if patch.points[i].feature == feature:
            return 1
    return 0


cdef inline void add_far_points(Patch* patch, const Manifold* m) noexcept nogil:
    """Points of the pair's manifold of four that are no part of the face: they may come near within the step."""
    cdef const Contact* deepest
    cdef Contact c
    cdef int i
    if patch.count == 0:
        return
    deepest = &patch.points[deepest_of(patch.points, patch.count)]
    for i in range(m.point_count):
        c.position = sub(m.points[i].position, patch.origin)
        c.separation = m.points[i].separation
        c.feature = m.points[i].feature
        if patch.count < PATCH_POINTS and not has_feature(patch, c.feature) and not is_beside(&c, deepest, m.normal):
            patch.points[patch.count] = c
            patch.count += 1


cdef inline int parts_of_patch(const Patch* patch) noexcept nogil:
    return (patch.count + 3) // 4


cdef inline int alike_from(const Manifold* m, int count) noexcept nogil:
    """How many of the next `count` manifolds of one pair have the first one's normal: they are parts of one patch."""
    cdef int parts = 1
    while parts < count and m[parts].normal.x == m.normal.x and m[parts].normal.y == m.normal.y \
            and m[parts].normal.z == m.normal.z:
        parts += 1
    return min(parts, PATCH_PARTS)


cdef inline void alike(Manifold* m, const Manifold* first) noexcept nogil:
    """m is of the first one's pair and has its normal."""
    m.key = first.key
    m.shape_a = first.shape_a
    m.shape_b = first.shape_b
    m.body_a = first.body_a
    m.body_b = first.body_b
    m.sheet = first.sheet
    m.size = first.size
    m.near = first.near
    m.normal = first.normal
    m.allowance = 0.0
    m.thinning = first.thinning


cdef inline void deal(const Patch* patch, int parts, Manifold* m) noexcept nogil:
    """The points into m[:parts]. However many they are, they are as stiff as four: else the sweeps, which are too few to
    solve a high stack, would drive it up and down."""
    cdef ManifoldPoint* p
    cdef int i
    for i in range(parts):
        m[i].point_count = 0
        m[i].thinning = 4.0 / patch.count
    for i in range(patch.count):
        p = &m[i % parts].points[m[i % parts].point_count]
        p.position = add(patch.origin, patch.points[i].position)
        p.separation = patch.points[i].separation
        p.feature = patch.points[i].feature
        m[i % parts].point_count += 1
