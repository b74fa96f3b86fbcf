"""Methods by name: what "maximal:tree+soft@rattle" or "reduced:aba" means in keywords of World and ReducedWorld.

maximal:<solver>[+<stabilization>][@<integrator>]
reduced:<algorithm>[+<stabilization>][@<integrator>]
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from mcsim.core.errors import SceneError
from mcsim.scene import Scene
from mcsim.scene.checks import show, suggestion
from mcsim.solve import SOLVERS
from mcsim.solve.problems import SOLVERS as LABORATORY
from mcsim.world import ReducedWorld, World
from mcsim.world.capabilities import (
    EVENT_INTEGRATORS,
    INTEGRATOR_TABLE,
    INTEGRATORS,
    REDUCED_INTEGRATORS,
    REDUCED_STABILIZATIONS,
    STABILIZATIONS,
)
from mcsim.world.keywords import keyword_names

WORLDS: dict[str, type[World]] = {"maximal": World, "reduced": ReducedWorld}

# Solver of the laboratory -> the model of contact that it is for.
EXACT: dict[str, str] = {name: models[0] for name, (_, models, _) in LABORATORY.items()}

# Solver -> keywords of World.
MAXIMAL_SOLVERS: dict[str, dict[str, str]] = {
    "si": {"solver": "si", "joint_solver": "rows"},
    "pgs": {"solver": "pgs"},
    "tree": {"solver": "si", "joint_solver": "tree"},
    "rows": {"solver": "si", "joint_solver": "rows"},
    "event": {"contact": "event"},
} | {name: {"solver": name, "contact_model": model} for name, model in EXACT.items() if name not in SOLVERS}
# Algorithm -> keywords of ReducedWorld: what solves the rows over the tree.
REDUCED_ALGORITHMS: dict[str, dict[str, Any]] = {"aba": {}, "event": {"contact": "event"}} | {
    name: {"solver": name, "contact_model": model} for name, model in EXACT.items()
}

PARTS: dict[str, dict[str, Any]] = {
    "maximal": {
        "solver": MAXIMAL_SOLVERS,
        "stabilization": STABILIZATIONS,
        "integrator": (*INTEGRATORS, *EVENT_INTEGRATORS),
    },
    "reduced": {
        "algorithm": REDUCED_ALGORITHMS,
        "stabilization": REDUCED_STABILIZATIONS,
        "integrator": (*REDUCED_INTEGRATORS, *EVENT_INTEGRATORS),
    },
}
SHAPES = ("maximal:<solver>+<stabilization>[@<integrator>]", "reduced:<algorithm>[@<integrator>]")

# Those that a user may not choose for one method alone: they are the study's.
OF_THE_STUDY = ("dt",)

DEFAULT_METHODS = ("maximal:si+baumgarte", "maximal:tree+soft", "reduced:aba")


@dataclass(frozen=True)
class Method:
    """One way to simulate a scene. name: what it is called in tables. coordinates: "maximal" or "reduced".
    keywords: of World or ReducedWorld, without dt."""

    name: str
    coordinates: str
    keywords: dict[str, Any]

    def world(self, scene: Scene, dt: float) -> World:
        """A world of the scene, at its beginning."""
        try:
            return WORLDS[self.coordinates](scene, dt=dt, **self.keywords)
        except SceneError as error:
            raise SceneError(f"method {show(self.name)}: {error}") from None


def parse(name: str, substeps: int = 1) -> Method:
    """The method of a name."""
    coordinates, colon, rest = name.partition(":")
    if coordinates not in PARTS or not colon:
        raise SceneError(
            f"there is no method {show(name)}; a method is written {' or '.join(SHAPES)}, as in "
            f"{', '.join(DEFAULT_METHODS)}{_all_parts()}"
        )
    rest, at, integrator = rest.partition("@")
    first, plus, stabilization = rest.partition("+")
    what = next(iter(PARTS[coordinates]))
    keywords = {"substeps": substeps} | _one_of(name, coordinates, what, first)
    if plus:
        _one_of(name, coordinates, "stabilization", stabilization)
        keywords["stabilization"] = stabilization
    if at:
        _one_of(name, coordinates, "integrator", integrator)
        keywords["integrator"] = integrator
    return Method(name, coordinates, _settled(coordinates, keywords))


def _one_of(name: str, coordinates: str, what: str, word: str) -> dict[str, Any]:
    table = PARTS[coordinates][what]
    if word not in table:
        raise SceneError(
            f"method {show(name)}: there is no {what} {show(word)}{suggestion(word, table)}; those of "
            f"{coordinates} are: {', '.join(table)}"
        )
    return table[word] if isinstance(table, dict) and isinstance(table[word], dict) else {}


def _all_parts() -> str:
    return "".join(
        f"; {coordinates} {what}s: {', '.join(table)}"
        for coordinates, parts in PARTS.items()
        for what, table in parts.items()
    )


def _settled(coordinates: str, keywords: dict[str, Any]) -> dict[str, Any]:
    """With what a comparison has otherwise than a World by itself."""
    settled = dict(keywords)
    settled.setdefault("sleep", False)  # who sleeps keeps no energy
    if coordinates == "maximal":
        if INTEGRATOR_TABLE[settled.get("integrator", "semi_implicit")].smooth and settled.get("joint_solver") == "tree":
            del settled["joint_solver"]  # it solves all joints at once by itself
    return settled


def given(name: str, keywords: Mapping[str, Any], substeps: int = 1) -> Method:
    """A method by keywords of World; with coordinates="reduced", of ReducedWorld."""
    keywords = dict(keywords)
    coordinates = keywords.pop("coordinates", "maximal")
    if coordinates not in WORLDS:
        raise SceneError(f"method {show(name)}: coordinates must be one of: {', '.join(WORLDS)}; got {show(coordinates)}")
    known = [key for key in keyword_names(WORLDS[coordinates]) if key not in OF_THE_STUDY]
    for key in keywords:
        if key in OF_THE_STUDY:
            raise SceneError(f"method {show(name)}: {key} is one for all methods: give it to compare")
        if key not in known:
            raise SceneError(
                f"method {show(name)}: there is no keyword {show(key)}{suggestion(str(key), known)}; "
                f"those of {WORLDS[coordinates].__name__} are: {', '.join(known)}"
            )
    return Method(name, coordinates, _settled(coordinates, {"substeps": substeps} | keywords))


def one(method: str | Mapping[str, Any] | Method, substeps: int = 1) -> list[Method]:
    """The methods of one entry: one by its name, those of a dict by their keywords."""
    if isinstance(method, Method):
        return [method]
    if isinstance(method, str):
        return [parse(method, substeps)]
    if isinstance(method, Mapping):
        return [
            replace(parse(value, substeps), name=str(name)) if isinstance(value, str) else given(str(name), value, substeps)
            for name, value in method.items()
        ]
    raise SceneError(
        f"a method is a name, as {show(DEFAULT_METHODS[0])}, or a dict of keywords by name, got {show(method)}"
    )


def methods_of(methods: Any, substeps: int = 1) -> list[Method]:
    """What compare takes as `methods`, as a list; names are unique."""
    entries = [methods] if isinstance(methods, str | Mapping | Method) else methods
    if not isinstance(entries, Iterable):
        raise SceneError(f"methods must be a list of names, got {show(methods)}")
    found = [method for entry in entries for method in one(entry, substeps)]
    if not found:
        raise SceneError(f"there are no methods to compare; give some, as {', '.join(DEFAULT_METHODS)}")
    names = [method.name for method in found]
    for name in names:
        if names.count(name) > 1:
            raise SceneError(f"method {show(name)} is there twice")
    return found
