"""What a force presses near the rim of its foot stands as level as a box, of whatever size and however strong the force is
(docs/theory/stabilization.md, what outer forces press)."""

import math
from itertools import product

import numpy as np
import pytest

import mcsim as mc
from amounts import some

G = 9.81


def form(name, radius, half):
    """-> shape, how many sides its foot has"""
    if name == "cylinder":
        return mc.Cylinder(radius, half), 16
    if name == "box":
        return mc.Box((radius, radius, half)), 4
    sides = int(name.removeprefix("prism"))
    return mc.ConvexHull(
        [
            (radius * math.cos(2 * math.pi * k / sides), radius * math.sin(2 * math.pi * k / sides), z)
            for k in range(sides)
            for z in (-half, half)
        ]
    ), sides


def border(name, sides, direction):
    """Of a foot of radius 1, from its middle."""
    if name == "cylinder":
        return 1.0
    if name == "box":
        return 1 / max(abs(math.cos(direction)), abs(math.sin(direction)))
    half = math.pi / sides
    return math.cos(half) / math.cos(direction % (2 * half) - half)


def tilt(name, radius, flat, weights, corner, make=mc.World, gravity=G, steps=60, **keywords):
    """The largest [degrees], of what so many times its weight presses from the first step on, with the centre of pressure
    at 0.95 of the way to the border of its foot, towards a corner or a side."""
    shape, sides = form(name, radius, flat * radius)
    direction = 0.0 if corner else math.pi / sides
    mass = 1000 * radius**3
    scene = mc.Scene(gravity=(0, 0, -gravity))
    scene.add_body("floor", kind="static", shape=mc.Plane((0, 0, 1)))
    scene.add_body("body", shape=shape, mass=mass, position=(0, 0, flat * radius))
    world = make(scene, **keywords)
    force = weights * mass * G
    lever = 0.95 * border(name, sides, direction) * radius * (force + mass * gravity)
    worst = 0.0
    for _ in range(steps):
        world.apply_force("body", (0, 0, -force))
        world.apply_torque("body", (-lever * math.sin(direction), lever * math.cos(direction), 0))
        world.step()
        _, x, y, _ = world.body("body").orientation
        worst = max(worst, math.degrees(2 * math.asin(min(1.0, math.hypot(x, y)))))
    return worst


@pytest.mark.parametrize("flat", [0.02, 0.2, 1.0, 4.0])
@pytest.mark.parametrize(
    "name", ["cylinder", "box", "prism5", "prism6", "prism9", "prism12", "prism16", "prism23", "prism24", "prism32"]
)
@pytest.mark.sampled(3)
def test_it_stands_level(name, flat):
    """A disc of 0.5 m under 11 times its weight leaned by 0.2 degrees, one of 5 mm fell over under its own."""
    for radius, weights in some(product((0.005, 0.05, 0.5, 5.0), (0.0, 1.0, 11.0, 100.0)), 5, name, flat):
        assert max(tilt(name, radius, flat, weights, corner) for corner in (True, False)) < 0.1


@pytest.mark.parametrize(
    "keywords",
    [
        {"sleep": False},
        {"dt": 1 / 240},
        {"substeps": 1},
        {"iterations": 8},
        {"substeps": 16},
        {"make": mc.ReducedWorld},
        {"gravity": 0.0},
    ],
    ids=str,
)
@pytest.mark.parametrize("name", ["cylinder", "prism12", "box"])
def test_by_every_way(name, keywords):
    for weights in (1.0, 11.0, 50.0):
        assert max(tilt(name, 0.05, 0.5, weights, corner, **keywords) for corner in (True, False)) < 0.1


@pytest.mark.parametrize("name", ["cylinder", "prism9", "prism24"])
def test_it_comes_to_rest(name):
    for weights in (1.0, 11.0):
        shape, _ = form(name, 0.05, 0.2)
        scene = mc.Scene()
        scene.add_body("floor", kind="static", shape=mc.Plane((0, 0, 1)))
        scene.add_body("body", shape=shape, mass=1.0, position=(0, 0, 0.2))
        world = mc.World(scene, sleep=False)
        lever = 0.95 * 0.05 * math.cos(math.pi / 9) * G * (1 + weights)
        for k in range(150):
            world.apply_force("body", (0, 0, -weights * G))
            world.apply_torque("body", (0, lever, 0))
            world.step()
            assert k < 100 or np.abs(world.velocities[1]).max() < 5e-4


