"""Scenes at the edge of what numbers can do: what becomes of each, in worlds of each kind.

    python benchmarks/degenerate.py                      the table
    python benchmarks/degenerate.py --page               writes it into docs/reliability.md
    python benchmarks/degenerate.py --case far --world rows

Each scene runs in each world. What comes of it is one of

    a number    all stayed finite, and this is how far the energy rose above that of the beginning, as a part of SCALE
    refused     a SceneError before the first step, or a SimulationError, which names the body

and SCALE is the kinetic energy of the beginning, what gravity could give a fall of a metre, and what bodies that stand in
each other may be pushed apart with, at PUSH m/s each. A number above
BOUND falls short, and is known (KNOWN), or a defect, as is anything else.
"""

import argparse
import time
import warnings
from collections import namedtuple
from pathlib import Path

import numpy as np

import mcsim as mc

BOUND = 0.05
PUSH = 3.0  # m/s: RigidContact's push_speed, by which overlaps and open joints are taken back
PAGE = Path(__file__).parents[1] / "docs" / "reliability.md"
BEGIN, END = "<!-- degenerate -->", "<!-- end of degenerate -->"
MATERIAL = mc.Material(friction=0.5, stiffness=1e5, damping=100.0)
ORIGIN = (0.0, 0.0, 0.0)

Case = namedtuple("Case", "words make dt steps", defaults=(1 / 60, 120))
Found = namedtuple("Found", "outcome rise seconds message", defaults=("",))


# ---- scenes ------------------------------------------------------------------------------------------------------------


def ground(z=0.0):
    scene = mc.Scene()
    scene.add_body("floor", kind="static", shape=mc.Plane((0, 0, 1), offset=z), material=MATERIAL)
    return scene


def add(scene, name, shape, position, **arguments):
    scene.add_body(name, shape=shape, position=position, material=MATERIAL, **({"density": 1000.0} | arguments))


def thin(half):
    scene = ground()
    add(scene, "plate", mc.Box((0.5, 0.5, half)), (0, 0, 0.3), mass=1.0, density=None)
    add(scene, "ball", mc.Sphere(0.1), (0, 0, 0.6))
    return scene


def needles():
    scene = ground()
    add(scene, "rod", mc.Box((1.0, 1e-6, 1e-6)), (0, 0, 0.3), mass=1.0, density=None)
    add(scene, "wire", mc.Capsule(1e-6, 1.0), (0, 1, 0.3), mass=1.0, density=None, orientation=(0.8, 0, 0.6, 0))
    add(scene, "pin", mc.Cylinder(1e-6, 1.0), (0, 2, 1.2), mass=1.0, density=None)
    return scene


def flat_hull():
    scene = ground()
    add(scene, "sheet", mc.ConvexHull([(0, 0, 0), (1, 0, 0), (0, 1, 0), (1, 1, 1e-12)]), (0, 0, 1))
    return scene


def masses():
    scene = ground()
    for i in range(7):
        add(scene, f"b{i}", mc.Sphere(0.1), (0.2 * i, 0, 0.1), mass=10.0 ** (3 * i - 9), density=None)
    return scene


def heavy_on_light():
    scene = ground()
    for i in range(3):
        add(scene, f"b{i}", mc.Box((0.1, 0.1, 0.1)), (0, 0, 0.1 + 0.2 * i), mass=10.0 ** (9 * i - 9), density=None)
    return scene


def mixed_chain():
    scene = mc.Scene()
    for i in range(7):
        add(scene, f"b{i}", mc.Sphere(0.1), (0.3 * (i + 1), 0, 0), mass=1e9 if i % 2 else 1e-9, density=None)
        scene.add_joint(mc.HingeJoint(f"b{i - 1}" if i else None, f"b{i}", (0.3 * i + 0.15, 0, 0), (0, 1, 0)))
    return scene


def far(distance):
    scene = ground()
    x = distance
    for row in range(4):
        for i in range(4 - row):
            add(scene, f"b{row}{i}", mc.Box((0.1, 0.1, 0.1)), (x + 0.21 * i + 0.105 * row, x, 0.1 + 0.2 * row))
    add(scene, "arm", mc.Capsule(0.05, 0.2), (x + 3.0, x, 1.0), angular_velocity=(0, 1, 0), velocity=(-0.3, 0, 0))
    scene.add_joint(mc.HingeJoint(None, "arm", (x + 3.0, x, 1.3), (0, 1, 0)))
    return scene


