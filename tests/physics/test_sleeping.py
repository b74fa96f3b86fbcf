"""Islands that fall asleep: when they may, what they keep, and what wakes them (docs/theory/sleeping.md)."""

import copy
import pickle

import numpy as np
import pytest

import mcsim as mc

FLOOR = mc.Plane(normal=(0, 0, 1))


def piles(apart=6.0):
    """Two towers of three boxes on one floor, and a ball between them that is not there yet."""
    scene = mc.Scene(name="piles")
    scene.add_body("floor", shape=FLOOR, kind="static")
    for side, x in (("left", 0.0), ("right", apart)):
        for k in range(3):
            scene.add_body(f"{side}{k}", shape=mc.Box((0.5, 0.5, 0.5)), position=(x, 0, 0.5 + k))
    scene.add_body("ball", shape=mc.Sphere(0.2), position=(apart / 2, 0, 40.0), gravity_scale=0.0)
    return scene


@pytest.fixture
def sleeping():
    world = mc.World(piles())
    world.step(180)
    assert world.asleep.tolist() == [False] + [True] * 6 + [False]
    return world


def test_what_sleeps_stays_to_the_bit(sleeping):
    state = [array.copy() for array in (sleeping.positions, sleeping.orientations)]
    contacts, energy = sleeping.contacts, sleeping.energy().total
    sleeping.step(300)
    assert np.array_equal(sleeping.positions, state[0]) and np.array_equal(sleeping.orientations, state[1])
    assert np.all(sleeping.velocities == 0) and np.all(sleeping.angular_velocities == 0)
    assert np.array_equal(sleeping.contacts, contacts) and len(contacts) == 24 and sleeping.energy().total == energy
    assert sleeping.stats.contact_rows == 0 and sleeping.body("left1").asleep and not sleeping.body("ball").asleep


def test_until_something_sleeps_the_bits_are_those_without():
    on, off = mc.World(piles()), mc.World(piles(), sleep=False)
    while not on.asleep.any():
        on.step()
        off.step()
    assert np.array_equal(on.positions, off.positions) and on.time > 0.5
    off.step(240)
    assert not off.asleep.any()


def test_one_touch_wakes_the_whole_island_and_no_other(sleeping):
    sleeping.set_pose("ball", (3.0, 0, 1.5))
    sleeping.set_velocity("ball", (-8.0, 0, 0))
    sleeping.step(10)
    assert sleeping.asleep[1:4].all()
    sleeping.step(20)
    assert not sleeping.asleep[1:4].any() and sleeping.asleep[4:7].all()
    assert sleeping.body("left1").position[0] < -5e-5


def test_a_body_falling_on_a_sleeper_rests_on_it_as_on_one_that_is_awake():
    scene = piles()
    scene.add_body("late", shape=mc.Box((0.4, 0.4, 0.4)), position=(0, 0, 20.0))
    on, off = mc.World(scene), mc.World(scene, sleep=False)
    for world in (on, off):
        world.step(500)
    assert on.asleep[1:4].all() and on.body("late").asleep
    np.testing.assert_allclose(on.positions, off.positions, atol=1e-3)


@pytest.mark.parametrize(
    "change",
    [
        lambda w: w.velocities.__setitem__((2, 0), 0.3),
        lambda w: w.positions.__setitem__((2, 2), 2.0),
        lambda w: w.orientations.__setitem__(2, (np.cos(0.1), 0, 0, np.sin(0.1))),
        lambda w: w.forces.__setitem__((2, 0), 1.0),
        lambda w: w.apply_force("left1", (1, 0, 0)),
        lambda w: w.apply_torque("left1", (0, 0, 1)),
        lambda w: w.apply_impulse("left1", (1, 0, 0)),
        lambda w: w.set_pose("left1", (0, 0.1, 1.5)),
        lambda w: w.set_velocity("left1", (0, 0.1, 0)),
        lambda w: w.wake("left1"),
    ],
)
def test_what_the_user_changes_wakes_its_island(sleeping, change):
    change(sleeping)
    sleeping.step()
    assert not sleeping.asleep[1:4].any() and sleeping.asleep[4:7].all()


