"""Rolling, sliding and spinning on what stands, is driven, or is free."""

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
    Whole,
    WholeLog,
    cone_excess,
    stepped,
    turned,
)

ON_SIDE = turned((1, 0, 0), -math.pi / 2)
CONE = Error("", 1e-9, "friction beyond its cone in any contact, as a part of it")
GAIN = Error("", 1e-6, "total energy above the start's, by the kinetic energy")

ROUND = {
    "sphere": lambda r: mc.Sphere(r),
    "capsule": lambda r: mc.Capsule(r, 2 * r, orientation=ON_SIDE),
    "cylinder": lambda r: mc.Cylinder(r, 2 * r, orientation=ON_SIDE),
    "two spheres": lambda r: [mc.Sphere(r, position=(0, s * r, 0)) for s in (-2, 2)],
    "wheels": lambda r: [mc.Cylinder(r, 0.2 * r, orientation=ON_SIDE, position=(0, s * r, 0)) for s in (-2, 2)],
}


def ground_scene(ground, half, material, layers=1, density=1000.0):
    """A slab on a plane, or several; -> (scene, height of the top). Its kind is what it says: static, kinematic,
    dynamic."""
    scene = mc.Scene()
    scene.add_body("floor", kind="static", shape=mc.Plane((0, 0, 1)), material=material)
    for k in range(layers):
        scene.add_body(
            f"slab{k}",
            kind=ground,
            shape=mc.Box(half),
            position=(0, 0, (2 * k + 1) * half[2]),
            material=material,
            **({"density": density} if ground == "dynamic" else {}),
        )
    return scene, 2 * layers * half[2]


# ---- rolling ---------------------------------------------------------------------------------------------------------


def run_rolling(shape, ground, radius, speed, friction, slab_density, steps, rate, substeps):
    """Lengths of the slab by the way; it is as light as slab_density says."""
    material = mc.Material(friction=friction)
    way = speed * steps / rate
    half = (0.6 * way + 10 * radius, 8 * radius, 2 * radius)
    kind, layers = ("dynamic", 2) if ground == "two free" else ("dynamic" if ground == "free" else ground, 1)
    scene, top = ground_scene(kind, half, material, layers, slab_density)
    scene.add_body(
        "ball",
        shape=ROUND[shape](radius),
        position=(-way / 2, 0, top + radius),
        velocity=(speed, 0, 0),
        angular_velocity=(0, speed / radius, 0),
        material=material,
        density=1000.0,
    )
    world = stepped(scene, rate, substeps)
    start, gain, cone = world.energy(), 0.0, 0.0
    for _ in range(steps):
        world.step()
        gain = max(gain, (world.energy().total - start.total) / start.kinetic)
        cone = max(cone, cone_excess(world))
    return {
        "speed": abs(np.linalg.norm(world.velocities[-1]) / speed - 1),
        "gain": gain,
        "cone": cone,
        "spin": abs(np.linalg.norm(world.angular_velocities[-1]) * radius / speed - 1),
    }


ROLLING = Family(
    "rolling",
    "Rolling on slabs",
    "Speed and spin stay what they are: what rolls without slipping on a level slab has no friction, whether the slab "
    "can move "
    "or not.",
    run_rolling,
    {
        "shape": Choice(*ROUND),
        "ground": Choice("static", "kinematic", "free", "two free"),
        "radius": Log(0.01, 1),
        "speed": Log(0.01, 30),
        "friction": Uniform(0, 2),
        "slab_density": Log(100, 10_000),
        "steps": WholeLog(30, 600),
        "rate": RATE,
        "substeps": SUBSTEPS,
    },
    {
        "speed": Error("", 1e-6, "error of the speed at the end"),
        "spin": Error("", 1e-6, "error of the spin"),
        "gain": GAIN,
        "cone": CONE,
    },
    domain={"rate": WholeLog(60, 1000), "substeps": WholeLog(4, 32)},
    quick={"steps": WholeLog(30, 120), "substeps": WholeLog(4, 8)},
)


