"""The live view without a browser: what is drawn, the page's messages, threads, addresses, the command line."""

import contextlib
import itertools
import json
import socket
import subprocess
import sys
import threading
import time
import types
import urllib.request
from xml.etree import ElementTree

import numpy as np
import pytest

import mcsim as mc
from command_line import hear_ctrl_c
from mcsim.core.rotation import matrices
from mcsim.live.frames import Camera, Wanted
from mcsim.live.looks import ARROW, COLORINGS, LINES, Looks
from mcsim.live.session import Session
from mcsim.view.instances import batches, boxes
from mcsim.view.marks import LINE_COLORS
from mcsim.view.serve import warning_of

with_viser = pytest.mark.skipif(
    not __import__("importlib.util").util.find_spec("viser"), reason="viser is not installed: pip install -e '.[view]'"
)
# viser and what it stands on warn of each other's old ways.
pytestmark = pytest.mark.filterwarnings("default")

RAMP = mc.HeightField([[0, 1, 0], [2, 3, 0]], 0.5, position=(9, 0, 0))


def shapes_of(scene):
    """All shapes in the order of world.shape_poses()."""
    return [shape for body in scene.bodies for shape in body.shapes]


def zoo():
    """Every type of shape, placed in its body, some of them twice in other sizes; joints with and without axes."""
    scene = mc.Scene(name="zoo")
    scene.add_body("floor", shape=[mc.Plane((0, 0, 1)), RAMP], kind="static")
    scene.add_body(
        "rock", shape=mc.Mesh([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)], [(0, 1, 2), (0, 1, 3)]), kind="static"
    )
    kinds = [
        mc.Sphere(0.2),
        mc.Sphere(0.3),
        mc.Box((0.1, 0.2, 0.3)),
        mc.Box((0.2, 0.2, 0.1)),
        mc.Capsule(0.1, 0.2),
        mc.Capsule(0.2, 0.4),
        mc.Capsule(0.2, 0.3),
        mc.Cylinder(0.1, 0.2),
        mc.Cylinder(0.2, 0.1),
        mc.Cone(0.2, 0.2),
        mc.ConvexHull([(0, 0, 0), (0.4, 0, 0), (0, 0.4, 0), (0, 0, 0.4)]),
    ]
    for k, shape in enumerate(kinds):
        turn = (0.5, 0.5, -0.5, 0.5)
        scene.add_body(
            f"b{k}",
            shape=[shape.changed(position=np.array([0.1, 0, 0.2]), orientation=np.array(turn)), mc.Sphere(0.05)],
            position=(0.8 * k, 4, 1.0),
            orientation=(0.6, 0, 0.8, 0),
        )
    scene.add_joint(mc.HingeJoint(None, "b0", anchor=(0, 4, 1.5), axis=(0, 1, 0), name="hinge"))
    scene.add_joint(mc.BallJoint("b0", "b1", anchor=(0.4, 4, 1), name="ball"))
    scene.add_joint(mc.SliderJoint(None, "b2", axis=(0, 1, 0), name="slider"))
    return scene


# ---- what is drawn ---------------------------------------------------------------------------------------------------


def test_batches_are_the_shapes():
    """Each shape's own triangles, placed, are those of the batches that have it; few meshes for many shapes."""
    world = mc.World(zoo())
    world.step(10)
    scene, (positions, orientations) = world.scene, world.shape_poses()
    rotations = matrices(orientations)
    made = batches(scene, 20.0)
    drawn: dict[int, list] = {}
    for batch in made:
        assert batch.triangles.max() < len(batch.vertices) and len(batch.shapes) == len(batch.scales)
        for number, scale in zip(batch.shapes.tolist(), batch.scales):
            corners = (scale * batch.vertices)[batch.triangles] @ rotations[number].T + positions[number]
            drawn.setdefault(number, []).append(corners.reshape(-1, 3))
    shapes = shapes_of(scene)
    assert drawn.keys() == set(range(len(shapes)))
    for number, shape in enumerate(shapes):
        found = np.unique(np.concatenate(drawn[number]).round(9), axis=0)
        wanted = shape.triangles()[0] @ rotations[number].T + positions[number]
        distance = np.abs(found[:, None] - wanted[None]).max(axis=2)
        assert distance.min(axis=0).max() < 1e-6 * max(shape.extent if shape.type != "plane" else 20.0, 1.0)
        assert distance.min(axis=1).max() < 1e-6 * max(shape.extent if shape.type != "plane" else 20.0, 1.0)
    assert len(made) < len(shapes)
    assert len(batches(mc.load("rain", count=300), 10.0)) <= 12
    owners = [body.kind == "dynamic" for body in scene.bodies for _ in body.shapes]
    assert all(owners[number] == batch.moving for batch in made for number in batch.shapes)


