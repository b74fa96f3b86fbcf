"""Rapier's samples that once showed faults: what is added and taken away, heavy on light, edges, wide angles."""

import numpy as np

import mcsim as mc
from mcsim.samples.measure import load, watched, weight
from mcsim.samples.parts import G, X, Y, Z, along, box, cube, flat_mesh, ground, heights, lean, slope, speed, turned
from mcsim.samples.registry import sample

SOURCE = "Rapier, examples3d"


@sample("rapier/debug/add_remove_collider", title="Debug: add/remove collider", source=SOURCE)
def add_remove_collider(play):
    """A ball's ground is given another shape every 25 steps; the ball stays where it is."""
    scene = mc.Scene()
    scene.add_body("ground", shape=box(6, 6, 0.2), kind="static", position=(0, 0, -0.1))
    scene.add_body("ball", shape=mc.Sphere(0.5), position=(0, 0, 0.7))
    world, low = mc.World(scene), []
    for step in play.steps(world, 5.0):
        if step % 25 == 0:
            world.set_shape("ground", box(6 + step % 2, 6, 0.2))
        low.append(world.body("ball").position[2])
    play.expect("height of the ball after 1 s", low[60:], 0.5, within=1e-3, unit="m")


@sample("rapier/debug/articulations", title="Debug: articulations", source=SOURCE, slow=True, overlap=5e-3)
def articulations(play):
    """A net of 15 × 15 balls on ball joints falls on a tilted floor and lies there, without energy gained."""
    scene, n = slope(12.0, friction=0.9, length=120.0), 15
    for i, j in np.ndindex(n, n):
        scene.add_body(f"ball{i}.{j}", shape=mc.Sphere(0.4), position=(i - 7, j - 7, 5))
        if i > 0:
            scene.add_joint(mc.BallJoint(f"ball{i - 1}.{j}", f"ball{i}.{j}", (i - 7.5, j - 7, 5)))
        if j > 0:
            scene.add_joint(mc.BallJoint(f"ball{i}.{j - 1}", f"ball{i}.{j}", (i - 7, j - 7.5, 5)))
    world = mc.World(scene)
    start = world.energy().total
    play(world, 10.0)
    play.between("energy gained", world.energy().total - start, upper=1.0, unit="J")
    across = world.positions[1:] @ np.array([np.sin(np.radians(12)), 0, np.cos(np.radians(12))])
    play.between("distance of the centres from the slope", across, 0.398, 1.5, unit="m")
    play.expect("load on the slope over the weight", load(world, "slope") / weight(world), 1.0, within=0.002)


@sample("rapier/debug/big_colliders", title="Debug: big colliders", source=SOURCE)
def big_colliders(play):
    """Twelve cubes and balls of 1 m lie on a plate of 10 km, also at its far corners."""
    scene = mc.Scene()
    scene.add_body("plate", shape=box(1e4, 1e4, 2.0), kind="static", position=(0, 0, -1))
    places = [(x, y) for x in (-4990, 0, 4990) for y in (-4990, 4990)]
    for k, (x, y) in enumerate(places):
        scene.add_body(f"cube{k}", shape=cube(1.0), position=(x, y, 0.7))
        scene.add_body(f"ball{k}", shape=mc.Sphere(0.5), position=(x, y, 1.9))
    world = mc.World(scene)
    play(world, 4.0)
    play.expect("heights of the cubes", heights(world, "cube"), 0.5, within=1e-3, unit="m")
    play.expect("heights of the balls", heights(world, "ball"), 1.5, within=1e-3, unit="m")
    play.check("they sleep", play.asleep(world))


