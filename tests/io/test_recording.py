"""Recordings: the format of the file, the checks on it, and what the recorder keeps."""

import gc
import os
import signal

import numpy as np
import pytest

import mcsim as mc
from mcsim.io import Recorder, Recording


def make(frames=4, bodies=3, **changes):
    """A recording of right shapes, with some fields changed."""
    quaternions = np.zeros((frames, bodies, 4))
    quaternions[..., 0] = 1.0
    rng = np.random.default_rng(1)
    fields = {
        "time": np.arange(frames) / 30,
        "positions": rng.normal(size=(frames, bodies, 3)),
        "orientations": quaternions,
        "velocities": rng.normal(size=(frames, bodies, 3)),
        "angular_velocities": rng.normal(size=(frames, bodies, 3)),
        "body_names": tuple(f"body{k}" for k in range(bodies)),
    }
    return Recording(**fields | changes)


def test_the_file_holds_what_the_design_says(tmp_path):
    recording = make()
    recording.save(tmp_path / "run.npz")
    with np.load(tmp_path / "run.npz", allow_pickle=False) as data:
        assert set(data) == {"time", "positions", "orientations", "velocities", "angular_velocities", "body_names"}
        shapes = {name: data[name].shape for name in data}
        assert data["body_names"].tolist() == ["body0", "body1", "body2"]
    assert shapes == {
        "time": (4,),
        "positions": (4, 3, 3),
        "orientations": (4, 3, 4),
        "velocities": (4, 3, 3),
        "angular_velocities": (4, 3, 3),
        "body_names": (3,),
    }


def test_it_reads_back_the_same(tmp_path):
    recording = make()
    recording.save(tmp_path / "run.npz")
    again = Recording.load(tmp_path / "run.npz")
    for name in ("time", "positions", "orientations", "velocities", "angular_velocities"):
        assert np.array_equal(getattr(recording, name), getattr(again, name))
    assert again.body_names == recording.body_names and len(again) == 4
    assert "4 frames" in repr(again) and "3 bodies" in repr(again)


def chain_of_functions():
    """A scene with joints that no scene file can hold, and a gear between two joints of which one is such."""
    scene = mc.Scene(name="functions")
    for k in range(3):
        scene.add_body(f"link{k}", shape=mc.Sphere(0.1), position=(k, 0, 0))
    still = mc.Motion(lambda time: 0.1 * time)
    scene.add_joint(mc.HingeJoint(None, "link0", (0, 0, 0), (0, 1, 0), name="driven", motion=still))
    scene.add_joint(mc.HingeJoint(None, "link1", (1, 0, 0), (0, 1, 0), name="free"))
    scene.add_joint(mc.GearJoint("driven", "free", 2.0, name="gear"))
    scene.add_joint(mc.UserJoint("link1", "link2", lambda a, b: [0.0], name="own"))
    return scene


def test_a_recording_knows_its_scene(tmp_path):
    """Also in the file, and after the scene that the world was made of has changed."""
    scene = mc.scenes.ragdolls(count=1)
    recorder = Recorder(mc.World(scene))
    whole = scene.copy()
    scene.add_body("late", shape=mc.Sphere(0.1))
    recorder.step(2)
    assert recorder.recording().scene == whole
    recorder.recording().save(tmp_path / "run.npz")
    assert Recording.load(tmp_path / "run.npz").scene == whole


def test_joints_with_functions_are_left_out_of_the_file(tmp_path):
    recorder = Recorder(mc.World(chain_of_functions()))
    assert len(recorder.recording().scene.joints) == 4
    recorder.recording().save(tmp_path / "run.npz")
    scene = Recording.load(tmp_path / "run.npz").scene
    assert [body.name for body in scene.bodies] == ["link0", "link1", "link2"]
    assert [joint.name for joint in scene.joints] == ["free"]


