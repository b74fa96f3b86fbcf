"""Recordings are played: as a page in one file, served by the command line, in a notebook; and written as other files."""

import base64
import dataclasses
import re
import shutil
import signal
import subprocess
import sys
import urllib.error
import urllib.request

import numpy as np
import pytest

import mcsim as mc
from command_line import call, hear_ctrl_c
from mcsim.io import Recorder
from mcsim.view.batches import Placed

viser = pytest.importorskip("viser")


@pytest.fixture(autouse=True)
def in_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def recorded(name="pendulum", frames=4, **parameters):
    recorder = Recorder(mc.World(mc.load(name, **parameters)), every=4)
    recorder.step(frames)
    return recorder.recording()


def sent(text):
    """What a page holds that viser would have been sent, as its own bytes."""
    (data,) = re.findall(r'window\.__VISER_EMBED_DATA__="([^"]*)"', text)
    return base64.b64decode(data)


def test_a_page_is_one_file(tmp_path):
    """It asks for nothing from elsewhere, and holds the motion: more of it with more frames."""
    for frames in (2, 30):
        recorded(frames=frames).save_html(f"{frames}.html")
    few, many = ((tmp_path / f"{frames}.html").read_text() for frames in (2, 30))
    assert many.startswith("<!") and len(sent(many)) > len(sent(few)) + 500
    assert not re.search(r"""<(script|link|img)[^>]+(src|href)=["']?https?:""", many)


def test_a_film_of_ragdolls_is_small(tmp_path):
    """10 s of 201 bodies."""
    recorder = Recorder(mc.World(mc.scenes.ragdolls(count=20)), every=2)
    recorder.step(300)
    recorder.recording().save_html("ragdolls.html")
    assert (tmp_path / "ragdolls.html").stat().st_size < 2.5e6


@pytest.mark.parametrize("name", ["ragdolls", "marbles", "four_bar"])
def test_shapes_are_placed_where_the_world_has_them(name):
    world = mc.World(mc.load(name))
    world.step(7)
    placed = Placed(world.scene)
    positions, orientations = placed.poses(np.array(world.positions), np.array(world.orientations))
    expected, turns = world.shape_poses()
    assert np.array_equal(placed.bodies, world.shape_bodies)
    assert np.allclose(positions, expected, atol=1e-12)
    assert np.allclose(np.abs(np.einsum("si,si->s", orientations, turns)), 1.0, atol=1e-12)


def test_notebooks_show_it(monkeypatch):
    """Where the scene is known and viser is there; else it stays text."""
    recording = recorded()
    assert recording._repr_html_().startswith("<iframe srcdoc=")
    assert dataclasses.replace(recording, scene=None)._repr_html_() is None
    monkeypatch.setitem(sys.modules, "viser", None)
    assert recording._repr_html_() is None


def test_without_viser_it_says_what_to_type(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "viser", None)
    with pytest.raises(ImportError, match=r"pip install 'mcsim-physics\[view\]'"):
        recorded().save_html("run.html")
    code, out, err = call(capsys, "run", "one", "--html", "one.html")
    assert code == 2 and out == "" and "pip install 'mcsim-physics[view]'" in err


def test_the_command_line_writes_all_kinds(capsys, tmp_path):
    outputs = ["--html", "a.html", "--glb", "a.glb", "--png", "a.png", "--gif", "a.gif"]
    code, out, err = call(capsys, "run", "pendulum", "--seconds", 0.2, "--out", "a.npz", *outputs)
    assert code == 0 and err == "" and out.count("wrote  ") == 5
    first = {path.suffix: path.read_bytes() for path in tmp_path.iterdir()}
    code, out, err = call(capsys, "play", "a.npz", *(name.replace("a.", "b.") for name in outputs))
    assert code == 0 and err == "" and out.count("wrote  ") == 4
    for suffix in (".glb", ".png", ".gif"):
        assert (tmp_path / f"b{suffix}").read_bytes() == first[suffix]


def test_play_refuses_what_is_no_recording(capsys, tmp_path):
    dataclasses.replace(recorded(), scene=None).save("bare.npz")
    np.savez("arrays.npz", a=np.ones(3))
    (tmp_path / "scene.json").write_text("{}")
    for name, words in (
        ("bare.npz", "bare.npz: has no scene"),
        ("arrays.npz", "arrays.npz: is a file of arrays"),
        ("scene.json", "scene.json: is no recording"),
        ("pyramid", "pyramid: is no recording"),
        ("gone.npz", "gone.npz"),
    ):
        code, out, err = call(capsys, "play", name)
        assert code == 2 and out == "" and words in err and err.count("\n") == 1


def test_a_page_is_served_until_ctrl_c():
    """To this machine alone; any path but the page's is missing."""
    recorded().save("run.npz")
    command = [sys.executable, "-m", "mcsim", "play", "run.npz", "--port", "0"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, preexec_fn=hear_ctrl_c
    ) as process:
        line = process.stdout.readline()
        (address,) = re.findall(r"http://127\.0\.0\.1:\d+/", line)
        text = urllib.request.urlopen(address, timeout=20).read().decode()
        assert sent(text)
        with pytest.raises(urllib.error.HTTPError):
            urllib.request.urlopen(address + "other", timeout=20)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=20)
    assert process.returncode == 0 and out == "" and err == ""


def test_a_taken_port_gives_way_to_the_next(capsys):
    from http.server import BaseHTTPRequestHandler

    from mcsim.view.serve import _listening

    with _listening("127.0.0.1", 0, BaseHTTPRequestHandler) as first:
        port = first.server_address[1]
        with _listening("127.0.0.1", port, BaseHTTPRequestHandler) as second:
            assert second.server_address[1] > port
    with pytest.raises(mc.SceneError, match="host"):
        _listening("no.such.host.invalid", 0, BaseHTTPRequestHandler)


@pytest.mark.slow
def test_a_browser_shows_the_bodies(tmp_path):
    """Headless Chromium opens the file: there are no errors, and the picture has the colours of bodies."""
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    if chromium is None:
        pytest.skip("there is no Chromium")
    from PIL import Image

    recorded("pyramid", base=4).save_html("run.html")
    options = ["--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--disable-background-networking"]
    with playwright.sync_playwright() as run, run.chromium.launch(executable_path=chromium, args=options) as browser:
        page = browser.new_page(viewport={"width": 600, "height": 450})
        errors = []
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
        page.goto((tmp_path / "run.html").as_uri())
        page.wait_for_selector("canvas", timeout=60_000)
        page.wait_for_timeout(5000)
        page.screenshot(path="page.png", timeout=120_000)
    assert not errors
    with Image.open("page.png") as picture:
        pixels = np.asarray(picture.convert("RGB"), float)[100:380]
    colourful = np.ptp(pixels, axis=2) > 20
    assert 0.03 < colourful.mean() < 0.6
