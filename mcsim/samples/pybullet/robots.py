"""PyBullet's examples of robots, constraints, motors and grippers."""

import numpy as np

import mcsim as mc
from mcsim.samples.measure import watched
from mcsim.samples.parts import G, X, Y, Z, along, box, cube, ground, heights, lean, rod, turned
from mcsim.samples.registry import sample

SOURCE = "PyBullet, examples/pybullet/examples"


def arm(lengths, axes, **joint):
    """An arm of capsules upright from the origin on hinges about axes."""
    scene, before, base = mc.Scene(), None, 0.0
    for k, (length, axis) in enumerate(zip(lengths, axes, strict=True)):
        shape = mc.Capsule(0.05, length / 2 - 0.05)
        scene.add_body(f"link{k}", shape=shape, position=(0, 0, base + length / 2))
        scene.add_joint(mc.HingeJoint(before, f"link{k}", (0, 0, base), axis, name=f"joint{k}", **joint))
        before, base = f"link{k}", base + length
    return scene


@sample("pybullet/robots/constraint", title="constraint", source=SOURCE)
def constraint(play):
    """A cube hangs with its corner on a point that is led round a circle: the corner stays on it."""
    scene = mc.Scene()
    scene.add_body("hand", kind="kinematic", position=(0.3, 0, 2))
    scene.add_body("cube", shape=cube(1.0), position=(0.8, 0.5, 1.5), angular_damping=0.5)
    scene.add_joint(mc.BallJoint("hand", "cube", (0.3, 0, 2)))
    world, corner = mc.World(scene), []
    for _ in play.steps(world, 6.0):
        t = 0.7 * (world.time + world.dt)
        world.move_to("hand", (0.3 * np.cos(t), 0.3 * np.sin(t), 2))
        turn = world.body("cube").orientation
        point = world.body("cube").position + mc.rotation.rotate(turn, np.array([-0.5, -0.5, 0.5]))
        corner.append(np.linalg.norm(point - world.body("hand").position))
    play.between("distance of corner and hand", corner, upper=1e-5, unit="m")
    play.expect("place of the hand", world.body("hand").position[0], 0.3 * np.cos(4.2), within=1e-6, unit="m")


@sample("pybullet/robots/soft_constraint", title="constraint (maxForce)", source=SOURCE)
def soft_constraint(play):
    """A cube is drawn to a point by a spring bounded to 30 N: it starts with 30 N / m, and comes to rest at the point."""
    scene = mc.Scene(gravity=(0, 0, 0))
    scene.add_body("cube", shape=cube(0.2), mass=3.0)
    law = mc.Motor(position=0.0, kp=200.0, kd=50.0, max_force=30.0)
    scene.add_joint(mc.FreeJoint(None, "cube", motor=[law] * 3 + [None] * 3, name="pull"))
    world = mc.World(scene)
    world.set_pose("cube", (2.0, 0, 0))
    play(world, 0.2)
    play.expect("speed after 0.2 s", world.velocities[0], (-2.0, 0, 0), within=1e-3, unit="m/s")
    play(world, 8.0)
    play.expect("place", world.positions[0], 0.0, within=1e-3, unit="m")


@sample("pybullet/robots/motor_max_velocity", title="motorMaxVelocity", source=SOURCE)
def motor_max_velocity(play):
    """Arms that turn to the same angle: one at once, one no faster than 0.5 rad/s on its way."""
    scene = mc.Scene()
    for k, most in enumerate((None, 0.5)):
        scene.add_body(f"arm{k}", shape=rod((0, 0, 0), (1, 0, 0), 0.05), position=(0, k, 1))
        motor = mc.Motor(position=-1.5, hertz=2.0, max_velocity=most)
        scene.add_joint(mc.HingeJoint(None, f"arm{k}", (0, k, 1), Y, motor=motor, name=f"hinge{k}"))
    world = mc.World(scene)
    _, rates = watched(play, world, 2.0, lambda: [abs(joint.velocity) for joint in world.joints])
    play.between("fastest of the first", rates[:, 0].max(), lower=3.0, unit="rad/s")
    play.expect("the second goes at", rates[5:, 1], 0.5, within=1e-3, unit="rad/s")
    play.expect("way of it", world.joint("hinge1").angle, -1.0, within=0.01, unit="rad")
    play(world, 3.0)
    play.expect("both come to", [joint.angle for joint in world.joints], -1.5, within=1e-3, unit="rad")


