"""Pictures for print: cameras, joints and forces over the bodies, scales, panels, light and dark."""

import numpy as np
import pytest
from PIL import Image

import mcsim as mc
from mcsim.core.rotation import matrix
from mcsim.io import Recorder
from mcsim.view import Camera, save_gif, save_png
from mcsim.view.camera import camera_of, frame
from mcsim.view.colors import COLORS
from mcsim.view.painter import Painter
from mcsim.view.stamps import ROW, nice, rgb, told

POINTS = np.random.default_rng(1).normal(size=(40, 3)) * (2.0, 1.0, 3.0)


def read(path):
    with Image.open(path) as image:
        return np.asarray(image.convert("RGB")).astype(int)


def near(picture, color, within=40):
    """Which pixels have nearly that colour, (3,) 0 to 1."""
    return np.abs(picture - np.round(255 * np.array(color))).max(axis=2) <= within


def luminance(pixels):
    """Of (…, 3), 0 to 255: relative luminance as WCAG 2.1 defines it."""
    parts = np.asarray(pixels) / 255
    return np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4) @ (0.2126, 0.7152, 0.0722)


def painter_of(world, size=(400, 300), **keywords):
    return Painter(world.scene, world.positions[None], world.orientations[None], size, **keywords)


# ---- cameras ---------------------------------------------------------------------------------------------------------


def test_orthographic_keeps_lengths_and_parallel_lines():
    """Equal ways anywhere in space are equal ways in the picture; in perspective they are not."""
    way = np.array([0.3, -0.2, 0.5])
    for direction in (None, "front", "side", "top", (1.0, 2.0, -0.5)):
        camera = frame(POINTS, (400, 300), Camera(direction, "orthographic"))
        ways = camera.project(POINTS + way)[0] - camera.project(POINTS)[0]
        assert ways == pytest.approx(np.broadcast_to(ways[0], ways.shape), abs=1e-9)
        assert np.linalg.norm(ways[0]) / camera.scale == pytest.approx(
            np.linalg.norm(way - (way @ camera.axes[2]) * camera.axes[2])
        )
    camera = frame(POINTS, (400, 300))
    ways = camera.project(POINTS + way)[0] - camera.project(POINTS)[0]
    assert np.ptp(ways, axis=0).max() > 3


@pytest.mark.parametrize(
    "name, right, up",
    [
        ("front", (1, 0, 0), (0, 0, 1)),
        ("back", (-1, 0, 0), (0, 0, 1)),
        ("side", (0, 1, 0), (0, 0, 1)),
        ("top", (1, 0, 0), (0, 1, 0)),
        ((-1, 0, 0), (0, -1, 0), (0, 0, 1)),
    ],
)
def test_views_by_name(name, right, up):
    camera = frame(POINTS, (400, 300), camera_of(name))
    assert camera.orthographic
    assert camera.axes[:2] == pytest.approx(np.array([right, up], float), abs=1e-12)
    assert np.linalg.det(camera.axes) == pytest.approx(1)
    pixels, depth = camera.project(POINTS)
    assert (pixels > 0).all() and (pixels < (400, 300)).all() and (depth > 0).all()
    assert (np.ptp(pixels, axis=0) / (400, 300)).max() == pytest.approx(0.86)


@pytest.mark.parametrize("projection", ["perspective", "orthographic"])
def test_the_target_is_in_the_middle_and_the_height_is_kept(projection):
    for given in ({"target": (1, 2, 3)}, {"target": (1, 2, 3), "height": 4.0, "direction": (0, -1, 0)}):
        camera = frame(POINTS, (400, 300), Camera(projection=projection, **given))
        assert camera.project(np.array([1.0, 2, 3]))[0] == pytest.approx((200, 150))
    ends = camera.project(np.array([[1.0, 2, 1], [1, 2, 5]]))[0]
    assert ends[:, 1] == pytest.approx((0, 300))
    eye = frame(POINTS, (400, 300), Camera(projection=projection, eye=(5, -9, 4), target=(1, 2, 3), height=4.0))
    assert eye.project(np.array([1.0, 2, 3]))[0] == pytest.approx((200, 150))
    assert eye.eye == pytest.approx((5, -9, 4)) and eye.distance == pytest.approx(np.linalg.norm((4, -11, 1)))


