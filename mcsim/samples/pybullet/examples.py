"""PyBullet's examples of friction, queries, forces and what is asked of a world."""

import numpy as np

import mcsim as mc
from mcsim.samples.measure import load, settle, watched, weight
from mcsim.samples.parts import G, X, Y, Z, box, cube, flat_mesh, ground, heights, lean, speed, turned
from mcsim.samples.registry import sample

SOURCE = "PyBullet, examples/pybullet/examples"


@sample("pybullet/examples/hello_pybullet", title="hello_pybullet", source=SOURCE)
def hello_pybullet(play):
    """A body of two legs and a dome falls 1 m, lands upright and stands, at 240 steps a second."""
    scene = ground()
    legs = [box(0.12, 0.1, 0.4, position=(0, y, -0.2)) for y in (-0.2, 0.2)]
    scene.add_body("robot", shape=[*legs, mc.Cylinder(0.2, 0.15, position=(0, 0, 0.1))], position=(0, 0, 1.4))
    world = mc.World(scene, dt=1 / 240)
    play(world, 0.4)
    play.expect("height in the fall", world.body("robot").frame[0][2], 1.4 - G * 0.08, within=0.001, unit="m")
    play(world, 3.0)
    play.expect("height", world.body("robot").frame[0][2], 0.4, within=1e-3, unit="m")
    play.expect("lean", lean(world, "robot"), 0.0, within=1e-3, unit="rad")


@sample("pybullet/examples/contact_friction", title="contactFriction", source=SOURCE)
def contact_friction(play):
    """A box that is pulled starts to move where the pull is over µ m g, and not before."""
    scene = ground(friction=0.5)
    body = scene.add_body("box", shape=box(1, 1, 0.4), position=(0, 0, 0.2), material=mc.Material(friction=0.5))
    world, pull = mc.World(scene), 0.0
    while speed(world, "box") < 1e-3 and pull < 1e5:
        pull += 0.002 * body.mass * G
        world.apply_force("box", (pull, 0, 0))
        play(world, world.dt)
    play.expect("pull over the weight", pull / (body.mass * G), 0.5, within=0.01)


@sample("pybullet/examples/friction_cone", title="frictionCone", source=SOURCE, camera="top")
def friction_cone(play):
    """Boxes thrown in 16 directions stop after the same way: friction has no favourite direction."""
    scene, mu = ground(friction=0.4), 0.4
    for k in range(16):
        a = 2 * np.pi * k / 16
        d = np.array([np.cos(a), np.sin(a), 0])
        material = mc.Material(friction=mu)
        scene.add_body(
            f"box{k}", shape=box(0.4, 0.4, 0.1), position=3 * d + (0, 0, 0.05), velocity=3 * d, material=material
        )
    world = mc.World(scene)
    start = world.positions[1:].copy()
    play(world, 2.0)
    ways = np.linalg.norm(world.positions[1:] - start, axis=1)
    play.expect("ways", ways, 9 / (2 * mu * G), within=0.002, unit="m")


@sample("pybullet/examples/restitution", title="restitution", source=SOURCE, overlap=None)
def restitution(play):
    """A ball of restitution 0.5 hits the ground again and again: each bounce takes half as long as the one before."""
    scene = ground(restitution=0.0)
    scene.add_body("ball", shape=mc.Sphere(0.5), position=(0, 0, 5.5), material=mc.Material(restitution=0.5))
    world = mc.World(scene, dt=1 / 960)
    times, height = watched(play, world, 2.9, lambda: world.positions[1, 2] - 0.5)
    low = [
        k
        for k in range(1, len(height) - 1)
        if height[k] <= height[k - 1] and height[k] < height[k + 1] and height[k] < 0.02
    ]
    hits = times[[k for n, k in enumerate(low) if n == 0 or k > low[n - 1] + 20]][:4]
    first = np.sqrt(10 / G)
    play.expect("times of the hits", hits, first * np.array([1.0, 2.0, 2.5, 2.75]), within=5e-3, unit="s")


