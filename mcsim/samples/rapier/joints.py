"""Rapier's samples of joints: the rows and nets of joints3, ropes, springs, motors, a cradle."""

import numpy as np

import mcsim as mc
from mcsim.samples.measure import both, period, watched
from mcsim.samples.parts import G, X, Y, Z, cube, ground
from mcsim.samples.registry import sample

SOURCE = "Rapier, examples3d"


def row(count, joint, gap=1.0, size=0.8, direction=(0.0, 1.0, 0.0), kind=None):
    """A scene of cubes in a row from a fixed point, each joined to the one before by joint(a, b, point between them, k)."""
    scene, way = mc.Scene(), np.array(direction)
    before = None
    for k in range(1, count + 1):
        body = scene.add_body(f"link{k}", shape=cube(size), position=gap * k * way)
        scene.add_joint(joint(before, body, gap * (k - 0.5) * way, k))
        before = body
    return scene


@sample("rapier/joints/prismatic", title="Joints (prismatic)", source=SOURCE)
def prismatic(play):
    """Ten cubes slide on each other along axes 45 degrees to either side, down to limits of 2 m and rest there."""
    axes = [np.array([1.0, 0, 1]) / np.sqrt(2), np.array([-1.0, 0, 1]) / np.sqrt(2)]
    scene = row(10, lambda a, b, p, k: mc.SliderJoint(a, b, axes[k % 2], limits=(-2, 2), name=f"s{k}"))
    world = mc.World(scene)
    play(world, 8.0)
    ways = [joint.position for joint in world.joints]
    play.expect("way of each", ways, -2.0, within=2e-3, unit="m")
    sums = np.cumsum([-2 * axes[k % 2] for k in range(1, 11)], axis=0) + np.outer(np.arange(1, 11), Y)
    play.expect("places", world.positions, sums, within=0.001, unit="m")
    play.between("fastest", np.abs(world.velocities), upper=1e-3, unit="m/s")


@sample("rapier/joints/actuated_prismatic", title="Joints (actuated prismatic)", source=SOURCE)
def actuated_prismatic(play):
    """A slider driven at 2 m/s stops at its limit of 5 m, one is drawn to 2 m by a motor, one sags on a bounded one."""
    scene = mc.Scene()
    motors = [mc.Motor(velocity=2.0), mc.Motor(position=2.0, hertz=1.0), mc.Motor(position=0.0, kp=1000.0, kd=400.0)]
    for k, motor in enumerate(motors):
        scene.add_body(f"box{k}", shape=cube(0.4), position=(2.0 * k, 0, 5))
        scene.add_joint(mc.SliderJoint(None, f"box{k}", Z, limits=(-5, 5), motor=motor, name=f"j{k}"))
    world = mc.World(scene)
    play(world, 1.0)
    play.expect("way at 2 m/s after 1 s", world.joint("j0").position, 2.0, within=1e-3, unit="m")
    t = 2 * np.pi  # of a critically damped motor of 1 Hz after 1 s
    play.expect("way of the oscillator", world.joint("j1").position, 2 * (1 - (1 + t) * np.exp(-t)), within=0.002, unit="m")
    play(world, 9.0)
    ways, mass = [joint.position for joint in world.joints], world.masses[0]
    play.expect("ways at the end", ways, [5.0, 2.0, -mass * G / 1000.0], within=1e-3, unit="m")


@sample("rapier/joints/revolute", title="Joints (revolute)", source=SOURCE)
def revolute(play):
    """Twenty cubes swing as a chain on hinges whose axes turn by 90 degrees from one to the next; both worlds agree."""
    scene = row(20, lambda a, b, p, k: mc.HingeJoint(a, b, p, (X, Z)[k % 2]))
    world = mc.World(scene, dt=1 / 240)
    start = world.energy().total
    play(world, 3.0)
    play.expect(
        "energy lost of that fallen through", (start - world.energy().total) / world.energy().kinetic, 0, within=0.001
    )
    _, apart = both(play, scene, 0.5)
    play.between("distance of the two worlds after 0.5 s", apart, upper=5e-3, unit="m")


