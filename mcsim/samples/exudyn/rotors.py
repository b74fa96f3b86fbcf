"""Exudyn's samples of rotors, tops and the bicycle."""

import numpy as np

import mcsim as mc
from mcsim.samples.measure import period, watched
from mcsim.samples.parts import G, X, Y, along, box, lean
from mcsim.samples.registry import sample

SOURCE = "Exudyn, Examples"


@sample("exudyn/rotors/rigid_rotor_nutation", title="rigidRotor3Dnutation", source=SOURCE)
def rigid_rotor_nutation(play):
    """A free rotor at 20 rad/s, knocked aside, nods with I_axial / I_lateral of its speed."""
    scene, axial, lateral, spin = mc.Scene(gravity=(0, 0, 0)), 0.9, 0.6, 20.0
    rate = {"angular_velocity": (spin, 0.0, 0.05 * spin)}
    scene.add_body(
        "rotor", shape=mc.Cylinder(0.3, 0.05, orientation=along(X)), mass=10, inertia=(axial, lateral, lateral), **rate
    )
    world = mc.World(scene, dt=1 / 1000)
    momentum = world.momentum()[1]
    axis = momentum / np.linalg.norm(momentum)
    side = np.cross(axis, Y) / np.linalg.norm(np.cross(axis, Y))
    times, tip = watched(play, world, 3.0, lambda: mc.rotation.rotate(world.orientations[0], np.array(X)) @ side)
    play.expect(
        "period of nutation", period(times, tip), 2 * np.pi * lateral / np.linalg.norm(momentum), within=1e-4, unit="s"
    )
    play.expect("angular momentum", world.momentum()[1], momentum, within=1e-6, unit="kg m²/s")


@sample("exudyn/rotors/gyro_stability", title="gyroStability", source=SOURCE)
def gyro_stability(play):
    """Three boxes, spun about their axes of least, middle and most inertia: only the middle one turns over."""
    scene, tips = mc.Scene(gravity=(0, 0, 0)), []
    for k in range(3):
        spin = np.full(3, 0.01)
        spin[k] = 10.0
        scene.add_body(f"box{k}", shape=box(0.6, 0.3, 0.1), position=(k, 0, 0), angular_velocity=spin)
    world = mc.World(scene, dt=1 / 240)
    energy = world.energy().total
    _, tips = watched(play, world, 10.0, lambda: [mc.rotation.matrix(world.orientations[k])[k, k] for k in range(3)])
    play.between("least cosine of the axes of least and most", tips[:, [0, 2]].min(axis=0), lower=0.99)
    play.between("least cosine of the middle axis", tips[:, 1].min(), upper=-0.95)
    play.expect("energy", world.energy().total / energy, 1.0, within=1e-6)


@sample("exudyn/rotors/heavy_top", title="heavyTop (reference)", source=SOURCE)
def heavy_top(play):
    """The heavy top of Lie group integrators: where the reference integrator puts it after 1 s, with its energy."""
    scene = mc.scenes.heavy_top()
    exact = mc.World(scene, dt=1 / 100, integrator="reference")
    play(exact, 1.0)
    world = mc.World(scene, dt=1 / 2000)
    energy = world.energy().total
    play(world, 1.0)
    play.expect("place of the disc", world.positions[0], exact.positions[0], within=0.001, unit="m")
    play.expect("energy", world.energy().total / energy, 1.0, within=1e-6)
    play.between("way of the disc", np.abs(exact.positions[0] - scene.bodies[0].position).max(), lower=0.1, unit="m")


