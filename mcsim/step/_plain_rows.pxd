"""Rows of joints and contacts, one record a row, as a constraint set."""

from mcsim.direct._state cimport ArticulationState
from mcsim.solve._impact cimport Impacts
from mcsim.state._bodies cimport Bodies
from mcsim.state._manifold cimport Manifold
from mcsim.state._row cimport Row
from mcsim.step._constraint_set cimport ConstraintSet, StepContext
from mcsim.wide._contact_frame cimport ContactAnchors

cdef class PlainRows(ConstraintSet):
    cdef StepContext context
    cdef Row* rows
    cdef double* factors
    cdef double* impacts                # impulses of impacts, a row
    cdef double* changes                # of impulses in the last sweep of a substep, a row; before it, the impulses
    cdef ContactAnchors* anchors
    cdef readonly Py_ssize_t row_count
    cdef Py_ssize_t joint_end           # of the joints' rows among the rows
    cdef Py_ssize_t started_end         # of those whose impulses act as such: not those of compliant contacts
    cdef Py_ssize_t impact_rows         # end of the rows that begin impacts
    cdef Py_ssize_t resting_rows        # end of those behind them that impacts act on, too, once something is struck
    cdef Py_ssize_t row_capacity
    cdef Py_ssize_t anchor_capacity
    cdef object arrays
    cdef Py_ssize_t motors              # that go to a position, among the rows
    cdef bint bounces
    cdef bint compliant                 # contacts are started and returned by compliant surfaces
    cdef ArticulationState jointed       # whose joints have a part of the rows, or None

    cdef Py_ssize_t lay(self, int which, Py_ssize_t begin, const Bodies* found) noexcept nogil
    cdef void write_contacts(self, Row* rows, int which) noexcept nogil
    cdef bint waits(self, Impacts impacts) noexcept nogil
    cdef double fastest(self, const Manifold* m) noexcept nogil
    cdef void add_bouncing(self) noexcept nogil
    cdef void add_resting(self) noexcept nogil
    cdef Py_ssize_t add_impacts(self, int which, Py_ssize_t begin, Py_ssize_t end) noexcept nogil
    cdef void accumulate(self, int which) noexcept nogil
    cdef void aim_motors(self) noexcept nogil
    cdef void write_joints(self, Row* rows) noexcept nogil
    cdef void write(self, Row* rows) noexcept nogil
    cdef void set_start_impulses(self) noexcept nogil
    cdef void start_row(self, Py_ssize_t i) noexcept nogil
    cdef bint is_direct(self, const Row* row) noexcept nogil
    cdef double take_carried(self, Row* row) noexcept nogil
    cdef void act_carried(self, bint shared) noexcept nogil