@sample("rapier/debug/cube_high_mass_ratio", title="Debug: cube, high mass ratio", source=SOURCE)
def cube_high_mass_ratio(play):
    """A cube of 4 m stands on small sticks: 640 times their mass in all, and none gives way."""
    scene = ground()
    for k, (i, j) in enumerate(np.ndindex(4, 4)):
        scene.add_body(f"stick{k}", shape=box(0.1, 0.1, 1.0), position=(i - 1.5, j - 1.5, 0.5))
    scene.add_body("cube", shape=cube(4.0), position=(0, 0, 3.0))
    world = mc.World(scene)
    play(world, 4.0)
    play.expect("height of the cube", heights(world, "cube"), 3.0, within=0.004, unit="m")
    play.expect("load on the ground over the weight", load(world) / weight(world), 1.0, within=0.01)
    play.check("they sleep", play.asleep(world))


@sample("rapier/debug/chain_high_mass_ratio", title="Debug: chain, high mass ratio", source=SOURCE)
def chain_high_mass_ratio(play):
    """A ball of 1000 times a link's mass hangs on a chain of 16 links that swings; the joints stay closed."""
    scene, before = mc.Scene(), None
    for k in range(16):
        scene.add_body(f"link{k}", shape=mc.Capsule(0.05, 0.15, orientation=along(X)), position=(0.4 * k + 0.2, 0, 0))
        scene.add_joint(mc.BallJoint(before, f"link{k}", (0.4 * k, 0, 0)))
        before = f"link{k}"
    scene.add_body("ball", shape=mc.Sphere(1.0), position=(7.4, 0, 0), mass=1000 * scene.body("link0").mass)
    scene.add_joint(mc.BallJoint(before, "ball", (6.4, 0, 0)))
    world = mc.World(scene, dt=1 / 240)
    start = world.energy().total
    play(world, 1.5)
    fallen = world.energy().kinetic
    play.expect("energy kept, over that fallen through", (world.energy().total - start) / fallen, 0.0, within=1e-3)
    play.between("reach of the ball", np.linalg.norm(world.body("ball").position), 7.3, 7.4 + 1e-3, unit="m")


@sample("rapier/debug/long_chain", title="Debug: long chain", source=SOURCE)
def long_chain(play):
    """A chain of 100 balls from one fixed end falls through its circle; energy is kept and joints stay closed."""
    scene, before = mc.Scene(), None
    for k in range(100):
        scene.add_body(f"ball{k}", shape=mc.Sphere(0.2), position=(0.5 * k + 0.25, 0, 0))
        scene.add_joint(mc.BallJoint(before, f"ball{k}", (0.5 * k, 0, 0)))
        before = f"ball{k}"
    world = mc.World(scene)
    start = world.energy().total
    play(world, 3.0)
    play.expect(
        "energy kept over that fallen through", (world.energy().total - start) / world.energy().kinetic, 0, within=0.001
    )
    tip = np.linalg.norm(world.positions, axis=1)
    play.between("distance from the hook", tip, upper=50.0, unit="m")


@sample("rapier/debug/eccentric_boxes", title="Debug: eccentric boxes", source=SOURCE)
def eccentric_boxes(play):
    """Boxes whose frames are far from their shapes fall as those whose frames are within."""
    scene = ground()
    for k, way in enumerate((0.0, 4.0)):
        shape = cube(1.0, position=(way, 0, 0))
        place = (-way, 4.0 * k, 3.0)
        turn = turned(X, 20.0)
        scene.add_body(f"box{k}", shape=shape, position=place, orientation=turn, angular_velocity=(0, 1.0, 0))
    world = mc.World(scene)
    play(world, 0.6)
    play.expect("place of one from the other", world.positions[2] - world.positions[1], (0, 4, 0), within=1e-9, unit="m")
    play(world, 5.0)
    play.expect("heights at rest", heights(world, "box"), 0.5, within=1e-3, unit="m")


@sample("rapier/debug/pop", title="Debug: pop", source=SOURCE)
def pop(play):
    """A cube set 10 cm deep into the ground comes out slowly: it does not pop off."""
    scene = ground()
    scene.add_body("cube", shape=cube(2.0), position=(0, 0, 0.9))
    world = mc.World(scene)
    _, height = watched(play, world, 4.0, lambda: world.body("cube").position[2])
    play.between("highest", height.max(), 0.99, 1.02, unit="m")
    play.expect("height at last", height[-1], 1.0, within=0.001, unit="m")


