"""Jolt's general samples: stacks, friction, restitution, kinds of bodies, speeds."""

import math

import numpy as np

import mcsim as mc
from mcsim.samples.parts import G, X, Y, Z, along, box, cube, flat_mesh, ground, heights, slope, turned
from mcsim.samples.registry import sample

SOURCE = "Jolt, Samples/Tests/General"


@sample("jolt/general/activate_during_update", title="Activate During Update", source=SOURCE)
def activate_during_update(play):
    """Three rows of sleeping bodies are woken one after the other by a body that is shot at them."""
    scene = ground()
    for row in range(3):
        for k in range(10):
            scene.add_body(f"box{row}_{k}", shape=cube(1.0), position=(1.0 * k, 4 * row, 0.5))
    world = mc.World(scene)
    play(world, 2.0)
    play.check("all sleep", play.asleep(world))
    world.set_velocity("box1_0", (8, 0, 0))
    awake = np.zeros(31, bool)
    for _ in play.steps(world, 0.2):
        awake |= ~world.asleep
    play.check("the whole row is awake", awake[11:21].all())
    play.check("the other rows sleep on", not awake[1:11].any() and not awake[21:].any())
    play(world, 5.0)
    play.check("all sleep again", play.asleep(world))


@sample("jolt/general/allowed_dofs", title="Allowed DOFs", source=SOURCE, overlap=None)
def allowed_dofs(play):
    """Sixty-three boxes, one for each choice of free motions, are pushed and turned, and move as they may."""
    scene = mc.Scene(gravity=(0, 0, 0))
    for k in range(1, 64):
        locked = [axis for bit, axis in enumerate("xyzxyz") if not k >> bit & 1]
        shift = "".join(axis for bit, axis in enumerate("xyz") if not k >> bit & 1)
        turn = "".join(axis for bit, axis in enumerate("xyz") if not k >> (bit + 3) & 1)
        scene.add_body(f"box{k}", shape=box(1, 0.8, 0.6), position=(3 * (k % 8), 3 * (k // 8), 0))
        if locked:
            scene.add_joint(mc.LockJoint(None, f"box{k}", translation=shift, rotation=turn))
    world = mc.World(scene)
    start = world.positions.copy()
    for _ in play.steps(world, 1.0):
        world.apply_forces(np.tile([480.0, 480, 480, 20, 20, 20], (63, 1)))
    free = np.array([[k >> bit & 1 for bit in range(6)] for k in range(1, 64)], bool)
    play.expect("free ways", (world.positions - start)[free[:, :3]], 0.5, within=0.02, unit="m")
    play.expect("locked ways", (world.positions - start)[~free[:, :3]], 0.0, within=1e-6, unit="m")
    play.expect("locked turns", world.angular_velocities[~free[:, 3:]], 0.0, within=1e-6, unit="rad/s")
    play.between("free turns", np.abs(world.angular_velocities[free[:, 3:]]), 0.05, unit="rad/s")


@sample("jolt/general/big_vs_small", title="Big vs Small", source=SOURCE, overlap=1e-3)
def big_vs_small(play):
    """A cube of 0.1 m lies on a triangle of 200 m."""
    scene = mc.Scene()
    triangle = mc.Mesh([(-100, 0, 0), (0, -100, 0), (100, 100, 0)], [(0, 1, 2)])
    scene.add_body("triangle", shape=triangle, kind="static")
    scene.add_body("cube", shape=cube(0.1), position=(0, 0, 1.0))
    world = mc.World(scene)
    play(world, 3.0)
    play.expect("height", heights(world, "cube"), 0.05, within=5e-4, unit="m")
    play.check("it sleeps", play.asleep(world))


@sample("jolt/general/center_of_mass", title="Center Of Mass", source=SOURCE)
def center_of_mass(play):
    """A body of two balls, one far heavier, spins in flight about its centre of mass, which flies on a parabola."""
    scene = mc.Scene()
    light, heavy = mc.Sphere(0.5, position=(2, 0, 0), density=100), mc.Sphere(0.5, density=5000)
    scene.add_body("body", shape=[light, heavy], position=(0, 0, 10), velocity=(3, 0, 6), angular_velocity=(0, 4, 0))
    world = mc.World(scene)
    start = world.positions[0].copy()
    play.expect("centre of mass", start, (2 * 100 / 5100, 0, 10), within=1e-12, unit="m")
    play(world, 1.0)
    way = world.positions[0] - start
    play.expect("way", way, (3, 0, 6 - G / 2), within=0.03, unit="m")
    play.expect("spin", world.angular_velocities[0], (0, 4, 0), within=1e-9, unit="rad/s")


@sample("jolt/general/active_edges", title="Active Edges", source=SOURCE)
def active_edges(play):
    """Smooth boxes slide over a mesh of triangles, its flat edges are not felt; a ridge throws them up."""
    scene, smooth = mc.Scene(), mc.Material(friction=0.0)
    scene.add_body("mesh", shape=flat_mesh(60, 1.0), kind="static", material=smooth)
    for k in range(4):
        turn = turned(Z, 15 * k)
        scene.add_body(f"box{k}", shape=box(2, 1, 1), position=(-20, 3 * k, 0.5), orientation=turn, velocity=(7, 0, 0),
                       material=smooth)  # fmt: skip
    world = mc.World(scene)
    play(world, 5.0)
    play.expect("velocities", world.velocities[1:], (7, 0, 0), within=1e-3, unit="m/s")
    play.expect("places", world.positions[1:, 0], -20 + 7 * 5.0, within=0.01, unit="m")
    play.expect("no box turns", world.angular_velocities[1:], 0.0, within=1e-3, unit="rad/s")


@sample("jolt/general/change_motion_quality", title="Change Motion Quality", source=SOURCE, overlap=None)
def change_motion_quality(play):
    """A ball at 268 m/s that is made a bullet does not pass a wall of 0.1 m that can move, but stops at it."""
    scene = mc.Scene(gravity=(0, 0, 0))
    scene.add_body("wall", shape=box(0.1, 4, 4), position=(10, 0, 0), mass=1e5)
    scene.add_body("ball", shape=mc.Sphere(0.2), position=(0.5, 0, 0), mass=1.0)
    world = mc.World(scene)
    play(world, 0.1)
    for bullet in (True, False, True):
        world.set_body("ball", bullet=bullet)
        world.set_pose("ball", (0.5, 0, 0))
        world.set_velocity("ball", (268 if bullet else 20, 0, 0))
        play(world, 1.0)
        gap = world.body("wall").position[0] - world.body("ball").position[0]
        play.between(f"before the wall, bullet: {bullet}", gap, 0.249, 0.6, unit="m")


@sample("jolt/general/change_motion_type", title="Change Motion Type", source=SOURCE)
def change_motion_type(play):
    """A cube falls as a dynamic body, goes on as a kinematic one, stays as a static one, and falls again."""
    scene = ground()
    scene.add_body("cube", shape=cube(1.0), position=(0, 0, 20))
    world = mc.World(scene)
    play(world, 1.0)
    speed = world.body("cube").velocity[2]
    play.expect("speed after 1 s", speed, -G, within=1e-6, unit="m/s")
    world.set_kind("cube", "kinematic")
    z = world.body("cube").position[2]
    play(world, 0.5)
    play.expect("it goes on at its speed", world.body("cube").position[2], z + 0.5 * speed, within=1e-9, unit="m")
    world.set_kind("cube", "static")
    z = world.body("cube").position[2]
    play(world, 0.5)
    play.expect("it stays", world.body("cube").position[2], z, within=0, unit="m")
    world.set_kind("cube", "dynamic")
    play(world, 4.0)
    play.expect("it lies on the ground", world.body("cube").position[2], 0.5, within=0.002, unit="m")


@sample("jolt/general/change_object_layer", title="Change Object Layer", source=SOURCE)
def change_object_layer(play):
    """Cubes rest on a shelf until they are put into a group that the shelf does not meet: they fall to the ground."""
    scene = ground()
    scene.add_body("shelf", shape=box(10, 4, 0.5), kind="static", position=(0, 0, 5), collision_mask=1)
    for k in range(5):
        scene.add_body(f"cube{k}", shape=cube(1.0), position=(2 * k - 4, 0, 5.75))
    world = mc.World(scene)
    play(world, 2.0)
    play.expect("on the shelf", heights(world, "cube"), 5.75, within=0.002, unit="m")
    for k in range(0, 5, 2):
        world.set_body(f"cube{k}", collision_group=2)
    play(world, 3.0)
    play.expect("those of the other group", heights(world, "cube")[::2], 0.5, within=0.002, unit="m")
    play.expect("the others", heights(world, "cube")[1::2], 5.75, within=0.002, unit="m")


@sample("jolt/general/change_shape", title="Change Shape", source=SOURCE)
def change_shape(play):
    """A body at rest gets other shapes, one after the other, and comes to rest on each."""
    scene = ground(rolling_friction=0.02)
    scene.add_body("body", shape=cube(1.0), position=(0, 0, 0.5))
    world = mc.World(scene)
    found = []
    for shape in (mc.Sphere(0.7), mc.Cylinder(0.5, 1.0), mc.Capsule(0.4, 0.8, orientation=along(X)), cube(2.0)):
        world.set_shape("body", shape)
        play(world, 3.0)
        found.append(world.body("body").position[2])
    play.expect("heights", found, (0.7, 1.0, 0.4, 1.0), within=0.003, unit="m")
    play.expect("mass of the last", world.body("body").mass, 8000.0, within=1e-6, unit="kg")


@sample("jolt/general/conveyor_belt", title="Conveyor Belt", source=SOURCE)
def conveyor_belt(play):
    """Cubes of other frictions reach the speed of a static belt; a loose belt runs away under its cubes."""
    scene, speed = ground(), 3.0
    surface = mc.Material(friction=1.0, surface_velocity=(speed, 0, 0))
    scene.add_body("belt", shape=box(60, 6, 0.5), kind="static", position=(20, 0, 1), material=surface)
    scene.add_body("loose", shape=box(60, 6, 0.5), position=(20, 10, 0.25), material=surface, density=2e4)
    frictions = np.array([0.9, 0.6, 0.3])
    for k, mu in enumerate(frictions):
        material = mc.Material(friction=mu**2)
        scene.add_body(f"cube{k}", shape=cube(1.0), position=(0, 2 * k - 2, 1.75), material=material)
        scene.add_body(f"other{k}", shape=cube(1.0), position=(0, 2 * k + 8, 1.0), material=material)
    world = mc.World(scene)
    play(world, 5.0)
    ways = np.array([world.body(f"cube{k}").position[0] for k in range(3)])
    play.expect("ways on the static belt", ways, 5 * speed - speed**2 / (2 * frictions * G), within=0.05, unit="m")
    play.expect("speeds there", [world.body(f"cube{k}").velocity[0] for k in range(3)], speed, within=1e-3, unit="m/s")
    play.expect("the loose one drives itself back", world.body("loose").velocity[0], -speed, within=1e-3, unit="m/s")
    others = [world.body(f"other{k}").velocity[0] for k in range(3)]
    play.expect("so that what is on it stands", others, 0.0, within=1e-3, unit="m/s")


@sample("jolt/general/damping", title="Damping", source=SOURCE)
def damping(play):
    """Balls with damping of 0 to 1 per second lose speed and spin by e^(-c t)."""
    scene, c = mc.Scene(gravity=(0, 0, 0)), np.linspace(0, 1, 11)
    for k in range(11):
        scene.add_body(f"ball{k}", shape=mc.Sphere(0.5), position=(0, 2 * k, 0), velocity=(10, 0, 0),
                       angular_velocity=(0, 10, 0), linear_damping=c[k], angular_damping=c[k])  # fmt: skip
    world = mc.World(scene)
    play(world, 3.0)
    play.expect("speeds", world.velocities[:, 0], 10 * np.exp(-3 * c), within=0.02, unit="m/s")
    play.expect("spins", world.angular_velocities[:, 1], 10 * np.exp(-3 * c), within=0.02, unit="rad/s")


@sample("jolt/general/gravity_factor", title="Gravity Factor", source=SOURCE)
def gravity_factor(play):
    """Cubes with factors of gravity from 0 to 1 fall by a g t²/2 each."""
    scene, factor = mc.Scene(), np.linspace(0, 1, 11)
    for k in range(11):
        scene.add_body(f"cube{k}", shape=cube(1.0), position=(2 * k, 0, 25), gravity_scale=factor[k])
    world = mc.World(scene)
    play(world, 2.0)
    play.expect("falls", 25 - world.positions[:, 2], factor * G * 2.0**2 / 2, within=0.05, unit="m")
    play.expect("speeds", world.velocities[:, 2], -factor * G * 2.0, within=1e-9, unit="m/s")


@sample("jolt/general/restitution", title="Restitution", source=SOURCE, overlap=None)
def restitution(play):
    """Balls and boxes of restitution 0 to 1 fall from 5 m, and come back to e² of the way."""
    scene, e = ground(friction=0.0), np.linspace(0, 1, 11)
    for k in range(22):
        shape = mc.Sphere(0.5) if k < 11 else cube(1.0)
        place = (2 * (k % 11), 3 * (k // 11), 5.5)
        scene.add_body(f"body{k}", shape=shape, position=place, material=mc.Material(restitution=e[k % 11]))
    world = mc.World(scene)
    tops, landed = np.zeros(22), np.zeros(22, bool)
    for _ in play.steps(world, 2.5):
        landed |= world.velocities[1:, 2] > 0
        tops = np.maximum(tops, np.where(landed, world.positions[1:, 2] - 0.5, 0))
    play.expect("height of the bounce over the fall", tops / 5.0, np.tile(e, 2) ** 2, within=0.02)


@sample("jolt/general/friction", title="Friction", source=SOURCE)
def friction(play):
    """Boxes with friction of 0 to 1 on a slope of 30 degrees slide as the formula says, or stay."""
    scene, mu, turn = slope(30, friction=1.0, length=120.0), np.linspace(0, 1, 11), turned(Y, 30)
    for k in range(11):
        place = mc.rotation.rotate(turn, (-20, 3 * k - 15, 0.5))
        scene.add_body(
            f"box{k}", shape=cube(1.0), position=place, orientation=turn, material=mc.Material(friction=mu[k] ** 2)
        )
    world = mc.World(scene)
    start = world.positions[1:].copy()
    play(world, 2.0)
    pull = np.maximum(0, G * (math.sin(math.pi / 6) - mu * math.cos(math.pi / 6)))
    play.expect("ways", np.linalg.norm(world.positions[1:] - start, axis=1), pull * 2.0, within=0.05, unit="m")


@sample("jolt/general/friction_impulses", title="Friction (impulses)", source=SOURCE)
def friction_impulses(play):
    """Boxes on level ground get 0.15 m/s in each step: where friction takes more than that, they hardly move."""
    scene, mu = ground(friction=1.0), np.linspace(0, 1.1, 12)
    for k in range(12):
        scene.add_body(f"box{k}", shape=cube(1.0), position=(0, 2 * k, 0.5), material=mc.Material(friction=mu[k] ** 2))
    world = mc.World(scene)
    for _ in play.steps(world, 2.0):
        world.apply_impulses(np.c_[0.15 * world.masses[1:], np.zeros((12, 2))], range(1, 13))
    slides = mu * G / 60 < 0.15
    speeds = world.velocities[1:, 0]
    play.expect("speeds", speeds[slides], (0.15 - mu * G / 60)[slides] * 120, within=0.1, unit="m/s")
    play.between("ways of those that friction holds", world.positions[1:, 0][~slides], upper=0.35, unit="m")
