"""What the README promises: its commands, its example, its links. It fits one screen or two."""

import contextlib
import io
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import mcsim as mc

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```", README, re.M | re.S)


def test_first_two_shell_blocks_are_the_set_up():
    """One line each; they share one virtual environment, so that mcsim is compiled once; they end with a run and with the
    tests."""
    run, tests = (block.splitlines() for block in blocks("sh"))
    assert len(run) == len(tests) == 1
    start = "python3 -m venv .venv && .venv/bin/pip install -e "
    assert run[0].startswith(start) and " && .venv/bin/mcsim run ragdolls" in run[0]
    assert tests[0].startswith(start) and tests[0].endswith(" && .venv/bin/pytest")


def test_python_example_runs():
    """The pendulum swings and keeps its energy."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(blocks("python")[0], "README.md", "exec"), {})
    energies = [float(line.split()[-2]) for line in out.getvalue().splitlines()]
    angles = [float(line.split()[3]) for line in out.getvalue().splitlines()]
    assert len(energies) == 10 and max(angles) - min(angles) > 1.0
    assert np.ptp(energies) < 1e-2 * abs(np.mean(energies))


def test_counts_and_sizes():
    """The number of scenes is the number of scenes; the whole is short and its film small."""
    assert f"{len(mc.scenes.SCENES)} ready scenes" in README
    assert (ROOT / "docs" / "ragdolls.gif").stat().st_size < 300_000
    assert len(README.splitlines()) <= 80 and max(map(len, README.splitlines())) <= 124


def test_the_version_stands_in_one_place():
    """pyproject.toml takes it from the package."""
    assert 'dynamic = ["version"]' in (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert f"## {mc.__version__}" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("line", ["import mcsim", "import mcsim.scenes", "from mcsim.world import World"])
@pytest.mark.parametrize("other", ["", "cpython-30-none"])
def test_sources_that_are_not_compiled_say_what_to_do(line, other, tmp_path):
    """As they stand in a checkout, before those of an installed mcsim; also with another Python's kernels beside them."""
    for path in (ROOT / "mcsim").rglob("*.py"):
        copy = tmp_path / path.relative_to(ROOT)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(path.read_bytes())
    if other:
        (tmp_path / "mcsim" / "core" / f"_trig.{other}.so").touch()
    done = subprocess.run(
        [sys.executable, "-P", "-c", line],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
    )
    told = done.stderr.splitlines()[-1]
    assert told.startswith(f"ImportError: mcsim is imported from {tmp_path / 'mcsim'}")
    assert f"pip install -e {tmp_path}" in told and (other or "none is there") in told