@sample("rapier/debug/two_cubes", title="Debug: two cubes", source=SOURCE)
def two_cubes(play):
    """One cube falls on another in the middle; both stand and sleep."""
    scene = ground()
    for k, z in enumerate((0.5, 3.0)):
        scene.add_body(f"cube{k}", shape=cube(1.0), position=(0, 0, z))
    world = mc.World(scene)
    play(world, 4.0)
    play.expect("places", world.positions[1:], [(0, 0, 0.5), (0, 0, 1.5)], within=1e-3, unit="m")
    play.check("they sleep", play.asleep(world))


@sample("rapier/debug/cylinder", title="Debug: cylinder", source=SOURCE)
def cylinder(play):
    """A cylinder falls on its flat face and stays there, another lands on its side."""
    scene = ground()
    scene.add_body("upright", shape=mc.Cylinder(0.5, 1.0), position=(0, 0, 2))
    scene.add_body("lying", shape=mc.Cylinder(0.5, 1.0), position=(4, 0, 2), orientation=along(Y))
    world = mc.World(scene)
    play(world, 4.0)
    play.expect("heights", world.positions[1:, 2], [1.0, 0.5], within=1e-3, unit="m")
    play.check("they sleep", play.asleep(world))


@sample("rapier/debug/thin_cube_on_mesh", title="Debug: thin cube on mesh", source=SOURCE)
def thin_cube_on_mesh(play):
    """A plate 2 cm thick falls on a flat mesh of large triangles and lies on it."""
    scene = mc.Scene()
    scene.add_body("ground", shape=flat_mesh(2, 10.0), kind="static")
    scene.add_body("plate", shape=box(2, 2, 0.02), position=(0.3, 0.2, 3), orientation=turned(X, 7.0))
    world = mc.World(scene)
    play(world, 4.0)
    play.expect("height", heights(world, "plate"), 0.01, within=1e-3, unit="m")
    play.check("it sleeps", play.asleep(world))


@sample("rapier/debug/triangle", title="Debug: triangle", source=SOURCE)
def triangle(play):
    """A cube falls on one triangle of 20 m and lies on it."""
    scene = mc.Scene()
    corners = [(-10, -10, 0), (10, -10, 0), (0, 15, 0)]
    scene.add_body("ground", shape=mc.Mesh(corners, [(0, 1, 2)]), kind="static")
    scene.add_body("cube", shape=cube(1.0), position=(0, 0, 2), orientation=turned(Z, 30.0))
    world = mc.World(scene)
    play(world, 3.0)
    play.expect("height", heights(world, "cube"), 0.5, within=1e-3, unit="m")
    play.check("it sleeps", play.asleep(world))


@sample("rapier/debug/friction", title="Debug: friction", source=SOURCE)
def friction(play):
    """A cube pushed to 10 m/s stops after v²/(2 µ g)."""
    scene = ground(friction=0.5)
    body = scene.add_body("cube", shape=box(2, 2, 0.5), position=(0, 0, 0.25), velocity=(10, 0, 0))
    world = mc.World(scene)
    play(world, 6.0)
    mu = np.sqrt(0.5 * body.material.friction)
    play.expect("way", world.body("cube").position[0], 100 / (2 * mu * G), within=0.01, unit="m")
    play.check("it sleeps", play.asleep(world))


@sample("rapier/debug/infinite_fall", title="Debug: infinite fall", source=SOURCE)
def infinite_fall(play):
    """Two bodies fall past a small ground for 20 s, as free bodies do, and the one on it stays."""
    scene = mc.Scene()
    scene.add_body("ground", shape=box(4, 4, 0.2), kind="static", position=(0, 0, -0.1))
    scene.add_body("falls", shape=mc.Sphere(0.5), position=(6, 0, 2))
    scene.add_body("stays", shape=cube(1.0), position=(0, 0, 0.5))
    world = mc.World(scene)
    play(world, 20.0)
    play.expect("height", heights(world, "falls"), 2 - G * 200, within=0.5, unit="m")
    play.expect("speed", speed(world, "falls"), G * 20, within=1e-6, unit="m/s")
    play.expect("height of the other", heights(world, "stays"), 0.5, within=1e-3, unit="m")


