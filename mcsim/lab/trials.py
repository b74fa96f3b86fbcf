"""What is done at one point of a sweep: a function is called, or a scene is made, run and measured."""

from __future__ import annotations

import inspect
import os
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from mcsim import scenes
from mcsim.core.errors import SceneError, SimulationError
from mcsim.core.files import content_of
from mcsim.lab import loading, nature
from mcsim.lab.compare import MOST_RUN_STEPS
from mcsim.lab.grids import canonical, hashed, names_of, plain
from mcsim.lab.methods import WORLDS, parse
from mcsim.lab.record import Recorder
from mcsim.lab.reference import steps_of
from mcsim.scene import Scene
from mcsim.scene.checks import FieldError, choose, positive, show, suggestion, text
from mcsim.world import World
from mcsim.world.beginning import first_overlap
from mcsim.world.keywords import keyword_names

OF_RUN = ("seconds", "dt", "method")
OF_WORLD = "world."  # in front of a keyword of World among the parameters
SECONDS = 10.0

# What a run of a scene may tell -> the units of its results.
MEASURES: dict[str, dict[str, str]] = {
    "end": {
        "end_positions": "m",
        "end_orientations": "",
        "end_velocities": "m/s",
        "end_angular_velocities": "rad/s",
        "state_hash": "",
    },
    "energy": {"energy_start": "J", "energy_end": "J", "energy_drift": "J"},
    "joints": {"joint_error_m": "m", "joint_error_rad": "rad"},
    "contacts": {"penetration": "m"},
    "time": {"step_seconds": "s"},
}
DEFAULT_MEASURES = ("end", "energy", "joints", "contacts")
SUITABLE = "biufcU"  # kinds of arrays that a result may be


