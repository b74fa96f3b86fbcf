"""The records of a tree of links in memory, and the tables of kernels that work on them.

The kernels are compiled from one source several times: for one state (`_one.pyx`), and for several states side by side,
one a lane, at every level of processors (`_base.pyx`, `_v3.pyx`, `_v4.pyx`). All give the same bits. Sizes of what holds
`Wide` depend on the module: only kernels look into those.

All vectors are in world axes. A link's spatial vectors, motion [w; v] and force [n; f], are about its own origin, the
point where its joint holds it: so nothing is lost far from the world's origin, and from link to link a spatial vector or
an inertia is moved, never turned.
"""

from libc.stdint cimport int32_t
from mcsim.core._types cimport Vec3
from mcsim.wide._lane_types cimport Wide, Wide3, Wide6

# How the motions of a kind are put together, in the order of PATTERNS in kinds.py.
cdef enum Pattern:
    FIXED = 0
    REVOLUTE = 1
    PRISMATIC = 2
    HELICAL = 3
    CYLINDRICAL = 4
    PLANAR = 5
    TURNING = 6                  # along some axes of F_p (`ways`), and freely about the point
    ANGLES_ZYX = 7               # one after the other about z, y, x
    ANGLES_ZX = 8
    RACK_PINION = 9
    USER = 10

# A link and its joint; parents before children. The base is link -1.
ctypedef struct Link:
    int32_t parent
    int32_t kind                 # a Pattern
    int32_t reversed             # 1: the joint's successor is the parent
    int32_t q                    # where its coordinates begin
    int32_t v                    # and its velocities
    int32_t freedoms             # how many velocities
    int32_t body                 # number in the scene
    int32_t user                 # of a joint of the user's: where its numbers begin, else -1
    int32_t given                # 1: its accelerations are given, in place of its forces
    int32_t prescribed           # 1: a kinematic body, which nothing moves
    int32_t quaternion           # where in its q and v a free turning begins; -1: it has none
    int32_t ways                 # of what turns freely, the axes of F_p along which it slides: 1 x, 2 y, 4 z
    int32_t loose                # 1: a root that nothing holds, whose tree falls as a whole
    double turn[9]               # columns: the joint's frame on the parent, in the parent's link axes
    Vec3 place                   # its origin, from the parent's origin, in those axes [m]
    double constant              # pitch [m/rad], radius [m]
    double mass                  # [kg]
    Vec3 com                     # centre of mass from the link's origin, link axes [m]
    double inertia[6]            # about it, link axes: xx xy xz yy yz zz [kg m2]
    Vec3 weight                  # its gravity, world [m/s2]
    double armature[6]           # of each velocity: the inertia of a rotor that goes with it [kg or kg m2]
    Vec3 pull                    # that, of a loose tree less the mean of its links: as its centre of mass sees it

# What a user's own joint says, in place of a kind: the rotation (columns) and origin of F_s in F_p, its motion subspace
# (columns [w; v]) and bias (the apparent derivative of S times qd), in F_s axes about its origin.
cdef enum:
    USER_TURN = 0
    USER_PLACE = 9
    USER_BIAS = 12
    USER_SUBSPACE = 18

ctypedef struct Motion:
    Wide3 w
    Wide3 v

ctypedef struct Force:
    Wide3 n
    Wide3 f

# f = I m, [n; f] = [turning, mixed; mixed', moving] [w; v]. mixed: rows.
ctypedef struct Inertia:
    Wide6 turning
    Wide3 mixed_x
    Wide3 mixed_y
    Wide3 mixed_z
    Wide6 moving

# Of a link, at one state.
ctypedef struct LinkState:
    Wide3 x                      # link axes
    Wide3 y
    Wide3 z
    Wide3 position               # of its origin, world [m]
    Wide3 arm                    # from the parent's origin [m]
    Wide3 com                    # centre of mass from the origin [m]
    Wide6 about_com              # inertia about it [kg m2]
    Motion velocity
    Motion bias                  # acceleration by velocities that the joint gives (Featherstone's c)
    Motion acceleration          # true ones: gravity is a force
    Force force                  # bias force p, the joint's force later on
    Inertia inertia              # articulated or composite

