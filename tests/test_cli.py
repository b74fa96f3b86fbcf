"""The command line: what it prints and writes, and how it behaves as a process."""

import contextlib
import json
import os
import pty
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import mcsim as mc
from command_line import HAND_WRITTEN, call, process
from mcsim import cli
from mcsim.cli.terminal import metric
from mcsim.io import Recording


@pytest.fixture(autouse=True)
def in_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


# ---- run -------------------------------------------------------------------------------------------------------------


def test_run_says_what_happened(capsys):
    code, out, err = call(capsys, "run", "pendulum", "--seconds", 1)
    assert code == 0 and err == ""
    lines = out.splitlines()
    assert lines[0] == "pendulum: 1 body, 1 joint"
    assert re.search(r"steps +60 of 16.7 ms: 1 s simulated", out)
    for word in ("ms a step", "times real time", "joint error", "pivot at", "deepest contact  none overlaps", "energy"):
        assert word in out


def test_summary_agrees_with_the_world(capsys):
    """Joint error, overlap and energy in the summary are those that a world of the same options goes through."""
    code, out, _ = call(
        capsys,
        "run",
        "wrecking_ball",
        "--seconds",
        0.5,
        "--dt",
        "1/120",
        "--substeps",
        2,
        "--fps",
        120,
        "--set",
        "links=3",
        "--set",
        "height=4",
        "--set",
        "width=3",
    )
    assert code == 0
    world = mc.World(mc.scenes.wrecking_ball(links=3, height=4, width=3), dt=1 / 120, substeps=2)
    before, joints, overlap = world.energy().total, world.joint_errors(), 0.0
    for _ in range(60):
        world.step()
        joints = np.maximum(joints, world.joint_errors())
        overlap = max(overlap, -world.contacts["separation"].min(initial=0.0))
    after = world.energy().total
    assert f"joint error      {metric(joints[:, 0].max(), 'm')} (" in out
    assert f"deepest contact  {metric(overlap, 'm')} of overlap" in out
    assert f"{metric(before, 'J')} to {metric(after, 'J')}" in out
    assert f"change {metric(after - before, 'J', sign='+')}" in out


def test_pictures_by_options(capsys):
    run = ("run", "stack", "--set", "count=2", "--seconds", 0.1, "--out", "rec.npz", "--png", "end.png")
    look = ("--camera", "front", "--show", "joints,contacts", "--theme", "dark")
    code, _, _ = call(capsys, *run, *look)
    assert code == 0
    code, _, _ = call(capsys, "play", "rec.npz", "--png", "again.png", *look)
    assert code == 0
    with Image.open("end.png") as one, Image.open("again.png") as other:
        pixels = np.asarray(one)
        assert np.array_equal(pixels, np.asarray(other)) and np.median(pixels) < 60
    for wrong, words in (
        (("--camera", "1,0"), "must be 3 numbers"),
        (("--show", "joints,forces"), "'forces' is not one of joints, contacts"),
        (("--theme", "grey"), "'grey' is not one of light, dark"),
    ):
        code, _, err = call(capsys, "play", "rec.npz", "--png", "x.png", *wrong)
        assert code == 2 and words in " ".join(err.split())
    for option, value in (("--camera", "top"), ("--show", "joints"), ("--theme", "dark")):
        code, _, err = call(capsys, "play", "rec.npz", option, value)
        assert code == 2 and f"{option} does nothing without --png or --gif" in " ".join(err.split())


def test_run_writes_recording_picture_and_film(capsys, tmp_path):
    code, out, _ = call(
        capsys,
        "run",
        "stack",
        "--set",
        "count=3",
        "--seconds",
        1,
        "--fps",
        20,
        "--out",
        "rec.npz",
        "--png",
        "end.png",
        "--strip",
        2,
        "--gif",
        "film.gif",
    )
    assert code == 0 and out.count("wrote") == 3
    recording = Recording.load("rec.npz")
    assert np.allclose(recording.time, np.arange(21) / 20)
    assert recording.body_names == ("floor", "box0", "box1", "box2")
    world = mc.World(mc.scenes.stack(count=3))
    world.step(60)
    assert np.array_equal(recording.positions[-1], world.positions)
    with Image.open("end.png") as strip:
        assert strip.size == (1600, 600)
    with Image.open("film.gif") as film:
        assert film.n_frames == 21
    assert sorted(os.listdir(tmp_path)) == ["end.png", "film.gif", "rec.npz"]


