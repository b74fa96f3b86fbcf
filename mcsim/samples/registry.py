"""The table of samples: name -> function, where it comes from and how it is looked at."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import pkgutil
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mcsim.core.errors import SceneError
from mcsim.samples.outcome import Outcome
from mcsim.samples.play import Play
from mcsim.scene.checks import show, suggestion

Function = Callable[[Play], None]

JOINT_ERROR = 1e-5  # [m or rad] that joints may be open
OVERLAP = 2e-3  # [m] that bodies of metres may overlap at the end

_SAMPLES: dict[str, Sample] = {}
_LOADED: list[bool] = []  # has an entry once all files of samples are imported


@dataclass(frozen=True)
class Sample:
    """One sample.

    name: engine/group/sample. title: as the engine calls it. source: where it is there. function: builds and plays it, and
    says what should happen. camera: from where it is best seen, as `mcsim.view.save_png` takes it. slow: whether its steps
    take more than about 0.3 s in all, so that only `--slow` tests it. joint_error [m or rad], overlap [m]: the most that
    is right, or None where there is no such limit, as at the end of a motion.
    """

    name: str
    title: str
    source: str
    function: Function
    camera: Any = "perspective"
    slow: bool = False
    joint_error: float | None = JOINT_ERROR
    overlap: float | None = OVERLAP

    @property
    def group(self) -> str:
        """engine/group."""
        return self.name.rpartition("/")[0]

    @property
    def description(self) -> str:
        """One line that says what happens."""
        return (inspect.getdoc(self.function) or "").partition("\n")[0]

    def run(self, record: bool = False) -> Outcome:
        """Builds and plays it. record: whether to keep frames to draw. An error that ends it stands in the outcome."""
        play = Play(self.name, record)
        try:
            self.function(play)
        except Exception as error:  # one that fails is no reason not to run the others
            here = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename != __file__]
            own = next((frame for frame in here if frame.filename.startswith(str(Path(__file__).parent))), here[-1])
            where = f"{Path(own.filename).name}, line {own.lineno}"
            play.outcome.error = f"{type(error).__name__} in {where}: {' '.join(str(error).split())}"
        return play.finish(self.joint_error, self.overlap)


def sample(
    name: str,
    *,
    title: str,
    source: str,
    camera: Any = "perspective",
    slow: bool = False,
    joint_error: float | None = JOINT_ERROR,
    overlap: float | None = OVERLAP,
) -> Callable[[Function], Function]:
    """Puts a function into the table of samples, with what a Sample tells beside it.

    @sample("box3d/stacking/box_stack_40", title="Box Stack", source="Box3D, sample_stacking.cpp")
    def box_stack_40(play):
        "Forty cubes of 1 m stand on each other."
        ...
    """

    def listed(function: Function) -> Function:
        if name in _SAMPLES:
            raise SceneError(f"sample: there is a sample {name!r} already, in {_SAMPLES[name].function.__module__}")
        _SAMPLES[name] = Sample(name, title, source, function, camera, slow, joint_error, overlap)
        return function

    return listed


def _table() -> dict[str, Sample]:
    """All samples; the first call imports the files that they stand in, engine by engine, group by group."""
    if not _LOADED:
        folder = Path(__file__).parent
        for engine in pkgutil.iter_modules([str(folder)]):
            if engine.ispkg:
                for group in pkgutil.iter_modules([str(folder / engine.name)]):
                    importlib.import_module(f"mcsim.samples.{engine.name}.{group.name}")
        _LOADED.append(True)
    return _SAMPLES


def engines() -> dict[str, str]:
    """Engine -> its name as it is written, the first line of its folder's docstring."""
    found = {}
    for name in dict.fromkeys(name.partition("/")[0] for name in _table()):
        known = importlib.util.find_spec(f"mcsim.samples.{name}")  # none for samples of a user's own
        told = inspect.getdoc(importlib.import_module(known.name)) if known else None
        found[name] = (told or name).splitlines()[0]
    return found


def names(part: str = "") -> list[str]:
    """The names of all samples, or of those of an engine ("box3d"), of a group ("box3d/stacking"), or one.

    SceneError where there are none of that name.
    """
    if not isinstance(part, str):
        raise SceneError(f"samples: a name is a text such as 'box3d/stacking', got {show(part)}")
    table, wanted = _table(), part.strip("/")
    found = [name for name in table if not wanted or name == wanted or name.startswith(wanted + "/")]
    if not found:
        groups = list(dict.fromkeys(one.group for one in table.values()))
        known = [*dict.fromkeys(group.partition("/")[0] for group in groups), *groups, *table]
        raise SceneError(f"there is no sample {show(part)}{suggestion(part, known)}; the groups are: {', '.join(groups)}")
    return found


def find(name: str) -> Sample:
    """The sample of a whole name. SceneError if there is none."""
    found = names(name)
    if found != [name]:
        raise SceneError(f"{name} are {len(found)} samples, the first is {found[0]!r}: give the whole name of one")
    return _table()[name]


def run(name: str, record: bool = False) -> Outcome:
    """Builds and plays the sample of a whole name -> its Outcome. record: whether to keep frames, to draw it."""
    return find(name).run(record)
