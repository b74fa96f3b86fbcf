"""The session behind the live view, without a browser: time, history, hand, commands."""

import itertools
import threading

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

import mcsim as mc
from mcsim.core.rotation import matrix
from mcsim.lab.methods import parse
from mcsim.live import session as sessions
from mcsim.live.clock import CATCH_UP, Clock
from mcsim.live.commands import COMMANDS, SETTINGS, checked
from mcsim.live.deeds import DEEDS
from mcsim.live.hand import Joined
from mcsim.live.history import History
from mcsim.live.session import Session

METHODS = ("maximal:si+baumgarte", "maximal:tree+soft", "reduced:aba")


def toys(**more):
    """A floor, two boxes on it, a ball, a pendulum of two rods."""
    made = mc.Scene(name="toys", **more)
    made.add_body("floor", shape=mc.Plane((0, 0, 1)), kind="static")
    made.add_body("low", shape=mc.Box((0.2, 0.2, 0.2)), position=(0, 0, 0.2))
    made.add_body("high", shape=mc.Box((0.2, 0.2, 0.2)), position=(0.05, 0, 0.6))
    made.add_body("ball", shape=mc.Sphere(0.2), position=(1, 0, 1), velocity=(-1, 0, 0))
    made.add_body("upper", shape=mc.Capsule(0.05, 0.3), position=(3, 0, 2.7))
    made.add_body("lower", shape=mc.Capsule(0.05, 0.3), position=(3, 0, 2.0))
    made.add_joint(mc.HingeJoint(None, "upper", anchor=(3, 0, 3.05), axis=(0, 1, 0), name="pivot"))
    made.add_joint(mc.HingeJoint("upper", "lower", anchor=(3, 0, 2.35), axis=(0, 1, 0), name="elbow"))
    return made


def methods(names=METHODS, dt=1 / 120):
    return [parse(name).world(toys(), dt) for name in names]


def play(session, seconds, rate=60):
    """As a page plays: ticks of the wall's clock, without its ever waiting."""
    session.submit("play")
    for k in range(round(seconds * rate) + 1):
        session.tick(k / rate)


def hashes(session):
    return [world.state_hash() for world in session.worlds]


@pytest.fixture(autouse=True)
def no_budget(monkeypatch):
    """These ticks may take as long as the machine needs."""
    monkeypatch.setattr(sessions, "BUDGET", 1e9)


def do(session, name, /, **values):
    """Carry out one command; -> what was said of it."""
    before = session.messages[-1][0] if session.messages else 0
    session.submit(name, **values)
    session.tick(0.0)
    return [sentence for number, sentence in session.messages if number > before]


# ---- time ------------------------------------------------------------------------------------------------------------


def test_it_plays_in_real_time_and_pauses():
    session = Session([mc.World(toys(), dt=1 / 120)])
    session.tick(0.0)
    assert session.time == 0.0 and not session.playing
    play(session, 0.5)
    assert session.time == pytest.approx(0.5) and session.clock.dropped == 0.0
    session.submit("pause")
    session.tick(9.0)
    session.submit("play")
    session.tick(20.0)
    assert session.time == pytest.approx(0.5)  # time stood still meanwhile
    session.tick(20.0 + 1 / 30)
    assert session.time == pytest.approx(0.5 + 1 / 30)


@pytest.mark.parametrize("speed", [0.01, 0.1, 2.0, 10.0])
def test_slow_and_fast(speed):
    session = Session([mc.World(toys(), dt=1 / 120)])
    do(session, "speed", factor=speed)
    play(session, 1.0)
    assert session.time == pytest.approx(speed, abs=1 / 120 + 1e-9)


def test_catching_up_is_bounded_and_counted():
    clock = Clock()
    assert clock.due(5.0, 1 / 60) == 0
    assert clock.due(8.0, 1 / 60) == round(CATCH_UP * 60)
    assert clock.dropped == pytest.approx(3.0 - CATCH_UP)
    assert clock.due(8.0 + 1 / 60, 1 / 60) == 1  # and nothing of it is owed any more
    clock = Clock()
    clock.due(0.0, 0.5)
    assert [clock.due(k, 0.5) for k in (1.0, 1.25, 1.5)] == [1, 0, 1]  # a step longer than the bound is made all the same