def spinning(rate):
    scene = mc.Scene(gravity=ORIGIN)
    add(scene, "ball", mc.Sphere(0.1), ORIGIN, angular_velocity=(0, 0, rate))
    add(scene, "brick", mc.Box((0.1, 0.2, 0.3)), (1, 0, 0), angular_velocity=(0.01 * rate, rate, 0.01 * rate))
    add(scene, "wheel", mc.Cylinder(0.2, 0.05), (2, 0, 0), angular_velocity=(0, 0, rate))
    scene.add_joint(mc.HingeJoint(None, "wheel", (2, 0, 0), (0, 0, 1)))
    return scene


def spinning_on_ground(rate):
    scene = ground()
    add(scene, "ball", mc.Sphere(0.1), (0, 0, 0.1), angular_velocity=(0, rate, 0))
    add(scene, "brick", mc.Box((0.1, 0.2, 0.3)), (2, 0, 0.3), angular_velocity=(0, 0, rate))
    return scene


def some_of_all():
    scene = ground()
    for i in range(4):
        add(scene, f"b{i}", mc.Box((0.1, 0.1, 0.1)), (0, 0, 0.1 + 0.2 * i))
    add(scene, "arm", mc.Capsule(0.05, 0.2), (3, 0, 1.0))
    scene.add_joint(mc.HingeJoint(None, "arm", (3.2, 0, 1.2), (0, 1, 0)))
    return scene


def one_point(count):
    scene = ground()
    for i in range(count):
        add(scene, f"b{i}", mc.Sphere(0.1), (0, 0, 1.0))
    return scene


def all_joints():
    scene = mc.Scene()
    add(scene, "base", mc.Box((0.2, 0.2, 0.2)), ORIGIN, velocity=(1, 0, 0), angular_velocity=(0, 0, 1))
    add(scene, "other", mc.Box((0.1, 0.1, 0.1)), (0.5, 0, 0), velocity=(1, 0.5, 0), angular_velocity=(0, 0, 1))
    at, z = (0.25, 0, 0), (0, 0, 1)
    for make in (mc.FixedJoint, mc.BallJoint):
        scene.add_joint(make("base", "other", at))
    for make in (mc.HingeJoint, mc.SliderJoint, mc.CylindricalJoint):
        scene.add_joint(make("base", "other", at, z))
    scene.add_joint(mc.ScrewJoint("base", "other", at, z, pitch=0.1))
    scene.add_joint(mc.PlanarJoint("base", "other", at, z))
    scene.add_joint(mc.DistanceJoint("base", "other", ORIGIN, (0.5, 0, 0)))
    scene.add_joint(mc.LockJoint("base", "other", translation="xyz", rotation="xyz"))
    return scene


def touching():
    scene = ground()
    for i in range(4):
        for j in range(4):
            for k in range(3):
                shape = mc.Box((0.1, 0.1, 0.1)) if (i + j) % 2 else mc.Sphere(0.1)
                add(scene, f"b{i}{j}{k}", shape, (0.2 * i, 0.2 * j, 0.1 + 0.2 * k))
    return scene


CASES = {
    "plate": Case("a plate 2e-9 m thick, and a ball that falls on it", lambda: thin(1e-9), 1 / 60, 40),
    "no thickness": Case("a plate without thickness", lambda: thin(0.0)),
    "needles": Case("rods 10^6 times as long as thick", needles),
    "flat hull": Case("a hull that is flat to 1e-12", flat_hull),
    "masses": Case("balls of 1e-9 kg to 1e9 kg side by side", masses),
    "heavy on light": Case("1e9 kg on 1 kg on 1e-9 kg", heavy_on_light),
    "mixed chain": Case("a chain of 1e-9 kg and 1e9 kg by turns", mixed_chain, 1 / 60, 100),
    "far": Case("a pyramid and an arm 1e5 m away", lambda: far(1e5)),
    "spins": Case("spins of 1e4 rad/s, free", lambda: spinning(1e4)),
    "spins on ground": Case("spins of 1e4 rad/s, on the ground", lambda: spinning_on_ground(1e4)),
    **{
        f"dt {dt:g}": Case(f"a stack and an arm, dt = {dt:g} s", some_of_all, dt, steps)
        for dt, steps in ((1e-7, 300), (1e-4, 300), (0.1, 60), (1.0, 20))
    },
    "one point": Case("60 balls at one point", lambda: one_point(60), 1 / 60, 30),
    "all joints": Case("all joints between two bodies", all_joints),
    "touching": Case("boxes and balls at rest, exactly touching", touching),
}