@sample("rapier/debug/internal_edges", title="Debug: internal edges", source=SOURCE)
def internal_edges(play):
    """A smooth cube slides at 20 m/s over the edges of a flat mesh of 200 triangles as over a plane."""
    scene, smooth = mc.Scene(), mc.Material(friction=0.0)
    scene.add_body("mesh", shape=flat_mesh(80, 1.0), kind="static", material=smooth)
    scene.add_body("cube", shape=cube(1.0), position=(-35, 0.3, 0.5), velocity=(20, 0, 0), material=smooth)
    world = mc.World(scene)
    _, states = watched(play, world, 3.0, lambda: [*world.body("cube").position[1:], *world.body("cube").velocity])
    play.expect("height", states[:, 1], 0.5, within=1e-3, unit="m")
    play.expect("velocity", states[:, 2:], (20, 0, 0), within=0.001, unit="m/s")
    play.expect("way", world.body("cube").position[0] + 35, 60.0, within=0.05, unit="m")


@sample("rapier/debug/rollback", title="Debug: rollback", source=SOURCE)
def rollback(play):
    """A world goes back to a snapshot again and again and goes on to the same bits."""
    scene = ground()
    scene.add_body("cube", shape=cube(1.0), position=(0, 0, 3), orientation=turned(X, 30.0), angular_velocity=(1, 2, 3))
    scene.add_body("ball", shape=mc.Sphere(0.3), position=(0.2, 0, 6))
    world = mc.World(scene)
    play(world, 0.4)
    saved, ends = world.snapshot(), []
    for _ in range(4):
        world.restore(saved)
        play(world, 1.5)
        ends.append(world.state_hash())
    play.check("all four ends are the same", len(set(ends)) == 1)
    play.between("the ball fell", world.body("ball").position[2], upper=2.0, unit="m")


@sample("rapier/debug/prismatic", title="Debug: prismatic", source=SOURCE)
def prismatic(play):
    """Two bodies slide on one in the middle, held a hand's breadth off by springs and motors at either side."""
    scene = mc.Scene(gravity=(0, 0, 0))
    scene.add_body("car", shape=box(1.2, 0.6, 0.6), position=(0, 0, 4), velocity=(0.3, 0, 0))
    for side in (-1, 1):
        wheel = scene.add_body(f"wheel{side}", shape=mc.Sphere(0.3), position=(side, 1, 3.4))
        motor = mc.Motor(position=-0.2, kp=20 * wheel.mass, kd=9 * wheel.mass)
        scene.add_joint(mc.SliderJoint("car", wheel, Z, limits=(-0.5, 0.5), motor=motor))
    world = mc.World(scene)
    before = world.momentum()
    play(world, 6.0)
    play.expect("ways", [joint.position for joint in world.joints], -0.2, within=1e-3, unit="m")
    play.expect("momentum", world.momentum()[0], before[0], within=1e-6 * before[0][0], unit="kg m/s")
    play.expect("angular momentum", world.momentum()[1], before[1], within=1e-3, unit="kg m²/s")


@sample("rapier/debug/sleeping_kinematic", title="Debug: sleeping kinematic", source=SOURCE)
def sleeping_kinematic(play):
    """A platform stands for 3 s, a box on it falls asleep; then it moves, wakes the box and carries it."""
    scene = mc.Scene()
    scene.add_body("platform", shape=box(4, 4, 0.4), kind="kinematic", position=(0, 0, -0.2))
    scene.add_body("box", shape=cube(1.0), position=(0, 0, 0.5))
    world = mc.World(scene)
    play(world, 3.0)
    play.check("it sleeps", world.body("box").asleep)
    for step in play.steps(world, 2.0):
        world.set_velocity("platform", (min(1.0, step * world.dt), 0, 0))
    play.expect("place on the platform", world.positions[1] - world.positions[0], (0, 0, 0.7), within=5e-3, unit="m")
    play.expect("speed", speed(world, "box"), 1.0, within=1e-3, unit="m/s")


