"""Jolt's samples of constraints."""

import math

import numpy as np

import mcsim as mc
from mcsim.samples.parts import G, X, Y, Z, box, cube, heights, lean, rod, turned
from mcsim.samples.registry import sample

SOURCE = "Jolt, Samples/Tests/Constraints"


def chain(make, count=10, length=1.0, **world):
    """A world of capsules in a row along x, each joined to the one before, the first to the world, by make(a, b, point)."""
    scene, before = mc.Scene(), None
    for k in range(count):
        half = length / 2
        scene.add_body(
            f"link{k}", shape=rod((-0.6 * half, 0, 0), (0.6 * half, 0, 0), 0.1), position=(half + k * length, 0, 20)
        )
        scene.add_joint(make(before, f"link{k}", (k * length, 0, 20)))
        before = f"link{k}"
    return mc.World(scene, **world)


def swing_down(play, world, seconds=5.0):
    """Play a chain that is released level: no energy comes from nowhere, and it swings below its point."""
    energy, scale = world.energy().total, world.masses.sum() * G * 5.0
    lowest = np.inf
    for _ in play.steps(world, seconds):
        lowest = min(lowest, world.positions[-1, 2])
    play.between("energy won over its scale", (world.energy().total - energy) / scale, upper=0.01)
    play.between("the end swings down to", lowest, 20 - len(world.bodies) - 0.1, 20 - 0.8 * len(world.bodies), unit="m")


@sample("jolt/constraints/point", title="Point Constraint", source=SOURCE)
def point(play):
    """Ten links on ball joints swing down, and no joint opens."""
    swing_down(play, chain(lambda a, b, p: mc.BallJoint(a, b, p)))


@sample("jolt/constraints/hinge", title="Hinge Constraint", source=SOURCE)
def hinge(play):
    """Ten links on hinges swing down in their plane."""
    world = chain(lambda a, b, p: mc.HingeJoint(a, b, p, Y))
    swing_down(play, world)
    play.expect("none leaves the plane", world.positions[:, 1], 0.0, within=1e-6, unit="m")


@sample("jolt/constraints/hinge_limits", title="Hinge Constraint", source=SOURCE)
def hinge_limits(play):
    """Ten links on hinges with limits of ten degrees hang in a bow: those above the vertical lie on their limits."""
    most = math.radians(10)
    world = chain(lambda a, b, p: mc.HingeJoint(a, b, p, Y, limits=(-most, most), friction=1.0))
    play(world, 20.0)
    angles = np.array([joint.angle for joint in world.joints])
    play.expect("the first eight angles", angles[:8], most, within=1e-6, unit="rad")
    play.between("the largest", np.abs(angles).max(), 0.0, most + 1e-6, unit="rad")
    play.between("fastest", np.abs(world.velocities).max(), 0.0, 1e-3, unit="m/s")


@sample("jolt/constraints/joint_friction", title="Swing Twist Friction", source=SOURCE)
def joint_friction(play):
    """Friction of five times what the first of ten joints bears holds a row of links out level."""
    world = chain(lambda a, b, p: mc.BallJoint(a, b, p, friction=60_000.0))
    play(world, 10.0)
    play.expect("heights", heights(world, "link"), 20.0, within=1e-6, unit="m")
    bears, weight = np.linalg.norm(world.joints[0].torque), world.masses.sum() * G
    play.expect("what the first one bears", bears, 5 * weight, within=1e-6 * weight, unit="N m")


@sample("jolt/constraints/slider", title="Slider Constraint", source=SOURCE)
def slider(play):
    """Ten boxes, each on a slider along x on the one before, keep their height: a slider bears what is across it."""
    world = chain(lambda a, b, p: mc.SliderJoint(a, b, X, limits=(-0.5, 0.5)))
    play(world, 3.0)
    play.expect("heights", heights(world, "link"), 20.0, within=1e-5, unit="m")
    play.expect("they have not turned", world.orientations[:, 0], 1.0, within=1e-9)


@sample("jolt/constraints/fixed", title="Fixed Constraint", source=SOURCE)
def fixed(play):
    """Ten links that are fixed to each other stand out level, as a beam."""
    world = chain(lambda a, b, p: mc.FixedJoint(a, b, p))
    play(world, 3.0)
    play.expect("heights", heights(world, "link"), 20.0, within=1e-5, unit="m")
    bending = world.joints[0].torque
    weight = world.masses.sum() * G * 5.0
    play.expect("torque at the wall over the beam's", np.linalg.norm(bending) / weight, 1.0, within=1e-3)


