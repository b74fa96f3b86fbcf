"""The records of a tree's derivatives in memory, and the table of kernels that find them.

As in _links.pxd all vectors are in world axes, a link's spatial vectors about its own origin.
"""

from libc.stdint cimport int32_t
from mcsim.core._types cimport Vec3
from mcsim.reduced._links cimport Motion, Tree
from mcsim.wide._lane_types cimport Wide, Wide3

# A force that comes with an angular rate a of what it acts on: [n; f] = [T a; a x p]. x, y, z: rows of T.
ctypedef struct TurningForce:
    Wide3 p
    Wide3 x
    Wide3 y
    Wide3 z

# Of a link and all that it bears.
ctypedef struct LinkTurning:
    TurningForce coriolis        # by velocities: p is twice the momentum
    TurningForce pushed          # by forces that keep their direction in the world: p is their sum

# Of a velocity variable with the axis S, how what it bears changes with its coordinate, seen from what it bears. Velocities
# v change by `first`, accelerations by `second` - v x `first`; by the velocity variable itself they change by S and
# `both` - v x S.
ctypedef struct AxisRates:
    Motion first
    Motion second
    Motion both                  # `first` and the rate of S in time

# Room for the derivatives of one state of a tree (a state a lane), and what does not change.
ctypedef struct Deriving:
    LinkTurning* links
    AxisRates* axes              # (nv,)
    const int32_t* above         # (nv,) of each free velocity the one before it towards the base, -1: none
    const int32_t* run           # (nv,) of each velocity the first of those one after the other that end with it
    const int32_t* end           # (nv,) velocities [k, end[k]) are those that k bears, itself included
    Vec3 gravity                 # that of all links [m/s2], but for what is uneven
    bint uneven                  # whether links differ in it

ctypedef struct DerivativeKernels:
    Py_ssize_t link_size         # bytes of a LinkTurning, AxisRates
    Py_ssize_t axis_size
    # After place: derivatives of tau by q and qd, and H, at qd and qdd; rows `stride` apart. What is always 0 is left as it
    # is.
    void (*differentiate)(Tree* tree, const Deriving* room, const Wide* qd, const Wide* qdd, const Wide* forces, Wide* by_q,
                          Wide* by_qd, Wide* h, Py_ssize_t stride) noexcept nogil
    # W (nv, nv) with H^-1 = W W', spoiling H; of it only what is not always 0 is written.
    void (*invert_factor)(const Tree* tree, const Deriving* room, Wide* h, Wide* inverse) noexcept nogil
    # One state: in place of columns (nv, in_eights(3 nv)) by q and qd -H^-1 times them, and H^-1 beside; of the columns
    # there before those of given accelerations count. work: as large. inverse, transposed: W and W'.
    void (*solve)(const Tree* tree, const Deriving* room, const double* inverse, const double* transposed, double* columns,
                  double* work) noexcept nogil
