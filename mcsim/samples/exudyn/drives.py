"""Exudyn's samples of ropes over pulleys, belts, chains and rollers."""

import numpy as np

import mcsim as mc
from mcsim.samples.parts import G, Y, Z, along, box, ground, prism, speed, turned
from mcsim.samples.registry import sample

SOURCE = "Exudyn, Examples"


@sample("exudyn/drives/reeving_system", title="reevingSystem", source=SOURCE, camera="front", slow=True)
def reeving_system(play):
    """A rope over a pulley and twice to a block: it hauls by g (M - 2 m) / (M + 4 m), the load at half the speed."""
    scene, m, load = mc.Scene(), 10.0, 26.0
    scene.add_body("weight", shape=mc.Sphere(0.2), mass=m, position=(-1, 0, -2))
    scene.add_body("load", shape=mc.Sphere(0.3), mass=load, position=(1, 0, -2))

    def slack(a, b):
        ends = [np.array([-1.0, 0, 0]), np.array([1.0, 0, 0])]
        return [np.linalg.norm(a.position - ends[0]) + 2 * np.linalg.norm(b.position - ends[1]) - 6.0]

    scene.add_joint(mc.UserJoint("weight", "load", slack, name="rope"))
    world = mc.World(scene, dt=1 / 240)
    play(world, 1.0)
    faster = G * (load - 2 * m) / (load + 4 * m)
    found = world.velocities[:, 2]
    play.expect("speeds after 1 s", found, (2 * faster, -faster), within=1e-3, unit="m/s")
    length = -world.positions[0, 2] - 2 * world.positions[1, 2]
    play.expect("length of the rope", length, 6.0, within=1e-6, unit="m")


@sample("exudyn/drives/belt_drive", title="beltDriveSimple", source=SOURCE, camera="front")
def belt_drive(play):
    """A belt over wheels of 0.5 and 1 m, as a ratio of two hinges: a torque on the one has I1 + I2 / 4 to move."""
    scene = mc.Scene(gravity=(0, 0, 0))
    for k, r in enumerate((0.5, 1.0)):
        scene.add_body(f"wheel{k}", shape=mc.Cylinder(r, 0.05, orientation=along(Y)), position=(3.0 * k, 0, 0))
        scene.add_joint(mc.HingeJoint(None, f"wheel{k}", (3.0 * k, 0, 0), Y, name=f"axle{k}"))
    scene.add_joint(mc.GearJoint("axle0", "axle1", -2.0))
    world = mc.World(scene)
    for _ in play.steps(world, 2.0):
        world.apply_torque("wheel0", (0, 10.0, 0))
    one, two = (world.body(f"wheel{k}").inertia[1, 1] for k in range(2))
    found = [world.joint(f"axle{k}").velocity for k in range(2)]
    spin = 20.0 / (one + two / 4)
    play.expect("speeds", found, (spin, spin / 2), within=1e-4, unit="rad/s")


@sample("exudyn/drives/ball_bearing", title="ballBearingTest", source=SOURCE, camera="top")
def ball_bearing(play):
    """Balls pressed between a plate that turns and one that stands roll round at half its speed."""
    scene, w, rough = mc.Scene(), 2.0, mc.Material(friction=1.0)
    scene.add_body("ground", shape=mc.Plane(Z), kind="static", material=rough)
    for k in range(6):
        a = k * np.pi / 3
        place = (np.cos(a), np.sin(a), 0.1)
        scene.add_body(f"ball{k}", shape=mc.Sphere(0.1), position=place, material=rough)
    scene.add_body("plate", shape=mc.Cylinder(1.3, 0.05), position=(0, 0, 0.25), material=rough)
    scene.add_joint(mc.CylindricalJoint(None, "plate", (0, 0, 0), Z, motor=[None, mc.Motor(velocity=w)]))
    world = mc.World(scene, dt=1 / 240)
    play(world, 1.0)
    angle = np.arctan2(world.positions[1:7, 1], world.positions[1:7, 0])
    play(world, 0.5)
    gone = np.angle(np.exp(1j * (np.arctan2(world.positions[1:7, 1], world.positions[1:7, 0]) - angle)))
    play.expect("way round in 0.5 s", gone, w / 2 * 0.5, within=5e-3, unit="rad")
    play.expect("radius", np.linalg.norm(world.positions[1:7, :2], axis=1), 1.0, within=0.02, unit="m")


