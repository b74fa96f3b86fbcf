"""Box3D's samples of bodies: kinds, spins, locks, centres of mass."""

import math

import numpy as np
from scipy.special import ellipk

import mcsim as mc
from mcsim.samples.parts import G, X, Y, Z, along, box, cube, direction, ground, heights, lean, turned
from mcsim.samples.registry import sample

SOURCE = "Box3D, sample_bodies.cpp"


@sample("box3d/bodies/body_type", title="Body Type", source=SOURCE, camera="front")
def body_type(play):
    """A platform with crates on it is static, then carries them as a kinematic body, then falls with them."""
    scene = ground()
    scene.add_body("platform", shape=box(8, 4, 0.5), kind="static", position=(0, 0, 5))
    for k in range(3):
        scene.add_body(f"crate{k}", shape=cube(1.0), position=(2 * k - 2, 0, 5.75))
    scene.add_body("arm", shape=box(2, 0.5, 0.5), position=(0, -4, 5))
    scene.add_joint(mc.HingeJoint("platform", "arm", anchor=(0, -4, 5), axis=Y))
    world = mc.World(scene)
    play(world, 1.0)
    play.expect("crates on the static platform", heights(world, "crate"), 5.75, within=0.002, unit="m")
    world.set_kind("platform", "kinematic")
    world.set_velocity("platform", (1, 0, 0))
    play(world, 2.0)
    slid = 1.0**2 / (2 * 0.6 * G)  # until friction has brought them to the platform's speed
    play.expect("way of the crates", world.positions[2:5, 0], np.array([0, 2, 4]) - slid, within=0.01, unit="m")
    world.set_kind("platform", "dynamic")
    play(world, 4.0)
    play.expect("platform on the ground", heights(world, "platform"), 0.25, within=0.003, unit="m")
    play.expect("crates on it", heights(world, "crate"), 1.0, within=0.005, unit="m")


@sample("box3d/bodies/disable", title="Disable", source=SOURCE)
def disable(play):
    """A platform on a soft weld is switched off: its crate falls through it, and it holds another when it is on again."""
    scene = ground()
    scene.add_body("post", kind="static", shape=box(0.5, 0.5, 4), position=(0, 0, 2))
    scene.add_body("platform", shape=box(4, 2, 0.2), position=(2.4, 0, 3), mass=100.0)
    soft = [mc.Motion(0.0)] * 3
    springs = [None] * 3 + [mc.Spring(2e5, 2e4)] * 3
    scene.add_joint(mc.FreeJoint("post", "platform", anchor=(0.4, 0, 3), motion=[*soft, None, None, None], spring=springs))
    scene.add_body("crate", shape=cube(1.0), position=(2.5, 0, 3.6), mass=50.0)
    world = mc.World(scene)
    play(world, 2.0)
    play.expect("the crate on the platform", world.positions[3, 2], 3.59, within=0.03, unit="m")
    place = world.body("platform").position.copy()
    world.body("platform").enabled = False
    play(world, 2.0)
    play.expect("the crate on the ground", world.positions[3, 2], 0.5, within=0.003, unit="m")
    play.expect("the platform stays", world.body("platform").position, place, within=1e-12, unit="m")
    world.body("platform").enabled = True
    world.set_pose("crate", (2.5, 0, 3.65), (1, 0, 0, 0))
    play(world, 2.0)
    play.expect("the crate on the platform again", world.positions[3, 2], 3.59, within=0.03, unit="m")


