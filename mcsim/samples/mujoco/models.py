"""MuJoCo's models: humanoids, stacks that sleep, belts, tops, a cube of pieces, a car, a hammock."""

import numpy as np

import mcsim as mc
from mcsim.samples.measure import load, settle, watched, weight
from mcsim.samples.parts import G, X, Y, Z, along, box, cube, ground, heights, lean, turned
from mcsim.samples.registry import sample

SOURCE = "MuJoCo, model/"
DOCS = "MuJoCo, documentation"


@sample("mujoco/models/humanoid", title="humanoid", source=SOURCE)
def humanoid(play):
    """A humanoid without motors falls and lies; joints stay closed, and the floor bears its weight."""
    world = mc.World(mc.scenes.ragdolls(count=1))
    settle(play, world, 8.0, "floor")
    play.check("it sleeps", play.asleep(world))
    play.between("highest part", world.positions[world.masses > 0, 2], upper=0.6, unit="m")


@sample("mujoco/models/humanoids_22", title="22_humanoids", source=SOURCE, slow=True)
def humanoids_22(play):
    """22 humanoids fall on each other; all joints stay closed, energy only falls, the floor bears them all."""
    world = mc.World(mc.scenes.ragdolls(count=22))
    settle(play, world, 10.0, "floor")
    play.between("lowest part", world.positions[world.masses > 0, 2].min(), lower=0.02, unit="m")


@sample("mujoco/models/humanoids_100", title="100_humanoids", source=SOURCE, slow=True)
def humanoids_100(play):
    """100 humanoids, 1,600 bodies, fall on each other; all joints stay closed, the floor bears them all."""
    world = mc.World(mc.scenes.ragdolls(count=100))
    settle(play, world, 6.0, "floor")
    play.between("lowest part", world.positions[world.masses > 0, 2].min(), lower=0.015, unit="m")
    play.between("fastest", np.linalg.norm(world.velocities, axis=1), upper=1.0, unit="m/s")


@sample("mujoco/models/dominos", title="sleep/dominos", source=SOURCE)
def dominos(play):
    """A row of 40 dominoes sleeps until the first is pushed; the wave wakes one after the other, and all sleep again."""
    scene = ground()
    for k in range(40):
        scene.add_body(f"tile{k}", shape=box(0.02, 0.08, 0.16), position=(0.1 * k, 0, 0.08))
    world = mc.World(scene)
    play(world, 1.5)
    play.check("all sleep", play.asleep(world))
    world.apply_impulse("tile0", (0.12, 0, 0), point=(0, 0, 0.16))
    play(world, 0.5)
    play.check("the last still sleeps", world.body("tile39").asleep)
    play(world, 5.0)
    play.between("lean of the tiles", [lean(world, f"tile{k}") for k in range(40)], lower=0.9, unit="rad")
    play.check("all sleep again", play.asleep(world))


@sample("mujoco/models/cards", title="sleep/cards", source=SOURCE, overlap=1e-3)
def cards(play):
    """A house of cards of three floors stands, and falls asleep."""
    world = mc.World(mc.scenes.card_tower(), dt=1 / 240)
    start = world.positions.copy()
    play(world, 3.0)
    play.between("way that any card went", np.abs(world.positions - start), upper=0.005, unit="m")
    play.check("it sleeps", play.asleep(world))


@sample("mujoco/models/stonehenge", title="replicate/stonehenge", source=SOURCE)
def stonehenge(play):
    """A ring of 20 stones with 20 lintels on them stands and sleeps; each stone bears its own lintel."""
    scene, n, r = ground(), 20, 8.0
    width = 2 * r * np.sin(np.pi / n)
    for k in range(n):
        for name, shape, z, angle in (
            ("stone", box(0.8, 1.2, 3), 1.5, k),
            ("lintel", box(0.8, width * 0.88, 0.6), 3.3, k + 0.5),
        ):
            a = 2 * np.pi * angle / n
            middle = r if name == "stone" else r * np.cos(np.pi / n)
            place = (middle * np.cos(a), middle * np.sin(a), z)
            scene.add_body(f"{name}{k}", shape=shape, position=place, orientation=turned(Z, np.degrees(a)))
    world = mc.World(scene)
    play(world, 3.0)
    play.expect("heights of the lintels", heights(world, "lintel"), 3.3, within=2e-3, unit="m")
    play.expect("load over the weight", load(world) / weight(world), 1.0, within=0.001)
    play.check("they sleep", play.asleep(world))


