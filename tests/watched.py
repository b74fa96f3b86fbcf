"""Builds that watch themselves, made and tried by one command.

    python tests/watched.py address               AddressSanitizer and UndefinedBehaviorSanitizer
    python tests/watched.py thread                ThreadSanitizer
    python tests/watched.py debug                 asserts between kernels, bounds of every array
    python tests/watched.py valgrind              memcheck over the tour, on the debug build
    python tests/watched.py all --seconds 3600    each of them, the fuzzer for an hour each

    --seconds S    how long the fuzzer runs (60); 0: not at all
    --seed N       with which it begins
    --jobs N       processes of the fuzzer and of pytest (2)
    --folder DIR   where the copies are built, and kept for the next time; by default a temporary folder
    --only PART    tour, suites or fuzzer alone
    --page         writes what was found into docs/reliability.md

Each copies the sources, builds them, and runs the tour (tests/smoke.py; tests/threads_tour.py where threads are watched),
the fast tests of the kernels (SUITES) and the fuzzer. A part is well if it ends well and no watcher has reported anything.
The code is 1 if a part is not. tests/test_build.py runs a bounded share of this with --slow.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "reliability.md"
BEGIN, END = "<!-- watched -->", "<!-- end of watched -->"

# What the build reads, and what must not come in from outside.
SWITCHES = ("MCSIM_DEBUG", "MCSIM_SANITIZE", "MCSIM_COVERAGE", "MCSIM_ANNOTATE", "MCSIM_ONLY", "MCSIM_LEVELS")
FOREIGN = ("PYTHONPATH", "LD_PRELOAD")

# What is not copied: what builds and tests leave.
BUILT = (
    "*.so",
    "*.c",
    "*.html",
    "__pycache__",
    "*.egg-info",
    "build",
    "dist",
    ".git",
    ".venv*",
    ".pytest_cache",
    ".hypothesis",
    ".mypy_cache",
    ".ruff_cache",
)

# Tests that go through every kernel. Those that measure memory or start other interpreters tell nothing here.
SUITES = (
    "core",
    "wide",
    "constraints",
    "collide",
    "contacts",
    "solve",
    "stabilize",
    "integrate",
    "reduced",
    "state",
    "event",
)


class Watch(NamedTuple):
    """One way of watching: how the copy is built, with which libraries and settings it runs, and what runs in it."""

    words: str
    switches: dict
    settings: dict
    runtimes: tuple = ()  # of gcc, preloaded
    tour: str = "smoke.py"
    prefix: tuple = ()  # what runs Python
    parts: tuple = ("tour", "suites", "fuzzer")


# Python and SciPy keep much to their end, so leaks are not asked for; the soak and tests/memory look for those.
SANITIZERS = {"PYTHONMALLOC": "malloc", "OMP_WAIT_POLICY": "passive"}
WATCHES = {
    "address": Watch(
        "AddressSanitizer, UndefinedBehaviorSanitizer",
        {"MCSIM_SANITIZE": "address,undefined"},
        SANITIZERS
        | {"ASAN_OPTIONS": "detect_leaks=0:log_path={log}", "UBSAN_OPTIONS": "print_stacktrace=1:log_path={log}"},
        ("asan", "ubsan"),
    ),
    "thread": Watch(
        "ThreadSanitizer",
        {"MCSIM_SANITIZE": "thread"},
        SANITIZERS | {"TSAN_OPTIONS": "exitcode=66:log_path={log}"},
        ("tsan",),
        tour="threads_tour.py",
        parts=("tour", "fuzzer"),
    ),
    "debug": Watch("asserts, bounds of arrays", {"MCSIM_DEBUG": "1"}, {}),
    "valgrind": Watch(
        "valgrind's memcheck",
        {"MCSIM_DEBUG": "1"},
        # Kernels for wide registers are more than it has room to translate.
        SANITIZERS
        | {"MCSIM_LEVEL": "base", "NPY_DISABLE_CPU_FEATURES": "X86_V3 X86_V4"}
        | {"OPENBLAS_CORETYPE": "Nehalem", "OPENBLAS_NUM_THREADS": "1"},
        prefix=("valgrind", "-q", "--vex-guest-max-insns=25", "--log-file={log}.%p"),
        parts=("tour",),
    ),
}


class Tried(NamedTuple):
    """What became of one part, in seconds of wall time."""

    watch: str
    part: str
    seconds: float
    said: str
    well: bool


def environment(**more):
    """The environment without switches and paths of ours, and with `more`."""
    return {key: value for key, value in os.environ.items() if key not in (*SWITCHES, *FOREIGN)} | more


def copied(folder):
    """The sources without anything built, in a folder of which what was built before stays."""
    shutil.copytree(ROOT, folder, ignore=shutil.ignore_patterns(*BUILT), dirs_exist_ok=True)
    return folder


def built(folder, switches):
    """Build in place what stands in `folder`."""
    command = [sys.executable, "setup.py", "build_ext", "-i"]
    done = subprocess.run(command, cwd=folder, env=environment(**switches), capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"the build failed:\n{done.stdout[-4000:]}\n{done.stderr[-4000:]}")


def surroundings(watch, copy, log):
    """The environment of a watched copy; what a watcher finds goes to files that begin with `log`, or to stderr."""
    settings = {key: value.format(log=log or "stderr") for key, value in watch.settings.items()}
    if watch.runtimes:
        names = [["gcc", f"-print-file-name=lib{name}.so"] for name in watch.runtimes]
        settings["LD_PRELOAD"] = " ".join(subprocess.check_output(name, text=True).strip() for name in names)
    return environment(PYTHONPATH=str(copy), **settings)


def commands(watch, copy, given):
    """Of each part, what runs it."""
    return {
        "tour": [str(copy / "tests" / watch.tour), str(copy)],
        "suites": ["-m", "pytest", "-q", "-n", str(given.jobs), "-p", "no:cacheprovider"]
        + [str(copy / "tests" / suite) for suite in SUITES],
        "fuzzer": ["-m", "mcsim", "fuzz", "--seconds", str(given.seconds), "--seed", str(given.seed)]
        + ["--jobs", str(given.jobs), "--out", str(copy / "found")],
    }


def said_by(part, output):
    """The line of a part's output that tells most."""
    lines = [line.strip() for line in output.splitlines() if line.strip()] or ["nothing"]
    if part == "fuzzer":
        runs = re.search(r"^runs\s+(\d+)", output, re.M)
        calls = re.search(r"^calls\s+(\d+)", output, re.M)
        failures = re.search(r"^failures\s+(\d+)", output, re.M)
        if runs and calls and failures:
            return f"{calls[1]} calls in {runs[1]} runs, {failures[1]} failures"
    return lines[-1].strip("= ")


