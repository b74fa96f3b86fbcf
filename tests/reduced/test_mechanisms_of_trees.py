"""ReducedWorld on mechanisms, open and closed, against reduced models by hand, which are those of the maximal path."""

from functools import cache

import numpy as np
import pytest

import mcsim as mc
from mechanism_scenes import rotation
from reduced_models import MODELS

TIMES = np.arange(1, 4) * 0.25
STEPS = 120, 240  # from one of the times to the next

# Order of the error of poses, and the largest one at the smaller step.
EXPECTED = {
    "double_pendulum": (2, 3e-5),
    "spatial_pendulum": (2, 2e-6),
    "spinning_top": (2, 1e-2),
    "four_bar": (2, 4e-4),
    "slider_crank": (2, 6e-4),
    "cardan": (2, 1e-5),
    "door": (2, 2e-6),
    "welded_box": (2, 1e-6),
    "n_four_bar": (2, 1e-3),
    "bricard": (2, 1e-2),
}
models = pytest.mark.parametrize("name", EXPECTED)


@cache
def model(name):
    """-> Scene, frames at TIMES"""
    made = MODELS[name]()
    return made.scene(), made.frames(TIMES)


def follow(name, steps):
    """-> largest error of centres [m] and axes at TIMES, largest change of energy [J], largest joint error"""
    scene, frames = model(name)
    world = mc.ReducedWorld(scene, dt=TIMES[0] / steps)
    begin = world.energy().total
    error = change = gap = 0.0
    for positions, rotations in zip(*frames):
        world.step(steps)
        error = max(
            error,
            np.abs(world.positions - positions).max(),
            np.abs(np.array([rotation(q) for q in world.orientations]) - rotations).max(),
        )
        change = max(change, abs(world.energy().total - begin))
        gap = max(gap, world.joint_errors().max())
    return np.array([error, change, gap])


@models
@pytest.mark.sampled(3)
def test_motion_comes_to_that_of_the_model(name):
    order, limit = EXPECTED[name]
    finer = 4 if name == "spinning_top" else 1  # until no drift of a fast top is divided any more
    coarse, fine = (follow(name, finer * steps) for steps in STEPS)
    assert fine[0] < limit, fine
    assert np.log2(coarse[0] / fine[0]) > 0.85 * order, (coarse, fine)
    assert fine[1] < 0.7 * coarse[1] + 1e-9 and fine[2] < 1e-4, (coarse, fine)


@pytest.mark.parametrize("name", ["double_pendulum", "spatial_pendulum", "spinning_top"])
def test_trees_have_no_gaps(name):
    assert follow(name, 60)[2] < 1e-14


@pytest.mark.parametrize("name", EXPECTED)
def test_rows_of_tree_joints_vanish_over_the_tree(name):
    """A World's rows times the bodies' Jacobians: nothing is left of those of tree joints, and those of loops leave as
    many freedoms as the rows leave the bodies."""
    world, maximal = mc.ReducedWorld(model(name)[0]), mc.World(model(name)[0])
    rows = maximal.jacobian().toarray()
    through = rows @ np.vstack([world.body_jacobian(body) for body in world.body_names])
    loops = {loop.joint.index for loop in world.system.loops}
    of_tree = [row["source"] not in loops for row in maximal.rows]
    assert np.abs(through[of_tree]).max() < 1e-12
    left = world.system.nv - np.linalg.matrix_rank(through, tol=1e-9)
    assert left == rows.shape[1] - np.linalg.matrix_rank(rows, tol=1e-9)
