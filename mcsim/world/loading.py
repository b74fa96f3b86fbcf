"""A world from the file of its state."""

from __future__ import annotations  # signatures read as they are written here

from os import PathLike

from mcsim.scene import Scene
from mcsim.world.reduced_world import ReducedWorld
from mcsim.world.state_files import read_state
from mcsim.world.world import World

WORLDS: dict[str, type[World]] = {"World": World, "ReducedWorld": ReducedWorld}  # by the names that files have


def load_state(path: str | PathLike[str], scene: Scene | None = None) -> World:
    """The world that `save_state` wrote to a file, a World or a ReducedWorld, in the state that it had; it goes on to the
    same bits.

    scene: in place of the file's own, where that could not be written, since it has functions of Python: the same one.
    FileNotFoundError if there is no file. SceneError, which names the file, where it is none of a world, is damaged, or is
    that of another version of mcsim. Nothing in a file is run: it may come from anywhere.

        world = mc.load_state("crash.npz")
        world.step()
    """
    found: World = read_state(path, WORLDS, scene)
    return found
