"""Sweeps: every point of a grid once, results as a loop has them, failures as rows, and a folder that goes on."""

import json
import sys
from concurrent.futures import Future, ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, strategies as st

import mcsim as mc
from mcsim.lab import grids
from mcsim.lab.sweep_files import INDEX
from throwing import hold, throw

GRID = {"friction": [0.1, 0.5, 0.9], "restitution": [0.0, 0.8]}
POINTS = [dict(friction=f, restitution=e) for f in GRID["friction"] for e in GRID["restitution"]]


def same(a, b):
    """Whether two lists of results are the same to the bit."""
    assert len(a) == len(b)
    for one, other in zip(a, b):
        assert (one is None) == (other is None)
        if one is not None:
            assert one.keys() == other.keys()
            for name, value in one.items():
                assert type(value) is type(other[name]), name
                assert np.array_equal(value, other[name]), name
    return True


def test_results_are_those_of_a_loop(tmp_path):
    """In order, as a dict or a list of dicts gives them, in this process, in threads, and from the folder."""
    loop = [{**(found := throw(**point)), "way": float(found["way"])} for point in POINTS]
    found = mc.sweep(throw, GRID, jobs=1, folder=tmp_path / "kept")
    assert found.parameters == POINTS and found.shape == (3, 2) and not found.failures and not found.missing
    assert same(found.results, loop)
    assert same(mc.sweep(throw, POINTS, jobs=1).results, loop)
    with ThreadPoolExecutor(3) as pool:
        assert same(mc.sweep(throw, GRID, pool).results, loop)
    read = mc.Sweep.load(tmp_path / "kept")
    assert same(read.results, loop) and read.parameters == POINTS and read.shape == (3, 2)
    assert read.name == found.name == "throwing.throw" and read.versions == (mc.__version__,)
    ways = found.array("way").reshape(found.shape)
    assert ways[2, 1] == loop[5]["way"] and found.array("positions").shape == (6, 2, 3)


def test_a_cluster_is_what_makes_executors():
    """Whatever has get_executor and nthreads is used as a Client of dask.distributed is."""

    class Cluster:
        def get_executor(self, pure):
            assert pure is False  # dask would take a run for the same as one that has been
            return ThreadPoolExecutor(2)

        def nthreads(self):
            return {"worker": 2}

    assert same(mc.sweep(throw, GRID, Cluster()).results, mc.sweep(throw, GRID, jobs=1).results)


def test_parameters_are_plain_data():
    """Arrays, their numbers and tuples are passed on as lists and Python's numbers."""
    seen = []

    def study(**parameters):
        seen.append(parameters)
        return 1.0

    mc.sweep(study, [{"a": np.float32(0.5), "b": np.arange(2), "c": (1, "x"), "d": np.int64(3), "e": {"f": None}}], jobs=1)
    assert seen == [{"a": 0.5, "b": [0, 1], "c": [1, "x"], "d": 3, "e": {"f": None}}]
    assert type(seen[0]["a"]) is float and type(seen[0]["d"]) is int
    assert mc.sweep(study, {}, jobs=1).parameters == [{}]


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**12), 10**12)
    | st.floats(allow_nan=False)
    | st.text("äb{}\"'", max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("xyz", min_size=1, max_size=3), inner, max_size=3),
    max_leaves=6,
)


@given(JSON, JSON)
def test_keys_tell_parameters_apart(a, b):
    """The same data has the same key, in any order of names; other data has another."""
    plain = grids.plain(a, "a")
    assert plain == a and json.loads(grids.canonical(a)) == a
    assert (grids.key("s", {"x": a}) == grids.key("s", {"x": b})) == (grids.canonical(a) == grids.canonical(b))
    assert grids.key("s", {"x": a, "y": b}) == grids.key("s", {"y": b, "x": a}) != grids.key("t", {"x": a, "y": b})


def test_keys_lie_in_files_and_stay():
    assert grids.key("throwing.throw", {"friction": 0.1, "restitution": 0}) == "a9fa7abb304991b9dff23ca12bd268e8"
    assert grids.key("s", {"x": 1}) != grids.key("s", {"x": 1.0})


# ---- failures --------------------------------------------------------------------------------------------------------


def half(x):
    if x == 2:
        raise ValueError("two is\n  too many")
    return {"half": x / 2, "whole": x}


