"""Joints that do not come apart: joint error, time, energy and motion on the hard jointed scenes; table and CSV.

    python benchmarks/joints.py                                  all cases at default settings of World
    python benchmarks/joints.py --quick                          the same, shorter, without the longest chains: a minute
    python benchmarks/joints.py chain100 chain20_heavy --joint-solver rows tree --substeps 4 8
    python benchmarks/joints.py --set stabilization=baumgarte --rapier --csv benchmarks/results/mine.csv
    python benchmarks/joints.py --repeats 5 --rapier --culverin python3.12 --csv benchmarks/results/joints.csv

Several values of --joint-solver and --substeps are measured in turn, the peers at each value of --substeps. One thread.
joints_picture.py draws a CSV.
"""

import itertools
import math
from dataclasses import dataclass, field
from functools import partial

import numpy as np

import chain_reference
import mcsim as mc
from common import DT, Mcsim, find_peers, machine, measured, parse, write_csv

ALONG_X = (0.5**0.5, 0.0, 0.5**0.5, 0.0)


def hanging_chain(n, ball_mass=None):
    """n capsules of the scene `chain` from the horizontal; with a ball the links weigh 1 kg, as in `chain20_heavy`."""
    scene = mc.Scene(name=f"chain{n}")
    weight, previous = {"density": chain_reference.DENSITY} if ball_mass is None else {"mass": 1.0}, None
    capsule = mc.Capsule(chain_reference.RADIUS, chain_reference.HALF_LENGTH)
    for k in range(n):
        start = chain_reference.PITCH * k
        scene.add_body(
            f"link{k}",
            shape=capsule,
            position=(start + chain_reference.PITCH / 2, 0, 0),
            orientation=ALONG_X,
            collision_mask=0,
            **weight,
        )
        scene.add_joint(mc.BallJoint(previous, f"link{k}", anchor=(start, 0, 0)))
        previous = f"link{k}"
    if ball_mass is not None:
        end = chain_reference.PITCH * n
        scene.add_body("ball", shape=mc.Sphere(0.5), mass=ball_mass, position=(end + 0.5, 0, 0), collision_mask=0)
        scene.add_joint(mc.BallJoint(previous, "ball", anchor=(end, 0, 0)))
    return scene


@dataclass(frozen=True)
class Case:
    """What is run, for how long [s], and the figures to reach (issue "Joints that do not come apart")."""

    scene: object
    seconds: float
    quick: float = math.inf  # seconds of --quick; 0: left out
    reference: str = ""
    joint_mm: float = math.nan
    ms: float = math.nan
    rms_mm: tuple = ()
    stretch: float = math.nan
    peer: bool = True  # whether Rapier runs it as well


CASES = {
    "chain100": Case(
        lambda: mc.load("chain", count=100), 10.0, reference="chain100", joint_mm=1e-3, ms=0.085, rms_mm=(2.1, 4.4, 12.0)
    ),
    "chain20_heavy": Case(
        lambda: mc.load("chain20_heavy"), 10.0, reference="chain20_heavy", joint_mm=1e-2, ms=0.036, rms_mm=(0.8, 2.2, 3.3)
    ),
    "chain50_50000": Case(lambda: hanging_chain(50, 50_000.0), 10.0, stretch=1e-4),
    "grid40": Case(lambda: mc.load("grid", side=40, corners=2), 5.0, quick=1.0, joint_mm=0.1),
    "ragdolls64": Case(lambda: mc.load("ragdolls11", count=64), 10.0, quick=2.0, joint_mm=0.01, ms=0.90),
    "links1000": Case(lambda: hanging_chain(1000), 1.0, peer=False),
    "links10000": Case(lambda: hanging_chain(10_000), 0.2, quick=0.1, peer=False),
    "links100000": Case(lambda: hanging_chain(100_000), 0.1, quick=0, peer=False),
}


@dataclass
class Result:
    """One run. Lengths in mm, times in ms."""

    case: str
    engine: str
    settings: str = ""
    bodies: int = 0
    joints: int = 0
    steps: int = 0
    ms_step: float = 0.0  # median step of the last half
    ms_fastest: float = math.nan  # the same of the fastest and the slowest of the repeated runs
    ms_slowest: float = math.nan
    us_joint: float = 0.0  # the same by the number of joints
    joint_mm: float = 0.0  # largest gap between a joint's two points at the end of any step
    stretch: float = math.nan  # of chains: all gaps together by the length, the largest of any step
    gain: float = 0.0  # largest total energy of any step above that of the start ...
    loss: float = 0.0  # ... and what is gone at the end, both by the largest fall of the potential
    rms_mm: list = field(default_factory=list)  # of positions against the reference, at its times
    note: str = ""

    def take_times(self, times):
        """times: (n,) [ms] of the steps that count."""
        if len(times):
            self.ms_step = float(np.median(times))
            self.us_joint = 1000 * self.ms_step / self.joints


