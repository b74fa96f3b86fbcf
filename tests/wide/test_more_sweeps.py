"""Further sweeps of a relax pass over contacts of what its neighbours far outweigh (docs/theory/si.md)."""

import copy

import numpy as np
import pytest

import mcsim as mc
from mcsim.wide import levels


def balls_on_a_slab(side=5, ratio=50.0, x=0.0, scene=None):
    """side^2 balls, `ratio` times as heavy in all as the slab that they lie on."""
    scene = scene or mc.Scene()
    scene.add_body(f"floor{x}", kind="static", shape=mc.Box((10, 10, 1)), position=(x, 0, -1))
    scene.add_body(f"slab{x}", shape=mc.Box((side + 1.0, side + 1.0, 0.1)), position=(x, 0, 0.1), mass=10.0)
    for i in range(side):
        for j in range(side):
            scene.add_body(f"ball{x} {i} {j}", shape=mc.Sphere(0.5), mass=10.0 * ratio / side**2,
                           position=(x + 2 * i - side + 1, 2 * j - side + 1, 0.7))
    return scene


def hash_after(scene, steps=20, **keywords):
    world = mc.World(scene, sleep=False, **keywords)
    world.step(steps)
    return world.state_hash()


@pytest.mark.parametrize("side, ratio", [(5, 50.0), (4, 100.0), (6, 30.0), (1, 100.0), (3, 20.0)])
def test_heavy_balls_on_a_light_slab_come_to_rest(side, ratio):
    """Many of them trembled at 0.1 to 0.4 m/s."""
    world = mc.World(balls_on_a_slab(side, ratio), sleep=False)
    world.step(60)
    for _ in range(30):
        world.step()
        assert np.abs(world.velocities).max() < 0.005
    assert world.stats.notes == []


def test_what_is_settled_costs_nothing():
    world = mc.World(mc.load("pyramid", base=6), sleep=False)
    world.step(20)
    assert world.stats.iterations == 2 * 4 * 4


def test_given_iterations_are_a_fixed_number():
    scene = balls_on_a_slab()
    assert mc.World(scene).settings["more_iterations"] == 128
    assert mc.World(scene, iterations=4).settings["more_iterations"] == 0
    assert mc.World(scene, stop="residual").settings["more_iterations"] == 0
    world = mc.World(scene, iterations=4, first_iterations=4, sleep=False)
    world.step(10)
    assert world.stats.iterations == 2 * 4 * 4
    assert hash_after(scene, iterations=4, first_iterations=256, more_iterations=128) == hash_after(scene)
    for wrong in (-1, 251, 1.5):
        with pytest.raises(mc.SceneError, match="more_iterations"):
            mc.World(scene, more_iterations=wrong)


def test_too_few_are_said():
    world = mc.World(balls_on_a_slab(), more_iterations=2, first_iterations=4, sleep=False)
    world.step(20)
    assert [note.kind for note in world.stats.notes] == ["changing contacts"]
    with pytest.raises(mc.SimulationError, match="further sweeps"):
        mc.World(balls_on_a_slab(), more_iterations=2, first_iterations=4, sleep=False, strict=True).step(20)


def test_copies_go_on_alike():
    world = mc.World(balls_on_a_slab(), sleep=False)
    world.step(10)
    twin = copy.deepcopy(world)
    for each in (world, twin):
        each.step(10)
    assert world.state_hash() == twin.state_hash()


def test_all_levels_and_threads_give_the_same_bits(monkeypatch):
    expected = hash_after(balls_on_a_slab())
    assert hash_after(balls_on_a_slab(), threads=2) == expected
    for level in levels.available():
        monkeypatch.setenv("MCSIM_LEVEL", level)
        assert hash_after(balls_on_a_slab()) == expected


def test_bodies_with_joints_have_no_part_in_them():
    scene = balls_on_a_slab()
    scene.add_joint(mc.HingeJoint("floor0.0", "slab0.0", (0, 0, 0), (0, 0, 1)))
    world = mc.World(scene, sleep=False)
    world.step(20)
    assert world.stats.iterations == 2 * 4 * 4


def test_what_is_far_away_keeps_its_bits():
    alone = mc.World(mc.load("pyramid", base=5), sleep=False)
    scene = mc.load("pyramid", base=5)
    count = len(scene.bodies)
    both = mc.World(balls_on_a_slab(x=1000.0, scene=scene), sleep=False)
    for world in (alone, both):
        world.step(20)
    assert both.stats.iterations > alone.stats.iterations
    for name in ("positions", "orientations", "velocities", "angular_velocities"):
        np.testing.assert_array_equal(getattr(both, name)[:count], getattr(alone, name)[:count])


def test_lanes_beside_what_changes_keep_their_bits():
    """Contacts of several slabs stand side by side in the lanes of a block; one slab's need further sweeps."""
    still = mc.World(balls_on_a_slab(ratio=1.0), sleep=False)
    both = mc.World(balls_on_a_slab(x=100.0, scene=balls_on_a_slab(ratio=1.0)), sleep=False)
    for world in (still, both):
        world.step(20)
    np.testing.assert_array_equal(both.velocities[:27], still.velocities[:27])