def test_a_tick_ends_with_its_budget(monkeypatch):
    """What was due and is too slow is dropped; at least one step is made."""
    monkeypatch.setattr(sessions, "BUDGET", 0.0)
    session = Session([mc.World(toys(), dt=1 / 1000)])
    session.submit("play")
    session.tick(0.0)
    made = session.tick(0.09)
    assert 1 <= made <= 33
    assert session.time == pytest.approx(made / 1000) and session.clock.dropped == pytest.approx(0.09 - made / 1000)


def test_worlds_go_in_step_as_they_go_alone():
    """Each world has the bits that it has without the others, and without a session."""
    session = Session(methods(), METHODS)
    play(session, 0.5)
    assert [world.time for world in session.worlds] == pytest.approx([0.5] * 3)
    for world, alone in zip(session.worlds, methods()):
        alone.step(60)
        assert world.state_hash() == alone.state_hash()


def test_one_that_fails_leaves_the_others_going():
    worlds = methods(METHODS[:2])
    session = Session(worlds, ["a", "b"])
    worlds[0].velocities[1] = np.nan
    said = do(session, "step", count=10)
    assert "a stopped" in said[0] and "'low'" in said[0]
    assert session.failures[0] and not session.failures[1]
    assert [world.time for world in session.worlds] == pytest.approx([0.0, 10 / 120])
    do(session, "reset")
    assert session.failures == ["", ""]
    do(session, "step", count=10)
    assert [world.time for world in session.worlds] == pytest.approx([10 / 120] * 2)


def test_playing_stops_when_nothing_goes_on():
    session = Session([mc.World(toys())])
    session.worlds[0].velocities[1] = np.nan
    play(session, 0.1)
    assert not session.playing and session.time == 0.0
    do(session, "play")
    assert not session.playing


# ---- history ---------------------------------------------------------------------------------------------------------


def test_back_and_forth_is_exact():
    """Each state of the history has its bits again, in any order, and goes on to the bits that it went on to."""
    session = Session(methods(), METHODS)
    kept = []
    for _ in range(12):
        do(session, "step", count=1)
        kept.append(hashes(session))
    places = len(session.history)
    assert places == 13
    for jump in (5, -3, 20, 0, 7, 12, 2):
        do(session, "go_to", place=max(jump, 0))
        place = min(max(jump, 0), places - 1)
        assert session.history.place == place
        if place:
            assert hashes(session) == kept[place - 1]
    for _ in range(2):
        do(session, "back", count=1)
    assert session.history.place == 0 and session.time == 0.0
    do(session, "forth", count=4)
    assert hashes(session) == kept[3]
    do(session, "step", count=1)
    assert hashes(session) == kept[4] and len(session.history) == 6  # those after it are forgotten


def test_what_was_not_kept_yet_can_be_gone_back_to():
    session = Session([mc.World(toys(), dt=1 / 1000)])
    do(session, "step", count=5)
    do(session, "kick", body="ball", velocity=(1, 2, 3))
    now = hashes(session)
    do(session, "back", count=1)
    do(session, "forth", count=1)
    assert hashes(session) == now


def test_playing_keeps_a_state_every_thirtieth_of_a_second():
    session = Session([mc.World(toys(), dt=1 / 240)])
    play(session, 1.0)
    assert np.diff(session.history.times) == pytest.approx(np.full(30, 1 / 30))


def test_the_ring_is_bounded_by_number_and_by_bytes():
    world = mc.World(toys())
    world.step(300)
    for history in (History(states=5), History(size=5 * world.snapshot().nbytes + 100)):
        for _ in range(20):
            world.step()
            history.keep(sessions.InStep([world]).start)
        assert 3 <= len(history) <= 5 and history.times[-1] == world.time and history.place == len(history) - 1


def test_reset_is_the_beginning():
    session = Session(methods(), METHODS)
    begin = hashes(session)
    play(session, 0.3)
    do(session, "throw", what="box", position=(0, 0, 5), velocity=(0, 0, 0))
    do(session, "delete", body="high")
    before = hashes(session)
    do(session, "reset")
    assert hashes(session) == begin and session.worlds[0].body_names == tuple(b.name for b in toys().bodies)
    do(session, "back", count=1)
    assert hashes(session) == before


