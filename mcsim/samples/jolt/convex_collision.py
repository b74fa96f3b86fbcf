"""Jolt's samples of collision queries."""

import math

import numpy as np

import mcsim as mc
from mcsim.samples.parts import Z, cube, turned
from mcsim.samples.registry import sample

SOURCE = "Jolt, Samples/Tests/ConvexCollision"


@sample("jolt/convex_collision/closest_point", title="Closest Point", source=SOURCE)
def closest_point(play):
    """The nearest points of a triangle to points all round it are those of geometry."""
    corners = np.array([(0, 0, 0), (3, 0, 0), (0, 2, 0.0)])
    scene = mc.Scene()
    scene.add_body("triangle", shape=mc.Mesh(corners, [(0, 1, 2)]), kind="static")
    world = mc.World(scene)
    play(world, 1 / 60)
    cases = {(1, 0.5, 2): 2.0, (-1, -1, 1): math.sqrt(3), (5, 0, 0): 2.0, (1, -2, 0): 2.0, (0, 4, 0): 2.0}
    for place, far in cases.items():
        found = world.distance("triangle", mc.Sphere(0.1), position=place).distance
        play.expect(f"distance from {place}", found, far - 0.1, within=1e-9, unit="m")


@sample("jolt/convex_collision/cast_ray", title="Cast Ray", source=SOURCE)
def cast_ray(play):
    """Rays hit every kind of shape at the points that geometry gives, and what is behind only where all hits are asked."""
    scene = mc.Scene(gravity=(0, 0, 0))
    shapes = [mc.Sphere(1.0), cube(2.0), mc.Capsule(1.0, 1.0), mc.Cylinder(1.0, 1.0), mc.Cone(1.0, 1.0)]
    for k, shape in enumerate(shapes):
        scene.add_body(f"body{k}", shape=shape, kind="static", position=(4 * k, 0, 0))
    world = mc.World(scene)
    play(world, 1 / 60)
    down = world.ray_casts([(4 * k + 0.5, 0, 10) for k in range(5)], (0, 0, -1))
    tops = [math.sqrt(0.75), 1.0, 1 + math.sqrt(0.75), 1.0, 0.0]
    play.expect("heights of the hits", down["point"][:, 2], tops, within=1e-9, unit="m")
    play.check("each its body", down["body"].tolist() == list(range(5)))
    through = world.ray_cast((-10, 0, -0.5), (1, 0, 0), all=True)
    play.expect("hits of a ray through all", len(through), 5, within=0)
    play.expect("the last is the cone", through[-1].distance, 10 + 16 - 0.75, within=1e-9, unit="m")


@sample("jolt/convex_collision/cast_shape", title="Cast Shape", source="Jolt, Samples/SamplesApp (probes)")
def cast_shape(play):
    """Balls and boxes that are cast touch where geometry says."""
    scene = mc.Scene(gravity=(0, 0, 0))
    scene.add_body("ball", shape=mc.Sphere(1.0), kind="static")
    scene.add_body("box", shape=cube(2.0), kind="static", position=(10, 0, 0), orientation=turned(Z, 45))
    world = mc.World(scene)
    play(world, 1 / 60)
    level = (1, 0, 0, 0)
    hit = world.shape_cast(mc.Sphere(0.5), (-5, 0.9, 0), level, (1, 0, 0))
    play.expect("ball against ball", hit.distance, 5 - math.sqrt(1.5**2 - 0.9**2), within=1e-6, unit="m")
    hit = world.shape_cast(cube(1.0), (5, 0, 0), level, (1, 0, 0))
    play.expect("box against an edge", hit.distance, 5 - math.sqrt(2) - 0.5, within=1e-6, unit="m")
    miss = world.shape_cast(mc.Sphere(0.5), (-5, 1.6, 0), level, (1, 0, 0), 8.0)
    play.check("one that goes by misses", miss is None)
