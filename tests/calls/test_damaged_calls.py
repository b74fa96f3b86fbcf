"""Recordings of calls that are damaged, or written by somebody who means ill: a SceneError that names file and line, a
call that is refused, or another hash; nothing runs but calls of the table."""

import json
from pathlib import Path

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

import mcsim as mc
from amounts import amount
from mcsim.calls.values import CLASSES, told, unknown, value_of


@pytest.fixture(scope="module")
def recording(tmp_path_factory):
    """The lines of a file with a call of each form, and a path for damaged ones."""
    folder = tmp_path_factory.mktemp("calls")
    scene = mc.Scene()
    scene.add_body("ground", kind="static", shape=mc.Plane((0, 0, 1)))
    scene.add_body("a", shape=mc.Box((0.1, 0.1, 0.1)), position=(0, 0, 0.5))
    scene.add_body("b", shape=mc.Sphere(0.1), position=(0.5, 0, 0.5))
    scene.add_joint(mc.HingeJoint("a", "b", (0.25, 0, 0.5), (0, 1, 0), name="j"))
    world = mc.World(scene)
    world.step(2)
    world.add_body("c", shape=mc.Sphere(0.1), position=(0, 0, 2))
    with mc.record_calls(folder / "whole", world, each_step=True):
        world.step(3)
        kept = world.snapshot()
        world.set_shape("b", mc.Capsule(0.1, 0.1), density=200.0)
        world.joint("j").set_motor(mc.Motor(velocity=1.0, max_force=float("inf")))
        world.velocities[1] = (0, 0, 1)
        world.restore(kept)
        world.body("a").position = (0, 0, 1)
        with pytest.raises(mc.SceneError):
            world.step(-1)
        world.step()
    return (folder / "whole").read_bytes(), folder / "damaged"


def outcome(recording, content):
    """None where the file was played, whatever it came to, or the error's text. Any other error fails."""
    path = recording[1]
    path.write_bytes(content)
    try:
        told = mc.replay_calls(path)
    except mc.SceneError as error:
        assert str(error).startswith(f"{path}") and "\n" not in str(error)
        return str(error)
    assert str(told).startswith(("equal: ", "differs: "))
    return None


def lines(recording):
    return recording[0].splitlines(keepends=True)


def test_the_whole_file_is_equal(recording):
    recording[1].write_bytes(recording[0])
    told = mc.replay_calls(recording[1])
    assert told.difference is None and told.calls == 7 and told.remarks == []


@pytest.mark.parametrize("part", range(amount(5, 40)))
def test_a_file_that_ends_anywhere(recording, part):
    """What there is of it is equal; a last line that is torn is told of."""
    begins = recording[0].index(b"\n") + 1
    end = begins + (len(recording[0]) - begins - 1) * part // amount(5, 40)
    recording[1].write_bytes(recording[0][:end])
    told = mc.replay_calls(recording[1])
    assert told.difference is None and "was not closed" in " ".join(told.remarks)
    torn = recording[0][end - 1 : end] != b"\n"
    assert ("its last line is cut off" in " ".join(told.remarks)) is torn


