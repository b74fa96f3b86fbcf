"""The tippe top and the rattleback, against what is known of them."""

import numpy as np
import pytest

import mcsim as mc
from mcsim.core.rotation import rotate

G = 9.81


def run_top(seconds, **parameters):
    """-> heights of the axis' end (n,), Jellett's constant (n,), energies (n,), the spin about the vertical at the end."""
    scene = mc.scenes.tippe_top(**parameters)
    world, body = mc.World(scene, dt=1 / 120), scene.body("top")
    low, radius = body.center_of_mass, body.shapes[0].radius
    heights, kept, energy = [], [], []
    for step in range(round(seconds / world.dt) + 1):
        if step:
            world.step()
        top = world.body("top")
        foot = np.array([0, 0, -radius]) - rotate(top.orientation, low)
        heights.append(rotate(top.orientation, np.array([0, 0, 1.0]))[2])
        kept.append(body.inertia[0, 0] * top.angular_velocity @ foot)
        energy.append(world.energy().total)
    return np.array(heights), np.array(kept), np.array(energy), top.angular_velocity[2]


def test_tippe_top_turns_over():
    """Its axis ends downwards, energy is only lost, and Jellett's constant gives the spin at the end."""
    heights, kept, energy, spin = run_top(8.0)
    assert heights[0] > 0.99 and heights[-60:].max() < -0.95
    assert kept == pytest.approx(kept[0], rel=1e-6)
    assert np.diff(energy).max() < 1e-5 * energy[0] and energy[-1] < 0.6 * energy[0]
    assert spin == pytest.approx(200.0 * (1 - 0.2) / (1 + 0.2), rel=0.01)


def test_tippe_top_rises_at_the_rate_of_its_friction():
    """Friction across the axis would give d(tilt)/dt = friction m g (R - a cos(tilt)) / L with L upright: the fastest. Part
    of it drives the ball along, so that it rises more slowly, but of that order."""
    heights, *_ = run_top(2.0, spin=200.0, friction=0.2, tilt=0.5)
    mass, radius, offset = 0.1, 0.05, 0.01
    jellett = 0.4 * mass * radius**2 * 200.0 * (radius - offset * np.cos(0.5))
    tilt = 0.5
    for _ in range(2000):
        tilt += 1e-3 * 0.2 * mass * G * (radius - offset * np.cos(tilt)) ** 2 / jellett
    assert 0.5 < (np.arccos(heights[-1]) - 0.5) / (tilt - 0.5) < 1.02


@pytest.mark.parametrize("parameters", [{"spin": 10.0}, {"friction": 0.0}], ids=["slow", "smooth"])
def test_tippe_top_needs_spin_and_friction(parameters):
    assert run_top(4.0, **parameters)[0].min() > 0.5


def spins(seconds, **parameters):
    """Its spin about the vertical at each step, and the loss of energy in parts of the first spin's."""
    scene = mc.scenes.rattleback(**parameters)
    world, body = mc.World(scene, dt=1 / 240, sleep=False), scene.body("stone")
    start = world.energy().total
    found = []
    for _ in range(round(seconds / world.dt)):
        world.step()
        found.append(world.body("stone").angular_velocity[2])
    return np.array(found), (start - world.energy().total) / (body.inertia[2, 2] * body.angular_velocity[2] ** 2 / 2)


@pytest.mark.parametrize("skew", [0.2, -0.2])
def test_rattleback_reverses_one_sense_alone(skew):
    """Against the skew it turns back, and soon nearly as fast as before; with the skew it goes on. It loses no energy."""
    sense = np.sign(skew)
    against, lost = spins(3.0, spin=-5.0 * sense, skew=skew, disturbance=0.05 * sense)
    assert (against * sense)[:60].max() < -4.0 and (against * sense).max() > 4.0
    assert abs(lost) < 0.02
    along, lost = spins(3.0, spin=5.0 * sense, skew=skew, disturbance=0.05 * sense)
    assert (along * sense).min() > 4.5 and abs(lost) < 0.02


def test_rattleback_without_skew_is_a_stone():
    for spin in (-5.0, 5.0):
        assert np.abs(spins(3.0, spin=spin, skew=0.0)[0] - spin).max() < 0.5
