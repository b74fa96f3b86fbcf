"""Exudyn's samples of springs, dampers, friction and connectors that are switched."""

import numpy as np

import mcsim as mc
from mcsim.samples.measure import period, watched
from mcsim.samples.parts import G, X, cube
from mcsim.samples.registry import sample

SOURCE = "Exudyn, Examples"


@sample("exudyn/springs/spring_damper", title="springDamperTutorial", source=SOURCE)
def spring_damper(play):
    """1.6 kg on 4000 N/m and 8 N s/m, from -0.08 m at 1 m/s under 80 N: the damped oscillation of the formula."""
    scene, m, k, d, force = mc.Scene(gravity=(0, 0, 0)), 1.6, 4000.0, 8.0, 80.0
    scene.add_body("mass", shape=cube(0.1), mass=m, position=(0, 0, 0))
    scene.add_joint(mc.SliderJoint(None, "mass", X, name="way", spring=mc.Spring(k, d)))
    world = mc.World(scene, dt=1 / 4000)
    world.set_pose("mass", (-0.08, 0, 0))
    world.set_velocity("mass", (1.0, 0, 0))
    world.tau[:] = force
    times, way = watched(play, world, 1.0, lambda: world.positions[0, 0])
    a, w = d / (2 * m), np.sqrt(k / m - (d / (2 * m)) ** 2)
    start = -0.08 - force / k
    wanted = force / k + np.exp(-a * times) * (start * np.cos(w * times) + (1.0 + a * start) / w * np.sin(w * times))
    play.expect("way", way, wanted, within=1e-3, unit="m")
    play.between("range of its way", np.ptp(way), lower=0.1, unit="m")


@sample("exudyn/springs/user_function", title="springDamperMassUserFunction", source=SOURCE)
def user_function(play):
    """A spring of one's own, k x + k3 x³, as a force of each step: it keeps its energy and has Duffing's period."""
    scene, m, k, k3 = mc.Scene(gravity=(0, 0, 0)), 1.0, 100.0, 1000.0
    scene.add_body("mass", shape=cube(0.1), mass=m, position=(0.2, 0, 0))
    world = mc.World(scene, dt=1 / 2000)
    times, ways = [], []
    for _ in play.steps(world, 8.0):
        x = world.positions[0, 0] + world.velocities[0, 0] * world.dt / 2  # at the middle of the step
        world.apply_force("mass", (-k * x - k3 * x**3, 0, 0))
        times.append(world.time)
        ways.append(world.positions[0, 0])
    a = (np.arange(20000) + 0.5) / 20000 * np.pi / 2  # x = 0.2 sin a: T = 4 ∫ da / sqrt(k + k3 0.2² (1 + sin² a) / 2)
    exact = 4 * np.mean(1 / np.sqrt(k / m + k3 / m * 0.2**2 * (1 + np.sin(a) ** 2) / 2)) * np.pi / 2
    play.expect("period", period(times, ways), exact, within=1e-4, unit="s")
    play.expect("amplitude at the end", np.max(np.abs(ways[-2000:])), 0.2, within=1e-3, unit="m")


@sample("exudyn/springs/n_mass_oscillator", title="nMassOscillator", source=SOURCE, slow=True)
def n_mass_oscillator(play):
    """Nine masses in a row on springs, the first to a wall, started in their first, third and fifth mode, keep to it."""
    n, m, k = 9, 1.0, 100.0
    for mode in (1, 3, 5):
        scene, before = mc.Scene(gravity=(0, 0, 0)), None
        for j in range(n):
            scene.add_body(f"mass{j}", shape=cube(0.1), mass=m, position=(j, 0, 0))
            scene.add_joint(mc.SliderJoint(before, f"mass{j}", X, spring=mc.Spring(k)))
            before = f"mass{j}"
        world = mc.World(scene, dt=1 / 400)
        angle = (2 * mode - 1) * np.pi / (2 * n + 1)
        for j in range(n):
            world.set_velocity(f"mass{j}", (np.sin((j + 1) * angle), 0, 0))
        times, way = watched(play, world, 8.0, lambda world=world: world.positions[:, 0] - np.arange(n))
        omega = 2 * np.sqrt(k / m) * np.sin(angle / 2)
        play.expect(f"period of mode {mode}", period(times, way[:, -1]), 2 * np.pi / omega, within=2e-4, unit="s")
        shape = np.sin((np.arange(n) + 1) * angle)
        wanted = np.outer(np.sin(omega * times), shape) / omega
        play.expect(f"ways in mode {mode}", way, wanted, within=2e-3, unit="m")


