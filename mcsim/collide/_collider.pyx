"""Shapes and poses in, sorted contact manifolds out; impulses carried over from the last accepted step.

The broadphase says which pairs may touch; each is tested if its boxes come within the speculative distance, or so near
that they may meet within the time ahead. The manifolds depend on the bodies' state and on the previous manifolds alone.
"""

import numpy as np

from libc.math cimport INFINITY
from libc.stdint cimport int8_t, int32_t, uint64_t
from libc.stdlib cimport free
from libc.string cimport memcpy, memmove, memset
from cython cimport final
from mcsim.core._thread_pool cimport MOST_WORKERS, share_out
from mcsim.core._types cimport Vec3, Quat, OK, GROW
from mcsim.core._math cimport mat_vec, sub, vec3
from mcsim.state._bodies cimport Bodies
from mcsim.state._manifold cimport Manifold, Resistance
from mcsim.state._settings cimport Nearness
from mcsim.state._shape cimport Shape
from mcsim.state.fields import EVENT_DTYPE, HULL_DTYPE, PAIR_GRIP_DTYPE, SHAPE_DTYPE
from mcsim.collide._broadphase cimport Broadphase
from mcsim.collide._events cimport clear_log, logged, note_contacts, take_events
from mcsim.collide._inner_edges cimport Neighbours, drop_inner
from mcsim.collide._manifold_store cimport ManifoldStore
from mcsim.collide._memory cimport address, resized
from mcsim.collide._pair_contacts cimport PairSearch, find_some
from mcsim.collide._pairs cimport PairGrip, grip_of, pair_key
from mcsim.collide._parts cimport SURFACE_MANIFOLDS
from mcsim.collide._resting cimport company_of
from mcsim.collide._surfaces cimport Surfaces


cdef enum:
    LEAST_PAIRS = 32             # a thread: fewer are not worth waking one
    ROOMY = 8                    # with so much room a pair threads are not given more


def sorted_grips(pairs):
    """As an array of records, by their keys."""
    pairs = np.array(pairs, PAIR_GRIP_DTYPE).reshape(-1)
    return pairs[np.argsort(pairs["key"])]


cdef inline void resist_as(Resistance* r, const PairGrip* grip) noexcept nogil:
    """What is said of two together, or NULL."""
    if grip == NULL:
        return
    r.rolling = grip.rolling if grip.rolling >= 0.0 else r.rolling
    r.torsional = grip.torsional if grip.torsional >= 0.0 else r.torsional


cdef PairSearch search_of(Collider self, const Bodies* bodies, double ahead) noexcept nogil:
    """Among the shapes as they were placed."""
    cdef PairSearch s
    s.solids, s.turns, s.grips = self.solids, self.turns, self.grips
    s.bodies, s.nearness, s.ahead = bodies, &self.placed_nearness, ahead
    s.previous, s.previous_count = self.store.previous, self.store.previous_count
    s.manifolds = self.store.manifolds
    s.resisting, s.compliant = self.resisting, self.compliant
    s.shapes, s.one_way = self.shapes, self.one_way
    s.pair_grips, s.pair_grip_count = self.pair_grips, self.pair_grip_count
    s.material_grips, s.material_grip_count = self.material_grips, self.material_grip_count
    return s


# A search that several threads make: each takes a stretch of the pairs, and as large a part of the room.
ctypedef struct SharedSearch:
    PairSearch search
    const uint64_t* pairs
    Py_ssize_t capacity
    int threads
    Py_ssize_t found[MOST_WORKERS]       # how many manifolds; < 0: there is no room


