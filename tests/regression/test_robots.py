"""Contacts against joints that do not yield. Robots from URDF files blew up at the default settings, at up to 4,900 m/s:

- impulses guessed from the last ones were wrong by orders after an impact, and where links overlap that joints hold in
  each other; sweeps, which only take energy, began with what such a guess gave, and Newton's method started from there;
- the tunnelling guard set a link back without its articulation, and so tore its joints open.
"""

import numpy as np
import pytest

import mcsim as mc

LENGTHS = (0.06, 0.06, 0.25, 0.08, 0.2, 0.08, 0.12)
MASSES = (3.0, 1.0, 3.0, 0.45, 1.5, 0.9, 0.35)
AXES = np.eye(3)


def robot(base="dynamic", height=0.0, fat=1.0, light=1.0, axes=(0, 1, 2)):
    """A torso with two arms that hang straight down to `height`: links on hinges about the axes in turn, `fat` times as
    wide and long as they should be; the hands `light` times as heavy. -> Scene"""
    scene = mc.Scene()
    top = height + sum(LENGTHS)
    scene.add_body("torso", kind=base, shape=mc.Box((0.15, 0.25, 0.2)), mass=25.0, position=(0, 0, top + 0.1))
    for side in (-1, 1):
        at, parent = np.array((0, 0.35 * side, top)), "torso"
        for i, (length, mass) in enumerate(zip(LENGTHS, MASSES)):
            link = f"{'left' if side > 0 else 'right'}{i}"
            scene.add_body(
                link,
                shape=mc.Box(fat * np.array((0.04, 0.04, length / 2))),
                mass=mass * (light if i == len(LENGTHS) - 1 else 1.0),
                position=at - (0, 0, length / 2),
            )
            scene.add_joint(mc.HingeJoint(parent, link, anchor=at, axis=AXES[axes[i % len(axes)]]))
            parent, at = link, at - (0, 0, length)
    return scene


def worst(world, steps):
    """The largest velocity [m/s], gap of a joint [m] and gain of energy [J] in so many steps."""
    start = world.energy().total
    speed = gap = gain = 0.0
    for _ in range(steps):
        world.step()
        speed = max(speed, np.abs(world.velocities).max())
        gap = max(gap, world.joint_errors()[:, 0].max())
        gain = max(gain, world.energy().total - start)
    return speed, gap, gain


@pytest.mark.parametrize("height, light", [(0.3, 1.0), (1.4, 0.1), (3.0, 0.1)])
def test_straight_arms_land_on_their_hands(height, light):
    """The whole weight comes through arms in which only a light hand yields: 5 J were gained, and hands that went farther
    than they are thick came off by 8 cm."""
    scene = robot(height=height, light=light)
    scene.add_body("floor", kind="static", shape=mc.Plane((0, 0, 1)))
    _, gap, gain = worst(mc.World(scene), 90)
    assert gap < 1e-6
    assert gain < 0.1


@pytest.mark.parametrize(
    "fat, light, axes", [(2.0, 1.0, (0, 1, 2)), (2.5, 1.0, (0, 1, 2)), (2.5, 0.1, (0, 1, 2)), (3.0, 0.1, (0, 1))]
)
@pytest.mark.parametrize("base", ["dynamic", "static"])
def test_links_that_joints_hold_in_each_other(base, fat, light, axes):
    """Contacts push at up to 3 m/s, and yield to the joints: 15 m/s and 285 J came of it, and joints open by 24 cm."""
    speed, gap, gain = worst(mc.World(robot(base, fat=fat, light=light, axes=axes), sleep=False), 90)
    fallen = 9.81 * 1.5 if base == "dynamic" else 0.0
    assert gap < 1e-6
    assert speed < fallen + 4.5
    assert gain < 30.0


def test_one_robot_does_not_disturb_what_else_there_is():
    """A pile of boxes beside links that are pushed apart in every substep keeps its impulses, and stands still."""
    scene = robot("static", fat=2.5, height=1.0)
    scene.add_body("floor", kind="static", shape=mc.Plane((0, 0, 1)))
    for i in range(5):
        scene.add_body(f"box{i}", shape=mc.Box((0.1, 0.1, 0.1)), mass=1.0, position=(2, 0, 0.1 + 0.2 * i))
    world = mc.World(scene, sleep=False)
    world.step(30)
    world.step(60)
    boxes = [world.body(f"box{i}") for i in range(5)]
    assert max(np.abs(box.velocity).max() for box in boxes) < 1e-3
    assert abs(boxes[4].position[2] - 0.9) < 1e-3
