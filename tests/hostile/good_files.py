"""A good file of every kind that is read, and what reads it: what hostile files are made of."""

import io
import json
import struct
import zipfile
from pathlib import Path

import numpy as np

import mcsim as mc
from mcsim.cli.study_files import read_study
from mcsim.io.recording import Recorder, Recording
from mcsim.lab.study import Study
from mcsim.lab.sweep_files import Folder
from mcsim.lab.sweep_result import Sweep
from mcsim.reduced import System

ARM = """<robot name="arm">
  <link name="world"><collision><geometry><box size="0.2 0.2 0.1"/></geometry></collision></link>
  <link name="upper">
    <inertial><origin xyz="0 0 0.2"/><mass value="2"/>
      <inertia ixx="0.03" iyy="0.03" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial>
    <collision><geometry><capsule radius="0.05" length="0.3"/></geometry></collision>
  </link>
  <link name="hand">
    <inertial><mass value="1"/><inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial>
    <collision><geometry><mesh filename="MESH" scale="0.1 0.1 0.1"/></geometry></collision>
  </link>
  <joint name="shoulder" type="revolute"><parent link="world"/><child link="upper"/><origin xyz="0 0 0.1"/>
    <axis xyz="0 1 0"/><limit lower="-1" upper="1" effort="10" velocity="2"/><dynamics damping="0.1"/></joint>
  <joint name="wrist" type="continuous"><parent link="upper"/><child link="hand"/><origin xyz="0 0 0.5"/>
    <axis xyz="1 0 0"/><mimic joint="shoulder" multiplier="2"/></joint>
</robot>
"""

MODEL = """<mujoco model="arm">
  <compiler angle="radian"/>
  <option gravity="0 0 -9.81"/>
  <asset><mesh name="part" file="MESH" scale="0.1 0.1 0.1"/>
    <hfield name="ground" nrow="3" ncol="3" size="1 1 1 0.1"/></asset>
  <worldbody>
    <geom type="plane" size="5 5 1"/>
    <geom type="hfield" hfield="ground" pos="3 0 0"/>
    <body name="upper" pos="0 0 1"><joint name="shoulder" type="hinge" axis="0 1 0" range="-1 1" damping="0.1"/>
      <geom type="capsule" fromto="0 0 0 0 0 0.3" size="0.05"/>
      <body name="hand" pos="0 0 0.4"><joint name="wrist" type="hinge" axis="1 0 0"/>
        <geom type="mesh" mesh="part"/><site name="tip" pos="0 0 0.1"/></body></body>
    <replicate count="3" offset="0.3 0 0"><body pos="1 0 1"><freejoint/><geom size="0.1"/></body></replicate>
  </worldbody>
  <actuator><motor name="m" joint="shoulder" ctrlrange="-1 1"/></actuator>
  <sensor><jointpos name="angle" joint="shoulder"/></sensor>
</mujoco>
"""

STUDY = """scene = "pendulum"
name = "lengths"
method = "maximal:si+soft"
seconds = 0.1
dt = 0.01
measure = ["energy_drift"]

[grid]
length = {from = 0.5, to = 1.5, count = 3}
count = [1, 2]

[world]
substeps = 4
"""

CORNERS = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)], float)
SIDES = [(0, 1, 3), (0, 3, 2), (4, 6, 7), (4, 7, 5), (0, 4, 5), (0, 5, 1), (2, 3, 7), (2, 7, 6), (0, 2, 6), (0, 6, 4),
         (1, 5, 7), (1, 7, 3)]  # fmt: skip


def stl(count=None):
    """A cube, as binary STL; count: of triangles that it says it has."""
    faces = b"".join(struct.pack("<12fH", 0, 0, 0, *CORNERS[list(side)].ravel(), 0) for side in SIDES)
    return b"cube".ljust(80) + struct.pack("<I", len(SIDES) if count is None else count) + faces


def obj():
    lines = [f"v {x} {y} {z}" for x, y, z in CORNERS] + [f"f {a + 1} {b + 1} {c + 1}" for a, b, c in SIDES]
    return "\n".join(lines).encode() + b"\n"


def ply(vertices=8, faces=12, form="ascii"):
    head = (
        f"ply\nformat {form} 1.0\nelement vertex {vertices}\nproperty float x\nproperty float y\nproperty float z\n"
        f"element face {faces}\nproperty list uchar int vertex_indices\nend_header\n"
    )
    if form == "ascii":
        rows = [f"{x} {y} {z}" for x, y, z in CORNERS] + [f"3 {a} {b} {c}" for a, b, c in SIDES]
        return (head + "\n".join(rows) + "\n").encode()
    rows = [struct.pack("<3f", *corner) for corner in CORNERS] + [struct.pack("<B3i", 3, *side) for side in SIDES]
    return head.encode() + b"".join(rows)


def off():
    rows = [f"{x} {y} {z}" for x, y, z in CORNERS] + [f"3 {a} {b} {c}" for a, b, c in SIDES]
    return f"OFF\n8 12 0\n{chr(10).join(rows)}\n".encode()


def dae():
    import trimesh

    return trimesh.Trimesh(CORNERS, SIDES, process=False).export(file_type="dae")


def glb():
    import trimesh

    return trimesh.Trimesh(CORNERS, SIDES, process=False).export(file_type="glb")


MESHES = {
    "stl": stl,
    "obj": obj,
    "ply": ply,
    "off": off,
    "dae": dae,
    "glb": glb,
    "ply_binary": lambda: ply(form="binary_little_endian"),
}


# ---- files of mcsim's own ----------------------------------------------------------------------------------------------


