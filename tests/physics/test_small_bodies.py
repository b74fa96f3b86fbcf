"""Bodies that are small for what gravity does in a substep: their structures stand, and landings cost little (docs/theory/
stabilization.md, what bears much for its size)."""

import numpy as np
import pytest

import mcsim as mc


def ground():
    scene = mc.Scene(gravity=(0, 0, -10))
    scene.add_body("ground", kind="static", shape=mc.Plane((0, 0, 1)))
    return scene


def wall(half, width, rows):
    """Cubes in running bond: each stands on two others with half of itself."""
    scene = ground()
    for i in range(rows):
        for j in range(width - i % 2):
            scene.add_body(shape=mc.Box((half,) * 3), position=((2 * j + i % 2) * half, 0, (2 * i + 1) * half))
    return scene


def pyramid(half, base):
    scene = ground()
    for i in range(base):
        for j in range(base - i):
            scene.add_body(shape=mc.Box((half,) * 3), position=((i + 2 * j) * half, 0, (2 * i + 1) * half))
    return scene


@pytest.mark.parametrize("half", [0.002, 0.005, 0.01])
def test_a_wall_sinks_no_more_than_columns_of_its_weight(half):
    """Each of two contacts that share a load was a quarter as stiff as the one of a column that bears all of it. Looked at
    is the lower half: near the top a column's contacts hardly yield (wide/_firm.pxd)."""
    rows, middle, sunk = 20, 10, {}
    for width in (1, 3):
        scene = wall(half, width, rows) if width > 1 else ground()
        for i in range(rows if width == 1 else 0):
            scene.add_body(shape=mc.Box((half,) * 3), position=(0, 0, (2 * i + 1) * half))
        world = mc.World(scene)
        world.step(120)
        height = (2 * middle + 1) * half
        row = np.abs(world.positions[:, 2] - height) < 0.5 * half
        assert row.sum() == width
        sunk[width] = 1.0 - world.positions[row, 2].mean() / height
    assert sunk[3] < 1.25 * sunk[1]


@pytest.mark.slow
@pytest.mark.parametrize("half, base", [(0.0005, 25), (0.001, 30), (0.002, 30)])
def test_pyramids_of_small_cubes_do_not_buckle(half, base):
    world = mc.World(pyramid(half, base), sleep=False)
    start = world.positions.copy()
    world.step(180)
    assert world.positions[-1, 2] > 0.995 * start[-1, 2]
    assert np.abs(world.positions - start)[:, 1].max() < half


def test_what_lands_alone_is_solved_after_a_few_rounds():
    """Thin boxes that land at 4 m/s were solved 104 times a sweep for 16 steps, as if each bore tens of its like."""
    scene = ground()
    rng = np.random.default_rng(1)
    for i in range(40):
        turn = np.array((1.0, *(0.1 * rng.normal(size=3))))
        scene.add_body(shape=mc.Box((0.2, 0.2, 0.01)), position=(i % 8 + 0.1 * rng.normal(), i // 8, 1.0),
                       orientation=turn / np.linalg.norm(turn))
    world = mc.World(scene)
    asked = made = 0
    for _ in range(60):
        before = world._pipeline.wide.rounds_made
        world.step()
        asked += world.stats.iterations * (world._pipeline.wide.rounds - 1)
        made += world._pipeline.wide.rounds_made - before
    assert asked > 20000 and made < 0.3 * asked
