"""Which pairs of shapes may touch: trees of fat boxes, a sorted set of pairs, planes apart.

Order of a call: place the shapes that can have moved, mend the trees of fat boxes, mend the set of pairs. There is one
tree of what stands still and one of what moves: only what moves is asked for in the first, and its leaves never loosen.
A pair is kept while the two fat boxes overlap and one of the two may move against the other: at least one is dynamic,
and at least one awake, or what carries them differs. Only shapes that left their fat boxes, woke or are new look for
pairs. The pairs are one sorted array, which every step reads from end to end anyhow: mending it costs a pass over eight
bytes a pair.

Fat boxes and the trees' form only decide what is tested in vain: the pairs that come out (`close`, `plane_pairs`)
depend on the bodies' state alone, and on who sleeps.
"""

import numpy as np

from libc.stdint cimport int8_t, int32_t, uint64_t
from libc.stdlib cimport free
from libc.string cimport memcpy
from mcsim.core._types cimport Vec3, OK, GROW
from mcsim.core._math cimport vec3, sub, scale, dot
from mcsim.state._bodies cimport Bodies, DYNAMIC, STATIC
from mcsim.state._settings cimport Nearness
from mcsim.state._shape cimport Shape
from mcsim.state._shape_types cimport PLANE
from mcsim.collide._memory cimport address, resized
from mcsim.collide._margins cimport extend, grown, limit
from mcsim.collide._shapes cimport PlacedShapes
from mcsim.collide._shape_table cimport thickness
from mcsim.collide._solid cimport Aabb, near_of
from mcsim.collide._tree cimport (NOTHING_THERE, BoxWalk, Mark, Node, Tree, holds, joined, mark_of, next_leaf, nothing,
                                  overlap, refit, side_of, tree_build, tree_clear, tree_insert, tree_move, tree_remove,
                                  tree_renumber, walk_box)
from mcsim.collide._pairs cimport pair_key, sort_keys, merge_keys, has_key


# What moves steadily keeps its fat box for this many calls.
cdef double TRAVELS = 3.0


def body_keys(pairs):
    """(k,) uint64, sorted, none twice: pairs (k, 2) of bodies, in any order."""
    pairs = np.sort(np.array(pairs, np.int64).reshape(-1, 2), axis=1)
    return np.unique(pairs[:, 0].astype(np.uint64) << np.uint64(32) | pairs[:, 1].astype(np.uint64))


def is_in(keys, known):
    """(k,) bool: which are among others, (n,) sorted."""
    place = np.searchsorted(known, keys)
    found = np.zeros(len(keys), bool)
    inside = place < len(known)
    found[inside] = known[place[inside]] == keys[inside]
    return found


cdef Py_ssize_t first_changed(const int32_t* number, Py_ssize_t count) noexcept nogil:
    """The first place that has another number, and none below 0, or `count`; -1 where the numbers do not rise, but for
    those below 0."""
    cdef Py_ssize_t k
    cdef Py_ssize_t first = count
    cdef int32_t last = -1
    for k in range(count):
        if number[k] >= 0:
            if number[k] <= last:
                return -1
            last = number[k]
            if number[k] != k and first == count:
                first = k
    return first


