"""Calls on worlds, written to a file and made again from it: the same hash after each, whatever was called, of whichever
world, in whichever state it was, until the process was killed."""

import copy
import json
import os
import pickle
import signal
import subprocess
import sys
import threading
import warnings
from pathlib import Path
from types import FunctionType

import numpy as np
import pytest

import mcsim as mc
from amounts import amount
from mcsim.calls import entries
from mcsim.calls.log import MARK
from mcsim.cli import main
from mcsim.fuzz import Case, callbacks, case_of, drawn_case, played, script_of
from mcsim.fuzz.play import Player
from mcsim.world.handles import BodyHandle, JointHandle
from mcsim.world.live_settings import LiveSettings

ROOT = Path(__file__).parents[2]
WORLDS = (mc.World, mc.ReducedWorld)
FUNCTIONS = {
    f"mcsim.fuzz.callbacks.{name}": value for name, value in vars(callbacks).items() if isinstance(value, FunctionType)
}


def scene():
    """A bit of everything: a floor, an arm with a motor, loose bodies, a body that nothing moves."""
    made = mc.Scene(name="bit")
    made.add_body("floor", shape=mc.Plane((0, 0, 1)), kind="static")
    made.add_body("arm", shape=mc.Capsule(0.05, 0.2), position=(1, 0, 1))
    made.add_body("tray", shape=mc.Box((0.3, 0.3, 0.05)), position=(-1, 0, 1), kind="kinematic")
    for i in range(3):
        made.add_body(f"box{i}", shape=mc.Box((0.1, 0.1, 0.1)), position=(0, 0, 0.1 + 0.21 * i))
    motor = mc.Motor(velocity=1.0, max_force=2.0)
    made.add_joint(mc.HingeJoint(None, "arm", (1, 0, 1.25), (0, 1, 0), name="pin", motor=motor))
    return made


def lines(path):
    return [json.loads(line) for line in Path(path).read_text(encoding="utf-8").splitlines()]


def same(path, **keywords):
    """What a replay came to, which is to be equal."""
    told = mc.replay_calls(path, **keywords)
    assert told.difference is None, told
    return told