@pytest.mark.parametrize(
    "content, words",
    [
        (b"{", "scene: line 1, column 2: not JSON"),
        (b'{"version": 1, "bodies": [{"name": "a", "mass": -1}]}', "bodies[0]"),
        (b'{"version": 1}', "the bodies of its scene are not those of body_names"),
        (b"[" * 100_000, "nested too deeply"),
        (b"\xff", "not text in UTF-8"),
    ],
)
def test_wrong_scenes_in_a_file(content, words, tmp_path):
    make().save(tmp_path / "run.npz")
    arrays = dict(np.load(tmp_path / "run.npz"))
    np.savez(tmp_path / "run.npz", **arrays, scene=np.frombuffer(content, np.uint8))
    with pytest.raises(mc.SceneError) as caught:
        Recording.load(tmp_path / "run.npz")
    assert words in str(caught.value) and "run.npz: not a recording: " in str(caught.value)


def test_a_scene_must_be_bytes(tmp_path):
    make().save(tmp_path / "run.npz")
    arrays = dict(np.load(tmp_path / "run.npz"))
    np.savez(tmp_path / "run.npz", **arrays, scene=np.ones((2, 2)))
    with pytest.raises(mc.SceneError, match="must be the bytes of a scene file"):
        Recording.load(tmp_path / "run.npz")


def test_what_has_no_scene_says_so(tmp_path):
    with pytest.raises(mc.SceneError, match="has no scene"):
        make().save_gltf(tmp_path / "run.glb")


@pytest.mark.parametrize(
    "changes, words",
    [
        ({"time": np.zeros((4, 1))}, "time must have shape"),
        ({"time": np.array([0, 1, 1, 2.0])}, "grow from frame to frame"),
        ({"time": np.array([0, 1, np.nan, 2])}, "grow from frame to frame"),
        ({"positions": np.zeros((4, 2, 3))}, "positions must have shape (4, 3, 3)"),
        ({"velocities": np.full((4, 3, 3), np.inf)}, "velocities has entries that are not finite"),
        ({"orientations": np.zeros((4, 3, 4))}, "unit quaternions"),
        ({"body_names": ("a", "b")}, "must have shape (4, 2, 3)"),
        ({"scene": "pyramid"}, "scene must be a Scene, got 'pyramid'"),
        ({"scene": mc.Scene()}, "the bodies of its scene are not those of body_names"),
    ],
)
def test_wrong_arrays(changes, words):
    with pytest.raises(mc.SceneError) as caught:
        make(**changes)
    assert words in str(caught.value)


def spoil(path, kind):
    arrays = dict(np.load(path))
    if kind == "missing":
        del arrays["velocities"]
    elif kind == "short":
        arrays["positions"] = arrays["positions"][:2]
    elif kind == "text":
        arrays["time"] = np.array(["a", "b", "c", "d"])
    elif kind == "objects":
        arrays["body_names"] = np.array([{}, {}, {}], dtype=object)
    np.savez(path, **arrays)


@pytest.mark.parametrize(
    "kind, words",
    [
        ("missing", "no array 'velocities'"),
        ("short", "positions must have shape"),
        ("text", "not a recording"),
        ("objects", "not a recording"),
    ],
)
def test_wrong_files(tmp_path, kind, words):
    path = tmp_path / "run.npz"
    make().save(path)
    spoil(path, kind)
    with pytest.raises(mc.SceneError) as caught:
        Recording.load(path)
    assert str(caught.value).startswith(str(path)) and words in str(caught.value)


@pytest.mark.parametrize("content", [b"", b"no zip at all", b"PK\x03\x04broken"])
def test_files_that_are_no_npz(tmp_path, content):
    path = tmp_path / "run.npz"
    path.write_bytes(content)
    with pytest.raises(mc.SceneError, match="not a recording"):
        Recording.load(path)


def test_missing_file_and_wrong_name(tmp_path):
    with pytest.raises(FileNotFoundError, match="nothing.npz"):
        Recording.load(tmp_path / "nothing.npz")
    with pytest.raises(mc.SceneError, match="a recording is a .npz file"):
        make().save(tmp_path / "run.txt")


def test_a_failed_save_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "run.npz"
    make().save(path)
    before = path.read_bytes()

    def fail(file, **arrays):
        file.write(b"half")
        raise OSError("disk full")

    monkeypatch.setattr(np, "savez_compressed", fail)
    with pytest.raises(OSError, match="disk full"):
        make(frames=9).save(path)
    assert path.read_bytes() == before and os.listdir(tmp_path) == ["run.npz"]


