"""The floors of the design, read from every import and cimport; and what importing mcsim must not do."""

import ast
import itertools
import os
import re
import subprocess
import sys
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import mcsim

PACKAGE = Path(mcsim.__file__).parent
SOURCES = sorted(path for path in PACKAGE.rglob("*") if path.suffix in (".py", ".pyx", ".pxd", ".pxi", ".pyi"))
MOST_LINES = 800

# A unit is a folder of mcsim/, or a module right in it.
FLOORS = {
    "core": 0,
    "scene": 1,
    "maximal": 1.1,
    "rotation": 1.1,
    "spatial": 1.1,
    "state": 1.2,
    "wide": 1.5,
    "collide": 2,
    "constraints": 2,
    "solve": 2,
    "stabilize": 2,
    "integrate": 2,
    "reduced": 2,
    "event": 2.5,
    "direct": 2.6,
    "step": 2.8,
    "world": 3,
    "view": 3.5,
    "actors": 4,
    "calls": 4,
    "contacts": 4,
    "control": 4,
    "derive": 4,
    "io": 4,
    "scenes": 4.05,
    "lab": 4.1,
    "gym": 4.2,
    "live": 4.2,
    "mcsim": 4.5,
    "samples": 4.6,
    "fuzz": 4.7,
    "soak": 4.7,
    "cli": 5,
}
MODULES = {"cli": "cli", "__main__": "cli", "__init__": "mcsim"}

FROM = re.compile(r"^[ \t]*from\s+([\w.]+)\s+c?import\s+(\([^)]*\)|[^\n]*)", re.M)
PLAIN = re.compile(r"^[ \t]*c?import\s+([\w.]+(?:[ \t]*,[ \t]*[\w.]+)*)", re.M)


def unit_of(module):
    """The unit of a dotted name in mcsim: "mcsim.solve._si" -> "solve", "mcsim.world" -> "world"."""
    parts = module.split(".")
    if len(parts) == 1:
        return "mcsim"
    return MODULES.get(parts[1], parts[1])


def file_unit(path):
    parts = path.relative_to(PACKAGE).parts
    return parts[0] if len(parts) > 1 else MODULES.get(path.stem, path.stem)


def members(module, names):
    """What `from module import names` reaches: submodules of mcsim by their own names, else the module."""
    if module != "mcsim":
        return {module}
    return {f"mcsim.{name}" if is_unit(name) else "mcsim" for name in names}


def is_unit(name):
    return (PACKAGE / name).is_dir() or any((PACKAGE / f"{name}{suffix}").exists() for suffix in (".py", ".pyx"))


def python_imports(text):
    """Every module that Python source imports, also inside functions."""
    found = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports in mcsim are absolute"
            found |= members(node.module, [alias.name for alias in node.names])
    return found


def cython_imports(text):
    """Every module that Cython source imports or cimports."""
    text = re.sub(r'"""(?:.|\n)*?"""', '""', text)
    text = re.sub(r"#.*", "", text)
    found = set()
    for module, names in FROM.findall(text):
        found |= members(module, re.findall(r"\w+", names))
    for names in PLAIN.findall(text):
        found |= {name.strip() for name in names.split(",")}
    return found


def imports(path):
    text = path.read_text(encoding="utf-8")
    found = python_imports(text) if path.suffix in (".py", ".pyi") else cython_imports(text)
    return {name for name in found if name.split(".")[0] == "mcsim"}


def complaint(unit, module):
    """What is wrong with an import of `module` in a file of `unit`; None if nothing is."""
    target = unit_of(module)
    if target not in FLOORS:
        return f"{module} stands on no floor"
    if target != unit and FLOORS[target] >= FLOORS[unit]:
        return f"{unit} (floor {FLOORS[unit]:g}) imports {module} (floor {FLOORS[target]:g})"
    return None


def test_imports_only_from_lower_floors():
    """A file imports only its own unit and lower floors; units on one floor do not import each other."""
    placeless = [str(path) for path in SOURCES if file_unit(path) not in FLOORS]
    assert not placeless, "give them a floor in tests/test_layers.py: " + ", ".join(placeless)
    wrong = [
        f"{path}: {complaint(file_unit(path), module)}"
        for path in SOURCES
        for module in sorted(imports(path))
        if complaint(file_unit(path), module)
    ]
    assert not wrong, "\n".join(wrong)