def test_failures_are_rows(tmp_path):
    found = mc.sweep(half, {"x": [1, 2, 3]}, jobs=1, folder=tmp_path)
    assert found.failures == {1: "ValueError: two is too many"} and found.results[1] is None and found.missing == []
    assert found.results[2] == {"half": 1.5, "whole": 3}
    assert np.isnan(found.array("half")[1]) and np.isnan(found.array("whole")[1])
    assert mc.Sweep.load(tmp_path).failures == found.failures
    table = found.table()
    assert "1 failed" in table and "failed: run 1: ValueError: two is too many" in table
    assert found.rows()[1][1] == [2, None, None, "ValueError: two is too many"]


def test_failures_are_made_again_on_request(tmp_path):
    """By themselves they are kept: a study fails again where it has failed."""
    calls = []

    def study(x):
        calls.append(x)
        if len(calls) < 3:
            raise RuntimeError
        return x

    keywords = dict(jobs=1, folder=tmp_path, name="study")
    assert mc.sweep(study, {"x": [1, 2]}, **keywords).failures == {0: "RuntimeError", 1: "RuntimeError"}
    assert len(mc.sweep(study, {"x": [1, 2]}, **keywords).failures) == 2 and calls == [1, 2]
    again = mc.sweep(study, {"x": [1, 2]}, retry=True, **keywords)
    assert calls == [1, 2, 1, 2] and again.results == [{"value": 1}, {"value": 2}] and not again.failures
    assert mc.Sweep.load(tmp_path).results == again.results


@pytest.mark.parametrize(
    "returned, told",
    [
        (None, "the study returned None as value"),
        ({"a": [[1], [2, 3]]}, "as a: a result is a number, a string or an array"),
        ((1.5, "abc"), "the study returned (1.5, 'abc') as value"),
        ({1: 2.0}, "the study returned 1 as the name of a result"),
        ({"x": 2.0}, "'x', which is the name of a parameter too"),
        ({"a": object()}, "TypeError: the study returned <object object"),
    ],
)
def test_what_is_no_result_is_a_failure(returned, told):
    assert told in mc.sweep(lambda x: returned, {"x": [1]}, jobs=1).failures[0]


def test_a_study_that_leaves_python_is_a_failure():
    assert mc.sweep(lambda x: sys.exit(3), {"x": [1]}, jobs=1).failures == {0: "SystemExit: 3"}


def test_what_a_cluster_loses_is_a_failure_that_is_not_kept(tmp_path):
    """A worker that was lost says nothing about the study."""

    class Losing(ThreadPoolExecutor):
        def submit(self, function, trial, parameters):
            if parameters["friction"] == 0.5:
                future = Future()
                future.set_exception(OSError("KilledWorker"))
                return future
            return super().submit(function, trial, parameters)

    with Losing(1) as pool:
        found = mc.sweep(throw, {"friction": [0.1, 0.5]}, pool, folder=tmp_path)
    assert found.failures == {1: "OSError: KilledWorker"}
    assert mc.Sweep.load(tmp_path).missing == [1]
    assert not mc.sweep(throw, {"friction": [0.1, 0.5]}, jobs=1, folder=tmp_path).failures


# ---- the folder ------------------------------------------------------------------------------------------------------


def test_a_changed_grid_runs_what_is_new(tmp_path):
    calls = []

    def study(a, b):
        calls.append((a, b))
        return a * b

    keywords = dict(jobs=1, folder=tmp_path, name="product")
    mc.sweep(study, {"a": [1, 2], "b": [5, 6]}, **keywords)
    calls.clear()
    found = mc.sweep(study, {"b": [6, 7], "a": [3, 2]}, **keywords)  # in another order, too
    assert sorted(calls) == [(2, 7), (3, 6), (3, 7)]
    assert [r["value"] for r in found.results] == [18, 12, 21, 14]
    assert mc.Sweep.load(tmp_path).results == found.results


def test_settings_of_a_scene_are_part_of_a_result(tmp_path):
    """Another method, another time, another measure: other results."""
    for k, keywords in enumerate(
        [{"seconds": 0.1}, {"seconds": 0.2}, {"seconds": 0.1, "method": "reduced:aba"}, {"seconds": 0.1, "measure": "end"}]
    ):
        mc.sweep("pendulum", {"length": [1.0]}, jobs=1, folder=tmp_path, **keywords)
        assert len([*tmp_path.glob("*.npz")]) == k + 1


