"""compare: orders that theory knows, maximal and reduced coming together, failures, files."""

import csv
import json
import sys

import numpy as np
import pytest

import mcsim as mc
from mcsim.lab import Study, record, studies
from mcsim.lab.methods import parse
from mcsim.lab.record import ARRAYS, KEPT, distances
from mcsim.lab.report import finest_order, summary
from mcsim.lab.series import RESIDUAL_UNITS
from mcsim.lab.study import REFERENCE_ARRAYS

comparing = sys.modules["mcsim.lab.compare"]  # mcsim.lab.compare is the function

DTS = [1 / 60, 1 / 120, 1 / 240]
# Method -> orders over dt of distance, energy error, drift; None where there is only rounding.
ORDERS = {
    "maximal:si+none": (1, 1, 1),
    "maximal:pgs+baumgarte": (1, 1, 2),  # Baumgarte removes a part of h^2 a step
    "maximal:tree+soft": (2, 4, ...),
    "maximal:tree+soft@rattle": (2, 2, None),
    "maximal:tree+soft@variational": (2, 2, None),
    "maximal:tree+projection@rk4": (4, 4, None),
    "reduced:aba": (..., ..., None),  # divides long steps, and so is of second order from dt = 1/480 on
    "reduced:aba@rk4": (4, ..., None),  # energy: on the way from 4 to 5
}


@pytest.fixture(scope="module")
def convergence():
    return mc.compare(mc.scenes.pendulum(), list(ORDERS), seconds=1, dt=DTS)


@pytest.fixture(scope="module")
def study():
    """Contacts and joints, several methods."""
    return mc.compare(
        mc.scenes.wrecking_ball(links=3, height=2, width=2),
        ["maximal:si+baumgarte", "reduced:aba"],
        seconds=0.5,
        dt=1 / 120,
        budget=50_000,
    )


@pytest.mark.parametrize("name", ORDERS)
def test_orders_of_a_pendulum(convergence, name):
    found = convergence.orders()[name]
    for quantity, order in zip(("distance", "energy", "drift"), ORDERS[name]):
        if order is None:
            assert np.isnan(found[quantity])
        elif order is not ...:
            assert abs(found[quantity] - order) < (0.35 if name.endswith("baumgarte") else 0.1), quantity
    assert list(convergence.series[name][0].time) == [k * (1 / 60) for k in range(61)]
    assert [run.dt for run in convergence.series[name]] == DTS
    assert convergence.runs[name] is convergence.series[name][-1]


def test_the_order_is_that_of_the_finest_steps():
    """Whatever larger steps do, and without errors that nobody knows."""
    points = [(0.4, 7.0), (0.1, 3.0 * 0.1**1.7), (0.2, 3.0 * 0.2**1.7)]
    assert finest_order(points, 0.0) == pytest.approx(1.7)
    assert finest_order([*points, (1e-3, 9e-11)], 1e-11) == pytest.approx(1.7)
    assert finest_order([(0.2, 4e-3), (0.1, 1e-3), (0.05, 1.1e-4)], 1.2e-5) == pytest.approx(2.0)
    assert np.isnan(finest_order(points[:1], 0.0)) and np.isnan(finest_order([(0.1, np.nan), (0.2, 1.0)], 0.0))


@pytest.mark.parametrize(
    "scene, seconds, maximal",
    [
        (mc.scenes.double_pendulum(), 0.5, "maximal:tree+soft@rattle"),
        (mc.scenes.chain(n=5), 0.5, "maximal:tree+soft"),
        (mc.scenes.free_ragdoll(), 0.5, "maximal:tree+soft@rattle"),
        (mc.scenes.spinning_top(), 0.25, "maximal:tree+soft"),
    ],
    ids=lambda value: getattr(value, "name", None),
)
def test_maximal_and_reduced_come_together(scene, seconds, maximal):
    """The two coordinate systems, each at the same dt: apart as dt^2, without any reference."""
    apart = []
    keep = [body.kind == "dynamic" for body in scene.bodies]
    rate = 960 if scene.name == "spinning_top" else 480  # from which on no drift of a fast top is divided
    for dt in (1 / rate, 1 / (2 * rate), 1 / (4 * rate)):
        poses = []
        for name in (maximal, "reduced:aba"):
            world = parse(name).world(scene, dt)
            world.step(round(seconds / dt))
            poses += [world.positions[None, keep], world.orientations[None, keep]]
        apart.append([part[0] for part in distances(*poses)])
    apart = np.array(apart)
    assert apart[-1].max() < 2e-3
    assert np.all(np.abs(np.log2(apart[:-1] / apart[1:]) - 2.0) < 0.15), apart


