"""Every solver of the laboratory against independent ones, on problems recorded from scenes.

    python benchmarks/agreement.py                     500 problems, all models and solvers (pip install clarabel)
    python benchmarks/agreement.py --count 100 --model ncp --csv agreement.csv

Independent: Clarabel, an interior-point method for cone programs. "ccp" and "frictionless" are its own problems; "ncp" is
the convex problem whose b has the shift mu |u_t| of the solution added to its normals, which is put to Clarabel with the
shift of the solution that is looked at; "pyramid" that of the box |t_i| <= mu n with the n that it has. What is compared
are velocities u = A lambda + b: lambda is not unique. A difference of the velocities of e in the metric of the masses is
one of e^2 / 2 in energy, so that a residual of r allows about the root of r.
"""

import argparse
import time

import numpy as np

import mcsim as mc
from common import Result, machine, write_csv
from mcsim.solve.problems import MODEL_DESCRIPTIONS, SOLVERS

START = {"ragdolls": 30, "pile": 20, "jammed": 10}  # steps before the first contacts
FAR = 1e-4  # velocities that differ by more count as wrong [m/s]


def jammed(seed):
    """A wedge of boxes pressed between two walls that lean together."""
    rng = np.random.default_rng(seed)
    scene = mc.Scene(name="jammed")
    for side in (-1, 1):
        angle = side * 0.3
        scene.add_body(
            f"wall{side}",
            kind="static",
            shape=mc.Box((0.1, 2.0, 2.0)),
            position=(side * 0.95, 0, 1.5),
            orientation=(np.cos(angle / 2), 0, np.sin(angle / 2), 0),
            material=mc.Material(friction=0.9),
        )
    for k in range(6):
        scene.add_body(
            f"box{k}",
            shape=mc.Box((0.35, 0.4, 0.2)),
            density=10.0 ** rng.uniform(2, 4),
            position=(rng.uniform(-0.05, 0.05), 0, 1.2 + 0.45 * k),
            material=mc.Material(friction=0.9),
        )
    return scene


