"""Impacts with restitution: free bodies by Newton's law, jointed ones by the event-driven simulation."""

import math

import numpy as np

import mcsim as mc
from families.family import SUBSTEPS, Choice, Error, Family, G, Log, Uniform, Whole, WholeLog, stepped, turned

RATE = WholeLog(30, 480)
MOMENTUM = Error("", 1e-12, "change of momentum")


def bouncy(e, friction=0.0):
    return mc.Material(friction=friction, restitution=e)


# ---- two bodies on one line ------------------------------------------------------------------------------------------

BODIES = {
    "sphere": lambda r: mc.Sphere(r),
    "box": lambda r: mc.Box((r, r, r)),
    "capsule": lambda r: mc.Capsule(r, r, orientation=turned((0, 1, 0), math.pi / 2)),
    "cylinder": lambda r: mc.Cylinder(r, r, orientation=turned((0, 1, 0), math.pi / 2)),
}


def run_head_on(shape, other, ratio, restitution, speed, size, gap, rate, substeps):
    """A body of 1 kg meets a wall, or one of `ratio` kg at rest. gap: the first distance in steps."""
    scene = mc.Scene(gravity=(0, 0, 0))
    front = 2 * size if shape == "capsule" else size
    gap *= speed / rate
    if other == "wall":
        scene.add_body(
            "other",
            kind="static",
            shape=mc.Box((size, 10 * size, 10 * size)),
            position=(size, 0, 0),
            material=bouncy(restitution),
        )
    else:
        reach = 2 * size if other == "capsule" else size
        scene.add_body("other", shape=BODIES[other](size), mass=ratio, position=(reach, 0, 0), material=bouncy(restitution))
    scene.add_body(
        "body",
        shape=BODIES[shape](size),
        mass=1.0,
        position=(-front - gap, 0, 0),
        velocity=(speed, 0, 0),
        material=bouncy(restitution),
    )
    world = stepped(scene, rate, substeps)
    start = world.energy().total
    world.step(math.ceil(gap / speed * rate) + 4)
    away = world.velocities[0, 0] - world.velocities[1, 0]
    before = 0.0 if other == "wall" else abs(world.momentum()[0][0] / speed - 1)
    return {
        "speed": abs(away / speed - restitution),
        "momentum": before,
        "gain": max(0.0, world.energy().total / start - 1),
    }


HEAD_ON = Family(
    "head_on",
    "Bodies that meet head on",
    "Newton's law: they part at e times the speed at which they met; momentum is conserved.",
    run_head_on,
    {
        "shape": Choice(*BODIES),
        "other": Choice("wall", *BODIES),
        "ratio": Log(1e-3, 1e3),
        "restitution": Uniform(0, 1),
        "speed": Log(0.6, 100),
        "size": Log(0.02, 2),
        "gap": Uniform(0.05, 3),
        "rate": RATE,
        "substeps": SUBSTEPS,
    },
    {
        "speed": Error("", 1e-6, "error of the speed of parting, by that of meeting"),
        "momentum": MOMENTUM,
        "gain": Error("", 1e-9, "energy gained"),
    },
)


def run_oblique(offset, ratio, restitution, speed, way, friction, rate, substeps):
    """Two balls without gravity, one at rest; the other aims `offset` diameters beside its middle, and moves by `way`
    radii a step."""
    size = speed / (rate * way)
    scene = mc.Scene(gravity=(0, 0, 0))
    side = 2 * size * offset
    ahead = math.sqrt(max(0.0, 4 * size**2 - side**2))
    gap = 1.3 * speed / rate
    scene.add_body("other", shape=mc.Sphere(size), mass=ratio, material=bouncy(restitution, friction))
    scene.add_body(
        "ball",
        shape=mc.Sphere(size),
        mass=1.0,
        position=(-ahead - gap, side, 0),
        velocity=(speed, 0, 0),
        material=bouncy(restitution, friction),
    )
    world = stepped(scene, rate, substeps)
    momentum, start = world.momentum(), world.energy().total
    world.step(math.ceil(gap / speed * rate) + 4)
    normal = np.array([ahead, -side, 0]) / (2 * size)
    impulse = (1 + restitution) * speed * normal[0] / (1 + 1 / ratio)
    after = np.array([-impulse * normal + (speed, 0, 0), impulse / ratio * normal])
    change = [np.abs(now - then).max() for now, then in zip(world.momentum(), momentum)]
    return {
        "velocity": float(np.abs(world.velocities[[1, 0]] - after).max()) / speed if friction == 0.0 else 0.0,
        "momentum": max(change[0] / speed, change[1] / (speed * size)),
        "gain": max(0.0, world.energy().total / start - 1),
    }


OBLIQUE = Family(
    "oblique",
    "Two balls that meet obliquely, as on a billiard table",
    "Without friction: impulse (1 + e) v_n / (1/m + 1/M) along the line of centres at the touch. With friction: both "
    "momenta, and no "
    "energy from nothing.",
    run_oblique,
    {
        "offset": Uniform(0, 0.95),
        "ratio": Log(0.01, 100),
        "restitution": Uniform(0, 1),
        "speed": Log(2, 30),
        "way": Log(1e-3, 10),
        "friction": Choice(0.0, 0.2, 1.0),
        "rate": RATE,
        "substeps": SUBSTEPS,
    },
    {
        "velocity": Error("", 0.02, "error of a velocity, by the first speed"),
        "momentum": MOMENTUM,
        "gain": Error("", 1e-9, "energy gained"),
    },
    domain={"way": Log(1e-3, 0.1)},
)


