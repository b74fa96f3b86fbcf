"""Classical Runge-Kutta on poses and twists: the verbs that the pipeline calls."""

from mcsim.core._types cimport Quat, Twist, Vec3
from mcsim.state._bodies cimport Bodies
from mcsim.state._settings cimport Settings

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
    cdef object kept                     # the arrays that the pointers are into
    cdef Vec3* position                  # at the start of the step
    cdef Quat* orientation
    cdef Twist* twist
    cdef Vec3* position_rate             # weighted sums of the stages' rates
    cdef Vec3* turn                      # from the start to the present stage
    cdef Vec3* turn_rate
    cdef Twist* twist_rate

    # begin, then for each of the four stages: accelerations at the present state, stage(k).
    cdef void begin(self, const Bodies* bodies) noexcept nogil
    cdef void stage(self, Bodies* bodies, const Twist* acceleration, int k, double h) noexcept nogil
