"""Bodies several at a time: what shares a register, and what a level is, changes no bit."""

import numpy as np
import pytest

import mcsim as mc
from level_runs import on_every_level
from mcsim.core.rotation import matrix

SPINS = 10.0 ** np.array([-6.0, -2.0, 0.0, 1.0, 1.5, 2.0, 2.5, 3.0])  # [rad/s]; a step's piece ends at 180

# A world's state after some steps, as a number.
STATE = """
import hashlib
import numpy as np
import mcsim as mc
world = mc.World(mc.load({name!r}, **{parameters!r}))
world.step({steps})
state = np.hstack([world.positions, world.orientations, world.velocities, world.angular_velocities])
print(hashlib.sha256(state.tobytes()).hexdigest())
"""


def spinning(chosen=slice(None)):
    """Bodies of all kinds of spin, or the chosen ones of them, in a world without gravity."""
    rng = np.random.default_rng(5)
    bodies = []
    for spin in SPINS:
        for inertia in ((0.3, 0.25, 0.2), (0.2, 0.2, 0.2), (0.3, 0.3, 1e-5)):
            bodies.append((inertia, spin * np.array([0.6, 0.64, 0.48]), rng.normal(size=4)))
        bodies.append(((0.3, 0.25, 0.2), (0.0, 0.0, spin), (1, 0, 0, 0)))
    bodies.append(((0.3, 0.25, 0.2), (0.0, 0.0, 0.0), rng.normal(size=4)))
    scene = mc.Scene(gravity=(0, 0, 0))
    for i, (inertia, spin, orientation) in list(enumerate(bodies))[chosen]:
        scene.add_body(
            f"top{i}",
            mass=1.0,
            inertia=inertia,
            angular_velocity=spin,
            orientation=orientation / np.linalg.norm(orientation),
            position=(i, 0, 0),
            velocity=(0, i, 0),
        )
    return mc.World(scene, substeps=6)


def state(world):
    return np.hstack([world.positions, world.orientations, world.velocities, world.angular_velocities])


def test_a_body_moves_the_same_alone_and_among_others():
    """Slow ones, fast ones in pieces, needles, steady ones: bit by bit."""
    together = spinning()
    together.step(20)
    alone = []
    for i in range(len(together.positions)):
        world = spinning(slice(i, i + 1))
        world.step(20)
        alone.append(state(world)[0])
    assert np.array_equal(state(together), alone)


def test_in_pieces_as_at_once():
    """Where a body begins to turn in two pieces both answers are near, and both keep momentum and energy."""
    h = 1 / 360
    inertia = np.diag([0.3, 0.25, 0.2])
    found = []
    for angle in (0.5 * (1 - 1e-12), 0.5 * (1 + 1e-12)):
        spin = angle / h * np.array([0.6, 0.64, 0.48])
        scene = mc.Scene(gravity=(0, 0, 0))
        scene.add_body("top", mass=1.0, inertia=inertia, angular_velocity=spin)
        world = mc.World(scene, dt=h, substeps=1)
        energy = world.energy().total
        world.step(1)
        r = matrix(world.orientations[0])
        assert r @ inertia @ r.T @ world.angular_velocities[0] == pytest.approx(inertia @ spin, rel=1e-13)
        assert world.energy().total == pytest.approx(energy, rel=1e-13)
        found.append(world.orientations[0].copy())
    assert 0 < np.abs(found[0] - found[1]).max() < 1e-3


@pytest.mark.parametrize(
    "name, parameters, steps",
    [("chain", {"n": 13}, 20), ("ragdolls", {"count": 2}, 40), ("dzhanibekov", {}, 40), ("four_bar", {}, 40)],
)
def test_all_levels_give_the_same_bits(name, parameters, steps):
    found = on_every_level(STATE.format(name=name, parameters=parameters, steps=steps))
    assert len(set(found.values())) == 1, found
