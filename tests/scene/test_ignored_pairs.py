"""Pairs of bodies that do not collide: in the scene, its file, and in both worlds through all that happens to them."""

import copy
import json
import pickle

import numpy as np
import pytest

import mcsim as mc
from mcsim.lab.nature import may_touch

WORLDS = [mc.World, mc.ReducedWorld]
every_world = pytest.mark.parametrize("kind", WORLDS)


def balls(count=3, pairs=(("ball0", "ball1"),)):
    """Balls that overlap, in a row along x, without gravity."""
    scene = mc.Scene(gravity=(0, 0, 0))
    for i in range(count):
        scene.add_body(f"ball{i}", shape=mc.Sphere(0.5), density=1000, position=(0.9 * i, 0, 0))
    for pair in pairs:
        scene.ignore_collision(*pair)
    return scene


def touching(world):
    """The pairs of bodies that push each other now."""
    rows = world.rows
    return {frozenset(world.body_names[i] for i in pair) for pair in rows["bodies"][rows["kind"] == "normal"]}


def pair(i, k):
    return frozenset((f"ball{i}", f"ball{k}"))


# ---- the scene -------------------------------------------------------------------------------------------------------


def test_pairs_by_name_or_handle_each_once():
    scene = balls(pairs=())
    scene.ignore_collision(scene.body("ball2"), "ball1")
    scene.ignore_collision("ball1", "ball2")
    assert scene.ignored_pairs == [("ball2", "ball1")]


@pytest.mark.parametrize(
    "given, words",
    [
        (("ball0", "bal1"), ["there is no body 'bal1'", "did you mean 'ball1'"]),
        (("ball0", 3), ["name or handle, got 3"]),
        (("ball0", "ball0"), ["ignore_collision: b is body 'ball0' too"]),
        ((None, "ball0"), ["got None"]),
    ],
)
def test_wrong_pairs_are_refused(given, words):
    scene = balls()
    with pytest.raises(mc.SceneError) as caught:
        scene.ignore_collision(*given)
    assert all(word in str(caught.value) for word in words) and scene.ignored_pairs == [("ball0", "ball1")]


def test_files_copies_and_equality(tmp_path):
    scene = balls(pairs=(("ball0", "ball1"), ("ball2", "ball1")))
    scene.save(tmp_path / "balls.json")
    assert json.loads((tmp_path / "balls.json").read_text())["ignored_pairs"] == [["ball0", "ball1"], ["ball2", "ball1"]]
    for other in (
        mc.load(tmp_path / "balls.json"),
        scene.copy(),
        pickle.loads(pickle.dumps(scene)),
        mc.Scene.from_dict(scene.to_dict()),
        balls(pairs=(("ball1", "ball2"), ("ball1", "ball0"))),
    ):
        assert other == scene
    assert balls() != scene and "ignored_pairs" not in balls(pairs=()).to_dict()
    other = scene.sharing_parts()
    other.ignore_collision("ball0", "ball2")
    assert len(scene.ignored_pairs) == 2
    assert scene.without({"ball1"}, set()).ignored_pairs == []


@pytest.mark.parametrize(
    "pairs, words",
    [
        ([["ball0"]], "ignored_pairs[0] must be the names of two bodies, got ['ball0']"),
        ([["ball0", "ball1"], ["ball0", "bell"]], "ignored_pairs[1] there is no body 'bell'"),
        ([["ball0", "ball0"]], "ignored_pairs[0].b is body 'ball0' too"),
        ([["ball0", 1]], "ignored_pairs[0][1] must be a string, got 1"),
        ("ball0", "ignored_pairs must be a list"),
        ([{"a": "ball0"}], "ignored_pairs[0] must be a list"),
    ],
)
def test_what_is_wrong_in_a_file_has_its_place(pairs, words):
    with pytest.raises(mc.SceneError) as caught:
        mc.Scene.from_dict(balls().to_dict() | {"ignored_pairs": pairs})
    assert words in str(caught.value)


def test_studies_know_that_they_cannot_touch():
    assert not may_touch(balls(2)) and may_touch(balls(2, ()))


# ---- worlds ----------------------------------------------------------------------------------------------------------


@every_world
def test_they_pass_through_each_other(kind):
    world = kind(balls())
    assert touching(world) == {pair(1, 2)}
    world.step(30)
    assert world.positions[0].tolist() == [0, 0, 0] and world.positions[2][0] > 1.8 and len(world.contacts) <= 1


@every_world
def test_through_changes_copies_and_snapshots(kind):
    """Bodies before them go, others come; a body of the same name later is another one; what is restored is as it was."""
    world = kind(balls(4, (("ball1", "ball2"),)))
    begin = world.snapshot()
    assert touching(world) == {pair(0, 1), pair(2, 3)}
    world.remove_body("ball0")
    assert touching(world) == {pair(2, 3)}
    world.set_body("ball1", collision_mask=1)
    for other in (copy.deepcopy(world), pickle.loads(pickle.dumps(world))):
        assert touching(other) == {pair(2, 3)}
    without = world.snapshot()
    world.remove_body("ball2")
    world.add_body("ball2", shape=mc.Sphere(0.5), density=1000, position=(1.8, 0, 0))
    assert touching(world) == {pair(1, 2), pair(2, 3)}
    later = pickle.loads(pickle.dumps(world.snapshot()))
    world.restore(without)
    assert touching(world) == {pair(2, 3)} and world.scene.ignored_pairs == [("ball1", "ball2")]
    world.restore(begin)
    assert touching(world) == {pair(0, 1), pair(2, 3)}
    world.restore(later)
    assert touching(world) == {pair(1, 2), pair(2, 3)} and world.scene.ignored_pairs == []
    world.remove_bodies(["ball1", "ball2", "ball3"])
    assert touching(world) == set()


