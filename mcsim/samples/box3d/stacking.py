"""Box3D's samples of stacks, walls and arches."""

import math

import numpy as np

import mcsim as mc
from mcsim.samples.parts import X, Y, along, box, cube, drift, ground, heights, lean, prism, sleeps_from, turned
from mcsim.samples.registry import sample

SOURCE = "Box3D, sample_stacking.cpp"


@sample("box3d/stacking/card_house", title="Card House", source=SOURCE, camera="front", overlap=5e-4)
def card_house(play):
    """Forty cards lean on each other in five storeys, and stand by friction alone."""
    scene, thick, tilt = ground(friction=0.7), 0.02, math.radians(25)
    material = mc.Material(friction=0.7)
    high, wide = math.cos(tilt) + thick * math.sin(tilt), math.sin(tilt) + thick * math.cos(tilt)
    for row in range(5):
        level = row * (high + thick)
        for k in range(5 - row):
            x = wide * (2 * k + row)
            for side in (-1, 1):
                place, turn = (x + side * wide / 2, 0, level + high / 2), turned(Y, -25 * side)
                scene.add_body(shape=box(thick, 0.7, 1.0), position=place, orientation=turn, material=material)
            if k:
                roof = (x - wide, 0, level + high + thick / 2)
                scene.add_body(shape=box(2 * wide, 0.7, thick), position=roof, material=material)
    world = mc.World(scene)
    start = world.positions.copy()
    play(world, 5.0)
    play.expect("cards have not moved", np.linalg.norm(world.positions - start, axis=1), 0.0, within=0.01, unit="m")
    play.check("the house sleeps", play.asleep(world))


@sample("box3d/stacking/sphere_stack_30", title="Sphere Stack", source=SOURCE, camera="front")
def sphere_stack_30(play):
    """Thirty balls exactly above each other stay there, for nothing pushes them aside."""
    scene = ground()
    for k in range(30):
        scene.add_body(f"ball{k}", shape=mc.Sphere(0.5), position=(0, 0, 0.5 + k))
    world = mc.World(scene)
    play(world, 5.0)
    play.expect("heights of the balls", heights(world, "ball"), 0.5 + np.arange(30), within=0.05, unit="m")
    play.check("the stack sleeps", play.asleep(world))
    play.expect("none goes aside", world.positions[:, :2], 0.0, within=1e-9, unit="m")


@sample("box3d/stacking/capsule_stack_20", title="Capsule Stack", source=SOURCE, camera="front")
def capsule_stack_20(play):
    """Twenty level capsules that neither turn nor leave their plane stand on each other."""
    scene = ground()
    for k in range(20):
        scene.add_body(f"capsule{k}", shape=mc.Capsule(0.25, 0.5, orientation=along(X)), position=(0, 0, 0.25 + 0.5 * k))
        scene.add_joint(mc.LockJoint(None, f"capsule{k}", translation="y", rotation="xyz"))
    world = mc.World(scene)
    play(world, 4.0)
    play.expect("heights", heights(world, "capsule"), 0.25 + 0.5 * np.arange(20), within=0.02, unit="m")
    play.check("the stack sleeps", play.asleep(world))


@sample("box3d/stacking/cylinder", title="Cylinder", source=SOURCE)
def cylinder(play):
    """A cylinder dropped on its edge comes to lie or stand, and sleeps."""
    scene = ground(rolling_friction=0.005)
    scene.add_body("cylinder", shape=mc.Cylinder(0.5, 0.5), position=(0, 0, 2), orientation=turned(X, 30))
    world = mc.World(scene)
    play.between("sleeps after", sleeps_from(play, world, 10.0), upper=9.0, unit="s")
    play.expect("height of the centre", heights(world, "cylinder"), 0.5, within=0.002, unit="m")


@sample("box3d/stacking/cylinder_stack_10", title="Cylinder Stack", source=SOURCE, camera="front")
def cylinder_stack_10(play):
    """Ten upright cylinders stand on each other and fall asleep."""
    scene = ground()
    for k in range(10):
        scene.add_body(f"cylinder{k}", shape=mc.Cylinder(0.5, 0.5), position=(0, 0, 0.5 + k))
    world = mc.World(scene)
    play(world, 4.0)
    play.expect("heights", heights(world, "cylinder"), 0.5 + np.arange(10), within=0.01, unit="m")
    play.check("the stack sleeps", play.asleep(world))


@sample("box3d/stacking/box_stack_40", title="Box Stack", source=SOURCE, camera="front")
def box_stack_40(play):
    """Forty cubes of 1 m stand on each other and fall asleep."""
    scene = ground()
    for k in range(40):
        scene.add_body(f"box{k}", shape=cube(1.0), position=(0, 0, 0.5 + k))
    world = mc.World(scene)
    play(world, 4.0)
    play.expect("heights of the boxes", heights(world, "box"), 0.5 + np.arange(40), within=0.05, unit="m")
    play.check("the stack sleeps", play.asleep(world))


def jenga(play, shape, high):
    """Twenty layers of three blocks, of 3 m along and 1 m across, each layer across the one below."""
    scene = ground()
    for layer in range(20):
        turn = turned((0, 0, 1), 90 * (layer % 2))
        for k in range(3):
            place = mc.rotation.rotate(turn, (0, k - 1.0, high * (layer + 0.5)))
            scene.add_body(f"block{layer}_{k}", shape=shape, position=place, orientation=turn)
    world = mc.World(scene)
    play(world, 5.0)
    levels = high * (0.5 + np.repeat(np.arange(20), 3))
    play.expect("heights of the blocks", heights(world, "block"), levels, within=0.03, unit="m")
    play.check("the tower sleeps", play.asleep(world))


