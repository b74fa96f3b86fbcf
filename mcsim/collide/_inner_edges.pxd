"""Contacts at the inner edges of neighbouring shapes that move together: the tiles of a floor, a plank beside a mesh.

Each pair of shapes is tested by itself, so the side of a tile stops what slides over the floor although the next tile
covers that side. What counts is the surface of all of them together, U. Let a solid S touch the shape T at p, on T,
along the unit vector g, from T to S, and let another shape N hold p. Beside p the surface of U is made of T's outside
N and of N's outside T, and where the two meet both must have a normal for U to have it. So g belongs to U if

    g . (x - p) <= 0  for all x in N,    or    T's points that reach as far along g go on from p to outside N

which are the normals of U in the limit at p (B. Mordukhovich, "Variational analysis and generalized differentiation", 2006,
section 1.1). The first holds for two tops of one height, the second for a wall on a tile, a step, a ramp. What fails
both is
inside: it is no contact of U, and goes if S has another contact with what moves with T. If S comes to lie over T in this
step, along the surface that it has that contact with, the contact that it will have there takes its place.

N has to be one of those shapes that S may touch in this step. Points are held by N, and levels are equal, within LEVEL
times the thickness of the thinner one of S and T.
"""

from libc.math cimport sqrt
from libc.stdint cimport int8_t, int32_t, uint64_t
from mcsim.core._types cimport Twist, Vec3
from mcsim.core._math cimport (add, add_scaled, cross, dot, mat_column, mat_t_vec, mat_vec, neg, norm, scale, sub, vec3)
from mcsim.state._bodies cimport DYNAMIC, STATIC, Bodies
from mcsim.state._manifold cimport Manifold
from mcsim.state._contact_reference cimport RING_A, RING_B
from mcsim.state._shape_types cimport PLANE
from mcsim.collide._carrying cimport is_beside_rim, is_ring, set_carrying, spin_of
from mcsim.collide._clip cimport features_overlap
from mcsim.collide._contact cimport MAX_CONTACTS, Contact, clear_impulses, reduce_contacts, store
from mcsim.collide._gjk cimport nearest_on_triangle
from mcsim.collide._pairs cimport first_of, pair_key
from mcsim.collide._shape_table cimport core_radius, face_count, face_of, farthest_point, support, supporting_feature
from mcsim.collide._solid cimport Solid, is_surface
from mcsim.collide._surface_walk cimport Walk, triangle_corners, vertex_at, walk_next, walk_start
from mcsim.collide._surface_cast cimport distance_to_surface
from mcsim.collide._sweep cimport Course, bring_back, course, moved
from mcsim.collide.shapes._parts cimport ALIGNED, Polygon

cdef extern from *:
    """
    /* Part of the pair's size within which a point is held by N, and levels are equal. */
    #define MC_LEVEL 1e-5
    /* Sine of the least angle between g and the normal of a face through which N is left: along g is no way out. */
    #define MC_LEAST_TURN 0.1
    /* Cosine of the angle within which a face of N is the one that S touches. */
    #define MC_SAME_FACE 0.99
    """
    const double LEVEL "MC_LEVEL"
    const double LEAST_TURN "MC_LEAST_TURN"
    const double SAME_FACE "MC_SAME_FACE"

cdef enum:
    EXITS = 16                   # faces of N through which a point may leave it, at most: others are not tried
    # each is looked at for each contact of a body: one that lies on more has its contacts as they are
    MOST_PARTNERS = 128

# What is known of a world's shapes and of the manifolds of a call, and room to list partners.
ctypedef struct Neighbours:
    const Solid* solids
    const int8_t* kind           # BodyKind of each shape's body
    int32_t shape_count
    const Bodies* bodies
    double ahead                 # [s]; 0: twists are not read
    const uint64_t* close        # the pairs that were tested, sorted
    Py_ssize_t close_count
    Manifold* manifolds          # sorted by key
    Py_ssize_t manifold_count
    int32_t* last_pair           # of a dynamic shape: 1 + the number in `close` of its last pair with one that is not, or 0
    int32_t* pair_before         # of such a pair: likewise the one before it of the same shape

# A point of a contact that is looked at.
ctypedef struct Spot:
    int32_t moving_shape         # S
    int32_t shape                # T
    Vec3 point                   # p, on T
    Vec3 normal                  # g
    double level                 # [m]

# A face of N near p: where N is left.
ctypedef struct Exit:
    Vec3 normal                  # outward
    double depth                 # of p below it [m]

