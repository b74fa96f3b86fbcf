"""Chains, trees, and what acts in joints: energy, the pendulum in closed form, trees against generalized coordinates,
springs, motors, friction and limits in closed form."""

import math

import numpy as np
from scipy.integrate import quad
from scipy.special import ellipj, ellipk

import mcsim as mc
from families.family import (
    GAIN,
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
    turned,
)

PITCH = 0.5


# ---- chains: energy and closed joints --------------------------------------------------------------------------------


def joint_of(kind, a, b, anchor, axis=(0, 1, 0)):
    """A joint through which a chain can swing in the plane."""
    if kind == "ball":
        return mc.BallJoint(a, b, anchor)
    if kind == "universal":
        return mc.UniversalJoint(a, b, anchor, axis_a=(0, 1, 0), axis_b=(0, 0, 1))
    return mc.HingeJoint(a, b, anchor, axis)


def chain_scene(links, ratio, compact, angle, joint, free):
    """Rods of 1 kg and 0.5 m and a ball of `ratio` kg at their end, at an angle below the level. `compact`: inertia as
    a part of that of a capsule of radius 0.1 m, and of the ball's."""
    scene = mc.Scene()
    along = np.array([math.cos(angle), 0.0, -math.sin(angle)])
    orientation = turned((0, 1, 0), angle)
    previous = None
    for k in range(links):
        scene.add_body(
            f"link{k}",
            mass=1.0,
            inertia=compact * np.array([0.004, 0.016, 0.016]),
            position=PITCH * (k + 0.5) * along,
            orientation=orientation,
        )
        if k or not free:
            scene.add_joint(joint_of(joint, previous, f"link{k}", PITCH * k * along))
        previous = f"link{k}"
    scene.add_body(
        "ball",
        mass=ratio,
        inertia=(0.1 * compact * ratio,) * 3,
        position=PITCH * (links + 1) * along,
        orientation=orientation,
    )
    scene.add_joint(joint_of(joint, previous, "ball", PITCH * links * along))
    return scene


# What is lost is lost a little at a time, by whips that come late: a third of the draws last for as long as is asked.
SECONDS = Choice(1, 5, 20)
# Rounding, also that of a free fall by 2 km.
GROWTH = Error("", 1e-8, "energy above the start's")


def run_chain(links, ratio, compact, angle, joint, hold, seconds, rate, substeps):
    world = stepped(chain_scene(links, ratio, compact, angle, joint, hold == "free"), rate, substeps)
    if hold == "free":
        world.set_velocity("link0", velocity=(0, 0, 0), angular_velocity=(0, 3.0, 0))
    watch = Watch(world)
    return watch.run(seconds * rate)


CHAIN = Family(
    "chain",
    "Chains of links with a ball at the end",
    "Joints stay closed and energy is conserved: nothing else acts than gravity. Energies in parts of what all weights "
    "would set "
    "free by falling from the chain's length.",
    run_chain,
    {
        "links": WholeLog(1, 100),
        "ratio": Log(1, 50_000),
        "compact": Log(1e-6, 1),
        "angle": Uniform(-1.5, 1.5),
        "joint": Choice("ball", "hinge", "universal"),
        "hold": Choice("anchored", "free"),
        "seconds": SECONDS,
        "rate": RATE,
        "substeps": SUBSTEPS,
    },
    {"gap": GAP, "gain": GROWTH, "loss": LOSS},
    domain={"links": WholeLog(1, 50), "rate": WholeLog(60, 1000)},
    quick={"links": WholeLog(1, 6), "rate": WholeLog(60, 120)},
)


# ---- one bob: the path in closed form --------------------------------------------------------------------------------


def pendulum_angle(start, frequency, time):
    """Angle from straight down of a pendulum released at `start`: sin(angle / 2) = k cd(frequency t | k^2), k = sin(start
    / 2) (F. W. J. Olver et al., NIST Handbook of Mathematical Functions, 22.19(i))."""
    k = math.sin(start / 2)
    _, cn, dn, _ = ellipj(frequency * np.asarray(time), k * k)
    return 2 * np.arcsin(k * cn / dn)


