"""Joints several at a time: lanes that share no body, equal bits on every level, the fixed point and numbers of the
rows."""

import numpy as np
import pytest

import mcsim as mc
from level_runs import on_every_level
from test_momentum import check_momentum, jointed

SCENES = {
    "grid": 'mc.load("grid", n=9, corners=2)',
    "chain": 'mc.load("chain", n=21)',
    "ragdolls": 'mc.scenes.build("ragdolls", count=3)',
    "pendulum": 'mc.load("double_pendulum")',
}


def hub(count):
    """More balls jointed to one body than there are colours."""
    scene = mc.Scene()
    scene.add_body("hub", shape=mc.Sphere(1.0), density=1000.0)
    scene.add_joint(mc.BallJoint(None, "hub", (0, 0, 1)))
    for k in range(count):
        x, y = np.cos(2 * np.pi * k / count), np.sin(2 * np.pi * k / count)
        scene.add_body(f"ball{k}", shape=mc.Sphere(0.1), density=1000.0, position=(1.5 * x, 1.5 * y, 0), collision_mask=0)
        scene.add_joint(mc.BallJoint("hub", f"ball{k}", (x, y, 0)))
    return scene


def every_kind():
    """Joints of one to six rows, a prescribed motion, a gear, and what rolls and slides without a position error."""
    scene = mc.Scene()
    for k in range(10):
        scene.add_body(
            f"b{k}",
            mass=1.0 + 0.3 * k,
            inertia=(0.1, 0.12, 0.15),
            position=(k, 0, 0.5),
            velocity=(0.1, 0.2 - 0.1 * (k % 3), 0),
            angular_velocity=(0.3, -0.2, 0.1 * k),
        )
    for joint in [
        mc.BallJoint(None, "b0", (-0.5, 0, 0.5)),
        mc.HingeJoint("b0", "b1", (0.5, 0, 0.5), (0, 1, 0), motion=mc.Motion(amplitude=0.5, frequency=1.0)),
        mc.CylindricalJoint("b1", "b2", axis=(1, 0, 0), anchor=(1.5, 0, 0.5)),
        mc.PlanarJoint("b2", "b3", (2.5, 0, 0.5), (0, 0, 1)),
        mc.ScrewJoint("b3", "b4", (3.5, 0, 0.5), (1, 0, 0), 0.1),
        mc.DistanceJoint("b4", "b5", (4, 0, 0.5), (5, 0, 0.5), 1.0),
        mc.HingeJoint("b5", "b6", (5.5, 0, 0.5), (0, 1, 0), name="first"),
        mc.HingeJoint("b6", "b7", (6.5, 0, 0.5), (0, 1, 0), name="second"),
        mc.GearJoint("first", "second", 2.0),
        mc.KnifeEdgeJoint(None, "b8", (8, 0, 0.5), (1, 0, 0)),
        mc.RollingJoint(None, "b9", 0.5),
    ]:
        scene.add_joint(joint)
    return scene


@pytest.mark.parametrize("name", SCENES)
def test_all_levels_give_the_same_bits(name):
    code = f"import mcsim as mc\nw = mc.World({SCENES[name]}, joint_solver='rows'); w.step(100); print(w.state_hash())"
    hashes = on_every_level(code)
    assert len(set(hashes.values())) == 1, hashes


@pytest.mark.parametrize("scene", [mc.load("grid", n=8, corners=2), hub(70), every_kind()], ids=["grid", "hub", "kinds"])
def test_lanes_of_a_block_share_no_moving_body(scene):
    world = mc.World(scene, joint_solver="rows")
    lanes = world._pipeline.parts.plan.wide_joints.lanes()
    numbers = lanes[lanes >= 0]
    apart = {i for i, joint in enumerate(scene.joints) if isinstance(joint, mc.GearJoint)}
    apart |= {i for i, joint in enumerate(scene.joints) if joint.name in ("first", "second")}
    assert sorted(numbers) == sorted(set(range(len(scene.joints))) - apart)
    names = {body.name for body in scene.bodies}
    for block in lanes:
        found = [b for j in block[block >= 0] for b in (scene.joints[j].a, scene.joints[j].b) if b in names]
        assert len(found) == len(set(found))


