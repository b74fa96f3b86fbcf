"""The faces of a convex polyhedron from the triangles of its surface: what scene/hull.py does for each of them.

A loop is a polygon by the numbers of its points; loops come one after the other in one array, and where each begins in
another, with the end behind the last. Every sum has one order, from the first term to the last.
"""

from libc.math cimport fabs, sqrt
from libc.stdint cimport int8_t, int32_t, int64_t
from libc.stdlib cimport qsort

import numpy as np

from mcsim.core._math cimport add, cross, sub
from mcsim.core._types cimport Vec3


cdef int compare(const void* a, const void* b) noexcept nogil:
    cdef int64_t x = (<const int64_t*>a)[0]
    cdef int64_t y = (<const int64_t*>b)[0]
    return (x > y) - (x < y)


cdef inline int64_t side_key(int32_t a, int32_t b) noexcept nogil:
    return (<int64_t>a << 32) | b


cdef inline int64_t edge_key(int32_t a, int32_t b) noexcept nogil:
    return side_key(a, b) if a < b else side_key(b, a)


cdef inline double along(Vec3 a, Vec3 b) noexcept nogil:
    """a . b, begun with 0."""
    return 0.0 + a.x * b.x + a.y * b.y + a.z * b.z


cdef Vec3 newell(const Vec3* points, const int32_t* loop, Py_ssize_t count) noexcept nogil:
    """The unit normal of a polygon, the mean over all its corners; 0 if it has no area."""
    cdef Py_ssize_t i
    cdef Vec3 middle = points[loop[0]]
    cdef Vec3 first, a, b, sum
    cdef double size
    for i in range(1, count):
        middle = add(middle, points[loop[i]])
    middle.x, middle.y, middle.z = middle.x / count, middle.y / count, middle.z / count
    first = a = sub(points[loop[0]], middle)
    sum = a
    for i in range(count):
        b = sub(points[loop[i + 1]], middle) if i + 1 < count else first
        sum = add(sum, cross(a, b)) if i > 0 else cross(a, b)
        a = b
    size = sqrt(along(sum, sum))
    if size > 0.0:
        sum.x, sum.y, sum.z = sum.x / size, sum.y / size, sum.z / size
    return sum


