"""Chains that run out: over the edge of a table, off a row of slack strings, and out of a zigzag (the chain fountain)."""

import itertools
import math

import numpy as np

import mcsim as mc
from families.family import GAP, Choice, Error, Family, Log, Shortfall, Uniform, Watch, Whole, WholeLog, stepped, turned

ACROSS = turned((1, 0, 0), math.pi / 2)  # turns a capsule's own z axis along the world's y
LINK = {"collision_group": 2, "collision_mask": 1}  # they meet what stands, not each other


def add_beads(scene, places, radius, material):
    """Balls of 1 kg, on rods from middle to middle."""
    for k, place in enumerate(places):
        scene.add_body(f"link{k}", shape=mc.Sphere(radius), mass=1.0, position=place, material=material, **LINK)
        if k:
            scene.add_joint(mc.DistanceJoint(f"link{k - 1}", f"link{k}", anchor_a=places[k - 1], anchor_b=place))


def add_links(scene, places, radius, material):
    """Capsules of 1 kg from place to place, on ball joints there."""
    for k, (begin, end) in enumerate(itertools.pairwise(places)):
        begin, end = np.asarray(begin, float), np.asarray(end, float)
        along = (end - begin) / np.linalg.norm(end - begin)
        scene.add_body(
            f"link{k}",
            shape=mc.Capsule(radius, 0.5 - radius),
            mass=1.0,
            position=(begin + end) / 2,
            orientation=turned_to(along),
            material=material,
            **LINK,
        )
        if k:
            scene.add_joint(mc.BallJoint(f"link{k - 1}", f"link{k}", begin))


def turned_to(along):
    """The turn of the z axis to a unit vector, about a level axis."""
    axis = np.array([-along[1], along[0], 0.0])
    sine = np.linalg.norm(axis)
    return turned(axis, math.atan2(sine, along[2])) if sine > 0.0 else turned((1, 0, 0), 0.0 if along[2] > 0 else math.pi)


def add_table(scene, bend, reach, material):
    """Its top at z = 0 up to x = 0, from where it bends down round a quarter of a cylinder."""
    scene.add_body(
        "table",
        kind="static",
        material=material,
        shape=[
            mc.Box((reach, reach, bend), position=(-reach, 0, -bend)),
            mc.Capsule(bend, reach, position=(0, 0, -bend), orientation=ACROSS),
        ],
    )


# ---- over the edge ---------------------------------------------------------------------------------------------------


def on_path(s, round_):
    """(x, z) at the arc length s beyond where the table bends, on a quarter of a circle of radius round_."""
    turn = s / round_
    if turn <= 0.0:
        return s, 0.0
    if turn >= math.pi / 2:
        return round_, -round_ - (s - round_ * math.pi / 2)
    return round_ * math.sin(turn), round_ * (math.cos(turn) - 1)


def beyond(s, round_, pitch):
    """Where on the path the next bead is, a rod of length pitch farther back."""
    x, z = on_path(s, round_)
    low, high = s - 1.2 * pitch, s - pitch * (1 - 1e-12)
    for _ in range(60):
        middle = (low + high) / 2
        u, w = on_path(middle, round_)
        low, high = (middle, high) if math.hypot(u - x, w - z) > pitch else (low, middle)
    return (low + high) / 2


def run_edge(beads, bend, hung, thick, per_link, rate, substeps):
    """A chain slides without friction over the rounded edge of a table, from rest. hung: the part that hangs at first;
    bend: radius of its path round the edge by that height, at least 2.5; thick: a bead's radius; per_link: steps in which
    it goes on by a link when half of it hangs. Lengths by a link's."""
    growth = 2 * rate / (per_link * beads)
    gravity = growth**2 * beads
    first = hung * beads
    round_ = max(2.5, bend * (first - 0.5))
    scene = mc.Scene(gravity=(0, 0, -gravity))
    material = mc.Material(friction=0.0)
    add_table(scene, round_ - thick, beads + 1.0, material)
    # The first bead hangs in the middle of the last piece of the chain.
    s = first - 0.5 + round_ * (math.pi / 2 - 1)
    places = []
    for _ in range(beads):
        x, z = on_path(s, round_)
        places.append((x, 0.0, z + thick))
        s = beyond(s, round_, 1.0)
    add_beads(scene, places, thick, material)
    world = stepped(scene, rate, substeps)
    # Where it bends no more it presses with T - v^2 = (y - r) (g - a) - g (y^2 - y0^2) / L, and leaves when that is 0.
    root = 1 + round_ / beads
    leaves = beads / 4 * (root + math.sqrt(root**2 + 8 * (first**2 / beads - round_) / beads))
    watch = Watch(world, scale=(leaves**2 - first**2) / 2 * gravity)
    off = 0.0
    for k in range(1, int(math.acosh(max(1.0, 0.95 * leaves / first)) / growth * rate) + 2):
        watch.step()
        true = first * math.cosh(growth * k / rate)
        off = max(off, abs(thick - world.positions[1, 2] + 0.5 - true) / true)
    return {**watch.found(), "way": off}