def test_another_scene_of_the_same_name_is_another_study(tmp_path):
    """Of a Scene, and of a file that has changed."""
    keywords = dict(seconds=0.1, jobs=1, folder=tmp_path / "kept")
    for source in (None, tmp_path / "held.json"):
        for length in (1.0, 2.0):
            hold(length).save(tmp_path / "held.json")
            found = mc.sweep(source or hold(length), {}, name="held", **keywords)
            assert (
                found.results[0]["state_hash"] == mc.sweep(hold(length), {}, seconds=0.1, jobs=1).results[0]["state_hash"]
            )


def test_a_folder_is_of_one_study(tmp_path):
    mc.sweep(throw, {"friction": [0.1]}, jobs=1, folder=tmp_path)
    with pytest.raises(mc.SceneError, match=r"holds the sweep of 'throwing.throw', not of 'other'"):
        mc.sweep(throw, {"friction": [0.1]}, jobs=1, folder=tmp_path, name="other")


def test_ctrl_c_leaves_what_has_ended(tmp_path):
    def study(x):
        if x == 2 and stopped:
            raise KeyboardInterrupt
        return x

    stopped, keywords = True, dict(jobs=1, folder=tmp_path, name="study")
    with pytest.raises(KeyboardInterrupt):
        mc.sweep(study, {"x": [0, 1, 2, 3]}, **keywords)
    read = mc.Sweep.load(tmp_path)
    assert read.results == [{"value": 0}, {"value": 1}, None, None] and read.missing == [2, 3]
    assert "2 missing" in repr(read) and "2 not run" in read.table() and read.rows()[1][3] == [3, None, "not run"]
    stopped, told = False, []
    found = mc.sweep(study, {"x": [0, 1, 2, 3]}, progress=lambda *now: told.append(now), **keywords)
    assert [r["value"] for r in found.results] == [0, 1, 2, 3]
    assert told == [(2, 4, "study"), (3, 4, "study"), (4, 4, "study")]


