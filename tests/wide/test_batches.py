"""Articulations of equal structure side by side against each of them alone."""

import mcsim.wide._batches
import numpy as np
import pytest

import mcsim as mc
from level_runs import on_every_level

LIMB = [-1, 0, 1, 0, 3, 0, 5, 5]  # parents of the bodies of a branched mechanism


def mechanism(scene, name, at, base, seed, limits=False):
    """A branched mechanism of ball joints and hinges; base: what its first body hangs on, or "" for nothing."""
    rng = np.random.default_rng(seed)
    shape = np.random.default_rng(7)  # of all the same
    place = []
    for i, parent in enumerate(LIMB):
        start = place[parent] if parent >= 0 else np.zeros(3)
        place.append(start + 0.3 * shape.normal(size=3) + (0.4, 0, 0))
        scene.add_body(
            f"{name}{i}",
            mass=shape.uniform(0.5, 2),
            inertia=shape.uniform(0.02, 0.03, 3),
            position=np.add(at, place[-1]),
            orientation=(0.6, 0.0, 0.8, 0.0),
            velocity=0.1 * rng.normal(size=3),
            angular_velocity=rng.normal(size=3),
        )
        if parent < 0 and base == "":
            continue
        ends = f"{name}{parent}" if parent >= 0 else base, f"{name}{i}"
        anchor = np.add(at, 0.5 * (start + place[-1]))
        if i % 3 == 1:
            scene.add_joint(
                mc.HingeJoint(*ends, anchor=anchor, axis=(0, 0.6, 0.8), **({"limits": (-0.1, 0.2)} if limits else {}))
            )
        else:
            scene.add_joint(
                mc.BallJoint(*ends, anchor=anchor, **({"axis": (1, 0, 0), "swing_limit": 0.2} if limits else {}))
            )


def together(count, base, seeds=None, **parts):
    scene = mc.Scene()
    if base == "cart":
        scene.add_body("cart", kind="kinematic", position=(0, 0, 0), velocity=(0.3, 0, 0), angular_velocity=(0, 0, 0.7))
    for k in range(count):
        mechanism(scene, f"m{k}.", (0.3 * k, 0, 0.1 * k), base, seeds[k] if seeds else k, **parts)
    return scene


def state(world):
    first = 1 if world.body_names[0] == "cart" else 0
    whole = np.hstack([world.positions, world.orientations, world.velocities, world.angular_velocities])[first:]
    return whole.reshape(-1, len(LIMB), 13)


def in_batches(world):
    """How many articulations."""
    return sum(found.shape[1] for found in world._pipeline.parts.plan.articulations.state.batches.lanes())


@pytest.mark.parametrize("limits", [False, True])
@pytest.mark.parametrize("base", ["", None, "cart"], ids=["free", "hung", "driven"])
def test_side_by_side_they_move_as_one_by_one(base, limits, monkeypatch):
    """Nine, one more than the most lanes. To what Newton's method leaves of the errors, 5e-7 m at the most under limits,
    whose sweeps amplify that: so for a shorter time."""
    iterations = 8 if limits else 4  # with fewer sweeps such limits are held, and stand alone
    worlds = [mc.World(together(9, base, limits=limits), iterations=iterations)]
    assert in_batches(worlds[0]) == 9
    monkeypatch.setattr(mcsim.wide._batches, "batched", lambda *_: [])
    worlds.append(mc.World(together(9, base, limits=limits), iterations=iterations))
    assert worlds[1]._pipeline.parts.plan.articulations.state.batches is None
    for world in worlds:
        world.step(2 if limits else 25)
        assert world.joint_errors().max() < 2e-7
    assert np.abs(state(worlds[0]) - state(worlds[1])).max() < (1e-5 if limits else 1e-6)
    assert not np.array_equal(state(worlds[0]), state(worlds[1]))


def test_equal_motions_stay_equal_in_every_lane():
    """To the bit: what a lane gives does not depend on which it is."""
    scene = mc.Scene()
    for k in range(11):
        mechanism(scene, f"m{k}.", (0, 0, 0), None, 5)
    world = mc.World(scene)
    world.step(60)
    found = state(world)
    assert all(np.array_equal(found[k], found[0]) for k in range(1, 11))


SCRIPT = """
from test_batches import *
world = mc.World(together(9, None, limits=True), iterations=8)
world.step(40)
print(state(world).tobytes().hex())
"""


def test_every_level_gives_the_same_bits():
    found = on_every_level(SCRIPT)
    assert len(set(found.values())) == 1, found


def test_who_breaks_leaves_the_batch():
    """And the others go on in it; what is left of it, of another structure, stands in one of its own."""
    world = mc.World(together(4, ""))
    world.step(5)
    assert in_batches(world) == 4
    world._joints["broken"][8] = 1
    world._pipeline.parts.replan()
    world.step(20)
    batches = world._pipeline.parts.plan.articulations.state.batches
    assert sorted(found.shape for found in batches.lanes()) == [(6, 1), (7, 3)]
    assert world.joint_errors().max() < 2e-7


@pytest.mark.parametrize("base", ["", None], ids=["free", "hung"])
def test_torn_open_they_are_closed(base):
    """By moving bodies, where joints are taken one by one for a moment."""
    scene = together(3, base)
    world = mc.World(scene)
    world.positions[: len(LIMB)] += 0.03 * np.random.default_rng(1).normal(size=(len(LIMB), 3))
    world.step(60)
    assert world.joint_errors().max() < 1e-6


def test_no_energy_comes_out_of_limits():
    """The watch on the energy knows the work of joints in batches."""
    scene = together(4, None, limits=True)
    world = mc.World(scene)
    start = world.energy().total
    for _ in range(60):
        world.step(5)
        assert world.energy().total < start + 0.01 * abs(start)