def test_boxes_hold_their_shapes():
    world = mc.World(zoo())
    positions, orientations = world.shape_poses()
    rotations = matrices(orientations)
    low, high = boxes(batches(world.scene, 1.0), positions, rotations)
    for k, shape in enumerate(shapes_of(world.scene)):
        if shape.type == "plane":
            assert np.isnan(low[k]).all()
            continue
        corners = shape.triangles()[0] @ rotations[k].T + positions[k]
        assert low[k] == pytest.approx(corners.min(axis=0), abs=1e-6)
        assert high[k] == pytest.approx(corners.max(axis=0), abs=1e-6)


@pytest.mark.parametrize("make", [mc.World, mc.ReducedWorld])
def test_every_coloring_and_every_line(make):
    world = make(zoo(), dt=1 / 120)
    world.step(60)
    before = world.state_hash()
    looks = Looks(world)
    for how in COLORINGS:
        colors = looks.coloring(how)
        assert colors.shape == (len(world.body_names), 3) and colors.min() >= 0.0 and colors.max() <= 1.0
    for what in LINES:
        for name, segments in looks.lines(what).items():
            assert name in LINE_COLORS and segments.shape[1:] == (2, 3) and np.isfinite(segments).all() and len(segments)
    assert world.state_hash() == before


def test_boxes_are_those_of_the_broad_phase():
    """Edges between the corners that world.shape_boxes() gives; where a state was restored, those around the shapes."""
    world = mc.World(zoo())
    world.step(3)
    looks, planes = Looks(world), np.array([shape.type == "plane" for shape in shapes_of(world.scene)])

    def corners():
        found = looks.lines("boxes")["boxes"].reshape(-1, 12, 2, 3)
        assert (np.sum(found[:, :, 0] != found[:, :, 1], axis=2) <= 1).all(), "edges go along axes"
        return np.stack([found.min(axis=(1, 2)), found.max(axis=(1, 2))], axis=1)

    assert corners() == pytest.approx(world.shape_boxes()[~planes], abs=1e-12)
    world.restore(world.snapshot())
    positions, orientations = world.shape_poses()
    exact = boxes(batches(world.scene, 1.0), positions, matrices(orientations))
    assert corners() == pytest.approx(np.stack(exact, axis=1)[~planes], abs=1e-12)


def test_colors_tell_what_they_say():
    scene = mc.Scene(gravity=(0, 0, 0))
    for k in range(3):
        scene.add_body(f"b{k}", shape=mc.Box((0.1, 0.1, 0.1)), position=(k, 0, 0), velocity=(0, 4.0 * k, 0))
    scene.add_joint(mc.BallJoint("b0", "b1", anchor=(0.5, 0, 0)))
    world = mc.World(scene)
    looks = Looks(world)
    for how in ("speed", "energy"):
        red = looks.coloring(how)[:, 0]
        assert red[0] < red[1] < red[2]
    islands = looks.coloring("island")
    assert np.array_equal(islands[0], islands[1]) and not np.array_equal(islands[0], islands[2])
    world.positions[0] += 1e-3
    errors = looks.coloring("joint error")
    assert np.array_equal(errors[0], errors[1]) and errors[0, 0] > errors[2, 0]
    rest = mc.World(mc.load("stack", count=1))
    awake = Looks(rest).coloring("body")
    rest.step(600)
    assert rest.asleep.any() and not np.array_equal(Looks(rest).coloring("body")[rest.asleep], awake[rest.asleep])


