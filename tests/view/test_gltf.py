"""glTF files: read by another library, and number by number: bodies stand in the frames as they did in the recording."""

import io
import json
import struct

import numpy as np
import pytest

import mcsim as mc
from mcsim.core.rotation import matrix
from mcsim.io import Recorder

trimesh = pytest.importorskip("trimesh")


def recorded(scene, frames=3, every=4):
    recorder = Recorder(mc.World(scene), every=every)
    recorder.step(frames)
    return recorder.recording()


def all_shapes():
    """A body of each kind of shape, put together from two where it may be, off its own middle and turned."""
    scene = mc.Scene()
    scene.add_body("ground", kind="static", shape=mc.Plane((0, 0, 1)))
    turn = (0.5**0.5, 0.5**0.5, 0, 0)
    solids = {
        "box": mc.Box((0.1, 0.2, 0.3), position=(0.1, 0, 0.2), orientation=turn),
        "sphere": mc.Sphere(0.2, position=(0, 0.3, 0)),
        "capsule": mc.Capsule(0.1, 0.3, orientation=turn),
        "cylinder": mc.Cylinder(0.1, 0.3),
        "hull": mc.ConvexHull([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]),
    }
    for k, (name, shape) in enumerate(solids.items()):
        scene.add_body(
            name,
            shape=[shape, mc.Sphere(0.05, position=(0, 0, 0.5))],
            position=(k, 0, 3),
            velocity=(0, 1, 0),
            angular_velocity=(3, 7, 5),
        )
    return scene


class Document:
    """A .glb file, read as the standard says."""

    def __init__(self, content):
        magic, version, length = struct.unpack_from("<4sII", content)
        assert (magic, version, length) == (b"glTF", 2, len(content))
        size, kind = struct.unpack_from("<I4s", content, 12)
        assert kind == b"JSON"
        self.json = json.loads(content[20 : 20 + size])
        at = 20 + size
        size, kind = struct.unpack_from("<I4s", content, at)
        assert kind == b"BIN\0" and at + 8 + size == len(content)
        self.block = content[at + 8 :]

    def array(self, number):
        entry = self.json["accessors"][number]
        view = self.json["bufferViews"][entry["bufferView"]]
        width = {"SCALAR": 1, "VEC3": 3, "VEC4": 4}[entry["type"]]
        kind = {5126: "<f4", 5125: "<u4"}[entry["componentType"]]
        numbers = np.frombuffer(self.block, kind, entry["count"] * width, view["byteOffset"]).reshape(-1, width)
        assert np.array_equal(numbers.min(axis=0), np.float32(entry["min"]))
        assert np.array_equal(numbers.max(axis=0), np.float32(entry["max"]))
        return numbers

    def node(self, name):
        return next(k for k, node in enumerate(self.json["nodes"]) if node.get("name") == name)

    def track(self, name, path):
        """-> times (t,), poses (t, 3 or 4) of a body's node; None if it has none."""
        (animation,) = self.json["animations"]
        for channel in animation["channels"]:
            if channel["target"] == {"node": self.node(name), "path": path}:
                sampler = animation["samplers"][channel["sampler"]]
                return self.array(sampler["input"])[:, 0], self.array(sampler["output"])
        return None


def written(recording, tmp_path):
    recording.save_gltf(tmp_path / "run.glb")
    return (tmp_path / "run.glb").read_bytes()


def test_the_animation_is_the_recording(tmp_path):
    """Each frame of each body that moves, with quaternions that do not change their sign on the way."""
    recording = recorded(all_shapes(), frames=20)
    document = Document(written(recording, tmp_path))
    assert document.track("ground", "translation") is None
    for k, name in enumerate(recording.body_names[1:], start=1):
        time, places = document.track(name, "translation")
        assert np.allclose(time, recording.time, atol=1e-6)
        assert np.allclose(places, recording.positions[:, k], atol=1e-6)
        _, turns = document.track(name, "rotation")
        turns = turns[:, [3, 0, 1, 2]]
        same = np.einsum("ti,ti->t", turns, recording.orientations[:, k])
        assert np.allclose(np.abs(same), 1.0, atol=1e-6)
        assert (np.einsum("ti,ti->t", turns[1:], turns[:-1]) > 0).all()


def test_another_library_finds_the_bodies_where_they_were(tmp_path):
    """At the start, with y up: every vertex of every shape stands where the scene has it."""
    scene = all_shapes()
    loaded = trimesh.load_scene(io.BytesIO(written(recorded(scene), tmp_path)), file_type="glb")
    found = np.concatenate([mesh.vertices for mesh in loaded.dump() if np.abs(mesh.vertices).max() < 9.0])
    expected = []
    for body in scene.bodies[1:]:
        for shape in body.shapes:
            local = shape.triangles()[0] @ matrix(shape.orientation).T + shape.position
            expected.append(local @ matrix(body.orientation).T + body.position)
    expected = np.concatenate(expected)[:, [0, 2, 1]] * [1, 1, -1]
    off = np.linalg.norm(found[:, None] - expected[None], axis=2)
    assert off.min(axis=0).max() < 1e-6 and off.min(axis=1).max() < 1e-6


def test_shapes_of_one_size_are_written_once(tmp_path):
    document = Document(written(recorded(mc.scenes.pyramid(base=12), frames=1), tmp_path))
    assert sum(view.get("target") == 34962 for view in document.json["bufferViews"]) == 2  # the floor and a box


def test_what_stands_still_has_no_animation(tmp_path):
    scene = mc.Scene()
    scene.add_body("wall", kind="static", shape=mc.Box((1, 1, 1)))
    assert "animations" not in Document(written(recorded(scene), tmp_path)).json


def test_an_empty_scene_is_a_file(tmp_path):
    recorder = Recorder(mc.World(mc.Scene()))
    recorder.step(2)
    content = written(recorder.recording(), tmp_path)
    size, _ = struct.unpack_from("<I4s", content, 12)
    assert "children" not in json.loads(content[20 : 20 + size])["nodes"][0]  # an empty list is none


def test_wrong_names_and_recordings(tmp_path):
    recording = recorded(mc.scenes.one())
    with pytest.raises(mc.SceneError, match=r"must end in \.glb"):
        recording.save_gltf(tmp_path / "run.gltf")
    assert not list(tmp_path.iterdir())
