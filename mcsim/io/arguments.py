"""Arguments that the readers of robots' files share, also as the command line has them, in text."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import Any

from mcsim.core.errors import SceneError
from mcsim.scene.checks import FieldError, show
from mcsim.scene.hull import MAX_VERTICES

LONGEST = 1000  # characters of a message, whatever the names in the file are
FEWEST_VERTICES = 8  # of a mesh's hull


@contextmanager
def in_file(name: str) -> Iterator[None]:
    """Put the file in front of what arguments and classes complain about, where it does not stand there already; and in
    the words of files what arithmetic complains about."""
    try:
        yield
    except SceneError as error:
        told = " ".join(str(error).split())
        if told.startswith(f"{name}: ") and len(told) <= LONGEST:
            raise
        raise SceneError(f"{name}: {told.removeprefix(f'{name}: '):.{LONGEST}}") from None
    except ArithmeticError as error:
        raise SceneError(f"{name}: its numbers are too large, or too small, to be computed with: {error}") from None


def mapping(value: Any, what: str, field: str) -> dict[str, Any]:
    """A dict, empty for None."""
    if not isinstance(value, Mapping | None):
        raise FieldError(field, f"must be a dict of {what}, got {show(value)}")
    return dict(value or {})


def vertices(value: Any) -> int:
    """How many vertices a hull may have."""
    value = int(value) if isinstance(value, str) and value.isdecimal() else value
    if not isinstance(value, int) or isinstance(value, bool) or not FEWEST_VERTICES <= value <= MAX_VERTICES:
        raise FieldError(
            "hull_vertices", f"must be a whole number in [{FEWEST_VERTICES}, {MAX_VERTICES}], got {show(value)}"
        )
    return value


def named_folders(packages: Any) -> dict[str, Path]:
    """The packages; from the command line as name=folder, several with the system's separator of paths between."""
    if isinstance(packages, str):
        parts = [part.partition("=") for part in packages.split(os.pathsep)]
        if not all(name and folder for name, _, folder in parts):
            raise FieldError("packages", f"must be name=folder, got {show(packages)}")
        packages = {name: folder for name, _, folder in parts}
    folders = {}
    for name, folder in mapping(packages, "name -> folder", "packages").items():
        if not isinstance(folder, str | PathLike) or not Path(folder).is_dir():
            raise FieldError(f"packages[{name!r}]", f"must be a folder that exists, got {show(folder)}")
        folders[name] = Path(folder)
    return folders


def warn(problem: str, category: type[Warning]) -> None:
    """Warn at the line of the user's that called, past all of mcsim: mc.load is one call deeper than a reader alone."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and str(frame.f_globals.get("__name__", "")).partition(".")[0] == "mcsim":
        level, frame = level + 1, frame.f_back
    warnings.warn(problem, category, stacklevel=level)
