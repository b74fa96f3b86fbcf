"""The scene of a comparison: a Scene, or what a name or a file stands for."""

from __future__ import annotations

from os import PathLike
from typing import Any

from mcsim.core.errors import SceneError
from mcsim.scene import Scene
from mcsim.scene.checks import show

version = ""  # of mcsim, which puts it here as well


def load(name_or_path: str | PathLike[str], **parameters: Any) -> Scene:
    """mcsim.load, put in its place by mcsim: this folder and that of the scenes do not know each other."""
    raise NotImplementedError


def check_parameters(name_or_path: str | PathLike[str], parameters: dict[str, Any]) -> None:
    """mcsim.scenes.check_parameters, put in its place likewise."""
    raise NotImplementedError


def scene_of(given: Any, parameters: dict[str, Any]) -> Scene:
    """The scene that `compare` was given, or whose name or file it was given."""
    if isinstance(given, str | PathLike):
        return load(given, **parameters)
    if not isinstance(given, Scene):
        raise SceneError(f"compare: the first argument must be a Scene, or the name or file of one, got {show(given)}")
    if parameters:
        raise SceneError(
            f"compare: there is no keyword {', '.join(map(repr, parameters))}, and a Scene takes no "
            "parameters; help(mcsim.compare) lists the keywords"
        )
    return given
