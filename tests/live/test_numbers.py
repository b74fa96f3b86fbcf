"""The numbers beside the live view: what is told of what was clicked, samples for plots, what stages cost."""

import csv
import importlib.util
import io
import time
import types

import numpy as np
import pytest

import mcsim as mc
from mcsim.core.rotation import matrices
from mcsim.live.details import Selection, nearest, told
from mcsim.live.frames import Camera, Wanted
from mcsim.live.page import LEAST_MARKS
from mcsim.live.panel import bars, plain
from mcsim.live.probes import MOST_SAMPLES, QUANTITIES, Probes, costs
from mcsim.live.session import Session

pytestmark = pytest.mark.filterwarnings("default")


def scene():
    made = mc.Scene(name="numbers")
    made.add_body("floor", shape=mc.Plane((0, 0, 1)), kind="static")
    made.add_body("box", shape=mc.Box((0.2, 0.2, 0.2)), position=(0, 0, 0.2))
    made.add_body("rod", shape=mc.Capsule(0.05, 0.4), position=(2, 0, 2), angular_velocity=(0, 2, 0))
    made.add_joint(mc.HingeJoint(None, "rod", anchor=(2, 0, 2.4), axis=(0, 1, 0), limits=(-0.1, 0.1), name="pivot"))
    return made


def methods(dt=1 / 120):
    names = ("maximal:si+baumgarte", "maximal:tree+soft", "reduced:aba")
    return names, [mc.lab.methods.parse(name).world(scene(), dt) for name in names]


@pytest.mark.parametrize("make", [mc.World, mc.ReducedWorld])
def test_what_is_clicked_is_told(make):
    world = make(scene(), dt=1 / 120)
    world.step(60)
    before = world.state_hash()
    body = told(world, Selection(0, "body", "box"))
    assert "**box**: dynamic" in body and "contact points" in body
    weight = world.body("box").mass * 9.81
    assert float(body.split("normal forces ")[1].split()[0]) == pytest.approx(weight, rel=2e-2)
    assert "pivot|hinge" in told(world, Selection(0, "body", "rod"))
    joint = told(world, Selection(0, "joint", "pivot"))
    assert "hinge of the world and rod" in joint and "force" in joint
    contact = told(world, Selection(0, "contact", "floor", "box"))
    assert "4 contact points" in contact and "normal" in contact
    lines = contact.split("separation")[1].splitlines()[2:6]
    impulses = [float(line.split("|")[1]) for line in lines]
    assert sum(impulses) == pytest.approx(weight * world.dt, rel=2e-2)
    assert "do not touch" in told(world, Selection(0, "contact", "box", "rod"))
    for gone in (Selection(0, "body", "ghost"), Selection(0, "joint", "box"), Selection(0, "contact", "box", "ghost")):
        assert "is gone" in told(world, gone)
    assert world.state_hash() == before


def test_rows_of_a_joint_are_told():
    """Those of World.rows, with their errors and impulses."""
    world = mc.World(scene(), dt=1 / 120, joint_solver="rows")
    world.step(60)
    table = [line for line in told(world, Selection(0, "joint", "pivot")).splitlines() if line.startswith("joint ")]
    rows = world.rows[world.rows["kind"] == "joint"]
    assert len(table) == len(rows) == 5
    for line, row in zip(table, rows):
        assert float(line.split("|")[3]) == pytest.approx(row["impulse"], rel=1e-3, abs=1e-12)


def test_a_click_takes_the_joint_that_is_near_and_shown():
    session, wanted = Session([mc.World(scene())]), Wanted()
    camera = Camera(session, wanted)

    def pick(body, origin, direction):
        return camera.take().worlds[0].picked(0, body, origin, direction)

    eye = np.array([2.0, -5.0, 2.4])
    ray = np.array([0.0, 1.0, 0.0])
    assert pick("rod", eye, ray) == Selection(0, "body", "rod")
    wanted.switch("joints", True)
    assert pick("rod", eye, ray) == Selection(0, "joint", "pivot")
    assert pick("rod", eye - (0, 0, 0.4), ray) == Selection(0, "body", "rod")
    assert pick("rod", eye, -ray) == Selection(0, "body", "rod")  # it is behind
    session.advance(30)
    wanted.switch("contacts", True)
    corner = session.worlds[0].contacts["position"][0]
    assert pick("box", corner - (0, 5, 0), ray).kind == "contact"
    wanted.select(Selection(0, "joint", "pivot"))
    assert "hinge" in camera.take_new().details
    assert nearest(np.zeros((0, 3)), eye, ray) == (-1, np.inf)


