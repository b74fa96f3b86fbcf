"""A call as data, and as a line of Python.

What is drawn is made of what JSON has: numbers, strings, None, lists, and {"call": name, "args": [...], "kw": {...}} for
an object that is made, {"text": ...} for an expression, {"dict": {...}}. So a call can be sent to another process, made
simpler part by part, and printed; what is run is the line that is printed.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

Value = Any  # see above


@dataclass(frozen=True)
class Call:
    """One line. name: of the operation; form: the line, in which {0}, {1}, ... stand for arguments and (*) for all."""

    name: str
    form: str
    args: tuple[Value, ...] = ()
    keywords: dict[str, Value] = field(default_factory=dict)

    def text(self) -> str:
        """The line."""
        if "(*)" in self.form:
            return self.form.replace("(*)", f"({listed(self.args, self.keywords)})")
        return self.form.format(*map(written, self.args))

    def data(self) -> list[Any]:
        """What JSON takes; `Call.of` makes it again."""
        return [self.name, self.form, list(self.args), self.keywords]

    @classmethod
    def of(cls, data: list[Any]) -> Call:
        """From `data()`."""
        name, form, args, keywords = data
        return cls(name, form, tuple(args), keywords)


def made(name: str, /, *args: Value, **keywords: Value) -> Value:
    """An object that is made by a call, as in mc.Sphere(0.1)."""
    return {"call": name, "args": list(args), "kw": keywords}


def expression(text: str) -> Value:
    """Python text that stands where an argument does."""
    return {"text": text}


def written(value: Value) -> str:
    """A value as Python text."""
    if isinstance(value, dict):
        if "call" in value:
            return f"{value['call']}({listed(value['args'], value['kw'])})"
        if "text" in value:
            return str(value["text"])
        return "{" + ", ".join(f"{key!r}: {written(part)}" for key, part in value["dict"].items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(written, value)) + "]"
    return repr(value)  # of floats that are not finite: nan, inf, -inf, which scripts import from math


def listed(args: Any, keywords: dict[str, Value]) -> str:
    """Arguments between parentheses."""
    return ", ".join([*map(written, args), *(f"{name}={written(value)}" for name, value in keywords.items())])


def places(value: Value, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The paths of all parts of a value, itself first."""
    found = [path]
    if isinstance(value, dict):
        for part in ("args", "kw", "dict"):
            if part in value:
                found += [place for place in _inside(value[part], (*path, part)) if place != (*path, part)]
    elif isinstance(value, (list, tuple)):
        found += [place for place in _inside(value, path) if place != path]
    return found


def _inside(value: Value, path: tuple[Any, ...]) -> list[tuple[Any, ...]]:
    parts = value.items() if isinstance(value, dict) else enumerate(value)
    return [place for key, part in parts for place in places(part, (*path, key))]


def at(value: Value, path: tuple[Any, ...]) -> Value:
    """The part of a value at a path."""
    for key in path:
        value = value[key]
    return value


def replaced(value: Value, path: tuple[Any, ...], other: Value) -> Value:
    """A value with another part at a path."""
    if not path:
        return other
    key, rest = path[0], path[1:]
    if isinstance(value, dict):
        return value | {key: replaced(value[key], rest, other)}
    return [replaced(part, rest, other) if i == key else part for i, part in enumerate(value)]


def without(value: Value, path: tuple[Any, ...]) -> Value:
    """A value without the keyword at a path."""
    holder = at(value, path[:-1])
    return replaced(value, path[:-1], {key: part for key, part in holder.items() if key != path[-1]})
