"""Chrono's demos of links, motors, springs and shafts."""

import numpy as np

import mcsim as mc
from mcsim.samples.measure import both, period, watched
from mcsim.samples.parts import G, X, Y, Z, along, box, cube
from mcsim.samples.registry import sample

SOURCE = "Chrono, src/demos/mbs"


@sample("chrono/joints/crank", title="demo_MBS_crank", source=SOURCE, camera="front")
def crank(play):
    """A crank of 2 m at π rad/s drives a piston by a rod of 8 m: its way follows from the angle."""
    scene = mc.Scene()
    scene.add_body("crank", shape=box(2, 0.3, 0.1), position=(-1, 0, 0))
    scene.add_body("rod", shape=box(8, 0.2, 0.1), position=(4, 0, 0))
    scene.add_body("piston", shape=cube(0.6), position=(8, 0, 0))
    scene.add_joint(mc.HingeJoint(None, "crank", (-2, 0, 0), Y, motion=mc.Motion(velocity=np.pi), name="motor"))
    scene.add_joint(mc.HingeJoint("crank", "rod", (0, 0, 0), Y))
    scene.add_joint(mc.HingeJoint("rod", "piston", (8, 0, 0), Y))
    scene.add_joint(mc.SliderJoint(None, "piston", X))
    world = mc.World(scene, dt=1 / 240)
    times, x = watched(play, world, 4.0, lambda: world.body("piston").position[0])
    a = np.pi * times
    play.expect("way of the piston", x, -2 + 2 * np.cos(a) + np.sqrt(64 - 4 * np.sin(a) ** 2), within=1e-5, unit="m")
    play.expect("stroke", np.ptp(x), 4.0, within=1e-3, unit="m")


@sample("chrono/joints/motors", title="demo_MBS_motors", source=SOURCE)
def motors(play):
    """Four motors: of speed, of angle as a sine, of torque, and one of a way along a slider; each does what is set."""
    scene = mc.Scene(gravity=(0, 0, 0))
    for k in range(3):
        scene.add_body(f"rotor{k}", shape=box(1.0, 0.2, 0.2), position=(0, 2.0 * k, 0))
    laws = [{"motor": mc.Motor(velocity=3.0)}, {"motion": mc.Motion(amplitude=0.5, frequency=0.5)}, {}]
    for k, law in enumerate(laws):
        scene.add_joint(mc.HingeJoint(None, f"rotor{k}", (0, 2.0 * k, 0), Z, name=f"j{k}", **law))
    scene.add_body("block", shape=cube(0.3), position=(0, 8, 0))
    scene.add_joint(mc.SliderJoint(None, "block", X, motion=mc.Motion(amplitude=1.6, frequency=0.5), name="way"))
    world = mc.World(scene, dt=1 / 240)
    world.joint("j2").tau = 12.0
    play(world, 2.25)
    inertia = world.body("rotor2").inertia[2, 2]
    found = [world.joint(f"j{k}").angle for k in range(3)]
    wanted = [6.75, 0.5 * np.sin(np.pi * 2.25), 12.0 / inertia * 2.25**2 / 2]
    play.expect("angles", found, wanted, within=2e-3, unit="rad")
    play.expect("speed under torque", world.joint("j2").velocity, 12.0 / inertia * 2.25, within=1e-6, unit="rad/s")
    play.expect("way", world.joint("way").position, 1.6 * np.sin(np.pi * 2.25), within=1e-6, unit="m")


@sample("chrono/joints/prismatic_limits", title="demo_MBS_limits (prismatic)", source=SOURCE)
def prismatic_limits(play):
    """A box slides down 30 degrees to its stop at 2 m: at g sin 30° until there, and stays."""
    scene, axis = mc.Scene(), np.array([np.cos(np.pi / 6), 0, -0.5])
    scene.add_body("box", shape=cube(0.5))
    scene.add_joint(mc.SliderJoint(None, "box", axis, limits=(-1.0, 2.0), name="rail"))
    world = mc.World(scene)
    times, way = watched(play, world, 3.0, lambda: world.joint("rail").position)
    free = G / 2 * times**2 / 2
    play.expect("way", way, np.minimum(free, 2.0), within=0.002, unit="m")
    play.expect(
        "force of the rail and the stop", world.joint("rail").force, (0, 0, world.masses[0] * G), within=0.001, unit="N"
    )


