"""The record of a row, all that a solver sees of joints and contacts, and of the joints' own rows. `fields.py` gives the
row as a NumPy dtype; a test compares every offset.
"""

from libc.stdint cimport int32_t
from mcsim.core._types cimport Vec3

cdef enum RowKind:
    ROW_JOINT = 0            # bilateral: what the joint forbids
    ROW_LIMIT = 1
    ROW_MOTOR = 2
    ROW_SPRING = 3
    ROW_JOINT_FRICTION = 4
    ROW_ARMATURE = 5         # the rotor of a coordinate
    ROW_NORMAL = 6           # contact, along the normal
    ROW_FRICTION = 7         # contact, tangential: two rows in one block under a cone, or two single ones (pyramid)
    ROW_TWIST = 8            # contact, friction about the normal
    ROW_ROLLING = 9          # contact, friction about the tangents: two rows, as of ROW_FRICTION

# How a block of consecutive rows is solved. `block` is the number of rows in the first row of a block, 0 in the others.
cdef enum BlockKind:
    BLOCK_BOUNDED = 0        # one row, lower <= impulse <= upper
    BLOCK_BILATERAL = 1      # up to six rows without bounds, solved together
    BLOCK_CONE = 2           # two rows, |impulse| <= friction * sum of the normal impulses; or three, two along the
                             # tangents and one about the normal, on one limit surface
    BLOCK_FRICTION = 3       # one row, |impulse| <= friction * sum of (lever * normal impulse)
    BLOCK_TREE = 4           # bilateral rows that the direct joint solver takes: sweeps pass them by
    BLOCK_WIDE = 5           # two rows, one constraint over two pairs of bodies: J v is the sum, the impulse is one.
                             # Error,
                             # bias, compliance, mass and diagonal of the whole stand in the first; the second's are 0
    BLOCK_BORDER = 6         # one row, or a wide one, that is taken with the direct joint solver, beside its tree
    BLOCK_HELD = 7           # as BLOCK_BOUNDED, solved with the joints in it (solve/_held.pyx): sweeps pass it by

# Which of a row's two biases, compliances and masses.
cdef enum:
    BIASED = 0
    RELAXED = 1

# One scalar constraint  J v + bias + compliance * impulse = 0 (or >= 0 against a bound):
#     delta = -mass * (J v + bias + compliance * impulse),   mass = 1 / (diagonal + compliance),   diagonal = J M^-1 J'
# with separate bias, compliance and mass for the biased pass [0] and the relax pass [1].
ctypedef struct Row:
    int32_t body_a
    int32_t body_b
    int32_t block
    int32_t block_kind
    double jacobian[12]          # of (twist of a, twist of b)
    double inv_mass_jacobian[12]  # M^-1 J'
    double bias[2]
    double compliance[2]
    double mass[2]
    double lower
    double upper
    double impulse               # accumulated over the substep [N s or N m s]
    double diagonal
    double coupling              # in the first row of a cone: J_0 M^-1 J_1'; wide: J M^-1 J' with the two joints
                                 # holding; of a normal row: the manifold's thinning
    double friction              # coefficient; of rolling rows [m]
    double lever                 # of a normal row: what the twist row weighs its impulse by; of a twist row under a limit
                                 # surface: the coefficient of torsional friction [m]
    double offset[2]             # of a normal row: where its point is from the manifold's centre, along the tangents [m]
    double share[2]              # and, under a limit surface, the point's own friction; of a twist row the part that is
                                 # about the normal alone (wide/_limit_surface.pxd) [N s, N m s]
    int32_t normal_begin         # friction rows: the normal rows they hang on (index into the row array)
    int32_t normal_count
    int32_t kind
    int32_t source               # joint or manifold number
    int32_t index                # which constraint, axis or point of the source
    int32_t stabilized           # 1: `error` is a position error that a stabilization may remove
    double error                 # C [m or rad]
    double restitution
    double kick                  # what half a substep of gravity and forces adds to a normal row's velocity [m/s]
    double carry                 # impulse that comes back before the relax pass [N s or N m s]
    double curvature             # d2C/dt2 of the free drift: J' v + J a with a of the gyroscopic torque [m/s2]
    double rate                  # joint rows: what time itself adds to dC/dt, which is J v + rate [m/s]; of springs what
                                 # else adds to the rate of `error`, as the rows are written
    double size                  # contact rows: of the manifold [m]
    double push                  # how fast an error is pushed back at most [m/s, rad/s]


cdef inline bint is_wide(const Row* row) noexcept nogil:
    """Whether this is the first record of a wide row."""
    return row.block_kind >= BLOCK_WIDE and row.block == 2


# One of a joint's own rows as the direct solver keeps it: J = [-linear, -angular_a, linear, angular_b] of (twist of a,
# twist of b); spin_a, spin_b = I^-1 angular_a, I^-1 angular_b of the two bodies.
ctypedef struct JointRow:
    Vec3 linear
    Vec3 angular_a
    Vec3 angular_b
    Vec3 spin_a
    Vec3 spin_b

# The joints' own rows of a world, joint by joint: those of joint j are begin[j] ... begin[j + 1] of every array.
ctypedef struct JointRows:
    Py_ssize_t joint_count
    Py_ssize_t count
    int32_t* begin
    int32_t* awake               # the joints whose bodies do not sleep, ascending; all others are let be
    Py_ssize_t awake_count
    int32_t* alone               # those of them that are in no batch (wide/_batches.pxd)
    Py_ssize_t alone_count
    int32_t* run                 # numbers in use: run[2 i] ... run[2 i + 1] each; those of batches behind the joints' own
    Py_ssize_t run_count
    JointRow* row
    double* error                # C at the start of the drift [m or rad]; of a row for velocities alone 1/2 d2C/dt2
    double* rate                 # what time itself adds to dC/dt, which is J v + rate [m/s or rad/s]
    double* bias                 # of J v + bias = 0
    double* impulse              # accumulated over the substep [N s or N m s]
    double* second               # that part of it which came after the drift
