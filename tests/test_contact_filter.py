"""A function that says which bodies meet: asked once a pair, with the motion of a scene that ignores the same pairs."""

import copy
import pickle

import numpy as np
import pytest

import mcsim as mc

KINDS = [mc.World, mc.ReducedWorld]


def crowd(n=12, seed=0, ignored=None, make=mc.World, **keywords):
    """Balls and boxes that fall on each other; every third one is a ghost."""
    rng = np.random.default_rng(seed)
    scene = mc.Scene()
    scene.add_body("floor", kind="static", shape=mc.Plane((0, 0, 1)))
    for i in range(n):
        shape = mc.Sphere(0.2) if i % 2 else mc.Box((0.2, 0.15, 0.1))
        scene.add_body(
            f"b{i}", shape=shape, position=(*rng.uniform(-0.4, 0.4, 2), 0.3 + 0.4 * i), user_data={"ghost": i % 3 == 0}
        )
    for a in scene.bodies[1:] if ignored else ():
        for b in scene.bodies[1 : a.index]:
            if not ignored(a, b):
                scene.ignore_collision(a.name, b.name)
    return make(scene, dt=1 / 60, **keywords)


def solid(a, b):
    """Ghosts pass through each other, and meet all others."""
    return not (a.user_data and b.user_data and a.user_data["ghost"] and b.user_data["ghost"])


def never(a, b):
    return False


@pytest.mark.parametrize("make", KINDS)
def test_it_is_as_if_the_scene_ignored_the_pairs(make):
    world, other = crowd(make=make), crowd(make=make, ignored=solid)
    world.contact_filter = solid
    for each in (world, other):
        each.step(150)
    assert np.array_equal(world.positions, other.positions) and np.array_equal(world.velocities, other.velocities)
    plain = crowd(make=make)
    plain.step(150)
    assert not np.array_equal(plain.positions, world.positions)


@pytest.mark.parametrize("make", KINDS)
def test_it_is_asked_once_of_every_pair_that_comes_near(make):
    asked = []

    def note(a, b):
        asked.append((a.name, b.name))
        return solid(a, b)

    world = crowd(make=make)
    world.contact_filter = note
    world.step(150)
    begun = world.events.begin
    touched = {tuple(sorted((world.body_names[e["body_a"]], world.body_names[e["body_b"]]))) for e in begun}
    assert len(asked) == len(set(asked)) and {tuple(sorted(pair)) for pair in asked} >= touched
    before = len(asked)
    assert 11 <= before < 13 * 12 / 2
    world.step(100)
    assert len(asked) <= before + 5


def test_bullets_and_fast_bodies_pass_too():
    for bullet in (False, True):
        scene = mc.Scene(gravity=(0, 0, 0))
        scene.add_body("wall", kind="static", shape=mc.Box((0.05, 5, 5)))
        scene.add_body("shot", shape=mc.Sphere(0.1), position=(-3, 0, 0), velocity=(200, 0, 0), bullet=bullet)
        world = mc.World(scene)
        world.contact_filter = never
        world.step(30)
        assert world.body("shot").velocity == pytest.approx((200, 0, 0), abs=0.0)


def test_it_is_taken_away_and_changed_while_the_world_runs():
    scene = mc.Scene()
    scene.add_body("ledge", kind="static", shape=mc.Box((1, 1, 0.1)))
    scene.add_body("box", shape=mc.Box((0.2, 0.2, 0.2)), position=(0, 0, 0.3))
    world = mc.World(scene)
    world.contact_filter = lambda a, b: True
    world.step(200)
    assert world.body("box").asleep
    world.contact_filter = never
    world.step(10)
    assert world.body("box").position[2] < 0.25
    world.contact_filter = None
    assert world.contact_filter is None
    world.set_pose("box", (0, 0, 0.3))
    world.step(30)
    assert world.body("box").position[2] == pytest.approx(0.3, abs=1e-3)


def test_it_goes_with_changes_of_the_world():
    """Bodies that come later are asked of, those that go leave the others' answers, and settings change under it."""
    world = crowd()
    world.contact_filter = solid
    world.step(30)
    world.add_body("late", shape=mc.Sphere(0.2), position=(0, 0, 6.0), user_data={"ghost": True})
    world.remove_body("b1")
    world.change_settings(iterations=12)
    world.ignore_collision("b2", "b4")
    world.step(200)
    pairs = {frozenset((world.body_names[c["body_a"]], world.body_names[c["body_b"]])) for c in world.contacts}
    ghosts = {"late", *(f"b{i}" for i in range(0, 12, 3))}
    assert not any(pair <= ghosts for pair in pairs) and frozenset(("b2", "b4")) not in pairs


@pytest.mark.parametrize("way", ["deepcopy", "pickle", "remade", "snapshot"])
def test_copies_have_it(way):
    world = crowd()
    world.contact_filter = solid
    world.step(40)
    if way == "snapshot":
        other = crowd()
        other.contact_filter = solid
        other.restore(world.snapshot())
    else:
        other = {
            "deepcopy": copy.deepcopy,
            "pickle": lambda w: pickle.loads(pickle.dumps(w)),
            "remade": lambda w: w.remade(),
        }[way](world)
    assert other.contact_filter is solid
    for each in (world, other):
        each.step(80)
    assert other.state_hash() == world.state_hash()


def test_a_restored_world_goes_the_same_way():
    world = crowd()
    world.contact_filter = solid
    snapshot = world.snapshot()
    world.step(100)
    first = world.state_hash()
    world.restore(snapshot)
    world.step(100)
    assert world.state_hash() == first


def test_what_it_raises_ends_the_step_with_the_state_before():
    world = crowd()

    def broken(a, b):
        raise KeyError(b.name)

    world.contact_filter = broken
    before = world.state_hash()
    with pytest.raises(KeyError, match="b0"):
        world.step(60)
    held = world.state_hash()
    with pytest.raises(KeyError):
        world.step(1)
    assert world.state_hash() == held != before
    world.contact_filter = lambda a, b: None
    with pytest.raises(mc.SceneError, match="of 'floor' and 'b0' it must return True or False, got None"):
        world.step(1)
    world.contact_filter = None
    world.step(10)
    assert world.state_hash() != held


def test_it_must_not_call_the_world():
    world = crowd()
    world.contact_filter = lambda a, b: world.step(1) or True
    with pytest.raises(mc.SimulationError, match="in the middle of a step"):
        world.step(60)


@pytest.mark.parametrize("wrong", [3, "all", True])
def test_what_is_no_function_is_refused(wrong):
    world = crowd(2)
    with pytest.raises(mc.SceneError, match=r"contact_filter: must be a function of two bodies, or None, got"):
        world.contact_filter = wrong
    assert world.contact_filter is None


def test_event_driven_worlds_refuse_it():
    scene = mc.Scene()
    scene.add_body("b", shape=mc.Sphere(0.1))
    world = mc.World(scene, contact="event")
    with pytest.raises(mc.SceneError, match="contact='event' knows none"):
        world.contact_filter = never
    world.contact_filter = None


def test_rollouts_ask_it():
    world = crowd(6)
    world.contact_filter = solid
    rolled = mc.rollout(world, 60, worlds=3, record=["positions"])
    world.step(60)
    for k in range(3):
        assert np.array_equal(rolled.positions[k, -1], world.positions)
