"""Jolt's samples of scaled shapes. Shapes have their scaled sizes here; each is dropped in five sizes, or dropped on."""

import math

import numpy as np

import mcsim as mc
from mcsim.samples.parts import X, Z, along, box, cube, flat_mesh, ground, heights, turned
from mcsim.samples.registry import sample

SOURCE = "Jolt, Samples/Tests/ScaledShapes"
SCALES = np.array([0.25, 0.5, 1.0, 2.0, 4.0])


def drop_all(play, make, height, orientation=(1, 0, 0, 0)):
    """Bodies of make(scale) fall by a fifth of their height: they rest at scale × height, and weigh scale³ as much."""
    scene = ground(rolling_friction=0.01)
    for k, s in enumerate(SCALES):
        place = (0, 10.0 * k, 1.2 * s * height)
        scene.add_body(f"body{k}", shape=make(s), position=place, orientation=orientation)
    world = mc.World(scene)
    play(world, 6.0)
    play.expect("heights over scales", heights(world, "body") / SCALES, height, within=0.003)
    play.expect("masses over scales cubed", world.masses[1:] / SCALES**3 / world.masses[3], 1.0, within=1e-9)
    play.check("all sleep", play.asleep(world))


@sample("jolt/scaled_shapes/box", title="Scaled Box Shape", source=SOURCE)
def box_(play):
    """Boxes of 1 × 2 × 0.5 m in five scales lie flat."""
    drop_all(play, lambda s: box(s, 2 * s, 0.5 * s), 0.25)


@sample("jolt/scaled_shapes/sphere", title="Scaled Sphere Shape", source=SOURCE)
def sphere(play):
    """Balls in five scales rest."""
    drop_all(play, mc.Sphere, 1.0)


@sample("jolt/scaled_shapes/capsule", title="Scaled Capsule Shape", source=SOURCE)
def capsule(play):
    """Level capsules in five scales rest on their sides."""
    drop_all(play, lambda s: mc.Capsule(0.5 * s, s), 0.5, along(X))


@sample("jolt/scaled_shapes/cylinder", title="Scaled Cylinder Shape", source=SOURCE)
def cylinder(play):
    """Upright cylinders in five scales stand."""
    drop_all(play, lambda s: mc.Cylinder(0.5 * s, s), 1.0)


@sample("jolt/scaled_shapes/convex_hull", title="Scaled Convex Hull Shape", source=SOURCE)
def convex_hull(play):
    """Tetrahedra in five scales rest on a face."""
    points = np.array([(1, 1, 1), (1, -1, -1), (-1, 1, -1), (-1, -1, 1.0)])
    face_down = mc.rotation.from_axis_angle(np.array((1, -1, 0)) / math.sqrt(2), math.acos(1 / math.sqrt(3)))
    drop_all(play, lambda s: mc.ConvexHull(s * points), 1 / math.sqrt(3), face_down)


@sample("jolt/scaled_shapes/static_compound", title="Scaled Static Compound Shape", source=SOURCE)
def static_compound(play):
    """Tables of five boxes in five scales stand."""
    legs = [(x, y, 0.5) for x in (-0.9, 0.9) for y in (-0.4, 0.4)]

    def table(s):
        feet = [box(0.2 * s, 0.2 * s, s, position=s * np.array(leg)) for leg in legs]
        return [*feet, box(2 * s, s, 0.2 * s, position=(0, 0, 1.1 * s))]

    drop_all(play, table, (4 * 0.04 * 0.5 + 0.4 * 1.1) / (4 * 0.04 + 0.4))


def drop_on(play, make, name):
    """Cubes fall on grounds of five scales: each rests at its height."""
    scene = mc.Scene()
    for k, s in enumerate(SCALES):
        scene.add_body(f"{name}{k}", shape=make(s), kind="static", position=(40.0 * k, 0, 0))
        place = (40.0 * k + 0.1, 0.05, s + 0.75)
        scene.add_body(f"cube{k}", shape=cube(0.5), position=place, orientation=turned(Z, 20))
    world = mc.World(scene)
    play(world, 4.0)
    play.expect("heights", heights(world, "cube"), SCALES + 0.25, within=0.002, unit="m")
    play.check("all sleep", play.asleep(world))


@sample("jolt/scaled_shapes/mesh", title="Scaled Mesh Shape", source=SOURCE)
def mesh(play):
    """Cubes rest on tables of triangles in five scales."""
    drop_on(play, lambda s: flat_mesh(4, 2.0 * s, lambda x, y: np.full(x.shape, s)), "mesh")


@sample("jolt/scaled_shapes/height_field", title="Scaled Height Field Shape", source=SOURCE)
def height_field(play):
    """Cubes rest on height fields in five scales."""
    drop_on(play, lambda s: mc.HeightField(np.full((5, 5), s), 2.0 * s), "field")
