"""Exudyn's samples of mechanisms with loops, most of them benchmarks of the IFToMM library."""

import numpy as np

import mcsim as mc
from mcsim.samples.measure import both, watched
from mcsim.samples.parts import G, X, Y, Z, along, box, cube, rod
from mcsim.samples.registry import sample

SOURCE = "Exudyn, Examples"


def shaft(scene, name, start, end, radius=0.02, **more):
    """Adds a capsule from one point to another, its frame's z along it."""
    a, b = np.array(start, float), np.array(end, float)
    shape = mc.Capsule(radius, float(np.linalg.norm(b - a)) / 2)
    return scene.add_body(name, shape=shape, position=(a + b) / 2, orientation=along(b - a), **more)


@sample("exudyn/mechanisms/slider_crank", title="sliderCrank3Dbenchmark", source=SOURCE)
def slider_crank(play):
    """A crank of 0.08 m, 0.1 m aside of a slider and 0.12 m up, moves it by a rod of 0.3 m: way by the formula."""
    scene, r, length, d, h = mc.Scene(), 0.08, 0.3, 0.1, 0.12
    pin, foot = np.array([0, d, h + r]), np.array([np.sqrt(length**2 - d**2 - (h + r) ** 2), 0, 0])
    shaft(scene, "crank", (0, d, h), pin, 0.01, mass=0.12)
    shaft(scene, "rod", pin, foot, 0.01, mass=0.5)
    scene.add_body("slider", shape=cube(0.05), position=foot, mass=2.0)
    motor = mc.Motion(velocity=2 * np.pi)
    scene.add_joint(mc.HingeJoint(None, "crank", (0, d, h), X, name="crank", motion=motor))
    scene.add_joint(mc.BallJoint("crank", "rod", pin))
    across = np.cross(foot - pin, X)
    scene.add_joint(mc.UniversalJoint("slider", "rod", foot, across / np.linalg.norm(across), np.cross(across, foot - pin)))
    scene.add_joint(mc.SliderJoint(None, "slider", X))
    world = mc.World(scene, dt=1 / 240)
    _, states = watched(play, world, 2.0, lambda: [world.joint("crank").angle, world.body("slider").position[0]])
    y, z = d - r * np.sin(states[:, 0]), h + r * np.cos(states[:, 0])
    play.expect("way of the slider", states[:, 1], np.sqrt(length**2 - y**2 - z**2), within=1e-6, unit="m")
    play.expect("angle", states[-1, 0], 4 * np.pi, within=1e-6, unit="rad")


@sample("exudyn/mechanisms/four_bar_3d", title="fourBarMechanism3D", source=SOURCE, camera="front")
def four_bar_3d(play):
    """Bars of 2, 4 and 3 m on a ground of 4 m: the angles of all follow from the crank's by two circles that meet."""
    scene, lengths = mc.Scene(), (2.0, 4.0, 3.0)

    def meet(angle):
        a = 2.0 * np.array([np.cos(angle), 0, np.sin(angle)])
        way = np.array([4.0, 0, 0]) - a
        span = np.linalg.norm(way)
        along_it = (16 - 9 + span**2) / (2 * span)
        across = np.array([-way[2], 0, way[0]]) / span
        return a, a + along_it * way / span + np.sqrt(16 - along_it**2) * across

    a, b = meet(np.pi / 2)
    points = [np.zeros(3), a, b, np.array([4.0, 0, 0])]
    for k in range(3):
        shaft(scene, f"bar{k}", points[k], points[k + 1], mass=lengths[k])
    for k, (one, other) in enumerate(((None, "bar0"), ("bar0", "bar1"), ("bar1", "bar2"), ("bar2", None))):
        motion = mc.Motion(velocity=3.0) if k == 0 else None
        scene.add_joint(mc.HingeJoint(one, other, points[k], (0, -1, 0), motion=motion))
    world = mc.World(scene, dt=1 / 240)
    times, middle = watched(play, world, 4.0, lambda: world.body("bar1").position)
    wanted = [np.mean(meet(np.pi / 2 + 3.0 * t), axis=0) for t in times]
    play.expect("middle of the coupler", middle, wanted, within=1e-6, unit="m")
    play.expect("angle of the crank", world.joints[0].angle, 12.0, within=1e-6, unit="rad")


@sample("exudyn/mechanisms/four_bars_iftomm", title="fourBarMechanismIftomm", source=SOURCE, camera="front", slow=True)
def four_bars_iftomm(play):
    """Four-bar linkages side by side with 1 m/s go round through the poses where all lie in a line, with their energy."""
    world = mc.World(mc.scenes.four_bars(windows=2), dt=1 / 480)
    energy = world.energy().total
    most, low = [], []
    for _ in play.steps(world, 10.0):
        low.append(world.positions[:, 2].min())
        most.append(abs(world.energy().total - energy))
    play.between("energy off", most, upper=0.1, unit="J")
    play.between("lowest place of a bar", min(low), -1.0001, -0.99, unit="m")