EDGE = Family(
    "edge",
    "A chain slides over the edge of a table",
    "Without friction x'' = g x / L, x the height of what hangs, while it presses on the edge, which ends where about half "
    'of it hangs (D. Prato, R. Gleiser, "Another look at the uniform rope sliding over the edge of a smooth table", '
    "1982). Beads on rods.",
    run_edge,
    {
        "beads": WholeLog(24, 100),
        "bend": Uniform(0.2, 0.6),
        "hung": Uniform(0.15, 0.4),
        "thick": Uniform(0.1, 0.5),
        "per_link": Log(0.3, 20),
        "rate": WholeLog(30, 1000),
        "substeps": WholeLog(1, 16),
    },
    {
        "way": Error("", 0.01, "error of what hangs, by that"),
        "gap": GAP,
        "gain": Error("", 1e-3, "energy above the start's, by what the fall sets free"),
        "loss": Error("", 0.02, "energy lost, by that"),
    },
    domain={"per_link": Log(1.5, 20)},
    quick={"beads": WholeLog(24, 40), "per_link": Log(1.5, 4), "substeps": WholeLog(1, 6)},
    examples=6,
)


# ---- slack strings ---------------------------------------------------------------------------------------------------


def run_caught(beads, slack, pull, per_catch, mass, rate, substeps):
    """Beads in a row on strings of length 1; the first is pulled. slack: of each string at first; per_catch: steps from one
    catch to the next, at the speed at which it ends. pull: a steady force, or one in proportion to the way."""
    steady = pull == "steady"
    speed = slack * rate / per_catch
    # v^2 = F slack / m in the end of a steady pull; of the other, F = k x, (2/3) k slack x / m.
    force = mass * speed**2 / slack if steady else 1.5 * mass * speed**2 / (beads * slack**2)
    scene = mc.Scene(gravity=(0, 0, 0))
    for k in range(beads):
        scene.add_body(f"bead{k}", mass=mass, inertia=(0.1 * mass,) * 3, position=(-k * (1 - slack), 0, 0))
        if k:
            scene.add_joint(
                mc.DistanceJoint(
                    f"bead{k - 1}",
                    f"bead{k}",
                    anchor_a=(-(k - 1) * (1 - slack), 0, 0),
                    anchor_b=(-k * (1 - slack), 0, 0),
                    limits=(None, 1.0),
                )
            )
    world = stepped(scene, rate, substeps)
    before, steps, way = 0.0 if steady else slack, 0, 0.0
    while way < (beads - 1.5) * slack and steps < 20 * beads * per_catch + 100:
        world.apply_force("bead0", (force if steady else force * (before + way), 0, 0))
        world.step()
        steps += 1
        way = world.positions[0, 0]
    # Momentum stays in a catch: its square has gained 2 n m times the work while n beads went.
    square = seconds = place = 0.0
    going = int(way / slack) + 1
    for n in range(1, going + 1):
        end, last = min(n * slack, way), math.sqrt(square)
        square += 2 * n * mass * force * ((end - place) if steady else ((before + end) ** 2 - (before + place) ** 2) / 2)
        seconds += (math.sqrt(square) - last) / force
        place = end
    return {
        "energy": abs(world.energy().kinetic / (square / (2 * going * mass)) - 1),
        "time": abs(steps / rate / seconds - 1) if steady else 0.0,
        "long": max(0.0, float(np.diff(-world.positions[:, 0]).max()) - 1.0),
    }


CAUGHT = Family(
    "caught",
    "Beads on slack strings are pulled off one by one",
    "Each catch is inelastic and keeps momentum. Steadily pulled they come to v^2 = F / (mass a length), the speed of a "
    "chain that is taken up without a kick; pulled in proportion to the way, as by the chain's own weight where it falls "
    'off a heap, to the acceleration g / 3 (A. Cayley, "On a class of dynamical problems", 1857).',
    run_caught,
    {
        "beads": WholeLog(4, 60),
        "slack": Log(0.02, 0.9),
        "pull": Choice("steady", "weight"),
        "per_catch": Log(0.3, 100),
        "mass": Log(1e-3, 1e3),
        "rate": WholeLog(30, 1000),
        "substeps": WholeLog(1, 16),
    },
    {
        "energy": Error("", 0.05, "error of the kinetic energy"),
        "time": Error("", 0.02, "error of the time, of a steady pull"),
        "long": Error("", 0.01, "longer than its string is any, by that"),
    },
    domain={"per_catch": Log(8, 100)},
    shortfalls=(
        Shortfall(
            "limits are swept one by one, four times a substep: a blow does not come to the end of a long row of strings, "
            "of which some are left slack, and loses less than it should; with iterations=16 it does.",
            {"beads": WholeLog(16, 60), "substeps": WholeLog(4, 16)},
        ),
    ),
    quick={"beads": WholeLog(4, 20), "per_catch": Log(8, 30)},
    examples=10,
)


