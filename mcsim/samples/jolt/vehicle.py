"""Jolt's samples of vehicles."""

import math

import numpy as np

import mcsim as mc
from mcsim.samples.parts import G, X, Y, Z, box, ground, lean, turned
from mcsim.samples.registry import sample

SOURCE = "Jolt, Samples/Tests/Vehicle"


def car_on(scene, place=(0, 0, 1.0), mass=1500.0, **body):
    """A car of 4 × 1.8 m with a low centre of mass, on four wheels of 0.3 m that are rays -> its world and the Vehicle."""
    chassis = [box(4, 1.8, 0.4), box(2, 1.4, 0.5, position=(-0.2, 0, 0.45), density=200)]
    scene.add_body("car", shape=chassis, position=place, mass=mass, **body)
    world = mc.World(scene)
    wheels = [mc.Wheel((x, y, -0.2), radius=0.3, steered=x > 0) for x in (1.4, -1.4) for y in (0.8, -0.8)]
    return world, mc.Vehicle(world, "car", wheels)


@sample("jolt/vehicle/vehicle_constraint", title="Vehicle Constraint", source=SOURCE, slow=True)
def vehicle_constraint(play):
    """A car accelerates with a force, rolls on, and brakes to a stand within the way that v²/(2 a) gives."""
    world, car = car_on(ground(friction=1.0))
    for _ in play.steps(world, 2.0):
        car.drive()
    start = world.body("car").position[0]
    for _ in play.steps(world, 4.0):
        car.drive(force=3000.0)
    play.expect("speed", car.speed, 4 * 3000 / 1500, within=0.1, unit="m/s")
    play.expect("way", world.body("car").position[0] - start, 2.0 * 4**2 / 2, within=0.4, unit="m")
    v, at = car.speed, world.body("car").position[0]
    for _ in play.steps(world, 4.0):
        car.drive(brake=6000.0)
    play.expect("way of braking", world.body("car").position[0] - at, v**2 / (2 * 4.0), within=0.3, unit="m")
    play.expect("it stands", car.speed, 0.0, within=0.01, unit="m/s")
    play.expect("loads of the wheels", car.loads.sum(), 1500 * G, within=20.0, unit="N")


@sample("jolt/vehicle/vehicle_steering", title="Vehicle Constraint (steering)", source=SOURCE, slow=True, camera="top")
def vehicle_steering(play):
    """A car that steers by 0.2 rad at walking pace goes round on the circle of Ackermann's rule."""
    world, car = car_on(ground(friction=1.0))
    places = []
    for step in play.steps(world, 25.0):
        car.drive(force=800 * (2.0 - car.speed), steer=0.2)
        if step > 300:
            places.append(world.body("car").position[:2].copy())
    # The rear axle's middle goes round at wheelbase / tan(steer); the centre of mass is about half a wheelbase before it.
    radius = math.hypot(2.8 / math.tan(0.2), 1.4)
    x, y = np.array(places).T
    centre = np.linalg.lstsq(np.c_[2 * x, 2 * y, np.ones(len(x))], x**2 + y**2, rcond=None)[0]
    found = math.sqrt(centre[2] + centre[0] ** 2 + centre[1] ** 2)
    play.expect("radius", found, radius, within=0.05 * radius, unit="m")
    play.between("upright", lean(world, "car"), upper=0.05, unit="rad")


@sample("jolt/vehicle/vehicle_slope", title="Vehicle Constraint (slope)", source=SOURCE, slow=True)
def vehicle_slope(play):
    """A braked car stands on a slope of 20 degrees; where it is slippery, it slides as a block does."""
    speeds, turn = [], turned(Y, 20)
    for friction in (1.0, 0.02):
        scene = mc.Scene()
        surface = mc.Material(friction=friction)
        scene.add_body("slope", shape=mc.Plane(mc.rotation.rotate(turn, Z)), kind="static", material=surface)
        world, car = car_on(scene, mc.rotation.rotate(turn, (0, 0, 0.6)), orientation=turn)
        for _ in play.steps(world, 4.0):
            car.drive(brake=20_000.0)
        speeds.append(np.linalg.norm(world.body("car").velocity))
    play.expect("with friction it stands", speeds[0], 0.0, within=0.02, unit="m/s")
    slide = G * 4.0 * (math.sin(math.radians(20)) - math.sqrt(0.02) * math.cos(math.radians(20)))
    play.expect("without it slides", speeds[1], slide, within=0.05 * slide, unit="m/s")


@sample("jolt/vehicle/vehicle_six_dof", title="Vehicle Six DOF", source=SOURCE, overlap=None)
def vehicle_six_dof(play):
    """A car with wheels that are bodies, sprung upwards by six-DOF joints, drives at its motors' speed."""
    scene = ground(friction=1.0)
    scene.add_body("car", shape=box(4, 1.4, 0.5), position=(0, 0, 1.0), mass=1000.0)
    law, fast, hold = mc.Spring(60_000.0, 5_000.0), mc.Motor(velocity=8.0, max_force=600.0), mc.Motion(0.0)
    tyre = mc.Cylinder(0.4, 0.15, orientation=turned(X, 90))
    for k, (x, y) in enumerate([(1.5, 1), (1.5, -1), (-1.5, 1), (-1.5, -1)]):
        at = (x, y, 0.6)
        scene.add_body(f"wheel{k}", shape=tyre, position=at, mass=40.0, material=mc.Material(friction=1.0))
        scene.add_body(f"hub{k}", shape=mc.Sphere(0.05), position=at, mass=20.0, collision_mask=0)
        up = [None, None, law, None, None, None]
        scene.add_joint(mc.FreeJoint("car", f"hub{k}", at, spring=up, motion=[hold, hold, None, hold, hold, hold]))
        scene.add_joint(mc.HingeJoint(f"hub{k}", f"wheel{k}", at, Y, motor=fast))
    world = mc.World(scene)
    play(world, 8.0)
    play.expect("speed", world.body("car").velocity[0], 8.0 * 0.4, within=0.1, unit="m/s")
    play.expect("straight on", world.body("car").position[1], 0.0, within=0.1, unit="m")
    play.expect("sag", 0.8 - world.body("car").position[2], 1000 * G / 4 / 60_000, within=0.01, unit="m")
