"""Manifolds of pairs that may touch: of each pair what the narrowphase says, as far as it is near or comes near within the
time ahead, with the points and impulses that last from the step before."""

from libc.math cimport INFINITY, sqrt
from libc.stdint cimport int32_t, uint64_t
from mcsim.core._fetch cimport fetch
from mcsim.core._math cimport dot, neg, scale, sub, vec3
from mcsim.core._types cimport Quat, Vec3
from mcsim.state._bodies cimport Bodies
from mcsim.state._contact_reference cimport RING_A, opening_speed
from mcsim.state._manifold cimport Manifold
from mcsim.state._settings cimport Nearness
from mcsim.state._shape cimport Shape
from mcsim.collide._carrying cimport (is_beside_rim, is_ring, rim_over, set_carrying, set_ring, set_roundings, spin_of,
                                      turn_over)
from mcsim.collide._contact cimport clear_impulses
from mcsim.collide._matching cimport carry_over, carry_patch, like_before, loosen
from mcsim.collide._narrow cimport narrow
from mcsim.collide._one_way cimport keep_bearing
from mcsim.collide._pairs cimport PairGrip, first_of, grip_of
from mcsim.collide._parts cimport SURFACE_MANIFOLDS
from mcsim.collide._patch cimport Patch, add_far_points, alike, alike_from, deal, parts_of_patch
from mcsim.collide._reuse cimport TANGENT_PLANE, coming_motion2, remember, reuse, worth_keeping
from mcsim.collide._shape_table cimport thickness
from mcsim.collide._margins cimport limit
from mcsim.collide._shapes cimport Grip
from mcsim.collide._solid cimport Solid, is_surface, near_of
from mcsim.collide._surface_contacts cimport Sheets, learn_side
from mcsim.collide._surface_sweep cimport Leg, Ride, surface_manifolds
from mcsim.collide._sweep cimport Course, course, least_separation, sweep

cdef enum:
    PAIRS_AHEAD = 8              # how many pairs before it is tested a shape is fetched
    MANIFOLDS_AHEAD = 2          # and an old manifold

cdef extern from *:
    """
    /* What goes farther in a step than this times the distance from which on the pair has contacts has them with what it
       meets, not with what it passes by: with what comes nearer than MC_GRAZE times that distance. */
    #define MC_FLIGHT 5.0
    #define MC_GRAZE 1e-3
    """
    const double FLIGHT "MC_FLIGHT"
    const double GRAZE "MC_GRAZE"

# Where the search reads and writes.
ctypedef struct PairSearch:
    const Solid* solids          # of shapes, as are
    const Quat* turns
    const Grip* grips
    const Bodies* bodies
    const Nearness* nearness
    double ahead                 # [s], 0: twists are not read
    const Manifold* previous     # of the last accepted step, sorted
    Py_ssize_t previous_count
    Manifold* manifolds
    bint resisting               # manifolds have rolling impulses
    bint compliant               # and the state of springs, not impulses
    const Shape* shapes          # read where some bear from one side alone
    bint one_way
    const PairGrip* pair_grips   # sorted
    Py_ssize_t pair_grip_count
    const PairGrip* material_grips
    Py_ssize_t material_grip_count


cdef inline bint rises(const PairSearch* s, const Manifold* m, int i) noexcept nogil:
    """Whether point i stays farther away than where contacts begin for the time ahead, at the present velocities."""
    return m.points[i].separation + s.ahead * opening_speed(m, i, s.bodies, s.bodies.twist) > m.near


cdef inline double touching_distance(const PairSearch* s, const Manifold* m) noexcept nogil:
    """How near the two must be to have contacts here, and not where they will meet."""
    cdef Vec3 travel = sub(s.solids[m.shape_b].motion.travel, s.solids[m.shape_a].motion.travel)
    return GRAZE * m.near if dot(travel, travel) > FLIGHT * m.near * FLIGHT * m.near else m.near