def test_the_last_frame_is_the_end(capsys):
    assert call(capsys, "run", "pendulum", "--seconds", 0.5, "--fps", 7, "--out", "rec.npz")[0] == 0
    recording = Recording.load("rec.npz")  # 30 steps, a frame every 9
    assert np.allclose(recording.time * 60, [0, 9, 18, 27, 30])


def test_options_reach_the_world(capsys, monkeypatch):
    given = {}

    class Spy(mc.World):
        def __init__(self, scene, **options):
            given.update(options)
            super().__init__(scene, **options)

    monkeypatch.setattr("mcsim.world.World", Spy)
    code, _, err = call(
        capsys,
        "run",
        "one",
        "--seconds",
        0.1,
        "--dt",
        "1/240",
        "--substeps",
        8,
        "--solver",
        "pgs",
        "--iterations",
        3,
        "--stabilization",
        "baumgarte",
        "--friction",
        "pyramid",
        "--friction-points",
        "point",
        "--baumgarte",
        0.1,
        "--slop",
        "1e-4",
        "--push-speed",
        2,
        "--restitution-threshold",
        0.3,
        "--speculative-distance",
        0.01,
    )
    assert code == 0, err
    assert given == {
        "dt": 1 / 240,
        "substeps": 8,
        "solver": "pgs",
        "iterations": 3,
        "stabilization": "baumgarte",
        "friction": "pyramid",
        "friction_points": "point",
        "baumgarte": 0.1,
        "slop": 1e-4,
        "push_speed": 2.0,
        "restitution_threshold": 0.3,
        "speculative_distance": 0.01,
    }
    given.clear()
    code, _, err = call(
        capsys,
        "run",
        "one",
        "--seconds",
        0.1,
        "--stabilization",
        "soft",
        "--hertz",
        20,
        "--damping-ratio",
        5,
        "--joint-hertz",
        50,
        "--joint-damping-ratio",
        1,
        "--no-sleep",
    )
    assert code == 0, err
    assert given == {
        "dt": 1 / 60,
        "stabilization": "soft",
        "hertz": 20.0,
        "damping_ratio": 5.0,
        "joint_hertz": 50.0,
        "joint_damping_ratio": 1.0,
        "sleep": False,
    }


def test_generalized_coordinates(capsys):
    """The same scene, by one option: joints of a tree do not open."""
    code, out, err = call(
        capsys,
        "run",
        "double_pendulum",
        "--seconds",
        1,
        "--dt",
        "1/240",
        "--coordinates",
        "reduced",
        "--integrator",
        "rk4",
        "--out",
        "rec.npz",
    )
    assert code == 0 and re.search(r"joint error\s+\S+e-1[3-9] m|joint error\s+0", out), (out, err)
    world = mc.ReducedWorld(mc.load("double_pendulum"), dt=1 / 240, integrator="rk4")
    world.step(240)
    assert np.array_equal(Recording.load("rec.npz").positions[-1], world.positions)


def test_run_takes_a_file_written_by_hand(capsys, tmp_path):
    (tmp_path / "hand.json").write_text(json.dumps(HAND_WRITTEN, indent=2))
    code, out, _ = call(capsys, "run", "hand.json", "--seconds", 0.5, "--gif", "hand.gif")
    assert code == 0 and out.startswith("hand: 3 bodies, 1 joint") and "hook" in out
    assert (tmp_path / "hand.gif").read_bytes().startswith(b"GIF89a")


def test_few_frames(capsys):
    """Less than a frame in the whole run: the start and the end."""
    assert call(capsys, "run", "one", "--seconds", 0.5, "--fps", "1e-300", "--out", "rec.npz")[0] == 0
    assert np.allclose(Recording.load("rec.npz").time, [0, 0.5])


def test_a_poor_terminal():
    done = process("run", "pendulum", "--seconds", 3, env=os.environ | {"PYTHONIOENCODING": "ascii"})
    assert done.returncode == 0 and "joint error" in done.stdout