def scene():
    """With every sort of shape that files have, some joints, drives, a pair that does not collide."""
    made = mc.Scene(name="all sorts")
    made.add_body("ground", kind="static", shape=[mc.Plane((0, 0, 1)), mc.HeightField([[0, 0], [0, 0.1]], 1.0)])
    made.add_body("walls", kind="static", shape=mc.Mesh([(9, 0, 0), (9, 1, 0), (9, 0, 1)], [(0, 1, 2)]))
    hull = mc.ConvexHull([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)])
    shapes = [mc.Sphere(0.2), mc.Box((0.1, 0.2, 0.3)), mc.Capsule(0.1, 0.3), mc.Cylinder(0.1, 0.2), mc.Cone(0.1, 0.2), hull]
    for i, shape in enumerate(shapes):
        made.add_body(f"b{i}", shape=shape, position=(2.0 * i, 0, 3), density=500, material=mc.Material(friction=0.4))
    made.add_joint(mc.HingeJoint("b0", "b1", anchor=(1, 0, 3), axis=(0, 1, 0), limits=(-1, 1), motor=mc.Motor(velocity=1)))
    made.add_joint(mc.SliderJoint(None, "b2", axis=(0, 0, 1), spring=mc.Spring(100.0)))
    made.ignore_collision("b0", "b3")
    return made


def _save(write, name):
    """What makes a file of this name by a function that writes it."""

    def make(folder):
        path = Path(folder) / name
        write(path)
        return path

    return make


def _recording(path):
    recorder = Recorder(mc.World(scene()), contacts=True)
    recorder.step(3)
    recorder.recording().save(path)


def _problem(path):
    world = mc.World(mc.load("pyramid", base=2))
    world.step(3)
    world.problem().save(path)


def _state(path):
    world = mc.World(scene())
    world.step(3)
    world.add_body("late", shape=mc.Sphere(0.1), position=(0, 0, 9), density=100)
    world.save_state(path)


def _trees(path):
    world = mc.ReducedWorld(mc.load("four_bar"))
    world.step(3)
    world.save_state(path)


def _comparison(path):
    mc.compare(mc.scenes.pendulum(), ["maximal:si+soft"], 0.02, 0.01, timing=False).save(path)


def _sweep(folder):
    path = Path(folder) / "sweep"
    where = Folder(path)
    parameters = [{"length": 0.5}, {"length": 1.0}]
    index = {"name": "n", "study": "s", "shape": [2], "units": {"energy": "J"}, "parameters": parameters}
    where.begin(index)
    for one in parameters:
        where.write("s", one, {"energy": 1.5, "path": np.arange(3.0)}, "")
    return path


def _robot(name, text, mesh, content):
    def make(folder):
        path = Path(folder) / name
        path.write_text(text.replace("MESH", mesh))
        (Path(folder) / mesh).write_bytes(content())
        return path

    return make


def changed(text, *pairs):
    for old, new in pairs:
        assert old in text, old
        text = text.replace(old, new)
    return text


# Kind -> what makes a good file of it in a folder and gives its path, what reads that path.
GOOD = {
    "scene": (_save(lambda path: scene().save(path), "scene.json"), mc.load),
    "system": (_save(lambda path: System(mc.load("four_bar")).save(path), "model.json"), System.load),
    "recording": (_save(_recording, "run.npz"), Recording.load),
    "problem": (_save(_problem, "problem.npz"), mc.Problem.load),
    "comparison": (_save(_comparison, "comparison.npz"), Study.load),
    "state": (_save(_state, "world.npz"), mc.load_state),
    "state_trees": (_save(_trees, "trees.npz"), mc.load_state),
    "sweep": (_sweep, Sweep.load),
    "study": (_save(lambda path: path.write_text(STUDY), "study.toml"), lambda path: read_study(Path(path))),
    "urdf": (_robot("robot.urdf", ARM, "hand.stl", stl), mc.load),
    "mjcf": (_robot("robot.xml", MODEL, "hand.stl", stl), mc.load),
    **{
        f"mesh_{kind}": (_robot("robot.urdf", ARM, f"hand.{kind.partition('_')[0]}", content), mc.load)
        for kind, content in MESHES.items()
    },
    **{
        f"mjcf_{kind}": (_robot("robot.xml", MODEL, f"hand.{kind}", content), mc.load)
        for kind, content in MESHES.items()
        if kind in ("stl", "obj")
    },
}


# ---- pieces ------------------------------------------------------------------------------------------------------------


def arrays_of(path):
    with np.load(path) as data:
        return dict(data)


def json_of(path):
    return json.loads(path.read_text())


def npy(content=b"\0" * 24, version=1, **header):
    """An array of a .npz file, by what its header says and the bytes that follow."""
    data = io.BytesIO()
    head = {"descr": "<f8", "fortran_order": False, "shape": (3,)} | header
    text = "{" + ", ".join(f"'{name}': {value!r}" for name, value in head.items()) + ", }"
    if version == 1:
        np.lib.format.write_array_header_1_0(data, {"descr": "<f8", "fortran_order": False, "shape": (3,)})
        data = io.BytesIO()
        text = text.ljust(117) + "\n" if len(text) < 118 else text + "\n"
        data.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text.encode())
    else:
        data.write(b"\x93NUMPY" + bytes([version, 0]) + struct.pack("<I", len(text)) + text.encode())
    return data.getvalue() + content


def zipped(entries, compression=zipfile.ZIP_DEFLATED):
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", compression) as file:
        for name, content in entries:
            file.writestr(name, content)
    return data.getvalue()