def test_taking_the_floor_away_wakes_what_lay_on_it():
    scene = mc.Scene()
    for x in (0.0, 10.0):
        scene.add_body(f"table{x:.0f}", shape=mc.Box((1, 1, 0.1)), kind="static", position=(x, 0, 1))
        scene.add_body(f"box{x:.0f}", shape=mc.Box((0.3, 0.3, 0.3)), position=(x, 0, 1.4))
    world = mc.World(scene)
    world.step(120)
    assert world.asleep[[1, 3]].all()
    world.set_pose("table0", (0, 0, -5.0))
    world.step(30)
    assert world.body("box0").position[2] < 1.0 and world.body("box10").asleep


def test_wake_all_and_wrong_names(sleeping):
    sleeping.wake()
    assert not sleeping.asleep.any()
    with pytest.raises(mc.SceneError, match="unknown body 'nobody'"):
        sleeping.wake("nobody")


def test_a_pendulum_never_sleeps():
    """Neither a slow one nor a hanging one: it has no contact."""
    scene = mc.Scene()
    angle = 1e-4
    scene.add_body("bob", shape=mc.Sphere(0.1), position=(np.sin(angle), 0, -np.cos(angle)))
    scene.add_joint(mc.BallJoint(None, "bob", anchor=(0, 0, 0)))
    on, off = mc.World(scene), mc.World(scene, sleep=False)
    for world in (on, off):
        world.step(600)
    assert not on.asleep.any() and np.array_equal(on.positions, off.positions)


@pytest.mark.parametrize("tilt", [3e-5, 1e-4, 1e-3])
def test_what_is_about_to_fall_is_let_fall(tilt):
    """A pole on its edge, slower than the threshold for longer than sleep_time."""
    scene = mc.Scene()
    scene.add_body("floor", shape=FLOOR, kind="static", material=mc.Material(friction=1.0))
    half = np.array([0.05, 0.05, 0.5])
    balance = np.arctan2(half[0], half[2]) + tilt
    center = np.array(
        [half[2] * np.sin(balance) - half[0] * np.cos(balance), 0, half[2] * np.cos(balance) + half[0] * np.sin(balance)]
    )
    scene.add_body(
        "pole",
        shape=mc.Box(half),
        position=center,
        material=mc.Material(friction=1.0),
        orientation=(np.cos(balance / 2), 0, np.sin(balance / 2), 0),
    )
    on, off = mc.World(scene), mc.World(scene, sleep=False)
    on.step(300)
    off.step(300)
    assert off.body("pole").position[2] < 0.2
    assert on.body("pole").position[2] < 0.2


def test_a_moving_platform_carries_its_load_asleep():
    """Mechanics knows no frame: what rests on it sleeps (tests/physics/test_sleeping_carried.py)."""
    scene = mc.Scene()
    scene.add_body("platform", shape=mc.Box((1, 1, 0.1)), kind="kinematic", velocity=(0.005, 0, 0))
    scene.add_body("load", shape=mc.Box((0.2, 0.2, 0.2)), position=(0, 0, 0.3))
    world = mc.World(scene)
    world.step(600)
    assert world.asleep[1] and np.array_equal(world.velocities[1], world.velocities[0])
    assert abs(world.body("load").position[0] - world.body("platform").position[0]) < 1e-3
    world.set_velocity("platform", (0, 0, 0))
    world.step()
    assert not world.asleep.any()
    world.step(120)
    assert world.asleep[1]


def test_what_a_force_acts_on_is_not_put_to_sleep(monkeypatch):
    """It slept under it to the end of the call, unless something had the world look anew: then it woke."""
    worlds = [mc.World(piles())]
    monkeypatch.setenv("MCSIM_FORGET", "1")
    worlds.append(mc.World(piles()))
    for world in worlds:
        world.apply_force("left1", (1.0, 0, 0))
        world.step(120)
        assert not world.asleep[1:4].any() and world.asleep[4:7].all()
    assert worlds[0].state_hash() == worlds[1].state_hash()
    worlds[0].step(20)  # let go it moves by a little, and is seen not to fall
    assert worlds[0].asleep[1:7].all()


