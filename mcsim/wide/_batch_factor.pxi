# The matrix of the joints' rows of articulations that stand side by side, and its factor. Included by _batches.pxi.

cdef inline Wide6 inertia_of(const Wide* mass) noexcept nogil:
    cdef Wide6 m
    m.xx = mass[1]
    m.xy = mass[2]
    m.xz = mass[3]
    m.yy = mass[4]
    m.yz = mass[5]
    m.zz = mass[6]
    return m


cdef inline void load_batch_masses(const Batch* batch, const Bodies* bodies) noexcept nogil:
    cdef Wide* out = <Wide*>batch.masses
    cdef Wide6 m
    cdef int k
    for k in range(batch.shape.body_count):
        out[0] = gather(bodies.inv_mass, batch.body + 8 * k, 1)
        m = gather_inertia(<const double*>bodies.inv_inertia_world, batch.body + 8 * k)
        out[1] = m.xx
        out[2] = m.xy
        out[3] = m.xz
        out[4] = m.yy
        out[5] = m.yz
        out[6] = m.zz
        out += MASS_NUMBERS


cdef inline void side_rows(const Wide* arms, int side, int size, Wide3* out) noexcept nogil:
    """The angular Jacobians of a joint's rows on one side."""
    angular_rows(three(arms + 3 * side), out)
    if size == 5:
        out[3] = three(arms + 6)
        out[4] = three(arms + 9)


cdef inline void batch_diagonal(const Batch* batch, const BatchNode* node, int k, int m) noexcept nogil:
    """I^-1 J' and the diagonal block of a node."""
    cdef Wide* d = <Wide*>batch.values + node.diagonal
    cdef Wide* spins
    cdef const Wide* mass
    cdef Wide3 angular[5]
    cdef Wide3 spin
    cdef Wide6 inertia
    cdef int side, p, q
    for p in range(m * m):
        d[p] = splat(0.0)
    for side in range(2):
        if not node.sides >> side & 1:
            continue
        mass = <const Wide*>batch.masses + MASS_NUMBERS * (node.b if side else node.a)
        inertia = inertia_of(mass)
        spins = <Wide*>batch.spins + SPIN_NUMBERS * (2 * k + side)
        side_rows(<const Wide*>batch.arms + ARM_NUMBERS * k, side, m, angular)
        for q in range(m):
            spin = w_times(&inertia, angular[q])
            put_three(spin, spins + 3 * q)
            for p in range(q, m):
                d[m * p + q] = d[m * p + q] + w_dot(angular[p], spin)
        for p in range(3):
            d[(m + 1) * p] = d[(m + 1) * p] + mass[0]
    for p in range(m):
        (<Wide*>batch.scale)[node.row + p] = d[(m + 1) * p]
        for q in range(p):
            d[m * q + p] = d[m * p + q]


cdef inline void batch_coupling(const Batch* batch, const BatchEntry* entry, int column, int n, int m) noexcept nogil:
    """The block of a node's column in the row of another joint at one of its bodies."""
    cdef Wide* block = <Wide*>batch.values + entry.value
    cdef const Wide* spins = <const Wide*>batch.spins + SPIN_NUMBERS * (2 * column + entry.column_side)
    cdef Wide mass = (<const Wide*>batch.masses)[MASS_NUMBERS * entry.body]
    cdef Wide sign = splat(1.0 if entry.row_side == entry.column_side else -1.0)
    cdef Wide3 angular[5]
    cdef Wide x
    cdef int p, q
    side_rows(<const Wide*>batch.arms + ARM_NUMBERS * entry.node, entry.row_side, n, angular)
    for p in range(n):
        for q in range(m):
            x = w_dot(angular[p], three(spins + 3 * q))
            if p == q and p < 3:
                x = mass + x
            block[m * p + q] = sign * x


