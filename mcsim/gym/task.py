"""What a task is: a scene, what is done to it, what is seen of it and what it is worth."""

from __future__ import annotations  # signatures read as they are written here

from typing import Any

import numpy as np

from mcsim.world import World


class Task:
    """One task, of which Environment and Environments make worlds. Derive from it, and describe:

    make() -> a World or a ReducedWorld in the state that episodes begin from. Each environment has one of its own.
    actions: (lower (a,), upper (a,)). observations: how many numbers are seen, each of any size.
    begin(world, random): a new episode's beginning, of a world in the state that make() gave; random: a
        numpy.random.Generator.
    act(world, action): what an action (a,), within its bounds, does in the steps to come.
    observe(world) -> (observations,). worth(world, action) -> reward of the steps that were made. ended(world) -> whether
        the task has failed or is done, so that nothing comes after.
    steps: of the world an action. length: actions an episode, after which it is cut off.
    """

    actions: tuple[Any, Any]
    observations: int
    steps: int = 1
    length: int = 1000

    def make(self) -> World:
        raise NotImplementedError

    def begin(self, world: World, random: np.random.Generator) -> None:
        raise NotImplementedError

    def act(self, world: World, action: np.ndarray) -> None:
        raise NotImplementedError

    def observe(self, world: World) -> np.ndarray:
        raise NotImplementedError

    def worth(self, world: World, action: np.ndarray) -> float:
        raise NotImplementedError

    def ended(self, world: World) -> bool:
        raise NotImplementedError
