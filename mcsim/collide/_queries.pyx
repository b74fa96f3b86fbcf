"""Rays, slid shapes, overlaps and distances among the shapes of a world at the bodies' present poses.

A Finder has solids and a tree of its own and only reads the collision stage's shapes: what one looks at never changes
what the next step computes. Poses may have been written by anyone, so each query compares them with those last seen,
places anew what moved, and refits the tree's boxes; the tree is built anew when they have grown. Answers do not depend
on the tree: of equally near shapes the first one counts.
"""

import numpy as np

from libc.math cimport fabs, INFINITY
from libc.stdint cimport int8_t, int32_t
from libc.stdlib cimport free
from libc.string cimport memcmp, memcpy, memset
from mcsim.core._types cimport Quat, Vec3
from mcsim.core._math cimport (vec3, add, sub, scale, add_scaled, neg, normalized, quat_matrix, quat_mul, quat_normalized,
                               rotate)
from mcsim.state._bodies cimport STATIC
from mcsim.state._shape cimport Shape
from mcsim.state._shape_types cimport PLANE
from mcsim.collide._cast cimport cast_solid, separation, solids_overlap
from mcsim.collide._collider cimport Collider
from mcsim.collide._contact cimport Axis
from mcsim.collide._memory cimport resized
from mcsim.collide._pairs cimport has_key, pair_key
from mcsim.collide._ray cimport box_entry, inverse_of, ray_solid
from mcsim.collide._shape_table cimport bounds
from mcsim.collide._solid cimport Aabb, Solid, is_surface
from mcsim.collide._surface_cast cimport cast_on_surface, overlaps_surface, part_surface, ray_on_surface
from mcsim.collide._tree cimport (BoxWalk, NOTHING_THERE, TREE_STACK, Mark, Node, holds, joined, mark_of, next_leaf,
                                  nothing, side_of, surface, tree_build, tree_clear, walk_box)

# The tree is built anew when its boxes' areas have grown by this factor.
cdef double WORN = 1.5

cdef enum:
    BLOCK = 64                   # bodies whose poses are compared at once
    FEW = 16                     # of so many shapes one at most has moved: its leaf's way up is refitted alone

HIT_DTYPE = np.dtype([("body", "i4"), ("shape", "i4"), ("distance", "f8"), ("point", "f8", 3), ("normal", "f8", 3)])


cdef inline Vec3 unit(Vec3 d) noexcept nogil:
    """d / |d|, whatever its length."""
    cdef double x = fabs(d.x)
    cdef double y = fabs(d.y)
    cdef double z = fabs(d.z)
    x = x if x > y else y
    return normalized(scale(1.0 / (x if x > z else z), d))


cdef inline int is_sane(const Aabb* box) noexcept nogil:
    return (-1e50 < box.lower.x and -1e50 < box.lower.y and -1e50 < box.lower.z
            and box.upper.x < 1e50 and box.upper.y < 1e50 and box.upper.z < 1e50)


cdef inline Aabb box_about(const Solid* s) noexcept nogil:
    """A little larger than the solid, by more than all rounding."""
    cdef Aabb box = bounds(s)
    cdef double fat = 1e-12 * (s.reach + fabs(s.position.x) + fabs(s.position.y) + fabs(s.position.z))
    box.lower = sub(box.lower, vec3(fat, fat, fat))
    box.upper = add(box.upper, vec3(fat, fat, fat))
    return box


cdef int part(const Solid* a, const Solid* b, double limit, Axis* axis) noexcept nogil:
    """As separation, surfaces too. Two of those have no distance."""
    if is_surface(b.type):
        return not is_surface(a.type) and part_surface(a, b, limit, axis)
    if not is_surface(a.type):
        return separation(a, b, limit, axis)
    if not part_surface(b, a, limit, axis):
        return 0
    axis.witness = add(axis.witness, sub(b.position, a.position))
    axis.normal = neg(axis.normal)
    return 1


cdef choose(Filter* chosen, Py_ssize_t body_count, int32_t mask, const int8_t[::1] skipped):
    """Which shapes a query asks for: of bodies that it skips (body_count,) none."""
    chosen.mask = mask
    chosen.skipped = NULL
    chosen.sensor = -1
    if skipped is not None:
        if skipped.shape[0] < body_count:
            raise ValueError(f"skipped must have a number for each of {body_count} bodies")
        if skipped.shape[0] > 0:
            chosen.skipped = &skipped[0]


