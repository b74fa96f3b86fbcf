"""Where a joint's two frames are in the world, and its free coordinates there."""

from mcsim.core._types cimport Quat, Vec3

ctypedef struct JointFrames:
    Vec3 point_a           # the joint point as a carries it, world [m]
    Vec3 point_b
    Vec3 arm_a             # from a's centre of mass to point_b, world axes [m]
    Vec3 arm_b
    Vec3 offset            # point_b - point_a
    Vec3 axis_a[3]         # joint axes x, y, z as a carries them, world
    Vec3 axis_b[3]
    double tilt[2]         # z_b . x_a, z_b . y_a; with the two below 2 tan(t / 2) along where z_b is tilted by t
    double rise            # 2 / (1 + z_a . z_b), 1 where the axes are parallel
    double bend            # minus its derivative by z_a . z_b
    Quat relative          # joint axes on b seen from those on a, w >= 0
    Vec3 way               # how far b is expected to have turned against a since its angles were last known, world [rad]
    Vec3 spin_a            # angular velocities, world [rad/s]
    Vec3 spin_b
    Vec3 slip              # velocity of b minus that of a, both at point_b [m/s]
    Vec3 gyro_a            # angular acceleration of the free body, -I^-1 (w x I w) [rad/s2]
    Vec3 gyro_b


# One free coordinate of a joint. Motor, spring and friction act along `axis`; limits along `limit_axis` (they differ only
# for the ball, whose twist limit is not a component of its rotation vector).
ctypedef struct AxisGeometry:
    Vec3 axis              # world
    Vec3 limit_axis
    double position        # measured in one turn [rad or m]
    double limit_position
    double motor_error     # position - target
    double spring_error    # position - rest
    double motor_rate      # what turning adds to their rates, beside that about `axis`: of a rotation vector's [rad/s]
    double spring_rate
    int linear             # 1 sliding, 0 turning
