"""A process that plays cases, so that what ends or hangs it ends no other: python -m mcsim.fuzz.worker.

run FIRST STRIDE OPERATIONS LOG   plays the seeds FIRST, FIRST + STRIDE, ... until it is ended; a line of JSON as each
                                  begins and ends; LOG has the case that is played, call by call as it is made
play CASE                         plays one case: code 0, or 3 where it fails, with a line of JSON
shrink CASE SECONDS               -> the case made short, of what fails as an exception
"""

from __future__ import annotations

import faulthandler
import json
import sys
from pathlib import Path
from typing import Any

from mcsim.fuzz.case import Case, drawn_case
from mcsim.fuzz.play import Failure, played
from mcsim.fuzz.shrink import shrunk
from mcsim.fuzz.words import Call

FAILED = 3
FEWEST = 20  # calls of a run, of those that are drawn


def run_of(seed: int, operations: int, log: Path | None = None) -> dict[str, Any]:
    """Draw and play the case of a seed, with FEWEST to `operations` calls -> what is told of it, as JSON takes it."""
    case, rng = drawn_case(seed)
    count = int(rng.integers(min(FEWEST, operations), operations + 1))
    if log is None:
        return _told(case, rng, count)
    with log.open("w", encoding="utf-8") as file:
        print(json.dumps(case.data()), file=file, flush=True)
        begun = len(case.scene) + 1

        def write(call: Call) -> None:
            nonlocal begun
            begun -= 1
            if begun < 0:
                print(json.dumps(call.data()), file=file, flush=True)

        return _told(case, rng, count, write)


def _told(case: Case, rng: Any = None, count: int = 0, log: Any = None) -> dict[str, Any]:
    try:
        told = played(case, rng, count, log)
    except Failure as failure:
        found: Any = failure
        return {"seed": case.seed, "kind": failure.kind, "text": failure.text, "case": found.case.data()}
    return {"seed": case.seed, "outcomes": dict(told.outcomes)}


def logged_case(log: Path) -> Case | None:
    """The case that a log has, as far as it came."""
    lines = log.read_text(encoding="utf-8").splitlines() if log.exists() else []
    if not lines:
        return None
    whole = [json.loads(line) for line in lines if line.endswith(("}", "]"))]
    return Case.of(whole[0]).with_calls(tuple(map(Call.of, whole[1:])))


def kind_of(case: Case) -> str | None:
    """How a case fails; None if it does not."""
    return _told(case).get("kind")


def main(arguments: list[str]) -> int:
    """See above."""
    faulthandler.enable()
    doing, *rest = arguments
    if doing == "run":
        seed, stride, operations = map(int, rest[:3])
        while True:
            print(json.dumps({"begins": seed}), flush=True)
            print(json.dumps(run_of(seed, operations, Path(rest[3]))), flush=True)
            seed += stride
    case = Case.of(json.loads(Path(rest[0]).read_text(encoding="utf-8")))
    told = _told(case)
    if doing == "shrink" and "kind" in told:
        short = shrunk(case, lambda other: kind_of(other) == told["kind"], float(rest[1]))
        told = _told(short)
    print(json.dumps(told), flush=True)
    return FAILED if "kind" in told else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