@sample("exudyn/springs/springs_distance", title="3SpringsDistance", source=SOURCE)
def springs_distance(play):
    """A mass between three springs in a plane comes to rest where their forces bear its weight."""
    scene, ends = mc.Scene(), [np.array([1.0, 0, 0.5]), np.array([-1.0, 0, 0.5]), np.array([0.3, 0, -1.0])]
    scene.add_body("mass", shape=mc.Sphere(0.1), mass=5.0, position=(0, 0, 0), angular_damping=1.0)
    stiff = (400.0, 700.0, 300.0)
    for end, k in zip(ends, stiff, strict=True):
        scene.add_joint(mc.DistanceJoint(None, "mass", end, (0, 0, 0), length=0.8, spring=mc.Spring(k, 20.0)))
    world = mc.World(scene)
    play(world, 15.0)
    at = world.positions[0]
    forces = [
        k * (np.linalg.norm(e - at) - 0.8) * (e - at) / np.linalg.norm(e - at) for e, k in zip(ends, stiff, strict=True)
    ]
    play.expect("sum of springs and weight", np.sum(forces, axis=0) - (0, 0, 5 * G), 0.0, within=1e-4, unit="N")
    told = np.sum([joint.force for joint in world.joints], axis=0)
    play.expect("force that the joints tell", told, (0, 0, 5 * G), within=1e-3, unit="N")


@sample("exudyn/springs/spring_mass_friction", title="springMassFriction", source=SOURCE)
def spring_mass_friction(play):
    """A mass on a spring with dry friction: each swing is 2 F/k shorter, until the spring cannot move it any more."""
    scene, k, friction = mc.Scene(gravity=(0, 0, 0)), 1000.0, 20.0
    scene.add_body("mass", shape=cube(0.1), mass=1.0)
    scene.add_joint(mc.SliderJoint(None, "mass", X, spring=mc.Spring(k), friction=friction))
    world = mc.World(scene, dt=1 / 2000)
    world.set_pose("mass", (0.25, 0, 0))
    times, way = watched(play, world, 1.5, lambda: world.positions[0, 0])
    half = np.pi / np.sqrt(k)
    for swing in range(1, 6):
        at = np.interp(swing * half, times, way)
        play.expect(f"turn {swing}", at, (-1) ** swing * (0.25 - 2 * swing * friction / k), within=1e-3, unit="m")
    play.expect("where it stays", way[-100:], 0.01, within=1e-3, unit="m")


@sample("exudyn/springs/cartesian_spring_damper", title="cartesianSpringDamper", source=SOURCE)
def cartesian_spring_damper(play):
    """A mass on springs of its own along x, y and z oscillates along each with that one's period."""
    scene, stiff = mc.Scene(gravity=(0, 0, 0)), np.array([50.0, 200.0, 800.0])
    scene.add_body("mass", shape=cube(0.1), mass=2.0)
    scene.add_joint(mc.FreeJoint(None, "mass", spring=[mc.Spring(k) for k in stiff] + [None] * 3))
    world = mc.World(scene, dt=1 / 2000)
    world.set_pose("mass", (0.1, 0.1, 0.1))
    times, way = watched(play, world, 5.0, lambda: world.positions[0])
    found = [period(times, way[:, k]) for k in range(3)]
    play.expect("periods", found, 2 * np.pi * np.sqrt(2.0 / stiff), within=1e-4, unit="s")
    play.expect("way", way, 0.1 * np.cos(np.outer(times, np.sqrt(stiff / 2.0))), within=0.001, unit="m")


@sample("exudyn/springs/rigid_body_spring_damper", title="rigidBodySpringDamper", source=SOURCE)
def rigid_body_spring_damper(play):
    """A body on a bushing of six springs, under a force and a torque, comes to rest at force / stiffness on each axis."""
    scene = mc.Scene(gravity=(0, 0, 0))
    ways, turns = (500.0, 700.0, 900.0), (50.0, 70.0, 90.0)
    scene.add_body("body", shape=cube(0.2))
    springs = [mc.Spring(k, 60.0) for k in ways] + [mc.Spring(k, 3.0) for k in turns]
    scene.add_joint(mc.FreeJoint(None, "body", spring=springs, name="bushing"))
    world = mc.World(scene)
    for _ in play.steps(world, 10.0):
        world.apply_force("body", (10.0, -7.0, 18.0))
        world.apply_torque("body", (0, 0, 9.0))
    play.expect("place", world.positions[0], (0.02, -0.01, 0.02), within=1e-5, unit="m")
    play.expect("turn", world.joint("bushing").position[3:], (0, 0, 0.1), within=1e-5, unit="rad")


