"""Surfaces of pairs of bodies that are told together: in the scene, its file, and in every world through all that happens
to it."""

import copy
import json
import pickle

import numpy as np
import pytest

import mcsim as mc

WORLDS = [mc.World, mc.ReducedWorld]
every_world = pytest.mark.parametrize("kind", WORLDS)
G, SLOPE = 9.81, 0.3  # [m/s²], [rad]


def slope(pairs=(), count=2, spin=0.0, **material):
    """Boxes side by side on a slope that goes down along x, whose gravity leans instead."""
    scene = mc.Scene(gravity=(G * np.sin(SLOPE), 0, -G * np.cos(SLOPE)))
    scene.add_body("ice", kind="static", shape=mc.Plane((0, 0, 1)), material=mc.Material(**material))
    for k in range(count):
        scene.add_body(f"box{k}", shape=mc.Box((0.2, 0.2, 0.1)), position=(0, k, 0.1), material=mc.Material(**material))
    for a, b, numbers in pairs:
        scene.set_pair(a, b, **numbers)
    return scene


def pull(friction):
    """[m/s²] of what slides down the slope."""
    return G * (np.sin(SLOPE) - friction * np.cos(SLOPE))


def balls(pairs=(), restitution=0.0):
    """Two balls that fall 1 m onto a floor."""
    scene = mc.Scene()
    scene.add_body("floor", kind="static", shape=mc.Plane((0, 0, 1)))
    for k in range(2):
        material = mc.Material(restitution=restitution)
        scene.add_body(f"ball{k}", shape=mc.Sphere(0.1), position=(0, k, 1.1), material=material)
    for a, b, numbers in pairs:
        scene.set_pair(a, b, **numbers)
    return scene


# ---- the scene -------------------------------------------------------------------------------------------------------


def test_each_pair_once_and_whole():
    """What is said last stands, in the place of what was said before; nothing said is no pair."""
    scene = slope()
    scene.set_pair("ice", scene.body("box0"), friction=0.02)
    scene.set_pair("box1", "ice", restitution=0.5)
    scene.set_pair("box0", "ice", torsional_friction=0.1)
    assert [(pair.a, pair.b, pair.numbers) for pair in scene.pair_materials] == [
        ("box0", "ice", (None, None, None, 0.1)),
        ("box1", "ice", (None, 0.5, None, None)),
    ]
    scene.set_pair("box0", "ice")
    scene.set_pair("box0", "box1")
    assert [pair.b for pair in scene.pair_materials] == ["ice"]


@pytest.mark.parametrize(
    "ends, numbers, words",
    [
        (("ice", "boks0"), {"friction": 0.1}, "there is no body 'boks0'; did you mean 'box0'"),
        (("ice", "ice"), {"friction": 0.1}, "PairMaterial: b is body 'ice' too"),
        (("ice", "box0"), {"friction": -1}, "PairMaterial: friction must not be negative, got -1"),
        (("ice", "box0"), {"restitution": 1.5}, r"PairMaterial: restitution must be in \[0, 1\], got 1.5"),
        (("ice", "box0"), {"rolling_friction": "no"}, "PairMaterial: rolling_friction must be a number"),
        (("ice", "box0"), {"torsional_friction": np.nan}, "PairMaterial: torsional_friction must be finite"),
    ],
)
def test_what_is_wrong_is_refused_by_name(ends, numbers, words):
    scene = slope()
    with pytest.raises(mc.SceneError, match=words):
        scene.set_pair(*ends, **numbers)
    assert scene.pair_materials == []


