"""Motors and rotors that ask for accelerations, solved exactly beside what solves the joints."""

from mcsim.core._types cimport Twist
from mcsim.solve._generalized cimport GeneralizedRows
from mcsim.solve._held cimport HeldRows
from mcsim.solve._loop_rows cimport LoopRows
from mcsim.solve._smooth cimport SmoothSolver
from mcsim.state._row cimport Row

cdef class HeldMotors(HeldRows):
    cdef object kept_motors
    cdef Twist* begun                    # the velocities or accelerations before the joints have acted
    cdef Py_ssize_t size                 # of them, in bytes
    cdef bint driving                    # motors are among them, else rotors alone

    cdef bint prepare(self, Row* rows, Py_ssize_t count) noexcept nogil
    cdef bint find(self, Row* rows, Twist* x) noexcept nogil
    cdef void note_missed(self, const Row* rows, const Twist* x) noexcept nogil
    cdef void keep(self, Row* rows, double h) noexcept nogil
    cdef Twist* probe(self, Row* rows, Py_ssize_t i) noexcept nogil
    cdef void hold_joints(self, Row* rows, Twist* x) noexcept nogil


cdef class MotorsOfBodies(HeldMotors):
    cdef SmoothSolver smooth


cdef class MotorsOfTrees(HeldMotors):
    cdef GeneralizedRows generalized
    cdef LoopRows loop_rows
    cdef double* moved