cdef inline bint holds_point(const Solid* s, Vec3 p, double level) noexcept nogil:
    """Is p in the solid, or within `level` of its faces? A mesh or a height field holds what is on it."""
    cdef Vec3 n = sub(p, s.position)
    cdef int k
    if is_surface(s.type):
        return distance_to_surface(p, s, 2.0 * level) <= level
    if dot(n, n) > (s.reach + level) * (s.reach + level):
        return False
    for k in range(face_count(s)):
        if face_of(s, k, p, &n) < -level:
            return False
    return True

# ---- N ---------------------------------------------------------------------------------------------------------------

cdef inline bint is_touched(const Neighbours* x, const Spot* spot, int32_t shape, Vec3 n) noexcept nogil:
    """Does S touch the shape along n?"""
    cdef uint64_t key = pair_key(spot.moving_shape, shape)
    cdef Py_ssize_t i = first_of(x.manifolds, x.manifold_count, key)
    cdef double sign = 1.0 if shape < spot.moving_shape else -1.0
    while i < x.manifold_count and x.manifolds[i].key == key:
        if sign * dot(x.manifolds[i].normal, n) > SAME_FACE:
            return True
        i += 1
    return False


cdef inline void add_exit(const Neighbours* x, const Spot* spot, int32_t shape, Vec3 n, double depth, Exit* exits,
                          int* count) noexcept nogil:
    """A face of N is a way out if p is on it, or if S lies on it, perhaps deeper than p."""
    if count[0] < EXITS and (depth <= 4.0 * spot.level or is_touched(x, spot, shape, n)):
        exits[count[0]].normal = n
        exits[count[0]].depth = depth
        count[0] += 1


cdef inline bint rises_from_solid(const Spot* spot, const Solid* s) noexcept nogil:
    """Does a solid that holds p reach farther along g?"""
    cdef Vec3 n
    if s.type == PLANE:
        n = sub(spot.normal, mat_column(s.axes, 2))
        return dot(n, n) > ALIGNED * ALIGNED
    n = sub(add(s.position, support(s, spot.normal)), spot.point)
    return dot(spot.normal, n) + core_radius(s) > spot.level


cdef inline int look_at_solid(const Neighbours* x, const Spot* spot, int32_t shape, Exit* exits, int* count) noexcept nogil:
    """-> 1: the solid holds p and reaches farther along g; its ways out"""
    cdef const Solid* s = &x.solids[shape]
    cdef double depth
    cdef Vec3 n
    cdef int k
    if not holds_point(s, spot.point, spot.level) or not rises_from_solid(spot, s):
        return 0
    for k in range(face_count(s)):
        depth = face_of(s, k, spot.point, &n)
        add_exit(x, spot, shape, n, depth, exits, count)
    return 1


cdef inline int look_at_surface(const Neighbours* x, const Spot* spot, int32_t shape, Exit* exits,
                                int* count) noexcept nogil:
    """The same of a mesh or a height field, on the side on which S is: p is on a triangle, or below it by no more than the
    reach of S."""
    cdef const Solid* s = &x.solids[shape]
    cdef Vec3 at = mat_t_vec(s.axes, sub(spot.point, s.position))
    cdef Vec3 g = mat_t_vec(s.axes, spot.normal)
    cdef Vec3 above = mat_t_vec(s.axes, sub(x.solids[spot.moving_shape].position, s.position))
    cdef double reach = x.solids[spot.moving_shape].reach
    cdef Vec3 fat = vec3(reach, reach, reach)
    cdef Vec3 v[3]
    cdef Vec3 n, foot
    cdef double weight[3]
    cdef int32_t id[3]
    cdef Walk walk
    cdef int32_t t
    cdef int k
    cdef int found = 0
    cdef double height
    walk_start(s.surface, sub(at, fat), add(at, fat), &walk)
    while True:
        t = walk_next(s.surface, &walk)
        if t < 0:
            return found
        triangle_corners(s.surface, t, id)
        for k in range(3):
            v[k] = vertex_at(s.surface, id[k])
        n = cross(sub(v[1], v[0]), sub(v[2], v[0]))
        height = norm(n)
        if not height > 0.0:
            continue
        n = scale(1.0 / height, n)
        if s.surface.heights == NULL and dot(n, sub(above, v[0])) < 0.0:
            n = neg(n)
        height = dot(n, sub(at, v[0]))
        if height > spot.level or height < -reach:
            continue
        foot = add_scaled(at, -height, n)
        if norm(nearest_on_triangle(sub(v[0], foot), sub(v[1], foot), sub(v[2], foot), weight)) > spot.level:
            continue
        for k in range(3):
            if dot(g, sub(v[k], at)) > spot.level:
                found = 1
        add_exit(x, spot, shape, mat_vec(s.axes, n), -height, exits, count)

