"""What the thresholds of the kernels are worth: each is made larger and smaller, and scenes are run.

    python benchmarks/thresholds.py [NAME | FILE | ROOM | FILE:NAME ...] [--factor 2] [--json FILE] [--csv FILE] [--list]
    python benchmarks/thresholds.py --page

A copy of the checkout is made in a temporary folder, in which the chosen thresholds are read from the environment when a
module is loaded; it is built once. Then thresholds_panel.py runs (by thresholds_server.py) with each threshold times and by
the factor, and what came is compared with what comes of its own value: the bits, the largest difference of a position (of
solvers: of an impulse), and how joint errors, penetrations, energies (of solvers: residuals), sweeps and notes differ at
most. Counts that the compiler must know cannot be measured so. --csv keeps results of thresholds that are not among the
chosen; --page makes docs/thresholds.md of benchmarks/results/thresholds.csv and the sources.
"""

import argparse
import csv
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields
from pathlib import Path

import thresholds_page
from thresholds_sources import ROOT, thresholds

FOLDER = Path(__file__).resolve().parent
RESULTS = FOLDER / "results" / "thresholds.csv"
COPIED = ("mcsim", "build", "setup.py", "pyproject.toml", "README.md", "LICENSE", "MANIFEST.in")
FIGURES = ("joint_error", "penetration", "energy", "sweeps", "notes")


@dataclass
class Result:
    """One threshold at one other value. Of `moved` and the figures the largest difference of any scene, and of which;
    `failed`: scenes that then end in an error, or no longer do."""

    file: str
    name: str
    value: float
    tried: float
    changed: int  # scenes with other bits
    scenes: int
    moved: float = 0.0
    moved_in: str = ""
    joint_error: float = 0.0
    penetration: float = 0.0
    energy: float = 0.0
    sweeps: int = 0
    notes: int = 0
    failed: str = ""


def chosen(names):
    """The thresholds of these names, files or rooms; of all without any."""
    found = [one for one in thresholds() if not names or {one.name, one.file, one.room, one.key} & set(names)]
    known = {word for one in found for word in (one.name, one.file, one.room, one.key)}
    if missing := [name for name in names if name not in known]:
        sys.exit(f"there is no threshold {', '.join(missing)}; --list shows all")
    return found


def variable(one):
    return "MCSIM_SET_" + re.sub(r"\W", "_", one.key)


# ---- the copy --------------------------------------------------------------------------------------------------------


def fixed(text):
    """Names that the compiler must know the numbers of: lengths of arrays, and what constants are made of."""
    code = re.sub(r"#.*", "", text)
    sizes = re.findall(r"\w\[([^\]]*)\]", code)
    sums = re.findall(r"^(?:    |cdef (?:int|double) )[A-Z][A-Z_0-9]* *=(.*)", code, re.M)
    return {name for part in [*sizes, *sums] for name in re.findall(r"[A-Z][A-Z_0-9]+", part)}


def declared(one):
    """C that reads the threshold from the environment when the module is loaded, and the name it has there."""
    c, kind = variable(one).lower(), "int" if one.counts else "double"
    return c, [
        "cdef extern from *:",
        '    """',
        "    #include <stdlib.h>",
        f"    static {kind} {c} = {one.number!r};",
        f"    __attribute__((constructor)) static void {c}_read(void)",
        "    {",
        f'        const char* text = getenv("{variable(one)}");',
        f"        if (text) {c} = ({kind}) strtod(text, NULL);",
        "    }",
        '    """',
    ]


def adjustable(path, ones):
    """Rewrite a source so that these thresholds of it are read from the environment."""
    lines = path.read_text(encoding="utf-8").splitlines()
    for one in sorted(ones, key=lambda one: -one.line):
        c, head = declared(one)
        kind = "int" if one.counts else "double"
        if one.form == "macro":
            lines[one.line : one.line + 1] = [*head[2:-1], f"    #define MC_{one.name} {c}"]
        elif one.form == "plain":
            lines[one.line : one.line + 1] = [*head, f"    {kind} {c}", f"{one.cython}{one.name} = {c}"]
        else:
            begin = max(i for i in range(one.line) if lines[i].startswith("cdef enum"))
            del lines[one.line]
            end = next((i for i in range(begin + 1, len(lines)) if not lines[i].startswith("    ")), len(lines))
            lines[end:end] = [*head, f'    const int {one.name} "{c}"', ""]
            if all(line.lstrip().startswith("#") for line in lines[begin + 1 : end]):
                del lines[begin:end]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def make_copy(folder, ones):
    """A built checkout with adjustable thresholds. -> those of `ones` that are"""
    for name in COPIED:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, folder / name)
        elif (ROOT / name).exists():
            shutil.copy2(ROOT / name, folder / name)
    package = folder / "mcsim"
    known = {name for path in package.rglob("*.p[yx][xdi]") for name in fixed(path.read_text(encoding="utf-8"))}
    ones = [one for one in ones if not (one.counts and one.name in known)]
    for file in sorted({one.file for one in ones}):
        adjustable(package / file, [one for one in ones if one.file == file])
    setup = folder / "setup.py"  # bits are those of any optimization; this one compiles faster
    setup.write_text(setup.read_text(encoding="utf-8").replace('"-O3"', '"-O1"'), encoding="utf-8")
    built = subprocess.run(
        [sys.executable, "setup.py", "build_ext", "-i", "-j2"], cwd=folder, capture_output=True, text=True
    )
    if built.returncode:
        errors = [line for line in (built.stdout + built.stderr).splitlines() if "rror" in line]
        sys.exit("the copy could not be built:\n" + "\n".join(errors[:20]))
    return ones


