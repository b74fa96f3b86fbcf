"""The build: its table, its switches, what it warns of, and what it packs. What builds anew runs with --slow."""

import ast
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import zipfile
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import mcsim
import watched
from watched import BUILT, WATCHES, environment

ROOT = Path(__file__).resolve().parent.parent
SMOKE = ROOT / "tests" / "smoke.py"

ON_GCC = pytest.mark.skipif(sys.platform != "linux" or not shutil.which("gcc"), reason="needs gcc on Linux")


def sources(*suffixes):
    return sorted(path for path in (ROOT / "mcsim").rglob("*") if path.suffix in suffixes)


def dotted(path):
    return ".".join(path.relative_to(ROOT).with_suffix("").parts)


def kernels():
    return [dotted(path) for path in sources(".pyx")]


# ---- without building ------------------------------------------------------------------------------------------------


def test_compiled_modules_are_private():
    assert len(kernels()) > 100
    assert not [module for module in kernels() if not module.rpartition(".")[2].startswith("_")]


def test_directives_stand_in_setup_alone():
    """A directive in a file's header would escape the debug build."""
    wrong = [
        path.name
        for path in sources(".pyx", ".pxd", ".pxi")
        if re.search(r"^\s*#\s*(cython|distutils)\s*:", path.read_text(), re.M)
    ]
    assert not wrong


def test_kernels_say_what_they_raise():
    """Each C function of a kernel is noexcept, or raises on purpose (except …), or answers with a Python object."""
    declared = re.compile(
        r"^\s*cdef (?!class|struct|enum|extern|packed|fused|cppclass|inline \w+\()(?:inline )?"
        r"(?P<type>[\w.* ]+?[ *])(?P<name>\w+)\((?P<rest>(?:[^()]|\([^()]*\))*\)[^:\n]*):",
        re.M,
    )
    loose = [
        f"{path.name}: {match['name']}"
        for path in sources(".pyx", ".pxd", ".pxi")
        for match in declared.finditer(path.read_text())
        if "noexcept" not in match["rest"] and " except" not in match["rest"]
    ]
    assert not loose


def test_binaries_are_not_stale():
    """Each compiled module beside its source is younger than all that it was made of: build again otherwise."""
    binaries = {dotted(path).split(".cpython")[0]: path for path in sources(".so")}
    if not binaries:
        pytest.skip("no binaries in the tree: mcsim is installed elsewhere")
    suffix = sysconfig.get_config_var("EXT_SUFFIX").removeprefix(".")
    for module in kernels():
        binary = ROOT / (module.replace(".", "/") + "." + suffix)
        if module.endswith(("_v3", "_v4")) and not binary.exists():  # a level that this processor has not
            continue
        stale = [str(path) for path in ingredients(module) if path.stat().st_mtime > binary.stat().st_mtime]
        assert not stale, f"{binary} is older than {', '.join(stale)}: python setup.py build_ext -i"


def ingredients(module):
    """The .pyx of a module, its header, what it includes, and the headers that these cimport, one through the other."""
    base = ROOT / module.replace(".", "/")
    found, waiting = set(), [base.with_suffix(".pyx"), base.with_suffix(".pxd")]
    while waiting:
        path = waiting.pop()
        if path.exists() and path not in found:
            found.add(path)
            waiting += [
                ROOT / (name.replace(".", "/") + ".pxd")
                for name in re.findall(r"^\s*from (mcsim[\w.]*) cimport", path.read_text(), re.M)
            ]
            waiting += [path.parent / name for name in re.findall(r'^include "(.*)"', path.read_text(), re.M)]
    return found


def test_no_header_declares_a_memoryview():
    """What Cython makes of one would go into every module that is translated beside (setup.py)."""
    declared = re.compile(r"\w\[:(?::1)?(?:, ?:(?::1)?)*\] +\w")
    assert not [str(path) for path in sources(".pxd") if declared.search(path.read_text())]