@sample("jolt/constraints/distance", title="Distance Constraint", source=SOURCE)
def distance(play):
    """Balls on ropes of 2 to 4 m, released 1 m apart, fall until their ropes are taut, and stay within their lengths."""
    scene, before = mc.Scene(), None
    for k in range(10):
        scene.add_body(f"ball{k}", shape=mc.Sphere(0.2), position=(1.0 + k, 0, 30), linear_damping=0.3)
        scene.add_joint(mc.DistanceJoint(before, f"ball{k}", (k, 0, 30), (1.0 + k, 0, 30), limits=(None, 2 + 0.2 * k)))
        before = f"ball{k}"
    world = mc.World(scene)
    longest = np.zeros(10)
    for _ in play.steps(world, 40.0):
        longest = np.maximum(longest, [joint.position for joint in world.joints])
    play.between("longest over the rope", longest - (2 + 0.2 * np.arange(10)), upper=0.02, unit="m")
    hung = 30 - np.cumsum(2 + 0.2 * np.arange(10))
    play.expect("they hang at last", heights(world, "ball"), hung, within=0.5, unit="m")


@sample("jolt/constraints/constraint_singularity", title="Constraint Singularity", source=SOURCE)
def constraint_singularity(play):
    """Pairs of boxes are joined turned by any angle up to 180 degrees, and hold: a hinge knows no worst pose."""
    scene = mc.Scene(gravity=(0, 0, 0))
    for k in range(20):
        turn = turned((0, 1, 1), 18.0 * k)
        scene.add_body(f"a{k}", shape=cube(1.0), position=(4 * k, 0, 0))
        scene.add_body(f"b{k}", shape=cube(1.0), position=(4 * k + 1.5, 0, 0), orientation=turn)
        scene.add_joint(mc.HingeJoint(f"a{k}", f"b{k}", (4 * k + 0.75, 0, 0), Y))
    world = mc.World(scene)
    for k in range(20):
        world.apply_impulse(f"b{k}", (0, 300, 500.0), (4 * k + 2.0, 0, 0))
    p, angular = world.momentum()
    play(world, 3.0)
    now, turning = world.momentum()
    play.between("hinges that have turned", np.abs([joint.angle for joint in world.joints]), 0.1, unit="rad")
    play.expect("momentum", now, p, within=1e-6, unit="kg m/s")
    play.expect("angular momentum over its size", (turning - angular) / np.linalg.norm(angular), 0.0, within=1e-6)


@sample("jolt/constraints/swing_twist", title="Swing Twist Constraint", source=SOURCE)
def swing_twist(play):
    """Ten links with limits of swing and twist swing down and keep to both."""
    swing, twist = math.radians(45), math.radians(10)
    world = chain(lambda a, b, p: mc.BallJoint(a, b, p, axis=X, swing_limit=swing, twist_limits=(-twist, twist)))
    for k in range(10):
        world.set_velocity(f"link{k}", angular_velocity=(3.0, 0, 0))
    far = np.zeros(2)
    for _ in play.steps(world, 5.0):
        for joint in world.joints:
            v = np.asarray(joint.position)
            q = mc.rotation.from_rotation_vector(v)
            twisted = 2 * math.atan2(q[3], q[0])
            bent = 2 * math.acos(min(1.0, math.hypot(q[0], q[3])))
            far = np.maximum(far, (bent, abs((twisted + math.pi) % (2 * math.pi) - math.pi)))
    play.between("swing", far[0], upper=swing + 0.02, unit="rad")
    play.between("twist", far[1], 0.5 * twist, twist + 0.02, unit="rad")