# ---- the hand --------------------------------------------------------------------------------------------------------


def held_point(world, body, local):
    handle = world.body(body)
    return handle.position + matrix(handle.orientation) @ local


@pytest.mark.parametrize("body", ["high", "lower"])
def test_the_hand_brings_the_point_to_the_mouse(body):
    """In every world, whatever its method; the point that was grabbed, not the body's middle; without overshooting much."""
    session = Session(methods(), METHODS)
    local = np.array([0.04, 0.0, 0.1])
    point = held_point(session.worlds[0], body, local)
    target = point + (-0.4, 0.0, 0.3)
    assert not do(session, "grab", body=body, point=point, target=point)
    do(session, "drag", target=target)
    ways = []
    for _ in range(180):
        do(session, "step", count=1)
        ways.append([np.linalg.norm(held_point(world, body, local) - target) for world in session.worlds])
    assert (np.array(ways[-1]) < 0.03).all()
    assert np.array(ways).max() < 0.55
    do(session, "release")
    heights = [world.body(body).position[2] for world in session.worlds]
    do(session, "step", count=60)
    assert all(world.body(body).position[2] < height - 0.05 for world, height in zip(session.worlds, heights))


def test_the_hand_is_critically_damped():
    """A free ball pulled at its middle goes to the target as the spring of its differential equation, with no overshoot."""
    made = mc.Scene(gravity=(0, 0, 0))
    made.add_body("ball", shape=mc.Sphere(0.1), angular_velocity=(0, 0, 3))
    world = mc.World(made, dt=1e-4, sleep=False)
    session = Session([world])
    do(session, "grab", body="ball", point=(0, 0, 0), target=(0.3, 0, 0))
    rate, ways = 2 * np.pi * 5.0, []
    for _ in range(20):
        do(session, "step", count=100)
        ways.append(1.0 - world.positions[0, 0] / 0.3)
    times = 0.01 * np.arange(1, 21)
    assert ways == pytest.approx((1 + rate * times) * np.exp(-rate * times), abs=3e-3)
    assert min(ways) > 0.0


@pytest.mark.parametrize("dt", [1 / 30, 1 / 60, 1 / 240])
def test_a_light_hand_of_a_heavy_doll_is_held(dt):
    """The whole doll hangs on the hand that the mouse holds, and comes to rest."""
    session = Session([mc.World(mc.load("ragdolls", count=1), dt=dt)])
    doll = session.worlds[0]
    name = next(name for name in doll.body_names if "hand" in name or "forearm" in name)
    point = np.array(doll.body(name).position)
    do(session, "grab", body=name, point=point, target=point)
    do(session, "drag", target=(0, 0, 3.0))
    do(session, "step", count=min(round(6.0 / dt), 1000))
    assert doll.body(name).position == pytest.approx((0, 0, 3.0), abs=0.2)
    assert np.abs(doll.velocities).max() < 12.0 and doll.joint_errors()[:, 0].max() < 1e-3


def test_a_hand_feels_what_joints_let_it_feel():
    """Against the exact response of a chain of balls and sockets, its Delassus matrix and all; and a free body."""
    made = mc.load("chain", count=6)
    world = mc.World(made)
    world.step(30)
    for body in (world.body_names[3], world.body_names[-1]):
        arm = np.array([0.03, -0.02, 0.05])
        found = Joined(world, body).response(arm)
        jacobian = world.jacobian().toarray()
        bodies = world.scene.bodies
        inverse = np.zeros((6 * len(bodies),) * 2)
        for i, part in enumerate(bodies):
            if part.kind == "dynamic":
                turn = matrix(world.orientations[i])
                inverse[6 * i : 6 * i + 3, 6 * i : 6 * i + 3] = np.eye(3) / part.mass
                inverse[6 * i + 3 : 6 * i + 6, 6 * i + 3 : 6 * i + 6] = turn @ np.linalg.inv(part.inertia) @ turn.T
        i = world.body(body).index
        point = np.zeros((3, 6 * len(bodies)))
        point[:, 6 * i : 6 * i + 3] = np.eye(3)
        point[:, 6 * i + 3 : 6 * i + 6] = np.cross(np.eye(3), arm).T
        reach = jacobian @ inverse @ jacobian.T
        exact = point @ (inverse - inverse @ jacobian.T @ np.linalg.pinv(reach, 1e-10) @ jacobian @ inverse) @ point.T
        assert found == pytest.approx(exact, rel=1e-4, abs=1e-6 * np.trace(exact))
        free = Joined(mc.World(one_ball()), "ball").response(arm)
        assert np.trace(free) > 3 / one_ball().body("ball").mass