@sample("exudyn/rotors/steady_precession", title="rigidBodyIMUtest, a top", source=SOURCE)
def steady_precession(play):
    """A leaning top with the right rate goes round without nodding: I1 p² cos a - I3 w p + m g l = 0."""
    scene, m, length, i1, i3, spin, angle = mc.Scene(), 1.0, 0.2, 0.01, 0.004, 200.0, 0.5
    over = i1 + m * length**2
    a = (over - i3) * np.cos(angle)  # with the spin counted beside the precession: a p² - i3 s p + m g l = 0
    rate = (i3 * spin - np.sqrt((i3 * spin) ** 2 - 4 * a * m * G * length)) / (2 * a)
    tip = np.array([np.sin(angle), 0, np.cos(angle)])
    spins = spin * tip + rate * np.array([0, 0, 1.0])
    scene.add_body(
        "top", mass=m, inertia=(i1, i1, i3), position=length * tip, orientation=along(tip), angular_velocity=spins
    )
    scene.add_joint(mc.BallJoint(None, "top", (0, 0, 0)))
    world = mc.World(scene, dt=1 / 1000)
    world.set_velocity("top", np.cross(spins, length * tip), spins)
    times, states = watched(play, world, 5.0, lambda: [lean(world, "top"), *world.positions[0]])
    play.expect("lean", states[:, 0], angle, within=1e-3, unit="rad")
    play.expect("rate of precession", 2 * np.pi / period(times, states[:, 2]), rate, within=2e-3 * rate, unit="rad/s")


@sample("exudyn/rotors/tippe_top", title="tippeTop", source=SOURCE)
def tippe_top(play):
    """A ball with its mass low, spun fast, turns over and keeps Jellett's constant on the way."""
    world = mc.World(mc.scenes.tippe_top(), dt=1 / 480)
    top = next(body for body in world.bodies if body.kind == "dynamic")

    def jellett():
        foot = np.array([top.frame[0][0], top.frame[0][1], 0.0]) - top.position
        turn = mc.rotation.matrix(top.orientation)
        return float(turn @ top.inertia @ turn.T @ top.angular_velocity @ foot)

    start = jellett()
    play(world, 8.0)
    play.expect("Jellett's constant over that of the start", jellett() / start, 1.0, within=0.001)
    play.between("lean", lean(world, top.name), lower=2.9, unit="rad")


@sample("exudyn/rotors/bicycle", title="bicycleIftommBenchmark", source=SOURCE, camera="side")
def bicycle(play):
    """Whipple's bicycle at 5 m/s, nudged, rights itself: weave at -0.775 ± 4.465 i 1/s, as Meijaard and others found."""
    scene, tilt = mc.Scene(), np.array([-np.sin(np.pi / 10), 0, np.cos(np.pi / 10)])
    frame = [[9.2, 0, -2.4], [0, 11, 0], [-2.4, 0, 2.8]]
    fork = [[0.05892, 0, 0.00756], [0, 0.06, 0], [0.00756, 0, 0.00708]]
    go = {"velocity": (5.0, 0, 0)}
    scene.add_body("frame", mass=85.0, inertia=frame, position=(0.3, 0, 0.9), **go)
    scene.add_body("fork", mass=4.0, inertia=fork, position=(0.9, 0, 0.7), **go)
    for name, x, r, m, ixx, iyy in (("rear", 0.0, 0.3, 2.0, 0.0603, 0.12), ("front", 1.02, 0.35, 3.0, 0.1405, 0.28)):
        rolls = {"angular_velocity": (0, 5.0 / r, 0), **go}
        scene.add_body(name, mass=m, inertia=(ixx, iyy, ixx), position=(x, 0, r), **rolls)
        scene.add_joint(mc.HingeJoint(("frame", "fork")[x > 0], name, (x, 0, r), Y))
        scene.add_joint(mc.RollingJoint(None, name, r, axis=Y))
    scene.add_joint(mc.HingeJoint("frame", "fork", (1.1, 0, 0), tilt, name="steer"))
    world = mc.World(scene, dt=1 / 480)
    world.set_velocity("frame", (5.0, 0.09, 0), (-0.1, 0, 0))
    play(world, 0.7)
    times, roll = watched(play, world, 2.0, lambda: world.body("frame").angular_velocity[0])
    modes = [np.exp((-0.7753 + 4.4649j) * times).real, np.exp((-0.7753 + 4.4649j) * times).imag, np.exp(-0.3229 * times)]
    fitted = np.transpose(modes) @ np.linalg.lstsq(np.transpose(modes), roll, rcond=None)[0]
    play.expect("roll rate that the modes leave", (roll - fitted) / np.abs(roll).max(), 0.0, within=0.02)
    play.expect("way", world.body("frame").position[0] - 0.3, 13.5, within=0.05, unit="m")