@sample("chrono/joints/rev_limits", title="demo_MBS_limits (revolute)", source=SOURCE)
def rev_limits(play):
    """A pendulum falls from level to a stop at 60 degrees, at the speed of the fall until then."""
    scene = mc.Scene()
    scene.add_body("rod", shape=box(2, 0.1, 0.1), position=(1, 0, 0))
    scene.add_joint(mc.HingeJoint(None, "rod", (0, 0, 0), Y, limits=(-0.1, np.pi / 3), name="hinge"))
    world = mc.World(scene, dt=1 / 240)
    _, states = watched(play, world, 3.0, lambda: [world.joint("hinge").angle, world.joint("hinge").velocity])
    over = 1 / (1 + world.body("rod").inertia[1, 1] / world.masses[0])
    play.expect("fastest", states[:, 1].max(), np.sqrt(2 * G * np.sin(np.pi / 3) * over), within=0.05, unit="rad/s")
    play.expect("angle at last", states[-1, 0], np.pi / 3, within=1e-4, unit="rad")
    play.between("largest angle", states[:, 0].max(), upper=np.pi / 3 + 2e-3, unit="rad")


@sample("chrono/joints/rsda", title="demo_MBS_rot_spring", source=SOURCE)
def rsda(play):
    """A rotational spring and damper of 50 N m/rad and 1 N m s/rad: the formula of the damped oscillation."""
    scene = mc.Scene(gravity=(0, 0, 0))
    body = scene.add_body("bar", shape=box(1.0, 0.2, 0.2))
    spring = mc.Spring(50.0, 1.0, rest=-np.pi / 4)
    scene.add_joint(mc.HingeJoint(None, "bar", (0, 0, 0), Z, spring=spring, name="rsda"))
    world = mc.World(scene, dt=1 / 1000)
    times, angle = watched(play, world, 4.0, lambda: world.joint("rsda").angle)
    a, w = 1.0 / (2 * body.inertia[2, 2]), np.sqrt(50 / body.inertia[2, 2] - (0.5 / body.inertia[2, 2]) ** 2)
    wanted = -np.pi / 4 * (1 - np.exp(-a * times) * (np.cos(w * times) + a / w * np.sin(w * times)))
    play.expect("angle", angle, wanted, within=1e-3, unit="rad")
    play.between("range of the angle", np.ptp(angle), lower=0.5, unit="rad")


@sample("chrono/joints/tsda", title="demo_MBS_spring", source=SOURCE)
def tsda(play):
    """Two masses hang on springs of 50 N/m, one damped by the spring, one by a force of the program's: they move alike."""
    scene, k, d, rest = mc.Scene(), 50.0, 1.0, 1.5
    for n, x in enumerate((-1.0, 1.0)):
        scene.add_body(f"mass{n}", shape=cube(0.3), mass=1.0, position=(x, 0, -3))
        if n == 0:
            spring = mc.Spring(k, d)
            scene.add_joint(mc.DistanceJoint(None, "mass0", (x, 0, 0), (x, 0, -3), length=rest, spring=spring))
    world = mc.World(scene, dt=1 / 2000)
    off = []
    for _ in play.steps(world, 6.0):
        body = world.body("mass1")
        z = body.position[2] + body.velocity[2] * world.dt / 2
        world.apply_force("mass1", (0, 0, k * (-z - rest) - d * body.velocity[2]))
        off.append(world.positions[1, 2] - world.positions[0, 2])
    play.expect("one height against the other", off, 0.0, within=2e-3, unit="m")
    a, w = d / 2, np.sqrt(k - d * d / 4)
    at, start = -rest - G / k, -3 + rest + G / k
    wanted = at + start * np.exp(-a * 6) * (np.cos(w * 6) + a / w * np.sin(w * 6))
    play.expect("height by the formula", world.positions[0, 2], wanted, within=1e-3, unit="m")