# Each changing call, by its name: methods and what is set, of worlds and handles.
CALLS = {
    "step": lambda w: w.step(3),
    "restore": lambda w: w.restore(w.snapshot()),
    "change_settings": lambda w: w.change_settings(substeps=2, gravity=(0, 0, -5)),
    "wake": lambda w: w.wake("box0"),
    "apply_force": lambda w: w.apply_force("box2", (1, 2, 3), point=(0, 0, 1)),
    "apply_forces": lambda w: w.apply_forces(np.ones((2, 3)), ["box0", 4]),
    "apply_wind": lambda w: w.apply_wind((3.0, 1.0, 0.0), ["box0", 4], drag=0.5, lift=np.float32(0.25)),
    "apply_torque": lambda w: w.apply_torque(w.body("box1"), (0, 0, 1)),
    "apply_impulse": lambda w: w.apply_impulse("box2", np.array([1.0, 0, 0])),
    "apply_impulses": lambda w: w.apply_impulses(((0, 0, 1),), iter(["box0"])),
    "set_pose": lambda w: w.set_pose("box2", (0, 0, 3), (0.6, 0.8, 0, 0)),
    "set_velocity": lambda w: w.set_velocity("box2", angular_velocity=(0, 0, 3)),
    "move_to": lambda w: w.move_to("tray", (-1, 0, 1.01)),
    "add_body": lambda w: w.add_body("new", shape=[mc.Sphere(0.1), mc.Box((0.1, 0.2, 0.3), position=(0.1, 0, 0))]),
    "add_bodies": lambda w: w.add_bodies({"shape": mc.Sphere(0.1), "position": (0, k, 5)} for k in range(2)),
    "add_joint": lambda w: w.add_joint(mc.BallJoint(w.body("box0"), w.scene.body("box1"), (0, 0, 0.2), name="ball")),
    "add_joints": lambda w: w.add_joints([mc.HingeJoint("arm", "box2", (1, 0, 1), (0, 1, 0), spring=mc.Spring(9.0, 1.0))]),
    "remove_body": lambda w: w.remove_body(w.bodies[-1]),
    "remove_bodies": lambda w: w.remove_bodies(["box0", "box1"]),
    "remove_joint": lambda w: w.remove_joint("pin"),
    "ignore_collision": lambda w: w.ignore_collision("box0", "box1"),
    "apply_buoyancy": lambda w: w.apply_buoyancy(0.5, ["box0"], drag=0.5, current=(1, 0, 0)),
    "set_material_pair": lambda w: w.set_material_pair("ice", "wood", friction=0.1),
    "set_pair": lambda w: w.set_pair("box0", "box1", friction=0.1, restitution=0.5),
    "set_shape": lambda w: w.set_shape("box1", mc.ConvexHull(np.random.default_rng(0).normal(size=(8, 3)) / 9), mass=2.0),
    "set_material": lambda w: w.set_material("box1", mc.Material(0.1, 0.9), shape=0),
    "set_kind": lambda w: w.set_kind("box1", "static"),
    "set_body": lambda w: w.set_body("box1", density=300.0, collision_mask=3),
    "contact_filter=": lambda w: setattr(w, "contact_filter", None),
    "gravity=": lambda w: setattr(w, "gravity", (0, 0, -3)),
    "tau=": lambda w: setattr(w, "tau", 0.1 * np.ones(len(w.tau))),
    "from_maximal": lambda w: w.from_maximal(w.positions, w.orientations),
    "q=": lambda w: setattr(w, "q", w.q + 0.0),
    "qd=": lambda w: setattr(w, "qd", 0.5 * w.qd),
    "body position=": lambda w: setattr(w.body("box2"), "position", (0, 0, 2)),
    "body orientation=": lambda w: setattr(w.body("box2"), "orientation", (0, 1, 0, 0)),
    "body velocity=": lambda w: setattr(w.body("box2"), "velocity", (0, 0, 2)),
    "body angular_velocity=": lambda w: setattr(w.body("box2"), "angular_velocity", (0, 0, 2)),
    "body gravity_scale=": lambda w: setattr(w.body("box2"), "gravity_scale", -1.0),
    "body linear_damping=": lambda w: setattr(w.body("box2"), "linear_damping", 0.2),
    "body angular_damping=": lambda w: setattr(w.body("box2"), "angular_damping", 0.2),
    "body bullet=": lambda w: setattr(w.body("box2"), "bullet", True),
    "body enabled=": lambda w: setattr(w.body("box2"), "enabled", False),
    "body user_data=": lambda w: setattr(w.body("box2"), "user_data", object()),
    "joint tau=": lambda w: setattr(w.joint("pin"), "tau", 0.3),
    "joint motor_velocity=": lambda w: setattr(w.joint("pin"), "motor_velocity", 3.0),
    "joint motor_position=": lambda w: setattr(w.joint("pin"), "motor_position", 0.3),
    "joint motor_max_force=": lambda w: setattr(w.joint("pin"), "motor_max_force", np.float32(0.3)),
    "joint motor_max_velocity=": lambda w: setattr(w.joint("pin"), "motor_max_velocity", 0.5),
    "joint set_motor": lambda w: w.joint("pin").set_motor(mc.Motor(position=0.2, kp=5.0, kd=0.5)),
    "joint set_limits": lambda w: w.joint("pin").set_limits(-0.5, None),
    "joint set_spring": lambda w: w.joint("pin").set_spring(mc.Spring(20.0, 1.0, 0.1, "pull")),
}
OF_TREES = {"from_maximal", "q=", "qd="}
BEFORE = {"joint motor_max_velocity=": lambda w: w.joint("pin").set_motor(mc.Motor(position=0.2))}  # what a call asks for


def names(kind):
    """The calls that a kind of thing has, as CALLS names them."""
    return {name if kind == "world" else f"{kind} {name}" for name in entries.names(kind)}


