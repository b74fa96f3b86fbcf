# A piece of the flight of trees, one state a lane: the equations stand in _flight.pyx. Included after _kernels.pxi. Of
# trees [first, end) there is at least one.

from libc.string cimport memcpy

from mcsim.reduced._motion cimport Block
from mcsim.reduced._piece cimport Flight, Piece, Rider
from mcsim.reduced._turn cimport MOST_COORDINATES, drifts_straight

# ---- small formulas --------------------------------------------------------------------------------------------------

cdef inline Wide3 inwards(const LinkState* s, Wide3 a) noexcept nogil:
    """A vector in a link's axes."""
    return wide3(w_dot(s.x, a), w_dot(s.y, a), w_dot(s.z, a))


cdef inline Wide3 outwards(const LinkState* s, Wide3 a) noexcept nogil:
    return w_add_scaled(w_add_scaled(w_scale(a.x, s.x), a.y, s.y), a.z, s.z)


cdef inline Wide3 own_spin_momentum(const double* i, Wide3 w) noexcept nogil:
    """Inertia about the centre of mass, link axes, times w."""
    return wide3(splat(i[0]) * w.x + splat(i[1]) * w.y + splat(i[2]) * w.z,
                 splat(i[1]) * w.x + splat(i[3]) * w.y + splat(i[4]) * w.z,
                 splat(i[2]) * w.x + splat(i[4]) * w.y + splat(i[5]) * w.z)


cdef inline Wide own_energy(const Link* link, Wide3 spin, Wide3 speed) noexcept nogil:
    """Kinetic energy of a twist in the link's axes."""
    cdef Wide3 v = w_add(speed, w_cross(spin, splat3(&link.com.x)))
    return splat(0.5) * (splat(link.mass) * w_dot(v, v) + w_dot(spin, own_spin_momentum(link.inertia, spin)))


cdef inline Wide energy_of(const Link* link, const LinkState* s, const Motion* m) noexcept nogil:
    """The same of a twist in the world's."""
    cdef Wide3 v = w_add(m.v, w_cross(m.w, s.com))
    return splat(0.5) * (splat(link.mass) * w_dot(v, v) + w_dot(m.w, w_times(&s.about_com, m.w)))


cdef inline void push_root(const Link* link, Wide* rates, Wide3 velocity) noexcept nogil:
    """A loose tree's root also at this velocity."""
    cdef int i
    for i in range(3):
        rates[link.v + i] = rates[link.v + i] + w_dot(velocity, splat3(&link.turn[3 * i]))


cdef inline void drift_link(const Flight* f, const Link* link, Wide* q, Wide h, const Wide* w) noexcept nogil:
    """A joint's coordinates q after h at the velocities w. What turns is turned lane by lane."""
    cdef double at[MOST_COORDINATES]
    cdef double rates[MOST_COORDINATES]
    cdef int k, lane, count
    if drifts_straight(link):
        for k in range(link.freedoms):
            q[k] = q[k] + h * w[k]
        return
    count = link.freedoms + 1 if link.quaternion >= 0 else link.freedoms
    for lane in range(WIDTH):
        for k in range(count):
            at[k] = lane_of(&q[k], lane)
        for k in range(link.freedoms):
            rates[k] = lane_of(&w[k], lane)
        f.drift(link, at, lane_of(&h, lane), rates)
        for k in range(count):
            put(&q[k], lane, at[k])


cdef inline Py_ssize_t first_q(const Flight* f, Py_ssize_t k) noexcept nogil:
    """Where a tree's coordinates begin."""
    return f.tree.links[f.trees[k].first_link].q


cdef inline Py_ssize_t end_q(const Flight* f, Py_ssize_t k) noexcept nogil:
    """And where they end."""
    cdef Py_ssize_t link = f.trees[k].end_link
    return f.tree.links[link].q if link < f.tree.count else f.tree.nq


cdef inline Py_ssize_t end_v(const Flight* f, Py_ssize_t k) noexcept nogil:
    """Where its velocities do."""
    return f.trees[k].first + f.trees[k].count


cdef inline void choose_trees(Flight* f, Py_ssize_t first, Py_ssize_t end) noexcept nogil:
    """Kernels work on these trees."""
    f.tree.first, f.tree.end = f.trees[first].first_link, f.trees[end - 1].end_link