def test_lines_are_where_they_belong():
    """Joints' points meet, axes lie along the axis; arrows bear the weight; boxes of inertia have the mass and inertia."""
    scene = mc.Scene()
    scene.add_body("floor", shape=mc.Plane((0, 0, 1)), kind="static")
    scene.add_body("box", shape=mc.Box((0.1, 0.2, 0.3)), position=(0, 0, 0.3))
    scene.add_body("rod", shape=mc.Box((0.1, 0.1, 0.5)), position=(3, 0, 2))
    scene.add_joint(mc.HingeJoint(None, "rod", anchor=(3, 0, 2.5), axis=(0, 1, 0)))
    world = mc.World(scene, sleep=False)
    world.step(120)
    looks = Looks(world)
    (axis,) = looks.lines("joints")["axes"]
    assert axis.mean(axis=0) == pytest.approx((3, 0, 2.5), abs=1e-6)
    assert np.cross(axis[1] - axis[0], (0, 1, 0)) == pytest.approx(0.0, abs=1e-9)
    assert (np.linalg.norm(looks.lines("joints")["joints"][:, 1] - (3, 0, 2.5), axis=1) < 1e-6).all()
    arrows = looks.lines("contacts")["contacts"]
    total = (arrows[:, 1] - arrows[:, 0]).sum(axis=0)
    weights = {name: world.body(name).mass for name in ("box", "rod")}
    usual = np.median(list(weights.values()))
    assert total == pytest.approx((0, 0, weights["box"] / usual * ARROW * looks.size), rel=1e-3, abs=1e-6)
    assert arrows[:, 0, 2] == pytest.approx(0.0, abs=1e-2) and len(arrows) == 4
    edges = looks.lines("inertia")["inertia"][:12]
    sides = np.sort(np.unique(np.linalg.norm(edges[:, 1] - edges[:, 0], axis=1).round(6)))
    assert sides == pytest.approx((0.2, 0.4, 0.6))
    corners = np.unique(edges.reshape(-1, 3).round(4), axis=0)
    assert len(corners) == 8 and corners.mean(axis=0) == pytest.approx(world.body("box").position, abs=1e-4)


def test_frames_are_copies_and_come_with_changes():
    session, wanted = Session([mc.World(zoo())]), Wanted()
    camera = Camera(session, wanted)
    first = camera.take_new()
    assert camera.take_new() is None
    session.submit("step")
    session.tick(0.0)
    before = first.worlds[0].positions.copy()
    second = camera.take_new()
    assert np.array_equal(first.worlds[0].positions, before)
    assert not np.array_equal(second.worlds[0].positions, before) and second.time > first.time
    wanted.switch("contacts", True)
    assert "contacts" in camera.take_new().worlds[0].lines
    with pytest.raises(mc.SceneError, match="switch must be one of"):
        wanted.switch("everything", True)
    with pytest.raises(mc.SceneError, match="coloring must be one of"):
        wanted.color_by("taste")


# ---- the page --------------------------------------------------------------------------------------------------------


@pytest.fixture
def view():
    with mc.view(mc.World(zoo()), port=0, open_browser=False) as found:
        yield found


def until(done, seconds=60.0):
    end = time.monotonic() + seconds
    while not done():
        assert time.monotonic() < end
        time.sleep(0.01)


@with_viser
def test_it_plays_and_closes(view):
    assert "1 worlds" in repr(view) and view.url.startswith("http://127.0.0.1:")
    assert b"<html" in urllib.request.urlopen(view.url, timeout=30).read().lower()
    view.session.submit("play")
    until(lambda: view.session.time > 0.2 and view.frames_sent > 2)
    threads = {thread.name for thread in threading.enumerate()}
    assert {"mcsim view, simulate", "mcsim view, send"} <= threads
    view.close()
    view.close()
    assert "closed" in repr(view)
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("mcsim view")]
    (world,) = view.worlds
    time_then = world.time
    world.step()  # it is the caller's again
    assert world.time > time_then
    with pytest.raises(OSError):
        urllib.request.urlopen(view.url, timeout=5)


