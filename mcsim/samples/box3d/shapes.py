"""Box3D's samples of shapes and materials: friction, rolling, bounces, belts."""

import math

import numpy as np

import mcsim as mc
from mcsim.samples.parts import G, Y, box, cube, flat_mesh, ground, slope, turned
from mcsim.samples.registry import sample

SOURCE = "Box3D, sample_shapes.cpp"


@sample("box3d/shapes/inclined_plane", title="Inclined Plane", source=SOURCE, camera="side", overlap=1e-3)
def inclined_plane(play):
    """On a slope of 25 degrees boxes with less friction than its tangent slide by the formula, the others stay."""
    frictions, angle, seconds = np.array([0.0, 0.1, 0.25, 0.4, 0.55, 0.8]), 25.0, 2.0
    scene, turn = slope(angle, friction=1.0, length=80.0), turned(Y, angle)
    for k, mu in enumerate(frictions):
        place = mc.rotation.rotate(turn, (0, 3 * k - 7.5, 0.5))
        scene.add_body(f"box{k}", shape=cube(1.0), orientation=turn, position=place, material=mc.Material(friction=mu**2))
    world = mc.World(scene)
    start = world.positions[1:].copy()
    play(world, seconds)
    pull = G * (math.sin(math.radians(angle)) - frictions * math.cos(math.radians(angle)))
    ways = np.linalg.norm(world.positions[1:] - start, axis=1)
    play.expect("ways", ways, np.maximum(pull, 0) * seconds**2 / 2, within=0.05, unit="m")
    play.expect("boxes that stay", ways[4:], 0.0, within=0.002, unit="m")


@sample("box3d/shapes/rolling_resistance", title="Rolling Resistance", source=SOURCE, overlap=1e-3)
def rolling_resistance(play):
    """Balls that roll at 5 m/s stop after the way that their rolling friction gives."""
    scene, radius, arms = ground(), 0.5, 0.02 * np.arange(1, 12)
    for k, arm in enumerate(arms):
        scene.add_body(
            f"ball{k}",
            shape=mc.Sphere(radius),
            position=(0, 2 * k, radius),
            velocity=(5, 0, 0),
            angular_velocity=(0, 5 / radius, 0),
            material=mc.Material(rolling_friction=arm),
        )
    world = mc.World(scene)
    play(world, 32.0)
    # About the point of contact: 7/5 m r^2 times the angular deceleration is arm m g.
    ways = 5.0**2 / (2 * G * arms / (1.4 * radius))
    play.expect("ways over the formula", world.positions[1:, 0] / ways, 1.0, within=0.02)
    play.check("all sleep", play.asleep(world))


@sample("box3d/shapes/isotropic_friction", title="Isotropic Friction", source=SOURCE, camera="top")
def isotropic_friction(play):
    """Thirty-two boxes that slide apart in all directions stop on a circle."""
    scene, mu, v = ground(friction=0.3), 0.3, 8.0
    for k in range(32):
        a = 2 * math.pi * k / 32
        d = np.array((math.cos(a), math.sin(a), 0))
        scene.add_body(
            f"box{k}", shape=cube(0.5), position=8 * d + (0, 0, 0.25), velocity=v * d, material=mc.Material(friction=mu)
        )
    world = mc.World(scene)
    play(world, 5.0)
    radii = np.linalg.norm(world.positions[1:, :2], axis=1)
    play.expect("ways", radii - 8, v * v / (2 * mu * G), within=0.05, unit="m")
    play.expect("the circle is round", radii - radii.mean(), 0.0, within=0.02, unit="m")
    play.check("all sleep", play.asleep(world))


@sample("box3d/shapes/slide_twist", title="Slide Twist", source=SOURCE)
def slide_twist(play):
    """Of two discs that slide alike the one that spins as well goes farther, for friction acts against both."""
    scene, mu = ground(friction=0.3), 0.3
    for k, spin in enumerate((0.0, 20.0)):
        scene.add_body(
            f"disc{k}",
            shape=mc.Cylinder(0.5, 0.1),
            position=(0, 3 * k, 0.1),
            velocity=(4, 0, 0),
            angular_velocity=(0, 0, spin),
            material=mc.Material(friction=mu),
        )
    world = mc.World(scene)
    play(world, 6.0)
    way = 4.0**2 / (2 * mu * G)
    play.expect("way of the one that only slides", world.positions[1, 0], way, within=0.03, unit="m")
    play.between("way of the one that spins", world.positions[2, 0], 1.5 * way, 4 * way, unit="m")
    play.between("it curls to the right, as its front bears more", world.positions[2, 1] - 3, -0.3, -0.02, unit="m")
    play.check("both sleep", play.asleep(world))


def fall_and_bounce(play, shape):
    """Bodies of restitution 0 to 1 fall by 39.5 m -> how high they come back, and how high they should."""
    scene, e = ground(friction=0.0), np.linspace(0, 1, 41)
    for k in range(41):
        scene.add_body(f"body{k}", shape=shape, position=(1.5 * k, 0, 40.0), material=mc.Material(restitution=e[k]))
    world = mc.World(scene)
    tops, landed = np.zeros(41), np.zeros(41, bool)
    for _ in play.steps(world, 8.0):
        landed |= world.velocities[1:, 2] > 0
        tops = np.maximum(tops, np.where(landed, world.positions[1:, 2] - 0.5, 0))
    play.expect("height of the first bounce over the fall", tops / 39.5, e**2, within=0.01)


