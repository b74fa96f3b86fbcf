"""Newton's basic examples, and those of contact, sensors and gradients."""

import numpy as np

import mcsim as mc
from mcsim.samples.measure import both, load, settle, watched, weight
from mcsim.samples.parts import G, X, Y, Z, along, box, ground, heights, prism, turned
from mcsim.samples.registry import sample

SOURCE = "Newton 1.8, newton/examples"


@sample("newton/basic/pendulum", title="basic_pendulum", source=SOURCE, camera="front")
def pendulum(play):
    """Two boxes of 2 × 0.2 × 0.2 m on hinges fall from level: energy stays, and both worlds agree for 1.5 s."""
    scene = mc.Scene()
    for k, a in enumerate((None, "link0")):
        scene.add_body(f"link{k}", shape=box(2.0, 0.2, 0.2), position=(2 * k + 1.0, 0, 5.0))
        scene.add_joint(mc.HingeJoint(a, f"link{k}", (2.0 * k, 0, 5.0), Y))
    world, apart = both(play, scene, 1.5)
    play.between("distance of the two worlds", apart, upper=2e-3, unit="m")
    fallen = world.energy().kinetic
    play.expect("energy kept", (world.energy().total - world.masses.sum() * G * 5) / fallen, 0.0, within=1e-5)


@sample("newton/basic/shapes", title="basic_shapes", source=SOURCE)
def shapes(play):
    """A ball, an ellipsoid, a capsule, a cylinder, a box, a cone and a hull fall from 2 m and come to rest."""
    scene, y = ground(), 0.0
    pyramid = mc.ConvexHull([(1, 1, 0), (-1, 1, 0), (-1, -1, 0), (1, -1, 0), (0, 0, 1)])
    forms = {
        "ball": (mc.Sphere(0.5), 0.5),
        "capsule": (mc.Capsule(0.3, 0.7), 1.0),
        "ellipsoid": (mc.Ellipsoid((0.5, 0.5, 0.25)), 0.25),
        "cylinder": (mc.Cylinder(0.4, 0.6), 0.6),
    }
    forms |= {"box": (box(1, 0.7, 0.5), 0.25), "cone": (mc.Cone(0.45, 0.6), 0.6), "pyramid": (pyramid, 0.0)}
    for name, (shape, _) in forms.items():
        scene.add_body(name, shape=shape, position=(0, y, 2.0))
        y += 2.0
    world = mc.World(scene)
    play(world, 4.0)
    wanted = [height for _, height in forms.values()]
    found = [world.body(name).frame[0][2] for name in forms]
    play.expect("heights of all but the capsule", np.delete(found, 1), np.delete(wanted, 1), within=1e-3, unit="m")
    play.between("height of the capsule, which may topple", found[1], 0.299, 1.001, unit="m")
    play.expect("load over the weight", load(world) / weight(world), 1.0, within=0.001)


@sample("newton/basic/joints", title="basic_joints", source=SOURCE)
def joints(play):
    """A box on a hinge, one on a slider with limits, one on a ball joint, each pushed: they swing, or fall to the stop."""
    scene = mc.Scene()
    for k, name in enumerate(("hinge", "slider", "ball")):
        scene.add_body(name, shape=box(0.2, 0.2, 1.0), position=(2.0 * k, 0, 1.5))
    scene.add_joint(mc.HingeJoint(None, "hinge", (0, 0, 2), X))
    scene.add_joint(mc.SliderJoint(None, "slider", Z, limits=(-0.3, 0.3)))
    scene.add_joint(mc.BallJoint(None, "ball", (4, 0, 2)))
    world = mc.World(scene, dt=1 / 240)
    for name, spin in (("hinge", (0.05, 0, 0)), ("ball", (0.05, 0, 0))):
        world.set_velocity(name, np.cross(spin, (0, 0, -0.5)), spin)
    times, states = watched(play, world, 4.0, lambda: [*world.joints[0].position * np.ones(1), *world.positions[2]])
    body = world.body("hinge")
    w = np.sqrt(body.mass * G * 0.5 / (body.inertia[0, 0] + body.mass * 0.25))
    play.expect("angle", states[:, 0], 0.05 / w * np.sin(w * times), within=2e-5, unit="rad")
    play.expect("the ball joint's swing", states[:, 2], 0.5 * np.sin(states[:, 0]), within=1e-4, unit="m")
    play.expect("height of the slider", heights(world, "slider"), 1.2, within=1e-4, unit="m")


