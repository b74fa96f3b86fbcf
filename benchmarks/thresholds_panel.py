"""The scenes that thresholds are judged by (thresholds.py): each for a moment, and what came of it.

    python benchmarks/thresholds_panel.py FILE.json [worlds] [solvers]

Worlds, a problem that all solvers of the laboratory are given, or both. A process of its own, for what it measures is the
mcsim that it finds first.
"""

import hashlib
import json
import sys
import warnings
from pathlib import Path

import numpy as np

import mcsim as mc
from mcsim.core.errors import SceneError
from mcsim.solve.problems import SOLVERS
from mcsim.solve.problems.solution import largest

SOLVED_BY = 200  # iterations of a laboratory solver, at most


def soft_boxes():
    """Three boxes of a soft material on each other."""
    scene = mc.Scene()
    soft = mc.Material(friction=0.5, stiffness=1e5, damping=100.0)
    scene.add_body("floor", shape=mc.Plane((0.0, 0.0, 1.0)), kind="static", material=soft)
    for k in range(3):
        scene.add_body(
            f"box{k}",
            shape=mc.Box((0.15, 0.15, 0.15)),
            position=(0.02 * k, 0.0, 0.16 + 0.31 * k),
            density=500.0,
            material=soft,
        )
    return scene


def bouncing():
    """Solids of every round kind fall on a slope and the floor, with restitution."""
    scene = mc.Scene()
    hard = mc.Material(friction=0.4, restitution=0.6)
    scene.add_body("floor", shape=mc.Plane((0.0, 0.0, 1.0)), kind="static", material=hard)
    scene.add_body(
        "slope",
        shape=mc.Box((1.0, 1.0, 0.2)),
        kind="static",
        position=(0.0, 0.0, 0.4),
        orientation=(0.98, 0.199, 0.0, 0.0),
        material=hard,
    )
    shapes = (mc.Sphere(0.15), mc.Capsule(0.1, 0.15), mc.Cylinder(0.15, 0.15), mc.Cone(0.2, 0.15), mc.Box((0.1, 0.15, 0.2)))
    for k, shape in enumerate(shapes):
        scene.add_body(
            f"solid{k}",
            shape=shape,
            position=(0.45 * k - 0.9, 0.1 * k, 1.2 + 0.1 * k),
            velocity=(0.3, -0.2 * k, -2.0),
            angular_velocity=(1.0, 2.0, 0.5 * k),
            density=800.0,
            material=hard,
        )
    return scene


def arms_apart():
    """Two arms whose hands a joint is to hold together, over a gap that is too wide for them."""
    scene = mc.Scene()
    for name, x, side in (("a", 0.0, 1), ("b", 3.0, -1)):
        scene.add_body(name, mass=1.0, inertia=(0.1, 0.1, 0.1), position=(x, 0.0, 0.5 * side))
        scene.add_joint(mc.HingeJoint(None, name, (x, 0.0, 0.0), (0, 1, 0)))
    scene.add_joint(mc.BallJoint("a", "b", frame_a=((0, 0, 0.5), (1, 0, 0, 0)), frame_b=((0, 0, -0.5), (1, 0, 0, 0))))
    return scene


def of(name, **parameters):
    return lambda: mc.scenes.build(name, **parameters)


