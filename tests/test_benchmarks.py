"""The benchmark script runs each of its scenes, and writes what it measured."""

import csv
import os
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest

import mcsim as mc
from amounts import amount
from scripts import script_at

FOLDER = Path(__file__).resolve().parent.parent / "benchmarks"
sys.path.append(str(FOLDER))  # the scripts' shared modules


def load(name):
    return script_at(FOLDER / f"{name}.py")


@pytest.fixture(scope="module")
def script():
    return load("scenes")


@pytest.mark.parametrize("part", [10, pytest.param(1, marks=pytest.mark.slow)])
def test_every_scene_is_measured(script, tmp_path, capsys, monkeypatch, part):
    """All scenes for a few steps, in a part of their size; the CSV has the settings and a line for each."""
    monkeypatch.setattr(
        script,
        "BENCHMARKS",
        {
            name: (scene, {key: max(4, size // part) for key, size in parameters.items()}, seconds)
            for name, (scene, parameters, seconds) in script.BENCHMARKS.items()
        },
    )
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
    """Each CSV in results/ has its machine and its settings; times, or what else its script measures."""
    for path in (FOLDER / "results").glob("*.csv"):
        lines = path.read_text().splitlines()
        assert lines[0].startswith("# ") and "=" in lines[1]
        for row in csv.DictReader(lines[2:]):
            if path.stem == "robots":
                assert max(float(row[name]) for name in ("rnea", "crba", "aba", "jacobians")) < 1e-10
            elif path.stem == "solvers":
                assert float(row["natural_map"]) >= 0.0
            elif path.stem == "thresholds":
                assert 0 <= int(row["changed"]) <= int(row["scenes"]) and float(row["moved"]) >= 0.0
            elif path.stem == "bouncing":
                assert float(row["mean_square_J2"]) >= 0.0
            else:
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
        assert all(
            table[scene, "none"][0] > 3 * gap for (name, by), (gap, _) in table.items() if name == scene and by != "none"
        )


@pytest.mark.slow
def test_every_case_of_the_joints_is_measured(tmp_path, capsys):
    """All quick cases but the longest chain for a few steps; variants side by side, positions against the reference."""
    joints = load("joints")
    path = tmp_path / "joints.csv"
    names = [name for name in joints.CASES if not name.startswith("links10000")]
    results = joints.main(
        [*names, "--quick", "--seconds", "0.05", "--csv", str(path), "--joint-solver", "rows", "--substeps", "1", "2"]
    )
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
    (result,) = load("joints").main(["chain20_heavy", "--seconds", "0.1", "--repeats", "3", "--csv", str(path)])
    assert 0 < result.ms_fastest <= result.ms_step <= result.ms_slowest
    first = path.read_text().splitlines()[0]
    assert "3 runs of each" in first and "20" in first and "mcsim" in first


def test_a_peer_that_is_missing_is_left_out(capsys):
    """No such interpreter, and one without culverin: said, and the rest is measured."""
    for python in ("no_such_python", sys.executable):
        (result,) = load("joints").main(["chain20_heavy", "--seconds", "0.05", "--culverin", python])
        assert result.engine.startswith("mcsim") and "culverin: " in capsys.readouterr().out


def test_rapier_runs_the_same_chain(capsys):
    """Where it is installed: the same bodies, the same motion within its joints' stretch."""
    pytest.importorskip("rapier3d")
    ours, theirs = load("joints").main(["chain100", "--seconds", "0.2", "--rapier", "--substeps", "16"])
    assert theirs.engine.startswith("rapier") and theirs.bodies == ours.bodies and theirs.settings == "substeps=16"
    assert 0 < theirs.joint_mm < 50 and theirs.ms_step > 0


def test_culverin_is_told_what_the_scene_says():
    """Half extents, a capsule turned to Jolt's y axis, the plane as n x + c = 0, statics, mass, friction, groups."""
    peer = load("culverin_peer")
    scene = mc.load("rain", n=3)
    floor, west, *_, box, ball, capsule = [peer.Culverin.body(body) for body in scene.bodies]
    assert (floor["shape"], floor["size"], floor["kind"]) == ("plane", [0, 0, 1, 0], "static")
    assert west["kind"] == "static" and west["shape"] == "box" and box["kind"] == "dynamic"
    assert box["size"] == [0.25] * 3 and ball["size"] == [0.3] and capsule["size"] == [0.3, 0.2]
    assert box["rotation"] == [0, 0, 0, 1] and capsule["rotation"] == pytest.approx([0.5**0.5, 0, 0, 0.5**0.5])
    assert box["mass"] == pytest.approx(125.0) and {floor["friction"], box["friction"]} == {0.6}
    assert box["category"] & floor["mask"] and box["mask"] & floor["category"]
    raised = mc.Scene()
    raised.add_body("floor", kind="static", shape=mc.Plane((0, 0, 2), 0.5))
    assert peer.Culverin.body(raised.bodies[0])["size"] == [0, 0, 1, -0.5]


def test_culverin_refuses_what_it_would_have_to_change():
    """No process is started for these."""
    peer = load("culverin_peer")

    def refused(scene):
        with pytest.raises(NotImplementedError, match="culverin"):
            peer.Culverin(scene, 1 / 60, "no_such_python")

    refused(mc.load("ragdolls11", n=1))
    for shape, more in (
        (mc.Cylinder(0.2, 0.3), {}),
        (mc.Sphere(0.1, position=(1, 0, 0)), {}),
        (mc.Box((0.1, 0.1, 0.1), orientation=(0, 1, 0, 0)), {}),
        (mc.Sphere(0.1), {"material": mc.Material(restitution=0.5)}),
        (mc.Sphere(0.1), {"velocity": (1, 0, 0)}),
    ):
        scene = mc.Scene()
        scene.add_body("body", shape=shape, **more)
        refused(scene)
    scene = mc.load("one")
    scene.add_body("other", shape=mc.Sphere(0.1), material=mc.Material(friction=0.1), position=(5, 0, 5))
    refused(scene)


@pytest.fixture(scope="module")
def culverin():
    """An interpreter with culverin: CULVERIN_PYTHON, this one, python3.12 or later."""
    names = [os.environ.get("CULVERIN_PYTHON"), sys.executable, *map(shutil.which, ("python3.12", "python3.13"))]
    missing = load("culverin_peer").missing
    found = next((name for name in names if name and not missing(name)), None)
    return found or pytest.skip("no interpreter with culverin (CULVERIN_PYTHON names one)")


def test_jolt_runs_the_contact_scenes(culverin, script, capsys):
    """Cubes rest where they were put, the tower sinks less than its contacts may overlap, the rain stays in the pit."""

    def jolt(*arguments):
        return script.main([*arguments, "--culverin", culverin])[1]

    one = jolt("one", "--seconds", "1")
    assert one.engine.startswith("culverin") and not one.note and one.ms_step > 0
    assert abs(one.drop_mm) < 20 and np.isnan(one.overlap_mm) and one.points == -1
    assert abs(jolt("tower15", "--seconds", "2").drop_mm) < 15 * 20
    rain = mc.load("rain", n=100)
    engine = load("culverin_peer").Culverin(rain, 1 / 60, culverin)
    start, energy = engine.positions().copy(), mc.World(rain).energy().total
    assert start == pytest.approx(np.array([body.position for body in rain.bodies]))
    assert engine.poses()[1] == pytest.approx(np.array([body.orientation for body in rain.bodies]), abs=1e-6)
    assert engine.energy() == pytest.approx(energy)
    assert len(engine.seconds(240)) == 240
    end = engine.positions()
    engine.close()
    assert (end[:5] == start[:5]).all() and (end[5:, 2] > 0.17).all() and end[5:, 2].mean() < start[5:, 2].mean()
    assert np.abs(end[5:, :2]).max() < 12 * (100 / 2000) ** 0.5 / 2


def test_jolt_rests_each_shape_at_its_own_height(culverin):
    """Box, ball and standing capsule on a raised plane stay where they touch it, and their poses are ours."""
    scene = mc.Scene()
    scene.add_body("floor", kind="static", shape=mc.Plane((0, 0, 1), 1.0))
    for x, (shape, height) in enumerate(
        ((mc.Box((0.5, 0.25, 0.7)), 0.7), (mc.Sphere(0.3), 0.3), (mc.Capsule(0.2, 0.3), 0.5))
    ):
        scene.add_body(shape.type, shape=shape, position=(2 * x, 0, 1 + height))
    engine = load("culverin_peer").Culverin(scene, 1 / 60, culverin)
    start = engine.positions().copy()
    for _ in range(30):
        engine.step()
    positions, orientations = engine.poses()
    engine.close()
    assert positions == pytest.approx(start, abs=1e-4)
    assert orientations == pytest.approx(np.tile((1.0, 0.0, 0.0, 0.0), (4, 1)), abs=1e-4)


def test_jolt_runs_the_same_chain(culverin):
    """In 0.2 s the first link hangs by its joint, while the last one still falls freely, at steps of one substep."""
    chain, n = mc.load("chain", n=30), 12
    engine = load("culverin_peer").Culverin(chain, 1 / 60, culverin)
    assert engine.joint_gaps().max() < 1e-6
    assert (engine.seconds(n) > 0).all()
    fallen, gap = -engine.positions()[:, 2], engine.joint_gaps().max()
    engine.close()
    assert fallen[-1] == pytest.approx(9.81 / 60**2 * n * (n + 1) / 2, rel=0.01)
    assert fallen[0] < 0.9 * fallen[-1] and 1e-4 < gap < 0.05


def test_the_picture_is_drawn(tmp_path, capsys):
    """Both chains under both joint solvers; what failed or stopped before the reference's time is left out."""
    path = tmp_path / "joints.csv"
    load("joints").main(
        ["chain20_heavy", "--seconds", "2", "--joint-solver", "rows", "tree", "--substeps", "2", "4", "--csv", str(path)]
    )
    picture = load("joints_picture")
    _, found = picture.read(path)
    assert list(found) == ["chain20_heavy"] and list(found["chain20_heavy"]) == ["mcsim rows", "mcsim tree"]
    assert [row["substeps"] for row in found["chain20_heavy"]["mcsim tree"]] == [2, 4]
    picture.main(path, tmp_path / "joints.png")
    assert (tmp_path / "joints.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.slow
def test_the_integrators_are_measured(tmp_path, capsys):
    """Both chains under every name, and a picture."""
    module = load("integrators")
    table = module.main(steps=amount(400, 1500), png=str(tmp_path / "energy.png"))
    assert (tmp_path / "energy.png").read_bytes().startswith(b"\x89PNG")
    assert capsys.readouterr().out.count("[") == 10 * len(module.SCENES) * len(module.RUNS)
    assert all(abs(band).max() < 0.05 for band in table.values())


def test_the_bouncing_balls_are_measured(tmp_path, capsys):
    """Past the first bounce; event-driven keeps the energy, and the CSV has a line for each run."""
    module, path = load("bouncing"), tmp_path / "bouncing.csv"
    results = module.main(["event", "steps", "--seconds", "1.05", "--csv", str(path)])
    assert [result.impacts for result in results] == [49, 49]
    assert max(result.worst_J for result in results) < 1e-8
    assert "24034.5 J" in capsys.readouterr().out and len(path.read_text().splitlines()) == 5


def test_growth_is_printed(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["growth.py", "20", "40", "--seconds", "0.1"])
    load("growth").main()
    first, second = capsys.readouterr().out.splitlines()
    assert first.split()[:4] == ["20", "bodies", "1", "threads"] and "n^" in second and "MB" in second


def test_the_reduced_algorithms_are_measured(monkeypatch, capsys):
    """On small trees; peers that are there do the same work on the same trees."""
    reduced = load("reduced")
    monkeypatch.setattr(reduced, "TURNS", 1)
    monkeypatch.setattr(reduced, "CALLS", 2)
    monkeypatch.setattr(reduced, "STATES", 20)
    rows = reduced.measure_algorithms("chain", reduced.chain(3)) + reduced.measure_algorithms("doll", reduced.humanoid())
    assert {row.what for row in rows} == {"aba", "rnea", "crba", "aba derivatives", "rnea derivatives"}
    assert all(row.ms_step > 0 for row in rows)
    peer = pytest.importorskip("pinocchio")
    system = reduced.System(reduced.humanoid())
    other = reduced.Pinocchio(system)
    q = np.concatenate([other.q[:3], other.q[6:7], other.q[3:6], other.q[7:]])
    turn = peer.SE3(peer.Quaternion(other.q[3:7]).matrix(), np.zeros(3)).rotation
    qd = np.concatenate([turn @ other.v[:3], other.v[3:]])
    power = 0.5 * qd @ reduced.Dynamics(system).mass_matrix(q) @ qd
    assert power == pytest.approx(peer.computeKineticEnergy(other.model, other.data, other.q, other.v), rel=1e-10)


def test_the_energy_of_free_trees_is_measured(monkeypatch, tmp_path, capsys):
    """Alone, with --energy; Runge-Kutta keeps it to nine digits."""
    reduced = load("reduced")
    monkeypatch.setattr(reduced, "ENERGY_SECONDS", 0.2)
    rows = reduced.main(["--energy", "--csv", str(tmp_path / "energy.csv")])
    assert [(row.case, row.what) for row in rows] == [
        (case, what) for case in ("free ragdoll", "humanoid, 34 velocities") for what in ("rk4", "semi_implicit")
    ]
    off = {(row.case, row.what): float(row.note.split()[3]) for row in rows}
    assert all(value < 1e-9 for (_, what), value in off.items() if what == "rk4") and max(off.values()) < 1e-2
    assert len(list(csv.DictReader((tmp_path / "energy.csv").read_text().splitlines()[2:]))) == 4


ROBOT = """<robot name="two">
<link name="base"><inertial><origin xyz="0.1 0 0.2"/><mass value="3"/>
<inertia ixx="0.1" iyy="0.2" izz="0.25" ixy="0.01" ixz="0" iyz="0"/>
</inertial></link>
<link name="arm"><inertial><origin xyz="0 0.1 0.3" rpy="0.3 0 0.2"/><mass value="1"/>
<inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<link name="hand"><inertial><mass value="0.5"/>
<inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="shoulder" type="continuous"><parent link="base"/><child link="arm"/>
<origin xyz="0 0 0.5" rpy="0.5 0 1"/><axis xyz="0 1 1"/></joint>
<joint name="rail" type="prismatic"><parent link="arm"/><child link="hand"/>
<origin xyz="0.2 0 0"/><axis xyz="1 0 0"/>
<limit lower="-1" upper="1" effort="1" velocity="1"/></joint></robot>
"""


def test_robots_agree(tmp_path, capsys, monkeypatch):
    """On both bases; what cannot be read is told; without Pinocchio nothing is done."""
    pytest.importorskip("pinocchio"), pytest.importorskip("yourdfpy")
    robots = load("robots")
    (tmp_path / "two.urdf").write_text(ROBOT)
    (tmp_path / "bad.urdf").write_text("<robot/>")
    rows = robots.main([str(tmp_path), "--csv", str(tmp_path / "robots.csv")])
    assert [(row.robot, row.base, row.velocities) for row in rows] == [("two", "fixed", 2), ("two", "floating", 8)]
    assert all(0 < max(row.rnea, row.crba, row.aba, row.jacobians) < 1e-13 for row in rows)
    said = capsys.readouterr().out
    assert "left out: bad, fixed" in said and "the worst of 1 files: rnea" in said
    assert len(list(csv.DictReader((tmp_path / "robots.csv").read_text().splitlines()[2:]))) == 2
    monkeypatch.setattr(robots, "find_spec", lambda name: None)
    assert robots.main([str(tmp_path)]) == [] and "pinocchio is not installed" in capsys.readouterr().out
    with pytest.raises(SystemExit):
        robots.main([str(tmp_path / "none")])


def test_solvers_are_measured(tmp_path, capsys):
    """All that are registered, on a pyramid of three cubes; their curves end below the tolerance."""
    solvers = load("solvers")
    path = tmp_path / "solvers.csv"
    curves = solvers.main(["--base", "2", "--seconds", "2", "--models", "ncp", "pyramid", "--csv", str(path), "--cold"])
    said = capsys.readouterr().out
    assert {solver for _, solver in curves} == set(solvers.SOLVERS) and "model pyramid" in said
    for name in ("pgs", "nncg", "apgd"):
        assert curves["ncp", name][-1, 1:].max() <= 1e-4 and f"\n{name} " in said
    lines = path.read_text().splitlines()
    assert "pyramid base=2" in lines[1]
    assert {row["solver"] for row in csv.DictReader(lines[2:])} == set(solvers.SOLVERS)
    with pytest.raises(SystemExit):
        solvers.main(["nothing"])


def test_files_of_robots_are_told(tmp_path, capsys):
    """One that runs, one that runs with an argument that its error names, one that is refused, each by name."""
    from urdf_robots import link, robot

    (tmp_path / "good.xml").write_text('<mujoco><worldbody><body><freejoint/><geom size=".1"/></body></worldbody></mujoco>')
    (tmp_path / "bad.xml").write_text("<mujoco><nothing/></mujoco>")
    (tmp_path / "still.urdf").write_text(robot(link("table", mass=None)))
    module = load("robot_files")
    found = module.main([str(tmp_path), "--seconds", "0.1", "--markdown", str(tmp_path / "table.md")])
    told = {outcome.file.partition("/")[2]: outcome for outcome in found}
    assert told["good.xml"].outcome == "runs" and told["good.xml"].bodies == 2  # with a floor
    assert told["still.urdf"].outcome == "runs" and "base='fixed'" in told["still.urdf"].told
    assert told["bad.xml"].outcome == "refused" and "MuJoCo does not compile it" in told["bad.xml"].told
    assert "3 files, 2 runs, 1 refused, 0 failed" in capsys.readouterr().out
    assert len((tmp_path / "table.md").read_text().splitlines()) == 2 + 3
