"""Suites of mechanisms: the table, the values, and what is refused."""

import csv

import numpy as np
import pytest

import mcsim as mc
from mcsim.lab import suites
from suite_models import MOTIONS, point_pendulum

METHODS = ["maximal:tree+projection@rk4", "reduced:aba"]
# Entry -> what the best method comes to within, of Runge-Kutta in either coordinates unless told.
BEST = {
    "A01 pendulum": 1e-9,
    "A02 two windows": 1e-8,
    "A02 40 windows": 5e-6,
    "A03 squeezer": 2e-8,
    "A04 Bricard": 1e-8,
    "A05 governor": 1e-4,
    "slider-crank": 1e-8,
    "heavy top": 5e-5,
    "double pendulum": 1e-6,
    "planar chain": 1e-7,
}


@pytest.fixture(scope="module")
def quick():
    said = []
    result = suites.run(
        methods=METHODS,
        entries=["A01 pendulum", "bricard"],
        quick=True,
        progress=lambda done, total, what: said.append((done, total, what)),
    )
    return result, said


def parameters_of(entry):
    return tuple(entry.parameters.values())


def test_a_suite_measures_every_entry_by_every_method(quick):
    result, said = quick
    assert [(o.entry.name, o.method) for o in result.outcomes] == [
        (name, method) for name in ("A01 pendulum", "A04 Bricard") for method in METHODS
    ]
    for outcome in result.outcomes:
        assert not outcome.failure and outcome.steps == round(outcome.seconds / outcome.dt)
        assert outcome.cpu > 0 and outcome.joint_drift < 1e-9 and outcome.energy_error < 1e-5
    assert result.of("A04 Bricard", "maximal:tree+projection@rk4").error < 1e-8
    assert 1e-8 < result.of("A01 pendulum", "reduced:aba").error < 1e-4
    assert said[-1] == (4.0, 4, "A04 Bricard, reduced:aba")
    assert [done for done, _, _ in said] == sorted(done for done, _, _ in said)


def test_the_error_is_the_distance_to_the_values(quick):
    """Of the pendulum, told by hand."""
    result, _ = quick
    world = mc.ReducedWorld(mc.load("point_pendulum"), dt=1 / 500, substeps=1, sleep=False)
    world.step(1250)
    off = np.abs(world.body("bob").position[[0, 2]] - point_pendulum([2.5])[0]).max()
    assert result.of("A01 pendulum", "reduced:aba").error == pytest.approx(off, rel=1e-6)
    assert result.of("A01 pendulum", "reduced:aba").joint_drift == pytest.approx(0, abs=1e-14)


def test_the_table_says_all(quick):
    result, _ = quick
    text = result.table()
    for words in ("A01 pendulum", *METHODS, "1/500", "closed form", "reference", "González", " m ", "error: the largest"):
        assert words in text, words
    assert max(map(len, result.table(80).splitlines())) <= 80
    assert repr(result) == "<SuiteResult of mechanisms: 4 runs>"
    assert text.count("A01 pendulum") == 2  # in the first row of its methods, and below


def test_csv(quick, tmp_path):
    result, _ = quick
    result.csv(tmp_path / "a.csv")
    rows = list(csv.DictReader((tmp_path / "a.csv").read_text(encoding="utf-8").splitlines()))
    assert [float(row["error"]) for row in rows] == [o.error for o in result.outcomes]
    assert rows[0]["values"] == "closed form" and rows[2]["scene"] == "bricard"
    with pytest.raises(mc.SceneError, match=r"must end in \.csv"):
        result.csv(tmp_path / "a.txt")


def test_what_fails_has_a_row():
    """The governor's dampers under rk4: a row that says so, and the others go on."""
    result = suites.run(methods=["maximal:tree+projection@rk4", "reduced:aba"], entries="governor", quick=True, dt=1e-3)
    failed, fine = result.outcomes
    assert "smaller dt" in failed.failure and np.isnan(failed.error) and failed.steps < 20
    assert fine.error < 1e-4 and np.isnan(fine.energy_error)  # dampers
    text = result.table()
    assert " failed " in text and "failed: A05 governor by maximal:tree+projection@rk4: step" in text
    assert repr(result).endswith("2 runs, 1 failed>")


def test_what_a_method_cannot_take_has_a_row():
    """Told before a step is made, and the others go on."""
    result = suites.run(methods=["maximal:si+ggl@rattle", "reduced:aba"], entries="point_pendulum", dt=0.01, quick=True)
    refused, fine = result.outcomes
    assert "does not go with" in refused.failure and refused.steps == 0 and np.isnan([refused.error, refused.cpu]).all()
    assert not fine.failure and fine.steps == 250
    assert "failed: A01 pendulum by maximal:si+ggl@rattle" in result.table()