@sample("box3d/stacking/jenga_box", title="Jenga (box)", source=SOURCE)
def jenga_box(play):
    """Sixty blocks in twenty crosswise layers stand."""
    jenga(play, box(3.0, 0.96, 0.6), 0.6)


@sample("box3d/stacking/jenga_capsule", title="Jenga (capsule)", source=SOURCE)
def jenga_capsule(play):
    """Sixty level capsules in twenty crosswise layers stand, held by friction where they cross."""
    jenga(play, mc.Capsule(0.3, 1.2, orientation=along(X)), 0.6)


@sample("box3d/stacking/dominoes", title="Dominoes", source=SOURCE, camera="top", slow=True, overlap=None)
def dominoes(play):
    """Thirty rings of 5,430 dominoes in all: two of each ring are tipped, and all others fall."""
    scene, names = ground(), []
    for ring in range(30):
        count = 36 + 10 * ring
        radius = 0.62 * count / (2 * math.pi)
        for k in range(count):
            a = 2 * math.pi * k / count
            names.append(f"ring{ring}_{k}")
            scene.add_body(
                names[-1],
                shape=box(0.5, 0.1, 1.0),
                position=(radius * math.cos(a), radius * math.sin(a), 0.5),
                orientation=turned((0, 0, 1), math.degrees(a)),
                angular_velocity=(-2 * math.cos(a), -2 * math.sin(a), 0) if k in (0, count // 2) else (0, 0, 0),
            )
    world = mc.World(scene)
    play(world, 36.0)
    play.between("leaning of each domino", [lean(world, name) for name in names], 0.6, unit="rad")


@sample("box3d/stacking/wedge", title="Wedge", source=SOURCE)
def wedge(play):
    """A flat wedge dropped on its edge ends on a face, and sleeps."""
    scene = ground()
    scene.add_body(
        "wedge", shape=prism([(-1, -0.25), (1, -0.25), (1, 0.25)], 1.0), position=(0, 0, 2), orientation=turned(X, 20)
    )
    world = mc.World(scene)
    play.between("sleeps after", sleeps_from(play, world, 8.0), upper=6.0, unit="s")
    play.expect("height of the centre of mass", heights(world, "wedge"), 0.5 / 3, within=0.002, unit="m")


@sample("box3d/stacking/arch", title="Arch", source=SOURCE, camera="front")
def arch(play):
    """Twenty-one wedge-shaped stones stand as an arch, by their weight and friction alone."""
    scene, stones, inner, outer = ground(friction=0.6), 21, 4.0, 5.0
    material = mc.Material(friction=0.6)
    angles = np.linspace(0, math.pi, stones + 1)
    for k in range(stones):
        a, b = angles[k], angles[k + 1]
        outline = [(r * math.cos(t), r * math.sin(t)) for r in (inner, outer) for t in (a, b)]
        scene.add_body(f"stone{k}", shape=prism(outline, 1.0), material=material)
    world = mc.World(scene)
    start = world.positions.copy()
    play(world, 5.0)
    play.expect("stones have not moved", np.linalg.norm(world.positions - start, axis=1), 0.0, within=0.01, unit="m")
    play.check("the arch sleeps", play.asleep(world))


@sample("box3d/stacking/double_domino", title="Double Domino", source=SOURCE, camera="front", overlap=None)
def double_domino(play):
    """Fifteen dominoes of 0.25 × 1 m, 1 m apart, and the first is pushed over by its top: all fall."""
    scene = ground(friction=0.6)
    for k in range(15):
        scene.add_body(f"domino{k}", shape=box(0.25, 1.0, 1.0), position=(0.5 * k, 0, 0.5))
    world = mc.World(scene)
    world.apply_impulse("domino0", (0.9 * world.body("domino0").mass, 0, 0), (0, 0, 1.0))
    play(world, 6.0)
    play.between("leaning of each", [lean(world, f"domino{k}") for k in range(15)], 0.5, unit="rad")


@sample("box3d/stacking/pyramid_2d", title="Pyramid2D", source=SOURCE, camera="front")
def pyramid_2d(play):
    """A pyramid of twelve rows of cubes that are locked in a plane stands and sleeps."""
    scene = ground()
    for row in range(12):
        for k in range(12 - row):
            scene.add_body(f"box{row}_{k}", shape=cube(1.0), position=(k + 0.5 * row - 5.5, 0, 0.5 + row))
            scene.add_joint(mc.LockJoint(None, f"box{row}_{k}", translation="y", rotation="xz"))
    world = mc.World(scene)
    start = world.positions.copy()
    play(world, 4.0)
    play.expect("boxes have not sunk", world.positions[:, 2] - start[:, 2], 0.0, within=0.01, unit="m")
    play.expect("nor gone aside", drift(world, start), 0.0, within=0.002, unit="m")
    play.expect("nor left the plane", world.positions[1:, 1], 0.0, within=1e-9, unit="m")
    play.check("the pyramid sleeps", play.asleep(world))


@sample("box3d/stacking/edge_crossing", title="Edge Crossing", source=SOURCE)
def edge_crossing(play):
    """A hundred and twenty-six beams cross in sixty-three layers of two, and the pile stands."""
    scene = ground()
    for layer in range(63):
        turn = turned((0, 0, 1), 90 * (layer % 2))
        for k in (-1, 1):
            place = mc.rotation.rotate(turn, (0, 0.7 * k, 0.2 * layer + 0.1))
            scene.add_body(f"beam{layer}_{k}", shape=box(2.0, 0.2, 0.2), position=place, orientation=turn)
    world = mc.World(scene)
    play(world, 4.0)
    play.expect("heights", heights(world, "beam"), 0.1 + 0.2 * np.repeat(np.arange(63), 2), within=0.05, unit="m")
    play.check("the pile sleeps", play.asleep(world))
