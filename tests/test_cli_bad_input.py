"""The command line's answers to bad input: one line and exit code 2, and nothing written."""

import json
import os
import sys

import numpy as np
import pytest

import mcsim as mc
from command_line import HAND_WRITTEN, call
from mcsim.io import Recording


@pytest.fixture(autouse=True)
def in_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


WRONG = [
    (["walk"], "No such command 'walk'"),
    (["run"], "Missing argument 'SCENE'"),
    (["run", "ragdols"], "did you mean 'ragdolls'"),
    (["run", "missing.json"], "missing.json"),
    (["run", "robot.urdf"], "no such URDF file: robot.urdf"),
    (["run", "model.xml"], "no such MJCF file: model.xml"),
    (["run", "broken.json"], "broken.json: line 1, column 2"),
    (["run", "wrong.json"], "wrong.json: bodies[0]"),
    (["run", "folder.json"], "folder.json: is a folder"),
    (["run", "one", "--fast"], "No such option: --fast"),
    (["run", "one", "two"], "unexpected extra argument"),
    (["run", "one", "--seconds", "soon"], "'soon' is not a number"),
    (["run", "one", "--seconds", "-1"], "'-1' is not positive"),
    (["run", "one", "--seconds", "nan"], "'nan' is not finite"),
    (["run", "one", "--seconds", "1e400"], "'1e400' is not finite"),
    (["run", "one", "--seconds", "1e12", "--out", "a.npz"], "GiB"),
    (["run", "one", "--seconds", "1e300"], "steps"),
    (["run", "one", "--dt", "1e-320"], "divided by"),
    (["run", "one", "--dt", "1/0"], "'1/0' is not a number"),
    (["run", "one", "--dt", "1/2/3"], "'1/2/3' is not a number"),
    (["run", "one", "--dt", "0"], "'0' is not positive"),
    (["run", "one", "--fps", "0"], "'0' is not positive"),
    (["run", "one", "--substeps", "0"], "substeps must be from 1"),
    (["run", "one", "--substeps", "2.5"], "--substeps"),
    (["run", "one", "--solver", "magic"], "solver must be one of"),
    (["run", "one", "--integrator", "rk5"], "integrator must be one of: semi_implicit, rk4, rattle, variational"),
    (["run", "one", "--coordinates", "polar"], "must be one of maximal, reduced"),
    (["run", "one", "--coordinates", "reduced", "--stabilization", "ggl"], "none, baumgarte, soft"),
    (["run", "one", "--stabilization", "tape"], "stabilization must be one of: none, baumgarte, soft"),
    (["run", "one", "--friction", "glue"], "friction must be one of"),
    (["run", "one", "--friction-points", "all"], "--friction-points must be one of"),
    (["run", "one", "--iterations", "-3"], "iterations must be from 1"),
    (["run", "one", "--baumgarte", "2"], "baumgarte must be in [0, 1]"),
    (["run", "one", "--slop", "-1"], "slop must not be negative"),
    (["run", "one", "--hertz", "nan"], "'nan' is not finite"),
    (["run", "pyramid", "--set", "base"], "--set wants NAME=VALUE"),
    (["run", "pyramid", "--set", "=3"], "--set wants NAME=VALUE"),
    (["run", "pyramid", "--set", "base=3", "--set", "base=4"], "gives base twice"),
    (["run", "pyramid", "--set", "bass=3"], "scene pyramid: there is no parameter 'bass'; did you mean 'base'?"),
    (["run", "chain", "--set", "nosuch=3"], "scene chain: there is no parameter 'nosuch'; the parameters are: count=100"),
    (["run", "chain", "--set", "n=3", "--set", "count=3"], "count is given twice, the other time by its former name n"),
    (["run", "one", "--seconds", "0"], "'0' is not positive"),
    (["run", "one", "--strip", "3"], "--strip 3 does nothing without --png"),
    (["run", "one", "--speed", "2"], "--speed 2 does nothing without --gif"),
    (["run", "one", "--csv", "a.txt"], "--csv a.txt: must end in .csv"),
    (["run", "rec.npz"], "rec.npz: is a recording, not a scene: mcsim play rec.npz shows it"),
    (["compare", "rec.npz"], "rec.npz: is a recording, not a scene"),
    (["solvers", "rec.npz"], "rec.npz: is a recording, not a scene"),
    (["run", "arrays.npz"], "arrays.npz: is a file of arrays"),
    (["check", "arrays.npz"], "arrays.npz: is a file of arrays"),
    (["run", "program.py"], "program.py: is a Python program: run it by python program.py"),
    (["check", "program.py"], "program.py: is a Python program"),
    (["run", "picture.PNG"], "picture.PNG: is a picture"),
    (["run", "folder"], "folder: is a folder; a scene is a name"),
    (["run", "readme"], "readme: is a file without .json, .urdf or .xml at its end"),
    (["run", "right"], "there is no scene 'right'; did you mean right.json?"),
    (["run", "one", "--impacts", "sequential"], "--impacts is not read with --contact rigid"),
    (["run", "one", "--impacts", "sequential"], "or take --contact event"),
    (["run", "one", "--compliant-law", "linear"], "or take --contact compliant"),
    (["run", "one", "--baumgarte", "0.1"], "or take --stabilization baumgarte or --stabilization split_impulse"),
    (["run", "one", "--stabilization", "none", "--hertz", "3"], "--hertz is not read with"),
    (["run", "one", "--solver", "admm", "--friction", "pyramid"], "or take --solver si or --solver pgs"),
    (["run", "one", "--contact", "event", "--sleep"], "--sleep is not read with --contact event"),
    (["run", "one", "--contact", "event", "--iterations", "3"], "--iterations is not read with --contact event"),
    (["run", "one", "--contact-model", "ccp"], "error: --contact-model goes with a solver of the laboratory"),
    (["run", "one", "--contact-model", "ccp"], "pass --solver one of admm"),
    (["run", "one", "--solver", "pgs", "--integrator", "rattle"], "--solver pgs does not go with --integrator rattle"),
    (["solvers", "problem.npz", "--dt", "0.1"], "--dt is of a scene that runs first; problem.npz is a file of a problem"),
    (["solvers", "problem.npz", "--set", "a=1"], "--set is of a scene that runs first"),
    (["run", "problem.npz"], "is a contact problem, not a scene: mcsim solvers problem.npz solves it"),
    (["solvers", "missing.npz"], "missing.npz"),
    (["check", "rec.npz", "--set", "a=1"], "--set is of reading a robot"),
    (["compare", "chain", "--seconds", "1e9"], "error: --dt of"),
    (["run", "pyramid", "--set", "base=-3"], "scene pyramid: base must be in [1, 300]"),
    (["run", "right.json", "--set", "base=3"], "takes no parameters"),
    (["run", "one", "--out", "rec.txt"], "--out rec.txt: must end in .npz"),
    (["run", "one", "--png", "end.jpeg"], "--png end.jpeg: must end in .png"),
    (["run", "one", "--gif", "film"], "--gif film: must end in .gif"),
    (["run", "one", "--out", "no/where/rec.npz"], "there is no folder no/where"),
    (["run", "one", "--out", "folder.npz"], "is a folder"),
    (["run", "one", "--strip", "0", "--png", "a.png"], "--strip"),
    (["compare"], "Missing argument 'SCENE'"),
    (["compare", "--suite", "mechanism"], "--suite must be one of: mechanisms; got 'mechanism'"),
    (["compare", "--suite", "mechanisms", "--seconds", "3"], "--seconds does not go with --suite"),
    (["compare", "--suite", "mechanisms", "--plot", "a.png"], "--plot does not go with --suite"),
    (["compare", "--suite", "mechanisms", "--set", "a=1"], "--set does not go with --suite"),
    (["compare", "--suite", "mechanisms", "--dt", "0.1,0.2"], "--dt with --suite is one step, not several"),
    (["compare", "--suite", "mechanisms", "--dt", "0.3"], "--dt of 0.3 s does not divide 2.5 s"),
    (["compare", "--suite", "mechanisms", "--csv", "a.txt"], "--csv a.txt: must end in .csv"),
    (["compare", "--suite", "mechanisms", "pendulum"], "there is no method 'pendulum'"),
    (["compare", "pendulum", "--quick"], "--quick does nothing without --suite"),
    (["compare", "pendulums"], "did you mean 'pendulum'"),
    (["compare", "pendulum", "maximal:si+softt"], "did you mean 'soft'?; those of maximal are: none, baumgarte"),
    (["compare", "pendulum", "reduced"], "reduced:<algorithm>"),
    (["compare", "pendulum", "maximal:si+ggl@rattle"], "'ggl' does not go with integrator='rattle'"),
    (["compare", "pendulum", "--dt", "1/60,0"], "'0' is not positive"),
    (["compare", "pendulum", "--dt", "1/60,"], "'' is not a number"),
    (["compare", "pendulum", "--dt", "0.1,0.1"], "dt has a step twice"),
    (["compare", "pendulum", "--reference", "best"], "no method 'best'"),
    (["compare", "pendulum", "--set", "lenght=2"], "did you mean 'length'"),
    (["compare", "pendulum", "--plot", "out.jpg"], "--plot out.jpg: must end in .png or .pdf or .svg"),
    (["compare", "pendulum", "--kind", "space", "--plot", "a.png"], "'space' is not one of time, residuals, convergence"),
    (["compare", "pendulum", "--kind", "work"], "--kind work does nothing without --plot"),
    (["compare", "pendulum", "--kind", "convergence", "--plot", "a.png"], "--kind convergence needs several steps"),
    (["compare", "pendulum", "--format", "html"], "'html' is not one of text, markdown, latex"),
    (["compare", "pendulum", "--series", "out.txt"], "--series out.txt: must end in .csv"),
    (["compare", "pendulum", "--save", "out.txt"], "--save out.txt: must end in .npz"),
    (["compare", "pendulum", "--csv", "no/where/out.csv"], "there is no folder no/where"),
    (["scenes", "ragdols"], "did you mean 'ragdolls'"),
    (["check"], "Missing argument 'FILE'"),
    (["check", "missing.json"], "missing.json"),
    (["check", "broken.json"], "broken.json: line 1"),
    (["check", "wrong.json"], "wrong.json: bodies[0]"),
    (["check", "pendulum"], "pendulum: is a ready scene, not a file: mcsim scenes pendulum"),
    (["--verbose"], "No such option: --verbose"),
]


