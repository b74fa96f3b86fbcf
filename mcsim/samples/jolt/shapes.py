"""Jolt's samples of shapes, also scaled ones, and of what is cast at them."""

import math

import numpy as np

import mcsim as mc
from mcsim.samples.parts import X, Y, box, cube, flat_mesh, ground, lean, prism, turned
from mcsim.samples.registry import sample

SOURCE = "Jolt, Samples/Tests/Shapes"


def rest(play, shape, height, seconds=6.0, **body):
    """A body of a shape is dropped from 1 m above its rest: it comes to lie at that height, and sleeps."""
    scene = ground(rolling_friction=0.03)
    scene.add_body("body", shape=shape, position=(0, 0, height + 1), **body)
    world = mc.World(scene)
    play(world, seconds)
    play.expect("height of the centre of mass", world.body("body").position[2], height, within=0.002, unit="m")
    play.check("it sleeps", play.asleep(world))
    return world


@sample("jolt/shapes/box", title="Box Shape", source=SOURCE)
def box_(play):
    """A box of 20 × 1 × 1 m falls turned, and lies flat."""
    world = rest(play, box(20, 1, 1), 0.5, orientation=turned(X, 20))
    play.expect("mass", world.body("body").mass, 20_000.0, within=1e-6, unit="kg")


@sample("jolt/shapes/sphere", title="Sphere Shape", source=SOURCE)
def sphere(play):
    """A ball lies on its lowest point."""
    world = rest(play, mc.Sphere(1.0), 1.0)
    play.expect("mass", world.body("body").mass, 4000 / 3 * math.pi, within=1e-6, unit="kg")


@sample("jolt/shapes/capsule", title="Capsule Shape", source=SOURCE)
def capsule(play):
    """A capsule falls aslant, and lies on its side."""
    world = rest(play, mc.Capsule(0.5, 1.0), 0.5, orientation=turned(X, 60), seconds=10.0)
    play.expect("level", lean(world, "body"), math.pi / 2, within=1e-3, unit="rad")


@sample("jolt/shapes/tapered_capsule", title="Tapered Capsule Shape", source=SOURCE)
def tapered_capsule(play):
    """Of three tapered capsules one stands on its large ball, one on its small one, and one lies down on its side."""
    scene, big = ground(rolling_friction=0.03), mc.TaperedCapsule(3.0, 1.0, 2.0)
    scene.add_body("large", shape=big, position=(0, 0, 10))
    scene.add_body("small", shape=mc.TaperedCapsule(1.0, 3.0, 2.0), position=(10, 0, 10))
    scene.add_body("side", shape=big, position=(20, 0, 10), orientation=turned(X, 90))
    world = mc.World(scene)
    play(world, 6.0)
    leans = [lean(world, name) for name in ("large", "small", "side")]
    play.expect("leans", leans, (0.0, 0.0, math.pi / 2 + math.asin((3 - 1) / 4)), within=2e-3, unit="rad")
    play.expect("heights half-way between the balls", world.frames()[0][1:, 2], (5.0, 3.0, 2.0), within=2e-3, unit="m")
    play.check("all sleep", play.asleep(world))


@sample("jolt/shapes/cylinder", title="Cylinder Shape", source=SOURCE)
def cylinder(play):
    """A flat cylinder that falls aslant lies on its face."""
    world = rest(play, mc.Cylinder(2.0, 0.5), 0.5, orientation=turned(X, 30), seconds=10.0)
    play.expect("upright", lean(world, "body"), 0.0, within=1e-3, unit="rad")


@sample("jolt/shapes/convex_hull", title="Convex Hull Shape", source=SOURCE)
def convex_hull(play):
    """A tetrahedron, a quarter of its height above the ground, and a wedge lie on their faces."""
    scene = ground()
    tetrahedron = mc.ConvexHull([(1, 1, 1), (1, -1, -1), (-1, 1, -1), (-1, -1, 1)])
    scene.add_body("tetrahedron", shape=tetrahedron, position=(0, 0, 2), orientation=turned(X, 20))
    scene.add_body("wedge", shape=prism([(-1, 0), (1, 0), (1, 1)], 1.0), position=(5, 0, 1))
    world = mc.World(scene)
    play(world, 6.0)
    play.expect("tetrahedron", world.body("tetrahedron").position[2], 1 / math.sqrt(3), within=0.002, unit="m")
    play.expect("wedge", world.body("wedge").position[2], 1 / 3, within=0.002, unit="m")
    play.check("both sleep", play.asleep(world))


@sample("jolt/shapes/static_compound", title="Static Compound Shape", source=SOURCE)
def static_compound(play):
    """Bodies of a bar with a ball at one end lie on bar's edge and ball, and their mass is that of all parts."""
    scene = ground(rolling_friction=0.03)
    parts = [box(4, 0.4, 0.4), mc.Sphere(0.6, position=(2.2, 0, 0))]
    for k in range(3):
        scene.add_body(f"club{k}", shape=parts, position=(0, 4 * k, 2), orientation=turned((1, 0, 0), 25 * k))
    world = mc.World(scene)
    play(world, 8.0)
    play.expect("mass", world.masses[1], 1000 * (0.64 + 4 / 3 * math.pi * 0.6**3), within=1e-6, unit="kg")
    down = [-mc.rotation.rotate(q, X)[2] for q in world.orientations[1:]]
    play.expect("the thin end is down", np.abs(down), math.asin(0.4 / 4.2), within=0.03)
    play.check("all sleep", play.asleep(world))


