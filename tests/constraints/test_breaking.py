"""Joints that break: statics says when, free fall says that they hold nothing afterwards."""

import copy
import pickle

import numpy as np
import pytest

import mcsim as mc

G = 9.81
JOINTS = {
    "ball": lambda **k: mc.BallJoint(None, "m", (0, 0, 1), name="j", **k),
    "universal": lambda **k: mc.UniversalJoint(None, "m", (0, 0, 1), (1, 0, 0), (0, 1, 0), name="j", **k),
    "hinge": lambda **k: mc.HingeJoint(None, "m", (0, 0, 1), (0, 1, 0), name="j", **k),
    "slider": lambda **k: mc.SliderJoint(None, "m", (0, 1, 0), name="j", **k),
    "fixed": lambda **k: mc.FixedJoint(None, "m", name="j", **k),
}


def hanging(kind="ball", mass=2.0, world=None, **bounds):
    """A weight that hangs from the world by one joint."""
    scene = mc.Scene()
    scene.add_body("m", mass=mass, inertia=(0.1, 0.1, 0.1))
    scene.add_joint(JOINTS[kind](**bounds))
    return mc.World(scene, **(world or {}))


@pytest.mark.parametrize("kind", JOINTS)
def test_a_weight_breaks_what_bears_less(kind):
    """break_force a little above m g holds, a little below does not."""
    for ratio in (0.99, 1.01):
        world = hanging(kind, break_force=ratio * 2 * G)
        world.step(60)
        assert world.joint("j").broken == (ratio < 1)
        assert (world.body("m").position[2] < -0.5) == (ratio < 1)


@pytest.mark.parametrize(
    "keywords",
    [dict(stabilization=s, solver=v) for s in ("none", "baumgarte", "soft") for v in ("si", "pgs")],
    ids=lambda k: "-".join(k.values()),
)
def test_a_broken_joint_holds_nothing(keywords):
    """It breaks in the first step, is an event of that call alone, gives no rows, and the weight falls free."""
    world = hanging("fixed", break_force=5.0, world=keywords)
    joint = world.joint("j")
    assert not joint.broken and world.events.broken.shape == (0,)
    world.step()
    assert joint.broken and world.events.broken.tolist() == [0]
    assert joint.force == pytest.approx((0, 0, 2 * G), rel=1e-6)
    position, velocity = world.body("m").position.copy(), world.body("m").velocity.copy()
    world.step(60)
    assert world.events.broken.size == 0 and len(world.rows) == 0 and np.all(joint.force == 0)
    assert world.joint_errors().tolist() == [[0, 0]]
    h, n = 1 / 240, 240
    assert world.body("m").velocity == pytest.approx(velocity + (0, 0, -G), abs=1e-12)
    fall = n * h * velocity[2] - G * h * h * n * (n if keywords["stabilization"] == "soft" else n + 1) / 2
    assert world.body("m").position[2] - position[2] == pytest.approx(fall, abs=1e-12)


def test_a_moment_breaks_a_weld_and_passes_a_ball():
    """break_torque is about the joint's point: a cantilever of moment m g l breaks just above it."""
    for ratio in (0.98, 1.02):
        scene = mc.Scene()
        scene.add_body("beam", mass=2.0, inertia=(0.05, 0.3, 0.3), position=(0.7, 0, 0))
        scene.add_joint(mc.FixedJoint(None, "beam", (0, 0, 0), name="weld", break_torque=ratio * 2 * G * 0.7))
        world = mc.World(scene)
        world.step(30)
        assert world.joint("weld").broken == (ratio < 1)
    world = hanging("ball", break_torque=1e-3)
    world.step(30)
    assert not world.joint("j").broken


def test_a_chain_breaks_where_it_carries_most():
    """Of equal links only the one below which the weight exceeds the bound breaks; the rest falls as one."""
    scene = mc.Scene()
    above = None
    for i in range(4):
        scene.add_body(f"m{i}", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(0, 0, -0.5 - i))
        scene.add_joint(mc.BallJoint(above, f"m{i}", (0, 0, -i), name=f"j{i}", break_force=3.5 * G if i == 0 else None))
        above = f"m{i}"
    world = mc.World(scene, iterations=50)
    world.step(30)
    assert [world.joint(name).broken for name in world.joint_names] == [True, False, False, False]
    assert world.events.broken.tolist() == [0]
    assert np.abs(world.joint_errors()).max() < 1e-6
    assert np.abs(world.joint("j2").force).max() < 1e-3


def test_breaking_is_part_of_the_state():
    """Snapshot, restore, hash, pickle and deep copy carry it; going back makes the joint whole again."""
    world = hanging(break_force=2.5 * G)
    world.step(5)
    whole = world.snapshot()
    world.apply_force("m", (0, 0, -2 * G))
    world.step(2)
    assert world.joint("j").broken
    after = world.state_hash()
    for other in (pickle.loads(pickle.dumps(world)), copy.deepcopy(world)):
        assert other.joint("j").broken and other.state_hash() == after and other.events.broken.size == 0
        other.step(3)
        assert other.body("m").position[2] < world.body("m").position[2]
    world.restore(whole)
    assert not world.joint("j").broken and world.state_hash() != after
    world.apply_force("m", (0, 0, -2 * G))
    world.step(2)
    assert world.state_hash() == after and world.events.broken.tolist() == [0]


def test_bounds_are_written_to_files(tmp_path):
    scene = mc.Scene()
    scene.add_body("m", mass=2.0, inertia=(0.1, 0.1, 0.1))
    scene.add_joint(JOINTS["hinge"](break_force=10.0, break_torque=3))
    scene.save(tmp_path / "scene.json")
    again = mc.load(str(tmp_path / "scene.json"))
    assert again == scene and again.joints[0].break_force == 10.0 and again.joints[0].break_torque == 3.0


@pytest.mark.parametrize("field", ["break_force", "break_torque"])
@pytest.mark.parametrize("value", [-1.0, np.nan, "much", True])
def test_wrong_bounds_are_refused(field, value):
    with pytest.raises(mc.SceneError, match=field):
        mc.BallJoint(None, "m", (0, 0, 0), **{field: value})
