"""Rays, slid shapes, overlaps and distances among the shapes of a world at the bodies' present poses.

A Finder has solids and a tree of its own and only reads the collision stage's shapes: what one looks at never changes
what the next step computes. Each query compares the poses of bodies that can have moved (state/_body_watch.pyx) with those
last seen, places anew what did, and refits the tree's boxes; the tree is built anew when they have grown. Answers do not
depend on the tree: of equally near shapes the first one counts.
"""

import numpy as np

from libc.math cimport fabs, INFINITY
from cpython.buffer cimport PyBUF_WRITABLE, PyBuffer_Release, PyObject_GetBuffer
from libc.stdint cimport int8_t, int32_t
from libc.stdlib cimport free
from libc.string cimport memcmp, memcpy, memset
from mcsim.core._types cimport Quat, Vec3
from mcsim.core._math cimport (vec3, add, sub, scale, add_scaled, neg, normalized, quat_matrix, quat_mul, quat_normalized,
                               rotate)
from mcsim.core._plain cimport read_numbers, read_vector
from mcsim.core._touched cimport Touched, untouch
from mcsim.state._bodies cimport STATIC
from mcsim.state._body_watch cimport BodyWatch
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

# A direction with no coordinate so large may be none (scene/checks.py).
cdef double SHORTEST_DIRECTION = 1e-12

cdef enum:
    BLOCK = 64                   # bodies whose poses are compared at once
    FEW = 16                     # of so many shapes one at most has moved: its leaf's way up is refitted alone

empty = np.empty

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


