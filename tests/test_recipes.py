"""The recipes of CONTRIBUTING.md, followed word by word in a copy of the tree."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "CONTRIBUTING.md"
TEXT = PAGE.read_text(encoding="utf-8") if PAGE.exists() else ""
NEEDED = ("mcsim", "tests", "build")
FILES = ("setup.py", "pyproject.toml", "README.md", "LICENSE")

pytestmark = pytest.mark.skipif(not TEXT, reason="the sources are not beside the tests")


def steps(recipe):
    """(what the page says before a block, the block's language, the block), in the order of the page."""
    part = re.search(rf"^## {re.escape(recipe)}\n(.*?)(?=^## |\Z)", TEXT, re.M | re.S)
    assert part, f"CONTRIBUTING.md has no section {recipe!r}"
    found = re.split(r"^```(\w+)\n(.*?)^```\n", part[1], flags=re.M | re.S)
    return [(found[k].strip().split("\n\n")[-1], found[k + 1], found[k + 2]) for k in range(0, len(found) - 1, 3)]


def copied(folder):
    """A copy of the tree as it is built, with its times: only what a recipe changes is compiled again."""
    for name in NEEDED:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__", ".hypothesis"))
    for name in FILES:
        shutil.copy2(ROOT / name, folder / name)
    return folder


def edited(text, block):
    """Text with a diff's block in the place of what the block says stood there."""
    lines = block.splitlines()
    before = "\n".join(line[1:] for line in lines if line[0] in " -")
    after = "\n".join(line[1:] for line in lines if line[0] in " +")
    assert text.count(before) == 1, f"{before!r} stands in the file {text.count(before)} times"
    return text.replace(before, after)


def run(command, tree, seconds):
    """A command in a tree of which mcsim is imported; fails with what it said."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("MCSIM_", "PYTEST_"))}
    path = os.pathsep.join([str(Path(sys.executable).parent), environment.get("PATH", os.defpath)])
    done = subprocess.run(
        command,
        cwd=tree,
        env=environment | {"PYTHONPATH": str(tree), "PATH": path, "MPLBACKEND": "Agg"},
        capture_output=True,
        text=True,
        timeout=seconds,
    )
    assert done.returncode == 0, f"{command}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
    return done.stdout


def follow(recipe, tree):
    """Each block of a recipe: a new file is written, a diff edits its file, shell and Python are run."""
    checked = 0
    for told, language, block in steps(recipe):
        path = re.search(r"`([\w/.]+/[\w.]+\.(?:py|pxd))`", told)
        if told.startswith("New file"):
            assert path and not (tree / path[1]).exists(), told
            (tree / path[1]).write_text(block, encoding="utf-8")
        elif language == "diff":
            file = tree / path[1]
            file.write_text(edited(file.read_text(encoding="utf-8"), block), encoding="utf-8")
        elif language == "sh":
            for line in block.splitlines():
                run(line.split(), tree, 1500)
        else:
            assert language == "python", f"{recipe}: what is this block for? {told}"
            run([sys.executable, "-W", "error", "-c", block], tree, 120)
            checked += 1
    assert checked, f"{recipe} checks nothing"


def built():
    return any((ROOT / "mcsim" / "core").glob("_linear*.so"))


@pytest.mark.skipif(not built(), reason="mcsim is not built in this tree")
@pytest.mark.parametrize(
    "recipe",
    [
        "Add a scene",
        "Add a solver",
        pytest.param("Add a joint", marks=pytest.mark.slow),
        pytest.param("Add a shape", marks=pytest.mark.slow),
    ],
)
def test_recipes_work(recipe, tmp_path):
    follow(recipe, copied(tmp_path))


def test_recipes_fit_the_tree():
    """What compiles as well, without compiling: new files are new, edits find their places, Python is Python."""
    for recipe in re.findall(r"^## (Add an? \w+)$", TEXT, re.M):
        for told, language, block in steps(recipe):
            path = re.search(r"`([\w/.]+/[\w.]+\.(?:py|pxd))`", told)
            if told.startswith("New file"):
                assert path and (ROOT / path[1]).parent.is_dir() and not (ROOT / path[1]).exists(), told
            if language == "diff":
                edited((ROOT / path[1]).read_text(encoding="utf-8"), block)
            elif language == "python":
                compile(block, recipe, "exec")


def test_every_link_of_the_page_leads_somewhere():
    for target in re.findall(r"\]\((?!http|#)([^)#]+)", TEXT):
        assert (ROOT / target).exists(), target
