"""Several worlds in several threads give the bits that they give in turn; one world bears only one thread at a time, and
says so."""

import pickle
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import mcsim as mc
from amounts import amount

WORLDS = [
    ("ragdolls", {"count": amount(2, 4)}, {}),
    ("rain", {"n": amount(30, 40)}, {}),
    ("four_bar", {}, {"integrator": "rattle"}),
    ("card_tower", {}, {"joint_solver": "rows"}),
    ("chain", {"n": 20}, {"integrator": "rk4"}),
    ("pyramid", {"base": 6}, {}),
    ("wrecking_ball", {}, {"stabilization": "split_impulse"}),
    ("rain", {"n": amount(20, 30)}, {"solver": "pgs"}),
]


OCTAHEDRON = 0.1 * np.vstack([np.eye(3), -np.eye(3)])


def life(name, parameters, keywords):
    """What a world goes through from its making on. -> its hash at several times."""
    world = mc.World(mc.load(name, **parameters), **keywords)
    hashes = []
    for k in range(amount(2, 4)):
        world.step(6)
        snapshot = world.snapshot()
        hashes.append(world.state_hash())
        body = world.add_body(shape=mc.ConvexHull(OCTAHEDRON), position=(k, 0, 30))
        world.add_joint(mc.BallJoint(body.name, None, (k, 0, 31)))
        world.step(3)
        hashes.append(world.state_hash())
        if k % 2:
            world.restore(snapshot)
        world = pickle.loads(pickle.dumps(world))
        world.rows, world.contacts, world.joint_errors()
    return hashes


def test_worlds_in_threads_give_the_bits_that_they_give_in_turn():
    """Made, stepped, saved, changed and looked at, all at once; four threads, twice as many worlds."""
    in_turn = [life(*world) for world in WORLDS]
    for _ in range(amount(1, 2)):
        with ThreadPoolExecutor(4) as pool:
            together = list(pool.map(lambda world: life(*world), WORLDS))
        assert together == in_turn


def test_steps_release_the_lock_of_the_interpreter():
    """Another thread runs while a world makes a long step."""
    world = mc.World(mc.load("pyramid", base=12))
    counted, done = [0], threading.Event()

    def count():
        while not done.is_set():
            counted[0] += 1

    thread = threading.Thread(target=count)
    thread.start()
    made = 0
    for _ in range(200):  # a busy machine may not run the other thread for a while
        before = counted[0]
        world.step(20)
        made += counted[0] - before
        if made > 1000:
            break
    done.set()
    thread.join()
    assert made > 1000


CALLS = [
    lambda w: w.add_body(shape=mc.Sphere(0.1), position=(0, 0, 9)),
    lambda w: w.remove_body(w.body_names[-1]),
    lambda w: w.snapshot(),
    lambda w: w.restore(w.snapshot()),
    lambda w: w.rows,
    lambda w: w.contacts,
    lambda w: w.stats,
    lambda w: w.jacobian(),
    lambda w: w.energy(),
    lambda w: w.momentum(),
    lambda w: w.joint_errors(),
    lambda w: w.kkt(),
    lambda w: w.state_hash(),
    lambda w: w.step(),
    lambda w: w.apply_force(5, (0, 0, 1)),
    lambda w: w.frames(),
    lambda w: w.set_velocity(5, (0, 0, 0.1)),
    lambda w: w.positions.copy(),
    lambda w: w.set_kind(w.body_names[0], "kinematic"),
    lambda w: w.set_body(5, gravity_scale=0.5),
    lambda w: pickle.dumps(w),
    lambda w: w.joint(0).position,
    lambda w: w.add_joint(mc.FreeJoint(w.body_names[-1], None)) if len(w.joint_names) < 60 else None,
]


def test_one_world_in_two_threads_is_refused_and_nothing_breaks():
    """One thread steps, another does all there is to do: each call works or says that the world is busy."""
    world = mc.World(mc.load("ragdolls", count=3))
    done, refused, failures = threading.Event(), [0], []

    def meddle():
        rng = np.random.default_rng(0)
        while not done.is_set():
            try:
                CALLS[rng.integers(len(CALLS))](world)
            except (mc.SimulationError, mc.SceneError, IndexError) as error:
                refused[0] += "in the middle of a step" in str(error)
            except BaseException as error:
                failures.append(error)
                return

    thread = threading.Thread(target=meddle)
    thread.start()
    stepped = 0
    try:
        while stepped < 60 or refused[0] < 20 and stepped < 3000:
            try:
                world.step(5)
                stepped += 1
            except mc.SimulationError as error:
                assert "in the middle of a step" in str(error)
                refused[0] += 1
    finally:
        done.set()
        thread.join()
    if failures:
        raise failures[0]
    assert refused[0] > 0
    assert np.all(np.isfinite(world.positions)) and len(world.positions) == len(world.body_names)
    world.step(3)


def test_a_world_says_that_it_is_busy():
    """While one thread is in step(), the other's calls that would change or tear the state are refused by name."""
    entered, leave = threading.Event(), threading.Event()

    def motion(t):
        if threading.current_thread() is thread:
            entered.set()
            leave.wait(10)
        return 0.0

    scene = mc.Scene()
    scene.add_body("b", shape=mc.Sphere(0.1))
    scene.add_joint(mc.HingeJoint(None, "b", (0, 0, 0), (0, 1, 0), motion=mc.Motion(motion)))
    thread = threading.Thread(target=lambda: world.step())
    world = mc.World(scene)
    thread.start()
    assert entered.wait(10)
    try:
        for name, call in {
            "step": lambda: world.step(),
            "add_bodies": lambda: world.add_body(shape=mc.Sphere(1)),
            "remove_joint": lambda: world.remove_joint(0),
            "snapshot": world.snapshot,
            "contacts": lambda: world.contacts,
            "rows": lambda: world.rows,
        }.items():
            with pytest.raises(mc.SimulationError, match=f"World.{name}: the world is in the middle of a step"):
                call()
        assert world.positions.shape == (1, 3) and world.body("b").name == "b"
    finally:
        leave.set()
        thread.join()
    world.step()


# ---- threads within one world ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "scene, parameters",
    [("pyramid", {"base": 16}), ("rain", {"n": 250}), ("ragdolls11", {"n": 8}), ("terrain", {"count": 30})],
)
def test_results_do_not_depend_on_how_many_threads_share_a_world(scene, parameters, monkeypatch):
    """Also with more threads than processors, which a world would not use by itself."""
    monkeypatch.setattr("mcsim.world.settings.workers", lambda threads: threads)
    hashes = []
    for threads in (1, 2, 3, 5):
        world = mc.World(mc.load(scene, **parameters), threads=threads)
        world.step(20)
        snapshot = world.snapshot()
        world.step(10)
        hashes.append(world.state_hash())
        world.restore(snapshot)
        world.step(10)
        hashes.append(world.state_hash())
    assert len(set(hashes)) == 1


def test_numbers_of_threads():
    assert mc.World(mc.Scene(), threads=4).settings["threads"] == 4
    for wrong in (0, 65, 1.5, "2", True):
        with pytest.raises(mc.SceneError, match="threads"):
            mc.World(mc.Scene(), threads=wrong)