# ---- T ---------------------------------------------------------------------------------------------------------------

cdef inline bint goes_on(const Spot* spot, const Solid* s, Vec3 e, double way) noexcept nogil:
    """Do the points of T that reach farthest along g go on from p so far in the direction e, at right angles to g?"""
    cdef double depth, lean
    cdef Solid core
    cdef Vec3 n
    cdef Vec3 p = spot.point
    cdef int k
    if s.type == PLANE:
        return True
    if is_surface(s.type):
        way = max(way, 1e3 * spot.level)
        return distance_to_surface(add_scaled(p, way, e), s, 2.0 * spot.level) <= spot.level
    if s.rounding > 0.0:                         # they are those of its core, moved out along g
        p = add_scaled(p, -s.rounding, spot.normal)
        core = s[0]
        core.rounding = 0.0
        s = &core
    for k in range(face_count(s)):
        depth = face_of(s, k, p, &n)
        lean = dot(n, e)
        if lean > ALIGNED and (depth <= spot.level or depth < way * lean):
            return False
    return True

# ---- all of them -----------------------------------------------------------------------------------------------------

cdef inline bint move_together(const Neighbours* x, int32_t i, int32_t j) noexcept nogil:
    """Do two shapes that are not dynamic keep their places to each other?"""
    cdef int32_t a = x.solids[i].body
    cdef int32_t b = x.solids[j].body
    cdef Vec3 v
    cdef double speed
    if a == b or x.kind[i] == STATIC and x.kind[j] == STATIC:
        return True
    if x.ahead == 0.0:
        return False
    cdef Twist u = x.bodies.twist[a]
    cdef Twist w = x.bodies.twist[b]
    v = add(u.v, cross(u.w, sub(x.bodies.position[b], x.bodies.position[a])))
    speed = 1e-9 * (norm(u.v) + norm(w.v))
    v = sub(v, w.v)
    if dot(v, v) > speed * speed:
        return False
    speed = 1e-9 * (norm(u.w) + norm(w.w))
    v = sub(u.w, w.w)
    return dot(v, v) <= speed * speed


cdef inline int32_t next_partner(const Neighbours* x, const Spot* spot, int32_t* pair) noexcept nogil:
    """The next shape, but for T, that S may touch and that moves with T; -1: no more. pair: last_pair of S at first"""
    cdef uint64_t key
    cdef int32_t shape
    while pair[0] > 0:
        key = x.close[pair[0] - 1]
        pair[0] = x.pair_before[pair[0] - 1]
        shape = <int32_t>key
        if shape == spot.moving_shape:
            shape = <int32_t>(key >> 32)
        if shape != spot.shape and x.solids[shape].finite and move_together(x, spot.shape, shape):
            return shape
    return -1


cdef inline bint is_outside(const Neighbours* x, const Spot* spot, Vec3 p) noexcept nogil:
    """Does none of the neighbours hold p?"""
    cdef int32_t pair = x.last_pair[spot.moving_shape]
    cdef int32_t other = next_partner(x, spot, &pair)
    while other >= 0:
        if holds_point(&x.solids[other], p, spot.level):
            return False
        other = next_partner(x, spot, &pair)
    return True


cdef inline bint is_inner(const Neighbours* x, const Spot* spot) noexcept nogil:
    """Is g at p no normal of T and its neighbours together?"""
    cdef Exit exits[EXITS]
    cdef int32_t pair = x.last_pair[spot.moving_shape]
    cdef int32_t other = next_partner(x, spot, &pair)
    cdef Vec3 e
    cdef double along, sine, way
    cdef int count, k
    cdef bint inner = False
    while other >= 0:
        count = 0
        if is_surface(x.solids[other].type):
            k = look_at_surface(x, spot, other, exits, &count)
        else:
            k = look_at_solid(x, spot, other, exits, &count)
        inner |= k != 0
        for k in range(count if k else 0):
            along = dot(exits[k].normal, spot.normal)
            sine = sqrt(max(1.0 - along * along, 0.0))
            if sine < LEAST_TURN:
                continue
            e = scale(1.0 / sine, add_scaled(exits[k].normal, -along, spot.normal))
            way = (exits[k].depth + 2.0 * spot.level) / sine
            if goes_on(spot, &x.solids[spot.shape], e, way) and is_outside(x, spot, add_scaled(spot.point, way, e)):
                return False
        other = next_partner(x, spot, &pair)
    return inner


