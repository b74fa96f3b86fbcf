"""docs/scene_files.md: its tables name the fields of scene files, every one and no other; its examples are right."""

import inspect
import json
import re

import numpy as np
import pytest

import mcsim as mc
from markdown_pages import ROOT, blocks
from mcsim.scene import schema

PAGE = ROOT / "docs" / "scene_files.md"
pytestmark = pytest.mark.skipif(not PAGE.exists(), reason="the page is not beside the tests")
TEXT = PAGE.read_text(encoding="utf-8") if PAGE.exists() else ""
EXAMPLES = [block.text for block in blocks(TEXT) if block.language == "json"]


def table(head):
    """Rows of the table whose first row begins so: the cells of each."""
    body = TEXT.split(f"\n| {head}")[1].split("\n\n")[0]
    return [[cell.strip() for cell in re.split(r"(?<!\\)\|", line.strip().strip("|"))] for line in body.splitlines()[2:]]


def names(cell):
    return re.findall(r"`\"?(\w+)\"?`", cell)


def fields(head):
    """What stands in the first column of a table."""
    found = [name for row in table(head) for name in names(row[0])]
    assert len(set(found)) == len(found)
    return set(found)


def test_tables_name_every_field_and_no_other():
    for head, model in (
        ("field | meaning", schema.SceneModel),
        ("field of a body", schema.BodyModel),
        ("field of a material", schema.MaterialModel),
        ("field of a motor", schema.MotorModel),
        ("field of a spring", schema.SpringModel),
        ("field of a motion", schema.MotionModel),
    ):
        assert fields(head) == set(model.model_fields), head


@pytest.mark.parametrize(
    "head, models, shared",
    [
        ("`type` of a shape", schema.SHAPE_MODELS, ("field of every shape",)),
        ("`type` of a joint", schema.JOINT_MODELS, ("field of every joint", "field of joints that move")),
    ],
)
@pytest.mark.sampled(1)
def test_tables_of_types(head, models, shared):
    """Each type has a row with its own fields; what most of them have stands in tables of its own."""
    common = set().union(*(fields(table) for table in shared))
    own = {row[0].strip('`"'): set(names(row[1])) for row in table(head)}
    types = {model.model_fields["type"].annotation.__args__[0]: set(model.model_fields) for model in models}
    assert own == {kind: found - common for kind, found in types.items()}
    assert common <= set().union(*types.values())


def test_defaults_are_those_of_the_classes():
    """Where a table gives one as a number."""
    count = 0
    for head, function in (
        ("field of a material", mc.Material),
        ("field of a motor", mc.Motor),
        ("field of a spring", mc.Spring),
        ("field of a motion", mc.Motion),
        ("field of a body", mc.Scene.add_body),
    ):
        defaults = {name: parameter.default for name, parameter in inspect.signature(function).parameters.items()}
        for row in table(head):
            for name in names(row[0]):
                if re.fullmatch(r"[\d.]+", row[2]) and isinstance(defaults[name], float):
                    assert float(row[2]) == defaults[name], name
                    count += 1
    assert count > 10


def test_examples_are_right_and_run(tmp_path):
    assert len(EXAMPLES) >= 7
    for text in EXAMPLES:
        path = tmp_path / f"{json.loads(text)['name']}.json"
        path.write_text(text, encoding="utf-8")
        mc.World(mc.load(path), strict=True).step(30)


def test_the_puppet_falls_and_stays_in_one_piece():
    """It passes `mcsim check`, falls, and comes to rest on the floor."""
    (puppet,) = (scene for scene in map(mc.Scene.from_dict, map(json.loads, EXAMPLES)) if scene.name == "puppet")
    world = mc.World(puppet)
    world.step(600)
    assert world.joint_errors()[:, 0].max() < 0.002
    assert np.abs(world.velocities).max() < 0.2 and 0.0 < world.positions[1:, 2].min()
    assert world.positions[1:, 2].max() < 1.5
