"""Bodies whose joints lead them about points far outside, as the small ball at the end of a pendulum's massless rod: what
turns there is I + m r^2, so no joint's force turns them faster than a pendulum swings, and they need no flights
(docs/theory/tree.md). I alone was asked, and such pendulums cost 14 times as much as others."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import mcsim as mc
from amounts import amount

JOINTS = {
    "ball": lambda a, b, anchor: mc.BallJoint(a, b, anchor),
    "hinge": lambda a, b, anchor: mc.HingeJoint(a, b, anchor, (0, 1, 0)),
    "universal": lambda a, b, anchor: mc.UniversalJoint(a, b, anchor, axis_a=(0, 1, 0), axis_b=(1, 0, 0)),
}


def pieces(world):
    """How many pieces of flights there were."""
    return world._pipeline.parts.plan.articulations.state.flights.pieces


def beads(count, compact, joint, *, length=1.0, mass=1.0, gravity=9.81, along=(1.0, 0.0, 0.0)):
    """On massless rods one below the other, each with an inertia of compact m l^2 about its centre."""
    scene = mc.Scene(gravity=(0, 0, -gravity))
    holder, along = None, np.array(along)
    for k in range(count):
        inertia = (compact * mass * length * length,) * 3
        scene.add_body(f"bead{k}", mass=mass, inertia=inertia, position=length * (k + 1) * along)
        scene.add_joint(JOINTS[joint](holder, f"bead{k}", length * k * along))
        holder = f"bead{k}"
    return scene


@settings(deadline=None, max_examples=amount(6, 40))
@given(
    count=st.integers(1, 5),
    compact=st.floats(-8, -2),
    joint=st.sampled_from(sorted(JOINTS)),
    length=st.floats(-2, 2),
    mass=st.floats(-3, 3),
    substeps=st.integers(2, 8),
)
def test_pendulums_swing_without_flights(count, compact, joint, length, mass, substeps):
    """In any unit, let go at 0.6 rad to the side: with closed joints and all their energy."""
    length, mass, unit = 10.0**length, 10.0**mass, np.sqrt(10.0**length)
    scene = beads(count, 10.0**compact, joint, length=length, mass=mass, along=(np.sin(0.6), 0, -np.cos(0.6)))
    world = mc.World(scene, dt=unit / 240, substeps=substeps)
    before = world.energy().total
    world.step(240)
    assert pieces(world) == 0 and not world.stats.all_notes
    assert world.energy().total == pytest.approx(before, abs=1e-6 * 9.81 * mass * length * count * count)
    assert world.joint_errors()[:, 0].max() < 1e-7 * length


@pytest.mark.parametrize("joint", sorted(JOINTS))
@pytest.mark.parametrize("compact", [1e-6, 1e-4, 1.0, 1e2])
@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e3])
@pytest.mark.parametrize("fast", [0.9, 1.1])
def test_a_pendulum_flies_where_it_swings_too_fast(joint, compact, scale, fast):
    """At rest below its pivot, w^2 = m g l / (I + m l^2) in each direction that its joint leaves, and it flies where
    h^2 times their sum is above 4. A hinge leaves one."""
    free = 1 if joint == "hinge" else 2
    square = 4.0 * fast / free
    scene = beads(1, compact, joint, length=scale, gravity=square * (1.0 + compact) * scale, along=(0, 0, -1))
    world = mc.World(scene, dt=1.0, substeps=1)
    world.step(2)
    assert (pieces(world) > 0) == (fast > 1.0)


@pytest.mark.parametrize("joint", ["ball", "hinge"])
@pytest.mark.parametrize("compact", [1e-8, 1e-6, 1e-4, 1e-2])
def test_points_keep_as_much_energy_as_balls(joint, compact):
    """Over 20 s from the level: what is lost is that of an ordinary pendulum, some 1e-9 of its energy."""
    world = mc.World(beads(1, compact, joint), dt=1 / 240)
    before = world.energy().total
    world.step(4800)
    assert world.energy().total == pytest.approx(before, abs=3e-9 * 9.81)


def test_a_light_link_between_heavy_ones_still_flies():
    """Its neighbours turn it about its own centre."""
    scene = mc.Scene()
    for k in range(6):
        scene.add_body(f"link{k}", mass=1.0, inertia=(1e-3, 0.02, 0.02), position=(0, 0, -0.25 - 0.5 * k))
        scene.add_joint(mc.BallJoint(f"link{k - 1}" if k else None, f"link{k}", (0, 0, -0.5 * k)))
    scene.add_body("weight", mass=1e5, inertia=(1e4,) * 3, position=(0, 0, -3.5))
    scene.add_joint(mc.BallJoint("link5", "weight", (0, 0, -3.0)))
    world = mc.World(scene)
    world.step(2)
    assert pieces(world) > 0