cdef inline int keep_near(const PairSearch* s, Manifold* m) noexcept nogil:
    """Keep the points that are, or within the time ahead come, near. -> how many"""
    cdef int i, kept = 0
    for i in range(m.point_count):
        if m.points[i].separation <= m.near or not rises(s, m, i):
            if kept < i:
                m.points[kept] = m.points[i]
            kept += 1
    m.point_count = kept
    return kept


cdef inline int meet(const PairSearch* s, Manifold* m, double reach) noexcept nogil:
    """Keep of the manifold the near points; where there are none, or in flight, what the solids, no farther apart than
    `reach`, will meet at. -> point count."""
    cdef double touching = touching_distance(s, m)
    cdef Course a, b
    if least_separation(m) > touching:
        a = course(&s.solids[m.shape_a], s.bodies.position[m.body_a], s.bodies.twist[m.body_a])
        b = course(&s.solids[m.shape_b], s.bodies.position[m.body_b], s.bodies.twist[m.body_b])
        return sweep(&s.solids[m.shape_a], &a, &s.solids[m.shape_b], &b, touching, s.ahead, reach, m)
    return keep_near(s, m)


cdef inline Vec3 turn_ahead(const PairSearch* s, const Manifold* m) noexcept nogil:
    """By what b turns against a in the time ahead [rad]."""
    return scale(s.ahead, spin_of(s.bodies, m, s.ahead))


cdef inline int serves(const PairSearch* s, const Manifold* old, Manifold* m, double reach) noexcept nogil:
    """The last manifold's points at the present poses, if they serve. -> point count, none farther than `reach`."""
    cdef int i, count, kept = 0
    if old.allowance == 0.0:
        return 0
    count = reuse(m, old, &s.solids[m.shape_a], s.turns[m.shape_a], &s.solids[m.shape_b],
                  s.turns[m.shape_b], reach)
    if count > 0 and is_ring(old):
        set_roundings(m, &s.solids[m.shape_a], &s.solids[m.shape_b], turn_ahead(s, m))
    for i in range(count):
        kept += m.points[i].separation <= reach
    return count if kept == count else 0


cdef inline int again(const PairSearch* s, const Manifold* old, Py_ssize_t old_count, Manifold* m, Py_ssize_t room,
                      double reach) noexcept nogil:
    """serves, of all parts of the pair, which touch if they are several. -> how many parts, 0: they do not serve"""
    cdef double least = INFINITY
    cdef Py_ssize_t k
    if old_count > room:
        return 0
    for k in range(old_count):
        if k > 0:
            alike(&m[k], m)
            m[k].part = k
        m[k].thinning = old[k].thinning
        if not serves(s, &old[k], &m[k], reach):
            return 0
        least = min(least, least_separation(&m[k]))
    if old_count > 1 and least > touching_distance(s, m):
        return 0
    return old_count


cdef inline void note_origin(const PairSearch* s, Manifold* m, double reach) noexcept nogil:
    """Note what the manifold was made from, for the next step."""
    cdef const Solid* a = &s.solids[m.shape_a]
    cdef const Solid* b = &s.solids[m.shape_b]
    cdef double coming2 = 0.0
    if not worth_keeping(m, a, b):
        return
    if s.ahead > 0.0:
        coming2 = coming_motion2(a, s.bodies.twist[m.body_a], s.bodies.position[m.body_a],
                                 b, s.bodies.twist[m.body_b], s.bodies.position[m.body_b], s.ahead)
    remember(m, a, s.turns[m.shape_a], b, s.turns[m.shape_b], reach, coming2)


cdef inline void set_rim(const PairSearch* s, Manifold* m) noexcept nogil:
    """Of a manifold with all else set: rims over a face."""
    cdef int count = m.point_count
    set_ring(m, &s.solids[m.shape_a], &s.solids[m.shape_b], spin_of(s.bodies, m, s.ahead), m.near, s.ahead)
    if m.point_count < count:
        m.allowance = 0.0


