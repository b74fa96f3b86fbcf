"""Box3D's benchmark scenes that are small enough to check."""

import numpy as np

import mcsim as mc
from mcsim.samples.measure import stands
from mcsim.samples.parts import Z, box, cube, ground, heights, turned
from mcsim.samples.registry import sample

SOURCE = "Box3D, sample_benchmark.cpp"


@sample("box3d/benchmark/washer", title="Washer", source=SOURCE, slow=True, overlap=None)
def washer(play):
    """Five hundred cubes are turned over in a drum that turns: all stay in it."""
    scene, sides = mc.Scene(), 32
    a = 2 * np.pi * np.arange(sides) / sides
    walls = [box(0.5, 4, 1.2, position=(5 * np.cos(t), 0, 5 * np.sin(t)), orientation=turned((0, -1, 0), np.degrees(t)))
             for t in a]  # fmt: skip
    lids = [box(11, 0.5, 11, position=(0, y, 0)) for y in (-2.25, 2.25)]
    fins = [box(1.5, 4, 0.3, position=(4.2 * np.cos(t), 0, 4.2 * np.sin(t)), orientation=turned((0, -1, 0), np.degrees(t)))
            for t in a[::8]]  # fmt: skip
    scene.add_body("drum", shape=[*walls, *lids, *fins], kind="kinematic", angular_velocity=(0, 0.6, 0))
    for k in range(500):
        place = (0.42 * (k % 10) - 1.9, 0.42 * (k // 10 % 8) - 1.5, 0.42 * (k // 80) - 1.5)
        scene.add_body(shape=cube(0.4), position=place)
    world = mc.World(scene)
    play(world, 5.0)
    play.between("inside, along", np.abs(world.positions[1:, 1]), upper=2.0, unit="m")
    play.between("the heap is carried up on one side", world.positions[1:, 0].mean(), upper=-0.3, unit="m")
    play.between("inside, across", np.linalg.norm(world.positions[1:, [0, 2]], axis=1), upper=4.9, unit="m")


@sample("box3d/benchmark/rain", title="Rain", source=SOURCE, slow=True)
def rain(play):
    """Twenty-five ragdolls fall on a floor: they lie, and their joints stay closed."""
    world = mc.World(mc.scenes.ragdolls11(count=25))
    play(world, 6.0)
    play.between("heights of all segments", world.positions[1:, 2], 0.0, 1.0, unit="m")


@sample("box3d/benchmark/falling_boxes", title="Falling Boxes", source=SOURCE)
def falling_boxes(play):
    """Twenty columns of ten cubes fall and come to rest, none in another."""
    scene = ground()
    for k in range(200):
        place = (1.2 * (k % 5), 1.2 * (k // 5 % 4), 0.6 + 1.3 * (k // 20))
        scene.add_body(f"box{k}", shape=cube(1.0), position=place, orientation=turned(Z, 3 * (k // 20)))
    world = mc.World(scene)
    play(world, 10.0)
    play.between("heights", heights(world, "box"), 0.49, 10.5, unit="m")
    play.check("all sleep", play.asleep(world))


@sample("box3d/benchmark/large_pyramid", title="Large Pyramid", source=SOURCE, camera="front", slow=True)
def large_pyramid(play):
    """A pyramid of thirty rows of cubes, 465 of them, stands and sleeps."""
    scene = ground()
    for row in range(30):
        for k in range(30 - row):
            scene.add_body(shape=cube(1.0), position=(k + 0.5 * row - 14.5, 0, 0.5 + row))
    world = mc.World(scene)
    stands(play, world, 4.0, sinking=0.03, aside=0.01)


@sample("box3d/benchmark/explosion", title="Explosion", source=SOURCE)
def explosion(play):
    """Cubes on a circle are thrown outwards by impulses that fall off with the distance, all alike in each ring."""
    scene, rings = ground(), (3.0, 6.0, 9.0)
    for r in rings:
        for k in range(12):
            a = 2 * np.pi * k / 12
            scene.add_body(shape=cube(1.0), position=(r * np.cos(a), r * np.sin(a), 0.5), orientation=turned(Z, 30 * k))
    world = mc.World(scene)
    play(world, 1.0)
    start = world.positions[1:].copy()
    far = np.linalg.norm(start[:, :2], axis=1)
    away = start * (1, 1, 0) / far[:, None]
    world.apply_impulses(world.masses[1:, None] * away * np.maximum(0, 9.0 - far)[:, None], range(1, 37))
    play(world, 4.0)
    ways = np.linalg.norm((world.positions[1:] - start)[:, :2], axis=1).reshape(3, 12)
    play.expect("the outermost ring is not thrown", ways[2], 0.0, within=0.7, unit="m")
    play.between("the innermost goes on", ways[0], 1.5, unit="m")
    play.expect("alike all round", (ways - ways.mean(axis=1)[:, None])[1:], 0.0, within=0.2, unit="m")


@sample("box3d/benchmark/convex_pile", title="Convex Pile", source=SOURCE, slow=True)
def convex_pile(play):
    """Two hundred hulls of random points fall into a pit, and lie in it, none below the ground or outside."""
    scene, rng = ground(), np.random.default_rng(11)
    for k, (x, y) in enumerate(((4, 0), (-4, 0), (0, 4), (0, -4))):
        scene.add_body(f"wall{k}", shape=box(1 if x else 9, 9 if x else 1, 20), kind="static", position=(x, y, 10))
    for k in range(200):
        points = rng.normal(size=(16, 3))
        hull = mc.ConvexHull(0.5 * points / np.linalg.norm(points, axis=1)[:, None])
        place = (1.2 * (k % 5) - 2.4, 1.2 * (k // 5 % 5) - 2.4, 1 + 1.2 * (k // 25))
        scene.add_body(f"hull{k}", shape=hull, position=place)
    world = mc.World(scene)
    play(world, 6.0)
    play.between("inside the walls", np.abs(world.positions[5:, :2]), upper=3.5, unit="m")
    play.between("heights", world.positions[5:, 2], 0.1, 8.0, unit="m")
    play.between("speeds", np.linalg.norm(world.velocities[5:], axis=1), upper=0.2, unit="m/s")


@sample("box3d/benchmark/candy_cups", title="Candy Cups", source=SOURCE, slow=True)
def candy_cups(play):
    """Nine cups of sixteen walls and a bottom are filled with forty candies each, which stay in them."""
    scene, kinds = ground(), [mc.Sphere(0.1), cube(0.18), mc.Capsule(0.08, 0.06)]
    angles = 360 * np.arange(16) / 16
    walls = [box(0.1, 0.34, 1.5, position=mc.rotation.rotate(turned(Z, a), (0.75, 0, 0.75)), orientation=turned(Z, a))
             for a in angles]  # fmt: skip
    cup = [*walls, mc.Cylinder(0.75, 0.05, position=(0, 0, 0.05))]
    for k in range(9):
        x, y = 3 * (k % 3), 3 * (k // 3)
        scene.add_body(f"cup{k}", shape=cup, position=(x, y, 0))
        for j in range(40):
            place = (x + 0.3 * (j % 3) - 0.3, y + 0.3 * (j // 3 % 3) - 0.3, 0.3 + 0.25 * (j // 9))
            scene.add_body(f"candy{k}_{j}", shape=kinds[j % 3], position=place)
    world = mc.World(scene)
    play(world, 4.0)
    for k in range(9):
        found = world.positions[[name.startswith(f"candy{k}_") for name in world.body_names]]
        play.between(f"candies of cup {k}", np.linalg.norm(found[:, :2] - (3 * (k % 3), 3 * (k // 3)), axis=1), upper=0.75)
    candies = heights(world, "candy")
    play.between("heights of the candies", candies, 0.1, 1.0, unit="m")
    play.expect("the cups stand", world.frames()[0][1::41, 2], 0.0, within=0.002, unit="m")