def run_bob(per_period, angle, compact, mass, rate, substeps):
    """An arm of such a length that a small swing takes `per_period` substeps."""
    frequency = 2 * math.pi * rate * substeps / per_period
    arm = G / (frequency**2 * (1 + compact))
    scene = mc.Scene()
    scene.add_body(
        "bob",
        mass=mass,
        inertia=(compact * mass * arm**2,) * 3,
        position=(arm * math.sin(angle), 0, -arm * math.cos(angle)),
    )
    scene.add_joint(mc.BallJoint(None, "bob", (0, 0, 0)))
    world = stepped(scene, rate, substeps)
    watch = Watch(world, scale=mass * G * arm)
    period = 4 * ellipk(math.sin(angle / 2) ** 2) / frequency
    count = max(1, min(2000, math.ceil(2 * period * rate)))
    off = 0.0
    for k in range(1, count + 1):
        watch.step()
        true = pendulum_angle(angle, frequency, k / rate)
        off = max(off, float(np.linalg.norm(world.positions[0] / arm - (np.sin(true), 0, -np.cos(true)))))
    return {**watch.found(), "gap": watch.gap / arm, "path": off}


BOB = Family(
    "bob",
    "A bob on an arm",
    "The pendulum's path by Jacobi's elliptic functions, over two swings to and fro; lengths in arms.",
    run_bob,
    {
        "per_period": Log(8, 3000),
        "angle": Uniform(0.05, 3.0),
        "compact": Log(1e-9, 1),
        "mass": Log(1e-3, 1e3),
        "rate": RATE,
        "substeps": SUBSTEPS,
    },
    {
        "path": Error("arms", 0.005, "distance from the true path"),
        "gap": Error("arms", 1e-6, "widest gap of the joint"),
        "gain": Error("", 1e-4, "energy above the start's, by m g arm"),
        "loss": Error("", 0.001, "energy lost at the end"),
    },
    domain={"per_period": Log(300, 3000), "angle": Uniform(0.05, 2.8)},
)


# ---- trees of all joints against generalized coordinates -------------------------------------------------------------

KINDS = ("ball", "hinge", "universal", "fixed", "slider", "cylindrical", "planar", "screw")


def unit(rng, n=3):
    v = rng.normal(size=n)
    return v / np.linalg.norm(v)


def random_joint(rng, kind, a, b, anchor):
    axis = unit(rng)
    across = np.cross(axis, rng.normal(size=3))
    across /= np.linalg.norm(across)
    if kind == "ball":
        return mc.BallJoint(a, b, anchor)
    if kind == "universal":
        return mc.UniversalJoint(a, b, anchor, axis, across)
    if kind == "slider":
        return mc.SliderJoint(a, b, axis=axis, anchor=anchor)
    if kind == "screw":
        return mc.ScrewJoint(a, b, anchor, axis, rng.choice([0.05, -0.2]))
    if kind == "fixed":
        return mc.FixedJoint(a, b, anchor)
    return {"hinge": mc.HingeJoint, "cylindrical": mc.CylindricalJoint, "planar": mc.PlanarJoint}[kind](a, b, anchor, axis)


def tree_scene(bodies, decades, kind, hold, seed):
    """Boxes of random sizes, masses over some decades, each on a joint to the world or to one before it."""
    rng = np.random.default_rng(seed)
    scene = mc.Scene()
    place = {None: np.zeros(3)}
    for k in range(bodies):
        name, mass, square = f"b{k}", 10 ** rng.uniform(0, decades), rng.uniform(0.1, 0.6, 3) ** 2
        earlier = list(place)[1 if k and hold == "free" else 0 :]
        place[name] = rng.uniform(-1, 1, 3)
        scene.add_body(
            name, mass=mass, inertia=mass / 3 * (square.sum() - square), position=place[name], orientation=unit(rng, 4)
        )
        if k or hold == "anchored":
            a = earlier[rng.integers(len(earlier))]
            which = KINDS[rng.integers(len(KINDS))] if kind == "mixed" else kind
            scene.add_joint(random_joint(rng, which, a, name, (place[a] + place[name]) / 2 + rng.uniform(-0.3, 0.3, 3)))
    return scene


