"""The settings that kernels read."""

from libc.stdint cimport int32_t
from mcsim.core._types cimport Vec3

cdef enum Stabilization:
    STABILIZE_NONE = 0
    STABILIZE_BAUMGARTE = 1
    STABILIZE_SOFT = 2
    STABILIZE_SPLIT_IMPULSE = 3
    STABILIZE_PROJECTION = 4
    STABILIZE_GGL = 5

# How a substep advances the state.
cdef enum Integrator:
    INTEGRATE_SEMI_IMPLICIT = 0
    INTEGRATE_RK4 = 1            # and "reference", "radau"
    INTEGRATE_RATTLE = 2
    INTEGRATE_VARIATIONAL = 3
    INTEGRATE_REDUCED = 4        # in generalized coordinates

# From which separation on two shapes have contacts, t the thickness of the thinner one: min(distance, most t), at
# least part t.
ctypedef struct Nearness:
    double distance              # [m]
    double most
    double part

ctypedef struct Settings:
    double dt
    double h                     # dt / substeps
    int32_t substeps
    int32_t iterations           # sweeps of a pass
    int32_t first_iterations     # likewise in the first step
    int32_t stabilization
    int32_t relaxes              # 1: a pass without bias ends a substep
    int32_t displaces            # 1: errors are mended by a displacement of their own, not by the rows' velocities
    int32_t solver
    int32_t friction_cone        # 1 cone, 0 pyramid
    int32_t friction_central     # 1 per manifold, 0 per point
    int32_t joint_tree           # 0: joints row by row, 1: directly, 2: directly unless that costs too much
    Vec3 gravity
    double first_kick            # part of a substep's forces that acts before the drift; the rest acts after it
    double baumgarte
    double slop                  # that baumgarte leaves: this [m], and this part of the manifold's `size`
    double slop_part
    double contact_hertz
    double contact_damping_ratio
    double joint_hertz
    double joint_damping_ratio
    double joint_warm_start      # part of a joint row's impulse that the next substep starts with
    double push_speed            # how fast overlaps are pushed back at most: this [m/s], and so many times the manifold's
    double push_rate             # `size` in a second (joints and limits: Joint.push)
    double restitution_threshold
    int32_t restitution_law      # of solve/_laws.pxd
    Nearness speculative
    int32_t position_rounds      # of projection and ggl: position solves a substep
    double time                  # of the present poses [s]
    int32_t integrator
    double reference_tolerance   # "reference": of an error of 1 + |y|; 0: rk4, steps as long as the substep
    double reference_creep       # "reference": speed at which joint friction and motors have 0.7 of their force; 0: rk4
    int32_t implicit             # "radau", the same by an implicit method
    int32_t smooth_projection    # of all: 1 = project poses and velocities after each step
    double rate_gain             # of both: J a = -J' v - rate_gain J v - error_gain C, [1/s]
    double error_gain            # [1/s^2]
    int32_t threads
    size_t user_rows             # address of the UserRow records
    int32_t compliant            # 1: contact="compliant"
    int32_t hunt_crossley        # its law, else linear
