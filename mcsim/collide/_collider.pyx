"""Shapes and poses in, sorted contact manifolds out; impulses carried over from the last accepted step.

The broadphase says which pairs may touch; each is tested if its boxes come within the speculative distance, or so near
that they may meet within the time ahead. The manifolds depend on the bodies' state and on the previous manifolds alone.
"""

import numpy as np

from libc.math cimport INFINITY, fabs, sqrt
from libc.stdint cimport int8_t, int32_t, uint64_t
from libc.stdlib cimport free
from libc.string cimport memcpy, memmove, memset
from cython cimport final
from cython.parallel cimport prange
from mcsim.core._thread_pool cimport MOST_WORKERS
from mcsim.core._fetch cimport fetch
from mcsim.core._types cimport Vec3, Quat, OK, GROW
from mcsim.core._math cimport add, dot, mat_vec, scale, sub, vec3
from mcsim.state._contact_reference cimport EDGES, FACE_A, FACE_B, of_vertex, opening_speed
from mcsim.state._bodies cimport Bodies
from mcsim.state._manifold cimport Manifold, ManifoldOrigin, ManifoldPoint, Resistance
from mcsim.state._settings cimport Nearness
from mcsim.state._shape cimport Shape
from mcsim.state._shape_types cimport BOX
from mcsim.state.fields import EVENT_DTYPE, MANIFOLD_DTYPE
from mcsim.collide._broadphase cimport Broadphase
from mcsim.collide._contact cimport clear_impulses
from mcsim.collide._events cimport clear_log, logged, note_contacts, take_events
from mcsim.collide._memory cimport address, resized, resized_lines
from mcsim.collide._shapes cimport Grip, limit
from mcsim.collide._carrying cimport rim_over, set_carrying, set_ring, spin_of, turn_over
from mcsim.collide._shape_table cimport thickness
from mcsim.collide._solid cimport Solid, is_surface, near_of
from mcsim.collide._inner_edges cimport Neighbours, drop_inner
from mcsim.collide._narrow cimport narrow
from mcsim.collide._resting cimport company_of, take_over
from mcsim.collide._pairs cimport first_of, pair_key
from mcsim.collide._parts cimport SURFACE_MANIFOLDS
from mcsim.collide._patch cimport PATCH_PARTS, Patch, add_far_points, alike, alike_from, deal, parts_of_patch
from mcsim.collide._surface_contacts cimport Sheets, learn_side
from mcsim.collide._surface_sweep cimport Leg, Ride, surface_manifolds
from mcsim.collide._surfaces cimport Surfaces
from mcsim.collide._reuse cimport coming_motion2, remember, reuse
from mcsim.collide._sweep cimport Course, course, least_separation, sweep


cdef enum:
    PAIRS_AHEAD = 8              # how many pairs before it is tested a shape is fetched
    MANIFOLDS_AHEAD = 2          # and an old manifold
    LEAST_PAIRS = 32             # a thread: fewer are not worth waking one
    ROOMY = 8                    # with so much room a pair threads are not given more

# What goes farther in a step than this times the distance from which on the pair has contacts has them with what it meets,
# not with what it passes by: with what comes nearer than GRAZE times that distance.
cdef double FLIGHT = 5.0
cdef double GRAZE = 1e-3


cdef inline void copy_impulses(ManifoldPoint* p, const ManifoldPoint* old) noexcept nogil:
    p.normal_impulse = old.normal_impulse
    p.friction_impulse = old.friction_impulse


cdef inline int same_features(const Manifold* m, const Manifold* old) noexcept nogil:
    """Are the points the same ones, in the same order?"""
    cdef int i
    if m.point_count != old.point_count:
        return 0
    for i in range(m.point_count):
        if m.points[i].feature != old.points[i].feature:
            return 0
    return 1


cdef inline void carry_over(Manifold* m, const Manifold* old, double near) noexcept nogil:
    """Give each point the impulses of the old one with the same feature. A point without one takes those of the nearest
    old point left over, if it is within `near`: where edges lie on edges a corner changes hands at the least motion."""
    cdef int owner[4]
    cdef int taken = 0
    cdef int i, j, best
    cdef double d2, least
    cdef Vec3 d
    m.friction_impulse = old.friction_impulse
    m.twist_impulse = old.twist_impulse
    m.load = old.load
    if same_features(m, old):
        for i in range(m.point_count):
            copy_impulses(&m.points[i], &old.points[i])
        return
    for i in range(m.point_count):
        owner[i] = -1
        for j in range(old.point_count):
            if old.points[j].feature == m.points[i].feature and not (taken >> j) & 1:
                owner[i] = j
                taken |= 1 << j
                copy_impulses(&m.points[i], &old.points[j])
                break
    if taken == (1 << old.point_count) - 1:
        return
    for i in range(m.point_count):
        if owner[i] >= 0:
            continue
        best = -1
        least = near * near
        for j in range(old.point_count):
            d = sub(m.points[i].position, old.points[j].position)
            d2 = dot(d, d)
            if d2 <= least and not (taken >> j) & 1:
                least = d2
                best = j
        if best >= 0:
            taken |= 1 << best
            copy_impulses(&m.points[i], &old.points[best])