def run_tree(bodies, decades, kind, hold, seed, rate, substeps):
    scene = tree_scene(bodies, decades, kind, hold, seed)
    steps = max(1, round(0.5 * rate))
    true = mc.ReducedWorld(scene, dt=1.0 / rate, integrator="reference")
    world = stepped(scene, rate, substeps)
    watch, off = Watch(world), 0.0
    for _ in range(steps):
        watch.step()
        true.step()
        off = max(off, float(np.abs(world.positions - true.positions).max()))
    return {**watch.found(), "path": off}


TREE = Family(
    "tree",
    "Trees of all kinds of joint",
    'The same scene in generalized coordinates, by ReducedWorld(integrator="reference"), and energy, over half a '
    "second of "
    "falling.",
    run_tree,
    {
        "bodies": Whole(1, 8),
        "decades": Uniform(0, 3),
        "kind": Choice("mixed", *KINDS),
        "hold": Choice("anchored", "free"),
        "seed": Whole(0, 9999),
        "rate": RATE,
        "substeps": SUBSTEPS,
    },
    {
        "path": Error("m", 0.005, "largest distance of a coordinate from the reference"),
        "gap": GAP,
        "gain": Error("", 1e-4, "energy above the start's"),
        "loss": LOSS,
    },
    domain={"substeps": Whole(4, 32), "rate": WholeLog(60, 1000)},
    quick={"rate": WholeLog(60, 240), "substeps": Whole(4, 8), "bodies": Whole(1, 5)},
)


# ---- trees of all joints for as long as is asked ---------------------------------------------------------------------


def run_lasting(bodies, decades, kind, hold, seed, seconds, rate, substeps):
    """Anchored under gravity; free trees turn as one body at first, without it."""
    scene = tree_scene(bodies, decades, kind, hold, seed)
    if hold == "free":
        scene.gravity = (0, 0, 0)
    world = stepped(scene, rate, substeps)
    if hold == "free":
        world.angular_velocities[:] = turn = 3.0 * unit(np.random.default_rng(seed))
        world.velocities[:] = np.cross(turn, world.positions)
    before, turned_by = world.momentum()
    fast, far = (world.masses @ np.linalg.norm(x, axis=1) for x in (world.velocities, world.positions))
    watch = Watch(world, scale=world.energy().total if hold == "free" else None)
    found = watch.run(seconds * rate)
    after, turned_to = world.momentum()
    moved = max(np.linalg.norm(after - before) / fast, np.linalg.norm(turned_to - turned_by) / (3.0 * far)) if fast else 0.0
    return {**found, "momentum": float(moved)}


LASTING = Family(
    "lasting",
    "Trees of all kinds of joint, for twenty seconds",
    "Joints stay closed and energy is conserved, and both momenta of free trees, which turn without gravity; in parts "
    "of what they have at first.",
    run_lasting,
    {
        "bodies": Whole(1, 8),
        "decades": Uniform(0, 3),
        "kind": Choice("mixed", *KINDS),
        "hold": Choice("anchored", "free"),
        "seed": Whole(0, 9999),
        "seconds": SECONDS,
        "rate": RATE,
        "substeps": SUBSTEPS,
    },
    # welded, it has no motion beside that with its momenta to give to
    {"gap": GAP, "gain": GAIN, "loss": LOSS, "momentum": Error("", 1e-9, "change of a free tree's momenta")},
    domain={"rate": WholeLog(60, 1000)},
    quick={"rate": WholeLog(60, 120), "bodies": Whole(1, 5)},
)


# ---- springs, motors, friction, limits -------------------------------------------------------------------------------