cdef inline Spot spot_of(const Neighbours* x, const Manifold* m) noexcept nogil:
    """S, T and the direction of a contact of a dynamic shape with one that is not."""
    cdef Spot spot
    cdef bint second = x.kind[m.shape_b] == DYNAMIC
    spot.moving_shape = m.shape_b if second else m.shape_a
    spot.shape = m.shape_a if second else m.shape_b
    spot.normal = m.normal if second else neg(m.normal)
    spot.level = LEVEL * m.size
    return spot


cdef inline bint has_neighbours(const Neighbours* x, const Manifold* m) noexcept nogil:
    """Whether it is of a dynamic shape and one that is not, and the former may touch others of these; up to
    MOST_PARTNERS."""
    cdef bint first = x.kind[m.shape_a] == DYNAMIC
    cdef int32_t pair
    cdef int count = 0
    if first == (x.kind[m.shape_b] == DYNAMIC):
        return False
    pair = x.last_pair[m.shape_a if first else m.shape_b]
    while pair > 0 and count <= MOST_PARTNERS:
        count += 1
        pair = x.pair_before[pair - 1]
    return 1 < count <= MOST_PARTNERS


cdef inline bint all_inner(const Neighbours* x, const Manifold* m) noexcept nogil:
    """Are all points of a manifold inner ones? Its points are midway between the two surfaces."""
    cdef Spot spot = spot_of(x, m)
    cdef int i
    for i in range(m.point_count):
        spot.point = add_scaled(m.points[i].position, -0.5 * m.points[i].separation, spot.normal)
        spot.point = farthest_point(&x.solids[spot.shape], spot.normal, spot.point)
        if not is_inner(x, &spot):
            return False
    return True


cdef inline bint rolls_elsewhere(const Neighbours* x, const Manifold* m) noexcept nogil:
    """Whether a manifold is of a rim of S that rolls on, and is lowest on what moves with T and goes on in its plane."""
    cdef Spot spot = spot_of(x, m)
    cdef Vec3 spin = spin_of(x.bodies, m, x.ahead)
    cdef int32_t pair = x.last_pair[spot.moving_shape]
    cdef int32_t other = next_partner(x, &spot, &pair)
    cdef int ring
    cdef uint64_t key
    cdef Py_ssize_t i
    while other >= 0:
        key = pair_key(spot.moving_shape, other)
        i = first_of(x.manifolds, x.manifold_count, key)
        while i < x.manifold_count and x.manifolds[i].key == key:
            ring = RING_A if x.manifolds[i].shape_a == spot.moving_shape else RING_B
            if x.manifolds[i].turns == ring and is_beside_rim(
                    m, spot.normal, &x.manifolds[i], spot_of(x, &x.manifolds[i]).normal, &x.solids[spot.moving_shape], spin,
                    x.ahead):
                return True
            i += 1
        other = next_partner(x, &spot, &pair)
    return False


cdef inline const Manifold* held_elsewhere(const Neighbours* x, const Spot* spot) noexcept nogil:
    """A contact of S that is not inner, with T or with what moves with T, or NULL."""
    cdef int32_t pair = x.last_pair[spot.moving_shape]
    cdef int32_t other = spot.shape
    cdef uint64_t key
    cdef Py_ssize_t i
    while other >= 0:
        key = pair_key(spot.moving_shape, other)
        i = first_of(x.manifolds, x.manifold_count, key)
        while i < x.manifold_count and x.manifolds[i].key == key:
            if x.manifolds[i].point_count > 0:
                return &x.manifolds[i]
            i += 1
        other = next_partner(x, spot, &pair)
    return NULL


