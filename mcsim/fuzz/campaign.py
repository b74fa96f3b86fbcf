"""Many cases, played in processes of their own: what failed, made short and written as scripts."""

from __future__ import annotations

import json
import queue
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from mcsim.fuzz.case import Case
from mcsim.fuzz.script import script_of
from mcsim.fuzz.shrink import shrunk
from mcsim.fuzz.worker import FAILED, logged_case

LONGEST = 60.0  # [s] that a run may take; it takes less than one
SHRINKING = 60.0  # [s] for a failure
DIES, HANGS = "the process dies", "a run takes too long"


@dataclass
class Found:
    """A failure. seeds: of all runs that failed so; script: where it was written, None if it could not be repeated."""

    kind: str
    text: str
    case: Case | None
    seeds: list[int]
    script: Path | None = None


@dataclass
class Campaign:
    """Runs with the seeds `seed`, `seed` + 1, ..., for some seconds or until there are `runs` of them.

    operations: the most calls of a run. jobs: processes. folder: where scripts of failures are written, as
    fuzz_SEED.py; one for each kind of failure. tell(runs, failures): told of each run.
    """

    seed: int = 0
    seconds: float = 60.0
    runs: int | None = None
    operations: int = 60
    jobs: int = 1
    folder: Path = Path()
    tell: Callable[[int, int], None] = lambda runs, failures: None
    outcomes: Counter[str] = field(default_factory=Counter)
    found: dict[str, Found] = field(default_factory=dict)
    done: int = 0
    elapsed: float = 0.0

    def run(self) -> dict[str, Found]:
        """All of it -> kind -> Found."""
        begin = time.monotonic()
        with tempfile.TemporaryDirectory() as name:
            workers = [_Worker(Path(name), self.seed + k, self.jobs, self.operations) for k in range(self.jobs)]
            try:
                while (self.runs is None or self.done < self.runs) and time.monotonic() - begin < self.seconds:
                    for worker in workers:
                        self._take(worker)
            finally:
                for worker in workers:
                    worker.end()
            self.elapsed = time.monotonic() - begin
            for found in self.found.values():
                self._write(found, Path(name))
        return self.found

    def _take(self, worker: _Worker) -> None:
        """What a worker has told by now."""
        told = worker.told(0.2 / self.jobs)
        if told is None:
            return
        last = self.seed + self.runs if self.runs is not None else None
        if last is not None and told["seed"] >= last:
            return
        self.done += 1
        self.outcomes.update(told.get("outcomes", {}))
        if "kind" in told:
            case = Case.of(told["case"]) if told["case"] else None
            new = Found(told["kind"], told["text"], case, [])
            self.found.setdefault(told["kind"], new).seeds.append(told["seed"])
        self.tell(self.done, sum(len(found.seeds) for found in self.found.values()))

    def _write(self, found: Found, room: Path) -> None:
        if found.case is None:
            return
        if found.kind.startswith((DIES, HANGS)):
            limit = 20.0 if found.kind.startswith(HANGS) else LONGEST
            ends = (None,) if found.kind.startswith(HANGS) else ()

            def fails(case: Case) -> bool:
                code = _code(case, room, limit)
                return code in ends if ends else code not in (None, 0, FAILED)

            case = shrunk(found.case, fails, SHRINKING)
        else:
            case, text = _shrunk_apart(found.case, room)
            found.text = text or found.text
        found.script = self.folder / f"fuzz_{found.seeds[0]}.py"
        found.script.parent.mkdir(parents=True, exist_ok=True)
        found.script.write_text(script_of(case, f"{found.kind}: {found.text}"), encoding="utf-8")
        found.case = case


def _command(*arguments: object) -> list[str]:
    return [sys.executable, "-m", "mcsim.fuzz.worker", *map(str, arguments)]


def _code(case: Case, room: Path, limit: float) -> int | None:
    """How a process ends that plays a case; None if it does not end in time."""
    path = room / "case.json"
    path.write_text(json.dumps(case.data()), encoding="utf-8")
    try:
        return subprocess.run(_command("play", path), capture_output=True, timeout=limit).returncode
    except subprocess.TimeoutExpired:
        return None


def _shrunk_apart(case: Case, room: Path) -> tuple[Case, str]:
    """The case made short in another process, which it may end -> it, and what is wrong with it."""
    path = room / "case.json"
    path.write_text(json.dumps(case.data()), encoding="utf-8")
    try:
        done = subprocess.run(
            _command("shrink", path, SHRINKING), capture_output=True, text=True, timeout=SHRINKING + 2 * LONGEST
        )
    except subprocess.TimeoutExpired:
        return case, ""
    if done.returncode != FAILED:
        return case, "" if done.returncode else "not when it is played again"
    told = json.loads(done.stdout.splitlines()[-1])
    return Case.of(told["case"]), told["text"]


class _Worker:
    """A process that plays every `stride`-th seed, started anew behind a seed that ended it."""

    def __init__(self, room: Path, seed: int, stride: int, operations: int) -> None:
        self.log, self.errors = room / f"log{seed}", room / f"errors{seed}"
        self.stride, self.operations = stride, operations
        self.start(seed)

    def start(self, seed: int) -> None:
        """From a seed on."""
        self.playing, self.since = seed, time.monotonic()
        self.lines: queue.Queue[str | None] = queue.Queue()
        self.log.unlink(missing_ok=True)
        with self.errors.open("w") as errors:
            self.process = subprocess.Popen(
                _command("run", seed, self.stride, self.operations, self.log),
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
            )
        assert self.process.stdout is not None
        self.reader = threading.Thread(target=_pass_on, args=(self.process.stdout, self.lines), daemon=True)
        self.reader.start()

    def told(self, wait: float) -> dict[str, Any] | None:
        """What is told of a run that has ended, rightly or not; None if none has by now."""
        try:
            line = self.lines.get(timeout=wait)
        except queue.Empty:
            if time.monotonic() - self.since < LONGEST:
                return None
            return self.over(HANGS, f"more than {LONGEST:g} s")
        if line is None:
            code = self.process.wait()
            last = self.errors.read_text(errors="replace").strip().splitlines()
            return self.over(f"{DIES} (code {code})", last[0] if last else "")
        told: dict[str, Any] = json.loads(line)
        self.since = time.monotonic()
        if "begins" in told:
            self.playing = told["begins"]
            return None
        return told

    def over(self, kind: str, text: str) -> dict[str, Any]:
        """The run that has ended the process, or had to be ended with it; another process goes on behind it."""
        self.end()
        case, seed = logged_case(self.log), self.playing
        self.start(seed + self.stride)
        return {"seed": seed, "kind": kind, "text": text, "case": case and case.data()}

    def end(self) -> None:
        """Ends the process."""
        self.process.kill()
        self.process.wait()
        self.reader.join()
        assert self.process.stdout is not None
        self.process.stdout.close()


def _pass_on(stream: IO[str], lines: queue.Queue[str | None]) -> None:
    for line in stream:
        lines.put(line)
    lines.put(None)
