"""Hostile scenes, models and studies, which are text: name -> what makes the text of one, and the words of its message."""

import json
import math

from good_files import ARM, MODEL, STUDY, changed, scene, stl

MANY = 5_000_000
ROUND = [[round(math.cos(k * 2.4), 6), round(math.sin(k * 2.4), 6), k / 15_000 - 1] for k in range(30_000)]


def scene_with(*way, value):
    """The text of a good scene with another value at a place of it."""
    data = at = scene().to_dict()
    for key in way[:-1]:
        at = at[key]
    at[way[-1]] = value
    return json.dumps(data)


def sphere(**fields):
    return shaped(**{"type": "sphere", "radius": 0.1} | fields)


def body(**fields):
    return json.dumps({"version": 1, "bodies": [{"name": "ball", "mass": 1, "inertia": [1, 1, 1]} | fields]})


def shaped(**shape):
    return json.dumps({"version": 1, "bodies": [{"name": "ball", "shapes": [shape]}]})


def still(**shape):
    return json.dumps({"version": 1, "bodies": [{"name": "ball", "kind": "static", "shapes": [shape]}]})


def joint(**fields):
    one = {"name": "ball", "mass": 1, "inertia": [1, 1, 1]}
    made = {"type": "hinge", "a": None, "b": "ball", "anchor": [0, 0, 0], "axis": [0, 0, 1]} | fields
    return json.dumps({"version": 1, "bodies": [one], "joints": [made]})


def nested(depth, begin, end, inside="1"):
    return begin * depth + inside + end * depth


