"""Bodies that turn freely."""

import numpy as np
import pytest

import mcsim as mc


@pytest.mark.parametrize("ratio", [1e-4, 1e-6, 1e-9])
@pytest.mark.parametrize("spin", [(1, 20, 3), (100, 100, 100)])
def test_a_needle_keeps_its_energy(ratio, spin):
    """Newton's method for the turn failed where one moment is small, and the body then got 1e5 times its energy."""
    scene = mc.Scene(gravity=(0, 0, 0))
    scene.add_body("needle", mass=1.0, inertia=(1.0, ratio, 1.0 - ratio / 2), angular_velocity=spin)
    world = mc.World(scene)
    energy, momentum = world.energy().total, np.linalg.norm(world.momentum()[1])
    for _ in range(30):
        world.step(10)
        assert world.energy().total == pytest.approx(energy, rel=1e-9)
        assert np.linalg.norm(world.momentum()[1]) == pytest.approx(momentum, rel=1e-7)


def test_a_needle_turns_about_its_momentum():
    """The same fault: thrown across, a needle turns steadily, however fast it spins about itself."""
    scene = mc.Scene(gravity=(0, 0, 0))
    scene.add_body("needle", mass=1.0, inertia=(1.0, 1e-6, 1.0), angular_velocity=(0, 300.0, 7.0))
    world = mc.World(scene)
    world.step(60)
    turn = 7.0 * world.time
    w, x, y, z = world.orientations[0]
    along = (2 * (x * y - w * z), 1 - 2 * (x * x + z * z), 2 * (y * z + w * x))
    assert along == pytest.approx((-np.sin(turn), np.cos(turn), 0), abs=1e-3)
