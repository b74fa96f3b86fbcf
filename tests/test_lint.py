"""Linters and the type checker find nothing in the sources; what they look for, and leave out, stands in pyproject.toml."""

import importlib.util
import inspect
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import mcsim
import mcsim.io
import mcsim.lab
import mcsim.scenes
import mcsim.view
import typing_example
from line_ends import mended

ROOT = Path(__file__).resolve().parent.parent
KERNELS = ROOT / "mcsim"
# Where pip puts programs beside the Python that runs; cython-lint looks for pycodestyle itself.
PROGRAMS = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)])

TESTS = "-e '.[test]'"
INSTALLED_BY = {"pyright": "pyright (which downloads itself at its first call)"}

pytestmark = pytest.mark.skipif(
    not (KERNELS / "core" / "_linear.pyx").exists() or not (ROOT / "pyproject.toml").exists(),
    reason="the sources are not beside the tests",
)


def found_by(command, *arguments):
    """What a tool says of the sources; empty if they are clean."""
    program = shutil.which(command, path=PROGRAMS)
    if program is None:
        pytest.skip(f"{command} is not installed: pip install {INSTALLED_BY.get(command, TESTS)}")
    done = subprocess.run(
        [program, *arguments], cwd=ROOT, env=os.environ | {"PATH": PROGRAMS}, capture_output=True, text=True, timeout=600
    )
    return "" if done.returncode == 0 else (done.stdout + done.stderr)[-8000:] or f"exit code {done.returncode}"


def test_ruff_finds_nothing():
    assert not found_by("ruff", "check", "--no-cache", "--output-format=concise")


def test_all_is_formatted():
    assert not found_by("ruff", "format", "--no-cache", "--check")


def test_the_types_are_consistent():
    for needed in ("numpy", "pydantic", "typer", "matplotlib"):
        if importlib.util.find_spec(needed) is None:
            pytest.skip(f"{needed}, whose types are asked for, is not installed")
    assert not found_by("mypy")


def test_a_user_is_typed(tmp_path):
    """A program that uses the public face passes the strictest checks, is told the types that it expects, and runs."""
    for needed in ("numpy", "pydantic", "typer", "matplotlib"):
        if importlib.util.find_spec(needed) is None:
            pytest.skip(f"{needed}, whose types are asked for, is not installed")
    assert not found_by("mypy", "--strict", "--follow-imports=silent", "tests/typing_example.py")
    typing_example.main(tmp_path)
    assert (tmp_path / "run.npz").exists()


# Whose types pyright may have to infer: pictures, the command line, and what solvers of problems keep for themselves.
INFERRED = ("mcsim.cli", "mcsim.solve", "mcsim.view")


@pytest.mark.slow
def test_the_public_face_is_typed_completely():
    """pyright, which infers no types of a package that says it is typed, knows all that is exported, outside INFERRED."""
    program = shutil.which("pyright", path=PROGRAMS)
    if program is None:
        pytest.skip(f"pyright is not installed: pip install {INSTALLED_BY['pyright']}")
    arguments = ("--pythonpath", sys.executable, "--verifytypes", "mcsim", "--ignoreexternal", "--outputjson")
    paths = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    environment = os.environ | {"PATH": PROGRAMS, "PYTHONPATH": paths}
    done = subprocess.run([program, *arguments], env=environment, capture_output=True, text=True, timeout=600)
    told = json.loads(done.stdout)["typeCompleteness"]
    assert len(told["symbols"]) > 1000
    unknown = {symbol["name"] for symbol in told["symbols"] if symbol["isExported"] and not symbol["isTypeKnown"]}
    assert not {name for name in unknown if not name.startswith(INFERRED)}


def test_a_user_is_typed_by_pyright():
    """The same program as for mypy, by pyright."""
    assert not found_by("pyright", "--pythonpath", sys.executable, "tests/typing_example.py")


def public_functions():
    """(name, function) of every function and method in Python that the public names of mcsim lead to."""
    for module in (mcsim, mcsim.io, mcsim.lab, mcsim.view, mcsim.scenes):
        for name in module.__all__:
            found = getattr(module, name)
            if inspect.isfunction(found):
                yield f"{module.__name__}.{name}", found
            for member in dir(found) if inspect.isclass(found) else ():
                if not member.startswith("_") or member == "__init__":
                    raw = inspect.getattr_static(found, member)
                    function = raw.fget if isinstance(raw, property) else getattr(raw, "__func__", raw)
                    if inspect.isfunction(function) and function.__module__.startswith("mcsim"):
                        yield f"{name}.{member}", function


def test_the_public_face_is_annotated():
    bare = set()
    for name, function in public_functions():
        told = inspect.signature(function)
        given = [p for p in told.parameters.values() if p.name not in ("self", "cls")]
        if (
            any(p.annotation is p.empty for p in given)
            or told.return_annotation is told.empty
            and (function.__name__ != "__init__")
        ):
            bare.add(f"{name}{told}")
    assert not bare


@pytest.mark.slow
def test_kernels_use_what_they_declare():
    """Names that nothing uses, and their like; the layout of lines takes one more process a file, see below."""
    assert not found_by("cython-lint", "--no-pycodestyle", str(KERNELS))


@pytest.mark.slow
def test_kernels_are_laid_out_alike():
    assert not found_by("cython-lint", str(KERNELS))


def test_lines_and_files_end_alike():
    """No blanks at the ends of lines, and one line end at a file's: as the hook before a commit wants it."""
    written = (".py", ".pyi", ".pyx", ".pxd", ".pxi", ".md", ".toml", ".yml", ".yaml", ".json")
    folders = ("mcsim", "tests", "docs", "demos", "benchmarks", ".github")
    files = [path for folder in folders for path in (ROOT / folder).rglob("*")] + list(ROOT.glob("*"))
    made = ("_joint_table.pxd", "_shape_table.pxd", "_joint_types.pxd", "_shape_types.pxd")  # setup.py writes them
    wrong = [
        str(path)
        for path in files
        if path.suffix in written
        and path.name not in made
        and path.is_file()
        and mended(path.read_bytes()) != path.read_bytes()
    ]
    assert not wrong


def test_hooks_and_forms_are_right():
    """The hooks call what pip brought, under no version of their own; forms for issues have what the code host wants."""
    yaml = pytest.importorskip("yaml")
    (hooks,) = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())["repos"]
    assert hooks["repo"] == "local" and {hook["language"] for hook in hooks["hooks"]} == {"system"}
    assert {hook["id"] for hook in hooks["hooks"]} == {"ruff", "ruff-format", "cython-lint", "mypy", "end-of-file"}
    forms = {path.stem: yaml.safe_load(path.read_text()) for path in (ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml")}
    assert set(forms) == {"bug", "feature", "question", "config"} and forms.pop("config") == {"blank_issues_enabled": True}
    for form in forms.values():
        assert {"name", "description", "body"} <= set(form)
        ids = [field["id"] for field in form["body"]]
        assert len(set(ids)) == len(ids) and all(field["attributes"]["label"] for field in form["body"])
    assert "world.stats.notes" in str(forms["bug"])