cdef class Broadphase(PlacedShapes):
    """excluded_pairs (k, 2): pairs of bodies that do not collide."""

    def __cinit__(self, *_):
        cdef int k
        self.add_column(<void**>&self.fat, sizeof(Aabb))
        self.add_column(<void**>&self.parents, sizeof(int32_t))
        self.add_column(<void**>&self.home, 1)
        self.add_column(<void**>&self.company, sizeof(int32_t))
        self.add_column(<void**>&self.marks, sizeof(Mark))
        self.add_column(<void**>&self.moved_list, sizeof(int32_t))
        self.add_column(<void**>&self.planes, sizeof(int32_t), True)
        self.add_column(<void**>&self.last_pair, sizeof(int32_t))
        self.add_column(<void**>&self.tight, sizeof(Aabb))
        self.add_column(<void**>&self.loose, 1)
        for k in range(3):
            tree_clear(&self.trees[k])
        self.stale = 1

    def __dealloc__(self):
        cdef int k
        for k in range(3):
            free(self.trees[k].nodes)
        free(self.excluded)
        free(self.pairs)
        free(self.fresh)
        free(self.plane_pairs)
        free(self.close)
        free(self.pair_before)

    # ---- rows that come and go ---------------------------------------------------------------------------------------

    cdef int reserve_shapes(self, Py_ssize_t count) except -1:
        cdef Py_ssize_t capacity = max(count, self.shape_capacity + self.shape_capacity // 2)
        cdef int k
        if count <= self.shape_capacity:
            return 0
        try:
            for k in range(STILL, MOVING + 1):
                self.trees[k].nodes = <Node*>resized(self.trees[k].nodes, capacity, sizeof(Node))
            PlacedShapes.reserve_shapes(self, count)
        finally:
            for k in range(STILL, MOVING + 1):
                self.trees[k].boxes = self.fat
                self.trees[k].parents = self.parents
        return 0

    def add_shapes(self, shapes, hulls, vertices, face_normals, face_offsets, face_begin, face_index, edges=None,
                   surfaces=None):
        """Shapes come, numbered on from the last. shapes (k,) SHAPE_DTYPE, hulls and pools as in the constructor, for
        these shapes alone: their `hull` counts from 0. Nothing else is built anew. Refused: nothing changed."""
        cdef int32_t i = self.shape_count
        self._append(shapes, hulls, vertices, face_normals, face_offsets, face_begin, face_index, surfaces)
        self.list_planes(i)

    cdef void list_planes(self, int32_t begin) noexcept nogil:
        """Note which shapes from `begin` on are planes."""
        cdef int32_t i
        if begin == 0:
            self.plane_count = 0
        for i in range(begin, self.shape_count):
            if self.shapes[i].type == PLANE:
                self.planes[self.plane_count] = i
                self.plane_count += 1

    def remove_shapes(self, gone, body_number):
        """Shapes go, the others close up in order. gone (s,) bool; body_number (bodies,): what each body is called from
        now on, rising, -1 = it goes. -> (s,) int32 shapes' numbers from now on, -1 = gone. Refused: nothing changed."""
        gone = np.ascontiguousarray(gone, bool).reshape(-1)
        body_number = np.ascontiguousarray(body_number, np.int32).reshape(-1)
        if len(gone) != self.shape_count:
            raise ValueError(f"one flag for each of {self.shape_count} shapes, not {len(gone)}")
        number = np.empty(self.shape_count, np.int32)
        cdef const int8_t* flags = <const int8_t*>address(gone)
        cdef const int32_t* bodies = <const int32_t*>address(body_number)
        cdef int32_t* numbers = <int32_t*>address(number)
        cdef Py_ssize_t count = len(body_number)
        cdef Py_ssize_t first = first_changed(bodies, count)
        if first < 0:
            raise ValueError("bodies must close up in order")
        if not self.number_shapes(flags, bodies, count, numbers):
            raise ValueError("a shape that stays is on a body that goes")
        if self.excluded_count > 0:
            excluded = self.get_excluded()
            excluded = body_number[excluded[np.all(excluded < count, axis=1)]]
            excluded = body_keys(excluded[np.all(excluded >= 0, axis=1)])
            memcpy(self.excluded, address(excluded), len(excluded) * sizeof(uint64_t))
            self.excluded_count = len(excluded)
        self.renumber(flags, numbers)
        self.close_up_shapes(flags)
        if first < count:
            self.renumber_bodies(bodies)
        return number

    cdef bint number_shapes(self, const int8_t* gone, const int32_t* bodies, Py_ssize_t count,
                            int32_t* number) noexcept nogil:
        """What each shape is called when some are gone, -1 of those. -> whether those that stay are on bodies that do"""
        cdef int32_t i
        cdef int32_t kept = 0
        for i in range(self.shape_count):
            number[i] = -1
            if not gone[i]:
                if self.owner[i] >= count or bodies[self.owner[i]] < 0:
                    return False
                number[i] = kept
                kept += 1
        return True

    cdef void renumber_bodies(self, const int32_t* number) noexcept nogil:
        cdef int32_t i
        for i in range(self.shape_count):
            self.owner[i] = number[self.owner[i]]
            self.shapes[i].body = self.solids[i].body = self.owner[i]

    cdef void renumber(self, const int8_t* gone, const int32_t* number) noexcept nogil:
        """Shapes' new numbers in the trees and the pairs; they rise, so pairs stay sorted."""
        cdef int32_t i
        cdef Py_ssize_t k
        cdef Py_ssize_t kept = 0
        cdef uint64_t key
        for i in range(self.shape_count):
            if gone[i] and self.home[i] != NOWHERE:
                tree_remove(&self.trees[self.home[i]], i)
        for i in range(self.shape_count):
            if not gone[i] and self.home[i] != NOWHERE and number[i] != i:
                tree_renumber(&self.trees[self.home[i]], i, number[i])
        for k in range(self.pair_count):
            key = self.pairs[k]
            if not gone[key >> 32] and not gone[<int32_t>key]:
                self.pairs[kept] = pair_key(number[key >> 32], number[<int32_t>key])
                kept += 1
        self.pair_count = kept
        self.close_count = 0
        self.plane_pair_count = 0
        kept = 0
        for k in range(self.plane_count):
            if not gone[self.planes[k]]:
                self.planes[kept] = number[self.planes[k]]
                kept += 1
        self.plane_count = <int32_t>kept

    def change_shapes(self, numbers, shapes):
        """Other records for shapes: materials, filters, sizes, places. numbers (k,), shapes (k,) SHAPE_DTYPE with the
        type, body and hull that they have. What changed more than its material looks for its pairs anew.
        -> (k,) bool: which changed their form or place. Refused: nothing changed."""
        return self._change(numbers, shapes)

    def replace_shapes(self, numbers, shapes, hulls, vertices, face_normals, face_offsets, face_begin, face_index,
                       edges=None, surfaces=None):
        """Other shapes in the place of some, in their rows and on their bodies; arguments as of add_shapes. None of them
        was or is a plane. They look for their pairs anew. Refused: nothing changed."""
        self._replace(numbers, shapes, hulls, vertices, face_normals, face_offsets, face_begin, face_index, surfaces)

    def set_excluded(self, pairs):
        """pairs (k, 2): the pairs of bodies that do not collide from now on. Refused: nothing changed."""
        keys, known = body_keys(pairs), self.excluded_keys()
        self._take_excluded(keys, np.setxor1d(keys, known, assume_unique=True))

    def change_excluded(self, come, gone):
        """The same, of the pairs that come and those that go alone, each (k, 2) and none in both."""
        known, come, gone = self.excluded_keys(), body_keys(come), body_keys(gone)
        come, gone = come[~is_in(come, known)], gone[is_in(gone, known)]
        keys = np.delete(known, np.searchsorted(known, gone))
        self._take_excluded(np.insert(keys, np.searchsorted(keys, come), come), np.concatenate([come, gone]))

    def _take_excluded(self, keys, changed):
        """keys: sorted, of all pairs that do not collide from now on; changed: of those that came or went."""
        cdef int32_t i
        bodies = np.unique(np.concatenate([changed >> np.uint64(32), changed & np.uint64(0xffffffff)]))
        touched = np.isin(self.get_bodies(), bodies.astype(np.int64)).astype(np.int8)
        cdef const int8_t* flags = <const int8_t*>address(touched)
        self.excluded = <uint64_t*>resized(self.excluded, max(len(keys), self.excluded_count), sizeof(uint64_t))
        memcpy(self.excluded, address(keys), len(keys) * sizeof(uint64_t))
        self.excluded_count = len(keys)
        for i in range(self.shape_count):
            self.moved[i] |= flags[i]
        self.unplaced = True

    def excluded_keys(self):
        """(k,) uint64, sorted: as body_keys()."""
        keys = np.empty(self.excluded_count, np.uint64)
        if self.excluded_count > 0:                      # else the array may not be there, which memcpy must not be told
            memcpy(address(keys), self.excluded, self.excluded_count * sizeof(uint64_t))
        return keys

    def get_excluded(self):
        """-> (k, 2) int64: the pairs of bodies that do not collide, the lower number first."""
        keys = self.excluded_keys()
        return np.stack([keys >> np.uint64(32), keys & np.uint64(0xffffffff)], axis=1).astype(np.int64)

    # ---- rest --------------------------------------------------------------------------------------------------------

    cdef void accompany(self, int32_t i, int32_t company) noexcept nogil:
        """Its body sleeps in this company from now on, or no longer. At rest it is placed once more, and then stays where
        it is. Before the kind of a sleeping body changes, or its pose, wake its shapes."""
        cdef int32_t before = self.company[i]
        if company == before:
            return
        self.company[i], self.unplaced = company, True
        self.moved[i] |= company == ALONE or before == AT_REST
        self.due[i] |= company == AT_REST
        self.resting[i] = company == AT_REST
        self.thinning |= company != ALONE

    def set_resting(self, resting):
        """resting (s,) bool: shapes of bodies that sleep, at rest."""
        cdef int32_t i
        resting = np.ascontiguousarray(resting, bool).reshape(-1)
        if len(resting) != self.shape_count:
            raise ValueError(f"one flag for each of {self.shape_count} shapes, not {len(resting)}")
        cdef const int8_t* flags = <const int8_t*>address(resting)
        for i in range(self.shape_count):
            self.accompany(i, AT_REST if flags[i] else ALONE)

    # ---- the stages of a call ----------------------------------------------------------------------------------------

    cdef int find_pairs(self, Bodies* bodies, const Nearness* nearness, double ahead) noexcept nogil:
        """The pairs whose boxes overlap, and those with planes, into `close`. -> OK, or GROW: call
        grow_pairs() and then this again."""
        cdef int status
        self.place_shapes(bodies, nearness, ahead, self.stale)
        self.mend_trees()
        status = self.mend_pairs()
        if status == OK:
            status = self.find_plane_pairs()
        return self.find_close_pairs() if status == OK else status

    cdef int grow_pairs(self) except -1:
        """Make room for the pairs that the last call could not store."""
        cdef Py_ssize_t capacity
        if self.pairs_wanted > self.pair_capacity:
            capacity = max(self.pairs_wanted, self.pair_capacity + self.pair_capacity // 2)
            self.pairs = <uint64_t*>resized(self.pairs, capacity, sizeof(uint64_t))
            self.fresh = <uint64_t*>resized(self.fresh, capacity, sizeof(uint64_t))
            self.plane_pairs = <uint64_t*>resized(self.plane_pairs, capacity, sizeof(uint64_t))
            self.close = <uint64_t*>resized(self.close, capacity, sizeof(uint64_t))
            self.pair_before = <int32_t*>resized(self.pair_before, capacity, sizeof(int32_t))
            self.pair_capacity = capacity
        return 0

    cdef void set_fat_boxes(self, int32_t* coming) noexcept nogil:
        """New fat boxes for the shapes that left theirs; how many there are for each tree. A shape that is not finite
        has an empty one."""
        cdef int32_t i, k
        cdef double x, y, z, margin
        cdef const Aabb* box
        cdef Aabb* fat
        self.moved_count = 0
        for k in range(self.placed_count):
            i = self.placed[k]
            if self.shapes[i].type == PLANE:
                self.moved[i] = 0
                continue
            box = &self.boxes[i]
            fat = &self.fat[i]
            if self.solids[i].finite:
                if not self.moved[i] and holds(fat, box):
                    continue
                margin = 0.0
                if self.kind[i] == DYNAMIC:
                    x = box.upper.x - box.lower.x
                    y = box.upper.y - box.lower.y
                    z = box.upper.z - box.lower.z
                    x = x if x > y else y
                    margin = near_of(&self.placed_nearness, thickness(&self.solids[i])) + 0.025 * (x if x > z else z)
                fat[0] = grown(box, margin)
                extend(fat, scale(TRAVELS, self.solids[i].motion.travel))
            else:
                if not self.moved[i] and fat.lower.x > fat.upper.x:
                    continue
                fat[0] = nothing()
            self.moved[i] = 1
            self.moved_list[self.moved_count] = i
            self.moved_count += 1
            coming[STILL if self.kind[i] == STATIC else MOVING] += 1

    cdef void mend_trees(self) noexcept nogil:
        """Every shape that was placed into its tree, where it is now. A tree half of whose leaves changed is built
        anew."""
        cdef int32_t coming[3]
        cdef int anew[3]
        cdef int32_t i, k
        cdef int which, old
        for which in range(3):
            coming[which] = 0
            anew[which] = 0
        if self.stale:
            for i in range(self.shape_count):
                self.fat[i] = nothing()
            self.pair_count = 0
        self.set_fat_boxes(coming)
        for which in range(STILL, MOVING + 1):
            anew[which] = self.stale or (self.trees[which].changes + coming[which]
                                         > self.trees[which].count // 2 + 16)
        for k in range(self.moved_count):
            i = self.moved_list[k]
            old = self.home[i]
            which = STILL if self.kind[i] == STATIC else MOVING
            self.home[i] = which
            if old != which and old != NOWHERE and not anew[old]:
                tree_remove(&self.trees[old], i)
            if anew[which]:
                continue
            if old != which:
                tree_insert(&self.trees[which], i)
            else:
                tree_move(&self.trees[which], i)
        for which in range(STILL, MOVING + 1):
            if anew[which]:
                self.build(which)
        # From here on an interrupted call is taken up by starting anew.
        self.stale = 1

    cdef void build(self, int which) noexcept nogil:
        """A tree anew, of all shapes that are at home in it."""
        cdef int32_t i
        cdef int32_t count = 0
        for i in range(self.shape_count):
            if self.home[i] == which:
                self.marks[count] = mark_of(&self.fat[i], i)
                count += 1
        tree_build(&self.trees[which], self.marks, count)

    cdef void loosen(self, int32_t i) noexcept nogil:
        """From now on who walks the trees finds a shape also where it has been placed since the last call; pairs do not
        know of it. tighten() before the next call."""
        cdef Tree* tree = &self.trees[self.home[i]]
        if self.home[i] == NOWHERE or not self.solids[i].finite:
            return
        if not self.loose[i]:
            self.loose[i], self.tight[i] = 1, self.fat[i]
        self.fat[i] = joined(&self.fat[i], &self.boxes[i])
        refit(tree, i)

    cdef void tighten(self, int32_t i) noexcept nogil:
        """The box of its leaf is again what it was in the last call."""
        if self.loose[i]:
            self.loose[i], self.fat[i] = 0, self.tight[i]
            refit(&self.trees[self.home[i]], i)

    cdef int live(self, int32_t i, int32_t j) noexcept nogil:
        """Does one of the two answer to contacts, and may one move against the other?"""
        cdef int32_t a = AT_REST if self.kind[i] == STATIC else self.company[i]
        cdef int32_t b = AT_REST if self.kind[j] == STATIC else self.company[j]
        if self.kind[i] != DYNAMIC and self.kind[j] != DYNAMIC:
            return 0
        return a == ALONE or b == ALONE or a != b

    cdef int wanted(self, int32_t i, int32_t j) noexcept nogil:
        """May the two shapes collide at all?"""
        cdef const Shape* a = &self.shapes[i]
        cdef const Shape* b = &self.shapes[j]
        if a.body == b.body or a.sensor or b.sensor or not self.live(i, j):
            return 0
        if (a.group & b.mask) == 0 or (b.group & a.mask) == 0:
            return 0
        return self.excluded_count == 0 or not has_key(self.excluded, self.excluded_count, pair_key(a.body, b.body))

    cdef int query(self, int32_t i, int which, Py_ssize_t* count) noexcept nogil:
        """Append to `fresh` the pairs of shape i with all in a tree whose fat boxes overlap its own."""
        cdef BoxWalk walk
        cdef int32_t j
        if self.fat[i].lower.x > self.fat[i].upper.x:
            return OK
        walk_box(&walk, &self.trees[which], &self.fat[i])
        j = next_leaf(&walk)
        while j >= 0:
            # A pair of two moved shapes comes from the lower one's query.
            if j != i and not (self.moved[j] and j < i) and self.wanted(i, j):
                if count[0] == self.pair_capacity:
                    return GROW
                self.fresh[count[0]] = pair_key(i, j)
                count[0] += 1
            j = next_leaf(&walk)
        return OK

    cdef int mend_pairs(self) noexcept nogil:
        """Replace the pairs of moved shapes, drop those that have gone to rest."""
        cdef Py_ssize_t n
        cdef Py_ssize_t kept = 0
        cdef Py_ssize_t added = 0
        cdef uint64_t key
        cdef int32_t i, j, k
        cdef int status
        if self.moved_count > 0 or self.thinning:
            for n in range(self.pair_count):
                key = self.pairs[n]
                i = <int32_t>(key >> 32)
                j = <int32_t>key
                if not self.moved[i] and not self.moved[j] and self.live(i, j):
                    self.pairs[kept] = key
                    kept += 1
            for k in range(self.moved_count):
                i = self.moved_list[k]
                status = self.query(i, MOVING, &added)
                if status == OK and self.kind[i] == DYNAMIC:
                    status = self.query(i, STILL, &added)
                if status != OK or kept + added > self.pair_capacity:
                    self.pairs_wanted = self.pair_capacity + self.pair_capacity // 2 + 64
                    return GROW
            sort_keys(self.fresh, self.close, added)
            merge_keys(self.pairs, kept, self.fresh, added)
            self.pair_count = kept + added
            for k in range(self.moved_count):
                self.moved[self.moved_list[k]] = 0
        self.thinning = 0
        self.stale = 0
        return OK

    cdef int find_plane_pairs(self) noexcept nogil:
        """Every plane against the bounding sphere of every shape: planes have no box."""
        cdef int32_t p, i, k, plane
        cdef Py_ssize_t count = 0
        cdef uint64_t key
        cdef uint64_t last = 0
        cdef int sorted_already = 1
        cdef bint stands
        cdef Vec3 n
        cdef double height, reach
        for p in range(self.plane_count):
            plane = self.planes[p]
            if not self.solids[plane].finite:
                continue
            n = vec3(self.solids[plane].axes.xz, self.solids[plane].axes.yz, self.solids[plane].axes.zz)
            # Against what stands nothing moves that stands or rests, too.
            stands = self.kind[plane] == STATIC or self.company[plane] == AT_REST
            for k in range(self.lively_count if stands else self.shape_count):
                i = self.lively[k] if stands else k
                if not self.live(plane, i) or self.shapes[i].type == PLANE or not self.solids[i].finite:
                    continue
                height = dot(n, sub(self.solids[i].position, self.solids[plane].position))
                reach = limit(&self.solids[plane].motion, &self.solids[i].motion,
                              near_of(&self.placed_nearness, thickness(&self.solids[i]))) + self.solids[i].reach
                if height > reach or not self.wanted(plane, i):
                    continue
                if count == self.pair_capacity:
                    self.pairs_wanted = self.pair_capacity + self.pair_capacity // 2 + 64
                    return GROW
                key = pair_key(plane, i)
                sorted_already &= key >= last
                last = key
                self.plane_pairs[count] = key
                count += 1
        if not sorted_already:
            sort_keys(self.plane_pairs, self.close, count)
        self.plane_pair_count = count
        return OK

    cdef int find_close_pairs(self) noexcept nogil:
        """The pairs whose boxes overlap, without their fat, and those with planes into `close`. Two in three do not,
        without a pattern: so each is written, and the next one over it if it was in vain."""
        cdef Py_ssize_t i
        cdef Py_ssize_t count = 0
        cdef uint64_t key
        for i in range(self.pair_count):
            key = self.pairs[i]
            self.close[count] = key
            count += overlap(&self.boxes[key >> 32], &self.boxes[<int32_t>key])
        if count + self.plane_pair_count > self.pair_capacity:
            self.pairs_wanted = count + self.plane_pair_count + 64
            return GROW
        merge_keys(self.close, count, self.plane_pairs, self.plane_pair_count)
        self.close_count = count + self.plane_pair_count
        return OK

    # ---- for Python --------------------------------------------------------------------------------------------------

    def get_pairs(self):
        """-> (p, 2) int32: the pairs of shapes, planes aside, whose fat boxes overlapped in the last collide call."""
        keys = np.empty(self.pair_count, np.uint64)
        memcpy(address(keys), self.pairs, self.pair_count * sizeof(uint64_t))
        return np.stack([keys >> np.uint64(32), keys & np.uint64(0xffffffff)], axis=1).astype(np.int32)

    def get_boxes(self):
        """-> (s, 2, 3): lowest and highest corners [m] of the fat boxes, of the last collide call. NaN: a plane has none,
        nor what is not finite, nor has anything before the broadphase's first call, or where it starts anew."""
        cdef int32_t i
        boxes = np.full((self.shape_count, 2, 3), np.nan)
        cdef double[:, :, ::1] out = boxes
        if self.stale:
            return boxes
        for i in range(self.shape_count):
            if self.home[i] != NOWHERE and self.fat[i].lower.x <= self.fat[i].upper.x:
                memcpy(&out[i, 0, 0], &self.fat[i], sizeof(Aabb))
        return boxes

    def validate(self):
        """Walk the trees and the pairs and raise AssertionError where they are not sound (debugging aid)."""
        cdef Py_ssize_t i
        cdef int which
        leaves = [[], *(sound_leaves(&self.trees[which], self.fat) for which in range(STILL, MOVING + 1))]
        for i in range(self.shape_count):
            assert self.stale or self.home[i] == (NOWHERE if self.shapes[i].type == PLANE else STILL
                                                  if self.kind[i] == STATIC else MOVING) or self.moved[i], \
                f"shape {i} is in the wrong tree"
            assert self.shapes[i].type == PLANE or not self.solids[i].finite or self.moved[i] or self.stale \
                or holds(&self.fat[i], &self.boxes[i]), f"shape {i} is outside its fat box"
        homes = [self.home[i] for i in range(self.shape_count)]
        for which in range(STILL, MOVING + 1):
            assert sorted(leaves[which]) == [i for i, home in enumerate(homes) if home == which], "leaves are lost"
        for i in range(1, self.pair_count):
            assert self.pairs[i - 1] < self.pairs[i], "pairs are not sorted"


cdef sound_leaves(const Tree* tree, const Aabb* fat):
    """The leaves of a tree. AssertionError: heights, parents or boxes are not sound, or its two sides do not balance
    somewhere."""
    cdef list leaves = []
    cdef int32_t node, child, parent
    cdef int side
    heights = {}
    stack = [(tree.root, -1)] if tree.root != NOTHING_THERE else []
    while stack:
        child, parent = stack.pop()
        if child < 0:
            leaves.append(~child)
            assert tree.parents[~child] == parent, f"leaf {~child} does not know its parent {parent}"
            assert parent < 0 or holds(&tree.nodes[parent].box[side_of(tree, parent, child)], &fat[~child]) \
                or fat[~child].lower.x > fat[~child].upper.x, f"node {parent} does not hold {~child}"
            continue
        node = child
        assert node not in heights, f"node {node} is reached twice"
        assert tree.nodes[node].parent == parent, f"node {node} does not know its parent {parent}"
        heights[node] = tree.nodes[node].height
        below = []
        for side in range(2):
            child = tree.nodes[node].child[side]
            below.append(tree.nodes[child].height if child >= 0 else 0)
            assert child < 0 or all(
                tree.nodes[child].box[k].lower.x > tree.nodes[child].box[k].upper.x
                or holds(&tree.nodes[node].box[side], &tree.nodes[child].box[k]) for k in range(2)), \
                f"node {node} does not hold {child}"
            stack.append((child, node))
        assert tree.nodes[node].height == 1 + max(below), f"node {node} has the wrong height"
        assert abs(below[0] - below[1]) <= 1, f"node {node} is out of balance"
    assert len(leaves) == tree.count, "the tree counts its leaves wrong"
    return leaves