@sample("exudyn/mechanisms/bricard", title="bricardMechanism", source=SOURCE)
def bricard(play):
    """Bricard's loop of six hinges, movable against Grübler's count, falls and keeps its energy; both worlds agree."""
    world, apart = both(play, mc.scenes.bricard(), 2.0, dt=1 / 480)
    play.expect("energy", world.energy().total - mc.World(mc.scenes.bricard()).energy().total, 0.0, within=0.001, unit="J")
    play.between("distance of the two worlds", apart, upper=5e-3, unit="m")
    play.between("kinetic energy", world.energy().kinetic, lower=0.1, unit="J")


@sample("exudyn/mechanisms/stiff_flyball_governor", title="stiffFlyballGovernor", source=SOURCE, slow=True)
def stiff_flyball_governor(play):
    """A governor with springs of 8e5 N/m, started at 2 π rad/s, keeps its angular momentum about the shaft."""
    scene = mc.scenes.governor(speed=2 * np.pi)
    world = mc.World(scene, dt=1 / 1000)
    place, start = world.positions.copy(), world.momentum()[1][2]
    energy = world.energy().total
    play(world, 5.0)
    play.expect("angular momentum over that of the start", world.momentum()[1][2] / start, 1.0, within=1e-4)
    play.between("energy gained", world.energy().total - energy, upper=0.05, unit="J")
    play.between("way that the balls went", np.abs(world.positions - place).max(), lower=0.1, unit="m")


@sample("exudyn/mechanisms/universal_joint", title="universalJoint", source=SOURCE)
def universal_joint(play):
    """A shaft bent by 40 degrees at a universal joint runs uneven: tan b = tan a / cos 40°."""
    scene, bend = mc.Scene(gravity=(0, 0, 0)), np.radians(40)
    out = np.array([np.cos(bend), np.sin(bend), 0])
    shaft(scene, "in", (-1, 0, 0), (0, 0, 0))
    shaft(scene, "out", (0, 0, 0), out)
    scene.add_joint(mc.HingeJoint(None, "in", (-1, 0, 0), X, name="in", motion=mc.Motion(velocity=2.0)))
    scene.add_joint(mc.HingeJoint(None, "out", out, out, name="out"))
    scene.add_joint(mc.UniversalJoint("in", "out", (0, 0, 0), Z, np.cross(Z, out)))
    world = mc.World(scene, dt=1 / 240)
    _, angles = watched(play, world, 4.0, lambda: [world.joint("in").angle, world.joint("out").angle])
    a = angles[:, 0]
    exact = np.unwrap(np.arctan2(np.sin(a) * np.cos(bend), np.cos(a)))
    play.expect("angle of the shaft that is driven", angles[:, 1], exact, within=1e-6, unit="rad")
    play.expect("angle of the one that drives", a[-1], 8.0, within=1e-6, unit="rad")


@sample("exudyn/mechanisms/double_pendulum", title="doublePendulum2D", source=SOURCE, camera="front")
def double_pendulum(play):
    """Two arms fall from level: energy stays, and for 2 s they are where the reference integrator puts them."""
    scene = mc.Scene()
    for k, a in enumerate((None, "arm0")):
        scene.add_body(f"arm{k}", shape=box(1.0, 0.1, 0.1), position=(k + 0.5, 0, 0))
        scene.add_joint(mc.HingeJoint(a, f"arm{k}", (k, 0, 0), Y))
    exact = mc.World(scene, dt=1 / 60, integrator="reference")
    play(exact, 2.0)
    for world in (mc.World(scene, dt=1 / 480), mc.ReducedWorld(scene, dt=1 / 480)):
        play(world, 2.0)
        play.expect("places", world.positions, exact.positions, within=1e-3, unit="m")
        play.expect("energy", world.energy().total, 0.0, within=0.001, unit="J")
    play(world, 8.0)
    play.expect("energy after 10 s", world.energy().total, 0.0, within=0.001, unit="J")
    play.between("kinetic energy", world.energy().kinetic, lower=0.01, unit="J")


@sample("exudyn/mechanisms/pendulum_iftomm", title="pendulumIftommBenchmark", source=SOURCE, camera="front")
def pendulum_iftomm(play):
    """A point of 1 kg on 1 m falls from level: period by the elliptic integral, energy kept for 10 s."""
    scene = mc.Scene()
    scene.add_body("point", shape=mc.Sphere(0.02), mass=1.0, inertia=(1e-9, 1e-9, 1e-9), position=(-1, 0, 0))
    scene.add_joint(mc.HingeJoint(None, "point", (0, 0, 0), Y))
    world = mc.World(scene, dt=1 / 120)
    times, states = watched(play, world, 10.0, lambda: [*world.positions[0], world.energy().total])
    a, b = 1.0, np.cos(np.pi / 4)  # the period by the mean of Gauss: 2 π sqrt(L / g) / agm(1, cos(amplitude / 2))
    for _ in range(6):
        a, b = (a + b) / 2, np.sqrt(a * b)
    x, t = states[:, 0], times
    k = np.flatnonzero((x[:-1] < 0) & (x[1:] >= 0))
    up = t[k] - x[k] * (t[k + 1] - t[k]) / (x[k + 1] - x[k])
    play.expect("period", np.diff(up), 2 * np.pi / np.sqrt(G) / a, within=1e-3, unit="s")
    play.expect("energy", states[:, 3], 0.0, within=1e-3, unit="J")
    play.expect("length", np.linalg.norm(states[:, :3], axis=1), 1.0, within=1e-9, unit="m")


