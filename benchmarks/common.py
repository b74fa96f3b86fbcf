"""What the benchmark scripts share: engines that run a scene, repeated runs, arguments, CSV."""

import argparse
import csv
import os
import platform
import time
from dataclasses import dataclass, fields
from functools import partial
from importlib.util import find_spec
from pathlib import Path

import numpy as np

import mcsim as mc
from mcsim.core.rotation import matrix

DT = 1 / 60

# Of every Result: how fast, how fast in the fastest and the slowest of the repeated runs, what went wrong.
TIME, FASTEST, SLOWEST = "ms_step", "ms_fastest", "ms_slowest"


@dataclass
class Result:
    """What an engine took for one thing [ms]: a call, a step, a problem; where more is measured a script has its own."""

    case: str
    what: str
    engine: str
    ms_step: float
    note: str = ""


class Mcsim:
    """A scene in mcsim, measured through its own observers. A Peer has the same methods."""

    def __init__(self, scene, options):
        self.world = mc.World(scene, dt=DT, **({"sleep": False} | options))
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


class Peer:
    """Another engine with one of our scenes. It says poses(): positions (n, 3) and quaternions (n, 4) of the bodies'
    frames, which in the benchmark scenes lie at the centres of mass."""

    def __init__(self, scene):
        self.scene = scene
        self.index = {body.name: i for i, body in enumerate(scene.bodies)}

    def positions(self):
        return self.poses()[0]

    def joint_gaps(self):
        """(joints,) distances between the two anchors [m]."""
        positions, orientations = self.poses()

        def anchor(name, frame):
            if name is None:
                return frame[0]
            i = self.index[name]
            return positions[i] + matrix(orientations[i]) @ frame[0]

        return np.array(
            [np.linalg.norm(anchor(joint.b, joint.frame_b) - anchor(joint.a, joint.frame_a)) for joint in self.scene.joints]
        )

    def points(self):
        """Contact points; -1: not known."""
        return -1

    def overlap(self):
        return np.nan

    def close(self):
        """Frees what does not go with the object."""


def timed_run(engine, steps):
    """Seconds of each step of a run in which nothing else happens: what is looked at between two steps would drive
    the engine's data out of the caches. An engine in another process says its seconds(steps) itself, in one go."""
    if hasattr(engine, "seconds"):
        times = engine.seconds(steps)
    else:
        times = []
        try:
            for _ in range(steps):
                begin = time.perf_counter()
                engine.step()
                times.append(time.perf_counter() - begin)
        except mc.SimulationError:
            pass
    return np.array(times[len(times) // 2 :])


def find_peers(given):
    """Constructors (scene, substeps=None) of the other engines asked for; says which are not to be had."""
    found = []
    if given.rapier and find_spec("rapier3d") is None:
        print("rapier3d is not installed (pip install rapier3d): left out")
    elif given.rapier:
        from rapier_peer import Rapier

        found.append(partial(Rapier, dt=DT))
    if given.culverin:
        from culverin_peer import Culverin, missing

        if reason := missing(given.culverin):
            print(f"culverin: {reason}: left out")
        else:
            found.append(partial(Culverin, dt=DT, python=given.culverin))
    return found


def measured(runs, repeats):
    """runs: (make, measure) each, engine = make(), result = measure(engine), then result.take_times of another run of
    as many steps. In turn, `repeats` times over, so that a slow minute of the machine meets all alike. -> the result of
    median time of each that does not refuse its scene."""
    results = [[] for _ in runs]
    for turn in range(repeats):
        for (make, measure), kept in zip(runs, results):
            if turn > 0 and not kept:
                continue
            try:
                engine = make()
            except NotImplementedError as error:
                print(f"left out: {error}")
                continue
            result = measure(engine)
            alone = make()
            result.take_times(1000 * timed_run(alone, result.steps))
            kept.append(result)
            for used in (engine, alone):
                if isinstance(used, Peer):
                    used.close()
    return [middle(kept) for kept in results if kept]


def middle(results):
    """The one with the median time of several runs; its FASTEST and SLOWEST are those of all."""
    times = [getattr(result, TIME) for result in results]
    chosen = sorted(results, key=lambda result: getattr(result, TIME))[len(results) // 2]
    setattr(chosen, FASTEST, min(times))
    setattr(chosen, SLOWEST, max(times))
    return chosen


# ---- arguments and files ---------------------------------------------------------------------------------------------


def parse(description, known, what, arguments, more=None):
    """Arguments that all have; more(parser) adds those of one script. known: names that may be given."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("names", nargs="*", metavar=what.upper(), help=f"of: {', '.join(known)}; all if none is given")
    parser.add_argument(
        "--set", dest="options", type=setting, action="append", default=[], metavar="NAME=VALUE", help="a keyword of World"
    )
    parser.add_argument("--seconds", type=float, help=f"simulated seconds, instead of each {what}'s own")
    parser.add_argument("--repeats", type=int, default=1, help="runs of each; the one of median time is kept")
    parser.add_argument("--csv", type=Path, help="write the results")
    parser.add_argument("--rapier", action="store_true", help="measure Rapier as well (pip install rapier3d)")
    parser.add_argument(
        "--culverin",
        metavar="PYTHON",
        help="measure Jolt as well: the interpreter, Python 3.12 or later, that has culverin (pip install culverin)",
    )
    if more:
        more(parser)
    given = parser.parse_args(arguments)
    given.options = dict(given.options)
    given.repeats = max(1, given.repeats)
    unknown = set(given.names) - set(known)
    if unknown:
        parser.error(f"there is no {what} {', '.join(sorted(unknown))}; there are: {', '.join(known)}")
    return given


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


def machine():
    """The processor's name, as far as the system tells it."""
    try:
        with open("/proc/cpuinfo") as file:
            model = next(line.split(":", 1)[1].strip() for line in file if line.startswith("model name"))
    except (OSError, StopIteration):
        model = platform.processor() or platform.machine()
    return f"{model}, {os.cpu_count()} CPUs"


def write_csv(path, results, options, repeats):
    """Results, below two lines: machine, versions, date and repeats; every setting of World at these options."""
    settings = mc.World(mc.Scene(), dt=DT, **({"sleep": False} | options)).settings
    with open(path, "w", newline="", encoding="utf-8") as file:
        file.write(
            f"# {machine()}; {platform.system()}, Python {platform.python_version()}, NumPy {np.__version__}, "
            f"mcsim {mc.__version__}; {time.strftime('%Y-%m-%d')}; {repeats} runs of each\n"
        )
        file.write(
            "# "
            + " ".join(
                f"{key}={value:.6g}" if isinstance(value, float) else f"{key}={value}" for key, value in settings.items()
            )
            + "\n"
        )
        writer = csv.writer(file)
        writer.writerow([field.name for field in fields(results[0])])
        for result in results:
            writer.writerow([as_text(getattr(result, field.name)) for field in fields(result)])


def as_text(value):
    """Numbers to four digits, lists of them with spaces."""
    if isinstance(value, list):
        return " ".join(as_text(x) for x in value)
    return f"{value:.4g}" if isinstance(value, float) else value