WRONG = [
    ('{"mcsim": "calls", "version": 2}', "line 1: version must be 1, got 2"),
    ('{"mcsim": "scene", "version": 1}', "line 1: not a recording of calls"),
    ("[1]", "line 1: must be an object"),
    ("nonsense", "line 1: column 1: not JSON"),
    ("\xff", "line 1: "),
]
WRONG_LINES = [
    ("{}", "has none of make, call"),
    ("[]", "must be an object"),
    ("{", "not JSON"),
    ('{"world": "1", "call": "step", "args": []}', "world must be a number, got 1"),
    ('{"world": 9, "call": "step", "args": []}', "there is no world 9"),
    ('{"world": 1, "call": "__class__", "args": []}', "there is no call '__class__' of a world that changes it"),
    ('{"world": 1, "call": "__setattr__", "args": ["_turn", 1]}', "there is no call"),
    ('{"world": 1, "call": "_restore", "args": []}', "there is no call"),
    ('{"world": 1, "call": "energy", "args": []}', "there is no call"),
    ('{"world": 1, "call": "set_motor", "args": []}', "there is no call 'set_motor' of a world"),
    ('{"world": 1, "call": "step", "args": 3}', "args must be a list"),
    ('{"world": 1, "call": "step", "args": [], "kw": 3}', "kw an object"),
    ('{"world": 1, "call": "step", "args": [{"call": "os.system", "args": ["true"], "kw": {}}]}', "there is no class"),
    ('{"world": 1, "call": "step", "args": [{"call": "mc.Scene", "args": [], "kw": {}}]}', "there is no class"),
    ('{"world": 1, "call": "step", "args": [{"call": "mc.Box", "args": [1], "kw": {}}]}', "takes keywords alone"),
    ('{"world": 1, "call": "step", "args": [{"call": "mc.Box", "args": [], "kw": {"self": 1}}]}', "takes no 'self'"),
    ('{"world": 1, "call": "step", "args": [{"call": "mc.Box", "args": [], "kw": {}}]}', "Box"),
    ('{"world": 1, "call": "step", "args": [{"text": "exit()"}]}', "there is no value"),
    ('{"world": 1, "call": "step", "args": [{"float": "1.5"}]}', "there is no value"),
    ('{"world": 1, "call": "step", "args": [{"empty": [3]}]}', "has no shape"),
    ('{"world": 1, "call": "step", "args": [{"empty": [0, 99999999999]}]}', "has no shape"),
    ('{"world": 1, "call": "step", "args": [{"dict": 1}]}', "dict must be an object"),
    ('{"world": 1, "call": "step", "args": [{"function": "os.getpid"}]}', "which no file holds; give it"),
    ('{"world": 1, "call": "step", "args": [{"opaque": "x"}]}', "which no file holds"),
    ('{"world": 1, "call": "step", "args": [{"function": ["x"]}]}', "which no file holds"),
    ('{"world": 1, "call": "step", "args": [{"function": {}, "opaque": 1}]}', "which no file holds"),
    ('{"world": 1, "call": "restore", "args": [{"snapshot": 7}]}', "there is no snapshot 7 before"),
    ('{"world": 1, "call": "restore", "args": [{"snapshot": "7"}]}', "a snapshot has a number"),
    ('{"world": 1, "call": "restore", "args": [{"snapshot": 7, "arrays": {}}]}', "there is no snapshot here"),
    ('{"world": 1, "set": {}}', "there is no snapshot here"),
    ('{"world": 1, "write": {"scene": [[0], [1]]}}', "write must have"),
    ('{"world": 1, "write": {"masses": [[0], [1]]}}', "write must have"),
    ('{"world": 1, "write": {"velocities": [[0]]}}', "write must have"),
    ('{"world": 1, "write": {"velocities": [[77], [[0, 0, 0]]]}}', "rows of velocities must be numbers from 0 to 3"),
    ('{"world": 1, "write": {"velocities": [[0], [[0, 0]]]}}', "values of velocities must be (1, 3) numbers"),
    ('{"world": 1, "write": {"velocities": [[0], ["abc"]]}}', "values of velocities"),
    ('{"world": 1, "write": {"q": [[0], [0]]}}', "there is no array 'q'"),
    ('{"world": 2, "make": "Scene", "scene": {}, "kw": {}}', "make must be one of World, ReducedWorld"),
    ('{"world": 2, "make": "World", "scene": {"version": 1, "bodies": 3}, "kw": {}}', "bodies must be a list"),
    ('{"world": 2, "make": "World", "scene": {"version": 1}, "kw": {"dt": -1}}', "dt"),
    ('{"world": 2, "make": "World", "scene": {"version": 1}, "kw": {"wings": 2}}', "wings"),
    ('{"world": 2, "make": "World", "scene": {"version": 1}, "exact": [["bodies", 0, "mass", [1]]], "kw": {}}', "exact: "),
    ('{"world": 2, "make": "World", "scene": {"version": 1}, "kw": {}, "notes": [[0, 77, 1.0]]}', "notes must have"),
]


@pytest.mark.parametrize("head, problem", WRONG)
def test_what_does_not_begin_as_one(recording, head, problem):
    rest = b"".join(lines(recording)[1:])
    assert problem in outcome(recording, head.encode("latin-1") + b"\n" + rest)
    assert "it is empty" in outcome(recording, b"")


@pytest.mark.parametrize("line, problem", WRONG_LINES)
def test_lines_that_say_what_cannot_be(recording, line, problem):
    """Each in the place of the second call, with a hash behind it."""
    number = 2 if '"world": 2' in line else 1
    after = f'{{"world": {number}, "hash": "0"}}\n'
    said = outcome(recording, b"".join(lines(recording)[:5]) + line.encode() + b"\n" + after.encode())
    assert said is not None and problem in said and ": line 6: " in said


@pytest.mark.parametrize(
    "order, problem",
    [
        ([0, 2], "there is no call of world 1 that this is the hash after"),
        ([0, 1, 3], "has no hash after its line before"),
        ([0, 1, 2, 1], "there is a world 1 already"),
        ([0, 3], "there is no world 1"),
        ([0, 1, 2, -1, 3], "stands behind the last line"),
    ],
)
def test_lines_in_another_order(recording, order, problem):
    assert problem in outcome(recording, b"".join(lines(recording)[i] for i in order))


@pytest.mark.parametrize("line", ['{"world": 1, "call": "step"}', '{"world": 1, "call": "set_pose", "args": {}, "kw": []}'])
def test_a_call_without_arguments_that_is_the_last_line(recording, line):
    said = outcome(recording, b"".join(lines(recording)[:5]) + line.encode() + b"\n")
    assert "line 6: args must be a list" in said


@given(data=st.data())
@settings(max_examples=amount(25, 600), deadline=None)
def test_bytes_that_are_others(recording, data):
    """Anywhere in the file: cut out, put in, changed."""
    content = bytearray(recording[0])
    for _ in range(data.draw(st.integers(1, 3))):
        place = data.draw(st.integers(0, len(content) - 1))
        length = data.draw(st.integers(0, 6))
        content[place : place + length] = data.draw(
            st.binary(max_size=3) | st.sampled_from([b"null", b"[", b'"', b"}", b"-1"])
        )
    outcome(recording, bytes(content))


