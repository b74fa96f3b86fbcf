"""URDF files that are wrong, cut off or garbled, and wrong arguments of reading them: what is said of each."""

import random
import re

import hypothesis.strategies as st
import pytest
from hypothesis import given, settings

import mcsim as mc
from amounts import amount
from urdf_robots import ARM, GRIPPER, collision, inertial, joint, link, robot

WRONG = [
    ("", "not XML"),
    ("robot", "line 1: not XML: "),
    ("<robot name='r'>\n<link name='a'>\n</robot>", "line 3: not XML: Opening and ending tag mismatch"),
    ("<mujoco/>", "line 1: not a URDF: it must begin with <robot>, not <mujoco>"),
    ("<robot name='r'/>", "the robot has no link"),
    ("<robot name='r' xmlns:xacro='http://ros.org/wiki/xacro'><xacro:arm/></robot>", "expand its macros first"),
    ("<robot><link name='a'/></robot>", "line 1: robot: name is missing"),
    (robot("<link/>"), "link: name is missing"),
    (robot('<link name=""/>'), "link: name is empty"),
    (robot(link("a"), link("a")), "line 4: link 'a': the name is taken by another link, in line 3"),
    (robot(link("a"), link("b"), joint("j", "fixed", "a", "b"), joint("j", "fixed", "a", "b")), "joint 'j': the name is"),
    (
        robot(link("a"), joint("j", "fixed", "a", "arm"), link("arms")),
        "line 4: joint 'j': there is no link 'arm', its child; did you mean 'arms'?; the links are: a, arms",
    ),
    (robot(link("a"), joint("j", "fixed", "x", "a")), "there is no link 'x', its parent"),
    (robot(link("a"), joint("j", "fixed", "a", "a")), "joins link 'a' to itself"),
    (robot(link("a"), link("b")), "line 4: link 'b': has no parent, and neither has a; join them"),
    (
        robot(link("a"), link("b"), link("c"), joint("j", "fixed", "a", "c"), joint("k", "fixed", "b", "c")),
        "line 7: joint 'k': link 'c' is the child of joint 'j' already, and links must form a tree",
    ),
    (robot(link("a"), link("b"), joint("j", "fixed", "a", "b"), joint("k", "fixed", "b", "a")), "closes a cycle of links"),
    (
        robot(
            link("o"),
            link("a"),
            link("b"),
            link("c"),
            joint("j", "fixed", "a", "b"),
            joint("k", "fixed", "b", "a"),
            joint("l", "fixed", "b", "c"),
        ),
        "closes a cycle of links without a root: ",
    ),
    (robot(link("a"), link("b"), joint("j", "hinge", "a", "b")), "joint 'j': type must be one of: revolute, continuous"),
    (robot(link("a"), link("b"), '<joint name="j" type="fixed"><parent link="a"/></joint>'), "joint 'j': has no <child>"),
    (robot(link("a"), link("b"), joint("j", "revolute", "a", "b", axis="0 0 0")), "joint 'j': its axis is zero"),
    (
        robot(link("a"), link("b"), joint("j", "revolute", "a", "b", axis="0 1")),
        "xyz of <axis> must be 3 numbers, got '0 1'",
    ),
    (
        robot(link("a"), link("b"), joint("j", "revolute", "a", "b", limit=None)),
        "a revolute joint needs <limit>; if it has none, make it continuous",
    ),
    (robot(link("a"), link("b"), joint("j", "prismatic", "a", "b", limit=None)), 'lower="-inf"'),
    (
        robot(link("a"), link("b"), joint("j", "revolute", "a", "b", limit='lower="1" upper="-1"')),
        "line 5: joint 'j': limits are reversed: the lower, 1, is",
    ),
    (
        robot(link("a"), link("b"), joint("j", "revolute", "a", "b", limit='lower="nan" upper="1"')),
        "lower of <limit> must be",
    ),
    (
        robot(link("a"), link("b"), joint("j", "revolute", "a", "b", limit='lower="inf" upper="inf"')),
        "joint 'j': limits leave no room",
    ),
    (
        robot(link("a"), link("b"), joint("j", "revolute", "a", "b", extra='<dynamics damping="-1"/>')),
        "at least 0, got '-1'",
    ),
    (robot(link("a"), link("b"), joint("j", "revolute", "a", "b", extra="<dynamics/><dynamics/>")), "a second <dynamics>"),
    (robot(link("a"), link("b"), joint("j", "fixed", "a", "b", xyz="${x} 0 0")), "expand the xacro file first"),
    (robot(link("a"), link("b"), joint("j", "fixed", "a", "b", xyz="inf 0 0")), "xyz of <origin> must be 3 numbers"),
    (robot(link("a", mass=-1)), "link 'a': value of <mass> must be at least 0, got '-1'"),
    (robot(link("a", mass=1e200)), "value of <mass> must be below 1e+60 in size, got '1e+200'"),
    (robot(link("a", mass=1e-200)), "mass comes to 1e-200, out of"),
    (robot(link("a", "<inertial><mass value='1'/></inertial>", mass=None)), "link 'a': <inertial> has no <inertia>"),
    (robot(link("a", "<inertial><origin/></inertial>", mass=None)), "link 'a': has no <mass>"),
    (robot(link("a", "<inertial><mass/></inertial>", mass=None)), "link 'a': <mass>: value is missing"),
    (robot(link("a", inertial())), "a second <inertial>"),
    (
        robot(link("a", collision("<cone/>"))),
        "needs <geometry> with one of: box, cylinder, sphere, capsule, mesh; got <cone>",
    ),
    (robot(link("a", collision(""))), "got nothing"),
    (robot(link("a", collision('<box size="1 0 1"/>'))), "size of <box> must be positive, got '1 0 1'"),
    (robot(link("a", collision('<box size="1 1"/>'))), "size of <box> must be 3 numbers"),
    (robot(link("a", collision('<cylinder radius="1"/>'))), "<cylinder>: length is missing"),
    (
        GRIPPER.replace('"open" multiplier', '"opne" multiplier'),
        "joint 'follow': mimics 'opne', which is no joint of the file; did you mean 'open'?",
    ),
    (GRIPPER.replace('multiplier="-3"', 'multiplier="0"'), "joint 'bend': mimics with the multiplier 0"),
    (GRIPPER.replace('mimic joint="open"', 'mimic joint="bend"'), "mimics itself, by way of"),
    (
        robot(
            link("a"),
            link("b"),
            link("c"),
            joint("j", "floating", "a", "b"),
            joint("k", "continuous", "b", "c", extra='<mimic joint="j"/>'),
        ),
        "mimics 'j', a floating joint, which has no single",
    ),
]


