"""Dotted names of mcsim in pages, docstrings and messages are there."""

import importlib
import re
from pathlib import Path

import mcsim

PACKAGE = Path(mcsim.__file__).parent
PAGES = [*sorted(PACKAGE.parent.glob("docs/**/*.md")), *sorted(PACKAGE.parent.glob("[A-Z]*.md")),
         *sorted(PACKAGE.glob("**/*.py"))]
NAME = re.compile(r"\b(?:mcsim|mc)(?:\.[A-Za-z_]\w*)+")
FILES = re.compile(r"\.(?:py|pyx|pxd|pxi|md|toml|json|npz|gif|png|csv|html|urdf|xml)$")
BUILT = "mcsim.wide._"                     # followed by a level's name (wide/levels.py)


def resolves(name):
    parts = ["mcsim", *name.split(".")[1:]]
    for end in range(len(parts), 0, -1):
        try:
            found = importlib.import_module(".".join(parts[:end]))
        except ImportError:
            continue
        for part in parts[end:]:
            if not hasattr(found, part):
                return False
            found = getattr(found, part)
        return True
    return False


def words_of(page):
    """A page's text; that of CONTRIBUTING.md without its blocks, which add what they name (tests/test_recipes.py)."""
    text = page.read_text(encoding="utf-8")
    return re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S) if page.name == "CONTRIBUTING.md" else text


def test_names_resolve():
    found = {(name, str(page)) for page in PAGES for name in NAME.findall(words_of(page))
             if not FILES.search(name) and name != BUILT}
    missing = {name for name in {name for name, _ in found} if not resolves(name)}
    assert not [(name, page) for name, page in sorted(found) if name in missing]


def test_a_missing_name_is_found():
    assert resolves("mc.World.step") and resolves("mcsim.solve.problems.SOLVERS")
    assert not resolves("mc.World.stepp") and not resolves("mcsim.solvers.SOLVERS")
