"""Jolt's samples of rigs: ragdolls that fall, that are moved, and that move by motors."""

import math

import numpy as np

import mcsim as mc
from mcsim.samples.parts import Y, Z, ground, person, turned
from mcsim.samples.registry import sample

SOURCE = "Jolt, Samples/Tests/Rig"


@sample("jolt/rig/create_rig", title="Create Rig", source=SOURCE)
def create_rig(play):
    """A ragdoll is added to a scene, falls, and lies still."""
    scene = ground()
    added = scene.add(person(), position=(0, 0, 2), prefix="doll_")
    world = mc.World(scene)
    play.expect("segments and joints", (len(added.bodies), len(added.joints)), (16, 15), within=0)
    play(world, 10.0)
    play.between("heights of all segments", world.positions[1:, 2], 0.0, 0.6, unit="m")
    play.check("it sleeps", play.asleep(world))


@sample("jolt/rig/kinematic_rig", title="Kinematic Rig", source=SOURCE)
def kinematic_rig(play):
    """A ragdoll of kinematic bodies is moved through a wall of boxes: it is where it should be, and they are pushed."""
    scene, doll = ground(), person()
    start = {}
    for body in doll.bodies:
        start[body.name] = np.array(body.position) + (0, 0, 1.2)
        scene.add_body(
            body.name, shape=body.shapes, kind="kinematic", position=start[body.name], orientation=body.orientation
        )
    for k in range(30):
        place = (3, 0.52 * (k % 5) - 1.04, 0.25 + 0.5 * (k // 5))
        scene.add_body(f"brick{k}", shape=mc.Box((0.25, 0.25, 0.25)), position=place)
    world = mc.World(scene)
    begin, bricks = world.positions[1:17].copy(), world.positions[17:].copy()
    for step in play.steps(world, 4.0):
        for k, name in enumerate(start):
            world.move_to(name, begin[k] + (1.5 * (step + 1) / 60, 0, 0))
    play.expect("way of the rig", world.positions[1:17] - begin, (6.0, 0, 0), within=1e-9, unit="m")
    play.between("bricks that were pushed", (np.linalg.norm(world.positions[17:] - bricks, axis=1) > 0.2).sum(), 10)


@sample("jolt/rig/powered_rig", title="Powered Rig", source=SOURCE, slow=True)
def powered_rig(play):
    """A ragdoll that is held at its hips waves its limbs by motors, each joint's angles as a wave tells it."""
    scene = mc.Scene(gravity=(0, 0, 0))
    scene.add(person(), position=(0, 0, 3))
    scene.add_joint(mc.FixedJoint(None, scene.bodies[0].name))
    world = mc.World(scene)
    hinges = [joint for joint in world.joints if joint.type == "hinge"]
    middles = [joint.position for joint in hinges]
    for joint in list(world.joints)[:-1]:
        joint.set_motor(mc.Motor(position=joint.position, hertz=8.0))
    off = []
    for step in play.steps(world, 4.0):
        for joint, middle in zip(hinges, middles):
            joint.motor_position = middle + 0.2 * math.sin(2 * math.pi * 0.25 * step / 60) ** 2
        if step > 30:
            off += [joint.position - joint.motor_position for joint in hinges]
    play.expect("angles off those that were told", off, 0.0, within=0.05, unit="rad")


@sample("jolt/rig/big_world", title="Big World", source=SOURCE)
def big_world(play):
    """Ragdolls fall at 0, 10, 100 and 1,000 km from the origin, alike but for rounding."""
    heights = []
    for x in (0.0, 1e4, 1e5, 1e6):
        scene = mc.Scene()
        scene.add_body("ground", shape=mc.Plane(Z), kind="static")
        scene.add(person(), position=(x, 0, 2), orientation=turned(Y, 10))
        world = mc.World(scene)
        play(world, 0.5)
        heights.append(world.positions[1:, 2].copy())
    play.between("they fall", world.positions[1:, 2].mean(), 0.2, 1.5, unit="m")
    play.expect("heights against those at the origin", heights[1:], heights[0], within=1e-4, unit="m")


@sample("jolt/rig/soft_keyframed", title="Soft Keyframed Rig", source=SOURCE, overlap=None)
def soft_keyframed(play):
    """A dynamic ragdoll is given the velocities that bring it to its next poses: it goes there, and a wall stops it."""
    scene = mc.Scene(gravity=(0, 0, 0))
    scene.add(person(), position=(0, 0, 1.2))
    scene.add_body("wall", shape=mc.Box((0.5, 3, 3)), kind="static", position=(3.0, 0, 1))
    world = mc.World(scene)
    begin = world.positions[:16].copy()
    for step in play.steps(world, 3.0):
        target = begin + (1.5 * (step + 1) / 60, 0, 0)
        way = (target - world.positions[:16]) / world.dt
        way *= np.minimum(1, 3.0 / np.maximum(np.linalg.norm(way, axis=1), 1e-9))[:, None]
        for k in range(16):
            world.set_velocity(world.body_names[k], way[k], (0, 0, 0))
        if step == 59:
            play.expect("after 1 s", world.positions[:16] - begin, (1.5 * 59 / 60, 0, 0), within=0.02, unit="m")
    play.between("stopped by the wall", world.positions[:16, 0], upper=2.5, unit="m")