def recorded(count):
    """-> [(kind, Problem)]: of each kind the same number, from many times of several scenes."""
    makers = {
        "stack": [lambda base=base: mc.scenes.pyramid(base=base) for base in (3, 4, 5)]
        + [lambda n=n: mc.load("tower", count=n) for n in (5, 10)],
        "pile": [lambda n=n: mc.load("rain", count=n) for n in (20, 30, 40)],
        "ragdolls": [lambda n=n: mc.load("ragdolls", count=n) for n in (1, 2)],
        "jammed": [lambda seed=seed: jammed(seed) for seed in range(4)],
        "heavy": [lambda: mc.load("tower10_heavy"), lambda: mc.load("chain20_heavy")],
    }
    found = []
    each = -(-count // len(makers))
    for kind, scenes in makers.items():
        part = -(-each // len(scenes))
        of_kind = []
        for make in scenes:
            world = mc.World(make(), sleep=False)
            world.step(START.get(kind, 1))
            for _ in range(part):
                world.step(9)
                of_kind.append((kind, world.problem()))
        found += of_kind[:each]
    return found[:count]


def by_clarabel(problem, model, solution):
    """(u, lambda) of the convex problem that belongs to this solution, by Clarabel."""
    import clarabel
    from scipy.sparse import csc_matrix, diags

    n, contacts = problem.row_count, problem.contact_count
    b = problem.b.copy()
    held = np.isinf(problem.friction) & (model != "frictionless")
    friction = np.where(np.isinf(problem.friction), 0.0, problem.friction)
    if model == "ncp":
        u = solution.velocities[: 3 * contacts].reshape(-1, 3)
        b[: 3 * contacts : 3] += friction * np.hypot(u[:, 1], u[:, 2])
    scale = 1.0 / np.sqrt(np.maximum(problem.A.diagonal() + problem.compliance, 1e-12))
    for c in range(contacts):
        scale[3 * c : 3 * c + 3] = scale[3 * c : 3 * c + 3].max()
    P = diags(scale) @ (problem.A + diags(problem.compliance)) @ diags(scale)
    rows, rhs, cones = [], [], []

    def at_least(i, value, sign):
        """sign (lambda_i - value) >= 0"""
        row = np.zeros(n)
        row[i] = -sign * scale[i]
        rows.append(row)
        rhs.append(-sign * value)
        cones.append(clarabel.NonnegativeConeT(1))

    for c in range(contacts):
        if model in ("ncp", "ccp") and friction[c] > 0.0:
            block = np.zeros((3, n))
            block[0, 3 * c] = -friction[c]
            block[1, 3 * c + 1] = block[2, 3 * c + 2] = -1.0
            rows += list(block)
            rhs += [0.0] * 3
            cones.append(clarabel.SecondOrderConeT(3))
            continue
        at_least(3 * c, 0.0, 1.0)
        if held[c]:
            continue
        bound = friction[c] * max(solution.impulses[3 * c], 0.0) if model == "pyramid" else 0.0
        for i in (3 * c + 1, 3 * c + 2):
            at_least(i, -bound, 1.0)
            at_least(i, bound, -1.0)
    for k, (low, high) in enumerate(problem.bounds):
        if np.isfinite(low):
            at_least(3 * contacts + k, low, 1.0)
        if np.isfinite(high):
            at_least(3 * contacts + k, high, -1.0)
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-12
    settings.reduced_tol_gap_abs = settings.reduced_tol_gap_rel = settings.reduced_tol_feas = 1e-9
    matrix = csc_matrix(np.array(rows)) if rows else csc_matrix((0, n))
    answer = clarabel.DefaultSolver(csc_matrix(P), scale * b, matrix, np.array(rhs), cones, settings).solve()
    impulses = scale * np.array(answer.x)
    return problem.velocities(impulses), impulses, str(answer.status)


def look(problems, model, solver, tolerance, most):
    """-> (per kind) how many converged, agreed; the largest and median difference; time."""
    rows = {}
    for kind, problem in problems:
        row = rows.setdefault(kind, {"count": 0, "converged": 0, "wrong": [], "apart": [], "reasons": {}, "seconds": 0.0})
        began = time.perf_counter()
        found = mc.solve(problem, solver, model, tolerance=tolerance, max_iterations=most)
        row["seconds"] += time.perf_counter() - began
        row["count"] += 1
        row["reasons"][found.reason] = row["reasons"].get(found.reason, 0) + 1
        if not found.converged:
            continue
        row["converged"] += 1
        if problem.row_count:
            velocities, _, status = by_clarabel(problem, model, found)
            if "Solved" in status:
                row["apart"].append(float(np.abs(velocities - found.velocities).max()))
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=500, help="problems, 500")
    parser.add_argument("--model", nargs="*", default=list(MODEL_DESCRIPTIONS))
    parser.add_argument("--solver", nargs="*", default=list(SOLVERS))
    parser.add_argument("--tolerance", type=float, default=1e-8)
    parser.add_argument("--iterations", type=int, default=None, help="most of each solver, its own limit")
    parser.add_argument("--csv", help="write the results there")
    arguments = parser.parse_args()
    problems = recorded(arguments.count)
    print(machine())
    print(
        f"{len(problems)} problems of {np.mean([p.contact_count for _, p in problems]):.0f} contacts and "
        f"{np.mean([p.row_count - 3 * p.contact_count for _, p in problems]):.0f} other rows in the mean, at most "
        f"{max(p.contact_count for _, p in problems)} and {max(p.row_count - 3 * p.contact_count for _, p in problems)}; "
        f"tolerance {arguments.tolerance:g}"
    )
    results = []
    for model in arguments.model:
        for solver in arguments.solver:
            if model not in SOLVERS[solver][1]:
                continue
            for kind, row in look(problems, model, solver, arguments.tolerance, arguments.iterations).items():
                apart = row["apart"] or [np.nan]
                far = sum(value > FAR for value in row["apart"])
                reasons = ", ".join(f"{reason} {number}" for reason, number in sorted(row["reasons"].items()))
                note = (
                    f"{reasons}; velocities apart at most {np.max(apart):.1e}, median {np.median(apart):.1e}; "
                    f"beyond {FAR:g}: {far}"
                )
                print(f"{model:12} {solver:10} {kind:9} {1e3 * row['seconds'] / row['count']:8.2f} ms  {note}", flush=True)
                results.append(
                    Result(f"{model} {kind}", f"{row['count']} problems", solver, 1e3 * row["seconds"] / row["count"], note)
                )
    if arguments.csv:
        write_csv(arguments.csv, results, {}, 1)


if __name__ == "__main__":
    main()
