"""Rapier's samples of many bodies: shapes of all kinds, towers, grounds."""

import numpy as np

import mcsim as mc
from mcsim.samples.measure import load, settle
from mcsim.samples.parts import G, box, cube, flat_mesh, ground, heights, lean
from mcsim.samples.registry import sample

SOURCE = "Rapier, examples3d"
MIXED = [cube(2.0), mc.Sphere(1.0), mc.Cylinder(1.0, 1.0, rounding=0.1), mc.Cone(1.0, 1.0), mc.Capsule(0.7, 0.3)]
SPOUTED = (mc.Sphere(0.5), mc.Cylinder(0.5, 0.5, rounding=0.05), mc.Cone(0.5, 0.5), cube(1.0), mc.Capsule(0.5, 0.5))


def fill(scene, shapes, counts, spacing, base=0.0):
    """Puts shapes in turn on a grid of so many along x, y and z about the z axis, every other layer a little aside."""
    for n, (k, i, j) in enumerate(np.ndindex(counts[2], counts[0], counts[1])):
        place = np.array([i - (counts[0] - 1) / 2, j - (counts[1] - 1) / 2, k + 0.5]) * spacing
        scene.add_body(f"body{n}", shape=shapes[n % len(shapes)], position=place + (0.1 * (k % 2), 0, base))


def hills(x, y):
    """The ground of the samples heightfield and trimesh: waves of 1 m, walls of 10 m at 25 m from the middle."""
    wall = 10.0 * (np.maximum(np.abs(x), np.abs(y)) > 23.0)
    return np.sin(x) + np.cos(y) + wall


@sample("rapier/piles/primitives", title="Primitives", source=SOURCE, slow=True)
def primitives(play):
    """512 cubes, balls, rounded cylinders, cones and capsules of 2 m fall on a plane that bears their weight at last."""
    scene = ground(friction=0.5)
    fill(scene, MIXED, (8, 8, 8), 3.1)
    world = mc.World(scene)
    settle(play, world, 12.0)
    play.between("lowest centre", world.positions[1:, 2].min(), lower=0.49, unit="m")


@sample("rapier/piles/compound", title="Compound", source=SOURCE, slow=True)
def compound(play):
    """216 bodies of three beams each, U upside, fall on each other and lie."""
    scene = ground()
    beams = [box(4, 0.4, 0.4)] + [box(0.4, 0.4, 4, position=(side, 0, 2)) for side in (-2, 2)]
    fill(scene, [beams], (6, 6, 6), 4.6)
    world = mc.World(scene)
    settle(play, world, 10.0)
    play.between("lowest centre", world.positions[1:, 2].min(), lower=0.195, unit="m")


@sample("rapier/piles/convex_polyhedron", title="Convex polyhedron", source=SOURCE, slow=True)
def convex_polyhedron(play):
    """512 hulls of 10 random points in a cube of 2 m fall on a plane, lie there, and sleep."""
    random = np.random.default_rng(5)
    scene = ground()
    fill(scene, [mc.ConvexHull(random.uniform(-1, 1, (10, 3))) for _ in range(512)], (8, 8, 8), 3.5)
    world = mc.World(scene)
    settle(play, world, 12.0)
    play.between("part that sleeps", world.asleep[1:].mean(), lower=0.9)


@sample("rapier/piles/heightfield", title="Heightfield", source=SOURCE, slow=True)
def heightfield(play):
    """512 mixed bodies fall into a walled field of waves; none gets through."""
    line = np.linspace(-25, 25, 101)
    field = hills(line[:, None], line)
    scene = mc.Scene()
    scene.add_body("ground", shape=mc.HeightField(field, 0.5), kind="static")
    fill(scene, MIXED, (8, 8, 8), 3.1, base=3.0)
    world = mc.World(scene)
    settle(play, world, 10.0, within=0.05)
    x, y, z = world.positions[1:].T
    play.between("height over the waves", z - np.sin(x) - np.cos(y), lower=0.2, unit="m")
    play.between("distance from the middle", np.abs([x, y]), upper=25.0, unit="m")


@sample("rapier/piles/trimesh", title="Trimesh", source=SOURCE, slow=True)
def trimesh(play):
    """As heightfield, of triangles: 512 mixed bodies fall into a walled field of waves; none gets through."""
    scene = mc.Scene()
    scene.add_body("ground", shape=flat_mesh(100, 0.5, hills), kind="static")
    fill(scene, MIXED, (8, 8, 8), 3.1, base=3.0)
    world = mc.World(scene)
    settle(play, world, 10.0, within=0.05)
    x, y, z = world.positions[1:].T
    play.between("height over the waves", z - np.sin(x) - np.cos(y), lower=0.2, unit="m")
    play.between("distance from the middle", np.abs([x, y]), upper=25.0, unit="m")


