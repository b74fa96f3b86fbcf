"""The joints of all articulations as one sparse block system, factored directly."""

from libc.stdint cimport int8_t, int32_t, int64_t
from mcsim.core._types cimport Twist
from mcsim.solve._fronts cimport Fronts
from mcsim.wide._balls cimport Balls
from mcsim.wide._herds cimport Herds
from mcsim.state._layout cimport Bodies, JointRow, JointRows

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

cdef class JointTree:
    cdef readonly Py_ssize_t node_count
    cdef readonly object joint             # (nodes,) its number, or -1 - body for a hub
    cdef readonly Py_ssize_t row_count     # bilateral rows of all joints
    cdef readonly double work              # products of one factorization, about
    cdef readonly bint loops               # some articulation has a loop: solves must be repeated
    cdef int32_t* order                    # the nodes of what does not sleep, ascending
    cdef Py_ssize_t order_count
    cdef Py_ssize_t begin                  # solves are of the nodes order[begin:end], whole articulations: of all
    cdef Py_ssize_t end                    # unless someone narrows that
    cdef int8_t* idle                      # of a node: whether it sleeps
    cdef readonly object kept              # the arrays behind the pointers
    cdef Balls balls                       # plain ball joints several at a time, while `lanes`; None: there are none
    cdef bint lanes                        # Balls.write has written the rows: its joints are along the world's axes
    cdef int32_t* others                   # nodes of `order` that are not among them
    cdef Py_ssize_t other_count
    cdef int32_t* columns                  # those whose column they do not assemble whole
    cdef Py_ssize_t column_count
    cdef int32_t* all_others               # the same of all nodes
    cdef Py_ssize_t all_other_count
    cdef int32_t* all_columns
    cdef Py_ssize_t all_column_count
    cdef bint triples                      # every node has three rows: substitution by BallKernels.substitute
    cdef int32_t* begin_target
    cdef int32_t* target
    cdef double* turned                    # the columns of L
    cdef double proximal                   # part of the diagonal that is added to it in articulations with loops
    cdef Fronts fronts                     # where there are loops: the factor; None elsewhere
    cdef JointRows rows
    cdef Herds herds                       # articulations side by side, while `herding`; None: there are none
    cdef bint herding
    cdef Py_ssize_t own_numbers            # where the numbers of herds begin, a multiple of eight
    cdef Node* nodes
    cdef Entry* entries
    cdef Reached* reached
    cdef double* values                    # diagonal blocks inverted, the others as assembled less what was eliminated
    cdef double* scaled                    # L: the others times the inverted diagonal block of their column
    cdef double* vector
    cdef int64_t* slot

    cdef void choose(self, const Bodies* bodies, const int8_t* asleep, const int8_t* taken) noexcept nogil
    cdef void factor(self, const Bodies* bodies) noexcept nogil
    cdef void solve(self, const Bodies* bodies, Twist* twist) noexcept nogil
    cdef double residual(self, const Twist* twist) noexcept nogil
    cdef void finish(self, const Bodies* bodies, Twist* twist) noexcept nogil
    cdef void correct(self, const Bodies* bodies, Twist* twist, const double* residual, bint alone) noexcept nogil
    cdef void apply_impulses(self, const Bodies* bodies, Twist* twist) noexcept nogil
    cdef void assemble(self, const Bodies* bodies) noexcept nogil
    cdef void assemble_column(self, const Node* node, const Bodies* bodies) noexcept nogil
    cdef void assemble_entry(self, const Node* column, const Entry* entry, const Bodies* bodies) noexcept nogil
    cdef void eliminate_into(self, Py_ssize_t j) noexcept nogil
    cdef Py_ssize_t run_end(self, Py_ssize_t i, Py_ssize_t end) noexcept nogil
    cdef void substitute(self) noexcept nogil
    cdef void add_solution(self, const Bodies* bodies, Twist* twist) noexcept nogil
