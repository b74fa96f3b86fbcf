"""Builds the trees over the triangles of meshes: halves by the median along the axis on which the middles spread most.

Every cut leaves halves that differ by one triangle at most, so the depth is log2(t / 4) + 1 whatever the mesh is.
"""

import numpy as np

from libc.math cimport INFINITY
from libc.stdint cimport int32_t
from libc.stdlib cimport calloc, free
from libc.string cimport memset
from cython cimport final
from mcsim.core.linear import length, lengths
from mcsim.core._types cimport Vec3
from mcsim.core._math cimport vec3
from mcsim.collide._memory cimport address
from mcsim.collide._solid cimport Solid
from mcsim.collide._surface cimport MESH_LEAF, MeshNode, Surface
from mcsim.collide._tree_stack cimport TREE_STACK
from mcsim.collide._surface_walk cimport Walk, walk_next, walk_start
from mcsim.collide._surface_ray cimport RayHit, surface_ray
from mcsim.collide._tree cimport Mark, select_median, widest_axis

# The numbers of a node as they lie in memory.
NODE_DTYPE = np.dtype([("lower", "f8", 3), ("upper", "f8", 3), ("begin", "i4"), ("end", "i4"), ("right", "i4"),
                       ("reserved", "i4")])

# Those of a Mark of _tree.pxd; `middle`: thrice a triangle's.
MARK_DTYPE = np.dtype([("middle", "f8", 3), ("leaf", "i4"), ("reserved", "i4")])


cdef void leaf_box(const Surface* s, const Mark* marks, MeshNode* node) noexcept nogil:
    cdef int32_t i, k
    cdef const Vec3* v
    node.lower = vec3(INFINITY, INFINITY, INFINITY)
    node.upper = vec3(-INFINITY, -INFINITY, -INFINITY)
    for i in range(node.begin, node.end):
        for k in range(3):
            v = &s.vertices[s.corners[3 * marks[i].leaf + k]]
            node.lower = vec3(min(node.lower.x, v.x), min(node.lower.y, v.y), min(node.lower.z, v.z))
            node.upper = vec3(max(node.upper.x, v.x), max(node.upper.y, v.y), max(node.upper.z, v.z))


cdef int32_t build(const Surface* s, Mark* marks, MeshNode* nodes) noexcept nogil:
    """The tree of a mesh in depth-first order, and the marks of its triangles in that of the leaves. -> count of nodes"""
    cdef int32_t begins[TREE_STACK]
    cdef int32_t ends[TREE_STACK]
    cdef int32_t parents[TREE_STACK]             # whose right child it is, -1: a left one, or the root
    cdef int top = 1
    cdef int32_t count = 0
    cdef int32_t begin, end, half, node
    cdef MeshNode* left
    cdef MeshNode* right
    begins[0] = 0
    ends[0] = s.triangle_count
    parents[0] = -1
    while top > 0:
        top -= 1
        begin = begins[top]
        end = ends[top]
        if parents[top] >= 0:
            nodes[parents[top]].right = count
        node = count
        count += 1
        nodes[node].begin = begin
        nodes[node].end = end
        nodes[node].right = 0
        nodes[node].reserved = 0
        if end - begin <= MESH_LEAF:
            leaf_box(s, marks, &nodes[node])
            continue
        half = begin + (end - begin) // 2
        select_median(marks, begin, end, half, widest_axis(marks, begin, end))
        begins[top] = half
        ends[top] = end
        parents[top] = node
        begins[top + 1] = begin
        ends[top + 1] = half
        parents[top + 1] = -1
        top += 2
    for node in range(count - 1, -1, -1):        # children come after their parents
        if nodes[node].right > 0:
            left = &nodes[node + 1]
            right = &nodes[nodes[node].right]
            nodes[node].lower = vec3(min(left.lower.x, right.lower.x), min(left.lower.y, right.lower.y),
                                     min(left.lower.z, right.lower.z))
            nodes[node].upper = vec3(max(left.upper.x, right.upper.x), max(left.upper.y, right.upper.y),
                                     max(left.upper.z, right.upper.z))
    return count