cdef inline int lie_over(const Neighbours* x, const Spot* spot, const Manifold* held, Manifold* m) noexcept nogil:
    """The contact that S will have at the end of the time ahead with the face of T that goes on along `held`, placed where
    the bodies are now, into m. -> point count, 0: there is none"""
    cdef const Solid* a = &x.solids[m.shape_a]
    cdef const Solid* b = &x.solids[m.shape_b]
    cdef bint second = spot.moving_shape == m.shape_b
    cdef Contact contacts[MAX_CONTACTS]
    cdef Polygon face_a, face_b
    cdef Polygon* face = &face_a if second else &face_b
    cdef Course ca, cb
    cdef Course* own = &cb if second else &ca
    cdef Solid at_a, at_b
    cdef Vec3 n = held.normal if held.shape_b == spot.moving_shape else neg(held.normal)
    cdef Vec3 normal, origin
    cdef double approach
    cdef int count
    if x.ahead == 0.0 or is_surface(x.solids[spot.shape].type) or x.solids[spot.shape].type == PLANE:
        return 0
    ca = course(a, x.bodies.position[m.body_a], x.bodies.twist[m.body_a])
    cb = course(b, x.bodies.position[m.body_b], x.bodies.twist[m.body_b])
    approach = dot(n, sub(cb.twist.v, ca.twist.v)) * (1.0 if second else -1.0)
    if approach < 0.0:
        own.twist.v = add_scaled(own.twist.v, -approach, n)
    at_a = moved(a, &ca, x.ahead)
    at_b = moved(b, &cb, x.ahead)
    normal = n if second else neg(n)
    origin = sub(at_b.position, at_a.position)
    supporting_feature(&at_a, normal, vec3(0.0, 0.0, 0.0), &face_a)
    supporting_feature(&at_b, neg(normal), origin, &face_b)
    if face_a.count < 2 or face_b.count < 2 or face.count < 3 or dot(face.normal, n) < SAME_FACE:
        return 0
    normal = face.normal if second else neg(face.normal)
    # All points that may come to bear as S turns on.
    count = features_overlap(&face_a, &face_b, normal, m.near + 2.0 * x.solids[spot.moving_shape].reach, contacts)
    if count == 0:
        return 0
    store(m, contacts, reduce_contacts(contacts, count, normal), normal, at_a.position)
    set_carrying(m, &at_a, &at_b, scale(x.ahead, sub(cb.twist.w, ca.twist.w)))
    bring_back(m, &ca, &cb, x.ahead)
    m.allowance = 0.0
    m.thinning = 1.0
    clear_impulses(m)
    return m.point_count


cdef inline bint has_tiles(const Neighbours* x) noexcept nogil:
    """Whether there are two shapes that are not dynamic."""
    cdef int32_t i
    cdef int32_t unmoved = 0
    for i in range(x.shape_count):
        unmoved += x.kind[i] != DYNAMIC
    return unmoved > 1


cdef inline bint list_partners(Neighbours* x) noexcept nogil:
    """The pairs of each dynamic shape with shapes that are not, in lists. -> whether one has two"""
    cdef Py_ssize_t i
    cdef int32_t shape
    cdef bint first
    cdef bint found = False
    for i in range(x.close_count):
        shape = <int32_t>(x.close[i] >> 32)
        first = x.kind[shape] == DYNAMIC
        if first == (x.kind[<int32_t>x.close[i]] == DYNAMIC):
            continue
        if not first:
            shape = <int32_t>x.close[i]
        found |= x.last_pair[shape] > 0
        x.pair_before[i] = x.last_pair[shape]
        x.last_pair[shape] = <int32_t>(i + 1)
    return found


cdef inline void forget_partners(Neighbours* x) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(x.close_count):
        x.last_pair[x.close[i] >> 32] = 0
        x.last_pair[<int32_t>x.close[i]] = 0


cdef inline Py_ssize_t drop_inner(Neighbours* x) noexcept nogil:
    """Take the inner contacts out of the manifolds, and what belongs to rims that roll on elsewhere. -> how many are left

    An inner one is marked by its number of points, negative meanwhile, and one that goes by its part."""
    cdef Py_ssize_t i
    cdef Py_ssize_t kept = 0
    cdef const Manifold* held
    cdef Manifold* m
    cdef Spot spot
    cdef bint found = False
    cdef bint rolls = False
    if not has_tiles(x):
        return x.manifold_count
    if list_partners(x):
        for i in range(x.manifold_count):
            m = &x.manifolds[i]
            if has_neighbours(x, m):
                rolls |= is_ring(m)
                if all_inner(x, m):
                    m.point_count = -m.point_count
                    found = True
    if found:
        for i in range(x.manifold_count):
            m = &x.manifolds[i]
            if m.point_count > 0:
                continue
            spot = spot_of(x, m)
            held = held_elsewhere(x, &spot)
            if held != NULL:
                if m.part > 0 or lie_over(x, &spot, held, m) == 0:
                    m.part = -1
    if rolls:
        for i in range(x.manifold_count):
            m = &x.manifolds[i]
            if m.part >= 0 and m.point_count > 0 and not is_ring(m) and has_neighbours(x, m) and rolls_elsewhere(x, m):
                m.part = -1
    if found or rolls:
        for i in range(x.manifold_count):
            m = &x.manifolds[i]
            if m.part < 0:
                continue
            if m.point_count < 0:
                m.point_count = -m.point_count
            if kept < i:
                x.manifolds[kept] = m[0]
            kept += 1
        x.manifold_count = kept
    forget_partners(x)
    return x.manifold_count