@sample("newton/basic/conveyor", title="basic_conveyor", source=SOURCE)
def conveyor(play):
    """Bags lie on a round belt, a ring that turns: they go round with it at their radius."""
    scene, w = mc.Scene(), 0.3
    belt = mc.Cylinder(4.0, 0.1, position=(0, 0, -0.1), material=mc.Material(friction=0.8))
    scene.add_body("belt", shape=belt, kind="kinematic", angular_velocity=(0, 0, w))
    for k in range(6):
        a = k * np.pi / 3
        place = (3 * np.cos(a), 3 * np.sin(a), 0.16)
        scene.add_body(f"bag{k}", shape=box(0.4, 0.3, 0.3), position=place, orientation=turned(Z, np.degrees(a)))
    world = mc.World(scene)
    play(world, 6.0)
    play.expect("speeds", np.linalg.norm(world.velocities[1:], axis=1), 3 * w, within=5e-3, unit="m/s")
    play.expect("radii", np.linalg.norm(world.positions[1:, :2], axis=1), 3.0, within=0.05, unit="m")
    play.expect("spins", world.angular_velocities[1:, 2], w, within=1e-3, unit="rad/s")


@sample("newton/basic/heightfield", title="basic_heightfield", source=SOURCE, slow=True)
def heightfield(play):
    """Balls fall on waves of 0.5 m and gather in the hollows; none gets through."""
    line = np.linspace(-6, 6, 97)
    scene = mc.Scene()
    field = 0.25 * (np.sin(line[:, None]) + np.sin(line)) + 3.0 * (np.maximum(np.abs(line[:, None]), np.abs(line)) > 5.6)
    scene.add_body("ground", shape=mc.HeightField(field, 0.125), kind="static")
    for n, (i, j) in enumerate(np.ndindex(10, 10)):
        material = mc.Material(rolling_friction=0.01, torsional_friction=0.01)
        scene.add_body(f"ball{n}", shape=mc.Sphere(0.2), position=(i - 4.5, j - 4.5, 1.5), material=material)
    world = mc.World(scene)
    settle(play, world, 10.0, within=0.03)
    x, y, z = world.positions[1:].T
    play.between("height over the waves", z - 0.25 * (np.sin(x) + np.sin(y)), lower=0.18, unit="m")


@sample("newton/basic/cartpole", title="robot_cartpole", source=SOURCE, camera="front")
def cartpole(play):
    """A cart with two poles swings freely: its centre of mass stays along the rail, energy is kept, both worlds agree."""
    scene = mc.Scene()
    scene.add_body("cart", shape=box(0.5, 0.3, 0.2), mass=2.0, collision_mask=0)
    before, base = "cart", 0.0
    scene.add_joint(mc.SliderJoint(None, "cart", X))
    for k in range(2):
        shape = mc.Capsule(0.03, 0.22, orientation=along(X))
        scene.add_body(f"pole{k}", shape=shape, mass=0.5, position=(base + 0.25, 0, 0), collision_mask=0)
        scene.add_joint(mc.HingeJoint(before, f"pole{k}", (base, 0, 0), Y))
        before, base = f"pole{k}", base + 0.5
    world, apart = both(play, scene, 1.5, dt=1 / 480)
    play.between("distance of the two worlds", apart, upper=1e-3, unit="m")
    middle = world.masses @ world.positions[:, 0] / 3.0
    play.expect("centre of mass along the rail", middle, (0.5 * 0.25 + 0.5 * 0.75) / 3.0, within=1e-6, unit="m")
    play.expect("energy kept", world.energy().total, 0.0, within=1e-4, unit="J")
    play.between("kinetic energy", world.energy().kinetic, lower=0.01, unit="J")


