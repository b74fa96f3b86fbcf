"""What stands and what falls: stacks, overhangs, arches, card houses, dominoes; loads near the rim of a foot."""

import math

import numpy as np
from scipy.optimize import linprog
from scipy.spatial import ConvexHull

import mcsim as mc
from families.family import Choice, Error, Family, G, Log, Uniform, Whole, WholeLog, stepped, upright

RATE = WholeLog(60, 240)
WRONG = Error("", 0.5, "1 where what should stand fell or what should fall stood")


def sunk(world, start):
    """By how much the highest body has sunk, as a part of its height; heights of the start (n,)."""
    top = int(np.argmax(start))
    return float((start[top] - world.positions[top, 2]) / start[top])


def verdict(world, start, seconds, rate, stands):
    """Run; what has sunk by 5 % has fallen. It ends early when that is decided."""
    for _ in range(math.ceil(seconds * rate / 10)):
        world.step(10)
        if sunk(world, start) > 0.05:
            return {"wrong": float(stands)}
    return {"wrong": float(not stands)}


SIDE = Choice("stands", "falls")


# ---- stacks ----------------------------------------------------------------------------------------------------------


def footed(kind, size):
    """A cube, a cylinder as high as wide, or a prism."""
    if kind == "box":
        return mc.Box((size, size, size))
    if kind == "cylinder":
        return mc.Cylinder(size, size)
    corners = int(kind.removeprefix("prism"))
    return mc.ConvexHull(
        [
            (size * math.cos(2 * math.pi * k / corners), size * math.sin(2 * math.pi * k / corners), z)
            for k in range(corners)
            for z in (-size, size)
        ]
    )


def run_stack(shape, count, ratio, heavy, size, rate, substeps):
    """Masses grow geometrically, by `ratio` from one end to the other."""
    scene = mc.Scene()
    scene.add_body("floor", kind="static", shape=mc.Plane((0, 0, 1)))
    for k in range(count):
        part = k / max(1, count - 1)
        mass = 1000 * (2 * size) ** 3 * ratio ** (part if heavy == "above" else 1 - part)
        scene.add_body(f"b{k}", shape=footed(shape, size), mass=mass, position=(0, 0, size * (2 * k + 1)))
    world = stepped(scene, rate, substeps)
    start = world.positions[:, 2].copy()
    world.step(5 * rate)
    down = sunk(world, start)
    return {"sunk": abs(down), "speed": float(np.abs(world.velocities).max()) / math.sqrt(G * size)}


STACK = Family(
    "stack",
    "Stacks, masses that grow upwards or downwards",
    "They stand and come to rest: after 5 s the top is where it was, within a twentieth, and nothing moves (speeds by "
    "the root of g "
    "times half the size).",
    run_stack,
    {
        "shape": Choice("box", "cylinder", "prism5", "prism12"),
        "count": WholeLog(1, 20),
        "ratio": Log(1, 1e4),
        "heavy": Choice("above", "below"),
        "size": Log(0.005, 5),
        "rate": RATE,
        "substeps": WholeLog(1, 16),
    },
    {"sunk": Error("", 0.05, "sunk at the top, by its height"), "speed": Error("", 0.005, "largest speed after 5 s")},
    domain={"ratio": Log(1, 10), "substeps": Whole(4, 16), "count": WholeLog(1, 15)},
    quick={"count": WholeLog(1, 8), "rate": WholeLog(60, 90), "substeps": Whole(4, 6)},
    examples=8,
)


def run_overhang(count, margin, side, size, friction, rate, substeps):
    """Bricks, each as far over the one below as the harmonic series allows, times 1 -+ margin."""
    scene = mc.Scene()
    material = mc.Material(friction=friction)
    long, high = size, 0.25 * size
    scene.add_body(
        "table", kind="static", shape=mc.Box((10 * long, long, long)), position=(-10 * long, 0, -long), material=material
    )
    factor, x = 1 + margin if side == "falls" else 1 - margin, 0.0
    for k in range(count, 0, -1):  # k bricks from here to the top
        x += factor * 2 * long / (2 * k)
        scene.add_body(
            f"brick{k}",
            shape=mc.Box((long, long / 2, high)),
            position=(x - long, 0, high * (2 * (count - k) + 1)),
            material=material,
        )
    world = stepped(scene, rate, substeps)
    return verdict(world, world.positions[:, 2] + 0.0, 4, rate, side == "stands")


