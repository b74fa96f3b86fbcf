"""Materials that are told together by their names: in the scene, its file, and in every world."""

import copy
import pickle

import numpy as np
import pytest

import mcsim as mc

every_world = pytest.mark.parametrize("kind", [mc.World, mc.ReducedWorld])
G, SLOPE = 9.81, 0.3  # [m/s²], [rad]
ICE, WOOD, RUBBER = (mc.Material(friction=0.5, name=name) for name in ("ice", "wood", "rubber"))


def slope(*pairs, floor=ICE, shapes=(WOOD, RUBBER), **own):
    """A box of each material on a slope that goes down along x, whose gravity leans instead."""
    scene = mc.Scene(gravity=(G * np.sin(SLOPE), 0, -G * np.cos(SLOPE)))
    scene.add_body("floor", kind="static", shape=mc.Plane((0, 0, 1), material=floor))
    for k, material in enumerate(shapes):
        scene.add_body(f"box{k}", shape=mc.Box((0.2, 0.2, 0.1)), position=(0, k, 0.1), material=material, **own)
    for a, b, numbers in pairs:
        scene.set_material_pair(a, b, **numbers)
    return scene


def pull(friction):
    """[m/s²] of what slides down the slope."""
    return G * (np.sin(SLOPE) - friction * np.cos(SLOPE))


def test_each_pair_once_and_beside_those_of_bodies():
    """Pairs of bodies and of materials of the same names are two; what is said last of one stands."""
    scene = mc.Scene()
    for name in ("ice", "wood"):
        scene.add_body(name, shape=mc.Sphere(0.1))
    scene.set_pair("ice", "wood", friction=0.1)
    scene.set_material_pair(ICE, "wood", friction=0.2)
    scene.set_material_pair("wood", ICE, friction=0.3)
    scene.set_material_pair("ice", "ice", restitution=0.5)
    assert [(pair.of, pair.a, pair.b, pair.friction) for pair in scene.pair_materials] == [
        ("bodies", "ice", "wood", 0.1),
        ("materials", "wood", "ice", 0.3),
        ("materials", "ice", "ice", None),
    ]
    scene.set_material_pair("ice", "wood")
    assert [pair.of for pair in scene.pair_materials] == ["bodies", "materials"]


@pytest.mark.parametrize(
    "ends, numbers, words",
    [
        ((mc.Material(), "wood"), {"friction": 0.1}, "a is a material without a name; give it one"),
        (("ice", 3), {"friction": 0.1}, "b must be"),
        (("ice", "wood"), {"friction": -1}, "friction must not be negative, got -1"),
        (("ice", "wood"), {"restitution": 2.0}, r"restitution must be in \[0, 1\], got 2"),
    ],
)
def test_what_is_wrong_is_refused_by_name(ends, numbers, words):
    scene = slope()
    world = mc.World(scene)
    with pytest.raises(mc.SceneError, match=words):
        scene.set_material_pair(*ends, **numbers)
    with pytest.raises(mc.SceneError, match=f"World.set_material_pair.*{words}"):
        world.set_material_pair(*ends, **numbers)
    assert scene.pair_materials == [] == world.scene.pair_materials


def test_files_copies_and_other_scenes(tmp_path):
    scene = slope(("ice", "wood", {"friction": 0.02}), ("ice", "ice", {"restitution": 0.5}))
    scene.save(tmp_path / "slope.json")
    told = scene.to_dict()
    assert told["pair_materials"] == [
        {"a": "ice", "b": "wood", "friction": 0.02, "of": "materials"},
        {"a": "ice", "b": "ice", "restitution": 0.5, "of": "materials"},
    ]
    assert told["bodies"][1]["material"] == {"friction": 0.5, "name": "wood"}
    for other in (mc.load(tmp_path / "slope.json"), scene.copy(), pickle.loads(pickle.dumps(scene))):
        assert other == scene
    assert slope() != scene
    hall = mc.Scene()
    hall.add(scene, prefix="a.")
    hall.add(scene, prefix="b.")
    assert hall.pair_materials == scene.pair_materials  # materials are the same in every part
    assert scene.without({"box0"}, set()).pair_materials == scene.pair_materials
    with pytest.raises(mc.SceneError, match=r"pair_materials\[0\].of must be one of: bodies, materials"):
        mc.Scene.from_dict(told | {"pair_materials": [{"a": "ice", "b": "wood", "of": "shapes"}]})


@pytest.mark.parametrize("keywords", [{}, {"solver": "pgs"}, {"contact": "event"}], ids=["default", "pgs", "event"])
@every_world
def test_one_of_two_slides_as_its_material_says(kind, keywords):
    world = kind(slope(("ice", "wood", {"friction": 0.02})), dt=1 / 100, **keywords)
    world.step(50)
    assert world.velocities[1][0] == pytest.approx(pull(0.02) * 0.5, rel=2e-3)
    assert abs(world.velocities[2][0]) < 2e-3


