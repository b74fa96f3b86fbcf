"""Pictures and films: what must be seen is seen, at the place where geometry puts it."""

import builtins

import numpy as np
import pytest
from PIL import Image

import mcsim as mc
from mcsim.core.rotation import rotate
from mcsim.io import Recorder, Recording
from mcsim.view import save_gif, save_png
from mcsim.view.camera import frame
from mcsim.view.colors import PALETTE, body_colors
from mcsim.view.painter import Painter

BACKGROUND = np.array([0xFA, 0xFA, 0xF8])
SHADOW = np.array([0xE2, 0xE2, 0xDE])


def still(scene):
    """(1, n, 3) centres of mass and (1, n, 4) orientations at the start."""
    positions = np.array([body.position + rotate(body.orientation, body.center_of_mass) for body in scene.bodies])
    return positions[None], np.array([body.orientation for body in scene.bodies])[None]


def painted(scene, size=(400, 300)):
    """The painter of a scene, and its picture of the start as integers."""
    positions, orientations = still(scene)
    painter = Painter(scene, positions, orientations, size)
    return painter, painter.picture(positions[0], orientations[0])[..., :3].astype(int)


def pixel(painter, picture, point):
    """The colour at the place of a world point."""
    (x, y), depth = painter.camera.project(np.asarray(point, float))
    assert depth > 0
    return picture[picture.shape[0] - 1 - round(y), round(x)]


def hue_of(color):
    """The palette's colour that this one is a lighter or darker version of."""
    color = color / np.linalg.norm(color)
    return int(np.argmax(PALETTE / np.linalg.norm(PALETTE, axis=1, keepdims=True) @ color))


def read(path):
    """The pixels of a picture file as integers."""
    with Image.open(path) as image:
        return np.asarray(image).astype(int)


def scene_of(*bodies, floor=True):
    """Shapes at positions, not touching each other's colours."""
    scene = mc.Scene(name="test")
    for shape, position in bodies:
        scene.add_body(shape=shape, position=position)
    if floor:
        scene.add_body("floor", kind="static", shape=mc.Plane((0, 0, 1)))
    return scene


def test_a_cube_is_where_it_is():
    """The picture's coloured pixels are the convex hull of the cube's projected corners."""
    scene = scene_of((mc.Box((0.5, 0.5, 0.5)), (0, 0, 3)), floor=False)
    painter, picture = painted(scene)
    corners = np.array([(x, y, 3 + z) for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)])
    pixels, _ = painter.camera.project(corners)
    colored = np.argwhere(np.abs(picture - BACKGROUND).sum(axis=2) > 60)
    caption = (colored[:, 0] < 30) & ((colored[:, 1] < 60) | (colored[:, 1] > 340))
    colored = colored[~caption]
    rows, columns = picture.shape[0] - 1 - colored[:, 0], colored[:, 1]
    assert columns.min() == pytest.approx(pixels[:, 0].min(), abs=2)
    assert columns.max() == pytest.approx(pixels[:, 0].max(), abs=2)
    assert rows.min() == pytest.approx(pixels[:, 1].min(), abs=2)
    assert rows.max() == pytest.approx(pixels[:, 1].max(), abs=2)
    from scipy.spatial import ConvexHull

    assert len(colored) == pytest.approx(ConvexHull(pixels).volume, rel=0.02)
    assert hue_of(pixel(painter, picture, (0, 0, 3))) == 0


def test_three_faces_of_a_box_have_three_shades():
    scene = scene_of((mc.Box((0.5, 0.5, 0.5)), (0, 0, 1)))
    painter, picture = painted(scene)
    top, front, side = (pixel(painter, picture, p) for p in ((0, 0, 1.5), (0, -0.5, 1), (0.5, 0, 1)))
    assert top.sum() > front.sum() > side.sum()
    assert hue_of(top) == hue_of(front) == hue_of(side) == 0


@pytest.mark.parametrize("near", [0, 1])
def test_what_is_in_front_hides_what_is_behind(near):
    places = [(0, -2.0, 1), (0, 2.0, 1)]
    scene = scene_of((mc.Sphere(0.8), places[near]), (mc.Sphere(0.8), places[1 - near]))
    painter, picture = painted(scene)
    towards_eye = painter.camera.eye - places[0]
    assert hue_of(pixel(painter, picture, places[0] + 0.7 * towards_eye / np.linalg.norm(towards_eye))) == near


