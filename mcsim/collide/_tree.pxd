"""Trees of bounding boxes: built whole by medians, or mended leaf by leaf.

A leaf is a number of the caller's, with a box of its own that holds whatever stands there. Where the tree is built
anew, it halves the leaves by the median along the widest axis. A leaf that comes goes down to where it adds least
surface, and on the way back up the two sides of every node are kept within one of each other in height: an unordered
tree needs but one turn a node for that (G. M. Adelson-Velsky and E. M. Landis, "An algorithm for the organization of
information", 1962). Halves differ by one at most, too. So no tree is higher than 1.45 log2(leaves + 2), whatever the
boxes are, all equal ones included. A leaf that moved a little is refitted in place.
"""

from libc.math cimport INFINITY
from libc.stdint cimport int32_t
from mcsim.core._math cimport vec3
from mcsim.collide._records cimport Mark, Node, Tree
from mcsim.collide._solid cimport Aabb
from mcsim.collide._tree_stack cimport TREE_STACK

cdef enum:
    NOTHING_THERE = -0x7fffffff  # the root of an empty tree: no leaf has as high a number

# All leaves whose boxes overlap a box, one after the other.
ctypedef struct BoxWalk:
    const Tree* tree
    Aabb box
    int32_t top
    int32_t stack[64]


# ---- boxes -----------------------------------------------------------------------------------------------------------

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


cdef inline double surface(const Aabb* box) noexcept nogil:
    """Half the surface; 0 of an empty box."""
    cdef double x = box.upper.x - box.lower.x
    cdef double y = box.upper.y - box.lower.y
    cdef double z = box.upper.z - box.lower.z
    return x * y + y * z + z * x if x >= 0.0 else 0.0


# ---- parts of a tree -------------------------------------------------------------------------------------------------

cdef inline void tree_clear(Tree* tree) noexcept nogil:
    """No leaves."""
    tree.root = NOTHING_THERE
    tree.count = 0
    tree.free = -1
    tree.end = 0
    tree.changes = 0


cdef inline int32_t tree_height(const Tree* tree, int32_t child) noexcept nogil:
    return tree.nodes[child].height if child >= 0 else 0


cdef inline int side_of(const Tree* tree, int32_t parent, int32_t child) noexcept nogil:
    return tree.nodes[parent].child[1] == child


cdef inline void put_child(Tree* tree, int32_t parent, int side, int32_t child) noexcept nogil:
    """Hang a child under a node, or make it the root (parent -1). Its box is the caller's to set."""
    if child >= 0:
        tree.nodes[child].parent = parent
    else:
        tree.parents[~child] = parent
    if parent >= 0:
        tree.nodes[parent].child[side] = child
    else:
        tree.root = child


cdef inline int32_t take_node(Tree* tree) noexcept nogil:
    cdef int32_t node = tree.free
    if node >= 0:
        tree.free = tree.nodes[node].parent
    else:
        node = tree.end
        tree.end += 1
    return node


cdef inline void set_height(Tree* tree, int32_t node) noexcept nogil:
    cdef int32_t a = tree_height(tree, tree.nodes[node].child[0])
    cdef int32_t b = tree_height(tree, tree.nodes[node].child[1])
    tree.nodes[node].height = 1 + (a if a > b else b)


# ---- one leaf at a time ----------------------------------------------------------------------------------------------

cdef inline int32_t balance(Tree* tree, int32_t a) noexcept nogil:
    """Where one side of a node is higher by two, turn its top into the node's place: it keeps its higher side and gives
    the node the other, or of two as high the one that makes the smaller box there. -> what stands in the node's place;
    its parent is left to the caller."""
    cdef Node* nodes = tree.nodes
    cdef int32_t rise = tree_height(tree, nodes[a].child[1]) - tree_height(tree, nodes[a].child[0])
    cdef int high = rise > 0
    cdef int give
    cdef int32_t c, rest
    cdef Aabb p, q
    if -1 <= rise <= 1:
        set_height(tree, a)
        return a
    c = nodes[a].child[high]
    rest = tree_height(tree, nodes[c].child[1]) - tree_height(tree, nodes[c].child[0])
    if rest == 0:
        p = joined(&nodes[a].box[1 - high], &nodes[c].box[0])
        q = joined(&nodes[a].box[1 - high], &nodes[c].box[1])
        give = surface(&q) < surface(&p)
    else:
        give = rest < 0
    nodes[a].box[high] = nodes[c].box[give]
    put_child(tree, a, high, nodes[c].child[give])
    set_height(tree, a)
    nodes[c].box[give] = joined(&nodes[a].box[0], &nodes[a].box[1])
    nodes[c].child[give] = a
    nodes[a].parent = c
    set_height(tree, c)
    return c


