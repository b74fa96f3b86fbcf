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
            scene.add_body(
                f"ball{x} {i} {j}",
                shape=mc.Sphere(0.5),
                mass=10.0 * ratio / side**2,
                position=(x + 2 * i - side + 1, 2 * j - side + 1, 0.7),
            )
    return scene


def trembling(world):
    """The fastest body's speed in the root mean square over the second second: at one moment it is a matter of chance."""
    world.step(60)
    fastest = []
    for _ in range(60):
        world.step()
        fastest.append(np.abs(world.velocities).max())
    return np.sqrt(np.mean(np.square(fastest)))


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


@pytest.mark.parametrize(
    "keywords",
    [
        {"solver": "pgs"},
        {"friction_points": "point"},
        {"friction": "pyramid"},
        {"stabilization": "soft", "iterations": 8},
        {"iterations": 16},
    ],
)
@pytest.mark.parametrize("shape", [mc.Sphere(0.5), mc.Box((0.4, 0.4, 0.4))])
def test_so_they_do_whatever_solves_the_contacts(shape, keywords):
    """As rows they trembled at 0.15 to 0.34 m/s, and with twice as many iterations more than with four."""
    world = mc.World(carts(shape, joint=None), sleep=False, **keywords)
    assert trembling(world) < 0.02


def carts(shape=mc.Box((0.4, 0.4, 0.4)), joint="slider", count=1, side=5, x=0.0, scene=None, friction=0.0):
    """Slabs with side^2 bodies on them, 50 times as heavy in all, each held by a joint."""
    scene = scene or mc.Scene()
    scene.add_body(f"ground{x}", kind="static", shape=mc.Box((10 * count, 10, 1)), position=(x, 0, -1))
    for c in range(count):
        slab, at = f"slab{x} {c}", x + 8.0 * c
        z = 0.1 if joint in (None, "planar") else 1.1
        scene.add_body(slab, shape=mc.Box((3, 3, 0.1)), position=(at, 0, z), mass=0.02 * side**2)
        place = dict(anchor=(at, 0, z))
        if joint == "slider":
            scene.add_joint(mc.SliderJoint(None, slab, axis=(1, 0, 0)))
        elif joint == "hinge":
            scene.add_joint(mc.HingeJoint(None, slab, axis=(0, 0, 1), friction=friction, **place))
        elif joint == "ball":
            scene.add_joint(mc.BallJoint(None, slab, friction=friction, **place))
        elif joint == "lift":
            scene.add_joint(mc.SliderJoint(None, slab, axis=(0, 0, 1), spring=mc.Spring(2000.0, 200.0)))
        elif joint == "driven":
            scene.add_joint(mc.SliderJoint(None, slab, axis=(1, 0, 0), motor=mc.Motor(velocity=0.0, max_force=1e4)))
        elif joint == "arm":  # of two links
            scene.add_body(slab + " arm", mass=0.1, inertia=(0.01, 0.01, 0.01), position=(at - 3, 0, z))
            scene.add_joint(mc.HingeJoint(None, slab + " arm", anchor=(at - 4, 0, z), axis=(0, 0, 1)))
            scene.add_joint(mc.HingeJoint(slab + " arm", slab, anchor=(at - 3, 0, z), axis=(0, 0, 1)))
        for i in range(side):
            for j in range(side):
                scene.add_body(
                    f"load{x} {c} {i} {j}",
                    shape=shape,
                    mass=1.0,
                    position=(
                        at + 1.1 * i - 0.55 * (side - 1),
                        1.1 * j - 0.55 * (side - 1),
                        z + 0.1 + (0.5 if isinstance(shape, mc.Sphere) else 0.4),
                    ),
                )
    return scene


@pytest.mark.parametrize(
    "joint, count, most",
    [
        ("slider", 1, 0.01),
        ("slider", 4, 0.02),
        ("hinge", 1, 0.01),
        ("hinge", 4, 0.02),
        ("lift", 1, 0.05),
        ("driven", 1, 0.01),
        ("arm", 1, 0.01),
    ],
)
def test_loads_on_what_a_joint_holds_come_to_rest(joint, count, most):
    """Sliders and hinges trembled at 0.03 to 0.07 m/s, the lift at 0.22, without a note."""
    world = mc.World(carts(joint=joint, count=count), sleep=False)
    assert trembling(world) < most
    assert np.abs(world.joint_errors()).max() < 1e-6


@pytest.mark.parametrize("joint, friction", [("hinge", 1.0), ("hinge", 10.0), ("ball", 1000.0)])
@pytest.mark.parametrize("count", [1, 3, 4])
def test_so_they_do_where_joints_rub_however_many_there_are(joint, friction, count):
    """From three on, whose friction goes several at a time, they trembled at 0.05 to 0.07 m/s."""
    assert trembling(mc.World(carts(joint=joint, count=count, friction=friction), sleep=False)) < 0.02


def test_more_iterations_are_for_all_numbers_of_sweeps():
    scene = balls_on_a_slab()
    for keywords in ({}, {"iterations": 4}, {"iterations": 1}):
        assert mc.World(scene, **keywords).settings["more_iterations"] == 128
    assert mc.World(scene, stop="residual").settings["more_iterations"] == 0
    world = mc.World(scene, iterations=4, more_iterations=0, sleep=False)
    world.step(10)
    assert world.stats.iterations == 2 * 4 * 4
    assert hash_after(scene, iterations=4, first_iterations=256) == hash_after(scene)
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


@pytest.mark.parametrize("name, added", [("pyramid", balls_on_a_slab), ("pyramid", carts), ("ragdolls", carts)])
def test_what_is_far_away_keeps_its_bits(name, added):
    alone = mc.World(mc.load(name), sleep=False)
    scene = mc.load(name)
    count = len(scene.bodies)
    both = mc.World(added(x=1000.0, scene=scene), sleep=False)
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