OVERHANG = Family(
    "overhang",
    "Bricks over the edge of a table",
    "The harmonic series: the k-th brick from the top may stand over by 1/(2k) of its length.",
    run_overhang,
    {
        "count": WholeLog(1, 20),
        "margin": Log(0.005, 0.4),
        "side": SIDE,
        "size": Log(0.02, 2),
        "friction": Uniform(0.3, 1),
        "rate": RATE,
        "substeps": WholeLog(1, 16),
    },
    {"wrong": WRONG},
    domain={"margin": Log(0.08, 0.4), "count": WholeLog(1, 7), "substeps": Whole(4, 16)},
    quick={"rate": WholeLog(60, 90), "substeps": Whole(4, 6)},
)


def run_rim(shape, place, direction, size, flat, rate, substeps):
    """One body whose centre of mass lies at `place` of the way from the middle of its foot to the foot's border."""
    scene = mc.Scene()
    scene.add_body("floor", kind="static", shape=mc.Plane((0, 0, 1)), material=mc.Material(friction=1.0))
    high = flat * size
    border = size
    if shape == "cylinder":
        form = mc.Cylinder(size, high)
    else:
        corners = 4 if shape == "box" else int(shape.removeprefix("prism"))
        form = mc.ConvexHull(
            [
                (size * math.cos(2 * math.pi * k / corners), size * math.sin(2 * math.pi * k / corners), z)
                for k in range(corners)
                for z in (-high, high)
            ]
        )
        half = math.pi / corners
        border = size * math.cos(half) / math.cos((direction % (2 * half)) - half)
    center = place * border * np.array([math.cos(direction), math.sin(direction), 0])
    mass = 100 * size**3
    scene.add_body(
        "body",
        shape=form,
        mass=mass,
        inertia=(0.3 * mass * size**2,) * 3,
        center_of_mass=center,
        position=(0, 0, high),
        material=mc.Material(friction=1.0),
    )
    world = stepped(scene, rate, substeps)
    world.step(2 * rate)
    tilt = math.degrees(math.acos(min(1.0, upright(world, 1)[2])))
    return {"tilt": tilt if place < 1 else 0.0, "wrong": float(place > 1 and tilt < 0.2)}


RIM = Family(
    "rim",
    "A load near the rim of a flat foot",
    "It stands level where the centre of mass is above the foot, however near to its rim, and falls over beyond.",
    run_rim,
    {
        "shape": Choice("box", "prism5", "prism8", "prism24", "cylinder"),
        "place": Uniform(0.05, 1.2),
        "direction": Uniform(0, 6.28),
        "size": Log(0.02, 2),
        "flat": Uniform(0.1, 1),
        "rate": RATE,
        "substeps": WholeLog(1, 16),
    },
    {"tilt": Error("degrees", 0.1, "tilt after 2 s, where it stands"), "wrong": WRONG},
    domain={"place": Uniform(0.05, 0.95), "substeps": Whole(4, 16)},
    examples=20,
)


# ---- arches ----------------------------------------------------------------------------------------------------------


def stone(radius, thickness, half_angle):
    """Corners (4, 2) of a voussoir about the vertical axis, and its area and centre of mass above the arch's centre."""
    r, big = radius, radius + thickness
    corners = np.array([(s * math.sin(half_angle) * k, math.cos(half_angle) * k) for k in (r, big) for s in (-1, 1)])
    outer, inner = big**2, r**2  # of two triangles
    area = (outer - inner) * math.sin(half_angle) * math.cos(half_angle)
    height = 2 / 3 * math.cos(half_angle) * (outer * big - inner * r) / (outer - inner)
    return corners, area, height


