"""Plain ball joints several at a time, for the direct joint solver: the records of the kernels, and who keeps them.

A short block repeats its first lane, which is then computed twice to the same bits.
"""

from libc.stdint cimport int32_t
from mcsim.core._types cimport Twist
from mcsim.state._bodies cimport Bodies
from mcsim.state._row cimport JointRows
from mcsim.wide._lane_types cimport Wide, Wide3

# Joints. Where a lane's numbers stand is counted in doubles.
ctypedef struct BallBlock:
    int32_t row[8]               # its three rows: errors, biases, impulses
    int32_t record[8]            # its three JointRows
    int32_t vector[8]            # its part of the solver's right side and solution
    int32_t diagonal[8]          # its block of the matrix
    int32_t body_a[8]
    int32_t body_b[8]
    int32_t arm[8]               # its two arms
    int32_t reserved[8]
    Wide3 anchor_a               # the joint point from a's centre of mass, a's axes [m]
    Wide3 anchor_b
    Wide3 arm_a                  # from the centres of mass to where b has the joint point, world [m]
    Wide3 arm_b
    Wide3 error                  # at the start of the drift [m]
    Wide side_a                  # 1: a counts in the diagonal block
    Wide side_b
    Wide push                    # how fast it is closed at most [m/s]

# Blocks of the matrix between two joints that share a body.
ctypedef struct CoupleBlock:
    int32_t value[8]
    int32_t angular[8]           # of the row's joint, about the shared body
    int32_t spin[8]              # of the column's
    int32_t body[8]
    Wide sign                    # 1: the body is the same side of both, else -1

# Bodies that the joints move; each has as many slots as the one with the most joints, one PushSlot for all lanes.
ctypedef struct PushBlock:
    int32_t body[8]
    int32_t slot                 # the first
    int32_t slot_end
    int32_t reserved[6]

ctypedef struct PushSlot:
    int32_t row[8]
    int32_t vector[8]
    int32_t arm[8]
    int32_t reserved[8]
    Wide sign                    # of the impulse: 1 on b, -1 on a, 0: the lane has no such joint

# One level's kernels.
ctypedef struct BallKernels:
    int width
    Py_ssize_t sizes[4]          # bytes of the four records above
    # Jacobians and errors at the present poses. -> the largest |error| of a row [m]
    double (*write)(BallBlock* blocks, Py_ssize_t count, const Bodies* bodies, JointRows* rows,
                    double* arms) noexcept nogil
    # Biases at trial poses. -> the largest distance from what the drift aims at, of a row [m]
    double (*miss)(const BallBlock* blocks, Py_ssize_t count, const Bodies* bodies, JointRows* rows,
                   double h) noexcept nogil
    # I^-1 J' and the blocks of J M^-1 J'
    void (*assemble)(const BallBlock* blocks, Py_ssize_t count, const Bodies* bodies, JointRows* rows,
                     double* values) noexcept nogil
    void (*couple)(const CoupleBlock* blocks, Py_ssize_t count, const Bodies* bodies, const JointRows* rows,
                   double* values) noexcept nogil
    # -(J v + bias), bias by rows. -> the largest
    double (*residual)(const BallBlock* blocks, Py_ssize_t count, const Twist* twist, const double* bias,
                       double* vector) noexcept nogil
    # The right side of a solve where J v + bias is known: minus `residual`, by rows.
    void (*aim)(const BallBlock* blocks, Py_ssize_t count, const double* residual, double* vector) noexcept nogil
    # impulse += solution
    void (*collect)(const BallBlock* blocks, Py_ssize_t count, const double* vector, double* impulse) noexcept nogil
    # twist += M^-1 J' x, x by rows or as the solver has it
    void (*push)(const PushBlock* blocks, Py_ssize_t count, const PushSlot* slots, const Bodies* bodies, Twist* twist,
                 const double* x, bint by_rows, const double* arms) noexcept nogil
    # x <- (L D L')^-1 x where every block is 3 x 3, in the nodes order[:count]. target[begin[k]] ...: the rows of
    # column k's blocks of L; columns: theirs, of four numbers each, the last 0; rows and inverses: theirs, and those
    # of D^-1, of three. x has four numbers a node; the last says nothing.
    void (*substitute)(const int32_t* order, const int32_t* begin, const int32_t* target, Py_ssize_t count,
                       const double* columns, const double* rows, const double* inverses, double* x) noexcept nogil


cdef class DirectBalls:
    cdef const BallKernels* kernels
    cdef object kept
    cdef readonly object begin          # "ball", "couple", "push": where the blocks of each articulation begin
    cdef BallBlock* blocks
    cdef CoupleBlock* couples
    cdef PushBlock* pushes
    cdef PushSlot* slots
    cdef double* arms

    # One block of many, whose size depends on the level: only kernels look into them.
    cdef BallBlock* block(self, Py_ssize_t k) noexcept nogil
    cdef CoupleBlock* couple(self, Py_ssize_t k) noexcept nogil
