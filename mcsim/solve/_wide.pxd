"""Constraints over more than two bodies (wide rows), solved with the joints' block by their Schur complement. See `_wide.pyx`."""

from libc.stdint cimport int32_t, int64_t
from mcsim.core._types cimport Twist
from mcsim.state._layout cimport Joint, Row

cdef class WideRows:
    cdef readonly Py_ssize_t count         # gears
    cdef readonly Py_ssize_t rounds        # of probing: gears of the largest articulation
    cdef object kept
    cdef int32_t* joint                    # (count,) the gear's joint number
    cdef int32_t* group_begin              # (count,) first gear of the same articulation
    cdef int32_t* group_size               # (count,)
    cdef int64_t* block                    # (count,) where its articulation's matrix begins in `values`
    cdef double* values                    # G, then its factor
    cdef double* vector                    # (count,)
    cdef double* impulse                   # (count,) put aside
    cdef double* loan                      # (joints' rows, 2) impulses and biases put aside

    # G, column by column: begin; for each round: push, the joints' solve of `scratch`, read; end.
    cdef void begin(self, Row* rows, const Joint* joints, Py_ssize_t joint_count) noexcept nogil
    cdef void push_round(self, const Row* rows, const Joint* joints, Py_ssize_t round, Twist* scratch) noexcept nogil
    cdef void read_round(self, const Row* rows, const Joint* joints, Py_ssize_t round, const Twist* scratch) noexcept nogil
    cdef void end(self, Row* rows, const Joint* joints, Py_ssize_t joint_count) noexcept nogil

    cdef void factor_line(self, Py_ssize_t k, double smallest) noexcept nogil
    cdef void backsolve(self) noexcept nogil

    # Impulses against J v + bias, to be followed by the joints' solve. -> the largest |J v + bias| [m/s, rad/s]; nothing is
    # done where that is below `tolerance`.
    cdef double correct(self, Row* rows, const Joint* joints, Twist* twist, int relaxed, double tolerance) noexcept nogil

    # Errors become the biased pass's biases -> the largest [m, rad]; or the rates, 0.
    cdef double aim_errors(self, Row* rows, const Joint* joints) noexcept nogil
    cdef void aim_still(self, Row* rows, const Joint* joints) noexcept nogil

    cdef void keep(self, const Row* rows, const Joint* joints) noexcept nogil
    cdef void bring_back(self, Row* rows, const Joint* joints) noexcept nogil
