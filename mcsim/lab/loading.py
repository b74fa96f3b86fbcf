"""The scene of a comparison: a Scene, or what a name or a file stands for."""

from __future__ import annotations

from os import PathLike
from typing import Any

from mcsim.core.errors import SceneError
from mcsim.scene import Scene
from mcsim.scene.checks import show
from mcsim.scenes import load


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
