"""Chrono's demos of contact, what is steered, and machines."""

import numpy as np

import mcsim as mc
from mcsim.samples.measure import settle, watched
from mcsim.samples.parts import G, X, Y, Z, box, cube, ground, heights, lean, turned
from mcsim.samples.registry import sample

SOURCE = "Chrono, src/demos/mbs"


@sample("chrono/contacts/bricks", title="demo_MBS_bricks", source=SOURCE, slow=True)
def bricks(play):
    """A wall of 8 layers of bricks of 3.96 × 2 × 4 m stands; then a ball of 8 m breaks it, and energy only falls."""
    scene, w, h = ground(friction=0.4), 3.96, 2.0
    for layer in range(8):
        for k in range(10 - layer % 2):
            scene.add_body(
                f"brick{layer}.{k}", shape=box(w, 4, h), position=((k - 4.5 + layer % 2 / 2) * w, 0, h * (layer + 0.5))
            )
    scene.add_body("ball", shape=mc.Sphere(4.0), position=(0, -30, 4), kind="static")
    world = mc.World(scene)
    start = world.positions.copy()
    play(world, 2.0)
    play.between("way that any brick went", np.abs(world.positions - start), upper=0.01, unit="m")
    play.check("it sleeps", play.asleep(world))
    world.set_kind("ball", "dynamic")
    world.set_velocity("ball", (0, 45.0, 0))
    settle(play, world, 8.0)
    gone = np.abs(world.positions - start).max(axis=1)
    play.between("bricks that went", np.count_nonzero(gone[1:-1] > 1.0), 10, 76)


@sample("chrono/contacts/ball_smc", title="demo_MBS_ballSMC", source=SOURCE, overlap=None)
def ball_smc(play):
    """A ball on a ground that gives way sinks in by m g / k and has bounced at sqrt(k / m) meanwhile."""
    soft, scene = mc.Material(stiffness=2e5, damping=300.0), mc.Scene()
    scene.add_body("ground", shape=mc.Plane(Z), kind="static", material=mc.Material())
    body = scene.add_body("ball", shape=mc.Sphere(0.5), mass=200.0, position=(0, 0, 0.5), material=soft)
    world = mc.World(scene, dt=1 / 1000, contact="compliant", sleep=False)
    times, height = watched(play, world, 6.0, lambda: world.positions[1, 2])
    play.expect("height at last", height[-1], 0.5 - body.mass * G / 2e5, within=1e-4, unit="m")
    half = np.pi / np.sqrt(2e5 / 200 - (300 / 400) ** 2)
    play.expect("deepest after", times[np.argmin(height)], half, within=3e-3, unit="s")


@sample("chrono/contacts/collision_smc", title="demo_MBS_collisionSMC", source=SOURCE, overlap=None, slow=True)
def collision_smc(play):
    """A stack of five soft balls in a tube of locks sinks in at each contact by the weight above over its stiffness."""
    soft, scene = mc.Material(stiffness=4e5, damping=2e3), mc.Scene()
    scene.add_body("ground", shape=mc.Plane(Z), kind="static")
    for k in range(5):
        scene.add_body(f"ball{k}", shape=mc.Sphere(0.25), mass=20.0, position=(0, 0, 0.25 + 0.5 * k), material=soft)
        scene.add_joint(mc.LockJoint(None, f"ball{k}", "xy", "xyz"))
    world = mc.World(scene, dt=1 / 1000, contact="compliant", sleep=False)
    play(world, 5.0)
    pressed = 20 * G * np.arange(5, 0, -1)  # the ground is rigid, two balls are two springs in series
    sunk = np.cumsum(pressed / np.array([4e5, 2e5, 2e5, 2e5, 2e5]))
    play.expect("heights", heights(world, "ball"), 0.25 + 0.5 * np.arange(5) - sunk, within=1e-4, unit="m")


@sample("chrono/contacts/rolling_friction", title="demo_MBS_friction (rolling)", source=SOURCE)
def rolling_friction(play):
    """Balls with rolling friction of 0 to 10 mm slow down by 5/7 g d / r, and stop."""
    scene, d = ground(friction=0.8), np.linspace(0, 0.01, 11)
    for k in range(11):
        material = mc.Material(friction=0.8, rolling_friction=d[k])
        rolls = {"velocity": (1, 0, 0), "angular_velocity": (0, 2, 0)}
        scene.add_body(f"ball{k}", shape=mc.Sphere(0.5), position=(0, 2.0 * k, 0.5), material=material, **rolls)
    world = mc.World(scene)
    play(world, 8.0)
    slowed = 5 / 7 * G * d / 0.5
    ways = np.where(slowed * 8 > 1, 0.5 / np.maximum(slowed, 1e-9), 8 - slowed * 32)
    play.expect("ways", world.positions[1:, 0], ways, within=0.005, unit="m")
    play.expect("speeds", world.velocities[1:, 0], np.maximum(1 - slowed * 8, 0), within=0.001, unit="m/s")