cdef inline void turn_round(int32_t* loop, Py_ssize_t count) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(count // 2):
        loop[i], loop[count - 1 - i] = loop[count - 1 - i], loop[i]


# A surface, and room to work in.
ctypedef struct Merging:
    const Vec3* points
    const int32_t* triangles     # (t, 3) numbers of points
    const int32_t* neighbours    # (t, 3)
    const Vec3* normals
    double flat                  # what is less far from a plane lies in it
    int8_t* done                 # of triangles: it is in a face
    int32_t* members             # triangles of one face
    int32_t* waiting
    int64_t* edges               # 3 t
    int32_t* beside              # (n, 2): the neighbours of each point along the border
    int8_t* degree               # of points, 0 but while a border is walked


cdef bint lies_in(const Merging* m, int32_t triangle, Vec3 normal, double base) noexcept nogil:
    """Whether all its corners lie in the plane."""
    cdef Vec3 p
    cdef int k
    for k in range(3):
        p = m.points[m.triangles[3 * triangle + k]]
        if not fabs(normal.x * p.x + normal.y * p.y + normal.z * p.z - base) < m.flat:
            return False
    return True


cdef bint stands_alone(const Merging* m, int32_t triangle) noexcept nogil:
    """Whether none of its neighbours lies in its plane."""
    cdef Vec3 normal = m.normals[triangle]
    cdef double base = along(m.points[m.triangles[3 * triangle]], normal)
    cdef int k
    for k in range(3):
        if lies_in(m, m.neighbours[3 * triangle + k], normal, base):
            return False
    return True


cdef Py_ssize_t gather(Merging* m, int32_t seed) noexcept nogil:
    """The triangles in the plane of `seed` that are connected with it and in no other face. -> how many"""
    cdef Vec3 normal = m.normals[seed]
    cdef double base = along(m.points[m.triangles[3 * seed]], normal)
    cdef Py_ssize_t count = 0
    cdef Py_ssize_t top = 1
    cdef int32_t other
    cdef int k
    m.waiting[0] = seed
    m.done[seed] = 1
    while top > 0:
        top -= 1
        m.members[count] = m.waiting[top]
        count += 1
        for k in range(3):
            other = m.neighbours[3 * m.members[count - 1] + k]
            if not m.done[other] and lies_in(m, other, normal, base):
                m.done[other] = 1
                m.waiting[top] = other
                top += 1
    return count


cdef Py_ssize_t border(Merging* m, Py_ssize_t count, int32_t* loop) noexcept nogil:
    """The loop around so many members, in either direction, from its lowest number to the lower of the two beside it.
    -> how many corners; 0 if there is not just one loop"""
    cdef Py_ssize_t n = 0
    cdef Py_ssize_t kept = 0
    cdef Py_ssize_t i, length
    cdef const int32_t* t
    cdef int32_t a, b, at, last
    cdef int k
    cdef bint whole = True
    for i in range(count):
        t = &m.triangles[3 * m.members[i]]
        for k in range(3):
            m.edges[n] = edge_key(t[k], t[(k + 1) % 3])
            n += 1
    qsort(m.edges, n, sizeof(int64_t), compare)
    for i in range(n):                           # those of one triangle alone
        if (i == 0 or m.edges[i - 1] != m.edges[i]) and (i == n - 1 or m.edges[i + 1] != m.edges[i]):
            m.edges[kept] = m.edges[i]
            kept += 1
    for i in range(kept):
        for k in range(2):
            a = <int32_t>(m.edges[i] >> 32) if k == 0 else <int32_t>m.edges[i]
            b = <int32_t>m.edges[i] if k == 0 else <int32_t>(m.edges[i] >> 32)
            if m.degree[a] < 2:
                m.beside[2 * a + m.degree[a]] = b
            m.degree[a] = min(m.degree[a] + 1, 3)
    for i in range(kept):
        whole = whole and m.degree[m.edges[i] >> 32] == 2 and m.degree[<int32_t>m.edges[i]] == 2
    length = 0
    if whole and kept > 0:                       # of a closed border there are as many points as edges
        last = at = <int32_t>(m.edges[0] >> 32)
        b = m.beside[2 * at]
        loop[0] = at
        length = 1
        at = b
        while at != loop[0]:
            loop[length] = at
            length += 1
            b = m.beside[2 * at] if m.beside[2 * at] != last else m.beside[2 * at + 1]
            last = at
            at = b
        whole = length == kept
    for i in range(kept):
        m.degree[m.edges[i] >> 32] = m.degree[<int32_t>m.edges[i]] = 0
    return length if whole else 0


def merged(const double[:, ::1] points, const int32_t[:, ::1] triangles, const int32_t[:, ::1] neighbours,
           const double[:, ::1] normals, const int64_t[::1] order, double flat):
    """Neighbours in one plane joined to loops, without the points that only lie on an edge or in a face.

    points (n, 3); triangles (t, 3) counter-clockwise; neighbours (t, 3), triangles; normals (t, 3); order (t,): whose
    planes are taken first; flat [m]: what is less far from a plane lies in it. -> begins (f + 1,), numbers, int32; None
    if a region is no disc"""
    cdef Py_ssize_t n = points.shape[0]
    cdef Py_ssize_t t = triangles.shape[0]
    cdef int32_t[::1] begin = np.empty(t + 1, np.int32)
    cdef int32_t[::1] loops = np.empty(3 * t + 1, np.int32)
    cdef int32_t[::1] work = np.empty(2 * t + 2 * n + 1, np.int32)
    cdef int64_t[::1] edges = np.empty(3 * t, np.int64)
    cdef int8_t[::1] flags = np.zeros(t + n, np.int8)
    cdef int32_t[::1] faces_at = np.zeros(n, np.int32)
    cdef Py_ssize_t used = 0
    cdef Py_ssize_t faces = 0
    cdef Py_ssize_t i, k, count, kept
    cdef int32_t seed
    cdef int32_t* loop
    cdef Merging m
    if t == 0 or not t == neighbours.shape[0] == normals.shape[0] == order.shape[0]:
        raise ValueError("there is a normal and a row of neighbours for each triangle")
    m.points, m.normals = <const Vec3*>&points[0, 0], <const Vec3*>&normals[0, 0]
    m.triangles, m.neighbours, m.flat = &triangles[0, 0], &neighbours[0, 0], flat
    m.members, m.waiting, m.beside = &work[0], &work[t], &work[2 * t]
    m.edges, m.done, m.degree = &edges[0], &flags[0], &flags[t]
    for i in range(t):
        seed = <int32_t>order[i]
        if m.done[seed]:
            continue
        loop = &loops[used]
        if stands_alone(&m, seed):
            m.done[seed], m.members[0] = 1, seed
            count = 1
        else:
            count = gather(&m, seed)
        count = border(&m, count, loop)
        if count == 0:
            return None
        if not along(newell(m.points, loop, count), m.normals[seed]) > 0.0:
            turn_round(loop, count)
        begin[faces] = <int32_t>used
        faces += 1
        used += count
    begin[faces] = <int32_t>used
    for i in range(used):
        faces_at[loops[i]] += 1
    used = kept = 0
    for i in range(faces):                       # what is in fewer than three faces is no corner of the polyhedron
        count = 0
        for k in range(begin[i], begin[i + 1]):
            if faces_at[loops[k]] >= 3:
                loops[used + count] = loops[k]
                count += 1
        begin[kept] = <int32_t>used
        if count >= 3:
            kept += 1
            used += count
    begin[kept] = <int32_t>used
    return np.array(begin[:kept + 1]), np.array(loops[:used])


cdef bint comes_before(const int32_t* a, Py_ssize_t count_a, const int32_t* b, Py_ssize_t count_b) noexcept nogil:
    """As lists are compared."""
    cdef Py_ssize_t i
    for i in range(min(count_a, count_b)):
        if a[i] != b[i]:
            return a[i] < b[i]
    return count_a < count_b


def in_order(const int32_t[::1] begin, const int32_t[::1] loops, Py_ssize_t points):
    """-> begins, numbers, int32: the same loops, each begun at its lowest number, sorted as lists are. points: how many."""
    cdef Py_ssize_t faces = begin.shape[0] - 1
    cdef Py_ssize_t i, k, lowest, count
    cdef Py_ssize_t used = 0
    cdef int32_t f
    turned, begins, numbers = np.empty_like(loops), np.empty_like(begin), np.empty_like(loops)
    cdef int32_t[::1] whole = turned
    cdef int32_t[::1] ends = begins
    cdef int32_t[::1] out = numbers
    cdef int32_t[::1] order = np.empty(faces + 1, np.int32)
    cdef int32_t[::1] first = np.zeros(points + 1, np.int32)     # places of the loops that begin with each number
    cdef int32_t[::1] taken = np.zeros(points + 1, np.int32)     # and how many of them are taken
    for i in range(faces):
        count, lowest = begin[i + 1] - begin[i], 0
        for k in range(count):
            if loops[begin[i] + k] < loops[begin[i] + lowest]:
                lowest = k
        for k in range(count):
            whole[begin[i] + k] = loops[begin[i] + (lowest + k) % count]
        first[whole[begin[i]] + 1] += 1
    for i in range(points):
        first[i + 1] += first[i]
    for i in range(faces):
        f, count = whole[begin[i]], begin[i + 1] - begin[i]
        k = first[f] + taken[f]
        taken[f] += 1
        while k > first[f] and comes_before(&whole[begin[i]], count, &whole[begin[order[k - 1]]],
                                            begin[order[k - 1] + 1] - begin[order[k - 1]]):
            order[k] = order[k - 1]
            k -= 1
        order[k] = <int32_t>i
    for i in range(faces):
        ends[i] = <int32_t>used
        for k in range(begin[order[i]], begin[order[i] + 1]):
            out[used] = whole[k]
            used += 1
    ends[faces] = <int32_t>used
    return begins, numbers


cdef bint close_up(const int32_t[::1] begin, const int32_t[::1] loops, int32_t* ends, int32_t* place) noexcept nogil:
    """Whether every side of the loops is there once, and the opposite one too. ends: room for all sides; place, before it:
    a 0 for each point, and three more: where the ends of its sides begin."""
    cdef Py_ssize_t faces = begin.shape[0] - 1
    cdef Py_ssize_t i, k, n, count
    cdef int32_t a, b
    cdef int there
    for i in range(loops.shape[0]):
        place[loops[i] + 2] += 1
    for i in range(1, ends - place - 2):
        place[i + 1] += place[i]
    for i in range(faces):
        count = begin[i + 1] - begin[i]
        for k in range(count):
            a = loops[begin[i] + k]
            ends[place[a + 1]] = loops[begin[i] + (k + 1) % count]
            place[a + 1] += 1
    for i in range(faces):
        count = begin[i + 1] - begin[i]
        for k in range(count):
            a, b = loops[begin[i] + k], loops[begin[i] + (k + 1) % count]
            there = 0
            for n in range(place[a], place[a + 1]):
                there += ends[n] == b
            if there != 1:
                return False
            for n in range(place[b], place[b + 1]):
                there += ends[n] == a
            if there != 2:
                return False
    return True


def is_polyhedron(const double[:, ::1] points, const int32_t[::1] begin, const int32_t[::1] loops):
    """Whether loops close: every side is in two of them, in opposite directions, and Euler's formula holds; and turn left
    at every corner, seen against their normals."""
    cdef Py_ssize_t faces = begin.shape[0] - 1
    cdef Py_ssize_t sides = loops.shape[0]
    cdef Py_ssize_t points_count = points.shape[0]
    cdef int32_t[::1] work = np.zeros(points_count + 3 + sides, np.int32)
    cdef const Vec3* p
    cdef const int32_t* loop
    cdef Py_ssize_t vertices = 0
    cdef Py_ssize_t i, k, count
    cdef Vec3 normal, a, b
    if sides == 0 or not close_up(begin, loops, &work[points_count + 3], &work[0]):
        return False
    for i in range(points_count):
        vertices += work[i] < work[i + 1]
    if vertices - sides // 2 + faces != 2:
        return False
    p = <const Vec3*>&points[0, 0]
    for i in range(faces):
        loop, count = &loops[begin[i]], begin[i + 1] - begin[i]
        normal = newell(p, loop, count)
        for k in range(count):
            a = sub(p[loop[(k + 1) % count]], p[loop[k]])
            b = sub(p[loop[(k + 2) % count]], p[loop[(k + 1) % count]])
            if not along(cross(a, b), normal) > 0.0:
                return False
    return True


def face_normals(const double[:, ::1] points, const int32_t[::1] begin, const int32_t[::1] loops):
    """-> (f, 3) unit, outwards"""
    cdef Py_ssize_t i
    normals = np.empty((begin.shape[0] - 1, 3))
    cdef double[:, ::1] out = normals
    for i in range(out.shape[0]):
        (<Vec3*>&out[i, 0])[0] = newell(<const Vec3*>&points[0, 0], &loops[begin[i]], begin[i + 1] - begin[i])
    return normals


def edges_of(const int32_t[::1] begin, const int32_t[::1] loops):
    """-> (e, 2) int32, the lower number first, sorted, of loops that close"""
    cdef Py_ssize_t i, k, count
    cdef Py_ssize_t kept = 0
    keys = np.empty(loops.shape[0], np.int64)
    cdef int64_t[::1] out = keys
    for i in range(begin.shape[0] - 1):
        count = begin[i + 1] - begin[i]
        for k in range(count):
            if loops[begin[i] + k] < loops[begin[i] + (k + 1) % count]:
                out[kept] = side_key(loops[begin[i] + k], loops[begin[i] + (k + 1) % count])
                kept += 1
    keys = np.sort(keys[:kept])
    return np.stack([keys >> 32, keys & 0xffffffff], axis=1).astype(np.int32)
