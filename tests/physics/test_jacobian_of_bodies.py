"""The Jacobian of a World under the implicit methods: differences whose accelerations are found by the factor of the place
that they are taken from are those of accelerations that stand by themselves.
"""

import numpy as np
import pytest

import mcsim as mc
from amounts import amount
from random_trees import random_scene
from test_reference_integrator import DRY, SCENES, a_joint_of_ones_own

JOINTS = (
    "spherical",
    "revolute",
    "universal",
    "prismatic",
    "helical",
    "cylindrical",
    "planar",
    "fixed",
    "slot",
    "point_on_plane",
)


def jacobians(scene, integrator, rng):
    """Of a step that ends soon: as it is found, and with a factor for each difference. rng: of velocities, or None."""
    world = mc.World(scene, dt=1e-7, substeps=1, integrator=integrator)
    if rng is not None:
        moves = np.array([body.kind == "dynamic" for body in scene.bodies])
        world.velocities[moves], world.angular_velocities[moves] = rng.normal(size=(2, int(moves.sum()), 3))
    saved, found = world.snapshot(), []
    at = world._pipeline.parts.integrator
    for alone in (False, True):
        world.restore(saved)
        at.alone = alone
        world.step()
        found.append(at.last_jacobian())
    return found


def compare(scene, integrator, rng=None, part=1e-6):
    near, alone = jacobians(scene, integrator, rng)
    assert near.shape[0] == 12 * sum(body.kind == "dynamic" for body in scene.bodies) and np.isfinite(near).all()
    assert np.abs(near - alone).max() < part * (1.0 + np.abs(alone).max()), np.abs(near - alone).max()
    return not np.array_equal(near, alone)


@pytest.mark.parametrize("integrator", ["radau", "bdf"])
@pytest.mark.parametrize("make", [make for make in SCENES + DRY if make is not a_joint_of_ones_own])
def test_of_known_scenes(make, integrator):
    """Where loops are closed each difference has a factor of its own."""
    assert compare(make(), integrator) == (make.__name__ != "a_loop_in_space")


@pytest.mark.parametrize("seed", range(amount(6, 60)))
def test_of_random_trees_with_springs(seed):
    rng = np.random.default_rng(seed)
    scene = random_scene(rng, 6, kinds=JOINTS)
    for k in range(3):
        spring = mc.Spring(rng.uniform(10, 1e4), rng.uniform(0, 100))
        points = rng.uniform(-0.5, 0.5, (2, 3))
        scene.add_joint(mc.DistanceJoint(None if k == 0 else "b1", f"b{3 + k}", *points, length=0.5, spring=spring))
    compare(scene, "radau", rng)