def test_stubs_name_what_there_is():
    """Each .pyi describes a compiled module, and every public name in it exists there, with the stub's parameters."""
    for stub in sources(".pyi"):
        module = __import__(dotted(stub), fromlist=["_"])
        for node in ast.parse(stub.read_text()).body:
            if isinstance(node, ast.ClassDef):
                missing = [
                    item.name
                    for item in node.body
                    if isinstance(item, ast.FunctionDef) and not hasattr(getattr(module, node.name), item.name)
                ]
                missing += [
                    item.target.id
                    for item in node.body
                    if isinstance(item, ast.AnnAssign) and not hasattr(getattr(module, node.name), item.target.id)
                ]
                assert not missing, f"{stub.name}: {node.name}: {missing}"
            elif isinstance(node, ast.FunctionDef):
                assert hasattr(module, node.name), f"{stub.name}: {node.name}"


# ---- building anew ---------------------------------------------------------------------------------------------------


def run(command, **keywords):
    """Run, and fail with what it said."""
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, timeout=1500, **keywords)
    assert done.returncode == 0, f"{command}: {done.returncode}\n{done.stdout[-4000:]}\n{done.stderr[-4000:]}"
    return done.stdout + done.stderr


@pytest.fixture(scope="session")
def tree(tmp_path_factory):
    """A copy of the sources without anything built."""
    copy = tmp_path_factory.mktemp("tree") / "mcsim"
    shutil.copytree(ROOT, copy, ignore=shutil.ignore_patterns(*BUILT))
    return copy


@pytest.fixture(scope="session")
def builder(tmp_path_factory):
    """A Python that has what pyproject.toml requires for building, and nothing else."""
    folder = tmp_path_factory.mktemp("builder")
    run([sys.executable, "-m", "venv", folder], env=environment())
    requires = re.search(r"^requires = (\[.*\])$", (ROOT / "pyproject.toml").read_text(), re.M).group(1)
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    run([python, "-m", "pip", "install", "-q", *ast.literal_eval(requires)], env=environment())
    return python


def build(builder, tree, folder, **switches):
    """Build `tree` in place in a copy under `folder`; answers with the copy and what the build said."""
    copy = folder / "mcsim"
    shutil.copytree(tree, copy)
    return copy, run([builder, "setup.py", "build_ext", "-i"], cwd=copy, env=environment(**switches))


@pytest.fixture(scope="session")
def watching(builder, tree, tmp_path_factory):
    """A function that builds the sources under one of WATCHES, once, and answers with the copy."""
    copies = {}

    def copy_of(name):
        if name not in copies:
            copies[name], _ = build(builder, tree, tmp_path_factory.mktemp(name), **WATCHES[name].switches)
        return copies[name]

    return copy_of


@pytest.fixture(scope="session")
def debug(watching):
    """The sources built with bounds checks and live asserts, and the environment to run them in."""
    copy = watching("debug")
    return copy, environment(PYTHONPATH=str(copy))