cdef inline void batch_invert(Wide* d, const Wide* scale, int m) noexcept nogil:
    """d <- d^-1 by sweeps (solve/_tree_blocks.pxd, invert_block)."""
    cdef Wide pivot, f
    cdef int i, j, p
    for p in range(m):
        pivot = d[(m + 1) * p]
        pivot = choose(above(pivot, splat(1e-12) * scale[p]), splat(1.0) / pivot, splat(0.0))
        d[(m + 1) * p] = splat(1.0)
        for j in range(m):
            d[m * p + j] = d[m * p + j] * pivot
        for i in range(m):
            if i != p:
                f = d[m * i + p]
                d[m * i + p] = splat(0.0)
                for j in range(m):
                    d[m * i + j] = d[m * i + j] - f * d[m * p + j]


cdef inline void batch_scale(Wide* out, const Wide* x, const Wide* d, int n, int m) noexcept nogil:
    """out = x d, d symmetric (m, m)"""
    cdef Wide s
    cdef int p, q, k
    for p in range(n):
        for q in range(m):
            s = x[m * p] * d[m * q]
            for k in range(1, m):
                s = s + x[m * p + k] * d[m * q + k]
            out[m * p + q] = s


cdef inline void batch_subtract(Wide* out, const Wide* x, const Wide* y, int n, int c, int m) noexcept nogil:
    """out -= x y', out (n, c), x (n, m), y (c, m)"""
    cdef Wide s
    cdef int p, q, k
    for p in range(n):
        for q in range(c):
            s = out[c * p + q]
            for k in range(m):
                s = s - x[m * p + k] * y[m * q + k]
            out[c * p + q] = s


cdef inline void batch_eliminate(const Batch* batch, const BatchNode* node, int m) noexcept nogil:
    """A column of L, and what it leaves in the columns behind it."""
    cdef const BatchShape* shape = batch.shape
    cdef Wide* values = <Wide*>batch.values
    cdef Wide* scaled = <Wide*>batch.scaled
    cdef const BatchEntry* entry
    cdef const BatchUpdate* update
    cdef Wide* out
    cdef const Wide* left
    cdef int e, u
    batch_invert(values + node.diagonal, <const Wide*>batch.scale + node.row, m)
    for e in range(node.entry, node.entry_end):
        entry = &shape.entries[e]
        if shape.nodes[entry.node].size == 3:
            batch_scale(scaled + entry.value, values + entry.value, values + node.diagonal, 3, m)
        else:
            batch_scale(scaled + entry.value, values + entry.value, values + node.diagonal, 5, m)
    for e in range(node.entry, node.entry_end):
        entry = &shape.entries[e]
        for u in range(entry.update, entry.update_end):
            update = &shape.updates[u]
            out = values + update.target
            left = values + shape.entries[update.left].value
            if update.rows == 3 and update.columns == 3:
                batch_subtract(out, left, scaled + entry.value, 3, 3, m)
            elif update.rows == 5 and update.columns == 5:
                batch_subtract(out, left, scaled + entry.value, 5, 5, m)
            else:
                batch_subtract(out, left, scaled + entry.value, update.rows, update.columns, m)


cdef void factor_batches(const Batch* batches, Py_ssize_t count, const Bodies* bodies) noexcept nogil:
    cdef const Batch* batch
    cdef const BatchNode* node
    cdef Py_ssize_t n
    cdef int k, e
    for n in range(count):
        batch = &batches[n]
        load_batch_masses(batch, bodies)
        for k in range(batch.shape.node_count):
            node = &batch.shape.nodes[k]
            if node.size == 3:
                batch_diagonal(batch, node, k, 3)
            else:
                batch_diagonal(batch, node, k, 5)
            for e in range(node.entry, node.entry_end):
                batch_coupling(batch, &batch.shape.entries[e], k, batch.shape.nodes[batch.shape.entries[e].node].size,
                              node.size)
        for k in range(batch.shape.node_count):
            node = &batch.shape.nodes[k]
            if node.size == 3:
                batch_eliminate(batch, node, 3)
            else:
                batch_eliminate(batch, node, 5)
