"""Shapes and poses in, sorted contact manifolds out; impulses carried over from the last accepted step.

Order of a call: place the shapes, mend the tree of fat boxes, mend the set of pairs, test each pair whose boxes come
within the speculative distance, or so near that they may meet within the time ahead. Fat boxes and the tree's form only
decide what is tested in vain: the manifolds depend on the bodies' state and on the previous manifolds alone.
"""

import numpy as np

from libc.math cimport sqrt
from libc.stdint cimport int8_t, int32_t, uint64_t
from libc.stdlib cimport realloc, calloc, free
from libc.string cimport memcpy, memset
from cython cimport final
from mcsim.core._types cimport Vec3, Quat, Twist, OK, GROW
from mcsim.core._math cimport vec3, add, sub, scale, dot, cross, norm, mat_vec, rotate, quat_mul, quat_matrix
from mcsim.state._carrier cimport lighter
from mcsim.state._layout cimport (Bodies, Shape, Hull, Manifold, ManifoldOrigin, ManifoldPoint, Resistance, STATIC,
                                  DYNAMIC, BOX, PLANE, HULL)
from mcsim.state.fields import SHAPE_DTYPE, HULL_DTYPE, MANIFOLD_DTYPE, RESISTANCE_DTYPE
from mcsim.collide._solid cimport Solid, Aabb, HullView, bounds, reach_of, rounding
from mcsim.collide._tree cimport TREE_STACK, Node, nothing, overlap, holds, tree_build, tree_refit
from mcsim.collide._pairs cimport pair_key, sort_keys, merge_keys, has_key
from mcsim.collide._narrow cimport narrow
from mcsim.collide._reuse cimport coming_motion2, remember, reuse
from mcsim.collide._sweep cimport Course, course, least_separation, sweep


# What goes farther in a step than this times the speculative distance has contacts with what it meets, not with what it
# passes by: with what comes nearer than GRAZE times that distance.
cdef double FLIGHT = 5.0
cdef double GRAZE = 1e-3

# What moves steadily keeps its fat box for this many calls.
cdef double TRAVELS = 3.0


cdef void* zeroed(Py_ssize_t count, size_t size) except NULL:
    """Memory for `count` records, at least one."""
    cdef void* block = calloc(count if count > 0 else 1, size)
    if block == NULL:
        raise MemoryError(f"the collision stage needs {count * size} bytes")
    return block


cdef void* resized(void* block, Py_ssize_t count, size_t size) except NULL:
    cdef void* larger = realloc(block, count * size)
    if larger == NULL:
        raise MemoryError(f"the collision stage needs {count * size} bytes for {count} pairs of shapes")
    return larger


cdef void* address(array) except? NULL:
    return <void*><size_t>array.ctypes.data


cdef inline int is_sane(const double* values, int count) noexcept nogil:
    """No NaN, no infinity, nothing whose powers would overflow."""
    cdef int i
    for i in range(count):
        if not -1e50 < values[i] < 1e50:
            return 0
    return 1


cdef inline Aabb grown(const Aabb* box, double margin) noexcept nogil:
    cdef Aabb r
    r.lower = vec3(box.lower.x - margin, box.lower.y - margin, box.lower.z - margin)
    r.upper = vec3(box.upper.x + margin, box.upper.y + margin, box.upper.z + margin)
    return r


cdef inline void extend(Aabb* box, Vec3 travel) noexcept nogil:
    """Make it hold the box at the end of a travel, too."""
    box.lower = add(box.lower, vec3(min(travel.x, 0.0), min(travel.y, 0.0), min(travel.z, 0.0)))
    box.upper = add(box.upper, vec3(max(travel.x, 0.0), max(travel.y, 0.0), max(travel.z, 0.0)))


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


cdef inline bint resists(const Shape* s) noexcept nogil:
    return (s.rolling_friction > 0.0 or s.torsional_friction > 0.0
            or dot(s.surface_velocity, s.surface_velocity) > 0.0)