@with_viser
@pytest.mark.parametrize("kernel, opened", [(None, 1), (object(), 0)], ids=["terminal", "notebook"])
def test_a_notebook_shows_it_in_the_cell(monkeypatch, kernel, opened):
    """A view is the page in a frame as long as it is open, and plays meanwhile; no window is opened beside it."""
    windows = []
    monkeypatch.setattr("webbrowser.open", windows.append)
    monkeypatch.setenv("DISPLAY", ":0")
    shell = types.SimpleNamespace(kernel=kernel)
    monkeypatch.setitem(sys.modules, "IPython", types.SimpleNamespace(get_ipython=lambda: shell))
    view = mc.view(mc.World(zoo()), port=0, playing=True)
    until(lambda: view.session.time > 0.05)
    found = view._repr_html_()
    assert len(windows) == opened
    frame = ElementTree.fromstring(found)
    assert (frame.tag, frame.get("src")) == ("iframe", view.url)
    assert b"<html" in urllib.request.urlopen(frame.get("src"), timeout=30).read().lower()
    view.close()
    assert view._repr_html_() is None


@with_viser
def test_two_views_at_once():
    with (
        mc.view(mc.World(zoo()), port=0, open_browser=False, playing=True) as one,
        mc.view(mc.World(mc.load("chain", count=3)), port=0, open_browser=False, playing=True) as two,
    ):
        assert one.url != two.url
        until(lambda: one.session.time > 0.1 and two.session.time > 0.1)


@with_viser
def test_only_this_machine_is_served(view):
    """The socket listens on 127.0.0.1; another address of this machine does not answer."""
    port = int(view.url.rsplit(":", 1)[1])
    socket.create_connection(("127.0.0.1", port), 5).close()
    with contextlib.suppress(OSError), pytest.raises(OSError):
        socket.create_connection(("127.0.0.2", port), 2).close()
    assert warning_of("127.0.0.1") == "" and "no password" in warning_of("0.0.0.0")


@with_viser
def test_whatever_a_page_sends_the_view_goes_on(view):
    """Bytes that are no messages, messages with wrong values, calls of the panel with wrong values; all while it plays."""
    import viser
    from websockets.sync.client import connect

    view.session.submit("play")
    port, random = int(view.url.rsplit(":", 1)[1]), np.random.default_rng(1)
    junk = [random.bytes(n) for n in (0, 1, 7, 300)] + [json.dumps({"type": "GuiUpdateMessage", "uuid": 3}).encode()]
    for message in junk:
        with (
            contextlib.suppress(Exception),
            connect(f"ws://127.0.0.1:{port}", subprotocols=[f"viser-v{viser.__version__}"], max_size=None) as socket_,
        ):
            socket_.send(message)
            socket_.recv(timeout=0.2)
    said = []
    client = types.SimpleNamespace(add_notification=lambda *words, **more: said.append(words[1]))
    for name, values in itertools.product(
        ("kick", "throw", "speed", "go_to", "gravity", "setting", "nonsense"),
        ({}, {"body": "b3"}, {"factor": "x"}, {"place": np.inf}, {"value": [1]}, {"name": "dt", "value": "x" * 10**6}),
    ):
        view._ask(client, name, **values)
    assert len(said) == 42 and all(len(sentence) < 2000 for sentence in said)
    event = types.SimpleNamespace(
        client=client,
        phase="start",
        start_position=(np.nan,) * 3,
        end_position=(0, 0, 1e30),
        ray_direction=(0, 0, np.inf),
        ray_origin=(0, 0, 0),
    )
    view._page.dragged(0, "b3", event)
    view._page.mouse = "kick"
    view._page.clicked(0, "b3", event)
    assert len(said) == 44
    then = view.session.time
    until(lambda: view.session.time > then + 0.1)
    assert view.session.playing and np.isfinite(view._frame.worlds[0].positions).all()


@with_viser
def test_nobody_can_ask_for_a_tunnel(view):
    assert view._server.request_share_url() is None and view._server._share_tunnel is None