cdef inline int same_parts(const Manifold* m, Py_ssize_t parts, const Manifold* old, Py_ssize_t old_parts) noexcept nogil:
    """Has each part the points that the old one of its number had?"""
    cdef Py_ssize_t k
    if parts != old_parts:
        return 0
    for k in range(parts):
        if not same_features(&m[k], &old[k]):
            return 0
    return 1


cdef inline void carry_points(Manifold* m, Py_ssize_t parts, const Manifold* old, Py_ssize_t old_parts,
                              double near) noexcept nogil:
    """As carry_over gives each point its impulses, wherever in the old parts its feature was."""
    cdef ManifoldPoint* p
    cdef const ManifoldPoint* q
    cdef const ManifoldPoint* best
    cdef uint64_t given = 0                      # bit 4 k + i: point i of the part k has its impulses
    cdef uint64_t taken[2]                       # and of the old parts: 16 in each
    cdef Py_ssize_t j, k, best_at
    cdef int h, i
    cdef double d2, least
    cdef Vec3 d
    taken[0] = taken[1] = 0
    for k in range(parts):
        for i in range(m[k].point_count):
            p = &m[k].points[i]
            for j in range(old_parts):
                for h in range(old[j].point_count):
                    if old[j].points[h].feature == p.feature != 0 and not (given >> (4 * k + i)) & 1 \
                            and not (taken[j >> 4] >> (4 * (j & 15) + h)) & 1:
                        copy_impulses(p, &old[j].points[h])
                        taken[j >> 4] |= <uint64_t>1 << (4 * (j & 15) + h)
                        given |= <uint64_t>1 << (4 * k + i)
    for k in range(parts):
        for i in range(m[k].point_count):
            if (given >> (4 * k + i)) & 1:
                continue
            p = &m[k].points[i]
            best = NULL
            best_at = 0
            least = near * near
            for j in range(old_parts):
                for h in range(old[j].point_count):
                    q = &old[j].points[h]
                    d = sub(p.position, q.position)
                    d2 = dot(d, d)
                    if d2 <= least and not (taken[j >> 4] >> (4 * (j & 15) + h)) & 1:
                        least = d2
                        best = q
                        best_at = 4 * j + h
            if best != NULL:
                taken[best_at >> 6] |= <uint64_t>1 << (best_at & 63)
                copy_impulses(p, best)


cdef inline void carry_patch(Manifold* m, Py_ssize_t parts, const Manifold* old, Py_ssize_t old_parts, double near,
                             bint compliant) noexcept nogil:
    """carry_over for the parts of a patch, without impulses so far. What the parts had as wholes, friction and the like, is
    shared out by what their points bear, unless all are as they were. Compliant: the energy is; at which poses, all
    know."""
    cdef double load[PATCH_PARTS]
    cdef double total = 0.0
    cdef double twist = 0.0
    cdef double lasting = 0.0
    cdef double share
    cdef Vec3 friction = vec3(0.0, 0.0, 0.0)
    cdef Vec3 rolling = friction
    cdef Py_ssize_t k
    cdef int i
    if same_parts(m, parts, old, old_parts):
        for k in range(parts):
            m[k].friction_impulse = old[k].friction_impulse
            m[k].twist_impulse = old[k].twist_impulse
            m[k].load = old[k].load
            m[k].rolling_impulse = old[k].rolling_impulse
            for i in range(m[k].point_count):
                copy_impulses(&m[k].points[i], &old[k].points[i])
        return
    carry_points(m, parts, old, old_parts, near)
    for k in range(old_parts):
        friction = add(friction, old[k].friction_impulse)
        rolling = add(rolling, old[k].rolling_impulse)
        twist += old[k].twist_impulse
        lasting += old[k].load
    for k in range(parts):
        load[k] = 0.0
        for i in range(m[k].point_count):
            load[k] += fabs(m[k].points[i].normal_impulse)
        total += load[k]
    for k in range(parts):
        share = load[k] / total if total > 0.0 else 1.0 / parts
        m[k].friction_impulse = scale(share, friction)
        m[k].rolling_impulse = scale(share, rolling)
        m[k].twist_impulse = share * twist
        m[k].load = share * lasting
        if compliant:
            m[k].friction_impulse.y = old[0].friction_impulse.y


