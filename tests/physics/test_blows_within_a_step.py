"""What is struck within a step meets others in the same step: no overlap, and no energy from it."""

import numpy as np
import pytest
from hypothesis import example, given, settings, strategies as st

import mcsim as mc
from amounts import amount

SIZE = 0.1  # [m] half of each body, along the row
MATERIAL = mc.Material(friction=0.0, restitution=1.0)
SHAPES = {"balls": mc.Sphere(SIZE), "boxes": mc.Box((SIZE, SIZE, SIZE))}
WALLS = {"plane": mc.Plane((-1, 0, 0)), "box": mc.Box((1, 1, 1), position=(1, 0, 0))}


def row(shape, masses, gaps, speed, wall=None):
    """Bodies along x, the first of which comes with `speed`; behind the last a wall, or nothing."""
    scene = mc.Scene(gravity=(0, 0, 0))
    x = 0.0
    for i, mass in enumerate(masses):
        scene.add_body(
            f"body{i}",
            mass=mass,
            shape=SHAPES[shape],
            material=MATERIAL,
            position=(x, 0, 0),
            velocity=(speed if i == 0 else 0, 0, 0),
        )
        x += 2 * SIZE + (gaps[i] if i < len(gaps) else 0)
    if wall:
        scene.add_body("wall", kind="static", shape=WALLS[wall], material=MATERIAL, position=(x - SIZE, 0, 0))
    return scene


def run(world, count, steps):
    """-> (lowest, highest energy by the first, deepest overlap [m]) of all steps"""
    start = world.energy().total
    energies, overlap = [], 0.0
    for _ in range(steps):
        world.step()
        energies.append(world.energy().total / start)
        overlap = max(overlap, (2 * SIZE - np.diff(world.positions[:count, 0])).max())
    return min(energies), max(energies), overlap


@pytest.mark.parametrize("kind", [mc.World, mc.ReducedWorld])
@pytest.mark.parametrize("wall", [None, "plane", "box"])
@pytest.mark.parametrize("shape", SHAPES)
@given(
    masses=st.lists(st.floats(0.3, 3), min_size=3, max_size=6),
    gaps=st.lists(st.floats(1e-3, 0.04), min_size=6, max_size=6),
    speed=st.floats(3, 20),
    substeps=st.integers(1, 8),
)
@example([3.0, 1.5, 1.75], [1 / 32, 5 / 128] + 4 * [1 / 32], 5.0, 8)
@settings(max_examples=amount(3, 60), deadline=None)
def test_a_row_that_is_struck_keeps_its_energy(shape, wall, kind, masses, gaps, speed, substeps):
    world = kind(row(shape, masses, gaps, speed, wall), dt=1 / 60, substeps=substeps, restitution_threshold=0.0)
    lowest, highest, overlap = run(world, len(masses), 12)
    assert highest < 1 + 1e-9 and lowest > 1 - 1e-9
    assert overlap < 1e-3 * SIZE


@pytest.mark.slow
def test_blows_come_in_the_order_in_which_bodies_touch():
    """Which contacts a step needs follows from what strikes what first. What closes within one substep is struck at once
    and foreseen one by one, so a row in some thousand lacks a contact; without the order it was one in 140."""
    lacking = 0
    for k in range(2000):
        rng = np.random.default_rng(k)
        masses = np.round(rng.uniform(0.3, 3, rng.integers(3, 7)), 2).tolist()
        gaps, speed = np.round(rng.uniform(1e-3, 0.08, 6), 4).tolist(), float(rng.uniform(3, 30))
        scene = row(rng.choice(list(SHAPES)), masses, gaps, speed, rng.choice([None, *WALLS]))
        kind = (mc.World, mc.ReducedWorld)[rng.integers(2)]
        world = kind(scene, dt=1 / 60, substeps=int(rng.integers(1, 9)), restitution_threshold=0.0)
        lowest, highest, overlap = run(world, len(masses), 12)
        assert highest < 1 + 1e-9
        lacking += lowest < 1 - 1e-9 or overlap > 1e-3 * SIZE
    assert lacking <= 4


def test_a_blow_runs_down_a_row_within_one_step():
    world = mc.World(row("balls", [1.0] * 8, [0.002] * 7, 10.0), dt=1 / 60, restitution_threshold=0.0)
    world.step()
    assert world.velocities[:, 0] == pytest.approx([0.0] * 7 + [10.0], abs=1e-9)


def test_looking_at_rows_changes_nothing():
    """The velocities that foresight tries are not those of the bodies."""
    world = mc.World(row("balls", [1.0] * 4, [0.01] * 3, 10.0, "plane"), dt=1 / 60)
    before = world.state_hash()
    assert world.velocities[1, 0] == 0.0 and len(world.rows) > 0
    assert world.state_hash() == before and world.velocities[1, 0] == 0.0