def run_sliding_ball(radius, speed, backspin, friction, ground, rate, substeps):
    """A ball is thrown sliding, perhaps with backspin, on a slab that does not move, and rolls in the end."""
    material = mc.Material(friction=friction)
    spin = -backspin * speed / radius
    until = 2 * speed * (1 + backspin) / (7 * friction * G)
    steps = min(1500, math.ceil(1.5 * until * rate) + 2)
    half = (1.2 * speed * steps / rate + 4 * radius, 4 * radius, radius)
    scene, top = ground_scene(ground, half, material)
    scene.add_body(
        "ball",
        shape=mc.Sphere(radius),
        position=(0, 0, top + radius),
        velocity=(speed, 0, 0),
        angular_velocity=(0, spin, 0),
        material=material,
    )
    world = stepped(scene, rate, substeps)
    end, off, cone = speed - 2 * speed * (1 + backspin) / 7, 0.0, 0.0
    for k in range(1, steps + 1):
        world.step()
        cone = max(cone, cone_excess(world))
        t = k / rate
        true = max(speed - friction * G * t, end)
        off = max(off, abs(world.velocities[-1, 0] - true) / speed)
    return {"speed": off, "end": abs(world.velocities[-1, 0] - true) / speed, "cone": cone}


SLIDING_BALL = Family(
    "sliding_ball",
    "A ball that slides comes to roll",
    "Speed falls at mu g until it is v - 2/7 (v - w r), and stays (5/7 v without spin).",
    run_sliding_ball,
    {
        "radius": Log(0.01, 1),
        "speed": Log(0.05, 30),
        "backspin": Uniform(-0.9, 2),
        "friction": Log(0.02, 2),
        "ground": Choice("static", "kinematic"),
        "rate": RATE,
        "substeps": SUBSTEPS,
    },
    {
        "speed": Error("", 0.01, "error of the speed on the way, by the first"),
        "end": Error("", 1e-3, "error of the last speed"),
        "cone": CONE,
    },
)


# ---- sliding ---------------------------------------------------------------------------------------------------------


def slider_shape(kind, thick, wide):
    half = thick / 2
    if kind == "box":
        return mc.Box((wide, 0.6 * wide, half))
    if kind == "cylinder":
        return mc.Cylinder(wide, half)
    return mc.ConvexHull([(x * wide, 0.6 * y * wide, z * half) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])


def floor_of(kind, reach, material):
    """A level floor with its top at z = 0."""
    scene = mc.Scene()
    if kind == "plane":
        shape, z = mc.Plane((0, 0, 1)), 0.0
    elif kind == "box":
        shape, z = mc.Box((reach, reach, 0.5)), -0.5
    elif kind == "mesh":
        corners = [(-reach, -reach, 0), (reach, -reach, 0), (reach, reach, 0), (-reach, reach, 0)]
        shape, z = mc.Mesh(corners, [(0, 1, 2), (0, 2, 3)]), 0.0
    else:
        shape, z = mc.HeightField(np.zeros((17, 17)), reach / 8), 0.0
    scene.add_body("floor", kind="static", shape=shape, position=(0, 0, z), material=material)
    return scene


def run_frictionless(shape, floor, thick, wide, speed, drop, steps, rate, substeps):
    material = mc.Material(friction=0.0)
    way = speed * steps / rate
    scene = floor_of(floor, 1.5 * way + 5 * wide, material)
    scene.add_body(
        "slider",
        shape=slider_shape(shape, thick, wide),
        position=(-way / 2, 0.1 * wide, thick / 2 + drop),
        velocity=(speed, 0, 0),
        material=material,
    )
    world = stepped(scene, rate, substeps)
    low = 0.0
    for _ in range(steps):
        world.step()
        low = min(low, float(world.positions[1, 2]) - thick / 2)
    return {
        "speed": abs(world.velocities[1, 0] / speed - 1),
        "way": abs((world.positions[1, 0] + way / 2) / way - 1),
        "sunk": max(0.0, -low) / thick,
    }


