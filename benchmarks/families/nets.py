"""Nets, rings and linkages: closed loops, redundant rows, singular poses."""

import math

import numpy as np

import mcsim as mc
from families.family import (
    GAP,
    LOSS,
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
)

GAIN = Error("", 1e-4, "energy above the start's")


# ---- nets ------------------------------------------------------------------------------------------------------------


def net_scene(n, m, pins, slack):
    """n by m balls, 1 m apart, ball joints half-way between neighbours; held at 1, 2, 3 or 4 corners. slack: by how
    much the rows are curved, as a part of their length (a flat net held at four corners cannot move at all)."""
    scene = mc.Scene()
    wave = [slack * n * math.cos(2 * math.pi * i / max(1, n - 1)) / 4 for i in range(n)]
    for i in range(n):
        for j in range(m):
            scene.add_body(f"b{i}_{j}", shape=mc.Sphere(0.4), mass=1.0, position=(i, j, wave[i]), collision_mask=0)
            if i:
                scene.add_joint(mc.BallJoint(f"b{i - 1}_{j}", f"b{i}_{j}", (i - 0.5, j, (wave[i] + wave[i - 1]) / 2)))
            if j:
                scene.add_joint(mc.BallJoint(f"b{i}_{j - 1}", f"b{i}_{j}", (i, j - 0.5, wave[i])))
    for i, j in ((0, 0), (n - 1, m - 1), (0, m - 1), (n - 1, 0))[:pins]:
        scene.add_joint(mc.BallJoint(None, f"b{i}_{j}", (i, j, wave[i])))
    return scene


def run_net(n, m, pins, slack, steps, rate, substeps):
    world = stepped(net_scene(n, m, pins, slack), rate, substeps)
    watch = Watch(world)
    start = world.positions[:, 2].copy()
    watch.run(steps)
    taut = pins == 4 and slack == 0.0
    return {**watch.found(), "sag": float(np.abs(world.positions[:, 2] - start).max()) if taut else 0.0}


NET = Family(
    "net",
    "Nets held at their corners",
    "Joints stay closed, energy is not gained; a flat net held at four corners cannot sag to first order.",
    run_net,
    {
        "n": WholeLog(2, 30),
        "m": WholeLog(2, 30),
        "pins": Choice(1, 2, 3, 4),
        "slack": Choice(0.0, 0.05, 0.2),
        "steps": Whole(10, 60),
        "rate": WholeLog(30, 240),
        "substeps": WholeLog(1, 16),
    },
    {
        "gap": Error("m", 1e-3, "widest gap of a joint"),
        "gain": GAIN,
        "sag": Error("m", 0.02, "sag of a flat net held at four corners"),
    },
    quick={"n": WholeLog(2, 7), "m": WholeLog(2, 7), "steps": Whole(10, 30)},
    examples=8,
)


# ---- rings -----------------------------------------------------------------------------------------------------------


def ring_scene(count, joint, hold):
    """Balls of 2 kg on a circle, 0.12 m apart, a joint half-way between neighbours (hinges along y: three rows are
    redundant)."""
    scene = mc.Scene()
    radius = 0.12 / (2 * math.sin(math.pi / count))
    at = [
        np.array([radius * math.cos(2 * math.pi * k / count), 0, radius * math.sin(2 * math.pi * k / count)])
        for k in range(count)
    ]
    for k in range(count):
        scene.add_body(f"link{k}", shape=mc.Sphere(0.05), mass=2.0, position=at[k], collision_group=2, collision_mask=1)
    for k in range(count):
        anchor, before = (at[k] + at[k - 1]) / 2, f"link{(k - 1) % count}"
        scene.add_joint(
            mc.HingeJoint(before, f"link{k}", anchor, (0, 1, 0))
            if joint == "hinge"
            else mc.BallJoint(before, f"link{k}", anchor)
        )
    if hold == "pinned":
        scene.add_joint(mc.HingeJoint(None, "link0", at[0], (0, 1, 0)))
    return scene, radius


def run_ring(count, joint, hold, per_turn, steps, rate, substeps):
    """Thrown: without gravity, and one link is pushed. per_turn: substeps in a turn."""
    spin = 2 * math.pi * rate * substeps / per_turn
    scene, radius = ring_scene(count, joint, hold)
    if hold == "thrown":
        scene.gravity = (0, 0, 0)
    world = stepped(scene, rate, substeps)
    if hold == "thrown":
        rng = np.random.default_rng(count)
        omega = np.array([0, spin, 0])
        world.velocities[:] = np.cross(omega, world.positions)
        world.angular_velocities[:] = omega
        world.apply_impulse("link0", rng.normal(size=3) * (1, joint == "ball", 1) * spin * radius)
        world.step()  # the push breaks the joints' rates; what mends them takes energy
    watch = Watch(world, scale=max(world.energy().kinetic, 2.0 * count * G * radius))
    return watch.run(steps)


RING = Family(
    "ring",
    "Closed chains of hinges or ball joints, hung or thrown",
    "Joints stay closed and energy is conserved.",
    run_ring,
    {
        "count": WholeLog(3, 80),
        "joint": Choice("hinge", "ball"),
        "hold": Choice("pinned", "thrown"),
        "per_turn": Log(30, 3000),
        "steps": WholeLog(30, 600),
        "rate": RATE,
        "substeps": WholeLog(1, 16),
    },
    {"gap": GAP, "gain": GAIN, "loss": LOSS},
    domain={"per_turn": Log(60, 3000), "rate": WholeLog(60, 1000), "substeps": WholeLog(2, 16)},
    quick={"count": WholeLog(3, 16), "steps": WholeLog(60, 150), "rate": WholeLog(60, 150), "substeps": WholeLog(2, 10)},
    examples=8,
)


