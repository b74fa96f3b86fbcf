"""What the README promises: its commands, its examples, its tables."""

import contextlib
import inspect
import io
import json
import re
from pathlib import Path

import numpy as np
import pytest

import mcsim as mc
from mcsim.cli import main
from mcsim.scene import schema

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```", README, re.M | re.S)


def test_first_two_shell_blocks_are_the_set_up():
    """One line each, each with its own virtual environment; they end with a run and with the tests."""
    run, tests = (block.splitlines() for block in blocks("sh")[:2])
    assert len(run) == len(tests) == 1
    assert run[0].startswith("python3 -m venv ") and " mcsim run ragdolls" in run[0].replace("bin/mcsim", "bin/ mcsim")
    assert tests[0].startswith("python3 -m venv ") and tests[0].endswith("/pytest")
    assert run[0].split()[3] != tests[0].split()[3]
    assert "`" not in README[:README.index("```sh")].replace("`J M⁻¹ Jᵀ λ = …`", "")


def test_python_example_runs():
    """The pendulum swings and keeps its energy."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(blocks("python")[0], "README.md", "exec"), {})
    energies = [float(line.split()[-2]) for line in out.getvalue().splitlines()]
    angles = [float(line.split()[3]) for line in out.getvalue().splitlines()]
    assert len(energies) == 10 and max(angles) - min(angles) > 1.0
    assert np.ptp(energies) < 1e-2 * abs(np.mean(energies))


def test_scene_example_is_right_and_runs(tmp_path, capsys):
    """The puppet passes `mcsim check`, falls, comes to rest in one piece."""
    text, = blocks("json")
    path = tmp_path / "puppet.json"
    path.write_text(text, encoding="utf-8")
    assert main(["check", str(path)]) == 0
    assert capsys.readouterr().out.startswith("ok:")
    scene = mc.load(path)
    assert [body.name for body in scene.bodies] == [body["name"] for body in json.loads(text)["bodies"]]
    world = mc.World(scene)
    world.step(600)
    assert world.joint_errors()[:, 0].max() < 0.002
    assert np.abs(world.velocities).max() < 0.2 and world.positions[1:, 2].min() > 0.0
    assert world.positions[1:, 2].max() < 1.5


def named(section):
    """What stands in code quotes between two phrases of the README."""
    begin, end = section
    part = README[README.index(begin):]
    return set(re.findall(r"`\"?(\w+)\"?`", part[:part.index(end)]))


def test_tables_name_every_field():
    """Each field that a scene file may have stands in its table."""
    bodies = named(("**A body**", "| `type` of a shape"))
    shapes = named(("| `type` of a shape", "**A joint**"))
    joints = named(("**A joint**", "## Command line"))
    drives = README[README.index("| field of joints that move"):README.index("## Command line")]
    assert set(schema.BodyModel.model_fields) <= bodies
    for model in schema.SHAPE_MODELS:
        assert set(model.model_fields) <= shapes, model
        assert model.model_fields["type"].annotation.__args__[0] in shapes
    for model in schema.JOINT_MODELS:
        assert set(model.model_fields) <= joints, model
        assert model.model_fields["type"].annotation.__args__[0] in joints
    for model in (schema.MotorModel, schema.SpringModel):
        assert all(f'"{field}"' in drives for field in model.model_fields), model
    assert set(schema.MaterialModel.model_fields) <= set(re.findall(r'"(\w+)"', README))


def test_defaults_in_the_tables():
    """The defaults that the README states are those of the classes."""
    material, motor, spring = mc.Material(), mc.Motor(position=0.0), mc.Spring(1.0)
    assert f'{{"friction": {material.friction:g}, "restitution": {material.restitution:g}}}' in README
    assert f'"hertz"` ({motor.hertz:g})' in README and f'"damping_ratio"` ({motor.damping_ratio:g})' in README
    assert f'"damping": {spring.damping:g}, "rest": {spring.rest:g}}}' in README
    assert inspect.signature(mc.Scene.add_body).parameters["collision_mask"].default == -1


def test_counts_and_links():
    """The number of scenes is the number of scenes; every file that the README links to exists."""
    assert f"{len(mc.scenes.SCENES)} ready scenes" in README
    for target in re.findall(r"\]\((?!http|#)([^)#]+)", README):
        assert (ROOT / target).exists(), target
    assert (ROOT / "docs" / "ragdolls.gif").stat().st_size < 300_000
    for name in re.findall(r"`(mcsim/[\w./]+|demos)`", README):
        assert (ROOT / name).exists(), name


@pytest.mark.parametrize("line", blocks("text")[0].splitlines())
def test_command_line_examples_parse(line, tmp_path, monkeypatch):
    """Each line of the command line's table is one that mcsim understands; what it names is made smaller here."""
    monkeypatch.chdir(tmp_path)
    mc.load("pendulum").save("my.json")
    words = re.split(r"  +", line)[0].split()[1:]
    words = [re.sub("^base=.*", "base=3", word) for word in words if word not in ("--gif", "my.gif")]
    if words[0] in ("run", "compare"):
        if "--seconds" in words:
            at = words.index("--seconds")
            del words[at:at + 2]
        words += ["--seconds", "0.02" if words[0] == "run" else "0.2"]
    assert main(words) == 0