def one_ball():
    made = mc.Scene()
    made.add_body("ball", shape=mc.Sphere(0.1))
    return made


def test_the_hand_wakes_what_sleeps():
    world = mc.World(toys())
    world.step(600)
    assert world.body("low").asleep
    session = Session([world])
    point = np.array(world.body("low").position)
    do(session, "grab", body="low", point=point, target=point + (0, 0.5, 0))
    do(session, "step", count=60)
    assert world.body("low").position[1] > 0.4


def test_what_cannot_be_held_is_said():
    session = Session([mc.World(toys())])
    before = hashes(session)
    assert "'floor' is static" in do(session, "grab", body="floor", point=(0, 0, 0), target=(0, 0, 1))[0]
    assert "'flor'" in do(session, "grab", body="flor", point=(0, 0, 0), target=(0, 0, 1))[0]
    assert "no world 3" in do(session, "grab", body="low", point=(0, 0, 0), target=(0, 0, 1), world=3)[0]
    assert session.hand is None and hashes(session) == before
    assert not do(session, "drag", target=(0, 0, 1)) and not do(session, "release")


# ---- bodies ----------------------------------------------------------------------------------------------------------


def test_a_kick_gives_the_velocity():
    session = Session([mc.World(toys())])
    do(session, "kick", body="ball", velocity=(0, 5, 2))
    assert session.worlds[0].body("ball").velocity == pytest.approx((-1, 5, 2))
    do(session, "kick", body="ball", velocity=(0, 1, 0), point=(1, 0, 1.2))
    assert session.worlds[0].body("ball").angular_velocity[0] < -1.0


@pytest.mark.parametrize("what, bodies, joints", [("box", 1, 0), ("ball", 1, 0), ("ragdoll", 16, 15)])
def test_things_fly_in(what, bodies, joints):
    """The same ones in all worlds, at the speed that they were given; and again under other names."""
    session = Session(methods(), METHODS)
    count = len(session.worlds[0].body_names)
    for k in (1, 2):
        assert not do(session, "throw", what=what, position=(0, 4 * k, 3), velocity=(1, 0, 4), size=0.5)
        for world in session.worlds:
            assert len(world.body_names) == count + k * bodies and len(world.joint_names) == 2 + k * joints
            assert world.velocities[-bodies:] == pytest.approx(np.tile((1.0, 0, 4.0), (bodies, 1)), abs=1e-9)
    assert not do(session, "step", count=30)
    play(session, 0.1)
    assert all(np.isfinite(world.positions).all() for world in session.worlds)


def test_bodies_go_with_their_joints_and_come_back_in_the_history():
    session = Session(methods(), METHODS)
    do(session, "step", count=1)
    before, version = hashes(session), session.version
    do(session, "delete", body="upper")
    assert session.version > version
    assert all(world.joint_names == () and "upper" not in world.body_names for world in session.worlds)
    do(session, "back", count=1)
    assert hashes(session) == before


def test_what_is_frozen_stays_until_it_is_let_go():
    session = Session(methods(), METHODS)
    do(session, "step", count=20)
    places = [np.array(world.body("ball").position) for world in session.worlds]
    assert not do(session, "freeze", body="ball")
    do(session, "step", count=120)
    for world, place in zip(session.worlds, places):
        assert world.body("ball").position == pytest.approx(place, abs=1e-3)
    assert not do(session, "freeze", body="ball")
    do(session, "step", count=60)
    assert all(world.body("ball").position[2] < place[2] - 0.3 for world, place in zip(session.worlds, places))
    assert "static" in do(session, "freeze", body="floor")[0]