def test_files_copies_and_equality(tmp_path):
    pairs = [("ice", "box0", {"friction": 0.02}), ("box1", "ice", {"restitution": 0.25, "rolling_friction": 0.1})]
    scene = slope(pairs)
    scene.save(tmp_path / "slope.json")
    assert json.loads((tmp_path / "slope.json").read_text())["pair_materials"] == [
        {"a": "ice", "b": "box0", "friction": 0.02},
        {"a": "box1", "b": "ice", "restitution": 0.25, "rolling_friction": 0.1},
    ]
    for other in (
        mc.load(tmp_path / "slope.json"),
        scene.copy(),
        pickle.loads(pickle.dumps(scene)),
        mc.Scene.from_dict(scene.to_dict()),
        slope([(b, a, numbers) for a, b, numbers in reversed(pairs)]),
    ):
        assert other == scene
    assert slope() != scene and slope(pairs[:1]) != scene and "pair_materials" not in slope().to_dict()
    other = scene.sharing_parts()
    other.set_pair("ice", "box0")
    assert len(scene.pair_materials) == 2 and len(other.pair_materials) == 1
    assert [pair.a for pair in scene.without({"box0"}, set()).pair_materials] == ["box1"]
    hall = mc.Scene()
    hall.add(scene, prefix="a.")
    hall.add(scene, prefix="b.")
    assert [(pair.a, pair.friction) for pair in hall.pair_materials][::2] == [("a.ice", 0.02), ("b.ice", 0.02)]


@pytest.mark.parametrize(
    "pairs, words",
    [
        ([{"a": "ice"}], "pair_materials[0].b is missing"),
        ([{"a": "ice", "b": "bell"}], "pair_materials[0].b is wrong: there is no body 'bell'"),
        ([{"a": "ice", "b": "ice"}], "pair_materials[0].b is body 'ice' too"),
        (
            [{"a": "ice", "b": "box0", "fricton": 1}],
            "pair_materials[0] has an unknown field 'fricton'; did you mean 'friction'",
        ),
        ([{"a": "ice", "b": "box0", "friction": -1}], "pair_materials[0].friction must not be negative"),
        ([["ice", "box0"]], "pair_materials[0] must be an object"),
    ],
)
def test_what_is_wrong_in_a_file_has_its_place(pairs, words):
    with pytest.raises(mc.SceneError) as caught:
        mc.Scene.from_dict(slope().to_dict() | {"pair_materials": pairs})
    assert words in str(caught.value)


# ---- worlds ----------------------------------------------------------------------------------------------------------

# Each way in which contacts are solved.
WAYS = [
    {},
    {"solver": "pgs"},
    {"friction": "pyramid", "friction_points": "point"},
    {"stabilization": "baumgarte"},
    {"integrator": "rk4"},
    {"solver": "admm"},
    {"contact": "event"},
]


@pytest.mark.parametrize("keywords", WAYS, ids=lambda k: "-".join(k.values()) or "default")
@every_world
def test_one_of_two_slides_as_its_pair_says(kind, keywords):
    world = kind(slope([("box0", "ice", {"friction": 0.02})]), dt=1 / 100, **keywords)
    world.step(50)
    assert world.velocities[1][0] == pytest.approx(pull(0.02) * 0.5, rel=2e-3)
    assert abs(world.velocities[2][0]) < 2e-3


@every_world
def test_under_compliant_contact(kind):
    scene = slope([("box0", "ice", {"friction": 0.0})], stiffness=1e5, damping=300.0)
    world = kind(scene, dt=1 / 1000, contact="compliant")
    world.step(500)
    assert world.velocities[1][0] == pytest.approx(pull(0.0) * 0.5, rel=2e-3)
    assert abs(world.velocities[2][0]) < 0.02


@pytest.mark.parametrize("own, said", [(0.0, 0.8), (0.8, 0.0), (0.3, 0.6)])
@every_world
def test_restitution_of_a_pair(kind, own, said):
    """Whether any material has one or none, and the other ball comes back by its own."""
    world = kind(balls([("floor", "ball1", {"restitution": said})], own), dt=1 / 240)
    fall = np.sqrt(2 / G)
    world.step(round(240 * fall) + 3)
    struck, after = np.sqrt(2 * G), world.time - fall
    for k, e in enumerate((own, said)):
        assert world.velocities[1 + k][2] == pytest.approx(e * struck - (G * after if e else 0.0), abs=0.08)


def test_restitution_of_a_pair_between_events():
    world = mc.World(balls([("floor", "ball1", {"restitution": 0.5})]), contact="event", dt=0.01)
    world.step(55)
    fall = np.sqrt(2 / G)
    after = 0.55 - fall
    assert world.positions[2][2] == pytest.approx(0.1 + 0.5 * np.sqrt(2 * G) * after - G * after**2 / 2, abs=1e-9)
    assert world.positions[1][2] == pytest.approx(0.1, abs=1e-9)