FRICTIONLESS = Family(
    "frictionless",
    "Thin bodies that slide without friction",
    "Speed stays, the way is speed times time, and nothing sinks into the floor.",
    run_frictionless,
    {
        "shape": Choice("box", "hull", "cylinder"),
        "floor": Choice("plane", "box", "mesh", "height field"),
        "thick": Log(2e-4, 0.2),
        "wide": Log(0.02, 0.5),
        "speed": Log(0.1, 30),
        "drop": Choice(0.0, 1e-3, 0.05),
        "steps": WholeLog(10, 240),
        "rate": RATE,
        "substeps": WholeLog(1, 8),
    },
    {
        "speed": Error("", 1e-6, "error of the speed"),
        "way": Error("", 1e-6, "error of the way"),
        "sunk": Error("", 0.5, "how deep it sank, in thicknesses"),
    },
    quick={"steps": WholeLog(10, 120)},
)


def run_braking(shape, floor, size, speed, friction, rate, substeps):
    """A flat body slides to rest."""
    material = mc.Material(friction=friction)
    way, until = speed**2 / (2 * friction * G), speed / (friction * G)
    scene = floor_of(floor, 2 * way + 5 * size, material)
    scene.add_body(
        "slider",
        shape=slider_shape(shape, 0.2 * size, size),
        position=(0, 0, 0.1 * size),
        velocity=(speed, 0, 0),
        material=material,
    )
    world = stepped(scene, rate, substeps)
    steps, off, cone = min(1500, math.ceil(1.1 * until * rate) + 2), 0.0, 0.0
    for k in range(1, steps + 1):
        world.step()
        cone = max(cone, cone_excess(world))
        off = max(off, abs(world.velocities[1, 0] - max(0.0, speed - friction * G * k / rate)) / speed)
    return {"speed": off, "cone": cone}


BRAKING = Family(
    "braking",
    "Flat bodies slide to rest",
    "Speed falls at mu g to zero, and stays.",
    run_braking,
    {
        "shape": Choice("box", "hull", "cylinder"),
        "floor": Choice("plane", "box", "mesh", "height field"),
        "size": Log(0.02, 2),
        "speed": Log(0.05, 30),
        "friction": Log(0.02, 1),
        "rate": RATE,
        "substeps": SUBSTEPS,
    },
    {"speed": Error("", 0.01, "largest error of the speed, by the first"), "cone": CONE},
)


def run_slope(angle, friction, size, rate, substeps):
    """A flat box released on a slope, near the critical angle or far from it."""
    material = mc.Material(friction=friction)
    scene = mc.Scene()
    normal = np.array([math.sin(angle), 0, math.cos(angle)])
    scene.add_body("slope", kind="static", shape=mc.Plane(normal), material=material)
    scene.add_body(
        "block",
        shape=mc.Box((size, size, 0.2 * size)),
        position=0.2 * size * normal,
        orientation=turned((0, 1, 0), angle),
        material=material,
    )
    world = stepped(scene, rate, substeps)
    cone = 0.0
    for _ in range(rate):
        world.step()
        cone = max(cone, cone_excess(world))
    true = max(0.0, G * (math.sin(angle) - friction * math.cos(angle)))
    along = world.velocities[1] @ (math.cos(angle), 0, -math.sin(angle))
    return {"speed": abs(along - true), "cone": cone}


SLOPE = Family(
    "slope",
    "A box on a slope",
    "It stays where tan(angle) < mu, and slides at g (sin - mu cos) otherwise.",
    run_slope,
    {
        "angle": Uniform(0.02, 1.2),
        "friction": Uniform(0, 2),
        "size": Log(0.02, 2),
        "rate": WholeLog(30, 240),
        "substeps": SUBSTEPS,
    },
    {"speed": Error("m/s", 1e-3, "error of the speed after 1 s"), "cone": CONE},
    domain={"rate": WholeLog(60, 240)},
)


# ---- spin ------------------------------------------------------------------------------------------------------------


