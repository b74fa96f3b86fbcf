"""A mesh or a height field as contact and rays read it: its triangles, what lies beside them, and where to look
(_surface_walk.pxd).

Triangles of a mesh lie in a tree of boxes; those of a height field follow from the grid: cell (i, j) has the triangles
2 (i (columns - 1) + j) and the next, parted by the line from (i, j) to (i + 1, j + 1).
"""

from libc.stdint cimport int32_t
from mcsim.core._types cimport Vec3

cdef enum:
    BORDER = -1                  # as in state/surfaces.py
    CROWDED = -2
    MESH_LEAF = 4                # triangles in a leaf of the tree
    RING = 6                     # neighbours of a grid point, at most

# A node's triangles are order[begin : end]; a leaf has no right child. The left child is the next node.
ctypedef struct MeshNode:
    Vec3 lower
    Vec3 upper
    int32_t begin
    int32_t end
    int32_t right                # 0 in a leaf
    int32_t reserved

ctypedef struct Surface:
    const Vec3* vertices         # in the shape's frame [m]
    const int32_t* corners       # three a triangle
    const int32_t* opposite      # three a triangle: the corner across the edge from corner k to k + 1
    const int32_t* sheet         # number of the connected part, one a triangle
    const int32_t* ring_begin
    const int32_t* ring          # the vertices beside each vertex
    const MeshNode* nodes
    const int32_t* order         # triangles in the order of the leaves
    const double* heights        # NULL in a mesh; else rows x columns
    int32_t rows
    int32_t columns
    int32_t triangle_count
    int32_t reserved
    double dx
    double dy
    Vec3 lower                   # of the box about everything, shape's frame
    Vec3 upper
    double radius                # of the sphere about the frame's origin that holds everything [m]
