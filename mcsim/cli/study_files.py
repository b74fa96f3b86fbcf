"""Files of studies (.toml): which scene, which grid of parameters, how each run is made and measured."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mcsim.cli.terminal import InputError
from mcsim.core.files import content_of
from mcsim.scene.checks import FieldError, choose, count, number, positive, show, suggestion, text

MOST_VALUES = 1_000_000
MOST_STUDY = 1_000_000  # bytes
SCALES = ("linear", "log")
OF_RANGE = ("from", "to", "count", "scale")
STRINGS, TABLES = ("scene", "name", "method"), ("parameters", "world", "grid", "units")
KNOWN = (*STRINGS, "seconds", "dt", "measure", *TABLES)


@dataclass
class StudyFile:
    """What is given to mcsim.sweep."""

    scene: str | Path
    grid: dict[str, list[Any]]
    keywords: dict[str, Any] = field(default_factory=dict)


def read_study(path: Path) -> StudyFile:
    """The study of a file. InputError names the file and the place in it."""
    content = content_of(path, "study file", MOST_STUDY)
    try:
        data = tomllib.loads(content.decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise InputError(f"{path}: not TOML: it is not text in UTF-8") from None
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}: not TOML: {error}") from None
    try:
        return _study(data, path.parent)
    except FieldError as error:
        raise InputError(f"{path}: {error}") from None


def _study(data: dict[str, Any], folder: Path) -> StudyFile:
    for key in data:
        if key not in KNOWN:
            raise FieldError("", f"there is no {show(key)} in a study{suggestion(key, KNOWN)}; it has: {', '.join(KNOWN)}")
    if "scene" not in data:
        raise FieldError("scene", "is missing: the name of a ready scene (mcsim scenes), or a file of one")
    for key in STRINGS:
        if key in data:
            text(data[key], key)
    for key in TABLES:
        if not isinstance(data.get(key, {}), Mapping):
            raise FieldError(key, f"must be a table, [{key}], got {show(data[key])}")
    grid = {key: _values(value, f"grid.{key}") for key, value in data.get("grid", {}).items()}
    for key, value in data.get("parameters", {}).items():
        if key in grid:
            raise FieldError(f"parameters.{key}", "is in [grid] too")
        grid[key] = [value]
    keywords: dict[str, Any] = {key: data[key] for key in ("name", "method", "world", "units") if key in data}
    for key in ("seconds", "dt"):
        if key in data:
            keywords[key] = positive(data[key], key)
    if "measure" in data:
        given = data["measure"]
        keywords["measure"] = [text(given, "measure")] if isinstance(given, str) else given
        if not isinstance(given, str | list):
            raise FieldError("measure", f"must be a list of names, got {show(given)}")
    return StudyFile(_scene(data["scene"], folder), grid, keywords)


def _scene(given: str, folder: Path) -> str | Path:
    """A scene's name, or a file, which is looked for from the folder of the study."""
    path = Path(given)
    return folder / path if path.suffix or path.name != given else given


def _values(given: Any, where: str) -> list[Any]:
    """A list as it is; a range as its numbers."""
    if isinstance(given, list):
        return given
    if not isinstance(given, Mapping):
        raise FieldError(where, f"must be a list of values, or {{from = 0.1, to = 0.9, count = 5}}, got {show(given)}")
    for key in given:
        choose(key, OF_RANGE, where)
    for key in OF_RANGE[:3]:
        if key not in given:
            raise FieldError(where, f"has no {key}: a range has from, to and count")
    first, last = number(given["from"], f"{where}.from"), number(given["to"], f"{where}.to")
    steps = count(given["count"], f"{where}.count", 2, MOST_VALUES) - 1
    if choose(given.get("scale", "linear"), SCALES, f"{where}.scale") == "linear":
        return [first + (last - first) * k / steps for k in range(steps)] + [last]
    if min(first, last) <= 0.0:
        raise FieldError(where, 'must be above 0 at both ends with scale = "log"')
    return [first] + [first * math.pow(last / first, k / steps) for k in range(1, steps)] + [last]