def test_every_entry_point_is_called_here():
    """So that a new one is looked at; and the table of methods is the one of tests/state/test_pure.py."""
    assert set().union(*map(names, entries.KINDS)) == set(CALLS)
    from test_pure import CHANGES

    assert entries.CHANGES == CHANGES | {"change_settings"}


def test_all_that_may_be_set_is_an_entry_point():
    """A property with a setter is found; a Setting calls change_settings."""
    for kind, classes in entries.KINDS.items():
        for each in classes:
            for name in dir(each):
                found = getattr(each, name)
                if not name.startswith("_") and getattr(found, "fset", None):
                    assert f"{name}=" in entries.names(kind)
    assert {name for name in dir(LiveSettings) if hasattr(type(getattr(LiveSettings, name)), "__set__")} >= {"dt", "strict"}


@pytest.mark.parametrize("kind", WORLDS)
@pytest.mark.parametrize("name", CALLS)
def test_every_call_is_made_again(kind, name, tmp_path):
    """... on a world in the middle of its run, with what follows from it; and is in the file by its name."""
    if name in OF_TREES and kind is mc.World:
        pytest.skip("of a ReducedWorld alone")
    world = kind(scene(), dt=1 / 60)
    BEFORE.get(name, mc.World.step)(world)
    world.step(5)
    path = tmp_path / "calls.jsonl"
    with mc.record_calls(path, world) as log:
        world.body("box0").velocity = (0.1, 0, 0)
        CALLS[name](world)
        world.step(5)
    written = [line["call"] for line in lines(path) if "call" in line]
    assert name.split()[-1] in written and len(written) == log.calls == 3
    told = same(path)
    assert told.hash == world.state_hash() and told.calls == 3 and told.remarks == []
    assert list(told.worlds) == [1] and told.worlds[1].state_hash() == world.state_hash()


@pytest.mark.parametrize("kind", WORLDS)
@pytest.mark.parametrize("name", ["velocities", "angular_velocities", "forces", "tau", "positions", "q", "qd"])
def test_what_is_written_into_arrays_is_made_again(kind, name, tmp_path):
    world = kind(scene(), dt=1 / 60)
    if not hasattr(world, name) or not getattr(world, name).flags.writeable:
        pytest.skip("it is none to be written into")
    path = tmp_path / "calls.jsonl"
    with mc.record_calls(path, world):
        world.step(2)
        getattr(world, name)[-2:] += 0.01
        world.step()
        getattr(world, name)[-1:] *= -1.5
        world.step()
    assert sum("write" in line for line in lines(path)) == 2
    assert same(path).hash == world.state_hash()


@pytest.mark.parametrize("kind", WORLDS)
def test_a_log_of_all_worlds(kind, tmp_path):
    """Those that are made inside and those that were, each from its first call on; copies go by themselves."""
    path = tmp_path / "calls.jsonl"
    old = kind(scene(), dt=1 / 60)
    old.step(3)
    untouched = kind(scene())
    with mc.record_calls(path):
        new = kind(scene(), dt=1 / 50)
        new.step()
        old.velocities[3] = (0, 0, 1)
        old.step()
        other, third = copy.deepcopy(old), pickle.loads(pickle.dumps(new))
        other.step(2)
        third.dt = 1 / 100
        third.step()
        kept = old.snapshot()
        old.step(2)
        other.restore(kept)
        old.restore(kept)
        mc.rollout(new, 2, worlds=2), new.redundancy()  # which make worlds for their own ends
    told = same(path)
    assert len(told.worlds) == 4 and MARK not in vars(untouched)
    for number, world in zip((1, 2, 3, 4), (new, old, other, third)):
        assert told.worlds[number].state_hash() == world.state_hash()
    assert sum("snapshot" in str(line.get("args")) and len(str(line)) > 500 for line in lines(path)) == 1  # in full once


