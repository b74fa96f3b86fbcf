"""A world's shapes, placed: their solids, and boxes that hold what they may touch in the time ahead."""

import numpy as np

from libc.stdint cimport int8_t, int32_t
from libc.stdlib cimport free
from libc.string cimport memcpy
from mcsim.core._types cimport Vec3, Quat
from mcsim.core._math cimport vec3, add, sub, scale, norm, rotate, quat_mul, quat_matrix
from mcsim.state._layout cimport Bodies, Shape, STATIC, DYNAMIC, PLANE, HULL
from mcsim.state.fields import SHAPE_DTYPE, HULL_DTYPE
from mcsim.collide._memory cimport address, zeroed
from mcsim.collide._surfaces cimport Surfaces
from mcsim.collide._solid cimport Solid, Aabb, HullView, bounds, is_surface, reach_of


cdef inline int is_sane(const double* values, int count) noexcept nogil:
    """No NaN, no infinity, nothing whose powers would overflow."""
    cdef int i
    for i in range(count):
        if not -1e50 < values[i] < 1e50:
            return 0
    return 1


cdef class PlacedShapes:
    """shapes (s,) SHAPE_DTYPE, hulls (h,) HULL_DTYPE with their pools as described at Hull in _layout.pxd: vertices
    (v, 3), face_normals (f, 3), face_offsets (f,), face_begin, face_index, edges.
    surfaces: what the meshes and height fields are."""

    def __cinit__(self, shapes, hulls, vertices, face_normals, face_offsets, face_begin, face_index, edges,
                  excluded_pairs, Surfaces surfaces=None):
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
        memcpy(self.shapes, address(shapes), self.shape_count * sizeof(Shape))
        self._take_hulls(hulls, vertices, face_normals, face_offsets, face_begin, face_index)
        self._surfaces = Surfaces([]) if surfaces is None else surfaces
        self._take_shapes()

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
            if is_surface(self.shapes[i].type):
                if not 0 <= self.shapes[i].surface < self._surfaces.count:
                    raise ValueError(f"shape {i} names surface {self.shapes[i].surface} of {self._surfaces.count}")
                self.solids[i].surface = &self._surfaces.items[self.shapes[i].surface]
            self.solids[i].reach = reach_of(&self.solids[i])
            self.arms[i] = norm(self.shapes[i].position) + self.solids[i].reach

    def __dealloc__(self):
        free(self.shapes)
        free(self.solids)
        free(self.turns)
        free(self.boxes)
        free(self.margins)
        free(self.travels)
        free(self.arms)
        free(self.dynamic)
        free(self.moved)
        free(self.hulls)

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

    cdef double limit(self, int32_t i, int32_t j) noexcept nogil:
        """The separation up to which two shapes may come within the speculative distance in the time ahead."""
        return self.margins[i] + self.margins[j] + norm(sub(self.travels[j], self.travels[i]))