@sample("chrono/contacts/spinning_friction", title="demo_MBS_friction (spinning)", source=SOURCE)
def spinning_friction(play):
    """Balls that spin on the spot with torsional friction of 0 to 10 mm slow down by 5/2 g d / r²."""
    scene, d = ground(friction=0.8), np.linspace(0, 0.01, 11)
    for k in range(11):
        material = mc.Material(friction=0.8, torsional_friction=d[k])
        place = (0, 2.0 * k, 0.5)
        scene.add_body(f"ball{k}", shape=mc.Sphere(0.5), position=place, material=material, angular_velocity=(0, 0, 5))
    world = mc.World(scene)
    play(world, 4.0)
    wanted = np.maximum(5 - 2.5 * G * d / 0.25 * 4, 0)
    play.expect("spins", world.angular_velocities[1:, 2], wanted, within=0.002, unit="rad/s")


@sample("chrono/contacts/friction", title="demo_MBS_friction (sliding)", source=SOURCE)
def friction(play):
    """Boxes of friction 0.1 to 0.9 on a slope of 25 degrees: they stand, or slide with g (sin a - µ cos a)."""
    angle, mu = np.radians(25), np.linspace(0.1, 0.9, 9)
    scene = mc.Scene(gravity=(G * np.sin(angle), 0, -G * np.cos(angle)))
    scene.add_body("slope", shape=mc.Plane(Z), kind="static", material=mc.Material(friction=1.0))
    for k in range(9):
        material = mc.Material(friction=mu[k] ** 2)
        scene.add_body(f"box{k}", shape=box(1, 1, 0.4), position=(0, 2.0 * k, 0.2), material=material)
    world = mc.World(scene)
    play(world, 2.0)
    wanted = np.maximum(G * (np.sin(angle) - mu * np.cos(angle)), 0) * 2
    play.expect("ways", world.positions[1:, 0], wanted, within=0.001, unit="m")


@sample("chrono/contacts/conveyor", title="demo_MBS_conveyor", source=SOURCE)
def conveyor(play):
    """Boxes dropped on a belt of 1 m/s slip v / (µ g) long and then go with it."""
    scene, mu = mc.Scene(), 0.3
    belt = mc.Material(friction=mu, surface_velocity=(1.0, 0, 0))
    scene.add_body("belt", shape=box(20, 4, 0.4), kind="static", position=(8, 0, -0.2), material=belt)
    for k in range(3):
        scene.add_body(f"box{k}", shape=cube(0.4), position=(0, k - 1.0, 0.2), material=mc.Material(friction=mu))
    world = mc.World(scene)
    play(world, 5.0)
    play.expect("speed", world.velocities[1:, 0], 1.0, within=1e-4, unit="m/s")
    play.expect("way", world.positions[1:, 0], 5 - 1 / (2 * mu * G), within=0.005, unit="m")