@sample("jolt/constraints/six_dof", title="Six DOF Constraint", source=SOURCE)
def six_dof(play):
    """A body on a six-DOF joint is pushed along and turned about each axis, and goes as far as that axis's limit."""
    scene = mc.Scene(gravity=(0, 0, 0))
    limits = [(-0.5, 1.0), (-0.25, 0.5), (-1.0, 2.0), None, None, (-0.6, 0.9)]
    scene.add_body("body", shape=cube(1.0), linear_damping=1.0, angular_damping=1.0)
    scene.add_joint(mc.FreeJoint(None, "body", limits=limits, swing_limit=0.4))
    world = mc.World(scene)
    for axis in (0, 1, 2, 5):
        for side in (-1, 1):
            for _ in play.steps(world, 3.0):
                world.apply_forces([20_000.0 * side * (np.arange(6) == axis) * (1 if axis < 3 else 0.1)])
            play.expect(f"axis {axis}", world.joints[0].position[axis], limits[axis][(side + 1) // 2], within=2e-3)
    for _ in play.steps(world, 3.0):
        world.apply_torque("body", (2000.0, 0, 0))
    play.expect("swing", lean(world, "body"), 0.4, within=2e-3, unit="rad")


@sample("jolt/constraints/six_dof_motors", title="Six DOF Constraint (motors)", source=SOURCE)
def six_dof_motors(play):
    """Motors on the three ways and the twist of a six-DOF joint bring a body to a place, and hold it against gravity."""
    scene = mc.Scene()
    scene.add_body("body", shape=box(1, 2, 0.5), position=(0, 0, 5))
    drives = [mc.Motor(position=p, hertz=2.0) for p in (1.0, -0.5, 0.75)]
    twist = mc.Motor(position=0.8, hertz=2.0)
    still = mc.Motor(position=0.0, hertz=2.0)
    scene.add_joint(mc.FreeJoint(None, "body", (0, 0, 5), motor=[*drives, still, still, twist]))
    world = mc.World(scene)
    play(world, 4.0)
    play.expect("place", world.body("body").position, (1.0, -0.5, 5.75), within=2e-3, unit="m")
    play.expect(
        "turn", mc.rotation.to_rotation_vector(world.body("body").orientation), (0, 0, 0.8), within=2e-3, unit="rad"
    )


@sample("jolt/constraints/gear", title="Gear Constraint", source=SOURCE)
def gear(play):
    """Two gears of 3 : 1: what turns the small one turns the large one a third as fast, and the other way."""
    scene = mc.Scene(gravity=(0, 0, 0))
    for k, (x, r) in enumerate(((0.0, 0.5), (2.0, 1.5))):
        scene.add_body(f"gear{k}", shape=mc.Cylinder(r, 0.1), position=(x, 0, 0), collision_mask=0)
        scene.add_joint(mc.HingeJoint(None, f"gear{k}", (x, 0, 0), Z, name=f"axle{k}"))
    scene.add_joint(mc.GearJoint("axle0", "axle1", 3.0))
    world = mc.World(scene)
    for _ in play.steps(world, 2.0):
        world.apply_torque("gear0", (0, 0, 20.0))
    i, j = (world.bodies[k].inertia[2, 2] for k in range(2))
    rate = 20.0 / (i + j / 9) * 2.0
    play.expect("rate of the small one", world.joint("axle0").velocity, rate, within=1e-3 * rate, unit="rad/s")
    play.expect("rate of the large one", world.joint("axle1").velocity, -rate / 3, within=1e-3 * rate, unit="rad/s")


@sample("jolt/constraints/rack_and_pinion", title="Rack And Pinion Constraint", source=SOURCE)
def rack_and_pinion(play):
    """A pinion of 0.5 m that is turned at 2 rad/s drives a rack at 1 m/s."""
    scene = mc.Scene(gravity=(0, 0, 0))
    scene.add_body("rack", shape=box(6, 0.2, 0.2), position=(0, -0.6, 0), collision_mask=0)
    scene.add_body("pinion", shape=mc.Cylinder(0.5, 0.1), collision_mask=0)
    scene.add_joint(mc.SliderJoint(None, "rack", axis=X, name="slide"))
    scene.add_joint(mc.HingeJoint(None, "pinion", (0, 0, 0), Z, motor=mc.Motor(velocity=2.0), name="axle"))
    scene.add_joint(mc.RackPinionJoint("rack", "pinion", (0, 0, 0), rack_axis=X, pinion_axis=Z, radius=0.5))
    world = mc.World(scene)
    play(world, 2.0)
    play.expect("turn", world.joint("axle").angle, 4.0, within=1e-3, unit="rad")
    play.expect("way", abs(world.joint("slide").position), 2.0, within=1e-3, unit="m")


@sample("jolt/constraints/constraint_priority", title="Constraint Priority", source=SOURCE)
def constraint_priority(play):
    """Nineteen links on fixed joints hold a ball of 50 times a link's mass level, however they are numbered."""
    found = []
    for order in (1, -1):
        scene = mc.Scene()
        for k in range(19)[::order]:
            scene.add_body(f"link{k}", shape=box(1, 0.5, 0.5), position=(k + 0.5, 0, 5))
        for k in range(19)[::order]:
            scene.add_joint(mc.FixedJoint(f"link{k - 1}" if k else None, f"link{k}", (k, 0, 5)))
        scene.add_body("ball", shape=mc.Sphere(1.0), position=(20, 0, 5), mass=12_500.0)
        scene.add_joint(mc.FixedJoint("link18", "ball", (19, 0, 5)))
        world = mc.World(scene)
        play(world, 3.0)
        found.append(world.body("ball").position[2])
    play.expect("heights of the ball", found, 5.0, within=1e-4, unit="m")
    # After the second world, whose joints stand in the order from the ball to the wall.
    weight = world.masses.sum() * G
    play.expect("force at the wall", np.linalg.norm(world.joints[18].force), weight, within=1e-3 * weight, unit="N")


@sample("jolt/constraints/constraint_vs_com_change", title="Constraint vs COM Change", source=SOURCE)
def constraint_vs_com_change(play):
    """A box hangs from a hinge; its shape is changed so that its centre of mass moves, and the hinge holds."""
    scene = mc.Scene()
    scene.add_body("box", shape=box(2, 1, 1), position=(1, 0, 5), angular_damping=3.0)
    scene.add_joint(mc.HingeJoint(None, "box", (0, 0, 5), Y))
    world = mc.World(scene)
    play(world, 15.0)
    play.expect("it hangs below", world.body("box").position, (0, 0, 4), within=0.01, unit="m")
    world.set_shape("box", [box(2, 1, 1), box(1, 1, 3, position=(1, 0, 1))])
    far = np.linalg.norm(world.body("box").position - (0, 0, 5))
    play(world, 20.0)
    play.expect("its new centre hangs below", world.body("box").position, (0, 0, 5 - far), within=0.01, unit="m")


@sample("jolt/constraints/spring", title="Spring", source=SOURCE)
def spring(play):
    """Balls on springs of 0.5 to 2 hertz hang g/(2 pi f)² lower than unloaded, and swing with their frequencies."""
    scene, f = mc.Scene(), np.linspace(0.5, 2.0, 10)
    mass = 50.0
    for k in range(10):
        place = (2 * k, 0, 8)
        law = mc.Spring(mass * (2 * math.pi * f[k]) ** 2)
        scene.add_body(f"ball{k}", shape=mc.Sphere(0.3), position=place, mass=mass)
        scene.add_joint(mc.DistanceJoint(None, f"ball{k}", (2 * k, 0, 10), place, length=2.0, spring=law))
    world = mc.World(scene, dt=1 / 240)
    paths = np.array([world.positions[:, 2].copy() for _ in play.steps(world, 10.0)])
    sag = G / (2 * math.pi * f) ** 2
    play.expect("lowest over twice the sag", (8 - paths.min(axis=0)) / (2 * sag), 1.0, within=0.01)
    falls = [np.diff(np.flatnonzero((p[:-1] > 8 - s) & (p[1:] <= 8 - s))).mean() / 240 for p, s in zip(paths.T, sag)]
    play.expect("periods times frequencies", falls * f, 1.0, within=0.01)


@sample("jolt/constraints/powered_hinge", title="Powered Hinge Constraint", source=SOURCE)
def powered_hinge(play):
    """A hinge's motor turns a bar at 25 degrees a second, then to an angle of 90 degrees."""
    scene = mc.Scene()
    scene.add_body("bar", shape=box(4, 0.5, 0.5), position=(2, 0, 5))
    scene.add_joint(mc.HingeJoint(None, "bar", (0, 0, 5), Y, motor=mc.Motor(velocity=math.radians(25)), name="hinge"))
    world = mc.World(scene)
    play(world, 2.0)
    play.expect("angle", math.degrees(world.joint("hinge").angle), 50.0, within=0.5, unit="degrees")
    world.joint("hinge").set_motor(mc.Motor(position=math.radians(90), hertz=2.0, damping_ratio=1.0))
    play(world, 4.0)
    play.expect("angle", math.degrees(world.joint("hinge").angle), 90.0, within=0.1, unit="degrees")


@sample("jolt/constraints/powered_slider", title="Powered Slider Constraint", source=SOURCE)
def powered_slider(play):
    """A motor of bounded force pushes a box of 1 t along a slider: its force, less friction, over its mass is the rate."""
    scene = mc.Scene()
    scene.add_body("box", shape=cube(1.0), position=(0, 0, 5))
    motor = mc.Motor(velocity=20.0, max_force=5000.0)
    scene.add_joint(mc.SliderJoint(None, "box", axis=X, motor=motor, friction=1000.0, name="slider"))
    world = mc.World(scene)
    play(world, 2.0)
    play.expect("velocity", world.joint("slider").velocity, 2.0 * 4000.0 / 1000.0, within=0.02, unit="m/s")
    play.expect("way", world.joint("slider").position, 4.0 * 2.0**2 / 2, within=0.1, unit="m")
    world.joint("slider").set_motor(mc.Motor(position=3.0, hertz=1.0))
    play(world, 6.0)
    play.expect("at the place", world.joint("slider").position, 3.0, within=0.01, unit="m")


@sample("jolt/constraints/powered_swing_twist", title="Powered Swing Twist Constraint", source=SOURCE)
def powered_swing_twist(play):
    """A motor on a ball joint brings a rod to a rotation and holds it there against gravity."""
    scene = mc.Scene()
    scene.add_body("rod", shape=rod((0, 0, 0), (0, 0, 2), 0.2), position=(0, 0, 5))
    motor = mc.Motor(position=(0.5, -0.3, 0.7), hertz=2.0)
    scene.add_joint(mc.BallJoint(None, "rod", (0, 0, 5), motor=motor))
    world = mc.World(scene)
    play(world, 4.0)
    turn = mc.rotation.to_rotation_vector(world.body("rod").orientation)
    play.expect("rotation", turn, (0.5, -0.3, 0.7), within=2e-3, unit="rad")


@sample("jolt/constraints/pulley", title="Pulley Constraint", source=SOURCE)
def pulley(play):
    """Two weights on a rope over two pulleys are Atwood's machine; with a block of 1 : 2 they go at 2 : 1."""
    for ratio, masses in ((1.0, (60.0, 40.0)), (2.0, (60.0, 40.0))):
        scene, tops = mc.Scene(), (np.array((-1, 0, 10.0)), np.array((1, 0, 10.0)))
        for k, mass in enumerate(masses):
            scene.add_body(f"weight{k}", shape=cube(0.5), position=(2 * k - 1, 0, 5), mass=mass)
        length = 5.0 * (1 + ratio)

        def rope(a, b, tops=tops, ratio=ratio, length=length):
            ends = np.linalg.norm(a.position - tops[0]), np.linalg.norm(b.position - tops[1])
            return [ends[0] + ratio * ends[1] - length]

        scene.add_joint(mc.UserJoint("weight0", "weight1", rope))
        world = mc.World(scene)
        play(world, 0.5)
        m, n = masses
        pull = (m * ratio - n) * G / (m * ratio**2 + n)  # of weight 1 upwards; weight 0 goes down at ratio times that
        play.expect(
            f"rate of weight 1 at {ratio:g}", world.body("weight1").velocity[2], 0.5 * pull, within=0.01, unit="m/s"
        )
        play.expect("weight 0", world.body("weight0").velocity[2], -0.5 * pull * ratio, within=0.01, unit="m/s")


@sample("jolt/constraints/path", title="Path Constraint", source=SOURCE)
def path(play):
    """A bead on a fixed ring of wire of 2 m, released level with its middle, is fastest at the bottom: sqrt(2 g r)."""
    scene, r = mc.Scene(), 2.0
    scene.add_body("bead", shape=mc.Sphere(0.2), position=(r, 0, 5))

    def wire(a, b):
        x, y, z = b.position - (0, 0, 5)
        return np.array([math.hypot(x, z) - r, y])

    scene.add_joint(mc.UserJoint(None, "bead", wire))
    world = mc.World(scene)
    energy, mass = world.energy().total, world.masses[0]
    speeds = [np.linalg.norm(world.velocities[0]) for _ in play.steps(world, 5.0)]
    play.expect("fastest", max(speeds), math.sqrt(2 * G * r), within=0.02, unit="m/s")
    play.expect("energy over m g r", (world.energy().total - energy) / (mass * G * r), 0.0, within=0.01)
    place = world.positions[0] - (0, 0, 5)
    play.expect("on the wire", math.hypot(place[0], place[2]), r, within=1e-5, unit="m")
