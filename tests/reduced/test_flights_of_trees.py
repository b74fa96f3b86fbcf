"""Flights of trees: each goes as by itself, however many rounds and pieces the others in its world ask for."""

import numpy as np
import pytest

import mcsim as mc
from mcsim.reduced import JointModel

# How fast each of the trees of a world tumbles: some are done in one round, others between them ask for more.
SPEEDS = (0.1, 40.0, 0.3, 60.0, 25.0, 0.2)


def own_hinge(q):
    c, s = np.cos(q[0]), np.sin(q[0])
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]]), np.zeros(3)


def add_tree(scene, k, loose=True):
    """Two bodies with a hinge between them; of those that are not loose one hangs on the world."""
    scene.add_body(f"trunk{k}", mass=1.0, inertia=(0.02, 0.03, 0.01), position=(3 * k, 0, 0))
    scene.add_body(f"limb{k}", mass=0.2, inertia=(0.004, 0.001, 0.004), position=(3 * k, 0.4, 0.1))
    if not loose:
        scene.add_joint(mc.BallJoint(None, f"trunk{k}", anchor=(3 * k, 0, 0.2)))
    scene.add_joint(mc.HingeJoint(f"trunk{k}", f"limb{k}", anchor=(3 * k, 0.2, 0), axis=(0.6, 0, 0.8), name=f"hinge{k}"))


def tumble(trees, loose, own=(), steps=50):
    """Poses after some steps of a world of these trees. own: in which the hinge is a model of the user's."""
    scene = mc.Scene()
    for k in trees:
        add_tree(scene, k, loose[k])
    models = {f"hinge{k}": JointModel(1, own_hinge) for k in trees if k in own}
    world = mc.ReducedWorld(scene, dt=0.01, sleep=False, models=models)
    qd = world.qd.copy()
    for link in world.system.links:
        k = int(scene.bodies[link.body_number].name[-1])
        count = link.v.stop - link.v.start
        qd[link.v] = SPEEDS[k] * np.cos(1.0 + np.arange(count) + (count == 1))
    world.qd = qd
    world.step(steps)
    assert not world.stats.notes
    return {name: (world.positions[i], world.orientations[i]) for i, name in enumerate(world.body_names)}


@pytest.mark.parametrize("loose", [(True,) * 6, (False,) * 6, (True, True, False, True, False, False)])
def test_each_as_by_itself(loose):
    together = tumble(range(6), loose)
    for k in range(6):
        for name, (position, orientation) in tumble([k], loose).items():
            assert np.array_equal(position, together[name][0]), name
            assert np.array_equal(orientation, together[name][1]), name


def test_a_hinge_of_ones_own_flies_as_a_hinge():
    """Its model is asked again wherever the tree stands: where a piece begins anew, and where the tree is shifted to."""
    plain, asked = (tumble([1, 2], (True,) * 6, own=own, steps=10) for own in ((), (1,)))
    for name, (position, _) in plain.items():
        assert np.allclose(position, asked[name][0], rtol=0, atol=1e-6), name
