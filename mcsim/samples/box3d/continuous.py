"""Box3D's samples of bodies so fast that a step takes them through walls, were they not followed."""

import math

import numpy as np

import mcsim as mc
from mcsim.samples.parts import box, cube, flat_mesh, ground
from mcsim.samples.registry import sample

SOURCE = "Box3D, sample_continuous.cpp"


@sample("box3d/continuous/thin_wall", title="Thin Wall", source=SOURCE, overlap=None)
def thin_wall(play):
    """Bodies of four shapes fly at 180 m/s at a wall of 1 cm, and none gets through."""
    scene = ground()
    scene.add_body("wall", shape=box(0.01, 20, 10), kind="static", position=(20, 0, 5))
    shapes = [mc.Sphere(0.25), cube(0.5), mc.Capsule(0.2, 0.3), mc.Cylinder(0.25, 0.25)]
    for k, shape in enumerate(shapes):
        w = (3.0, 2.0, 1.0)
        scene.add_body(f"body{k}", shape=shape, position=(0, 3 * k - 4.5, 3), velocity=(180, 0, 0), angular_velocity=w)
    world = mc.World(scene)
    farthest = -np.inf
    for _ in play.steps(world, 4.0):
        farthest = max(farthest, world.positions[2:, 0].max())
    play.between("farthest of a centre", farthest, 19.0, 19.995 - 0.19, unit="m")


def turns(velocities):
    """How often a body has turned round along each axis, by its velocities from step to step."""
    return (np.diff(np.sign(velocities), axis=0) != 0).sum(axis=0)


@sample("box3d/continuous/bounce_house", title="Bounce House", source=SOURCE, camera="top", overlap=None)
def bounce_house(play):
    """A ball of restitution 1 goes to and fro in a house of thin walls at 170 m/s for ten seconds, and keeps its speed."""
    scene = mc.Scene(gravity=(0, 0, 0))
    elastic = mc.Material(friction=0.0, restitution=1.0)
    walls = [mc.Box(np.where(np.arange(3) == k, 0.05, 10.0), position=10.0 * side * np.eye(3)[k], material=elastic)
             for k in range(3) for side in (-1, 1)]  # fmt: skip
    scene.add_body("house", shape=walls, kind="static")
    scene.add_body("ball", shape=mc.Sphere(0.5), velocity=(100, 95, 100.0), material=elastic)
    world = mc.World(scene)
    seen = np.array([(world.positions[1].copy(), world.velocities[1].copy()) for _ in play.steps(world, 10.0)])
    outside, ways = np.abs(seen[:, 0]).max(), np.array((100, 95, 100)) * 10.0
    play.expect("bounces off each pair of walls", turns(seen[:, 1]), ways / 18.9, within=2)
    play.between("it stays inside", outside, upper=9.46, unit="m")
    play.expect("speed", np.linalg.norm(world.velocities[1]), math.sqrt(100**2 + 95**2 + 100**2), within=0.5, unit="m/s")
    play.expect("each part of it", np.abs(world.velocities[1]), (100, 95, 100), within=0.5, unit="m/s")


@sample("box3d/continuous/spinning_stick", title="Spinning Stick", source=SOURCE, overlap=None)
def spinning_stick(play):
    """Twenty sticks that spin at 40 to 80 rad/s fly at the ground, each another way, and none is below it."""
    scene, rng = ground(), np.random.default_rng(1)
    scene.add_body("shelf", shape=box(4, 400, 0.05), kind="static", position=(0, 0, 1))
    for k in range(20):
        w = rng.uniform(-1, 1, 3)
        w *= rng.uniform(40, 80) / np.linalg.norm(w)
        place = (0, 8 * k - 76, 6.0)
        scene.add_body(f"stick{k}", shape=box(2.0, 0.05, 0.05), position=place, velocity=(0, 0, -60), angular_velocity=w)
    world = mc.World(scene)
    lowest = np.inf
    for _ in play.steps(world, 5.0):
        over = np.abs(world.positions[2:, 0]) < 1.0  # those that are above the shelf still
        lowest = min(lowest, world.positions[2:, 2][over].min(initial=np.inf), world.positions[2:, 2].min() + 1.0)
    play.between("heights at the end", world.positions[2:, 2], 0.02, 3.0, unit="m")
    play.between("lowest centre, over the shelf", lowest, 1.0, unit="m")


@sample("box3d/continuous/bullet_vs_stack", title="Bullet vs Stack", source=SOURCE, overlap=None)
def bullet_vs_stack(play):
    """A bullet of 500 m/s hits a stack of ten boxes that are free to move: it does not pass, and momentum is kept."""
    scene = ground()
    for k in range(10):
        scene.add_body(f"box{k}", shape=cube(1.0), position=(0, 0, 0.5 + k), density=500)
    scene.add_body("bullet", shape=mc.Sphere(0.25), position=(-30, 0, 4.5), velocity=(500, 0, 0), bullet=True)
    world = mc.World(scene)
    ahead, before, after = [], 0.0, 0.0
    for step in play.steps(world, 2.0):
        ahead.append(world.body("bullet").position[0] - world.body("box4").position[0])
        before = world.momentum()[0][0] if step == 0 else before
        after = world.momentum()[0][0] if step == 9 else after
    play.between("bullet before the box it hit", max(ahead), upper=-0.6, unit="m")
    play.expect("momentum over that of the bullet", after / before, 1.0, within=0.05)
    play.between("the box is thrown", world.body("box4").position[0], 5.0, unit="m")