@sample("box3d/shapes/restitution_sphere", title="Restitution (sphere)", source=SOURCE, camera="front")
def restitution_sphere(play):
    """Balls of restitution 0 to 1 fall from 40 m and come back to e² of the way."""
    fall_and_bounce(play, mc.Sphere(0.5))


@sample("box3d/shapes/restitution_box", title="Restitution (box)", source=SOURCE, camera="front")
def restitution_box(play):
    """Boxes of restitution 0 to 1 fall flat from 40 m and come back to e² of the way."""
    fall_and_bounce(play, cube(1.0))


@sample("box3d/shapes/static_invoke", title="Static Invoke", source=SOURCE)
def static_invoke(play):
    """A static wall put where a ball lies moves nothing but wakes it: the ball is pushed out, and rests beside it."""
    scene = ground(rolling_friction=0.05)
    scene.add_body("ball", shape=mc.Sphere(0.5), position=(0, 0, 0.5))
    world = mc.World(scene)
    play(world, 2.0)
    play.check("the ball sleeps", play.asleep(world))
    world.add_body("wall", shape=box(1, 4, 2), kind="static", position=(-0.9, 0, 1))
    play(world, 0.1)
    play.check("it is awake", not play.asleep(world))
    play(world, 8.0)
    play.between("it is beside the wall", world.body("ball").position[0], 0.099, 1.5, unit="m")
    play.check("it sleeps again", play.asleep(world))


@sample("box3d/shapes/conveyor_belt", title="Conveyor Belt", source=SOURCE)
def conveyor_belt(play):
    """Five crates on a belt that runs at 2 m/s go with it, after a while of sliding."""
    scene, mu, belt = ground(), 0.8, 2.0
    surface = mc.Material(friction=mu, surface_velocity=(belt, 0, 0))
    scene.add_body("belt", shape=box(40, 4, 0.5), kind="static", position=(15, 0, 2.75), material=surface)
    for k in range(5):
        scene.add_body(f"crate{k}", shape=cube(1.0), position=(1.5 * k, 0, 3.5), material=mc.Material(friction=mu))
    world = mc.World(scene)
    play(world, 6.0)
    way = belt * 6.0 - belt**2 / (2 * mu * G)
    play.expect("ways", world.positions[2:, 0] - 1.5 * np.arange(5), way, within=0.02, unit="m")
    play.expect("speeds", world.velocities[2:, 0], belt, within=1e-3, unit="m/s")
    play.expect("heights", world.positions[2:, 2], 3.5, within=0.002, unit="m")


@sample("box3d/shapes/conveyor_mesh", title="Conveyor Mesh", source=SOURCE)
def conveyor_mesh(play):
    """Boxes on a ground of four meshes, one a quarter, are carried by each at its own velocity."""
    scene, mu, runs = mc.Scene(), 0.8, [(1, 0), (0, 1), (-1, 0), (0, -1)]
    for k, (x, y) in enumerate(runs):
        surface = mc.Material(friction=mu, surface_velocity=(x, y, 0))
        place = (20 * (k % 2) - 10, 20 * (k // 2) - 10, 0)
        scene.add_body(f"mesh{k}", shape=flat_mesh(10, 2.0), kind="static", position=place, material=surface)
        for j in range(2):
            scene.add_body(f"box{k}_{j}", shape=cube(1.0), position=(place[0] + 3 * j - 1, place[1], 0.5))
    world = mc.World(scene)
    start = world.positions.copy()
    play(world, 4.0)
    boxes = [k for k, name in enumerate(world.body_names) if name.startswith("box")]
    mean = math.sqrt(mu * 0.6)  # friction of the two surfaces
    way = np.repeat(np.array([(x, y, 0) for x, y in runs]), 2, axis=0) * (4.0 - 1.0 / (2 * mean * G))
    play.expect("ways", world.positions[boxes] - start[boxes], way, within=0.02, unit="m")
    play.expect("no box turns", world.angular_velocities[boxes], 0.0, within=1e-3, unit="rad/s")


@sample("box3d/shapes/wind", title="Wind", source=SOURCE, overlap=None)
def wind(play):
    """Ten balls hang in a row on strings, and lean in the wind by what its drag has against their weight."""
    scene, speed, drag = mc.Scene(), 6.0, 1.0
    for k in range(10):
        scene.add_body(f"ball{k}", shape=mc.Sphere(0.25), mass=0.5 + 0.25 * k, position=(0, k, 3), linear_damping=1.0)
        scene.add_joint(mc.HingeJoint(None, f"ball{k}", (0, k, 5), Y, friction=0.02, name=f"string{k}"))
    world = mc.World(scene)
    for _ in play.steps(world, 12.0):
        world.apply_wind((speed, 0, 0), drag=drag)
    force = 0.5 * 1.2 * drag * math.pi * 0.25**2 * speed**2
    leans = np.arctan(force / (world.masses * G))
    play.expect("leans", [-joint.angle for joint in world.joints], leans, within=0.01, unit="rad")
    for _ in play.steps(world, 9.0):
        world.apply_wind((0, 0, 0), drag=drag)
    play.expect("in still air they hang", [joint.angle for joint in world.joints], 0.0, within=0.02, unit="rad")