@sample("exudyn/springs/bungee_jump", title="bungeeJump", source=SOURCE)
def bungee_jump(play):
    """A jumper falls 20 m, then a rope of 80 N/m stretches by what energy says, and lets go when it is slack again."""
    scene, m, k, length = mc.Scene(), 75.0, 80.0, 20.0
    scene.add_body("jumper", shape=mc.Sphere(0.4), mass=m)
    rope = mc.Spring(k, rest=length, acts="pull")
    scene.add_joint(mc.DistanceJoint(None, "jumper", (0, 0, 0), (0, 0, 0), spring=rope))
    world = mc.World(scene, dt=1 / 1000)
    low = min(world.positions[0, 2] for _ in play.steps(world, 12.0))
    sag = m * G / k
    play.expect("deepest", low, -length - sag - np.sqrt(sag**2 + 2 * sag * length), within=0.02, unit="m")
    energy = world.energy().total
    play.expect("energy over that of the deepest fall", energy / (m * G * -low), 0.0, within=0.001)


@sample("exudyn/springs/deactivate_connectors", title="springsDeactivateConnectors", source=SOURCE)
def deactivate_connectors(play):
    """Two masses on a spring are released from it at full speed: each flies on with what it has."""
    scene, k = mc.Scene(gravity=(0, 0, 0)), 200.0
    for name, x, m in (("a", 0.0, 1.0), ("b", 1.0, 3.0)):
        scene.add_body(name, shape=cube(0.1), mass=m, position=(x, 0, 0))
    scene.add_joint(mc.DistanceJoint("a", "b", (0, 0, 0), (1, 0, 0), length=1.3, spring=mc.Spring(k), name="spring"))
    world = mc.World(scene, dt=1 / 4000)
    play(world, np.pi / 2 / np.sqrt(k / 0.75))
    world.remove_joint("spring")
    play(world, 1.0)
    relative = 0.3 * np.sqrt(k / 0.75)
    play.expect("velocities", world.velocities[:, 0], (-0.75 * relative, 0.25 * relative), within=2e-3, unit="m/s")
    play.expect("momentum", world.momentum()[0], 0.0, within=1e-9, unit="kg m/s")
    play.expect("place of a", world.positions[0, 0], -0.225 - 0.75 * relative, within=5e-3, unit="m")


@sample("exudyn/springs/switching_constraints", title="switchingConstraintsPendulum", source=SOURCE)
def switching_constraints(play):
    """A pendulum is released, flies a parabola, and is caught at another point: angular momentum about that is kept."""
    scene = mc.Scene()
    scene.add_body("bob", shape=mc.Sphere(0.1), position=(1, 0, 0))
    scene.add_joint(mc.HingeJoint(None, "bob", (0, 0, 0), (0, 1, 0), name="first"))
    world = mc.World(scene, dt=1 / 1000)
    play(world, 0.6)
    world.remove_joint("first")
    place, velocity = world.positions[0].copy(), world.velocities[0].copy()
    play(world, 0.3)
    play.expect("flight", world.positions[0], place + 0.3 * velocity - (0, 0, G * 0.045), within=1e-3, unit="m")
    pivot = world.positions[0] + (0.0, 0, 0.8)
    about = np.cross(world.positions[0] - pivot, world.velocities[0])[1]
    own = 0.4 * 0.01 * world.angular_velocities[0, 1]
    world.add_joint(mc.HingeJoint(None, "bob", pivot, (0, 1, 0), name="second"))
    play(world, world.dt)
    play.expect(
        "spin when caught", world.angular_velocities[0, 1], (about + own) / (0.64 + 0.004), within=0.01, unit="rad/s"
    )
    energy = world.energy().total
    play(world, 3.0)
    play.expect("energy from then on", world.energy().total / energy, 1.0, within=1e-4)


@sample("exudyn/springs/simulator_coupling", title="simulatorCouplingTwoMbs", source=SOURCE)
def simulator_coupling(play):
    """Two worlds with one mass each, coupled by a spring of the program's, oscillate as one world with both."""
    worlds, k = [], 100.0
    for m, x in ((1.0, 0.0), (2.0, 1.2)):
        scene = mc.Scene(gravity=(0, 0, 0))
        scene.add_body("mass", shape=cube(0.1), mass=m, position=(x, 0, 0))
        worlds.append(mc.World(scene, dt=1 / 2000))
    gaps = []
    for _ in range(4000):
        middle = [world.positions[0, 0] + world.velocities[0, 0] * world.dt / 2 for world in worlds]
        for side, world in zip((1, -1), worlds, strict=True):
            world.apply_force("mass", (side * k * (middle[1] - middle[0] - 1.0), 0, 0))
        gaps.append(worlds[1].positions[0, 0] - worlds[0].positions[0, 0])
        for world in worlds:
            play(world, world.dt)
    omega = np.sqrt(k * 1.5)
    play.expect("distance", gaps, 1 + 0.2 * np.cos(omega * np.arange(4000) / 2000), within=2e-3, unit="m")
