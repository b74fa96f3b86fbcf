"""The benchmark scenes: time a step, overlap, joint error, what sinks; as a table and as CSV with the machine's name.

    python benchmarks/scenes.py                        all scenes, default settings of World
    python benchmarks/scenes.py pyramid20 chain100     some of them
    python benchmarks/scenes.py --set substeps=8 --set solver=pgs --csv benchmarks/results/mine.csv
    python benchmarks/scenes.py --rapier               Rapier on the same scenes beside it (pip install rapier3d)
    python benchmarks/scenes.py --culverin python3.12  Jolt likewise, where that interpreter has culverin

One process, one thread. What is measured and how: benchmarks/README.md.
"""

from dataclasses import dataclass
from functools import partial
from math import nan

import numpy as np

import mcsim as mc
from common import DT, Mcsim, find_peers, machine, measured, parse, write_csv

# Name -> scene, its parameters, simulated seconds.
BENCHMARKS = {
    "one": ("one", {}, 10.0),
    "pyramid20": ("pyramid", {"base": 20}, 10.0),
    "pyramid50": ("pyramid", {"base": 50}, 5.0),
    "pyramid80": ("pyramid", {"base": 80}, 5.0),
    "tower15": ("tower", {"n": 15}, 10.0),
    "tower10_heavy": ("tower10_heavy", {}, 10.0),
    "rain500": ("rain", {"n": 500}, 10.0),
    "rain2000": ("rain", {"n": 2000}, 10.0),
    "rain8000": ("rain", {"n": 8000}, 5.0),
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
    points: int = 0  # contact points at the end, -1 if not known
    steps: int = 0
    ms_step: float = 0.0  # median step of the last half
    ms_fastest: float = nan  # the same of the fastest and the slowest of the repeated runs
    ms_slowest: float = nan
    ms_worst: float = 0.0  # slowest step of the last half
    overlap_mm: float = 0.0  # deepest at the end, nan if not known
    drop_mm: float = 0.0  # of the body that was highest at the start, at the end
    joint_mm: float = 0.0  # largest at the end of any step
    joint_rms_mm: float = 0.0  # over all joints and steps
    energy_J: float = 0.0  # total energy at the end minus at the start
    note: str = ""

    def take_times(self, times):
        """times: (n,) [ms] of the steps that count."""
        if len(times):
            self.ms_step = float(np.median(times))
            self.ms_worst = float(times.max())


def measure(name, scene, engine, seconds):
    """Run one engine on one scene. Only the steps are timed."""
    steps = round(seconds / DT)
    result = Result(name, engine.name, len(scene.bodies), len(scene.joints), steps=steps)
    start, energy = engine.positions().copy(), engine.energy()
    highest = int(np.argmax(start[:, 2]))
    squares, count = 0.0, 0
    try:
        for step in range(steps):  # noqa: B007 (told where it fails)
            engine.step()
            if scene.joints:
                gaps = engine.joint_gaps()
                result.joint_mm = max(result.joint_mm, 1000 * float(gaps.max()))
                squares, count = squares + float(gaps @ gaps), count + len(gaps)
            if not np.isfinite(engine.positions()).all():
                raise FloatingPointError("not finite")
    except (FloatingPointError, mc.SimulationError) as error:
        result.note = f"failed at {step * DT:.2f} s: {type(error).__name__}"
        return result
    result.overlap_mm, result.points = 1000 * engine.overlap(), engine.points()
    result.drop_mm = 1000 * float(start[highest, 2] - engine.positions()[highest, 2])
    result.joint_rms_mm = 1000 * (squares / count) ** 0.5 if count else 0.0
    result.energy_J = engine.energy() - energy
    return result


def show(result):
    text = (
        f"{result.scene:14} {result.engine:16} {result.ms_step:9.4f} ms   points {result.points:6}   overlap "
        f"{result.overlap_mm:8.3f} mm   drop {result.drop_mm:8.2f} mm   joint {result.joint_mm:9.3f} mm"
    )
    print(text, result.note, flush=True)


def main(arguments=None):
    """Measures, prints, writes; answers with the results."""
    given = parse(__doc__.splitlines()[0], BENCHMARKS, "scene", arguments)
    peers, results = find_peers(given), []
    print(machine())
    for name in given.names or BENCHMARKS:
        builtin, parameters, seconds = BENCHMARKS[name]
        scene = mc.load(builtin, **parameters)
        run = partial(measure, name, scene, seconds=given.seconds or seconds)
        makers = [partial(Mcsim, scene, given.options), *(partial(peer, scene) for peer in peers)]
        for result in measured([(make, run) for make in makers], given.repeats):
            results.append(result)
            show(result)
    if given.csv:
        write_csv(given.csv, results, given.options, given.repeats)
    return results


if __name__ == "__main__":
    main()