def driven_scene(kind, mass, start=0.0, speed=0.0, **drive):
    """One body of 1 kg m^2 per kg that a slider, hinge or rod leaves one way, at a coordinate `start` and its rate."""
    scene = mc.Scene(gravity=(0, 0, 0))
    if kind == "hinge":
        scene.add_body("body", mass=mass, inertia=(mass,) * 3, angular_velocity=(0, 0, speed))
        scene.add_joint(mc.HingeJoint(None, "body", (0, 0, 0), (0, 0, 1), name="joint", **drive))
    elif kind == "slider":
        scene.add_body("body", mass=mass, inertia=(mass,) * 3, velocity=(speed, 0, 0))
        scene.add_joint(mc.SliderJoint(None, "body", axis=(1, 0, 0), name="joint", **drive))
    else:
        scene.add_body("body", mass=mass, inertia=(mass,) * 3, position=(1.0 + start, 0, 0), velocity=(speed, 0, 0))
        scene.add_joint(
            mc.DistanceJoint(
                None, "body", anchor_a=(0, 0, 0), anchor_b=(1.0 + start, 0, 0), length=1.0, name="joint", **drive
            )
        )
    return scene


def coordinate(world, kind):
    return world.positions[0, 0] - 1.0 if kind == "rod" else world.joint("joint").position


def run_spring(kind, per_period, damping, mass, rate, substeps):
    """From the rest position at such a speed that it would come 0.1 m or rad far; three periods."""
    frequency = 2 * math.pi * rate * substeps / per_period
    speed = 0.1 * frequency
    spring = mc.Spring(stiffness=mass * frequency**2, damping=2 * damping * mass * frequency)
    world = stepped(driven_scene(kind, mass, 0.0, speed, spring=spring), rate, substeps)
    off, steps = 0.0, max(1, min(3000, math.ceil(3 * per_period / substeps)))
    damped = frequency * math.sqrt(1 - damping**2)
    for k in range(1, steps + 1):
        world.step()
        t = k / rate
        true = speed / damped * math.exp(-damping * frequency * t) * math.sin(damped * t)
        off = max(off, abs(coordinate(world, kind) - true) / 0.1)
    return {"path": off}


SPRING = Family(
    "spring",
    "A mass on a spring",
    "x = v/w exp(-z w0 t) sin(w t), over three periods, in parts of the undamped amplitude.",
    run_spring,
    {
        "kind": Choice("slider", "hinge", "rod"),
        "per_period": Log(8, 3000),
        "damping": Uniform(0, 0.95),
        "mass": Log(1e-3, 1e3),
        "rate": RATE,
        "substeps": SUBSTEPS,
    },
    {"path": Error("", 0.01, "distance from the true motion")},
    domain={"per_period": Log(300, 3000)},
)


def run_speed_motor(kind, mass, strength, load, speed, rate, substeps):
    """A motor of force strength * mass turns against a load of load * strength * mass until its speed is reached."""
    force = strength * mass
    world = stepped(driven_scene(kind, mass, motor=mc.Motor(velocity=speed, max_force=force)), rate, substeps)
    acceleration = (1 - load) * strength
    steps = max(2, min(600, math.ceil(2 * speed / acceleration * rate)))
    off = 0.0
    for k in range(1, steps + 1):
        push = np.array([0.0, 0.0, -load * force] if kind == "hinge" else [-load * force, 0.0, 0.0])
        (world.apply_torque if kind == "hinge" else world.apply_force)("body", push)
        world.step()
        rates = world.angular_velocities[0, 2] if kind == "hinge" else world.velocities[0, 0]
        off = max(off, abs(rates - min(speed, acceleration * k / rate)) / speed)
    return {"speed": off}


SPEED_MOTOR = Family(
    "speed_motor",
    "A motor that comes to its speed",
    "Speed grows at (force - load)/m until it is reached, and stays.",
    run_speed_motor,
    {
        "kind": Choice("slider", "hinge"),
        "mass": Log(1e-3, 1e3),
        "strength": Log(0.1, 1e3),
        "load": Uniform(0, 0.9),
        "speed": Log(0.01, 100),
        "rate": RATE,
        "substeps": SUBSTEPS,
    },
    {"speed": Error("", 1e-6, "largest error of the speed at the end of a step, by the speed wanted")},
)