def test_saved_files_are_as_open_would_make_them(tmp_path):
    make().save(tmp_path / "run.npz")
    (tmp_path / "plain").write_text("")
    assert (tmp_path / "run.npz").stat().st_mode == (tmp_path / "plain").stat().st_mode


# ---- recorder --------------------------------------------------------------------------------------------------------


def test_recorder_keeps_what_the_world_does():
    world, twin = mc.World(mc.scenes.pendulum()), mc.World(mc.scenes.pendulum())
    recorder = Recorder(world, every=3)
    recorder.step(4)
    recording = recorder.recording()
    assert np.allclose(recording.time, np.arange(5) * 3 / 60) and recording.body_names == ("rod",)
    for k in range(5):
        assert np.array_equal(recording.positions[k], twin.positions)
        assert np.array_equal(recording.orientations[k], twin.orientations)
        assert np.array_equal(recording.velocities[k], twin.velocities)
        assert np.array_equal(recording.angular_velocities[k], twin.angular_velocities)
        twin.step(3)


def test_frames_do_not_follow_the_world():
    world = mc.World(mc.scenes.pendulum())
    recorder = Recorder(world)
    before = recorder.recording().positions.copy()
    world.step(10)
    assert np.array_equal(recorder.recording().positions, before)


def test_contacts_are_kept_where_they_are_wanted(tmp_path):
    world = mc.World(mc.load("stack", count=3))
    recorder, seen = Recorder(world, contacts=True), [world.contacts]
    for _ in range(3):
        recorder.step()
        seen.append(world.contacts)
    recording = recorder.recording()
    recording.save(tmp_path / "run.npz")
    again = Recording.load(tmp_path / "run.npz")
    assert len(seen[0]) == 0 < len(seen[3]) and len(again.contacts) == 4
    assert all(np.array_equal(one, other) for one, other in zip(seen, again.contacts))
    assert Recorder(world).recording().contacts is None
    with pytest.raises(mc.SceneError, match="recorder: contacts must be True or False, got 'yes'"):
        Recorder(world, contacts="yes")
    arrays = dict(np.load(tmp_path / "run.npz"))
    far = {**arrays, "contacts": arrays["contacts"].copy()}
    far["contacts"]["body_b"] = 9
    nowhere = {**arrays, "contacts": arrays["contacts"].copy()}
    nowhere["contacts"]["position"][0, 1] = np.nan
    for wrong, words in (
        ({**arrays, "contact_counts": arrays["contact_counts"] + 1}, "contact_counts says"),
        ({**arrays, "contact_counts": arrays["contact_counts"][:2]}, "contact_counts says"),
        ({name: array for name, array in arrays.items() if name != "contact_counts"}, "contact_counts must say"),
        ({**arrays, "contacts": np.zeros(arrays["contact_counts"].sum())}, "must have arrays as world.contacts is"),
        (far, "of bodies that there are not"),
        (nowhere, "not finite"),
    ):
        np.savez(tmp_path / "wrong.npz", **wrong)
        with pytest.raises(mc.SceneError, match=f"wrong.npz: not a recording: .*{words}"):
            Recording.load(tmp_path / "wrong.npz")


def test_recorder_refuses_a_wrong_pace():
    with pytest.raises(mc.SceneError, match="at least 1"):
        Recorder(mc.World(mc.scenes.pendulum()), every=0)


def test_an_interrupt_leaves_whole_frames():
    recorder = Recorder(mc.World(mc.scenes.pyramid(base=12)), every=5)
    old = signal.signal(signal.SIGALRM, signal.default_int_handler)
    gc.disable()  # Hypothesis measures collections in a callback, in which an interrupt would be lost
    signal.setitimer(signal.ITIMER_REAL, 0.2)
    try:
        with pytest.raises(KeyboardInterrupt):
            recorder.step(100_000)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        gc.enable()
        signal.signal(signal.SIGALRM, old)
    assert len(recorder.recording()) > 1  # passes the checks of a recording