@pytest.mark.parametrize(
    "keywords, words",
    [
        ({"name": "mechanism"}, "suite must be one of: mechanisms"),
        ({"entries": ["A06"]}, "entries must be one of: 'A01 pendulum', .*, point_pendulum, .*got 'A06'"),
        ({"dt": 0.3}, "dt of 0.3 s does not divide 2.5 s, at which the value of A01 pendulum is known"),
        ({"dt": -1}, "dt must be"),
        ({"dt": 1e-8, "entries": "heavy_top"}, "at most 10000000 are run"),
        ({"methods": ["reduced"]}, "there is no method"),
        ({"substeps": 0}, "substeps"),
    ],
)
def test_bad_input(keywords, words):
    with pytest.raises(mc.SceneError, match=words):
        suites.run(**keywords)


def test_of_names_what_was_run(quick):
    with pytest.raises(mc.SceneError, match="did not run 'heavy top'"):
        quick[0].of("heavy top", "reduced:aba")


# ---- the values ------------------------------------------------------------------------------------------------------


def test_every_entry_has_a_motion_of_its_own():
    for entry in suites.MECHANISMS:
        assert entry.kind == suites.PUBLISHED or (entry.scene, parameters_of(entry)) in MOTIONS
        assert set(entry.parameters) <= set(mc.scenes.parameters(entry.scene))
        assert [values.time for values in entry.values] == sorted(values.time for values in entry.values)
    assert set(BEST) == {entry.name for entry in suites.MECHANISMS}


@pytest.mark.slow
@pytest.mark.parametrize("entry", [e for e in suites.MECHANISMS if e.kind != suites.PUBLISHED], ids=lambda e: e.scene)
def test_values_are_those_of_the_equations(entry):
    times = [values.time for values in entry.values]
    found = MOTIONS[entry.scene, parameters_of(entry)](np.array(times))
    assert np.allclose(found, [values.numbers for values in entry.values], rtol=0, atol=2e-8)


@pytest.mark.parametrize(
    "entry", [e for e in suites.MECHANISMS if e.scene in ("point_pendulum", "planar_chain")], ids=lambda e: e.scene
)
def test_first_values_are_those_of_the_equations(entry):
    """The quick ones of these."""
    first = entry.values[0]
    found = MOTIONS[entry.scene, parameters_of(entry)](np.array([first.time]))
    assert np.allclose(found, [first.numbers], rtol=0, atol=1e-10)


@pytest.mark.slow
@pytest.mark.parametrize("name", BEST)
def test_the_best_method_comes_to_the_values(name):
    stiff = name == "A05 governor"  # its dampers are too strong for Runge-Kutta
    result = suites.run(methods=["reduced:aba"] if stiff else ["reduced:aba@rk4", METHODS[0]], entries=name)
    assert min(outcome.error for outcome in result.outcomes if not outcome.failure) < BEST[name]


# What "reference" comes to within: the values' own digits, or chaos.
EXACT = {
    "A01 pendulum": 1e-13,
    "A02 two windows": 1e-7,
    "A02 40 windows": 1e-6,
    "A03 squeezer": 3e-9,
    "A04 Bricard": 1e-9,
    "A05 governor": 2e-9,
    "slider-crank": 1e-11,
    "heavy top": 1e-10,
    "double pendulum": 1e-9,
    "planar chain": 1e-11,
}


@pytest.mark.slow
@pytest.mark.parametrize("name", EXACT)
def test_the_reference_comes_to_the_digits(name):
    [outcome] = suites.run(methods=["reduced:aba@reference"], entries=name).outcomes
    assert outcome.error < EXACT[name] and not outcome.failure


@pytest.mark.parametrize("name", ["A01 pendulum", "heavy top", "planar chain"])
def test_the_reference_comes_to_the_first_digits(name):
    [outcome] = suites.run(methods=["reduced:aba@reference"], entries=name, quick=True, dt=0.5).outcomes
    assert outcome.error < EXACT[name] and not outcome.failure


@pytest.mark.slow
def test_the_pendulum_for_all_of_its_time():
    """The closed form, its argument reduced by periods in 40 digits."""
    result = suites.run(methods=["reduced:aba@radau"], entries="point_pendulum", dt=0.1, full=True)
    [outcome] = result.outcomes
    assert outcome.seconds == 2000.0 and outcome.steps == 20000 and not outcome.failure
    assert outcome.error < 1e-8


def test_first_and_last_times_are_not_asked_for_together():
    with pytest.raises(mc.SceneError, match="suites: full goes to the last values and quick to the first"):
        suites.run(entries="point_pendulum", quick=True, full=True)