@pytest.mark.parametrize("text, words", WRONG, ids=[words[-40:] for _, words in WRONG])
def test_wrong_files(write, text, words):
    """One line: the file, where there is one the line, the link or joint, what is wrong."""
    with pytest.raises(mc.SceneError) as caught:
        mc.load(write(text))
    message = str(caught.value)
    assert words in message and "robot.urdf: " in message and "\n" not in message


def test_no_file(tmp_path):
    with pytest.raises(FileNotFoundError, match="no such URDF file"):
        mc.load(tmp_path / "gone.urdf")
    (tmp_path / "folder.urdf").mkdir()
    with pytest.raises(mc.SceneError, match="is a folder"):
        mc.load(tmp_path / "folder.urdf")


def survives(path):
    """A file loads, or is refused with one line."""
    try:
        mc.load(path, meshes="none")
    except mc.SceneError as error:
        assert str(error).startswith(str(path)) and "\n" not in str(error)


@pytest.mark.filterwarnings("ignore::mcsim.io.UrdfWarning")
def test_truncated_files(write):
    for text in (ARM, GRIPPER):
        for end in range(0, len(text), 7):
            survives(write(text[:end]))


@pytest.mark.filterwarnings("ignore::mcsim.io.UrdfWarning")
def test_garbled_files(tmp_path):
    """Bytes changed, tokens swapped, numbers replaced by odd ones, elements dropped or doubled."""
    chance = random.Random(5)
    odd = ["0", "-1", "1e400", "nan", "-inf", "1e308", "1e-320", "", "x", "1 2", "0x1", "1_0", "\u0661", "&amp;"]
    path = tmp_path / "robot.urdf"
    for _ in range(amount(200, 600)):
        text = chance.choice((ARM, GRIPPER))
        for _ in range(chance.randrange(1, 4)):
            kind = chance.randrange(5)
            values = list(re.finditer(r'"[^"]*"', text))
            if kind == 0:
                at = chance.choice(values)
                text = text[: at.start()] + f'"{chance.choice(odd)}"' + text[at.end() :]
            elif kind == 1:
                at, other = chance.choice(values), chance.choice(values)
                text = text[: at.start()] + other.group() + text[at.end() :]
            elif kind == 2:
                at = chance.choice(list(re.finditer(r"<[^>?]*/>", text)))
                text = text[: at.start()] + at.group() * chance.choice((0, 2)) + text[at.end() :]
            elif kind == 3:
                at = chance.randrange(len(text))
                text = text[:at] + chr(chance.randrange(1, 300)) + text[at + chance.randrange(3) :]
            else:
                words = sorted(set(re.findall(r"\w{3,}", text)))
                text = text.replace(chance.choice(words), chance.choice(words), chance.choice((1, -1)))
        path.write_bytes(text.encode("utf-8"))
        survives(path)