@sample("box3d/bodies/spinning_book", title="Spinning Book", source=SOURCE)
def spinning_book(play):
    """Three books spin in free flight, each about another axis: the one about its middle axis tumbles, two do not."""
    scene = mc.Scene(gravity=(0, 0, 0))
    for k, axis in enumerate(np.eye(3)):
        w = 6 * axis + 0.01 * np.roll(axis, 1)
        scene.add_body(f"book{k}", shape=box(1.4, 2.0, 0.4), position=(3 * k, 0, 0), angular_velocity=w)
    world = mc.World(scene)
    lines, energy, spin = np.eye(3), world.energy().total, world.momentum()[1]
    worst = np.ones(3)
    for _ in play.steps(world, 20.0):
        worst = np.minimum(worst, [direction(world, f"book{k}", lines[k])[k] for k in range(3)])
    play.expect("axis of greatest inertia stays", worst[2], 1.0, within=1e-4)
    play.expect("axis of least inertia stays", worst[1], 1.0, within=1e-4)
    play.expect("middle axis turns over", worst[0], -1.0, within=0.01)
    play.expect("energy", world.energy().total / energy, 1.0, within=1e-6)
    play.expect("angular momentum", world.momentum()[1] / np.linalg.norm(spin), spin / np.linalg.norm(spin), within=1e-9)


def tumbling_period(inertia, momentum, energy):
    """Of a free body's tumble: of the components of its angular velocity about its axes [s].

    Euler's equations in elliptic functions: L. D. Landau, E. M. Lifshitz, Mechanics, section 37.
    """
    i1, i2, i3 = np.sort(inertia)
    if momentum**2 < 2 * energy * i2:
        i1, i3 = i3, i1
    low, high = momentum**2 - 2 * energy * i1, 2 * energy * i3 - momentum**2
    return 4 * ellipk((i2 - i1) * high / ((i3 - i2) * low)) * math.sqrt(i1 * i2 * i3 / ((i3 - i2) * low))


@sample("box3d/bodies/gyroscopic_torque", title="Gyroscopic Torque", source=SOURCE)
def gyroscopic_torque(play):
    """A T-handle turns over and over, in the time that Euler's equations give."""
    scene = mc.Scene(gravity=(0, 0, 0))
    grip, bar = mc.Cylinder(0.2, 0.5, orientation=along(X), position=(0.5, 0, 0)), mc.Cylinder(0.2, 1.0)
    scene.add_body("handle", shape=[grip, bar], angular_velocity=(5.0, 0.01, 0.0))
    world = mc.World(scene)
    handle, energy = world.body("handle"), world.energy().total
    period = tumbling_period(np.diag(handle.inertia), np.linalg.norm(world.momentum()[1]), energy)
    rates = [direction(world, "handle", X) @ handle.angular_velocity for _ in play.steps(world, 30.0)]
    turns = np.flatnonzero(np.diff(np.sign(rates))) / 60
    play.between("turns", len(turns), 3)
    play.expect("time between turns", np.diff(turns), period / 2, within=0.02 * period, unit="s")
    play.expect("energy", world.energy().total / energy, 1.0, within=1e-6)


