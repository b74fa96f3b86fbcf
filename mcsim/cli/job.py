"""One run of a scene from the command line: steps to the end, what is watched meanwhile, and the files it leaves."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mcsim.cli import series
from mcsim.cli.outputs import Outputs, told_of
from mcsim.cli.terminal import FAILED, INTERRUPTED, InputError, counted, metric, one_line, progress
from mcsim.core.errors import SimulationError

if TYPE_CHECKING:
    from mcsim.world import World

MOST_STEPS = 2**62
MOST_BYTES = 4 * 2**30  # of a recording
BYTES_A_BODY = 8 * (3 + 4 + 3 + 3)


@dataclass
class Job:
    """One run: the world, what is watched, and what is kept of it."""

    scene: Any  # a Scene, which takes long to import
    dt: float
    seconds: float
    fps: float
    record: bool
    tabulate: bool = False
    contacts: bool = False  # whether the recording has them
    stopped: str = ""  # why it stopped early
    error: str = ""
    steps_done: int = 0
    elapsed: float = 0.0
    worst_joint: dict[str, tuple[float, str, float]] = field(default_factory=dict)  # "m" and "rad" -> (error, joint, time)
    deepest: tuple[float, float] = (math.inf, 0.0)  # separation, time
    table: list[Any] = field(default_factory=list)  # rows of series.COLUMNS

    def __post_init__(self) -> None:
        if self.seconds / self.dt > MOST_STEPS:
            raise InputError(f"--seconds {self.seconds:g} at --dt {self.dt:g} would be {self.seconds / self.dt:.3g} steps")
        self.steps: int = max(1, round(self.seconds / self.dt))
        self.every: int = max(1, round(min(1.0 / self.fps / self.dt, self.steps)))
        frames = self.steps / self.every + 1
        if self.record and frames * len(self.scene.bodies) * BYTES_A_BODY > MOST_BYTES:
            raise InputError(
                f"a recording of {frames:.3g} frames of {len(self.scene.bodies)} bodies would take "
                f"{frames * len(self.scene.bodies) * BYTES_A_BODY / 2**30:.3g} GiB; "
                "take fewer --seconds or --fps"
            )

    def start(self, world: World) -> None:
        """Begin with a world of the scene."""
        from mcsim.io import Recorder

        self.world = world
        self.recorder = Recorder(world, contacts=self.contacts) if self.record else None
        self.first_energy = world.energy().total
        self.joint_names = [joint.name for joint in self.scene.joints]
        self.watch()

    def simulate(self) -> int:
        """Steps to the end. Answers with the exit code; what was recorded until then is kept in any case."""
        begin = time.perf_counter()
        try:
            with progress(self.steps * self.dt) as show:
                while self.steps_done < self.steps:
                    steps = min(self.every, self.steps - self.steps_done)
                    before = time.perf_counter()
                    self.world.step(steps)
                    self.elapsed += time.perf_counter() - before
                    if self.recorder is not None:
                        self.recorder.keep()
                    self.steps_done += steps
                    self.watch()
                    show(self.steps_done * self.dt, self.steps_done * self.dt / (time.perf_counter() - begin))
        except KeyboardInterrupt:
            self.stopped = "interrupted"
            return INTERRUPTED
        except SimulationError as error:
            self.stopped, self.error = "failed", one_line(error)
            return FAILED
        return 0

    def watch(self) -> None:
        """Keeps the largest joint error and the deepest contact, and a row of the table."""
        now, errors = self.world.time, None
        if self.joint_names:
            errors = self.world.joint_errors()
            for column, unit in enumerate(("m", "rad")):
                k = int(errors[:, column].argmax())
                if errors[k, column] > self.worst_joint.get(unit, (-1.0, "", 0.0))[0]:
                    self.worst_joint[unit] = (float(errors[k, column]), self.joint_names[k], now)
        separation = self.world.contacts["separation"]
        if len(separation) and separation.min() < self.deepest[0]:
            self.deepest = (float(separation.min()), now)
        if self.tabulate:
            self.table.append(series.row(self.world, errors))

    def summary(self) -> list[str]:
        """What happened, line by line."""
        lines = [
            f"{self.scene.name}: {counted(len(self.scene.bodies), 'body', 'bodies')}, "
            f"{counted(len(self.scene.joints), 'joint', 'joints')}"
        ]
        if self.steps_done:
            simulated = self.steps_done * self.dt
            lines.append(
                f"steps            {self.steps_done} of {metric(self.dt, 's')}: {simulated:.6g} s simulated "
                f"in {self.elapsed:.3g} s"
            )
            lines.append(
                f"speed            {1000 * self.elapsed / self.steps_done:.3g} ms a step, "
                f"{simulated / max(self.elapsed, 1e-9):.3g} times real time"
            )
        if self.joint_names:
            (metres, joint, when), (radians, other, then) = self.worst_joint["m"], self.worst_joint["rad"]
            lines.append(
                f"joint error      {metric(metres, 'm')} ({joint} at {when:.2f} s), "
                f"{metric(radians, 'rad')} ({other} at {then:.2f} s)"
            )
        if self.deepest[0] < 0:
            lines.append(f"deepest contact  {metric(-self.deepest[0], 'm')} of overlap at {self.deepest[1]:.2f} s")
        else:
            lines.append("deepest contact  none overlaps")
        last = self.world.energy().total
        lines.append(
            f"energy           {metric(self.first_energy, 'J')} to {metric(last, 'J')}, "
            f"change {metric(last - self.first_energy, 'J', sign='+')}"
        )
        lines += [
            f"note             {note.text} (in {counted(note.total, 'step', 'steps')})"
            for note in self.world.stats.all_notes
        ]
        if self.stopped:
            lines.append(f"stopped          at {self.world.time:.6g} s of {self.seconds:g} s: {self.stopped}")
        return lines

    def write(self, out: Path | None, csv: Path | None, shown: Outputs) -> None:
        """Writes what was asked for, and says so."""
        if csv:
            series.write(csv, self.table)
            told_of(csv, counted(len(self.table), "row", "rows"))
        if self.recorder is None:
            return
        recording: Any = self.recorder.recording()
        if out:
            recording.save(out)
            told_of(out, counted(len(recording), "frame", "frames"))
        shown.write(self.scene, recording)