@sample("chrono/joints/ujoint", title="demo_MBS_ujoint", source=SOURCE)
def ujoint(play):
    """Two shafts at 45 degrees on a universal joint, driven at one end: ratios of speed between cos 45° and 1 / cos 45°."""
    scene, out = mc.Scene(gravity=(0, 0, 0)), np.array([1.0, 0, 1.0]) / np.sqrt(2)
    scene.add_body("in", shape=mc.Capsule(0.1, 0.4), position=(-0.5, 0, 0), orientation=along(X))
    scene.add_body("out", shape=mc.Capsule(0.1, 0.4), position=out / 2, orientation=along(out))
    scene.add_joint(mc.HingeJoint(None, "in", (-1, 0, 0), X, motion=mc.Motion(velocity=3.0)))
    scene.add_joint(mc.CylindricalJoint(None, "out", out, out, name="bearing"))
    scene.add_joint(mc.UniversalJoint("in", "out", (0, 0, 0), Y, np.cross(Y, out)))
    world = mc.World(scene, dt=1 / 240)
    _, rate = watched(play, world, 4.0, lambda: world.joint("bearing").velocity)
    play.expect("fastest", rate[5:, 1].max(), 3.0 * np.sqrt(2), within=2e-3, unit="rad/s")
    play.expect("slowest", rate[5:, 1].min(), 3.0 / np.sqrt(2), within=2e-3, unit="rad/s")


@sample("chrono/joints/imposed_motion", title="demo_MBS_imposed_motion", source=SOURCE)
def imposed_motion(play):
    """A body is led along a path and turned as functions of time say, with whatever force that takes."""
    scene = mc.Scene()
    scene.add_body("body", shape=box(0.4, 0.2, 0.1))
    ways = [mc.Motion(amplitude=1.0, frequency=0.5), mc.Motion(amplitude=0.5, frequency=1.0), mc.Motion(velocity=0.2)]
    turns = [mc.Motion(), mc.Motion(), mc.Motion(amplitude=0.8, frequency=0.25)]
    scene.add_joint(mc.FreeJoint(None, "body", motion=ways + turns, name="motion"))
    world = mc.World(scene, dt=1 / 240)
    times, states = watched(play, world, 4.0, lambda: world.joint("motion").position)
    w = 2 * np.pi * times
    wanted = np.stack([np.sin(w / 2), 0.5 * np.sin(w), 0.2 * times, 0 * w, 0 * w, 0.8 * np.sin(w / 4)], axis=1)
    play.expect("place and turn", states, wanted, within=1e-5)
    play.expect("range along x", np.ptp(states[:, 0]), 2.0, within=1e-3, unit="m")