@pytest.mark.parametrize("arguments, words", WRONG, ids=[" ".join(a) for a, _ in WRONG])
def test_bad_input(arguments, words, capsys, tmp_path):
    (tmp_path / "broken.json").write_text("{version: 1}")
    (tmp_path / "wrong.json").write_text('{"version": 1, "bodies": [{"name": "a", "mass": -1}]}')
    (tmp_path / "right.json").write_text(json.dumps(HAND_WRITTEN))
    for name in ("folder.npz", "folder.json", "folder"):
        (tmp_path / name).mkdir()
    for name in ("program.py", "picture.PNG", "readme"):
        (tmp_path / name).write_text("print(1)")
    if any(".npz" in argument for argument in arguments):
        world = mc.World(mc.scenes.one())
        mc.io.Recorder(world).recording().save("rec.npz")
        np.savez("arrays.npz", numbers=np.ones(3))
        world.step()
        world.problem().save("problem.npz")
    before = sorted(os.listdir(tmp_path))
    code, out, err = call(capsys, *arguments)
    assert code == 2 and out == ""
    assert err.startswith("error: ") and err.count("\n") == 1 and words in err
    assert sorted(os.listdir(tmp_path)) == before  # nothing was written


def test_unwritable_folder(capsys, tmp_path):
    (tmp_path / "locked").mkdir(mode=0o500)
    if os.access(tmp_path / "locked", os.W_OK):
        pytest.skip("this user may write anywhere")
    code, _, err = call(capsys, "run", "one", "--out", "locked/rec.npz")
    assert code == 2 and "cannot be written to" in err


def test_missing_matplotlib(capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    code, out, err = call(capsys, "run", "one", "--png", "end.png")
    assert code == 2 and out == "" and err == "error: pictures need Matplotlib: pip install 'mcsim-physics[plot]'\n"


def test_a_failed_run(capsys, monkeypatch):
    """Exit code 1, the reason in the summary, and what was recorded until then."""

    class Failing(mc.World):
        def step(self, n=1):
            if self.time > 0.4:
                raise mc.SimulationError("step 25: the state of body 'cube'\nis not finite")
            super().step(n)

    monkeypatch.setattr("mcsim.world.World", Failing)
    code, out, err = call(capsys, "run", "one", "--seconds", 1, "--out", "rec.npz")
    assert code == 1
    assert err == "error: step 25: the state of body 'cube' is not finite\n"
    assert "stopped          at 0.433333 s of 1 s: failed" in out
    assert Recording.load("rec.npz").time[-1] == pytest.approx(26 / 60)