@pytest.mark.slow
def test_sdist_builds_a_clean_wheel_elsewhere(builder, tree, tmp_path):
    """The sdist holds sources and nothing generated; unpacked elsewhere it gives a wheel with headers, stubs and no C.

    The build log has no warning of Cython or the compiler, and no performance hint.
    """
    backend = "from setuptools import build_meta; print(build_meta.build_{}({!r}))"
    source = tmp_path / "source"
    shutil.copytree(tree, source)
    run([builder, "-c", backend.format("sdist", str(tmp_path))], cwd=source, env=environment())
    (archive,) = tmp_path.glob("mcsim_physics-*.tar.gz")
    with tarfile.open(archive) as tar:
        names = [name.partition("/")[2] for name in tar.getnames()]
        tar.extractall(tmp_path / "elsewhere", filter="data")
    assert not [name for name in names if name.endswith((".c", ".so", ".html", ".pyc"))]
    ours = [
        path.relative_to(tree).as_posix()
        for path in tree.rglob("*")
        if path.is_file() and path.parts[len(tree.parts)] in ("mcsim", "tests")
    ]
    assert not set(ours) - set(names)
    assert {
        "README.md",
        "CONTRIBUTING.md",
        "CHANGELOG.md",
        "SECURITY.md",
        "LICENSE",
        "setup.py",
        "pyproject.toml",
        ".pre-commit-config.yaml",
        ".github/pull_request_template.md",
    } <= set(names)

    (unpacked,) = (tmp_path / "elsewhere").iterdir()
    log = run([builder, "-c", backend.format("wheel", str(tmp_path))], cwd=unpacked, env=environment(MCSIM_LEVELS="v3,v4"))
    complaints = [line for line in log.splitlines() if re.search(r"performance hint|warning:", line) and "mcsim" in line]
    assert not complaints, "\n".join(complaints)

    (wheel,) = tmp_path.glob("mcsim_physics-*.whl")
    packed = zipfile.ZipFile(wheel).namelist()
    headers = {
        path.relative_to(tree).as_posix() for path in tree.rglob("mcsim/**/*") if path.suffix in (".pxd", ".pyi", ".py")
    }
    assert not headers - set(packed) and "mcsim/py.typed" in packed
    assert not [name for name in packed if name.endswith((".c", ".pyx", ".html"))]
    assert not [name for name in packed if name.startswith(("tests", "docs", "benchmarks", "demos"))]
    for module in kernels():
        stem = module.replace(".", "/") + "."
        assert any(name.startswith(stem) and name.endswith((".so", ".pyd")) for name in packed), module

    with zipfile.ZipFile(wheel) as file:
        file.extractall(tmp_path / "installed")
    said = run(
        [sys.executable, SMOKE, tmp_path / "installed"],
        cwd=tmp_path,
        env=environment(PYTHONPATH=str(tmp_path / "installed")),
    )
    assert said.rstrip().endswith("smoke: ok")


@pytest.mark.slow
def test_an_editable_install_builds_nothing_twice(builder, tmp_path):
    """Where all kernels stand beside their sources and are younger, there is nothing to do; else all is looked at."""
    if not list((ROOT / "mcsim").rglob("*.so")):
        pytest.skip("no binaries in the tree: mcsim is installed elsewhere")
    copy = tmp_path / "copy"
    shutil.copytree(ROOT, copy, ignore=shutil.ignore_patterns(".git", "build", ".venv*", "*.c", "_build"))
    for path in copy.rglob("*.so"):
        path.touch()
    asks = (
        "import setup, setuptools\n"
        "command = setup.BuildKernels(setuptools.Distribution({'ext_modules': setup.extensions()}))\n"
        "command.editable_mode = True\n"
        "command.finalize_options()\n"
        "print(command.all_built())"
    )
    assert run([builder, "-c", asks], cwd=copy, env=environment()).split()[-1] == "True"
    log = run(
        [builder, "-c", f"from setuptools import build_meta; build_meta.build_editable({str(tmp_path)!r})"],
        cwd=copy,
        env=environment(),
    )
    assert "building '" not in log and "ythoniz" not in log and list(tmp_path.glob("mcsim_physics-*.whl"))
    (copy / "mcsim" / "core" / "_math.pxd").touch()
    assert run([builder, "-c", asks], cwd=copy, env=environment()).split()[-1] == "False"


@ON_GCC
@pytest.mark.slow
@pytest.mark.parametrize("part", ["tour", "fuzzer"])
@pytest.mark.parametrize("name", ["address", "thread", "debug"])
def test_builds_that_watch_themselves_find_nothing(name, part, watching):
    """The tour, and random calls for a minute. tests/watched.py is the command that goes on for longer."""
    given = SimpleNamespace(seconds=60, seed=77_000_000, jobs=1)
    found = watched.try_part(name, WATCHES[name], part, watching(name), given)
    assert found.well, found.said


