"""Jolt's samples of many bodies: stacks, walls, funnels."""

import math

import numpy as np

import mcsim as mc
from mcsim.samples.measure import stands
from mcsim.samples.parts import X, Y, Z, along, box, cube, ground, heights, turned
from mcsim.samples.registry import sample

SOURCE = "Jolt, Samples/Tests/General"


@sample("jolt/piles/simple", title="Simple", source=SOURCE)
def simple(play):
    """Ten cubes fall side by side onto the ground, and sleep."""
    scene = ground()
    for k in range(10):
        scene.add_body(f"cube{k}", shape=cube(1.0), position=(2 * k, 0, 2 + k), orientation=turned(Z, 9 * k))
    world = mc.World(scene)
    play(world, 4.0)
    play.expect("heights", heights(world, "cube"), 0.5, within=0.002, unit="m")
    play.check("all sleep", play.asleep(world))


@sample("jolt/piles/stack", title="Stack", source=SOURCE, camera="front")
def stack(play):
    """Ten boxes of 1 × 2 × 4 m stand on each other, every second one turned by 90 degrees."""
    scene = ground()
    for k in range(10):
        scene.add_body(f"box{k}", shape=box(1, 4, 2), position=(0, 0, 1 + 2 * k), orientation=turned(Z, 90 * (k % 2)))
    world = mc.World(scene)
    play(world, 4.0)
    play.expect("heights", heights(world, "box"), 1 + 2 * np.arange(10), within=0.01, unit="m")
    play.check("all sleep", play.asleep(world))


@sample("jolt/piles/wall", title="Wall", source=SOURCE, camera="front")
def wall(play):
    """A wall of ten courses of bricks, forty-four and forty-three in turn, stands and sleeps."""
    scene = ground()
    for course in range(10):
        for k in range(44 - course % 2):
            place = (2.0 * k + (course % 2) * 1.0 - 43, 0, 0.5 + course)
            scene.add_body(f"brick{course}_{k}", shape=box(2, 1, 1), position=place)
    world = mc.World(scene)
    stands(play, world, 4.0, sinking=0.005, aside=0.002)