@sample("pybullet/examples/rolling_friction", title="rollingFriction", source=SOURCE)
def rolling_friction(play):
    """A ball of rolling friction 0.02 m starts down a slope of 5 degrees only if its radius is under 0.02 / tan 5°."""
    radii, slope = np.array([0.15, 0.2, 0.26, 0.35]), np.radians(5)
    scene = mc.Scene(gravity=(G * np.sin(slope), 0, -G * np.cos(slope)))
    scene.add_body("ground", shape=mc.Plane(Z), kind="static", material=mc.Material(friction=1.0))
    for k, r in enumerate(radii):
        material = mc.Material(friction=1.0, rolling_friction=0.02)
        scene.add_body(f"ball{k}", shape=mc.Sphere(r), position=(0, k, r), material=material)
    world = mc.World(scene)
    play(world, 2.0)
    down = 5 / 7 * G * np.maximum(np.sin(slope) - 0.02 / radii * np.cos(slope), 0)
    play.expect("ways", world.positions[1:, 0], 2 * down, within=0.001, unit="m")


@sample("pybullet/examples/many_spheres", title="manyspheres", source=SOURCE, slow=True)
def many_spheres(play):
    """1000 balls fall into a tray and come to rest there."""
    scene = ground()
    for side in range(4):
        wall = box(0.2, 4.4, 2, position=(2.1, 0, 1))
        scene.add_body(f"wall{side}", shape=wall, kind="static", orientation=turned(Z, 90.0 * side))
    for n, (k, i, j) in enumerate(np.ndindex(10, 10, 10)):
        place = (0.36 * (i - 4.5) + 0.01 * (k % 2), 0.36 * (j - 4.5), 0.3 + 0.36 * k)
        scene.add_body(f"ball{n}", shape=mc.Sphere(0.15), position=place)
    world = mc.World(scene)
    settle(play, world, 8.0, "ground", "wall")
    play.between("distance from the middle", np.abs(world.positions[5:, :2]), upper=1.852, unit="m")


@sample("pybullet/examples/sphere_multi_bodies", title="createSphereMultiBodies", source=SOURCE, slow=True)
def sphere_multi_bodies(play):
    """A lattice of 10 × 10 × 10 touching balls without friction falls apart and ends flat on the ground."""
    scene = ground(friction=0.0)
    for n, (k, i, j) in enumerate(np.ndindex(10, 10, 10)):
        place = (0.2 * (i - 4.5) + 1e-3 * k, 0.2 * (j - 4.5), 0.1 + 0.2 * k)
        scene.add_body(f"ball{n}", shape=mc.Sphere(0.1), position=place, material=mc.Material(friction=0.0))
    world = mc.World(scene)
    settle(play, world, 6.0)
    play.expect("momentum along the ground over the mass", world.momentum()[0][:2] / world.masses.sum(), 0, within=1e-6)
    play.expect("heights", heights(world, "ball"), 0.1, within=0.001, unit="m")


@sample("pybullet/examples/obstacle_course", title="createObstacleCourse", source=SOURCE)
def obstacle_course(play):
    """A ball rolls down a ramp of 2 m and over a floor through posts that leave it a way, at the speed of its fall."""
    scene = ground(friction=1.0)
    turn = turned(Y, 30.0)
    at = mc.rotation.rotate(turn, np.array([-2.0, 0, -0.1]))
    scene.add_body("ramp", shape=box(4, 1, 0.2), kind="static", position=at + (0, 0, 0.03), orientation=turn)
    for k in range(8):
        scene.add_body(f"post{k}", shape=box(0.2, 0.2, 1), kind="static", position=(1.0 + k, 0.4 * (-1) ** k, 0.5))
    start = mc.rotation.rotate(turn, np.array([-3.5, 0, 0.2])) + (0, 0, 0.03)
    scene.add_body("ball", shape=mc.Sphere(0.2), position=start, material=mc.Material(friction=1.0))
    world = mc.World(scene, dt=1 / 240)
    play(world, 3.0)
    kink = (np.cos(np.radians(30)) + 0.4) / 1.4  # angular momentum about the point that the floor catches is kept
    drop = start[2] - mc.rotation.rotate(turn, np.array([0, 0, 0.2]))[2] - 0.03 + 0.2 * (np.cos(np.radians(30)) - 1)
    play.expect("speed", speed(world, "ball"), kink * np.sqrt(10 / 7 * G * drop), within=0.05, unit="m/s")
    play.expect("side", world.body("ball").position[1], 0.0, within=1e-3, unit="m")
    play.between("way", world.body("ball").position[0], lower=2.0, unit="m")