@pytest.mark.parametrize("kind", WORLDS)
@pytest.mark.parametrize("name", mc.scenes.SCENES)
@pytest.mark.sampled(9)
def test_every_ready_scene(kind, name, tmp_path):
    """From the middle of its run on."""
    try:
        world = kind(mc.load(name), dt=1 / 120)
    except mc.SceneError as error:
        pytest.skip(str(error))
    if len(world.body_names) > 120:
        pytest.skip("it would take long")
    world.step()
    with mc.record_calls(tmp_path / "calls", world):
        world.step(2)
    assert same(tmp_path / "calls").hash == world.state_hash()


@pytest.mark.parametrize("kind", WORLDS)
@pytest.mark.parametrize("forces", [False, True])
def test_hashes_after_every_step(kind, forces, tmp_path):
    """They are those of single steps where no forces act, and change nothing where some do."""
    world, alone, plain = (kind(scene(), dt=1 / 60) for _ in range(3))
    path = tmp_path / "calls.jsonl"
    with mc.record_calls(path, world, each_step=True):
        if forces:
            world.apply_force("box2", (5, 0, 0))
            plain.apply_force("box2", (5, 0, 0))
        world.step(6)
    plain.step(6)
    assert plain.state_hash() == world.state_hash()
    each = next(line["each"] for line in lines(path) if "each" in line)
    assert len(each) == 5 and same(path).steps == 6
    hashes = []
    for _ in range(5):
        alone.step()
        hashes.append(alone.state_hash())
    assert (hashes == each) is not forces
    damaged = [line if "each" not in line else line | {"each": [*each[:3], "0" * 32, each[4]]} for line in lines(path)]
    path.write_text("\n".join(map(json.dumps, damaged)) + "\n", encoding="utf-8")
    found = mc.replay_calls(path).difference
    assert found.step == 4 and found.recorded == "0" * 32 and found.found == each[3] and "after its step 4" in str(found)


def test_what_is_refused_is_refused_again(tmp_path):
    """By the same kind of error, also where the argument is one that no file holds; and a step that fails half way."""
    world = mc.World(scene(), dt=1 / 60)
    gone = world.add_body("gone", shape=mc.Sphere(0.1))
    world.remove_body("gone")
    path = tmp_path / "calls.jsonl"
    with mc.record_calls(path, world):
        for call in (
            lambda: world.step(-1),
            lambda: world.set_pose("nobody", (0, 0, 1)),
            lambda: world.set_pose("box0", (0, 0, np.nan)),
            lambda: world.set_pose(object(), (0, 0, 1)),
            lambda: world.set_pose(gone, (0, 0, 1)),
            lambda: gone.__setattr__("velocity", (0, 0, 1)),
            lambda: world.apply_forces(np.zeros((0, 3)), ["box0"]),
            lambda: world.set_body("box0", nonsense=1j),
            lambda: world.set_pose(),
            lambda: world.joint("pin").set_limits(2, 1),
            lambda: world.restore("yesterday"),
        ):
            with pytest.raises((mc.SceneError, mc.StaleHandleError, TypeError)):
                call()
        world.step(2)
        world.velocities[4] = np.inf
        with pytest.raises(mc.SimulationError):
            world.step(2)
    told = same(path)
    assert told.calls == 13 and sum("error" in line for line in lines(path)) == 12 and told.steps == 2


def test_what_is_not_recorded_costs_and_sees_nothing(tmp_path):
    """Classes are as they were before and after; a world that is not the log's leads no calls to it; two logs at once."""
    before = [(base, name, vars(base)[name]) for kind in entries.KINDS for base, name, _ in entries.entries(kind)]
    world, other = mc.World(scene()), mc.World(scene())
    one, two = mc.record_calls(tmp_path / "one", world), mc.record_calls(tmp_path / "two", other)
    assert any(vars(base)[name] is not value for base, name, value in before)
    world.step()
    one.close(), one.close()
    other.step(2)
    world.step()
    two.close()
    assert all(vars(base)[name] is value for base, name, value in before)
    assert [same(tmp_path / name).steps for name in ("one", "two")] == [1, 2]
    assert (one.calls, two.calls) == (1, 1) and "closed" in repr(one) and "1 calls" in repr(two)