def ours(name, text):
    """What a watcher reports, without what others do by themselves: valgrind finds Python and the loader of libraries at
    what it takes for wrong, the sanitizers watch our kernels alone."""
    if name != "valgrind":
        return text
    return "\n".join(part for part in re.split(r"^==\d+== *$", text, flags=re.M) if "__pyx_" in part)


def try_part(name, watch, part, copy, given):
    """Run one part in a watched copy. -> Tried"""
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "report"
        command = [word.format(log=log) for word in watch.prefix]
        command += [sys.executable, *commands(watch, copy, given)[part]]
        begun = time.monotonic()
        done = subprocess.run(command, cwd=folder, env=surroundings(watch, copy, log), capture_output=True, text=True)
        seconds = time.monotonic() - begun
        reports = [ours(name, path.read_text(errors="replace")) for path in sorted(Path(folder).glob("report*"))]
        reports = [text for text in reports if text.strip()]
    said = said_by(part, done.stdout)
    if done.returncode or reports:
        print("\n".join([done.stdout[-3000:], done.stderr[-3000:], *(text[:3000] for text in reports[:5])]))
        said = f"code {done.returncode}, {len(reports)} reports: {said}"
    return Tried(name, part, seconds, said, not done.returncode and not reports)


def table(rows):
    """As Markdown."""
    lines = ["| build | part | wall time | what came |", "| --- | --- | --- | --- |"]
    lines += [f"| {WATCHES[row.watch].words} | {row.part} | {row.seconds:.0f} s | {row.said} |" for row in rows]
    return "\n".join(lines) + "\n"


def version(*command):
    """The first line that a tool says of itself."""
    return subprocess.check_output([*command, "--version"], text=True).splitlines()[0]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("watch", choices=[*WATCHES, "all"])
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--only", choices=["tour", "suites", "fuzzer"])
    parser.add_argument("--page", action="store_true", help="write what was found into docs/reliability.md")
    given = parser.parse_args()
    found = []
    with tempfile.TemporaryDirectory() as temporary:
        for name in WATCHES if given.watch == "all" else [given.watch]:
            watch = WATCHES[name]
            switches = "_".join(watch.switches.values()).replace(",", "_")
            copy = copied(Path(given.folder or temporary).resolve() / f"build_{switches}")
            begun = time.monotonic()
            built(copy, watch.switches)
            print(f"{name}: built in {time.monotonic() - begun:.0f} s", flush=True)
            for part in watch.parts:
                if given.only in (None, part) and not (part == "fuzzer" and given.seconds == 0):
                    found.append(try_part(name, watch, part, copy, given))
                    print(f"{name} {part}: {found[-1].said} ({found[-1].seconds:.0f} s)", flush=True)
    text = table(found)
    if given.page:
        tools = ", ".join([version("gcc"), f"Python {sys.version.split()[0]}"])
        before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
        PAGE.write_text(f"{before}{BEGIN}\n{tools}\n\n{text}{END}{rest.partition(END)[2]}", encoding="utf-8")
    sys.exit(not all(row.well for row in found))


if __name__ == "__main__":
    main()
