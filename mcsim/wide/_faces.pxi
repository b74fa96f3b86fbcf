# The points of a manifold at once. Included by _contacts.pxi.
#
# With A = J M^-1 J' + compliance of the points' rows and r their J v + bias + compliance x, where all of them go on pushing
# the impulses that solve the manifold are
#
#     x - A^-1 r >= 0,
#
# which a sweep finds by the inverse that stands in the block: the points of what rests. One point after the other
# (Gauss-Seidel) leaves a tilt towards those that come first, by which a tower that stood straight began to sway. A is
# raised by what leaves its solution as it is, solve by solve, but not what it cannot determine: along the impulses e
# that no body feels (find_unfelt) by 1 / TAMED of the mean diagonal D, and by 1 / RAISED of it for points that lie in
# one place,
#
#     A + (D / TAMED) e e' / (e . e) + diag(A) / RAISED
#
# Without the first, points that hardly yield and lie 1e-8 m off a plane handed all that they bear to two of them. Where a
# point would pull, Gauss-Seidel finds which ones push.
#
# It leaves c^2 / (d_1 d_2) of a tilt in a round over two points whose rows have the coupling c and the diagonals d_1, d_2.
# For the feet of what is slender that is nearly all of it, 1 - 6 (b / h)^2 or so for half the thickness b and half
# the height h, and plates and rods that rocked on an edge rocked for good and fell over. So there the points that push are
# solved at once after it, with u their r without what x_i itself adds:
#
#     A d = -(A x + q),    (A x + q)_i = u_i + A_ii x_i,    x := x + t d,    t = the largest of [0, 1] that leaves x >= 0
#
# a Newton step on a face of the quadrant x >= 0, along which the energy that the sweeps lessen falls (J. Nocedal, S. J.
# Wright, Numerical Optimization, 2006, 16.6 and 16.7).

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


cdef inline Wide find_taming(const ContactBlock* block, Wide* e) noexcept nogil:
    """-> (D / TAMED) / (e . e) where there are four points"""
    cdef const WidePoint* p = block.points
    cdef Wide zero = splat(0.0)
    cdef Wide square, sum
    cdef Mask four
    if block.point_count < 4:
        return zero
    find_unfelt(p, e)
    square = e[0] * e[0] + e[1] * e[1] + e[2] * e[2] + e[3] * e[3]
    sum = p[0].diagonal + p[1].diagonal + p[2].diagonal + p[3].diagonal
    four = both(above(p[3].mass, zero), above(square, zero))
    return choose(four, sum / choose(four, splat(4.0 * TAMED) * square, splat(1.0)), zero)


cdef inline void invert_products(ContactBlock* block, int relaxed, Wide taming, const Wide* e) noexcept nogil:
    """A^-1 of all points that there are, of a pass: L^-T D^-1 L^-1, its lower triangle row by row. 0: of no point. taming,
    e: of find_taming."""
    cdef const WidePoint* point = block.points
    cdef Wide zero = splat(0.0)
    cdef Wide one = splat(1.0)
    cdef Wide raised = choose(above(point[1].mass, zero), splat(1.0 + 1.0 / RAISED), one)
    cdef Wide sum
    cdef Wide L[4][4]
    cdef Wide inv[4]             # 1 / D
    cdef Mask there[4]
    cdef int i, j, k, n = block.point_count
    for i in range(n):
        there[i] = above(point[i].mass, zero)
    for j in range(n):
        sum = raised * (point[j].diagonal if relaxed else point[j].diagonal + point[j].compliance)
        if n == 4:
            sum = sum + taming * e[j] * e[j]
        for k in range(j):
            sum = sum - L[j][k] * L[j][k] * inv[k]
        inv[j] = choose(there[j], inverse(choose(there[j], sum, one)), zero)
        for i in range(j + 1, n):                            # L D below the diagonal
            L[i][j] = choose(both(there[i], there[j]), coupling_of(point, i, j), zero)
            if n == 4:
                L[i][j] = L[i][j] + taming * e[i] * e[j]
            for k in range(j):
                L[i][j] = L[i][j] - L[i][k] * L[j][k] * inv[k]
    for j in range(n):
        for i in range(j + 1, n):
            L[i][j] = L[i][j] * inv[j]
    for j in range(n):
        for i in range(j + 1, n):                            # L^-1 in the place of L
            sum = L[i][j]
            for k in range(j + 1, i):
                sum = sum + L[i][k] * L[k][j]
            L[i][j] = zero - sum
    for j in range(n):
        for i in range(j, n):
            sum = inv[i] if i == j else L[i][j] * inv[i]
            for k in range(i + 1, n):
                sum = sum + L[k][i] * L[k][j] * inv[k]
            block.inverse[relaxed][i * (i + 1) // 2 + j] = sum


cdef inline void set_inverse(ContactBlock* block, bint sprung) noexcept nogil:
    """After set_couplings and the points' compliances. sprung: there are some."""
    cdef Wide e[4]
    cdef Wide taming = find_taming(block, e)
    cdef int i
    invert_products(block, 1, taming, e)
    if sprung:
        invert_products(block, 0, taming, e)
        return
    for i in range(10):
        block.inverse[0][i] = block.inverse[1][i]


cdef inline Wide push_at_once(const ContactBlock* block, int count, int relaxed, const Wide* mass, const Wide* u,
                              const Wide* x, Wide* pushed) noexcept nogil:
    """pushed: the impulses if all points push. mass, u, x: as above. -> the least of them. A point alone is solved as in a
    block of such points, to the bit."""
    cdef const WidePoint* point = block.points
    cdef const Wide* a = block.inverse[relaxed]
    cdef Wide r[4]
    cdef Wide lowest
    cdef int i, j
    for i in range(count):
        r[i] = u[i] + (point[i].diagonal if relaxed else point[i].diagonal + point[i].compliance) * x[i]
    for i in range(count):
        pushed[i] = x[i]
        for j in range(count):
            pushed[i] = pushed[i] - (a[i * (i + 1) // 2 + j] if j <= i else a[j * (j + 1) // 2 + i]) * r[j]
    pushed[0] = choose(above(point[1].mass, splat(0.0)), pushed[0], -mass[0] * u[0])
    lowest = pushed[0]
    for i in range(1, count):
        lowest = least(lowest, pushed[i])
    return lowest
