"""Friction and limits of angles several at a time against the same as rows."""

import mcsim.wide._joint_bounds
import numpy as np
import pytest

import mcsim as mc
from level_runs import on_every_level

COUNT = 11  # more than the most lanes

SCRIPT = """
from test_wide_joint_bounds import state, pairs
import mcsim as mc
world = mc.World(pairs(0))
world.step(40)
print(state(world).tobytes().hex())
"""


def pairs(seed):
    """Pairs of bodies that turn in each other's way, every other pair on a hinge. One joint each: then the order in
    which joints are swept says nothing."""
    rng = np.random.default_rng(seed)
    scene = mc.Scene(gravity=(0, 0, 0))
    for k in range(2 * COUNT):
        for name in "ab":
            scene.add_body(
                f"{name}{k}",
                mass=rng.uniform(0.5, 2),
                inertia=rng.uniform(0.02, 0.03, 3),
                position=(3.0 * k, 0, 0.5 * (name == "b")),
                orientation=(0.6, 0.0, 0.8, 0.0),
                angular_velocity=3 * rng.normal(size=3),
            )
        ends = {"a": f"a{k}", "b": f"b{k}", "anchor": (3.0 * k, 0.1, 0.2), "name": f"j{k}"}
        friction = [0.0, 0.02][k % 3 == 0]
        if k % 2:
            scene.add_joint(
                mc.HingeJoint(axis=(0, 0.6, 0.8), limits=(-0.3, rng.uniform(0.1, 8.0)), friction=friction, **ends)
            )
        else:
            scene.add_joint(
                mc.BallJoint(
                    axis=(1, 0, 0),
                    swing_limit=rng.uniform(0.2, 0.6),
                    friction=friction,
                    twist_limits=(-0.2, rng.uniform(0.1, 0.4)),
                    **ends,
                )
            )
    return scene


def state(world):
    return np.hstack([world.positions, world.orientations, world.velocities, world.angular_velocities])


def torques(world):
    return np.array([world.joint(name).torque for name in world.joint_names])


def rows_alone(monkeypatch):
    monkeypatch.setattr(mcsim.wide._joint_bounds, "with_joint_bounds", lambda joints, sizes: np.zeros(0, int))


@pytest.mark.parametrize("seed", range(4))
def test_several_at_a_time_they_are_the_same_rows(seed, monkeypatch):
    worlds = [mc.World(pairs(seed), sleep=False)]
    rows_alone(monkeypatch)
    worlds.append(mc.World(pairs(seed), sleep=False))
    lanes = [world._pipeline.parts.plan.articulations.state.joint_bounds.lanes() for world in worlds]
    assert sorted(sum(lanes[0], [])) == list(range(2 * COUNT)) and lanes[1] == []
    most = np.zeros(2)
    for step in range(40):
        for world in worlds:
            world.step()
        found = [torques(world) for world in worlds]
        most = np.maximum(most, [np.abs(t).max() for t in found])
        assert np.abs(state(worlds[0]) - state(worlds[1])).max() < 1e-9, step
        assert np.abs(found[0] - found[1]).max() < 1e-7 * (1.0 + most.max()), step
        assert [worlds[0].joint(f"j{k}").position for k in (1, 3)] == pytest.approx(
            [worlds[1].joint(f"j{k}").position for k in (1, 3)], abs=1e-9
        )
        assert worlds[0].stats.joint_rows == worlds[1].stats.joint_rows
    assert most.min() > 1.0  # limits have acted


def test_joints_of_one_block_share_no_body():
    world = mc.World(mc.scenes.ragdolls11(n=5))
    joints, blocks = world._joints, world._pipeline.parts.plan.articulations.state.joint_bounds.lanes()
    assert len(sum(blocks, [])) == len(set(sum(blocks, []))) > 30
    for block in blocks:
        bodies = joints["body_a"][block].tolist() + joints["body_b"][block].tolist()
        assert len(bodies) == len(set(bodies))
        assert len(set(joints["type"][block].tolist())) == 1


def test_what_becomes_more_than_friction_and_limits_is_rows_again(monkeypatch):
    """A motor that is given to a joint; and a limit on a ball joint's other axes."""
    worlds = [mc.World(pairs(1), sleep=False)]
    rows_alone(monkeypatch)
    worlds.append(mc.World(pairs(1), sleep=False))
    for world in worlds:
        world.step(3)
        world.joint("j1").set_spring(mc.Spring(stiffness=3.0, damping=0.1))
        world.joint("j4").set_spring(mc.Spring(stiffness=3.0, damping=0.1), axis=0)
        world.step(20)
        world.joint("j1").set_spring(None)
        world.step(5)
    assert np.abs(state(worlds[0]) - state(worlds[1])).max() < 1e-9


def test_who_sleeps_leaves_the_blocks_and_comes_back():
    scene = mc.scenes.ragdolls(count=4)
    worlds = mc.World(scene), mc.World(scene)
    worlds[0].step(300)
    bounds = worlds[0]._pipeline.parts.plan.articulations.state.joint_bounds
    while bounds.lanes():
        assert worlds[0].time < 60
        worlds[0].step(60)
    worlds[0].apply_impulse("human0.head", (0, 0, 20.0))
    worlds[0].step(1)
    assert 0 < len(sum(bounds.lanes(), [])) <= 15
    worlds[1].restore(worlds[0].snapshot())
    for world in worlds:
        world.step(30)
    assert worlds[0].state_hash() == worlds[1].state_hash()


def test_every_level_gives_the_same_bits():
    found = on_every_level(SCRIPT)
    assert len(set(found.values())) == 1, found