@sample("pybullet/robots/mimic_joint", title="mimicJointConstraint", source=SOURCE)
def mimic_joint(play):
    """A wheel on a gear turns as far back as the other is driven on: a torque has both wheels' inertia to move."""
    scene = mc.Scene(gravity=(0, 0, 0))
    for k, x in enumerate((0.0, 1.0)):
        scene.add_body(f"wheel{k}", shape=mc.Cylinder(0.4, 0.1), position=(x, 0, 0))
        scene.add_joint(mc.HingeJoint(None, f"wheel{k}", (x, 0, 0), Z, name=f"axle{k}"))
    scene.add_joint(mc.GearJoint("axle0", "axle1", 1.0))
    for world in (mc.World(scene), mc.ReducedWorld(scene)):
        for _ in play.steps(world, 3.0):
            world.apply_torque("wheel0", (0, 0, 10.0))
        spin = 30.0 / (2 * world.body("wheel0").inertia[2, 2])
        play.expect("spins", world.angular_velocities[:, 2], (spin, -spin), within=1e-6, unit="rad/s")
        play.expect(
            "sum of the angles", sum(joint.angle for joint in world.joints if joint.type == "hinge"), 0.0, within=1e-9
        )


@sample("pybullet/robots/racecar_differential", title="racecar_differential", source=SOURCE, slow=True)
def racecar_differential(play):
    """Gears of a differential: in a curve the outer wheel turns faster, and both together at the drive's speed."""
    scene, r, half = ground(friction=1.0), 0.3, 0.4
    scene.add_body("car", shape=box(1.2, 0.6, 0.2), position=(0, 0, 0.4), mass=20)
    scene.add_body("carrier", mass=0.5, inertia=(0.05, 0.05, 0.05), position=(-0.4, 0, r))
    scene.add_joint(mc.HingeJoint("car", "carrier", (-0.4, 0, r), Y, name="drive", motor=mc.Motor(velocity=6.0)))
    scene.add_body("pinion", mass=0.1, inertia=(0.01, 0.01, 0.01), position=(-0.4, 0, r))
    scene.add_joint(mc.HingeJoint("carrier", "pinion", (-0.4, 0, r), X, name="pinion"))
    for name, x, y in (("rl", -0.4, half), ("rr", -0.4, -half), ("fl", 0.4, half), ("fr", 0.4, -half)):
        tyre = mc.Cylinder(r, 0.005, orientation=along(Y), material=mc.Material(friction=1.0))
        scene.add_body(name, shape=tyre, position=(x, y, r), mass=1)
        axis = (
            (x + 0.4, y - 4.0, 0) if x > 0 else (0, -1.0, 0)
        )  # all wheels roll about a point 4 m to the left of the rear axle
        scene.add_joint(mc.HingeJoint("car", name, (x, y, r), -np.array(axis), name=name))
        if x < 0:
            scene.add_joint(mc.HingeJoint("carrier", name, (x, y, r), Y, name=f"{name}.carrier"))
            scene.add_joint(mc.GearJoint(f"{name}.carrier", "pinion", np.sign(y)))
    world = mc.World(scene)
    play(world, 4.0)
    rates = np.array([world.joint(name).velocity for name in ("rl", "rr", "drive")])
    play.expect("mean of the wheels over the drive", rates[:2].mean() / rates[2], 1.0, within=1e-6)
    play.expect("right wheel over the left", rates[1] / rates[0], (4 + half) / (4 - half), within=0.02)