def test_what_fails_in_one_world_is_done_in_none():
    """The second world cannot do it: the first has not done it either."""
    session = Session(methods(METHODS[:2]))
    session.worlds[1].remove_joint("elbow")
    session.worlds[1].remove_body("high")
    before = hashes(session)
    for name in ("delete", "freeze"):
        assert do(session, name, body="high")
        assert hashes(session) == before
    assert do(session, "kick", body="high", velocity=(1, 0, 0)) and hashes(session) == before


# ---- settings --------------------------------------------------------------------------------------------------------


def test_gravity_changes_in_the_middle_and_says_so():
    session = Session(methods(), METHODS)
    do(session, "step", count=10)
    places = [np.array(world.positions) for world in session.worlds]
    said = do(session, "gravity", value=(0, 0, 3.0))
    assert "rebuilt from their present state" in said[0]
    for world, place in zip(session.worlds, places):
        assert np.array_equal(world.positions, place) and world.time == pytest.approx(10 / 120)
        assert tuple(world.scene.gravity) == (0, 0, 3.0)
    do(session, "step", count=120)
    assert all(world.body("ball").position[2] > place[3, 2] for world, place in zip(session.worlds, places))
    do(session, "reset")
    assert all(tuple(world.scene.gravity) == (0, 0, 3.0) and world.time == 0.0 for world in session.worlds)
    do(session, "go_to", place=0)
    assert all(tuple(world.scene.gravity) == (0, 0, -9.81) for world in session.worlds)


def test_friction_changes_everywhere():
    made = mc.Scene(gravity=(3, 0, -9.81))
    made.add_body("floor", shape=mc.Plane((0, 0, 1), material=mc.Material(friction=0.9, restitution=0.5)), kind="static")
    made.add_body("box", shape=mc.Box((0.2, 0.2, 0.2)), position=(0, 0, 0.2))
    session = Session([mc.World(made), mc.ReducedWorld(made, dt=1 / 60)])
    do(session, "step", count=60)
    assert all(abs(world.body("box").velocity[0]) < 1e-3 for world in session.worlds)
    do(session, "friction", value=0.0)
    do(session, "step", count=60)
    for world in session.worlds:
        assert world.body("box").velocity[0] == pytest.approx(3.0, rel=0.02)
        floor = world.scene.bodies[0]
        assert floor.shapes[0].material.friction == 0.0 and floor.shapes[0].material.restitution == 0.5
        assert mc.Scene.from_dict(world.scene.to_dict()).bodies[1].material.friction == 0.0
    assert made.bodies[0].shapes[0].material.friction == 0.9


def test_any_keyword_changes_in_one_world_or_in_all():
    session = Session(methods(), METHODS)
    do(session, "step", count=5)
    do(session, "setting", name="iterations", value=17)
    assert [world.settings["iterations"] for world in session.worlds] == [17] * 3
    assert "rebuilt" in do(session, "setting", name="solver", value="pgs", world=0)[0]
    assert [world.settings["solver"] for world in session.worlds] == ["pgs", "si", "si"]
    do(session, "setting", name="dt", value=1 / 240)
    assert session.dt == 1 / 240 and len({world.time for world in session.worlds}) == 1
    do(session, "step", count=2)
    do(session, "back", count=2)
    assert session.dt == 1 / 120  # it was so then


def test_numbers_change_in_the_worlds_that_there_are():
    """They go on as they would with another number from here on; the past keeps its own, to the bit, and the beginning
    takes the new one. Also where the worlds were rebuilt before."""
    for rebuilt in (False, True):
        session = Session(methods(), METHODS)
        if rebuilt:
            do(session, "gravity", value=(0, 0, -9.0))
        do(session, "step", count=8)
        kept, then = len(session.history) - 1, session.time
        do(session, "step", count=8)
        on, worlds = hashes(session), list(session.worlds)
        do(session, "go_to", place=kept)
        expected = [world.remade(iterations=1) for world in session.worlds]
        assert do(session, "setting", name="iterations", value=1) == ["iterations is 1 now: in all worlds"]
        do(session, "step", count=8)
        for world in expected:
            world.wake()
            world.step(8)
        assert session.worlds == worlds and hashes(session) == [world.state_hash() for world in expected] != on
        do(session, "go_to", place=kept)
        assert [world.settings["iterations"] for world in session.worlds] != [1] * 3 and session.time == then
        do(session, "step", count=8)
        assert hashes(session) == on
        do(session, "setting", name="iterations", value=2, world=1)
        do(session, "reset")
        assert [world.settings["iterations"] for world in session.worlds][1] == 2 and session.time == 0.0
        before = hashes(session)
        assert "takes no 'least_iterations'" in do(session, "setting", name="least_iterations", value=2)[0]
        assert hashes(session) == before
        assert all("least_iterations" not in world.settings.given for world in session.worlds)


