"""Ready scenes, used by tests, benchmarks and demos alike.

``mcsim.scenes.pyramid(base=50)`` builds one; SCENES lists them all; ``build(name, **parameters)`` takes a name, and
``load(name_or_path, **parameters)`` a name or a scene file.
"""

import inspect
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from mcsim.core.errors import SceneError
from mcsim.core.files import path_name
from mcsim.scene import Scene, load_scene
from mcsim.scene.calls import explain_functions
from mcsim.scene.checks import FieldError
from mcsim.scenes.benchmark import chain, chain20_heavy, grid, one, pyramid, rain, tower, tower10_heavy
from mcsim.scenes.clockwork import escapement, gear_train
from mcsim.scenes.floors import with_floor
from mcsim.scenes.grounds import marbles, terrain
from mcsim.scenes.mechanisms import (
    bridge,
    cardan_shaft,
    double_pendulum,
    dzhanibekov,
    four_bar,
    newton_cradle,
    pendulum,
    slider_crank,
    spinning_top,
)
from mcsim.scenes.published import (
    bricard,
    four_bars,
    governor,
    heavy_top,
    planar_chain,
    point_pendulum,
    squeezer,
)
from mcsim.scenes.ragdoll import free_ragdoll, ragdoll_stairs, ragdolls, ragdolls11
from mcsim.scenes.registry import SCENES, build, check_names, description, existing, parameters, renamed
from mcsim.scenes.ropes import rope_bridge
from mcsim.scenes.runs import galton_board, marble_run
from mcsim.scenes.stacks import arch, card_tower, domino_spiral, dominoes, incline, stack, tumbler, wall, wrecking_ball
from mcsim.scenes.tops import rattleback, tippe_top
from mcsim.scenes.walkers import jansen_walker, quadruped

__all__ = [
    "SCENES",
    "build",
    "description",
    "load",
    "parameters",
    "arch",
    "bricard",
    "bridge",
    "card_tower",
    "cardan_shaft",
    "chain",
    "chain20_heavy",
    "domino_spiral",
    "dominoes",
    "double_pendulum",
    "dzhanibekov",
    "escapement",
    "four_bar",
    "four_bars",
    "free_ragdoll",
    "galton_board",
    "gear_train",
    "governor",
    "grid",
    "heavy_top",
    "incline",
    "jansen_walker",
    "marble_run",
    "marbles",
    "newton_cradle",
    "one",
    "pendulum",
    "planar_chain",
    "point_pendulum",
    "pyramid",
    "quadruped",
    "ragdoll_stairs",
    "ragdolls",
    "ragdolls11",
    "rain",
    "rattleback",
    "rope_bridge",
    "slider_crank",
    "spinning_top",
    "squeezer",
    "stack",
    "terrain",
    "tippe_top",
    "tower",
    "tower10_heavy",
    "tumbler",
    "wall",
    "with_floor",
    "wrecking_ball",
]


# Suffix -> the function of mcsim.io that reads such files, beside JSON.
READERS = {".urdf": "load_urdf", ".xml": "load_mjcf"}


def reader_of(path: Path) -> Callable[..., Scene] | None:
    """What reads a file of that suffix, function(path, *, …); None where it is no robot's."""
    suffix = path.suffix.lower()
    if suffix not in READERS:
        return None
    from mcsim import io  # here, because most who take a ready scene read no robot

    return getattr(io, READERS[suffix])


def load(name_or_path: str | os.PathLike[str], **parameters: Any) -> Scene:
    """A scene by name (``load("pyramid", base=50)``) or from a file (``load("my.json")``, ``load("robot.urdf")``,
    ``load("robot.xml")``).

    What has a suffix or a folder in it, or is a Path, is a file. Parameters are those of the scene, or of
    ``mcsim.io.load_urdf`` or ``mcsim.io.load_mjcf``; a JSON file takes none.
    """
    path = Path(path_name(name_or_path, "scene"))
    if isinstance(name_or_path, str) and not path.suffix and path.name == name_or_path:
        return build(name_or_path, **parameters)
    reader = reader_of(path)
    if reader is not None:
        try:
            check_names(parameters, inspect.signature(reader))
        except FieldError as error:
            raise SceneError(f"{path}: {error}") from None
        return reader(path, **parameters)
    if parameters and path.exists():
        raise SceneError(f"{path}: a scene file takes no parameters, but was given {', '.join(parameters)}")
    return load_scene(path)


def check_parameters(name_or_path: str | os.PathLike[str], parameters: dict[str, Any]) -> None:
    """Complains as `load` does where there is no ready scene of that name, or where it, or what reads such files, has no
    parameters of the names of `parameters`; the values are not looked at."""
    path = Path(path_name(name_or_path, "scene"))
    ready = isinstance(name_or_path, str) and not path.suffix and path.name == name_or_path
    reader = existing(name_or_path) if ready else reader_of(path)
    try:
        if reader is not None:
            signature = inspect.signature(reader)
            check_names(renamed(dict(parameters), signature), signature)
        elif parameters:
            raise SceneError(f"a scene file takes no parameters, but was given {', '.join(parameters)}")
    except SceneError as error:
        raise SceneError(f"{'scene ' * ready}{path}: {error}") from None


explain_functions(globals(), __all__)
