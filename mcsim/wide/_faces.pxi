# Manifolds whose points are all but alike. Included by _contacts.pxi.
#
# Gauss-Seidel over two points whose rows have the coupling c and the diagonals d_1, d_2 leaves c^2 / (d_1 d_2) of a tilt in
# a round. For the feet of what is slender that is nearly all of it, 1 - 6 (b / h)^2 or so for half the thickness b and half
# the height h, and plates and rods that stood on end rocked for good and fell over. There the points that push are solved
# at once, with their impulses x > 0 and u their J v + bias without what x_i itself adds:
#
#     A d = -(A x + q),    (A x + q)_i = u_i + A_ii x_i,    x := x + t d,    t = the largest of [0, 1] that leaves x >= 0
#
# a Newton step on a face of the quadrant x >= 0, along which the energy that the sweeps lessen falls (J. Nocedal, S. J.
# Wright, Numerical Optimization, 2006, 16.6 and 16.7). What is to be added to the face the rounds before it find.

cdef enum:
    PIVOTS = 1 << 30         # of one below such a part of its diagonal the point keeps its impulse: three determine it


cdef inline Wide coupling_of(const WidePoint* point, int i, int j) noexcept nogil:
    return point[j].coupling[i - j - 1] if j < i else point[i].coupling[j - i - 1]


cdef inline void find_alike(ContactBlock* block) noexcept nogil:
    """After set_couplings and the points' masses."""
    cdef const WidePoint* point = block.points
    cdef Wide zero = splat(0.0)
    cdef Wide one = splat(1.0)
    cdef Wide c
    cdef int i, j
    block.alike = zero
    for i in range(1, block.point_count):
        for j in range(i):
            c = splat(<double>ALIKE) * most(coupling_of(point, i, j), zero)
            c = choose(above(c * c, splat(<double>((ALIKE - 1) * (ALIKE - 1))) * point[i].diagonal * point[j].diagonal),
                       one, zero)
            block.alike = most(block.alike, choose(both(above(point[i].mass, zero), above(point[j].mass, zero)), c, zero))
    block.solves_faces = any_lane(above(block.alike, zero))


cdef inline void solve_face(const ContactBlock* block, int count, const Wide* mass, const Wide* u, Wide* x) noexcept nogil:
    """mass: those of the pass; u, x: as above. A = L D L', without what is not on the face."""
    cdef const WidePoint* point = block.points
    cdef Wide zero = splat(0.0)
    cdef Wide one = splat(1.0)
    cdef Wide t = one
    cdef Wide diagonal, pivot
    cdef Wide L[4][4]
    cdef Wide inv[4]             # 1 / D
    cdef Wide d[4]
    cdef Mask on[4]
    cdef int i, j, k
    for i in range(count):
        on[i] = above(x[i], zero)
    for j in range(count):
        diagonal = choose(on[j], inverse(choose(on[j], mass[j], one)), one)
        d[j] = choose(on[j], zero - u[j] - diagonal * x[j], zero)
        pivot = diagonal
        for k in range(j):
            pivot = pivot - L[j][k] * L[j][k] * inv[k]
        inv[j] = choose(above(splat(<double>PIVOTS) * pivot, diagonal), inverse(pivot), zero)
        for i in range(j + 1, count):                        # L D below the diagonal
            L[i][j] = choose(both(on[i], on[j]), coupling_of(point, i, j), zero)
            for k in range(j):
                L[i][j] = L[i][j] - L[i][k] * L[j][k] * inv[k]
    for i in range(count):
        for k in range(i):
            d[i] = d[i] - L[i][k] * inv[k] * d[k]
    for i in range(count - 1, -1, -1):
        for k in range(i + 1, count):
            d[i] = d[i] - L[k][i] * d[k]
        d[i] = d[i] * inv[i]
    for i in range(count):
        t = choose(above(zero - d[i], x[i]), least(t, x[i] * inverse(zero - d[i])), t)
    t = t * block.alike
    for i in range(count):
        x[i] = most(x[i] + t * d[i], zero)