@every_world
def test_two_bodies_stand_above_their_materials(kind):
    """And what they leave out is as the materials have it together."""
    scene = slope(("ice", "wood", {"friction": 0.02}), ("ice", "rubber", {"friction": 0.02}))
    scene.set_pair("floor", "box0", friction=2.0)
    scene.set_pair("floor", "box1", restitution=0.0)
    world = kind(scene, dt=1 / 100)
    world.step(50)
    assert abs(world.velocities[1][0]) < 2e-3
    assert world.velocities[2][0] == pytest.approx(pull(0.02) * 0.5, rel=2e-3)


@every_world
def test_a_material_with_itself_and_one_without_a_name(kind):
    """Ice on ice; what has no name is as its numbers say."""
    world = kind(slope(("ice", "ice", {"friction": 0.0}), shapes=(ICE, mc.Material(friction=0.5))), dt=1 / 100)
    world.step(50)
    assert world.velocities[1][0] == pytest.approx(pull(0.0) * 0.5, rel=2e-3)
    assert abs(world.velocities[2][0]) < 2e-3


@every_world
def test_restitution_and_rolling_friction(kind):
    """Of balls that fall and roll on one floor, by their materials' names alone."""
    scene = mc.Scene()
    scene.add_body("floor", kind="static", shape=mc.Plane((0, 0, 1)), material=ICE)
    scene.add_body("bounces", shape=mc.Sphere(0.1), position=(0, 0, 1.1), material=WOOD)
    scene.add_body("rolls", shape=mc.Sphere(0.1), position=(0, 2, 0.1), velocity=(1, 0, 0), angular_velocity=(0, 10, 0),
                   material=RUBBER)  # fmt: skip
    scene.set_material_pair("wood", "ice", restitution=0.8)
    scene.set_material_pair("ice", "rubber", rolling_friction=0.02)
    world = kind(scene, dt=1 / 240)
    fall = np.sqrt(2 / G)
    world.step(round(240 * fall) + 3)
    assert world.velocities[1][2] == pytest.approx(0.8 * np.sqrt(2 * G) - G * (world.time - fall), abs=0.08)
    assert world.velocities[2][0] == pytest.approx(max(0.0, 1.0 - 0.02 * G / (1.4 * 0.1) * world.time), abs=0.02)


@every_world
def test_while_it_runs(kind, tmp_path):
    """Told, told otherwise and taken back, it wakes what has the materials; copies go on to the same bits, snapshots have
    the pairs that they had."""
    world = kind(slope(), dt=1 / 100, sleep=mc.Sleep(time=0.1))
    world.step(50)
    assert world.asleep[1:].all()
    begin = world.snapshot()
    world.set_material_pair("ice", WOOD, friction=0.0)
    assert world.asleep.tolist()[1:] == [False, True]
    world.step(30)
    assert world.velocities[1][0] == pytest.approx(pull(0.0) * 0.3, rel=1e-2)
    world.add_body("late", shape=mc.Box((0.2, 0.2, 0.1)), position=(0, 3, 0.1), material=WOOD)
    world.save_state(tmp_path / "world.npz")
    copies = [
        copy.deepcopy(world),
        pickle.loads(pickle.dumps(world)),
        world.remade(),
        mc.load_state(tmp_path / "world.npz"),
    ]
    for each in (world, *copies):
        each.step(30)
    assert world.velocities[3][0] == pytest.approx(pull(0.0) * 0.3, rel=1e-2)
    for each in copies:
        assert each.state_hash() == world.state_hash()
    world.set_material("box0", RUBBER)
    world.step(100)
    assert abs(world.velocities[1][0]) < 2e-3 < world.velocities[3][0]
    world.restore(begin)
    assert world.scene.pair_materials == []


def test_a_mesh_and_parts_with_materials_of_their_own():
    """Each shape counts by itself: a sled with one runner of wood, on a floor whose mesh is ice."""
    corners = [(x, y, 0.0) for x in (-9, 9) for y in (-9, 9)]
    scene = mc.Scene(gravity=(G * np.sin(SLOPE), 0, -G * np.cos(SLOPE)))
    scene.add_body("floor", kind="static", shape=mc.Mesh(corners, [(0, 2, 3), (0, 3, 1)], material=ICE))
    parts = [mc.Box((0.1, 0.1, 0.1), position=(0, y, 0), material=of) for y, of in ((-0.3, WOOD), (0.3, WOOD))]
    scene.add_body("sled", shape=parts, position=(0, 0, 0.1), material=RUBBER)
    scene.set_material_pair("wood", "ice", friction=0.04)
    scene.set_material_pair("rubber", "ice", friction=2.0)  # no shape has it
    world = mc.World(scene, dt=1 / 100)
    world.step(50)
    assert world.velocities[1][0] == pytest.approx(pull(0.04) * 0.5, rel=5e-3)