cdef inline void drift_from_start(Flight* f, Py_ssize_t first, Py_ssize_t end, Wide h) noexcept nogil:
    """q after h at the mean velocities, from the piece's start."""
    cdef Py_ssize_t i
    cdef const Link* link
    for i in range(first_q(f, first), end_q(f, end - 1)):
        f.q[i] = f.start[i]
    for i in range(f.tree.first, f.tree.end):
        link = &f.tree.links[i]
        drift_link(f, link, &f.q[link.q], h, &f.mean[link.v])

# ---- rotors ----------------------------------------------------------------------------------------------------------

cdef enum Rates:
    AT_START = 0
    MIRRORED = 1
    MEAN = 2
    AT_END = 3


cdef inline Wide rotors(const Flight* f, Py_ssize_t k, int which) noexcept nogil:
    """The energy of a tree's rotors at one of these rates [J]."""
    cdef const Block* block = &f.trees[k]
    cdef const Wide* start = f.start + f.tree.nq
    cdef Wide found = splat(0.0)
    cdef Wide rate, twice
    cdef const Link* link
    cdef Py_ssize_t i, v
    cdef int j
    for i in range(block.first_link, block.end_link if f.turns_rotors else block.first_link):
        link = &f.tree.links[i]
        twice = splat(0.0)
        for j in range(link.freedoms if not link.given else 0):
            v = link.v + j
            if which == AT_START:
                rate = start[v]
            elif which == MIRRORED:
                rate = splat(2.0) * f.mean[v] - start[v]
            else:
                rate = f.mean[v] if which == MEAN else f.qd[v]
            twice = twice + splat(link.armature[j]) * rate * rate
        found = found + splat(0.5) * twice
    return found


cdef inline void spin_rotors(Flight* f, bint mirrored) noexcept nogil:
    """After set_joints: and the momenta that rotors have brought along, or their mirror images."""
    cdef const Wide* start = f.start + f.tree.nq
    cdef const Link* link
    cdef Wide rate
    cdef Py_ssize_t i, v
    cdef int k
    for i in range(f.tree.first, f.tree.end if f.turns_rotors else f.tree.first):
        link = &f.tree.links[i]
        for k in range(link.freedoms if not link.given else 0):
            v = link.v + k
            if mirrored:
                rate = splat(2.0) * f.mean[v] - start[v]
            else:
                rate = start[v]
            f.given[v] = f.given[v] + splat(link.armature[k]) * rate

# ---- a piece ---------------------------------------------------------------------------------------------------------

cdef inline void board(Flight* f, Py_ssize_t k, const Wide* forces) noexcept nogil:
    """After move: what a piece of a tree begins with, however long it is."""
    cdef const Block* block = &f.trees[k]
    cdef Piece* piece = &f.pieces[k]
    cdef const Link* link = &f.tree.links[block.first_link]
    cdef const LinkState* s
    cdef Rider* rider
    cdef Wide zero = splat(0.0)
    cdef Wide mass
    cdef Wide3 momentum = wide3(zero, zero, zero)
    cdef Wide3 force, moment, com, v, weight
    cdef const Wide* applied
    cdef Py_ssize_t i
    cdef int j
    force, moment = momentum, momentum
    piece.loose = link.loose
    for j in range(3 if piece.loose else 0):             # what tau does along the root's axes
        force = w_add_scaled(force, f.tau[link.v + j], splat3(&link.turn[3 * j]))
    piece.mass = piece.lifting = zero
    piece.before = rotors(f, k, AT_START)
    piece.middle = piece.velocity = piece.acceleration = momentum
    for i in range(block.first_link, block.end_link):
        link, s, rider = &f.tree.links[i], &f.tree.states[i + 1], &f.riders[i]
        mass = splat(link.mass)
        weight = splat3(&link.weight.x)
        com = w_add(s.position, s.com)
        rider.com = com
        v = w_add(s.velocity.v, w_cross(s.velocity.w, s.com))
        rider.haste = w_dot(v, v)
        piece.lifting = piece.lifting + mass * (size_of(splat(link.pull.x) * com.x) + size_of(
            splat(link.pull.y) * com.y) + size_of(splat(link.pull.z) * com.z))
        if piece.loose:
            piece.mass = piece.mass + mass
            moment = w_add_scaled(moment, mass, com)
            momentum = w_add_scaled(momentum, mass, v)
            force = w_add_scaled(force, mass, weight)
            if forces != NULL:
                applied = forces + 6 * link.body
                force = w_add(force, wide3(applied[0], applied[1], applied[2]))
    if piece.loose:
        mass = splat(1.0) / piece.mass
        piece.middle = w_scale(mass, moment)
        piece.velocity = w_scale(mass, momentum)
        piece.acceleration = w_scale(mass, force)
    for i in range(block.first_link, block.end_link):
        link, s, rider = &f.tree.links[i], &f.tree.states[i + 1], &f.riders[i]
        rider.spin = inwards(s, s.velocity.w)
        rider.speed = inwards(s, w_sub(s.velocity.v, piece.velocity))
        if not link.prescribed:
            piece.before = piece.before + own_energy(link, rider.spin, rider.speed)


