"""Long runs with sleeping off: what stands stands, what falls comes to rest, everything stays finite."""

import numpy as np
import pytest

import mcsim as mc
from amounts import amount


def settle(scene, seconds=60, **keywords):
    """-> world after that time, how far the centres are from where they began (n, 3) [m]"""
    world = mc.World(scene, sleep=False, **keywords)
    start = world.positions.copy()
    world.step(seconds * 60)
    return world, world.positions - start


@pytest.mark.parametrize(
    "name, parameters, drop, shift",
    [
        ("stack", {"count": 15}, 0.02, 0.01),
        ("pyramid", {"base": 20}, 0.01, 0.005),
        ("card_tower", {}, 0.005, 0.005),
        ("arch", {}, 0.01, 0.005),
        ("wall", {}, 0.01, 0.005),
    ],
)
@pytest.mark.sampled(2)
def test_what_stands_stays(name, parameters, drop, shift):
    world, moved = settle(mc.scenes.build(name, **parameters), amount(20, 60))
    assert np.abs(moved[:, 2]).max() < drop
    assert np.abs(moved[:, :2]).max() < shift
    assert np.abs(world.velocities).max() < 1e-4
    assert np.abs(world.angular_velocities).max() < 1e-4
    assert world.contacts["separation"].min() > -0.003


@pytest.mark.parametrize("count, seconds", [(9, 15), pytest.param(25, 60, marks=pytest.mark.slow)])
def test_ragdolls_come_to_rest(count, seconds):
    world, _ = settle(mc.scenes.build("ragdolls", count=count), seconds)
    assert np.isfinite(world.positions).all() and np.isfinite(world.orientations).all()
    assert np.abs(world.velocities).max() < 0.02  # joints start each substep a tenth short: they tremble by mm/s
    # A hand of 0.45 kg under a thigh: a soft contact yields F / (m w^2), here 200 N on 60 Hz.
    assert world.contacts["separation"].min() > -0.015
    assert world.joint_errors()[:, 0].max() < 0.02


@pytest.mark.parametrize("drop", [0.5, 0.54, 0.58, 0.6, 0.64, 0.68])
@pytest.mark.slow
def test_ragdolls_come_to_rest_however_they_fall(drop):
    """Some hung an arm up by the shoulder's limit, stiff by the friction of elbow and wrist, and it trembled at 0.1 m/s."""
    world, _ = settle(mc.scenes.build("ragdolls", count=25, drop=drop), 15)
    assert np.abs(world.velocities).max() < 0.02
