"""Robots and scenes of other packages: does each file load, and run?

    python benchmarks/robot_files.py FOLDER...                  all .urdf and .xml files below the folders
    python benchmarks/robot_files.py FOLDER... --markdown FILE --seconds 5 --jobs 2

Each file is loaded as `mc.load` does it, with an argument (base, inertia, meshes) where an error names one that helps, gets
a floor if it has no plane or ground of its own, and runs in a World at its defaults, dt = 1/240 s, without controls. What
comes of it is one of

    runs       all of it stayed finite
    refused    an error that names the file and says why, before the first step
    failed     anything else: another error, a state that is not finite, or more than --limit seconds of computing

The folders are those of unpacked packages (pip download --no-deps dm_control gymnasium; pip download --no-binary :all:
pybullet, whose examples/pybullet/gym/pybullet_data it is).
"""

import argparse
import re
import time
import warnings
from collections import defaultdict
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import mcsim as mc
from common import machine
from mcsim.scenes import with_floor

ENDINGS = (".urdf", ".xml")
FAMILY = 20  # files of one pattern of name in one folder from which on the table has one line for all that run
CUT = 90  # characters of what is told of a file, so that lines of the page stay short


@dataclass
class Outcome:
    """What came of one file."""

    file: str
    outcome: str
    bodies: int = 0
    joints: int = 0
    ms_step: float = 0.0
    fastest: float = 0.0  # [m/s] of all bodies at the end
    open_by: float = 0.0  # [m] the largest error of a joint at the end
    told: str = ""  # why it was refused, or what steps and the reader had to say


def has_ground(scene):
    """Whether something stands still that others can lie on."""
    return any(
        body.kind == "static" and any(not shape.massive for shape in body.shapes) and body.collision_mask
        for body in scene.bodies
    )


def load(path):
    """-> the scene, and the arguments that it took: where an error names one that would do, it is tried."""
    ways = {}
    while True:
        try:
            return mc.load(path, **ways), [f"{name}={value!r}" for name, value in ways.items()]
        except mc.SceneError as error:
            cure = re.search(r"\b(base|inertia|meshes)='(fixed|shapes|found)'", str(error))
            if cure is None or cure[1] in ways:
                raise
            ways[cure[1]] = cure[2]


def run(path, name, seconds, limit):
    """Outcome of one file."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            scene, ways = load(path)
            if not has_ground(scene) and any(body.shapes for body in scene.bodies):
                scene = with_floor(scene)
            world = mc.World(scene, dt=1 / 240)
        except (mc.SceneError, FileNotFoundError) as error:
            return Outcome(name, "refused", told=_short(str(error), path))
        except Exception as error:
            return Outcome(name, "failed", told=f"{type(error).__name__}: {_short(str(error), path)}")
    found = Outcome(name, "runs", len(scene.bodies), len(scene.joints))
    told = [*ways, *(_short(str(warning.message), path) for warning in caught if issubclass(warning.category, UserWarning))]
    start, steps = time.perf_counter(), max(1, round(seconds * 240))
    for done in range(0, steps, 24):
        try:
            world.step(min(24, steps - done))
        except Exception as error:
            return Outcome(name, "failed", found.bodies, found.joints, told=f"{type(error).__name__}: {error}")
        if time.perf_counter() - start > limit:
            return Outcome(
                name, "failed", found.bodies, found.joints, told=f"took more than {limit:g} s until {world.time:g} s"
            )
    found.ms_step = 1000 * (time.perf_counter() - start) / steps
    parts = world.positions, world.orientations, world.velocities, world.angular_velocities
    if not all(np.isfinite(part).all() for part in parts):
        found.outcome = "failed"
    found.fastest = float(np.linalg.norm(world.velocities, axis=1).max(initial=0.0))
    found.open_by = float(world.joint_errors()[:, 0].max()) if scene.joints else 0.0
    found.told = " | ".join([*told, *(f"note: {note.kind}" for note in world.stats.all_notes)])
    return found


def _short(text, path):
    """A message without the path of the file, on one line."""
    for folder in (path.parent, path.parent.resolve()):
        text = text.replace(f"{folder}/", "")
    text = " ".join(text.split())
    return text.removeprefix(f"{path.name}: ")


def files_below(folders):
    """(path, name) of all robots' files, by name; names begin with the last part of the folder."""
    found = []
    for folder in map(Path, folders):
        paths = (path for path in folder.rglob("*") if path.suffix in ENDINGS and path.is_file())
        found += [(path, f"{folder.name}/{path.relative_to(folder)}") for path in sorted(paths)]
    return found


def table(outcomes):
    """A Markdown table; many files of one kind that run are one line."""
    families = defaultdict(list)
    for found in outcomes:
        families[re.sub(r"\d+", "*", found.file), found.outcome].append(found)
    lines = [
        "| file | outcome | bodies, joints | ms a step | fastest at the end, m/s | what is told |",
        "|---|---|---|---|---|---|",
    ]
    for (pattern, outcome), members in families.items():
        many = len(members) >= FAMILY
        for found in [_together(pattern, members)] if many else members:
            size = f"{found.bodies}, {found.joints}" if found.bodies else ""
            numbers = f"{found.ms_step:.2f} | {found.fastest:.3g}" if outcome == "runs" else " | "
            told = found.told.replace("|", "/")
            lines.append(
                f"| {found.file} | {outcome} | {size} | {numbers} | {told[:CUT]}{'…' if len(told) > CUT else ''} |"
            )
    return "\n".join(lines)


def _together(pattern, members):
    """One line for many files: the largest numbers, and what is told of any."""
    told = [part.strip() for found in members for part in found.told.split("|")]
    counts = {part: told.count(part) for part in sorted(set(told)) if part.startswith("note") or part.endswith("'")}
    return Outcome(
        f"{pattern} ({len(members)} files)",
        members[0].outcome,
        *(
            max(getattr(found, field) for found in members)
            for field in ("bodies", "joints", "ms_step", "fastest", "open_by")
        ),
        "; ".join(f"{part} ({count} of them)" for part, count in counts.items()),
    )


def _all(files, options):
    """The outcomes of all files, in their order; by several processes if asked."""
    if options.jobs == 1:
        yield from (run(path, name, options.seconds, options.limit) for path, name in files)
        return
    with ProcessPoolExecutor(options.jobs) as pool:
        waiting = [pool.submit(run, path, name, options.seconds, options.limit) for path, name in files]
        yield from (future.result() for future in waiting)


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", metavar="FOLDER")
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--limit", type=float, default=600.0, help="seconds of computing a file")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--markdown", metavar="FILE")
    options = parser.parse_args(arguments)
    files = files_below(options.folders)
    outcomes = []
    for found in _all(files, options):
        outcomes.append(found)
        print(f"{found.outcome:8} {found.file} {found.told[:120]}", flush=True)
    for folder in options.folders:
        of_it = [found.outcome for found in outcomes if found.file.startswith(f"{Path(folder).name}/")]
        counts = ", ".join(f"{of_it.count(kind)} {kind}" for kind in ("runs", "refused", "failed"))
        print(f"{Path(folder).name}: {len(of_it)} files, {counts}")
    if options.markdown:
        Path(options.markdown).write_text(table(outcomes) + "\n", encoding="utf-8")
    return outcomes


if __name__ == "__main__":
    print(machine())
    main()