def test_reduced_against_a_maximal_reference():
    """The same through compare: the distance of each to the other's reference falls as dt^2."""
    scene = mc.scenes.double_pendulum()
    for method, reference, rate in (
        ("reduced:aba", "maximal:tree+projection@rk4", 480),
        ("maximal:tree+soft@rattle", "auto", 120),
    ):
        found = mc.compare(scene, method, 0.5, [1 / rate, 1 / (2 * rate), 1 / (4 * rate)], reference, timing=False)
        assert found.orders()[method]["distance"] == pytest.approx(2.0, abs=0.05)
        assert found.reference.position_doubt.max() < 1e-8


# ---- what is measured ------------------------------------------------------------------------------------------------


def test_energy_and_momentum_of_what_is_free():
    """Nothing holds the ragdoll: momentum is measured against gravity's, exactly, without a reference."""
    found = mc.compare(mc.scenes.free_ragdoll(), ["maximal:tree+soft", "reduced:aba"], 0.5, reference=None, timing=False)
    assert found.free and found.conserves and found.reference is None
    run = found.runs["maximal:tree+soft"]
    scale = np.abs(run.linear_momentum).max(), np.abs(run.angular_momentum).max()
    assert run.momentum_error.max() < 1e-12 * scale[0] and run.spin_error.max() < 1e-10 * scale[1]
    assert np.ptp(run.linear_momentum[:, 2]) > 100.0
    assert np.array_equal(run.energy_error, run.energy - run.energy[0])
    assert 1e-6 < found.runs["reduced:aba"].spin_error.max() < 1.0  # leapfrog in joint coordinates keeps it not
    assert np.isnan(run.position_distance).all() and len(run.step_seconds) == 0
    text = found.table()
    assert "reference" not in text and "distance  " not in text and "time a" not in text.replace("time a step", "")


def test_held_scenes_are_measured_against_the_reference(convergence):
    found = convergence
    run = found.runs["maximal:si+none"]
    rows = found.reference.at(run.time)
    assert np.abs(found.reference.time[rows] - run.time).max() < 1e-12
    assert np.array_equal(
        run.momentum_error, np.linalg.norm(run.linear_momentum - found.reference.linear_momentum[rows], axis=1)
    )
    assert found.energy_scale == found.reference.kinetic.max()
    assert not found.free and found.conserves


def test_what_is_driven_is_measured_against_the_reference():
    found = mc.compare(mc.scenes.pendulum(), "reduced:aba", 0.2, timing=False)
    assert found.conserves
    driven = mc.compare(mc.scenes.four_bar(), "maximal:tree+soft", 0.2, 1 / 120, timing=False, budget=20_000)
    assert not driven.conserves
    run = driven.runs["maximal:tree+soft"]
    assert np.array_equal(run.energy_error, run.energy - driven.reference.energy[driven.reference.at(run.time)])


def test_trajectories(study):
    """The states of all bodies, of those that stand still too, and what each joint is open, by name."""
    for run in study.all_runs():
        assert run.body_names == study.body_names and run.joint_names == study.joint_names
        assert run.body_names[0] == "floor" and run.joint_names[-1] == "eye"
        world = parse(run.name).world(mc.scenes.wrecking_ball(links=3, height=2, width=2), run.dt)
        world.step(30)
        for name in ("positions", "orientations", "velocities", "angular_velocities"):
            assert np.array_equal(getattr(run, name)[30], getattr(world, name))
        assert np.array_equal(run.joint_position_errors[30], world.joint_errors()[:, 0])
        assert np.array_equal(run.joint_angle_errors[30], world.joint_errors()[:, 1])
        assert np.array_equal(run.joint_position_errors.max(axis=1), run.joint_position_max)