@every_world
def test_they_are_seen_all_the_same(kind):
    """By rays and overlaps, which ask for no pair."""
    world = kind(balls(2))
    assert len(world.overlap(mc.Sphere(0.1), (0.45, 0, 0))) == 2
    assert world.ray_cast((-2, 0, 0), (1, 0, 0), 10).body.name == "ball0"


def test_the_same_bits_as_with_masks():
    """Two stacks that stand in each other, kept apart by pairs or by groups."""

    def stacks(by_pairs):
        scene = mc.Scene()
        scene.add_body("floor", shape=mc.Plane((0, 0, 1)), kind="static")
        for s in range(2):
            for i in range(3):
                groups = {} if by_pairs else {"collision_group": 2 << s, "collision_mask": 1 | 2 << s}
                scene.add_body(
                    f"{s}{i}", shape=mc.Box((0.2, 0.2, 0.2)), density=500, position=(0.1 * s, 0, 0.2 + 0.41 * i), **groups
                )
        for i in range(3 if by_pairs else 0):
            for k in range(3):
                scene.ignore_collision(f"0{i}", f"1{k}")
        return mc.World(scene)

    first, second = stacks(True), stacks(False)
    for world in (first, second):
        world.step(120)
    assert np.array_equal(first.positions, second.positions) and np.array_equal(first.velocities, second.velocities)


# ---- while a world runs ----------------------------------------------------------------------------------------------


def on_a_table(pairs=()):
    """A crate on a table over a floor."""
    scene = mc.Scene()
    scene.add_body("floor", shape=mc.Plane((0, 0, 1)), kind="static")
    scene.add_body("table", shape=mc.Box((1, 1, 0.1)), kind="static", position=(0, 0, 1))
    scene.add_body("crate", shape=mc.Box((0.2, 0.2, 0.2)), density=500, position=(0, 0, 1.3))
    for one in pairs:
        scene.ignore_collision(*one)
    return scene


@every_world
def test_it_falls_through_from_now_on(kind):
    """As one that never stood on it, to the bit; and stands on what it meets next."""
    world, other = kind(on_a_table(), dt=1 / 60), kind(on_a_table([("crate", "table")]), dt=1 / 60)
    world.step(20)
    assert world.positions[2][2] == pytest.approx(1.3, abs=1e-3)
    world.ignore_collision(world.body("crate"), "table")
    world.ignore_collision("table", "crate")  # again: nothing more
    assert world.scene.ignored_pairs == [("crate", "table")] and touching(world) == set()
    other.set_pose("crate", *(array[2] for array in (world.positions, world.orientations)))
    other.set_velocity("crate", world.velocities[2], world.angular_velocities[2])
    for one in (world, other):
        one.step(70)
    assert world.positions[2][2] == pytest.approx(0.2, abs=2e-3)
    assert np.array_equal(world.positions, other.positions) and np.array_equal(world.velocities, other.velocities)


@every_world
def test_it_collides_again(kind):
    world = kind(on_a_table([("crate", "table")]), dt=1 / 60)
    world.ignore_collision("table", "crate", False)
    world.step(30)
    assert world.positions[2][2] == pytest.approx(1.3, abs=1e-3) and world.scene.ignored_pairs == []


def test_what_sleeps_wakes():
    world = mc.World(on_a_table(), sleep=mc.Sleep(time=0.1))
    world.step(40)
    assert world.asleep[2]
    saved, twin = world.snapshot(), copy.deepcopy(world)
    for one in (world, twin):
        one.ignore_collision("crate", "table")
        assert not one.asleep[2]
        one.step(60)
    assert world.positions[2][2] < 0.5 and world.state_hash() == twin.state_hash()
    world.restore(saved)
    assert world.scene.ignored_pairs == [] and world.asleep[2]
    world.step(30)
    assert world.positions[2][2] == pytest.approx(1.3, abs=1e-3)


def test_of_a_scene_too():
    scene = balls()
    scene.ignore_collision("ball1", "ball0", False)
    scene.ignore_collision("ball1", "ball0", False)  # again: nothing more
    assert ("ball0", "ball1") not in scene.ignored_pairs
    scene.ignore_collision("ball1", "ball0")
    assert scene.ignored_pairs[-1] == ("ball1", "ball0")


@pytest.mark.parametrize(
    "given, words",
    [
        (("crate", "crate"), "World.ignore_collision: b is body 'crate' too"),
        (("crate", "tabel"), "unknown body 'tabel'; did you mean 'table'"),
        (("crate", "table", 3), "World.ignore_collision: ignored must be True or False, got 3"),
    ],
)
def test_a_world_refuses_by_name(given, words):
    world = mc.World(on_a_table())
    world.step()
    before = world.state_hash()
    with pytest.raises(mc.SceneError, match=words):
        world.ignore_collision(*given)
    assert world.state_hash() == before and world.scene.ignored_pairs == []