def test_events_refuse_what_they_do_not_know():
    with pytest.raises(mc.SceneError, match="the pair 'floor', 'ball0' has rolling_friction"):
        mc.World(balls([("floor", "ball0", {"rolling_friction": 0.1})]), contact="event").step()


@every_world
def test_rolling_and_torsional_friction_of_a_pair(kind):
    """Of two balls that roll and spin one meets a soft floor, by its pair alone."""
    scene, soft = balls(), {"rolling_friction": 0.02, "torsional_friction": 0.03}
    scene.set_pair("ball1", "floor", **soft)
    world = kind(scene, dt=1 / 200)
    for k in range(2):
        world.set_pose(f"ball{k}", (0, k, 0.1))
        world.set_velocity(f"ball{k}", (1, 0, 0), (0, 10, 8))
    world.step(60)
    t = 0.3
    # About the point of contact: 7/5 m r² a = rolling m g r / r; about the normal 2/5 m r² a = torsional m g.
    assert world.velocities[2][0] == pytest.approx(1.0 - 0.02 * G / (1.4 * 0.1) * t, abs=0.02)
    assert world.angular_velocities[2][2] == pytest.approx(max(0.0, 8.0 - 0.03 * G / (0.4 * 0.01) * t), abs=0.05)
    assert world.velocities[1][0] == pytest.approx(1.0, abs=1e-3)
    assert world.angular_velocities[1][2] == pytest.approx(8.0, abs=0.3)
    world.set_pair("floor", "ball1")
    before = world.velocities[2].copy()
    world.step(20)
    assert world.velocities[2] == pytest.approx(before, abs=1e-3)


@every_world
def test_a_pair_that_says_what_the_materials_say_has_their_bits(kind):
    """And one of bodies that never meet changes none."""
    pairs = [("ice", "box0", {"friction": 0.25, "restitution": 0.0}), ("box0", "box1", {"friction": 0.9})]
    first, second = (kind(slope(of, friction=0.25)) for of in (pairs, ()))
    for world in (first, second):
        world.step(60)
    assert first.state_hash() == second.state_hash()


@every_world
def test_while_it_runs(kind):
    """It stops by its friction, slides on without one, and again as its material says; each as a world that began so."""
    world = kind(slope([("ice", "box0", {"friction": 0.0})]), dt=1 / 100)
    world.step(50)
    assert world.velocities[1][0] == pytest.approx(pull(0.0) * 0.5, rel=1e-3)
    world.set_pair("box0", world.body("ice"), friction=2.0)
    world.set_pair("box0", "ice", friction=2.0)  # again: nothing more
    assert [(pair.a, pair.friction) for pair in world.scene.pair_materials] == [("box0", 2.0)]
    world.step(50)
    assert abs(world.velocities[1][0]) < 1e-3
    world.set_pair("ice", "box0", friction=0.1)
    world.step(50)
    assert world.velocities[1][0] == pytest.approx(pull(0.1) * 0.5, rel=0.02)
    world.set_pair("ice", "box0")
    assert world.scene.pair_materials == []
    world.step(100)
    assert abs(world.velocities[1][0]) < 1e-3