# Of a velocity variable: a column of a joint's S, and what elimination leaves.
ctypedef struct AxisState:
    Motion axis
    Force pull                   # U = I S
    Wide inverse                 # 1 / (S' I S)
    Wide rest                    # u = tau - S' p

# A tree, and room for one state of it (a state a lane). links (count,), states (count + 1,): that of the base first,
# axes (nv,). user: of each user's joint its numbers, for all lanes alike. Kernels work on the links [first, end), which
# are whole trees: all, but where one is moved by itself.
ctypedef struct Tree:
    const Link* links
    Py_ssize_t count
    Py_ssize_t first
    Py_ssize_t end
    Py_ssize_t nq
    Py_ssize_t nv
    LinkState* states
    AxisState* axes
    const double* user

# An AxisState of one lane.
ctypedef struct AxisFactor:
    double axis[6]               # [w; v]
    double pull[6]               # [n; f]
    double inverse
    double rest

# A tree placed and factored for one state, whatever the lanes of who reads it: links [first, end).
ctypedef struct Factored:
    const Link* links
    Py_ssize_t first
    Py_ssize_t end
    Py_ssize_t size              # how many velocities it has
    const AxisFactor* axes       # (nv,) of the world's
    const double* arms           # of link i from i * stride on, so its centre of mass
    const double* coms
    Py_ssize_t stride

# A row over a tree: [f; n] on one or two links (-1: none), at their centres of mass, and what is asked for, by the
# numbers of the world's velocities; only those of the tree are there.
ctypedef struct Response:
    const double* wrench[2]
    int32_t link[2]
    int32_t common               # the link where the two meet and cancel; -1: they do not
    double* force                # J, within its span
    int32_t* span                # (2,) from where to where it is not 0, from the tree's first velocity on
    double* out                  # H^-1 J'; where H^-1 is there, from a multiple of 64 bytes on, with room up to in_eights
    double* diagonal             # to which J H^-1 J' is added

ctypedef struct TreeKernels:
    int width
    Py_ssize_t wide_size         # bytes of a Wide, LinkState, AxisState
    Py_ssize_t link_size
    Py_ssize_t axis_size
    # rows (count, size) of doubles, `stride` apart, into lanes and back; unused lanes hold the last row.
    void (*load)(Wide* out, const double* rows, Py_ssize_t size, Py_ssize_t stride, int count) noexcept nogil
    void (*store)(const Wide* values, double* rows, Py_ssize_t size, Py_ssize_t stride, int count) noexcept nogil
    # Once, in memory that is 0: the base.
    void (*begin)(Tree* tree) noexcept nogil
    # Poses and S of all joints at q (nq,).
    void (*place)(Tree* tree, const Wide* q) noexcept nogil
    # After place: velocities and bias accelerations at qd (nv,).
    void (*move)(Tree* tree, const Wide* q, const Wide* qd) noexcept nogil
    # After move: tau (nv,) for accelerations qdd (NULL: 0). forces (bodies, 6): [f; n] at the centres of mass, world axes,
    # or NULL.
    void (*inverse_dynamics)(Tree* tree, const Wide* qdd, const Wide* forces, Wide* tau) noexcept nogil
    # After move: qdd (nv,) for tau.
    void (*forward_dynamics)(Tree* tree, const Wide* tau, const Wide* forces, Wide* qdd) noexcept nogil
    # After place: H (nv, nv), whole and symmetric.
    void (*mass_matrix)(Tree* tree, Wide* h) noexcept nogil
    # H^-1 J' and J of so many times `width` rows at most.
    int abreast
    void (*respond)(const Factored* tree, const Response* asked, int count, int32_t* marks, Wide* room) noexcept nogil
    # H^-1, by rows that are in_eights(size) apart; and the same of `together` rows at most on the same links by it.
    int together
    void (*invert)(const Factored* tree, double* inverse, int32_t* marks, Wide* room) noexcept nogil
    void (*respond_by)(const Factored* tree, const double* inverse, const Response* asked, int count, int32_t* marks,
                       Wide* room) noexcept nogil

cdef enum:
    MOST = 64                    # velocities of a tree whose H^-1 is found