def parts(value, path=()):
    yield path
    for key, part in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield from parts(part, (*path, key))


VALUES = st.sampled_from(
    [None, True, 0, -1, 2**70, 1e300, -1e-300, 0.5, "", "a", "World", [], [1], {}, {"x": 1}, [[0, 0, 1]]]
)


@given(data=st.data())
@settings(max_examples=amount(25, 1000), deadline=None)
def test_parts_that_are_others(recording, data):
    """JSON as it should be, with one part of another kind."""
    whole = [json.loads(line) for line in lines(recording)]
    number = data.draw(st.integers(0, len(whole) - 1))
    path = data.draw(st.sampled_from(sorted(parts(whole[number]), key=str)))
    other = data.draw(VALUES)
    if not path:
        whole[number] = other
    else:
        place = whole[number]
        for key in path[:-1]:
            place = place[key]
        place[path[-1]] = other
    outcome(recording, "".join(json.dumps(line) + "\n" for line in whole).encode())


# ---- values ----------------------------------------------------------------------------------------------------------

NUMBERS = st.floats() | st.integers(-(2**70), 2**70) | st.booleans() | st.none() | st.text(max_size=5)
PLAIN = st.recursive(NUMBERS, lambda v: st.lists(v, max_size=3) | st.dictionaries(st.text(max_size=3), v, max_size=3))


@given(PLAIN)
@settings(max_examples=amount(40, 1000), deadline=None)
def test_values_come_back(value):
    """To the bit, through JSON that every reader takes."""
    data = json.loads(json.dumps(told(value, None, lambda value: None), allow_nan=False))
    assert repr(value_of(data, None, {})) == repr(value)
    assert unknown(data) is None


@given(st.lists(st.floats(width=32), max_size=6), st.sampled_from(["f8", "f4", "i4", "u1", "?"]))
@settings(max_examples=amount(25, 300), deadline=None)
def test_arrays_come_back_as_lists(values, dtype):
    with np.errstate(all="ignore"):
        array = np.array(values).astype(dtype)
    back = value_of(json.loads(json.dumps(told(array, None, lambda value: None), allow_nan=False)), None, {})
    assert np.array_equal(np.array(back).astype(dtype), array, equal_nan=dtype.startswith("f"))
    assert value_of(told(np.zeros((0, 3)), None, lambda value: None), None, {}).shape == (0, 3)


OBJECTS = [
    mc.Box((0.1, 0.2, 0.3), position=(1, 0, 0), material=mc.Material(0.3, one_way=(0, 0, 1))),
    mc.Mesh([(0, 0, 0), (1, 0, 0), (0, 1, 0)], [(0, 1, 2)]),
    mc.HeightField(np.arange(6.0).reshape(2, 3) / 7, 0.5),
    mc.HingeJoint("a", None, (0.1, 0, 0), (0, 1, 0), motor=mc.Motor(velocity=1 / 3), limits=(-1, 1 / 7), break_force=3.0),
    mc.FreeJoint("a", "b", spring=[mc.Spring(1.0, 0.1), None, None, None, None, None]),
    mc.SliderJoint("a", None, (1, 0, 0), motion=mc.Motion(amplitude=0.1, frequency=2.0)),
    mc.GearJoint("one", "two", ratio=-1.5, name="gear"),
    mc.LockJoint(None, "b", translation="xz"),
    mc.RigidContact(hertz=30.0, iterations=3),
    mc.Sleep(speed=0.1),
]


@pytest.mark.parametrize("value", OBJECTS, ids=lambda value: type(value).__name__)
def test_objects_come_back(value):
    data = json.loads(json.dumps(told(value, None, lambda value: None), allow_nan=False))
    back = value_of(data, None, {})
    assert type(back) is type(value)
    assert told(back, None, lambda value: None) == told(value, None, lambda value: None)
    assert back.same(value) if hasattr(value, "same") else back == value


def test_every_public_class_of_arguments_is_known():
    """Shapes, joints, drives, choices: what `mc` has of them."""
    choices = [name for name in mc.__all__ if hasattr(getattr(mc, name), "keyword")]
    public = {*mc._SHAPES, *mc._JOINTS, "Material", "Motor", "Spring", "Motion", *choices}
    assert {f"mc.{name}" for name in public} == set(CLASSES)


class Loud:
    def __repr__(self):
        raise RuntimeError("no")


@pytest.mark.parametrize(
    "value", [object(), 1j, b"bytes", {1, 2}, {1: 2}, np.array(["x"], object), Loud(), Path(), 2**9999]
)
def test_what_no_file_holds_is_told(value):
    data = told([value], None, lambda value: None)
    assert unknown(json.loads(json.dumps(data)))["opaque"]
    assert "object" in repr(value_of(data, None, {})[0])
    around: list = []
    around.append(around)
    assert unknown(told(around, None, lambda value: None))