@pytest.mark.parametrize(
    "values, sentence",
    [
        ({"name": "dt", "value": 1 / 240, "world": 1}, "one dt"),
        ({"name": "solver", "value": "pgs", "world": 1}, "solver"),
        ({"name": "joint_solver", "value": "rows", "world": 2}, "joint_solver"),
        ({"name": "iterations", "value": 3, "world": 3}, "no world 3"),
    ],
)
def test_what_does_not_go_is_said_and_changes_nothing(values, sentence):
    session = Session(methods(), METHODS)
    do(session, "step", count=5)
    before, worlds = hashes(session), list(session.worlds)
    assert sentence in do(session, "setting", **values)[0]
    assert hashes(session) == before and session.worlds == worlds
    do(session, "reset")
    assert not any("setting" in sentence for sentence in do(session, "step", count=1))


# ---- commands --------------------------------------------------------------------------------------------------------


def test_each_command_has_its_deed():
    assert DEEDS.keys() == COMMANDS.keys()


@pytest.mark.parametrize(
    "name, values, sentence",
    [
        ("jump", {}, "there is no command 'jump'"),
        (7, {}, "there is no command 7"),
        ("play", {"now": 1}, "takes no 'now'"),
        ("step", {"count": 0}, "step: count must be from 1 to 1000"),
        ("step", {"count": 1e9}, "step: count must be a whole number"),
        ("speed", {}, "speed: factor is missing"),
        ("speed", {"factor": "1"}, "speed: factor must be a number"),
        ("speed", {"factor": 11}, "speed: factor must be in [0.01, 10]"),
        ("kick", {"body": "a", "velocity": (1e3, 0, 0)}, "velocity must be no longer than 100"),
        ("grab", {"body": "", "point": (0, 0, 0), "target": (0, 0, 0)}, "body must not be empty"),
        ("grab", {"body": "x" * 2000, "point": (0, 0, 0), "target": (0, 0, 0)}, "at most 1000 characters"),
        ("drag", {"target": (0, np.nan, 0)}, "must be finite"),
        ("drag", {"target": (1e9, 0, 0)}, "no longer than 1e+06"),
        ("drag", {"target": (1, 0)}, "target must be 3 numbers"),
        ("throw", {"what": "house", "position": (0, 0, 0), "velocity": (0, 0, 0)}, "what must be one of"),
        ("setting", {"name": "models", "value": None}, "name must be one of"),
        ("setting", {"name": "substeps", "value": 10_000}, "substeps must be at most 64"),
        ("setting", {"name": "iterations", "value": 10**6}, "iterations must be at most 1000"),
        ("setting", {"name": "dt", "value": 1e-9}, "dt must be in"),
        ("setting", {"name": "dt", "value": [1]}, "value must be a string"),
        ("setting", {"name": "solver", "value": "magic"}, "solver must be one of"),
    ],
)
def test_wrong_commands_are_refused_at_once(name, values, sentence):
    with pytest.raises(mc.SceneError) as error:
        checked(name, values)
    assert sentence in str(error.value)


def test_too_many_commands_are_refused_and_drags_are_one():
    session = Session([mc.World(toys())])
    for name, values in (("drag", {"target": (0, 0, 1)}), ("friction", {"value": 0.5}), ("gravity", {"value": (0, 0, -5)})):
        for _ in range(1000):
            session.submit(name, **values)
    session.submit("play")
    with pytest.raises(mc.SceneError, match="are waiting already"):
        for _ in range(sessions.MOST_WAITING):
            session.submit("kick", body="ball", velocity=(0, 0, 0.01))
    for k in range(10):
        session.tick(float(k))
    session.submit("pause")
    session.tick(99.0)
    assert not session.playing