cdef inline void climb(Tree* tree, int32_t node) noexcept nogil:
    """Balance, heights and boxes from a node up to the root."""
    cdef int32_t parent
    cdef int side
    while node >= 0:
        parent = tree.nodes[node].parent
        side = side_of(tree, parent, node) if parent >= 0 else 0
        node = balance(tree, node)
        put_child(tree, parent, side, node)
        if parent >= 0:
            tree.nodes[parent].box[side] = joined(&tree.nodes[node].box[0], &tree.nodes[node].box[1])
        node = parent


cdef inline void tree_insert(Tree* tree, int32_t leaf) noexcept nogil:
    """A leaf comes; its box is written."""
    cdef const Aabb* box = &tree.boxes[leaf]
    cdef int32_t child = tree.root
    cdef int32_t parent = -1
    cdef int32_t node
    cdef int side = 0
    cdef int k
    cdef Aabb both
    cdef double cost[2]
    tree.count += 1
    tree.changes += 1
    if child == NOTHING_THERE:
        put_child(tree, -1, 0, ~leaf)
        return
    while child >= 0:
        parent = child
        for k in range(2):
            both = joined(&tree.nodes[parent].box[k], box)
            cost[k] = surface(&both)
            if tree.nodes[parent].child[k] >= 0:
                cost[k] -= surface(&tree.nodes[parent].box[k])
        side = cost[1] < cost[0] or (cost[1] == cost[0] and tree_height(tree, tree.nodes[parent].child[1])
                                     < tree_height(tree, tree.nodes[parent].child[0]))
        child = tree.nodes[parent].child[side]
    node = take_node(tree)
    put_child(tree, parent, side, node)
    put_child(tree, node, 0, child)
    put_child(tree, node, 1, ~leaf)
    tree.nodes[node].box[0] = tree.boxes[~child]
    tree.nodes[node].box[1] = box[0]
    climb(tree, node)


cdef inline void tree_remove(Tree* tree, int32_t leaf) noexcept nogil:
    """A leaf goes; what stands beside it takes their node's place."""
    cdef int32_t node = tree.parents[leaf]
    cdef int32_t above
    cdef int side, other
    tree.count -= 1
    tree.changes += 1
    if node < 0:
        tree.root = NOTHING_THERE
        return
    other = 1 - side_of(tree, node, ~leaf)
    above = tree.nodes[node].parent
    side = side_of(tree, above, node) if above >= 0 else 0
    put_child(tree, above, side, tree.nodes[node].child[other])
    if above >= 0:
        tree.nodes[above].box[side] = tree.nodes[node].box[other]
    tree.nodes[node].parent = tree.free
    tree.free = node
    climb(tree, above)


cdef inline void refit(Tree* tree, int32_t leaf) noexcept nogil:
    cdef int32_t child = ~leaf
    cdef int32_t node = tree.parents[leaf]
    cdef Aabb box = tree.boxes[leaf]
    cdef Aabb* old
    while node >= 0:
        old = &tree.nodes[node].box[side_of(tree, node, child)]
        if holds(old, &box) and holds(&box, old):
            return
        old[0] = box
        box = joined(&tree.nodes[node].box[0], &tree.nodes[node].box[1])
        child = node
        node = tree.nodes[node].parent


cdef inline void tree_move(Tree* tree, int32_t leaf) noexcept nogil:
    """A leaf's box changed: mend the boxes above it, or if it went far, take it out and in again."""
    cdef int32_t node = tree.parents[leaf]
    if node >= 0 and not overlap(&tree.nodes[node].box[side_of(tree, node, ~leaf)], &tree.boxes[leaf]):
        tree_remove(tree, leaf)
        tree_insert(tree, leaf)
        tree.changes -= 1
        return
    tree.changes += 1
    refit(tree, leaf)


cdef inline void tree_renumber(Tree* tree, int32_t leaf, int32_t number) noexcept nogil:
    """Call a leaf by another number, which no leaf has. Its box and its parent are the caller's to move there."""
    cdef int32_t node = tree.parents[leaf]
    if node < 0:
        tree.root = ~number
    else:
        tree.nodes[node].child[side_of(tree, node, ~leaf)] = ~number


# ---- all leaves at once ----------------------------------------------------------------------------------------------

cdef inline Mark mark_of(const Aabb* box, int32_t leaf) noexcept nogil:
    cdef Mark m
    cdef int empty = box.lower.x > box.upper.x
    m.leaf = leaf
    m.middle[0] = 0.0 if empty else box.lower.x + box.upper.x
    m.middle[1] = 0.0 if empty else box.lower.y + box.upper.y
    m.middle[2] = 0.0 if empty else box.lower.z + box.upper.z
    return m