@sample("jolt/shapes/mutable_compound", title="Mutable Compound Shape", source=SOURCE)
def mutable_compound(play):
    """A body whose parts are moved each half second gets mass and centre by them, and goes on to lie on the ground."""
    scene = ground(rolling_friction=0.05)
    scene.add_body("body", shape=[cube(1.0)], position=(0, 0, 3))
    world = mc.World(scene)
    for k in range(6):
        parts = [cube(1.0)] + [mc.Sphere(0.4, position=(0.8 * math.cos(j + k), 0.8 * math.sin(j + k), 0)) for j in range(k)]
        world.set_shape("body", parts)
        play.expect("mass", world.body("body").mass, 1000 * (1 + k * 4 / 3 * math.pi * 0.4**3), within=1e-6, unit="kg")
        play(world, 0.5)
    play(world, 5.0)
    play.between("height", world.body("body").position[2], 0.3, 1.0, unit="m")
    play.check("it sleeps", play.asleep(world))


@sample("jolt/shapes/mesh", title="Mesh Shape", source=SOURCE)
def mesh(play):
    """Balls, cubes and capsules fall on a mesh of hills, and none falls through."""
    scene = mc.Scene()
    hill = lambda x, y: np.sin(0.5 * x) * np.cos(0.4 * y)  # noqa: E731
    scene.add_body("mesh", shape=flat_mesh(30, 1.0, hill), kind="static")
    shapes = [mc.Sphere(0.5), cube(0.8), mc.Capsule(0.3, 0.4)]
    for k in range(36):
        material = mc.Material(rolling_friction=0.05)
        place = (3 * (k % 6) - 7.5, 3 * (k // 6) - 7.5, 3)
        scene.add_body(f"body{k}", shape=shapes[k % 3], position=place, material=material)
    world = mc.World(scene)
    play(world, 8.0)
    x, y, z = world.positions[1:].T
    inside = (np.abs(x) < 14) & (np.abs(y) < 14)
    play.between("bodies on the mesh", inside.sum(), 30)
    play.between("above it", (z - hill(x, y))[inside], 0.2, 1.5, unit="m")


@sample("jolt/shapes/height_field", title="Height Field Shape", source=SOURCE)
def height_field(play):
    """Rays cast down on a height field hit it at its heights, at the corners to rounding."""
    rng = np.random.default_rng(4)
    field = rng.uniform(-1, 1, (17, 17))
    scene = mc.Scene()
    scene.add_body("ground", shape=mc.HeightField(field, 1.5), kind="static")
    world = mc.World(scene)
    i, j = (a.ravel() for a in np.meshgrid(np.arange(1, 16), np.arange(1, 16), indexing="ij"))
    origins = np.c_[(i - 8) * 1.5, (j - 8) * 1.5, np.full(len(i), 5.0)]
    play(world, 1 / 60)
    hits = world.ray_casts(origins, (0, 0, -1))
    play.expect("heights", hits["point"][:, 2], field[i, j], within=1e-9, unit="m")
    middle = world.ray_casts(origins + (0.75, 0.75, 0), (0, 0, -1))["point"][:, 2]
    inner = (i < 15) & (j < 15)
    play.expect(
        "middles of the cells", middle[inner], (field[i, j] + field[i + 1, j + 1])[inner] / 2, within=1e-9, unit="m"
    )


@sample("jolt/shapes/deformed_height_field", title="Deformed Height Field Shape", source=SOURCE)
def deformed_height_field(play):
    """A wave goes through the ground beneath a ball, which rides on it, and lies in the valley at the end."""
    scene, line = mc.Scene(), np.arange(21) - 10.0
    scene.add_body("ground", shape=mc.HeightField(np.zeros((21, 21)), 1.0), kind="static")
    scene.add_body("ball", shape=mc.Sphere(0.5), position=(3.2, 2.3, 0.5), material=mc.Material(rolling_friction=0.05))
    world = mc.World(scene)
    bowl = 0.03 * (line[:, None] ** 2 + line[None, :] ** 2)
    for step in play.steps(world, 10.0):
        if step % 10 == 0 and step <= 120:
            world.set_shape("ground", mc.HeightField(bowl * step / 120, 1.0))
            world.wake("ball")
    play.expect("in the middle of the bowl", np.linalg.norm(world.body("ball").position[:2]), 0.0, within=0.8, unit="m")
    play.expect("on it", world.body("ball").position[2], 0.5, within=0.05, unit="m")


@sample("jolt/shapes/rotated_translated", title="Rotated Translated Shape", source=SOURCE)
def rotated_translated(play):
    """A cone whose apex is the origin of its body stands on its base beside that origin."""
    shape = mc.Cone(0.5, 1.0, position=(0, 0, -1.0))
    rest(play, shape, 0.5)


@sample("jolt/shapes/offset_center_of_mass", title="Offset Center Of Mass Shape", source=SOURCE)
def offset_center_of_mass(play):
    """Of three balls with the weight below, in the middle and above, the one with it above rolls over."""
    scene = ground()
    for k, z in enumerate((-0.8, 0.0, 0.8)):
        shape = [mc.Sphere(1.0, density=100), mc.Sphere(0.19, position=(0, 0, z), density=100_000)]
        scene.add_body(f"ball{k}", shape=shape, position=(0, 4 * k, 1.0), orientation=turned(Y, 5), angular_damping=1.5)
    world = mc.World(scene)
    play(world, 25.0)
    tips = [lean(world, f"ball{k}") for k in range(3)]
    play.expect("weight below: upright", tips[0], 0.0, within=0.05, unit="rad")
    play.expect("weight above: turned over", tips[2], math.pi, within=0.05, unit="rad")