def test_trajectories_that_take_too_much_are_not_kept(monkeypatch):
    scene = mc.scenes.pendulum()
    needed = 8 * (13 + 2) * (11 + 21)

    def made(trajectories, method="reduced:aba"):
        return mc.compare(scene, method, 0.1, [0.01, 0.005], None, timing=False, trajectories=trajectories)

    monkeypatch.setattr(comparing, "SMALL_TRAJECTORIES", needed)
    assert made("auto").runs["reduced:aba"].positions.shape == (21, 1, 3)
    monkeypatch.setattr(comparing, "SMALL_TRAJECTORIES", needed - 1)
    for trajectories in ("auto", False):
        run = made(trajectories).runs["reduced:aba"]
        with pytest.raises(mc.SceneError, match="run 'reduced:aba' has no joint_angle_errors: .*compare.trajectories=True"):
            run.joint_angle_errors
    assert made(True).runs["reduced:aba"].positions.shape == (21, 1, 3)
    monkeypatch.setattr(comparing, "MOST_TRAJECTORIES", needed - 1)
    with pytest.raises(mc.SceneError, match="the trajectories of all runs take .* GiB, more than .* trajectories=False"):
        made(True)


def test_a_run_that_ends_early_keeps_as_much_of_everything(monkeypatch):
    monkeypatch.setattr(record, "BLOWN", 10.0)
    run = mc.compare(mc.scenes.pendulum(), "maximal:tree+soft", 1.0, reference=None).runs["maximal:tree+soft"]
    assert run.failure
    assert {len(getattr(run, name)) for name in KEPT} == {len(v) for v in run.residuals.values()} == {len(run) + 1}


@pytest.mark.parametrize("method", ["maximal:si+soft", "reduced:aba", {"event": {"contact": "event"}}])
def test_overlap_at_the_beginning(method):
    """A ball that begins 2 mm in the floor, beside one that hangs above it: no world has found a contact by then."""
    scene = mc.Scene()
    scene.add_body("floor", shape=mc.Plane((0, 0, 1)), kind="static")
    scene.add_body("deep", shape=mc.Sphere(0.1), position=(0, 0, 0.098))
    scene.add_body("high", shape=mc.Sphere(0.1), position=(1, 0, 0.102))
    found = mc.compare(scene, method, 0.1, reference=None, timing=False).all_runs()[0]
    assert found.penetration[0] == pytest.approx(0.002, rel=1e-9) and found.penetration[1] > 0.0
    scene = mc.Scene()
    scene.add_body("one", shape=mc.Sphere(0.1))
    scene.add_body("other", shape=mc.Sphere(0.1), position=(0, 0, 0.15))
    scene.add_joint(mc.BallJoint("one", "other", anchor=(0, 0, 0.1)))
    found = mc.compare(scene, "maximal:si+soft", 0.1, reference=None, timing=False).all_runs()[0]
    assert np.array_equal(found.penetration, np.zeros(len(found) + 1))  # what is jointed does not touch


def test_timing(study):
    for run in study.all_runs():
        assert len(run.step_seconds) == len(run) == 60 and 1e-7 < np.median(run.step_seconds) < 0.1


def test_progress_counts_up():
    seen = []
    mc.compare(
        mc.scenes.pendulum(),
        ["reduced:aba", "maximal:tree+soft"],
        0.5,
        [1 / 60, 1 / 240],
        progress=lambda *args: seen.append(args),
    )
    done = [entry[0] for entry in seen]
    assert done == sorted(done) and done[-1] < 9 and {entry[1] for entry in seen} == {9}
    assert {entry[2].removesuffix(", timed") for entry in seen} == {"reference", "reduced:aba", "maximal:tree+soft"}


def test_a_method_that_fails_does_not_stop_the_others():
    """Rattle cannot close the joints of a chain at half a second a step."""
    found = mc.compare(mc.scenes.chain(n=5), ["maximal:tree+soft@rattle", "maximal:tree+soft"], 1.0, [0.5, 1 / 120])
    first, second = found.series["maximal:tree+soft@rattle"]
    assert first.failure and len(first) < 2 and not second.failure
    assert len(first.time) == len(first.energy) == len(first.energy_error) == len(first) + 1
    assert len(first.step_seconds) == len(first)
    assert all(np.isfinite(run.energy).all() for run in found.all_runs())
    assert f"failed: maximal:tree+soft@rattle at dt 1/2 s, after {first.time[-1]:.4g} s: step " in " ".join(
        found.table().split()
    )
    assert "failed" in repr(found) and "failed at" in repr(first)


