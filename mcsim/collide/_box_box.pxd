"""Two boxes: separating axes (Gottschalk, Lin, Manocha, "OBBTree" 1996), then the two facing faces clipped.

Of the 15 axes the best one gives the exact separation, except for boxes apart whose nearest features are a corner and a
corner or an edge. That shows: no candidate point is as near as the axis says. The general routine then takes over.
"""

from libc.math cimport sqrt, fabs
from libc.stdint cimport uint64_t
from mcsim.core._types cimport Vec3
from mcsim.core._math cimport vec3, sub, neg, mat_vec, mat_t_vec, mat_column
from mcsim.state._manifold cimport Manifold
from mcsim.collide._solid cimport Solid
from mcsim.collide._contact cimport (MAX_CONTACTS, Contact, vertex_feature, edge_feature, deepest_of,
                                            reduce_contacts, store)
from mcsim.collide._convex cimport convex_convex
from mcsim.collide._patch cimport Patch, choose_patch

# Everything about the pair that the 15 axes share.
ctypedef struct BoxPair:
    double r[3][3]           # r[i][j] = axis i of a . axis j of b
    double q[3][3]           # |r|
    double half_a[3]
    double half_b[3]
    double t[3]              # from a to b in a's axes
    double u[3]              # from a to b in b's axes
    double size              # sum of all half extents

# A corner of the clipped face: x, y over the reference face, z along its outward normal from its plane.
ctypedef struct Corner:
    double x
    double y
    double z
    int edge                 # the edge that follows it: 0-3 incident face, 4-7 sides +x +y -x -y of the reference


cdef inline void box_pair(const Solid* a, const Solid* b, BoxPair* p) noexcept nogil:
    cdef Vec3 d = sub(b.position, a.position)
    cdef Vec3 t = mat_t_vec(a.axes, d)
    cdef Vec3 u = mat_t_vec(b.axes, d)
    cdef Vec3 column
    cdef int i, j
    for j in range(3):
        column = mat_t_vec(a.axes, mat_column(b.axes, j))
        p.r[0][j] = column.x
        p.r[1][j] = column.y
        p.r[2][j] = column.z
    for i in range(3):
        for j in range(3):
            p.q[i][j] = fabs(p.r[i][j])
    p.t[0] = t.x
    p.t[1] = t.y
    p.t[2] = t.z
    p.u[0] = u.x
    p.u[1] = u.y
    p.u[2] = u.z
    p.half_a[0] = a.size.x
    p.half_a[1] = a.size.y
    p.half_a[2] = a.size.z
    p.half_b[0] = b.size.x
    p.half_b[1] = b.size.y
    p.half_b[2] = b.size.z
    p.size = a.size.x + a.size.y + a.size.z + b.size.x + b.size.y + b.size.z


cdef inline int best_box_axis(const BoxPair* p, double limit, double* separation) noexcept nogil:
    """-> 0-2 face of a, 3-5 face of b, 6 + 3 i + j edge i of a x edge j of b; -1 if farther apart than `limit`.

    Earlier axes win ties: a later one must be better by a billionth of the size.
    """
    cdef int i, j, i1, i2, j1, j2
    cdef int best = 0
    cdef double s, length2, bar
    cdef double tolerance = 1e-9 * p.size
    cdef double top = -1e300
    for i in range(3):
        s = fabs(p.t[i]) - (p.half_a[i] + (p.q[i][0] * p.half_b[0] + p.q[i][1] * p.half_b[1] + p.q[i][2] * p.half_b[2]))
        if s > limit:
            return -1
        if s > top + tolerance:
            top = s
            best = i
    for j in range(3):
        s = fabs(p.u[j]) - (p.half_b[j] + (p.q[0][j] * p.half_a[0] + p.q[1][j] * p.half_a[1] + p.q[2][j] * p.half_a[2]))
        if s > limit:
            return -1
        if s > top + tolerance:
            top = s
            best = 3 + j
    for i in range(3):
        i1 = (i + 1) % 3
        i2 = (i + 2) % 3
        for j in range(3):
            j1 = (j + 1) % 3
            j2 = (j + 2) % 3
            # Along the unnormalized axis a_i x b_j, whose length is the sine of the angle between the two edges.
            s = (fabs(p.t[i2] * p.r[i1][j] - p.t[i1] * p.r[i2][j])
                 - ((p.half_a[i1] * p.q[i2][j] + p.half_a[i2] * p.q[i1][j])
                    + (p.half_b[j1] * p.q[i][j2] + p.half_b[j2] * p.q[i][j1])))
            length2 = p.r[i1][j] * p.r[i1][j] + p.r[i2][j] * p.r[i2][j]
            bar = top + tolerance
            # s / length > bar, without the root; nearly parallel edges have no axis of their own.
            if bar <= 0.0:
                if s < 0.0 and s * s >= bar * bar * length2:
                    continue
            elif s <= 0.0 or s * s <= bar * bar * length2:
                continue
            if length2 > 1e-15:
                s = s / sqrt(length2)
                if s > limit:
                    return -1
                top = s
                best = 6 + 3 * i + j
    separation[0] = top
    return best