def test_only_one_log_follows_a_world(tmp_path):
    world = mc.World(scene())
    with mc.record_calls(tmp_path / "a", world):
        with pytest.raises(mc.SceneError, match="recorded already"):
            mc.record_calls(tmp_path / "b", world)
        with mc.record_calls(tmp_path / "c"):
            with pytest.raises(mc.SceneError, match="all calls are recorded already"):
                mc.record_calls(tmp_path / "d")
            world.step()
            mc.World(scene()).step(2)
    assert [same(tmp_path / name).steps for name in "ac"] == [1, 2]
    with pytest.raises(mc.SceneError, match="world must be a World"):
        mc.record_calls(tmp_path / "e", scene())
    with pytest.raises(mc.SceneError, match="each_step"):
        mc.record_calls(tmp_path / "e", each_step=3)
    with pytest.raises(FileNotFoundError, match="no folder"):
        mc.record_calls(tmp_path / "none" / "e")
    with pytest.raises(mc.SceneError, match="is a folder"):
        mc.record_calls(tmp_path)
    assert not entries._before


def test_classes_of_the_users_own_are_recorded_by_what_they_call(tmp_path):
    class Own(mc.World):
        def step(self, n=1):
            self.apply_impulse("box2", (0, 0.1, 0))
            super().step(2 * n)

    own = Own(scene())
    with mc.record_calls(tmp_path / "calls", own):
        own.step()
    told = same(tmp_path / "calls")
    assert told.steps == 2 and told.calls == 2 and type(told.worlds[1]) is mc.World


def test_notes_that_wait_are_told(tmp_path):
    """A strict world raises in its next step what was found when it was made: that of the file, too, and a copy that has
    forgotten it does not."""
    made = scene()
    frames = {"frame_a": ((0, 0, 0.1), (1, 0, 0, 0)), "frame_b": ((0, 0, 0), (1, 0, 0, 0))}
    made.add_joint(mc.BallJoint("box0", "box1", name="torn", **frames))
    ended = []
    for k, world in enumerate(mc.ReducedWorld(made, strict=True) for _ in range(2)):
        if k == 1:
            world._wait(None)
        with mc.record_calls(tmp_path / str(k), world):
            try:
                ended.append(world.step())
            except mc.SimulationError as error:
                ended.append(str(error))
        assert same(tmp_path / str(k)).calls == 1
    assert "torn" in ended[0] and ended[0] != ended[1]


# ---- functions -------------------------------------------------------------------------------------------------------


def test_a_contact_filter_is_named_and_given_again(tmp_path):
    """One that was there before, too. Without it the file cannot be played."""
    world = mc.World(scene())
    world.contact_filter = callbacks.meets_by_name
    with mc.record_calls(tmp_path / "calls", world):
        world.step(3)
        world.contact_filter = callbacks.calls_back
        world.step(3)
    with pytest.raises(mc.SceneError, match=r"line 4: contact_filter= was given .*meets_by_name.*no file holds; give it"):
        mc.replay_calls(tmp_path / "calls")
    assert same(tmp_path / "calls", functions=FUNCTIONS).calls == 4


def test_worlds_with_functions_are_refused_or_told_of(tmp_path):
    made = scene()
    made.add_joint(mc.UserJoint("box0", "box1", lambda a, b: [b.position[0] - a.position[0]], name="own"))
    world = mc.World(made)
    with pytest.raises(mc.SceneError, match="joint 'own'"):
        mc.record_calls(tmp_path / "calls", world)
    with mc.record_calls(tmp_path / "calls"), pytest.warns(UserWarning, match="not recorded.*joint 'own'"):
        world.step()
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            world.step()
        mc.World(scene()).step()
    told = same(tmp_path / "calls")
    assert told.steps == 1 and "left out" in told.remarks[0] and "'own'" in told.remarks[0]