def test_run_replaces_an_old_file(capsys, tmp_path):
    (tmp_path / "rec.npz").write_text("old")
    assert call(capsys, "run", "one", "--seconds", 0.1, "--out", "rec.npz")[0] == 0
    assert len(Recording.load("rec.npz")) == 4


# ---- the other commands ----------------------------------------------------------------------------------------------


def test_scenes_lists_them_all(capsys):
    code, out, _ = call(capsys, "scenes")
    assert code == 0
    lines = out.splitlines()
    for name in mc.scenes.SCENES:
        assert any(line.startswith(name + " ") and mc.scenes.description(name) in line for line in lines), name
    assert "base=20" in out and len(lines) == len(mc.scenes.SCENES) + 1


def test_scenes_tells_about_one(capsys):
    code, out, _ = call(capsys, "scenes", "ragdolls")
    assert code == 0 and "de Leva" in out and "count=25" in out


def test_check_counts(capsys, tmp_path):
    (tmp_path / "hand.json").write_text(json.dumps(HAND_WRITTEN))
    code, out, _ = call(capsys, "check", "hand.json")
    assert code == 0
    assert out == "ok: hand.json: scene 'hand', 3 bodies (2 dynamic, 1 static), 3 shapes, 1 joint\n"


@pytest.mark.parametrize(
    "arguments, words",
    [
        ([], ["run", "sweep", "scenes", "check"]),
        (["--help"], ["run", "scenes", "check"]),
        (["run", "--help"], ["--seconds", "--set", "--solver", "--friction-points", "--speculative-distance", "--gif"]),
        (["scenes", "--help"], ["NAME"]),
        (["check", "--help"], ["FILE"]),
        (["--version"], [f"mcsim {mc.__version__}"]),
    ],
)
def test_help(arguments, words, capsys):
    code, out, err = call(capsys, *arguments)
    assert code == 0 and err == ""
    for word in words:
        assert word in out


def on_terminal(*arguments, columns=80):
    """What a call shows on a terminal of so many columns, without what moves the cursor; and its exit code."""
    leader, follower = pty.openpty()
    running = subprocess.Popen(
        [sys.executable, "-m", "mcsim", *map(str, arguments)],
        stdout=follower,
        stderr=follower,
        env=os.environ | {"TERM": "xterm", "COLUMNS": str(columns)},
    )
    os.close(follower)
    shown = b""
    with contextlib.suppress(OSError):  # the other end is closed
        while piece := os.read(leader, 65536):
            shown += piece
    os.close(leader)
    text = re.sub(r"\x1b\[[\d;?]*[A-Za-z]", "\n", shown.decode(errors="replace")).replace("\r", "")
    return running.wait(timeout=60), [line for line in text.splitlines() if line.strip()]


@pytest.mark.parametrize(
    "arguments",
    [
        ["scenes"],
        ["scenes", "ragdolls"],
        ["samples"],
        ["samples", "box3d/shapes"],
        ["samples", "box3d/compound", "--check"],
        ["compare", "pendulum", "--seconds", "0.1"],
        ["compare", "pendulum", "reduced:aba", "--seconds", "0.1", "--dt", "1/60,1/120", "--reference", "none"],
        ["solvers", "pyramid", "newton", "pgs", "--set", "base=2", "--seconds", "0.1"],
        ["run", "folder.py"],
        ["compare", "pendulum", "tree"],
        ["run", "one", "--contact-model", "ccp"],
        ["run", "--help"],
    ],
)
def test_nothing_is_wider_than_the_terminal(arguments):
    _, lines = on_terminal(*arguments)
    assert lines and not [line for line in lines if len(line) > 80]


def test_columns_without_room_go_on_below():
    """Each number of a wide table is in the narrow one, beside the name of its method."""
    study = mc.compare("pendulum", ["maximal:tree+soft", "reduced:aba"], 0.1, 1 / 60, None, timing=False)
    wide, narrow = str(study.table()), str(study.table(60))
    assert max(map(len, narrow.splitlines())) <= 60 < max(map(len, wide.splitlines()))
    for name in study.series:
        (row,) = (line.split() for line in wide.splitlines() if line.startswith(name + " "))
        found = [line.split() for line in narrow.splitlines() if line.startswith(name + " ")]
        assert len(found) > 1 and [value for line in found for value in line[1:]] == row[1:]