cdef inline int keep_parts(const PairSearch* s, Manifold* m, int parts, double reach, bint anew) noexcept nogil:
    """Keep of the parts of a patch, from m on, the near points. anew: they were made in this step. -> how many parts"""
    cdef bint whole = True
    cdef int k, count
    cdef int kept = 0
    for k in range(parts):
        count = m[k].point_count
        if s.ahead > 0.0:
            whole &= keep_near(s, &m[k]) == count
        if m[k].point_count > 0:
            if kept < k:
                m[kept] = m[k]
            m[kept].part = kept
            kept += 1
    for k in range(kept):
        set_rim(s, &m[k])
        if not whole:
            m[k].allowance = 0.0
        elif anew:
            note_origin(s, &m[k], reach)
    return kept


cdef inline int spread(const PairSearch* s, Patch* patch, Manifold* m, Py_ssize_t room, double reach) noexcept nogil:
    """The parts of a patch, from m, the pair's manifold of four points, on. -> how many, -1: there is no room"""
    cdef int parts, k
    add_far_points(patch, m)
    parts = parts_of_patch(patch)
    if parts > room:
        return -1
    for k in range(parts):
        alike(&m[k], m)
        m[k].origin.owner = m.origin.owner
    deal(patch, parts, m)
    for k in range(parts):
        set_carrying(&m[k], &s.solids[m.shape_a], &s.solids[m.shape_b], turn_ahead(s, m))
    return keep_parts(s, m, parts, reach, True)


cdef inline int touch(const PairSearch* s, const Manifold* old, Py_ssize_t old_count, Manifold* m,
                       Py_ssize_t room) noexcept nogil:
    """Manifolds of one pair, the last ones (old, or NULL) again if they serve. -> how many, -1: there is no room"""
    cdef const Solid* a = &s.solids[m.shape_a]
    cdef const Solid* b = &s.solids[m.shape_b]
    cdef double reach = limit(&a.motion, &b.motion, m.near)
    cdef int parts = again(s, old, old_count, m, room, reach)
    cdef int count = m.point_count
    cdef int whole = 1
    cdef int kept
    cdef Patch patch
    if parts > 1:
        return keep_parts(s, m, parts, reach, False)
    if parts == 0:
        m.allowance = 0.0
        m.thinning = 1.0
        m.origin.owner = TANGENT_PLANE
        patch.count = 0
        patch.old = old
        patch.old_count = old_count
        count = narrow(a, b, reach, m, &patch)
        if count > 0 and patch.count > 0 and rim_over(m, a, b, spin_of(s.bodies, m, s.ahead), m.near, s.ahead):
            patch.count, count = 0, m.point_count
        if count > 0 and patch.count > 0 and (s.ahead == 0.0 or least_separation(m) <= touching_distance(s, m)):
            return spread(s, &patch, m, room, reach)
        if count > 0:
            set_carrying(m, a, b, turn_ahead(s, m))
    if s.ahead > 0.0 and count > 0:
        whole = least_separation(m) <= m.near
        kept = meet(s, m, reach)
        whole &= kept == count
        count = kept
    if count > 0:
        set_rim(s, m)
    if not whole:
        m.allowance = 0.0
    elif parts == 0 and count > 0:
        note_origin(s, m, reach)
    return count > 0


cdef inline void take_grip(const PairGrip* grip, Manifold* m) noexcept nogil:
    """What is said of two together, or NULL."""
    if grip == NULL:
        return
    if grip.friction >= 0.0:
        m.friction = grip.friction
    if grip.restitution >= 0.0:
        m.restitution = grip.restitution


cdef inline void finish_manifold(const PairSearch* s, Manifold* m, const Manifold* old) noexcept nogil:
    """Materials, and the impulses of the last manifold (old, or NULL)."""
    cdef const Grip* a = &s.grips[m.shape_a]
    cdef const Grip* b = &s.grips[m.shape_b]
    m.friction = a.friction if a.friction == b.friction else sqrt(a.friction * b.friction)
    m.restitution = a.restitution if a.restitution > b.restitution else b.restitution
    if s.material_grip_count > 0:
        take_grip(grip_of(s.material_grips, s.material_grip_count, a.material, b.material), m)
    if s.pair_grip_count > 0:                    # what is said of two bodies stands above their materials
        take_grip(grip_of(s.pair_grips, s.pair_grip_count, m.body_a, m.body_b), m)
    clear_impulses(m)
    if s.resisting:
        m.rolling_impulse = old.rolling_impulse if old != NULL else vec3(0.0, 0.0, 0.0)
    m.touching = 0
    if old != NULL:
        m.touching = old.touching
        carry_over(m, old, m.near)
        if m.friction < old.friction and not s.compliant:
            loosen(m, old.friction)