@sample("rapier/joints/revolute_with_limits", title="Joints (revolute with limits)", source=SOURCE)
def revolute_with_limits(play):
    """Flaps on hinges with limits of 0.2 and 0.9 rad fall down to them and rest."""
    scene, limits = mc.Scene(), [(-0.2, 0.2), (-0.9, 0.2)]
    for k in range(6):
        scene.add_body(f"flap{k}", shape=mc.Box((1.0, 0.5, 0.05)), position=(1.0, 2.0 * k, 0))
        limit = limits[k % 2]
        scene.add_joint(mc.HingeJoint(None, f"flap{k}", (0, 2.0 * k, 0), (0, -1, 0), limits=limit, name=f"hinge{k}"))
    world = mc.World(scene)
    play(world, 4.0)
    play.expect("angles", [joint.angle for joint in world.joints], [-0.2, -0.9] * 3, within=2e-4, unit="rad")
    play.between("speed", np.abs(world.velocities), upper=1e-6, unit="m/s")


@sample("rapier/joints/fixed", title="Joints (fixed)", source=SOURCE, slow=True)
def fixed(play):
    """A grid of 10 × 10 balls welded to each other and at one corner to the world does not sag, and sleeps."""
    scene = mc.Scene()
    for i, j in np.ndindex(10, 10):
        scene.add_body(f"ball{i}.{j}", shape=mc.Sphere(0.4), position=(i, j, 0))
        for a in [f"ball{i - 1}.{j}"] * (i > 0) + [f"ball{i}.{j - 1}"] * (j > 0) + [None] * (i + j == 0):
            scene.add_joint(mc.FixedJoint(a, f"ball{i}.{j}"))
    world = mc.World(scene)
    play(world, 3.0)
    play.expect("heights", world.positions[:, 2], 0.0, within=1e-4, unit="m")
    force = world.joints[0].force
    play.expect("force at the corner over the weight", force[2] / (world.masses.sum() * G), 1.0, within=1e-3)


@sample("rapier/joints/spherical", title="Joints (spherical)", source=SOURCE)
def spherical(play):
    """A net of 8 × 8 balls, joined to their neighbours and held at one edge, swings down and keeps its energy."""
    scene, n = mc.Scene(), 8
    for i, j in np.ndindex(n, n):
        kind = "static" if i == 0 else "dynamic"
        scene.add_body(f"ball{i}.{j}", shape=mc.Sphere(0.4), position=(i, j, 0), kind=kind)
        if i > 0:
            scene.add_joint(mc.BallJoint(f"ball{i - 1}.{j}", f"ball{i}.{j}", (i - 0.5, j, 0)))
        if i > 0 and j > 0:
            scene.add_joint(mc.BallJoint(f"ball{i}.{j - 1}", f"ball{i}.{j}", (i, j - 0.5, 0)))
    world = mc.World(scene)
    play(world, 1.0)
    energy = world.energy()
    play.expect("energy kept over that fallen through", energy.total / energy.kinetic, 0.0, within=1e-3)
    play.expect("joints", len(world.joints), n * (n - 1) + (n - 1) ** 2, within=0)


@sample("rapier/joints/spherical_with_limits", title="Joints (spherical with limits)", source=SOURCE)
def spherical_with_limits(play):
    """A beam on a ball joint with a cone of 0.2 and one of 0.7 rad leans over to it and rests there."""
    scene, cones = mc.Scene(), (0.2, 0.7, 1.2)
    for k, cone in enumerate(cones):
        scene.add_body(f"beam{k}", shape=mc.Capsule(0.1, 0.4), position=(0.05, 3.0 * k, 1.0), angular_damping=1.0)
        scene.add_joint(mc.BallJoint(None, f"beam{k}", (0, 3.0 * k, 0.5), Z, cone, (-0.5, 0.5)))
    world = mc.World(scene)
    play(world, 12.0)
    tips = np.array([mc.rotation.rotate(q, np.array(Z)) for q in world.orientations])
    play.expect("lean", np.arccos(tips[:, 2]), cones, within=1e-3, unit="rad")
    play.between("speed", np.abs(world.velocities), upper=5e-3, unit="m/s")