def test_progress_counts_whole_runs():
    _, lines = on_terminal("compare", "double_pendulum", "--seconds", "0.3", columns=100)
    counted = [word for line in lines for word in re.findall(r"(\S+) / \d+ runs", line)]
    assert counted and all(word.isdigit() for word in counted)


def test_a_table_over_time(capsys):
    """Rows of the frames: time, energies, momentum and errors are those of the world."""
    code, out, _ = call(
        capsys,
        "run",
        "wrecking_ball",
        "--set",
        "links=3",
        "--set",
        "height=3",
        "--set",
        "width=2",
        "--seconds",
        0.5,
        "--fps",
        10,
        "--csv",
        "run.csv",
    )
    assert code == 0 and "wrote            run.csv (6 rows" in out
    header, *rows = Path("run.csv").read_text().splitlines()
    assert header.split(",") == list(cli.series.COLUMNS) and len(rows) == 6
    world = mc.World(mc.scenes.wrecking_ball(links=3, height=3, width=2))
    for k, line in enumerate(rows):
        if k:
            world.step(6)
        numbers, (linear, angular) = [float(word) for word in line.split(",")], world.momentum()
        energy, overlap = world.energy(), -world.contacts["separation"].min(initial=0.0)
        expected = [
            world.time,
            energy.kinetic,
            energy.potential,
            energy.total,
            *linear,
            *angular,
            *world.joint_errors().max(axis=0),
            overlap,
            len(world.contacts),
            sum(note.total for note in world.stats.all_notes),
        ]
        assert np.array_equal(numbers, expected)


def test_a_table_of_a_scene_without_joints(capsys):
    assert call(capsys, "run", "one", "--seconds", 0.1, "--csv", "run.csv")[0] == 0
    rows = [line.split(",") for line in Path("run.csv").read_text().splitlines()]
    assert rows[-1][rows[0].index("worst joint error [m]")] == "0.0" and rows[-1][rows[0].index("contacts")] == "4"


def test_notes_are_told_at_the_end(capsys):
    """What steps could not do stands in the summary, and their number in the table."""
    code, out, _ = call(
        capsys,
        "run",
        "pyramid",
        "--set",
        "base=3",
        "--seconds",
        0.2,
        "--solver",
        "jacobi",
        "--iterations",
        1,
        "--csv",
        "run.csv",
    )
    rows = [line.split(",") for line in Path("run.csv").read_text().splitlines()]
    assert code == 0 and "note  " in out and int(rows[-1][-1]) > 0


def test_scenes_as_json(capsys):
    code, out, _ = call(capsys, "scenes", "four_bar", "--json")
    told = json.loads(out)
    assert code == 0 and told["name"] == "four_bar" and told["parameters"] == mc.scenes.parameters("four_bar")
    code, out, _ = call(capsys, "scenes", "--json")
    assert code == 0 and [scene["name"] for scene in json.loads(out)] == list(mc.scenes.SCENES)


def test_a_recording_is_checked(capsys):
    assert call(capsys, "run", "one", "--seconds", 0.1, "--out", "rec.npz")[0] == 0
    code, out, _ = call(capsys, "check", "rec.npz")
    assert code == 0 and out == "ok: rec.npz: recording, 4 frames from 0 to 0.1 s, 2 bodies\n"


@pytest.mark.slow
def test_shells_complete_commands_options_and_scenes():
    """What typer asks for when a shell completes; and the script that a shell is given."""

    def complete(words):
        done = process(
            env=os.environ
            | {"_MCSIM_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": str(len(words.split()) - 1)}
        )
        return done.stdout.split()

    assert complete("mcsim com") == ["compare"]
    assert complete("mcsim run pend") == ["pendulum"]
    assert "--stabilization" in complete("mcsim run one --stab")
    assert "_MCSIM_COMPLETE" in process(env=os.environ | {"_MCSIM_COMPLETE": "source_bash"}).stdout


