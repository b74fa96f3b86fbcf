"""Friction and limits of angles of ball joints and hinges several at a time, where the joints themselves are solved
directly: joints that share no moving body, a lane each. Unused lanes are on the world.

Sizes depend on the level that a module is compiled for: only kernels look into the blocks.
"""

from libc.stdint cimport int8_t, int32_t
from mcsim.core._types cimport Twist
from mcsim.state._bodies cimport Bodies
from mcsim.state._joint cimport Joint
from mcsim.state._settings cimport Settings
from mcsim.wide._lane_types cimport Wide, Wide3, WideQuat

# Of each joint in a block: friction about three axes (hinge: the first is its own), lower and upper limit of the twist,
# and the limit of the swing.
cdef enum:
    BOUND_LOWER = 3
    BOUND_UPPER = 4
    BOUND_SWING = 5
    BOUND_SLOTS = 6

# One row of each joint: J v = direction . (w_b - w_a), lower <= impulse <= upper.
ctypedef struct BoundSlot:
    Wide3 direction
    Wide3 spin_a                 # I^-1 direction
    Wide3 spin_b
    Wide diagonal                # J M^-1 J'
    Wide mass                    # its inverse, 0: the row is not there
    Wide bias[2]                 # of the biased and the relax pass
    Wide lower
    Wide upper
    Wide impulse                 # [N m s]
    Wide carry                   # of it what comes back before the relax pass
    Wide there                   # 1: the row is there in this step

ctypedef struct BoundBlock:
    int32_t joint[8]             # -1: the lane is not used
    int32_t body_a[8]
    int32_t body_b[8]
    int32_t hinge                # 1: hinges, 0: balls
    int32_t used                 # bit k: some lane has slot k in this step
    int32_t reserved[6]
    WideQuat basis_a             # joint axes -> the body's
    WideQuat basis_b
    Wide friction[3]             # [N m]
    Wide low                     # limits [rad], infinite: none
    Wide high
    Wide swing
    Wide push                    # how fast limits are pushed back at most [rad/s]
    Wide position                # of the twist, a hinge's with its turns [rad]
    Wide struck                  # 1: a blow may reach the joint
    BoundSlot slots[6]

# What refreshing takes of the settings.
ctypedef struct BoundRule:
    double h
    double dt
    double error_rate            # bias of a limit that is passed, by the error [1/s]
    const int8_t* struck         # of each joint, whether a blow may reach it (constraints/_joint_lists.pxd)

ctypedef struct JointBoundKernels:
    int width
    Py_ssize_t block_size        # bytes
    # Clear a block, then fill its lanes with the chosen joints.
    void (*fill)(BoundBlock* blocks, Py_ssize_t block, const Joint* joints, const int32_t* chosen, int count,
                 bint hinge) noexcept nogil
    # What a step begins with, of the joints that have friction and limits alone. taken[j]: 1 for those, 2 where some
    # row is in use. -> rows
    Py_ssize_t (*load)(BoundBlock* blocks, Py_ssize_t count, const Joint* joints, const Bodies* bodies,
                       const BoundRule* rule, int8_t* taken) noexcept nogil
    # The rows at the present poses.
    void (*refresh)(BoundBlock* blocks, Py_ssize_t count, const Bodies* bodies, const BoundRule* rule) noexcept nogil
    # `part` of the impulses acts, and of friction's bounds counts; the rest is carried.
    void (*warm_start)(BoundBlock* blocks, Py_ssize_t count, Twist* twist, double part) noexcept nogil
    void (*return_carried)(BoundBlock* blocks, Py_ssize_t count, Twist* twist) noexcept nogil
    # slope[body] += warm-start impulse * bias of the rows between two bodies of which that is the first that moves.
    void (*give_biases)(const BoundBlock* blocks, Py_ssize_t count, const Bodies* bodies, double* slope,
                        bint second) noexcept nogil
    # Of warm starts that have acted `part` of each body is kept (_blocks.pxd).
    void (*keep_parts)(BoundBlock* blocks, Py_ssize_t count, const double* part, bint second) noexcept nogil
    # One sweep of Gauss-Seidel, row by row. -> the largest change of a velocity [rad/s]
    double (*sweep)(BoundBlock* blocks, Py_ssize_t count, Twist* twist, int relaxed) noexcept nogil
    # Sweep number k, from 2 on, after the last one of a relax pass: over the joints with a body that the sweep before
    # it, or this one by now, has changed by more than may be left undone: speed + rate times the size of the smaller
    # of the two, as points of that size move. changed: in which sweep that was. -> whether there are any
    bint (*sweep_changing)(BoundBlock* blocks, Py_ssize_t count, Twist* twist, int k, const double* sizes, double speed,
                           double rate, int32_t* changed) noexcept nogil
    # The largest change that a row alone would make of its impulse [N m s].
    double (*residual)(const BoundBlock* blocks, Py_ssize_t count, const Twist* twist, int relaxed) noexcept nogil
    # Impulses and positions into the joints, after store_joints.
    void (*store)(const BoundBlock* blocks, Py_ssize_t count, Joint* joints) noexcept nogil


cdef class WideJointBounds:
    cdef const JointBoundKernels* kernels
    cdef object kept
    cdef BoundBlock* blocks
    cdef readonly Py_ssize_t count      # blocks in use
    cdef readonly Py_ssize_t row_count  # of this step
    cdef int8_t* taken                  # of each joint: 1, 2: its rows of this step are here; 2: and some are in use
    cdef int32_t* order                 # the joints by colour and type, and a number for both of each
    cdef int32_t* kind
    cdef Py_ssize_t total
    cdef BoundRule rule

    cdef void choose(self, const Joint* joints, const int8_t* idle) noexcept nogil
    cdef void load(self, const Joint* joints, const Bodies* bodies, const Settings* settings,
                   const int8_t* struck) noexcept nogil
    cdef void refresh(self, const Bodies* bodies) noexcept nogil
    cdef void warm_start(self, Twist* twist, double part) noexcept nogil
    cdef void return_carried(self, Twist* twist) noexcept nogil
    cdef void give_biases(self, const Bodies* bodies, double* slope, bint second) noexcept nogil
    cdef void keep_parts(self, const double* part, bint second) noexcept nogil
    cdef double sweep(self, Twist* twist, int relaxed) noexcept nogil
    cdef bint sweep_changing(self, Twist* twist, int k, const double* sizes, double speed, double rate,
                             int32_t* changed) noexcept nogil
    cdef double residual(self, const Twist* twist, int relaxed) noexcept nogil
    cdef void store(self, Joint* joints) noexcept nogil
