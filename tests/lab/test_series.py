"""Runs over time in files and data frames: every number of a run, its unit, and nothing where nothing is known."""

import csv

import numpy as np
import pytest

import mcsim as mc
from mcsim.lab.record import ARRAYS
from mcsim.lab.report import summary
from mcsim.lab.series import RESIDUAL_UNITS, UNITS, columns


@pytest.fixture(scope="module")
def swing():
    return mc.compare(
        mc.scenes.double_pendulum(), ["maximal:si+baumgarte", "reduced:aba"], 0.2, [1 / 60, 1 / 120], reference=None
    )


def read(path):
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def number(text):
    return float(text) if text else np.nan


def test_every_array_of_a_run_has_its_columns(swing):
    run = swing.runs["reduced:aba"]
    assert set(UNITS) | {"step_seconds"} == set(ARRAYS)
    found = {name: values for name, _, values in columns(run)}
    for name in UNITS:
        part = [name] if name in found else [f"{name}_{axis}" for axis in "xyz"]
        values = getattr(run, name)
        assert np.array_equal(np.stack([found[one] for one in part], -1).reshape(values.shape), values, equal_nan=True)
    for name in RESIDUAL_UNITS:
        assert np.array_equal(found[f"residual_{name}"], run.residuals[name], equal_nan=True)
    assert np.array_equal(found["step_seconds"][1:], run.step_seconds) and np.isnan(found["step_seconds"][0])
    assert all(len(values) == len(run) + 1 for values in found.values())


def test_a_run_as_a_file(swing, tmp_path):
    """Numbers read back to the bit, by headings that name the unit."""
    run = swing.runs["maximal:si+baumgarte"]
    run.csv(tmp_path / "run.csv")
    rows = read(tmp_path / "run.csv")
    for name, unit, values in columns(run):
        assert np.array_equal([number(row[f"{name} [{unit}]"]) for row in rows], values, equal_nan=True)
    assert next(iter(rows[0])) == "time [s]" and "linear_momentum_z [kg m/s]" in rows[0] and "energy [J]" in rows[0]
    assert rows[3]["position_distance [m]"] == "" and rows[0]["step_seconds [s]"] == "" != rows[1]["step_seconds [s]"]
    with pytest.raises(mc.SceneError, match="must end in .csv"):
        run.csv(tmp_path / "run.txt")


def test_all_runs_in_one_file(swing, tmp_path):
    swing.series_csv(tmp_path / "all.csv")
    rows = read(tmp_path / "all.csv")
    assert len(rows) == sum(len(run) + 1 for run in swing.all_runs())
    for run in swing.all_runs():
        its = [row for row in rows if row["method"] == run.name and float(row["dt [s]"]) == run.dt]
        assert np.array_equal([float(row["time [s]"]) for row in its], run.time)
        assert np.array_equal([float(row["energy [J]"]) for row in its], run.energy)


def test_without_pandas(swing, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "pandas", None)
    for call in (swing.to_pandas, swing.runs["reduced:aba"].to_pandas):
        with pytest.raises(ImportError, match=r"data frames need pandas: pip install 'mcsim-physics\[pandas\]'"):
            call()


def test_data_frames(swing):
    pytest.importorskip("pandas")
    frame = swing.to_pandas()
    assert len(frame) == 4 and list(frame["dt"]) == [1 / 60, 1 / 120] * 2 and str(frame["steps"].dtype) == "int64"
    for (_, row), run in zip(frame.iterrows(), swing.all_runs()):
        numbers = summary(swing, run)
        assert row["method"] == run.name and row["energy_error_j"] == numbers["energy_error_j"]
        assert row["order_energy"] == pytest.approx(swing.orders()[run.name]["energy"], nan_ok=True)
    assert frame["order_energy"].notna().any()
    run = swing.runs["reduced:aba"]
    frame = run.to_pandas()
    assert frame.index.name == "time" and np.array_equal(frame.index, run.time)
    assert np.array_equal(frame["energy"], run.energy) and frame["position_distance"].isna().all()
    assert np.array_equal(frame["angular_momentum_y"], run.angular_momentum[:, 1])
    assert frame.attrs["units"]["angular_momentum_y"] == "kg m^2/s" and set(frame.columns) < set(frame.attrs["units"])
