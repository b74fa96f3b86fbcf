"""The records of a world in memory. `fields.py` gives the same records as NumPy dtypes; a test compares every offset.

Indices are into the arrays of their kind in the order in which the user added them. Body -1 is the world: every body
array has one row before its first (position 0, identity, no velocity, inverse mass 0), so kernels need no branch for it.
"""

from libc.stdint cimport int8_t, int32_t, int64_t, uint64_t
from mcsim.core._types cimport Vec3, Quat, Mat3, Twist
from mcsim.state._joint_types cimport *         # numbers of types; setup.py writes them
from mcsim.state._shape_types cimport *

# ---- bodies: struct of arrays, all views of NumPy memory -------------------------------------------------------------

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
    Mat3* inertia                # about the centre of mass, body axes [kg m2]
    Mat3* inv_inertia            # body axes, 0 unless dynamic
    Mat3* inv_inertia_world      # world axes at the present orientation
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

# ---- shapes ----------------------------------------------------------------------------------------------------------

ctypedef struct Shape:
    int32_t type
    int32_t body
    int32_t group                # collide if each one's group is in the other's mask
    int32_t mask
    int32_t hull                 # -1 unless HULL
    int32_t sensor               # 1: it reports what comes into it, and does not collide
    Vec3 size                    # [m], as its kernel file has it: collide/shapes/_NAME.pxd
    Vec3 position                # shape frame in the body's axes, from the centre of mass [m]
    Quat orientation             # shape axes -> body axes
    double friction
    double restitution
    double rolling_friction      # [m]
    double torsional_friction    # [m]
    Vec3 surface_velocity        # of the surface against the body, shape axes [m/s]
    int32_t surface              # -1 unless MESH or HEIGHT_FIELD
    int32_t reserved
    double stiffness             # under contact="compliant" [N/m], 0 = rigid
    double damping               # [N s/m], or a factor [s/m]: constraints/_compliant.pyx
    double tangential_stiffness
    double tangential_damping

# A hull's faces are convex polygons, counter-clockwise seen from outside. Offsets are into shared pools:
# vertices (v, 3), face plane normals (f, 3) and offsets (f,), face_begin (f + 1 absolute offsets into face_index),
# face_index (vertex numbers counted from vertex_begin), edges (e, 2) (vertex numbers counted from vertex_begin).
ctypedef struct Hull:
    int32_t vertex_begin
    int32_t vertex_count
    int32_t face_begin
    int32_t face_count
    int32_t edge_begin
    int32_t edge_count
    double radius                # of the sphere about the shape frame's origin that holds every vertex [m]

# ---- contact manifolds -----------------------------------------------------------------------------------------------

cdef enum:
    MANIFOLD_POINTS = 4

ctypedef struct ManifoldPoint:
    Vec3 position                # world, midway between the two surfaces [m]
    double separation            # along the normal, negative = overlap [m]
    double normal_impulse        # of the last substep: the next warm start [N s]. Compliant: the surface's state instead,
                                 # how far it is pressed in [m], negative while it bears (constraints/_compliant.pyx)
    double total_normal_impulse  # summed over the last step [N s]
    Vec3 friction_impulse        # of the last substep, on b, world axes [N s] (friction_points="point"). Compliant: how
                                 # far the surface is dragged along, b's way against a [m]
    Vec3 total_friction_impulse  # summed over the last step, on b, world axes [N s]
    uint64_t feature             # which features of the two shapes made the point: equal from step to step
    double share                 # of b's motion in the point's own as the two move past each other: 1 where b carries it
                                 # (collide/_carrying.pxd)
    double cross[3]              # where two edges cross (unless a vertex made the point, of_vertex), what comes to the
                                 # share: (x, y; z, -x) of b's way along the tangents, perpendicular(normal) and normal
                                 # x that

# What a manifold was made from, so that its points serve again while the two solids hardly move against each other.
ctypedef struct ManifoldOrigin:
    double limit                 # the separation up to which points were looked for [m]
    Quat turn                    # b's axes in those of a
    Vec3 offset                  # b's position in a's axes, from a's position [m]
    double spots[3][4]           # x, y, z of the points, likewise [m]
    double gaps[4]               # their separations [m]
    double sign                  # of the normal along its axis
    int32_t axis                 # 0-2 face of a, 3-5 face of b, 6 + 3 i + j edge i of a x edge j of b
    int32_t reserved