@sample("rapier/joints/actuated_revolute", title="Joints (actuated revolute)", source=SOURCE)
def actuated_revolute(play):
    """A chain of ten wheels, each driven at its own speed against the one before; speeds add up."""
    speeds = [3.0, -1.0, 2.0, 0.5, -4.0, 1.0, 1.0, 1.0, -2.5, 0.25]
    scene = row(10, lambda a, b, p, k: mc.HingeJoint(a, b, p, Y, motor=mc.Motor(velocity=speeds[k - 1])))
    world = mc.World(scene)
    play(world, 5.0)
    play.expect("spin of each", world.angular_velocities[:, 1], np.cumsum(speeds), within=1e-4, unit="rad/s")
    play.expect("angle of each hinge", [j.angle for j in world.joints], 5 * np.array(speeds), within=1e-3, unit="rad")


@sample("rapier/joints/actuated_spherical", title="Joints (actuated spherical)", source=SOURCE)
def actuated_spherical(play):
    """Three cubes on ball joints are driven to a rotation vector, at a velocity, and by a yielding motor."""
    scene, targets = mc.Scene(gravity=(0, 0, 0)), ([0.4, -0.3, 0.5], [0, 0, 2.0], [0.3, 0.0, 0.0])
    motors = (mc.Motor(position=targets[0]), mc.Motor(velocity=targets[1]), mc.Motor(position=targets[2], kp=50.0, kd=30.0))
    for k, motor in enumerate(motors):
        scene.add_body(f"cube{k}", shape=cube(0.4), position=(2.0 * k, 0, 0))
        scene.add_joint(mc.BallJoint(None, f"cube{k}", (2.0 * k, 0, 0), motor=motor))
    world = mc.World(scene)
    play(world, 6.0)
    play.expect("rotation vector", world.joints[0].position, targets[0], within=1e-3, unit="rad")
    play.expect("spin", world.angular_velocities[1], targets[1], within=1e-3, unit="rad/s")
    play.expect("rotation vector by a soft motor", world.joints[2].position, targets[2], within=1e-3, unit="rad")


@sample("rapier/joints/coupled", title="Joints (coupled)", source=SOURCE)
def coupled(play):
    """A body on a joint that leaves two directions in a plane and turns about its normal: it falls in that plane."""
    scene, push = mc.Scene(), (0.5, 0.3, 2.0)
    scene.add_body("box", shape=cube(0.4), position=(0, 0, 5), velocity=push, angular_velocity=(0.2, 1.5, 0.1))
    scene.add_joint(mc.PlanarJoint(None, "box", (0, 0, 5), Y))
    world = mc.World(scene, dt=1 / 240)
    play(world, 1.5)
    flown = np.array([0.5 * 1.5, 0.0, 5 + 2.0 * 1.5 - G * 1.5**2 / 2])
    play.expect("place", world.positions[0], flown, within=0.005, unit="m")
    play.expect("spin", world.angular_velocities[0], [0, 1.5, 0], within=1e-6, unit="rad/s")


@sample("rapier/joints/rope_joints", title="Rope joints", source=SOURCE)
def rope_joints(play):
    """A ball falls freely on a slack rope of 2 m, is caught, and swings below it with the period of its amplitude."""
    scene = mc.Scene()
    scene.add_body("ball", shape=mc.Sphere(0.2), position=(0.5, 0, 0))
    scene.add_joint(mc.DistanceJoint(None, "ball", (0, 0, 0), (0.5, 0, 0), limits=(None, 2.0)))
    world = mc.World(scene, dt=1 / 240)
    play(world, 0.5)
    play.expect("height in free fall", world.positions[0, 2], -G * 0.25 / 2, within=0.002, unit="m")
    times, places = watched(play, world, 19.5, lambda: world.positions[0])
    late = times > 10
    play.between("length", np.linalg.norm(places, axis=1), upper=2.0 + 1e-4, unit="m")
    top = np.arcsin(np.abs(places[late, 0]).max() / 2)
    long = 2 * np.pi * np.sqrt(2 / G) * (1 + top**2 / 16 + 11 * top**4 / 3072)
    play.expect("period", period(times[late], places[late, 0]), long, within=0.005, unit="s")