cdef void search_stretch(void* what, Py_ssize_t begin, Py_ssize_t end, int worker) noexcept nogil:
    cdef SharedSearch* shared = <SharedSearch*>what
    shared.found[worker] = find_some(&shared.search, shared.pairs, begin, end,
                                     shared.capacity * worker // shared.threads,
                                     shared.capacity * (worker + 1) // shared.threads)


@final
cdef class Collider(Broadphase):
    """The collision stage of one world.

    shapes (s,) SHAPE_DTYPE, hulls (h,) HULL_DTYPE with their pools as described at Hull in state/_shape.pxd: vertices
    (v, 3), face_normals (f, 3), face_offsets (f,), face_begin, face_index, edges. excluded_pairs (k, 2): pairs of
    bodies that do not collide. Kernels call collide, grow when told so, and accept; the manifolds are in `store`. Python
    reads the accepted ones.
    """

    def __cinit__(self, shapes, hulls, vertices, face_normals, face_offsets, face_begin, face_index, edges,
                  excluded_pairs, Surfaces surfaces=None):
        self.store = ManifoldStore()
        self.add_shapes(shapes, hulls, vertices, face_normals, face_offsets, face_begin, face_index, edges,
                        surfaces)
        self.set_excluded(excluded_pairs)
        self.threads = 1
        self.pairs_wanted = 4 * self.shape_count + 64
        self.store.wanted = 2 * self.shape_count + 64
        self.grow()

    def __dealloc__(self):
        free(self.log.events)
        free(self.pair_grips)
        free(self.material_grips)

    # ---- for kernels -------------------------------------------------------------------------------------------------

    cdef int collide(self, Bodies* bodies, const Nearness* nearness, double ahead) noexcept nogil:
        """Find the contacts no farther apart than that, and those that come so near within the time `ahead` [s] at the
        present velocities (0: twists are not read). -> OK, or GROW: call grow() and then this again."""
        cdef int status
        self.store.manifold_count = 0
        if not self.store.has_room():
            return GROW
        status = self.find_pairs(bodies, nearness, ahead)
        if status == OK:
            status = self.find_manifolds(bodies, ahead)
        if status == OK:
            self.join_surfaces(bodies, ahead)
        return status

    cdef void accept(self) noexcept nogil:
        """The step stands: its manifolds become the previous ones."""
        note_contacts(&self.log, self.store.previous, self.store.previous_count, self.store.manifolds,
                      self.store.manifold_count)
        self.store.accept()

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
        for i in range(self.store.manifold_count):
            m = &self.store.manifolds[i]
            r = &self.store.resistances[i]
            a = &self.shapes[m.shape_a]
            b = &self.shapes[m.shape_b]
            r.rolling = max(a.rolling_friction, b.rolling_friction)
            r.torsional = max(a.torsional_friction, b.torsional_friction)
            r.surface_velocity = sub(mat_vec(self.solids[m.shape_b].axes, b.surface_velocity),
                                     mat_vec(self.solids[m.shape_a].axes, a.surface_velocity))
            if self.material_grip_count > 0:
                resist_as(r, grip_of(self.material_grips, self.material_grip_count, a.material, b.material))
            if self.pair_grip_count > 0:
                resist_as(r, grip_of(self.pair_grips, self.pair_grip_count, m.body_a, m.body_b))
            if r.rolling == 0.0:
                m.rolling_impulse = vec3(0.0, 0.0, 0.0)  # of a material that it had before

    cdef void part(self, const Bodies* bodies) noexcept nogil:
        """Follow who sleeps: manifolds of sleeping bodies into a list of their own, those of woken ones back; shapes at
        rest or not. Needs room in the store."""
        cdef int32_t i
        self.log.touching = -1
        self.store.part(bodies)
        for i in range(self.shape_count):
            self.accompany(i, company_of(bodies, self.shapes[i].body))

    def copied(self):
        """A collider of the same shapes and pairs, which has not seen where they are, nor any contact."""
        cdef Collider other = Collider(np.zeros(0, SHAPE_DTYPE), np.zeros(0, HULL_DTYPE), [], [], [], [0], [], None, [])
        other.take_shapes(self)
        other.list_planes(0)
        other.set_excluded(self.get_excluded())
        other.pair_grips = <PairGrip*>resized(NULL, self.pair_grip_count, sizeof(PairGrip))
        other.material_grips = <PairGrip*>resized(NULL, self.material_grip_count, sizeof(PairGrip))
        memcpy(other.pair_grips, self.pair_grips, self.pair_grip_count * sizeof(PairGrip))
        memcpy(other.material_grips, self.material_grips, self.material_grip_count * sizeof(PairGrip))
        other.pair_grip_count, other.material_grip_count = self.pair_grip_count, self.material_grip_count
        other.pairs_wanted, other.store.wanted = self.pair_capacity, self.store.capacity
        other.revise()
        other.grow()
        return other

    cdef void forget_touching(self) noexcept nogil:
        """How many contacts touch is counted anew."""
        self.log.touching = -1

    cpdef grow(self):
        """Make room for what the last collide call could not store."""
        self.grow_pairs()
        self.store.grow()

    # ---- shapes that come, go and change -----------------------------------------------------------------------------

    def remove_shapes(self, gone, body_number):
        """As Broadphase.remove_shapes; their manifolds go with them, the others follow the new numbers."""
        body_number = np.ascontiguousarray(body_number, np.int32).reshape(-1)
        number = Broadphase.remove_shapes(self, gone, body_number)
        self.store.renumber(<const int32_t*>address(number), <const int32_t*>address(body_number))
        self.renumber_pairs(<const int32_t*>address(body_number))
        self.revise()
        return number

    cdef void renumber_pairs(self, const int32_t* body_number) noexcept nogil:
        """Bodies' new numbers, -1 = gone, in the list of those that are told together; they rise, so it stays sorted."""
        cdef Py_ssize_t k
        cdef Py_ssize_t kept = 0
        cdef PairGrip* grip
        cdef int32_t a, b
        for k in range(self.pair_grip_count):
            grip = &self.pair_grips[k]
            a, b = body_number[grip.key >> 32], body_number[<int32_t>grip.key]
            if a >= 0 and b >= 0:
                self.pair_grips[kept] = grip[0]
                self.pair_grips[kept].key = pair_key(a, b)
                kept += 1
        self.pair_grip_count = kept

    def set_pair_grips(self, pairs):
        """pairs (k,) PAIR_GRIP_DTYPE: the bodies whose surfaces are told together from now on, each two once."""
        pairs = sorted_grips(pairs)
        self.pair_grips = <PairGrip*>resized(self.pair_grips, max(len(pairs), self.pair_grip_count), sizeof(PairGrip))
        memcpy(self.pair_grips, address(pairs), len(pairs) * sizeof(PairGrip))
        self.pair_grip_count = len(pairs)
        self.revise()

    def set_material_grips(self, pairs):
        """The same of the numbers of materials' names; a material may be told with itself."""
        pairs = sorted_grips(pairs)
        self.material_grips = <PairGrip*>resized(self.material_grips, max(len(pairs), self.material_grip_count),
                                                 sizeof(PairGrip))
        memcpy(self.material_grips, address(pairs), len(pairs) * sizeof(PairGrip))
        self.material_grip_count = len(pairs)
        self.revise()

    def change_shapes(self, numbers, shapes):
        """As Broadphase.change_shapes. The points of a shape that changed its form or place are not used again."""
        numbers = np.array(numbers, np.int32).reshape(-1)
        anew = np.zeros(self.shape_count, np.int8)
        changed = Broadphase.change_shapes(self, numbers, shapes)
        anew[numbers[changed]] = 1
        self.store.find_anew(<const int8_t*>address(anew))
        return changed

    def replace_shapes(self, numbers, *records, surfaces=None):
        """As Broadphase.replace_shapes; the manifolds of what was there go with it."""
        number, bodies = np.arange(self.shape_count, dtype=np.int32), self.get_bodies()
        Broadphase.replace_shapes(self, numbers, *records, surfaces=surfaces)
        number[numbers] = -1
        bodies = np.arange(bodies.max(initial=-1) + 1, dtype=np.int32)
        self.store.renumber(<const int32_t*>address(number), <const int32_t*>address(bodies))

    cdef void revise(self) noexcept nogil:
        cdef Py_ssize_t k
        Broadphase.revise(self)
        for k in range(self.pair_grip_count):
            self.resisting |= self.pair_grips[k].rolling > 0.0 or self.pair_grips[k].torsional > 0.0
        for k in range(self.material_grip_count):
            self.resisting |= self.material_grips[k].rolling > 0.0 or self.material_grips[k].torsional > 0.0
        self.store.resist(self.resisting)

    # ---- the stages of a call ----------------------------------------------------------------------------------------

    cdef Py_ssize_t add_pairs(self, const Bodies* bodies, double ahead, const uint64_t* pairs,
                              Py_ssize_t count) noexcept nogil:
        """The manifolds of further sorted pairs behind those that there are. -> how many; < 0: there is no room"""
        cdef PairSearch s = search_of(self, bodies, ahead)
        return find_some(&s, pairs, 0, count, self.store.manifold_count, self.store.capacity)

    cdef void join_surfaces(self, const Bodies* bodies, double ahead) noexcept nogil:
        """Drop contacts at inner edges of shapes that move together."""
        cdef Neighbours x
        x.solids, x.kind, x.shape_count = self.solids, self.kind, self.shape_count
        x.bodies, x.ahead = bodies, ahead
        x.close, x.close_count = self.close, self.close_count
        x.manifolds, x.manifold_count = self.store.manifolds, self.store.manifold_count
        x.last_pair, x.pair_before = self.last_pair, self.pair_before
        self.store.manifold_count = drop_inner(&x)

    cdef int find_manifolds(self, Bodies* bodies, double ahead) noexcept nogil:
        """Narrowphase of all pairs in ascending order, so that the manifolds come out sorted. Each thread takes a stretch
        of them, and as large a part of the room; where one needs more, one thread does it all, and next time there is more
        room."""
        cdef SharedSearch shared
        cdef Py_ssize_t count = self.close_count
        cdef Py_ssize_t capacity = self.store.capacity
        cdef Manifold* manifolds = self.store.manifolds
        cdef int threads = <int>min(<Py_ssize_t>self.threads, count // LEAST_PAIRS) if self.threads > 1 else 1
        cdef int t
        if threads > 1 and (count > capacity or self.crowded):
            self.crowded = False
            self.store.wanted = max(count + count // 4, capacity + 1)
            return GROW
        shared.search = search_of(self, bodies, ahead)
        if threads > 1:
            shared.pairs, shared.capacity, shared.threads = self.close, capacity, threads
            share_out(search_stretch, &shared, count, LEAST_PAIRS, threads)
            for t in range(threads):
                if shared.found[t] < 0:
                    threads = 1
                    self.crowded = capacity < ROOMY * count
                    break
        if threads <= 1:
            count = find_some(&shared.search, self.close, 0, count, 0, capacity)
            if count < 0:
                self.want(~count)
                return GROW
            self.store.manifold_count = count
            return OK
        count = shared.found[0]
        for t in range(1, threads):
            memmove(&manifolds[count], &manifolds[capacity * t // threads], shared.found[t] * sizeof(Manifold))
            count += shared.found[t]
        self.store.manifold_count = count
        return OK

    cdef void want(self, Py_ssize_t done) noexcept nogil:
        """Room for as many manifolds to a pair as the pairs done had, and then some: where many bodies land at once,
        to begin anew with twice the room each time takes longest."""
        cdef Py_ssize_t most = SURFACE_MANIFOLDS * (self.close_count + 1)
        cdef Py_ssize_t capacity = self.store.capacity
        cdef Py_ssize_t likely = capacity * self.close_count // max(done, 1)
        self.store.wanted = max(2 * capacity, min(likely + likely // 4, most))

    # ---- for Python --------------------------------------------------------------------------------------------------

    def get_manifolds(self, bint present=False):
        """-> (m,) MANIFOLD_DTYPE, a copy: ManifoldStore.get."""
        return self.store.get(present)

    def set_manifolds(self, manifolds):
        """Restore what get_manifolds gave; the broadphase starts anew."""
        self.store.set(manifolds)
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
        self.store.clear()
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
        self.unplaced = True
        with nogil:
            status = self.collide(&bodies, &nearness, 0.0)
        while status == GROW:
            self.grow()
            with nogil:
                status = self.collide(&bodies, &nearness, 0.0)
        self.accept()
        return self.get_manifolds()