@sample("mujoco/models/container", title="sleep/container", source=SOURCE, slow=True)
def container(play):
    """200 boxes, balls and capsules fall into a container and come to rest in it."""
    scene = ground()
    for side in range(4):
        turn = turned(Z, 90.0 * side)
        scene.add_body(f"wall{side}", shape=box(0.1, 2.1, 1.5, position=(1.05, 0, 0.75)), kind="static", orientation=turn)
    shapes = [cube(0.24), mc.Sphere(0.12), mc.Capsule(0.09, 0.08)]
    for n, (k, i, j) in enumerate(np.ndindex(8, 5, 5)):
        place = (0.36 * (i - 2) + 0.02 * (k % 2), 0.36 * (j - 2), 0.2 + 0.36 * k)
        material = mc.Material(rolling_friction=0.002, torsional_friction=0.002)
        scene.add_body(f"body{n}", shape=shapes[n % 3], position=place, orientation=turned(X, 30.0 * n), material=material)
    world = mc.World(scene)
    settle(play, world, 8.0, "ground", "wall")
    play.between("distance from the middle", np.abs(world.positions[5:, :2]), upper=1.0, unit="m")
    play.between("part that sleeps", world.asleep[5:].mean(), lower=0.9)


@sample("mujoco/models/helix", title="replicate/helix", source=SOURCE, slow=True)
def helix(play):
    """Sixty pendulums along a helix swing, each as its length says."""
    scene, lengths = mc.Scene(), np.linspace(0.5, 1.5, 60)
    for k, length in enumerate(lengths):
        a = 0.2 * k
        pivot = np.array([np.cos(a), np.sin(a), 0.1 * k])
        bob = pivot - (0, 0, length)
        scene.add_body(f"bob{k}", shape=mc.Sphere(0.03), mass=1.0, inertia=(1e-6,) * 3, position=bob)
        scene.add_joint(mc.HingeJoint(None, f"bob{k}", pivot, X))
    world = mc.World(scene, dt=1 / 240)
    for k, length in enumerate(lengths):
        world.set_velocity(f"bob{k}", (0, 0.05 * length, 0), (0.05, 0, 0))
    play(world, 3.0)
    omega = np.sqrt(G / lengths)
    play.expect("angles", [j.angle for j in world.joints], 0.05 / omega * np.sin(3 * omega), within=1e-4, unit="rad")


@sample("mujoco/models/particle_free", title="replicate/particle_free", source=SOURCE, slow=True)
def particle_free(play):
    """1000 balls in a lattice fall on a plane, roll apart, and nearly all lie at their radius."""
    scene = ground()
    for n, (k, i, j) in enumerate(np.ndindex(10, 10, 10)):
        place = (0.3 * (i - 4.5) + 0.02 * (k % 3), 0.3 * (j - 4.5) + 0.02 * (k % 2), 0.2 + 0.3 * k)
        scene.add_body(f"ball{n}", shape=mc.Sphere(0.1), position=place, material=mc.Material(rolling_friction=2e-4))
    world = mc.World(scene)
    settle(play, world, 8.0)
    play.between("heights", heights(world, "ball"), 0.0999, 0.3, unit="m")
    play.between("part that lies on the plane", np.mean(heights(world, "ball") < 0.101), lower=0.9)


@sample("mujoco/models/newton_cradle", title="replicate/newton_cradle", source=SOURCE, overlap=None, camera="front")
def newton_cradle(play):
    """Seven balls of a cradle: three come down, three go up on the other side, and the middle one hangs on."""
    scene, steel = mc.Scene(), mc.Material(friction=0.0, restitution=1.0)
    for k in range(7):
        scene.add_body(f"ball{k}", shape=mc.Sphere(0.04), position=(0.0801 * k, 0, 0), material=steel)
        scene.add_joint(mc.HingeJoint(None, f"ball{k}", (0.0801 * k, 0, 0.4), (0, -1, 0)))
    world = mc.World(scene, dt=1 / 480)
    for k in range(3):
        world.set_pose(f"ball{k}", (0.0801 * k - 0.4 * np.sin(0.4), 0, 0.4 - 0.4 * np.cos(0.4)), turned(Y, np.degrees(0.4)))
    _, angles = watched(play, world, 0.9, lambda: [joint.angle for joint in world.joints])
    play.expect("angle up to which the last three go", angles[:, 4:].max(axis=0), 0.4, within=0.001, unit="rad")
    play.between("angle of the middle one", np.abs(angles[:, 3]), upper=0.05, unit="rad")


