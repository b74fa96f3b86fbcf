"""Which pairs of shapes may touch: a tree of fat boxes, a sorted set of pairs, planes apart.

Order of a call: place the shapes, mend the tree of fat boxes, mend the set of pairs. Fat boxes and the tree's form only
decide what is tested in vain: the pairs that come out (`close`, `plane_pairs`) depend on the bodies' state alone.
"""

import numpy as np

from libc.stdint cimport int32_t, uint64_t
from libc.stdlib cimport free
from libc.string cimport memcpy
from mcsim.core._types cimport Vec3, OK, GROW
from mcsim.core._math cimport vec3, sub, scale, dot
from mcsim.state._layout cimport Bodies, Shape, PLANE
from mcsim.collide._memory cimport address, resized, zeroed
from mcsim.collide._shapes cimport PlacedShapes, extend, grown
from mcsim.collide._surfaces cimport Surfaces
from mcsim.collide._solid cimport Aabb
from mcsim.collide._tree cimport TREE_STACK, Node, nothing, overlap, holds, tree_build, tree_refit
from mcsim.collide._pairs cimport pair_key, sort_keys, merge_keys, has_key


# What moves steadily keeps its fat box for this many calls.
cdef double TRAVELS = 3.0


cdef class Broadphase(PlacedShapes):
    """excluded_pairs (k, 2): pairs of bodies that do not collide."""

    def __cinit__(self, shapes, hulls, vertices, face_normals, face_offsets, face_begin, face_index, edges,
                  excluded_pairs, Surfaces surfaces=None):
        cdef int32_t i
        self.moved_list = <int32_t*>zeroed(self.shape_count, sizeof(int32_t))
        self.planes = <int32_t*>zeroed(self.shape_count, sizeof(int32_t))
        self.tree.nodes = <Node*>zeroed(2 * self.shape_count, sizeof(Node))
        self.tree.order = <int32_t*>zeroed(self.shape_count, sizeof(int32_t))
        self.tree.shape_count = self.shape_count
        for i in range(self.shape_count):
            if self.shapes[i].type == PLANE:
                self.planes[self.plane_count] = i
                self.plane_count += 1
            else:
                self.tree.order[self.tree.count] = i
                self.tree.count += 1
        self._take_excluded(excluded_pairs)
        self.pairs_wanted = 4 * self.shape_count + 64
        self.grow_pairs()
        self.stale = 1

    def _take_excluded(self, excluded_pairs):
        pairs = np.sort(np.array(excluded_pairs, np.int64).reshape(-1, 2), axis=1)
        keys = np.unique(pairs[:, 0].astype(np.uint64) << np.uint64(32) | pairs[:, 1].astype(np.uint64))
        self.excluded_count = len(keys)
        self.excluded = <uint64_t*>zeroed(self.excluded_count, sizeof(uint64_t))
        memcpy(self.excluded, address(keys), self.excluded_count * sizeof(uint64_t))

    def __dealloc__(self):
        free(self.moved_list)
        free(self.planes)
        free(self.tree.nodes)
        free(self.tree.order)
        free(self.excluded)
        free(self.pairs)
        free(self.fresh)
        free(self.plane_pairs)
        free(self.close)

    cdef int find_pairs(self, Bodies* bodies, double speculative_distance, double ahead) noexcept nogil:
        """The pairs whose boxes overlap, `close`, and those with planes, `plane_pairs`. -> OK, or GROW: call
        grow_pairs() and then this again."""
        cdef int status
        self.place_shapes(bodies, speculative_distance, ahead)
        self.mend_tree(speculative_distance)
        status = self.mend_pairs()
        if status == OK:
            status = self.find_plane_pairs()
        if status == OK:
            self.find_close_pairs()
        return status

    cdef int grow_pairs(self) except -1:
        """Make room for the pairs that the last call could not store."""
        cdef Py_ssize_t capacity
        if self.pairs_wanted > self.pair_capacity:
            capacity = max(self.pairs_wanted, 2 * self.pair_capacity)
            self.pairs = <uint64_t*>resized(self.pairs, capacity, sizeof(uint64_t))
            self.fresh = <uint64_t*>resized(self.fresh, capacity, sizeof(uint64_t))
            self.plane_pairs = <uint64_t*>resized(self.plane_pairs, capacity, sizeof(uint64_t))
            self.close = <uint64_t*>resized(self.close, capacity, sizeof(uint64_t))
            self.pair_capacity = capacity
        return 0

    cdef void mend_tree(self, double speculative_distance) noexcept nogil:
        """New fat boxes for the shapes that left theirs. A shape that is not finite has an empty one."""
        cdef int32_t i, k
        cdef double x, y, z, margin
        cdef Aabb* box
        cdef Aabb* fat
        for i in range(self.shape_count):
            self.tree.nodes[i].dynamic = self.dynamic[i]
        if self.stale:
            for i in range(self.shape_count):
                self.tree.nodes[i].box = nothing()
            self.pair_count = 0
        self.moved_count = 0
        for i in range(self.shape_count):
            if self.shapes[i].type == PLANE:
                continue
            box = &self.boxes[i]
            fat = &self.tree.nodes[i].box
            if self.solids[i].finite:
                if not self.moved[i] and holds(fat, box):
                    continue
                margin = 0.0
                if self.dynamic[i]:
                    x = box.upper.x - box.lower.x
                    y = box.upper.y - box.lower.y
                    z = box.upper.z - box.lower.z
                    x = x if x > y else y
                    margin = speculative_distance + 0.025 * (x if x > z else z)
                fat[0] = grown(box, margin)
                extend(fat, scale(TRAVELS, self.travels[i]))
            else:
                if not self.moved[i] and fat.lower.x > fat.upper.x:
                    continue
                fat[0] = nothing()
            self.moved[i] = 1
            self.moved_list[self.moved_count] = i
            self.moved_count += 1
        if self.stale or self.kind_changed or self.tree.refits + self.moved_count > self.tree.count // 2 + 16:
            tree_build(&self.tree)
        else:
            for k in range(self.moved_count):
                tree_refit(&self.tree, self.moved_list[k])
        self.kind_changed = 0
        # From here on an interrupted call is taken up by starting anew.
        self.stale = 1

    cdef int wanted(self, int32_t i, int32_t j) noexcept nogil:
        """May the two shapes collide at all?"""
        cdef const Shape* a = &self.shapes[i]
        cdef const Shape* b = &self.shapes[j]
        if a.body == b.body or not (self.dynamic[i] or self.dynamic[j]):
            return 0
        if (a.group & b.mask) == 0 or (b.group & a.mask) == 0:
            return 0
        return self.excluded_count == 0 or not has_key(self.excluded, self.excluded_count, pair_key(a.body, b.body))

    cdef int query(self, int32_t i, Py_ssize_t* count) noexcept nogil:
        """Append to `fresh` the pairs of shape i with all whose fat boxes overlap its own."""
        cdef int32_t stack[TREE_STACK]
        cdef int top = 1
        cdef int32_t node
        cdef const Node* nodes = self.tree.nodes
        cdef const Aabb* box = &nodes[i].box
        if box.lower.x > box.upper.x:
            return OK
        stack[0] = self.tree.root
        while top > 0:
            top -= 1
            node = stack[top]
            if not overlap(&nodes[node].box, box) or not (self.dynamic[i] or nodes[node].dynamic):
                continue
            if node >= self.shape_count:
                stack[top] = nodes[node].right
                stack[top + 1] = nodes[node].left
                top += 2
            # A pair of two moved shapes comes from the lower one's query.
            elif node != i and not (self.moved[node] and node < i) and self.wanted(i, node):
                if count[0] == self.pair_capacity:
                    return GROW
                self.fresh[count[0]] = pair_key(i, node)
                count[0] += 1
        return OK

    cdef int mend_pairs(self) noexcept nogil:
        """Replace the pairs of moved shapes."""
        cdef Py_ssize_t i
        cdef Py_ssize_t kept = 0
        cdef Py_ssize_t added = 0
        cdef int32_t k
        if self.moved_count > 0:
            for i in range(self.pair_count):
                if not self.moved[self.pairs[i] >> 32] and not self.moved[<int32_t>(self.pairs[i])]:
                    self.pairs[kept] = self.pairs[i]
                    kept += 1
            for k in range(self.moved_count):
                if self.query(self.moved_list[k], &added) != OK or kept + added > self.pair_capacity:
                    self.pairs_wanted = 2 * self.pair_capacity
                    return GROW
            sort_keys(self.fresh, self.close, added)
            merge_keys(self.pairs, kept, self.fresh, added)
            self.pair_count = kept + added
        self.stale = 0
        return OK

    cdef int find_plane_pairs(self) noexcept nogil:
        """Every plane against the bounding sphere of every shape: planes have no box."""
        cdef int32_t p, i, plane
        cdef Py_ssize_t count = 0
        cdef uint64_t key
        cdef uint64_t last = 0
        cdef int sorted_already = 1
        cdef Vec3 n
        cdef double height
        for p in range(self.plane_count):
            plane = self.planes[p]
            if not self.solids[plane].finite:
                continue
            n = vec3(self.solids[plane].axes.xz, self.solids[plane].axes.yz, self.solids[plane].axes.zz)
            for i in range(self.shape_count):
                if self.shapes[i].type == PLANE or not self.solids[i].finite:
                    continue
                height = dot(n, sub(self.solids[i].position, self.solids[plane].position))
                if height > self.limit(plane, i) + self.solids[i].reach or not self.wanted(plane, i):
                    continue
                if count == self.pair_capacity:
                    self.pairs_wanted = 2 * self.pair_capacity
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

    cdef void find_close_pairs(self) noexcept nogil:
        """The pairs whose boxes overlap, without their fat, into `close`. Two in three do not, without a
        pattern: so each is written, and the next one over it if it was in vain."""
        cdef Py_ssize_t i
        cdef Py_ssize_t count = 0
        cdef uint64_t key
        for i in range(self.pair_count):
            key = self.pairs[i]
            self.close[count] = key
            count += overlap(&self.boxes[key >> 32], &self.boxes[<int32_t>key])
        self.close_count = count

    # ---- for Python --------------------------------------------------------------------------------------------------

    def get_pairs(self):
        """-> (p, 2) int32: the pairs of shapes, planes aside, whose fat boxes overlapped in the last collide call."""
        keys = np.empty(self.pair_count, np.uint64)
        memcpy(address(keys), self.pairs, self.pair_count * sizeof(uint64_t))
        return np.stack([keys >> np.uint64(32), keys & np.uint64(0xffffffff)], axis=1).astype(np.int32)

    def validate(self):
        """Walk the tree and the pairs and raise AssertionError where they are not sound (debugging aid)."""
        cdef Node* nodes = self.tree.nodes
        cdef Py_ssize_t i
        if self.stale:
            return
        depths = {}
        leaves = []
        stack = [(self.tree.root, 1)] if self.tree.count else []
        while stack:
            node, depth = stack.pop()
            assert node not in depths, f"node {node} is reached twice"
            depths[node] = depth
            if node < self.shape_count:
                leaves.append(node)
                continue
            for child in (nodes[<int>node].left, nodes[<int>node].right):
                assert nodes[<int>child].parent == node, f"node {child} does not know its parent {node}"
                assert nodes[<int>child].box.lower.x > nodes[<int>child].box.upper.x \
                    or holds(&nodes[<int>node].box, &nodes[<int>child].box), f"node {node} does not hold {child}"
                stack.append((child, depth + 1))
        assert sorted(leaves) == [i for i in range(self.shape_count) if self.shapes[i].type != PLANE], "leaves are lost"
        assert max(depths.values(), default=0) <= len(leaves).bit_length() + 1, "the tree is too deep"
        for i in range(self.shape_count):
            assert self.shapes[i].type == PLANE or not self.solids[i].finite or holds(&nodes[i].box, &self.boxes[i]), \
                f"shape {i} is outside its fat box"
        for i in range(1, self.pair_count):
            assert self.pairs[i - 1] < self.pairs[i], "pairs are not sorted"
