"""Long calls, and Ctrl-C in the middle of each: python ctrl_c.py CALL.

Each call is made without an interrupt, which tells how long it takes, then with one after parts of that time. What it
worked on is whole afterwards, and is what it was or, after steps, the state between two of them; the next call does all.
"""

import signal
import sys
import tempfile
import threading
import time
from pathlib import Path

import mcsim as mc
from mcsim.lab import compare

WHEN = (0.02, 0.15, 0.4, 0.7, 0.9)  # of the time that a call takes


def interrupted(call, seconds):
    """Makes a call in which Ctrl-C is pressed after a time -> whether that came before its end."""
    main = threading.main_thread().ident
    press = threading.Timer(seconds, lambda: signal.pthread_kill(main, signal.SIGINT))
    try:
        press.start()
        try:
            call()
        finally:
            press.cancel()
        press.join()
        time.sleep(0.01)  # if it was pressed after the end it is heard here
    except KeyboardInterrupt:
        press.join()
        return True
    return False


def pile(count=300):
    return mc.load("pyramid", base=int((2 * count) ** 0.5))


def steps(make, count=200):
    """-> a call, and what looks at what it has left."""
    base = make()
    hashes = {}
    for k in range(count + 1):
        hashes[k] = base.state_hash()
        base.step()
    world = make()
    dt, start = world.dt, world.time

    def call():
        world.step(count)

    def look():
        made = round((world.time - start) / dt)
        world.check()
        assert world.state_hash() == hashes[made], f"another state after {made} steps"
        world.restore(begin)
        return made < count

    begin = world.snapshot()
    return call, look


def whole(world, call):
    """A call that leaves a world as it is."""
    before = world.state_hash()

    def look():
        world.check()
        assert world.state_hash() == before

    return call, look


def building():
    scenes = []

    def call():
        scenes.append(mc.Scene())
        for i in range(700):
            scenes[-1].add_body(f"b{i}", shape=mc.Box((0.1, 0.1, 0.1)), position=(i, 0, 1), density=100)
            if i:
                scenes[-1].add_joint(mc.HingeJoint(f"b{i - 1}", f"b{i}", anchor=(i - 0.5, 0, 1), axis=(0, 1, 0)))

    def look():
        scene = scenes[-1]
        count = len(scene.bodies)
        assert len(scene.joints) in (count - 1, count - 2, 0) and [body.index for body in scene.bodies] == [*range(count)]
        assert mc.Scene.from_dict(scene.to_dict()) == scene
        scene.add_body("last", shape=mc.Sphere(0.1), density=1.0)
        mc.World(scene).check()

    return call, look


def construction(kind):
    scene = pile(1000) if kind is mc.World else mc.load("ragdolls", count=12)
    before = scene.to_dict()

    def look():
        assert scene.to_dict() == before
        kind(scene).check()

    return lambda: kind(scene), look


def loading():
    path = Path(tempfile.mkdtemp()) / "scene.json"
    pile(1500).save(path)

    def look():
        assert len(mc.load(path).bodies) > 1000

    return lambda: mc.load(path), look


def rollout(threads):
    world = mc.World(mc.load("ragdolls", count=1))
    return whole(world, lambda: mc.rollout(world, 60, worlds=40, threads=threads, record=["positions"]))


def rollout_side_by_side(threads):
    """Of trees that touch nothing: eight worlds or so at a time."""
    scene = mc.Scene()
    for i in range(4):
        scene.add_body(f"b{i}", mass=1.0, inertia=(0.02, 0.02, 0.01), position=(0, 0, -0.5 - i))
        scene.add_joint(mc.HingeJoint(f"b{i - 1}" if i else None, f"b{i}", anchor=(0, 0, -i), axis=(0, 1, 0)))
    world = mc.ReducedWorld(scene, dt=0.01)
    world.qd = (1.0, 2.0, -1.0, 0.5)
    return whole(world, lambda: mc.rollout(world, 1000, worlds=96, every=100, threads=threads))


def comparison():
    scene = mc.scenes.pendulum()
    before = scene.to_dict()

    def look():
        assert scene.to_dict() == before

    return lambda: compare(scene, ["maximal:si+soft", "maximal:pgs+baumgarte"], 8.0, 0.01, timing=False), look


def derivatives():
    world = mc.World(mc.load("four_bar"), sleep=False, stabilization="baumgarte")
    world.step(5)
    return whole(world, lambda: mc.trajectory_derivatives(world, 6))


def state_file():
    path = Path(tempfile.mkdtemp()) / "world.npz"
    world = mc.World(pile(1000))
    world.step(2)

    def look():
        assert not path.exists() or mc.load_state(path).state_hash() == world.state_hash()
        assert all(found == path for found in path.parent.iterdir()), "something half written is left"

    return lambda: world.save_state(path), look


CALLS = {
    "steps": lambda: steps(lambda: mc.World(pile(60))),
    "steps of trees": lambda: steps(lambda: mc.ReducedWorld(mc.load("ragdolls", count=2), dt=1 / 60)),
    "steps by events": lambda: steps(lambda: mc.World(mc.scenes.pendulum(), contact="event", dt=1 / 30), 60),
    "building": building,
    "construction": lambda: construction(mc.World),
    "construction of trees": lambda: construction(mc.ReducedWorld),
    "loading": loading,
    "rollout": lambda: rollout(1),
    "rollout in threads": lambda: rollout(2),
    "rollout side by side": lambda: rollout_side_by_side(1),
    "rollout side by side in threads": lambda: rollout_side_by_side(2),
    "comparison": comparison,
    "derivatives": derivatives,
    "state file": state_file,
}


def main(name):
    call, look = CALLS[name]()
    began = time.perf_counter()
    call()
    seconds = time.perf_counter() - began
    look()
    count = 0
    for part in WHEN:
        count += interrupted(call, part * seconds)
        look()
    call()
    look()
    print(f"{count} of {len(WHEN)} in {seconds:.3f} s")


if __name__ == "__main__":
    main(sys.argv[1])
