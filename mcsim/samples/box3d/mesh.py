"""Box3D's samples of meshes and height fields."""

import math

import numpy as np

import mcsim as mc
from mcsim.samples.parts import G, Y, box, cube, flat_mesh, heights, lean, turned
from mcsim.samples.registry import sample

SOURCE = "Box3D, sample_mesh.cpp"


def mesh_of(shape, inwards=False):
    """The skin of a shape as a mesh; inwards: wound the other way."""
    vertices, faces = shape.triangles()
    return mc.Mesh(vertices, faces[:, ::-1] if inwards else faces)


@sample("box3d/mesh/grid", title="Mesh (grid)", source=SOURCE)
def grid(play):
    """Bodies of five shapes rest on a flat grid of triangles just as on a plane."""
    scene = mc.Scene()
    scene.add_body("mesh", shape=flat_mesh(20, 1.0), kind="static")
    shapes = [mc.Sphere(0.5), cube(1.0), mc.Capsule(0.5, 0.5), mc.Cylinder(0.5, 0.5), mc.Cone(0.5, 0.5)]
    for k, shape in enumerate(shapes):
        material = mc.Material(rolling_friction=0.02)
        scene.add_body(f"body{k}", shape=shape, position=(3 * k - 6.2, 0.3, 1.5), material=material)
    world = mc.World(scene)
    play(world, 6.0)
    play.expect("heights", heights(world, "body"), (0.5, 0.5, 1.0, 0.5, 0.25), within=0.002, unit="m")
    play.check("all sleep", play.asleep(world))


@sample("box3d/mesh/big_box", title="Mesh (big box)", source=SOURCE)
def big_box(play):
    """A box of 20 m lies on a mesh of cells of 1 m, and does not rock."""
    scene = mc.Scene()
    scene.add_body("mesh", shape=flat_mesh(40, 1.0), kind="static")
    scene.add_body("box", shape=box(20, 20, 2), position=(0.3, 0.2, 1.5), orientation=turned((0, 0, 1), 10))
    world = mc.World(scene)
    play(world, 4.0)
    play.expect("height", heights(world, "box"), 1.0, within=0.002, unit="m")
    play.expect("level", lean(world, "box"), 0.0, within=1e-4, unit="rad")
    play.check("it sleeps", play.asleep(world))


@sample("box3d/mesh/box", title="Mesh (box)", source=SOURCE)
def box_(play):
    """A cube lands on the skin of a box, slides to its edge, and falls off it onto the mesh below."""
    scene = mc.Scene()
    scene.add_body("ground", shape=flat_mesh(20, 1.0), kind="static")
    scene.add_body("table", shape=mesh_of(box(4, 4, 2)), kind="static", position=(0, 0, 1))
    smooth = mc.Material(friction=0.05)
    scene.add_body("cube", shape=cube(0.5), position=(0, 0, 2.3), velocity=(3, 0.1, 0), material=smooth)
    world = mc.World(scene)
    play(world, 0.6)
    play.expect("on the table", heights(world, "cube"), 2.25, within=0.002, unit="m")
    play(world, 6.0)
    play.expect("on the ground", heights(world, "cube"), 0.25, within=0.002, unit="m")
    play.between("beside the table", world.body("cube").position[0], 2.2, unit="m")
    play.check("it sleeps", play.asleep(world))


@sample("box3d/mesh/reflection", title="Mesh (reflection)", source=SOURCE)
def reflection(play):
    """A mesh that is mirrored, so that its triangles are wound the other way, bears from above all the same."""
    scene = mc.Scene()
    mesh = flat_mesh(10, 1.0)
    for k, mirror in enumerate((1.0, -1.0)):
        vertices = np.array(mesh.vertices) * (mirror, 1, 1)
        scene.add_body(f"mesh{k}", shape=mc.Mesh(vertices, mesh.faces), kind="static", position=(12 * k, 0, 0))
        scene.add_body(f"cube{k}", shape=cube(1.0), position=(12 * k, 0, 1.5))
    world = mc.World(scene)
    play(world, 3.0)
    play.expect("heights", heights(world, "cube"), 0.5, within=0.002, unit="m")
    play.expect("both alike", world.body("cube0").position[2] - world.body("cube1").position[2], 0.0, within=1e-9, unit="m")