cdef class Finder:
    """Looks for the shapes of `collider`. It serves as long as the collider's shapes stay the same."""

    def __cinit__(self, Collider collider not None):
        cdef int32_t i
        self.collider = collider
        self.shape_count = collider.shape_count
        self.solids = <Solid*>resized(NULL, self.shape_count, sizeof(Solid))
        self.planes = <int32_t*>resized(NULL, self.shape_count, sizeof(int32_t))
        self.found = <int32_t*>resized(NULL, self.shape_count, sizeof(int32_t))
        self.tree.nodes = <Node*>resized(NULL, self.shape_count, sizeof(Node))
        self.tree.boxes = <Aabb*>resized(NULL, self.shape_count, sizeof(Aabb))
        self.tree.parents = <int32_t*>resized(NULL, self.shape_count, sizeof(int32_t))
        self.marks = <Mark*>resized(NULL, self.shape_count, sizeof(Mark))
        tree_clear(&self.tree)
        for i in range(self.shape_count):
            self.solids[i] = collider.solids[i]
            if self.solids[i].type == PLANE:
                self.planes[self.plane_count] = i
                self.plane_count += 1
            self.body_count = max(self.body_count, collider.shapes[i].body + 1)
        self.list_shapes()
        self.position = <Vec3*>resized(NULL, self.body_count, sizeof(Vec3))
        self.orientation = <Quat*>resized(NULL, self.body_count, sizeof(Quat))
        self.fresh = 1

    def __dealloc__(self):
        free(self.solids)
        free(self.planes)
        free(self.found)
        free(self.tree.nodes)
        free(self.tree.boxes)
        free(self.tree.parents)
        free(self.marks)
        free(self.shape_begin)
        free(self.shapes_of)
        free(self.position)
        free(self.orientation)

    cdef int list_shapes(self) except -1:
        """The shapes of each body, one after the other, by the bodies' numbers."""
        cdef int32_t i, body
        self.shape_begin = <int32_t*>resized(NULL, self.body_count + 2, sizeof(int32_t))
        self.shapes_of = <int32_t*>resized(NULL, self.shape_count, sizeof(int32_t))
        memset(self.shape_begin, 0, (self.body_count + 2) * sizeof(int32_t))
        for i in range(self.shape_count):
            self.shape_begin[self.collider.shapes[i].body + 2] += 1
        for body in range(self.body_count):
            self.shape_begin[body + 2] += self.shape_begin[body + 1]
        for i in range(self.shape_count):
            body = self.collider.shapes[i].body
            self.shapes_of[self.shape_begin[body + 1]] = i
            self.shape_begin[body + 1] += 1
        return 0

    # ---- following the bodies ----------------------------------------------------------------------------------------

    cdef void follow(self, const Vec3* position, const Quat* orientation) noexcept nogil:
        """Place what moved since the last call, and mend the tree: above those leaves alone, where they are few."""
        cdef int32_t i, k, body, begin, end
        cdef int32_t moved = 0
        cdef double cost
        end = 0
        while end < self.body_count:
            begin = end
            end = <int32_t>min(<Py_ssize_t>(begin + BLOCK), self.body_count)
            if not self.fresh and memcmp(&position[begin], &self.position[begin], (end - begin) * sizeof(Vec3)) == 0 \
                    and memcmp(&orientation[begin], &self.orientation[begin], (end - begin) * sizeof(Quat)) == 0:
                continue
            for body in range(begin, end):
                if not self.fresh and memcmp(&position[body], &self.position[body], sizeof(Vec3)) == 0 \
                        and memcmp(&orientation[body], &self.orientation[body], sizeof(Quat)) == 0:
                    continue
                self.position[body] = position[body]
                self.orientation[body] = orientation[body]
                for k in range(self.shape_begin[body], self.shape_begin[body + 1]):
                    i = self.shapes_of[k]
                    self.place(i, position[body], orientation[body])
                    if self.solids[i].type != PLANE:
                        self.found[moved] = i
                        moved += 1
        if self.fresh:
            self.build()
        elif moved > 0:
            if moved > self.shape_count // FEW:
                cost = self.refit()
            else:
                cost = self.cost_now
                for k in range(moved):
                    cost += self.refit_above(self.found[k])
            self.cost_now = cost
            if not cost <= WORN * self.cost:
                self.build()
        self.fresh = 0

    cdef double refit_above(self, int32_t leaf) noexcept nogil:
        """Boxes of the nodes above a leaf that moved. -> by how much the sum of the nodes' surfaces grows"""
        cdef int32_t child = ~leaf
        cdef int32_t node = self.tree.parents[leaf]
        cdef Aabb box = self.tree.boxes[leaf]
        cdef Aabb* old
        cdef double more = 0.0
        while node >= 0:
            old = &self.tree.nodes[node].box[side_of(&self.tree, node, child)]
            if holds(old, &box) and holds(&box, old):
                break
            more += surface(&box) - surface(old)
            old[0] = box
            box = joined(&self.tree.nodes[node].box[0], &self.tree.nodes[node].box[1])
            child = node
            node = self.tree.nodes[node].parent
        return more

    cdef void place(self, int32_t i, Vec3 position, Quat orientation) noexcept nogil:
        """One shape, at the pose of its body. What is not finite is nowhere."""
        cdef Solid* s = &self.solids[i]
        cdef Quat q = quat_normalized(orientation)
        cdef Aabb box
        s.position = add(position, rotate(q, self.collider.shapes[i].position))
        s.axes = quat_matrix(quat_mul(q, self.collider.shapes[i].orientation))
        if s.type == PLANE:
            s.finite = fabs(s.position.x + s.position.y + s.position.z + s.axes.xx) < 1e50
            return
        box = box_about(s)
        s.finite = is_sane(&box)
        self.tree.boxes[i] = box if s.finite else nothing()

    cdef double refit(self) noexcept nogil:
        """Boxes of the nodes from those of the leaves. -> the sum of their surfaces"""
        cdef int32_t i, child
        cdef Node* nodes = self.tree.nodes
        cdef double cost = 0.0
        cdef int k
        for i in range(self.tree.end - 1, -1, -1):
            for k in range(2):
                child = nodes[i].child[k]
                nodes[i].box[k] = joined(&nodes[child].box[0], &nodes[child].box[1]) if child >= 0 else (
                    self.tree.boxes[~child])
                cost += surface(&nodes[i].box[k])
        return cost

    cdef void build(self) noexcept nogil:
        """The tree anew."""
        cdef int32_t i
        cdef int32_t count = 0
        for i in range(self.shape_count):
            if self.solids[i].type != PLANE:
                self.marks[count] = mark_of(&self.tree.boxes[i], i)
                count += 1
        tree_build(&self.tree, self.marks, count)
        self.cost = self.cost_now = self.refit()

    # ---- rays and slid shapes ----------------------------------------------------------------------------------------

    cdef int sees(self, int32_t i, const Filter* chosen) noexcept nogil:
        cdef const Shape* shape = &self.collider.shapes[i]
        return (self.solids[i].finite and not shape.sensor and (shape.group & chosen.mask) != 0
                and (chosen.skipped == NULL or not chosen.skipped[shape.body])
                and (chosen.sensor < 0 or self.senses(i, chosen)))

    cdef int senses(self, int32_t i, const Filter* chosen) noexcept nogil:
        """What a sensor asks beyond that; see _sensors.pyx."""
        cdef const Shape* shape = &self.collider.shapes[i]
        cdef const Shape* sensor = &self.collider.shapes[chosen.sensor]
        if shape.body == sensor.body or (shape.mask & sensor.group) == 0:
            return 0
        if chosen.kind[shape.body] == STATIC and chosen.kind[sensor.body] == STATIC:
            return 0
        return self.collider.excluded_count == 0 or not has_key(
            self.collider.excluded, self.collider.excluded_count, pair_key(shape.body, sensor.body))

    cdef int meets(self, int32_t i, const Ray* ray, const Solid* probe, double limit, int filled,
                   Hit* hit) noexcept nogil:
        """Shape i, by the ray, or by the probe that slides along it."""
        hit.body = self.collider.shapes[i].body
        hit.shape = i
        if is_surface(self.solids[i].type):
            if probe != NULL:
                return cast_on_surface(probe, ray.direction, &self.solids[i], limit, &hit.distance, &hit.normal, &hit.point)
            if not ray_on_surface(&self.solids[i], ray, limit, &hit.distance, &hit.normal):
                return 0
        elif probe != NULL:
            return cast_solid(probe, ray.direction, &self.solids[i], limit, &hit.distance, &hit.normal, &hit.point)
        elif not ray_solid(&self.solids[i], ray, limit, filled, &hit.distance, &hit.normal):
            return 0
        hit.point = add_scaled(ray.origin, hit.distance, ray.direction)
        return 1

    cdef Py_ssize_t walk(self, const Ray* ray, const Solid* probe, double limit, int filled, const Filter* chosen,
                         int every, Hit* hits) noexcept nogil:
        """The nearest hit within `limit`, or `every` one: at most one a shape. -> how many"""
        cdef int32_t stack[TREE_STACK]
        cdef double entries[TREE_STACK]
        cdef const Node* node
        cdef Vec3 half = vec3(0.0, 0.0, 0.0)
        cdef Vec3 origin = ray.origin
        cdef Vec3 inverse = inverse_of(ray.direction)
        cdef Py_ssize_t count = 0
        cdef int32_t next_plane = 0
        cdef int32_t i
        cdef int top = 0
        cdef int k, far, _
        cdef double entry[2]
        cdef Aabb box
        cdef Hit hit
        if probe != NULL:
            box = box_about(probe)
            half = scale(0.5, sub(box.upper, box.lower))
            origin = scale(0.5, add(box.upper, box.lower))
        if self.tree.root != NOTHING_THERE:
            stack[0] = self.tree.root
            entries[0] = 0.0
            top = 1
        while top > 0 or next_plane < self.plane_count:
            if next_plane < self.plane_count:
                i = self.planes[next_plane]
                next_plane += 1
            else:
                top -= 1
                if entries[top] > limit:
                    continue
                i = ~stack[top]
            if i < 0:
                node = &self.tree.nodes[~i]
                for k in range(2):
                    entry[k] = box_entry(sub(node.box[k].lower, half), add(node.box[k].upper, half), origin, inverse,
                                         limit)
                far = entry[0] > entry[1]
                far = 1 - far
                for _ in range(2):                       # the nearer one last, to be taken first
                    if entry[far] < INFINITY:
                        stack[top] = node.child[far]
                        entries[top] = entry[far]
                        top += 1
                    far = 1 - far
                continue
            if not self.sees(i, chosen) or not self.meets(i, ray, probe, limit, filled, &hit):
                continue
            if every:
                hits[count] = hit
                count += 1
            elif count == 0 or hit.distance < hits[0].distance or hit.shape < hits[0].shape:
                hits[0] = hit
                limit = hit.distance
                count = 1
        return count

    # ---- overlaps ----------------------------------------------------------------------------------------------------

    cdef Py_ssize_t touching(self, const Solid* probe, const Filter* chosen, int32_t* shapes) noexcept nogil:
        """The shapes that the probe overlaps, in no order. -> how many"""
        cdef BoxWalk walk
        cdef Py_ssize_t count = 0
        cdef int32_t i = 0
        cdef int32_t k
        cdef Aabb box
        for k in range(self.plane_count):
            if self.sees(self.planes[k], chosen) and solids_overlap(probe, &self.solids[self.planes[k]]):
                shapes[count] = self.planes[k]
                count += 1
        box.lower = vec3(-INFINITY, -INFINITY, -INFINITY)
        box.upper = vec3(INFINITY, INFINITY, INFINITY)
        if probe.type != PLANE:
            box = box_about(probe)
        walk_box(&walk, &self.tree, &box)
        while i >= 0:
            i = next_leaf(&walk)
            if i < 0 or not self.sees(i, chosen):
                continue
            if (overlaps_surface(probe, &self.solids[i]) if is_surface(self.solids[i].type)
                    else solids_overlap(probe, &self.solids[i])):
                shapes[count] = i
                count += 1
        return count

    # ---- for Python --------------------------------------------------------------------------------------------------

    def look(self, const double[:, ::1] position, const double[:, ::1] orientation):
        """Follow the bodies: position (n, 3) [m], orientation (n, 4), world."""
        if not position.shape[0] == orientation.shape[0] >= self.body_count:
            raise ValueError(f"position and orientation must have a row for each of {self.body_count} bodies")
        if self.shape_count == 0:
            return
        with nogil:
            self.follow(<const Vec3*>&position[0, 0], <const Quat*>&orientation[0, 0])

    def cast_rays(self, double[:, ::1] origins, double[:, ::1] directions, double[::1] limits, int32_t mask,
                  const int8_t[::1] skipped, bint filled):
        """origins, directions (k, 3), of any length but 0; limits (k,) [m]; mask of groups; skipped (n,): bodies to pass
        through, or None; filled: whether a ray that starts inside hits at once. -> (k,) HIT_DTYPE"""
        cdef Py_ssize_t i
        cdef Py_ssize_t count = origins.shape[0]
        cdef Filter chosen
        cdef Ray ray
        cdef char[::1] raw
        cdef Hit* hits
        hits_array = np.zeros(count, HIT_DTYPE)
        if count == 0:
            return hits_array
        choose(&chosen, self.body_count, mask, skipped)
        raw = hits_array.view("i1")
        hits = <Hit*>&raw[0]
        with nogil:
            for i in range(count):
                ray.origin = vec3(origins[i, 0], origins[i, 1], origins[i, 2])
                ray.direction = unit(vec3(directions[i, 0], directions[i, 1], directions[i, 2]))
                if self.walk(&ray, NULL, limits[i], filled, &chosen, False, &hits[i]) == 0:
                    hits[i].body = -1
                    hits[i].shape = -1
                    hits[i].distance = INFINITY
        return hits_array

    def cast_ray(self, origin, direction, double limit, int32_t mask, const int8_t[::1] skipped, bint filled):
        """The nearest hit of one ray, as of cast_rays: origin, direction of three numbers each.
        -> None, or body, shape, distance, point (3,), normal (3,)"""
        cdef Filter chosen
        cdef Ray ray
        cdef Hit hit
        cdef Py_ssize_t count
        choose(&chosen, self.body_count, mask, skipped)
        ray.origin = vec3(origin[0], origin[1], origin[2])
        ray.direction = unit(vec3(direction[0], direction[1], direction[2]))
        with nogil:
            count = self.walk(&ray, NULL, limit, filled, &chosen, False, &hit)
        if count == 0:
            return None
        place = np.empty((2, 3))
        cdef double[:, ::1] out = place
        memcpy(&out[0, 0], &hit.point, sizeof(Vec3))
        memcpy(&out[1, 0], &hit.normal, sizeof(Vec3))
        return hit.body, hit.shape, hit.distance, place[0], place[1]

    def cast_through(self, double[::1] origin, double[::1] direction, double limit, int32_t mask,
                     const int8_t[::1] skipped, bint filled):
        """All that one ray hits. -> (k,) HIT_DTYPE, in no order"""
        cdef Py_ssize_t count
        cdef Filter chosen
        cdef Ray ray
        cdef char[::1] raw
        hits_array = np.zeros(self.shape_count + 1, HIT_DTYPE)
        choose(&chosen, self.body_count, mask, skipped)
        raw = hits_array.view("i1")
        ray.origin = vec3(origin[0], origin[1], origin[2])
        ray.direction = unit(vec3(direction[0], direction[1], direction[2]))
        with nogil:
            count = self.walk(&ray, NULL, limit, filled, &chosen, True, <Hit*>&raw[0])
        return hits_array[:count].copy()

    def cast_shape(self, Finder probe, double[::1] direction, double limit, int32_t mask, const int8_t[::1] skipped):
        """What the first shape of `probe` meets first, from where it is. -> (1,) or (0,) HIT_DTYPE"""
        cdef Py_ssize_t count
        cdef Filter chosen
        cdef Ray ray
        cdef char[::1] raw
        hits_array = np.zeros(1, HIT_DTYPE)
        choose(&chosen, self.body_count, mask, skipped)
        raw = hits_array.view("i1")
        ray.origin = probe.solids[0].position
        ray.direction = unit(vec3(direction[0], direction[1], direction[2]))
        with nogil:
            count = self.walk(&ray, &probe.solids[0], limit, True, &chosen, False, <Hit*>&raw[0])
        return hits_array[:count]

    def overlaps(self, Finder probe, int32_t i, int32_t mask, const int8_t[::1] skipped):
        """The shapes that shape i of `probe` overlaps. -> (k,) int32, ascending"""
        cdef Py_ssize_t count
        cdef Filter chosen
        cdef int32_t[::1] numbers
        choose(&chosen, self.body_count, mask, skipped)
        with nogil:
            count = self.touching(&probe.solids[i], &chosen, self.found)
        result = np.empty(count, np.int32)
        numbers = result
        for k in range(count):
            numbers[k] = self.found[k]
        result.sort()
        return result

    def distance(self, int32_t[::1] ours, Finder other, int32_t[::1] theirs):
        """The nearest pair of shapes, one of `ours`, one of `theirs` of another finder. -> None if all are planes, or
        distance [m] (minus the depth where they overlap), normal from ours to theirs, and the two points, world"""
        cdef Py_ssize_t i, j
        cdef double least = INFINITY
        cdef Axis axis, best
        cdef Vec3 middle, p, q, n
        cdef const Solid* a
        cdef const Solid* b
        best.normal = vec3(0.0, 0.0, 1.0)
        middle = best.normal
        for i in range(ours.shape[0]):
            a = &self.solids[ours[i]]
            for j in range(theirs.shape[0]):
                b = &other.solids[theirs[j]]
                if a.finite and b.finite and part(a, b, least, &axis) and axis.separation < least:
                    least = axis.separation
                    best = axis
                    middle = add(a.position, axis.witness)
        if least == INFINITY:
            return None
        n = best.normal
        p = add_scaled(middle, -0.5 * least, n)
        q = add_scaled(middle, 0.5 * least, n)
        return least, (n.x, n.y, n.z), (p.x, p.y, p.z), (q.x, q.y, q.z)
