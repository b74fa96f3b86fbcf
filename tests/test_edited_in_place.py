"""Worlds that are edited many times: they are what a world of their last bodies is, and what one is that makes all anew at
each edit; views, scenes, snapshots and copies of before stay as they were; what an edit has replaced is freed at once."""

import copy
import gc
import pickle
import tracemalloc
import weakref

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import mcsim as mc
from amounts import amount

SHAPES = (
    mc.Sphere(0.2),
    mc.Box((0.2, 0.15, 0.1)),
    mc.Capsule(0.1, 0.2),
    mc.ConvexHull([(0, 0, 0), (0.4, 0, 0), (0, 0.4, 0), (0, 0, 0.4)]),
    [mc.Sphere(0.15), mc.Box((0.1, 0.1, 0.2), position=(0.2, 0, 0))],
)
MATERIALS = (mc.Material(friction=0.1), mc.Material(friction=0.9, restitution=0.3), mc.Material(rolling_friction=0.01))


def ground() -> mc.Scene:
    scene = mc.Scene()
    scene.add_body("floor", shape=mc.Plane((0, 0, 1)), kind="static")
    return scene


def place(number: int) -> tuple[float, float, float]:
    """One beside and over the other, touching before long."""
    return 0.35 * (number % 3), 0.35 * (number // 3 % 3), 0.3 + 0.35 * (number // 9)


deeds = st.sampled_from(["add", "add", "remove", "last", "shape", "material"])
edits = st.lists(st.tuples(deeds, st.integers(0, 99), st.integers(0, 4)), min_size=1, max_size=12)


def described(shape, material, position) -> dict:
    """Arguments of a body. Its centre of mass stays at its origin: to be moved there and back would round."""
    return {
        "shape": shape,
        "material": material,
        "position": position,
        "mass": 2.0,
        "inertia": (0.05, 0.05, 0.05),
        "center_of_mass": (0.0, 0.0, 0.0),
    }


@settings(deadline=None)
@given(edits, st.booleans())
def test_a_world_edited_step_by_step_is_the_one_built_at_once(deeds, asked):
    world = mc.World(ground(), substeps=4)
    there: dict[str, list] = {}  # name -> place, shape, material
    for number, (deed, which, kind) in enumerate(deeds):
        names = list(there)
        name = names[-1 if deed == "last" else which % len(names)] if names else None
        if deed == "add":
            there[f"b{number}"] = [place(number), SHAPES[kind], MATERIALS[0]]
            world.add_body(f"b{number}", **described(SHAPES[kind], MATERIALS[0], place(number)))
        elif name is not None and deed in ("remove", "last"):
            del there[name]
            world.remove_body(name)
        elif name is not None and deed == "shape":
            there[name][1] = SHAPES[kind]
            world.set_shape(name, SHAPES[kind])
        elif name is not None:
            there[name][2] = MATERIALS[kind % 3]
            world.set_material(name, MATERIALS[kind % 3])
        if asked:
            world.ray_cast((0.1, 0.1, 9.0), (0.0, 0.0, -1.0))
    scene = ground()
    for name, (position, shape, material) in there.items():
        scene.add_body(name, **described(shape, material, position))
    fresh = mc.World(scene, substeps=4)
    assert world.body_names == fresh.body_names
    for _ in range(3):
        for name in ("positions", "orientations", "velocities", "angular_velocities", "masses", "shape_bodies"):
            assert np.array_equal(getattr(world, name), getattr(fresh, name)), name
        world.step(20)
        fresh.step(20)


def test_views_of_each_edit_stay_as_they_were():
    """Whether arrays are new ones or go on where they are, is not to be seen."""
    world, views = mc.World(ground()), []
    for number in range(60):
        world.add_body(f"b{number}", shape=SHAPES[number % 4], position=(number, 0.0, 0.4))
        if number % 3 == 2:
            world.remove_body(f"b{number - number % 2}")
        if number % 5 in (1, 2):
            names = ("positions", "orientations", "velocities", "forces")
            views += [(view, view.copy()) for view in (getattr(world, name) for name in names)]
            row = world.bodies[-1].position
            views.append((row, row.copy()))
        assert all(np.array_equal(view, before) for view, before in views[:-5])
        world.step(1)
        views = [(view, view.copy()) for view, _ in views]
    for view, _ in views[:-5]:
        view[...] = np.nan
    world.add_body("end", shape=SHAPES[0], position=(0.0, 5.0, 1.0))
    world.positions[...] = np.nan_to_num(world.positions)
    assert np.all(np.isfinite(world.velocities))


def test_an_edit_that_fails_leaves_the_arrays_as_they_are():
    world = mc.World(ground())
    for number in range(5):
        world.add_body(f"b{number}", shape=mc.Sphere(0.2), position=place(number))
    before = world.snapshot()
    with pytest.raises(mc.SceneError):
        world.add_bodies([{"shape": mc.Sphere(0.2)}, {"shape": mc.Sphere(0.2), "name": "b1"}])
    other = copy.deepcopy(world)
    assert world.body_names == other.body_names
    world.step(30)
    other.restore(before)
    other.step(30)
    assert world.state_hash() == other.state_hash()


@pytest.mark.parametrize("jointed", [False, True])
def test_what_an_edit_has_replaced_is_freed_at_once(jointed):
    scene = ground()
    for number in range(2):
        scene.add_body(f"b{number}", shape=mc.Sphere(0.2), position=(number, 0.0, 1.0))
    if jointed:
        scene.add_joint(mc.BallJoint("b0", "b1", anchor=(0.5, 0.0, 1.0)))
    world = mc.World(scene)
    gc.collect()
    gc.disable()
    try:
        for number in range(4):
            world.step(1)
            old = weakref.ref(world._bodies)
            world.add_body(f"x{number}", shape=mc.Sphere(0.2), position=(number, 3.0, 1.0))
            assert old() is None
    finally:
        gc.enable()


# ---- edits where all is, against edits by which all is made anew ---------------------------------------------------


class Remaking(mc.World):
    """A world whose every edit makes its arrays and what makes its steps anew."""

    def _stays(self, new):
        return False


def yard(jointed: bool) -> mc.Scene:
    """Some bodies that touch, of which two hang together."""
    scene = ground()
    for number in range(4):
        scene.add_body(f"b{number}", shape=SHAPES[number], position=place(number), material=MATERIALS[0])
    if jointed:
        scene.add_joint(mc.BallJoint("b0", "b1", anchor=(0.175, 0.0, 0.3)))
        scene.add_joint(mc.LockJoint(None, "b3", "x"))
    return scene


KINDS = ("static", "dynamic", "kinematic")
more_deeds = st.sampled_from(
    ["add", "add", "remove", "last", "shape", "material", "kind", "push", "write", "look", "several"]
)
more_edits = st.lists(
    st.tuples(more_deeds, st.integers(0, 99), st.integers(0, 4), st.integers(0, 40)), min_size=2, max_size=14
)


def edit(world: mc.World, number: int, deed: str, which: int, kind: int) -> None:
    names = [name for name in world.body_names if name != "floor"]
    name = names[-1 if deed == "last" else which % len(names)] if names else None
    if deed == "add":
        world.add_body(f"n{number}", shape=SHAPES[kind], position=place(which % 27), material=MATERIALS[kind % 3])
    elif deed == "several":
        world.add_bodies({"shape": SHAPES[k], "position": place(9 + k), "name": f"n{number}.{k}"} for k in range(kind))
        world.remove_bodies(names[:: 1 + kind])
    elif name is not None and deed in ("remove", "last"):
        world.remove_body(name)
    elif name is not None and deed == "shape":
        world.set_shape(name, SHAPES[kind])
    elif name is not None and deed == "material":
        world.set_material(name, MATERIALS[kind % 3])
    elif name is not None and deed == "kind" and not world.joint_names:
        world.set_kind(name, KINDS[kind % 3])
    elif name is not None and deed == "push":
        world.set_velocity(name, (0.1 * kind, 0.0, 0.2)) if world.body(name).kind != "static" else None
    elif deed == "write" and name is not None:
        world.positions[world.body_names.index(name), 2] += 0.05 * kind
        world.body(name).position[0] += 0.01 * kind  # by views that are gone again when the next edit comes
    elif deed == "look":
        assert len(world.positions) == len(world.body_names)


@settings(deadline=None, max_examples=amount(40, 300))
@given(more_edits, st.booleans(), st.sampled_from([True, False, mc.Sleep(time=0.05)]))
def test_edits_where_all_is_go_on_to_the_bits_of_what_is_made_anew(deeds, jointed, sleep):
    worlds = [kind(yard(jointed), sleep=sleep) for kind in (mc.World, Remaking)]
    for number, (deed, which, kind, steps) in enumerate(deeds):
        for world in worlds:
            edit(world, number, deed, which, kind)
        assert worlds[0].state_hash() == worlds[1].state_hash()
        for world in worlds:
            world.step(steps)
        assert worlds[0].body_names == worlds[1].body_names == tuple(body.name for body in worlds[0].scene.bodies)
        assert worlds[0].state_hash() == worlds[1].state_hash()
        assert np.array_equal(worlds[0].asleep, worlds[1].asleep)
        assert np.array_equal(worlds[0].contacts, worlds[1].contacts)
    for world in worlds:
        assert copy.deepcopy(world).state_hash() == world.state_hash()


@pytest.mark.parametrize("jointed", [False, True])
def test_what_makes_the_steps_stays_where_no_joint_is_touched(jointed):
    world = mc.World(yard(jointed))
    world.add_body("first", shape=SHAPES[0], position=(5.0, 0.0, 1.0))  # which makes room
    pipeline = world._pipeline
    for number in range(20):
        world.add_body(f"n{number}", shape=SHAPES[number % 5], position=(5.0, number, 1.0))
        world.set_material(f"n{number}", MATERIALS[0])
        world.set_material("b0", MATERIALS[number % 2 * 2])
        world.set_shape("b2", SHAPES[number % 2])
        world.step(1)
        world.remove_body("first" if number == 0 else f"n{number}")
        assert world._pipeline is pipeline


def test_a_step_that_fails_gives_back_what_came_before_it():
    """Bodies that came, or became others, since the last step that was made, also such as do not move."""
    world = mc.World(yard(False))
    world.add_body("first", shape=SHAPES[0], position=(5.0, 0.0, 1.0))  # which makes room
    world.step(2)
    world.add_body("new", shape=SHAPES[1], position=(6.0, 0.0, 1.0), velocity=(1.0, 2.0, 3.0))
    world.set_shape("b2", SHAPES[1])
    world.step(1)
    world.remove_body("new")
    world.add_body("newer", shape=SHAPES[1], position=(7.0, 0.0, 1.0), kind="static")
    world.add_body("fast", shape=SHAPES[0], position=(9.0, 0.0, 1.0), velocity=(1e300, 0.0, 0.0))
    other = copy.deepcopy(world)
    with pytest.raises(mc.SimulationError):
        world.step(1)
    for name in ("positions", "orientations", "velocities", "angular_velocities"):
        assert np.array_equal(getattr(world, name), getattr(other, name)), name


def test_what_was_taken_of_a_world_does_not_follow_its_edits():
    """Edits change the scene's own lists where nobody else has them: whoever has them keeps them as they were."""
    world = mc.World(yard(True))
    kept = []
    for number in range(12):
        world.add_body(f"n{number}", shape=SHAPES[number % 5], position=(5.0, number, 1.0))
        world.step(1)
        kind = number % 5
        if kind == 0:
            taken = world.scene
            kept.append((tuple(body.name for body in taken.bodies), lambda taken=taken: [b.name for b in taken.bodies]))
            kept.append((tuple(taken._body_of), lambda taken=taken: taken._body_of))
        elif kind == 1:
            taken = copy.deepcopy(world)
            kept.append((taken.body_names, lambda taken=taken: taken.body_names))
        elif kind == 2:
            taken = world.snapshot()
            told = world.state_hash(), world.body_names
            world.remove_body("b3" if number == 2 else f"n{number}")
            world.restore(taken)
            assert (world.state_hash(), world.body_names) == told
        elif kind == 3:
            taken = world._there
            kept.append((tuple(taken.body_index), lambda taken=taken: taken.body_index))
            kept.append(
                (tuple(b.name for b in taken.scene.bodies), lambda taken=taken: [b.name for b in taken.scene.bodies])
            )
        else:
            taken = pickle.loads(pickle.dumps(world))
            kept.append((taken.body_names, lambda taken=taken: taken.body_names))
        world.set_shape(f"n{number}", SHAPES[0])
        if number % 3 == 2:
            world.remove_body(f"n{number}")
    for before, now in kept:
        assert before == tuple(now())


def test_a_refused_edit_leaves_the_scene_and_names_as_they_are():
    world = mc.World(yard(False))
    for number in range(3):
        world.add_body(f"n{number}", shape=SHAPES[0], position=(5.0, number, 1.0))
    names, told = world.body_names, world.state_hash()
    for wrong in (
        lambda: world.add_body("n1", shape=SHAPES[0]),
        lambda: world.add_bodies([{"name": "x", "shape": SHAPES[0]}, {"name": "x", "shape": SHAPES[0]}]),
        lambda: world.add_body("x"),
        lambda: world.set_shape("n1", None),
        lambda: world.remove_bodies(["n2", "nobody"]),
    ):
        with pytest.raises(mc.SceneError):
            wrong()
        assert world.body_names == names and world.state_hash() == told
        assert [body.name for body in world.scene.bodies] == list(names) and "x" not in world.bodies
    assert world.add_body(shape=SHAPES[0], position=(9.0, 0.0, 1.0)).name == f"body{len(names)}"


@pytest.mark.parametrize("count", [200, pytest.param(10_000, marks=pytest.mark.slow)])
def test_memory_does_not_grow_by_edits(count):
    world = mc.World(yard(True))

    def go_on(times: int) -> None:
        for number in range(times):
            world.add_body("spark", shape=SHAPES[number % 5], position=(5.0, 0.0, 1.0))
            if number % 20 == 0:
                world.step(1)
            world.remove_body("spark")

    tracemalloc.start()
    try:
        go_on(60)
        gc.collect()
        before = tracemalloc.get_traced_memory()[0]
        go_on(count)
        gc.collect()
        # Dicts and sets grow by the most that was ever in them; what an edit kept would be a hundred bytes at least.
        assert tracemalloc.get_traced_memory()[0] < before + 50_000 + 40 * count
    finally:
        tracemalloc.stop()
    assert world._bodies.room < 100


def test_notes_follow_bodies_that_close_up():
    world = mc.World(yard(False), dt=0.05)
    world.add_body("far", shape=mc.Sphere(0.1), position=(0.0, 5.0, 1e12))
    world.add_body("last", shape=mc.Sphere(0.1), position=(0.0, 8.0, 1.0))
    world.step(1)
    (note,) = [note for note in world.stats.all_notes if note.kind == "coarse"]
    assert note.bodies == ("far",)
    world.remove_body("b1")
    (note,) = [note for note in world.stats.all_notes if note.kind == "coarse"]
    assert note.bodies == ("far",)
    world.remove_body("far")
    (note,) = [note for note in world.stats.all_notes if note.kind == "coarse"]
    assert note.bodies == ()