@sample("rapier/debug/disabled", title="Debug: disabled", source=SOURCE)
def disabled(play):
    """A wall that is not enabled lets a ball roll through it, and keeps the next one back."""
    scene = ground()
    scene.add_body("wall", shape=box(0.2, 4, 4), kind="static", position=(2, 0, 2))
    spin = {"velocity": (1, 0, 0), "angular_velocity": (0, 2, 0)}
    for k, x in enumerate((0.0, -4.0)):
        scene.add_body(f"ball{k}", shape=mc.Sphere(0.5), position=(x, 0, 0.5), **spin)
    world = mc.World(scene)
    world.body("wall").enabled = False
    play(world, 4.0)
    play.expect("way of both", world.positions[2:, 0], (4.0, 0.0), within=1e-3, unit="m")
    world.body("wall").enabled = True
    play(world, 4.0)
    play.expect("the first rolls on", world.positions[2, 0], 8.0, within=1e-3, unit="m")
    play.between("the second is kept back", world.positions[3, 0], 1.2, 1.401, unit="m")


@sample("rapier/debug/multi_collider_body", title="Debug: several colliders on one body", source=SOURCE)
def multi_collider_body(play):
    """An L of two cuboids on one static body holds a ball in its corner; a see-saw of two lies on one end."""
    scene = mc.Scene()
    parts = [box(10, 4, 0.4, position=(0, 0, -0.2)), box(0.4, 4, 3, position=(2, 0, 1.5))]
    scene.add_body("corner", shape=parts, kind="static")
    scene.add_body("ball", shape=mc.Sphere(0.5), position=(0, 0, 0.5), velocity=(2, 0, 0))
    world = mc.World(scene)
    play(world, 4.0)
    play.between("place of the ball", world.positions[1, 0], 1.0, 1.3, unit="m")
    play.expect("height of the ball", heights(world, "ball"), 0.5, within=1e-3, unit="m")
    play.between("lean", lean(world, "corner"), 0.0, 1e-9)


@sample("rapier/debug/angular_limits", title="Debug: angular limits", source=SOURCE)
def angular_limits(play):
    """Ten hinges, driven into limits beyond half a turn, up to almost a whole one, stop there."""
    scene, ends = mc.Scene(gravity=(0, 0, 0)), np.radians(np.linspace(80, 350, 10))
    for k in range(10):
        scene.add_body(f"bar{k}", shape=box(1.0, 0.2, 0.2), position=(0.5, 0, k))
        motor = mc.Motor(velocity=-2.0, max_force=50.0)
        scene.add_joint(mc.HingeJoint(None, f"bar{k}", (0, 0, k), Z, limits=(-ends[k], 0), motor=motor))
    world = mc.World(scene)
    play(world, 6.0)
    play.expect("angles", [joint.angle for joint in world.joints], -ends, within=1e-3, unit="rad")


@sample("rapier/debug/multibody_ang_motor_pos", title="Debug: angular motor of a multibody", source=SOURCE)
def multibody_ang_motor_pos(play):
    """Two arms one on the other in generalized coordinates are driven to angles, and stay there under gravity."""
    scene = mc.Scene()
    for k, a in enumerate((None, "arm0")):
        scene.add_body(f"arm{k}", shape=box(1.0, 0.2, 0.2), position=(0.5 + k, 0, 0))
        scene.add_joint(mc.HingeJoint(a, f"arm{k}", (k, 0, 0), Y, motor=mc.Motor(position=(-0.5, 0.9)[k], hertz=1.0)))
    worlds = [mc.World(scene), mc.ReducedWorld(scene)]
    for world in worlds:
        play(world, 4.0)
        play.expect("angles", [joint.angle for joint in world.joints], (-0.5, 0.9), within=1e-3, unit="rad")
    play.expect("distance of the two worlds", worlds[0].positions - worlds[1].positions, 0.0, within=1e-4, unit="m")