@with_viser
def test_worlds_side_by_side_and_as_ghosts():
    worlds = [mc.World(zoo()), mc.ReducedWorld(zoo(), dt=1 / 60)]
    with mc.view(worlds, names=["a", "b"], port=0, open_browser=False) as view:
        apart = view._page.offsets
        assert apart[1, 0] - apart[0, 0] > 1.0
        view._page.ghosts = True
        until(lambda: view._page._drawn[1]._parts[0][1].opacity is not None)
        assert not view._page.offsets.any() and view._page._drawn[0]._parts[0][1].opacity is None
        view.session.submit("throw", what="ragdoll", position=(0, 0, 3), velocity=(0, 0, 0))
        until(lambda: len(view._frame.worlds[1].scene.bodies) == len(zoo().bodies) + 16)
        until(lambda: view._page._version == view._frame.version)


@with_viser
@pytest.mark.parametrize("late", ["before the first look", "while a frame is shown"])
def test_ghosts_asked_for_at_any_moment_come(late, monkeypatch):
    """The thread that sends frames looks at the page's wishes when it comes to it; none may be missed."""
    from mcsim.live.viewer import View

    send = View._send

    def late_send(self):
        if late == "before the first look":
            self._page.ghosts = True
        else:
            show = self._page.show

            def show_then_wish(frame):
                show(frame)
                self._page.ghosts = True

            monkeypatch.setattr(self._page, "show", show_then_wish)
        send(self)

    monkeypatch.setattr(View, "_send", late_send)
    with mc.view([mc.World(zoo()), mc.World(zoo())], port=0, open_browser=False) as view:
        if late == "while a frame is shown":
            view.session.submit("step")
        until(lambda: view._page._drawn[1]._parts[0][1].opacity is not None, 20.0)


@with_viser
def test_wrong_arguments_are_named():
    for arguments, sentence in (
        ({"port": -1}, "port must be from 0 to 65535"),
        ({"host": 7}, "host must be a string"),
        ({"names": ["a", "b"]}, "1 worlds have 2 names"),
    ):
        with pytest.raises(mc.SceneError, match=sentence):
            mc.view(mc.World(zoo()), open_browser=False, **arguments)
    with pytest.raises(mc.SceneError, match="takes a World"):
        mc.view([zoo()], open_browser=False)


# ---- the command line ------------------------------------------------------------------------------------------------


@with_viser
def test_the_command_line_plays_until_ctrl_c():
    """It says where, and Ctrl-C ends it without a traceback."""
    import signal

    command = [sys.executable, "-m", "mcsim", "view", "chain", "maximal:si+baumgarte", "reduced:aba", "--set", "count=3"]
    done = subprocess.Popen(
        [*command, "--port", "0", "--no-browser"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=hear_ctrl_c,
    )
    line = done.stdout.readline()
    assert line.startswith("chain is played at http://127.0.0.1:")
    urllib.request.urlopen(line.split()[4], timeout=30).read()
    done.send_signal(signal.SIGINT)
    out, err = done.communicate(timeout=60)
    assert (done.returncode, out, err) == (0, "", "")


def test_without_viser_one_line_says_what_to_install(monkeypatch, capsys):
    from mcsim.cli import main

    monkeypatch.setitem(sys.modules, "viser", None)
    assert main(["view", "chain"]) == 2
    assert capsys.readouterr().err == "error: pages in the browser need viser: pip install 'mcsim-physics[view]'\n"
    with pytest.raises(ImportError, match="mcsim-physics"):
        mc.view(mc.World(zoo()))


@with_viser
@pytest.mark.parametrize(
    "words, sentence",
    [
        (["chaim"], "no scene 'chaim'"),
        (["chain", "maximal:x"], "no solver 'x'"),
        (["chain", *["reduced:aba"] * 5], "at most 4"),
        (["chain", "--dt", "0"], "not positive"),
    ],
)
def test_bad_input(words, sentence, capsys):
    from mcsim.cli import main

    assert main(["view", *words, "--no-browser", "--port", "0"]) == 2
    told = capsys.readouterr().err
    assert sentence in told and told.count("\n") == 1