def can_stand(stones, thickness, friction):
    """Whether forces at the corners of the joints of a half-circular arch of inner radius 1 can hold its weight, inside
    Coulomb's cone (J. Heyman, "The stone skeleton", 1966; by linear programming: R. Livesley, 1978)."""
    half = math.pi / stones / 2
    _, area, height = stone(1.0, thickness, half)
    equations, loads = np.zeros((3 * stones, 4 * (stones + 1))), np.zeros(3 * stones)
    for k in range(stones):
        turn = math.pi / 2 - (2 * k + 1) * half  # of the stone from the vertical, left to right
        center = height * np.array([-math.sin(turn), math.cos(turn)])
        loads[3 * k + 1] = area
        for joint, sign in ((k, 1.0), (k + 1, -1.0)):
            angle = math.pi - 2 * joint * half  # of the joint's line, from x
            along = np.array([math.cos(angle), math.sin(angle)])
            normal = sign * np.array([along[1], -along[0]])  # into the stone
            for corner, r in enumerate((1.0, 1.0 + thickness)):
                arm = r * along - center
                for part, force in enumerate((normal, sign * along)):
                    column = 4 * joint + 2 * corner + part
                    equations[3 * k : 3 * k + 2, column] = force
                    equations[3 * k + 2, column] = arm[0] * force[1] - arm[1] * force[0]
    cone = np.zeros((4 * (stones + 1), 4 * (stones + 1)))
    for pair in range(2 * (stones + 1)):
        for line, s in ((2 * pair, 1.0), (2 * pair + 1, -1.0)):
            cone[line, 2 * pair], cone[line, 2 * pair + 1] = -friction, s
    bounds = [(0, None), (None, None)] * (2 * (stones + 1))
    return linprog(np.zeros(cone.shape[1]), cone, np.zeros(len(cone)), equations, loads, bounds).status == 0


def least_thickness(stones, friction):
    low, high = 0.01, 0.5
    while high - low > 1e-4:
        middle = (low + high) / 2
        low, high = (low, middle) if can_stand(stones, middle, friction) else (middle, high)
    return high


def run_arch(stones, margin, side, friction, radius, rate, substeps):
    factor = 1 + margin if side == "stands" else 1 - margin
    thickness = factor * least_thickness(stones, friction)
    world = stepped(
        mc.load("arch", stones=stones, radius=radius, thickness=thickness * radius, width=0.4 * radius, friction=friction),
        rate,
        substeps,
    )
    return verdict(world, world.positions[:, 2] + 0.0, 4 * math.sqrt(radius), rate, side == "stands")


ARCH = Family(
    "arch",
    "Round arches near their least thickness",
    "Forces at the joints' corners that hold the weight inside Coulomb's cone, found by linear programming, exist or "
    "not (Heyman's "
    "safe theorem).",
    run_arch,
    {
        "stones": Whole(4, 31),
        "margin": Log(0.02, 0.6),
        "side": SIDE,
        "friction": Uniform(0.6, 1.2),
        "radius": Log(0.2, 10),
        "rate": RATE,
        "substeps": WholeLog(1, 16),
    },
    {"wrong": WRONG},
    domain={"margin": Log(0.1, 0.6), "substeps": Whole(4, 16)},
    quick={"stones": Whole(4, 21), "rate": WholeLog(60, 90), "substeps": Whole(4, 6)},
    examples=8,
)


# ---- card houses, walls, dominoes ------------------------------------------------------------------------------------


def run_cards(levels, lean, margin, side, thickness, rate, substeps):
    """Friction at (1 + margin) of what a loaded pair needs, or at (1 - margin) of what one without a load needs."""
    need = math.tan(lean)
    friction = (1 + margin) * need if side == "stands" else (1 - margin) * need / 2
    world = stepped(mc.load("card_tower", levels=levels, lean=lean, friction=friction, thickness=thickness), rate, substeps)
    return verdict(world, world.positions[:, 2] + 0.0, 4, rate, side == "stands")


CARDS = Family(
    "cards",
    "Card houses",
    "A pair that carries a load holds where mu > tan(lean), one without where mu > tan(lean)/2: all hold, or the "
    "uppermost slides apart.",
    run_cards,
    {
        "levels": Whole(1, 6),
        "lean": Uniform(0.1, 0.6),
        "margin": Log(0.05, 0.8),
        "side": SIDE,
        "thickness": Log(0.005, 0.05),
        "rate": RATE,
        "substeps": WholeLog(1, 16),
    },
    {"wrong": WRONG},
    domain={"margin": Log(0.2, 0.8), "levels": Whole(1, 3), "lean": Uniform(0.2, 0.45), "substeps": Whole(4, 16)},
    quick={"levels": Whole(1, 2), "rate": WholeLog(60, 90), "substeps": Whole(4, 6)},
    examples=6,
)


def run_wall(width, height, brick, friction, rate, substeps):
    world = stepped(mc.load("wall", width=width, height=height, brick=brick, friction=friction), rate, substeps)
    start = world.positions[:, 2].copy()
    world.step(3 * rate)
    return {"sunk": abs(sunk(world, start)), "speed": float(np.abs(world.velocities).max()) / math.sqrt(G * brick)}