cdef inline int rises(const Manifold* m, int i, const Bodies* bodies, double near, double ahead) noexcept nogil:
    """Whether point i stays farther than `near` for the time ahead, at the present velocities."""
    return m.points[i].separation + ahead * opening_speed(m, i, bodies) > near


cdef inline int like_before(const Manifold* m, const Manifold* old, int count, uint64_t taken) noexcept nogil:
    """The old part, of those not taken, with the normal nearest to that of a new one; -1: none within 45 degrees."""
    cdef int i
    cdef int best = -1
    cdef double most = 0.7071
    for i in range(count):
        if dot(m.normal, old[i].normal) > most and not (taken >> i) & 1:
            most = dot(m.normal, old[i].normal)
            best = i
    return best


@final
cdef class Collider(Broadphase):
    """The collision stage of one world.

    shapes (s,) SHAPE_DTYPE, hulls (h,) HULL_DTYPE with their pools as described at Hull in state/_shape.pxd: vertices
    (v, 3), face_normals (f, 3), face_offsets (f,), face_begin, face_index, edges. excluded_pairs (k, 2): pairs of
    bodies that do not collide. Kernels call collide, grow when told so, and accept; both grow and accept move the
    arrays of manifolds. Python reads the accepted ones.
    """

    def __cinit__(self, shapes, hulls, vertices, face_normals, face_offsets, face_begin, face_index, edges,
                  excluded_pairs, Surfaces surfaces=None):
        self.add_shapes(shapes, hulls, vertices, face_normals, face_offsets, face_begin, face_index, edges,
                        surfaces)
        self.set_excluded(excluded_pairs)
        self.threads = 1
        self.pairs_wanted = 4 * self.shape_count + 64
        self.manifolds_wanted = 2 * self.shape_count + 64
        self.grow()

    def __dealloc__(self):
        free(self.manifolds)
        free(self.previous)
        free(self.sleeping)
        free(self.resistances)
        free(self.log.events)

    # ---- for kernels -------------------------------------------------------------------------------------------------

    cdef int collide(self, Bodies* bodies, const Nearness* nearness, double ahead) noexcept nogil:
        """Find the contacts no farther apart than that, and those that come so near within the time `ahead` [s] at the
        present velocities (0: twists are not read). -> OK, or GROW: call grow() and then this again."""
        cdef int status
        self.manifold_count = 0
        if not self.has_room():
            return GROW
        status = self.find_pairs(bodies, nearness, ahead)
        if status == OK:
            status = self.find_manifolds(bodies, ahead)
        if status == OK:
            self.join_surfaces(bodies, ahead)
        return status

    cdef void accept(self) noexcept nogil:
        """The step stands: its manifolds become the previous ones."""
        cdef Manifold* swap = self.previous
        note_contacts(&self.log, self.previous, self.previous_count, self.manifolds, self.manifold_count)
        self.previous = self.manifolds
        self.previous_count = self.manifold_count
        self.manifolds = swap
        self.manifold_count = 0

    cdef void find_resistances(self) noexcept nogil:
        """What the shapes' materials do beyond Coulomb's friction, for each manifold of the last collide call that is
        still there."""
        cdef Py_ssize_t i
        cdef Manifold* m
        cdef const Shape* a
        cdef const Shape* b
        cdef Resistance* r
        if not self.resisting:
            return
        for i in range(self.manifold_count):
            m = &self.manifolds[i]
            r = &self.resistances[i]
            a = &self.shapes[m.shape_a]
            b = &self.shapes[m.shape_b]
            r.rolling = max(a.rolling_friction, b.rolling_friction)
            r.torsional = max(a.torsional_friction, b.torsional_friction)
            r.surface_velocity = sub(mat_vec(self.solids[m.shape_b].axes, b.surface_velocity),
                                     mat_vec(self.solids[m.shape_a].axes, a.surface_velocity))
            if r.rolling == 0.0:
                m.rolling_impulse = vec3(0.0, 0.0, 0.0)  # of a material that it had before

    cdef Resistance* resisted(self) noexcept nogil:
        """Beside the manifolds that find_resistances() saw, or NULL: no shape has any."""
        return self.resistances if self.resisting else NULL

    cdef bint has_room(self) noexcept nogil:
        """Whether all manifolds would go into either list."""
        if self.previous_count + self.sleeping_count <= self.manifold_capacity:
            return True
        self.manifolds_wanted = 2 * self.manifold_capacity
        return False

    cdef void part(self, const Bodies* bodies) noexcept nogil:
        """Follow who sleeps: manifolds of sleeping bodies into a list of their own, those of woken ones back; shapes at
        rest or not. Needs has_room()."""
        cdef int32_t i
        self.log.touching = -1
        take_over(self.previous, &self.previous_count, self.sleeping, &self.sleeping_count, bodies, True)
        take_over(self.sleeping, &self.sleeping_count, self.previous, &self.previous_count, bodies, False)
        for i in range(self.shape_count):
            self.accompany(i, company_of(bodies, self.shapes[i].body))

    def gather(self):
        """All accepted manifolds into one list, until the next part()."""
        if not self.has_room():
            self.grow()
        take_over(self.sleeping, &self.sleeping_count, self.previous, &self.previous_count, NULL, True)

    cpdef grow(self):
        """Make room for what the last collide call could not store."""
        cdef Py_ssize_t capacity
        self.grow_pairs()
        if self.manifolds_wanted > self.manifold_capacity:
            capacity = max(self.manifolds_wanted, 2 * self.manifold_capacity)
            self.manifolds = self.room(self.manifolds, capacity)
            self.previous = self.room(self.previous, capacity)
            self.sleeping = self.room(self.sleeping, capacity)
            self.resistances = <Resistance*>resized(self.resistances, capacity, sizeof(Resistance))
            self.manifold_capacity = capacity

    cdef Manifold* room(self, Manifold* manifolds, Py_ssize_t capacity) except NULL:
        return <Manifold*>resized_lines(manifolds, self.manifold_capacity, capacity, sizeof(Manifold))

    # ---- shapes that come, go and change -----------------------------------------------------------------------------

    def remove_shapes(self, gone, body_number):
        """As Broadphase.remove_shapes; their manifolds go with them, the others follow the new numbers."""
        body_number = np.ascontiguousarray(body_number, np.int32).reshape(-1)
        self.gather()
        number = Broadphase.remove_shapes(self, gone, body_number)
        cdef const int32_t* shapes = <const int32_t*>address(number)
        cdef const int32_t* bodies = <const int32_t*>address(body_number)
        cdef Py_ssize_t i
        cdef Py_ssize_t kept = 0
        cdef Manifold* m
        for i in range(self.previous_count):
            m = &self.previous[i]
            if shapes[m.shape_a] < 0 or shapes[m.shape_b] < 0:
                continue
            m.shape_a = shapes[m.shape_a]
            m.shape_b = shapes[m.shape_b]
            m.body_a = bodies[m.body_a]
            m.body_b = bodies[m.body_b]
            m.key = pair_key(m.shape_a, m.shape_b)
            if kept < i:
                self.previous[kept] = m[0]
            kept += 1
        self.previous_count = kept
        self.manifold_count = 0
        return number

    def change_shapes(self, numbers, shapes):
        """As Broadphase.change_shapes. The points of a shape that changed its form or place are not used again."""
        numbers = np.array(numbers, np.int32).reshape(-1)
        anew = np.zeros(self.shape_count, np.int8)
        self.gather()
        changed = Broadphase.change_shapes(self, numbers, shapes)
        anew[numbers[changed]] = 1
        cdef const int8_t* flags = <const int8_t*>address(anew)
        cdef Py_ssize_t i
        for i in range(self.previous_count):
            if flags[self.previous[i].shape_a] or flags[self.previous[i].shape_b]:
                self.previous[i].allowance = 0.0
        return changed

    cdef void revise(self) noexcept nogil:
        """Rolling impulses, neither written nor read before, are 0 from now on."""
        cdef bint before = self.resisting
        cdef Py_ssize_t i
        Broadphase.revise(self)
        if before or not self.resisting:
            return
        for i in range(self.previous_count):
            self.previous[i].rolling_impulse = vec3(0.0, 0.0, 0.0)
        for i in range(self.sleeping_count):
            self.sleeping[i].rolling_impulse = vec3(0.0, 0.0, 0.0)

    # ---- the stages of a call ----------------------------------------------------------------------------------------

    cdef double touching_distance(self, const Manifold* m, double near) noexcept nogil:
        """How near the two must be to have contacts here, and not where they will meet."""
        cdef Vec3 travel = sub(self.solids[m.shape_b].motion.travel, self.solids[m.shape_a].motion.travel)
        return GRAZE * near if dot(travel, travel) > FLIGHT * near * FLIGHT * near else near

    cdef int meet(self, const Bodies* bodies, Manifold* m, double near, double ahead, double reach) noexcept nogil:
        """Keep of the manifold the near points; where there are none, or in flight, what the solids, no farther apart than
        `reach`, will meet at. -> point count."""
        cdef double touching = self.touching_distance(m, near)
        cdef Course a, b
        if least_separation(m) > touching:
            a = course(&self.solids[m.shape_a], bodies.position[m.body_a], bodies.twist[m.body_a])
            b = course(&self.solids[m.shape_b], bodies.position[m.body_b], bodies.twist[m.body_b])
            return sweep(&self.solids[m.shape_a], &a, &self.solids[m.shape_b], &b, touching, ahead, reach, m)
        return self.keep_near(bodies, m, near, ahead)

    cdef int keep_near(self, const Bodies* bodies, Manifold* m, double near, double ahead) noexcept nogil:
        """Keep the points that are, or within the time ahead come, near. -> how many"""
        cdef int i, kept = 0
        for i in range(m.point_count):
            if m.points[i].separation <= near or rises(m, i, bodies, near, ahead) == 0:
                if kept < i:
                    m.points[kept] = m.points[i]
                kept += 1
        m.point_count = kept
        return kept

    cdef int again(self, const Manifold* old, Manifold* m, double reach) noexcept nogil:
        """The last manifold's points at the present poses, if they serve. -> point count, none farther than `reach`."""
        cdef int i, count, kept = 0
        if old == NULL or old.allowance == 0.0:
            return 0
        count = reuse(m, old, &self.solids[m.shape_a], self.turns[m.shape_a], &self.solids[m.shape_b],
                      self.turns[m.shape_b], reach)
        for i in range(count):
            kept += m.points[i].separation <= reach
        return count if kept == count else 0

    cdef int spread(self, const Bodies* bodies, Patch* patch, Manifold* m, Py_ssize_t room, double near,
                    double ahead) noexcept nogil:
        """The parts of a patch, from m, the pair's manifold of four points, on. -> how many, -1: there is no room"""
        cdef int parts, k, kept = 0
        cdef const Solid* a = &self.solids[m.shape_a]
        cdef const Solid* b = &self.solids[m.shape_b]
        add_far_points(patch, m)
        parts = parts_of_patch(patch)
        if parts > room:
            return -1
        for k in range(parts):
            alike(&m[k], m)
        deal(patch, parts, m)
        for k in range(parts):
            set_carrying(&m[k], a, b)
            if ahead == 0.0 or self.keep_near(bodies, &m[k], near, ahead) > 0:
                set_ring(&m[k], a, b, spin_of(bodies, m, ahead), near, ahead)
                if kept < k:
                    m[kept] = m[k]
                m[kept].part = kept
                kept += 1
        return kept

    cdef int touch(self, const Bodies* bodies, const Manifold* old, Py_ssize_t old_count, Manifold* m, Py_ssize_t room,
                   double ahead) noexcept nogil:
        """Manifolds of one pair, the last one (old, or NULL) again if it serves. -> how many, -1: there is no room"""
        cdef const Solid* a = &self.solids[m.shape_a]
        cdef const Solid* b = &self.solids[m.shape_b]
        cdef double near = m.near
        cdef double reach = limit(&a.motion, &b.motion, near)
        cdef double coming2 = 0.0
        cdef int count = self.again(old, m, reach)
        cdef int anew = count == 0
        cdef int whole = 1
        cdef int kept
        cdef Patch patch
        patch.count = 0
        if anew:
            m.allowance = 0.0
            patch.old = old
            patch.old_count = old_count
            count = narrow(a, b, reach, m, &patch)
            if count > 0 and patch.count > 0 and rim_over(m, a, b, spin_of(bodies, m, ahead), near, ahead):
                patch.count, count = 0, m.point_count
            if count > 0 and patch.count > 0 and (ahead == 0.0
                                                  or least_separation(m) <= self.touching_distance(m, near)):
                return self.spread(bodies, &patch, m, room, near, ahead)
            if count > 0:
                set_carrying(m, a, b)
        if ahead > 0.0 and count > 0:
            whole = least_separation(m) <= near
            kept = self.meet(bodies, m, near, ahead, reach)
            whole &= kept == count
            count = kept
        if not whole:
            m.allowance = 0.0
        elif anew and count > 0 and a.type == BOX and b.type == BOX and m.origin.axis >= 0:
            if ahead > 0.0:
                coming2 = coming_motion2(a, bodies.twist[m.body_a], bodies.position[m.body_a],
                                         b, bodies.twist[m.body_b], bodies.position[m.body_b], ahead)
            remember(m, a, self.turns[m.shape_a], b, self.turns[m.shape_b], reach, near, coming2)
        if count > 0:
            set_ring(m, a, b, spin_of(bodies, m, ahead), near, ahead)
        return count > 0

    cdef int touch_surface(self, const Bodies* bodies, Manifold* m, Py_ssize_t old, double ahead) noexcept nogil:
        """The manifolds of a pair of which one shape is a surface, up to SURFACE_MANIFOLDS, from m on; `old`: where those
        of the last step begin. -> how many"""
        cdef Manifold pair = m[0]
        cdef double near = pair.near
        cdef int first = is_surface(self.solids[m.shape_a].type)
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
        while end < self.previous_count and self.previous[end].key == pair.key:
            learn_side(&sheets, self.previous[end].sheet)
            end += 1
        ride.near = near
        ride.limit = limit(&self.solids[surface].motion, &self.solids[solid].motion, near)
        leg.surface = self.solids[surface]
        leg.solid = self.solids[solid]
        leg.ahead = ahead
        if ahead > 0.0:
            leg.surface_course = course(&leg.surface, bodies.position[self.shapes[surface].body],
                                        bodies.twist[self.shapes[surface].body])
            leg.solid_course = course(&leg.solid, bodies.position[self.shapes[solid].body],
                                      bodies.twist[self.shapes[solid].body])
        patch.old = &self.previous[old]
        patch.old_count = end - old
        count = surface_manifolds(&ride, &sheets, &patch, m)
        for i in range(count):
            m[i].key = pair.key
            m[i].shape_a = pair.shape_a
            m[i].shape_b = pair.shape_b
            m[i].body_a = pair.body_a
            m[i].body_b = pair.body_b
            m[i].size = pair.size
            m[i].near = near
            m[i].part = i
            m[i].allowance = 0.0
            if not first:
                turn_over(&m[i])
            if ahead > 0.0 and least_separation(&m[i]) <= near:
                self.keep_near(bodies, &m[i], near, ahead)
            set_ring(&m[i], &self.solids[m[i].shape_a], &self.solids[m[i].shape_b], spin_of(bodies, &m[i], ahead), near,
                     ahead)
        i = 0
        while i < count:
            parts = alike_from(&m[i], count - i)
            best = like_before(&m[i], &self.previous[old], <int>(end - old), taken)
            k = alike_from(&self.previous[old + best], <int>(end - old - best)) if best >= 0 else 0
            taken |= ((<uint64_t>1 << k) - 1) << max(best, 0)
            self.finish_patch(&m[i], parts, &self.previous[old + best] if best >= 0 else NULL, k)
            i += parts
        return count

    cdef void finish_patch(self, Manifold* m, Py_ssize_t parts, const Manifold* old, Py_ssize_t old_count) noexcept nogil:
        """finish_manifold for all parts of a patch; old: those of the last one, or NULL."""
        cdef Py_ssize_t k
        if parts == 1 and old_count <= 1:
            self.finish_manifold(m, old)
            return
        for k in range(parts):
            self.finish_manifold(&m[k], NULL)
            m[k].touching = old.touching if old != NULL else 0
        if old != NULL:
            carry_patch(m, parts, old, old_count, m.near, self.compliant)

    cdef void finish_manifold(self, Manifold* m, const Manifold* old) noexcept nogil:
        """Materials, and the impulses of the last manifold (old, or NULL)."""
        cdef const Grip* a = &self.grips[m.shape_a]
        cdef const Grip* b = &self.grips[m.shape_b]
        m.friction = a.friction if a.friction == b.friction else sqrt(a.friction * b.friction)
        m.restitution = a.restitution if a.restitution > b.restitution else b.restitution
        clear_impulses(m)
        if self.resisting:
            m.rolling_impulse = old.rolling_impulse if old != NULL else vec3(0.0, 0.0, 0.0)
        m.touching = 0
        if old != NULL:
            m.touching = old.touching
            carry_over(m, old, m.near)

    cdef void fetch_pair(self, uint64_t last, uint64_t key) noexcept nogil:
        """Shapes are scattered in memory: what a test reads of them is fetched while other pairs are tested."""
        fetch(&self.solids[<int32_t>key], sizeof(Solid))
        fetch(&self.grips[<int32_t>key], sizeof(Grip))
        if key >> 32 != last >> 32:
            fetch(&self.solids[key >> 32], sizeof(Solid))

    cdef void join_surfaces(self, const Bodies* bodies, double ahead) noexcept nogil:
        """Drop contacts at inner edges of shapes that move together."""
        cdef Neighbours x
        x.solids, x.kind, x.shape_count = self.solids, self.kind, self.shape_count
        x.bodies, x.ahead = bodies, ahead
        x.close, x.close_count = self.close, self.close_count
        x.manifolds, x.manifold_count = self.manifolds, self.manifold_count
        x.last_pair, x.pair_before = self.last_pair, self.pair_before
        self.manifold_count = drop_inner(&x)

    cdef int find_manifolds(self, Bodies* bodies, double ahead) noexcept nogil:
        """Narrowphase of all pairs in ascending order, so that the manifolds come out sorted. Each thread takes a stretch
        of them, and as large a part of the room; where one needs more, one thread does it all, and next time there is more
        room."""
        cdef Py_ssize_t found[MOST_WORKERS]
        cdef Py_ssize_t count = self.close_count
        cdef Py_ssize_t begin
        cdef int threads = <int>min(<Py_ssize_t>self.threads, count // LEAST_PAIRS) if self.threads > 1 else 1
        cdef int t
        if threads > 1 and (count > self.manifold_capacity or self.crowded):
            self.crowded = False
            self.manifolds_wanted = max(count + count // 4, self.manifold_capacity + 1)
            return GROW
        if threads > 1:
            for t in prange(threads, num_threads=threads, schedule="static", chunksize=1):
                found[t] = self.find_some(bodies, ahead, count * t // threads,
                                          count * (t + 1) // threads, self.manifold_capacity * t // threads,
                                          self.manifold_capacity * (t + 1) // threads)
            for t in range(threads):
                if found[t] < 0:
                    threads = 1
                    self.crowded = self.manifold_capacity < ROOMY * count
                    break
        if threads <= 1:
            self.manifold_count = self.find_some(bodies, ahead, 0, count, 0, self.manifold_capacity)
            if self.manifold_count < 0:
                self.want(~self.manifold_count)
                self.manifold_count = 0
                return GROW
            return OK
        self.manifold_count = found[0]
        for t in range(1, threads):
            begin = self.manifold_capacity * t // threads
            memmove(&self.manifolds[self.manifold_count], &self.manifolds[begin], found[t] * sizeof(Manifold))
            self.manifold_count += found[t]
        return OK

    cdef void want(self, Py_ssize_t done) noexcept nogil:
        """Room for as many manifolds to a pair as the pairs done had, and then some: where many bodies land at once,
        to begin anew with twice the room each time takes longest."""
        cdef Py_ssize_t most = SURFACE_MANIFOLDS * (self.close_count + 1)
        cdef Py_ssize_t likely = self.manifold_capacity * self.close_count // max(done, 1)
        self.manifolds_wanted = max(2 * self.manifold_capacity, min(likely + likely // 4, most))

    cdef Py_ssize_t find_some(self, const Bodies* bodies, double ahead, Py_ssize_t begin, Py_ssize_t end, Py_ssize_t slot,
                              Py_ssize_t slot_end) noexcept nogil:
        """The manifolds of close[begin:end] into manifolds[slot:slot_end]. -> how many, ~i: there is no room from
        close[i] on"""
        cdef Py_ssize_t first = slot
        cdef Py_ssize_t i
        cdef Py_ssize_t k = 0
        cdef Py_ssize_t end_of_old
        cdef int parts
        cdef uint64_t key
        cdef Manifold* m
        if begin > 0:
            k = first_of(self.previous, self.previous_count, self.close[begin])
        for i in range(begin, end):
            key = self.close[i]
            if i + PAIRS_AHEAD < end:
                self.fetch_pair(self.close[i + PAIRS_AHEAD - 1], self.close[i + PAIRS_AHEAD])
            if slot == slot_end:
                return ~i
            m = &self.manifolds[slot]
            m.key = key
            m.shape_a = <int32_t>(key >> 32)
            m.shape_b = <int32_t>key
            m.body_a = self.solids[m.shape_a].body
            m.body_b = self.solids[m.shape_b].body
            m.size = min(thickness(&self.solids[m.shape_a]), thickness(&self.solids[m.shape_b]))
            m.near = near_of(&self.placed_nearness, m.size)
            m.part = 0
            m.sheet = 0
            m.thinning = 1.0
            while k < self.previous_count and self.previous[k].key < key:
                k += 1
                if k + MANIFOLDS_AHEAD < self.previous_count:
                    fetch(&self.previous[k + MANIFOLDS_AHEAD], sizeof(Manifold))
            if is_surface(self.solids[m.shape_a].type) or is_surface(self.solids[m.shape_b].type):
                if slot + SURFACE_MANIFOLDS > slot_end:
                    return ~i
                slot += self.touch_surface(bodies, m, k, ahead)
                continue
            end_of_old = k
            while end_of_old < self.previous_count and self.previous[end_of_old].key == key:
                end_of_old += 1
            parts = self.touch(bodies, &self.previous[k] if end_of_old > k else NULL, end_of_old - k, m, slot_end - slot,
                               ahead)
            if parts < 0:
                return ~i
            if parts > 0:
                self.finish_patch(m, parts, &self.previous[k] if end_of_old > k else NULL, end_of_old - k)
            slot += parts
        return slot - first

    # ---- for Python --------------------------------------------------------------------------------------------------

    def get_manifolds(self):
        """-> (m,) MANIFOLD_DTYPE: a copy of the manifolds of the last accepted step; what is not in use is zero. Those
        of sleeping bodies are as they were when they fell asleep, but have gone on with what carries them."""
        cdef Py_ssize_t count = self.previous_count + self.sleeping_count
        result = np.empty(count, MANIFOLD_DTYPE)
        cdef Manifold* m = <Manifold*>address(result)
        cdef Py_ssize_t i
        cdef int k
        memcpy(m, self.previous, self.previous_count * sizeof(Manifold))
        memcpy(m + self.previous_count, self.sleeping, self.sleeping_count * sizeof(Manifold))
        for i in range(count):
            memset(&m[i].points[m[i].point_count], 0, (4 - m[i].point_count) * sizeof(ManifoldPoint))
            for k in range(m[i].point_count):
                if of_vertex(&m[i].points[k]):
                    memset(m[i].points[k].cross, 0, sizeof(m[i].points[k].cross))
            if m[i].turns == 0 or m[i].turns == FACE_A or m[i].turns == FACE_B:
                m[i].line = vec3(0.0, 0.0, 0.0)
            if m[i].turns != EDGES:
                m[i].line_b = vec3(0.0, 0.0, 0.0)
            if m[i].allowance == 0.0:
                memset(&m[i].origin, 0, sizeof(ManifoldOrigin))
            if not self.resisting:
                m[i].rolling_impulse = vec3(0.0, 0.0, 0.0)
        return result[np.argsort(result["key"], kind="stable")] if self.sleeping_count else result

    def set_manifolds(self, manifolds):
        """Restore what get_manifolds gave; the broadphase starts anew."""
        manifolds = np.ascontiguousarray(manifolds, MANIFOLD_DTYPE)
        keys, parts = manifolds["key"], manifolds["part"]
        if np.any(keys[1:] < keys[:len(keys) - 1]) or np.any((keys[1:] == keys[:len(keys) - 1])
                                                            & (parts[1:] <= parts[:len(parts) - 1])):
            raise ValueError("manifolds must be sorted by key and part and have none twice")
        if np.any((manifolds["point_count"] < 0) | (manifolds["point_count"] > 4)):
            raise ValueError("a manifold has 0 to 4 points")
        if np.any((manifolds["origin"]["axis"] < 0) | (manifolds["origin"]["axis"] > 14)):
            raise ValueError("a manifold's axis is 0 to 14")
        self.manifolds_wanted = len(manifolds)
        self.grow()
        memcpy(self.previous, address(manifolds), len(manifolds) * sizeof(Manifold))
        self.previous_count = len(manifolds)
        self.sleeping_count = 0
        self.clear_events()
        self.log.touching = -1
        self.stale = 1

    cpdef void clear_events(self):
        """Forget which contacts began and ended, and count steps anew."""
        clear_log(&self.log)

    def take_log(self, Collider other):
        """The events of a collider whose place this one takes, of equal shapes."""
        take_events(&self.log, &other.log)

    def get_events(self):
        """-> (e,) EVENT_DTYPE: contacts that began and ended in the steps accepted since clear_events(), step by step."""
        return logged(&self.log, np.empty(self.log.count, EVENT_DTYPE))

    def reset(self):
        """Forget all contacts; the broadphase starts anew."""
        self.previous_count = 0
        self.sleeping_count = 0
        self.manifold_count = 0
        self.stale = 1

    def collide_once(self, position, orientation, kind, double speculative_distance):
        """Collide and accept. position (n, 3) [m], orientation (n, 4), kind (n,): of the bodies; speculative_distance
        [m]: of all pairs.

        -> (m,) MANIFOLD_DTYPE
        """
        cdef Bodies bodies
        cdef Nearness nearness
        cdef int status
        position = np.ascontiguousarray(position, np.float64).reshape(-1, 3)
        orientation = np.ascontiguousarray(orientation, np.float64).reshape(-1, 4)
        kind = np.ascontiguousarray(kind, np.int32).reshape(-1)
        used = max((self.shapes[i].body for i in range(self.shape_count)), default=-1)
        if not used < len(position) == len(orientation) == len(kind):
            raise ValueError(f"position, orientation and kind must have a row for each of {used + 1} bodies")
        memset(&bodies, 0, sizeof(bodies))
        nearness.distance, nearness.most, nearness.part = speculative_distance, INFINITY, 0.0
        bodies.count = len(position)
        bodies.position = <Vec3*>address(position)
        bodies.orientation = <Quat*>address(orientation)
        bodies.kind = <int32_t*>address(kind)
        with nogil:
            status = self.collide(&bodies, &nearness, 0.0)
        while status == GROW:
            self.grow()
            with nogil:
                status = self.collide(&bodies, &nearness, 0.0)
        self.accept()
        return self.get_manifolds()
