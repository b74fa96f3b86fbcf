"""Jolt's samples of contacts: listeners, sensors, speeds, surfaces, edges of meshes."""

import math

import numpy as np

import mcsim as mc
from mcsim.samples.parts import G, X, Y, Z, along, box, cube, flat_mesh, ground, heights, speed, turned
from mcsim.samples.registry import sample

SOURCE = "Jolt, Samples/Tests/General"


@sample("jolt/contacts/contact_listener", title="Contact Listener (validate)", source=SOURCE)
def contact_listener(play):
    """A filter that is asked of every pair lets cubes of one colour through each other, and no others."""
    scene = ground()
    for k, colour in enumerate(("red", "red", "blue")):
        scene.add_body(f"cube{k}", shape=cube(1.0), position=(0, 0, 0.5 + 1.5 * k), user_data=colour)
    world = mc.World(scene)
    world.contact_filter = lambda a, b: a.user_data is None or a.user_data != b.user_data
    begun = []
    for _ in play.steps(world, 3.0):
        begun += [tuple(world.body_names[e[side]] for side in ("body_a", "body_b")) for e in world.events.begin]
    play.expect("heights", heights(world, "cube"), (0.5, 0.5, 1.5), within=0.003, unit="m")
    play.check("the red ones never touch", not any(set(pair) == {"cube0", "cube1"} for pair in begun))
    play.check("the blue one lies on red", any("cube2" in pair for pair in begun))


@sample("jolt/contacts/contact_listener_materials", title="Contact Listener (friction, restitution)", source=SOURCE)
def contact_listener_materials(play):
    """Friction and restitution of pairs of bodies, whatever their materials say: one slides on, one comes back."""
    scene = ground(friction=0.6)
    for k in range(2):
        scene.add_body(f"cube{k}", shape=cube(1.0), position=(0, 3 * k, 0.5), velocity=(4, 0, 0))
        scene.add_body(f"ball{k}", shape=mc.Sphere(0.5), position=(0, 3 * k + 6, 2.5))
    scene.set_pair("cube0", "ground", friction=0.1)
    scene.set_pair("ball0", "ground", restitution=0.5)
    world, tops = mc.World(scene), np.zeros(5)
    for _ in play.steps(world, 2.0):
        tops = np.maximum(tops, np.where(world.velocities[:, 2] > 0, world.positions[:, 2] - 0.5, 0))
    play.expect("speed by the pair's friction", world.velocities[1, 0], 4 - 0.1 * G * 2, within=0.02, unit="m/s")
    play.expect("way by the materials' own", world.positions[3, 0], 16 / (2 * 0.6 * G), within=0.02, unit="m")
    play.expect("the balls come back by", tops[[2, 4]], (0.25 * 2.0, 0.0), within=0.02, unit="m")
    world.set_pair("cube0", "ground", friction=0.6)
    play(world, 2.0)
    play.expect("the first stops, too", world.velocities[1], 0.0, within=1e-3, unit="m/s")


@sample("jolt/contacts/sensor", title="Sensor", source=SOURCE)
def sensor(play):
    """Static and kinematic sensors tell what comes in and goes out; they stop nothing."""
    scene = ground()
    scene.add_body("static", shape=box(3, 3, 1, sensor=True), kind="static", position=(0, 0, 5))
    scene.add_body("moving", shape=box(1, 3, 3, sensor=True), kind="kinematic", position=(-8, 0, 1.5), velocity=(2, 0, 0))
    for k in range(3):
        scene.add_body(f"ball{k}", shape=mc.Sphere(0.4), position=(0.9 * k - 0.9, 0, 9 + k))
    world = mc.World(scene)
    came = {"static": set(), "moving": set()}
    for _ in play.steps(world, 6.0):
        for event in world.events.sensor_begin:
            came[world.body_names[event["body_a"]]].add(world.body_names[event["body_b"]])
    balls = {"ball0", "ball1", "ball2"}
    play.check("all fell through the static one", came["static"] & balls == balls)
    play.check("the moving one passed all", came["moving"] & balls == balls)
    play.expect("they lie on the ground", heights(world, "ball"), 0.4, within=0.003, unit="m")