def spin_and_slide(shape, size, speed, spin, friction, points, rate, substeps):
    """size: half height and largest half length. -> way and turn until rest, worst friction"""
    height, size = size
    material = mc.Material(friction=friction)
    scene = floor_of("box", 100.0, material)
    scene.add_body(
        "body",
        shape=shape,
        position=(0, 0, height),
        velocity=(speed, 0, 0),
        angular_velocity=(0, 0, spin),
        material=material,
    )
    world = stepped(scene, rate, substeps, friction_points=points)
    turn, cone = 0.0, 0.0
    for _ in range(math.ceil(1.5 * (speed + spin * size) / (friction * G) * rate) + 10):
        before = world.angular_velocities[1, 2]
        world.step()
        turn += (before + world.angular_velocities[1, 2]) / (2 * rate)
        cone = max(cone, cone_excess(world))
        if np.abs(world.velocities[1]).max() < 1e-6 and np.abs(world.angular_velocities[1]).max() < 1e-5:
            break
    return float(np.linalg.norm(world.positions[1, :2])), turn, cone


def run_spin(shape, long, speed, spin_ratio, per_turn, friction, rate, substeps):
    """per_turn: substeps in a turn at first; spin_ratio: speed of a corner by that of the centre. The size follows."""
    spin = 2 * math.pi * rate * substeps / per_turn
    size = spin_ratio * speed / (spin * long)
    thick = 0.1 * size
    if shape == "box":
        form = mc.Box((long * size, size, thick))
    else:
        corners = 3 if shape == "triangle" else 6
        form = mc.ConvexHull(
            [
                (long * size * math.cos(2 * math.pi * k / corners), size * math.sin(2 * math.pi * k / corners), z)
                for k in range(corners)
                for z in (-thick, thick)
            ]
        )
    central = spin_and_slide(form, (thick, long * size), speed, spin, friction, "central", rate, substeps)
    point = spin_and_slide(form, (thick, long * size), speed, spin, friction, "point", rate, substeps)
    return {
        "way": abs(central[0] / point[0] - 1),
        "turn": abs(central[1] / point[1] - 1),
        "cone": max(central[2], point[2]),
    }


SPIN = Family(
    "spin",
    "Flat bodies that slide and spin",
    'Friction at every point of contact (friction_points="point"), against the default, one limit surface a manifold.',
    run_spin,
    {
        "shape": Choice("box", "triangle", "hexagon"),
        "long": Uniform(1, 4),
        "speed": Log(0.2, 10),
        "spin_ratio": Log(0.1, 10),
        "per_turn": Log(10, 1000),
        "friction": Log(0.05, 1),
        "rate": WholeLog(60, 240),
        "substeps": WholeLog(2, 8),
    },
    {"way": Error("", 0.05, "difference of the ways"), "turn": Error("", 0.05, "difference of the turns"), "cone": CONE},
    domain={"per_turn": Log(60, 1000)},
    quick={"rate": WholeLog(60, 90), "friction": Log(0.3, 1), "speed": Log(0.2, 3)},
    examples=8,
)


# ---- grounds that move -----------------------------------------------------------------------------------------------


def run_turntable(rate_of_table, radius, distance, extra, steps, rate, substeps):
    """A ball on a table that turns, thrown so that it rolls at once."""
    scene = mc.Scene()
    material = mc.Material(friction=2.0)
    # About its own axis turns the table that is a kinematic cylinder; the ball's circle lies well within it.
    scene.add_body(
        "table",
        kind="kinematic",
        shape=mc.Cylinder(20 * distance, 0.1),
        position=(0, 0, -0.1),
        angular_velocity=(0, 0, rate_of_table),
        material=material,
    )
    slow = 2 / 7 * rate_of_table
    velocity = np.array([0.0, slow * distance * (1 + extra), 0.0])
    # Rolling: v - w x r z = table's velocity there; w_x from v_y.
    slip = velocity - (0.0, rate_of_table * distance, 0.0)
    scene.add_body(
        "ball",
        shape=mc.Sphere(radius),
        position=(distance, 0, radius),
        velocity=velocity,
        angular_velocity=(-slip[1] / radius, slip[0] / radius, 0),
        material=material,
    )
    world = stepped(scene, rate, substeps)
    off, cone = 0.0, 0.0
    # A circle about (distance - radius of the circle, 0) at the rate slow.
    circle = velocity[1] / slow
    for k in range(1, steps + 1):
        world.step()
        cone = max(cone, cone_excess(world))
        a = slow * k / rate
        off = max(
            off,
            float(np.linalg.norm(world.positions[1, :2] - (distance - circle + circle * math.cos(a), circle * math.sin(a))))
            / distance,
        )
    return {"path": off, "cone": cone}


