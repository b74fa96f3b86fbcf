"""Walks through all calls for memory of steps and changes, and lets each fail: python out_of_memory.py SCENE EVERY."""

import copy
import re
import sys

import numpy as np

import mcsim as mc
from failing_malloc import library

# Bytes from which on a call may fail: arrays of the world's in steps, and larger ones where NumPy works on them, which
# crashes by itself where it gets no memory for small ones.
LEAST = {"steps": 600, "construction": 4096, "changes": 12_000}
STEPS, MORE = 8, 3

MATERIAL = mc.Material(stiffness=2e4, damping=20.0, restitution=0.3)


def rain(count, velocity=(0, 0, -3)):
    """Bodies that fall onto a floor and each other: contacts come in nearly every step."""
    scene = mc.Scene()
    scene.add_body("floor", kind="static", shape=mc.Plane((0, 0, 1)))
    for i in range(count):
        place = (0.21 * (i % 6), 0.21 * (i // 6 % 6), 0.105 + 0.205 * (i // 36) + 0.02 * (i % 3))
        shape = mc.Sphere(0.1) if i % 2 else mc.Box((0.1, 0.1, 0.1))
        scene.add_body(f"b{i}", shape=shape, position=place, density=100, velocity=velocity, material=MATERIAL)
    return scene


def ragdolls():
    return mc.load("ragdolls", count=2)


def arm(count=8, bounded=True):
    """Links that motors hold, with limits and friction: rows that are solved with the joints in them. bounded: or else
    motors alone, whose motion is smooth."""
    bounds = dict(limits=(-1.0, 1.0), friction=0.1) if bounded else {}
    scene = mc.Scene()
    for i in range(count):
        scene.add_body(f"b{i}", shape=mc.Sphere(0.1), position=(0.5 * i + 0.25, 0, 2))
        scene.add_joint(mc.HingeJoint(f"b{i - 1}" if i else None, f"b{i}", anchor=(0.5 * i, 0, 2), axis=(0, 1, 0),
                        motor=mc.Motor(position=0.1, max_force=200.0), **bounds))  # fmt: skip
    return scene


def heap():
    """Boxes that fall asleep within the steps: their contacts go into another list."""
    return rain(70, (0, 0, 0))


WORLDS = {
    "rain": lambda: mc.World(rain(70)),
    "rain, rows": lambda: mc.World(rain(30), stabilization="baumgarte"),
    "rain, pgs": lambda: mc.World(rain(12), solver="pgs"),
    "rain, split": lambda: mc.World(rain(30), stabilization="split_impulse"),
    "rain, compliant": lambda: mc.World(rain(30), contact="compliant", substeps=20),
    "rain, threads": lambda: mc.World(rain(70), threads=2),
    "rain, trees": lambda: mc.ReducedWorld(rain(40), dt=1 / 60),
    "ragdolls": lambda: mc.World(ragdolls(), dt=1 / 15),
    "ragdolls, trees": lambda: mc.ReducedWorld(ragdolls(), dt=1 / 15),
    "arm": lambda: mc.World(arm(), dt=1 / 60),
    "arm, projection": lambda: mc.World(arm(), dt=1 / 60, stabilization="projection"),
    "arm, rk4": lambda: mc.World(arm(), dt=1 / 60, integrator="rk4"),
    "arm, reference": lambda: mc.World(arm(3, False), dt=1 / 60, integrator="reference"),
    "arm, trees, radau": lambda: mc.ReducedWorld(arm(3, False), dt=1 / 60, integrator="radau"),
    "heap": lambda: mc.World(heap(), dt=1 / 10, sleep_time=0.2),
    "pendulum, rk4": lambda: mc.World(mc.load("four_bar"), integrator="rk4"),
}

CHANGES = {
    "snapshot": lambda w: w.snapshot(),
    "restore": lambda w: w.restore(w.snapshot()),
    "copy": lambda w: copy.deepcopy(w),
    "add": lambda w: w.add_body("more", shape=mc.Sphere(0.1), position=(0, 0, 9), density=100),
    "remove": lambda w: w.remove_body(w.body_names[-1]),
    "settings": lambda w: w.change_settings(iterations=7),
    "rows": lambda w: w.rows,
    "contacts": lambda w: w.contacts,
    "cast": lambda w: w.ray_cast((0, 0, 9), (0, 0, -1), 20.0),
}


def failing(call, n, often, kind):
    """-> what a call has raised whose n-th call for memory fails, how many there were."""
    memory, error = library(), None
    memory.fail_at(n, LEAST[kind], often)
    try:
        call()
    except BaseException as raised:
        memory.asked()
        error = raised
    return error, memory.asked()


def asked(call, kind):
    memory = library()
    memory.fail_at(0, LEAST[kind], 0)
    call()
    return memory.asked()


def check_kind(error, what):
    """A MemoryError, or what NumPy makes of one: its operations forget to say so ("returned NULL without setting an
    exception")."""
    forgotten = isinstance(error, SystemError) and re.search("without (setting an )?(exception|error)", str(error))
    if not isinstance(error, MemoryError | type(None)) and not forgotten:
        raise AssertionError(f"{what}: {type(error).__name__}: {error}") from error


def judge(error, world, hashes, what):
    """The world is whole, in the state that it had before the step that failed, and goes on to the same bits."""
    check_kind(error, what)
    world.check()
    made = round(world.time / world.dt)
    assert world.state_hash() == hashes[made], f"{what}: another state after {made} steps"
    world.step(STEPS + MORE - made)
    assert world.state_hash() == hashes[STEPS + MORE], f"{what}: goes another way after {made} steps"


def steps(make, every):
    """-> how often a step failed."""
    world, hashes = make(), []
    for _ in range(STEPS + MORE + 1):
        hashes.append(world.state_hash())
        world.step()
    world = make()
    calls, failed = asked(lambda: world.step(STEPS), "steps"), 0
    for often in (1, 2):  # a step asks again where it can
        for n in range(1, calls + 1, every):
            world = make()
            error, _ = failing(lambda world=world: world.step(STEPS), n, often, "steps")
            judge(error, world, hashes, f"call {n} of {calls}, {often} times")
            failed += error is not None
    return failed


def changes(make, every):
    """Of what a change that fails was to change nothing is; contacts may have lost what they bear."""
    failed = 0
    for name, change in CHANGES.items():
        world = make()
        world.step(STEPS)
        calls = asked(lambda world=world, change=change: change(world), "changes")
        for n in range(1, calls + 1, every):
            world = make()
            world.step(STEPS)
            before = bodies_of(world)
            error, _ = failing(lambda world=world, change=change: change(world), n, 1, "changes")
            check_kind(error, f"{name}, call {n} of {calls}")
            world.check()
            assert error is None or bodies_of(world) == before, f"{name}, call {n} of {calls}: another state"
            world.step(MORE)
            world.check()
            failed += error is not None
    return failed


def bodies_of(world):
    arrays = (world.positions, world.orientations, world.velocities, world.angular_velocities)
    return world.body_names, world.joint_names, world.time, *(array.tobytes() for array in arrays)


def construction(make, every):
    world = make()
    world.step(STEPS)
    good, failed = world.state_hash(), 0
    calls = asked(make, "construction")
    for n in range(1, calls + 1, every):
        error, _ = failing(make, n, 1, "construction")
        check_kind(error, f"construction, call {n} of {calls}")
        failed += error is not None
    world = make()
    world.step(STEPS)
    assert world.state_hash() == good
    return failed


if __name__ == "__main__":
    np.seterr(all="ignore")
    name, every, kind = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    print({"steps": steps, "changes": changes, "construction": construction}[kind](WORLDS[name], every))
