"""The same scene and the same calls give the same bits: in fresh processes, after restore, copies and pickles."""

import copy
import os
import pickle
import subprocess
import sys

import numpy as np
import pytest

import mcsim as mc
from mcsim.world.capabilities import STABILIZATIONS
from test_momentum import jointed
from test_solvers_agree import pile

SCENES = {"joints": lambda: jointed(4), "pile": pile}
SOLVERS = (("si", "tree"), ("si", "rows"), ("pgs", "rows"))
WORLDS = [dict(stabilization=s, solver=v, joint_solver=j) for s in STABILIZATIONS for v, j in SOLVERS]
every_world = pytest.mark.parametrize("keywords", WORLDS, ids=lambda k: "-".join(k.values()))
every_scene = pytest.mark.parametrize("name", SCENES)

SCRIPT = """
import sys
import mcsim as mc
for name in sys.argv[1:]:
    world = mc.World(mc.load(name))
    for steps in (1, 30, 60):
        world.step(steps)
        print(world.state_hash())
"""


def test_two_fresh_processes_give_the_same_bits():
    """State hashes along runs, in two processes with different hash seeds, and in this one."""
    names, here = ["ragdolls", "wrecking_ball", "card_tower"], []
    runs = [
        subprocess.run(
            [sys.executable, "-c", SCRIPT, *names],
            capture_output=True,
            text=True,
            check=True,
            env=os.environ | {"PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(sys.path)},
        ).stdout.split()
        for seed in ("1", "2")
    ]
    for name in names:
        world = mc.World(mc.load(name))
        for steps in (1, 30, 60):
            world.step(steps)
            here.append(world.state_hash())
    assert len(set(here)) == 9 and runs[0] == runs[1] == here


@every_scene
@every_world
@pytest.mark.sampled(5)
def test_one_call_or_many(name, keywords):
    """step(60) and 60 calls of step() make the same bits, whatever is looked at in between."""
    once, often = (mc.World(SCENES[name](), **keywords) for _ in range(2))
    once.step(60)
    for _ in range(60):
        often.step()
        look_at(often)
    assert once.state_hash() == often.state_hash()


def look_at(world):
    """Read every observer."""
    for joint in world.joint_names:
        handle = world.joint(joint)
        handle.position, handle.velocity, handle.force, handle.torque, handle.motor_force, handle.error, repr(handle)
    for body in world.body_names:
        handle = world.body(body)
        handle.position, handle.inertia, handle.frame, repr(handle)
    world.rows, world.jacobian(), world.delassus(), world.energy(), world.momentum(), world.joint_errors()
    world.contacts, world.stats, world.snapshot(), world.frames(), world.masses, world.settings, repr(world)


@every_scene
def test_looking_changes_no_bit(name):
    """Every observer leaves the state hash as it is, at rest, in motion, and after the state was written by hand."""
    world = mc.World(SCENES[name]())
    for _ in range(5):
        world.step(7)
        world.velocities[-1] += 0.5
        world.set_pose(world.body_names[-1], position=world.positions[-1] + 0.01)
        before = world.state_hash()
        look_at(world)
        assert world.state_hash() == before


@every_scene
@every_world
@pytest.mark.sampled(5)
def test_snapshot_and_restore_mid_run(name, keywords):
    """What follows a restore is what followed the snapshot, also in another world of the same scene."""
    world = mc.World(SCENES[name](), **keywords)
    world.step(20)
    world.apply_force(world.body_names[-1], (1.0, 2.0, 3.0))
    snapshot, before = world.snapshot(), world.state_hash()
    world.step(25)
    after = world.state_hash()
    assert after != before
    world.step(10)
    world.restore(snapshot)
    assert world.state_hash() == before
    world.step(25)
    assert world.state_hash() == after
    other = mc.World(SCENES[name](), **keywords)
    other.step(3)
    other.restore(pickle.loads(pickle.dumps(snapshot)))
    assert other.state_hash() == before and other.time == snapshot.time
    other.step(25)
    assert other.state_hash() == after


def test_a_snapshot_is_not_touched_by_what_follows():
    """Stepping, writing and restoring leave a snapshot's arrays as they were."""
    world = mc.World(pile())
    world.step(10)
    snapshot = world.snapshot()
    kept = {k: v.copy() for k, v in snapshot.arrays.items()}
    world.step(10)
    world.restore(snapshot)
    world.positions[...] += 1
    for name, array in kept.items():
        assert np.array_equal(snapshot.arrays[name], array)


@every_scene
@every_world
@pytest.mark.parametrize(
    "copied", [copy.deepcopy, copy.copy, lambda w: pickle.loads(pickle.dumps(w))], ids=["deepcopy", "copy", "pickle"]
)
@pytest.mark.sampled(7)
def test_copies_go_on_to_the_same_bits(name, keywords, copied):
    """A copy is equal, goes on equally, and is a world of its own."""
    world = mc.World(SCENES[name](), **keywords)
    world.step(20)
    twin = copied(world)
    assert twin.state_hash() == world.state_hash() and twin.time == world.time and twin.settings == world.settings
    before = twin.state_hash()
    world.step(30)
    assert twin.state_hash() == before
    twin.step(30)
    assert twin.state_hash() == world.state_hash()


def test_a_snapshot_keeps_its_time_in_a_world_of_another_dt():
    """Restored into a world with another step, time goes on from where it was."""
    coarse, fine = mc.World(pile(), dt=1 / 30), mc.World(pile(), dt=1 / 120)
    coarse.step(30)
    fine.restore(coarse.snapshot())
    assert fine.time == pytest.approx(1.0)
    fine.step(12)
    assert fine.time == pytest.approx(1.1)
    again = copy.deepcopy(fine)
    assert again.time == fine.time and again.state_hash() == fine.state_hash()


def test_the_hash_sees_every_bit():
    """One unit in the last place of any part of the state changes the hash; equal states have equal hashes."""
    world = mc.World(jointed(0))
    world.step(5)
    start = world.snapshot()
    seen = {world.state_hash()}
    for array in (world.positions, world.orientations, world.velocities, world.angular_velocities, world.forces):
        for index in ((0, 0), (-1, -1)):
            array[index] = np.nextafter(array[index], 10.0)
            seen.add(world.state_hash())
            world.restore(start)
            assert world.state_hash() in seen
    world.joint("joint2").set_motor(velocity=3.0000001)
    seen.add(world.state_hash())
    assert len(seen) == 12


@pytest.mark.parametrize("name", ["joints", "pile"])
def test_two_worlds_side_by_side_do_not_meet(name):
    """Stepping in turns gives what each gives alone."""
    alone = mc.World(SCENES[name]())
    alone.step(20)
    a, b = mc.World(SCENES[name]()), mc.World(SCENES["joints"]())
    for _ in range(20):
        a.step()
        b.step(2)
    assert a.state_hash() == alone.state_hash()
