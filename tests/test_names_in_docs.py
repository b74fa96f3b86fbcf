"""Dotted names of mcsim in pages, docstrings and messages are there."""

import re
from pathlib import Path

import mcsim
from dotted_names import found

PACKAGE = Path(mcsim.__file__).parent
PAGES = [
    *sorted(PACKAGE.parent.glob("docs/**/*.md")),
    *sorted(PACKAGE.parent.glob("[A-Z]*.md")),
    *sorted(PACKAGE.glob("**/*.py")),
]
NAME = re.compile(r"\b(?:mcsim|mc)(?:\.[A-Za-z_]\w*)+")
FILES = re.compile(r"\.(?:py|pyx|pxd|pxi|md|toml|json|npz|gif|png|csv|html|urdf|xml)$")
BUILT = "mcsim.wide._"  # followed by a level's name (wide/levels.py)


def resolves(name):
    try:
        found("mcsim" + name[name.index(".") :])
    except AttributeError:
        return False
    return True


def words_of(page):
    """A page's text; that of CONTRIBUTING.md without its blocks, which add what they name (tests/test_recipes.py)."""
    text = page.read_text(encoding="utf-8")
    return re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S) if page.name == "CONTRIBUTING.md" else text


def test_names_resolve():
    named = {
        (name, str(page))
        for page in PAGES
        for name in NAME.findall(words_of(page))
        if not FILES.search(name) and name != BUILT
    }
    missing = {name for name in {name for name, _ in named} if not resolves(name)}
    assert not [(name, page) for name, page in sorted(named) if name in missing]


def test_a_missing_name_is_found():
    assert resolves("mc.World.step") and resolves("mcsim.solve.problems.SOLVERS")
    assert not resolves("mc.World.stepp") and not resolves("mcsim.solvers.SOLVERS")