cdef vectors(const Vec3* first, int count):
    """(count, 3) of these numbers, an array of its own."""
    cdef Py_buffer view
    array = empty((count, 3))
    PyObject_GetBuffer(array, &view, PyBUF_WRITABLE)
    memcpy(view.buf, first, count * sizeof(Vec3))
    PyBuffer_Release(&view)
    return array


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
        self.skipping = <int8_t*>resized(NULL, self.body_count + 1, 1)
        memset(self.skipping, 0, self.body_count + 1)
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
        free(self.skipping)

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

    cdef void follow(self, const Vec3* position, const Quat* orientation, Touched* moved) noexcept nogil:
        """Place what moved since the last call, and mend the tree: above those leaves alone, where they are few. moved:
        what can have, and then nothing; NULL: anything."""
        cdef int32_t begin
        cdef int32_t count = 0
        cdef int32_t end = 0
        cdef Py_ssize_t k
        cdef double cost
        cdef bint anything = self.fresh or moved == NULL or moved.all
        for k in range(0 if anything else moved.count):
            if moved.rows[k] < self.body_count:
                count = self.follow_body(moved.rows[k], position, orientation, count)
        while anything and end < self.body_count:
            begin = end
            end = <int32_t>min(<Py_ssize_t>(begin + BLOCK), self.body_count)
            if not self.fresh and memcmp(&position[begin], &self.position[begin], (end - begin) * sizeof(Vec3)) == 0 \
                    and memcmp(&orientation[begin], &self.orientation[begin], (end - begin) * sizeof(Quat)) == 0:
                continue
            for k in range(begin, end):
                count = self.follow_body(<int32_t>k, position, orientation, count)
        if moved != NULL:
            untouch(moved)
        if self.fresh:
            self.build()
        elif count > 0:
            if count > self.shape_count // FEW:
                cost = self.refit()
            else:
                cost = self.cost_now
                for k in range(count):
                    cost += self.refit_above(self.found[k])
            self.cost_now = cost
            if not cost <= WORN * self.cost:
                self.build()
        self.fresh = 0

    cdef int32_t follow_body(self, int32_t body, const Vec3* position, const Quat* orientation,
                             int32_t count) noexcept nogil:
        """Place a body's shapes, if it moved, and list them, planes aside, behind the `count` that are. -> how many are"""
        cdef int32_t i, k
        if not self.fresh and memcmp(&position[body], &self.position[body], sizeof(Vec3)) == 0 \
                and memcmp(&orientation[body], &self.orientation[body], sizeof(Quat)) == 0:
            return count
        self.position[body] = position[body]
        self.orientation[body] = orientation[body]
        for k in range(self.shape_begin[body], self.shape_begin[body + 1]):
            i = self.shapes_of[k]
            self.place(i, position[body], orientation[body])
            if self.solids[i].type != PLANE:
                self.found[count] = i
                count += 1
        return count

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

    cdef int choose(self, Filter* chosen, int32_t mask, skipped) except -1:
        """Which shapes a query asks for: of bodies that it skips, by their numbers, none. pass_through() afterwards."""
        chosen.mask = mask
        chosen.sensor = -1
        chosen.skipped = NULL if not skipped else self.skipping
        return self.pass_through(skipped, True)

    cdef int pass_through(self, skipped, bint passed) except -1:
        cdef Py_ssize_t body
        for body in skipped:
            if 0 <= body < self.body_count:
                self.skipping[body] = passed
        return 0

    cdef told(self, const Hit* hit):
        """-> distance, number of the shape in the world, body, number of the shape in the body, point (3,), normal (3,)"""
        cdef int32_t rank = 0
        while self.shapes_of[self.shape_begin[hit.body] + rank] != hit.shape:
            rank += 1
        place = vectors(&hit.point, 2)
        return hit.distance, hit.shape, hit.body, rank, place[0], place[1]

    def look(self, BodyWatch watch not None):
        """Follow the bodies of a world."""
        if watch.count < self.body_count:
            raise ValueError(f"there are {self.body_count} bodies with shapes, not {watch.count}")
        watch.gather()
        with nogil:
            self.follow(watch.position, watch.orientation, &watch.of_finder)

    def look_at(self, position, orientation):
        """Follow the only body: position of three numbers [m], orientation of four, world."""
        cdef Vec3 p
        cdef Quat q
        if self.body_count != 1 or not read_vector(position, &p) or not read_numbers(orientation, 4, &q.w):
            raise ValueError("the pose of one body is three numbers and four")
        self.follow(&p, &q, NULL)

    def cast_rays(self, double[:, ::1] origins, double[:, ::1] directions, double[::1] limits, int32_t mask,
                  skipped, bint filled):
        """origins, directions (k, 3), of any length but 0; limits (k,) [m]; mask of groups; skipped: numbers of bodies to
        pass through; filled: whether a ray that starts inside hits at once. -> (k,) HIT_DTYPE"""
        cdef Py_ssize_t i
        cdef Py_ssize_t count = origins.shape[0]
        cdef Filter chosen
        cdef Ray ray
        cdef char[::1] raw
        cdef Hit* hits
        hits_array = np.zeros(count, HIT_DTYPE)
        if count == 0:
            return hits_array
        self.choose(&chosen, mask, skipped)
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
        self.pass_through(skipped, False)
        return hits_array

    def cast_ray(self, origin, direction, limit, int32_t mask, skipped, bint filled):
        """The nearest hit of one ray, as of cast_rays: origin, direction of three numbers each. -> as of told(); None; or
        NotImplemented, where the line is not told by numbers as core/_plain.pyx takes them, or is none"""
        cdef Filter chosen
        cdef Ray ray
        cdef Hit hit
        cdef Py_ssize_t count
        cdef double far
        if type(limit) is not float or not limit >= 0.0 or not read_vector(origin, &ray.origin) or not read_vector(
                direction, &ray.direction):
            return NotImplemented
        if not max(max(fabs(ray.direction.x), fabs(ray.direction.y)), fabs(ray.direction.z)) >= SHORTEST_DIRECTION:
            return NotImplemented
        far = limit
        self.choose(&chosen, mask, skipped)
        ray.direction = unit(ray.direction)
        with nogil:
            count = self.walk(&ray, NULL, far, filled, &chosen, False, &hit)
        self.pass_through(skipped, False)
        return self.told(&hit) if count > 0 else None

    def cast_through(self, origin, direction, double limit, int32_t mask, skipped, bint filled):
        """All that one ray hits. -> list as of told(), in no order"""
        cdef Py_ssize_t i, count
        cdef Filter chosen
        cdef Ray ray
        cdef char[::1] raw = np.zeros(self.shape_count + 1, HIT_DTYPE).view("i1")
        cdef Hit* hits = <Hit*>&raw[0]
        self.choose(&chosen, mask, skipped)
        ray.origin = vec3(origin[0], origin[1], origin[2])
        ray.direction = unit(vec3(direction[0], direction[1], direction[2]))
        with nogil:
            count = self.walk(&ray, NULL, limit, filled, &chosen, True, hits)
        self.pass_through(skipped, False)
        return [self.told(&hits[i]) for i in range(count)]

    def cast_shape(self, Finder probe, direction, double limit, int32_t mask, skipped):
        """What the first shape of `probe` meets first, from where it is. -> as of told(); None"""
        cdef Py_ssize_t count
        cdef Filter chosen
        cdef Ray ray
        cdef Hit hit
        self.choose(&chosen, mask, skipped)
        ray.origin = probe.solids[0].position
        ray.direction = unit(vec3(direction[0], direction[1], direction[2]))
        with nogil:
            count = self.walk(&ray, &probe.solids[0], limit, True, &chosen, False, &hit)
        self.pass_through(skipped, False)
        return self.told(&hit) if count > 0 else None

    def overlapped(self, Finder probe, int32_t mask, skipped):
        """-> set of the bodies that have shapes which the first shape of `probe` overlaps"""
        cdef Py_ssize_t k, count
        cdef Filter chosen
        self.choose(&chosen, mask, skipped)
        with nogil:
            count = self.touching(&probe.solids[0], &chosen, self.found)
        self.pass_through(skipped, False)
        return {self.collider.shapes[self.found[k]].body for k in range(count)}

    def distance(self, Py_ssize_t body, Finder other, Py_ssize_t other_body):
        """Of the nearest two shapes, one of a body, one of a body of another finder, sensors left out. -> None where there
        are no two, or all are planes; or distance [m] (minus the depth where they overlap), (3, 3): normal from body to
        other, and the two points, world"""
        cdef int32_t i, k
        cdef double least = INFINITY
        cdef Axis axis, best
        cdef Vec3 middle
        cdef Vec3 found[3]
        cdef const Solid* a
        cdef const Solid* b
        best.normal = vec3(0.0, 0.0, 1.0)
        middle = best.normal
        if body >= self.body_count or other_body >= other.body_count:
            return None
        for i in range(self.shape_begin[body], self.shape_begin[body + 1]):
            a = &self.solids[self.shapes_of[i]]
            for k in range(other.shape_begin[other_body], other.shape_begin[other_body + 1]):
                b = &other.solids[other.shapes_of[k]]
                if self.collider.shapes[self.shapes_of[i]].sensor or other.collider.shapes[other.shapes_of[k]].sensor:
                    continue
                if a.finite and b.finite and part(a, b, least, &axis) and axis.separation < least:
                    least = axis.separation
                    best = axis
                    middle = add(a.position, axis.witness)
        if least == INFINITY:
            return None
        found[0] = best.normal
        found[1] = add_scaled(middle, -0.5 * least, best.normal)
        found[2] = add_scaled(middle, 0.5 * least, best.normal)
        return least, vectors(found, 3)
