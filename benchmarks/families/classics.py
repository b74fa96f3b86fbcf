"""Tops, rotors, the tippe top, the rattleback, the rolling disc, a free body that tumbles, a slinky released."""

import math

import numpy as np

import mcsim as mc
from families.family import (
    RATE,
    SUBSTEPS,
    Choice,
    Error,
    Family,
    G,
    Log,
    Uniform,
    Watch,
    Whole,
    WholeLog,
    stepped,
    turned,
    upright,
)
from families.rattleback import RATTLEBACK

# ---- tops ------------------------------------------------------------------------------------------------------------


def run_top(per_turn, spin_factor, tilt, flat, rate, substeps):
    """A symmetric top on its tip, in the slower of its two steady precessions: A W^2 cos(tilt) - C n W + m g l = 0 (H.
    Goldstein, "Classical Mechanics", 5.7), A across at the tip, n the spin about its own axis in all. per_turn:
    substeps in a turn of the spin; spin_factor: spin by the least at which it can precess steadily. The length
    follows."""
    height, mass = 1.0, 1.0
    across, along = 0.1 + mass * height**2, 0.1 * (1 + flat)
    spin = 2 * math.pi * rate * substeps / per_turn
    # The least spin is 2 sqrt(A m g l cos) / C: gravity is chosen such that spin is spin_factor times that.
    gravity = (along * spin / (2 * spin_factor)) ** 2 / (across * mass * height * math.cos(tilt))
    root = math.sqrt((along * spin) ** 2 - 4 * across * math.cos(tilt) * mass * gravity * height)
    precession = 2 * mass * gravity * height / (along * spin + root)
    axis = np.array([math.sin(tilt), 0, math.cos(tilt)])
    omega = precession * np.array([0, 0, 1.0]) + (spin - precession * math.cos(tilt)) * axis
    scene = mc.Scene(gravity=(0, 0, -gravity))
    scene.add_body(
        "top",
        mass=mass,
        inertia=(0.1, 0.1, along),
        position=height * axis,
        angular_velocity=omega,
        velocity=np.cross(omega, height * axis),
        orientation=turned((0, 1, 0), tilt),
    )
    scene.add_joint(mc.BallJoint(None, "top", (0, 0, 0)))
    world = stepped(scene, rate, substeps)
    watch = Watch(world, scale=mass * gravity * height)
    off = 0.0
    steps = max(2, min(1500, math.ceil(2 * math.pi / precession * rate)))
    for k in range(1, steps + 1):
        watch.step()
        angle = precession * k / rate
        true = height * np.array([math.sin(tilt) * math.cos(angle), math.sin(tilt) * math.sin(angle), math.cos(tilt)])
        off = max(off, float(np.linalg.norm(world.positions[0] - true)))
    return {**watch.found(), "path": off}


TOP = Family(
    "top",
    "A heavy top that precesses steadily",
    "The steady precession in closed form, over one turn of it; lengths by the distance from tip to centre of mass.",
    run_top,
    {
        "per_turn": Log(6, 1000),
        "spin_factor": Log(1.05, 20),
        "tilt": Uniform(0.05, 1.3),
        "flat": Uniform(-0.8, 0.9),
        "rate": RATE,
        "substeps": SUBSTEPS,
    },
    {
        "path": Error("", 0.05, "distance of the centre of mass from its circle's point"),
        "gap": Error("", 1e-6, "widest gap of the joint"),
        "gain": Error("", 1e-3, "energy above the start's, by m g l"),
        "loss": Error("", 1e-3, "energy lost, by m g l"),
    },
    domain={"per_turn": Log(60, 1000), "spin_factor": Log(1.2, 20)},
)


