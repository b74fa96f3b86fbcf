"""Records that the search for contacts keeps: classes hold them, and what works on them stands in files of its own."""

from libc.stdint cimport int32_t, int64_t, uint64_t
from mcsim.collide._solid cimport Aabb
from mcsim.core._types cimport Vec3
from mcsim.state._manifold cimport Manifold

# ---- trees of bounding boxes (_tree.pxd) -----------------------------------------------------------------------------

# Where a child or a root is meant: the number of an inner node, or ~leaf.
ctypedef struct Node:
    Aabb box[2]                  # of all leaves below each child; lower > upper = holds nothing
    int32_t child[2]
    int32_t parent               # -1 at the root; of a free node the next free one, -1 = none
    int32_t height               # 1 over two leaves

ctypedef struct Tree:
    Node* nodes                  # room for as many as there are leaves
    Aabb* boxes                  # of the leaves
    int32_t* parents             # of the leaves, -1 at the root
    int32_t root
    int32_t count                # leaves
    int32_t free                 # the first free node, -1 = none
    int32_t end                  # nodes from here on were never used
    int32_t changes              # leaves that came, went or moved since it was built

# A leaf while the tree is built.
ctypedef struct Mark:
    double middle[3]             # twice the middle of its box; an empty one counts as at 0
    int32_t leaf

# ---- contact points of one pair (_contact.pxd), and of a patch with more than four corners (_patch.pxd) ---------------

cdef enum:
    MAX_CONTACTS = 72            # candidates of one pair: two polygons of 32 corners cross in at most 64 points

ctypedef struct Contact:
    Vec3 position                # midway between the surfaces, from the first solid's position, world axes [m]
    double separation            # [m]
    uint64_t feature

# What separates two solids best: the axis, how far, and one pair of closest points.
ctypedef struct Axis:
    Vec3 normal                  # unit, from a to b, world
    double separation            # negative = overlap [m]
    Vec3 witness                 # midway between the two closest surface points, from a's position, world axes [m]

cdef enum:
    PATCH_CORNERS = 20           # the most that are kept
    PATCH_POINTS = 24            # with the deepest one, and up to three that are far away
    PATCH_PARTS = 6              # manifolds that the points of a patch are dealt out to: of four, 24 points

ctypedef struct Patch:
    const Manifold* old          # the last step's manifolds of the pair
    Py_ssize_t old_count
    int count                    # 0: the pair's manifold of four points does
    Vec3 origin                  # from which the points are placed, world [m]
    Contact points[PATCH_POINTS]

# ---- contacts that begin and end (_events.pxd) -----------------------------------------------------------------------

# As state/fields.EVENT_DTYPE.
ctypedef struct Event:
    int64_t step                 # which one since the log was cleared, from 1 on
    int32_t began                # 0: it ended
    int32_t body_a
    int32_t body_b
    int32_t shape_a              # number in the world
    int32_t shape_b
    int32_t reserved
    double impulse               # of the step in which it began [N s]
    Vec3 position                # of its deepest point, world [m]
    Vec3 normal                  # from a to b, world

ctypedef struct EventLog:
    Event* events
    Py_ssize_t count
    Py_ssize_t capacity
    int64_t step                 # steps since the log was cleared
    Py_ssize_t touching          # how many contacts did after the last step, -1 = not known
    int lost                     # there was no memory for some of them

# ---- queries (_queries.pyx) --------------------------------------------------------------------------------------------

ctypedef struct Ray:
    Vec3 origin                  # world [m]
    Vec3 direction               # unit
