"""Functions that a world calls, good and bad ones; and calls that take more than a line. Scripts of failures use them.

They hang on their arguments alone, so that worlds that make the same calls go the same way.
"""

from __future__ import annotations

import math
import tempfile
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np

from mcsim.calls.player import write_rows
from mcsim.calls.states import made_world, snapshot_of as snapshot_from
from mcsim.calls.values import value_of
from mcsim.core.errors import SceneError, SimulationError
from mcsim.io import Recorder
from mcsim.scene import Scene, load_scene

BUSY = "is in the middle of a step"
LOOKS = 10  # of each thread that looks while another calls


class CallbackError(Exception):
    """What functions raise that are to fail: it is to come out of the call as it is."""


class Present:
    """The world that is called just now, for functions that call it back."""

    world: Any = None


def _one_of(n: int, *names: object) -> bool:
    """True of one in n of the names."""
    return crc32(repr(names).encode()) % n == 0


# ---- contact filters -------------------------------------------------------------------------------------------------


def meets_by_name(a: Any, b: Any) -> bool:
    """Three of four pairs."""
    return not _one_of(4, *sorted((a.name, b.name)))


def fails_in_filter(a: Any, b: Any) -> bool:
    """An error, of every other pair."""
    if _one_of(2, *sorted((a.name, b.name))):
        raise CallbackError("the filter has failed")
    return True


def answers_garbage(a: Any, b: Any) -> Any:
    """No answer to the question."""
    return "yes"


def calls_back(a: Any, b: Any) -> bool:
    """Asks the world for what it must refuse meanwhile, and reads what may be read."""
    world = Present.world
    if world is None:
        return True
    for call in (world.step, world.snapshot, world.to_scene, lambda: world.remove_body(0), lambda: world.set_pose(0)):
        with suppress(SimulationError, SceneError):
            call()
    world.positions.sum()
    return True


# ---- residuals of user's joints, motions -----------------------------------------------------------------------------


class Apart:
    """One coordinate of b less that of a stays what it is given as."""

    def __init__(self, k: int, gap: float) -> None:
        self.k, self.gap = k, gap

    def __call__(self, a: Any, b: Any) -> list[float]:
        return [b.position[self.k] - a.position[self.k] - self.gap]


class Failing(Apart):
    """The same, which fails where the coordinate is positive."""

    def __call__(self, a: Any, b: Any) -> list[float]:
        if b.position[self.k] > 0.0:
            raise CallbackError("the residual has failed")
        return super().__call__(a, b)


class Garbled(Apart):
    """The same, with another answer where the coordinate is positive: `gap` chooses which."""

    def __call__(self, a: Any, b: Any) -> Any:
        if b.position[self.k] > 0.0:
            return ([math.nan], [], [1.0, 2.0], "far", None)[int(abs(self.gap) * 10) % 5]
        return super().__call__(a, b)


def swing(t: float) -> float:
    """A motion."""
    return 0.2 * t * t


def swing_that_fails(t: float) -> float:
    """A motion that fails after a while."""
    if t > 0.02:
        raise CallbackError("the motion has failed")
    return 0.1 * t


def swing_of_garbage(t: float) -> Any:
    """A motion that is no number after a while."""
    return math.nan if t > 0.02 else 0.1 * t


# ---- calls of more than a line ---------------------------------------------------------------------------------------


def through_file(scene: Scene) -> Scene:
    """The scene, written and read."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "scene.json")
        scene.save(path)
        return load_scene(path)


def recorded(world: Any, steps: int) -> int:
    """A recording of some steps -> its frames."""
    recorder = Recorder(world, contacts=True)
    for _ in range(steps):
        world.step()
        recorder.keep()
    return len(recorder.recording())


def beside(world: Any, call: Callable[[Any], object]) -> None:
    """A call in this thread, again and again until it is not refused because another has its turn, while two other
    threads look some times."""
    failed: list[BaseException] = []

    def look() -> None:
        for _ in range(LOOKS):
            try:
                world.state_hash(), world.ray_cast((0, 0, 5), (0, 0, -1)), world.energy()
            except (SimulationError, SceneError):  # it is not its turn
                pass
            except BaseException as error:
                failed.append(error)
                return

    threads = [threading.Thread(target=look) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        while True:
            try:
                call(world)
                break
            except SimulationError as error:
                if BUSY not in str(error):
                    raise
    finally:
        for thread in threads:
            thread.join()
    if failed:
        raise failed[0]


def look(world: Any) -> None:
    """Reads all that can be looked at; what does not go with this world is refused."""
    for name in (
        *("rows", "contacts", "joint_errors", "energy", "momentum", "jacobian", "delassus", "kkt", "redundancy"),
        *("problem", "snapshot", "loop_errors", "to_maximal", "frames", "asleep", "events", "event_log", "settings"),
        *("scene", "q", "qd", "tau", "shape_boxes", "shape_poses", "shape_bodies", "gravity", "bodies", "joints"),
    ):
        with suppress(SceneError, SimulationError, ValueError, AttributeError, CallbackError):
            seen = getattr(world, name)
            if callable(seen):
                seen()
    assert repr(world) and world.stats.all_notes is not None
    with suppress(SceneError, SimulationError, CallbackError):  # of residuals of a user's that are no numbers
        dict(world.stats.residuals)
    for handle in world.bodies:
        assert handle.frame and handle.inertia is not None and repr(handle)
        with suppress(SceneError, CallbackError):  # of a contact filter that is asked
            tuple(handle.contacts)
    for handle in world.joints:
        repr(handle)
        for name in ("position", "velocity", "force", "torque", "broken", "error", "motor_force", "tau"):
            with suppress(SceneError, SimulationError, ValueError, CallbackError):
                getattr(handle, name)


def world_of(data: dict[str, Any]) -> Any:
    """A world as recorded calls have it."""
    return made_world(data)


def snapshot_of(data: dict[str, Any]) -> Any:
    """A snapshot, likewise."""
    return snapshot_from(data)


def written_rows(world: Any, data: dict[str, Any]) -> None:
    """What recorded calls say was written into arrays."""
    write_rows(world, data, lambda part: value_of(part, snapshot_from, {}))


def written_views(world: Any, factor: float) -> None:
    """Writes into the arrays themselves: velocities, and of trees qd."""
    if hasattr(world, "qd") and isinstance(world.qd, np.ndarray):
        world.qd[...] *= factor
    else:
        world.velocities[...] *= factor