def test_what_a_method_finds_it_cannot_do_ends_its_run():
    """The reference integrator meets a contact on its way; limits are refused before anything runs."""
    scene = mc.Scene()
    scene.add_body("floor", shape=mc.Plane((0, 0, 1)), kind="static")
    scene.add_body("ball", shape=mc.Sphere(0.1), density=1000.0, position=(0, 0, 0.13))
    methods = ["reduced:aba@reference", "reduced:aba"]
    found = mc.compare(scene, methods, 0.1, reference=None)
    run = found.runs["reduced:aba@reference"]
    assert "'floor' and 'ball' touch" in run.failure and 0 < len(run) < 20
    assert not found.runs["reduced:aba"].failure
    assert "'floor' and 'ball' touch" in " ".join(found.table().split())
    scene.add_joint(mc.SliderJoint(None, "ball", axis=(0, 0, 1), limits=(-1, 1), name="rail"))
    with pytest.raises(mc.SceneError, match="method 'reduced:aba@reference': .*'rail' has limits"):
        mc.compare(scene, methods, 0.1, reference=None)


@pytest.mark.parametrize(
    "driven",
    [
        {"motion": mc.Motion(velocity=1.0, amplitude=0.2, frequency=1.0)},
        {"motor": mc.Motor(position=1.0)},
        {"motor": mc.Motor(velocity=1.0)},
    ],
)
def test_what_motions_and_strong_motors_drive_is_smooth(driven):
    """And its joints' velocities are measured, where no tree may have such a joint, or one that breaks; a motor without a
    bound gives energy."""
    scene = mc.Scene()
    scene.add_body("upper", mass=1.0, inertia=(0.02, 0.03, 0.01), position=(0.25, 0, 0))
    scene.add_body("lower", mass=0.7, inertia=(0.01, 0.02, 0.03), position=(0.8, 0, 0))
    scene.add_joint(mc.HingeJoint(None, "upper", anchor=(0, 0, 0), axis=(0, 1, 0), name="shoulder", **driven))
    scene.add_joint(mc.HingeJoint("upper", "lower", anchor=(0.5, 0, 0), axis=(0.1, 1, 0), name="elbow"))
    found = mc.compare(scene, ["maximal:tree+soft", "maximal:si+baumgarte"], 0.25, timing=False)
    assert found.reference.label.startswith("reduced:aba@reference, tolerance") and not found.conserves
    assert found.reference.position_doubt.max() < 1e-9
    tight, loose = (found.runs[name] for name in ("maximal:tree+soft", "maximal:si+baumgarte"))
    assert tight.position_distance.max() < 0.1 * loose.position_distance.max()
    assert tight.velocity_drift.max() < 1e-2 < loose.velocity_drift.max() < 1.0
    weak = mc.Scene()
    weak.add_body("bob", mass=1.0, inertia=(0.02, 0.03, 0.01), position=(0.25, 0, 0))
    weak.add_joint(mc.HingeJoint(None, "bob", anchor=(0, 0, 0), axis=(0, 1, 0), break_force=1e6))
    assert (
        mc.compare(weak, "maximal:si+baumgarte", 0.1, reference=None).runs["maximal:si+baumgarte"].velocity_drift.max() > 0
    )


def test_what_blows_up_is_said_to(monkeypatch):
    """A run ends where its energy has left all bounds, also if the world's state is finite still."""
    monkeypatch.setattr(record, "BLOWN", 10.0)
    found = mc.compare(mc.scenes.pendulum(), "maximal:tree+soft", 1.0, reference=None)
    run = found.runs["maximal:tree+soft"]
    assert run.failure.startswith("unstable: the kinetic energy passed")
    assert 5.0 < run.kinetic.max() < 10.0 and len(run.step_seconds) == len(run) < 120
    assert "failed: maximal:tree+soft at dt 1/240 s" in found.table()


def test_a_reference_that_fails():
    """The study goes on without, and says why."""
    found = mc.compare(
        mc.scenes.chain(n=40), "maximal:tree+soft", 2.0, 0.5, "maximal:tree+soft@rattle", budget=10, timing=False
    )
    assert found.reference is None and "no velocities close the joints" in found.reference_failure
    assert "reference: none: " in found.table()
    assert np.isnan(found.runs["maximal:tree+soft"].position_distance).all()