@pytest.mark.parametrize("stabilization", ["soft", "baumgarte", "none"])
@pytest.mark.parametrize("name", ["chain", "hub", "kinds", "jointed"])
def test_the_fixed_point_is_that_of_the_assembled_rows(name, stabilization):
    """solver="pgs" sweeps plain rows: with many sweeps both end at the same velocities and joint forces."""
    scene = {
        "chain": lambda: mc.load("chain", n=6),
        "hub": lambda: hub(70),
        "kinds": every_kind,
        "jointed": lambda: jointed(2, driven=False),
    }[name]()
    iterations = {"chain": 1000, "hub": 300, "kinds": 2000, "jointed": 6000}[name]
    wide, rows = (
        mc.World(scene, solver=solver, joint_solver="rows", stabilization=stabilization, iterations=iterations)
        for solver in ("si", "pgs")
    )
    for world in (wide, rows):
        world.step(3)
    assert np.allclose(wide.velocities, rows.velocities, atol=1e-9)
    assert np.allclose(wide.angular_velocities, rows.angular_velocities, atol=1e-8)
    assert np.allclose(wide.positions, rows.positions, atol=1e-10)
    for i in range(len(scene.joints) if name != "jointed" else 0):  # two of its joints bind one pair of bodies
        for ours, theirs in zip((wide.joint(i).force, wide.joint(i).torque), (rows.joint(i).force, rows.joint(i).torque)):
            assert np.allclose(ours, theirs, atol=1e-5)


def test_observers_see_the_rows():
    scene = every_kind()
    wide, rows = mc.World(scene, joint_solver="rows"), mc.World(scene, solver="pgs")
    assert np.array_equal(wide.rows, rows.rows)
    assert abs(wide.jacobian() - rows.jacobian()).max() == 0.0
    for world in (wide, rows):
        world.step(2)
    assert wide.stats.joint_rows == rows.stats.joint_rows == len(wide.rows)
    assert wide.stats.residuals["natural_map"] > 0.0 and wide.stats.residuals["velocity"] > 0.0
    hash_before = wide.state_hash()
    assert len(wide.rows) == wide.delassus().shape[0]
    assert wide.state_hash() == hash_before
    wide.step(1)
    again = mc.World(scene, joint_solver="rows")
    again.step(3)
    assert wide.state_hash() == again.state_hash()


@pytest.mark.parametrize("stabilization", ["soft", "baumgarte", "none"])
def test_a_free_net_keeps_its_momentum(stabilization):
    scene = mc.Scene(gravity=(0, 0, 0))
    for i, j in np.ndindex(6, 6):
        scene.add_body(f"b{i}.{j}", mass=1.0 + 0.1 * i, inertia=(0.1, 0.12, 0.15), position=(i, j, 0))
        if i > 0:
            scene.add_joint(mc.BallJoint(f"b{i - 1}.{j}", f"b{i}.{j}", (i - 0.5, j, 0)))
        if j > 0:
            scene.add_joint(mc.BallJoint(f"b{i}.{j - 1}", f"b{i}.{j}", (i, j - 0.5, 0)))
    world = mc.World(scene, joint_solver="rows", stabilization=stabilization)
    rng = np.random.default_rng(1)
    world.velocities[:] = rng.normal(size=world.velocities.shape)
    world.angular_velocities[:] = rng.normal(size=world.velocities.shape)
    check_momentum(world, 60)


def test_one_that_broke_is_left_out():
    """The others go on, from a snapshot too."""
    scene = mc.Scene()
    for k in range(10):
        scene.add_body(f"b{k}", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(k + 0.5, 0, 0))
        scene.add_joint(mc.BallJoint(f"b{k - 1}" if k else None, f"b{k}", (k, 0, 0), break_force=30.0 if k == 4 else None))
    world = mc.World(scene, joint_solver="rows")
    whole = world.snapshot()
    world.step(60)
    assert world._joints["broken"].sum() == 1
    lanes = world._pipeline.parts.plan.wide_joints.lanes()
    assert 4 not in lanes and len(lanes[lanes >= 0]) == 9
    end = world.state_hash()
    world.restore(whole)
    assert 4 in world._pipeline.parts.plan.wide_joints.lanes()
    world.step(60)
    assert world.state_hash() == end
