"""The fuzzer itself: runs that find nothing, an artificial defect that it finds, makes short and writes as a script that
fails; and worlds whose check fails."""

import json
import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import mcsim as mc
from amounts import amount
from mcsim.cli import main
from mcsim.fuzz import Campaign, Case, Failure, drawn_case, played, replay, script_of, shrunk
from mcsim.fuzz.operations import OPERATIONS, WRONG, drawn, spoiled
from mcsim.fuzz.parts import WORLD_OPTIONS
from mcsim.fuzz.shrink import fewest
from mcsim.fuzz.words import Call, at, made, places, replaced, without, written
from mcsim.fuzz.worker import logged_case, run_of
from mcsim.world.world import World

ROOT = Path(__file__).parents[2]
SCENE = ["scene = mc.Scene()", "scene.add_body('a', shape=mc.Sphere(0.1))", "w = mc.World(scene)"]


@pytest.mark.parametrize("seed", range(amount(6, 60)))
@pytest.mark.sampled(1)
def test_a_run_finds_nothing(seed):
    told = run_of(seed, amount(25, 60))
    assert "kind" not in told, told["kind"] + ": " + told["text"]
    assert sum(told["outcomes"].values()) > 3


def test_a_seed_gives_the_same_run():
    cases = []
    for _ in range(2):
        case, rng = drawn_case(4)
        cases.append(played(case, rng, 15).case)
    assert cases[0] == cases[1]
    assert Case.of(json.loads(json.dumps(cases[0].data()))).data() == json.loads(json.dumps(cases[0].data()))


def test_every_operation_can_be_drawn_and_is_a_line():
    """... and every keyword goes with one kind of world at least."""
    scene = mc.Scene()
    for i in range(3):
        scene.add_body(f"b{i}", shape=mc.Sphere(0.1), position=(i, 0, 1))
    scene.add_joint(mc.HingeJoint("b0", "b1", (0.5, 0, 1), (0, 1, 0)))
    rng = np.random.default_rng(0)
    for kind in (mc.World, mc.ReducedWorld):
        world, names = kind(scene), set()
        for count in range(600):
            call = drawn(rng, world, count)
            compile(call.text(), "<call>", "exec")
            names.add(call.name.split("=")[0].split(".")[0].strip())
    assert len(names) > 40 and len(OPERATIONS) > 35
    for keywords in WORLD_OPTIONS:
        mc.World(mc.Scene(), **keywords)


def test_values_are_written_and_taken_apart():
    value = made("mc.Sphere", 0.5, position=[0.0, float("nan"), 1.0], material=made("mc.Material", 0.1))
    assert written(value) == "mc.Sphere(0.5, position=[0.0, nan, 1.0], material=mc.Material(0.1))"
    assert written({"dict": {"a": {"text": "w"}}}) == "{'a': w}"
    path = ("kw", "position", 2)
    assert path in places(value) and at(value, path) == 1.0
    assert written(without(replaced(value, path, None), ("kw", "material"))) == "mc.Sphere(0.5, position=[0.0, nan, None])"
    call = Call("set_pose", "w.set_pose(*)", ("a", [0.0, 0.0, 1.0]))
    texts = {spoiled(np.random.default_rng(i), call).text() for i in range(80)}
    assert len(texts) > 30 and all(text.startswith("w.set_pose(") for text in texts) and len(WRONG) > 40
    step = Call("step", "w.step(*)", (1,))
    steps = {spoiled(np.random.default_rng(i), step).text() for i in range(300)}
    counts = [float(found[1]) for text in steps if (found := re.fullmatch(r"w\.step\(([-\d.e+]+)\)", text))]
    assert len(steps) > 20 and len(counts) > 3 and max(counts) <= 3  # more would never end


def test_the_fewest_items_are_found():
    assert fewest(tuple(range(50)), lambda items: {7, 8, 31} <= {*items}) == (7, 8, 31)
    assert fewest((1, 2), lambda items: True) == ()
    assert fewest((1, 2), lambda items: len(items) == 2) == (1, 2)


DEFECTS = {
    "raises": ("wake", lambda world, *a: {}["nothing"], "KeyError"),
    "changes what it refuses": ("wake", "half", "a refused wake changes the state"),
    "not finite": ("move_to", lambda world, *a: world.positions.__setitem__((0, 0), np.nan), "check: "),
}


def defect(name, monkeypatch):
    method, does, kind = DEFECTS[name]
    if does == "half":

        def does(world, *a):
            world.positions[0, 0] += 1.0
            raise mc.SceneError("no")

    monkeypatch.setattr(World, method, does)
    return kind


@pytest.mark.parametrize("name", DEFECTS)
@pytest.mark.sampled(3)
def test_a_defect_is_found_and_made_short(name, monkeypatch):
    kind = defect(name, monkeypatch)
    for seed in range(300, 400):
        case, rng = drawn_case(seed)
        try:
            played(replace(case, make=Call("make", "w = mc.World(scene)")), rng, 60)
        except Failure as failure:
            found = failure
            break
    assert found.kind.startswith(kind)

    def fails(case):
        try:
            played(case)
        except Failure as failure:
            return failure.kind == found.kind
        return False

    short = shrunk(found.case, fails, 30.0)
    assert fails(short) and len(short.calls) == 1 and len(short.scene) <= 2 and short.twin == "same"


