"""Box3D's samples of worlds: far from the origin."""

import numpy as np

import mcsim as mc
from mcsim.samples.measure import stands
from mcsim.samples.parts import box, cube, flat_mesh, heights, turned
from mcsim.samples.registry import sample

SOURCE = "Box3D, sample_world.cpp"


def far_stack(play, x):
    """Ten cubes on each other at x; how far they sink and go aside must not depend on x but for rounding."""
    scene = mc.Scene()
    scene.add_body("ground", shape=box(40, 40, 2), kind="static", position=(x, 0, -1))
    for k in range(10):
        scene.add_body(f"box{k}", shape=cube(1.0), position=(x, 0, 0.5 + k))
    world = mc.World(scene)
    play(world, 4.0)
    play.expect("heights", heights(world, "box"), 0.5 + np.arange(10), within=0.005, unit="m")
    play.expect("none goes aside", world.positions[1:, 0] - x, 0.0, within=1e-3, unit="m")
    play.check("all sleep", play.asleep(world))


@sample("box3d/world/far_stack_1e5", title="Far Stack (100 km)", source=SOURCE, camera="front")
def far_stack_1e5(play):
    """A stack of ten cubes stands 100 km from the origin."""
    far_stack(play, 1e5)


@sample("box3d/world/far_stack_1e6", title="Far Stack (1,000 km)", source=SOURCE, camera="front")
def far_stack_1e6(play):
    """A stack of ten cubes stands 1,000 km from the origin."""
    far_stack(play, 1e6)


@sample("box3d/world/far_stack_1e7", title="Far Stack (10,000 km)", source=SOURCE, camera="front")
def far_stack_1e7(play):
    """A stack of ten cubes stands 10,000 km from the origin."""
    far_stack(play, 1e7)


@sample("box3d/world/far_pyramid", title="Far Pyramid", source=SOURCE, camera="front")
def far_pyramid(play):
    """A pyramid of ten rows stands 10,000 km from the origin."""
    scene, x = mc.Scene(), 1e7
    scene.add_body("ground", shape=box(100, 40, 2), kind="static", position=(x, 0, -1))
    for row in range(10):
        for k in range(10 - row):
            scene.add_body(shape=cube(1.0), position=(x + k + 0.5 * row, 0, 0.5 + row))
    world = mc.World(scene)
    stands(play, world, 4.0, sinking=0.005, aside=0.002)


@sample("box3d/world/far_mesh_drop", title="Far Mesh Drop", source=SOURCE, slow=True)
def far_mesh_drop(play):
    """A hundred boxes fall on a mesh of waves 1,000 km away, and none falls through."""
    scene, x0 = mc.Scene(), 1e6
    mesh = flat_mesh(24, 1.0, lambda x, y: 0.3 * np.sin(x) * np.cos(y))
    scene.add_body("mesh", shape=mesh, kind="static", position=(x0, 0, 0))
    for k in range(100):
        place = (x0 + 1.6 * (k % 10) - 7.2, 1.6 * (k // 10) - 7.2, 4)
        scene.add_body(shape=cube(0.5), position=place, orientation=turned((1, k, 2), 37 * k))
    world = mc.World(scene)
    play(world, 5.0)
    x, y, z = world.positions[1:].T
    play.between("heights above it", z - 0.3 * np.sin(x - x0) * np.cos(y), 0.1, 1.5, unit="m")


@sample("box3d/world/far_ragdolls", title="Far Ragdolls", source=SOURCE)
def far_ragdolls(play):
    """Four ragdolls fall 1,000 km from the origin; their joints stay closed."""
    scene = mc.Scene()
    scene.add(mc.scenes.ragdolls(count=4), position=(1e6, 0, 0))
    world = mc.World(scene)
    play(world, 4.0)
    play.between("heights of all segments", world.positions[1:, 2], 0.0, 1.2, unit="m")
