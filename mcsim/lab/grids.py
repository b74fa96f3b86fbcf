"""The runs of a sweep: which parameters each of them has, as plain data, and the key by which its result is found again."""

from __future__ import annotations

import hashlib
import itertools
import json
import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from mcsim.scene.checks import FieldError, items, show, text

MOST_RUNS = 1_000_000
LONGEST_VALUE = 1_000_000  # characters of a string among the parameters


def plain(value: Any, field: str) -> Any:
    """A value as data that JSON has: None, numbers, strings, lists and dicts of them. Tuples and arrays become lists."""
    if isinstance(value, np.generic | np.ndarray) and value.dtype.kind in "biufU":
        value = value.tolist()
    if isinstance(value, Mapping):
        return {text(key, field): plain(part, f"{field}[{show(key)}]") for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [plain(part, f"{field}[{i}]") for i, part in enumerate(value)]
    if value is None or type(value) in (bool, int, float):
        return value
    if isinstance(value, str):
        return str(value) if not value else text(value, field, LONGEST_VALUE)
    raise FieldError(
        field, f"must be a number, a string, or a list or dict of them, for it is kept in a file, got {show(value)}"
    )


def points(grid: Any) -> tuple[list[dict[str, Any]], tuple[int, ...]]:
    """The parameters of every run, and the shape of the grid. A dict of values by name: all combinations, the last name
    changes fastest. A list of dicts: each of them."""
    if isinstance(grid, Mapping):
        values = {}
        for name, given in grid.items():
            field = f"grid[{show(name)}]"
            listed = items(given, "a list of values", field)
            if not listed:
                raise FieldError(field, "has no values")
            values[text(name, "grid")] = [plain(value, f"{field}[{i}]") for i, value in enumerate(listed)]
        shape = tuple(map(len, values.values()))
        if math.prod(shape) > MOST_RUNS:
            raise FieldError("grid", f"has {math.prod(shape):.3g} runs; at most {MOST_RUNS} are made")
        found = [dict(zip(values, chosen)) for chosen in itertools.product(*values.values())]
    else:
        listed = items(grid, "a dict of values by name, or a list of dicts", "grid")
        if not 0 < len(listed) <= MOST_RUNS:
            raise FieldError("grid", f"must have from 1 to {MOST_RUNS} runs, got {len(listed)}")
        found, shape = [], (len(listed),)
        for i, given in enumerate(listed):
            if not isinstance(given, Mapping):
                raise FieldError(f"grid[{i}]", f"must be a dict of parameters, got {show(given)}")
            found.append(plain(given, f"grid[{i}]"))
    seen: dict[str, int] = {}
    for i, parameters in enumerate(found):
        first = seen.setdefault(canonical(parameters), i)
        if first != i:
            raise FieldError("grid", f"has one run twice, as number {first} and {i}: {show(parameters)}")
    return found, shape


def canonical(data: Any) -> str:
    """Plain data as text, the same for equal data. A whole number and the float of its value are two: a study may tell
    them apart."""
    return json.dumps(data, sort_keys=True, separators=(",", ":"))


def key(study: str, parameters: dict[str, Any]) -> str:
    """The name of the file that holds the result of a run."""
    return hashed(canonical([study, parameters]).encode())


def hashed(content: bytes) -> str:
    """32 hexadecimal digits, the same for the same bytes alone."""
    return hashlib.sha256(content).hexdigest()[:32]


def names_of(parameters: list[dict[str, Any]]) -> list[str]:
    """All names, in the order in which they come."""
    return list(dict.fromkeys(name for given in parameters for name in given))


def varied(parameters: list[dict[str, Any]]) -> tuple[list[str], dict[str, Any]]:
    """-> names of the parameters that are not the same in all runs, and those that are, with their values."""
    same, others = {}, []
    for name in names_of(parameters):
        values = {canonical(given[name]) if name in given else "" for given in parameters}
        if len(values) == 1:
            same[name] = parameters[0][name]
        else:
            others.append(name)
    return others, same
