"""How hard joints make it to move a coordinate (constraints/_carried.pyx), against dense matrices."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

import mcsim as mc
from amounts import amount
from constraint_scenes import add_random_body, answers, mass_matrix


def random_scene(rng, bodies, free, pins):
    """A tree of random bodies on hinges, ball joints, sliders and welds with friction; `pins`: further ball joints to
    the world."""
    scene = mc.Scene(gravity=(0, 0, 0))
    for i in range(bodies):
        add_random_body(scene, f"b{i}", rng)
        if i == 0 and free:
            continue
        parent = f"b{rng.integers(0, i)}" if i else None
        ends = [parent, f"b{i}"]
        if parent is not None and rng.random() < 0.5:
            ends.reverse()
        anchor, axis = rng.normal(size=3), rng.normal(size=3)
        kind = rng.integers(4)
        if kind == 0:
            scene.add_joint(mc.HingeJoint(*ends, anchor, axis, friction=1.0))
        elif kind == 1:
            scene.add_joint(mc.BallJoint(*ends, anchor, friction=1.0))
        elif kind == 2:
            scene.add_joint(mc.SliderJoint(*ends, anchor, axis, friction=1.0))
        else:
            scene.add_joint(mc.FixedJoint(*ends, anchor))
    for i in rng.choice(bodies, pins, replace=False):
        scene.add_joint(mc.BallJoint(None, f"b{i}", rng.normal(size=3), friction=1.0))
    return scene


def dense_parts(world, motors=False):
    """The same by the dense matrices of the rows; motors: those of other joints hold too."""
    rows = world.rows
    J = world.jacobian().toarray()
    own = rows["kind"] == "joint"
    W = np.linalg.inv(mass_matrix(world))
    found = []
    for i in np.flatnonzero(~own):
        held = J[own | ((rows["source"] != rows["source"][i]) if motors else False)]
        found.append((J[i] @ answers(world, held) @ J[i]) / (J[i] @ W @ J[i]))
    return found


@settings(max_examples=amount(13, 40), deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
@given(seed=st.integers(0, 10**6), bodies=st.integers(1, 9), free=st.booleans(), pins=st.integers(0, 2))
def test_parts_are_those_of_dense_matrices(seed, bodies, free, pins):
    scene = random_scene(np.random.default_rng(seed), bodies, free, 0 if free else min(pins, bodies))
    world = mc.World(scene, dt=1e-9, sleep=False)
    expected = dense_parts(world)
    world.step()
    articulations = world._pipeline.parts.plan.articulations
    found = 1.0 if articulations is None else min(articulations.bounds.least_parts())
    least = min(expected, default=1.0)
    if least < 1e-6:
        # Nothing moves it at all: what the shift of rows that repeat others leaves, 1.2e-3 at most of 211 such draws.
        assert -1e-6 < found < 1e-2
    else:
        assert found == pytest.approx(least, rel=1e-3, abs=1e-6)


@settings(max_examples=amount(6, 20), deadline=None, derandomize=True)
@given(seed=st.integers(0, 10**6), bodies=st.integers(2, 8))
def test_motors_hold_what_lies_beyond_them(seed, bodies):
    rng = np.random.default_rng(seed)
    scene = mc.Scene(gravity=(0, 0, 0))
    for i in range(bodies):
        scene.add_body(f"b{i}", mass=10 ** rng.uniform(-1, 1), position=rng.normal(size=3), inertia=(0.02, 0.03, 0.04))
        scene.add_joint(
            mc.HingeJoint(
                f"b{rng.integers(0, i)}" if i else None,
                f"b{i}",
                rng.normal(size=3),
                rng.normal(size=3),
                motor=mc.Motor(velocity=0.0),
            )
        )
    world = mc.World(scene, dt=1e-9, sleep=False)
    expected = dense_parts(world, motors=True)
    world.step()
    bounds = world._pipeline.parts.plan.articulations.bounds
    assert min(bounds.least_parts()) == pytest.approx(min(expected), rel=1e-3, abs=1e-6)


def test_joints_that_close_loops_among_bodies_are_left_out():
    """So the part may be larger than it is, not smaller."""
    world = mc.World(mc.load("four_bar"), dt=1e-9)
    world.step()
    assert 0.0 < min(world._pipeline.parts.plan.articulations.bounds.least_parts()) <= 1.0