def run_dropped_ring(count, joint, height, friction, rate, substeps):
    scene, radius = ring_scene(count, joint, "free")
    scene.add_body(
        "floor", kind="static", shape=mc.Plane((0, 0, 1), -radius - 0.05 - height), material=mc.Material(friction=friction)
    )
    world = stepped(scene, rate, substeps)
    watch = Watch(world, scale=2.0 * count * G * (height + 2 * radius))
    return watch.run(rate)


DROPPED_RING = Family(
    "dropped_ring",
    "Closed chains that fall on a floor",
    "Restitution is zero: energy is not gained. Joints stay closed.",
    run_dropped_ring,
    {
        "count": WholeLog(6, 60),
        "joint": Choice("hinge", "ball"),
        "height": Log(0.01, 1),
        "friction": Choice(0.0, 0.6),
        "rate": WholeLog(30, 240),
        "substeps": WholeLog(1, 16),
    },
    {"gap": Error("m", 1e-3, "widest gap of a joint"), "gain": Error("", 0.01, "energy above the start's")},
    quick={"count": WholeLog(6, 14), "rate": WholeLog(60, 120), "substeps": WholeLog(2, 8)},
    examples=6,
)


# ---- four bars -------------------------------------------------------------------------------------------------------


def rocker_angle(lengths, angle):
    """Of a four-bar linkage from the crank's angle, the elbow above: two circles meet."""
    ground, crank, coupler, rocker = lengths
    to_pin = crank * np.array([math.cos(angle), math.sin(angle)]) - (ground, 0)
    d = np.linalg.norm(to_pin)
    inner = math.acos(min(1.0, max(-1.0, (d * d + rocker**2 - coupler**2) / (2 * d * rocker))))
    return math.atan2(to_pin[1], to_pin[0]) - inner


def four_bar_lengths(margin, crank, skew):
    """A crank and rocker: shortest + longest = the other two - margin (F. Grashof, 1883). margin 0: all bars come into
    one line, where the linkage has a second way to go."""
    coupler, rocker = 1.0 + skew, 1.0 - skew
    return coupler + rocker - crank - margin, crank, coupler, rocker


def run_four_bar(margin, crank, skew, per_turn, rate, substeps):
    """per_turn: substeps in a turn of the crank."""
    speed = 2 * math.pi * rate * substeps / per_turn
    lengths = four_bar_lengths(margin, crank, skew)
    ground, crank, _, rocker = lengths
    start, eps = 1.0, 1e-6
    here = rocker_angle(lengths, start)
    slope = (rocker_angle(lengths, start + eps) - here) / eps
    pin, pivot = crank * np.array([math.cos(start), 0, math.sin(start)]), np.array([ground, 0, 0])
    elbow = pivot + rocker * np.array([math.cos(here), 0, math.sin(here)])

    def turn(omega, arm):
        return np.cross((0, -omega, 0), arm)

    v_pin, v_elbow, arm = turn(speed, pin), turn(slope * speed, elbow - pivot), elbow - pin
    scene = mc.Scene()
    scene.add_body("crank", kind="kinematic", angular_velocity=(0, -speed, 0))
    for name, ends, velocity, omega in (
        (
            "coupler",
            (pin, elbow),
            (v_pin + v_elbow) / 2,
            float(np.cross((0, -1, 0), arm) @ (v_elbow - v_pin) / (arm @ arm)),
        ),
        ("rocker", (pivot, elbow), v_elbow / 2, slope * speed),
    ):
        length = np.linalg.norm(ends[1] - ends[0])
        scene.add_body(
            name,
            mass=1.0,
            inertia=(length**2 / 12,) * 3,
            position=(ends[0] + ends[1]) / 2,
            velocity=velocity,
            angular_velocity=(0, -omega, 0),
        )
    axis = (0, -1, 0)
    scene.add_joint(mc.HingeJoint("crank", "coupler", pin, axis))
    scene.add_joint(mc.HingeJoint("coupler", "rocker", elbow, axis))
    scene.add_joint(mc.HingeJoint(None, "rocker", pivot, axis, name="pivot"))
    world = stepped(scene, rate, substeps)
    off = gap = 0.0
    steps = min(1200, max(2, math.ceil(2 * 2 * math.pi / speed * rate)))
    for k in range(1, steps + 1):
        world.step()
        true = rocker_angle(lengths, start + speed * k / rate) - here
        error = world.joint("pivot").position - true
        off = max(off, abs(math.remainder(error, 2 * math.pi)))
        gap = max(gap, float(world.joint_errors()[:, 0].max()))
    return {"angle": off, "gap": gap}


FOUR_BAR = Family(
    "four_bar",
    "A crank that turns drives coupler and rocker",
    "The rocker's angle from the crank's by two circles that meet, over two turns, near and far from the pose in which "
    "all bars "
    "lie in one line.",
    run_four_bar,
    {
        "margin": Log(1e-4, 0.5),
        "crank": Uniform(0.1, 0.45),
        "skew": Uniform(-0.2, 0.2),
        "per_turn": Log(8, 3000),
        "rate": RATE,
        "substeps": SUBSTEPS,
    },
    {"angle": Error("rad", 1e-3, "largest error of the rocker's angle"), "gap": GAP},
    domain={"per_turn": Log(100, 3000), "margin": Log(1e-3, 0.5)},
)

FAMILIES = (NET, RING, DROPPED_RING, FOUR_BAR)