# ---- compare ---------------------------------------------------------------------------------------------------------


def test_compare_says_and_writes(capsys, tmp_path):
    """The table of the methods, and the files."""
    code, out, err = call(
        capsys,
        "compare",
        "pendulum",
        "maximal:si+baumgarte",
        "reduced:aba",
        "--seconds",
        0.5,
        "--dt",
        "1/60,1/120,1/240",
        "--set",
        "length=2",
        "--plot",
        "a.png",
        "--save",
        "a.npz",
        "--csv",
        "a.csv",
        "--series",
        "b.csv",
    )
    assert code == 0 and err == ""
    assert out.startswith("pendulum: 1 body, 1 joint, 0.5 s in steps of 1/60, 1/120, 1/240 s\n")
    assert out.count("\nreduced:aba ") == 4 and "order in dt of" in out and out.count("wrote a.") == 3
    assert sorted(os.listdir(tmp_path)) == ["a.csv", "a.npz", "a.png", "b.csv"] and "wrote b.csv" in out
    assert len(Path("b.csv").read_text().splitlines()) == 1 + 2 * (31 + 61 + 121)
    study = mc.lab.Study.load("a.npz")
    assert study.dts == [1 / 60, 1 / 120, 1 / 240] and list(study.series) == ["maximal:si+baumgarte", "reduced:aba"]
    assert str(study.table()) in out
    with Image.open("a.png") as picture:
        assert picture.size[0] > 1000
    alone = mc.compare(mc.scenes.pendulum(length=2), "reduced:aba", 0.5, 1 / 240, timing=False)
    assert np.array_equal(study.runs["reduced:aba"].energy, alone.runs["reduced:aba"].energy)


def test_compare_prints_other_formats_and_kinds(capsys):
    code, out, _ = call(
        capsys,
        "compare",
        "pendulum",
        "reduced:aba",
        "--seconds",
        0.1,
        "--residuals",
        "--format",
        "latex",
        "--save",
        "a.npz",
        "--plot",
        "a.pdf",
        "--kind",
        "work",
    )
    study = mc.lab.Study.load("a.npz")
    assert code == 0 and out.startswith(study.table(format="latex")) and r"\toprule" in out
    assert np.isfinite(study.runs["reduced:aba"].residuals["primal"][1:]).all() and Path("a.pdf").exists()


def test_compare_knows_ready_studies(capsys):
    """The study's methods and parameters; its seconds are shortened here."""
    code, out, _ = call(capsys, "compare", "chain", "--seconds", 0.05, "--reference", "none", "--set", "n=3")
    study = mc.lab.studies.STUDIES["chain"]
    assert code == 0 and "chain: 3 bodies" in out and all(f"\n{name} " in out for name in study.methods)
    code, out, _ = call(capsys, "compare", "chain", "reduced:aba", "--seconds", 0.05, "--reference", "none")
    assert code == 0 and "chain: 20 bodies" in out and "maximal" not in out


def test_compare_runs_a_suite(capsys, tmp_path):
    """Methods are given beside it, in the place of the scene too."""
    code, out, _ = call(capsys, "compare", "--suite", "mechanisms", "reduced:aba", "--quick", "--csv", tmp_path / "a.csv")
    rows = [line.split() for line in out.splitlines() if "reduced:aba  " in line]
    assert code == 0 and [row[0] for row in rows[:2]] == ["A01", "A02"] and len(rows) == len(mc.lab.suites.MECHANISMS)
    assert "maximal" not in out and "wrote" in out
    rows = (tmp_path / "a.csv").read_text(encoding="utf-8").splitlines()
    assert len(rows) == 1 + len(mc.lab.suites.MECHANISMS)


def test_compare_takes_any_scene(capsys):
    (mc.Scene.from_dict(HAND_WRITTEN)).save("hand.json")
    code, out, _ = call(capsys, "compare", "hand.json", "--seconds", 0.1, "--substeps", 2, "--dt", 0.01)
    assert code == 0 and all(f"\n{name} " in out for name in mc.lab.DEFAULT_METHODS)
    assert "0.1 s in steps of 1/100 s" in out and "overlap" in out


