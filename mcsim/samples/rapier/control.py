"""Rapier's samples of what is steered, locked or let through: characters, vehicles, platforms, inverse kinematics."""

import numpy as np

import mcsim as mc
from mcsim.samples.measure import watched
from mcsim.samples.parts import G, X, Y, Z, along, box, cube, ground, heights, lean, speed, turned
from mcsim.samples.registry import sample

SOURCE = "Rapier, examples3d"


@sample("rapier/control/locked_rotations", title="Locked rotations", source=SOURCE)
def locked_rotations(play):
    """A cuboid that only turns about x is spun, a capsule that only moves falls upright, a cuboid falls on it."""
    scene = ground()
    scene.add_body("turns", shape=box(4, 1.2, 0.8), position=(0, 0, 3), angular_velocity=(3.0, 0, 0))
    scene.add_joint(mc.LockJoint(None, "turns", "xyz", "yz"))
    scene.add_body("moves", shape=mc.Capsule(0.6, 0.8), position=(4, 0, 1.4), orientation=turned(X, 3.0))
    scene.add_joint(mc.LockJoint(None, "moves", "", "xyz"))
    scene.add_body("falls", shape=cube(0.5), position=(4.5, 0, 4))
    world = mc.World(scene)
    play(world, 3.0)
    play.expect("spin", world.body("turns").angular_velocity, (3, 0, 0), within=1e-6, unit="rad/s")
    play.expect("place of what turns", world.body("turns").position, (0, 0, 3), within=1e-6, unit="m")
    play.expect("lean of the capsule", lean(world, "moves"), np.radians(3.0), within=1e-6, unit="rad")
    play.expect("height of what fell beside it", heights(world, "falls"), 0.25, within=0.001, unit="m")


@sample("rapier/control/one_way_platforms", title="One way platforms", source=SOURCE)
def one_way_platforms(play):
    """A platform lets a cube up through it and bears it then; another lets what falls on it down through."""
    scene = ground()
    for name, side, x in (("up", 1.0, 0.0), ("down", -1.0, 10.0)):
        material = mc.Material(one_way=(0, 0, side))
        scene.add_body(name, shape=box(8, 8, 0.4), kind="static", position=(x, 0, 4), material=material)
    scene.add_body("rises", shape=cube(1.0), position=(0, 0, 0.5), velocity=(0, 0, 12))
    scene.add_body("falls", shape=cube(1.0), position=(10, 0, 7))
    world = mc.World(scene)
    play(world, 4.0)
    play.expect("height of the one that rose", heights(world, "rises"), 4.7, within=2e-3, unit="m")
    play.expect("height of the one that fell", heights(world, "falls"), 0.5, within=0.001, unit="m")


@sample("rapier/control/character_controller", title="Character controller", source=SOURCE)
def character_controller(play):
    """A capsule walks over stairs of 0.1 m and up a slope of 20 degrees, and is stopped by one of 60."""
    scene = ground()
    for k in range(10):
        scene.add_body(
            f"step{k}", shape=box(0.8, 4, 0.1 * (k + 1)), kind="static", position=(3 + 0.8 * k, 0, 0.05 * (k + 1))
        )
    scene.add_body("top", shape=box(6, 4, 1.0), kind="static", position=(13.6, 0, 0.5))
    for name, degrees, y in (("gentle", 20.0, 10.0), ("steep", 60.0, 20.0)):
        turn = turned(Y, -degrees)
        place = np.array([3.0, y, 0]) + mc.rotation.rotate(turn, np.array([10.0, 0, -0.5]))
        scene.add_body(name, shape=box(20, 4, 1), kind="static", position=place, orientation=turn)
    for k in range(3):
        scene.add_body(f"hero{k}", shape=mc.Capsule(0.3, 0.6), kind="kinematic", position=(0, 10.0 * k, 0.95))
    world = mc.World(scene)
    heroes = [mc.Character(world, f"hero{k}", max_slope=0.8, step_height=0.2) for k in range(3)]
    for _ in play.steps(world, 6.0):
        for hero in heroes:
            hero.walk((2.0, 0, 0))
    feet = heights(world, "hero") - 0.9
    play.expect("height on the stairs", feet[0], 1.01, within=0.002, unit="m")
    climbed = (world.body("hero1").position[0] - 3) * np.tan(np.radians(20)) + 0.3 * (1 / np.cos(np.radians(20)) - 1)
    play.expect("height on the slope", feet[1], climbed, within=0.05, unit="m")
    play.between("height and way at the steep slope", [feet[2], world.body("hero2").position[0] - 3], upper=0.3, unit="m")


