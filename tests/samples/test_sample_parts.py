"""What plays samples and keeps them: expectations, outcomes, names, and the command line."""

import csv
import json
import math

import numpy as np
import pytest

import mcsim as mc
from mcsim.cli import main
from mcsim.samples import Expectation, Play, Sample, find, names, run
from mcsim.samples.registry import sample

ONE = "box3d/stacking/box_stack_40"


def ball(height=1.0):
    scene = mc.Scene()
    scene.add_body("ball", shape=mc.Sphere(0.5), position=(0, 0, height))
    return mc.World(scene)


def of(function, **more):
    return Sample("engine/group/one", "One", "nowhere", function, **more).run()


def test_expectations_can_fail():
    """Numbers, arrays, ranges and truths; not a number is never right."""
    play = Play()
    play.expect("near", 1.0, 1.05, within=0.1, unit="m")
    play.expect("off", [1.0, 3.0, 1.0], 1.0, within=0.5)
    play.expect("lost", [1.0, math.nan], 1.0, within=9.0)
    play.between("inside", [1.0, 2.0], 1.0, 2.0)
    play.between("outside", [1.0, 2.5], 1.0, 2.0)
    play.between("lost", math.nan, -1e9, 1e9)
    play.check("so", np.True_)
    play.check("not so", 0)
    assert [e.ok for e in play.outcome.expectations] == [True, False, False, True, False, False, True, False]
    assert [e.value for e in play.outcome.expectations][1] == 3.0
    assert str(play.outcome.expectations[0]) == "near: 1 m, expected 1.05 ± 0.1"
    assert str(Expectation("speed", 2.0, -math.inf, 1.0, "m/s")) == "speed: 2 m/s, at most 1"
    with pytest.raises(mc.SceneError, match="empty"):
        play.expect("nothing", [], 1.0, within=1.0)


def test_a_sample_that_is_wrong_fails():
    """A wrong height, an open joint, an overlap, nothing expected, a step that cannot be made."""

    def falls(play):
        world = ball()
        play(world, 1.0)
        play.expect("height", world.body("ball").position[2], 1.0, within=0.1)

    def silent(play):
        play(ball(), 0.1)

    def sunk(play):
        world = ball(0.4)
        world.add_body("floor", shape=mc.Plane((0, 0, 1)), kind="static")
        play(world, 1 / 60)
        play.check("there", True)

    def refused(play):
        play.check("there", True)
        raise mc.SimulationError("no step")

    assert not of(falls).ok and "height" in of(falls).line()
    assert of(silent).failures == ["the sample says what should happen: no"]
    assert [f.partition(":")[0] for f in of(sunk).failures] == ["overlap at the end"] and of(sunk, overlap=None).ok
    (told,) = of(refused).failures
    assert told.startswith("SimulationError in test_sample_parts.py, line ") and told.endswith(": no step")


def test_open_joints_fail():
    def soft(play):
        scene = mc.Scene()
        scene.add_body("bob", shape=mc.Sphere(0.1), position=(1, 0, 0), mass=1e4)
        scene.add_joint(mc.BallJoint(None, "bob", (0, 0, 0)))
        play(mc.World(scene, joint_solver="rows", joint_hertz=1.0), 0.5)
        play.check("there", True)

    outcome = of(soft)
    assert [f.partition(":")[0] for f in outcome.failures] == ["worst joint error"]
    assert outcome.joint_error > 1e-5 and of(soft, joint_error=None).ok


def test_steps_are_those_of_the_time():
    """Each is made once; what is done in the loop comes before its step; a world may play twice."""
    play, world = Play(), ball()
    seen = [world.time for _ in play.steps(world, 0.5)]
    assert len(seen) == 30 and seen[0] == 0.0 and world.time == pytest.approx(0.5)
    play(world, 0.5)
    assert world.time == pytest.approx(1.0) and play.outcome.steps == 60 and play.worlds == [world]
    assert play.finish(None, None).bodies == 1