def spikes(x, y):
    """Heights of a mesh of needles: every other corner is 0.5 m up."""
    return 0.5 * ((np.round(x) + np.round(y)) % 2)


@sample("box3d/continuous/needle_mesh", title="Needle Mesh", source=SOURCE, overlap=None)
def needle_mesh(play):
    """Bodies dropped at 50 m/s on a mesh of steep spikes stay above it."""
    scene = mc.Scene()
    scene.add_body("mesh", shape=flat_mesh(80, 1.0, spikes), kind="static")
    for k, shape in enumerate([mc.Sphere(0.1), cube(0.2), mc.Capsule(0.1, 0.2), mc.Cylinder(0.1, 0.1)]):
        scene.add_body(f"body{k}", shape=shape, position=(2 * k - 3.2, 0.3, 6), velocity=(0, 0, -50))
    world = mc.World(scene)
    play(world, 8.0)
    play.between("heights", world.positions[1:, 2], 0.05, 1.2, unit="m")
    play.between("speeds", np.linalg.norm(world.velocities[1:], axis=1), upper=0.05, unit="m/s")


def mesh_drop(play, shape):
    """Four hundred thin bodies fall 5 m onto a mesh of waves: what does not roll off its edge is above it."""
    scene, rng = mc.Scene(), np.random.default_rng(7)
    scene.add_body("mesh", shape=flat_mesh(24, 1.0, lambda x, y: 0.3 * np.sin(x) * np.cos(y)), kind="static")
    for k in range(400):
        q = rng.normal(size=4)
        place = (0.8 * (k % 20) - 7.6, 0.8 * (k // 20) - 7.6, 5.0)
        scene.add_body(shape=shape, position=place, orientation=q / np.linalg.norm(q), velocity=(0, 0, -10))
    world = mc.World(scene)
    play(world, 6.0)
    x, y, z = world.positions[1:].T
    above = z - 0.3 * np.sin(x) * np.cos(y)
    inside = (np.abs(x) < 11) & (np.abs(y) < 11)
    play.between("bodies on the mesh", inside.sum(), 350)
    play.between("above it", above[inside], -0.1, 2.0, unit="m")


@sample("box3d/continuous/mesh_drop_box", title="Mesh Drop (box)", source=SOURCE, slow=True)
def mesh_drop_box(play):
    """Four hundred thin boxes fall on a mesh of waves, and none falls through."""
    mesh_drop(play, box(0.6, 0.4, 0.02))


@sample("box3d/continuous/mesh_drop_capsule", title="Mesh Drop (capsule)", source=SOURCE, slow=True)
def mesh_drop_capsule(play):
    """Four hundred thin capsules fall on a mesh of waves, and none falls through."""
    mesh_drop(play, mc.Capsule(0.02, 0.3))


@sample("box3d/continuous/mesh_drop_cylinder", title="Mesh Drop (cylinder)", source=SOURCE, slow=True)
def mesh_drop_cylinder(play):
    """Four hundred thin cylinders fall on a mesh of waves, and none falls through."""
    mesh_drop(play, mc.Cylinder(0.25, 0.01))


@sample("box3d/continuous/mesh_drop_sphere", title="Mesh Drop (sphere)", source=SOURCE, slow=True)
def mesh_drop_sphere(play):
    """Four hundred small balls fall on a mesh of waves, and none falls through."""
    mesh_drop(play, mc.Sphere(0.05))


@sample("box3d/continuous/hump_mesh", title="Hump Mesh", source=SOURCE, overlap=None)
def hump_mesh(play):
    """Two planks are shot at a hump of triangles at 50 m/s and stay above it."""
    scene = mc.Scene()
    scene.add_body("mesh", shape=flat_mesh(40, 1.0, lambda x, y: 2 * np.exp(-(x**2) / 8)), kind="static")
    for k in range(2):
        scene.add_body(f"plank{k}", shape=box(2.0, 0.5, 0.1), position=(-15, 4 * k - 2, 0.3), velocity=(50, 0, 0))
    world = mc.World(scene)
    depth = np.inf
    for _ in play.steps(world, 0.6):
        x, _, z = world.positions[1:].T
        depth = min(depth, (z - 2 * np.exp(-(x**2) / 8))[np.abs(x) < 20].min(initial=np.inf))
    play.between("lowest above the mesh", depth, 0.0, unit="m")
    play.between("beyond the hump", world.positions[1:, 0], 3.0, unit="m")
