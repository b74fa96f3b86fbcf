"""Jolt's samples of characters."""

import math

import numpy as np

import mcsim as mc
from mcsim.samples.parts import G, Y, box, cube, ground, lean, turned
from mcsim.samples.registry import sample

SOURCE = "Jolt, Samples/Tests/Character"


def hero_in(scene, place=(0, 0, 0.96), **options):
    """A capsule of 1.35 m with radius 0.3 m that walks -> its world and the Character."""
    scene.add_body("hero", shape=mc.Capsule(0.3, 0.65), kind="kinematic", position=place)
    world = mc.World(scene)
    return world, mc.Character(world, "hero", **options)


@sample("jolt/character/character", title="Character", source=SOURCE, overlap=None)
def character(play):
    """A dynamic capsule that does not turn is a character: pushed to a speed it slides along a wall, upright."""
    scene = ground(friction=0.2)
    smooth = mc.Material(friction=0.0)
    scene.add_body("wall", shape=box(1, 20, 3), kind="static", position=(4, 0, 1.5), material=smooth)
    scene.add_body("hero", shape=mc.Capsule(0.3, 0.65), position=(0, 0, 0.95), mass=80.0)
    scene.add_joint(mc.LockJoint(None, "hero", rotation="xyz"))
    world = mc.World(scene)
    for _ in play.steps(world, 3.0):
        world.set_velocity("hero", (3, 1, world.body("hero").velocity[2]))
    play.expect("at the wall", world.body("hero").position[0], 3.2, within=0.06, unit="m")
    play.expect("along it", world.body("hero").position[1], 3.0, within=0.15, unit="m")
    play.expect("upright", lean(world, "hero"), 0.0, within=1e-9, unit="rad")


@sample("jolt/character/virtual_stairs", title="Character Virtual (stairs)", source=SOURCE, overlap=None)
def virtual_stairs(play):
    """A character walks up ten stairs of 0.2 m, and not up one of 0.6 m."""
    scene = ground()
    for k in range(10):
        high, x = 0.2 * (k + 1), 2 + 0.4 * k
        scene.add_body(f"stair{k}", shape=box(0.4, 4, high), kind="static", position=(x, 0, high / 2))
    scene.add_body("landing", shape=box(4, 4, 2.0), kind="static", position=(7.8, 0, 1.0))
    scene.add_body("block", shape=box(1, 4, 2.6), kind="static", position=(9.3, 0, 1.3))
    world, hero = hero_in(scene, step_height=0.4)
    for _ in play.steps(world, 8.0):
        hero.walk((2.0, 0))
    play.expect("on the landing", world.body("hero").position[2], 2.0 + 0.96, within=0.02, unit="m")
    play.expect("before the block", world.body("hero").position[0], 8.8 - 0.31, within=0.02, unit="m")


@sample("jolt/character/virtual_slopes", title="Character Virtual (slopes)", source=SOURCE, overlap=None)
def virtual_slopes(play):
    """Of slopes of 20 to 70 degrees a character walks up those that are not steeper than 50."""
    risen = []
    for degrees in (20, 35, 45, 60, 70):
        scene = ground()
        turn = turned(Y, -degrees)
        centre = np.array((2.0, 0, 0)) + mc.rotation.rotate(turn, (5, 0, -0.5))
        scene.add_body("slope", shape=box(10, 8, 1), kind="static", position=centre, orientation=turn)
        world, hero = hero_in(scene)
        for _ in play.steps(world, 3.0):
            hero.walk((2.0, 0))
        risen.append(world.body("hero").position[2] - 0.96)
    play.between("gentle ones", risen[:3], 0.7, unit="m")
    play.between("steep ones", risen[3:], upper=0.35, unit="m")


@sample("jolt/character/virtual_jump", title="Character Virtual (jump)", source=SOURCE, overlap=None)
def virtual_jump(play):
    """A jump at 4 m/s goes v²/(2 g) high, and lands after 2 v/g."""
    world, hero = hero_in(ground())
    for _ in play.steps(world, 0.2):
        hero.walk((0, 0))
    tops, air = [], 0.0
    for step in play.steps(world, 2.0):
        hero.walk((0, 0), jump=4.0 if step == 0 else 0.0)
        tops.append(world.body("hero").position[2])
        air += (hero.ground is None) / 60
    play.expect("height", max(tops) - 0.96, 16 / (2 * G), within=0.05, unit="m")
    play.expect("time in the air", air, 8 / G, within=0.06, unit="s")
    play.expect("on the ground", world.body("hero").position[2], 0.96, within=0.01, unit="m")


@sample("jolt/character/virtual_platform", title="Character Virtual (platform)", source=SOURCE, overlap=None)
def virtual_platform(play):
    """A character that stands on a lift and on a turntable goes with them."""
    scene = ground()
    scene.add_body("lift", shape=box(4, 4, 0.5), kind="kinematic", position=(0, 0, 0.25), velocity=(1, 0, 1))
    world, hero = hero_in(scene, (0, 0, 1.46))
    for _ in play.steps(world, 3.0):
        hero.walk((0, 0))
    play.expect("on the lift", world.body("hero").position, (3, 0, 1.46 + 3), within=0.05, unit="m")
    world.set_velocity("lift", (0, 0, 0), (0, 0, 0.5))
    world.set_pose("hero", world.body("lift").position + (1.5, 0, 0.25 + 0.96))
    for _ in play.steps(world, math.pi):
        hero.walk((0, 0))
    place = world.body("hero").position - world.body("lift").position
    play.expect("on the turntable, a quarter on", place[:2], (0, 1.5), within=0.05, unit="m")


@sample("jolt/character/virtual_push", title="Character Virtual (push)", source=SOURCE, overlap=None)
def virtual_push(play):
    """A character pushes a box of 20 kg along, and is stopped by one of 2 t."""
    ways = []
    for mass in (20.0, 2000.0):
        scene = ground(friction=0.4)
        scene.add_body("box", shape=cube(1.0), position=(2, 0, 0.5), mass=mass, material=mc.Material(friction=0.4))
        world, hero = hero_in(scene, push_force=300.0)
        for _ in play.steps(world, 4.0):
            hero.walk((1.5, 0))
        ways.append(world.body("box").position[0] - 2)
    play.between("the light one is pushed", ways[0], 2.0, unit="m")
    play.expect("the heavy one stays", ways[1], 0.0, within=0.02, unit="m")