def test_wrong_cameras():
    for given, words in (
        ({"direction": "left"}, "camera: direction must be one of: front, back, side, top; got 'left'"),
        ({"projection": "fisheye"}, "camera: projection must be one of"),
        ({"direction": (0, 0, 0)}, "camera: direction must not be zero"),
        ({"eye": (0, 0)}, "camera: eye must be 3 numbers"),
        ({"eye": (0, 0, 1), "direction": "top"}, "either an eye or a direction"),
        ({"height": 0.0}, "camera: height must be a positive number of metres, got 0.0"),
    ):
        with pytest.raises(mc.SceneError, match=words):
            Camera(**given)
    with pytest.raises(mc.SceneError, match="camera must be a Camera, a direction .3,. or one of: perspective, .*'below'"):
        camera_of("below")
    with pytest.raises(mc.SceneError, match="eye must not be where the target is"):
        frame(POINTS, (4, 3), Camera(eye=(1, 2, 3), target=(1, 2, 3)))


def test_a_cube_from_the_front_is_a_square_of_its_size():
    """To the pixel, and hidden parts stay hidden: the depth of an orthographic picture is right too."""
    scene = mc.Scene()
    scene.add_body("near", shape=mc.Box((0.5, 0.5, 0.5)), position=(0, -3, 1))
    scene.add_body("far", shape=mc.Box((0.5, 0.5, 0.5)), position=(0.5, 3, 1))
    painter = painter_of(mc.World(scene), camera=Camera("front", "orthographic", height=2.0))
    picture = painter.picture(*still(scene)).astype(int)
    body = np.abs(picture - rgb(COLORS["light"].background)).sum(axis=2) > 60
    rows = body[40:-ROW]
    side = painter.camera.scale
    assert rows.any(axis=1).sum() == pytest.approx(side, abs=1)
    assert rows.any(axis=0).sum() == pytest.approx(1.5 * side, abs=1)
    (x, y), _ = painter.camera.project(np.array([0.25, 0.0, 1.0]))  # both are there: the near one is seen
    color = picture[300 - round(y), round(x)] / 255
    own = [painter.faces.colors[painter.faces.owners == k][0] for k in (0, 1)]
    off = [np.linalg.norm(color / color.sum() - c / c.sum()) for c in own]
    assert off[0] < 0.02 < off[1]


def still(scene):
    return np.array([body.position for body in scene.bodies]), np.array([body.orientation for body in scene.bodies])


def test_the_ground_from_its_side_is_a_line():
    scene = mc.Scene()
    scene.add_body("floor", shape=mc.Plane((0, 0, 1)), kind="static")
    scene.add_body("box", shape=mc.Box((0.5, 0.5, 0.5)), position=(0, 0, 2))
    painter = painter_of(mc.World(scene), camera=Camera("front", "orthographic", target=(0, 0, 1), height=4.0))
    picture = painter.picture(*still(scene)).astype(int)
    dark = np.abs(picture - rgb(COLORS["light"].background)).sum(axis=2) > 60
    full = np.flatnonzero(dark[:, 250:].all(axis=1))  # beside box and scale
    assert abs(full.mean() - (300 - 75)) < 1.5 and 1 <= len(full) <= 2
    assert not dark[30:222, 300:].any()  # nothing is above it, no shadow
    assert dark[228:232, 250:].any() and not dark[236:, 250:].any()  # strokes are below