@pytest.mark.parametrize(
    "arguments, words",
    [
        ({"scene": 3}, ["compare: the first argument must be a Scene, or the name or file of one, got 3"]),
        ({"scene": "pendulums"}, ["there is no scene 'pendulums'", "did you mean 'pendulum'"]),
        ({"scene": "pendulum", "links": 3}, ["no parameter 'links'"]),
        ({"tolerances": 1e-6}, ["compare: there is no keyword 'tolerances'", "a Scene takes no parameters"]),
        ({"seconds": 0}, ["compare: seconds must be positive"]),
        ({"seconds": "long"}, ["compare: seconds must be a number"]),
        ({"dt": -1}, ["compare: dt must be positive"]),
        ({"dt": []}, ["compare: dt must be a step or several"]),
        ({"dt": [0.1, 0.1]}, ["compare: dt has a step twice"]),
        ({"dt": 1e-9}, ["compare: dt of 1e-09 s makes 1e+09 steps", "at most"]),
        ({"substeps": 0}, ["compare: substeps must be from 1"]),
        ({"methods": "reduced:bab"}, ["no algorithm 'bab'"]),
        ({"reference": "best"}, ["no method 'best'"]),
        ({"trajectories": "some"}, ["compare: trajectories must be True, False or \"auto\", got 'some'"]),
        ({"tolerance": -1.0}, ["compare: tolerance must be positive"]),
    ],
)
def test_bad_arguments(arguments, words):
    with pytest.raises(mc.SceneError) as caught:
        mc.compare(**({"scene": mc.scenes.pendulum(), "seconds": 1.0} | arguments))
    assert "\n" not in str(caught.value)
    for word in words:
        assert word in str(caught.value)


def test_names_and_files(tmp_path):
    """A name, a JSON file as text or path, and parameters of the scene: as mcsim.load of them."""
    scene = mc.load("chain", n=3)
    scene.save(tmp_path / "chain.json")
    runs = [
        mc.compare(given, "reduced:aba", 0.1, 0.01, None, timing=False, **parameters).runs["reduced:aba"]
        for given, parameters in (
            (scene, {}),
            ("chain", {"n": 3}),
            (tmp_path / "chain.json", {}),
            (str(tmp_path / "chain.json"), {}),
        )
    ]
    for run in runs[1:]:
        assert np.array_equal(run.energy, runs[0].energy) and len(run.energy) == 11
    with pytest.raises(FileNotFoundError):
        mc.compare(tmp_path / "none.json")


def test_a_scene_of_nothing():
    """No bodies, or none that moves: nothing to measure, and no error."""
    assert "0 bodies" in mc.compare(mc.Scene(name="empty"), "maximal:si+soft", 0.1).table()
    scene = mc.Scene()
    scene.add_body("floor", kind="static", shape=mc.Plane((0, 0, 1)))
    assert "1 body" in mc.compare(scene, seconds=0.1).table()


# ---- table and files -------------------------------------------------------------------------------------------------


def test_table(study, convergence):
    lines = study.table().splitlines()
    assert lines[0] == "wrecking_ball: 10 bodies, 4 joints, 0.5 s in steps of 1/120 s"
    row = next(line for line in lines if line.startswith("maximal:si+baumgarte")).split()
    numbers = summary(study, study.runs["maximal:si+baumgarte"])
    assert float(row[1]) == pytest.approx(numbers["joint_drift_m"], rel=0.05)
    assert float(row[-1]) == pytest.approx(numbers["step_us"], rel=0.05)
    assert any(line.startswith("reference  ") for line in lines)
    assert any(line.startswith("reference: reduced:aba, step") and "agrees with itself to" in line for line in lines)
    assert repr(study.table()) == str(study.table())
    text = convergence.table()
    assert text.count("maximal:si+none") == 4 and "order in dt of" in text and "  4.0" in text
    assert max(map(len, text.splitlines())) < 165


