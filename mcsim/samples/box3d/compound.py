"""Box3D's samples of compounds: many shapes on one body."""

import numpy as np

import mcsim as mc
from mcsim.samples.parts import G, Z, box, cube, ground, heights, turned
from mcsim.samples.registry import sample

SOURCE = "Box3D, sample_compound.cpp"


@sample("box3d/compound/simple", title="Compound (simple)", source=SOURCE)
def simple(play):
    """A table of five boxes is dropped, lands on its legs, and a ball rests on it."""
    scene = ground(rolling_friction=0.05)
    legs = [box(0.2, 0.2, 1.0, position=(x, y, 0.5)) for x in (-0.9, 0.9) for y in (-0.4, 0.4)]
    scene.add_body("table", shape=[*legs, box(2.0, 1.0, 0.2, position=(0, 0, 1.1))], position=(0, 0, 0.5))
    scene.add_body("ball", shape=mc.Sphere(0.25), position=(0, 0, 2.5), material=mc.Material(rolling_friction=0.05))
    world = mc.World(scene)
    play(world, 4.0)
    places, _ = world.frames()
    play.expect("the table's feet", places[1][2], 0.0, within=0.002, unit="m")
    play.expect("the ball", heights(world, "ball"), 1.2 + 0.25, within=0.003, unit="m")
    play.check("both sleep", play.asleep(world))


@sample("box3d/compound/spheres", title="Compound (spheres)", source=SOURCE)
def spheres(play):
    """Bodies of eight balls at the corners of a cube fall and come to stand on four of them."""
    scene = ground()
    corners = np.array([(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]) * 0.5
    for k in range(4):
        shape = [mc.Sphere(0.3, position=corner) for corner in corners]
        scene.add_body(f"body{k}", shape=shape, position=(3 * k, 0, 2), orientation=turned((1, k, 0), 20))
    world = mc.World(scene)
    play(world, 6.0)
    play.expect("heights", heights(world, "body"), 0.8, within=0.002, unit="m")
    play.check("all sleep", play.asleep(world))


@sample("box3d/compound/hulls", title="Compound (hulls)", source=SOURCE)
def hulls(play):
    """Crosses of two hulls are stacked, and stand."""
    scene = ground()
    bar = box(2.0, 0.5, 0.4)
    hull = mc.ConvexHull([(x, y, z) for x in (-1, 1) for y in (-0.25, 0.25) for z in (-0.2, 0.2)])
    for k in range(6):
        shape = [hull, mc.ConvexHull(hull.vertices[:, [1, 0, 2]])]
        scene.add_body(f"cross{k}", shape=shape, position=(0, 0, 0.2 + 0.4 * k), orientation=turned(Z, 15 * k))
    world = mc.World(scene)
    play(world, 4.0)
    play.expect("heights", heights(world, "cross"), 0.2 + 0.4 * np.arange(6), within=0.005, unit="m")
    play.expect("mass of a cross", world.masses[1], 2 * 1000 * 8 * np.prod(bar.half_extents), within=1e-6, unit="kg")
    play.check("all sleep", play.asleep(world))


@sample("box3d/compound/tile_floor", title="Compound (tile floor)", source=SOURCE)
def tile_floor(play):
    """A crate and a ball go over a floor of 1,600 tiles, one body, and no joint between tiles stops or turns them."""
    scene = mc.Scene()
    smooth = mc.Material(friction=0.2)
    tiles = [box(1, 1, 0.5, position=(x, y, -0.25), material=smooth) for x in range(-20, 20) for y in range(-20, 20)]
    scene.add_body("floor", shape=tiles, kind="static")
    scene.add_body("crate", shape=cube(1.0), position=(-15, 0.2, 0.5), velocity=(9, 0.5, 0), material=smooth)
    scene.add_body("ball", shape=mc.Sphere(0.5), position=(-15, 5.3, 0.5), velocity=(5, 0, 0), angular_velocity=(0, 10, 0))
    world = mc.World(scene)
    play(world, 5.0)
    way = np.linalg.norm((9, 0.5)) ** 2 / (2 * 0.2 * G)
    play.expect(
        "way of the crate", np.linalg.norm(world.body("crate").position[:2] - (-15, 0.2)), way, within=0.1, unit="m"
    )
    play.expect("the crate has not turned", world.body("crate").orientation, (1, 0, 0, 0), within=0.01)
    play.expect("way of the ball", world.body("ball").position[0] + 15, 25.0, within=0.05, unit="m")
    play.expect("its height", heights(world, "ball"), 0.5, within=0.001, unit="m")
