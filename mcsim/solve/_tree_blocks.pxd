"""Blocks of the joints' system (_tree.pyx): assembled of two joints' rows, multiplied, inverted and substituted."""

from libc.math cimport fabs
from libc.stdint cimport int64_t
from mcsim.core._math cimport add_scaled, dot, inverse_symmetric, vec3
from mcsim.core._types cimport Mat3, Twist, Vec3
from mcsim.solve._pivots cimport SMALLEST_PIVOT
from mcsim.solve._tree cimport Entry, Node
from mcsim.state._bodies cimport Bodies
from mcsim.state._row cimport JointRow

cdef enum:
    SIDE_A = 1
    SIDE_B = 2
    SHARE_AA = 1             # entry codes of two joints: side of the row's node, side of the column's node
    SHARE_AB = 2
    SHARE_BA = 4
    SHARE_BB = 8
    HUB_AT_A = 16            # entry codes of a joint and a hub: which side of the joint the hub is
    HUB_AT_B = 32

cdef extern from *:
    """
    /* Part of a diagonal: where less than this is left, too little of its sixteen digits may be. */
    #define MC_DOUBTFUL 1e-6
    """
    const double DOUBTFUL "MC_DOUBTFUL"


cdef inline void diagonal_block(double* d, const JointRow* own, int m, double mass_a, double mass_b,
                                int sides) noexcept nogil:
    """J M^-1 J' over the bodies that `sides` names; mass_a, mass_b are their inverse masses, or 0."""
    cdef double mass = mass_a + mass_b
    cdef double x
    cdef int p, q
    for p in range(m):
        for q in range(p + 1):
            x = mass * dot(own[p].linear, own[q].linear)
            if sides & SIDE_A:
                x += dot(own[p].angular_a, own[q].spin_a)
            if sides & SIDE_B:
                x += dot(own[p].angular_b, own[q].spin_b)
            d[p * m + q] = x
            d[q * m + p] = x


cdef inline void add_coupling(double* block, const JointRow* other, int n, const JointRow* own, int m, double mass,
                              bint other_b, bint own_b) noexcept nogil:
    """+ J_other M^-1 J_own' over one body, which is b of the joint where the flag says so, else a."""
    cdef double sign = 1.0 if other_b == own_b else -1.0
    cdef double x
    cdef int p, q
    mass *= sign
    for p in range(n):
        for q in range(m):
            x = dot(other[p].angular_b if other_b else other[p].angular_a, own[q].spin_b if own_b else own[q].spin_a)
            block[p * m + q] += mass * dot(other[p].linear, own[q].linear) + sign * x


cdef inline void couple(double* block, const JointRow* other, int n, const JointRow* own, int m, const Node* column,
                        int code, const Bodies* bodies) noexcept nogil:
    if code & SHARE_AA:
        add_coupling(block, other, n, own, m, bodies.inv_mass[column.body_a], False, False)
    if code & SHARE_AB:
        add_coupling(block, other, n, own, m, bodies.inv_mass[column.body_b], False, True)
    if code & SHARE_BA:
        add_coupling(block, other, n, own, m, bodies.inv_mass[column.body_a], True, False)
    if code & SHARE_BB:
        add_coupling(block, other, n, own, m, bodies.inv_mass[column.body_b], True, True)


cdef inline void subtract_product(double* out, const double* x, const double* y, int n, int m, int w) noexcept nogil:
    """out -= x y', out (n, m), x (n, w), y (m, w)."""
    cdef double s
    cdef int p, q, k
    for p in range(n):
        for q in range(m):
            s = 0.0
            for k in range(w):
                s += x[p * w + k] * y[q * w + k]
            out[p * m + q] -= s


cdef inline void times_symmetric(double* out, const double* x, const double* d, int n, int w) noexcept nogil:
    """out = x d, x (n, w), d (w, w) symmetric."""
    cdef double s
    cdef int p, q, k
    for p in range(n):
        for q in range(w):
            s = 0.0
            for k in range(w):
                s += x[p * w + k] * d[q * w + k]
            out[p * w + q] = s


cdef inline void times_triple(double* out, double* columns, const double* x, const double* d) noexcept nogil:
    """The same of blocks (3, 3), also as columns of four numbers."""
    cdef double s
    cdef int p, q
    for p in range(3):
        for q in range(3):
            s = (x[3 * p] * d[3 * q] + x[3 * p + 1] * d[3 * q + 1]) + x[3 * p + 2] * d[3 * q + 2]
            out[3 * p + q] = s
            columns[4 * q + p] = s