cdef inline int clip_side(const Corner* source, int count, Corner* target, int axis, double sign, double half,
                          double tolerance, int label) noexcept nogil:
    """Keep the part of a polygon with sign * coordinate <= half. -> corner count."""
    cdef int total = 0
    cdef int i, k
    cdef double d0, d1, first, t
    first = sign * (source[0].x if axis == 0 else source[0].y) - half
    d0 = first
    for i in range(count):
        k = i + 1 if i + 1 < count else 0
        d1 = sign * (source[k].x if axis == 0 else source[k].y) - half if k > 0 else first
        if d0 <= tolerance:
            target[total] = source[i]
            total += 1
        if (d0 <= tolerance) != (d1 <= tolerance):
            t = d0 / (d0 - d1)
            t = 0.0 if t < 0.0 else (1.0 if t > 1.0 else t)
            target[total].x = source[i].x + t * (source[k].x - source[i].x)
            target[total].y = source[i].y + t * (source[k].y - source[i].y)
            target[total].z = source[i].z + t * (source[k].z - source[i].z)
            target[total].edge = label if d0 <= tolerance else source[i].edge
            total += 1
        d0 = d1
    return total


cdef inline uint64_t corner_feature(int before, int after, const int* incident, const int* reference,
                                    int reference_is_a) noexcept nogil:
    """What made a corner, from the edges before and after it; both faces' vertex numbers go round from (+ +).

    Edge k of a face runs from vertex k to k + 1; side +x of the reference is its edge 3, +y 0, -x 1, -y 2.
    """
    cdef int i, k
    if before < 4 and after < 4:
        return vertex_feature(reference_is_a, incident[after])
    if before >= 4 and after >= 4:
        # Sides k and k + 1 (mod 4) meet in reference vertex k.
        i = before - 4
        k = after - 4
        return vertex_feature(not reference_is_a, reference[i if ((i + 1) & 3) == k else k])
    i = before if before < 4 else after
    k = ((before if before >= 4 else after) - 5) & 3
    if reference_is_a:
        return edge_feature(reference[k], reference[(k + 1) & 3], incident[i], incident[(i + 1) & 3])
    return edge_feature(incident[i], incident[(i + 1) & 3], reference[k], reference[(k + 1) & 3])


cdef inline int largest(const double* x) noexcept nogil:
    """Number of the component with the largest magnitude; the first of equals."""
    cdef int k = 0
    if fabs(x[1]) > fabs(x[0]):
        k = 1
    if fabs(x[2]) > fabs(x[k]):
        k = 2
    return k


cdef inline void face_vertices(int axis, double sign, int* vertex) noexcept nogil:
    """Vertex numbers (bits: which coordinates are positive) of a face in the order (+ +) (- +) (- -) (+ -)."""
    cdef int base = (1 << axis) if sign > 0.0 else 0
    cdef int u = 1 << ((axis + 1) % 3)
    cdef int v = 1 << ((axis + 2) % 3)
    vertex[0] = base | u | v
    vertex[1] = base | v
    vertex[2] = base
    vertex[3] = base | u