@sample("mujoco/models/carousel", title="surfacevel/carousel", source=SOURCE)
def carousel(play):
    """A disc that turns at 1 rad/s takes a box at 1 m along; one at 7 m, where v²/r is over µ g, slips away."""
    scene = mc.Scene()
    disc = mc.Cylinder(10.0, 0.2, position=(0, 0, -0.2))
    scene.add_body("disc", shape=disc, kind="kinematic", angular_velocity=(0, 0, 1.0))
    for name, r in (("near", 1.0), ("far", 7.0)):
        moves = {"velocity": (0, r, 0), "angular_velocity": (0, 0, 1.0)}
        scene.add_body(name, shape=cube(0.4), position=(r, 0, 0.2), **moves)
    world = mc.World(scene)
    play(world, 3.0)
    place = world.body("near").position
    play.expect("place of the near box", place, (np.cos(3.0), np.sin(3.0), 0.2), within=0.001, unit="m")
    play.between("way out of the far box", np.linalg.norm(world.body("far").position[:2]), lower=7.2, unit="m")


@sample("mujoco/models/treadmill", title="surfacevel/treadmill", source=SOURCE)
def treadmill(play):
    """A ball set down on a belt of 1 m/s that stands still ends at 2/7 of its speed, rolling."""
    scene = mc.Scene()
    belt = mc.Material(friction=0.5, surface_velocity=(1.0, 0, 0))
    scene.add_body("belt", shape=box(20, 4, 0.4), kind="static", position=(5, 0, -0.2), material=belt)
    scene.add_body("ball", shape=mc.Sphere(0.3), position=(0, 0, 0.3))
    world = mc.World(scene)
    play(world, 3.0)
    play.expect("speed", world.body("ball").velocity, (2 / 7, 0, 0), within=1e-3, unit="m/s")
    play.expect("spin", world.body("ball").angular_velocity[1], -(5 / 7) / 0.3, within=0.005, unit="rad/s")


@sample("mujoco/models/rattleback", title="rattleback", source=DOCS, overlap=5e-3)
def rattleback(play):
    """A stone spun the wrong way begins to rattle, stops, and turns back."""
    world = mc.World(mc.scenes.rattleback(), dt=1 / 480)
    stone = next(body for body in world.bodies if body.kind == "dynamic")
    energy = world.energy().total
    _, spin = watched(play, world, 6.0, lambda: stone.angular_velocity[2])
    play.expect("spin at first", spin[0], -5.0, within=0.005, unit="rad/s")
    play.between("spin at most", spin.max(), lower=0.8, unit="rad/s")
    play.between("energy at last over that of the start", world.energy().total / energy, upper=1.001)


@sample("mujoco/models/rattleback_ellipsoid", title="rattleback", source=DOCS)
def rattleback_ellipsoid(play):
    """Of two ellipsoids with skewed inertia, one spun its own way goes on; one spun the other way turns back."""
    scene, turn, low, rough = ground(friction=1.0), mc.rotation.matrix(turned(Z, 11.5)), 0.005, mc.Material(friction=1.0)
    inertia = turn @ np.diag(0.1 * np.square((0.012, 0.06, 0.061))) @ turn.T
    stone = {"shape": mc.Ellipsoid((0.1, 0.03, 0.02)), "mass": 0.1, "inertia": inertia, "center_of_mass": (0, 0, -low)}
    for name, spin, x in (("with", 5.0, 0.0), ("against", -5.0, 0.5)):
        w = np.array([0.0, 0.05, spin])
        v = np.cross(w, (0, 0, 0.02 - low))
        scene.add_body(name, position=(x, 0, 0.02), angular_velocity=w, velocity=v, material=rough, **stone)
    world = mc.World(scene, dt=1 / 480)
    energy = world.energy().total
    _, spins = watched(play, world, 1.0, lambda: world.angular_velocities[1:, 2])
    play.expect("spin of the one that goes on", spins[:, 0], 5.0, within=0.05, unit="rad/s")
    play.between("spin of the other, at last", spins[-1, 1], lower=3.0, unit="rad/s")
    play.between("energy at last over that of the start", world.energy().total / energy, 0.98, 1.001)


@sample("mujoco/models/tippe_top", title="tippe top", source=DOCS)
def tippe_top(play):
    """A top of 2 cm, its mass low, spun at 200 rad/s, turns over, and ends at about 2/3 of its spin."""
    world = mc.World(mc.scenes.tippe_top(radius=0.02), dt=1 / 480)
    top = next(body for body in world.bodies if body.kind == "dynamic")
    play(world, 6.0)
    play.between("lean", lean(world, top.name), lower=2.9, unit="rad")
    play.expect("spin over that of the start", top.angular_velocity[2] / 200.0, 0.8 / 1.2, within=0.05)