@sample("rapier/control/vehicle_controller", title="Vehicle controller", source=SOURCE)
def vehicle_controller(play):
    """A car on four wheels that are rays stands at its height, drives with F/m, turns by its steering, and brakes."""
    scene = ground(friction=1.0)
    scene.add_body("car", shape=box(3.2, 1.6, 0.6), position=(0, 0, 0.8), mass=1200)
    world = mc.World(scene)
    wheels = [mc.Wheel((x, y, -0.3), radius=0.35, steered=x > 0) for x in (1.2, -1.2) for y in (0.8, -0.8)]
    car = mc.Vehicle(world, "car", wheels)
    for _ in play.steps(world, 2.0):
        car.drive()
    play.expect("loads of the wheels", car.loads, 300 * G, within=5.0, unit="N")
    for _ in play.steps(world, 3.0):
        car.drive(force=2400.0)
    play.expect("speed after 3 s", car.speed, 6.0, within=0.01, unit="m/s")
    for _ in play.steps(world, 2.0):
        car.drive(steer=0.2)
    turn = car.speed * np.tan(0.2) / 2.4
    play.expect("turning rate", world.body("car").angular_velocity[2], turn, within=0.08 * turn, unit="rad/s")
    for _ in play.steps(world, 3.0):
        car.drive(brake=1e5)
    play.between("speed after braking", speed(world, "car"), upper=1e-2, unit="m/s")


@sample("rapier/control/vehicle_joints", title="Vehicle joints", source=SOURCE)
def vehicle_joints(play):
    """A car with wheels on hinges, its front ones on steered knuckles, drives at r w and round a circle."""
    scene = ground(friction=1.0)
    scene.add_body("car", shape=box(2.0, 0.8, 0.3), position=(0, 0, 0.5), mass=800)
    for name, x, y in (("fl", 0.8, 0.6), ("fr", 0.8, -0.6), ("rl", -0.8, 0.6), ("rr", -0.8, -0.6)):
        carrier, at = "car", (x, y, 0.3)
        tyre = mc.Cylinder(0.3, 0.1, orientation=along(Y))
        scene.add_body(name, shape=tyre, position=at, mass=20, material=mc.Material(friction=1.0))
        if x > 0:
            carrier = scene.add_body(f"{name}.knuckle", position=at, mass=10, inertia=(0.2, 0.2, 0.2))
            scene.add_joint(mc.HingeJoint("car", carrier, at, Z, motor=mc.Motor(position=0.0), name=f"{name}.steer"))
        motor = mc.Motor(velocity=5.0 / 0.3, max_force=300) if x < 0 else None
        scene.add_joint(mc.HingeJoint(carrier, name, at, Y, motor=motor))
    world = mc.World(scene)
    play(world, 5.0)
    play.expect("speed", speed(world, "car"), 5.0, within=0.005, unit="m/s")
    for name, angle in (("fl", np.arctan(1.6 / (12 - 0.6))), ("fr", np.arctan(1.6 / (12 + 0.6)))):
        world.joint(f"{name}.steer").set_motor(position=angle)
    play(world, 4.0)
    radius = np.linalg.norm(world.body("car").velocity[:2]) / world.body("car").angular_velocity[2]
    play.expect("radius of its circle", radius, np.hypot(12.0, 0.8), within=0.2, unit="m")


@sample("rapier/control/gyroscopic", title="Gyroscopic", source=SOURCE, camera="front")
def gyroscopic(play):
    """A handle spun about its middle axis turns over again and again; energy and angular momentum are kept."""
    scene = mc.Scene(gravity=(0, 0, 0))
    parts = [mc.Cylinder(0.2, 0.8), mc.Cylinder(0.2, 0.4, position=(0.6, 0, 0), orientation=along(X))]
    scene.add_body("handle", shape=parts, angular_velocity=(10.0, 0.01, 0.01), position=(0, 0, 2))
    world = mc.World(scene)
    energy, (_, momentum) = world.energy().total, world.momentum()
    _, turns = watched(play, world, 20.0, lambda: mc.rotation.rotate(world.body("handle").orientation, np.array(X))[0])
    play.expect("energy over that of the start", world.energy().total / energy, 1.0, within=1e-5)
    play.expect("angular momentum", world.momentum()[1], momentum, within=1e-5 * np.abs(momentum).max(), unit="kg m²/s")
    play.check("it turns over", turns.min() < -0.9 and turns.max() > 0.9)
    flips = np.count_nonzero(np.diff(np.sign(turns)))
    play.between("times that it turned over", flips, 2, 60)