def test_csv(convergence, tmp_path):
    convergence.csv(tmp_path / "out.csv")
    with open(tmp_path / "out.csv", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == len(ORDERS) * len(DTS)
    for row, run in zip(rows, convergence.all_runs()):
        numbers = summary(convergence, run)
        assert (row["method"], float(row["dt"]), int(row["steps"])) == (run.name, run.dt, len(run))
        assert float(row["energy_error"]) == numbers["energy_error"]
        assert float(row["energy_error_j"]) == numbers["energy_error_j"] == np.abs(run.energy_error).max()
        assert float(row["residual_natural_map"]) == np.median(run.residual[1:]) and row["residual_dual"] == ""
        assert float(row["distance_m"]) == numbers["distance_m"]
    assert float(rows[-1]["order_distance"]) == convergence.orders()["reduced:aba@rk4"]["distance"]
    with pytest.raises(mc.SceneError, match="must end in .csv"):
        convergence.csv(tmp_path / "out.txt")


@pytest.mark.parametrize("which", ["study", "convergence"])
def test_round_trip(which, tmp_path, request):
    kept = request.getfixturevalue(which)
    kept.save(tmp_path / "study.npz")
    found = Study.load(tmp_path / "study.npz")
    assert repr(found) == repr(kept) and found.table() == kept.table()
    for name in ("scene", "bodies", "joints", "seconds", "dts", "energy_scale", "conserves", "free", "touching"):
        assert getattr(found, name) == getattr(kept, name)
    assert list(found.series) == list(kept.series)
    for a, b in zip(found.all_runs(), kept.all_runs()):
        assert (a.name, a.dt, a.seconds, a.failure) == (b.name, b.dt, b.seconds, b.failure)
        for name in ARRAYS:
            assert np.array_equal(getattr(a, name), getattr(b, name), equal_nan=True)
        for name in RESIDUAL_UNITS:
            assert np.array_equal(a.residuals[name], b.residuals[name], equal_nan=True)
        for name in KEPT:
            assert np.array_equal(getattr(a, name), getattr(b, name)) and len(getattr(a, name)) == len(a) + 1
        assert a.body_names == b.body_names == found.body_names == kept.body_names
        assert a.joint_names == b.joint_names == found.joint_names == kept.joint_names
    assert repr(found.reference) == repr(kept.reference)
    for name in REFERENCE_ARRAYS:
        assert np.array_equal(getattr(found.reference, name), getattr(kept.reference, name))


def test_bad_files(study, tmp_path):
    with pytest.raises(mc.SceneError, match="a study is a .npz file"):
        study.save(tmp_path / "study.txt")
    with pytest.raises(FileNotFoundError, match="no such study"):
        Study.load(tmp_path / "none.npz")
    study.save(tmp_path / "study.npz")
    with np.load(tmp_path / "study.npz") as data:
        arrays = dict(data)
    about = json.loads(str(arrays["study"]))
    for name, change, words in (
        ("old.npz", {"version": 1}, "old.npz: a study of format 1, which another version of mcsim wrote; .* run .* anew"),
        ("names.npz", {"body_names": [3]}, "names.npz: not a study"),
    ):
        np.savez(tmp_path / name, **arrays | {"study": np.array(json.dumps(about | change))})
        with pytest.raises(mc.SceneError, match=words):
            Study.load(tmp_path / name)
    bad = np.zeros((len(arrays["runs.0.time"]), 10, 4))
    np.savez(tmp_path / "shape.npz", **arrays | {"runs.0.trajectories.positions": bad})
    with pytest.raises(mc.SceneError, match="shape.npz: not a study: runs.0.trajectories.positions holds float64"):
        Study.load(tmp_path / "shape.npz")
    (tmp_path / "text.npz").write_text("hello")
    np.savez(tmp_path / "other.npz", time=np.zeros(3))
    for name in ("text.npz", "other.npz"):
        with pytest.raises(mc.SceneError, match=f"{name}: not a study"):
            Study.load(tmp_path / name)


# ---- ready studies ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", studies.STUDIES)
def test_ready_studies_run(name):
    found = studies.run(name, seconds=0.1, timing=False)
    assert list(found.series) == list(studies.STUDIES[name].methods)
    assert not any(run.failure for run in found.all_runs())
    assert found.reference.position_doubt.max() < 1e-8
    worst = max(np.abs(run.position_distance).max() for run in found.all_runs())
    assert 0.0 < worst < 0.05
    assert found.scene == name and found.conserves


def test_unknown_study():
    with pytest.raises(mc.SceneError, match="no study 'pendulums'; did you mean 'pendulum'"):
        studies.run("pendulums")


def test_a_study_takes_what_is_given():
    for word in ("count", "n"):  # n is the former name of count
        assert studies.run("chain", "reduced:aba", seconds=0.05, reference=None, timing=False, **{word: 3}).bodies == 3
    found = studies.run("pendulum", ["reduced:aba"], seconds=0.1, dt=[0.01, 0.02], reference=None)
    assert list(found.series) == ["reduced:aba"] and found.dts == [0.02, 0.01] and found.seconds == 0.1