# ---- the fountain ----------------------------------------------------------------------------------------------------


def run_fountain(links, drop, flow, row, bend, thick, per_fall, rate, substeps):
    """A chain lies in rows on a smooth table; what hangs down to the floor pulls the rest out. drop: from table to floor;
    flow: length of what lies on the table, by the drop; row: links in a row; bend: radius of its path round the edge;
    thick: radius of a link; per_fall: steps in sqrt(drop / g). Lengths by a link's."""
    gravity = drop * (rate / per_fall) ** 2
    material = mc.Material(friction=0.0)
    scene = mc.Scene(gravity=(0, 0, -gravity))
    scene.add_body("floor", kind="static", shape=mc.Plane((0, 0, 1), -drop), material=material)
    add_table(scene, bend - thick, flow * drop + row, material)
    s = drop + bend * (math.pi / 2 - 1) - 0.5
    # Chords of a circle as large as that of the edge would be in it: those of capsules begin to bend a little later.
    out, places = 0.0 if links == "beads" else 0.5, []
    while s > 0.0:
        x, z = on_path(s, bend)
        places.append((x + out, 0.0, z + thick))
        s = beyond(s, bend, 1.0)
    for k in range(math.ceil(flow * drop)):
        line, place = divmod(k, row)
        places.append((s + out - line, place if line % 2 == 0 else row - 1 - place, thick))
    (add_beads if links == "beads" else add_links)(scene, places, thick, material)
    world = stepped(scene, rate, substeps)
    count = len(world.masses) - 2
    watch = Watch(world, scale=gravity * drop * count)
    # The speed is that from when a drop's length has run out to when the table is about to be empty: two links pass
    # half-way down.
    half = drop // 2
    passing, passed = [half + drop, count - half], []
    aside = pushed = 0.0
    steps = 0
    while len(passed) < 2 and steps < 3 * (flow + 1) * per_fall:
        watch.step()
        steps += 1
        found = world.contacts
        pushed += float((found["normal"][:, 2] * found["normal_impulse"] + found["tangent_impulse"][:, 2]).sum())
        aside = max(aside, abs(world.momentum()[0][1]))
        if world.positions[2 + passing[len(passed)], 2] < -half:
            passed.append(steps / rate)
    if len(passed) < 2:
        return {**watch.found(), "slow": math.inf, "fast": math.inf, "aside": aside, "balance": math.inf}
    weight = count * gravity * steps / rate
    speed = (passing[1] - passing[0]) / (passed[1] - passed[0])
    x = np.linspace(drop, count - drop, 400) / drop
    least = math.sqrt(gravity * drop) * (x[-1] - x[0]) / np.trapezoid(1 / np.sqrt(-np.expm1(-2 * x)), x)
    return {
        **watch.found(),
        "slow": max(0.0, least / speed - 1),
        "fast": max(0.0, speed / math.sqrt(2 * gravity * drop) - 1),
        "aside": aside / (count * speed),
        "balance": abs(world.momentum()[0][2] - pushed + weight) / weight,
    }


FOUNTAIN = Family(
    "fountain",
    "A chain runs out of its rows (the chain fountain)",
    "The speed v lies between that of a chain that is taken up without a kick, v^2 = g h (1 - exp(-2 x / h)) after a "
    'length x, h the height of the table, and that of no loss, v^2 = 2 g h (J. Biggins, M. Warner, "Understanding the '
    "chain fountain\", 2014). Energy is not gained, and the chain's momentum is what gravity, table and floor gave. Beads "
    "on rods, or capsules on ball joints.",
    run_fountain,
    {
        "links": Choice("beads", "capsules"),
        "drop": WholeLog(8, 40),
        "flow": Uniform(2.5, 4),
        "row": Whole(3, 12),
        "bend": Uniform(1.5, 3),
        "thick": Uniform(0.1, 0.4),
        "per_fall": Log(20, 300),
        "rate": WholeLog(30, 1000),
        "substeps": WholeLog(1, 16),
    },
    {
        "slow": Error("", 0.05, "slower than without a kick, by that"),
        "fast": Error("", 0.01, "faster than without loss, by that"),
        "aside": Error("", 1e-9, "momentum along the edge, by mass and speed"),
        "balance": Error("", 0.01, "upward momentum that neither weight nor contacts gave, by the weight's"),
        "gap": GAP,
        "gain": Error("", 1e-4, "energy above the start's, by the fall of all of it"),
    },
    domain={"per_fall": Log(30, 300)},
    quick={"drop": WholeLog(8, 14), "flow": Uniform(2.5, 3), "per_fall": Log(30, 60), "substeps": WholeLog(1, 4)},
    examples=9,
)

FAMILIES = (EDGE, CAUGHT, FOUNTAIN)
