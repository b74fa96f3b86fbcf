"""Time of exact contact problems: boxes that fall into stacks, as in published measurements of ADMM.

    python benchmarks/box_stacks.py                    admm on 255 problems, from rest, to 1e-6
    python benchmarks/box_stacks.py --solver newton --repeat 5 --biased

1 to 51 boxes, five moments each: 4 to 214 contacts, 6 to 306 numbers of velocity, friction 0.7; velocities without
stabilization, or with it (--biased: harder, since the redundant contacts of a face then ask for different speeds).
J. Carpentier, Q. Le Lidec and L. Montaut (2024) report 1.5 to 1.6 ms a problem in C++, on 255 problems of 0 to 200
contacts.
"""

import argparse
import time

import numpy as np

import mcsim as mc
from common import machine
from mcsim.solve.problems import SOLVERS

BOXES, MOMENTS, HEIGHT = 51, 5, 5


def falling(boxes):
    """A World of boxes over a floor, tilted a little, in stacks of HEIGHT."""
    rng = np.random.default_rng(boxes)
    scene, material = mc.Scene(), mc.Material(friction=0.7)
    scene.add_body("floor", kind="static", shape=mc.Plane(normal=(0, 0, 1)), material=material)
    for box in range(boxes):
        stack, level = divmod(box, HEIGHT)
        turn = np.array([1.0, *rng.normal(0.0, 0.02, 3)])
        where = (
            0.3 * (stack % 4) + rng.normal(0.0, 0.02),
            0.3 * (stack // 4) + rng.normal(0.0, 0.02),
            0.12 + 0.22 * level + rng.uniform(0.0, 0.02),
        )
        scene.add_body(
            f"box{box}",
            shape=mc.Box((0.1, 0.1, 0.1)),
            density=125.0,
            material=material,
            orientation=turn / np.linalg.norm(turn),
            position=where,
        )
    return mc.World(scene, dt=0.01, substeps=1, sleep=False)


def problems(biased):
    found = []
    for boxes in range(1, BOXES + 1):
        world = falling(boxes)
        for moment in range(MOMENTS):
            world.step(6 + 5 * moment)
            found.append(world.problem(relaxed=not biased).from_rest())
    return found


def measure(problem, solver, tolerance, repeat):
    """-> the solution, and the shortest processor time of `repeat` calls [s]."""
    least = np.inf
    for _ in range(repeat):
        began = time.process_time()
        solution = mc.solve(problem, solver, "ncp", tolerance=tolerance)
        least = min(least, time.process_time() - began)
    return solution, least


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--solver", choices=[name for name, (_, models, _) in SOLVERS.items() if "ncp" in models], default="admm"
    )
    parser.add_argument("--tolerance", type=float, default=1e-6)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--biased", action="store_true")
    options = parser.parse_args()
    found = problems(options.biased)
    contacts = np.array([problem.contact_count for problem in found])
    results = [measure(problem, options.solver, options.tolerance, options.repeat) for problem in found]
    times = 1e3 * np.array([least for _, least in results])
    iterations = np.array([solution.iterations for solution, _ in results])
    failed = [
        f"{count} contacts: {solution.reason}, {solution.residual:.1e}"
        for count, (solution, _) in zip(contacts, results, strict=True)
        if not solution.converged
    ]
    print(machine())
    print(f"{len(found)} problems, {contacts.min()} to {contacts.max()} contacts, {contacts.mean():.0f} in the mean")
    print(
        f"{options.solver}: {times.mean():.2f} ms in the mean, {np.median(times):.2f} median, {times.max():.1f} "
        f"longest; {iterations.mean():.0f} iterations in the mean, {iterations.max()} at most; "
        f"{len(failed)} not converged"
    )
    print("\n".join(failed))


if __name__ == "__main__":
    main()
