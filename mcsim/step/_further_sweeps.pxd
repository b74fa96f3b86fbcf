"""Further sweeps over contacts of what its neighbours far outweigh."""

from libc.stdint cimport int32_t
from mcsim.direct._articulations cimport Articulations
from mcsim.core._touched cimport Touched
from mcsim.core._types cimport Twist
from mcsim.solve._generalized_sweeps cimport GeneralizedSweeps
from mcsim.state._bodies cimport Bodies
from mcsim.state._joint cimport Joint
from mcsim.state._manifold cimport Manifold
from mcsim.state._row cimport Row
from mcsim.step._constraint_set cimport ConstraintSets

# Bodies of contacts that are rows, or their trees: sweeps of these do not note what they change. tree: of each body; NULL.
cdef void mark_outweighed(const Row* rows, Py_ssize_t count, const double* neighbours, const int32_t* tree,
                          int32_t* changed) noexcept nogil


cdef class FurtherSweeps:
    cdef object kept             # the arrays behind the pointers
    cdef Py_ssize_t bodies
    cdef int most                # of a pass
    cdef double speed
    cdef double rate
    cdef double* burden          # of bodies: the inverse of what it weighs for what pushes it [1/kg]; -1: it has no part
    cdef double* neighbours      # what all that it touches weighs, in its own masses; below 0: it has no part
    cdef int32_t* changed        # of bodies or trees: the last sweep, those of the pass itself being 1, that has changed it
    cdef Touched entered         # the bodies of this step's contacts, and all that move
    cdef const double* sizes     # of bodies [m]
    cdef bint none               # contacts of a substep are not settled: where overlaps are what bears
    cdef bint unsettled          # a pass of this step has ended while contacts still changed

    cdef void weigh(self, const Manifold* manifolds, Py_ssize_t count, const Bodies* bodies, const Joint* joints,
                    Py_ssize_t joint_count, Articulations articulations) noexcept nogil
    cdef void join(self, const Manifold* m, Articulations articulations) noexcept nogil
    cdef void enter(self, const Bodies* bodies, int32_t i) noexcept nogil
    cdef int32_t* begin(self) noexcept nogil
    cdef long long settle_trees(self, GeneralizedSweeps sweeps, Row* rows, Py_ssize_t begin, Py_ssize_t count,
                                const int32_t* tree, double* velocity) noexcept nogil
    cdef void note(self, int32_t body, int sweep) noexcept nogil
    cdef bint solve_again(self, GeneralizedSweeps sweeps, Row* rows, Py_ssize_t i, int size,
                          double* velocity) noexcept nogil
    cdef long long settle(self, ConstraintSets sets, Twist* twist) noexcept nogil