@sample("chrono/joints/gears", title="demo_MBS_gears", source=SOURCE, camera="front", slow=True)
def gears(play):
    """A train of two gears and an epicyclic one of sun 40, planet 20 and ring 80: Willis' formula gives the arm's speed."""
    scene = mc.Scene(gravity=(0, 0, 0))
    for name, r, x in (("sun", 1.0, 0.0), ("planet", 0.5, 1.5), ("second", 0.5, -1.5)):
        scene.add_body(name, shape=mc.Cylinder(r, 0.1, orientation=along(Y)), position=(x, 0, 0), collision_mask=0)
    scene.add_body("arm", shape=box(1.5, 0.1, 0.2), position=(0.75, 0.3, 0), collision_mask=0)
    joints = {"sun": (None, 0.0), "second": (None, -1.5), "arm": (None, 0.0), "planet": ("arm", 1.5)}
    for name, (a, x) in joints.items():
        motor = mc.Motor(velocity=6.0) if name == "sun" else None
        scene.add_joint(mc.HingeJoint(a, name, (x, 0, 0), Y, name=name, motor=motor))
    scene.add_joint(mc.HingeJoint("arm", "sun", (0, 0, 0), Y, name="sun.arm"))
    scene.add_body("ring", shape=None, mass=5.0, inertia=(1, 1, 1), position=(0, 0, 0))
    scene.add_joint(mc.FixedJoint(None, "ring"))
    scene.add_joint(mc.HingeJoint("arm", "ring", (0, 0, 0), Y, name="ring.arm"))
    scene.add_joint(mc.GearJoint("sun", "second", 0.5))
    scene.add_joint(mc.GearJoint("sun.arm", "planet", 0.5))
    scene.add_joint(mc.GearJoint("ring.arm", "planet", -0.25))
    world = mc.World(scene, dt=1 / 240)
    play(world, 3.0)
    rates = {name: world.body(name).angular_velocity[1] for name in joints}
    wanted = {"sun": 6.0, "second": -12.0, "arm": 6.0 * 40 / 120, "planet": 2.0 - 4.0 * 2}
    play.expect("speeds", list(rates.values()), [wanted[name] for name in rates], within=1e-4, unit="rad/s")


@sample("chrono/joints/rack_pinion", title="demo_MBS_rackpinion", source=SOURCE)
def rack_pinion(play):
    """A pinion of 0.5 m at 2 rad/s moves a rack at 1 m/s."""
    scene = mc.Scene()
    scene.add_body("rack", shape=box(4, 0.2, 0.2), position=(0, 0, -0.6), collision_mask=0)
    scene.add_body("pinion", shape=mc.Cylinder(0.5, 0.1, orientation=along(Y)), collision_mask=0)
    scene.add_joint(mc.SliderJoint(None, "rack", X, name="rail"))
    scene.add_joint(mc.HingeJoint(None, "pinion", (0, 0, 0), Y, motor=mc.Motor(velocity=2.0), name="axle"))
    scene.add_joint(mc.RackPinionJoint("rack", "pinion", (0, 0, 0), X, Y, 0.5))
    world = mc.World(scene)
    play(world, 2.0)
    play.expect("way of the rack", np.abs(world.joint("rail").position), 2.0, within=1e-4, unit="m")
    play.expect("angle of the pinion", world.joint("axle").angle, 4.0, within=1e-4, unit="rad")


@sample("chrono/joints/screw", title="demo_MBS_links, screw", source=SOURCE)
def screw(play):
    """A nut of 0.05 m a radian falls along its thread: it speeds up by m g p / (I + m p²)."""
    scene, pitch = mc.Scene(), 0.05
    body = scene.add_body("nut", shape=mc.Cylinder(0.3, 0.1))
    scene.add_joint(mc.ScrewJoint(None, "nut", (0, 0, 0), Z, pitch, name="thread"))
    world = mc.World(scene, dt=1 / 240)
    play(world, 2.0)
    rate = -body.mass * G * pitch / (body.inertia[2, 2] + body.mass * pitch**2)
    play.expect("speed", world.joint("thread").velocity, 2 * rate, within=1e-4, unit="rad/s")
    play.expect("height", world.positions[0, 2], pitch * rate * 2, within=1e-3, unit="m")


@sample("chrono/joints/bushing", title="demo_MBS_link_bushing", source=SOURCE)
def bushing(play):
    """A beam hangs out from a wall on a bushing: it sinks by m g / k and leans by m g l / k."""
    scene, stiff, twist = mc.Scene(), 5e4, 2e4
    body = scene.add_body("beam", shape=box(1.0, 0.1, 0.1), position=(0.5, 0, 0))
    springs = [mc.Spring(stiff, 500.0)] * 3 + [mc.Spring(twist, 200.0)] * 3
    scene.add_joint(mc.FreeJoint(None, "beam", (0, 0, 0), spring=springs, name="bushing"))
    world = mc.World(scene)
    play(world, 8.0)
    at = world.joint("bushing").position
    play.expect("sinks by", at[2], -body.mass * G / stiff, within=1e-6, unit="m")
    play.expect("leans by", at[4], body.mass * G * 0.5 / twist, within=1e-6, unit="rad")