def test_marks_are_where_joints_and_contacts_are():
    """One at each joint, long along its axis, and one at each contact point, with the names that they stand for."""
    made = scene()
    made.add_body("weight", shape=mc.Sphere(0.1), position=(2, 0, 1))
    made.add_joint(mc.BallJoint("rod", "weight", anchor=(2, 0, 1.3), name="socket"))
    session, wanted = Session([mc.World(made, dt=1 / 120)]), Wanted()
    camera, (world,) = Camera(session, wanted), session.worlds
    assert camera.take().worlds[0].marks == {}
    wanted.switch("joints", True)
    session.advance(60)
    (frame,) = camera.take().worlds
    marks = frame.marks["joint"]
    assert list(frame.marks) == ["joint"] and marks.names == [("pivot",), ("socket",)]
    rod = world.body("rod")
    turns = matrices(np.array(marks.orientations))
    assert marks.positions[0] == pytest.approx((2, 0, 2.4), abs=1e-3)
    assert marks.positions[1] == pytest.approx(rod.position + matrices(rod.orientation[None])[0] @ (0, 0, -0.7), abs=1e-3)
    assert np.abs(turns[0][:, np.argmax(marks.halves[0])]) == pytest.approx((0, 1, 0), abs=1e-6)
    assert marks.halves[0].max() > 2 * np.median(marks.halves[0]) and np.ptp(marks.halves[1]) == 0.0
    wanted.switch("joints", False)
    wanted.switch("contacts", True)
    (frame,) = camera.take().worlds
    contacts = world.contacts
    marks = frame.marks["contact"]
    assert list(frame.marks) == ["contact"] and marks.names == [("floor", "box")] * len(contacts) and len(contacts) == 4
    assert np.array_equal(marks.positions, contacts["position"])


@pytest.mark.skipif(not importlib.util.find_spec("viser"), reason="viser is not installed: pip install -e '.[view]'")
def test_a_click_on_a_mark_tells_its_rows():
    """Of the joint of that number, and of the contact at the ray; also where worlds stand apart, and as many marks come and
    go as there are contacts."""
    worlds = [mc.World(scene(), dt=1 / 120, joint_solver="rows") for _ in range(2)]
    with mc.view(worlds, port=0, open_browser=False) as view:
        page, wanted = view._page, view._wanted

        def room_for(kind):
            node = page._drawn[0]._marks.get(kind)
            return 0 if node is None else len(node.batched_positions)

        wanted.switch("joints", True)
        wanted.switch("contacts", True)
        view.session.submit("step", count=60)
        until(lambda: page._drawn[1].now.marks.get("contact") and page._drawn[1].now.marks["contact"].names)
        corner = view._frame.worlds[1].marks["contact"].positions[2] + page.offsets[1]
        event = types.SimpleNamespace(ray_origin=tuple(corner - (3, 0, 0)), ray_direction=(1.0, 0.0, 0.0))
        page.marked(1, "contact", 0, event)
        assert wanted.selected == Selection(1, "contact", "floor", "box") and view._selected == (1, "box")
        until(lambda: "4 contact points" in view._panel.selected.content and "normal 0|" in view._panel.selected.content)
        page.marked(0, "joint", 0, event)
        assert wanted.selected == Selection(0, "joint", "pivot") and view._selected == (0, "rod")
        until(lambda: view._panel.selected.content.count("\njoint ") == 5)
        nodes = page._drawn[0]._marks
        until(lambda: nodes["contact"].visible)
        assert room_for("contact") == room_for("joint") == LEAST_MARKS
        assert np.unique(nodes["contact"].batched_positions, axis=0).shape == (4, 3)
        wanted.switch("contacts", False)
        until(lambda: not nodes["contact"].visible)
        wanted.switch("contacts", True)
        until(lambda: nodes["contact"].visible)
        for k in range(6):
            view.session.submit("throw", what="box", position=(0, k - 3, 0.5), velocity=(0, 0, 0))
        view.session.submit("step", count=100)
        until(lambda: len(view._frame.worlds[0].marks["contact"].names) > LEAST_MARKS)
        until(lambda: room_for("contact") == 2 * LEAST_MARKS)
        assert {name for pair in page._drawn[0].now.marks["contact"].names for name in pair} > {"floor", "box", "thrown6"}
        page.marked(0, "contact", 10**6, event)  # what any program may send
        page.marked(0, "nothing", 0, event)


