"""Bodies that are not enabled are in no picture: of worlds, films, pages and 3-D files."""

import json

import numpy as np
import pytest
from PIL import Image

import mcsim as mc
from mcsim.io import Recorder, Recording
from mcsim.view import save_gif, save_png
from mcsim.view.instances import batches


def scene(enabled=True, there=True):
    """A box on a floor, beside it a ball on a rod that may be off, or not there."""
    made = mc.Scene()
    made.add_body("floor", kind="static", shape=mc.Plane((0, 0, 1)))
    made.add_body("box", shape=mc.Box((0.3, 0.3, 0.3)), position=(0, 0, 0.3))
    if there:
        made.add_body("ball", shape=mc.Sphere(0.3), position=(1.5, 0, 0.3), enabled=enabled)
        made.add_joint(mc.DistanceJoint("box", "ball", (0, 0, 0.6), (1.5, 0, 0.9)))
    return made


def pixels(path):
    with Image.open(path) as picture:
        return np.asarray(picture.convert("RGB")).astype(int)


@pytest.mark.parametrize("show", [(), ("joints", "contacts")], ids=["plain", "marks"])
def test_a_picture_is_that_of_the_scene_without_it(tmp_path, show):
    for name, made in (("off", scene(False)), ("gone", scene(there=False)), ("on", scene())):
        world = mc.World(made)
        world.step()
        save_png(tmp_path / f"{name}.png", world, show=[mark for mark in show if mark != "joints" or name != "gone"])
    off, gone, on = (pixels(tmp_path / f"{name}.png") for name in ("off", "gone", "on"))
    assert off.shape == gone.shape and (off != gone).any(axis=2).sum() < (0 if not show else 200) + 1
    assert (off != on).any(axis=2).mean() > 0.01


def run():
    """The ball is off from the third frame to the fifth; of six."""
    world = mc.World(scene())
    recorder = Recorder(world)
    for k in range(1, 6):
        if k in (2, 5):
            world.body("ball").enabled = k == 5
        recorder.step()
    return recorder.recording()


def test_a_recording_knows_when(tmp_path):
    recording = run()
    assert recording.enabled[:, 2].tolist() == [True, True, False, False, False, True]
    assert recording.enabled[:, :2].all()
    recording.save(tmp_path / "run.npz")
    assert np.array_equal(Recording.load(tmp_path / "run.npz").enabled, recording.enabled)
    assert Recorder(mc.World(scene())).recording().enabled is None
    with pytest.raises(mc.SceneError, match=r"enabled must be an array of bool of shape \(6, 3\)"):
        Recording(**{**vars(recording), "enabled": np.ones((6, 2), bool)})


def test_films_show_it_while_it_is_on(tmp_path):
    recording = run()
    save_gif(tmp_path / "run.gif", recording.scene, recording, size=(160, 120))
    counts = []
    with Image.open(tmp_path / "run.gif") as film:
        for k in range(6):
            film.seek(k)
            counts.append(np.asarray(film.convert("RGB")).astype(int))
    far = [np.abs(each - counts[0]).sum() for each in counts]
    assert max(far[1], far[5]) < 0.2 * min(far[2:5])


def test_pages_and_files_have_no_size_for_it(tmp_path):
    sizes = {batch.shapes.tolist()[0]: batch.scales for batch in batches(scene(False), 10.0)}
    assert not sizes[2].any() and sizes[1].all()
    recording = run()
    recording.save_gltf(tmp_path / "run.glb")
    content = (tmp_path / "run.glb").read_bytes()
    told = json.loads(content[20 : 20 + int.from_bytes(content[12:16], "little")])
    (channel,) = [c for c in told["animations"][0]["channels"] if c["target"]["path"] == "scale"]
    assert told["nodes"][channel["target"]["node"]]["name"] == "ball"
    assert told["animations"][0]["samplers"][channel["sampler"]]["interpolation"] == "STEP"
    world = mc.World(scene(False))
    Recorder(world).recording().save_gltf(tmp_path / "off.glb")
    content = (tmp_path / "off.glb").read_bytes()
    told = json.loads(content[20 : 20 + int.from_bytes(content[12:16], "little")])
    assert sum("mesh" in node for node in told["nodes"]) == 2


def test_a_page_of_a_run(tmp_path):
    pytest.importorskip("viser")
    recording = run()
    recording.save_html(tmp_path / "run.html")
    assert (tmp_path / "run.html").stat().st_size > 1000


def test_the_live_view_follows():
    pytest.importorskip("viser")
    from mcsim.live.frames import Camera, Wanted
    from mcsim.live.in_step import InStep

    session = InStep([mc.World(scene())])
    frames = Camera(session, Wanted())
    first = frames.take()
    session.worlds[0].body("ball").enabled = False
    second = frames.take()
    assert second.version > first.version and not second.worlds[0].scene.bodies[2].enabled
    assert frames.take().version == second.version