@sample("jolt/contacts/kinematic", title="Kinematic", source=SOURCE)
def kinematic(play):
    """A kinematic box ploughs through a row of cubes at 2 m/s, and is not slowed."""
    scene = ground()
    for k in range(5):
        scene.add_body(f"cube{k}", shape=cube(1.0), position=(3 + 1.5 * k, 0, 0.5))
    scene.add_body("plough", shape=box(1, 4, 1), kind="kinematic", position=(0, 0, 0.55), velocity=(2, 0, 0))
    world = mc.World(scene)
    play(world, 5.0)
    play.expect("the plough", world.body("plough").position[0], 10.0, within=1e-9, unit="m")
    x = world.positions[1:6, 0]
    play.expect("cubes before it", x, 11.0 + np.arange(5), within=0.02, unit="m")
    play.expect("their speeds", world.velocities[1:6, 0], 2.0, within=0.01, unit="m/s")


@sample("jolt/contacts/high_speed_dominoes", title="High Speed (dominoes)", source=SOURCE)
def high_speed_dominoes(play):
    """A ball of 0.1 m at 500 m/s hits the last of ten dominoes of 0.1 m, and does not pass it."""
    scene = ground()
    for k in range(10):
        scene.add_body(f"domino{k}", shape=box(0.1, 2, 2), position=(5 + k, 0, 1), density=5000)
    scene.add_body("ball", shape=mc.Sphere(0.1), position=(0.2, 0, 1), velocity=(500, 0, 0), bullet=True)
    world = mc.World(scene)
    ahead = [world.body("ball").position[0] - world.body("domino0").position[0] for _ in play.steps(world, 0.5)]
    play.between("ball before the first", max(ahead), upper=-0.1, unit="m")
    play.between("the first is struck", world.body("domino0").velocity[0], 0.01, unit="m/s")


@sample("jolt/contacts/high_speed_sphere", title="High Speed (inside a sphere)", source=SOURCE)
def high_speed_sphere(play):
    """A ball flies to and fro at 500 m/s inside of a hollow sphere of triangles, and does not leave it."""
    scene = mc.Scene(gravity=(0, 0, 0))
    vertices, faces = mc.Sphere(10.0).triangles()
    elastic = mc.Material(friction=0.0, restitution=1.0)
    scene.add_body("shell", shape=mc.Mesh(vertices, faces), kind="static", material=elastic)
    scene.add_body("ball", shape=mc.Sphere(0.5), velocity=(400, 250, 166), material=elastic)
    world = mc.World(scene)
    v = speed(world, "ball")
    places = np.array([world.body("ball").position.copy() for _ in play.steps(world, 5.0)])
    farthest = np.linalg.norm(places, axis=1).max()
    turns = (np.diff(np.sign(np.diff(places[:, 0]))) != 0).sum()
    play.between("times it has turned round", turns, 5.0 * 400 / 40, unit="")
    play.between("farthest from the middle", farthest, upper=9.51, unit="m")
    play.expect("speed", speed(world, "ball"), v, within=1.0, unit="m/s")


@sample("jolt/contacts/high_speed_wall", title="High Speed (smooth wall)", source=SOURCE)
def high_speed_wall(play):
    """A ball hits a wall without friction aslant at 500 m/s and goes on along it with what is along it of its speed."""
    scene = mc.Scene(gravity=(0, 0, 0))
    smooth = mc.Material(friction=0.0)
    scene.add_body("wall", shape=box(200, 1, 20), kind="static", position=(90, 0, 0), material=smooth)
    scene.add_body("ball", shape=mc.Sphere(0.5), position=(0, 5, 0), velocity=(300, -400, 0), material=smooth)
    world = mc.World(scene)
    play(world, 0.2)
    play.expect("velocity", world.body("ball").velocity, (300, 0, 0), within=0.1, unit="m/s")
    play.between("on its side of the wall", world.body("ball").position[1], 0.99, 1.05, unit="m")