MISUSE = """
import numpy as np
from mcsim.solve._si import py_factor_blocks, py_sweep_si
from mcsim.state.fields import ROW_DTYPE
rows = np.zeros({rows}, ROW_DTYPE)
rows["block"], rows["block_kind"], rows["body_b"], rows["body_a"] = {block}, 1, 0, -1
py_factor_blocks(rows, np.zeros(({factors}, 2, 6)))
print("survived")
"""


@ON_GCC
@pytest.mark.slow
def test_sanitizers_are_at_work(watching, tmp_path):
    """A kernel that is given too little room is caught writing past it; both runtimes are linked."""
    copy = watching("address")
    sanitizing = watched.surroundings(WATCHES["address"], copy, None)
    code = MISUSE.format(rows=2, block=1, factors=1)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path, env=sanitizing)
    assert done.returncode != 0 and "heap-buffer-overflow" in done.stderr and "_blocks.pxd" in done.stderr
    (binary,) = (copy / "mcsim" / "solve").glob("_si.*.so")
    assert b"__ubsan_handle" in binary.read_bytes() and b"__asan_report" in binary.read_bytes()


@pytest.mark.slow
def test_debug_build_agrees_to_the_bit(debug, tmp_path):
    """Both builds reach the same bits."""
    _, debugging = debug
    code = "import mcsim; w = mcsim.World(mcsim.load('{}')); w.step(60); print(w.state_hash())"
    for scene in ("ragdolls", "card_tower", "cardan_shaft"):
        world = mcsim.World(mcsim.load(scene))
        world.step(60)
        hashed = run([sys.executable, "-c", code.format(scene)], cwd=tmp_path, env=debugging).strip()
        assert hashed == world.state_hash(), scene


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="an assert opens a window")
def test_debug_build_checks(debug, tmp_path):
    """An index out of bounds raises, a broken promise between kernels aborts and is named."""
    _, debugging = debug

    def tried(**numbers):
        return subprocess.run(
            [sys.executable, "-c", MISUSE.format(**numbers)], capture_output=True, text=True, cwd=tmp_path, env=debugging
        )

    assert tried(rows=1, block=1, factors=1).stdout == "survived\n"
    assert "IndexError" in tried(rows=1, block=1, factors=0).stderr
    broken = tried(rows=7, block=7, factors=7)
    assert broken.returncode != 0 and "Assertion" in broken.stderr and "_blocks.pxd" in broken.stderr


TRACED = """
import sys
import sysconfig
from collections import Counter
import mcsim
lines = Counter()
def trace(frame, event, argument):
    name = frame.f_code.co_filename
    if name.endswith((".pyx", ".pxd", ".pxi")):
        lines[name.rpartition("mcsim/")[2]] += event == "line"
        return trace
    return None
world = mcsim.World(mcsim.load("stack", count=2))
sys.settrace(trace)
world.step(1)
sys.settrace(None)
print(*sorted(name for name, count in lines.items() if count))
"""


@pytest.mark.slow
def test_coverage_and_annotation(builder, tree, tmp_path):
    """MCSIM_COVERAGE reports the lines of kernels, also without the GIL; MCSIM_ANNOTATE leaves a page a kernel."""
    copy, _ = build(builder, tree, tmp_path, MCSIM_COVERAGE="1", MCSIM_ANNOTATE="1")
    for module in kernels():
        if not module.endswith(("_v3", "_v4")):  # of one level alone
            assert (copy / (module.replace(".", "/") + ".html")).exists(), module
    seen = run([sys.executable, "-c", TRACED], cwd=tmp_path, env=environment(PYTHONPATH=str(copy))).split()
    assert {"step/_pipeline.pyx", "solve/_si.pyx", "integrate/_euler.pyx"} <= set(seen), seen


def test_rows_of_the_misuse_are_refused_by_the_checked_face():
    """What the sanitizer test does to a kernel, the public face refuses."""
    from mcsim.solve.assemble import jacobian_csr
    from mcsim.state.fields import ROW_DTYPE

    with pytest.raises(ValueError, match="both sides"):
        jacobian_csr(np.zeros(1, ROW_DTYPE), 1)