@sample("pybullet/robots/joint_friction_and_motor", title="jointFrictionAndMotor", source=SOURCE)
def joint_friction_and_motor(play):
    """A door with friction slows by M / I; one whose motor aims at 0.6 rad goes there; one holds against a push."""
    scene = mc.Scene(gravity=(0, 0, 0))
    more = ({"friction": 2.0}, {"motor": mc.Motor(position=0.6, hertz=1.0)}, {"friction": 5.0})
    for k in range(3):
        place = (3.0 * k, 0, 0)
        scene.add_body(f"door{k}", shape=box(1.0, 0.05, 2), position=np.array(place) + (0.5, 0, 0), mass=10)
        scene.add_joint(mc.HingeJoint(None, f"door{k}", place, Z, name=f"hinge{k}", **more[k]))
    world = mc.World(scene)
    over = world.body("door0").inertia[2, 2] + 10 * 0.25
    world.set_velocity("door0", (0, 0.5, 0), (0, 0, 1.0))
    for _ in play.steps(world, 1.0):
        world.apply_force("door2", (0, 4.9 / 0.5, 0))
    play.expect("speed of the first", world.joint("hinge0").velocity, 1.0 - 2.0 / over, within=1e-3, unit="rad/s")
    play.expect("the last holds", world.joint("hinge2").angle, 0.0, within=1e-6, unit="rad")
    play(world, 4.0)
    play.expect("angle of the second", world.joint("hinge1").angle, 0.6, within=1e-3, unit="rad")
    play.expect("where the first stopped", world.joint("hinge0").angle, over / 4, within=0.001, unit="rad")


@sample("pybullet/robots/pd_control", title="pdControl", source=SOURCE)
def pd_control(play):
    """A cart is moved by a stable PD law on two axes, once by the joint and once by forces of the program's: alike."""
    scene, kp, kd = mc.Scene(), 400.0, 40.0
    for k in range(2):
        scene.add_body(f"cart{k}", shape=cube(0.4), mass=5.0, position=(0, 2.0 * k, 0))
        motor = mc.Motor(position=1.0, kp=kp, kd=kd) if k == 0 else None
        scene.add_joint(mc.SliderJoint(None, f"cart{k}", X, name=f"rail{k}", motor=motor))
    world, off = mc.World(scene, dt=1 / 1000), []
    for _ in play.steps(world, 2.0):
        joint = world.joint("rail1")
        joint.tau = kp * (1.0 - joint.position - joint.velocity * world.dt / 2) - kd * joint.velocity
        off.append(joint.position - world.joint("rail0").position)
    play.expect("one against the other", off, 0.0, within=2e-3, unit="m")
    a, w = kd / 10, np.sqrt(kp / 5 - (kd / 10) ** 2)
    wanted = 1 - np.exp(-2 * a) * (np.cos(2 * w) + a / w * np.sin(2 * w))
    play.expect("way by the formula", world.joint("rail0").position, wanted, within=1e-4, unit="m")


@sample("pybullet/robots/force_torque_sensor", title="forcetorquesensor", source=SOURCE)
def force_torque_sensor(play):
    """A beam held level at its end: the joint tells its weight, and the weight times half its length."""
    scene = mc.Scene()
    body = scene.add_body("beam", shape=box(2.0, 0.1, 0.1), position=(1.0, 0, 0))
    scene.add_body("load", shape=cube(0.2), position=(2.0, 0, 0.15), mass=5.0)
    scene.add_joint(mc.FixedJoint(None, "beam", (0, 0, 0), name="sensor"))
    scene.add_joint(mc.FixedJoint("beam", "load", (2, 0, 0)))
    world = mc.World(scene)
    play(world, 0.5)
    play.expect("force", world.joint("sensor").force, (0, 0, (body.mass + 5) * G), within=1e-6, unit="N")
    play.expect("torque", world.joint("sensor").torque, (0, -(body.mass + 10) * G, 0), within=1e-6, unit="N m")