def test_a_result_is_written_whole_or_not_at_all(tmp_path, monkeypatch):
    """A disk that is full in the middle of a file leaves no part of it."""
    save = np.savez_compressed

    def failing(file, **arrays):
        save(file, **arrays)
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np, "savez_compressed", failing)
    with pytest.raises(OSError, match="No space left"):
        mc.sweep(throw, {"friction": [0.1]}, jobs=1, folder=tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == [INDEX]


def test_a_damaged_result_is_made_anew(tmp_path):
    keywords = dict(jobs=1, folder=tmp_path)
    first = mc.sweep(throw, {"friction": [0.1, 0.2]}, **keywords)
    path = sorted(tmp_path.glob("*.npz"))[0]
    path.write_bytes(path.read_bytes()[:100])
    with pytest.raises(mc.SceneError, match=path.name):
        mc.Sweep.load(tmp_path)
    with pytest.warns(UserWarning, match=rf"{path.name}.*the run is made anew"):
        assert same(mc.sweep(throw, {"friction": [0.1, 0.2]}, **keywords).results, first.results)
    assert same(mc.Sweep.load(tmp_path).results, first.results)


@pytest.mark.parametrize("content", ["{", "[]", "{}", '{"version": 1, "name": "a"}', "\0"])
def test_what_is_no_folder_of_a_sweep(tmp_path, content):
    with pytest.raises(FileNotFoundError, match="no such folder of a sweep"):
        mc.Sweep.load(tmp_path / "none")
    with pytest.raises(mc.SceneError, match=r"there is no sweep\.json in it"):
        mc.Sweep.load(tmp_path)
    (tmp_path / INDEX).write_text(content, encoding="utf-8")
    with pytest.raises(mc.SceneError, match=r"sweep\.json"):
        mc.Sweep.load(tmp_path)
    with pytest.raises(mc.SceneError, match="is no folder"):
        mc.sweep(throw, {"friction": [0.1]}, jobs=1, folder=tmp_path / INDEX)


# ---- scenes ----------------------------------------------------------------------------------------------------------


def test_a_scene_is_run_as_by_hand():
    """The end to the bit, and what a loop of steps measures."""
    grid = {"length": [0.5, 1.0], "dt": [1 / 60, 1 / 240]}
    found = mc.sweep("pendulum", grid, seconds=0.5, jobs=1)
    for parameters, result in zip(found.parameters, found.results):
        world = mc.World(mc.load("pendulum", length=parameters["length"]), dt=parameters["dt"])
        energies, errors = [world.energy().total], [world.joint_errors()]
        for _ in range(round(0.5 / world.dt)):
            world.step()
            energies.append(world.energy().total)
            errors.append(world.joint_errors())
        assert result["state_hash"] == world.state_hash() and np.array_equal(result["end_positions"], world.positions)
        assert result["energy_drift"] == pytest.approx(np.abs(np.subtract(energies, energies[0])).max(), abs=1e-12)
        worst = np.max(errors, axis=0).max(axis=0)
        assert (result["joint_error_m"], result["joint_error_rad"]) == pytest.approx(tuple(worst), abs=1e-15)
        assert result["penetration"] == 0.0 and result["notes"] == ""
    assert "energy_drift" in found.table() and found.units["energy_drift"] == "J"


def test_ways_to_give_a_scene(tmp_path):
    """A Scene, a file of one, and a function that makes one are the same run as the name."""
    by_name = mc.sweep("pendulum", {"angle": [0.5]}, seconds=0.2, jobs=1).results[0]
    scene = hold(1.0)
    scene.save(tmp_path / "held.json")
    for source, grid in (
        (scene, {}),
        (tmp_path / "held.json", {}),
        (str(tmp_path / "held.json"), {}),
        (hold, {"length": [1.0]}),
    ):
        assert same(mc.sweep(source, grid, seconds=0.2, jobs=1).results, [by_name])


def test_methods_and_keywords_of_the_world():
    scene = hold(1.0)

    def end(world):
        world.step(12)
        return world.state_hash()

    found = mc.sweep(scene, {"world.substeps": [1, 3]}, seconds=0.1, dt=1 / 120, measure="end", jobs=1)
    assert [r["state_hash"] for r in found.results] == [end(mc.World(scene, dt=1 / 120, substeps=k)) for k in (1, 3)]
    reduced = dict(seconds=0.1, dt=1 / 120, measure=["end"], jobs=1)
    expected = end(mc.ReducedWorld(scene, dt=1 / 120, integrator="rk4"))
    for world in ({"coordinates": "reduced", "integrator": "rk4"}, {"coordinates": "reduced", "integrator": mc.RK4()}):
        assert mc.sweep(scene, {}, world=world, **reduced).results[0]["state_hash"] == expected
    methods = mc.sweep(scene, {"method": ["maximal:si+baumgarte", "reduced:aba@rk4"]}, **reduced)
    assert methods.results[1]["state_hash"] == end(
        mc.ReducedWorld(scene, dt=1 / 120, integrator="rk4", substeps=1, sleep=False)
    )
    assert methods.results[0]["state_hash"] != methods.results[1]["state_hash"]


def test_measures_of_ones_own():
    found = mc.sweep(
        hold(1.0),
        {"seconds": [0.05, 0.1]},
        measure=["time", lambda world: {"t": world.time, "q": world.positions[0]}],
        jobs=1,
    )
    assert found.array("t") == pytest.approx([0.05, 0.1], abs=0.01) and found.array("q").shape == (2, 3)
    assert (found.array("step_seconds") > 0.0).all() and found.results[0].keys() == {"t", "q", "step_seconds", "notes"}


def test_a_run_that_blows_up_is_a_failure(monkeypatch):
    """Where its energy has left all bounds, and where a step cannot be made."""
    scene = mc.Scene(gravity=(0.0, 0.0, 0.0))
    scene.add_body("ball", shape=mc.Sphere(0.1), density=1e3, velocity=(0.0, 1e17, 0.0))
    for measure in ("end", "energy"):
        found = mc.sweep(scene, {}, seconds=0.1, measure=measure, jobs=1)
        assert found.failures[0].startswith("SimulationError: step 1") and found.results == [None]
    monkeypatch.setattr(sys.modules["mcsim.lab.record"], "BLOWN", 1.0)
    found = mc.sweep("pendulum", {}, seconds=1.0, jobs=1)
    assert found.failures[0].startswith("SimulationError: unstable: the kinetic energy passed")


def test_a_function_keeps_parameters_of_its_own():
    """dt, seconds and method are the run's only where the function has none of that name."""
    assert mc.sweep(lambda dt: dt, {"dt": [0.5]}, jobs=1).results == [{"value": 0.5}]
    assert mc.sweep(lambda **all: all["dt"], {"dt": [-0.5]}, jobs=1).results == [{"value": -0.5}]
    refused = mc.sweep(lambda x: x, {"x": [1], "dt": [0.5]}, jobs=1).failures[0]
    assert refused == "TypeError: dt are of the run of a scene, but the study returned 1, which is none"


# ---- what comes out --------------------------------------------------------------------------------------------------


def test_tables_files_frames_and_pictures(tmp_path):
    found = mc.sweep(throw, GRID | {"seconds": [0.1]}, jobs=1, units={"way": "m"})
    plain, marked, latex = (found.table(format=name) for name in ("text", "markdown", "latex"))
    assert plain.startswith("throwing.throw: 6 runs; seconds 0.1") and "positions (2, 3)" in plain
    assert "| way \\[m\\] |" in marked and r"\begin{tabular}" in latex
    assert max(map(len, found.table(width=40).splitlines())) <= 40
    found.csv(tmp_path / "a.csv")
    lines = (tmp_path / "a.csv").read_text(encoding="utf-8").splitlines()
    assert lines[0] == "friction,restitution,seconds,way [m],hash,failure" and len(lines) == 7
    pytest.importorskip("pandas")
    frame = found.to_pandas()
    assert frame["way"].tolist() == found.array("way").tolist() and frame.attrs["units"] == {"way": "m"}


def test_pictures(tmp_path):
    pytest.importorskip("matplotlib")
    found = mc.sweep(
        lambda x, kind: {"a": x + len(kind), "b": -x}, {"x": [1.0, 2.0, 1000.0], "kind": ["one", "three"]}, jobs=1
    )
    found.plot(tmp_path / "a.png")
    found.plot(tmp_path / "b.svg", x="kind", y="a", theme="dark")
    assert (tmp_path / "a.png").stat().st_size > 10_000
    text = (tmp_path / "b.svg").read_text(encoding="utf-8")
    assert text.count('<g id="axes_') == 1
    for wrong, told in (
        (dict(x="z"), "x must be one of: x, kind"),
        (dict(y="c"), "y must be results that are single numbers: a, b; got 'c'"),
        (dict(theme="pink"), "theme must be one of"),
    ):
        with pytest.raises(mc.SceneError, match=told):
            found.plot(tmp_path / "c.png", **wrong)
    with pytest.raises(mc.SceneError, match=r"must end in \.png"):
        found.plot(tmp_path / "c.gif")
    with pytest.raises(mc.SceneError, match="the study has none"):
        mc.sweep(lambda: 1, {}, jobs=1).plot(tmp_path / "c.png")


def test_arrays_that_do_not_fit():
    found = mc.sweep(lambda x: {"a": [0.0] * x}, {"x": [1, 2]}, jobs=1)
    with pytest.raises(mc.SceneError, match="'a' has not the same shape"):
        found.array("a")
    with pytest.raises(mc.SceneError, match="no run has a result 'b'.*the results are: a"):
        found.array("b")
    mixed = mc.sweep(lambda x: "text" if x else 1.0, {"x": [0, 1]}, jobs=1)
    with pytest.raises(mc.SceneError, match="'value' is a number in some runs and text in others"):
        mixed.array("value")
    many = mc.sweep(lambda x: x, {"x": range(100)}, jobs=1)
    assert many.array("value").tolist() == [*range(100)] and len(many.table().splitlines()) > 100
    texts = mc.sweep(half, {"x": [2, 3]}, jobs=1)
    assert np.isnan(texts.array("whole")[0])
    names = mc.sweep(lambda x: "abc"[:x] if x else 1 / 0, {"x": [0, 1, 3]}, jobs=1).array("value")
    assert names.tolist() == ["", "a", "abc"]


# ---- what is refused -------------------------------------------------------------------------------------------------


def driven():
    """A scene whose motion is a Python function."""
    scene = mc.Scene()
    scene.add_body("bob", shape=mc.Sphere(0.1), position=(1, 0, 0))
    scene.add_joint(mc.HingeJoint(None, "bob", anchor=(0, 0, 0), axis=(0, 1, 0), motion=mc.Motion(lambda t: t)))
    return scene


WRONG = [
    ((3, {}), {}, "sweep: study must be a function, a Scene, or the name or file of one, got 3"),
    (("pendulm", {}), {}, "there is no scene 'pendulm'; did you mean 'pendulum'"),
    (("pendulum", {"lenght": [1]}), {}, "there is no parameter 'lenght'; did you mean 'length'"),
    ((hold, {"lenght": [1]}), {}, "'lenght', which is no parameter of throwing.hold; did you mean 'length'"),
    (("pendulum", 3), {}, "sweep: grid must be a dict of values by name, or a list of dicts, got 3"),
    (("pendulum", []), {}, "sweep: grid must have from 1"),
    (("pendulum", [3]), {}, r"sweep: grid\[0\] must be a dict of parameters, got 3"),
    (("pendulum", {"length": 3}), {}, r"sweep: grid\['length'\] must be a list of values, got 3"),
    (("pendulum", {"length": []}), {}, r"sweep: grid\['length'\] has no values"),
    (("pendulum", {"length": [object()]}), {}, r"sweep: grid\['length'\]\[0\] must be a number, a string"),
    (("pendulum", {"length": [1.0, 2.0, 1.0]}), {}, "sweep: grid has one run twice, as number 0 and 2"),
    (("pendulum", {"length": range(2000), "angle": range(2000)}), {}, "sweep: grid has 4e.06 runs"),
    (("pendulum", {"dt": [0.0]}), {}, r"sweep: grid\['dt'\] must be positive"),
    (("pendulum", {"method": ["maximal:magic"]}), {}, "there is no solver 'magic'"),
    (("pendulum", {"world.iteration": [1]}), {}, "no keyword of a world; did you mean 'iterations'"),
    (("pendulum", {"world.dt": [1]}), {}, "which is given as dt"),
    (("pendulum", {"world.coordinates": ["reduced"]}), {"method": "reduced:aba"}, "which the method says"),
    (("pendulum", {"dt": [1.0]}), {"dt": 0.1}, "grid has dt, which is given as a keyword too"),
    (("pendulum", {}), {"world": {"iteration": 1}}, "sweep: world has 'iteration'"),
    (("pendulum", {}), {"world": 3}, "sweep: world must be a dict"),
    (("pendulum", {}), {"seconds": -1}, "sweep: seconds must be positive, got -1"),
    (("pendulum", {}), {"measure": "enrgy"}, "sweep: measure must be one of: end, energy"),
    (("pendulum", {}), {"jobs": 0}, "sweep: jobs must be from 1"),
    (("pendulum", {}), {"client": 3}, "sweep: client must be a Client of dask.distributed, the address"),
    (("pendulum", {}), {"client": ThreadPoolExecutor(1), "jobs": 2}, "sweep: jobs is of processes on this machine"),
    (("pendulum", {}), {"units": "m"}, "sweep: units must be a dict"),
    (("pendulum", {}), {"retry": 1}, "sweep: retry must be True or False"),
    ((mc.Scene(), {"length": [1]}), {}, "but a Scene takes no parameters"),
    ((lambda: 1, {}), {"folder": "kept"}, "sweep: name must be given with a folder"),
    ((driven(), {}), {"folder": "kept"}, "name must be given with a folder: the scene holds Python functions"),
    (("pendulum", {}), {"folder": "kept", "measure": lambda world: 1}, "name must be given with a folder: a function"),
    (("none.urdf", {}), {}, "no such scene file"),
    ((lambda x: 1, {"x": [1, 2]}), {"jobs": 2}, "sweep: the study cannot be sent to other processes"),
]


@pytest.mark.sampled(1)
@pytest.mark.parametrize("arguments, keywords, told", WRONG, ids=[told for _, _, told in WRONG])
def test_what_is_wrong_is_told_before_anything_runs(arguments, keywords, told, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises((mc.SceneError, FileNotFoundError), match=told):
        mc.sweep(*arguments, **keywords)
    assert not [*tmp_path.iterdir()]


def test_clusters_need_an_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(ImportError, match=r"pip install 'mcsim-physics\[sweep\]'"):
        mc.sweep(throw, {"friction": [0.1]}, "tcp://127.0.0.1:8786")
    assert len(mc.sweep(throw, {"friction": [0.1]}).results) == 1  # this machine needs none


def test_a_scene_file_takes_no_parameters(tmp_path):
    hold(1.0).save(tmp_path / "a.json")
    with pytest.raises(mc.SceneError, match="takes no parameters"):
        mc.sweep(tmp_path / "a.json", {"length": [1]}, jobs=1)
