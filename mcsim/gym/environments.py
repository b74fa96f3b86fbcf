"""Environments of a task, by Gymnasium's interface: one, and many at once."""

from __future__ import annotations  # signatures read as they are written here

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import gymnasium
import numpy as np
from gymnasium.spaces import Box
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space

from mcsim.core.errors import SceneError, SimulationError
from mcsim.core.processors import processors
from mcsim.gym.task import Task
from mcsim.scene.checks import count
from mcsim.world import World

PICTURE = (480, 360)  # pixels of what is rendered


class _Episode:
    """One world of a task, and how far its episode is."""

    def __init__(self, task: Task) -> None:
        self.task, self.world, self.made = task, task.make(), 0
        self.beginning = self.world.snapshot()
        self.over = True

    def begin(self, random: np.random.Generator) -> np.ndarray:
        self.world.restore(self.beginning)
        self.task.begin(self.world, random)
        self.made, self.over = 0, False
        return self.task.observe(self.world)

    def step(self, action: np.ndarray) -> tuple[np.ndarray, float, bool, bool]:
        """-> what is seen, what it is worth, whether it has ended, whether it is cut off. A world that fails has ended,
        worth nothing."""
        try:
            self.task.act(self.world, action)
            self.world.step(self.task.steps)
            seen, worth = self.task.observe(self.world), self.task.worth(self.world, action)
            ended = self.task.ended(self.world)
        except SimulationError:
            seen, worth, ended = self.task.observe(self.world), 0.0, True
        self.made += 1
        cut = self.made >= self.task.length and not ended
        self.over = ended or cut
        return seen, worth, ended, cut


def _spaces(task: Task) -> tuple[Box, Box]:
    """-> of observations, of actions"""
    lower, upper = (np.asarray(bound, float) for bound in task.actions)
    return Box(-np.inf, np.inf, (task.observations,), np.float64), Box(lower, upper, dtype=np.float64)


def _task(task: Task | type[Task]) -> Task:
    made = task() if isinstance(task, type) else task
    if not isinstance(made, Task):
        raise SceneError(f"mcsim.gym: task must be a Task or a class of one, got {type(made).__name__}")
    return made


class Environment(gymnasium.Env[np.ndarray, np.ndarray]):
    """One environment of a task. task: a Task, or its class. `world` is its world, to look at."""

    metadata: dict[str, Any] = {"render_modes": ["rgb_array"], "render_fps": 30}  # noqa: RUF012 (as Gymnasium has it)

    def __init__(self, task: Task | type[Task], render_mode: str | None = None) -> None:
        self.task, self.render_mode = _task(task), render_mode
        self._episode = _Episode(self.task)
        self.observation_space, self.action_space = _spaces(self.task)

    @property
    def world(self) -> World:
        return self._episode.world

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[np.ndarray, dict[str, Any]]:
        super().reset(seed=seed)
        return self._episode.begin(self.np_random), {}

    def step(self, action: np.ndarray) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        seen, worth, ended, cut = self._episode.step(np.asarray(action, float))
        return seen, worth, ended, cut, {}

    def render(self) -> Any:
        """(height, width, 3) uint8, where render_mode is "rgb_array"."""
        if self.render_mode != "rgb_array":
            return None
        from PIL import Image  # here, because both take long to import

        from mcsim.view import save_png

        with TemporaryDirectory() as folder:
            path = Path(folder) / "picture.png"
            save_png(path, self.world, size=PICTURE)
            with Image.open(path) as image:
                return np.asarray(image.convert("RGB"))


class Environments(gymnasium.vector.VectorEnv[np.ndarray, np.ndarray, np.ndarray]):
    """Many environments of a task, whose worlds step in threads at once. One whose episode is over begins anew by the next
    step, whose action it does not look at (AutoresetMode.NEXT_STEP).

    task: a Task, or its class. num_envs: how many. threads: as many as there are processors; results do not depend on it.
    `worlds` are theirs. The same seeds give the same episodes as in as many of Environment.
    """

    metadata: dict[str, Any] = {"render_modes": [], "autoreset_mode": AutoresetMode.NEXT_STEP}  # noqa: RUF012 (likewise)

    def __init__(
        self,
        task: Task | type[Task],
        num_envs: int = 1,
        threads: int | None = None,
        render_mode: str | None = None,
        max_episode_steps: int | None = None,
    ) -> None:
        self.num_envs = count(num_envs, "num_envs", 1, 1 << 20)
        wanted = processors() if threads is None else count(threads, "threads", 1, 1 << 16)
        self.task, self.render_mode = _task(task), render_mode
        self._threads = min(wanted, self.num_envs)
        self._pool = ThreadPoolExecutor(self._threads) if self._threads > 1 else None
        self._episodes = [_Episode(self.task) for _ in range(self.num_envs)]
        self._random: list[np.random.Generator] = []
        self.single_observation_space, self.single_action_space = _spaces(self.task)
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)

    @property
    def worlds(self) -> list[World]:
        return [episode.world for episode in self._episodes]

    def reset(
        self, *, seed: int | list[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """seed: of the first, the others having the next ones; or one for each."""
        if seed is not None or not self._random:
            if isinstance(seed, int):
                seed = [seed + i for i in range(self.num_envs)]
            seeds: list[int | None] = [None] * self.num_envs if seed is None else list(seed)
            if len(seeds) != self.num_envs:
                raise SceneError(f"mcsim.gym: {len(seeds)} seeds for {self.num_envs} environments")
            self._random = [gymnasium.utils.seeding.np_random(one)[0] for one in seeds]
        seen = [episode.begin(random) for episode, random in zip(self._episodes, self._random)]
        return np.array(seen), {}

    def step(self, actions: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        actions = np.asarray(actions, float).reshape(self.num_envs, -1)
        found: list[Any] = [None] * self.num_envs

        def work(first: int) -> None:
            for i in range(first, self.num_envs, self._threads):
                episode = self._episodes[i]
                if episode.over:
                    found[i] = episode.begin(self._random[i]), 0.0, False, False
                else:
                    found[i] = episode.step(actions[i])

        if self._pool is None:
            work(0)
        else:
            list(self._pool.map(work, range(self._threads)))
        seen, worth, ended, cut = zip(*found)
        return np.array(seen), np.array(worth, float), np.array(ended, bool), np.array(cut, bool), {}

    def close_extras(self, **_: Any) -> None:
        if self._pool is not None:
            self._pool.shutdown()