@sample("jolt/piles/pyramid", title="Pyramid", source=SOURCE, slow=True)
def pyramid(play):
    """A pyramid of cubes of 2 m on a square of ten, 385 in all, stands and sleeps."""
    scene = ground()
    for level in range(10):
        n = 10 - level
        for k in range(n * n):
            place = (2 * (k % n) - n, 2 * (k // n) - n, 1 + 2 * level)
            scene.add_body(shape=cube(2.0), position=place)
    world = mc.World(scene)
    stands(play, world, 4.0, sinking=0.005, aside=0.005)


@sample("jolt/piles/island", title="Island", source=SOURCE, slow=True)
def island(play):
    """Ten walls of forty boxes sleep; one that is hit wakes, the other nine do not."""
    scene = ground()
    for wall in range(10):
        for k in range(40):
            scene.add_body(f"box{wall}_{k}", shape=cube(1.0), position=(k % 10, 4 * wall, 0.5 + k // 10))
    world = mc.World(scene)
    play(world, 3.0)
    play.check("all sleep", play.asleep(world))
    world.apply_impulse("box4_35", (0, 5000.0, 0))
    play(world, 0.5)
    awake = [not world.asleep[1 + 40 * wall : 41 + 40 * wall].all() for wall in range(10)]
    play.check("the wall that was hit alone is awake", awake == [wall == 4 for wall in range(10)])


@sample("jolt/piles/heavy_on_light", title="Heavy On Light", source=SOURCE, camera="front")
def heavy_on_light(play):
    """On each of ten boxes of 1,000 kg/m³ stands one that is 5 to 50 times as heavy; none sinks in."""
    scene = ground()
    for k in range(10):
        scene.add_body(f"light{k}", shape=cube(1.0), position=(3 * k, 0, 0.5))
        scene.add_body(f"heavy{k}", shape=cube(1.0), position=(3 * k, 0, 1.5), density=5000.0 * (k + 1))
    world = mc.World(scene)
    play(world, 4.0)
    play.expect("light ones", heights(world, "light"), 0.5, within=0.003, unit="m")
    play.expect("heavy ones", heights(world, "heavy"), 1.5, within=0.005, unit="m")
    play.check("all sleep", play.asleep(world))


def funnel_walls(scene, count, hole, length, high):
    """A funnel of so many slanting boxes, of so much length, round a hole of so much half width."""
    reach = length / 2 / math.sqrt(2)
    for k in range(count):
        about = turned(Z, 360 * k / count)
        place = mc.rotation.rotate(about, (hole + reach, 0, high + reach))
        turn = mc.rotation.multiply(about, turned(Y, -45))
        scene.add_body(f"wall{k}", shape=box(length, length, 0.5), kind="static", position=place, orientation=turn)


@sample("jolt/piles/funnel", title="Funnel", source=SOURCE, slow=True)
def funnel(play):
    """Four hundred bodies of five shapes fall into a funnel, and run out below through its hole of 4 m."""
    scene = ground(friction=0.3)
    funnel_walls(scene, 8, 2.2, 24.0, 4.0)
    shapes = [cube(0.8), mc.Sphere(0.4), mc.Capsule(0.25, 0.3), mc.Cylinder(0.4, 0.3), mc.Cone(0.5, 0.5)]
    smooth = mc.Material(friction=0.05)
    for k in range(400):
        place = (1.3 * (k % 7) - 3.9, 1.3 * (k // 7 % 7) - 3.9, 20 + 1.3 * (k // 49))
        scene.add_body(f"body{k}", shape=shapes[k % 5], position=place, material=smooth)
    world = mc.World(scene)
    play(world, 15.0)
    z = heights(world, "body")
    play.between("heights", z, 0.05, 40.0, unit="m")
    play.between("bodies that came through", (z < 4.0).sum(), 300)


@sample("jolt/piles/two_d_funnel", title="2D Funnel", source=SOURCE, camera="front", slow=True)
def two_d_funnel(play):
    """Two hundred bodies locked in a plane run through a funnel, and none leaves the plane."""
    scene = ground(friction=0.3)
    smooth = mc.Material(friction=0.05)
    for side in (-1, 1):
        scene.add_body(f"wall{side}", shape=box(30, 2, 1), kind="static", position=(13.2 * side, 0, 16),
                       orientation=turned(Y, -45 * side), material=smooth)  # fmt: skip
    shapes = [cube(0.8), mc.Sphere(0.4), mc.Capsule(0.25, 0.3, orientation=along(X))]
    for k in range(200):
        place = (1.1 * (k % 10) - 5, 0, 22 + 1.2 * (k // 10))
        scene.add_body(f"body{k}", shape=shapes[k % 3], position=place, material=smooth)
        scene.add_joint(mc.LockJoint(None, f"body{k}", translation="y", rotation="xz"))
    world = mc.World(scene)
    play(world, 15.0)
    play.expect("none leaves the plane", world.positions[3:, 1], 0.0, within=1e-6, unit="m")
    play.between("bodies that came through", (heights(world, "body") < 5.0).sum(), 150)
    play.between("heights", heights(world, "body"), 0.2, 50.0, unit="m")


@sample("jolt/piles/load_save_scene", title="Load/Save Scene", source=SOURCE)
def load_save_scene(play):
    """A pile is written to JSON and read back: both worlds go on to the same bits."""
    scene = ground()
    for k in range(20):
        scene.add_body(f"cube{k}", shape=cube(1.0), position=(0.2 * (k % 3), 0.1 * (k % 2), 1 + 1.5 * k))
    again = mc.Scene.from_dict(scene.to_dict())
    one, other = mc.World(scene), mc.World(again)
    play(one, 4.0)
    play(other, 4.0)
    play.between("they have fallen", one.positions[-1, 2], 0.4, 25.0, unit="m")
    play.check("the scenes are equal", again == scene)
    play.check("the same bits after 4 s", one.state_hash() == other.state_hash())


@sample("jolt/piles/multithreaded", title="Multithreaded", source=SOURCE, slow=True)
def multithreaded(play):
    """Two hundred boxes fall on each other; with two threads they come to the same bits as with one."""
    scene = ground()
    for k in range(200):
        place = (1.1 * (k % 6), 1.1 * (k // 6 % 6), 1 + 1.2 * (k // 36))
        scene.add_body(shape=cube(1.0), position=place, orientation=turned(Z, 7 * k))
    one, two = mc.World(scene), mc.World(scene, threads=2)
    play(one, 1.0)
    play(two, 1.0)
    play.expect("the lowest lie on the ground", np.sort(one.positions[1:, 2])[:20], 0.5, within=0.01, unit="m")
    play.check("the same bits", one.state_hash() == two.state_hash())
