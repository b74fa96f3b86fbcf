"""How accelerations change with the state where loops are closed and springs act between points: what the implicit methods
have of it analytically (step/_loop_jacobian.pyx), against differences of the accelerations.
"""

import numpy as np
import pytest

import mcsim as mc
from looped_scenes import bennett, looped_system, parallelogram
from mcsim.reduced import mobility
from random_trees import random_scene
from test_smooth_loops import with_a_loop_in_space, with_a_spring_between_points

CLOSING = ("spherical", "revolute", "universal", "prismatic", "cylindrical", "planar", "fixed", "slot", "point_on_plane")


def jacobians(world, differences=True):
    """Of a step that ends soon: analytically, and by differences."""
    saved, found = world.snapshot(), []
    at = world._pipeline.parts.integrator
    for asked in (False, True)[: 1 + differences]:
        world.restore(saved)
        at.differences = asked
        world.step()
        found.append(at.last_jacobian())
    return found


def compared(world, part=1e-6):
    analytic, other = jacobians(world)
    assert not np.array_equal(analytic, other)  # it is not that of differences
    assert np.abs(analytic - other).max() < part * (1.0 + np.abs(other).max()), np.abs(analytic - other).max()


def stirred(rng, world):
    world.qd[:] = rng.normal(size=len(world.qd))
    return world


def random_loop(kind, seed, **keywords):
    """Ten freedoms or so and one joint more of a kind, whose rows do not follow from each other: of those that do,
    differences of stages that are projected once tell five digits. Moving as the loop allows after the first projection."""
    rng = np.random.default_rng(seed)
    while True:
        system = looped_system(rng, 5, kinds=(kind,))
        free = not any(link.kind == "planar" for link in system.links)  # whose axes turn with them
        if free and not mobility(system).redundant:
            break
    tree = [link.joint for link in system.links if link.joint is not None]
    world = mc.ReducedWorld(system.scene, tree=tree, dt=1e-7, **keywords)
    assert len(world.system.loops) == 1
    return stirred(rng, world)


@pytest.mark.parametrize("integrator", ["radau", "bdf"])
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", CLOSING)
@pytest.mark.sampled(9)
def test_the_jacobian_of_random_loops_is_that_of_differences(kind, seed, integrator):
    compared(random_loop(kind, seed, integrator=integrator))


def ropes(seed, length=None):
    """Random trees whose last body is tied to the first, and to the ground, by springs with dampers, or by rods."""
    rng = np.random.default_rng(seed)
    scene = random_scene(rng, 4, kinds=("revolute", "universal", "spherical", "free"), branching=0.3)
    names = [body.name for body in scene.bodies if body.kind != "static"]
    for a, b in ((names[0], names[-1]), (None, names[1])):
        keywords = {"spring": mc.Spring(80.0, 3.0, 0.7)} if length is None else {}
        scene.add_joint(mc.DistanceJoint(a, b, rng.normal(size=3), rng.normal(size=3), **keywords))
    return stirred(rng, mc.ReducedWorld(scene, dt=1e-7, integrator="radau"))


@pytest.mark.parametrize("seed", range(4))
def test_springs_between_points_turn_and_stretch(seed):
    compared(ropes(seed))


@pytest.mark.parametrize("seed", range(4))
def test_rods_close_loops(seed):
    compared(ropes(seed, length=1.0))


@pytest.mark.parametrize("make", [with_a_loop_in_space, with_a_spring_between_points, parallelogram])
def test_mechanisms(make):
    world = mc.ReducedWorld(make(), dt=1e-7, integrator="radau")
    compared(world)


def test_springs_of_published_mechanisms_are_in_it():
    for name in ("squeezer", "governor"):
        compared(mc.ReducedWorld(mc.load(name), dt=1e-7, integrator="radau"))


@pytest.mark.parametrize("make", [bennett, lambda: mc.load("bricard")], ids=["bennett", "bricard"])
def test_rows_too_many_in_space_do_not_matter(make):
    """Beside the constraints such rows contradict each other; what is differentiated are projected stages. Along the motion
    rates change as the Jacobian says: y'' = J y', y' = (qd, qdd), by differences of the accelerations in time."""
    h = 1e-3
    world = mc.ReducedWorld(make(), dt=h, integrator="reference")
    world.step(300)
    states = []
    for _ in range(3):
        states.append((world.q.copy(), world.qd.copy(), accelerations(make, world)))
        world.step()
    q, qd, qdd = states[1]
    probe = at_state(make, q, qd, integrator="radau")
    probe.step()
    jacobian = probe._pipeline.parts.integrator.last_jacobian()
    slope = jacobian @ np.column_stack([qd, qdd]).ravel()  # of hinges, each with its angle and its rate
    assert np.allclose(slope[0::2], qdd, rtol=0.0, atol=1e-6 * np.abs(qdd).max())
    expected = (states[2][2] - states[0][2]) / (2 * h)
    assert np.abs(slope[1::2] - expected).max() < 1e-4 * np.abs(expected).max(), (slope[1::2], expected)


def at_state(make, q, qd, **keywords):
    world = mc.ReducedWorld(make(), dt=1e-9, **keywords)
    world.q[:], world.qd[:] = q, qd
    return world


def accelerations(make, world):
    probe = at_state(make, world.q, world.qd, integrator="rk4")
    probe.step()
    return probe._space.qdd.copy()
