"""Worlds that are edited many times: they are what a world of their last bodies is, views of before stay as they were, and
what an edit has replaced is freed at once."""

import copy
import gc
import weakref

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import mcsim as mc

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