WORLDS = {
    "World": lambda scene, dt: mc.World(scene, dt=dt),
    "rows": lambda scene, dt: mc.World(scene, dt=dt, joint_solver="rows"),
    "baumgarte": lambda scene, dt: mc.World(scene, dt=dt, stabilization="baumgarte"),
    "pgs": lambda scene, dt: mc.World(scene, dt=dt, solver="pgs"),
    "compliant": lambda scene, dt: mc.World(scene, dt=dt, contact="compliant"),
    "rk4": lambda scene, dt: mc.World(scene, dt=dt, integrator="rk4"),
    "ReducedWorld": lambda scene, dt: mc.ReducedWorld(scene, dt=dt),
}


# What falls short: the energy rises further than BOUND, but no further than this.
KNOWN = {
    ("dt 1", "rk4"): 0.6,
    # What stands in itself is pushed apart by every contact; of springs this is the energy that they hold.
    **{("one point", name): 15.0 for name in ("rk4", "ReducedWorld")},
    **{("one point", name): 0.5 for name in ("World", "rows", "pgs")},  # they are lifted out of each other
    ("one point", "baumgarte"): 500.0,
    ("one point", "compliant"): 600.0,
}


# ---- runs --------------------------------------------------------------------------------------------------------------


def scale(world):
    """[J] See the top."""
    mass = np.array([body.mass for body in world.scene.bodies if body.kind == "dynamic"])
    give = float(np.linalg.norm(world.gravity)) * 1.0 + 0.5 * PUSH**2
    return world.energy().kinetic + float(mass.sum()) * give


def run(case, make):
    """Found of one scene in one world."""
    began = time.perf_counter()
    try:
        world = make(case.make(), case.dt)
        first, room, rise = world.energy().total, scale(world), 0.0
        for _ in range(case.steps):
            world.step()
            arrays = world.positions, world.orientations, world.velocities, world.angular_velocities
            if not all(np.isfinite(array).all() for array in arrays):
                return Found("not finite", np.inf, time.perf_counter() - began)
            rise = max(rise, (world.energy().total - first) / room)
        world.check()
    except (mc.SceneError, mc.SimulationError) as error:
        return Found("refused", 0.0, time.perf_counter() - began, f"{type(error).__name__}: {error}")
    return Found("bounded" if rise <= BOUND else "grows", rise, time.perf_counter() - began)


def table(cases, worlds):
    rows = [["", *worlds], ["---", *["---"] * len(worlds)]]
    for name in cases:
        row = [CASES[name].words]
        for kind in worlds:
            with warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("ignore")
                found = run(CASES[name], WORLDS[kind])
            row.append("refused" if found.outcome == "refused" else told(found.rise))
            print(
                f"{name}, {kind}: {found.outcome} {found.rise:.3g} ({found.seconds:.1f} s) {found.message[:300]}",
                flush=True,
            )
        rows.append(row)
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def told(rise):
    return "0" if rise < 1e-9 else f"{rise:.0e}".replace("e-0", "e-") if rise <= BOUND else f"**{rise:.2g}**"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--case", nargs="*", default=list(CASES), choices=list(CASES))
    parser.add_argument("--world", nargs="*", default=list(WORLDS), choices=list(WORLDS))
    parser.add_argument("--page", action="store_true", help="write the table into docs/reliability.md")
    given = parser.parse_args()
    text = table(given.case, given.world)
    print(text)
    if given.page:
        page = PAGE.read_text(encoding="utf-8")
        before, _, rest = page.partition(BEGIN)
        PAGE.write_text(f"{before}{BEGIN}\n{text}{END}{rest.partition(END)[2]}", encoding="utf-8")


if __name__ == "__main__":
    main()