# ---- runs ------------------------------------------------------------------------------------------------------------


def parts(one):
    """Of the panel, for a threshold: what the laboratory's solvers read no world does, but for Dantzig's (solve/_held.pyx);
    and they read no other but those of solve/ and core/, for their problem comes from a pyramid, and worlds have one."""
    if one.file.startswith("solve/problems/") and "_dantzig" not in one.file:
        return ("solvers",)
    return ("worlds", "solvers") if one.room in ("solve", "core") else ("worlds",)


@contextmanager
def serving(folder):
    """Where panel() runs: thresholds_server.py, with the mcsim of the copy."""
    environment = os.environ | {"PYTHONPATH": str(folder)}
    with subprocess.Popen(
        [sys.executable, str(FOLDER / "thresholds_server.py")],
        cwd=folder,
        env=environment,
        text=True,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as server:
        yield server


def panel(server, out, values, *parts):
    """What the scenes come to in the copy, with thresholds of other values: {variable: value}."""
    server.stdin.write(json.dumps([str(out), {name: repr(value) for name, value in values.items()}, parts]) + "\n")
    server.stdin.flush()
    status = int(server.stdout.readline())
    return {"process": {"failed": f"status {status}"}} if status else json.loads(out.read_text())


def difference(one, tried, base, found):
    """A Result of two runs of the panel."""
    result = Result(one.file, one.name, one.number, tried, 0, len(base))
    if "process" in found:
        result.changed, result.failed = len(base), f"the process, {found['process']['failed']}"
        return result
    failed = []
    for scene in sorted(base.keys() | found.keys()):
        a, b = base.get(scene, {"failed": "not run"}), found.get(scene, {"failed": "not run"})
        if a == b:
            continue
        result.changed += 1
        if "failed" in a or "failed" in b:
            failed.append(scene)
            continue
        moved = max((abs(x - y) for x, y in zip(a["positions"], b["positions"], strict=True)), default=0.0)
        if not moved <= result.moved:
            result.moved, result.moved_in = moved, scene
        for figure in FIGURES:
            change = b[figure] - a[figure]
            if abs(change) > abs(getattr(result, figure)):
                setattr(result, figure, change)
    result.failed = ", ".join(failed[:3]) + (f" and {len(failed) - 3} more" if len(failed) > 3 else "")
    return result


def tried_values(one, factor):
    """The value times and by the factor; of counts at least one away."""
    value = one.number
    if not one.counts:
        return value * factor, value / factor
    return round(value * factor), min(max(round(value / factor), 1), value - 1)


def measure(names, factor):
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        ones = make_copy(folder, chosen(names))
        with serving(folder) as server:
            bases = {part: panel(server, folder / f"{part}.json", {}, part) for part in ("worlds", "solvers")}
            for one in ones:
                base = {scene: found for part in parts(one) for scene, found in bases[part].items()}
                for tried in tried_values(one, factor):
                    found = panel(server, folder / "found.json", {variable(one): tried}, *parts(one))
                    result = difference(one, tried, base, found)
                    print(line(result), flush=True)
                    yield result


# ---- what is said ----------------------------------------------------------------------------------------------------


def line(result):
    text = f"{result.file}:{result.name} {result.value:g} -> {result.tried:g}: "
    if not result.changed:
        return text + "same bits"
    text += f"{result.changed} of {result.scenes} scenes changed, moved {result.moved:.1e} ({result.moved_in})"
    text += "".join(f", {figure} {getattr(result, figure):+.1e}" for figure in FIGURES if getattr(result, figure))
    return text + (f", failed: {result.failed}" if result.failed else "")


def read_csv(path):
    if not path.exists():
        return []
    with path.open(newline="", encoding="utf-8") as file:
        return [
            Result(**{field.name: field.type(row[field.name]) for field in fields(Result)})
            for row in csv.DictReader(line for line in file if not line.startswith("#"))
        ]


def write_csv(path, results, factor):
    """These, and of others what is there already, below the machine of these and what they are of."""
    from common import machine  # which imports mcsim: the page needs none

    new = {(result.file, result.name) for result in results}
    kept = [result for result in read_csv(path) if (result.file, result.name) not in new]
    with path.open("w", newline="", encoding="utf-8") as file:
        file.write(
            f"# {machine()}; Python {platform.python_version()}; {time.strftime('%Y-%m-%d')}\n"
            f"# factor={factor:g} optimization=-O1\n"
        )
        writer = csv.DictWriter(file, [field.name for field in fields(Result)], lineterminator="\n")
        writer.writeheader()
        writer.writerows(asdict(result) for result in sorted([*kept, *results], key=lambda r: (r.file, r.name, -r.tried)))


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="of thresholds, files or rooms; all without any")
    parser.add_argument("--factor", type=float, default=2.0)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--csv", type=Path)
    parser.add_argument("--list", action="store_true", help="say which thresholds there are, and no more")
    parser.add_argument("--page", action="store_true", help="write docs/thresholds.md anew, and no more")
    options = parser.parse_args(arguments)
    if options.page:
        thresholds_page.write_page(thresholds(), read_csv(RESULTS))
        return []
    if options.list:
        for one in chosen(options.names):
            print(f"{one.key} = {one.value} [{one.unit}]: {one.comment}")
        return []
    results = []
    for result in measure(options.names, options.factor):
        results.append(result)
        if options.csv:
            write_csv(options.csv, results, options.factor)
    if options.json:
        options.json.write_text(json.dumps([asdict(result) for result in results], indent=1))
    return results


if __name__ == "__main__":
    main()
