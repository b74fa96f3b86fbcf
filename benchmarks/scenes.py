"""The benchmark scenes: time a step, overlap, joint error, what sinks; as a table and as CSV with the machine's name.

    python benchmarks/scenes.py                        all scenes, default settings of World
    python benchmarks/scenes.py pyramid20 chain100     some of them
    python benchmarks/scenes.py --set substeps=8 --set solver=pgs --csv benchmarks/results/mine.csv
    python benchmarks/scenes.py --rapier               Rapier on the same scenes beside it (pip install rapier3d)

One process, one thread. What is measured and how: benchmarks/README.md.
"""

import argparse
import csv
import os
import platform
import time
from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np

import mcsim as mc

DT = 1 / 60

# Name -> scene, its parameters, simulated seconds.
BENCHMARKS = {
    "one": ("one", {}, 10.0),
    "pyramid20": ("pyramid", {"base": 20}, 10.0),
    "pyramid50": ("pyramid", {"base": 50}, 5.0),
    "tower15": ("tower", {"n": 15}, 10.0),
    "tower10_heavy": ("tower10_heavy", {}, 10.0),
    "rain500": ("rain", {"n": 500}, 10.0),
    "ragdolls64": ("ragdolls11", {"n": 64}, 10.0),
    "chain100": ("chain", {"n": 100}, 10.0),
    "chain20_heavy": ("chain20_heavy", {}, 10.0),
    "grid40": ("grid", {"n": 40}, 5.0),
}


@dataclass
class Result:
    """One run. Times in ms, lengths in mm."""

    scene: str
    engine: str
    bodies: int = 0
    joints: int = 0
    points: int = 0                  # contact points at the end, -1 if not known
    steps: int = 0
    ms_step: float = 0.0             # median step of the last half
    ms_worst: float = 0.0            # slowest step of the last half
    overlap_mm: float = 0.0          # deepest at the end, nan if not known
    drop_mm: float = 0.0             # of the body that was highest at the start, at the end
    joint_mm: float = 0.0            # largest at the end of any step
    joint_rms_mm: float = 0.0        # over all joints and steps
    energy_J: float = 0.0            # total energy at the end minus at the start
    note: str = ""


class Mcsim:
    """A scene in mcsim, measured through its own observers."""

    def __init__(self, scene, options):
        self.world = mc.World(scene, dt=DT, **options)
        self.name = f"mcsim {mc.__version__}"

    def step(self):
        self.world.step()

    def positions(self):
        return self.world.positions

    def joint_gaps(self):
        return self.world.joint_errors()[:, 0]

    def points(self):
        return len(self.world.contacts)

    def overlap(self):
        return max(0.0, -self.world.contacts["separation"].min(initial=0.0))

    def energy(self):
        return self.world.energy().total


def measure(name, scene, engine, seconds):
    """Run one engine on one scene. Only the steps are timed."""
    steps = round(seconds / DT)
    result = Result(name, engine.name, len(scene.bodies), len(scene.joints), steps=steps)
    start, energy = engine.positions().copy(), engine.energy()
    highest = int(np.argmax(start[:, 2]))
    times, squares, count = [], 0.0, 0
    try:
        for _ in range(steps):
            begin = time.perf_counter()
            engine.step()
            times.append(time.perf_counter() - begin)
            if scene.joints:
                gaps = engine.joint_gaps()
                result.joint_mm = max(result.joint_mm, 1000 * float(gaps.max()))
                squares, count = squares + float(gaps @ gaps), count + len(gaps)
            if not np.isfinite(engine.positions()).all():
                raise FloatingPointError("not finite")
    except (FloatingPointError, mc.SimulationError) as error:
        result.note = f"failed at {len(times) * DT:.2f} s: {type(error).__name__}"
        return result
    last_half = 1000 * np.array(times[steps // 2:])
    result.ms_step, result.ms_worst = float(np.median(last_half)), float(last_half.max())
    result.overlap_mm, result.points = 1000 * engine.overlap(), engine.points()
    result.drop_mm = 1000 * float(start[highest, 2] - engine.positions()[highest, 2])
    result.joint_rms_mm = 1000 * (squares / count)**0.5 if count else 0.0
    result.energy_J = engine.energy() - energy
    return result


def machine():
    """The processor's name, as far as the system tells it."""
    try:
        with open("/proc/cpuinfo") as file:
            model = next(line.split(":", 1)[1].strip() for line in file if line.startswith("model name"))
    except (OSError, StopIteration):
        model = platform.processor() or platform.machine()
    return f"{model}, {os.cpu_count()} CPUs"


def setting(text):
    """NAME=VALUE as a keyword of World."""
    name, equals, value = text.partition("=")
    if not equals:
        raise argparse.ArgumentTypeError(f"{text!r}: wants NAME=VALUE")
    for kind in (int, float):
        try:
            return name, kind(value)
        except ValueError:
            pass
    return name, value


def median(results):
    """The run with the median time of several runs of one scene."""
    return sorted(results, key=lambda result: result.ms_step)[len(results) // 2]


def write_csv(path, results, options):
    """Results with what they were measured on in the first lines."""
    defaults = mc.World(mc.Scene(), dt=DT, **options).settings
    with open(path, "w", newline="", encoding="utf-8") as file:
        file.write(f"# {machine()}; {platform.system()}, Python {platform.python_version()}, NumPy {np.__version__}\n")
        file.write("# " + " ".join(f"{key}={value:.6g}" if isinstance(value, float) else f"{key}={value}"
                                   for key, value in defaults.items()) + "\n")
        writer = csv.writer(file)
        writer.writerow([field.name for field in fields(Result)])
        for result in results:
            values = (getattr(result, field.name) for field in fields(Result))
            writer.writerow([f"{value:.4g}" if isinstance(value, float) else value for value in values])


def show(result):
    text = (f"{result.scene:14} {result.engine:16} {result.ms_step:9.4f} ms   points {result.points:6}   overlap "
            f"{result.overlap_mm:8.3f} mm   drop {result.drop_mm:8.2f} mm   joint {result.joint_mm:9.3f} mm")
    print(text, result.note, flush=True)


def main(arguments=None):
    """Measures, prints, writes; answers with the results."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="SCENE", help=f"of: {', '.join(BENCHMARKS)}; all if none is given")
    parser.add_argument("--set", dest="options", type=setting, action="append", default=[], metavar="NAME=VALUE",
                        help="a keyword of World")
    parser.add_argument("--repeats", type=int, default=1, help="runs a scene; the median is kept")
    parser.add_argument("--seconds", type=float, help="simulated seconds, instead of each scene's own")
    parser.add_argument("--csv", type=Path, help="write the results")
    parser.add_argument("--rapier", action="store_true", help="measure Rapier as well")
    given = parser.parse_args(arguments)
    unknown = set(given.names) - set(BENCHMARKS)
    if unknown:
        parser.error(f"there is no scene {', '.join(sorted(unknown))}; there are: {', '.join(BENCHMARKS)}")
    engines = [lambda scene: Mcsim(scene, dict(given.options))]
    if given.rapier:
        from rapier_peer import Rapier

        engines.append(lambda scene: Rapier(scene, DT))
    print(machine())
    results = []
    for name in given.names or BENCHMARKS:
        builtin, parameters, seconds = BENCHMARKS[name]
        scene = mc.load(builtin, **parameters)
        for engine in engines:
            runs = [measure(name, scene, engine(scene), given.seconds or seconds) for _ in range(max(1, given.repeats))]
            results.append(median(runs))
            show(results[-1])
    if given.csv:
        write_csv(given.csv, results, dict(given.options))
    return results


if __name__ == "__main__":
    main()
