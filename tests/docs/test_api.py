"""docs/api has every public name, and each of its members; what it has is there."""

import inspect
import re
from functools import cached_property

import pytest

import mcsim as mc
from dotted_names import found
from markdown_pages import ROOT
from mcsim.world.keywords import keyword_names
from public_names import CLASSES, NAMES
from scripts import script_at

FOLDER = ROOT / "docs" / "api"
PAGES = {page.stem: page.read_text(encoding="utf-8") for page in FOLDER.glob("*.md")}
DIRECTIVE = re.compile(r"^\.\. auto(\w+):: ([\w.]+)\n((?:   :.*\n)*)", re.M)
LISTED = {name: options for page in PAGES.values() for _, name, options in DIRECTIVE.findall(page)}

pytestmark = pytest.mark.skipif(not FOLDER.exists(), reason="the pages are not beside the tests")


def test_every_name_is_listed():
    assert not NAMES - LISTED.keys()


def test_what_is_listed_is_there():
    for name in LISTED:
        assert found(name) is not None


WHOLE = {
    kind
    for name, options in LISTED.items()
    if ":members:" in options
    for kind in (found(name).__mro__ if ":inherited-members:" in options else [found(name)])
}


def missing(kind):
    """Public attributes of a class that no page has."""
    names = []
    told = " ".join(inspect.getdoc(base) or "" for base in kind.__mro__[:-1])
    for name in dir(kind):
        if name.startswith("_") or issubclass(kind, BaseException) or hasattr(tuple, name):
            continue
        home = next(base for base in kind.__mro__ if name in vars(base))
        own = {f"mcsim.{kind.__name__}.{name}", f"mcsim.{home.__name__}.{name}", f"mcsim.World.{name}"}
        if not (own & LISTED.keys() or home in WHOLE or re.search(rf"\b{name}\b", told) or hidden(kind, home, name)):
            names.append(f"{kind.__name__}.{name}")
    return names


def test_members_are_listed_or_told():
    """Each public attribute of a class stands on a page by itself, is a member of a class that stands there whole, or is
    told in the docstring of the class or of one that it comes from."""
    assert not [name for kind in CLASSES for name in missing(kind)]


def hidden(kind, home, name):
    """Plain data of a kind of part, which the class that all of them share tells of; what a part of a scene is to other
    parts of mcsim, where that class stands whole."""
    value = vars(home)[name]
    data = not inspect.isroutine(value) and not isinstance(value, (property, cached_property, classmethod, staticmethod))
    return (
        any(
            name in vars(base) or name in getattr(base, "__annotations__", ())
            for base in kind.__mro__[1:-1]
            if base in WHOLE
        )
        or data
        and home not in (mc.World, mc.ReducedWorld)
    )


def test_the_page_of_world_has_every_keyword():
    page = PAGES["world"] + inspect.getdoc(mc.World)
    assert not [name for name in keyword_names(mc.World) if not re.search(rf"\b{name}\b", page)]


def test_docstrings_are_there():
    """Whatever the reference lists says something."""
    silent = [
        name
        for name in LISTED
        if not inspect.getdoc(found(name))
        and "autodata" not in name
        and (inspect.isclass(found(name)) or inspect.isroutine(found(name)))
    ]
    assert not silent


def test_docstrings_are_read_as_they_are_written():
    """Lists of arguments become lists, code becomes code, and nothing in plain text is markup."""
    docstrings = script_at(ROOT / "docs" / "docstrings.py")

    def function(dt, both, more):
        """Does *it*, as J* |x| says.

        dt: step [s]; a `dt_min` ends
            there. both, more [m] (n, 3): see docs/notes.md and mc.World.

            code = 1
        """

    lines = "\n".join(docstrings.as_rest(function.__doc__, function))
    assert "Does \\*it\\*, as J\\* \\|x\\| says." in lines
    assert "**dt**\n    step [s]; a \\ ``dt_min``\\  ends there.\n" in lines
    assert "**both, more [m] (n, 3)**\n    see \\ :doc:`/notes`\\  and \\ :py:obj:`mc.World <mcsim.World>`\\ .\n" in lines
    assert "::\n\n        code = 1\n" in lines