WALL = Family(
    "wall",
    "Brick walls",
    "They stand and come to rest, in 3 s.",
    run_wall,
    {
        "width": WholeLog(1, 12),
        "height": WholeLog(1, 16),
        "brick": Log(0.02, 2),
        "friction": Uniform(0.2, 1),
        "rate": RATE,
        "substeps": WholeLog(1, 16),
    },
    {
        "sunk": Error("", 0.05, "sunk at the top, by its height"),
        "speed": Error("", 0.005, "largest speed, by the root of g times the length of a brick"),
    },
    domain={"substeps": Whole(4, 16)},
    quick={"width": WholeLog(1, 4), "height": WholeLog(1, 6), "rate": WholeLog(60, 90), "substeps": Whole(4, 6)},
    examples=6,
)


def run_dominoes(count, height, spacing, bend, friction, rate, substeps):
    """bend: of the row, from one to the next [rad]."""
    world = stepped(
        mc.load("dominoes", count=count, height=height, spacing=spacing, turn=bend * (count - 1), friction=friction),
        rate,
        substeps,
    )
    start, gain = world.energy().total, 0.0
    scale = world.masses[1] * G * height
    time = math.sqrt(height)  # a domino's, times the number that one by one need it
    for _ in range(math.ceil((3 + 0.5 * count) * time * rate)):
        world.step()
        gain = max(gain, (world.energy().total - start) / scale)
    standing = sum(upright(world, k)[2] > 0.8 for k in range(1, count + 1))
    return {"standing": float(standing), "gain": gain}


DOMINOES = Family(
    "dominoes",
    "Dominoes",
    "Each reaches the next one above its middle, so all fall; energy is not gained.",
    run_dominoes,
    {
        "count": WholeLog(2, 40),
        "height": Log(0.05, 5),
        "spacing": Uniform(0.3, 0.8),
        "bend": Uniform(0, 0.12),
        "friction": Uniform(0.1, 0.8),
        "rate": RATE,
        "substeps": WholeLog(1, 16),
    },
    {
        "standing": Error("dominoes", 0.5, "still upright"),
        "gain": Error("", 1e-3, "energy above the start's, by a domino's weight times its height"),
    },
    domain={"spacing": Uniform(0.45, 0.7), "bend": Uniform(0, 0.1), "friction": Uniform(0.2, 0.5)},
    quick={"count": WholeLog(2, 10), "rate": WholeLog(60, 90), "substeps": WholeLog(2, 6)},
    examples=6,
)

# ---- domes -----------------------------------------------------------------------------------------------------------


def dome_corners(rings, sectors, thickness):
    """Corners (2 inner and outer, rings + 1 latitudes, sectors longitudes, 3) of the stones of half a sphere of inner
    radius 1. The stone on top is half as high as a ring."""
    latitude = np.linspace(0, math.pi / 2, 2 * rings + 2)[:-1:2][:, None]
    longitude = 2 * math.pi * np.arange(sectors)[None, :] / sectors
    at = np.stack(
        [np.cos(latitude) * np.cos(longitude), np.cos(latitude) * np.sin(longitude), np.sin(latitude) + 0 * longitude],
        axis=-1,
    )
    return np.stack([at, (1 + thickness) * at])


def dome_stones(rings, sectors, corners):
    """Corners of each stone, the top one last."""
    stones = [
        corners[:, k : k + 2][:, :, [i, (i + 1) % sectors]].reshape(-1, 3) for k in range(rings) for i in range(sectors)
    ]
    return [*stones, corners[:, rings].reshape(-1, 3)]


def volume_and_center(points):
    hull = ConvexHull(points)
    middle = points.mean(axis=0)
    parts = points[hull.simplices]
    volumes = np.abs(np.linalg.det(parts - middle)) / 6
    return volumes.sum(), volumes @ (parts.sum(axis=1) + middle) / 4 / volumes.sum()


