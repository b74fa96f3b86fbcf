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
@pytest.mark.parametrize("half, base", [(0.00005, 30), (0.0005, 30), (0.001, 30), (0.002, 30), (0.005, 40)])
def test_pyramids_of_small_cubes_do_not_buckle(half, base):
    """At four substeps those of 1 mm and less fell, within 2 s."""
    world = mc.World(pyramid(half, base), sleep=False)
    start = world.positions.copy()
    world.step(180)
    assert world.positions[-1, 2] > 0.995 * start[-1, 2]
    assert np.abs(world.positions - start)[:, 1].max() < half


@pytest.mark.parametrize("half, base", [(0.00005, 10), (0.00002, 7)])
def test_pyramids_of_tiny_cubes_stand(half, base):
    world = mc.World(pyramid(half, base), sleep=False)
    start = world.positions.copy()
    world.step(90)
    assert np.abs(world.positions - start).max() < half


def shapes(t):
    points = [(x, y, z) for x in (0, 2 * t) for y in (0, 3 * t) for z in (0, t)]
    return mc.Sphere(t / 2), mc.Box((t, t / 2, t)), mc.Capsule(t / 2, t), mc.Cylinder(t, t / 2), mc.ConvexHull(points)


def falls(world, thickness):
    """By what part of a thickness a body falls from rest in a substep."""
    return 0.5 * np.linalg.norm(world.scene.gravity) * world.substep**2 / thickness


@pytest.mark.parametrize("dt", [1 / 240, 1 / 60, 1 / 10])
@pytest.mark.parametrize("t", [1e-5, 1e-3, 0.009, 0.05, 1.0])
def test_nothing_falls_by_more_than_a_hundredth_of_its_thickness_in_a_substep(t, dt):
    for shape in shapes(t):
        assert shape.thickness == pytest.approx(t)
        scene = ground()
        scene.add_body(shape=mc.Box((1, 1, 1)))
        scene.add_body(shape=shape)
        world = mc.World(scene, dt=dt)
        substeps = round(dt / world.substep)
        assert falls(world, t) <= 0.01 * (1 + 1e-9)
        if substeps > 4:  # and no more substeps than that takes
            assert falls(world, t) * (substeps / (substeps - 1)) ** 2 > 0.01 * (1 - 1e-9)
        assert mc.World(scene, dt=dt, substeps=3).substep == dt / 3


def test_what_is_held_felt_or_weightless_asks_for_no_substeps():
    tiny = mc.Box((1e-4, 1e-4, 1e-4))
    for case in range(5):
        scene = ground()
        if case == 0:
            scene.add_joint(mc.BallJoint(None, scene.add_body(shape=tiny), anchor=(0, 0, 0)))
        elif case == 1:
            scene.add_body(shape=[mc.Box((1, 1, 1)), mc.Sphere(1e-4, sensor=True)])
        elif case == 2:
            scene.add_body(shape=tiny, gravity_scale=0.0)
        elif case == 3:
            scene.add_body(shape=[mc.Box((1, 1, 1)), tiny])  # as thick as its thickest part
        else:
            scene.add_body(shape=tiny, kind="kinematic")
        assert mc.World(scene).substep == 1 / 60 / 4, case
    assert mc.World(scene, contact="event").substep == 1 / 60


def test_the_number_of_substeps_is_bounded():
    for gravity, t in ((9.81, 1e-12), (1e200, 1.0), (9.81, 1e-100)):
        scene = mc.Scene(gravity=(0, 0, -gravity))
        scene.add_body(shape=mc.Box((t, t, t)), mass=1, inertia=(1, 1, 1))
        assert mc.World(scene).substep == 1 / 60 / 10_000


def test_what_lands_alone_is_solved_after_a_few_rounds():
    """Thin boxes that land at 4 m/s were solved 104 times a sweep for 16 steps, as if each bore tens of its like."""
    scene = ground()
    rng = np.random.default_rng(1)
    for i in range(40):
        turn = np.array((1.0, *(0.1 * rng.normal(size=3))))
        scene.add_body(
            shape=mc.Box((0.2, 0.2, 0.01)),
            position=(i % 8 + 0.1 * rng.normal(), i // 8, 1.0),
            orientation=turn / np.linalg.norm(turn),
        )
    world = mc.World(scene)
    asked = made = 0
    for _ in range(60):
        before = world._pipeline.parts.plan.wide.rounds_made
        world.step()
        asked += world.stats.iterations * (world._pipeline.parts.plan.wide.rounds - 1)
        made += world._pipeline.parts.plan.wide.rounds_made - before
    assert asked > 20000 and made < 0.3 * asked
