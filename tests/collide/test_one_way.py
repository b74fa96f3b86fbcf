"""Surfaces that bear from one side alone: what comes from below flies as if there were nothing, and lands as on a floor."""

import numpy as np
import pytest

import mcsim as mc
from mcsim.core.rotation import matrix

LEDGE = mc.Material(one_way=(0, 0, 1))
SHAPES = {
    "box": mc.Box((0.2, 0.2, 0.2)),
    "sphere": mc.Sphere(0.2),
    "capsule": mc.Capsule(0.1, 0.1),
    "cylinder": mc.Cylinder(0.2, 0.2),
    "hull": mc.ConvexHull([(x, y, z) for x in (-0.2, 0.2) for y in (-0.2, 0.2) for z in (-0.2, 0.2)]),
}
FLAT = np.array([[-2.0, -2.0, 0.05], [2.0, -2.0, 0.05], [2.0, 2.0, 0.05], [-2.0, 2.0, 0.05]])
LEDGES = {
    "box": mc.Box((2, 2, 0.05)),
    "hull": mc.ConvexHull([(x, y, z) for x in (-2, 2) for y in (-2, 2) for z in (-0.05, 0.05)]),
    "mesh": mc.Mesh(FLAT, [(0, 1, 2), (0, 2, 3)]),
    "plane": mc.Plane(normal=(0, 0, 1), offset=0.05),
}


def thrown(
    velocity, place=(0.0, 0.0, -1.0), shape=SHAPES["box"], ledge=LEDGES["box"], make=mc.World, kind="static", **keywords
):
    scene = mc.Scene()
    if ledge is not None:
        scene.add_body("ledge", shape=ledge, kind=kind, material=LEDGE)
    scene.add_body("b", shape=shape, position=place, velocity=velocity)
    return make(scene, **keywords)


def path(world, steps):
    found = []
    for _ in range(steps):
        world.step(1)
        found.append(world.body("b").position[2])
    return np.array(found)


@pytest.mark.parametrize("make", [mc.World, mc.ReducedWorld])
@pytest.mark.parametrize("speed", [4.6, 6.0, 15.0, 60.0])
@pytest.mark.parametrize("shape", SHAPES)
def test_up_through_it_and_onto_it(shape, speed, make):
    """On the way up, and down where it turns within the ledge, to the bit as without it; else it comes to rest on top."""
    steps = round((2.2 * speed / 9.81 + 1.0) / make(mc.Scene()).dt)
    found = path(thrown((0, 0, speed), shape=SHAPES[shape], make=make), steps)
    free = path(thrown((0, 0, speed), shape=SHAPES[shape], ledge=None, make=make), steps)
    top = np.argmax(free)
    assert np.array_equal(found[: top + 1], free[: top + 1])
    if speed == 4.6:  # its highest point is 0.08 m, deep inside
        assert np.array_equal(found, free)
    else:
        assert found[-1] == pytest.approx(0.25, abs=2e-3) and found[top:].min() > 0.2


@pytest.mark.parametrize("ledge", LEDGES)
@pytest.mark.parametrize("speed", [0.0, 5.0, 100.0])
def test_from_above_it_bears_as_any_floor(ledge, speed):
    """As fast as it may come, to the bit as a floor without a side."""
    ledges = []
    for material in (LEDGE, mc.Material()):
        scene = mc.Scene()
        scene.add_body("ledge", shape=LEDGES[ledge], kind="static", material=material)
        scene.add_body("b", shape=SHAPES["box"], position=(0, 0, 3), velocity=(0.3, 0, -speed), angular_velocity=(1, 2, 3))
        ledges.append(mc.World(scene))
        ledges[-1].step(200)
    assert np.array_equal(ledges[0].positions, ledges[1].positions)
    assert ledges[0].body("b").position[2] > 0.24


@pytest.mark.parametrize("ledge", ["mesh", "plane", "hull"])
def test_other_ledges_let_through(ledge):
    shape = SHAPES["sphere"]
    if ledge == "plane":  # which has no other side: what is under it is inside
        found, free = (path(thrown((0, 0, 6), shape=shape, ledge=kind), 30) for kind in (LEDGES[ledge], None))
        assert np.array_equal(found[:10], free[:10])
        return
    found = path(thrown((0, 0, 6), shape=shape, ledge=LEDGES[ledge]), 240)
    free = path(thrown((0, 0, 6), shape=shape, ledge=None), 240)
    top = np.argmax(free)
    assert np.array_equal(found[: top + 1], free[: top + 1]) and found[-1] == pytest.approx(0.25, abs=2e-3)