@sample("box3d/bodies/gyroscopic_precession", title="Gyroscopic Precession", source=SOURCE, slow=True)
def gyroscopic_precession(play):
    """Sixty-four spinning tops on their tips stay up, as fast as a sleeping top has to be."""
    scene = ground(friction=0.6)
    for k in range(64):
        place, w = (2 * (k % 8), 2 * (k // 8), 0.5), (0.05, 0, 120.0 + k)
        cone = mc.Cone(0.5, 0.5, orientation=along((0, 0, -1)))
        scene.add_body(f"top{k}", shape=cone, position=place, angular_velocity=w)
    world = mc.World(scene)
    play(world, 5.0)
    play.expect("leaning", [lean(world, f"top{k}") for k in range(64)], 0.0, within=0.05, unit="rad")
    play.expect("spin", world.angular_velocities[1:, 2], 120.0 + np.arange(64), within=2.0, unit="rad/s")


@sample("box3d/bodies/precession_without_friction", title="Precession (no friction)", source=SOURCE)
def precession_without_friction(play):
    """A leaning top on smooth ground precesses steadily about its centre of mass."""
    scene = ground(friction=0.0)
    scene.add_body("top", shape=mc.Cone(0.5, 0.5, orientation=along((0, 0, -1))), orientation=turned(Y, 20))
    world = mc.World(scene)
    top, spin, cosine, arm = world.body("top"), 200.0, math.cos(math.radians(20)), 0.75
    a, _, c = np.diag(top.inertia)
    # Steady precession: a cos(tilt) rate^2 - c spin rate + m g arm = 0, with the spin that along the axis in all.
    rate = (c * spin - math.sqrt((c * spin) ** 2 - 4 * a * cosine * top.mass * G * arm)) / (2 * a * cosine)
    top.position = (0, 0, arm * cosine)
    top.angular_velocity = (spin - rate * cosine) * direction(world, "top") + rate * np.array(Z)
    turned_by, before = 0.0, direction(world, "top")
    for _ in play.steps(world, 10.0):
        now = direction(world, "top")
        turned_by += math.asin(np.cross(before, now)[2] / (1 - cosine**2))
        before = now
    turned_by += math.asin(np.cross(before, direction(world, "top"))[2] / (1 - cosine**2))
    play.expect("angle of precession", turned_by, 10 * rate, within=0.02 * 10 * rate, unit="rad")
    play.expect("tilt", lean(world, "top"), math.radians(20), within=0.02, unit="rad")


@sample("box3d/bodies/weeble", title="Weeble", source=SOURCE)
def weeble(play):
    """A capsule with its weight low down is struck, and rights itself."""
    scene = ground(rolling_friction=0.02)
    weight = mc.Sphere(0.3, position=(0, 0, -0.9), density=20_000)
    scene.add_body("weeble", shape=[mc.Capsule(1.0, 0.5, density=100), weight], position=(0, 0, 1.5), angular_damping=0.2)
    world = mc.World(scene)
    play(world, 1.0)
    world.apply_impulse("weeble", (1.0 * world.body("weeble").mass, 0, 0), (0, 0, 2.5))
    farthest = max(lean(world, "weeble") for _ in play.steps(world, 20.0))
    play.between("leans over", farthest, 0.5, unit="rad")
    play.expect("upright again", lean(world, "weeble"), 0.0, within=0.03, unit="rad")
    play.check("sleeps", play.asleep(world))


@sample("box3d/bodies/cast", title="Cast", source=SOURCE)
def cast(play):
    """Rays and a ball cast at a turned box hit where geometry says."""
    scene = mc.Scene(gravity=(0, 0, 0))
    scene.add_body("box", shape=cube(2.0), orientation=turned(Z, 45))
    world = mc.World(scene)
    play(world, 0.1)
    ray = world.ray_cast((-5, 0.5, 0), (1, 0, 0))
    ball = world.shape_cast(mc.Sphere(0.5), (-5, 0.2, 0.3), (1, 0, 0, 0), (1, 0, 0))
    play.expect("ray", ray.distance, 5 - (math.sqrt(2) - 0.5), within=1e-9, unit="m")
    play.expect("normal", ray.normal, np.array([-1, 1, 0]) / math.sqrt(2), within=1e-9)
    edge = math.sqrt(2) + math.sqrt(0.25 - 0.04)  # the ball meets the edge between two faces
    play.expect("ball", ball.distance, 5 - edge, within=1e-6, unit="m")
    play.check("a ray beside it meets nothing", world.ray_cast((-5, 1.5, 0), (1, 0, 0)) is None)
    far = world.distance("box", mc.Sphere(0.5), position=(3, 0, 0))
    play.expect("distance of a placed ball", far.distance, 2.5 - math.sqrt(2), within=1e-9, unit="m")


@sample("box3d/bodies/kinematic", title="Kinematic", source=SOURCE)
def kinematic(play):
    """A body is moved along a figure of eight and is where it should be after every step."""
    scene = ground()
    scene.add_body("plate", shape=box(2, 0.2, 0.5), kind="kinematic", position=(4, 0, 5))
    world = mc.World(scene)
    off, target = [], np.array((4, 0, 5))
    for step in play.steps(world, 10.0):
        off.append(np.linalg.norm(world.body("plate").position - target))
        t = (step + 1) / 60
        target = (4 * math.cos(t), 0, 5 + 2 * math.sin(2 * t))
        world.move_to("plate", target, turned(Y, 180 * t))
    play.expect("distance from where it should be", off, 0.0, within=1e-9, unit="m")
    play.expect("its direction", direction(world, "plate", X), mc.rotation.rotate(turned(Y, 1800), X), within=1e-9)


@sample("box3d/bodies/lock_mixing", title="Lock Mixing", source=SOURCE)
def lock_mixing(play):
    """Of six cubes with other axes locked each keeps the motions that are left, and none of the others."""
    shifts, turns = ["x", "y", "z", "", "xy", "xyz"], ["yz", "xz", "xy", "xyz", "xyz", ""]
    scene = mc.Scene(gravity=(0, 0, 0))
    for k in range(6):
        scene.add_body(f"cube{k}", shape=cube(1.0), position=(3 * k, 0, 5), velocity=(1, 2, 3), angular_velocity=(1, 2, 3))
        scene.add_joint(mc.LockJoint(None, f"cube{k}", translation=shifts[k], rotation=turns[k]))
    world = mc.World(scene)
    start = world.positions.copy()
    play(world, 2.0)
    for k, (shift, turn) in enumerate(zip(shifts, turns)):
        way = [0.0 if axis in shift else rate * 2.0 for axis, rate in zip("xyz", (1, 2, 3))]
        play.expect(f"way of cube {k}", world.positions[k] - start[k], way, within=1e-5, unit="m")
        w = [0.0 if axis in turn else rate for axis, rate in zip("xyz", (1, 2, 3))]
        play.expect(f"turning of cube {k}", world.angular_velocities[k], w, within=1e-5, unit="rad/s")


@sample("box3d/bodies/fixed_rotation", title="Fixed Rotation", source=SOURCE)
def fixed_rotation(play):
    """A capsule that does not turn is pushed off centre: it slides as far as friction lets it, upright."""
    scene = ground(friction=0.5)
    for k in range(2):
        scene.add_body(
            f"figure{k}", shape=mc.Capsule(0.5, 1.0), position=(0, 3 * k, 1.5), material=mc.Material(friction=0.5)
        )
    scene.add_joint(mc.LockJoint(None, "figure0", rotation="xyz"))
    world = mc.World(scene)
    play(world, 0.5)
    for k in range(2):
        world.apply_impulse(f"figure{k}", (4.0 * world.body(f"figure{k}").mass, 0, 0), (0, 3 * k, 2.9))
    play(world, 6.0)
    play.expect("slid", world.body("figure0").position[0], 4.0**2 / (2 * 0.5 * G), within=0.03, unit="m")
    play.expect("upright", lean(world, "figure0"), 0.0, within=1e-6, unit="rad")
    play.expect("the free one lies", lean(world, "figure1"), math.pi / 2, within=0.02, unit="rad")


@sample("box3d/bodies/offset_kinematic", title="Offset Kinematic", source=SOURCE)
def offset_kinematic(play):
    """A kinematic body turns about a centre of mass outside of its shape, which goes in a circle."""
    scene = ground()
    scene.add_body(
        "arm", shape=cube(1.0), kind="kinematic", position=(3, 0, 1), center_of_mass=(-3, 0, 0), angular_velocity=(0, 0, 1)
    )
    world = mc.World(scene)
    play(world, 5.0)
    places, _ = world.frames()
    play.expect("place of the shape", places[1], (3 * math.cos(5), 3 * math.sin(5), 1), within=1e-6, unit="m")
    play.expect("its centre", world.body("arm").position, (0, 0, 1), within=1e-12, unit="m")