@sample("mujoco/models/car", title="car", source=SOURCE)
def car(play):
    """Two driven wheels and a ball at the front: the mean of their speeds drives it, their difference turns it."""
    scene, r, half = ground(friction=1.0), 0.3, 0.5
    scene.add_body("chassis", shape=box(1.0, 0.6, 0.2), position=(0.3, 0, 0.35), mass=20)
    for side in (1, -1):
        wheel = mc.Cylinder(r, 0.01, orientation=along(Y), material=mc.Material(friction=1.0))
        scene.add_body(f"wheel{side}", shape=wheel, position=(0, side * half, r), mass=2)
        motor = mc.Motor(velocity=4.0 + side)
        scene.add_joint(mc.HingeJoint("chassis", f"wheel{side}", (0, side * half, r), Y, motor=motor))
    scene.add_body("caster", shape=mc.Sphere(0.12), position=(0.7, 0, 0.12), material=mc.Material(friction=0.0), mass=1)
    scene.add_joint(mc.BallJoint("chassis", "caster", (0.7, 0, 0.12)))
    world = mc.World(scene)
    play(world, 4.0)
    _, middle = watched(play, world, 2.0, lambda: (world.body("wheel1").position + world.body("wheel-1").position) / 2)
    turning = world.body("chassis").angular_velocity[2]
    play.expect("turning rate", turning, -r * 2.0 / (2 * half), within=0.005, unit="rad/s")
    way = np.linalg.norm(np.diff(middle, axis=0), axis=1).sum() / 2.0
    play.expect("speed of the axle's middle", way, 4.0 * r, within=0.03, unit="m/s")


@sample("mujoco/models/balloons", title="balloons", source=SOURCE)
def balloons(play):
    """Balloons with twice their weight of lift rise on their strings, pull these taut, and stay there."""
    scene = ground()
    for k in range(6):
        balloon = scene.add_body(f"balloon{k}", shape=mc.Sphere(0.2), mass=0.05, position=(k, 0, 1))
        scene.add_joint(mc.DistanceJoint(None, balloon, (k, 0, 0), (k, 0, 1), limits=(None, 1.5 + 0.2 * k)))
    world = mc.World(scene)
    for _ in play.steps(world, 6.0):
        world.apply_forces(np.tile([0, 0, 2 * 0.05 * G], (6, 1)), [f"balloon{k}" for k in range(6)])
    play.expect("heights", heights(world, "balloon"), 1.5 + 0.2 * np.arange(6), within=1e-4, unit="m")
    play.expect("pull of the strings", [j.force[2] for j in world.joints], -0.05 * G, within=1e-3, unit="N")


@sample("mujoco/models/cube_3x3x3", title="cube_3x3x3", source=SOURCE, slow=True)
def cube_3x3x3(play):
    """26 pieces of a puzzle cube on ball joints at its middle; its top is turned by 90 degrees, the rest stays."""
    scene = mc.Scene(gravity=(0, 0, 0))
    scene.add_body("core", shape=mc.Sphere(0.2), kind="static")
    for i, j, k in np.ndindex(3, 3, 3):
        if (i, j, k) != (1, 1, 1):
            name, at = f"piece{i}{j}{k}", np.array([i - 1.0, j - 1, k - 1])
            scene.add_body(name, shape=cube(0.98), position=at, material=mc.Material(friction=0.05), angular_damping=5.0)
            held = mc.Motor(position=(0, 0, 0), kp=2e5, kd=2e4)
            scene.add_joint(mc.BallJoint("core", name, (0, 0, 0), motor=held, name=name))
    world, top = mc.World(scene), [f"piece{i}{j}2" for i in range(3) for j in range(3)]
    for step in play.steps(world, 4.0):
        for name in top:
            world.joint(name).set_motor(position=(0, 0, np.pi / 2 * min(1.0, step * world.dt / 2)))
    moved = np.array([joint.position for joint in world.joints])
    is_top = np.array([body.name.endswith("2") for body in list(world.bodies)[1:]])
    play.expect("turn of the top's pieces", moved[is_top], (0, 0, np.pi / 2), within=0.002, unit="rad")
    play.expect("turn of the others", moved[~is_top], 0.0, within=0.001, unit="rad")
