"""Convex polygons into a picture, each pixel from the one that is nearest there.

Inverse depth 1/z is linear over the picture where z is linear in space, so it is a plane over each polygon (J. F. Blinn,
"Hyperbolic interpolation", IEEE Computer Graphics and Applications 12(4), 1992); a buffer keeps the largest so far of every
sample (E. Catmull's depth buffer, 1974). A pixel is the mean of SAMPLES x SAMPLES samples, which smooths edges.
"""

from libc.math cimport INFINITY, ceil, fabs, sqrt
from libc.stdint cimport uint8_t

cdef enum:
    MOST_CORNERS = 32            # of a polygon

SAMPLES = 2                      # of a pixel, each way: mean_row has that many


cdef struct Edge:
    # Inside is x a + y b + c > 0, which is the distance from the edge.
    double a, b, c


cdef int edges_of(const float* corners, int count, Edge* edges) noexcept nogil:
    """The edges of a convex polygon, whichever way round its corners (count, 3) stand. -> how many have a length"""
    cdef double area = 0.0, dx, dy, length, turn
    cdef int found = 0, i
    cdef const float* p
    cdef const float* q
    for i in range(count):
        p, q = corners + 3 * i, corners + 3 * ((i + 1) % count)
        area += <double> p[0] * q[1] - <double> q[0] * p[1]
    turn = 1.0 if area > 0.0 else -1.0
    for i in range(count):
        p, q = corners + 3 * i, corners + 3 * ((i + 1) % count)
        dx, dy = q[0] - p[0], q[1] - p[1]
        length = sqrt(dx * dx + dy * dy)
        if length > 1e-6:
            edges[found].a = -turn * dy / length
            edges[found].b = turn * dx / length
            edges[found].c = -(edges[found].a * p[0] + edges[found].b * p[1])
            found += 1
    return found


cdef bint inverse_depth_of(const float* corners, int count, double* plane) noexcept nogil:
    """The plane a x + b y + c through three corners (x, y, 1/z) that span the most. -> whether three span anything"""
    cdef double ux, uy, vx, vy, area, best = 0.0
    cdef int i, b = 0
    cdef const float* o = corners
    cdef const float* p
    cdef const float* q
    for i in range(1, count - 1):
        p, q = corners + 3 * i, corners + 3 * (i + 1)
        area = fabs((p[0] - o[0]) * (q[1] - o[1]) - (q[0] - o[0]) * (p[1] - o[1]))
        if area > best:
            best, b = area, i
    if not best > 1e-9:
        return False
    p, q = corners + 3 * b, corners + 3 * (b + 1)
    ux, uy, vx, vy = p[0] - o[0], p[1] - o[1], q[0] - o[0], q[1] - o[1]
    area = ux * vy - vx * uy
    plane[0] = ((p[2] - o[2]) * vy - (q[2] - o[2]) * uy) / area
    plane[1] = ((q[2] - o[2]) * ux - (p[2] - o[2]) * vx) / area
    plane[2] = o[2] - plane[0] * o[0] - plane[1] * o[1]
    return True


cdef inline Py_ssize_t sample(double at, Py_ssize_t count) noexcept nogil:
    """The first of so many samples whose middle is not before that place; count: none is."""
    at = ceil(at - 0.5)
    return 0 if not at > 0.0 else <Py_ssize_t> at if at < count else count


cdef inline void span(const Edge* edges, int n, double inset, double y, Py_ssize_t columns, Py_ssize_t* first,
                      Py_ssize_t* end) noexcept nogil:
    """The samples of a row that are inside of all edges by so much: from `first` up to, not including, `end`."""
    cdef double left = 0.0, right = <double> columns, at
    cdef int i
    for i in range(n):
        at = inset - edges[i].b * y - edges[i].c
        if edges[i].a > 1e-12:
            at /= edges[i].a
            if at > left:
                left = at
        elif edges[i].a < -1e-12:
            at /= edges[i].a
            if at < right:
                right = at
        elif at > 0.0:
            right = -1.0
    first[0], end[0] = sample(left, columns), sample(right, columns)
    if end[0] < first[0]:
        end[0] = first[0]


