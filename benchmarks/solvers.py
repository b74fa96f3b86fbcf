"""Every registered solver on the problem of a step of a pyramid: residual against time.

    python benchmarks/solvers.py [SOLVER ...] [--base 50] [--models ncp ccp pyramid] [--tolerance 1e-4] [--seconds 120]
                                 [--relaxed] [--cold] [--csv benchmarks/results/solvers.csv]

The pyramid settles for half a second under World's defaults; `world.problem()` is then what all solve. Residual: the
largest of primal [m/s], dual [N s], complementarity [J] and natural map [N s]. Time is the processor's, in solve(),
measuring included: every solver measures itself in every iteration. pgs comes first; the others' times are given over
its own.
"""

import argparse
import csv
import platform
import time
from pathlib import Path

import numpy as np

import mcsim as mc
from common import machine
from mcsim.core.errors import SceneError
from mcsim.solve.problems import MODEL_DESCRIPTIONS, SOLVERS
from mcsim.solve.problems.solution import RESIDUALS, largest

LEVELS = (1e-1, 1e-2, 1e-3, 1e-4)
LINES = 200  # of the CSV, for each solver and model
MOST = 10_000_000  # iterations; the time ends it


def pyramid_problem(base, relaxed, cold):
    world = mc.World(mc.scenes.pyramid(base=base), sleep=False)
    world.step(30)
    problem = world.problem(relaxed=relaxed)
    if not cold:
        return problem
    return mc.Problem.factored(
        problem.jacobian, problem.inverse_mass, problem.b, problem.friction, problem.bounds, compliance=problem.compliance
    )


def run(problem, solver, model, tolerance, seconds):
    """-> curve (iterations + 1, 1 + residuals) of processor's seconds and residuals, the reason of its end."""
    curve = []
    began = time.process_time()

    def look(_, __, residuals):
        spent = time.process_time() - began
        curve.append((spent, *(float(residuals[name]) for name in RESIDUALS)))
        return spent > seconds

    solution = mc.solve(problem, solver, model, tolerance=tolerance, max_iterations=MOST, callback=look)
    if not curve:  # a direct method need not call back
        curve.append((time.process_time() - began, *(float(solution.final[name]) for name in RESIDUALS)))
    reason = f"stopped at {seconds:g} s" if solution.reason == "stopped" else solution.reason
    return np.array(curve), f"{reason}, residual {largest(solution.final):.1e}"


def reached(curve, level, column=None):
    """Seconds until the largest residual, or the one of a column, was at most the level; nan: never."""
    residual = curve[:, 1:].max(axis=1) if column is None else curve[:, column]
    below = np.flatnonzero(residual <= level)
    return curve[below[0], 0] if len(below) else np.nan


def table(curves, endings, levels):
    """Prints seconds to every level, the last two columns over pgs's."""
    names = "".join(f"{f'{level:g}':>9}" for level in levels)
    print(f"{'solver':10s}{'iterations':>11}{'ms each':>9}  seconds to{names}   over pgs's{'':8}by natural map   end")
    first = next(iter(curves.values()))
    for name, curve in curves.items():
        seconds = [reached(curve, level) for level in levels]
        each = 1000 * curve[-1, 0] / max(1, len(curve) - 1)
        print(
            f"{name:10s}{len(curve) - 1:11d}{each:9.2f}{'':12}"
            + "".join(f"{s:9.2f}" for s in seconds)
            + f"   {over(curve, first, levels):18s} {over(curve, first, levels, 4):16s} {endings[name]}",
            flush=True,
        )


def over(curve, first, levels, column=None):
    """The time to the last level over that of the first curve; where this has not come so far, at least so much
    less."""
    mine, its = reached(curve, levels[-1], column), reached(first, levels[-1], column)
    if np.isnan(mine):
        return "not reached"
    return f"< {mine / first[-1, 0]:.3f}" if np.isnan(its) else f"{mine / its:.3f}"


def write(path, curves, problem, given):
    with open(path, "w", newline="", encoding="utf-8") as file:
        file.write(
            f"# {machine()}; {platform.system()}, Python {platform.python_version()}, NumPy {np.__version__}, "
            f"mcsim {mc.__version__}; {time.strftime('%Y-%m-%d')}\n"
        )
        file.write(
            f"# pyramid base={given.base} relaxed={given.relaxed} cold={given.cold}: {problem.contact_count} contacts\n"
        )
        writer = csv.writer(file)
        writer.writerow(["model", "solver", "iteration", "seconds", *RESIDUALS])
        for (model, solver), curve in curves.items():
            last = len(curve) - 1
            for i in np.unique(np.rint(np.geomspace(1, last + 1, LINES)).astype(int) - 1):
                writer.writerow([model, solver, i, *(f"{x:.4g}" for x in curve[i])])


def main(arguments=None):
    """-> {(model, solver): curve}"""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("solvers", nargs="*", help=f"of: {', '.join(SOLVERS)}; all if none is given")
    parser.add_argument("--base", type=int, default=50, help="cubes in the lowest row")
    parser.add_argument("--models", nargs="+", choices=MODEL_DESCRIPTIONS, default=["ncp", "ccp", "pyramid"])
    parser.add_argument("--tolerance", type=float, default=1e-4)
    parser.add_argument("--seconds", type=float, default=120.0, help="of each solver and model, at most")
    parser.add_argument("--relaxed", action="store_true", help="the problem of the relax pass, without compliance")
    parser.add_argument("--cold", action="store_true", help="start from zero, not from the step's impulses")
    parser.add_argument("--csv", type=Path)
    given = parser.parse_args(arguments)
    if unknown := set(given.solvers) - set(SOLVERS):
        parser.error(f"there is no solver {', '.join(sorted(unknown))}; there are: {', '.join(SOLVERS)}")
    solvers = ["pgs", *(name for name in given.solvers or SOLVERS if name != "pgs")]
    levels = [level for level in LEVELS if level > given.tolerance] + [given.tolerance]
    problem = pyramid_problem(given.base, given.relaxed, given.cold)
    print(f"pyramid of {given.base * (given.base + 1) // 2} cubes: {problem.contact_count} contacts")
    found = {}
    for model in given.models:
        curves, endings = {}, {}
        for solver in (name for name in solvers if model in SOLVERS[name][1]):
            try:
                curves[solver], endings[solver] = run(problem, solver, model, given.tolerance, given.seconds)
            except (SceneError, MemoryError) as error:
                print(f"{solver}: left out: {error}")
        print(f"\nmodel {model}")
        table(curves, endings, levels)
        found |= {(model, solver): curve for solver, curve in curves.items()}
    if given.csv:
        write(given.csv, found, problem, given)
        print(f"wrote {given.csv}")
    return found


if __name__ == "__main__":
    main()