@sample("pybullet/examples/batch_ray_cast", title="batchRayCast", source=SOURCE)
def batch_ray_cast(play):
    """1024 rays from a ball's middle out in a circle all hit the round wall at its distance."""
    scene = mc.Scene(gravity=(0, 0, 0))
    for k in range(64):
        a = 2 * np.pi * k / 64
        place = (5 * np.cos(a), 5 * np.sin(a), 0)
        scene.add_body(f"post{k}", shape=mc.Sphere(0.3), kind="static", position=place)
    world = mc.World(scene)
    play(world, world.dt)
    angles = 2 * np.pi * np.arange(1024) / 1024
    found = []
    for a in angles:
        hit = world.ray_cast((0, 0, 0), (np.cos(a), np.sin(a), 0))
        found.append(hit.distance)
    off = np.angle(np.exp(1j * 64 * angles)) / 64
    exact = 5 * np.cos(off) - np.sqrt(0.3**2 - (5 * np.sin(off)) ** 2)
    play.expect("distances", found, exact, within=1e-9, unit="m")


@sample("pybullet/examples/heightfield", title="heightfield", source=SOURCE, slow=True)
def heightfield(play):
    """100 balls roll in a bowl z = 0.05 r² and gather about its deepest point; none falls through."""
    line = np.linspace(-8, 8, 65)
    scene = mc.Scene()
    scene.add_body("ground", shape=mc.HeightField(0.05 * (line[:, None] ** 2 + line**2), 0.25), kind="static")
    for n, (i, j) in enumerate(np.ndindex(10, 10)):
        x, y = 0.8 * (i - 4.5), 0.8 * (j - 4.5)
        rolls = {"material": mc.Material(rolling_friction=0.01), "angular_damping": 0.5}
        scene.add_body(f"ball{n}", shape=mc.Sphere(0.2), position=(x, y, 0.05 * (x * x + y * y) + 0.5), **rolls)
    world = mc.World(scene)
    settle(play, world, 12.0, within=0.05)
    x, y, z = world.positions[1:].T
    play.between("height over the bowl", z - 0.05 * (x**2 + y**2), 0.19, 1.5, unit="m")
    play.between("distance from the middle", np.hypot(x, y), upper=5.5, unit="m")


@sample("pybullet/examples/external_torque", title="externalTorqueControlledSphere", source=SOURCE)
def external_torque(play):
    """A ball is rolled by a torque: it goes with M / (7/5 m r)."""
    scene = ground(friction=1.0)
    body = scene.add_body("ball", shape=mc.Sphere(0.5), position=(0, 0, 0.5), material=mc.Material(friction=1.0))
    world = mc.World(scene, dt=1 / 240)
    for _ in play.steps(world, 3.0):
        world.apply_torque("ball", (0, 300.0, 0))
    faster = 300.0 / (1.4 * body.mass * 0.5)
    play.expect("speed", world.body("ball").velocity, (3 * faster, 0, 0), within=1e-3, unit="m/s")
    play.expect("way", world.body("ball").position[0], 4.5 * faster, within=0.005, unit="m")


@sample("pybullet/examples/change_mass", title="changeDynamicsMass", source=SOURCE)
def change_mass(play):
    """A ball that swings on a rod is made ten times as heavy: its period stays, the rod's pull is ten times as large."""
    scene = mc.Scene()
    scene.add_body("ball", shape=mc.Sphere(0.1), mass=1.0, position=(0, 0, -1))
    scene.add_joint(mc.BallJoint(None, "ball", (0, 0, 0)))
    world = mc.World(scene)
    play(world, 1.0)
    play.expect("pull", world.joints[0].force[2], G, within=1e-6, unit="N")
    world.set_body("ball", mass=10.0)
    play(world, 1.0)
    play.expect("pull of ten times the mass", world.joints[0].force[2], 10 * G, within=1e-5, unit="N")
    play.expect("height", heights(world, "ball"), -1.0, within=1e-9, unit="m")


