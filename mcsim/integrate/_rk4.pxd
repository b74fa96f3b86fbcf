"""Runge-Kutta on poses and twists: the verbs that the pipeline calls."""

from mcsim.core._newton cimport NewtonMethod
from mcsim.core._types cimport Quat, Twist, Vec3
from mcsim.core._tableau cimport Tableau
from mcsim.state._bodies cimport Bodies
from mcsim.state._settings cimport Settings

cdef enum:
    RATES = 12                           # of a body: velocity, turn, linear and angular acceleration


cdef inline bint is_velocity(Py_ssize_t place) noexcept nogil:
    """Whether a number of a slot is the rate of a velocity."""
    return place % RATES >= RATES // 2


# Gravity, the user's forces and damping, [N, N m] about the centres of mass, world axes. No gyroscopic torque.
cdef void smooth_forces(const Bodies* bodies, const Settings* settings, Twist* force) noexcept nogil

# M^-1 f of the dynamic bodies, 0 for the others.
cdef void free_accelerations(const Bodies* bodies, const Twist* force, Twist* acceleration) noexcept nogil

# w' += -I^-1 (w x I w)
cdef void add_gyroscopic(const Bodies* bodies, Twist* acceleration) noexcept nogil

# twist += s * acceleration
cdef void add_twists(Py_ssize_t count, double s, const Twist* acceleration, Twist* twist) noexcept nogil

# Move all bodies but static ones by a displacement [m, rad], and bring the world inertias after them.
cdef void displace(Bodies* bodies, const Twist* move) noexcept nogil

cdef class RungeKutta:
    cdef Tableau tableau
    cdef object kept, kept_errors        # the arrays that the pointers are into
    cdef Py_ssize_t stride
    cdef Vec3* position                  # at the start of the step
    cdef Quat* orientation
    cdef Twist* twist
    cdef Vec3* turn                      # from there to the present stage
    cdef double* rates                   # (slots, bodies + 1, 12): velocity, turn, linear and angular acceleration
    cdef Twist* error[4]                 # of poses and of twists by the first estimate, the same by the second; the world's
                                         # stands before each

    # begin, then for each stage k: accelerations at the present state, stage(k), move(k + 1): the bodies stand at the next
    # stage, or after the last at the end of the step.
    cdef void begin(self, const Bodies* bodies) noexcept nogil
    cdef void stage(self, const Bodies* bodies, const Twist* acceleration, int k) noexcept nogil
    cdef void take_scales(self, NewtonMethod implicit) noexcept nogil
    cdef void sum_rates(self, const double* weights, Py_ssize_t i, Twist* out) noexcept nogil
    cdef void move(self, Bodies* bodies, int k, double h) noexcept nogil
    # Where the method estimates its error, with the accelerations at the end as one stage more: both estimates into
    # `error`, and of those what StepSize judges.
    cdef void find_errors(self, const Bodies* bodies, bint across) noexcept nogil
    cdef void judge(self, const Bodies* bodies, double* errors) noexcept nogil
    cdef void add_estimates(self, double* errors, int k, Py_ssize_t i, int m, double before, double after) noexcept nogil
    cdef void take_back(self, Bodies* bodies) noexcept nogil
    # Of what keeps one base for many steps.
    cdef void read_back(self, const Bodies* bodies, int k) noexcept nogil
    cdef double farthest_turn(self, const Bodies* bodies) noexcept nogil
