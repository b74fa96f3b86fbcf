"""Articulations of equal structure side by side, a lane each, for the direct joint solver: the records of the kernels,
and who keeps them.

A batch is as many articulations as there are lanes; one that is not full repeats its first, which is then computed twice
to the same bits. Its numbers stand apart from those of other joints: of an array of n numbers a lane, number k of lane
l is at k * lanes + l.
"""

from libc.stdint cimport int8_t, int32_t
from mcsim.core._types cimport Twist, Vec3
from mcsim.state._bodies cimport Bodies
from mcsim.state._joint cimport Joint
from mcsim.state._row cimport JointRows

# Which lanes a solve is for.
cdef enum:
    BATCH_SWEPT = 0
    BATCH_FREE = 1
    BATCH_LOOSE = 2

# What all articulations of one structure have in common. Bodies are numbered within the articulation; ends that do not
# move have numbers of their own, behind the others.
ctypedef struct BatchNode:
    int32_t size                 # 3: ball, 5: hinge
    int32_t a
    int32_t b
    int32_t sides                # which of them move: bit 0 a, bit 1 b
    int32_t row                  # its first
    int32_t diagonal             # number of its block of the matrix
    int32_t entry                # the first block of its column, and one behind the last
    int32_t entry_end

ctypedef struct BatchEntry:
    int32_t node                 # its row
    int32_t value                # number of its block
    int32_t body                 # that the two joints share
    int32_t row_side             # which side of the row's joint that is, and of the column's
    int32_t column_side
    int32_t update               # the first of the products with it, and one behind the last
    int32_t update_end
    int32_t reserved

# S_target -= S_left (L_right)', of one column.
ctypedef struct BatchUpdate:
    int32_t target               # number of the block
    int32_t left                 # entry
    int32_t rows                 # of the block
    int32_t columns

ctypedef struct BatchShape:
    const BatchNode* nodes       # in the order of elimination
    const BatchEntry* entries
    const BatchUpdate* updates
    int32_t node_count
    int32_t body_count           # with the ends that do not move
    int32_t moving_count
    int32_t row_count
    int32_t value_count

ctypedef struct Batch:
    const BatchShape* shape
    Py_ssize_t first             # its first number among those of the joints' rows
    int32_t lanes                # that are filled, of `width`
    int32_t width
    int32_t* body                # (bodies, 8)
    int32_t* record              # (nodes, 8) where each joint's first JointRow stands among doubles
    int32_t* number              # (nodes, 8) its first row
    int32_t* source              # (nodes, 8) its joint
    double* fixed                # (nodes, 18) anchors on a and b; hinge: x, y on a, z on b; body axes; the joint's
                                 # length and push
    double* arms                 # (nodes, 12) on a, on b; hinge: its two directions; world axes
    double* spins                # (nodes, 2, 5, 3) I^-1 J' of the two sides, scratch
    double* masses               # (bodies, 7) inverse mass and inertia, world axes
    double* motions              # (bodies, 12) poses or twists and impulses, scratch
    double* scale                # (rows,) the diagonal of J M^-1 J'
    double* values               # the matrix's blocks; of D the inverse
    double* scaled               # L
    double* x                    # (rows,) right side and solution
    double* start                # (bodies that move, 7) positions and orientations at the drift's start
    double* inertia              # (bodies that move, 12) inertia and its inverse, body axes
    int32_t articulation[8]      # which one each lane has
    double* near                 # how far a lane's joints may be off at trial poses
    double* off                  # and were at the last ones [m]
    double* loose                # 1: that is more than they may, 0: it is not; one number a lane, and how many are
    double* swept                # 1: the lane takes part in the sweeps

ctypedef struct BatchKernels:
    int width
    # Jacobians and errors at the present poses. -> the largest |error| [m]
    double (*write)(const Batch* batches, Py_ssize_t count, const Bodies* bodies, JointRows* rows) noexcept nogil
    # Biases at trial poses, and `off`: the largest distance of a row from what the drift aims at [m]. Those lanes
    # are loose from now on that are farther off than `near`. again: only batches with a lane that has been loose.
    void (*miss)(const Batch* batches, Py_ssize_t count, const Bodies* bodies, JointRows* rows, double h,
                 bint again) noexcept nogil
    # The same at the poses that integrate/_euler.pyx, try_poses, gives; into the bodies too if `store`. 0: some body
    # turns too far for one piece.
    int (*drift)(const Batch* batches, Py_ssize_t count, Bodies* bodies, JointRows* rows, double h,
                 bint again, bint store) noexcept nogil
    # Inertia; poses at the drift's start.
    void (*load)(const Batch* batches, Py_ssize_t count, const Bodies* bodies) noexcept nogil
    void (*keep)(const Batch* batches, Py_ssize_t count, const Bodies* bodies) noexcept nogil
    # J M^-1 J' and its factor.
    void (*factor)(const Batch* batches, Py_ssize_t count, const Bodies* bodies) noexcept nogil
    # One solve of J v + bias = 0 in the lanes that are BATCH_SWEPT or not, BATCH_FREE; or BATCH_LOOSE: there `bias` is
    # J v + bias already.
    void (*solve)(const Batch* batches, Py_ssize_t count, Twist* twist, JointRows* rows, int which) noexcept nogil
    # twist += M^-1 J' impulse; twice: in lanes that are swept alone, whose impulse is doubled then.
    void (*push)(const Batch* batches, Py_ssize_t count, Twist* twist, JointRows* rows, bint twice) noexcept nogil
    # bias <- bias - J v, or 0 in lanes that are off by more than `far` times `near`.
    void (*aim)(const Batch* batches, Py_ssize_t count, const Twist* twist, JointRows* rows, double far) noexcept nogil
    # The largest |J v + bias| / (J M^-1 J') of a row.
    double (*residual)(const Batch* batches, Py_ssize_t count, const Twist* twist, const JointRows* rows) noexcept nogil
    # T of each articulation, and T less the forces' work on the way from the origin [J].
    void (*energy)(const Batch* batches, Py_ssize_t count, const Bodies* bodies, Vec3 gravity, double* kinetic,
                   double* energy) noexcept nogil
    # joined <- whether its velocities open no joint by more than `part` of the fastest, against its centre of mass if it
    # hangs on nothing. size: of each articulation.
    void (*find_joined)(const Batch* batches, Py_ssize_t count, const Bodies* bodies, const double* size, double part,
                        int8_t* joined) noexcept nogil
    # Jacobians but for I^-1 J' to where those of the joint are; impulses and their second part
    void (*give)(const Batch* batches, Py_ssize_t count, JointRows* rows) noexcept nogil
    void (*give_impulses)(const Batch* batches, Py_ssize_t count, JointRows* rows) noexcept nogil
    # Of warm starts that have acted, what impulses are beyond `base`, `part` of each body is kept.
    void (*keep_parts)(const Batch* batches, Py_ssize_t count, JointRows* rows, const double* base,
                       const double* part) noexcept nogil


