"""The benchmark script runs each of its scenes, and writes what it measured."""

import csv
import importlib.util
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parent.parent / "benchmarks"
sys.path.append(str(FOLDER))                      # the scripts' shared modules


def load(name):
    spec = importlib.util.spec_from_file_location(f"benchmark_{name}", FOLDER / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def script():
    return load("scenes")


def test_every_scene_is_measured(script, tmp_path, capsys):
    """All scenes for a few steps; the CSV has the settings and a line for each."""
    path = tmp_path / "results.csv"
    results = script.main(["--seconds", "0.05", "--csv", str(path), "--set", "substeps=2"])
    assert [result.scene for result in results] == list(script.BENCHMARKS)
    assert all(result.ms_step > 0 and not result.note for result in results)
    lines = path.read_text().splitlines()
    assert lines[0].startswith("# ") and "substeps=2" in lines[1]
    rows = list(csv.DictReader(lines[2:]))
    assert [row["scene"] for row in rows] == list(script.BENCHMARKS)
    assert float(next(row for row in rows if row["scene"] == "chain100")["joint_mm"]) > 0


def test_committed_results_can_be_read():
    """Each CSV in results/ has its machine, its settings and all scenes of the table."""
    for path in (FOLDER / "results").glob("*.csv"):
        lines = path.read_text().splitlines()
        assert lines[0].startswith("# ") and "dt=" in lines[1]
        for row in csv.DictReader(lines[2:]):
            assert row["note"] or float(row["ms_step"]) > 0


def test_a_wrong_scene_is_refused(script, capsys):
    with pytest.raises(SystemExit):
        script.main(["nothing"])
    assert "pyramid20" in capsys.readouterr().err


def test_the_stabilizations_are_measured(tmp_path, capsys):
    """Every scene under every name, a picture, and drift only where nothing stabilizes."""
    module = load("stabilization")
    table = module.main(seconds=1.0, iterations=10, png=str(tmp_path / "drift.png"))
    assert (tmp_path / "drift.png").read_bytes().startswith(b"\x89PNG")
    assert "wrote" in capsys.readouterr().out
    for scene in module.SCENES:
        assert all(table[scene, "none"][0] > 3 * gap for (name, by), (gap, _) in table.items()
                   if name == scene and by != "none")


def test_every_case_of_the_joints_is_measured(tmp_path, capsys):
    """All quick cases but the longest chain for a few steps; variants side by side, positions against the reference."""
    joints = load("joints")
    path = tmp_path / "joints.csv"
    names = [name for name in joints.CASES if not name.startswith("links10000")]
    results = joints.main([*names, "--quick", "--seconds", "0.05", "--csv", str(path), "--joint-solver", "rows",
                           "--substeps", "1", "2"])
    assert [result.case for result in results] == [name for name in names for _ in range(2)]
    assert [result.settings for result in results[:2]] == [f"joint_solver=rows substeps={n}" for n in (1, 2)]
    assert all(result.ms_step > 0 and result.joint_mm > 0 and not result.note for result in results)
    assert len(list(csv.DictReader(path.read_text().splitlines()[2:]))) == len(results)
    direct, rows = joints.main(["chain20_heavy", "--seconds", "1", "--joint-solver", "tree", "rows"])
    assert direct.ms_fastest == direct.ms_step == direct.ms_slowest
    assert len(rows.rms_mm) == 1 and 1.0 < rows.rms_mm[0] < 2000.0
    assert len(direct.rms_mm) == 1 and 0.01 < direct.rms_mm[0] < 0.2 and direct.joint_mm < 1e-5 and direct.gain < 1e-3
    assert "not reached" in capsys.readouterr().out


def test_repeated_runs_say_how_much_they_differ(tmp_path, capsys):
    """The middle one of three is kept, with the fastest and the slowest; the date and the runs stand in the CSV."""
    path = tmp_path / "joints.csv"
    result, = load("joints").main(["chain20_heavy", "--seconds", "0.1", "--repeats", "3", "--csv", str(path)])
    assert 0 < result.ms_fastest <= result.ms_step <= result.ms_slowest
    first = path.read_text().splitlines()[0]
    assert "3 runs of each" in first and "20" in first and "mcsim" in first


def test_a_peer_that_is_missing_is_left_out(capsys):
    """No such interpreter, and one without culverin: said, and the rest is measured."""
    for python in ("no_such_python", sys.executable):
        result, = load("joints").main(["chain20_heavy", "--seconds", "0.05", "--culverin", python])
        assert result.engine.startswith("mcsim") and "culverin: " in capsys.readouterr().out


def test_rapier_runs_the_same_chain(capsys):
    """Where it is installed: the same bodies, the same motion within its joints' stretch."""
    pytest.importorskip("rapier3d")
    ours, theirs = load("joints").main(["chain100", "--seconds", "0.2", "--rapier", "--substeps", "16"])
    assert theirs.engine.startswith("rapier") and theirs.bodies == ours.bodies and theirs.settings == "substeps=16"
    assert 0 < theirs.joint_mm < 50 and theirs.ms_step > 0


def test_the_picture_is_drawn(tmp_path, capsys):
    """Both chains under both joint solvers; what failed or stopped before the reference's time is left out."""
    path = tmp_path / "joints.csv"
    load("joints").main(["chain20_heavy", "--seconds", "2", "--joint-solver", "rows", "tree", "--substeps", "2", "4",
                         "--csv", str(path)])
    picture = load("joints_picture")
    _, found = picture.read(path)
    assert list(found) == ["chain20_heavy"] and list(found["chain20_heavy"]) == ["mcsim rows", "mcsim tree"]
    assert [row["substeps"] for row in found["chain20_heavy"]["mcsim tree"]] == [2, 4]
    picture.main(path, tmp_path / "joints.png")
    assert (tmp_path / "joints.png").read_bytes().startswith(b"\x89PNG")


def test_the_integrators_are_measured(tmp_path, capsys):
    """Both chains under every name, and a picture."""
    module = load("integrators")
    table = module.main(steps=5000, png=str(tmp_path / "energy.png"))
    assert (tmp_path / "energy.png").read_bytes().startswith(b"\x89PNG")
    assert capsys.readouterr().out.count("[") == 10 * len(module.SCENES) * len(module.RUNS)
    assert all(abs(band).max() < 0.05 for band in table.values())


def test_growth_is_printed(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["growth.py", "20", "40", "--seconds", "0.1"])
    load("growth").main()
    first, second = capsys.readouterr().out.splitlines()
    assert first.split()[:4] == ["20", "bodies", "1", "threads"] and "n^" in second and "MB" in second
