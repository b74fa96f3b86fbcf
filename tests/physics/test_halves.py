"""Forces act in two halves, before and after the drift: what falls, what stands, and what is far away from it."""

import numpy as np
import pytest

import mcsim as mc


@pytest.mark.parametrize("keywords", [{}, {"substeps": 1}, {"substeps": 7, "dt": 1 / 90}], ids=str)
def test_what_falls_falls_as_far_as_it_should(keywords):
    """z = v t - g t^2 / 2 beside a joint that is solved directly, where forces act in two halves."""
    scene = mc.Scene()
    scene.add_body("stone", shape=mc.Box((0.1, 0.2, 0.3)), position=(0, 0, 50), velocity=(1, 0, 4))
    scene.add_body("door", shape=mc.Box((0.5, 0.5, 0.05)), position=(100, 0, 0))
    scene.add_joint(mc.HingeJoint(None, "door", anchor=(100, 0.5, 0), axis=(1, 0, 0)))
    world = mc.World(scene, **keywords)
    world.step(90)
    t, g = 90 * world.dt, 9.81
    np.testing.assert_allclose(world.positions[0], (t, 0, 50 + 4 * t - g * t * t / 2), rtol=0, atol=1e-11)


def tower(boxes, **keywords):
    """Beside a joint far away, with which forces act in two halves."""
    scene = mc.load("tower", n=boxes)
    scene.add_body("far", mass=1, inertia=(1, 1, 1), position=(1000, 0, 0))
    scene.add_joint(mc.HingeJoint(None, "far", anchor=(1000, 0, 1), axis=(0, 1, 0)))
    return mc.World(scene, sleep=False, **keywords)


def swaying(world):
    return np.abs(world.velocities[:-1]).max()


@pytest.mark.parametrize("keywords, seconds", [({}, 40), ({"iterations": 3}, 40), ({"iterations": 8}, 20),
                                               ({"substeps": 2}, 40), ({"dt": 1 / 120}, 20)], ids=str)
def test_the_sway_of_a_tower_dies_away(keywords, seconds):
    """Where second halves are those of the last substep's impulses it lasts: 3.3e-6 m/s after 40 s at the default."""
    world = tower(10, **keywords)
    world.step(round(seconds / world.dt))
    assert swaying(world) < 1e-6 if "substeps" not in keywords else swaying(world) < 2e-5


@pytest.mark.parametrize("size", [1.0, 0.1, 0.01])
@pytest.mark.parametrize("boxes", [10, 15])
def test_columns_that_bear_much_do_not_swing(boxes, size):
    """Of stiffness that follows what they bear. A spring whose stiffness follows its load within a step is the more pressed
    in the less it bears: columns bounced at 0.2 m/s for ever."""
    scene = mc.Scene()
    scene.add_body("floor", kind="static", shape=mc.Plane((0, 0, 1)))
    for i in range(boxes):
        scene.add_body(f"box{i}", shape=mc.Box((size / 2,) * 3), position=(0, 0, size * (i + 0.5)))
    world = mc.World(scene, sleep=False, dt=np.sqrt(size) / 60, substeps=1)
    world.step(600)
    assert np.abs(world.velocities).max() < 2e-3 * np.sqrt(size)
