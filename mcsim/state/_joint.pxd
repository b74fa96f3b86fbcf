"""The records of joints and their axes. `fields.py` gives the same records as NumPy dtypes; a test compares every
offset."""

from libc.stdint cimport int32_t
from mcsim.core._types cimport Quat, Twist, Vec3

# An axis that is turned over against another is taken to lean by one part in so many: less is rounding.
cdef enum:
    LEAN = 1000000


cdef enum:
    JOINT_AXES = 6               # most free coordinates of a joint

cdef enum MotorMode:
    MOTOR_NONE = 0
    MOTOR_VELOCITY = 1
    MOTOR_POSITION = 2
    MOTOR_PD = 3                 # a bounded spring and damper, constraints/_spring_law.pxd

# A coordinate that is prescribed as a function of time.
cdef enum MotionMode:
    MOTION_NONE = 0
    MOTION_FORMULA = 1
    MOTION_FUNCTION = 2

# What an axis may carry, in the order of its impulses. A prescribed motion's is kept where a motor's would be.
cdef enum:
    AXIS_LOWER = 0
    AXIS_UPPER = 1
    AXIS_MOTOR = 2
    AXIS_SPRING = 3
    AXIS_FRICTION = 4
    AXIS_ARMATURE = 5
    AXIS_ROWS = 6

# In which of the two ways along its coordinate a spring may act.
cdef enum SpringActs:
    SPRING_BOTH = 0
    SPRING_PULL = 1              # its force, with that of its damper, is never above zero
    SPRING_PUSH = 2              # never below

# One free coordinate of a joint [rad or m].
ctypedef struct JointAxis:
    double position              # measured: an angle counts its turns
    double velocity
    double lower                 # -inf = none
    double upper                 # +inf = none
    double motor_velocity
    double motor_position
    double motor_max_force       # [N or N m]
    double motor_hertz
    double motor_damping_ratio
    double motor_kp              # [N/m or N m/rad]
    double motor_kd              # [N s/m or N m s/rad]
    double motor_max_velocity    # of a motor for a position, +inf = none [m/s or rad/s]
    double stiffness             # [N/m or N m/rad]
    double damping               # [N s/m or N m s/rad]
    double rest
    double friction              # [N or N m]
    double armature              # inertia of a rotor that goes with the coordinate [kg or kg m2]
    double moved                 # of a spring's coordinate in this step: the inverse of the inertia that it moves, with
                                 # what joints make go along; 0: not known, that of its two bodies [1/kg, 1/(kg m2)]
    double impulse[6]            # of the last substep, by AXIS_... [N s or N m s]
    int32_t motor_mode
    int32_t has_spring
    double motion[6]             # formula: position, velocity, acceleration, amplitude, frequency [Hz], phase [rad];
                                 # function: its position, velocity, acceleration at Settings.time
    int32_t motion_mode
    int32_t spring_acts          # SpringActs

cdef inline bint has_rotor(const JointAxis* axis) noexcept nogil:
    """Whether its armature acts by a row, but of a tree's joint. A lighter one has none: its compliance would be no
    number."""
    return axis.armature > 1e-100


cdef enum:
    MOST_ASKED = 8               # steps after which it is asked anew whether bounded rows are held

ctypedef struct Joint:
    int32_t type
    int32_t body_a
    int32_t body_b
    int32_t axis_count
    int32_t row_begin            # its rows in the row array
    int32_t row_count
    int32_t constraint_count     # how many of them are the joint itself: the last ones, one block
    int32_t active_limits        # bit 2i, 2i + 1: lower, upper limit of axis i; bit 12: swing limit
    Vec3 anchor_a                # joint frame on a: origin from a's centre of mass, a's axes [m]
    Quat basis_a                 # joint axes -> a's axes
    Vec3 anchor_b
    Quat basis_b
    double swing_limit           # ball only, +inf = none [rad]
    double swing_impulse         # [N m s]
    double impulse[6]            # of the constraint rows, last substep, to start the next with [N s, N m s]
    Twist wrench_impulse         # all rows of the last substep on b: linear, and angular about the joint point, world
    JointAxis axes[6]
    double constant              # screw: pitch [m/rad]; rack: radius [m]; distance: a rod's length [m], else +inf;
                                 # gear: what q_a + ratio q_b is
    double break_force           # +inf = none [N]
    double break_torque          # about the joint point, +inf = none [N m]
    int32_t broken               # 1: gives no rows any more; 2: none while a body of it is not enabled
    int32_t breakable            # 1: one of the two bounds is finite
    double radius                # rolling: of the sphere or disc [m]
    int32_t disc                 # rolling: 1 a disc about the joint's z on b, 0 a sphere
    int32_t user                 # number among the joints of the user's own
    double ratio                 # gear
    int32_t geared[2]            # gear: numbers of the two joints, less than its own
    int32_t geared_axis[2]       # gear: which coordinate of each
    int32_t user_size            # rows of a user's own joint
    int32_t held                 # of an articulation's first joint with bounded rows: in so many steps it is asked anew
                                 # whether these are held (solve/_held.pyx), negative: they are until then
    double length                # twice the longest lever, or radius of gyration, of those of its bodies that move: as what
                                 # way a radian counts where its rows are weighed against each other [m]
    double push[2]               # how fast its rows are closed, and pushed back from limits, at most [m/s, rad/s]
    int32_t locks                # lock: bit i: b does not slide along axis i of a, bit 3 + i: does not turn about it
    int32_t folded               # 1: no rows, for the body's inverse mass has the lock in it (step/_locked_bodies.pyx)

cdef inline bint has_rotors(const Joint* joint) noexcept nogil:
    """Whether any of its coordinates has one."""
    cdef int i
    for i in range(joint.axis_count):
        if has_rotor(&joint.axes[i]):
            return True
    return False


# One row of a user's own joint, six a joint, as its Python functions give it at the present poses.
ctypedef struct UserRow:
    double error                 # C [m or rad]
    double curvature             # J' v along the present twists [m/s2]
    double jacobian[12]
