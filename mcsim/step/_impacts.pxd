"""Impacts of bodies that joints hold, by each of the ways in which worlds hold them."""

from libc.stdint cimport int8_t, int32_t
from mcsim.direct._articulations cimport Articulations
from mcsim.core._types cimport Twist
from mcsim.reduced._motion cimport TreeMotion
from mcsim.solve._generalized cimport GeneralizedRows
from mcsim.solve._held_motors cimport HeldMotors
from mcsim.solve._held_trees cimport HeldTrees
from mcsim.solve._loop_rows cimport LoopRows
from mcsim.solve._impact cimport BodyImpacts, Impacts
from mcsim.solve._smooth cimport SmoothSolver
from mcsim.state._bodies cimport Bodies
from mcsim.state._row cimport Row
from mcsim.state._settings cimport Settings

# Where something begins and ends in a list.
ctypedef struct Span:
    Py_ssize_t begin
    Py_ssize_t end

cdef class HeldImpacts(BodyImpacts):
    cdef const Bodies* bodies
    cdef const Settings* settings
    cdef const int32_t* member   # bodies, group by group
    cdef Twist* kicks            # of each body: half of what forces change its velocity by in a substep, joints held

    cdef int32_t group_of_body(self, int32_t body) noexcept nogil
    cdef Span members_of(self, Py_ssize_t group) noexcept nogil
    cdef void find_kicks(self, Py_ssize_t groups) noexcept nogil

cdef class ArticulationImpacts(HeldImpacts):
    cdef Articulations articulations
    cdef bint holds              # they are solved before a blow
    cdef int8_t* ready           # of each articulation: it has a factor now, and `kicks`
    cdef int32_t* readied
    cdef Py_ssize_t readied_count

    cdef bint holds_any(self, const Row* rows, Py_ssize_t count) noexcept nogil
    cdef void make_ready(self, Py_ssize_t g) noexcept nogil
    cdef void kick_side(self, int32_t body, int32_t g) noexcept nogil

cdef class SmoothImpacts(HeldImpacts):
    cdef SmoothSolver smooth
    cdef HeldMotors rotors
    cdef Py_ssize_t joint_row_count

cdef class RowImpacts(HeldImpacts):
    cdef object kept_numbers
    cdef const Row* joint_rows   # where those of joints stand, and how many
    cdef Py_ssize_t joint_row_count
    cdef int32_t* group          # of a body: what joints tie it to, -1: nothing
    cdef int32_t* member_begin
    cdef int32_t* first_row      # of each group
    cdef int32_t* next_row
    cdef Py_ssize_t room
    cdef Py_ssize_t group_count
    cdef Twist* along            # M^-1 J' of a direction
    cdef double* residual
    cdef double* direction

    cdef void move_along(self, Py_ssize_t group) noexcept nogil
    cdef void add_along(self, Py_ssize_t group, double step) noexcept nogil

cdef class TreeImpacts(Impacts):
    cdef GeneralizedRows generalized
    cdef LoopRows loops
    cdef TreeMotion motion
    cdef HeldTrees held
    cdef int8_t* met             # (trees,) whether its rows are held for this blow
    cdef const int32_t* bond     # (trees,) of those that loops tie the first that each is tied to, else -1; NULL: no loops
    cdef double* response

    cdef void hold_tree(self, const Row* rows, int32_t body) noexcept nogil
    cdef Py_ssize_t end_of(self, int32_t node) noexcept nogil
    cdef bint is_of(self, Py_ssize_t tree, int32_t node) noexcept nogil