def test_a_joint_of_functions_that_is_added_stops_a_replay(tmp_path):
    world = mc.World(scene())
    with mc.record_calls(tmp_path / "calls", world):
        world.step()
        world.add_joint(mc.UserJoint("box0", "box1", callbacks.Apart(0, 0.0), name="own"))
        world.step()
    with pytest.raises(mc.SceneError, match=r"line 6: add_joint was given <function mcsim.fuzz.callbacks.Apart>"):
        mc.replay_calls(tmp_path / "calls")
    assert same(tmp_path / "calls", functions={"mcsim.fuzz.callbacks.Apart": callbacks.Apart(0, 0.0)}).calls == 3


# ---- what no call explains, other threads, other processes -----------------------------------------------------------


def test_a_change_that_no_call_explains_is_told_and_made_again(tmp_path):
    """A method that was bound before the log began leads around it."""
    world = mc.World(scene())
    step = world.step
    with mc.record_calls(tmp_path / "calls", world):
        world.step()
        step(2)
        world.step()
    told = same(tmp_path / "calls")
    assert told.steps == 2 and "no call that is recorded" in told.remarks[0]
    assert told.hash == world.state_hash()


def test_another_thread_that_looks(tmp_path):
    """... makes calls be refused, which a replay does not ask for again."""
    world, ends = mc.World(scene()), threading.Event()

    def look():
        while not ends.is_set():
            try:
                world.ray_cast((0, 0, 9), (0, 0, -1))
            except mc.SimulationError:
                pass

    threads = [threading.Thread(target=look) for _ in range(2)]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    done = 0
    try:
        with mc.record_calls(tmp_path / "calls", world):
            for thread in threads:
                thread.start()
            for _ in range(amount(100, 400)):
                try:
                    world.step()
                    done += 1
                except mc.SimulationError:
                    pass
    finally:
        ends.set()
        sys.setswitchinterval(interval)
        for thread in threads:
            thread.join()
    assert same(tmp_path / "calls").steps == done > 0


KILLED = """
import os, signal, sys
import mcsim as mc
world = mc.World(mc.load("stack", count=3))
mc.record_calls(sys.argv[1])
for k in range(40):
    world.step(2)
    world.body(1).velocity = (0.01 * k, 0, 0)
    if k == 20:
        print("now", flush=True)
        {ends}
"""


