"""Mechanisms, open and closed, against reduced models by hand: motion, joints, energy, freedoms."""

from functools import cache

import numpy as np
import pytest

import mcsim as mc
from joint_settings import every_joint_solver
from mechanism_scenes import rotation
from reduced_models import MODELS, OneDegree, X, bricard, cardan, n_four_bar

TIMES = np.arange(1, 7) * 0.25

# Largest error of a centre [m] or a turn's matrix at TIMES at four substeps of 1/480 s: rows, tree.
LIMITS = {
    "double_pendulum": (2.5e-3, 3e-4),
    "spatial_pendulum": (7e-4, 1e-4),
    "spinning_top": (6.5e-3, 3e-3),
    "four_bar": (0.2, 3e-3),
    "slider_crank": (8e-3, 1e-3),
    "n_four_bar": (2e-3, 3e-4),
    "cardan": (5e-4, 1e-4),
    "door": (2e-5, 3e-5),
    "bricard": (0.015, 3e-3),
    "welded_box": (2e-4, 3e-5),
}

# Rows that follow from the others: rows + freedoms - 6 bodies.
REDUNDANT = {
    "double_pendulum": 0,
    "spatial_pendulum": 0,
    "spinning_top": 0,
    "four_bar": 3,
    "slider_crank": 3,
    "n_four_bar": 9,
    "cardan": 3,
    "door": 10,
    "bricard": 1,
    "welded_box": 30,
}


@cache
def model_of(name):
    return MODELS[name]()


@cache
def reference(name):
    """Frames of the model at TIMES."""
    return model_of(name).frames(TIMES)


def order(errors):
    """Of errors at 8 and 16 substeps; at 4 the direct solver may have divided them, and be better than its order."""
    return np.log2(errors[1] / errors[2])


def turns(world):
    return np.array([rotation(q) for q in world.orientations])


def follow(scene, held, frames, substeps):
    """-> largest error of the frames at TIMES, joint error at any step, change of energy at any step [J]."""
    world = mc.World(scene, dt=1 / 120, **held.keywords | {"substeps": substeps})
    begin = world.energy().total
    error = gap = change = 0.0
    for positions, rotations in zip(*frames):
        for _ in range(30):
            world.step()
            gap = max(gap, world.joint_errors().max())
            change = max(change, abs(world.energy().total - begin))
        error = max(error, np.abs(world.positions - positions).max(), np.abs(turns(world) - rotations).max())
    return error, gap, change


@every_joint_solver
@pytest.mark.parametrize("name", MODELS)
@pytest.mark.sampled(3)
def test_motion_comes_to_that_of_the_reduced_model(name, held):
    """Frames of all bodies over 1.5 s; errors and changes of energy fall with the second order in the substep, of
    loops that sweeps do not close in one not quite."""
    scene = MODELS[name]().scene()
    runs = np.array([follow(scene, held, reference(name), substeps) for substeps in (4, 8, 16)])
    errors, gaps, changes = runs.T
    assert errors[0] < LIMITS[name][held.order - 1] and gaps[0] < held.gap, runs
    least = 1.8 if held.order == 2 or not REDUNDANT[name] else 1.35
    assert order(errors) > least or errors[-1] < 1e-6, runs
    assert order(changes) > least or changes[-1] < 1e-6, runs
    assert gaps[-1] < max(0.1 * gaps[0], 1e-8), runs


@pytest.mark.parametrize("name", MODELS)
def test_freedoms_and_redundant_rows(name):
    """The rank of J M^-1 J' leaves the mechanism its freedoms, loops' redundant rows counted."""
    world = mc.World(MODELS[name]().scene())
    values = np.linalg.eigvalsh(world.delassus().toarray())
    assert np.count_nonzero(values < 1e-9 * values[-1]) == REDUNDANT[name]


@pytest.mark.parametrize("name", [name for name, make in MODELS.items() if isinstance(make(), OneDegree)])
def test_the_models_of_one_degree_keep_their_energy(name):
    """The oracle itself: M q'^2 / 2 + V is constant, though its equation was written with derivatives of M and V."""
    model = model_of(name)
    state = np.column_stack([(model.start, model.rate), model.solve(TIMES)])
    energy = [mass[2] * rate**2 / 2 + potential[2] for q, rate in state.T for *_, mass, potential in [model.around(q)]]
    assert np.ptp(energy) < 1e-8 * max(np.abs(energy))
    assert np.ptp(state[0]) > 0.5  # it moved


@every_joint_solver
def test_the_cardan_shaft_follows_its_angle_law(held):
    """tan(out) = cos(bend) tan(in) between the angles that the world itself has, over two turns, at four substeps."""
    bend = 0.6
    world = mc.World(cardan(bend, rate=15.0).scene(), dt=1 / 120, **held.keywords)
    out = np.cos(bend) * X + np.sin(bend) * np.array([0, 0, 1])
    total, worst = 0.0, 0.0
    for _ in range(250):
        world.step()
        first, second = turns(world)
        q = np.arctan2(first[2, 1], first[1, 1])
        across = second @ [0, 1, 0]
        angle = np.arctan2(np.cross([0, 1, 0], across) @ out, across[1])
        total += world.angular_velocities[0, 0] * world.dt
        worst = max(worst, abs(np.angle(np.exp(1j * (angle - np.arctan2(np.cos(bend) * np.sin(q), np.cos(q)))))))
    assert total > 4 * np.pi and worst < held.fine_gap, (total, worst)


@every_joint_solver
def test_bricard_stays_mobile(held):
    """Over four seconds the loop goes round; its angles keep cos A + cos B + cos A cos B = 0 and it gains no energy."""
    world = mc.World(bricard().scene(), dt=1 / 120, **held.keywords | {"substeps": 16})
    names, begin = world.joint_names, world.energy().total
    seen, fastest = [], 0.0
    for _ in range(480):
        world.step()
        angles = np.pi / 2 + np.array([world.joint(name).position for name in names])
        a, b = angles[::2], angles[1::2]
        assert np.ptp(a) < 4 * held.fine_gap and np.ptp(b) < 4 * held.fine_gap
        assert np.abs(np.cos(a) + np.cos(b) + np.cos(a) * np.cos(b)).max() < 4 * held.fine_gap
        fastest = max(fastest, world.energy().kinetic)
        assert world.energy().total < begin + 2e-3 * fastest
        seen.append(a[0])
    assert np.ptp(seen) > 2.0


@every_joint_solver
@pytest.mark.parametrize("windows", [1, 3, pytest.param(10, marks=pytest.mark.slow)])
@pytest.mark.sampled(3)
def test_rows_of_four_bars_pass_their_singular_positions(held, windows):
    """IFToMM A02 over 4 s: at each quarter turn all rods are in line; uprights stay parallel, the others level."""
    model = n_four_bar(windows)
    world = mc.World(model.scene(), dt=1 / 120, **held.keywords | {"substeps": 16})
    q = model.solve(np.linspace(0, 4, 481)[1:])[0]
    assert np.ptp(q) > 2 * np.pi
    for _ in q:
        world.step()
        now = turns(world)
        assert np.abs(now[: windows + 1] - now[0]).max() < 4 * held.fine_gap
        assert np.abs(now[windows + 1 :] - np.eye(3)).max() < 4 * held.fine_gap
        assert world.joint_errors().max() < held.fine_gap
    at = np.arctan2(now[0, 0, 2], now[0, 2, 2]) + np.pi / 2  # from -x over up: q counts the other way
    assert abs(np.angle(np.exp(1j * (np.pi - at - q[-1])))) < 0.05