@sample("jolt/contacts/edge_removal_ball", title="Enhanced Internal Edge Removal (ball)", source=SOURCE)
def edge_removal_ball(play):
    """Balls roll on a level mesh and down one of 45 degrees as they do on planes."""
    scene = mc.Scene()
    rough = mc.Material(friction=1.0)
    turn = turned(Y, 45)
    scene.add_body("level", shape=flat_mesh(60, 1.0), kind="static", material=rough)
    scene.add_body(
        "steep", shape=flat_mesh(60, 1.0), kind="static", orientation=turn, position=(0, 100, 60), material=rough
    )
    scene.add_body("a", shape=mc.Sphere(0.5), position=(-20, 0.1, 0.5), velocity=(6, 0, 0), angular_velocity=(0, 12, 0),
                   material=rough)  # fmt: skip
    start = np.array((0, 100.1, 60)) + mc.rotation.rotate(turn, (-20, 0, 0.5))
    scene.add_body("b", shape=mc.Sphere(0.5), position=start, material=rough)
    world = mc.World(scene)
    play(world, 3.0)
    play.expect("level: velocity", world.body("a").velocity, (6, 0, 0), within=0.01, unit="m/s")
    way = 5 / 7 * G * math.sin(math.pi / 4) * 3.0**2 / 2
    play.expect("steep: way", np.linalg.norm(world.body("b").position - start), way, within=0.02 * way, unit="m")
    play.expect("steep: straight", world.body("b").position[1], 100.1, within=0.02, unit="m")


@sample("jolt/contacts/edge_removal_boxes", title="Enhanced Internal Edge Removal (boxes)", source=SOURCE)
def edge_removal_boxes(play):
    """Smooth boxes slide over a floor of boxes, of triangles, and of a height field, and keep their velocity."""
    scene, smooth = mc.Scene(), mc.Material(friction=0.0)
    tiles = [box(1, 1, 1, position=(x + 0.5, y + 0.5, -0.5)) for x in range(-20, 20) for y in (-1, 0)]
    floors = [tiles, flat_mesh(40, 1.0), mc.HeightField(np.zeros((41, 41)), 1.0)]
    for k, floor in enumerate(floors):
        scene.add_body(f"floor{k}", shape=floor, kind="static", position=(0, 60 * k, 0), material=smooth)
        scene.add_body(f"box{k}", shape=cube(1.0), position=(-15, 60 * k + 0.2, 0.5), velocity=(6, 0, 0), material=smooth)
    world = mc.World(scene)
    play(world, 4.0)
    velocities = [world.body(f"box{k}").velocity for k in range(3)]
    play.expect("velocities", velocities, (6, 0, 0), within=1e-3, unit="m/s")
    places = [world.body(f"box{k}").position[0] for k in range(3)]
    play.expect("places", places, -15 + 6 * 4.0, within=0.01, unit="m")
    play.expect("heights", heights(world, "box"), 0.5, within=0.002, unit="m")


@sample("jolt/contacts/friction_per_triangle", title="Friction Per Triangle", source=SOURCE)
def friction_per_triangle(play):
    """A slope of eleven strips of triangles of other frictions, a mesh each: boxes slide by the formula of their strip."""
    scene, mu, turn = mc.Scene(), np.linspace(0, 1, 11), turned(Y, 30)
    for k in range(11):
        place, material = (0, 4.0 * k, 0), mc.Material(friction=mu[k])
        x, y = np.meshgrid([-30, 0, 30], [-2, 2], indexing="ij")
        faces = [(0, 2, 3), (0, 3, 1), (2, 4, 5), (2, 5, 3)]
        strip = mc.Mesh(np.c_[x.ravel(), y.ravel(), np.zeros(6)], faces)
        scene.add_body(f"strip{k}", shape=strip, kind="static", position=place, orientation=turn, material=material)
        start = np.array(place) + mc.rotation.rotate(turn, (-25, 0, 0.5))
        scene.add_body(f"box{k}", shape=cube(1.0), position=start, orientation=turn, material=mc.Material(friction=mu[k]))
    world = mc.World(scene)
    start = world.positions.copy()
    play(world, 2.0)
    ways = np.linalg.norm(world.positions - start, axis=1)[1::2]
    pull = np.maximum(0, G * (math.sin(math.pi / 6) - mu * math.cos(math.pi / 6)))
    play.expect("ways", ways, pull * 2.0, within=0.05, unit="m")


@sample("jolt/contacts/turntable", title="Conveyor Belt (angular)", source=SOURCE)
def turntable(play):
    """Boxes on a disc that turns at 1 rad/s go round with it where friction can hold them, farther out they slide off."""
    scene = ground()
    disc = mc.Cylinder(10.0, 0.5)
    scene.add_body("disc", shape=disc, kind="kinematic", position=(0, 0, 3), angular_velocity=(0, 0, 1))
    radii = np.array([1.0, 2, 3, 4, 7, 8, 9])
    for k, r in enumerate(radii):
        a = k * 2 * math.pi / 7
        place = (r * math.cos(a), r * math.sin(a), 3.75)
        scene.add_body(f"box{k}", shape=cube(0.5), position=place, velocity=np.cross(Z, place), angular_velocity=(0, 0, 1))
    world = mc.World(scene)
    play(world, 5.0)
    now = np.linalg.norm(world.positions[2:, :2], axis=1)
    play.expect("radii of those that are held: w² r < mu g", now[:4], radii[:4], within=0.05, unit="m")
    play.between("the others have slid out", now[4:] - radii[4:], 1.0, unit="m")