def test_from_the_side_it_passes():
    found = thrown((3, 0, 0), place=(-3, 0, 0), ledge=LEDGES["box"])
    found.gravity = (0, 0, 0)
    found.step(120)
    assert found.body("b").velocity == pytest.approx((3, 0, 0), abs=0.0)


def test_a_heavy_stack_stays_on_it():
    scene = mc.Scene()
    scene.add_body("ledge", shape=LEDGES["box"], kind="static", material=LEDGE)
    for i in range(10):
        density = 1000.0 * 10.0 ** (i / 4)
        scene.add_body(f"b{i}", shape=mc.Box((0.2, 0.2, 0.2)), position=(0, 0, 0.25 + 0.4 * i), density=density)
    world = mc.World(scene)
    world.step(300)
    assert world.positions[1:, 2] == pytest.approx(0.25 + 0.4 * np.arange(10), abs=0.03)


def test_a_lift_takes_along_what_stands_on_it_and_passes_what_it_meets_from_below():
    scene = mc.Scene()
    scene.add_body("lift", shape=LEDGES["box"], kind="kinematic", velocity=(0, 0, 1), material=LEDGE)
    scene.add_body("on", shape=SHAPES["box"], position=(-1, 0, 0.25))
    scene.add_body("beam", shape=mc.Box((0.1, 2.0, 0.1)), position=(1, 0, 1.5), gravity_scale=0.0)
    world = mc.World(scene)
    world.step(20)
    assert world.body("on").position[2] == pytest.approx(world.body("lift").position[2] + 0.25, abs=2e-3)
    falling = mc.World(scene)
    falling.set_material("lift", mc.Material(one_way=(0, 0, -1)))
    falling.step(60)
    assert falling.body("on").position[2] < 0.0


def test_a_turned_scene_is_the_same_scene():
    """Ledge, side, way and gravity turned about."""
    turn = np.array([0.5, 0.5, -0.1, np.sqrt(1 - 0.51)])
    r = matrix(turn)
    plain = thrown((0.3, 0, 6.0))
    scene = mc.Scene(gravity=r @ (0, 0, -9.81))
    scene.add_body("ledge", shape=LEDGES["box"], kind="static", material=LEDGE, orientation=turn)
    scene.add_body("b", shape=SHAPES["box"], position=r @ (0, 0, -1.0), velocity=r @ (0.3, 0, 6.0), orientation=turn)
    turned = mc.World(scene)
    for world in (plain, turned):
        world.step(150)
    assert turned.positions[1] == pytest.approx(r @ plain.positions[1], abs=1e-6)
    assert plain.positions[1, 2] == pytest.approx(0.25, abs=2e-3)


def test_a_side_is_of_the_body_whatever_way_the_shape_lies_in_it():
    scene = mc.Scene()
    flat = mc.Box((0.05, 2, 2), orientation=(np.sqrt(0.5), 0, np.sqrt(0.5), 0))
    scene.add_body("ledge", shape=flat, kind="static", material=LEDGE)
    scene.add_body("b", shape=SHAPES["box"], position=(0, 0, -1), velocity=(0, 0, 6))
    found = path(mc.World(scene), 240)
    assert found.max() > 0.8 and found[-1] == pytest.approx(0.25, abs=2e-3)


def test_copies_and_files_have_it():
    world = thrown((0, 0, 6.0))
    world.step(20)
    others = [thrown((0, 0, 6.0)), mc.World(mc.Scene.from_dict(world.to_scene().to_dict()))]
    others[0].restore(world.snapshot())
    for each in (world, *others):
        each.step(120)
    assert others[0].state_hash() == world.state_hash()
    assert others[1].positions == pytest.approx(world.positions, abs=1e-9)
    assert mc.Material(one_way=(0, 0, 2)).one_way == pytest.approx((0, 0, 1), abs=0)
    assert mc.Material(one_way=(0, 0, 1)) == LEDGE != mc.Material()


@pytest.mark.parametrize("value, message", [((0, 0, 0), "one_way must not be zero"), ((1, 2), "one_way must be 3 numbers")])
def test_bad_sides_are_refused(value, message):
    with pytest.raises(mc.SceneError, match=message):
        mc.Material(one_way=value)


def test_event_driven_worlds_refuse_it():
    with pytest.raises(mc.SceneError, match="leave one_way out of its Material"):
        thrown((0, 0, 0), contact="event")