def test_shadow_falls_away_from_the_light():
    scene = scene_of((mc.Sphere(0.4), (0, 0, 2.0)), (mc.Sphere(0.4), (2.5, -2.5, 0.4)))
    painter, picture = painted(scene, (800, 600))
    below = painter.ground.below(np.array([0, 0, 2.0]))
    assert below[2] == pytest.approx(0) and below[0] > 0.3 and below[1] > 0.3
    assert np.abs(pixel(painter, picture, below) - SHADOW).max() < 3
    assert np.abs(pixel(painter, picture, below - (0.9, 1.1, 0)) - SHADOW).max() > 8


def test_no_ground_no_shadow():
    _, picture = painted(scene_of((mc.Sphere(0.5), (0, 0, 1.5)), floor=False))
    assert (np.abs(picture[40:] - SHADOW).sum(axis=2) < 3).sum() == 0  # below the title


@pytest.mark.slow
def test_every_scene_is_framed_whole():
    for name in mc.scenes.SCENES:
        scene = mc.load(name)
        positions, orientations = still(scene)
        painter = Painter(scene, positions, orientations, (320, 240))
        dynamic = [body.index for body in scene.bodies if body.kind == "dynamic"]
        pixels, depth = painter.camera.project(positions[0, dynamic])
        assert (depth > 0).all() and (pixels > 0).all() and (pixels < (320, 240)).all(), name
        # ... and fills a good part of the picture in one direction at least.
        corners, _ = painter.camera.project(painter.faces.box_corners(positions, orientations, np.array(dynamic)))
        assert (np.ptp(corners, axis=0) / (320, 240)).max() > 0.3, name


def test_frame_holds_all_points_tightly():
    rng = np.random.default_rng(3)
    for scale in (1e-3, 1.0, 1e4):
        points = rng.normal(size=(50, 3)) * (scale, 2 * scale, 0.3 * scale) + 10 * scale
        pixels, depth = frame(points, (640, 480)).project(points)
        assert (depth > 0).all() and (pixels > 0).all() and (pixels < (640, 480)).all()
        assert (np.ptp(pixels, axis=0) / (640, 480)).max() > 0.7


def test_walls_in_the_way_become_glass():
    scene = mc.scenes.rain(n=60)
    painter, _ = painted(scene)
    glass = {scene.bodies[k].name for k in painter.faces.owners[painter.faces.opacity < 1]}
    assert "south" in glass and "north" not in glass  # the eye is in the south


def test_joined_bodies_share_a_colour_and_groups_differ():
    scene = mc.scenes.ragdolls(count=3)
    colors = body_colors(scene)
    hues = {k: {hue_of(colors[b.index]) for b in scene.bodies if b.name.startswith(f"human{k}.")} for k in range(3)}
    assert all(len(found) == 1 for found in hues.values()) and len(set.union(*hues.values())) == 3
    assert np.ptp(colors[scene.body("floor").index]) < 0.01  # statics are grey


def test_strings_are_drawn_where_a_joint_is_outside_its_body():
    scene = mc.scenes.newton_cradle()
    painter, picture = painted(scene, (800, 600))
    ball = scene.body("ball4")
    half_way = ball.position + (0, 0, 0.5)
    assert np.abs(pixel(painter, picture, half_way) - BACKGROUND).sum() > 150
    assert len(painter.rod_owner) == 5 and len(painter.pins) == 5


def test_long_bodies_are_drawn_in_any_pose():
    """A picture of a recording uses the recorded poses, not the scene's."""
    scene = mc.scenes.pendulum()
    world = mc.World(scene)
    recorder = Recorder(world)
    recorder.step(30)
    recording = recorder.recording()
    painter = Painter(scene, recording.positions, recording.orientations, (400, 300))
    for k in (0, 30):
        picture = painter.picture(recording.positions[k], recording.orientations[k])[..., :3].astype(int)
        for along in (-0.4, 0.0, 0.4):  # points of the rod's middle line
            point = recording.positions[k, 0] + rotate(recording.orientations[k, 0], np.array([0, 0, along]))
            assert hue_of(pixel(painter, picture, point)) == 0
    start = painter.picture(recording.positions[0], recording.orientations[0])
    assert (start != painter.picture(recording.positions[30], recording.orientations[30])).any()


# ---- files -----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def run():
    scene = mc.scenes.dominoes(count=5)
    recorder = Recorder(mc.World(scene), every=2)
    recorder.step(30)
    return scene, recorder.recording()