cdef inline void finish_patch(const PairSearch* s, Manifold* m, Py_ssize_t parts, const Manifold* old,
                              Py_ssize_t old_count) noexcept nogil:
    """finish_manifold for all parts of a patch; old: those of the last one, or NULL."""
    cdef Py_ssize_t k
    if parts == 1 and old_count <= 1:
        finish_manifold(s, m, old)
        return
    for k in range(parts):
        finish_manifold(s, &m[k], NULL)
        m[k].touching = old.touching if old != NULL else 0
    if old != NULL:
        carry_patch(m, parts, old, old_count, m.near, s.compliant)
        for k in range(parts if m.friction < old.friction and not s.compliant else 0):
            loosen(&m[k], old.friction)


cdef inline int leave_rims(const PairSearch* s, Manifold* m, int count) noexcept nogil:
    """Of the manifolds of a surface and a solid, those that are no part of a rim which rolls on elsewhere. -> how many"""
    cdef const Manifold* rim = NULL
    cdef bint on_a
    cdef int i
    cdef int kept = 0
    for i in range(count):
        if is_ring(&m[i]):
            rim = &m[i]
            break
    if rim == NULL or count == 1:
        return count
    on_a = rim.turns == RING_A
    for i in range(count):
        if m[i].turns != rim.turns and is_beside_rim(
                &m[i], neg(m[i].normal) if on_a else m[i].normal, rim, neg(rim.normal) if on_a else rim.normal,
                &s.solids[m.shape_a if on_a else m.shape_b], spin_of(s.bodies, m, s.ahead), s.ahead):
            m[i].point_count = 0
    for i in range(count):
        if m[i].point_count > 0:
            if kept < i:
                m[kept] = m[i]
            m[kept].part = kept
            kept += 1
    return kept


cdef inline int touch_surface(const PairSearch* s, Manifold* m, Py_ssize_t old) noexcept nogil:
    """The manifolds of a pair of which one shape is a surface, up to SURFACE_MANIFOLDS, from m on; `old`: where those
    of the last step begin. -> how many"""
    cdef Manifold pair = m[0]
    cdef int first = is_surface(s.solids[m.shape_a].type)
    cdef int32_t surface = m.shape_a if first else m.shape_b
    cdef int32_t solid = m.shape_b if first else m.shape_a
    cdef Py_ssize_t end = old
    cdef Py_ssize_t best
    cdef int i, k, parts, count
    cdef uint64_t taken = 0
    cdef Sheets sheets
    cdef Patch patch
    cdef Ride ride
    cdef Leg* leg = &ride.leg[0]
    sheets.count = 0
    while end < s.previous_count and s.previous[end].key == pair.key:
        learn_side(&sheets, s.previous[end].sheet)
        end += 1
    ride.near = pair.near
    ride.limit = limit(&s.solids[surface].motion, &s.solids[solid].motion, pair.near)
    leg.surface = s.solids[surface]
    leg.solid = s.solids[solid]
    leg.ahead = s.ahead
    if s.ahead > 0.0:
        leg.surface_course = course(&leg.surface, s.bodies.position[leg.surface.body],
                                    s.bodies.twist[leg.surface.body])
        leg.solid_course = course(&leg.solid, s.bodies.position[leg.solid.body],
                                  s.bodies.twist[leg.solid.body])
    patch.old = &s.previous[old]
    patch.old_count = end - old
    count = surface_manifolds(&ride, &sheets, &patch, m)
    for i in range(count):
        m[i].key = pair.key
        m[i].shape_a = pair.shape_a
        m[i].shape_b = pair.shape_b
        m[i].body_a = pair.body_a
        m[i].body_b = pair.body_b
        m[i].size = pair.size
        m[i].near = pair.near
        m[i].part = i
        m[i].allowance = 0.0
        if not first:
            turn_over(&m[i])
        if s.ahead > 0.0 and least_separation(&m[i]) <= pair.near:
            keep_near(s, &m[i])
        set_rim(s, &m[i])
    count = leave_rims(s, m, count)
    i = 0
    while i < count:
        parts = alike_from(&m[i], count - i)
        best = like_before(&m[i], &s.previous[old], <int>(end - old), taken)
        k = alike_from(&s.previous[old + best], <int>(end - old - best)) if best >= 0 else 0
        taken |= ((<uint64_t>1 << k) - 1) << max(best, 0)
        finish_patch(s, &m[i], parts, &s.previous[old + best] if best >= 0 else NULL, k)
        i += parts
    return count