@sample("box3d/mesh/hollow_box", title="Mesh (hollow box)", source=SOURCE)
def hollow_box(play):
    """Eight cubes inside of the skin of a box stay inside, and lie on its floor."""
    scene = mc.Scene()
    scene.add_body("house", shape=mesh_of(box(6, 6, 6)), kind="static", position=(0, 0, 3))
    for k in range(8):
        place = (2 * (k % 2) - 1, 2 * (k // 2 % 2) - 1, 1.5 + 2 * (k // 4))
        scene.add_body(f"cube{k}", shape=cube(1.0), position=place, velocity=(8, 3 - k, 5))
    world = mc.World(scene)
    play(world, 6.0)
    play.between("inside, across", np.abs(world.positions[1:, :2]), upper=2.51, unit="m")
    play.between("inside, upwards", world.positions[1:, 2], 0.49, 3.0, unit="m")
    play.check("all sleep", play.asleep(world))


@sample("box3d/mesh/voxel", title="Mesh (voxel)", source=SOURCE)
def voxel(play):
    """Stairs of voxels: a ball rolls down them step by step, a cube rests on a step."""
    scene, tops = mc.Scene(), [4, 3, 2, 1]
    stones = [mesh_of(box(2, 4, 0.5 * high)).vertices + (2 * k, 0, 0.25 * high) for k, high in enumerate(tops)]
    faces = mesh_of(box(2, 4, 1)).faces
    mesh = mc.Mesh(np.vstack(stones), np.vstack([faces + k * len(stones[0]) for k in range(4)]))
    scene.add_body("stairs", shape=mesh, kind="static")
    scene.add_body("ground", shape=flat_mesh(40, 1.0), kind="static")
    scene.add_body("ball", shape=mc.Sphere(0.25), position=(0, 0, 2.25), velocity=(1.5, 0, 0))
    scene.add_body("cube", shape=cube(0.5), position=(2, 1.2, 1.75))
    world = mc.World(scene)
    play(world, 8.0)
    play.expect("the ball is down", heights(world, "ball"), 0.25, within=0.002, unit="m")
    play.between("beyond the stairs", world.body("ball").position[0], 7.2, unit="m")
    play.expect("the cube on its step", world.body("cube").position, (2, 1.2, 1.75), within=0.002, unit="m")


@sample("box3d/mesh/height_field", title="Height Field", source=SOURCE, slow=True)
def height_field(play):
    """A hundred bodies fall on hills; and none goes below the ground."""
    scene = mc.Scene()
    line = np.arange(41) - 20.0
    hills = 1.0 * np.sin(0.5 * line)[:, None] * np.sin(0.5 * line)[None, :]
    scene.add_body("hills", shape=mc.HeightField(hills, 1.0), kind="static")
    shapes = [mc.Sphere(0.3), cube(0.6), mc.Capsule(0.2, 0.3), mc.Cylinder(0.3, 0.3)]
    for k in range(100):
        place = (2.5 * (k % 10) - 11.2, 2.5 * (k // 10) - 11.2, 3.0)
        scene.add_body(f"body{k}", shape=shapes[k % 4], position=place, material=mc.Material(rolling_friction=0.02))
    world = mc.World(scene)
    play(world, 10.0)
    x, y, z = world.positions[1:].T
    above = z - np.sin(0.5 * x) * np.sin(0.5 * y)
    play.between("bodies on the field", ((np.abs(x) < 20) & (np.abs(y) < 20)).sum(), 100)
    play.between("above it", above, 0.05, 1.0, unit="m")
    play.between("speeds", np.linalg.norm(world.velocities[1:], axis=1), upper=2.0, unit="m/s")


@sample("box3d/mesh/ramp", title="Mesh (internal edges)", source=SOURCE)
def ramp(play):
    """A ball rolls down a fine mesh of 20 degrees as it does on a plane: by 5/7 g sin."""
    scene, slope, turn = mc.Scene(), math.radians(20), turned(Y, 20)
    scene.add_body("mesh", shape=flat_mesh(160, 0.25), kind="static", orientation=turn)
    start = mc.rotation.rotate(turn, (-15, 0.06, 0.5))
    scene.add_body("ball", shape=mc.Sphere(0.5), position=start)
    world = mc.World(scene)
    play(world, 4.0)
    way = np.linalg.norm(world.body("ball").position - start)
    play.expect("way", way, 5 / 7 * G * math.sin(slope) * 4.0**2 / 2, within=0.02 * way, unit="m")
    play.expect("straight down", world.body("ball").position[1], 0.06, within=0.01, unit="m")
