"""Box3D's samples of shapes that are placed: distances, casts, contact points."""

import math

import numpy as np

import mcsim as mc
from mcsim.samples.parts import X, Y, cube, turned
from mcsim.samples.registry import sample

SOURCE = "Box3D, sample_collision.cpp"


@sample("box3d/manifold/shape_distance", title="Shape Distance", source=SOURCE, overlap=None)
def shape_distance(play):
    """Distances between placed shapes are those of geometry: ball, capsule, box, hull."""
    scene = mc.Scene(gravity=(0, 0, 0))
    scene.add_body("box", shape=cube(2.0))
    scene.add_body("hull", shape=mc.ConvexHull([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]), position=(0, 0, 10))
    world = mc.World(scene)
    play(world, 1 / 60)
    far = lambda body, shape, *place: world.distance(body, shape, *place).distance  # noqa: E731
    play.expect("box and ball", far("box", mc.Sphere(0.5), (3, 0, 0)), 1.5, within=1e-9, unit="m")
    play.expect(
        "box and ball at a corner", far("box", mc.Sphere(0.5), (2, 2, 2)), math.sqrt(3) - 0.5, within=1e-9, unit="m"
    )
    turn = mc.rotation.multiply(turned(Y, 90), turned(X, 0))
    play.expect("box and level capsule", far("box", mc.Capsule(0.5, 1.0), (0, 0, 3), turn), 1.5, within=1e-9, unit="m")
    play.expect("box and box on its edge", far("box", cube(2.0), (4, 0, 0), turned(Y, 45)), 3 - math.sqrt(2), within=1e-9)
    hull = mc.ConvexHull([(0, 0, 0), (-1, 0, 0), (0, -1, 0), (0, 0, -1)])
    q = np.array((1, 1, 11.0))
    play.expect("slant faces", far("hull", hull, q + (0.0, 0.0, 1.0)), 2 / math.sqrt(3), within=1e-9, unit="m")
