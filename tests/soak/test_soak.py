"""The soak: scenes that are the same for a seed, rows that tell what grows, and exit codes that follow from them."""

import csv
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import mcsim as mc
from amounts import amount
from mcsim.cli import main
from mcsim.soak import COLUMNS, SOAKED, Soak, Soaked
from mcsim.soak.result import table
from mcsim.soak.watch import memory, objects, open_files
from mcsim.soak.worker import Play

ROOT = Path(__file__).parents[2]


def played(name, seed, seconds):
    playing = Play(name, seed)
    for _ in range(seconds):
        playing.second()
    return playing


@pytest.mark.parametrize("name", SOAKED)
def test_what_a_scene_does_follows_from_the_seed(name):
    """... alone: not from what the clock says."""
    seconds = amount(12, 120)
    one, other = played(name, 3, seconds), played(name, 3, seconds)
    assert one.world.state_hash() == other.world.state_hash()
    row = one.row()
    assert len(row) == len(COLUMNS) and np.isfinite(row).all() and row[0] == pytest.approx(seconds / 3600)
    lowest, highest = (row[COLUMNS.index(f"{which} energy [J]")] for which in ("lowest", "highest"))
    assert lowest <= one.world.energy().total <= highest


def test_another_seed_does_something_else():
    assert len({played("pile", seed, 3).world.state_hash() for seed in (0, 1)}) == 2


def test_what_is_watched_is_seen():
    """16 MB more, a file more, a thousand lists more."""
    before = memory(), open_files(), objects()
    block = np.ones(2_000_000)
    with open(os.devnull, encoding="ascii"):
        lists = [[i] for i in range(1000)]
        after = memory(), open_files(), objects()
    assert block[0] and len(lists) == 1000
    assert after[0] - before[0] > 10.0 and after[2] - before[2] > 900
    assert before[1] < 0 or after[1] - before[1] == 1


def rows(memory, hours=8.0):
    """As many rows as there are values of memory."""
    found = np.zeros((len(memory), len(COLUMNS)))
    found[:, COLUMNS.index("simulated [h]")] = np.linspace(hours / len(memory), hours, len(memory))
    found[:, COLUMNS.index("memory [MB]")] = memory
    return found


def test_growth_counts_from_the_end_of_the_warm_up():
    """What is taken in the first hour, or the first quarter of less than four hours, is no growth."""
    taken = Soaked("a", rows([10.0, 50.0, 50.5, 50.2, 50.2, 50.2, 50.2, 50.2]))
    assert taken.growth("memory [MB]") == pytest.approx(40.5)
    assert "grown by 40.50 MB" in taken.wrong and "grown" in table([taken])
    assert not Soaked("b", rows([50.0, 50.0, 50.5, 50.2])).wrong
    assert not Soaked("c", rows([50.0, 50.9, 50.0, 50.0], hours=1.0)).wrong
    assert Soaked("d", rows([50.0, 51.1, 50.0, 50.0], hours=1.0)).wrong
    assert Soaked("e", rows([50.0]), failure="it broke").wrong == "it broke"
    assert "it broke" in table([Soaked("f", np.zeros((0, len(COLUMNS))), failure="it broke")])


def test_a_soak_from_the_command_line(tmp_path, monkeypatch, capsys):
    """Its table, its picture, and its rows."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    words = ["soak", "--hours", "0.003", "--scene", "pile", "--out", str(tmp_path)]
    assert main(words) == 0
    told = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in told] == ["scene", "pile"]
    assert (tmp_path / "soak.png").stat().st_size > 10_000
    with (tmp_path / "soak.csv").open(encoding="utf-8", newline="") as file:
        lines = list(csv.reader(file))
    assert lines[0] == ["scene", *COLUMNS] and {line[0] for line in lines[1:]} == {"pile"}
    assert len(lines) == 1 + 11


@pytest.mark.slow
def test_a_soak_of_some_seconds_ends(monkeypatch):
    """In another process a scene comes to the same state after so many simulated seconds."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    (found,) = Soak(seconds=0.3, names=("crank",)).run()
    assert found.hours > 0 and not found.failure
    assert found.hash == played("crank", 0, round(3600 * found.hours)).world.state_hash()


@pytest.mark.slow
def test_a_process_that_dies_and_a_world_that_breaks_are_told(monkeypatch, capsys):
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    (found,) = Soak(hours=0.001, names=("no such scene",)).run()
    assert found.failure.startswith("the process ended with code 1: KeyError")
    assert main(["soak", "--scene", "nothing"]) == 2 and "there are ragdoll" in capsys.readouterr().err
    with pytest.raises(mc.SceneError, match="hours of simulated time, or seconds"):
        Soak()


BROKEN = """
import numpy as np
from mcsim.soak import scenes, worker

@scenes.soaked(scenes._pile)
def broken(world, rng, second):
    if second == 5:
        world.velocities[1] = np.inf
    return world

worker.play("broken", 0, 1.0, 60.0, 1)
"""


def test_a_state_that_is_not_finite_ends_a_scene():
    done = subprocess.run(
        [sys.executable, "-c", BROKEN], capture_output=True, text=True, env=os.environ | {"PYTHONPATH": str(ROOT)}
    )
    assert done.returncode == 0 and '"failure": "after 5 s: ' in done.stdout.splitlines()[-1], done.stderr
