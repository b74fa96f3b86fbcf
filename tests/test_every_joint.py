"""What holds for every type of joint that a point and a direction place, whatever it is: found in the registry."""

import re
from pathlib import Path

import numpy as np
import pytest

import mcsim as mc
from mcsim.core.rotation import matrix
from mcsim.scene.joints import TYPES
from plain_joints import PLAIN, plain_joint

every_joint = pytest.mark.parametrize("kind", PLAIN)
WORLDS = {
    "tree": {},
    "rows": {"joint_solver": "rows"},
    "pgs": {"solver": "pgs", "stabilization": "baumgarte"},
    "projection": {"stabilization": "projection"},
    "rattle": {"integrator": "rattle"},
}
every_world = pytest.mark.parametrize("keywords", WORLDS.values(), ids=WORLDS)


def pair(kind, size=1.0, weight=1.0, gravity=(0, 0, 0), hung=False, speed=1.0, **joint):
    """Two bodies on one joint, which move as they would without it; all lengths times `size`, masses times `weight`."""
    scene = mc.Scene(gravity=size * np.array(gravity))
    for i, (place, velocity, spin) in enumerate(
        (((0.0, 0.1, 0.3), (0.3, -0.2, 0.1), (1.0, -0.5, 0.25)), ((0.7, -0.2, 0.1), (-0.4, 0.1, 0.2), (-0.5, 1.25, 0.75)))
    ):
        scene.add_body(
            "ab"[i],
            mass=weight * (1.5 + i),
            inertia=weight * size**2 * np.array([0.1, 0.12, 0.15]),
            position=size * np.array(place),
            velocity=speed * size * np.array(velocity),
            angular_velocity=speed * np.array(spin),
        )
    if hung:
        scene.add_joint(mc.BallJoint(None, "a", size * np.array([0.0, 0.4, 0.3])))
    scene.add_joint(plain_joint(kind, "a", "b", size * np.array([0.25, 0.125, 0.375]), (0.5, 0.25, 1.0), name="j", **joint))
    return scene


def momentum(world):
    """Linear, and angular about the origin."""
    masses = world.masses[:, None]
    turning = np.cross(world.positions, masses * world.velocities).sum(axis=0)
    for i, w in enumerate(world.angular_velocities):
        body = world.body(i)
        turn = matrix(world.orientations[i])
        turning = turning + turn @ body.inertia @ turn.T @ w
    return (masses * world.velocities).sum(axis=0), turning


@every_world
@every_joint
def test_two_bodies_keep_their_momentum(kind, keywords):
    """The joint's impulses are equal and opposite, at one point of both."""
    world = mc.World(pair(kind), dt=1 / 120, **keywords)
    before = momentum(world)
    world.step(40)
    linear, turning = momentum(world)
    assert linear == pytest.approx(before[0], abs=1e-11)
    # The step turns free bodies to its own order; the joint adds nothing to that.
    assert turning == pytest.approx(before[1], abs=2e-3)
    assert np.abs(world.joint_errors()).max() < 1e-3


@every_joint
def test_both_worlds_move_alike(kind):
    """Hung from the world, let go in a slanting field: the same motion but for the steps' own errors."""
    scene = pair(kind, gravity=(1.0, -2.0, -9.0), hung=True, speed=0.0)
    world, reduced = (make(scene, dt=2e-4, integrator="rk4") for make in (mc.World, mc.ReducedWorld))
    for each in (world, reduced):
        each.step(500)
    assert np.abs(world.positions - reduced.positions).max() < 1e-5
    assert np.abs(world.velocities - reduced.velocities).max() < 1e-4


@every_joint
def test_a_file_holds_it(kind):
    """Written and read, it moves by the same bits, and the second file is the first one."""
    scene = pair(kind, gravity=(0, 0, -9.81))
    again = mc.Scene.from_dict(scene.to_dict())
    worlds = mc.World(scene), mc.World(again)
    for world in worlds:
        world.step(20)
    assert worlds[0].state_hash() == worlds[1].state_hash() and again.to_dict() == scene.to_dict()


@every_joint
@pytest.mark.parametrize("make", [mc.World, mc.ReducedWorld])
def test_units_do_not_count(make, kind):
    """Lengths times 4 and masses times 8, exact in binary numbers: the same angles to the bit, lengths times 4."""
    worlds = [make(pair(kind, *scale, gravity=(0, 0, -9.0), hung=True)) for scale in ((1.0, 1.0), (4.0, 8.0))]
    for world in worlds:
        world.step(30)
    assert np.array_equal(4.0 * worlds[0].positions, worlds[1].positions)
    assert np.array_equal(worlds[0].orientations, worlds[1].orientations)


@every_joint
def test_a_copy_and_a_snapshot_go_the_same_way(kind):
    world = mc.World(pair(kind, gravity=(0, 0, -9.81)))
    world.step(5)
    snapshot, other = world.snapshot(), mc.World(pair(kind, gravity=(0, 0, -9.81)))
    world.step(10)
    other.restore(snapshot)
    other.step(10)
    assert other.state_hash() == world.state_hash()


@every_joint
def test_more_than_it_bears_breaks_it(kind):
    """In free fall of one body against another that is held, where it bears anything at all."""
    world = mc.World(pair(kind, gravity=(0, 0, -9.81), hung=True, break_force=1e-3))
    world.step(40)
    assert world.joint("j").broken == (len(mc.World(pair(kind)).rows) > 0)


def test_kernels_know_which_coordinates_turn():
    """The table that setup.py writes from the descriptions: of each type the number of its first coordinate of a turn."""
    text = (Path(mc.__file__).parent / "state" / "_joint_types.pxd").read_text()
    (table,) = re.findall(r"MCSIM_ROTATION\[\] = \{(.*)\}", text)
    expected = [kind.coordinates.index("turn") if "turn" in kind.coordinates else 6 for kind in TYPES.values()]
    assert [int(number) for number in table.split(",")] == expected
    assert expected[list(TYPES).index("ball")] == 0