@sample("chrono/contacts/emitter", title="demo_MBS_emitter", source=SOURCE, slow=True)
def emitter(play):
    """Ten bodies a second come out of random places, 100 in all, with shapes of four kinds, and pile up."""
    random, world = np.random.default_rng(1), mc.World(ground())
    shapes = [mc.Sphere(0.1), cube(0.2), mc.Cylinder(0.1, 0.1), mc.Capsule(0.1, 0.1)]
    for step in play.steps(world, 10.0):
        if step % 6 == 0:
            place = (*random.uniform(-0.5, 0.5, 2), 2.0)
            turn = mc.rotation.normalize(random.normal(size=4))
            world.add_body(
                shape=shapes[step // 6 % 4], position=place, orientation=turn, angular_velocity=random.normal(size=3)
            )
    play.expect("bodies", len(world.bodies), 101, within=0)
    settle(play, world, 5.0)
    play.between("heights", world.positions[1:, 2], 0.098, 1.0, unit="m")


@sample("chrono/contacts/earthquake", title="demo_MBS_earthquake", source=SOURCE)
def earthquake(play):
    """A column of five blocks on a table that shakes: at 0.1 g it stands where it was, at 0.5 g it falls."""
    for part, stands in ((0.1, True), (0.5, False)):
        scene, w = mc.Scene(), 2 * np.pi * 0.8
        scene.add_body("table", shape=box(20, 4, 0.5), kind="kinematic", position=(0, 0, -0.25))
        for k in range(5):
            scene.add_body(f"block{k}", shape=mc.Cylinder(0.4, 0.4), position=(0, 0, 0.4 + 0.8 * k))
        world, amplitude = mc.World(scene), part * G / w**2
        for _ in play.steps(world, 5.0):
            world.move_to("table", (amplitude * (1 - np.cos(w * (world.time + world.dt))), 0, -0.25))
        top = world.body("block4").position
        if stands:
            at = top - world.body("table").position
            play.expect("place of the top block", at, (0, 0, 3.85), within=0.01, unit="m")
        else:
            play.between("height of the top block", top[2], upper=3.0, unit="m")


@sample("chrono/contacts/inverted_pendulum", title="demo_MBS_inverted_pendulum", source=SOURCE, camera="front")
def inverted_pendulum(play):
    """A pole on a cart, 0.2 rad off, is brought upright by gains on its state, and the cart back to the middle."""
    scene = mc.Scene()
    scene.add_body("cart", shape=box(0.5, 0.3, 0.2), mass=1.0)
    scene.add_body("pole", shape=mc.Capsule(0.02, 0.5), mass=0.1, position=(0, 0, 0.5))
    scene.add_joint(mc.SliderJoint(None, "cart", X, name="rail"))
    scene.add_joint(mc.HingeJoint("cart", "pole", (0, 0, 0), Y, name="pivot"))
    world = mc.World(scene, dt=1 / 240)
    turn = turned(Y, np.degrees(0.2))
    world.set_pose("pole", mc.rotation.rotate(turn, np.array([0, 0, 0.5])), turn)
    for _ in play.steps(world, 10.0):
        rail, pivot = world.joint("rail"), world.joint("pivot")
        rail.tau = 40.0 * pivot.angle + 8.0 * pivot.velocity + 2.0 * rail.position + 4.0 * rail.velocity
    play.expect("lean", lean(world, "pole"), 0.0, within=1e-3, unit="rad")
    play.expect("place of the cart", world.joint("rail").position, 0.0, within=0.005, unit="m")


@sample("chrono/contacts/checkpoint", title="demo_MBS_checkpoint", source=SOURCE)
def checkpoint(play):
    """A world is saved to a file at 1 s; read back, it goes on to the same bits."""
    import tempfile
    from pathlib import Path

    world = mc.World(mc.scenes.dominoes())
    start = world.positions.copy()
    play(world, 1.0)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "checkpoint.npz"
        world.save_state(file)
        again = mc.load_state(file)
    play(world, 1.0)
    play(again, 1.0)
    play.check("the same bits", world.state_hash() == again.state_hash())
    play.between("way of the fastest", np.abs(again.positions - start).max(), lower=0.1, unit="m")


@sample("chrono/contacts/spinning_tops", title="demo_MBS_tops", source=SOURCE, slow=True, overlap=5e-3)
def spinning_tops(play):
    """A top on its tip at 150 rad/s stays upright for 10 s, one at 5 rad/s falls: 4 m g l I1 / I3² is between."""
    scene = ground(friction=0.4)
    for k, spin in enumerate((150.0, 5.0)):
        parts = [mc.Cylinder(0.2, 0.02, position=(0, 0, 0.05)), mc.Sphere(0.02, position=(0, 0, -0.13), density=10.0)]
        place = np.array([2.0 * k, 0, 0.15])
        turn = turned(X, 3.0)
        spins = mc.rotation.rotate(turn, np.array([0, 0, spin]))
        scene.add_body(f"top{k}", shape=parts, position=place, orientation=turn, angular_velocity=spins)
    world = mc.World(scene, dt=1 / 480)
    _, leans = watched(play, world, 10.0, lambda: [lean(world, "top0"), lean(world, "top1")])
    play.between("lean of the fast one", leans[:, 0], upper=0.12, unit="rad")
    play.between("lean of the slow one", leans[:, 1].max(), lower=0.5, unit="rad")


@sample("chrono/contacts/forklift", title="demo_MBS_forklift", source=SOURCE)
def forklift(play):
    """A fork under a pallet lifts it by 1 m on a slider with a motor, and carries it 3 m without it slipping off."""
    scene = ground()
    scene.add_body("truck", shape=box(1, 1, 1), kind="kinematic", position=(-1.5, 0, 0.7))
    scene.add_body("fork", shape=box(1.6, 0.8, 0.08), position=(0, 0, 0.2), mass=60)
    scene.add_joint(mc.SliderJoint("truck", "fork", Z, name="lift", motor=mc.Motor(position=0.0, hertz=0.5)))
    parts = [box(1, 1.2, 0.1), *[box(1, 0.1, 0.26, position=(0, y, -0.18)) for y in (-0.5, 0.5)]]
    scene.add_body("pallet", shape=parts, position=(0, 0, 0.31), density=500)
    world = mc.World(scene)
    play(world, 1.0)
    world.joint("lift").set_motor(position=1.0)
    play(world, 4.0)
    for step in play.steps(world, 4.0):
        t = (step + 1) * world.dt
        world.move_to("truck", (-1.5 + 1.5 * (1 - np.cos(np.pi * t / 4)), 0, 0.7))
    over = world.body("pallet").frame[0][2] - world.body("fork").position[2]
    play.expect("height of the pallet over the fork", over, 0.09, within=0.001, unit="m")
    play.expect("height of the fork", heights(world, "fork"), 1.2, within=2e-3, unit="m")
    play.expect("way of the pallet", world.body("pallet").frame[0][0], 3.0, within=0.005, unit="m")