def test_the_script_of_a_failure_fails(tmp_path, monkeypatch):
    """In a process of its own, as the case did; and passes once the defect is mended."""
    calls = (Call("step", "w.step(*)", (2,)), Call("wake", "w.wake(*)"))
    case = replace(drawn_case(300)[0], make=Call("make", "w = mc.World(scene)"), calls=calls)
    script = tmp_path / "fuzz_300.py"
    script.write_text(script_of(case, 'it fails """ \\ here'), encoding="utf-8")
    assert all(len(line) <= 124 for line in script.read_text().splitlines()[:10])
    broken = "import mcsim as mc\nfrom mcsim.world.world import World\nWorld.wake = lambda world: {}['nothing']\n"
    broken += f"import runpy; runpy.run_path({str(script)!r}, run_name='__main__')"
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    runs = [
        subprocess.run([sys.executable, *how], capture_output=True, text=True, env=environment, timeout=120)
        for how in (["-c", broken], [script])
    ]
    assert runs[0].returncode != 0 and "KeyError" in runs[0].stderr and "w.wake()" in runs[0].stderr
    assert runs[1].returncode == 0 and "nothing is wrong" in runs[1].stdout


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("w.positions[0] = nan", "check: "),
        ("w.orientations[0] *= 2.0; w._bodies.mass[0] = 7.0", "check: "),
        ("raise KeyError('x')", "KeyError"),
        ("raise ValueError()", "ValueError without words"),
        ("1 + None", "TypeError of no help"),
        ("w.step(1); raise mc.SceneError('half done')", "a refused w.step("),
    ],
)
def test_what_must_not_be_is_seen(line, kind):
    with pytest.raises(Failure) as failed:
        replay([*SCENE, "w.step(1)", line.replace("w.step(1); raise", "w.set_pose('a', (0, 0, 9)); raise")])
    assert failed.value.kind.startswith(kind.replace("w.step(", "w.set_pose")), failed.value


@pytest.mark.parametrize("twin", ["looks", "copies", "forgets", "threads"])
def test_a_twin_that_goes_another_way_is_seen(twin):
    """A line that pushes a world by how many worlds have run it: the second and the third are pushed otherwise."""
    mc.pushes = iter(range(100))
    try:
        with pytest.raises(Failure, match="another way"):
            replay([*SCENE, "w.apply_force('a', (next(mc.pushes), 0, 0))"], twin)
    finally:
        del mc.pushes


def test_momentum_that_is_lost_is_seen(monkeypatch):
    step = World.step

    def brakes(world, n=1):
        step(world, n)
        world.velocities[...] *= 0.9

    lines = [SCENE[0].replace("()", "(gravity=(0, 0, 0))"), *SCENE[1:], "w.set_velocity('a', (1, 0, 0))", "w.step(2)"]
    replay(lines)
    monkeypatch.setattr(World, "step", brakes)
    with pytest.raises(Failure, match="momentum"):
        replay(lines)


def test_replay_needs_a_world():
    with pytest.raises(ValueError, match="no line makes a world"):
        replay("scene = mc.Scene()")


@pytest.mark.slow
def test_a_process_that_dies_is_a_failure(tmp_path, monkeypatch):
    """Its case is read from the log, made short in further processes, and written."""
    module = tmp_path / "sitecustomize.py"
    module.write_text(
        "import os, sys\n"
        "if 'mcsim.fuzz.worker' in ' '.join(sys.orig_argv):\n"
        "    import mcsim.world.world as module\n"
        "    module.World.wake = module.World.set_velocity = lambda *a: os.abort()\n",
        encoding="utf-8",
    )
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), str(ROOT)]))
    monkeypatch.setattr("mcsim.fuzz.campaign.SHRINKING", amount(3.0, 60.0))
    campaign = Campaign(300, 60.0, 3, folder=tmp_path / "out")
    found = campaign.run()
    assert campaign.done == 3 and len(found) == 1
    (failure,) = found.values()
    assert failure.kind.startswith("the process dies") and failure.script.exists()
    assert len(failure.case.calls) < 60


def test_a_log_that_was_cut_off_is_read(tmp_path):
    log = tmp_path / "log"
    told = run_of(3, 20, log)
    case = logged_case(log)
    assert case is not None and case.calls and "outcomes" in told
    log.write_text(log.read_text() + '["step", "w.st', encoding="utf-8")
    assert logged_case(log) == case
    assert logged_case(tmp_path / "none") is None


def test_the_command(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    assert main(["fuzz", "--seed", "0", "--runs", "2", "--operations", "8", "--out", str(tmp_path)]) == 0
    out = capsys.readouterr().out
    assert "runs       2 from seed 0" in out and "failures   0" in out and not list(tmp_path.iterdir())


@pytest.mark.slow
def test_a_minute_finds_nothing(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    code = main(["fuzz", "--seed", "0", "--seconds", "60", "--out", str(tmp_path)])
    assert code == 0, capsys.readouterr().out
