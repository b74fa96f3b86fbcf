"""The lines of a recording of calls, checked: what is wrong is a SceneError that names the file and the line."""

from __future__ import annotations

from collections.abc import Iterator
from os import PathLike
from typing import Any

from mcsim.core.errors import SceneError
from mcsim.core.files import opened, parse_json, path_name

WHAT = "recording of calls"
VERSIONS = (1,)
# What a line is by the field that it has, and which type that has.
LINES: dict[str, type] = {
    "make": str,
    "call": str,
    "write": dict,
    "set": dict,
    "hash": str,
    "left out": str,
    "closed": int,
}


class Line:
    """A line of a file. kind: of LINES; data: what it has; place: the file and the line's number, for errors."""

    def __init__(self, kind: str, data: dict[str, Any], place: str) -> None:
        self.kind, self.data, self.place = kind, data, place

    def wrong(self, problem: object) -> SceneError:
        """An error about this line."""
        return SceneError(f"{self.place}: {' '.join(str(problem).split())}")

    @property
    def world(self) -> int:
        """The number of the world that it is about."""
        number = self.data.get("world")
        if type(number) is not int:
            raise self.wrong(f"world must be a number, got {number!s:.60}")
        return number


class Lines:
    """The lines of a file behind the first one. header: that; torn: whether the last line was cut off, as the file was
    left by a process that died while it wrote it."""

    def __init__(self, path: str | PathLike[str]) -> None:
        self.path, self.header, self.torn = path_name(path, WHAT), dict[str, Any](), False

    def __iter__(self) -> Iterator[Line]:
        with opened(self.path, WHAT) as file:
            for number, content in enumerate(file, 1):
                if not content.endswith(b"\n"):
                    self.torn = True
                    if number > 1:
                        return
                place = f"{self.path}: line {number}"
                data = _json(content, place)
                if not isinstance(data, dict):
                    raise SceneError(f"{place}: must be an object {{...}}, got {data!s:.60}")
                if number == 1:
                    self._take_header(data, place)
                    continue
                yield _line(data, place)
        if not self.header:
            raise SceneError(f"{self.path}: not a {WHAT}: it is empty")

    def _take_header(self, data: dict[str, Any], place: str) -> None:
        if data.get("mcsim") != "calls":
            raise SceneError(f'{place}: not a {WHAT}: it does not begin with {{"mcsim": "calls", ...}}')
        version = data.get("version")
        if type(version) is not int or version not in VERSIONS:
            raise SceneError(f"{place}: version must be {VERSIONS[-1]}, got {version!s:.60}")
        self.header = data


def _json(content: bytes, place: str) -> Any:
    try:
        return parse_json(content, "", WHAT)
    except SceneError as error:
        raise SceneError(f"{place}: {str(error).removeprefix(': line 1, ').removeprefix(': ')}") from None


def _line(data: dict[str, Any], place: str) -> Line:
    kind = next((name for name in LINES if name in data), None)
    if kind is None:
        raise SceneError(f"{place}: has none of {', '.join(LINES)}")
    value, right = data[kind], LINES[kind]
    if type(value) is not right and not (kind == "hash" and value is None):
        raise SceneError(f"{place}: {kind} must be of type {right.__name__}, got {value!s:.60}")
    return Line(kind, data, place)
