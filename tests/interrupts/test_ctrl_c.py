"""Ctrl-C in any long call: it ends, and what it worked on is whole."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

CALLS = ["steps", "steps of trees", "steps by events", "building", "construction", "construction of trees", "loading",
         "rollout", "rollout in threads", "rollout side by side", "rollout side by side in threads",
         "comparison", "derivatives", "state file"]  # fmt: skip


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
@pytest.mark.sampled(14)
@pytest.mark.parametrize("call", CALLS)
def test_ctrl_c_leaves_a_whole_state(call):
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    program = Path(__file__).parent / "ctrl_c.py"
    done = subprocess.run(
        [sys.executable, "-W", "ignore", str(program), call], capture_output=True, text=True, timeout=300, env=environment
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert int(done.stdout.split()[0]) > 0, f"it was never interrupted: {done.stdout}"