cdef inline void fetch_pair(const PairSearch* s, uint64_t last, uint64_t key) noexcept nogil:
    """Shapes are scattered in memory: what a test reads of them is fetched while other pairs are tested."""
    fetch(&s.solids[<int32_t>key], sizeof(Solid))
    fetch(&s.grips[<int32_t>key], sizeof(Grip))
    if key >> 32 != last >> 32:
        fetch(&s.solids[key >> 32], sizeof(Solid))


cdef inline void begin_manifold(const PairSearch* s, Manifold* m, uint64_t key) noexcept nogil:
    """What the pair says of its first manifold."""
    m.key = key
    m.shape_a = <int32_t>(key >> 32)
    m.shape_b = <int32_t>key
    m.body_a = s.solids[m.shape_a].body
    m.body_b = s.solids[m.shape_b].body
    m.size = min(thickness(&s.solids[m.shape_a]), thickness(&s.solids[m.shape_b]))
    m.near = near_of(s.nearness, m.size)
    m.part = 0
    m.sheet = 0
    m.thinning = 1.0


cdef inline Py_ssize_t find_some(const PairSearch* s, const uint64_t* pairs, Py_ssize_t begin, Py_ssize_t end,
                                 Py_ssize_t slot, Py_ssize_t slot_end) noexcept nogil:
    """The manifolds of the sorted pairs[begin:end] into manifolds[slot:slot_end]. -> how many, ~i: there is no room from
    pairs[i] on"""
    cdef Py_ssize_t first = slot
    cdef Py_ssize_t i
    cdef Py_ssize_t k = 0
    cdef Py_ssize_t end_of_old
    cdef int parts
    cdef uint64_t key
    cdef Manifold* m
    if begin > 0:
        k = first_of(s.previous, s.previous_count, pairs[begin])
    for i in range(begin, end):
        key = pairs[i]
        if i + PAIRS_AHEAD < end:
            fetch_pair(s, pairs[i + PAIRS_AHEAD - 1], pairs[i + PAIRS_AHEAD])
        if slot == slot_end:
            return ~i
        m = &s.manifolds[slot]
        begin_manifold(s, m, key)
        while k < s.previous_count and s.previous[k].key < key:
            k += 1
            if k + MANIFOLDS_AHEAD < s.previous_count:
                fetch(&s.previous[k + MANIFOLDS_AHEAD], sizeof(Manifold))
        if is_surface(s.solids[m.shape_a].type) or is_surface(s.solids[m.shape_b].type):
            if slot + SURFACE_MANIFOLDS > slot_end:
                return ~i
            parts = touch_surface(s, m, k)
            if s.one_way and parts > 0:
                parts = keep_bearing(s.shapes, s.solids, m, parts, k < s.previous_count and s.previous[k].key == key)
            slot += parts
            continue
        end_of_old = k
        while end_of_old < s.previous_count and s.previous[end_of_old].key == key:
            end_of_old += 1
        parts = touch(s, &s.previous[k] if end_of_old > k else NULL, end_of_old - k, m, slot_end - slot)
        if parts < 0:
            return ~i
        if s.one_way and parts > 0:
            parts = keep_bearing(s.shapes, s.solids, m, parts, end_of_old > k)
        if parts > 0:
            finish_patch(s, m, parts, &s.previous[k] if end_of_old > k else NULL, end_of_old - k)
        slot += parts
    return slot - first