def dome_can_stand(rings, sectors, thickness, friction):
    """As can_stand, in space: forces at the four corners of each joint, of a pyramid inside Coulomb's cone. All
    sectors may be taken for equal: the mean of a solution over its turns is one too. So one sector is asked, whose
    forces on both sides are the same, turned."""
    corners = dome_corners(rings, sectors, thickness)
    stones = dome_stones(rings, sectors, corners)
    masses = [volume_and_center(stone) for stone in stones[::sectors]]  # of the first sector, the top one last
    turn = 2 * math.pi / sectors
    back = np.array([[math.cos(turn), math.sin(turn), 0], [-math.sin(turn), math.cos(turn), 0], [0, 0, 1]])
    columns, loads = [], np.zeros(6 * rings + 1)
    loads[2::6] = [volume for volume, _ in masses[:-1]]
    loads[-1] = masses[-1][0] / sectors  # of the top stone all else vanishes by symmetry
    for level in range(2 * rings + 1):
        k, side = level // 2, level % 2  # the joint below stone k, or that beside it
        at = (corners[:, k : k + 2, 1] if side else corners[:, k][:, [0, 1]]).reshape(4, 3)
        normal = np.cross(at[1] - at[0], at[2] - at[0])
        into = (back.T @ masses[k][1] if side else masses[k][1]) - at.mean(axis=0)  # the next sector; up
        normal *= math.copysign(1.0, normal @ into) / np.linalg.norm(normal)
        tangent = (at[1] - at[0]) / np.linalg.norm(at[1] - at[0])
        other = np.cross(normal, tangent)
        for point in at:
            for force in (normal, *(normal + friction * d for d in (tangent, -tangent, other, -other))):
                column = np.zeros(len(loads))
                if side:
                    for arm, part in ((point - masses[k][1], -force), (back @ point - masses[k][1], back @ force)):
                        column[6 * k : 6 * k + 6] += np.concatenate([part, np.cross(arm, part)])
                else:
                    if k < rings:
                        column[6 * k : 6 * k + 6] = np.concatenate([force, np.cross(point - masses[k][1], force)])
                    else:
                        column[-1] = force[2]
                    if k > 0:
                        column[6 * k - 6 : 6 * k] = -np.concatenate([force, np.cross(point - masses[k - 1][1], force)])
                columns.append(column)
    return linprog(np.zeros(len(columns)), A_eq=np.array(columns).T, b_eq=loads).status == 0


def least_dome(rings, sectors, friction):
    """-> the least thickness, or None where no dome of so rough stones stands."""
    low, high = 0.005, 0.6
    if not dome_can_stand(rings, sectors, high, friction):
        return None
    while high - low > 1e-4:
        middle = (low + high) / 2
        low, high = (low, middle) if dome_can_stand(rings, sectors, middle, friction) else (middle, high)
    return high


def run_dome(rings, sectors, margin, side, friction, radius, rate, substeps):
    least = least_dome(rings, sectors, friction)
    if least is None:  # nothing to be held against
        return {"wrong": 0.0}
    thickness = least * (1 + margin if side == "stands" else 1 - margin)
    scene, material = mc.Scene(), mc.Material(friction=friction)
    scene.add_body("ground", kind="static", shape=mc.Plane((0, 0, 1)), material=material)
    for k, stone in enumerate(dome_stones(rings, sectors, dome_corners(rings, sectors, thickness))):
        middle = radius * stone.mean(axis=0)
        scene.add_body(
            f"stone{k}", shape=mc.ConvexHull(radius * stone - middle), density=2000.0, position=middle, material=material
        )
    world = stepped(scene, rate, substeps)
    return verdict(world, world.positions[:, 2] + 0.0, 4 * math.sqrt(radius), rate, side == "stands")


DOME = Family(
    "dome",
    "Half spheres of stones near their least thickness",
    "As for arches, in space: by linear programming over the forces at the corners of all joints.",
    run_dome,
    {
        "rings": Whole(2, 6),
        "sectors": Whole(5, 16),
        "margin": Log(0.02, 1),
        "side": SIDE,
        "friction": Uniform(0.4, 1),
        "radius": Log(0.1, 5),
        "rate": RATE,
        "substeps": WholeLog(1, 16),
    },
    {"wrong": WRONG},
    domain={"margin": Log(0.2, 1), "substeps": Whole(4, 16)},
    quick={
        "rings": Whole(2, 3),
        "sectors": Whole(5, 7),
        "radius": Log(0.1, 0.5),
        "rate": WholeLog(60, 90),
        "substeps": Whole(4, 6),
    },
    examples=4,
)

FAMILIES = (STACK, OVERHANG, RIM, ARCH, CARDS, WALL, DOMINOES, DOME)
