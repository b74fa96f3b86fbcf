"""A failing case made short: calls left out, then arguments made simple, as long as the same fails."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from mcsim.fuzz.case import Case
from mcsim.fuzz.words import Call, Value, at, places, replaced, without

Fails = Callable[[Case], bool]


def shrunk(case: Case, fails: Fails, seconds: float = 60.0) -> Case:
    """The case, with as few and as simple lines as can be found in a time. fails(case): whether a case fails as this one.

    First calls go, in halves, quarters and so on down to single ones (A. Zeller, R. Hildebrandt, "Simplifying and
    isolating failure-inducing input", 2002); then the lines of the scene; then parts of arguments.
    """
    end = time.monotonic() + seconds

    def tries(other: Case) -> bool:
        return time.monotonic() < end and fails(other)

    case = replace(case, calls=fewest(case.calls, lambda calls: tries(replace(case, calls=calls))))
    if case.twin != "same" and tries(replace(case, twin="same")):
        case = replace(case, twin="same")
    first, rest = case.scene[:1], case.scene[1:]
    found = case
    rest = fewest(rest, lambda lines: tries(replace(found, scene=(*first, *lines))))
    case = replace(case, scene=(*first, *rest))
    case = _simpler(case, True, tries)
    make = _simpler_call(case.make, lambda call: tries(replace(case, make=call)))
    case = _simpler(replace(case, make=make), False, tries)
    last = case
    return replace(case, calls=fewest(case.calls, lambda calls: tries(replace(last, calls=calls))))


def fewest(items: tuple[Any, ...], fails: Callable[[tuple[Any, ...]], bool]) -> tuple[Any, ...]:
    """Items of which none can be left out, in their order."""
    size = max(1, len(items) // 2)
    while items:
        i, before = 0, len(items)
        while i < len(items):
            fewer = items[:i] + items[i + size :]
            if fails(fewer):
                items = fewer
            else:
                i += size
        if size == 1 and len(items) == before:
            break
        size = max(1, size // 2)
    return items


def _simpler(case: Case, in_scene: bool, fails: Fails) -> Case:
    """With simpler arguments, in the lines of the scene or in the calls."""
    calls = list(case.scene if in_scene else case.calls)

    def with_them(others: tuple[Call, ...]) -> Case:
        return replace(case, scene=others) if in_scene else replace(case, calls=others)

    for i, call in enumerate(calls):

        def fails_with(other: Call, i: int = i) -> bool:
            return fails(with_them((*calls[:i], other, *calls[i + 1 :])))

        calls[i] = _simpler_call(call, fails_with)
    return with_them(tuple(calls))


def _simpler_call(call: Call, fails: Callable[[Call], bool]) -> Call:
    """Keywords left out where they can be, numbers to 0 or 1, what is long to its first part."""
    value: Value = {"args": list(call.args), "kw": call.keywords}

    def made_of(other: Value) -> Call:
        return Call(call.name, call.form, tuple(other["args"]), other["kw"])

    for path in reversed(_places(value)):
        if path not in _places(value):
            continue
        if len(path) >= 2 and path[-2] in ("kw", "dict"):
            fewer = without(value, path)
            if fails(made_of(fewer)):
                value = fewer
                continue
        part = at(value, path)
        for other in _simple(part):
            if fails(made_of(replaced(value, path, other))):
                value = replaced(value, path, other)
                break
    return made_of(value)


def _places(value: Value) -> list[tuple[Any, ...]]:
    found = [path for part in ("args", "kw") for path in places(value[part], (part,)) if len(path) > 1]
    return [path for path in found if path[-1] not in ("args", "kw", "dict", "call", "text")]


def _simple(part: Value) -> list[Value]:
    """Simpler values than one."""
    if isinstance(part, float) and part not in (0.0, 1.0):
        return [0.0, 1.0] + ([float(f"{part:.1g}")] if float(f"{part:.1g}") != part else [])
    if isinstance(part, int) and not isinstance(part, bool) and part > 1:
        return [1]
    if isinstance(part, dict) and part.get("call") in ("mc.ConvexHull", "mc.Capsule", "mc.Cylinder", "mc.Cone", "mc.Box"):
        return [{"call": "mc.Sphere", "args": [0.1], "kw": {}}]
    return []