def test_a_recording_has_the_last_bodies():
    """One every thirtieth of a second; it begins anew where a body came."""
    play, world = Play(record=True), ball()
    play(world, 1.0)
    assert len(play.finish(None, None).recording) == 31
    world.add_body("other", shape=mc.Sphere(0.5), position=(3, 0, 1))
    play(world, 0.5)
    outcome = play.finish(None, None)
    assert len(outcome.recording) == 16 and len(outcome.scene.bodies) == 2


def test_names():
    """Of all, an engine, a group, or one; a wrong one is answered by the nearest."""
    assert names() == mc.samples.names() and ONE in names("box3d") and ONE in names("box3d/stacking")
    assert names(ONE) == [ONE] and find(ONE).title == "Box Stack" and find(ONE).group == "box3d/stacking"
    assert mc.samples.engines()["box3d"] == "Box3D"
    with pytest.raises(mc.SceneError, match=r"did you mean 'box3d/stacking'"):
        names("box3d/staking")
    with pytest.raises(mc.SceneError, match="whole name"):
        find("box3d")
    with pytest.raises(mc.SceneError, match="already"):
        sample(ONE, title="Again", source="nowhere")(lambda play: None)
    with pytest.raises(mc.SceneError, match="text"):
        names(3)
    assert run(ONE).name == ONE


# ---- the command line ------------------------------------------------------------------------------------------------


def call(capsys, *arguments):
    code = main(["samples", *map(str, arguments)])
    said = capsys.readouterr()
    return code, said.out, said.err


def test_lists(capsys):
    code, out, _ = call(capsys)
    assert code == 0 and "box_stack_40" in out and f"{len(names())} samples" in out
    code, out, _ = call(capsys, "box3d/stacking")
    assert code == 0 and all(name in out for name in names("box3d/stacking")) and "box3d/shapes" not in out
    code, out, _ = call(capsys, ONE)
    assert code == 0 and "sample_stacking.cpp" in out and "stacking.py" in out
    code, out, _ = call(capsys, "box3d/stacking", "--json")
    assert [one["name"] for one in json.loads(out)] == names("box3d/stacking")


def test_checks(capsys, tmp_path):
    code, out, _ = call(capsys, ONE, "--check", "--csv", tmp_path / "t.csv")
    assert code == 0 and "ok     heights of the boxes" in out
    with (tmp_path / "t.csv").open(encoding="utf-8") as file:
        (row,) = csv.DictReader(file)
    assert row["name"] == ONE and row["ok"] == "True" and row["bodies"] == "41"
    code, out, _ = call(capsys, ONE, "--check", "--json")
    assert json.loads(out)[0]["ok"] is True


def test_a_failure_is_told(capsys, monkeypatch):
    from mcsim.samples import registry

    wrong = Sample(ONE, "Wrong", "nowhere", lambda play: play.check("stands", False))
    monkeypatch.setitem(registry._SAMPLES, ONE, wrong)
    code, out, _ = call(capsys, ONE, "--check")
    assert code == 1 and "failed stands: no" in out
    few = {name: registry._SAMPLES[name] for name in (ONE, "box3d/shapes/restitution_sphere")}
    monkeypatch.setattr(registry, "_SAMPLES", few)
    code, out, _ = call(capsys, "--check")
    assert code == 1 and "stands: no" in out and "1 of 2 are right" in out


def test_pictures(capsys, tmp_path):
    pytest.importorskip("matplotlib")
    code, _, _ = call(capsys, ONE, "--png", tmp_path / "a.png", "--strip", 2)
    assert code == 0 and (tmp_path / "a.png").stat().st_size > 1000


@pytest.mark.parametrize(
    "arguments, words",
    [
        (["box3d", "--png", "a.png"], "whole name"),
        ([ONE, "--csv", "a.csv"], "--check"),
        (["nosuch"], "no sample"),
        ([ONE, "--camera", "top"], "--png"),
        (["box3d", "--view"], "whole name"),
    ],
)
def test_bad_input(arguments, words, capsys):
    code, _, err = call(capsys, *arguments)
    assert code == 2 and words in err