@sample("chrono/joints/rev_sph", title="demo_MBS_rev_sph", source=SOURCE)
def rev_sph(play):
    """A composite joint, revolute at one end and a ball at the other, of a rod without much mass: both worlds agree."""
    scene = mc.Scene()
    scene.add_body("rod", shape=mc.Capsule(0.02, 0.45, orientation=along(X)), position=(0.5, 0, 0), mass=0.01)
    turns = {"velocity": (0, 0.4, 0), "angular_velocity": (0, 0, 2.0)}
    scene.add_body("pendulum", shape=box(0.4, 0.3, 0.2), position=(1.2, 0, 0), **turns)
    scene.add_joint(mc.HingeJoint(None, "rod", (0, 0, 0), Y))
    scene.add_joint(mc.BallJoint("rod", "pendulum", (1, 0, 0)))
    world, apart = both(play, scene, 1.5, dt=1 / 480)
    play.between("distance of the two worlds", apart, upper=3e-3, unit="m")
    play.expect("energy", world.energy().total, mc.World(scene).energy().total, within=0.005, unit="J")
    corner = world.positions[1] + mc.rotation.rotate(world.orientations[1], np.array([-0.2, 0, 0]))
    play.expect("length", np.linalg.norm(corner), 1.0, within=1e-6, unit="m")
    play.between("height of the pendulum", world.positions[1, 2], upper=-0.1, unit="m")


@sample("chrono/joints/mates", title="demo_MBS_link_mate", source=SOURCE)
def mates(play):
    """Mates: a block stays on a plane, a pin on an axis, a ball at a distance; each falls as that lets it."""
    scene, normal = mc.Scene(), np.array([np.sin(0.3), 0, np.cos(0.3)])
    for name, x in (("plane", 0.0), ("axis", 3.0), ("parallel", 6.0)):
        scene.add_body(name, shape=cube(0.4), position=(x, 0, 0))
    scene.add_joint(mc.PlanarJoint(None, "plane", (0, 0, 0), normal))
    scene.add_joint(mc.CylindricalJoint(None, "axis", (3, 0, 0), normal))
    scene.add_joint(mc.LockJoint(None, "parallel", "", "xy"))
    world = mc.World(scene, dt=1 / 240)
    world.set_velocity("parallel", (1, 2, 3), (0, 0, 4.0))
    play(world, 1.0)
    down = np.array([0, 0, -G])
    within = down - (down @ normal) * normal
    play.expect("on the plane", world.positions[0], within / 2, within=2e-3, unit="m")
    play.expect("on the axis", world.positions[1] - (3, 0, 0), (down @ normal) * normal / 2, within=2e-3, unit="m")
    play.expect("free, but parallel", world.positions[2] - (6, 0, 0), (1, 2, 3 - G / 2), within=0.001, unit="m")
    play.expect("spin", world.angular_velocities[2], (0, 0, 4), within=1e-9, unit="rad/s")


@sample("chrono/joints/point_line", title="demo_MBS_point_line", source=SOURCE)
def point_line(play):
    """A bead on a wire at 30 degrees slides as on a slope, and stops at the wire's end."""
    scene, axis = mc.Scene(), np.array([np.cos(np.pi / 6), 0, -0.5])
    scene.add_body("bead", shape=mc.Sphere(0.1))
    scene.add_joint(mc.SlotJoint(None, "bead", (0, 0, 0), axis, limits=(None, 3.0), name="wire"))
    world = mc.World(scene, dt=1 / 240)
    times, way = watched(play, world, 2.5, lambda: world.joint("wire").position[0])
    play.expect("way", way, np.minimum(G / 4 * times**2, 3.0), within=0.005, unit="m")
    play.expect("way at last", way[-1], 3.0, within=1e-4, unit="m")


