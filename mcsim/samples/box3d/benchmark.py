"""Box3D's benchmark scenes that are small enough to check."""

import numpy as np

import mcsim as mc
from mcsim.samples.parts import Z, box, cube, drift, ground, heights, turned
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
    play.between("inside, across", np.linalg.norm(world.positions[1:, [0, 2]], axis=1), upper=4.9, unit="m")


@sample("box3d/benchmark/rain", title="Rain", source=SOURCE, slow=True, overlap=None)
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
    start = world.positions.copy()
    play(world, 4.0)
    play.expect("sinking", world.positions[:, 2] - start[:, 2], 0.0, within=0.03, unit="m")
    play.expect("none goes aside", drift(world, start), 0.0, within=0.01, unit="m")
    play.check("all sleep", play.asleep(world))
