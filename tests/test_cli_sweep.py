"""mcsim sweep: studies in files, what they print and write, and how wrong ones are answered."""

import sys
from pathlib import Path

import numpy as np
import pytest

import mcsim as mc
from command_line import call
from mcsim.cli.study_files import read_study

STUDY = """
scene = "pendulum"
seconds = 0.2
measure = ["energy", "joints"]
units = {length = "m"}

[parameters]
angle = 0.5

[world]
integrator = "rk4"

[grid]
length = {from = 0.5, to = 2.0, count = 3, scale = "log"}
dt = [0.02, 0.01]
"world.substeps" = [1]
"""


@pytest.fixture(autouse=True)
def in_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "study.toml").write_text(STUDY, encoding="utf-8")


def _write(text, name="a.toml"):
    path = Path.cwd() / name
    path.write_text(text, encoding="utf-8")
    return path


def test_a_study_is_run_and_kept(capsys, tmp_path):
    code, out, err = call(
        capsys, "sweep", "study.toml", "--jobs", 1, "--out", "kept", "--plot", "a.png", "--csv", "a.csv", "--theme", "dark"
    )
    assert code == 0 and err == ""
    assert out.startswith("pendulum: 6 runs; world.substeps 1, angle 0.5") and "results in kept: mcsim.Sweep.load" in out
    assert "wrote a.png" in out and (tmp_path / "a.csv").read_text().startswith("length [m],dt [s],world.substeps,angle,")
    grid = {"length": [0.5, 1.0, 2.0], "dt": [0.02, 0.01], "world.substeps": [1], "angle": [0.5]}
    expected = mc.sweep("pendulum", grid, seconds=0.2, world={"integrator": "rk4"}, measure=["energy", "joints"], jobs=1)
    read = mc.Sweep.load("kept")
    assert read.results == expected.results and len(read.results) == 6
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "kept").glob("*.npz")}
    assert call(capsys, "sweep", "study.toml", "--out", "kept", "--format", "markdown")[0] == 0
    assert before == {path: path.stat().st_mtime_ns for path in (tmp_path / "kept").glob("*.npz")}


def test_ranges():
    """Both ends are as they are written; between them steps, or factors, are equal."""
    path = _write(
        'scene = "one"\n[grid]\na = {from = 0.1, to = 0.9, count = 5}\n'
        'b = {from = 1, to = 1000, count = 4, scale = "log"}\n'
    )
    grid = read_study(path).grid
    assert grid["a"] == pytest.approx(np.linspace(0.1, 0.9, 5).tolist()) and (grid["a"][0], grid["a"][-1]) == (0.1, 0.9)
    assert grid["b"] == pytest.approx([1.0, 10.0, 100.0, 1000.0]) and (grid["b"][0], grid["b"][-1]) == (1.0, 1000.0)


def test_a_scene_file_lies_beside_its_study(capsys, tmp_path):
    (tmp_path / "deep").mkdir()
    mc.load("pendulum").save(tmp_path / "deep" / "held.json")
    _write('scene = "held.json"\nseconds = 0.1\n[grid]\ndt = [0.01, 0.02]\n', "deep/a.toml")
    code, out, _ = call(capsys, "sweep", "deep/a.toml", "--jobs", 1)
    assert code == 0 and out.startswith("held: 2 runs")


def test_failures_are_rows_and_all_of_them_a_failure(capsys):
    _write('scene = "pendulum"\nseconds = 0.1\n[grid]\nlength = [1, -1]\n')
    code, out, _ = call(capsys, "sweep", "a.toml", "--jobs", 1)
    assert code == 0 and "2 runs, 1 failed" in out and "failed: run 1: SceneError: scene pendulum: length must be" in out
    _write('scene = "pendulum"\nseconds = 0.1\n[grid]\nlength = [-2, -1]\n')
    assert call(capsys, "sweep", "a.toml", "--jobs", 1)[0] == 1