# ---- scales ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("theme", COLORS)
def test_the_scale_bar_has_its_length(theme):
    """Dark on light, or light on dark, it is as many pixels long as the metres it tells."""
    scene = mc.Scene()
    scene.add_body("box", shape=mc.Box((0.5, 0.5, 0.5)), position=(0, 0, 2))
    for height in (0.05, 3.0, 700.0):
        painter = painter_of(
            mc.World(scene), theme=theme, camera=Camera("front", "orthographic", height=height, target=(9, 9, 9 + height))
        )
        picture = painter.picture(*still(scene)).astype(int)
        row = picture[300 - ROW // 2]
        inked = np.flatnonzero(np.abs(row[:200] - rgb(COLORS[theme].text)).max(axis=1) < 30)
        first = inked[: np.argmax(np.append(np.diff(inked), 9) > 1) + 1]  # up to the first gap: what follows is text
        ((scale, _),) = painter.overlay._scales
        assert len(first) == pytest.approx(scale.value * painter.camera.scale, abs=1)
        assert len(first) <= 100 and first[0] == 12


def test_scales_are_round_numbers():
    assert [nice(x) for x in (0.0199, 0.02, 1.0, 7.0, 49.9)] == [0.01, 0.02, 1.0, 5.0, 20.0]
    assert [told(x, "m") for x in (0.002, 0.5, 1.0, 20.0, 5000.0)] == ["2 mm", "500 mm", "1 m", "20 m", "5 km"]


# ---- joints and forces -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("floor_first", [True, False])
def test_arrows_show_where_forces_are_and_how_large(floor_first):
    """Balls of 1 and 3 kg on a floor: an arrow goes up from each one's foot, and one is three times as long."""
    scene = mc.Scene()
    floor = {"shape": mc.Plane((0, 0, 1)), "kind": "static"}
    if floor_first:
        scene.add_body("floor", **floor)
    for x, mass in ((-1.0, 1.0), (1.0, 3.0)):
        scene.add_body(shape=mc.Sphere(0.3), mass=mass, position=(x, 0, 0.3))
    if not floor_first:
        scene.add_body("floor", **floor)
    world = mc.World(scene)
    world.step(30)
    scale = 1.2 / (3.0 * 9.81 * world.dt)  # the large one is 1.2 m long
    view = Camera("front", "orthographic", target=(0, 0, 0.5), height=2.5)
    painter = painter_of(world, (600, 300), camera=view, show=("contacts",), arrow_scale=scale)
    picture = painter.picture(world.positions, world.orientations, "", world.contacts).astype(int)
    red = near(picture[: 300 - 2 * ROW], COLORS["light"].marks["contacts"])
    lengths = []
    for x in (-1.0, 1.0):
        (column, foot), _ = painter.camera.project(np.array([x, 0, 0]))
        rows = np.flatnonzero(red[:, round(column) - 1])
        assert abs(rows.max() - (300 - foot)) <= 4  # it begins at the contact, whose point has a radius
        lengths.append((300 - foot) - rows.min())
    expected = painter.camera.scale * 1.2
    assert lengths[1] == pytest.approx(expected, abs=4) and lengths[0] == pytest.approx(expected / 3, abs=4)
    assert not red[: round(300 - foot - expected - 8)].any()  # nothing is above the longest
    # The scale of the arrows, in the row over that of the metres, is one of them.
    (_, _), (key, _) = painter.overlay._scales
    assert key.pixels == pytest.approx(key.value * scale * painter.camera.scale)
    drawn = np.flatnonzero(near(picture, COLORS["light"].marks["contacts"])[300 - ROW - ROW // 2, :200])
    assert drawn[0] == 12 and len(drawn) == pytest.approx(key.pixels, abs=2)
    without = painter_of(world, (600, 300), camera=view).picture(world.positions, world.orientations).astype(int)
    assert not near(without, COLORS["light"].marks["contacts"]).any()


def test_joints_and_their_axes_are_over_the_bodies():
    world = mc.World(mc.load("double_pendulum"))
    world.step(20)
    view = Camera((0.6, -1.0, 0.2), "orthographic")
    painter = painter_of(world, (500, 400), camera=view, show=("joints",))
    picture = painter.picture(world.positions, world.orientations).astype(int)
    marks = COLORS["light"].marks
    for name in world.joint_names:
        joint = next(joint for joint in world.scene.joints if joint.name == name)
        number = world.body_names.index(joint.b)
        turn = matrix(world.orientations[number])
        place = world.positions[number] + turn @ (joint.frame_b[0] - world.scene.bodies[number].center_of_mass)
        (x, y), _ = painter.camera.project(place)
        around = picture[400 - round(y) - 5 : 400 - round(y) + 5, round(x) - 5 : round(x) + 5]
        assert near(around, marks["joints"]).sum() > 10  # the ring
        axis = turn @ matrix(joint.frame_b[1])[:, 2]
        way = painter.camera.project(place + axis)[0] - (x, y)
        way *= 12 / np.linalg.norm(way)  # pixels: outside the ring
        for side in (-1, 1):
            column, row = round(x + side * way[0]), 400 - round(y + side * way[1])
            assert near(picture[row - 2 : row + 2, column - 2 : column + 2], marks["axes"], 60).any()


def test_wrong_marks(tmp_path):
    world = mc.World(mc.load("one"))
    recording = Recorder(world).recording()
    for keywords, words in (
        ({"show": "forces"}, "show: must be of: joints, contacts; got 'forces'"),
        ({"show": "contacts", "arrow_scale": -1.0}, "arrow_scale must be a positive number"),
        ({"show": ("joints", "contacts")}, "the recording has no contacts to show; Recorder.world, contacts=True. keeps"),
        ({"theme": "blue"}, "theme must be one of: light, dark"),
        ({"times": "now"}, "times"),
        ({"times": (0.0, 1.0), "frames": 2}, "either frames or times"),
        ({"camera": (1, 2)}, "camera: direction must be 3 numbers"),
    ):
        with pytest.raises(mc.SceneError, match=words):
            save_png(tmp_path / "a.png", world.scene, recording, **keywords)
    with pytest.raises(mc.SceneError, match="of a scene a recording is drawn, or give a World"):
        save_png(tmp_path / "a.png", world.scene)
    assert not list(tmp_path.iterdir())


# ---- themes, panels, files -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("theme", COLORS)
def test_pictures_are_legible_on_both_grounds(theme, tmp_path):
    world = mc.World(mc.load("stack", count=3))
    world.step(5)
    save_png(tmp_path / "a.png", world, theme=theme, show="contacts", size=(300, 240))
    picture = read(tmp_path / "a.png")
    values = luminance(picture)
    ground = luminance(rgb(COLORS[theme].background))
    assert np.median(values[:28]) == pytest.approx(ground) and (ground < 0.05) == (theme == "dark")
    text = values[:28, :60].min() if theme == "light" else values[:28, :60].max()
    low, high = sorted((text, ground))
    assert (high + 0.05) / (low + 0.05) >= 4.5
    assert near(picture, COLORS[theme].marks["contacts"]).sum() > 50


@pytest.fixture(scope="module")
def recordings():
    found = {}
    for name, keywords in (("tree", {}), ("rows", {"joint_solver": "rows", "iterations": 1})):
        world = mc.World(mc.load("chain", count=6), **keywords)
        recorder = Recorder(world, every=5, contacts=True)
        recorder.step(4)
        found[name] = recorder.recording()
    return world.scene, found


def test_panels_have_borders_and_one_camera(recordings, tmp_path):
    scene, found = recordings
    save_png(tmp_path / "a.png", scene, found, times=(0.0, 0.17, 0.3), size=(160, 120), camera="front", theme="dark")
    picture = read(tmp_path / "a.png")
    assert picture.shape == (240, 480, 3)
    line = np.round(255 * np.array(COLORS["dark"].grid)).astype(int)
    for edge in (picture[0], picture[120], picture[-1], picture[:, 0], picture[:, 160], picture[:, 320], picture[:, -1]):
        assert (edge == line).all()
    # At the start both are where the scene has them: below the captions the panels of the first column are the same.
    assert np.array_equal(picture[57:119, 1:159], picture[177:239, 1:159])
    assert not np.array_equal(picture[57:119, 321:479], picture[177:239, 321:479])


def test_films_side_by_side(recordings, tmp_path):
    scene, found = recordings
    save_gif(tmp_path / "a.gif", scene, found, size=(160, 120), show="joints", camera="side")
    with Image.open(tmp_path / "a.gif") as film:
        assert film.size == (320, 120) and film.n_frames == 5


def test_a_world_is_drawn_as_it_is_now(tmp_path):
    world = mc.World(mc.load("stack", count=2))
    world.step(3)
    save_png(tmp_path / "a.png", world, show=("contacts",), size=(160, 120))
    recorder = Recorder(world, contacts=True)
    save_png(tmp_path / "b.png", world.scene, recorder.recording(), show=("contacts",), size=(160, 120))
    assert (tmp_path / "a.png").read_bytes() == (tmp_path / "b.png").read_bytes()


def test_films_have_the_colours_of_pictures(tmp_path):
    """Of each pixel the colour of the palette that is nearest, or nearly."""
    world = mc.World(mc.load("stack", count=4))
    save_png(tmp_path / "a.png", world, size=(160, 120))
    save_gif(tmp_path / "a.gif", world.scene, Recorder(world).recording(), size=(160, 120))
    wanted, found = read(tmp_path / "a.png"), read(tmp_path / "a.gif")
    colors = np.unique(found.reshape(-1, 3), axis=0)
    assert len(colors) > 60
    away = np.linalg.norm(wanted[:, :, None] - colors, axis=3).min(axis=2)
    off = np.linalg.norm(wanted - found, axis=2)
    assert (off <= away + 8).all() and np.mean(off) < 3.0