# Of any JSON file: name -> (text, words).
JSON = {
    "nothing": ("", "not JSON: Expecting value"),
    "bytes that are no text": (b"\xff\xfe\x00{\x80", "not text in UTF-8"),
    "zero bytes": (bytes(1000), "not JSON"),
    "lists within lists": (nested(100_000, "[", "]"), "nested too deeply, in more than 100"),
    "lists that never end": ("[" * 1_000_000, "nested too deeply"),
    "objects within objects": (nested(100_000, '{"a":', "}"), "nested too deeply"),
    "as deep as strings hide": (
        '{"name": "\\"' + "[" * 200 + '", "x": ' + nested(150, "[", "]") + "}",
        "nested too deeply",
    ),
    "a number of 10,000 digits": ("1" * 10_000, "Exceeds the limit|not JSON"),
    "a number of a million digits": ('{"version": 1' + "0" * 1_000_000 + "}", "Exceeds the limit|not JSON|version"),
    "a field twice": ('{"version": 1, "version": 1}', "field 'version' stands twice"),
    "a million strings that never end": ('"' + '\\"' * 1_000_000, "not JSON: Unterminated string"),
    "five million numbers": (
        "[" + "0," * MANY + "0]",
        "5 million values are in it; at most 4 million are read.*MCSIM_LARGE",
    ),
    "five million lists": ("[" + "[]," * (MANY // 2) + "[]]", "5 million values are in it; at most 4 million are read"),
    "70 MB of spaces": (" " * 70_000_000, "70 million bytes are in it; at most 64 million are read"),
    "a list": ("[1, 2]", "must be an object|is missing"),
    "null": ("null", "must be an object|is missing"),
    "an empty object": ("{}", "version is missing"),
    "JSON of another sort": ('{"version": 1, "dependencies": {"left-pad": "^1"}}', "unknown field|is missing"),
    "code": ("__import__('os').system('true')", "not JSON"),
    "a pickle": (b"\x80\x04\x95\x0f\x00\x00\x00\x00\x00\x00\x00\x8c\x02os.", "not JSON"),
    "an archive": (b"PK\x03\x04" + bytes(100), "not JSON"),
    "gzip": (b"\x1f\x8b\x08\x00" + bytes(100), "not JSON"),
}

SCENES = {
    "a version of tomorrow": (scene_with("version", value=10**400), "version must be 1"),
    "a version that is true": (scene_with("version", value=True), "version must be 1"),
    "gravity that is infinite": ('{"version": 1, "gravity": [0, 0, 1e400]}', r"gravity\[2\] must be finite"),
    "gravity that is NaN": ('{"version": 1, "gravity": [NaN, 0, 0]}', r"gravity\[0\] must be finite"),
    "gravity of millions": (
        '{"version": 1, "gravity": [' + "0," * 1_000_000 + "0]}",
        "gravity must be 3 numbers, got 1000001",
    ),
    "gravity of words": ('{"version": 1, "gravity": [' + '"x",' * 1_000_000 + "0]}", r"gravity\[0\] must be a number"),
    "a million wrong bodies": ('{"version": 1, "bodies": [' + "1," * 1_000_000 + "1]}", r"bodies\[0\] must be an object"),
    "a radius of 1e300": (sphere(radius=1e300), "ball.*radius|radius|mass"),
    "a radius of 1e-300": (sphere(radius=1e-300), "radius|mass"),
    "a radius below zero": (sphere(radius=-1), "radius must be positive"),
    "a radius of 10^400": (sphere(radius=10**400), "radius must be (finite|a number)"),
    "a density of 1e308": (sphere(density=1e308), "mass|density"),
    "a quaternion of zeros": (body(orientation=[0, 0, 0, 0]), "must be a unit quaternion"),
    "a quaternion of 1e200": (body(orientation=[1e200, 0, 0, 0]), "must be a unit quaternion"),
    "a mass of 1e-300": (body(mass=1e-300), "mass"),
    "a mass of 1e300": (body(mass=1e300), "mass"),
    "an inertia that no solid has": (body(inertia=[1, 1, 100]), "inertia"),
    "an inertia of minus": (body(inertia=[-1, 1, 1]), "inertia"),
    "a group beyond 32 bits": (body(collision_group=2**70), "collision_group"),
    "a name that is a number": (body(name=5), "name must be a string"),
    "half a character for a name": (body(name="\ud800"), "half a character"),
    "a name twice": (
        json.dumps({"version": 1, "bodies": [{"name": "a", "kind": "static"}] * 2}),
        "name",
    ),
    "a name of ten megabytes": (body(name="n" * 10_000_000, mass=-1), "name must have at most 1000 characters"),
    "a field that there is not": (body(exec="import os"), "unknown field 'exec'"),
    "a shape that there is not": (sphere(type="teapot"), "type must be one of"),
    "a shape without a type": ('{"version": 1, "bodies": [{"shapes": [{}]}]}', "type must be one of"),
    "user data": (body(user_data={"py/object": "os.system"}), "unknown field 'user_data'"),
    "a mesh whose corners are not there": (
        still(type="mesh", vertices=[[0, 0, 0], [1, 0, 0], [0, 1, 0]], faces=[[0, 1, 2**40]]),
        r"faces\[0\] names vertex 1099511627776",
    ),
    "a mesh of corners below zero": (
        still(type="mesh", vertices=[[0, 0, 0], [1, 0, 0], [0, 1, 0]], faces=[[0, 1, -1]]),
        r"faces\[0\] names vertex -1",
    ),
    "a mesh without a face": (still(type="mesh", vertices=[[0, 0, 0]], faces=[]), "faces must be at least one"),
    "a mesh of vast corners": (
        still(type="mesh", vertices=[[0, 0, 0], [1e300, 0, 0], [0, 1e300, 0]], faces=[[0, 1, 2]]),
        "vertices|corners|far|faces",
    ),
    "a height field of one": (still(type="height_field", heights=[[1]], spacing=1), "heights must be at least 2 by 2"),
    "a height field that is ragged": (still(type="height_field", heights=[[1, 2], [3]], spacing=1), "heights"),
    "a height field of no spacing": (still(type="height_field", heights=[[1, 2], [3, 4]], spacing=0), "spacing"),
    "a height field of 1e300": (still(type="height_field", heights=[[1, 2], [3, 1e300]], spacing=1), "heights"),
    "a hull that is flat": (shaped(type="hull", points=[[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]]), "flat"),
    "a hull of one point": (
        shaped(type="hull", points=[[0, 0, 0]] * 5),
        "points|flat|hull",
    ),
    "a hull of 1e-200": (
        shaped(type="hull", points=[[0, 0, 0], [1e-200, 0, 0], [0, 1e-200, 0], [0, 0, 1e-200]]),
        "points|flat|so small",
    ),
    "a hull of 30,000 corners": (shaped(type="hull", points=ROUND), "points|vertices|hull"),
    "a joint to a body that there is not": (joint(b="nobody"), "nobody"),
    "a joint of a body with itself": (joint(a="ball"), "ball"),
    "a joint of another sort": (joint(type="teleport"), "type must be one of"),
    "a joint without an axis": (joint(axis=[0, 0, 0]), "axis must not be zero"),
    "a joint of an axis of 1e-200": (joint(axis=[1e-200, 0, 0]), "axis must not be zero"),
    "limits that are reversed": (joint(limits=[1, -1]), "limits are reversed"),
    "limits of three": (joint(limits=[1, 2, 3]), "limits must be a pair"),
    "a motor of 1e308": (joint(motor={"velocity": 1e308, "max_force": -1}), "max_force|velocity"),
    "a spring below zero": (joint(spring={"stiffness": -1}), "stiffness"),
    "a function in a joint": (joint(type="user", residual="lambda: 0"), "type must be one of"),
    "a gear of joints that there are not": (
        joint(type="gear", joint_a="x", joint_b="y", ratio=2, anchor=None, axis=None),
        "unknown field|there is no|joint",
    ),
    "pairs of three": (scene_with("ignored_pairs", value=[["a", "b", "c"]]), "names of two bodies"),
    "pairs of bodies that there are not": (scene_with("ignored_pairs", value=[["x", "y"]]), "x"),
}

TREE = "is missing; write it by System.save"
SYSTEMS = {
    "a scene": (json.dumps(scene().to_dict()), TREE),
    "another version": (
        '{"version": [[[]]], "scene": {}, "tree": [], "roots": [], "ball": {}, "nq": 0, "nv": 0, '
        '"links": [], "loops": [], "couplings": []}',
        "version must be 1",
    ),
}

# ---- studies -----------------------------------------------------------------------------------------------------------

STUDIES = {
    "nothing": ("", "scene is missing"),
    "bytes that are no text": (b"\xff\xfe\x00", "not text in UTF-8"),
    "no TOML": ("scene == 3", "not TOML"),
    "a field twice": ('scene = "a"\nscene = "b"\n', "not TOML"),
    "lists within lists": (f'scene = "pendulum"\n[grid]\nx = {nested(5000, "[", "]")}\n', "not TOML|nested"),
    "tables within tables": ("[" + ".".join(["a"] * 20_000) + "]\n", "not TOML|there is no|nested"),
    "a number of 10,000 digits": ('scene = "pendulum"\ndt = 1' + "0" * 10_000 + "\n", "not TOML|dt"),
    "more than a megabyte": ("# " + "x" * 2_000_000, "2 million bytes are in it; at most 1 million are read"),
    "a field that there is not": ('scene = "pendulum"\nexec = "rm"\n', "there is no 'exec'"),
    "a scene of a name of a megabyte": ('scene = "' + "s" * 900_000 + '"', "scene must have at most 1000"),
    "a scene that is a number": ("scene = 3\n", "scene must be a string"),
    "a range of a million million": (
        'scene = "pendulum"\n[grid]\nlength = {from = 0, to = 1, count = 1000000000000}\n',
        "grid.length.count",
    ),
    "a range to infinity": ('scene = "pendulum"\n[grid]\nlength = {from = 0, to = inf, count = 3}\n', "must be finite"),
    "a range without an end": ('scene = "pendulum"\n[grid]\nlength = {from = 0, count = 3}\n', "has no to"),
    "logarithms of zero": (
        'scene = "pendulum"\n[grid]\nx = {from = 0, to = 1, count = 3, scale = "log"}\n',
        "must be above 0 at both ends",
    ),
    "a grid that is a list": ('scene = "pendulum"\ngrid = [1]\n', "grid must be a table"),
    "seconds below zero": (changed(STUDY, ("seconds = 0.1", "seconds = -1")), "seconds must be positive"),
    "a step of infinity": (changed(STUDY, ("dt = 0.01", "dt = inf")), "dt must be finite"),
    "a measure that is a number": (changed(STUDY, ('["energy_drift"]', "7")), "measure must be a list"),
}

# ---- robots ------------------------------------------------------------------------------------------------------------

LAUGHS = (
    '<!DOCTYPE robot [<!ENTITY a "ha">'
    + "".join(f'<!ENTITY {b} "{f"&{a};" * 10}">' for a, b in zip("abcdefgh", "bcdefghi"))
    + "]>\n"
)
FILE = '<!DOCTYPE robot [<!ENTITY f SYSTEM "file:///etc/passwd">]>\n'
NET = '<!DOCTYPE robot SYSTEM "http://127.0.0.1:9/evil.dtd">\n'
DECLARED = "has a <!(DOCTYPE|ENTITY|doctype)>: declarations and entities are not read"


def arm(*pairs, begin="", **files):
    return begin + changed(ARM.replace("MESH", "hand.stl"), *pairs), {"hand.stl": stl()} | files


def model(*pairs, begin="", **files):
    return begin + changed(MODEL.replace("MESH", "hand.stl"), *pairs), {"hand.stl": stl()} | files


def named(filename):
    """An arm whose mesh is called so."""
    return arm(("hand.stl", filename))


URDFS = {
    "nothing": (("", {}), "not XML"),
    "bytes that are no text": ((b"\x80\x81\xff" * 100, {}), "not XML"),
    "zero bytes": ((bytes(100), {}), "not XML"),
    "a text that ends early": ((ARM[:400], {}), "not XML"),
    "a billion laughs": (arm(('name="arm"', 'name="&i;"'), begin=LAUGHS), DECLARED),
    "a billion laughs in UTF-16": (
        (('<?xml version="1.0" encoding="utf-16"?>' + LAUGHS + ARM.replace('"arm"', '"&i;"')).encode("utf-16"), {}),
        DECLARED,
    ),
    "a file for an entity": (arm(('name="upper"', 'name="&f;"'), begin=FILE), DECLARED),
    "an address for a type": (arm(begin=NET), DECLARED),
    "elements within elements": ((f"<robot name='r'>{nested(100_000, '<link>', '</link>', '')}</robot>", {}), "not XML"),
    "half a million elements": (("<robot name='r'>" + "<a/>" * 500_000 + "</robot>", {}), "elements are in it; at most"),
    "three million attributes": (
        ("<robot name='r' " + " ".join(f"a{i}=''" for i in range(2_100_000)) + "/>", {}),
        "attributes are in it; at most",
    ),
    "70 MB of spaces": ((" " * 70_000_000, {}), "70 million bytes are in it; at most 64 million"),
    "a web page": (("<!doctype html><html><body/></html>", {}), DECLARED),
    "an MJCF file": (("<mujoco/>", {}), "it must begin with <robot>"),
    "macros": (("<robot name='r' xmlns:xacro='http://ros.org/wiki/xacro'><xacro:arm/></robot>", {}), "expand its macros"),
    "a mass of 1e308": (arm(('value="2"', 'value="1e308"')), "below 1e\\+60"),
    "a mass that is NaN": (arm(('value="2"', 'value="nan"')), "must be a number"),
    "a mass of 100,000 digits": (arm(('value="2"', f'value="{"9" * 100_000}"')), "must be a number|below 1e"),
    "a size of a million numbers": (arm(("0.2 0.2 0.1", "1 " * 1_000_000)), "size of <box> must be 3 numbers"),
    "a circle of links": (
        arm(('<child link="hand"/>', '<child link="world"/>'), ('<link name="hand">', '<link name="x">')),
        "world|circle|cycle|parent",
    ),
    "a joint that mimics itself": (arm(('mimic joint="shoulder"', 'mimic joint="wrist"')), "mimics itself"),
    "an axis of zeros": (arm(("1 0 0", "0 0 0")), "axis"),
    "a mesh of the system": (named("/etc/passwd"), "lies outside of"),
    "a mesh above": (named("../" * 30 + "etc/passwd"), "lies outside of"),
    "a mesh above, by file:": (named("file:///etc/passwd"), "lies outside of"),
    "a mesh above, by a file: of percents": (named("file:///%65tc/passwd"), "lies outside of"),
    "a mesh above, by package:": (named("package://x/../../../../../../../../etc/passwd"), "lies outside of|is not there"),
    "a mesh of a package that is above": (named("package://../etc/passwd"), "names no package"),
    "a mesh of the network": (named("http://127.0.0.1:9/a.stl"), "is not a file here"),
    "a mesh of another scheme": (named("data://text/plain,solid"), "is not a file here"),
    "a mesh in a device": (named("/dev/zero"), "is not there|lies outside"),
    "a mesh of a name of 100,000": (named("a" * 100_000), "named by no file's name"),
    "a mesh that is a folder": (named("."), "is not there"),
    "a mesh by a link to elsewhere": (
        arm(("hand.stl", "out.stl"), **{"out.stl": ("link", "/etc/hostname")}),
        "lies outside of",
    ),
    "a mesh scaled by 1e59": (arm(("0.1 0.1 0.1", "1e59 1e59 1e59")), "hull|finite|far"),
    "a mesh scaled by zero": (arm(("0.1 0.1 0.1", "0 0 0")), "hull|flat"),
}

MJCFS = {
    "nothing": (("", {}), "MuJoCo does not compile it"),
    "bytes that are no text": ((b"\x80\x81\xff" * 100, {}), "not text in UTF-8"),
    "zero bytes": ((bytes(100), {}), "it has bytes that are zero"),
    "a text that ends early": ((MODEL[:400], {}), "MuJoCo does not compile it"),
    "a billion laughs": (model(('model="arm"', 'model="&i;"'), begin=LAUGHS), DECLARED),
    "a file for an entity": (model(begin=FILE), DECLARED),
    "bodies within bodies": (
        (f"<mujoco><worldbody>{nested(50_000, '<body>', '</body>', '')}</worldbody></mujoco>", {}),
        "MuJoCo does not compile it",
    ),
    "half a million elements": (("<mujoco>" + "<a/>" * 500_000 + "</mujoco>", {}), "elements are in it; at most"),
    "replicates in replicates": (
        model(
            ('<replicate count="3" offset="0.3 0 0">', '<replicate count="1000">' * 3),
            ("</replicate>", "</replicate>" * 3),
        ),
        "elements are made by it; at most",
    ),
    "a replicate of 2 billion": (model(('count="3"', 'count="2000000000"')), "elements are made by it; at most"),
    "a composite of a billion": (
        model(
            ("<replicate", '<body><composite type="grid" count="1000 1000 1000" spacing="1"/></body><replicate'),
        ),
        "elements are made by it; at most",
    ),
    "a height field of a billion cells": (model(('nrow="3" ncol="3"', 'nrow="100000" ncol="100000"')), "asks for 1e\\+10"),
    "a texture of a billion pixels": (
        model(("<asset>", '<asset><texture type="2d" builtin="flat" width="100000" height="100000"/>')),
        "asks for 1e\\+10",
    ),
    "a sphere of 4^20 triangles": (
        model(("<asset>", '<asset><mesh name="s" builtin="sphere" params="20"/>')),
        "params of <mesh> must be at most",
    ),
    "numbers of a user's, a billion": (
        model(("<asset>", '<size nuser_geom="1000000000"/><asset>')),
        "nuser_geom of <size> must be at most",
    ),
    "custom numbers, a billion": (
        model(("<asset>", '<custom><numeric name="n" size="1000000000"/></custom><asset>')),
        "size of <numeric> must be at most",
    ),
    "a mesh of the system": (model(('file="hand.stl"', 'file="/etc/passwd"')), "lies outside of"),
    "a mesh above": (model(('file="hand.stl"', f'file="{"../" * 30}etc/passwd"')), "lies outside of"),
    "a mesh above, in signs of XML": (
        model(('file="hand.stl"', 'file="&#46;&#x2e;/' + "&#46;./" * 30 + 'etc/passwd"')),
        "lies outside of",
    ),
    "a folder of meshes above": (
        model(
            ('<compiler angle="radian"/>', f'<compiler meshdir="{"../" * 30}etc"/>'), ('file="hand.stl"', 'file="passwd"')
        ),
        "lies outside of",
    ),
    "a texture of the system": (model(("<asset>", '<asset><texture type="2d" file="/etc/passwd"/>')), "lies outside of"),
    "a mesh by a link to elsewhere": (
        model(("hand.stl", "out.stl"), **{"out.stl": ("link", "/etc/hostname")}),
        "lies outside of",
    ),
    "a mesh of a name of 1,000": (model(('file="hand.stl"', f'file="{"a" * 1000}"')), "is named by no file's name"),
    "a mesh of the network": (model(('file="hand.stl"', 'file="http://127.0.0.1:9/a.stl"')), "is not a file here"),
    "an include of the system": (model(("<asset>", '<include file="/etc/passwd"/><asset>')), "lies outside of"),
    "an include of itself": (model(("<asset>", '<include file="robot.xml"/><asset>')), "MuJoCo does not compile it"),
    "an include that reads elsewhere": (
        model(
            ("<asset>", '<include file="part.xml"/><asset>'),
            **{"part.xml": b'<mujocoinclude><asset><mesh file="/etc/passwd"/></asset></mujocoinclude>'},
        ),
        "lies outside of",
    ),
    "an include with a billion laughs": (
        model(("<asset>", '<include file="part.xml"/><asset>'), **{"part.xml": LAUGHS.encode() + b"<mujocoinclude/>"}),
        DECLARED,
    ),
    "a picture of a billion pixels": (
        model(
            ("<asset>", '<asset><texture type="2d" file="sky.png"/>'),
            **{"sky.png": b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + (200_000).to_bytes(4, "big") * 2 + bytes(40)},
        ),
        "pixels are in it; at most",
    ),
    "a plugin that there is not": (
        model(("<asset>", '<extension><plugin plugin="../../evil.so"/></extension><asset>')),
        "MuJoCo does not compile it",
    ),
    "a URDF file": ((ARM.replace("MESH", "hand.stl"), {"hand.stl": b"solid"}), "MuJoCo does not compile it"),
    "a web page": (("<!doctype html><html><body/></html>", {}), DECLARED),
    "a mass of 1e308": (
        model(('<geom type="mesh" mesh="part"/>', '<geom size="1" mass="1e308"/>')),
        "its numbers are too large|MuJoCo does not compile it",
    ),
    "a size of NaN": (model(('<geom size="0.1"/>', '<geom size="nan"/>')), "MuJoCo does not compile it|finite|radius"),
    "a place of 1e300": (model(('pos="1 0 1"', 'pos="1e300 0 1"')), "MuJoCo does not compile it|position|far"),
}