@sample("pybullet/robots/kuka_grasp_block", title="kuka_grasp_block", source=SOURCE, slow=True)
def kuka_grasp_block(play):
    """Two fingers close on a cube with 60 N, lift it by 0.5 m, hold it for 20 s by friction; it does not slip."""
    scene = ground()
    scene.add_body("block", shape=cube(0.1), position=(0, 0, 0.05), mass=1.0, material=mc.Material(friction=0.8))
    scene.add_body("hand", shape=box(0.4, 0.1, 0.05), position=(0, 0, 0.4), mass=3.0)
    scene.add_joint(mc.SliderJoint(None, "hand", Z, name="lift", motor=mc.Motor(position=0.0, hertz=1.0)))
    for name, side in (("left", -1.0), ("right", 1.0)):
        finger = scene.add_body(name, shape=box(0.04, 0.08, 0.3), position=(0.15 * side, 0, 0.19), mass=0.3)
        close = mc.Motor(velocity=0.2, max_force=60.0)
        scene.add_joint(mc.SliderJoint("hand", finger, (-side, 0, 0), motor=close, limits=(0.0, 0.12)))
    world = mc.World(scene)
    play(world, 1.5)
    world.joint("lift").set_motor(position=0.5)
    play(world, 3.0)
    held = heights(world, "block") - heights(world, "hand")
    play.expect("height of the block", heights(world, "block"), 0.55, within=2e-3, unit="m")
    play(world, 20.0)
    play.expect("slip in 20 s", heights(world, "block") - heights(world, "hand") - held, 0.0, within=1e-3, unit="m")


@sample("pybullet/robots/inverse_dynamics", title="inverse_dynamics", source=SOURCE)
def inverse_dynamics(play):
    """Two joints follow a polynomial under the torques that inverse dynamics says, without any feedback."""
    scene = arm((1.0, 0.8), (Y, Y))
    scene.gravity = (0, 0, G)  # upwards: so the arm hangs, and what is small stays small
    world = mc.ReducedWorld(scene, dt=1 / 480)
    for _ in play.steps(world, 2.0):
        t = world.time + world.dt / 2
        s, v, a = 3 * t**2 / 4 - t**3 / 4, 1.5 * t - 0.75 * t**2, 1.5 - 1.5 * t
        q = np.array([0.8, -1.1])
        world.tau[:] = world.dynamics.inverse_dynamics(q * s, q * v, q * a)
    play.expect("angles", world.q, (0.8, -1.1), within=2e-3, unit="rad")
    play.expect("speeds", world.qd, 0.0, within=0.001, unit="rad/s")


@sample("pybullet/robots/jacobian", title="jacobian", source=SOURCE)
def jacobian(play):
    """The Jacobian of the last link, times the joints' speeds, is its velocity, all along a swing; so are differences."""
    world = mc.ReducedWorld(arm((0.4, 0.4, 0.3, 0.3), (Z, Y, X, Y)), dt=1 / 480)
    world.q[:] = (0.3, 0.5, -0.4, 0.9)
    off = []
    for _ in play.steps(world, 1.0):
        body = world.body("link3")
        both = np.concatenate([body.velocity, body.angular_velocity])
        off.append(world.body_jacobian("link3") @ world.qd - both)
    play.expect("J qd - twist", off, 0.0, within=1e-9)
    exact, place = world.body_jacobian("link3")[:3], world.body("link3").position.copy()
    world.q[1] += 1e-6
    play.expect("column by differences", (world.body("link3").position - place) / 1e-6 - exact[:, 1], 0.0, within=1e-4)
    play.between("speed of the joints", np.abs(world.qd).max(), lower=0.5, unit="rad/s")