@sample("chrono/joints/suspension", title="demo_MBS_suspension", source=SOURCE, slow=True)
def suspension(play):
    """A car on four sprung wheels bounces with sqrt(k / m) and sinks by its weight over the springs."""
    scene, k = mc.Scene(), 4e4
    scene.add_body("truss", shape=box(3, 1.4, 0.3), position=(0, 0, 1), mass=800)
    for n, (x, y) in enumerate([(x, y) for x in (1.5, -1.5) for y in (1.0, -1.0)]):
        wheel = mc.Cylinder(0.4, 0.1, orientation=along(Y))
        scene.add_body(f"wheel{n}", shape=wheel, position=(x, y, 0.4), mass=20)
        scene.add_joint(mc.SliderJoint("truss", f"wheel{n}", Z, spring=mc.Spring(k)))
    scene.add_body("road", shape=mc.Plane(Z), kind="static")
    world = mc.World(scene, dt=1 / 480, sleep=False)
    times, height = watched(play, world, 6.0, lambda: world.positions[0, 2])
    sunk = 800 * G / (4 * k)
    play.expect("middle of the bounce", (height.max() + height.min()) / 2, 1 - sunk, within=1e-3, unit="m")
    play.expect("period", period(times, height, 1 - sunk), 2 * np.pi * np.sqrt(800 / (4 * k)), within=1e-3, unit="s")


@sample("chrono/joints/shafts_clutch", title="demo_MBS_shafts (clutch)", source=SOURCE)
def shafts_clutch(play):
    """Two shafts and a clutch of 60 N m that slips until their speeds are one: momentum is kept, speeds go as M t / I."""
    scene, inertia = mc.Scene(gravity=(0, 0, 0)), (100.0, 200.0)
    for k in range(2):
        spin = (8.0 if k == 0 else 0.0, 0, 0)
        scene.add_body(f"shaft{k}", mass=10, inertia=(inertia[k],) * 3, position=(k, 0, 0), angular_velocity=spin)
    scene.add_joint(mc.HingeJoint(None, "shaft0", (0, 0, 0), X))
    scene.add_joint(mc.HingeJoint("shaft0", "shaft1", (1, 0, 0), X, friction=60.0))
    world = mc.World(scene)
    play(world, 5.0)
    play.expect("speeds while it slips", world.angular_velocities[:, 0], (8 - 3.0, 1.5), within=1e-3, unit="rad/s")
    play(world, 10.0)
    play.expect("speed of both", world.angular_velocities[:, 0], 800 / 300, within=1e-4, unit="rad/s")


@sample("chrono/joints/shafts_differential", title="demo_MBS_shafts (differential)", source=SOURCE)
def shafts_differential(play):
    """A differential: the case turns at the mean of the two half shafts; a braked one makes the other twice as fast."""
    scene = mc.Scene(gravity=(0, 0, 0))
    for name, a in (("case", None), ("left", None), ("right", None), ("pinion", "case")):
        scene.add_body(name, mass=1.0, inertia=(0.1, 0.1, 0.1))
        motor = mc.Motor(velocity=5.0) if name == "case" else None
        axis = Z if name == "pinion" else Y
        friction = 50.0 if name == "left" else 0.0
        scene.add_joint(mc.HingeJoint(a, name, (0, 0, 0), axis, name=name, motor=motor, friction=friction))
    for side, sign in (("left", 1.0), ("right", -1.0)):
        scene.add_joint(mc.HingeJoint("case", side, (0, 0, 0), Y, name=f"{side}.case"))
        scene.add_joint(mc.GearJoint(f"{side}.case", "pinion", sign))
    world = mc.World(scene)
    play(world, 2.0)
    rates = [world.body(name).angular_velocity[1] for name in ("case", "left", "right")]
    play.expect("speeds of case, left and right", rates, (5.0, 0.0, 10.0), within=1e-3, unit="rad/s")