def mecanum(scene, name, x, y, side, r=0.25):
    """Adds a wheel of ten rollers at 45 degrees on the car, about y, with a motor."""
    scene.add_body(name, shape=mc.Cylinder(0.1, 0.05, orientation=along(Y)), position=(x, y, r), mass=2.0, collision_mask=0)
    scene.add_joint(mc.HingeJoint("car", name, (x, y, r), Y, name=name, motor=mc.Motor(velocity=0.0)))
    for k in range(10):
        a = 2 * np.pi * k / 10
        out = np.array([np.sin(a), 0, -np.cos(a)])
        axis = (np.array([np.cos(a), 0, np.sin(a)]) + side * np.array(Y)) / np.sqrt(2)
        at = np.array([x, y, r]) + (r - 0.06) * out
        shape, alone = mc.Capsule(0.06, 0.07, orientation=along(axis)), {"collision_group": 2, "collision_mask": 1}
        roller = scene.add_body(f"{name}.{k}", shape=shape, position=at, mass=0.2, **alone)
        scene.add_joint(mc.HingeJoint(name, roller, at, axis))


@sample("exudyn/drives/mobile_mecanum_wheel", title="mobileMecanumWheelRobot", source=SOURCE, slow=True)
def mobile_mecanum_wheel(play):
    """A car on four mecanum wheels: turned alike they drive it ahead, turned crosswise they drive it to its side."""
    scene = ground(friction=1.0)
    scene.add_body("car", shape=box(0.8, 0.4, 0.15), position=(0, 0, 0.25), mass=20, collision_mask=0)
    for name, x, y, side in (("fl", 0.4, 0.35, 1), ("fr", 0.4, -0.35, -1), ("rl", -0.4, 0.35, -1), ("rr", -0.4, -0.35, 1)):
        mecanum(scene, name, x, y, side)
    world, car = mc.World(scene, dt=1 / 240), "car"
    for signs, way in (((1, 1, 1, 1), (1, 0, 0)), ((1, -1, -1, 1), (0, -1, 0))):
        for name, sign in zip(("fl", "fr", "rl", "rr"), signs, strict=True):
            world.joint(name).set_motor(velocity=2.0 * sign)
        play(world, 1.5)
        start = world.body(car).position.copy()
        play(world, 2.0)
        gone = (world.body(car).position - start) / 2.0
        sign = np.sign(gone @ np.array(way))
        play.expect(f"mean velocity along {way}", gone[:2], sign * 0.5 * np.array(way[:2]), within=0.05, unit="m/s")
    play.between("speed", speed(world, car), lower=0.3, unit="m/s")


def sprocket(pitch, teeth, roller, depth=0.04):
    """The parts of a chain wheel about y: a hub on which rollers lie, and teeth between them."""
    r = pitch / (2 * np.sin(np.pi / teeth))
    parts = [mc.Cylinder(r - roller - 1e-3, depth / 2, orientation=along(Y))]
    for k in range(teeth):
        outline = [
            (r - roller, -0.55 * roller),
            (r - roller, 0.55 * roller),
            (r + roller, 0.2 * roller),
            (r + roller, -0.2 * roller),
        ]
        parts.append(prism(outline, depth, orientation=turned(Y, 360.0 * k / teeth)))
    return parts, r


@sample("exudyn/drives/chain_drive", title="chainDriveExample", source=SOURCE, camera="front", slow=True, overlap=None)
def chain_drive(play):
    """A chain of 40 links, held by nothing but two wheels' twelve teeth, makes the second turn with the first."""
    scene, pitch, roller = mc.Scene(gravity=(0, 0, 0)), 0.1, 0.03
    parts, r = sprocket(pitch, 12, roller)
    for k in range(2):
        scene.add_body(f"wheel{k}", shape=parts, position=(1.4 * k, 0, 0), material=mc.Material(friction=0.1))
        more = {"friction": 1.0} if k else {"motor": mc.Motor(velocity=2.0)}
        scene.add_joint(mc.HingeJoint(None, f"wheel{k}", (1.4 * k, 0, 0), Y, name=f"axle{k}", **more))
    top = [(pitch * (k - 0.5), r * np.cos(np.pi / 12)) for k in range(16)]
    arc = [(1.4 + r * np.cos(a), r * np.sin(a)) for a in np.radians([45, 15, -15, -45])]
    half = top + arc
    points = [np.array([x, 0, z]) for x, z in half] + [np.array([1.4 - x, 0, -z]) for x, z in half]
    for k in range(40):
        shape = mc.Cylinder(roller, 0.02, orientation=along(Y), material=mc.Material(friction=0.1))
        scene.add_body(f"link{k}", shape=shape, position=points[k], collision_group=2, collision_mask=1)
    for k in range(40):
        scene.add_joint(mc.HingeJoint(f"link{k}", f"link{(k + 1) % 40}", points[(k + 1) % 40], Y))
    world = mc.World(scene, dt=1 / 240)
    play(world, 3.0)
    angles = [world.joint(f"axle{k}").angle for k in range(2)]
    play.expect("angle of the first", angles[0], 6.0, within=0.01, unit="rad")
    play.expect("angle of the second, but for the rollers' play", angles[1], 6.0, within=0.1, unit="rad")