@final
cdef class Surfaces:
    """The surfaces of a world; `arrays`: a list of SurfaceArrays (state/surfaces.py)."""

    def __cinit__(self, arrays):
        cdef Py_ssize_t i
        self._arrays = []
        self.count = len(arrays)
        self.items = <Surface*>calloc(max(self.count, 1), sizeof(Surface))
        if self.items == NULL:
            raise MemoryError(f"no memory for {self.count} surfaces")
        for i, one in enumerate(arrays):
            if one.heights.size:
                self._take_heights(i, one)
            else:
                self._take_mesh(i, one)

    def __dealloc__(self):
        free(self.items)

    def _keep(self, array, dtype):
        """A copy that lives as long as this."""
        kept = np.array(array, dtype, order="C")
        self._arrays.append(kept)
        return kept

    def _take_heights(self, Py_ssize_t i, one):
        cdef Surface* s = &self.items[i]
        heights = self._keep(one.heights, np.float64)
        s.heights = <double*>address(heights)
        s.rows, s.columns = heights.shape
        s.dx, s.dy = one.spacing
        s.triangle_count = 2 * (s.rows - 1) * (s.columns - 1)
        s.upper = vec3(0.5 * (s.rows - 1) * s.dx, 0.5 * (s.columns - 1) * s.dy, heights.max())
        s.lower = vec3(-s.upper.x, -s.upper.y, heights.min())
        s.radius = length([s.upper.x, s.upper.y, np.abs(heights).max()])

    def _take_mesh(self, Py_ssize_t i, one):
        cdef Surface* s = &self.items[i]
        cdef Mark* marks
        cdef MeshNode* nodes
        vertices, corners = self._keep(one.vertices, np.float64), self._keep(one.corners, np.int32)
        opposite, sheet = self._keep(one.opposite, np.int32), self._keep(one.sheet, np.int32)
        ring_begin, ring = self._keep(one.ring_begin, np.int32), self._keep(one.ring, np.int32)
        count = len(corners)
        if count == 0 or corners.min() < 0 or corners.max() >= len(vertices) or opposite.shape != corners.shape \
                or opposite.max() >= len(vertices) or len(sheet) != count or len(ring_begin) != len(vertices) + 1:
            raise ValueError(f"surface {i}: its arrays do not belong together")
        s.vertices = <Vec3*>address(vertices)
        s.corners = <int32_t*>address(corners)
        s.opposite = <int32_t*>address(opposite)
        s.sheet = <int32_t*>address(sheet)
        s.ring_begin = <int32_t*>address(ring_begin)
        s.ring = <int32_t*>address(ring)
        s.triangle_count = count
        middles = np.zeros(count, MARK_DTYPE)
        middles["middle"], middles["leaf"] = vertices[corners].sum(axis=1), np.arange(count)
        # MESH_LEAF is 3 or more, so a leaf that was parted off has two triangles or more, and nodes are no more than these.
        tree = self._keep(np.zeros(count + 1), NODE_DTYPE)
        s.nodes = nodes = <MeshNode*>address(tree)
        marks = <Mark*>address(middles)
        with nogil:
            build(s, marks, nodes)
        s.order = <int32_t*>address(self._keep(middles["leaf"], np.int32))
        s.lower, s.upper = nodes[0].lower, nodes[0].upper
        s.radius = lengths(vertices[np.unique(corners)]).max()

    def triangles_in(self, Py_ssize_t i, lower, upper):
        """Numbers of the triangles of surface i that a walk over a box of its frame meets, in its order."""
        cdef Walk w
        cdef int32_t t
        if not 0 <= i < self.count:
            raise ValueError(f"there are {self.count} surfaces, not a number {i}")
        walk_start(&self.items[i], vec3(lower[0], lower[1], lower[2]), vec3(upper[0], upper[1], upper[2]), &w)
        found = []
        while True:
            t = walk_next(&self.items[i], &w)
            if t < 0:
                return np.array(found, np.int32)
            found.append(t)

    def first_on_ray(self, Py_ssize_t i, origin, direction, double distance):
        """Where a ray in the frame of surface i first meets it: (distance, normal, triangle), or None. Distances are in
        lengths of the direction."""
        cdef Solid solid
        cdef RayHit hit
        if not 0 <= i < self.count:
            raise ValueError(f"there are {self.count} surfaces, not a number {i}")
        memset(&solid, 0, sizeof(solid))
        solid.axes.xx = solid.axes.yy = solid.axes.zz = 1.0
        solid.surface = &self.items[i]
        hit.distance = distance
        if not surface_ray(&solid, vec3(origin[0], origin[1], origin[2]),
                           vec3(direction[0], direction[1], direction[2]), &hit):
            return None
        return hit.distance, np.array([hit.normal.x, hit.normal.y, hit.normal.z]), hit.triangle
