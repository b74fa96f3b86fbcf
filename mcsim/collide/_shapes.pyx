"""A world's shapes, placed: their solids, and boxes that hold what they may touch in the time ahead.

Only what can have moved is placed: not the shapes of bodies that sleep at rest, nor of static ones whose pose is what it
was.
"""

import numpy as np

from libc.stdint cimport int8_t, int32_t
from libc.stdlib cimport calloc, free
from libc.string cimport memcmp, memcpy, memset
from mcsim.core.linear import product
from mcsim.core._types cimport Vec3, Quat
from mcsim.core._math cimport vec3, add, dot, is_zero, scale, norm, rotate, quat_mul, quat_matrix
from mcsim.state._bodies cimport Bodies, DYNAMIC, STATIC
from mcsim.state._settings cimport Nearness
from mcsim.state._shape cimport Shape
from mcsim.state._shape_types cimport PLANE, HULL
from mcsim.state.fields import SHAPE_DTYPE, HULL_DTYPE
from mcsim.collide._margins cimport extend, grown
from mcsim.collide._memory cimport Column, address, close_up, resized, resized_lines
from mcsim.collide._surfaces cimport Surfaces
from mcsim.collide._shape_table cimport bounds, reach_of, thickness
from mcsim.collide._solid cimport Solid, Aabb, HullView, Motion, is_surface, near_of


cdef inline int is_sane(const double* values, int count) noexcept nogil:
    """No NaN, no infinity, nothing whose powers would overflow."""
    cdef int i
    for i in range(count):
        if not -1e50 < values[i] < 1e50:
            return 0
    return 1


cdef inline bint resists(const Shape* s) noexcept nogil:
    """Has its material more than Coulomb's friction?"""
    return (s.rolling_friction > 0.0 or s.torsional_friction > 0.0
            or dot(s.surface_velocity, s.surface_velocity) > 0.0)


cdef inline bint has_other_form(const Shape* a, const Shape* b) noexcept nogil:
    """Has one another size or place than the other?"""
    return (a.rounding != b.rounding or a.size.x != b.size.x or a.size.y != b.size.y or a.size.z != b.size.z
            or a.position.x != b.position.x or a.position.y != b.position.y or a.position.z != b.position.z
            or a.orientation.w != b.orientation.w or a.orientation.x != b.orientation.x
            or a.orientation.y != b.orientation.y or a.orientation.z != b.orientation.z)


cdef class HullPool:
    """hulls (h,) HULL_DTYPE; vertices (v, 3), face_normals (f, 3), face_offsets (f,), face_begin, face_index;
    surfaces, or None."""

    def __cinit__(self, hulls, vertices, face_normals, face_offsets, face_begin, face_index, Surfaces surfaces):
        cdef Py_ssize_t i, vertex, face, vertex_end, face_end
        hulls = np.ascontiguousarray(hulls, HULL_DTYPE)
        vertices = np.array(vertices, np.float64).reshape(-1, 3)
        face_normals = np.array(face_normals, np.float64).reshape(-1, 3)
        face_offsets = np.array(face_offsets, np.float64).reshape(-1)
        face_begin = np.array(face_begin, np.int32).reshape(-1)
        face_index = np.array(face_index, np.int32).reshape(-1)
        self.arrays = (vertices, face_normals, face_offsets, face_begin, face_index)
        self.count = len(hulls)
        self.surfaces = Surfaces([]) if surfaces is None else surfaces
        self.views = <HullView*>resized(NULL, self.count, sizeof(HullView))
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
            self.views[i].vertices = <Vec3*>address(vertices) + vertex
            self.views[i].normals = <Vec3*>address(face_normals) + face
            self.views[i].offsets = <double*>address(face_offsets) + face
            self.views[i].face_begin = <int32_t*>address(face_begin) + face
            self.views[i].face_index = <int32_t*>address(face_index)
            self.views[i].vertex_count = vertex_end - vertex
            self.views[i].face_count = face_end - face
            self.views[i].radius = hull["radius"]
            inner = vertices[vertex:vertex_end].mean(axis=0)
            self.views[i].inner_centre = vec3(inner[0], inner[1], inner[2])
            self.views[i].inner_radius = np.min(face_offsets[face:face_end] - product(face_normals[face:face_end], inner))

    def __dealloc__(self):
        free(self.views)


