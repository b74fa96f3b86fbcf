"""A tour through what threads do together, for builds whose threads are watched (MCSIM_SANITIZE=thread).

    python tests/threads_tour.py [FOLDER]    FOLDER: where the mcsim to be tried is installed; default: Python's packages

Worlds of several kinds in threads of Python's, worlds that share themselves out among threads of their own, and threads
that look at a world which another one steps. Prints "threads: ok" at the end; what of it was a race, the build itself says.
"""

import sys
import sysconfig
import threading
from pathlib import Path

import mcsim as mc

WORLDS = [
    ("rain", {"count": 60}, {"threads": 2}),
    ("pyramid", {"base": 10}, {"threads": 2}),
    ("ragdolls", {"count": 2}, {}),
    ("terrain", {"count": 6}, {"joint_solver": "rows"}),
    ("rain", {"count": 20}, {"solver": "pgs"}),
    ("four_bar", {}, {"integrator": "rattle"}),
    ("chain", {"count": 8}, {"integrator": "rk4"}),
    ("stack", {"count": 3}, {"solver": "admm", "iterations": 4}),
    ("newton_cradle", {}, {"contact": "event"}),
]
LOOKS = (
    "contacts",
    "rows",
    "events",
    "stats",
    "energy",
    "momentum",
    "joint_errors",
    "frames",
    "state_hash",
    "snapshot",
    "settings",
    "asleep",
    "time",
    "masses",
    "body_names",
    "scene",
)


def look(world, name):
    """What an observer answers; None where the world is busy."""
    try:
        found = getattr(world, name)
        return found() if callable(found) else found
    except mc.SimulationError:
        return None


def life(world, steps):
    """What a world goes through. -> its hash."""
    world.step(steps)
    saved = world.snapshot()
    world.add_body(shape=mc.Sphere(0.1), position=(0, 0, 20))
    world.ray_cast((0, 0, 30), (0, 0, -1))
    world.step(2)
    world.restore(saved)
    world.step(2)
    for name in LOOKS:
        look(world, name)
    return world.state_hash()


def at_once(tasks):
    """Each in a thread of its own. -> what they answer"""
    found, start = [None] * len(tasks), threading.Barrier(len(tasks))

    def run(k):
        start.wait()
        found[k] = tasks[k]()

    threads = [threading.Thread(target=run, args=(k,)) for k in range(len(tasks))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return found


def worlds_at_once(steps):
    """Made of scenes that they share, and stepped: each world twice at the same time, to the same bits."""
    scenes = [mc.load(name, **parameters) for name, parameters, _ in WORLDS]
    for first in range(0, len(WORLDS), 3):
        chosen = [k for k in range(first, min(first + 3, len(WORLDS))) for _ in range(2)]
        hashes = at_once([lambda k=k: life(mc.World(scenes[k], **WORLDS[k][2]), steps) for k in chosen])
        assert None not in hashes and hashes[::2] == hashes[1::2], hashes


def trees_at_once(steps):
    """The same in generalized coordinates; the algorithms over a tree with threads of their own."""
    scene = mc.load("ragdolls", count=1)

    def stepped():
        world = mc.ReducedWorld(scene, threads=2)
        world.step(steps)
        q, qd = ([array] * 40 for array in (world.q, world.qd))
        world.forward_dynamics(world.q, world.qd, world.tau), world.dynamics.bias_force(q, qd)
        return world.state_hash()

    hashes = at_once([stepped] * 2)
    assert hashes[0] is not None and hashes[0] == hashes[1]


def one_steps_others_look(steps):
    """Each look is answered or refused."""
    for world in (mc.World(mc.load("rain", count=30), threads=2), mc.ReducedWorld(mc.load("ragdolls", count=1))):
        done = threading.Event()

        def step(world=world, done=done):
            for _ in range(steps):
                while True:
                    try:
                        world.step()
                        break
                    except mc.SimulationError:
                        continue
            done.set()

        def looks(world=world, done=done):
            while not done.is_set():
                for name in LOOKS:
                    look(world, name)

        at_once([step, looks, looks])


def main(folder):
    assert Path(mc.__file__).resolve().is_relative_to(Path(folder).resolve()), f"tried {mc.__file__}, not {folder}"
    worlds_at_once(steps=8)
    trees_at_once(steps=8)
    one_steps_others_look(steps=8)
    print("threads: ok")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else sysconfig.get_path("platlib"))