# A record is a whole number of cache lines, and arrays of them begin on one: what is read of a manifold of one point fills
# the first four lines, and what collide/_events.pxd reads of it the third.
ctypedef struct Manifold:
    uint64_t key                 # shape_a << 32 | shape_b; the array is sorted by it, then by part
    int32_t shape_a
    int32_t shape_b
    int32_t body_a
    int32_t body_b
    int32_t row_begin            # its rows in the row array
    int32_t turns                # what its normal goes with as the two move past each other (Turns in
                                 # _contact_reference.pxd)
    double allowance             # square of the relative motion up to which `origin` serves [m2], 0 = not at all
    Vec3 normal                  # from a to b, world
    double friction              # combined coefficient
    double restitution           # combined
    double rounding_a            # radius to which the surface is round at the contact, 0 = flat or a corner [m]
    double rounding_b
    Vec3 friction_impulse        # of the last substep, on b, world axes [N s] (friction_points="central"). Compliant:
                                 # x, what the surfaces hold or have turned into heat [J]; y, at which poses
                                 # (_compliant.pyx)
    double twist_impulse         # about the normal, of the last substep [N m s]
    int32_t part                 # number among the manifolds of one pair
    int32_t sheet                # which connected part of a surface, counted from 1, negative: its back; else 0
    int32_t touching             # after the last step, see collide/_events.pxd
    int32_t point_count
    ManifoldPoint points[4]
    ManifoldOrigin origin
    Vec3 rolling_impulse         # about the tangents, on b, world axes, of the last substep [N m s]. Only where some shape
                                 # of the world resists (Resistance) is it written, and read
    Vec3 line                    # the direction that a turning normal stays at right angles to, 0: none; or a rim's
                                 # axis. It and the next are written, and read, only where `turns` asks for them
    Vec3 line_b                  # where edges cross, that of b
    double size                  # of the thinner of the two shapes, the unit of the lengths and speeds that follow from
                                 # them [m]
    double near                  # from which separation on the pair has contacts (Nearness) [m]
    double thinning              # what the stiffness of its soft rows is multiplied by: 1, or 4 / n in a patch of n > 4
                                 # points (collide/_patch.pxd)
    double load                  # [m/s] that its normal impulse of a substep gives the two, the mean of some last
                                 # steps; only where contacts are solved several at a time (wide/_blocks.pxd)

# What the friction of a manifold does beyond Coulomb's, made anew in every step. Few scenes have any, so it stands apart,
# beside the manifold of the same number.
ctypedef struct Resistance:
    double rolling               # combined coefficients [m]
    double torsional
    Vec3 surface_velocity        # of b's surface against its body less that of a's, world axes [m/s]

# ---- joints ----------------------------------------------------------------------------------------------------------

# An axis that is turned over against another is taken to lean by one part in so many: less is rounding.
cdef enum:
    LEAN = 1000000


cdef enum:
    JOINT_AXES = 6               # most free coordinates of a joint

cdef enum MotorMode:
    MOTOR_NONE = 0
    MOTOR_VELOCITY = 1
    MOTOR_POSITION = 2

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
    AXIS_ROWS = 5

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
    double stiffness             # [N/m or N m/rad]
    double damping               # [N s/m or N m s/rad]
    double rest
    double friction              # [N or N m]
    double impulse[5]            # of the last substep, by AXIS_... [N s or N m s]
    int32_t motor_mode
    int32_t has_spring
    double motion[6]             # formula: position, velocity, acceleration, amplitude, frequency [Hz], phase [rad];
                                 # function: its position, velocity, acceleration at Settings.time
    int32_t motion_mode
    int32_t reserved

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
    int32_t broken               # 1: gives no rows any more
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

# One row of a user's own joint, six a joint, as its Python functions give it at the present poses.
ctypedef struct UserRow:
    double error                 # C [m or rad]
    double curvature             # J' v along the present twists [m/s2]
    double jacobian[12]

# ---- where a contact acts: kept from the start of a step, four a manifold, its points ----------------------------------

ctypedef struct Anchor:
    Vec3 local_a                 # the rounding's centre behind the point on a's surface, from a's centre, a's axes [m]
    Vec3 local_b
    double weight                # of the point in the manifold's centre
    double lift                  # along the normal, from the surface of the body that carries the point [m]

cdef enum:
    MANIFOLD_ANCHORS = 5         # of four points, and what the normal goes with on the two, in their axes

# ---- rows ------------------------------------------------------------------------------------------------------------

cdef enum RowKind:
    ROW_JOINT = 0            # bilateral: what the joint forbids
    ROW_LIMIT = 1
    ROW_MOTOR = 2
    ROW_SPRING = 3
    ROW_JOINT_FRICTION = 4
    ROW_NORMAL = 5           # contact, along the normal
    ROW_FRICTION = 6         # contact, tangential: two rows in one block under a cone, or two single ones (pyramid)
    ROW_TWIST = 7            # contact, friction about the normal
    ROW_ROLLING = 8          # contact, friction about the tangents: two rows, as of ROW_FRICTION