def test_compare_says_when_all_failed(capsys):
    code, out, _ = call(
        capsys,
        "compare",
        "chain",
        "maximal:tree+soft@rattle",
        "--dt",
        0.5,
        "--seconds",
        3,
        "--set",
        "n=5",
        "--reference",
        "none",
    )
    assert code == 1 and "failed: maximal:tree+soft@rattle" in out


# ---- as a process ----------------------------------------------------------------------------------------------------


def test_python_m_mcsim():
    done = process("run", "one", "--seconds", 0.2)
    assert done.returncode == 0 and done.stderr == "" and "ms a step" in done.stdout


def test_no_traceback_and_no_progress_bar_in_a_pipe():
    done = process("run", "nothing")
    assert done.returncode == 2 and done.stderr.count("\n") == 1 and "Traceback" not in done.stderr
    done = process("run", "pyramid", "--seconds", 0.5)
    assert done.returncode == 0 and done.stderr == ""


def test_a_closed_pipe_is_no_error():
    done = subprocess.run(
        f"{sys.executable} -m mcsim scenes | head -n 1", shell=True, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0 and done.stderr == ""


def heed_interrupts():
    """Of the child to be: suites that run in the background may ignore them, and children do as their parents."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def work_for(process, seconds):
    """Wait until a process has had so much of a processor, however busy the machine is; where that is not told, so long."""
    stat = Path(f"/proc/{process.pid}/stat")
    if not stat.exists():
        time.sleep(seconds)
        return
    enough = seconds * os.sysconf("SC_CLK_TCK")
    while process.poll() is None and sum(map(int, stat.read_text().rsplit(")", 1)[1].split()[11:13])) < enough:
        time.sleep(0.05)


def test_ctrl_c_keeps_what_was_recorded(tmp_path):
    running = subprocess.Popen(
        [sys.executable, "-m", "mcsim", "run", "pyramid", "--seconds", "20000", "--fps", "2", "--out", "rec.npz"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=heed_interrupts,
    )
    work_for(running, 2.5)
    running.send_signal(signal.SIGINT)
    out, err = running.communicate(timeout=60)
    assert running.returncode == 130, err
    assert "Traceback" not in err and "interrupted" in out
    assert len(Recording.load(tmp_path / "rec.npz")) > 2


def test_progress_bar_on_a_terminal():
    leader, follower = pty.openpty()
    running = subprocess.Popen(
        [sys.executable, "-m", "mcsim", "run", "pyramid", "--seconds", "3"],
        stderr=follower,
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"TERM": "xterm", "COLUMNS": "100"},
    )
    os.close(follower)
    shown = b""
    while True:
        try:
            piece = os.read(leader, 65536)
        except OSError:  # the other end is closed
            break
        if not piece:
            break
        shown += piece
    out, _ = running.communicate(timeout=60)
    os.close(leader)
    assert running.returncode == 0 and "ms a step" in out
    assert b"simulating" in shown and b"real time" in shown


@pytest.mark.slow
def test_compare_shows_progress_on_a_terminal():
    leader, follower = pty.openpty()
    running = subprocess.Popen(
        [sys.executable, "-m", "mcsim", "compare", "double_pendulum", "--seconds", "0.3"],
        stderr=follower,
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"TERM": "xterm", "COLUMNS": "100"},
    )
    os.close(follower)
    shown = b""
    with contextlib.suppress(OSError):  # the other end is closed
        while piece := os.read(leader, 65536):
            shown += piece
    out, _ = running.communicate(timeout=60)
    os.close(leader)
    assert running.returncode == 0 and "reduced:aba" in out
    assert b"comparing" in shown and b"runs" in shown


def test_imports_stay_light():
    program = "import sys, mcsim.cli; print([m for m in ('matplotlib', 'scipy', 'pydantic', 'PIL') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize(
    "value, text",
    [
        (0.0021, "2.1 mm"),
        (-0.0021, "-2.1 mm"),
        (0.0, "0 m"),
        (1234.0, "1.23 km"),
        (5e-7, "500 nm"),
        (3e-14, "3e-14 m"),
        (999.0, "999 m"),
    ],
)
def test_metric(value, text):
    assert metric(value, "m") == text