def run_position_motor(links, ratio, hertz, coordinates, rate):
    """Horizontal links of 0.5 m, hinged one after the other, a weight in the last; each motor is to hold zero."""
    scene = mc.Scene()
    previous = None
    for k in range(links):
        mass = ratio if k == links - 1 else 1.0
        scene.add_body(f"link{k}", mass=mass, inertia=(0.02 * mass,) * 3, position=(PITCH * (k + 0.5), 0, 0))
        scene.add_joint(
            mc.HingeJoint(
                previous,
                f"link{k}",
                (PITCH * k, 0, 0),
                (0, 1, 0),
                motor=mc.Motor(position=0.0, max_force=1e6 * ratio, hertz=hertz),
            )
        )
        previous = f"link{k}"
    if coordinates == "reduced":
        world = mc.ReducedWorld(scene, dt=1.0 / rate, substeps=4, sleep=False)
    else:
        world = stepped(scene, rate, 4)
    world.step(2 * rate)
    return {"droop": max(abs(world.joint(name).position) for name in world.joint_names) * 180 / math.pi}


POSITION_MOTOR = Family(
    "position_motor",
    "Arms that position motors hold level",
    "Nothing moves: the motors' greatest force is far above the load.",
    run_position_motor,
    {
        "links": Whole(1, 8),
        "ratio": Log(1, 100),
        "hertz": Log(2, 100),
        "coordinates": Choice("maximal", "reduced"),
        "rate": WholeLog(30, 240),
    },
    {"droop": Error("degrees", 0.1, "largest angle of a joint after 2 s")},
)


def run_joint_friction(kind, mass, strength, speed, rate, substeps):
    """Slides until it rests: after v/a s, v^2/2a far."""
    world = stepped(driven_scene(kind, mass, speed=speed, friction=strength * mass), rate, substeps)
    steps = min(1200, math.ceil(1.2 * speed / strength * rate) + 2)
    off, way = 0.0, speed**2 / (2 * strength)
    for k in range(1, steps + 1):
        world.step()
        rates = world.angular_velocities[0, 2] if kind == "hinge" else world.velocities[0, 0]
        off = max(off, abs(rates - max(0.0, speed - strength * k / rate)) / speed)
    t = min(steps / rate, speed / strength)
    # A step of the speed is a step of the way: the substep in which it stops, and the semi-implicit h a t / 2.
    return {
        "speed": off,
        "way": max(
            0.0,
            abs(coordinate(world, kind) - (speed * t - strength * t * t / 2)) / way
            - 2 * strength / (speed * rate * substeps),
        ),
    }


JOINT_FRICTION = Family(
    "joint_friction",
    "A joint with friction comes to rest",
    "Speed falls at F/m to zero and stays there; the way is v^2 m/2F, but for one substep at the beginning and the end.",
    run_joint_friction,
    {
        "kind": Choice("slider", "hinge"),
        "mass": Log(1e-3, 1e3),
        "strength": Log(0.1, 100),
        "speed": Log(0.05, 30),
        "rate": RATE,
        "substeps": SUBSTEPS,
    },
    {
        "speed": Error("", 1e-6, "largest error of the speed, by the first"),
        "way": Error("", 1e-3, "error of the way to rest, beyond one substep's"),
    },
)


def run_limit(ratio, reach, span, compact, rate, substeps):
    """A light arm with a limit carries a weight by a hinge with a limit; released level, at rest after some seconds."""
    scene = mc.Scene()
    scene.add_body("arm", mass=1.0, inertia=(0.1 * compact,) * 3, position=(0.5, 0, 0))
    scene.add_body("weight", mass=ratio, inertia=(0.01 * ratio * compact,) * 3, position=(1.0 + reach, 0, 0))
    scene.add_joint(mc.HingeJoint(None, "arm", (0, 0, 0), (0, 1, 0), limits=(-span, span), name="shoulder"))
    scene.add_joint(mc.HingeJoint("arm", "weight", (1, 0, 0), (0, 1, 0), limits=(-0.1, 0.1), name="wrist"))
    world = stepped(scene, rate, substeps)
    watch = Watch(world)
    watch.run(4 * rate)
    return {
        "gap": watch.gap,
        "gain": watch.gain,
        "speed": float(np.abs(world.velocities).max()),
        "off": max(abs(world.joint("shoulder").position - span), abs(world.joint("wrist").position - 0.1)),
    }


