"""Limits and friction of limbs are swept in generalized coordinates as in World, and those of a beam solved together."""

import numpy as np
import pytest

import mcsim as mc


def held(world):
    """How many articulations have bounded rows that sweeps would not do for: of each the first such joint knows."""
    return int(np.count_nonzero(world._joints["held"] < 0))


@pytest.mark.parametrize("steps", [30, 70, 130])
@pytest.mark.parametrize("kind", [mc.World, mc.ReducedWorld])
def test_limbs_of_ragdolls_are_swept(kind, steps):
    """A swing limit and friction of one joint that are all but parallel were taken for a stiff beam: ragdolls were solved
    by a matrix of all their limits and friction, which took half of the time."""
    world = kind(mc.load("ragdolls", count=4), dt=1 / 60, sleep=False)
    world.step(steps)
    assert held(world) == 0


def beam(links, spacing, **joint):
    """Links that limits or friction hold out level."""
    scene, last = mc.Scene(), None
    for i in range(links):
        scene.add_body(f"link{i}", shape=mc.Box((0.5 * spacing, 0.02, 0.02)), position=(spacing * (i + 0.5), 0, 0))
        scene.add_joint(mc.HingeJoint(last, f"link{i}", (spacing * i, 0, 0), (0, 1, 0), **joint))
        last = f"link{i}"
    return scene


@pytest.mark.parametrize("joint", [dict(limits=(-0.5, 0.0)), dict(friction=1e3)], ids=["limits", "friction"])
def test_a_beam_is_held_as_a_whole(joint):
    """Other joints' rows still count."""
    world = mc.ReducedWorld(beam(10, 0.2, **joint), dt=1 / 60, sleep=False)
    world.step(30)
    assert held(world) == 1
    assert np.abs(world.qd).max() < 1e-6


@pytest.mark.parametrize("seed", range(4))
def test_ragdolls_come_to_rest_on_the_floor(seed):
    """What is swept rests as what was solved exactly did: little overlap, limits kept, no motion."""
    world = mc.ReducedWorld(mc.load("ragdolls", count=3), dt=1 / 60, sleep=False)
    world.qd += np.random.default_rng(seed).normal(scale=0.3, size=len(world.qd))
    world.step(360)
    rows = world.rows
    assert world.contacts["separation"].min() > -2e-3
    assert rows["error"][rows["kind"] == "limit"].min() > -0.02
    assert np.abs(world.velocities).max() < 0.02
