"""Joints' own rows several at a time: joints that share no moving body and have equally many rows, a lane each. Unused
lanes are zero, on the world.

A block's rows stand in an array of their own, `size` of them from `row` on. Sizes depend on the level that a module is
compiled for: only kernels look into them, others ask their table for it.
"""

from libc.stdint cimport int32_t
from mcsim.core._types cimport Twist
from mcsim.state._bodies cimport Bodies
from mcsim.state._joint cimport Joint
from mcsim.state._row cimport JointRows
from mcsim.wide._ends cimport WideEnds
from mcsim.wide._lane_types cimport Wide, Wide3, Wide6

# J v = linear . (v_b - v_a) + angular_b . w_b - angular_a . w_a.
ctypedef struct WideRow:
    Wide3 linear
    Wide3 angular_a
    Wide3 angular_b
    Wide bias[2]                 # of the biased and the relax pass
    Wide compliance              # of the biased pass; the relax pass is rigid
    Wide impulse                 # [N s or N m s]
    Wide carry                   # the warm start of its second half, then its first half as it came out
    Wide factor[2][6]            # row i of L, and 1 / D_i: L D L' = J M^-1 J' + compliance of the block, for both passes
    Wide diagonal                # J M^-1 J'

ctypedef struct JointBlock:
    int32_t joint[8]             # -1: the lane is not used
    int32_t begin[8]             # each joint's first row among the JointRows
    WideEnds ends
    int32_t row                  # first of the block's WideRow records
    int32_t size                 # rows of each joint, 1 to 6

# Plain ball joints, in world axes (_ball_joint_rows.pxi).
ctypedef struct BallJointRows:
    int32_t joint[8]             # -1: the lane is not used
    int32_t begin[8]             # each joint's first row among the JointRows
    WideEnds ends
    Wide3 arm_a                  # from the centres of mass to the joint point on b [m]
    Wide3 arm_b
    Wide3 impulse                # on b [N s]
    # along the joint axes: the warm start of its second half, then its first half as it came out
    Wide3 carry
    Wide6 inverse[2]             # of J M^-1 J' + compliance, for both passes
    Wide3 bias                   # of the biased pass
    Wide6 compliance             # of the biased pass
    Wide3 anchor_a               # from the centre of mass, body axes [m]
    Wide3 anchor_b
    Wide3 basis_a[3]             # the joint axes on a, a's axes
    Wide3 axes[3]                # the same in world axes, with which `impulse` turns

# How errors become biases (stabilize/_stabilize.pyx).
ctypedef struct JointRule:
    double error_rate            # bias = error_rate C + curvature_rate d2C/dt2 + rate [1/s], [s]
    double curvature_rate
    double free_rate             # of rows without a position error: bias = free_rate d2C/dt2 / 2 + rate [s]
    double softness              # compliance by 1 / (K^-1)_ii, K = J M^-1 J' of the joint's rows

# Rows of other joints, one after the other as in JointRows. Before the first stand six that are 0.
ctypedef struct SourceRows:
    JointRows rows               # error: of a row without a position error 1/2 d2C/dt2
    double* curvature            # d2C/dt2 of the free drift
    double* held                 # 1: the row has a position error

# One level's kernels. blocks: `count` of them, those of one colour one after the other.
ctypedef struct JointKernels:
    int width                    # lanes
    Py_ssize_t block_size        # bytes
    Py_ssize_t row_size
    # Clear a block and its rows from `row` on, then fill its lanes with the chosen joints. begin: theirs in JointRows.
    void (*fill)(JointBlock* blocks, WideRow* rows, Py_ssize_t block, Py_ssize_t row, const Joint* joints,
                 const int32_t* chosen, int count, const int32_t* begin, int size) noexcept nogil
    # The impulses with which a step begins, and the masses.
    void (*load)(JointBlock* blocks, WideRow* rows, Py_ssize_t count, const Joint* joints,
                 const Bodies* bodies) noexcept nogil
    # Jacobians, biases, factors at the present poses.
    void (*refresh)(JointBlock* blocks, WideRow* rows, Py_ssize_t count, const Bodies* bodies, const SourceRows* source,
                    const JointRule* rule) noexcept nogil
    # Impulses of the last substep (ended: of this step) that last (_halves.pxd): `part` of what is kept of them acts, the
    # rest is the warm start of what comes back.
    void (*warm_start)(JointBlock* blocks, WideRow* rows, Py_ssize_t count, Twist* twist, double kept,
                       double part, bint ended) noexcept nogil
    # The second halves act.
    void (*give_back)(JointBlock* blocks, WideRow* rows, Py_ssize_t count, Twist* twist) noexcept nogil
    # One sweep of Gauss-Seidel, joint by joint. -> the largest change of a velocity [m/s, rad/s]
    double (*sweep)(JointBlock* blocks, WideRow* rows, Py_ssize_t count, Twist* twist, int relaxed) noexcept nogil
    # The largest change that a row alone would make of its impulse [N s, N m s].
    double (*residual)(const JointBlock* blocks, const WideRow* rows, Py_ssize_t count, const Twist* twist,
                       int relaxed) noexcept nogil
    # Jacobians and impulses, in all and what of them lasts. doubling: _halves.pxd, doubled
    void (*store)(const JointBlock* blocks, const WideRow* rows, Py_ssize_t count, double doubling,
                  JointRows* out) noexcept nogil

# The same of ball joints.
ctypedef struct BallRowKernels:
    int width
    Py_ssize_t block_size
    void (*fill)(BallJointRows* blocks, Py_ssize_t block, const Joint* joints, const int32_t* chosen, int count,
                 const int32_t* begin) noexcept nogil
    void (*load)(BallJointRows* blocks, Py_ssize_t count, const Joint* joints, const Bodies* bodies) noexcept nogil
    void (*refresh)(BallJointRows* blocks, Py_ssize_t count, const Bodies* bodies, const JointRule* rule) noexcept nogil
    void (*warm_start)(BallJointRows* blocks, Py_ssize_t count, Twist* twist, double kept, double part,
                       bint ended) noexcept nogil
    void (*give_back)(BallJointRows* blocks, Py_ssize_t count, Twist* twist) noexcept nogil
    double (*sweep)(BallJointRows* blocks, Py_ssize_t count, Twist* twist, int relaxed) noexcept nogil
    double (*residual)(const BallJointRows* blocks, Py_ssize_t count, const Twist* twist, int relaxed) noexcept nogil
    void (*store)(const BallJointRows* blocks, Py_ssize_t count, double doubling, JointRows* out) noexcept nogil
