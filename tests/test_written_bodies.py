"""Whoever writes into a world's bodies, by whatever way, the next step and the next question see it; and what nobody has
written is not looked through (mcsim/state/_body_watch.pyx)."""

import copy
import gc

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

import mcsim as mc
from amounts import amount

DOWN = (0.05, 0.03, -1.0)


def crowd(count=12, **keywords):
    """Boxes on a plane, which fall asleep soon, a static wall, a kinematic platform."""
    scene = mc.Scene()
    scene.add_body("floor", shape=mc.Plane((0, 0, 1)), kind="static")
    scene.add_body("wall", shape=mc.Box((0.1, 3.0, 1.0)), kind="static", position=(-3, 0, 1))
    scene.add_body("lift", shape=mc.Box((0.5, 0.5, 0.1)), kind="kinematic", position=(0, -4, 1))
    for i in range(count):
        shape = mc.Box((0.3, 0.3, 0.3)) if i % 3 else mc.Sphere(0.3)
        scene.add_body(f"b{i}", shape=shape, position=(1.0 * (i % 4), 1.0 * (i // 4), 0.3 + 0.61 * (i == 5)))
    return mc.World(scene, sleep=mc.Sleep(time=0.1), **keywords)


def rays():
    x, y = np.meshgrid(np.linspace(-3.2, 4.0, 9), np.linspace(-4.5, 3.5, 9))
    return np.stack([x.ravel(), y.ravel(), np.full(x.size, 6.0)], axis=1)


def told(world):
    """What a ray at each place meets, one by one."""
    hits = [world.ray_cast(tuple(origin), DOWN) for origin in rays()]
    return [
        (hit.body.name, hit.shape, hit.distance, *hit.point.tolist(), *hit.normal.tolist()) if hit else None for hit in hits
    ]


def agree(world):
    """One ray is as one of many, and as of a copy, which has seen nothing before."""
    found = told(world)
    batch = world.ray_casts(rays(), DOWN)
    names = world.body_names
    assert found == [
        (names[hit["body"]], hit["shape"], hit["distance"], *hit["point"], *hit["normal"]) if hit["body"] >= 0 else None
        for hit in batch
    ]
    assert found == told(copy.deepcopy(world))


POINTS = st.tuples(st.floats(-2, 3), st.floats(-2, 3), st.floats(0.3, 4))


class Play:
    """Operations on one or more worlds alike."""

    def __init__(self, *worlds):
        self.worlds, self.kept, self.snapshots, self.count = worlds, [], None, 0

    def step(self, n, _):
        for world in self.worlds:
            world.step(n)

    def set_pose(self, i, point):
        for world in self.worlds:
            world.set_pose(self.name(world, i), position=point)

    def write_row(self, i, point):
        for world in self.worlds:
            world.body(self.name(world, i)).position[:] = point

    def write_part(self, i, point):
        for world in self.worlds:
            world.positions[i % len(world.body_names), 2] = point[2]

    def keep_view(self, i, _):
        self.kept.append([(world.positions, world.body(self.name(world, i)).velocity) for world in self.worlds])

    def write_kept(self, i, point):
        for views in self.kept[-1:]:
            for positions, velocity in views:
                positions[i % len(positions)] = point
                velocity[0] += 1.0

    def drop_views(self, *_):
        self.kept.clear()
        gc.collect()

    def push(self, i, point):
        for world in self.worlds:
            world.apply_impulse(f"b{i % 5}", (0.0, 0.0, 300.0 * point[2]))

    def force(self, i, point):
        for world in self.worlds:
            world.forces[world.body(f"b{i % 5}").index, :3] += 2000.0 * np.array(point)

    def lift(self, i, point):
        for world in self.worlds:
            world.set_velocity("lift", (0.0, 0.1 * point[1], 0.0))

    def wake(self, *_):
        for world in self.worlds:
            world.wake()

    def add(self, _, point):
        self.count += 1
        for world in self.worlds:
            world.add_body(f"new{self.count}", shape=mc.Sphere(0.2), position=point)

    def remove(self, *_):
        if self.count:
            for world in self.worlds:
                world.remove_body(f"new{self.count}")
            self.count -= 1

    def keep(self, *_):
        self.snapshots = self.count, [world.snapshot() for world in self.worlds]

    def restore(self, *_):
        if self.snapshots is not None:
            self.count = self.snapshots[0]
            for world, snapshot in zip(self.worlds, self.snapshots[1]):
                world.restore(snapshot)

    def ask(self, *_):
        for world in self.worlds:
            world.overlap(mc.Sphere(0.5), (0.5, 0.5, 0.5))

    def look(self, *_):
        for world in self.worlds:
            _ = world.contacts, world.stats.notes, world.events, world.energy(), world.rows

    @staticmethod
    def name(world, i):
        return f"b{i % 7}" if i % 4 else ("wall", "lift")[i % 8 // 4]


DEEDS = [name for name in vars(Play) if not name.startswith("_") and name != "name"]
PLAYS = st.lists(st.tuples(st.sampled_from(DEEDS), st.integers(0, 15), POINTS), min_size=4, max_size=14)


@given(PLAYS)
@settings(max_examples=amount(25, 300), deadline=None)
def test_a_ray_sees_whatever_was_written(deeds):
    world = crowd()
    world.step(15)
    play = Play(world)
    for deed, number, point in deeds:
        getattr(play, deed)(number, point)
        agree(world)


@given(PLAYS)
@settings(max_examples=amount(25, 300), deadline=None)
def test_steps_go_the_same_way_as_where_every_body_is_looked_at(deeds):
    """As long as somebody has a view of all bodies, each may be written at any time."""
    world, watched = crowd(), crowd()
    view = watched.positions
    play = Play(world, watched)
    for deed, number, point in [("step", 15, None), *deeds]:
        getattr(play, deed)(number, point)
        play.step(1, None)
        assert np.array_equal(world.positions, watched.positions)
        view = watched.positions
    assert world.state_hash() == watched.state_hash()
    del view


@pytest.mark.parametrize("written", [False, True])
@pytest.mark.parametrize("n", [1, 3])
def test_a_step_that_is_undone_leaves_everything_as_it_was(n, written):
    """What sleeps, what was written while it slept, and what moves."""
    world = crowd()
    armed = []

    def refuse(a, b):
        if armed and {a.name, b.name} == {"b1", "b2"}:
            raise RuntimeError("not these")
        return True

    world.contact_filter = refuse
    world.step(60)
    assert world.asleep[3:].all()
    armed.append(True)
    if written:
        world.body("b9").velocity[0] = 0.1
        world.set_pose("b3", position=(2.0, 5.0, 0.3))
        world.set_pose("wall", position=(-4.0, 0.0, 1.0))
    world.set_pose("b1", position=(1.75, 0.0, 0.9))
    before = world.snapshot()
    with pytest.raises(RuntimeError, match="not these"):
        world.step(n)
    for name, now in (("position", world.positions), ("orientation", world.orientations)):
        assert np.array_equal(now, before.arrays[name])
    assert np.array_equal(np.hstack([world.velocities, world.angular_velocities]), before.arrays["twist"])
    world.contact_filter = None
    world.restore(before)
    digest = world.state_hash()
    other = crowd()
    other.restore(before)
    assert other.state_hash() == digest
    world.step(20)
    other.step(20)
    assert world.state_hash() == other.state_hash()


def test_what_was_written_before_a_step_that_is_undone_stays_where_nothing_wakes():
    """A post far away, moved while all but a falling ball sleep."""
    scene = crowd().scene.copy()
    scene.add_body("post", shape=mc.Box((0.1, 0.1, 1.0)), kind="static", position=(40, 0, 1))
    scene.add_body("ball", shape=mc.Sphere(0.3), position=(20, 0, 12))
    world = mc.World(scene, sleep=mc.Sleep(time=0.1))

    def refuse(a, b):
        if "ball" in (a.name, b.name) and world.time > 1.0:
            raise RuntimeError("not this")
        return True

    world.contact_filter = refuse
    world.step(60)
    sleepers = world.asleep
    assert sleepers.sum() == 12
    with pytest.raises(RuntimeError, match="not this"):
        for k in range(120):
            place = (40.0, 0.01 * k, 1.0)
            world.set_pose("post", position=place)
            world.step()
    assert world.body("post").position.tolist() == list(place)
    assert np.array_equal(world.asleep, sleepers)


def test_what_fails_by_a_number_is_undone_in_full():
    world = crowd()
    world.step(40)
    world.body("b4").velocity[2] = 3.0
    world.step(5)
    before = world.positions.copy(), world.orientations.copy(), world.velocities.copy(), world.asleep
    world.body("b7").velocity[0] = np.inf
    with pytest.raises(mc.SimulationError, match="b7"):
        world.step()
    world.body("b7").velocity[0] = before[2][world.body("b7").index, 0]
    now = world.positions, world.orientations, world.velocities, world.asleep
    assert all(np.array_equal(a, b) for a, b in zip(before, now))


def test_the_first_body_that_is_not_finite_is_told():
    world = crowd()
    world.step(40)
    world.body("b8").position[0] = np.nan
    world.body("b2").position[0] = np.nan
    with pytest.raises(mc.SimulationError, match="'b2'"):
        world.step()


def test_forces_act_through_one_call():
    world = crowd()
    world.step(40)
    world.apply_force("b1", (0, 0, 1.0))
    view = world.forces
    view[world.body("b2").index, 2] = 1.0
    del view
    world.body("b3").velocity[2] = 1e-3
    world.step(2)
    assert not world.forces.any()
    kept = world.forces
    world.step()
    kept[world.body("b6").index, 0] = 5.0
    world.step()
    assert not world.forces.any()


def test_statics_that_are_written_are_met_where_they_are():
    world = crowd()
    world.step(40)
    assert world.asleep[3:].all()
    world.body("wall").position[:] = (1.0, 0.0, 1.6)
    world.step(1)
    assert not world.asleep[world.body("b1").index]


def test_a_sleeper_whose_orientation_is_written_is_of_unit_length_in_the_step():
    world = crowd()
    world.step(40)
    world.body("b1").orientation[:] = (2.0, 0.0, 0.0, 0.0)
    world.body("wall").orientation[:] = (0.0, 0.0, 0.0, 3.0)
    world.step()
    assert np.allclose(np.linalg.norm(world.orientations, axis=1), 1.0, rtol=0, atol=1e-14)


def test_sensors_see_what_was_written_and_what_moved():
    scene = mc.Scene()
    scene.add_body("floor", shape=mc.Plane((0, 0, 1)), kind="static")
    scene.add_body("gate", shape=mc.Box((0.5, 0.5, 0.5), sensor=True), kind="static", position=(5, 0, 0.5))
    for i in range(4):
        scene.add_body(f"b{i}", shape=mc.Sphere(0.2), position=(i, 0, 0.2))
    world = mc.World(scene, sleep=mc.Sleep(time=0.1))
    world.step(30)
    assert world.asleep[2:].all()
    for i in (1, 3):
        world.set_pose(f"b{i}", position=(5, 0, 0.2))
        world.step()
        assert [body.name for body in world.overlaps("gate")] == [f"b{i}"]
        assert len(world.events.sensor_begin) == 1
        world.body(f"b{i}").position[:] = (i, 0, 0.2)
        world.step()
        assert world.overlaps("gate") == [] and len(world.events.sensor_end) == 1


def test_excluded_bodies_are_seen_again():
    world = crowd()
    first = world.ray_cast((1, 1, 5), (0, 0, -1))
    behind = world.ray_cast((1, 1, 5), (0, 0, -1), exclude=first.body)
    assert behind.body.name != first.body.name
    assert world.ray_cast((1, 1, 5), (0, 0, -1)).body == first.body
    names = [body.name for body in world.overlap(mc.Sphere(2.0), (1, 1, 0.5), exclude=["floor", first.body])]
    assert first.body.name not in names and "floor" not in names
    with pytest.raises(mc.SceneError, match="unknown body"):
        world.ray_cast((1, 1, 5), (0, 0, -1), exclude=["b0", "nobody"])
    assert world.ray_cast((0, 0, 5), (0, 0, -1)).body.name == "b0"


@pytest.mark.parametrize(
    "line",
    [
        ((1, 1, 5), (0, 0, -1), 20),
        ([1.0, 1.0, 5.0], [0.0, 0.0, -2.0], 20.0),
        (np.array([1.0, 1.0, 5.0]), np.array([0.0, 0.0, -1e-3]), np.float64(20.0)),
        (np.array([1, 1, 5], np.int32), np.array([0, 0, -1], np.float32), float("inf")),
        (np.array([1.0, 9.0, 1.0, 9.0, 5.0])[::2], (0, 0, -1e300), 20.0),
        (range(1, 2), (0, 0, -1), 20.0),
    ],
)
def test_a_line_may_be_told_by_any_numbers(line):
    origin, direction, most = line
    if isinstance(origin, range):
        origin = (x for x in (1, 1, 5))
    world = crowd()
    hit = world.ray_cast(origin, direction, most)
    expected = world.ray_cast((1.0, 1.0, 5.0), (0.0, 0.0, -1.0), 20.0)
    assert (hit.body, hit.distance, hit.point.tolist()) == (expected.body, expected.distance, expected.point.tolist())


# ---- an edit between what is written and the step that looks at it -------------------------------------------------------

EDITS = {
    "remove the last": lambda w: w.remove_body("b3"),
    "remove one": lambda w: w.remove_body("b2"),
    "add": lambda w: w.add_body("more", shape=mc.Sphere(0.1), position=(9, 9, 9)),
    "material": lambda w: w.set_material("b3", mc.Material(0.1)),
    "shape": lambda w: w.set_shape("b3", mc.Box((0.1, 0.1, 0.1))),
    "kind": lambda w: w.set_kind("b3", "kinematic"),
    "body": lambda w: w.set_body("b3", density=500.0),
}


def row_of_balls(asleep):
    scene = mc.Scene()
    scene.add_body("floor", kind="static", shape=mc.Plane((0, 0, 1)))
    for k in range(4):
        scene.add_body(f"b{k}", shape=mc.Box((0.1, 0.1, 0.1)), position=(k, 0, 0.1 if asleep or k else 2.0))
    world = mc.World(scene)
    world.step(120 if asleep else 3)
    assert world.asleep.any() == asleep
    return world


@pytest.mark.parametrize("asleep", [False, True])
@pytest.mark.parametrize("edit", EDITS)
def test_what_is_written_before_an_edit_is_looked_at(edit, asleep):
    """What a step does with it, it does as without the edit: numbers that are none, and quaternions without length 1, went
    by unseen."""
    world = row_of_balls(asleep)
    world.velocities[0] = (0.1, 0.2, 0.3)
    world.orientations[1] = (2, 0, 0, 0)
    EDITS[edit](world)
    world.step()
    assert np.all(world.velocities[0] == 0.0)
    assert np.allclose(np.linalg.norm(world.orientations, axis=1), 1.0, atol=1e-12)
    world.velocities[1, 1] = np.nan
    world.set_material("b1", mc.Material(0.2))
    with pytest.raises(mc.SimulationError):
        world.step()
