"""Box3D's samples of issues that once were."""

import math

import numpy as np

import mcsim as mc
from mcsim.samples.parts import Z, box, flat_mesh, ground, heights, turned
from mcsim.samples.registry import sample

SOURCE = "Box3D, sample_issues.cpp"


@sample("box3d/issues/restitution_overshoot", title="Restitution Overshoot", source=SOURCE)
def restitution_overshoot(play):
    """A ball of restitution 1 does not come back higher than it was released from, at any bounce."""
    scene = ground(restitution=1.0)
    scene.add_body("ball", shape=mc.Sphere(0.5), position=(0, 0, 3.5), material=mc.Material(restitution=1.0))
    world = mc.World(scene)
    tops = np.array([world.body("ball").position[2] for _ in play.steps(world, 30.0)])
    bounces = ((np.diff(tops)[:-1] < 0) & (np.diff(tops)[1:] > 0)).sum()
    play.expect("bounces", bounces, 30 / (2 * math.sqrt(2 * 3.0 / 9.81)), within=1.0)
    play.between("highest", max(tops), upper=3.5 + 1e-3, unit="m")
    play.between("highest in the last 2 s", max(tops[-120:]), 3.4, unit="m")


@sample("box3d/issues/convex_jitter", title="Convex Jitter", source=SOURCE)
def convex_jitter(play):
    """A hull of thirty-seven points, nearly round, lies on the ground without trembling."""
    scene, rng = ground(), np.random.default_rng(3)
    points = rng.normal(size=(37, 3))
    hull = mc.ConvexHull(points / np.linalg.norm(points, axis=1)[:, None] * (1.0, 0.8, 0.5))
    scene.add_body("hull", shape=hull, position=(0, 0, 1.2))
    world = mc.World(scene)
    play(world, 8.0)
    place = world.positions[1].copy()
    play.check("it sleeps", play.asleep(world))
    world.wake()
    moved = max(np.linalg.norm(world.positions[1] - place) for _ in play.steps(world, 0.4))
    play.between("moves, awake", moved, upper=1e-4, unit="m")


@sample("box3d/issues/wheel_stack", title="Wheel Stack", source=SOURCE, camera="front")
def wheel_stack(play):
    """Ten wheels, hulls of 37 corners a side, lie flat on each other and sleep."""
    scene = ground()
    a = 2 * math.pi * np.arange(37) / 37
    wheel = mc.ConvexHull([(0.5 * math.cos(t), 0.5 * math.sin(t), z) for t in a for z in (-0.15, 0.15)])
    for k in range(11):
        scene.add_body(f"wheel{k}", shape=wheel, position=(0, 0, 0.15 + 0.3 * k), orientation=turned(Z, 3 * k))
    world = mc.World(scene)
    play(world, 4.0)
    play.expect("heights", heights(world, "wheel"), 0.15 + 0.3 * np.arange(11), within=0.01, unit="m")
    play.check("all sleep", play.asleep(world))


@sample("box3d/issues/ghost_collisions", title="Ghost Collisions", source=SOURCE)
def ghost_collisions(play):
    """A smooth box that may not turn slides over a flat fine mesh at 8.9 m/s, and no inner edge stops it."""
    scene = mc.Scene()
    smooth = mc.Material(friction=0.0)
    scene.add_body("mesh", shape=flat_mesh(120, 0.5), kind="static", material=smooth)
    scene.add_body("box", shape=box(0.8, 0.8, 1.8), position=(-25, 0.1, 0.9), velocity=(8.9, 0.7, 0), material=smooth)
    scene.add_joint(mc.LockJoint(None, "box", rotation="xyz"))
    world = mc.World(scene)
    play(world, 5.0)
    play.expect("velocity", world.body("box").velocity, (8.9, 0.7, 0), within=1e-3, unit="m/s")
    play.expect("place", world.body("box").position, (-25 + 8.9 * 5, 0.1 + 0.7 * 5, 0.9), within=2e-3, unit="m")