@sample("rapier/joints/spring_joints", title="Spring joints", source=SOURCE, slow=True)
def spring_joints(play):
    """31 balls hang on springs whose damping goes from none to twice critical; each does what its ratio says."""
    scene, ratios, omega = mc.Scene(), np.linspace(0, 2, 31), 2 * np.pi
    for k, ratio in enumerate(ratios):
        ball = scene.add_body(f"ball{k}", shape=mc.Sphere(0.2), position=(k, 0, -2), velocity=(0, 0, 1.0))
        spring = mc.Spring(ball.mass * omega**2, 2 * ratio * omega * ball.mass, rest=ball.mass * G / (ball.mass * omega**2))
        scene.add_joint(mc.SliderJoint(None, ball, Z, spring=spring))
    world = mc.World(scene, dt=1 / 480)
    play(world, 0.75)
    root = np.sqrt((ratios**2 - 1).astype(complex)) + 1e-9
    wanted = np.exp(-ratios * omega * 0.75) * np.sinh(root * omega * 0.75) / (root * omega)
    play.expect("way", world.positions[:, 2] + 2, wanted.real, within=0.001, unit="m")


@sample("rapier/joints/joint_motor_position", title="Joint motor position", source=SOURCE)
def joint_motor_position(play):
    """Nine hinges are driven to nine targets, eight by velocity motors into their limits."""
    scene, targets = mc.Scene(gravity=(0, 0, 0)), np.linspace(-np.pi, np.pi, 9)
    for k in range(17):
        scene.add_body(f"bar{k}", shape=mc.Box((0.1, 0.1, 0.5)), position=(2.0 * k, 0, 0))
        motor = mc.Motor(position=targets[k], hertz=2.0) if k < 9 else mc.Motor(velocity=1.5, max_force=500.0)
        limits = None if k < 9 else (-np.pi, (k - 8) * np.pi / 9)
        scene.add_joint(mc.HingeJoint(None, f"bar{k}", (2.0 * k, 0, -0.5), Y, motor=motor, limits=limits))
    world = mc.World(scene)
    play(world, 4.0)
    wanted = [*targets, *(np.pi / 9 * np.arange(1, 9))]
    play.expect("angles", [joint.angle for joint in world.joints], wanted, within=2e-3, unit="rad")


@sample("rapier/joints/newton_cradle", title="Newton cradle", source=SOURCE, overlap=None)
def newton_cradle(play):
    """Of five balls on rods one comes down, the last goes up as high, and the others stay where they are."""
    scene, steel = mc.Scene(), mc.Material(friction=0.0, restitution=1.0)
    for k in range(5):
        scene.add_body(f"ball{k}", shape=mc.Sphere(0.5), position=(1.001 * k, 0, 0), material=steel)
        scene.add_joint(mc.HingeJoint(None, f"ball{k}", (1.001 * k, 0, 5), (0, -1, 0), name=f"string{k}"))
    world = mc.World(scene, dt=1 / 240)
    turn = mc.rotation.from_axis_angle(np.array([0, -1.0, 0]), -0.6)
    world.set_pose("ball0", (-5 * np.sin(0.6), 0, 5 - 5 * np.cos(0.6)), turn)
    _, angles = watched(play, world, 3.0, lambda: [joint.angle for joint in world.joints])
    play.expect("angle of the first at the start", angles[0, 0], -0.6, within=1e-6, unit="rad")
    play.expect("angle up to which the last goes", angles[:, 4].max(), 0.6, within=0.001, unit="rad")
    play.between("angles of those between", np.abs(angles[:, 1:4]), upper=0.05, unit="rad")


@sample("rapier/joints/damping_of_springs", title="Spring-mass-damper (damping3)", source=SOURCE)
def damping_of_springs(play):
    """Balls on distance springs sink to rest where each spring bears its weight: by m g / k."""
    scene, stiff = ground(), np.linspace(2000, 20000, 10)
    for k in range(10):
        ball = scene.add_body(f"ball{k}", shape=mc.Sphere(0.25), position=(2.0 * k, 0, 3))
        spring = mc.Spring(stiff[k], 2 * 0.5 * np.sqrt(stiff[k] * ball.mass))
        scene.add_joint(mc.DistanceJoint(None, ball, (2.0 * k, 0, 5), (2.0 * k, 0, 3), length=2.0, spring=spring))
    world = mc.World(scene)
    play(world, 10.0)
    play.expect("height", world.positions[1:, 2], 3 - world.masses[1:] * G / stiff, within=1e-3, unit="m")