cdef inline int clip_faces(const Solid* reference, const double* half, const double* half_other, const double (*r)[3],
                           const double* t, const double* n, double limit, double tolerance, int reference_is_a,
                           Contact* out) noexcept nogil:
    """Clip the face of the other box against the one of the reference box, seen along the contact normal n.

    All in the reference's axes: n points to the other box, t is its centre, r[i][j] = axis i of the reference . axis j
    of the other. A corner at height z over the reference face is projected on it along n: by -z n_xy / n_z, and is
    z / n_z apart from it. -> candidates, from the reference's position.
    """
    cdef Corner polygon[2][20]      # 8 corners at most; 4, 6, 9, 13, 19 if rounding bends a sliver's edges
    cdef int incident_vertex[4]
    cdef int reference_vertex[4]
    cdef double facing[3]
    cdef double local[3]
    cdef double sign, turned, slope_x, slope_y, stretch, cx, cy, cz, ux, uy, uz, vx, vy, vz
    cdef int axis = largest(n)
    cdef int x = (axis + 1) % 3
    cdef int y = (axis + 2) % 3
    cdef int i, other, u, v, count, total, before
    for i in range(3):
        facing[i] = n[0] * r[0][i] + n[1] * r[1][i] + n[2] * r[2][i]
    other = largest(facing)
    u = (other + 1) % 3
    v = (other + 2) % 3
    sign = 1.0 if n[axis] >= 0.0 else -1.0
    turned = -1.0 if facing[other] >= 0.0 else 1.0
    face_vertices(axis, sign, reference_vertex)
    face_vertices(other, turned, incident_vertex)
    turned *= half_other[other]
    stretch = sign / n[axis]
    slope_x = n[x] * stretch
    slope_y = n[y] * stretch
    cz = sign * (t[axis] + turned * r[axis][other]) - half[axis]
    uz = sign * half_other[u] * r[axis][u]
    vz = sign * half_other[v] * r[axis][v]
    cx = t[x] + turned * r[x][other] - slope_x * cz
    cy = t[y] + turned * r[y][other] - slope_y * cz
    ux = half_other[u] * r[x][u] - slope_x * uz
    uy = half_other[u] * r[y][u] - slope_y * uz
    vx = half_other[v] * r[x][v] - slope_x * vz
    vy = half_other[v] * r[y][v] - slope_y * vz
    polygon[0][0].x = cx + ux + vx
    polygon[0][0].y = cy + uy + vy
    polygon[0][0].z = cz + uz + vz
    polygon[0][1].x = cx - ux + vx
    polygon[0][1].y = cy - uy + vy
    polygon[0][1].z = cz - uz + vz
    polygon[0][2].x = cx - ux - vx
    polygon[0][2].y = cy - uy - vy
    polygon[0][2].z = cz - uz - vz
    polygon[0][3].x = cx + ux - vx
    polygon[0][3].y = cy + uy - vy
    polygon[0][3].z = cz + uz - vz
    for i in range(4):
        polygon[0][i].edge = i
    count = clip_side(polygon[0], 4, polygon[1], 0, 1.0, half[x], tolerance, 4)
    if count > 0:
        count = clip_side(polygon[1], count, polygon[0], 1, 1.0, half[y], tolerance, 5)
    if count > 0:
        count = clip_side(polygon[0], count, polygon[1], 0, -1.0, half[x], tolerance, 6)
    if count > 0:
        count = clip_side(polygon[1], count, polygon[0], 1, -1.0, half[y], tolerance, 7)
    total = 0
    for i in range(count):
        out[total].separation = stretch * polygon[0][i].z
        if out[total].separation > limit:
            continue
        before = polygon[0][i - 1 if i > 0 else count - 1].edge
        out[total].feature = corner_feature(before, polygon[0][i].edge, incident_vertex, reference_vertex,
                                            reference_is_a)
        local[axis] = sign * half[axis] + 0.5 * out[total].separation * n[axis]
        local[x] = polygon[0][i].x + 0.5 * out[total].separation * n[x]
        local[y] = polygon[0][i].y + 0.5 * out[total].separation * n[y]
        out[total].position = mat_vec(reference.axes, vec3(local[0], local[1], local[2]))
        total += 1
    return total


cdef inline void axis_normal(const BoxPair* p, int axis, double* n) noexcept nogil:
    """The unit normal of one of the 15 axes from the reference box to the other: in b's axes for a face of b, else a's.
    """
    cdef int i, j, i1, i2
    cdef double length
    n[0] = 0.0
    n[1] = 0.0
    n[2] = 0.0
    if axis < 3:
        n[axis] = 1.0 if p.t[axis] >= 0.0 else -1.0
    elif axis < 6:
        n[axis - 3] = -1.0 if p.u[axis - 3] >= 0.0 else 1.0
    else:
        i = (axis - 6) // 3
        j = (axis - 6) % 3
        i1 = (i + 1) % 3
        i2 = (i + 2) % 3
        length = sqrt(p.r[i1][j] * p.r[i1][j] + p.r[i2][j] * p.r[i2][j])
        if p.t[i2] * p.r[i1][j] - p.t[i1] * p.r[i2][j] < 0.0:
            length = -length
        n[i1] = -p.r[i2][j] / length
        n[i2] = p.r[i1][j] / length


cdef inline int box_box(const Solid* a, const Solid* b, double limit, Manifold* m, Patch* patch) noexcept nogil:
    """-> point count, 0 if farther apart than `limit`. Notes in m.origin whose face has the normal.
    patch: more points, or NULL."""
    cdef BoxPair p
    cdef double n[3]
    cdef double swapped[3][3]
    cdef double back[3]
    cdef double separation, tolerance
    cdef Contact contacts[MAX_CONTACTS]
    cdef Vec3 normal
    cdef Vec3 origin = a.position
    cdef int i, j, count
    cdef int axis
    box_pair(a, b, &p)
    axis = best_box_axis(&p, limit, &separation)
    if axis < 0:
        return 0
    tolerance = 1e-9 * p.size
    axis_normal(&p, axis, n)
    if 3 <= axis < 6:
        for i in range(3):
            back[i] = -p.u[i]
            for j in range(3):
                swapped[i][j] = p.r[j][i]
        normal = neg(mat_vec(b.axes, vec3(n[0], n[1], n[2])))
        origin = b.position
        count = clip_faces(b, p.half_b, p.half_a, swapped, back, n, limit, tolerance, 0, contacts)
    else:
        normal = mat_vec(a.axes, vec3(n[0], n[1], n[2]))
        count = clip_faces(a, p.half_a, p.half_b, p.r, p.t, n, limit, tolerance, 1, contacts)
    if count == 0 or contacts[deepest_of(contacts, count)].separation > separation + 2.0 * tolerance:
        return convex_convex(a, b, limit, m, patch)
    if axis < 6:
        m.origin.owner = axis // 3
    choose_patch(contacts, count, normal, p.size, NULL, origin, patch)
    store(m, contacts, reduce_contacts(contacts, count, normal), normal, origin)
    return m.point_count
