"""The broadphase's tree of bounding boxes.

Leaves hold fat boxes: a shape's own box and a margin, so that a slow shape keeps its leaf for many steps. A leaf that
moved is refitted in place; after many such moves the tree is built anew by median splits, so its depth never exceeds
log2(n) + 1 whatever the boxes are, all equal ones included.
"""

from libc.math cimport INFINITY
from libc.stdint cimport int32_t
from mcsim.core._math cimport vec3
from mcsim.collide._solid cimport Aabb

cdef enum:
    TREE_STACK = 64              # deeper than any tree of 2^31 leaves

ctypedef struct Node:
    Aabb box                     # of all leaves below; lower > upper = holds nothing
    int32_t left                 # -1 in a leaf
    int32_t right
    int32_t parent               # -1 at the root
    int32_t dynamic              # whether a shape below moves by itself

# Nodes 0 .. shape_count - 1 are the shapes' leaves, the inner nodes follow, parents before children.
ctypedef struct Tree:
    Node* nodes                  # 2 shape_count
    int32_t* order               # the shapes that are in the tree, in its order from left to right
    int32_t shape_count
    int32_t count                # shapes in the tree
    int32_t root                 # -1 = empty
    int32_t inner_end
    int32_t refits               # since it was built


cdef inline Aabb nothing() noexcept nogil:
    cdef Aabb box
    box.lower = vec3(INFINITY, INFINITY, INFINITY)
    box.upper = vec3(-INFINITY, -INFINITY, -INFINITY)
    return box


cdef inline Aabb joined(const Aabb* p, const Aabb* q) noexcept nogil:
    cdef Aabb box
    box.lower = vec3(p.lower.x if p.lower.x < q.lower.x else q.lower.x,
                     p.lower.y if p.lower.y < q.lower.y else q.lower.y,
                     p.lower.z if p.lower.z < q.lower.z else q.lower.z)
    box.upper = vec3(p.upper.x if p.upper.x > q.upper.x else q.upper.x,
                     p.upper.y if p.upper.y > q.upper.y else q.upper.y,
                     p.upper.z if p.upper.z > q.upper.z else q.upper.z)
    return box


cdef inline int overlap(const Aabb* p, const Aabb* q) noexcept nogil:
    # All six at once: which of them fails is hard to foresee, and a wrong guess costs more than the comparisons.
    return ((p.lower.x <= q.upper.x) & (q.lower.x <= p.upper.x) & (p.lower.y <= q.upper.y) & (q.lower.y <= p.upper.y)
            & (p.lower.z <= q.upper.z) & (q.lower.z <= p.upper.z))


cdef inline int holds(const Aabb* outer, const Aabb* inner) noexcept nogil:
    return (outer.lower.x <= inner.lower.x and outer.lower.y <= inner.lower.y and outer.lower.z <= inner.lower.z
            and inner.upper.x <= outer.upper.x and inner.upper.y <= outer.upper.y and inner.upper.z <= outer.upper.z)


cdef inline double centre(const Tree* tree, int32_t leaf, int axis) noexcept nogil:
    """Twice the middle of a leaf's box along an axis; an empty one counts as at 0."""
    cdef const Aabb* box = &tree.nodes[leaf].box
    if box.lower.x > box.upper.x:
        return 0.0
    if axis == 0:
        return box.lower.x + box.upper.x
    if axis == 1:
        return box.lower.y + box.upper.y
    return box.lower.z + box.upper.z


cdef inline int widest_axis(const Tree* tree, int32_t begin, int32_t end) noexcept nogil:
    """The axis along which the middles of order[begin:end] spread most."""
    cdef double least, most, c
    cdef double widest = -1.0
    cdef int best = 0
    cdef int axis
    cdef int32_t i
    for axis in range(3):
        least = INFINITY
        most = -INFINITY
        for i in range(begin, end):
            c = centre(tree, tree.order[i], axis)
            least = c if c < least else least
            most = c if c > most else most
        if most - least > widest:
            widest = most - least
            best = axis
    return best


cdef inline void select_median(Tree* tree, int32_t begin, int32_t end, int32_t middle, int axis) noexcept nogil:
    """Reorder order[begin:end] so that no middle before `middle` is above one after it (Hoare's selection)."""
    cdef int32_t low = begin
    cdef int32_t high = end - 1
    cdef int32_t i, j, swap
    cdef double pivot, x, y, z
    while low < high:
        x = centre(tree, tree.order[low], axis)
        y = centre(tree, tree.order[low + (high - low) // 2], axis)
        z = centre(tree, tree.order[high], axis)
        pivot = (y if y < z else (z if x < z else x)) if x < y else (x if x < z else (z if y < z else y))
        i = low
        j = high
        while i <= j:
            while centre(tree, tree.order[i], axis) < pivot:
                i += 1
            while centre(tree, tree.order[j], axis) > pivot:
                j -= 1
            if i <= j:
                swap = tree.order[i]
                tree.order[i] = tree.order[j]
                tree.order[j] = swap
                i += 1
                j -= 1
        if middle <= j:
            high = j
        elif middle >= i:
            low = i
        else:
            return


cdef inline void tree_build(Tree* tree) noexcept nogil:
    """Build the inner nodes over the leaves: halves by the median along the widest axis."""
    cdef int32_t begins[TREE_STACK]
    cdef int32_t ends[TREE_STACK]
    cdef int32_t parents[TREE_STACK]
    cdef int top = 0
    cdef int32_t begin, end, parent, node, middle
    cdef const Node* left
    cdef const Node* right
    tree.refits = 0
    tree.inner_end = tree.shape_count
    tree.root = -1
    if tree.count == 0:
        return
    begins[0] = 0
    ends[0] = tree.count
    parents[0] = -1
    top = 1
    while top > 0:
        top -= 1
        begin = begins[top]
        end = ends[top]
        parent = parents[top]
        if end - begin == 1:
            node = tree.order[begin]
            tree.nodes[node].left = -1
            tree.nodes[node].right = -1
        else:
            node = tree.inner_end
            tree.inner_end += 1
            tree.nodes[node].left = -1
            middle = begin + (end - begin) // 2
            select_median(tree, begin, end, middle, widest_axis(tree, begin, end))
            begins[top] = middle
            ends[top] = end
            parents[top] = node
            begins[top + 1] = begin
            ends[top + 1] = middle
            parents[top + 1] = node
            top += 2
        tree.nodes[node].parent = parent
        if parent < 0:
            tree.root = node
        elif tree.nodes[parent].left < 0:
            tree.nodes[parent].left = node
        else:
            tree.nodes[parent].right = node
    for node in range(tree.inner_end - 1, tree.shape_count - 1, -1):
        left = &tree.nodes[tree.nodes[node].left]
        right = &tree.nodes[tree.nodes[node].right]
        tree.nodes[node].box = joined(&left.box, &right.box)
        tree.nodes[node].dynamic = left.dynamic | right.dynamic


cdef inline void tree_refit(Tree* tree, int32_t leaf) noexcept nogil:
    """A leaf's box changed: mend the boxes above it."""
    cdef int32_t node = tree.nodes[leaf].parent
    cdef Aabb box
    tree.refits += 1
    while node >= 0:
        box = joined(&tree.nodes[tree.nodes[node].left].box, &tree.nodes[tree.nodes[node].right].box)
        if holds(&box, &tree.nodes[node].box) and holds(&tree.nodes[node].box, &box):
            return
        tree.nodes[node].box = box
        node = tree.nodes[node].parent
