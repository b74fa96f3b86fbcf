"""Ready scenes, used by tests, benchmarks and demos alike.

``mcsim.scenes.pyramid(base=50)`` builds one; SCENES lists them all; ``build(name, **parameters)`` takes a name, and
``load(name_or_path, **parameters)`` a name or a scene file.
"""

from pathlib import Path

from mcsim.core.errors import SceneError
from mcsim.scene import load_scene
from mcsim.scenes.mechanisms import (
    bridge, cardan_shaft, double_pendulum, dzhanibekov, four_bar, newton_cradle, pendulum, slider_crank, spinning_top,
)
from mcsim.scenes.ragdoll import ragdolls, ragdolls11
from mcsim.scenes.registry import SCENES, build, description, parameters
from mcsim.scenes.benchmark import chain, chain20_heavy, grid, one, pyramid, rain, tower, tower10_heavy
from mcsim.scenes.grounds import marbles, terrain
from mcsim.scenes.stacks import arch, card_tower, dominoes, incline, stack, tumbler, wall, wrecking_ball

__all__ = [
    "SCENES", "build", "description", "load", "parameters",
    "arch", "bridge", "card_tower", "cardan_shaft", "chain", "chain20_heavy", "dominoes", "double_pendulum",
    "dzhanibekov", "four_bar", "grid", "incline", "marbles", "newton_cradle", "one", "pendulum", "pyramid", "ragdolls",
    "ragdolls11", "rain", "slider_crank", "spinning_top", "stack", "terrain", "tower", "tower10_heavy", "tumbler",
    "wall", "wrecking_ball",
]


def load(name_or_path, **parameters):
    """A scene by name (``load("pyramid", base=50)``) or from a JSON file (``load("my.json")``).

    What has a suffix or a folder in it, or is a Path, is a file.
    """
    path = Path(name_or_path)
    if isinstance(name_or_path, str) and not path.suffix and path.name == name_or_path:
        return build(name_or_path, **parameters)
    if path.suffix.lower() in (".urdf", ".xml"):
        raise SceneError(f"{path}: reading {path.suffix.lower()} files is not available yet; a scene is .json")
    if parameters and path.exists():
        raise SceneError(f"{path}: a scene file takes no parameters, but was given {', '.join(parameters)}")
    return load_scene(path)