cdef inline Force momentum_of(const Flight* f, Py_ssize_t i, Wide3 spin, Wide3 speed) noexcept nogil:
    """Of a link with this twist in its own axes, about its origin, where it is now."""
    cdef const LinkState* s = &f.tree.states[i + 1]
    cdef Motion m
    m.w, m.v = outwards(s, spin), outwards(s, speed)
    return inertial_force(&f.tree.links[i], s, &m)


cdef inline void set_forces(Flight* f, Py_ssize_t k, Wide h, const Wide* forces) noexcept nogil:
    """After move at guessed mean velocities: the links' bias as h/2 (p - f) - M V0, so that velocities are found. Of a
    loose tree the acceleration that all of it has is left out."""
    cdef const Link* link
    cdef LinkState* s
    cdef Force p, had
    cdef Wide3 shared
    cdef Wide zero = splat(0.0)
    cdef Wide half = splat(0.5) * h
    cdef Py_ssize_t i
    for i in range(f.trees[k].first_link, f.trees[k].end_link):
        link, s = &f.tree.links[i], &f.tree.states[i + 1]
        p = bias_force(link, s, forces)
        shared = w_scale(splat(link.mass), f.pieces[k].acceleration)
        p.f = w_add(p.f, shared)
        p.n = w_add(p.n, w_cross(s.com, shared))
        had = momentum_of(f, i, f.riders[i].spin, f.riders[i].speed)
        s.force.n = w_sub(w_scale(half, p.n), had.n)
        s.force.f = w_sub(w_scale(half, p.f), had.f)
        s.bias.w = s.bias.v = wide3(zero, zero, zero)


cdef inline void set_momenta(Flight* f, Py_ssize_t k) noexcept nogil:
    """The links' bias as -M V1."""
    cdef LinkState* s
    cdef Force had
    cdef Wide zero = splat(0.0)
    cdef Py_ssize_t i
    for i in range(f.trees[k].first_link, f.trees[k].end_link):
        s = &f.tree.states[i + 1]
        had = momentum_of(f, i, f.riders[i].turned_spin, f.riders[i].turned_speed)
        s.force.n, s.force.f = w_scale(splat(-1.0), had.n), w_scale(splat(-1.0), had.f)
        s.bias.w = s.bias.v = wide3(zero, zero, zero)


cdef inline void set_joints(Flight* f, Py_ssize_t v, Py_ssize_t end, Wide elapsed, Wide part) noexcept nogil:
    """`given`: impulses of the joints' forces in this part of the time; of given joints their velocities by then."""
    cdef const Link* link
    cdef Py_ssize_t i, nq = f.tree.nq
    cdef int k
    for i in range(v, end):
        f.given[i] = part * f.tau[i]
    for i in range(f.tree.first, f.tree.end):
        link = &f.tree.links[i]
        for k in range(link.freedoms if link.given else 0):
            f.given[link.v + k] = f.start[nq + link.v + k] + elapsed * f.tau[link.v + k]


cdef inline void weigh_round(Flight* f, Py_ssize_t k) noexcept nogil:
    """After respond_to_all: by how much the velocities that came out differ from those that forces and places were found
    at."""
    cdef const LinkState* s
    cdef Piece* piece = &f.pieces[k]
    cdef Motion off
    cdef Py_ssize_t i
    piece.kinetic = rotors(f, k, MEAN)
    piece.spread = splat(0.0)
    for i in range(f.trees[k].first_link, f.trees[k].end_link):
        s = &f.tree.states[i + 1]
        off.w = w_sub(s.acceleration.w, s.velocity.w)
        off.v = w_sub(s.acceleration.v, s.velocity.v)
        piece.spread = piece.spread + energy_of(&f.tree.links[i], s, &off)
        piece.kinetic = piece.kinetic + energy_of(&f.tree.links[i], s, &s.acceleration)