cdef inline void clear_impulses(Manifold* m) noexcept nogil:
    cdef int i
    m.row_begin = 0
    m.friction_impulse = vec3(0.0, 0.0, 0.0)
    m.twist_impulse = 0.0
    for i in range(m.point_count):
        m.points[i].normal_impulse = 0.0
        m.points[i].total_normal_impulse = 0.0
        m.points[i].friction_impulse = vec3(0.0, 0.0, 0.0)
        m.points[i].total_friction_impulse = vec3(0.0, 0.0, 0.0)


cdef inline int rises(const Manifold* m, int i, const Bodies* bodies, double near, double ahead) noexcept nogil:
    """Whether point i stays farther than `near` for the time ahead, at the present velocities."""
    cdef const Twist* a = &bodies.twist[m.body_a]
    cdef const Twist* b = &bodies.twist[m.body_b]
    cdef Vec3 p = m.points[i].position
    cdef Vec3 u = sub(add(b.v, cross(b.w, sub(p, bodies.position[m.body_b]))),
                      add(a.v, cross(a.w, sub(p, bodies.position[m.body_a]))))
    return m.points[i].separation + ahead * dot(m.normal, u) > near


@final
cdef class Collider:
    """The collision stage of one world.

    shapes (s,) SHAPE_DTYPE, hulls (h,) HULL_DTYPE with their pools as described at Hull in _layout.pxd: vertices
    (v, 3), face_normals (f, 3), face_offsets (f,), face_begin, face_index, edges. excluded_pairs (k, 2): pairs of
    bodies that do not collide. Kernels call collide, grow when told so, and accept; both grow and accept move the
    arrays of manifolds. Python reads the accepted ones.
    """

    def __cinit__(self, shapes, hulls, vertices, face_normals, face_offsets, face_begin, face_index, edges,
                  excluded_pairs):
        shapes = np.ascontiguousarray(shapes, SHAPE_DTYPE)
        self.shape_count = len(shapes)
        self.shapes = <Shape*>zeroed(self.shape_count, sizeof(Shape))
        self.solids = <Solid*>zeroed(self.shape_count, sizeof(Solid))
        self.turns = <Quat*>zeroed(self.shape_count, sizeof(Quat))
        self.boxes = <Aabb*>zeroed(self.shape_count, sizeof(Aabb))
        self.margins = <double*>zeroed(self.shape_count, sizeof(double))
        self.travels = <Vec3*>zeroed(self.shape_count, sizeof(Vec3))
        self.arms = <double*>zeroed(self.shape_count, sizeof(double))
        self.dynamic = <int8_t*>zeroed(self.shape_count, 1)
        self.moved = <int8_t*>zeroed(self.shape_count, 1)
        self.moved_list = <int32_t*>zeroed(self.shape_count, sizeof(int32_t))
        self.planes = <int32_t*>zeroed(self.shape_count, sizeof(int32_t))
        self.tree.nodes = <Node*>zeroed(2 * self.shape_count, sizeof(Node))
        self.tree.order = <int32_t*>zeroed(self.shape_count, sizeof(int32_t))
        self.tree.shape_count = self.shape_count
        memcpy(self.shapes, address(shapes), self.shape_count * sizeof(Shape))
        self._take_hulls(hulls, vertices, face_normals, face_offsets, face_begin, face_index)
        self._take_shapes()
        self._take_excluded(excluded_pairs)
        self.pairs_wanted = 4 * self.shape_count + 64
        self.manifolds_wanted = 2 * self.shape_count + 64
        self.grow()
        self.stale = 1

    def _take_hulls(self, hulls, vertices, face_normals, face_offsets, face_begin, face_index):
        hulls = np.ascontiguousarray(hulls, HULL_DTYPE)
        vertices = np.array(vertices, np.float64).reshape(-1, 3)
        face_normals = np.array(face_normals, np.float64).reshape(-1, 3)
        face_offsets = np.array(face_offsets, np.float64).reshape(-1)
        face_begin = np.array(face_begin, np.int32).reshape(-1)
        face_index = np.array(face_index, np.int32).reshape(-1)
        self._pools = (vertices, face_normals, face_offsets, face_begin, face_index)
        self.hulls = <HullView*>zeroed(len(hulls), sizeof(HullView))
        cdef Py_ssize_t i, vertex, face, vertex_end, face_end
        for i, hull in enumerate(hulls):
            vertex = hull["vertex_begin"]
            face = hull["face_begin"]
            vertex_end = vertex + int(hull["vertex_count"])
            face_end = face + int(hull["face_count"])
            if not (0 <= vertex < vertex_end <= len(vertices) and 0 <= face < face_end <= len(face_normals)
                    and face_end <= len(face_offsets) and face_end < len(face_begin)):
                raise ValueError(f"hull {i} reaches beyond the pools of vertices and faces")
            index = face_index[face_begin[face]:face_begin[face_end]]
            if len(index) != face_begin[face_end] - face_begin[face] or index.min() < 0 \
                    or index.max() >= vertex_end - vertex:
                raise ValueError(f"hull {i} has a face with a vertex that it does not own")
            self.hulls[i].vertices = <Vec3*>address(vertices) + vertex
            self.hulls[i].normals = <Vec3*>address(face_normals) + face
            self.hulls[i].offsets = <double*>address(face_offsets) + face
            self.hulls[i].face_begin = <int32_t*>address(face_begin) + face
            self.hulls[i].face_index = <int32_t*>address(face_index)
            self.hulls[i].vertex_count = vertex_end - vertex
            self.hulls[i].face_count = face_end - face
            self.hulls[i].radius = hull["radius"]
            inner = vertices[vertex:vertex_end].mean(axis=0)
            self.hulls[i].inner_centre = vec3(inner[0], inner[1], inner[2])
            self.hulls[i].inner_radius = np.min(face_offsets[face:face_end] - face_normals[face:face_end] @ inner)
        self._hull_count = len(hulls)

    def _take_shapes(self):
        cdef int32_t i
        for i in range(self.shape_count):
            self.solids[i].type = self.shapes[i].type
            self.solids[i].size = self.shapes[i].size
            if self.shapes[i].type == HULL:
                if not 0 <= self.shapes[i].hull < self._hull_count:
                    raise ValueError(f"shape {i} names hull {self.shapes[i].hull} of {self._hull_count}")
                self.solids[i].hull = &self.hulls[self.shapes[i].hull]
            self.solids[i].reach = reach_of(&self.solids[i])
            self.arms[i] = norm(self.shapes[i].position) + self.solids[i].reach
            self.resisting |= resists(&self.shapes[i])
            if self.shapes[i].type == PLANE:
                self.planes[self.plane_count] = i
                self.plane_count += 1
            else:
                self.tree.order[self.tree.count] = i
                self.tree.count += 1

    def _take_excluded(self, excluded_pairs):
        pairs = np.sort(np.array(excluded_pairs, np.int64).reshape(-1, 2), axis=1)
        keys = np.unique(pairs[:, 0].astype(np.uint64) << np.uint64(32) | pairs[:, 1].astype(np.uint64))
        self.excluded_count = len(keys)
        self.excluded = <uint64_t*>zeroed(self.excluded_count, sizeof(uint64_t))
        memcpy(self.excluded, address(keys), self.excluded_count * sizeof(uint64_t))

    def __dealloc__(self):
        free(self.manifolds)
        free(self.previous)
        free(self.resistances)
        free(self.previous_resistances)
        free(self.shapes)
        free(self.solids)
        free(self.turns)
        free(self.boxes)
        free(self.margins)
        free(self.travels)
        free(self.arms)
        free(self.dynamic)
        free(self.moved)
        free(self.moved_list)
        free(self.planes)
        free(self.hulls)
        free(self.tree.nodes)
        free(self.tree.order)
        free(self.excluded)
        free(self.pairs)
        free(self.fresh)
        free(self.plane_pairs)
        free(self.scratch)

    # ---- for kernels -------------------------------------------------------------------------------------------------

    cdef int collide(self, Bodies* bodies, double speculative_distance, double ahead) noexcept nogil:
        """Find the contacts no farther apart than the distance [m], and those that come so near within the time `ahead` [s]
        at the present velocities (0: twists are not read). -> OK, or GROW: call grow() and then this again."""
        cdef int status
        self.manifold_count = 0
        self.place_shapes(bodies, speculative_distance, ahead)
        self.mend_tree(speculative_distance)
        status = self.mend_pairs()
        if status == OK:
            status = self.find_plane_pairs()
        if status == OK:
            status = self.find_manifolds(bodies, speculative_distance, ahead)
        return status

    cdef void accept(self) noexcept nogil:
        """The step stands: its manifolds become the previous ones."""
        cdef Manifold* swap = self.previous
        self.previous = self.manifolds
        self.previous_count = self.manifold_count
        self.manifolds = swap
        self.manifold_count = 0
        self.resistances, self.previous_resistances = self.previous_resistances, self.resistances

    cdef Resistance* resisted(self) noexcept nogil:
        """One a manifold, or NULL: there is none."""
        return self.resistances if self.resisting else NULL

    cpdef grow(self):
        """Make room for what the last collide call could not store."""
        cdef Py_ssize_t capacity
        if self.pairs_wanted > self.pair_capacity:
            capacity = max(self.pairs_wanted, 2 * self.pair_capacity)
            self.pairs = <uint64_t*>resized(self.pairs, capacity, sizeof(uint64_t))
            self.fresh = <uint64_t*>resized(self.fresh, capacity, sizeof(uint64_t))
            self.plane_pairs = <uint64_t*>resized(self.plane_pairs, capacity, sizeof(uint64_t))
            self.scratch = <uint64_t*>resized(self.scratch, capacity, sizeof(uint64_t))
            self.pair_capacity = capacity
        if self.manifolds_wanted > self.manifold_capacity:
            capacity = max(self.manifolds_wanted, 2 * self.manifold_capacity)
            self.manifolds = <Manifold*>resized(self.manifolds, capacity, sizeof(Manifold))
            self.previous = <Manifold*>resized(self.previous, capacity, sizeof(Manifold))
            self.resistances = <Resistance*>resized(self.resistances, capacity, sizeof(Resistance))
            self.previous_resistances = <Resistance*>resized(self.previous_resistances, capacity, sizeof(Resistance))
            self.manifold_capacity = capacity

    # ---- the stages of a call ----------------------------------------------------------------------------------------

    cdef void place_shapes(self, Bodies* bodies, double speculative_distance, double ahead) noexcept nogil:
        """Poses, travels, margins and boxes of all shapes. Travel is the way of the body's centre in the time ahead; a
        shape's margin is half the speculative distance and the farthest that its turning takes any of its points. Its box
        holds it and its margin, now and after its travel: two shapes meet only if their boxes do.
        A change of a body's kind counts as a motion."""
        cdef int32_t i, body
        cdef int8_t dynamic
        cdef Shape* shape
        cdef Solid* solid
        cdef Quat q
        for i in range(self.shape_count):
            shape = &self.shapes[i]
            solid = &self.solids[i]
            body = shape.body
            q = bodies.orientation[body]
            solid.position = add(bodies.position[body], rotate(q, shape.position))
            self.turns[i] = quat_mul(q, shape.orientation)
            solid.axes = quat_matrix(self.turns[i])
            solid.finite = is_sane(&solid.position.x, 3) and is_sane(&solid.axes.xx, 9)
            dynamic = bodies.kind[body] == DYNAMIC
            self.moved[i] = dynamic != self.dynamic[i]
            self.dynamic[i] = dynamic
            self.kind_changed |= self.moved[i]
            self.tree.nodes[i].dynamic = dynamic
            self.margins[i] = 0.5 * speculative_distance
            self.travels[i] = vec3(0.0, 0.0, 0.0)
            if ahead > 0.0 and bodies.kind[body] != STATIC:
                self.travels[i] = scale(ahead, bodies.twist[body].v)
                if shape.type != PLANE:
                    self.margins[i] += ahead * norm(bodies.twist[body].w) * self.arms[i]
                solid.finite &= is_sane(&self.margins[i], 1) and is_sane(&self.travels[i].x, 3)
            if shape.type != PLANE:
                self.boxes[i] = bounds(solid)
                self.boxes[i] = grown(&self.boxes[i], self.margins[i])
                extend(&self.boxes[i], self.travels[i])

    cdef void mend_tree(self, double speculative_distance) noexcept nogil:
        """New fat boxes for the shapes that left theirs. A shape that is not finite has an empty one."""
        cdef int32_t i, k
        cdef double x, y, z, margin
        cdef Aabb* box
        cdef Aabb* fat
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

    cdef double limit(self, int32_t i, int32_t j) noexcept nogil:
        """The separation up to which two shapes may come within the speculative distance in the time ahead."""
        return self.margins[i] + self.margins[j] + norm(sub(self.travels[j], self.travels[i]))

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
            sort_keys(self.fresh, self.scratch, added)
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
            sort_keys(self.plane_pairs, self.scratch, count)
        self.plane_pair_count = count
        return OK

    cdef int meet(self, const Bodies* bodies, Manifold* m, double near, double ahead) noexcept nogil:
        """Keep of the manifold the near points; where there are none, or in flight, what the solids will meet at. -> point
        count"""
        cdef int i, kept = 0
        cdef double touching = near
        cdef Vec3 travel = sub(self.travels[m.shape_b], self.travels[m.shape_a])
        cdef Course a, b
        if dot(travel, travel) > FLIGHT * near * FLIGHT * near:
            touching = GRAZE * near
        if least_separation(m) > touching:
            a = course(&self.solids[m.shape_a], bodies.position[m.body_a], bodies.twist[m.body_a])
            b = course(&self.solids[m.shape_b], bodies.position[m.body_b], bodies.twist[m.body_b])
            return sweep(&self.solids[m.shape_a], &a, &self.solids[m.shape_b], &b, touching, ahead,
                         self.limit(m.shape_a, m.shape_b), lighter(bodies, m.body_a, m.body_b), m)
        for i in range(m.point_count):
            if m.points[i].separation <= near or rises(m, i, bodies, near, ahead) == 0:
                if kept < i:
                    m.points[kept] = m.points[i]
                kept += 1
        m.point_count = kept
        return kept

    cdef int again(self, const Manifold* old, Manifold* m, double limit) noexcept nogil:
        """The last manifold's points at the present poses, if they serve. -> point count, all no farther than `limit`."""
        cdef int i, count
        cdef int kept = 0
        if old == NULL or old.allowance == 0.0:
            return 0
        count = reuse(m, old, &self.solids[m.shape_a], self.turns[m.shape_a], &self.solids[m.shape_b],
                      self.turns[m.shape_b], limit)
        for i in range(count):
            kept += m.points[i].separation <= limit
        return count if kept == count else 0

    cdef int touch(self, const Bodies* bodies, const Manifold* old, Manifold* m, double near, double ahead) noexcept nogil:
        """Normal and points of one pair, the last ones (old, or NULL) again if they serve. -> point count"""
        cdef const Solid* a = &self.solids[m.shape_a]
        cdef const Solid* b = &self.solids[m.shape_b]
        cdef double limit = self.limit(m.shape_a, m.shape_b)
        cdef double coming2 = 0.0
        cdef int count = self.again(old, m, limit)
        cdef int anew = count == 0
        cdef int whole = 1
        cdef int kept
        if anew:
            m.allowance = 0.0
            count = narrow(a, b, limit, m)
        if ahead > 0.0 and count > 0:
            whole = least_separation(m) <= near
            kept = self.meet(bodies, m, near, ahead)
            whole &= kept == count
            count = kept
        if not whole:
            m.allowance = 0.0
        elif anew and count > 0 and a.type == BOX and b.type == BOX and m.origin.axis >= 0:
            if ahead > 0.0:
                coming2 = coming_motion2(a, bodies.twist[m.body_a], bodies.position[m.body_a],
                                         b, bodies.twist[m.body_b], bodies.position[m.body_b], ahead)
            remember(m, a, self.turns[m.shape_a], b, self.turns[m.shape_b], limit, near, coming2)
        return count

    cdef void finish_manifold(self, Manifold* m, const Manifold* old, double near) noexcept nogil:
        """Materials, and the impulses of the last manifold (old, or NULL)."""
        cdef const Shape* a = &self.shapes[m.shape_a]
        cdef const Shape* b = &self.shapes[m.shape_b]
        m.friction = sqrt(a.friction * b.friction)
        m.restitution = a.restitution if a.restitution > b.restitution else b.restitution
        m.rounding_a = rounding(&self.solids[m.shape_a], m.normal)
        m.rounding_b = rounding(&self.solids[m.shape_b], m.normal)
        clear_impulses(m)
        if old != NULL:
            carry_over(m, old, near)
        if self.resisting:
            self.set_resistance(&self.resistances[m - self.manifolds], m, old)

    cdef void set_resistance(self, Resistance* r, const Manifold* m, const Manifold* old) noexcept nogil:
        cdef const Shape* a = &self.shapes[m.shape_a]
        cdef const Shape* b = &self.shapes[m.shape_b]
        r.rolling = max(a.rolling_friction, b.rolling_friction)
        r.torsional = max(a.torsional_friction, b.torsional_friction)
        r.surface_velocity = sub(mat_vec(self.solids[m.shape_b].axes, b.surface_velocity),
                                 mat_vec(self.solids[m.shape_a].axes, a.surface_velocity))
        r.rolling_impulse = vec3(0.0, 0.0, 0.0)
        if old != NULL:
            r.rolling_impulse = self.previous_resistances[old - self.previous].rolling_impulse

    cdef Py_ssize_t find_close_pairs(self) noexcept nogil:
        """The pairs whose boxes overlap, without their fat, into `scratch`. -> how many. Two in three do not, without a
        pattern: so each is written, and the next one over it if it was in vain."""
        cdef Py_ssize_t i
        cdef Py_ssize_t count = 0
        cdef uint64_t key
        for i in range(self.pair_count):
            key = self.pairs[i]
            self.scratch[count] = key
            count += overlap(&self.boxes[key >> 32], &self.boxes[<int32_t>key])
        return count

    cdef int find_manifolds(self, Bodies* bodies, double speculative_distance, double ahead) noexcept nogil:
        """Narrowphase of all pairs in ascending order, so that the manifolds come out sorted."""
        cdef Py_ssize_t i = 0
        cdef Py_ssize_t j = 0
        cdef Py_ssize_t k = 0
        cdef Py_ssize_t count = self.find_close_pairs()
        cdef uint64_t key
        cdef Manifold* m
        cdef const Manifold* old
        while i < count or j < self.plane_pair_count:
            if j == self.plane_pair_count or i < count and self.scratch[i] < self.plane_pairs[j]:
                key = self.scratch[i]
                i += 1
            else:
                key = self.plane_pairs[j]
                j += 1
            if self.manifold_count == self.manifold_capacity:
                self.manifolds_wanted = 2 * self.manifold_capacity
                return GROW
            m = &self.manifolds[self.manifold_count]
            m.key = key
            m.shape_a = <int32_t>(key >> 32)
            m.shape_b = <int32_t>key
            m.body_a = self.shapes[m.shape_a].body
            m.body_b = self.shapes[m.shape_b].body
            while k < self.previous_count and self.previous[k].key < key:
                k += 1
            old = &self.previous[k] if k < self.previous_count and self.previous[k].key == key else NULL
            if self.touch(bodies, old, m, speculative_distance, ahead) > 0:
                self.finish_manifold(m, old, speculative_distance)
                self.manifold_count += 1
        return OK

    # ---- for Python --------------------------------------------------------------------------------------------------

    def get_manifolds(self):
        """-> (m,) MANIFOLD_DTYPE: a copy of the manifolds of the last accepted step; what is not in use is zero."""
        result = np.empty(self.previous_count, MANIFOLD_DTYPE)
        cdef Manifold* m = <Manifold*>address(result)
        cdef Py_ssize_t i
        memcpy(m, self.previous, self.previous_count * sizeof(Manifold))
        for i in range(self.previous_count):
            memset(&m[i].points[m[i].point_count], 0, (4 - m[i].point_count) * sizeof(ManifoldPoint))
            if m[i].allowance == 0.0:
                memset(&m[i].origin, 0, sizeof(ManifoldOrigin))
        return result

    def get_resistances(self):
        """-> (m,) RESISTANCE_DTYPE: what the manifolds of get_manifolds have; none where no shape resists."""
        cdef Py_ssize_t count = self.previous_count if self.resisting else 0
        result = np.empty(count, RESISTANCE_DTYPE)
        memcpy(address(result), self.previous_resistances, count * sizeof(Resistance))
        return result

    def get_pairs(self):
        """-> (p, 2) int32: the pairs of shapes, planes aside, whose fat boxes overlapped in the last collide call."""
        keys = np.empty(self.pair_count, np.uint64)
        memcpy(address(keys), self.pairs, self.pair_count * sizeof(uint64_t))
        return np.stack([keys >> np.uint64(32), keys & np.uint64(0xffffffff)], axis=1).astype(np.int32)

    def set_manifolds(self, manifolds, resistances=None):
        """Restore what get_manifolds and get_resistances gave; the broadphase starts anew."""
        manifolds = np.ascontiguousarray(manifolds, MANIFOLD_DTYPE)
        if resistances is None or len(resistances) != len(manifolds):
            resistances = np.zeros(len(manifolds), RESISTANCE_DTYPE)
        resistances = np.ascontiguousarray(resistances, RESISTANCE_DTYPE)
        keys = manifolds["key"]
        if np.any(keys[1:] <= keys[:len(keys) - 1]):
            raise ValueError("manifolds must be sorted by key and have no key twice")
        if np.any((manifolds["point_count"] < 0) | (manifolds["point_count"] > 4)):
            raise ValueError("a manifold has 0 to 4 points")
        if np.any((manifolds["origin"]["axis"] < 0) | (manifolds["origin"]["axis"] > 14)):
            raise ValueError("a manifold's axis is 0 to 14")
        self.manifolds_wanted = len(manifolds)
        self.grow()
        memcpy(self.previous, address(manifolds), len(manifolds) * sizeof(Manifold))
        if self.resisting:
            memcpy(self.previous_resistances, address(resistances), len(manifolds) * sizeof(Resistance))
        self.previous_count = len(manifolds)
        self.stale = 1

    def reset(self):
        """Forget all contacts; the broadphase starts anew."""
        self.previous_count = 0
        self.manifold_count = 0
        self.stale = 1

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

    def collide_once(self, position, orientation, kind, double speculative_distance):
        """Collide and accept. position (n, 3) [m], orientation (n, 4), kind (n,): of the bodies.

        -> (m,) MANIFOLD_DTYPE
        """
        cdef Bodies bodies
        cdef int status
        position = np.ascontiguousarray(position, np.float64).reshape(-1, 3)
        orientation = np.ascontiguousarray(orientation, np.float64).reshape(-1, 4)
        kind = np.ascontiguousarray(kind, np.int32).reshape(-1)
        used = max((self.shapes[i].body for i in range(self.shape_count)), default=-1)
        if not used < len(position) == len(orientation) == len(kind):
            raise ValueError(f"position, orientation and kind must have a row for each of {used + 1} bodies")
        memset(&bodies, 0, sizeof(bodies))
        bodies.count = len(position)
        bodies.position = <Vec3*>address(position)
        bodies.orientation = <Quat*>address(orientation)
        bodies.kind = <int32_t*>address(kind)
        with nogil:
            status = self.collide(&bodies, speculative_distance, 0.0)
        while status == GROW:
            self.grow()
            with nogil:
                status = self.collide(&bodies, speculative_distance, 0.0)
        self.accept()
        return self.get_manifolds()
