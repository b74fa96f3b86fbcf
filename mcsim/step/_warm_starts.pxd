"""The impulses that a substep's rows start with, and what compliant contacts do in a step."""

from libc.stdint cimport int32_t
from mcsim.step._machine cimport Machine
from mcsim.core._types cimport Twist
from mcsim.state._layout cimport Row

cdef class WarmStarts(Machine):
    cdef readonly Py_ssize_t row_count
    cdef Py_ssize_t joint_end           # of the joints' rows among the rows
    cdef bint ended                     # whether a substep of this step has ended
    cdef const int32_t* apart           # which joints' own rows stand in `wide_joints` now; NULL: none

    cdef void begin_rows(self) noexcept nogil
    cdef void set_start_impulses(self) noexcept nogil
    cdef void find_drives(self) noexcept nogil
    cdef bint watches(self, const Twist* twist, int relaxed) noexcept nogil
    cdef void note_impulses(self) noexcept nogil
    cdef void find_vain(self) noexcept nogil
    cdef double take_carried(self, Row* row) noexcept nogil
    cdef void load_surfaces(self) noexcept nogil
    cdef void move_surfaces(self) noexcept nogil
    cdef void sign_surfaces(self) noexcept nogil
    cdef void comply(self) noexcept nogil
    cdef bint complies(self, const Row* row) noexcept nogil
    cdef int32_t node(self, int32_t body) noexcept nogil
    cdef double row_rate(self, Py_ssize_t i, const double* velocity) noexcept nogil
    cdef void row_act(self, Py_ssize_t i, double impulse, double* velocity) noexcept nogil
    cdef void guess_contacts(self, double* velocity, double* before, int relaxed) noexcept nogil
    cdef double take_second(self, Py_ssize_t i, double* velocity) noexcept nogil
    cdef double second_part(self, const Row* row) noexcept nogil
    cdef void note_stiff(self) noexcept nogil