# How a block of consecutive rows is solved. `block` is the number of rows in the first row of a block, 0 in the others.
cdef enum BlockKind:
    BLOCK_BOUNDED = 0        # one row, lower <= impulse <= upper
    BLOCK_BILATERAL = 1      # up to six rows without bounds, solved together
    BLOCK_CONE = 2           # two rows, |impulse| <= friction * sum of the normal impulses; or three, two along the
                             # tangents and one about the normal, on one limit surface
    BLOCK_FRICTION = 3       # one row, |impulse| <= friction * sum of (lever * normal impulse)
    BLOCK_TREE = 4           # bilateral rows that the direct joint solver takes: sweeps pass them by
    BLOCK_WIDE = 5           # two rows, one constraint over two pairs of bodies: J v is the sum, the impulse is one.
                             # Error,
                             # bias, compliance, mass and diagonal of the whole stand in the first; the second's are 0
    BLOCK_BORDER = 6         # one row, or a wide one, that is taken with the direct joint solver, beside its tree
    BLOCK_HELD = 7           # as BLOCK_BOUNDED, solved with the joints in it (solve/_held.pyx): sweeps pass it by

# Which of a row's two biases, compliances and masses.
cdef enum:
    BIASED = 0
    RELAXED = 1

# One scalar constraint  J v + bias + compliance * impulse = 0 (or >= 0 against a bound):
#     delta = -mass * (J v + bias + compliance * impulse),   mass = 1 / (diagonal + compliance),   diagonal = J M^-1 J'
# with separate bias, compliance and mass for the biased pass [0] and the relax pass [1].
ctypedef struct Row:
    int32_t body_a
    int32_t body_b
    int32_t block
    int32_t block_kind
    double jacobian[12]          # of (twist of a, twist of b)
    double inv_mass_jacobian[12]  # M^-1 J'
    double bias[2]
    double compliance[2]
    double mass[2]
    double lower
    double upper
    double impulse               # accumulated over the substep [N s or N m s]
    double diagonal
    double coupling              # in the first row of a cone: J_0 M^-1 J_1'; wide: J M^-1 J' with the two joints
                                 # holding; of a normal row: the manifold's thinning
    double friction              # coefficient; of rolling rows [m]
    double lever                 # of a normal row: what the twist row weighs its impulse by; of a twist row under a limit
                                 # surface: the coefficient of torsional friction [m]
    double offset[2]             # of a normal row: where its point is from the manifold's centre, along the tangents [m]
    double share[2]              # and, under a limit surface, the point's own friction; of a twist row the part that is
                                 # about the normal alone (solve/_limit_surface.pxd) [N s, N m s]
    int32_t normal_begin         # friction rows: the normal rows they hang on (index into the row array)
    int32_t normal_count
    int32_t kind
    int32_t source               # joint or manifold number
    int32_t index                # which constraint, axis or point of the source
    int32_t stabilized           # 1: `error` is a position error that a stabilization may remove
    double error                 # C [m or rad]
    double restitution
    double kick                  # what half a substep of gravity and forces adds to a normal row's velocity [m/s]
    double carry                 # impulse that comes back before the relax pass [N s or N m s]
    double curvature             # d2C/dt2 of the free drift: J' v + J a with a of the gyroscopic torque [m/s2]
    double rate                  # joint rows: what time itself adds to dC/dt, which is J v + rate [m/s]
    double size                  # contact rows: of the manifold [m]
    double push                  # how fast an error is pushed back at most [m/s, rad/s]

# One of a joint's own rows as the direct solver keeps it: J = [-linear, -angular_a, linear, angular_b] of (twist of a,
# twist of b); spin_a, spin_b = I^-1 angular_a, I^-1 angular_b of the two bodies.
ctypedef struct JointRow:
    Vec3 linear
    Vec3 angular_a
    Vec3 angular_b
    Vec3 spin_a
    Vec3 spin_b

# The joints' own rows of a world, joint by joint: those of joint j are begin[j] ... begin[j + 1] of every array.
ctypedef struct JointRows:
    Py_ssize_t joint_count
    Py_ssize_t count
    int32_t* begin
    int32_t* awake               # the joints whose bodies do not sleep, ascending; all others are let be
    Py_ssize_t awake_count
    int32_t* alone               # those of them that are in no batch (wide/_batches.pxd)
    Py_ssize_t alone_count
    int32_t* run                 # numbers in use: run[2 i] ... run[2 i + 1] each; those of batches behind the joints' own
    Py_ssize_t run_count
    JointRow* row
    double* error                # C at the start of the drift [m or rad]; of a row for velocities alone 1/2 d2C/dt2
    double* rate                 # what time itself adds to dC/dt, which is J v + rate [m/s or rad/s]
    double* bias                 # of J v + bias = 0
    double* impulse              # accumulated over the substep [N s or N m s]
    double* second               # that part of it which came after the drift

# ---- settings that kernels read --------------------------------------------------------------------------------------

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
    INTEGRATE_RK4 = 1
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
    int32_t smooth_projection    # rk4: 1 = project poses and velocities after each substep
    double rate_gain             # rk4: J a = -J' v - rate_gain J v - error_gain C, [1/s]
    double error_gain            # [1/s^2]
    int32_t threads
    size_t user_rows             # address of the UserRow records
    int32_t compliant            # 1: contact="compliant"
    int32_t hunt_crossley        # its law, else linear