cdef inline void mirror(Flight* f, Py_ssize_t k, Wide h, const Wide* forces) noexcept nogil:
    """After respond_to_all: V1, its energy, and the work of forces."""
    cdef const Block* block = &f.trees[k]
    cdef const Link* link
    cdef const LinkState* s
    cdef Rider* rider
    cdef Piece* piece = &f.pieces[k]
    cdef Wide3 v
    cdef const Wide* applied
    cdef Wide work = splat(0.0)
    cdef Py_ssize_t i
    piece.mirrored = rotors(f, k, MIRRORED)
    for i in range(block.first, block.first + block.count):
        work = work + f.tau[i] * f.mean[i]
    for i in range(block.first_link, block.end_link):
        link, s, rider = &f.tree.links[i], &f.tree.states[i + 1], &f.riders[i]
        rider.turned_spin = w_sub(w_scale(splat(2.0), inwards(s, s.acceleration.w)), rider.spin)
        rider.turned_speed = w_sub(w_scale(splat(2.0), inwards(s, s.acceleration.v)), rider.speed)
        if not link.prescribed:
            piece.mirrored = piece.mirrored + own_energy(link, rider.turned_spin, rider.turned_speed)
        if forces != NULL:
            applied = forces + 6 * link.body
            v = w_add(s.acceleration.v, w_cross(s.acceleration.w, s.com))
            work = work + (w_dot(v, wide3(applied[0], applied[1], applied[2])) + w_dot(
                s.acceleration.w, wide3(applied[3], applied[4], applied[5])))
    piece.gained = -piece.before - h * work


cdef inline void center(Flight* f, Py_ssize_t first, Py_ssize_t end, Wide h) noexcept nogil:
    """The links at q1, loose trees to where their centres of mass have come."""
    cdef const Block* block
    cdef const Link* link
    cdef const LinkState* s
    cdef const Piece* piece
    cdef Wide zero = splat(0.0)
    cdef Wide3 way
    cdef Wide* q
    cdef Py_ssize_t i, k
    cdef int j
    place(&f.tree, f.q)
    for k in range(first, end):
        piece, block = &f.pieces[k], &f.trees[k]
        if not piece.loose:
            continue
        way = wide3(zero, zero, zero)
        for i in range(block.first_link, block.end_link):
            link, s = &f.tree.links[i], &f.tree.states[i + 1]
            way = w_add_scaled(way, splat(-link.mass) / piece.mass, w_add(s.position, s.com))
        way = w_add(way, w_add_scaled(piece.middle, h, w_add_scaled(piece.velocity, splat(0.5) * h,
                                                                        piece.acceleration)))
        link = &f.tree.links[block.first_link]
        q = &f.q[link.q]
        for j in range(3):
            q[j] = q[j] + w_dot(way, splat3(&link.turn[3 * j]))
        shift(&f.tree, block.first_link, block.end_link, f.q)


cdef inline void land(Flight* f, Py_ssize_t k, Wide h) noexcept nogil:
    """After respond_to_all at q1: what the piece has gained; of a loose tree its centre's velocity then."""
    cdef const Block* block = &f.trees[k]
    cdef const Link* link
    cdef const LinkState* s
    cdef Piece* piece = &f.pieces[k]
    cdef Wide zero = splat(0.0)
    cdef Wide mass
    cdef Wide lifted = zero
    cdef Wide3 momentum = wide3(zero, zero, zero)
    cdef Wide3 com, v
    cdef Py_ssize_t i
    piece.after = rotors(f, k, AT_END)
    for i in range(block.first_link, block.end_link):
        link, s = &f.tree.links[i], &f.tree.states[i + 1]
        mass = splat(link.mass)
        com = w_add(s.position, s.com)
        if not link.prescribed:
            piece.after = piece.after + energy_of(link, s, &s.acceleration)
        if piece.loose:
            v = w_add(s.acceleration.v, w_cross(s.acceleration.w, s.com))
            momentum = w_add_scaled(momentum, mass, v)
        lifted = lifted - mass * w_dot(w_sub(com, f.riders[i].com), splat3(&link.pull.x))
    if piece.loose:
        v = w_scale(splat(1.0) / piece.mass, momentum)
        piece.after = piece.after - splat(0.5) * piece.mass * w_dot(v, v)
        piece.landed = w_add_scaled(piece.velocity, h, piece.acceleration)
        push_root(&f.tree.links[block.first_link], f.qd, w_scale(splat(-1.0), v))
    piece.gained = piece.gained + (piece.after + lifted)

# ---- the parts of it, between which models of the user's are asked where their joints are -----------------------------

