"""The arithmetic of an interior-point method on a contact's cone L = {x_0 >= |t|}, the cone of second order in 3-space.

Products, powers and determinants are those of its Jordan algebra: x o v = (x . v, x_0 t_v + v_0 t_x),
det x = x_0^2 - |t|^2 = (x_0 - |t|)(x_0 + |t|), e = (1, 0, 0). Between two points x, v inside stands the scaling W of
Nesterov and Todd, symmetric, with W x = W^-1 v = lambda: from the points of determinant 1,

    x~ = x / sqrt(det x),  v~ = v / sqrt(det v),  g^2 = (1 + x~ . v~) / 2,  h = (det v / det x)^(1/4)
    w = (v~_0 + x~_0, t_v~ - t_x~) / 2 g,         W = h (2 (sqrt w) (sqrt w)' - diag(1, -1, -1))
    lambda = (det x det v)^(1/4) (g, ((g + x~_0) t_v~ + (g + v~_0) t_x~) / (x~_0 + v~_0 + 2 g))

W has the eigenvalues h (w_0 + |w_t|), h, h (w_0 - |w_t|) = h / (w_0 + |w_t|) along (1, s), (0, s turned), (1, -s),
s = w_t / |w_t|. Where a contact slides, x and v both end on the boundary and these lie ten powers of ten apart: no
matrix W^2, nor even W, would keep the smallest. So W is kept as P' S^-1 P, and so are x and v by their smaller
eigenvalue.

Source: L. Vandenberghe, "The CVXOPT linear and quadratic cone program solvers", 2010, sections 4 and 5.
"""

from libc.math cimport INFINITY, sqrt

cdef double ROOT_HALF = sqrt(0.5)


cdef void put_inside(Inside* x, double least, double t1, double t2) noexcept nogil:
    x.least = least
    x.t[0] = t1
    x.t[1] = t2
    x.length = sqrt(t1 * t1 + t2 * t2)
    x.first = least + x.length
    x.root = sqrt(least * (least + 2.0 * x.length))


cdef double product(const Inside* x, const Inside* v) noexcept nogil:
    """x . v, without cancellation where t_x and t_v are all but opposite."""
    cdef double sum = x.least * v.least + x.least * v.length + v.least * x.length
    cdef double a, b
    if x.length > 0.0 and v.length > 0.0:
        a = x.t[0] / x.length + v.t[0] / v.length
        b = x.t[1] / x.length + v.t[1] / v.length
        sum += 0.5 * x.length * v.length * (a * a + b * b)
    return sum


cdef double way_out(const Inside* x, const double* d) noexcept nogil:
    """The length at which x + length d leaves the cone: the least root of det x + 2 b length + det d length^2."""
    cdef double a = d[0] * d[0] - d[1] * d[1] - d[2] * d[2]
    cdef double along = (x.t[0] * d[1] + x.t[1] * d[2]) / x.length if x.length > 0.0 else 0.0
    cdef double b = x.least * d[0] + x.length * (d[0] - along)
    cdef double c = x.root * x.root
    cdef double root = b * b - a * c
    if not (a < 0.0 or (b < 0.0 and root >= 0.0)):
        return INFINITY
    root = sqrt(max(root, 0.0)) - b
    return c / root if root > 0.0 else INFINITY


cdef void go(Inside* x, const double* d, double length) noexcept nogil:
    """x <- x + length d, with |t + s| - |t| = (2 t . s + s . s) / (|t + s| + |t|)."""
    cdef double a = length * d[1]
    cdef double b = length * d[2]
    cdef double t1 = x.t[0] + a
    cdef double t2 = x.t[1] + b
    cdef double sum = sqrt(t1 * t1 + t2 * t2) + x.length
    cdef double least = x.least + length * d[0]
    if sum > 0.0:
        least -= (a * (2.0 * x.t[0] + a) + b * (2.0 * x.t[1] + b)) / sum
    put_inside(x, least, t1, t2)


cdef void scale(const Inside* x, const Inside* v, Scaling* to) noexcept nogil:
    cdef double both = x.root * v.root
    cdef double g = sqrt(0.5 * (1.0 + product(x, v) / both))
    cdef double h = sqrt(v.root / x.root)
    cdef double x0 = x.first / x.root
    cdef double v0 = v.first / v.root
    cdef double w[2]
    cdef double length, large
    cdef int i
    for i in range(2):
        w[i] = (v.t[i] / v.root - x.t[i] / x.root) / (2.0 * g)
    length = sqrt(w[0] * w[0] + w[1] * w[1])
    large = (x0 + v0) / (2.0 * g) + length
    w[0] = w[0] / length if length > 0.0 else 1.0
    w[1] = w[1] / length if length > 0.0 else 0.0
    to.basis[0] = to.basis[3] = ROOT_HALF
    for i in range(2):
        to.basis[1 + i] = ROOT_HALF * w[i]
        to.basis[4 + i] = -ROOT_HALF * w[i]
    to.basis[6], to.basis[7], to.basis[8] = 0.0, -w[1], w[0]
    to.factor[0], to.factor[1], to.factor[2] = 1.0 / (large * h), large / h, 1.0 / h
    to.point[0] = sqrt(both) * g
    for i in range(2):
        to.point[1 + i] = sqrt(both) * ((g + x0) * v.t[i] / v.root + (g + v0) * x.t[i] / x.root) / (x0 + v0 + 2.0 * g)
    to.determinant = both


cdef void divide(const Scaling* s, const double* r, double* out) noexcept nogil:
    """lambda o out = r"""
    cdef double first = (s.point[0] * r[0] - s.point[1] * r[1] - s.point[2] * r[2]) / s.determinant
    out[1] = (r[1] - s.point[1] * first) / s.point[0]
    out[2] = (r[2] - s.point[2] * first) / s.point[0]
    out[0] = first


cdef void jordan(const double* a, const double* b, double* out) noexcept nogil:
    """out = a o b"""
    cdef double first = a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
    out[1] = a[0] * b[1] + b[0] * a[1]
    out[2] = a[0] * b[2] + b[0] * a[2]
    out[0] = first


cdef void scaled(const Scaling* s, const double* y, bint inverse, double* out) noexcept nogil:
    """out = W y, or W^-1 y."""
    cdef double z[3]
    cdef int i, j
    for i in range(3):
        z[i] = 0.0
        for j in range(3):
            z[i] += s.basis[3 * i + j] * y[j]
        z[i] = z[i] * s.factor[i] if inverse else z[i] / s.factor[i]
    for j in range(3):
        out[j] = 0.0
        for i in range(3):
            out[j] += s.basis[3 * i + j] * z[i]


cdef void aim_inside(const Scaling* s, double target, const double* x, const double* v, double* out) noexcept nogil:
    """P c, lambda o c = target e - lambda o lambda - (W x) o (W^-1 v), the last of which only if x is not NULL."""
    cdef double a[3]
    cdef double b[3]
    cdef double d[3]
    cdef int r, c
    jordan(s.point, s.point, d)
    if x != NULL:
        scaled(s, x, False, a)
        scaled(s, v, True, b)
        jordan(a, b, a)
        for r in range(3):
            d[r] += a[r]
    for r in range(3):
        d[r] = (target if r == 0 else 0.0) - d[r]
    divide(s, d, a)
    for r in range(3):
        out[r] = 0.0
        for c in range(3):
            out[r] += s.basis[3 * r + c] * a[c]
