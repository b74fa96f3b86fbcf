"""What threads share: scenes that worlds are made of, snapshots, problems, and a world that another thread steps. All of it
holds with the interpreter's lock and, where the interpreter has none, without."""

import dataclasses
import os
import subprocess
import sys
import sysconfig
import threading
import time

import numpy as np
import pytest

import mcsim as mc
from amounts import amount
from threads_tour import at_once

SCENES = [
    ("ragdolls", {"count": 1}, {}),
    ("rain", {"count": 20}, {"solver": "pgs"}),
    ("terrain", {"count": 4}, {}),
    ("card_tower", {}, {"joint_solver": "rows"}),
    ("chain", {"count": 6}, {"integrator": "rk4"}),
    ("newton_cradle", {}, {"contact": "event"}),
    ("stack", {"count": 3}, {"solver": "admm", "iterations": 4}),
]


@pytest.fixture(autouse=True)
def quick_turns():
    """Where there is a lock of the interpreter, threads change places as often as can be."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(interval)


@pytest.mark.skipif(not sysconfig.get_config_var("Py_GIL_DISABLED"), reason="the interpreter has its lock")
def test_no_module_brings_the_lock_of_the_interpreter_back():
    """A compiled module that does not say that it can do without has it switched on, with a warning."""
    code = (
        "import importlib, pkgutil, sys, mcsim\n"
        "for module in pkgutil.walk_packages(mcsim.__path__, 'mcsim.'):\n"
        "    if not module.name.endswith('__main__'):\n"
        "        importlib.import_module(module.name)\n"
        "sys.exit(sys._is_gil_enabled())"
    )
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    done = subprocess.run(
        [sys.executable, "-W", "error::RuntimeWarning", "-c", code],
        capture_output=True,
        text=True,
        timeout=300,
        env=environment,
    )
    assert done.returncode == 0, done.stderr[-2000:]


@pytest.mark.parametrize("kind", [mc.World, mc.ReducedWorld])
@pytest.mark.parametrize("name, parameters, keywords", SCENES)
@pytest.mark.sampled(3)
def test_worlds_made_of_one_scene_in_several_threads(name, parameters, keywords, kind):
    """They share its bodies, joints and shapes, and reach the bits of a world that was made alone."""
    if kind is mc.ReducedWorld:
        keywords = {name: value for name, value in keywords.items() if name == "contact" and value != "event"}
    scene = mc.load(name, **parameters)

    def life():
        world = kind(scene, **keywords)
        world.step(amount(6, 20))
        return world.state_hash()

    alone = life()
    assert at_once([life] * 4) == [alone] * 4


def test_one_snapshot_is_restored_in_several_threads():
    """Also where it has bodies and joints that the scene has not."""
    scene = mc.load("ragdolls", count=1)
    world = mc.World(scene)
    world.step(5)
    added = world.add_body(shape=mc.Sphere(0.1), position=(0, 0, 9))
    world.add_joint(mc.BallJoint(added.name, None, (0, 0, 9.5)))
    kept = world.snapshot()

    def life():
        other = mc.World(scene)
        other.restore(kept)
        other.step(5)
        return other.state_hash()

    alone = life()
    assert at_once([life] * 4) == [alone] * 4


def test_one_problem_is_solved_in_several_threads():
    """By one solver and by several at once; what it forms when it is first asked for is formed by all of them."""
    world = mc.World(mc.load("pyramid", base=4))
    world.step(10)
    for _ in range(amount(5, 30)):
        problem = world.problem()
        again = world.problem()
        alone = [mc.solve(again, solver=solver, max_iterations=30).impulses for solver in ("nncg", "admm", "apgd")]
        formed = at_once([lambda p=problem: p.inverse_mass.toarray()] * 4)
        assert all(np.array_equal(found, again.inverse_mass.toarray()) for found in formed)
        found = at_once(
            [
                lambda p=problem, s=solver: mc.solve(p, solver=s, max_iterations=30).impulses
                for solver in ("nncg", "admm", "apgd")
                for _ in range(2)
            ]
        )
        assert all(np.array_equal(impulses, alone[k // 2]) for k, impulses in enumerate(found))


def test_a_joint_goes_into_one_scene_only():
    """Several threads that give one joint to scenes of their own at once: one of them has it, the others are told."""
    for _ in range(amount(40, 200)):
        scenes = [mc.Scene() for _ in range(4)]
        for k, scene in enumerate(scenes):
            scene.add_body("b", shape=mc.Sphere(0.1), position=(k, 0, 0))
        joint = mc.HingeJoint(None, "b", (0, 0, 1), (0, 1, 0))

        def give(scene, joint=joint):
            try:
                return scene.add_joint(joint) is joint
            except mc.SceneError as error:
                assert "make a new one" in str(error)
                return False

        took = at_once([lambda s=scene: give(s) for scene in scenes])
        assert sorted(took) == [False, False, False, True]
        assert [len(scene.joints) for scene in scenes] == took
        frame = joint.frame_b[0]
        assert tuple(frame) == (-took.index(True), 0, 1)


# ---- one thread steps, others look -----------------------------------------------------------------------------------

LOOKS = (
    "contacts",
    "rows",
    "events",
    "energy",
    "momentum",
    "joint_errors",
    "frames",
    "asleep",
    "state_hash",
    "snapshot",
    "jacobian",
    "delassus",
    "masses",
    "body_names",
)


def told(found):
    """An answer as something that can be compared to the bit."""
    if isinstance(found, np.ndarray):
        return found.shape, found.tobytes()
    if hasattr(found, "indptr"):
        return found.shape, told(found.data), told(found.indices), told(found.indptr)
    if isinstance(found, mc.world.snapshots.Snapshot):
        return tuple(told(array) for array in found.arrays.values()), found.steps
    if dataclasses.is_dataclass(found):
        return tuple(told(getattr(found, field.name)) for field in dataclasses.fields(found))
    return tuple(told(part) for part in found) if isinstance(found, (tuple, list)) else found


def look(world, name):
    found = getattr(world, name)
    return told(found() if callable(found) else found)


def until_free(call, *arguments):
    """The call made when the world is free for it."""
    while True:
        try:
            return call(*arguments)
        except mc.SimulationError as error:
            assert "is in the middle of a step" in str(error)
            time.sleep(0)


@pytest.mark.parametrize(
    "kind, scene, parameters",
    [(mc.World, "rain", {"count": 12}), (mc.World, "ragdolls", {"count": 1}), (mc.ReducedWorld, "ragdolls", {"count": 1})],
)
def test_what_a_stepping_world_answers_is_of_one_moment(kind, scene, parameters):
    """One thread steps and restores a world, others look at it all the time: each look is refused, or answers to the bit
    what the same world answers between two steps when it is alone."""
    calls = 8

    def life(world, after):
        until_free(world.restore, start)
        after(world)
        for _ in range(calls):
            until_free(world.step, 3)
            after(world)

    first, second = (kind(mc.load(scene, **parameters), dt=1 / 60) for _ in range(2))
    first.step(20)
    start = first.snapshot()
    right = {name: set() for name in LOOKS}

    def note(world):
        for name in LOOKS:
            right[name].add(look(world, name))

    life(first, note)
    life(first, note)
    second.restore(start)
    answered, done = dict.fromkeys(LOOKS, 0), threading.Event()

    def step():
        try:
            for _ in range(200):
                life(second, lambda world: time.sleep(0))
                if min(answered.values()) >= amount(3, 20):
                    break
        finally:
            done.set()
        return []

    def looks():
        wrong = []
        while not done.is_set():
            for name in LOOKS:
                try:
                    found = look(second, name)
                except mc.SimulationError as error:
                    assert f"{name}: the world is in the middle of a step" in str(error)
                    continue
                answered[name] += 1
                if found not in right[name]:
                    wrong.append(name)
        return wrong

    assert at_once([step, looks, looks]) == [[], [], []]
    assert min(answered.values()) > 0


@pytest.mark.slow
def test_the_time_of_a_world_is_one_that_it_has():
    """It is told at any time, of a world in the middle of a step, too; never half of one snapshot's and half of another's,
    which differ in how many steps there were before."""
    scene = mc.load("chain", count=3)
    old, world = mc.World(scene, dt=1 / 64), mc.World(scene, dt=1 / 128)
    old.step(1000)
    far, near = old.snapshot(), world.snapshot()  # 1000 steps of another dt; none
    step, done = world.dt, threading.Event()
    right = {k * step for k in range(9)} | {far.time + k * step for k in range(9)}

    def go():
        try:
            for k in range(amount(300, 2000)):
                until_free(world.restore, (far, near)[k % 2])
                until_free(world.step, 8)
        finally:
            done.set()
        return set()

    def read():
        seen = set()
        while not done.is_set():
            seen.add(world.time)
        return seen - right

    assert at_once([go, read, read]) == [set()] * 3