@pytest.mark.parametrize("half, weights", [(0.5, 0.0), (0.5, 100.0), (0.02, 0.0)])
def test_boxes_pay_nothing_for_it(half, weights):
    """A manifold alone is solved as a whole, so a stiffer one is solved no more often."""
    scene = mc.Scene()
    scene.add_body("floor", kind="static", shape=mc.Plane((0, 0, 1)))
    for k in range(3):
        scene.add_body(f"box{k}", shape=mc.Box((half,) * 3), mass=1.0, position=(3 * half * k, 0, half))
    world = mc.World(scene)
    for _ in range(20):
        world.apply_force("box1", (0, 0, -weights * G))
        world.step()
        assert world._pipeline.parts.plan.wide.rounds == 1


@pytest.mark.parametrize("kind", ["static", "kinematic"])
@pytest.mark.parametrize("make", [mc.World, mc.ReducedWorld])
def test_what_hangs_on_the_floor_changes_nothing(make, kind):
    """Joints move what hangs on a floor, not the floor: contacts with it are as stiff as without them."""
    motions = []
    for hangs in (False, True):
        scene = mc.Scene()
        scene.add_body("floor", kind=kind, shape=mc.Box((10, 10, 1)), position=(0, 0, -1))
        scene.add_body("disc", shape=mc.Cylinder(0.05, 0.025), mass=1.0, position=(0, 0, 0.025))
        scene.add_body("bob", shape=mc.Sphere(0.1), mass=1.0, position=(5, 0, 3))
        if hangs:
            scene.add_joint(mc.HingeJoint("floor", "bob", anchor=(5, 0, 3.5), axis=(0, 1, 0)))
        world = make(scene, sleep=False)
        motions.append([])
        for _ in range(40):
            world.apply_force("disc", (0, 0, -11 * G))
            world.apply_torque("disc", (0, 0.95 * 0.05 * 12 * G, 0))
            world.step()
            motions[-1].append(world.body("disc").orientation.copy())
    assert np.abs(np.subtract(*motions)).max() < 1e-7
    assert math.degrees(2 * np.abs(motions[0])[:, 1:].max()) < 0.1


@pytest.mark.parametrize("radius", [0.005, 0.05, 0.5])
@pytest.mark.parametrize("top", ["cylinder", "box", "ball"])
@pytest.mark.parametrize("name", ["cylinder", "prism12", "prism9"])
def test_what_another_body_presses_near_the_rim_stands_level(name, top, radius):
    """Of its load, which is not known beforehand, counts what a part of the patch bears more than the others: 0.2 to
    0.8 degrees of 0.5 m without, 0.9 to 2.2 of 5 mm."""
    shape, _ = form(name, radius, 0.2 * radius)
    small = {
        "cylinder": mc.Cylinder(0.2 * radius, 0.5 * radius),
        "box": mc.Box(np.array((0.2, 0.2, 0.5)) * radius),
        "ball": mc.Sphere(0.5 * radius),
    }[top]
    scene = mc.Scene()
    scene.add_body("floor", kind="static", shape=mc.Plane((0, 0, 1)))
    scene.add_body("foot", shape=shape, mass=1, position=(0, 0, 0.2 * radius))
    scene.add_body("top", shape=small, mass=100, position=(0.8 * radius, 0, 0.9 * radius))
    world, worst = mc.World(scene, sleep=False), 0.0
    for _ in range(60):
        world.step()
        _, x, y, _ = world.body("foot").orientation
        worst = max(worst, math.degrees(2 * math.asin(min(1.0, math.hypot(x, y)))))
    assert worst < (0.1 if radius > 0.01 else 0.4)