cdef void begin_piece(Flight* f, Py_ssize_t first, Py_ssize_t end, const Wide* h, const Wide* forces) noexcept nogil:
    """The trees stand placed, factored and looked at. Mean velocities are guessed."""
    cdef Py_ssize_t q = first_q(f, first), q_end = end_q(f, end - 1)
    cdef Py_ssize_t v = f.trees[first].first, v_end = end_v(f, end - 1), nq = f.tree.nq
    cdef Py_ssize_t k
    choose_trees(f, first, end)
    memcpy(f.start + q, f.q + q, (q_end - q) * sizeof(Wide))
    memcpy(f.start + nq + v, f.qd + v, (v_end - v) * sizeof(Wide))
    for k in range(first, end):
        board(f, k, forces)
    accelerate(&f.tree, f.tau, forces, f.qdd)
    guess_means(f, first, end, h)


cdef inline void guess_means(Flight* f, Py_ssize_t first, Py_ssize_t end, const Wide* h) noexcept nogil:
    """After board and accelerate, wherever the trees are by now: the mean velocities of a piece of h, guessed."""
    cdef const Wide* start = f.start + f.tree.nq
    cdef const Link* link
    cdef Piece* piece
    cdef Wide half = splat(0.5) * h[0]
    cdef Wide3 weight
    cdef Py_ssize_t i, k
    choose_trees(f, first, end)
    for i in range(f.trees[first].first, end_v(f, end - 1)):
        f.mean[i] = start[i] + half * f.qdd[i]
    for k in range(first, end):
        piece = &f.pieces[k]
        piece.seen = splat(0.0)
        for i in range(f.trees[k].first_link, f.trees[k].end_link):
            link = &f.tree.links[i]
            weight = splat3(&link.weight.x)
            piece.seen = piece.seen + splat(link.mass) * (f.riders[i].haste + h[0] * h[0] * w_dot(weight, weight))
        if piece.loose:
            push_root(&f.tree.links[f.trees[k].first_link], f.mean, w_scale(
                splat(-1.0), w_add_scaled(piece.velocity, half, piece.acceleration)))


cdef void begin_round(Flight* f, Py_ssize_t first, Py_ssize_t end, const Wide* h) noexcept nogil:
    """To the piece's middle."""
    drift_from_start(f, first, end, splat(0.5) * h[0])


cdef void end_round(Flight* f, Py_ssize_t first, Py_ssize_t end, const Wide* h, const Wide* forces) noexcept nogil:
    """The mean velocities from the forces and places at those that were guessed."""
    cdef Wide half = splat(0.5) * h[0]
    cdef Py_ssize_t k
    place(&f.tree, f.q)
    factor(&f.tree)
    move(&f.tree, f.q, f.mean)
    for k in range(first, end):
        set_forces(f, k, h[0], forces)
    set_joints(f, f.trees[first].first, end_v(f, end - 1), half, half)
    spin_rotors(f, False)
    respond_to_all(&f.tree, f.given, f.mean)
    for k in range(first, end):
        weigh_round(f, k)


cdef void mirror_all(Flight* f, Py_ssize_t first, Py_ssize_t end, const Wide* h, const Wide* forces) noexcept nogil:
    """The links' velocities mirrored. Rounds may go on after it."""
    cdef Py_ssize_t k
    for k in range(first, end):
        mirror(f, k, h[0], forces)


cdef void go_on_to_end(Flight* f, Py_ssize_t first, Py_ssize_t end, const Wide* h) noexcept nogil:
    """To the piece's end."""
    choose_trees(f, first, end)
    drift_from_start(f, first, end, h[0])


cdef void come_down(Flight* f, Py_ssize_t first, Py_ssize_t end, const Wide* h) noexcept nogil:
    """There: the velocities that joints allow, and what the piece has gained."""
    cdef Py_ssize_t k
    center(f, first, end, h[0])
    factor(&f.tree)
    for k in range(first, end):
        set_momenta(f, k)
    set_joints(f, f.trees[first].first, end_v(f, end - 1), h[0], splat(0.0))
    spin_rotors(f, True)
    respond_to_all(&f.tree, f.given, f.qd)
    for k in range(first, end):
        land(f, k, h[0])


cdef void settle(Flight* f, Py_ssize_t k, const Wide* kept) noexcept nogil:
    """Velocities times `kept`, which gives back the energy that nothing took, and takes what nothing gave; a loose tree's
    as the world sees it."""
    cdef const Block* block = &f.trees[k]
    cdef Py_ssize_t i
    for i in range(block.first, block.first + block.count):
        f.qd[i] = f.qd[i] * kept[0]
    if f.pieces[k].loose:
        push_root(&f.tree.links[block.first_link], f.qd, f.pieces[k].landed)