def until(done, seconds=60.0):
    end = time.monotonic() + seconds
    while not done():
        assert time.monotonic() < end
        time.sleep(0.01)


def test_samples_are_those_of_the_worlds():
    """Each number against the world's own; one every sixtieth of a second."""
    names, worlds = methods()
    session, probes = Session(worlds, names), Probes()
    probes.take(session)
    first = [world.energy().total for world in worlds]
    for _ in range(60):
        session.advance(1)
        probes.take(session)
    times, _ = probes.series("energy")
    assert np.diff(times) == pytest.approx(np.full(30, 1 / 60))
    for k, world in enumerate(worlds):

        def last(name):
            return probes.series(name)[1][k][-1]

        assert last("energy") == world.energy().total and last("kinetic") == world.energy().kinetic
        assert last("energy_error") == pytest.approx(world.energy().total - first[k])
        assert last("joint_position_max") == world.joint_errors()[:, 0].max()
        assert last("linear_momentum") == pytest.approx(np.linalg.norm(world.momentum()[0]))
        assert last("penetration") == max(0.0, -world.contacts["separation"].min())
        assert last("residual") == world.stats.residuals["natural_map"]
        assert last("step_seconds") > 0.0
    assert all((values > 0.0).all() for name in QUANTITIES for values in probes.series(name, logarithmic=True)[1])
    rows = list(csv.reader(io.StringIO(probes.table(list(names)))))
    assert len(rows) == 32 and rows[0][0] == "time" and len(rows[0]) == 1 + 3 * len(QUANTITIES)
    assert float(rows[-1][1 + list(QUANTITIES).index("energy")]) == pytest.approx(worlds[0].energy().total)


def test_the_names_are_those_of_a_study():
    assert all(name in mc.lab.Run.__annotations__ or hasattr(mc.lab.Run, name) for name in QUANTITIES)


def test_samples_are_bounded_and_forget_the_future():
    session, probes = Session([mc.World(scene(), dt=1 / 60)]), Probes()
    for k in range(3 * MOST_SAMPLES):
        probes._rows.append((float(k) - 3 * MOST_SAMPLES, [[0.0] * len(QUANTITIES)]))
    probes.take(session)
    assert len(probes) <= 1.5 * MOST_SAMPLES + 1 and probes.every > 1 / 60
    probes.forget()
    for _ in range(10):
        session.advance(1)
        probes.take(session)
    assert len(probes) == 10
    session.move(-3)
    then = session.time
    probes.take(session)
    assert probes.series("energy")[0][-1] == then and len(probes) < 10


def test_costs_are_told_as_bars():
    world = mc.World(mc.load("pyramid", base=4))
    world.step(10)
    found = costs(world)
    assert set(found) == set(world.stats.times) and sum(found.values()) > 0.0
    text = bars(["one"], (found,))
    assert "**one**" in text and "█" in text and text.count("\n") >= len(found) + 3
    assert bars([], ()) == ""


def test_typed_values():
    typed = {
        "3": 3,
        " 0.5 ": 0.5,
        "yes": True,
        "No": False,
        "": None,
        "none": None,
        "pgs": "pgs",
        "1e-3": 1e-3,
        "nan": "nan",
    }
    for text, value in typed.items():
        found = plain(text)
        assert (found == value and type(found) is type(value)) or text == "nan"


def test_plots_on_a_page():
    """Samples come once plotting is on; a picture and a table of them are sent to the page that asks."""
    pytest.importorskip("viser")
    names, worlds = methods()
    with mc.view(worlds, names=names, port=0, open_browser=False) as view:
        assert len(view._camera.probes) == 0
        view._wanted.plots = True
        view._wanted.measure(True)
        view.session.submit("step", count=60)
        view.session.submit("step", count=60)
        until = types.SimpleNamespace(left=3000)
        while not view._frame.costs or len(view._camera.probes) < 2:
            view._closing.wait(0.01)
            view.session.submit("step", count=2) if until.left % 20 == 0 else None
            until.left -= 1
            assert until.left
        sent = []
        client = types.SimpleNamespace(send_file_download=lambda name, data, **more: sent.append((name, data)))
        view._plots._save(client, "CSV")
        view._plots._save(client, "picture")
        assert sent[0][0] == "mcsim.csv" and sent[0][1].startswith(b"time,joint_position_max")
        assert sent[1][1].startswith(b"\x89PNG")
        view._plots.show()
        _, plot = view._plots._plots[0]
        assert len(plot.data) == 4 and len(plot.data[0]) >= 2 and "log" in plot.title
