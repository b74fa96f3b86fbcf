"""A piece of the flight of trees in memory, and the table of kernels that fly them (_piece.pxi). Compiled as those of
_links.pxd are: for one state, and for several states side by side, one a lane, at every level of processors.
"""

from mcsim.reduced._links cimport Link, Tree
from mcsim.reduced._motion cimport Block
from mcsim.wide._lane_types cimport Wide, Wide3

# What a link begins a piece with: its twist about its origin, in its own axes, and the mirror image of that; its centre of
# mass and the square of that one's velocity.
ctypedef struct Rider:
    Wide3 spin
    Wide3 speed
    Wide3 turned_spin
    Wide3 turned_speed
    Wide3 com
    Wide haste

# A tree's piece. Energies [J] are those as seen from its centre of mass where it is loose: held by nothing. The first
# numbers, in this order, are those of an Account.
ctypedef struct Piece:
    Wide before                  # kinetic energy at the start, after the mirror, in the end
    Wide mirrored
    Wide after
    Wide kinetic                 # at the mean velocities that came out
    Wide spread                  # of the difference between those and the ones that were guessed
    Wide gained                  # energy that nothing gave
    Wide lifting                 # magnitudes of gravity's energies: what rounding may make of `gained` is a part of it
    Wide seen                    # twice the kinetic energy as the world sees it, and of what gravity does to it
    Wide mass
    Wide3 middle                 # of a loose tree: its centre of mass [m], its velocity, its acceleration
    Wide3 velocity
    Wide3 acceleration
    Wide3 landed                 # and its velocity at the end
    int loose

# By what a piece is judged: of one lane.
ctypedef struct Account:
    double before
    double mirrored
    double after
    double kinetic
    double spread
    double gained
    double lifting
    double seen

# Trees that fly, a state a lane: arrays of the numbers of all trees of a world, of which some are moved.
ctypedef struct Flight:
    Tree tree                    # [first, end): the links that are moved
    const Block* trees
    int turns_rotors             # whether any joint whose accelerations are not given has an armature
    Wide* q
    Wide* qd
    Wide* tau                    # joint forces, accelerations of given joints [N, N m]
    Wide* qdd
    Wide* start                  # (nq + nv,) at a piece's start
    Wide* mean                   # (nv,) velocities of the drift
    Wide* given                  # (nv,)
    # drift_joint of _turn.pxd, compiled at the compiler's own level: gcc 12 contracts products that are added and
    # subtracted in turn (vfmaddsub), whatever it is told, where the level has such an instruction.
    void (*drift)(const Link* link, double* q, double h, const double* w) noexcept nogil
    Rider* riders                # (links,)
    Piece* pieces                # (trees,)

# Each moves the trees [first, end) in all lanes; h: of each lane.
ctypedef struct FlightKernels:
    int width
    Py_ssize_t wide_size         # bytes of a Wide, LinkState, AxisState, Rider, Piece
    Py_ssize_t link_size
    Py_ssize_t axis_size
    Py_ssize_t rider_size
    Py_ssize_t piece_size
    # Once, in memory that is 0: the base.
    void (*begin_tree)(Tree* tree) noexcept nogil
    # A piece: guess the mean velocities; a round that makes better ones of them; what is known then of the piece, whose
    # rounds may go on; and to its end.
    void (*begin_piece)(Flight* f, Py_ssize_t first, Py_ssize_t end, const Wide* h, const Wide* forces) noexcept nogil
    void (*make_round)(Flight* f, Py_ssize_t first, Py_ssize_t end, const Wide* h, const Wide* forces) noexcept nogil
    void (*mirror)(Flight* f, Py_ssize_t first, Py_ssize_t end, const Wide* h, const Wide* forces) noexcept nogil
    void (*end_piece)(Flight* f, Py_ssize_t first, Py_ssize_t end, const Wide* h, const Wide* forces) noexcept nogil
    # After a piece that is good: its velocities as the world sees them, times `kept`. Then the tree is to be looked at.
    void (*settle)(Flight* f, Py_ssize_t k, const Wide* kept) noexcept nogil
    # The tree at q and qd; anew: q is not that of the piece's end.
    void (*stand)(Flight* f, Py_ssize_t k, bint anew) noexcept nogil
    # After stand: not more than 1 only where no body is so far away, or so fast, that rounding is to be noted, and all
    # is finite. parts: (links, 2) of a distance [1/m] and of an angular velocity [s].
    void (*reach)(const Flight* f, Py_ssize_t k, const double* parts, Wide* out) noexcept nogil

cdef enum:
    ACCOUNT = 8                  # numbers of an Account


cdef inline Account account_of(const double* piece, int width, int lane) noexcept nogil:
    """Of a Piece of so many lanes."""
    cdef Account r
    cdef double* numbers = <double*>&r
    cdef int i
    for i in range(ACCOUNT):
        numbers[i] = piece[i * width + lane]
    return r
