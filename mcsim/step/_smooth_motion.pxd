"""A smooth motion that steps of Runge-Kutta follow."""

from libc.stdint cimport uint64_t

from mcsim.core._types cimport Twist
from mcsim.solve._held_motors cimport HeldMotors
from mcsim.step._integrator cimport Integrator

# Why a substep was given up.
cdef enum:
    NOT_SMOOTH = 0
    NOT_DRIVEN = 1
    TOO_SHORT = 2
    CONTRARY = 3

cdef class SmoothMotion(Integrator):
    cdef bint tearing                    # a step ended with joints that could not be closed
    cdef Py_ssize_t torn                 # the joint that was open by most, and by how much [m or rad]
    cdef double torn_by
    cdef object joint_names
    cdef bint projecting                 # joints are projected after each step
    cdef HeldMotors motors               # of "reference", and rotors; None: there are none
    cdef object kept_angles
    cdef double* angles                  # (joints, JOINT_AXES) as a step begins

    cdef void close_beginning(self, double h) noexcept nogil
    cdef void close_wide(self, double h) noexcept nogil
    cdef double widest(self) noexcept nogil
    cdef bint is_torn(self) noexcept nogil
    cdef bint is_open(self) noexcept nogil
    cdef bint is_stopped(self) noexcept nogil
    cdef bint refuses(self) noexcept nogil
    cdef bint aim_motors(self) noexcept nogil
    cdef void drive(self, Twist* x) noexcept nogil
    cdef void give_up(self, int why, double h) noexcept nogil
    cdef void start_motors(self) noexcept nogil
    cdef void free_rotors(self, int relaxed) noexcept nogil
    cdef void keep_angles(self, bint back) noexcept nogil
    cdef uint64_t branch(self) noexcept nogil

    # Of those that move something.
    cdef void begin_stages(self) noexcept nogil
    cdef void take_scales(self) noexcept nogil
    cdef void accelerate(self, bint keep) noexcept nogil
    cdef void end_stage(self, int k) noexcept nogil
    cdef void move(self, int k, double h) noexcept nogil
    cdef void pass_time(self, double h) noexcept nogil
    cdef void find_errors(self, bint across) noexcept nogil
    cdef void project_errors(self, double h) noexcept nogil
    cdef void judge(self, double* errors) noexcept nogil
    cdef void take_back(self) noexcept nogil
    cdef void settle(self, double h) noexcept nogil
    cdef void settle_stage(self, double h) noexcept nogil
    cdef bint closes_loops(self) noexcept nogil
    cdef bint derive(self) noexcept nogil
    cdef void stay(self, Py_ssize_t i) noexcept nogil
    cdef void read_back(self, int k) noexcept nogil
    cdef double farthest_turn(self) noexcept nogil
    cdef void jump(self) noexcept nogil
    cdef double rotor_rate(self, Py_ssize_t i) noexcept nogil