@sample("rapier/piles/fountain", title="Fountain", source=SOURCE, slow=True, overlap=None)
def fountain(play):
    """Bodies, some of them rounded, spout up at 15 m/s, one every eight steps; of more than 60 the farthest goes."""
    world = mc.World(ground())
    tops, born = {}, 0
    for step in play.steps(world, 12.0):
        if step % 8 == 0:
            way = (3 * np.cos(born), 3 * np.sin(born), 15)
            world.add_body(f"drop{born}", shape=SPOUTED[born % 5], position=(0, 0, 10), velocity=way)
            born += 1
            if len(world.bodies) > 61:
                away = np.linalg.norm(world.positions[1:, :2], axis=1)
                world.remove_body(world.body_names[1 + int(away.argmax())])
        for name, z in zip(world.body_names, world.positions[:, 2], strict=True):
            tops[name] = max(z, tops.get(name, 0.0))
    play.check("90 were born, 60 are left", born == 90 and len(world.bodies) == 61)
    play.expect("top of the first one's way", tops["drop0"], 10 + 15**2 / (2 * G), within=0.05, unit="m")
    play.between("lowest centre", world.positions[1:, 2].min(), lower=0.2, unit="m")


@sample("rapier/piles/domino", title="Domino", source=SOURCE, slow=True, overlap=5e-3)
def domino(play):
    """A spiral of 100 dominoes, 4 m high, falls from its outer end to its inner one."""
    scene, angle = ground(), 0.0
    for k in range(100):
        r = 32.0 - angle * 0.95
        place = (r * np.cos(angle), r * np.sin(angle), 2.0)
        turn = mc.rotation.from_axis_angle(np.array([0.0, 0, 1]), angle)
        scene.add_body(f"tile{k}", shape=box(2, 0.5, 4), position=place, orientation=turn)
        angle += 1.6 / r
    world = mc.World(scene)
    world.apply_impulse("tile0", (0, 4000.0, 0), point=(32, 0, 4))
    play(world, 28.0)
    leans = [lean(world, f"tile{k}") for k in range(100)]
    play.between("lean of the tiles", leans, lower=0.9, unit="rad")


@sample("rapier/piles/platform", title="Platform", source=SOURCE, slow=True)
def platform(play):
    """A kinematic platform goes up and down and to and fro; 216 boxes in columns ride on it without slipping."""
    scene = mc.Scene()
    scene.add_body("platform", shape=box(10, 10, 0.4), kind="kinematic", position=(0, 0, -0.2))
    for n, (i, j, k) in enumerate(np.ndindex(6, 6, 6)):
        scene.add_body(f"box{n}", shape=cube(0.4), position=(i - 2.5, j - 2.5, 0.2 + 0.4 * k))
    world = mc.World(scene)
    start = world.positions[1:] - world.positions[0]
    for step in play.steps(world, 8.0):
        t = step * world.dt
        world.set_velocity("platform", (0.5 * np.sin(t), 0, np.sin(2 * t)))
    play.expect("boxes on the platform", world.positions[1:] - world.positions[0], start, within=0.01, unit="m")
    z = 0.5 * (1 - np.cos(16.0))
    play.expect("height of the platform", world.positions[0, 2] + 0.2, z, within=0.02, unit="m")


@sample("rapier/piles/collision_groups", title="Collision groups", source=SOURCE)
def collision_groups(play):
    """Cubes of two groups fall on two floors: green ones stay on the upper, blue ones fall through to the lower."""
    scene = mc.Scene()
    for name, group, z in (("green", 1, 5.0), ("blue", 2, 0.0)):
        shape = box(10, 10, 0.2, position=(0, 0, -0.1))
        scene.add_body(f"floor.{name}", shape=shape, kind="static", position=(0, 0, z), collision_group=group)
    for n, (i, j, k) in enumerate(np.ndindex(8, 8, 4)):
        name, group = (("green", 1), ("blue", 2))[n % 2]
        place = (i - 3.5, j - 3.5, 5.4 + 0.8 * k)
        scene.add_body(f"{name}{n}", shape=cube(0.2), position=place, collision_group=group, collision_mask=group)
    world = mc.World(scene)
    play(world, 4.0)
    play.between("green cubes", heights(world, "green"), 5.09, 5.9, unit="m")
    play.between("blue cubes", heights(world, "blue"), 0.09, 0.9, unit="m")
    each = np.array([load(world, f"floor.{name}") for name in ("green", "blue")]) / (128 * 8.0 * G)
    play.expect("load of the floors over the cubes' weight", each, 1.0, within=0.001)