cdef enum:
    MOST_LEVELS = 4

cdef class BatchRoom:
    cdef int widths[4]                  # of each level in use
    cdef int level_count
    cdef int width                      # the most lanes
    cdef list kept
    cdef Py_ssize_t flock_count         # structures
    cdef BatchShape* shapes
    cdef Batch* batches                 # of each structure as many as all its articulations ask for
    cdef int32_t* flock_begin           # articulations, structure by structure, and where each one's bodies and joints
    cdef int32_t* member_body           # begin
    cdef int32_t* member_joint
    cdef int32_t* member_articulation
    cdef int32_t* bodies
    cdef int32_t* sources
    cdef double* anchors                # (joints here, 18)
    cdef int32_t* batch_begin           # of each structure
    cdef int32_t* row_begin             # of all joints

    cdef Py_ssize_t choose(self, const int8_t* here, Py_ssize_t first, Batch* chosen,
                           Py_ssize_t* level_begin) noexcept nogil
    cdef void fill(self, Batch* batch, Py_ssize_t a) noexcept nogil

cdef class Batches:
    cdef const BatchKernels* kernels[4]  # of each level up to the one in use, which has the most lanes
    cdef int level_count
    cdef Py_ssize_t level_begin[5]      # batches of level k: from level_begin[k + 1] to level_begin[k]
    cdef BatchRoom room
    cdef object kept
    cdef Batch* batches                 # those in use
    cdef Py_ssize_t count
    cdef Py_ssize_t used                # how many numbers their rows have
    cdef readonly Py_ssize_t number_count       # if all are in use
    cdef readonly object joints         # (joints,) bool: which may be here
    cdef readonly object articulations  # numbers of those that may be

    cdef void choose(self, const int8_t* here, Py_ssize_t first) noexcept nogil
    cdef void aim_for(self, const double* near, const int8_t* swept, bint first) noexcept nogil
    cdef bint any_loose(self) noexcept nogil
    cdef void find_loose(self, int8_t* loose) noexcept nogil

    cdef Py_ssize_t begin_of(self, int level) noexcept nogil
    cdef Py_ssize_t count_of(self, int level) noexcept nogil
    cdef void load(self, const Bodies* bodies) noexcept nogil
    cdef double write(self, const Bodies* bodies, JointRows* rows) noexcept nogil
    cdef void keep(self, const Bodies* bodies) noexcept nogil
    cdef void factor(self, const Bodies* bodies) noexcept nogil
    cdef void solve(self, Twist* twist, JointRows* rows, int which) noexcept nogil
    cdef void push(self, Twist* twist, JointRows* rows, bint twice) noexcept nogil
    cdef void aim(self, const Twist* twist, JointRows* rows, double far) noexcept nogil
    cdef bint drift(self, Bodies* bodies, JointRows* rows, double h, bint again,
                    bint store) noexcept nogil
    cdef void miss(self, const Bodies* bodies, JointRows* rows, double h, bint again) noexcept nogil
    cdef double residual(self, const Twist* twist, const JointRows* rows) noexcept nogil
    cdef void energy(self, const Bodies* bodies, Vec3 gravity, double* kinetic, double* energy) noexcept nogil
    cdef void find_joined(self, const Bodies* bodies, const double* size, double part, int8_t* joined) noexcept nogil

    cdef void begin_step(self, JointRows* rows, const Joint* joints) noexcept nogil
    cdef void take(self, JointRows* rows) noexcept nogil
    cdef void give_jacobians(self, JointRows* rows) noexcept nogil
    cdef void give_impulses(self, JointRows* rows) noexcept nogil
    cdef void keep_parts(self, JointRows* rows, const double* base, const double* part) noexcept nogil