LIMIT = Family(
    "limit",
    "A light arm and a heavy weight on limits",
    "At rest on both limits, energy not above the start's.",
    run_limit,
    {
        "ratio": Log(0.01, 1e5),
        "reach": Log(0.02, 2),
        "span": Uniform(0.1, 1.2),
        "compact": Log(1e-3, 1),
        "rate": WholeLog(30, 480),
        "substeps": SUBSTEPS,
    },
    {
        "off": Error("rad", 0.02, "off its limits after 4 s"),
        "speed": Error("m/s", 0.05, "speed after 4 s"),
        "gap": GAP,
        "gain": Error("", 1e-3, "energy above the start's"),
    },
    domain={
        "ratio": Log(0.1, 1e5),
        "reach": Log(0.05, 2),
        "compact": Log(0.03, 1),
        "substeps": Whole(4, 32),
        "rate": WholeLog(60, 480),
    },
    quick={"rate": WholeLog(60, 120), "substeps": Whole(4, 12)},
)

# ---- a folded chain --------------------------------------------------------------------------------------------------


def run_folded(links, slim, joint, rate, substeps, per_fall):
    """A chain hangs in a narrow fold from both of its ends; one is released. links: of each strand, and one across. slim:
    inertia of a link by that of a rod. per_fall: steps in the fall."""
    count, length = 2 * links + 1, 2.0 * links
    gravity = 2 * 0.8 * length * (rate / per_fall) ** 2
    inertia = slim / 12 * np.array([0.01, 1.0, 1.0])
    down, across = turned((0, 1, 0), math.pi / 2), turned((0, 1, 0), 0.0)
    scene = mc.Scene(gravity=(0, 0, -gravity))
    ends = [
        np.array([0.0, 0.0, -min(k, links)]) if k <= links else np.array([1.0, 0.0, -float(count - k)])
        for k in range(count + 1)
    ]
    for k in range(count):
        scene.add_body(
            f"link{k}",
            mass=1.0,
            inertia=inertia,
            position=(ends[k] + ends[k + 1]) / 2,
            orientation=across if k == links else down,
        )
        scene.add_joint(joint_of(joint, f"link{k - 1}" if k else None, f"link{k}", ends[k]))
    world = stepped(scene, rate, substeps)
    watch = Watch(world, scale=count * gravity * length)
    # Of ideal chains all energy goes to the strand that falls: v^2 = g x (2 L - x) / (L - x).
    way = 0.8 * length
    fall = quad(
        lambda u: 2 * u * math.sqrt((length - u * u) / (gravity * u * u * (2 * length - u * u))), 0.0, math.sqrt(way)
    )[0]
    last = 0.0
    for k in range(1, 2 * per_fall):
        watch.step()
        x = -world.positions[-1, 2] - 0.5
        if x >= way:
            time = (k - (x - way) / (x - last)) / rate
            break
        last = x
    else:
        time = math.inf
    free = math.sqrt(2 * way / gravity)
    return {
        "time": abs(time / fall - 1),
        "free": max(0.0, time / free - 1),
        "gap": watch.gap,
        "gain": watch.gain,
        "loss": watch.found()["loss"],
    }


FOLDED = Family(
    "folded",
    "A folded chain that is released at one end",
    "It falls faster than freely, for the strand that hangs pulls it down: by the energy of an ideal chain "
    '(M. Calkin, R. March, "The dynamics of a falling chain", 1989).',
    run_folded,
    {
        "links": WholeLog(5, 50),
        "slim": Log(0.01, 1),
        "joint": Choice("ball", "hinge", "universal"),
        "rate": WholeLog(60, 1000),
        "substeps": WholeLog(1, 16),
        "per_fall": WholeLog(20, 400),
    },
    {
        "time": Error("", 0.03, "error of the time of the fall"),
        "free": Error("", 1e-3, "slower than a free fall, by that"),
        "gap": GAP,
        "gain": GAIN,
        "loss": LOSS,
    },
    quick={"links": WholeLog(5, 15), "per_fall": WholeLog(20, 60), "substeps": WholeLog(1, 6)},
    examples=4,
)

FAMILIES = (CHAIN, BOB, TREE, LASTING, SPRING, SPEED_MOTOR, POSITION_MOTOR, JOINT_FRICTION, LIMIT, FOLDED)
