"""Worlds in which there is nothing, and shapes that lie one in the other: every question has an answer in numbers."""

import itertools

import numpy as np
import pytest
from numpy.testing import assert_allclose

import mcsim as mc
from mcsim.solve.problems import SOLVERS

SHAPES = {
    "sphere": mc.Sphere(0.1),
    "small sphere": mc.Sphere(0.05),
    "box": mc.Box((0.1, 0.2, 0.3)),
    "capsule": mc.Capsule(0.1, 0.3),
    "short capsule": mc.Capsule(0.05, 0.1),
    "cylinder": mc.Cylinder(0.1, 0.3),
    "hull": mc.ConvexHull(0.1 * np.vstack([np.eye(3), -np.eye(3)])),
}
TURNS = {
    "same": (1, 0, 0, 0),
    "across": (np.sqrt(0.5), np.sqrt(0.5), 0, 0),
    "askew": (0.5, 0.5, 0.5, 0.5),
    "nearly": (np.cos(5e-10), np.sin(5e-10), 0, 0),
}


@pytest.mark.parametrize("one, other", list(itertools.combinations_with_replacement(SHAPES, 2)))
@pytest.mark.parametrize("turn", TURNS)
def test_distances_of_shapes_that_lie_one_in_the_other(one, other, turn):
    """That of two balls about one centre, or of capsules whose axes cross, was minus infinity, its points NaN: their cores
    have nothing inside. Moved apart by it, the two just touch."""
    for offset in ((0, 0, 0), (0, 0, 0.05), (1e-9, 0, 0), (1e-170, 0, 0), (0, 0.02, 0.01)):
        scene = mc.Scene()
        scene.add_body("a", shape=SHAPES[one])
        scene.add_body("b", shape=SHAPES[other], position=offset, orientation=TURNS[turn])
        world = mc.World(scene)
        for a, b, sign in (("a", "b", 1.0), ("b", "a", -1.0)):
            found = world.distance(a, b)
            assert np.isfinite([found.distance, *found.normal, *found.point_a, *found.point_b]).all()
            assert found.distance < 0.0 and np.linalg.norm(found.normal) == pytest.approx(1.0, abs=1e-12)
            assert found.normal @ (found.point_b - found.point_a) == pytest.approx(found.distance, abs=1e-9)
            apart = mc.World(scene)
            apart.set_pose("b", np.array(offset) - sign * found.normal * (found.distance - 1e-4))
            assert apart.distance("a", "b").distance == pytest.approx(1e-4, abs=1e-6)
        hit = world.shape_cast(SHAPES[other], offset, TURNS[turn], (1, 2, 3), exclude="b")
        assert hit.distance == 0.0 and np.isfinite([*hit.point, *hit.normal]).all()
        assert np.linalg.norm(hit.normal) == pytest.approx(1.0, abs=1e-12)


def test_the_distance_of_a_body_from_itself():
    """As from another one that lies where it does."""
    scene = mc.Scene()
    for name, shape in SHAPES.items():
        scene.add_body(name, shape=shape)
        scene.add_body(f"other {name}", shape=shape)
    world = mc.World(scene)
    for name in SHAPES:
        same, other = world.distance(name, name), world.distance(name, f"other {name}")
        assert same.distance == other.distance and np.array_equal(same.normal, other.normal)


# ---- worlds of nothing -----------------------------------------------------------------------------------------------

NAMES = [
    "rows",
    "contacts",
    "events",
    "stats",
    "settings",
    "asleep",
    "positions",
    "orientations",
    "velocities",
    "angular_velocities",
    "forces",
    "masses",
    "scene",
    "body_names",
    "joint_names",
]
CALLS = [
    "jacobian",
    "delassus",
    "problem",
    "kkt",
    "redundancy",
    "energy",
    "momentum",
    "joint_errors",
    "frames",
    "snapshot",
    "state_hash",
    "wake",
    "step",
]
REDUCED = ["loop_errors", "to_maximal", "maximal"]


def kinds():
    yield from ((mc.World, {"solver": name}) for name in ("si", *SOLVERS))
    yield from ((mc.World, {"stabilization": name}) for name in ("baumgarte", "split_impulse", "projection", "ggl"))
    yield from ((mc.World, {"integrator": name, "stabilization": "none"}) for name in ("rk4", "rattle", "variational"))
    yield from ((mc.World, {"contact": name}) for name in ("compliant", "event"))
    yield from ((mc.ReducedWorld, {"solver": name}) for name in ("si", "admm", "newton"))
    yield from ((mc.ReducedWorld, {"integrator": name}) for name in ("rk4", "reference"))
    yield mc.ReducedWorld, {"contact": "event"}


@pytest.mark.parametrize("kind, keywords", list(kinds()))
@pytest.mark.parametrize("bodies", [0, 1])
def test_a_world_of_nothing_answers(kind, keywords, bodies):
    """problem() ended in a message of NumPy's about shapes, and so did steps of the laboratory's solvers."""
    scene = mc.Scene()
    for _ in range(bodies):
        scene.add_body(kind="static")
    models = SOLVERS.get(keywords.get("solver"), (0, [None]))[1]
    world = kind(scene, **keywords, **({"contact_model": models[0]} if models[0] else {}))
    world.step(3)
    for name in NAMES:
        getattr(world, name)
    for name in CALLS + (REDUCED if kind is mc.ReducedWorld else []):
        getattr(world, name)()
    assert len(world.rows) == len(world.contacts) == 0 and world.energy() == (0, 0)
    assert {**world.stats.residuals}["natural_map"] == 0.0
    assert world.positions.shape == (bodies, 3) and world.jacobian().shape[0] == 0
    problem = world.problem()
    assert problem.row_count == 0 and problem.A.shape == (0, 0)
    for solver in SOLVERS:
        found = mc.solve(problem, solver, SOLVERS[solver][1][0])
        assert found.converged and found.impulses.shape == (0,)
    assert_allclose(problem.velocity([]), 0.0)
    world.restore(world.snapshot())
    world.add_body("b", shape=mc.Sphere(0.1))
    world.remove_body("b")
    world.step()
    assert world.ray_cast((0, 0, 9), (0, 0, -1)) is None and world.overlap(mc.Sphere(9)) == []
