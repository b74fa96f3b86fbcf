"""The arrays of bodies: struct of arrays, all views of NumPy memory. `fields.py` names the same arrays.

Indices are into the arrays of their kind in the order in which the user added them. Body -1 is the world: every body
array has one row before its first (position 0, identity, no velocity, inverse mass 0), so kernels need no branch for it.
"""

from libc.stdint cimport int32_t, int64_t
from mcsim.core._types cimport Mat3, Quat, Twist, Vec3

cdef enum BodyKind:
    STATIC = 0
    KINEMATIC = 1
    DYNAMIC = 2

ctypedef struct Bodies:
    Py_ssize_t count
    int32_t* kind
    Vec3* position               # centre of mass, world [m]
    Quat* orientation            # body axes -> world
    Twist* twist                 # [v; w] of the centre of mass, world axes [m/s, rad/s]
    Twist* force                 # the user's force and torque about the centre of mass, world axes [N, N m]
    double* inv_mass             # [1/kg], 0 unless dynamic
    const double* awake_inv_mass  # of what sleeps its own, where inv_mass says 0
    Mat3* inertia                # about the centre of mass, body axes [kg m2]
    Mat3* inv_inertia            # body axes, 0 unless dynamic
    const Mat3* awake_inv_inertia    # likewise
    Mat3* inv_inertia_world      # world axes at the present orientation
    int32_t* locks               # the motions that nothing gives it, for a lock is in its inverse mass: bit i along axis i,
                                 # bit 3 + i about it
    double* gravity_scale
    double* linear_damping       # [1/s]
    double* angular_damping      # [1/s]
    int64_t* bullet              # 1: held at moving bodies too (collide/_tunnelling_guard.pyx)
    int64_t* island              # -1 awake, else the number of the island that it sleeps in (constraints/_islands.pyx)
    double* still_time           # for how long it has hardly moved [s]
    double* still_speed          # its speed, smoothed over the time that islands take to fall asleep [m/s]
    Vec3* carrier                # velocity of what carries it, against which it is still or not [m/s]
    Twist* borne                 # of what sleeps: what awake bodies give it in a step, as it has got used to it [N s, N
                                 # m s]
    const int32_t* moving              # the bodies that are neither static nor asleep, ascending
    Py_ssize_t moving_count