@dataclass(frozen=True)
class Trial:
    """source: a function, a Scene, or the name or path of one. settings: seconds, dt, method, world, measure, those that
    were given. name: what results are kept under. content: a hash of the scene or its file, so that another one of the
    same name is another study; "" of functions and ready scenes; None of a scene that holds Python functions."""

    source: Any
    settings: dict[str, Any]
    name: str
    content: str | None = ""

    @property
    def study(self) -> str:
        """What decides a result beside its parameters."""
        told = {"study": self.name, "content": self.content or ""} | {
            key: [named(one) for one in value] if key == "measure" else _settled(value)
            for key, value in self.settings.items()
        }
        return canonical(told)

    def results(self, parameters: dict[str, Any]) -> dict[str, Any]:
        """What comes out at these parameters: name -> number, string or array."""
        own, of_run = self.split(parameters)
        source = self.source
        made = source(**own) if callable(source) else loading.scene_of(source, own)
        if not isinstance(made, Scene):
            if self.settings or of_run:
                given = ", ".join([*self.settings, *of_run])
                raise TypeError(f"{given} are of the run of a scene, but the study returned {show(made)}, which is none")
            return suitable(made, parameters)
        return suitable(measured(made, self.settings, of_run), parameters)

    def split(self, parameters: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
        """-> parameters of the function or scene, and those of the run: dt, seconds and method, unless a function has
        parameters of these names, and world.NAME."""
        taken = self._taken()
        of_run = {
            name
            for name in parameters
            if name.startswith(OF_WORLD) or name in OF_RUN and (taken is None or name not in taken)
        }
        own = {name: value for name, value in parameters.items() if name not in of_run}
        return own, {name: parameters[name] for name in parameters if name in of_run}

    def _taken(self) -> Iterable[str] | None:
        """The names that a function takes; None of scenes. Of a function that takes any name, all that a run has."""
        if not callable(self.source):
            return None
        try:
            found = inspect.signature(self.source).parameters.values()
        except (TypeError, ValueError):  # functions of C tell nothing
            return OF_RUN
        return OF_RUN if any(p.kind is p.VAR_KEYWORD for p in found) else [p.name for p in found]

    def check(self, parameters: list[dict[str, Any]]) -> None:
        """FieldError where a parameter has a wrong name, or one of the run a wrong value, before anything runs."""
        for name in names_of(parameters):
            own, of_run = self.split({name: None})
            if own:
                self._check_name(name)
            elif name.startswith(OF_WORLD):
                if "method" in self.settings and name == OF_WORLD + "coordinates":
                    raise FieldError("grid", "has world.coordinates, which the method says")
                _check_keyword(name.removeprefix(OF_WORLD), "grid")
            elif name in self.settings:
                raise FieldError("grid", f"has {name}, which is given as a keyword too")
            if of_run and name in OF_RUN:
                for value in {canonical(given[name]): given[name] for given in parameters if name in given}.values():
                    check_setting(name, value, f"grid[{name!r}]")

    def _check_name(self, name: str) -> None:
        if isinstance(self.source, Scene):
            raise FieldError(
                "grid", f"has {show(name)}, but a Scene takes no parameters; of the run are {', '.join(OF_RUN)}, world.NAME"
            )
        if not callable(self.source):
            return scenes.check_parameters(self.source, {name: None})
        try:
            found = inspect.signature(self.source).parameters.values()
        except (TypeError, ValueError):
            return None
        known = [p.name for p in found if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
        if name not in known and not any(p.kind is p.VAR_KEYWORD for p in found):
            there = f"its parameters are: {', '.join(known)}" if known else "it has none"
            raise FieldError(
                "grid", f"has {show(name)}, which is no parameter of {self.name}{suggestion(name, known)}; {there}"
            )
        return None


def trial_of(source: Any, settings: Mapping[str, Any], name: Any) -> Trial:
    """A checked Trial. settings: those that are not None count."""
    given = {key: value for key, value in settings.items() if value is not None}
    for key in OF_RUN:
        if key in given:
            given[key] = check_setting(key, given[key], key)
    if "world" in given:
        if not isinstance(given["world"], Mapping):
            raise FieldError("world", f"must be a dict of keywords of World, got {show(given['world'])}")
        for keyword in given["world"]:
            _check_keyword(keyword, "world")
        if "coordinates" in given["world"] and "method" in given:
            raise FieldError("world", "has coordinates, which the method says")
    if "measure" in given:
        one = isinstance(given["measure"], str) or callable(given["measure"])
        listed = [given["measure"]] if one else list(given["measure"])
        given["measure"] = [m if callable(m) else choose(m, MEASURES, "measure") for m in listed]
    content: str | None = ""
    if isinstance(source, str | os.PathLike):
        path = Path(source)
        own = path.stem
        scenes.check_parameters(source, {})
        if path.suffix or path.name != os.fspath(source):
            content = hashed(content_of(source, "scene file"))
        if path.suffix.lower() == ".json":
            source = scenes.load(source)
    elif isinstance(source, Scene):
        own, content = source.name, _content(source)
    elif callable(source):
        own = named(source)
    else:
        raise FieldError("study", f"must be a function, a Scene, or the name or file of one, got {show(source)}")
    return Trial(source, given, own if name is None else text(name, "name"), content)


def _content(scene: Scene) -> str | None:
    """A hash of what describes a scene; None where Python functions do."""
    try:
        return hashed(canonical(scene.to_dict()).encode())
    except SceneError:
        return None


def named(function: Any) -> str:
    """A function by its module and name; that of a program by the name of its file, as if it were imported. A measure's
    name is itself."""
    if isinstance(function, str):
        return function
    name, module = getattr(function, "__qualname__", type(function).__qualname__), getattr(function, "__module__", None)
    if module in ("__main__", "__mp_main__"):
        module = Path(getattr(sys.modules.get("__main__"), "__file__", None) or "__main__").stem
    return f"{module}.{name}"


def is_nameless(source: Any) -> bool:
    """Whether a function has no name that tells it from others, as a lambda."""
    return callable(source) and (not hasattr(source, "__qualname__") or "<" in source.__qualname__.rpartition(".")[2])


def check_setting(name: str, value: Any, field: str) -> Any:
    """One of OF_RUN, checked."""
    if name == "method":
        parse(text(value, field))
        return value
    return positive(value, field)


def _check_keyword(name: Any, field: str) -> None:
    known = [key for key in dict.fromkeys(n for kind in WORLDS.values() for n in keyword_names(kind)) if key != "dt"]
    known.append("coordinates")
    if name == "dt":
        raise FieldError(field, "has dt of the world, which is given as dt")
    if name not in known:
        raise FieldError(field, f"has {show(name)}, which is no keyword of a world{suggestion(name, known)}")


def _settled(value: Any) -> Any:
    """A setting as plain data; objects that hold keywords of a world by what they say."""
    if isinstance(value, Mapping):
        return {key: _settled(part) for key, part in value.items()}
    try:
        return plain(value, "world")
    except FieldError:
        return repr(value)


# ---- a run of a scene ------------------------------------------------------------------------------------------------


def measured(scene: Scene, settings: Mapping[str, Any], of_run: Mapping[str, Any]) -> dict[str, Any]:
    """Run a scene, and say what was asked for. A run that fails is a SimulationError."""
    said = dict(settings) | {name: of_run[name] for name in OF_RUN if name in of_run}
    keywords = dict(settings.get("world", {}))
    keywords |= {n.removeprefix(OF_WORLD): value for n, value in of_run.items() if n.startswith(OF_WORLD)}
    coordinates = keywords.pop("coordinates", "maximal")
    if "method" in said:
        method = parse(said["method"])
        coordinates, keywords = method.coordinates, method.keywords | keywords
    if "dt" in said:
        keywords["dt"] = said["dt"]
    world = WORLDS[choose(coordinates, WORLDS, "coordinates")](scene, **keywords)
    seconds = said.get("seconds", SECONDS)
    if seconds / world.dt > MOST_RUN_STEPS:
        raise SceneError(f"dt of {world.dt:g} s makes {seconds / world.dt:.3g} steps of {seconds:g} s")
    wanted = said.get("measure", DEFAULT_MEASURES)
    out = _followed(scene, world, steps_of(world.dt, seconds), [one for one in wanted if isinstance(one, str)])
    for function in wanted:
        if callable(function):
            out |= suitable(function(world), {})
    return out


def _followed(scene: Scene, world: World, steps: int, wanted: list[str]) -> dict[str, Any]:
    """What the built-in measures say."""
    out: dict[str, Any] = {}
    if set(wanted) <= {"end"}:
        world.step(steps)
    else:
        overlap = first_overlap(world) if nature.may_touch(scene) else 0.0
        recorder, taken = Recorder(scene, world, steps, None, overlap=overlap, trajectories=False), []

        def timed() -> None:
            begin = time.perf_counter()
            world.step()
            taken.append(time.perf_counter() - begin)

        arrays, failure, _ = recorder.follow(steps, lambda k: None, timed)
        if failure:
            raise SimulationError(failure)
        energy = arrays["energy"]
        found = {
            "energy_start": energy[0],
            "energy_end": energy[-1],
            "energy_drift": np.abs(energy - energy[0]).max(),
            "joint_error_m": arrays["joint_position_max"].max(),
            "joint_error_rad": arrays["joint_angle_max"].max(),
            "penetration": arrays["penetration"].max(),
            "step_seconds": np.median(taken),
        }
        if not scene.joints:
            found |= {"joint_error_m": 0.0, "joint_error_rad": 0.0}
        out |= {name: found[name] for one in wanted if one != "end" for name in MEASURES[one]}
    if "end" in wanted:
        out |= {
            "end_positions": world.positions.copy(),
            "end_orientations": world.orientations.copy(),
            "end_velocities": world.velocities.copy(),
            "end_angular_velocities": world.angular_velocities.copy(),
            "state_hash": world.state_hash(),
        }
    out["notes"] = "; ".join(f"{note.text} (in {note.total} of {steps} steps)" for note in world.stats.all_notes)
    return out


# ---- what comes out --------------------------------------------------------------------------------------------------


def suitable(returned: Any, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """What a study returned as numbers, strings and arrays by name; a single one is called "value"."""
    given = returned if isinstance(returned, Mapping) else {"value": returned}
    out = {}
    for name, value in given.items():
        if not isinstance(name, str) or not name:
            raise TypeError(f"the study returned {show(name)} as the name of a result, which must be a string")
        if name in parameters:
            raise ValueError(f"the study returned {show(name)}, which is the name of a parameter too")
        try:
            array = np.asarray(value)
        except ValueError:  # lists of several lengths
            array = np.array(None)
        if array.dtype.kind == "U" and not all(isinstance(part, str) for part in np.array(value, object).flat):
            array = np.array(None)  # numbers among strings, which NumPy makes strings
        if array.dtype.kind not in SUITABLE:
            raise TypeError(
                f"the study returned {show(value)} as {name}: a result is a number, a string or an array of them"
            )
        out[name] = array.item() if array.ndim == 0 else np.array(array)
    return out


def outcome(trial: Callable[[], Trial] | Trial, parameters: dict[str, Any]) -> tuple[dict[str, Any] | None, str]:
    """-> results, or None and why there are none."""
    try:
        return (trial if isinstance(trial, Trial) else trial()).results(parameters), ""
    except (Exception, SystemExit) as error:
        return None, told(error)


def told(error: BaseException) -> str:
    """The kind of an error and what it says, on one line."""
    says = " ".join(str(error).split())
    return f"{type(error).__name__}: {says}" if says else type(error).__name__