TURNTABLE = Family(
    "turntable",
    "A ball on a turntable",
    "It goes round a circle at 2/7 of the table's rate (R. Weltner, \"Stable circular orbits of freely moving balls on "
    "rotating "
    'discs", 1979).',
    run_turntable,
    {
        "rate_of_table": Log(0.1, 10),
        "radius": Log(0.01, 0.3),
        "distance": Log(0.1, 3),
        "extra": Uniform(-0.5, 0.5),
        "steps": WholeLog(30, 600),
        "rate": RATE,
        "substeps": SUBSTEPS,
    },
    {"path": Error("", 0.01, "distance from the true circle, by the first distance from the axis"), "cone": CONE},
    domain={"rate_of_table": Log(0.1, 5), "substeps": Whole(4, 32)},
)


def run_belt(how, speed, belt, friction, size, rate, substeps):
    """A box is put on a belt and comes to its speed. how: by a surface velocity, or as a slab that is driven."""
    scene = mc.Scene()
    material = mc.Material(friction=friction)
    difference = belt - speed
    until = abs(difference) / (friction * G)
    steps = min(1200, math.ceil(1.2 * until * rate) + 2)
    reach = (abs(belt) + abs(speed)) * steps / rate + 10 * size
    if how == "belt":
        scene.add_body(
            "belt",
            kind="static",
            shape=mc.Box((reach, 5 * size, size)),
            position=(0, 0, -size),
            material=mc.Material(friction=friction, surface_velocity=(belt, 0, 0)),
        )
    else:
        scene.add_body(
            "belt",
            kind="kinematic",
            shape=mc.Box((reach, 5 * size, size)),
            position=(0, 0, -size),
            velocity=(belt, 0, 0),
            material=material,
        )
    scene.add_body(
        "box",
        shape=mc.Box((size, size, 0.2 * size)),
        position=(0, 0, 0.2 * size),
        velocity=(speed, 0, 0),
        material=material,
    )
    world = stepped(scene, rate, substeps)
    off, cone = 0.0, 0.0
    for k in range(1, steps + 1):
        world.step()
        cone = max(cone, cone_excess(world))
        change = min(abs(difference), friction * G * k / rate)
        off = max(off, abs(world.velocities[1, 0] - speed - math.copysign(change, difference)) / max(abs(difference), 1e-3))
    return {"speed": off, "cone": cone}


BELT = Family(
    "belt",
    "A box on a belt",
    "Its speed comes to the belt's at mu g, and stays.",
    run_belt,
    {
        "how": Choice("belt", "driven slab"),
        "speed": Uniform(-5, 5),
        "belt": Uniform(-5, 5),
        "friction": Log(0.05, 1),
        "size": Log(0.05, 1),
        "rate": RATE,
        "substeps": SUBSTEPS,
    },
    {"speed": Error("", 0.01, "error of the speed, by the first difference"), "cone": CONE},
)