def run_rotor(per_turn, flat, offset, mount, turns, rate, substeps):
    """A disc or a rod on a ball joint or hinge, off its centre by `offset` of its size, no gravity."""
    spin = 2 * math.pi * rate * substeps / per_turn
    inertia = np.array([1.0, 1.0, 1.0 + flat])
    scene = mc.Scene(gravity=(0, 0, 0))
    tilt = 0.3 if mount == "ball" else 0.0
    omega = spin * np.array([math.sin(tilt), 0, math.cos(tilt)])
    arm = np.array([0, 0, offset])
    scene.add_body("rotor", mass=1.0, inertia=inertia, position=arm, velocity=np.cross(omega, arm), angular_velocity=omega)
    if mount == "ball":
        scene.add_joint(mc.BallJoint(None, "rotor", (0, 0, 0)))
    elif mount == "hinge":
        scene.add_joint(mc.HingeJoint(None, "rotor", (0, 0, 0), (0, 0, 1)))
    else:
        scene.add_body("frame", mass=2.0, inertia=(1.0, 1.0, 1.0), position=(0, 0, -0.5))
        scene.add_joint(mc.HingeJoint("frame", "rotor", (0, 0, 0), (0, 0, 1)))
        omega = spin * np.array([0, 0, 1.0])
    world = stepped(scene, rate, substeps)
    watch = Watch(world, scale=world.energy().total)
    return watch.run(max(2, min(1500, math.ceil(turns * per_turn / substeps))))


ROTOR = Family(
    "rotor",
    "Rotors on joints, without gravity",
    "Energy is conserved.",
    run_rotor,
    {
        "per_turn": Log(2.5, 1000),
        "flat": Uniform(-0.9, 0.9),
        "offset": Choice(0.0, 0.3, 2.0),
        "mount": Choice("ball", "hinge", "frame"),
        "turns": Whole(10, 100),
        "rate": RATE,
        "substeps": SUBSTEPS,
    },
    {
        "gap": Error("m", 1e-6, "widest gap of the joint"),
        "gain": Error("", 1e-4, "energy above the start's"),
        "loss": Error("", 0.01, "energy lost"),
    },
    domain={"per_turn": Log(30, 1000)},
)


def run_tumbling(per_turn, middle, long, tilt, rate, substeps):
    """A free body spun near one of its axes, without gravity, against Euler's equations."""
    spin = 2 * math.pi * rate * substeps / per_turn
    scene = mc.Scene(gravity=(0, 0, 0))
    inertia = (1.0, 1.0 + middle * long, 1.0 + long)  # moments of a body if 1 + long <= 2 + middle long
    omega = spin * np.array([math.sin(tilt), math.cos(tilt), 0.1])
    scene.add_body("body", mass=1.0, inertia=inertia, angular_velocity=omega)
    world = stepped(scene, rate, substeps)
    true = mc.ReducedWorld(scene, dt=1.0 / rate, integrator="reference")
    start, momentum, off, gain, turn = world.energy().total, world.momentum()[1], 0.0, 0.0, 0.0
    for _ in range(max(2, min(600, math.ceil(2 * per_turn / substeps)))):
        world.step()
        true.step()
        same = min(1.0, abs(float(world.orientations[0] @ true.orientations[0])))
        turn = max(turn, 2 * math.acos(same))
        gain = max(gain, abs(world.energy().total / start - 1))
        off = max(off, float(np.linalg.norm(world.momentum()[1] - momentum) / np.linalg.norm(momentum)))
    return {"turn": turn, "energy": gain, "momentum": off}


TUMBLING = Family(
    "tumbling",
    "A free body that tumbles",
    'Euler\'s equations, by ReducedWorld(integrator="reference"), over two turns; energy and angular momentum.',
    run_tumbling,
    {
        "per_turn": Log(4, 3000),
        "middle": Uniform(0.1, 0.9),
        "long": Uniform(0.05, 1),
        "tilt": Uniform(0, 1.57),
        "rate": RATE,
        "substeps": SUBSTEPS,
    },
    {
        "turn": Error("rad", 0.05, "angle from the true orientation"),
        "energy": Error("", 1e-3, "change of energy"),
        "momentum": Error("", 1e-10, "change of the angular momentum"),
    },
    domain={"per_turn": Log(200, 3000)},
    quick={"per_turn": Log(200, 800), "substeps": Whole(2, 32)},
)