def module_name(path):
    return ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts)


COMPILED = {module_name(path) for path in SOURCES if path.suffix == ".pyx"}


def circle(texts):
    """Modules of which each imports the next, back to the first: "a imports b imports a"; "" if there are none. texts:
    dotted name -> Python source, whose imports all count, also those in functions and for type checkers alone."""
    graph = {module: set() for module in texts}
    for module, text in texts.items():
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Import):
                graph[module] |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                inside = [f"{node.module}.{alias.name}" for alias in node.names]
                graph[module] |= {name if name in texts or name in COMPILED else node.module for name in inside}
    try:
        TopologicalSorter({module: found & texts.keys() - {module} for module, found in graph.items()}).prepare()
    except CycleError as error:
        return " imports ".join(reversed(error.args[1]))
    return ""


def test_no_modules_import_each_other():
    """Data stand below what reads them, and a class above what its methods call: no circle, however late it closes."""
    texts = {
        module_name(path).removesuffix(".__init__"): path.read_text(encoding="utf-8")
        for path in SOURCES
        if path.suffix == ".py"
    }
    assert not circle(texts), circle(texts)


def test_circles_are_seen():
    """In functions, for type checkers, of three; a package's own compiled module is none."""
    late = "def f():\n    from mcsim import {}\n"
    assert circle({"mcsim.a": late.format("b"), "mcsim.b": "if TYPE_CHECKING:\n    from mcsim.a import A\n"}) in (
        "mcsim.a imports mcsim.b imports mcsim.a",
        "mcsim.b imports mcsim.a imports mcsim.b",
    )
    assert circle({"mcsim.a": "import mcsim.b", "mcsim.b": late.format("c"), "mcsim.c": late.format("a")})
    assert not circle({"mcsim.a": "import mcsim.b", "mcsim.b": late.format("c"), "mcsim.c": ""})
    assert not circle({"mcsim.step": "from mcsim.step.a import A", "mcsim.step.a": "from mcsim.step import _pipeline"})


def test_the_page_draws_every_room_on_its_floor():
    """docs/architecture.md: the rooms of a floor stand between two lines, the higher ones above."""
    page = Path(__file__).parents[1].joinpath("docs", "architecture.md").read_text(encoding="utf-8")
    floors = re.split(r"\n ─+\n", page.split("```text\n")[1].split("```")[0])
    drawn = [{name for name in re.findall(r"\w+", floor) if name in FLOORS} for floor in floors]
    for above, below in itertools.pairwise(drawn):
        assert min(map(FLOORS.get, above)) > max(map(FLOORS.get, below)), (above, below)
    assert set.union(*drawn) == set(FLOORS) - {"mcsim"}


def test_the_rule_can_fail():
    """Upward, sideways and through the top: each is seen, in Python and in Cython, at the top or deep inside."""

    def wrong(text, unit, read):
        modules = [module for module in read(text) if module.startswith("mcsim")]
        return [complaint(unit, module) for module in modules if complaint(unit, module)]

    assert wrong("def f():\n    from mcsim.world import World\n", "solve", python_imports)
    assert wrong("import mcsim.io.recording", "view", python_imports)
    assert wrong("import mcsim\n", "scenes", python_imports)
    assert wrong("from mcsim import World\n", "view", python_imports)
    assert wrong("from mcsim import solve\n", "collide", python_imports)
    assert wrong("from mcsim.solve._si cimport (\n    sweep_si)\n", "constraints", cython_imports)
    assert wrong("cdef int x\ncimport mcsim.solve._si as s\n", "integrate", cython_imports)
    assert wrong("from mcsim.constraints._parts cimport *\n", "collide", cython_imports)
    assert not wrong("from mcsim import scenes\n", "cli", python_imports)
    assert not wrong("# from mcsim.world cimport x\nfrom mcsim.core._math cimport dot\n", "collide", cython_imports)
    with pytest.raises(AssertionError, match="absolute"):
        python_imports("from . import world\n")


def test_every_source_was_read():
    """The sources were found: Python, Cython and headers."""
    names = {path.name for path in SOURCES}
    assert {"world.py", "_types.pxd"} <= names and len(SOURCES) > 60
    assert "mcsim.core._types" in imports(PACKAGE / "state" / "_bodies.pxd")
    assert "mcsim.scenes" in imports(PACKAGE / "__init__.py")


