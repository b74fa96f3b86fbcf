"""What the integrators share that follow smooth motions by Runge-Kutta."""

from mcsim.core._backward cimport BackwardDifferences
from mcsim.core._implicit cimport ImplicitStages
from mcsim.core._newton cimport NewtonMethod
from mcsim.core._tableau cimport StepSize, Tableau
from mcsim.core._types cimport Twist
from mcsim.solve._held_motors cimport HeldMotors
from mcsim.step._integrator cimport Integrator

# How often stages are projected in steps of a given length. They are open by some h^2: one round leaves some h^4, and what
# loops do does not depend on what else is in the world.
cdef enum:
    STAGE_ROUNDS = 1

cdef class RungeKuttaIntegrator(Integrator):
    cdef Tableau tableau, first          # of the present steps, and of those with which a substep begins
    cdef dict made                       # what steps by a method need, by its tableau
    cdef StepSize sizes                  # of steps as long as a tolerance allows; None: "rk4"
    cdef NewtonMethod newton             # of the present steps, if they are implicit: one of the next two
    cdef ImplicitStages implicit
    cdef BackwardDifferences backward
    cdef Py_ssize_t moving               # how many numbers do
    cdef bint stiff                      # the present steps are of another method than the first
    cdef double strayed                  # how far projecting moved an implicit step's end, in parts of the tolerance
    cdef int refused                     # steps of an implicit method in a row that were no good
    cdef int tries                       # of such steps since, as far as they are counted
    cdef double explicit_h               # how long steps were before that [s]
    cdef double taken                    # the length of the present step of backward differences [s]
    cdef bint tearing                    # a step ended with joints that could not be closed
    cdef Py_ssize_t torn                 # the joint that was open by most, and by how much [m or rad]
    cdef double torn_by
    cdef object joint_names
    cdef bint projecting                 # joints are projected after each step
    cdef HeldMotors motors               # of "reference", and rotors; None: there are none
    cdef object kept_angles
    cdef double* angles                  # (joints, JOINT_AXES) as a step begins

    cdef void go_over(self, bint stiff) noexcept nogil
    cdef void begin_parts(self, double h) noexcept nogil
    cdef void close_beginning(self, double h) noexcept nogil
    cdef void close_wide(self, double h) noexcept nogil
    cdef double widest(self) noexcept nogil
    cdef bint is_torn(self) noexcept nogil
    cdef bint is_open(self) noexcept nogil
    cdef void advance(self, double h) noexcept nogil
    cdef void make_stages(self, double h) noexcept nogil
    cdef bint make_implicit_stages(self, double h) noexcept nogil
    cdef void find_jacobian(self, double begin, double t) noexcept nogil
    cdef void find_differences(self, double begin, double t) noexcept nogil
    cdef double advance_backward(self, double h) noexcept nogil
    cdef int probe_row(self) noexcept nogil
    cdef void start_backward(self, double most) noexcept nogil
    cdef void accelerate_stage(self, double h) noexcept nogil
    cdef bint settle_implicit(self, double h, int before, int after) noexcept nogil
    cdef double backward_error(self) noexcept nogil
    cdef bint is_near_singular(self, double part, double least) noexcept nogil
    cdef bint closes_loops(self) noexcept nogil
    cdef void count_refused(self, double left) noexcept nogil
    cdef bint make_backward_step(self) noexcept nogil
    cdef bint find_backward_place(self, double begin) noexcept nogil
    cdef void go_to(self, int k, double h, double begin, double t) noexcept nogil
    cdef bint make_good_stages(self, double h) noexcept nogil
    cdef bint is_stopped(self) noexcept nogil
    cdef bint refuses(self) noexcept nogil
    cdef bint aim_motors(self) noexcept nogil
    cdef void drive(self, Twist* x) noexcept nogil
    cdef void give_up(self, int why, double h) noexcept nogil
    cdef void start_motors(self) noexcept nogil
    cdef void free_rotors(self, int relaxed) noexcept nogil
    cdef void keep_angles(self, bint back) noexcept nogil

    # Of those that move something.
    cdef void begin_stages(self) noexcept nogil
    cdef void take_scales(self) noexcept nogil
    cdef void accelerate(self, bint keep) noexcept nogil
    cdef void end_stage(self, int k) noexcept nogil
    cdef void move(self, int k, double h) noexcept nogil
    cdef void pass_time(self, double h) noexcept nogil
    cdef void find_errors(self) noexcept nogil
    cdef void project_errors(self, double h) noexcept nogil
    cdef void judge(self, double* errors) noexcept nogil
    cdef void take_back(self) noexcept nogil
    cdef void settle(self, double h) noexcept nogil
    cdef void settle_stage(self, double h) noexcept nogil
    cdef bint derive(self) noexcept nogil
    cdef void stay(self, Py_ssize_t i) noexcept nogil
    cdef void read_back(self, int k) noexcept nogil
    cdef double farthest_turn(self) noexcept nogil
    cdef void jump(self) noexcept nogil
    cdef double rotor_rate(self, Py_ssize_t i) noexcept nogil