@sample("exudyn/mechanisms/four_link_pendulum", title="simple4linkPendulum", source=SOURCE, camera="front")
def four_link_pendulum(play):
    """Four links fall from level; both worlds agree for 1 s, and each keeps its energy."""
    scene, before = mc.Scene(), None
    for k in range(4):
        scene.add_body(f"link{k}", shape=box(1.0, 0.06, 0.1), position=(k + 0.5, 0, 0))
        scene.add_joint(mc.HingeJoint(before, f"link{k}", (k, 0, 0), Y))
        before = f"link{k}"
    world, apart = both(play, scene, 1.0, dt=1 / 480)
    play.between("distance of the two worlds", apart, upper=1e-3, unit="m")
    play.expect("energy kept over that fallen through", world.energy().total / world.energy().kinetic, 0.0, within=1e-4)


@sample("exudyn/mechanisms/rigid_body_tutorial", title="rigidBodyTutorial3", source=SOURCE)
def rigid_body_tutorial(play):
    """Two beams of 1 m on hinges along x and y; both worlds agree for 2 s, and energy stays."""
    scene = mc.Scene()
    for k, (a, axis) in enumerate(((None, Y), ("beam0", X))):
        scene.add_body(f"beam{k}", shape=box(1.0, 0.1, 0.1), position=(k + 0.5, 0.05 * k, 0), angular_velocity=(0, 0, 0))
        scene.add_joint(mc.HingeJoint(a, f"beam{k}", (k, 0, 0), axis))
    world, apart = both(play, scene, 2.0, dt=1 / 480)
    play.between("distance of the two worlds", apart, upper=1e-3, unit="m")
    start = mc.World(scene).energy().total
    play.expect("energy", world.energy().total, start, within=0.001, unit="J")
    play.between("kinetic energy", world.energy().kinetic, lower=0.01, unit="J")


@sample("exudyn/mechanisms/spatial_double_pendulum", title="kinematicTreeAndMBS", source=SOURCE)
def spatial_double_pendulum(play):
    """A tree of seven bodies on two branches moves alike as a kinematic tree and as bodies with joints."""
    scene = mc.Scene()
    scene.add_body("trunk", shape=rod((0, 0, 0), (0, 0, -0.6), 0.05))
    scene.add_joint(mc.HingeJoint(None, "trunk", (0, 0, 0), Y))
    for side in (-1, 1):
        before = "trunk"
        for k in range(3):
            at = np.array([0, side * (0.1 + 0.4 * k), -0.6])
            body = scene.add_body(f"arm{side}.{k}", shape=rod(at, at + (0, side * 0.4, 0), 0.03), collision_mask=0)
            scene.add_joint(mc.HingeJoint(before, body, at, (X, Z, X)[k]))
            before = body
    world, apart = both(play, scene, 1.5, dt=1 / 480)
    play.between("distance of the two worlds", apart, upper=2e-3, unit="m")
    play.expect("energy", world.energy().total, mc.World(scene).energy().total, within=0.02, unit="J")
    play.between("kinetic energy", world.energy().kinetic, lower=0.01, unit="J")


@sample("exudyn/mechanisms/serial_robot", title="serialRobotTestURDF", source=SOURCE, slow=True)
def serial_robot(play):
    """Six links under computed torques follow angles that move as sines, in both worlds."""
    scene, before = mc.Scene(), None
    for k in range(6):
        scene.add_body(f"link{k}", shape=mc.Capsule(0.05, 0.15), position=(0, 0, 0.3 * k + 0.15))
        scene.add_joint(mc.HingeJoint(before, f"link{k}", (0, 0, 0.3 * k), (Z, Y, X, Y, Z, X)[k]))
        before = f"link{k}"
    for world in (mc.World(scene, dt=1 / 480), mc.ReducedWorld(scene, dt=1 / 480)):
        for _ in play.steps(world, 2.0):
            w, t = np.arange(1, 7) / 2, world.time + world.dt / 2
            wanted = (1 - np.cos(w * t)) / 2, w * np.sin(w * t) / 2, w**2 * np.cos(w * t) / 2
            world.tau[:] = mc.control.computed_torque(world, *wanted, kp=400.0, kd=40.0)
        q = mc.control.coordinates(world).q
        play.between("largest angle", np.abs(q).max(), lower=0.5, unit="rad")
        play.expect("angles", q, (1 - np.cos(w * world.time)) / 2, within=3e-3, unit="rad")