@sample("jolt/contacts/high_speed_capsule", title="High Speed (capsule)", source=SOURCE)
def high_speed_capsule(play):
    """A capsule that flies at 300 m/s and spins hits a wall of 0.1 m: its middle stays before it."""
    scene = mc.Scene(gravity=(0, 0, 0))
    scene.add_body("wall", shape=box(0.1, 20, 20), kind="static", position=(10, 0, 0))
    capsule = mc.Capsule(0.2, 1.0, orientation=along(X))
    scene.add_body("capsule", shape=capsule, position=(0, 0, 0), velocity=(300, 0, 0), angular_velocity=(0, 20, 30))
    world = mc.World(scene)
    ahead = [world.body("capsule").position[0] for _ in play.steps(world, 1.0)]
    play.between("farthest", max(ahead), 8.0, 9.95, unit="m")


@sample("jolt/contacts/contact_manifold", title="Contact Manifold", source=SOURCE)
def contact_manifold(play):
    """Bodies at rest on the ground touch it in as many points as their faces need, which bear their weights."""
    scene = ground(rolling_friction=0.02)
    shapes = [mc.Sphere(0.5), cube(1.0), mc.Capsule(0.3, 0.6, orientation=along(X)), mc.Cylinder(0.5, 0.5)]
    for k, shape in enumerate(shapes):
        scene.add_body(f"body{k}", shape=shape, position=(3 * k, 0, 0.5 if k != 2 else 0.3))
    world = mc.World(scene, sleep=False)
    play(world, 2.0)
    for k, points in enumerate((1, 4, 2)):
        play.expect(f"points of body {k}", len(world.body(f"body{k}").contacts), points, within=0)
    for k in range(4):
        body = world.body(f"body{k}")
        force = body.contacts["normal_impulse"].sum() / world.dt
        play.expect(f"force on body {k} over its weight", force / (body.mass * G), 1.0, within=1e-3)


@sample("jolt/contacts/gyroscopic_force", title="Gyroscopic Force", source=SOURCE)
def gyroscopic_force(play):
    """A T that spins about its middle axis turns over and over: energy and angular momentum are kept."""
    scene = mc.Scene(gravity=(0, 0, 0))
    bar = [box(0.4, 0.4, 2.0), box(1.0, 0.4, 0.4, position=(0.7, 0, 0))]
    scene.add_body("T", shape=bar, angular_velocity=(10.0, 0.1, 0.1))
    world = mc.World(scene)
    energy, spin = world.energy().total, world.momentum()[1]
    sides = [mc.rotation.rotate(world.body("T").orientation, X)[0] for _ in play.steps(world, 10.0)]
    play.between("it turns over", min(sides), upper=-0.95)
    play.expect("energy", world.energy().total / energy, 1.0, within=1e-6)
    play.expect("angular momentum", world.momentum()[1] / np.linalg.norm(spin), spin / np.linalg.norm(spin), within=1e-9)


@sample("jolt/contacts/plane", title="Plane Shape", source=SOURCE)
def plane(play):
    """On planes of 0, 20 and 40 degrees with friction of 0.6 cubes rest, rest, and slide."""
    ways = []
    for degrees in (0, 20, 40):
        turn = turned(Y, degrees)
        scene = mc.Scene()
        scene.add_body("plane", shape=mc.Plane(mc.rotation.rotate(turn, Z)), kind="static")
        place = mc.rotation.rotate(turn, (0, 0, 0.5))
        scene.add_body("cube", shape=cube(1.0), position=place, orientation=turn)
        world = mc.World(scene)
        play(world, 2.0)
        ways.append(np.linalg.norm(world.body("cube").position - place))
    a = math.radians(40)
    play.expect("ways", ways, (0, 0, G * (math.sin(a) - 0.6 * math.cos(a)) * 2.0), within=0.02, unit="m")
