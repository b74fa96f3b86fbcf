"""Studies of what touches are measured against a run from event to event."""

import numpy as np
import pytest

import mcsim as mc
from mcsim.lab.reference import find_reference

FLOOR = mc.Material(friction=0.5, restitution=0.5)


def bouncing():
    """A ball without spin, that strikes the floor at 0.2857 s and again after its flight."""
    scene = mc.Scene(name="bouncing")
    scene.add_body("floor", kind="static", shape=mc.Plane((0, 0, 1)), material=FLOOR)
    scene.add_body("ball", shape=mc.Sphere(0.1), density=1000, position=(0, 0, 0.5), material=FLOOR)
    return scene


def height(t):
    """Of its lowest point."""
    fall, speed = np.sqrt(2 * 0.4 / 9.81), np.sqrt(2 * 0.4 * 9.81)
    later = t - fall
    return np.where(t < fall, 0.4 - 9.81 * t**2 / 2, 0.5 * speed * later - 9.81 * later**2 / 2)


@pytest.mark.parametrize("dts", [[1 / 120], [1 / 60, 1 / 97], [1 / 20, 1 / 61, 1 / 122]])
def test_a_bounce_is_where_it_is(dts):
    """In closed form; a method's distance is that to it. Halved steps had agreed by chance here, at a wrong bounce: two of
    them strike the floor at the same time."""
    methods = ["reduced:aba", "maximal:event", "reduced:event"]
    found = mc.compare(bouncing(), methods, 0.5, dts, timing=False)
    assert found.reference.label.startswith("maximal:event, step")
    assert found.reference.positions[:, 0, 2] == pytest.approx(height(found.reference.time) + 0.1, abs=1e-12)
    assert found.reference.position_doubt.max() < 1e-12
    for name in methods:
        for dt in dts:
            (run,) = (run for run in found.series[name] if run.dt == dt)
            off = np.abs(run.positions[:, 1, 2] - height(run.time) - 0.1)
            assert run.position_distance == pytest.approx(off, abs=1e-12)
            assert (off.max() < 1e-12) == name.endswith("event")


def test_steps_that_come_to_lie_in_each_other():
    """Those of 0.03 s in those of 0.04 s, once they are halved twice: nothing is left for a run of its own."""
    reference = find_reference(bouncing(), [0.04, 0.03], 0.12, "maximal:event", tolerance=1e-30)
    assert reference.time == pytest.approx([0, 0.03, 0.04, 0.06, 0.08, 0.09, 0.12])
    assert reference.positions[:, 0, 2] == pytest.approx(height(reference.time) + 0.1, abs=1e-12)


def test_what_it_cannot_or_may_not_do_is_left_to_halved_steps():
    """A budget that two runs from event to event do not keep within; a motion as a function of time, which they refuse."""
    found = mc.compare(bouncing(), "maximal:tree+soft", 0.1, budget=100_000, timing=False)
    assert found.reference.label.startswith("reduced:aba, step")
    scene = bouncing()
    scene.add_body("rotor", mass=1, inertia=(0.1, 0.1, 0.1), position=(3, 0, 1))
    motion = mc.Motion(velocity=1.0)
    scene.add_joint(mc.HingeJoint(None, "rotor", (3, 0, 1), (0, 0, 1), motion=motion))
    found = mc.compare(scene, "maximal:tree+soft", 0.05, timing=False)
    assert found.reference.label.startswith("reduced:aba, step")


def test_it_may_be_asked_for():
    """Also of what is smooth, by name, or as an object's keyword of a method."""
    found = mc.compare(mc.scenes.pendulum(), "maximal:tree+soft", 0.2, 1 / 60, reference="maximal:event", timing=False)
    assert found.reference.label.startswith("maximal:event, step") and found.reference.position_doubt.max() < 1e-6
    method = mc.lab.methods.given("mine", {"contact": mc.EventContact(restitution_law="newton")})
    found = mc.compare(bouncing(), "maximal:event", 0.4, reference=method, timing=False, budget=10)
    assert found.reference.label.startswith("mine, step")
    assert found.runs["maximal:event"].position_distance.max() < 1e-12