@given(st.binary(max_size=200))
@settings(max_examples=amount(16, 50))
def test_any_bytes(tmp_path_factory, content):
    path = tmp_path_factory.getbasetemp() / "bytes.urdf"
    path.write_bytes(content)
    survives(path)


@pytest.mark.parametrize(
    "arguments, words",
    [
        ({"bas": "fixed"}, ["there is no parameter 'bas'; did you mean 'base'?", "base=floating, inertia=warn"]),
        ({"base": "flying"}, ["base must be one of: floating, free_joint, fixed; got 'flying'"]),
        ({"inertia": True}, ["inertia must be one of: warn, strict"]),
        ({"merge_fixed": "perhaps"}, ["merge_fixed must be True or False"]),
        ({"self_collision": 1}, ["self_collision must be True or False"]),
        ({"ignore_overlaps": 1}, ["ignore_overlaps must be True or False"]),
        ({"motors": "torque"}, ["motors must be one of: none, position, velocity"]),
        ({"meshes": "all"}, ["meshes must be one of: required, found, none"]),
        ({"position": (0, 0)}, ["position must be 3 numbers"]),
        ({"position": "up"}, ["position must be 3 numbers"]),
        ({"orientation": (1, 1, 0, 0)}, ["orientation must be a unit quaternion"]),
        ({"hull_vertices": 4}, ["hull_vertices must be a whole number in [8, 256], got 4"]),
        ({"hull_vertices": "many"}, ["hull_vertices must be a whole number"]),
        ({"packages": {"a": "/no/such/folder"}}, ["packages['a'] must be a folder that exists"]),
        ({"packages": "folder"}, ["packages must be name=folder"]),
        ({"packages": 3}, ["packages must be a dict of name -> folder"]),
        ({"joint_positions": 3}, ["joint_positions must be a dict of joint -> position"]),
        ({"joint_positions": {"shuolder": 1}}, ["cannot place 'shuolder'; did you mean 'shoulder'", "are: shoulder, rail"]),
        ({"joint_positions": {"weld": 1}}, ["cannot place 'weld'"]),
        ({"joint_positions": {"rail": "far"}}, ["joint_positions['rail'] must be a number"]),
    ],
)
def test_wrong_arguments(write, arguments, words):
    with pytest.raises(mc.SceneError) as caught:
        mc.load(write(ARM), **arguments)
    for word in ("robot.urdf: ", *words):
        assert word in str(caught.value)