@sample("pybullet/robots/inverted_pendulum", title="inverted pendulum (pd)", source=SOURCE)
def inverted_pendulum(play):
    """A pole on a hinge, held upright by a torque of thrice gravity's stiffness, swings at the formula's rate."""
    scene = arm((1.0,), (Y,))
    world = mc.World(scene, dt=1 / 1000)
    body = world.body("link0")
    stiff, over = body.mass * G * 0.5, body.inertia[1, 1] + body.mass * 0.25
    turn = turned(Y, np.degrees(0.02))
    world.set_pose("link0", mc.rotation.rotate(turn, np.array([0, 0, 0.5])), turn)
    times, angles = [], []
    for _ in play.steps(world, 2.0):
        joint = world.joint("joint0")
        joint.tau = -3 * stiff * (joint.angle + joint.velocity * world.dt / 2)
        times.append(world.time)
        angles.append(joint.angle)
    play.expect("angle", angles, 0.02 * np.cos(np.sqrt(2 * stiff / over) * np.array(times)), within=2e-4, unit="rad")
    play.expect("range of the angle", np.ptp(angles), 0.04, within=1e-3, unit="rad")


@sample("pybullet/robots/laikago", title="laikago, minitaur: stand", source=SOURCE)
def laikago(play):
    """A dog of twelve joints lands from 5 cm and stands by its motors for 5 s, level, its feet bearing its weight."""
    world = mc.World(mc.scenes.quadruped())
    trunk = int(np.argmax(world.masses))
    play(world, 5.0)
    name = world.body_names[trunk]
    play.expect("lean", lean(world, name), 0.0, within=0.02, unit="rad")
    play.between("speed", np.abs(world.velocities), upper=0.01, unit="m/s")
    contacts = world.contacts
    borne = np.abs(contacts["normal_impulse"] * contacts["normal"][:, 2]).sum() / world.dt
    play.expect("load over the weight", borne / (world.masses.sum() * G), 1.0, within=0.001)


@sample("pybullet/robots/multi_body_links", title="createMultiBodyLinks", source=SOURCE)
def multi_body_links(play):
    """A chain of 12 links on ball joints, with friction in the joints, swings out and hangs straight down."""
    scene, before = mc.Scene(), None
    for k in range(12):
        a, b = np.array([0.2 * k, 0, 0]), np.array([0.2 * k + 0.2, 0, 0])
        scene.add_body(f"link{k}", shape=rod(a, b, 0.03), angular_damping=2.0, linear_damping=0.5)
        scene.add_joint(mc.BallJoint(before, f"link{k}", a))
        before = f"link{k}"
    world = mc.World(scene)
    _, tip = watched(play, world, 30.0, lambda: world.body("link11").position)
    play.expect("place of the last link", tip[-1], (0, 0, -2.3), within=0.02, unit="m")
    play.between("distance of the last link", np.linalg.norm(tip, axis=1), upper=2.3 + 1e-5, unit="m")


@sample("pybullet/robots/prismatic_links", title="createMultiBodyPrismatic", source=SOURCE)
def prismatic_links(play):
    """Five sliders one on the other are driven by sines, each of its own frequency; the last is at their sum."""
    scene, before = mc.Scene(), None
    for k in range(5):
        scene.add_body(f"box{k}", shape=cube(0.2), position=(0, 0, 0.4 * k))
        motion = mc.Motion(amplitude=0.2, frequency=0.2 * (k + 1))
        scene.add_joint(mc.SliderJoint(before, f"box{k}", (X, Y)[k % 2], motion=motion))
        before = f"box{k}"
    world = mc.World(scene)
    times, place = watched(play, world, 5.0, lambda: world.body("box4").position)
    each = 0.2 * np.sin(2 * np.pi * 0.2 * np.outer(times, np.arange(1, 6)))
    play.expect("x of the last", place[:, 0], each[:, [0, 2, 4]].sum(axis=1), within=1e-6, unit="m")
    play.expect("y of the last", place[:, 1], each[:, [1, 3]].sum(axis=1), within=1e-6, unit="m")
    play.between("range along x", np.ptp(place[:, 0]), lower=0.5, unit="m")
