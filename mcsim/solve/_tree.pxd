"""The joints of all articulations as one sparse block system, factored directly."""

from libc.stdint cimport int8_t, int32_t, int64_t
from mcsim.core._types cimport Mat3, Twist
from mcsim.solve._articulated_bodies cimport ArticulatedBodies
from mcsim.solve._fronts cimport Fronts
from mcsim.wide._direct_balls cimport DirectBalls
from mcsim.wide._batches cimport Batches
from mcsim.state._bodies cimport Bodies
from mcsim.state._joint cimport Joint
from mcsim.state._row cimport JointRow, JointRows

# A joint or a hub in the order of elimination.
ctypedef struct Node:
    int32_t joint                # or -1 - body for a hub
    int32_t size                 # rows of its block
    int32_t sides                # which bodies of the joint count in its diagonal block: bit 0 a, bit 1 b
    int32_t body_a
    int32_t body_b
    int32_t row                  # its first JointRow
    int64_t offset               # of its numbers in a vector
    int64_t diagonal             # of its diagonal block in `values`
    int64_t entry_begin          # its column: entries [entry_begin, entry_end), ascending nodes
    int64_t entry_end
    int64_t row_begin            # the entries of its row, ascending columns
    int64_t row_end
    double shift                 # 1 where the diagonal has a proximal part, else 0

cdef inline int row_count_of(const Node* node) noexcept nogil:
    """Of the joint that it stands for; a hub has none."""
    return node.size if node.joint >= 0 else 0

# A block below the diagonal.
ctypedef struct Entry:
    int32_t node                 # its row
    int32_t code                 # what the two nodes share, 0 = fill
    int64_t value                # of its numbers in `values` and `scaled`

# The same block found by its row.
ctypedef struct Reached:
    int32_t node                 # its column
    int32_t reserved
    int64_t entry

# Where what belongs to one articulation stands in all arrays, each time its first and one behind its last.
# components.ARTICULATION_DTYPE is the same.
ctypedef struct Articulation:
    int32_t node                         # in the order of elimination
    int32_t node_end
    int32_t border                       # rows of the border (_border.pxd)
    int32_t border_end
    int32_t member                       # its dynamic bodies
    int32_t member_end
    int32_t driven                       # kinematic bodies at its joints
    int32_t driven_end
    int32_t linked                       # joints that are not taken several at a time (wide/_direct_balls.pxd)
    int32_t linked_end
    int32_t ball                         # blocks of DirectBalls
    int32_t ball_end
    int32_t couple
    int32_t couple_end
    int32_t push
    int32_t push_end
    int32_t other                        # JointTree.others
    int32_t other_end
    int32_t column                       # JointTree.columns
    int32_t column_end
    int32_t loops                        # how many more joints it has than a tree
    int32_t triples                      # 1: every node has three rows: substitution by BallKernels.substitute
    int32_t held                         # 1: a joint holds it to what is not dynamic
    int32_t reserved
    double size                          # its longest lever between a centre of mass and a joint [m]
    double enough                        # joints closer than this are closed [m, rad]

cdef class JointTree:
    cdef readonly Py_ssize_t node_count
    cdef readonly object joint             # (nodes,) its number, or -1 - body for a hub
    cdef readonly object group             # (nodes,) its articulation, ascending
    cdef readonly Py_ssize_t row_count     # bilateral rows of all joints
    cdef readonly double work              # products of one factorization, about
    cdef readonly long long factors        # how often one was made since the beginning
    cdef readonly bint loops               # some articulation has a loop
    cdef readonly object node_loops        # (nodes,) how many loops the articulation of a joint has; 0 of hubs
    cdef readonly object kept              # the arrays behind the pointers
    cdef DirectBalls balls                 # plain ball joints several at a time, while `lanes`; None: there are none
    cdef bint lanes                        # the rows of ball joints are written by DirectBalls: along the world's axes
    cdef int32_t* others                   # nodes that are not among them
    cdef int32_t* columns                  # those whose column they do not assemble whole
    cdef int32_t* order                    # 0, 1, 2 ...
    cdef int32_t* begin_target
    cdef int32_t* target
    cdef double* turned                    # the columns of L
    cdef double* triple_vector             # in `vector`: where node 0 would have its four numbers
    cdef Fronts fronts                     # where there are loops: the factor; None elsewhere
    cdef JointRows rows
    cdef Batches batches                   # articulations side by side; None: there are none
    cdef Py_ssize_t own_numbers            # where the numbers of batches begin, a multiple of eight
    cdef Node* nodes
    cdef Entry* entries
    cdef Reached* reached
    cdef double* values                    # diagonal blocks inverted, the others as assembled less what was eliminated
    cdef double* scaled                    # L: the others times the inverted diagonal block of their column
    cdef double* vector
    cdef int64_t* slot
    cdef readonly object branches          # of its joints (components.py)
    cdef ArticulatedBodies articulated     # the factor of those that are eliminated body by body:
    cdef int8_t* by_bodies                 # whether that is so, by their first node
    cdef int32_t* number                   # (nodes,) of its articulation
    cdef int64_t* offset                   # (nodes,) of its numbers in `vector`

    cdef void factor(self, const Articulation* a, const Bodies* bodies, double proximal,
                     const Mat3* inertia) noexcept nogil
    cdef bint is_doubtful(self, const Articulation* a) noexcept nogil
    cdef double find_rates(self, const Articulation* a, const Twist* twist, const double* bias,
                           const Joint* joints) noexcept nogil
    cdef void take_rates(self, const Articulation* a, const double* residual) noexcept nogil
    cdef void finish(self, const Articulation* a, const Bodies* bodies, Twist* twist, double* impulse) noexcept nogil
    cdef void push(self, const Articulation* a, const Bodies* bodies, Twist* twist, const double* impulse) noexcept nogil

    cdef void assemble(self, const Articulation* a, const Bodies* bodies) noexcept nogil
    cdef void weigh_rows(self, const Articulation* a, const Bodies* bodies) noexcept nogil
    cdef void assemble_column(self, const Node* node, const Bodies* bodies) noexcept nogil
    cdef void assemble_entry(self, const Node* column, const Entry* entry, const Bodies* bodies) noexcept nogil
    cdef void eliminate_into(self, Py_ssize_t j) noexcept nogil
    cdef bint eliminate(self, Py_ssize_t j, const Bodies* bodies, bint triples) noexcept nogil
    cdef void find_scale(self, const Node* node, const Bodies* bodies, double* scale) noexcept nogil
    cdef void shift(self, const Node* node, const Bodies* bodies, double proximal) noexcept nogil
    cdef void substitute(self, const Articulation* a) noexcept nogil
    cdef void add_solution(self, const Articulation* a, const Bodies* bodies, Twist* twist,
                           double* impulse) noexcept nogil

    # Of numbers that each row has, those of an articulation's rows.
    cdef void scale_rows(self, const Articulation* a, double factor, double* x) noexcept nogil
    cdef void add_rows(self, const Articulation* a, const double* x, double* to) noexcept nogil
    cdef void copy_rows(self, const Articulation* a, const double* x, double* to) noexcept nogil