CHANGES = {
    "pair": lambda w: w.set_pair("ice", "box0", friction=0.1),
    "materials": lambda w: w.set_material("box0", mc.Material(friction=0.1**2 / 0.6)),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
@pytest.mark.parametrize("keywords", WAYS[:4], ids=lambda k: "-".join(k.values()) or "default")
@every_world
def test_less_friction_counts_from_the_next_step_on(kind, keywords, change):
    """What held slides in the very next step as it does from then on, in both worlds; a cylinder on its cap, whose contact
    has many points, as a box does."""
    scene = slope(count=2)
    scene.add_body("can", shape=mc.Cylinder(0.2, 0.1), position=(0, 3, 0.1))
    world = kind(scene, dt=1 / 100, **keywords)
    world.step(20)
    assert np.abs(world.velocities).max() < 1e-3
    change(world)
    world.set_pair("can", "ice", friction=0.1)
    for k in range(1, 4):
        world.step()
        for name in ("box0", "can"):
            assert world.body(name).velocity[0] == pytest.approx(pull(0.1) * k / 100, rel=0.01)
        assert abs(world.body("box1").velocity[0]) < 1e-3


@every_world
def test_copies_snapshots_and_changes(kind, tmp_path):
    """Bodies before them go and come back; what is restored has the pairs that it had; copies go on to the same bits."""
    world = kind(slope([("ice", "box2", {"friction": 0.05}), ("ice", "box0", {"friction": 0.0})], 3), dt=1 / 100)
    begin = world.snapshot()
    world.step(10)
    world.remove_body("box0")
    world.set_pair("ice", "box1", friction=0.1)
    world.add_body("late", shape=mc.Box((0.2, 0.2, 0.1)), position=(0, 3, 0.1))
    world.set_pair("late", "ice", friction=0.0)
    world.save_state(tmp_path / "world.npz")
    copies = [
        copy.deepcopy(world),
        pickle.loads(pickle.dumps(world)),
        world.remade(),
        mc.load_state(tmp_path / "world.npz"),
    ]
    told = world.to_scene()
    assert [(pair.b, pair.friction) for pair in told.pair_materials] == [("box2", 0.05), ("box1", 0.1), ("ice", 0.0)]
    later, t = world.snapshot(), 0.3
    for each in (world, *copies):
        each.step(30)
    v = dict(zip(world.body_names, world.velocities[:, 0]))
    assert v["box1"] == pytest.approx(pull(0.1) * t, rel=5e-3)
    assert v["late"] == pytest.approx(pull(0.0) * t, rel=5e-3)
    assert v["box2"] == pytest.approx(pull(0.05) * 0.4, rel=5e-3)
    for each in copies:
        assert each.state_hash() == world.state_hash() and each.scene.pair_materials == world.scene.pair_materials
    end = world.state_hash()
    world.restore(begin)
    assert [pair.b for pair in world.scene.pair_materials] == ["box2", "box0"]
    world.step(30)
    assert world.velocities[1][0] == pytest.approx(pull(0.0) * 0.3, rel=5e-3)
    world.restore(later)
    world.step(30)
    assert world.state_hash() == end


def test_what_sleeps_wakes():
    world = mc.World(slope(count=1), sleep=mc.Sleep(time=0.1))
    world.step(40)
    assert world.asleep[1]
    world.set_pair("ice", "box0", friction=0.0)
    assert not world.asleep[1]
    world.step(30)
    assert world.velocities[1][0] == pytest.approx(pull(0.0) * 0.5, rel=1e-2)


@pytest.mark.parametrize(
    "given, numbers, words",
    [
        (("box0", "box0"), {}, "World.set_pair: b is body 'box0' too"),
        (("box0", "ise"), {}, "unknown body 'ise'; did you mean 'ice'"),
        (("box0", "ice"), {"friction": -0.5}, "World.set_pair: friction must not be negative, got -0.5"),
    ],
)
def test_a_world_refuses_by_name(given, numbers, words):
    world = mc.World(slope())
    world.step()
    before = world.state_hash()
    with pytest.raises(mc.SceneError, match=words):
        world.set_pair(*given, **numbers)
    assert world.state_hash() == before and world.scene.pair_materials == []
    with pytest.raises(mc.SceneError, match="to be read"):
        world.scene.set_pair("ice", "box0", friction=0.1)


def test_in_meshes_and_compounds():
    """Every shape of the two bodies, whatever materials of their own they have."""
    corners = [(x, y, 0.0) for x in (-9, 9) for y in (-9, 9)]
    scene = mc.Scene(gravity=(G * np.sin(SLOPE), 0, -G * np.cos(SLOPE)))
    scene.add_body("ice", kind="static", shape=mc.Mesh(corners, [(0, 2, 3), (0, 3, 1)], material=mc.Material(0.9)))
    parts = [mc.Box((0.1, 0.1, 0.1), position=(x, 0, 0), material=mc.Material(0.2 + x)) for x in (-0.1, 0.1)]
    scene.add_body("sled", shape=parts, position=(0, 0, 0.1))
    scene.set_pair("sled", "ice", friction=0.04)
    world = mc.World(scene, dt=1 / 100)
    world.step(50)
    assert world.velocities[1][0] == pytest.approx(pull(0.04) * 0.5, rel=5e-3)