def measure(name, scene, case, seconds, chosen, engine):
    """Run one engine, made with the settings `chosen`, on one case. Only the steps are timed."""
    steps = max(2, round(seconds / DT))
    settings = " ".join(f"{key}={value}" for key, value in chosen.items())
    result = Result(name, engine.name, settings, len(scene.bodies), len(scene.joints), steps)
    due = dict(zip(*due_positions(case.reference))) if case.reference else {}
    weights = np.array([body.mass if body.kind == "dynamic" else 0.0 for body in scene.bodies])[:, None] * scene.gravity
    length = chain_reference.PITCH * len(scene.joints) if name.startswith(("chain", "links")) else 0.0
    begin_energy, begin_potential = engine.energy(), -np.sum(weights * engine.positions())
    highest, fall = 0.0, 0.0
    try:
        for step in range(1, steps + 1):
            engine.step()
            gaps, positions = engine.joint_gaps(), engine.positions()
            if not np.isfinite(positions).all():
                raise FloatingPointError("not finite")
            result.joint_mm = max(result.joint_mm, 1000 * float(gaps.max()))
            if length:
                result.stretch = max(float(gaps.sum()) / length, 0.0 if math.isnan(result.stretch) else result.stretch)
            highest = max(highest, engine.energy() - begin_energy)
            fall = max(fall, begin_potential + np.sum(weights * positions))
            if step in due:
                result.rms_mm.append(1000 * chain_reference.rms_distance(positions, due[step]))
    except (FloatingPointError, mc.SimulationError) as error:
        result.note = f"failed at {(step - 1) * DT:.2f} s: {type(error).__name__}"
    if fall > 0.0:
        result.gain, result.loss = float(highest / fall), float((begin_energy - engine.energy()) / fall)
    return result


def due_positions(reference):
    """-> numbers of the steps at whose end the reference is known, positions there."""
    times, positions = chain_reference.load(reference)
    return [round(t / DT) for t in times], positions


def missed(result, case, seconds):
    """The figures that a run did not reach, in words. Those of the whole run count only if it was run whole."""
    words = []
    for what, value, goal in (
        ("joint mm", result.joint_mm, case.joint_mm),
        ("ms", result.ms_step, case.ms),
        ("stretch", result.stretch, case.stretch),
        *(("rms mm", *pair) for pair in zip(result.rms_mm, case.rms_mm)),
    ):
        if value > goal or math.isnan(value) and not math.isnan(goal):
            words.append(f"{what} {value:.3g} > {goal:g}")
    if seconds < case.seconds:
        words.append(f"{seconds:g} of {case.seconds:g} s")
    return words


def show(result, case, seconds):
    rms = " ".join(f"{value:.3g}" for value in result.rms_mm)
    print(
        f"{result.case:14} {result.engine:15} {result.settings:34} {result.ms_step:9.4f} ms "
        f"{result.us_joint:7.3f} us/joint  joint {result.joint_mm:10.3g} mm  stretch {result.stretch:8.2g}  "
        f"gain {result.gain:8.2g}  loss {result.loss:8.2g}"
        f"{'  rms ' + rms + ' mm' if rms else ''}  {result.note}",
        flush=True,
    )
    if result.engine.startswith("mcsim") and (words := missed(result, case, seconds)):
        print(f"{'':14} not reached: {'; '.join(words)}")


def variants(given, solvers):
    """Keywords of every combination of the values asked for."""
    varied = [
        [(key, value) for value in values]
        for key, values in (("joint_solver", solvers), ("substeps", given.substeps))
        if values
    ]
    return [dict(chosen) for chosen in itertools.product(*varied)]


def more_arguments(parser):
    parser.add_argument("--joint-solver", nargs="+", default=[], metavar="NAME", help="values of World's joint_solver")
    parser.add_argument("--substeps", nargs="+", type=int, default=[], metavar="N", help="values of World's substeps")
    parser.add_argument("--quick", action="store_true", help="shorter runs, and not the longest chain")


def main(arguments=None):
    """Measures, prints, writes; answers with the results."""
    given = parse(__doc__.splitlines()[0], CASES, "case", arguments, more_arguments)
    peers, results = find_peers(given), []
    print(machine())
    for name in given.names or CASES:
        case = CASES[name]
        seconds = given.seconds or (min(case.seconds, case.quick) if given.quick else case.seconds)
        if not seconds:
            continue
        scene = case.scene()
        run = partial(measure, name, scene, case, seconds)
        runs = [
            (partial(Mcsim, scene, given.options | chosen), partial(run, chosen))
            for chosen in variants(given, given.joint_solver)
        ]
        runs += [
            (partial(peer, scene, **chosen), partial(run, chosen))
            for peer in peers
            if case.peer
            for chosen in variants(given, [])
        ]
        for result in measured(runs, given.repeats):
            results.append(result)
            show(result, case, seconds)
    if given.csv:
        write_csv(given.csv, results, given.options, given.repeats)
    return results


if __name__ == "__main__":
    main()