@sample("rapier/control/inverse_kinematics", title="Inverse kinematics", source=SOURCE)
def inverse_kinematics(play):
    """An arm of six links follows a point on a circle: damped least squares on its Jacobian, a step each."""
    scene, before = mc.Scene(), None
    for k in range(6):
        scene.add_body(f"link{k}", shape=mc.Capsule(0.1, 0.4), position=(0, 0, k + 0.5))
        scene.add_joint(mc.HingeJoint(before, f"link{k}", (0, 0, k), (X, Y)[k % 2]))
        before = f"link{k}"
    world = mc.ReducedWorld(scene)
    tip, errors = np.array([0, 0, 0.5]), []
    world.q[:] = 0.3
    for step in play.steps(world, 2.0):
        for _ in range(2):
            body = world.body("link5")
            target = np.array([2.5 * np.cos(step / 100), 2.5 * np.sin(step / 100), 3.0])
            arm = mc.rotation.rotate(body.orientation, tip)
            jacobian = world.body_jacobian("link5")[:3] - np.cross(arm, world.body_jacobian("link5")[3:].T).T
            wanted = target - body.position - arm
            world.q[:] += jacobian.T @ np.linalg.solve(jacobian @ jacobian.T + 1e-3 * np.eye(3), wanted)
        world.qd[:] = 0.0
        errors.append(np.linalg.norm(wanted))
    play.between("distance from the target after 1 s", errors[60:], upper=0.03, unit="m")


@sample("rapier/control/shape_modification", title="Debug: shape modification", source=SOURCE)
def shape_modification(play):
    """A ball that rests on the ground grows from 0.5 to 1 m by 5 mm a step; it lies on the ground at every size."""
    scene = ground()
    scene.add_body("ball", shape=mc.Sphere(0.5), position=(0, 0, 0.5), mass=500.0)
    world, off = mc.World(scene), []
    for step in play.steps(world, 3.0):
        radius = 0.5 + 0.005 * min(step, 100)
        off.append(heights(world, "ball")[0] - radius)
        world.set_shape("ball", mc.Sphere(radius))
    play.between("height over its radius", off, -0.02, 0.02, unit="m")
    play.expect("height at last", heights(world, "ball"), 1.0, within=0.001, unit="m")


@sample("rapier/control/dynamic_collider_add", title="Debug: dynamic collider add", source=SOURCE)
def dynamic_collider_add(play):
    """A ball rolls on a ground that is given more and more parts while it runs, and never falls between them."""
    scene = mc.Scene()
    scene.add_body("ground", shape=[box(6, 4, 0.2)], kind="static", position=(0, 0, -0.1))
    rolls = {"velocity": (2.0, 0, 0), "angular_velocity": (0, 4.0, 0)}
    scene.add_body("ball", shape=mc.Sphere(0.5), position=(-2, 0, 0.5), **rolls)
    world, parts = mc.World(scene), [box(6, 4, 0.2)]
    for step in play.steps(world, 10.0):
        if step % 60 == 0:
            parts.append(box(2, 4, 0.2, position=(4 + 2 * (step // 60), 0, 0)))
            world.set_shape("ground", parts)
    play.expect("place", world.body("ball").position, (18, 0, 0.5), within=0.001, unit="m")
    play.expect("speed", speed(world, "ball"), 2.0, within=0.002, unit="m/s")


@sample("rapier/control/voxels", title="Voxels", source=SOURCE)
def voxels(play):
    """A ground of 400 voxels of 0.5 m, stairs up from its middle: cubes that fall on it lie on its steps."""
    scene, parts = mc.Scene(), []
    for i, j in np.ndindex(20, 20):
        level = max(abs(i - 9.5), abs(j - 9.5)) // 2
        parts.append(cube(0.5, position=(0.5 * (i - 9.5), 0.5 * (j - 9.5), 0.5 * level - 0.25)))
    scene.add_body("ground", shape=parts, kind="static")
    for n, (x, y) in enumerate(((0.25, 0.25), (1.75, 0.0), (0.0, -2.75), (-3.75, 1.0))):
        scene.add_body(f"cube{n}", shape=cube(0.4), position=(x, y, 3.5))
    world = mc.World(scene)
    play(world, 4.0)
    steps = 0.5 * (np.maximum(abs(world.positions[1:, 0]), abs(world.positions[1:, 1])) // 1.0)
    play.expect("heights over their steps", heights(world, "cube") - steps, 0.2, within=2e-3, unit="m")
    play.expect("heights", heights(world, "cube"), (0.2, 0.7, 1.2, 1.7), within=2e-3, unit="m")
    play.check("they sleep", play.asleep(world))


@sample("rapier/control/deserialize", title="Debug: deserialize", source=SOURCE)
def deserialize(play):
    """A scene goes through JSON text and back: both worlds of it go on to the same bits."""
    import json

    scene = ground()
    for k in range(8):
        scene.add_body(f"box{k}", shape=cube(0.6), position=(0.1 * k, 0, 0.5 + 0.9 * k), orientation=turned(X, 7.0 * k))
    scene.add_joint(mc.BallJoint("box6", "box7", (0.65, 0, 6.3)))
    again = mc.Scene.from_dict(json.loads(json.dumps(scene.to_dict())))
    worlds = [mc.World(scene), mc.World(again)]
    for world in worlds:
        play(world, 3.0)
    play.check("the same bits", worlds[0].state_hash() == worlds[1].state_hash())
    play.between("height of the highest", world.positions[1:, 2].max(), upper=4.0, unit="m")