def test_a_motor_is_not_put_to_sleep():
    scene = mc.Scene()
    scene.add_body("floor", shape=FLOOR, kind="static")
    scene.add_body("box", shape=mc.Box((0.5, 0.5, 0.5)), position=(0, 0, 0.5), density=100)
    scene.add_joint(
        mc.SliderJoint(None, "box", axis=(1, 0, 0), name="crawl", motor=mc.Motor(velocity=0.004, max_force=1e4))
    )
    world = mc.World(scene)
    world.step(600)
    assert not world.asleep.any() and world.joint("crawl").position > 0.035


def test_snapshots_pickles_and_copies_sleep_on(sleeping):
    snapshot, digest = sleeping.snapshot(), sleeping.state_hash()
    twins = [pickle.loads(pickle.dumps(sleeping)), copy.deepcopy(sleeping)]
    poke = ("left2", (30.0, 0, 0))
    sleeping.step(5)
    sleeping.apply_impulse(*poke)
    sleeping.step(60)
    after = sleeping.state_hash()
    for world in (sleeping, *twins):
        if world is sleeping:
            world.restore(snapshot)
        assert world.state_hash() == digest and world.asleep.sum() == 6
        world.step(5)
        world.apply_impulse(*poke)
        world.step(60)
        assert world.state_hash() == after


def test_bits_after_a_restore_do_not_depend_on_the_room_there_is():
    """A world that has had many contacts keeps room for them; one made anew has little."""
    old, new = mc.World(mc.load("terrain", count=20)), mc.World(mc.load("terrain", count=20))
    old.step(90)
    snapshot = old.snapshot()
    old.step(60)
    assert old.asleep.any()
    old.restore(snapshot)
    new.restore(snapshot)
    for _ in range(6):
        old.step(10)
        new.step(10)
        assert old.state_hash() == new.state_hash()


def test_rows_of_sleepers_are_those_of_the_same_world_awake(sleeping):
    awake = copy.deepcopy(sleeping)
    awake.wake()
    digest = sleeping.state_hash()
    assert sleeping.jacobian().shape == awake.jacobian().shape and len(sleeping.rows) == len(awake.rows) == 42
    assert abs(sleeping.delassus() - awake.delassus()).max() == 0
    assert sleeping.state_hash() == digest


def test_a_failed_step_leaves_sleepers_as_they_were(sleeping):
    digest = sleeping.state_hash()
    sleeping.forces[7, 0] = np.nan
    with pytest.raises(mc.SimulationError, match="ball"):
        sleeping.step()
    assert sleeping.state_hash() == digest and sleeping.asleep.sum() == 6
    sleeping.apply_torque("ball", (1e308, 0, 0))
    with pytest.raises(mc.SimulationError):
        sleeping.step(3)
    assert sleeping.asleep.sum() == 6
    sleeping.set_velocity("ball", (0, 0, 0))
    sleeping.step(3)
    assert sleeping.asleep.sum() == 6


def test_speed_and_time_are_the_users():
    world = mc.World(piles(), sleep_time=2.0)
    world.step(100)
    assert not world.asleep.any()
    with pytest.raises(mc.SceneError, match="sleep_speed"):
        mc.World(piles(), sleep_speed=-1.0)
    assert mc.World(piles(), integrator="rk4").settings["sleep"] is False


@pytest.mark.parametrize("scene, parameters", [("pyramid", {"base": 6}), ("rain", {"n": 36}), ("card_tower", {})])
def test_scenes_at_rest_sleep_where_they_would_rest_awake(scene, parameters):
    on = mc.World(mc.load(scene, **parameters))
    off = mc.World(mc.load(scene, **parameters), sleep=False)
    steps = 0
    while not on.asleep.any():
        on.step(10)
        steps += 10
        assert steps < 1800
    on.step(600)
    off.step(steps + 600)
    settled = on.asleep & (np.abs(off.velocities).max(axis=1) < 1e-3)  # a ball may roll on, slower than what sleeps
    assert settled.sum() >= 0.9 * np.sum(on.masses > 0)
    assert np.abs(on.positions - off.positions)[settled].max() < 0.02
