"""Energy of 49 perfectly elastic balls that bounce on a plane: event-driven, and by time steps.

    python benchmarks/bouncing.py [--seconds 20] [--csv benchmarks/results/bouncing.csv]

Balls of 0.1 m and 10 kg, e = 1, let go 5 m over the floor, dt = 1 ms, energy at the end of every step. Its true value
is 49 m g 5 m = 24,034.5 J, potential counted from the balls' lowest place.
"""

import argparse
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import mcsim as mc
from common import write_csv

RADIUS, MASS, DROP, SIDE, G = 0.1, 10.0, 5.0, 7, 9.81
TRUE = SIDE * SIDE * MASS * G * DROP
RUNS = {
    "event": dict(contact="event"),
    "event, heun": dict(contact="event", integrator="heun"),
    "event, euler": dict(contact="event", integrator="euler"),
    "steps": dict(sleep=False),
    "steps, 1 substep": dict(sleep=False, substeps=1),
    "steps, rk4": dict(integrator="rk4", stabilization="baumgarte"),
}


@dataclass
class Result:
    """One run. mean_square_J2: of the energy's error at the end of every step; worst_J: the largest; drift_J: at the
    end."""

    run: str
    balls: int
    steps: int
    mean_square_J2: float
    worst_J: float
    drift_J: float
    impacts: int
    seconds: float
    note: str = ""


def balls():
    """The scene."""
    scene = mc.Scene(gravity=(0, 0, -G), name="bouncing")
    material = mc.Material(friction=0.0, restitution=1.0)
    scene.add_body("floor", shape=mc.Plane((0, 0, 1)), kind="static", material=material)
    for i in range(SIDE):
        for j in range(SIDE):
            scene.add_body(shape=mc.Sphere(RADIUS), mass=MASS, position=(i, j, RADIUS + DROP), material=material)
    return scene


def measure(name, keywords, steps):
    """-> Result"""
    world = mc.World(balls(), dt=1e-3, **keywords)
    base = SIDE * SIDE * MASS * G * RADIUS
    error, impacts, seconds, before = np.zeros(steps), 0, 0.0, 0.0
    for k in range(steps):
        begin = time.perf_counter()
        world.step()
        seconds += time.perf_counter() - begin
        error[k] = world.energy().total - base - TRUE
        impacts += SIDE * SIDE * bool(before < 0.0 < world.velocities[1, 2])
        before = world.velocities[1, 2]
    note = world.stats.notes[0][0] if world.stats.notes else ""
    return Result(
        name,
        SIDE * SIDE,
        steps,
        float(np.mean(error**2)),
        float(np.max(np.abs(error))),
        float(error[-1]),
        impacts,
        seconds,
        note,
    )


def main(arguments=None):
    """Run, print, write. -> results"""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("runs", nargs="*", help=f"of: {', '.join(RUNS)}; all if none is given")
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--csv", type=Path)
    given = parser.parse_args(arguments)
    if unknown := set(given.runs) - set(RUNS):
        parser.error(f"there is no run {', '.join(sorted(unknown))}; there are: {', '.join(RUNS)}")
    results = []
    print(
        f"true energy {TRUE:.1f} J\n{'run':18s} {'mean square':>12s} {'worst':>11s} {'at the end':>11s} "
        f"{'impacts':>8s} seconds"
    )
    for name in given.runs or RUNS:
        result = measure(name, RUNS[name], round(1000 * given.seconds))
        results.append(result)
        print(
            f"{name:18s} {result.mean_square_J2:9.3g} J² {result.worst_J:9.3g} J {result.drift_J:+9.3g} J "
            f"{result.impacts:8d} {result.seconds:7.1f}  {result.note}"
        )
    if given.csv:
        write_csv(given.csv, results, {}, 1)
    return results


if __name__ == "__main__":
    main()