# name: the scene, steps, and how it is run
SCENES = {
    "pyramid": (of("pyramid", base=5), 60, {}),
    "heavy tower": (of("tower10_heavy"), 60, {}),
    "stack asleep": (of("stack", count=4), 90, {}),
    "ragdoll": (of("ragdolls", count=1), 30, {}),
    "ragdolls by rows": (of("ragdolls", count=1), 30, {"joint_solver": "rows"}),
    "ragdoll projected": (of("ragdolls", count=1), 20, {"stabilization": "projection"}),
    "chain": (of("chain", count=16), 60, {}),
    "heavy chain": (of("chain20_heavy"), 40, {}),
    "four-bar": (of("four_bar"), 60, {}),
    "net": (of("grid", side=5), 40, {}),
    "bridge": (of("bridge"), 30, {}),
    "cardan shaft": (of("cardan_shaft"), 40, {}),
    "cradle": (of("newton_cradle"), 60, {}),
    "bouncing": (bouncing, 45, {}),
    "bouncing by Stronge": (bouncing, 30, {"restitution_law": "stronge"}),
    "marbles": (of("marbles", count=20), 25, {}),
    "dominoes": (of("dominoes", count=6), 40, {}),
    "compliant": (soft_boxes, 30, {"contact": "compliant"}),
    "rk4": (of("four_bar"), 15, {"integrator": "rk4"}),
    "rattle": (of("bridge"), 4, {"integrator": "rattle"}),
    "variational": (of("free_ragdoll"), 20, {"integrator": "variational"}),
    "arms projected": (arms_apart, 30, {"joint_solver": "rows", "stabilization": "projection"}),
    "arms rk4": (arms_apart, 10, {"integrator": "rk4", "stabilization": "projection"}),
    "arms rattle": (arms_apart, 10, {"integrator": "rattle"}),
    "event": (of("newton_cradle", balls=3), 3, {"contact": "event"}),
    "reduced pyramid": (of("pyramid", base=3), 20, {"kind": "ReducedWorld"}),
    "reduced ragdoll": (of("ragdolls", count=1), 30, {"kind": "ReducedWorld"}),
    "reduced four-bar": (of("four_bar"), 30, {"kind": "ReducedWorld"}),
}


def measured(scene, steps, options):
    options = dict(options)
    world = getattr(mc, options.pop("kind", "World"))(scene, **options)
    before = world.energy().total
    sweeps = 0
    for _ in range(steps):
        world.step()
        sweeps += world.stats.iterations
    errors, contacts = world.joint_errors(), world.contacts
    state = [np.ascontiguousarray(part) for part in (world.positions, world.orientations, world.velocities)]
    return {
        "hash": hashlib.sha256(b"".join(part.tobytes() for part in state)).hexdigest()[:16],
        "positions": world.positions.ravel().tolist(),
        "joint_error": float(errors[:, 0].max(initial=0.0)),
        "penetration": float(max(0.0, -contacts["separation"].min(initial=0.0))) if len(contacts) else 0.0,
        "energy": float(world.energy().total - before),
        "sweeps": int(sweeps),
        "notes": len(world.stats.all_notes),
    }


def solved(problem, solver, model):
    solution = mc.solve(problem, solver, model, tolerance=1e-9, max_iterations=SOLVED_BY)
    impulses = np.ascontiguousarray(solution.impulses)
    return {
        "hash": hashlib.sha256(impulses.tobytes()).hexdigest()[:16],
        "positions": impulses.ravel().tolist(),
        "joint_error": 0.0,
        "penetration": 0.0,
        "energy": float(largest(solution.final)),
        "sweeps": int(solution.iterations),
        "notes": int(not solution.converged),
    }


def attempt(run, *arguments):
    try:
        return run(*arguments)
    except (mc.SimulationError, SceneError, ArithmeticError) as error:
        return {"failed": f"{type(error).__name__}: {error}"[:200]}


def worlds():
    return {name: attempt(lambda build, *rest: measured(build(), *rest), *scene) for name, scene in SCENES.items()}


def solvers():
    world = mc.World(mc.scenes.build("pyramid", base=4), sleep=False)
    world.step(5)
    problem = world.problem()
    return {
        f"{solver} {model}": attempt(solved, problem, solver, model)
        for solver, (_, models, _) in SOLVERS.items()
        for model in models[::2]
    }


def main(out, *parts):
    warnings.simplefilter("ignore")
    found = {}
    for part in (worlds, solvers):
        if not parts or part.__name__ in parts:
            found |= part()
    Path(out).write_text(json.dumps(found))


if __name__ == "__main__":
    main(*sys.argv[1:])