@sample("pybullet/examples/ccd_sphere", title="experimentalCcdSphereRadius", source=SOURCE, overlap=None)
def ccd_sphere(play):
    """A ball of 1 cm at 1000 m/s does not get through a wall of 1 mm, nor through a mesh."""
    scene = mc.Scene(gravity=(0, 0, 0))
    scene.add_body("wall", shape=box(4, 4, 0.001), kind="static")
    scene.add_body("mesh", shape=flat_mesh(4, 1.0), kind="static", position=(10, 0, 0))
    for k, x in enumerate((0.1, 10.1)):
        scene.add_body(f"ball{k}", shape=mc.Sphere(0.01), position=(x, 0.2, 5.37), velocity=(0, 0, -1000.0))
    world = mc.World(scene)
    play(world, 0.5)
    play.between("heights", heights(world, "ball"), 0.009, 5.0, unit="m")


@sample("pybullet/examples/collision_filter", title="collisionFilter", source=SOURCE)
def collision_filter(play):
    """A cube passes the plane while the filter says so, and is then borne by a second plane below."""
    scene = mc.Scene()
    scene.add_body("plane", shape=box(10, 10, 0.1), kind="static", position=(0, 0, 3))
    scene.add_body("below", shape=mc.Plane(Z), kind="static")
    for name, x in (("stays", 2.0), ("falls", 0.0)):
        scene.add_body(name, shape=cube(1.0), position=(x, 0, 3.6))
    world = mc.World(scene)
    world.contact_filter = lambda a, b: {a.name, b.name} != {"falls", "plane"}
    play(world, 3.0)
    play.expect("height of both", world.positions[2:, 2], (3.55, 0.5), within=1e-3, unit="m")


@sample("pybullet/examples/closest_points", title="getClosestPoints", source=SOURCE)
def closest_points(play):
    """Distances between a ball and a box, a capsule and a turned cube, are those of geometry."""
    scene = mc.Scene(gravity=(0, 0, 0))
    scene.add_body("box", shape=box(2, 2, 2))
    scene.add_body("ball", shape=mc.Sphere(0.5), position=(3, 2, 4))
    scene.add_body("turned", shape=cube(2.0), position=(0, 6, 0), orientation=turned(Z, 45.0))
    scene.add_body("capsule", shape=mc.Capsule(0.3, 1.0), position=(4, 0, 0.5))
    world = mc.World(scene)
    play(world, world.dt)
    found = [world.distance("box", name).distance for name in ("ball", "turned", "capsule")]
    wanted = [np.linalg.norm([2, 1, 3]) - 0.5, 6 - 1 - np.sqrt(2), 4 - 1 - 0.3]
    play.expect("distances", found, wanted, within=1e-9, unit="m")
    play.expect("normal to the capsule", world.distance("box", "capsule").normal, X, within=1e-9)


@sample("pybullet/examples/save_restore", title="saveRestoreState", source=SOURCE)
def save_restore(play):
    """Cubes fall; the state is kept, goes on, is restored, and goes on to the same places."""
    scene = ground()
    for k in range(10):
        scene.add_body(
            f"cube{k}", shape=cube(1.0), position=(0.2 * (k % 3), 0, 0.6 + 1.1 * k), orientation=turned(X, 3.0 * k)
        )
    world = mc.World(scene)
    play(world, 1.0)
    kept = world.snapshot()
    play(world, 2.0)
    first = world.positions.copy()
    world.restore(kept)
    play(world, 2.0)
    play.expect("places against those of the first time", world.positions, first, within=0.0, unit="m")
    play(world, 10.0)
    play.expect("load over the weight at last", load(world) / weight(world), 1.0, within=0.001)
