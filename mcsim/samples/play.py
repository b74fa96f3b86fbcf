"""What a sample is given: it steps worlds, watches them, and takes down what the sample expects."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from mcsim.core.errors import SceneError
from mcsim.io import Recorder
from mcsim.samples.outcome import Expectation, Outcome

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from mcsim.world import World

WATCHED = 0.1  # [s] of simulated time between looks at the joints: they take longer than a step of a small world
FPS = 30.0  # frames a second of a recording


class Play:
    """Steps worlds for a sample, and takes down what it expects.

        play(world, 5.0)                                    # five seconds
        for step in play.steps(world, 5.0):                 # five seconds, with something done before each step
            world.apply_force("car", (10.0, 0.0, 0.0))
        play.expect("height of the top", world.body("top").position[2], 9.5, within=0.02, unit="m")
        play.check("everything sleeps", play.asleep(world))

    record: whether to keep frames, from which pictures and films are made; of several worlds those of the last one.
    """

    def __init__(self, name: str = "", record: bool = False) -> None:
        self.outcome = Outcome(name)
        self.worlds: list[World] = []
        self._record = record
        self._recorder: Recorder | None = None
        self._kept = 0.0  # the time of the last frame [s]

    def __call__(self, world: World, seconds: float) -> None:
        """Steps a world for so long."""
        for _ in self.steps(world, seconds):
            pass

    def steps(self, world: World, seconds: float) -> Iterator[int]:
        """The numbers of the steps that so long takes, from 0; the world makes each when the loop comes round again."""
        if not any(world is known for known in self.worlds):
            self.worlds.append(world)
        every = max(1, round(WATCHED / world.dt))
        frame = max(1, round(1 / (FPS * world.dt)))
        self._keep(world)
        for step in range(max(1, round(seconds / world.dt))):
            yield step
            begin = time.perf_counter()
            world.step()
            self.outcome.seconds += time.perf_counter() - begin
            self.outcome.steps += 1
            if step % every == 0:
                self._watch(world)
            if (step + 1) % frame == 0:
                self._keep(world)
        self._watch(world)

    def expect(self, what: str, value: ArrayLike, expected: ArrayLike, within: float, unit: str = "") -> None:
        """That a number, or every number of an array, is what is expected, within so much either way.

        Of an array the number that is farthest off is told.
        """
        values, wanted = np.broadcast_arrays(np.asarray(value, float), np.asarray(expected, float))
        if not values.size:
            raise SceneError(f"Play.expect: there is nothing to compare for {what!r}: the array is empty")
        off = np.abs(values - wanted).ravel()
        worst = int(np.argmax(np.where(np.isnan(off), np.inf, off)))
        found, middle = float(values.ravel()[worst]), float(wanted.ravel()[worst])
        self.outcome.expectations.append(Expectation(what, found, middle - within, middle + within, unit))

    def between(self, what: str, value: ArrayLike, lower: float = -np.inf, upper: float = np.inf, unit: str = "") -> None:
        """That a number, or every number of an array, is in a range; of an array the one farthest out is told."""
        values = np.asarray(value, float).ravel()
        if not values.size:
            raise SceneError(f"Play.between: there is nothing to compare for {what!r}: the array is empty")
        out = np.maximum(lower - values, values - upper)
        found = float(values[np.argmax(np.where(np.isnan(out), np.inf, out))])
        self.outcome.expectations.append(Expectation(what, found, lower, upper, unit))

    def check(self, what: str, truth: Any) -> None:
        """That something is so."""
        self.outcome.expectations.append(Expectation(what, bool(truth)))

    @staticmethod
    def asleep(world: World) -> bool:
        """Whether all dynamic bodies sleep."""
        return bool(np.all(world.asleep[world.masses > 0]))

    def finish(self, joint_error: float | None, overlap: float | None) -> Outcome:
        """The outcome, with what is expected of every sample: joints closed, and overlaps at the end, to so many metres."""
        told = self.outcome
        told.bodies = sum(len(world.bodies) for world in self.worlds)
        depths = [world.contacts["separation"] for world in self.worlds]
        told.overlap = max([0.0, *(-float(depth.min()) for depth in depths if len(depth))])
        for world in self.worlds:
            for note in world.stats.all_notes:
                told.notes[note.kind] = told.notes.get(note.kind, 0) + note.total
        if not told.expectations and not told.error:
            told.expectations.append(Expectation("the sample says what should happen", False))
        if joint_error is not None:
            told.expectations.append(Expectation("worst joint error", told.joint_error, -np.inf, joint_error, "m or rad"))
        if overlap is not None:
            told.expectations.append(Expectation("overlap at the end", told.overlap, -np.inf, overlap, "m"))
        if self._recorder is not None:
            told.recording = self._recorder.recording()
            told.scene = told.recording.shown_scene().copy()
            told.scene.name = told.name.rpartition("/")[2] or told.scene.name
        return told

    def _watch(self, world: World) -> None:
        """Keeps the worst joint error. What a sample of soft joints asks of them it says itself."""
        errors = world.joint_errors()
        if errors.size:
            self.outcome.joint_error = max(self.outcome.joint_error, float(errors.max()))

    def _keep(self, world: World) -> None:
        """A frame of the recording, of which there is one at a time. A recording has the same bodies in all frames, and its
        time goes on: it begins anew with another world, where bodies came or went, and after a restore."""
        if not self._record:
            return
        known = self._recorder
        same = known is not None and known.world is world and known.body_names == tuple(world.body_names)
        if known is None or not same or world.time < self._kept:
            self._recorder = Recorder(world)
        elif world.time > self._kept:
            known.keep()
        self._kept = world.time