cdef inline int widest_axis(const Mark* marks, int32_t begin, int32_t end) noexcept nogil:
    """The axis along which the middles of marks[begin:end] spread most."""
    cdef double least[3]
    cdef double most[3]
    cdef double c
    cdef int axis
    cdef int32_t i
    for axis in range(3):
        least[axis] = INFINITY
        most[axis] = -INFINITY
    for i in range(begin, end):
        for axis in range(3):
            c = marks[i].middle[axis]
            least[axis] = c if c < least[axis] else least[axis]
            most[axis] = c if c > most[axis] else most[axis]
    axis = 1 if most[1] - least[1] > most[0] - least[0] else 0
    return 2 if most[2] - least[2] > most[axis] - least[axis] else axis


cdef inline void select_median(Mark* marks, int32_t begin, int32_t end, int32_t middle, int axis) noexcept nogil:
    """Reorder marks[begin:end] so that no middle before `middle` is above one after it (Hoare's selection)."""
    cdef int32_t low = begin
    cdef int32_t high = end - 1
    cdef int32_t i, j
    cdef Mark swap
    cdef double pivot, x, y, z
    while low < high:
        x = marks[low].middle[axis]
        y = marks[low + (high - low) // 2].middle[axis]
        z = marks[high].middle[axis]
        pivot = (y if y < z else (z if x < z else x)) if x < y else (x if x < z else (z if y < z else y))
        i = low
        j = high
        while i <= j:
            while marks[i].middle[axis] < pivot:
                i += 1
            while marks[j].middle[axis] > pivot:
                j -= 1
            if i <= j:
                swap = marks[i]
                marks[i] = marks[j]
                marks[j] = swap
                i += 1
                j -= 1
        if middle <= j:
            high = j
        elif middle >= i:
            low = i
        else:
            return


cdef inline void tree_build(Tree* tree, Mark* marks, int32_t count) noexcept nogil:
    """Build the tree over the leaves of marks[:count], see mark_of; their order is lost. Parents come first."""
    cdef int32_t begins[TREE_STACK]
    cdef int32_t ends[TREE_STACK]
    cdef int32_t parents[TREE_STACK]
    cdef int sides[TREE_STACK]
    cdef int top = 0
    cdef int k
    cdef int32_t begin, end, node, middle, child
    tree_clear(tree)
    tree.count = count
    if count > 0:
        begins[0] = 0
        ends[0] = count
        parents[0] = -1
        sides[0] = 0
        top = 1
    while top > 0:
        top -= 1
        begin = begins[top]
        end = ends[top]
        if end - begin == 1:
            put_child(tree, parents[top], sides[top], ~marks[begin].leaf)
            continue
        node = tree.end
        tree.end += 1
        put_child(tree, parents[top], sides[top], node)
        middle = begin + (end - begin) // 2
        select_median(marks, begin, end, middle, widest_axis(marks, begin, end))
        for k in range(2):
            begins[top + k] = begin if k else middle
            ends[top + k] = middle if k else end
            parents[top + k] = node
            sides[top + k] = 1 - k
        top += 2
    for node in range(tree.end - 1, -1, -1):
        for k in range(2):
            child = tree.nodes[node].child[k]
            if child >= 0:
                tree.nodes[node].box[k] = joined(&tree.nodes[child].box[0], &tree.nodes[child].box[1])
            else:
                tree.nodes[node].box[k] = tree.boxes[~child]
        set_height(tree, node)


# ---- who is there ----------------------------------------------------------------------------------------------------

cdef inline void walk_box(BoxWalk* walk, const Tree* tree, const Aabb* box) noexcept nogil:
    """Begin: then next_leaf(walk) until it gives -1."""
    walk.tree = tree
    walk.box = box[0]
    walk.top = 0
    if tree.root >= 0 or (tree.root != NOTHING_THERE and overlap(&tree.boxes[~tree.root], box)):
        walk.stack[0] = tree.root
        walk.top = 1


cdef inline int32_t next_leaf(BoxWalk* walk) noexcept nogil:
    """The next leaf whose box overlaps the walk's, -1 = no more."""
    cdef const Node* node
    cdef int32_t child
    while walk.top > 0:
        walk.top -= 1
        child = walk.stack[walk.top]
        if child < 0:
            return ~child
        node = &walk.tree.nodes[child]
        walk.stack[walk.top] = node.child[1]
        walk.top += overlap(&node.box[1], &walk.box)
        walk.stack[walk.top] = node.child[0]
        walk.top += overlap(&node.box[0], &walk.box)
    return -1