cdef class PlacedShapes:
    """Rows are shapes, in the order in which they came; after a removal they close up in order."""

    def __cinit__(self, *_):
        self._pools = {}
        self.add_column(<void**>&self.shapes, sizeof(Shape))
        self.add_column(<void**>&self.solids, sizeof(Solid))
        self.add_column(<void**>&self.turns, sizeof(Quat))
        self.add_column(<void**>&self.boxes, sizeof(Aabb))
        self.add_column(<void**>&self.grips, sizeof(Grip))
        self.add_column(<void**>&self.arms, sizeof(double))
        self.add_column(<void**>&self.posed, sizeof(Pose))
        self.add_column(<void**>&self.kind, 1)
        self.add_column(<void**>&self.resting, 1)
        self.add_column(<void**>&self.due, 1)
        self.add_column(<void**>&self.moved, 1)
        self.add_column(<void**>&self.placed, sizeof(int32_t))
        self.add_column(<void**>&self.lively, sizeof(int32_t), True)
        self.add_column(<void**>&self.pool, sizeof(int32_t))
        self.add_column(<void**>&self.owner, sizeof(int32_t))

    def __dealloc__(self):
        cdef int k
        for k in range(self.column_count):
            free(self.columns[k].block[0])

    # ---- rows that come and go ---------------------------------------------------------------------------------------

    cdef int add_column(self, void** block, size_t size, bint listed=False) except -1:
        """An array with a record a shape, from now on. New records are zero. listed: one with room for a list of shapes."""
        if self.column_count == MOST_COLUMNS:
            raise MemoryError("shapes have no room for another column")
        block[0] = calloc(1, size)
        if block[0] == NULL:
            raise MemoryError("the collision stage has no memory for its columns")
        self.columns[self.column_count].block = block
        self.columns[self.column_count].size, self.columns[self.column_count].listed = size, listed
        self.column_count += 1
        return 0

    cdef int reserve_shapes(self, Py_ssize_t count) except -1:
        """Room for so many shapes. If there is none, nothing has changed."""
        cdef Py_ssize_t capacity = self.shape_capacity
        cdef Column* column
        cdef int k
        if count <= capacity:
            return 0
        capacity = max(count, capacity + capacity // 2)
        for k in range(self.column_count):
            column = &self.columns[k]
            column.block[0] = resized_lines(column.block[0], self.shape_capacity, capacity, column.size)
            memset(<char*>column.block[0] + self.shape_capacity * column.size, 0,
                   (capacity - self.shape_capacity) * column.size)
        self.shape_capacity = capacity
        return 0

    def _append(self, shapes, hulls, vertices, face_normals, face_offsets, face_begin, face_index, surfaces):
        """New rows at the end, not placed yet. Numbers in `shapes` are into `hulls` and `surfaces`. Refused: nothing
        changed."""
        cdef int32_t i, number
        cdef HullPool pool = HullPool(hulls, vertices, face_normals, face_offsets, face_begin, face_index,
                                       surfaces)
        shapes = np.ascontiguousarray(shapes, SHAPE_DTYPE)
        cdef Py_ssize_t count = self.shape_count + len(shapes)
        pooled = self._checked_in(shapes, pool, self.shape_count)
        self.reserve_shapes(count)
        number = self._add_pool(pool, pooled)
        memcpy(self.shapes + self.shape_count, address(shapes), len(shapes) * sizeof(Shape))
        for i in range(self.shape_count, count):
            self.pool[i] = number if self.shapes[i].type == HULL or is_surface(self.shapes[i].type) else -1
            self.kind[i] = NEW
            self.resting[i] = 0
            self.due[i] = 1
            self.moved[i] = 1
            self.solids[i].body = self.owner[i] = self.shapes[i].body
            self.grip(i)
            self.solidify(i, pool)
            self.count_shape(i, 1)
        self.shape_count = count
        self.revise()

    cdef int take_shapes(self, PlacedShapes other) except -1:
        """Those of another one, in place of none, not placed yet. Hulls and surfaces are shared, for they never change."""
        cdef Py_ssize_t count = other.shape_count
        self.reserve_shapes(count)
        self._pools = {number: list(entry) for number, entry in other._pools.items()}
        self._next_pool = other._next_pool
        memcpy(self.shapes, other.shapes, count * sizeof(Shape))
        memcpy(self.solids, other.solids, count * sizeof(Solid))
        memcpy(self.grips, other.grips, count * sizeof(Grip))
        memcpy(self.arms, other.arms, count * sizeof(double))
        memcpy(self.pool, other.pool, count * sizeof(int32_t))
        memcpy(self.owner, other.owner, count * sizeof(int32_t))
        self.resisters, self.one_ways = other.resisters, other.one_ways
        memset(self.kind, NEW, count)
        memset(self.due, 1, count)
        memset(self.moved, 1, count)
        self.shape_count = other.shape_count
        self.revise()
        return 0

    def _checked_in(self, shapes, HullPool pool, first):
        """-> how many of the shapes, numbered from `first` on, are of hulls or surfaces. Refused are those that name one
        that is not in the pool."""
        cdef const Shape* s = <const Shape*>address(shapes)
        cdef Py_ssize_t k
        cdef Py_ssize_t pooled = 0
        for k in range(len(shapes)):
            if s[k].type == HULL and not 0 <= s[k].hull < pool.count:
                raise ValueError(f"shape {first + k} names hull {s[k].hull} of {pool.count}")
            if is_surface(s[k].type) and not 0 <= s[k].surface < pool.surfaces.count:
                raise ValueError(f"shape {first + k} names surface {s[k].surface} of {pool.surfaces.count}")
            if s[k].body < 0:
                raise ValueError("a shape must name the body that it is on")
            pooled += s[k].type == HULL or is_surface(s[k].type)
        return pooled

    def _add_pool(self, pool, pooled):
        """Keep a pool that so many shapes are in. -> its number"""
        number = self._next_pool
        if pooled:
            self._pools[number] = [pool, pooled]
            self._next_pool += 1
        return number

    cdef int leave_pool(self, int32_t number) except -1:
        """A shape is no longer in a pool; -1: it was in none."""
        if number >= 0:
            entry = self._pools[number]
            entry[1] -= 1
            if entry[1] == 0:
                del self._pools[number]
        return 0

    cdef void grip(self, int32_t i) noexcept nogil:
        self.grips[i].friction = self.shapes[i].friction
        self.grips[i].restitution = self.shapes[i].restitution
        self.grips[i].material = self.shapes[i].material

    cdef int solidify(self, int32_t i, HullPool pool) except -1:
        """What follows from a shape's record alone."""
        self.solids[i].type = self.shapes[i].type
        self.solids[i].size = self.shapes[i].size
        self.solids[i].rounding = self.shapes[i].rounding
        self.solids[i].hull = &pool.views[self.shapes[i].hull] if self.shapes[i].type == HULL else NULL
        self.solids[i].surface = NULL
        if is_surface(self.shapes[i].type):
            self.solids[i].surface = &pool.surfaces.items[self.shapes[i].surface]
        self.solids[i].reach = reach_of(&self.solids[i])
        self.arms[i] = norm(self.shapes[i].position) + self.solids[i].reach
        return 0

    cdef int close_up_shapes(self, const int8_t* gone) except -1:
        """Rows go; the others close up. gone: for each shape 1 or 0."""
        cdef int32_t i
        cdef int32_t kept = 0
        cdef int k
        for i in range(self.shape_count):
            kept += not gone[i]
            if gone[i]:
                self.leave_pool(self.pool[i])
                self.count_shape(i, -1)
        for k in range(self.column_count):
            if not self.columns[k].listed:
                close_up(<char*>self.columns[k].block[0], self.columns[k].size, gone, self.shape_count)
        self.shape_count = kept
        self.revise()
        return 0

    def has_numbers(self, numbers):
        """Whether there are shapes of all these numbers, (k,) int32."""
        cdef const int32_t* number = <const int32_t*>address(numbers)
        cdef Py_ssize_t k
        for k in range(len(numbers)):
            if not 0 <= number[k] < self.shape_count:
                return False
        return True

    def _change(self, numbers, shapes):
        """Other records for some rows; body, type, hull and surface stay. -> (k,) bool: which changed their form or
        place. Refused: nothing changed."""
        cdef int32_t i
        cdef Py_ssize_t k
        numbers = np.array(numbers, np.int32).reshape(-1)
        shapes = np.ascontiguousarray(shapes, SHAPE_DTYPE).reshape(-1)
        if not self.has_numbers(numbers) or len(numbers) != len(shapes):
            raise ValueError(f"there are {self.shape_count} shapes; each one to change needs its number and a record")
        cdef const Shape* records = <const Shape*>address(shapes)
        cdef const Shape* old
        cdef bint filtered
        changed = np.zeros(len(numbers), bool)
        for k in range(len(numbers)):
            old = &self.shapes[<int32_t>numbers[k]]
            for field, kept in (("type", old.type == records[k].type), ("body", old.body == records[k].body),
                                ("hull", old.hull == records[k].hull), ("surface", old.surface == records[k].surface)):
                if not kept:
                    raise ValueError(f"a shape keeps its {field}; remove it and add another")
        for k in range(len(numbers)):
            i = numbers[k]
            old = &self.shapes[i]
            changed[k] = has_other_form(old, &records[k])
            filtered = old.group != records[k].group or old.mask != records[k].mask
            self.count_shape(i, -1)
            self.shapes[i] = records[k]
            self.count_shape(i, 1)
            self.grip(i)
            self.moved[i] |= <int8_t>(changed[k] or filtered)
            if changed[k]:
                self.due[i] = 1
                self.solidify(i, self._pools[self.pool[i]][0] if self.pool[i] >= 0 else None)
        self.revise()
        return changed

    def _replace(self, numbers, shapes, hulls, vertices, face_normals, face_offsets, face_begin, face_index, surfaces):
        """Other shapes in the place of some, on the same bodies. Numbers in `shapes` are into `hulls` and `surfaces`;
        neither was nor is one a plane. Refused: nothing changed."""
        cdef int32_t i, number, before
        cdef Py_ssize_t k
        cdef HullPool pool = HullPool(hulls, vertices, face_normals, face_offsets, face_begin, face_index,
                                       surfaces)
        numbers = np.array(numbers, np.int32).reshape(-1)
        shapes = np.ascontiguousarray(shapes, SHAPE_DTYPE).reshape(-1)
        if not self.has_numbers(numbers) or len(numbers) != len(shapes) or len(set(numbers.tolist())) < len(numbers):
            raise ValueError(f"there are {self.shape_count} shapes; each one to replace needs its number and a record")
        cdef const Shape* records = <const Shape*>address(shapes)
        for k in range(len(numbers)):
            i = numbers[k]
            if self.shapes[i].body != records[k].body or self.shapes[i].type == PLANE or records[k].type == PLANE:
                raise ValueError("a shape in the place of another is on the same body, and no plane: remove and add it")
        number = self._add_pool(pool, self._checked_in(shapes, pool, 0))
        for k in range(len(numbers)):
            i = numbers[k]
            before = self.pool[i]
            self.count_shape(i, -1)
            self.shapes[i] = records[k]
            self.count_shape(i, 1)
            self.pool[i] = number if records[k].type == HULL or is_surface(records[k].type) else -1
            self.due[i] = 1
            self.moved[i] = 1
            self.grip(i)
            self.solidify(i, pool)
            self.leave_pool(before)
        self.revise()

    def get_bodies(self):
        """-> (s,) int32: the body of each shape."""
        result = np.empty(self.shape_count, np.int32)
        memcpy(address(result), self.owner, self.shape_count * sizeof(int32_t))
        return result

    def on_gone(self, body_number):
        """-> (s,) bool: which shapes are on bodies that are gone. body_number (bodies,) int32: -1 of those."""
        cdef const int32_t* number = <const int32_t*>address(body_number)
        cdef Py_ssize_t i
        result = np.empty(self.shape_count, bool)
        cdef int8_t* gone = <int8_t*>address(result)
        for i in range(self.shape_count):
            gone[i] = number[self.owner[i]] < 0
        return result

    cdef void count_shape(self, int32_t i, int by) noexcept nogil:
        """A shape comes (1), or goes (-1)."""
        self.resisters += by * resists(&self.shapes[i])
        self.one_ways += by * (not is_zero(self.shapes[i].one_way))

    cdef void revise(self) noexcept nogil:
        """After a change of what shapes there are."""
        self.revision += 1
        self.unplaced = True
        self.resisting, self.one_way = self.resisters > 0, self.one_ways > 0

    def get_shapes(self, numbers=None):
        """-> (s,) SHAPE_DTYPE, a copy of the records, of all shapes or of some."""
        cdef Py_ssize_t i
        cdef Py_ssize_t k = 0
        result = np.empty(self.shape_count if numbers is None else len(numbers), SHAPE_DTYPE)
        cdef Shape* records = <Shape*>address(result)
        if numbers is None:
            memcpy(records, self.shapes, self.shape_count * sizeof(Shape))
            return result
        for i in numbers:
            if not 0 <= i < self.shape_count:
                raise IndexError(f"there are {self.shape_count} shapes")
            records[k] = self.shapes[i]
            k += 1
        return result

    # ---- placing -----------------------------------------------------------------------------------------------------

    cdef void place_shapes(self, Bodies* bodies, const Nearness* nearness, double ahead, bint whole) noexcept nogil:
        """Place all that can have moved since the last call, or the whole; note which in `placed`."""
        cdef int32_t i, k
        cdef int32_t lively = 0
        cdef const Nearness* before = &self.placed_nearness
        whole = (whole or nearness.distance != before.distance or nearness.most != before.most
                 or nearness.part != before.part)
        self.placed_nearness = nearness[0]
        self.placed_count = 0
        if not (whole or self.unplaced):
            for k in range(self.lively_count):
                self.place_if_moved(self.lively[k], bodies, nearness, ahead, False)
            return
        for i in range(self.shape_count):
            self.place_if_moved(i, bodies, nearness, ahead, whole)
            if self.kind[i] != STATIC and not self.resting[i]:
                self.lively[lively] = i
                lively += 1
        self.lively_count, self.unplaced = lively, False

    cdef bint place_if_moved(self, int32_t i, Bodies* bodies, const Nearness* nearness, double ahead,
                             bint whole) noexcept nogil:
        """Place a shape that can have moved. A change of a body's kind counts as a motion. -> whether it is"""
        cdef int32_t body = self.shapes[i].body
        cdef int32_t kind = bodies.kind[body]
        cdef const Pose* at
        if not (whole or self.due[i] or self.moved[i]):
            if self.resting[i]:
                return False
            if self.kind[i] == STATIC and kind == STATIC:
                at = &self.posed[i]
                if memcmp(&at.position, &bodies.position[body], sizeof(Vec3)) == 0 \
                        and memcmp(&at.orientation, &bodies.orientation[body], sizeof(Quat)) == 0:
                    return False
        self.moved[i] |= kind != self.kind[i]
        self.kind[i] = kind
        self.due[i] = 0
        self.place(i, bodies, nearness, ahead)
        self.placed[self.placed_count] = i
        self.placed_count += 1
        return True

    cdef void place(self, int32_t i, Bodies* bodies, const Nearness* nearness, double ahead) noexcept nogil:
        """Pose, travel, margin and box of a shape. Travel is the way of the body's centre in the time ahead; a shape's
        margin is the farthest that its turning takes any of its points. Its box holds it and its margin, now and after its
        travel, and if the body is dynamic, as one of a pair is, from as far as it has contacts with what is not thinner:
        two shapes meet only if their boxes do."""
        cdef const Shape* shape = &self.shapes[i]
        cdef Solid* solid = &self.solids[i]
        cdef Motion* motion = &solid.motion
        cdef int32_t body = shape.body
        cdef Quat q = bodies.orientation[body]
        self.posed[i].position = bodies.position[body]
        self.posed[i].orientation = q
        solid.position = add(bodies.position[body], rotate(q, shape.position))
        self.turns[i] = quat_mul(q, shape.orientation)
        solid.axes = quat_matrix(self.turns[i])
        solid.finite = is_sane(&solid.position.x, 3) and is_sane(&solid.axes.xx, 9)
        motion.margin = 0.0
        motion.travel = vec3(0.0, 0.0, 0.0)
        if ahead > 0.0 and self.kind[i] != STATIC:
            motion.travel = scale(ahead, bodies.twist[body].v)
            if shape.type != PLANE:
                motion.margin = ahead * norm(bodies.twist[body].w) * self.arms[i]
            solid.finite &= is_sane(&motion.margin, 1) and is_sane(&motion.travel.x, 3)
            motion.margin = min(motion.margin, 2.0 * self.arms[i])               # across its circle
        if shape.type != PLANE:
            self.boxes[i] = bounds(solid)
            self.boxes[i] = grown(&self.boxes[i], motion.margin + (
                near_of(nearness, thickness(solid)) if self.kind[i] == DYNAMIC else 0.0))
            extend(&self.boxes[i], motion.travel)
