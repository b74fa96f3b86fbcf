"""What is found out about articulations is found once, for all that are alike, and as long as one of them is there."""

import gc
import weakref

import mcsim as mc
from mcsim.solve import ordering
from mcsim.solve.structures import Structures


def test_it_is_found_once_and_freed_with_the_last_who_has_it():
    asked = []
    structures = Structures(lambda *structure: asked.append(structure) or [structure])
    first, second = structures("key", 1, 2), structures("key", 1, 2)
    assert first is second and first.value == [(1, 2)] and asked == [(1, 2)]
    assert structures("other", 3) is not first
    seen = weakref.ref(first)
    del first, second
    gc.collect()
    assert seen() is None
    structures("key", 1, 2)
    assert asked == [(1, 2), (3,), (1, 2)]


def test_joints_that_come_leave_the_order_of_others_as_it_is(monkeypatch):
    """Those of a chain are not put in order anew when two other bodies are joined, nor when a second chain comes."""
    scene = mc.Scene()
    for number in range(30):
        scene.add_body(f"b{number}", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(0.3 * number, 0.0, 0.0))
    for number in range(1, 20):
        scene.add_joint(mc.BallJoint(f"b{number - 1}", f"b{number}", anchor=(0.3 * number - 0.15, 0.0, 0.0)))
    world = mc.World(scene)
    found, counts = ordering._minimum_degree, []
    monkeypatch.setattr(ordering, "_minimum_degree", lambda *given: counts.append(given[0]) or found(*given))
    world.add_joint(mc.BallJoint("b20", "b21", anchor=(6.15, 0.0, 0.0)))
    world.remove_joint(world.joint_names[-1])
    mc.World(scene)
    assert counts == [1]
    world.remove_joint(world.joint_names[9])
    assert counts == [1, 9]  # two chains of nine, which are alike
