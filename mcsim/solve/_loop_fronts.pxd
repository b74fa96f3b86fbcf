"""Loops of trees as a sparse system."""

from libc.stdint cimport int32_t, int64_t
from mcsim.solve._fronts cimport Fronts
from mcsim.state._bodies cimport Bodies
from mcsim.state._row cimport Row

cdef inline double dot6(const double* x, const double* y) noexcept nogil:
    return ((x[0] * y[0] + x[1] * y[1]) + (x[2] * y[2] + x[3] * y[3])) + (x[4] * y[4] + x[5] * y[5])


cdef class LoopFronts:
    cdef object kept
    cdef readonly Py_ssize_t row_count   # own rows: of all joints, joint by joint
    cdef Py_ssize_t joint_count
    cdef Py_ssize_t scene_count          # joints of the scene
    cdef Py_ssize_t node_count
    cdef Py_ssize_t piece_count
    cdef Fronts biased                   # the factor of each pass
    cdef Fronts relaxed
    cdef const Bodies* bodies
    cdef int32_t* begin                  # (joints + 1,) own rows of each
    cdef int32_t* link                   # (joints,) of the tree's the link that each holds; -1: it closes a loop
    cdef int32_t* joint_of               # (joints of the scene,) which of the joints closes a loop; -1: none here
    cdef int32_t* ends                   # (joints, 2) bodies, -1 the world
    cdef int32_t* piece                  # (rows,) of each own row, what hangs together,
    cdef int32_t* joint_at               # (rows,) and its joint
    cdef int32_t* body_piece             # (bodies,) the same of bodies, -1: they are not here; the world's before the first
    cdef int32_t* piece_begin            # (pieces + 1,) nodes of each
    cdef int32_t* stale                  # (2, pieces) 1: the factor of a pass is another pose's, or compliance's
    cdef int32_t* node_joint             # in the order of elimination: joint, or -1 - body of a hub
    cdef int32_t* sides                  # bits: which bodies count in the diagonal block
    cdef int32_t* entry_code
    cdef int64_t* offset                 # (nodes + 1,) of their numbers
    cdef int64_t* number                 # (rows,) of each own row, among those
    cdef int64_t* at                     # (rows,) its place on the diagonal, in `values`
    cdef double* jacobian                # (rows, 12) J
    cdef double* response                # (rows, 12) M^-1 J'
    cdef double* alone                   # (rows,) the diagonal of J M^-1 J'
    cdef double* shifts                  # (2, rows) what is added to it in each pass: compliances
    cdef double* values                  # the blocks of S
    cdef double* x                       # right sides in, solutions out

    cdef Py_ssize_t own_row(self, const Row* rows, Py_ssize_t i) noexcept nogil
    cdef bint touches(self, const Row* row) noexcept nogil
    cdef void begin_pose(self) noexcept nogil
    cdef void write_joints(self) noexcept nogil
    cdef void take_row(self, Py_ssize_t own, const Row* row) noexcept nogil
    cdef void assemble(self) noexcept nogil
    cdef void assemble_node(self, Py_ssize_t k) noexcept nogil
    cdef void soften(self, Py_ssize_t own, int relaxed, double compliance) noexcept nogil
    cdef void factor(self, Py_ssize_t piece, int relaxed) noexcept nogil
    cdef void begin_solve(self, Py_ssize_t piece) noexcept nogil
    cdef void solve(self, Py_ssize_t piece, int relaxed) noexcept nogil
    cdef void look(self, Py_ssize_t piece, const double* x) noexcept nogil
    cdef double rate(self, Py_ssize_t own) noexcept nogil
    cdef void push(self, Py_ssize_t own, double impulse) noexcept nogil
    cdef void pass_on(self, Py_ssize_t piece, double* x) noexcept nogil