def run_pulled_slab(side, slab, ratio, friction, pull, rate, substeps):
    """side^2 balls of `ratio` slab masses in all on a slab that is pulled: they roll, it slides."""
    scene = mc.Scene()
    material = mc.Material(friction=friction)
    half = (side + 1.0, side + 1.0, 0.1)
    scene.add_body("floor", kind="static", shape=mc.Plane((0, 0, 1)), material=material)
    scene.add_body("slab", shape=mc.Box(half), position=(0, 0, 0.1), mass=slab, material=material)
    ball = ratio * slab / side**2
    for i in range(side):
        for j in range(side):
            scene.add_body(
                f"ball{i}_{j}",
                shape=mc.Sphere(0.5),
                mass=ball,
                position=(2 * i - side + 1, 2 * j - side + 1, 0.7),
                material=material,
            )
    world = stepped(scene, rate, substeps)
    world.step(rate // 2)
    total = slab + ratio * slab
    force = (1 + pull) * friction * total * G
    start, cone = world.velocities[1, 0], 0.0
    for _ in range(rate // 2):
        world.apply_force("slab", (force, 0, 0))
        world.step()
        cone = max(cone, cone_excess(world))
    time = rate // 2 / rate
    true = (force - friction * total * G) / (slab + 2 / 7 * ratio * slab) * time
    return {"speed": abs(world.velocities[1, 0] - start - true) / (friction * G * time), "cone": cone}


PULLED_SLAB = Family(
    "pulled_slab",
    "A slab under balls is pulled over a floor",
    "m a = F - mu (m + n) g - 2/7 n a: the balls roll. Pull: the force above that of friction, as a part of it.",
    run_pulled_slab,
    {
        "side": Whole(1, 6),
        "slab": Log(0.1, 1e3),
        "ratio": Log(0.1, 100),
        "friction": Uniform(0.1, 1.5),
        "pull": Uniform(0.05, 0.3),
        "rate": WholeLog(60, 240),
        "substeps": WholeLog(1, 16),
    },
    {"speed": Error("", 1e-3, "error of the speed gained, by mu g t"), "cone": CONE},
    domain={"substeps": Whole(4, 16)},
    quick={"side": Whole(1, 4), "rate": WholeLog(60, 120), "substeps": Whole(4, 6)},
)

# ---- wedges and terrain ----------------------------------------------------------------------------------------------


def run_wedge(slope, ratio, size, shape, rate, substeps):
    """A block on a wedge on level rails, without friction, until it has gone 0.8 of the slope. ratio: the wedge's mass by
    the block's. (On a floor steep light ones would tip.)"""
    material = mc.Material(friction=0.0)
    base, width, half = 4.0 * size, size, 0.1 * size
    high = base * math.tan(slope)
    scene = mc.Scene()
    scene.add_body(
        "wedge",
        shape=mc.ConvexHull([(x, y, z) for y in (-width, width) for x, z in ((0, 0), (base, 0), (0, high))]),
        mass=ratio,
        material=material,
    )
    scene.add_joint(mc.SliderJoint(None, "wedge", (1, 0, 0)))
    along, normal = np.array([math.cos(slope), 0, -math.sin(slope)]), np.array([math.sin(slope), 0, math.cos(slope)])
    start = np.array([0, 0, high]) + 1.5 * half * along + half * normal
    block = (
        mc.Box((half, half, half))
        if shape == "box"
        else mc.ConvexHull([(x * half, y * half, z * half) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
    )
    scene.add_body("block", shape=block, mass=1.0, position=start, orientation=turned((0, 1, 0), slope), material=material)
    world = stepped(scene, rate, substeps)
    # Momentum along x, and the block stays on the slope: A of the wedge, and along the slope beside it.
    back = G * math.sin(slope) * math.cos(slope) / (ratio + math.sin(slope) ** 2)
    down = (ratio + 1) * G * math.sin(slope) / (ratio + math.sin(slope) ** 2)
    steps = max(1, min(600, int(math.sqrt(2 * 0.8 * (base / math.cos(slope) - 3 * half) / down) * rate)))
    world.step(steps)
    t = steps / rate
    slid = (world.velocities[1] - world.velocities[0]) @ along
    return {"wedge": abs(world.velocities[0, 0] + back * t) / (back * t), "block": abs(slid - down * t) / (down * t)}


WEDGE = Family(
    "wedge",
    "A block on a wedge that is free to slide",
    "Without friction both are evenly accelerated: m g sin a cos a / (M + m sin^2 a) and (M + m) g sin a / (M + m "
    "sin^2 a).",
    run_wedge,
    {
        "slope": Uniform(0.05, 1.3),
        "ratio": Log(0.01, 100),
        "size": Log(0.02, 2),
        "shape": Choice("box", "hull"),
        "rate": RATE,
        "substeps": SUBSTEPS,
    },
    {
        "wedge": Error("", 0.01, "error of the wedge's speed"),
        "block": Error("", 0.01, "error of the block's along the slope"),
    },
)


def run_terrain(ground, slope, radius, cells, friction, start, steps, rate, substeps):
    """A ball rolls down an even slope of many pieces. cells: their width by the ball's radius."""
    gravity = (G * math.sin(slope), 0, -G * math.cos(slope))
    rng, speed, spacing = np.random.default_rng(steps), start * math.sqrt(G * radius), cells * radius
    pull = 5 / 7 * G * math.sin(slope)
    end = steps / rate
    reach = speed * end + pull * end * end / 2 + 4 * radius
    across = max(4 * radius, 2 * spacing)
    nx, ny = min(400, math.ceil((reach + 4 * radius) / spacing) + 1), 2 * math.ceil(across / spacing) + 1
    spacing = max(spacing, (reach + 4 * radius) / (nx - 1))
    material = mc.Material(friction=friction)
    scene = mc.Scene(gravity=gravity)
    middle = (nx - 1) * spacing / 2 - 2 * radius
    if ground == "field":
        scene.add_body(
            "floor",
            kind="static",
            shape=mc.HeightField(np.zeros((nx, ny)), spacing),
            position=(middle, 0, 0),
            material=material,
        )
    else:
        grid = np.array(
            [(i * spacing - 2 * radius, (j - (ny - 1) / 2) * spacing, 0.0) for i in range(nx) for j in range(ny)]
        )
        inner = np.array([0 < i < nx - 1 and 0 < j < ny - 1 for i in range(nx) for j in range(ny)])
        grid[inner, :2] += 0.2 * spacing * rng.uniform(-1, 1, (inner.sum(), 2))
        faces = [
            face
            for i in range(nx - 1)
            for j in range(ny - 1)
            for k in (i * ny + j,)
            for face in ((k, k + ny, k + ny + 1), (k, k + ny + 1, k + 1))
        ]
        scene.add_body("floor", kind="static", shape=mc.Mesh(grid, faces), material=material)
    scene.add_body(
        "ball",
        shape=mc.Sphere(radius),
        density=1000.0,
        position=(0, 0.3 * spacing, radius),
        velocity=(speed, 0, 0),
        angular_velocity=(0, speed / radius, 0),
        material=material,
    )
    world = stepped(scene, rate, substeps)
    lift = 0.0
    for _ in range(steps):
        world.step()
        lift = max(lift, abs(world.positions[1, 2] - radius) / radius)
    true = speed * end + pull * end * end / 2
    return {
        "way": abs(world.positions[1, 0] / true - 1),
        "aside": abs(world.positions[1, 1] - 0.3 * spacing) / true,
        "lift": lift,
    }


TERRAIN = Family(
    "terrain",
    "A ball rolls down a slope of many pieces",
    "It rolls with 5/7 g sin a, straight, and does not feel where pieces meet.",
    run_terrain,
    {
        "ground": Choice("mesh", "field"),
        "slope": Uniform(0.01, 1.0),
        "radius": Log(0.01, 1),
        "cells": Log(0.2, 20),
        "friction": Uniform(0.6, 2),
        "start": Uniform(0, 10),
        "steps": WholeLog(30, 240),
        "rate": RATE,
        "substeps": SUBSTEPS,
    },
    {
        "way": Error("", 1e-3, "error of the way"),
        "aside": Error("", 1e-3, "way to the side, by the way"),
        "lift": Error("", 0.01, "height above the slope, by the radius"),
    },
    quick={"steps": WholeLog(30, 60), "cells": Log(0.5, 20)},
)

FAMILIES = (ROLLING, SLIDING_BALL, FRICTIONLESS, BRAKING, SLOPE, SPIN, TURNTABLE, BELT, PULLED_SLAB, WEDGE, TERRAIN)