@sample("newton/basic/brick_stacking", title="contacts, brick_stacking", source=SOURCE)
def brick_stacking(play):
    """A gripper's fingers carry one brick onto another, let it go, and it stays there."""
    scene = ground()
    for name, x, z in (("lower", 0.0, 0.05), ("upper", 1.0, 0.05)):
        scene.add_body(name, shape=box(0.3, 0.15, 0.1), position=(x, 0, z), mass=0.5)
    for side in (-1, 1):
        shape = box(0.1, 0.04, 0.08)
        scene.add_body(f"finger{side}", shape=shape, kind="kinematic", position=(1, 0.12 * side, 0.06), collision_mask=-1)
    world, path = (
        mc.World(scene),
        [(1, 0.06, 0.0935), (1, 0.6, 0.0935), (0, 0.6, 0.0935), (0, 0.162, 0.0935), (0, 0.162, 0.16)],
    )
    at = np.array([1, 0.06, 0.12])
    for target in path:
        way = np.array(target) - at
        for step in play.steps(world, 2.0):
            x, z, gap = at + way * (step + 1) * world.dt / 2
            for side in (-1, 1):
                world.move_to(f"finger{side}", (x, side * gap, z))
        at = np.array(target)
    play(world, 1.0)
    play.expect("place of the upper brick", world.body("upper").position, (0, 0, 0.15), within=0.01, unit="m")


@sample("newton/basic/nut_bolt", title="contacts, nut_bolt (by a screw)", source=SOURCE)
def nut_bolt(play):
    """A nut on a thread of 5 mm a turn is driven six turns down onto a washer that stops it."""
    scene = ground()
    nut = prism([(0.05, -0.02), (0.05, 0.02), (-0.05, 0.02), (-0.05, -0.02)], 0.1)
    scene.add_body("nut", shape=nut, position=(0, 0, 0.05))
    scene.add_joint(mc.ScrewJoint(None, "nut", (0, 0, 0), Z, -0.005 / (2 * np.pi), name="thread", friction=0.01))
    world = mc.World(scene)
    for _ in play.steps(world, 20.0):
        world.apply_torque("nut", (0, 0, 0.05 - 0.01 * world.body("nut").angular_velocity[2]))
    play.expect("turns", world.joint("thread").angle / (2 * np.pi), 6.0, within=0.02)
    play.expect("height", heights(world, "nut"), 0.02, within=1e-4, unit="m")
    play.between("spin", np.abs(world.joint("thread").velocity), upper=0.01, unit="rad/s")


@sample("newton/basic/sensor_contact", title="sensor_contact", source=SOURCE)
def sensor_contact(play):
    """A flap falls onto a plate: contact sensors tell when they meet, and at rest what the plate bears."""
    scene = mc.Scene()
    scene.add_body("plate", shape=box(2, 2, 0.2), kind="static", position=(0.5, 0, -0.1))
    body = scene.add_body(
        "flap",
        shape=box(1.0, 0.5, 0.1),
        position=(0.5 * np.cos(0.8), 0, 0.5 * np.sin(0.8) + 0.05),
        orientation=turned(Y, -np.degrees(0.8)),
    )
    scene.add_joint(mc.HingeJoint(None, "flap", (0, 0, 0.05), Y, name="hinge"))
    world, began = mc.World(scene, dt=1 / 240), []
    for _ in play.steps(world, 3.0):
        if len(world.events.begin):
            began.append(world.time)
    over = body.inertia[1, 1] / body.mass + 0.25
    grid = np.linspace(0, 0.8, 20001)[:-1] + 2e-5
    exact = np.mean(1 / np.sqrt(2 * G * 0.5 / over * (np.sin(0.8) - np.sin(0.8 - (0.8 - grid))) + 1e-12)) * 0.8
    play.expect("time at which they meet", began[0], exact, within=0.001, unit="s")
    play.expect(
        "load of the plate and the hinge", load(world, "plate") + world.joint("hinge").force[2], body.mass * G, within=0.5
    )