# ---- on a plane ------------------------------------------------------------------------------------------------------


def run_tippe_top(radius, low, spin, tilt, friction, flat, rate, substeps):
    """A ball whose centre of mass is off its middle by `low` of its radius spins and slides. spin: by the root of
    g/r."""
    scene = mc.Scene()
    material = mc.Material(friction=friction)
    scene.add_body("floor", kind="static", shape=mc.Plane((0, 0, 1)), material=material)
    omega = spin * math.sqrt(G / radius)
    inertia = 0.4 * radius**2 * np.array([1.0, 1.0, 1.0 + flat])
    turn = turned((0, 1, 0), tilt)
    axis = np.array([math.sin(tilt), 0, math.cos(tilt)])
    scene.add_body(
        "top",
        shape=mc.Sphere(radius),
        mass=1.0,
        inertia=inertia,
        center_of_mass=(0, 0, -low * radius),
        position=(0, 0, radius),
        orientation=turn,
        angular_velocity=omega * axis,
        material=material,
    )
    world = stepped(scene, rate, substeps)

    def jellett():
        w, x, y, z = world.orientations[1]
        axes = np.array(
            [
                [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
                [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
                [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
            ]
        )
        momentum = axes @ (inertia * (axes.T @ world.angular_velocities[1]))
        return float(momentum @ (low * radius * axes[:, 2] - (0, 0, radius)))  # centre of mass to the contact

    start, energy, gain, off = jellett(), world.energy().total, 0.0, 0.0
    for _ in range(rate):
        world.step()
        gain = max(gain, (world.energy().total - energy) / (G * radius))
        off = max(off, abs(jellett() / start - 1))
    return {"jellett": off, "gain": gain}


TIPPE_TOP = Family(
    "tippe_top",
    "The tippe top",
    "Jellett's integral, angular momentum along the arm from centre of mass to contact, is constant whatever friction "
    "does (J. "
    'Jellett, "A treatise on the theory of friction", 1872); energy is not gained.',
    run_tippe_top,
    {
        "radius": Log(0.01, 1),
        "low": Uniform(0.05, 0.4),
        "spin": Log(2, 50),
        "tilt": Uniform(0.05, 1),
        "friction": Log(0.05, 1),
        "flat": Uniform(-0.3, 0.3),
        "rate": WholeLog(60, 1000),
        "substeps": SUBSTEPS,
    },
    {
        "jellett": Error("", 1e-9, "change of Jellett's integral in 1 s"),
        "gain": Error("", 1e-3, "energy above the start's, by m g r"),
    },
)


def run_disc(radius, tilt, thin, friction, turns, rate, substeps):
    """A disc rolls on its rim round a centre of mass that stands still: Euler's disc without loss. tilt: of its axis.

    Velocity of the contact 0 and of the centre 0, so w is along the arm r to the contact; W z x L = r x m g z gives
    W^2 = m g (R cos a - t sin a) / (sin a (A cos a - C (t/R) sin a)), t half the thickness (thin: W^2 = 4 g / (R sin
    a), H. Moffatt, Nature 404, 2000).
    """
    half = thin * radius
    across, along = 0.25 * radius**2 + half**2 / 3, 0.5 * radius**2
    s, c = math.sin(tilt), math.cos(tilt)
    rate_of_turn = math.sqrt(G * (radius * c - half * s) / (s * (across * c - along * thin * s)))
    e1, e3 = np.array([c, 0, -s]), np.array([s, 0, c])
    arm = radius * e1 - half * e3
    omega = -rate_of_turn * s / radius * arm
    scene = mc.Scene()
    material = mc.Material(friction=friction)
    scene.add_body("floor", kind="static", shape=mc.Plane((0, 0, 1)), material=material)
    scene.add_body(
        "disc",
        shape=mc.Cylinder(radius, half),
        mass=1.0,
        position=(0, 0, -arm[2]),
        orientation=turned((0, 1, 0), tilt),
        angular_velocity=omega,
        material=material,
    )
    world = stepped(scene, rate, substeps)
    start, gain, off = world.energy().total, 0.0, 0.0
    for _ in range(1, max(2, min(1500, math.ceil(turns * 2 * math.pi / rate_of_turn * rate))) + 1):
        world.step()
        gain = max(gain, (world.energy().total - start) / (G * radius))
        off = max(off, abs(math.acos(min(1.0, upright(world, 1)[2])) - tilt))
    return {"tilt": off, "gain": gain, "loss": (start - world.energy().total) / (G * radius)}


DISC = Family(
    "disc",
    "Euler's disc",
    "Steady rolling round a centre of mass at rest, in closed form; rolling without slip loses nothing.",
    run_disc,
    {
        "radius": Log(0.02, 1),
        "tilt": Uniform(0.1, 1.2),
        "thin": Log(0.005, 0.2),
        "friction": Uniform(0.5, 2),
        "turns": Whole(1, 5),
        "rate": RATE,
        "substeps": SUBSTEPS,
    },
    {
        "tilt": Error("rad", 0.05, "change of the tilt"),
        "gain": Error("", 1e-3, "energy above the start's, by m g r"),
        "loss": Error("", 0.05, "energy lost, by m g r"),
    },
    domain={"rate": WholeLog(60, 1000), "substeps": WholeLog(2, 32)},
)


# ---- springs and chains released -------------------------------------------------------------------------------------


def run_slinky(links, stretch, period, damping, rate, substeps):
    """Balls on springs, hung, at rest, released: stretch: of the uppermost spring by its length at rest; period: of one
    ball on one spring, in steps."""
    mass, rest = 0.1, 0.1
    frequency = 2 * math.pi * rate / period
    stiffness = mass * frequency**2
    gravity = stretch * rest * stiffness / (links * mass)
    scene = mc.Scene(gravity=(0, 0, -gravity))
    before = z = 0.0
    for k in range(links + 1):
        scene.add_body(f"b{k}", mass=mass, inertia=(1e-4,) * 3, position=(0, 0, z))
        if k:
            # Below this spring hang links + 1 - k balls.
            scene.add_joint(
                mc.DistanceJoint(
                    f"b{k - 1}",
                    f"b{k}",
                    anchor_a=(0, 0, before),
                    anchor_b=(0, 0, z),
                    length=rest,
                    spring=mc.Spring(stiffness, damping * 2 * mass * frequency),
                )
            )
        before = z
        z -= rest + stretch * rest * (links - k) / links
    world = stepped(scene, rate, substeps)
    low, center, span = world.positions[-1, 2], world.positions[:, 2].mean(), -z
    watch = Watch(world, scale=mass * gravity * span * (links + 1))
    held = 0.0
    steps = max(4, math.ceil(links * period / 16))
    for k in range(1, steps + 1):
        watch.step()
        if k <= steps // 4:  # the wave of release has not come down yet
            held = max(held, abs(world.positions[-1, 2] - low) / span)
    true = center - gravity * (steps / rate) ** 2 / 2
    fall = center - true
    return {"center": abs(world.positions[:, 2].mean() - true) / fall, "bottom": held, "gain": watch.gain}


SLINKY = Family(
    "slinky",
    "A slinky of balls and springs that is released",
    "The centre of mass falls freely, the bottom stays until the wave of release comes down; energy is not gained.",
    run_slinky,
    {
        "links": Whole(4, 40),
        "stretch": Log(0.1, 10),
        "period": Log(8, 1000),
        "damping": Uniform(0, 0.5),
        "rate": RATE,
        "substeps": SUBSTEPS,
    },
    {
        "center": Error("", 0.01, "error of the fall of the centre of mass"),
        "bottom": Error("", 0.01, "way of the bottom, by the length"),
        "gain": Error("", 1e-3, "energy above the start's"),
    },
    domain={"period": Log(100, 1000), "substeps": Whole(4, 32)},
)

FAMILIES = (TOP, ROTOR, TUMBLING, TIPPE_TOP, RATTLEBACK, DISC, SLINKY)