def test_commands_come_from_any_thread():
    session = Session([mc.World(toys())])

    def ask():
        for _ in range(20):
            session.submit("kick", body="ball", velocity=(0, 0, 0.01))

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        session.tick(0.0)
    for thread in threads:
        thread.join()
    session.tick(0.0)
    session.tick(0.0)
    assert session.worlds[0].body("ball").velocity[2] == pytest.approx(0.8)


def test_worlds_that_do_not_go_together_are_refused():
    world = mc.World(toys())
    later = mc.World(toys())
    later.step()
    for worlds, sentence in (
        ([], "1 to 4 worlds"),
        (["toys"], "takes a World"),
        ([world, world], "stands twice"),
        ([world, mc.World(mc.load("chain"))], "the same bodies"),
        ([world, mc.World(toys(), dt=1 / 120)], "one dt"),
        ([world, later], "at one time"),
        ([mc.World(toys()) for _ in range(5)], "1 to 4 worlds"),
    ):
        with pytest.raises(mc.SceneError, match=sentence):
            Session(worlds)
    with pytest.raises(mc.SceneError, match="1 worlds have 2 names"):
        Session([world], ["a", "b"])


NAMES = st.sampled_from([*COMMANDS, "jump"])
NUMBERS = st.one_of(st.floats(), st.integers(-10, 1200), st.floats(-3, 3))
VALUES = st.one_of(
    NUMBERS,
    st.none(),
    st.booleans(),
    st.text(max_size=5),
    st.sampled_from(["floor", "low", "ball", "upper", "box", "ragdoll", *SETTINGS, "pgs", "rk4", "rows", "event", "soft"]),
    st.tuples(NUMBERS, NUMBERS, NUMBERS),
    st.tuples(st.floats(-3, 3), st.floats(-3, 3), st.floats(0.5, 4)),
)
KEYS = sorted({key for parameters in COMMANDS.values() for key in parameters})


@st.composite
def messages(draw):
    """A command with mostly the right names of values, and whatever for them."""
    name = draw(NAMES)
    keys = list(COMMANDS.get(name, KEYS[:2]))
    if draw(st.integers(0, 9)) == 0:
        keys = draw(st.lists(st.sampled_from(KEYS), unique=True, max_size=4))
    return name, {key: draw(st.just("box") if key == "what" else VALUES) for key in keys}


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(messages(), max_size=25))
def test_nothing_that_is_sent_breaks_the_worlds(sent):
    """Whatever is asked for, a tick answers, states stay finite and in step, and the history goes back to the beginning."""
    session = Session(methods(METHODS[1:], dt=1 / 60))
    begin = hashes(session)
    for number, (name, values) in enumerate(sent):
        if values.get("count") and isinstance(values["count"], int):
            values = values | {"count": min(values["count"], 20)}
        try:
            session.submit(name, **values)
        except mc.SceneError as error:
            assert str(error)
        session.tick(number / 60)
        for world, failure in zip(session.worlds, session.failures):
            assert np.isfinite(world.positions).all() and np.isfinite(world.velocities).all()
            assert failure or world.time == pytest.approx(session.time, abs=1e-6)
        assert session.worlds[0].body_names == session.worlds[1].body_names
    if len(session.history) < 900 and not any(name == "go_to" for name, _ in sent):
        do(session, "go_to", place=0)
        assert session.time == 0.0
        assert hashes(session) == begin or any(name in ("back", "forth", "reset", "kick") for name, _ in sent)


def test_every_pair_of_commands_that_change_bodies():
    """In either order, then back to the beginning, to the bit."""
    changes = [
        ("delete", {"body": "high"}),
        ("freeze", {"body": "lower"}),
        ("throw", {"what": "ball", "position": (0, 0, 4), "velocity": (0, 0, 0)}),
        ("friction", {"value": 0.1}),
        ("setting", {"name": "substeps", "value": 3}),
    ]
    for (one, first), (other, second) in itertools.permutations(changes, 2):
        session = Session(methods(METHODS[1:], dt=1 / 60))
        begin = hashes(session)
        do(session, one, **first)
        do(session, "step", count=2)
        do(session, other, **second)
        do(session, "step", count=2)
        assert not any(session.failures)
        do(session, "go_to", place=0)
        assert hashes(session) == begin