@pytest.mark.parametrize("ends", ["os.kill(os.getpid(), signal.SIGKILL)", "os._exit(3)", "sys.stdin.read()"])
@pytest.mark.sampled(3)
def test_a_process_that_is_killed_leaves_a_file(ends, tmp_path):
    path = tmp_path / "calls.jsonl"
    child = subprocess.Popen(
        [sys.executable, "-c", KILLED.format(ends=ends), str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    )
    with child:
        assert child.stdout.readline().strip() == b"now"
        child.send_signal(signal.SIGKILL)
    told = same(path)
    assert told.calls == 42 and told.steps == 42 and "was not closed" in told.remarks[0]


def test_a_child_process_writes_nothing(tmp_path):
    """Of os.fork: two processes would write into one file."""
    world = mc.World(scene())
    with mc.record_calls(tmp_path / "calls", world) as log:
        world.step()
        child = os.fork()
        if child == 0:
            try:
                world.step(5)
                log.close()
            finally:
                os._exit(0)
        os.waitpid(child, 0)
        world.step()
    assert same(tmp_path / "calls").steps == 2


@pytest.mark.parametrize("seed", range(amount(2, 60)))
@pytest.mark.sampled(1)
def test_what_the_fuzzer_calls_is_made_again(seed, tmp_path):
    """Three worlds of a kind that is drawn, with all that the fuzzer does to them."""
    case, rng = drawn_case(seed)
    path = tmp_path / "calls.jsonl"
    with mc.record_calls(path, each_step=bool(seed % 2)):
        played(case, rng, amount(20, 40))
    try:
        told = mc.replay_calls(path, functions=FUNCTIONS)
    except mc.SceneError as error:
        assert "was given <function" in str(error) or "which no file holds" in str(error)  # or what has one in it
    else:
        assert told.difference is None, told


# ---- from the command line -------------------------------------------------------------------------------------------


def test_mcsim_replay(tmp_path, capsys):
    world = mc.World(scene())
    path = tmp_path / "calls.jsonl"
    with mc.record_calls(path, world):
        world.step(3)
        world.joint("pin").set_motor(velocity=2.0)
        world.step()
    assert main(["replay", str(path)]) == 0
    assert capsys.readouterr().out == f"equal: 3 calls, 4 steps, hash {world.state_hash()}\n"
    content = path.read_text(encoding="utf-8")
    path.write_text(content.replace('{"velocity":2.0}', '{"velocity":2.5}'), encoding="utf-8")
    assert main(["replay", str(path)]) == 1
    told = capsys.readouterr().out
    assert "calls.jsonl: line 6: joint('pin').set_motor(velocity=2.5): differs: recorded " in told and ", here " in told
    path.write_text(content[:-30], encoding="utf-8")
    assert main(["replay", str(path), "--quiet"]) == 0
    told = capsys.readouterr().out.splitlines()
    assert "its last line is cut off" in told[0] and "the file ends in step()" in told[1] and told[3].startswith("equal: 3")
    path.write_text("{}\n", encoding="utf-8")
    assert main(["replay", str(path)]) == 2 and "line 1: not a recording of calls" in capsys.readouterr().err


def test_handles_and_worlds_stay_what_they_are(tmp_path):
    """isinstance, pickles and names are the same while there is a log."""
    world = mc.World(scene())
    with mc.record_calls(tmp_path / "calls"):
        world.step()
        assert type(world) is mc.World and type(world.body(0)) is BodyHandle and type(world.joint(0)) is JointHandle
        assert world.step.__name__ == "step" and "Advance by n steps" in world.step.__doc__
        with pytest.raises(TypeError, match="there is no argument 'bdy'; did you mean"):
            world.set_pose(bdy=1)


@pytest.mark.parametrize("kind", WORLDS)
@pytest.mark.parametrize("twin", ["same", "looks", "copies", "threads"])
def test_recorded_calls_are_a_case_of_the_fuzzer(kind, twin, tmp_path):
    """... which looks at everything after each of them, and comes to the same state."""
    path = tmp_path / "calls"
    world = kind(scene(), dt=1 / 60)
    world.step(2)
    with mc.record_calls(path, world):
        world.contact_filter = callbacks.meets_by_name
        for name in ("step", "apply_forces", "add_body", "restore", "body velocity=", "joint set_motor", "set_body"):
            CALLS[name](world)
        world.velocities[-1:] = (0, 0.1, np.pi)
        with pytest.raises(mc.SceneError):
            world.set_pose("box0", (np.inf, 0, 0))
        world.step(2)
    case = case_of(path, twin)
    player = Player(Case.of(json.loads(json.dumps(case.data()))))
    assert player.begin()
    for call in case.calls:
        player.do(call)
    assert player.plain.world.state_hash() == world.state_hash()
    assert player.outcomes["SceneError"] == 1 and "w.joint('pin').set_motor(mc.Motor(" in script_of(case, "a test")
    assert sum(played(case).outcomes.values()) == len(case.calls) + 1
    with pytest.raises(mc.SceneError, match="there is no world 2"):
        case_of(path, world=2)


def test_a_file_that_cannot_be_written_ends_the_log(tmp_path):
    """... and comes out of the call that could not be written, which is not made."""
    if not Path("/dev/full").exists():
        pytest.skip("there is no /dev/full")
    world = mc.World(scene())
    with pytest.raises(OSError, match="No space left"):
        mc.record_calls("/dev/full", world)
    assert not entries._before
    log = mc.record_calls(tmp_path / "calls", world)
    world.step()
    with open("/dev/full", "wb") as full:
        os.dup2(full.fileno(), log._file)
        with pytest.raises(OSError, match="No space left"):
            world.step(5)
    assert log.closed and not entries._before and world.time == pytest.approx(world.dt)
    log.close()
    world.step()
    told = same(tmp_path / "calls")
    assert told.steps == 1 and "was not closed" in told.remarks[0]
