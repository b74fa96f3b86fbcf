"""A failing case as a Python script, ready to run."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from mcsim.fuzz.case import Case
from mcsim.fuzz.play import Failure, played
from mcsim.fuzz.words import Call

TEMPLATE = '''"""{title}

Found by `mcsim fuzz --seed {seed} --runs 1`. Each line is a call on a world, `w`; what is refused in words may be.
All is called on two worlds, the second of which {twin}, and looked at after each line.
To step through it by hand: the lines run as they are, with `import mcsim as mc, numpy as np, copy, pickle`,
`from math import inf, nan`, `from mcsim.fuzz import callbacks` and `kept = {{}}`.
"""

from mcsim.fuzz import replay

LINES = r"""
{lines}
"""

if __name__ == "__main__":
    replay(LINES, twin={name!r}, seed={seed})
'''
TWINS = {
    "same": "does nothing else",
    "looks": "is read everywhere",
    "copies": "is copied and restored in between",
    "forgets": "runs with MCSIM_FORGET=1",
    "threads": "has two threads",
}


def script_of(case: Case, title: str) -> str:
    """The text of a script that plays a case and fails as it does. title: what is wrong, one line."""
    lines = "\n".join(call.text() for call in (*case.scene, case.make, *case.calls))
    title = " ".join(title.replace("\\", "/").replace('"""', "'''").split())
    shown = title if len(title) < 110 else title[:107] + "..."
    return TEMPLATE.format(title=shown, seed=case.seed, twin=TWINS[case.twin], lines=lines, name=case.twin)


def replay(lines: str | Sequence[str], twin: str = "same", seed: int = 0) -> None:
    """Play the lines of a script: Failure, with the line, where something is wrong; else it says that nothing is.

    lines: a scene, `w = mc.World(...)` or `w = mc.ReducedWorld(...)`, and calls, one a line.
    """
    texts = [line for line in (lines.splitlines() if isinstance(lines, str) else lines) if line.strip()]
    begins = next((i for i, line in enumerate(texts) if line.startswith("w = ")), None)
    if begins is None:
        raise ValueError("replay: no line makes a world: w = mc.World(scene)")
    calls = [Call(_name(line), line.replace("{", "{{").replace("}", "}}")) for line in texts]
    case = Case(seed, tuple(calls[:begins]), calls[begins], tuple(calls[begins + 1 :]), twin)
    try:
        told = played(case)
    except Failure as failure:
        print(f"fails: {failure}", file=sys.stderr)
        raise
    print(f"nothing is wrong: {sum(told.outcomes.values())} calls, {told.outcomes['done']} done")


def _name(line: str) -> str:
    """Of the operation, as far as checks hang on it."""
    if line.startswith("w.step("):
        return "step"
    return {"callbacks.beside(": "step beside threads", "callbacks.recorded(": "record"}.get(
        line[: line.find("(") + 1], line.split("(")[0]
    )