cdef inline void run(uint8_t* pixel, float* depth, Py_ssize_t count, double inverse, double slope,
                     const float* color) noexcept nogil:
    """Samples in a row, of one colour. inverse: depth of the first, growing by slope from one to the next."""
    cdef Py_ssize_t i
    cdef double opacity = color[3]
    cdef double red = 255.0 * color[0], green = 255.0 * color[1], blue = 255.0 * color[2]
    cdef uint8_t r = <uint8_t> (red + 0.5), g = <uint8_t> (green + 0.5), b = <uint8_t> (blue + 0.5)
    cdef bint keeps = opacity >= 1.0
    for i in range(count):
        if depth == NULL or inverse + i * slope > depth[i]:
            if keeps:
                pixel[3 * i], pixel[3 * i + 1], pixel[3 * i + 2] = r, g, b
                if depth != NULL:
                    depth[i] = <float> (inverse + i * slope)
            else:
                pixel[3 * i] = <uint8_t> (red * opacity + pixel[3 * i] * (1.0 - opacity) + 0.5)
                pixel[3 * i + 1] = <uint8_t> (green * opacity + pixel[3 * i + 1] * (1.0 - opacity) + 0.5)
                pixel[3 * i + 2] = <uint8_t> (blue * opacity + pixel[3 * i + 2] * (1.0 - opacity) + 0.5)


cdef void fill_one(const float* corners, int count, const float* face, const float* border, double width, uint8_t* colors,
                   float* depths, Py_ssize_t columns, Py_ssize_t rows) noexcept nogil:
    """One polygon, in samples from the upper left. width: of its border, inwards [samples]. depths NULL: it lies below all
    that has a depth."""
    cdef Edge edges[MOST_CORNERS]
    cdef double plane[3]
    cdef double low = INFINITY, high = -INFINITY, y, here
    cdef int n = edges_of(corners, count, edges), i
    cdef Py_ssize_t row, at
    cdef Py_ssize_t[4] cuts
    cdef float* depth
    if n < 3 or not inverse_depth_of(corners, count, plane):
        return
    for i in range(count):
        y = corners[3 * i + 1]
        low, high = y if y < low else low, y if y > high else high
    for row in range(sample(low, rows), sample(high, rows)):
        y = row + 0.5
        span(edges, n, 0.0, y, columns, &cuts[0], &cuts[3])
        if cuts[0] == cuts[3]:
            continue
        cuts[1], cuts[2] = cuts[0], cuts[3]
        if width > 0.0:
            span(edges, n, width, y, columns, &cuts[1], &cuts[2])
            if cuts[1] >= cuts[2]:
                cuts[1] = cuts[2] = cuts[3]
        for i in range(3):
            at = row * columns + cuts[i]
            here = plane[0] * (cuts[i] + 0.5) + plane[1] * y + plane[2]
            depth = depths + at if depths != NULL else NULL
            run(colors + 3 * at, depth, cuts[i + 1] - cuts[i], here, plane[0], face if i == 1 else border)


def fill(const float[:, :, ::1] polygons, const float[:, ::1] face, const float[:, ::1] border, double width,
         uint8_t[:, :, ::1] colors, float[:, ::1] depths):
    """Polygons (k, corners, 3) of (x, y, inverse depth), x and y in samples from the upper left, filled with their colours
    (k, 4) in 0 to 1, with a border of `width` samples in others (k, 4), into colors (rows, columns, 3) where they are
    nearer than depths (rows, columns). A corner may stand there twice. depths None: without any. Those that let light
    through come last, from back to front, and are not kept in depths."""
    cdef Py_ssize_t k, rows = colors.shape[0], columns = colors.shape[1]
    cdef int count = <int> polygons.shape[1]
    cdef float* depth = &depths[0, 0] if depths is not None else NULL
    if polygons.shape[2] != 3 or not 3 <= count <= MOST_CORNERS or colors.shape[2] != 3:
        raise ValueError(f"polygons must be (k, 3 to {MOST_CORNERS}, 3) and colors (rows, columns, 3)")
    if not (face.shape[0] == border.shape[0] == polygons.shape[0] and face.shape[1] == border.shape[1] == 4):
        raise ValueError("face and border must be (k, 4), one for each polygon")
    if depths is not None and (depths.shape[0] != rows or depths.shape[1] != columns):
        raise ValueError("depths must be (rows, columns), as colors is")
    with nogil:
        for k in range(polygons.shape[0]):
            fill_one(&polygons[k, 0, 0], count, &face[k, 0], &border[k, 0], width, &colors[0, 0, 0], depth, columns,
                     rows)