def test_ctrl_c(capsys, monkeypatch):
    def stopped(trial, runs, client, jobs, done):
        done(0, {"value": 1.0}, "", True)
        raise KeyboardInterrupt

    monkeypatch.setattr(sys.modules["mcsim.lab.sweeps"], "spread", stopped)
    code, _, err = call(capsys, "sweep", "study.toml", "--out", "kept")
    assert code == 130 and err == "interrupted: 1 of 6 runs have ended; the same line goes on from there\n"
    code, _, err = call(capsys, "sweep", "study.toml")
    assert code == 130 and "with --out FOLDER they would be kept" in err


def test_clusters_need_an_extra(capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    code, _, err = call(capsys, "sweep", "study.toml", "--scheduler", "tcp://127.0.0.1:8786")
    assert code == 2 and "pip install 'mcsim-physics[sweep]'" in err


P = 'scene = "pendulum"\n'
WRONG = [
    ("", "a.toml: scene is missing"),
    ("scene = 3", "a.toml: scene must be a string, got 3"),
    ("scene = \n", "a.toml: not TOML: Invalid value (at line 1, column"),
    ('scene = "pendulm"', "a.toml: there is no scene 'pendulm'; did you mean 'pendulum'"),
    ('scene = "none.json"', "none.json"),
    (P + "second = 1", "a.toml: there is no 'second' in a study; did you mean 'seconds'"),
    (P + "seconds = 0", "a.toml: seconds must be positive, got 0"),
    (P + 'dt = "small"', "a.toml: dt must be a number, got 'small'"),
    (P + 'method = "maximal:magic"', "a.toml: method 'maximal:magic': there is no solver 'magic'"),
    (P + "measure = 3", "a.toml: measure must be a list of names, got 3"),
    (P + 'measure = ["enrgy"]', "a.toml: measure must be one of: end, energy"),
    (P + "grid = 3", "a.toml: grid must be a table, [grid], got 3"),
    (P + "[grid]\nlength = 3", "a.toml: grid.length must be a list of values, or {from = 0.1"),
    (P + "[grid]\nlength = {from = 1, to = 2}", "a.toml: grid.length has no count"),
    (P + "[grid]\nlength = {from = 1, to = 2, count = 1}", "a.toml: grid.length.count must be from 2"),
    (P + '[grid]\nlength = {from = 0, to = 2, count = 3, scale = "log"}', "a.toml: grid.length must be above 0 at both"),
    (P + "[grid]\nlength = {from = 1, til = 2}", "a.toml: grid.length must be one of: from, to, count, scale; got 'til'"),
    (P + "[grid]\nlenght = [1]", "a.toml: scene pendulum: there is no parameter 'lenght'; did you mean 'length'"),
    (P + "[grid]\nlength = [1]\n[parameters]\nlength = 2", "a.toml: parameters.length is in [grid] too"),
    (P + "[world]\niteration = 2", "a.toml: world has 'iteration', which is no keyword of a world; did you mean"),
    (P + "[grid]\nlength = [1, 1]", "a.toml: grid has one run twice"),
]


@pytest.mark.sampled(1)
@pytest.mark.parametrize("text, told", WRONG, ids=[told for _, told in WRONG])
def test_wrong_files_are_answered_by_a_line(text, told, capsys):
    _write(text)
    code, out, err = call(capsys, "sweep", "a.toml", "--jobs", 1)
    assert code == 2 and out == "" and told in err and err.count("\n") == 1


@pytest.mark.parametrize(
    "arguments, told",
    [
        (["none.toml"], "no such study file: none.toml"),
        (["."], "a study is a .toml file"),
        (["study.toml", "--jobs", 0], "--jobs"),
        (["study.toml", "--jobs", 2, "--scheduler", "tcp://a:1"], "--jobs is of this machine"),
        (["study.toml", "--retry"], "--retry does nothing without --out"),
        (["study.toml", "--theme", "dark"], "--theme dark does nothing without --plot"),
        (["study.toml", "--plot", "a.gif"], "must end in .png"),
        (["study.toml", "--out", "study.toml"], "study.toml: is no folder"),
    ],
)
def test_wrong_options(arguments, told, capsys):
    code, _, err = call(capsys, "sweep", *arguments)
    assert code == 2 and told in err