def test_png_shows_the_end(run, tmp_path):
    scene, recording = run
    save_png(tmp_path / "end.png", scene, recording, size=(320, 240))
    image = read(tmp_path / "end.png")
    assert image.shape == (240, 320, 3) and len(np.unique(image.reshape(-1, 3), axis=0)) > 50
    painter = Painter(scene, recording.positions[-1:], recording.orientations[-1:], (320, 240))
    last = painter.picture(recording.positions[-1], recording.orientations[-1], "1.00 s")
    assert np.array_equal(image, last[..., :3])


def test_strip_puts_pictures_side_by_side(run, tmp_path):
    scene, recording = run
    save_png(tmp_path / "strip.png", scene, recording, frames=3, size=(160, 120))
    image = read(tmp_path / "strip.png")
    assert image.shape == (120, 480, 3)
    assert (image[:, :160] != image[:, 320:]).any()


def test_gif_has_every_frame_and_keeps_the_clock(run, tmp_path):
    scene, recording = run
    seen = []
    save_gif(tmp_path / "film.gif", scene, recording, size=(160, 120), progress=seen.append)
    assert seen == list(range(31))
    with Image.open(tmp_path / "film.gif") as film:
        assert film.size == (160, 120) and film.n_frames == 31 and film.info["loop"] == 0
        durations, frames = [], []
        for k in range(film.n_frames):
            film.seek(k)
            durations.append(film.info["duration"])
            frames.append(np.asarray(film.convert("RGB")))
    # 31 frames span 1 s; the last one stays a second.
    assert sum(durations[:-1]) == 1000 and durations[-1] == 1000 and set(durations[:-1]) <= {30, 40}
    assert (frames[0] != frames[-1]).any()


def test_gif_in_slow_motion(run, tmp_path):
    scene, recording = run
    save_gif(tmp_path / "film.gif", scene, recording, size=(80, 60), speed=0.5)
    with Image.open(tmp_path / "film.gif") as film:
        total = 0
        for k in range(film.n_frames - 1):
            film.seek(k)
            total += film.info["duration"]
    assert total == 2000


def test_a_film_of_one_frame(tmp_path):
    scene = mc.scenes.one()
    positions, orientations = still(scene)
    zero = np.zeros_like(positions)
    recording = Recording(np.zeros(1), positions, orientations, zero, zero, ("floor", "cube"))
    save_gif(tmp_path / "film.gif", scene, recording, size=(80, 60))
    with Image.open(tmp_path / "film.gif") as film:
        assert film.size == (80, 60)


def test_an_empty_scene_is_an_empty_picture(tmp_path):
    scene = mc.Scene(name="nothing")
    empty = np.zeros((1, 0, 3))
    recording = Recording(np.zeros(1), empty, np.zeros((1, 0, 4)), empty, empty, ())
    save_png(tmp_path / "end.png", scene, recording, size=(160, 120))
    image = read(tmp_path / "end.png")
    assert (image[60] == BACKGROUND).all()


def test_same_run_same_file(run, tmp_path):
    scene, recording = run
    for name in ("a.gif", "b.gif"):
        save_gif(tmp_path / name, scene, recording, size=(80, 60))
    assert (tmp_path / "a.gif").read_bytes() == (tmp_path / "b.gif").read_bytes()


@pytest.mark.parametrize(
    "save, name, options, words",
    [
        (save_png, "end.jpg", {}, "must end in .png"),
        (save_gif, "end.png", {}, "must end in .gif"),
        (save_png, "end.png", {"frames": 0}, "1 to 100 frames"),
        (save_gif, "end.gif", {"speed": 0.0}, "speed must be positive"),
    ],
)
def test_wrong_calls(run, tmp_path, save, name, options, words):
    with pytest.raises(mc.SceneError, match=words):
        save(tmp_path / name, *run, **options)
    assert list(tmp_path.iterdir()) == []


def test_a_recording_of_another_scene(run, tmp_path):
    with pytest.raises(mc.SceneError, match="has 6 bodies, the scene 'one' 2"):
        save_png(tmp_path / "end.png", mc.scenes.one(), run[1])


def test_without_matplotlib_it_says_what_to_type(run, tmp_path, monkeypatch):
    real = builtins.__import__

    def fail(name, *args, **kwargs):
        if name.split(".")[0] == "matplotlib":
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", fail)
    with pytest.raises(ImportError, match=r"pip install 'mcsim-physics\[plot\]'"):
        save_png(tmp_path / "end.png", *run)