def project(const double[:, ::1] vertices, const Py_ssize_t[::1] owners, const double[:, :, ::1] turns,
            const double[:, ::1] origins, double scale, double near, bint orthographic, float[:, ::1] out):
    """Vertices (v, 3) of bodies as samples (v, 3): x to the right, y downwards, and nearness; that is -1 where a vertex is
    not `near` [m] before the eye, orthographic ones are all seen. turns (n, 3, 3), origins (n, 3): from a body's frame to
    right, up and back of the eye; of vertex k those of body owners[k]. scale: samples per unit slope, or per metre. The
    picture's middle is at x = y = 0."""
    cdef Py_ssize_t k, i
    cdef double x, y, z, part
    cdef const double* v
    cdef const double* r
    if vertices.shape[0] != owners.shape[0] or vertices.shape[0] != out.shape[0] or out.shape[1] != 3:
        raise ValueError("owners and out must have an entry for each vertex")
    if vertices.shape[0] == 0:
        return
    with nogil:
        for k in range(vertices.shape[0]):
            i = owners[k]
            v, r = &vertices[k, 0], &turns[i, 0, 0]
            x = r[0] * v[0] + r[1] * v[1] + r[2] * v[2] + origins[i, 0]
            y = r[3] * v[0] + r[4] * v[1] + r[5] * v[2] + origins[i, 1]
            z = r[6] * v[0] + r[7] * v[1] + r[8] * v[2] + origins[i, 2]
            if orthographic:
                part = scale
            elif -z > near:
                part, z = -scale / z, -1.0 / z
            else:
                part, z = 0.0, -1.0
            out[k, 0], out[k, 1], out[k, 2] = <float> (part * x), <float> (-part * y), <float> z


cdef inline bint corners_of(const float* samples, const Py_ssize_t* face, double x, double y, bint orthographic,
                            float* corners) noexcept nogil:
    """The four corners (4, 3) of a face, with the picture's middle at x, y. -> whether all are before the eye"""
    cdef int i
    cdef const float* p
    for i in range(4):
        p = samples + 3 * face[i]
        if p[2] < 0.0 and not orthographic:
            return False
        corners[3 * i], corners[3 * i + 1], corners[3 * i + 2] = p[0] + <float> x, p[1] + <float> y, p[2]
    return True


cdef inline double along(const double* n, const double* direction) noexcept nogil:
    return n[0] * direction[0] + n[1] * direction[1] + n[2] * direction[2]


def fill_faces(const float[:, ::1] samples, const Py_ssize_t[:, ::1] faces, const double[:, ::1] normals,
               const double[::1] reach, const Py_ssize_t[::1] owners, const double[:, ::1] eyes,
               const double[:, ::1] lights, const double[:, ::1] face_colors, const uint8_t[::1] outlined,
               const uint8_t[::1] drawn, double dark, double bright, double edge, double width, bint orthographic,
               uint8_t[:, :, ::1] colors, float[:, ::1] depths):
    """The faces (f, 4) that look at the eye, those that are drawn, of vertices that project() put at samples. normals
    (f, 3) and reach (f,), their planes n.x = reach, in bodies' frames, as eyes (n, 4), homogeneous, and unit vectors
    towards the light (n, 3). Half of Lambert's law wraps the light around, from dark to bright, so that no side is black;
    outlined ones have a border of `width` samples, `edge` times as bright."""
    cdef Py_ssize_t k, i, rows = colors.shape[0], columns = colors.shape[1]
    cdef float[12] corners
    cdef float[4] face
    cdef float[4] border
    cdef double light, part
    cdef int c
    if not (faces.shape[0] == normals.shape[0] == owners.shape[0] == face_colors.shape[0] == outlined.shape[0]
            == drawn.shape[0] == reach.shape[0]) or faces.shape[1] != 4:
        raise ValueError("there must be a normal, a reach, an owner and a color for each face of four corners")
    if faces.shape[0] == 0:
        return
    with nogil:
        for k in range(faces.shape[0]):
            i = owners[k]
            if not drawn[k] or not along(&normals[k, 0], &eyes[i, 0]) > eyes[i, 3] * reach[k]:
                continue
            if not corners_of(&samples[0, 0], &faces[k, 0], 0.5 * columns, 0.5 * rows, orthographic, corners):
                continue
            light = dark + (bright - dark) * 0.5 * (along(&normals[k, 0], &lights[i, 0]) + 1.0)
            for c in range(3):
                part = face_colors[k, c] * light
                part = part if part < 1.0 else 1.0
                face[c], border[c] = <float> part, <float> (edge * part)
            face[3] = border[3] = 1.0
            fill_one(corners, 4, face, border, width if outlined[k] else 0.0, &colors[0, 0, 0], &depths[0, 0], columns,
                     rows)