@sample("rapier/piles/restitution", title="Restitution", source=SOURCE, overlap=None)
def restitution(play):
    """Two rows of 11 balls of 0.5 m, restitution 0 to 1, come back to e² of the way they fell."""
    scene, e = ground(restitution=0.0), np.tile(np.arange(11) / 10, 2)
    falls = np.repeat([10.0, 20.0], 11)
    for k in range(22):
        place = (2.0 * (k % 11) - 10, 4.0 * (k // 11), falls[k] + 0.5)
        scene.add_body(f"ball{k}", shape=mc.Sphere(0.5), position=place, material=mc.Material(restitution=e[k]))
    world = mc.World(scene)
    tops, landed = np.zeros(22), np.zeros(22, bool)
    for _ in play.steps(world, 5.0):
        landed |= world.velocities[1:, 2] > 0
        tops = np.maximum(tops, np.where(landed & (tops <= falls), world.positions[1:, 2] - 0.5, 0))
    play.expect("height of the first bounce", tops / falls, e**2, within=0.001)


@sample("rapier/piles/damping", title="Damping", source=SOURCE, camera="top")
def damping(play):
    """Ten balls without gravity lose their speeds as exp(-c t), c from 0.1 to 1 for both speeds."""
    scene, c = ground(gravity=0.0), np.arange(1, 11) / 10
    for k in range(10):
        push = {"velocity": (1.0, 0, 0), "angular_velocity": (0, 0, 3.0)}
        place = (0, 3.0 * k, 2)
        scene.add_body(f"ball{k}", shape=mc.Sphere(1.0), position=place, linear_damping=c[k], angular_damping=c[k], **push)
    world = mc.World(scene)
    play(world, 3.0)
    play.expect("speed", world.velocities[1:, 0], np.exp(-3 * c), within=2e-3, unit="m/s")
    play.expect("spin", world.angular_velocities[1:, 2], 3 * np.exp(-3 * c), within=6e-3, unit="rad/s")
    play.expect("way", world.positions[1:, 0], (1 - np.exp(-3 * c)) / c, within=5e-3, unit="m")


@sample("rapier/piles/sensor", title="Sensor", source=SOURCE)
def sensor(play):
    """A cube that carries a sensor of 1 m falls among 100 cubes; it reports just those that are within."""
    scene = ground()
    for n, (i, j) in enumerate(np.ndindex(10, 10)):
        scene.add_body(f"cube{n}", shape=cube(0.4), position=(i - 4.75, j - 4.75, 0.2))
    shapes = [cube(0.4), mc.Sphere(1.0, sensor=True)]
    scene.add_body("probe", shape=shapes, position=(0.25, 0.25, 5.0), collision_mask=1, mass=60.0)
    world, within = mc.World(scene), set()
    for _ in play.steps(world, 3.0):
        within |= {int(b) for b in world.events.sensor_begin["body_b"]} - {0}
        within -= {int(b) for b in world.events.sensor_end["body_b"]}
    within |= {int(b) for b in world.events.sensor_begin["body_b"]} - {0}
    nearest = np.clip(world.positions[-1] - world.positions[1:-1], -0.2, 0.2) + world.positions[1:-1] - world.positions[-1]
    inside = {1 + int(k) for k in np.flatnonzero(np.linalg.norm(nearest, axis=1) < 1.0)}
    play.check(f"it reports the {len(inside)} cubes within 1 m", within == inside and inside)


@sample("rapier/piles/ccd", title="CCD", source=SOURCE, slow=True, overlap=None)
def ccd(play):
    """A compound at 100 m/s hits walls of 160 cubes: momentum is kept, and nothing passes the fixed wall behind."""
    scene = ground()
    for n, (w, i, j) in enumerate(np.ndindex(2, 8, 10)):
        scene.add_body(f"cube{n}", shape=cube(1.0), position=(4.0 * w, i - 3.5, 0.5 + j))
    scene.add_body("wall", shape=box(0.2, 60, 60), kind="static", position=(30, 0, 30))
    parts = [mc.Sphere(0.5), cube(0.6, position=(-0.8, 0, 0)), mc.Sphere(2.0, sensor=True)]
    scene.add_body("missile", shape=parts, position=(-20, 0.2, 4.5), velocity=(100, 0, 0), density=4000.0, bullet=True)
    world = mc.World(scene)
    before = world.momentum()[0][0]
    play(world, 0.25)
    play.expect("momentum after the impact over that before", world.momentum()[0][0] / before, 1.0, within=0.03)
    play(world, 3.0)
    play.between("how far any body came", world.positions[:, 0], upper=30.0, unit="m")
    play.between("height of any centre", world.positions[1:, 2], lower=0.15, unit="m")
    play.between("cubes that it moved", np.count_nonzero(world.positions[1:161, 0] > 4.5), lower=10)
