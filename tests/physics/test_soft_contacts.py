"""Soft contacts near the touch: the row is continuous there, so rounding decides nothing."""

import copy

import numpy as np
import pytest

import mcsim as mc


def slabs(raised, **keywords):
    """Two slabs of 0.27 x 0.11 m, the upper one raised by so much at one end, before the first step."""
    half = (0.27, 0.11, 0.03)
    scene = mc.Scene()
    scene.add_body("floor", kind="static", shape=mc.Plane((0, 0, 1)))
    scene.add_body("lower", shape=mc.Box(half), position=(0, 0, 0.03))
    scene.add_body(
        "upper", shape=mc.Box(half), position=(0, 0, 0.09 + raised), orientation=(1.0, 0.0, -0.5 * raised / half[0], 0.0)
    )
    return mc.World(scene, sleep=False, **keywords)


@pytest.mark.parametrize("keywords", [{}, {"solver": "pgs"}, {"friction": "pyramid"}], ids=str)
@pytest.mark.parametrize("raised", [1e-17, -1e-17, 1e-13, 1e-9])
def test_a_gap_of_rounding_tilts_nothing(raised, keywords):
    """It tilted by 5e-5 where two corners were rigid, at +1e-17 m, and two soft."""
    world = slabs(raised, first_iterations=300, iterations=300, **keywords)
    for _ in range(8):
        world.step()
        assert np.abs(2.0 * world.orientations[1:, 1:3]).max() < 1e-7 + 20.0 * abs(raised)


@pytest.mark.parametrize("gap", [1e-12, 1e-9, 1e-7])
def test_a_small_gap_changes_little(gap):
    """A world with all gaps 0 and one with such gaps go on alike: their difference is of the gaps' order."""
    touching, apart = (mc.Scene() for _ in range(2))
    for scene, off in ((touching, 0.0), (apart, gap)):
        scene.add_body("floor", kind="static", shape=mc.Plane((0, 0, 1)))
        for i in range(3):
            scene.add_body(f"box{i}", shape=mc.Box((0.2, 0.2, 0.1)), position=(0.02 * i, 0, 0.1 + 0.2 * i + off * (i + 1)))
    worlds = [mc.World(scene, sleep=False, iterations=100, first_iterations=100) for scene in (touching, apart)]
    for world in worlds:
        world.step(4)
    assert np.abs(worlds[0].positions - worlds[1].positions).max() < 50 * gap


@pytest.mark.parametrize("speed", [0.1, 1.0, 10.0, 30.0])
@pytest.mark.parametrize("substeps", [1, 4])
@pytest.mark.parametrize("shape", [mc.Sphere(0.5), mc.Box((0.5, 0.5, 0.5))], ids=["sphere", "box"])
def test_what_lands_is_pressed_in_by_the_springs_part(shape, speed, substeps):
    """At most v h / (1 + a2 / 2) in the substep of landing, with a2 of twice the hertz
    (docs/theory/stabilization.md), and what its weight presses in."""
    scene = mc.Scene()
    scene.add_body("floor", kind="static", shape=mc.Plane((0, 0, 1)))
    scene.add_body("body", shape=shape, position=(0, 0, 0.61), velocity=(0, 0, -speed))
    world = mc.World(scene, sleep=False, substeps=substeps)
    h = world.substep
    turned = 2 * np.pi * 2 * 0.52  # h w
    a2 = turned * (2 * 1.0 + turned)
    deepest = 0.0
    for _ in range(60):
        world.step()
        deepest = max(deepest, -world.contacts["separation"].min(initial=0.0))
    assert deepest < 1.1 * (speed + 9.81 * 0.02) * h / (1 + a2 / 2) + 9.81 * h * h
    assert np.abs(world.velocities[1]).max() < 1e-3


@pytest.mark.parametrize("stones", [15, 31])
def test_an_arch_bears_from_its_first_step(stones):
    """1.1 times as thick as it must be: from nothing, a step's few sweeps let it open before it bore."""
    world = mc.World(mc.load("arch", stones=stones, thickness=1.1 * 0.1136 * 3.0, radius=3.0, width=1.2, friction=0.9))
    start = world.positions[:, 2].copy()
    world.step(240)
    assert (start - world.positions[:, 2]).max() < 0.03


def test_first_iterations_are_the_first_steps():
    """By default 64 times as many, half of it in the next step and so on, or fewer where they come to rest; as many as
    `iterations` where these are asked for; and copies know which step is next."""

    def sweeps(**keywords):
        scene = mc.load("pyramid", base=4)
        world = mc.World(scene, sleep=False, substeps=1, **keywords)
        found = []
        for _ in range(9):
            world.step()
            found.append(world.stats.iterations)
        return found

    usual = sweeps()
    assert 256 < usual[0] <= 2 * 256 and usual[1:] == [2 * 128, 2 * 64, 2 * 32, 2 * 16, 2 * 8, 2 * 4, 2 * 4, 2 * 4]
    assert sweeps(iterations=6) == 9 * [2 * 6]
    assert sweeps(iterations=6, first_iterations=20) == [2 * 20, 2 * 10, *7 * [2 * 6]]
    assert sweeps(first_iterations=10) == [2 * 10, 2 * 5, *7 * [2 * 4]]
    with pytest.raises(mc.SceneError, match="first_iterations"):
        mc.World(mc.load("pyramid", base=2), first_iterations=0)
    world = mc.World(mc.load("pyramid", base=4))
    twin = copy.deepcopy(world)
    assert world.settings["first_iterations"] == 256
    world.step(5)
    twin.step(5)
    assert world.state_hash() == twin.state_hash()


def test_a_stack_beside_a_far_joint_stands_as_it_does_alone():
    """Where there are joints, forces act in two halves. Contacts bore half of the load before the drift with the whole
    stiffness, and so sank half as deep: a stack of 15 swayed ever more, and fell within a minute."""
    tops, speeds = [], []
    for far in (False, True):
        scene = mc.load("stack", count=15)
        if far:
            scene.add_body("far", mass=1, inertia=(1, 1, 1), position=(1000, 0, 0))
            scene.add_joint(mc.HingeJoint(None, "far", anchor=(1000, 0, 1), axis=(0, 1, 0)))
        world = mc.World(scene, sleep=False)
        world.step(1200)
        tops.append(world.positions[15, 2])
        world.step(60)
        speeds.append(np.abs(world.velocities[:16]).max())
    assert tops[1] == pytest.approx(tops[0], abs=1e-4)
    assert max(speeds) < 3e-3, speeds