def fill_shadows(const float[:, ::1] samples, const Py_ssize_t[:, ::1] faces, const double[:, ::1] normals,
                 const Py_ssize_t[::1] owners, const double[:, ::1] lights, const uint8_t[::1] casting,
                 const float[::1] color, bint orthographic, uint8_t[:, :, ::1] colors):
    """The shadows of the faces that see the light and cast one: together they are those of the bodies. samples: where
    project() put the vertices' shadows; the rest is as of fill_faces."""
    cdef Py_ssize_t k, rows = colors.shape[0], columns = colors.shape[1]
    cdef float[12] corners
    if not faces.shape[0] == normals.shape[0] == owners.shape[0] == casting.shape[0] or faces.shape[1] != 4:
        raise ValueError("there must be a normal and an owner for each face of four corners")
    if faces.shape[0] == 0:
        return
    with nogil:
        for k in range(faces.shape[0]):
            if casting[k] and along(&normals[k, 0], &lights[owners[k], 0]) > 0.0:
                if corners_of(&samples[0, 0], &faces[k, 0], 0.5 * columns, 0.5 * rows, orthographic, corners):
                    fill_one(corners, 4, &color[0], &color[0], 0.0, &colors[0, 0, 0], NULL, columns, rows)


def nearest(const int[:, ::1] palette, uint8_t[::1] table):
    """Fills a table for indices(): the number of the color of the palette (k, 3), 0 to 255, that is nearest."""
    cdef Py_ssize_t at
    cdef int red, green, blue, k, far, least, best, count = <int> palette.shape[0]
    cdef int[256] without_blue
    if table.shape[0] != 1 << 18 or palette.shape[1] != 3 or not 0 < count <= 256:
        raise ValueError("table must have 2**18 entries, and the palette (1 to 256, 3)")
    with nogil:
        for at in range(1 << 18):
            # Twice the middle of what the six bits leave open.
            red, green, blue = <int> (8 * (at >> 12) + 3), <int> (8 * (at >> 6 & 63) + 3), <int> (8 * (at & 63) + 3)
            if at & 63 == 0:
                for k in range(count):
                    without_blue[k] = ((red - 2 * palette[k, 0]) * (red - 2 * palette[k, 0])
                                       + (green - 2 * palette[k, 1]) * (green - 2 * palette[k, 1]))
            best, least = 0, 1 << 30
            for k in range(count):
                far = without_blue[k] + (blue - 2 * palette[k, 2]) * (blue - 2 * palette[k, 2])
                if far < least:
                    best, least = k, far
            table[at] = <uint8_t> best


def indices(const uint8_t[:, :, ::1] picture, const uint8_t[::1] table, uint8_t[:, ::1] out):
    """The palette's numbers (height, width) of a picture (height, width, 3): table (2**18,) has them by the upper six bits
    of red, green and blue."""
    cdef Py_ssize_t i, k
    cdef const uint8_t* p
    if table.shape[0] != 1 << 18 or (picture.shape[0], picture.shape[1]) != (out.shape[0], out.shape[1]):
        raise ValueError("table must have 2**18 entries, and out one for each pixel")
    with nogil:
        for i in range(picture.shape[0]):
            for k in range(picture.shape[1]):
                p = &picture[i, k, 0]
                out[i, k] = table[(p[0] >> 2) << 12 | (p[1] >> 2) << 6 | p[2] >> 2]


cdef inline void mean_row(const uint8_t* upper, const uint8_t* lower, uint8_t* out, Py_ssize_t count) noexcept nogil:
    """A row of so many pixels, from the two rows of twice as many samples."""
    cdef Py_ssize_t i, k
    for i in range(count):
        for k in range(3):
            out[3 * i + k] = <uint8_t> ((upper[6 * i + k] + upper[6 * i + 3 + k] + lower[6 * i + k] + lower[6 * i + 3 + k]
                                         + 2) >> 2)


def finish(const uint8_t[:, :, ::1] colors, uint8_t[:, :, ::1] picture):
    """The picture (height, width, 3) of the samples."""
    cdef Py_ssize_t row, rows = picture.shape[0], columns = picture.shape[1]
    if (colors.shape[0] != SAMPLES * rows or colors.shape[1] != SAMPLES * columns or colors.shape[2] != 3
            or picture.shape[2] != 3):
        raise ValueError("colors must have SAMPLES x SAMPLES entries for each pixel of the picture")
    with nogil:
        for row in range(rows):
            mean_row(&colors[2 * row, 0, 0], &colors[2 * row + 1, 0, 0], &picture[row, 0, 0], columns)