cdef inline bint invert_block(double* d, int m, const double* scale) noexcept nogil:
    """d <- d^-1 (m, m) by sweeps (J. Goodnight, 1979), of either sign; a pivot below SMALLEST_PIVOT of its scale is set
    to 0 with its row and column. -> whether one was below DOUBTFUL"""
    cdef double t[36]
    cdef double pivot, f
    cdef int i, j, p
    cdef bint doubtful = False
    for i in range(m * m):
        t[i] = d[i]
    for p in range(m):
        pivot = t[p * m + p]
        doubtful = doubtful or fabs(pivot) < DOUBTFUL * scale[p]
        if not fabs(pivot) > SMALLEST_PIVOT * scale[p]:
            for i in range(m):
                t[p * m + i] = 0.0
                t[i * m + p] = 0.0
            continue
        pivot = 1.0 / pivot
        t[p * m + p] = 1.0
        for j in range(m):
            t[p * m + j] *= pivot
        for i in range(m):
            if i != p:
                f = t[i * m + p]
                t[i * m + p] = 0.0
                for j in range(m):
                    t[i * m + j] -= f * t[p * m + j]
    for i in range(m * m):
        d[i] = t[i]
    return doubtful


# A chain's substitution waits for each node's sums. So numbers of the node stay in registers, and of a sum the first
# product, which is there first, is subtracted by itself.

cdef inline void forward(const double* block, const double* a, double* b, int n, int m) noexcept nogil:
    """b -= L a"""
    cdef double s, first
    cdef int p, q
    for p in range(n):
        first = b[p] - block[p * m] * a[0]
        if m > 1:
            s = block[p * m + 1] * a[1]
            for q in range(2, m):
                s += block[p * m + q] * a[q]
            first -= s
        b[p] = first


cdef inline void backward(const double* block, double* a, const double* b, int n, int m) noexcept nogil:
    """a -= L' b"""
    cdef double s
    cdef int p, q
    for q in range(m):
        a[q] -= block[q] * b[0]
        if n > 1:
            s = block[m + q] * b[1]
            for p in range(2, n):
                s += block[p * m + q] * b[p]
            a[q] -= s


cdef inline void forward_node(double* x, const Node* node, int m, const Node* nodes, const Entry* entries,
                              const double* scaled) noexcept nogil:
    cdef double a[6]
    cdef const Node* other
    cdef int64_t e
    cdef int p
    for p in range(m):
        a[p] = x[node.offset + p]
    for e in range(node.entry_begin, node.entry_end):
        other = &nodes[entries[e].node]
        if other.size == m:
            forward(scaled + entries[e].value, a, x + other.offset, m, m)
        else:
            forward(scaled + entries[e].value, a, x + other.offset, other.size, m)


cdef inline void backward_node(double* x, const Node* node, int m, const Node* nodes, const Entry* entries,
                               const double* scaled, const double* inverse) noexcept nogil:
    cdef double a[6]
    cdef double s
    cdef const Node* other
    cdef int64_t e
    cdef int p, q
    for p in range(m):
        s = inverse[p] * x[node.offset]
        for q in range(1, m):
            s += inverse[q * m + p] * x[node.offset + q]
        a[p] = s
    for e in range(node.entry_begin, node.entry_end):
        other = &nodes[entries[e].node]
        if other.size == m:
            backward(scaled + entries[e].value, a, x + other.offset, m, m)
        else:
            backward(scaled + entries[e].value, a, x + other.offset, other.size, m)
    for p in range(m):
        x[node.offset + p] = a[p]


cdef inline void push_joint(const JointRow* own, const double* x, int m, double mass_a, double mass_b, Twist* a,
                        Twist* b) noexcept nogil:
    """twist += M^-1 J' x of the two bodies of a joint."""
    cdef Vec3 force = vec3(0.0, 0.0, 0.0)
    cdef Vec3 wa = a.w
    cdef Vec3 wb = b.w
    cdef int p
    for p in range(m):
        force = add_scaled(force, x[p], own[p].linear)
        wa = add_scaled(wa, -x[p], own[p].spin_a)
        wb = add_scaled(wb, x[p], own[p].spin_b)
    a.v = add_scaled(a.v, -mass_a, force)
    a.w = wa
    b.v = add_scaled(b.v, mass_b, force)
    b.w = wb


cdef inline void hub_block(const Bodies* bodies, int i, double* d) noexcept nogil:
    """-M of a body, (6, 6), the inverse of what other bodies are taken with."""
    cdef Mat3 inertia = inverse_symmetric(bodies.inv_inertia_world[i])
    cdef int p, q
    for p in range(36):
        d[p] = 0.0
    for p in range(3):
        d[7 * p] = -1.0 / bodies.inv_mass[i]
        for q in range(3):
            d[6 * (3 + p) + 3 + q] = -(&inertia.xx)[3 * p + q]


cdef inline double hub_jacobian(const JointRow* row, int code, int p) noexcept nogil:
    """Number p of the row's six on the hub."""
    if p < 3:
        return (&row.linear.x)[p] if code & HUB_AT_B else -(&row.linear.x)[p]
    return (&row.angular_b.x)[p - 3] if code & HUB_AT_B else -(&row.angular_a.x)[p - 3]