def run_break(rows, restitution, speed, aside, friction, rate, substeps):
    """A cue ball into a rack of balls that touch; billiard balls of 28.6 mm without a table. Slow impacts bounce
    too."""
    scene = mc.Scene(gravity=(0, 0, 0))
    r = 0.0286
    for i in range(rows):
        for j in range(i + 1):
            scene.add_body(
                f"ball{i}_{j}",
                shape=mc.Sphere(r),
                mass=0.17,
                material=bouncy(restitution, friction),
                position=(i * math.sqrt(3) * r, (2 * j - i) * r, 0),
            )
    scene.add_body(
        "cue",
        shape=mc.Sphere(r),
        mass=0.17,
        position=(-0.2, aside * r, 0),
        velocity=(speed, 0, 0),
        material=bouncy(restitution, friction),
    )
    world = stepped(scene, rate, substeps, restitution_threshold=0.0)
    momentum, start, gain = world.momentum(), world.energy().total, 0.0
    for _ in range(math.ceil(0.2 / speed * rate) + rate // 4):
        world.step()
        gain = max(gain, world.energy().total / start - 1)
    change = [np.abs(now - then).max() for now, then in zip(world.momentum(), momentum)]
    kept = 1 - world.energy().total / start if restitution == 1.0 and friction == 0.0 else 0.0
    return {"momentum": max(change[0] / (0.17 * speed), change[1] / (0.17 * speed * 0.2)), "gain": gain, "loss": kept}


BREAK = Family(
    "break",
    "A billiard break",
    "Both momenta; energy is not gained, and none is lost where e = 1 without friction.",
    run_break,
    {
        "rows": Whole(1, 6),
        "restitution": Choice(0.5, 0.9, 1.0),
        "speed": Log(1, 15),
        "aside": Uniform(-0.9, 0.9),
        "friction": Choice(0.0, 0.1),
        "rate": RATE,
        "substeps": WholeLog(1, 16),
    },
    {"momentum": MOMENTUM, "gain": Error("", 1e-9, "energy gained"), "loss": Error("", 1e-3, "energy lost at e = 1")},
    quick={"rows": Whole(1, 4), "rate": WholeLog(60, 240), "substeps": WholeLog(1, 4)},
)


# ---- off the centre of mass, and with joints: against events ---------------------------------------------------------


def both(scene, rate, substeps, coordinates, time):
    """-> the world, and the same scene event-driven, a little after the impact at `time`."""
    if coordinates == "reduced":
        world = mc.ReducedWorld(scene, dt=1.0 / rate, substeps=substeps, sleep=False)
    else:
        world = stepped(scene, rate, substeps)
    events = mc.World(scene, dt=1.0 / rate, contact="event")
    steps = math.ceil(time * rate) + 1
    world.step(steps)
    events.step(steps)
    return world, events


def run_rod(lean, restitution, friction, speed, way, gap, coordinates, rate, substeps):
    """A free rod of 1 kg with a ball at its tip falls on a floor, leaning, by `way` of its length a substep; gap: the
    first distance in substeps."""
    scene = mc.Scene(gravity=(0, 0, 0))
    material = bouncy(restitution, friction)
    scene.add_body("floor", kind="static", shape=mc.Plane((0, 0, 1)), material=material)
    long = speed / (rate * substeps * way)
    ball, gap = 0.05 * long, gap * way * long
    tip = np.array([0, 0, -0.5 * long])
    turn = turned((0, 1, 0), lean)
    height = ball + gap + 0.5 * long * math.cos(lean)
    scene.add_body(
        "rod",
        shape=mc.Sphere(ball, position=tip),
        mass=1.0,
        inertia=(long**2 / 12,) * 3,
        center_of_mass=(0, 0, 0),
        position=(0, 0, height),
        orientation=turn,
        velocity=(0, 0, -speed),
        material=material,
    )
    start = 0.5 * speed**2
    world, events = both(scene, rate, substeps, coordinates, gap / speed)

    def leaving(w):
        arm = np.array([-0.5 * long * math.sin(lean), 0, -0.5 * long * math.cos(lean) - ball])
        return (w.velocities[1] + np.cross(w.angular_velocities[1], arm))[2]

    return {
        "leaving": abs(leaving(world) - leaving(events)) / speed,
        "energy": abs(world.energy().kinetic - events.energy().kinetic) / start,
    }


ROD = Family(
    "rod",
    "A free rod that falls on its tip",
    "The same under contact=\"event\": Newton's law at the point that touches, Coulomb's friction.",
    run_rod,
    {
        "lean": Uniform(0, 1.4),
        "restitution": Uniform(0, 1),
        "friction": Choice(0.0, 0.3, 1.0),
        "speed": Log(1, 30),
        "way": Log(1e-4, 0.3),
        "gap": Uniform(0.1, 2),
        "coordinates": Choice("maximal", "reduced"),
        "rate": RATE,
        "substeps": SUBSTEPS,
    },
    {
        "leaving": Error("", 0.01, "error of the speed at which the point leaves, by that at which it came"),
        "energy": Error("", 0.01, "difference of the energies after, by that before"),
    },
    domain={"way": Log(1e-4, 3e-3)},
)


def jointed_scene(kind, links, ratio, restitution, speed, size, gap):
    """Along x, level, links of a length `size`, moving down: "tied", balls on fixed joints in a row, which all strike
    the floor at once; "rod", a chain from a pivot that turns with its tip at `speed` and strikes the floor with a ball
    there."""
    scene = mc.Scene(gravity=(0, 0, 0))
    material = bouncy(restitution)
    ball = 0.2 * size
    scene.add_body("floor", kind="static", shape=mc.Plane((0, 0, 1), -ball - gap), material=material)
    previous = None
    for k in range(links):
        mass = ratio if k == links - 1 else 1.0
        if kind == "tied":
            scene.add_body(
                f"b{k}",
                shape=mc.Sphere(ball),
                mass=mass,
                position=(size * k, 0, 0),
                velocity=(0, 0, -speed),
                material=material,
            )
            if k:
                scene.add_joint(mc.FixedJoint(previous, f"b{k}"))
        else:
            rate, middle = speed / (size * links), size * (k + 0.5)
            last = {"shape": mc.Sphere(ball, position=(size / 2, 0, 0)), "material": material} if k == links - 1 else {}
            scene.add_body(
                f"b{k}",
                mass=mass,
                inertia=(mass * size**2 / 12,) * 3,
                center_of_mass=(0, 0, 0),
                **last,
                position=(middle, 0, 0),
                velocity=(0, 0, -rate * middle),
                angular_velocity=(0, rate, 0),
            )
            scene.add_joint(mc.HingeJoint(previous, f"b{k}", (size * k, 0, 0), (0, 1, 0)))
        previous = f"b{k}"
    return scene


def run_jointed(kind, links, ratio, restitution, speed, way, gap, coordinates, rate, substeps):
    """By `way` of a link a substep; gap: the first distance in substeps."""
    size = speed / (rate * substeps * way)
    gap *= way * size
    scene = jointed_scene(kind, links, ratio, restitution, speed, size, gap)
    start = mc.World(scene).energy().kinetic
    world, events = both(scene, rate, substeps, coordinates, gap / speed)
    off = np.abs(world.velocities[1:] - events.velocities[1:]).max() / speed
    return {
        "energy": abs(world.energy().kinetic - events.energy().kinetic) / start,
        "velocity": float(off),
        "gap": float(world.joint_errors()[:, 0].max()) / size,
    }


JOINTED = Family(
    "jointed",
    "Jointed bodies that strike a floor",
    'The same under contact="event": an impact takes all joints along.',
    run_jointed,
    {
        "kind": Choice("tied", "rod"),
        "links": Whole(2, 6),
        "ratio": Log(0.1, 100),
        "restitution": Uniform(0, 1),
        "speed": Log(1, 20),
        "way": Log(1e-4, 0.3),
        "gap": Uniform(0.1, 2),
        "coordinates": Choice("maximal", "reduced"),
        "rate": RATE,
        "substeps": WholeLog(1, 16),
    },
    {
        "energy": Error("", 1e-3, "difference of the energies after, by that before"),
        "velocity": Error("", 0.02, "largest difference of a velocity, by the first"),
        "gap": Error("", 1e-6, "widest gap of a joint, by a link"),
    },
    domain={"way": Log(1e-4, 1e-3)},
)


def run_cradle(balls, lifted, angle, gap, rate, substeps):
    lifted = min(lifted, balls - 1)
    radius = 0.1
    world = stepped(mc.load("newton_cradle", balls=balls, lifted=lifted, angle=angle, gap=gap * radius), rate, substeps)
    start = world.energy().total
    energy = lifted * world.masses[0] * G * (1 - math.cos(angle))
    gain = 0.0
    for _ in range(3 * rate):
        world.step()
        gain = max(gain, (world.energy().total - start) / energy)
    return {"gain": gain, "loss": (start - world.energy().total) / energy}


CRADLE = Family(
    "cradle",
    "Newton's cradle on hinges",
    "Steel balls, e = 1: energy is conserved, over 3 s.",
    run_cradle,
    {
        "balls": Whole(2, 8),
        "lifted": Whole(1, 4),
        "angle": Uniform(0.3, 1.2),
        "gap": Choice(0.0, 0.01, 0.1),
        "rate": WholeLog(60, 480),
        "substeps": WholeLog(1, 16),
    },
    {"gain": Error("", 1e-3, "energy above the start's"), "loss": Error("", 1e-3, "energy lost after 3 s")},
    domain={"substeps": WholeLog(2, 16)},
)

FAMILIES = (HEAD_ON, OBLIQUE, BREAK, ROD, JOINTED, CRADLE)