def test_no_file_is_too_long():
    lines = {str(path): len(path.read_text(encoding="utf-8").splitlines()) for path in SOURCES}
    assert not {path: count for path, count in lines.items() if count > MOST_LINES}, "split them"


# ---- what importing does ---------------------------------------------------------------------------------------------


def fresh(code):
    """What a fresh Python prints for `code`."""
    environment = {**os.environ, "PYTHONPATH": str(PACKAGE.parent)}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_import_is_light():
    """import mcsim brings in neither the command line nor what draws pictures or reads files."""
    heavy = (
        "matplotlib",
        "PIL",
        "typer",
        "rich",
        "pydantic",
        "mujoco",
        "pinocchio",
        "unittest",
        "yourdfpy",
        "trimesh",
        "lxml",
        "viser",
        "websockets",
        "dask",
        "distributed",
        "tomllib",
    )
    told = "print(*sorted(set(sys.modules) - before))"
    loaded = fresh(f"import sys, numpy; before = set(sys.modules); from mcsim import *; {told}").split()
    assert "mcsim.world" in loaded
    assert not [name for name in heavy if name in loaded]
    loaded = fresh(f"import sys, numpy; before = set(sys.modules); import mcsim; {told}").split()
    assert "mcsim.scene" in loaded and len([name for name in loaded if name.startswith("mcsim.")]) < 100
    assert not [name for name in loaded if unit_of(name) in ("world", "step", "live", "io", "lab", "scenes")]


@pytest.mark.parametrize(
    "first",
    [
        "import mcsim",
        "import mcsim.world",
        "import mcsim.solve.problems",
        "import mcsim.view.camera",
        "import mcsim.live",
        "from mcsim.solve import problems",
        "from mcsim.view.film import save_png",
        "from mcsim import *",
        "import mcsim.cli",
    ],
)
def test_names_are_the_same_whatever_is_imported_first(first):
    code = f"""{first}
import inspect, mcsim, mcsim.solve.problems, mcsim.view.film
assert inspect.isfunction(mcsim.solve) and inspect.isfunction(mcsim.view), (mcsim.solve, mcsim.view)
assert mcsim.solve.problems.SOLVERS and mcsim.view.film.save_png and mcsim.view.Camera
assert list(inspect.signature(mcsim.solve).parameters)[0] == "problem"
import mcsim.solve.problems as problems, mcsim.view.film as film
assert problems.solve is mcsim.solve and mcsim.solve is problems.solve and mcsim.view is mcsim.live.view
assert mcsim.load is mcsim.scenes.load and mcsim.compare is mcsim.lab.compare and set(mcsim.__all__) <= set(dir(mcsim))
for call in (mcsim.solve, mcsim.load, mcsim.compare, mcsim.rollout, mcsim.view, mcsim.contacts.impact):
    try:
        call(wrong_name=1)
    except TypeError as error:
        assert "the arguments are" in str(error), error
"""
    fresh(code)


def test_import_prints_nothing_and_leaves_the_process_alone():
    """No output, no thread, no signal handler, denormal numbers as they were (fast-math would flush them to zero)."""
    code = (
        "import os, signal, sys, threading, numpy\n"
        "def tasks(): return len(os.listdir('/proc/self/task')) if os.path.isdir('/proc/self/task') else 1\n"
        "def state():\n"
        "    return threading.active_count(), tasks(), signal.getsignal(signal.SIGINT), sys.getswitchinterval()\n"
        "before = state()\n"
        "import mcsim\n"
        "assert state() == before, (before, state())\n"
        "tiny = float('1e-310')\n"
        "assert tiny * 0.5 != 0.0 and numpy.float64(tiny) * 0.5 != 0.0\n"
        "world = mcsim.World(mcsim.load('stack', count=2)); world.step(3)\n"
        "assert state() == before and tiny * 0.5 != 0.0\n"
    )
    assert fresh(code) == ""


def test_public_names_exist():
    """__all__ holds the public names, each once, and each is there."""
    assert len(set(mcsim.__all__)) == len(mcsim.__all__)
    missing = [name for name in mcsim.__all__ if not hasattr(mcsim, name)]
    assert not missing