@sample("newton/basic/sensor_imu", title="sensor_imu", source=SOURCE)
def sensor_imu(play):
    """What an accelerometer on a spun disc's rim tells, by differences: the centripetal acceleration and gravity."""
    scene = mc.Scene()
    scene.add_body("disc", shape=mc.Cylinder(1.0, 0.1), angular_velocity=(0, 0, 3.0))
    scene.add_joint(mc.HingeJoint(None, "disc", (0, 0, 0), Z))
    world, told = mc.World(scene, dt=1 / 1000), []
    before = None
    for _ in play.steps(world, 2.0):
        turn, spin = world.body("disc").orientation, world.body("disc").angular_velocity
        velocity = np.cross(spin, mc.rotation.rotate(turn, np.array(X)))
        if before is not None:
            felt = (velocity - before) / world.dt + (0, 0, G)
            told.append(mc.rotation.rotate(mc.rotation.conjugate(turn), felt))
        before = velocity
    play.expect("acceleration along the radius, across, and up", told, (-9.0, 0.0, G), within=0.02, unit="m/s²")


@sample("newton/basic/diffsim_ball", title="diffsim_ball", source=SOURCE, slow=True)
def diffsim_ball(play):
    """The throw that makes a ball hit a target after 1.5 s and a bounce off a wall: found by Newton's method on throws."""

    def thrown(velocity):
        scene = mc.Scene()
        scene.add_body("wall", shape=mc.Plane((-1, 0, 0), -4.0), kind="static", material=mc.Material(0.0, 1.0))
        scene.add_body("ball", shape=mc.Sphere(0.2), position=(0, 0, 1), velocity=velocity, material=mc.Material(0.0, 1.0))
        world = mc.World(scene, dt=1 / 60, contact="event")  # impacts at their own times: smooth in the throw
        play(world, 1.5)
        return world.body("ball").position.copy()

    velocity, target = np.array([5.0, 0.1, 5.0]), np.array([1.0, 0.5, 2.0])
    for _ in range(4):
        off = thrown(velocity) - target
        slopes = [(thrown(velocity + 1e-3 * one) - target - off) / 1e-3 for one in np.eye(3)]
        velocity = velocity - np.linalg.solve(np.transpose(slopes), off)
    play.expect("distance from the target", np.linalg.norm(thrown(velocity) - target), 0.0, within=0.001, unit="m")
    wanted = ((3.8 + 3.8 - 1.0) / 1.5, 0.5 / 1.5, (1.0 + G * 1.5**2 / 2) / 1.5)
    play.expect("the throw", velocity, wanted, within=0.005, unit="m/s")


@sample("newton/basic/cable", title="cable (a bent beam)", source=SOURCE, slow=True)
def cable(play):
    """A cable of 20 links with bending springs, held level at one end, sags at its other as a beam does, for small sags."""
    scene, before, n, length, stiff = mc.Scene(gravity=(0, 0, -0.05)), None, 20, 2.0, 40.0
    for k in range(n):
        a = length * k / n
        shape = mc.Capsule(0.02, 0.03, orientation=along(X))
        scene.add_body(f"link{k}", shape=shape, position=(a + 0.05, 0, 0), mass=0.1, linear_damping=0.3)
        spring = mc.Spring(stiff, 4.0)
        scene.add_joint(mc.HingeJoint(before, f"link{k}", (a, 0, 0), Y, spring=spring, name=f"joint{k}"))
        before = f"link{k}"
    world = mc.World(scene)
    play(world, 40.0)
    at = 0.1 * np.arange(n)
    moments = np.array([sum(0.1 * 0.05 * (0.1 * m + 0.05 - a) for m in range(n) if 0.1 * m + 0.05 > a) for a in at])
    angles = moments / stiff
    play.expect("angles", [world.joint(f"joint{k}").angle for k in range(n)], angles, within=2e-5, unit="rad")
    tip = -np.sum(np.sin(np.cumsum(angles))) * 0.1
    last = world.body("link19")
    end = last.position + mc.rotation.rotate(last.orientation, np.array([0.05, 0, 0]))
    play.expect("sag of the end", end[2], tip, within=2e-4, unit="m")
